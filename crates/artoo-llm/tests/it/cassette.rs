//! Tests of cassettes: replay of recorded replies, keys of requests, and invalid files.

use artoo_llm::Model;
use artoo_llm::cassette::{CassetteError, Masks, Player};
use artoo_llm::scripted::{Script, Scripted};
use artoo_proto::{Abstention, ModelFailure, ReplyBody, Role, Usage};
use serde_json::{Value, json};

use crate::recorder::Recorder;
use crate::{kind, request, value};

/// A scripted model that answers, fails or abstains as the prompt says.
fn model() -> Scripted {
    let calls = std::sync::atomic::AtomicU64::new(0);
    Scripted::new(move |request| match request.prompt.user.as_str() {
        "fail" => Script::Fail(ModelFailure::Cut { detail: "early".to_owned(), usage: Usage::default() }),
        "abstain" => Script::Body(ReplyBody::Abstain {
            abstention: Abstention {
                understood: String::new(),
                not_understood: vec![],
                remedy: String::new(),
                offer: None,
            },
        }),
        _ => Script::Json(json!({"tool": calls.fetch_add(1, std::sync::atomic::Ordering::Relaxed).to_string()})),
    })
}

/// Replaying a cassette gives the recorded replies in order, also in another folder and with other ids.
#[tokio::test]
async fn replay_repeats_the_recording_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    let masks = || Masks::default().and("/tmp/run-1", "<folder>").and("/tmp/run-2", "<folder>");
    let recorder = Recorder::append(model(), &path, masks());
    let at = |folder: &str, id: &str| request(&format!("in {folder}, task {id}, 2026-02-03T04:05:06.7Z"));
    let first = at("/tmp/run-1", "67e55044-10b1-426f-9247-bb680e5fe0c8");
    let live = [recorder.ask(&first).await, recorder.ask(&first).await, recorder.ask(&request("fail")).await];
    recorder.ask(&request("abstain")).await.unwrap();
    assert_eq!(recorder.finish(), 3);

    let player = Player::open(&path, masks()).unwrap();
    let later = at("/tmp/run-2", "00000000-10b1-426f-9247-bb680e5fe0c8");
    let replayed = [player.ask(&later).await, player.ask(&later).await, player.ask(&request("fail")).await];
    assert_eq!(replayed, live);
    assert_eq!(player.unplayed(), 0);
    assert_eq!(value(replayed[1].as_ref().unwrap()), &json!({"tool": "1"}));
    for missing in [later, request("abstain"), request("other")] {
        assert_eq!(kind(&player.ask(&missing).await.unwrap_err()), "not recorded");
    }
}

/// The key of a recorded request depends on its role, schema name and prompt, not on its token limit.
#[tokio::test]
async fn key_depends_on_role_schema_and_prompt() {
    let key = |change: &dyn Fn(&mut artoo_proto::ModelRequest)| {
        let mut request = request("list");
        change(&mut request);
        Masks::default().key(&request)
    };
    let base = key(&|_| {});
    assert_eq!(base.len(), 64);
    assert_eq!(base, key(&|request| request.max_tokens = 1));
    assert_ne!(base, key(&|request| request.role = Role::Planner));
    assert_ne!(base, key(&|request| request.schema_name = "plan".to_owned()));
    assert_ne!(base, key(&|request| request.prompt.user = "list ".to_owned()));
    assert_ne!(base, key(&|request| request.prompt.system = String::new()));
    let moved = key(&|request| {
        request.prompt.system = "You call tools.l".to_owned();
        request.prompt.user = "ist".to_owned();
    });
    assert_ne!(base, moved);
}

/// A line of a cassette with this reply or failure for the request `list`.
fn line(reply: Option<&Value>, failure: Option<&Value>) -> String {
    let mut entry = json!({"key": Masks::default().key(&request("list")), "role": "executor", "schema_name": "s"});
    for (name, part) in [("reply", reply), ("failure", failure)] {
        if let Some(part) = part {
            entry[name] = part.clone();
        }
    }
    entry.to_string()
}

/// A recorded reply with this body.
fn reply_of(body: &Value) -> Value {
    json!({"body": body, "usage": {"model_calls": 1, "prompt_tokens": 1, "completion_tokens": 1}, "model": "m"})
}

/// Cassette lines that are not valid, or that hold recipes, are refused.
#[test]
fn cassette_with_recipes_is_refused() {
    let check = |text: &str, expected: &str| {
        let ended = match Player::from_lines(text, Masks::default()).map(|player| player.unplayed()) {
            Ok(entries) => format!("{entries} entries"),
            Err(CassetteError::NotJson { line }) => format!("not JSON at {line}"),
            Err(CassetteError::NotOneOutcome { line }) => format!("not one outcome at {line}"),
            Err(CassetteError::Line { line, .. }) => format!("no entry at {line}"),
            Err(CassetteError::File { .. }) => "file".to_owned(),
        };
        assert_eq!(ended, expected, "{text}");
    };
    let good = line(Some(&reply_of(&json!({"kind": "json", "value": {"tool": "ls"}}))), None);
    let recipes = json!({"kind": "recipes", "plan": {"subtasks": [], "task_criteria": [], "assumptions": []}});
    let abstain = json!({"kind": "abstain", "abstention": {"understood": "", "not_understood": [], "remedy": ""}});
    let failure = json!({"kind": "cancelled"});
    check("", "0 entries");
    check(&format!("{good}\n\n{good}\n"), "2 entries");
    check(&format!("{good}\n{}", line(Some(&reply_of(&recipes)), None)), "not JSON at 2");
    check(&line(Some(&reply_of(&abstain)), None), "not JSON at 1");
    check(&line(None, Some(&failure)), "1 entries");
    check(&line(None, None), "not one outcome at 1");
    check(&line(Some(&reply_of(&json!({"kind": "json", "value": 1}))), Some(&failure)), "not one outcome at 1");
    check(&format!("{good}\n{{\"key\":"), "no entry at 2");
    check(&good.replacen('{', "{\"extra\":1,", 1), "no entry at 1");
}

/// A recorded reply that no longer fits the request's schema is an unreadable reply.
#[tokio::test]
async fn stale_recording_is_unreadable() {
    let stale = line(Some(&reply_of(&json!({"kind": "json", "value": {"name": "ls"}}))), None);
    let player = Player::from_lines(&stale, Masks::default()).unwrap();
    assert_eq!(kind(&player.ask(&request("list")).await.unwrap_err()), "unreadable");
}

#[test]
fn missing_cassette_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let open = Player::open(folder.path().join("none.jsonl"), Masks::default());
    assert!(matches!(open, Err(CassetteError::File { .. })));
}
