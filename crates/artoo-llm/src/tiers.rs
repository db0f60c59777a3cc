//! Which model serves which role, and who steps in: one list for planning and judging the whole, one for single steps.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use artoo_proto::{ModelFailure, ModelReply, ModelRequest, Role, TaskId};
use async_trait::async_trait;

use crate::Model;
use crate::observe::{Caller, Observer, Step};

/// Tasks whose planner's rank is remembered: far more than one process runs at a time.
const TASKS_REMEMBERED: usize = 1_024;

/// How long a model that could not answer is left aside while another can: its tries cost the waiting person's time.
const REST: Duration = Duration::from_secs(30);

/// Two lists of models behind one: `brain` for R1, R2 and R4b, `hands` for R3 and R4a. The first of a list answers; the
/// next steps in where it can't be reached, refuses or is overloaded, and whoever looks on is told.
///
/// Lists are ranked, best first. R4b is never served below the rank that R2's last plan came from, so the one that
/// judges a plan's outcome is never weaker than the one that made the plan.
pub struct Tiers {
    brain: Vec<Ranked>,
    hands: Vec<Ranked>,
    observer: Option<Arc<dyn Observer>>,
    // Held for a look only, never across a wait.
    planned_by: Mutex<VecDeque<(TaskId, usize)>>,
}

struct Ranked {
    model: Arc<dyn Model>,
    // Held for a look only, never across a wait.
    resting_since: Mutex<Option<Instant>>,
}

impl Ranked {
    fn is_resting(&self) -> bool {
        let since = *self.resting_since.lock().unwrap_or_else(PoisonError::into_inner);
        since.is_some_and(|since| since.elapsed() < REST)
    }

    fn rests(&self, since: Option<Instant>) {
        *self.resting_since.lock().unwrap_or_else(PoisonError::into_inner) = since;
    }
}

impl Tiers {
    /// The two tiers; the brain's list also serves the hands where theirs is empty, and steps in behind it.
    #[must_use]
    pub fn new(brain: Vec<Arc<dyn Model>>, hands: Vec<Arc<dyn Model>>, observer: Option<Arc<dyn Observer>>) -> Self {
        let ranked = |models: Vec<Arc<dyn Model>>| -> Vec<Ranked> {
            models.into_iter().map(|model| Ranked { model, resting_since: Mutex::default() }).collect()
        };
        let hands = hands.into_iter().chain(brain.iter().cloned()).collect();
        Self { brain: ranked(brain), hands: ranked(hands), observer, planned_by: Mutex::default() }
    }

    /// Whether the hands serve a role, rather than the brain.
    #[must_use]
    pub fn is_for_hands(role: Role) -> bool {
        matches!(role, Role::Executor | Role::AgentValidator)
    }

    /// The models that may serve a call, best first, with their ranks.
    fn serving(&self, request: &ModelRequest) -> &[Ranked] {
        let list = if Self::is_for_hands(request.role) { &self.hands } else { &self.brain };
        let lowest = (request.role == Role::MetaValidator).then(|| self.planners_rank(&request.task_id));
        list.get(..lowest.map_or(list.len(), |rank| rank + 1)).unwrap_or(list)
    }

    /// Where nobody knows who planned, it may have been the best.
    fn planners_rank(&self, task_id: &TaskId) -> usize {
        let planned = self.planned_by.lock().unwrap_or_else(PoisonError::into_inner);
        planned.iter().rev().find(|(known, _)| known == task_id).map_or(0, |(_, rank)| *rank)
    }

    fn planned(&self, task_id: &TaskId, rank: usize) {
        let mut planned = self.planned_by.lock().unwrap_or_else(PoisonError::into_inner);
        planned.retain(|(known, _)| known != task_id);
        if planned.len() >= TASKS_REMEMBERED {
            planned.pop_front();
        }
        planned.push_back((task_id.clone(), rank));
    }
}

/// Whether another model may do where one failed like this: not where its own words were the trouble, which asking
/// again is for, nor where the call was not to be made at all.
fn may_fall_back(failure: &ModelFailure) -> bool {
    matches!(
        failure,
        ModelFailure::Unreachable { .. }
            | ModelFailure::Unauthorized { .. }
            | ModelFailure::Rejected { .. }
            | ModelFailure::Overloaded { .. }
            | ModelFailure::TimedOut { .. }
            | ModelFailure::DoesNotFit { .. }
    )
}

#[async_trait]
impl Model for Tiers {
    fn name(&self) -> String {
        let mut names: Vec<String> = Vec::new();
        for first in [self.brain.first(), self.hands.first()].into_iter().flatten() {
            let name = first.model.name();
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names.join(" and ")
    }

    async fn ask(&self, request: &ModelRequest) -> Result<ModelReply, ModelFailure> {
        let mut failed: Option<(String, ModelFailure)> = None;
        let list = self.serving(request);
        let all_rest = list.iter().all(Ranked::is_resting);
        for (rank, ranked) in list.iter().enumerate() {
            // One that rests is skipped, unless nobody else is there.
            if ranked.is_resting() && !all_rest {
                continue;
            }
            if let (Some((from, failure)), Some(observer)) = (&failed, &self.observer) {
                let step = Step::FellBack { from: from.clone(), to: ranked.model.name(), why: failure.to_string() };
                observer.step(&Caller::of(request), &step);
            }
            match ranked.model.ask(request).await {
                Ok(reply) => {
                    ranked.rests(None);
                    if request.role == Role::Planner {
                        self.planned(&request.task_id, rank);
                    }
                    return Ok(reply);
                }
                Err(failure) if may_fall_back(&failure) => {
                    tracing::warn!(model = %ranked.model.name(), %failure, "a model can't answer");
                    if !matches!(failure, ModelFailure::DoesNotFit { .. }) {
                        ranked.rests(Some(Instant::now()));
                    }
                    failed = Some((ranked.model.name(), failure));
                }
                Err(failure) => return Err(failure),
            }
        }
        let nobody = || ModelFailure::Unreachable { detail: "no model is set up for this role".to_owned() };
        Err(failed.map_or_else(nobody, |(_, failure)| failure))
    }
}

#[cfg(test)]
mod tests;
