//! What the words of a command line say about its risks: what is never run, and words for the question about the rest.
//!
//! It helps people and models, and protects nothing: a command can hide what it does from any reader of its words.
//! What protects are the sandbox and the list of what a command really changed.

mod patterns;
mod table;

use serde::Serialize;

use crate::command_line::{CommandLine, Redirect, SHELLS, SUBSTITUTION, Simple};
use patterns::{is_device, matches, operands};
use table::{
    ALL_PROCESSES, CONNECTS, DEVICE, FETCHERS, FOREIGN_CODE, INTERPRETERS, NETWORK, OTHER_USER, OVERWRITES, REFUSED,
    RISKS, Risk, SENDS,
};

/// The worst that the words of a command hint at. No words show that a command changes nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandClass {
    /// The words show no known risk, or code that they don't show runs.
    Opaque,
    /// It may send data to another machine, or show secrets.
    Exfil,
    /// It may change or remove what can't be restored.
    Irreversible,
}

/// The risks of a command, from its words alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Assessment {
    /// Why it is never run, and the remedy.
    pub(crate) refusal: Option<String>,
    /// What it may do, each in a few plain words.
    pub(crate) risks: Vec<String>,
    pub(crate) class: CommandClass,
}

/// Assesses a command line.
pub(crate) fn assess(line: &CommandLine) -> Assessment {
    let refusal = refused(line).map(|(program, does)| {
        format!("{program} {does}, which artoo never does; if you want it, run it yourself in a terminal")
    });
    let mut risks: Vec<Risk> = Vec::new();
    for risk in line.simple.iter().flat_map(|simple| risks_of(simple, line)) {
        if !risks.contains(&risk) {
            risks.push(risk);
        }
    }
    let class = risks.iter().map(|(_, class)| *class).chain(refusal.iter().map(|_| CommandClass::Irreversible)).max();
    Assessment {
        refusal,
        risks: risks.into_iter().map(|(words, _)| words.to_owned()).collect(),
        class: class.unwrap_or(CommandClass::Opaque),
    }
}

/// Whether a command line names the network: an address, or a program that connects to other machines.
pub(crate) fn names_network(line: &CommandLine) -> bool {
    let is_network = |risk: Risk| [CONNECTS, SENDS, FOREIGN_CODE].contains(&risk);
    !line.hosts.is_empty() || line.simple.iter().any(|simple| risks_of(simple, line).any(is_network))
}

/// The program that is never run, and what it does.
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

/// Whether `kill` signals every process, or the first one.
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

/// Whether a text of another language starts processes in an endless loop.
fn forks_forever(simple: &Simple) -> bool {
    let loops = ["while fork", "while 1", "while(1", "while (1", "while True", "while true", "loop", "for(;;"];
    matches(simple, INTERPRETERS, "*fork")
        && simple.words.iter().any(|text| text.contains("fork") && loops.iter().any(|words| text.contains(words)))
}

fn risks_of<'a>(simple: &'a Simple, line: &'a CommandLine) -> impl Iterator<Item = Risk> + 'a {
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
        (runs_fetched(simple, line), FOREIGN_CODE),
        (connects(), CONNECTS),
    ];
    let found = found.into_iter().filter_map(|(is_found, risk)| is_found.then_some(risk));
    rows.map(|row| row.2).chain(found)
}

/// Whether a shell or an interpreter runs what another command of the line fetches.
fn runs_fetched(simple: &Simple, line: &CommandLine) -> bool {
    let Some((program, arguments)) = simple.words.split_first() else { return false };
    let is_runner = SHELLS.contains(&program.as_str()) || matches(simple, INTERPRETERS, "");
    let mut names = operands(arguments);
    let is_given = match names.next() {
        None | Some(SUBSTITUTION | "/dev/stdin") => !matches(simple, INTERPRETERS, "-c -e"),
        Some(_) => false,
    };
    (is_runner && is_given || program.starts_with(SUBSTITUTION))
        && line.simple.iter().any(|simple| matches(simple, FETCHERS, ""))
}

#[cfg(test)]
mod tests;
