//! Simulates one task under one policy, from its first plan to its end.

use super::execution::{Assignment, Execution, Judge, Past, SubtaskResult, execute};
use super::observe::observe;
use super::planner::{carried, first_plan, next_plan};
use super::policy::{Driver, EXECUTIONS_MAX, Kill, Policy, Seen, Step};
use super::utility::{Ending, Utility};
use super::world::{SubtaskTruth, World};
use crate::micros;
use artoo_ggs::Hyperparameters;
use artoo_ggs::Loss;
use artoo_ggs::Measurement;
use artoo_ggs::Rules;
use artoo_ggs::Unit;

/// The result of one simulated task under one policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Episode {
    pub(super) ending: Ending,
    pub(super) executions: usize,
    /// Number of executions, other than the first, that met no more criteria than the best one before.
    pub(super) wasted: u32,
    pub(super) kill: Option<Kill>,
    pub(super) elapsed_ms: u64,
    /// Loss (specification v0.8) after each execution, in micro-units; constant after the end.
    pub(super) losses: [i64; EXECUTIONS_MAX],
}

impl Episode {
    /// The utility of the episode's result, in micro-units.
    pub(super) fn utility_micros(&self, utility: &Utility) -> i64 {
        utility.micros(self.ending, self.executions, self.elapsed_ms)
    }
}

/// Simulates one task under a policy.
pub(super) fn run(world: &World, policy: &Policy, utility: &Utility) -> Episode {
    match policy.driver() {
        Some(driver) => TaskRun::new(world).drive(driver),
        None => oracle_episode(world, utility),
    }
}

/// The state of one task while a policy runs it.
#[derive(Clone)]
struct TaskRun<'a> {
    world: &'a World,
    past: Past,
    losses: Vec<i64>,
    least_unmet: Option<u32>,
    wasted: u32,
    /// The execution with the lowest D that could be delivered in part: D ≤ δ, no required criterion unmet.
    best: Option<(i64, Execution)>,
}

impl<'a> TaskRun<'a> {
    /// Creates the state of a task before its first plan.
    fn new(world: &'a World) -> Self {
        let past = Past::new(world.subtasks.len());
        Self { world, past, losses: Vec::new(), least_unmet: None, wasted: 0, best: None }
    }

    /// Runs the task until the driver ends it or the limit on executions is reached.
    fn drive(mut self, mut driver: Box<dyn Driver + '_>) -> Episode {
        let mut plan = first_plan(self.world);
        let mut carry: Vec<Option<SubtaskResult>> = Vec::new();
        loop {
            let execution = execute(self.world, &plan, &carry, &mut self.past, Judge::Fallible);
            let step = self.observe(&execution, &mut *driver);
            match step {
                Step::Accept => return self.end(accepted(&execution), None),
                Step::Deliver => {
                    let ending = delivered(self.world, &execution);
                    return self.end(ending, None);
                }
                Step::GiveUp(kill) => return self.give_up(kill),
                // The limit is the same for all policies; an assertion in the controller's driver checks that it keeps
                // the limit itself.
                Step::Replan(_) if self.past.executions >= EXECUTIONS_MAX => return self.give_up(None),
                Step::Replan(instruction) => {
                    let mut instruction = Some(instruction);
                    plan = loop {
                        let Some(told) = instruction else { return self.give_up(None) };
                        carry = carried(&execution, &told);
                        match next_plan(self.world, &self.past, &execution, &carry, &told) {
                            Some(next) => break next,
                            None => instruction = driver.no_plan(execution.elapsed_ms),
                        }
                    };
                }
            }
        }
    }

    /// Measures an execution, updates the counts and the best execution so far, and asks the policy's driver what to do
    /// next.
    fn observe(&mut self, execution: &Execution, driver: &mut dyn Driver) -> Step {
        let round = observe(self.world, execution);
        let Ok(measured) = round.measure(&Rules::DEFAULT) else { return Step::GiveUp(None) };
        let unmet = execution.unmet();
        self.wasted += u32::from(self.least_unmet.is_some_and(|least| unmet >= least));
        self.least_unmet = Some(self.least_unmet.map_or(unmet, |least| least.min(unmet)));
        self.losses.push(loss(&measured, self.past.executions, execution.elapsed_ms));
        self.note_best(execution, &measured);
        let (executions, elapsed_ms) = (self.past.executions, execution.elapsed_ms);
        driver.step(&Seen { round: &round, measured: &measured, executions, elapsed_ms })
    }

    /// Stores an execution as the best so far if it could be delivered in part and its distance D is not higher than
    /// the stored one's.
    fn note_best(&mut self, execution: &Execution, measured: &Measurement) {
        let distance = measured.d.micros();
        let is_close = distance <= micros(Hyperparameters::DEFAULT.delta) && !measured.required_unmet;
        if is_close && self.best.as_ref().is_none_or(|(least, _)| distance <= *least) {
            self.best = Some((distance, execution.clone()));
        }
    }

    /// Ends a task that a policy gives up: delivers the best execution in part if it is close enough, otherwise
    /// nothing.
    fn give_up(self, kill: Option<Kill>) -> Episode {
        let ending = self.best.as_ref().map_or(Ending::Nothing, |(_, best)| delivered(self.world, best));
        self.end(ending, kill)
    }

    /// The episode of the task with this ending, with the losses and counts so far.
    fn end(self, ending: Ending, kill: Option<Kill>) -> Episode {
        let last = self.losses.last().copied().unwrap_or(0);
        let mut losses = [last; EXECUTIONS_MAX];
        for (slot, loss) in losses.iter_mut().zip(&self.losses) {
            *slot = *loss;
        }
        Episode {
            ending,
            executions: self.past.executions,
            wasted: self.wasted,
            kill,
            elapsed_ms: self.past.elapsed_ms,
            losses,
        }
    }
}

/// The loss of an execution by specification v0.8, in micro-units.
fn loss(measured: &Measurement, executions: usize, elapsed_ms: u64) -> i64 {
    let parameters = Hyperparameters::DEFAULT;
    let replans = executions.saturating_sub(1) as u32;
    micros(Loss::new(measured.d, measured.p, parameters.omega(replans, elapsed_ms), &parameters).l)
}

/// How a task really ended whose result was delivered as complete: in full success or as a false delivery.
fn accepted(execution: &Execution) -> Ending {
    if execution.whole.is_some_and(|whole| whole.met) { Ending::Full } else { Ending::FalseDelivery }
}

/// How a task really ended whose result was delivered with a list of the criteria that did not pass.
fn delivered(world: &World, execution: &Execution) -> Ending {
    let subtasks = || world.subtasks.iter().zip(&execution.results);
    let passed: u32 = execution.results.iter().map(|result| result.passed.len()).sum();
    if !execution.results.iter().all(|result| result.passed.is_within(result.met)) {
        Ending::FalseDelivery
    } else if subtasks().all(|(truth, result)| has_required(truth, result)) {
        let worth = f64::from(passed) / f64::from(world.criteria_count().max(1));
        Ending::Partial { worth_micros: micros(Unit::clamped(worth).value()) }
    } else {
        Ending::Partial { worth_micros: 0 }
    }
}

/// Whether the verifier passed every required criterion of a subtask.
fn has_required(truth: &SubtaskTruth, result: &SubtaskResult) -> bool {
    let required = truth.criteria.iter().enumerate().filter(|(_, criterion)| criterion.required);
    required.into_iter().all(|(index, _)| result.passed.has(index))
}

/// The episode under the oracle policy: it executes the best plan that the hidden truth allows, and ends where utility
/// is highest.
fn oracle_episode(world: &World, utility: &Utility) -> Episode {
    let mut run = TaskRun::new(world);
    let mut best = (0, TaskRun::new(world).end(Ending::Nothing, None));
    let mut plan = best_plan(world);
    let mut carry: Vec<Option<SubtaskResult>> = Vec::new();
    while run.past.executions < EXECUTIONS_MAX {
        let execution = execute(world, &plan, &carry, &mut run.past, Judge::Omniscient);
        // The oracle needs no decision; the observation updates the counts.
        run.observe(&execution, &mut NoDriver);
        let is_whole = execution.whole.is_some_and(|whole| whole.met);
        let ending = if is_whole { Ending::Full } else { delivered(world, &execution) };
        let value = utility.micros(ending, run.past.executions, run.past.elapsed_ms);
        if value > best.0 {
            best = (value, run.clone().end(ending, None));
        }
        if is_whole {
            break;
        }
        carry = execution.results.iter().map(|result| (result.unmet() == 0).then(|| result.clone())).collect();
        for assignment in &mut plan {
            assignment.polish += 1;
        }
    }
    best.1
}

/// A driver that gives up at once; it stands in for the oracle, which makes no decisions.
struct NoDriver;

impl Driver for NoDriver {
    fn step(&mut self, _: &Seen<'_>) -> Step {
        Step::GiveUp(None)
    }
}

/// The oracle's plan: preferred sound tools on open targets; one tool is changed if the subtasks fit together only
/// then.
fn best_plan(world: &World) -> Vec<Assignment> {
    let sound = |truth: &SubtaskTruth| {
        let tools: Vec<usize> = truth.tool_order.iter().copied().filter(|tool| truth.sound.has(*tool)).collect();
        if tools.is_empty() { truth.tool_order.clone() } else { tools }
    };
    let plan: Vec<Assignment> = world
        .subtasks
        .iter()
        .map(|truth| Assignment {
            tool: sound(truth).first().copied().unwrap_or(0),
            target: truth.target_order.iter().copied().find(|target| truth.open.has(*target)).unwrap_or(0),
            polish: 0,
        })
        .collect();
    let varied = world.subtasks.iter().enumerate().flat_map(|(index, truth)| {
        let plan = &plan;
        sound(truth).into_iter().map(move |tool| {
            let with = |(at, assignment): (usize, &Assignment)| {
                if at == index { Assignment { tool, ..*assignment } } else { *assignment }
            };
            plan.iter().enumerate().map(with).collect::<Vec<_>>()
        })
    });
    let mut fitting = varied.filter(|plan| world.fits(plan.iter().map(|assignment| assignment.tool)));
    fitting.next().unwrap_or_else(|| plan.clone())
}
