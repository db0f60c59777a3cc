//! An honest simulated model: replies that follow from the typed context alone.

use std::collections::BTreeSet;

use artoo_proto::{
    CallStatus, ExecuteContext, ModelFailure, ModelRequest, PerceiveContext, PlanContext, ReplanDirective, ReplyBody,
    Role, RoleContext, SubTask, ToolCall, ToolClass, ValidateSubtaskContext, ValidateTaskContext,
};
use serde_json::{Value, json};

use super::fault_rates::{FaultProfile, FaultRates};
use super::rng::Rng;
use super::scripted_request::ScriptedRequest;
use super::{lying_model, recipes};

/// Number of criteria of the only subtask under the profiles `Partial` and `Sinking`.
const MANY_CRITERIA: usize = 6;

/// The reply of an honest model, of a lying one if the request has a lie, or of the simulated parser under `Recipes`.
pub(super) fn reply(
    rng: &mut Rng,
    fault_rates: &FaultRates,
    scripted_request: Option<&ScriptedRequest>,
    request: &ModelRequest,
) -> Result<ReplyBody, ModelFailure> {
    if let Some(lie) = scripted_request.and_then(|scripted_request| scripted_request.lie) {
        return lying_model::reply(rng, lie, request);
    }
    if fault_rates.profile == FaultProfile::Recipes && request.role != Role::Perceiver {
        return Ok(recipes::reply(rng, request));
    }
    let value = match &request.context {
        RoleContext::Perceive(context) => perceive(rng, fault_rates, context),
        RoleContext::Plan(context) => plan(rng, fault_rates, context),
        RoleContext::Execute(context) => execute(rng, fault_rates, context),
        RoleContext::ValidateSubtask(context) => judge_subtask(rng, fault_rates, context),
        RoleContext::ValidateTask(context) => judge_task(rng, fault_rates, context),
        RoleContext::WordRule(rule) => json!({"rule": rule}),
        RoleContext::Word(_) => json!({"summary": "a part is done", "next_steps": ["ask for the rest"]}),
    };
    Ok(ReplyBody::Json { value })
}

/// The perceiver's reply: the request restated, at times with a question or a deadline.
fn perceive(rng: &mut Rng, fault_rates: &FaultRates, context: &PerceiveContext) -> Value {
    let question = (context.may_ask && rng.chance(250)).then_some("which one do you mean?");
    let soon = context.now.wall.plus_millis(400_000).to_string();
    let deadlines =
        [None, Some(soon.as_str()), Some("9999-01-01T00:00:00Z"), Some("2001-01-01T00:00:00Z"), Some("soon")];
    let deadline = match fault_rates.profile {
        FaultProfile::Slow | FaultProfile::Shuffled | FaultProfile::Panicky | FaultProfile::Storm => {
            *rng.pick(&deadlines)
        }
        _ => None,
    };
    json!({"task_id": "a_task", "intent": context.raw_input, "question": question,
           "constraints": {"scope": null, "deadline": deadline}})
}

/// The planner's reply: one to several steps with tools that are not blocked.
fn plan(rng: &mut Rng, fault_rates: &FaultRates, context: &PlanContext) -> Value {
    let directive = context.directive.as_ref();
    let blocked = directive.map(|directive| directive.blocked_tools.clone()).unwrap_or_default();
    let free: Vec<_> = context.tools.iter().filter(|tool| !blocked.contains(&tool.name)).collect();
    let breaking = directive.is_some_and(|directive| directive.directive == ReplanDirective::BreakSymmetry);
    let worn: BTreeSet<ToolClass> =
        context.tools.iter().filter(|tool| blocked.contains(&tool.name)).map(|tool| tool.class).collect();
    let fresh: Vec<_> = free.iter().copied().filter(|tool| !breaking || !worn.contains(&tool.class)).collect();
    let offered: Vec<&str> =
        if fresh.is_empty() { &free } else { &fresh }.iter().map(|tool| tool.name.as_str()).collect();
    let words = !artoo_roles::grounding::mentions_machine(&context.spec.raw_input);
    // A model that knows what it is asked for writes the file that is named.
    let named = named_file(&context.spec.raw_input).filter(|_| free.iter().any(|tool| tool.name == "write_file"));
    let many = matches!(fault_rates.profile, FaultProfile::Partial | FaultProfile::Sinking);
    let count = if many { 1 } else { rng.between(1, 3) };
    let subtasks: Vec<Value> = (0..count)
        .map(|index| {
            let mut tools: Vec<&str> = (0..rng.between(1, 2)).map(|_| *rng.pick(&offered)).collect();
            if words && rng.chance(800) {
                tools.clear();
            }
            tools.dedup();
            let way = rng.below(100_000);
            let mut intent = format!("look at part {index} in way {way}");
            if let Some(name) = named.filter(|_| index == 0) {
                tools = vec!["write_file"];
                intent = format!("write {name} in way {way}");
            }
            json!({"intent": intent, "context": "",
                   "sequence": i64::try_from(rng.below(3)).unwrap() - 1,
                   "success_criteria": criteria(rng, many, &tools), "tools": tools})
        })
        .collect();
    let mut task = vec![json!("the combined output says what was asked for")];
    if rng.chance(200) {
        task.push(json!({"check": {"kind": "output_not_empty"}}));
    }
    json!({"task_criteria": task, "subtasks": subtasks})
}

/// Success criteria for a step with these tools.
fn criteria(rng: &mut Rng, many: bool, tools: &[&str]) -> Vec<Value> {
    if many {
        return (0..MANY_CRITERIA).map(|number| json!(format!("point {number} of the list is covered"))).collect();
    }
    let mut criteria = vec![match rng.below(4) {
        0 if !tools.is_empty() => json!({"check": {"kind": "file_count", "path": "/home/u"}}),
        1 if !tools.is_empty() => json!({"check": {"kind": "line_count", "path": "/home/u/f1.txt"}, "required": true}),
        _ => json!({"criterion": "the output names what is there", "mode": "plausible", "required": rng.chance(300)}),
    }];
    if tools.contains(&"write_file") && rng.chance(700) {
        criteria.push(json!({"check": {"kind": "file_contains", "path": "notes.txt", "text": "hello"}}));
    }
    if rng.chance(200) {
        criteria.push(json!({"check": {"kind": "output_not_empty"}}));
    }
    if rng.chance(300) {
        criteria.push(json!({"criterion": "the numbers add up", "mode": "verifiable"}));
    }
    criteria
}

/// The executor's reply: tool calls, or the final answer.
fn execute(rng: &mut Rng, fault_rates: &FaultRates, context: &ExecuteContext) -> Value {
    let done = |output: &str| json!({"calls": [], "answer_is_output": false, "status": "completed", "output": output});
    let last = context.calls.last();
    if context.tools.is_empty() {
        return done("rain\non the roof\nagain");
    }
    if last.is_some_and(|call| call.status != CallStatus::Ok) && rng.chance(400) || context.calls_left == 0 {
        return json!({"calls": [], "answer_is_output": false, "status": "failed", "output": "",
                      "reason": "it does not work"});
    }
    if last.is_some_and(|call| call.status == CallStatus::Ok) && rng.chance(700) {
        let status = if rng.chance(50) { "uncertain" } else { "completed" };
        let mut reply = done("there are 12 of them");
        reply["status"] = json!(status);
        return reply;
    }
    let calls: Vec<Value> = (0..rng.between(1, 2))
        .map(|_| {
            let tool = &rng.pick(&context.tools).name;
            json!({"tool": tool, "input": input(rng, fault_rates, tool, context)})
        })
        .collect();
    json!({"calls": calls, "answer_is_output": rng.chance(600), "status": "uncertain", "output": ""})
}

/// The first word of a request that ends with `.txt` or `.md`, without its folder; `None` if it has none.
fn named_file(text: &str) -> Option<&str> {
    let word = text.split_whitespace().find(|word| word.ends_with(".txt") || word.ends_with(".md"))?;
    word.rsplit('/').next()
}

/// The input of a call; few different ones, so that sibling steps and later rounds repeat refused calls.
fn input(rng: &mut Rng, fault_rates: &FaultRates, tool: &str, context: &ExecuteContext) -> Value {
    let tries = context.earlier_calls.len() + context.calls.len();
    match tool {
        "shell" if rng.chance(fault_rates.danger) => json!({"command": format!("rm -rf /home/u/keep{}", rng.below(2))}),
        "shell" => json!({"command": format!("ls -{tries} /home/u/d{}", rng.below(3))}),
        "write_file" => {
            let name = named_file(&context.subtask.intent).unwrap_or("notes.txt");
            json!({"path": format!("/home/u/artoo_workspace/{name}"), "text": format!("hello {}", rng.below(3))})
        }
        "read_file" => json!({"path": format!("/home/u/f{}.txt", rng.below(4)), "from_line": tries}),
        "glob" => json!({"root": format!("/home/u/d{}", rng.below(3)), "pattern": "*", "depth": tries}),
        _ => json!({"query": format!("reports {} {tries}", rng.below(3))}),
    }
}

/// The Agent-Validator's reply: verdicts on the open criteria of a subtask.
fn judge_subtask(rng: &mut Rng, fault_rates: &FaultRates, context: &ValidateSubtaskContext) -> Value {
    let unmet = |rng: &mut Rng, number: usize| fails(rng, fault_rates, Some(&context.subtask), number);
    verdicts(rng, context.open.len(), &context.result.tool_calls, unmet)
}

/// The Meta-Validator's reply: verdicts on the open criteria of the task.
fn judge_task(rng: &mut Rng, fault_rates: &FaultRates, context: &ValidateTaskContext) -> Value {
    let calls: Vec<ToolCall> = context.outcomes.iter().flat_map(|outcome| outcome.tool_calls.clone()).collect();
    verdicts(rng, context.open.len(), &calls, |rng, number| fails(rng, fault_rates, None, number))
}

/// Verdicts on `count` criteria that cite the calls which can prove something.
fn verdicts(rng: &mut Rng, count: usize, calls: &[ToolCall], unmet: impl Fn(&mut Rng, usize) -> bool) -> Value {
    let counts = |call: &&ToolCall| call.status == CallStatus::Ok && (call.measures || !call.changed.is_empty());
    let cites: Vec<&str> = calls.iter().filter(counts).map(|call| call.evidence_id.0.as_str()).take(2).collect();
    let verdicts: Vec<Value> = (1..=count)
        .map(|number| {
            let failed = unmet(rng, number);
            let class = if rng.chance(700) { "logical" } else { "environmental" };
            json!({"number": number, "verdict": if failed { "fail" } else { "pass" },
                   "cites": if failed { &[][..] } else { &cites }, "evidence": "seen",
                   "failure_class": failed.then_some(class)})
        })
        .collect();
    json!({"verdicts": verdicts, "what_to_do": null})
}

/// Whether a criterion is judged as not met under this fault profile.
fn fails(rng: &mut Rng, fault_rates: &FaultRates, subtask: Option<&SubTask>, number: usize) -> bool {
    match (fault_rates.profile, subtask) {
        (FaultProfile::Partial, Some(_)) => number == 1,
        (FaultProfile::Sinking, Some(subtask)) => number <= 2 + 2 * usize::try_from(subtask.round).unwrap(),
        (FaultProfile::Partial | FaultProfile::Sinking, None) => false,
        _ => rng.chance(fault_rates.unmet),
    }
}
