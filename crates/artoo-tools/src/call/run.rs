//! Step 5, run: the journal entry is started, then the tool runs.

use std::sync::Arc;

use super::Context;
use super::undoable::Undoability;
use crate::limit::{Limit, Stopped};
use crate::tool::{Allowed, Call, Job, Look, Outcome, Pending, Request, Source, done};

/// What is run.
pub(super) enum Step {
    Job(Job, Box<Call>),
    /// Nothing, since the run is over.
    Ended(Look),
}

impl Step {
    /// The changes of an earlier run, which are looked at again.
    pub(super) fn of_pending(pending: Pending) -> Self {
        Self::Ended(Box::new(move |_, _| Outcome::Pending(Box::new(pending))))
    }
}

/// Starts the journal entry.
pub(super) fn prepare(
    context: &Context,
    request: Request,
    allowed: Allowed,
    undo: &Undoability,
    limit: &Limit,
) -> Step {
    let Request { target, effects, job, .. } = request;
    let source = Source { task: context.order.task_id.clone(), tool: context.tool_name().to_owned(), target };
    match undo.begin(&context.machine, source.subject(), limit) {
        Ok(act) => {
            let (machine, deadline) = (Arc::clone(&context.machine), context.deadline.clone());
            let confirm = context.order.confirm;
            let is_held = machine.fence().holds;
            Step::Job(job, Box::new(Call { machine, deadline, act, allowed, is_held, confirm, source }))
        }
        Err(record) => Step::Ended(done(record.class(effects.class))),
    }
}

/// Runs a prepared request.
pub(super) async fn run(step: Step) -> Result<Look, Stopped> {
    match step {
        Step::Job(job, call) => job(*call).await,
        Step::Ended(look) => Ok(look),
    }
}
