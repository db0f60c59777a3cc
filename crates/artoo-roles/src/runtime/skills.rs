//! The skills that the user approved, as a model that answers the requests they fit.

#[cfg(test)]
mod tests;

use std::sync::{Arc, Weak};

use artoo_mkct::{Engine, Memory};
use artoo_proto::{Environment, ModelReply, ModelRequest, ReplyBody, RoleContext, Usage};
use serde_json::json;

use crate::skill::{self, Body, Skill};

/// Model name under which replies made by a skill appear in the usage counts.
const NAME: &str = "skill";

/// A skill found in memory, with its state and the records it was learned from.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredSkill {
    /// The space tag of the skill's records.
    pub space: String,
    /// The skill; of one that was set aside, as it was approved.
    pub skill: Skill,
    /// Whether it is offered, used or set aside.
    pub state: SkillState,
    /// The records that it was learned from; empty if it was set aside.
    pub evidence: Vec<artoo_mkct::record::MegramId>,
}

/// Whether a skill is offered, used or set aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkillState {
    /// Learned, and not approved by the user yet.
    Offered,
    /// Approved by the user, and used.
    Approved,
    /// Approved by the user, but contradicted by later tasks or replaced, so that it is not used.
    SetAside,
}

/// All skills in a memory with their states: first the learned ones (offered or approved), then those set aside.
#[must_use]
pub fn stored_skills(engine: &Engine) -> Vec<StoredSkill> {
    let of_space = |space: &str| space.starts_with(skill::SPACE);
    let approved = |space: &str, text: &str| engine.thinking().any(|one| one.entity == space && one.content == text);
    let learned = engine.sop_records().into_iter().filter(|rule| of_space(&rule.tag.space));
    let learned = learned.filter_map(|rule| {
        let is_approved = approved(&rule.tag.space, &rule.content);
        Some(StoredSkill {
            skill: serde_json::from_str(&rule.content).ok()?,
            space: rule.tag.space,
            state: if is_approved { SkillState::Approved } else { SkillState::Offered },
            evidence: rule.evidence,
        })
    });
    let mut skills: Vec<StoredSkill> = learned.collect();
    for text in engine.thinking().filter(|text| of_space(&text.entity)) {
        let Ok(skill) = serde_json::from_str(&text.content) else { continue };
        let is_used = |one: &StoredSkill| one.space == text.entity && one.state == SkillState::Approved;
        if !skills.iter().any(is_used) {
            let (space, state) = (text.entity.clone(), SkillState::SetAside);
            skills.push(StoredSkill { space, skill, state, evidence: Vec::new() });
        }
    }
    skills
}

/// The first skill in the given state that applies to a request in this folder, with the calls it makes for it; `None`
/// if none applies.
#[must_use]
pub fn fitting_skill(engine: &Engine, state: SkillState, request: &str, folder: &str) -> Option<(StoredSkill, Body)> {
    let mut skills = stored_skills(engine).into_iter().filter(|skill| skill.state == state);
    skills.find_map(|stored| stored.skill.body(request, folder).map(|body| (stored, body)))
}

/// Answers model requests with the user's approved skills, which are read from memory.
pub(super) struct Skills {
    // The memory closes when its last owner drops it, which is not this.
    memory: Option<Weak<Memory>>,
}

impl Skills {
    /// Skills read from this memory; without a memory, none applies.
    pub(super) fn new(memory: Option<&Arc<Memory>>) -> Self {
        Self { memory: memory.map(Arc::downgrade) }
    }

    /// The space tag and the filled-in calls of the first approved skill that fits a request; `None` if none fits or
    /// there is no memory.
    fn find(&self, request: &str, environment: &Environment) -> Option<(String, Body)> {
        let memory = self.memory.as_ref()?.upgrade()?;
        let found = fitting_skill(&memory.engine(), SkillState::Approved, request, &environment.cwd);
        found.map(|(stored, body)| (stored.space, body))
    }

    /// The reply of an approved skill that fits the request, to the first model call of the perceiver or planner;
    /// `None` if none fits, or if the task has more than its words.
    pub(super) fn reply(&self, request: &ModelRequest) -> Option<ModelReply> {
        let body = match &request.context {
            RoleContext::Perceive(perceive) if perceive.material.is_none() && perceive.clarifications.is_empty() => {
                let (_, body) = self.find(&perceive.raw_input, &perceive.environment)?;
                let constraints = json!({"scope": body.scope, "deadline": null});
                let value = json!({"task_id": NAME, "intent": perceive.raw_input, "constraints": constraints});
                ReplyBody::Json { value }
            }
            RoleContext::Plan(plan)
                if plan.spec.material.is_none() && plan.problems.is_empty() && plan.directive.is_none() =>
            {
                let (space, body) = self.find(&plan.spec.raw_input, &plan.environment)?;
                ReplyBody::Recipes { plan: body.plan(&space) }
            }
            RoleContext::Perceive(_)
            | RoleContext::Plan(_)
            | RoleContext::Execute(_)
            | RoleContext::ValidateSubtask(_)
            | RoleContext::ValidateTask(_)
            | RoleContext::Word(_)
            | RoleContext::WordRule(_) => return None,
        };
        Some(ModelReply { body, usage: Usage::default(), model: NAME.to_owned() })
    }
}
