//! Profiles: a name, the twelve numbers, and a choice wherever the specification can be read in two ways.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use core::fmt;

use crate::config::ConfigHash;
use crate::params::{Hyperparameters, ParameterError};
use crate::switches::{Switch, Switches};

/// Version of the mathematics: raised when the same configuration would decide differently, so that its hash changes.
const MATHEMATICS: u32 = 1;

/// Which rounds Law 2 (the kill switch) counts as worsening.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum KillSwitch {
    /// Rounds in which D rose and ∇L (the change of the loss) without its Ω part is above ε, so that time alone never
    /// ends a task.
    GapRises,
    /// Rounds in which ∇L (the change of the loss) is above ε.
    LossRises,
}

/// Whether criteria on the combined result count in D and P.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum TaskCriteria {
    /// They count: D is the greater of the subtasks' and the task's distance.
    Counted,
    /// They don't count, but a success still lists unmet task criteria.
    SubtasksOnly,
}

/// Whether an unmet required criterion prevents success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum RequiredCriteria {
    /// An unmet required criterion counts as D > δ in the decision table; D and L stay as measured.
    Enforced,
    /// A required criterion counts like any other.
    Ignored,
}

/// How long blocks on tools and targets last, and what they cover.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum BlockRule {
    /// Blocks accumulate over a task; urgency sets their scope; when every tool would be blocked, the oldest is
    /// released, each at most once.
    Accumulate,
    /// A logical directive blocks the tools of its round and no targets; an environmental one blocks all exact pairs so
    /// far and no tools; nothing is released.
    PerDirective,
}

/// The four choices where the specification can be read in two ways, and the switches that change it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct Rules {
    /// Which rounds Law 2 counts as worsening.
    pub kill_switch: KillSwitch,
    /// Whether task criteria count in D and P.
    pub task_criteria: TaskCriteria,
    /// Whether an unmet required criterion prevents success.
    pub required_criteria: RequiredCriteria,
    /// How long blocks on tools and targets last, and what they cover.
    pub blocks: BlockRule,
    /// The changes to specification v0.8 that are turned on; left out of saved rules if there are none.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "crate::field_readers::is_default"))]
    pub switches: Switches,
}

/// A named, checked configuration of a [`Controller`](crate::Controller): numbers and rules.
///
/// Independent of the profile: D, P and Ω stay in 0..=1, a failed subtask never measures as D = 0, a success lists what
/// is unmet, and a plan is executed at most `1 + max_replans` times.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(try_from = "ProfileDraft"))]
pub struct Profile {
    name: String,
    parameters: Hyperparameters,
    rules: Rules,
    #[cfg_attr(feature = "serde", serde(skip_serializing))]
    config: ConfigHash,
}

impl Profile {
    /// The names that [`Profile::named`] knows.
    pub const NAMES: [&'static str; 3] = ["v0.8", "literal", "anytime"];

    /// The built-in profile with this name: `v0.8` ([`Profile::default`]), `literal` ([`Profile::strict_spec`]) or
    /// `anytime` ([`Profile::anytime`]); `None` for any other name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "v0.8" => Some(Self::default()),
            "literal" => Some(Self::strict_spec()),
            "anytime" => Some(Self::anytime()),
            _ => None,
        }
    }

    /// The numbers and rules of [`Profile::default`] with every [`Switch`] on; named `anytime`.
    #[must_use]
    pub fn anytime() -> Self {
        let rules = Rules { switches: Switches::ALL, ..Rules::DEFAULT };
        Self::unchecked("anytime".to_owned(), Hyperparameters::DEFAULT, rules)
    }

    /// The specification v0.8 to the letter, for comparison: the kill switch looks at L, task and required criteria
    /// don't count, and blocks last for one round.
    #[must_use]
    pub fn strict_spec() -> Self {
        Self::unchecked("strict_spec".to_owned(), Hyperparameters::DEFAULT, Rules::STRICT_SPEC)
    }

    /// A profile with its own name, numbers and rules.
    ///
    /// # Errors
    /// [`ParameterError::EmptyName`] if the name is blank.
    pub fn new(name: impl Into<String>, parameters: Hyperparameters, rules: Rules) -> Result<Self, ParameterError> {
        let name = name.into();
        if name.trim().is_empty() {
            Err(ParameterError::EmptyName)
        } else {
            Ok(Self::unchecked(name, parameters, rules))
        }
    }

    /// Creates a profile and computes its configuration hash.
    fn unchecked(name: String, parameters: Hyperparameters, rules: Rules) -> Self {
        let mut profile = Self { name, parameters, rules, config: ConfigHash::of("") };
        profile.config = ConfigHash::of(&profile.config_text());
        profile
    }

    /// The profile's name, as logs show it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The profile's twelve numbers: weights, thresholds, budget and limits.
    #[must_use]
    pub fn parameters(&self) -> &Hyperparameters {
        &self.parameters
    }

    /// Hash of the numbers and rules, without the name: differs from that of any profile that may decide differently.
    #[must_use]
    pub fn config_hash(&self) -> ConfigHash {
        self.config
    }

    /// The profile's rules: its choices where readings of the specification differ.
    #[must_use]
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Whether the profile turns this switch (a change to specification v0.8) on.
    #[must_use]
    pub fn has(&self, switch: Switch) -> bool {
        self.rules.switches.has(switch)
    }

    /// The configuration as text, over which [`ConfigHash`] is computed.
    #[must_use]
    pub fn config_text(&self) -> String {
        let (numbers, rules) = (self.parameters(), self.rules());
        let kill_switch = match rules.kill_switch {
            KillSwitch::GapRises => "gap_rises",
            KillSwitch::LossRises => "loss_rises",
        };
        let task_criteria = match rules.task_criteria {
            TaskCriteria::Counted => "counted",
            TaskCriteria::SubtasksOnly => "subtasks_only",
        };
        let required_criteria = match rules.required_criteria {
            RequiredCriteria::Enforced => "enforced",
            RequiredCriteria::Ignored => "ignored",
        };
        let blocks = match rules.blocks {
            BlockRule::Accumulate => "accumulate",
            BlockRule::PerDirective => "per_directive",
        };
        let lines: [(&str, &dyn fmt::Display); 17] = [
            ("artoo-ggs", &MATHEMATICS),
            ("alpha", &numbers.alpha),
            ("beta", &numbers.beta),
            ("lambda", &numbers.lambda),
            ("w1", &numbers.w1),
            ("w2", &numbers.w2),
            ("epsilon", &numbers.epsilon),
            ("delta", &numbers.delta),
            ("rho", &numbers.rho),
            ("theta", &numbers.theta),
            ("time_budget_ms", &numbers.time_budget_ms),
            ("max_replans", &numbers.max_replans),
            ("kill_after", &numbers.kill_after),
            ("kill_switch", &kill_switch),
            ("task_criteria", &task_criteria),
            ("required_criteria", &required_criteria),
            ("blocks", &blocks),
        ];
        let lines = lines.into_iter().map(|(name, value)| format!("{name} {value}\n"));
        lines.chain(rules.switches.iter().map(|switch| format!("switch {}\n", switch.name()))).collect()
    }
}

impl Default for Profile {
    /// The numbers of specification v0.8, with the rules that keep its laws; named `v0.8`.
    fn default() -> Self {
        Self::unchecked("v0.8".to_owned(), Hyperparameters::DEFAULT, Rules::DEFAULT)
    }
}

impl Rules {
    /// The rules that keep the laws of specification v0.8.
    pub const DEFAULT: Self = Self {
        kill_switch: KillSwitch::GapRises,
        task_criteria: TaskCriteria::Counted,
        required_criteria: RequiredCriteria::Enforced,
        blocks: BlockRule::Accumulate,
        switches: Switches::NONE,
    };

    /// The rules of specification v0.8 to the letter: the alternatives to every rule of [`Rules::DEFAULT`].
    pub const STRICT_SPEC: Self = Self {
        kill_switch: KillSwitch::LossRises,
        task_criteria: TaskCriteria::SubtasksOnly,
        required_criteria: RequiredCriteria::Ignored,
        blocks: BlockRule::PerDirective,
        switches: Switches::NONE,
    };
}

/// A profile after deserialization, before its name is checked.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct ProfileDraft {
    name: String,
    parameters: Hyperparameters,
    rules: Rules,
}

#[cfg(feature = "serde")]
impl TryFrom<ProfileDraft> for Profile {
    type Error = ParameterError;

    fn try_from(draft: ProfileDraft) -> Result<Self, Self::Error> {
        Self::new(draft.name, draft.parameters, draft.rules)
    }
}
