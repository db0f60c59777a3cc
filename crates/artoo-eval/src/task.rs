//! The format of a task set: one JSON object a line with the files to set up, the request and the required end state.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;

use crate::Fault;

/// A request with the folder it starts from and the required end state. All paths are relative to the home folder.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Task {
    pub(crate) id: String,
    pub(crate) kind: String,
    pub(crate) request: String,
    /// Files, folders and links that exist before the run.
    pub(crate) setup: BTreeMap<String, Entry>,
    /// Shell commands that run in the home folder after the setup.
    pub(crate) shell: Option<String>,
    /// Answers to artoo's questions, in order; the last one is repeated. The default is `y`.
    pub(crate) answers: Vec<String>,
    /// Paths that must differ from the setup afterwards; null means that the path is gone. All other paths must be
    /// unchanged.
    pub(crate) changes: BTreeMap<String, Option<Entry>>,
    pub(crate) answer: Answer,
    /// Commands that must print the given text afterwards.
    pub(crate) checks: Vec<Probe>,
    /// Shell commands that do the task and print the answer, for the tests of the task set.
    pub(crate) solution: Option<String>,
    /// What makes the task easy to get wrong.
    pub(crate) trap: Option<String>,
    /// Why the task can't be done; the only right ending is a nonzero exit code with nothing changed.
    pub(crate) impossible: Option<String>,
}

/// A file, folder or symlink that a task sets up or requires: just its text, or its properties.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(crate) enum Entry {
    /// A file with this text. Afterwards a final newline may be missing or added.
    Text(String),
    Node(Node),
}

/// A file, folder or symlink with its properties.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Node {
    pub(crate) text: Option<String>,
    /// How often `text` is repeated in the file.
    pub(crate) times: Option<usize>,
    pub(crate) dir: bool,
    /// The target of a symbolic link, in the setup.
    pub(crate) link: Option<String>,
    /// Permission bits in octal.
    pub(crate) mode: Option<String>,
    /// Age of the file in days, in the setup.
    pub(crate) days: Option<u64>,
    /// Afterwards: the content that this path had before.
    pub(crate) same_as: Option<String>,
    /// Afterwards: the file contains all of these texts.
    pub(crate) holds: Vec<String>,
}

impl Node {
    /// The whole text of the file, repeated as often as given; `None` if no content is given.
    pub(crate) fn content(&self) -> Option<String> {
        self.text.as_ref().map(|text| text.repeat(self.times.unwrap_or(1)))
    }
}

impl Entry {
    /// The entry's properties; a mere text becomes a file with this content.
    pub(crate) fn node(&self) -> Node {
        match self {
            Self::Text(text) => Node { text: Some(text.clone()), ..Node::default() },
            Self::Node(node) => node.clone(),
        }
    }
}

/// The answer that a task requires; all fields given must hold.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Answer {
    /// The only number in the answer.
    pub(crate) number: Option<f64>,
    /// Texts that occur in the answer.
    pub(crate) holds: Vec<String>,
    /// Texts of which at least one occurs in the answer, unless the list is empty.
    pub(crate) any: Vec<String>,
    /// Texts that don't occur in the answer.
    pub(crate) lacks: Vec<String>,
    /// The answer begins with yes or no.
    pub(crate) yes: Option<bool>,
}

/// A check of the end state: a command to run in the home folder, and the output that it must print.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Probe {
    pub(crate) run: String,
    pub(crate) prints: String,
}

/// Reads a task set from its file; an error names the line, or an id used twice.
///
/// # Errors
///
/// If a line is not a task, its kind or request is missing, its id occurs twice, or it has not exactly one of checks
/// and a reason why it is impossible.
pub(crate) fn load(path: &Path) -> Result<Vec<Task>, Fault> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let (mut tasks, mut ids) = (Vec::new(), BTreeSet::new());
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
        let fault = |why: &str| format!("{}:{number}: {why}", path.display());
        let task: Task = serde_json::from_str(line).map_err(|error| fault(&error.to_string()))?;
        if task.kind.is_empty() || task.request.is_empty() || !ids.insert(task.id.clone()) {
            return Err(fault("the kind or the request is missing, or the id occurs twice").into());
        }
        let answer = &task.answer;
        let lists = answer.holds.len() + answer.any.len() + task.changes.len() + task.checks.len();
        let has_check = lists > 0 || answer.number.is_some() || answer.yes.is_some();
        if has_check == task.impossible.is_some() {
            return Err(fault("a task has checks, or says why it is impossible").into());
        }
        tasks.push(task);
    }
    Ok(tasks)
}

/// Tests of the task sets' format and of the checked-in set.
#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::score;
    use crate::world::World;

    /// The tasks of the set in fixtures/eval.
    fn all() -> Vec<Task> {
        load(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/eval/tasks.jsonl"))).unwrap()
    }

    /// The checked-in task set has enough tasks of every kind, traps and impossible ones.
    #[test]
    fn task_set_has_every_kind() {
        let tasks = all();
        let count = |test: fn(&Task) -> bool| tasks.iter().filter(|task| test(task)).count();
        assert!(count(|task| task.impossible.is_none()) >= 60);
        assert!(count(|task| task.trap.is_some()) >= 12);
        assert!(count(|task| task.impossible.is_some()) >= 10);
        let kinds: BTreeSet<&str> = tasks.iter().map(|task| task.kind.as_str()).collect();
        let wanted = "archive config conversions count dedupe delete find git impossible logs move notes permissions rename tables text";
        assert_eq!(kinds.into_iter().collect::<Vec<_>>().join(" "), wanted);
    }

    /// The end state of a right run passes the checks of each task, and the unchanged start state with an empty answer
    /// fails them.
    #[test]
    fn checks_accept_only_solutions() {
        for task in all().iter().filter(|task| task.impossible.is_none()) {
            let world = World::new().unwrap();
            world.prepare(task).unwrap();
            let before = world.snapshot().unwrap();
            assert!(!score(task, &world, &before, "").unwrap().faults.is_empty(), "{} is done already", task.id);
            let answer =
                world.shell(task.solution.as_ref().unwrap()).unwrap_or_else(|fault| panic!("{}: {fault}", task.id));
            let score = score(task, &world, &before, &answer).unwrap();
            assert!(score.faults.is_empty() && !score.is_harmed, "{}: {:?} {answer}", task.id, score.faults);
        }
    }

    #[test]
    fn malformed_tasks_are_rejected() {
        let check = |line: &str, told: &str| {
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(file.path(), format!("# a comment\n{line}\n")).unwrap();
            let error = load(file.path()).map(|tasks| tasks.len()).unwrap_err().to_string();
            assert!(error.contains(told), "{line}: {error}");
        };
        let good = r#"{"id": "a", "kind": "k", "request": "r", "answer": {"number": 1}}"#;
        check(&format!("{good}\n{good}"), ":3: the kind or the request is missing, or the id occurs twice");
        check(r#"{"id": "a", "kind": "k", "request": "r"}"#, ":2: a task has checks, or says why it is impossible");
        check(&good.replace("}}", "}, \"impossible\": \"x\"}"), ":2: a task has checks, or says why");
        check(&good.replace("request", "id"), ":2: duplicate field");
        check(r#"{"id": "a", "kind": "k", "answer": {"number": 1}}"#, ":2: the kind or the request is missing");
        check(&good.replace("number", "nummer"), ":2: unknown field");
    }
}
