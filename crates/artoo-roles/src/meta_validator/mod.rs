//! R4b, the Meta-Validator: collects the outcomes of all subtasks of a round, joins their outputs, and decides whether
//! the task is done: by facts that cover the request, or else by the task's criteria.

mod facts;
mod fan_in;
mod prompt;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use artoo_proto::{
    CheckOutcome, Coverage, Criterion, CriterionVerdict, EffectId, Mode, ModelFailure, ModelReply, ModelRequest,
    OutcomeSummary, ReadingAnswer, ReadingRequest, ReplanRequest, Role, RoleContext, TaskSpec, ToolCall,
    ValidateTaskContext, Verdict, VerdictSource,
};

use crate::agent_validator::{
    Grounds, Judgement, Verdicts, independent, is_excused, judgement_schema, may_have_changed, no_judge,
};
use crate::ask::{Answer, Ask};
use crate::limits::REPLY_TOKENS;
use crate::machine::{CheckOrder, Completion, Context, CoverOrder, Machine, Start, adapters};
pub use fan_in::Part;
use fan_in::{FanIn, Gathered};

/// Text added to the evidence of a check that ran before later steps may have changed something.
const CHECKED_AT_ITS_STEP: &str = "; looked at right after this step, and a later step has changed things since";

/// An input of R4b (the Meta-Validator): the task, a part of a round, an awaited reply, check or comparison, the user's
/// answer, or the abort.
#[derive(Debug)]
pub enum Input {
    /// The task to validate.
    Task(TaskSpec),
    /// A part of a round: its manifest, an outcome, or the notice that an outcome is missing.
    Arrived(Part),
    /// The reply of the model that judges, or why there is none, with the id of the effect.
    Replied(EffectId, Result<ModelReply, ModelFailure>),
    /// The outcomes of the checks that R4b requested, with the id of the effect.
    Checked(EffectId, Vec<CheckOutcome>),
    /// What of the request is shown to be done, with the id of the effect.
    Covered(EffectId, Coverage),
    /// The user's answer about readings of the request.
    Answered(ReadingAnswer),
    /// The task has ended; nothing more is done for it.
    Abort,
}

/// An effect of R4b (the Meta-Validator): a replan request, a summary, a question about readings, a comparison, a model
/// call or checks. None directs the planner, retries a subtask or writes to memory.
#[derive(Debug)]
pub enum Effect {
    /// Reports to R7 (the Solver) what is missing, so that it can ask for another plan.
    Replan(ReplanRequest),
    /// Reports that the request is covered or all criteria of the task are met, with the joined output.
    Summarise(OutcomeSummary),
    /// Asks the user whether readings of the request say what was meant.
    AskReading(ReadingRequest),
    /// Compares the request with the recorded calls of the task.
    Cover(EffectId, CoverOrder),
    /// Asks a model to judge the task's criteria that code can't decide.
    AskModel(EffectId, Arc<ModelRequest>),
    /// Runs the checks of the task's criteria.
    RunChecks(EffectId, CheckOrder),
}

/// What R4b waits for: parts of a round, the comparison of the request, the user's answer, checks, or a judgement.
#[derive(Debug, Default)]
enum Phase {
    /// Outcomes of subtasks of the round.
    Gathering,
    /// The comparison of the request with the recorded calls.
    Covering(EffectId, Gathered),
    /// The user's answer about readings of the request.
    Confirming(Gathered),
    /// The outcomes of checks.
    Checking(EffectId, Review),
    /// The reply of the model that judges.
    Judging(Ask<Judgement>, Review),
    /// Nothing: the task was aborted.
    #[default]
    Over,
}

/// A complete round with its verdicts so far, while R4b decides on it.
#[derive(Debug)]
struct Review {
    gathered: Gathered,
    /// The joined outputs of the matched subtasks.
    merged: String,
    /// The verdicts on the task's criteria so far.
    verdicts: Verdicts,
}

/// R4b, the Meta-Validator: the state machine that decides whether the rounds of one task fulfil it.
#[derive(Debug)]
pub struct MetaValidator {
    spec: TaskSpec,
    fan_in: FanIn,
    /// Calls of earlier rounds, in order.
    earlier: Vec<ToolCall>,
    /// Whether the user was asked about readings of the request; that happens once.
    has_asked: bool,
    phase: Phase,
}

impl MetaValidator {
    /// Once the round is complete, starts the comparison of the request with all calls of the task. A round that the
    /// embedded parser planned is decided by its criteria, without a comparison.
    fn gather(&mut self, cx: &mut Context<'_>) -> Vec<Effect> {
        self.phase = Phase::Gathering;
        match self.fan_in.take_complete() {
            None => Vec::new(),
            Some(gathered) if gathered.is_by_parser() && !self.spec.reading.simulated => self.by_criteria(cx, gathered),
            Some(gathered) => self.cover(cx, gathered),
        }
    }

    /// Starts the comparison of the request with all calls of the task.
    fn cover(&mut self, cx: &mut Context<'_>, gathered: Gathered) -> Vec<Effect> {
        let id = cx.ids.next_effect();
        let calls = self.earlier.iter().cloned().chain(gathered.calls()).collect();
        self.phase = Phase::Covering(id, gathered);
        vec![Effect::Cover(id, CoverOrder { task_id: self.spec.task_id.clone(), calls })]
    }

    /// Decides by facts where they suffice: a covered request is done; a refuted part, or a skill's round that is not
    /// covered, is a gap. Otherwise the user is asked once about offered readings, or the criteria of the plan decide.
    fn covered(&mut self, cx: &mut Context<'_>, mut gathered: Gathered, coverage: Coverage) -> Vec<Effect> {
        gathered.coverage = coverage;
        let (coverage, round) = (&gathered.coverage, gathered.manifest.round);
        // The calls of a subtask that sent no report are not known, so neither is what they changed.
        if coverage.is_complete() && !gathered.has_unknown_calls() {
            let verdicts = facts::verdicts(coverage, round);
            return self.summarise(gathered, verdicts);
        }
        if coverage.refuted().next().is_some() {
            let verdicts = facts::verdicts(coverage, round);
            return self.replan(gathered, verdicts, None);
        }
        if gathered.is_by_skill() {
            let verdicts = facts::verdicts_on_skill(coverage);
            return self.replan(gathered, verdicts, None);
        }
        if !self.has_asked && facts::needs_only_confirmation(coverage) {
            self.has_asked = true;
            let readings = coverage.offered.clone();
            self.phase = Phase::Confirming(gathered);
            return vec![Effect::AskReading(ReadingRequest { task_id: self.spec.task_id.clone(), readings })];
        }
        self.by_criteria(cx, gathered)
    }

    /// Reviews the round by the criteria of its plan. No model is asked about a round in which a subtask failed.
    fn by_criteria(&mut self, cx: &mut Context<'_>, mut gathered: Gathered) -> Vec<Effect> {
        if !gathered.is_by_code() {
            gathered.excuse();
        }
        if gathered.all_matched() { self.review(cx, gathered) } else { self.replan(gathered, Vec::new(), None) }
    }

    /// The calls of earlier rounds that may have changed something, then all calls of this round.
    fn with_earlier_acts(&self, gathered: &Gathered) -> Vec<ToolCall> {
        let acts = self.earlier.iter().filter(|call| may_have_changed(call));
        acts.cloned().chain(gathered.calls()).collect()
    }

    /// Starts the decision on a round whose subtasks all matched: rules in code first, then checks, then a model.
    fn review(&mut self, cx: &mut Context<'_>, gathered: Gathered) -> Vec<Effect> {
        let merged = gathered.merged_output();
        let mut criteria = gathered.manifest.task_criteria.clone();
        // A model's plan may omit or weaken what the user asked for, so the user's request is a criterion as well.
        let from_code = gathered.is_by_code();
        if !from_code || criteria.is_empty() {
            criteria.push(goal(&self.spec));
        }
        let calls = self.with_earlier_acts(&gathered);
        let mut verdicts = Verdicts::new(criteria);
        if from_code {
            verdicts.decide_open(|criterion| already_checked(criterion, &gathered));
        }
        let checks = verdicts.rule(&merged, &calls);
        let review = Review { gathered, merged, verdicts };
        if checks.is_empty() {
            return self.judge(cx, review);
        }
        let id = cx.ids.next_effect();
        let order = CheckOrder { checks, output: review.merged.clone(), calls };
        self.phase = Phase::Checking(id, review);
        vec![Effect::RunChecks(id, order)]
    }

    /// Asks a model about the open criteria, unless none is open or one has failed already.
    fn judge(&mut self, cx: &mut Context<'_>, review: Review) -> Vec<Effect> {
        let open = review.verdicts.open();
        if open.is_empty() || review.verdicts.failed().any(|verdict| self.decides(verdict, &review.gathered)) {
            return self.decide(review, None);
        }
        let context = ValidateTaskContext {
            raw_input: self.spec.raw_input.clone(),
            intent: self.spec.intent.clone(),
            material: self.spec.material.clone(),
            open,
            merged_output: review.merged.clone(),
            outcomes: review.gathered.outcomes.clone(),
        };
        let calls = context.outcomes.iter().flat_map(|outcome| &outcome.tool_calls);
        let request = ModelRequest {
            role: Role::MetaValidator,
            task_id: self.spec.task_id.clone(),
            subtask_id: None,
            prompt: prompt::render(&context),
            schema_name: "task_verdict".to_owned(),
            schema: judgement_schema(context.open.len(), calls),
            max_tokens: REPLY_TOKENS,
            by_tools: None,
            context: RoleContext::ValidateTask(Box::new(context)),
        };
        let (ask, id, request) = Ask::start(cx, request);
        self.phase = Phase::Judging(ask, review);
        vec![Effect::AskModel(id, request)]
    }

    /// Whether a failed verdict fails the round: always, except the failed check of a model's plan after calls that did
    /// something.
    fn decides(&self, failed: &CriterionVerdict, gathered: &Gathered) -> bool {
        gathered.is_by_code() || !is_excused(failed, &self.with_earlier_acts(gathered))
    }

    /// Applies a model's judgement to the open criteria and decides on the round.
    fn judged(&mut self, mut review: Review, judgement: &Judgement) -> Vec<Effect> {
        let all = review.gathered.calls();
        // A file that this task wrote is not evidence of a fact that the user asked about.
        let calls = if facts::only_asks(&self.spec) { independent(&all) } else { all };
        let words_only = review.gathered.outcomes.iter().all(|outcome| outcome.words_only);
        review.verdicts.apply_judgement(judgement, Grounds { calls: &calls, words_only, uncertain: false });
        self.decide(review, None)
    }

    /// Reports success if there are criteria and each passed or its failure is excused (see `decides`); otherwise
    /// reports the gap to R7 (the Solver).
    fn decide(&mut self, mut review: Review, model_failure: Option<ModelFailure>) -> Vec<Effect> {
        if let Some(failure) = &model_failure {
            review.verdicts.fail_open(failure);
        }
        review.verdicts.leave_open();
        let verdicts = review.verdicts.into_decided();
        let decides = |v: &CriterionVerdict| v.verdict == Verdict::Fail && self.decides(v, &review.gathered);
        if verdicts.is_empty() || verdicts.iter().any(decides) {
            return self.replan(review.gathered, verdicts, model_failure);
        }
        self.summarise(review.gathered, verdicts)
    }

    /// Reports to R7 (the Solver) that the task is done, and why.
    fn summarise(&mut self, mut gathered: Gathered, task_verdicts: Vec<CriterionVerdict>) -> Vec<Effect> {
        self.phase = Phase::Gathering;
        if gathered.is_by_parser() && !self.spec.reading.simulated {
            gathered.coverage = facts::of_recipes(&self.spec, &task_verdicts);
        }
        // Facts show what code composed from them, and nothing of what a model says beside it.
        let is_composed = gathered.coverage.is_complete() && !gathered.is_by_parser();
        vec![Effect::Summarise(OutcomeSummary {
            merged_output: gathered.merged_output(),
            answers: if is_composed { Vec::new() } else { gathered.answers() },
            task_id: gathered.manifest.task_id,
            round: gathered.manifest.round,
            summary: self.spec.intent.clone(),
            outcomes: gathered.outcomes,
            task_verdicts,
            coverage: gathered.coverage,
        })]
    }

    /// Reports the gap of the round to R7 (the Solver) and waits for the next round.
    fn replan(
        &mut self,
        gathered: Gathered,
        task_verdicts: Vec<CriterionVerdict>,
        model_failure: Option<ModelFailure>,
    ) -> Vec<Effect> {
        self.phase = Phase::Gathering;
        self.earlier.extend(gathered.calls());
        vec![Effect::Replan(ReplanRequest {
            task_id: gathered.manifest.task_id.clone(),
            round: gathered.manifest.round,
            merged_output: gathered.merged_output(),
            unverified: gathered.unverified(),
            gap_summary: gathered.gap_summary(&task_verdicts),
            missing: gathered.missing(),
            outcomes: gathered.outcomes,
            task_verdicts,
            model_failure,
            coverage: gathered.coverage,
        })]
    }
}

/// The user's request itself as a criterion, judged in addition to the criteria of the plan.
fn goal(spec: &TaskSpec) -> Criterion {
    let understood = if spec.intent.trim() == spec.raw_input.trim() {
        String::new()
    } else {
        format!(" (understood as: {})", spec.intent)
    };
    Criterion::Prose {
        text: format!("the evidence shows that the request is fulfilled: {}{understood}", spec.raw_input.trim()),
        mode: Mode::Verifiable,
        required: true,
    }
}

/// The verdict on the task's criterion from the same check of a subtask, which was already run on that subtask's own
/// output; `None` if no subtask has this criterion.
///
/// The verdict is true for the moment after that step. If a later step may have changed something, the evidence says
/// so. The steps of a recipe run one after the other, in the order of their outcomes.
fn already_checked(criterion: &Criterion, gathered: &Gathered) -> Option<CriterionVerdict> {
    let of_check = |v: &&CriterionVerdict| v.source == VerdictSource::Check && v.criterion == *criterion;
    let (step, verdict) = (gathered.outcomes.iter().enumerate())
        .find_map(|(step, outcome)| Some((step, outcome.criteria_verdicts.iter().find(of_check)?)))?;
    let mut verdict = verdict.clone();
    if gathered.outcomes.iter().skip(step + 1).flat_map(|later| &later.tool_calls).any(may_have_changed) {
        verdict.evidence.push_str(CHECKED_AT_ITS_STEP);
    }
    Some(verdict)
}

impl Gathered {
    /// Whether code wrote every subtask of the round, with its checks.
    fn is_by_code(&self) -> bool {
        self.manifest.subtasks.iter().all(|subtask| subtask.recipe)
    }

    /// Whether the subtasks of the round come from a skill.
    fn is_by_skill(&self) -> bool {
        self.manifest.skill().is_some()
    }

    /// Whether the embedded parser planned the round.
    fn is_by_parser(&self) -> bool {
        self.is_by_code() && !self.is_by_skill()
    }

    /// The calls of all subtasks of the round, in order.
    fn calls(&self) -> Vec<ToolCall> {
        self.outcomes.iter().flat_map(|outcome| outcome.tool_calls.iter().cloned()).collect()
    }
}

impl Start for MetaValidator {
    type Setup = ();
    const ABORT: Input = Input::Abort;

    fn start((): &(), _cx: &mut Context<'_>, first: Input) -> Result<(Self, Vec<Effect>), Input> {
        let Input::Task(spec) = first else { return Err(first) };
        let (fan_in, earlier) = (FanIn::default(), Vec::new());
        Ok((Self { spec, fan_in, earlier, has_asked: false, phase: Phase::Gathering }, Vec::new()))
    }
}

impl Machine for MetaValidator {
    type Input = Input;
    type Effect = Effect;

    fn step(&mut self, cx: &mut Context<'_>, input: Input) -> Vec<Effect> {
        match (std::mem::take(&mut self.phase), input) {
            (Phase::Gathering, Input::Arrived(part)) => {
                if self.fan_in.add(part) {
                    return self.gather(cx);
                }
                self.phase = Phase::Gathering;
                cx.ignore()
            }
            (Phase::Covering(awaited, gathered), Input::Covered(id, coverage)) if awaited == id => {
                self.covered(cx, gathered, coverage)
            }
            (Phase::Confirming(gathered), Input::Answered(answer)) => {
                if answer.confirmed {
                    self.cover(cx, gathered)
                } else {
                    self.by_criteria(cx, gathered)
                }
            }
            (Phase::Checking(awaited, mut review), Input::Checked(id, outcomes)) if awaited == id => {
                review.verdicts.apply_checks(outcomes);
                self.judge(cx, review)
            }
            (Phase::Judging(ask, review), Input::Replied(id, reply)) if ask.awaits(id) => match ask.answer(cx, reply) {
                Answer::Value(judgement) => self.judged(review, &judgement),
                Answer::Again(ask, id, request) => {
                    self.phase = Phase::Judging(ask, review);
                    vec![Effect::AskModel(id, request)]
                }
                Answer::Failed(failure) => self.decide(review, Some(failure)),
                Answer::Abstained(_) => self.decide(review, Some(no_judge())),
            },
            (_, Input::Abort) => Vec::new(),
            (
                phase,
                Input::Task(_)
                | Input::Arrived(_)
                | Input::Replied(..)
                | Input::Checked(..)
                | Input::Covered(..)
                | Input::Answered(_),
            ) => {
                self.phase = phase;
                cx.ignore()
            }
        }
    }
}

adapters! {
    messages {
        TaskSpec(spec) => Input::Task(spec.clone()),
        DispatchManifest(manifest) => Input::Arrived(Part::Manifest(manifest.clone())),
        SubTaskOutcome(outcome) => Input::Arrived(Part::Outcome(outcome.clone())),
        SubTaskMissing(missing) => Input::Arrived(Part::Missing(missing.clone())),
        ReadingAnswer(answer) => Input::Answered(answer.clone()),
        Abort(_) => Input::Abort,
    }
    completions {
        (id, Completion::Model(reply)) => Input::Replied(id, reply),
        (id, Completion::Checks(outcomes)) => Input::Checked(id, outcomes),
        (id, Completion::Covered(coverage)) => Input::Covered(id, coverage),
    }
    publishes { Replan, Summarise, AskReading }
    performs { AskModel, RunChecks, Cover }
}
