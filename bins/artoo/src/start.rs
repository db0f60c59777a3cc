//! Runs the command line: dispatches to the subcommands or to a request, and returns the exit code.

use std::io::{self, IsTerminal, Read};

use artoo_proto::Now;
use artoo_roles::runtime::{detect_environment, is_readable};
use clap::CommandFactory;
use clap::error::ErrorKind;
use rustix::io::ioctl_fionread;

use crate::args::{Command, CommandLine, ConfigCommand, MemoryCommand, ModelCommand, Options, SkillsCommand};
use crate::display::{Line, json};
use crate::model::Models;
use crate::task::RequestedTask;
use crate::{Exit, Failure, Screen, Settings, Variables};
use crate::{
    audit, check_command, clock, config, doctor, estimate, evidence, help, logging, memory, model_files, repl, rules,
    setup, shell_files, show_config, skills, task, tasks, terminal, texts, try_command, undo,
};

/// Number of worker threads of the async runtime.
const THREADS: usize = 2;

/// Maximum number of threads of the async runtime for blocking work, such as reading files.
const WAITING_THREADS: usize = 32;

/// Maximum number of bytes read from standard input as a request.
#[doc(alias = "limit")]
const PIPED_MAX_BYTES: u64 = 1_024 * 1_024;

/// Runs the program's command line and returns the exit code.
pub(crate) fn start() -> u8 {
    let variables = Variables::of_process();
    let is_dumb = variables.raw("TERM").is_some_and(|term| term == "dumb");
    let has_colour = !is_dumb && variables.raw("NO_COLOR").is_none();
    let (screen, is_json, ended) = match help::command_line() {
        Ok(line) => {
            let is_plain = is_dumb || line.options.plain;
            let (screen, is_json) = (Screen::new(has_colour, line.options.quiet, is_plain), line.options.json);
            let ended = run(line, &variables, &screen);
            (screen, is_json, ended)
        }
        Err(error) => {
            let screen = Screen::new(has_colour, false, is_dumb);
            let exit = usage(&error, &screen);
            (screen, false, Ok(exit.code()))
        }
    };
    let code = ended.unwrap_or_else(|failure| show(&failure, is_json, &screen).code());
    screen.unwritten().map_or(code, |source| show(&Failure::Unwritten { source }, false, &screen).code())
}

/// Shows an error and returns its exit code.
fn show(failure: &Failure, is_json: bool, screen: &Screen) -> Exit {
    if is_json {
        screen.json(&json::error(failure));
    }
    let mut lines = vec![Line::warning(format!("artoo: {}", failure.message()))];
    lines.extend(failure.remedy().map(|remedy| Line::plain(format!("  {remedy}"))));
    screen.insist(&lines);
    failure.exit()
}

/// Runs a subcommand or a request. The exit code returned may be that of a program that the user ran with `artoo try`.
fn run(mut line: CommandLine, variables: &Variables, screen: &Screen) -> Result<u8, Failure> {
    logging::start(variables, screen)?;
    // Only a topic makes it a command: "help me find …" is a request.
    if let Some(Command::Help { words }) = &line.command
        && help::is_request(words)
    {
        line.words = [&["help".to_owned()], words.as_slice()].concat();
        line.command = None;
    }
    let with_file;
    let variables = match line.command {
        // These commands read the configuration file themselves, or help to correct it.
        Some(Command::Doctor { .. } | Command::Completions { .. } | Command::Man { .. } | Command::Help { .. }) => {
            variables
        }
        Some(Command::Memory { command: Some(MemoryCommand::Off | MemoryCommand::On) }) => variables,
        Some(Command::Config { command: Some(ref command) }) if !matches!(command, ConfigCommand::Show { .. }) => {
            variables
        }
        _ => {
            with_file = config::with_file(variables.clone())?;
            &with_file
        }
    };
    let settings = || Settings::resolve(&line.options, variables);
    let rest = line.bare.take().filter(|_| !line.options.json).and_then(|name| help::subcommands_of(&name));
    let words = (!line.words.is_empty()).then(|| line.words.join(" "));
    let ended = match line.command {
        Some(Command::Try { words }) => return block_on(try_command::run(&words, &settings()?, screen)),
        Some(Command::Doctor { probe }) => block_on(doctor::run(&line.options, probe, variables, screen)),
        Some(Command::Assess { command }) => check_command::run(&command, &settings()?, screen),
        Some(Command::Setup) => block_on(setup::run(settings, variables, screen)),
        Some(Command::Config { command }) => {
            let command = command.unwrap_or(ConfigCommand::Show { origin: false });
            show_config::run(command, &line.options, variables, screen)
        }
        Some(Command::Model { command }) => {
            let command = command.unwrap_or(ModelCommand::List { verify: false });
            block_on(model_files::run(command, &settings()?, variables, screen))
        }
        Some(Command::Audit { accept_gap }) => audit::run(&settings()?, accept_gap, screen),
        Some(Command::Undo(asked)) => undo::run(&asked, &settings()?, screen),
        Some(Command::Resume { task }) => block_on(tasks::resume(task.as_deref(), line.options, variables, screen)),
        Some(Command::Tasks { command }) => tasks::run(command, &settings()?, screen),
        Some(Command::Replay { task }) => tasks::run_again(&task, &settings()?, screen),
        Some(Command::Report { task }) => tasks::report(task.as_deref(), &settings()?, screen),
        Some(Command::Gc) => tasks::collect_garbage(&settings()?, screen),
        Some(Command::Rules { command }) => rules::run(&command.unwrap_or_default(), &settings()?, screen),
        Some(Command::Memory { command }) => {
            let command = command.unwrap_or(MemoryCommand::Show { words: Vec::new() });
            block_on(memory::run(command, &line.options, variables, screen))
        }
        Some(Command::Skills { command }) => skills::run(&command.unwrap_or(SkillsCommand::List), &settings()?, screen),
        Some(Command::Evidence { command }) => evidence::run(&command.unwrap_or_default(), &settings()?, screen),
        Some(Command::Completions { shell }) => Ok(shell_files::completions(shell, screen)),
        Some(Command::Man { folder }) => shell_files::manual(folder.as_deref(), screen),
        Some(Command::Help { words }) => help::run(&words, screen),
        Some(Command::Run { words }) => request(Some(words.join(" ")), &line.options, variables, screen),
        None if words.is_none() && terminal::is_there() => live(&line.options, variables, screen),
        None if line.words == ["version"] => Ok(help::version(screen)),
        None if !line.options.json
            && let Some(lines) = words.as_deref().and_then(help::greeting_for) =>
        {
            screen.answer(&lines);
            Ok(Exit::Accepted)
        }
        None => {
            refuse_slip(&line.words)?;
            request(words, &line.options, variables, screen)
        }
    };
    screen.tell(rest.filter(|_| ended.is_ok()).as_slice());
    ended.map(Exit::code)
}

/// An error if the words on the command line are a mistyped subcommand; words after `--` are always a request.
fn refuse_slip(words: &[String]) -> Result<(), Failure> {
    if std::env::args_os().any(|word| word == "--") {
        return Ok(());
    }
    let now = Now { wall: clock::now(), uptime_ms: 0 };
    help::check_command(words, |word| {
        detect_environment(None).is_ok_and(|environment| is_readable(word, &environment, now))
    })
}

/// Runs a request given on the command line, or read from standard input if `words` is `None`.
fn request(words: Option<String>, options: &Options, variables: &Variables, screen: &Screen) -> Result<Exit, Failure> {
    let is_beside = words.is_some();
    let words = words.map_or_else(piped, Ok)?;
    if words.trim().is_empty() {
        return Err(Failure::EmptyRequest {});
    }
    if options.json {
        screen.json(&json::schema());
    }
    let settings = Settings::resolve(options, variables)?;
    let models = Models::build(&settings, variables)?;
    if options.estimate {
        return estimate::run(&settings, &models.spending, &words, screen);
    }
    // The embedded parser takes no material; standard input is not read, so that other programs can read it.
    let is_material = is_beside && !models.spending.models.is_empty();
    let material = if is_material { material(screen)? } else { None };
    if terminal::is_there() && !options.json {
        screen.tell(&tasks::interrupted(&settings).into_iter().collect::<Vec<_>>());
    }
    let session = if options.continued { tasks::last_turns(&settings)? } else { Vec::new() };
    let asked = RequestedTask { words, session, material, ..RequestedTask::default() };
    let ended = block_on(task::run(&settings, models, asked, screen));
    if is_beside && !is_material && is_unread() {
        screen.tell(&[Line::warning(texts::UNREAD_INPUT)]);
    }
    ended
}

/// Reads piped standard input as material for a request on the command line; `None` if it is a terminal, closed or
/// empty.
fn material(screen: &Screen) -> Result<Option<String>, Failure> {
    if io::stdin().is_terminal() {
        return Ok(None);
    }
    screen.status(texts::READS_INPUT);
    let text = piped();
    screen.status("");
    Ok(Some(text?).filter(|text| !text.trim().is_empty()))
}

/// Starts the interactive prompt; an error if an option was given that needs a request on the command line.
fn live(options: &Options, variables: &Variables, screen: &Screen) -> Result<Exit, Failure> {
    let needs_request = [("--json", options.json), ("--estimate", options.estimate)];
    if let Some((option, _)) = needs_request.into_iter().find(|(_, is_given)| *is_given) {
        return Err(Failure::NeedsRequest { option });
    }
    let settings = Settings::resolve(options, variables)?;
    let models = Models::build(&settings, variables)?;
    screen.tell(&tasks::interrupted(&settings).into_iter().collect::<Vec<_>>());
    let turns = if options.continued { tasks::last_turns(&settings)? } else { Vec::new() };
    block_on(repl::run(settings, models, turns, variables, screen))
}

/// Reads standard input as one request; empty if it is a terminal.
fn piped() -> Result<String, Failure> {
    let stdin = io::stdin();
    if stdin.is_terminal() {
        return Ok(String::new());
    }
    let mut bytes = Vec::new();
    let failed = |source: io::Error| Failure::UnreadableInput { source };
    stdin.lock().take(PIPED_MAX_BYTES).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 == PIPED_MAX_BYTES {
        // Too long for a request, so it is refused later; a character cut at the end does not matter.
        return Ok(String::from_utf8_lossy(&bytes).into_owned());
    }
    String::from_utf8(bytes).map_err(|error| failed(io::Error::new(io::ErrorKind::InvalidData, error.utf8_error())))
}

/// Whether a pipe or file on standard input holds unread bytes.
fn is_unread() -> bool {
    let stdin = io::stdin();
    !stdin.is_terminal() && ioctl_fionread(&stdin).is_ok_and(|bytes| bytes > 0)
}

/// Runs a future on a new async runtime.
fn block_on<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(THREADS)
        .max_blocking_threads(WAITING_THREADS)
        .enable_all()
        .build()
        .map_err(|source| Failure::System { source })?;
    let exit = runtime.block_on(work);
    // Work that still runs is not awaited: a blocked read must not keep the process alive.
    runtime.shutdown_background();
    exit
}

/// Shows clap's help or version on standard output, or its error on standard error; returns the exit code.
fn usage(error: &clap::Error, screen: &Screen) -> Exit {
    let text = error.to_string();
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        screen.answer(&[Line::plain(text.trim_end())]);
        return Exit::Accepted;
    }
    let words: Vec<String> = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    if let (ErrorKind::UnknownArgument, Err(slip)) = (error.kind(), help::check_command(&words, |_| true)) {
        return show(&slip, false, screen);
    }
    screen.insist(&[Line::plain(text.trim_end())]);
    let is_subcommand = words.first().is_some_and(|word| CommandLine::command().find_subcommand(word).is_some());
    if is_subcommand && matches!(error.kind(), ErrorKind::UnknownArgument | ErrorKind::InvalidSubcommand) {
        screen.insist(&[Line::plain(format!("\nIf these words are your task: artoo run -- {}", words.join(" ")))]);
    }
    Exit::Usage
}
