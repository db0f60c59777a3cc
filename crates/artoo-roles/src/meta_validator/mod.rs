//! R4b, the Meta-Validator: the fan-in gate, the joined result, and a yes or no on the task's criteria.

mod act;
mod fan_in;
mod prompt;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use artoo_proto::{
    CheckOutcome, Criterion, CriterionVerdict, EffectId, ModelFailure, ModelReply, ModelRequest, OutcomeSummary,
    ReplanRequest, Role, RoleContext, TaskSpec, ToolCall, ValidateTaskContext, Verdict, VerdictSource,
};

use crate::agent_validator::{Grounds, Judgement, Verdicts, independent, judgement_schema, may_have_changed, no_judge};
use crate::ask::{Answer, Ask};
use crate::grounding;
use crate::limits::REPLY_TOKENS;
use crate::machine::{CheckOrder, Completion, Context, Machine, Start, adapters};
use act::goal;
pub use fan_in::Part;
use fan_in::{FanIn, Gathered};

/// Said of a check that was made before later steps changed things.
const CHECKED_AT_ITS_STEP: &str = "; looked at right after this step, and a later step has changed things since";

/// What R4b may be told.
#[derive(Debug)]
pub enum Input {
    /// The task.
    Task(TaskSpec),
    /// A part of a round: its manifest, an outcome, or the notice that an outcome is missing.
    Arrived(Part),
    /// The model's reply.
    Replied(EffectId, Result<ModelReply, ModelFailure>),
    /// Checks were decided.
    Checked(EffectId, Vec<CheckOutcome>),
    /// The task is over.
    Abort,
}

/// What R4b may do. It has no way to direct the planner, retry a subtask or write to memory.
#[derive(Debug)]
pub enum Effect {
    /// The gap, to R7.
    Replan(ReplanRequest),
    /// Everything is met.
    Summarise(OutcomeSummary),
    /// Asks the model.
    AskModel(EffectId, Arc<ModelRequest>),
    /// Runs checks.
    RunChecks(EffectId, CheckOrder),
}

#[derive(Debug, Default)]
enum Phase {
    /// Outcomes of the round are outstanding.
    Gathering,
    Checking(EffectId, Review),
    Judging(Ask<Judgement>, Review),
    #[default]
    Over,
}

/// A complete round under review.
#[derive(Debug)]
struct Review {
    gathered: Gathered,
    merged: String,
    verdicts: Verdicts,
}

/// The Meta-Validator of one task.
#[derive(Debug)]
pub struct MetaValidator {
    spec: TaskSpec,
    fan_in: FanIn,
    /// Calls of earlier rounds that changed something: what they left may be what this round builds on.
    earlier_acts: Vec<ToolCall>,
    phase: Phase,
}

impl MetaValidator {
    /// Reviews the round if every subtask has an outcome or is known to have none.
    fn gather(&mut self, cx: &mut Context<'_>) -> Vec<Effect> {
        self.phase = Phase::Gathering;
        let Some(gathered) = self.fan_in.take_complete() else { return Vec::new() };
        let objection = self.act_objection(&gathered);
        if !gathered.all_matched() {
            // The gate: no model is asked about a round in which something failed. That nothing was done of what was
            // asked for is no judgement, and keeps such a round from being close enough.
            let unblamed =
                |verdict| CriterionVerdict { failure_class: None, source: VerdictSource::Missing, ..verdict };
            let verdicts = objection.map(unblamed);
            return self.replan(gathered, verdicts.into_iter().collect(), None);
        }
        self.review(cx, gathered, objection)
    }

    fn with_earlier_acts(&self, gathered: &Gathered) -> Vec<ToolCall> {
        self.earlier_acts.iter().cloned().chain(gathered.calls()).collect()
    }

    fn review(&mut self, cx: &mut Context<'_>, gathered: Gathered, objection: Option<CriterionVerdict>) -> Vec<Effect> {
        let merged = gathered.merged_output();
        let mut criteria = gathered.manifest.task_criteria.clone();
        // A model's plan may leave out, or water down, what was asked for: the user's own words are judged as well.
        let from_code = gathered.manifest.subtasks.iter().all(|subtask| subtask.recipe);
        if !from_code || criteria.is_empty() {
            criteria.push(goal(&self.spec));
        }
        let calls = self.with_earlier_acts(&gathered);
        let mut verdicts = Verdicts::new(criteria);
        match objection {
            Some(objection) => verdicts
                .decide_open(|criterion| Some(CriterionVerdict { criterion: criterion.clone(), ..objection.clone() })),
            None if from_code => verdicts.decide_open(|criterion| already_checked(criterion, &gathered)),
            None => {}
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

    fn judge(&mut self, cx: &mut Context<'_>, review: Review) -> Vec<Effect> {
        let open = review.verdicts.open();
        if open.is_empty() || review.verdicts.failed().next().is_some() {
            return self.decide(review, None);
        }
        let context = ValidateTaskContext {
            raw_input: self.spec.raw_input.clone(),
            intent: self.spec.intent.clone(),
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

    fn judged(&mut self, mut review: Review, judgement: &Judgement) -> Vec<Effect> {
        let all = review.gathered.calls();
        // What this task wrote, or read back from it, is no evidence of a fact the user asked about.
        let calls = if grounding::is_question(&self.spec.raw_input) { independent(&all) } else { all };
        let words_only = review.gathered.outcomes.iter().all(|outcome| outcome.words_only);
        review.verdicts.apply_judgement(judgement, Grounds { calls: &calls, words_only, uncertain: false });
        self.decide(review, None)
    }

    /// Accepts only when every criterion passed; everything else goes to R7.
    fn decide(&mut self, mut review: Review, model_failure: Option<ModelFailure>) -> Vec<Effect> {
        if let Some(failure) = &model_failure {
            review.verdicts.fail_open(failure);
        }
        review.verdicts.leave_open();
        let verdicts = review.verdicts.into_decided();
        if verdicts.is_empty() || verdicts.iter().any(|verdict| verdict.verdict == Verdict::Fail) {
            return self.replan(review.gathered, verdicts, model_failure);
        }
        self.phase = Phase::Gathering;
        vec![Effect::Summarise(OutcomeSummary {
            task_id: review.gathered.manifest.task_id,
            round: review.gathered.manifest.round,
            merged_output: review.merged,
            summary: self.spec.intent.clone(),
            outcomes: review.gathered.outcomes,
            task_verdicts: verdicts,
        })]
    }

    fn replan(
        &mut self,
        gathered: Gathered,
        task_verdicts: Vec<CriterionVerdict>,
        model_failure: Option<ModelFailure>,
    ) -> Vec<Effect> {
        self.phase = Phase::Gathering;
        let acts = gathered.calls().into_iter().filter(may_have_changed);
        self.earlier_acts.extend(acts);
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
        })]
    }
}

/// The verdict of code on the same check of one subtask: its own output was held against it, and a step's output is
/// not the whole task's.
///
/// It holds for the moment after that step. Where a later one may have changed something since, the evidence says so;
/// a recipe's steps run one after the other, in the order of their outcomes.
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
    fn calls(&self) -> Vec<ToolCall> {
        self.outcomes.iter().flat_map(|outcome| outcome.tool_calls.iter().cloned()).collect()
    }
}

impl Start for MetaValidator {
    type Setup = ();
    const ABORT: Input = Input::Abort;

    fn start((): &(), _cx: &mut Context<'_>, first: Input) -> Result<(Self, Vec<Effect>), Input> {
        let Input::Task(spec) = first else { return Err(first) };
        let (fan_in, earlier_acts) = (FanIn::default(), Vec::new());
        Ok((Self { spec, fan_in, earlier_acts, phase: Phase::Gathering }, Vec::new()))
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
            (phase, Input::Task(_) | Input::Arrived(_) | Input::Replied(..) | Input::Checked(..)) => {
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
        Abort(_) => Input::Abort,
    }
    completions {
        (id, Completion::Model(reply)) => Input::Replied(id, reply),
        (id, Completion::Checks(outcomes)) => Input::Checked(id, outcomes),
    }
    publishes { Replan, Summarise }
    performs { AskModel, RunChecks }
}
