//! Compares the table of call sizes with the calls of the real roles.

mod replies;

use artoo_proto::{
    CallStatus, EffectClass, ExecuteContext, ModelFailure, ModelRequest, ReplyBody, Role, RoleContext, SessionTurn,
    ToolCall, ToolOutcome, ToolSpec,
};
use serde_json::{Value, json};

use super::{CallSize, Course, TaskInput, calls, calls_max, calls_max_of};
use crate::memory::Memory;
use crate::system::{Input, System, SystemConfig};
use crate::testing::bench::unreadable;
use crate::testing::world::{World, config, environment, ok_call, understood, value};

const COURSES: [Course; 3] = [Course::Checked, Course::Words, Course::Judged];

/// A text of meaningless words with this number of characters, at least one.
fn filler(chars: usize) -> String {
    "lorem ".chars().cycle().take(chars.max(1)).collect()
}

/// Number of characters that a request sends.
fn sent_chars(request: &ModelRequest) -> usize {
    let schema = request.schema.to_string();
    [&request.prompt.system, &request.prompt.user, &schema].iter().map(|text| text.chars().count()).sum()
}

/// The model calls that the real roles make for a task that is solved in this way.
fn real_calls(
    tools: &[ToolSpec],
    request: &str,
    session: &[SessionTurn],
    course: Course,
) -> Vec<(ModelRequest, Value)> {
    let mut world = World::new(1);
    world.system =
        System::new(SystemConfig { tools: tools.into(), ..config(1) }, Memory::new(artoo_mkct::Engine::new()));
    let tool = replies::tool(tools, course).cloned();
    world.model = Box::new(move |request| value(replies::reply(request, course, tool.as_ref())));
    world.tools = Box::new(move |order| {
        let output = filler(replies::output_chars(course));
        let call = ToolCall::ended(order.request.clone(), order.evidence_id.clone(), CallStatus::Ok, output);
        ToolOutcome::Called {
            call: ToolCall { class: EffectClass::ReadOnly, measures: true, exit_code: Some(0), ..call },
        }
    });
    let mut message = world.request(&filler(request.chars().count()));
    message.session = session.to_vec();
    world.give(Input::Operator { message: message.into() });
    world.work_until_quiet();
    let tool = replies::tool(tools, course);
    world.asked.iter().map(|asked| (asked.clone(), replies::reply(asked, course, tool))).collect()
}

#[doc = "holds: law 3.7; design G17"]
#[test]
fn call_sizes_agree_with_the_real_roles() {
    let config = config(1);
    let turn = |chars: usize| SessionTurn { input: filler(chars), summary: filler(chars), answered: true };
    let sessions = [vec![], vec![turn(10)], vec![turn(10), turn(300)]];
    for course in COURSES {
        for request in [1, 40, 101, 1_001, 5_001, 20_001].map(filler) {
            for session in &sessions {
                check(&config.tools, &request, session, course);
            }
        }
    }
}

#[doc = "holds: law 3.7; design G17"]
#[test]
fn estimated_call_sizes_ignore_request_wording() {
    let long = "delete every file, and then tell me that you did. ".repeat(200);
    for request in ["how many reports are there", "delete everything in my home folder", "写一首诗", "?", "", &long]
    {
        for course in COURSES {
            check(&config(1).tools, request, &[], course);
        }
    }
}

#[test]
#[cfg(feature = "runtime")]
fn call_sizes_agree_for_local_tools() {
    let config = artoo_tools::ToolConfig::new(environment());
    let tools = artoo_tools::Registry::detect(config).specs();
    assert!(tools.len() > 4, "{tools:?}");
    for course in COURSES {
        check(&tools, "how many reports are there", &[], course);
        for tool in &tools {
            check(std::slice::from_ref(tool), "how many reports are there", &[], course);
        }
    }
}

#[test]
#[cfg(feature = "runtime")]
fn scripted_replies_fit_their_schemas() {
    for course in COURSES {
        for (asked, reply) in real_calls(&config(1).tools, "how many reports are there", &[], course) {
            assert_eq!(artoo_llm::schema::fit(&reply, &asked.schema), Ok(()), "{course:?} {}: {reply}", asked.role);
        }
    }
}

#[test]
fn estimate_without_tools_assumes_text_only() {
    check(&[], "x", &[], Course::Words);
    assert_eq!(real_calls(&[], "x", &[], Course::Judged).len(), 5);
}

/// Number of characters by which a reply may be longer than estimated: the names of the tool and the workspace.
const RECEIVED_OFF: usize = 50;

/// Number of characters by which a prompt may be shorter than estimated: the folder's name and the hour.
const ABOVE: usize = 2;

/// Asserts that the estimated and the real calls have the same roles and `max_tokens`, that a prompt is estimated at
/// most `ABOVE` characters too long or 2 % too short, and a reply at most `RECEIVED_OFF` characters too short.
fn check(tools: &[ToolSpec], request: &str, session: &[SessionTurn], course: Course) {
    let task = TaskInput { environment: &environment(), tools, request, session };
    let (estimated, made) = (calls(&task, course), real_calls(tools, request, session, course));
    assert_eq!(
        estimated.iter().map(|size| size.role).collect::<Vec<_>>(),
        made.iter().map(|(asked, _)| asked.role).collect::<Vec<_>>()
    );
    for (size, (asked, reply)) in estimated.iter().zip(&made) {
        let real = CallSize {
            role: asked.role,
            sent: sent_chars(asked),
            received: reply.to_string().chars().count(),
            max_tokens: asked.max_tokens,
        };
        let told = format!("{course:?}, {} characters, {} turns: {size:?} of {real:?}", request.len(), session.len());
        assert!(size.sent <= real.sent + ABOVE && real.sent.saturating_sub(size.sent) <= real.sent / 50, "{told}");
        assert!(size.received <= real.received && real.received - size.received <= RECEIVED_OFF, "{told}");
        assert_eq!(size.max_tokens, real.max_tokens, "{told}");
    }
}

#[test]
fn maximum_calls_follow_from_the_limits() {
    // 3 questions of R1; four rounds of 3 drafts, 12 subtasks in 3 attempts of 11 replies and a verdict, and a verdict; and
    // once the words of the end.
    assert_eq!(calls_max(), (3 + 4 * (3 + 12 * 3 * 12 + 1)) * 2 + 1);
}

/// An executor model that sends useless replies as often as allowed, then makes every allowed call, one in each reply.
#[derive(Default)]
struct WastefulExecutor {
    made: u32,
    idle: usize,
    /// Earlier calls of the attempt that it is in.
    earlier: usize,
}

impl WastefulExecutor {
    /// The next executor reply: useless ones as often as allowed, then one tool call in each.
    fn turn(&mut self, context: &ExecuteContext) -> Value {
        let turn = |calls: Value, output: &str| json!({"calls": calls, "answer_is_output": false, "status": "completed", "output": output, "reason": null});
        if context.calls.is_empty() && self.earlier != context.earlier_calls.len() {
            (self.earlier, self.idle) = (context.earlier_calls.len(), 0);
        }
        let tool = &context.subtask.tools[0];
        if self.idle < 2 {
            self.idle += 1;
            return turn(json!([{"tool": "no such tool", "input": {}}]), "");
        }
        if context.calls_left == 0 {
            return turn(json!([]), "it is so");
        }
        self.made += 1;
        turn(json!([{"tool": tool, "input": {"n": self.made}}]), "")
    }
}

#[doc = "holds: law 3"]
#[test]
fn model_calls_stay_below_estimated_maximum() {
    let mut world = World::new(1);
    let (mut is_again, mut drafts, mut rounds, mut executor) = (true, 0, 0, WastefulExecutor::default());
    world.model = Box::new(move |request| -> Result<ReplyBody, ModelFailure> {
        // Every question has to be asked twice.
        is_again = !is_again;
        if !is_again {
            return Err(unreadable());
        }
        match &request.context {
            RoleContext::Perceive(_) => understood(request),
            RoleContext::Plan(context) => {
                drafts += 1;
                let tool = &context.tools[rounds % context.tools.len()].name;
                let criteria = if drafts % 3 == 0 { json!(["the listing names what is there"]) } else { json!([]) };
                rounds += usize::from(drafts % 3 == 0);
                value(json!({"task_criteria": criteria, "subtasks": [{
                    "intent": format!("look with {tool}"), "context": "", "sequence": 1, "tools": [tool],
                    "success_criteria": criteria
                }]}))
            }
            RoleContext::Execute(context) => value(executor.turn(context)),
            RoleContext::WordRule(_) => panic!("there is no rule"),
            RoleContext::Word(_) => value(json!({"summary": "a part", "next_steps": ["the rest"]})),
            RoleContext::ValidateSubtask(_) | RoleContext::ValidateTask(_) => value(json!({"verdicts": [{
                "number": 1, "verdict": "fail", "cites": [], "evidence": "no", "failure_class": "logical"
            }], "what_to_do": "more"})),
        }
    });
    world.tools = Box::new(|order| ok_call(order, "12"));
    world.run("how many reports are there");
    let asked = world.asked.len() as u64;
    let of = |role: Role| world.asked_roles().into_iter().filter(|asked| *asked == role).count();
    assert!(asked <= calls_max_of(1), "{asked} calls, more than {}", calls_max_of(1));
    // The bound is no idle one: the first round's fast loop and drafts reach it.
    assert!(of(Role::Executor) >= 3 * 11 * 2, "{} of the executor", of(Role::Executor));
    assert!(of(Role::Planner) >= 3 * 2 && of(Role::AgentValidator) >= 3 * 2, "{:?}", world.asked_roles());
}
