//! R4b, the Meta-Validator: the fan-in gate, the joined result, and a yes or no on the task's criteria.

mod act;
mod fan_in;
mod prompt;
#[cfg(test)]
mod tests;
mod wire;

use artoo_proto::{
    CheckOutcome, Criterion, CriterionVerdict, DispatchManifest, EffectId, FailureClass, ModelFailure, ModelReply,
    ModelRequest, OutcomeSummary, ReplanRequest, Role, RoleContext, SubTaskMissing, SubTaskOutcome, TaskSpec, ToolCall,
    Usage, ValidateTaskContext, Verdict, VerdictSource,
};

use crate::agent_validator::{
    Grounds, Judgement, OpenCheck, Ruling, apply_judgement, fail, independent, judgement_schema, left_open,
    may_have_changed, pass_by_check, rule,
};
use crate::ask::{Answer, Ask};
use crate::grounding;
use crate::limits::REPLY_TOKENS;
use crate::machine::{CheckOrder, Context, Machine, Work};
use act::goal;
use fan_in::{FanIn, Gathered};

/// Said of a check that was made before later steps changed things.
const CHECKED_AT_ITS_STEP: &str = "; looked at right after this step, and a later step has changed things since";

/// What R4b may be told.
#[derive(Debug)]
pub enum Input {
    /// The task.
    Task(TaskSpec),
    /// What was dispatched.
    Manifest(DispatchManifest),
    /// One subtask's end.
    Outcome(SubTaskOutcome),
    /// A subtask that will not report.
    Missing(SubTaskMissing),
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
    /// Ask the model, or decide checks.
    Perform(EffectId, Work),
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Gathering,
    Checking(EffectId, Review, Vec<OpenCheck>),
    Judging(Ask<Judgement>, Review),
    Done,
}

/// A whole round under review: a verdict a task criterion, decided or open.
#[derive(Debug)]
struct Review {
    gathered: Gathered,
    merged: String,
    criteria: Vec<Criterion>,
    verdicts: Vec<Option<CriterionVerdict>>,
}

/// The Meta-Validator of one task.
#[derive(Debug, Default)]
pub struct MetaValidator {
    spec: Option<TaskSpec>,
    fan_in: FanIn,
    /// Calls of earlier rounds that changed something: what they left may be what this round builds on.
    earlier_acts: Vec<ToolCall>,
    state: State,
}

impl MetaValidator {
    /// A validator that waits for its first round.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Goes on as soon as every subtask of the round has an outcome or is known to have none.
    fn gather(&mut self, cx: &mut Context<'_>) -> Vec<Effect> {
        if self.spec.is_none() {
            return Vec::new();
        }
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
        let Some(spec) = &self.spec else { return Vec::new() };
        let merged = gathered.merged_output();
        let mut criteria = gathered.manifest.task_criteria.clone();
        // A model's plan may leave out, or water down, what was asked for: the user's own words are judged as well.
        let from_code = gathered.manifest.subtasks.iter().all(|subtask| subtask.recipe);
        if !from_code || criteria.is_empty() {
            criteria.push(goal(spec));
        }
        let calls = self.with_earlier_acts(&gathered);
        let mut verdicts: Vec<Option<CriterionVerdict>> = vec![None; criteria.len()];
        let (mut checks, mut open) = (Vec::new(), Vec::new());
        for (index, (slot, criterion)) in verdicts.iter_mut().zip(&criteria).enumerate() {
            if from_code
                && objection.is_none()
                && let Some(verdict) = already_checked(criterion, &gathered)
            {
                *slot = Some(verdict);
                continue;
            }
            match (&objection, rule(criterion, &merged, &calls)) {
                (Some(objection), _) => {
                    *slot = Some(CriterionVerdict { criterion: criterion.clone(), ..objection.clone() });
                }
                (None, Ruling::Decided(verdict)) => *slot = Some(verdict),
                (None, Ruling::Check(check, cites)) => {
                    checks.push(check);
                    open.push((index, cites));
                }
                (None, Ruling::Judge) => {}
            }
        }
        let review = Review { gathered, merged, criteria, verdicts };
        if checks.is_empty() {
            return self.judge(cx, review);
        }
        let id = cx.ids.next_effect();
        let order = CheckOrder { checks, output: review.merged.clone(), calls };
        self.state = State::Checking(id, review, open);
        vec![Effect::Perform(id, Work::Checks { order })]
    }

    fn checked(
        &mut self,
        cx: &mut Context<'_>,
        mut review: Review,
        open: Vec<OpenCheck>,
        outcomes: Vec<CheckOutcome>,
    ) -> Vec<Effect> {
        let mut outcomes = outcomes.into_iter();
        for (index, cites) in open {
            review.settle(index, |criterion| pass_by_check(criterion, outcomes.next(), cites));
        }
        self.judge(cx, review)
    }

    fn judge(&mut self, cx: &mut Context<'_>, review: Review) -> Vec<Effect> {
        let Some(spec) = &self.spec else { return Vec::new() };
        let open: Vec<Criterion> = review.open().map(|(_, criterion)| criterion.clone()).collect();
        let failed = review.verdicts.iter().flatten().any(|verdict| verdict.verdict == Verdict::Fail);
        if open.is_empty() || failed {
            return self.decide(review, None);
        }
        let context = ValidateTaskContext {
            raw_input: spec.raw_input.clone(),
            intent: spec.intent.clone(),
            open,
            merged_output: review.merged.clone(),
            outcomes: review.gathered.outcomes.clone(),
        };
        let calls = context.outcomes.iter().flat_map(|outcome| &outcome.tool_calls);
        let request = ModelRequest {
            role: Role::MetaValidator,
            task_id: spec.task_id.clone(),
            subtask_id: None,
            prompt: prompt::render(&context),
            schema_name: "task_verdict".to_owned(),
            schema: judgement_schema(context.open.len(), calls),
            max_tokens: REPLY_TOKENS,
            by_tools: None,
            context: RoleContext::ValidateTask(Box::new(context)),
        };
        let (ask, id, work) = Ask::start(cx, request);
        self.state = State::Judging(ask, review);
        vec![Effect::Perform(id, work)]
    }

    fn judged(&mut self, mut review: Review, judgement: &Judgement) -> Vec<Effect> {
        let asked = self.spec.as_ref().is_some_and(|spec| grounding::is_question(&spec.raw_input));
        let all = review.gathered.calls();
        // What this task wrote, or read back from it, is no evidence of a fact the user asked about.
        let calls = if asked { independent(&all) } else { all };
        let words_only = review.gathered.outcomes.iter().all(|outcome| outcome.words_only);
        let grounds = Grounds { calls: &calls, words_only, uncertain: false };
        let open: Vec<usize> = review.open().map(|(index, _)| index).collect();
        for (number, index) in (1..).zip(open) {
            review.settle(index, |criterion| apply_judgement(criterion, number, judgement, grounds));
        }
        self.decide(review, None)
    }

    /// Accepts only when every criterion passed; everything else goes to R7.
    fn decide(&mut self, mut review: Review, model_failure: Option<ModelFailure>) -> Vec<Effect> {
        let open: Vec<usize> = review.open().map(|(index, _)| index).collect();
        for index in open {
            review.settle(index, |criterion| match &model_failure {
                Some(failure) => {
                    let why = format!("not judged: {failure}");
                    fail(criterion, FailureClass::Environmental, VerdictSource::Missing, &why)
                }
                None => left_open(criterion),
            });
        }
        let verdicts: Vec<CriterionVerdict> = review.verdicts.into_iter().flatten().collect();
        if verdicts.is_empty() || verdicts.iter().any(|verdict| verdict.verdict == Verdict::Fail) {
            return self.replan(review.gathered, verdicts, model_failure);
        }
        self.state = State::Gathering;
        let summary = self.spec.as_ref().map(|spec| spec.intent.clone()).unwrap_or_default();
        vec![Effect::Summarise(OutcomeSummary {
            task_id: review.gathered.manifest.task_id,
            round: review.gathered.manifest.round,
            merged_output: review.merged,
            summary,
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
        self.state = State::Gathering;
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

impl Review {
    fn open(&self) -> impl Iterator<Item = (usize, &Criterion)> {
        let pairs = self.criteria.iter().zip(&self.verdicts).enumerate();
        pairs.filter(|(_, (_, verdict))| verdict.is_none()).map(|(index, (criterion, _))| (index, criterion))
    }

    fn settle(&mut self, index: usize, decide: impl FnOnce(&Criterion) -> CriterionVerdict) {
        if let (Some(criterion), Some(slot)) = (self.criteria.get(index), self.verdicts.get_mut(index)) {
            *slot = Some(decide(criterion));
        }
    }
}

impl Gathered {
    fn calls(&self) -> Vec<ToolCall> {
        self.outcomes.iter().flat_map(|outcome| outcome.tool_calls.iter().cloned()).collect()
    }
}

impl Machine for MetaValidator {
    type Input = Input;
    type Effect = Effect;

    fn step(&mut self, cx: &mut Context<'_>, input: Input) -> Vec<Effect> {
        match (std::mem::take(&mut self.state), input) {
            (State::Done, _) | (_, Input::Abort) => {
                self.state = State::Done;
                Vec::new()
            }
            (state, Input::Task(spec)) => {
                self.state = state;
                self.spec.get_or_insert(spec);
                if matches!(self.state, State::Gathering) { self.gather(cx) } else { Vec::new() }
            }
            (state @ State::Gathering, input @ (Input::Manifest(_) | Input::Outcome(_) | Input::Missing(_))) => {
                self.state = state;
                self.fan_in.add(input);
                self.gather(cx)
            }
            (State::Checking(awaited, review, open), Input::Checked(id, outcomes)) if awaited == id => {
                self.checked(cx, review, open, outcomes)
            }
            (State::Judging(ask, review), Input::Replied(id, reply)) if ask.awaits(id) => match ask.answer(cx, reply) {
                Answer::Value(judgement) => self.judged(review, &judgement),
                Answer::Again(ask, id, work) => {
                    self.state = State::Judging(ask, review);
                    vec![Effect::Perform(id, work)]
                }
                Answer::Failed(failure) => self.decide(review, Some(failure)),
                Answer::Recipes(_) | Answer::Abstained(_) => {
                    let detail = "no language model is set up to judge this".to_owned();
                    self.decide(
                        review,
                        Some(ModelFailure::Unreadable { detail, excerpt: String::new(), usage: Usage::default() }),
                    )
                }
            },
            (state, _) => {
                self.state = state;
                Vec::new()
            }
        }
    }
}
