//! Regression tests of observed failures in the flow of a task.

use std::collections::BTreeSet;

use artoo_proto::{
    AbandonReason, Basis, CallStatus, Ending, Message, MessageKind, ModelFailure, OutcomeStatus, ReplyBody, Role,
    RoleContext, SessionTurn, SubTask, ToolCall, ToolOutcome, UserRequest,
};
use serde_json::{Value, json};

use super::{answer_from, honest, is_accept, plan_with, reason, says, world};
use artoo_roles::system::Input;
use artoo_roles::testing::bench::unreadable;
use artoo_roles::testing::world::{
    World, call_of, failed_call, needs_consent, ok_call, pass_all, refusing, understood, value, words,
};

const QUESTION: &str = "how many reports are there";

/// The subtasks that the dispatcher published.
fn subtasks(world: &World) -> Vec<&SubTask> {
    let sent = world.published(MessageKind::SubTask).into_iter();
    sent.filter_map(|message| if let Message::SubTask(subtask) = message { Some(subtask) } else { None }).collect()
}

/// The only result of the task.
fn result(world: &World) -> &artoo_proto::FinalResult {
    let results: Vec<_> = world
        .delivered
        .iter()
        .filter_map(|message| if let Message::FinalResult(result) = message { Some(result) } else { None })
        .collect();
    let [result] = results[..] else { panic!("one result a task: {:#?}", world.delivered) };
    result
}

#[doc = "holds: design R1.7, R1.101"]
#[test]
fn earlier_turns_are_in_the_prompt() {
    let mut world = world(honest);
    let turn = SessionTurn { input: "count the reports".to_owned(), summary: "12 reports".to_owned(), answered: true };
    let request = UserRequest { session: vec![turn], ..world.request("do it again") };
    world.give(Input::Operator { message: request.into() });
    world.work_until_quiet();
    assert!(world.asked[0].prompt.user.contains("user: count the reports\nended: 12 reports"));
}

#[doc = "holds: design R1.23, R1.25"]
#[test]
fn questions_need_an_operator_and_end() {
    for (interactive, questions) in [(true, 2), (false, 0)] {
        let mut world = world(|request| match request.role {
            Role::Perceiver => value(json!({"task_id": "t", "intent": "count the reports", "question": "which ones?",
                                            "constraints": {"scope": null, "deadline": null}})),
            _ => honest(request),
        });
        world.operator = Box::new(|message| match message {
            Message::ClarificationRequest(request) => {
                let answer = "the old ones".to_owned();
                Some(artoo_proto::ClarificationAnswer { task_id: request.task_id.clone(), answer }.into())
            }
            _ => None,
        });
        let request = UserRequest { interactive, ..world.request(QUESTION) };
        world.give(Input::Operator { message: request.into() });
        world.work_until_quiet();
        assert_eq!(world.published(MessageKind::ClarificationRequest).len(), questions);
        assert!(is_accept(result(&world)));
    }
}

/// If a model gives all steps of a plan the same id, the subtasks still get ids of their own.
#[doc = "holds: fault L25; design R2.27"]
#[test]
fn repeated_model_ids_are_not_used() {
    let same = "11111111-1111-1111-1111-111111111111";
    let mut world = world(move |request| match request.role {
        Role::Planner => {
            let step = |n: usize| {
                json!({"subtask_id": same, "intent": format!("part {n}"), "context": "", "sequence": 0,
                       "tools": ["glob"], "success_criteria": ["a number of reports is named"]})
            };
            let steps: Vec<Value> = (0..30).map(step).collect();
            value(json!({"task_criteria": ["a number is stated"], "subtasks": steps}))
        }
        _ => honest(request),
    });
    assert!(is_accept(&world.run(QUESTION)));
    let ids: BTreeSet<String> = subtasks(&world).iter().map(|subtask| subtask.subtask_id.to_string()).collect();
    assert!(ids.len() == 30 && !ids.contains(same));
}

/// A step with a higher sequence number starts after the earlier ones and gets their outputs as context.
#[doc = "holds: design R2.17"]
#[test]
fn dependent_step_waits_for_its_input() {
    let mut world = world(|request| match request.role {
        Role::Planner => {
            let step = |intent: &str, sequence: i64| {
                json!({"intent": intent, "context": "", "sequence": sequence, "tools": ["glob"],
                       "success_criteria": ["a number of reports is named"]})
            };
            let steps = [step("sum them up", 2), step("count here", 1), step("count there", 1)];
            value(json!({"task_criteria": ["a number is stated"], "subtasks": steps}))
        }
        _ => honest(request),
    });
    world.run(QUESTION);
    let order: Vec<&str> = subtasks(&world).iter().map(|subtask| subtask.intent.as_str()).collect();
    assert_eq!(order, ["count here", "count there", "sum them up"]);
    assert_eq!(subtasks(&world)[2].context.matches("Output of the earlier step").count(), 2);
}

#[doc = "holds: design R2.86, R2.98"]
#[test]
fn missing_tool_or_plan_ends_the_task() {
    let mut world = world(|request| match request.role {
        Role::Planner => plan_with(&["applescript"], json!(["a number is named"]), json!(["a number is stated"])),
        _ => honest(request),
    });
    let result = world.run(QUESTION);
    let AbandonReason::NoPlan { problems } = reason(&result) else { panic!("{result:#?}") };
    assert!(problems.iter().all(|problem| problem.contains("\"applescript\"")), "{problems:?}");
    assert!(world.called.is_empty() && !result.next_steps.is_empty());
}

#[test]
fn second_unusable_reply_ends_the_task() {
    let bad: [fn() -> Result<ReplyBody, ModelFailure>; 5] = [
        || Err(unreadable()),
        || value(json!("Tool call: glob")),
        || value(json!([1, 2])),
        || value(json!({"verdicts": "all pass", "subtasks": 3, "intent": [], "calls": "glob"})),
        || value(Value::Null),
    ];
    for role in [Role::Perceiver, Role::Planner, Role::Executor, Role::AgentValidator, Role::MetaValidator] {
        for reply in bad {
            let mut first = true;
            let mut world =
                world(
                    move |request| {
                        if request.role == role && std::mem::take(&mut first) { reply() } else { honest(request) }
                    },
                );
            assert!(is_accept(&world.run(QUESTION)), "{role}");
            let mut world = self::world(move |request| if request.role == role { reply() } else { honest(request) });
            let result = world.run(QUESTION);
            assert!(matches!(reason(&result), AbandonReason::Provider { .. }), "{role}: {result:#?}");
        }
    }
}

#[doc = "holds: fault L34; design R3.58, R3.90"]
#[test]
fn repeated_identical_call_ends() {
    let mut world = world(|request| match request.role {
        Role::Executor => value(json!({"calls": [{"tool": "glob", "input": {"root": "/home/u"}}],
                                       "answer_is_output": false, "status": "uncertain", "output": ""})),
        _ => honest(request),
    });
    let result = world.run(QUESTION);
    assert!(!is_accept(&result));
    assert!(world.called.len() <= 4, "once a round: {}", world.called.len());
    assert!(world.asked.len() < 60, "{}", world.asked.len());
}

#[doc = "holds: fault L36"]
#[test]
fn repeated_replies_end_within_four_rounds() {
    let mut world = world(|request| match request.role {
        Role::AgentValidator => value(json!({"verdicts": [{"number": 1, "verdict": "fail", "cites": [],
            "evidence": "no", "failure_class": "environmental"}], "what_to_do": null})),
        _ => honest(request),
    });
    let result = world.run(QUESTION);
    assert!(!is_accept(&result) && result.replans <= 3, "{result:#?}");
}

#[doc = "holds: design R3.18, R3.19"]
#[test]
fn judge_sees_end_of_long_output() {
    let mut world = world(honest);
    world.tools = Box::new(|order| ok_call(order, &format!("head\n{}\nTOTAL 4711", "x".repeat(100_000))));
    world.run(QUESTION);
    for role in [Role::AgentValidator, Role::MetaValidator] {
        let asked = world.asked.iter().find(|request| request.role == role).unwrap();
        let prompt = &asked.prompt.user;
        assert!(prompt.contains("head") && prompt.contains("TOTAL 4711") && prompt.contains(", output cut"), "{role}");
    }
}

#[doc = "holds: principle 10; design R3.68"]
#[test]
fn long_tool_output_keeps_prompt_bounded() {
    let mut world = world(|request| match request.role {
        Role::Executor => {
            let RoleContext::Execute(context) = &request.context else { panic!() };
            if context.calls.len() == 8 { says("12") } else { look_again(request) }
        }
        _ => honest(request),
    });
    world.tools = Box::new(|order| ok_call(order, &"y".repeat(1_000_000)));
    world.run(QUESTION);
    let longest = world.asked.iter().map(|request| request.prompt.user.chars().count()).max().unwrap();
    assert!(longest < 120_000, "{longest} characters");
}

/// An executor's reply with a call that differs each time.
fn look_again(request: &artoo_proto::ModelRequest) -> Result<ReplyBody, ModelFailure> {
    let RoleContext::Execute(context) = &request.context else { panic!() };
    let input = json!({"n": context.calls.len() + context.earlier_calls.len()});
    value(json!({"calls": [{"tool": "glob", "input": input}], "answer_is_output": false, "status": "uncertain",
                 "output": ""}))
}

#[doc = "holds: design R3.13"]
#[test]
fn cancelled_task_makes_no_further_call() {
    let mut world = world(honest);
    let request = world.request(QUESTION);
    let task_id = request.task_id.clone();
    world.give(Input::Operator { message: request.into() });
    while world.called.is_empty() {
        let (effect_id, work) = world.work.pop_front().unwrap();
        let completion = world.perform(&work);
        if world.called.is_empty() {
            world.give(Input::Completed { effect_id, completion });
        } else {
            world.give(Input::Operator { message: artoo_proto::CancelRequest { task_id: task_id.clone() }.into() });
            world.give(Input::Completed { effect_id, completion });
        }
    }
    assert!(world.work.is_empty());
    assert!(world.published(MessageKind::ExecutionResult).is_empty());
    assert_eq!(reason(result(&world)), &AbandonReason::Cancelled);
}

#[test]
fn missing_verdict_or_failed_status_never_matches() {
    let mut missing = world(|request| match request.role {
        Role::Planner => plan_with(
            &["glob"],
            json!(["a number of reports is named", "their folder is named"]),
            json!(["a number is stated"]),
        ),
        Role::AgentValidator => {
            let RoleContext::ValidateSubtask(context) = &request.context else { panic!() };
            let cite = &context.result.tool_calls[0].evidence_id.0;
            value(json!({"verdicts": [{"number": 1, "verdict": "pass", "cites": [cite], "evidence": "seen"}],
                         "what_to_do": null}))
        }
        _ => honest(request),
    });
    assert!(!is_accept(&missing.run(QUESTION)));
    let mut failed = world(|request| match request.role {
        Role::Executor => value(json!({"calls": [], "answer_is_output": false, "status": "failed", "output": "12",
                                       "reason": "I could not"})),
        _ => honest(request),
    });
    let result = failed.run(QUESTION);
    assert!(!is_accept(&result));
    assert!(!failed.asked_roles().contains(&Role::AgentValidator), "no model is asked about work that was given up");
}

/// A search that failed for a missing permission is never accepted; a search that found nothing is.
#[test]
fn denied_search_is_no_empty_answer() {
    let mut barred = world(honest);
    barred.tools = Box::new(|order| failed_call(order, "permission denied", true));
    assert!(!is_accept(&barred.run(QUESTION)));
    let mut empty = world(honest);
    empty.tools = Box::new(|order| ok_call(order, ""));
    let result = empty.run("list the reports that name me");
    assert!(is_accept(&result) && result.output.is_empty(), "d7: {result:#?}");
}

#[test]
fn one_failed_subtask_prevents_acceptance() {
    let mut world = world(|request| match request.role {
        Role::Planner => {
            let step = |intent: &str| {
                json!({"intent": intent, "context": "", "sequence": 0, "tools": ["glob"],
                       "success_criteria": ["a number of reports is named"]})
            };
            let steps = [step("count here"), step("count there")];
            value(json!({"task_criteria": ["a number is stated"], "subtasks": steps}))
        }
        Role::Executor => {
            let RoleContext::Execute(context) = &request.context else { panic!() };
            let there = context.subtask.intent.contains("there");
            answer_from(request, "glob", json!({"there": there}))
        }
        _ => honest(request),
    });
    world.tools = Box::new(|order| {
        if order.request.input["there"] == json!(true) { failed_call(order, "no", false) } else { ok_call(order, "12") }
    });
    let result = world.run(QUESTION);
    assert!(!is_accept(&result));
    assert!(!world.asked_roles().contains(&Role::MetaValidator), "the gate is shut");
    assert_eq!(result.output, "12", "what matched is delivered");
}

#[doc = "holds: design R7.67, R7.79, R7.105, R7.47"]
#[test]
fn abandon_text_contains_no_uuids() {
    let mut world = world(honest);
    world.tools = Box::new(|order| failed_call(order, "no such folder", true));
    let result = world.run(QUESTION);
    assert!(result.loss.d > 0.9 && result.loss.omega > 0.0, "{:?}", result.loss);
    assert!(result.summary.starts_with("Every way I tried failed: "), "{}", result.summary);
    let ids: Vec<String> = subtasks(&world).iter().map(|subtask| subtask.subtask_id.to_string()).collect();
    let shown = format!("{} {:?} {:?} {}", result.summary, result.next_steps, result.ending, result.output);
    assert!(ids.iter().all(|id| !shown.contains(id)), "{shown}");
}

/// After a call failed on a target, later rounds send that target as blocked to the tool.
#[doc = "holds: design R7.73"]
#[test]
fn failed_target_is_blocked_for_tools() {
    let mut world = world(|request| match request.role {
        Role::Planner => {
            let RoleContext::Plan(context) = &request.context else { panic!() };
            let round = context.directive.as_ref().map_or(0, |directive| directive.round);
            value(json!({"task_criteria": ["a number is stated"], "subtasks": [
                {"intent": format!("count them, way {round}"), "context": "", "sequence": 0, "tools": ["glob"],
                 "success_criteria": ["a number of reports is named"]}]}))
        }
        _ => honest(request),
    });
    world.tools = Box::new(|order| match failed_call(order, "no such folder", true) {
        ToolOutcome::Called { call } => ToolOutcome::Called { call: ToolCall { target: "/gone".to_owned(), ..call } },
        other => other,
    });
    world.run(QUESTION);
    assert!(world.called[0].blocked_targets.is_empty());
    let last = world.called.last().unwrap();
    assert_eq!(last.blocked_targets[0], "glob:/gone", "in the form the tools understand");
}

#[doc = "holds: law 2.1"]
#[test]
fn cancel_command_is_delivered() {
    // The gap grows round by round: 1, 2, then 3 of the criteria are unmet.
    let mut world = world(|request| match request.role {
        Role::Planner => {
            let RoleContext::Plan(context) = &request.context else { return words() };
            let round = context.directive.as_ref().map_or(0, |directive| directive.round);
            let criteria: Vec<String> = (0..4).map(|n| format!("point {n} is covered")).collect();
            value(json!({"task_criteria": ["a number is stated"], "subtasks": [
                {"intent": format!("count them, way {round}"), "context": "", "sequence": 0, "tools": ["glob"],
                 "success_criteria": criteria}]}))
        }
        Role::AgentValidator => {
            let RoleContext::ValidateSubtask(context) = &request.context else { panic!() };
            let cite = &context.result.tool_calls[0].evidence_id.0;
            let unmet = context.subtask.round + 2;
            let verdict = |n: u32| {
                let met = n > unmet;
                json!({"number": n, "verdict": if met { "pass" } else { "fail" }, "cites": [cite], "evidence": "x",
                       "failure_class": "environmental"})
            };
            value(json!({"verdicts": (1..=4).map(verdict).collect::<Vec<_>>(), "what_to_do": null}))
        }
        _ => honest(request),
    });
    world.tools = Box::new(|order| ToolOutcome::Called {
        call: ToolCall { target: order.evidence_id.0.clone(), ..call_of(order, "12") },
    });
    let result = world.run(QUESTION);
    assert_eq!(reason(&result), &AbandonReason::Diverging, "{result:#?}");
    assert_eq!(result.delivered_round, 0, "g11: the best round is the first");
}

/// A denied deletion that a later plan words differently is blocked without asking the user again.
#[doc = "holds: law 1.14; design D10"]
#[test]
fn reworded_refused_deletion_is_blocked() {
    let mut world = world(|request| match request.role {
        Role::Planner => {
            let RoleContext::Plan(context) = &request.context else { panic!() };
            let round = context.directive.as_ref().map_or(0, |directive| directive.round);
            value(json!({"task_criteria": ["the folder is tidy"], "subtasks": [
                {"intent": format!("tidy up, way {round}"), "context": "", "sequence": 0, "tools": ["shell"],
                 "success_criteria": ["the old files are gone"]}]}))
        }
        Role::Executor => answer_from(request, "shell", json!({"command": "rm -rf /home/u/keep"})),
        _ => honest(request),
    });
    world.tools = Box::new(|order| {
        if order.blocked_targets.iter().any(|target| target == "shell:rm -rf /home/u/keep") {
            let call = ToolCall { target: "rm -rf /home/u/keep".to_owned(), ..call_of(order, "[LAW1] blocked") };
            return ToolOutcome::Called { call: ToolCall { status: CallStatus::Denied, measures: false, ..call } };
        }
        needs_consent()
    });
    world.operator = refusing(None);
    let result = world.run("tidy up the old files");
    assert_eq!(reason(&result), &AbandonReason::ConsentNeeded);
    assert_eq!(world.published(MessageKind::ConsentRequest).len(), 1, "a person is asked once");
    assert_eq!(result.denied.len(), 1);
}

#[test]
fn retry_corrects_the_answer_format() {
    // The answer was measured; only its form was wrong, and the same call may not be made again.
    let mut world = world(|request| match request.role {
        Role::Planner => plan_with(
            &["glob"],
            json!([{"check": {"kind": "file_count", "path": "/home/u"}}]),
            json!(["a number is stated"]),
        ),
        Role::Executor => {
            let RoleContext::Execute(context) = &request.context else { panic!() };
            if context.correction.is_some() { says("12") } else { honest(request) }
        }
        _ => honest(request),
    });
    world.tools = Box::new(|order| ok_call(order, "12 files"));
    world.checks = Box::new(|order| {
        let pass = order.output == "12";
        vec![artoo_proto::CheckOutcome { pass, evidence: "12".to_owned(), environmental: false }]
    });
    let result = world.run(QUESTION);
    assert_eq!(
        (result.ending.clone(), result.output.as_str()),
        (Ending::Accept { basis: Basis::Judged }, "12"),
        "{result:#?}"
    );
    assert_eq!((world.called.len(), result.replans), (1, 0));
}

/// A task id with `/` or `.` from a model does not reach the id of the task, which names files.
#[test]
fn models_task_id_names_no_file() {
    let mut world = world(|request| match request.role {
        Role::Perceiver => value(json!({"task_id": "../../x", "intent": QUESTION, "question": null,
                                        "constraints": {"scope": null, "deadline": null}})),
        _ => honest(request),
    });
    let result = world.run(QUESTION);
    assert!(!result.task_id.as_str().contains(['/', '.']));
}

/// A subtask's outcome is matched exactly if all of its criteria passed.
#[test]
fn matched_outcomes_carry_only_passes() {
    let mut world =
        world(|request| if request.role == Role::Perceiver { understood(request) } else { honest(request) });
    world.run(QUESTION);
    for message in world.published(MessageKind::SubTaskOutcome) {
        let Message::SubTaskOutcome(outcome) = message else { panic!() };
        let passed = outcome.criteria_verdicts.iter().all(|v| v.verdict == artoo_proto::Verdict::Pass);
        assert_eq!(outcome.status == OutcomeStatus::Matched, passed);
    }
    let judge = world.asked.iter().find(|request| request.role == Role::AgentValidator).unwrap();
    assert!(pass_all(judge).is_ok());
}
