//! Tests of R1: how it reads requests, what it rejects, and when it asks the user.
#![expect(clippy::wildcard_enum_match_arm, reason = "a test looks for the few things it knows")]

use artoo_proto::{
    Abstention, ClarificationAnswer, Clause, EffectId, Message, ModelRequest, PerceptionFailure, Reading, ReplyBody,
    RoleContext, SessionTurn, TaskSpec, UserRequest,
};
use serde_json::{Value, json};

use super::{Input, Perceiver, prompt};
use crate::limits::{LABEL_CHARS, REQUEST_MAX_BYTES, SESSION_TURNS};
use crate::machine::{Lifecycle, ReadOrder, RoleEffect};
use crate::testing::bench::{
    Bench, HOSTILE, asked, assert_tame, body, only, reading, reply, start, task_id, unreachable_model, unreadable,
};
use crate::testing::world::environment;

/// A user's request.
fn request(raw_input: &str, interactive: bool) -> UserRequest {
    UserRequest {
        task_id: task_id(),
        raw_input: raw_input.to_owned(),
        session: Vec::new(),
        material: None,
        interactive,
        hard_limit_ms: 1_000,
        required: Vec::new(),
        by_required: false,
    }
}

/// R1 on a bench.
fn bench() -> Bench<Lifecycle<Perceiver>> {
    Bench::new(Lifecycle::new(environment()))
}

/// Begins a request in which code reads no parts; returns the model request.
fn begun(bench: &mut Bench<Lifecycle<Perceiver>>, request: UserRequest) -> (EffectId, ModelRequest) {
    let effects = bench.step(Input::Request(request));
    assert!(bench.step(Input::Read(reading(&effects).0, Ok(Reading::default()))).is_empty());
    asked(&effects)
}

/// A model's reply with this intent, question and deadline.
fn draft(intent: &str, question: Option<&str>, deadline: Option<&str>) -> Value {
    json!({"task_id": "count_files", "intent": intent, "question": question,
           "constraints": {"scope": " ", "deadline": deadline}, "success_criteria": ["it is done"], "tools": ["shell"]})
}

/// The task that R1 publishes.
fn understood(effects: &[RoleEffect]) -> TaskSpec {
    let Message::TaskSpec(spec) = only(effects) else { panic!("{effects:#?}") };
    spec.clone()
}

/// The failure that R1 publishes.
fn failure(effects: &[RoleEffect]) -> PerceptionFailure {
    let Message::PerceptionFailed(failed) = only(effects) else { panic!("{effects:#?}") };
    failed.failure.clone()
}

#[doc = "holds: invariant 2"]
#[test]
fn task_spec_has_generated_id_without_criteria() {
    let mut bench = bench();
    let (id, _) = begun(&mut bench, request("how many files", false));
    let spec = understood(&bench.step(Input::Replied(id, reply(draft("count the files", None, None)))));
    assert_eq!((spec.task_id.clone(), spec.label.as_str()), (task_id(), "count_files"));
    assert_eq!((spec.intent.as_str(), spec.raw_input.as_str()), ("count the files", "how many files"));
    assert_eq!(spec.constraints.scope, None, "a blank scope is none");
    let wire = serde_json::to_value(&spec).unwrap();
    assert!(wire.get("success_criteria").is_none() && wire.get("tools").is_none());
}

#[doc = "holds: invariant 1; design D16"]
#[test]
fn models_task_id_is_only_a_label() {
    let mut bench = bench();
    let (id, _) = begun(&mut bench, request("count", false));
    let hostile = format!("../../x\u{1b}[2J\n{}", "y".repeat(500));
    let reply = reply(json!({"task_id": hostile, "intent": "count", "constraints": {}, "question": null}));
    let spec = understood(&bench.step(Input::Replied(id, reply)));
    assert_eq!(spec.task_id, task_id());
    assert!(
        !spec.label.contains(['\n', '\u{1b}']) && spec.label.chars().count() < LABEL_CHARS + 40,
        "{:?}",
        spec.label
    );
}

#[doc = "holds: law 3.13; design H1"]
#[test]
fn empty_or_oversized_request_skips_the_model() {
    for raw in ["", "  \n", &"x".repeat(REQUEST_MAX_BYTES + 1)] {
        let effects = bench().step(Input::Request(request(raw, true)));
        assert!(matches!(failure(&effects), PerceptionFailure::BadInput { .. }));
        assert_eq!(effects.len(), 1);
    }
}

#[doc = "holds: design D11"]
#[test]
fn perceiver_asks_a_person_at_most_twice() {
    let ask = |answers: &[&str], interactive: bool| -> (usize, TaskSpec) {
        let mut bench = bench();
        let (mut id, mut question) = begun(&mut bench, request("delete it", interactive));
        let mut asked_user = 0;
        loop {
            let RoleContext::Perceive(context) = &question.context else { panic!() };
            assert_eq!(context.clarifications.len(), asked_user);
            let effects = bench.step(Input::Replied(id, reply(draft("", Some("which one?"), None))));
            match only(&effects) {
                Message::ClarificationRequest(request) => {
                    assert!(context.may_ask, "asked although it may not");
                    asked_user += 1;
                    assert_eq!(request.round as usize, asked_user);
                    let answer = answers[asked_user - 1].to_owned();
                    let answered = Input::Clarified(ClarificationAnswer { task_id: task_id(), answer });
                    (id, question) = asked(&bench.step(answered));
                }
                Message::TaskSpec(spec) => {
                    assert!(!context.may_ask, "it could have asked");
                    return (asked_user, spec.clone());
                }
                other => panic!("{other:?}"),
            }
        }
    };
    assert_eq!(ask(&["a.txt", "b.txt"], true).0, 2);
    assert_eq!(ask(&["  "], true).0, 1);
    let (asked_user, spec) = ask(&[], false);
    assert_eq!((asked_user, spec.intent.as_str()), (0, "delete it"), "a blank intent is the user's own words");
}

#[test]
fn prompt_has_last_five_turns_in_order() {
    let turn =
        |number: usize| SessionTurn { input: format!("turn {number}"), summary: "done".to_owned(), answered: true };
    let request = UserRequest { session: (1..=8).map(turn).collect(), ..request("do it again", false) };
    let (_, question) = asked(&bench().step(Input::Request(request)));
    let RoleContext::Perceive(context) = &question.context else { panic!() };
    let turns: Vec<&str> = context.session.iter().map(|turn| turn.input.as_str()).collect();
    assert_eq!(turns, ["turn 4", "turn 5", "turn 6", "turn 7", "turn 8"]);
    assert_eq!(turns.len(), SESSION_TURNS);
    let shown = turns.iter().map(|turn| question.prompt.user.find(turn).unwrap()).collect::<Vec<_>>();
    assert!(shown.is_sorted(), "oldest first in the prompt");
}

/// A deadline that a model reads from the request is used only if it is a full RFC 3339 time in the future.
#[test]
fn models_deadline_must_be_in_the_future() {
    let deadline = |text: Option<&str>| {
        let mut bench = bench();
        let (id, _) = begun(&mut bench, request("count", false));
        understood(&bench.step(Input::Replied(id, reply(draft("count", None, text))))).constraints.deadline
    };
    assert!(deadline(Some("2099-01-01T00:00:00Z")).is_some());
    for text in [None, Some("1999-01-01T00:00:00Z"), Some("tomorrow"), Some(""), Some("2099-01-01")] {
        assert_eq!(deadline(text), None, "{text:?}");
    }
}

#[doc = "holds: design D17"]
#[test]
fn unreadable_request_is_reported_to_the_solver() {
    let run = |first, second: Option<_>| {
        let mut bench = bench();
        let (id, _) = begun(&mut bench, request("count", false));
        let effects = bench.step(Input::Replied(id, first));
        match second {
            Some(second) => {
                let (id, _) = asked(&effects);
                failure(&bench.step(Input::Replied(id, second)))
            }
            None => failure(&effects),
        }
    };
    let model = |failure| PerceptionFailure::Model { failure };
    assert_eq!(run(Err(unreachable_model()), None), model(unreachable_model()));
    assert_eq!(run(Err(unreadable()), Some(Err(unreadable()))), model(unreadable()));
    let abstention =
        Abstention { understood: String::new(), not_understood: Vec::new(), remedy: "r".to_owned(), offer: None };
    let abstained = run(body(ReplyBody::Abstain { abstention: abstention.clone() }), None);
    assert_eq!(abstained, PerceptionFailure::Abstained { abstention });
}

/// A reading of a request whose only part has these words.
fn read_as(words: &str) -> Reading {
    let clause =
        Clause { number: 1, span: (0, words.len()), words: words.to_owned(), obligations: vec![], unread: None };
    Reading { clauses: vec![clause], ..Reading::default() }
}

/// R1 publishes the task only when both the model's reply and the reading by code have arrived, in either order.
#[test]
fn task_waits_for_the_parsers_reading() {
    let turn = SessionTurn { input: "list them".to_owned(), summary: "done".to_owned(), answered: true };
    let asked_for = UserRequest {
        session: vec![turn.clone()],
        required: vec!["ran: make check".to_owned()],
        by_required: true,
        ..request("count", false)
    };
    for model_first in [true, false] {
        let mut bench = bench();
        let effects = bench.step(Input::Request(asked_for.clone()));
        let ((model, _), (code, order)) = (asked(&effects), reading(&effects));
        let expected = ReadOrder {
            task_id: task_id(),
            request: "count".to_owned(),
            session: vec![turn.clone()],
            now: start(),
            required: asked_for.required.clone(),
            by_required: true,
            proposals: Vec::new(),
            confirmed: false,
        };
        assert_eq!(order, expected);
        let replied = Input::Replied(model, reply(draft("count the files", None, None)));
        let read = Input::Read(code, Ok(read_as("count")));
        let (first, second) = if model_first { (replied, read) } else { (read, replied) };
        assert!(bench.step(first).is_empty());
        let spec = understood(&bench.step(second));
        assert_eq!((spec.intent.as_str(), spec.reading), ("count the files", read_as("count")));
    }
}

#[test]
fn invalid_required_check_ends_the_task() {
    let why = || Err("no such kind of check".to_owned());
    let expected = PerceptionFailure::BadInput { detail: "no such kind of check".to_owned() };
    let question = reply(draft("count", Some("which?"), None));
    for answer in [None, Some(reply(draft("count", None, None))), Some(question)] {
        let mut bench = bench();
        let effects = bench.step(Input::Request(request("count", true)));
        let ((model, _), (code, _)) = (asked(&effects), reading(&effects));
        if let Some(answer) = answer.clone() {
            bench.step(Input::Replied(model, answer));
        }
        assert_eq!(failure(&bench.step(Input::Read(code, why()))), expected);
        assert!(bench.step(Input::Replied(model, reply(draft("count", None, None)))).is_empty());
    }
    // After the task has failed or was aborted, the reading says nothing.
    let mut bench = bench();
    let effects = bench.step(Input::Request(request("count", true)));
    bench.step(Input::Abort);
    assert!(bench.step(Input::Read(reading(&effects).0, why())).is_empty());
}

#[doc = "holds: fault L38"]
#[test]
fn no_message_follows_an_abort() {
    let mut bench = bench();
    let (id, _) = begun(&mut bench, request("count", true));
    assert!(bench.step(Input::Abort).is_empty());
    assert!(bench.step(Input::Replied(id, reply(draft("count", None, None)))).is_empty());
    assert!(
        bench.step(Input::Clarified(ClarificationAnswer { task_id: task_id(), answer: "x".to_owned() })).is_empty()
    );
    assert!(bench.step(Input::Request(request("again", true))).is_empty());
}

#[doc = "holds: design H9"]
#[test]
fn prompt_snapshot_with_hostile_text() {
    let context = artoo_proto::PerceiveContext {
        raw_input: HOSTILE.to_owned(),
        session: vec![SessionTurn { input: HOSTILE.to_owned(), summary: HOSTILE.to_owned(), answered: true }],
        material: Some(HOSTILE.to_owned()),
        clarifications: vec![(HOSTILE.to_owned(), HOSTILE.to_owned())],
        may_ask: true,
        environment: environment(),
        now: crate::testing::bench::start(),
    };
    let prompt = prompt::render(&context);
    assert_tame(&prompt);
    insta::assert_snapshot!(prompt.user);
}
