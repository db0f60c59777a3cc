//! Tests how requests are read that are easily misread: `misread.txt`.

use artoo_proto::{Environment, Now, Timestamp};

use super::StepBoundaries;
use crate::english::english_steps;
use crate::lex::lex;
use crate::parse::clauses;
use crate::testing::MemoryFileSystem;

/// Files in `/home/ada` that the requests of `misread.txt` are about.
fn disk() -> MemoryFileSystem {
    let mut fs = MemoryFileSystem::default();
    for (at, (path, text)) in (1..).zip([
        ("a.txt", "one cat\ntwo\ncat\n\n"),
        ("b.txt", "b\n"),
        ("notes.txt", "here\n"),
        ("settings.ini", "port = 80\n[server]\ndebug = false\nlevel = info\n"),
        ("config.json", "{\"port\": 80, \"name\": \"x\"}\n"),
        (".env", "DEBUG=false\nPORT=80\nHOST=localhost\n"),
        ("prod.env", "DB_HOST=a\nEXPORT=1\n"),
        ("app.yaml", "app_name: x\nfullname: y\nport: 80\n"),
        ("archive.zip", ""),
        ("README.md", ""),
        ("data.csv", "name,amount\nx,3\n"),
        ("main.py", "print(1)\n"),
        ("run.sh", "ls\n"),
        ("old.zip", ""),
        ("backup/a.txt", "old\n"),
        ("docs/notes.txt", "there\n"),
        ("docs/sub/report.pdf", "pdf\n"),
        ("Downloads/x.pdf", "x\n"),
        ("Downloads/y.pdf", "yy\n"),
        ("Downloads/photo.jpg", "photo\n"),
        ("twins/p.pdf", "p\n"),
        ("twins/q.pdf", "q\n"),
    ]) {
        fs.add_file(format!("/home/ada/{path}"), text, Timestamp::from_millis(at));
    }
    fs
}

/// The steps of a request in English, or `None` if a clause of it is not read.
fn reading(request: &str) -> Option<String> {
    let environment = Environment {
        cwd: "/home/ada".to_owned(),
        home: "/home/ada".to_owned(),
        workspace: "/home/ada/artoo_workspace".to_owned(),
        os: "linux".to_owned(),
        utc_offset_s: 0,
    };
    // A Monday.
    let now = Now { wall: Timestamp::parse("2024-05-13T13:00:00Z").unwrap(), uptime_ms: 0 };
    let found = clauses(request, &[], &environment, now, &disk());
    let said: Option<Vec<String>> =
        found.iter().map(|clause| Some(english_steps(clause.read.as_ref().ok()?))).collect();
    Some(
        said?
            .join(" | ")
            .replace("/home/ada/", "~/")
            .replace(", subfolders included, hidden files included", "")
            .replace('\n', "⏎"),
    )
}

#[doc = "holds: law 0.15"]
#[test]
fn easily_misread_requests_read_as_listed() {
    let mut wrong = Vec::new();
    for line in include_str!("misread.txt").lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        let (request, expected) = line.split_once('\t').map_or((line, None), |(request, said)| (request, Some(said)));
        let said = reading(request);
        if said.as_deref() != expected {
            wrong.push(format!("{request}\t{}", said.unwrap_or_default()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[doc = "holds: law 0.15"]
#[test]
fn only_joining_words_stand_between_clauses() {
    for line in include_str!("misread.txt").lines() {
        let tokens = lex(line.split('\t').next().unwrap_or_default());
        for (end, next) in StepBoundaries::wide(&tokens).between {
            for token in &tokens[end..next] {
                let joins =
                    [",", ";", ".", "?", "and", "then", "also", "so", "after", "that", "afterwards", "next", "finally"];
                assert!(joins.contains(&token.folded.as_str()), "{line}: {}", token.raw);
            }
        }
    }
}
