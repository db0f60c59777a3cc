//! Everyday requests without a language model; their answers are compared with those of shell commands.

use std::process::Stdio;

use crate::server::{Reply, Server};
use crate::world::{RunOutput, World, wait_for};

/// Asserts that a request gets this answer, verified by code, without a language model.
#[track_caller]
fn check(world: &World, words: &str, expected: &str) {
    let ran = world.run(&[words]);
    assert_eq!((ran.code, ran.stdout.trim_end()), (Some(0), expected), "{words}\n{}", ran.stderr);
    let support: Vec<&str> = ran.stderr.lines().collect();
    assert_eq!(
        (support.len(), support[0]),
        (2, "✓ Checked: artoo found the same in a second way. Nothing was changed.")
    );
    assert!(support[1].starts_with("  Read as: ") && support[1].contains("~/things"), "{}", support[1]);
}

/// Answers of the embedded parser equal the output of shell commands for the same question.
#[doc = "holds: law 0.16"]
#[test]
fn reflex_answers_equal_the_shells() {
    let world = World::new().with_things();
    let before = world.snapshot();
    let shell = |script: &str| world.shell(script);
    check(&world, "how many files are in ~/things", &shell("find things -type f | wc -l"));
    check(&world, "how many pdf files are in ~/things", &shell("find things -type f -iname '*.pdf' | wc -l"));
    check(
        &world,
        "list the text files in ~/things",
        &shell("find things -type f -name '*.txt' | sed \"s|^|$PWD/|\" | LC_ALL=C sort"),
    );
    check(
        &world,
        "total size of the files in ~/things",
        &shell("find things -type f -printf '%s\\n' | awk '{ sum += $1 } END { print sum }'"),
    );
    check(&world, "how many folders are in ~/things", &shell("find things -mindepth 1 -type d | wc -l"));
    check(&world, "how many lines does \"~/things/note 5.txt\" have", &shell("wc -l < 'things/note 5.txt'"));
    let largest = world.run(&["what is the largest file in ~/things"]);
    let expected = shell("find things -type f -printf '%s %p\\n' | sort -n | tail -n 1 | cut -d' ' -f2-");
    assert_eq!(largest.code, Some(0));
    assert!(largest.stdout.trim_end().ends_with(&expected), "{largest:?}");
    assert!(largest.stdout.starts_with("70001"), "{largest:?}");
    assert_eq!(world.snapshot(), before, "questions change nothing");
    world.check_kept();
    let doctor = world.run(&["doctor"]);
    assert_eq!(doctor.code, Some(0), "{doctor:?}");
    assert!(doctor.stdout.contains("complete and unaltered"), "{doctor:?}");
}

/// Requests that the embedded parser can't read are declined with the unknown word, and nothing changes.
#[test]
fn unparsed_requests_are_declined() {
    let world = World::new().with_things();
    let before = world.snapshot();
    for (words, named) in [
        ("translate ~/things/empty.md into french", "translate"),
        ("make me a sandwich", "sandwich"),
        ("lösche alle PDF-Dateien", "alle"),
    ] {
        let ran = world.run(&[words]);
        assert_eq!(ran.code, Some(5), "{words}: {ran:?}");
        assert!(ran.stdout.is_empty() && ran.stderr.starts_with("✗ "), "{words}: {ran:?}");
        let is_named = ran.stderr.to_lowercase().contains(named);
        assert!(is_named, "{words}: {ran:?}");
        assert!(ran.stderr.contains("artoo setup"), "how to set up a model is told: {ran:?}");
    }
    assert_eq!(world.snapshot(), before);
    world.check_kept();
}

/// A change that needs approval is denied if no user can be asked, with what to do about it.
#[doc = "holds: design D10"]
#[test]
fn unattended_change_is_denied_with_remedy() {
    let world = World::new().with_things();
    let before = world.snapshot();
    let ran = world.run(&["delete the pdf files in ~/things"]);
    assert_eq!(ran.code, Some(6), "{ran:?}");
    assert!(ran.stdout.is_empty(), "{ran:?}");
    assert!(
        ran.stderr.starts_with("✗ This needs your approval, which was not given. Nothing was changed.\n"),
        "{ran:?}"
    );
    assert!(ran.stderr.contains("Run it in a terminal"), "{ran:?}");
    assert_eq!(world.snapshot(), before);
}

#[doc = "holds: principle 2"]
#[test]
fn memory_persists_between_runs() {
    let world = World::new().with_things();
    let journal = world.data_dir().join("memory.journal");
    let size = || std::fs::metadata(&journal).unwrap().len();
    check(&world, "how many files are in ~/things", "13");
    let after_one = size();
    assert!(after_one > 0);
    let first = std::fs::read(&journal).unwrap();
    check(&world, "how many files are in ~/things", "13");
    assert!(size() > after_one, "the second run wrote what it learnt");
    assert!(std::fs::read(&journal).unwrap().starts_with(&first), "and lost nothing of the first");
    let doctor = world.run(&["doctor", "--json"]);
    let value: serde_json::Value = serde_json::from_str(&doctor.stdout).unwrap();
    assert_eq!(value["ok"], true, "{value}");
}

/// Several successes of one kind become a rule of memory, and the next run recalls it for its plan.
#[doc = "holds: principle 2"]
#[test]
fn repeated_success_becomes_a_recalled_rule() {
    let world = World::new().with_things();
    let journal =
        || String::from_utf8_lossy(&std::fs::read(world.data_dir().join("memory.journal")).unwrap()).into_owned();
    let runs_until = |kind: &str| {
        (1..=12).find(|_| {
            check(&world, "how many files are in ~/things", "13");
            journal().contains(kind)
        })
    };
    let ruled = runs_until(r#""kind":"promoted""#).expect("no rule after a dozen accepts");
    assert!(ruled > 2, "a rule needs several tasks, this one came after {ruled}");
    let rule = r#"glob worked for tasks such as \"count the files in the folder "#;
    assert!(journal().contains(rule), "{}", journal());
    assert_eq!(runs_until(r#""kind":"recalled""#), Some(1), "the next plan asks and is told");
}

/// A damaged memory file is repaired at the next start, and the user is told.
#[doc = "holds: design S8"]
#[test]
fn damaged_memory_is_repaired_and_reported() {
    let world = World::new().with_things();
    let journal = world.data_dir().join("memory.journal");
    for _ in 0..3 {
        check(&world, "how many files are in ~/things", "13");
    }
    let mut bytes = std::fs::read(&journal).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 8].copy_from_slice(b"scribble");
    std::fs::write(&journal, &bytes).unwrap();
    let ran = world.run(&["how many files are in ~/things"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "13\n"), "{ran:?}");
    assert!(ran.stderr.contains("note: memory: its journal was damaged in 1 place(s)"), "{ran:?}");
    let aside: Vec<Vec<u8>> = std::fs::read_dir(world.data_dir())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("memory.journal."))
        .map(|path| std::fs::read(path).unwrap())
        .collect();
    assert!(aside.iter().any(|kept| kept.windows(8).any(|bytes| bytes == b"scribble")), "what was cut is not lost");
    let again = world.run(&["how many files are in ~/things"]);
    assert!(!again.stderr.contains("damaged"), "{again:?}");
}

/// A second artoo process in the same data folder reports that another one uses the memory; it answers, and what it
/// learned is added later.
#[doc = "holds: law 3.4; design S6"]
#[test]
fn second_process_reports_unavailable_stores() {
    let world = World::new().with_things();
    let server = Server::start(|_| Reply::Silence);
    let mut first = world.with_model(&server, &["how many files are in ~/things"]).spawn().unwrap();
    wait_for("the first artoo's question", || !server.asked().is_empty());
    let second = world.run(&["how many files are in ~/things"]);
    assert_eq!((second.code, second.stdout.as_str()), (Some(0), "13\n"), "{second:?}");
    assert!(second.stderr.contains("note: memory: another artoo is using it"), "{second:?}");
    first.kill().unwrap();
    first.wait().unwrap();
    let third = world.run(&["how many files are in ~/things"]);
    assert_eq!(third.code, Some(0), "{third:?}");
    assert!(!third.stderr.contains("another artoo"), "the lock died with its holder: {third:?}");
    let journal = std::fs::read(world.data_dir().join("memory.journal")).unwrap();
    let learnt = String::from_utf8_lossy(&journal).matches(r#""kind":"written""#).count();
    assert_eq!(learnt, 4, "two records of the second's task were taken in, two are of the third's");
    let inbox = std::fs::read_dir(world.data_dir().join("memory.inbox")).unwrap();
    assert_eq!(inbox.count(), 0, "and nothing is left to take in");
    world.check_kept();
}

/// A request gives the same answer in quotes, without quotes, and after `run --`.
#[test]
fn quoted_and_unquoted_requests_are_equal() {
    let world = World::new().with_things();
    for arguments in [
        &["how", "many", "files", "are", "in", "~/things"][..],
        &["run", "--", "how many files are in ~/things"],
        &["--model", "reflex", "how many files are in ~/things"],
        &["how many files are in ~/things", "--deadline", "1m"],
    ] {
        let ran = world.run(arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "13\n"), "{arguments:?}: {ran:?}");
    }
    let task = world.run(&["run", "--", "doctor"]);
    assert_eq!(task.code, Some(5), "a task, and not one that reflex knows: {task:?}");
    for arguments in
        [&[][..], &[""], &["   "], &["run", "the", "tests"], &["--fast", "count"], &["--deadline", "5", "x"]]
    {
        let ran = world.run(arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{arguments:?}: {ran:?}");
        assert!(!ran.stderr.is_empty());
    }
    for arguments in [&["--help"][..], &["--version"], &["count", "--help"]] {
        let ran = world.run(arguments);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{arguments:?}: {ran:?}");
    }
}

#[doc = "holds: design F5"]
#[test]
fn invalid_home_folder_is_refused() {
    let world = World::new();
    let check = |home: Option<&str>, arguments: &[&str], code: i32, words: &str| {
        let mut command = world.command(arguments);
        match home {
            Some(home) => command.env("HOME", home),
            None => command.env_remove("HOME"),
        };
        let ran = RunOutput::of(command.stdin(Stdio::null()).output().unwrap());
        assert_eq!(ran.code, Some(code), "{home:?}: {ran:?}");
        assert!(format!("{}{}", ran.stdout, ran.stderr).contains(words), "{home:?}: {ran:?}");
    };
    check(None, &["count files"], 2, "HOME is not set");
    check(Some(""), &["count files"], 2, "HOME is not set");
    check(Some("here"), &["count files"], 2, "HOME is not set");
    check(Some("/"), &["count files"], 2, "HOME is /");
    check(None, &["doctor"], 2, "HOME is not set");
    let missing = world.home().join("gone/away");
    check(Some(missing.to_str().unwrap()), &["doctor"], 2, "is no folder");
    // A workspace that is a link is the user's own doing, and said.
    world.file("elsewhere/x", "");
    std::os::unix::fs::symlink(world.home().join("elsewhere"), world.workspace()).unwrap();
    let doctor = world.run(&["doctor"]);
    assert!(doctor.stdout.contains("warn workspace: ") && doctor.stdout.contains("elsewhere"), "{doctor:?}");
    assert_eq!(doctor.code, Some(0));
}

/// A changed line of the audit log is reported by `artoo audit` and `artoo doctor`.
#[test]
fn a_damaged_audit_log_is_seen() {
    let world = World::new().with_things();
    check(&world, "how many files are in ~/things", "13");
    let log = world.data_dir().join("audit.jsonl");
    let sound = world.run(&["audit"]);
    assert_eq!(sound.code, Some(0), "{sound:?}");
    assert!(sound.stdout.contains("1 task; no anomalies"), "{sound:?}");
    let edited = std::fs::read_to_string(&log).unwrap().replacen("how many files", "how many fails", 1);
    std::fs::write(&log, edited).unwrap();
    let damaged = world.run(&["audit", "--json"]);
    assert_eq!(damaged.code, Some(1), "{damaged:?}");
    let value: serde_json::Value = serde_json::from_str(&damaged.stdout).unwrap();
    assert_eq!((&value["schema"], &value["sound"]), (&"artoo.audit/0".into(), &false.into()), "{value}");
    let doctor = world.run(&["doctor"]);
    assert_eq!(doctor.code, Some(2), "{doctor:?}");
    assert!(doctor.stdout.contains("FAIL audit log"), "{doctor:?}");
}

#[test]
fn missing_file_answer_names_similar_files() {
    let world = World::new();
    world.file("Documents/Work/contract.txt", "one two\n");
    for request in [
        "show Documents/contract.txt",
        "how many lines has ~/Documents/contract.txt",
        "show the first 3 lines of Documents/contract.txt",
    ] {
        let ran = world.run(&[request]);
        assert!(matches!(ran.code, Some(5 | 9)), "{request}: {ran:?}");
        for part in ["here is no ", "Documents/contract.txt", "there is ", "Documents/Work/contract.txt"] {
            assert!(ran.stderr.contains(part), "{request}: {part} in {ran:?}");
        }
        assert!(!ran.stderr.contains("os error") && !ran.stderr.contains("second computation"), "{ran:?}");
    }
    let ran = world.run(&["show Documents/Work/contract.txt"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "one two\n"), "{ran:?}");
}

#[test]
fn writing_needs_a_language_model() {
    let world = World::new().with_note();
    for request in ["write a short summary of ~/note.txt", "summarise note.txt", "write a poem about the sea"] {
        let ran = world.run(&[request]);
        assert!(ran.code == Some(5) && ran.stderr.contains(" needs a language model."), "{ran:?}");
        assert!(ran.stderr.contains("artoo setup") && !ran.stderr.contains("know the word"), "{ran:?}");
    }
}
