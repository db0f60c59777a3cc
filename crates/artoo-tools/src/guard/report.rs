//! The guard's answer about one command, for whoever wants to know before anything runs.

use artoo_proto::{EffectClass, escape};
use serde::Serialize;

use super::objection::CommandClass;
use super::{Proof, classify, named};
use crate::config::ToolConfig;
use crate::paths;
use crate::protect::Protected;

/// Paths named for an unproven command.
const NAMED_MAX: usize = 16;

/// What the guard says of a command; nothing has run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Classification {
    /// The command, byte for byte as it was given.
    pub command: String,
    /// What it does at worst.
    pub class: CommandClass,
    /// Whether a person must be asked first.
    pub ask: bool,
    /// Why, in a sentence.
    pub reason: String,
    /// What it would read, create, change or reach, a line each.
    pub effects: Vec<String>,
}

/// The guard over commands, set up once for a machine.
#[derive(Debug)]
pub struct CommandGuard {
    config: ToolConfig,
    protected: Protected,
}

impl CommandGuard {
    /// Looks up the protected places.
    #[must_use]
    pub fn new(config: ToolConfig) -> Self {
        let protected = Protected::new(&config.environment, &config.protected);
        Self { config, protected }
    }

    /// Classifies a command; reads the disk, runs nothing, never fails.
    #[must_use]
    pub fn check(&self, command: &str) -> Classification {
        let shown = command.to_owned();
        match classify(&self.config, &self.protected, command) {
            Proof::Proven(proven) => {
                let (class, reason) = match proven.class {
                    EffectClass::ReadOnly => (CommandClass::ReadOnly, "every part of it is known to read only"),
                    EffectClass::Creating | EffectClass::Unproven => {
                        (CommandClass::Reversible, "it only adds what is not there yet")
                    }
                };
                Classification {
                    command: shown,
                    class,
                    ask: false,
                    reason: reason.to_owned(),
                    effects: proven.effects.in_words(),
                }
            }
            Proof::Unproven { class, reason } => {
                let reason = escape::one_line(&reason);
                Classification { command: shown, class, ask: true, reason, effects: self.feared(class, command) }
            }
        }
    }

    /// What an unproven command may do, in words, with the paths it names.
    fn feared(&self, class: CommandClass, command: &str) -> Vec<String> {
        let mut effects = vec![
            match class {
                CommandClass::Irreversible => "may change or remove what can't be brought back",
                CommandClass::Exfil => "may send data away from this machine or show secrets",
                CommandClass::ReadOnly | CommandClass::Reversible | CommandClass::Opaque => {
                    "runs a command whose effects are not proven"
                }
            }
            .to_owned(),
        ];
        let paths = named::path_like(command)
            .into_iter()
            .filter_map(|part| paths::absolute(&self.config.environment, &part).ok());
        for path in paths.take(NAMED_MAX) {
            effects.extend(self.protected.refusal(&path));
            if path.symlink_metadata().is_ok() {
                effects.push(format!("may touch {}", paths::line(&path)));
            }
        }
        effects
    }
}
