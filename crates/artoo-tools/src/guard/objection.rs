//! Why a command is not proven harmless, and which kind of harm is to be feared.

use serde::Serialize;

/// What a command does, at worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandClass {
    /// Proven: it changes nothing and nothing leaves the machine.
    ReadOnly,
    /// Proven: it only adds what was not there.
    Reversible,
    /// It may change or remove what can't be brought back.
    Irreversible,
    /// It runs code that nobody has read, or its effects are unknown.
    Opaque,
    /// It may send data away, or shows secrets.
    Exfil,
}

/// What stands against running a command without asking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Objection {
    pub(crate) class: CommandClass,
    pub(crate) reason: String,
}

impl Objection {
    pub(crate) fn opaque(reason: impl Into<String>) -> Self {
        Self { class: CommandClass::Opaque, reason: reason.into() }
    }

    pub(crate) fn changes(reason: impl Into<String>) -> Self {
        Self { class: CommandClass::Irreversible, reason: reason.into() }
    }

    pub(crate) fn reveals(reason: impl Into<String>) -> Self {
        Self { class: CommandClass::Exfil, reason: reason.into() }
    }
}
