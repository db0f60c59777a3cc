//! `read_file`: whole, by line, counted and matched; and the files that it never opens.

use std::fs;
use std::os::unix::fs::symlink;

use artoo_proto::CallStatus;
use serde_json::{Value, json};

use super::{Fixture, make_fifo};

/// Whole file, lines, number of lines and matching lines: each mode of `read_file` returns the right content.
#[tokio::test]
async fn read_modes_return_the_content() {
    let fixture = Fixture::new();
    fixture.file("work/f", "one\ntwo\nThree\nfour");
    fixture.file("work/ends", "a\nb\n");
    fixture.file("work/empty", "");
    fixture.file("work/blank", "\n");
    let table: Vec<(&str, Value, &str)> = vec![
        ("f", json!({}), "one\ntwo\nThree\nfour"),
        ("ends", json!({}), "a\nb\n"),
        ("empty", json!({}), ""),
        ("f", json!({"count": "lines"}), "4"),
        ("ends", json!({"count": "lines"}), "2"),
        ("empty", json!({"count": "lines"}), "0"),
        ("blank", json!({"count": "lines"}), "1"),
        ("f", json!({"lines": {"from": 2, "to": 3}}), "two\nThree"),
        ("f", json!({"lines": {"from": 4, "to": 9}}), "four"),
        ("f", json!({"lines": {"from": 9, "to": 9}}), ""),
        ("f", json!({"lines": {"first": 2}}), "one\ntwo"),
        ("f", json!({"lines": {"first": 0}}), ""),
        ("f", json!({"lines": {"last": 2}}), "Three\nfour"),
        ("ends", json!({"lines": {"last": 1}}), "b"),
        ("f", json!({"lines": {"last": 99}}), "one\ntwo\nThree\nfour"),
        ("f", json!({"matching": "t"}), "two"),
        ("f", json!({"matching": "t", "ignore_case": true}), "two\nThree"),
        ("f", json!({"matching": ".*"}), ""),
        ("f", json!({"matching": "o", "count": "lines"}), "3"),
        ("f", json!({"matching": "zzz", "count": "lines"}), "0"),
    ];
    for (path, mut input, expected) in table {
        input["path"] = json!(path);
        let call = fixture.call("read_file", input.clone()).await;
        assert_eq!((call.status, call.output.as_str()), (CallStatus::Ok, expected), "{input}");
        assert_eq!(call.target, format!("{}/work/{path}", fixture.home.display()));
        assert!(call.measures && !call.truncated);
    }
}

/// `read_file` refuses inputs whose fields contradict each other or are not valid.
#[tokio::test]
async fn contradictory_inputs_are_refused() {
    let fixture = Fixture::new();
    fixture.file("work/f", "x");
    for input in [
        json!({"path": "f", "lines": {"first": 1}, "count": "lines"}),
        json!({"path": "f", "lines": {"first": 1}, "matching": "x"}),
        json!({"path": "f", "lines": {"first": 1, "last": 1}}),
        json!({"path": "f", "lines": {"from": 2, "to": 1}}),
        json!({"path": "f", "lines": {"from": 0, "to": 1}}),
        json!({"path": "f", "lines": {"from": 1}}),
        json!({"path": "f", "ignore_case": true}),
        json!({"path": "f", "matching": ""}),
        json!({"path": "", "count": "lines"}),
        json!({"path": "a\0b"}),
        json!({"path": "x".repeat(5000)}),
        json!({}),
        json!(null),
    ] {
        let call = fixture.call("read_file", input.clone()).await;
        assert_eq!(
            (call.status, call.environmental, call.measures),
            (CallStatus::Failed, false, false),
            "{input}: {call:?}"
        );
    }
}

/// If a file is missing, `read_file` suggests similar names.
#[doc = "holds: law 2.6"]
#[tokio::test]
async fn missing_file_suggests_similar_names() {
    let fixture = Fixture::new();
    fixture.file("work/notes.md", "");
    fixture.file("work/other.md", "");
    for missing in ["notes.txt", "Notes.md", "note.md", "ntoes.md"] {
        let call = fixture.call("read_file", json!({"path": missing})).await;
        assert_eq!((call.status, call.environmental), (CallStatus::Failed, true), "{call:?}");
        assert_eq!(call.alternatives, [format!("{}/work/notes.md", fixture.home.display())], "{missing}");
    }
    let call = fixture.call("read_file", json!({"path": "zzzzzz"})).await;
    assert!(call.alternatives.is_empty(), "{call:?}");
}

/// `read_file` refuses pipes and devices at once, and shows only the ends of huge files.
#[doc = "holds: law 3.13; design H6"]
#[tokio::test]
async fn special_files_are_refused_huge_files_capped() {
    let fixture = Fixture::new();
    make_fifo(&fixture.home.join("work/pipe"));
    fs::create_dir_all(fixture.home.join("work/folder")).unwrap();
    for (path, kind) in
        [("pipe", "a pipe"), ("/dev/zero", "a device"), ("folder", "a folder"), ("/dev/tty", "a device")]
    {
        let call = fixture.call("read_file", json!({"path": path})).await;
        assert_eq!((call.status, call.environmental), (CallStatus::Failed, false), "{call:?}");
        assert!(call.output.contains(kind), "{call:?}");
    }
    let sparse = fs::File::create(fixture.home.join("work/sparse")).unwrap();
    sparse.set_len(1 << 40).unwrap();
    let call = fixture.call("read_file", json!({"path": "sparse"})).await;
    assert_eq!((call.status, call.truncated, call.output_bytes), (CallStatus::Ok, true, 1 << 40));
    let call = fixture.call("read_file", json!({"path": "sparse", "lines": {"first": 1}})).await;
    assert!(call.status == CallStatus::Failed && call.output.contains("line 1 is longer"), "{call:?}");
}

/// `read_file` denies keys and files that show the memory of processes.
#[doc = "holds: law 1.20"]
#[tokio::test]
async fn keys_and_process_memory_are_denied() {
    let fixture = Fixture::with(|config| config.protected = vec![format!("{}/data", config.environment.home).into()]);
    for path in
        [".ssh/id_rsa", ".artoo/audit.jsonl", ".aws/credentials", ".gnupg/x", "data/memory", ".netrc", ".bash_history"]
    {
        fixture.file(path, "TOPSECRET");
    }
    symlink(fixture.home.join(".ssh"), fixture.home.join("work/harmless")).unwrap();
    symlink(fixture.home.join(".netrc"), fixture.home.join("work/readme")).unwrap();
    for path in [
        "~/.ssh/id_rsa",
        "~/.SSH/id_rsa",
        "../.ssh/id_rsa",
        "~/./x/../.ssh/id_rsa",
        "~/.artoo/audit.jsonl",
        "~/.aws/credentials",
        "~/.gnupg/x",
        "~/data/memory",
        "~/.netrc",
        "harmless/id_rsa",
        "readme",
        "~/.ssh/not_there",
        "~/.bash_history",
        "/proc/self/environ",
        "/proc/self/mem",
        "/proc/kmsg",
        "/proc/1/cmdline",
        "/etc/shadow",
    ] {
        let call = fixture.call("read_file", json!({"path": path})).await;
        assert_eq!(call.status, CallStatus::Denied, "{path}: {call:?}");
        assert!(call.output.starts_with("[LAW1]") && !call.output.contains("TOPSECRET"), "{call:?}");
    }
    if cfg!(target_os = "linux") {
        assert!(fixture.output("read_file", json!({"path": "/proc/uptime"})).await.contains('.'));
    }
}

/// `read_file` marks bytes that are not UTF-8 and counts them.
#[doc = "holds: design T8"]
#[tokio::test]
async fn non_utf8_bytes_are_marked() {
    let fixture = Fixture::new();
    fixture.file("work/bin", b"ok\xff\xfe\0end");
    let output = fixture.output("read_file", json!({"path": "bin"})).await;
    assert_eq!(output, "ok\u{fffd}\u{fffd}\0end\n[not text: 2 bytes are not UTF-8 and shown as \u{fffd}]");
}

/// Of a long text `read_file` shows the head and the tail, with the number of omitted bytes.
#[tokio::test]
async fn long_text_keeps_head_and_tail() {
    let fixture = Fixture::new();
    let text = format!("START{}END", "ä".repeat(3_000_000));
    fixture.file("work/long", &text);
    let call = fixture.call("read_file", json!({"path": "long"})).await;
    assert!(
        call.truncated && call.output.starts_with("START") && call.output.ends_with("END"),
        "{}",
        call.output.len()
    );
    assert_eq!(call.output_bytes, text.len() as u64);
    assert!(call.output.contains("left out"));
}
