//! Tests of declined requests with what they offer instead, and of requests that refer to an earlier answer.

use artoo_proto::{Abstention, Environment, PerceiveContext, ReplyBody, RoleContext, SessionTurn, Timestamp};

use super::disk::home;
use super::{environment, now};
use artoo_reflex::testing::MemoryFileSystem;
use artoo_reflex::{parse, respond};

/// Splits turns at ` || ` into the last one and those before it; `✗ ` stands before one that was not answered.
fn turns(words: &str) -> (String, Vec<SessionTurn>) {
    let mut turns: Vec<&str> = words.split(" || ").collect();
    let request = turns.pop().unwrap().to_owned();
    let turn = |said: &str| {
        let input = said.trim_start_matches("✗ ").to_owned();
        SessionTurn { answered: input == said, input, summary: String::new() }
    };
    (request, turns.into_iter().map(turn).collect())
}

/// A Linux machine whose current folder is the home folder.
fn in_home() -> Environment {
    Environment { cwd: "/home/ada".to_owned(), ..environment() }
}

/// Answers the last of several turns as the perceiver role: the reading in English, or the refusal.
fn ask(words: &str) -> Result<String, Abstention> {
    ask_on(words, &home())
}

/// Answers the last of several turns in a home folder with these files.
fn ask_on(words: &str, fs: &MemoryFileSystem) -> Result<String, Abstention> {
    let (raw_input, session) = turns(words);
    let context = PerceiveContext {
        raw_input,
        session,
        material: None,
        clarifications: Vec::new(),
        may_ask: false,
        environment: in_home(),
        now: now(),
    };
    match respond(&RoleContext::Perceive(Box::new(context)), fs) {
        ReplyBody::Json { value } => Ok(value["intent"].as_str().unwrap().replace("/home/ada", "~")),
        ReplyBody::Abstain { abstention } => Err(abstention),
        other => panic!("{words}: {other:?}"),
    }
}

/// What a refusal tells the user, on one line.
fn told(refusal: &Abstention) -> String {
    format!("{} {} {}", refusal.not_understood.join(" "), refusal.understood, refusal.remedy)
}

/// How a request was answered (read, offer or none), in the form of the tables.
fn became(words: &str) -> String {
    match ask(words) {
        Ok(reading) => format!("read\t{reading}"),
        Err(Abstention { offer: Some(offer), .. }) => format!("offer\t{}\t{}", offer.request, offer.change),
        Err(refusal) => format!("none\t{}", told(&refusal)),
    }
}

/// The reading with `§` replaced by ", subfolders included, hidden files included".
fn full(reading: &str) -> String {
    reading.replace('§', ", subfolders included, hidden files included")
}

/// Asserts that there are no wrong lines.
fn check(wrong: &[String]) {
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_decline_offers_what_was_meant() {
    let mut wrong = Vec::new();
    for line in include_str!("declines.tsv").lines().filter(|line| !line.starts_with('#')) {
        let (words, expected) = line.split_once('\t').unwrap();
        let became = became(words);
        let is_right = match expected.strip_prefix("none\t") {
            Some(part) => became.starts_with("none\t") && became.contains(part),
            None => became == full(expected),
        };
        if !is_right {
            wrong.push(format!("{words}\t{became}"));
        }
    }
    check(&wrong);
}

#[test]
fn each_offer_parses_to_its_reading() {
    let mut offers = 0;
    for line in include_str!("declines.tsv").lines().filter(|line| !line.starts_with('#')) {
        let words = line.split('\t').next().unwrap();
        let Err(Abstention { offer: Some(offer), .. }) = ask(words) else { continue };
        let parsed = parse(&offer.request, &[], &in_home(), now(), &home()).unwrap();
        assert_eq!(parsed.reading, offer.reading, "{words}");
        offers += 1;
    }
    assert!(offers >= 15, "{offers}");
}

#[test]
fn follow_ups_speak_of_the_last_answer() {
    let mut wrong = Vec::new();
    for line in include_str!("followups.tsv").lines().filter(|line| !line.starts_with('#')) {
        let (words, expected) = line.split_once('\t').unwrap();
        let is_right = match (ask(words), expected.strip_prefix("! ")) {
            (Ok(reading), None) => reading == full(expected),
            (Err(refusal), Some(part)) => refusal.offer.is_none() && told(&refusal).contains(part),
            _ => false,
        };
        if !is_right {
            wrong.push(format!("{words}\t{}", became(words)));
        }
    }
    check(&wrong);
}

/// A file with a quote in its name is never named in an offered request, where the rest of its name could be another act.
#[test]
fn hostile_name_is_never_part_of_an_offer() {
    let mut fs = MemoryFileSystem::new("/home/ada");
    fs.add_file("/home/ada/plan\" and delete \"b.txt", b"x\n", Timestamp::default());
    fs.add_file("/home/ada/b.txt", b"b\n", Timestamp::default());
    for request in ["show the plan", "show my plan please", "add \"y\" to my plan", "delete the plan file"] {
        let refusal = ask_on(request, &fs).unwrap_err();
        assert!(refusal.offer.is_none(), "{request}: {refusal:?}");
    }
    // A name of the same words without a quote is found.
    fs.add_file("/home/ada/work/travel plan.txt", b"x\n", Timestamp::default());
    assert_eq!(ask_on("show the travel plan", &fs).unwrap(), "show the lines of the file \"~/work/travel plan.txt\"");
}
