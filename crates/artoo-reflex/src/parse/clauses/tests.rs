//! Tests which clauses the parser finds in the requests of `clauses.tsv`.

use artoo_proto::{Environment, Now, SessionTurn, Timestamp};

use super::lists;
use crate::english::english_steps;
use crate::lex::lex;
use crate::parse::{clauses, offer};
use crate::testing::MemoryFileSystem;

/// A Linux machine whose current folder is `/home/ada/work`.
fn environment() -> Environment {
    Environment {
        cwd: "/home/ada/work".to_owned(),
        home: "/home/ada".to_owned(),
        workspace: "/home/ada/artoo_workspace".to_owned(),
        os: "linux".to_owned(),
        utc_offset_s: 3600,
    }
}

/// Seven small files in `/home/ada/work`.
fn disk() -> MemoryFileSystem {
    let mut fs = MemoryFileSystem::default();
    for (path, text) in [
        ("a.txt", "one\ntwo\n"),
        ("notes.txt", "one\n"),
        ("data.csv", "name,amount\nx,3\n"),
        ("settings.ini", "[server]\nport = 80\n"),
        ("Makefile", "all:\n\ttrue\ntest: all\n\ttrue\n"),
        ("run.sh", "#!/bin/sh\n"),
        (".git/refs/heads/main", "0\n"),
    ] {
        fs.add_file(format!("/home/ada/work/{path}"), text, Timestamp::default());
    }
    fs
}

/// Parses turns joined by ` || `; the clauses of the last one, each in English or as the reason it was not read, joined
/// by ` | `.
fn read(turns: &str) -> String {
    let mut turns: Vec<&str> = turns.split(" || ").collect();
    let request = turns.pop().unwrap_or_default().replace("\\n", "\n");
    let turn = |input: &str| SessionTurn { input: input.to_owned(), summary: String::new(), answered: true };
    let session: Vec<SessionTurn> = turns.into_iter().map(turn).collect();
    let now = Now { wall: Timestamp::parse("2024-05-15T13:00:00Z").unwrap(), uptime_ms: 0 };
    let found = clauses(&request, &session, &environment(), now, &disk());
    let spans: String = found.iter().map(|clause| &request[clause.span.0..clause.span.1]).collect();
    assert_eq!(spans, request, "the clauses hold every word");
    let said = found.iter().map(|clause| match &clause.read {
        Ok(steps) => english_steps(steps)
            .replace("/home/ada/work/", "")
            .replace(", subfolders included, hidden files included", ""),
        Err(unread) => format!("{:?}: {}", unread.state, unread.why),
    });
    said.collect::<Vec<_>>().join(" | ").replace('\n', "⏎")
}

/// Each request of `clauses.tsv` has the clauses listed there.
#[test]
fn requests_split_into_expected_clauses() {
    let mut wrong = Vec::new();
    for line in include_str!("clauses.tsv").lines().filter(|line| !line.starts_with('#')) {
        let (request, expected) = line.split_once('\t').unwrap_or((line, ""));
        let said = read(request);
        if said != expected {
            wrong.push(format!("{request}\t{said}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// No plainer wording of `clauses.txt` is replaced itself: a request with it would not be read.
#[test]
fn plainer_wordings_are_not_replaced_again() {
    let plainer = lists("meant ").filter_map(|list| list.strip_prefix("meant ")).filter(|plain| *plain != "nothing");
    let again: Vec<(&str, String)> =
        plainer.filter_map(|plain| Some((plain, offer::rephrased(plain, &lex(plain)).pop()?))).collect();
    assert!(again.is_empty(), "{again:?}");
}
