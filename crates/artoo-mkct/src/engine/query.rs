//! Reading records, counts and potentials.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Engine, row::Row};
use crate::{
    engine::Potentials,
    record::{Level, Megram, MegramHead, MegramId, ReadError, Tag},
};

/// Counts of the records, tags and tools of a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Stats {
    /// Number of records of level M.
    pub megrams: usize,
    /// Number of records of level K.
    pub knowledge: usize,
    /// Number of records of level C.
    pub common_sense: usize,
    /// Number of records of level T.
    pub thinking: usize,
    /// Number of tags with at least one record of level M or K.
    pub live_tags: usize,
    /// Number of tools with at least one record.
    pub tools: usize,
    /// Number of records deleted on request.
    pub forgotten: usize,
}

impl Engine {
    /// A record with its text; `None` if it does not exist.
    ///
    /// # Errors
    /// [`ReadError`] when the record's text cannot be read from the journal.
    pub fn get(&self, id: MegramId) -> Result<Option<Megram>, ReadError> {
        if let Some(whole) = self.rules.get(&id).or_else(|| self.held.get(&id)) {
            return Ok(Some(Megram::clone(whole)));
        }
        let Some((_, row)) = self.row(id) else { return Ok(None) };
        match (&self.source, row.at) {
            (Some(source), Some(at)) => source.record(id, at).map(Some),
            (None, _) | (_, None) => Err(ReadError::Gone { id }),
        }
    }

    /// A record without its text, which reads no disk; `None` if the record does not exist.
    #[must_use]
    pub fn head(&self, id: MegramId) -> Option<MegramHead> {
        match self.rules.get(&id) {
            Some(whole) => Some(MegramHead::from(whole.as_ref())),
            None => self.row(id).and_then(|(_, row)| self.head_of(&row)),
        }
    }

    /// All records without their texts, newest id first.
    pub fn heads(&self) -> impl Iterator<Item = MegramHead> {
        let mut rules = self.rules.values().rev().filter(|whole| !whole.level.is_live()).peekable();
        let mut rows = self.rows.by_id_newest_first().peekable();
        std::iter::from_fn(move || match (rows.peek(), rules.peek()) {
            (Some((id, _)), Some(rule)) if rule.id > *id => rules.next().map(|rule| MegramHead::from(rule.as_ref())),
            (None, _) => rules.next().map(|rule| MegramHead::from(rule.as_ref())),
            (Some(_), _) => rows.next().and_then(|(id, _)| self.head(id)),
        })
    }

    /// The newest `limit` records without their texts, newest first.
    #[must_use]
    pub fn query_recent(&self, limit: usize) -> Vec<MegramHead> {
        self.heads().take(limit).collect()
    }

    /// Attention and decision of a tag, from its records of levels M and K only; zero for an unknown tag.
    #[doc(alias = "potentials")]
    #[must_use]
    pub fn query_mk(&self, tag: &Tag, now_ms: i64) -> Potentials {
        let sums = self.index.find(tag).map(|tag| tag.aggregate.at(now_ms)).unwrap_or_default();
        Potentials::new(sums.attention, sums.decision)
    }

    /// The records of level T: laws and persona.
    pub fn thinking(&self) -> impl Iterator<Item = &Megram> {
        self.rules.values().map(Arc::as_ref).filter(|whole| whole.level == Level::T)
    }

    /// Counts of the records, tags and tools.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let count = |level| self.rules.values().filter(|whole| whole.level == level).count();
        let knowledge = count(Level::K);
        Stats {
            megrams: self.rows.len() - knowledge,
            knowledge,
            common_sense: count(Level::C),
            thinking: count(Level::T),
            live_tags: self.index.live_tags(),
            tools: self.index.tools(),
            forgotten: self.forgotten.len(),
        }
    }

    /// Number of records on all levels.
    #[must_use]
    pub fn len(&self) -> usize {
        let stats = self.stats();
        self.rows.len() + stats.common_sense + stats.thinking
    }

    /// Whether there are no records.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The record that a row stands for, without its text.
    fn head_of(&self, row: &Row) -> Option<MegramHead> {
        let tag = self.index.tag(row.tag)?;
        Some(MegramHead {
            id: row.id,
            level: row.level,
            created_at_ms: row.start_ms,
            tag: tag.tag(),
            state: row.state,
            f: row.f,
            sigma: row.sigma,
            k: self.decays.get(usize::from(row.k)).copied()?,
            failure_class: row.class,
        })
    }
}
