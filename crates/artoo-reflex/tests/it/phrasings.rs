//! Everyday phrasings, conversations and changes with the reading each must have: `phrasings.txt`.

use artoo_proto::SessionTurn;

use super::{environment, now};
use artoo_reflex::parse;
use artoo_reflex::testing::MemoryFileSystem;

/// Fewest phrasings the file holds, lest it be emptied unnoticed.
const PHRASINGS: usize = 480;

#[test]
fn every_phrasing_has_its_reading() {
    let mut count = 0;
    for line in include_str!("phrasings.txt").lines().filter(|line| !line.starts_with('#')) {
        let (words, reading) = line.split_once('\t').unwrap();
        let mut turns: Vec<&str> = words.split(" || ").collect();
        let request = turns.pop().unwrap();
        let turn = |input: &str| SessionTurn { input: input.to_owned(), summary: String::new(), answered: true };
        let session: Vec<SessionTurn> = turns.into_iter().map(turn).collect();
        match parse(request, &session, &environment(), now(), &MemoryFileSystem::default()) {
            Ok(parsed) => assert_eq!(parsed.reading, reading, "{words}"),
            Err(refusal) => panic!("{words}: refused, {refusal:?}"),
        }
        count += 1;
    }
    assert!(count >= PHRASINGS, "{count}");
}

#[test]
fn what_was_not_understood_is_taken_up_by_nothing() {
    let turn = |input: &str| SessionTurn { input: input.to_owned(), summary: "done".to_owned(), answered: true };
    for (before, request) in [
        ("how is the weather", "how many are there"),
        ("how is the weather", "delete them"),
        ("move the PDFs in ~/x to ~/y", "how many are there"),
        ("delete the PDFs in ~/x", "again"),
        ("list the PDFs in ~/x", "delete those lines"),
        ("", "again"),
    ] {
        let read = parse(request, &[turn(before)], &environment(), now(), &MemoryFileSystem::default());
        assert!(read.is_err(), "{before} | {request}: {read:?}");
    }
}
