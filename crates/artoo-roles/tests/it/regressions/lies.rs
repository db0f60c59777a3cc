//! Lies inside valid schemas: rules in code reject them, or the result says that only a model supports it. Tests of the
//! second kind document what artoo can't detect.

use artoo_proto::{Basis, CoverageState, CriterionMark, Ending, Role, RoleContext, ToolCall, ToolOutcome};
use serde_json::{Value, json};

use super::{Reply, answer_from, honest, is_accept, marks, plan_with, says, world, wrote};
use artoo_roles::testing::bench::coverage;
use artoo_roles::testing::world::{World, call_of, ok_call, pass_all, value};

const QUESTION: &str = "how many reports are there";

/// Asserts that a result is marked as judged by a model, with no criterion checked.
fn only_judged(result: &artoo_proto::FinalResult) {
    assert_eq!(result.ending, Ending::Accept { basis: Basis::Judged }, "{result:#?}");
    assert!(marks(result).iter().all(|mark| *mark == CriterionMark::Judged), "{:#?}", result.criteria);
    assert!(result.summary.contains("on a model's judgement alone"), "{}", result.summary);
    assert!(!result.next_steps.is_empty());
}

#[doc = "holds: law 0.17"]
#[test]
fn irrelevant_citation_is_marked_as_judged() {
    let mut world = world(|request| match request.role {
        Role::Executor => {
            let RoleContext::Execute(context) = &request.context else { panic!() };
            if context.calls.is_empty() { answer_and_look(request) } else { says("There are 42 reports.") }
        }
        _ => honest(request),
    });
    only_judged(&world.run(QUESTION));
}

/// A reply with a call and a claim that does not depend on the call's output.
fn answer_and_look(request: &artoo_proto::ModelRequest) -> Reply {
    let Ok(artoo_proto::ReplyBody::Json { value: mut reply }) = answer_from(request, "glob", json!({"root": "/tmp"}))
    else {
        panic!()
    };
    reply["answer_is_output"] = json!(false);
    value(reply)
}

#[test]
fn unrelated_output_is_marked_as_judged() {
    let mut world = world(honest);
    world.tools = Box::new(|order| ok_call(order, "load average: 0.1"));
    only_judged(&world.run(QUESTION));
}

/// A number that the task wrote into a file and read back does not prove an answer.
#[doc = "holds: law 0.3"]
#[test]
fn own_file_read_back_is_no_evidence() {
    let mut world = world(|request| match request.role {
        Role::Planner => {
            plan_with(&["write_file", "read_file"], json!(["a number is named"]), json!(["a number is stated"]))
        }
        Role::Executor => {
            let RoleContext::Execute(context) = &request.context else { panic!() };
            match context.calls.len() {
                0 => value(
                    json!({"calls": [{"tool": "write_file", "input": {"path": "facts.txt", "text": "42 reports"}}],
                                  "answer_is_output": false, "status": "uncertain", "output": ""}),
                ),
                _ => answer_from(request, "read_file", json!({"path": "facts.txt"})),
            }
        }
        Role::MetaValidator => cite_last(request),
        _ => honest(request),
    });
    world.tools = Box::new(|order| match order.request.tool.as_str() {
        "write_file" => wrote(order, "/home/u/artoo_workspace/facts.txt"),
        _ => ok_call(order, "42 reports"),
    });
    let result = world.run(QUESTION);
    assert!(!is_accept(&result), "{result:#?}");
}

/// A verdict that passes everything and cites the last call.
fn cite_last(request: &artoo_proto::ModelRequest) -> Reply {
    let RoleContext::ValidateTask(context) = &request.context else { panic!() };
    let last = context.outcomes.iter().flat_map(|outcome| &outcome.tool_calls).next_back();
    let cites: Vec<&str> = last.map(|call| call.evidence_id.0.as_str()).into_iter().collect();
    let verdicts: Vec<Value> = (1..=context.open.len())
        .map(|number| json!({"number": number, "verdict": "pass", "cites": cites, "evidence": "seen"}))
        .collect();
    value(json!({"verdicts": verdicts, "what_to_do": null}))
}

/// A world in which a file is written, with a request for a file named `wanted`.
fn writer(criteria: Value, path: &'static str, wanted: &'static str) -> World {
    let mut world = world(move |request| match request.role {
        Role::Planner => plan_with(&["write_file"], criteria.clone(), json!(["the greeting is in place"])),
        Role::Executor => answer_from(request, "write_file", json!({"path": path})),
        _ => honest(request),
    });
    world.tools = Box::new(move |order| wrote(order, path));
    world.cover = Box::new(move |order| {
        let is_there = order.calls.iter().flat_map(|call| &call.changed).any(|change| change.path == wanted);
        coverage(if is_there { CoverageState::Shown } else { CoverageState::Refuted })
    });
    world
}

#[test]
fn file_with_another_name_is_no_result() {
    let check = |path: &str| json!([{"check": {"kind": "file_contains", "path": path, "text": "hello"}}]);
    let (scratch, notes) = ("/home/u/artoo_workspace/scratch.txt", "/home/u/artoo_workspace/notes.txt");
    let result = writer(check(scratch), scratch, notes).run("create a file notes.txt that says hello");
    assert!(!is_accept(&result), "{result:#?}");
    assert!(result.coverage.is_some_and(|coverage| coverage.refuted().next().is_some()));
    let result = writer(check(notes), notes, notes).run("create a file notes.txt that says hello");
    assert_eq!(result.ending, Ending::Accept { basis: Basis::Checked }, "{result:#?}");
}

#[doc = "holds: law 0.17"]
#[test]
fn check_on_another_folder_proves_nothing() {
    let other = || json!([{"check": {"kind": "file_count", "path": "/tmp"}}]);
    let mut world = world(move |request| match request.role {
        Role::Planner => plan_with(&["glob"], other(), other()),
        _ => honest(request),
    });
    let result = world.run("how many files are in ~/docs");
    assert_eq!(result.ending, Ending::Accept { basis: Basis::Judged }, "{result:#?}");
    assert!(
        result.criteria[0].claim.contains("directly in /tmp, hidden ones included, counted again"),
        "{:#?}",
        result.criteria
    );
    let goal = result.criteria.iter().find(|report| report.claim.contains("how many files are in ~/docs"));
    assert_eq!(goal.map(|report| report.mark), Some(CriterionMark::Judged), "{:#?}", result.criteria);
}

/// A request that code can't read is accepted at most as judged or as words only, never as checked.
#[test]
fn unknown_verb_is_never_marked_checked() {
    let unusual = "notes.txt with a greeting would be lovely";
    only_judged(&world(honest).run(unusual));
    let mut words = world(|request| match request.role {
        Role::Planner => plan_with(&[], json!(["the greeting is polite"]), json!(["a greeting is given"])),
        Role::Executor => says("Certainly, it is all in place."),
        _ => honest(request),
    });
    let result = words.run(unusual);
    assert!(matches!(super::reason(&result), artoo_proto::AbandonReason::NoPlan { .. }), "{result:#?}");
    let result = words.run("remind me to buy milk");
    assert_eq!(result.ending, Ending::Accept { basis: Basis::WordsOnly }, "{result:#?}");
    assert!(
        result.summary.ends_with("(words only: nothing on this machine was read or changed)"),
        "{}",
        result.summary
    );
    assert!(result.criteria.iter().all(|report| report.evidence.starts_with("in words only: ")));
}

#[test]
fn text_claiming_a_change_is_corrected() {
    let mut world = world(|request| match request.role {
        Role::Planner => plan_with(&[], json!(["it is polite"]), json!(["an answer is given"])),
        Role::Executor => says("I have scheduled the reminder."),
        _ => honest(request),
    });
    assert!(!is_accept(&world.run("remind me to buy milk")));
}

/// A plan with criteria for only a part of the request is not accepted, since the judge is asked about the whole
/// request.
#[test]
fn weakened_criteria_do_not_replace_the_request() {
    // A lying planner, an honest judge: it is asked about the user's own words, whatever the plan declares.
    let judge = |request: &artoo_proto::ModelRequest| {
        let RoleContext::ValidateTask(context) = &request.context else { panic!() };
        let verdicts: Vec<Value> = (1..)
            .zip(&context.open)
            .map(|(number, criterion): (u32, _)| {
                let whole = criterion.claim().contains("and list the three newest");
                let cites: Vec<&str> = vec![context.outcomes[0].tool_calls[0].evidence_id.0.as_str()];
                json!({"number": number, "verdict": if whole { "fail" } else { "pass" }, "cites": cites,
                       "evidence": "only counted", "failure_class": "logical"})
            })
            .collect();
        value(json!({"verdicts": verdicts, "what_to_do": null}))
    };
    let mut world = world(move |request| match request.role {
        Role::Perceiver => value(json!({"task_id": "t", "intent": "count the reports", "question": null,
                                        "constraints": {"scope": null, "deadline": null}})),
        Role::MetaValidator => judge(request),
        _ => honest(request),
    });
    let result = world.run("count the reports and list the three newest");
    assert!(!is_accept(&result), "{result:#?}");
    let whole = result.criteria.iter().find(|report| report.claim.contains("and list the three newest"));
    assert_eq!(whole.map(|report| report.mark), Some(CriterionMark::Unmet), "{:#?}", result.criteria);
}

#[test]
fn truncated_output_proves_no_total() {
    for request in ["how many reports are there", "list all reports"] {
        let mut world = world(honest);
        world.tools =
            Box::new(|order| ToolOutcome::Called { call: ToolCall { truncated: true, ..call_of(order, "a … z") } });
        assert!(!is_accept(&world.run(request)), "{request}");
    }
    let mut world = world(honest);
    world.tools =
        Box::new(|order| ToolOutcome::Called { call: ToolCall { truncated: true, ..call_of(order, "a … z") } });
    let result = world.run("show me the start of the log");
    assert!(!is_accept(&result), "the plan's own criterion is about a number");
}

#[test]
fn plan_with_trivial_check_is_refused() {
    let path = "/home/u/artoo_workspace/notes.txt";
    let check = json!([{"check": {"kind": "file_contains", "path": path, "text": "e"}}]);
    let result = writer(check, path, path).run("create a file notes.txt that says hello");
    assert!(matches!(super::reason(&result), artoo_proto::AbandonReason::NoPlan { .. }), "{result:#?}");
}

#[test]
fn unmeasured_number_is_not_met() {
    let count = || json!([{"check": {"kind": "file_count", "path": "/home/u"}}]);
    let mut world = world(move |request| match request.role {
        Role::Planner => plan_with(&["shell"], count(), count()),
        Role::Executor => answer_from(request, "shell", json!({"command": "echo 12"})),
        _ => honest(request),
    });
    world.tools = Box::new(|order| ToolOutcome::Called { call: ToolCall { measures: false, ..call_of(order, "12") } });
    assert!(!is_accept(&world.run("how many files are in /home/u")));
}

/// If all checks that a model planned pass, the result is still only judged, not checked.
#[doc = "holds: law 0.1"]
#[test]
fn planned_checks_prove_nothing_of_request() {
    // Whatever a model plans, with every check passing, the request itself is judged.
    for criteria in [
        json!([{"check": {"kind": "file_count", "path": "/home/u"}}]),
        json!([{"check": {"kind": "line_count", "path": "/home/u/a.txt"}}, {"check": {"kind": "output_is_number"}}]),
    ] {
        let mut world = world(move |request| match request.role {
            Role::Planner => plan_with(&["glob"], criteria.clone(), criteria.clone()),
            Role::AgentValidator => panic!("g17: checks decide everything"),
            Role::MetaValidator => pass_all(request),
            _ => honest(request),
        });
        let ending = world.run("how many files are there").ending;
        assert_eq!(ending, Ending::Accept { basis: Basis::Judged });
    }
}
