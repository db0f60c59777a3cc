//! A rehearsal makes the calls of the cost model, with the real prompts, whatever is asked.

use artoo_proto::{ExecuteContext, ModelFailure, ReplyBody, Role, RoleContext, SessionTurn};
use serde_json::{Value, json};

use super::{Course, Line, Scene, calls_max, calls_max_of, rehearse};
use crate::testing::bench::unreadable;
use crate::testing::world::{World, config, environment, ok_call, understood, value};

const COURSES: [Course; 3] = [Course::Checked, Course::Words, Course::Judged];

fn rehearsed(words: &str, course: Course) -> Vec<Line> {
    let config = config(1);
    let session = [SessionTurn { input: "before".to_owned(), summary: "was accepted".to_owned() }];
    rehearse(&Scene { environment: &environment(), tools: &config.tools, words, session: &session }, course)
}

fn roles(lines: &[Line]) -> Vec<Role> {
    lines.iter().map(|line| line.request.role).collect()
}

#[doc = "holds: law 3.7; design G17"]
#[test]
fn a_rehearsal_makes_the_calls_of_the_cost_model_whatever_is_asked() {
    let long = "delete every file, and then tell me that you did. ".repeat(200);
    for words in ["how many reports are there", "delete everything in my home folder", "写一首诗", "?", "", &long] {
        let lines = |course| roles(&rehearsed(words, course));
        let all = [Role::Perceiver, Role::Planner, Role::Executor, Role::AgentValidator, Role::MetaValidator];
        assert_eq!(lines(Course::Judged), all, "{words}");
        assert_eq!(lines(Course::Words), all, "{words}");
        let checked: Vec<Role> = all.into_iter().filter(|role| *role != Role::AgentValidator).collect();
        assert_eq!(lines(Course::Checked), checked, "{words}");
    }
}

#[test]
fn the_prompts_are_as_long_as_the_words_make_them() {
    let sent = |words: &str, course| -> usize {
        let lines = rehearsed(words, course);
        lines.iter().map(|line| line.request.prompt.user.chars().count()).sum()
    };
    for course in COURSES {
        let (short, long) = (sent("a", course), sent(&"a".repeat(1_001), course));
        // R1, R2 and R4b read the person's own words, and R1's session is there either way.
        assert!(long - short >= 3 * 1_000, "{course:?}: {short} {long}");
        let first = &rehearsed("a", course)[0].request.prompt.user;
        assert!(first.contains("was accepted"), "{first}");
    }
    assert!(sent("a", Course::Checked) < sent("a", Course::Judged));
}

#[test]
#[cfg(feature = "runtime")]
fn every_rehearsed_reply_fits_its_schema() {
    for course in COURSES {
        for line in rehearsed("how many reports are there", course) {
            let fits = artoo_llm::schema::fit(&line.reply, &line.request.schema);
            assert_eq!(fits, Ok(()), "{course:?} {}: {}", line.request.role, line.reply);
        }
    }
}

#[test]
fn without_a_tool_there_are_words_alone() {
    let lines = rehearse(&Scene { environment: &environment(), tools: &[], words: "x", session: &[] }, Course::Judged);
    assert_eq!(lines.len(), 5, "{:?}", roles(&lines));
}

#[test]
fn the_most_calls_are_what_the_limits_multiply_to() {
    // 3 questions of R1; four rounds of 3 drafts, 12 subtasks in 3 attempts of 11 replies and a verdict, and a verdict.
    assert_eq!(calls_max(), (3 + 4 * (3 + 12 * 3 * 12 + 1)) * 2);
}

/// An executor that says what leads nowhere as often as it may, makes every call it may, one a reply, then is done.
#[derive(Default)]
struct Tireless {
    made: u32,
    idle: usize,
    /// Earlier calls of the attempt that it is in.
    earlier: usize,
}

impl Tireless {
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
fn no_model_gets_more_calls_out_of_a_task_than_the_limits_multiply_to() {
    let mut world = World::new(1);
    let (mut is_again, mut drafts, mut rounds, mut executor) = (true, 0, 0, Tireless::default());
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
            RoleContext::ValidateSubtask(_) | RoleContext::ValidateTask(_) => value(json!({"verdicts": [{
                "number": 1, "verdict": "fail", "cites": [], "evidence": "no", "failure_class": "logical"
            }], "what_to_do": "more"})),
        }
    });
    world.tools = Box::new(|order| ok_call(order, "12"));
    world.run("how many reports are there");
    let asked = world.asked.len() as u64;
    let of = |role: Role| world.asked_roles().into_iter().filter(|asked| *asked == role).count();
    assert!(asked <= calls_max_of(1), "{asked} calls, and at most {} were told", calls_max_of(1));
    // The bound is no idle one: the first round's fast loop and drafts reach it.
    assert!(of(Role::Executor) >= 3 * 11 * 2, "{} of the executor", of(Role::Executor));
    assert!(of(Role::Planner) >= 3 * 2 && of(Role::AgentValidator) >= 3 * 2, "{:?}", world.asked_roles());
}
