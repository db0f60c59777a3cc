//! Tests of skills over repeated tasks, with real tools, a real memory, a scripted model and a scripted user.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Instant;

use artoo_llm::scripted::{Script, Scripted};
use artoo_proto::{
    Basis, ConsentRequest, ConsentScope, Ending, FinalResult, ModelRequest, ReadingRequest, RoleContext,
};
use async_trait::async_trait;
use serde_json::{Value, json};

use super::{SkillState, stored_skills};
use crate::runtime::tests::environment;
use crate::runtime::{Consent, Operator, System, open_memory};

const KINDS: &str = include_str!("kinds.txt");
const ARGUMENTS: [&str; 20] = [
    "may", "june", "july", "plan_b", "trip-2", "x1", "oslo", "rome", "lima", "cairo", "delhi", "quito", "paris",
    "accra", "sofia", "minsk", "dakar", "tunis", "amman", "seoul",
];

/// A kind of request for these tests: its words, its check and its shell command, with `{n}` and `{p}` for the argument
/// and the path of its file.
#[derive(Debug, Clone)]
struct Kind {
    request: &'static str,
    check: &'static str,
    command: &'static str,
}

impl Kind {
    /// The kinds of requests in `kinds.txt`.
    fn all() -> Vec<Self> {
        let lines = KINDS.lines().filter(|line| !line.starts_with('#'));
        let kind = |line: &'static str| {
            let [request, check, command] = line.splitn(3, " | ").collect::<Vec<_>>()[..] else { panic!("{line}") };
            Self { request, check, command }
        };
        lines.map(kind).collect()
    }
}

/// An operator that approves every question.
struct ApprovingOperator;

#[async_trait]
impl Operator for ApprovingOperator {
    fn is_present(&self) -> bool {
        true
    }

    async fn consent(&self, _request: &ConsentRequest) -> Option<Consent> {
        Some(Consent { scope: ConsentScope::Once, by_person: true })
    }

    async fn clarify(&self, _request: &artoo_proto::ClarificationRequest) -> String {
        String::new()
    }

    async fn confirm_readings(&self, _request: &ReadingRequest) -> bool {
        true
    }
}

/// A home folder with artoo's data; each run starts a new System, like a new process.
struct Home {
    folder: tempfile::TempDir,
    /// Where the file of an argument is now.
    path: &'static str,
}

/// The result of one run.
struct RunOutput {
    result: FinalResult,
    calls: u32,
}

impl RunOutput {
    /// Whether the result was accepted because facts cover the whole request.
    fn is_covered(&self) -> bool {
        self.result.ending == Ending::Accept { basis: Basis::Checked }
    }
}

impl Home {
    /// A temporary home folder with the files of the arguments.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["notes", "store", "vault", "rooms"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        let home = Self { folder, path: "notes/{n}.txt" };
        home.put();
        home
    }

    /// Writes the files of the arguments.
    fn put(&self) {
        for name in ARGUMENTS {
            let path = self.folder.path().join(self.path.replace("{n}", name));
            fs::write(path, format!("red {name}\nRust\nrust\nblue {name}\nrust\n{name}\n")).unwrap();
        }
    }

    /// Moves the files of the arguments to another folder, so that a learned skill no longer works.
    fn changes(&mut self) {
        fs::remove_dir_all(self.folder.path().join("notes")).unwrap();
        self.path = "store/{n}.md";
        self.put();
    }

    /// The path of artoo's data folder.
    fn data(&self) -> std::path::PathBuf {
        self.folder.path().join(".artoo")
    }

    /// Runs a request of this kind.
    async fn run(&self, kind: &Kind, name: &str) -> RunOutput {
        let fill = |text: &str| text.replace("{p}", self.path).replace("{n}", name);
        let (check, command) = (serde_json::from_str::<Value>(&fill(kind.check)).unwrap(), fill(kind.command));
        let system = System::builder()
            .environment(environment(self.folder.path()))
            .model(Scripted::new(move |request: &ModelRequest| Script::Json(scripted(request, &check, &command))))
            .reflex_first(true)
            .operator(ApprovingOperator)
            .data_dir(self.data())
            .start()
            .unwrap();
        let outcome = system.run(&fill(kind.request)).outcome().await.unwrap();
        let closed = system.close().await;
        assert_eq!(closed.problems, Vec::<String>::new());
        let calls = outcome.usage.values().map(|usage| usage.model_calls).sum();
        RunOutput { result: outcome.result, calls }
    }

    /// Approves every offered skill, like `artoo skills accept`.
    fn approve(&self) {
        let memory = open_memory(&self.data(), false).unwrap();
        let proposals = memory.engine().thinking_proposals();
        let skills = proposals.iter().filter(|proposal| proposal.tag.entity.starts_with("skill:"));
        skills.for_each(|skill| drop(memory.adopt_thinking(skill, now_ms()).unwrap()));
    }
}

/// The current time in Unix milliseconds.
fn now_ms() -> i64 {
    i64::try_from(std::time::UNIX_EPOCH.elapsed().unwrap().as_millis()).unwrap()
}

/// A model that plans one shell command and states the meaning of the request.
fn scripted(request: &ModelRequest, check: &Value, command: &str) -> Value {
    match &request.context {
        RoleContext::Perceive(context) => json!({
            "task_id": "job", "intent": context.raw_input,
            "constraints": {"scope": null, "deadline": null}, "question": null
        }),
        RoleContext::Plan(_) => json!({
            "task_criteria": ["the file of the request was dealt with"],
            "readings": [{"clause": 1, "checks": [check]}],
            "subtasks": [{
                "intent": "run the usual command", "context": "", "sequence": 1, "tools": ["shell"], "meets": [1],
                "success_criteria": ["the command ended with exit code 0"]
            }]
        }),
        RoleContext::Execute(context) if context.calls.is_empty() => json!({
            "calls": [{"tool": "shell", "input": {"command": command}}],
            "answer_is_output": true, "status": "completed", "output": ""
        }),
        RoleContext::Execute(_) => json!({"calls": [], "answer_is_output": true, "status": "completed", "output": ""}),
        RoleContext::ValidateSubtask(context) => {
            let calls = context.result.tool_calls.last();
            judgement(context.open.len(), calls.map_or("none", |call| &call.evidence_id.0))
        }
        RoleContext::ValidateTask(context) => {
            let calls = context.outcomes.iter().flat_map(|outcome| &outcome.tool_calls).last();
            judgement(context.open.len(), calls.map_or("none", |call| &call.evidence_id.0))
        }
        RoleContext::Word(_) | RoleContext::WordRule(_) => json!({}),
    }
}

/// A verdict that passes every criterion and cites one call.
fn judgement(count: usize, cite: &str) -> Value {
    let pass =
        |number: usize| json!({"number": number, "verdict": "pass", "cites": [cite], "evidence": "it ended well"});
    json!({"verdicts": (1..=count).map(pass).collect::<Vec<_>>(), "what_to_do": null})
}

/// All files and folders of a home folder with their mode and content, without artoo's data.
fn tree(home: &Home) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let (root, mut found, mut folders) = (home.folder.path(), BTreeMap::new(), vec![home.folder.path().to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path == home.data() {
                continue;
            }
            let kind = path.symlink_metadata().unwrap();
            let content = match (kind.is_dir(), kind.is_symlink()) {
                (true, _) => Vec::new(),
                (_, true) => {
                    let target = fs::read_link(&path).unwrap();
                    target.to_str().unwrap().replace(root.to_str().unwrap(), "~").into_bytes()
                }
                _ => fs::read(&path).unwrap(),
            };
            folders.extend(kind.is_dir().then(|| path.clone()));
            found.insert(path.strip_prefix(root).unwrap().to_owned(), (kind.permissions().mode(), content));
        }
    }
    found
}

/// Model calls and milliseconds of each run of one kind of request.
#[derive(Default)]
struct RunCounts {
    /// Model calls of each run.
    calls: Vec<u32>,
    millis: Vec<u128>,
}

/// Runs one kind of request twenty times with changing arguments; the files move after the tenth. Each run is compared
/// with the same request in a copy of the home folder where artoo has no skills. Returns each run's model calls and
/// time.
async fn curve(kind: &Kind) -> RunCounts {
    let (mut home, mut twin, mut curve) = (Home::new(), Home::new(), RunCounts::default());
    for (at, name) in ARGUMENTS.iter().enumerate() {
        if at == ARGUMENTS.len() / 2 {
            home.changes();
            twin.changes();
        }
        let begun = Instant::now();
        let ran = home.run(kind, name).await;
        curve.millis.push(begun.elapsed().as_millis());
        curve.calls.push(ran.calls);
        home.approve();
        fs::remove_dir_all(twin.data()).ok();
        let expected = twin.run(kind, name).await;
        assert!(ran.is_covered() && expected.is_covered(), "{kind:?} with {name}: {:#?}", ran.result);
        if !kind.request.contains("birth") {
            let shown =
                |home: &Home, ran: &RunOutput| ran.result.output.replace(home.folder.path().to_str().unwrap(), "~");
            assert_eq!(shown(&home, &ran), shown(&twin, &expected), "{kind:?} with {name}");
        }
        assert_eq!(tree(&home), tree(&twin), "{kind:?} with {name}");
        let by_skill = ran.result.skill.is_some();
        assert_eq!(by_skill, ran.calls == 0, "{kind:?} with {name}");
    }
    // Four contradicted tasks end a skill, and then the model understands the request too. A skill whose meaning can't be
    // met now is not run, so nothing contradicts it.
    let skills = stored_skills(&open_memory(&home.data(), false).unwrap().engine());
    let is_set_aside = skills.iter().any(|skill| skill.state == SkillState::SetAside);
    assert_eq!(is_set_aside, curve.calls[14] == 4, "{kind:?}: {skills:#?}");
    curve
}

/// The model is asked in the first six runs of a kind (every tenth kind without `ARTOO_WHOLE_CURVE`), and in none after
/// that until the files move; then it is asked again by kinds that need a file, and no more in the last run.
#[tokio::test]
async fn skills_answer_learn_fall_back_and_recover() {
    let step = if std::env::var_os("ARTOO_WHOLE_CURVE").is_some() { 1 } else { 10 };
    let kinds: Vec<Kind> = Kind::all().into_iter().step_by(step).collect();
    let mut curves = Vec::new();
    for kind in &kinds {
        let one = curve(kind).await;
        println!("{:28} {:?}", kind.request, one.calls);
        assert!(one.calls[..6].iter().all(|calls| *calls > 0), "{kind:?}: {:?}", one.calls);
        assert_eq!(one.calls[6..10], [0; 4], "{kind:?}");
        // A kind that needs no file continues without the model.
        assert_eq!(one.calls[10] > 0, kind.check.contains("{p}"), "{kind:?}");
        assert_eq!(one.calls[19], 0, "{kind:?}: {:?}", one.calls);
        curves.push(one);
    }
    let mean = |of: &dyn Fn(&RunCounts) -> u128| curves.iter().map(of).sum::<u128>() as f64 / curves.len() as f64;
    for run in 0..ARGUMENTS.len() {
        let (calls, millis) = (mean(&|one| one.calls[run].into()), mean(&|one| one.millis[run]));
        println!("run {:2}: {calls:.2} calls, {millis:.0} ms", run + 1);
    }
}
