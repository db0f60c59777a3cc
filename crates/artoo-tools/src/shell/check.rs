//! Assessment of a command without running it.

use serde::Serialize;

use crate::command_line;
use crate::config::ToolConfig;
use crate::risk::{self, CommandClass};

/// What the words of a command say about its risks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CommandAssessment {
    /// The command as it was given.
    pub command: String,
    /// The worst that its words hint at.
    pub class: CommandClass,
    /// Why it is never run, if it is not.
    pub refused: Option<String>,
    /// What it may do, each in a few words. An empty list proves nothing.
    pub risks: Vec<String>,
}

/// Assesses commands by their words.
#[derive(Debug)]
pub struct Assessor {
    config: ToolConfig,
}

impl Assessor {
    /// An assessor for commands run in this environment.
    #[must_use]
    pub fn new(config: ToolConfig) -> Self {
        Self { config }
    }

    /// Assesses a command; runs nothing.
    #[must_use]
    pub fn assess(&self, command: &str) -> CommandAssessment {
        let risk::Assessment { refusal, risks, class } = risk::assess(&command_line::read(&self.config, command));
        CommandAssessment { command: command.to_owned(), class, refused: refusal, risks }
    }
}
