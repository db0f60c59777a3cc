//! Conversions between the types of `artoo-mkct` and those of the messages; none can fail.

use artoo_mkct::{Action, State, advice::Recall, record::RuleKind};
use artoo_proto::{Advice, MacroState, MegramId, MemoryAction, MemoryQuery, MemoryRecall, Potentials, Sop};
use uuid::Uuid;

/// Converts the engine's answer to a query to the message that is published.
pub(super) fn recall(query: &MemoryQuery, recall: &Recall, megrams_total: u64) -> MemoryRecall {
    MemoryRecall {
        task_id: query.task_id.clone(),
        round: query.round,
        sops: recall
            .sops
            .iter()
            .map(|sop| Sop { id: id(sop.id), content: sop.content.clone(), sign: sign(sop.kind) })
            .collect(),
        advice: recall
            .advice
            .iter()
            .map(|advice| Advice {
                space: advice.tag.space.clone(),
                entity: advice.tag.entity.clone(),
                potentials: potentials(advice.potentials),
                similarity: advice.similarity,
                megrams: advice.megrams.iter().copied().map(id).collect(),
            })
            .collect(),
        megrams_total,
    }
}

/// Converts the values of a piece of advice (attention, decision and action) to the message's type.
pub(super) fn potentials(potentials: artoo_mkct::engine::Potentials) -> Potentials {
    Potentials { attention: potentials.attention, decision: potentials.decision, action: action(potentials.action) }
}

/// 1 for a rule that recommends something, -1 for a rule that forbids something.
fn sign(kind: RuleKind) -> i8 {
    match kind {
        RuleKind::BestPractice => 1,
        RuleKind::Constraint => -1,
    }
}

/// Converts the id of a memory record to the message's type.
fn id(id: artoo_mkct::record::MegramId) -> MegramId {
    MegramId(Uuid::from_u128(id.as_u128()))
}

/// Converts an advised action to the message's type.
fn action(action: Action) -> MemoryAction {
    match action {
        Action::Ignore => MemoryAction::Ignore,
        Action::Exploit => MemoryAction::Exploit,
        Action::Avoid => MemoryAction::Avoid,
        Action::Caution => MemoryAction::Caution,
    }
}

/// Converts the decision of R7 (the Solver) with which a record was written to the engine's type.
pub(super) fn state(state: MacroState) -> State {
    match state {
        MacroState::Abandon => State::Abandon,
        MacroState::Accept => State::Accept,
        MacroState::ChangeApproach => State::ChangeApproach,
        MacroState::Success => State::Success,
        MacroState::BreakSymmetry => State::BreakSymmetry,
        MacroState::ChangePath => State::ChangePath,
        MacroState::Refine => State::Refine,
    }
}

/// Converts the cause of a failure to the engine's type.
pub(super) fn failure_class(class: artoo_proto::FailureClass) -> artoo_mkct::record::FailureClass {
    match class {
        artoo_proto::FailureClass::Logical => artoo_mkct::record::FailureClass::Logical,
        artoo_proto::FailureClass::Environmental => artoo_mkct::record::FailureClass::Environmental,
    }
}
