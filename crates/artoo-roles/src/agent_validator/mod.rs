//! R4a, the Agent-Validator: holds R3's claim against its calls, criterion by criterion, and drives the fast loop.

#[cfg(test)]
#[cfg(feature = "runtime")]
mod agreement;
mod evidence;
mod judgement;
mod prompt;
#[cfg(test)]
mod tests;
mod wire;

use artoo_proto::{
    CheckOutcome, CorrectionSignal, Criterion, CriterionVerdict, EffectId, EvidenceId, ExecutionResult,
    ExecutionStatus, FailureClass, GapPoint, ModelFailure, ModelReply, ModelRequest, OutcomeStatus, Role, RoleContext,
    SubTask, SubTaskOutcome, ToolCall, Usage, ValidateSubtaskContext, Verdict,
};

use crate::ask::{Answer, Ask};
use crate::limits::{REPLY_TOKENS, RETRIES_MAX};
pub(crate) use prompt::{numbered, schema as judgement_schema};

use crate::machine::{CheckOrder, Context, Machine, Work};
pub(crate) use evidence::{Ruling, has_changed, independent, left_open, may_have_changed, rule};
pub(crate) use judgement::{Grounds, Judgement, apply_judgement, fail, pass_by_check};

/// What R4a may be told.
#[derive(Debug)]
pub enum Input {
    /// The subtask it guards.
    Assigned(SubTask),
    /// R3's report.
    Reported(ExecutionResult),
    /// The model's reply.
    Replied(EffectId, Result<ModelReply, ModelFailure>),
    /// Checks were decided.
    Checked(EffectId, Vec<CheckOutcome>),
    /// The task is over.
    Abort,
}

/// What R4a may do. It has no way to run a tool, speak for the whole task or write to memory.
#[derive(Debug)]
pub enum Effect {
    /// Try again, differently.
    Correct(CorrectionSignal),
    /// The final word on this subtask.
    Conclude(SubTaskOutcome),
    /// Ask the model, or decide checks.
    Perform(EffectId, Work),
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Idle,
    Checking(EffectId, Assessment, Vec<OpenCheck>),
    Judging(Ask<Judgement>, Assessment),
    Done,
}

/// A check under way: which criterion it decides, and the calls it rests on.
pub(crate) type OpenCheck = (usize, Vec<EvidenceId>);

/// One attempt under assessment: a verdict a declared criterion, decided or open.
#[derive(Debug)]
struct Assessment {
    result: ExecutionResult,
    criteria: Vec<Criterion>,
    verdicts: Vec<Option<CriterionVerdict>>,
    advice: Option<String>,
}

/// The Agent-Validator of one subtask.
#[derive(Debug, Default)]
pub struct AgentValidator {
    subtask: Option<SubTask>,
    /// A report that overtook the subtask on the bus.
    early: Option<ExecutionResult>,
    attempt: u32,
    trajectory: Vec<GapPoint>,
    calls: Vec<ToolCall>,
    state: State,
}

impl AgentValidator {
    /// A validator that waits for its subtask.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn assess(&mut self, cx: &mut Context<'_>, result: ExecutionResult) -> Vec<Effect> {
        let Some(subtask) = self.subtask.clone() else {
            self.early = Some(result);
            return Vec::new();
        };
        if result.attempt != self.attempt + 1 {
            return Vec::new();
        }
        self.attempt = result.attempt;
        // R3 reports the calls of its attempt; the outcome carries those of all attempts.
        self.calls.extend(result.tool_calls.iter().cloned());
        let criteria = evidence::declared_or_implied(&subtask);
        let mut verdicts: Vec<Option<CriterionVerdict>> = vec![None; criteria.len()];
        if let Some(objection) = evidence::objection(&subtask, &result, &self.calls) {
            for (slot, criterion) in verdicts.iter_mut().zip(&criteria) {
                *slot = Some(fail(criterion, objection.class, objection.source, &objection.detail));
            }
            let assessment = Assessment { result, criteria, verdicts, advice: None };
            return self.conclude_or_correct(assessment, objection.is_final);
        }
        let mut checks = Vec::new();
        let mut open = Vec::new();
        for (index, (slot, criterion)) in verdicts.iter_mut().zip(&criteria).enumerate() {
            match evidence::rule(criterion, &result.output, &self.calls) {
                Ruling::Decided(verdict) => *slot = Some(verdict),
                Ruling::Check(check, cites) => {
                    checks.push(check);
                    open.push((index, cites));
                }
                Ruling::Judge => {}
            }
        }
        let assessment = Assessment { result, criteria, verdicts, advice: None };
        if checks.is_empty() {
            return self.judge(cx, assessment);
        }
        let id = cx.ids.next_effect();
        let order = CheckOrder { checks, output: assessment.result.output.clone(), calls: self.calls.clone() };
        self.state = State::Checking(id, assessment, open);
        vec![Effect::Perform(id, Work::Checks { order })]
    }

    fn checked(
        &mut self,
        cx: &mut Context<'_>,
        mut assessment: Assessment,
        open: Vec<OpenCheck>,
        outcomes: Vec<CheckOutcome>,
    ) -> Vec<Effect> {
        let mut outcomes = outcomes.into_iter();
        for (index, cites) in open {
            assessment.settle(index, |criterion| pass_by_check(criterion, outcomes.next(), cites));
        }
        self.judge(cx, assessment)
    }

    fn judge(&mut self, cx: &mut Context<'_>, assessment: Assessment) -> Vec<Effect> {
        let Some(subtask) = self.subtask.clone() else { return Vec::new() };
        let open: Vec<Criterion> = assessment.open().map(|(_, criterion)| criterion.clone()).collect();
        // A failed check already decides the attempt; a model's view of the rest would buy nothing.
        let failed = assessment.verdicts.iter().flatten().any(|verdict| verdict.verdict == Verdict::Fail);
        if open.is_empty() || failed {
            return self.conclude_or_correct(assessment, false);
        }
        // What an earlier attempt measured is evidence too: a retry may not repeat those calls.
        let result = ExecutionResult { tool_calls: self.calls.clone(), ..assessment.result.clone() };
        let context = ValidateSubtaskContext { subtask: subtask.clone(), result, open };
        let request = ModelRequest {
            role: Role::AgentValidator,
            task_id: subtask.parent_task_id,
            subtask_id: Some(subtask.subtask_id),
            prompt: prompt::render(&context),
            schema_name: "subtask_verdict".to_owned(),
            schema: prompt::schema(context.open.len(), &context.result.tool_calls),
            max_tokens: REPLY_TOKENS,
            by_tools: None,
            context: RoleContext::ValidateSubtask(Box::new(context)),
        };
        let (ask, id, work) = Ask::start(cx, request);
        self.state = State::Judging(ask, assessment);
        vec![Effect::Perform(id, work)]
    }

    fn judged(&mut self, mut assessment: Assessment, judgement: Judgement) -> Vec<Effect> {
        let open: Vec<usize> = assessment.open().map(|(index, _)| index).collect();
        let grounds = Grounds {
            calls: &self.calls,
            words_only: self.is_words_only(),
            uncertain: assessment.result.status == ExecutionStatus::Uncertain,
        };
        for (number, index) in (1..).zip(open) {
            assessment.settle(index, |criterion| apply_judgement(criterion, number, &judgement, grounds));
        }
        assessment.advice = judgement.what_to_do;
        self.conclude_or_correct(assessment, false)
    }

    fn unjudged(&mut self, mut assessment: Assessment, failure: &ModelFailure) -> Vec<Effect> {
        let open: Vec<usize> = assessment.open().map(|(index, _)| index).collect();
        for index in open {
            assessment.settle(index, |criterion| evidence::unjudged(criterion, failure));
        }
        self.conclude(assessment, !failure.is_worth_asking_again(), Some(failure.clone()))
    }

    fn conclude_or_correct(&mut self, mut assessment: Assessment, is_final: bool) -> Vec<Effect> {
        // What decided the attempt is named, not what was left open because of it.
        let failed = assessment.verdicts.iter().flatten().find(|verdict| verdict.verdict == Verdict::Fail).cloned();
        let open: Vec<usize> = assessment.open().map(|(index, _)| index).collect();
        for index in open {
            assessment.settle(index, evidence::left_open);
        }
        let Some(failed) = failed else { return self.conclude(assessment, false, None) };
        let is_recipe = self.subtask.as_ref().is_some_and(|subtask| subtask.recipe.is_some());
        if is_final || is_recipe || self.attempt > RETRIES_MAX {
            let infrastructure = is_final && evidence::is_infrastructure(&assessment.result);
            let model_failure = assessment.result.model_failure.clone();
            return self.conclude(assessment, infrastructure, model_failure);
        }
        self.note_gap(&assessment);
        let Some(subtask) = &self.subtask else { return Vec::new() };
        self.state = State::Idle;
        let class = failed.failure_class.unwrap_or(FailureClass::Logical);
        vec![Effect::Correct(CorrectionSignal {
            subtask_id: subtask.subtask_id,
            parent_task_id: subtask.parent_task_id.clone(),
            attempt_number: self.attempt + 1,
            failed_criterion: failed.criterion.claim(),
            failure_class: class,
            what_was_wrong: failed.evidence,
            what_to_do: evidence::what_to_do(subtask, class, assessment.advice.as_deref()),
            avoid_calls: self.calls.iter().map(|call| format!("{} {}", call.tool, call.input)).collect(),
        })]
    }

    fn note_gap(&mut self, assessment: &Assessment) {
        let verdicts = || assessment.verdicts.iter().flatten();
        let unmet: Vec<&CriterionVerdict> = verdicts().filter(|verdict| verdict.verdict == Verdict::Fail).collect();
        let total = assessment.criteria.len().max(1);
        #[expect(clippy::cast_precision_loss, reason = "a handful of criteria")]
        let score = (total - unmet.len().min(total)) as f64 / total as f64;
        self.trajectory.push(GapPoint {
            attempt: self.attempt,
            score,
            unmet_criteria: unmet.iter().map(|verdict| verdict.criterion.claim()).collect(),
            failure_class: unmet.iter().find_map(|verdict| verdict.failure_class),
        });
    }

    fn is_words_only(&self) -> bool {
        self.subtask.as_ref().is_some_and(|subtask| subtask.tools.is_empty()) && self.calls.is_empty()
    }

    fn conclude(
        &mut self,
        assessment: Assessment,
        infrastructure: bool,
        model_failure: Option<ModelFailure>,
    ) -> Vec<Effect> {
        self.note_gap(&assessment);
        self.state = State::Done;
        let words_only = self.is_words_only();
        let Some(subtask) = &self.subtask else { return Vec::new() };
        let verdicts: Vec<CriterionVerdict> = assessment.verdicts.into_iter().flatten().collect();
        let failed: Vec<&CriterionVerdict> = verdicts.iter().filter(|v| v.verdict == Verdict::Fail).collect();
        let matched = failed.is_empty() && !verdicts.is_empty() && assessment.result.status != ExecutionStatus::Failed;
        let decisive = failed.iter().find(|verdict| verdict.failure_class.is_some()).or(failed.first());
        let failure_reason = (!matched).then(|| match (decisive, &assessment.result.reason) {
            (Some(first), _) => format!("{}: {}", first.criterion.claim(), first.evidence),
            (None, Some(reason)) => reason.clone(),
            (None, None) => "nothing was verified".to_owned(),
        });
        vec![Effect::Conclude(SubTaskOutcome {
            subtask_id: subtask.subtask_id,
            parent_task_id: subtask.parent_task_id.clone(),
            round: subtask.round,
            status: if matched { OutcomeStatus::Matched } else { OutcomeStatus::Failed },
            output: assessment.result.output,
            failure_reason,
            gap_trajectory: std::mem::take(&mut self.trajectory),
            criteria_verdicts: verdicts,
            tool_calls: std::mem::take(&mut self.calls),
            denied: assessment.result.denied,
            infrastructure,
            model_failure,
            words_only,
        })]
    }
}

impl Assessment {
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

impl Machine for AgentValidator {
    type Input = Input;
    type Effect = Effect;

    fn step(&mut self, cx: &mut Context<'_>, input: Input) -> Vec<Effect> {
        match (std::mem::take(&mut self.state), input) {
            (State::Idle, Input::Assigned(subtask)) if self.subtask.is_none() => {
                self.subtask = Some(subtask);
                match self.early.take() {
                    Some(result) => self.assess(cx, result),
                    None => Vec::new(),
                }
            }
            (State::Idle, Input::Reported(result)) => self.assess(cx, result),
            (State::Checking(awaited, assessment, open), Input::Checked(id, outcomes)) if awaited == id => {
                self.checked(cx, assessment, open, outcomes)
            }
            (State::Judging(ask, assessment), Input::Replied(id, reply)) if ask.awaits(id) => {
                match ask.answer(cx, reply) {
                    Answer::Value(judgement) => self.judged(assessment, judgement),
                    Answer::Again(ask, id, work) => {
                        self.state = State::Judging(ask, assessment);
                        vec![Effect::Perform(id, work)]
                    }
                    Answer::Failed(failure) => self.unjudged(assessment, &failure),
                    Answer::Recipes(_) | Answer::Abstained(_) => {
                        let detail = "no language model is set up to judge this".to_owned();
                        self.unjudged(
                            assessment,
                            &ModelFailure::Unreadable { detail, excerpt: String::new(), usage: Usage::default() },
                        )
                    }
                }
            }
            (_, Input::Abort) => {
                self.state = State::Done;
                Vec::new()
            }
            (state, _) => {
                self.state = state;
                Vec::new()
            }
        }
    }
}
