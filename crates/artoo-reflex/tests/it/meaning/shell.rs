//! Tests that the command pipelines for queries, run as real programs, print what `eval` computes.

use std::io::Read as _;
use std::process::{Command, Stdio};

use proptest::prelude::*;

use super::queries::{of_files, of_text, rooted};
use super::trees::{self, Twin, has_doubtful_names, twin};
use artoo_proto::{Timestamp, pipeline::command};
use artoo_reflex::algebra::{Fact, Function, Query};
use artoo_reflex::eval::{Answer, EvalError, Verification, evaluate, verify};
use artoo_reflex::lower::Unsupported;
use artoo_reflex::testing::{MemoryFileSystem, programs};

/// Runs a pipeline in the environment of the shell tool: its output, as the tool shows it, and whether each program
/// succeeded.
pub(super) fn run_all(pipeline: &[Vec<String>]) -> (String, bool) {
    let (mut errors, errors_of_all) = std::io::pipe().unwrap();
    let (mut output, mut children) = (None, Vec::new());
    for words in pipeline {
        let mut child = Command::new(&words[0])
            .args(&words[1..])
            .env_clear()
            .envs([("PATH", "/usr/bin:/bin:/usr/sbin:/sbin"), ("LC_ALL", "C.UTF-8"), ("TZ", "UTC0"), ("HOME", "/")])
            .stdin(output.take().map_or_else(Stdio::null, Stdio::from))
            .stdout(Stdio::piped())
            .stderr(errors_of_all.try_clone().unwrap())
            .spawn()
            .unwrap();
        output = child.stdout.take();
        children.push(child);
    }
    drop(errors_of_all);
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    output.unwrap().read_to_end(&mut stdout).unwrap();
    errors.read_to_end(&mut stderr).unwrap();
    let statuses: Vec<_> = children.iter_mut().map(|child| child.wait().unwrap()).collect();
    let mut text = String::from_utf8_lossy(&stdout).into_owned();
    if std::str::from_utf8(&stdout).is_err() {
        let bad: usize = stdout.utf8_chunks().map(|chunk| chunk.invalid().len()).sum();
        text.push_str(&format!("\n[not text: {bad} bytes are not UTF-8 and shown as \u{fffd}]"));
    }
    if !stderr.is_empty() {
        text.push_str("[stderr]\n");
        text.push_str(&String::from_utf8_lossy(&stderr));
    }
    (text, statuses.iter().all(|status| status.success()))
}

/// The output of a pipeline, as the shell tool shows it.
pub(in super::super) fn run(pipeline: &[Vec<String>]) -> String {
    run_all(pipeline).0
}

/// Runs the command pipeline for a query and verifies its output; `None` if the query is not supported.
fn answer(query: &Query, twin: &Twin) -> Option<(String, Verification)> {
    let pipeline = programs(query, "linux").ok()?;
    let output = run(&pipeline);
    let value = serde_json::to_value(query).unwrap();
    Some((format!("{}\n{output}", command(&pipeline)), verify(&value, &output, &twin.memory)))
}

/// Whether a query asks for the largest or smallest size and `eval` answers 0, as it does for no files; the programs
/// print nothing then.
fn is_of_none(query: &Query, twin: &Twin) -> bool {
    let extreme = |function: &Function| matches!(function, Function::LargestBytes | Function::SmallestBytes);
    matches!(query, Query::Aggregate { function, .. } if extreme(function))
        && evaluate(query, &twin.memory) == Ok(Answer::Number(0))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 160, ..ProptestConfig::default() })]

    /// With names that are unambiguous in plain text, the shell's answer always passes.
    #[test]
    fn lowered_file_queries_agree_with_eval(query in of_files(), things in trees::plain()) {
        let twin = twin(&things);
        let query = rooted(&query, &twin.root);
        if let Some((ran, found)) = answer(&query, &twin) {
            prop_assert!(found.pass || is_of_none(&query, &twin), "{}\n{query:?}\n{ran}", found.evidence);
        }
    }

    /// With hostile names, the shell's answer fails only if a name is ambiguous in plain text.
    #[test]
    fn ambiguous_file_names_fail_the_check(query in of_files(), things in trees::hostile()) {
        let twin = twin(&things);
        let query = rooted(&query, &twin.root);
        if let Some((ran, found)) = answer(&query, &twin) {
            let may_fail = has_doubtful_names(&twin) || is_of_none(&query, &twin);
            prop_assert!(found.pass || may_fail, "{}\n{query:?}\n{ran}", found.evidence);
            prop_assert!(!std::path::Path::new(&twin.root).join("pwned").exists());
        }
    }

    #[test]
    fn lowered_text_queries_agree_with_eval(
        query in of_text(),
        things in trees::plain(),
        first in trees::text(),
        second in trees::text(),
    ) {
        let mut things = things;
        things.push((vec![b"first.txt".to_vec()], Some(first), 1_700_000_000_000));
        things.push((vec![b"second.txt".to_vec()], Some(second), 1_700_000_000_000));
        let twin = twin(&things);
        let query = rooted(&query, &twin.root);
        if let Some((ran, found)) = answer(&query, &twin) {
            let unknown = |known| matches!(known, Err(EvalError::NoNumber | EvalError::NoSecondSource(_)));
            let no_number = unknown(evaluate(&query, &twin.memory));
            prop_assert!(found.pass || no_number, "{}\n{query:?}\n{ran}", found.evidence);
        }
    }
}

#[test]
fn unsupported_queries_name_a_reason() {
    let root = || Query::Tree {
        roots: vec!["/r".to_owned(), "/r/inner".to_owned()],
        depth: artoo_reflex::algebra::Depth::Whole,
        hidden: true,
        kind: artoo_reflex::algebra::Kind::File,
    };
    assert!(matches!(programs(&root(), "linux"), Err(Unsupported::Arrangement(_))));
    assert!(matches!(programs(&root(), "plan9"), Err(Unsupported::System(_))));
}

/// Pipelines run without a shell, so the output of shell builtins must come from a program.
#[test]
fn limits_and_umask_are_printed_by_programs() {
    let line = |path: &str, key: &str| {
        let text = std::fs::read_to_string(path).unwrap();
        text.lines().find_map(|line| line.strip_prefix(key)).unwrap().split_whitespace().next().unwrap().to_owned()
    };
    for (fact, path, key) in
        [(Fact::OpenFilesLimit, "/proc/self/limits", "Max open files"), (Fact::Umask, "/proc/self/status", "Umask:")]
    {
        let output = run(&programs(&Query::System { fact }, "linux").unwrap());
        assert_eq!(output.trim_end(), line(path, key));
    }
    // artoo limits the number of processes of the programs that it runs.
    let limit = programs(&Query::System { fact: Fact::ProcessLimit }, "linux");
    assert!(matches!(limit, Err(Unsupported::Sandboxed("limit of user processes"))));
}

/// The scripts of these facts read the tables of this machine's kernel, as they do for a user.
#[test]
fn network_scripts_agree_with_eval() {
    let mut machine = MemoryFileSystem::default();
    for table in ["route", "fib_trie", "tcp", "tcp6"].map(|name| format!("/proc/net/{name}")) {
        machine.add_file(&table, std::fs::read(&table).unwrap_or_default(), Timestamp::default());
    }
    for fact in [Fact::Addresses, Fact::Ports, Fact::Gateway, Fact::Routes] {
        let query = Query::System { fact };
        let output = run(&programs(&query, "linux").unwrap());
        let found = verify(&serde_json::to_value(&query).unwrap(), &output, &machine);
        assert!(found.pass, "{query:?}: {output:?} {}", found.evidence);
    }
}
