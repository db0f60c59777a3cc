//! A retry loop with a memory: `artoo-ggs` decides within a task, `artoo-mkct` passes what was learned on to the next
//! task.
//!
//! `cargo run -p artoo-ggs --example with_memory`
//!
//! What is written when:
//! - after a directive, one record for each (tool, target) pair that failed, in the directive's state; none for
//!   `break_symmetry`, whose positive sign would praise the tools it has just blocked;
//! - after a round that followed `break_symmetry` and lowered D, one record for each tool in `Decision::credit`;
//! - at the end, one record for the intent and one for its approach, the tools of the last plan.

use std::error::Error;
use std::io::{self, Write};

use artoo_ggs::{
    AvailableTool, Controller, CriterionMeasure, Decision, FailureClass, FailureMix, MacroState, Outcome, Profile,
    Replan, ReplanAction, Round, SubtaskMeasure, ToolTarget,
};
use artoo_mkct::record::{self, tools_of};
use artoo_mkct::{Action, Engine, NewMegram, RecallQuery, State, Tag};

/// The possible calls for the task: tool and target.
const WAYS: [(&str, &str); 3] =
    [("web_search", "sales 2024"), ("ask_colleague", "sales 2024"), ("read_file", "/srv/2024.csv")];

/// The intent of both tasks.
const INTENT: &str = "Report the sales of 2024";

/// Executes the task once: only `read_file` gives the right total.
fn execute((tool, target): (&str, &str)) -> SubtaskMeasure {
    let claim = "the total is that of the ledger";
    let criterion = match tool {
        "read_file" => CriterionMeasure::met(claim),
        _ => CriterionMeasure::unmet(claim).blamed_on(FailureClass::Logical),
    };
    let subtask = if tool == "read_file" {
        SubtaskMeasure::matched(vec![criterion])
    } else {
        SubtaskMeasure::failed(vec![criterion])
    };
    subtask.with_calls([ToolTarget::worked(tool, target)])
}

/// The next call that the directive allows: calls of tools that memory advises come first, and calls of tools that
/// memory advises against are left out. `None` if no call is left.
fn plan(memory: &Engine, directive: Option<&Replan>, now_ms: i64) -> Option<(&'static str, &'static str)> {
    let recall = memory.recall(&RecallQuery::new(INTENT), now_ms);
    let advised = |tool: &str, action: Action| {
        let about = recall.advice.iter().filter(|advice| advice.potentials.action == action);
        about.flat_map(|advice| tools_of(&advice.tag.space, &advice.tag.entity)).any(|name| name == tool)
    };
    let allowed = WAYS.into_iter().filter(|(tool, target)| directive.is_none_or(|replan| !replan.blocks(tool, target)));
    allowed.filter(|(tool, _)| !advised(tool, Action::Avoid)).min_by_key(|(tool, _)| !advised(tool, Action::Exploit))
}

/// The state of a memory record for a macro-state of the controller.
pub fn state(state: MacroState) -> State {
    match state {
        MacroState::Abandon => State::Abandon,
        MacroState::Accept => State::Accept,
        MacroState::ChangeApproach => State::ChangeApproach,
        MacroState::Success => State::Success,
        MacroState::BreakSymmetry => State::BreakSymmetry,
        MacroState::ChangePath => State::ChangePath,
        MacroState::Refine => State::Refine,
    }
}

/// The failure class of a memory record for the failures of a round.
pub fn failure_class(mix: FailureMix) -> record::FailureClass {
    match mix {
        FailureMix::Logical => record::FailureClass::Logical,
        FailureMix::Environmental => record::FailureClass::Environmental,
        FailureMix::Mixed => record::FailureClass::Mixed,
    }
}

/// The memory records to write after a decision on a plan with this tool.
fn records(task: &str, tool: &str, decision: &Decision) -> Vec<NewMegram> {
    let own = state(decision.state());
    let credit = decision.credit.iter().map(|credit| {
        NewMegram::new(Tag::target(&credit.tool, &credit.target), State::BreakSymmetry, "broke a deadlock")
    });
    let own_records: Vec<NewMegram> = match &decision.outcome {
        Outcome::Replan(replan) if replan.action == ReplanAction::BreakSymmetry => Vec::new(),
        Outcome::Replan(_) => {
            let pairs = decision.failed_pairs.iter();
            pairs.map(|pair| NewMegram::new(Tag::target(&pair.tool, &pair.target), own, "did not serve")).collect()
        }
        Outcome::Accept | Outcome::Success(_) | Outcome::Abandon(_) => {
            [Tag::intent(INTENT), Tag::approach(INTENT, &[tool])]
                .map(|tag| NewMegram::new(tag, own, "the outcome").intent(INTENT))
                .to_vec()
        }
    };
    let failed = !matches!(decision.outcome, Outcome::Accept | Outcome::Success(_));
    let blamed = own_records
        .into_iter()
        .map(|record| if failed { record.failure_class(failure_class(decision.failure_mix)) } else { record });
    credit.chain(blamed).map(|record| record.task(task)).collect()
}

/// Runs one task; returns the tools it used, in order.
fn run_task(task: &str, memory: &mut Engine, now_ms: &mut i64) -> Result<Vec<&'static str>, Box<dyn Error>> {
    let clock = |now_ms: i64| u64::try_from(now_ms);
    let available: Vec<_> = WAYS.iter().map(|(tool, _)| AvailableTool::new(*tool, *tool)).collect();
    let mut controller = Controller::new(Profile::default());
    controller.begin(task, clock(*now_ms)?)?;
    let (mut directive, mut used) = (None, Vec::new());
    while let Some(way) = plan(memory, directive.as_ref(), *now_ms) {
        *now_ms += 20_000;
        used.push(way.0);
        let round = Round::new(vec![execute(way)]).with_available_tools(available.clone());
        let decision = controller.observe(&task, &round, clock(*now_ms)?)?;
        for record in records(task, way.0, &decision) {
            memory.write(record, *now_ms)?;
        }
        match decision.outcome {
            Outcome::Replan(replan) => directive = Some(replan),
            Outcome::Accept | Outcome::Success(_) | Outcome::Abandon(_) => break,
        }
    }
    Ok(used)
}

/// The tools used by two tasks with the same intent: the second task starts with the tool that worked in the first.
pub fn run() -> Result<[Vec<&'static str>; 2], Box<dyn Error>> {
    let (mut memory, mut now_ms) = (Engine::new(), 1_772_000_000_000);
    let first = run_task("task-1", &mut memory, &mut now_ms)?;
    let second = run_task("task-2", &mut memory, &mut now_ms)?;
    Ok([first, second])
}

/// Runs both tasks and prints the tools that each used.
fn main() -> Result<(), Box<dyn Error>> {
    for (number, tools) in (1..).zip(run()?) {
        writeln!(io::stdout(), "task {number}: {}", tools.join(", "))?;
    }
    Ok(())
}
