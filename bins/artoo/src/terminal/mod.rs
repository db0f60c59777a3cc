//! The person at the terminal: asked for consent and for what is unclear, one question at a time.

mod consent;
pub(crate) mod modes;
pub(crate) mod person;

use std::io::{self, IsTerminal};
use std::time::Duration;

use artoo_proto::{ClarificationRequest, ConsentRequest, ConsentScope};
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

    /// Begins to talk; nobody else asks until it is over.
    async fn begin(&self) -> Conversation<'_> {
        // Parallel subtasks may ask at once.
        let turn = self.screen.turn().await;
        // What led to the question is on its way to the screen, and must be read before it.
        tokio::time::sleep(SETTLE).await;
        Conversation { question: Question { screen: &self.screen, is_open: false }, _turn: turn }
    }
}

/// Questions that belong together; other lines wait until the last is answered.
struct Conversation<'a> {
    question: Question<'a>,
    _turn: tokio::sync::MutexGuard<'a, ()>,
}

impl Conversation<'_> {
    async fn ask(&mut self, lines: &[Line], prompt: &'static str) -> Option<String> {
        self.question.is_open = true;
        let asking = modes::Asking::begin(self.question.screen);
        self.question.screen.ask(lines, prompt);
        let answer = read_line().await;
        drop(asking);
        self.question.is_open = answer.is_none();
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

#[async_trait]
impl Operator for Terminal {
    fn is_present(&self) -> bool {
        true
    }

    async fn consent(&self, request: &ConsentRequest) -> Option<ConsentScope> {
        consent::ask(&mut self.begin().await, request).await
    }

    async fn clarify(&self, request: &ClarificationRequest) -> String {
        let mut lines = vec![Line::strong("\nTo go on, this has to be known:")];
        lines.extend(quoted(&request.question));
        self.begin().await.ask(&lines, "Your answer (empty: go on): ").await.unwrap_or_default()
    }
}
