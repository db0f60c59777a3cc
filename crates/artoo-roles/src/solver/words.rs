//! The ending text of a partly done task, which a model is asked to write.

use artoo_ggs::Decision;
use artoo_proto::{AbandonReason, EffectId, Ending, ModelWords, TaskSpec};

use super::{Effect, Phase, Solver, ending};
use crate::limits::WORDING_WAIT_MS;
use crate::machine::Context;

/// An abandoned task for which a model is asked to write the ending text.
#[derive(Debug)]
pub(super) struct AwaitingEndText {
    pub(super) spec: TaskSpec,
    pub(super) ending: Ending,
    pub(super) decision: Option<Decision>,
    pub(super) timer: EffectId,
}

impl Solver {
    /// Asks a model for the ending text of an abandoned task if `ending::wording` has a request and the plan was no
    /// recipe; otherwise ends the task at once.
    pub(super) fn abandon_worded(
        &mut self,
        cx: &mut Context<'_>,
        reason: AbandonReason,
        decision: Option<Decision>,
    ) -> Vec<Effect> {
        let ending = ending::abandon(&self.account, decision.as_ref(), reason, self.manifest.as_ref());
        let is_recipe = self.is_by_recipe();
        let request = ending::wording(&self.task_id, &self.account, decision.as_ref(), &ending).filter(|_| !is_recipe);
        match (request, std::mem::take(&mut self.phase)) {
            (Some(request), Phase::Solving(spec)) => {
                let timer = cx.ids.next_effect();
                self.phase = Phase::Wording(Box::new(AwaitingEndText { spec, ending, decision, timer }));
                vec![Effect::Word(request), Effect::Wait(timer, WORDING_WAIT_MS)]
            }
            (_, phase) => {
                self.phase = phase;
                self.finish(ending, decision)
            }
        }
    }

    /// Ends an abandoned task with the ending text that a model wrote, or without one if it failed or came too late.
    pub(super) fn worded(&mut self, words: Option<ModelWords>) -> Vec<Effect> {
        let Phase::Wording(unworded) = std::mem::take(&mut self.phase) else { return Vec::new() };
        let AwaitingEndText { spec, ending, decision, .. } = *unworded;
        self.phase = Phase::Solving(spec);
        self.account.words = words;
        self.finish(ending, decision)
    }
}
