//! The memory itself: pure, in RAM, without a clock; every change is a frame that a journal can keep.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::{
    ApplyError, DeletionReason, Frame, Level, Megram, MegramId, Potentials, RuleKind, Watermark, WriteError,
    engine::index::Index, error::InvalidMegram, megram::NewMegram, quantization::DEMOTED_DECAY, sweep::Clocks, tag,
};

pub(crate) mod index;
pub(crate) mod lexical;
mod write;

/// Distinct decay rates in one store, besides the one of demoted rules: the matrix has three; a query costs a step each.
pub const MAX_DISTINCT_DECAYS: usize = 16;

/// The memory: apply frames to rebuild it, ask it, change it, and keep the frames a change returns.
///
/// All methods take the time; none reads a clock, performs I/O or waits.
#[derive(Debug, Clone, Default)]
pub struct Engine {
    pub(crate) records: BTreeMap<MegramId, Megram>,
    pub(crate) index: Index,
    /// Decay rates seen, by their bits.
    decays: BTreeSet<u64>,
    /// The records of level T.
    laws: BTreeSet<MegramId>,
    /// Evidence that somebody deleted: rules that rest on it say so.
    pub(crate) forgotten: BTreeSet<MegramId>,
    /// Records ever added; orders those of one millisecond.
    sequence: u64,
    /// The clocks at the last sweep that trusted them.
    pub(crate) trusted_clocks: Option<Clocks>,
}

/// What stands in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Stats {
    /// Records of level M.
    pub megrams: usize,
    /// Records of level K.
    pub knowledge: usize,
    /// Records of level C.
    pub common_sense: usize,
    /// Records of level T.
    pub thinking: usize,
    /// Tags with at least one record of level M or K.
    pub live_tags: usize,
    /// Tools with experience.
    pub tools: usize,
    /// Records deleted on request, as far as replayed.
    pub forgotten: usize,
}

impl Engine {
    /// An empty memory.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Replays one frame.
    ///
    /// # Errors
    /// When the frame does not fit what is there; then nothing changed.
    pub fn apply(&mut self, frame: &Frame) -> Result<(), ApplyError> {
        match frame {
            Frame::Written { megram } => self.apply_written(megram),
            Frame::Promoted { rule, rule_kind, watermark, supersedes } => {
                self.apply_promoted(rule, *rule_kind, *watermark, *supersedes)
            }
            Frame::Recalled { ids, at_ms } => self.apply_recalled(ids, *at_ms),
            Frame::Demoted { id, at_ms } => self.apply_demoted(*id, *at_ms),
            Frame::Deleted { ids, at_ms: _, reason } => self.apply_deleted(ids, *reason),
        }
    }

    /// One record.
    #[must_use]
    pub fn get(&self, id: MegramId) -> Option<&Megram> {
        self.records.get(&id)
    }

    /// Every record, by id.
    pub fn megrams(&self) -> impl DoubleEndedIterator<Item = &Megram> {
        self.records.values()
    }

    /// The newest records, newest first.
    #[must_use]
    pub fn query_recent(&self, limit: usize) -> Vec<&Megram> {
        self.records.values().rev().take(limit).collect()
    }

    /// Both channels of a tag: M and K records only, rules never.
    #[must_use]
    pub fn query_mk(&self, space: &str, entity: &str, now_ms: i64) -> Potentials {
        let sums = self.index.tag(space, entity).map(|tag| tag.aggregate.at(now_ms)).unwrap_or_default();
        Potentials::new(sums.attention, sums.decision)
    }

    /// The laws and the persona.
    pub fn thinking(&self) -> impl Iterator<Item = &Megram> {
        self.laws.iter().filter_map(|id| self.records.get(id))
    }

    /// Counts of what stands in memory.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let count = |level| self.records.values().filter(|megram| megram.level == level).count();
        Stats {
            megrams: count(Level::M),
            knowledge: count(Level::K),
            common_sense: count(Level::C),
            thinking: count(Level::T),
            live_tags: self.index.tags().filter(|(_, _, tag)| !tag.live.is_empty()).count(),
            tools: self.index.tools(),
            forgotten: self.forgotten.len(),
        }
    }

    fn apply_written(&mut self, megram: &Megram) -> Result<(), ApplyError> {
        if megram.level == Level::C {
            return Err(ApplyError::WrongLevel { id: megram.id, level: megram.level });
        }
        self.check_new(megram)?;
        self.add_written(megram);
        Ok(())
    }

    fn apply_promoted(
        &mut self,
        rule: &Megram,
        kind: RuleKind,
        watermark: Watermark,
        supersedes: Option<MegramId>,
    ) -> Result<(), ApplyError> {
        if rule.level != Level::C {
            return Err(ApplyError::WrongLevel { id: rule.id, level: rule.level });
        }
        self.check_new(rule)?;
        let standing = self.index.tag(&rule.space, &rule.entity).and_then(|tag| tag.rules.get(&kind).copied());
        if let Some(id) = supersedes.filter(|id| standing != Some(*id)) {
            return Err(ApplyError::Unknown { id });
        }
        self.add_rule(rule, kind, watermark);
        Ok(())
    }

    fn apply_recalled(&mut self, ids: &[MegramId], at_ms: i64) -> Result<(), ApplyError> {
        for id in ids {
            self.expect_rule(*id)?;
        }
        self.touch(ids.to_vec(), at_ms);
        Ok(())
    }

    fn apply_demoted(&mut self, id: MegramId, at_ms: i64) -> Result<(), ApplyError> {
        self.expect_rule(id)?;
        self.demote(id, at_ms);
        Ok(())
    }

    fn apply_deleted(&mut self, ids: &[MegramId], reason: DeletionReason) -> Result<(), ApplyError> {
        for &id in ids {
            let megram = self.records.get(&id).ok_or(ApplyError::Unknown { id })?;
            if megram.level == Level::T {
                return Err(ApplyError::Immutable { id });
            }
        }
        self.remove_records(ids, reason);
        Ok(())
    }

    fn expect_rule(&self, id: MegramId) -> Result<(), ApplyError> {
        match self.records.get(&id).map(|megram| megram.level) {
            None => Err(ApplyError::Unknown { id }),
            Some(Level::C) => Ok(()),
            Some(Level::T) => Err(ApplyError::Immutable { id }),
            Some(level @ (Level::M | Level::K)) => Err(ApplyError::WrongLevel { id, level }),
        }
    }

    /// Checks a record that is about to be added.
    fn check_new(&self, megram: &Megram) -> Result<(), ApplyError> {
        let id = megram.id;
        self.check_bounds(megram).map_err(|source| ApplyError::Invalid { id, source })?;
        if self.records.contains_key(&id) {
            return Err(ApplyError::Duplicate { id });
        }
        Ok(())
    }

    pub(crate) fn check_bounds(&self, megram: &Megram) -> Result<(), InvalidMegram> {
        megram.check()?;
        let known = megram.k == DEMOTED_DECAY || self.decays.contains(&megram.k.to_bits());
        if megram.level.is_live() && !known && self.decays.len() >= MAX_DISTINCT_DECAYS {
            return Err(InvalidMegram::TooManyDecays { k: megram.k, max: MAX_DISTINCT_DECAYS });
        }
        Ok(())
    }

    /// Adds a checked record of level M, K or T.
    fn add_written(&mut self, megram: &Megram) {
        if megram.level.is_live() {
            if megram.k != DEMOTED_DECAY {
                self.decays.insert(megram.k.to_bits());
            }
            self.index.add_live(megram);
        } else {
            self.laws.insert(megram.id);
        }
        self.add_record(megram);
    }

    /// Adds a checked rule; one rule a tag and kind, so it replaces the one that stood there.
    pub(crate) fn add_rule(&mut self, rule: &Megram, kind: RuleKind, watermark: Watermark) {
        let tag = self.index.tag_mut(&rule.space, &rule.entity);
        let mark = tag.watermarks.entry(kind).or_insert(watermark);
        *mark = watermark.max(*mark);
        if let Some(standing) = tag.rules.insert(kind, rule.id) {
            self.records.remove(&standing);
        }
        self.add_record(rule);
    }

    /// Turns a rule into Knowledge; its decay begins at `at_ms`.
    pub(crate) fn demote(&mut self, id: MegramId, at_ms: i64) {
        let Some(rule) = self.records.get_mut(&id) else { return };
        rule.level = Level::K;
        rule.k = DEMOTED_DECAY;
        rule.demoted_at_ms = Some(at_ms);
        let rule = rule.clone();
        self.index.tag_mut(&rule.space, &rule.entity).rules.retain(|_, standing| *standing != id);
        self.index.add_live(&rule);
    }

    /// Takes records out, and sums their tags and tools anew.
    pub(crate) fn remove_records(&mut self, ids: &[MegramId], reason: DeletionReason) {
        let mut tags = BTreeSet::new();
        for id in ids {
            let Some(megram) = self.records.remove(id) else { continue };
            let tag = self.index.tag_mut(&megram.space, &megram.entity);
            tag.live.remove(&Watermark { at_ms: megram.decays_from_ms(), id: *id });
            tag.rules.retain(|_, standing| standing != id);
            tags.insert((megram.space, megram.entity));
            if reason == DeletionReason::Forgotten {
                self.forgotten.insert(*id);
            }
        }
        let mut tools = BTreeSet::new();
        for (space, entity) in &tags {
            self.index.resum(space, entity, &self.records);
            tools.extend(tag::tools_of(space, entity));
        }
        self.index.resum_tools(&tools);
    }

    fn add_record(&mut self, megram: &Megram) {
        self.records.insert(megram.id, megram.clone());
        self.sequence += 1;
    }
}
