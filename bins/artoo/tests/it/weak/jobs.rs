//! The jobs of the weak-model tests: for each a good plan, the right calls, and a test of the result.

use std::sync::Arc;

use serde_json::{Value, json};

use super::claims::TaskEnd;
use crate::server::{ReceivedRequest, Reply, call};

/// A function that plays the executor: it returns the reply whose tool calls carry out a job.
pub(crate) type Hands = Arc<dyn Fn(&ReceivedRequest) -> Reply + Send + Sync>;

/// A job: its request, its plan, its calls, and a test of its result.
pub(crate) struct Job {
    pub(crate) what: &'static str,
    pub(crate) request: &'static str,
    steps: Vec<Step>,
    /// The calls that do it.
    pub(crate) right: Hands,
    /// Whether it is really done, and right; decided from the disk.
    pub(crate) is_right: Box<dyn Fn(&TaskEnd<'_>) -> bool + Send + Sync>,
}

/// A step of a good plan: intent, context, tool, and a check of its result.
struct Step(String, String, &'static str, Value);

/// A step of a good plan for a job.
fn step(intent: impl Into<String>, context: impl Into<String>, tool: &'static str, check: Value) -> Step {
    Step(intent.into(), context.into(), tool, check)
}

impl Job {
    /// The check on which the whole job depends: that of its last step.
    pub(crate) fn check(&self) -> Value {
        self.steps.last().map(|Step(.., check)| check.clone()).unwrap_or_default()
    }

    /// A good plan for the job as JSON: each step has its check (or `instead`), the task the criterion `whole`.
    pub(crate) fn plan(&self, instead: Option<&Value>, whole: &Value) -> Value {
        let steps = (1..).zip(&self.steps).map(|(sequence, Step(intent, context, tool, check)): (u32, _)| {
            json!({"intent": intent, "context": context, "sequence": sequence, "tools": [tool],
                   "success_criteria": [instead.unwrap_or(check)]})
        });
        json!({"task_criteria": [whole], "subtasks": steps.collect::<Vec<Value>>()})
    }
}

/// A job that counts the files of a pattern.
fn counted(what: &'static str, request: &'static str, pattern: &'static str) -> Job {
    Job {
        what,
        request,
        steps: vec![step(
            "search below things and count",
            format!("call glob with root ~/things, pattern {pattern} and report count; its output is the answer"),
            "glob",
            json!({"check": {"kind": "file_count", "path": "~/things", "pattern": pattern, "recursive": true}}),
        )],
        right: Arc::new(move |_| globbed(pattern)),
        is_right: Box::new(move |left| {
            let find = format!("find things -type f -name '{pattern}' -not -path '*/.*' | wc -l");
            left.says(&left.world.shell(&find))
        }),
    }
}

/// A job that counts the lines of `~/things/NAME`.
fn lines(what: &'static str, request: &'static str, intent: &str, name: &'static str) -> Job {
    let path = format!("~/things/{name}");
    Job {
        what,
        request,
        steps: vec![step(
            intent,
            format!("call read_file with path {path} and count lines; its output is the answer"),
            "read_file",
            json!({"check": {"kind": "line_count", "path": path}}),
        )],
        right: Arc::new(move |_| call("read_file", &json!({"path": path, "count": "lines"}))),
        is_right: Box::new(move |left| left.says(&left.world.shell(&format!("wc -l < 'things/{name}'")))),
    }
}

/// A job that writes a text to a file; `told` describes the text in the step's context.
fn put(what: &'static str, request: &'static str, thing: &str, file: (&'static str, &'static str), told: &str) -> Job {
    let (name, text) = file;
    Job {
        what,
        request,
        steps: vec![step(
            format!("put {thing} where it belongs"),
            format!("call write_file with the path {name} and {told}"),
            "write_file",
            exactly(name, text),
        )],
        right: Arc::new(move |_| wrote(name, text)),
        is_right: Box::new(move |left| holds(left, name, text)),
    }
}

/// A job: count the `.txt` files.
pub(crate) fn count_text() -> Job {
    counted("count text files", "how many text files are in ~/things", "*.txt")
}

/// A job: count the `.pdf` files.
pub(crate) fn count_pdf() -> Job {
    counted("count pdf files", "how many files whose name ends in .pdf are in ~/things", "*.pdf")
}

/// A job: count the files whose names begin with "note".
pub(crate) fn count_notes() -> Job {
    counted("count notes", "how many files whose name begins with note are in ~/things", "note*")
}

/// A job: count the `.md` files.
pub(crate) fn count_markdown() -> Job {
    counted("count markdown files", "how many files whose name ends in .md are in ~/things", "*.md")
}

/// A job: count the `.bin` files.
pub(crate) fn count_binaries() -> Job {
    counted("count binary files", "how many files whose name ends in .bin are in ~/things", "*.bin")
}

/// A job: count the files of a subfolder.
pub(crate) fn count_below() -> Job {
    Job {
        what: "count a subfolder",
        request: "how many files are in ~/things/sub and its subfolders",
        steps: vec![step(
            "search below the subfolder and count",
            "call glob with root ~/things/sub and report count; its output is the answer",
            "glob",
            json!({"check": {"kind": "file_count", "path": "~/things/sub", "pattern": "*", "recursive": true}}),
        )],
        right: Arc::new(|_| call("glob", &json!({"root": "~/things/sub", "patterns": ["*"], "report": "count"}))),
        is_right: Box::new(|left| left.says(&left.world.shell("find things/sub -type f | wc -l"))),
    }
}

/// A job: count the lines of a file with a space in its name.
pub(crate) fn count_note_lines() -> Job {
    let request = "how many lines does the file \"note 7.txt\" in ~/things have";
    lines("count lines of a note", request, "read the note and count", "note 7.txt")
}

/// A job: count the lines of a log.
pub(crate) fn count_lines() -> Job {
    lines("count lines", "how many lines does ~/things/lines.log have", "read the log and count", "lines.log")
}

/// A job: write a motto to a file.
pub(crate) fn motto() -> Job {
    let file = ("motto.txt", "less is more");
    put("write a motto", "write a file motto.txt that says less is more", "the motto", file, "the text less is more")
}

/// A job: write an address to a file.
pub(crate) fn address() -> Job {
    let (request, file) = ("write a file address.txt that says 12 High Street", ("address.txt", "12 High Street"));
    put("write an address", request, "the address", file, "the text 12 High Street")
}

/// A job: write a greeting to a file.
pub(crate) fn greet() -> Job {
    let file = ("greeting.txt", "hello");
    put("write a greeting", "create a file greeting.txt that says hello", "the greeting", file, "the text hello")
}

/// A job: write a note to a file.
pub(crate) fn note() -> Job {
    let (request, file) = ("write a file note.txt that says see you at ten", ("note.txt", "see you at ten"));
    put("write a note", request, "the note", file, "the text see you at ten")
}

/// A job: write a list of three lines to a file.
pub(crate) fn list() -> Job {
    let request = "write a file shopping.txt with the words milk, eggs and bread, each on its own line";
    put("write a list", request, "the list", ("shopping.txt", "milk\neggs\nbread"), "the three words")
}

/// A job: replace the text of an existing file.
pub(crate) fn status() -> Job {
    let request = "set the status: write the word new into status.txt";
    put("set a status", request, "the word", ("status.txt", "new"), "the text new")
}

/// A job: count files and write the number to a file.
pub(crate) fn report() -> Job {
    Job {
        what: "count, then write",
        request: "count the text files in ~/things and write the number into count.txt",
        steps: vec![
            step("search below things and count", "~/things, *.txt", "glob", count_text().check()),
            step("put the number where it belongs", "count.txt", "write_file", exactly("count.txt", "7")),
        ],
        right: Arc::new(
            |asked| {
                if asked.user.contains("put the number") { wrote("count.txt", "7") } else { globbed("*.txt") }
            },
        ),
        is_right: Box::new(|left| {
            holds(left, "count.txt", &left.world.shell("find things -type f -name '*.txt' | wc -l"))
        }),
    }
}

/// A job: list the `.md` files; no check decides it.
pub(crate) fn list_markdown() -> Job {
    Job {
        what: "list markdown",
        request: "list the markdown files in ~/things",
        steps: vec![step("search below things", "pattern *.md", "glob", json!("every path ends in .md"))],
        right: Arc::new(|_| call("glob", &json!({"root": "~/things", "patterns": ["*.md"]}))),
        is_right: Box::new(|left| {
            left.output.trim() == left.world.shell("find \"$PWD/things\" -type f -name '*.md' | LC_ALL=C sort")
        }),
    }
}

/// A job: name the largest file; no check decides it.
pub(crate) fn largest() -> Job {
    Job {
        what: "largest file",
        request: "what is the largest file in ~/things",
        steps: vec![step("look at the sizes", "glob reports details", "glob", json!("the name has the greatest size"))],
        right: Arc::new(sizes),
        is_right: Box::new(|left| {
            let names = left.world.shell("find things -type f -printf '%s %f\\n' | sort -n | cut -d' ' -f2-");
            let named = |name: &str| left.output.contains(name);
            names.lines().last().is_some_and(named) && names.lines().rev().skip(1).all(|name| !named(name))
        }),
    }
}

/// The executor's reply: a call that lists files by size.
pub(crate) fn sizes(_: &ReceivedRequest) -> Reply {
    call("glob", &json!({"root": "~/things", "report": "details", "sort": {"by": "size"}}))
}

/// The executor's reply: a call that counts the files matching a pattern.
pub(crate) fn globbed(pattern: &str) -> Reply {
    call("glob", &json!({"root": "~/things", "patterns": [pattern], "report": "count"}))
}

/// The executor's reply: a call that writes a text to a file.
pub(crate) fn wrote(path: &str, text: &str) -> Reply {
    call("write_file", &json!({"path": path, "text": text}))
}

/// The criterion, checked by code, that a file has exactly this text.
fn exactly(path: &str, text: &str) -> Value {
    json!({"check": {"kind": "file_equals", "path": path, "text": text}})
}

/// Whether a file of the workspace has this text after the task, besides white space at its ends.
fn holds(left: &TaskEnd<'_>, name: &str, text: &str) -> bool {
    let held = left.after.get(&left.world.workspace().join(name));
    held.is_some_and(|(_, held)| String::from_utf8_lossy(held).trim() == text)
}
