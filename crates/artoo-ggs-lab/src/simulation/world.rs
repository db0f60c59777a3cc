//! The hidden truth of one simulated task, drawn at random from its family; no policy but the oracle sees it.

use super::draws::{Draws, Purpose};
use super::family::Family;
use artoo_ggs::CriterionMode;

/// The name and class of each simulated tool; two tools per class.
pub(super) const TOOLS: [(&str, &str); 6] = [
    ("read_file", "files"),
    ("glob", "files"),
    ("web_search", "web"),
    ("fetch", "web"),
    ("shell", "shell"),
    ("script", "shell"),
];
/// The paths that each subtask may work on (its targets); two per folder.
pub(super) const TARGETS: [[&str; 4]; SUBTASKS_MAX] = [
    ["/a/east/1", "/a/east/2", "/a/west/1", "/a/west/2"],
    ["/b/east/1", "/b/east/2", "/b/west/1", "/b/west/2"],
    ["/c/east/1", "/c/east/2", "/c/west/1", "/c/west/2"],
];
/// Maximum number of subtasks of a simulated task.
pub(super) const SUBTASKS_MAX: usize = 3;
/// Maximum number of criteria of a simulated subtask.
pub(super) const CRITERIA_MAX: usize = 4;
/// Probability that a criterion is verifiable by code.
const VERIFIABLE: f64 = 0.5;
/// Probability that a task has a required criterion.
const HAS_REQUIRED: f64 = 0.5;

/// A set of indices from 0 to 7, stored as bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Set(u8);

impl Set {
    /// Whether the set has this index.
    pub(super) fn has(self, index: usize) -> bool {
        (self.0 >> index) & 1 == 1
    }

    /// The set with this index added.
    pub(super) fn with(self, index: usize) -> Self {
        Self(self.0 | 1 << index)
    }

    /// The indices below `count` for which `is_in` is true.
    pub(super) fn from_fn(count: usize, is_in: impl Fn(usize) -> bool) -> Self {
        (0..count).filter(|index| is_in(*index)).fold(Self::default(), Self::with)
    }

    /// The number of indices.
    pub(super) fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Whether the set has no index.
    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether every index of this set is also in `other`.
    pub(super) fn is_within(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }
}

/// The hidden truth of one criterion: its kind and difficulty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct CriterionTruth {
    pub(super) mode: CriterionMode,
    pub(super) required: bool,
    /// The skill needed to meet the criterion, in 0..1.
    pub(super) difficulty: f64,
}

/// The hidden truth of one subtask: its criteria, which tools and targets work, and the planner's preferences.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SubtaskTruth {
    pub(super) criteria: Vec<CriterionTruth>,
    /// Indices of the tools that can do the subtask.
    pub(super) sound: Set,
    /// Indices of the targets that are accessible.
    pub(super) open: Set,
    /// Indices of all tools in the planner's order of preference.
    pub(super) tool_order: Vec<usize>,
    /// Indices of the subtask's targets in the planner's order of preference.
    pub(super) target_order: Vec<usize>,
}

/// The hidden truth of one task.
#[derive(Debug, Clone)]
pub(super) struct World {
    pub(super) family: Family,
    pub(super) draws: Draws,
    pub(super) subtasks: Vec<SubtaskTruth>,
}

impl World {
    /// Draws the hidden truth of one task of a family.
    pub(super) fn new(family: Family, draws: Draws) -> Self {
        let count = 1 + draws.index(SUBTASKS_MAX, Purpose::Shape, &[]);
        let has_required = draws.chance(HAS_REQUIRED, Purpose::Shape, &[0]);
        let subtasks =
            (0..count).map(|subtask| draw_subtask(&family, &draws, subtask, has_required && subtask == 0)).collect();
        Self { family, draws, subtasks }
    }

    /// Number of criteria of all subtasks of the task.
    pub(super) fn criteria_count(&self) -> u32 {
        self.subtasks.iter().map(|subtask| subtask.criteria.len() as u32).sum()
    }

    /// Whether the subtasks' results fit together if they were done with these tools.
    pub(super) fn fits(&self, tools: impl Iterator<Item = usize>) -> bool {
        let address: Vec<usize> = tools.collect();
        !self.draws.chance(self.family.misfit, Purpose::Fit, &address)
    }
}

/// Draws the hidden truth of one subtask.
fn draw_subtask(family: &Family, draws: &Draws, subtask: usize, has_required: bool) -> SubtaskTruth {
    let count = 1 + draws.index(CRITERIA_MAX, Purpose::Shape, &[1, subtask]);
    let criteria = (0..count).map(|criterion| {
        let verifiable = draws.chance(VERIFIABLE, Purpose::Shape, &[2, subtask, criterion]);
        CriterionTruth {
            mode: if verifiable { CriterionMode::Verifiable } else { CriterionMode::Plausible },
            required: has_required && criterion == 0,
            difficulty: draws.uniform(Purpose::Difficulty, &[subtask, criterion]),
        }
    });
    let sound = draw_sound(family, draws, subtask);
    let preference = |kind: usize, index: usize| draws.uniform(Purpose::Preference, &[kind, subtask, index]);
    let liking = |tool: usize| preference(0, tool) + if sound.has(tool) { family.knowledge } else { 0.0 };
    SubtaskTruth {
        criteria: criteria.collect(),
        sound,
        open: draw_open(family, draws, subtask),
        tool_order: descending(TOOLS.len(), liking),
        target_order: descending(target_count(), |target| preference(1, target)),
    }
}

/// Draws at random the tools that can do a subtask; none if the subtask is infeasible.
fn draw_sound(family: &Family, draws: &Draws, subtask: usize) -> Set {
    if draws.chance(family.infeasible, Purpose::Truth, &[0, subtask]) {
        return Set::default();
    }
    let sound = Set::from_fn(TOOLS.len(), |tool| {
        draws.chance(family.sound_class, Purpose::Truth, &[1, subtask, tool / 2])
            && draws.chance(family.sound_tool, Purpose::Truth, &[2, subtask, tool])
    });
    // A feasible subtask has at least one sound tool.
    if sound.is_empty() { sound.with(draws.index(TOOLS.len(), Purpose::Truth, &[3, subtask])) } else { sound }
}

/// Draws at random the targets of a subtask that are accessible; at least one.
fn draw_open(family: &Family, draws: &Draws, subtask: usize) -> Set {
    let open = Set::from_fn(target_count(), |target| {
        !draws.chance(family.blocked_folder, Purpose::Truth, &[4, subtask, target / 2])
            && !draws.chance(family.blocked_target, Purpose::Truth, &[5, subtask, target])
    });
    if open.is_empty() { open.with(draws.index(target_count(), Purpose::Truth, &[6, subtask])) } else { open }
}

/// The number of targets that each subtask has.
pub(super) fn target_count() -> usize {
    TARGETS.first().map_or(0, |of_subtask| of_subtask.len())
}

/// The indices below `count`, sorted by descending key.
fn descending(count: usize, key: impl Fn(usize) -> f64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|a, b| key(*b).total_cmp(&key(*a)));
    order
}
