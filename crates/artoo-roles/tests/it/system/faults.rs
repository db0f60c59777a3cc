//! Tasks with denials, failing providers, cancellations, limits and panics.

use artoo_proto::{AbandonReason, Basis, Ending, MessageKind, ModelFailure, Role};
use serde_json::json;

use artoo_roles::testing::world::{World, needs_consent, ok_call, refusing};

use super::{answer_with, honest, one_subtask, plan, reason};

#[doc = "holds: law 1.13, 3.2"]
#[test]
fn denied_call_ends_as_consent_needed() {
    let mut world = World::new(1);
    world.model = Box::new(|request| match request.role {
        Role::Executor => answer_with("shell", json!({"command": "rm -rf /home/u/keep"})),
        Role::Planner => plan(one_subtask("shell"), json!(["the combined output states how many there are"])),
        _ => honest(request),
    });
    world.tools = Box::new(|order| {
        assert!(order.consent.is_none(), "nothing runs without a yes");
        needs_consent()
    });
    world.operator = refusing(Some("there is no terminal to ask on"));
    let result = world.run("how many reports are there");
    assert_eq!(reason(&result.ending), &AbandonReason::ConsentNeeded);
    assert_eq!(result.denied[0].action, "shell: rm -rf /home/u/keep");
    assert!(world.published(MessageKind::Megram).is_empty(), "m18: a refusal is no experience");
}

#[doc = "holds: law 0.7, 3.2"]
#[test]
fn dead_provider_ends_task_at_every_role() {
    for dying in [Role::Perceiver, Role::Planner, Role::Executor, Role::AgentValidator, Role::MetaValidator] {
        let mut world = World::new(1);
        world.model = Box::new(move |request| {
            if request.role == dying {
                return Err(ModelFailure::Unreachable { detail: "connection refused".to_owned() });
            }
            honest(request)
        });
        let result = world.run("how many reports are there");
        assert!(matches!(reason(&result.ending), AbandonReason::Provider { .. }), "{dying}: {result:#?}");
        assert_eq!(result.replans, 0, "{dying}");
        assert!(world.published(MessageKind::Megram).is_empty(), "m18, {dying}");
    }
}

#[doc = "holds: law 0.7"]
#[test]
fn cancelled_task_ignores_late_replies() {
    let mut world = World::new(1);
    world.model = Box::new(honest);
    let request = world.request("how many reports are there");
    let task_id = request.task_id.clone();
    world.give(artoo_roles::Input::Operator { message: request.into() });
    let (read, work) = world.work.pop_front().expect("R1 reads");
    let completion = world.perform(&work);
    world.give(artoo_roles::Input::Completed { effect_id: read, completion });
    let (late, work) = world.work.pop_front().expect("R1 asks");
    world.give(artoo_roles::Input::Operator { message: artoo_proto::CancelRequest { task_id }.into() });
    let completion = world.perform(&work);
    world.give(artoo_roles::Input::Completed { effect_id: late, completion });
    let results: Vec<_> = world.delivered.iter().filter(|m| m.kind() == MessageKind::FinalResult).collect();
    let [artoo_proto::Message::FinalResult(result)] = results.as_slice() else { panic!("{results:?}") };
    assert_eq!(reason(&result.ending), &AbandonReason::Cancelled);
    assert_eq!(world.system.instances(), 1, "only memory is left");
    assert!(world.events.iter().any(|event| matches!(event, artoo_bus::TapEvent::Ignored { .. })));
}

#[doc = "holds: law 0.7, 3.12; design G20"]
#[test]
fn silent_executor_ends_at_hard_limit() {
    let mut world = World::new(1);
    world.model = Box::new(honest);
    let request = artoo_proto::UserRequest { hard_limit_ms: 5_000, ..world.request("how many reports are there") };
    world.give(artoo_roles::Input::Operator { message: request.into() });
    world.work.clear();
    world.work_until_quiet();
    let artoo_proto::Message::FinalResult(result) = &world.delivered[0] else { panic!() };
    assert_eq!(reason(&result.ending), &AbandonReason::Deadline);
    assert_eq!(world.now.uptime_ms, 5_000);
}

#[doc = "holds: law 0.7, 3.14; design B3"]
#[test]
fn role_panic_ends_only_its_task() {
    for role in [
        Role::Perceiver,
        Role::Planner,
        Role::Dispatcher,
        Role::Executor,
        Role::AgentValidator,
        Role::MetaValidator,
        Role::Solver,
    ] {
        let mut world = World::new(1);
        world.model = Box::new(honest);
        world.tools = Box::new(|order| ok_call(order, "12"));
        world.system.panic_next = Some(role);
        let result = world.run("how many reports are there");
        assert!(matches!(reason(&result.ending), AbandonReason::RoleFailed { .. }), "{role}: {result:#?}");
        let next = world.run("how many letters are there");
        assert_eq!(next.ending, Ending::Accept { basis: Basis::Judged }, "{role}");
    }
}
