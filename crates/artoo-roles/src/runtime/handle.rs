//! The handle of a running task.

use std::collections::BTreeMap;
use std::sync::Arc;

use artoo_bus::TapEvent;
use artoo_proto::{CancelRequest, FinalResult, Role, SessionTurn, TaskId, Usage};
use tokio::sync::{broadcast, mpsc, oneshot};

use super::driver::Command;
use super::error::RuntimeError;
use crate::system::Input;

/// A request with what it may refer to: earlier turns, material, time limit.
#[derive(Debug, Clone, Default)]
pub struct TaskRequest {
    /// The user's words.
    pub words: String,
    /// The earlier requests that the words may refer to, oldest first.
    pub session: Vec<SessionTurn>,
    /// Text that the user gave with the words, such as standard input.
    pub material: Option<String>,
    /// Time limit of the task, in milliseconds; 30 minutes if `None`.
    pub limit_ms: Option<u64>,
}

/// The result of a task, with the model calls and tokens it used.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskOutcome {
    /// The task's one final result.
    pub result: FinalResult,
    /// Model calls and tokens by role; empty if no language model was called.
    pub usage: BTreeMap<Role, Usage>,
}

/// What [`TaskHandle::next`] returns: an event, or the task's end.
#[derive(Debug)]
pub enum Progress {
    /// An event of the bus, of any task.
    Event(Arc<TapEvent>),
    /// The task has ended.
    Ended(Box<Result<TaskOutcome, RuntimeError>>),
}

/// The handle of a running task: watch it, cancel it, or wait for its result.
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

    /// Waits for the next event of any task, or for the end of this task. A slow reader may lose events, but never the
    /// end. Do not call this again after [`Progress::Ended`].
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

    /// Asks to cancel the task. The task still ends with a result, which says that it was cancelled.
    pub fn cancel(&self) {
        let message = CancelRequest { task_id: self.task_id.clone() }.into();
        // If the runtime has stopped, it cancelled every task.
        drop(self.commands.send(Command::Input(Input::Operator { message })));
    }

    /// Waits for the task's result.
    ///
    /// # Errors
    /// [`RuntimeError::Stopped`] when the runtime ended first.
    pub async fn outcome(&mut self) -> Result<TaskOutcome, RuntimeError> {
        (&mut self.outcome).await.map_err(|_| RuntimeError::Stopped)
    }
}
