//! Why a tag has the potentials it has: every record's share.

use serde::{Deserialize, Serialize};

use crate::{
    Engine, FailureClass, Level, Megram, MegramId, State,
    potential::{days_between, decay},
};

/// One record's share in a tag's potentials.
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
    /// The task it comes from.
    pub task: Option<String>,
}

impl Contribution {
    pub(crate) fn of(megram: &Megram, now_ms: i64) -> Self {
        let age_days = days_between(megram.decays_from_ms(), now_ms);
        let weight = decay(megram.k, age_days);
        Self {
            id: megram.id,
            level: megram.level,
            state: megram.state,
            age_days,
            attention: megram.f * weight,
            decision: megram.sigma * megram.f * weight,
            failure_class: megram.failure_class,
            task: megram.task.clone(),
        }
    }
}

impl Engine {
    /// Every record behind a tag's potentials, newest first; the shares sum to what [`Engine::query_mk`] says.
    #[must_use]
    pub fn why(&self, space: &str, entity: &str, now_ms: i64) -> Vec<Contribution> {
        let Some(tag) = self.index.tag(space, entity) else { return Vec::new() };
        let now_ms = tag.aggregate.clamp(now_ms);
        let newest_first = tag.live.iter().rev().filter_map(|place| self.records.get(&place.id));
        newest_first.map(|megram| Contribution::of(megram, now_ms)).collect()
    }
}
