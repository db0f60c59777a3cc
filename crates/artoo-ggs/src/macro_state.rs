//! The macro-states, the four actions among them, and the quantization matrix that says how memory weighs each.

use std::fmt;

/// Where a task stands after a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum MacroState {
    /// Given up.
    Abandon,
    /// Every criterion met.
    Accept,
    /// There is a signal, the approach is wrong: another method.
    ChangeApproach,
    /// D ≤ δ: close enough.
    Success,
    /// Stuck, the approach is wrong: another class of tool.
    BreakSymmetry,
    /// Stuck, the approach is sound: another target.
    ChangePath,
    /// There is a signal, the approach is sound: tighter parameters.
    Refine,
}

/// One row of the quantization matrix.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Quantization {
    /// Magnitude, 0..=1.
    pub f: f64,
    /// Valence, -1..=1.
    pub sigma: f64,
    /// Decay a day.
    pub k: f64,
}

impl MacroState {
    /// Every state, in the matrix's order.
    pub const ALL: [Self; 7] = [
        Self::Abandon,
        Self::Accept,
        Self::ChangeApproach,
        Self::Success,
        Self::BreakSymmetry,
        Self::ChangePath,
        Self::Refine,
    ];

    /// Its row of version 0.8's matrix.
    #[must_use]
    pub fn quantization(self) -> Quantization {
        let (f, sigma, k) = match self {
            Self::Abandon => (0.95, -1.0, 0.05),
            Self::Accept => (0.90, 1.0, 0.05),
            Self::ChangeApproach => (0.85, -1.0, 0.05),
            Self::Success => (0.80, 1.0, 0.05),
            Self::BreakSymmetry => (0.75, 1.0, 0.05),
            Self::ChangePath => (0.30, 0.0, 0.2),
            Self::Refine => (0.10, 0.5, 0.5),
        };
        Quantization { f, sigma, k }
    }

    /// Its name on the wire.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Abandon => "abandon",
            Self::Accept => "accept",
            Self::ChangeApproach => "change_approach",
            Self::Success => "success",
            Self::BreakSymmetry => "break_symmetry",
            Self::ChangePath => "change_path",
            Self::Refine => "refine",
        }
    }
}

impl fmt::Display for MacroState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What kind of change the next plan must make.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Action {
    /// Tighter parameters.
    Refine,
    /// Another target.
    ChangePath,
    /// Another method.
    ChangeApproach,
    /// Another class of tool.
    BreakSymmetry,
}

impl Action {
    /// Whether it blames the approach (and so blocks tools) rather than the environment (and so blocks targets).
    #[must_use]
    pub fn is_logical(self) -> bool {
        match self {
            Self::ChangeApproach | Self::BreakSymmetry => true,
            Self::Refine | Self::ChangePath => false,
        }
    }
}

impl From<Action> for MacroState {
    fn from(action: Action) -> Self {
        match action {
            Action::Refine => Self::Refine,
            Action::ChangePath => Self::ChangePath,
            Action::ChangeApproach => Self::ChangeApproach,
            Action::BreakSymmetry => Self::BreakSymmetry,
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        MacroState::from(*self).fmt(f)
    }
}

/// The directive before a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Previous {
    /// Nothing was directed yet.
    #[default]
    Init,
    /// The last directive.
    Action(Action),
}

impl Previous {
    /// Its macro-state; none before the first directive.
    #[must_use]
    pub fn state(self) -> Option<MacroState> {
        match self {
            Self::Init => None,
            Self::Action(action) => Some(action.into()),
        }
    }
}

impl fmt::Display for Previous {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Init => f.write_str("init"),
            Self::Action(action) => action.fmt(f),
        }
    }
}
