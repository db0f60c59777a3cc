//! The memory's journal on a thread of its own: appended, synced, and answered for.

use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

use artoo_mkct::{Engine, Frame, Journal, JournalError};
use serde_json::Value;
use tokio::sync::oneshot;

/// Writes waiting for the disk: far more than every task of a process has open at once.
const QUEUE: usize = 4_096;

struct Write {
    frames: Vec<Value>,
    done: oneshot::Sender<Result<(), String>>,
}

/// The sending end of the journal's thread.
#[derive(Debug)]
pub(super) struct JournalWriter {
    sender: Option<SyncSender<Write>>,
    thread: Option<JoinHandle<Result<(), JournalError>>>,
}

/// Opens the journal and replays it into an engine.
pub(super) fn open(path: &Path) -> Result<(JournalWriter, Engine, Vec<String>), JournalError> {
    let (journal, frames, report) = Journal::open(path)?;
    let mut engine = Engine::new();
    let refused = frames.iter().filter(|frame| engine.apply(frame).is_err()).count();
    let mut notes = Vec::new();
    if report.truncated_tail_bytes > 0 {
        notes.push(format!("memory: {} bytes of an unfinished write were cut off", report.truncated_tail_bytes));
    }
    if refused > 0 {
        notes.push(format!("memory: {refused} record(s) of the journal could not be replayed"));
    }
    let (sender, receiver) = sync_channel(QUEUE);
    let thread = std::thread::spawn(move || write_all(journal, &receiver));
    Ok((JournalWriter { sender: Some(sender), thread: Some(thread) }, engine, notes))
}

fn write_all(mut journal: Journal, receiver: &Receiver<Write>) -> Result<(), JournalError> {
    while let Ok(first) = receiver.recv() {
        // One sync serves every write that is waiting.
        let batch: Vec<Write> = std::iter::once(first).chain(receiver.try_iter()).collect();
        let mut results: Vec<Result<(), String>> = batch.iter().map(|write| append(&mut journal, write)).collect();
        if let Err(error) = journal.sync() {
            for result in &mut results {
                *result = Err(error.to_string());
            }
        }
        for (write, result) in batch.into_iter().zip(results) {
            // Whoever asked may have ended with its task.
            drop(write.done.send(result));
        }
    }
    journal.close()
}

fn append(journal: &mut Journal, write: &Write) -> Result<(), String> {
    let frames: Result<Vec<Frame>, _> = write.frames.iter().cloned().map(serde_json::from_value).collect();
    let frames = frames.map_err(|error| error.to_string())?;
    journal.append(&frames).map(drop).map_err(|error| error.to_string())
}

impl JournalWriter {
    /// Queues frames; the answer comes when they are synced, or not. Never blocks.
    pub(super) fn write(&self, frames: Vec<Value>) -> oneshot::Receiver<Result<(), String>> {
        let (done, answer) = oneshot::channel();
        let refused = match &self.sender {
            Some(sender) => match sender.try_send(Write { frames, done }) {
                Ok(()) => None,
                Err(TrySendError::Full(write)) => Some((write.done, "the memory's queue is full")),
                Err(TrySendError::Disconnected(write)) => Some((write.done, "the memory's journal is closed")),
            },
            None => Some((done, "the memory's journal is closed")),
        };
        if let Some((done, why)) = refused {
            drop(done.send(Err(why.to_owned())));
        }
        answer
    }

    /// Drains the queue, syncs and closes.
    pub(super) fn close(&mut self) -> Result<(), String> {
        drop(self.sender.take());
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(result)) => result.map_err(|error| error.to_string()),
            Some(Err(_)) => Err("the memory's thread panicked".to_owned()),
            None => Ok(()),
        }
    }
}
