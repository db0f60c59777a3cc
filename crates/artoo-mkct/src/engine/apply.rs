//! Applying frames: every change of an engine, whether new or replayed, happens here.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::Engine;
use crate::{
    engine::{index::term, lexical::EVERY_INTENT, row::Row},
    record::{
        ApplyError, DeletionReason, Frame, Level, Megram, MegramId, Offset, RuleKind, Watermark,
        quantization::DEMOTED_DECAY, tag,
    },
};

impl Engine {
    /// Applies a frame (one change of the memory); the texts of its records stay in RAM.
    ///
    /// Ids of missing records are ignored: a journal that lost frames to damage, or that two processes wrote, must stay
    /// readable.
    ///
    /// # Errors
    /// [`ApplyError`] when a record is not valid, exists already, was forgotten or has the wrong level; then nothing
    /// changed.
    pub fn apply(&mut self, frame: &Frame) -> Result<(), ApplyError> {
        self.apply_frame(frame, None)
    }

    /// Applies a frame of a journal; the text of its record is later read from offset `at`, not held in RAM.
    ///
    /// # Errors
    /// The same as [`Engine::apply`].
    pub fn apply_at(&mut self, frame: &Frame, at: Offset) -> Result<(), ApplyError> {
        self.apply_frame(frame, Some(at))
    }

    /// Applies a frame that this engine has just created, which therefore is valid.
    pub(crate) fn apply_own(&mut self, frame: &Frame) {
        let applied = self.apply(frame);
        debug_assert!(applied.is_ok(), "{frame:?}: {applied:?}");
    }

    /// Applies a frame of a journal at offset `at`, or a frame whose texts stay in RAM if `at` is `None`.
    fn apply_frame(&mut self, frame: &Frame, at: Option<Offset>) -> Result<(), ApplyError> {
        match frame {
            Frame::Written { megram } => {
                self.check_new(megram, |level| level != Level::C)?;
                self.add_written(megram, at);
            }
            Frame::Promoted { rule, rule_kind, watermark, supersedes: _ } => {
                self.check_new(rule, |level| level == Level::C)?;
                self.add_rule(rule, *rule_kind, *watermark);
                at.into_iter().for_each(|at| self.set_offset(rule.id, at));
            }
            Frame::Recalled { ids, at_ms } => {
                self.expect_no_law(ids)?;
                self.set_recalled(ids, *at_ms);
            }
            Frame::Demoted { id, at_ms } => {
                self.expect_no_law(std::slice::from_ref(id))?;
                self.demote(*id, *at_ms);
            }
            Frame::Deleted { ids, at_ms: _, reason } => {
                self.expect_no_law(ids)?;
                self.remove_records(ids, *reason);
            }
            Frame::Marked { space, entity, rule_kind, watermark } => {
                let tag = self.index.intern(space, entity);
                self.mark(tag, *rule_kind, *watermark);
            }
            Frame::Attempted { .. } => {}
        }
        Ok(())
    }

    /// Returns an error if one of these records is of level T (a law), which never changes.
    fn expect_no_law(&self, ids: &[MegramId]) -> Result<(), ApplyError> {
        let law = |id: &&MegramId| self.rules.get(id).is_some_and(|megram| megram.is_law());
        ids.iter().find(law).map_or(Ok(()), |id| Err(ApplyError::Immutable { id: *id }))
    }

    /// Checks a record before it is added: level, values, and that its id is neither in use nor forgotten.
    fn check_new(&self, megram: &Megram, fits: fn(Level) -> bool) -> Result<(), ApplyError> {
        let id = megram.id;
        if !fits(megram.level) {
            return Err(ApplyError::WrongLevel { id, level: megram.level });
        }
        self.check_bounds(megram).map_err(|source| ApplyError::Invalid { id, source })?;
        if self.contains(id) {
            return Err(ApplyError::Duplicate { id });
        }
        if self.forgotten.contains(&id) {
            return Err(ApplyError::Forgotten { id });
        }
        Ok(())
    }

    /// Adds a checked record of level M (event), K (demoted rule) or T (law).
    pub(super) fn add_written(&mut self, megram: &Megram, at: Option<Offset>) {
        if megram.level.is_live() {
            self.add_live(megram, at);
        }
        if megram.stays_whole() {
            self.keep_whole(megram);
            at.into_iter().for_each(|at| self.set_offset(megram.id, at));
        } else if at.is_none() {
            self.held.insert(megram.id, Arc::new(megram.clone()));
        }
    }

    /// Adds a row for a record of level M or K, and adds it to the sums of its tag and tools.
    fn add_live(&mut self, megram: &Megram, at: Option<Offset>) {
        let k = self.decay_position(megram.k).unwrap_or_else(|| {
            self.decays.push(megram.k);
            (self.decays.len() - 1) as u8
        });
        let tag = self.index.intern(&megram.space, &megram.entity);
        // What speaks against a rule, and the rule itself, concern all intents of the tag.
        let own = megram.level == Level::M && megram.provenance.contradicts.is_none();
        let slug = tag::intent_slug(&megram.space).filter(|_| own);
        let intent = slug.map_or(EVERY_INTENT, |slug| self.index.intents.hold(slug, megram.intent.as_deref()));
        let row = Row { tag, at, intent, ..Row::of(megram, k) };
        let slot = self.rows.insert(&row);
        self.index.add_live(slot, &term(&row, &self.decays), &mut self.rows);
        self.newest_id = self.newest_id.max(Some(megram.id));
    }

    /// Stores a record of level K, C or T completely in RAM, with its text.
    fn keep_whole(&mut self, megram: &Megram) {
        Arc::make_mut(&mut self.rules).insert(megram.id, Arc::new(megram.clone()));
        self.newest_id = self.newest_id.max(Some(megram.id));
    }

    /// Removes a record of level K, C or T from RAM.
    fn drop_whole(&mut self, id: MegramId) {
        Arc::make_mut(&mut self.rules).remove(&id);
        Arc::make_mut(&mut self.places).remove(&id);
    }

    /// Adds a checked rule, which replaces the rule of the same tag and kind.
    pub(crate) fn add_rule(&mut self, rule: &Megram, kind: RuleKind, watermark: Watermark) {
        let tag = self.index.intern(&rule.space, &rule.entity);
        self.mark(tag, kind, watermark);
        let slot = Arc::make_mut(&mut self.rule_slots).entry((tag, kind)).or_default();
        if let Some(replaced) = slot.rule.replace(rule.id) {
            self.drop_whole(replaced);
        }
        self.keep_whole(rule);
    }

    /// Stores that the evidence of a tag up to `watermark` was used for a rule of a kind.
    fn mark(&mut self, tag: u32, kind: RuleKind, watermark: Watermark) {
        let slot = Arc::make_mut(&mut self.rule_slots).entry((tag, kind)).or_default();
        slot.used = slot.used.max(Some(watermark));
    }

    /// Sets when these rules were last returned by a query; other records are skipped.
    fn set_recalled(&mut self, ids: &[MegramId], at_ms: i64) {
        for id in ids {
            if self.rules.get(id).is_some_and(|rule| rule.level == Level::C)
                && let Some(rule) = Arc::make_mut(&mut self.rules).get_mut(id)
            {
                let rule = Arc::make_mut(rule);
                rule.last_recalled_at_ms = rule.last_recalled_at_ms.max(Some(at_ms));
            }
        }
    }

    /// Turns a rule into Knowledge, which decays from `at_ms` on; does nothing if there is no such rule.
    fn demote(&mut self, id: MegramId, at_ms: i64) {
        let Some(rule) = self.rules.get(&id).filter(|rule| rule.level == Level::C) else { return };
        let rule = Megram { level: Level::K, k: DEMOTED_DECAY, demoted_at_ms: Some(at_ms), ..Megram::clone(rule) };
        self.clear_slot(id, &rule);
        self.add_live(&rule, None);
        self.keep_whole(&rule);
    }

    /// Empties the rule slot of a rule that is demoted or deleted; the slot still stores the used evidence.
    fn clear_slot(&mut self, id: MegramId, rule: &Megram) {
        let Some(tag) = self.index.number(&rule.space, &rule.entity) else { return };
        for kind in RuleKind::ALL {
            if self.rule_slots.get(&(tag, kind)).is_some_and(|slot| slot.rule == Some(id))
                && let Some(slot) = Arc::make_mut(&mut self.rule_slots).get_mut(&(tag, kind))
            {
                slot.rule = None;
            }
        }
    }

    /// Deletes records and recalculates the sums of their tags and tools; ids deleted on request are stored as
    /// forgotten.
    fn remove_records(&mut self, ids: &[MegramId], reason: DeletionReason) {
        let mut gone: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for &id in ids {
            if reason == DeletionReason::Forgotten {
                Arc::make_mut(&mut self.forgotten).insert(id);
            }
            if let Some((slot, row)) = self.row(id) {
                gone.entry(row.tag).or_default().insert(slot);
            }
            if let Some(rule) = self.rules.get(&id).cloned() {
                self.clear_slot(id, &rule);
                self.drop_whole(id);
            }
            self.held.remove(&id);
        }
        let mut tools = BTreeSet::new();
        let mut emptied = Vec::new();
        for (tag, slots) in gone {
            if !self.index.unlink(tag, &slots, &self.decays, &mut self.rows) {
                emptied.push(tag);
            }
            slots.iter().for_each(|slot| self.rows.remove(*slot));
            tools.extend(self.index.tag(tag).into_iter().flat_map(|tag| tag::tools_of(tag.space(), tag.entity())));
        }
        self.index.resum_tools(&tools, &self.rows);
        for tag in emptied {
            if self.rule_slots.range((tag, RuleKind::ALL[0])..=(tag, RuleKind::ALL[1])).next().is_none() {
                self.index.drop_tag(tag);
            }
        }
    }
}
