//! Law 1, first layer: what a command may do, proven before it runs, or not proven.
//!
//! Nothing is guessed. A command is read-only or creating when two readers of the shell's language agree about it, every
//! program in it is known, every option of each is known to act on nothing, and every path it names may be read or is
//! not there yet. Everything else is unproven and asks. Proven commands run in [`environment`], which is part of the
//! proof.

mod archive;
mod awk;
mod builtins;
mod create;
mod danger;
mod effects;
mod environment;
mod expand;
mod find;
mod git;
mod invocation;
mod jq;
mod judge;
mod named;
mod objection;
mod odd;
mod options;
mod pattern;
mod programs;
mod ps;
mod scene;
mod search;
mod sed;
mod simple;
mod syntax;
mod table;
mod tests_of_shell;
mod value;
mod wrappers;
mod xargs;

use artoo_proto::EffectClass;

use crate::config::ToolConfig;
use crate::process::Invocation;
use crate::protect::Protected;
use crate::secret;

pub(crate) use effects::Effects;
use judge::Judge;
pub use objection::CommandClass;
use objection::Objection;
pub(crate) use pattern::matches_now;
pub(crate) use programs::ExitOne;

/// A command that needs nobody's consent.
#[derive(Debug)]
pub(crate) struct Proven {
    pub(crate) class: EffectClass,
    pub(crate) invocation: Invocation,
    pub(crate) effects: Effects,
}

/// What the guard says of a command.
#[derive(Debug)]
pub(crate) enum Proof {
    /// It may run as it is.
    Proven(Box<Proven>),
    /// It is not known what it does.
    Unproven {
        /// What kind of harm is to be feared.
        class: CommandClass,
        /// Why not.
        reason: String,
    },
}

/// Decides about a command; nothing is run.
pub(crate) fn classify(config: &ToolConfig, protected: &Protected, command: &str) -> Proof {
    match prove(config, protected, command) {
        Ok(proven) => Proof::Proven(Box::new(proven)),
        Err(Objection { class, reason }) => Proof::Unproven { class, reason },
    }
}

fn prove(config: &ToolConfig, protected: &Protected, command: &str) -> Result<Proven, Objection> {
    let list = syntax::parse(command).map_err(|doubt| named::feared(command, &doubt))?;
    let mut judge = Judge::new(config, protected);
    let mut state = judge.start();
    judge.list(&mut state, &list)?;
    let invocation = invocation::of(config, command, &list)
        .ok_or_else(|| Objection::opaque("no shell is installed that could run it"))?;
    let effects = judge.effects;
    // A copy no longer has the name that marked the file as a secret.
    if let Some(left_out) = secret::left_out(effects.left_out()).filter(|_| effects.makes_anything()) {
        return Err(Objection::reveals(format!("it makes files of what it reads and would have {left_out}")));
    }
    let class = if effects.makes_anything() { EffectClass::Creating } else { EffectClass::ReadOnly };
    Ok(Proven { class, invocation, effects })
}

#[cfg(test)]
mod tests;
