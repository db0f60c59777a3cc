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

/// R2 on a bench.
fn bench() -> Bench<Lifecycle<Planner>> {
    Bench::new(Lifecycle::new((environment(), config(1).tools)))
}

/// An empty recall for a round.
fn recall(round: u32) -> MemoryRecall {
    crate::memory::nothing(&task_id(), round)
}

/// A replan directive.
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
        tried: Vec::new(),
        same_again: false,
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

/// A valid draft of a plan.
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

/// The published plan; panics for another message.
fn plan_of(message: Message) -> Plan {
    let Message::Plan(plan) = message else { panic!("{message:#?}") };
    plan
}

/// The published rejection; panics for another message.
fn rejected(message: Message) -> PlanRejected {
    let Message::PlanRejected(rejected) = message else { panic!("{message:#?}") };
    rejected
}

#[doc = "holds: design D2"]
#[test]
fn plan_continues_after_recall_timeout() {
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
fn planner_accepts_only_next_rounds_directive() {
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
fn invalid_draft_is_revised_then_abandoned() {
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

/// Ids, recipes and confirmations that a model writes into its draft do not reach the plan.
#[doc = "holds: invariant 1; fault L25"]
#[test]
fn draft_ids_recipes_and_confirmation_are_ignored() {
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
fn planners_model_failure_reaches_the_solver() {
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
fn no_plan_after_an_abort() {
    let mut bench = bench();
    let (id, _) = asked(&to_question(&mut bench, "how many reports are there"));
    assert!(bench.step(Input::Abort).is_empty());
    assert!(bench.step(Input::Replied(id, reply(good()))).is_empty());
    assert!(bench.step(Input::Recalled(recall(0))).is_empty());
}

/// Relative and `~` paths in the checks of a draft become absolute paths in the plan.
#[doc = "holds: design G19"]
#[test]
fn checks_use_complete_paths() {
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
fn prompt_snapshot_with_hostile_text() {
    let mut directive = directive(1, ReplanDirective::ChangePath);
    directive.blocked_tools = vec!["shell".to_owned()];
    directive.blocked_targets = vec![format!("*:{HOSTILE}"), "read_file:/a/**".to_owned()];
    directive.failed_criterion = HOSTILE.to_owned();
    directive.suggested_alternatives = vec![HOSTILE.to_owned()];
    directive.tried = vec![artoo_proto::TriedSubtask {
        intent: HOSTILE.to_owned(),
        calls: vec![HOSTILE.to_owned()],
        failure: Some(HOSTILE.to_owned()),
        directive: Some(ReplanDirective::Refine),
        subtask_id: crate::testing::bench::subtask_id(1),
        blocked_tools: vec![HOSTILE.to_owned()],
    }];
    let mut spec = spec(HOSTILE);
    spec.constraints.scope = Some(HOSTILE.to_owned());
    spec.reading = in_parts(HOSTILE);
    let list = || vec![HOSTILE.to_owned()];
    let context = artoo_proto::PlanContext {
        spec,
        environment: environment(),
        tools: config(1).tools.to_vec(),
        calibration: artoo_proto::Calibration {
            must_not: list(),
            should_prefer: list(),
            caution: list(),
            lessons: list(),
            notes: list(),
        },
        recall: recall(1),
        directive: Some(directive),
        problems: list(),
        now: start(),
    };
    let prompt = prompt::render(&context);
    assert_tame(&prompt);
    insta::assert_snapshot!(prompt.user);
}

#[test]
fn ending_text_is_requested_once_and_bounded() {
    let request = artoo_proto::WordingRequest {
        task_id: task_id(),
        reason: HOSTILE.to_owned(),
        met: vec![HOSTILE.to_owned()],
        unmet: vec![HOSTILE.to_owned()],
        tried: Vec::new(),
    };
    let words = |reply: Value| {
        let mut bench = bench();
        let effects = to_question(&mut bench, "how many reports are there");
        plan_of(run(&mut bench, effects, &[good()]));
        let effects = bench.step(Input::Word(request.clone()));
        let (id, question) = asked(&effects);
        assert_tame(&question.prompt);
        let effects = bench.step(Input::Replied(id, crate::testing::bench::reply(reply)));
        let artoo_proto::Message::Wording(wording) = crate::testing::bench::only(&effects) else {
            panic!("{effects:#?}")
        };
        wording.words.clone()
    };
    let long = "x\n".repeat(5_000);
    let said = words(json!({"summary": long, "next_steps": [long, "", "b", "c", "d"]})).unwrap();
    assert!(said.summary.chars().count() < 1_000 && !said.summary.contains('\n'));
    assert_eq!(said.next_steps.len(), crate::limits::WORDED_STEPS_MAX);
    for useless in
        [json!({"summary": " ", "next_steps": ["a"]}), json!({"summary": "a", "next_steps": []}), json!({}), json!([])]
    {
        assert_eq!(words(useless.clone()), None, "{useless}");
    }
}

#[test]
fn replan_prompt_lists_earlier_attempts() {
    let tried = |intent: &str, failure: Option<&str>| artoo_proto::TriedSubtask {
        intent: intent.to_owned(),
        calls: vec![format!("glob {}", "x".repeat(5_000))],
        failure: failure.map(str::to_owned),
        directive: None,
        subtask_id: crate::testing::bench::subtask_id(1),
        blocked_tools: Vec::new(),
    };
    let told = |directive: PlanDirective| {
        let mut bench = bench();
        let effects = to_question(&mut bench, "how many reports are there");
        plan_of(run(&mut bench, effects, &[good()]));
        bench.step(Input::Directed(directive));
        let effects = bench.step(Input::Recalled(recall(1)));
        asked(&effects).1.prompt.user.clone()
    };
    let mut broken = directive(1, ReplanDirective::BreakSymmetry);
    broken.blocked_tools = vec!["glob".to_owned()];
    broken.tried = vec![tried("list them", None), tried("count them", Some("the output is no number"))];
    let user = told(broken.clone());
    assert!(
        user.contains("- list them: met") && user.contains("- count them: NOT MET: the output is no number"),
        "{user}"
    );
    assert!(user.contains("Tools of another class: ") && !user.contains("Tools of another class: glob"), "{user}");
    assert!(user.contains("To blame: the approach"), "{user}");
    let without = told(directive(1, ReplanDirective::Refine));
    assert!(user.chars().count() < without.chars().count() + crate::limits::TRIED_CHARS + 400, "about 300 tokens");
    broken.tried = (0..30).map(|n| tried(&format!("part {n}"), None)).collect();
    assert!(told(broken).chars().count() < user.chars().count() + 2_000, "many subtasks share the room");
}

#[doc = "holds: design G18"]
#[test]
fn string_criterion_gets_mode_plausible() {
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
