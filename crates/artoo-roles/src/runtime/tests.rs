//! Tests of the runtime with real tools, a real data folder and real clocks; only the model is scripted.

use std::path::Path;

use artoo_llm::scripted::{Script, Scripted};
use artoo_proto::{AbandonReason, Basis, Ending, Environment, FinalResult, ModelRequest, Role, RoleContext};
use serde_json::{Value, json};

use super::{System, TaskRequest};

/// The environment of a machine with this home folder.
pub(super) fn environment(home: &Path) -> Environment {
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    Environment {
        cwd: text(home),
        home: text(home),
        workspace: text(&home.join("artoo_workspace")),
        os: "linux".to_owned(),
        utc_offset_s: 0,
    }
}

/// A model that counts files in a folder, with a check and a cited verdict.
pub(super) fn counting(root: &Path) -> impl Fn(&ModelRequest) -> Script + Send + Sync + use<> {
    let root = root.to_str().unwrap().to_owned();
    move |request| {
        Script::Json(match &request.context {
            RoleContext::Perceive(context) => json!({
                "task_id": "count", "intent": context.raw_input,
                "constraints": {"scope": null, "deadline": null}, "question": null
            }),
            RoleContext::Plan(_) => json!({
                "task_criteria": ["the number of files is stated"],
                "subtasks": [{
                    "intent": "count the files", "context": root, "sequence": 1, "tools": ["glob"],
                    "success_criteria": [{"check": {"kind": "file_count", "path": root, "recursive": true}}]
                }]
            }),
            RoleContext::Execute(_) => json!({
                "calls": [{"tool": "glob", "input": {"root": root, "report": "count"}}],
                "answer_is_output": true, "status": "completed", "output": ""
            }),
            RoleContext::ValidateSubtask(_) => panic!("a real check needs no judge"),
            RoleContext::Word(_) | RoleContext::WordRule(_) => panic!("the task is done"),
            RoleContext::ValidateTask(context) => {
                judgement(context.open.len(), &context.outcomes[0].tool_calls[0].evidence_id.0)
            }
        })
    }
}

/// A verdict that passes every criterion and cites one call.
fn judgement(count: usize, cite: &str) -> Value {
    let pass = |number: usize| json!({"number": number, "verdict": "pass", "cites": [cite], "evidence": "2"});
    json!({"verdicts": (1..=count).map(pass).collect::<Vec<_>>(), "what_to_do": null})
}

/// A home folder with two files in `docs`.
pub(super) fn folder_with_two_files() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join("docs")).unwrap();
    std::fs::write(home.path().join("docs/a.txt"), "a").unwrap();
    std::fs::write(home.path().join("docs/b.txt"), "b").unwrap();
    home
}

/// The reason of an abandoned task.
pub(super) fn reason(result: &FinalResult) -> &AbandonReason {
    let Ending::Abandon { reason, .. } = &result.ending else { panic!("not an abandon: {:?}", result.ending) };
    reason
}

/// A program that embeds artoo gets an answer that was checked on the real files, after three model calls.
#[tokio::test]
async fn embedder_gets_answer_checked_on_files() {
    let home = folder_with_two_files();
    let data = home.path().join(".artoo");
    let system = System::builder()
        .environment(environment(home.path()))
        .model(Scripted::new(counting(&home.path().join("docs"))))
        .data_dir(&data)
        .start()
        .unwrap();
    let mut task = system.run("how many files are in docs");
    let outcome = task.outcome().await.unwrap();
    assert_eq!(outcome.result.ending, Ending::Accept { basis: Basis::Checked }, "{:#?}", outcome.result);
    assert_eq!(outcome.result.output, "2");
    let calls: u32 = outcome.usage.values().map(|usage| usage.model_calls).sum();
    assert_eq!(calls, 3, "facts need no judge: {:?}", outcome.usage);
    assert_eq!(outcome.usage[&Role::Planner].model_calls, 1);

    let closed = system.close().await;
    assert_eq!(closed.problems, Vec::<String>::new());
    assert_eq!(closed.report.unwrap().tasks_observed, 1);
    artoo_audit::verify(&data.join("audit.jsonl")).unwrap();
    let (_journal, frames, _) = artoo_mkct::journal::Journal::open(data.join("memory.journal")).unwrap();
    assert_eq!(frames.len(), 3, "one record for the intent, one for the approach, one to learn a skill from");
}

#[doc = "holds: law 0.7; design B8"]
#[tokio::test]
async fn close_ends_open_task_with_result() {
    let home = folder_with_two_files();
    let system = System::builder()
        .environment(environment(home.path()))
        .model(Scripted::new(|_: &ModelRequest| Script::Never))
        .start()
        .unwrap();
    let mut task = system.run("how many files are in docs");
    system.close().await;
    let result = task.outcome().await.unwrap().result;
    assert_eq!(reason(&result), &AbandonReason::Cancelled);
}

#[doc = "holds: law 3.12; design G20"]
#[tokio::test]
async fn silent_model_ends_at_hard_limit() {
    let home = folder_with_two_files();
    let system = System::builder()
        .environment(environment(home.path()))
        .model(Scripted::new(|_: &ModelRequest| Script::Never))
        .start()
        .unwrap();
    let mut task = system.run_with(TaskRequest {
        words: "how many files are in docs".to_owned(),
        limit_ms: Some(50),
        ..TaskRequest::default()
    });
    assert_eq!(reason(&task.outcome().await.unwrap().result), &AbandonReason::Deadline);
}

#[doc = "holds: design B3"]
#[tokio::test]
async fn panicking_model_fails_only_its_call() {
    let home = folder_with_two_files();
    let docs = home.path().join("docs");
    let count = counting(&docs);
    let model = Scripted::new(move |request: &ModelRequest| {
        if let RoleContext::Perceive(context) = &request.context {
            assert!(!context.raw_input.contains("boom"), "planted panic");
        }
        count(request)
    });
    let system = System::builder().environment(environment(home.path())).model(model).start().unwrap();
    let failed = system.run("boom").outcome().await.unwrap().result;
    assert!(matches!(reason(&failed), AbandonReason::Provider { .. }), "{failed:#?}");
    let fine = system.run("how many files are in docs").outcome().await.unwrap().result;
    assert_eq!(fine.output, "2");
}
