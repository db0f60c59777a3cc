//! Tests that wrong ("forged") answers fail verification, on a small tree of files whose counts are known.

use std::process::Command;

use super::shell::{run, run_all};
use super::trees::{Thing, Twin, twin};
use artoo_proto::pipeline::command;
use artoo_reflex::algebra::{
    Depth, Field, Function, GroupKey, Key, Kind, NameTest, Order, Part, Pred, Query, Relation, SortKey,
};
use artoo_reflex::eval::verify;
use artoo_reflex::testing::programs;

/// A small tree of files, on disk and in memory.
fn tree() -> Twin {
    let thing = |path: &str, content: &str, ms: i64| -> Thing {
        (path.split('/').map(|part| part.as_bytes().to_vec()).collect(), Some(content.as_bytes().to_vec()), ms)
    };
    twin(&[
        thing("a.txt", "one\ntwo\none\nthree\n", 1_700_000_000_000),
        thing("b.txt", "two\nfour\n5 x\n-7\n", 1_700_000_100_000),
        thing("one/c.md", "same\n", 1_700_000_200_000),
        thing("one/d.md", "same\n", 1_700_000_300_000),
        thing("two/e.txt", "longer than the others, by far\n", 1_700_000_400_000),
        thing("two/f.sh", "#!/bin/sh\n", 1_700_000_500_000),
        thing(".hidden.txt", "secret\n", 1_700_000_600_000),
        thing("empty.txt", "", 1_700_000_700_000),
    ])
}

/// The query on the heap, as an operand of another query.
fn boxed(query: Query) -> Box<Query> {
    Box::new(query)
}

/// The query for all files of the tree that are not hidden.
fn files(twin: &Twin) -> Query {
    Query::Tree { roots: vec![twin.root.clone()], depth: Depth::Whole, hidden: false, kind: Kind::File }
}

/// The query for the lines of a file of the tree.
fn text(twin: &Twin, name: &str) -> Query {
    Query::TextFile { path: format!("{}/{name}", twin.root) }
}

/// One sort key with its direction.
fn by(by: Key, order: Order) -> Vec<SortKey> {
    vec![SortKey { by, order }]
}

/// The query for the number of a query's elements.
fn count(of: Query) -> Query {
    Query::Aggregate { of: boxed(of), function: Function::Count }
}

/// Queries about the tree, with the known answer if it is a number.
fn questions(twin: &Twin) -> Vec<(Query, Option<&'static str>)> {
    let either = Pred::Any(vec![Pred::MinBytes(20), Pred::Extension("md".to_owned())]);
    let filtered = |keep: Pred| Query::Filter { of: boxed(files(twin)), keep };
    let largest = Query::Sort { of: boxed(filtered(either.clone())), keys: by(Key::Size, Order::Descending) };
    let first = |of: Query, count: u64| Query::Limit { of: boxed(of), skip: 0, count };
    let contains = Pred::Contains { text: "two".to_owned(), ignore_case: false };
    let lines = |name: &str| text(twin, name);
    let number = |of: Query, function: Function| Query::Aggregate { of: boxed(of), function };
    let group = |of: Query, by: GroupKey| Query::Group { of: boxed(of), by, function: Function::Count };
    let field = |field: Field| Query::Field { of: boxed(files(twin)), field };
    vec![
        (count(files(twin)), Some("7")),
        (count(filtered(either.clone())), Some("3")),
        (count(filtered(Pred::Not(Box::new(contains.clone())))), Some("5")),
        (count(first(files(twin), 3)), Some("3")),
        (number(filtered(either.clone()), Function::TotalBytes), Some("41")),
        (number(files(twin), Function::LargestBytes), Some("31")),
        (number(files(twin), Function::SmallestBytes), Some("0")),
        (number(lines("a.txt"), Function::Words), Some("4")),
        (number(lines("a.txt"), Function::Characters), Some("18")),
        (number(lines("b.txt"), Function::Maximum), Some("5")),
        (number(lines("b.txt"), Function::Minimum), Some("-7")),
        (count(Query::Unique { of: boxed(lines("a.txt")) }), Some("3")),
        (count(Query::Duplicates { of: boxed(files(twin)) }), Some("2")),
        (
            count(Query::Filter { of: boxed(Query::TextOf { of: boxed(files(twin)) }), keep: contains.clone() }),
            Some("2"),
        ),
        (count(group(files(twin), GroupKey::Folder)), Some("3")),
        (filtered(either), None),
        (first(largest.clone(), 2), None),
        (Query::Details { of: boxed(first(largest, 2)) }, None),
        (Query::Limit { of: boxed(files(twin)), skip: 2, count: 2 }, None),
        (Query::Duplicates { of: boxed(files(twin)) }, None),
        (field(Field::Sha256), None),
        (field(Field::Md5), None),
        (field(Field::Lines), None),
        (field(Field::Words), None),
        (field(Field::Permissions), None),
        (group(files(twin), GroupKey::Folder), None),
        (
            Query::Sort { of: boxed(group(lines("a.txt"), GroupKey::Text)), keys: by(Key::Value, Order::Descending) },
            None,
        ),
        (Query::Unique { of: boxed(lines("a.txt")) }, None),
        (Query::Sort { of: boxed(lines("b.txt")), keys: by(Key::Numeric, Order::Ascending) }, None),
        (Query::Numbered { of: boxed(Query::Filter { of: boxed(lines("a.txt")), keep: contains.clone() }) }, None),
        (Query::Filter { of: boxed(Query::TextOf { of: boxed(files(twin)) }), keep: contains }, None),
        (Query::Part { of: boxed(Query::Words { of: boxed(lines("a.txt")) }), part: Part::Last(3) }, None),
        (
            Query::Compare { of: boxed(lines("a.txt")), with: boxed(lines("b.txt")), relation: Relation::OnlyFirst },
            None,
        ),
        (Query::Filter { of: boxed(lines("a.txt")), keep: Pred::Line(NameTest::Starts("t".to_owned())) }, None),
    ]
}

/// Whether the answer may be in any order: the query only finds files, with or without conditions.
fn is_unordered(query: &Query) -> bool {
    if let Query::Filter { of, .. } = query { is_unordered(of) } else { matches!(query, Query::Tree { .. }) }
}

#[test]
fn counts_match_known_tree() {
    let twin = tree();
    for (query, known) in questions(&twin) {
        let pipeline = programs(&query, "linux").unwrap_or_else(|problem| panic!("{query:?}: {problem}"));
        let (command, output) = (command(&pipeline), run(&pipeline));
        let found = verify(&serde_json::to_value(&query).unwrap(), &output, &twin.memory);
        assert!(found.pass, "{}: {}\n{output}", command, found.evidence);
        if let Some(known) = known {
            assert_eq!(output.trim(), known, "{command}");
        }
    }
}

#[test]
fn every_forged_answer_fails() {
    let twin = tree();
    let mut planted = 0;
    for (query, _) in questions(&twin) {
        let output = run(&programs(&query, "linux").unwrap());
        let value = serde_json::to_value(&query).unwrap();
        let lines: Vec<&str> = output.lines().collect();
        let joined = |lines: &[&str]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
        let mut wrong = vec![String::new(), format!("{output}forged\n"), format!("{}/forged\n{output}", twin.root)];
        for at in 0..lines.len() {
            let mut fewer = lines.clone();
            fewer.remove(at);
            let mut twice = lines.clone();
            twice.insert(at, lines[at]);
            wrong.extend([joined(&fewer), joined(&twice)]);
            let digit = lines[at].find(|c: char| c.is_ascii_digit());
            if let Some(digit) = digit {
                let other = if &lines[at][digit..=digit] == "9" { "8" } else { "9" };
                let changed = format!("{}{other}{}", &lines[at][..digit], &lines[at][digit + 1..]);
                let mut more = lines.clone();
                more[at] = &changed;
                wrong.push(joined(&more));
            }
            if at > 0 && !is_unordered(&query) && lines[at] != lines[at - 1] {
                let mut swapped = lines.clone();
                swapped.swap(at, at - 1);
                wrong.push(joined(&swapped));
            }
        }
        for wrong in wrong.into_iter().filter(|wrong| wrong.trim_end() != output.trim_end()) {
            let found = verify(&value, &wrong, &twin.memory);
            assert!(!found.pass, "{query:?}\n{wrong:?} passed as {output:?}: {}", found.evidence);
            planted += 1;
        }
    }
    assert!(planted > 200, "{planted}");
}

#[test]
fn equal_and_different_files_are_distinguished() {
    let twin = tree();
    for (one, two, same) in [("one/c.md", "one/d.md", true), ("a.txt", "b.txt", false)] {
        let (of, with) = (boxed(text(&twin, one)), boxed(text(&twin, two)));
        let query = Query::Compare { of, with, relation: Relation::Told };
        let value = serde_json::to_value(&query).unwrap();
        let output = run(&programs(&query, "linux").unwrap());
        assert!(verify(&value, &output, &twin.memory).pass, "{output}");
        let forged =
            if same { output.replace("are identical", "differ") } else { output.replace(" differ", " are identical") };
        assert!(!verify(&value, &forged, &twin.memory).pass, "{forged}");
    }
}

#[test]
fn archive_listings_agree() {
    let twin = tree();
    let root = &twin.root;
    for words in [
        &["-c", "-z", "-f", "packed.tar.gz", "a.txt", "one", "two"][..],
        &["-c", "--format=pax", "-f", "packed.tar", "a.txt", "one"],
    ] {
        let packed = Command::new("tar").current_dir(root).args(words).status().unwrap();
        assert!(packed.success());
    }
    let mut memory = twin.memory.clone();
    for name in ["packed.tar.gz", "packed.tar"] {
        let path = format!("{root}/{name}");
        memory.add_file(&path, std::fs::read(&path).unwrap(), artoo_proto::Timestamp::default());
        let query = Query::ArchiveEntries { path };
        let output = run(&programs(&query, "linux").unwrap());
        let value = serde_json::to_value(&query).unwrap();
        let found = verify(&value, &output, &memory);
        assert!(found.pass && output.lines().count() >= 4, "{}: {output}", found.evidence);
        assert!(!verify(&value, &output.replace("c.md", "x.md"), &memory).pass);
        assert!(!verify(&value, output.split_once('\n').unwrap().1, &memory).pass);
    }
}

#[test]
fn limited_long_list_breaks_no_pipe() {
    let things: Vec<Thing> =
        (0..3_000).map(|n| (vec![format!("{n:0200}.txt").into_bytes()], Some(Vec::new()), 1_700_000_000_000)).collect();
    let twin = twin(&things);
    let first = Query::Limit { of: boxed(files(&twin)), skip: 1, count: 2 };
    let (output, all_succeeded) = run_all(&programs(&first, "linux").unwrap());
    assert!(all_succeeded && !output.contains("[stderr]"), "{output}");
    assert!(verify(&serde_json::to_value(&first).unwrap(), &output, &twin.memory).pass, "{output}");
}
