//! The records that count as evidence for or against a rule.
//!
//! Protection against poisoning: at most [`MAX_EVIDENCE_PER_TASK`] records of one task count, of these at most
//! [`MAX_EVIDENCE_PER_SOURCE`] that quote one source, and a rule is made or demoted only on the records of
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

/// Least number of distinct tasks whose records are needed to make or demote a rule, so that one task in a loop is not
/// enough.
pub const MIN_DISTINCT_TASKS: usize = 2;

/// Most records of one task that count as evidence; all records without a task count as one task.
///
/// Three: a task has at most four rounds, and with two tasks the thresholds can still be met.
pub const MAX_EVIDENCE_PER_TASK: usize = 3;

/// Most records that quote one source and count as evidence, over all tasks. Records without a source are not limited,
/// nor those whose source is a tool of the tag.
///
/// Four: a record weighs at most 1, so one page, file or person alone never makes a rule.
pub const MAX_EVIDENCE_PER_SOURCE: usize = 4;

/// Most records in the evidence of one ticket or rule: what fits into one prompt.
pub const MAX_EVIDENCE: usize = 64;

/// Maximum number of records of a tag that are searched for evidence, newest first.
const MAX_FRESH_RECORDS: usize = 10_000;

/// A record's row and the share of its weight that decay has left.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WeightedRow {
    pub(crate) row: Row,
    /// The share of the record's weight that decay has left, 0..=1.
    pub(crate) weight: f64,
}

impl WeightedRow {
    /// The record's share in the attention of its tag.
    pub(crate) fn attention(&self) -> f64 {
        self.row.f * self.weight
    }

    /// The record's share in the decision of its tag.
    pub(crate) fn decision(&self) -> f64 {
        self.row.sigma * self.attention()
    }
}

/// Records that count as evidence for a rule after the limits by task and source, strongest first.
#[derive(Debug, Clone, Default)]
pub(crate) struct CountedEvidence(pub(crate) Vec<WeightedRow>);

impl CountedEvidence {
    /// Attention and decision summed over these records.
    pub(crate) fn sums(&self) -> (f64, f64) {
        let (mut attention, mut decision) = (Compensated::default(), Compensated::default());
        for weighed in &self.0 {
            attention.add(weighed.attention());
            decision.add(weighed.decision());
        }
        (attention.value(), decision.value())
    }

    /// Whether the records that `speaks` selects come from at least [`MIN_DISTINCT_TASKS`] tasks.
    pub(crate) fn has_witnesses(&self, speaks: impl Fn(&Row) -> bool) -> bool {
        has_witnesses(self.0.iter().map(|weighed| weighed.row).filter(speaks), false)
    }

    /// The strongest records that `speaks` selects, at most [`MAX_EVIDENCE`].
    pub(crate) fn strongest(&self, speaks: impl Fn(&Row) -> bool) -> Vec<WeightedRow> {
        self.0.iter().filter(|weighed| speaks(&weighed.row)).take(MAX_EVIDENCE).copied().collect()
    }
}

/// Whether these records come from at least [`MIN_DISTINCT_TASKS`] tasks, or quote as many sources if `or_sources`;
/// records without a task or source count for none.
pub(crate) fn has_witnesses(mut rows: impl Iterator<Item = Row>, or_sources: bool) -> bool {
    let (mut tasks, mut sources) = (BTreeSet::new(), BTreeSet::new());
    rows.any(|row| {
        tasks.extend(NonZeroU32::new(row.task));
        sources.extend(NonZeroU32::new(row.source).filter(|_| or_sources));
        tasks.len().max(sources.len()) >= MIN_DISTINCT_TASKS
    })
}

impl Engine {
    /// The events of a tag after `used` that `counts` accepts, limited by task and by source, weighted as of `now_ms`.
    ///
    /// Demoted rules and records of contradictions do not count: their evidence would count twice.
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

    /// A hash of the ids and contents of these records.
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

/// Whether record `a` has a greater share in attention than record `b`; of equal ones the older id is stronger.
fn is_stronger(a: &WeightedRow, b: &WeightedRow) -> bool {
    a.attention().total_cmp(&b.attention()).then_with(|| b.row.id.cmp(&a.row.id)).is_gt()
}
