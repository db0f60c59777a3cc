//! Edits whose place is ambiguous, settings files of each format, and the limits.

use artoo_proto::CoverageState::{NotShown, Refuted, Shown};

use super::*;
use crate::coverage::settings;

/// The texts that are right after a key was set.
fn set(name: &str, before: &str, key: &str, value: &str) -> Result<Vec<String>, String> {
    let (section, key) = key.split_once('/').map_or((None, key), |(section, key)| (Some(section), key));
    let made = settings::set(Path::new(name), before.as_bytes(), section, key, value)?;
    Ok(made.into_iter().map(|text| String::from_utf8(text).unwrap()).collect())
}

#[test]
fn one_line_of_a_settings_file_changes() {
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
fn a_word_inside_other_words_is_ambiguous() {
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
}

#[test]
fn large_selections_and_files_are_not_shown() {
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
