//! Which model serves which role: one for planning and judging the whole, one for single steps.

use std::sync::Arc;

use artoo_proto::{ModelFailure, ModelReply, ModelRequest, Role};
use async_trait::async_trait;

use crate::Model;

/// Two models behind one: `brain` for R1, R2 and R4b, `hands` for R3 and R4a.
///
/// R2 and R4b share a model by construction, so the one that judges a plan's outcome is never weaker than the one that
/// made the plan.
#[derive(Clone)]
pub struct Tiers {
    brain: Arc<dyn Model>,
    hands: Arc<dyn Model>,
}

impl Tiers {
    /// Different models for the two tiers.
    #[must_use]
    pub fn new(brain: Arc<dyn Model>, hands: Arc<dyn Model>) -> Self {
        Self { brain, hands }
    }

    /// One model for everything.
    #[must_use]
    pub fn single(model: Arc<dyn Model>) -> Self {
        Self { brain: Arc::clone(&model), hands: model }
    }

    /// The model that serves `role`.
    #[must_use]
    pub fn serving(&self, role: Role) -> &Arc<dyn Model> {
        match role {
            Role::Executor | Role::AgentValidator => &self.hands,
            Role::Perceiver
            | Role::Planner
            | Role::Dispatcher
            | Role::MetaValidator
            | Role::Memory
            | Role::Auditor
            | Role::Solver
            | Role::Operator
            | Role::Runtime => &self.brain,
        }
    }
}

#[async_trait]
impl Model for Tiers {
    fn name(&self) -> String {
        let (brain, hands) = (self.brain.name(), self.hands.name());
        if brain == hands { brain } else { format!("{brain} and {hands}") }
    }

    async fn ask(&self, request: &ModelRequest) -> Result<ModelReply, ModelFailure> {
        self.serving(request.role).ask(request).await
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use artoo_proto::Role;
    use serde_json::json;

    use super::Tiers;
    use crate::scripted::{Script, Scripted};

    #[test]
    fn d12_the_judge_of_the_whole_is_the_planners_model() {
        let model = |name: &str| Arc::new(Scripted::new(|_| Script::Json(json!({}))).named(name));
        let tiers = Tiers::new(model("brain"), model("hands"));
        let serving = |role: Role| tiers.serving(role).name();
        assert!(Arc::ptr_eq(tiers.serving(Role::Planner), tiers.serving(Role::MetaValidator)));
        assert_eq!(serving(Role::Perceiver), "brain");
        assert_eq!(serving(Role::Executor), "hands");
        assert_eq!(serving(Role::AgentValidator), "hands");
    }
}
