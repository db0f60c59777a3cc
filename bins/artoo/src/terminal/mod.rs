//! The person at the terminal: asked for consent and for what is unclear, one question at a time.

pub(crate) mod modes;

use std::io::{self, IsTerminal};
use std::time::Duration;

use artoo_proto::{ClarificationRequest, ConsentRequest, escape};
use artoo_roles::runtime::Operator;
use async_trait::async_trait;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::display::writer::Screen;
use crate::display::{Line, quoted};

/// Longest answer read, in bytes: what a terminal hands over as one line.
const ANSWER_MAX_BYTES: usize = 4_096;

/// Until what led to a question has reached the screen: events and questions come by different ways.
const SETTLE: Duration = Duration::from_millis(20);

/// How often it is looked whether a question was answered: faster than a person notices.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Someone who sees standard error and types on standard input.
pub(crate) struct Terminal {
    screen: Screen,
}

impl Terminal {
    /// The person, where both ends are a terminal; a pipe is nobody.
    pub(crate) fn detect(screen: &Screen) -> Option<Self> {
        is_there().then(|| Self { screen: screen.clone() })
    }

    async fn ask(&self, lines: &[Line], prompt: &'static str) -> Option<String> {
        // Parallel subtasks may ask at once.
        let _turn = self.screen.turn().await;
        // What led to the question is on its way to the screen, and must be read before it.
        tokio::time::sleep(SETTLE).await;
        let mut question = Question { screen: &self.screen, is_open: true };
        let asking = modes::Asking::begin(&self.screen);
        self.screen.ask(lines, prompt);
        let answer = read_line().await;
        drop(asking);
        question.is_open = answer.is_none();
        answer
    }
}

/// Whether a person sees what is shown and can type.
pub(crate) fn is_there() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// A question that stands on the screen; over when dropped, also where the task is cancelled meanwhile.
struct Question<'a> {
    screen: &'a Screen,
    is_open: bool,
}

impl Drop for Question<'_> {
    fn drop(&mut self) {
        self.screen.answered(self.is_open);
    }
}

/// A whole line, or nothing at the end of input. Nobody reads on after the question is dropped.
async fn read_line() -> Option<String> {
    let stdin = io::stdin();
    loop {
        let mut waiting = [PollFd::new(&stdin, PollFlags::IN)];
        if poll(&mut waiting, Some(&Timespec::default())).ok()? > 0 {
            break;
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    let mut line = [0; ANSWER_MAX_BYTES];
    let read = rustix::io::read(&stdin, &mut line).ok()?;
    let line = String::from_utf8_lossy(line.get(..read)?);
    line.ends_with('\n').then(|| line.trim().to_owned())
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
        let mut lines = vec![Line::strong("\nTo go on, this has to be known:")];
        lines.extend(quoted(&request.question));
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
