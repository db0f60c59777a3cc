//! What a run has to live through: a climate drawn from the seed, and the rates that follow from it.

use artoo_proto::{Role, ToolClass, ToolSpec};

use super::rng::Rng;
use artoo_roles::testing::world::tool;

/// What mostly goes wrong in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Climate {
    /// Nothing.
    Fair,
    /// One criterion of many is never met.
    Partial,
    /// Every round is worse than the one before.
    Sinking,
    /// No verdict ever passes.
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
    /// Calls need a person's yes, and persons say no.
    Asking,
    /// Roles panic.
    Panicky,
    /// The user cancels.
    Impatient,
    /// The model lies at every role, the tools change nothing, and what is asked for is a change.
    Lying,
    /// Plans are recipes from code, and there is no model to judge anything.
    Recipes,
    /// Memory refuses.
    Forgetful,
    /// All of it at once.
    Storm,
}

const CLIMATES: [(Climate, usize); 17] = [
    (Climate::Fair, 5),
    (Climate::Partial, 2),
    (Climate::Sinking, 1),
    (Climate::Stubborn, 2),
    (Climate::Slow, 2),
    (Climate::Lossy, 2),
    (Climate::Repeating, 2),
    (Climate::Shuffled, 3),
    (Climate::Hostile, 4),
    (Climate::Broken, 2),
    (Climate::Asking, 2),
    (Climate::Panicky, 2),
    (Climate::Impatient, 2),
    (Climate::Lying, 4),
    (Climate::Recipes, 2),
    (Climate::Forgetful, 1),
    (Climate::Storm, 4),
];

/// Longest time a person thinks.
pub(super) const ANSWER_MS: usize = 20_000;
/// Most a timer is late by itself.
pub(super) const LATE_MS: usize = 5_000;

/// Roles that can be made to panic.
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

/// Rates in thousandths, per thing they apply to.
#[derive(Debug, Clone)]
pub(super) struct Weather {
    pub(super) climate: Climate,
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

impl Weather {
    pub(super) fn draw(rng: &mut Rng) -> Self {
        let mut ticket = rng.below(CLIMATES.iter().map(|(_, weight)| weight).sum());
        let climate = CLIMATES.iter().find(|(_, weight)| {
            let hit = ticket < *weight;
            ticket = ticket.wrapping_sub(*weight);
            hit
        });
        let climate = climate.unwrap().0;
        let calm = Self::calm(climate, rng);
        match climate {
            Climate::Fair | Climate::Partial | Climate::Sinking | Climate::Lying => calm,
            Climate::Stubborn => Self { unmet: 1_000, ..calm },
            Climate::Slow => Self { model_ms: 250_000, unmet: 200, ..calm },
            Climate::Lossy => Self { drop: 40, lose: 60, unmet: 100, ..calm },
            Climate::Repeating => Self { repeat: 200, echo: 200, unmet: 150, ..calm },
            Climate::Shuffled => {
                Self { reorder: 500, interleave: 300, delay: 400, hasty: 10, lose: 30, unmet: 150, ..calm }
            }
            Climate::Hostile => Self { mangle: 250, unmet: 150, ..calm },
            Climate::Broken => Self { trouble: 450, check_fails: 400, unmet: 100, ..calm },
            Climate::Asking => Self { danger: 500, yes: 500, silence: 30, forge: 20, unmet: 200, trouble: 100, ..calm },
            Climate::Panicky => {
                // R7 most of all: on its word hangs the end of a task.
                let stuck = rng.chance(400).then(|| if rng.chance(400) { Role::Solver } else { *rng.pick(&PANICKING) });
                let panic = if stuck.is_some() { 0 } else { 25 };
                Self { panic, stuck, unmet: 200, reorder: 300, repeat: 100, interleave: 300, ..calm }
            }
            Climate::Recipes => {
                Self { trouble: [0, 0, 300][rng.below(3)], check_fails: [0, 0, 300][rng.below(3)], ..calm }
            }
            Climate::Impatient => Self { cancel: 15, interleave: 300, delay: 300, forge: 20, unmet: 150, ..calm },
            Climate::Forgetful => Self { no_memory: rng.chance(500), unwritten: 500, unmet: 200, ..calm },
            Climate::Storm => Self {
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

    /// Rates of a run in which only the model and the tools decide what becomes of it.
    fn calm(climate: Climate, rng: &mut Rng) -> Self {
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
            climate,
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

    /// How late a timer can ring: behind a run of the longest model calls and of a person's slowest answers.
    pub(super) fn lateness_ms(&self) -> u64 {
        u64::try_from(12 * (self.model_ms + ANSWER_MS) + LATE_MS).unwrap()
    }

    /// The same minds and hands, but nothing more is lost, repeated, forged or cancelled.
    pub(super) fn settle(&mut self) {
        let (drop, repeat, lose, echo, hasty) = (0, 0, 0, 0, 0);
        let (panic, cancel, forge, clock, mangle) = (0, 0, 0, 0, 0);
        let stuck = None;
        *self = Self { drop, repeat, lose, echo, hasty, panic, stuck, cancel, forge, clock, mangle, ..self.clone() };
    }
}
