//! A model's judgement, and the rules by which code accepts or rejects it. R4a and R4b share these rules.

use artoo_proto::{
    CheckOutcome, Criterion, CriterionVerdict, EvidenceId, FailureClass, ModelFailure, ToolCall, Usage, Verdict,
    VerdictSource, escape,
};
use serde::Deserialize;

use super::evidence::is_citable;
use crate::ask::Reply;
use crate::grounding;

/// A model's reply with its verdicts on the criteria that it was asked to judge.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
pub(crate) struct Judgement {
    /// One verdict for each criterion, which is identified by its number in the prompt.
    pub(crate) verdicts: Vec<JudgedCriterion>,
    /// The model's advice to the executor for the next attempt, if any.
    #[serde(default)]
    pub(crate) what_to_do: Option<String>,
}

impl Reply for Judgement {}

/// The failure that is reported when only the embedded parser is available, which can't judge.
pub(crate) fn no_judge() -> ModelFailure {
    let detail = "no language model is set up to judge this".to_owned();
    ModelFailure::Unreadable { detail, excerpt: String::new(), usage: Usage::default() }
}

/// A model's verdict on one criterion, before code has verified what it cites.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
pub(crate) struct JudgedCriterion {
    /// Number of the criterion in the prompt, from 1.
    number: u32,
    verdict: Verdict,
    /// Ids of the tool calls that the model gives as evidence.
    #[serde(default)]
    cites: Vec<String>,
    /// The model's reason for the verdict.
    #[serde(default)]
    evidence: String,
    /// Why the criterion is not met; `Logical` if the model gives none.
    #[serde(default)]
    failure_class: Option<FailureClass>,
}

#[cfg(test)]
#[cfg(feature = "runtime")]
impl JudgedCriterion {
    /// A model's verdict with these fields, for tests.
    pub(crate) fn of(
        number: u32,
        verdict: Verdict,
        cites: Vec<String>,
        evidence: String,
        failure_class: Option<FailureClass>,
    ) -> Self {
        Self { number, verdict, cites, evidence, failure_class }
    }
}

/// Maximum length of the reason stored with a verdict, in characters.
const EVIDENCE_KEPT: usize = 400;

/// Creates a verdict that `criterion` failed, with `detail` as the reason.
pub(crate) fn fail(
    criterion: &Criterion,
    class: FailureClass,
    source: VerdictSource,
    detail: &str,
) -> CriterionVerdict {
    CriterionVerdict {
        criterion: criterion.clone(),
        verdict: Verdict::Fail,
        source,
        failure_class: Some(class),
        evidence: detail.to_owned(),
        cites: Vec::new(),
    }
}

/// The verdict on `criterion` by the outcome of its check, a pass or a fail; `None` (the check was not run) fails.
pub(crate) fn pass_by_check(
    criterion: &Criterion,
    outcome: Option<CheckOutcome>,
    cites: Vec<EvidenceId>,
) -> CriterionVerdict {
    let Some(outcome) = outcome else {
        return fail(criterion, FailureClass::Environmental, VerdictSource::Missing, "the check was not decided");
    };
    if !outcome.pass {
        let class = if outcome.environmental { FailureClass::Environmental } else { FailureClass::Logical };
        return fail(criterion, class, VerdictSource::Check, &outcome.evidence);
    }
    CriterionVerdict {
        criterion: criterion.clone(),
        verdict: Verdict::Pass,
        source: VerdictSource::Check,
        failure_class: None,
        evidence: kept(&outcome.evidence),
        cites,
    }
}

/// The evidence that a model's judgement may use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Grounds<'a> {
    /// The tool calls that a judgement may cite.
    pub(crate) calls: &'a [ToolCall],
    /// Whether no tool was planned and none was called, so that a judgement has nothing to cite.
    pub(crate) words_only: bool,
    /// Whether R3 (the Executor) reported that it is uncertain of its result.
    pub(crate) uncertain: bool,
}

/// The verdict on criterion `number` that follows from a model's judgement. One `fail` overrides any `pass`, a missing
/// verdict fails, and a `pass` counts only if it cites existing calls that can prove it (with `words_only`, without
/// any). If the executor was uncertain, a model's `pass` fails.
pub(crate) fn apply_judgement(
    criterion: &Criterion,
    number: u32,
    judgement: &Judgement,
    grounds: Grounds<'_>,
) -> CriterionVerdict {
    let views: Vec<&JudgedCriterion> = judgement.verdicts.iter().filter(|view| view.number == number).collect();
    let rule = |detail: &str| fail(criterion, FailureClass::Logical, VerdictSource::Rule, detail);
    if let Some(view) = views.iter().find(|view| view.verdict == Verdict::Fail) {
        let class = view.failure_class.unwrap_or(FailureClass::Logical);
        return fail(criterion, class, VerdictSource::Model, &kept(&view.evidence));
    }
    let Some(view) = views.first() else {
        let detail = "the verdict on this criterion is missing";
        return fail(criterion, FailureClass::Logical, VerdictSource::Missing, detail);
    };
    if grounds.uncertain {
        return rule("the executor is uncertain, and no check in code decides this");
    }
    let cites = good_cites(view, grounds.calls);
    if let Some(objection) = uncarried(criterion, view, &cites, grounds) {
        return rule(&objection);
    }
    // No evidence on this machine supports a text without tool calls, so the verdict says so.
    let evidence = kept(&view.evidence);
    CriterionVerdict {
        criterion: criterion.clone(),
        verdict: Verdict::Pass,
        source: VerdictSource::Model,
        failure_class: None,
        evidence: if grounds.words_only { format!("in words only: {evidence}") } else { evidence },
        cites: cites.into_iter().map(|call| call.evidence_id.clone()).collect(),
    }
}

/// The calls that a verdict cites and that exist and can prove something; other citations are ignored.
fn good_cites<'a>(view: &JudgedCriterion, calls: &'a [ToolCall]) -> Vec<&'a ToolCall> {
    let found = |id: &String| calls.iter().find(|call| call.evidence_id.0 == id.trim() && is_citable(call));
    view.cites.iter().filter_map(found).collect()
}

/// Why the cited calls do not prove that the criterion is met; `None` if they do, or if no call could be cited. `cites`
/// has the citations that name evidence.
fn uncarried(
    criterion: &Criterion,
    view: &JudgedCriterion,
    cites: &[&ToolCall],
    grounds: Grounds<'_>,
) -> Option<String> {
    if grounds.words_only {
        return None;
    }
    if cites.is_empty() {
        let Some(unknown) = view.cites.first() else { return Some("the verdict cites no evidence".to_owned()) };
        let unknown = escape::shorten(&escape::one_line(unknown.trim()), 60);
        return Some(format!("the verdict cites {unknown}, which is not evidence of this machine's state"));
    }
    let all_cut = cites.iter().all(|call| call.truncated);
    (all_cut && grounding::needs_whole_output(&criterion.claim()))
        .then(|| "the cited output is cut, and the claim is about all, none or how many".to_owned())
}

/// A reason as it is stored with a verdict: control characters escaped, at most `EVIDENCE_KEPT` characters.
fn kept(text: &str) -> String {
    escape::shorten(&escape::visible(text), EVIDENCE_KEPT)
}
