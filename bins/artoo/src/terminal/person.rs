//! Questions of `artoo setup` and other subcommands to the user: a choice from a list, a line, a secret, an approval.

use std::io;

use artoo_proto::escape;
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

use crate::{Line, Screen};

/// Maximum number of invalid answers to a choice from a list; after that the question is given up.
const TRIES: u32 = 5;

/// The user at the terminal, to whom messages and questions are shown.
pub(crate) struct Person<'a> {
    pub(crate) screen: &'a Screen,
}

/// Asks the user to approve something, with no as the default. Without a terminal, or with JSON, it is denied with
/// `unattended` as the reason.
pub(crate) fn approves(question: &str, unattended: &str, is_json: bool, screen: &Screen) -> bool {
    let is_asked = !is_json && super::is_there();
    if !is_asked {
        screen.insist(&[Line::warning(unattended)]);
    }
    is_asked && Person { screen }.approves(question, false)
}

/// Whether an answer is "q", with which the user leaves a series of questions.
fn is_leave(answer: &str) -> bool {
    answer.eq_ignore_ascii_case("q")
}

impl Person<'_> {
    /// Shows a text to the user, even with `--quiet`.
    pub(crate) fn says(&self, text: &str) {
        self.screen.insist(&[Line::plain(escape::visible(text))]);
    }

    /// Shows a warning to the user, even with `--quiet`.
    pub(crate) fn warns(&self, text: &str) {
        self.screen.insist(&[Line::warning(escape::visible(text))]);
    }

    /// Asks for a choice from a list and returns its index; `None` if the user leaves or every answer is invalid.
    pub(crate) fn picks(&self, question: &str, lines: &[String]) -> Option<usize> {
        let mut shown = vec![Line::strong(format!("\n{question}"))];
        shown.extend(
            (1..).zip(lines).map(|(number, line)| Line::plain(format!("  {number}. {}", escape::one_line(line)))),
        );
        self.screen.insist(&shown);
        for _ in 0..TRIES {
            let answer = self.reads("Number (empty: 1, q: leave): ")?;
            let number = if answer.is_empty() { Ok(1) } else { answer.parse::<usize>() };
            match number {
                Ok(number) if (1..=lines.len()).contains(&number) => return Some(number - 1),
                _ if is_leave(&answer) => return None,
                _ => self.warns(&format!("Give a number from 1 to {}.", lines.len())),
            }
        }
        None
    }

    /// Shows a prompt and reads a line, trimmed; `None` if the user leaves with an empty line or q.
    pub(crate) fn types(&self, prompt: &'static str) -> Option<String> {
        self.reads(prompt).filter(|line| !line.is_empty() && !is_leave(line))
    }

    /// Shows a prompt and reads a line, trimmed; `None` at the end of input.
    fn reads(&self, prompt: &'static str) -> Option<String> {
        self.screen.ask(&[], prompt);
        let mut line = String::new();
        let read = io::stdin().read_line(&mut line);
        self.screen.answered(!matches!(read, Ok(1..)));
        matches!(read, Ok(1..)).then(|| line.trim().to_owned())
    }

    /// Shows a prompt and reads a line without echo, such as a key; `None` if the user leaves with q, at the end of input
    /// or if echo can't be turned off.
    pub(crate) fn types_secret(&self, prompt: &'static str) -> Option<String> {
        let stdin = io::stdin();
        let before = tcgetattr(&stdin).ok()?;
        let mut silent = before.clone();
        silent.local_modes.remove(LocalModes::ECHO);
        silent.local_modes.insert(LocalModes::ECHONL);
        tcsetattr(&stdin, OptionalActions::Flush, &silent).ok()?;
        let typed = self.reads(prompt).filter(|typed| !is_leave(typed));
        // Otherwise the user's shell would not echo either. A failure can't be handled here.
        let _ = tcsetattr(&stdin, OptionalActions::Flush, &before);
        typed
    }

    /// Asks the user a yes-or-no question; an empty answer means `by_default`, no input means no.
    pub(crate) fn approves(&self, question: &str, by_default: bool) -> bool {
        self.says(question);
        let prompt = if by_default { "[Y/n] " } else { "[y/N] " };
        match self.reads(prompt) {
            Some(answer) if answer.is_empty() => by_default,
            Some(answer) => matches!(answer.to_lowercase().as_str(), "y" | "yes"),
            None => false,
        }
    }
}
