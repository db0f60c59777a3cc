//! R7, the Goal Gradient Solver's seat on the bus: measures a round, lets `artoo-ggs` decide, says what follows.
//!
//! The only place from which directives, final results and Megrams can come.

mod ending;
mod experience;
mod observe;
#[cfg(test)]
mod tests;
mod translate;
mod wire;
mod wording;

use std::collections::BTreeSet;

use artoo_ggs::{AvailableTool, BlockedTarget, Controller, Decision, Outcome, Profile};
use artoo_proto::{
    AbandonReason, Abort, CallStatus, ConsentHash, DispatchManifest, EffectId, FinalResult, MegramDraft, ModelFailure,
    OutcomeStatus, OutcomeSummary, PerceptionFailed, PerceptionFailure, PlanDirective, PlanRejected, ReplanRequest,
    RoleFailed, SubTaskId, SubTaskOutcome, TaskId, TaskSpec, ToolSpec, UserRequest, Verdict,
};

use crate::machine::{Context, Machine, Work};
use ending::{Account, Delivered};

/// What R7 may be told.
#[derive(Debug)]
pub enum Input {
    /// A task begins; its hard limit runs from here.
    Request(UserRequest),
    /// The task as understood; its budget runs from here.
    Task(TaskSpec),
    /// It was not understood.
    NotPerceived(PerceptionFailed),
    /// There is no plan.
    NotPlanned(PlanRejected),
    /// What is under way.
    Manifest(DispatchManifest),
    /// The gap.
    FellShort(ReplanRequest),
    /// Everything is met.
    Met(OutcomeSummary),
    /// A person is being asked; the clock stops.
    ConsentAsked(SubTaskId, ConsentHash),
    /// The person answered; the clock goes on.
    ConsentAnswered(SubTaskId, ConsentHash),
    /// The user stops the task.
    Cancel(TaskId),
    /// A role failed.
    RoleFailed(RoleFailed),
    /// A timer rang.
    Rang(EffectId),
    /// Feedback on memory; kept for tasks that are still open.
    Feedback,
}

/// What R7 may do. It has no way to plan, run a tool or judge an output.
#[derive(Debug)]
pub enum Effect {
    /// What must change in the next plan.
    Direct(PlanDirective),
    /// The one result.
    Finish(Box<FinalResult>),
    /// Stop the task's instances.
    Abort(Abort),
    /// An experience to keep.
    Record(MegramDraft),
    /// Wait for the hard limit.
    Wait(EffectId, Work),
}

/// The Solver of one task.
#[derive(Debug)]
pub struct Solver {
    tools: Vec<AvailableTool>,
    controller: Controller<()>,
    task_id: Option<TaskId>,
    spec: Option<TaskSpec>,
    limit: Vec<EffectId>,
    manifest: Option<DispatchManifest>,
    /// The round whose outcome is awaited.
    round: u32,
    /// Questions a person has before them.
    asking: BTreeSet<(SubTaskId, ConsentHash)>,
    account: Account,
    /// Why the last round fell short, where every failure in it was a model's unusable reply.
    unusable: Option<ModelFailure>,
    /// The failure of the last round, and names close to a missing path.
    failed: Option<(String, Vec<String>)>,
    ended: bool,
}

impl Solver {
    /// A Solver on a machine with these tools, deciding by `profile`.
    #[must_use]
    pub fn new(profile: Profile, tools: &[ToolSpec]) -> Self {
        let tools = tools.iter().map(|t| AvailableTool::new(&t.name, format!("{:?}", t.class))).collect();
        Self {
            tools,
            controller: Controller::new(profile),
            task_id: None,
            spec: None,
            limit: Vec::new(),
            manifest: None,
            round: 0,
            asking: BTreeSet::new(),
            account: Account::default(),
            unusable: None,
            failed: None,
            ended: false,
        }
    }

    fn wait(&mut self, cx: &mut Context<'_>, after_ms: u64) -> Effect {
        let id = cx.ids.next_effect();
        self.limit.push(id);
        Effect::Wait(id, Work::Timer { after_ms })
    }

    fn begin(&mut self, cx: &mut Context<'_>, spec: TaskSpec) -> Vec<Effect> {
        if self.spec.is_some() {
            return Vec::new();
        }
        self.task_id = Some(spec.task_id.clone());
        // The first TaskSpec begins the task, and only it gets here, so the controller can't object.
        drop(self.controller.begin((), cx.now.uptime_ms));
        let deadline = spec.constraints.deadline.map(|at| at.as_millis() - cx.now.wall.as_millis());
        self.spec = Some(spec);
        match deadline.and_then(|left_ms| u64::try_from(left_ms).ok()) {
            Some(left_ms) => vec![self.wait(cx, left_ms)],
            None => Vec::new(),
        }
    }

    fn fell_short(&mut self, cx: &mut Context<'_>, request: ReplanRequest) -> Vec<Effect> {
        if request.round != self.round || self.spec.is_none() {
            return Vec::new();
        }
        self.note_outcomes(&request.outcomes);
        self.unusable = unusable_model(&request);
        self.failed = what_failed(&request);
        let failure = provider_failure(&request);
        let round = observe::round(&request, self.manifest.as_ref(), &self.tools);
        if let Some(failure) = failure {
            let decision = self.controller.stop(&(), Some(&round), cx.now.uptime_ms).ok();
            self.deliver(decision.as_ref(), &request);
            return self.abandon(AbandonReason::Provider { failure }, decision);
        }
        match self.controller.observe(&(), &round, cx.now.uptime_ms) {
            Ok(decision) => {
                self.deliver(Some(&decision), &request);
                self.follow(&request, decision)
            }
            // A gap that can't be measured is a defect of ours: better an end that says so than a guess.
            Err(error) => {
                let detail = format!("the round could not be measured: {error}");
                self.abandon(AbandonReason::RoleFailed { detail }, None)
            }
        }
    }

    fn follow(&mut self, request: &ReplanRequest, decision: Decision) -> Vec<Effect> {
        match &decision.outcome {
            Outcome::Replan(replan) => {
                self.round += 1;
                let mut directive = translate::directive(request, &decision, replan);
                directive.round = self.round;
                // A refused effect stays forbidden for the rest of the task, whatever the directive (decision D10).
                let denied = self.account.denied_targets.iter().filter(|t| !directive.blocked_targets.contains(t));
                let denied: Vec<String> = denied.cloned().collect();
                directive.blocked_targets.extend(denied);
                let mut effects = self.record(&decision);
                effects.push(Effect::Direct(directive));
                effects
            }
            Outcome::Success(_) => self.finish(ending::success(&self.account), Some(decision)),
            Outcome::Abandon(reason) => {
                let reason = match self.unusable.take() {
                    _ if !self.account.denied.is_empty() => AbandonReason::ConsentNeeded,
                    Some(failure) => AbandonReason::Provider { failure },
                    None => translate::stop(*reason),
                };
                self.abandon(reason, Some(decision))
            }
            Outcome::Accept => {
                let detail = "a round that fell short was decided as an accept".to_owned();
                self.abandon(AbandonReason::RoleFailed { detail }, None)
            }
        }
    }

    fn met(&mut self, cx: &mut Context<'_>, summary: &OutcomeSummary) -> Vec<Effect> {
        if summary.round != self.round || self.spec.is_none() {
            return Vec::new();
        }
        self.note_outcomes(&summary.outcomes);
        let round = observe::accepted(summary, self.manifest.as_ref(), &self.tools);
        let refusal = match self.controller.observe(&(), &round, cx.now.uptime_ms) {
            Ok(decision) if decision.outcome == Outcome::Accept => {
                self.account.rounds.insert(decision.round, Delivered::of_summary(summary));
                let request = self.spec.as_ref().map(|spec| spec.raw_input.as_str()).unwrap_or_default();
                let ending = ending::accept(summary, request);
                return self.finish(ending, Some(decision));
            }
            Ok(decision) => format!("{:?} is not met", decision.primary_failed.unwrap_or_default()),
            Err(error) => error.to_string(),
        };
        // An accept from R4b is checked against its own verdicts: with an unmet criterion it is refused.
        let detail = format!("an accept was refused: {refusal}");
        self.abandon(AbandonReason::RoleFailed { detail }, None)
    }

    fn note_outcomes(&mut self, outcomes: &[SubTaskOutcome]) {
        for outcome in outcomes {
            for denied in &outcome.denied {
                if !self.account.denied.contains(denied) {
                    self.account.denied.push(denied.clone());
                }
            }
            for call in &outcome.tool_calls {
                self.account.ran_tool |= call.status != CallStatus::Denied;
                if call.status == CallStatus::Denied {
                    let target = BlockedTarget::pair(call.tool.clone(), call.target.clone()).to_string();
                    if !self.account.denied_targets.contains(&target) {
                        self.account.denied_targets.push(target);
                    }
                }
            }
        }
    }

    fn deliver(&mut self, decision: Option<&Decision>, request: &ReplanRequest) {
        let number = decision.map_or(request.round + 1, |decision| decision.round);
        self.account.rounds.insert(number, Delivered::of_request(request, self.manifest.as_ref()));
    }

    fn stop(&mut self, cx: &mut Context<'_>, reason: AbandonReason) -> Vec<Effect> {
        let decision = self.controller.stop(&(), None, cx.now.uptime_ms).ok();
        self.abandon(reason, decision)
    }

    fn abandon(&mut self, reason: AbandonReason, decision: Option<Decision>) -> Vec<Effect> {
        let ending = ending::abandon(&self.account, decision.as_ref(), reason, self.manifest.as_ref());
        self.finish(ending, decision)
    }

    fn finish(&mut self, ending: artoo_proto::Ending, decision: Option<Decision>) -> Vec<Effect> {
        let Some(task_id) = self.task_id.clone() else { return Vec::new() };
        self.ended = true;
        if let Some(manifest) = &self.manifest {
            self.account.assumptions.clone_from(&manifest.assumptions);
        }
        let mut effects = Vec::new();
        if let Some(decision) = &decision
            && let Some(spec) = &self.spec
        {
            effects.extend(experience::credit(spec, decision).into_iter().map(Effect::Record));
            let ended = experience::of_ending(spec, decision, &ending, &self.account);
            effects.extend(ended.into_iter().map(Effect::Record));
        }
        effects.push(Effect::Abort(Abort { task_id: task_id.clone() }));
        let result = ending::result(task_id, self.spec.as_ref(), &self.account, decision.as_ref(), ending);
        effects.push(Effect::Finish(Box::new(result)));
        effects
    }

    fn record(&self, decision: &Decision) -> Vec<Effect> {
        let Some(spec) = &self.spec else { return Vec::new() };
        let mut drafts = experience::credit(spec, decision);
        drafts.extend(experience::of_action(spec, decision, &self.account));
        drafts.into_iter().map(Effect::Record).collect()
    }

    fn not_perceived(&mut self, failed: PerceptionFailed) -> Vec<Effect> {
        self.task_id.get_or_insert(failed.task_id);
        let reason = match failed.failure {
            PerceptionFailure::Model { failure } => AbandonReason::Provider { failure },
            failure @ (PerceptionFailure::Abstained { .. } | PerceptionFailure::BadInput { .. }) => {
                AbandonReason::NotUnderstood { failure }
            }
        };
        self.abandon(reason, None)
    }

    fn not_planned(&mut self, cx: &mut Context<'_>, rejected: PlanRejected) -> Vec<Effect> {
        if rejected.round != self.round {
            return Vec::new();
        }
        let reason = match (rejected.model_failure, rejected.abstention) {
            (Some(failure), _) => AbandonReason::Provider { failure },
            // What was refused is why there is no other plan.
            (None, _) if !self.account.denied.is_empty() => AbandonReason::ConsentNeeded,
            (None, Some(abstention)) if let Some((failed, near)) = self.failed.take() => {
                // Near names say more than the general advice.
                let next_steps = if near.is_empty() { vec![abstention.remedy] } else { near };
                AbandonReason::NoOtherWay { failed, next_steps }
            }
            (None, Some(abstention)) => {
                AbandonReason::NotUnderstood { failure: PerceptionFailure::Abstained { abstention } }
            }
            (None, None) => match self.unusable.take() {
                Some(failure) => AbandonReason::Provider { failure },
                None => AbandonReason::NoPlan { problems: rejected.problems },
            },
        };
        self.stop(cx, reason)
    }

    /// Waiting for a person doesn't count into Omega; several questions may be open, and each is counted once.
    fn asked(&mut self, cx: &Context<'_>, subtask: SubTaskId, hash: ConsentHash) {
        if self.asking.insert((subtask, hash)) && self.asking.len() == 1 {
            drop(self.controller.pause(&(), cx.now.uptime_ms));
        }
    }

    fn answered(&mut self, cx: &Context<'_>, subtask: SubTaskId, hash: ConsentHash) {
        if self.asking.remove(&(subtask, hash)) && self.asking.is_empty() {
            drop(self.controller.resume(&(), cx.now.uptime_ms));
        }
    }
}

/// The first failure of a round: the failed call's own words, else what the failed check saw.
fn what_failed(request: &ReplanRequest) -> Option<(String, Vec<String>)> {
    let outcome = request.outcomes.iter().find(|outcome| outcome.status == OutcomeStatus::Failed)?;
    if let Some(call) = outcome.tool_calls.iter().rev().find(|call| call.status != CallStatus::Ok) {
        let near = call.alternatives.iter().map(|path| format!("there is {path}"));
        return Some((call.output.clone(), near.collect()));
    }
    let verdict = outcome.criteria_verdicts.iter().find(|verdict| verdict.verdict == Verdict::Fail)?;
    Some((verdict.evidence.clone(), Vec::new()))
}

/// A provider that is gone can't be replanned around: the failure of any call that is not worth asking again.
fn provider_failure(request: &ReplanRequest) -> Option<ModelFailure> {
    let of_outcomes = request.outcomes.iter().filter_map(|outcome| outcome.model_failure.as_ref());
    let mut all = request.model_failure.iter().chain(of_outcomes);
    all.find(|failure| !failure.is_worth_asking_again()).cloned()
}

/// The result of a task whose R7 panics whatever it is told: the System sends it from R7's seat.
pub(crate) fn last_word(task_id: TaskId, detail: String) -> FinalResult {
    let account = Account::default();
    let reason = AbandonReason::RoleFailed { detail };
    let ending = ending::abandon(&account, None, reason, None);
    ending::result(task_id, None, &account, None, ending)
}

/// A model that answers, but never usably: it is why the last round fell short when each failure in it was the model's.
fn unusable_model(request: &ReplanRequest) -> Option<ModelFailure> {
    let failed = || request.outcomes.iter().filter(|outcome| outcome.status == OutcomeStatus::Failed);
    let of_failed = failed().find_map(|outcome| outcome.model_failure.clone());
    let all = failed().all(|outcome| outcome.model_failure.is_some());
    request.model_failure.clone().or(of_failed).filter(|_| all)
}

impl Machine for Solver {
    type Input = Input;
    type Effect = Effect;

    fn step(&mut self, cx: &mut Context<'_>, input: Input) -> Vec<Effect> {
        if self.ended {
            return Vec::new();
        }
        match input {
            // The TaskSpec may have overtaken it, and a deadline of the spec's does not replace the hard limit.
            Input::Request(request) => {
                self.task_id = Some(request.task_id);
                vec![self.wait(cx, request.hard_limit_ms)]
            }
            Input::Task(spec) => self.begin(cx, spec),
            Input::NotPerceived(failed) => self.not_perceived(failed),
            Input::NotPlanned(rejected) => self.not_planned(cx, rejected),
            Input::Manifest(manifest) => {
                if manifest.round == self.round {
                    let tools: BTreeSet<&String> =
                        manifest.subtasks.iter().flat_map(|subtask| &subtask.tools).collect();
                    self.account.approach = tools.into_iter().cloned().collect();
                    self.manifest = Some(manifest);
                }
                Vec::new()
            }
            Input::FellShort(request) => self.fell_short(cx, request),
            Input::Met(summary) => self.met(cx, &summary),
            Input::ConsentAsked(subtask, hash) => {
                self.asked(cx, subtask, hash);
                Vec::new()
            }
            Input::ConsentAnswered(subtask, hash) => {
                self.answered(cx, subtask, hash);
                Vec::new()
            }
            Input::Cancel(task_id) => {
                self.task_id.get_or_insert(task_id);
                self.stop(cx, AbandonReason::Cancelled)
            }
            Input::RoleFailed(failed) => {
                self.task_id.get_or_insert(failed.task_id);
                let detail = format!("{}: {}", failed.role, failed.detail);
                self.stop(cx, AbandonReason::RoleFailed { detail })
            }
            Input::Rang(id) if self.limit.contains(&id) => self.stop(cx, AbandonReason::Deadline),
            Input::Rang(_) | Input::Feedback => Vec::new(),
        }
    }
}
