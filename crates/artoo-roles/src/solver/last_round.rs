//! Why a round fell short: its first failure, and the failures of models in it.

use artoo_proto::{CallStatus, ModelFailure, OutcomeStatus, ReplanRequest, Verdict};

/// Why the last round did not meet its criteria: a model's failure, or the text of the first failure.
#[derive(Debug, Default)]
pub(super) struct LastRound {
    /// A model's failure, if every failed subtask failed because of its model.
    pub(super) unusable: Option<ModelFailure>,
    /// The text of the first failure, and hints at existing paths close to a missing one.
    pub(super) failed: Option<(String, Vec<String>)>,
}

/// The first failed subtask of a round: the output of its failed call with hints at similar paths, or else the evidence
/// of its failed criterion. `None` if there is neither.
pub(super) fn what_failed(request: &ReplanRequest) -> Option<(String, Vec<String>)> {
    let outcome = request.outcomes.iter().find(|outcome| outcome.status == OutcomeStatus::Failed)?;
    if let Some(call) = outcome.tool_calls.iter().rev().find(|call| call.status != CallStatus::Ok) {
        let near = call.alternatives.iter().map(|path| format!("there is {path}"));
        return Some((call.failure(), near.collect()));
    }
    let verdict = outcome.criteria_verdicts.iter().find(|verdict| verdict.verdict == Verdict::Fail)?;
    Some((verdict.evidence.clone(), Vec::new()))
}

/// A model failure of this round that retrying can't help, such as an unreachable provider; no replan helps either.
pub(super) fn provider_failure(request: &ReplanRequest) -> Option<ModelFailure> {
    let of_outcomes = request.outcomes.iter().filter_map(|outcome| outcome.model_failure.as_ref());
    let mut all = request.model_failure.iter().chain(of_outcomes);
    all.find(|failure| !failure.is_worth_asking_again()).cloned()
}

/// The model failure that explains a round, the judge's or a subtask's; `None` if there is none, or if a subtask failed
/// for another reason.
pub(super) fn unusable_model(request: &ReplanRequest) -> Option<ModelFailure> {
    let failed = || request.outcomes.iter().filter(|outcome| outcome.status == OutcomeStatus::Failed);
    let of_failed = failed().find_map(|outcome| outcome.model_failure.clone());
    let all = failed().all(|outcome| outcome.model_failure.is_some());
    request.model_failure.clone().or(of_failed).filter(|_| all)
}
