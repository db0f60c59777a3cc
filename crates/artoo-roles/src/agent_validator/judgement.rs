//! A model's judgement, and what of it code lets stand. R4a and R4b share these rules.

use artoo_proto::{Criterion, CriterionVerdict, EvidenceId, FailureClass, Verdict, VerdictSource, escape};
use serde::Deserialize;

use crate::machine::CheckOutcome;

/// What a judging model replies.
#[derive(Debug, Deserialize)]
pub(crate) struct Judgement {
    /// One entry a criterion, by its number in the question.
    pub(crate) verdicts: Vec<JudgedCriterion>,
    /// Advice for the next attempt.
    #[serde(default)]
    pub(crate) what_to_do: Option<String>,
}

/// A model's view of one criterion.
#[derive(Debug, Deserialize)]
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
pub(crate) fn pass_by_check(criterion: &Criterion, outcome: Option<CheckOutcome>) -> CriterionVerdict {
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
        evidence: outcome.evidence,
        cites: Vec::new(),
    }
}

/// The verdict a model's view leads to: one `fail` beats any `pass`, a missing view fails, and a pass stands only if
/// it cites evidence that exists. `uncertain` work passes by no model's word.
pub(crate) fn apply_judgement(
    criterion: &Criterion,
    number: u32,
    judgement: &Judgement,
    citable: &[EvidenceId],
    words_only: bool,
    uncertain: bool,
) -> CriterionVerdict {
    let views: Vec<&JudgedCriterion> = judgement.verdicts.iter().filter(|view| view.number == number).collect();
    let rule = |detail: &str| fail(criterion, FailureClass::Logical, VerdictSource::Rule, detail);
    if let Some(view) = views.iter().find(|view| view.verdict == Verdict::Fail) {
        let class = view.failure_class.unwrap_or(FailureClass::Logical);
        return fail(criterion, class, VerdictSource::Model, &kept(&view.evidence));
    }
    let Some(view) = views.first() else {
        return fail(
            criterion,
            FailureClass::Logical,
            VerdictSource::Missing,
            "the verdict on this criterion is missing",
        );
    };
    if uncertain {
        return rule("the executor is uncertain, and no check in code decides this");
    }
    let cites: Vec<EvidenceId> = view.cites.iter().map(|id| EvidenceId(id.trim().to_owned())).collect();
    if !words_only {
        if cites.is_empty() {
            return rule("the verdict cites no evidence");
        }
        if let Some(unknown) = cites.iter().find(|id| !citable.contains(id)) {
            let unknown = escape::shorten(&escape::one_line(&unknown.0), 60);
            return rule(&format!("the verdict cites {unknown}, which is not evidence of this machine's state"));
        }
    }
    CriterionVerdict {
        criterion: criterion.clone(),
        verdict: Verdict::Pass,
        source: VerdictSource::Model,
        failure_class: None,
        evidence: kept(&view.evidence),
        cites,
    }
}

fn kept(text: &str) -> String {
    escape::shorten(&escape::visible(text), EVIDENCE_KEPT)
}
