//! Assigns models to roles in two tiers, each with fallback models.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use artoo_proto::{ModelFailure, ModelReply, ModelRequest, Role, TaskId};
use async_trait::async_trait;

use crate::Model;
use crate::observe::{Caller, Observer, Step};

/// Maximum number of tasks for which it is stored which model made the plan.
const TASKS_REMEMBERED: usize = 1_024;

/// Time for which a failed model is skipped while another can answer.
#[doc(alias = "limit")]
const REST: Duration = Duration::from_secs(30);

/// Two lists of models, best first: `brain` for R1, R2 and R4b, `hands` for R3 and R4a. The first model answers; if it
/// can't, the next one is asked and the observer is told.
///
/// The meta-validator is never served by a lower rank than the planner's last plan, so the judge of a plan is never
/// weaker than its author.
pub struct Tiers {
    brain: Vec<Ranked>,
    hands: Vec<Ranked>,
    observer: Option<Arc<dyn Observer>>,
    // Locked to read or set a value, never across an await.
    /// Rank of the model that made the last plan of each task, oldest task first.
    planned_by: Mutex<VecDeque<(TaskId, usize)>>,
}

/// A model in one of the lists, with the time of its last failure.
struct Ranked {
    model: Arc<dyn Model>,
    // Locked to read or set a value, never across an await.
    /// When the model last failed; `None` after a success.
    resting_since: Mutex<Option<Instant>>,
}

impl Ranked {
    /// Whether the model failed so recently that others are asked first.
    fn is_resting(&self) -> bool {
        let since = *self.resting_since.lock().unwrap_or_else(PoisonError::into_inner);
        since.is_some_and(|since| since.elapsed() < REST)
    }

    /// Sets or clears the time of the model's last failure.
    fn set_last_failure(&self, since: Option<Instant>) {
        *self.resting_since.lock().unwrap_or_else(PoisonError::into_inner) = since;
    }
}

impl Tiers {
    /// Creates the tiers; if no model of `hands` can answer, those of `brain` are asked in its place.
    #[must_use]
    pub fn new(brain: Vec<Arc<dyn Model>>, hands: Vec<Arc<dyn Model>>, observer: Option<Arc<dyn Observer>>) -> Self {
        let ranked = |models: Vec<Arc<dyn Model>>| -> Vec<Ranked> {
            models.into_iter().map(|model| Ranked { model, resting_since: Mutex::default() }).collect()
        };
        let hands = hands.into_iter().chain(brain.iter().cloned()).collect();
        Self { brain: ranked(brain), hands: ranked(hands), observer, planned_by: Mutex::default() }
    }

    /// Whether the models of `hands` answer this role: the executor (R3) and the agent-validator (R4a).
    #[must_use]
    pub fn is_for_hands(role: Role) -> bool {
        matches!(role, Role::Executor | Role::AgentValidator)
    }

    /// The models that may serve a request, best first.
    fn serving(&self, request: &ModelRequest) -> &[Ranked] {
        let list = if Self::is_for_hands(request.role) { &self.hands } else { &self.brain };
        let lowest = (request.role == Role::MetaValidator).then(|| self.planners_rank(&request.task_id));
        list.get(..lowest.map_or(list.len(), |rank| rank + 1)).unwrap_or(list)
    }

    /// Position in the list (0 is the best) of the model that made the task's last plan; 0 if unknown.
    fn planners_rank(&self, task_id: &TaskId) -> usize {
        let planned = self.planned_by.lock().unwrap_or_else(PoisonError::into_inner);
        planned.iter().rev().find(|(known, _)| known == task_id).map_or(0, |(_, rank)| *rank)
    }

    /// Stores which position in the list the model has that made a task's last plan.
    fn planned(&self, task_id: &TaskId, rank: usize) {
        let mut planned = self.planned_by.lock().unwrap_or_else(PoisonError::into_inner);
        planned.retain(|(known, _)| known != task_id);
        if planned.len() >= TASKS_REMEMBERED {
            planned.pop_front();
        }
        planned.push_back((task_id.clone(), rank));
    }
}

/// Whether another model may be asked after this failure: not if the reply itself was bad or the call was not allowed.
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
        let mut names: Vec<String> =
            [&self.brain, &self.hands].into_iter().filter_map(|list| Some(list.first()?.model.name())).collect();
        names.dedup();
        names.join(" and ")
    }

    async fn ask(&self, request: &ModelRequest) -> Result<ModelReply, ModelFailure> {
        let mut failed: Option<(String, ModelFailure)> = None;
        let list = self.serving(request);
        let all_rest = list.iter().all(Ranked::is_resting);
        for (rank, ranked) in list.iter().enumerate() {
            // A model that failed recently is skipped, unless all of them did.
            if ranked.is_resting() && !all_rest {
                continue;
            }
            if let (Some((from, failure)), Some(observer)) = (&failed, &self.observer) {
                let step = Step::FellBack { from: from.clone(), to: ranked.model.name(), why: failure.to_string() };
                observer.step(&Caller::of(request), &step);
            }
            match ranked.model.ask(request).await {
                Ok(reply) => {
                    ranked.set_last_failure(None);
                    if request.role == Role::Planner {
                        self.planned(&request.task_id, rank);
                    }
                    return Ok(reply);
                }
                Err(failure) if may_fall_back(&failure) => {
                    tracing::warn!(model = %ranked.model.name(), %failure, "a model can't answer");
                    if !matches!(failure, ModelFailure::DoesNotFit { .. }) {
                        ranked.set_last_failure(Some(Instant::now()));
                    }
                    failed = Some((ranked.model.name(), failure));
                }
                Err(failure) => return Err(failure),
            }
        }
        let no_model = || ModelFailure::Unreachable { detail: "no model is set up for this role".to_owned() };
        Err(failed.map_or_else(no_model, |(_, failure)| failure))
    }
}

#[cfg(test)]
mod tests;
