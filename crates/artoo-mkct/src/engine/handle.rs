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

/// Distinct decay rates in one store, besides the one of demoted rules: the matrix has three; a query costs a step each.
pub const MAX_DISTINCT_DECAYS: usize = 16;

/// The memory: apply frames to rebuild it, ask it, change it, and keep the frames a change returns.
///
/// All methods take the time; none reads a clock or waits, and only [`Engine::get`] and what exports do I/O, through
/// the [`RecordSource`] that was attached. Of a record, 48 bytes stay in RAM once [`Engine::set_offset`] said where its
/// text is; rules and laws stay whole.
///
/// A clone shares everything with its original and costs a few pointers, whatever the size; what is changed later is
/// copied page by page. So a writer changes its own clone and publishes it, and no reader ever waits.
#[derive(Debug, Clone)]
pub struct Engine {
    pub(crate) rows: Rows,
    pub(crate) index: Index,
    /// Records of level C, K and T, whole.
    pub(crate) rules: Arc<BTreeMap<MegramId, Arc<Megram>>>,
    /// Where the journal has those.
    pub(super) places: Arc<BTreeMap<MegramId, Offset>>,
    /// The rules that stand under a tag, and how far each kind of rule has used up the evidence there.
    pub(crate) rule_slots: Arc<BTreeMap<(u32, RuleKind), RuleSlot>>,
    /// M records whose text is in no journal yet.
    pub(super) held: Shards<MegramId, Arc<Megram>>,
    /// Evidence that somebody deleted: rules that rest on it say so, and it does not come back.
    pub(crate) forgotten: Arc<BTreeSet<MegramId>>,
    /// Decay rates seen; the first is the one of demoted rules.
    pub(crate) decays: Vec<f64>,
    /// The greatest id so far; new ones are greater.
    pub(super) newest_id: Option<MegramId>,
    /// The clocks at the last sweep that trusted them.
    pub(crate) trusted_clocks: Option<Clocks>,
    pub(super) salt: u64,
    pub(super) source: Option<Arc<dyn RecordSource>>,
}

/// A kind of rule under one tag.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct RuleSlot {
    /// The rule, if it stands.
    pub(crate) rule: Option<MegramId>,
    /// How far the evidence is used up; outlives the rule, so trust must be earned anew.
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
    /// An empty memory.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets where the texts of records are read from.
    pub fn attach(&mut self, source: Arc<dyn RecordSource>) {
        self.source = Some(source);
    }

    /// Says where a record's frame is kept now, and lets its text go unless records of its layer stay whole.
    pub fn set_offset(&mut self, id: MegramId, at: Offset) {
        if self.rules.contains_key(&id) {
            Arc::make_mut(&mut self.places).insert(id, at);
        } else if let Some((slot, mut row)) = self.row(id) {
            row.at = Some(at);
            self.rows.set(slot, &row);
            self.held.remove(&id);
        }
    }

    /// Where a record's frame is kept, as far as [`Engine::set_offset`] or [`Engine::apply_at`] said.
    #[must_use]
    pub fn offset_of(&self, id: MegramId) -> Option<Offset> {
        if self.rules.contains_key(&id) { self.places.get(&id).copied() } else { self.row(id)?.1.at }
    }

    /// A number that sets the ids this engine makes apart from those of another process.
    pub fn set_writer_salt(&mut self, salt: u64) {
        self.salt = salt;
    }

    /// Remembers the clocks of a sweep that trusted them.
    pub fn note_sweep(&mut self, clocks: Clocks) {
        self.trusted_clocks = Some(clocks);
    }

    pub(crate) fn row(&self, id: MegramId) -> Option<(u32, Row)> {
        let slot = self.rows.slot(id)?;
        Some((slot, self.rows.get(slot)?))
    }

    pub(crate) fn contains(&self, id: MegramId) -> bool {
        self.rules.contains_key(&id) || self.rows.slot(id).is_some()
    }

    pub(crate) fn check_bounds(&self, megram: &Megram) -> Result<(), InvalidMegram> {
        megram.check()?;
        let full = megram.level.is_live() && self.decay_position(megram.k).is_none();
        if full && self.decays.len() > MAX_DISTINCT_DECAYS {
            return Err(InvalidMegram::TooManyDecays { k: megram.k, max: MAX_DISTINCT_DECAYS });
        }
        Ok(())
    }

    pub(super) fn decay_position(&self, k: f64) -> Option<u8> {
        self.decays.iter().position(|known| known.to_bits() == k.to_bits()).and_then(|found| u8::try_from(found).ok())
    }
}
