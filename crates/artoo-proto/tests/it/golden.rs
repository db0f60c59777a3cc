//! One envelope of every kind of message, written by hand: each is read, and written back unchanged.
//! Other programs may rely on these files: a change here is a change of the JSON format.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use artoo_proto::{Address, AuditReport, Envelope, Message, MessageId, MessageKind, Role, route};
use serde_json::Value;

/// The folder of the golden files.
fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/messages")
}

/// The name of a kind in JSON, which is also the name of its file.
fn wire_name(kind: MessageKind) -> String {
    serde_json::to_value(kind).unwrap().as_str().unwrap().to_owned()
}

/// Reads a golden file as JSON.
fn read(name: &str) -> Value {
    let path = folder().join(format!("{name}.json"));
    serde_json::from_str(&fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"))).unwrap()
}

/// The envelope in the golden file of a kind.
fn envelope(kind: MessageKind) -> Envelope {
    serde_json::from_value(read(&wire_name(kind))).unwrap_or_else(|error| panic!("{kind}: {error}"))
}

#[test]
fn every_kind_has_a_golden_file() {
    let files: BTreeSet<String> =
        fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    let mut expected: BTreeSet<String> =
        MessageKind::ALL.iter().map(|kind| format!("{}.json", wire_name(*kind))).collect();
    expected.insert("audit_report.json".to_owned());
    assert_eq!(files, expected);
}

#[test]
fn golden_files_round_trip() {
    for kind in MessageKind::ALL {
        let golden = read(&wire_name(*kind));
        let envelope = envelope(*kind);
        assert_eq!(envelope.message.kind(), *kind);
        assert_eq!(serde_json::to_value(&envelope).unwrap(), golden, "{kind}");
    }
    let golden = read("audit_report");
    let report: AuditReport = serde_json::from_value(golden.clone()).unwrap();
    assert_eq!(serde_json::to_value(&report).unwrap(), golden);
}

#[test]
fn golden_files_pass_the_route_check() {
    let ids: BTreeSet<MessageId> = MessageKind::ALL.iter().map(|kind| envelope(*kind).id).collect();
    assert_eq!(ids.len(), MessageKind::ALL.len());
    for kind in MessageKind::ALL {
        let envelope = envelope(*kind);
        let row = route::route(*kind).unwrap();
        assert_eq!(envelope.to, row.to, "{kind}");
        let (task, subtask) = (envelope.message.task_id(), envelope.message.subtask_id());
        assert_eq!(envelope.from, Address::of(row.from, task, subtask), "{kind}");
        assert_eq!(envelope.correlation_id.as_ref(), task, "{kind}");
        match envelope.causation_id {
            Some(cause) => assert!(ids.contains(&cause), "{kind}"),
            None => assert!(matches!(row.from, Role::Operator | Role::Runtime), "{kind}"),
        }
    }
}

/// The golden files contain the field names that the specification gives for each kind of message.
#[doc = "holds: invariant 3"]
#[test]
fn contracts_have_the_specified_names() {
    let check = |kind: MessageKind, names: &[&str]| {
        let golden = read(&wire_name(kind));
        for name in names {
            let mut at = &golden["message"]["content"];
            for step in name.split('.') {
                at = match step.parse::<usize>() {
                    Ok(index) => &at[index],
                    Err(_) => at.get(step).unwrap_or_else(|| panic!("{kind}: no {name} in {at}")),
                };
            }
        }
    };
    use MessageKind as M;
    check(M::TaskSpec, &["task_id", "intent", "constraints.scope", "constraints.deadline", "raw_input"]);
    check(M::Plan, &["task_criteria", "subtasks.0.sequence", "subtasks.0.intent", "subtasks.0.context"]);
    check(M::Plan, &["subtasks.0.success_criteria.0.criterion", "subtasks.0.success_criteria.0.mode"]);
    check(M::SubTask, &["subtask_id", "parent_task_id", "intent", "context", "success_criteria", "sequence"]);
    check(M::ExecutionResult, &["subtask_id", "status", "output", "tool_calls"]);
    check(M::CorrectionSignal, &["what_was_wrong", "what_to_do", "failure_class"]);
    check(M::SubTaskOutcome, &["subtask_id", "parent_task_id", "status", "output", "failure_reason", "tool_calls"]);
    check(M::SubTaskOutcome, &["gap_trajectory.0.attempt", "gap_trajectory.0.score"]);
    check(M::SubTaskOutcome, &["gap_trajectory.0.unmet_criteria", "gap_trajectory.0.failure_class"]);
    check(M::SubTaskOutcome, &["criteria_verdicts.0.criterion", "criteria_verdicts.0.verdict"]);
    check(M::SubTaskOutcome, &["criteria_verdicts.0.failure_class", "criteria_verdicts.0.evidence"]);
    check(M::DispatchManifest, &["task_criteria"]);
    check(M::OutcomeSummary, &["task_id", "merged_output", "summary"]);
    check(M::ReplanRequest, &["task_id", "outcomes", "gap_summary"]);
    check(M::PlanDirective, &["loss.D", "loss.P", "loss.Omega", "loss.L", "directive", "prev_directive"]);
    check(M::PlanDirective, &["blocked_tools", "blocked_targets", "failed_criterion", "failure_class"]);
    check(M::PlanDirective, &["budget_pressure", "grad_l", "rationale"]);
    check(M::FinalResult, &["task_id", "summary", "output", "loss.D", "grad_l", "replans", "directive"]);
    check(M::Megram, &["space", "entity", "content", "state"]);
}

#[test]
fn invalid_messages_are_rejected() {
    let refused = |change: fn(&mut Value)| {
        let mut golden = read("abort");
        change(&mut golden);
        assert!(serde_json::from_value::<Envelope>(golden.clone()).is_err(), "{golden}");
    };
    refused(|golden| golden["message"]["type"] = "abort_everything".into());
    refused(|golden| golden["message"]["type"] = "Abort".into());
    refused(|golden| golden["message"]["type"] = Value::Null);
    refused(|golden| golden["message"]["content"] = Value::Null);
    refused(|golden| golden["message"] = "abort".into());
    refused(|golden| golden["from"]["role"] = "R7".into());
    refused(|golden| golden["id"] = "not a uuid".into());
    refused(|golden| golden["seq"] = (-1).into());
    refused(|golden| golden["message"]["content"]["task_id"] = "../../etc/passwd".into());
    assert!(serde_json::from_str::<Message>(r#"{"type":"abort","type":"plan","content":{}}"#).is_err());
}
