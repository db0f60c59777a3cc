//! Commands of the shell itself, and variables set for one command only.

use std::path::PathBuf;

use super::expand::KNOWN_VARIABLES;
use super::judge::{Judge, State};
use super::objection::Objection;
use super::scene::Use;
use super::syntax::{Body, Chain};
use super::tests_of_shell;
use super::value::{Arg, Stream};
use crate::paths;

/// Variables that change how something is shown and nothing else.
const DISPLAY_VARIABLES: [&str; 19] = [
    "LC_ALL",
    "LC_CTYPE",
    "LC_COLLATE",
    "LC_NUMERIC",
    "LC_TIME",
    "LC_MESSAGES",
    "LC_MONETARY",
    "LANG",
    "LANGUAGE",
    "TZ",
    "NO_COLOR",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "COLUMNS",
    "LINES",
    "TERM",
    "BLOCK_SIZE",
    "POSIXLY_CORRECT",
    "TIME_STYLE",
];

/// Judges a builtin; `None` if the name is none.
pub(super) fn run(
    judge: &mut Judge<'_>,
    state: &mut State,
    name: &str,
    arguments: &[Arg],
) -> Option<Result<Stream, Objection>> {
    let nothing = Ok(Stream::Text);
    Some(match name {
        ":" => nothing,
        "cd" => change_folder(judge, state, arguments).map(|()| Stream::Text),
        "[" => match arguments.split_last() {
            Some((last, words)) if last.text() == Some("]") => {
                judge.effects.measures = true;
                tests_of_shell::single_bracket(judge, state, words).map(|()| Stream::Text)
            }
            _ => Err(Objection::opaque("[ without ]")),
        },
        "test" => {
            judge.effects.measures = true;
            tests_of_shell::single_bracket(judge, state, arguments).map(|()| Stream::Text)
        }
        "type" | "hash" | "command" if is_look_up(name, arguments) => nothing,
        "umask" | "ulimit" | "times" | "wait"
            if arguments.iter().all(|word| matches!(word.text(), Some("-S" | "-a")))
                || (name == "ulimit" && is_limit_asked(arguments)) =>
        {
            judge.effects.measures = true;
            nothing
        }
        "exit" | "return" | "break" | "continue" if arguments.len() <= 1 => match arguments.first() {
            None => nothing,
            Some(word) if word.text().is_none_or(|text| text.chars().all(|c| c.is_ascii_digit())) => nothing,
            Some(_) => Err(Objection::opaque(format!("{name} with an odd number"))),
        },
        // Nothing has been typed or named in a shell that was started for one command.
        "history" | "alias"
            if arguments.iter().all(|word| word.text().is_some_and(|text| text.parse::<u16>().is_ok())) =>
        {
            nothing
        }
        "printenv" => {
            judge.effects.measures = true;
            printed_variables(arguments)
        }
        _ => return None,
    })
}

/// `ulimit -n`: with a number behind it a limit would be set.
fn is_limit_asked(arguments: &[Arg]) -> bool {
    matches!(arguments, [option] if matches!(option.text(), Some("-c" | "-d" | "-f" | "-n" | "-s" | "-t" | "-u" | "-v")))
}

/// `command -v name`, `type name`: says what a name is.
fn is_look_up(name: &str, arguments: &[Arg]) -> bool {
    let is_name = |word: &Arg| word.text().is_some_and(|text| !text.starts_with('-'));
    match (name, arguments.split_first()) {
        ("command", Some((option, names))) => matches!(option.text(), Some("-v" | "-V")) && names.iter().all(is_name),
        ("type", Some(_)) => {
            arguments.iter().all(|word| is_name(word) || matches!(word.text(), Some("-a" | "-t" | "-p" | "-P" | "-ap")))
        }
        ("hash", None) => true,
        _ => false,
    }
}

fn printed_variables(arguments: &[Arg]) -> Result<Stream, Objection> {
    let is_harmless = |name: &str| matches!(name, "HOME" | "PWD") || KNOWN_VARIABLES.contains(&name);
    let named = arguments.iter().filter(|word| word.text().is_some_and(is_harmless)).count();
    if named == 0 || named < arguments.len() {
        return Err(Objection::reveals("variables of the environment may hold secrets"));
    }
    Ok(Stream::Text)
}

fn change_folder(judge: &mut Judge<'_>, state: &mut State, arguments: &[Arg]) -> Result<(), Objection> {
    let arguments = match arguments.split_first() {
        Some((first, rest)) if first.text() == Some("--") => rest,
        _ => arguments,
    };
    let target = match arguments {
        [] => judge.config.environment.home.clone(),
        [word] => match word.text() {
            Some(text) if !text.starts_with('-') && !text.is_empty() => text.to_owned(),
            _ => return Err(Objection::opaque("cd to a folder that is not known before it runs")),
        },
        _ => return Err(Objection::opaque("cd with more than one folder")),
    };
    judge.reads(state, &Arg::literal(target.clone()), Use::Facts)?;
    let places: Vec<PathBuf> = judge.places(state, &target)?.iter().map(|place| paths::real(place)).collect();
    let surely = places.iter().all(|place| place.is_dir());
    // A cd that fails stays where it was, and what follows a semicolon runs all the same.
    let before = if surely { Vec::new() } else { state.cwds.clone() };
    let mut cwds: Vec<PathBuf> = Vec::new();
    for place in places.into_iter().chain(before) {
        if !cwds.contains(&place) {
            cwds.push(place);
        }
    }
    state.cwds = cwds;
    Ok(())
}

/// Whether a variable may be set for this one command.
pub(super) fn may_be_passed(program: &str, name: &str, value: &str) -> Result<(), Objection> {
    let is_plain = value.chars().all(|c| c.is_ascii_alphanumeric() || "_.@+:-,".contains(c));
    // A zone or locale with a path in it is read from there.
    let is_zone = name == "TZ" && value.chars().all(|c| c.is_ascii_alphanumeric() || "_/+-".contains(c));
    let is_zone = is_zone && !value.starts_with('/') && !value.contains("..");
    if DISPLAY_VARIABLES.contains(&name) && (is_zone || (is_plain && !value.starts_with(':'))) {
        return Ok(());
    }
    if name == "IFS" && program == "read" {
        return Ok(());
    }
    Err(Objection::opaque(format!("{name} may change what {program} does")))
}

/// The variable of a condition that is `read` alone: `IFS= read -r name`, `read -r -d '' name`.
pub(super) fn read_variable(condition: &[Chain]) -> Option<String> {
    let [chain] = condition else { return None };
    let [stage] = chain.first.stages.as_slice() else { return None };
    let Body::Simple(simple) = &stage.body else { return None };
    if !chain.rest.is_empty() || !stage.redirects.is_empty() {
        return None;
    }
    if simple.assignments.iter().any(|(name, value)| name != "IFS" || value.literal().is_none()) {
        return None;
    }
    let (command, words) = simple.words.split_first()?;
    let (name, options) = words.split_last()?;
    let mut options = options.iter();
    while let Some(option) = options.next() {
        match option.literal().as_deref() {
            Some("-r") => {}
            Some("-d" | "-rd") if options.next()?.literal()?.len() <= 1 => {}
            _ => return None,
        }
    }
    let name = name.plain().filter(|name| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'))?;
    (command.plain() == Some("read")).then(|| name.to_owned())
}
