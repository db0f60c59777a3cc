//! Invariants 4 and 12: which criteria may count as met.

use artoo_proto::{
    Basis, CallStatus, Check, CoverageState, Criterion, CriterionMark, CriterionVerdict, DispatchManifest, EffectClass,
    Ending, EvidenceId, ExecutionStatus, FinalResult, OutcomeStatus, OutcomeSummary, SubTaskOutcome, ToolCall, Verdict,
    VerdictSource,
};

use super::{InvariantChecker, TaskHistory};

impl InvariantChecker {
    /// Checks the verdicts of the outcome that R4a published for a subtask.
    pub(super) fn outcome(&self, task: &TaskHistory, outcome: &SubTaskOutcome) {
        let shown = || format!("{outcome:#?}");
        let known = task.outcomes.contains_key(&outcome.subtask_id);
        self.hold(!known, "(4) a second word on a subtask", shown);
        if outcome.status != OutcomeStatus::Matched {
            return;
        }
        let subtask = &task.subtasks[&outcome.subtask_id];
        let all_passed = outcome.criteria_verdicts.iter().all(|verdict| verdict.verdict == Verdict::Pass);
        self.hold(all_passed, "(4) matched with an unmet criterion", shown);
        let judged = |criterion: &Criterion| outcome.criteria_verdicts.iter().any(|v| v.criterion == *criterion);
        let complete = subtask.success_criteria.iter().all(judged) && !outcome.criteria_verdicts.is_empty();
        self.hold(complete, "(4) matched with a criterion nobody decided", shown);
        let result = task.results[&outcome.subtask_id].last().unwrap();
        self.hold(result.status != ExecutionStatus::Failed, "(4) matched and given up", shown);
        let words = subtask.tools.is_empty() && result.tool_calls.is_empty();
        self.hold(outcome.words_only == words, "(4) words are not marked as words", shown);
        let ran = outcome.tool_calls.iter().any(|call| call.status == CallStatus::Ok);
        self.hold(ran || subtask.tools.is_empty(), "(4) matched and no call succeeded", shown);
        let primary = result.tool_calls.iter().rev().find(|call| call.class != EffectClass::ReadOnly);
        let primary = primary.or(result.tool_calls.last());
        let failed = primary.is_some_and(|call| call.status != CallStatus::Ok);
        self.hold(!failed, "(4) matched on a failed primary call", shown);
        let uncertain = result.status == ExecutionStatus::Uncertain;
        for verdict in &outcome.criteria_verdicts {
            let by_model = verdict.source == VerdictSource::Model;
            self.hold(!(uncertain && by_model), "(4) uncertain work passed by a model's word", shown);
            self.pass(task, verdict, &outcome.tool_calls, words);
        }
    }

    /// Checks R4b's summary, which says that every criterion is met.
    pub(super) fn summary(&self, task: &TaskHistory, summary: &OutcomeSummary) {
        let shown = || format!("{summary:#?}");
        let manifest = &task.manifests[&summary.round];
        let coverage = &summary.coverage;
        let by_recipes = manifest.subtasks.iter().all(|entry| entry.recipe)
            && summary.outcomes.len() == manifest.subtasks.len()
            && summary.outcomes.iter().all(|outcome| outcome.status == OutcomeStatus::Matched);
        let is_computed = by_recipes || task.covered.contains(coverage);
        self.hold(is_computed, "(4) a coverage that nobody computed", shown);
        self.hold(coverage.refuted().next().is_none(), "(12) all is met, and facts refute it", shown);
        if coverage.is_complete() {
            let by_facts = |v: &CriterionVerdict| v.verdict == Verdict::Pass && v.source == VerdictSource::Check;
            return self.hold(summary.task_verdicts.iter().all(by_facts), "(4) covered, and a part is open", shown);
        }
        for entry in &manifest.subtasks {
            let said = task.outcomes.get(&entry.subtask_id);
            let seen = summary.outcomes.iter().find(|outcome| outcome.subtask_id == entry.subtask_id);
            let matched = seen.is_some_and(|outcome| outcome.status == OutcomeStatus::Matched);
            let excused = said.filter(|_| !entry.recipe).and_then(excused);
            let is_same = seen == said || (seen.is_some() && seen == excused.as_ref());
            self.hold(matched && is_same, "(4) all is met, and a subtask did not match", shown);
        }
        let by_model = manifest.subtasks.iter().any(|entry| !entry.recipe);
        let is_fine = |v: &CriterionVerdict| v.verdict == Verdict::Pass || (by_model && is_excused(v));
        let passed = |c: &Criterion| summary.task_verdicts.iter().any(|v| v.criterion == *c && is_fine(v));
        self.hold(manifest.task_criteria.iter().all(passed), "(4) all is met, but a task criterion is not", shown);
        let calls: Vec<ToolCall> = summary.outcomes.iter().flat_map(|outcome| outcome.tool_calls.clone()).collect();
        let words = summary.outcomes.iter().all(|outcome| outcome.words_only);
        for verdict in &summary.task_verdicts {
            self.hold(is_fine(verdict), "(4) all is met, with a failed verdict", shown);
            if verdict.verdict == Verdict::Pass {
                self.pass(task, verdict, &calls, words);
            }
        }
    }

    /// Checks that a pass has a valid source: a check that ran, or a model that cites calls on this machine.
    fn pass(&self, task: &TaskHistory, verdict: &CriterionVerdict, calls: &[ToolCall], words: bool) {
        let shown = || format!("{verdict:#?}\ncalls {calls:#?}");
        match verdict.source {
            VerdictSource::Check => {
                let Some(check) = verdict.criterion.check() else {
                    return self.hold(false, "(4) checked without a check", shown);
                };
                let ran = !check.is_substantive() || task.checked.contains(check);
                self.hold(ran, "(4) a check passed that never ran", shown);
                // A file may exist without a change by the task.
                let is_there = matches!(check, Check::FileExists { .. });
                if let Some(path) = check.written_path().filter(|_| !is_there) {
                    let named = path.trim_start_matches("~/").trim_start_matches("./");
                    let wrote = |call: &ToolCall| {
                        let changed = call.changed.iter().any(|c| c.path.ends_with(named) && c.before != c.after);
                        call.status == CallStatus::Ok && changed
                    };
                    self.hold(calls.iter().any(wrote), "(4) a file check on a file nobody wrote", shown);
                }
            }
            VerdictSource::Model => {
                let prose = matches!(verdict.criterion, Criterion::Prose { .. });
                self.hold(prose, "(4) a model decided a check", shown);
                let evidence = |id: &EvidenceId| {
                    calls.iter().any(|call| {
                        let acted = !call.changed.is_empty() || call.class == EffectClass::Creating;
                        let counts = call.measures || acted;
                        call.evidence_id == *id && call.status == CallStatus::Ok && counts
                    })
                };
                let cited = !verdict.cites.is_empty() && verdict.cites.iter().all(evidence);
                self.hold(words || cited, "(4) a pass without evidence", shown);
            }
            VerdictSource::Rule | VerdictSource::Missing => self.hold(false, "(4) a pass nobody gave", shown),
        }
    }

    /// Checks that an accepted result has met criteria or complete coverage behind it, before the user gets it.
    pub(super) fn accepted(&self, task: &TaskHistory, result: &FinalResult) {
        let shown = || format!("{result:#?}");
        let Ending::Accept { basis } = &result.ending else { return };
        let coverage = result.coverage.clone().unwrap_or_default();
        let is_checked = *basis == Basis::Checked;
        self.hold(
            task.scripted_request.lie.is_none() || !is_checked,
            "(12) a lying model was accepted as checked",
            shown,
        );
        self.hold(is_checked == coverage.is_complete(), "(4) checked, or covered, but not both", shown);
        self.hold(coverage.refuted().next().is_none(), "(12) accepted, and facts refute it", shown);
        let Some(manifest) = task.manifests.get(&result.delivered_round) else {
            return self.hold(false, "(4) an accept of a round that never ran", shown);
        };
        self.hold(manifest.round as usize == task.directives.len(), "(4) an accept of an old round", shown);
        if is_checked {
            let by_facts = result.criteria.iter().all(|report| report.mark == CriterionMark::Checked);
            return self.hold(by_facts, "(4) covered, and a part is open", shown);
        }
        let by_model = manifest.subtasks.iter().any(|entry| !entry.recipe);
        let declared: Vec<&Criterion> = declared(manifest).collect();
        for criterion in &declared {
            let claim = criterion.claim();
            let mark = result.criteria.iter().find(|report| report.claim == claim).map(|report| report.mark);
            let own = by_model && is_own(criterion) && mark == Some(CriterionMark::Unmet);
            let met = own || matches!(mark, Some(CriterionMark::Checked | CriterionMark::Judged));
            self.hold(met, "(4) accepted with an unmet or missing criterion", || format!("{claim}: {}", shown()));
        }
        for report in &result.criteria {
            let checks = declared.iter().any(|c| c.check().is_some() && c.claim() == report.claim);
            let own = by_model && declared.iter().any(|c| is_own(c) && c.claim() == report.claim);
            self.hold(own || report.mark != CriterionMark::Unmet, "(4) accepted with an unmet criterion", shown);
            let honest = report.mark != CriterionMark::Checked || checks;
            self.hold(honest, "(4) marked checked, and there is no check", || format!("{report:?}"));
        }
        let is_shown = coverage.deciding().any(|row| row.state == CoverageState::Shown);
        let is_judged = result.criteria.iter().any(|report| report.mark == CriterionMark::Judged);
        self.hold(*basis != Basis::Mixed || is_shown || !is_judged, "(4) partly shown, and nothing is", shown);
        self.hold(*basis != Basis::Judged || !is_shown, "(4) judged alone, and a part is shown", shown);
        let ran = manifest.subtasks.iter().any(|entry| !task.outcomes[&entry.subtask_id].tool_calls.is_empty());
        self.hold((*basis == Basis::WordsOnly) != ran, "(4) words only, or not", shown);
    }
}

/// The criteria of a manifest: those of its subtasks, then those of the task.
fn declared(manifest: &DispatchManifest) -> impl Iterator<Item = &Criterion> {
    let of_subtasks = manifest.subtasks.iter().flat_map(|entry| &entry.success_criteria);
    of_subtasks.chain(&manifest.task_criteria)
}

/// Whether a criterion is a check that a model's plan may have added.
fn is_own(criterion: &Criterion) -> bool {
    criterion.check().is_some_and(|check| !matches!(check, Check::Recompute { .. } | Check::Performed { .. }))
}

/// Whether a verdict is the failure of a check that the model's plan added, which alone does not fail a task.
fn is_excused(verdict: &CriterionVerdict) -> bool {
    verdict.verdict == Verdict::Fail && verdict.source == VerdictSource::Check && is_own(&verdict.criterion)
}

/// The outcome of a subtask that failed only in checks of a model's plan, as R4b counts it; `None` for any other.
pub(super) fn excused(said: &SubTaskOutcome) -> Option<SubTaskOutcome> {
    let is_fine = |v: &CriterionVerdict| v.verdict == Verdict::Pass || is_excused(v);
    let ran = said.tool_calls.iter().any(|call| call.status == CallStatus::Ok);
    let by_checks_alone =
        ran && said.denied.is_empty() && !said.infrastructure && said.criteria_verdicts.iter().all(is_fine);
    by_checks_alone.then(|| SubTaskOutcome { status: OutcomeStatus::Matched, failure_reason: None, ..said.clone() })
}
