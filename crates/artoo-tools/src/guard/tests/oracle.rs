//! A second, simpler oracle: proven commands are run for real in a scratch home, and nothing in it may change.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use artoo_proto::EffectClass;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::{EVERYDAY, Proof, Yard, rows};
use crate::fence::{Fence, Sight};
use crate::process;

/// Time for one command; those that wait for something are ended.
const TIME: Duration = Duration::from_secs(5);

/// Every path below with its kind, mode and content.
fn snapshot(home: &Path) -> BTreeMap<PathBuf, String> {
    use std::os::unix::fs::MetadataExt;
    let mut seen = BTreeMap::new();
    let mut folders = vec![home.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap().flatten() {
            let (path, found) = (entry.path(), entry.metadata().unwrap());
            let content = if found.is_file() { fs::read(&path).unwrap_or_default() } else { Vec::new() };
            seen.insert(path.clone(), format!("{} {content:?}", found.mode()));
            if found.is_dir() {
                folders.push(path);
            }
        }
    }
    seen
}

/// Runs a proven command as the shell tool would.
fn run(yard: &Yard, proven: &crate::guard::Proven) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let environment = process::environment(&yard.config);
    // A program that is not installed is a run without effects.
    // Nothing holds it back here: what is tried is the proof, not the fence.
    let open = Fence {
        writable: vec!["/".into()],
        reach: crate::fence::Reach { network: true, ..Default::default() },
        ..Fence::default()
    };
    let sight = Arc::new(Sight::new(&yard.protected));
    let order = proven.invocation.clone().order(&yard.config, &sight, &environment, open);
    let _ = runtime.block_on(process::run(&yard.config, order, TIME));
}

/// What a run left behind must be what was proven; the difference where it is not.
fn difference(yard: &Yard, command: &str) -> Option<String> {
    let Proof::Proven(proven) = yard.classify(command) else { return None };
    let before = snapshot(&yard.home);
    run(yard, &proven);
    let after = snapshot(&yard.home);
    let added_to = |path: &Path| path.starts_with(&yard.config.environment.workspace);
    let changed = before.iter().find(|(path, facts)| after.get(*path) != Some(*facts));
    let added = after
        .keys()
        .find(|path| !before.contains_key(*path) && (proven.class == EffectClass::ReadOnly || !added_to(path)));
    changed.map(|(path, _)| path).or(added).map(|path| format!("{command:?} touched {}", path.display()))
}

#[doc = "holds: law 1.1"]
#[test]
fn everyday_commands_change_nothing_when_they_are_run() {
    // Those look at the whole machine, or make a branch in a repository that is not there.
    let is_slow = |command: &str| {
        ["man ls", "top ", "vmstat", "journalctl", "apt", "sleep", "docker"].iter().any(|name| command.contains(name))
    };
    for (_, command) in rows(EVERYDAY).filter(|(_, command)| !is_slow(command)) {
        let yard = Yard::new();
        assert_eq!(difference(&yard, &command), None);
    }
}

#[doc = "holds: law 1"]
#[test]
fn proven_mutations_change_nothing_when_they_are_run() {
    let commands: Vec<String> = rows(EVERYDAY).map(|(_, command)| command).collect();
    let files = ["sort", "uniq", "sed", "awk", "cat", "grep", "tee", "cp", "find", "tar", "xxd", "cut", "tr"];
    let commands: Vec<String> =
        commands.into_iter().filter(|command| files.iter().any(|name| command.starts_with(name))).collect();
    let pieces = prop::sample::select(vec![
        " old.txt",
        " other.txt",
        " -o",
        " -i",
        " -n",
        " w",
        ";w x",
        " > ",
        ">>",
        " | ",
        " tee ",
        "'",
        "\"",
        " -",
        "e",
        "$x",
        "*",
        " ~/artoo_workspace/old.txt",
        " --",
        "=",
        " -exec ",
        " {} ",
        " + ",
        "\\;",
        " -delete",
        "&",
        "\n",
    ]);
    let edits = prop::collection::vec((any::<prop::sample::Index>(), pieces), 1..4);
    let mut runner = TestRunner::new(Config { cases: 256, failure_persistence: None, ..Config::default() });
    let yard = Yard::new();
    let outcome = runner.run(&(prop::sample::select(commands), edits), |(command, edits)| {
        let mut chars: Vec<char> = command.chars().collect();
        for (index, piece) in edits {
            let at = index.index(chars.len() + 1);
            chars.splice(at..at, piece.chars());
        }
        let command: String = chars.into_iter().collect();
        prop_assert_eq!(difference(&yard, &command), None);
        Ok(())
    });
    outcome.unwrap();
}
