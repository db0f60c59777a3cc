//! Scripted sessions with a language model whose replies are scripted too.

use std::sync::{Barrier, LazyLock};

use serde_json::{Value, json};

use super::Session;
use super::plain::HOME;
use crate::server::{ReceivedRequest, Reply, call, first_call, one_step, pass, prose, said, understood};

/// Builds a scripted session with this language model; its home folder has the usual files.
const fn with(
    name: &'static str,
    typed: &'static [&'static str],
    codes: &'static [i32],
    model: fn(&ReceivedRequest) -> Reply,
) -> Session {
    Session { name, files: HOME, typed, codes, model: Some(model) }
}

pub(super) const SESSIONS: &[Session] = &[
    with("18-haiku", &["$ artoo \"write a haiku about rain\""], &[4], haiku),
    with("19-summary", &["$ artoo \"summarise Papers/notes.txt in one sentence\""], &[4], summary),
    with("20-count-by-a-model", &["$ artoo \"how many pdf files are in ~/Papers\""], &[0], count),
    with(
        "21-parallel",
        &["$ artoo \"count the pdf files in ~/Papers and count the tmp files in ~/Papers\""],
        &[0],
        parallel,
    ),
    with("22-act", &["$ artoo \"delete Papers/draft.tmp\"", "? y"], &[0], act),
    with("23-correction", &["$ artoo \"how many lines does Papers/notes.txt have\""], &[0], corrected),
    with("24-replan-fails", &["$ artoo \"tell me what Bob wrote in Papers/meeting.txt\""], &[9], missing),
    with("25-partly", &["$ artoo \"who and which towns, amounts and dates does Papers/notes.txt name\""], &[3], partly),
    with("26-key-refused", &["$ artoo \"summarise Papers/notes.txt in one sentence\""], &[7], refused),
    with("27-material", &["$ cat Work/change.diff | artoo \"write a commit message for this change\""], &[4], message),
    with("28-ctrl-c", &["$ artoo \"summarise Papers/notes.txt in one sentence\"", "^C"], &[130], silent),
    with("29-liar", &["$ artoo \"create the file ~/artoo_workspace/hello.txt that says hello\""], &[9], liar),
    with(
        "30-three-calls",
        &["$ artoo \"delete Papers/draft.tmp, Papers/letters/old.tmp and Downloads/setup.exe\"", "? y"],
        &[0],
        three,
    ),
];

/// Replies of a model that plans one step with these tools and this criterion, acts by `execution`, and passes every
/// criterion.
fn script(asked: &ReceivedRequest, tools: &[&str], criterion: &Value, execution: impl FnOnce() -> Reply) -> Reply {
    let request = "carry out the request";
    match asked.schema.as_str() {
        "task_spec" => understood(request),
        "plan" => one_step(request, tools, &json!([criterion])),
        "execution" => execution(),
        _ => pass(asked, &asked.evidence()),
    }
}

/// A model that writes a haiku.
fn haiku(asked: &ReceivedRequest) -> Reply {
    let poem = "Rain taps on the roof\nthe gutter hums a low note\nshoes wait by the door";
    script(asked, &[], &prose("the text is a haiku about rain"), || said("completed", poem))
}

/// A model that summarises a note.
fn summary(asked: &ReceivedRequest) -> Reply {
    script(asked, &["read_file"], &prose("the sentence covers the note"), || match asked.nth {
        0 => first_call("read_file", &json!({"path": "~/Papers/notes.txt"})),
        _ => said("completed", "Five errands, from calling Bob to watering the plants."),
    })
}

/// A model that counts files, verified by a check.
fn count(asked: &ReceivedRequest) -> Reply {
    let check = json!({"check": {"kind": "file_count", "path": "~/Papers", "pattern": "*.pdf", "recursive": true}});
    script(asked, &["glob"], &check, || call("glob", &counting("*.pdf")))
}

/// The input of a `glob` call that counts the files matching a pattern.
fn counting(pattern: &str) -> Value {
    json!({"root": "~/Papers", "patterns": [pattern], "recursive": true, "report": "count"})
}

/// A model that counts two kinds of files in parallel steps.
fn parallel(asked: &ReceivedRequest) -> Reply {
    let step = |kind: &str| {
        let check =
            json!({"kind": "file_count", "path": "~/Papers", "pattern": format!("*.{kind}"), "recursive": true});
        json!({"intent": format!("count the {kind} files in ~/Papers"), "context": "", "sequence": 1, "tools": ["glob"],
               "success_criteria": [{"check": check}]})
    };
    match asked.schema.as_str() {
        "task_spec" => understood("count the pdf files and the tmp files in ~/Papers"),
        "plan" => Reply::Json(json!({
            "task_criteria": [prose("both numbers are given")], "subtasks": [step("pdf"), step("tmp")]
        })),
        "execution" if asked.user.contains("count the pdf files in") => call("glob", &counting("*.pdf")),
        "execution" => call("glob", &counting("*.tmp")),
        _ => pass(asked, &asked.evidence()),
    }
}

/// A model that deletes a file with a shell command.
fn act(asked: &ReceivedRequest) -> Reply {
    script(asked, &["shell"], &prose("the file is gone"), || call("shell", &json!({"command": "rm Papers/draft.tmp"})))
}

/// A model whose first command is wrong and whose second passes the check.
fn corrected(asked: &ReceivedRequest) -> Reply {
    let check = json!({"check": {"kind": "line_count", "path": "~/Papers/notes.txt"}});
    script(asked, &["shell"], &check, || {
        let option = if asked.nth == 0 { "-w" } else { "-l" };
        call("shell", &json!({"command": format!("wc {option} < Papers/notes.txt")}))
    })
}

/// A model that reads a file which does not exist.
fn missing(asked: &ReceivedRequest) -> Reply {
    script(asked, &["read_file"], &prose("Bob's words are given"), || match asked.nth % 2 {
        0 => first_call("read_file", &json!({"path": "~/Papers/meeting.txt"})),
        _ => said("failed", "There is no such file."),
    })
}

/// A model whose result meets only some of the criteria.
fn partly(asked: &ReceivedRequest) -> Reply {
    let fails = |asked: &ReceivedRequest, failing: usize| {
        let Reply::Json(mut verdicts) = pass(asked, &asked.evidence()) else { return Reply::Silence };
        if let Some(verdict) = verdicts["verdicts"].get_mut(failing) {
            verdict["verdict"] = "fail".into();
            verdict["evidence"] = "the note has no dates".into();
            verdict["failure_class"] = "environmental".into();
        }
        Reply::Json(verdicts)
    };
    match asked.schema.as_str() {
        "plan" => Reply::Json(json!({
            "task_criteria": [
                prose("the people are named"), prose("the towns are named"), prose("the amounts are named"),
                prose("the dates are named")
            ],
            "subtasks": [{"intent": "list what the note names", "context": "", "sequence": 1, "tools": ["read_file"],
                          "success_criteria": [prose("the towns are named")]}]
        })),
        "task_verdict" => fails(asked, 3),
        _ => script(asked, &["read_file"], &prose("the towns are named"), || match asked.nth % 2 {
            0 => first_call("read_file", &json!({"path": "~/Papers/notes.txt"})),
            _ => said("completed", "Person: Bob\nTown: Prague\nAmounts: none"),
        }),
    }
}

/// An endpoint that rejects the key.
fn refused(_: &ReceivedRequest) -> Reply {
    Reply::Status(401, json!({"error": {"message": "Incorrect API key provided.", "code": "invalid_api_key"}}))
}

/// A model that writes a commit message.
fn message(asked: &ReceivedRequest) -> Reply {
    script(asked, &[], &prose("the message tells what the change does"), || {
        said("completed", "sales: add the figures of the east")
    })
}

/// An endpoint that never answers.
fn silent(_: &ReceivedRequest) -> Reply {
    Reply::Silence
}

/// A model that claims a change which it did not make.
fn liar(asked: &ReceivedRequest) -> Reply {
    script(asked, &["write_file"], &prose("the greeting is in the file"), || {
        said("completed", "Done. I created the file and verified it.")
    })
}

/// A model that deletes three files in parallel steps.
fn three(asked: &ReceivedRequest) -> Reply {
    const FILES: [&str; 3] = ["Papers/draft.tmp", "Papers/letters/old.tmp", "Downloads/setup.exe"];
    static ALL_ASK: LazyLock<Barrier> = LazyLock::new(|| Barrier::new(FILES.len()));
    let step = |path: &str| {
        json!({"intent": format!("delete {path} now"), "context": "", "sequence": 1, "tools": ["files"],
               "success_criteria": [prose(&format!("{path} is gone"))]})
    };
    match asked.schema.as_str() {
        "plan" => {
            Reply::Json(json!({"task_criteria": [prose("the three files are gone")], "subtasks": FILES.map(step)}))
        }
        "execution" => {
            let path = FILES.into_iter().find(|path| asked.user.contains(&format!("delete {path} now"))).unwrap();
            ALL_ASK.wait();
            call("files", &json!({"act": "delete", "paths": [format!("~/{path}")]}))
        }
        _ => script(asked, &[], &prose("the three files are gone"), || Reply::Silence),
    }
}
