//! Tests of the engine: constants, potentials, promotion, demotion, recall, invalid input, export.

use artoo_mkct::{
    Engine, NewMegram, State, Tag,
    advice::Contribution,
    record::{FailureClass, Frame, Megram, MegramId},
    rules::{Evidence, PromotionTicket},
};

mod ahead;
mod alike;
mod carry;
mod dissonance;
mod flow;
mod input;
mod matrix;
mod names;
mod people;
mod recall;
mod rules;

const DAY: i64 = 86_400_000;
const NOW: i64 = 1_772_000_000_000;

/// The tag of most tests.
fn tag() -> Tag {
    Tag::new("intent:x", "via:x")
}

/// An event of `task` under a tag.
fn event(space: &str, entity: &str, state: State, task: &str) -> NewMegram {
    NewMegram::new(Tag::new(space, entity), state, format!("{state:?} in {task}")).task(task)
}

/// A failure of `task` under a tag that the environment caused.
fn environmental(space: &str, entity: &str, state: State, task: &str) -> NewMegram {
    event(space, entity, state, task).failure_class(FailureClass::Environmental)
}

/// Writes an event and returns the record.
#[track_caller]
fn write(engine: &mut Engine, now_ms: i64, draft: NewMegram) -> Megram {
    match engine.write(draft, now_ms) {
        Ok(Frame::Written { megram }) => megram,
        other => panic!("{other:?}"),
    }
}

/// Writes `count` events of different tasks at the same time, under `intent:x` and this entity; returns their ids.
fn burst(engine: &mut Engine, now_ms: i64, entity: &str, state: State, count: usize) -> Vec<MegramId> {
    (0..count).map(|i| write(engine, now_ms, event("intent:x", entity, state, &format!("{state:?}-{i}"))).id).collect()
}

/// An engine rebuilt from frames that were converted to text and back.
#[track_caller]
fn replayed(frames: &[Frame]) -> Engine {
    let mut engine = Engine::new();
    for frame in frames {
        let text = serde_json::to_string(frame).unwrap();
        engine.apply(&serde_json::from_str(&text).unwrap()).unwrap();
    }
    engine
}

/// One record with its text.
fn get(engine: &Engine, id: MegramId) -> Option<Megram> {
    engine.get(id).unwrap()
}

/// Every record with its text, by id.
fn all(engine: &Engine) -> Vec<Megram> {
    let mut all: Vec<Megram> = engine.heads().filter_map(|head| get(engine, head.id)).collect();
    all.reverse();
    all
}

/// The contributions of the records under a tag.
fn why(engine: &Engine, space: &str, entity: &str, now_ms: i64) -> Vec<Contribution> {
    engine.why(&Tag::new(space, entity), now_ms).collect()
}

/// Tickets and evidence of the rules that could be made, without the sums, whose last bit depends on the order of
/// additions.
fn tickets(engine: &Engine, now_ms: i64) -> Vec<(PromotionTicket, Vec<Evidence>)> {
    engine.promotions(now_ms).into_iter().map(|promotion| (promotion.ticket, promotion.evidence)).collect()
}
