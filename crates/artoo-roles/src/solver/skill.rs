//! Records about skills: for or against the skill that a task used, or an episode from which a skill can be learned.

use artoo_proto::{MacroState, MegramDraft, OutcomeSummary, ReplanRequest};

use super::{Effect, Solver, experience};
use crate::agent_validator::may_have_changed;
use crate::skill::Episode;

impl Solver {
    /// The memory record against the skill whose round fell short; `None` for another plan. If the skill changed
    /// nothing, the next round may teach one.
    pub(super) fn against_skill(&mut self, request: &ReplanRequest) -> Option<Effect> {
        let skill = self.manifest.as_ref()?.skill()?;
        let mut calls = request.outcomes.iter().flat_map(|outcome| &outcome.tool_calls);
        self.learnable = (!calls.any(may_have_changed)).then_some(request.round + 1);
        Some(Effect::Record(experience::of_skill(self.phase.spec()?, skill, MacroState::Abandon, "did not serve:")))
    }

    /// The memory record of a covered request: for the skill that answered it, or an episode to learn one from; `None`
    /// if nothing can be learned from it.
    pub(super) fn of_skill(&self, summary: &OutcomeSummary) -> Option<MegramDraft> {
        let (spec, manifest) = (self.phase.spec()?, self.manifest.as_ref()?);
        if let Some(skill) = manifest.skill() {
            return Some(experience::of_skill(spec, skill, MacroState::Refine, "worked again:"));
        }
        let episode =
            Episode::of(spec, summary, manifest, &self.folder).filter(|_| self.learnable == Some(manifest.round))?;
        let content = serde_json::to_string(&episode).ok()?;
        let draft = experience::of_skill(spec, &episode.space(), MacroState::Accept, "");
        Some(MegramDraft { content, ..draft })
    }
}
