//! Switches: changes to specification v0.8 that a profile may turn on, each by itself.

#[cfg(feature = "serde")]
use alloc::vec::Vec;

/// One change to specification v0.8 that a profile may turn on.
///
/// Every switch is off in the profiles `v0.8` and `strict_spec`; [`Profile::anytime`](crate::Profile::anytime) turns all
/// of them on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Switch {
    /// Urgency follows ∇L without its Ω part, so that long rounds alone don't widen the blocks.
    UrgencyWithoutOmega,
    /// [`Controller::release`](crate::Controller::release) unblocks the oldest target, each at most once; the last
    /// released target is not blocked again.
    ReleaseTargets,
    /// A subtask that failed without a verdict is tried again as it is, at most twice, and blocks nothing.
    Retry,
    /// Every failing subtask gets a directive of its own, from its own D and P; tools are blocked for that subtask
    /// alone.
    BySubtask,
    /// Refine, and block nothing, where at most half of the criteria are unmet, unless the loss is suspect.
    KeepMostlyMet,
    /// Law 2 does not count a rise after a directive that ordered another approach.
    SpareExploration,
    /// The claims that failed two rounds ago, and not in between, count as no progress if they fail again: once
    /// `break_symmetry` follows, then the task ends.
    StopCycles,
    /// A result with 0 < D ≤ δ is delivered only when the task would otherwise be abandoned.
    DeliverLast,
}

impl Switch {
    /// All switches, in the order of their declaration.
    pub const ALL: [Self; 8] = [
        Self::UrgencyWithoutOmega,
        Self::ReleaseTargets,
        Self::Retry,
        Self::BySubtask,
        Self::KeepMostlyMet,
        Self::SpareExploration,
        Self::StopCycles,
        Self::DeliverLast,
    ];

    /// The switch's name in profile files, such as `by_subtask`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::UrgencyWithoutOmega => "urgency_without_omega",
            Self::ReleaseTargets => "release_targets",
            Self::Retry => "retry",
            Self::BySubtask => "by_subtask",
            Self::KeepMostlyMet => "keep_mostly_met",
            Self::SpareExploration => "spare_exploration",
            Self::StopCycles => "stop_cycles",
            Self::DeliverLast => "deliver_last",
        }
    }
}

/// The set of switches that a profile turns on; saved as a list of their names.
///
/// ```
/// use artoo_ggs::{Profile, Switch, Switches};
/// assert_eq!(Profile::default().rules().switches, Switches::NONE);
/// let all_but_one = Switches::ALL.without(Switch::Retry);
/// assert!(all_but_one.has(Switch::BySubtask) && !all_but_one.has(Switch::Retry));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(from = "Vec<Switch>", into = "Vec<Switch>")
)]
pub struct Switches(u16);

impl Switches {
    /// No switch turned on: the behaviour of specification v0.8.
    pub const NONE: Self = Self(0);
    /// Every switch turned on.
    pub const ALL: Self = Self((1 << Switch::ALL.len()) - 1);

    /// Whether `switch` is on.
    #[must_use]
    pub const fn has(self, switch: Switch) -> bool {
        self.0 & 1 << switch as u16 != 0
    }

    /// The set with `switch` turned on.
    #[must_use]
    pub const fn with(self, switch: Switch) -> Self {
        Self(self.0 | 1 << switch as u16)
    }

    /// The set with `switch` turned off.
    #[must_use]
    pub const fn without(self, switch: Switch) -> Self {
        Self(self.0 & !(1 << switch as u16))
    }

    /// The switches that are on.
    pub fn iter(self) -> impl Iterator<Item = Switch> {
        Switch::ALL.into_iter().filter(move |switch| self.has(*switch))
    }
}

impl FromIterator<Switch> for Switches {
    fn from_iter<T: IntoIterator<Item = Switch>>(switches: T) -> Self {
        switches.into_iter().fold(Self::NONE, Self::with)
    }
}

#[cfg(feature = "serde")]
impl From<Vec<Switch>> for Switches {
    fn from(switches: Vec<Switch>) -> Self {
        switches.into_iter().collect()
    }
}

#[cfg(feature = "serde")]
impl From<Switches> for Vec<Switch> {
    fn from(switches: Switches) -> Self {
        switches.iter().collect()
    }
}
