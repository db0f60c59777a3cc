//! Why a tag has the potentials it has: every record's share.

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

/// One record's share in a tag's potentials; [`Engine::get`] has its text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Contribution {
    /// The record.
    pub id: MegramId,
    /// Its layer, M or K.
    pub level: Level,
    /// The matrix row.
    pub state: State,
    /// Days since its decay began.
    pub age_days: f64,
    /// What it adds to attention.
    pub attention: f64,
    /// What it adds to decision.
    pub decision: f64,
    /// Who was at fault.
    pub failure_class: Option<FailureClass>,
}

impl Contribution {
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
