//! Tests of how the words of a command line are parsed.

use clap::Parser;
use clap::error::ErrorKind;

use super::{Command, CommandLine, Deadline, FORM, RANGE};

/// The expected outcome of parsing a command line: a task, a subcommand, or a kind of error.
#[derive(Debug, PartialEq)]
enum Meaning {
    Task(&'static str),
    Forced(&'static str),
    Help(&'static str),
    Doctor,
    Audit,
    Error(ErrorKind),
}

/// Asserts that these arguments are parsed as expected.
fn check(arguments: &[&str], expected: &Meaning) {
    let parsed = CommandLine::try_parse_from(std::iter::once("artoo").chain(arguments.iter().copied()));
    let words = |words: &[String], task: &str| words.join(" ") == task;
    let is_it = match (&parsed, expected) {
        (Ok(line), Meaning::Task(task)) => line.command.is_none() && words(&line.words, task),
        (Ok(CommandLine { command: Some(Command::Run { words: given }), .. }), Meaning::Forced(task)) => {
            words(given, task)
        }
        (Ok(CommandLine { command: Some(Command::Help { words: given }), .. }), Meaning::Help(task)) => {
            words(given, task)
        }
        (Ok(CommandLine { command: Some(Command::Doctor { .. }), .. }), Meaning::Doctor)
        | (Ok(CommandLine { command: Some(Command::Audit { .. }), .. }), Meaning::Audit) => true,
        (Err(error), Meaning::Error(kind)) => error.kind() == *kind,
        _ => false,
    };
    assert!(is_it, "{arguments:?} is {parsed:?}, not {expected:?}");
}

/// Words on the command line that don't begin with a subcommand are a request.
#[test]
fn words_other_than_subcommands_are_a_task() {
    use ErrorKind as E;
    check(&["count the files"], &Meaning::Task("count the files"));
    check(&["count", "the", "files"], &Meaning::Task("count the files"));
    check(&["doctors"], &Meaning::Task("doctors"));
    check(&["find", "doctor", "audit", "run"], &Meaning::Task("find doctor audit run"));
    check(&["doctor my machine"], &Meaning::Task("doctor my machine"));
    check(&["help", "me", "find", "it"], &Meaning::Help("me find it"));
    check(&["--", "doctor"], &Meaning::Task("doctor"));
    check(&["--", "-rf"], &Meaning::Task("-rf"));
    check(&["doctor"], &Meaning::Doctor);
    check(&["--json", "doctor"], &Meaning::Doctor);
    check(&["doctor", "--json"], &Meaning::Doctor);
    check(&["audit"], &Meaning::Audit);
    check(&["rules", "for", "chess"], &Meaning::Error(E::InvalidSubcommand));
    check(&["run", "--", "rules", "for", "chess"], &Meaning::Forced("rules for chess"));
    check(&["rules", "revoke"], &Meaning::Error(E::MissingRequiredArgument));
    check(&["evidence", "of", "life"], &Meaning::Error(E::InvalidSubcommand));
    check(&[], &Meaning::Task(""));
    check(&["-q", "count"], &Meaning::Task("count"));
    check(&["--quiet"], &Meaning::Task(""));
    check(&["-v", "count"], &Meaning::Task("count"));
    check(&["run", "--", "doctor"], &Meaning::Forced("doctor"));
    check(&["run", "--", "--help"], &Meaning::Forced("--help"));
    check(&["run", "--json", "--", "audit", "--json"], &Meaning::Forced("audit --json"));
    check(&["run", "the", "tests"], &Meaning::Error(E::UnknownArgument));
    check(&["audit", "my", "folder"], &Meaning::Error(E::UnknownArgument));
    check(&["run"], &Meaning::Error(E::MissingRequiredArgument));
    check(&["-x", "count"], &Meaning::Error(E::UnknownArgument));
    check(&["count", "files", "--fast"], &Meaning::Error(E::UnknownArgument));
    check(&["--help"], &Meaning::Error(E::DisplayHelp));
    check(&["count", "--help"], &Meaning::Error(E::DisplayHelp));
    check(&["--version"], &Meaning::Error(E::DisplayVersion));
    check(&["--model", "gpt", "x"], &Meaning::Error(E::ValueValidation));
    check(&["--deadline", "0s", "x"], &Meaning::Error(E::ValueValidation));
}

/// `--deadline` takes a whole number with s, m or h, between one second and one week; anything else is an error.
#[test]
fn deadline_needs_unit_and_has_bounds() {
    let ms = |limit_ms| Ok(Deadline { limit_ms });
    for (text, expected) in [
        ("90s", ms(90_000)),
        ("5m", ms(300_000)),
        ("1h", ms(3_600_000)),
        ("168h", ms(604_800_000)),
        ("0s", Err(RANGE)),
        ("169h", Err(RANGE)),
        ("99999999999999999999s", Err(RANGE)),
        ("9999999999999999999h", Err(RANGE)),
        ("90", Err(FORM)),
        ("s", Err(FORM)),
        ("", Err(FORM)),
        ("1.5h", Err(FORM)),
        ("-1s", Err(FORM)),
        ("+1s", Err(FORM)),
        ("1 h", Err(FORM)),
        ("١s", Err(FORM)),
    ] {
        assert_eq!(text.parse::<Deadline>(), expected, "{text:?}");
    }
}
