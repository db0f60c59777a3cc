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

/// The share of one record in the attention and decision of a tag; [`Engine::get`] has its text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Contribution {
    /// The record.
    pub id: MegramId,
    /// Its level, M or K.
    pub level: Level,
    /// The controller state it was written in.
    pub state: State,
    /// Days since its decay began.
    pub age_days: f64,
    /// Its share in attention.
    pub attention: f64,
    /// Its share in decision.
    pub decision: f64,
    /// Who was at fault, if it was a failure.
    pub failure_class: Option<FailureClass>,
}

impl Contribution {
    /// The share of a record at a moment.
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
    /// Every record behind a tag's potentials, newest first; the shares sum to what [`Engine::query_mk`] says.
    ///
    /// An iterator, since a tag may hold a million.
    pub fn why(&self, tag: &Tag, now_ms: i64) -> impl Iterator<Item = Contribution> {
        let tag = self.index.find(tag);
        let now_ms = tag.map_or(now_ms, |tag| tag.aggregate.clamp(now_ms));
        let history = tag.into_iter().flat_map(|tag| self.index.history(tag, &self.rows));
        history.map(move |(_, row)| Contribution::of(&row, &self.decays, now_ms))
    }
}
