//! A whole retry loop under the profile `anytime`: two subtasks, a planner, an executor, and the release of a blocked
//! target.
//!
//! `cargo run -p artoo-ggs --example retry_loop`

use std::io::Write;

use artoo_ggs::{
    AvailableTool, Controller, ControllerError, CriterionMeasure, FailureClass, Outcome, Profile, Replan, Round,
    SubtaskMeasure, ToolTarget,
};

/// The tool and the target of a call.
type Call = (&'static str, &'static str);

/// The possible calls for each of the two subtasks, the preferred one first.
const WAYS: [&[Call]; 2] =
    [&[("web_search", "sales 2024"), ("read_file", "/srv/2024.csv")], &[("fetch", "https://rates.example/today")]];

/// The planner: keeps a call that is not blocked, otherwise takes the first call that is not. `None` if every call of a
/// subtask is blocked. A real planner asks a model, with the directive as data.
fn plan(current: &[Call], directive: Option<&Replan>) -> Option<Vec<Call>> {
    let choose = |(subtask, ways): (usize, &&[Call])| {
        let is_open = |call: &&Call| directive.is_none_or(|replan| !replan.blocks_in(subtask, call.0, call.1));
        current.get(subtask).filter(is_open).or_else(|| ways.iter().find(is_open)).copied()
    };
    WAYS.iter().enumerate().map(choose).collect()
}

/// The executor with its checks: measures which claims one execution met and which class a failure has. The rates can't
/// be fetched in the first three executions.
fn execute((tool, target): Call, execution: usize) -> SubtaskMeasure {
    let claim = if tool == "fetch" { "the rate is of today" } else { "the total is that of the ledger" };
    let unmet = |class| vec![CriterionMeasure::unmet(claim).blamed_on(class)];
    match tool {
        "web_search" => {
            SubtaskMeasure::failed(unmet(FailureClass::Logical)).with_calls([ToolTarget::worked(tool, target)])
        }
        "fetch" if execution < 3 => {
            SubtaskMeasure::failed(unmet(FailureClass::Environmental)).with_calls([ToolTarget::failed(tool, target)])
        }
        _ => SubtaskMeasure::matched(vec![CriterionMeasure::met(claim)]).with_calls([ToolTarget::worked(tool, target)]),
    }
}

/// Runs the task to its end; writes each decision to `out`, and returns the last outcome.
pub fn run(mut out: impl Write) -> Result<Outcome, ControllerError> {
    let classes = [("web_search", "web"), ("fetch", "web"), ("read_file", "files")];
    let tools = classes.map(|(name, class)| AvailableTool::new(name, class));
    let mut controller = Controller::new(Profile::anytime());
    controller.begin("report", 0)?;
    let (mut calls, mut directive, mut now_ms) = (Vec::new(), None::<Replan>, 0);
    for execution in 0.. {
        calls = loop {
            if let Some(calls) = plan(&calls, directive.as_ref()) {
                break calls;
            }
            // The planner has no other way: ask for the oldest blocked target back, or end the task.
            match controller.release(&"report", now_ms)? {
                Some(amended) => directive = Some(amended),
                None => return Ok(controller.stop(&"report", None, now_ms)?.outcome),
            }
        };
        now_ms += 20_000; // in your program: the time of your clock
        let measured = calls.iter().map(|call| execute(*call, execution)).collect();
        let round = Round::new(measured).with_available_tools(tools.to_vec());
        let decision = controller.observe(&"report", &round, now_ms)?;
        // A log that can't be written ends no task.
        let _ = writeln!(out, "{decision}");
        match decision.outcome {
            Outcome::Replan(replan) => {
                for own in &replan.subtasks {
                    let _ = writeln!(out, "  subtask {}: {}, not {:?}", own.subtask, own.action, own.blocked_tools);
                }
                directive = Some(replan);
            }
            outcome @ (Outcome::Accept | Outcome::Success(_) | Outcome::Abandon(_)) => return Ok(outcome),
        }
    }
    Ok(controller.stop(&"report", None, now_ms)?.outcome)
}

/// Runs the task and prints each decision.
fn main() -> Result<(), ControllerError> {
    run(std::io::stdout().lock()).map(drop)
}
