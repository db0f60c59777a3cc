//! Short builders for rounds.

use artoo_ggs::*;

pub(crate) fn plausible(claim: &str, failed_attempts: u32, attempts: u32) -> CriterionMeasure {
    logical(claim).plausible(failed_attempts, attempts)
}

pub(crate) fn pass(claim: &str) -> CriterionMeasure {
    CriterionMeasure::met(claim)
}

pub(crate) fn logical(claim: &str) -> CriterionMeasure {
    CriterionMeasure::unmet(claim).blamed_on(FailureClass::Logical)
}

pub(crate) fn environmental(claim: &str) -> CriterionMeasure {
    CriterionMeasure::unmet(claim).blamed_on(FailureClass::Environmental)
}

/// Failed if any criterion is not passed, else matched.
pub(crate) fn subtask(criteria: Vec<CriterionMeasure>) -> SubtaskMeasure {
    let matched = criteria.iter().all(|c| c.verdict == Verdict::Pass);
    if matched { SubtaskMeasure::matched(criteria) } else { SubtaskMeasure::failed(criteria) }
}

/// Calls as `tool target`, failed ones with a `!` before.
pub(crate) fn calls(subtask: SubtaskMeasure, calls: &[&str]) -> SubtaskMeasure {
    let call = |text: &&str| {
        let (tool, target) = text.trim_start_matches('!').split_once(' ').expect("tool and target");
        if text.starts_with('!') { ToolTarget::failed(tool, target) } else { ToolTarget::worked(tool, target) }
    };
    subtask.with_calls(calls.iter().map(call))
}

pub(crate) fn round(subtasks: Vec<SubtaskMeasure>) -> Round {
    Round::new(subtasks)
}

/// One subtask with `logical` and `environmental` failures out of `total` criteria.
pub(crate) fn shares(logical_failures: usize, environmental_failures: usize, total: usize) -> Round {
    let criteria = (0..total).map(|i| {
        let claim = format!("c{i}");
        match i {
            i if i < logical_failures => logical(&claim),
            i if i < logical_failures + environmental_failures => environmental(&claim),
            _ => pass(&claim),
        }
    });
    round(vec![subtask(criteria.collect())])
}

pub(crate) fn tools(names: &[&str]) -> Vec<AvailableTool> {
    let tool = |text: &&str| {
        let (name, class) = text.split_once('/').unwrap_or((text, "any"));
        AvailableTool::new(name, class)
    };
    names.iter().map(tool).collect()
}

/// The default numbers with changes.
pub(crate) fn parameters(change: impl Fn(&mut ParameterTable)) -> Hyperparameters {
    let mut table = ParameterTable::DEFAULT;
    change(&mut table);
    Hyperparameters::try_from(table).expect("numbers within their ranges")
}

/// A controller that has begun task 1 at time 0.
pub(crate) fn begun(profile: Profile) -> Controller<u32> {
    let mut controller = Controller::new(profile);
    controller.begin(1, 0).expect("a fresh task");
    controller
}

/// Decisions on `rounds`, each `step_ms` after the one before, until a terminal one.
pub(crate) fn run(profile: Profile, step_ms: u64, rounds: &[Round]) -> Vec<Decision> {
    let mut controller = begun(profile);
    let mut decisions: Vec<Decision> = Vec::new();
    for (n, round) in (1..).zip(rounds) {
        if decisions.last().is_some_and(Decision::is_terminal) {
            break;
        }
        decisions.push(controller.observe(&1, round, n * step_ms).expect("a decision"));
    }
    decisions
}

/// The states of decisions, with the reason of an abandon.
pub(crate) fn states(decisions: &[Decision]) -> Vec<String> {
    let shown = |decision: &Decision| match &decision.outcome {
        Outcome::Abandon(reason) => format!("abandon {}", reason.name()),
        Outcome::Replan(_) | Outcome::Success(_) | Outcome::Accept => decision.state().to_string(),
    };
    decisions.iter().map(shown).collect()
}

pub(crate) fn replan(decision: &Decision) -> &Replan {
    let Outcome::Replan(replan) = &decision.outcome else { panic!("expected a directive: {decision}") };
    replan
}

pub(crate) fn shown(targets: &[BlockedTarget]) -> Vec<String> {
    targets.iter().map(ToString::to_string).collect()
}
