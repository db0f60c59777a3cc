//! Random messages of the operator, the solver and memory.

use artoo_proto::{
    AbandonReason, Abort, Advice, AdviceCap, Basis, CancelRequest, ClarificationAnswer, ClarificationRequest,
    ConsentAnswer, ConsentOffers, ConsentRequest, ConsentScope, CriterionMark, CriterionReport, Ending, FailureMix,
    FinalResult, Lesson, Loss, MacroState, MegramDraft, MegramId, MemoryAction, MemoryCorrection, MemoryFeedback,
    MemoryFeedbackKind, MemoryQuery, MemoryRecall, ModelWords, PlanDirective, Potentials, PrevDirective, ReadingAnswer,
    ReadingRequest, RecalledLesson, ReplanDirective, RoleFailed, SessionTurn, Sop, TriedSubtask, Urgency, UserRequest,
    Wording, WordingRequest,
};
use proptest::prelude::*;

use super::work::{answer, coverage, failure_class, offered, perception_failed, unverified};
use super::{
    consent_hash, denied, effect_id, id, list, model_failure, number, one_of, option, record, role, subtask_id,
    task_id, text, texts,
};

/// Random values of `SessionTurn`.
pub(super) fn session_turn() -> BoxedStrategy<SessionTurn> {
    record!(SessionTurn { input: text(), summary: text(), answered: any::<bool>() })
}

/// Random values of `UserRequest`.
pub(crate) fn user_request() -> BoxedStrategy<UserRequest> {
    record!(UserRequest {
        task_id: task_id(),
        raw_input: text(),
        session: list(session_turn()),
        material: option(text()),
        interactive: any::<bool>(),
        hard_limit_ms: any::<u64>(),
        required: texts(),
        by_required: any::<bool>(),
    })
}

/// Random values of `ClarificationRequest`.
pub(crate) fn clarification_request() -> BoxedStrategy<ClarificationRequest> {
    record!(ClarificationRequest { task_id: task_id(), round: any::<u32>(), question: text() })
}

/// Random values of `ClarificationAnswer`.
pub(crate) fn clarification_answer() -> BoxedStrategy<ClarificationAnswer> {
    record!(ClarificationAnswer { task_id: task_id(), answer: text() })
}

/// Random values of `ConsentRequest`.
pub(crate) fn consent_request() -> BoxedStrategy<ConsentRequest> {
    record!(ConsentRequest {
        task_id: task_id(),
        subtask_id: subtask_id(),
        hash: consent_hash(),
        shown: text(),
        effects: texts(),
        details: texts(),
        reason: text(),
        offers: record!(ConsentOffers { task: texts(), path: texts() }),
        readings: list(offered()),
    })
}

/// Random values of `ConsentAnswer`.
pub(crate) fn consent_answer() -> BoxedStrategy<ConsentAnswer> {
    record!(ConsentAnswer {
        task_id: task_id(),
        subtask_id: subtask_id(),
        hash: consent_hash(),
        allowed: any::<bool>(),
        scope: prop_oneof![
            Just(ConsentScope::Once),
            Just(ConsentScope::Task),
            any::<u32>().prop_map(|days| ConsentScope::Path { days }),
        ],
        note: option(text()),
        readings: list(offered()),
    })
}

/// Random values of `ReadingRequest`.
pub(crate) fn reading_request() -> BoxedStrategy<ReadingRequest> {
    record!(ReadingRequest { task_id: task_id(), readings: list(offered()) })
}

/// Random values of `ReadingAnswer`.
pub(crate) fn reading_answer() -> BoxedStrategy<ReadingAnswer> {
    record!(ReadingAnswer { task_id: task_id(), confirmed: any::<bool>() })
}

/// Random values of `CancelRequest`.
pub(crate) fn cancel_request() -> BoxedStrategy<CancelRequest> {
    record!(CancelRequest { task_id: task_id() })
}

/// Random values of `Abort`.
pub(crate) fn abort() -> BoxedStrategy<Abort> {
    record!(Abort { task_id: task_id() })
}

/// Random values of `MemoryFeedbackKind`.
fn feedback() -> BoxedStrategy<MemoryFeedbackKind> {
    prop_oneof![
        text().prop_map(|content| MemoryFeedbackKind::Remember { content }),
        text().prop_map(|content| MemoryFeedbackKind::Wrong { content }),
    ]
    .boxed()
}

/// Random values of `MemoryFeedback`.
pub(crate) fn memory_feedback() -> BoxedStrategy<MemoryFeedback> {
    record!(MemoryFeedback { task_id: task_id(), feedback: feedback() })
}

/// Random values of `MemoryCorrection`.
pub(crate) fn memory_correction() -> BoxedStrategy<MemoryCorrection> {
    record!(MemoryCorrection { task_id: task_id(), feedback: feedback() })
}

/// Random values of `RoleFailed`.
pub(crate) fn role_failed() -> BoxedStrategy<RoleFailed> {
    record!(RoleFailed { task_id: task_id(), role: role(), detail: text(), effect_id: option(effect_id()) })
}

/// Random values of `MemoryQuery`.
pub(crate) fn memory_query() -> BoxedStrategy<MemoryQuery> {
    record!(MemoryQuery { task_id: task_id(), round: any::<u32>(), intent: text(), tools: texts(), targets: texts() })
}

/// Random values of `MemoryRecall`.
pub(crate) fn memory_recall() -> BoxedStrategy<MemoryRecall> {
    use MemoryAction as A;
    let megram_id = || id().prop_map(MegramId);
    let sop = record!(Sop { id: megram_id(), content: text(), sign: any::<i8>(), space: text(), entity: text() });
    use AdviceCap as C;
    let caps = [C::Environmental, C::Unspecific, C::Similar, C::OneTask, C::Corrected, C::Hypothesis];
    let lesson = record!(RecalledLesson { id: megram_id(), intent: text(), similarity: number(), lesson: lesson() });
    let potentials = record!(Potentials {
        attention: number(),
        decision: number(),
        action: one_of(&[A::Ignore, A::Exploit, A::Avoid, A::Caution]),
    });
    let advice = record!(Advice {
        space: text(),
        entity: text(),
        potentials: potentials,
        similarity: number(),
        capped: option(one_of(&caps)),
        megrams: list(megram_id()),
    });
    record!(MemoryRecall {
        task_id: task_id(),
        round: any::<u32>(),
        sops: list(sop),
        advice: list(advice),
        lessons: list(lesson),
        notes: texts(),
        megrams_total: any::<u64>(),
    })
}

/// Random values of `Lesson`.
fn lesson() -> BoxedStrategy<Lesson> {
    record!(Lesson { criterion: text(), wrong: text(), tool: text(), input: text() })
}

/// Random values of `MegramDraft`.
pub(crate) fn megram_draft() -> BoxedStrategy<MegramDraft> {
    use MacroState as S;
    let states = [S::Abandon, S::Accept, S::ChangeApproach, S::Success, S::BreakSymmetry, S::ChangePath, S::Refine];
    record!(MegramDraft {
        space: text(),
        entity: text(),
        content: text(),
        state: one_of(&states),
        failure_class: option(failure_class()),
        task_id: task_id(),
        intent: text(),
        lesson: option(lesson()),
    })
}

/// Random values of `Loss`.
fn loss() -> BoxedStrategy<Loss> {
    record!(Loss { d: number(), p: number(), omega: number(), l: number() })
}

/// Random values of `PrevDirective`.
fn prev_directive() -> BoxedStrategy<PrevDirective> {
    use PrevDirective as P;
    one_of(&[P::Init, P::Refine, P::ChangePath, P::ChangeApproach, P::BreakSymmetry])
}

/// Random values of `PlanDirective`.
pub(crate) fn plan_directive() -> BoxedStrategy<PlanDirective> {
    use ReplanDirective as R;
    record!(PlanDirective {
        task_id: task_id(),
        round: any::<u32>(),
        loss: loss(),
        prev_directive: prev_directive(),
        directive: one_of(&[R::Refine, R::ChangePath, R::ChangeApproach, R::BreakSymmetry]),
        blocked_tools: texts(),
        blocked_targets: texts(),
        released_tools: texts(),
        failed_criterion: text(),
        failure_class: one_of(&[FailureMix::Logical, FailureMix::Environmental, FailureMix::Mixed]),
        budget_pressure: number(),
        grad_l: number(),
        urgency: one_of(&[Urgency::Low, Urgency::Normal, Urgency::High]),
        suggested_alternatives: texts(),
        rationale: text(),
        tried: list(tried()),
        same_again: any::<bool>(),
    })
}

/// Random values of `CriterionReport`.
fn criterion_report() -> BoxedStrategy<CriterionReport> {
    let mark = one_of(&[CriterionMark::Checked, CriterionMark::Judged, CriterionMark::Unmet]);
    record!(CriterionReport { claim: text(), mark: mark, evidence: text() })
}

/// Random values of `AbandonReason`.
fn abandon_reason() -> BoxedStrategy<AbandonReason> {
    use AbandonReason as A;
    prop_oneof![
        one_of(&[
            A::BudgetExhausted,
            A::MaxReplans,
            A::Diverging,
            A::Cycling,
            A::ToolsExhausted,
            A::ConsentNeeded,
            A::Cancelled,
            A::Deadline,
        ]),
        texts().prop_map(|problems| A::NoPlan { problems }),
        (text(), texts()).prop_map(|(failed, next_steps)| A::NoOtherWay { failed, next_steps }),
        perception_failed().prop_map(|failed| A::NotUnderstood { failure: failed.failure }),
        model_failure().prop_map(|failure| A::Provider { failure }),
        text().prop_map(|detail| A::RoleFailed { detail }),
    ]
    .boxed()
}

/// Random values of `Ending`.
fn ending() -> BoxedStrategy<Ending> {
    prop_oneof![
        one_of(&[Basis::Checked, Basis::Mixed, Basis::Judged, Basis::WordsOnly])
            .prop_map(|basis| Ending::Accept { basis }),
        list(criterion_report()).prop_map(|unmet| Ending::Success { unmet }),
        (abandon_reason(), list(criterion_report())).prop_map(|(reason, unmet)| Ending::Abandon { reason, unmet }),
    ]
    .boxed()
}

/// Random values of `FinalResult`.
pub(crate) fn final_result() -> BoxedStrategy<FinalResult> {
    record!(FinalResult {
        task_id: task_id(),
        summary: text(),
        output: text(),
        answers: list(answer()),
        unverified: list(unverified()),
        loss: loss(),
        grad_l: number(),
        replans: any::<u32>(),
        prev_directive: prev_directive(),
        decision: text(),
        ending: ending(),
        delivered_round: any::<u32>(),
        suspect: any::<bool>(),
        criteria: list(criterion_report()),
        denied: list(denied()),
        assumptions: texts(),
        next_steps: texts(),
        coverage: option(coverage()),
        model_words: option(model_words().prop_map(Box::new)),
        skill: option(text()),
    })
}

/// Random values of `ModelWords`.
fn model_words() -> BoxedStrategy<ModelWords> {
    record!(ModelWords { summary: text(), next_steps: texts() })
}

/// Random values of `Wording`.
pub(crate) fn wording() -> BoxedStrategy<Wording> {
    record!(Wording { task_id: task_id(), words: option(model_words()) })
}

/// Random values of `WordingRequest`.
pub(crate) fn wording_request() -> BoxedStrategy<WordingRequest> {
    record!(WordingRequest { task_id: task_id(), reason: text(), met: texts(), unmet: texts(), tried: list(tried()) })
}

/// Random values of `TriedSubtask`.
fn tried() -> BoxedStrategy<TriedSubtask> {
    use ReplanDirective as R;
    record!(TriedSubtask {
        subtask_id: subtask_id(),
        intent: text(),
        calls: texts(),
        failure: option(text()),
        directive: option(one_of(&[R::Refine, R::ChangePath, R::ChangeApproach, R::BreakSymmetry])),
        blocked_tools: texts(),
    })
}
