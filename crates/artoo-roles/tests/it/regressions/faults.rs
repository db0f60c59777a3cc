//! Every failure of a model at every role: the task ends once, in the right state, and invalid replies have no effect.

use artoo_proto::{AbandonReason, ModelFailure, Role, Usage};
use serde_json::{Value, json};

use super::{answer_from, honest, is_accept, plan_with, reason, world};
use artoo_roles::testing::world::{ok_call, value};

const QUESTION: &str = "how many reports are there";

/// The roles that ask a model, in the order in which a task reaches them.
const ASKING: [Role; 5] = [Role::Perceiver, Role::Planner, Role::Executor, Role::AgentValidator, Role::MetaValidator];

/// One model failure of each kind.
fn failures() -> Vec<ModelFailure> {
    let detail = || "as it went".to_owned();
    let usage = Usage { model_calls: 1, prompt_tokens: 7, completion_tokens: 3 };
    vec![
        ModelFailure::Unreachable { detail: detail() },
        ModelFailure::Unauthorized { status: 401, detail: detail() },
        ModelFailure::Rejected { status: 400, detail: detail() },
        ModelFailure::Overloaded { status: 529, detail: detail() },
        ModelFailure::TimedOut { after_ms: 9, usage },
        ModelFailure::Cut { detail: detail(), usage },
        ModelFailure::Unreadable { detail: detail(), excerpt: "I can't".to_owned(), usage },
        ModelFailure::DoesNotFit { needed: 9, room: 8 },
        ModelFailure::OverBudget { detail: detail() },
        ModelFailure::NotRecorded { detail: detail() },
        ModelFailure::Cancelled,
    ]
}

#[doc = "holds: fault L1 to L38"]
#[test]
fn every_model_failure_ends_each_role_correctly() {
    for role in ASKING {
        for failure in failures() {
            let failed = failure.clone();
            let mut world =
                world(move |request| if request.role == role { Err(failed.clone()) } else { honest(request) });
            let result = world.run(QUESTION);
            let shown = format!("{role}, {failure}: {result:#?}");
            assert!(!is_accept(&result), "{shown}");
            let AbandonReason::Provider { failure: told, .. } = reason(&result) else { panic!("{shown}") };
            assert_eq!(*told, failure, "{shown}");
            // Asked once, or once more where that may help; and what comes behind it is never reached.
            let asked = world.asked.iter().filter(|request| request.role == role).count();
            assert_eq!(asked, if failure.is_worth_asking_again() { 2 } else { 1 }, "{shown}");
            let before_calls = ASKING.iter().take_while(|known| **known != role).all(|known| *known != Role::Executor);
            assert_eq!(world.called.is_empty(), before_calls, "{shown}");
        }
    }
}

#[doc = "holds: fault L30"]
#[test]
fn unknown_verdict_is_no_verdict() {
    for role in [Role::AgentValidator, Role::MetaValidator] {
        for word in [json!("passed"), json!("PASS"), json!("pass "), json!("maybe"), json!(true), json!(1), Value::Null]
        {
            let said = word.clone();
            let mut world = world(move |request| {
                if request.role != role {
                    return honest(request);
                }
                let verdicts = json!([{"number": 1, "verdict": said, "cites": ["x"], "evidence": "seen",
                    "failure_class": null}]);
                value(json!({"verdicts": verdicts, "what_to_do": null}))
            });
            assert!(!is_accept(&world.run(QUESTION)), "{role} {word}");
        }
    }
}

/// A misspelt tool name is refused, and a wrong input reaches the tool as the model wrote it.
#[doc = "holds: fault L22, L23"]
#[test]
fn calls_are_unchanged_or_refused() {
    for tool in ["Glob", "glob ", "GLOB", "glоb", "globs", "shell", ""] {
        let mut world = world(move |request| match request.role {
            Role::Executor => answer_from(request, tool, json!({"root": "/home/u"})),
            _ => honest(request),
        });
        assert!(!is_accept(&world.run(QUESTION)), "{tool:?}");
        assert!(world.called.is_empty(), "{tool:?}");
    }
    // A wrong input reaches the tool as it is: nothing is put right on the way.
    let mut world = world(|request| match request.role {
        Role::Executor => answer_from(request, "glob", json!({"rot": 7})),
        _ => honest(request),
    });
    world.tools = Box::new(|order| {
        assert_eq!(order.request.input["rot"], 7);
        ok_call(order, "12")
    });
    world.run(QUESTION);
    assert!(!world.called.is_empty());
}

#[doc = "holds: fault L27, L25"]
#[test]
fn plan_without_criteria_never_runs() {
    for criteria in [json!([]), json!(null), json!([{}]), json!([""])] {
        let asked = criteria.clone();
        let mut world = world(move |request| match request.role {
            Role::Planner => plan_with(&["glob"], asked.clone(), json!(["a number is stated"])),
            _ => honest(request),
        });
        assert!(!is_accept(&world.run(QUESTION)), "{criteria}");
        assert!(world.called.is_empty(), "{criteria}");
    }
}
