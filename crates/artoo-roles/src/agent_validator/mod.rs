//! R4a, the Agent-Validator: verifies the result that R3 (the Executor) reports against its tool calls, one criterion
//! after the other, and asks for a retry if a criterion is not met.

#[cfg(test)]
#[cfg(feature = "runtime")]
mod agreement;
mod evidence;
mod judgement;
mod prompt;
#[cfg(test)]
mod tests;
mod verdicts;

use std::sync::Arc;

use artoo_proto::{
    CheckOutcome, CorrectionSignal, CriterionVerdict, EffectId, ExecutionResult, ExecutionStatus, FailureClass,
    GapPoint, ModelFailure, ModelReply, ModelRequest, OutcomeStatus, Role, RoleContext, SubTask, SubTaskOutcome,
    ToolCall, ValidateSubtaskContext, Verdict, VerdictSource, escape,
};

use crate::ask::{Answer, Ask};
use crate::limits::{REPLY_TOKENS, RETRIES_MAX, WRONG_CHARS};
pub(crate) use prompt::{numbered, schema as judgement_schema};

use crate::machine::{CheckOrder, Completion, Context, Machine, Start, adapters};
pub(crate) use evidence::{independent, is_excused, may_have_changed};
pub(crate) use judgement::{Grounds, Judgement, fail, no_judge};
pub(crate) use verdicts::Verdicts;

/// An input of R4a (the Agent-Validator): the subtask, an executor's report, a model's reply, check outcomes, or the
/// abort.
#[derive(Debug)]
pub enum Input {
    /// The subtask whose results R4a verifies.
    Assigned(SubTask),
    /// The report of one attempt at the subtask by R3 (the Executor).
    Reported(ExecutionResult),
    /// The reply of the model that judges, or why there is none, with the id of the effect.
    Replied(EffectId, Result<ModelReply, ModelFailure>),
    /// The outcomes of the checks that R4a requested, with the id of the effect.
    Checked(EffectId, Vec<CheckOutcome>),
    /// The task has ended; nothing more is done for it.
    Abort,
}

/// An effect of R4a (the Agent-Validator): a correction, the outcome, a model call or checks. None runs a tool, decides
/// on the whole task or writes to memory.
#[derive(Debug)]
pub enum Effect {
    /// Asks R3 (the Executor) for another attempt and says what was wrong with the last one.
    Correct(CorrectionSignal),
    /// Publishes the final outcome of the subtask.
    Conclude(SubTaskOutcome),
    /// Asks a model to judge the criteria that code can't decide.
    AskModel(EffectId, Arc<ModelRequest>),
    /// Runs the checks of criteria.
    RunChecks(EffectId, CheckOrder),
}

/// What R4a waits for: an executor's report, the outcomes of checks, or a model's judgement; or the subtask is decided.
#[derive(Debug, Default)]
enum Phase {
    /// The executor works on the next attempt.
    Waiting,
    /// Checks run for this attempt.
    Checking(EffectId, Assessment),
    /// A model judges this attempt.
    Judging(Ask<Judgement>, Assessment),
    /// The outcome was published, or the task was aborted.
    #[default]
    Done,
}

/// One attempt at the subtask while R4a assesses it: what the executor reported, and the verdicts so far.
#[derive(Debug)]
struct Assessment {
    result: ExecutionResult,
    verdicts: Verdicts,
}

/// R4a, the Agent-Validator: the state machine that verifies the attempts of one subtask.
#[derive(Debug)]
pub struct AgentValidator {
    subtask: SubTask,
    /// Number of the attempt that was assessed last; 0 before the first.
    attempt: u32,
    /// The share of criteria met in each attempt so far.
    trajectory: Vec<GapPoint>,
    /// The tool calls of all attempts so far.
    calls: Vec<ToolCall>,
    phase: Phase,
}

impl AgentValidator {
    /// Assesses a reported attempt by rules in code: rejects it at once, or starts the checks that it needs, or, if it
    /// needs none, goes on to the model.
    fn assess(&mut self, cx: &mut Context<'_>, result: ExecutionResult) -> Vec<Effect> {
        self.attempt = result.attempt;
        // R3 reports the calls of one attempt; the outcome contains those of all attempts.
        self.calls.extend(result.tool_calls.iter().cloned());
        let mut verdicts = Verdicts::new(evidence::declared_or_implied(&self.subtask));
        if let Some(objection) = evidence::objection(&self.subtask, &result, &self.calls) {
            verdicts.decide_open(|criterion| {
                Some(fail(criterion, objection.class, VerdictSource::Rule, &objection.detail))
            });
            return self.conclude_or_correct(Assessment { result, verdicts }, None, objection.is_final);
        }
        let checks = verdicts.rule(&result.output, &self.calls);
        let assessment = Assessment { result, verdicts };
        if checks.is_empty() {
            return self.judge(cx, assessment);
        }
        let id = cx.ids.next_effect();
        let order = CheckOrder { checks, output: assessment.result.output.clone(), calls: self.calls.clone() };
        self.phase = Phase::Checking(id, assessment);
        vec![Effect::RunChecks(id, order)]
    }

    /// Asks a model about the criteria that code left open. If a criterion has failed already, the model is asked only
    /// after the last attempt; for a skill's subtask it is never asked.
    fn judge(&mut self, cx: &mut Context<'_>, assessment: Assessment) -> Vec<Effect> {
        let open = assessment.verdicts.open();
        // A failed check decides that there is another attempt. The last attempt is measured criterion by criterion.
        let is_decided = !self.is_last() && assessment.verdicts.failed().next().is_some();
        // Of a skill, only facts that cover the request decide.
        if open.is_empty() || is_decided || self.is_skill() {
            return self.conclude_or_correct(assessment, None, false);
        }
        // The calls of earlier attempts are evidence too, because a retry must not repeat them.
        let result = ExecutionResult { tool_calls: self.calls.clone(), ..assessment.result.clone() };
        let context = ValidateSubtaskContext { subtask: self.subtask.clone(), result, open };
        let request = ModelRequest {
            role: Role::AgentValidator,
            task_id: self.subtask.parent_task_id.clone(),
            subtask_id: Some(self.subtask.subtask_id),
            prompt: prompt::render(&context),
            schema_name: "subtask_verdict".to_owned(),
            schema: prompt::schema(context.open.len(), &context.result.tool_calls),
            max_tokens: REPLY_TOKENS,
            by_tools: None,
            context: RoleContext::ValidateSubtask(Box::new(context)),
        };
        let (ask, id, request) = Ask::start(cx, request);
        self.phase = Phase::Judging(ask, assessment);
        vec![Effect::AskModel(id, request)]
    }

    /// Applies a model's judgement to the open criteria and decides on the attempt.
    fn judged(&mut self, mut assessment: Assessment, judgement: Judgement) -> Vec<Effect> {
        let grounds = Grounds {
            calls: &self.calls,
            words_only: self.is_words_only(),
            uncertain: assessment.result.status == ExecutionStatus::Uncertain,
        };
        assessment.verdicts.apply_judgement(&judgement, grounds);
        self.conclude_or_correct(assessment, judgement.what_to_do, false)
    }

    /// Concludes the subtask as failed because the judging model failed, unless a criterion had failed before.
    fn unjudged(&mut self, mut assessment: Assessment, failure: ModelFailure) -> Vec<Effect> {
        if assessment.verdicts.failed().next().is_some() {
            return self.conclude_or_correct(assessment, None, false);
        }
        assessment.verdicts.fail_open(&failure);
        self.conclude(assessment, !failure.is_worth_asking_again(), Some(failure))
    }

    /// Concludes the subtask if all criteria passed or no retry is allowed; otherwise asks for another attempt.
    fn conclude_or_correct(
        &mut self,
        mut assessment: Assessment,
        advice: Option<String>,
        is_final: bool,
    ) -> Vec<Effect> {
        // The correction names the criterion that failed, not the ones left open because of it.
        let failed = assessment.verdicts.failed().next().cloned();
        assessment.verdicts.leave_open();
        let Some(failed) = failed else { return self.conclude(assessment, false, None) };
        if is_final || self.subtask.recipe.is_some() || self.is_last() {
            let infrastructure = is_final && evidence::is_infrastructure(&assessment.result);
            let model_failure = assessment.result.model_failure.clone();
            return self.conclude(assessment, infrastructure, model_failure);
        }
        self.note_gap(&assessment);
        self.phase = Phase::Waiting;
        let class = failed.failure_class.unwrap_or(FailureClass::Logical);
        vec![Effect::Correct(CorrectionSignal {
            subtask_id: self.subtask.subtask_id,
            parent_task_id: self.subtask.parent_task_id.clone(),
            attempt_number: self.attempt + 1,
            failed_criterion: failed.criterion.claim(),
            failure_class: class,
            what_was_wrong: failed.evidence,
            what_to_do: evidence::what_to_do(&self.subtask, class, advice.as_deref()),
            avoid_calls: self.calls.iter().map(|call| format!("{} {}", call.tool, call.shown_input())).collect(),
        })]
    }

    /// Whether a skill (calls learned from earlier tasks) made the plan of this subtask.
    fn is_skill(&self) -> bool {
        self.subtask.recipe.as_ref().is_some_and(|recipe| recipe.skill.is_some())
    }

    /// Whether the current attempt is the last that R4a allows (the third). Not true for a recipe, whose only attempt
    /// code checks.
    fn is_last(&self) -> bool {
        self.attempt > RETRIES_MAX
    }

    /// Appends the attempt's share of met criteria, and the unmet ones, to the list of attempts that the outcome
    /// reports.
    fn note_gap(&mut self, assessment: &Assessment) {
        let unmet: Vec<&CriterionVerdict> = assessment.verdicts.failed().collect();
        let total = assessment.verdicts.len().max(1);
        #[expect(clippy::cast_precision_loss, reason = "a handful of criteria")]
        let score = (total - unmet.len().min(total)) as f64 / total as f64;
        self.trajectory.push(GapPoint {
            attempt: self.attempt,
            score,
            unmet_criteria: unmet.iter().map(|verdict| verdict.criterion.claim()).collect(),
            failure_class: unmet.iter().find_map(|verdict| verdict.failure_class),
            wrong: unmet.first().map(|verdict| escape::short_line(&verdict.evidence, WRONG_CHARS)),
        });
    }

    /// Whether no tool was planned for the subtask and none was called, so that its output is only a model's text.
    fn is_words_only(&self) -> bool {
        self.subtask.tools.is_empty() && self.calls.is_empty()
    }

    /// Publishes the outcome of the subtask; `infrastructure` says that a model or a tool failed, and not the work.
    fn conclude(
        &mut self,
        assessment: Assessment,
        infrastructure: bool,
        model_failure: Option<ModelFailure>,
    ) -> Vec<Effect> {
        self.note_gap(&assessment);
        let words_only = self.is_words_only();
        let verdicts = assessment.verdicts.into_decided();
        let failed: Vec<&CriterionVerdict> = verdicts.iter().filter(|v| v.verdict == Verdict::Fail).collect();
        let is_decided = !verdicts.is_empty() || self.is_skill();
        let matched = failed.is_empty() && is_decided && assessment.result.status != ExecutionStatus::Failed;
        let decisive = failed.iter().find(|verdict| verdict.failure_class.is_some()).or(failed.first());
        let failure_reason = (!matched).then(|| match (decisive, &assessment.result.reason) {
            (Some(first), _) => format!("{}: {}", first.criterion.claim(), first.evidence),
            (None, Some(reason)) => reason.clone(),
            (None, None) => "nothing was verified".to_owned(),
        });
        vec![Effect::Conclude(SubTaskOutcome {
            subtask_id: self.subtask.subtask_id,
            parent_task_id: self.subtask.parent_task_id.clone(),
            round: self.subtask.round,
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

impl Start for AgentValidator {
    type Setup = ();
    const ABORT: Input = Input::Abort;

    fn start((): &(), _cx: &mut Context<'_>, first: Input) -> Result<(Self, Vec<Effect>), Input> {
        let Input::Assigned(subtask) = first else { return Err(first) };
        let (trajectory, calls) = (Vec::new(), Vec::new());
        Ok((Self { subtask, attempt: 0, trajectory, calls, phase: Phase::Waiting }, Vec::new()))
    }
}

impl Machine for AgentValidator {
    type Input = Input;
    type Effect = Effect;

    fn step(&mut self, cx: &mut Context<'_>, input: Input) -> Vec<Effect> {
        match (std::mem::take(&mut self.phase), input) {
            (Phase::Waiting, Input::Reported(result)) if result.attempt == self.attempt + 1 => self.assess(cx, result),
            (Phase::Checking(awaited, mut assessment), Input::Checked(id, outcomes)) if awaited == id => {
                assessment.verdicts.apply_checks(outcomes);
                self.judge(cx, assessment)
            }
            (Phase::Judging(ask, assessment), Input::Replied(id, reply)) if ask.awaits(id) => {
                match ask.answer(cx, reply) {
                    Answer::Value(judgement) => self.judged(assessment, judgement),
                    Answer::Again(ask, id, request) => {
                        self.phase = Phase::Judging(ask, assessment);
                        vec![Effect::AskModel(id, request)]
                    }
                    Answer::Failed(failure) => self.unjudged(assessment, failure),
                    Answer::Abstained(_) => self.unjudged(assessment, no_judge()),
                }
            }
            (_, Input::Abort) => Vec::new(),
            (phase, Input::Assigned(_) | Input::Reported(_) | Input::Replied(..) | Input::Checked(..)) => {
                self.phase = phase;
                cx.ignore()
            }
        }
    }
}

adapters! {
    messages {
        SubTask(subtask) => Input::Assigned(subtask.clone()),
        ExecutionResult(result) => Input::Reported(result.clone()),
        Abort(_) => Input::Abort,
    }
    completions {
        (id, Completion::Model(reply)) => Input::Replied(id, reply),
        (id, Completion::Checks(outcomes)) => Input::Checked(id, outcomes),
    }
    publishes { Correct, Conclude }
    performs { AskModel, RunChecks }
}
