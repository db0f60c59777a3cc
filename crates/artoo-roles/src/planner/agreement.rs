//! Tests that the schema of R2's reply and the type that reads it agree.

use artoo_llm::schema::fit;
use artoo_proto::{Check, Criterion, Mode, PlanDraft, ProposedReading, SubtaskDraft};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::prompt;
use crate::agreement::{every_length_is_bounded, text, whatever_fits_is_read, whatever_is_written_fits};
use crate::limits::{
    REPLY_CRITERIA, REPLY_GOAL_CHARS, REPLY_ITEMS, REPLY_PARTS, REPLY_PATH_CHARS, REPLY_READINGS, REPLY_REMARK_CHARS,
    REPLY_SUBTASKS, REPLY_TEXT_CHARS,
};
use crate::testing::world::config;

/// Generates random checks of the kinds that a model may use.
fn checks() -> BoxedStrategy<Check> {
    let path = || text(REPLY_PATH_CHARS);
    let long = || text(REPLY_TEXT_CHARS);
    prop_oneof![
        Just(Check::OutputNotEmpty {}),
        Just(Check::OutputIsNumber {}),
        (0..=255_i32).prop_map(|code| Check::ExitCode { code }),
        path().prop_map(|path| Check::FileExists { path }),
        (path(), long()).prop_map(|(path, text)| Check::FileContains { path, text }),
        (path(), long()).prop_map(|(path, text)| Check::FileEquals { path, text }),
        (path(), text(REPLY_REMARK_CHARS), any::<bool>()).prop_map(|(path, pattern, recursive)| Check::FileCount {
            path,
            pattern,
            recursive
        }),
        path().prop_map(|path| Check::LineCount { path }),
    ]
    .boxed()
}

/// Generates random success criteria in words or with checks.
fn criteria() -> BoxedStrategy<Vec<Criterion>> {
    let mode = prop_oneof![Just(Mode::Verifiable), Just(Mode::Plausible)];
    let prose = (text(REPLY_REMARK_CHARS), mode, any::<bool>()).prop_map(|(text, mode, required)| Criterion::Prose {
        text,
        mode,
        required,
    });
    let checked = (checks(), any::<bool>()).prop_map(|(check, required)| Criterion::Checked { check, required });
    vec(prop_oneof![prose, checked], 1..=REPLY_CRITERIA).boxed()
}

/// Generates random proposed readings: a part of the request with typed checks of what it means.
fn readings() -> BoxedStrategy<ProposedReading> {
    let check = proptest::sample::select(vec![
        json!({"kind": "removed", "place": "~/x", "glob": "*.log", "older_days": 30, "min_bytes": 1, "recursive": true}),
        json!({"kind": "renamed", "from": "a", "to": "b"}),
        json!({"kind": "edited", "path": "a", "op": "set_key", "key": "k", "value": "v", "section": "s"}),
        json!({"kind": "edited", "path": "a", "op": "delete_lines", "blank": true}),
        json!({"kind": "git", "action": "commit", "message": "m", "folder": "~/x"}),
        json!({"kind": "mode_set", "path": "a", "bits": "755"}),
        json!({"kind": "process_gone", "port": 80}),
    ]);
    (1..=REPLY_PARTS, vec(check, 0..=REPLY_READINGS))
        .prop_map(|(clause, checks)| ProposedReading { clause, checks })
        .boxed()
}

/// A criterion as a model writes it; a check is written without a description.
fn written(criterion: &Criterion) -> Value {
    match criterion {
        Criterion::Prose { text, mode, required } => json!({"criterion": text, "mode": mode, "required": required}),
        Criterion::Checked { check, required } => json!({"check": check, "required": required}),
    }
}

/// Criteria as a model writes them.
fn written_all(criteria: &[Criterion]) -> Vec<Value> {
    criteria.iter().map(written).collect()
}

#[doc = "holds: law 3.11; fault L23"]
#[test]
fn planner_schema_agrees_with_its_type() {
    let tools = config(1).tools;
    let schema = prompt::schema(&tools);
    every_length_is_bounded(&schema, &[]);
    every_length_is_bounded(&prompt::schema(&[]), &["/subtasks/*/tools/*"]);
    whatever_fits_is_read::<PlanDraft>(&schema);
    let names: Vec<String> = tools.iter().map(|tool| tool.name.clone()).collect();
    let most = i64::try_from(REPLY_SUBTASKS).unwrap();
    let tools = proptest::sample::subsequence(names.clone(), 0..=names.len());
    let meets = vec(1..=REPLY_PARTS, 0..=REPLY_ITEMS);
    let subtask = (text(REPLY_GOAL_CHARS), text(REPLY_TEXT_CHARS), 1..=most, tools, criteria(), meets).prop_map(
        |(intent, context, sequence, tools, success_criteria, meets)| SubtaskDraft {
            intent,
            context,
            sequence,
            tools,
            success_criteria,
            meets,
        },
    );
    let plans = (criteria(), vec(subtask, 1..=REPLY_SUBTASKS), vec(readings(), 0..=REPLY_READINGS))
        .prop_map(|(task_criteria, subtasks, readings)| PlanDraft { task_criteria, subtasks, readings });
    whatever_is_written_fits(&schema, plans, |plan| {
        let mut value = serde_json::to_value(plan).unwrap();
        value["task_criteria"] = json!(written_all(&plan.task_criteria));
        for (number, subtask) in plan.subtasks.iter().enumerate() {
            value["subtasks"][number]["success_criteria"] = json!(written_all(&subtask.success_criteria));
        }
        value
    });
}

#[test]
fn schema_refuses_internal_and_incomplete_checks() {
    let schema = prompt::schema(&config(1).tools);
    let told = |check: Value| {
        let subtask = json!({"intent": "x", "context": "", "sequence": 1, "tools": [], "success_criteria": ["y"]});
        let plan = json!({"task_criteria": [{"check": check}], "subtasks": [subtask]});
        fit(&plan, &schema).err().map(|misfit| misfit.to_string()).unwrap_or_default()
    };
    assert_eq!(told(json!({"kind": "file_exists", "path": "a"})), "");
    let none = "/task_criteria/0/check fits none of the alternatives";
    assert_eq!(told(json!({"kind": "recompute", "query": {}, "reading": "all is well"})), none);
    assert_eq!(told(json!({"kind": "performed", "act": {}, "reading": "all is well"})), none);
    assert_eq!(told(json!({"kind": "file_contains", "path": "a"})), "/task_criteria/0/check lacks \"text\"");
    let extra = "/task_criteria/0/check has an unknown key \"path\"";
    assert_eq!(told(json!({"kind": "output_is_number", "path": "a"})), extra);
}
