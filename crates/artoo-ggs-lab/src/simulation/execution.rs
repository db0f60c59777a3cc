//! Simulates one execution of a plan: its true result, and the verdicts of a verifier that may err.

use super::draws::Purpose;
use super::world::{CriterionTruth, Set, SubtaskTruth, TOOLS, World};
use artoo_ggs::{CriterionMode, FailureClass};

/// Maximum number of attempts at a subtask within one execution: the first and one correction.
pub(super) const ATTEMPTS: u32 = 2;
/// How many refinements one correction within an execution is worth: a correction sees one failure, not the whole
/// result.
const CORRECTION: f64 = 0.5;
/// Share of criteria (0 to 1) whose result is drawn anew in each execution, since models are not deterministic.
const JITTER: f64 = 0.2;
/// Error rate of a check in code, as a factor of that of a model that judges; the effect of gaming is scaled alike.
const CHECK_ERROR: f64 = 0.2;
/// Factor of the family's `gaming` by which the verifier of the combined result errs more if a subtask is wrong.
const IMPRESSION: f64 = 0.5;
/// Maximum probability with which a judging model passes an unmet criterion of a subtask, even for gamed work.
const FALSE_PASS_MAX: f64 = 0.95;

/// The plan of one subtask: a tool, a target, and how often the approach was refined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Assignment {
    pub(super) tool: usize,
    pub(super) target: usize,
    /// Number of refinements of this tool's work.
    pub(super) polish: u32,
}

/// The kind of verifier: one that may err, or one that knows the truth (for the oracle).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Judge {
    /// A verifier with the error rates of the family.
    Fallible,
    /// A verifier that knows the truth.
    Omniscient,
}

/// The result of one subtask in one execution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SubtaskResult {
    pub(super) assignment: Assignment,
    /// Indices of the criteria that are really met.
    pub(super) met: Set,
    /// Indices of the criteria that the verifier passed.
    pub(super) passed: Set,
    /// Number of failed attempts of each criterion.
    pub(super) failed_attempts: Vec<u32>,
    pub(super) attempts: u32,
    /// The (possibly wrong) failure class of each criterion.
    pub(super) classes: Vec<FailureClass>,
    /// Whether the call of the last attempt failed.
    pub(super) call_failed: bool,
    /// Whether a flaky environment ended the subtask, so that nothing was judged.
    pub(super) infrastructure: bool,
}

impl SubtaskResult {
    /// Whether the verifier passed all criteria.
    pub(super) fn is_matched(&self) -> bool {
        self.passed.len() as usize == self.failed_attempts.len()
    }

    /// Number of the subtask's criteria that are not met in truth.
    pub(super) fn unmet(&self) -> u32 {
        (self.failed_attempts.len() as u32).saturating_sub(self.met.len())
    }
}

/// The result of all subtasks combined: whether it is right in truth, and whether the verifier passed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CombinedResult {
    pub(super) met: bool,
    pub(super) passed: bool,
}

/// The result of one execution of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Execution {
    pub(super) results: Vec<SubtaskResult>,
    /// The combined result; `None` if a subtask failed, since it is not judged then.
    pub(super) whole: Option<CombinedResult>,
    /// Time since the task began, in milliseconds.
    pub(super) elapsed_ms: u64,
}

impl Execution {
    /// Number of criteria not met in truth, over all subtasks.
    pub(super) fn unmet(&self) -> u32 {
        self.results.iter().map(SubtaskResult::unmet).sum()
    }
}

/// The history of a simulated task: attempts, tools tried on targets, executions, and time used.
#[derive(Debug, Clone, Default)]
pub(super) struct Past {
    /// Number of attempts so far, per subtask and tool.
    attempts: Vec<[u32; TOOLS.len()]>,
    /// The (tool, target) pairs tried, per subtask.
    tried: Vec<Vec<(usize, usize)>>,
    /// Number of executions of the task so far.
    pub(super) executions: usize,
    pub(super) elapsed_ms: u64,
}

impl Past {
    /// The history of a task with this many subtasks that has just begun.
    pub(super) fn new(subtasks: usize) -> Self {
        Self {
            attempts: vec![[0; TOOLS.len()]; subtasks],
            tried: vec![Vec::new(); subtasks],
            executions: 0,
            elapsed_ms: 0,
        }
    }

    /// Whether this tool was tried on this target for the subtask.
    pub(super) fn has_tried(&self, subtask: usize, tool: usize, target: usize) -> bool {
        self.tried.get(subtask).is_some_and(|pairs| pairs.contains(&(tool, target)))
    }

    /// Number of attempts at the subtask with this tool.
    fn attempts_with(&self, subtask: usize, tool: usize) -> u32 {
        self.attempts.get(subtask).and_then(|tools| tools.get(tool)).copied().unwrap_or(0)
    }

    /// Adds a subtask's result to the history: its attempts, and the tool and target that it used.
    fn note(&mut self, subtask: usize, result: &SubtaskResult) {
        let Assignment { tool, target, .. } = result.assignment;
        if let Some(count) = self.attempts.get_mut(subtask).and_then(|tools| tools.get_mut(tool)) {
            *count += result.attempts;
        }
        if let Some(pairs) = self.tried.get_mut(subtask) {
            pairs.push((tool, target));
        }
    }
}

/// Simulates the execution of a plan. Subtasks with a result in `carried` keep it; the others are executed.
pub(super) fn execute(
    world: &World,
    plan: &[Assignment],
    carried: &[Option<SubtaskResult>],
    past: &mut Past,
    judge: Judge,
) -> Execution {
    let mut results = Vec::with_capacity(plan.len());
    for ((index, truth), assignment) in world.subtasks.iter().enumerate().zip(plan) {
        let result = carried.get(index).cloned().flatten().unwrap_or_else(|| {
            let result = SubtaskExecution { world, truth, index, assignment: *assignment, past, judge }.work();
            past.note(index, &result);
            result
        });
        results.push(result);
    }
    let whole = results.iter().all(SubtaskResult::is_matched).then(|| judge_whole(world, &results, past, judge));
    let family = &world.family;
    let seconds = world.draws.log_normal(family.median_s, family.sigma, Purpose::Time, past.executions);
    past.elapsed_ms += (seconds * 1000.0).round() as u64;
    past.executions += 1;
    Execution { results, whole, elapsed_ms: past.elapsed_ms }
}

/// Judges the combined result: in truth it is right if all subtasks are right and fit together; the verifier may err.
fn judge_whole(world: &World, results: &[SubtaskResult], past: &Past, judge: Judge) -> CombinedResult {
    let family = &world.family;
    let parts_are_right = results.iter().all(|result| result.unmet() == 0);
    let met = parts_are_right && world.fits(results.iter().map(|result| result.assignment.tool));
    let impressed = !parts_are_right && family.gaming > 0.0;
    let false_pass = family.false_pass + if impressed { IMPRESSION * family.gaming } else { 0.0 };
    let error = if met { family.false_fail } else { false_pass };
    let errs = judge == Judge::Fallible && world.draws.chance(error, Purpose::Verifier, &[past.executions]);
    CombinedResult { met, passed: met != errs }
}

/// The simulated execution of one subtask of a plan.
struct SubtaskExecution<'a> {
    world: &'a World,
    truth: &'a SubtaskTruth,
    index: usize,
    assignment: Assignment,
    past: &'a Past,
    judge: Judge,
}

impl SubtaskExecution<'_> {
    /// Attempts the subtask until all criteria pass or no attempt is left.
    fn work(&self) -> SubtaskResult {
        let count = self.truth.criteria.len();
        let mut result = SubtaskResult {
            assignment: self.assignment,
            met: Set::default(),
            passed: Set::default(),
            failed_attempts: vec![0; count],
            attempts: 0,
            classes: Vec::new(),
            call_failed: false,
            infrastructure: false,
        };
        while result.attempts < ATTEMPTS && !result.is_matched() {
            self.attempt(&mut result);
        }
        let environment = result.call_failed;
        result.classes = (0..count).map(|criterion| self.label(environment, criterion)).collect();
        result
    }

    /// Simulates one attempt: draws which criteria are met in truth and which the verifier passes.
    fn attempt(&self, result: &mut SubtaskResult) {
        let Assignment { tool, target, .. } = self.assignment;
        let attempt = result.attempts as usize;
        let family = &self.world.family;
        let flaked =
            self.world.draws.chance(family.flaky, Purpose::Flake, &[self.past.executions, self.index, attempt]);
        let blocked = !self.truth.open.has(target);
        result.attempts += 1;
        result.call_failed = flaked || blocked;
        result.infrastructure = flaked;
        let nothing = flaked || blocked;
        let count = self.truth.criteria.len();
        let met = |criterion: usize| {
            let truth = self.truth.criteria.get(criterion);
            !nothing && truth.is_some_and(|truth| self.is_met(truth, criterion, attempt))
        };
        result.met = Set::from_fn(count, met);
        let tries = self.past.attempts_with(self.index, tool) + attempt as u32;
        let passes = |criterion: usize| {
            let truth = self.truth.criteria.get(criterion);
            !nothing
                && truth.is_some_and(|truth| self.passes(truth, result.met.has(criterion), criterion, attempt, tries))
        };
        result.passed = Set::from_fn(count, passes);
        for (criterion, failed) in result.failed_attempts.iter_mut().enumerate() {
            *failed += u32::from(!result.passed.has(criterion));
        }
    }

    /// Whether the tool in use can do the subtask in truth.
    fn is_sound(&self) -> bool {
        self.truth.sound.has(self.assignment.tool)
    }

    /// Whether an attempt meets a criterion in truth.
    fn is_met(&self, truth: &CriterionTruth, criterion: usize, attempt: usize) -> bool {
        let (draws, family, tool) = (&self.world.draws, &self.world.family, self.assignment.tool);
        let round = self.past.executions;
        let address = [round, self.index, criterion, attempt, tool];
        let again = draws.chance(JITTER, Purpose::Jitter, &address);
        let fresh = || draws.uniform(Purpose::Jitter, &[round, self.index, criterion, attempt, tool, 1]);
        if self.is_sound() {
            let lacking = 1.0 - family.skill * (1.0 - family.rot).powi(round as i32);
            let refinements = f64::from(self.assignment.polish) + CORRECTION * attempt as f64;
            let skill = 1.0 - lacking * (1.0 - family.refinement).powf(refinements);
            (if again { fresh() } else { truth.difficulty }) < skill
        } else {
            let stubborn = || draws.uniform(Purpose::Difficulty, &[self.index, criterion, tool]);
            (if again { fresh() } else { stubborn() }) < family.luck
        }
    }

    /// Whether the verifier passes a criterion, rightly or by error.
    fn passes(&self, truth: &CriterionTruth, met: bool, criterion: usize, attempt: usize, tries: u32) -> bool {
        let family = &self.world.family;
        let scale = match truth.mode {
            CriterionMode::Verifiable => CHECK_ERROR,
            CriterionMode::Plausible => 1.0,
        };
        let gamed = if self.is_sound() { 0.0 } else { family.gaming * f64::from(tries) };
        let error = if met { family.false_fail } else { (family.false_pass + gamed).min(FALSE_PASS_MAX) };
        let address = [self.past.executions, self.index, criterion, attempt];
        let errs = self.judge == Judge::Fallible && self.world.draws.chance(error * scale, Purpose::Verifier, &address);
        met != errs
    }

    /// The failure class that the verifier reports for a criterion: the true one, or by the family's noise the other.
    fn label(&self, environment: bool, criterion: usize) -> FailureClass {
        let (draws, family) = (&self.world.draws, &self.world.family);
        let address = |which: usize| [self.past.executions, self.index, criterion, which];
        let logical = if environment {
            false
        } else {
            !self.is_sound() || draws.chance(family.unfinished_is_logical, Purpose::Label, &address(0))
        };
        let noise = draws.chance(family.label_noise, Purpose::Label, &address(1));
        if logical == noise { FailureClass::Environmental } else { FailureClass::Logical }
    }
}
