//! The terminal's modes: as it was found, silent while a prompt lives, plain while a question stands.

use std::io;
use std::sync::OnceLock;

use rustix::termios::{
    InputModes, LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios, tcflush, tcgetattr, tcsetattr,
};

use crate::display::writer::Screen;

/// Asks the terminal to mark what is pasted, so that a block of lines is one input whenever it comes.
const PASTE_MARKED: &str = "\u{1b}[?2004h";

/// And to stop that.
const PASTE_UNMARKED: &str = "\u{1b}[?2004l";

/// The modes a silent terminal is given back with. Set once: a process has one terminal.
static FOUND: OnceLock<Termios> = OnceLock::new();

/// While it lives, what is typed is not echoed and waits for the next prompt; Ctrl-C still interrupts.
pub(crate) struct Silent {
    screen: Screen,
}

impl Silent {
    /// Silences the terminal; `None` where it can't be.
    pub(crate) fn begin(screen: &Screen) -> Option<Self> {
        let found = tcgetattr(io::stdin()).ok()?;
        let mut silent = found.clone();
        silent.local_modes.remove(LocalModes::ECHO | LocalModes::ICANON);
        silent.special_codes[SpecialCodeIndex::VMIN] = 1;
        silent.special_codes[SpecialCodeIndex::VTIME] = 0;
        FOUND.get_or_init(|| found);
        tcsetattr(io::stdin(), OptionalActions::Now, &silent).ok()?;
        mark_pastes(screen);
        Some(Self { screen: screen.clone() })
    }
}

impl Drop for Silent {
    fn drop(&mut self) {
        restore(&self.screen);
    }
}

/// Marks pastes again, where the terminal is silent; a line editor stops that when it ends.
pub(crate) fn mark_pastes(screen: &Screen) {
    if FOUND.get().is_some() {
        screen.control(PASTE_MARKED);
    }
}

/// Gives the terminal back as it was found, where it was silenced: for ends that no guard lives to see.
pub(crate) fn restore(screen: &Screen) {
    if let Some(found) = FOUND.get() {
        set(found);
        screen.control(PASTE_UNMARKED);
    }
}

/// While it lives, a line is typed in the terminal's own way. What was typed before it began, or stands behind the one
/// line read, answers nothing: it is thrown away.
pub(crate) struct Asking {
    screen: Screen,
    before: Option<Termios>,
}

impl Asking {
    pub(crate) fn begin(screen: &Screen) -> Self {
        let before = tcgetattr(io::stdin()).ok();
        if let Some(before) = &before {
            let mut plain = before.clone();
            plain.local_modes.insert(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG);
            plain.input_modes.insert(InputModes::ICRNL);
            set(&plain);
        }
        if FOUND.get().is_some() {
            screen.control(PASTE_UNMARKED);
        }
        forget_typed();
        Self { screen: screen.clone(), before }
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        forget_typed();
        if let Some(before) = &self.before {
            set(before);
        }
        mark_pastes(&self.screen);
    }
}

/// A terminal that is gone needs nothing.
fn set(modes: &Termios) {
    let _gone = tcsetattr(io::stdin(), OptionalActions::Now, modes);
}

/// Throws away what was typed and not read.
fn forget_typed() {
    let _gone = tcflush(io::stdin(), QueueSelector::IFlush);
}
