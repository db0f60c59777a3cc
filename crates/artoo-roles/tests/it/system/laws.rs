//! The order of the laws: where two laws conflict, the higher one decides.

use artoo_proto::{AbandonReason, CoverageState, Ending, Message, MessageKind, Role, ToolOrder};
use serde_json::json;

use artoo_roles::memory::Memory;
use artoo_roles::testing::bench::coverage;
use artoo_roles::testing::world::{World, failed_call, needs_consent, ok_call, refusing};

use super::{answer_with, honest, one_subtask, plan, reason};

const QUESTION: &str = "how many reports are there";

/// A task whose output every judge accepts is still not accepted if facts refute a part of the request.
#[doc = "holds: principle 9"]
#[test]
fn honesty_outranks_best_effort() {
    let mut world = World::new(1);
    world.model = Box::new(honest);
    world.tools = Box::new(|order| ok_call(order, "12"));
    world.cover = Box::new(|_| coverage(CoverageState::Refuted));
    let result = world.run(QUESTION);
    assert!(!matches!(result.ending, Ending::Accept { .. }), "{result:#?}");
}

/// A change that the user did not approve is not made, although the task then fails.
#[doc = "holds: principle 9"]
#[test]
fn harmlessness_outranks_best_effort() {
    let mut world = World::new(1);
    world.model = Box::new(|request| match request.role {
        Role::Planner => plan(one_subtask("shell"), json!(["the old files are gone"])),
        Role::Executor => answer_with("shell", json!({"command": "rm -r old"})),
        _ => honest(request),
    });
    world.tools = Box::new(|order: &ToolOrder| {
        assert!(order.consent.is_none(), "nobody approved it");
        needs_consent()
    });
    world.operator = refusing(None);
    let result = world.run("tidy up the old files");
    assert_eq!(reason(&result.ending), &AbandonReason::ConsentNeeded);
    assert!(!result.denied.is_empty(), "and what was not done is said");
}

/// A task is carried out although memory can't be used and nothing can be learned from it.
#[doc = "holds: principle 9"]
#[test]
fn best_effort_outranks_preserving_ability() {
    let mut world = World::with_memory(1, Memory::unavailable());
    world.model = Box::new(honest);
    world.tools = Box::new(|order| ok_call(order, "12"));
    let result = world.run(QUESTION);
    assert!(matches!(result.ending, Ending::Accept { .. }), "{result:#?}");
    assert_eq!(result.output, "12");
}

/// An outage ends the task and is not recorded in memory as evidence against the approach.
#[doc = "holds: principle 9"]
#[test]
fn honesty_outranks_preserving_ability() {
    let mut world = World::new(1);
    world.model = Box::new(|request| match request.role {
        Role::Planner => plan(one_subtask("shell"), json!(["the page is shown"])),
        Role::Executor => answer_with("shell", json!({"command": "curl x"})),
        _ => honest(request),
    });
    world.tools = Box::new(|order| failed_call(order, "no route to host", true));
    let result = world.run("show the page");
    assert!(matches!(result.ending, Ending::Abandon { .. }), "{result:#?}");
    let blamed = world.published(MessageKind::Megram).into_iter().any(|message| {
        matches!(message, Message::Megram(draft) if draft.failure_class == Some(artoo_proto::FailureClass::Logical))
    });
    assert!(!blamed, "no approach is blamed for the network");
}
