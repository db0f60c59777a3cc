//! Steps 7 and 8: pending changes are authorised by the effects that the run showed, then applied or discarded.

use artoo_proto::{Approval, ToolOutcome};

use super::authorise::authorise;
use super::tasks::PENDING_TIME;
use super::undoable::Undoability;
use super::{Context, EarlyOutcome};
use crate::consent::Grant;
use crate::limit::Limit;
use crate::record::Record;
use crate::tool::{Next, Outcome, Pending};

/// Removes and returns the pending changes of an earlier run, if the user's grant is for them.
pub(super) fn take_pending(context: &Context, grant: Option<&Grant>) -> Option<Pending> {
    context.registry.tasks().take_pending(&context.order.task_id, grant?.hash())
}

/// Returns a finished call's record, or applies its pending changes if they are approved or need no approval. `Err` is
/// the question, which holds the changes, or a denied record.
pub(super) fn commit(
    context: &Context,
    outcome: Outcome,
    approval: Option<Approval>,
    grant: &mut Option<Grant>,
    limit: &Limit,
) -> Result<(Record, Option<Approval>), EarlyOutcome> {
    let pending = match outcome {
        Outcome::Done(record) => return Ok((record, approval)),
        Outcome::Pending(pending) => *pending,
    };
    let question = pending.question.clone();
    let undo = Undoability::of(&context.machine, &pending.effects, limit);
    match (authorise(context, &pending.effects, question, &undo, grant, limit), pending) {
        (Ok(approved), Pending { next: Next::Commit(staged), .. }) => {
            Ok((staged.commit(&context.machine, limit), approved.or(approval)))
        }
        // A run is repeated only after its question.
        (Ok(_), _) => Err(EarlyOutcome::refused("what it would reach needs a question of its own")),
        (Err(EarlyOutcome::Question(question)), pending) => {
            if let ToolOutcome::NeedsConsent { hash, .. } = &*question {
                context.registry.tasks().hold(&context.order.task_id, hash, pending);
                discard_later(context);
            }
            Err(EarlyOutcome::Question(question))
        }
        (Err(denied), _) => Err(denied),
    }
}

/// Discards pending changes that were not approved within [`PENDING_TIME`], even if no further call comes.
fn discard_later(context: &Context) {
    let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
    let registry = context.registry.clone();
    runtime.spawn(async move {
        tokio::time::sleep(PENDING_TIME).await;
        registry.tasks().discard_old();
    });
}
