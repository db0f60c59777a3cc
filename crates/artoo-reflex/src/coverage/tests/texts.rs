//! Tests of edits, settings files of each format, and size limits.

use artoo_proto::CoverageState::{NotShown, Refuted, Shown};

use super::*;
use crate::settings;

/// The acceptable texts of a settings file after a key was set, or the error.
fn set(name: &str, before: &str, key: &str, value: &str) -> Result<Vec<String>, String> {
    let (section, key) = key.split_once('/').map_or((None, key), |(section, key)| (Some(section), key));
    let made = settings::set(Path::new(name), before.as_bytes(), section, key, value)?;
    Ok(made.into_iter().map(|text| String::from_utf8(text).unwrap()).collect())
}

#[test]
fn setting_a_key_changes_one_line() {
    for (name, before, key, value, after) in [
        (".env", "A=1\nB=2", "B", "3", "A=1\nB=3"),
        (".env", "A=1\n", "B", "3", "A=1\nB=3\n"),
        (".env", "export A='1'\n", "A", "2", "export A='2'\n"),
        ("x.ini", "[a]\nk = 1\n[b]\nk = 2\n", "b/k", "5", "[a]\nk = 1\n[b]\nk = 5\n"),
        ("x.toml", "[a.b]\nname = \"x\" # n\n", "a.b.name", "y", "[a.b]\nname = \"y\" # n\n"),
        ("x.toml", "port = 1\n", "port", "2", "port = 2\n"),
        ("x.yaml", "a:\n  k: 1\nb:\n  k: 2\n", "b.k", "3", "a:\n  k: 1\nb:\n  k: 3\n"),
        ("x.yml", "k: x # n\n", "k", "y", "k: y # n\n"),
        (
            "x.json",
            "{\n  \"a\": {\n    \"k\": \"x\",\n    \"l\": 1\n  },\n  \"k\": 2\n}",
            "a.k",
            "y",
            "{\n  \"a\": {\n    \"k\": \"y\",\n    \"l\": 1\n  },\n  \"k\": 2\n}",
        ),
        ("x.json", "{\n  \"k\": true\n}\n", "k", "false", "{\n  \"k\": false\n}\n"),
    ] {
        assert_eq!(set(name, before, key, value).unwrap()[0], after, "{name} {key}");
    }
    for (name, before, key) in [
        (".env", "A=1\nA=2\n", "A"),
        (".env", "A=1\n", "s/A"),
        ("x.ini", "[a]\nk = 1\n[b]\nk = 2\n", "k"),
        ("x.toml", "k = 1\n", "l"),
        ("x.toml", "[[a]]\nk = 1\n", "a.k"),
        ("x.json", "{\"k\": 1}", "l"),
        ("x.json", "{\n\"a\": {\n\"k\": 1\n},\n\"b\": {\n\"k\": 1\n}\n}", "k"),
        ("x.txt", "k = 1\n", "k"),
    ] {
        assert!(set(name, before, key, "9").is_err(), "{name} {before} {key}");
    }
}

#[test]
fn value_keeps_quoting_or_is_bare() {
    for (name, before, key, value, after) in [
        (".env", "", "A", "x y", vec!["A=x y\n", "A=\"x y\"\n"]),
        (".env", "B=1", "A", "x", vec!["B=1\nA=x\n", "B=1\nA=\"x\"\n"]),
        (".env", "A=1\n", "A", "\"x\"", vec!["A=\"x\"\n", "A=x\n"]),
        (".env", "A=\n", "A", "x", vec!["A=x\n"]),
        (".env", "A=\"1\"\n", "A", "x", vec!["A=\"x\"\n", "A=x\n"]),
        (".env", "A='1'\n", "A", "x", vec!["A='x'\n", "A=x\n"]),
        (".env.local", "A=1\r\nB=2\r\n", "A", "x", vec!["A=x\r\nB=2\r\n"]),
        ("x.properties", "A=1 # n\n", "A", "x", vec!["A=x # n\n"]),
        ("x.conf", "a = 1\n", "a", "x", vec!["a = x\n"]),
        ("x.cfg", "a = 1 ; n\n", "a", "x", vec!["a = x\n"]),
        ("x.yaml", "k: 'a'\n", "k", "\"x\"", vec!["k: 'x'\n", "k: \"x\"\n"]),
        ("x.toml", "k = 'a'\n", "k", "x", vec!["k = 'x'\n", "k = \"x\"\n"]),
        ("x.toml", "k = \"a\"\n", "k", "5", vec!["k = \"5\"\n"]),
        ("x.toml", "k = 4\n", "k", "\"5\"", vec!["k = \"5\"\n"]),
        ("x.toml", "k = 4\n", "k", "a", vec!["k = \"a\"\n"]),
        ("x.toml", "k = \"a\"\n", "k", "x\\y\"z", vec!["k = \"x\\\\y\\\"z\"\n"]),
        ("x.json", "{\n\"k\": 4 ,\n\"l\": 1\n}", "k", "true", vec!["{\n\"k\": true ,\n\"l\": 1\n}"]),
    ] {
        assert_eq!(set(name, before, key, value).unwrap(), after, "{name} {before} {key} {value}");
    }
}

#[test]
fn quoted_value_ends_at_its_quote() {
    for (name, old, rest) in [
        ("x.toml", r#""a # b""#, " # n"),
        ("x.toml", r#""a \" # b""#, " # n"),
        ("x.toml", r#""a # \\""#, " # n \""),
        ("x.toml", r#""a \\\" # b""#, ""),
        ("x.toml", r#"'a # \'"#, " # n'"),
        ("x.yaml", r"'a # b'", " # n"),
        ("x.env", r#""a'b # c""#, " # n"),
    ] {
        let mark = if name == "x.yaml" { ": " } else { " = " };
        let made = set(name, &format!("k{mark}{old}{rest}\n"), "k", "y").unwrap();
        let quote = &old[..1];
        assert_eq!(made[0], format!("k{mark}{quote}y{quote}{rest}\n"), "{old}{rest}");
    }
    // An unclosed quote is part of the value.
    assert_eq!(set("x.ini", "k = 'a # n\n", "k", "y").unwrap()[0], "k = 'y' # n\n");
}

#[test]
fn keys_are_looked_up_by_section() {
    for (name, before, key, after) in [
        ("x.ini", "# k = 1\n; k = 2\n\nk = 3\n", "k", "# k = 1\n; k = 2\n\nk = 9\n"),
        ("x.toml", "[ \"a b\" . c ]\nk = 1\n", "a b.c/k", "[ \"a b\" . c ]\nk = 9\n"),
        ("x.yaml", "a:\n  b:\n    k: 1\n  k: 2\n", "a/k", "a:\n  b:\n    k: 1\n  k: 9\n"),
        ("x.yaml", "a:\n  b:\n    k: 1\nb:\n  k: 2\n", "b/k", "a:\n  b:\n    k: 1\nb:\n  k: 9\n"),
        ("x.yaml", "a:\n  k: 1\nk: 2\n", "a.k", "a:\n  k: 9\nk: 2\n"),
        ("x.json", "{\n\"a/b\": {\n \"k\": 1\n},\n\"k\": 2\n}", "a/b", ""),
    ] {
        match set(name, before, key, "9") {
            Ok(made) => assert_eq!(made[0], after, "{name} {key}"),
            Err(_) => assert_eq!(after, "", "{name} {key}"),
        }
    }
    for (name, before, key, value) in [
        ("x.yaml", "a:\n  k: 1\nk: 2\n", "k", "9"),
        ("x.json", "{\n\"k\": 1, \"l\": 2\n}", "k", "9"),
        ("x.json", "{\n\"k\": [\n1\n]\n}", "k", "9"),
        ("x.json", "{\n\"k\": {\n\"l\": 1\n}\n}", "k", "9"),
        ("x.json", "{\n\"a\": [\n{\n\"k\": 1\n}\n]\n}", "k", "9"),
        ("x.json", "\"k\": 1\n", "k", "9"),
        ("x.json", "{\n\"k\": 1\n", "k", "9"),
        ("x.json", "{\n\"k\": 1, \"a\": {\"k\": 2}\n}", "k", "9"),
        ("x.ini", "k = 1\n", "a/k", "9"),
        (".env", "A=1\n", "A", "x\ny"),
        (".env", "A=1\n", "", "x"),
        ("env", "A=1\n", "A", "x"),
        ("x.xml", "A=1\n", "A", "x"),
    ] {
        assert!(set(name, before, key, value).is_err(), "{name} {before} {key}");
    }
    let bytes = settings::set(Path::new("x.ini"), b"k = \xff\n", None, "k", "1");
    assert!(bytes.is_err());
}

#[test]
fn appended_lines_start_on_a_new_line() {
    for (before, text, at_start, right, wrong) in [
        ("a", "x\n", false, vec!["a\nx\n", "a\nx"], vec!["ax\n", "a\n\nx\n"]),
        ("a\n", "x\n", false, vec!["a\nx\n"], vec!["a\nx", "x\na\n"]),
        ("", "x\n", false, vec!["x\n", "x"], vec!["\nx\n"]),
        ("a", "x\n", true, vec!["x\na"], vec!["x\na\n"]),
        ("", "\n", false, vec!["\n"], vec!["\n\n"]),
    ] {
        let world = World::new(&[("/w/a.txt", before)]);
        let step = Step::Do(Act::Insert { path: "/w/a.txt".to_owned(), text: text.to_owned(), at_start });
        let ledger = ledger(&[&[step]], &world);
        for (texts, state) in [(right, Shown), (wrong, Refuted)] {
            for text in texts {
                let mut done = world.clone();
                done.write("/w/a.txt", text);
                assert_states(&cover(&ledger, &done), &[state]);
            }
        }
        assert_states(&cover(&ledger, &world), &[Refuted]);
    }
}

#[test]
fn edit_keeps_missing_final_newline() {
    let first = |path: &str| Query::Part { of: Box::new(text(path)), part: crate::algebra::Part::First(1) };
    for (before, after, state) in
        [("a\nb", "a", Shown), ("a\nb", "a\n", Refuted), ("a\nb\n", "a\n", Shown), ("a\nb\n", "a", Refuted)]
    {
        let world = World::new(&[("/w/a.txt", before)]);
        let save = Act::Save { of: first("/w/a.txt"), to: "/w/a.txt".to_owned() };
        let ledger = ledger(&[&[Step::Do(save)]], &world);
        let mut done = world.clone();
        done.write("/w/a.txt", after);
        assert_states(&cover(&ledger, &done), &[state]);
    }
    let world = World::new(&[("/w/a.txt", "a\n"), ("/w/b.txt", "b\n")]);
    let save = Act::Save { of: first("/w/a.txt"), to: "/w/b.txt".to_owned() };
    let coverage = cover(&ledger(&[&[Step::Do(save)]], &world), &world);
    assert_states(&coverage, &[NotShown]);
    assert!(coverage.rows[0].why.contains("already"));
}

#[test]
fn saved_answers_have_their_usual_format() {
    let tree = Query::Tree { roots: vec!["/w".to_owned()], depth: Depth::Whole, hidden: true, kind: Kind::File };
    let world = World::new(&[("/w/d/a.txt", "one\n"), ("/w/b.txt", "two\nthree\n")]);
    let number = Query::Aggregate { of: Box::new(text("/w/b.txt")), function: Function::Count };
    let yes = Query::Aggregate { of: Box::new(text("/w/b.txt")), function: Function::Any };
    let sizes = Query::Details { of: Box::new(tree.clone()) };
    let (by, function) = (crate::algebra::GroupKey::Extension, Function::Count);
    let per_ending = Query::Group { of: Box::new(tree.clone()), by, function };
    for (of, written, state) in [
        (tree.clone(), "/w/b.txt\n/w/d/a.txt\n", Shown),
        (tree.clone(), "b.txt\nd/a.txt\n", Shown),
        (tree.clone(), "b.txt\nd/a.txt", Shown),
        (tree.clone(), "b.txt\na.txt\n", Refuted),
        (tree, "b.txt\n", Refuted),
        (file("/w/b.txt"), "/w/b.txt\n", Shown),
        (file("/w/b.txt"), "b.txt\n", Refuted),
        (number.clone(), "2\n", Shown),
        (number, "3\n", Refuted),
        (yes, "yes\n", NotShown),
        (sizes.clone(), "10\t/w/b.txt\n4\t/w/d/a.txt\n", Shown),
        (sizes.clone(), "/w/b.txt\n/w/d/a.txt\n", Refuted),
        (sizes, "10\t/w/b.txt\n5\t/w/d/a.txt\n", Refuted),
        (per_ending.clone(), "2\ttxt\n", Shown),
        (per_ending, "txt\n", Refuted),
    ] {
        let save = Act::Save { of, to: "/w/n.txt".to_owned() };
        let ledger = ledger(&[&[Step::Do(save)]], &world);
        let mut done = world.clone();
        done.write("/w/n.txt", written);
        assert_states(&cover(&ledger, &done), &[state]);
    }
}

#[test]
fn word_within_longer_words_is_ambiguous() {
    let world = World::new(&[("/w/a.txt", "cat\nconcat\n"), ("/w/b.txt", "cat\n")]);
    let replace = |path: &str| {
        let (find, with) = ("cat".to_owned(), "dog".to_owned());
        let of = Query::Replace { of: Box::new(text(path)), find, with };
        Step::Do(Act::Save { of, to: path.to_owned() })
    };
    let ledger = ledger(&[&[replace("/w/a.txt")], &[replace("/w/b.txt")]], &world);
    let mut done = world.clone();
    done.write("/w/a.txt", "dog\nconcat\n");
    done.write("/w/b.txt", "dog\n");
    assert_states(&cover(&ledger, &done), &[NotShown, Shown]);
    for (find, before, state) in [
        ("a_b", "a_b xa_bc\n", NotShown),
        ("a_b", "a_b x\n", Shown),
        ("a1", "a1 a12\n", NotShown),
        ("a-b", "a-b xa-bc\n", Shown),
    ] {
        let world = World::new(&[("/w/a.txt", before)]);
        let (find, with) = (find.to_owned(), "z".to_owned());
        let after = before.replace(&find, &with);
        let act = Act::Replace { path: "/w/a.txt".to_owned(), find, with, to: "/w/n.txt".to_owned() };
        let ledger = super::ledger(&[&[Step::Do(act)]], &world);
        let mut done = world.clone();
        done.write("/w/n.txt", &after);
        assert_states(&cover(&ledger, &done), &[state]);
    }
}

#[test]
fn oversized_input_is_not_shown() {
    let mut world = World::new(&[("/w/a.txt", "a\n")]);
    for number in 0..100_001 {
        world.fs.add_file(format!("/w/many/{number}.tmp"), "", artoo_proto::Timestamp::default());
    }
    world.fs.add_file("/w/big.txt", vec![b'\n'; (16 << 20) + 1], artoo_proto::Timestamp::default());
    let delete = Step::Do(Act::Delete { of: with_extension("tmp") });
    let add = |path: &str| Step::Do(Act::Insert { path: path.to_owned(), text: "x\n".to_owned(), at_start: false });
    let ledger = ledger(&[&[delete], &[add("/w/big.txt")], &[add("/w/a.txt")]], &world);
    let coverage = cover(&ledger, &world);
    assert_states(&coverage, &[NotShown, NotShown, Refuted]);
    assert!(coverage.rows[0].why.contains("100,000") && coverage.rows[1].why.contains("16 MB"));
}
