//! Short builders for rounds.

use artoo_ggs::*;

pub(crate) fn criterion(claim: &str, verdict: Verdict, class: Option<FailureClass>) -> CriterionMeasure {
    CriterionMeasure {
        claim: claim.to_owned(),
        mode: Mode::Verifiable,
        required: false,
        verdict,
        class,
        failed_attempts: 0,
        attempts: 0,
    }
}

pub(crate) fn plausible(claim: &str, failed_attempts: u32, attempts: u32) -> CriterionMeasure {
    CriterionMeasure { mode: Mode::Plausible, failed_attempts, attempts, ..logical(claim) }
}

pub(crate) fn pass(claim: &str) -> CriterionMeasure {
    criterion(claim, Verdict::Pass, None)
}

pub(crate) fn logical(claim: &str) -> CriterionMeasure {
    criterion(claim, Verdict::Fail, Some(FailureClass::Logical))
}

pub(crate) fn environmental(claim: &str) -> CriterionMeasure {
    criterion(claim, Verdict::Fail, Some(FailureClass::Environmental))
}

pub(crate) fn required(criterion: CriterionMeasure) -> CriterionMeasure {
    CriterionMeasure { required: true, ..criterion }
}

/// Failed if any criterion is not passed, else matched.
pub(crate) fn subtask(criteria: Vec<CriterionMeasure>) -> SubtaskMeasure {
    let matched = criteria.iter().all(|c| c.verdict == Verdict::Pass);
    let status = if matched { SubtaskStatus::Matched } else { SubtaskStatus::Failed };
    SubtaskMeasure { status, infrastructure: false, criteria, calls: vec![], tools: vec![] }
}

/// Calls as `tool target`, failed ones with a `!` before.
pub(crate) fn calls(subtask: SubtaskMeasure, calls: &[&str]) -> SubtaskMeasure {
    let call = |text: &&str| {
        let (tool, target) = text.trim_start_matches('!').split_once(' ').expect("tool and target");
        ToolTarget { tool: tool.to_owned(), target: target.to_owned(), failed: text.starts_with('!') }
    };
    SubtaskMeasure { calls: calls.iter().map(call).collect(), ..subtask }
}

pub(crate) fn round(subtasks: Vec<SubtaskMeasure>) -> Round {
    Round { subtasks, ..Round::default() }
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

pub(crate) fn tools(names: &[&str]) -> Vec<Tool> {
    let tool = |text: &&str| {
        let (name, class) = text.split_once('/').unwrap_or((text, "any"));
        Tool { name: name.to_owned(), class: class.to_owned() }
    };
    names.iter().map(tool).collect()
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
        decisions.push(controller.round(&1, n * step_ms, round).expect("a decision"));
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
