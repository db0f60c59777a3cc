//! A running task as its caller sees it.

use std::collections::BTreeMap;
use std::sync::Arc;

use artoo_bus::TapEvent;
use artoo_proto::{CancelRequest, FinalResult, Role, TaskId, Usage};
use tokio::sync::{broadcast, mpsc, oneshot};

use super::builder::RuntimeError;
use super::driver::Command;
use crate::system::Input;

/// How a task ended, and what it cost.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskOutcome {
    /// The one result.
    pub result: FinalResult,
    /// Model calls and tokens by role; empty where no language model was asked.
    pub usage: BTreeMap<Role, Usage>,
}

/// One step of watching a task.
#[derive(Debug)]
pub enum Progress {
    /// Something happened on the bus or at its edge.
    Event(Arc<TapEvent>),
    /// The task is over.
    Ended(Box<Result<TaskOutcome, RuntimeError>>),
}

/// A task under way.
#[derive(Debug)]
pub struct TaskHandle {
    pub(super) task_id: TaskId,
    pub(super) commands: mpsc::UnboundedSender<Command>,
    pub(super) events: broadcast::Receiver<Arc<TapEvent>>,
    pub(super) outcome: oneshot::Receiver<TaskOutcome>,
}

impl TaskHandle {
    /// The task's id.
    #[must_use]
    pub fn task_id(&self) -> &TaskId {
        &self.task_id
    }

    /// What happens next: an event of any task, or this task's end. Slow readers lose events, never the end; nothing
    /// is awaited after it.
    pub async fn next(&mut self) -> Progress {
        loop {
            tokio::select! {
                biased;
                event = self.events.recv() => match event {
                    Ok(event) => return Progress::Event(event),
                    Err(broadcast::error::RecvError::Lagged(_)) => {}
                    Err(broadcast::error::RecvError::Closed) => return Progress::Ended(Box::new(self.outcome().await)),
                },
                outcome = &mut self.outcome => {
                    return Progress::Ended(Box::new(outcome.map_err(|_| RuntimeError::Stopped)));
                }
            }
        }
    }

    /// Asks for the task to be stopped; it still ends with a result that says so.
    pub fn cancel(&self) {
        let message = CancelRequest { task_id: self.task_id.clone() }.into();
        // A runtime that is gone has cancelled everything already.
        drop(self.commands.send(Command::Input(Input::Operator { message })));
    }

    /// Waits for the result.
    ///
    /// # Errors
    /// [`RuntimeError::Stopped`] when the runtime ended first.
    pub async fn outcome(&mut self) -> Result<TaskOutcome, RuntimeError> {
        (&mut self.outcome).await.map_err(|_| RuntimeError::Stopped)
    }
}
