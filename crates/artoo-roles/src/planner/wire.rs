//! What of the bus reaches this role, and what of this role reaches the bus.

use artoo_proto::Message;

use super::{Effect, Input};
use crate::machine::{Completion, Incoming, Misrouted, RoleEffect};

impl TryFrom<Incoming> for Input {
    type Error = Misrouted;

    #[expect(clippy::wildcard_enum_match_arm, reason = "narrowing: everything else is misrouted")]
    fn try_from(incoming: Incoming) -> Result<Self, Misrouted> {
        match incoming {
            Incoming::Message(envelope) => match &envelope.message {
                Message::TaskSpec(spec) => Ok(Self::Task(spec.clone())),
                Message::PlanDirective(directive) => Ok(Self::Directed(directive.clone())),
                Message::MemoryRecall(recall) => Ok(Self::Recalled(recall.clone())),
                Message::Abort(_) => Ok(Self::Abort),
                _ => Err(Misrouted::message(&envelope)),
            },
            Incoming::Completed(id, Completion::Model(reply)) => Ok(Self::Replied(id, reply)),
            Incoming::Completed(id, Completion::Timer) => Ok(Self::Rang(id)),
            Incoming::Completed(_, other) => Err(Misrouted::completion(&other)),
        }
    }
}

impl From<Effect> for RoleEffect {
    fn from(effect: Effect) -> Self {
        match effect {
            Effect::Query(query) => Self::Publish(query.into()),
            Effect::Planned(plan) => Self::Publish(plan.into()),
            Effect::Rejected(rejected) => Self::Publish(rejected.into()),
            Effect::Perform(id, work) => Self::Perform(id, work),
        }
    }
}
