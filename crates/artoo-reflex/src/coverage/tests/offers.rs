//! Tests of proposed readings, their confirmation, and checks that a script requires.

use artoo_proto::CoverageState::{NotRead, Refuted, Shown};

use super::*;
use crate::algebra::Target;

const FILES: [(&str, &str); 2] = [("/w/a.txt", "one\n"), ("/w/b.tmp", "b\n")];

/// The step that deletes all `.tmp` files below `/w`.
fn delete() -> Step {
    Step::Do(Act::Delete { of: with_extension("tmp") })
}

#[test]
fn proposal_counts_only_after_confirmation() {
    let world = World::new(&FILES);
    let mut ledger = half_read(&[create("/w/n", "n\n")], &world.fs);
    ledger.offer(2, vec![delete()], &world.fs).unwrap();
    assert_eq!(ledger.reading().offered.len(), 1);
    let mut done = world.clone();
    done.write("/w/n", "n\n");
    assert!(cover(&ledger, &done).offered.is_empty());
    done.remove("/w/b.tmp");
    let coverage = cover(&ledger, &done);
    assert_states(&coverage, &[Shown, NotRead]);
    assert!(coverage.offered.len() == 1 && coverage.unasked.len() == 1, "{coverage:#?}");
    ledger.confirm();
    let coverage = cover(&ledger, &done);
    assert!(coverage.is_complete() && coverage.offered.is_empty());
    assert!(coverage.rows[1].confirmed && coverage.rows[1].why.starts_with("as you confirmed"));
    assert!(!coverage.rows[0].confirmed);
}

#[test]
fn conflicting_or_late_proposals_are_refused() {
    let world = World::new(&FILES);
    let copy = Step::Do(Act::Copy { of: file("/w/a.txt"), to: Target::As("/w/n".to_owned()) });
    let mut ledger = half_read(&[create("/w/n", "n\n")], &world.fs);
    assert!(ledger.offer(2, vec![copy], &world.fs).unwrap_err().contains("there already"));
    assert!(ledger.offer(1, vec![delete()], &world.fs).is_err());
    assert!(ledger.offer(3, vec![delete()], &world.fs).is_err());
    let mut done = world.clone();
    done.write("/w/n", "n\n");
    assert!(ledger.offer(2, vec![delete()], &done.fs).unwrap_err().contains("changed"));
    ledger.confirm();
    assert!(ledger.offer(2, vec![delete()], &world.fs).is_err());
    assert_states(&cover(&ledger, &done), &[Shown, NotRead]);
}

#[test]
fn partly_done_proposal_is_not_shown() {
    let world = World::new(&FILES);
    let mut ledger = half_read(&[create("/w/n", "n\n")], &world.fs);
    ledger.offer(2, vec![delete(), create("/w/o", "o\n")], &world.fs).unwrap();
    let mut done = world.clone();
    done.remove("/w/b.tmp");
    assert!(cover(&ledger, &done).offered.is_empty());
    // The other clause is still unread, so the request is not complete.
    done.write("/w/o", "o\n");
    let coverage = cover(&ledger, &done);
    assert!(coverage.offered.len() == 1 && !coverage.is_complete());
    assert!(coverage.rows.iter().all(|row| !row.confirmed));
    // A different content may be asked for by the unread clause.
    done.write("/w/n", "m\n");
    assert_eq!(cover(&ledger, &done).rows[0].state, CoverageState::NotShown);
    ledger.confirm();
    assert_eq!(cover(&ledger, &done).rows[0].state, Refuted);
}

#[test]
fn proposal_may_not_break_read_steps() {
    let world = World::new(&FILES);
    let unread = || Err(Unread { state: NotRead, why: String::new() });
    let read = |steps: &[Step], is_first: bool| {
        let clauses = [Ok(steps.to_vec()), unread()];
        let mut all: Vec<_> = (0..).zip(clauses).map(|(at, read)| ReadClause { span: (at, at + 1), read }).collect();
        if !is_first {
            all.reverse();
        }
        Ledger::of_clauses("xy", all, &environment()).simulate(&world.fs)
    };
    // The proposed step comes before the step that creates the file, which would then find an existing file.
    let mut before = read(&[create("/w/n", "n\n")], false);
    assert!(before.offer(1, vec![create("/w/n", "n\n")], &world.fs).unwrap_err().contains("already"));
    assert!(before.offer(1, vec![create("/w/o", "n\n")], &world.fs).is_ok());
    assert!(before.offer(1, vec![create("/w/p", "n\n")], &world.fs).is_ok());
    assert_eq!(before.reading().offered.len(), 1);
    // A step that was impossible without the proposal doesn't make the proposal invalid.
    for is_first in [true, false] {
        let mut failing = read(&[create("/w/a.txt", "n\n")], is_first);
        let number = if is_first { 2 } else { 1 };
        assert!(failing.offer(number, vec![create("/w/a.txt", "n\n")], &world.fs).is_err());
        failing.offer(number, vec![delete()], &world.fs).unwrap();
    }
    let mut both = read(&[create("/w/a.txt", "n\n"), create("/w/o", "o\n")], false);
    assert!(both.offer(1, vec![create("/w/o", "o\n")], &world.fs).is_err());
}

#[test]
fn refused_proposal_is_reported_once() {
    let world = World::new(&FILES);
    let mut ledger = half_read(&[create("/w/n", "n\n")], &world.fs);
    let wrong = |clause, checks: Vec<serde_json::Value>| artoo_proto::ProposedReading { clause, checks };
    for _ in 0..2 {
        ledger.propose(&[wrong(2, vec![json!({"kind": "none"})]), wrong(1, vec![])], &world.fs);
    }
    assert_eq!(ledger.reading().refused.len(), 2, "{:#?}", ledger.reading().refused);
    let mut ledger = half_read(&[], &world.fs);
    assert!(ledger.require(&["removed: b.tmp".to_owned()], true, &world.fs).is_ok());
    assert!(ledger.require(&["x".to_owned()], true, &world.fs).is_err());
    let mut done = world.clone();
    assert_states(&cover(&ledger, &done), &[CoverageState::NotShown, NotRead, Refuted]);
    done.remove("/w/b.tmp");
    let coverage = cover(&ledger, &done);
    assert!(coverage.is_complete() && coverage.rows[0].why.contains("nothing"), "{coverage:#?}");
}

/// Whether a model may propose that a clause is background and asks for nothing.
fn asks_nothing(words: &str) -> bool {
    let world = World::new(&FILES);
    let text = format!("x {words}");
    let unread = Unread { state: NotRead, why: String::new() };
    let clauses = vec![
        ReadClause { span: (0, 2), read: Ok(vec![delete()]) },
        ReadClause { span: (2, text.len()), read: Err(unread) },
    ];
    let mut ledger = Ledger::of_clauses(&text, clauses, &environment()).simulate(&world.fs);
    ledger.propose(&[artoo_proto::ProposedReading { clause: 2, checks: Vec::new() }], &world.fs);
    let reading = ledger.reading();
    assert_eq!(reading.offered.is_empty(), !reading.refused.is_empty(), "{words}");
    !reading.offered.is_empty()
}

/// A clause may be proposed as background only if its words ask for nothing.
#[test]
fn empty_proposal_is_background_without_requests() {
    for words in [
        "need the room",
        "those never finished",
        "legal wants it",
        "the photo shop only takes those",
        "we expect a busy weekend",
        "lost track",
        "i take them to the accountant tomorrow",
        "We moved office.",
        "for a support ticket:",
        "New semester!",
        "my eyes hurt",
    ] {
        assert!(asks_nothing(words), "{words}");
    }
    for words in [
        "and mail it to Ada",
        "then water the plants",
        "frobnicate the rest",
        "how many are left?",
        "don't touch the rest",
        "never change c.txt",
        "leave the drafts alone",
        "the drafts must stay",
        "I want to keep the drafts",
        "but not the pdfs",
        "except the pdfs",
        "if there is room",
        "once a week",
        "without changing c.txt",
        "and the rest should be zipped",
        "count them",
        "make a backup first",
        "everything else has to be kept",
    ] {
        assert!(!asks_nothing(words), "{words}");
    }
}

/// Checks that a script requires are judged by the disk at the end of the task.
#[test]
fn required_checks_are_judged_at_end() {
    let world = World::new(&FILES);
    let mut ledger = half_read(&[create("/w/n.txt", "n\n")], &world.fs);
    ledger.require_steps("text", vec![create("/w/n.txt", "n\n")], &world.fs);
    ledger.require_steps("removed", vec![delete()], &world.fs);
    ledger.require_steps("measured", vec![count(with_extension("txt"))], &world.fs);
    ledger.require_steps("lines", vec![count(text("/w/n.txt"))], &world.fs);
    assert_eq!(cover(&ledger, &world).rows[5].state, CoverageState::NotShown);
    ledger.by_required = true;
    let mut done = world.clone();
    done.write("/w/n.txt", "n\n");
    let coverage = cover(&ledger, &done);
    assert_states(&coverage, &[Shown, NotRead, Shown, Refuted, Shown, Shown]);
    assert!(!coverage.is_complete() && coverage.rows[2..].iter().all(|row| row.required));
    done.remove("/w/b.tmp");
    let coverage = cover(&ledger, &done);
    assert!(coverage.is_complete(), "{coverage:#?}");
    let mut gone = done.clone();
    ledger.require_steps("there", vec![count(text("/w/a.txt"))], &world.fs);
    gone.remove("/w/a.txt");
    assert_eq!(cover(&ledger, &gone).rows[6].state, CoverageState::NotShown);
    ledger.by_required = false;
    assert!(!cover(&ledger, &done).is_complete());
}

#[test]
fn proposal_must_cover_its_whole_clause() {
    let refused = |words: &str, checks: &[serde_json::Value]| {
        let unread = Err(Unread { state: CoverageState::NotRead, why: String::new() });
        let all = vec![ReadClause { span: (0, words.len()), read: unread }];
        let world = World::new(&FILES);
        let mut ledger = Ledger::of_clauses(words, all, &environment()).simulate(&world.fs);
        ledger.propose(&[artoo_proto::ProposedReading { clause: 1, checks: checks.to_vec() }], &world.fs);
        let reading = ledger.reading();
        assert!(reading.offered.len() + reading.refused.len() == 1, "{reading:#?}");
        reading.refused.first().and_then(|line| Some(line.split_once('“')?.1.split_once('”')?.0.to_owned()))
    };
    let made = json!({"kind": "text_is", "path": "n.txt", "text": "hi"});
    let removed = json!({"kind": "removed", "path": "b.tmp"});
    let listed = json!({"kind": "removed", "paths": ["b.tmp"]});
    let kept = json!({"kind": "unchanged", "path": "a.txt"});
    let asked = json!({"kind": "measured", "question": "how many lines does a.txt have"});
    let ran = json!({"kind": "ran", "command": "./x", "to": "o.txt"});
    let edited = |op: &str| json!({"kind": "edited", "path": "a.txt", "op": op});
    let (sorted, unique) = (edited("sort"), edited("unique"));
    let renamed = json!({"kind": "renamed", "from": "b.tmp", "to": "c.tmp"});
    let moved = json!({"kind": "moved", "path": "b.tmp", "to": "d/"});
    let linked = json!({"kind": "linked", "path": "d/deploy", "target": "c"});
    let elsewhere = json!({"kind": "linked", "path": "d/x", "target": "c"});
    for (words, checks, word) in [
        ("create n.txt with hi in it", vec![&made], None),
        ("create n.txt with hi in it and mail it to Ada", vec![&made], Some("mail")),
        ("jot hi into n.txt, then delete b.tmp", vec![&made], Some("delete")),
        ("jot hi into n.txt, then delete b.tmp", vec![&made, &removed], None),
        ("jot hi into n.txt and frobnicate it", vec![&made], Some("frobnicate")),
        ("jot hi into n.txt and remind me", vec![&made], Some("remind")),
        ("jot hi into n.txt so that you can send it", vec![&made], Some("send")),
        ("ditch b.tmp if it is empty", vec![&removed], Some("if")),
        ("ditch b.tmp tomorrow", vec![&removed], Some("tomorrow")),
        ("ditch b.tmp every day", vec![&removed], Some("every day")),
        ("ditch it all except a.txt", vec![&removed], Some("except")),
        ("ditch it all except a.txt", vec![&listed], None),
        ("ditch b.tmp without changing a.txt", vec![&removed], Some("without")),
        ("ditch b.tmp without changing a.txt", vec![&removed, &kept], None),
        ("I don't need b.tmp any more, please ditch it", vec![&removed], None),
        ("ditch b.tmp", vec![&moved], Some("ditch")),
        ("ditch b.tmp and let me know how many lines a.txt has", vec![&removed], Some("let")),
        ("ditch b.tmp and let me know how many lines a.txt has", vec![&removed, &asked], None),
        ("launch ./x, tell me if it works and keep what it says in o.txt", vec![&ran], None),
        ("launch ./x if it is there and keep what it says in o.txt", vec![&ran], Some("if")),
        ("put 'mail it tomorrow' or hi into n.txt", vec![&made], None),
        ("fill n.txt, message: 'hi'", vec![&made], None),
        ("fill n.txt, message it to Ada", vec![&made], Some("message")),
        ("put a.txt in alphabetical order", vec![&sorted], None),
        ("put a.txt in alphabetical order and order a pizza", vec![&sorted], Some("order")),
        ("throw the repeated lines out of a.txt, keep the first of each", vec![&unique], None),
        ("throw the repeated lines out of a.txt, keep b.tmp", vec![&unique], Some("keep")),
        ("b.tmp should be c.tmp instead", vec![&renamed], None),
        ("ditch b.tmp instead", vec![&removed], Some("instead")),
        ("put a symlink to c in d, named deploy", vec![&linked], None),
        ("put a symlink to c in d and deploy it", vec![&elsewhere], Some("deploy")),
        ("my n.txt should say hi, could you make it", vec![&made], None),
    ] {
        let checks: Vec<_> = checks.into_iter().cloned().collect();
        assert_eq!(refused(words, &checks).as_deref(), word, "{words}");
    }
}

/// The clauses that code offers to treat as background. `|` separates the clauses of a request; code has read those
/// with `=`.
fn backgrounds(request: &str) -> Vec<String> {
    let world = World::new(&FILES);
    let (mut text, mut clauses) = (String::new(), Vec::new());
    for part in request.split('|') {
        let unread = Unread { state: NotRead, why: String::new() };
        let read = if part.starts_with('=') { Ok(vec![delete()]) } else { Err(unread) };
        let from = text.len();
        text.push_str(part);
        clauses.push(ReadClause { span: (from, text.len()), read });
    }
    let ledger = Ledger::of_clauses(&text, clauses, &environment()).simulate(&world.fs);
    ledger.reading().offered.iter().map(|offered| offered.words.clone()).collect()
}

#[test]
fn statements_are_offered_as_background() {
    for (request, told) in [
        ("My machine is a mess.|=x", "My machine is a mess."),
        ("I've just come back from a wedding.|=x", "I've just come back from a wedding."),
        ("Our company changed its legal form.|=x", "Our company changed its legal form."),
        ("=x|my teacher wants to know", "my teacher wants to know"),
        ("=x,|it's for name badges", "it's for name badges"),
        ("=x|because Ada has a new laptop", ""),
        ("=x|because Ada has a laptop", "because Ada has a laptop"),
        ("=x,|so nobody edits it by accident", "so nobody edits it by accident"),
        ("=x,|the upload form doesn't take them otherwise", "the upload form doesn't take them otherwise"),
        ("=x.|can't read it otherwise", "can't read it otherwise"),
        ("=x,|i've printed them all", "i've printed them all"),
        ("=x,|i don't need it anymore", "i don't need it anymore"),
        ("=x,|i'll start on it tomorrow", "i'll start on it tomorrow"),
        ("=x|so that i can read it on the train", "so that i can read it on the train"),
        ("=x|trying to free up room", "trying to free up room"),
        ("My disk is almost full,|=x", "My disk is almost full"),
        ("Mr. Smith got his PhD,|=x", "Mr. Smith got his PhD"),
        ("I want to start on the login page:|=x", "I want to start on the login page:"),
        ("I want to start on the login page|=x", ""),
        ("I want to delete the login page:|=x", ""),
        ("Go through a.txt,|save what is in it", "Go through a.txt"),
        ("Go through a.txt|=x", ""),
        ("Go through a.txt and b.tmp,|save what is in them", ""),
        ("Go through the mail in a.txt,|save it", ""),
        ("my data file lab/run7.csv has no header|put x at the top of it", "my data file lab/run7.csv has no header"),
        // The statement could restrict the files of a read clause.
        ("my data file lab/run7.csv has no header|=x", ""),
        ("My pictures are in ~/pics.|=x", ""),
        ("My machine is a mess.", ""),
    ] {
        let offered = backgrounds(request);
        assert_eq!(offered.first().map_or("", String::as_str), told, "{request}");
        assert!(offered.len() <= 1, "{offered:?}");
    }
    for words in [
        "Is my machine a mess?",
        "The blue ones are mine.",
        "Ada still has hers.",
        "The oldest have to go.",
        "The drafts are important.",
        "Those are not for Ada.",
        "That's only for Ada.",
        "They aren't for Ada.",
        "Ada is away and delete b.tmp",
        "Ada is away, mail it to her.",
        "Ada wants to know how many there are.",
        "The rest is deleted.",
        "They can't be deleted.",
        "Ada doesn't want them gone.",
        "Otherwise Ada can't read it.",
        "I'll delete the rest tomorrow, then tell me how many are left.",
        "so that only Ada can read it",
        "trying to keep it private",
        "don't touch the rest",
        "I don't need it if Ada has one.",
        "Ada sends it tomorrow.",
        "Everything was for Ada.",
        "It's for Ada if she wants it.",
        "The first 3 are for Ada.",
        "In June it was for Ada.",
        "However it was for Ada.",
        "It was for Ada, I mean Bob.",
        "tell Ada it is over",
        "Frobnicate the machine.",
    ] {
        assert_eq!(backgrounds(&format!("{words}|=x")), Vec::<String>::new(), "{words}");
    }
}

#[test]
fn background_counts_only_after_confirmation() {
    let request = "x My machine is a mess.";
    let world = World::new(&FILES);
    let clauses = |end| {
        let unread = Unread { state: NotRead, why: String::new() };
        vec![ReadClause { span: (0, 1), read: Ok(vec![delete()]) }, ReadClause { span: (1, end), read: Err(unread) }]
    };
    let mut ledger = Ledger::of_clauses(request, clauses(request.len()), &environment()).simulate(&world.fs);
    assert!(cover(&ledger, &world).offered.len() == 1);
    let mut done = world.clone();
    done.remove("/w/b.tmp");
    assert_states(&cover(&ledger, &done), &[Shown, NotRead]);
    assert!(!cover(&ledger, &done).is_complete());
    // A proposal with checks replaces the offer as background.
    let kept = json!({"kind": "unchanged", "path": "a.txt"});
    let mut typed = Ledger::of_clauses(request, clauses(request.len()), &environment()).simulate(&world.fs);
    typed.propose(&[artoo_proto::ProposedReading { clause: 2, checks: vec![kept] }], &world.fs);
    assert_eq!(typed.reading().offered[0].obligations.len(), 1);
    ledger.confirm();
    let coverage = cover(&ledger, &done);
    assert_states(&coverage, &[Shown, CoverageState::Courtesy]);
    assert!(coverage.is_complete() && coverage.rows[1].confirmed);
    assert!(!cover(&ledger, &world).is_complete());
}
