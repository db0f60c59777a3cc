//! A model that lies in every form its role permits is never accepted.

use artoo_proto::{
    CriterionMark, EffectClass, Ending, ModelFailure, ModelRequest, ReplyBody, Role, RoleContext, ToolCall, ToolOutcome,
};
use serde_json::{Value, json};

use artoo_roles::testing::world::{World, call_of, failed_call, ok_call, pass_all, understood, value};

use super::plan;

/// The replies of a model that did nothing and claims success, at every role.
fn liar(
    tools: &'static [&'static str],
    criteria: Value,
) -> impl FnMut(&ModelRequest) -> Result<ReplyBody, ModelFailure> {
    move |request| match request.role {
        Role::Perceiver => understood(request),
        Role::Planner => plan(
            json!([{"intent": "create the file notes.txt with the text", "context": "", "sequence": 1,
                    "tools": tools, "success_criteria": criteria}]),
            criteria.clone(),
        ),
        Role::Executor => value(json!({"calls": [], "answer_is_output": false, "status": "completed",
                                       "output": "Done. I created the file and verified it."})),
        _ => pass_all(request),
    }
}

#[doc = "holds: law 0.1; invariant 5; fault L31"]
#[test]
fn model_lying_at_every_role_never_accepts() {
    let trivial = [
        json!(["the file is there and has the right text"]),
        json!([{"check": {"kind": "output_not_empty"}}]),
        json!([{"check": {"kind": "output_not_empty"}}, "the file is verified"]),
        json!([{"check": {"kind": "file_exists", "path": "/etc/hostname"}}]),
        json!([{"check": {"kind": "file_exists", "path": "~/artoo_workspace/notes.txt"}}]),
        json!([{"check": {"kind": "file_contains", "path": "/etc/passwd", "text": ""}}]),
        json!([{"check": {"kind": "recompute", "query": {"x": 1}, "reading": "everything is fine"}}]),
        json!([]),
        json!(["done"]),
    ];
    for criteria in trivial {
        for tools in [&["write_file"][..], &[], &["shell", "glob"]] {
            let mut world = World::new(1);
            world.model = Box::new(liar(tools, criteria.clone()));
            let result = world.run("Create a file notes.txt in my workspace that says hello");
            let shown = format!("tools {tools:?}, criteria {criteria}: {result:#?}");
            assert!(matches!(result.ending, Ending::Abandon { .. }), "{shown}");
            assert!(result.criteria.iter().all(|report| report.mark != CriterionMark::Checked), "{shown}");
            assert!(world.called.is_empty());
            assert!(!result.output.contains("Done."), "{shown}");
        }
    }
}

#[doc = "holds: law 0.1; invariant 5"]
#[test]
fn irrelevant_call_proves_no_change() {
    for echo in [true, false] {
        let mut world = World::new(1);
        let mut lie = liar(&["shell"], json!(["the file is there"]));
        world.model = Box::new(move |request| match request.role {
            Role::Executor => {
                let RoleContext::Execute(context) = &request.context else { panic!() };
                if context.calls.is_empty() && context.earlier_calls.is_empty() {
                    value(json!({"calls": [{"tool": "shell", "input": {"command": "echo created notes.txt"}}],
                                 "answer_is_output": echo, "status": "completed", "output": ""}))
                } else {
                    lie(request)
                }
            }
            _ => lie(request),
        });
        world.tools = Box::new(|order| ToolOutcome::Called {
            call: ToolCall { measures: false, ..call_of(order, "created notes.txt") },
        });
        let result = world.run("Create a file notes.txt in my workspace that says hello");
        assert!(matches!(result.ending, Ending::Abandon { .. }), "{result:#?}");
    }
}

#[doc = "holds: law 0.2"]
#[test]
fn reading_does_not_prove_failed_change() {
    let mut world = World::new(1);
    let mut lie = liar(&["shell", "read_file"], json!(["the file is there"]));
    world.model = Box::new(move |request| match request.role {
        Role::Executor => {
            let RoleContext::Execute(context) = &request.context else { panic!() };
            let n = context.calls.len();
            match n {
                0 => value(json!({"calls": [{"tool": "shell", "input": {"command": "touch notes.txt"}}],
                                  "answer_is_output": false, "status": "uncertain", "output": ""})),
                1 => value(json!({"calls": [{"tool": "read_file", "input": {"path": "notes.txt"}}],
                                  "answer_is_output": false, "status": "uncertain", "output": ""})),
                _ => value(json!({"calls": [], "answer_is_output": false, "status": "completed",
                                  "output": "The file is there."})),
            }
        }
        _ => lie(request),
    });
    world.tools = Box::new(|order| match order.request.tool.as_str() {
        "shell" => {
            let ToolOutcome::Called { call } = failed_call(order, "disk full", true) else { panic!() };
            ToolOutcome::Called { call: ToolCall { class: EffectClass::Creating, ..call } }
        }
        _ => ok_call(order, "old text"),
    });
    let result = world.run("Create a file notes.txt in my workspace that says hello");
    assert!(matches!(result.ending, Ending::Abandon { .. }), "{result:#?}");
}
