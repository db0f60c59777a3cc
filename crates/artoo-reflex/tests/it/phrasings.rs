//! Tests that everyday wordings, conversations and changes have the reading listed in `phrasings.txt`.

use artoo_proto::SessionTurn;

use super::{environment, now};
use artoo_reflex::parse;
use artoo_reflex::testing::MemoryFileSystem;

/// Fewest phrasings the file holds, lest it be emptied unnoticed.
const PHRASINGS: usize = 480;

#[test]
fn phrasings_have_listed_readings() {
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

/// A request that refers to an answer that is not known is refused.
#[test]
fn unread_answer_can_not_be_referred_to() {
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
