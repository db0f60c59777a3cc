//! The macro-states, the four replan actions among them, and the quantization matrix for a memory.

use core::fmt;

/// The state that a decision leads to: accepted, success, abandoned, or one of four replan actions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum MacroState {
    /// The task was abandoned without a complete result.
    Abandon,
    /// Every criterion is met; deliver.
    Accept,
    /// The loss changes and the approach is to blame: use another method.
    ChangeApproach,
    /// D ≤ δ: deliver, with a list of what is unmet.
    Success,
    /// The loss is stuck and the approach is to blame: use another class of tool.
    BreakSymmetry,
    /// The loss is stuck and the environment is to blame: use another target.
    ChangePath,
    /// The loss changes and the approach is not to blame: tighten the parameters.
    Refine,
}

/// One row of the quantization matrix: how a memory weighs an experience with a [`MacroState`].
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Quantization {
    /// f: magnitude of the experience, 0..=1.
    pub f: f64,
    /// σ: valence of the experience, from -1 (bad) to 1 (good).
    pub sigma: f64,
    /// k: decay rate per day.
    pub k: f64,
}

impl MacroState {
    /// All states, in the order of the quantization matrix.
    pub const ALL: [Self; 7] = [
        Self::Abandon,
        Self::Accept,
        Self::ChangeApproach,
        Self::Success,
        Self::BreakSymmetry,
        Self::ChangePath,
        Self::Refine,
    ];

    /// The macro-state's row in the quantization matrix of specification v0.8.
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

    /// The macro-state's name in logs and saved data, such as `change_path`.
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

/// The kind of change the next plan must make: refine, or change the path, the approach or the tool class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum ReplanAction {
    /// Keep the approach, tighten its parameters.
    Refine,
    /// Use another target.
    ChangePath,
    /// Use another method.
    ChangeApproach,
    /// Use another class of tool.
    BreakSymmetry,
}

impl ReplanAction {
    /// Whether the action blames the approach, and so blocks tools; the others block targets.
    #[must_use]
    pub fn is_logical(self) -> bool {
        match self {
            Self::ChangeApproach | Self::BreakSymmetry => true,
            Self::Refine | Self::ChangePath => false,
        }
    }
}

impl From<ReplanAction> for MacroState {
    fn from(action: ReplanAction) -> Self {
        match action {
            ReplanAction::Refine => Self::Refine,
            ReplanAction::ChangePath => Self::ChangePath,
            ReplanAction::ChangeApproach => Self::ChangeApproach,
            ReplanAction::BreakSymmetry => Self::BreakSymmetry,
        }
    }
}

impl fmt::Display for ReplanAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        MacroState::from(*self).fmt(f)
    }
}

/// The action of the directive before a decision, if there was one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum PreviousAction {
    /// No directive was issued yet.
    #[default]
    Init,
    /// The action of the last directive.
    Action(ReplanAction),
}

impl PreviousAction {
    /// The macro-state of the last directive; `None` before the first.
    #[must_use]
    pub fn state(self) -> Option<MacroState> {
        match self {
            Self::Init => None,
            Self::Action(action) => Some(action.into()),
        }
    }
}

impl fmt::Display for PreviousAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Init => f.write_str("init"),
            Self::Action(action) => action.fmt(f),
        }
    }
}
