//! The pipeline of a tool call, one file per step: read, refuse, dedupe, authorise, run, look, authorise, commit, record.
//!
//! A tool that knows its effects declares them, and they are authorised before it runs. A run that shows its effects
//! ends with [`Outcome::Pending`](crate::tool::Outcome), and they are authorised before they are committed.

mod authorise;
mod commit;
mod dedupe;
mod look;
mod read;
mod record;
mod refuse;
mod registry;
mod run;
mod tasks;
mod undoable;

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use artoo_proto::{EffectClass, ToolOrder, ToolOutcome};

use crate::consent::Grant;
use crate::limit::{Limit, Stopped, blocking};
use crate::record::Record;
use crate::tool::{Allowed, Deadline, Machine, Next, Pending};

#[cfg(test)]
pub(crate) use dedupe::{CallKey, FailedCalls};
pub use registry::Registry;
use run::Step;
#[cfg(test)]
pub(crate) use tasks::Tasks;
use undoable::Undoability;

impl Registry {
    /// Makes a call, or returns the question that the user must answer first.
    ///
    /// `user_request` is the task in the user's own words, empty if there are none: a web search for these words needs
    /// no approval.
    ///
    /// Never fails: errors are in the record. A grant that is not needed is used up all the same. Must run inside a tokio
    /// runtime with time and I/O; dropping the future ends every process of the call's group.
    pub async fn call(&self, order: &ToolOrder, user_request: &str, mut grant: Option<Grant>) -> ToolOutcome {
        let context = Arc::new(Context::new(self, order, user_request));
        let _listed = context.machine.calls.list(context.tool_name(), &context.deadline.meter);
        // One blocking hop before the run,
        let before = move |context: &Context, limit: &Limit| {
            let mut request = read::read(context)?;
            refuse::target(context, &request)?;
            let attempt = dedupe::dedupe(context, &request)?;
            let (question, allowed) = match commit::take_pending(context, grant.as_ref()) {
                Some(pending @ Pending { next: Next::Commit(_), .. }) => {
                    return Ok((Step::of_pending(pending), attempt, None, grant));
                }
                // The questions asked before the first run were approved then.
                Some(Pending { effects, question, next: Next::RunAgain(allowed) }) => {
                    request.effects = effects;
                    (question, allowed)
                }
                None => (request.question.take(), Allowed::default()),
            };
            let undo = Undoability::of(&context.machine, &request.effects, limit);
            let approval = authorise::authorise(context, &request.effects, question, &undo, &mut grant, limit)?;
            Ok((run::prepare(context, request, allowed, &undo, limit), attempt, approval, grant))
        };
        let (step, attempt, approval, mut grant) = match context.run_blocking(context.deadline.left(), before).await {
            Ok(ready) => ready,
            Err(outcome) => return *outcome,
        };
        let ran = run::run(step).await;
        // and one after it.
        let after = move |context: &Context, limit: &Limit| {
            let outcome = look::look(context, ran, limit);
            let (record, approval) = commit::commit(context, outcome, approval, &mut grant, limit)?;
            dedupe::ended(context, attempt, &record);
            Ok(record::report(context, record, approval))
        };
        // The run may have taken all the time there was; what it did is still recorded.
        context.run_blocking(context.machine.config.call_timeout, after).await.unwrap_or_else(|outcome| *outcome)
    }
}

/// A tool call on its way through the steps of the pipeline, with all that the steps need.
struct Context {
    registry: Registry,
    machine: Arc<Machine>,
    order: ToolOrder,
    user_request: String,
    deadline: Deadline,
    /// What the call acts on; set by the read step.
    target: OnceLock<String>,
    /// The outcome so far, for a call whose evidence can't be stored in time.
    outcome: Mutex<Option<ToolOutcome>>,
}

/// The end of a call before its tool has run, or before its changes are committed.
enum EarlyOutcome {
    Record(Box<Record>),
    Question(Box<ToolOutcome>),
}

impl EarlyOutcome {
    /// The early outcome of a call that ends with this record.
    fn record(record: Record) -> Self {
        Self::Record(Box::new(record))
    }

    /// The early outcome of a call that is denied before its effects are known.
    fn refused(reason: &str) -> Self {
        Self::record(Record::denied(reason).class(EffectClass::Unproven))
    }
}

impl Context {
    /// The context of one call, with its deadline.
    fn new(registry: &Registry, order: &ToolOrder, user_request: &str) -> Self {
        Self {
            registry: registry.clone(),
            machine: Arc::clone(registry.machine()),
            order: order.clone(),
            user_request: user_request.to_owned(),
            deadline: Deadline::after(registry.machine().config.call_timeout),
            target: OnceLock::new(),
            outcome: Mutex::new(None),
        }
    }

    /// The name of the tool that is called.
    fn tool_name(&self) -> &str {
        &self.order.request.tool
    }

    /// Runs steps of a call on a blocking thread. `Err` is the outcome if they end the call early or do not end in
    /// time.
    async fn run_blocking<T: Send + 'static>(
        self: &Arc<Self>,
        time: Duration,
        steps: impl FnOnce(&Self, &Limit) -> Result<T, EarlyOutcome> + Send + 'static,
    ) -> Result<T, Box<ToolOutcome>> {
        let context = Arc::clone(self);
        let done = blocking(time, &self.deadline.meter, move |limit| {
            steps(&context, limit).map_err(|early| match early {
                EarlyOutcome::Record(record) => Box::new(record::report(&context, *record, None)),
                EarlyOutcome::Question(question) => question,
            })
        });
        done.await.unwrap_or_else(|why| Err(Box::new(record::stopped_report(self, why))))
    }
}

/// The record of a call whose blocking work gave no result: timed out, or failed by an internal error.
fn stopped(why: Stopped) -> Record {
    match why {
        Stopped::TimedOut => Record::timed_out("the time was up; the file system did not answer"),
        Stopped::Panicked => Record::unusable("the tool failed on an error of its own"),
    }
}
