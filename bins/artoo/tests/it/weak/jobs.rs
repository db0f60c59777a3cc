//! What is asked for: each with a good plan, the right calls, and a program that knows the right result.

use serde_json::{Value, json};

use super::claims::Left;
use crate::server::{Asked, Reply, call};

/// Something to be done.
pub(crate) struct Job {
    pub(crate) what: &'static str,
    pub(crate) request: &'static str,
    /// The steps of a good plan: intent, context, tool, the check in code of what the step leaves.
    steps: Vec<(&'static str, &'static str, &'static str, Value)>,
    /// The calls that do it.
    pub(crate) right: fn(&Asked) -> Reply,
    /// Whether it is really done, and right; decided from the disk.
    pub(crate) is_right: fn(&Left<'_>) -> bool,
}

impl Job {
    /// The check in code that decides the whole.
    pub(crate) fn check(&self) -> Value {
        self.steps.last().map(|(.., check)| check.clone()).unwrap_or_default()
    }

    /// A good plan: each step is held against its check, or against `instead`; the whole against `whole`.
    pub(crate) fn plan(&self, instead: Option<&Value>, whole: &Value) -> Value {
        let steps = (1..).zip(&self.steps).map(|(sequence, (intent, context, tool, check)): (u32, _)| {
            json!({"intent": intent, "context": context, "sequence": sequence, "tools": [tool],
                   "success_criteria": [instead.unwrap_or(check)]})
        });
        json!({"task_criteria": [whole], "subtasks": steps.collect::<Vec<Value>>()})
    }
}

pub(crate) fn count_text() -> Job {
    Job {
        what: "count text files",
        request: "how many text files are in ~/things",
        steps: vec![(
            "search below things and count",
            "call glob with root ~/things, pattern *.txt and report count; its output is the answer",
            "glob",
            json!({"check": {"kind": "file_count", "path": "~/things", "pattern": "*.txt", "recursive": true}}),
        )],
        right: |_| globbed("*.txt"),
        is_right: |left| left.says(&left.world.shell("find things -type f -name '*.txt' -not -path '*/.*' | wc -l")),
    }
}

pub(crate) fn count_pdf() -> Job {
    Job {
        what: "count pdf files",
        request: "how many files whose name ends in .pdf are in ~/things",
        steps: vec![(
            "search below things and count",
            "call glob with root ~/things, pattern *.pdf and report count; its output is the answer",
            "glob",
            json!({"check": {"kind": "file_count", "path": "~/things", "pattern": "*.pdf", "recursive": true}}),
        )],
        right: |_| globbed("*.pdf"),
        is_right: |left| left.says(&left.world.shell("find things -type f -name '*.pdf' -not -path '*/.*' | wc -l")),
    }
}

pub(crate) fn count_notes() -> Job {
    Job {
        what: "count notes",
        request: "how many files whose name begins with note are in ~/things",
        steps: vec![(
            "search below things and count",
            "call glob with root ~/things, pattern note* and report count; its output is the answer",
            "glob",
            json!({"check": {"kind": "file_count", "path": "~/things", "pattern": "note*", "recursive": true}}),
        )],
        right: |_| globbed("note*"),
        is_right: |left| left.says(&left.world.shell("find things -type f -name 'note*' -not -path '*/.*' | wc -l")),
    }
}

pub(crate) fn count_markdown() -> Job {
    Job {
        what: "count markdown files",
        request: "how many files whose name ends in .md are in ~/things",
        steps: vec![(
            "search below things and count",
            "call glob with root ~/things, pattern *.md and report count; its output is the answer",
            "glob",
            json!({"check": {"kind": "file_count", "path": "~/things", "pattern": "*.md", "recursive": true}}),
        )],
        right: |_| globbed("*.md"),
        is_right: |left| left.says(&left.world.shell("find things -type f -name '*.md' -not -path '*/.*' | wc -l")),
    }
}

pub(crate) fn count_binaries() -> Job {
    Job {
        what: "count binary files",
        request: "how many files whose name ends in .bin are in ~/things",
        steps: vec![(
            "search below things and count",
            "call glob with root ~/things, pattern *.bin and report count; its output is the answer",
            "glob",
            json!({"check": {"kind": "file_count", "path": "~/things", "pattern": "*.bin", "recursive": true}}),
        )],
        right: |_| globbed("*.bin"),
        is_right: |left| left.says(&left.world.shell("find things -type f -name '*.bin' -not -path '*/.*' | wc -l")),
    }
}

pub(crate) fn count_below() -> Job {
    Job {
        what: "count a subfolder",
        request: "how many files are in ~/things/sub and its subfolders",
        steps: vec![(
            "search below the subfolder and count",
            "call glob with root ~/things/sub and report count; its output is the answer",
            "glob",
            json!({"check": {"kind": "file_count", "path": "~/things/sub", "pattern": "*", "recursive": true}}),
        )],
        right: |_| call("glob", &json!({"root": "~/things/sub", "patterns": ["*"], "report": "count"})),
        is_right: |left| left.says(&left.world.shell("find things/sub -type f | wc -l")),
    }
}

pub(crate) fn motto() -> Job {
    Job {
        what: "write a motto",
        request: "write a file motto.txt that says less is more",
        steps: vec![(
            "put the motto where it belongs",
            "call write_file with the path motto.txt and the text less is more",
            "write_file",
            exactly("motto.txt", "less is more"),
        )],
        right: |_| wrote("motto.txt", "less is more"),
        is_right: |left| holds(left, "motto.txt", "less is more"),
    }
}

pub(crate) fn count_note_lines() -> Job {
    Job {
        what: "count lines of a note",
        request: "how many lines does the file \"note 7.txt\" in ~/things have",
        steps: vec![(
            "read the note and count",
            "call read_file with path ~/things/note 7.txt and count lines; its output is the answer",
            "read_file",
            json!({"check": {"kind": "line_count", "path": "~/things/note 7.txt"}}),
        )],
        right: |_| call("read_file", &json!({"path": "~/things/note 7.txt", "count": "lines"})),
        is_right: |left| left.says(&left.world.shell("wc -l < 'things/note 7.txt'")),
    }
}

pub(crate) fn address() -> Job {
    Job {
        what: "write an address",
        request: "write a file address.txt that says 12 High Street",
        steps: vec![(
            "put the address where it belongs",
            "call write_file with the path address.txt and the text 12 High Street",
            "write_file",
            exactly("address.txt", "12 High Street"),
        )],
        right: |_| wrote("address.txt", "12 High Street"),
        is_right: |left| holds(left, "address.txt", "12 High Street"),
    }
}

pub(crate) fn count_lines() -> Job {
    Job {
        what: "count lines",
        request: "how many lines does ~/things/lines.log have",
        steps: vec![(
            "read the log and count",
            "call read_file with path ~/things/lines.log and count lines; its output is the answer",
            "read_file",
            json!({"check": {"kind": "line_count", "path": "~/things/lines.log"}}),
        )],
        right: |_| call("read_file", &json!({"path": "~/things/lines.log", "count": "lines"})),
        is_right: |left| left.says(&left.world.shell("wc -l < things/lines.log")),
    }
}

pub(crate) fn greet() -> Job {
    Job {
        what: "write a greeting",
        request: "create a file greeting.txt that says hello",
        steps: vec![(
            "put the greeting where it belongs",
            "call write_file with the path greeting.txt and the text hello",
            "write_file",
            exactly("greeting.txt", "hello"),
        )],
        right: |_| wrote("greeting.txt", "hello"),
        is_right: |left| holds(left, "greeting.txt", "hello"),
    }
}

pub(crate) fn note() -> Job {
    Job {
        what: "write a note",
        request: "write a file note.txt that says see you at ten",
        steps: vec![(
            "put the note where it belongs",
            "call write_file with the path note.txt and the text see you at ten",
            "write_file",
            exactly("note.txt", "see you at ten"),
        )],
        right: |_| wrote("note.txt", "see you at ten"),
        is_right: |left| holds(left, "note.txt", "see you at ten"),
    }
}

pub(crate) fn list() -> Job {
    Job {
        what: "write a list",
        request: "write a file shopping.txt with the words milk, eggs and bread, each on its own line",
        steps: vec![(
            "put the list where it belongs",
            "call write_file with the path shopping.txt and the three words",
            "write_file",
            exactly("shopping.txt", "milk\neggs\nbread"),
        )],
        right: |_| wrote("shopping.txt", "milk\neggs\nbread"),
        is_right: |left| holds(left, "shopping.txt", "milk\neggs\nbread"),
    }
}

pub(crate) fn status() -> Job {
    Job {
        what: "set a status",
        request: "set the status: write the word new into status.txt",
        steps: vec![(
            "put the word where it belongs",
            "call write_file with the path status.txt and the text new",
            "write_file",
            exactly("status.txt", "new"),
        )],
        right: |_| wrote("status.txt", "new"),
        is_right: |left| holds(left, "status.txt", "new"),
    }
}

pub(crate) fn report() -> Job {
    Job {
        what: "count, then write",
        request: "count the text files in ~/things and write the number into count.txt",
        steps: vec![
            ("search below things and count", "~/things, *.txt", "glob", count_text().check()),
            ("put the number where it belongs", "count.txt", "write_file", exactly("count.txt", "7")),
        ],
        right: |asked| {
            if asked.user.contains("put the number") { wrote("count.txt", "7") } else { globbed("*.txt") }
        },
        is_right: |left| holds(left, "count.txt", &left.world.shell("find things -type f -name '*.txt' | wc -l")),
    }
}

/// No check in code fits this one.
pub(crate) fn list_markdown() -> Job {
    Job {
        what: "list markdown",
        request: "list the markdown files in ~/things",
        steps: vec![("search below things", "pattern *.md", "glob", json!("every path ends in .md"))],
        right: |_| call("glob", &json!({"root": "~/things", "patterns": ["*.md"]})),
        is_right: |left| {
            left.output.trim() == left.world.shell("find \"$PWD/things\" -type f -name '*.md' | LC_ALL=C sort")
        },
    }
}

/// Nor this one.
pub(crate) fn largest() -> Job {
    Job {
        what: "largest file",
        request: "what is the largest file in ~/things",
        steps: vec![("look at the sizes", "glob reports details", "glob", json!("the name has the greatest size"))],
        right: sizes,
        is_right: |left| {
            let names = left.world.shell("find things -type f -printf '%s %f\\n' | sort -n | cut -d' ' -f2-");
            let named = |name: &str| left.output.contains(name);
            names.lines().last().is_some_and(named) && names.lines().rev().skip(1).all(|name| !named(name))
        },
    }
}

pub(crate) fn sizes(_: &Asked) -> Reply {
    call("glob", &json!({"root": "~/things", "report": "details", "sort": {"by": "size"}}))
}

pub(crate) fn globbed(pattern: &str) -> Reply {
    call("glob", &json!({"root": "~/things", "patterns": [pattern], "report": "count"}))
}

pub(crate) fn wrote(path: &str, text: &str) -> Reply {
    call("write_file", &json!({"path": path, "text": text}))
}

fn exactly(path: &str, text: &str) -> Value {
    json!({"check": {"kind": "file_equals", "path": path, "text": text}})
}

fn holds(left: &Left<'_>, name: &str, text: &str) -> bool {
    let held = left.after.get(&left.world.workspace().join(name));
    held.is_some_and(|(_, held)| String::from_utf8_lossy(held).trim() == text)
}
