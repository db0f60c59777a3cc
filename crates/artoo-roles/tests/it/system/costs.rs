//! The number of sequential model calls that tasks cost.

use artoo_proto::{Basis, CriterionMark, Ending, MessageKind, Role, RoleContext, Usage};
use serde_json::json;

use artoo_roles::testing::bench::complete_coverage;
use artoo_roles::testing::world::{World, ok_call, pass_all, value};

use super::{answer_with, honest, one_subtask, plan};

#[doc = "holds: law 3.5; principle 10; design G17"]
#[test]
fn simplest_task_takes_five_model_calls() {
    let mut world = World::new(1);
    world.model = Box::new(honest);
    world.tools = Box::new(|order| ok_call(order, "12"));
    let result = world.run("how many reports are there");
    assert_eq!(result.ending, Ending::Accept { basis: Basis::Judged });
    assert_eq!(result.output, "12");
    assert_eq!(
        world.asked_roles(),
        [Role::Perceiver, Role::Planner, Role::Executor, Role::AgentValidator, Role::MetaValidator]
    );
    assert!(result.criteria.iter().all(|report| report.mark == CriterionMark::Judged), "{:?}", result.criteria);
}

/// If checks decide all criteria of a subtask, no model judges it; if facts cover the request, no model judges the
/// task.
#[doc = "holds: law 3.5; design G17"]
#[test]
fn checks_replace_the_agent_validators_call() {
    let mut world = World::new(1);
    world.model = Box::new(|request| match request.role {
        Role::Planner => plan(
            json!([{"intent": "count the files", "context": "", "sequence": 1, "tools": ["glob"],
                    "success_criteria": [{"check": {"kind": "file_count", "path": "/home/u"}}]}]),
            json!([{"check": {"kind": "file_count", "path": "/home/u"}}]),
        ),
        _ => honest(request),
    });
    world.tools = Box::new(|order| ok_call(order, "12"));
    let result = world.run("how many reports are there");
    assert_eq!(world.asked_roles(), [Role::Perceiver, Role::Planner, Role::Executor, Role::MetaValidator]);
    assert_eq!(result.ending, Ending::Accept { basis: Basis::Judged });
    let marks: Vec<CriterionMark> = result.criteria.iter().map(|report| report.mark).collect();
    assert_eq!(marks, [CriterionMark::Checked, CriterionMark::Judged]);

    // Facts that cover the request spare the other judge as well.
    world.asked.clear();
    world.cover = Box::new(|_| complete_coverage());
    let result = world.run("how many reports are in the folder");
    assert_eq!(world.asked_roles(), [Role::Perceiver, Role::Planner, Role::Executor]);
    assert_eq!(result.ending, Ending::Accept { basis: Basis::Checked });
}

/// A correction costs two more model calls in a row, and a replan four.
#[doc = "holds: law 3.5; principle 2; design G17"]
#[test]
fn correction_costs_two_calls_replan_four() {
    let mut world = World::new(1);
    let mut verdicts = 0;
    world.model = Box::new(move |request| match request.role {
        Role::Executor => {
            let tries = match &request.context {
                RoleContext::Execute(context) => context.earlier_calls.len(),
                _ => 0,
            };
            answer_with("glob", json!({"root": "/home/u", "try": tries}))
        }
        Role::AgentValidator => {
            verdicts += 1;
            if verdicts == 1 {
                value(json!({"verdicts": [{"number": 1, "verdict": "fail", "cites": [], "evidence": "no number",
                                           "failure_class": "logical"}], "what_to_do": "count"}))
            } else {
                pass_all(request)
            }
        }
        _ => honest(request),
    });
    let corrected = world.run("how many reports are there");
    assert_eq!(corrected.ending, Ending::Accept { basis: Basis::Judged });
    assert_eq!(world.asked.len(), 5 + 2);
    let signals = world.published(MessageKind::CorrectionSignal);
    let artoo_proto::Message::CorrectionSignal(signal) = signals[0] else { panic!() };
    assert!(signal.what_to_do.contains("the output names a number of files"), "format constraints are repeated");
    assert_eq!(signal.avoid_calls.len(), 1);

    let mut world = World::new(1);
    let mut judged = 0;
    world.model = Box::new(move |request| match request.role {
        Role::Planner => {
            let tool = match &request.context {
                RoleContext::Plan(context) if context.directive.is_some() => "shell",
                _ => "glob",
            };
            plan(one_subtask(tool), json!(["the combined output states how many there are"]))
        }
        Role::Executor => {
            let RoleContext::Execute(context) = &request.context else { panic!() };
            answer_with(&context.subtask.tools[0].clone(), json!({"x": 1}))
        }
        Role::MetaValidator => {
            judged += 1;
            if judged == 1 {
                value(json!({"verdicts": [{"number": 1, "verdict": "fail", "cites": [], "evidence": "off",
                                           "failure_class": "logical"}], "what_to_do": null}))
            } else {
                pass_all(request)
            }
        }
        _ => honest(request),
    });
    let replanned = world.run("how many reports are there");
    assert_eq!(replanned.ending, Ending::Accept { basis: Basis::Judged });
    assert_eq!(replanned.replans, 1);
    assert_eq!(world.asked.len(), 5 + 4, "{:?}", world.asked_roles());
}

#[doc = "holds: principle 7, 10"]
#[test]
fn tap_reports_usage_by_role() {
    let mut world = World::new(1);
    world.model = Box::new(honest);
    world.run("how many reports are there");
    let mut total = std::collections::BTreeMap::new();
    for event in &world.events {
        artoo_roles::system::add_usage(&mut total, event);
    }
    assert_eq!(total.len(), 5);
    let one = Usage { model_calls: 1, prompt_tokens: 100, completion_tokens: 20 };
    assert!(total.values().all(|usage| *usage == one), "{total:?}");
}
