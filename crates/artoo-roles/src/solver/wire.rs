//! What of the bus reaches this role, and what of this role reaches the bus.

use artoo_proto::Message;

use super::{Effect, Input};
use crate::machine::{Completion, Incoming, Misrouted, RoleEffect};

impl TryFrom<Incoming> for Input {
    type Error = Misrouted;

    #[expect(clippy::wildcard_enum_match_arm, reason = "narrowing: everything else is misrouted")]
    fn try_from(incoming: Incoming) -> Result<Self, Misrouted> {
        let envelope = match incoming {
            Incoming::Message(envelope) => envelope,
            Incoming::Completed(id, Completion::Timer) => return Ok(Self::Rang(id)),
            Incoming::Completed(_, other) => return Err(Misrouted::completion(&other)),
        };
        match &envelope.message {
            Message::UserRequest(request) => Ok(Self::Request(request.clone())),
            Message::TaskSpec(spec) => Ok(Self::Task(spec.clone())),
            Message::PerceptionFailed(failed) => Ok(Self::NotPerceived(failed.clone())),
            Message::PlanRejected(rejected) => Ok(Self::NotPlanned(rejected.clone())),
            Message::DispatchManifest(manifest) => Ok(Self::Manifest(manifest.clone())),
            Message::ReplanRequest(request) => Ok(Self::FellShort(request.clone())),
            Message::OutcomeSummary(summary) => Ok(Self::Met(summary.clone())),
            Message::ConsentRequest(asked) => Ok(Self::ConsentAsked(asked.subtask_id, asked.hash.clone())),
            Message::ConsentAnswer(answer) => Ok(Self::ConsentAnswered(answer.subtask_id, answer.hash.clone())),
            Message::CancelRequest(cancel) => Ok(Self::Cancel(cancel.task_id.clone())),
            Message::RoleFailed(failed) => Ok(Self::RoleFailed(failed.clone())),
            Message::MemoryFeedback(_) => Ok(Self::Feedback),
            _ => Err(Misrouted::message(&envelope)),
        }
    }
}

impl From<Effect> for RoleEffect {
    fn from(effect: Effect) -> Self {
        match effect {
            Effect::Direct(directive) => Self::Publish(directive.into()),
            Effect::Finish(result) => Self::Publish((*result).into()),
            Effect::Abort(abort) => Self::Publish(abort.into()),
            Effect::Record(draft) => Self::Publish(draft.into()),
            Effect::Wait(id, work) => Self::Perform(id, work),
        }
    }
}
