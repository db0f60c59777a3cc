//! Endings of a task: the result that the user gets, with each criterion marked as checked, judged or unmet.

use std::collections::{BTreeMap, BTreeSet};

use artoo_ggs::{BlockedTarget, Decision};
use artoo_proto::{
    AbandonReason, Answer, Basis, CallStatus, Coverage, CoverageState, Criterion, CriterionMark, CriterionReport,
    CriterionVerdict, DeniedAction, DispatchManifest, Ending, FinalResult, Lesson, MacroState, MegramDraft, ModelWords,
    OutcomeStatus, OutcomeSummary, PrevDirective, ReplanRequest, SubTaskOutcome, TaskId, TaskSpec, TriedSubtask,
    UnverifiedOutput, Verdict, VerdictSource, WordingRequest, escape, units,
};

use super::wording::{next_steps, reason_words};
use super::{lesson, translate};
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
    /// Tools that were called in the last round: the approach that memory learns about.
    pub(super) approach: Vec<String>,
    /// What a model says about the end of the task.
    pub(super) words: Option<ModelWords>,
    /// What each subtask of the last round did.
    pub(super) tried: Vec<TriedSubtask>,
    /// What corrections and replans of this task taught so far.
    pub(super) lessons: Vec<Lesson>,
    /// The gap of the last round and what failed first in it, until a later round closes the gap.
    pub(super) unlearnt: Option<(String, String)>,
    /// The memory record about a skill, or to learn one from, if the request was covered.
    pub(super) skill: Option<MegramDraft>,
    /// Whether any tool call of this task was run, that is, not denied.
    pub(super) ran_tool: bool,
    /// Assumptions that the last plan made about the request.
    pub(super) assumptions: Vec<String>,
}

impl Account {
    /// Collects from a round's outcomes the denied actions with their targets, the tools that ran, and what corrections
    /// taught.
    pub(super) fn note(&mut self, outcomes: &[SubTaskOutcome]) {
        let ran = outcomes.iter().flat_map(|outcome| &outcome.tool_calls);
        let ran: BTreeSet<&String> =
            ran.filter(|call| call.status != CallStatus::Denied).map(|call| &call.tool).collect();
        self.approach = ran.into_iter().cloned().collect();
        for outcome in outcomes {
            for denied in &outcome.denied {
                if !self.denied.contains(denied) {
                    self.denied.push(denied.clone());
                }
            }
            self.lessons.extend(lesson::of_correction(outcome));
            for call in &outcome.tool_calls {
                self.ran_tool |= call.status != CallStatus::Denied;
                if call.status == CallStatus::Denied {
                    let target = BlockedTarget::pair(call.tool.clone(), call.target.clone()).to_string();
                    if !self.denied_targets.contains(&target) {
                        self.denied_targets.push(target);
                    }
                }
            }
        }
    }
}

/// What a round would deliver to the user: its output, unverified outputs, and the reports of its criteria.
#[derive(Debug)]
pub(super) struct Delivered {
    round: u32,
    output: String,
    /// The parts of `output`, for a round that may be accepted.
    answers: Vec<Answer>,
    unverified: Vec<UnverifiedOutput>,
    /// What a success delivers: the parts that are close enough in `output`, the others in `unverified`.
    close: (String, Vec<UnverifiedOutput>),
    criteria: Vec<CriterionReport>,
    coverage: Coverage,
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
        // If a subtask failed or a part is refuted, the task's own criteria were not judged; they count as unmet too.
        let is_refuted = request.coverage.refuted().next().is_some();
        let open =
            if is_refuted { "not judged: not all of the request is done" } else { "not judged: a subtask failed" };
        let declared = manifest.filter(|manifest| manifest.round == request.round).into_iter();
        for criterion in declared.flat_map(|manifest| &manifest.task_criteria) {
            let claim = criterion.claim();
            if !criteria.iter().any(|report| report.claim == claim) {
                let evidence = open.to_owned();
                criteria.push(CriterionReport { claim, mark: CriterionMark::Unmet, evidence });
            }
        }
        Self {
            round: request.round,
            output: request.merged_output.clone(),
            answers: Vec::new(),
            unverified: request.unverified.clone(),
            close: close_enough(request),
            criteria,
            coverage: request.coverage.clone(),
        }
    }

    /// The result of a round whose request is covered, or that met every criterion. If the request is covered, the
    /// result has the answer that code composed and omits the plan's criteria.
    pub(super) fn of_summary(summary: &OutcomeSummary) -> Self {
        let coverage = summary.coverage.clone();
        let is_complete = coverage.is_complete();
        let is_composed = is_complete && !coverage.answers.is_empty();
        let answers = if is_composed { coverage.answers.clone() } else { summary.answers.clone() };
        Self {
            round: summary.round,
            output: if answers.is_empty() { summary.merged_output.clone() } else { Answer::join(&answers) },
            answers,
            unverified: Vec::new(),
            close: Default::default(),
            criteria: reports(if is_complete { &[] } else { &summary.outcomes }, &summary.task_verdicts),
            coverage,
        }
    }

    /// Which parts of the request are shown to be done; `None` if nothing was compared.
    fn compared(&self) -> Option<&Coverage> {
        Some(&self.coverage).filter(|coverage| **coverage != Coverage::default())
    }

    /// The output that this ending delivers to the user, and the unverified outputs reported apart from it.
    fn told(&self, ending: &Ending) -> (String, Vec<UnverifiedOutput>) {
        match ending {
            Ending::Success { .. } => self.close.clone(),
            Ending::Accept { .. } | Ending::Abandon { .. } => (self.output.clone(), self.unverified.clone()),
        }
    }

    /// The reports of the criteria of this round that are marked as unmet.
    fn unmet(&self) -> Vec<CriterionReport> {
        self.criteria.iter().filter(|report| report.mark == CriterionMark::Unmet).cloned().collect()
    }
}

/// The outputs of the parts of a round that are close enough, in order, and the outputs of the others.
///
/// A failed part is close enough if at least half of its criteria are met, or if it is the only part. Its output stands
/// below its unmet criteria, unless it is the only part: then they are those of the result.
fn close_enough(request: &ReplanRequest) -> (String, Vec<UnverifiedOutput>) {
    let is_only = request.outcomes.len() == 1 && request.missing.is_empty();
    let (mut parts, mut unverified) = (Vec::new(), request.unverified.clone());
    for outcome in request.outcomes.iter().filter(|outcome| !outcome.output.trim().is_empty()) {
        let unmet = || outcome.criteria_verdicts.iter().filter(|verdict| verdict.verdict == Verdict::Fail);
        let is_matched = outcome.status == OutcomeStatus::Matched;
        if !is_matched && !is_only {
            if unmet().count() * 2 > outcome.criteria_verdicts.len() || unmet().next().is_none() {
                continue;
            }
            let claims: Vec<String> = unmet().map(|verdict| escape::one_line(&verdict.criterion.claim())).collect();
            parts.push(format!("(in this part unmet: {})", claims.join("; ")));
        }
        unverified.retain(|claimed| is_matched || claimed.output != outcome.output);
        parts.push(outcome.output.trim_end_matches('\n').to_owned());
    }
    (parts.join("\n"), unverified)
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

/// The ending of a task that is done: checked only if facts cover the whole request; mixed if they cover a part of it,
/// or if checks alone decided; otherwise it rests on a model's judgement, or on words alone.
pub(super) fn accept(summary: &OutcomeSummary) -> Ending {
    let coverage = &summary.coverage;
    let basis = if coverage.is_complete() {
        Basis::Checked
    } else if summary.outcomes.iter().all(|outcome| outcome.words_only) {
        Basis::WordsOnly
    } else if shown(coverage) > 0 || !is_judged(summary) {
        Basis::Mixed
    } else {
        Basis::Judged
    };
    Ending::Accept { basis }
}

/// Whether a model judged a criterion, of a subtask or of the task.
fn is_judged(summary: &OutcomeSummary) -> bool {
    let of_subtasks = summary.outcomes.iter().flat_map(|outcome| &outcome.criteria_verdicts);
    of_subtasks.chain(&summary.task_verdicts).any(|verdict| verdict.source == VerdictSource::Model)
}

/// Number of parts of the request that count for coverage and are shown to be done.
fn shown(coverage: &Coverage) -> usize {
    coverage.deciding().filter(|row| row.state == CoverageState::Shown).count()
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

/// The ending of an abandoned task, with the unmet criteria of its best round. If there are none, every planned
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

/// The request to write the ending text of an abandoned task; `None` unless a criterion was met and the controller
/// stopped the replans (the maximum, diverging, cycling, or no tool left).
pub(super) fn wording(
    task_id: &TaskId,
    account: &Account,
    decision: Option<&Decision>,
    ending: &Ending,
) -> Option<WordingRequest> {
    let Ending::Abandon { reason, unmet } = ending else { return None };
    use AbandonReason as A;
    let (A::MaxReplans | A::Diverging | A::Cycling | A::ToolsExhausted) = reason else { return None };
    let is_met = |report: &&CriterionReport| report.mark != CriterionMark::Unmet;
    let met: Vec<String> =
        best(account, decision)?.criteria.iter().filter(is_met).map(|report| report.claim.clone()).collect();
    (!met.is_empty()).then(|| WordingRequest {
        task_id: task_id.clone(),
        reason: reason_words(reason),
        met,
        unmet: unmet.iter().map(|report| format!("{}: {}", report.claim, report.evidence)).collect(),
        tried: account.tried.clone(),
    })
}

/// The round that the decision names as best, or else the last one; `None` if there was no round.
fn best<'a>(account: &'a Account, decision: Option<&Decision>) -> Option<&'a Delivered> {
    let best = decision.and_then(|decision| account.rounds.get(&decision.best_round));
    best.or_else(|| account.rounds.last_key_value().map(|(_, round)| round))
}

/// Builds the one final result of a task: it delivers the last round, or the best one if the task is abandoned.
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
    let coverage = delivered.and_then(Delivered::compared);
    let (output, unverified) = delivered.map(|round| round.told(&ending)).unwrap_or_default();
    FinalResult {
        task_id,
        summary: summary(&ending, spec, coverage),
        output,
        answers: delivered.map(|round| round.answers.clone()).unwrap_or_default(),
        unverified,
        loss: decision.map_or_else(translate::nothing_achieved, translate::loss),
        grad_l: decision.map_or(0.0, |decision| decision.gradient.total),
        replans: decision.map_or(0, |decision| decision.replans),
        prev_directive: decision.map_or(PrevDirective::Init, |decision| translate::previous(decision.previous)),
        decision: decision.map(Decision::to_string).unwrap_or_default(),
        delivered_round: delivered.map_or(0, |round| round.round),
        suspect: decision.is_some_and(|decision| decision.suspect),
        criteria: delivered.map(|round| round.criteria.clone()).unwrap_or_default(),
        denied: account.denied.clone(),
        assumptions: account.assumptions.clone(),
        next_steps: next_steps(&ending, account, coverage),
        coverage: coverage.cloned(),
        model_words: account.words.clone().map(Box::new),
        skill: account
            .skill
            .as_ref()
            .filter(|draft| draft.state == MacroState::Refine)
            .map(|draft| draft.space.clone()),
        ending,
    }
}

/// One line for the user: the task's intent and what its ending rests on, or why the task was abandoned.
fn summary(ending: &Ending, spec: Option<&TaskSpec>, coverage: Option<&Coverage>) -> String {
    let intent = spec.map(|spec| spec.intent.as_str()).unwrap_or_default();
    let intent = escape::shorten(&escape::one_line(intent), SUMMARY_CHARS);
    match ending {
        Ending::Accept { basis: Basis::Checked } => intent,
        Ending::Accept { basis: Basis::Mixed } => {
            let (shown, all) = coverage.map_or((0, 0), |coverage| (shown(coverage), coverage.deciding().count()));
            format!("{intent} (facts show {shown} of {all} parts of the request)")
        }
        Ending::Accept { basis: Basis::Judged } => {
            format!("{intent} (on a model's judgement alone: no check in code supports it)")
        }
        Ending::Accept { basis: Basis::WordsOnly } => {
            format!("{intent} (words only: nothing on this machine was read or changed)")
        }
        Ending::Success { unmet } => {
            let open = match unmet.iter().filter(|report| report.evidence.starts_with("not judged")).count() {
                0 => String::new(),
                open => format!(" ({open} of them not judged)"),
            };
            let criteria = units::count(unmet.len() as u64, "criterion", "criteria");
            format!("delivered, with {criteria} unmet{open}: {intent}")
        }
        Ending::Abandon { reason: AbandonReason::NoPlan { .. }, unmet } if !failed(unmet).is_empty() => {
            let reason = format!("Every way I tried failed: {}", escape::one_line(failed(unmet)));
            escape::shorten(&reason, SUMMARY_CHARS)
        }
        Ending::Abandon { reason, .. } => {
            let reason = escape::one_line(&reason_words(reason));
            escape::shorten(&escape::capitalised(&reason), SUMMARY_CHARS)
        }
    }
}

/// What was found for the first unmet criterion that was decided; empty if there is none.
fn failed(unmet: &[CriterionReport]) -> &str {
    let is_decided = |report: &&CriterionReport| !report.evidence.starts_with("not ");
    unmet.iter().find(is_decided).map(|report| report.evidence.as_str()).unwrap_or_default()
}
