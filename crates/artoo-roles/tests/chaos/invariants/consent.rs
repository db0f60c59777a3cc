//! Invariants 10 and 11: a denied call does not run, and an approval is required and holds for one call.

use std::collections::{HashMap, HashSet};

use artoo_ggs::BlockedTarget;
use artoo_proto::{ConsentAnswer, ConsentHash, ConsentRequest, SubTaskId, ToolOrder, ToolRequest};

use super::{InvariantChecker, TaskHistory};
use crate::simulated_tools;

/// An approval question: the subtask that asks it, and the hash of the call.
type Question = (SubTaskId, ConsentHash);

/// The approval questions of a task and their answers.
#[derive(Debug, Default)]
pub(super) struct Consents {
    asked: HashMap<Question, u32>,
    answered: HashMap<Question, u32>,
    /// Number of approvals that no call has used yet.
    granted: HashMap<Question, u32>,
    /// Denied questions.
    refused: HashSet<Question>,
    /// The call that each hash stands for.
    calls: HashMap<ConsentHash, ToolRequest>,
}

impl Consents {
    /// Stores an answer; only the first answer to each question counts.
    pub(super) fn answered(&mut self, answer: &ConsentAnswer) {
        let question = (answer.subtask_id, answer.hash.clone());
        let asked = self.asked.get(&question).copied().unwrap_or_default();
        let answered = self.answered.entry(question.clone()).or_default();
        if *answered < asked {
            *answered += 1;
            if answer.allowed {
                *self.granted.entry(question).or_default() += 1;
            } else {
                self.refused.insert(question);
            }
        }
    }

    /// Stores an ordered call, which uses up an approval.
    pub(super) fn ordered(&mut self, subtask_id: SubTaskId, order: &ToolOrder) {
        self.calls.insert(simulated_tools::consent_hash(&order.request), order.request.clone());
        if let Some(hash) = &order.consent
            && let Some(granted) = self.granted.get_mut(&(subtask_id, hash.clone()))
        {
            *granted = granted.saturating_sub(1);
        }
    }

    /// Counts an approval question that the user was asked.
    pub(super) fn asked(&mut self, request: &ConsentRequest) {
        *self.asked.entry((request.subtask_id, request.hash.clone())).or_default() += 1;
    }
}

impl InvariantChecker {
    /// Checks that the approval of an ordered call was given for exactly this call, and that no denied call is made
    /// again.
    pub(super) fn order_with_consent(&self, task: &TaskHistory, subtask_id: SubTaskId, order: &ToolOrder) {
        let shown = || format!("{subtask_id} {} {}", order.request.tool, order.request.input);
        let hash = simulated_tools::consent_hash(&order.request);
        if let Some(given) = &order.consent {
            let granted = task.consents.granted.get(&(subtask_id, given.clone())).copied().unwrap_or_default();
            self.hold(*given == hash && granted > 0, "(11) it runs without a yes to exactly this", shown);
        }
        let same = task.consents.refused.contains(&(subtask_id, hash));
        self.hold(!same, "(10) the call that was refused is made again", shown);
        let subtask = &task.subtasks[&subtask_id];
        for earlier in refused_before(task, subtask.round) {
            let target = simulated_tools::target(earlier);
            let names = order.request.tool == earlier.tool && simulated_tools::target(&order.request) == target;
            let blocked = BlockedTarget::pair(earlier.tool.clone(), target).to_string();
            // Only what was refused under its own target can be known from the input alone.
            let told = subtask.blocked_targets.contains(&blocked);
            self.hold(!(names && told), "(10) a later round makes the call that was refused", shown);
            let kept = earlier.tool != "shell" || told;
            self.hold(kept, "(10) a later round was not told what was refused", shown);
        }
    }

    /// Checks that a question is not about a call that was denied in an earlier round.
    pub(super) fn question(&self, task: &TaskHistory, asked: &ConsentRequest) {
        let round = task.subtasks[&asked.subtask_id].round;
        let before = refused_before(task, round).any(|request| simulated_tools::consent_hash(request) == asked.hash);
        self.hold(!before, "(10) a later round asks again for what was refused", || format!("{asked:?}"));
    }
}

/// The calls that were denied in earlier rounds.
fn refused_before(task: &TaskHistory, round: u32) -> impl Iterator<Item = &ToolRequest> {
    let consents = &task.consents;
    let earlier = consents.refused.iter().filter(move |(subtask, _)| task.subtasks[subtask].round < round);
    earlier.filter_map(|(_, hash)| consents.calls.get(hash))
}
