//! Conversions between the types of `artoo-mkct` and those of the messages; none can fail.

use artoo_mkct::{
    Action, NewMegram, State, Tag,
    advice::{self, Cap, Recall},
    record::RuleKind,
};
use artoo_proto::{
    Advice, AdviceCap, Lesson, MacroState, MegramDraft, MegramId, MemoryAction, MemoryQuery, MemoryRecall, Potentials,
    RecalledLesson, Sop,
};
use uuid::Uuid;

/// Converts the engine's answer to a query to the message that is published.
pub(super) fn recall(query: &MemoryQuery, recall: &Recall, megrams_total: u64) -> MemoryRecall {
    MemoryRecall {
        task_id: query.task_id.clone(),
        round: query.round,
        sops: recall
            .sops
            .iter()
            .map(|sop| Sop {
                id: id(sop.id),
                content: sop.content.clone(),
                sign: sign(sop.kind),
                space: sop.tag.space.clone(),
                entity: sop.tag.entity.clone(),
            })
            .collect(),
        advice: recall
            .advice
            .iter()
            .map(|advice| Advice {
                space: advice.tag.space.clone(),
                entity: advice.tag.entity.clone(),
                potentials: potentials(advice.potentials),
                similarity: advice.similarity,
                capped: advice.capped.map(cap),
                megrams: advice.megrams.iter().copied().map(id).collect(),
            })
            .chain(recall.hypotheses.iter().map(of_hypothesis))
            .collect(),
        lessons: recall.lessons.iter().map(of_lesson).collect(),
        notes: recall.notes.iter().map(|note| note.text.clone()).collect(),
        megrams_total,
    }
}

/// Converts the reason why the action of a piece of advice was lowered to the message's type.
fn cap(cap: Cap) -> AdviceCap {
    match cap {
        Cap::Environmental => AdviceCap::Environmental,
        Cap::Similar => AdviceCap::Similar,
        Cap::OneTask => AdviceCap::OneTask,
        Cap::Corrected => AdviceCap::Corrected,
        Cap::Unspecific | _ => AdviceCap::Unspecific,
    }
}

/// Converts a lesson to the message's type.
fn of_lesson(lesson: &advice::Lesson) -> RecalledLesson {
    RecalledLesson {
        id: id(lesson.id),
        intent: lesson.intent.clone(),
        similarity: lesson.similarity,
        lesson: Lesson {
            criterion: lesson.criterion.clone(),
            wrong: lesson.wrong.clone(),
            tool: lesson.tool.clone(),
            input: lesson.input.clone(),
        },
    }
}

/// Converts a hypothesis (an approach that worked for similar intents) to advice that is marked as a hypothesis.
fn of_hypothesis(hypothesis: &advice::Hypothesis) -> Advice {
    Advice {
        space: hypothesis.tag.space.clone(),
        entity: hypothesis.tag.entity.clone(),
        potentials: potentials(hypothesis.potentials),
        similarity: 1.0,
        capped: Some(AdviceCap::Hypothesis),
        megrams: Vec::new(),
    }
}

/// Converts an experience of R7 (the Solver) to a record of the engine.
pub(super) fn megram(draft: MegramDraft) -> NewMegram {
    let mut megram = match &draft.lesson {
        Some(lesson) => NewMegram::lesson(&draft.intent, &lesson.criterion, &lesson.wrong, &lesson.tool, &lesson.input),
        None => {
            NewMegram::new(Tag::new(draft.space, draft.entity), state(draft.state), draft.content).intent(&draft.intent)
        }
    };
    megram.failure_class = draft.failure_class.map(failure_class);
    megram.task(draft.task_id.to_string())
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
