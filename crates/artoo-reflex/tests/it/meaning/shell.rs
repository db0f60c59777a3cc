//! Lowered commands in a real shell, their output held against `eval`.

use std::process::Command;

use proptest::prelude::*;

use super::queries::{of_files, of_text, rooted};
use super::trees::{self, Twin, has_doubtful_names, twin};
use artoo_reflex::algebra::{Function, Query};
use artoo_reflex::eval::{Answer, EvalError, Verification, evaluate, verify};
use artoo_reflex::lower::Unsupported;
use artoo_reflex::testing::command_line;

/// What a real shell makes of a command, as the shell tool shows it.
pub(super) fn run(command: &str) -> String {
    let ran = Command::new("sh")
        .arg("-c")
        .arg(command)
        .env_clear()
        .envs([("PATH", "/usr/bin:/bin:/usr/sbin:/sbin"), ("LC_ALL", "C.UTF-8"), ("TZ", "UTC0"), ("HOME", "/")])
        .output()
        .unwrap();
    let mut text = String::from_utf8_lossy(&ran.stdout).into_owned();
    if std::str::from_utf8(&ran.stdout).is_err() {
        let bad: usize = ran.stdout.utf8_chunks().map(|chunk| chunk.invalid().len()).sum();
        text.push_str(&format!("\n[not text: {bad} bytes are not UTF-8 and shown as \u{fffd}]"));
    }
    if !ran.stderr.is_empty() {
        text.push_str("[stderr]\n");
        text.push_str(&String::from_utf8_lossy(&ran.stderr));
    }
    text
}

/// Runs the lowered command; `None` where there is none.
fn answer(query: &Query, twin: &Twin) -> Option<(String, Verification)> {
    let command = command_line(query, "linux").ok()?;
    let output = run(&command);
    let value = serde_json::to_value(query).unwrap();
    Some((format!("{command}\n{output}"), verify(&value, &output, &twin.memory)))
}

/// The largest and smallest of nothing are 0 in the algebra; the shell says nothing, and is not believed.
fn is_of_none(query: &Query, twin: &Twin) -> bool {
    let extreme = |function: &Function| matches!(function, Function::LargestBytes | Function::SmallestBytes);
    matches!(query, Query::Aggregate { function, .. } if extreme(function))
        && evaluate(query, &twin.memory) == Ok(Answer::Number(0))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 160, ..ProptestConfig::default() })]

    /// On names that plain text can tell apart, the shell's answer always passes.
    #[test]
    fn a_lowered_question_about_files_answers_as_eval_does(query in of_files(), things in trees::plain()) {
        let twin = twin(&things);
        let query = rooted(&query, &twin.root);
        if let Some((ran, found)) = answer(&query, &twin) {
            prop_assert!(found.pass || is_of_none(&query, &twin), "{}\n{query:?}\n{ran}", found.evidence);
        }
    }

    /// Whatever is in a name, no wrong list passes: what passes is the same as without the hostile names in doubt.
    #[test]
    fn hostile_names_pass_only_where_they_can_be_told_apart(query in of_files(), things in trees::hostile()) {
        let twin = twin(&things);
        let query = rooted(&query, &twin.root);
        if let Some((ran, found)) = answer(&query, &twin) {
            let may_fail = has_doubtful_names(&twin) || is_of_none(&query, &twin);
            prop_assert!(found.pass || may_fail, "{}\n{query:?}\n{ran}", found.evidence);
            prop_assert!(!std::path::Path::new(&twin.root).join("pwned").exists());
        }
    }

    #[test]
    fn a_lowered_question_about_text_answers_as_eval_does(
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
fn what_is_refused_says_why() {
    let root = || Query::Tree {
        roots: vec!["/r".to_owned(), "/r/inner".to_owned()],
        depth: artoo_reflex::algebra::Depth::Whole,
        hidden: true,
        kind: artoo_reflex::algebra::Kind::File,
    };
    assert!(matches!(command_line(&root(), "linux"), Err(Unsupported::Arrangement(_))));
    assert!(matches!(command_line(&root(), "plan9"), Err(Unsupported::System(_))));
}
