//! Random values of every message, with hostile text and every enum variant.

mod control;
mod work;

use artoo_proto::{
    Abstention, Address, Check, ConsentHash, Criterion, DeniedAction, EffectId, EvidenceId, Message, MessageId,
    MessageKind, Mode, ModelFailure, Offer, Role, SubTaskId, TaskId, Timestamp,
};
use proptest::prelude::*;
use serde_json::Value;
use uuid::Uuid;

/// A strategy for a struct, from one strategy for each field.
macro_rules! record {
    ($name:ident { $($field:ident: $strategy:expr),* $(,)? }) => {
        record!(@values [$($strategy,)*])
            .prop_map(|record!(@names [$($field,)*])| $name { $($field,)* })
            .boxed()
    };
    (@values []) => { Just(()) };
    (@values [$first:expr, $($rest:expr,)*]) => { ($first, record!(@values [$($rest,)*])) };
    (@names []) => { () };
    (@names [$first:ident, $($rest:ident,)*]) => { ($first, record!(@names [$($rest,)*])) };
}
pub(crate) use record;

/// A random message of this kind.
pub(crate) fn message(kind: MessageKind) -> BoxedStrategy<Message> {
    use MessageKind as M;
    match kind {
        M::UserRequest => control::user_request().prop_map(Message::from).boxed(),
        M::ClarificationRequest => control::clarification_request().prop_map(Message::from).boxed(),
        M::ClarificationAnswer => control::clarification_answer().prop_map(Message::from).boxed(),
        M::TaskSpec => work::task_spec().prop_map(Message::from).boxed(),
        M::PerceptionFailed => work::perception_failed().prop_map(Message::from).boxed(),
        M::MemoryQuery => control::memory_query().prop_map(Message::from).boxed(),
        M::MemoryRecall => control::memory_recall().prop_map(Message::from).boxed(),
        M::Plan => work::plan().prop_map(Message::from).boxed(),
        M::PlanRejected => work::plan_rejected().prop_map(Message::from).boxed(),
        M::DispatchManifest => work::dispatch_manifest().prop_map(Message::from).boxed(),
        M::SubTask => work::sub_task().prop_map(Message::from).boxed(),
        M::ConsentRequest => control::consent_request().prop_map(Message::from).boxed(),
        M::ConsentAnswer => control::consent_answer().prop_map(Message::from).boxed(),
        M::ExecutionResult => work::execution_result().prop_map(Message::from).boxed(),
        M::CorrectionSignal => work::correction_signal().prop_map(Message::from).boxed(),
        M::SubTaskOutcome => work::sub_task_outcome().prop_map(Message::from).boxed(),
        M::SubTaskMissing => work::sub_task_missing().prop_map(Message::from).boxed(),
        M::ReadingRequest => control::reading_request().prop_map(Message::from).boxed(),
        M::ReadingAnswer => control::reading_answer().prop_map(Message::from).boxed(),
        M::ReplanRequest => work::replan_request().prop_map(Message::from).boxed(),
        M::OutcomeSummary => work::outcome_summary().prop_map(Message::from).boxed(),
        M::PlanDirective => control::plan_directive().prop_map(Message::from).boxed(),
        M::WordingRequest => control::wording_request().prop_map(Message::from).boxed(),
        M::Wording => control::wording().prop_map(Message::from).boxed(),
        M::Megram => control::megram_draft().prop_map(Message::from).boxed(),
        M::FinalResult => control::final_result().prop_map(Message::from).boxed(),
        M::CancelRequest => control::cancel_request().prop_map(Message::from).boxed(),
        M::Abort => control::abort().prop_map(Message::from).boxed(),
        M::MemoryCorrection => control::memory_correction().prop_map(Message::from).boxed(),
        M::MemoryFeedback => control::memory_feedback().prop_map(Message::from).boxed(),
        M::RoleFailed => control::role_failed().prop_map(Message::from).boxed(),
    }
}

/// A random text: short words, any script, control characters, quotes.
pub(crate) fn text() -> BoxedStrategy<String> {
    prop_oneof!["[a-z ]{0,8}", "(?s).{0,6}", "[\"\\\\\n\u{0}\u{1b}\u{202e}鍵]{0,4}"].boxed()
}

/// A random list of texts.
pub(crate) fn texts() -> BoxedStrategy<Vec<String>> {
    list(text())
}

/// A list of at most two random values.
pub(crate) fn list<S: Strategy + 'static>(strategy: S) -> BoxedStrategy<Vec<S::Value>> {
    prop::collection::vec(strategy, 0..3).boxed()
}

/// A random value or none.
pub(crate) fn option<S: Strategy + 'static>(strategy: S) -> BoxedStrategy<Option<S::Value>> {
    prop::option::of(strategy).boxed()
}

/// One of these values.
pub(crate) fn one_of<T: Clone + std::fmt::Debug + 'static>(values: &[T]) -> BoxedStrategy<T> {
    prop::sample::select(values.to_vec()).boxed()
}

/// A random finite number.
pub(crate) fn number() -> BoxedStrategy<f64> {
    use prop::num::f64::{NEGATIVE, NORMAL, POSITIVE, SUBNORMAL, ZERO};
    prop_oneof![0.0..=1.0, NORMAL | SUBNORMAL | ZERO | POSITIVE | NEGATIVE].boxed()
}

/// Random values of `Uuid`.
pub(crate) fn id() -> BoxedStrategy<Uuid> {
    any::<u128>().prop_map(Uuid::from_u128).boxed()
}

/// Random values of `MessageId`.
pub(crate) fn message_id() -> BoxedStrategy<MessageId> {
    id().prop_map(MessageId).boxed()
}

/// Random values of `EffectId`.
pub(crate) fn effect_id() -> BoxedStrategy<EffectId> {
    id().prop_map(EffectId).boxed()
}

/// Random values of `SubTaskId`.
pub(crate) fn subtask_id() -> BoxedStrategy<SubTaskId> {
    id().prop_map(SubTaskId).boxed()
}

/// Random values of `TaskId`.
pub(crate) fn task_id() -> BoxedStrategy<TaskId> {
    (text(), id()).prop_map(|(words, id)| TaskId::new(&words, id)).boxed()
}

/// Random values of `EvidenceId`.
pub(crate) fn evidence_id() -> BoxedStrategy<EvidenceId> {
    text().prop_map(EvidenceId).boxed()
}

/// Random values of `ConsentHash`.
pub(crate) fn consent_hash() -> BoxedStrategy<ConsentHash> {
    "[0-9a-f]{64}".prop_map(ConsentHash).boxed()
}

/// Random values of `Timestamp`.
pub(crate) fn moment() -> BoxedStrategy<Timestamp> {
    any::<i64>().prop_map(Timestamp::from_millis).boxed()
}

/// Random values of `Role`.
pub(crate) fn role() -> BoxedStrategy<Role> {
    one_of(&Role::ALL)
}

/// Random values of `Address`.
pub(crate) fn address() -> BoxedStrategy<Address> {
    record!(Address { role: role(), task_id: option(task_id()), subtask_id: option(subtask_id()) })
}

/// A random JSON value of a few levels.
pub(crate) fn json() -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        number().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    let nested = leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec((text(), inner), 0..3).prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    });
    nested.boxed()
}

/// Random values of `Criterion`.
pub(crate) fn criterion() -> BoxedStrategy<Criterion> {
    let mode = one_of(&[Mode::Verifiable, Mode::Plausible]);
    prop_oneof![
        (text(), mode, any::<bool>()).prop_map(|(text, mode, required)| Criterion::Prose { text, mode, required }),
        (check(), any::<bool>()).prop_map(|(check, required)| Criterion::Checked { check, required }),
    ]
    .boxed()
}

/// Random values of `Check`.
fn check() -> BoxedStrategy<Check> {
    prop_oneof![
        Just(Check::OutputNotEmpty {}),
        Just(Check::OutputIsNumber {}),
        any::<i32>().prop_map(|code| Check::ExitCode { code }),
        text().prop_map(|path| Check::FileExists { path }),
        (text(), text()).prop_map(|(path, text)| Check::FileContains { path, text }),
        (text(), text()).prop_map(|(path, text)| Check::FileEquals { path, text }),
        (text(), text(), any::<bool>()).prop_map(|(path, pattern, recursive)| Check::FileCount {
            path,
            pattern,
            recursive
        }),
        text().prop_map(|path| Check::LineCount { path }),
        (json(), text()).prop_map(|(query, reading)| Check::Recompute { query, reading }),
        (json(), text()).prop_map(|(act, reading)| Check::Performed { act, reading }),
    ]
    .boxed()
}

/// Random values of `DeniedAction`.
pub(crate) fn denied() -> BoxedStrategy<DeniedAction> {
    record!(DeniedAction { action: text(), reason: text(), by_person: any::<bool>() })
}

/// Random values of `Abstention`.
pub(crate) fn abstention() -> BoxedStrategy<Abstention> {
    let offer = record!(Offer { request: text(), reading: text(), change: text() }).prop_map(Box::new);
    record!(Abstention { understood: text(), not_understood: texts(), remedy: text(), offer: option(offer) })
}

/// Random values of `ModelFailure`.
pub(crate) fn model_failure() -> BoxedStrategy<ModelFailure> {
    use ModelFailure as F;
    prop_oneof![
        text().prop_map(|detail| F::Unreachable { detail }),
        (any::<u16>(), text()).prop_map(|(status, detail)| F::Unauthorized { status, detail }),
        (any::<u16>(), text()).prop_map(|(status, detail)| F::Rejected { status, detail }),
        (any::<u16>(), text()).prop_map(|(status, detail)| F::Overloaded { status, detail }),
        (any::<u64>(), usage()).prop_map(|(after_ms, usage)| F::TimedOut { after_ms, usage }),
        (text(), usage()).prop_map(|(detail, usage)| F::Cut { detail, usage }),
        (text(), text(), usage()).prop_map(|(detail, excerpt, usage)| F::Unreadable { detail, excerpt, usage }),
        (any::<u64>(), any::<u64>()).prop_map(|(needed, room)| F::DoesNotFit { needed, room }),
        text().prop_map(|detail| F::OverBudget { detail }),
        Just(F::Cancelled),
        text().prop_map(|detail| F::NotRecorded { detail }),
    ]
    .boxed()
}

/// Random values of `artoo_proto::Usage`.
fn usage() -> BoxedStrategy<artoo_proto::Usage> {
    let usage = |(model_calls, prompt_tokens, completion_tokens)| artoo_proto::Usage {
        model_calls,
        prompt_tokens,
        completion_tokens,
    };
    any::<(u32, u64, u64)>().prop_map(usage).boxed()
}
