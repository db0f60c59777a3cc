//! The engine: all records of a memory in RAM.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde::{Deserialize, Serialize};

use crate::{
    clock::Clocks,
    engine::{index::Index, row::Row, rows::Rows, shards::Shards},
    record::{
        Megram, MegramId, Offset, RecordSource, RuleKind, Watermark, error::InvalidMegram, quantization::DEMOTED_DECAY,
    },
};

/// Most distinct decay rates in one store, besides that of demoted rules. The quantization matrix has three; each rate
/// costs a query one step.
pub const MAX_DISTINCT_DECAYS: usize = 16;

/// All records of a memory in RAM: replays frames, answers queries, and returns a frame for each change.
///
/// No method reads a clock or waits; the present time is an argument. Only [`Engine::get`] and the exports do I/O,
/// through the [`RecordSource`] that was attached. A record takes 56 bytes of RAM once [`Engine::set_offset`] was
/// called; rules and laws stay in RAM with their texts.
///
/// A clone shares all data with its original and costs a few pointers; later changes are copied page by page. So a
/// writer changes its own clone and publishes the clone, and readers never wait.
#[derive(Debug, Clone)]
pub struct Engine {
    /// The records of levels M and K, without their texts.
    pub(crate) rows: Rows,
    /// The tags, tools and intents under which records are found, with decayed sums.
    pub(crate) index: Index,
    /// Records of levels K, C and T, with their texts.
    pub(crate) rules: Arc<BTreeMap<MegramId, Arc<Megram>>>,
    /// Offset in the journal of each record in `rules`.
    pub(super) places: Arc<BTreeMap<MegramId, Offset>>,
    /// The rule of each kind for a tag (by its number), and the evidence that was used for it.
    pub(crate) rule_slots: Arc<BTreeMap<(u32, RuleKind), RuleSlot>>,
    /// Records of level M whose text is not in a journal yet.
    pub(super) held: Shards<MegramId, Arc<Megram>>,
    /// Ids of records deleted on request; an import does not add them again.
    pub(crate) forgotten: Arc<BTreeSet<MegramId>>,
    /// Distinct decay rates in use, per day; the first is that of demoted rules.
    pub(crate) decays: Vec<f64>,
    /// The greatest id so far; new ids are greater. `None` for an empty engine.
    pub(super) newest_id: Option<MegramId>,
    /// Wall clock and uptime at the last sweep that was not skipped.
    pub(crate) trusted_clocks: Option<Clocks>,
    /// A number that is mixed into new ids, see [`Engine::set_writer_salt`].
    pub(super) salt: u64,
    /// Reads the texts that are not in RAM; `None` if all are in RAM.
    pub(super) source: Option<Arc<dyn RecordSource>>,
}

/// The rule of one kind for one tag, if there is one, and up to which record the tag's evidence was used for rules.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct RuleSlot {
    /// The rule; `None` if it was not made yet, demoted or deleted.
    pub(crate) rule: Option<MegramId>,
    /// The newest record that was used as evidence. It is kept when the rule is demoted: a new rule needs newer
    /// evidence.
    pub(crate) used: Option<Watermark>,
}

impl Default for Engine {
    fn default() -> Self {
        Self {
            rows: Rows::default(),
            index: Index::default(),
            rules: Arc::default(),
            places: Arc::default(),
            rule_slots: Arc::default(),
            held: Shards::default(),
            forgotten: Arc::default(),
            decays: vec![DEMOTED_DECAY],
            newest_id: None,
            trusted_clocks: None,
            salt: 0,
            source: None,
        }
    }
}

impl Engine {
    /// An engine without records.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the source from which the texts of records are read.
    pub fn attach(&mut self, source: Arc<dyn RecordSource>) {
        self.source = Some(source);
    }

    /// Sets the offset of a record in the journal; drops the record's text from RAM, unless the record is one that
    /// stays in RAM whole (rule, law, lesson or note).
    pub fn set_offset(&mut self, id: MegramId, at: Offset) {
        if self.rules.contains_key(&id) {
            Arc::make_mut(&mut self.places).insert(id, at);
        } else if let Some((slot, mut row)) = self.row(id) {
            row.at = Some(at);
            self.rows.set(slot, &row);
            self.held.remove(&id);
        }
    }

    /// The offset of a record in the journal, as set by [`Engine::set_offset`] or [`Engine::apply_at`]; `None` if it
    /// was not set.
    #[must_use]
    pub fn offset_of(&self, id: MegramId) -> Option<Offset> {
        if self.rules.contains_key(&id) { self.places.get(&id).copied() } else { self.row(id)?.1.at }
    }

    /// Sets a number that makes the ids of this engine differ from those of other processes.
    pub fn set_writer_salt(&mut self, salt: u64) {
        self.salt = salt;
    }

    /// Stores the clocks of a sweep whose frames were applied one by one, see [`Engine::plan_sweep`].
    pub fn note_sweep(&mut self, clocks: Clocks) {
        self.trusted_clocks = Some(clocks);
    }

    /// The slot and row of a record of level M or K; `None` for other records.
    pub(crate) fn row(&self, id: MegramId) -> Option<(u32, Row)> {
        let slot = self.rows.slot(id)?;
        Some((slot, self.rows.get(slot)?))
    }

    /// Whether a record of any level exists.
    pub(crate) fn contains(&self, id: MegramId) -> bool {
        self.rules.contains_key(&id) || self.rows.slot(id).is_some()
    }

    /// Checks the values of a record, and that its decay rate is known or can be added.
    pub(crate) fn check_bounds(&self, megram: &Megram) -> Result<(), InvalidMegram> {
        megram.check()?;
        let full = megram.level.is_live() && self.decay_position(megram.k).is_none();
        if full && self.decays.len() > MAX_DISTINCT_DECAYS {
            return Err(InvalidMegram::TooManyDecays { k: megram.k, max: MAX_DISTINCT_DECAYS });
        }
        Ok(())
    }

    /// Index of a decay rate in `decays`; `None` if the rate is not in use.
    pub(super) fn decay_position(&self, k: f64) -> Option<u8> {
        self.decays.iter().position(|known| known.to_bits() == k.to_bits()).and_then(|found| u8::try_from(found).ok())
    }
}
