//! Tests of memory's effect on plans: prohibitions, preferences, warnings, and what happens if everything is forbidden.

use artoo_proto::{
    Advice, AdviceCap, Lesson, MemoryAction, MemoryRecall, Potentials, RecalledLesson, RoleContext, Sop,
};
use serde_json::json;
use uuid::Uuid;

use super::super::{Input, Planner};
use super::{bench, draft, plan_of, recall, rejected, run};
use crate::limits::{ADVICE_MAX, LESSONS_MAX};
use crate::machine::Lifecycle;
use crate::testing::bench::{Bench, HOSTILE, asked, spec};

/// A piece of advice about a tag.
fn advice(space: &str, entity: &str, action: MemoryAction, decision: f64) -> Advice {
    Advice {
        space: space.to_owned(),
        entity: entity.to_owned(),
        potentials: Potentials { attention: 1.0, decision, action },
        similarity: 1.0,
        capped: None,
        megrams: Vec::new(),
    }
}

/// Advice against an approach.
fn avoid(tools: &str, decision: f64) -> Advice {
    advice("intent:how_many_reports", &format!("via:{tools}"), MemoryAction::Avoid, decision)
}

/// A recall with this advice.
fn knowing(advice: Vec<Advice>) -> MemoryRecall {
    MemoryRecall { advice, ..recall(0) }
}

/// R2 after memory answered its query with this recall, and the effects that follow.
fn start(recall: MemoryRecall) -> (Bench<Lifecycle<Planner>>, Vec<crate::machine::RoleEffect>) {
    let mut bench = bench();
    bench.step(Input::Task(spec("how many reports are there")));
    let effects = bench.step(Input::Recalled(recall));
    (bench, effects)
}

/// A draft of a plan with this tool.
fn with(tool: &str) -> serde_json::Value {
    draft(tool, &format!("look with {tool}"))
}

#[doc = "holds: design M8"]
#[test]
fn forbidden_approach_is_not_planned() {
    let (mut bench, effects) = start(knowing(vec![avoid("glob", -0.9)]));
    let (_, question) = asked(&effects);
    assert!(question.prompt.user.contains("MUST NOT:\n- the approach with glob"), "{}", question.prompt.user);
    let plan = plan_of(run(&mut bench, effects, &[with("glob"), with("shell")]));
    assert_eq!(plan.subtasks[0].tools, ["shell"]);
    assert!(plan.assumptions.is_empty());
}

/// If memory forbids all drafted plans, the least opposed one is used, and the plan states it as an assumption.
#[doc = "holds: design D4"]
#[test]
fn least_opposed_approach_is_released_and_reported() {
    let all = vec![avoid("glob", -0.9), avoid("shell", -0.3), avoid("mdfind", -0.6)];
    let (mut bench, effects) = start(knowing(all));
    let plan = plan_of(run(&mut bench, effects, &[with("glob"), with("shell"), with("mdfind")]));
    assert_eq!(plan.subtasks[0].tools, ["shell"], "the one nearest 0, whatever came last");
    assert_eq!(plan.assumptions, ["memory advised against this approach; no other was found"]);
}

/// A plan that memory forbids is not used while another draft can still be requested.
#[doc = "holds: design D4"]
#[test]
fn forbidden_approach_stays_while_drafts_remain() {
    let (mut bench, effects) = start(knowing(vec![avoid("glob", -0.9)]));
    let plan = plan_of(run(&mut bench, effects, &[with("glob"), with("glob"), with("read_file")]));
    assert_eq!(plan.subtasks[0].tools, ["read_file"]);
}

/// A plan that memory forbids and that is also invalid is rejected.
#[doc = "holds: design D4"]
#[test]
fn invalid_forbidden_approach_is_not_released() {
    let (mut bench, effects) = start(knowing(vec![avoid("glob", -0.9)]));
    let mut broken = with("glob");
    broken["task_criteria"] = json!([]);
    rejected(run(&mut bench, effects, &[broken]));
}

/// Memory forbids only an exact (tool, target) pair or set of tools; a tool in general or a similar task only warns.
#[doc = "holds: design M7"]
#[test]
fn only_exact_pairs_and_approaches_forbid() {
    let pair = || advice("tool:glob", "path:/home/u/docs", MemoryAction::Avoid, -0.9);
    let sum = advice("tool:glob", "*", MemoryAction::Avoid, -0.9);
    let mut alike = avoid("glob", -0.9);
    alike.similarity = 0.7;
    for harmless in [sum, alike, advice("intent:x", "env:local", MemoryAction::Avoid, -0.9)] {
        let (mut bench, effects) = start(knowing(vec![harmless.clone()]));
        let (_, question) = asked(&effects);
        let RoleContext::Plan(context) = &question.context else { panic!() };
        assert!(context.calibration.must_not.is_empty() && context.calibration.caution.len() == 1, "{harmless:?}");
        plan_of(run(&mut bench, effects, &[with("glob")]));
    }
    let into = |tool: &str| draft(tool, "look into ~/docs for reports");
    let (mut bench, effects) = start(knowing(vec![pair()]));
    let plan = plan_of(run(&mut bench, effects, &[into("glob"), into("shell")]));
    assert_eq!(plan.subtasks[0].tools, ["shell"]);
    let (mut bench, effects) = start(knowing(vec![pair()]));
    let plan = plan_of(run(&mut bench, effects, &[into("glob")]));
    assert_eq!(plan.assumptions.len(), 1, "released when no draft could do without it");
}

#[doc = "holds: law 1.15; design D22"]
#[test]
fn caution_requires_approval_before_changes() {
    let confirm = |advice: Advice, tools: serde_json::Value| {
        let (mut bench, effects) = start(knowing(vec![advice]));
        let mut draft = with("glob");
        let mut second = draft["subtasks"][0].clone();
        draft["subtasks"][0]["tools"] = tools;
        second["tools"] = json!(["read_file"]);
        draft["subtasks"].as_array_mut().unwrap().push(second);
        let plan = plan_of(run(&mut bench, effects, &[draft]));
        plan.subtasks.iter().map(|subtask| subtask.confirm).collect::<Vec<_>>()
    };
    let caution = |space: &str, entity: &str, decision| advice(space, entity, MemoryAction::Caution, decision);
    let via = |decision| caution("intent:how_many_reports", "via:glob,read_file", decision);
    assert_eq!(confirm(via(0.1), json!(["glob"])), [true, true], "the approach is the plan's tools together");
    assert_eq!(confirm(via(0.1), json!(["shell"])), [false, false]);
    assert_eq!(confirm(caution("intent:how_many_reports", "env:local", 0.0), json!(["shell"])), [true, true]);
    let softened = caution("intent:how_many_reports", "env:local", -0.9);
    assert_eq!(confirm(softened, json!(["shell"])), [false, false], "one bad end is care in words, not a gate");
    assert_eq!(confirm(caution("tool:glob", "*", 0.0), json!(["glob"])), [false, false], "a tool's sum only advises");
}

#[doc = "holds: design M16"]
#[test]
fn prompt_has_at_most_ten_memory_entries() {
    let sop = |number: u128, sign: i8| Sop {
        id: artoo_proto::MegramId(Uuid::from_u128(number)),
        content: format!("rule {number} {HOSTILE}"),
        sign,
        space: "intent:how_many_reports".to_owned(),
        entity: "via:glob".to_owned(),
    };
    let mut recall = knowing((0..20).map(|n| avoid(&format!("tool{n}"), -0.9)).collect());
    recall.sops = vec![sop(1, 1), sop(2, -1)];
    let (_, effects) = start(recall);
    let (_, question) = asked(&effects);
    let RoleContext::Plan(context) = &question.context else { panic!() };
    let words = &context.calibration;
    assert_eq!(words.must_not.len() + words.should_prefer.len() + words.caution.len(), ADVICE_MAX);
    assert!(words.should_prefer[0].starts_with("\"rule 1") && !words.should_prefer[0].contains(['\n', '\u{1b}']));

    let concerning = || {
        vec![Advice { capped: Some(AdviceCap::OneTask), ..advice("tool:glob", "path:/x", MemoryAction::Caution, -0.9) }]
    };
    let context = |tool: &str| {
        let (mut bench, effects) = start(knowing(concerning()));
        plan_of(run(&mut bench, effects, &[with(tool)])).subtasks[0].context.clone()
    };
    assert_eq!(
        context("glob"),
        "\nFrom memory:\ncareful: glob on \"/x\": failed in one earlier task, in this kind of task"
    );
    assert!(context("shell").is_empty(), "what does not concern it stays away");
}

/// The text and rules that a recall leads to.
fn calibration(recall: MemoryRecall) -> artoo_proto::Calibration {
    let (_, effects) = start(recall);
    let (_, question) = asked(&effects);
    let RoleContext::Plan(context) = &question.context else { panic!() };
    context.calibration.clone()
}

/// Advice from successes alone becomes a preference; only advice from successes and failures becomes a caution.
#[test]
fn pure_success_is_not_called_mixed() {
    let good = |space: &str, entity: &str, action| advice(space, entity, action, 0.9);
    let (exploit, caution) = (MemoryAction::Exploit, MemoryAction::Caution);
    let words = calibration(knowing(vec![
        good("intent:how_many_reports", "env:local", exploit),
        good("intent:how_many_reports", "via:glob", exploit),
        good("tool:glob", "*", caution),
        good("tool:glob", "path:/x", exploit),
        Advice { similarity: 0.7, capped: Some(AdviceCap::Similar), ..good("intent:other", "via:shell", caution) },
    ]));
    assert_eq!(
        words.should_prefer,
        ["glob: worked for this kind of task", "shell: worked for a similar task (70 % alike)"]
    );
    assert!(words.caution.is_empty() && words.must_not.is_empty(), "{words:?}");
    let mixed = calibration(knowing(vec![advice("tool:glob", "*", caution, 0.1)]));
    assert_eq!(mixed.caution, ["glob: worked and failed before, in this kind of task"], "what is mixed is said");
}

/// A single failed task, an outage or a merely similar task neither forbids an approach nor requires an approval.
#[test]
fn one_failure_forbids_nothing() {
    for cap in [AdviceCap::OneTask, AdviceCap::Environmental, AdviceCap::Similar] {
        let bad =
            Advice { capped: Some(cap), ..advice("intent:how_many_reports", "via:glob", MemoryAction::Caution, -0.9) };
        let (mut bench, effects) = start(knowing(vec![bad]));
        let plan = plan_of(run(&mut bench, effects, &[with("glob")]));
        assert!(!plan.subtasks[0].confirm && plan.assumptions.is_empty(), "{cap:?}");
    }
}

/// Mixed experience makes the first change ask for approval only if the task has a user to ask.
#[test]
fn memory_caution_needs_a_user() {
    let confirmed = |interactive: bool| {
        let mut bench = bench();
        bench.step(Input::Task(artoo_proto::TaskSpec { interactive, ..spec("how many reports are there") }));
        let mixed = advice("intent:how_many_reports", "via:glob", MemoryAction::Caution, 0.1);
        let effects = bench.step(Input::Recalled(knowing(vec![mixed])));
        let plan = plan_of(run(&mut bench, effects, &[with("glob")]));
        (plan.subtasks[0].confirm, plan.assumptions.len())
    };
    assert_eq!(confirmed(true), (true, 1));
    assert_eq!(confirmed(false), (false, 0));
}

/// A negative rule of memory keeps its set of tools out of plans, and its (tool, target) pair out of calls.
#[test]
fn memory_constraint_applies_to_plans_and_calls() {
    let rule = |entity: &str, space: &str| MemoryRecall {
        sops: vec![Sop {
            id: artoo_proto::MegramId(Uuid::from_u128(1)),
            content: "glob has kept failing".to_owned(),
            sign: -1,
            space: space.to_owned(),
            entity: entity.to_owned(),
        }],
        ..recall(0)
    };
    let (mut bench, effects) = start(rule("via:glob", "intent:how_many_reports"));
    let plan = plan_of(run(&mut bench, effects, &[with("glob"), with("shell")]));
    assert_eq!(plan.subtasks[0].tools, ["shell"]);
    let (mut bench, effects) = start(rule("path:/home/u/docs", "tool:glob"));
    let plan = plan_of(run(&mut bench, effects, &[with("glob")]));
    assert_eq!(plan.blocked_targets, ["glob:/home/u/docs"], "also where the plan does not name the place");
    let into = draft("glob", "look into ~/docs for reports");
    let (mut bench, effects) = start(rule("path:/home/u/docs", "tool:glob"));
    let plan = plan_of(run(&mut bench, effects, &[into.clone(), into.clone(), into]));
    assert!(plan.blocked_targets.is_empty(), "released, so that the plan can be carried out");
    let of_intent = calibration(rule("env:local", "intent:how_many_reports"));
    assert!(of_intent.must_not.is_empty() && of_intent.caution.len() == 1, "a whole kind of task is not forbidden");
}

#[test]
fn lessons_and_notes_are_fenced_data() {
    let lesson = |n: u128| RecalledLesson {
        id: artoo_proto::MegramId(Uuid::from_u128(n)),
        intent: "sum per country".to_owned(),
        similarity: if n == 1 { 1.0 } else { 0.9 },
        lesson: Lesson {
            criterion: format!("sum {n} {HOSTILE}"),
            wrong: "column 1 was summed".to_owned(),
            tool: "shell".to_owned(),
            input: "{\"command\":\"cut -f4\"}".to_owned(),
        },
    };
    let mut known = recall(0);
    known.lessons = (1..=5).map(lesson).collect();
    known.notes = vec![format!("sums are in euros {HOSTILE}")];
    let (mut bench, effects) = start(known);
    let (_, question) = asked(&effects);
    let user = &question.prompt.user;
    let lessons = user.split("LESSONS").nth(1).unwrap();
    assert_eq!(lessons.matches("then passed").count(), LESSONS_MAX, "{user}");
    assert!(lessons.contains("- sum 1 ") && lessons.contains("- sum per country: sum 2 "), "{user}");
    assert!(
        lessons.contains("wrong before: column 1 was summed; then passed: shell {\"command\":\"cut -f4\"}"),
        "{user}"
    );
    assert!(lessons.contains("sums are in euros"), "{user}");
    crate::testing::bench::assert_tame(&question.prompt);
    let plan = plan_of(run(&mut bench, effects, &[with("shell")]));
    assert_eq!(plan.subtasks[0].context.matches("lesson: wrong before: column 1").count(), 1);
}
