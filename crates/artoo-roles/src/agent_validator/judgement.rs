//! A model's judgement, and what of it code lets stand. R4a and R4b share these rules.

use artoo_proto::{
    CheckOutcome, Criterion, CriterionVerdict, EvidenceId, FailureClass, ModelFailure, ToolCall, Usage, Verdict,
    VerdictSource, escape,
};
use serde::Deserialize;

use super::evidence::is_citable;
use crate::ask::Reply;
use crate::grounding;

/// What a judging model replies.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
pub(crate) struct Judgement {
    /// One entry a criterion, by its number in the question.
    pub(crate) verdicts: Vec<JudgedCriterion>,
    /// Advice for the next attempt.
    #[serde(default)]
    pub(crate) what_to_do: Option<String>,
}

impl Reply for Judgement {}

/// The failure for a judgement that was asked of the embedded parser.
pub(crate) fn no_judge() -> ModelFailure {
    let detail = "no language model is set up to judge this".to_owned();
    ModelFailure::Unreadable { detail, excerpt: String::new(), usage: Usage::default() }
}

/// A model's view of one criterion.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
pub(crate) struct JudgedCriterion {
    number: u32,
    verdict: Verdict,
    #[serde(default)]
    cites: Vec<String>,
    #[serde(default)]
    evidence: String,
    #[serde(default)]
    failure_class: Option<FailureClass>,
}

#[cfg(test)]
#[cfg(feature = "runtime")]
impl JudgedCriterion {
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

/// Characters of a model's reasoning kept with a verdict.
const EVIDENCE_KEPT: usize = 400;

/// A failed verdict.
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

/// The verdict a check gives; a check without an outcome is a failed one.
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

/// What a judgement may rest on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Grounds<'a> {
    /// The calls that may be cited.
    pub(crate) calls: &'a [ToolCall],
    /// No tool was planned and none was called: there is nothing to cite.
    pub(crate) words_only: bool,
    /// R3 itself can't tell.
    pub(crate) uncertain: bool,
}

/// The verdict a model's view leads to: one `fail` beats any `pass`, a missing view fails, and a pass stands only if
/// it cites evidence that exists and can carry it. `uncertain` work passes by no model's word.
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
    let cites: Vec<EvidenceId> = view.cites.iter().map(|id| EvidenceId(id.trim().to_owned())).collect();
    if let Some(objection) = uncarried(criterion, &cites, grounds) {
        return rule(&objection);
    }
    // Words nobody could hold against the machine are shown as such.
    let evidence = kept(&view.evidence);
    CriterionVerdict {
        criterion: criterion.clone(),
        verdict: Verdict::Pass,
        source: VerdictSource::Model,
        failure_class: None,
        evidence: if grounds.words_only { format!("in words only: {evidence}") } else { evidence },
        cites: if grounds.words_only { Vec::new() } else { cites },
    }
}

/// Why the cited calls can't carry a pass, if so.
fn uncarried(criterion: &Criterion, cites: &[EvidenceId], grounds: Grounds<'_>) -> Option<String> {
    if grounds.words_only {
        return None;
    }
    if cites.is_empty() {
        return Some("the verdict cites no evidence".to_owned());
    }
    let found = |id: &EvidenceId| grounds.calls.iter().find(|call| call.evidence_id == *id && is_citable(call));
    if let Some(unknown) = cites.iter().find(|id| found(id).is_none()) {
        let unknown = escape::shorten(&escape::one_line(&unknown.0), 60);
        return Some(format!("the verdict cites {unknown}, which is not evidence of this machine's state"));
    }
    let all_cut = cites.iter().filter_map(found).all(|call| call.truncated);
    (all_cut && grounding::needs_whole_output(&criterion.claim()))
        .then(|| "the cited output is cut, and the claim is about all, none or how many".to_owned())
}

fn kept(text: &str) -> String {
    escape::shorten(&escape::visible(text), EVIDENCE_KEPT)
}
