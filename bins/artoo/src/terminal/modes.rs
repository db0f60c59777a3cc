//! Terminal modes: the original ones are saved; echo is off while the prompt runs and on while a question is open.

use std::io;
use std::sync::OnceLock;

use rustix::termios::{
    InputModes, LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios, tcflush, tcgetattr, tcsetattr,
};

use crate::display::writer::Screen;

/// Control sequence that turns the terminal's bracketed paste mode on.
const BRACKETED_PASTE_ON: &str = "\u{1b}[?2004h";

/// Control sequence that turns the terminal's bracketed paste mode off.
const BRACKETED_PASTE_OFF: &str = "\u{1b}[?2004l";

/// The terminal's original modes, saved once when echo is first turned off, to be restored at exit.
static FOUND: OnceLock<Termios> = OnceLock::new();

/// While this guard exists, the terminal does not echo typed characters; Ctrl-C still interrupts.
pub(crate) struct EchoOff {
    screen: Screen,
}

impl EchoOff {
    /// Turns the terminal's echo off; `None` if that is not possible.
    pub(crate) fn begin(screen: &Screen) -> Option<Self> {
        let found = tcgetattr(io::stdin()).ok()?;
        let mut silent = found.clone();
        silent.local_modes.remove(LocalModes::ECHO | LocalModes::ICANON);
        silent.special_codes[SpecialCodeIndex::VMIN] = 1;
        silent.special_codes[SpecialCodeIndex::VTIME] = 0;
        FOUND.get_or_init(|| found);
        tcsetattr(io::stdin(), OptionalActions::Now, &silent).ok()?;
        enable_bracketed_paste(screen);
        Some(Self { screen: screen.clone() })
    }
}

impl Drop for EchoOff {
    fn drop(&mut self) {
        restore(&self.screen);
    }
}

/// Turns the terminal's bracketed paste mode on again after the line editor or a question turned it off.
pub(crate) fn enable_bracketed_paste(screen: &Screen) {
    if FOUND.get().is_some() {
        screen.control(BRACKETED_PASTE_ON);
    }
}

/// Restores the terminal's original modes, for exits that skip destructors.
pub(crate) fn restore(screen: &Screen) {
    if let Some(found) = FOUND.get() {
        set(found);
        screen.control(BRACKETED_PASTE_OFF);
    }
}

/// While this guard exists, the terminal echoes and edits lines itself. Input typed before or after the answer is
/// discarded.
pub(crate) struct EchoOn {
    screen: Screen,
    before: Option<Termios>,
}

impl EchoOn {
    /// Turns echo and line editing of the terminal on, until the guard is dropped.
    pub(crate) fn begin(screen: &Screen) -> Self {
        let before = tcgetattr(io::stdin()).ok();
        if let Some(before) = &before {
            let mut plain = before.clone();
            plain.local_modes.insert(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG);
            plain.input_modes.insert(InputModes::ICRNL);
            set(&plain);
        }
        if FOUND.get().is_some() {
            screen.control(BRACKETED_PASTE_OFF);
        }
        discard_input();
        Self { screen: screen.clone(), before }
    }
}

impl Drop for EchoOn {
    fn drop(&mut self) {
        discard_input();
        if let Some(before) = &self.before {
            set(before);
        }
        enable_bracketed_paste(&self.screen);
    }
}

/// Sets the terminal's modes; errors are ignored, since the terminal may be gone.
fn set(modes: &Termios) {
    let _gone = tcsetattr(io::stdin(), OptionalActions::Now, modes);
}

/// Discards what the user typed at the terminal and no program has read yet.
fn discard_input() {
    let _gone = tcflush(io::stdin(), QueueSelector::IFlush);
}
