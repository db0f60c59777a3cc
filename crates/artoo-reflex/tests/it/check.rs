//! Tests of `verify`: right outputs pass and wrong ones fail, also on random trees of files.

use std::path::PathBuf;

use artoo_proto::Timestamp;
use proptest::prelude::*;
use serde_json::json;

use super::{read, round_trip, tool};
use artoo_reflex::algebra::{Query, Ty};
use artoo_reflex::eval::{Answer, EvalError, evaluate, verify};
use artoo_reflex::lower::lower;
use artoo_reflex::testing::MemoryFileSystem;

/// The timestamp a number of seconds after 1970.
fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(seconds * 1000)
}

/// A folder with difficult file names and texts.
fn tree() -> MemoryFileSystem {
    let mut fs = MemoryFileSystem::new("/home/ada/x");
    let files: [(&str, &str, i64); 14] = [
        ("a.pdf", "hello", 1_700_000_000),
        ("B.PDF", "hello world\n", 1_700_000_100),
        ("sub/c.txt", "one\ntwo\nthree", 1_700_000_200),
        ("sub/deep/d.txt", "TODO one\ntodo two\n\n", 1_700_000_300),
        ("sub/.hidden.txt", "secret TODO", 1_700_000_400),
        (".git/config", "[core]", 1_700_000_500),
        ("empty", "", 1_700_000_600),
        ("a\nb.txt", "line\r\nfeed", 1_700_000_700),
        ("tab\there.txt", "x", 1_700_000_800),
        ("back\\slash.txt", "xx", 1_700_000_900),
        ("bidi\u{202e}fdp.exe", "xxx", 1_700_001_000),
        ("-rf", "xxxx", 1_700_001_100),
        ("[a]*?{b}.txt", "xxxxx", 1_700_001_200),
        ("$(touch pwned).txt", "xxxxxx", 1_700_001_300),
    ];
    for (name, content, modified) in files {
        fs.add_file(format!("/home/ada/x/{name}"), content, at(modified));
    }
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt as _;
        let name = std::ffi::OsStr::from_bytes(b"/home/ada/x/not\xffutf8.txt");
        fs.add_file(name, "yyyyyyy", at(1_700_001_400));
    }
    fs
}

/// The query of a request that asks one question.
fn question(request: &str) -> Query {
    let parsed = read(request).unwrap_or_else(|refusal| panic!("{request}: {refusal:?}"));
    parsed.query().unwrap_or_else(|| panic!("{request} is no question")).clone()
}

/// Asserts whether the expected output for a request, changed by `forge`, passes verification.
fn check(request: &str, forge: impl Fn(&str) -> String, passes: bool) {
    let query = question(request);
    let output = tool::run(&lower(&query, "linux").unwrap(), &tree()).unwrap();
    let query = serde_json::to_value(&query).unwrap();
    let found = verify(&query, &forge(&output), &tree());
    assert_eq!(found.pass, passes, "{request}: {} on {:?} (the tool said {output:?})", found.evidence, forge(&output));
}

const REQUESTS: [&str; 18] = [
    "how many files are in ~/x",
    "how many files are in ~/x including hidden files",
    "list the files in ~/x",
    "list PDFs in ~/x",
    "list everything directly in ~/x",
    "folders in ~/x",
    "files in ~/x with '*' in the name",
    "files in ~/x matching '*.t?t'",
    "files in ~/x except txt files",
    "which files in ~/x contain TODO",
    "total size of ~/x",
    "the 3 largest files in ~/x",
    "list files in ~/x by name",
    "oldest file in ~/x",
    "show ~/x/sub/c.txt",
    "last 2 lines of ~/x/sub/c.txt",
    "how many lines in ~/x/sub/deep/d.txt contain todo ignoring case",
    "first 3 lines of ~/x/sub/deep/d.txt",
];

#[test]
fn tool_answers_pass() {
    for request in REQUESTS {
        check(request, str::to_owned, true);
        check(request, |output| output.strip_suffix('\n').unwrap_or(output).to_owned(), true);
    }
}

#[test]
fn expected_answers_are_computed() {
    let value = |request: &str| tool::run(&lower(&question(request), "linux").unwrap(), &tree()).unwrap();
    assert_eq!(value("how many files are in ~/x"), "15");
    assert_eq!(value("how many PDFs in ~/x"), "2");
    assert_eq!(value("list PDFs in ~/x"), "/home/ada/x/B.PDF\n/home/ada/x/a.pdf\n");
    let with_todo = "/home/ada/x/sub/.hidden.txt\n/home/ada/x/sub/deep/d.txt\n";
    assert_eq!(value("which files in ~/x contain TODO"), with_todo);
    assert_eq!(value("how many lines in ~/x/sub/c.txt"), "3");
    assert_eq!(value("how many lines in ~/x/sub/deep/d.txt contain todo ignoring case"), "2");
    assert_eq!(value("files in ~/x with '*' in the name"), "/home/ada/x/[a]*?{b}.txt\n");
    assert_eq!(value("list files in ~/x named '$(touch pwned).txt'"), "/home/ada/x/$(touch pwned).txt\n");
}

#[doc = "holds: law 0.16"]
#[test]
fn wrong_numbers_fail() {
    for request in ["how many files are in ~/x", "total size of ~/x", "how many lines in ~/x/sub/c.txt"] {
        let off_by = |delta: i64| move |output: &str| (output.parse::<i64>().unwrap() + delta).to_string();
        check(request, off_by(1), false);
        check(request, off_by(-1), false);
        for wrong in ["", "0", "many", "3 files", "-3", "0x3", "3.0", "99999999999999999999999"] {
            check(request, |_| wrong.to_owned(), false);
        }
    }
}

#[doc = "holds: law 0.16"]
#[test]
fn wrong_lists_fail() {
    for request in
        ["list the files in ~/x", "list files in ~/x by name", "the 3 largest files in ~/x", "folders in ~/x"]
    {
        check(request, |_| String::new(), false);
        check(request, |output| output.lines().skip(1).map(|line| format!("{line}\n")).collect(), false);
        check(request, |output| format!("{output}/home/ada/x/forged.txt\n"), false);
        check(request, |output| format!("{output}{}\n", output.lines().next().unwrap()), false);
        let first_for_last = |output: &str| {
            let mut lines: Vec<&str> = output.lines().collect();
            *lines.last_mut().unwrap() = lines[0];
            lines.join("\n")
        };
        check(request, first_for_last, false);
        check(request, |output| format!("{output}/home/ada/x/sub/.hidden.txt\n"), false);
        check(request, |output| format!("{output}/etc/passwd\n"), false);
        check(request, |output| format!("{output}\0\n"), false);
        check(request, |output| output.replace("/home/ada/x/", "/home/ada/y/"), false);
    }
    let reversed = |output: &str| output.lines().rev().map(|line| format!("{line}\n")).collect();
    check("list files in ~/x by name", reversed, false);
    check("the 3 largest files in ~/x", reversed, false);
    check("list the files in ~/x", reversed, true);
}

#[doc = "holds: law 0.16"]
#[test]
fn limited_list_omits_nothing_better() {
    check("the 3 largest files in ~/x", |output| output.replace("B.PDF", "empty"), false);
    check("the largest file in ~/x", |_| format!("5\t{}\t/home/ada/x/a.pdf\n", at(1_700_000_000)), false);
    check("the 3 largest files in ~/x", |output| output.replacen("13\t", "14\t", 1), false);
    check("the 3 largest files in ~/x", |output| output.replacen("2023-11", "2022-11", 1), false);
    check("the 3 largest files in ~/x", |output| output.replace('\t', " "), false);
}

#[test]
fn wrong_text_fails() {
    for request in ["show ~/x/sub/c.txt", "last 2 lines of ~/x/sub/c.txt"] {
        for wrong in
            ["", "one", "three\ntwo", "one\ntwo\nthree\nfour", "two \nthree", "\ntwo\nthree", "one\n\ntwo\nthree"]
        {
            check(request, |_| wrong.to_owned(), false);
        }
    }
    check("first 3 lines of ~/x/sub/deep/d.txt", |_| "TODO one\ntodo two".to_owned(), true);
    check("first 3 lines of ~/x/sub/deep/d.txt", |_| "TODO one\n\ntodo two".to_owned(), false);
}

#[test]
fn binary_content_is_compared_as_shown() {
    let mut fs = MemoryFileSystem::new("/r");
    fs.add_file("/r/a.bin", b"one\xfftwo\nthree".to_vec(), at(0));
    let query = serde_json::to_value(question("show /r/a.bin")).unwrap();
    let shown = "one\u{fffd}two\nthree";
    for (output, passes) in [
        (shown.to_owned(), true),
        (format!("{shown}\n[not text: 1 bytes are not UTF-8 and shown as \u{fffd}]"), true),
        (format!("{shown}\n[not text: 1]\nforged"), false),
        (format!("{shown}\nforged"), false),
    ] {
        assert_eq!(verify(&query, &output, &fs).pass, passes, "{output:?}");
    }
}

#[test]
fn unreadable_input_is_not_verified() {
    let query = |request: &str| serde_json::to_value(question(request)).unwrap();
    for request in ["how many files are in ~/nowhere", "how many files in ~/x/a.pdf/", "how many lines in ~/x/none.txt"]
    {
        assert!(!verify(&query(request), "0", &tree()).pass, "{request}");
    }
    for nonsense in [json!(null), json!({}), json!({"op": "delete"}), json!({"op": "aggregate", "of": {"op": "tree"}})]
    {
        assert!(!verify(&nonsense, "0", &tree()).pass);
    }
    let sum_of_lines =
        json!({"op": "aggregate", "function": "total_bytes", "of": {"op": "text_file", "path": "/home/ada/x/a.pdf"}});
    assert!(!verify(&sum_of_lines, "1", &tree()).pass);
}

#[test]
fn evidence_shows_no_control_characters() {
    let query = serde_json::to_value(question("list the files in ~/x")).unwrap();
    for output in ["/home/ada/x/\u{1b}[2J", "", "/home/ada/x/a.pdf"] {
        let evidence = verify(&query, output, &tree()).evidence;
        assert!(!evidence.chars().any(char::is_control), "{evidence:?}");
    }
}

#[test]
fn bounds_are_inclusive_or_exclusive() {
    let mut fs = MemoryFileSystem::new("/r");
    fs.add_file("/r/ten", "0123456789", at(1_700_000_000));
    let count = |request: &str| match evaluate(&question(request), &fs) {
        Ok(Answer::Number(number)) => number,
        other => panic!("{request}: {other:?}"),
    };
    for (condition, expected) in [
        ("larger than 10 bytes", 0),
        ("larger than 9 bytes", 1),
        ("smaller than 10 bytes", 0),
        ("smaller than 11 bytes", 1),
        ("of at least 10 bytes", 1),
        ("of at most 10 bytes", 1),
        ("of exactly 10 bytes", 1),
        ("modified before 2023-11-14T22:13:20Z", 0),
        ("modified before 2023-11-14T22:13:21Z", 1),
        ("modified since 2023-11-14T22:13:20Z", 1),
        ("modified since 2023-11-14T22:13:21Z", 0),
    ] {
        assert_eq!(count(&format!("how many files in /r are {condition}")), expected, "{condition}");
    }
}

/// A random file system in memory with difficult file names and texts.
fn random_tree() -> impl Strategy<Value = MemoryFileSystem> {
    let name = prop_oneof![
        "[a-c]{1,2}",
        "[a-c]{1,2}\\.(pdf|PDF|txt|jpg|rs|tar\\.gz)",
        "\\.[a-c]{1,2}",
        "[a-zA-Z0-9 _.'*?\\[\\]{}\\\\\n\t\u{202e}文-]{1,6}[a-z]",
    ];
    let path = proptest::collection::vec(name, 1..4).prop_map(|parts| parts.join("/"));
    let file = (path, "[a-cA-C \n]{0,12}", 0i64..4_000_000_000, any::<bool>());
    proptest::collection::vec(file, 0..12).prop_map(|files| {
        let mut fs = MemoryFileSystem::new("/r");
        for (path, content, seconds, is_folder) in files {
            let path = PathBuf::from("/r").join(path.trim_start_matches('/'));
            let clean = path.components().all(|part| matches!(part, std::path::Component::Normal(_) | std::path::Component::RootDir));
            // A path below a file, or a file in place of a folder, is impossible on a real disk too.
            let fits = clean && path.ancestors().skip(1).all(|above| !matches!(artoo_reflex::eval::FileSystem::metadata(&fs, above), Ok(entry) if entry.kind != artoo_reflex::eval::EntryKind::Folder))
                && artoo_reflex::eval::FileSystem::metadata(&fs, &path).is_err();
            match (fits, is_folder) {
                (true, true) => fs.add_folder(path, at(seconds)),
                (true, false) => fs.add_file(path, content, at(seconds)),
                (false, _) => {}
            }
        }
        fs
    })
}

/// The same query with its folders in the random tree.
#[expect(clippy::wildcard_enum_match_arm, reason = "only sources have a place")]
fn rooted(mut query: Query) -> Query {
    let mut open = vec![&mut query];
    while let Some(part) = open.pop() {
        match part {
            Query::Tree { roots, .. } => *roots = vec!["/r".to_owned()],
            Query::TextFile { path } => *path = "/r/a".to_owned(),
            other => open.extend(other.operands_mut()),
        }
    }
    query
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[doc = "holds: law 0.16"]
    #[test]
    fn lowered_output_passes_verify(query in round_trip::query(), fs in random_tree()) {
        let query = rooted(query);
        let value = serde_json::to_value(&query).unwrap();
        // The output of shell pipelines is compared in `meaning/shell.rs`.
        let Ok(call) = lower(&query, "linux") else { return Ok(()) };
        prop_assume!(call.tool != "shell");
        match tool::run(&call, &fs) {
            Some(output) => {
                let found = verify(&value, &output, &fs);
                prop_assert!(found.pass, "{}: {} on {output:?}", artoo_reflex::english(&query), found.evidence);
                if query.ty() == Ok(Ty::Number) {
                    let forged = (output.parse::<u64>().unwrap() + 1).to_string();
                    prop_assert!(!verify(&value, &forged, &fs).pass);
                }
            }
            None => {
                let is_unreadable = matches!(evaluate(&query, &fs), Err(EvalError::Unreadable { .. }));
                // Missing paths are no elements of a query for listed paths, but the tool fails if their folder is
                // missing.
                let is_named = matches!(query.source(), Query::Paths { .. });
                prop_assert!(is_unreadable || is_named);
            }
        }
    }

    #[test]
    fn list_missing_an_element_fails(fs in random_tree(), direct in any::<bool>()) {
        let query = question(if direct { "list everything directly in /r including hidden" } else { "list everything in /r including hidden" });
        let Ok(Answer::Files(files)) = evaluate(&query, &fs) else { return Err(TestCaseError::fail("no files")) };
        let output = tool::run(&lower(&query, "linux").unwrap(), &fs).unwrap();
        prop_assert_eq!(output.lines().count(), files.len());
        let value = serde_json::to_value(&query).unwrap();
        for lost in 0..files.len() {
            let forged: String = output.lines().enumerate().filter(|(at, _)| *at != lost).map(|(_, line)| format!("{line}\n")).collect();
            prop_assert!(!verify(&value, &forged, &fs).pass);
        }
    }

    #[test]
    fn no_output_panics(query in round_trip::query(), output in any::<String>()) {
        let _ = verify(&serde_json::to_value(rooted(query)).unwrap(), &output, &tree());
    }
}

#[test]
fn truncated_long_text_fails() {
    let mut fs = MemoryFileSystem::new("/home/ada/x");
    let text: String = (0..9_000).map(|number| format!("line {number} of a long log with INFO\n")).collect();
    assert!(text.len() > 262_144);
    fs.add_file("/home/ada/x/long.log", text.clone(), at(1));
    for request in ["show ~/x/long.log", "show the lines of ~/x/long.log that contain INFO"] {
        let query = serde_json::to_value(question(request)).unwrap();
        assert!(verify(&query, &text, &fs).pass, "{request}");
        assert!(verify(&query, text.trim_end(), &fs).pass, "{request}: the end of the last line may be missing");
        let cut = format!("{}… [9 bytes left out] …{}", &text[..100_000], &text[100_009..]);
        let swapped = text.replacen("line 1 ", "line l ", 1);
        for wrong in [cut.as_str(), &text[..200_000], &swapped, &format!("{text}\nmore")] {
            assert!(!verify(&query, wrong, &fs).pass, "{request}");
        }
    }
}
