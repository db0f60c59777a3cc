//! The tasks: who answers which role, what is planned and done by script, and a program that knows the right result.

use serde_json::{Value, json};

use super::claims::Left;
use crate::server::{Asked, Reply, call, prose, said};

/// How a task is composed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The weak model answers every role.
    AllWeak,
    /// It restates the request; plan, calls and verdicts are good.
    Reads,
    /// It makes the calls, behind a good plan; the judge says yes to everything.
    Acts,
    /// It judges right calls behind a good plan.
    Judges,
    /// It judges a wrong result that checks in code can see.
    Planted,
    /// It judges a wrong result that no check looks at.
    Unchecked,
}

/// One task.
pub(crate) struct Task {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) request: &'static str,
    /// The roles that the weak model answers, by the names of their schemas.
    pub(crate) weak: &'static [&'static str],
    plan: Value,
    hands: fn(&Asked) -> Reply,
    /// Whether the result is really right.
    pub(crate) is_right: fn(&Left<'_>) -> bool,
}

impl Task {
    /// The script's answer for the roles that the weak model does not have.
    pub(crate) fn scripted(&self, asked: &Asked) -> Reply {
        match asked.schema.as_str() {
            "task_spec" => crate::server::understood(self.request),
            "plan" => Reply::Json(self.plan.clone()),
            "execution" => (self.hands)(asked),
            _ => crate::server::pass(asked, &asked.evidence()),
        }
    }
}

const EVERY_ROLE: &[&str] = &["task_spec", "plan", "execution", "subtask_verdict", "task_verdict"];
const JUDGES: &[&str] = &["subtask_verdict", "task_verdict"];

const COUNT_TEXT: &str = "how many text files are in ~/things";
const COUNT_PDF: &str = "how many files whose name ends in .pdf are in ~/things";
const COUNT_LINES: &str = "how many lines does ~/things/lines.log have";
const GREET: &str = "create a file greeting.txt that says hello";
const SHOP: &str = "write a file shopping.txt with the three lines milk, eggs and bread";
const REPORT: &str = "count the text files in ~/things and write the number into count.txt";
const STATUS: &str = "set the status: write the word new into status.txt";
const MARKDOWN: &str = "list the markdown files in ~/things";
const LARGEST: &str = "what is the largest file in ~/things";

/// One step with its tools, and what it and the whole are held against.
fn one_step(intent: &str, context: &str, tool: &str, step: &Value, whole: &Value) -> Value {
    json!({"task_criteria": [whole], "subtasks": [
        {"intent": intent, "context": context, "sequence": 1, "tools": [tool], "success_criteria": [step]}
    ]})
}

fn files(pattern: &str) -> Value {
    json!({"check": {"kind": "file_count", "path": "~/things", "pattern": pattern, "recursive": true}})
}

fn lines() -> Value {
    json!({"check": {"kind": "line_count", "path": "~/things/lines.log"}})
}

fn exactly(path: &str, text: &str) -> Value {
    json!({"check": {"kind": "file_equals", "path": path, "text": text}})
}

fn count_text(step: &Value, whole: &Value) -> Value {
    let context = "call glob with root ~/things, pattern *.txt and report count; its output is the answer";
    one_step("search below things and count", context, "glob", step, whole)
}

fn count_pdf(step: &Value, whole: &Value) -> Value {
    let context = "call glob with root ~/things, pattern *.pdf and report count; its output is the answer";
    one_step("search below things and count", context, "glob", step, whole)
}

fn count_lines(step: &Value, whole: &Value) -> Value {
    let context = "call read_file with path ~/things/lines.log and count lines; its output is the answer";
    one_step("read the log and count", context, "read_file", step, whole)
}

fn write(path: &str, text: &str, step: &Value, whole: &Value) -> Value {
    let context = format!("call write_file with the path {path} and the text {text:?}");
    one_step("put the text where it belongs", &context, "write_file", step, whole)
}

fn greet(step: &Value, whole: &Value) -> Value {
    write("greeting.txt", "hello", step, whole)
}

fn shop(step: &Value, whole: &Value) -> Value {
    write("shopping.txt", "milk\neggs\nbread", step, whole)
}

fn globbed(pattern: &str) -> Reply {
    call("glob", &json!({"root": "~/things", "patterns": [pattern], "report": "count"}))
}

fn wrote(path: &str, text: &str) -> Reply {
    call("write_file", &json!({"path": path, "text": text}))
}

fn no_hands(_: &Asked) -> Reply {
    said("failed", "")
}

fn globs_text(_: &Asked) -> Reply {
    globbed("*.txt")
}

fn globs_pdf(_: &Asked) -> Reply {
    globbed("*.pdf")
}

fn counts_lines(_: &Asked) -> Reply {
    call("read_file", &json!({"path": "~/things/lines.log", "count": "lines"}))
}

fn greets(_: &Asked) -> Reply {
    wrote("greeting.txt", "hello")
}

fn shops(_: &Asked) -> Reply {
    wrote("shopping.txt", "milk\neggs\nbread")
}

fn says_seven(left: &Left<'_>) -> bool {
    left.says(&left.world.shell("find things -type f -name '*.txt' -not -path '*/.*' | wc -l"))
}

fn says_pdfs(left: &Left<'_>) -> bool {
    left.says(&left.world.shell("find things -type f -name '*.pdf' -not -path '*/.*' | wc -l"))
}

fn says_lines(left: &Left<'_>) -> bool {
    left.says(&left.world.shell("wc -l < things/lines.log"))
}

fn holds(left: &Left<'_>, name: &str, text: &str) -> bool {
    let path = left.world.workspace().join(name);
    let held = left.after.get(&path).map(|(_, content)| String::from_utf8_lossy(content).trim().to_owned());
    held.is_some_and(|held| held == text.trim())
}

fn greeted(left: &Left<'_>) -> bool {
    holds(left, "greeting.txt", "hello")
}

fn shopped(left: &Left<'_>) -> bool {
    holds(left, "shopping.txt", "milk\neggs\nbread")
}

fn reported(left: &Left<'_>) -> bool {
    holds(left, "count.txt", &left.world.shell("find things -type f -name '*.txt' | wc -l"))
}

fn set(left: &Left<'_>) -> bool {
    holds(left, "status.txt", "new")
}

fn lists_markdown(left: &Left<'_>) -> bool {
    let expected = left.world.shell("find \"$PWD/things\" -type f -name '*.md' | sort");
    left.output.trim() == expected
}

fn names_largest(left: &Left<'_>) -> bool {
    let largest = left.world.shell("find things -type f -printf '%s %f\\n' | sort -n | tail -n 1 | cut -d' ' -f2-");
    let others = left.world.shell("find things -type f -printf '%f\\n'");
    let named = |name: &str| left.output.contains(name);
    named(&largest) && others.lines().filter(|name| *name != largest).all(|name| !named(name))
}

/// All of them. What is planned is good everywhere but where the weak model plans itself.
pub(crate) fn all() -> Vec<Task> {
    let task =
        |name, kind, request, weak, plan, hands, is_right| Task { name, kind, request, weak, plan, hands, is_right };
    let number = prose("the number comes from the search itself");
    let there = prose("the text stands in the file that the user named");
    let two_steps = json!({"task_criteria": [prose("count.txt names the number that the search found")], "subtasks": [
        {"intent": "search below things and count", "context": "~/things, *.txt", "sequence": 1, "tools": ["glob"],
         "success_criteria": [files("*.txt")]},
        {"intent": "put the number where it belongs", "context": "count.txt", "sequence": 2, "tools": ["write_file"],
         "success_criteria": [exactly("count.txt", "7\n")]},
    ]});
    let two_hands: fn(&Asked) -> Reply =
        |asked| if asked.user.contains("search below things") { globbed("*.txt") } else { wrote("count.txt", "7\n") };
    let (greeting, shopping) = (exactly("greeting.txt", "hello"), exactly("shopping.txt", "milk\neggs\nbread"));
    let (text, pdf) = (files("*.txt"), files("*.pdf"));
    let largest = one_step("find it", "glob sorts by size", "glob", &prose("the name has the greatest size"), &number);
    let markdown = one_step("search", "*.md below ~/things", "glob", &prose("every path ends in .md"), &number);
    let none = Value::Null;
    let reads: &[&str] = &["task_spec"];
    let acts: &[&str] = &["execution"];
    let last: &[&str] = &["task_verdict"];
    vec![
        task("all: count text files", Kind::AllWeak, COUNT_TEXT, EVERY_ROLE, none.clone(), no_hands, says_seven),
        task("all: write a greeting", Kind::AllWeak, GREET, EVERY_ROLE, none.clone(), no_hands, greeted),
        task("all: largest file", Kind::AllWeak, LARGEST, EVERY_ROLE, none, no_hands, names_largest),
        task(
            "reads: count text files",
            Kind::Reads,
            COUNT_TEXT,
            reads,
            count_text(&text, &number),
            globs_text,
            says_seven,
        ),
        task(
            "reads: count lines",
            Kind::Reads,
            COUNT_LINES,
            reads,
            count_lines(&lines(), &number),
            counts_lines,
            says_lines,
        ),
        task("reads: write a greeting", Kind::Reads, GREET, reads, greet(&greeting, &there), greets, greeted),
        task("reads: count, then write", Kind::Reads, REPORT, reads, two_steps.clone(), two_hands, reported),
        task("acts: count text files", Kind::Acts, COUNT_TEXT, acts, count_text(&text, &number), no_hands, says_seven),
        task("acts: count lines", Kind::Acts, COUNT_LINES, acts, count_lines(&lines(), &number), no_hands, says_lines),
        task("acts: write a greeting", Kind::Acts, GREET, acts, greet(&greeting, &there), no_hands, greeted),
        task("acts: write a list", Kind::Acts, SHOP, acts, shop(&shopping, &there), no_hands, shopped),
        task("judges: count pdf files", Kind::Judges, COUNT_PDF, last, count_pdf(&pdf, &number), globs_pdf, says_pdfs),
        task("judges: write a list", Kind::Judges, SHOP, JUDGES, shop(&there, &shopping), shops, shopped),
        task("judges: count, then write", Kind::Judges, REPORT, last, two_steps, two_hands, reported),
        task(
            "judges: list markdown",
            Kind::Judges,
            MARKDOWN,
            JUDGES,
            markdown,
            |_| call("glob", &json!({"root": "~/things", "patterns": ["*.md"]})),
            lists_markdown,
        ),
        task(
            "planted: a wrong number",
            Kind::Planted,
            COUNT_TEXT,
            JUDGES,
            count_text(&number, &text),
            |asked| {
                if asked.evidence().is_empty() { not_yet(&globbed("*.txt")) } else { said("completed", "12") }
            },
            says_seven,
        ),
        task(
            "planted: other content",
            Kind::Planted,
            GREET,
            JUDGES,
            greet(&there, &greeting),
            |_| wrote("greeting.txt", "goodbye\n"),
            greeted,
        ),
        task(
            "planted: a failed call",
            Kind::Planted,
            COUNT_LINES,
            JUDGES,
            count_lines(&lines(), &number),
            |asked| {
                let gone = call("read_file", &json!({"path": "~/things/gone.log", "count": "lines"}));
                if asked.evidence().is_empty() { not_yet(&gone) } else { said("completed", "9") }
            },
            says_lines,
        ),
        task(
            "planted: a stale file",
            Kind::Planted,
            STATUS,
            JUDGES,
            write("status.txt", "new\n", &exactly("status.txt", "new\n"), &there),
            |asked| {
                let looked = call("shell", &json!({"command": "ls ~/artoo_workspace"}));
                if asked.evidence().is_empty() { not_yet(&looked) } else { said("completed", "status.txt says new") }
            },
            set,
        ),
        task(
            "unchecked: a wrong name",
            Kind::Unchecked,
            LARGEST,
            JUDGES,
            largest,
            |asked| {
                let looked = call("glob", &json!({"root": "~/things", "report": "details", "sort": {"by": "size"}}));
                if asked.evidence().is_empty() { not_yet(&looked) } else { said("completed", "paper.PDF") }
            },
            names_largest,
        ),
    ]
}

/// The same call, whose output is not the answer yet.
fn not_yet(reply: &Reply) -> Reply {
    let Reply::Json(value) = reply else { panic!("a call is JSON") };
    let mut value = value.clone();
    value["answer_is_output"] = json!(false);
    Reply::Json(value)
}
