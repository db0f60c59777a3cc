//! Tests of memory's effect on plans: prohibitions, preferences, warnings, and what happens if everything is forbidden.

use artoo_proto::{Advice, MemoryAction, MemoryRecall, Potentials, RoleContext, Sop};
use serde_json::json;
use uuid::Uuid;

use super::super::{Input, Planner};
use super::{bench, draft, plan_of, recall, rejected, run};
use crate::limits::ADVICE_MAX;
use crate::machine::Lifecycle;
use crate::testing::bench::{Bench, HOSTILE, asked, spec};

fn advice(space: &str, entity: &str, action: MemoryAction, decision: f64) -> Advice {
    Advice {
        space: space.to_owned(),
        entity: entity.to_owned(),
        potentials: Potentials { attention: 1.0, decision, action },
        similarity: 1.0,
        megrams: Vec::new(),
    }
}

fn avoid(tools: &str, decision: f64) -> Advice {
    advice("intent:how_many_reports", &format!("via:{tools}"), MemoryAction::Avoid, decision)
}

fn knowing(advice: Vec<Advice>) -> MemoryRecall {
    MemoryRecall { advice, ..recall(0) }
}

fn start(recall: MemoryRecall) -> (Bench<Lifecycle<Planner>>, Vec<crate::machine::RoleEffect>) {
    let mut bench = bench();
    bench.step(Input::Task(spec("how many reports are there")));
    let effects = bench.step(Input::Recalled(recall));
    (bench, effects)
}

fn with(tool: &str) -> serde_json::Value {
    draft(tool, &format!("look with {tool}"))
}

#[doc = "holds: design M8"]
#[test]
fn an_approach_memory_forbids_is_not_planned() {
    let (mut bench, effects) = start(knowing(vec![avoid("glob", -0.9)]));
    let (_, question) = asked(&effects);
    assert!(question.prompt.user.contains("MUST NOT:\n- the approach with glob"), "{}", question.prompt.user);
    let plan = plan_of(run(&mut bench, effects, &[with("glob"), with("shell")]));
    assert_eq!(plan.subtasks[0].tools, ["shell"]);
    assert!(plan.assumptions.is_empty());
}

#[doc = "holds: design D4"]
#[test]
fn when_every_approach_is_forbidden_the_mildest_is_released_and_said_so() {
    let all = vec![avoid("glob", -0.9), avoid("shell", -0.3), avoid("mdfind", -0.6)];
    let (mut bench, effects) = start(knowing(all));
    let plan = plan_of(run(&mut bench, effects, &[with("glob"), with("shell"), with("mdfind")]));
    assert_eq!(plan.subtasks[0].tools, ["shell"], "the one nearest 0, whatever came last");
    assert_eq!(plan.assumptions, ["memory advised against this approach; no other was found"]);
}

#[doc = "holds: design D4"]
#[test]
fn a_forbidden_approach_is_not_released_while_a_draft_is_left() {
    let (mut bench, effects) = start(knowing(vec![avoid("glob", -0.9)]));
    let plan = plan_of(run(&mut bench, effects, &[with("glob"), with("glob"), with("read_file")]));
    assert_eq!(plan.subtasks[0].tools, ["read_file"]);
}

#[doc = "holds: design D4"]
#[test]
fn a_forbidden_approach_with_other_problems_is_never_released() {
    let (mut bench, effects) = start(knowing(vec![avoid("glob", -0.9)]));
    let mut broken = with("glob");
    broken["task_criteria"] = json!([]);
    rejected(run(&mut bench, effects, &[broken]));
}

#[doc = "holds: design M7"]
#[test]
fn only_an_exact_pair_or_an_approach_forbids() {
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
fn a_plan_under_caution_must_ask_before_it_changes_anything() {
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
fn at_most_ten_entries_reach_the_prompt_worded_by_the_planner_and_the_subtask_they_concern() {
    let sop = |number: u128, sign: i8| Sop {
        id: artoo_proto::MegramId(Uuid::from_u128(number)),
        content: format!("rule {number} {HOSTILE}"),
        sign,
    };
    let mut recall = knowing((0..20).map(|n| avoid(&format!("tool{n}"), -0.9)).collect());
    recall.sops = vec![sop(1, 1), sop(2, -1)];
    let (_, effects) = start(recall);
    let (_, question) = asked(&effects);
    let RoleContext::Plan(context) = &question.context else { panic!() };
    let words = &context.calibration;
    assert_eq!(words.must_not.len() + words.should_prefer.len() + words.caution.len(), ADVICE_MAX);
    assert!(words.should_prefer[0].starts_with("\"rule 1") && !words.should_prefer[0].contains(['\n', '\u{1b}']));

    let concerning = vec![advice("tool:glob", "path:/x", MemoryAction::Avoid, -0.9)];
    let (mut bench, effects) = start(knowing(concerning));
    let plan = plan_of(run(&mut bench, effects, &[with("glob")]));
    assert!(
        plan.subtasks[0].context.contains("From memory:\nMUST NOT: glob on \"/x\""),
        "{}",
        plan.subtasks[0].context
    );
    let concerning = vec![advice("tool:glob", "path:/x", MemoryAction::Avoid, -0.9)];
    let (mut bench, effects) = start(knowing(concerning));
    let plan = plan_of(run(&mut bench, effects, &[with("shell")]));
    assert!(plan.subtasks[0].context.is_empty(), "what does not concern it stays away");
}
