//! Step 5, run: the journal entry is started, then the tool runs.

use std::sync::Arc;

use super::Context;
use super::undoable::Undoability;
use crate::limit::{Limit, Stopped};
use crate::tool::{Call, Job, Look, Outcome, Pending, Request, done};
use crate::undo::Subject;

/// What is run.
pub(super) enum Step {
    Job(Box<dyn Job>, Box<Call>),
    /// Nothing, since the run is over.
    Ended(Look),
}

impl Step {
    /// The changes of an earlier run, which are looked at again.
    pub(super) fn of_pending(pending: Pending) -> Self {
        Self::Ended(Box::new(move |_, _| Outcome::Pending(pending)))
    }
}

/// Starts the journal entry and does the tool's own preparations.
pub(super) fn prepare(context: &Context, request: Request, undo: &Undoability, limit: &Limit) -> Step {
    let Request { target, effects, mut job, .. } = request;
    let subject = Subject { task: &context.order.task_id, tool: context.tool_name(), what: &target };
    match undo.begin(&context.machine, subject, limit) {
        Ok(act) => {
            job.prepare(&context.machine, &act, limit);
            let machine = Arc::clone(&context.machine);
            Step::Job(job, Box::new(Call { machine, deadline: context.deadline, act, effects }))
        }
        Err(record) => Step::Ended(done(record.class(effects.class))),
    }
}

/// Runs a prepared request.
pub(super) async fn run(step: Step) -> Result<Look, Stopped> {
    match step {
        Step::Job(job, call) => job.run(*call).await,
        Step::Ended(look) => Ok(look),
    }
}
