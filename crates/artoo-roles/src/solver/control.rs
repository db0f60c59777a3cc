//! The calls of the controller of `artoo-ggs`, each of which is logged.

use artoo_ggs::{ControllerCall, ControllerError, ControllerEvent, ControllerReply, Decision, Round, Switch};
use artoo_proto::{ConsentHash, PlanDirective, PlanRejected, SubTaskId, TaskId};

use super::{Effect, Solver};
use crate::machine::Context;

impl Solver {
    /// Whether the last plan has a recipe, which code wrote.
    pub(super) fn is_by_recipe(&self) -> bool {
        self.manifest.iter().flat_map(|manifest| &manifest.subtasks).any(|subtask| subtask.recipe)
    }

    /// Makes a call of the `artoo-ggs` controller and stores the log entry of the call and its reply; an error if the
    /// controller refuses the call.
    pub(super) fn call(
        &mut self,
        cx: &Context<'_>,
        call: ControllerCall<TaskId>,
    ) -> Result<ControllerReply, ControllerError> {
        let entry = self.controller.record(ControllerEvent::new(cx.now.uptime_ms, call));
        let reply = entry.reply.clone();
        self.records.push(entry);
        if let ControllerReply::Refused(error) = reply { Err(error) } else { Ok(reply) }
    }

    /// Has the `artoo-ggs` controller decide on a measured round.
    pub(super) fn observe(&mut self, cx: &Context<'_>, round: Round) -> Result<Decision, ControllerError> {
        let reply = self.call(cx, ControllerCall::Observe { task: self.task_id.clone(), round })?;
        // The controller answers a round with a decision or an error.
        if let ControllerReply::Decided(decision) = reply { Ok(*decision) } else { Err(ControllerError::UnknownTask) }
    }

    /// Has the controller end the task for a reason from outside; `None` if it knows no such task.
    pub(super) fn stop_controller(&mut self, cx: &Context<'_>, round: Option<Round>) -> Option<Decision> {
        match self.call(cx, ControllerCall::Stop { task: self.task_id.clone(), round }) {
            Ok(ControllerReply::Decided(decision)) => Some(*decision),
            Ok(_) | Err(_) => None,
        }
    }

    /// Whether the last round is delivered instead of abandoning the task: the profile has `DeliverLast`, D is at most
    /// its threshold `delta`, and no required criterion is unmet.
    pub(super) fn is_close_enough(&self, decision: &Decision) -> bool {
        let profile = self.controller.profile();
        let is_near = decision.loss.d.value() <= profile.parameters().delta && !decision.required_unmet;
        profile.has(Switch::DeliverLast) && is_near && !self.account.rounds.is_empty()
    }

    /// The last directive, for a new round, without the blocked targets that the controller releases (denied ones
    /// stay); `None` if it releases none, or if there is no plan because of a model failure or an abstention.
    pub(super) fn released(&mut self, cx: &Context<'_>, rejected: &PlanRejected) -> Option<PlanDirective> {
        if rejected.model_failure.is_some() || rejected.abstention.is_some() {
            return None;
        }
        let Ok(ControllerReply::Released(replan)) = self.call(cx, ControllerCall::Release(self.task_id.clone())) else {
            return None;
        };
        let directive = self.directive.as_mut()?;
        self.round += 1;
        directive.round = self.round;
        let released: Vec<String> = replan.released_targets.iter().map(ToString::to_string).collect();
        // What the user denied stays forbidden.
        directive.blocked_targets.retain(|t| !released.contains(t) || self.account.denied_targets.contains(t));
        Some(directive.clone())
    }

    /// Pauses the time that counts for Ω (the used share of the budget) while at least one approval request is open.
    pub(super) fn consent_asked(&mut self, cx: &Context<'_>, request: (SubTaskId, ConsentHash)) -> Vec<Effect> {
        if self.asking.insert(request) && self.asking.len() == 1 {
            drop(self.call(cx, ControllerCall::Pause(self.task_id.clone())));
        }
        Vec::new()
    }

    /// Resumes the time budget when no approval request is open.
    pub(super) fn consent_answered(&mut self, cx: &Context<'_>, request: &(SubTaskId, ConsentHash)) -> Vec<Effect> {
        if self.asking.remove(request) && self.asking.is_empty() {
            drop(self.call(cx, ControllerCall::Resume(self.task_id.clone())));
        }
        Vec::new()
    }
}
