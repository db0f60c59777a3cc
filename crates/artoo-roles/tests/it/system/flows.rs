//! Whole tasks that succeed, recover, or are abandoned.

use artoo_proto::{
    AbandonReason, Basis, CallStatus, CoverageState, CriterionMark, EffectClass, Ending, FileChange, MessageKind,
    ReplanDirective, Role, RoleContext, ToolCall, ToolOrder, ToolOutcome,
};
use serde_json::json;

use artoo_roles::testing::bench::coverage;
use artoo_roles::testing::world::{World, call_of, failed_call, ok_call, pass_all, value, words};

use super::{answer_with, honest, one_subtask, plan, reason, unmet};

#[test]
fn groups_run_in_order_and_pass_outputs() {
    let mut world = World::new(1);
    world.model = Box::new(|request| match request.role {
        Role::Planner => plan(
            json!([
                {"intent": "second step", "context": "", "sequence": 5, "tools": ["shell"],
                 "success_criteria": ["something about lines"]},
                {"intent": "first step, left", "context": "", "sequence": -2, "tools": ["glob"],
                 "success_criteria": ["something about files"]},
                {"intent": "first step, right", "context": "", "sequence": -2, "tools": ["glob"],
                 "success_criteria": ["something about folders"]}
            ]),
            json!(["both are there"]),
        ),
        Role::Executor => {
            let RoleContext::Execute(context) = &request.context else { panic!() };
            answer_with(&context.subtask.tools[0].clone(), json!({"for": context.subtask.intent}))
        }
        _ => honest(request),
    });
    world.tools = Box::new(|order| ok_call(order, &format!("made by {}", order.request.input["for"])));
    let result = world.run("look at two things, then a third");
    let contexts: Vec<(String, String)> = world
        .asked
        .iter()
        .filter_map(|request| match &request.context {
            RoleContext::Execute(context) => Some((context.subtask.intent.clone(), context.subtask.context.clone())),
            _ => None,
        })
        .collect();
    assert_eq!(contexts[2].0, "second step");
    assert!(contexts[2].1.contains("made by \"first step, left\""), "{}", contexts[2].1);
    assert!(contexts[2].1.contains("made by \"first step, right\""));
    assert!(contexts[0].1.is_empty());
    assert_eq!(result.output, "made by \"second step\"", "the last step answers, and the others hand over");
}

/// After a missing target, `change_path` suggests an existing one, and the second plan succeeds with it.
#[doc = "holds: law 2.3"]
#[test]
fn an_environmental_failure_recovers_by_change_path() {
    let mut world = World::new(1);
    world.model = Box::new(|request| match request.role {
        Role::Planner => {
            let RoleContext::Plan(context) = &request.context else { panic!() };
            let (path, seq) = match &context.directive {
                Some(directive) => {
                    assert_eq!(directive.directive, ReplanDirective::ChangePath);
                    assert!(directive.blocked_targets.iter().any(|t| t.contains("/gone")), "{directive:?}");
                    assert_eq!(directive.suggested_alternatives, ["/home/u/here"]);
                    ("/home/u/here", 1)
                }
                None => ("/gone", 0),
            };
            plan(
                json!([{"intent": format!("read the notes in {path}"), "context": "", "sequence": seq,
                        "tools": ["read_file"], "success_criteria": ["the text of the notes is shown"]}]),
                json!(["the notes are shown"]),
            )
        }
        Role::Executor => {
            let RoleContext::Execute(context) = &request.context else { panic!() };
            if context.calls.iter().any(|call| call.status != CallStatus::Ok) {
                return value(json!({"calls": [], "answer_is_output": false, "status": "failed",
                                    "output": "", "reason": "the file is not there"}));
            }
            let path = if context.subtask.intent.contains("/gone") { "/gone" } else { "/home/u/here" };
            answer_with("read_file", json!({"path": path}))
        }
        _ => honest(request),
    });
    world.tools = Box::new(|order: &ToolOrder| {
        let path = order.request.input["path"].as_str().unwrap().to_owned();
        let target = ToolCall { target: path.clone(), ..call_of(order, "milk, eggs") };
        if path == "/gone" {
            let ToolOutcome::Called { call } = failed_call(order, "no such file", true) else { panic!() };
            let alternatives = vec!["/home/u/here".to_owned()];
            return ToolOutcome::Called { call: ToolCall { target: path, alternatives, ..call } };
        }
        ToolOutcome::Called { call: target }
    });
    let result = world.run("show me what is in my notes");
    assert_eq!(result.ending, Ending::Accept { basis: Basis::Judged }, "{result:#?}");
    assert_eq!(result.output, "milk, eggs");
    assert_eq!(result.replans, 1);
}

#[doc = "holds: law 0.6, 2.4, 2.5"]
#[test]
fn logical_failure_ends_in_partial_abandon() {
    let mut world = World::new(1);
    world.model = Box::new(|request| match request.role {
        Role::Planner => {
            let RoleContext::Plan(context) = &request.context else { return words() };
            let free = |tool: &&artoo_proto::ToolSpec| {
                let blocked = context.directive.as_ref().map(|d| d.blocked_tools.clone()).unwrap_or_default();
                !blocked.contains(&tool.name) && tool.name != "mdfind"
            };
            // The second step takes the last free tool, so that every directive finds another class.
            let Some(last) = context.tools.iter().rfind(free) else { panic!("all blocked") };
            plan(
                json!([
                    {"intent": "list the folder", "context": "", "sequence": 0, "tools": ["mdfind"],
                     "success_criteria": ["a list is shown"]},
                    {"intent": format!("understand it with {}", last.name), "context": "", "sequence": 0,
                     "tools": [last.name], "success_criteria": ["an insight is shown"]}
                ]),
                json!(["an insight into the folder is given"]),
            )
        }
        Role::Executor => {
            let RoleContext::Execute(context) = &request.context else { panic!() };
            let tries = context.earlier_calls.len();
            answer_with(&context.subtask.tools[0].clone(), json!({"try": tries}))
        }
        Role::AgentValidator => {
            let RoleContext::ValidateSubtask(context) = &request.context else { panic!() };
            if context.subtask.intent.starts_with("list") {
                return pass_all(request);
            }
            value(json!({"verdicts": [{"number": 1, "verdict": "fail", "cites": [], "evidence": "just names",
                                       "failure_class": "logical"}], "what_to_do": "think"}))
        }
        _ => honest(request),
    });
    world.tools = Box::new(|order| ok_call(order, &format!("output of {}", order.request.tool)));
    let result = world.run("give me an insight into my things");
    assert!(matches!(reason(&result.ending), AbandonReason::MaxReplans | AbandonReason::Diverging), "{result:#?}");
    let directives = world.published(MessageKind::PlanDirective);
    let artoo_proto::Message::PlanDirective(first) = directives[0] else { panic!() };
    assert_eq!(first.directive, ReplanDirective::BreakSymmetry);
    assert_eq!(first.blocked_tools, ["shell"]);
    assert_eq!(result.output, "output of mdfind", "the verified part is delivered");
    assert!(!result.unverified.is_empty() && result.unverified.iter().all(|u| u.intent.starts_with("understand")));
    assert!(unmet(&result.ending).contains(&"an insight is shown".to_owned()));
    assert!(!result.next_steps.is_empty());
    assert_eq!(result.model_words.unwrap().summary, "a part is done");
}

#[doc = "holds: law 0.9"]
#[test]
fn only_covered_writes_are_marked_checked() {
    let mut world = World::new(1);
    world.model = Box::new(|request| match request.role {
        Role::Planner => plan(
            json!([{"intent": "write notes.txt", "context": "", "sequence": 1, "tools": ["write_file"],
                    "success_criteria": [{"check": {"kind": "file_contains", "path": "notes.txt", "text": "hello"}}]}]),
            json!(["notes.txt in the workspace holds the greeting"]),
        ),
        Role::Executor => answer_with("write_file", json!({"path": "notes.txt", "text": "hello"})),
        _ => honest(request),
    });
    world.tools = Box::new(|order| {
        let change = FileChange {
            path: "/home/u/artoo_workspace/notes.txt".to_owned(),
            before: None,
            after: Some("2cf2".to_owned()),
        };
        let call = ToolCall {
            class: EffectClass::Creating,
            measures: false,
            changed: vec![change],
            ..call_of(order, "wrote 5 bytes")
        };
        ToolOutcome::Called { call }
    });
    let result = world.run("Create a file notes.txt in my workspace that says hello");
    assert_eq!(
        result.ending,
        Ending::Accept { basis: Basis::Judged },
        "a plan's own check covers nothing: {result:#?}"
    );
    assert_eq!(result.criteria[0].mark, CriterionMark::Checked);

    world.cover = Box::new(|order| {
        let is_there = order.calls.iter().any(|call| !call.changed.is_empty());
        coverage(if is_there { CoverageState::Shown } else { CoverageState::Refuted })
    });
    let result = world.run("Create a file notes.txt that says hello");
    assert_eq!(result.ending, Ending::Accept { basis: Basis::Checked }, "{result:#?}");
    let asked = world.asked.iter().filter(|request| request.role == Role::MetaValidator).count();
    assert_eq!(asked, 1, "facts need no judge");
}

#[doc = "holds: law 0.4"]
#[test]
fn text_only_answers_are_marked() {
    let mut world = World::new(1);
    world.model = Box::new(|request| match request.role {
        Role::Planner => plan(
            json!([{"intent": "write the poem", "context": "", "sequence": 1, "tools": [],
                    "success_criteria": ["it has three lines"]}]),
            json!(["it speaks of rain"]),
        ),
        Role::Executor => value(json!({"calls": [], "answer_is_output": false, "status": "completed",
                                       "output": "rain\non the roof\nagain"})),
        _ => honest(request),
    });
    let result = world.run("write a haiku about rain");
    assert_eq!(result.ending, Ending::Accept { basis: Basis::WordsOnly }, "{result:#?}");
}

#[doc = "holds: principle 2"]
#[test]
fn approach_failing_in_two_tasks_is_forbidden() {
    let mut world = World::new(1);
    world.model = Box::new(|request| match request.role {
        Role::AgentValidator => value(json!({"verdicts": [{"number": 1, "verdict": "fail", "cites": [],
            "evidence": "no", "failure_class": "logical"}], "what_to_do": null})),
        Role::Executor => {
            let RoleContext::Execute(context) = &request.context else { panic!() };
            answer_with(&context.subtask.tools[0].clone(), json!({"try": context.earlier_calls.len()}))
        }
        Role::Planner => {
            let RoleContext::Plan(context) = &request.context else { panic!() };
            if context.directive.is_some() {
                return plan(json!([]), json!([]));
            }
            plan(one_subtask("glob"), json!(["the combined output states how many there are"]))
        }
        _ => honest(request),
    });
    let first = world.run("how many reports are there");
    assert!(matches!(reason(&first.ending), AbandonReason::NoPlan { .. }), "{first:#?}");
    world.asked.clear();
    world.run("how many reports are there?");
    let told = world
        .asked
        .iter()
        .filter_map(
            |request| if let RoleContext::Plan(context) = &request.context { Some(&context.calibration) } else { None },
        )
        .next()
        .unwrap();
    assert!(told.must_not.is_empty() && !told.caution.is_empty(), "one failure warns: {told:?}");
    let kept: Vec<_> = world.published(MessageKind::Megram);
    assert!(kept.iter().any(|m| matches!(m, artoo_proto::Message::Megram(d) if d.entity == "via:glob")), "{kept:?}");

    world.asked.clear();
    let mut drafts = 0;
    world.model = Box::new(move |request| match request.role {
        Role::Planner => {
            let RoleContext::Plan(context) = &request.context else { panic!() };
            drafts += 1;
            assert!(context.calibration.must_not.iter().any(|line| line.contains("glob")), "{:?}", context.calibration);
            let tool = if drafts == 1 { "glob" } else { "shell" };
            plan(one_subtask(tool), json!(["the combined output states how many there are"]))
        }
        Role::Executor => answer_with("shell", json!({"command": "ls"})),
        _ => honest(request),
    });
    let second = world.run("How many reports are there?");
    assert_eq!(second.ending, Ending::Accept { basis: Basis::Judged }, "{second:#?}");
    assert_eq!(world.called.last().map(|order| order.request.tool.as_str()), Some("shell"));
}

#[test]
fn a_run_replays_from_its_inputs_alone() {
    let mut world = World::new(7);
    world.model = Box::new(honest);
    let mut log = Vec::new();
    let mut wanted = Vec::new();
    let mut queue = vec![artoo_roles::Input::Operator { message: world.request("how many reports are there").into() }];
    while let Some(input) = queue.pop() {
        log.push(serde_json::to_string(&(world.now, &input)).unwrap());
        let effects = world.system.step(world.now, input);
        wanted.push(effects.clone());
        world.take(effects);
        if let Some((effect_id, work)) = world.work.pop_front() {
            let completion = world.perform(&work);
            queue.push(artoo_roles::Input::Completed { effect_id, completion });
        }
    }
    assert!(world.delivered.iter().any(|m| m.kind() == MessageKind::FinalResult));
    let mut again = artoo_roles::System::new(
        artoo_roles::testing::world::config(7),
        artoo_roles::memory::Memory::new(artoo_mkct::Engine::new()),
    );
    for (line, wanted) in log.iter().zip(wanted) {
        let (now, input): (artoo_proto::Now, artoo_roles::Input) = serde_json::from_str(line).unwrap();
        assert_eq!(again.step(now, input), wanted);
    }
}
