//! Checks against real files, each with what it must and must not pass.

use std::fs;

use artoo_proto::{Check, Environment};
use tempfile::TempDir;

use super::{CheckInput, run};

/// An environment for checks in which this folder is home and working folder.
fn environment(dir: &TempDir) -> Environment {
    let home = dir.path().canonicalize().unwrap().to_str().unwrap().to_owned();
    Environment {
        cwd: home.clone(),
        workspace: format!("{home}/ws"),
        home,
        os: std::env::consts::OS.to_owned(),
        utc_offset_s: 0,
    }
}

/// Each check passes or fails as expected for an output, an exit code or a file, with evidence of one line.
#[doc = "holds: law 0.3; design G19"]
#[test]
fn checks_read_the_state_again() {
    let dir = TempDir::new().unwrap();
    let environment = environment(&dir);
    fs::write(dir.path().join("f.txt"), "one\ntwo\nlast").unwrap();
    fs::create_dir_all(dir.path().join("sub/.hid")).unwrap();
    for name in ["sub/a.txt", "sub/b.rs", "sub/.dot", "sub/.hid/c.txt"] {
        fs::write(dir.path().join(name), "").unwrap();
    }
    fs::create_dir_all(dir.path().join(".ssh")).unwrap();
    fs::write(dir.path().join(".ssh/key"), "SECRET").unwrap();
    std::os::unix::fs::symlink("f.txt", dir.path().join("sub/link.txt")).unwrap();
    let path = |path: &str| path.to_owned();
    let count = |path: &str, pattern: &str, recursive| Check::FileCount {
        path: path.to_owned(),
        pattern: pattern.to_owned(),
        recursive,
    };
    let table = [
        (Check::OutputNotEmpty {}, " \n", false, false),
        (Check::OutputNotEmpty {}, "x", true, false),
        (Check::OutputIsNumber {}, " 42\n", true, false),
        (Check::OutputIsNumber {}, "-1.5e3", true, false),
        (Check::OutputIsNumber {}, "42 files", false, false),
        (Check::OutputIsNumber {}, "NaN", false, false),
        (Check::OutputIsNumber {}, "inf", false, false),
        (Check::OutputIsNumber {}, "", false, false),
        (Check::ExitCode { code: 7 }, "", true, false),
        (Check::ExitCode { code: 0 }, "", false, false),
        (Check::FileExists { path: path("~/f.txt") }, "", true, false),
        (Check::FileExists { path: path("gone") }, "", false, false),
        (Check::FileExists { path: path("sub") }, "", false, false),
        (Check::FileExists { path: path("/dev/zero") }, "", false, false),
        (Check::FileContains { path: path("f.txt"), text: path("two\nla") }, "", true, false),
        (Check::FileContains { path: path("f.txt"), text: path("three") }, "", false, false),
        (Check::FileContains { path: path(".ssh/key"), text: path("SECRET") }, "", false, false),
        (Check::FileEquals { path: path("f.txt"), text: path("one\ntwo\nlast") }, "", true, false),
        (Check::FileEquals { path: path("f.txt"), text: path("one\ntwo\nlasT") }, "", false, false),
        (Check::FileEquals { path: path("f.txt"), text: path("one") }, "", false, false),
        (Check::LineCount { path: path("f.txt") }, "3", true, false),
        (Check::LineCount { path: path("f.txt") }, "2", false, false),
        (Check::LineCount { path: path("f.txt") }, "3 lines", false, false),
        (count("sub", "", false), "3", true, false),
        (count("sub", "*.txt", true), "2", true, false),
        (count("sub", "*.txt", false), "1", true, false),
        (count("sub", ".dot", false), "1", true, false),
        (count("~", "", true), "6\n", true, false),
        (count("sub", "", false), "2", false, false),
        (count("gone", "", false), "0", false, true),
        (count("sub", "a/b", false), "0", false, false),
    ];
    for (check, output, pass, environmental) in table {
        let verdict = run(&check, &CheckInput { output, exit_code: Some(7), environment: &environment }).unwrap();
        assert_eq!((verdict.pass, verdict.environmental), (pass, environmental), "{check:?} {output:?}: {verdict:?}");
        assert!(!verdict.evidence.contains('\n') && !verdict.evidence.is_empty(), "{verdict:?}");
    }
}

/// A check of the exit code fails if there is none, and a check that computes the answer anew is left to the caller.
#[test]
fn missing_exit_code_fails_the_check() {
    let dir = TempDir::new().unwrap();
    let environment = environment(&dir);
    let input = CheckInput { output: "1", exit_code: None, environment: &environment };
    assert_eq!(run(&Check::Recompute { query: serde_json::json!({}), reading: String::new() }, &input), None);
    assert!(!run(&Check::ExitCode { code: 0 }, &input).unwrap().pass);
}
