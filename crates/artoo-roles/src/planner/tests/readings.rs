//! Tests of how R2 handles the parts of a request: what the model is shown, and how its readings of them are used.

use artoo_proto::{Clause, CoverageState, Message, Obligation, ProposedReading, Reading, TaskSpec, Unread};
use serde_json::{Value, json};

use super::super::prompt;
use super::{Input, Lifecycle, Planner, ReplanDirective, asked, bench, directive, good, plan_of, recall};
use crate::limits::REPLY_READINGS;
use crate::machine::ReadOrder;
use crate::testing::bench::{Bench, only, reading, reply, said, spec, start, task_id};
use crate::testing::world::config;

/// A request of four parts: one that code reads, one that it can't read, one to be judged, and a courtesy.
pub(super) fn in_parts(words: &str) -> Reading {
    let clause = |number: u32, state: Option<CoverageState>| Clause {
        number,
        span: (0, words.len()),
        words: format!("{words} {number}"),
        obligations: match state {
            Some(_) => Vec::new(),
            None => vec![Obligation { step: json!({}), reading: format!("count {words}") }],
        },
        unread: state.map(|state| Unread { state, why: format!("{words} is not read") }),
    };
    let states = [None, Some(CoverageState::NotRead), Some(CoverageState::Judged), Some(CoverageState::Courtesy)];
    let clauses = (1..).zip(states).map(|(number, state)| clause(number, state)).collect();
    Reading { clauses, ..Reading::default() }
}

/// R2 with a task whose request was read in this way; it waits for memory's answer.
fn begun(reading: Reading) -> Bench<Lifecycle<Planner>> {
    let mut bench = bench();
    bench.step(Input::Task(TaskSpec { reading, ..spec("tidy up") }));
    bench
}

/// A check that differs by its number.
fn check(number: usize) -> Value {
    json!({"kind": "removed", "paths": [format!("~/{number}")]})
}

/// The planner's prompt lists each part of the request with how code reads it, or that it can't.
#[test]
fn prompt_lists_parts_and_parser_coverage() {
    let mut bench = begun(in_parts("the logs"));
    let (_, asked) = asked(&bench.step(Input::Recalled(recall(0))));
    let expected = "part by part, as code reads it:\n<<DATA-0\n1: count the logs — code compares it by itself\n\
                    2: NOT READ: the logs 2 (the logs is not read)\n\
                    3: FOR JUDGEMENT: the logs 3 (the logs is not read)\nDATA-0>>";
    assert!(asked.prompt.user.contains(expected), "{}", asked.prompt.user);
    let mut unread = begun(Reading::default());
    let (_, asked) = super::asked(&unread.step(Input::Recalled(recall(0))));
    assert!(!asked.prompt.user.contains("part by part"), "{}", asked.prompt.user);
}

/// Readings in a draft are cut to their limits and sent to be checked by code before the plan is published.
#[test]
fn proposed_readings_are_checked_before_publishing() {
    let mut draft = good();
    let many: Vec<Value> = (0..REPLY_READINGS + 3).map(check).collect();
    let of = |clause: Value| json!({"clause": clause, "checks": [check(0)]});
    draft["readings"] = json!([of(json!(1)), of(json!(99)), of(json!("2")), null, {"clause": 2, "checks": []}, {"clause": 2, "checks": many}]);
    let mut bench = begun(in_parts("the logs"));
    let (id, _) = asked(&bench.step(Input::Recalled(recall(0))));
    let effects = bench.step(Input::Replied(id, reply(draft.clone())));
    assert!(said(&effects).is_empty() && effects.len() == 1, "{effects:#?}");
    let (looking, order) = reading(&effects);
    let checks = (0..REPLY_READINGS).map(check).collect();
    let proposals = vec![ProposedReading { clause: 2, checks: Vec::new() }, ProposedReading { clause: 2, checks }];
    let expected = ReadOrder {
        task_id: task_id(),
        request: "tidy up".to_owned(),
        session: Vec::new(),
        now: start(),
        required: Vec::new(),
        by_required: false,
        proposals,
        confirmed: false,
    };
    assert_eq!(order, expected);
    assert!(bench.step(Input::Looked(id, true)).is_empty(), "another effect");
    let Message::Plan(plan) = only(&bench.step(Input::Looked(looking, true))).clone() else { panic!() };
    assert_eq!((plan.round, plan.subtasks.len()), (0, 1));

    // What the task changed since is no longer what the user spoke of.
    bench.step(Input::Directed(directive(1, ReplanDirective::Refine)));
    let (id, _) = asked(&bench.step(Input::Recalled(recall(1))));
    draft["subtasks"][0]["intent"] = json!("look at the reports again, with other eyes");
    let effects = bench.step(Input::Replied(id, reply(draft)));
    assert!(matches!(only(&effects), Message::Plan(plan) if plan.round == 1));
}

/// A draft with malformed readings is published without them; after an abort, a checked reading leads to nothing.
#[test]
fn invalid_readings_and_aborted_reading_are_ignored() {
    for readings in [json!(null), json!("none"), json!([]), json!([7])] {
        let mut draft = good();
        draft["readings"] = readings;
        let mut bench = begun(in_parts("the logs"));
        let (id, _) = asked(&bench.step(Input::Recalled(recall(0))));
        plan_of(only(&bench.step(Input::Replied(id, reply(draft)))).clone());
    }
    let mut draft = good();
    draft["readings"] = json!([{"clause": 2, "checks": [check(0)]}]);
    let mut bench = begun(in_parts("the logs"));
    let (id, _) = asked(&bench.step(Input::Recalled(recall(0))));
    let (looking, _) = reading(&bench.step(Input::Replied(id, reply(draft))));
    assert!(bench.step(Input::Abort).is_empty());
    assert!(bench.step(Input::Looked(looking, true)).is_empty());
}

/// A subtask's context quotes the user's words of the parts of the request that the draft assigns to it.
#[test]
fn step_has_user_words_of_its_parts() {
    let mut draft = good();
    draft["subtasks"][0]["meets"] = json!([2, 2, 99, "1", -1]);
    draft["subtasks"][0]["context"] = json!("in ~/docs");
    let mut bench = begun(in_parts("the\nlogs"));
    let (id, _) = asked(&bench.step(Input::Recalled(recall(0))));
    let plan = plan_of(only(&bench.step(Input::Replied(id, reply(draft)))).clone());
    assert_eq!(plan.subtasks[0].context, "in ~/docs\nIn the user's own words:\n- the\\nlogs 2");
}

/// The planner's prompt documents each of the 19 kinds of checks in the schema of readings, with matching fields.
#[test]
fn documented_checks_fit_the_schema() {
    let schema = prompt::schema(&config(1).tools);
    let kinds =
        schema["properties"]["readings"]["items"]["properties"]["checks"]["items"]["properties"]["kind"]["enum"]
            .as_array()
            .unwrap()
            .clone();
    let told = prompt::render(&artoo_proto::PlanContext {
        spec: spec("x"),
        environment: crate::testing::world::environment(),
        tools: Vec::new(),
        calibration: artoo_proto::Calibration::default(),
        recall: recall(0),
        directive: None,
        problems: Vec::new(),
        now: start(),
    });
    let (_, told) = told.system.split_once("- `readings`").unwrap();
    assert_eq!(kinds.len(), 19);
    for kind in kinds {
        assert!(told.contains(&format!("`{}`", kind.as_str().unwrap())), "{kind}");
    }
    // Each field that the prompt names is one of the schema, an act of git or an edit.
    let fields = &schema["properties"]["readings"]["items"]["properties"]["checks"]["items"]["properties"];
    let known = fields.to_string();
    for (number, word) in told.split("\n- New files").next().unwrap().split('`').enumerate() {
        let is_word = number % 2 == 1 && word.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        assert!(!is_word || known.contains(&format!("\"{word}\"")), "{word}");
    }
}
