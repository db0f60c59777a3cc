//! Endings of a task: the result that the user gets, with each criterion marked as checked, judged or unmet.

use std::collections::{BTreeMap, BTreeSet};

use artoo_ggs::Decision;
use artoo_proto::{
    AbandonReason, Basis, Check, Criterion, CriterionMark, CriterionReport, CriterionVerdict, DeniedAction,
    DispatchManifest, Ending, FinalResult, KeptOutput, OutcomeSummary, PrevDirective, ReplanRequest, SubTaskOutcome,
    TaskId, TaskSpec, UnverifiedOutput, Verdict, VerdictSource, escape,
};

use super::translate;
use super::wording::{next_steps, reason_words};
use crate::grounding;
use crate::limits::SUMMARY_CHARS;

/// What the Solver (R7) collects during a task for its final result.
#[derive(Debug, Default)]
pub(super) struct Account {
    /// The output and criteria of each round, by `artoo-ggs`'s round number.
    pub(super) rounds: BTreeMap<u32, Delivered>,
    /// Actions of this task that were denied, without duplicates.
    pub(super) denied: Vec<DeniedAction>,
    /// The (tool, target) pairs of denied calls, as text; every later plan must avoid them.
    pub(super) denied_targets: Vec<String>,
    /// Tools that the last dispatched plan named: the approach that memory learns about.
    pub(super) approach: Vec<String>,
    /// Whether any tool call of this task was run, that is, not denied.
    pub(super) ran_tool: bool,
    /// Assumptions that the last plan made about the request.
    pub(super) assumptions: Vec<String>,
}

/// The output and the judged criteria of one round.
#[derive(Debug)]
pub(super) struct Delivered {
    round: u32,
    output: String,
    whole: Vec<KeptOutput>,
    unverified: Vec<UnverifiedOutput>,
    criteria: Vec<CriterionReport>,
}

impl Delivered {
    /// The result of a round that fell short. Missing subtasks, and task criteria that were not judged, count as unmet.
    pub(super) fn of_request(request: &ReplanRequest, manifest: Option<&DispatchManifest>) -> Self {
        let mut criteria = reports(&request.outcomes, &request.task_verdicts);
        for missing in &request.missing {
            criteria.extend(missing.criteria.iter().map(|criterion| CriterionReport {
                claim: criterion.claim(),
                mark: CriterionMark::Unmet,
                evidence: missing.reason.to_string(),
            }));
        }
        for outcome in request.outcomes.iter().filter(|outcome| outcome.criteria_verdicts.is_empty()) {
            if let Some(reason) = &outcome.failure_reason {
                let claim = "the subtask reports an outcome".to_owned();
                criteria.push(CriterionReport { claim, mark: CriterionMark::Unmet, evidence: reason.clone() });
            }
        }
        // If a subtask failed, the task's own criteria were not judged; they count as unmet too.
        let declared = manifest.filter(|manifest| manifest.round == request.round).into_iter();
        for criterion in declared.flat_map(|manifest| &manifest.task_criteria) {
            let claim = criterion.claim();
            if !criteria.iter().any(|report| report.claim == claim) {
                let evidence = "not judged: a subtask failed".to_owned();
                criteria.push(CriterionReport { claim, mark: CriterionMark::Unmet, evidence });
            }
        }
        Self {
            round: request.round,
            output: request.merged_output.clone(),
            whole: Vec::new(),
            unverified: request.unverified.clone(),
            criteria,
        }
    }

    /// The result of a round that met every criterion.
    pub(super) fn of_summary(summary: &OutcomeSummary) -> Self {
        Self {
            round: summary.round,
            output: summary.merged_output.clone(),
            whole: whole(&summary.outcomes),
            unverified: Vec::new(),
            criteria: reports(&summary.outcomes, &summary.task_verdicts),
        }
    }

    /// The criteria of this round that are not met.
    fn unmet(&self) -> Vec<CriterionReport> {
        self.criteria.iter().filter(|report| report.mark == CriterionMark::Unmet).cloned().collect()
    }
}

/// The stored complete outputs behind the answers of all subtasks. Empty if no answer was truncated, or if one of the
/// complete outputs is not stored.
fn whole(outcomes: &[SubTaskOutcome]) -> Vec<KeptOutput> {
    let answer = |outcome: &SubTaskOutcome| {
        let call = outcome.tool_calls.iter().rev().find(|call| call.output == outcome.output)?;
        Some((call.truncated, call.whole_output()?.clone()))
    };
    let (cut, kept): (Vec<bool>, Vec<KeptOutput>) =
        outcomes.iter().map(answer).collect::<Option<Vec<_>>>().unwrap_or_default().into_iter().unzip();
    if cut.contains(&true) { kept } else { Vec::new() }
}

/// One report for each claim that was judged, for subtasks and for the task. If a claim was judged twice, the worse
/// mark is reported.
fn reports(outcomes: &[SubTaskOutcome], task: &[CriterionVerdict]) -> Vec<CriterionReport> {
    let verdicts = outcomes.iter().flat_map(|outcome| &outcome.criteria_verdicts).chain(task);
    let mut reports: Vec<CriterionReport> = Vec::new();
    for verdict in verdicts {
        let report = CriterionReport {
            claim: verdict.criterion.claim(),
            mark: mark(verdict),
            evidence: verdict.evidence.clone(),
        };
        // In a recipe the task and its subtask have the same criterion. The worse mark wins; if equal, the later
        // report.
        match reports.iter_mut().find(|known| known.claim == report.claim) {
            Some(known) if report.mark >= known.mark => *known = report,
            Some(_) => {}
            None => reports.push(report),
        }
    }
    reports
}

/// The mark that the user sees for a verdict: checked in code, judged by a model, or unmet.
fn mark(verdict: &CriterionVerdict) -> CriterionMark {
    match (verdict.verdict, verdict.source) {
        (Verdict::Pass, VerdictSource::Check) => CriterionMark::Checked,
        (Verdict::Pass, VerdictSource::Model) => CriterionMark::Judged,
        // A pass comes only from a check or a model; one from another source would not be shown as met.
        (Verdict::Pass, VerdictSource::Rule | VerdictSource::Missing) | (Verdict::Fail, _) => CriterionMark::Unmet,
    }
}

/// The ending of a task whose criteria are all met, with its basis: checks in code, a model's judgement, both, or words
/// only.
///
/// A check supports the answer only if it shows what was asked for: a count if the request asks for a number, a file's
/// existence or content if it asks for a change. If the user named a path, the check must have looked at that path.
pub(super) fn accept(summary: &OutcomeSummary, request: &str) -> Ending {
    let of_subtasks = summary.outcomes.iter().flat_map(|outcome| &outcome.criteria_verdicts);
    let verdicts: Vec<&CriterionVerdict> = of_subtasks.chain(&summary.task_verdicts).collect();
    let substantive = |v: &CriterionVerdict| {
        let concerns = |check: &Check| {
            is_asked_for(check, request) && check.path().is_none_or(|path| grounding::may_mean(request, path))
        };
        v.source == VerdictSource::Check && v.criterion.check().is_some_and(|c| c.is_substantive() && concerns(c))
    };
    let supported = |outcome: &SubTaskOutcome| outcome.criteria_verdicts.iter().any(substantive);
    let basis = if summary.outcomes.iter().all(|outcome| outcome.words_only) {
        Basis::WordsOnly
    } else if !summary.outcomes.iter().all(supported) {
        // A check of one subtask doesn't support the answer of another.
        Basis::Judged
    } else if verdicts.iter().all(|v| v.source == VerdictSource::Check) {
        Basis::Checked
    } else {
        Basis::Mixed
    };
    Ending::Accept { basis }
}

/// Whether a check shows the kind of thing that the request asks for: a change, or a number.
fn is_asked_for(check: &Check, request: &str) -> bool {
    match check {
        Check::FileExists { .. } | Check::FileContains { .. } | Check::FileEquals { .. } => {
            grounding::asks_for_change(request)
        }
        Check::FileCount { .. } | Check::LineCount { .. } => grounding::asks_for_number(request),
        // Only recipes have these checks, and code made them from the request.
        Check::Recompute { .. } | Check::Performed { .. } => true,
        Check::OutputNotEmpty {} | Check::OutputIsNumber {} | Check::ExitCode { .. } => false,
    }
}

/// The ending of a task that is delivered although some criteria of the last round are unmet, with those criteria. If
/// there are none to name, the task is abandoned as an internal failure.
pub(super) fn success(account: &Account) -> Ending {
    let unmet = account.rounds.last_key_value().map(|(_, round)| round.unmet()).unwrap_or_default();
    if unmet.is_empty() {
        let detail = "a success without its unmet criteria was withheld".to_owned();
        return Ending::Abandon { reason: AbandonReason::RoleFailed { detail }, unmet };
    }
    Ending::Success { unmet }
}

/// The ending of an abandoned task, with the unmet criteria of its best round. If no round was measured, every planned
/// criterion is reported as unmet.
pub(super) fn abandon(
    account: &Account,
    decision: Option<&Decision>,
    reason: AbandonReason,
    manifest: Option<&DispatchManifest>,
) -> Ending {
    let measured = best(account, decision).map(Delivered::unmet).filter(|unmet| !unmet.is_empty());
    let unmet = measured.unwrap_or_else(|| {
        let planned = manifest.into_iter().flat_map(|manifest| {
            let of_subtasks = manifest.subtasks.iter().flat_map(|subtask| &subtask.success_criteria);
            of_subtasks.chain(&manifest.task_criteria)
        });
        let mut claims: Vec<String> = planned.map(Criterion::claim).collect();
        // A recipe's task criteria repeat those of its steps.
        let mut named = BTreeSet::new();
        claims.retain(|claim| named.insert(claim.clone()));
        let evidence = "not verified before the task ended".to_owned();
        let unmet = |claim| CriterionReport { claim, mark: CriterionMark::Unmet, evidence: evidence.clone() };
        claims.into_iter().map(unmet).collect()
    });
    Ending::Abandon { reason, unmet }
}

/// The round that the decision names as best, or else the last one; `None` if there was no round.
fn best<'a>(account: &'a Account, decision: Option<&Decision>) -> Option<&'a Delivered> {
    let best = decision.and_then(|decision| account.rounds.get(&decision.best_round));
    best.or_else(|| account.rounds.last_key_value().map(|(_, round)| round))
}

/// The task's one final result. It delivers the last round, or the best one if the task is abandoned.
pub(super) fn result(
    task_id: TaskId,
    spec: Option<&TaskSpec>,
    account: &Account,
    decision: Option<&Decision>,
    ending: Ending,
) -> FinalResult {
    let delivered = match &ending {
        Ending::Accept { .. } | Ending::Success { .. } => account.rounds.last_key_value().map(|(_, round)| round),
        Ending::Abandon { .. } => best(account, decision),
    };
    FinalResult {
        task_id,
        summary: summary(&ending, spec, delivered),
        output: delivered.map(|round| round.output.clone()).unwrap_or_default(),
        whole: delivered.map(|round| round.whole.clone()).unwrap_or_default(),
        unverified: delivered.map(|round| round.unverified.clone()).unwrap_or_default(),
        loss: decision.map_or_else(translate::nothing_achieved, translate::loss),
        grad_l: decision.map_or(0.0, |decision| decision.gradient.total),
        replans: decision.map_or(0, |decision| decision.replans),
        prev_directive: decision.map_or(PrevDirective::Init, |decision| translate::previous(decision.previous)),
        delivered_round: delivered.map_or(0, |round| round.round),
        suspect: decision.is_some_and(|decision| decision.suspect),
        criteria: delivered.map(|round| round.criteria.clone()).unwrap_or_default(),
        denied: account.denied.clone(),
        assumptions: account.assumptions.clone(),
        next_steps: next_steps(&ending, account),
        coverage: None,
        ending,
    }
}

/// One line for the user: the task's intent and what its ending rests on, or why the task was abandoned.
fn summary(ending: &Ending, spec: Option<&TaskSpec>, delivered: Option<&Delivered>) -> String {
    let intent = spec.map(|spec| spec.intent.as_str()).unwrap_or_default();
    let intent = escape::shorten(&escape::one_line(intent), SUMMARY_CHARS);
    match ending {
        Ending::Accept { basis: Basis::Checked } => intent,
        Ending::Accept { basis: Basis::Mixed } => {
            let judged = delivered
                .map_or(0, |round| round.criteria.iter().filter(|report| report.mark == CriterionMark::Judged).count());
            format!("{intent} ({judged} criteria rest on a model's judgement of the evidence)")
        }
        Ending::Accept { basis: Basis::Judged } => {
            format!("{intent} (on a model's judgement alone: no check in code supports it)")
        }
        Ending::Accept { basis: Basis::WordsOnly } => {
            format!("{intent} (words only: nothing on this machine was read or changed)")
        }
        Ending::Success { unmet } => format!("delivered, with {} criteria unmet: {intent}", unmet.len()),
        Ending::Abandon { reason, .. } => {
            let reason = escape::one_line(&reason_words(reason));
            format!("not achieved: {}", escape::shorten(&reason, SUMMARY_CHARS))
        }
    }
}
