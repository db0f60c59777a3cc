//! Tests of a model request and of its one repetition.

use artoo_proto::{Abstention, EffectId, ModelFailure, ModelReply, RecipePlan, ReplyBody, Usage};
use serde::Deserialize;
use serde_json::json;
use uuid::Uuid;

use super::{Answer, Ask, Reply};
use crate::machine::{Context, Ids};
use crate::testing::bench::{body, perceive_request, reply, start, unreachable_model, unreadable};

/// The reply type of most tests: a JSON object with a `count`.
#[derive(Debug, PartialEq, Deserialize)]
struct Wanted {
    count: u32,
}

impl Reply for Wanted {}

/// A reply type that is read from a plan of recipes; it stores the number of the plan's assumptions.
#[derive(Debug, PartialEq, Deserialize)]
struct Recipes(usize);

impl Reply for Recipes {
    fn from_recipes(recipes: RecipePlan) -> Option<Self> {
        Some(Self(recipes.assumptions.len()))
    }
}

/// Starts a model request; returns it with its effect id.
fn begin(ids: &mut Ids) -> (Ask<Wanted>, EffectId) {
    let (ask, id, _) = Ask::start(&mut Context::new(start(), ids), perceive_request());
    (ask, id)
}

/// Passes a model's reply or failure to the request and returns what it is read as.
fn answer(ids: &mut Ids, ask: Ask<Wanted>, with: Result<ModelReply, ModelFailure>) -> Answer<Wanted> {
    ask.answer(&mut Context::new(start(), ids), with)
}

/// The request that is made after an unusable reply, and its prompt.
fn again(answer: Answer<Wanted>) -> (Ask<Wanted>, EffectId, String) {
    let Answer::Again(ask, id, request) = answer else { panic!("not asked again: {answer:?}") };
    (ask, id, request.prompt.user.clone())
}

#[test]
fn reply_may_have_extra_fields() {
    let mut ids = Ids::new(Uuid::from_u128(1));
    let (ask, id) = begin(&mut ids);
    assert!(ask.awaits(id) && !ask.awaits(EffectId(Uuid::from_u128(9))));
    let Answer::Value(value) = answer(&mut ids, ask, reply(json!({"count": 3, "subtask_id": "e1"}))) else { panic!() };
    assert_eq!(value, Wanted { count: 3 });
}

#[doc = "holds: law 0.13; fault L12, L35, L13"]
#[test]
fn unusable_reply_is_requested_again_once() {
    for bad in
        [Err(unreadable()), reply(json!({"count": "three"})), reply(json!({})), reply(json!(null)), reply(json!([]))]
    {
        let mut ids = Ids::new(Uuid::from_u128(1));
        let (ask, first) = begin(&mut ids);
        let (ask, second, prompt) = again(answer(&mut ids, ask, bad.clone()));
        assert_ne!(first, second);
        assert!(ask.awaits(second) && !ask.awaits(first), "the first completion is no longer awaited");
        assert!(prompt.starts_with("user\n\nYour last reply could not be used: "), "{prompt}");
        let Answer::Failed(failure) = answer(&mut ids, ask, bad) else { panic!("asked a third time") };
        assert!(matches!(failure, ModelFailure::Unreadable { .. }), "{failure:?}");
    }
}

#[test]
fn valid_second_reply_is_used() {
    let mut ids = Ids::new(Uuid::from_u128(1));
    let (ask, _) = begin(&mut ids);
    let (ask, _, _) = again(answer(&mut ids, ask, Err(unreadable())));
    assert!(matches!(answer(&mut ids, ask, reply(json!({"count": 1}))), Answer::Value(Wanted { count: 1 })));
}

#[doc = "holds: client C16; design D18"]
#[test]
fn unreachable_provider_is_not_asked_again() {
    for failure in [
        unreachable_model(),
        ModelFailure::Unauthorized { status: 401, detail: String::new() },
        ModelFailure::TimedOut { after_ms: 1, usage: Usage::default() },
        ModelFailure::Overloaded { status: 529, detail: String::new() },
        ModelFailure::Cancelled,
    ] {
        let mut ids = Ids::new(Uuid::from_u128(1));
        let (ask, _) = begin(&mut ids);
        let Answer::Failed(found) = answer(&mut ids, ask, Err(failure.clone())) else { panic!("{failure:?}") };
        assert_eq!(found, failure);
    }
}

#[doc = "holds: fault L33"]
#[test]
fn quoted_bad_reply_is_escaped_and_short() {
    let mut ids = Ids::new(Uuid::from_u128(1));
    let (ask, _) = begin(&mut ids);
    let key = format!("\u{1b}[2J\u{202e}{}", "x".repeat(5_000));
    let failure = ModelFailure::Unreadable { detail: key, excerpt: String::new(), usage: Usage::default() };
    let (_, _, prompt) = again(answer(&mut ids, ask, Err(failure)));
    assert!(!prompt.contains(['\u{1b}', '\u{202e}']) && prompt.len() < 1_000, "{prompt:?}");
}

#[test]
fn parser_recipes_are_passed_through() {
    let mut ids = Ids::new(Uuid::from_u128(1));
    let (ask, _) = begin(&mut ids);
    let plan = RecipePlan {
        subtasks: Vec::new(),
        task_criteria: Vec::new(),
        assumptions: vec!["it is here".to_owned()],
        readings: Vec::new(),
    };
    let recipes = || body(ReplyBody::Recipes { plan: plan.clone() });
    // For a role that can't use recipes the reply is unreadable, and the model is not asked again.
    let Answer::Failed(ModelFailure::Unreadable { detail, .. }) = answer(&mut ids, ask, recipes()) else { panic!() };
    assert_eq!(detail, "a plan of recipes where a count was asked for");
    let (ask, ..) = Ask::<Recipes>::start(&mut Context::new(start(), &mut ids), perceive_request());
    let read = ask.answer(&mut Context::new(start(), &mut ids), recipes());
    assert!(matches!(read, Answer::Value(Recipes(1))), "{read:?}");
    let (ask, _) = begin(&mut ids);
    let abstention = Abstention {
        understood: String::new(),
        not_understood: vec!["x".to_owned()],
        remedy: "set up a model".to_owned(),
        offer: None,
    };
    assert!(matches!(answer(&mut ids, ask, body(ReplyBody::Abstain { abstention })), Answer::Abstained(_)));
}
