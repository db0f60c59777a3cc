//! `glob`: patterns, filters, order and reports; a partial answer is never presented as complete.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::time::{Duration, SystemTime};

use artoo_proto::CallStatus;
use serde_json::{Value, json};

use super::{Fixture, make_fifo};

/// A fixture with files of known sizes and days of change, some of them hidden.
fn tree() -> Fixture {
    let fixture = Fixture::new();
    for (path, size, day) in [
        ("work/a.txt", 10, 1),
        ("work/B.TXT", 20, 2),
        ("work/sub/c.txt", 30, 3),
        ("work/sub/deep/d.txt", 40, 4),
        ("work/sub/deep/e.rs", 50, 5),
        ("work/.hidden.txt", 60, 6),
        ("work/.cache/f.txt", 70, 7),
        ("work/node_modules/g.txt", 80, 8),
        ("work/log.csv", 0, 9),
    ] {
        let path = fixture.file(path, vec![b'x'; size]);
        let modified = SystemTime::UNIX_EPOCH + Duration::from_secs(86_400 * day);
        fs::File::options().write(true).open(path).unwrap().set_modified(modified).unwrap();
    }
    fixture
}

/// The paths that `glob` found, relative to the working folder.
async fn found(fixture: &Fixture, input: Value) -> Vec<String> {
    let work = format!("{}/work/", fixture.home.display());
    fixture
        .output("glob", input)
        .await
        .lines()
        .map(|line| line.strip_prefix(&work).unwrap_or(line).to_owned())
        .collect()
}

/// Each field of `glob`'s input selects exactly the files that match it.
#[tokio::test]
async fn each_input_field_selects_matching_files() {
    let fixture = tree();
    let all = ["B.TXT", "a.txt", "log.csv", "node_modules/g.txt", "sub/c.txt", "sub/deep/d.txt", "sub/deep/e.rs"];
    let table: Vec<(Value, Vec<&str>)> = vec![
        (json!({}), all.to_vec()),
        (json!({"pattern": "*.txt"}), vec!["a.txt", "node_modules/g.txt", "sub/c.txt", "sub/deep/d.txt"]),
        (json!({"patterns": ["*.rs", "*.csv"]}), vec!["log.csv", "sub/deep/e.rs"]),
        (json!({"pattern": "sub/*.txt"}), vec!["sub/c.txt"]),
        (json!({"pattern": "sub/**/*.txt"}), vec!["sub/c.txt", "sub/deep/d.txt"]),
        (json!({"pattern": "**/deep/*"}), vec!["sub/deep/d.txt", "sub/deep/e.rs"]),
        (json!({"pattern": "./*.txt"}), vec!["a.txt"]),
        (json!({"pattern": "~/work/sub/*"}), vec!["sub/c.txt"]),
        (json!({"pattern": "~/work/a.txt"}), vec!["a.txt"]),
        (json!({"root": "~/work/sub", "pattern": "*.txt"}), vec!["sub/c.txt", "sub/deep/d.txt"]),
        (json!({"root": "sub/../sub"}), vec!["sub/c.txt", "sub/deep/d.txt", "sub/deep/e.rs"]),
        (json!({"pattern": "*.txt", "recursive": false}), vec!["a.txt"]),
        (json!({"pattern": "*.txt", "ignore_case": true, "recursive": false}), vec!["B.TXT", "a.txt"]),
        (json!({"pattern": "*.txt", "exclude": ["node_modules", "deep"]}), vec!["a.txt", "sub/c.txt"]),
        (json!({"exclude": ["sub/**", "*.txt", "*.TXT"]}), vec!["log.csv"]),
        (json!({"kind": "folder"}), vec!["node_modules", "sub", "sub/deep"]),
        (json!({"kind": "any", "recursive": false}), vec!["B.TXT", "a.txt", "log.csv", "node_modules", "sub"]),
        (
            json!({"hidden": true, "pattern": "*.txt", "exclude": ["node_modules", "sub"]}),
            vec![".cache/f.txt", ".hidden.txt", "a.txt"],
        ),
        (json!({"pattern": ".hidden*"}), vec![".hidden.txt"]),
        (json!({"pattern": ".hidden*", "hidden": false}), vec![]),
        (json!({"min_bytes": 30, "max_bytes": 40}), vec!["sub/c.txt", "sub/deep/d.txt"]),
        (
            json!({"modified_after": "1970-01-04T00:00:00Z", "modified_before": "1970-01-06T00:00:00Z"}),
            vec!["sub/c.txt", "sub/deep/d.txt"],
        ),
        (json!({"sort": {"by": "size", "descending": true}, "limit": 2}), vec!["node_modules/g.txt", "sub/deep/e.rs"]),
        (json!({"sort": {"by": "modified"}, "limit": 2}), vec!["a.txt", "B.TXT"]),
        (json!({"sort": {"by": "name", "descending": true}, "limit": 2}), vec!["log.csv", "node_modules/g.txt"]),
        (json!({"limit": 0}), vec![]),
        (json!({"report": "count"}), vec!["7"]),
        (json!({"report": "total_bytes", "pattern": "*.txt"}), vec!["160"]),
        (json!({"report": "count", "pattern": "*.pdf"}), vec!["0"]),
        (json!({"report": "details", "pattern": "c.txt"}), vec!["30\t1970-01-04T00:00:00.000Z\t@/sub/c.txt"]),
        // An object inside a JSON string is parsed once.
        (json!("{\"pattern\": \"*.rs\"}"), vec!["sub/deep/e.rs"]),
    ];
    let work = format!("{}/work", fixture.home.display());
    for (input, expected) in table {
        let expected: Vec<String> = expected.iter().map(|line| line.replace('@', &work)).collect();
        assert_eq!(found(&fixture, input.clone()).await, expected, "{input}");
    }
}

/// A content search finds text across chunk borders, and in any letter case if asked.
#[tokio::test]
async fn content_search_spans_chunks_and_ignores_case() {
    let fixture = Fixture::new();
    let mut long = vec![b'-'; 256 * 1024 - 3];
    long.extend_from_slice("Größe".as_bytes());
    fixture.file("work/long.txt", &long);
    fixture.file("work/short.txt", "one TODO here");
    fixture.file("work/binary", b"\0\xff TODO \xfe");
    fixture.file("work/none.txt", "todo");
    let table = [
        (json!({"contains": "TODO"}), vec!["binary", "short.txt"]),
        (json!({"contains": "todo", "contains_ignore_case": true}), vec!["binary", "none.txt", "short.txt"]),
        (json!({"contains": "Größe"}), vec!["long.txt"]),
        (json!({"contains": "GRÖSSE", "contains_ignore_case": true}), vec![]),
        (json!({"contains": "GRÖßE", "contains_ignore_case": true}), vec!["long.txt"]),
    ];
    for (input, expected) in table {
        assert_eq!(found(&fixture, input.clone()).await, expected, "{input}");
    }
}

/// `glob` lists symlinks without following them, and shows names with special characters escaped.
#[tokio::test]
async fn links_and_hostile_names_are_handled() {
    let fixture = Fixture::new();
    fixture.file("work/real/x.txt", "x");
    symlink(fixture.home.join("work/real"), fixture.home.join("work/link")).unwrap();
    symlink("..", fixture.home.join("work/real/loop")).unwrap();
    make_fifo(&fixture.home.join("work/pipe"));
    assert_eq!(found(&fixture, json!({})).await, ["real/x.txt"]);
    assert_eq!(found(&fixture, json!({"kind": "folder"})).await, ["real"]);
    let any = found(&fixture, json!({"kind": "any"})).await;
    assert_eq!(any, ["link", "pipe", "real", "real/loop", "real/x.txt"]);
    // A symlink given as the root is followed.
    assert!(found(&fixture, json!({"root": "link"})).await[0].ends_with("link/x.txt"));
    let hostile = OsStr::from_bytes(b"a\nb\x1b[2J\xff\xe2\x80\xae.txt");
    fs::write(fixture.home.join("work").join(hostile), "").unwrap();
    let listed = found(&fixture, json!({"pattern": "a*"})).await;
    assert_eq!(listed, ["a\\nb\\u{1b}[2J\\xff\\u{202e}.txt"]);
}

/// Files excluded by `.gitignore` are left out only if the input asks for that.
#[tokio::test]
async fn ignore_files_are_obeyed_only_when_asked() {
    let fixture = Fixture::new();
    fixture.file("work/.gitignore", "*.log\n");
    fixture.file("work/a.log", "");
    fixture.file("work/a.txt", "");
    assert_eq!(found(&fixture, json!({})).await, ["a.log", "a.txt"]);
    assert_eq!(found(&fixture, json!({"ignore_files": true})).await, ["a.txt"]);
}

/// A search in a missing folder fails because of the environment, and suggests similar names.
#[doc = "holds: law 2.6"]
#[tokio::test]
async fn missing_root_is_environmental_with_suggestions() {
    let fixture = Fixture::new();
    fixture.file("Documents/a.txt", "");
    let call = fixture.call("glob", json!({"root": "~/Document", "report": "count"})).await;
    assert_eq!((call.status, call.environmental), (CallStatus::Failed, true), "{call:?}");
    assert_eq!(call.alternatives, [format!("{}/Documents", fixture.home.display())]);
    assert_eq!(call.target, format!("{}/Document/**", fixture.home.display()));
    let call = fixture.call("glob", json!({"root": "~/Documents/a.txt"})).await;
    assert!(call.environmental && call.output.contains("not a folder"), "{call:?}");
}

/// If a folder can't be read, `glob`'s list is marked as incomplete, and a count fails (decision D7).
#[doc = "holds: law 0.11; design D7"]
#[tokio::test]
async fn unreadable_folder_makes_result_incomplete() {
    let fixture = Fixture::new();
    fixture.file("work/top.txt", "");
    let name = "n".repeat(250);
    let mut folder = rustix::fs::open(
        fixture.home.join("work"),
        rustix::fs::OFlags::DIRECTORY | rustix::fs::OFlags::RDONLY,
        rustix::fs::Mode::empty(),
    )
    .unwrap();
    for _ in 0..20 {
        rustix::fs::mkdirat(&folder, name.as_str(), rustix::fs::Mode::RWXU).unwrap();
        folder = rustix::fs::openat(
            &folder,
            name.as_str(),
            rustix::fs::OFlags::DIRECTORY | rustix::fs::OFlags::RDONLY,
            rustix::fs::Mode::empty(),
        )
        .unwrap();
    }
    let list = fixture.call("glob", json!({"pattern": "*.txt"})).await;
    assert_eq!((list.status, list.environmental), (CallStatus::Failed, true), "{list:?}");
    assert!(list.output.starts_with("incomplete: 1 place could not be read") && list.output.contains("top.txt"));
    let count = fixture.call("glob", json!({"pattern": "*.txt", "report": "count"})).await;
    assert_eq!((count.status, count.environmental), (CallStatus::Failed, true), "{count:?}");
    assert!(count.output.parse::<u64>().is_err(), "a part of a number is no number: {count:?}");
    let shallow = fixture.call("glob", json!({"pattern": "./*.txt"})).await;
    assert_eq!(shallow.status, CallStatus::Ok, "what is not asked for need not be read: {shallow:?}");
}

/// A walk stops at its deadline, and its result says that it is incomplete.
#[doc = "holds: law 3.12"]
#[tokio::test]
async fn walk_ends_at_its_deadline() {
    let fixture = Fixture::with(|config| config.call_timeout = Duration::ZERO);
    fixture.file("work/a.txt", "");
    for (input, status) in [(json!({}), CallStatus::Cut), (json!({"report": "count"}), CallStatus::TimedOut)] {
        // The call's own time is spent before the walk starts, so the walk must stop at its first look.
        let search = crate::glob::Search::parse(&fixture.config.environment, &input).unwrap();
        let protected = crate::protect::Protected::new(&fixture.config.environment, &[]);
        let record = crate::glob::run(search, &protected, &crate::limit::Limit::after(Duration::ZERO));
        assert_eq!((record.status, record.environmental), (status, true), "{record:?}");
        assert!(record.text.contains("the time was up"), "{record:?}");
    }
}

/// `glob` refuses patterns that would expand to too much, and invalid inputs.
#[doc = "holds: law 3.13; design H10"]
#[tokio::test]
async fn glob_bombs_and_invalid_inputs_are_refused() {
    let fixture = Fixture::new();
    for (input, reason) in [
        (json!({"pattern": "{a,b}".repeat(100)}), "too many wildcards or alternatives"),
        (json!({"pattern": "*".repeat(500)}), "too many wildcards"),
        (json!({"pattern": "{".repeat(5)}), "can't be read"),
        (json!({"pattern": "a".repeat(1001)}), "1001 characters"),
        (json!({"pattern": ""}), "empty"),
        (json!({"pattern": "../*"}), ".."),
        (json!({"pattern": "sub/"}), "ends in '/'"),
        (json!({"patterns": vec!["a"; 101]}), "101 entries"),
        (json!({"pattern": "/etc/*", "root": "~"}), "absolute pattern"),
        (json!({"patern": "*"}), "unknown field `patern`"),
        (json!({"limit": -1}), "invalid value"),
        (json!({"report": "sum"}), "unknown variant"),
        (json!({"modified_after": "yesterday"}), "not an RFC 3339 time"),
        (json!({"kind": "folder", "min_bytes": 1}), "no size of its own"),
        (json!({"contains": ""}), "contains is empty"),
        (json!(["~"]), "must be a JSON object"),
        (json!("\"*\""), "must be a JSON object"),
        (json!("{pattern"), "does not fit"),
        (json!({"root": "a\0b"}), "NUL"),
    ] {
        let call = fixture.call("glob", input.clone()).await;
        assert_eq!((call.status, call.environmental, call.measures), (CallStatus::Failed, false, false), "{call:?}");
        assert!(call.output.contains(reason), "{input}: {}", call.output);
    }
}

/// `glob` does not search protected folders and says so.
#[doc = "holds: law 1.20"]
#[tokio::test]
async fn protected_folders_are_not_searched() {
    let fixture = Fixture::new();
    fixture.file(".ssh/id", "PRIVATE KEY");
    let call = fixture.call("glob", json!({"root": "~/.ssh"})).await;
    assert_eq!(call.status, CallStatus::Denied, "{call:?}");
    let call = fixture.call("glob", json!({"root": "~", "hidden": true, "contains": "PRIVATE"})).await;
    assert_eq!(call.status, CallStatus::Failed, "{call:?}");
    assert!(call.output.contains("protected") && !call.output.contains("\n/"), "{call:?}");
}

/// A long list is shown with its beginning and end, and its full size is recorded.
#[doc = "holds: law 0.11"]
#[tokio::test]
async fn long_list_keeps_both_ends_and_size() {
    let fixture = Fixture::new();
    for n in 0..300 {
        fixture.file(&format!("work/file-with-a-name-{n:04}.txt"), "");
    }
    let call = fixture.call("glob", json!({})).await;
    assert!(call.truncated && call.output.contains("name-0000") && call.output.contains("name-0299"), "{call:?}");
    let line = format!("{}/work/file-with-a-name-0000.txt\n", fixture.home.display()).len() as u64;
    assert_eq!(call.output_bytes, 300 * line - 1);
    assert!(call.output.chars().count() < 4100);
}
