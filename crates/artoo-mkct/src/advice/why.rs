//! The share of every record in the attention and decision of a tag.

use serde::{Deserialize, Serialize};

use crate::{
    engine::{
        Engine,
        index::term,
        potential::{days_between, decay},
        row::Row,
    },
    record::{FailureClass, Level, MegramId, State, Tag},
};

/// The share of one record in the attention and decision of a tag; [`Engine::get`] returns its text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Contribution {
    /// The id of the record.
    pub id: MegramId,
    /// The level of the record, M or K.
    pub level: Level,
    /// The state of the controller that wrote the record.
    pub state: State,
    /// Days since the record's decay began.
    pub age_days: f64,
    /// The record's share in the attention of the tag.
    pub attention: f64,
    /// The record's share in the decision of the tag.
    pub decision: f64,
    /// Who was at fault, if the record is about a failure.
    pub failure_class: Option<FailureClass>,
}

impl Contribution {
    /// The share of a record at `now_ms`.
    fn of(row: &Row, decays: &[f64], now_ms: i64) -> Self {
        let age_days = days_between(row.start_ms, now_ms);
        let weight = decay(term(row, decays).k, age_days);
        Self {
            id: row.id,
            level: row.level,
            state: row.state,
            age_days,
            attention: row.f * weight,
            decision: row.sigma * row.f * weight,
            failure_class: row.class,
        }
    }
}

impl Engine {
    /// Every record behind a tag's potentials, newest first; the shares add up to what [`Engine::query_mk`] returns.
    ///
    /// An iterator, since a tag may have a million records.
    pub fn why(&self, tag: &Tag, now_ms: i64) -> impl Iterator<Item = Contribution> {
        let tag = self.index.find(tag);
        let now_ms = tag.map_or(now_ms, |tag| tag.aggregate.clamp(now_ms));
        let history = tag.into_iter().flat_map(|tag| self.index.history(tag, &self.rows));
        history.map(move |(_, row)| Contribution::of(&row, &self.decays, now_ms))
    }
}
