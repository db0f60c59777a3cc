//! The tasks of the weak-model tests: a job, and for each role the weak model or a script.

use std::sync::Arc;

use serde_json::{Value, json};

use super::jobs::{self, Hands, Job};
use crate::server::{ReceivedRequest, Reply, call, pass, prose, said, understood};

/// Which roles of a task the weak model plays, and what it is tested for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The weak model answers every role.
    AllWeak,
    /// The weak model restates the request; plan and calls are good, the judge passes everything.
    Reads,
    /// The weak model makes the calls of a good plan; the judge passes everything.
    Acts,
    /// It judges right calls behind a good plan.
    Judges,
    /// It judges a wrong result that a check in code looks at.
    Planted,
    /// It judges a wrong result that no check looks at.
    Unchecked,
}

/// A task of the weak-model tests: a job, and which roles the weak model plays; a script plays the others.
pub(crate) struct Task {
    pub(crate) kind: Kind,
    pub(crate) job: Job,
    pub(crate) detail: &'static str,
    /// The roles that the weak model answers, by the names of their schemas.
    pub(crate) weak: &'static [&'static str],
    plan: Value,
    hands: Hands,
}

impl Task {
    /// The name of the task in the report.
    pub(crate) fn name(&self) -> String {
        let detail = if self.detail.is_empty() { self.job.what } else { self.detail };
        format!("{:?}: {detail}", self.kind)
    }

    /// The script's reply for a role that the weak model does not play.
    pub(crate) fn scripted(&self, asked: &ReceivedRequest) -> Reply {
        match asked.schema.as_str() {
            "task_spec" => understood(self.job.request),
            "plan" => Reply::Json(self.plan.clone()),
            "execution" => (self.hands)(asked),
            _ => pass(asked, &asked.evidence()),
        }
    }
}

/// All tasks of the weak-model tests; their plans are good unless the weak model makes the plan.
pub(crate) fn all() -> Vec<Task> {
    let mut tasks: Vec<Task> = [jobs::count_text(), jobs::greet(), jobs::largest()].into_iter().map(all_weak).collect();
    tasks.extend(checkable().map(reads));
    tasks.extend([jobs::count_text(), jobs::greet(), jobs::note()].map(acts));
    tasks.extend(judged().map(judges));
    tasks.push(judges_alone(jobs::list_markdown()));
    tasks.extend(planted());
    tasks
}

/// Jobs whose results a check decides.
fn checkable() -> [Job; 14] {
    [
        jobs::count_text(),
        jobs::count_pdf(),
        jobs::count_notes(),
        jobs::count_markdown(),
        jobs::count_binaries(),
        jobs::count_below(),
        jobs::count_note_lines(),
        jobs::count_lines(),
        jobs::greet(),
        jobs::note(),
        jobs::motto(),
        jobs::address(),
        jobs::list(),
        jobs::report(),
    ]
}

/// The checkable jobs whose results the weak model judges.
fn judged() -> [Job; 9] {
    [
        jobs::count_text(),
        jobs::count_pdf(),
        jobs::count_notes(),
        jobs::count_lines(),
        jobs::greet(),
        jobs::note(),
        jobs::address(),
        jobs::list(),
        jobs::report(),
    ]
}

/// A task in which the weak model plays every role.
fn all_weak(job: Job) -> Task {
    let weak = &["task_spec", "plan", "execution", "subtask_verdict", "task_verdict"];
    Task { kind: Kind::AllWeak, plan: Value::Null, hands: Arc::clone(&job.right), weak, detail: "", job }
}

/// A task in which the weak model restates the request.
fn reads(job: Job) -> Task {
    let plan = job.plan(None, &prose("it is what the user named"));
    Task { kind: Kind::Reads, plan, hands: Arc::clone(&job.right), weak: &["task_spec"], detail: "", job }
}

/// A task in which the weak model carries out the step.
fn acts(job: Job) -> Task {
    let plan = job.plan(None, &prose("it is what the user named"));
    Task { kind: Kind::Acts, plan, hands: Arc::clone(&job.right), weak: &["execution"], detail: "", job }
}

/// A task in which the weak model only judges the whole result.
fn judges(job: Job) -> Task {
    let plan = job.plan(None, &job.check());
    Task { kind: Kind::Judges, plan, hands: Arc::clone(&job.right), weak: &["task_verdict"], detail: "", job }
}

/// A task in which the weak model judges steps and whole, and no check supports its verdict.
pub(super) fn judges_alone(job: Job) -> Task {
    let plan = job.plan(None, &prose("it is a list of paths"));
    let weak = &["subtask_verdict", "task_verdict"];
    Task { kind: Kind::Judges, plan, hands: Arc::clone(&job.right), weak, detail: "", job }
}

/// Tasks whose result is wrong on purpose: the weak model judges the step and a check the whole, or the reverse; in the
/// last, no check looks at it.
fn planted() -> Vec<Task> {
    let plant = |detail, job: Job, step: Option<&Value>, whole: &Value, hands: fn(&ReceivedRequest) -> Reply| {
        let (plan, weak): (_, &[&str]) = (job.plan(step, whole), &["subtask_verdict", "task_verdict"]);
        Task { kind: Kind::Planted, plan, hands: Arc::new(hands), weak, detail, job }
    };
    let seen = prose("the answer comes from the call itself");
    // The step rests on the weak model's word, the whole on a check.
    let behind_check = |detail, job: Job, hands| {
        let check = job.check();
        plant(detail, job, Some(&seen), &check, hands)
    };
    let unchecked = plant("a wrong name", jobs::largest(), None, &prose("it is one name"), |asked| {
        then_says(asked, jobs::sizes(asked), "paper.PDF")
    });
    vec![
        behind_check("a wrong number", jobs::count_text(), |asked| then_says(asked, jobs::globbed("*.txt"), "12")),
        behind_check("another pattern's number", jobs::count_notes(), |_| jobs::globbed("*.pdf")),
        behind_check("other content", jobs::greet(), |_| jobs::wrote("greeting.txt", "goodbye")),
        behind_check("almost the content", jobs::note(), |_| jobs::wrote("note.txt", "see you at two")),
        behind_check("half a list", jobs::list(), |_| jobs::wrote("shopping.txt", "milk\neggs")),
        behind_check("another file", jobs::address(), |asked| {
            then_says(asked, jobs::wrote("adress.txt", "12 High Street"), "address.txt says 12 High Street")
        }),
        behind_check("another file's lines", jobs::count_note_lines(), |_| {
            call("read_file", &json!({"path": "~/things/note 5.txt", "count": "lines"}))
        }),
        plant("a failed call", jobs::count_lines(), None, &seen, |asked| {
            let gone = call("read_file", &json!({"path": "~/things/gone.log", "count": "lines"}));
            then_says(asked, gone, "9")
        }),
        behind_check("a stale file", jobs::status(), |asked| {
            then_says(asked, jobs::wrote("status-2.txt", "new"), "status.txt says new")
        }),
        Task { kind: Kind::Unchecked, ..unchecked },
    ]
}

/// A reply of the executor: first this call, then the claim of success in these words, whatever the call returned.
fn then_says(asked: &ReceivedRequest, reply: Reply, words: &str) -> Reply {
    let Reply::Json(mut value) = reply else { panic!("a call is JSON") };
    if asked.nth > 0 {
        return said("completed", words);
    }
    value["answer_is_output"] = json!(false);
    Reply::Json(value)
}
