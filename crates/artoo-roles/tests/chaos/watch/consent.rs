//! Invariants 10 and 11: a no is kept, a yes is needed and holds once.

use std::collections::{HashMap, HashSet};

use artoo_ggs::BlockedTarget;
use artoo_proto::{ConsentAnswer, ConsentHash, ConsentRequest, SubTaskId, ToolOrder, ToolRequest};

use super::{TaskWatch, Watch};
use crate::hands;

/// A subtask's question.
type Question = (SubTaskId, ConsentHash);

/// What was asked of the person and what came of it.
#[derive(Debug, Default)]
pub(super) struct Consents {
    asked: HashMap<Question, u32>,
    answered: HashMap<Question, u32>,
    /// Yes that no call has used up.
    granted: HashMap<Question, u32>,
    /// Refused, with the round in which that was.
    refused: HashSet<Question>,
    /// What a hash stands for.
    calls: HashMap<ConsentHash, ToolRequest>,
}

impl Consents {
    /// An answer reaches its executor; only the first to each question counts.
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

    pub(super) fn ordered(&mut self, subtask_id: SubTaskId, order: &ToolOrder) {
        self.calls.insert(hands::consent_hash(&order.request), order.request.clone());
        if let Some(hash) = &order.consent
            && let Some(granted) = self.granted.get_mut(&(subtask_id, hash.clone()))
        {
            *granted = granted.saturating_sub(1);
        }
    }

    pub(super) fn asked(&mut self, request: &ConsentRequest) {
        *self.asked.entry((request.subtask_id, request.hash.clone())).or_default() += 1;
    }
}

impl Watch {
    /// A call about to be made.
    pub(super) fn order_with_consent(&self, task: &TaskWatch, subtask_id: SubTaskId, order: &ToolOrder) {
        let shown = || format!("{subtask_id} {} {}", order.request.tool, order.request.input);
        let hash = hands::consent_hash(&order.request);
        if let Some(given) = &order.consent {
            let granted = task.consents.granted.get(&(subtask_id, given.clone())).copied().unwrap_or_default();
            self.hold(*given == hash && granted > 0, "(11) it runs without a yes to exactly this", shown);
        }
        let same = task.consents.refused.contains(&(subtask_id, hash));
        self.hold(!same, "(10) the call that was refused is made again", shown);
        let subtask = &task.subtasks[&subtask_id];
        for earlier in refused_before(task, subtask.round) {
            let target = hands::target(earlier);
            let names = order.request.tool == earlier.tool && hands::target(&order.request) == target;
            let blocked = BlockedTarget::pair(earlier.tool.clone(), target).to_string();
            // Only what was refused under its own target can be known from the input alone.
            let told = subtask.blocked_targets.contains(&blocked);
            self.hold(!(names && told), "(10) a later round makes the call that was refused", shown);
            let kept = earlier.tool != "shell" || told;
            self.hold(kept, "(10) a later round was not told what was refused", shown);
        }
    }

    /// A person is about to be asked.
    pub(super) fn question(&self, task: &TaskWatch, asked: &ConsentRequest) {
        let round = task.subtasks[&asked.subtask_id].round;
        let before = refused_before(task, round).any(|request| hands::consent_hash(request) == asked.hash);
        self.hold(!before, "(10) a later round asks again for what was refused", || format!("{asked:?}"));
    }
}

/// Calls that were refused in rounds before this one.
fn refused_before(task: &TaskWatch, round: u32) -> impl Iterator<Item = &ToolRequest> {
    let consents = &task.consents;
    let earlier = consents.refused.iter().filter(move |(subtask, _)| task.subtasks[subtask].round < round);
    earlier.filter_map(|(_, hash)| consents.calls.get(hash))
}
