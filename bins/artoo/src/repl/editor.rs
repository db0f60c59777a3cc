//! The prompt's line editor, on a thread of its own, since waiting for a key can't be cancelled.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::thread;

use rustyline::config::BellStyle;
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{Behavior, Config, Editor};
use tokio::sync::oneshot;

use super::history::{ENTRIES_MAX, HistoryFile};
use super::line::{LineHelper, meant};
use crate::terminal::modes;
use crate::{Line, Screen};

/// The text shown before the typed line, for a terminal without colour.
const PROMPT: &str = "artoo> ";
/// The text shown before the typed line, in bold.
const PROMPT_COLOURED: &str = "\u{1b}[1martoo> \u{1b}[0m";

/// The line editor of the crate rustyline with artoo's hooks and a history file.
type Lines = Editor<LineHelper, FileHistory>;

/// The outcome of reading a line at the prompt: an input, Ctrl-C, or the end of input.
#[derive(Debug)]
pub(super) enum Typed {
    /// The text that the user typed, one or more lines.
    Input(String),
    /// Ctrl-C was pressed; `was_empty` says whether the line was empty.
    Interrupted { was_empty: bool },
    /// Ctrl-D was pressed, or the terminal was closed.
    End,
}

/// The interactive prompt: its line editor, created when first needed, and its history file.
pub(super) struct Prompt {
    screen: Screen,
    history: HistoryFile,
    cwd: PathBuf,
    editor: Option<Lines>,
}

impl Prompt {
    /// Creates the prompt; names typed after `@` are completed relative to `cwd`.
    pub(super) fn new(screen: &Screen, history: HistoryFile, cwd: &Path) -> Self {
        Self { screen: screen.clone(), history, cwd: cwd.to_owned(), editor: None }
    }

    /// Reads an input at the prompt; other output is held back until the input ends.
    pub(super) async fn read(&mut self) -> Result<Typed, ReadlineError> {
        let mut editor = match self.editor.take() {
            Some(editor) => editor,
            None => self.open()?,
        };
        let has_colour = self.screen.has_colour();
        self.screen.hold();
        let (sender, read) = oneshot::channel();
        thread::spawn(move || {
            let styled = if has_colour { PROMPT_COLOURED } else { PROMPT };
            let line = editor.readline(&(PROMPT, styled));
            // Sending fails if the caller was cancelled meanwhile.
            drop(sender.send((editor, line)));
        });
        let open = Open { screen: &self.screen };
        let read = read.await;
        drop(open);
        // An editor that panicked is replaced; the next line is typed in a new one.
        let Ok((mut editor, line)) = read else { return Ok(Typed::Interrupted { was_empty: false }) };
        let typed = match line {
            Ok(line) => {
                if !line.trim().is_empty() {
                    self.history.keep(&mut editor, &line);
                }
                Typed::Input(meant(&line))
            }
            Err(ReadlineError::Interrupted) => {
                let was_empty = editor.helper().is_some_and(LineHelper::was_empty);
                Typed::Interrupted { was_empty }
            }
            Err(ReadlineError::Eof | ReadlineError::Io(_) | ReadlineError::Errno(_)) => Typed::End,
            Err(error) => return Err(error),
        };
        self.editor = Some(editor);
        Ok(typed)
    }

    /// Discards input that was typed ahead and that the line editor has already read.
    pub(super) fn discard_input(&mut self) {
        // The editor buffers what it read after the last line.
        self.editor = None;
    }

    /// Creates the line editor and loads the history; if the history can't be loaded, a warning is shown.
    fn open(&self) -> Result<Lines, ReadlineError> {
        // If standard output is redirected, the prompt is shown on the terminal all the same.
        let is_plain = io::stdout().is_terminal();
        let config = Config::builder()
            .behavior(if is_plain { Behavior::Stdio } else { Behavior::PreferTerm })
            .bell_style(BellStyle::None)
            .max_history_size(ENTRIES_MAX)?
            .auto_add_history(false)
            .build();
        let mut editor = Lines::with_config(config)?;
        editor.set_helper(Some(LineHelper::in_folder(&self.cwd)));
        if let Err(problem) = self.history.load(&mut editor) {
            self.screen.tell(&[Line::warning(problem)]);
        }
        Ok(editor)
    }
}

/// Guard for the time in which a line is typed: when dropped, it shows the output that was held back meanwhile.
struct Open<'a> {
    screen: &'a Screen,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        modes::enable_bracketed_paste(self.screen);
        self.screen.answered(false);
    }
}
