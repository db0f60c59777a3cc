//! Classification of a command without running it.

use artoo_proto::{EffectClass, escape};
use serde::Serialize;

use crate::config::ToolConfig;
use crate::guard::{self, CommandClass, Proof};
use crate::protect::Protected;

/// The classification of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Classification {
    /// The command as it was given.
    pub command: String,
    /// The worst it may do.
    pub class: CommandClass,
    /// Whether it needs approval.
    pub ask: bool,
    /// Why, in one sentence.
    pub reason: String,
    /// What it would read, create or change, one line each.
    pub effects: Vec<String>,
}

/// Classifies commands on this machine.
#[derive(Debug)]
pub struct CommandGuard {
    config: ToolConfig,
    protected: Protected,
}

impl CommandGuard {
    /// Reads the protected places.
    #[must_use]
    pub fn new(config: ToolConfig) -> Self {
        let protected = Protected::new(&config.environment, &config.protected);
        Self { config, protected }
    }

    /// Classifies a command; reads the disk, runs nothing, never fails.
    #[must_use]
    pub fn check(&self, command: &str) -> Classification {
        let proof = guard::classify(&self.config, &self.protected, command);
        let (class, reason) = match &proof {
            Proof::Proven(proven) if proven.class == EffectClass::ReadOnly => {
                (CommandClass::ReadOnly, "every part of it is known to read only".to_owned())
            }
            Proof::Proven(_) => (CommandClass::Reversible, "it only adds what is not there yet".to_owned()),
            Proof::Unproven { class, reason } => (*class, escape::one_line(reason)),
        };
        let effects = match &proof {
            Proof::Proven(proven) => proven.effects.in_words(),
            Proof::Unproven { .. } => Vec::new(),
        };
        let ask = matches!(proof, Proof::Unproven { .. });
        Classification { command: command.to_owned(), class, ask, reason, effects }
    }
}
