//! Tests of the ledgers of tasks, and of readings that the user confirms.

use std::path::Path;
use std::sync::{Arc, Mutex};

use artoo_llm::Model;
use artoo_llm::scripted::{Script, Scripted};
use artoo_proto::{
    ConsentAnswer, ConsentHash, ConsentOffers, ConsentRequest, ConsentScope, Coverage, CoverageState, Environment,
    FileChange, Message, ModelFailure, ModelRequest, OfferedReading, Prompt, ProposedReading, Reading, ReadingAnswer,
    ReadingRequest, Role, RoleContext, ToolCall,
};
use artoo_tools::{Registry, ToolConfig};
use async_trait::async_trait;
use serde_json::json;

use super::super::perform::{EffectRunner, crashed};
use super::super::skills::Skills;
use super::super::{Consent, Operator, Reflex};
use super::{Ledgers, on_a_thread};
use crate::machine::{Completion, CoverOrder, ReadOrder, Work};
use crate::testing::bench::{start, subtask_id, task_id, written};

const SHA256_OF_X: &str = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881";
const REQUEST: &str = "get rid of what is past its time";

/// An operator that gives the same answer to each question, and stores the readings shown with it.
#[derive(Clone)]
struct ScriptedOperator {
    consent: Option<Consent>,
    confirms: bool,
    shown: Arc<Mutex<Vec<Vec<OfferedReading>>>>,
}

impl ScriptedOperator {
    /// An operator that approves as a person (`Some(true)`), approves otherwise (`Some(false)`) or denies (`None`), and
    /// confirms readings if `confirms`.
    fn new(consent: Option<bool>, confirms: bool) -> Self {
        let consent = consent.map(|by_person| Consent { scope: ConsentScope::Once, by_person });
        Self { consent, confirms, shown: Arc::default() }
    }
}

#[async_trait]
impl Operator for ScriptedOperator {
    fn is_present(&self) -> bool {
        true
    }

    async fn consent(&self, request: &ConsentRequest) -> Option<Consent> {
        self.shown.lock().unwrap().push(request.readings.clone());
        self.consent
    }

    async fn clarify(&self, _request: &artoo_proto::ClarificationRequest) -> String {
        String::new()
    }

    async fn confirm_readings(&self, request: &ReadingRequest) -> bool {
        self.shown.lock().unwrap().push(request.readings.clone());
        self.confirms
    }
}

/// An effect runner with this operator and the embedded parser.
fn runner(home: &Path, operator: impl Operator + 'static) -> Arc<EffectRunner> {
    runner_with(home, operator, Arc::new(Reflex), false)
}

/// An effect runner with this operator and model.
fn runner_with(
    home: &Path,
    operator: impl Operator + 'static,
    model: Arc<dyn Model>,
    reflex_first: bool,
) -> Arc<EffectRunner> {
    let home = home.to_str().unwrap().to_owned();
    let workspace = format!("{home}/artoo_workspace");
    let environment = Environment { cwd: home.clone(), home, workspace, os: "linux".to_owned(), utc_offset_s: 0 };
    let tools = Arc::new(Registry::detect(ToolConfig::new(environment.clone())));
    let operator = Arc::new(operator);
    Arc::new(EffectRunner {
        model,
        reflex_first,
        skills: Skills::new(None),
        tools,
        operator,
        environment,
        ledgers: Ledgers::default(),
        records: None,
    })
}

/// An order to read the request, with proposed readings.
fn order(proposals: Vec<ProposedReading>) -> ReadOrder {
    ReadOrder {
        task_id: task_id(),
        request: REQUEST.to_owned(),
        session: Vec::new(),
        now: start(),
        required: Vec::new(),
        by_required: false,
        proposals,
        confirmed: false,
    }
}

/// Runs an order to read the request.
async fn read(runner: &Arc<EffectRunner>, order: ReadOrder) -> Result<Reading, String> {
    let work = Work::Read { order: Box::new(order) };
    let Completion::Read(reading) = Arc::clone(runner).perform(work, REQUEST.to_owned(), None).await else { panic!() };
    reading
}

/// The coverage of the task's request after comparing it with these calls.
async fn compared(runner: &Arc<EffectRunner>, calls: Vec<ToolCall>) -> Coverage {
    let work = Work::Cover { order: CoverOrder { task_id: task_id(), calls } };
    let completion = Arc::clone(runner).perform(work, REQUEST.to_owned(), None).await;
    let Completion::Covered(coverage) = completion else { panic!() };
    coverage
}

/// Whether the coverage has a row from a confirmed reading.
async fn is_confirmed(runner: &Arc<EffectRunner>) -> bool {
    compared(runner, Vec::new()).await.rows.iter().any(|row| row.confirmed)
}

/// A runner with one task that has one offered reading.
async fn with_an_offer(home: &Path, operator: ScriptedOperator) -> (Arc<EffectRunner>, Vec<OfferedReading>) {
    std::fs::write(home.join("old.log"), "x").unwrap();
    let runner = runner(home, operator);
    let first = read(&runner, order(Vec::new())).await.unwrap();
    assert_eq!((first.unread().count(), first.offered.len()), (1, 0), "{first:?}");
    let checks = vec![json!({"kind": "removed", "paths": ["~/old.log"]})];
    let second = read(&runner, order(vec![ProposedReading { clause: 1, checks }])).await.unwrap();
    assert_eq!(second.offered.len(), 1, "{second:?}");
    (runner, second.offered)
}

/// Asks the operator for an approval.
async fn ask(runner: &Arc<EffectRunner>) -> ConsentAnswer {
    let request = ConsentRequest {
        task_id: task_id(),
        subtask_id: subtask_id(1),
        hash: ConsentHash("h".to_owned()),
        shown: "rm ~/old.log".to_owned(),
        effects: Vec::new(),
        details: Vec::new(),
        reason: "rm removes".to_owned(),
        offers: ConsentOffers::default(),
        readings: Vec::new(),
    };
    match Arc::clone(runner).ask_operator(request.into()).await {
        Some(Message::ConsentAnswer(answer)) => answer,
        other => panic!("{other:?}"),
    }
}

/// Asks the operator to confirm readings.
async fn confirm(runner: &Arc<EffectRunner>, readings: Vec<OfferedReading>) -> bool {
    let request = ReadingRequest { task_id: task_id(), readings };
    match Arc::clone(runner).ask_operator(request.into()).await {
        Some(Message::ReadingAnswer(ReadingAnswer { confirmed, .. })) => confirmed,
        other => panic!("{other:?}"),
    }
}

/// A person's approval of a call also confirms the readings shown with it; they are shown only once in a task.
#[tokio::test]
async fn first_approval_confirms_the_shown_readings() {
    let home = tempfile::tempdir().unwrap();
    let person = ScriptedOperator::new(Some(true), false);
    let (runner, offered) = with_an_offer(home.path(), person.clone()).await;
    assert!(!is_confirmed(&runner).await);
    assert_eq!(ask(&runner).await.readings, offered);
    assert!(is_confirmed(&runner).await);
    assert!(ask(&runner).await.readings.is_empty());
    assert_eq!(*person.shown.lock().unwrap(), [offered, Vec::new()], "shown once in a task");
}

/// An approval given by a program, or a denial, confirms no reading.
#[tokio::test]
async fn only_a_persons_approval_confirms() {
    for (consent, allowed) in [(None, false), (Some(false), true)] {
        let home = tempfile::tempdir().unwrap();
        let person = ScriptedOperator::new(consent, false);
        let (runner, offered) = with_an_offer(home.path(), person.clone()).await;
        let answer = ask(&runner).await;
        ask(&runner).await;
        assert_eq!(*person.shown.lock().unwrap(), [offered.clone(), Vec::new()], "shown once in a task");
        assert_eq!((answer.allowed, answer.readings.len()), (allowed, 0));
        assert!(!confirm(&runner, offered).await && !is_confirmed(&runner).await);
        let path = home.path().join("old.log");
        std::fs::remove_file(&path).unwrap();
        let path = path.to_str().unwrap().to_owned();
        let change = FileChange { path, before: Some(SHA256_OF_X.to_owned()), after: None };
        let removed = ToolCall { changed: vec![change], changes_known: true, ..written(1, "old.log") };
        let left = compared(&runner, vec![removed]).await.offered.len();
        assert_eq!(left, usize::from(allowed), "a person's no is not asked for again");
    }
    // Without a user, nothing is asked.
    let home = tempfile::tempdir().unwrap();
    let absent = runner(home.path(), super::super::Unattended);
    read(&absent, order(Vec::new())).await.unwrap();
    assert!(!ask(&absent).await.allowed && !confirm(&absent, Vec::new()).await);
}

/// Offered readings are confirmed only if the question showed all of them to the user; otherwise none is.
#[tokio::test]
async fn reading_question_confirms_all_or_none() {
    let home = tempfile::tempdir().unwrap();
    let (runner, offered) = with_an_offer(home.path(), ScriptedOperator::new(None, true)).await;
    let other = vec![OfferedReading { words: "other words".to_owned(), ..offered[0].clone() }];
    for readings in [Vec::new(), other] {
        assert!(!confirm(&runner, readings).await && !is_confirmed(&runner).await);
    }
    assert!(confirm(&runner, offered).await && is_confirmed(&runner).await);
}

/// After readings were shown to the user, further proposals of a model are not added.
#[tokio::test]
async fn shown_readings_are_not_changed() {
    let home = tempfile::tempdir().unwrap();
    let runner = runner(home.path(), ScriptedOperator::new(None, true));
    std::fs::write(home.path().join("old.log"), "x").unwrap();
    std::fs::write(home.path().join("new.log"), "x").unwrap();
    read(&runner, ReadOrder { request: "get rid of it. Make it nice".to_owned(), ..order(Vec::new()) }).await.unwrap();
    let proposal = |clause, path: &str| {
        order(vec![ProposedReading { clause, checks: vec![json!({"kind": "removed", "paths": [path]})] }])
    };
    let shown = read(&runner, proposal(1, "~/old.log")).await.unwrap();
    ask(&runner).await;
    assert_eq!(read(&runner, proposal(2, "~/new.log")).await.unwrap(), shown);
}

/// Reading a request fails, naming the check, if a check required by the caller can't be read.
#[tokio::test]
async fn unreadable_required_check_is_an_error() {
    let home = tempfile::tempdir().unwrap();
    let runner = runner(home.path(), ScriptedOperator::new(None, false));
    let required = vec!["nonsense".to_owned()];
    let problem = read(&runner, ReadOrder { required, ..order(Vec::new()) }).await.unwrap_err();
    assert!(problem.contains("nonsense"), "{problem}");
}

/// Without a ledger, or after a panic in one, no part of the request counts as shown.
#[tokio::test]
async fn nothing_is_proven_without_ledger() {
    let home = tempfile::tempdir().unwrap();
    let (runner, offered) = with_an_offer(home.path(), ScriptedOperator::new(Some(true), true)).await;
    let covered = || async {
        let order = CoverOrder { task_id: task_id(), calls: Vec::new() };
        let coverage = runner.ledgers.cover(order, REQUEST.to_owned()).await;
        let rows: Vec<_> = coverage.rows.iter().map(|row| (row.span, row.words.clone(), row.state)).collect();
        (rows, coverage.is_complete())
    };
    let nothing = (vec![((0, REQUEST.len()), REQUEST.to_owned(), CoverageState::NotShown)], false);
    let checks = vec![json!({"kind": "removed", "paths": ["~/old.log"]})];
    let proposals = vec![ProposedReading { clause: 1, checks }];

    // A panic leaves the ledger unusable.
    let place = runner.ledgers.place(&task_id(), false);
    assert_eq!(on_a_thread(place, |_| -> u8 { panic!("planted panic") }).await, None);
    assert_eq!(covered().await, nothing);
    assert!(read(&runner, order(proposals.clone())).await.is_err());
    assert!(ask(&runner).await.readings.is_empty() && !confirm(&runner, offered.clone()).await);

    // So does the end of the task, after which the same id begins anew.
    runner.forget(&task_id());
    assert_eq!(covered().await, nothing);
    assert!(read(&runner, order(proposals)).await.is_err());
    assert!(!confirm(&runner, offered).await);
    assert_eq!(read(&runner, order(Vec::new())).await.unwrap().offered.len(), 0);
}

/// If the parser answers first, a question is simulated only when a model plans the task; a change is simulated at
/// once.
#[tokio::test]
async fn questions_are_simulated_when_a_model_plans() {
    let is_simulated = async |request: &str, reflex_first: bool, role: Option<Role>| {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("old.log"), "x").unwrap();
        let model = Arc::new(Scripted::new(|_| Script::Fail(ModelFailure::Cancelled)));
        let runner = runner_with(home.path(), ScriptedOperator::new(None, false), model, reflex_first);
        let first = read(&runner, ReadOrder { request: request.to_owned(), ..order(Vec::new()) }).await.unwrap();
        if let Some(role) = role {
            let work = Work::Model { request: Arc::new(unanswered(role)) };
            drop(Arc::clone(&runner).perform(work, request.to_owned(), None).await);
        }
        (first.simulated, read(&runner, order(Vec::new())).await.unwrap().simulated)
    };
    let (question, act) = ("how many files are in ~", "delete ~/old.log");
    assert_eq!(is_simulated(question, true, None).await, (false, false));
    assert_eq!(is_simulated(question, true, Some(Role::Perceiver)).await, (false, false));
    assert_eq!(is_simulated(question, true, Some(Role::Planner)).await, (false, true));
    assert_eq!(is_simulated(act, true, None).await, (true, true));
    assert_eq!(is_simulated(REQUEST, true, None).await, (true, true));
    assert_eq!(is_simulated(question, false, None).await, (true, true));
}

/// A request for which the embedded parser has no answer.
fn unanswered(role: Role) -> ModelRequest {
    ModelRequest {
        role,
        task_id: task_id(),
        subtask_id: None,
        context: RoleContext::WordRule(String::new()),
        prompt: Prompt { system: String::new(), user: String::new() },
        schema_name: String::new(),
        schema: json!({}),
        max_tokens: 1,
        by_tools: None,
    }
}

/// Reading a request that panics gives an error, and a comparison that panics shows nothing of the request.
#[test]
fn panicked_work_proves_nothing() {
    let read = crashed(&Work::Read { order: Box::new(order(Vec::new())) }, REQUEST);
    assert!(matches!(read, Completion::Read(Err(_))), "{read:?}");
    let covered = crashed(&Work::Cover { order: CoverOrder { task_id: task_id(), calls: Vec::new() } }, REQUEST);
    assert!(matches!(covered, Completion::Covered(coverage) if coverage.rows.len() == 1 && !coverage.is_complete()));
}
