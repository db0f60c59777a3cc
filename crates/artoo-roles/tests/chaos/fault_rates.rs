//! Fault profiles of a run, drawn from the seed, and the fault rates that follow from the profile.

use artoo_proto::{Role, ToolClass, ToolSpec};

use super::rng::Rng;
use artoo_roles::testing::world::tool;

/// The kind of fault that dominates a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FaultProfile {
    /// No faults.
    Fair,
    /// One criterion of many is never met.
    Partial,
    /// Every round meets fewer criteria than the one before.
    Sinking,
    /// No verdict passes.
    Stubborn,
    /// Models take minutes.
    Slow,
    /// Deliveries and completions get lost.
    Lossy,
    /// Deliveries and completions come twice.
    Repeating,
    /// Deliveries and completions come in any order, timers early and late.
    Shuffled,
    /// Replies are mangled.
    Hostile,
    /// Tools and checks fail.
    Broken,
    /// Calls need an approval, and the user denies.
    Asking,
    /// Roles panic.
    Panicky,
    /// The user cancels.
    Impatient,
    /// The model lies at every role, the tools change nothing, and what is asked for is a change.
    Lying,
    /// Plans are recipes of the embedded parser, and no model judges anything.
    Recipes,
    /// Memory is unavailable, or its writes fail.
    Forgetful,
    /// All kinds of faults together.
    Storm,
}

/// Fault profiles with their weights in the random selection.
const PROFILES: [(FaultProfile, usize); 17] = [
    (FaultProfile::Fair, 5),
    (FaultProfile::Partial, 2),
    (FaultProfile::Sinking, 1),
    (FaultProfile::Stubborn, 2),
    (FaultProfile::Slow, 2),
    (FaultProfile::Lossy, 2),
    (FaultProfile::Repeating, 2),
    (FaultProfile::Shuffled, 3),
    (FaultProfile::Hostile, 4),
    (FaultProfile::Broken, 2),
    (FaultProfile::Asking, 2),
    (FaultProfile::Panicky, 2),
    (FaultProfile::Impatient, 2),
    (FaultProfile::Lying, 4),
    (FaultProfile::Recipes, 2),
    (FaultProfile::Forgetful, 1),
    (FaultProfile::Storm, 4),
];

/// Longest time that the user takes to answer, in milliseconds.
pub(super) const ANSWER_MS: usize = 20_000;
/// Longest delay of a timer beyond its due time, in milliseconds.
pub(super) const LATE_MS: usize = 5_000;

/// Roles that the run may make panic.
pub(super) const PANICKING: [Role; 8] = [
    Role::Perceiver,
    Role::Planner,
    Role::Dispatcher,
    Role::Executor,
    Role::AgentValidator,
    Role::MetaValidator,
    Role::Solver,
    Role::Memory,
];

/// Fault rates in thousandths of the events that each field names, and other settings of a run.
#[derive(Debug, Clone)]
pub(super) struct FaultRates {
    pub(super) profile: FaultProfile,
    /// Of deliveries.
    pub(super) drop: u32,
    pub(super) repeat: u32,
    pub(super) reorder: u32,
    /// Of turns with deliveries waiting: something else goes first.
    pub(super) interleave: u32,
    /// Of completions.
    pub(super) lose: u32,
    pub(super) delay: u32,
    pub(super) echo: u32,
    /// Of turns: a timer rings although there is work to do.
    pub(super) hasty: u32,
    /// Of model replies.
    pub(super) mangle: u32,
    /// Of verdicts.
    pub(super) unmet: u32,
    /// Of tool calls.
    pub(super) trouble: u32,
    pub(super) danger: u32,
    /// Of questions to the person.
    pub(super) yes: u32,
    pub(super) silence: u32,
    /// Of checks.
    pub(super) check_fails: u32,
    /// Of turns.
    pub(super) panic: u32,
    /// This role panics at most of its steps.
    pub(super) stuck: Option<Role>,
    pub(super) cancel: u32,
    pub(super) forge: u32,
    pub(super) clock: u32,
    /// Of memory writes.
    pub(super) unwritten: u32,
    /// No memory at all.
    pub(super) no_memory: bool,
    /// Longest model call.
    pub(super) model_ms: usize,
    pub(super) tools: Vec<ToolSpec>,
    pub(super) tasks: usize,
}

impl FaultRates {
    /// Draws a profile and its fault rates.
    pub(super) fn draw(rng: &mut Rng) -> Self {
        let mut ticket = rng.below(PROFILES.iter().map(|(_, weight)| weight).sum());
        let profile = PROFILES.iter().find(|(_, weight)| {
            let hit = ticket < *weight;
            ticket = ticket.wrapping_sub(*weight);
            hit
        });
        let profile = profile.unwrap().0;
        let calm = Self::calm(profile, rng);
        match profile {
            FaultProfile::Fair | FaultProfile::Partial | FaultProfile::Sinking | FaultProfile::Lying => calm,
            FaultProfile::Stubborn => Self { unmet: 1_000, ..calm },
            FaultProfile::Slow => Self { model_ms: 250_000, unmet: 200, ..calm },
            FaultProfile::Lossy => Self { drop: 40, lose: 60, unmet: 100, ..calm },
            FaultProfile::Repeating => Self { repeat: 200, echo: 200, unmet: 150, ..calm },
            FaultProfile::Shuffled => {
                Self { reorder: 500, interleave: 300, delay: 400, hasty: 10, lose: 30, unmet: 150, ..calm }
            }
            FaultProfile::Hostile => Self { mangle: 250, unmet: 150, ..calm },
            FaultProfile::Broken => Self { trouble: 450, check_fails: 400, unmet: 100, ..calm },
            FaultProfile::Asking => {
                Self { danger: 500, yes: 500, silence: 30, forge: 20, unmet: 200, trouble: 100, ..calm }
            }
            FaultProfile::Panicky => {
                // Mostly R7, since it must end the task.
                let stuck = rng.chance(400).then(|| if rng.chance(400) { Role::Solver } else { *rng.pick(&PANICKING) });
                let panic = if stuck.is_some() { 0 } else { 25 };
                Self { panic, stuck, unmet: 200, reorder: 300, repeat: 100, interleave: 300, ..calm }
            }
            FaultProfile::Recipes => {
                Self { trouble: [0, 0, 300][rng.below(3)], check_fails: [0, 0, 300][rng.below(3)], ..calm }
            }
            FaultProfile::Impatient => Self { cancel: 15, interleave: 300, delay: 300, forge: 20, unmet: 150, ..calm },
            FaultProfile::Forgetful => Self { no_memory: rng.chance(500), unwritten: 500, unmet: 200, ..calm },
            FaultProfile::Storm => Self {
                drop: 8,
                repeat: 60,
                reorder: 200,
                interleave: 200,
                lose: 10,
                delay: 200,
                echo: 80,
                hasty: 3,
                mangle: 60,
                unmet: 250,
                trouble: 150,
                danger: 150,
                yes: 500,
                silence: 20,
                check_fails: 200,
                panic: 2,
                cancel: 1,
                forge: 5,
                clock: 20,
                unwritten: 200,
                no_memory: rng.chance(200),
                ..calm
            },
        }
    }

    /// Rates without injected faults; only the model and the tools decide the outcome.
    fn calm(profile: FaultProfile, rng: &mut Rng) -> Self {
        let all = [
            tool("mdfind", ToolClass::Files, 1),
            tool("glob", ToolClass::Files, 2),
            tool("read_file", ToolClass::Text, 3),
            tool("write_file", ToolClass::Text, 3),
            tool("shell", ToolClass::Shell, 6),
        ];
        // A machine with few tools runs out of them.
        let tools = match rng.below(6) {
            0 => all[4..].to_vec(),
            1 => vec![all[1].clone(), all[4].clone()],
            2 => all[1..].to_vec(),
            _ => all.to_vec(),
        };
        Self {
            profile,
            drop: 0,
            repeat: 0,
            reorder: 0,
            interleave: 0,
            lose: 0,
            delay: 0,
            echo: 0,
            hasty: 0,
            mangle: 0,
            unmet: 0,
            trouble: 0,
            danger: 0,
            yes: 700,
            silence: 0,
            check_fails: 0,
            panic: 0,
            stuck: None,
            cancel: 0,
            forge: 0,
            clock: 0,
            unwritten: 0,
            no_memory: false,
            model_ms: 3_000,
            tools,
            tasks: [1, 1, 1, 2, 2, 3][rng.below(6)],
        }
    }

    /// Longest possible delay of a timer: behind the longest model calls and the slowest answers.
    pub(super) fn lateness_ms(&self) -> u64 {
        u64::try_from(12 * (self.model_ms + ANSWER_MS) + LATE_MS).unwrap()
    }

    /// Stops all losses, repetitions, panics, forgeries, cancellations, clock jumps and faulty replies; models and
    /// tools stay as they are.
    pub(super) fn settle(&mut self) {
        let (drop, repeat, lose, echo, hasty) = (0, 0, 0, 0, 0);
        let (panic, cancel, forge, clock, mangle) = (0, 0, 0, 0, 0);
        let stuck = None;
        *self = Self { drop, repeat, lose, echo, hasty, panic, stuck, cancel, forge, clock, mangle, ..self.clone() };
    }
}
