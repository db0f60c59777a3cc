//! Which records speak for a rule or against it, and how many witnesses stand behind them.
//!
//! The rule against poisoning: at most [`MAX_EVIDENCE_PER_TASK`] records of a task count, of these at most
//! [`MAX_EVIDENCE_PER_SOURCE`] that quote one source, and nothing is made or unmade on the word of fewer than
//! [`MIN_DISTINCT_TASKS`] tasks.

use std::{
    collections::{BTreeMap, BTreeSet},
    num::NonZeroU32,
};

use crate::{
    engine::{
        Engine,
        aggregate::Compensated,
        index::{TagEntry, term},
        potential::{days_between, decay},
        row::{Row, short_hash},
    },
    record::{Level, MegramId, Watermark, hash::fnv1a_parts, tag},
};

/// Distinct tasks that must agree before a rule is made or unmade: one task that loops is one witness.
pub const MIN_DISTINCT_TASKS: usize = 2;

/// Records of one task that count as evidence for a rule; records without a task count as one task's together.
///
/// Three: a task gets at most four rounds, and with two witnesses the thresholds can still be met.
pub const MAX_EVIDENCE_PER_TASK: usize = 3;

/// Records that quote one source and count as evidence, over all tasks; those that name no source, and those whose
/// source is a tool that the tag is about, are not bound by it.
///
/// Four: a record weighs at most 1, so what one page, file or person says makes no rule, however many tasks read it.
pub const MAX_EVIDENCE_PER_SOURCE: usize = 4;

/// Records handed over with a ticket and kept with its rule: what fits into one prompt.
pub const MAX_EVIDENCE: usize = 64;

/// Newest records of a tag that are looked at for evidence: a rule needs some six, and a flood must not cost more.
const MAX_FRESH_RECORDS: usize = 10_000;

/// A record and what is left of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WeightedRow {
    pub(crate) row: Row,
    pub(crate) weight: f64,
}

impl WeightedRow {
    pub(crate) fn attention(&self) -> f64 {
        self.row.f * self.weight
    }

    pub(crate) fn decision(&self) -> f64 {
        self.row.sigma * self.attention()
    }
}

/// Records that count, strongest first.
#[derive(Debug, Clone, Default)]
pub(crate) struct CountedEvidence(pub(crate) Vec<WeightedRow>);

impl CountedEvidence {
    /// Attention and decision of these records alone.
    pub(crate) fn sums(&self) -> (f64, f64) {
        let (mut attention, mut decision) = (Compensated::default(), Compensated::default());
        for weighed in &self.0 {
            attention.add(weighed.attention());
            decision.add(weighed.decision());
        }
        (attention.value(), decision.value())
    }

    /// Whether enough tasks stand behind the records of a sign.
    pub(crate) fn has_witnesses(&self, speaks: impl Fn(&Row) -> bool) -> bool {
        has_witnesses(self.0.iter().map(|weighed| weighed.row).filter(speaks))
    }

    /// The strongest records, as rules keep them.
    pub(crate) fn strongest(&self, speaks: impl Fn(&Row) -> bool) -> Vec<WeightedRow> {
        self.0.iter().filter(|weighed| speaks(&weighed.row)).take(MAX_EVIDENCE).copied().collect()
    }
}

/// Whether enough tasks stand behind these records.
pub(crate) fn has_witnesses(rows: impl Iterator<Item = Row>) -> bool {
    let mut tasks = BTreeSet::new();
    rows.filter_map(|row| NonZeroU32::new(row.task)).any(|task| {
        tasks.insert(task);
        tasks.len() >= MIN_DISTINCT_TASKS
    })
}

impl Engine {
    /// The experience of a tag that came after `used`, capped by task and by source, as it weighs at `now_ms`.
    ///
    /// Demoted rules and dissonance are no experience: they would count their evidence twice.
    pub(crate) fn fresh_evidence(
        &self,
        tag: &TagEntry,
        used: Option<Watermark>,
        now_ms: i64,
        counts: impl Fn(&Row) -> bool,
    ) -> CountedEvidence {
        let fresh = self.index.history(tag, &self.rows).map(|(_, row)| row);
        let mut by_task: BTreeMap<u32, Vec<WeightedRow>> = BTreeMap::new();
        for row in fresh.take_while(|row| used.is_none_or(|used| row.place() > used)).take(MAX_FRESH_RECORDS) {
            if row.level != Level::M || row.dissonance || !counts(&row) {
                continue;
            }
            let k = term(&row, &self.decays).k;
            let weighed = WeightedRow { row, weight: decay(k, days_between(row.start_ms, now_ms)) };
            let of_task = by_task.entry(row.task).or_default();
            of_task.insert(of_task.partition_point(|other| is_stronger(other, &weighed)), weighed);
            of_task.truncate(MAX_EVIDENCE_PER_TASK);
        }
        let mut counted: Vec<WeightedRow> = by_task.into_values().flatten().collect();
        counted.sort_unstable_by(|a, b| is_stronger(b, a).cmp(&is_stronger(a, b)));
        let about: Vec<u32> = tag::tools_of(tag.space(), tag.entity()).iter().map(|tool| short_hash(tool)).collect();
        let mut quoted: BTreeMap<u32, usize> = BTreeMap::new();
        counted.retain(|weighed| {
            let source = weighed.row.source;
            if source == 0 || about.contains(&source) {
                return true;
            }
            let so_far = quoted.entry(source).or_default();
            *so_far += 1;
            *so_far <= MAX_EVIDENCE_PER_SOURCE
        });
        CountedEvidence(counted)
    }

    /// A hash over the ids and contents of these records.
    pub(crate) fn evidence_hash(&self, evidence: &[MegramId]) -> u64 {
        let part = |id: &MegramId| {
            let content = self.row(*id).map_or(0, |(_, row)| row.content);
            let mut part = [0; 20];
            let (name, text) = part.split_at_mut(16);
            name.copy_from_slice(&id.as_u128().to_be_bytes());
            text.copy_from_slice(&content.to_be_bytes());
            part
        };
        let parts: Vec<[u8; 20]> = evidence.iter().map(part).collect();
        fnv1a_parts(parts.iter().map(<[u8; 20]>::as_slice))
    }
}

fn is_stronger(a: &WeightedRow, b: &WeightedRow) -> bool {
    a.attention().total_cmp(&b.attention()).then_with(|| b.row.id.cmp(&a.row.id)).is_gt()
}
