//! Words on the command line that are a mistyped command rather than a request.

use clap::{CommandFactory, Parser};
use strsim::osa_distance;

use super::page;
use crate::args::{Command, CommandLine};
use crate::failure::Failure;
use crate::suggest;

/// Subcommands known from other programs (such as `login`), each with the artoo subcommand that comes closest.
const HABITS: [(&str, &str); 6] = [
    ("auth", "setup"),
    ("init", "setup"),
    ("list", "help"),
    ("login", "setup"),
    ("update", "version"),
    ("upgrade", "version"),
];

/// Refuses a single word that resembles a command, or is a command of other programs, unless `is_readable` says that it
/// is a request; and several words that are a command if one letter of the first is corrected.
pub(crate) fn check_command(words: &[String], is_readable: impl Fn(&str) -> bool) -> Result<(), Failure> {
    let commands = CommandLine::command();
    let names: Vec<&str> = commands.get_subcommands().map(clap::Command::get_name).chain(["version"]).collect();
    let meant = match words {
        [word] if word.chars().all(|c| c.is_alphabetic() || c == '-') => {
            let habit = HABITS.iter().find(|(habit, _)| *habit == word.to_lowercase()).map(|(_, meant)| *meant);
            habit.or_else(|| suggest::nearest(word, &names)).filter(|_| !is_readable(word))
        }
        [word, rest @ ..] if !rest.is_empty() => {
            names.into_iter().find(|name| osa_distance(word, name) == 1 && takes(name, rest))
        }
        _ => None,
    };
    match (meant, words.split_first()) {
        (Some(meant), Some((word, rest))) => Err(Failure::NoSuchCommand {
            word: word.clone(),
            meant: [&[meant.to_owned()], rest].concat().join(" "),
            request: words.join(" "),
        }),
        _ => Ok(()),
    }
}

/// Whether the words after a command's name parse as its subcommand or options, rather than as free text.
fn takes(name: &str, rest: &[String]) -> bool {
    let line = ["artoo", name].into_iter().chain(rest.iter().map(String::as_str));
    let is_free = |word: &String| !word.starts_with('-');
    match CommandLine::try_parse_from(line).ok().and_then(|line| line.command) {
        Some(Command::Help { words }) => page(&words).is_some(),
        Some(
            Command::Try { .. } | Command::Assess { .. } | Command::Run { .. } | Command::Man { .. } | Command::Undo(_),
        ) => !rest.iter().any(is_free),
        command => command.is_some(),
    }
}
