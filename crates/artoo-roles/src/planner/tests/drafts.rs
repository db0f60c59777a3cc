//! Tests of the plan validator: a table of drafts and their problems.

use artoo_proto::{
    Check, Clause, CoverageState, Criterion, Plan, PlanDirective, Reading, Recipe, ReplanDirective, Unread,
};
use serde_json::{Value, json};

use super::super::calibration::Advised;
use super::super::draft;
use super::super::validator::{PlanRules, Problem, Signature};
use super::{directive, good};
use crate::limits::{CRITERIA_MAX, SUBTASKS_MAX};
use crate::testing::bench::{planned, spec, task_id};
use crate::testing::world::{config, environment};

const REQUEST: &str = "how many reports are in /home/u/docs";

/// The request, scope, directive and failed plans that a draft is validated against; the default has only a request.
struct DraftContext<'a> {
    request: &'a str,
    scope: Option<&'a str>,
    reading: Reading,
    directive: Option<PlanDirective>,
    failed: Vec<Signature>,
    from_model: bool,
}

impl Default for DraftContext<'_> {
    fn default() -> Self {
        Self {
            request: REQUEST,
            scope: None,
            reading: Reading::default(),
            directive: None,
            failed: Vec::new(),
            from_model: true,
        }
    }
}

/// The plan that a draft becomes.
fn plan(value: &Value, held: &DraftContext<'_>) -> Plan {
    let drafted: artoo_proto::PlanDraft = serde_json::from_value(value.clone()).unwrap();
    let directive = held.directive.as_ref();
    Plan {
        task_id: task_id(),
        round: 0,
        subtasks: drafted.subtasks.into_iter().map(|d| draft::planned(d, &environment())).collect(),
        task_criteria: draft::criteria(drafted.task_criteria, &[], &environment()),
        assumptions: Vec::new(),
        blocked_tools: directive.map(|d| d.blocked_tools.clone()).unwrap_or_default(),
        blocked_targets: directive.map(|d| d.blocked_targets.clone()).unwrap_or_default(),
    }
}

/// The problems that the plan validator finds in a plan.
fn problems_of(plan: &Plan, held: &DraftContext<'_>) -> Vec<Problem> {
    let spec = spec(held.request);
    let rules = PlanRules {
        scope: held.scope,
        raw_input: &spec.raw_input,
        intent: &spec.intent,
        reading: &held.reading,
        tools: &config(1).tools,
        environment: &environment(),
        directive: held.directive.as_ref(),
        advised: &Advised::default(),
        failed: &held.failed,
        from_model: held.from_model,
    };
    rules.problems(plan)
}

/// Asserts that the draft has problems with these names, in this order.
fn check_held(held: &DraftContext<'_>, value: &Value, expected: &[&str]) {
    let problems = problems_of(&plan(value, held), held);
    let names: Vec<String> =
        problems.iter().map(|p| format!("{p:?}").split([' ', '{']).next().unwrap().to_owned()).collect();
    assert_eq!(names, expected, "{value}\n{problems:#?}");
}

/// Asserts that a draft has these problems with default data.
fn check(value: &Value, expected: &[&str]) {
    check_held(&DraftContext::default(), value, expected);
}

/// A valid draft with these criteria of its subtask and of the task.
fn with_criteria(subtask: Value, task: Value) -> Value {
    let mut value = good();
    value["subtasks"][0]["success_criteria"] = subtask;
    value["task_criteria"] = task;
    value
}

/// A valid draft with this criterion of its subtask.
fn of_subtask(criterion: Value) -> Value {
    with_criteria(json!([criterion]), json!(["the combined output states a number of reports"]))
}

#[doc = "holds: fault L26, L27"]
#[test]
fn plan_shape_is_validated() {
    check(&good(), &[]);
    check(&json!({"subtasks": []}), &["NoSubtask", "NoTaskCriteria"]);
    let many = |count: usize| {
        let mut value = good();
        value["subtasks"] = json!(vec![good()["subtasks"][0].clone(); count]);
        value
    };
    check(&many(SUBTASKS_MAX), &[]);
    check(&many(SUBTASKS_MAX + 1), &["TooManySubtasks"]);
    check(&many(10_000), &["TooManySubtasks"]);
    check(&with_criteria(json!([]), json!([])), &["NoTaskCriteria", "NoCriteria"]);
    let sixteen: Vec<String> = (0..=CRITERIA_MAX).map(|number| format!("point {number} is covered")).collect();
    check(&with_criteria(json!(sixteen), json!(["a number is stated"])), &["TooManyCriteria"]);
    let mut blank = good();
    blank["subtasks"][0]["intent"] = json!(" \n");
    check(&blank, &["NoIntent"]);
    for sequence in [0, -1, i64::MIN, i64::MAX] {
        let mut value = good();
        value["subtasks"][0]["sequence"] = json!(sequence);
        check(&value, &[]);
    }
}

#[test]
fn plan_outside_the_scope_is_refused() {
    let within = |scope: Option<&'static str>, context: &str, expected: &[&str]| {
        let mut value = good();
        value["subtasks"][0]["context"] = json!(context);
        check_held(&DraftContext { scope, ..DraftContext::default() }, &value, expected);
    };
    let scope = Some("only in ~/docs");
    within(scope, "look in ~/docs/2024 and ./x.txt", &[]);
    within(scope, "look in /home/u/docs/a.txt, write /home/u/artoo_workspace/sum.txt", &[]);
    within(scope, "look in ~/docs/../music", &["OutOfScope"]);
    within(scope, "look in /etc/hosts", &["OutOfScope"]);
    within(scope, "look in ~/documents", &["OutOfScope"]);
    within(None, "look in /etc/hosts", &[]);
    within(Some("my notes"), "look in /etc/hosts", &[]);
    let named = DraftContext { scope, request: "compare ~/docs with /etc/hosts", ..DraftContext::default() };
    let mut value = good();
    value["subtasks"][0]["context"] = json!("look in /etc/hosts");
    check_held(&named, &value, &[]);
}

/// A draft with a tool name that differs in case, spaces or similar letters has the problem `UnknownTool`.
#[doc = "holds: fault L22"]
#[test]
fn tools_are_matched_exactly() {
    for tool in ["Glob", "glob ", " glob", "g1ob", "ｇlob", "glоb", "rm", ""] {
        let mut value = good();
        value["subtasks"][0]["tools"] = json!([tool]);
        check(&value, &["UnknownTool"]);
    }
}

#[doc = "holds: design G19"]
#[test]
fn meaningless_criteria_are_refused() {
    for empty in [
        "",
        "...",
        "done",
        "Done!",
        "It works as expected.",
        "The task was completed successfully without any errors.",
        "everything is fine",
        "True",
        "ok",
        "The result is correct.",
        "the user's request has been fulfilled",
    ] {
        check(&of_subtask(json!(empty)), &["Vacuous"]);
    }
    let kind = |kind: &str, path: &str, text: &str| json!({"check": {"kind": kind, "path": path, "text": text}});
    for vacuous in [
        kind("file_contains", "a.txt", ""),
        kind("file_contains", "a.txt", " e "),
        kind("file_contains", "", "hello"),
        kind("file_equals", " ", "hello"),
        json!({"check": {"kind": "file_exists", "path": ""}}),
        json!({"check": {"kind": "file_count", "path": ""}}),
        json!({"check": {"kind": "line_count", "path": " "}}),
    ] {
        check(&of_subtask(vacuous), &["Vacuous"]);
    }
    for (form, problems) in [
        (json!([{"check": {"kind": "output_not_empty"}}]), &["FormOnly"][..]),
        (json!([{"check": {"kind": "output_is_number"}}, {"check": {"kind": "exit_code", "code": 0}}]), &["FormOnly"]),
        (json!([{"check": {"kind": "output_is_number"}}, "a count is given"]), &[]),
        (json!([{"check": {"kind": "file_count", "path": "~/docs"}}]), &[]),
    ] {
        check(&with_criteria(form.clone(), json!(["a number of reports"])), problems);
        check(&with_criteria(json!(["a number of reports"]), form), problems);
    }
}

#[doc = "holds: design G19"]
#[test]
fn criterion_restating_the_goal_is_refused() {
    check(&of_subtask(json!("look at the reports")), &["Restatement"]);
    check(&of_subtask(json!("The reports have been looked at")), &[]);
    check(&of_subtask(json!("reports: look at it")), &["Restatement"]);
    check(&of_subtask(json!(REQUEST)), &["Restatement"]);
    check(
        &with_criteria(json!(["a count is named"]), json!(["How many reports are in /home/u/docs?"])),
        &["Restatement"],
    );
    check(&with_criteria(json!(["a count is named"]), json!(["it states how many reports there are"])), &[]);
}

#[doc = "holds: design G19"]
#[test]
fn models_recomputation_check_becomes_prose() {
    let recompute = json!({"check": {"kind": "recompute", "query": {"x": 1}, "reading": "everything is fine"}});
    check(&of_subtask(recompute), &["Vacuous"]);
    let recompute = json!({"check": {"kind": "recompute", "query": {"x": 1}, "reading": "count the reports"}});
    let plan = plan(&of_subtask(recompute), &DraftContext::default());
    assert!(plan.subtasks[0].success_criteria[0].check().is_none());
}

#[doc = "holds: design D13"]
#[test]
fn machine_question_needs_a_tool() {
    let mut words = good();
    words["subtasks"][0]["tools"] = json!([]);
    for request in [REQUEST, "create a file a.txt", "what is the largest file", "crea un archivo a.txt"] {
        check_held(&DraftContext { request, ..DraftContext::default() }, &words, &["WordsForAnAct"]);
    }
    for request in ["write a haiku about rain", "what is a symlink?", "how do I create a folder in Windows?"] {
        check_held(&DraftContext { request, ..DraftContext::default() }, &words, &[]);
    }
}

#[test]
fn text_only_plan_answers_only_how_questions() {
    use CoverageState::{Courtesy, Described, Judged, NotRead, Vague};
    let mut words = good();
    words["subtasks"][0]["tools"] = json!([]);
    let reading = |states: &[CoverageState]| {
        let clause = |state: &CoverageState| Clause {
            number: 1,
            span: (0, 0),
            words: String::new(),
            obligations: Vec::new(),
            unread: Some(Unread { state: *state, why: String::new() }),
        };
        Reading { clauses: states.iter().map(clause).collect(), ..Reading::default() }
    };
    for states in [&[Described][..], &[Described, Courtesy], &[Judged, Described]] {
        check_held(&DraftContext { reading: reading(states), ..DraftContext::default() }, &words, &[]);
    }
    let with_an_act = {
        let mut reading = reading(&[Described, Described]);
        reading.clauses[0].unread = None;
        reading
    };
    let others = [&[][..], &[Judged], &[Courtesy], &[Described, NotRead], &[Described, Vague]].map(reading);
    for reading in others.into_iter().chain([with_an_act]) {
        check_held(&DraftContext { reading, ..DraftContext::default() }, &words, &["WordsForAnAct"]);
    }
}

#[test]
fn models_draft_cannot_contain_recipes() {
    let held = DraftContext::default();
    let mut with_recipe = plan(&good(), &held);
    with_recipe.subtasks[0].recipe = Some(Recipe { steps: Vec::new(), reading: "count".to_owned(), skill: None });
    assert_eq!(problems_of(&with_recipe, &held), [Problem::ForeignRecipe]);
    // A recipe may check as much as it does: many files are moved into many folders.
    with_recipe.task_criteria = vec![with_recipe.task_criteria[0].clone(); CRITERIA_MAX + 1];
    assert_eq!(problems_of(&with_recipe, &DraftContext { from_model: false, ..DraftContext::default() }), []);
}

#[doc = "holds: invariant 9; fault L28; design D4"]
#[test]
fn blocked_tools_and_targets_are_not_planned() {
    let mut directive = directive(1, ReplanDirective::ChangePath);
    directive.blocked_tools = vec!["shell".to_owned()];
    directive.blocked_targets = vec![
        "*:/home/u/docs/**".to_owned(),
        "read_file:/home/u/a.txt".to_owned(),
        "shell:ls -la 'a b' | wc -l".to_owned(),
    ];
    let held = DraftContext { directive: Some(directive), ..DraftContext::default() };
    let with = |tool: &str, intent: &str, context: &str| {
        let mut value = good();
        value["subtasks"][0]["tools"] = json!([tool]);
        value["subtasks"][0]["intent"] = json!(intent);
        value["subtasks"][0]["context"] = json!(context);
        value
    };
    check_held(&held, &with("shell", "look at the reports", ""), &["BlockedTool"]);
    check_held(&held, &with("glob", "look into /home/u/docs/new", ""), &["BlockedTarget"]);
    check_held(&held, &with("glob", "look around", "the folder is ~/docs/."), &["BlockedTarget"]);
    check_held(&held, &with("glob", "look around", "the folder is ./x/../docs"), &["BlockedTarget"]);
    check_held(&held, &with("glob", "look into /home/u/docs2", ""), &[]);
    check_held(&held, &with("read_file", "read ~/a.txt", ""), &["BlockedTarget"]);
    check_held(&held, &with("glob", "see who owns ~/a.txt", ""), &[]);
    // The inputs of a recipe count as words of its step, a pipeline as the command that was blocked.
    let with_call = |tool: &str, input: Value| {
        let call = artoo_proto::ToolRequest { tool: tool.to_owned(), input };
        let step = artoo_proto::RecipeStep { call, answers: true, paths_from: None };
        let mut recipe = planned("count", 0);
        recipe.tools = vec![tool.to_owned()];
        recipe.recipe = Some(Recipe { steps: vec![step], reading: String::new(), skill: None });
        let plan = Plan { subtasks: vec![recipe], ..plan(&good(), &held) };
        problems_of(
            &plan,
            &DraftContext { from_model: false, directive: held.directive.clone(), ..DraftContext::default() },
        )
    };
    let problems = with_call("glob", json!({"root": {"path": ["~/docs"]}}));
    assert!(matches!(problems[..], [Problem::BlockedTarget { .. }]));
    let problems = with_call("shell", json!({"pipeline": [["ls", "-la", "a b"], ["wc", "-l"]]}));
    assert!(matches!(problems[..], [Problem::BlockedTool { .. }, Problem::BlockedTarget { .. }]), "{problems:?}");
    let problems = with_call("shell", json!({"pipeline": [["ls", "-la", "a", "b"], ["wc", "-l"]]}));
    assert!(matches!(problems[..], [Problem::BlockedTool { .. }]), "{problems:?}");
}

#[doc = "holds: law 2.3; design D4"]
#[test]
fn failed_plan_is_not_repeated() {
    let failed = Signature::of(&plan(&good(), &DraftContext::default()));
    let held = DraftContext { failed: vec![failed], ..DraftContext::default() };
    let with = |tool: &str, intent: &str| {
        let mut value = good();
        value["subtasks"][0]["tools"] = json!([tool]);
        value["subtasks"][0]["intent"] = json!(intent);
        value
    };
    check_held(&held, &good(), &["Repeated"]);
    check_held(&held, &with("glob", "Please LOOK at reports, the reports!"), &["Repeated"]);
    check_held(&held, &with("mdfind", "look at the reports"), &[]);
    check_held(&held, &with("glob", "look at the reports in /home/u/docs recursively"), &[]);
}

#[doc = "holds: law 2.4; design D4"]
#[test]
fn break_symmetry_requires_another_tool_class() {
    let with = |tools: Value, blocked: &[&str]| {
        let mut directive = directive(1, ReplanDirective::BreakSymmetry);
        directive.blocked_tools = blocked.iter().map(|tool| (*tool).to_owned()).collect();
        let mut value = good();
        value["subtasks"][0]["tools"] = tools;
        (DraftContext { directive: Some(directive), ..DraftContext::default() }, value)
    };
    let check = |tools: Value, blocked: &[&str], expected: &[&str]| {
        let (held, value) = with(tools, blocked);
        check_held(&held, &value, expected);
    };
    check(json!(["mdfind"]), &["glob"], &["SameClass"]);
    check(json!(["shell"]), &["glob"], &[]);
    check(json!(["mdfind", "read_file"]), &["glob"], &[]);
    check(json!(["mdfind"]), &["glob", "read_file", "shell"], &[]);
    check(json!(["write_file"]), &["glob", "read_file"], &["SameClass"]);
}

/// A check that measures the machine is enough as the only criterion; checks of the output's format alone are not.
#[test]
fn machine_check_is_no_form_check() {
    let count = Criterion::checked(Check::LineCount { path: "/a".to_owned() });
    let mut only = plan(&good(), &DraftContext::default());
    only.task_criteria = vec![count];
    assert_eq!(problems_of(&only, &DraftContext::default()), []);
}

/// The steps whose outputs answer the user are those of the last group, those for a part that the last group is not
/// for, and, if no step says what it is for and there are several parts, all.
#[test]
fn answer_steps_are_last_or_assigned() {
    let marked = |sequences: &[i64], meets: &[&[u32]], parts: u32| {
        let mut subtasks: Vec<_> = sequences.iter().map(|sequence| planned("step", *sequence)).collect();
        let clause = |number| Clause {
            number,
            span: (0, 1),
            words: "part".to_owned(),
            obligations: Vec::new(),
            unread: Some(Unread { state: CoverageState::NotRead, why: String::new() }),
        };
        let reading = Reading { clauses: (1..=parts).map(clause).collect(), ..Reading::default() };
        let meets: Vec<Vec<u32>> = meets.iter().map(|meets| meets.to_vec()).collect();
        draft::mark_answers(&mut subtasks, &meets, &reading);
        subtasks.iter().map(|subtask| subtask.answers.is_some()).collect::<Vec<_>>()
    };
    assert_eq!(marked(&[1, 2], &[&[], &[]], 1), [false, true], "a first step prepares the last one");
    assert_eq!(marked(&[2, 1, 2], &[&[], &[], &[]], 1), [true, false, true], "parallel steps all answer");
    assert_eq!(marked(&[1, 2], &[&[], &[]], 2), [true, true], "either may answer a part");
    assert_eq!(marked(&[1, 2], &[&[1], &[2]], 2), [true, true]);
    assert_eq!(marked(&[1, 2, 3], &[&[1], &[], &[1, 2]], 2), [false, false, true]);
}
