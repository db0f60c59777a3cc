//! The quantization matrix: magnitude, valence and decay of an event by the state of the controller.

use serde::{Deserialize, Serialize};

/// The state of the controller (the part of an agent that judges the progress of a task) when it wrote an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// The task was given up.
    Abandon,
    /// Every criterion was met.
    Accept,
    /// The method was wrong.
    ChangeApproach,
    /// The result is close enough to deliver.
    Success,
    /// Another class of tool ended a stretch without progress.
    BreakSymmetry,
    /// This target is a dead end; the tool is not to blame.
    ChangePath,
    /// The parameters were too loose.
    Refine,
}

impl State {
    /// All states, in the order of the rows of the quantization matrix.
    pub const ALL: [Self; 7] = [
        Self::Abandon,
        Self::Accept,
        Self::ChangeApproach,
        Self::Success,
        Self::BreakSymmetry,
        Self::ChangePath,
        Self::Refine,
    ];
}

/// Magnitude, valence and decay of one record.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Quantum {
    /// Magnitude: how much the record weighs before it decays, 0..=1.
    pub f: f64,
    /// Valence: from −1 (it failed) to 1 (it worked).
    pub sigma: f64,
    /// Decay per day; the half-life is ln 2 / k days.
    pub k: f64,
}

/// The row of the quantization matrix for a state: magnitude, valence and decay of an event.
#[must_use]
pub const fn quantize(state: State) -> Quantum {
    match state {
        State::Abandon => Quantum { f: 0.95, sigma: -1.0, k: 0.05 },
        State::Accept => Quantum { f: 0.90, sigma: 1.0, k: 0.05 },
        State::ChangeApproach => Quantum { f: 0.85, sigma: -1.0, k: 0.05 },
        State::Success => Quantum { f: 0.80, sigma: 1.0, k: 0.05 },
        State::BreakSymmetry => Quantum { f: 0.75, sigma: 1.0, k: 0.05 },
        State::ChangePath => Quantum { f: 0.30, sigma: 0.0, k: 0.2 },
        State::Refine => Quantum { f: 0.10, sigma: 0.5, k: 0.5 },
    }
}

/// Magnitude of a new rule; the quantization matrix has no row for rules.
pub const RULE_MAGNITUDE: f64 = 0.90;

/// Magnitude of feedback against a rule: the same as that of an abandoned task.
pub const FEEDBACK_MAGNITUDE: f64 = 0.95;

/// Decay rate per day of feedback and of demoted rules: a half-life of about 14 days.
pub const DEMOTED_DECAY: f64 = 0.05;
