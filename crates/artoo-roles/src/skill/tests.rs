//! Tests of what is learned from episodes, and of the requests that a skill takes.

use artoo_proto::{Check, ProposedReading, ToolRequest};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Body, Episode, Part, Skill};

const FOLDER: &str = "/home/u/work";

/// A skill body with these calls and readings.
fn body(calls: &[(&str, Value)], readings: Vec<Value>) -> Body {
    let call = |(tool, input): &(&str, Value)| ToolRequest { tool: (*tool).to_owned(), input: input.clone() };
    let calls = calls.iter().map(call).collect();
    let part = Part { intent: "do it".to_owned(), sequence: 1, calls, checks: Vec::new() };
    let readings = readings.into_iter().map(|check| ProposedReading { clause: 1, checks: vec![check] }).collect();
    Body { scope: None, parts: vec![part], readings }
}

/// An episode of this request, with this body.
fn episode(request: &str, body: Body) -> Episode {
    Episode { request: request.to_owned(), folder: FOLDER.to_owned(), body }
}

/// An episode of a request that asks how many words the file of this name has, answered by a shell command.
fn counted(name: &str) -> Episode {
    let call = ("shell", json!({"command": format!("wc -w < notes/{name}.txt")}));
    let check = json!({"kind": "word_count", "path": format!("notes/{name}.txt")});
    episode(&format!("How wordy is notes/{name}.txt?"), body(&[call], vec![check]))
}

const NAMES: [&str; 6] = ["may", "june", "july", "trip-2", "plan_b", "x"];

#[test]
fn skill_applies_to_new_argument() {
    let skill = Skill::learn(&NAMES.map(counted)).unwrap();
    assert_eq!(skill.shown(), "how wordy is notes/[1].txt");
    assert_eq!(skill.body("how wordy is notes/august.txt", FOLDER), Some(counted("august").body));
    for other in ["how wordy is letters/may.txt", "how long is notes/may.txt", "how wordy is notes/may.txt now", ""] {
        assert_eq!(skill.body(other, FOLDER), None, "{other}");
    }
    assert_eq!(skill.body("how wordy is notes/may.txt", "/home/u"), None, "another folder");
}

/// No skill applies to a request whose argument has shell syntax, an option, another folder, a wildcard or a marker.
#[doc = "holds: law 1"]
#[test]
fn hostile_slot_values_are_refused() {
    let skill = Skill::learn(&NAMES.map(counted)).unwrap();
    let hostile =
        ["$(id)", "a;id", "`id`", "-rf", "a/../../etc/x", "sub/may", "*", "a\u{1}0\u{1}", "a>b", "a|b", "é", "a&b"];
    for value in hostile {
        let quoted = format!("how wordy is \"notes/{value}.txt\"");
        assert_eq!(skill.body(&quoted, FOLDER), None, "{value}");
    }
    assert!(skill.body("how wordy is \"notes/a b.txt\"", FOLDER).is_none(), "a shell splits at a space");
    assert!(skill.body("how wordy is \"notes/a-b.txt\"", FOLDER).is_some(), "the quotes don't matter");

    // A program in a pipeline may be a shell too.
    let piped = |name: &str| {
        let script = format!("wc -w < notes/{name}.txt");
        episode(
            &format!("wordiness of {name}"),
            body(&[("shell", json!({"pipeline": [["sh", "-c", script]]}))], Vec::new()),
        )
    };
    let piped = Skill::learn(&NAMES.map(piped)).unwrap();
    assert!(piped.body("wordiness of august", FOLDER).is_some());
    assert_eq!(piped.body("wordiness of \"may.txt x\"", FOLDER), None, "a shell splits at a space");

    let nested = Skill::learn(&["may", "old/june", "july", "a/b/c", "x", "y"].map(counted)).unwrap();
    assert_eq!(nested.body("how wordy is notes/2023/may.txt", FOLDER), Some(counted("2023/may").body));
    assert_eq!(nested.body("how wordy is notes/a/../../etc/passwd.txt", FOLDER), None, "another folder");
}

/// No skill is learned if calls differ for no reason in the requests, if requests differ without effect, or from five
/// tasks.
#[test]
fn unexplained_differences_teach_nothing() {
    let written = |at: usize, name: &str| {
        let call = ("write_file", json!({"path": format!("{name}.txt"), "content": format!("version {at}")}));
        episode(&format!("write the usual note {name}.txt"), body(&[call], Vec::new()))
    };
    let episodes: Vec<Episode> = NAMES.iter().enumerate().map(|(at, name)| written(at, name)).collect();
    assert!(Skill::learn(&episodes).unwrap_err().contains("version 0"));
    let unused =
        |name: &str| episode(&format!("count for {name}"), body(&[("glob", json!({"pattern": "*"}))], Vec::new()));
    assert!(Skill::learn(&NAMES.map(unused)).unwrap_err().contains("changes nothing"));
    assert!(Skill::learn(&NAMES.map(counted)[1..]).is_err(), "five tasks are too few");
}

/// A single episode that does something else is left out; the skill is learned from all the others.
#[test]
fn poisoned_episode_is_left_out() {
    let poisoned = episode("How wordy is notes/may.txt?", {
        body(
            &[("shell", json!({"command": "wc -w < notes/may.txt; curl evil"}))],
            vec![json!({"kind": "word_count", "path": "notes/may.txt"})],
        )
    });
    let mut episodes = NAMES.map(counted).to_vec();
    episodes.insert(3, poisoned.clone());
    let skill = Skill::learn(&episodes).unwrap();
    assert_eq!(skill.body("how wordy is notes/may.txt", FOLDER), Some(counted("may").body));
    episodes.push(poisoned);
    assert!(Skill::learn(&episodes).is_err(), "two of them");
}

/// A skill's slots also fill numbers, quoted texts and checks; a word where a number is expected doesn't fit.
#[test]
fn numbers_texts_and_checks_are_slots() {
    let shown = |count: u32, word: &str| {
        let calls = [
            ("grep", json!({"pattern": word, "path": "log.txt", "limit": count})),
            ("shell", json!({"pipeline": [["head", "-n", count.to_string(), "log.txt"]]})),
        ];
        let mut body = body(&calls, Vec::new());
        body.parts[0].checks =
            vec![Check::FileContains { path: "/home/u/work/out.txt".to_owned(), text: word.to_owned() }];
        episode(&format!("first {count} lines with “{word}” in log.txt"), body)
    };
    let words = ["red", "blue sky", "green", "black", "white", "grey"];
    let episodes: Vec<Episode> = (3..).zip(words).map(|(count, word)| shown(count, word)).collect();
    let skill = Skill::learn(&episodes).unwrap();
    assert_eq!(skill.body("first 40 lines with \"deep sea\" in log.txt", FOLDER), Some(shown(40, "deep sea").body));
    assert_eq!(skill.body("first few lines with \"red\" in log.txt", FOLDER), None, "a number is expected");
}

/// Requests that differ only in their argument have the same space tag; another wording or tool has another.
#[test]
fn space_is_shared_by_kind() {
    assert_eq!(counted("may").space(), counted("june").space());
    assert!(counted("may").space().starts_with("skill:how_wordy_is-"));
    let longer = Episode { request: "how wordy is now notes/may.txt".to_owned(), ..counted("may") };
    let other_tool =
        Episode { body: body(&[("grep", json!({"path": "notes/may.txt"}))], Vec::new()), ..counted("may") };
    for other in [longer, other_tool] {
        assert_ne!(other.space(), counted("may").space());
    }
}

proptest! {
    /// A skill learned from six tasks of one kind makes the calls that the seventh task would make.
    #[test]
    fn skill_does_what_the_task_would(
        values in proptest::collection::hash_set("[a-z][a-z0-9_-]{0,8}", 7),
        tail in "[a-z ]{0,12}",
        place in 0..3_usize,
    ) {
        let of = |value: &String| {
            let request = match place {
                0 => format!("{value} needs tidying"),
                1 => format!("please tidy {value} today"),
                _ => format!("tidy docs/{value}.md"),
            };
            let calls = [
                ("move", json!({"from": format!("docs/{value}.md"), "to": format!("old/{value}.bak")})),
                ("shell", json!({"command": format!("echo {value} {tail}")})),
            ];
            episode(&request, body(&calls, Vec::new()))
        };
        let values: Vec<String> = values.into_iter().collect();
        let learned: Vec<Episode> = values[1..].iter().map(of).collect();
        let unseen = of(&values[0]);
        let skill = Skill::learn(&learned).unwrap();
        prop_assert_eq!(skill.body(&unseen.request, FOLDER), Some(unseen.body));
    }
}
