//! The reasons for which a task is abandoned.

/// The reason for which a task was abandoned, such as a spent budget or too many replans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum StopReason {
    /// The budget is spent: Ω (share of the budget used) reached its threshold θ.
    BudgetExhausted,
    /// The limit on replans: all `max_replans` directives were issued.
    MaxReplans,
    /// Law 2 (the kill switch): too many rounds in a row were worse than the round before.
    Diverging,
    /// The same claims failed in turn again, although the task had to leave that cycle before.
    Cycling,
    /// Every available tool is blocked, and each was released once already.
    ToolsExhausted,
    /// The caller stopped the task: a cancel, a deadline, a dead provider.
    External,
}

impl StopReason {
    /// The reason's name in logs and saved data, such as `max_replans`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::BudgetExhausted => "budget_exhausted",
            Self::MaxReplans => "max_replans",
            Self::Diverging => "diverging",
            Self::Cycling => "cycling",
            Self::ToolsExhausted => "tools_exhausted",
            Self::External => "external",
        }
    }
}
