//! Tests of new files that are named without a folder: in the current folder, or all in the workspace.

use artoo_proto::CoverageState::{Refuted, Shown};
use artoo_proto::{Clause, Timestamp};

use super::*;
use crate::algebra::Target;
use crate::coverage::workspace;

/// A Linux machine whose workspace is `/s` and whose current folder is `/w`.
fn environment() -> Environment {
    Environment { workspace: "/s".to_owned(), ..super::environment() }
}

/// The ledger of a request of these clauses, each with its words and its step.
fn named(clauses: &[(&str, Step)], world: &World) -> Ledger {
    let request: Vec<&str> = clauses.iter().map(|(words, _)| *words).collect();
    let mut from = 0;
    let clause = |(words, step): &(&str, Step)| {
        let span = (from, from + words.len());
        from = span.1 + 1;
        ReadClause { span, read: Ok(vec![step.clone()]) }
    };
    let all = clauses.iter().map(clause).collect();
    Ledger::of_clauses(&request.join("\n"), all, &environment()).simulate(&world.fs)
}

/// A disk in memory with files in the current folder and the workspace.
fn world() -> World {
    let mut world = World::new(&[("/w/a.txt", "one\n"), ("/w/old", "x"), ("/s/known", "x")]);
    world.fs.add_folder("/w/sub", Timestamp::default());
    world
}

/// The steps of a clause with these words after new files are moved to the workspace; `None` if none is.
fn moved(words: &str, steps: &[Step]) -> Option<Vec<Step>> {
    let clause =
        Clause { number: 1, span: (0, words.len()), words: words.to_owned(), obligations: Vec::new(), unread: None };
    let all: Vec<(usize, Step)> = steps.iter().map(|step| (0, step.clone())).collect();
    let moved = workspace::in_workspace(&all, &[clause], &environment(), &world().fs)?;
    assert!(moved.iter().all(|(clause, _)| *clause == 0));
    Some(moved.into_iter().map(|(_, step)| step).collect())
}

/// Each act that creates a file named without a folder may create it in the workspace.
#[test]
fn every_creating_act_may_use_workspace() {
    let acts = |folder: &str| {
        let at = |name: &str| format!("{folder}/{name}");
        let (run, source) = ("ls".to_owned(), "/w/a.txt".to_owned());
        vec![
            Act::CreateFolder { paths: vec![at("n")] },
            Act::CreateFile { path: at("n"), text: "n\n".to_owned() },
            Act::Insert { path: at("n"), text: "n\n".to_owned(), at_start: false },
            Act::Link { target: source.clone(), path: at("n") },
            Act::Save { of: text("/w/a.txt"), to: at("n") },
            Act::Replace { path: source, find: "one".to_owned(), with: "1".to_owned(), to: at("n") },
            Act::Archive { of: file("/w/a.txt"), to: at("n") },
            Act::Run { command: run, folder: "/w".to_owned(), to: Some(at("n")) },
            Act::Fetch { url: "https://h".to_owned(), to: Some(at("n")) },
            Act::Copy { of: file("/w/a.txt"), to: Target::As(at("n")) },
        ]
    };
    for (here, there) in acts("/w").into_iter().zip(acts("/s")) {
        assert_eq!(moved("make n", &[Step::Do(here)]), Some(vec![Step::Do(there)]));
    }
}

#[test]
fn existing_and_qualified_paths_stay() {
    for words in ["make n", "make n about my home", "make n about ws", "make n about /x"] {
        assert!(moved(words, &[create("/w/n", "")]).is_some(), "{words}");
    }
    for (words, path) in [
        ("make n", "/w/sub/n"),
        ("make n", "/n"),
        ("make old", "/w/old"),
        ("make known", "/w/known"),
        ("make it", "/w/n"),
        ("make ./n", "/w/n"),
        ("make ./n and put x into n", "/w/n"),
        ("make n in W", "/w/n"),
        ("make n in (/w/)", "/w/n"),
        ("make n here", "/w/n"),
        ("make n, Here.", "/w/n"),
        ("make n (in the current folder)", "/w/n"),
    ] {
        assert_eq!(moved(words, &[create(path, "")]), None, "{words} {path}");
    }
    let delete = Step::Do(Act::Delete { of: file("/w/n") });
    assert_eq!(moved("delete n", &[delete]), None);
    assert_eq!(moved("count n", &[count(text("/w/n"))]), None);
    let step = vec![(0, create("/w/n", ""))];
    let clause = Clause { number: 1, span: (0, 6), words: "make n".to_owned(), obligations: Vec::new(), unread: None };
    // If the workspace is the current folder, there is no alternative.
    assert_eq!(workspace::in_workspace(&step, &[clause], &super::environment(), &world().fs), None);
    assert_eq!(workspace::in_workspace(&step, &[], &environment(), &world().fs), None);
}

#[test]
fn only_new_files_move_to_workspace() {
    let steps = |folder: &str| {
        let folders = Act::CreateFolder { paths: vec![format!("{folder}/n")] };
        let copy = Act::Copy { of: file("/w/a.txt"), to: Target::Into(format!("{folder}/n")) };
        [Step::Do(folders), create(&format!("{folder}/n/b"), "/w/nn"), Step::Do(copy), create("/w/sub/n", "")]
    };
    let more = [create("/w/nn", "n"), Step::Do(Act::Delete { of: file("/w/old") })];
    let all = [steps("/w").as_slice(), &more].concat();
    // `nn` is no name that the request says alone.
    let there = [steps("/s").as_slice(), &more].concat();
    assert_eq!(moved("make n with b in it, copy a.txt into n", &all), Some(there));
}

#[test]
fn new_files_share_one_folder() {
    let world = world();
    let ledger =
        named(&[("make n saying n", create("/w/n", "n\n")), ("make o saying o", create("/w/o", "o\n"))], &world);
    let with = |paths: &[&str]| {
        let mut done = world.clone();
        for path in paths {
            let content = if path.ends_with('n') { "n\n" } else { "o\n" };
            done.write(path, content);
        }
        cover(&ledger, &done)
    };
    assert!(with(&["/w/n", "/w/o"]).is_complete());
    assert!(with(&["/s/n", "/s/o"]).is_complete());
    for (paths, states) in [
        (vec!["/w/n", "/s/o"], [Shown, Refuted]),
        (vec!["/s/n", "/w/o"], [Refuted, Shown]),
        (vec!["/w/n"], [Shown, Refuted]),
        (vec!["/s/n"], [Shown, Refuted]),
        (vec![], [Refuted, Refuted]),
        (vec!["/w/sub/n", "/w/sub/o"], [Refuted, Refuted]),
    ] {
        assert_states(&with(&paths), &states);
    }
    for paths in [["/w/n", "/w/o", "/s/n"], ["/s/n", "/s/o", "/w/n"]] {
        let coverage = with(&paths);
        assert_states(&coverage, &[Shown, Shown]);
        assert_eq!(coverage.unasked.len(), 1);
    }
}

#[test]
fn named_current_folder_is_kept() {
    let place = World::new(&[("/home/ada/Documents/a.txt", "one\n")]);
    let read = |cwd: &str, request: &str| {
        let environment = Environment {
            cwd: cwd.to_owned(),
            home: "/home/ada".to_owned(),
            workspace: "/home/ada/artoo_workspace".to_owned(),
            ..environment()
        };
        let ledger = Ledger::read(
            request,
            &[],
            &environment,
            artoo_proto::Now { wall: Timestamp::default(), uptime_ms: 0 },
            &place.fs,
        );
        assert!(ledger.reading().unread().next().is_none(), "{request} {:#?}", ledger.reading());
        ledger.simulate(&place.fs)
    };
    let mut done = place.clone();
    done.write("/home/ada/artoo_workspace/n.txt", "hello\n");
    let is_complete = |ledger: Ledger| cover(&ledger, &done).is_complete();
    let documents = "/home/ada/Documents";
    assert!(is_complete(read(documents, "create n.txt with the text hello")));
    assert!(is_complete(read("/home/ada", "create n.txt with the text hello")));
    for request in [
        "create n.txt in Documents with the text hello",
        "create n.txt in my documents folder with the text hello",
        "create n.txt in the folder \"../Documents\" with the text hello",
        "create n.txt in ~/Documents with the text hello",
        "create n.txt in /home/ada/Documents with the text hello",
    ] {
        assert!(!is_complete(read(documents, request)), "{request}");
    }
    for request in ["create n.txt in my home folder with the text hello", "create n.txt in ~ with the text hello"] {
        assert!(!is_complete(read("/home/ada", request)), "{request}");
    }
    assert!(!is_complete(read("/home/ada/Downloads", "create n.txt in my download folder with the text hello")));
}

#[test]
fn later_steps_follow_moved_files() {
    let world = world();
    let add = Step::Do(Act::Insert { path: "/w/n".to_owned(), text: "m\n".to_owned(), at_start: false });
    let ledger = named(&[("make n saying n", create("/w/n", "n\n")), ("add m to it", add)], &world);
    let with = |path: &str, content: &str| {
        let mut done = world.clone();
        done.write(path, content);
        cover(&ledger, &done)
    };
    assert!(with("/s/n", "n\nm\n").is_complete());
    assert!(with("/w/n", "n\nm\n").is_complete());
    assert!(!with("/s/n", "n\n").is_complete());
    assert_states(&cover(&ledger, &world), &[Refuted, Refuted]);
}
