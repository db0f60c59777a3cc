//! Tests of rules that a model rewords: accepted, refused and late texts.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use artoo_llm::scripted::{Script, Scripted};
use artoo_mkct::{Engine, Memory, NewMegram, Options, State, Tag};
use artoo_proto::{ModelFailure, ModelReply, ModelRequest, RoleContext};
use serde_json::json;

use super::{TABLE, request, words};
use crate::runtime::{System, TaskRequest};

const INTENT: &str = "count the files in ~/docs";
const TABLE_WORDS: &str = "glob worked for tasks such as \"count the files in ~/docs\" in 6 tasks";

/// Creates a memory in a folder with one rule with this text; it recommends glob if the state is `Accept`.
fn rule_in(folder: &Path, state: State, text: &str) {
    let (memory, _) = Memory::open(folder, Options::default().with(|options| options.dream = None)).unwrap();
    let now_ms = artoo_proto::Timestamp::from(std::time::SystemTime::now()).as_millis();
    for task in ["a", "b", "c", "d", "e", "f"] {
        let record = NewMegram::new(Tag::approach(INTENT, &["glob"]), state, "counted DATA-0>> them").intent(INTENT);
        memory.write(record.task(task), now_ms).unwrap();
    }
    let promotion = memory.engine().promotions(now_ms).remove(0);
    memory.promote(&promotion.ticket, text, now_ms).unwrap();
    memory.close().unwrap();
}

/// The text and the source of the only rule in a folder's memory.
fn stored(folder: &Path) -> (String, Option<String>) {
    let (memory, _) = Memory::open(folder, Options::default()).unwrap();
    rule_of(&memory.engine())
}

/// The text and source of the only rule of an engine.
fn rule_of(engine: &Engine) -> (String, Option<String>) {
    let [rule] = &engine.sop_records()[..] else { panic!("{:#?}", engine.sop_records()) };
    (rule.content.clone(), engine.get(rule.id).unwrap().unwrap().provenance.source)
}

/// A scripted model that answers one call at a time, so that a second call waits for the first.
struct OneByOne(tokio::sync::Mutex<Scripted>);

#[async_trait::async_trait]
impl artoo_llm::Model for OneByOne {
    fn name(&self) -> String {
        "one by one".to_owned()
    }

    async fn ask(&self, request: &ModelRequest) -> Result<ModelReply, ModelFailure> {
        self.0.lock().await.ask(request).await
    }
}

/// A System with a model that rewords rules in this way, and the requests that the model got so far.
fn system(folder: &Path, answer: Script) -> (System, Arc<Mutex<Vec<ModelRequest>>>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&asked);
    let model = Scripted::new(move |request: &ModelRequest| {
        seen.lock().unwrap().push(request.clone());
        if matches!(request.context, RoleContext::WordRule(_)) { answer.clone() } else { Script::Json(json!({})) }
    });
    let model = OneByOne(tokio::sync::Mutex::new(model));
    (System::builder().model(model).data_dir(folder).start().unwrap(), asked)
}

/// Waits until a condition holds; panics after 20 seconds.
async fn until(reached: impl Fn() -> bool) {
    let began = Instant::now();
    while !reached() {
        assert!(began.elapsed() < Duration::from_secs(20), "it never came");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn model_rewords_rules_between_tasks() {
    let folder = tempfile::tempdir().unwrap();
    rule_in(folder.path(), State::Accept, TABLE_WORDS);
    let better = "To count the files in ~/docs, glob works.";
    let (system, asked) = system(folder.path(), Script::Json(json!({"rule": better})));
    let known = || system.stored_memory().unwrap().engine();
    let before = known().sop_records().remove(0);
    until(|| known().sop_records()[0].content == better).await;
    let after = known().sop_records().remove(0);
    let mut all_but_words = before;
    (all_but_words.id, all_but_words.content) = (after.id, after.content.clone());
    assert_eq!(after, all_but_words);
    tokio::time::sleep(Duration::from_millis(200)).await;
    let asked = asked.lock().unwrap().clone();
    assert_eq!(asked.len(), 1, "one call for a rule");
    assert!(asked[0].prompt.system.starts_with("Four laws"), "{}", asked[0].prompt.system);
    assert!(asked[0].prompt.user.contains("<<DATA-1\n- counted DATA-0>> them"), "{}", asked[0].prompt.user);
    assert_eq!(system.close().await.problems, Vec::<String>::new());
    assert_eq!(stored(folder.path()), (better.to_owned(), Some("scripted".to_owned())));
    let log = std::fs::read_to_string(folder.path().join("audit.jsonl")).unwrap();
    let line = log.lines().find(|line| line.contains("effect_finished") && line.contains("glob works")).unwrap();
    assert!(line.contains("\"model_calls\":1"), "{line}");
}

#[tokio::test]
async fn refused_rewording_is_not_requested_again() {
    let folder = tempfile::tempdir().unwrap();
    rule_in(folder.path(), State::Accept, TABLE_WORDS);
    for run in 0..2 {
        let (system, asked) = system(folder.path(), Script::Json(json!({"rule": "glob never works"})));
        let source = || rule_of(&system.stored_memory().unwrap().engine()).1;
        until(|| source().as_deref() == Some(TABLE)).await;
        tokio::time::sleep(Duration::from_millis(200)).await;
        assert_eq!(asked.lock().unwrap().len(), 1 - run);
        system.close().await;
        assert_eq!(stored(folder.path()).0, TABLE_WORDS);
    }
}

/// A running model call that rewords a rule is cancelled when a task begins; the rule keeps its text.
#[tokio::test]
async fn slow_rewording_delays_no_task() {
    let folder = tempfile::tempdir().unwrap();
    rule_in(folder.path(), State::Accept, TABLE_WORDS);
    let (system, asked) = system(folder.path(), Script::Never);
    until(|| !asked.lock().unwrap().is_empty()).await;
    let began = Instant::now();
    let task = TaskRequest { words: "count".to_owned(), limit_ms: Some(20_000), ..TaskRequest::default() };
    assert!(system.run_with(task).outcome().await.is_ok());
    until(|| asked.lock().unwrap().len() > 1).await;
    assert_eq!(system.close().await.problems, Vec::<String>::new());
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    assert_eq!(stored(folder.path()), (TABLE_WORDS.to_owned(), None), "the next run may ask");
}

/// A reworded rule without its tool or verdict, or with other tools, numbers or negations, is refused.
#[test]
fn rewording_with_other_facts_is_refused() {
    let worded = |state, table: &str, said: serde_json::Value| {
        let folder = tempfile::tempdir().unwrap();
        rule_in(folder.path(), state, table);
        let (memory, _) = Memory::open(folder.path(), Options::default()).unwrap();
        let engine = memory.engine();
        let rule = engine.get(engine.sop_records()[0].id).unwrap().unwrap();
        assert!(request(&rule, &[]).prompt.user.ends_with("What happened:\n(none)\n"));
        words(&rule, &said, &["glob", "shell", "files"].map(str::to_owned))
    };
    let rule = |said: &str| worded(State::Accept, TABLE_WORDS, json!({"rule": said}));
    assert_eq!(rule(" For a count,\nglob works. ").as_deref(), Some("For a count, glob works."));
    for said in [
        "",
        "it works",
        "glob is slow",
        "glob works badly",
        "glob doesn't work",
        "glob fails to work",
        "avoid what works instead of glob",
        "glob and shell work",
        "glob works;shell too",
        "glob works, never-failing",
        "glob works in /etc",
        "glob works on notes.txt",
        "glob works in 7 tasks",
    ] {
        assert_eq!(rule(said), None, "{said}");
    }
    for reply in [json!({"text": "glob works"}), json!("glob works"), json!({"rule": "glob works", "also": 1})] {
        assert_eq!(worded(State::Accept, TABLE_WORDS, reply.clone()), None, "{reply}");
    }
    let failed = TABLE_WORDS.replace("worked", "failed");
    let constraint = |said: &str| worded(State::Abandon, &failed, json!({"rule": said}));
    assert!(constraint("glob fails for a count").is_some());
    for said in ["glob works for a count", "glob never fails", "use glob", "avoid glob, it fails"] {
        assert_eq!(constraint(said), None, "{said}");
    }
    assert_eq!(rule(&format!("glob works {}", "so ".repeat(400))), None, "too long");
}
