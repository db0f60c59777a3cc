//! Policies, which decide after each simulated execution whether to accept, deliver in part, give up or plan again.

mod baseline;
mod controlled;
mod v07;

use std::sync::Arc;

use artoo_ggs::{BlockedTarget, Hyperparameters, Measurement, ParameterTable, Profile, Round, Switch};
use baseline::{Baseline, BaselineKind};
use controlled::Controlled;
use v07::V07;

/// Maximum number of executions per task: the `max_replans` of specification v0.8 holds for every policy.
pub const EXECUTIONS_MAX: usize = 1 + ParameterTable::DEFAULT.max_replans as usize;

/// A named policy: it decides after each execution whether to deliver, give up or plan again.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    name: String,
    kind: PolicyKind,
}

/// How a policy decides: by a baseline, the table of v0.7, a controller's profile,
/// a driver of the caller, or the truth.
#[derive(Debug, Clone, PartialEq)]
enum PolicyKind {
    Baseline(BaselineKind),
    V07,
    Profile(Profile),
    Custom(Factory),
    Oracle,
}

impl Policy {
    /// A baseline policy that plans again without saying what to change.
    #[must_use]
    pub fn naive() -> Self {
        Self::of("naive", PolicyKind::Baseline(BaselineKind::Naive))
    }

    /// A baseline policy that tells the planner for each subtask what to change: refine if at least half of the
    /// criteria are met, else use another target if the environment is to blame, or another tool if the approach is.
    /// The planner remembers everything tried; nothing is blocked. (After Shinn et al., "Reflexion", 2023.)
    #[must_use]
    pub fn reflexion() -> Self {
        Self::notes("reflexion", false, true, false)
    }

    /// As [`Policy::reflexion`], but delivers a result with D ≤ 0.3 and everything required met, as `v08` does.
    #[must_use]
    pub fn reflexion_stops() -> Self {
        Self::notes("reflexion_stops", false, true, true)
    }

    /// As [`Policy::reflexion`], and code enforces what the notes say: a blamed target is forbidden, a blamed tool is
    /// forbidden for its subtask. No loss, gradient, table or kill switch.
    #[must_use]
    pub fn block_list() -> Self {
        Self::notes("block_list", true, true, false)
    }

    /// As [`Policy::block_list`], but never refines: another target or another tool, by the blame alone.
    #[must_use]
    pub fn blame_only() -> Self {
        Self::notes("blame_only", true, false, false)
    }

    /// A policy that keeps notes for each subtask: whether code enforces them as blocks, whether it refines, and
    /// whether it stops early.
    fn notes(name: &str, blocks: bool, refines: bool, stops: bool) -> Self {
        Self::of(name, PolicyKind::Baseline(BaselineKind::Notes { blocks, refines, stops }))
    }

    /// A baseline policy that refines as long as D falls, and otherwise changes tool and target of all failing
    /// subtasks; the planner remembers what was tried. (After the stall counter of Magentic-One, scaled to four
    /// executions.)
    #[must_use]
    pub fn stall() -> Self {
        Self::of("stall", PolicyKind::Baseline(BaselineKind::Stall))
    }

    /// A baseline policy that discards all results and plans anew, for up to four executions.
    #[must_use]
    pub fn restart() -> Self {
        Self::of("restart", PolicyKind::Baseline(BaselineKind::Restart))
    }

    /// A policy that follows the decision table of specification v0.7: it trusts a falling loss, accepts only D = 0,
    /// and has a budget of two minutes.
    #[must_use]
    pub fn v07() -> Self {
        Self::of("v07", PolicyKind::V07)
    }

    /// A policy that follows the `artoo-ggs` controller under [`Profile::strict_spec`].
    #[must_use]
    pub fn literal() -> Self {
        Self::profile("literal", Profile::strict_spec())
    }

    /// A policy that follows the `artoo-ggs` controller under [`Profile::default`].
    #[must_use]
    pub fn v08() -> Self {
        Self::profile("v08", Profile::default())
    }

    /// A policy that follows the `artoo-ggs` controller with δ = 0, so that it delivers in part only when it gives up.
    #[must_use]
    pub fn strict() -> Self {
        let v08 = Profile::default();
        let mut table = ParameterTable::DEFAULT;
        table.delta = 0.0;
        let strict = Hyperparameters::try_from(table).and_then(|table| Profile::new("strict", table, *v08.rules()));
        Self::profile("strict", strict.unwrap_or(v08))
    }

    /// A policy that follows the `artoo-ggs` controller under the given profile.
    #[must_use]
    pub fn profile(name: &str, profile: Profile) -> Self {
        Self::of(name, PolicyKind::Profile(profile))
    }

    /// A policy that follows the `artoo-ggs` controller under [`Profile::anytime`].
    #[must_use]
    pub fn anytime() -> Self {
        Self::profile("anytime", Profile::anytime())
    }

    /// A policy whose decisions the caller makes: `driver` creates the decider of one task.
    ///
    /// ```
    /// use artoo_ggs_lab::simulation::{Change, Driver, Family, Instruction, Policy, Seen, Step, Study};
    ///
    /// /// Refines everything, and accepts only what is met in full.
    /// struct Stubborn;
    ///
    /// impl Driver for Stubborn {
    ///     fn step(&mut self, seen: &Seen<'_>) -> Step {
    ///         if seen.measured.unmet == 0 {
    ///             return Step::Accept;
    ///         }
    ///         let changes = vec![Change::Refine; seen.round.subtasks.len()];
    ///         Step::Replan(Instruction { changes, ..Instruction::default() })
    ///     }
    /// }
    ///
    /// let policies = vec![Policy::custom("stubborn", || Box::new(Stubborn)), Policy::v08()];
    /// let families = vec![Family::ORDINARY];
    /// let cells = Study { policies, families, reference: 1, ..Study::full(200) }.run();
    /// assert!(cells[0].difference < 0.0, "v08 is ahead of it");
    /// ```
    #[must_use]
    pub fn custom(name: &str, driver: impl Fn() -> Box<dyn Driver> + Send + Sync + 'static) -> Self {
        Self::of(name, PolicyKind::Custom(Factory(Arc::new(driver))))
    }

    /// An upper bound for policies: it knows the truth, uses sound tools on open targets, and stops at the best
    /// utility.
    #[must_use]
    pub fn oracle() -> Self {
        Self::of("oracle", PolicyKind::Oracle)
    }

    /// All policies that are compared, in the order of the tables.
    #[must_use]
    pub fn all() -> Vec<Self> {
        vec![
            Self::naive(),
            Self::reflexion(),
            Self::reflexion_stops(),
            Self::blame_only(),
            Self::block_list(),
            Self::stall(),
            Self::restart(),
            Self::v07(),
            Self::literal(),
            Self::v08(),
            Self::strict(),
            Self::anytime(),
            Self::oracle(),
        ]
    }

    /// The policies of an ablation study: `v08` and `anytime`, then each with one number changed or one switch turned
    /// over.
    #[must_use]
    pub fn ablation() -> Vec<Self> {
        /// A varied number: its name, and the function that changes it in a profile's parameter table.
        type Change = (&'static str, fn(&mut ParameterTable));
        const NUMBERS: [Change; 6] = [
            ("no gradient", |table| table.epsilon = 1.0),
            ("always a signal", |table| table.epsilon = 0.000_001),
            ("β = λ = 0", |table| (table.beta, table.lambda) = (0.0, 0.0)),
            ("θ = 1", |table| table.theta = 1.0),
            ("ρ = 1", |table| table.rho = 1.0),
            ("ρ = 0", |table| table.rho = 0.0),
        ];
        let mut policies = vec![Self::v08(), Self::anytime()];
        for (base, profile) in [("v08", Profile::default()), ("anytime", Profile::anytime())] {
            let changed = |change: &str, table, rules| {
                let name = format!("{base}, {change}");
                let profile = Hyperparameters::try_from(table).and_then(|table| Profile::new(&name, table, rules));
                profile.ok().map(|profile| Self::profile(&name, profile))
            };
            for (change, apply) in NUMBERS {
                let mut table = ParameterTable::from(*profile.parameters());
                apply(&mut table);
                policies.extend(changed(change, table, *profile.rules()));
            }
            for switch in Switch::ALL {
                let mut rules = *profile.rules();
                let on = rules.switches.has(switch);
                rules.switches = if on { rules.switches.without(switch) } else { rules.switches.with(switch) };
                let change = format!("{} {}", switch.name(), if on { "off" } else { "on" });
                policies.extend(changed(&change, (*profile.parameters()).into(), rules));
            }
        }
        policies
    }

    /// The policy's name in tables.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the policy is the oracle, which knows the truth.
    #[must_use]
    pub fn is_oracle(&self) -> bool {
        self.kind == PolicyKind::Oracle
    }

    /// A policy with this name and way of deciding.
    fn of(name: &str, kind: PolicyKind) -> Self {
        Self { name: name.to_owned(), kind }
    }

    /// Creates the driver that makes the policy's decisions in one task; `None` for the oracle, which makes none.
    pub(super) fn driver(&self) -> Option<Box<dyn Driver + '_>> {
        match &self.kind {
            PolicyKind::Baseline(kind) => Some(Box::new(Baseline::new(*kind))),
            PolicyKind::V07 => Some(Box::new(V07::new())),
            PolicyKind::Profile(profile) => Some(Box::new(Controlled::new(profile))),
            PolicyKind::Custom(factory) => Some((factory.0)()),
            PolicyKind::Oracle => None,
        }
    }
}

/// What a policy sees of an execution: only what a verifier can know, never the hidden truth.
#[derive(Debug)]
#[non_exhaustive]
pub struct Seen<'a> {
    /// The execution as a verifier reports it.
    pub round: &'a Round,
    /// D and P of the round by the rules of specification v0.8.
    pub measured: &'a Measurement,
    /// Number of executions so far, this one included.
    pub executions: usize,
    /// Time since the task began, in milliseconds.
    pub elapsed_ms: u64,
}

/// What a policy decides after an execution.
#[derive(Debug)]
pub enum Step {
    /// Deliver the result as complete.
    Accept,
    /// Deliver the result with a list of what is unmet.
    Deliver,
    /// End the task; `Some` if a kill switch ended it. The best earlier execution may still be delivered in part.
    GiveUp(Option<Kill>),
    /// Plan again by this instruction.
    Replan(Instruction),
}

/// How a kill switch ended a task: whether the distance D had risen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kill {
    /// Whether D rose in every round that the switch counted.
    pub distance_rose: bool,
}

/// The change an instruction asks for in one subtask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// No instruction: the planner decides.
    Unguided,
    /// Do the same again.
    Again,
    /// Keep tool and target, refine the work.
    Refine,
    /// Use another target.
    Target,
    /// Use another tool.
    Tool,
    /// Use a tool of another class.
    Class,
    /// Use another tool and another target.
    Both,
}

/// The instruction for the next plan. The planner follows changes four times in five, and always obeys blocks.
#[derive(Debug, Clone, Default)]
pub struct Instruction {
    /// The change for each subtask; ignored if the subtask's result is carried over.
    pub changes: Vec<Change>,
    /// Whether the planner knows which tools and targets were tried before.
    pub remembers: bool,
    /// Whether results of matched subtasks are discarded too.
    pub from_scratch: bool,
    /// Names of the tools that the plan can't use.
    pub blocked_tools: Vec<String>,
    /// Targets that the plan can't use.
    pub blocked_targets: Vec<BlockedTarget>,
    /// Classes to choose from under [`Change::Class`]; if empty, any other class.
    pub novel_classes: Vec<String>,
    /// Blocks of each subtask alone; may be shorter than the list of subtasks.
    pub own: Vec<OwnBlocks>,
}

/// Blocks of an instruction that concern one subtask alone: tools it must not use, and tool classes asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnBlocks {
    /// Names of the tools that the subtask can't use.
    pub blocked_tools: Vec<String>,
    /// Classes to choose from under [`Change::Class`]; if empty, those of the instruction.
    pub novel_classes: Vec<String>,
}

/// Makes the decisions of a policy for one task.
pub trait Driver {
    /// Decides what to do after an execution.
    fn step(&mut self, seen: &Seen<'_>) -> Step;

    /// The instruction to use after the planner found no plan for the last one; `None` gives up.
    fn no_plan(&mut self, _elapsed_ms: u64) -> Option<Instruction> {
        None
    }
}

/// A function that creates the driver of a caller's own policy for each task.
#[derive(Clone)]
struct Factory(Arc<dyn Fn() -> Box<dyn Driver> + Send + Sync>);

impl std::fmt::Debug for Factory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Factory")
    }
}

impl PartialEq for Factory {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// Whether each of the last `count` steps of a series rose; false if there are fewer steps.
fn rose_throughout(series: &[i64], count: usize) -> bool {
    let steps: Vec<bool> = series.windows(2).map(|pair| matches!(pair, [a, b] if b > a)).collect();
    steps.len() >= count && steps.iter().rev().take(count).all(|rose| *rose)
}

/// Tests of helpers of the policies.
#[cfg(test)]
mod tests {
    use super::rose_throughout;

    /// A series counts as risen only if each of its last steps rose.
    #[test]
    fn rising_needs_a_rise_at_every_step() {
        for (series, rises) in [
            (&[1, 2, 3][..], true),
            (&[9, 2, 3, 4], true),
            (&[1, 2, 2], false),
            (&[1, 3, 2], false),
            (&[1, 2], false),
            (&[], false),
        ] {
            assert_eq!(rose_throughout(series, 2), rises, "{series:?}");
        }
    }
}
