//! The program `artoo-eval`: runs artoo on tasks whose end states code checks, and reports what it claimed and did.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that shows what it measured")]
#![expect(clippy::cast_precision_loss, reason = "counts of runs, calls and tokens are far below 2^52")]

mod drive;
mod icalfa;
mod memory;
mod page;
mod results;
mod score;
mod server;
mod settings;
mod stats;
mod summary;
mod table;
mod task;
mod world;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::drive::Artoo;
use crate::memory::Plan;
use crate::page::Set;
use crate::results::{Results, Row, Run};
use crate::settings::Settings;
use crate::task::Task;
use crate::world::World;

/// Any error of an evaluation; its text is complete, without a chain of causes.
type Fault = Box<dyn std::error::Error>;

const AFTER_HELP: &str = "\
Each run has a home folder, a data folder and a workspace of its own in the system's temporary folder.
Classes of runs, by exit code (0 claims that the request is done) and by what code finds:
  done             exit code 0, and the end state and the answer are right
  false claim      exit code 0, and they are not
  honest failure   another exit code, and they are not
  missed           another exit code, but they are right
Examples:
  cargo run -p artoo-eval -- run --out reflex.jsonl
  cargo run -p artoo-eval -- run --model openai --base-url http://localhost:8080/v1 --model-name NAME --out name.jsonl
  cargo run -p artoo-eval -- memory --out memory.jsonl
  cargo run -p artoo-eval -- report reflex.jsonl name.jsonl memory.jsonl --html page.html";

/// Runs artoo on tasks whose end states code checks, and reports what it claimed against what it did
#[derive(Debug, Parser)]
#[command(name = "artoo-eval", version, about, after_help = AFTER_HELP)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

/// The evaluation to run, or the report to write.
#[derive(Debug, Subcommand)]
enum Command {
    /// Runs a task set; runs that have a line in the result file are skipped
    Run {
        #[command(flatten)]
        settings: Settings,
        /// The task set, one JSON object per line
        #[arg(long, value_name = "FILE", default_value = "fixtures/eval/tasks.jsonl")]
        tasks: PathBuf,
        /// Only tasks whose id or kind contains this
        #[arg(long, value_name = "WORD", default_value = "")]
        only: String,
        /// Answers every question with this instead of the task's own answers, such as y or n
        #[arg(long, value_name = "ANSWER")]
        answers: Option<String>,
        /// Number of runs of each task
        #[arg(long, value_name = "N", default_value_t = 1)]
        repeat: u64,
    },
    /// Runs the even half of the requests of the Python package icalfa, scored as by .ci/measure/nl2sh (needs root)
    Icalfa {
        #[command(flatten)]
        settings: Settings,
        /// The folder `icalfa` of the unpacked package; nothing is downloaded
        #[arg(long, value_name = "FOLDER")]
        package: PathBuf,
    },
    /// Runs sequences of repeated requests with a scripted model that heeds lessons of earlier runs, or not
    Memory {
        #[command(flatten)]
        settings: Settings,
        #[command(flatten)]
        plan: Plan,
    },
    /// Prints a table for each result file, and writes a page that compares them
    Report {
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
        /// Writes the page to this file
        #[arg(long, value_name = "FILE")]
        html: Option<PathBuf>,
    },
}

/// Runs the command line; an error is printed and gives exit code 1.
fn main() -> ExitCode {
    match evaluate(CommandLine::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            eprintln!("artoo-eval: {fault}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the evaluation or writes the report that the command line asks for.
fn evaluate(command: Command) -> Result<(), Fault> {
    let settings = match command {
        Command::Run { settings, tasks, only, answers, repeat } => {
            let (artoo, mut results) = settings.open()?;
            let tasks = task::load(&tasks)?;
            for task in tasks.iter().filter(|task| task.id.contains(&only) || task.kind.contains(&only)) {
                for nth in 1..=repeat {
                    run(&artoo, task, nth, answers.as_deref(), &mut results)?;
                }
            }
            settings
        }
        Command::Icalfa { settings, package } => {
            let (artoo, mut results) = settings.open()?;
            icalfa::evaluate(&artoo, &package, &mut results)?;
            settings
        }
        Command::Memory { settings, plan } => {
            let (artoo, mut results) = settings.open()?;
            memory::evaluate(&artoo, &mut results, &plan)?;
            settings
        }
        Command::Report { files, html } => return report(&files, html.as_deref()),
    };
    report(&[settings.out], None)
}

/// Runs artoo on one task and appends the result, unless the result file has it already.
fn run(artoo: &Artoo, task: &Task, nth: u64, answers: Option<&str>, results: &mut Results) -> Result<(), Fault> {
    let run = Run::new("tasks", &task.id, &task.request, &artoo.model, nth);
    if results.has(&run) {
        return Ok(());
    }
    let world = World::new()?;
    world.prepare(task)?;
    let before = world.snapshot()?;
    let answers = answers.map_or_else(|| task.answers.clone(), |answer| vec![answer.to_owned()]);
    let ran = artoo.run(&world.home(), &world.data(), &task.request, &answers)?;
    let score = score::score(task, &world, &before, ran.answer())?;
    let mut row = Row::new(run, &ran, score);
    (row.is_trap, row.is_impossible) = (task.trap.is_some(), task.impossible.is_some());
    task.kind.clone_into(&mut row.kind);
    eprintln!("{:?} (exit code {:?}) {}: {}", row.class, row.exit_code, task.id, row.faults.join("; "));
    results.append(&row)
}

/// Prints the summaries of result files, and with `html` writes them as a page.
fn report(files: &[PathBuf], html: Option<&Path>) -> Result<(), Fault> {
    let mut sets = Vec::new();
    for file in files {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let rows = results::load(file)?;
        println!("{name}: {} runs\n\n{}", rows.len(), summary::markdown(&rows));
        sets.push(Set { name, rows });
    }
    if let Some(path) = html {
        std::fs::write(path, page::page(&sets))?;
    }
    Ok(())
}
