//! The person at the terminal: asked for consent and for what is unclear, one question at a time.

use std::io::{self, BufRead, IsTerminal, Read};
use std::thread;
use std::time::Duration;

use artoo_proto::{ClarificationRequest, ConsentRequest, escape};
use artoo_roles::runtime::Operator;
use async_trait::async_trait;
use tokio::sync::{Mutex, oneshot};

use crate::display::writer::Screen;
use crate::display::{Line, quoted};

/// Longest answer read, in bytes: a few sentences.
const ANSWER_MAX_BYTES: u64 = 4_096;

/// Until what led to a question has reached the screen: events and questions come by different ways.
const SETTLE: Duration = Duration::from_millis(20);

/// Someone who sees standard error and types on standard input.
pub(crate) struct Terminal {
    screen: Screen,
    /// Parallel subtasks may ask at once; one question stands at a time.
    turn: Mutex<()>,
}

impl Terminal {
    /// The person, where both ends are a terminal; a pipe is nobody.
    pub(crate) fn detect(screen: &Screen) -> Option<Self> {
        let is_terminal = io::stdin().is_terminal() && io::stderr().is_terminal();
        is_terminal.then(|| Self { screen: screen.clone(), turn: Mutex::new(()) })
    }

    async fn ask(&self, lines: &[Line], prompt: &str) -> Option<String> {
        let _turn = self.turn.lock().await;
        // What led to the question is on its way to the screen, and must be read before it.
        tokio::time::sleep(SETTLE).await;
        self.screen.ask(lines, prompt);
        // A thread of its own: the read can't be cancelled, and must not keep the process from ending.
        let (sender, answer) = oneshot::channel();
        thread::spawn(move || drop(sender.send(read_line())));
        let shown = AnsweredOnDrop(&self.screen);
        let answer = answer.await.ok().flatten();
        drop(shown);
        answer
    }
}

/// Also where the task is cancelled while the question stands.
struct AnsweredOnDrop<'a>(&'a Screen);

impl Drop for AnsweredOnDrop<'_> {
    fn drop(&mut self) {
        self.0.answered();
    }
}

/// A whole line, or nothing at the end of input.
fn read_line() -> Option<String> {
    let mut line = String::new();
    let read = io::stdin().lock().take(ANSWER_MAX_BYTES).read_line(&mut line).ok()?;
    (read > 0 && line.ends_with('\n')).then(|| line.trim().to_owned())
}

/// Yes is said, not supposed.
fn is_yes(answer: Option<&str>) -> bool {
    answer.is_some_and(|answer| answer.eq_ignore_ascii_case("y") || answer.eq_ignore_ascii_case("yes"))
}

/// The question, with nothing left out: what would run, what it touches, why it is asked.
fn consent_lines(request: &ConsentRequest) -> Vec<Line> {
    let mut lines = vec![Line::plain(""), Line::warning("This needs your yes. It would run exactly this, once:")];
    lines.extend(quoted(&escape::visible(&request.shown)));
    lines.extend(request.effects.iter().map(|effect| Line::plain(format!("  it {}", escape::one_line(effect)))));
    lines.push(Line::plain(format!("  asked because {}", escape::one_line(&request.reason))));
    lines
}

#[async_trait]
impl Operator for Terminal {
    fn is_present(&self) -> bool {
        true
    }

    async fn consent(&self, request: &ConsentRequest) -> bool {
        is_yes(self.ask(&consent_lines(request), "Allow it? [y/N] ").await.as_deref())
    }

    async fn clarify(&self, request: &ClarificationRequest) -> String {
        let lines = [Line::strong(format!("\n{}", escape::visible(&request.question)))];
        self.ask(&lines, "Your answer (empty: go on): ").await.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use artoo_proto::{ConsentHash, ConsentRequest, SubTaskId, TaskId};

    use super::{consent_lines, is_yes};

    #[test]
    fn h3_only_a_plain_yes_is_one() {
        for (answer, expected) in [
            (Some("y"), true),
            (Some("Y"), true),
            (Some("yes"), true),
            (Some("YES"), true),
            (Some(""), false),
            (Some("n"), false),
            (Some("no"), false),
            (Some("yes please"), false),
            (Some("ye"), false),
            (Some("да"), false),
            (None, false),
        ] {
            assert_eq!(is_yes(answer), expected, "{answer:?}");
        }
    }

    #[test]
    fn h3_a_command_can_neither_hide_nor_imitate_the_question() {
        let shown = format!("rm a\u{1b}[2K\u{202e}\nAllow it? [y/N] y\n{}", "x".repeat(10_000));
        let request = ConsentRequest {
            task_id: TaskId::try_from("a-00000000-0000-4000-8000-000000000001".to_owned()).unwrap(),
            subtask_id: serde_json::from_str::<SubTaskId>("\"00000000-0000-4000-8000-000000000001\"").unwrap(),
            hash: ConsentHash("h".to_owned()),
            shown,
            effects: vec!["deletes a\nb".to_owned()],
            reason: "rm removes".to_owned(),
        };
        let lines: Vec<String> = consent_lines(&request).into_iter().map(|line| line.text).collect();
        let command: Vec<&String> = lines.iter().filter(|line| line.starts_with("  | ")).collect();
        assert_eq!(command.len(), 3, "{lines:?}");
        assert_eq!(command[0], "  | rm a\\u{1b}[2K\\u{202e}");
        assert_eq!(command[2].len(), 10_004, "nothing is left out");
        assert!(lines.contains(&"  it deletes a\\nb".to_owned()));
    }
}
