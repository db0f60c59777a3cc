//! Step 5, run: the journal entry is started, then the tool runs.

use std::sync::Arc;

use super::Context;
use super::undoable::Undoability;
use crate::limit::{Limit, Stopped};
use crate::tool::{Allowed, Call, Job, Look, Outcome, Pending, Request, Source, done};

/// What the run step executes: a tool's job, or nothing if an earlier run's changes are pending or the call has failed.
pub(super) enum Step {
    Job(Job, Box<Call>),
    /// No job, since the run is over.
    Ended(Look),
}

impl Step {
    /// A step without a run: the pending changes of an earlier run are the outcome, since the user has approved them.
    pub(super) fn of_pending(pending: Pending) -> Self {
        Self::Ended(Box::new(move |_, _| Outcome::Pending(Box::new(pending))))
    }
}

/// Starts the undo journal entry of a call and returns the step to run; if that fails, a call that was to be undoable
/// ends here.
pub(super) fn prepare(
    context: &Context,
    request: Request,
    allowed: Allowed,
    undo: &Undoability,
    limit: &Limit,
) -> Step {
    let Request { target, effects, job, .. } = request;
    let (task, call) = (context.order.task_id.clone(), context.order.evidence_id.clone());
    let source = Source { task, call, tool: context.tool_name().to_owned(), target };
    if matches!(undo, Undoability::Never) {
        context.machine.announce(&source);
    }
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

/// Runs the prepared step of a call, and returns the function of the look step; `Err` if its blocking work was stopped.
pub(super) async fn run(step: Step) -> Result<Look, Stopped> {
    match step {
        Step::Job(job, call) => job(*call).await,
        Step::Ended(look) => Ok(look),
    }
}
