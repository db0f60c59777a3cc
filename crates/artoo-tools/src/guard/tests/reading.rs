//! The reader of the shell's language: what it takes for a word is what a shell takes for one, or it doubts.

use std::process::Command;

use proptest::prelude::*;

use super::{EVERYDAY, Yard, rows};
use crate::guard::judge::Judge;
use crate::guard::syntax::{Body, parse};

/// The arguments of a simple command that are known, as the guard sees them.
fn arguments(yard: &Yard, command: &str) -> Option<Vec<String>> {
    let list = parse(command).ok()?;
    let [chain] = list.as_slice() else { return None };
    let [stage] = chain.first.stages.as_slice() else { return None };
    let Body::Simple(simple) = &stage.body else { return None };
    if !chain.rest.is_empty() || !stage.redirects.is_empty() || !simple.assignments.is_empty() {
        return None;
    }
    let mut judge = Judge::new(&yard.config, &yard.protected);
    let state = judge.start();
    let arguments = judge.arguments(&state, &simple.words).ok()?;
    arguments.iter().map(|arg| arg.text().map(str::to_owned)).collect()
}

/// The same, as a shell sees them.
fn of_shell(yard: &Yard, command: &str) -> Vec<String> {
    let script = format!("set -- {command}\nprintf '%s\\0' \"$@\"");
    let home = yard.home.to_str().unwrap();
    let mut shell = Command::new("bash");
    shell.args(["--noprofile", "--norc", "-c", &script]).env_clear().env("HOME", home).env("LC_ALL", "C.UTF-8");
    let shell = shell.current_dir(&yard.config.environment.cwd).output().unwrap();
    let words = String::from_utf8_lossy(&shell.stdout).into_owned();
    words.strip_suffix('\0').map(|words| words.split('\0').map(str::to_owned).collect()).unwrap_or_default()
}

#[test]
fn words_are_read_as_a_shell_would_or_not_at_all() {
    let yard = Yard::new();
    let home = yard.home.to_str().unwrap();
    let table: Vec<(&str, Option<Vec<String>>)> = vec![
        ("ls  -l\ta", Some(vec!["ls".into(), "-l".into(), "a".into()])),
        ("cat 'a b' \"c d\"e", Some(vec!["cat".into(), "a b".into(), "c de".into()])),
        ("cat '' x", Some(vec!["cat".into(), String::new(), "x".into()])),
        (
            "ls ~ ~/x '~/y' HEAD~1",
            Some(vec!["ls".into(), home.into(), format!("{home}/x"), "~/y".into(), "HEAD~1".into()]),
        ),
        ("echo \\; \\( \\* a\\ b", Some(vec!["echo".into(), ";".into(), "(".into(), "*".into(), "a b".into()])),
        ("echo $'a\\tb' \"\\$x \\\\ \\n\"", Some(vec!["echo".into(), "a\tb".into(), "$x \\ \\n".into()])),
        (
            "echo a{b,c}d {1..3}",
            Some(vec!["echo".into(), "abd".into(), "acd".into(), "1".into(), "2".into(), "3".into()]),
        ),
        ("echo \"$HOME\"/x ${HOME}", Some(vec!["echo".into(), format!("{home}/x"), home.into()])),
        ("ls 'a", None),
        ("ls ~root", None),
        ("ls --x=~/y", None),
        ("ls a\u{a0}b", None),
        ("ls 'a\u{202e}b'", None),
        ("r\\m x", None),
        ("", None),
    ];
    for (command, expected) in table {
        let words = arguments(&yard, command);
        assert_eq!(words, expected, "{command:?}");
        if let Some(words) = words {
            assert_eq!(words, of_shell(&yard, command), "{command:?}");
        }
    }
}

#[test]
fn a_bomb_of_braces_or_brackets_ends_early() {
    let yard = Yard::new();
    for command in [
        format!("echo {}", "{a,b}".repeat(400)),
        format!("{}ls{}", "(".repeat(900), ")".repeat(900)),
        format!("echo {}x{}", "$(".repeat(900), ")".repeat(900)),
        format!("echo {}", "\"$(ls ".repeat(300)),
        format!("ls{}", "; ls".repeat(1500)),
        "for a in {1..60}; do for b in {1..60}; do for c in {1..60}; do ls; done; done; done".to_owned(),
        format!("awk '{}'", ")/".repeat(2000)),
        "x".repeat(200_000),
    ] {
        let begun = std::time::Instant::now();
        assert!(!yard.is_proven(&command), "{}", &command[..60]);
        yard.classify(&format!("ls {}", "*/".repeat(2000)));
        assert!(begun.elapsed() < std::time::Duration::from_secs(5), "{}", &command[..60]);
    }
}

/// A proven command with a few pieces of shell syntax put into it.
fn mutated() -> impl Strategy<Value = String> {
    let commands: Vec<String> = rows(EVERYDAY).map(|(_, command)| command).collect();
    let pieces = prop::sample::select(vec![
        ";", "&", "|", "&&", "$(", ")", "`", "'", "\"", "\\", "\n", ">", "<", "{", "}", "*", "~", "$", "#", " ", "rm",
        "old.txt", "-o", "-i", "--", "=", "w", "e", "\r", "\u{200b}",
    ]);
    let edits = prop::collection::vec((any::<prop::sample::Index>(), pieces, any::<bool>()), 1..4);
    (prop::sample::select(commands), edits).prop_map(|(command, edits)| {
        let mut chars: Vec<char> = command.chars().collect();
        for (index, piece, replaces) in edits {
            let at = index.index(chars.len() + 1);
            let end = (at + usize::from(replaces)).min(chars.len());
            chars.splice(at..end, piece.chars());
        }
        chars.into_iter().collect()
    })
}

proptest! {
    /// What the reader accepts, a real shell splits into the very same words.
    #[doc = "holds: law 1.1"]
    #[test]
    fn accepted_words_are_those_of_a_shell(command in "(echo|printf) [-a-z '\"~/=*$é;|.#!\\\\{,}]{0,24}") {
        let yard = Yard::new();
        if let Some(words) = arguments(&yard, &command) {
            prop_assert_eq!(words, of_shell(&yard, &command), "{}", command);
        }
    }

    #[test]
    fn any_text_gets_an_answer(text in "\\PC{0,80}", bytes: Vec<u8>) {
        let yard = Yard::new();
        yard.classify(&text);
        yard.classify(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn any_mutation_gets_an_answer(command in mutated()) {
        Yard::new().classify(&command);
    }

    /// A live character behind a proven command never makes it run something else.
    #[doc = "holds: law 1.1"]
    #[test]
    fn a_deletion_behind_a_proven_command_always_asks(
        command in prop::sample::select(
            // Behind a comment nothing runs.
            rows(EVERYDAY).map(|(_, command)| command).filter(|command| !command.contains(" #")).collect::<Vec<_>>()
        ),
        joint in prop::sample::select(vec!["; ", " && ", " || ", " | ", "\n", " & ", "; ! ", "; { ", " | xargs ", "; time "]),
    ) {
        let command = format!("{command}{joint}rm old.txt");
        prop_assert!(!Yard::new().is_proven(&command), "{}", command);
    }
}
