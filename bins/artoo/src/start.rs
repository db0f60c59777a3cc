//! From the process's arguments to its exit code.

use clap::Parser;
use clap::error::ErrorKind;

use crate::args::{Command, CommandLine};
use crate::display::writer::Screen;
use crate::display::{Line, json};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::settings::{Settings, Variables};
use crate::{audit, doctor, logging, task};

/// Threads of the runtime: one drives the System, one the display; outside work has threads of its own.
const THREADS: usize = 2;

/// Shown where there is nothing to do.
const SHORT_USAGE: &str = "Usage: artoo \"<what you want done>\"\n       artoo doctor\n       artoo --help";

/// Reads the command line and does what it says.
pub(crate) fn start() -> Exit {
    let variables = Variables::of_process();
    let screen = Screen::new(&variables);
    let line = match CommandLine::try_parse() {
        Ok(line) => line,
        Err(error) => return usage(&error, &screen),
    };
    let is_json = line.options.json;
    run(line, &variables, &screen).unwrap_or_else(|failure| {
        if is_json {
            screen.json(&json::error(&failure));
        }
        screen.tell(&[Line::warning(format!("artoo: {}", failure.told()))]);
        screen.tell(&failure.remedy().map(|remedy| Line::plain(format!("  {remedy}"))).into_iter().collect::<Vec<_>>());
        failure.exit()
    })
}

fn run(line: CommandLine, variables: &Variables, screen: &Screen) -> Result<Exit, Failure> {
    logging::start(variables, screen)?;
    let words = match line.command {
        Some(Command::Doctor) => return block_on(doctor::run(line.options, variables, screen)),
        Some(Command::Audit) => return audit::run(&Settings::resolve(line.options, variables)?, screen),
        Some(Command::Run { words }) => words.join(" "),
        None => line.words.join(" "),
    };
    if words.trim().is_empty() {
        screen.tell(&[Line::plain(SHORT_USAGE)]);
        return Ok(Exit::Usage);
    }
    if line.options.json {
        screen.json(&json::schema());
    }
    let settings = Settings::resolve(line.options, variables)?;
    let model = settings.model.build(variables, &settings.environment)?;
    block_on(task::run(&settings, model, &words, screen))
}

fn block_on(work: impl Future<Output = Result<Exit, Failure>>) -> Result<Exit, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(THREADS)
        .enable_all()
        .build()
        .map_err(|source| Failure::System { source })?;
    let exit = runtime.block_on(work);
    // Whatever still runs has nobody to report to: a blocked read must not keep the process.
    runtime.shutdown_background();
    exit
}

/// Help and version go to standard output, errors to standard error; none of them is ever a task.
fn usage(error: &clap::Error, screen: &Screen) -> Exit {
    let text = error.to_string();
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        screen.answer(&[Line::plain(text.trim_end())]);
        return Exit::Accepted;
    }
    screen.tell(&[Line::plain(text.trim_end())]);
    let words: Vec<String> = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let is_subcommand = words.first().is_some_and(|word| matches!(word.as_str(), "run" | "doctor" | "audit"));
    if is_subcommand && error.kind() == ErrorKind::UnknownArgument {
        screen.tell(&[Line::plain(format!("\nIf these words are your task: artoo run -- {}", words.join(" ")))]);
    }
    Exit::Usage
}
