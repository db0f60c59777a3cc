//! A scripted model server for the evaluation of memory: plays every role of artoo on requests that count lines, and
//! heeds lessons or not.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use serde_json::{Value, json};

use crate::Fault;

/// How the scripted model uses the lessons in its prompts: ignores them, or follows them first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reader {
    Ignores,
    /// Takes the first lesson's call first. If that is corrected, it does what is right.
    Heeds,
    /// Takes the first lesson's call first. If that is corrected, it errs as without the lesson, then does what is
    /// right.
    Trusts,
}

/// What the scripted model does in a run: the request, the file, the wrong and right commands, and its use of lessons.
#[derive(Debug, Clone)]
pub(crate) struct Script {
    pub(crate) reader: Reader,
    pub(crate) request: String,
    /// The file whose lines are counted, as the request names it.
    pub(crate) file: String,
    /// The command that the model tries without a lesson.
    pub(crate) guess: String,
    /// The command that is right.
    pub(crate) right: String,
    /// A command that is taken as the first lesson of the prompts, as a control of what a lesson changes.
    pub(crate) planted: Option<String>,
}

/// A script during a run, with the attempts and lessons so far.
#[derive(Debug)]
struct Play {
    script: Script,
    lesson: Option<String>,
    attempts: usize,
    lessons_seen: u64,
}

/// A running server with the scripted model; its threads end with the process.
pub(crate) struct Server {
    address: SocketAddr,
    play: Arc<Mutex<Option<Play>>>,
}

impl Server {
    /// Starts the model server on this machine.
    pub(crate) fn start() -> Result<Self, Fault> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let server = Self { address: listener.local_addr()?, play: Arc::default() };
        let play = Arc::clone(&server.play);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let play = Arc::clone(&play);
                // A client that has disconnected has ended its run.
                thread::spawn(move || drop(serve(&stream, &play)));
            }
        });
        Ok(server)
    }

    /// The base URL of the model server.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Sets the script that the model follows in the next run.
    pub(crate) fn play(&self, script: Script) {
        let play = Play { script, lesson: None, attempts: 0, lessons_seen: 0 };
        *self.play.lock().unwrap_or_else(PoisonError::into_inner) = Some(play);
    }

    /// Number of prompts in the last run that contained a lesson with a shell command.
    pub(crate) fn lessons_seen(&self) -> u64 {
        self.play.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map_or(0, |play| play.lessons_seen)
    }
}

/// Answers the model call of one connection.
fn serve(mut stream: &TcpStream, play: &Mutex<Option<Play>>) -> Result<(), Fault> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let asked: Value = serde_json::from_slice(&body)?;
    let said = match play.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
        Some(play) => play.reply(&asked).to_string(),
        None => return Err("no script is set".into()),
    };
    // A token is taken as four bytes.
    let (sent, received) = (length / 4, said.len() / 4);
    let message = json!({"role": "assistant", "content": said});
    let content = json!({
        "id": "c", "object": "chat.completion", "model": "scripted",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        "usage": {"prompt_tokens": sent, "completion_tokens": received, "total_tokens": sent + received}
    })
    .to_string();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length:";
    Ok(write!(stream, "{head} {}\r\n\r\n{content}", content.len())?)
}

impl Play {
    /// The reply to the role that asks, which is recognised by the name of its schema.
    fn reply(&mut self, asked: &Value) -> Value {
        let text = |path: &str| asked.pointer(path).and_then(Value::as_str).unwrap_or_default();
        let prompt = text("/messages/1/content");
        let told = lessons(prompt);
        self.lessons_seen += u64::from(!told.is_empty());
        if self.script.reader != Reader::Ignores && self.lesson.is_none() {
            let first = self.script.planted.as_ref().or(told.first());
            self.lesson = first.map(|command| for_file(command, &self.script.file));
        }
        let request = &self.script.request;
        match text("/response_format/json_schema/name") {
            "task_spec" => json!({
                "task_id": "count_lines", "intent": request, "question": null,
                "constraints": {"scope": null, "deadline": null}
            }),
            "plan" => {
                let check = json!([{"check": {"kind": "line_count", "path": self.script.file}}]);
                json!({
                    "task_criteria": check, "readings": [],
                    "subtasks": [{
                        "intent": request, "context": "", "sequence": 1, "tools": ["shell"],
                        "success_criteria": check, "meets": [1]
                    }]
                })
            }
            "execution" => {
                self.attempts += 1;
                json!({
                    "calls": [{"tool": "shell", "input": {"command": self.command()}}],
                    "answer_is_output": true, "status": "completed", "output": "", "reason": null
                })
            }
            // The criteria are checks by code, so that no model is asked to judge.
            _ => Value::Null,
        }
    }

    /// The shell command that the scripted model tries in the current attempt.
    fn command(&self) -> &str {
        let Script { reader, guess, right, .. } = &self.script;
        let order: [&str; 2] = match (&self.lesson, reader) {
            (Some(lesson), Reader::Heeds) => [lesson, right],
            (Some(lesson), Reader::Trusts) => [lesson, guess],
            (None, _) | (Some(_), Reader::Ignores) => [guess, right],
        };
        order.get(self.attempts.saturating_sub(1)).unwrap_or(&right.as_str())
    }
}

/// The shell commands of the lessons in a prompt, in order: from the planner's section `LESSONS` and the executor's
/// lines `lesson:`.
fn lessons(prompt: &str) -> Vec<String> {
    let mut is_section = false;
    let mut found = Vec::new();
    for line in prompt.lines().map(str::trim) {
        is_section = line.starts_with("LESSONS") || is_section && !line.is_empty();
        let is_lesson = is_section && line.starts_with("- ") || line.starts_with("lesson:");
        let call = if is_lesson { line.split_once("then passed: shell ") } else { None };
        found.extend(call.and_then(|(_, input)| {
            let input = serde_json::Deserializer::from_str(input).into_iter::<Value>().next()?.ok()?;
            input.get("command")?.as_str().map(str::to_owned)
        }));
    }
    found
}

/// The command with the file name in it replaced by `file`, so that a lesson fits another file.
fn for_file(command: &str, file: &str) -> String {
    let words = command.split(' ').map(|word| if word.ends_with(".txt") { file } else { word });
    words.collect::<Vec<_>>().join(" ")
}

/// Tests of reading lessons and of following them.
#[cfg(test)]
mod tests {
    use super::*;

    /// Lessons are read only in the planner's section and the executor's lines for them.
    #[test]
    fn lessons_are_read_in_their_sections_only() {
        let call = r#"how many lines: the output is 3; wrong before: it was 9; then passed: shell {"command": "wc -l < ~/lists/a.txt"}"#;
        let check = |prompt: String, expected: usize| assert_eq!(lessons(&prompt).len(), expected, "{prompt}");
        check(format!("Tools:\n\nLESSONS:\n<<DATA-1\n- {call}\n- {call}, too\nDATA-1>>\n\nThe task:\n- {call}"), 2);
        check(format!("Context:\nlesson: {call}\nx"), 1);
        check(format!("Context:\nno lesson: {call}\nx"), 0);
        check(format!("MUST NOT:\n- {call}"), 0);
        check("LESSONS:\n- x: y; wrong before: z; then passed: read_file {}".to_owned(), 0);
        assert_eq!(lessons(&format!("lesson: {call}")), ["wc -l < ~/lists/a.txt"]);
        assert_eq!(for_file("wc -l < ~/lists/a.txt", "~/lists/b.txt"), "wc -l < ~/lists/b.txt");
    }

    /// The scripted model's ways of using lessons differ only if there is a lesson.
    #[test]
    fn reader_kinds_differ_only_by_lessons() {
        let check = |reader, lesson: Option<&str>, expected: [&str; 3]| {
            let [request, file, guess, right] = ["r", "f", "guess", "right"].map(str::to_owned);
            let script = Script { reader, request, file, guess, right, planted: None };
            let mut play = Play { script, lesson: lesson.map(str::to_owned), attempts: 0, lessons_seen: 0 };
            let commands = [1, 2, 3].map(|attempt| {
                play.attempts = attempt;
                play.command().to_owned()
            });
            assert_eq!(commands, expected, "{reader:?}");
        };
        for reader in [Reader::Ignores, Reader::Heeds, Reader::Trusts] {
            check(reader, None, ["guess", "right", "right"]);
        }
        check(Reader::Ignores, Some("lesson"), ["guess", "right", "right"]);
        check(Reader::Heeds, Some("lesson"), ["lesson", "right", "right"]);
        check(Reader::Trusts, Some("lesson"), ["lesson", "guess", "right"]);
    }
}
