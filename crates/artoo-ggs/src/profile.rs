//! `Profile`: a name, the numbers, and which reading of the specification holds where it can be read two ways.

use crate::config::ConfigHash;
use crate::params::{Hyperparameters, ParameterError};

/// What counts as a worsening round for Law 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum KillSwitch {
    /// D rose, and ∇L without its Omega part is above ε: time alone never kills a task.
    GapRises,
    /// ∇L is above ε.
    LossRises,
}

/// Whether criteria on the combined result take part in D and P.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum TaskCriteria {
    /// D is the greater of the subtasks' and the task's.
    Counted,
    /// D and P come from subtasks alone. An unmet task criterion is still named by a success.
    SubtasksOnly,
}

/// Whether an unmet required criterion keeps a round from being close enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum RequiredCriteria {
    /// It counts as D > δ in the table; D and L stay as measured.
    Enforced,
    /// It weighs like any other.
    Ignored,
}

/// What a directive forbids beyond its own round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum BlockRule {
    /// Tools and targets only grow within a task; urgency sets how widely they are drawn; when every tool would be
    /// blocked the oldest is released, once.
    Accumulate,
    /// A logical directive names this round's tools and no targets, an environmental one every exact target so far
    /// and no tools; nothing is released.
    PerDirective,
}

/// One answer for each question on which readings differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Rules {
    /// What Law 2 counts.
    pub kill_switch: KillSwitch,
    /// Whether task criteria are measured.
    pub task_criteria: TaskCriteria,
    /// Whether `required` binds.
    pub required_criteria: RequiredCriteria,
    /// What is blocked, and for how long.
    pub blocks: BlockRule,
}

/// A named, checked configuration.
///
/// What no profile can switch off: Units stay in 0..=1, a failed subtask never measures as D = 0, a success names what
/// is unmet, a task never runs more than `1 + max_replans` times.
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
    /// The default: version 0.8's numbers, with the readings that keep its laws.
    #[must_use]
    pub fn v0_8() -> Self {
        Self::named("v0.8".to_owned(), Hyperparameters::V0_8, Rules::V0_8)
    }

    /// Version 0.8's arithmetic to the letter, for comparison.
    #[must_use]
    pub fn literal() -> Self {
        Self::named("literal".to_owned(), Hyperparameters::V0_8, Rules::LITERAL)
    }

    /// A profile of one's own.
    ///
    /// # Errors
    /// [`ParameterError::EmptyName`].
    pub fn new(name: impl Into<String>, parameters: Hyperparameters, rules: Rules) -> Result<Self, ParameterError> {
        let name = name.into();
        if name.trim().is_empty() { Err(ParameterError::EmptyName) } else { Ok(Self::named(name, parameters, rules)) }
    }

    fn named(name: String, parameters: Hyperparameters, rules: Rules) -> Self {
        let mut profile = Self { name, parameters, rules, config: ConfigHash::of("") };
        profile.config = ConfigHash::of(&profile.config_text());
        profile
    }

    /// What it is called in logs.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its numbers.
    #[must_use]
    pub fn parameters(&self) -> &Hyperparameters {
        &self.parameters
    }

    /// Tells it from every profile that may decide otherwise; the name takes no part.
    #[must_use]
    pub fn config_hash(&self) -> ConfigHash {
        self.config
    }

    /// Its readings.
    #[must_use]
    pub fn rules(&self) -> &Rules {
        &self.rules
    }
}

impl Default for Profile {
    fn default() -> Self {
        Self::v0_8()
    }
}

impl Rules {
    /// The readings that keep version 0.8's laws.
    pub const V0_8: Self = Self {
        kill_switch: KillSwitch::GapRises,
        task_criteria: TaskCriteria::Counted,
        required_criteria: RequiredCriteria::Enforced,
        blocks: BlockRule::Accumulate,
    };

    /// Version 0.8 to the letter.
    pub const LITERAL: Self = Self {
        kill_switch: KillSwitch::LossRises,
        task_criteria: TaskCriteria::SubtasksOnly,
        required_criteria: RequiredCriteria::Ignored,
        blocks: BlockRule::PerDirective,
    };
}

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
