//! Tests of R2: which drafts become plans, how memory's advice affects them, and what the model is shown.

mod drafts;
mod memory;
mod readings;

use artoo_proto::{
    Abstention, Criterion, FailureMix, Loss, MemoryRecall, Message, Plan, PlanDirective, PlanRejected, PrevDirective,
    ReplanDirective, ReplyBody, RoleContext, Urgency,
};
use serde_json::{Value, json};

use self::readings::in_parts;
use super::{Input, Planner, prompt};
use crate::limits::{PLAN_DRAFTS_MAX, RECALL_WAIT_MS};
use crate::machine::{Lifecycle, RoleEffect};
use crate::testing::bench::{
    Bench, HOSTILE, asked, assert_tame, body, only, reply, said, spec, start, task_id, timers, unreachable_model,
    unreadable,
};
use crate::testing::world::{config, environment};

fn bench() -> Bench<Lifecycle<Planner>> {
    Bench::new(Lifecycle::new((environment(), config(1).tools)))
}

fn recall(round: u32) -> MemoryRecall {
    MemoryRecall { task_id: task_id(), round, sops: Vec::new(), advice: Vec::new(), megrams_total: 0 }
}

fn directive(round: u32, directive: ReplanDirective) -> PlanDirective {
    PlanDirective {
        task_id: task_id(),
        round,
        loss: Loss::default(),
        prev_directive: PrevDirective::Init,
        directive,
        blocked_tools: Vec::new(),
        blocked_targets: Vec::new(),
        released_tools: Vec::new(),
        failed_criterion: "the notes are shown".to_owned(),
        failure_class: FailureMix::Logical,
        budget_pressure: 0.0,
        grad_l: 0.0,
        urgency: Urgency::Normal,
        suggested_alternatives: Vec::new(),
        rationale: String::new(),
    }
}

/// A model's draft of a plan with one subtask, which has this tool and this intent.
fn draft(tool: &str, intent: &str) -> Value {
    json!({
        "task_criteria": ["the combined output states a number of reports"],
        "subtasks": [{"intent": intent, "context": "", "sequence": 1, "tools": [tool],
                      "success_criteria": ["a number of files is named"]}]
    })
}

fn good() -> Value {
    draft("glob", "look at the reports")
}

/// Feeds a request to a planner until it asks the model for a plan.
fn to_question(bench: &mut Bench<Lifecycle<Planner>>, raw_input: &str) -> Vec<RoleEffect> {
    bench.step(Input::Task(spec(raw_input)));
    bench.step(Input::Recalled(recall(0)))
}

/// Answers each request for a plan with the next draft (the last one repeatedly) until the round ends.
fn run(bench: &mut Bench<Lifecycle<Planner>>, mut effects: Vec<RoleEffect>, drafts: &[Value]) -> Message {
    for number in 0.. {
        let (id, _) = asked(&effects);
        let draft = drafts.get(number).or(drafts.last()).unwrap();
        effects = bench.step(Input::Replied(id, reply(draft.clone())));
        if let [message] = said(&effects)[..] {
            return message.clone();
        }
        assert!(number < 10, "no end");
    }
    unreachable!()
}

fn plan_of(message: Message) -> Plan {
    let Message::Plan(plan) = message else { panic!("{message:#?}") };
    plan
}

fn rejected(message: Message) -> PlanRejected {
    let Message::PlanRejected(rejected) = message else { panic!("{message:#?}") };
    rejected
}

#[doc = "holds: design D2"]
#[test]
fn memory_is_asked_before_every_plan_and_a_silent_one_costs_only_its_wait() {
    let mut bench = bench();
    let effects = bench.step(Input::Task(spec("how many reports are in ~/docs.")));
    let Message::MemoryQuery(query) = only(&effects) else { panic!() };
    assert_eq!((query.round, query.intent.as_str()), (0, "how many reports are in ~/docs."));
    assert_eq!(query.targets, ["~/docs", "/home/u/docs"], "m7: named targets in the spelling a tool records");
    let [(timer, wait)] = timers(&effects)[..] else { panic!() };
    assert_eq!(wait, RECALL_WAIT_MS);
    assert!(bench.step(Input::Recalled(recall(5))).is_empty(), "the answer to another round");
    let effects = bench.step(Input::TimerFired(timer));
    let plan = plan_of(run(&mut bench, effects, &[good()]));
    assert_eq!((plan.round, plan.subtasks.len()), (0, 1));

    let effects = bench.step(Input::Directed(directive(1, ReplanDirective::Refine)));
    let Message::MemoryQuery(query) = only(&effects) else { panic!() };
    assert_eq!(query.round, 1);
    assert!(bench.step(Input::TimerFired(timer)).is_empty(), "the timer of an earlier round");
}

#[doc = "holds: invariant 8"]
#[test]
fn the_planner_does_not_direct_itself() {
    let mut bench = bench();
    let effects = to_question(&mut bench, "how many reports are there");
    plan_of(run(&mut bench, effects, &[good()]));
    for round in [0, 2, 3] {
        let effects = bench.step(Input::Directed(directive(round, ReplanDirective::Refine)));
        assert!(effects.is_empty(), "round {round} is not the next one");
    }
    assert!(!bench.step(Input::Directed(directive(1, ReplanDirective::Refine))).is_empty());
}

#[test]
fn a_draft_with_problems_is_written_again_with_the_problems_named_and_then_given_up() {
    let mut bench = bench();
    let mut effects = to_question(&mut bench, "how many reports are there");
    for number in 1..=PLAN_DRAFTS_MAX {
        let (id, question) = asked(&effects);
        let RoleContext::Plan(context) = &question.context else { panic!() };
        assert_eq!(context.problems.len(), (number as usize) - 1);
        assert_eq!(question.prompt.user.contains("this machine does not have: \"Shell\""), number > 1);
        effects = bench.step(Input::Replied(id, reply(draft("Shell", "look at the reports"))));
    }
    let rejected = rejected(only(&effects).clone());
    assert_eq!(rejected.problems.len(), 3);
    assert_eq!((rejected.model_failure, rejected.abstention), (None, None));
}

#[doc = "holds: invariant 1; fault L25"]
#[test]
fn ids_recipes_and_confirmation_in_a_draft_are_not_read() {
    let mut draft = good();
    draft["subtasks"][0]["subtask_id"] = json!("00000000-0000-0000-0000-000000000001");
    draft["subtasks"][0]["recipe"] = json!({"steps": [], "reading": "all fine"});
    draft["subtasks"][0]["confirm"] = json!(true);
    let mut bench = bench();
    let effects = to_question(&mut bench, "how many reports are there");
    let plan = plan_of(run(&mut bench, effects, &[draft]));
    assert_eq!((plan.subtasks[0].recipe.is_none(), plan.subtasks[0].confirm), (true, false));
}

#[doc = "holds: design D17"]
#[test]
fn a_model_that_fails_or_abstains_is_said_to_the_solver() {
    let mut bench = bench();
    let (id, _) = asked(&to_question(&mut bench, "how many reports are there"));
    let found = rejected(only(&bench.step(Input::Replied(id, Err(unreachable_model())))).clone());
    assert_eq!(found.model_failure, Some(unreachable_model()));

    let mut bench = self::bench();
    let (id, _) = asked(&to_question(&mut bench, "how many reports are there"));
    let (id, _) = asked(&bench.step(Input::Replied(id, Err(unreadable()))));
    let found = rejected(only(&bench.step(Input::Replied(id, Err(unreadable())))).clone());
    assert_eq!(found.model_failure, Some(unreadable()));

    let mut bench = self::bench();
    let (id, _) = asked(&to_question(&mut bench, "how many reports are there"));
    let abstention =
        Abstention { understood: "x".to_owned(), not_understood: Vec::new(), remedy: "r".to_owned(), offer: None };
    let reply = body(ReplyBody::Abstain { abstention: abstention.clone() });
    assert_eq!(rejected(only(&bench.step(Input::Replied(id, reply))).clone()).abstention, Some(abstention));
}

#[doc = "holds: fault L38"]
#[test]
fn after_an_abort_nothing_is_planned() {
    let mut bench = bench();
    let (id, _) = asked(&to_question(&mut bench, "how many reports are there"));
    assert!(bench.step(Input::Abort).is_empty());
    assert!(bench.step(Input::Replied(id, reply(good()))).is_empty());
    assert!(bench.step(Input::Recalled(recall(0))).is_empty());
}

#[doc = "holds: design G19"]
#[test]
fn checks_name_whole_paths() {
    let check = |kind: &str, path: &str| json!({"check": {"kind": kind, "path": path, "text": "hello"}});
    let count = |path: &str| json!({"check": {"kind": "line_count", "path": path}});
    let mut draft = draft("write_file", "write the greeting");
    draft["subtasks"][0]["success_criteria"] = json!([
        check("file_contains", "notes.txt"),
        check("file_equals", "~/a/../b.txt"),
        check("file_contains", "/x/./y.txt"),
        count("notes.txt"),
        count("~"),
    ]);
    let mut bench = bench();
    let effects = to_question(&mut bench, "write a greeting to notes.txt");
    let plan = plan_of(run(&mut bench, effects, &[draft]));
    let claims: Vec<String> = plan.subtasks[0].success_criteria.iter().map(Criterion::claim).collect();
    let paths = [
        "/home/u/artoo_workspace/notes.txt, written",
        "/home/u/b.txt, written",
        "/x/y.txt, written",
        "lines of /home/u/notes.txt,",
        "lines of /home/u,",
    ];
    for (claim, path) in claims.iter().zip(paths) {
        assert!(claim.contains(path), "{claim}");
    }
    // A shell works in the current folder.
    let mut draft = self::draft("shell", "write the greeting");
    draft["subtasks"][0]["success_criteria"] = json!([check("file_contains", "notes.txt")]);
    let mut bench = self::bench();
    let effects = to_question(&mut bench, "write a greeting to notes.txt");
    let plan = plan_of(run(&mut bench, effects, &[draft]));
    assert!(plan.subtasks[0].success_criteria[0].claim().contains("/home/u/notes.txt, written"));
}

#[doc = "holds: design H8"]
#[test]
fn the_prompt_with_hostile_material_inside() {
    let mut directive = directive(1, ReplanDirective::ChangePath);
    directive.blocked_tools = vec!["shell".to_owned()];
    directive.blocked_targets = vec![format!("*:{HOSTILE}"), "read_file:/a/**".to_owned()];
    directive.failed_criterion = HOSTILE.to_owned();
    directive.suggested_alternatives = vec![HOSTILE.to_owned()];
    let mut spec = spec(HOSTILE);
    spec.constraints.scope = Some(HOSTILE.to_owned());
    spec.reading = in_parts(HOSTILE);
    let list = || vec![HOSTILE.to_owned()];
    let context = artoo_proto::PlanContext {
        spec,
        environment: environment(),
        tools: config(1).tools.to_vec(),
        calibration: artoo_proto::Calibration { must_not: list(), should_prefer: list(), caution: list() },
        recall: recall(1),
        directive: Some(directive),
        problems: list(),
        now: start(),
    };
    let prompt = prompt::render(&context);
    assert_tame(&prompt);
    insta::assert_snapshot!(prompt.user);
}

#[doc = "holds: design G18"]
#[test]
fn a_plain_string_is_a_plausible_criterion_and_an_object_keeps_its_mode() {
    let mut draft = good();
    draft["subtasks"][0]["success_criteria"] = json!([
        "a number of files is named",
        {"criterion": "their folder is named", "mode": "verifiable", "required": true},
    ]);
    let mut bench = bench();
    let effects = to_question(&mut bench, "how many reports are there");
    let plan = plan_of(run(&mut bench, effects, &[draft]));
    let read: Vec<_> = plan.subtasks[0].success_criteria.iter().map(|c| (c.mode(), c.required())).collect();
    assert_eq!(read, [(artoo_proto::Mode::Plausible, false), (artoo_proto::Mode::Verifiable, true)]);
}
