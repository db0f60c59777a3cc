//! The index's thread: follows the journal at its own pace, and starts over whenever it doubts what it has.

use std::{
    io,
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use serde::{Deserialize, Serialize};

use crate::{
    Frame, Offset,
    disk::{Disk, DiskFile, folder_of},
    journal::{
        format::{ENTRY_HEADER_BYTES, Entry, HEADER_BYTES},
        scan::{Next, Reader},
    },
    store::{OpenStore, StoreError, index::Index},
};

/// Frames in one batch of the index: large enough that syncing it does not dominate.
const MAX_BATCH_FRAMES: usize = 1_024;

/// Bytes of journal in one batch.
const MAX_BATCH_BYTES: u64 = 1024 * 1024;

/// Journal that an index still takes in when the memory closes; more is left for the next time.
const MAX_CLOSING_BYTES: u64 = 4 * 1024 * 1024;

/// Failures in a row after which the index is given up until the memory is opened anew.
const MAX_FAILURES: usize = 3;

/// Time before a failed index is made anew.
const REST: Duration = Duration::from_secs(1);

/// How the index is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct IndexStatus {
    /// Records in it.
    pub records: u64,
    /// Bytes of the journal it has yet to take in.
    pub behind_bytes: u64,
    /// How often it was made anew since the memory was opened.
    pub rebuilds: usize,
    /// Why it was last made anew, or given up.
    pub problem: Option<String>,
    /// Whether it was given up.
    pub given_up: bool,
}

enum Order {
    Advance(Offset),
    Follow { old_end: Offset, file: Arc<dyn DiskFile>, generation: u64, end: Offset },
    Wipe(Sender<io::Result<()>>),
    Check(Sender<Result<u64, StoreError>>),
    Close,
}

/// The sending end of the index's thread.
#[derive(Debug)]
pub(super) struct Indexer {
    orders: Sender<Order>,
    thread: Option<JoinHandle<()>>,
}

/// What an index is made from.
pub(super) struct Source {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) folder: PathBuf,
    pub(super) open: OpenStore,
    pub(super) file: Arc<dyn DiskFile>,
    pub(super) generation: u64,
    pub(super) end: Offset,
}

impl Indexer {
    /// Starts the thread; `None` where the system has none to give.
    pub(super) fn spawn(source: Source, status: Arc<Mutex<IndexStatus>>) -> Option<Self> {
        let (orders, receiver) = channel();
        let thread = thread::Builder::new()
            .name("mkct-index".to_owned())
            .spawn(move || Worker { source, status, index: None, failures: 0 }.run(&receiver))
            .ok()?;
        Some(Self { orders, thread: Some(thread) })
    }

    /// The journal is synced up to here.
    pub(super) fn advance(&self, end: Offset) {
        // A thread that is gone said why in its status.
        let _ = self.orders.send(Order::Advance(end));
    }

    /// The journal was rewritten; what it held up to `old_end` is in the new one up to `end`.
    pub(super) fn follow(&self, old_end: Offset, file: Arc<dyn DiskFile>, generation: u64, end: Offset) {
        let _ = self.orders.send(Order::Follow { old_end, file, generation, end });
    }

    /// Removes the index and makes it anew; returns once it is gone from the disk.
    pub(super) fn wipe(&self) -> io::Result<()> {
        let (done, answer) = channel();
        let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
        self.orders.send(Order::Wipe(done)).map_err(|_| gone())?;
        answer.recv().map_err(|_| gone())?
    }

    /// Asks for a check of every key; the answer comes when the index has caught up.
    pub(super) fn check(&self) -> Receiver<Result<u64, StoreError>> {
        let (done, answer) = channel();
        let _ = self.orders.send(Order::Check(done));
        answer
    }

    /// Lets it take in what is left, if that is little, and waits for it to end.
    pub(super) fn close(mut self) {
        let _ = self.orders.send(Order::Close);
        if let Some(thread) = self.thread.take() {
            // A panic was caught where it can happen; one elsewhere ends the index alone.
            let _ = thread.join();
        }
    }
}

struct Worker {
    source: Source,
    status: Arc<Mutex<IndexStatus>>,
    index: Option<Index>,
    failures: usize,
}

impl Worker {
    fn run(mut self, orders: &Receiver<Order>) {
        let mut checks = Vec::new();
        loop {
            let order = match self.wanted() {
                Wanted::Nothing => orders.recv().map_err(|_| ()),
                Wanted::Rest => match orders.recv_timeout(REST) {
                    Err(RecvTimeoutError::Timeout) => Ok(Order::Advance(self.source.end)),
                    order => order.map_err(|_| ()),
                },
                Wanted::Work => match orders.try_recv() {
                    Err(TryRecvError::Empty) => {
                        self.step();
                        continue;
                    }
                    order => order.map_err(|_| ()),
                },
            };
            match order {
                Ok(Order::Advance(end)) => self.source.end = self.source.end.max(end),
                Ok(Order::Follow { old_end, file, generation, end }) => self.follow(old_end, file, generation, end),
                Ok(Order::Wipe(done)) => {
                    // Whoever asked waits for the answer.
                    let _ = done.send(self.start_over(None));
                }
                Ok(Order::Check(done)) => checks.push(done),
                Ok(Order::Close) | Err(()) => return self.close(),
            }
            self.retry();
            if !checks.is_empty() {
                self.catch_up(u64::MAX);
                for done in checks.drain(..) {
                    let checked = self.index.as_mut().ok_or(StoreError::Poisoned).and_then(Index::check);
                    let _ = done.send(checked);
                }
            }
        }
    }

    fn wanted(&self) -> Wanted {
        match &self.index {
            _ if self.failures >= MAX_FAILURES => Wanted::Nothing,
            None if self.failures > 0 => Wanted::Rest,
            Some(index) if index.position().offset >= self.source.end => Wanted::Nothing,
            None | Some(_) => Wanted::Work,
        }
    }

    fn retry(&mut self) {
        if self.index.is_none() && self.failures > 0 && self.failures < MAX_FAILURES {
            self.step();
        }
    }

    /// Opens the index, or takes in one batch.
    fn step(&mut self) {
        let result = match self.index.take() {
            None => (self.source.open)(&self.source.disk, &self.source.folder)
                .and_then(|store| Index::resume(store, self.source.generation))
                .and_then(|index| self.expect_behind(index)),
            Some(index) => self.batch(index),
        };
        match result {
            Ok(index) => {
                let position = index.position();
                self.index = Some(index);
                // Opening alone is no success: what fails on the way fails again.
                if position.offset >= self.source.end {
                    self.failures = 0;
                }
                self.report(|status, end| {
                    status.records = position.records;
                    status.behind_bytes = end.0.saturating_sub(position.offset.0);
                    status.given_up = false;
                });
            }
            Err(error) => drop(self.start_over(Some(&error))),
        }
    }

    /// An index that knows more than the journal followed one that was lost.
    fn expect_behind(&self, index: Index) -> Result<Index, StoreError> {
        if index.position().offset > self.source.end {
            return Err(StoreError::Mismatch { reason: "it is ahead of the journal".to_owned() });
        }
        Ok(index)
    }

    fn batch(&self, mut index: Index) -> Result<Index, StoreError> {
        let from = index.position().offset.0.max(HEADER_BYTES as u64);
        let end = self.source.end.0;
        let mut reader = Reader::new(self.source.file.as_ref(), from, end);
        let (mut frames, mut at): (Vec<Frame>, u64) = (Vec::new(), from);
        while frames.len() < MAX_BATCH_FRAMES && at - from < MAX_BATCH_BYTES {
            let damaged = || StoreError::Mismatch { reason: format!("the journal is damaged at byte {at}") };
            match reader.entry()? {
                Next::End => break,
                Next::Bad(_) => return Err(damaged()),
                Next::Sound(header, payload) => {
                    if let Entry::Frame(frame) = header.decode(payload).map_err(|_| damaged())? {
                        frames.push(frame);
                    }
                    at += ENTRY_HEADER_BYTES as u64 + u64::from(header.length);
                }
            }
        }
        index.apply(&frames, Offset(at))?;
        Ok(index)
    }

    /// Removes what there is; the next step begins anew.
    fn start_over(&mut self, problem: Option<&StoreError>) -> io::Result<()> {
        self.index = None;
        self.failures = if problem.is_some() { self.failures + 1 } else { 0 };
        let removed = self.remove();
        let (given_up, problem) = (self.failures >= MAX_FAILURES, problem.map(chain));
        self.report(|status, end| {
            *status = IndexStatus {
                records: 0,
                behind_bytes: end.0,
                rebuilds: status.rebuilds + 1,
                problem: problem.or_else(|| status.problem.take()),
                given_up,
            };
            if let Err(error) = &removed {
                status.problem = Some(format!("the index could not be removed: {error}"));
            }
        });
        removed
    }

    /// Removes the index so that the loss of power does not bring it back.
    fn remove(&self) -> io::Result<()> {
        let (disk, folder) = (self.source.disk.as_ref(), self.source.folder.as_path());
        let names = match disk.list(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            names => names?,
        };
        for name in names {
            disk.remove(&folder.join(name))?;
        }
        disk.sync_folder(folder)?;
        disk.remove_folder(folder)?;
        disk.sync_folder(folder_of(folder))
    }

    fn follow(&mut self, old_end: Offset, file: Arc<dyn DiskFile>, generation: u64, end: Offset) {
        self.source.end = old_end;
        self.catch_up(u64::MAX);
        let followed = self.index.take().filter(|index| index.position().offset == old_end).map(|mut index| {
            index.follow(generation, end)?;
            Ok::<_, StoreError>(index)
        });
        (self.source.file, self.source.generation, self.source.end) = (file, generation, end);
        match followed {
            Some(Ok(index)) => self.index = Some(index),
            Some(Err(error)) => drop(self.start_over(Some(&error))),
            None => drop(self.start_over(None)),
        }
    }

    /// Takes in what is left, where it is at most this much.
    fn catch_up(&mut self, max_bytes: u64) {
        while self.failures < MAX_FAILURES {
            if let Some(index) = &self.index {
                let left = self.source.end.0.saturating_sub(index.position().offset.0);
                if left == 0 || left > max_bytes {
                    return;
                }
            }
            self.step();
        }
    }

    fn close(mut self) {
        self.catch_up(MAX_CLOSING_BYTES);
        if let Some(Err(error)) = self.index.take().map(Index::close) {
            // What it says is in the status; the next opening makes it anew.
            let _ = self.start_over(Some(&error));
        }
    }

    fn report(&self, change: impl FnOnce(&mut IndexStatus, Offset)) {
        change(&mut self.status.lock().unwrap_or_else(PoisonError::into_inner), self.source.end);
    }
}

enum Wanted {
    Nothing,
    Rest,
    Work,
}

fn chain(error: &StoreError) -> String {
    let cause = std::error::Error::source(error).map(|cause| format!(": {cause}"));
    format!("{error}{}", cause.unwrap_or_default())
}
