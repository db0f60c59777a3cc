//! Whole tasks through the System: scripted models and tools, real roles, real decisions.

use artoo_proto::{
    AbandonReason, Basis, CallStatus, CriterionMark, EffectClass, Ending, FileChange, MessageKind, ModelFailure,
    ModelRequest, ReplanDirective, ReplyBody, Role, RoleContext, ToolCall, ToolOutcome, Usage,
};
use serde_json::{Value, json};

use super::testing::{World, call_of, failed_call, ok_call, pass_all, understood, value};
use crate::machine::ToolOrder;

fn plan(subtasks: Value, criteria: Value) -> Result<ReplyBody, ModelFailure> {
    value(json!({"task_criteria": criteria, "subtasks": subtasks}))
}

fn one_subtask(tool: &str) -> Value {
    json!([{
        "intent": format!("look at the machine with {tool}"), "context": "", "sequence": 1, "tools": [tool],
        "success_criteria": [{"criterion": "the output names a number of files", "mode": "plausible"}]
    }])
}

fn answer_with(tool: &str, input: Value) -> Result<ReplyBody, ModelFailure> {
    value(json!({"calls": [{"tool": tool, "input": input}], "answer_is_output": true,
                 "status": "completed", "output": ""}))
}

/// A model that plans one glob call, makes it, and passes everything.
fn honest(request: &ModelRequest) -> Result<ReplyBody, ModelFailure> {
    match request.role {
        Role::Perceiver => understood(request),
        Role::Planner => plan(one_subtask("glob"), json!(["the combined output states how many there are"])),
        Role::Executor => answer_with("glob", json!({"root": "/home/u", "report": "count"})),
        _ => pass_all(request),
    }
}

fn unmet(ending: &Ending) -> Vec<String> {
    match ending {
        Ending::Accept { .. } => Vec::new(),
        Ending::Success { unmet } | Ending::Abandon { unmet, .. } => unmet.iter().map(|r| r.claim.clone()).collect(),
    }
}

fn reason(ending: &Ending) -> &AbandonReason {
    match ending {
        Ending::Abandon { reason, .. } => reason,
        other => panic!("not an abandon: {other:?}"),
    }
}

#[test]
fn g17_the_simplest_task_takes_five_sequential_model_calls() {
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

#[test]
fn g17_real_checks_spare_the_agent_validators_call() {
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
}

#[test]
fn g17_a_correction_costs_two_calls_and_a_replan_four() {
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

#[test]
fn two_groups_run_in_order_and_hand_over_their_outputs() {
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
    let lines: Vec<&str> = result.output.lines().collect();
    assert_eq!(lines.len(), 3);
    assert!(lines[2].contains("second step"), "merged in sequence order: {lines:?}");
}

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

#[test]
fn a_logical_failure_breaks_symmetry_and_ends_in_an_honest_abandon_with_its_partial_result() {
    let mut world = World::new(1);
    world.model = Box::new(|request| match request.role {
        Role::Planner => {
            let RoleContext::Plan(context) = &request.context else { panic!() };
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
}

#[test]
fn a_refused_call_ends_in_consent_needed_and_is_listed() {
    let mut world = World::new(1);
    world.model = Box::new(|request| match request.role {
        Role::Executor => answer_with("shell", json!({"command": "rm -rf /home/u/keep"})),
        Role::Planner => plan(one_subtask("shell"), json!(["the combined output states how many there are"])),
        _ => honest(request),
    });
    world.tools = Box::new(|order| {
        assert!(order.consent.is_none(), "nothing runs without a yes");
        ToolOutcome::NeedsConsent {
            hash: artoo_proto::ConsentHash("h".to_owned()),
            shown: "rm -rf /home/u/keep".to_owned(),
            effects: vec!["deletes /home/u/keep".to_owned()],
            reason: "rm removes".to_owned(),
        }
    });
    world.operator = Box::new(|message| match message {
        artoo_proto::Message::ConsentRequest(request) => Some(
            artoo_proto::ConsentAnswer {
                task_id: request.task_id.clone(),
                subtask_id: request.subtask_id,
                hash: request.hash.clone(),
                allowed: false,
                note: Some("there is no terminal to ask on".to_owned()),
            }
            .into(),
        ),
        _ => None,
    });
    let result = world.run("how many reports are there");
    assert_eq!(reason(&result.ending), &AbandonReason::ConsentNeeded);
    assert_eq!(result.denied[0].action, "shell: rm -rf /home/u/keep");
    assert!(world.published(MessageKind::Megram).is_empty(), "m18: a refusal is no experience");
}

#[test]
fn a_dead_provider_ends_the_task_at_once_wherever_it_dies() {
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

#[test]
fn a_cancelled_task_ends_and_late_replies_are_ignored() {
    let mut world = World::new(1);
    world.model = Box::new(honest);
    let request = world.request("how many reports are there");
    let task_id = request.task_id.clone();
    world.give(super::Input::Operator { message: request.into() });
    let (late, work) = world.work.pop_front().expect("R1 asks");
    world.give(super::Input::Operator { message: artoo_proto::CancelRequest { task_id }.into() });
    let completion = world.perform(&work);
    world.give(super::Input::Completed { effect_id: late, completion });
    let results: Vec<_> = world.delivered.iter().filter(|m| m.kind() == MessageKind::FinalResult).collect();
    let [artoo_proto::Message::FinalResult(result)] = results.as_slice() else { panic!("{results:?}") };
    assert_eq!(reason(&result.ending), &AbandonReason::Cancelled);
    assert_eq!(world.system.instances(), 1, "only memory is left");
    assert!(world.events.iter().any(|event| matches!(event, artoo_bus::TapEvent::Ignored { .. })));
}

#[test]
fn g20_a_task_that_never_reports_ends_at_its_hard_limit() {
    let mut world = World::new(1);
    world.model = Box::new(honest);
    let request = artoo_proto::UserRequest { hard_limit_ms: 5_000, ..world.request("how many reports are there") };
    world.give(super::Input::Operator { message: request.into() });
    world.work.clear();
    world.work_until_quiet();
    let artoo_proto::Message::FinalResult(result) = &world.delivered[0] else { panic!() };
    assert_eq!(reason(&result.ending), &AbandonReason::Deadline);
    assert_eq!(world.now.uptime_ms, 5_000);
}

/// The claim of a model that did nothing, at every role in the role's own form.
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

#[test]
fn a_model_that_lies_at_every_role_gets_no_accept() {
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

#[test]
fn an_irrelevant_call_does_not_carry_a_claim_of_an_act() {
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

#[test]
fn a_failed_act_is_not_proven_by_looking_afterwards() {
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

#[test]
fn a_real_write_with_a_real_check_is_accepted() {
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
    assert_eq!(result.ending, Ending::Accept { basis: Basis::Judged }, "{result:#?}");
    assert_eq!(result.criteria[0].mark, CriterionMark::Checked);
}

#[test]
fn words_alone_are_marked_as_words() {
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

#[test]
fn b3_a_panic_in_any_role_ends_its_task_and_no_other() {
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

#[test]
fn memory_of_an_approach_that_failed_forbids_it_next_time() {
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
    let second = world.run("How many reports are in there?");
    assert_eq!(second.ending, Ending::Accept { basis: Basis::Judged }, "{second:#?}");
    assert_eq!(world.called.last().map(|order| order.request.tool.as_str()), Some("shell"));
}

#[test]
fn usage_is_seen_on_the_tap_by_role() {
    let mut world = World::new(1);
    world.model = Box::new(honest);
    world.run("how many reports are there");
    let mut total = std::collections::BTreeMap::new();
    for event in &world.events {
        super::add_usage(&mut total, event);
    }
    assert_eq!(total.len(), 5);
    let one = Usage { model_calls: 1, prompt_tokens: 100, completion_tokens: 20 };
    assert!(total.values().all(|usage| *usage == one), "{total:?}");
}

#[test]
fn a_run_replays_from_its_inputs_alone() {
    let mut world = World::new(7);
    world.model = Box::new(honest);
    let mut log = Vec::new();
    let mut wanted = Vec::new();
    let mut queue = vec![super::Input::Operator { message: world.request("how many reports are there").into() }];
    while let Some(input) = queue.pop() {
        log.push(serde_json::to_string(&(world.now, &input)).unwrap());
        let effects = world.system.step(world.now, input);
        wanted.push(effects.clone());
        world.take(effects);
        if let Some((effect_id, work)) = world.work.pop_front() {
            let completion = world.perform(&work);
            queue.push(super::Input::Completed { effect_id, completion });
        }
    }
    assert!(world.delivered.iter().any(|m| m.kind() == MessageKind::FinalResult));
    let mut again =
        super::System::new(super::testing::config(7), crate::memory::Memory::new(artoo_mkct::Engine::new()));
    for (line, wanted) in log.iter().zip(wanted) {
        let (now, input): (artoo_proto::Now, super::Input) = serde_json::from_str(line).unwrap();
        assert_eq!(again.step(now, input), wanted);
    }
}
