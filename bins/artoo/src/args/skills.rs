//! The command-line options of `artoo skills`.

use clap::Subcommand;

/// Subcommands of `artoo skills`.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum SkillsCommand {
    /// Every skill, and whether it is offered, used or set aside
    List,
    /// What a skill does: the words of its requests, its calls, and what they are compared with
    Show {
        /// The skill's name, as the list shows it
        name: String,
    },
    /// The tasks that a skill was learned from, and those that spoke against it
    Why {
        /// The skill's name, as the list shows it
        name: String,
    },
    /// Lets a skill answer its requests, exactly as `show` prints it
    Accept {
        /// The skill's name, as the list shows it
        name: String,
    },
    /// Stops using a skill; its requests go to the model again
    Disable {
        /// The skill's name, as the list shows it
        name: String,
    },
}
