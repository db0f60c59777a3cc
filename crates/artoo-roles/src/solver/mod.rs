//! R7, the Goal Gradient Solver: measures each round, lets `artoo-ggs` decide, and publishes what follows.
//!
//! Only this role can publish replan directives, final results and Megrams (records of experience).

mod control;
mod ending;
mod experience;
mod last_round;
mod lesson;
mod observe;
mod skill;
#[cfg(test)]
mod tests;
mod translate;
mod wording;
mod words;

use std::collections::BTreeSet;

use artoo_ggs::{AvailableTool, Controller, ControllerCall, Decision, LogEntry, Outcome, Profile, StopReason};
use artoo_proto::{
    AbandonReason, Abort, ConsentHash, DispatchManifest, EffectId, Ending, FinalResult, MegramDraft, MemoryCorrection,
    MemoryFeedback, OutcomeSummary, PerceptionFailed, PerceptionFailure, PlanDirective, PlanRejected, ReplanRequest,
    RoleFailed, SubTaskId, TaskId, TaskSpec, ToolSpec, UserRequest, Wording, WordingRequest,
};

use crate::machine::{Completion, Context, Machine, adapters};
use ending::{Account, Delivered};
use last_round::{LastRound, provider_failure, unusable_model, what_failed};
pub use wording::explain;
use words::AwaitingEndText;

/// An input of R7 (the Solver): messages about the request, plan, rounds, approvals and failures, and timers that
/// fired.
#[derive(Debug)]
pub enum Input {
    /// A task begins; its hard time limit starts.
    Request(UserRequest),
    /// The task as the perceiver understood it; its time budget starts.
    Task(TaskSpec),
    /// The request was not understood.
    NotPerceived(PerceptionFailed),
    /// No acceptable plan was found.
    NotPlanned(PlanRejected),
    /// The subtasks that were dispatched.
    Manifest(DispatchManifest),
    /// A round ended with unmet criteria.
    FellShort(ReplanRequest),
    /// A round ended as done: facts cover the request, or every deciding criterion is met.
    Met(OutcomeSummary),
    /// The user is asked for approval; the task's time budget pauses.
    ConsentAsked(SubTaskId, ConsentHash),
    /// The user answered an approval request; the time budget resumes once no request is open.
    ConsentAnswered(SubTaskId, ConsentHash),
    /// The user cancels the task.
    Cancel,
    /// A role panicked or broke a limit; the task ends.
    RoleFailed(RoleFailed),
    /// The Planner's words for the end of the task.
    Worded(Wording),
    /// A timer that the Solver set has fired.
    TimerFired(EffectId),
    /// The user's feedback on a task, which may have ended.
    Feedback(MemoryFeedback),
}

/// An effect of R7 (the Solver): a directive, an ending-text request, the final result, an abort, memory records, or a
/// timer. None plans, calls a tool or judges an output.
///
/// A tool call is no effect of the Solver, under its own name or as the work of another effect:
///
/// ```compile_fail
/// use artoo_proto::{EffectId, ToolOrder};
/// use artoo_roles::solver::Effect;
///
/// fn call(id: EffectId, order: ToolOrder) -> Effect {
///     Effect::CallTool(id, order)
/// }
/// ```
/// ```compile_fail
/// use artoo_proto::{EffectId, ToolOrder};
/// use artoo_roles::{machine::Work, solver::Effect};
///
/// fn call(id: EffectId, order: ToolOrder) -> Effect {
///     Effect::Wait(id, Work::Tool { order: Box::new(order) })
/// }
/// ```
///
/// The same lines compile for the executor's effect, and for a timer of the Solver:
///
/// ```
/// use artoo_proto::{EffectId, ToolOrder};
/// use artoo_roles::{executor, solver};
///
/// fn call(id: EffectId, order: ToolOrder) -> executor::Effect {
///     executor::Effect::CallTool(id, order)
/// }
///
/// fn wait(id: EffectId) -> solver::Effect {
///     solver::Effect::Wait(id, 1_000)
/// }
/// ```
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "effects live for one step")]
pub enum Effect {
    /// Publish what must change in the next plan.
    Direct(PlanDirective),
    /// Ask the Planner to word the end of the task.
    Word(WordingRequest),
    /// Publish the task's one final result.
    Finish(FinalResult),
    /// Tell every role instance of the task to stop.
    Abort(Abort),
    /// Send a record of experience to memory.
    Record(MegramDraft),
    /// Pass the user's feedback on to memory.
    Correct(MemoryCorrection),
    /// Start a timer for the hard limit or the deadline, in milliseconds.
    Wait(EffectId, u64),
}

/// What R7 waits for: the task, the outcome of a round, or an ending text; or the task has ended.
#[derive(Debug, Default)]
#[expect(clippy::large_enum_variant, reason = "a Solver has one phase at a time")]
enum Phase {
    /// The perceiver has not understood the request yet.
    Perceiving,
    /// The task is understood, and a round of it is planned or under way.
    Solving(TaskSpec),
    /// The task is abandoned, and a model is asked to word its end, at most until the timer fires.
    Wording(Box<AwaitingEndText>),
    /// The result was sent.
    #[default]
    Ended,
}

impl Phase {
    /// The task as understood; `None` before that and after the result.
    fn spec(&self) -> Option<&TaskSpec> {
        match self {
            Self::Solving(spec) => Some(spec),
            Self::Wording(unworded) => Some(&unworded.spec),
            Self::Perceiving | Self::Ended => None,
        }
    }
}

/// R7, the Solver: the state machine that decides after each round of one task, and alone ends it.
#[derive(Debug)]
pub struct Solver {
    tools: Vec<AvailableTool>,
    /// The decision procedure of `artoo-ggs`, with this task's state.
    controller: Controller<TaskId>,
    task_id: TaskId,
    /// Ids of the timers for the hard limit and for the task's own deadline.
    limits: Vec<EffectId>,
    /// The subtasks dispatched in the current round.
    manifest: Option<DispatchManifest>,
    /// Number of the round whose outcome is awaited, from 0.
    round: u32,
    /// Approval requests that were not answered yet.
    asking: BTreeSet<(SubTaskId, ConsentHash)>,
    /// What is collected for the final result.
    account: Account,
    last: LastRound,
    /// The current folder, which belongs to what a skill is learned from.
    folder: String,
    /// The round whose plan a skill may be learned from: the first, or the one after a skill that changed nothing.
    learnable: Option<u32>,
    /// The last directive of this task.
    directive: Option<PlanDirective>,
    /// Log entries of the controller's calls, until the task ends.
    records: Vec<LogEntry<TaskId>>,
    phase: Phase,
}

impl Solver {
    /// A Solver for one task that can use `tools`, with the decision parameters of `profile`; `folder` is the current
    /// one.
    #[must_use]
    pub fn new(profile: Profile, tools: &[ToolSpec], folder: &str, task_id: TaskId) -> Self {
        let tools = tools.iter().map(|t| AvailableTool::new(&t.name, format!("{:?}", t.class))).collect();
        Self {
            tools,
            controller: Controller::new(profile),
            task_id,
            limits: Vec::new(),
            manifest: None,
            round: 0,
            asking: BTreeSet::new(),
            account: Account::default(),
            last: LastRound::default(),
            folder: folder.to_owned(),
            learnable: Some(0),
            directive: None,
            records: Vec::new(),
            phase: Phase::Perceiving,
        }
    }

    /// Starts a timer after which the task ends because its time limit is reached.
    fn wait(&mut self, cx: &mut Context<'_>, after_ms: u64) -> Vec<Effect> {
        let id = cx.ids.next_effect();
        self.limits.push(id);
        vec![Effect::Wait(id, after_ms)]
    }

    /// Starts the time budget of an understood task, and a timer if the task has a deadline of its own.
    fn begin(&mut self, cx: &mut Context<'_>, spec: TaskSpec) -> Vec<Effect> {
        // Only the first TaskSpec gets here, so this can't fail.
        drop(self.call(cx, ControllerCall::Begin(self.task_id.clone())));
        let deadline = spec.constraints.deadline.map(|at| at.as_millis() - cx.now.wall.as_millis());
        self.phase = Phase::Solving(spec);
        let left_ms = deadline.and_then(|left_ms| u64::try_from(left_ms).ok());
        left_ms.map_or_else(Vec::new, |left_ms| self.wait(cx, left_ms))
    }

    /// Measures a round with unmet criteria and follows the decision; ends the task if a model provider failed for
    /// good, or if a call of a recipe was denied.
    fn fell_short(&mut self, cx: &mut Context<'_>, request: ReplanRequest) -> Vec<Effect> {
        self.account.note(&request.outcomes);
        self.account.tried = translate::tried(&request, self.manifest.as_ref());
        self.account.unlearnt = what_failed(&request).map(|(wrong, _)| (request.gap_summary.clone(), wrong));
        self.last = LastRound { unusable: unusable_model(&request), failed: what_failed(&request) };
        let round = observe::round(&request, self.manifest.as_ref(), &self.tools);
        // A recipe does only what was asked for: another plan would get round the denial.
        let is_denied = self.is_by_recipe() && !self.account.denied.is_empty();
        let reason = provider_failure(&request).map(|failure| AbandonReason::Provider { failure });
        if let Some(reason) = reason.or(is_denied.then_some(AbandonReason::ConsentNeeded)) {
            let decision = self.stop_controller(cx, Some(round));
            self.deliver(decision.as_ref(), &request);
            return self.abandon(reason, decision);
        }
        let against = self.against_skill(&request);
        match self.observe(cx, round) {
            Ok(decision) => {
                self.deliver(Some(&decision), &request);
                against.into_iter().chain(self.follow(cx, &request, decision)).collect()
            }
            // A round that can't be measured is a bug in artoo: end the task and report it rather than guess.
            Err(error) => {
                let detail = format!("the round could not be measured: {error}");
                self.abandon(AbandonReason::RoleFailed { detail }, None)
            }
        }
    }

    /// Carries out a decision on a round that fell short: a replan, a delivery with unmet criteria, or an abandon.
    fn follow(&mut self, cx: &mut Context<'_>, request: &ReplanRequest, decision: Decision) -> Vec<Effect> {
        match &decision.outcome {
            Outcome::Replan(replan) => {
                self.round += 1;
                let mut directive = translate::directive(request, &self.account.tried, &decision, replan);
                directive.round = self.round;
                // A denied effect stays forbidden for the rest of the task, whatever the directive (decision D10).
                let denied = self.account.denied_targets.iter().filter(|t| !directive.blocked_targets.contains(t));
                let denied: Vec<String> = denied.cloned().collect();
                directive.blocked_targets.extend(denied);
                let mut effects = self.record(&decision);
                self.directive = Some(directive.clone());
                effects.push(Effect::Direct(directive));
                effects
            }
            Outcome::Success(_) => self.finish(ending::success(&self.account), Some(decision)),
            Outcome::Abandon(reason) => {
                let reason = match self.last.unusable.take() {
                    _ if !self.account.denied.is_empty() => AbandonReason::ConsentNeeded,
                    Some(failure) => AbandonReason::Provider { failure },
                    None => self.stopped(*reason),
                };
                self.abandon_worded(cx, reason, Some(decision))
            }
            Outcome::Accept => {
                let detail = "a round that fell short was decided as an accept".to_owned();
                self.abandon(AbandonReason::RoleFailed { detail }, None)
            }
        }
    }

    /// The reason to give the user for a stop by the controller. If the plan was a recipe, that is what failed in the
    /// recipe.
    fn stopped(&mut self, reason: StopReason) -> AbandonReason {
        let is_recipe = self.is_by_recipe();
        match self.last.failed.take().filter(|_| is_recipe) {
            Some((failed, next_steps)) => AbandonReason::NoOtherWay { failed, next_steps },
            None => translate::stop(reason),
        }
    }

    /// Ends the task as accepted if facts cover the request, or if the verdicts show every criterion met and no fact
    /// refutes a part of the request; otherwise abandons it as an internal failure.
    fn met(&mut self, cx: &mut Context<'_>, summary: &OutcomeSummary) -> Vec<Effect> {
        self.account.note(&summary.outcomes);
        let replanned = self.account.unlearnt.take();
        self.account.lessons.extend(replanned.and_then(|gap| lesson::of_replan(gap, &summary.outcomes)));
        let round = observe::accepted(summary, self.manifest.as_ref(), &self.tools);
        let refuted = summary.coverage.refuted().next();
        let refusal = match self.observe(cx, round) {
            Ok(decision) if decision.outcome == Outcome::Accept && refuted.is_none() => {
                self.account.rounds.insert(decision.round, Delivered::of_summary(summary));
                self.account.skill = self.of_skill(summary);
                return self.finish(ending::accept(summary), Some(decision));
            }
            Ok(decision) => format!("{:?} is not met", decision.primary_failed.unwrap_or_default()),
            Err(error) => error.to_string(),
        };
        // An accept from R4b (the meta-validator) is checked against its own verdicts and refused if a criterion is
        // unmet.
        let detail = format!("an accept was refused: {refusal}");
        self.abandon(AbandonReason::RoleFailed { detail }, None)
    }

    /// Stores the output and criteria of a round that fell short, for the final result.
    fn deliver(&mut self, decision: Option<&Decision>, request: &ReplanRequest) {
        let number = decision.map_or(request.round + 1, |decision| decision.round);
        self.account.rounds.insert(number, Delivered::of_request(request, self.manifest.as_ref()));
    }

    /// Abandons the task for a reason from outside `artoo-ggs`.
    fn stop(&mut self, cx: &mut Context<'_>, reason: AbandonReason) -> Vec<Effect> {
        let decision = self.stop_controller(cx, None);
        self.abandon(reason, decision)
    }

    /// Ends the task as abandoned, with its unmet criteria.
    fn abandon(&mut self, reason: AbandonReason, decision: Option<Decision>) -> Vec<Effect> {
        let ending = ending::abandon(&self.account, decision.as_ref(), reason, self.manifest.as_ref());
        self.finish(ending, decision)
    }

    /// Ends the task: records experience, stops the other roles, and publishes the final result.
    fn finish(&mut self, ending: Ending, decision: Option<Decision>) -> Vec<Effect> {
        if let Some(manifest) = &self.manifest {
            self.account.assumptions.clone_from(&manifest.assumptions);
        }
        let phase = std::mem::replace(&mut self.phase, Phase::Ended);
        let mut effects = Vec::new();
        if let (Some(decision), Some(spec)) = (&decision, phase.spec()) {
            let ended = experience::of_ending(spec, decision, &ending, &self.account);
            let is_checked = matches!(ending, Ending::Accept { basis: artoo_proto::Basis::Checked });
            let skill = self.account.skill.clone().filter(|_| is_checked);
            effects.extend(ended.into_iter().chain(skill).map(Effect::Record));
        }
        effects.push(Effect::Abort(Abort { task_id: self.task_id.clone() }));
        let task_id = self.task_id.clone();
        effects.push(Effect::Finish(ending::result(task_id, phase.spec(), &self.account, decision.as_ref(), ending)));
        effects
    }

    /// The effects that store the memory records of a replan.
    fn record(&self, decision: &Decision) -> Vec<Effect> {
        let Some(spec) = self.phase.spec() else { return Vec::new() };
        experience::of_action(spec, decision, &self.account).into_iter().map(Effect::Record).collect()
    }

    /// Abandons a task whose request was not understood.
    fn not_perceived(&mut self, failed: PerceptionFailed) -> Vec<Effect> {
        let reason = match failed.failure {
            PerceptionFailure::Model { failure } => AbandonReason::Provider { failure },
            failure @ (PerceptionFailure::Abstained { .. } | PerceptionFailure::BadInput { .. }) => {
                AbandonReason::NotUnderstood { failure }
            }
        };
        self.abandon(reason, None)
    }

    /// Answers a rejected plan: directs another one if a blocked target is released, delivers a last round that is
    /// close enough, or abandons the task for the most informative reason (a model failure, a denial, a failed recipe,
    /// an abstention, or the plan's problems).
    fn not_planned(&mut self, cx: &mut Context<'_>, rejected: PlanRejected) -> Vec<Effect> {
        if let Some(directive) = self.released(cx, &rejected) {
            return vec![Effect::Direct(directive)];
        }
        let reason = match (rejected.model_failure, rejected.abstention) {
            (Some(failure), _) => AbandonReason::Provider { failure },
            // There is no other plan because of what was denied.
            (None, _) if !self.account.denied.is_empty() => AbandonReason::ConsentNeeded,
            (None, Some(abstention)) if let Some((failed, near)) = self.last.failed.take() => {
                // Names of existing paths help more than general advice.
                let next_steps = if near.is_empty() { vec![abstention.remedy] } else { near };
                AbandonReason::NoOtherWay { failed, next_steps }
            }
            (None, Some(abstention)) => {
                AbandonReason::NotUnderstood { failure: PerceptionFailure::Abstained { abstention } }
            }
            (None, None) => match self.last.unusable.take() {
                Some(failure) => AbandonReason::Provider { failure },
                None => AbandonReason::NoPlan { problems: rejected.problems },
            },
        };
        let reason = match self.last.failed.take().filter(|_| self.is_by_recipe()) {
            // The model was asked only because the recipe failed.
            Some((failed, near)) if reason != AbandonReason::ConsentNeeded => {
                let next_steps = if near.is_empty() { vec![explain(&reason).1] } else { near };
                AbandonReason::NoOtherWay { failed, next_steps }
            }
            _ => reason,
        };
        let decision = self.stop_controller(cx, None);
        let is_close = decision.as_ref().is_some_and(|decision| self.is_close_enough(decision));
        if is_close && matches!(reason, AbandonReason::NoPlan { .. }) {
            return self.finish(ending::success(&self.account), decision);
        }
        self.abandon(reason, decision)
    }
}

/// The final result of a task whose Solver (R7) panicked too often to send one; the System sends it in the Solver's
/// name.
pub(crate) fn last_word(task_id: TaskId, detail: String) -> FinalResult {
    let account = Account::default();
    let reason = AbandonReason::RoleFailed { detail };
    let ending = ending::abandon(&account, None, reason, None);
    ending::result(task_id, None, &account, None, ending)
}

impl Machine for Solver {
    type Input = Input;
    type Effect = Effect;

    fn step(&mut self, cx: &mut Context<'_>, input: Input) -> Vec<Effect> {
        let effects = self.take(cx, input);
        if matches!(self.phase, Phase::Ended) {
            let records = std::mem::take(&mut self.records);
            // A recipe has one plan: nothing is learnt from how it was steered.
            if !self.is_by_recipe() {
                cx.records.extend(records.iter().filter_map(|entry| serde_json::to_value(entry).ok()));
            }
        }
        effects
    }
}

impl Solver {
    /// Processes one input in the current phase and returns the effects.
    fn take(&mut self, cx: &mut Context<'_>, input: Input) -> Vec<Effect> {
        match (&self.phase, input) {
            (_, Input::Feedback(MemoryFeedback { task_id, feedback })) => {
                vec![Effect::Correct(MemoryCorrection { task_id, feedback })]
            }
            (Phase::Ended, _) => cx.ignore(),
            (Phase::Wording(_), Input::Worded(wording)) => self.worded(wording.words),
            (Phase::Wording(unworded), Input::TimerFired(id)) if id == unworded.timer || self.limits.contains(&id) => {
                self.worded(None)
            }
            (Phase::Wording(_), Input::Cancel | Input::RoleFailed(_)) => self.worded(None),
            (_, Input::Request(request)) => self.wait(cx, request.hard_limit_ms),
            (Phase::Perceiving, Input::Task(spec)) => self.begin(cx, spec),
            (_, Input::NotPerceived(failed)) => self.not_perceived(failed),
            (_, Input::NotPlanned(rejected)) if rejected.round == self.round => self.not_planned(cx, rejected),
            (_, Input::Manifest(manifest)) if manifest.round == self.round => {
                self.manifest = Some(manifest);
                Vec::new()
            }
            (Phase::Solving(_), Input::FellShort(request)) if request.round == self.round => {
                self.fell_short(cx, request)
            }
            (Phase::Solving(_), Input::Met(summary)) if summary.round == self.round => self.met(cx, &summary),
            (_, Input::ConsentAsked(subtask, hash)) => self.consent_asked(cx, (subtask, hash)),
            (_, Input::ConsentAnswered(subtask, hash)) => self.consent_answered(cx, &(subtask, hash)),
            (_, Input::Cancel) => self.stop(cx, AbandonReason::Cancelled),
            (_, Input::RoleFailed(failed)) => {
                let detail = format!("{}: {}", failed.role, failed.detail);
                self.stop(cx, AbandonReason::RoleFailed { detail })
            }
            (_, Input::TimerFired(id)) if self.limits.contains(&id) => self.stop(cx, AbandonReason::Deadline),
            (
                _,
                Input::Task(_)
                | Input::NotPlanned(_)
                | Input::Manifest(_)
                | Input::FellShort(_)
                | Input::Met(_)
                | Input::Worded(_)
                | Input::TimerFired(_),
            ) => cx.ignore(),
        }
    }
}

adapters! {
    messages {
        UserRequest(request) => Input::Request(request.clone()),
        TaskSpec(spec) => Input::Task(spec.clone()),
        PerceptionFailed(failed) => Input::NotPerceived(failed.clone()),
        PlanRejected(rejected) => Input::NotPlanned(rejected.clone()),
        DispatchManifest(manifest) => Input::Manifest(manifest.clone()),
        ReplanRequest(request) => Input::FellShort(request.clone()),
        OutcomeSummary(summary) => Input::Met(summary.clone()),
        ConsentRequest(asked) => Input::ConsentAsked(asked.subtask_id, asked.hash.clone()),
        ConsentAnswer(answer) => Input::ConsentAnswered(answer.subtask_id, answer.hash.clone()),
        CancelRequest(_) => Input::Cancel,
        RoleFailed(failed) => Input::RoleFailed(failed.clone()),
        Wording(wording) => Input::Worded(wording.clone()),
        MemoryFeedback(feedback) => Input::Feedback(feedback.clone()),
    }
    completions { (id, Completion::Timer) => Input::TimerFired(id), }
    publishes { Direct, Word, Finish, Abort, Record, Correct }
    performs { Wait }
}
