//! Short constructors of rounds.

use artoo_ggs::*;

/// An unmet plausible criterion that failed in this many of its attempts.
pub(crate) fn plausible(claim: &str, failed_attempts: u32, attempts: u32) -> CriterionMeasure {
    logical(claim).plausible(failed_attempts, attempts)
}

/// A met criterion.
pub(crate) fn pass(claim: &str) -> CriterionMeasure {
    CriterionMeasure::met(claim)
}

/// An unmet criterion, blamed on the approach.
pub(crate) fn logical(claim: &str) -> CriterionMeasure {
    CriterionMeasure::unmet(claim).blamed_on(FailureClass::Logical)
}

/// An unmet criterion, blamed on the environment.
pub(crate) fn environmental(claim: &str) -> CriterionMeasure {
    CriterionMeasure::unmet(claim).blamed_on(FailureClass::Environmental)
}

/// A subtask: failed if any criterion is unmet, else matched.
pub(crate) fn subtask(criteria: Vec<CriterionMeasure>) -> SubtaskMeasure {
    let matched = criteria.iter().all(|c| c.verdict == Verdict::Pass);
    if matched { SubtaskMeasure::matched(criteria) } else { SubtaskMeasure::failed(criteria) }
}

/// The subtask with calls, each written as `tool target`; a leading `!` marks a failed call.
pub(crate) fn calls(subtask: SubtaskMeasure, calls: &[&str]) -> SubtaskMeasure {
    let call = |text: &&str| {
        let (tool, target) = text.trim_start_matches('!').split_once(' ').expect("tool and target");
        if text.starts_with('!') { ToolTarget::failed(tool, target) } else { ToolTarget::worked(tool, target) }
    };
    subtask.with_calls(calls.iter().map(call))
}

/// A round of these subtasks, without task criteria.
pub(crate) fn round(subtasks: Vec<SubtaskMeasure>) -> Round {
    Round::new(subtasks)
}

/// A round with one subtask of `total` criteria, of which some failed for logical and some for environmental reasons.
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

/// Available tools, each written as `name/class`.
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

/// The decisions on `rounds`, each `step_ms` after the one before, up to a terminal one.
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

/// The states of the decisions; an abandon with its reason.
pub(crate) fn states(decisions: &[Decision]) -> Vec<String> {
    let shown = |decision: &Decision| match &decision.outcome {
        Outcome::Abandon(reason) => format!("abandon {}", reason.name()),
        Outcome::Replan(_) | Outcome::Success(_) | Outcome::Accept => decision.state().to_string(),
    };
    decisions.iter().map(shown).collect()
}

/// The directive of a decision; panics for another outcome.
pub(crate) fn replan(decision: &Decision) -> &Replan {
    let Outcome::Replan(replan) = &decision.outcome else { panic!("expected a directive: {decision}") };
    replan
}

/// The blocked targets in their string form, such as `*:/srv/a`.
pub(crate) fn shown(targets: &[BlockedTarget]) -> Vec<String> {
    targets.iter().map(ToString::to_string).collect()
}
