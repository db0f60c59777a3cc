//! The engine: all records of a memory in RAM.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::{
    clock::Clocks,
    engine::{index::Index, row::Row, rows::Rows, shards::Shards},
    record::{
        Megram, MegramId, Offset, RecordSource, RuleKind, Watermark, error::InvalidMegram, quantization::DEMOTED_DECAY,
    },
};

/// Most decay rates in one store, besides that of demoted rules. The matrix has three; a query costs a step for each.
pub const MAX_DISTINCT_DECAYS: usize = 16;

/// All records in RAM: replays frames, answers queries, and returns a frame for each change.
///
/// All methods take the time; none reads a clock or waits. Only [`Engine::get`] and the exports do I/O, through the
/// [`RecordSource`] that was attached. A record takes 48 bytes of RAM once [`Engine::set_offset`] was called; rules and
/// laws are kept with their texts.
///
/// A clone shares all data with its original and costs a few pointers; later changes are copied page by page. So a
/// writer changes its own clone and publishes it, and readers never wait.
#[derive(Debug, Clone)]
pub struct Engine {
    pub(crate) rows: Rows,
    pub(crate) index: Index,
    /// Records of levels K, C and T, with their texts.
    pub(crate) rules: Arc<BTreeMap<MegramId, Arc<Megram>>>,
    /// Offsets in the journal of the records in `rules`.
    pub(super) places: Arc<BTreeMap<MegramId, Offset>>,
    /// The rule of each kind under a tag, and the evidence that was used for it.
    pub(crate) rule_slots: Arc<BTreeMap<(u32, RuleKind), RuleSlot>>,
    /// Records of level M whose text is not in a journal yet.
    pub(super) held: Shards<MegramId, Arc<Megram>>,
    /// Ids of records deleted on request; an import does not bring them back.
    pub(crate) forgotten: Arc<BTreeSet<MegramId>>,
    /// Decay rates in use; the first is that of demoted rules.
    pub(crate) decays: Vec<f64>,
    /// The greatest id so far; new ids are greater.
    pub(super) newest_id: Option<MegramId>,
    /// The clocks at the last sweep that was not skipped.
    pub(crate) trusted_clocks: Option<Clocks>,
    /// Part of new ids, see [`Engine::set_writer_salt`].
    pub(super) salt: u64,
    /// Where texts are read from.
    pub(super) source: Option<Arc<dyn RecordSource>>,
}

/// The rule of one kind under one tag.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct RuleSlot {
    /// The rule, if there is one.
    pub(crate) rule: Option<MegramId>,
    /// The newest record that was evidence for a rule here. It outlives the rule: a new rule needs newer evidence.
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

    /// Sets where the texts of records are read from.
    pub fn attach(&mut self, source: Arc<dyn RecordSource>) {
        self.source = Some(source);
    }

    /// Sets the offset of a record in the journal, and drops its text from RAM unless it is a rule or a law.
    pub fn set_offset(&mut self, id: MegramId, at: Offset) {
        if self.rules.contains_key(&id) {
            Arc::make_mut(&mut self.places).insert(id, at);
        } else if let Some((slot, mut row)) = self.row(id) {
            row.at = Some(at);
            self.rows.set(slot, &row);
            self.held.remove(&id);
        }
    }

    /// The offset of a record in the journal, as set by [`Engine::set_offset`] or [`Engine::apply_at`].
    #[must_use]
    pub fn offset_of(&self, id: MegramId) -> Option<Offset> {
        if self.rules.contains_key(&id) { self.places.get(&id).copied() } else { self.row(id)?.1.at }
    }

    /// Sets a number that makes the ids of this engine differ from those of other processes.
    pub fn set_writer_salt(&mut self, salt: u64) {
        self.salt = salt;
    }

    /// Records the clocks of a sweep that was applied frame by frame, see [`Engine::plan_sweep`].
    pub fn note_sweep(&mut self, clocks: Clocks) {
        self.trusted_clocks = Some(clocks);
    }

    /// The slot and row of a record of level M or K.
    pub(crate) fn row(&self, id: MegramId) -> Option<(u32, Row)> {
        let slot = self.rows.slot(id)?;
        Some((slot, self.rows.get(slot)?))
    }

    /// Whether a record of any level exists.
    pub(crate) fn contains(&self, id: MegramId) -> bool {
        self.rules.contains_key(&id) || self.rows.slot(id).is_some()
    }

    /// Checks the values of a record.
    pub(crate) fn check_bounds(&self, megram: &Megram) -> Result<(), InvalidMegram> {
        megram.check()?;
        let full = megram.level.is_live() && self.decay_position(megram.k).is_none();
        if full && self.decays.len() > MAX_DISTINCT_DECAYS {
            return Err(InvalidMegram::TooManyDecays { k: megram.k, max: MAX_DISTINCT_DECAYS });
        }
        Ok(())
    }

    /// Index of a decay rate in the list of the engine.
    pub(super) fn decay_position(&self, k: f64) -> Option<u8> {
        self.decays.iter().position(|known| known.to_bits() == k.to_bits()).and_then(|found| u8::try_from(found).ok())
    }
}
