//! The rules of evidence: what tool calls prove, decided in code before any model is asked.

use artoo_proto::{
    CallStatus, Check, Criterion, CriterionVerdict, EffectClass, EvidenceId, ExecutionResult, ExecutionStatus,
    FailureClass, Mode, ModelFailure, SubTask, ToolCall, Verdict, VerdictSource,
};

use super::judgement::fail;
use crate::grounding;

/// A reason to fail an attempt as a whole, whatever its criteria are.
#[derive(Debug)]
pub(super) struct Objection {
    pub(super) class: FailureClass,
    pub(super) detail: String,
    /// Whether no retry follows: the executor gave up, a model failed, a call was interrupted, or a search had no
    /// network.
    pub(super) is_final: bool,
}

/// The criteria of the subtask. If there are none, or all are about the output's form only, a criterion is added that
/// the work was done.
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

/// The first reason, found in code, to fail the reported attempt without asking a model; `None` if there is none.
/// `calls` are the tool calls of all attempts.
pub(super) fn objection(subtask: &SubTask, result: &ExecutionResult, calls: &[ToolCall]) -> Option<Objection> {
    let last = result.tool_calls.last();
    let class = |environmental: bool| {
        if environmental { FailureClass::Environmental } else { FailureClass::Logical }
    };
    let object = |class: FailureClass, detail: String, is_final: bool| Some(Objection { class, detail, is_final });
    if let Some(failure) = &result.model_failure {
        return object(FailureClass::Environmental, failure.to_string(), true);
    }
    if result.status == ExecutionStatus::Failed {
        let environmental = !result.denied.is_empty() || last.is_some_and(|call| call.environmental);
        let detail = result.reason.clone().unwrap_or_else(|| "the executor reported failure".to_owned());
        return object(class(environmental), detail, true);
    }
    if let Some(call) = primary(&result.tool_calls).filter(|call| was_interrupted(call)) {
        let detail = format!("the primary call {} ended as {:?}", call.tool, call.status);
        return object(class(call.environmental), detail, true);
    }
    if !subtask.tools.is_empty() && !calls.iter().any(|call| call.status == CallStatus::Ok) {
        let detail = "no tool call succeeded, so the claim has no evidence".to_owned();
        let is_final = last.is_some_and(is_network_failure);
        return object(class(last.is_some_and(|call| call.environmental)), detail, is_final);
    }
    if let Some(call) = primary(&result.tool_calls).filter(|call| call.status != CallStatus::Ok) {
        let detail = format!("the primary call {} ended as {:?}, whatever followed it", call.tool, call.status);
        return object(class(call.environmental), detail, false);
    }
    if let Some(act) = unrepaired_act(result, calls) {
        let detail = format!("the act {} ended as {:?}; looking afterwards does not prove it", act.tool, act.status);
        return object(class(act.environmental), detail, false);
    }
    if !result.output_from_tool && grounding::claims_change(&result.output) && !calls.iter().any(may_have_changed) {
        let detail = "the output claims a change on this machine, but no call changed anything".to_owned();
        return object(FailureClass::Logical, detail, false);
    }
    if calls.is_empty() && grounding::claims_deed(&result.output) {
        let detail = "the output claims an act, but no tool was called".to_owned();
        return object(FailureClass::Logical, detail, false);
    }
    None
}

/// The call that decides whether the attempt succeeded: the last one that was not read-only, or else the last one.
///
/// A read-only call after a failed change does not prove that the change succeeded.
fn primary(calls: &[ToolCall]) -> Option<&ToolCall> {
    calls.iter().rev().find(|call| call.class != EffectClass::ReadOnly).or_else(|| calls.last())
}

/// The last call that was not read-only, if it is of class `Creating`, failed in an earlier attempt, and this attempt
/// made only read-only calls; otherwise `None`.
fn unrepaired_act<'a>(result: &ExecutionResult, calls: &'a [ToolCall]) -> Option<&'a ToolCall> {
    if result.tool_calls.iter().any(|call| call.class != EffectClass::ReadOnly) {
        return None;
    }
    // A command of which it is not known what it changed may have been a query, which a read-only call can replace.
    let act = calls.iter().rev().find(|call| call.class != EffectClass::ReadOnly)?;
    (act.status != CallStatus::Ok && act.class == EffectClass::Creating).then_some(act)
}

/// Whether the call is a web search that failed because of the network or a server, which a retry a moment later
/// doesn't change (specification, R4a).
fn is_network_failure(call: &ToolCall) -> bool {
    call.environmental && call.status == CallStatus::Failed && call.tool == "search"
}

/// Whether the call timed out or its end is unknown.
fn was_interrupted(call: &ToolCall) -> bool {
    matches!(call.status, CallStatus::TimedOut | CallStatus::Uncertain)
}

/// Whether the call succeeded and changed a file, or may have made a change that was not recorded (a new folder, or a
/// command that could change more than was compared before and after).
pub(crate) fn may_have_changed(call: &ToolCall) -> bool {
    let is_unrecorded = call.class != EffectClass::ReadOnly && !call.changes_known;
    call.status == CallStatus::Ok && (has_changed(call) || is_unrecorded)
}

/// Whether the call is recorded to have left a file different from before.
fn has_changed(call: &ToolCall) -> bool {
    call.changed.iter().any(|change| change.before != change.after)
}

/// How a criterion is to be decided: at once, by a check, or by a model.
#[derive(Debug)]
pub(crate) enum Ruling {
    /// Code has decided the criterion.
    Decided(CriterionVerdict),
    /// This check decides the criterion; the calls are its evidence.
    Check(Check, Vec<EvidenceId>),
    /// Only a model can decide the criterion.
    Judge,
}

/// Decides a criterion if that needs neither a check on the machine nor a model; otherwise says which of them it needs.
pub(crate) fn rule(criterion: &Criterion, output: &str, calls: &[ToolCall]) -> Ruling {
    let Some(check) = criterion.check() else { return Ruling::Judge };
    let form = |pass: bool, seen: String| Ruling::Decided(by_form(criterion, pass, seen));
    let refuse = |detail: &str| Ruling::Decided(fail(criterion, FailureClass::Logical, VerdictSource::Rule, detail));
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
        // A plan may look for a file that needs no change, so the check distinguishes this from a file that is missing.
        Check::FileExists { path } => {
            let own = own_change(path, calls).map(|call| call.evidence_id.clone());
            Ruling::Check(check.clone(), own.into_iter().collect())
        }
        Check::FileContains { path, .. } | Check::FileEquals { path, .. } => match own_change(path, calls) {
            Some(call) => Ruling::Check(check.clone(), vec![call.evidence_id.clone()]),
            None => Ruling::Decided(by_form(criterion, false, format!("no successful call changed {path}"))),
        },
        // Without a call that measured it, even a correct number is a guess.
        Check::FileCount { .. } | Check::LineCount { .. } | Check::Recompute { .. } => {
            let measured = citable(calls);
            if measured.is_empty() { refuse("no call measured it") } else { Ruling::Check(check.clone(), measured) }
        }
        // No change may have been needed: the check distinguishes this from a change that was not made.
        Check::Performed { .. } => {
            let made = citable(calls);
            if made.is_empty() { refuse("no call did it") } else { Ruling::Check(check.clone(), made) }
        }
    }
}

/// Whether a failed check is excused: the model's plan added it, the user did not ask for it, and `calls` did something.
/// R3 still corrects its work by the check, and the result lists it as unmet, but it does not fail the task.
pub(crate) fn is_excused(verdict: &CriterionVerdict, calls: &[ToolCall]) -> bool {
    let check = verdict.criterion.check();
    let is_plans = check.is_some_and(|c| !matches!(c, Check::Recompute { .. } | Check::Performed { .. }));
    // If the check expects a file, a call that changed nothing did not do the act.
    let expects_a_file = check.and_then(Check::written_path).is_some();
    let is_done = |call: &ToolCall| if expects_a_file { may_have_changed(call) } else { call.status == CallStatus::Ok };
    verdict.verdict == Verdict::Fail && verdict.source == VerdictSource::Check && is_plans && calls.iter().any(is_done)
}

/// The last successful call that changed the file named in a check; `None` if no call did.
///
/// Plans and call records contain absolute paths, so the paths must be equal: a check must not pass because of another
/// file of the same name.
fn own_change<'a>(named: &str, calls: &'a [ToolCall]) -> Option<&'a ToolCall> {
    let ok = |call: &&ToolCall| call.status == CallStatus::Ok;
    let own = |call: &&ToolCall| call.changed.iter().any(|c| c.before != c.after && c.path == named);
    calls.iter().rev().filter(ok).find(own)
}

/// The verdict of a check that needs no look at the machine (output's format, exit code, no call that changed the
/// file), with `seen` as evidence.
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

/// Whether a verdict may cite this call as evidence: it succeeded, and its output depends on the machine's state or it
/// changed the machine.
pub(crate) fn is_citable(call: &ToolCall) -> bool {
    let acted = has_changed(call) || call.class == EffectClass::Creating;
    call.status == CallStatus::Ok && (call.measures || acted)
}

/// The ids of the calls that a verdict may cite as evidence.
fn citable(calls: &[ToolCall]) -> Vec<EvidenceId> {
    calls.iter().filter(|call| is_citable(call)).map(|call| call.evidence_id.clone()).collect()
}

/// The calls that show the machine's state independently of this task: they changed no file, and neither their target
/// nor their input names a file that the task wrote.
pub(crate) fn independent(calls: &[ToolCall]) -> Vec<ToolCall> {
    let changes = calls.iter().flat_map(|call| &call.changed);
    let written: Vec<&str> = changes.filter_map(|change| change.path.rsplit('/').next()).collect();
    let reads_back = |call: &ToolCall| {
        let words = format!("{} {}", call.target, call.input);
        let is_part = |c: char| !(c.is_alphanumeric() || matches!(c, '.' | '_' | '-'));
        written.iter().any(|name| name.contains(is_part) && words.contains(name))
            || words.split(is_part).any(|word| !word.is_empty() && written.contains(&word))
    };
    calls.iter().filter(|call| !has_changed(call) && !reads_back(call)).cloned().collect()
}

/// Whether the attempt failed because a model failed or its main call was interrupted, and not because of the work.
pub(super) fn is_infrastructure(result: &ExecutionResult) -> bool {
    result.model_failure.is_some() || primary(&result.tool_calls).is_some_and(was_interrupted)
}

/// The verdict on a criterion that was not judged because the judging model failed.
pub(super) fn unjudged(criterion: &Criterion, failure: &ModelFailure) -> CriterionVerdict {
    fail(criterion, FailureClass::Environmental, VerdictSource::Missing, &format!("not judged: {failure}"))
}

/// The verdict on a criterion that was not judged because another one had already failed; it has no failure class.
pub(crate) fn left_open(criterion: &Criterion) -> CriterionVerdict {
    let detail = "not judged: another criterion had already failed";
    let verdict = fail(criterion, FailureClass::Logical, VerdictSource::Missing, detail);
    CriterionVerdict { failure_class: None, ..verdict }
}

/// The advice in a correction. It repeats all criteria, because a retry tends to forget the required format.
pub(super) fn what_to_do(subtask: &SubTask, class: FailureClass, advice: Option<&str>) -> String {
    let general = match class {
        FailureClass::Logical => "Use a different approach from the calls listed.",
        FailureClass::Environmental => "Use a different target or path from the calls listed.",
    };
    let criteria: Vec<String> = subtask.success_criteria.iter().map(|c| format!("- {}", c.claim())).collect();
    let advice = advice.map(|advice| format!("{advice}\n")).unwrap_or_default();
    format!("{advice}{general} The output must still meet every criterion:\n{}", criteria.join("\n"))
}
