//! Asks the user at the terminal for approval and clarification, one question at a time.

pub(crate) mod consent;
pub(crate) mod modes;
pub(crate) mod person;

use std::io::{self, IsTerminal};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use artoo_proto::{ClarificationRequest, ConsentRequest, ConsentScope, ReadingRequest};
use artoo_roles::runtime::{Consent, Operator};
use async_trait::async_trait;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::sync::oneshot;

use crate::display::coverage::readings;
use crate::display::writer::Screen;
use crate::display::{Line, quoted};

/// Maximum length of an answer that the user types, in bytes.
const ANSWER_MAX_BYTES: usize = 4_096;

/// Questions are shown once no new one has come for this time, so that parallel steps ask together.
const SETTLE: Duration = Duration::from_millis(60);

/// Interval at which standard input is checked for a typed answer.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The user at a terminal, who is asked for approval and clarification.
pub(crate) struct Terminal {
    screen: Screen,
    /// Calls that wait for an approval. Locked briefly, never across an await.
    waiting: Mutex<Vec<Waiting>>,
}

/// A call that waits for the user's approval, and the channel to which the answer is sent.
struct Waiting {
    request: ConsentRequest,
    answer: oneshot::Sender<Option<ConsentScope>>,
}

impl Terminal {
    /// The user at the terminal; `None` unless standard input and standard error are both a terminal.
    pub(crate) fn detect(screen: &Screen) -> Option<Self> {
        is_there().then(|| Self { screen: screen.clone(), waiting: Mutex::default() })
    }

    /// Asks the user whether to run the request that artoo offers in place of a declined one.
    pub(crate) async fn wants(&self, lines: &[Line]) -> bool {
        let answer = self.begin().await.ask(lines, "Run it? [y/N] ").await;
        answer.is_some_and(|answer| is_yes(&answer))
    }

    /// Locks the list of waiting questions.
    fn waiting(&self) -> MutexGuard<'_, Vec<Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a series of questions to the user; questions of parallel subtasks wait until the series ends.
    async fn begin(&self) -> Conversation<'_> {
        // Parallel subtasks may ask at once.
        let turn = self.screen.turn().await;
        // Events that led to the question must be shown before it, and calls of parallel steps are asked about together.
        let mut known = usize::MAX;
        while std::mem::replace(&mut known, self.waiting().len()) != known {
            tokio::time::sleep(SETTLE).await;
        }
        Conversation { screen: &self.screen, is_open: false, _turn: turn }
    }
}

/// A series of questions to the user; other questions wait until the series ends. When dropped, also if the task is
/// cancelled, output held back meanwhile is shown.
struct Conversation<'a> {
    screen: &'a Screen,
    is_open: bool,
    _turn: tokio::sync::MutexGuard<'a, ()>,
}

impl Conversation<'_> {
    /// Shows lines and a prompt, and reads the user's answer; `None` at the end of input.
    async fn ask(&mut self, lines: &[Line], prompt: &'static str) -> Option<String> {
        self.is_open = true;
        let asking = modes::EchoOn::begin(self.screen);
        self.screen.ask(lines, prompt);
        let answer = read_line().await;
        drop(asking);
        self.is_open = answer.is_none();
        answer
    }
}

/// Whether an answer is "y" or "yes".
fn is_yes(answer: &str) -> bool {
    matches!(answer.to_ascii_lowercase().as_str(), "y" | "yes")
}

/// Whether standard input and standard error are both a terminal, so that the user can be asked.
pub(crate) fn is_there() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

impl Drop for Conversation<'_> {
    fn drop(&mut self) {
        self.screen.answered(self.is_open);
    }
}

/// Reads a line from standard input, trimmed; `None` at the end of input, or for a line longer than
/// [`ANSWER_MAX_BYTES`]. Checks for input at intervals, so the wait can be cancelled.
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

    /// Asks for an approval; calls of one kind that wait at the same time are asked about in one question.
    async fn consent(&self, request: &ConsentRequest) -> Option<Consent> {
        let (answer, mut given) = oneshot::channel();
        self.waiting().push(Waiting { request: request.clone(), answer });
        let mut talk = self.begin().await;
        let scope = match given.try_recv() {
            Ok(scope) => scope,
            Err(_) => {
                let mut alike: Vec<Waiting> =
                    self.waiting().extract_if(.., |other| consent::is_alike(&other.request, request)).collect();
                alike.sort_by(|one, other| one.request.shown.cmp(&other.request.shown));
                let requests: Vec<&ConsentRequest> = alike.iter().map(|waiting| &waiting.request).collect();
                let scope = consent::ask(&mut talk, &requests).await;
                self.screen.count_question(scope.is_none());
                for waiting in alike {
                    // A call whose task was cancelled meanwhile takes no answer.
                    let _ = waiting.answer.send(scope);
                }
                scope
            }
        };
        scope.map(|scope| Consent { scope, by_person: true })
    }

    async fn confirm_readings(&self, request: &ReadingRequest) -> bool {
        let mut lines = vec![Line::strong("\nEverything else is shown; only you know whether this is what you meant:")];
        lines.extend(readings(&request.readings));
        let answer = self.begin().await.ask(&lines, "Is it? [y/N] ").await;
        let is_so = answer.is_some_and(|answer| is_yes(&answer));
        self.screen.count_question(!is_so);
        is_so
    }

    async fn clarify(&self, request: &ClarificationRequest) -> String {
        let mut lines = vec![Line::strong("\nTo go on, this has to be known:")];
        lines.extend(quoted(&request.question));
        self.begin().await.ask(&lines, "Your answer (empty: go on): ").await.unwrap_or_default()
    }
}
