//! Assesses the risks of a command without running it.

use crate::command_line;
use crate::config::ToolConfig;
use crate::risk::{self, CommandAssessment};

/// Assesses the risks of shell commands by their words, without running them.
#[derive(Debug)]
pub struct Assessor {
    config: ToolConfig,
}

impl Assessor {
    /// An assessor for commands in the environment of this configuration.
    #[must_use]
    pub fn new(config: ToolConfig) -> Self {
        Self { config }
    }

    /// Assesses a command without running it.
    #[must_use]
    pub fn assess(&self, command: &str) -> CommandAssessment {
        risk::assess(command, &command_line::read(&self.config, command))
    }
}
