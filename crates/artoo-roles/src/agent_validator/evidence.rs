//! The rules of evidence: what calls show, decided in code before any model is asked.

use artoo_proto::{
    CallStatus, Check, Criterion, CriterionVerdict, EffectClass, EvidenceId, ExecutionResult, ExecutionStatus,
    FailureClass, Mode, ModelFailure, SubTask, ToolCall, Verdict, VerdictSource,
};

use super::judgement::fail;
use crate::grounding;

/// A reason why nothing of this attempt can be believed.
#[derive(Debug)]
pub(super) struct Objection {
    pub(super) class: FailureClass,
    pub(super) source: VerdictSource,
    pub(super) detail: String,
    /// No retry: the executor gave up or the infrastructure failed.
    pub(super) is_final: bool,
}

/// The declared criteria, and an implied one where all are about form only: form never shows that the work was done.
pub(super) fn declared_or_implied(subtask: &SubTask) -> Vec<Criterion> {
    let mut criteria = subtask.success_criteria.clone();
    let substance = |criterion: &Criterion| criterion.check().is_none_or(Check::is_substantive);
    if !criteria.iter().any(substance) {
        criteria.push(Criterion::Prose {
            text: format!("the evidence shows that this was done: {}", subtask.intent),
            mode: Mode::Verifiable,
            required: true,
        });
    }
    criteria
}

/// What the calls say against the claim, whatever a model may think of it.
pub(super) fn objection(subtask: &SubTask, result: &ExecutionResult) -> Option<Objection> {
    let last = result.tool_calls.last();
    let rule = VerdictSource::Rule;
    if let Some(failure) = &result.model_failure {
        let detail = failure.to_string();
        return Some(Objection { class: FailureClass::Environmental, source: rule, detail, is_final: true });
    }
    if result.status == ExecutionStatus::Failed {
        let environmental = !result.denied.is_empty() || last.is_some_and(|call| call.environmental);
        let class = if environmental { FailureClass::Environmental } else { FailureClass::Logical };
        let detail = result.reason.clone().unwrap_or_else(|| "the executor reported failure".to_owned());
        return Some(Objection { class, source: rule, detail, is_final: true });
    }
    let ran = result.tool_calls.iter().any(|call| call.status == CallStatus::Ok);
    if !subtask.tools.is_empty() && !ran {
        let detail = "no tool call succeeded, so the claim has no evidence".to_owned();
        let environmental = last.is_some_and(|call| call.environmental);
        let class = if environmental { FailureClass::Environmental } else { FailureClass::Logical };
        return Some(Objection { class, source: rule, detail, is_final: false });
    }
    if let Some(primary) = primary(&result.tool_calls)
        && primary.status != CallStatus::Ok
    {
        let interrupted = matches!(primary.status, CallStatus::TimedOut | CallStatus::Uncertain);
        let detail = format!("the primary call {} ended as {:?}, whatever followed it", primary.tool, primary.status);
        let class = if primary.environmental { FailureClass::Environmental } else { FailureClass::Logical };
        return Some(Objection { class, source: rule, detail, is_final: interrupted });
    }
    if !result.output_from_tool && grounding::claims_change(&result.output) && !may_have_changed(&result.tool_calls) {
        let detail = "the output claims a change on this machine, but no call changed anything".to_owned();
        return Some(Objection { class: FailureClass::Logical, source: rule, detail, is_final: false });
    }
    None
}

/// The call the subtask stands on: the last that was not read-only, else the last one.
///
/// A look at the result after a failed act is no proof that the act succeeded.
fn primary(calls: &[ToolCall]) -> Option<&ToolCall> {
    calls.iter().rev().find(|call| call.class != EffectClass::ReadOnly).or_else(|| calls.last())
}

/// Whether some successful call changed a file, or was allowed to change what is not recorded.
pub(crate) fn may_have_changed(calls: &[ToolCall]) -> bool {
    calls
        .iter()
        .any(|call| call.status == CallStatus::Ok && (!call.changed.is_empty() || call.class == EffectClass::Unproven))
}

/// Decides what needs neither a look at the machine nor a model; `None` leaves it open.
pub(crate) fn decide_without_asking(
    criterion: &Criterion,
    output: &str,
    calls: &[ToolCall],
) -> Option<CriterionVerdict> {
    let check = criterion.check()?;
    let form = |pass: bool, seen: String| Some(by_form(criterion, pass, seen));
    match check {
        Check::OutputNotEmpty {} => form(!output.trim().is_empty(), format!("{} characters", output.chars().count())),
        Check::OutputIsNumber {} => {
            let number = output.trim().parse::<f64>().is_ok_and(f64::is_finite);
            form(number, artoo_proto::escape::shorten(output.trim(), 60))
        }
        Check::ExitCode { code } => {
            let last = calls.last().and_then(|call| call.exit_code);
            form(last == Some(*code), format!("the last exit code is {last:?}"))
        }
        Check::FileExists { path } | Check::FileContains { path, .. } | Check::FileEquals { path, .. } => {
            let own = calls.iter().filter(|call| call.status == CallStatus::Ok).flat_map(|call| &call.changed);
            let written =
                own.filter(|change| same_path(&change.path, path)).any(|change| change.before != change.after);
            (!written).then(|| {
                let detail = format!("no successful call changed {path}");
                fail(criterion, FailureClass::Logical, VerdictSource::Rule, &detail)
            })
        }
        Check::FileCount { .. } | Check::LineCount { .. } | Check::Recompute { .. } => None,
    }
}

/// Whether a recorded absolute path is the one a check names (which may start with `~` or be relative).
fn same_path(recorded: &str, named: &str) -> bool {
    let named = named.trim_start_matches("~/").trim_start_matches("./");
    recorded == named || recorded.strip_suffix(named).is_some_and(|rest| rest.ends_with('/'))
}

fn by_form(criterion: &Criterion, pass: bool, seen: String) -> CriterionVerdict {
    CriterionVerdict {
        criterion: criterion.clone(),
        verdict: if pass { Verdict::Pass } else { Verdict::Fail },
        source: VerdictSource::Check,
        failure_class: (!pass).then_some(FailureClass::Logical),
        evidence: seen,
        cites: Vec::new(),
    }
}

/// Evidence a verdict may rest on: successful calls whose output depends on the machine, or that changed it.
pub(crate) fn citable(calls: &[ToolCall]) -> Vec<EvidenceId> {
    let counts = |call: &&ToolCall| call.status == CallStatus::Ok && (call.measures || !call.changed.is_empty());
    calls.iter().filter(counts).map(|call| call.evidence_id.clone()).collect()
}

/// Whether the failure is the infrastructure's rather than the work's.
pub(super) fn is_infrastructure(result: &ExecutionResult) -> bool {
    let interrupted = |call: &ToolCall| matches!(call.status, CallStatus::TimedOut | CallStatus::Uncertain);
    result.model_failure.is_some() || result.tool_calls.last().is_some_and(interrupted)
}

/// The verdict where the judging model failed.
pub(super) fn unjudged(criterion: &Criterion, failure: &ModelFailure) -> CriterionVerdict {
    fail(criterion, FailureClass::Environmental, VerdictSource::Missing, &format!("not judged: {failure}"))
}

/// The verdict on what was left open when another criterion had already failed.
pub(super) fn left_open(criterion: &Criterion) -> CriterionVerdict {
    let detail = "not judged: another criterion had already failed";
    fail(criterion, FailureClass::Logical, VerdictSource::Missing, detail)
}

/// The correction's advice; format constraints are repeated since a retry tends to lose them.
pub(super) fn what_to_do(subtask: &SubTask, class: FailureClass, advice: Option<&str>) -> String {
    let general = match class {
        FailureClass::Logical => "Use a different approach from the calls listed.",
        FailureClass::Environmental => "Use a different target or path from the calls listed.",
    };
    let criteria: Vec<String> = subtask.success_criteria.iter().map(|c| format!("- {}", c.claim())).collect();
    let advice = advice.map(|advice| format!("{advice}\n")).unwrap_or_default();
    format!("{advice}{general} The output must still meet every criterion:\n{}", criteria.join("\n"))
}
