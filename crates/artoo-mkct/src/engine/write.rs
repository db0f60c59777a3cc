//! Accepting new records: events, feedback against rules, and the laws that ship with a program.

use super::{Engine, Frame, Level, Megram, MegramId, NewMegram, WriteError};
use crate::{
    FailureClass, Provenance, State,
    quantization::{DEMOTED_DECAY, FEEDBACK_MAGNITUDE},
};

impl Engine {
    /// Accepts an event: applies it and returns the frame to keep.
    ///
    /// Where the clock was set back, the record takes the time of the newest one of its tag.
    ///
    /// # Errors
    /// [`WriteError::Invalid`] when the draft breaks a bound; then nothing changed.
    pub fn write(&mut self, now_ms: i64, draft: NewMegram) -> Result<Frame, WriteError> {
        let megram = Megram {
            id: MegramId::from_u128(0),
            level: Level::M,
            created_at_ms: self.tag_time(&draft.space, &draft.entity, now_ms),
            last_recalled_at_ms: None,
            demoted_at_ms: None,
            space: draft.space,
            entity: draft.entity,
            content: draft.content,
            state: draft.state,
            f: draft.quantum.f,
            sigma: draft.quantum.sigma,
            k: draft.quantum.k,
            failure_class: draft.failure_class,
            task: draft.task,
            provenance: Provenance { source: draft.source, ..Provenance::default() },
        };
        self.accept(megram)
    }

    /// Appends experience that speaks against a rule: f .95, k .05, the sign opposite to the rule's.
    ///
    /// A rule that lost its trust already can still be spoken against.
    ///
    /// # Errors
    /// [`WriteError::NotARule`], or [`WriteError::Invalid`] when the content breaks a bound; then nothing changed.
    pub fn record_negative_feedback(
        &mut self,
        rule: MegramId,
        content: &str,
        task: Option<&str>,
        now_ms: i64,
    ) -> Result<Frame, WriteError> {
        let against = self
            .records
            .get(&rule)
            .filter(|megram| megram.level == Level::C || megram.demoted_at_ms.is_some())
            .ok_or(WriteError::NotARule { id: rule })?;
        let sigma = if against.sigma > 0.0 { -1.0 } else { 1.0 };
        let megram = Megram {
            id: MegramId::from_u128(0),
            level: Level::M,
            created_at_ms: self.tag_time(&against.space, &against.entity, now_ms),
            last_recalled_at_ms: None,
            demoted_at_ms: None,
            space: against.space.clone(),
            entity: against.entity.clone(),
            content: content.to_owned(),
            state: if sigma < 0.0 { State::Abandon } else { State::Accept },
            f: FEEDBACK_MAGNITUDE,
            sigma,
            k: DEMOTED_DECAY,
            failure_class: (sigma < 0.0).then_some(FailureClass::Logical),
            task: task.map(str::to_owned),
            provenance: Provenance { contradicts: Some(rule), ..Provenance::default() },
        };
        self.accept(megram)
    }

    /// Puts a law or a part of the persona at level T; `None` where it stands already.
    ///
    /// # Errors
    /// [`WriteError::Immutable`] when something else stands under that tag, [`WriteError::Invalid`] when a bound is
    /// broken; then nothing changed.
    pub fn write_thinking(
        &mut self,
        now_ms: i64,
        space: &str,
        entity: &str,
        content: &str,
    ) -> Result<Option<Frame>, WriteError> {
        if let Some(law) = self.thinking().find(|law| law.space == space && law.entity == entity) {
            let same = law.content == content;
            return if same { Ok(None) } else { Err(WriteError::Immutable { id: law.id }) };
        }
        let megram = Megram {
            id: MegramId::from_u128(0),
            level: Level::T,
            created_at_ms: now_ms,
            last_recalled_at_ms: None,
            demoted_at_ms: None,
            space: space.to_owned(),
            entity: entity.to_owned(),
            content: content.to_owned(),
            state: State::Accept,
            f: 1.0,
            sigma: 1.0,
            k: 0.0,
            failure_class: None,
            task: None,
            provenance: Provenance::default(),
        };
        self.accept(megram).map(Some)
    }

    /// `now_ms`, or the newest record's time of the tag where the clock was set back.
    pub(crate) fn tag_time(&self, space: &str, entity: &str, now_ms: i64) -> i64 {
        self.index.tag(space, entity).map_or(now_ms, |tag| tag.aggregate.clamp(now_ms))
    }

    /// An id that is free, for a record about to be added.
    pub(crate) fn free_id(&self, megram: &Megram) -> MegramId {
        let mut hash = megram.fingerprint();
        loop {
            let id = MegramId::compose(megram.created_at_ms, self.sequence, hash);
            if !self.records.contains_key(&id) {
                return id;
            }
            hash = hash.wrapping_add(1 << 14);
        }
    }

    fn accept(&mut self, mut megram: Megram) -> Result<Frame, WriteError> {
        self.check_bounds(&megram)?;
        megram.id = self.free_id(&megram);
        self.add_written(&megram);
        Ok(Frame::Written { megram })
    }
}
