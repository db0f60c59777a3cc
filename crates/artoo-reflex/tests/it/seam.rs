//! Tests of what the crate answers in place of a language model to the roles perceiver and planner.

use artoo_proto::{
    Calibration, Check, Constraints, FailureMix, Loss, MemoryRecall, PerceiveContext, PlanContext, PlanDirective,
    PrevDirective, RecipePlan, ReplanDirective, ReplyBody, RoleContext, TaskId, TaskSpec, Urgency,
};
use serde_json::json;

use super::{environment, now};
use artoo_reflex::testing::MemoryFileSystem;
use artoo_reflex::{respond, respond_in_full, verify};

/// The answer to the perceiver for a request, on an empty disk.
fn perceive(words: &str) -> ReplyBody {
    respond(&RoleContext::Perceive(Box::new(to_perceive(words))), &MemoryFileSystem::default())
}

/// What the perceiver is given for a request.
fn to_perceive(words: &str) -> PerceiveContext {
    PerceiveContext {
        raw_input: words.to_owned(),
        session: Vec::new(),
        material: None,
        clarifications: Vec::new(),
        may_ask: false,
        environment: environment(),
        now: now(),
    }
}

/// A fixed task id.
fn task_id() -> TaskId {
    serde_json::from_value(json!("count-6f2b1c1e-0000-4000-8000-000000000000")).unwrap()
}

/// The answer to the planner for a request, on an empty disk.
fn plan(words: &str, directive: Option<PlanDirective>) -> ReplyBody {
    plan_on(words, directive, &MemoryFileSystem::default())
}

/// The answer to the planner for a request, on this disk.
fn plan_on(words: &str, directive: Option<PlanDirective>, fs: &MemoryFileSystem) -> ReplyBody {
    respond(&RoleContext::Plan(Box::new(to_plan(words, directive))), fs)
}

/// What the planner is given for a request.
fn to_plan(words: &str, directive: Option<PlanDirective>) -> PlanContext {
    let spec = TaskSpec {
        task_id: task_id(),
        label: "count_files".to_owned(),
        intent: "count the files".to_owned(),
        constraints: Constraints::default(),
        raw_input: words.to_owned(),
        session: Vec::new(),
        material: None,
        reading: artoo_proto::Reading::default(),
        interactive: true,
    };
    PlanContext {
        spec,
        environment: environment(),
        tools: Vec::new(),
        calibration: Calibration::default(),
        recall: MemoryRecall {
            task_id: task_id(),
            round: 0,
            sops: Vec::new(),
            advice: Vec::new(),
            lessons: Vec::new(),
            notes: Vec::new(),
            megrams_total: 0,
        },
        directive,
        problems: Vec::new(),
        now: now(),
    }
}

/// The plan of recipes for a request; panics if the planner gets another answer.
fn recipes(words: &str) -> RecipePlan {
    let reply = plan(words, None);
    let ReplyBody::Recipes { plan } = reply else { panic!("{words}: {reply:?}") };
    plan
}

#[test]
fn perceiver_gets_restated_task() {
    let ReplyBody::Json { value } = perceive("how many PDFs are in ~/Downloads") else { panic!() };
    let intent =
        "count the files in the folder /home/ada/Downloads, subfolders included, hidden files included, ending in .pdf";
    let constraints = json!({ "scope": "/home/ada/Downloads", "deadline": null });
    assert_eq!(value, json!({ "task_id": "count_files", "intent": intent, "constraints": constraints }));
    for (words, label, scope) in [
        ("largest file", "largest_files", json!(null)),
        ("oldest 3 files in /tmp", "oldest_files", json!("/tmp")),
        ("total size of ~/x", "total_size", json!("/home/ada/x")),
        ("lines 1 to 3 of ./a.txt", "show_lines", json!("/home/ada/work/a.txt")),
        ("how many lines in a.txt", "count_lines", json!("/home/ada/work/a.txt")),
        ("list files by name", "list_files", json!(null)),
    ] {
        let ReplyBody::Json { value } = perceive(words) else { panic!("{words}") };
        assert_eq!((&value["task_id"], &value["constraints"]["scope"]), (&json!(label), &scope), "{words}");
    }
}

#[test]
fn both_roles_decline_unread_request() {
    for reply in [perceive("delete all logs"), plan("delete all logs", None), perceive("")] {
        assert!(matches!(reply, ReplyBody::Abstain { .. }), "{reply:?}");
    }
}

#[doc = "holds: design G19"]
#[test]
fn planner_gets_call_and_recomputing_check() {
    let plan = recipes("the 3 largest PDFs in ~/x");
    assert_eq!(plan.subtasks.len(), 1);
    let subtask = &plan.subtasks[0];
    assert_eq!(subtask.recipe.steps.len(), 1);
    assert!(subtask.recipe.steps[0].answers);
    let call = &subtask.recipe.steps[0].call;
    assert_eq!(call.tool, "glob");
    let expected = json!({
        "root": "/home/ada/x", "patterns": ["*.[pP][dD][fF]"], "exclude": [], "recursive": true, "kind": "file",
        "hidden": true, "ignore_files": false, "ignore_case": false, "report": "details", "limit": 3,
        "sort": { "by": "size", "descending": true },
    });
    assert_eq!(call.input, expected);
    assert_eq!(plan.task_criteria, subtask.success_criteria);
    let Some(Check::Recompute { query, reading }) = plan.task_criteria[0].check() else { panic!() };
    assert_eq!(*reading, subtask.recipe.reading);
    assert!(plan.task_criteria[0].required());
    let mut fs = artoo_reflex::testing::MemoryFileSystem::new("/home/ada/x");
    fs.add_file("/home/ada/x/a.pdf", "12345", now().wall);
    assert!(verify(query, &format!("5\t{}\t/home/ada/x/a.pdf\n", now().wall), &fs).pass);
    assert!(!verify(query, "", &fs).pass);
}

#[test]
fn missing_file_is_refused_with_two_suggestions() {
    let mut fs = MemoryFileSystem::new("/home/ada/work");
    for name in ["notes.txt", "note.txts", "deep/ntes.txt", "other.txt"] {
        fs.add_file(format!("/home/ada/work/{name}"), "x", now().wall);
    }
    fs.add_file("/home/ada/work/deep/notex.txt", "x", now().wall);
    let remedy = |words: &str| {
        let reply = plan_on(words, None, &fs);
        let ReplyBody::Abstain { abstention } = reply else { panic!("{words}: {reply:?}") };
        abstention.remedy.strip_suffix(artoo_proto::Abstention::SETUP).unwrap().trim().to_owned()
    };
    let missing = "There is no /home/ada/work";
    assert_eq!(
        remedy("how many lines in notex.txt"),
        format!("{missing}/notex.txt; there is /home/ada/work/notes.txt and /home/ada/work/deep/notex.txt.")
    );
    assert_eq!(remedy("how many lines in quite.txt"), format!("{missing}/quite.txt."));
    // The folder is not made if a later step reads a missing file.
    assert_eq!(remedy("make a folder new and move quite.txt into it"), format!("{missing}/quite.txt."));
}

#[test]
fn calls_have_input_tools_expect() {
    for (words, tool, input) in [
        ("first 5 lines of a.txt", "read_file", json!({"path": "/home/ada/work/a.txt", "lines": {"first": 5}})),
        ("lines 2 to 4 of a.txt", "read_file", json!({"path": "/home/ada/work/a.txt", "lines": {"from": 2, "to": 4}})),
        ("how many lines in a.txt", "read_file", json!({"path": "/home/ada/work/a.txt", "count": "lines"})),
        ("show a.txt", "read_file", json!({"path": "/home/ada/work/a.txt"})),
        (
            "how many lines of a.txt mention 'x' ignoring case",
            "read_file",
            json!({"path": "/home/ada/work/a.txt", "count": "lines", "matching": "x", "ignore_case": true}),
        ),
    ] {
        let plan = recipes(words);
        let call = &plan.subtasks[0].recipe.steps[0].call;
        assert_eq!((call.tool.as_str(), &call.input), (tool, &input), "{words}");
    }
    let call = |words: &str| recipes(words).subtasks[0].recipe.steps[0].call.input.clone();
    let input = call("files in ~/x named literally '[a]*.txt' over 1 KiB modified before 2024-01-01T00:00:00Z");
    assert_eq!(input["patterns"], json!(["[[]a[]][*].txt"]));
    assert_eq!((&input["min_bytes"], &input["modified_before"]), (&json!(1025), &json!("2024-01-01T00:00:00.000Z")));
    assert_eq!(call("count files in ~/x starting with 'r' that are PDFs")["patterns"], json!(["r*.[pP][dD][fF]"]));
    assert_eq!(call("files in ~/x except PDFs")["exclude"], json!(["*.[pP][dD][fF]"]));
}

#[doc = "holds: law 2.3"]
#[test]
fn failed_recipe_is_never_offered_again() {
    assert!(matches!(plan("how many files in ~/x", Some(directive())), ReplyBody::Abstain { .. }));
}

/// A directive to plan again after a failed attempt.
fn directive() -> PlanDirective {
    PlanDirective {
        task_id: task_id(),
        round: 1,
        loss: Loss::default(),
        prev_directive: PrevDirective::Init,
        directive: ReplanDirective::ChangePath,
        blocked_tools: Vec::new(),
        blocked_targets: Vec::new(),
        released_tools: Vec::new(),
        failed_criterion: String::new(),
        failure_class: FailureMix::Environmental,
        budget_pressure: 0.0,
        grad_l: 0.0,
        urgency: Urgency::Normal,
        suggested_alternatives: Vec::new(),
        rationale: String::new(),
        tried: Vec::new(),
        same_again: false,
    }
}

/// With a language model, only requests whose every word is read are answered here, and only the first time.
#[test]
fn respond_in_full_needs_complete_reading() {
    const READ: &str = "how many files in ~/x";
    let reply = |context| respond_in_full(&context, &MemoryFileSystem::default());
    let perceive = |context| reply(RoleContext::Perceive(Box::new(context)));
    let plan = |context| reply(RoleContext::Plan(Box::new(context)));
    assert!(matches!(perceive(to_perceive(READ)), Some(ReplyBody::Json { .. })));
    assert!(matches!(plan(to_plan(READ, None)), Some(ReplyBody::Recipes { .. })));

    for words in ["how many files in ~/x and why", "delete all logs"] {
        assert_eq!((perceive(to_perceive(words)), plan(to_plan(words, None))), (None, None), "{words}");
    }
    let material = Some("a text".to_owned());
    let clarifications = vec![("Which folder?".to_owned(), "the other".to_owned())];
    assert_eq!(perceive(PerceiveContext { material: material.clone(), ..to_perceive(READ) }), None);
    assert_eq!(perceive(PerceiveContext { clarifications, ..to_perceive(READ) }), None);
    let with_material = to_plan(READ, None);
    let spec = TaskSpec { material, ..with_material.spec };
    assert_eq!(plan(PlanContext { spec, ..with_material }), None);
    assert_eq!(plan(PlanContext { problems: vec!["too long".to_owned()], ..to_plan(READ, None) }), None);
    assert_eq!(plan(to_plan(READ, Some(directive()))), None);
    assert_eq!(reply(RoleContext::WordRule("a rule".to_owned())), None);
}
