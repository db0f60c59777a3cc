//! Tests with a real, weak language model, of whose mistakes none may be reported as a success.
//!
//! Started by `.ci/local-llm`, which runs the model file in this process, and by `.ci/weak-model`, which serves it on this
//! machine. Where the weak model has every role, the program runs the file itself. Every checked criterion of every result is decided again by this test from the disk; what rests on the model's
//! word must be marked so.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::server::Server;
use crate::world::{RunOutput, World};
use claims::{TaskEnd, is_true};
use report::Row;
use tasks::{Kind, Task};
use writer::WeakModel;

mod bounds;
mod claims;
#[cfg(feature = "local-llm")]
mod file;
mod jobs;
mod relay;
mod report;
mod tasks;
mod writer;

/// Time limit of a task in seconds; a model on one thread writes some tens of tokens a second.
const LIMIT_S: u64 = 90;

/// Time allowed between a task's limit and the process's end, in which artoo writes its log and memory.
const GRACE: Duration = Duration::from_secs(20);

/// Environment variable: run only the tasks whose names contain its value.
const ONLY: &str = "ARTOO_WEAK_ONLY";

/// Environment variable: print every request to a model and every result.
const SHOW: &str = "ARTOO_WEAK_SHOW";

/// Expected number of tasks for the weak model.
const TASKS: usize = 40;

/// Least number of correct accepted results, so that a run that accepts nothing fails.
const TRUE_ACCEPTS_MIN: usize = 15;

/// The distinct requests of all tasks for the weak model.
pub(crate) fn requests() -> BTreeSet<&'static str> {
    tasks::all().into_iter().map(|task| task.job.request).collect()
}

/// With a real, weak model no task ends as a success that is not one, and enough right results are accepted.
#[doc = "holds: design G19"]
#[test]
fn weak_model_causes_no_false_success() {
    let Some(writer) = WeakModel::from_environment() else {
        report::print("skipped: there is no weak model; .ci/weak-model serves one, .ci/local-llm runs one from a file");
        return;
    };
    let wanted = std::env::var(ONLY).unwrap_or_default();
    let tasks = tasks::all();
    assert_eq!(tasks.len(), TASKS);
    let rows: Vec<Row> = tasks
        .iter()
        .filter(|task| task.name().contains(&wanted))
        .map(|task| run(task, &writer.for_next_task()))
        .collect();
    report::print(&report::table(&rows));
    report::print(&report::summary(&rows).to_string());
    assert_eq!(writer.misfits(), Vec::<String>::new(), "finished replies that do not fit");
    let lies: Vec<&String> = rows.iter().flat_map(|row| &row.lies).collect();
    assert!(lies.is_empty(), "artoo said what is not true:\n{lies:#?}");
    let accepted = rows.iter().filter(|row| row.is_true_accept()).count();
    assert!(!wanted.is_empty() || accepted >= TRUE_ACCEPTS_MIN, "only {accepted} right results were accepted");
}

/// Runs one task with the weak model, and judges its result.
fn run(task: &Task, writer: &WeakModel) -> Row {
    let world = World::new().with_things();
    world.file("things/lines.log", "an entry\n".repeat(42));
    world.file("artoo_workspace/status.txt", "old\n");
    let before = world.snapshot();
    let (of_task, to_model) =
        (tasks::all().into_iter().find(|known| known.name() == task.name()).unwrap(), writer.clone());
    let server = Server::start(move |asked| {
        if of_task.weak.contains(&asked.schema.as_str()) { to_model.ask(&asked.body) } else { of_task.scripted(asked) }
    });
    let begun = Instant::now();
    let limit = format!("{LIMIT_S}s");
    let arguments = ["--json", "--deadline", &limit, task.job.request];
    let own = writer.file_of_program().filter(|_| task.kind == Kind::AllWeak);
    let mut command = match &own {
        Some(own) => writer::program_with(own, &world, &arguments),
        None => world.with_model(&server, &arguments),
    };
    let ran = RunOutput::of(command.output().unwrap());
    let took = begun.elapsed();
    writer.end();
    let after = world.snapshot();
    world.check_kept();
    let last: Value = ran.stdout.lines().last().and_then(|line| serde_json::from_str(line).ok()).unwrap_or_default();
    if std::env::var_os(SHOW).is_some() {
        for asked in server.asked() {
            report::print(&format!("--- {}\n{}", asked.schema, asked.body));
        }
        report::print(&format!("=== {}\n{last:#}", task.name()));
    }
    let result = &last["result"];
    let output = result["output"].as_str().unwrap_or_default();
    let left = TaskEnd { world: &world, before: &before, after: &after, output };
    let mut row = Row::new(task, &ran, &last, took);
    row.weak_tokens = if own.is_some() { row.completion_tokens } else { writer.tokens() };
    row.is_right = (task.job.is_right)(&left);
    judge(task, &ran, &left, result, &mut row);
    row
}

/// Compares what artoo says about a task's result with the files on disk; false claims are added to the row's lies.
fn judge(task: &Task, ran: &RunOutput, left: &TaskEnd<'_>, result: &Value, row: &mut Row) {
    let mut lie = |what: String| row.lies.push(format!("{}: {what}; exit {:?}", task.name(), ran.code));
    if result.is_null() || ran.code.is_none() {
        return lie(format!("it ended without a result: {}", ran.stderr));
    }
    if row.took > Duration::from_secs(LIMIT_S) + GRACE {
        lie(format!("it took {:?}, the limit is {LIMIT_S} s", row.took));
    }
    let marked = |mark: &str| -> Vec<&str> {
        let all = result["criteria"].as_array().into_iter().flatten();
        all.filter(|report| report["mark"] == mark).filter_map(|report| report["claim"].as_str()).collect()
    };
    for claim in marked("checked") {
        match is_true(claim, left) {
            Some(true) => row.checked_true += 1,
            Some(false) => lie(format!("shown as checked and false: {claim}")),
            None => lie(format!("shown as checked, and no code could: {claim}")),
        }
    }
    row.judged = marked("judged").len();
    let (accepted, basis) = (result["directive"] == "accept", result["basis"].as_str().unwrap_or_default());
    let in_code = accepted && basis == "checked";
    if (ran.code == Some(0)) != in_code {
        lie(format!("exit code and basis {basis:?} tell different stories"));
    }
    if in_code && !row.is_right {
        lie(format!("accepted with checks behind it, and wrong: {:?}", left.output));
    }
    if accepted && basis == "checked" && row.judged > 0 {
        lie("a judged criterion in a result that is called checked throughout".to_owned());
    }
    if accepted && !marked("unmet").is_empty() {
        lie(format!("accepted with something unmet: {:?}", marked("unmet")));
    }
    let told = result["unmet"].as_array().is_some_and(|unmet| !unmet.is_empty());
    if task.kind == Kind::Planted && (accepted || !told || row.is_right) {
        lie("a planted wrong result was not caught".to_owned());
    }
}
