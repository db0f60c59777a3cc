//! Tests of the ledgers of tasks, and of what a person's answers confirm.

use std::path::Path;
use std::sync::{Arc, Mutex};

use artoo_proto::{
    ConsentAnswer, ConsentHash, ConsentOffers, ConsentRequest, ConsentScope, Coverage, CoverageState, Environment,
    FileChange, Message, OfferedReading, ProposedReading, Reading, ReadingAnswer, ReadingRequest, ToolCall,
};
use artoo_tools::{Registry, ToolConfig};
use async_trait::async_trait;
use serde_json::json;

use super::super::perform::{EffectRunner, crashed};
use super::super::{Consent, Operator, Reflex};
use super::{Ledgers, on_a_thread};
use crate::machine::{Completion, CoverOrder, ReadOrder, Work};
use crate::testing::bench::{start, subtask_id, task_id, written};

const SHA256_OF_X: &str = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881";
const REQUEST: &str = "get rid of what is past its time";

/// An operator who gives the same answer to each question, and remembers what was shown with it.
#[derive(Clone)]
struct Person {
    consent: Option<Consent>,
    confirms: bool,
    shown: Arc<Mutex<Vec<Vec<OfferedReading>>>>,
}

impl Person {
    fn new(consent: Option<bool>, confirms: bool) -> Self {
        let consent = consent.map(|by_person| Consent { scope: ConsentScope::Once, by_person });
        Self { consent, confirms, shown: Arc::default() }
    }
}

#[async_trait]
impl Operator for Person {
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

fn runner(home: &Path, operator: impl Operator + 'static) -> Arc<EffectRunner> {
    let home = home.to_str().unwrap().to_owned();
    let workspace = format!("{home}/artoo_workspace");
    let environment = Environment { cwd: home.clone(), home, workspace, os: "linux".to_owned(), utc_offset_s: 0 };
    let tools = Arc::new(Registry::detect(ToolConfig::new(environment.clone())));
    let (model, operator) = (Arc::new(Reflex), Arc::new(operator));
    Arc::new(EffectRunner { model, tools, operator, environment, ledgers: Ledgers::default() })
}

fn order(proposals: Vec<ProposedReading>) -> ReadOrder {
    ReadOrder {
        task_id: task_id(),
        request: REQUEST.to_owned(),
        session: Vec::new(),
        now: start(),
        required: Vec::new(),
        by_required: false,
        proposals,
    }
}

async fn read(runner: &Arc<EffectRunner>, order: ReadOrder) -> Result<Reading, String> {
    let work = Work::Read { order: Box::new(order) };
    let Completion::Read(reading) = Arc::clone(runner).perform(work, REQUEST.to_owned(), None).await else { panic!() };
    reading
}

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

/// A runner whose only task has one reading on offer.
async fn with_an_offer(home: &Path, operator: Person) -> (Arc<EffectRunner>, Vec<OfferedReading>) {
    std::fs::write(home.join("old.log"), "x").unwrap();
    let runner = runner(home, operator);
    let first = read(&runner, order(Vec::new())).await.unwrap();
    assert_eq!((first.unread().count(), first.offered.len()), (1, 0), "{first:?}");
    let checks = vec![json!({"kind": "removed", "paths": ["~/old.log"]})];
    let second = read(&runner, order(vec![ProposedReading { clause: 1, checks }])).await.unwrap();
    assert_eq!(second.offered.len(), 1, "{second:?}");
    (runner, second.offered)
}

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

async fn confirm(runner: &Arc<EffectRunner>, readings: Vec<OfferedReading>) -> bool {
    let request = ReadingRequest { task_id: task_id(), readings };
    match Arc::clone(runner).ask_operator(request.into()).await {
        Some(Message::ReadingAnswer(ReadingAnswer { confirmed, .. })) => confirmed,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_persons_yes_to_the_first_question_confirms_the_readings_shown_with_it() {
    let home = tempfile::tempdir().unwrap();
    let person = Person::new(Some(true), false);
    let (runner, offered) = with_an_offer(home.path(), person.clone()).await;
    assert!(!is_confirmed(&runner).await);
    assert_eq!(ask(&runner).await.readings, offered);
    assert!(is_confirmed(&runner).await);
    assert!(ask(&runner).await.readings.is_empty());
    assert_eq!(*person.shown.lock().unwrap(), [offered, Vec::new()], "shown once in a task");
}

#[tokio::test]
async fn only_a_persons_yes_confirms() {
    for (consent, allowed) in [(None, false), (Some(false), true)] {
        let home = tempfile::tempdir().unwrap();
        let person = Person::new(consent, false);
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
    // Nobody is there: nothing is asked.
    let home = tempfile::tempdir().unwrap();
    let absent = runner(home.path(), super::super::Unattended);
    read(&absent, order(Vec::new())).await.unwrap();
    assert!(!ask(&absent).await.allowed && !confirm(&absent, Vec::new()).await);
}

#[tokio::test]
async fn the_question_about_readings_confirms_all_that_is_on_offer_or_nothing() {
    let home = tempfile::tempdir().unwrap();
    let (runner, offered) = with_an_offer(home.path(), Person::new(None, true)).await;
    let other = vec![OfferedReading { words: "other words".to_owned(), ..offered[0].clone() }];
    for readings in [Vec::new(), other] {
        assert!(!confirm(&runner, readings).await && !is_confirmed(&runner).await);
    }
    assert!(confirm(&runner, offered).await && is_confirmed(&runner).await);
}

#[tokio::test]
async fn readings_that_were_shown_are_not_changed_afterwards() {
    let home = tempfile::tempdir().unwrap();
    let runner = runner(home.path(), Person::new(None, true));
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

#[tokio::test]
async fn a_required_check_that_cannot_be_read_is_an_error() {
    let home = tempfile::tempdir().unwrap();
    let runner = runner(home.path(), Person::new(None, false));
    let required = vec!["nonsense".to_owned()];
    let problem = read(&runner, ReadOrder { required, ..order(Vec::new()) }).await.unwrap_err();
    assert!(problem.contains("nonsense"), "{problem}");
}

#[tokio::test]
async fn without_a_ledger_nothing_is_shown() {
    let home = tempfile::tempdir().unwrap();
    let (runner, offered) = with_an_offer(home.path(), Person::new(Some(true), true)).await;
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

#[test]
fn work_that_panicked_shows_nothing() {
    let read = crashed(&Work::Read { order: Box::new(order(Vec::new())) }, REQUEST);
    assert!(matches!(read, Completion::Read(Err(_))), "{read:?}");
    let covered = crashed(&Work::Cover { order: CoverOrder { task_id: task_id(), calls: Vec::new() } }, REQUEST);
    assert!(matches!(covered, Completion::Covered(coverage) if coverage.rows.len() == 1 && !coverage.is_complete()));
}
