//! What corrections, notes and many tasks teach: lessons, notes, hypotheses, texts of level T.

use super::{DAY, NOW, environmental, event, replayed, write};
use artoo_mkct::{
    Action, Engine, NewMegram, RecallQuery, State, Tag,
    advice::{Cap, Recall, Selector, Similarity},
    record::{ForgetError, Frame, MAX_INTENT_BYTES, Megram, WriteError, intent_tag},
};

const INTENT: &str = "Count the PDF files in Documents";

/// The recall for an intent.
fn recall(engine: &Engine, intent: &str) -> Recall {
    engine.recall(&RecallQuery::new(intent), NOW)
}

/// An event that a set of tools worked for an intent.
fn worked(intent: &str, entity: &str, task: &str) -> NewMegram {
    event(&intent_tag(intent), entity, State::Accept, task).intent(intent)
}

/// A lesson about a criterion of an intent.
fn lesson(intent: &str, criterion: &str, task: &str) -> NewMegram {
    NewMegram::lesson(intent, criterion, "hidden files were counted", "glob", "*.pdf").task(task)
}

/// A recall returns lessons of the intent and of similar ones, best first, and only one for each criterion.
#[test]
fn lessons_come_back_best_first_and_once() {
    let mut engine = Engine::new();
    let other = "Count all PDF documents in Downloads";
    for (intent, criterion, task, age) in [
        (INTENT, "a number", "a", 9),
        (INTENT, "a number", "b", 1),
        (other, "A Number", "c", 0),
        (other, "a path", "d", 3),
        (INTENT, "no hidden files", "e", 2),
        ("Rename the photos", "a date", "f", 0),
    ] {
        engine.write(lesson(intent, criterion, task), NOW - age * DAY).unwrap();
    }
    let told = recall(&engine, INTENT).lessons;
    let lines: Vec<_> = told.iter().map(|lesson| (lesson.criterion.as_str(), lesson.task.as_deref())).collect();
    assert_eq!(lines, [("a number", Some("b")), ("no hidden files", Some("e")), ("a path", Some("d"))]);
    assert_eq!(
        (told[0].wrong.as_str(), told[0].tool.as_str(), told[0].input.as_str()),
        ("hidden files were counted", "glob", "*.pdf")
    );
    assert!(told[0].similarity == 1.0 && told[2].similarity < 0.9 && told[2].decision < 0.9 * 0.8, "{told:?}");
    assert_eq!(recall(&engine, INTENT).advice, [], "a lesson is no advice");
    let later = engine.recall(&RecallQuery::new(INTENT), NOW + 30 * DAY);
    assert_eq!(later.lessons.len(), 1, "two records of a number still stand: {:?}", later.lessons);
}

/// A lesson is no longer recalled once the tasks it did not help outweigh those it helped.
#[test]
fn unhelpful_lesson_is_dropped() {
    let mut engine = Engine::new();
    let id = write(&mut engine, NOW, lesson(INTENT, "a number", "a")).id;
    engine.lesson_outcome(id, true, Some("b"), NOW).unwrap();
    assert!(recall(&engine, INTENT).lessons[0].decision > 1.5);
    engine.lesson_outcome(id, false, Some("c"), NOW).unwrap();
    assert_eq!(recall(&engine, INTENT).lessons.len(), 1, "one of two helped");
    let last = engine.lesson_outcome(id, false, Some("d"), NOW).unwrap();
    assert_eq!(recall(&engine, INTENT).lessons, []);
    let Frame::Written { megram } = last else { panic!() };
    assert_eq!((megram.tag(), megram.intent.as_deref()), (Tag::lesson(INTENT, "a number"), Some(INTENT)));
    let unknown = engine.lesson_outcome(megram.id, true, None, NOW);
    assert_eq!(unknown, Err(WriteError::NotALesson { id: megram.id }));
}

/// After a person corrects a result, its approach is only advised with caution until two other tasks succeed with it.
#[test]
fn correction_ends_exploit_until_two_successes() {
    let mut engine = Engine::new();
    let tag = Tag::approach(INTENT, &["glob"]);
    for task in ["a", "b", "c", "d", "e", "f", "g"] {
        write(&mut engine, NOW, worked(INTENT, "via:glob", task));
    }
    write(&mut engine, NOW, lesson(INTENT, "a number", "g"));
    let ticket = engine.promotions(NOW).remove(0).ticket;
    engine.promote(&ticket, "count with glob", NOW).unwrap();
    let sop = &engine.sop_records()[0];
    assert_eq!((sop.tasks, sop.evidence.len(), &sop.tag), (7, 7, &tag));
    assert_eq!(recall(&engine, INTENT).advice[0].potentials.action, Action::Exploit);

    let frames = engine.correct("g", "there were 13", NOW + 1).unwrap();
    let correction = |frame: &Frame| {
        let Frame::Written { megram } = frame else { panic!("{frame:?}") };
        let Megram { entity, sigma, f, content, provenance, .. } = megram.clone();
        (entity, sigma, f, content, provenance.contradicts)
    };
    let corrections: Vec<_> = frames.iter().map(correction).collect();
    let against = |entity: &str, rule| (entity.to_owned(), -1.0, 0.95, "there were 13".to_owned(), rule);
    let rule = Some(engine.sop_records()[0].id);
    let expected = [against("lesson:a number", None), against("via:glob", None), against("via:glob", rule)];
    assert_eq!(corrections, expected);
    assert_eq!(engine.correct("g", "again", NOW + 2), Ok(vec![]), "once for a task");
    assert_eq!(engine.correct("unknown", "again", NOW + 2), Ok(vec![]));
    let told = recall(&engine, INTENT);
    assert_eq!((told.advice[0].potentials.action, told.advice[0].capped), (Action::Caution, Some(Cap::Corrected)));
    assert!(told.advice[0].potentials.decision > 4.0 && told.lessons.is_empty());
    let tasks: Vec<_> = engine.tasks(2).into_iter().map(|task| (task.task, task.corrected)).collect();
    assert_eq!(tasks, [("g".to_owned(), true), ("f".to_owned(), false)]);
    for (task, action) in [("h", Action::Caution), ("h", Action::Caution), ("i", Action::Exploit)] {
        write(&mut engine, NOW + DAY, worked(INTENT, "via:glob", task));
        assert_eq!(engine.recall(&RecallQuery::new(INTENT), NOW + DAY).advice[0].potentials.action, action, "{task}");
    }
}

#[test]
fn notes_are_kept_and_found_by_words() {
    let mut engine = Engine::new();
    for (number, text) in
        ["Invoices are in ~/Money, as PDF", "My sister's name is Ada", "Print on both sides"].iter().enumerate()
    {
        write(&mut engine, NOW + number as i64, NewMegram::note(text));
    }
    let texts =
        |engine: &Engine, intent| recall(engine, intent).notes.into_iter().map(|note| note.text).collect::<Vec<_>>();
    assert_eq!(texts(&engine, "Print the invoice for Ada"), ["Print on both sides", "My sister's name is Ada"]);
    assert_eq!(texts(&engine, "Compress the videos"), [""; 0]);
    let clocks = |days| artoo_mkct::clock::Clocks { wall_ms: NOW + days * DAY, uptime_ms: days * DAY };
    let faded = engine.sweep(clocks(4_000));
    assert_eq!((faded.faded_tags, texts(&engine, "Print the form").len()), (0, 1), "a note does not decay");
    let found = engine.find(&Selector::Words("print sides".to_owned()), 9);
    assert_eq!(found.iter().map(|note| note.content.as_str()).collect::<Vec<_>>(), ["Print on both sides"]);
    engine.forget(found[0].id, NOW).unwrap();
    assert_eq!(texts(&engine, "Compress the videos").len(), 2, "few and short: returned for every intent");
}

/// Tools that worked for three intents with the same act are proposed for a new one, until they failed twice by their
/// own fault.
#[test]
fn approach_of_three_intents_becomes_hypothesis() {
    let mut engine = Engine::new();
    let intents =
        ["Compress the invoices of March", "Zip the holiday photos", "Pack the source folder", "Compress the videos"];
    let new = "Compress my letters";
    for intent in &intents[..2] {
        write(&mut engine, NOW, worked(intent, "via:files,tar", "t"));
    }
    write(&mut engine, NOW, worked("Count the boxes", "via:files,tar", "t"));
    assert_eq!(recall(&engine, new).hypotheses, [], "two intents with the act");
    write(&mut engine, NOW, worked(intents[2], "via:files,tar", "t"));
    let [hypothesis] = recall(&engine, new).hypotheses.try_into().unwrap();
    assert_eq!(
        (hypothesis.tools.as_slice(), hypothesis.intents, hypothesis.potentials.action),
        (["files", "tar"].map(str::to_owned).as_slice(), 3, Action::Caution)
    );
    assert!(hypothesis.potentials.decision <= 0.2 && hypothesis.potentials.attention <= 0.5);
    let usable = ["files".to_owned()];
    assert_eq!(engine.recall(&RecallQuery::new(new).tools(&usable), NOW).hypotheses, [], "no tar among the tools");
    write(&mut engine, NOW, worked(intents[3], "via:zip", "t"));
    assert_eq!(recall(&engine, intents[3]).hypotheses, [], "something better is known");

    let outcome = |state, task| event(&hypothesis.tag.space, &hypothesis.tag.entity, state, task);
    write(&mut engine, NOW, outcome(State::Abandon, "a"));
    write(&mut engine, NOW, environmental(&hypothesis.tag.space, &hypothesis.tag.entity, State::Abandon, "b"));
    write(&mut engine, NOW, outcome(State::Accept, "c"));
    let again = recall(&engine, new).hypotheses.remove(0);
    assert_eq!((again.worked, again.failed), (1, 1));
    write(&mut engine, NOW, outcome(State::Abandon, "d"));
    assert_eq!(recall(&engine, new).hypotheses, []);
}

/// A text for level T is proposed after ten tasks of three intents, and is stored only when adopted as proposed.
#[test]
fn level_t_text_needs_tasks_and_approval() {
    let mut engine = Engine::new();
    engine.write_thinking(&Tag::new("law:0", "env:local"), "never deceive", NOW).unwrap();
    let law = engine.thinking().next().unwrap().id;
    for (intent, tasks) in [("Count the files", 7), ("Find the photos", 7), ("Sort the letters", 7)] {
        assert_eq!(engine.thinking_proposals(), []);
        for task in 0..tasks {
            write(
                &mut engine,
                NOW,
                worked(intent, "via:glob", &format!("t{}", if intent.starts_with('S') { task + 3 } else { task })),
            );
        }
        for promotion in engine.promotions(NOW) {
            engine.promote(&promotion.ticket, "use glob", NOW).unwrap();
        }
    }
    let [proposal] = engine.thinking_proposals().try_into().unwrap();
    assert_eq!((proposal.tasks, proposal.intents, proposal.rules.len()), (10, 3, 3));
    let mut stale = proposal.clone();
    stale.text = "lie".to_owned();
    assert_eq!(engine.adopt_thinking(&stale, NOW), Err(WriteError::NotProposed));
    let mut opposed = engine.clone();
    write(&mut opposed, NOW, event(&intent_tag("Count the files"), "via:glob", State::Abandon, "x"));
    assert_eq!(opposed.thinking_proposals(), []);

    let adopted = engine.adopt_thinking(&proposal, NOW).unwrap();
    assert_eq!((engine.thinking_proposals(), engine.thinking().count()), (vec![], 2));
    let Frame::Written { megram } = &adopted else { panic!() };
    assert_eq!(replayed(std::slice::from_ref(&adopted)).thinking().count(), 1);
    engine.forget(megram.id, NOW).unwrap();
    assert_eq!((engine.thinking_proposals().len(), engine.thinking().count()), (1, 1), "revoked");
    assert_eq!(engine.forget(law, NOW), Err(ForgetError::Immutable { id: law }));
}

/// A similarity that returns for every query one remembered intent, with a similarity of 7, and one unknown intent.
#[derive(Debug)]
struct Near(&'static str);

impl Similarity for Near {
    fn candidates(&self, _: &str) -> Vec<(String, f64)> {
        vec![(self.0.to_owned(), 7.0), ("never seen".to_owned(), 1.0)]
    }
}

/// Similar intents that the program supplies count with a similarity of at most 0.9, as those found by words do.
#[test]
fn candidates_of_a_program_are_capped_alike() {
    let mut engine = Engine::new();
    write(&mut engine, NOW, worked(INTENT, "via:glob", "a"));
    assert_eq!(engine.intents().collect::<Vec<_>>(), [INTENT]);
    let query = RecallQuery::new("Wo bin ich");
    assert_eq!(engine.recall(&query, NOW).advice, []);
    let [advice] = engine.recall_with(&query, Some(&Near(INTENT)), NOW).advice.try_into().unwrap();
    assert_eq!((advice.similarity, advice.capped), (0.9, Some(Cap::Similar)));
}

/// The overview lists the newest tags with the action and cap that a recall would give them, and leaves notes out.
#[test]
fn the_overview_shows_what_recall_advises() {
    let mut engine = Engine::new();
    write(&mut engine, NOW, event("tool:shell", "path:/x", State::Abandon, "a"));
    write(&mut engine, NOW + 1, worked(INTENT, "via:glob", "a"));
    write(&mut engine, NOW + 2, event("intent:count_the_pdf", "via:find", State::Accept, "a"));
    write(&mut engine, NOW + 3, NewMegram::note("a note"));
    let rows: Vec<_> = engine
        .overview(3, NOW + 4)
        .into_iter()
        .map(|row| (row.tag.entity, row.potentials.action, row.capped))
        .collect();
    assert_eq!(
        rows,
        [
            ("via:find".to_owned(), Action::Caution, Some(Cap::Similar)),
            ("via:glob".to_owned(), Action::Exploit, None),
            ("path:/x".to_owned(), Action::Caution, Some(Cap::OneTask)),
        ]
    );
    assert_eq!(engine.overview(1, NOW + 4).len(), 1);
}

#[test]
fn records_are_found_by_id_or_tag() {
    let mut engine = Engine::new();
    let ids: Vec<_> = [("via:glob", "a"), ("via:shell", "b"), ("via:glob", "b")]
        .map(|(entity, task)| write(&mut engine, NOW, worked(INTENT, entity, task)).id)
        .into();
    let found = |selector| engine.find(&selector, 9).iter().map(|megram| megram.id).collect::<Vec<_>>();
    assert_eq!(found(Selector::Id(ids[1])), [ids[1]]);
    assert_eq!(found(Selector::Task("b".to_owned())), [ids[2], ids[1]]);
    assert_eq!(found(Selector::Tag(Tag::approach(INTENT, &["glob"]))), [ids[2], ids[0]]);
    assert_eq!(found(Selector::Words("how many pdf documents".to_owned())).len(), 3);
    assert_eq!(found(Selector::Words(String::new())), []);
}

/// An intent above the size limit is stored cut off, and the same long intent still finds it.
#[test]
fn long_intents_are_cut_and_compared_alike() {
    let mut engine = Engine::new();
    let long = format!("{INTENT} {}", "é".repeat(MAX_INTENT_BYTES));
    write(&mut engine, NOW, worked(&long, "via:glob", "a"));
    let stored = engine.intents().next().unwrap().len();
    assert!(stored <= MAX_INTENT_BYTES && stored > MAX_INTENT_BYTES - 3);
    assert_eq!(recall(&engine, &long).advice[0].potentials.action, Action::Exploit);
}

/// Feedback against a rule lowers the advice for a known intent under the rule's tag, and is about no intent of its
/// own.
#[test]
fn feedback_against_a_rule_concerns_every_intent() {
    let mut engine = Engine::new();
    for task in ["a", "b", "c", "d", "e", "f"] {
        write(&mut engine, NOW, worked(INTENT, "via:glob", task));
    }
    let ticket = engine.promotions(NOW).remove(0).ticket;
    engine.promote(&ticket, "count with glob", NOW).unwrap();
    let before = recall(&engine, INTENT).advice[0].clone();
    let rule = engine.sop_records()[0].id;
    engine.record_negative_feedback(rule, "it missed two", Some("g"), NOW).unwrap();
    let after = recall(&engine, INTENT).advice[0].clone();
    assert!((before.potentials.decision - after.potentials.decision - 0.95).abs() < 1e-12, "{after:?}");
    assert_eq!((after.megrams_total, after.megrams.len()), (7, 7));
    assert_eq!(engine.intents().collect::<Vec<_>>(), [INTENT], "the feedback is about no intent of its own");
}

/// Rules of three intents propose a text for level T only when ten distinct tasks confirm them, not nine.
#[test]
fn nine_tasks_propose_no_habit() {
    let mut engine = Engine::new();
    for intent in ["Count the files", "Find the photos", "Sort the letters"] {
        for task in 0..9 {
            write(&mut engine, NOW, worked(intent, "via:glob", &format!("t{task}")));
        }
        for promotion in engine.promotions(NOW) {
            engine.promote(&promotion.ticket, "use glob", NOW).unwrap();
        }
    }
    assert_eq!((engine.sop_records().len(), engine.thinking_proposals()), (3, vec![]));
    write(&mut engine, NOW, worked("Count the files", "via:glob", "t9"));
    assert_eq!(engine.thinking_proposals().len(), 1);
}

/// A recall also returns the lessons of three similar intents if the intent itself is already known.
#[test]
fn three_alike_intents_teach_beside_the_same() {
    let mut engine = Engine::new();
    write(&mut engine, NOW, worked(INTENT, "via:glob", "a"));
    for (place, criterion) in [("Downloads", "a number"), ("Music", "a path"), ("Desktop", "a date")] {
        write(&mut engine, NOW, lesson(&format!("Count the PDF files in {place}"), criterion, "b"));
    }
    assert_eq!(recall(&engine, INTENT).lessons.len(), 3);
}
