//! Tests that evaluated prompt beginnings are reused, and that this does not change replies.

use artoo_llm::{Model as _, Shared};
use artoo_local::{Local, LocalConfig};
use artoo_proto::Prompt;
use serde_json::{Value, json};

use crate::support::{config, engine, model_file, print_uncaptured, prompt, request};

/// Fixed sample instructions of a role, longer than a step of the engine.
fn instructions(role: &str) -> String {
    format!("You are the {role}. ")
        + &format!("Rule of the {role}: read everything, invent nothing, be brief. ").repeat(20)
}

/// Replies are the same whether a role's instructions were evaluated before or not.
#[doc = "holds: law 0.14"]
#[tokio::test]
async fn reused_instructions_do_not_change_the_reply() {
    let (Some(warm), Some(cold_file)) = (engine(), model_file()) else { return };
    let (planner, judge) = (instructions("planner"), instructions("judge"));
    let asked = [
        prompt(&planner, "Plan a walk through the town."),
        prompt(&judge, "Was the walk a good one? The answer was: yes."),
        prompt(&planner, "Plan a dinner for four guests with little money."),
        prompt(&judge, "Was the dinner a good one? The answer was: it was late, and cold."),
        prompt(&planner, "Plan a walk through the town. Then plan the way back."),
    ];
    let mut reused = Vec::new();
    for prompt in &asked {
        let found = warm.write(prompt, None, 24).await.unwrap();
        let cold = Local::new(config(cold_file.clone()), &Shared::default()).unwrap();
        let expected = cold.write(prompt, None, 24).await.unwrap();
        assert_eq!(found.tokens, expected.tokens, "{prompt:?}");
        assert_eq!(expected.cached_tokens, 0);
        assert_eq!(found.cached_tokens % 64, 0, "in whole steps, so that the same sums are made");
        assert_eq!(found.usage, expected.usage, "what is reused counts as sent all the same");
        reused.push(found.cached_tokens);
    }
    print_uncaptured(&format!("tokens reused, call by call: {reused:?}"));
    assert_eq!(reused[0], 0);
    assert!(reused[2] >= 192 && reused[3] >= 192, "the roles' instructions: {reused:?}");
    assert!(reused[4] >= reused[2], "{reused:?}");
}

/// Tokens of a prompt that earlier calls evaluated are counted as cached.
#[tokio::test]
async fn reused_tokens_are_counted_as_cached() {
    let Some(path) = model_file() else { return };
    let shared = Shared::default();
    let engine = Local::new(config(path), &shared).unwrap();
    let schema = json!({"type": "object", "additionalProperties": false, "required": ["yes"], "properties": {"yes": {"type": "boolean"}}});
    for question in ["Is seven prime?", "Is eight prime?"] {
        engine.ask(&request(prompt(&instructions("judge"), question), schema.clone(), 50)).await.unwrap();
    }
    let total = shared.ledger.total();
    assert!(total.cached_tokens >= 192 && total.cached_tokens < total.usage.prompt_tokens, "{total:?}");
}

/// Replies are the same with and without saved states.
#[tokio::test]
async fn replies_do_not_depend_on_saved_states() {
    let Some(path) = model_file() else { return };
    let none = Local::new(LocalConfig { prefix_bytes: 0, ..config(path.clone()) }, &Shared::default()).unwrap();
    let some = Local::new(config(path), &Shared::default()).unwrap();
    let (a, b) = (prompt(&instructions("planner"), "Plan."), prompt(&instructions("judge"), "Judge."));
    let mut reused = Vec::new();
    for prompt in [&a, &b, &a] {
        let (without, with) = (none.write(prompt, None, 8).await.unwrap(), some.write(prompt, None, 8).await.unwrap());
        assert_eq!(without.tokens, with.tokens);
        reused.push((without.cached_tokens, with.cached_tokens));
    }
    assert!(reused[2].0 < 64 && reused[2].1 >= 192, "{reused:?}");
}

/// A cancelled call does not change the reply of the next.
#[tokio::test]
async fn cancelled_call_does_not_affect_the_next() {
    let Some(engine) = engine() else { return };
    let asked: Prompt = prompt(&instructions("planner"), "Plan a journey around the world in great detail.");
    let expected = engine.write(&asked, None, 30).await.unwrap();
    let schema: Value = json!({"type": "object", "properties": {"n": {"type": "array", "minItems": 500, "maxItems": 500, "items": {"type": "integer"}}}, "required": ["n"], "additionalProperties": false});
    for wait_ms in [40, 300, 900] {
        let wait = std::time::Duration::from_millis(wait_ms);
        let other = request(prompt(&instructions("judge"), &"a long question ".repeat(60)), schema.clone(), 2_000);
        assert!(tokio::time::timeout(wait, engine.ask(&other)).await.is_err());
        assert_eq!(engine.write(&asked, None, 30).await.unwrap().tokens, expected.tokens, "after {wait_ms} ms");
    }
}

/// If the context already holds more of a prompt than a saved beginning, the context is used.
#[tokio::test]
async fn context_is_preferred_to_shorter_saved_prefix() {
    let Some(engine) = engine() else { return };
    let material = "The town has a river, a bridge and an old mill. ".repeat(20);
    let asked = |question: &str| prompt(&instructions("planner"), &format!("{material}{question}"));
    engine.write(&asked("Plan a walk."), None, 4).await.unwrap();
    let again = engine.write(&asked("Plan a dinner."), None, 4).await.unwrap();
    assert!(again.cached_tokens >= 448, "the instructions and the material: {again:?}");
}
