//! The risks that the words of a command line hint at: whether it is refused, and descriptions for the question.
//! The assessment informs users and models but protects nothing, since a command's words can hide what it does. The
//! sandbox and the observed changes protect.

mod patterns;
mod table;

use serde::Serialize;

use crate::command_line::{CommandLine, Redirect, SHELLS, SUBSTITUTION, Simple};
use crate::texts;
use patterns::{is_device, matches, operands};
use table::{
    ALL_PROCESSES, CONNECTS, DEVICE, FETCHERS, FOREIGN_CODE, INTERPRETERS, NETWORK, OTHER_USER, OVERWRITES, REFUSED,
    RISKS, Risk,
};

/// The worst class of effect that the words of a command hint at. No words prove that a command changes nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandClass {
    /// No known risk in the words, or they run code that they don't show.
    Opaque,
    /// The command may send data to another machine, or show secrets.
    Exfil,
    /// The command may change or remove what can't be restored.
    Irreversible,
}

/// The risks that the words of a command hint at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CommandAssessment {
    /// The command as it was given.
    pub command: String,
    /// The worst class that the words hint at.
    pub class: CommandClass,
    /// Why it is never run, and what to do instead; `None` if it may run.
    pub refused: Option<String>,
    /// What it may do, each in a few words. An empty list proves nothing.
    pub risks: Vec<String>,
}

/// Assesses the risks of a command line by its words.
pub(crate) fn assess(command: &str, line: &CommandLine) -> CommandAssessment {
    let refused = refused(line).map(|(program, does)| texts::never_run(program, does));
    let fetches = line.simple.iter().any(|simple| matches(simple, FETCHERS, ""));
    let mut risks: Vec<Risk> = Vec::new();
    for risk in line.simple.iter().flat_map(|simple| risks_of(simple, fetches)) {
        if !risks.contains(&risk) {
            risks.push(risk);
        }
    }
    let class = risks.iter().map(|(_, class)| *class).chain(refused.iter().map(|_| CommandClass::Irreversible)).max();
    CommandAssessment {
        command: command.to_owned(),
        refused,
        risks: risks.into_iter().map(|(words, _)| words.to_owned()).collect(),
        class: class.unwrap_or(CommandClass::Opaque),
    }
}

/// The first program of a command line that is never run, with a description of its effect; `None` if there is none.
fn refused(line: &CommandLine) -> Option<(&str, &'static str)> {
    if line.is_fork_bomb {
        return Some(("this command", "starts processes without end"));
    }
    line.simple.iter().find_map(|simple| {
        let (program, arguments) = match simple.words.split_first() {
            Some((program, arguments)) => (program.as_str(), arguments),
            None => ("this command", [].as_slice()),
        };
        let writes = |(how, file): &(Redirect, String)| *how != Redirect::Input && is_device(file);
        if simple.redirects.iter().any(writes) {
            return Some((program, DEVICE));
        }
        if let [only] = arguments
            && (only == "--help" || only == "--version")
        {
            return None;
        }
        let does = match program {
            "kill" => kills_everything(arguments).then_some(ALL_PROCESSES),
            _ if forks_forever(simple) => Some("starts processes without end"),
            _ => REFUSED.iter().find(|(programs, patterns, _)| matches(simple, programs, patterns)).map(|row| row.2),
        };
        does.map(|does| (program, does))
    })
}

/// Whether a `kill` command would signal every process, or process 1.
fn kills_everything(arguments: &[String]) -> bool {
    let is_signal = |word: &str| word.starts_with('-') && word != "--";
    let skipped = match arguments.first().map(String::as_str) {
        Some("-s" | "-n" | "--signal") => 2,
        Some("-0" | "-l" | "-L" | "--list" | "--table") => return false,
        Some(word) if is_signal(word) && arguments.len() > 1 => 1,
        _ => 0,
    };
    // A lone -1 is a signal.
    arguments.len() > 1 && arguments.iter().skip(skipped).any(|word| word == "-1" || word == "1") || arguments == ["1"]
}

/// Whether an argument of an interpreter contains `fork` and words of an endless loop.
fn forks_forever(simple: &Simple) -> bool {
    let loops = ["while fork", "while 1", "while(1", "while (1", "while True", "while true", "loop", "for(;;"];
    matches(simple, INTERPRETERS, "*fork")
        && simple.words.iter().any(|text| text.contains("fork") && loops.iter().any(|words| text.contains(words)))
}

/// The risks of a simple command with their classes; `fetches`: whether its line fetches something from the network.
fn risks_of(simple: &Simple, fetches: bool) -> impl Iterator<Item = Risk> {
    let rows = RISKS.iter().filter(|(programs, patterns, _)| matches(simple, programs, patterns));
    let is_overwriting = simple.redirects.iter().any(|(how, file)| {
        *how == Redirect::Output && !["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"].contains(&file.as_str())
    });
    let is_other_user = simple.wrappers.iter().any(|name| ["sudo", "doas", "pkexec"].contains(&name.as_str()))
        || matches(simple, "sudo doas su runuser", "");
    let connects = || {
        matches(simple, NETWORK, "")
            || simple.redirects.iter().any(|(_, file)| file.starts_with("/dev/tcp/") || file.starts_with("/dev/udp/"))
    };
    let found = [
        (is_overwriting, OVERWRITES),
        (is_other_user, OTHER_USER),
        (fetches && runs_unseen(simple), FOREIGN_CODE),
        (connects(), CONNECTS),
    ];
    let found = found.into_iter().filter_map(|(is_found, risk)| is_found.then_some(risk));
    rows.map(|row| row.2).chain(found)
}

/// Whether a shell or an interpreter runs text that the command line does not show, such as the output of another
/// command.
fn runs_unseen(simple: &Simple) -> bool {
    let Some((program, arguments)) = simple.words.split_first() else { return false };
    let is_runner = SHELLS.contains(&program.as_str()) || matches(simple, INTERPRETERS, "");
    let mut names = operands(arguments);
    let is_given = match names.next() {
        None | Some(SUBSTITUTION | "/dev/stdin") => !matches(simple, INTERPRETERS, "-c -e"),
        Some(_) => false,
    };
    is_runner && is_given || program.starts_with(SUBSTITUTION)
}

#[cfg(test)]
mod tests;
