//! Tests of a model request and its one repetition.

use artoo_proto::{Abstention, EffectId, ModelFailure, ModelReply, RecipePlan, ReplyBody, Usage};
use serde::Deserialize;
use serde_json::json;
use uuid::Uuid;

use super::{Answer, Ask, Reply};
use crate::machine::{Context, Ids};
use crate::testing::bench::{body, perceive_request, reply, start, unreachable_model, unreadable};

#[derive(Debug, PartialEq, Deserialize)]
struct Wanted {
    count: u32,
}

impl Reply for Wanted {}

/// A reply type that can be made from recipes: their number.
#[derive(Debug, PartialEq, Deserialize)]
struct Recipes(usize);

impl Reply for Recipes {
    fn from_recipes(recipes: RecipePlan) -> Option<Self> {
        Some(Self(recipes.assumptions.len()))
    }
}

fn begin(ids: &mut Ids) -> (Ask<Wanted>, EffectId) {
    let (ask, id, _) = Ask::start(&mut Context::new(start(), ids), perceive_request());
    (ask, id)
}

fn answer(ids: &mut Ids, ask: Ask<Wanted>, with: Result<ModelReply, ModelFailure>) -> Answer<Wanted> {
    ask.answer(&mut Context::new(start(), ids), with)
}

fn again(answer: Answer<Wanted>) -> (Ask<Wanted>, EffectId, String) {
    let Answer::Again(ask, id, request) = answer else { panic!("not asked again: {answer:?}") };
    (ask, id, request.prompt.user.clone())
}

#[test]
fn a_value_of_the_wanted_type_is_the_answer_and_extra_fields_do_not_matter() {
    let mut ids = Ids::new(Uuid::from_u128(1));
    let (ask, id) = begin(&mut ids);
    assert!(ask.awaits(id) && !ask.awaits(EffectId(Uuid::from_u128(9))));
    let Answer::Value(value) = answer(&mut ids, ask, reply(json!({"count": 3, "subtask_id": "e1"}))) else { panic!() };
    assert_eq!(value, Wanted { count: 3 });
}

#[doc = "holds: law 0.13; fault L12, L35, L13"]
#[test]
fn an_unusable_reply_is_asked_again_once_and_not_twice() {
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
fn a_second_reply_that_fits_is_taken() {
    let mut ids = Ids::new(Uuid::from_u128(1));
    let (ask, _) = begin(&mut ids);
    let (ask, _, _) = again(answer(&mut ids, ask, Err(unreadable())));
    assert!(matches!(answer(&mut ids, ask, reply(json!({"count": 1}))), Answer::Value(Wanted { count: 1 })));
}

#[doc = "holds: client C16; design D18"]
#[test]
fn a_provider_that_is_gone_is_not_asked_again_here() {
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
fn what_is_repeated_of_a_bad_reply_is_escaped_and_short() {
    let mut ids = Ids::new(Uuid::from_u128(1));
    let (ask, _) = begin(&mut ids);
    let key = format!("\u{1b}[2J\u{202e}{}", "x".repeat(5_000));
    let failure = ModelFailure::Unreadable { detail: key, excerpt: String::new(), usage: Usage::default() };
    let (_, _, prompt) = again(answer(&mut ids, ask, Err(failure)));
    assert!(!prompt.contains(['\u{1b}', '\u{202e}']) && prompt.len() < 1_000, "{prompt:?}");
}

#[test]
fn the_embedded_parsers_answers_pass_through() {
    let mut ids = Ids::new(Uuid::from_u128(1));
    let (ask, _) = begin(&mut ids);
    let plan =
        RecipePlan { subtasks: Vec::new(), task_criteria: Vec::new(), assumptions: vec!["it is here".to_owned()] };
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
