//! Writing records: events, feedback against rules, and laws.

use super::Engine;
use crate::record::{Detail, Frame, Level, Megram, MegramId, NewMegram, Provenance, Quantum, State, Tag, WriteError};

impl Engine {
    /// Writes an event as a record of level M; returns the frame for the journal.
    ///
    /// If the clock was set back, the record takes the time of the newest record of its tag.
    ///
    /// # Errors
    /// [`WriteError::Invalid`] when the draft is not valid; then nothing changed.
    pub fn write(&mut self, draft: NewMegram, now_ms: i64) -> Result<Frame, WriteError> {
        let created_at_ms = self.tag_time(&draft.tag, now_ms);
        let megram = Megram {
            content: draft.content,
            failure_class: draft.failure_class,
            task: draft.task,
            intent: draft.intent,
            detail: draft.detail,
            provenance: Provenance { source: draft.source, ..Provenance::default() },
            ..Megram::new(Level::M, created_at_ms, draft.tag, draft.state, draft.quantum)
        };
        self.accept(megram)
    }

    /// Writes an event that contradicts a rule: magnitude 0.95, decay 0.05 per day, and the opposite sign of the rule.
    ///
    /// Demoted rules can be contradicted too.
    ///
    /// # Errors
    /// [`WriteError::NotARule`] when `rule` is not a rule, [`WriteError::Invalid`] when the content is not valid; then
    /// nothing changed.
    pub fn record_negative_feedback(
        &mut self,
        rule: MegramId,
        content: &str,
        task: Option<&str>,
        now_ms: i64,
    ) -> Result<Frame, WriteError> {
        let against = self
            .rules
            .get(&rule)
            .filter(|megram| megram.level == Level::C || megram.demoted_at_ms.is_some())
            .ok_or(WriteError::NotARule { id: rule })?;
        let created_at_ms = self.tag_time(&against.tag(), now_ms);
        let megram = Megram {
            content: content.to_owned(),
            task: task.map(str::to_owned),
            ..Megram::against(against, created_at_ms)
        };
        self.accept(megram)
    }

    /// Writes a law or a part of the persona at level T; `None` if the tag has the same text already.
    ///
    /// # Errors
    /// [`WriteError::Immutable`] when the tag has another law, [`WriteError::Invalid`] when the record is not valid;
    /// then nothing changed.
    pub fn write_thinking(&mut self, tag: &Tag, content: &str, now_ms: i64) -> Result<Option<Frame>, WriteError> {
        self.think(tag, content, None, now_ms)
    }

    /// Writes a record at level T, a law if `detail` is `None`; `None` if the tag has the same text already.
    pub(crate) fn think(
        &mut self,
        tag: &Tag,
        content: &str,
        detail: Option<Detail>,
        now_ms: i64,
    ) -> Result<Option<Frame>, WriteError> {
        if let Some(law) = self.thinking().find(|law| law.tag() == *tag) {
            let same = law.content == content;
            return if same { Ok(None) } else { Err(WriteError::Immutable { id: law.id }) };
        }
        let megram = Megram {
            content: content.to_owned(),
            detail,
            ..Megram::new(Level::T, now_ms, tag.clone(), State::Accept, Quantum { f: 1.0, sigma: 1.0, k: 0.0 })
        };
        self.accept(megram).map(Some)
    }

    /// The time of a new record under a tag: `now_ms`, or the time of the tag's newest record if that is later.
    pub(crate) fn tag_time(&self, tag: &Tag, now_ms: i64) -> i64 {
        self.index.find(tag).map_or(now_ms, |tag| tag.aggregate.clamp(now_ms))
    }

    /// An id for a new record, greater than all ids so far unless their time is at its maximum.
    pub(crate) fn fresh_id(&self, megram: &Megram) -> MegramId {
        let mut hash = megram.fingerprint() ^ self.salt;
        let (time_ms, sequence) = match self.newest_id {
            Some(newest) if newest.time_ms() >= megram.created_at_ms => newest.next_moment(),
            Some(_) | None => (megram.created_at_ms, 0),
        };
        loop {
            let id = MegramId::compose(time_ms, sequence, hash);
            // An id is taken only if the time part is at its maximum.
            if !self.contains(id) && !self.forgotten.contains(&id) {
                return id;
            }
            hash = hash.wrapping_add(1 << 14);
        }
    }

    /// Checks a new record, gives it an id and adds it; returns its frame.
    pub(crate) fn accept(&mut self, mut megram: Megram) -> Result<Frame, WriteError> {
        self.check_bounds(&megram)?;
        megram.id = self.fresh_id(&megram);
        self.add_written(&megram, None);
        Ok(Frame::Written { megram })
    }
}
