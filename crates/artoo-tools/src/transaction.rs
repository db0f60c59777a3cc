//! A program as a transaction: it runs without changing anything, then in a view, and its changes are committed once
//! they are known and approved.
//!
//! 1. A reading run: nothing may be changed, and the first denial ends it. A program that was denied nothing is done.
//! 2. A run in a view, whose layers show what would change ([`decide`]). Where no view can be made, the places that were
//!    denied are asked about, and the program changes these directly ([`direct`]).

mod decide;
mod describe;
mod direct;
mod hosts;
mod opened;
mod request;
mod staged;

use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::fence::{Denial, Fence, Reach};
use crate::limit::{Limit, Stopped};
use crate::process::{Ended, Invocation};
use crate::protect::Protected;
use crate::record::Record;
use crate::texts;
use crate::tool::{Allowed, Call, Held, Look, Machine, Outcome};
use crate::undo::RecordedChanges;
use crate::view::{NoView, View};
use artoo_proto::EffectClass;
use decide::Run;
pub(crate) use request::ConfiguredCall;
use request::NewFolder;

/// What a transaction runs: a program, or one call of an MCP server.
pub(crate) trait Work: fmt::Debug + Send + Sync {
    /// Runs the program or the server's call once, for at most `time`.
    fn run<'a>(&'a self, call: &'a Call, fence: Fence, held: Held, time: Duration) -> End<'a>;
}

/// A future that gives how a run ended.
pub(crate) type End<'a> = Pin<Box<dyn Future<Output = io::Result<Ended>> + Send + 'a>>;

impl Work for Invocation {
    fn run<'a>(&'a self, call: &'a Call, fence: Fence, held: Held, time: Duration) -> End<'a> {
        Box::pin(call.start(self.clone(), fence, held, time))
    }
}

/// A program to run as a transaction, with the texts that its question shows.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    pub(crate) work: Arc<dyn Work>,
    /// The call as a question shows it.
    pub(crate) shown: String,
    pub(crate) names: Names,
    /// Folders that it may change besides the home, the working folder and the workspace.
    pub(crate) folders: Vec<PathBuf>,
    /// Files that it may not read, since they may hold secrets.
    pub(crate) left_out: Vec<PathBuf>,
    /// What the user lets it reach without a question.
    pub(crate) reach: Reach,
    /// Whether the user approved its changes beforehand.
    pub(crate) is_granted: bool,
    /// Why every change needs approval, if it does.
    pub(crate) caution: Option<String>,
    pub(crate) time: Duration,
    /// The workspace, if it was created for this program.
    pub(crate) workspace: Option<Arc<NewFolder>>,
}

/// Paths and hosts named in the words of a call, and secrets it names. They improve the question; the effects are
/// observed in the run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    pub(crate) paths: Vec<PathBuf>,
    pub(crate) hosts: BTreeSet<String>,
    /// Places with secrets, which it may read once the user allows it.
    pub(crate) secrets: Vec<PathBuf>,
}

/// A callback that makes the record of a program that has ended.
pub(crate) type MakeRecord = Box<dyn FnOnce(io::Result<Ended>, &Machine, &Limit) -> Record + Send>;

impl Call {
    /// Runs a program as a transaction. `record` is called at most once, with the end of the last run; not if a
    /// question ends the call.
    pub(crate) async fn run(mut self, mut program: Program, record: MakeRecord) -> Result<Look, Stopped> {
        if !self.is_held || self.allowed.places.is_some() {
            return Ok(direct::run(self, program, record).await);
        }
        self.allowed.reach.add(&program.reach);
        if self.allowed.reach != Reach::default() {
            self.machine.announce(&self.source);
        }
        if self.confirm {
            program.caution.get_or_insert_with(|| texts::CAUTION.to_owned());
        }
        let mut denied = Vec::new();
        // Effects on other machines must not happen twice.
        if self.allowed.reach == Reach::default() {
            let fence =
                program.fence(&self.machine.protected, &self.allowed, Fence::of_reading_run(&self.machine.protected));
            match program.work.run(&self, fence, Held::Fenced, program.time).await {
                // In a view secrets are covered; without views a question comes first.
                Err(error) if needs_view(&error) => {}
                Ok(ended) if ended.is_stopped || !ended.denied.is_empty() => denied = ended.denied,
                ended => {
                    return Ok(Box::new(move |machine, limit| {
                        decide::ask_for_more(&program, &self.allowed, &ended)
                            .unwrap_or_else(|| Outcome::Done(unchanged(record, ended, machine, limit)))
                    }));
                }
            }
            let wanted = Reach::of(&denied);
            if wanted != Reach::default() {
                return Ok(Box::new(move |_, _| decide::ask_for_reach(&program, &self.allowed, &denied)));
            }
        }
        let folders = [program.folders.clone(), denied.iter().filter_map(changed_folder).collect()].concat();
        let machine = Arc::clone(&self.machine);
        let prepared = self.deadline.blocking(move |_| prepare(&machine, &folders)).await?;
        match prepared {
            Ok(view) => Ok(self.run_in_view(program, Arc::new(view), record).await),
            Err(problem) => Ok(direct::ask(self, program, &problem).await),
        }
    }

    /// Runs a program in a view, then decides about its changes.
    async fn run_in_view(self, program: Program, view: Arc<View>, record: MakeRecord) -> Look {
        let reach = self.allowed.reach.clone();
        let fence = Fence {
            reach,
            ..program.fence(&self.machine.protected, &self.allowed, Fence::of_reading(&self.machine.protected, &[]))
        };
        let held = Held::InView(Arc::clone(&view));
        let started = SystemTime::now();
        let ended = program.work.run(&self, fence, held, program.time).await;
        let Self { allowed, source, .. } = self;
        let run = Run { program, allowed, source, view, record, started };
        Box::new(move |machine, limit| run.decide(ended, machine, limit))
    }
}

impl Program {
    /// The given sandbox, with what this program may read besides and the files that are hidden from it.
    fn fence(&self, protected: &Protected, allowed: &Allowed, fence: Fence) -> Fence {
        let is_closed = |file: &&PathBuf| !allowed.readable.iter().any(|readable| file.starts_with(readable));
        let left_out = self.left_out.iter().filter(is_closed).cloned().collect();
        // A start-up file may be read if it is named.
        let Fence { readable: named, .. } = Fence::of_reading(protected, &self.names.paths);
        let readable = allowed.readable.iter().cloned().chain(named).collect();
        Fence { readable, left_out, ..fence }
    }
}

/// The record of a program that changed no file, with an empty and complete list of changes.
fn unchanged(record: MakeRecord, ended: io::Result<Ended>, machine: &Machine, limit: &Limit) -> Record {
    let nothing = RecordedChanges { changed: Vec::new(), is_whole: true };
    record(ended, machine, limit).class(EffectClass::ReadOnly).with_changes(Ok(nothing), true)
}

/// Whether an error means that a reading run, the first run without a view, can't be started on this machine or with
/// these secrets, so that the program must run in a view.
fn needs_view(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::QuotaExceeded)
}

/// Whether a program used no access beyond files: it was granted none, or only the network, and made no socket for it.
fn stayed_inside(reach: &Reach, ended: &Ended) -> bool {
    *reach == Reach::default() || (reach.is_network_alone() && ended.stayed_off)
}

/// Prepares the view of a call; an error without an undo journal, or if no view can be made.
fn prepare(machine: &Machine, folders: &[PathBuf]) -> Result<View, NoView> {
    if machine.journal.is_none() {
        return Err(NoView::NoData);
    }
    View::prepare(&machine.config, &machine.protected, folders)
}

/// The nearest existing folder above a denied write or change of metadata; `None` for other denials.
fn changed_folder(denial: &Denial) -> Option<PathBuf> {
    let (Denial::Write(path) | Denial::Metadata(path)) = denial else { return None };
    path.ancestors().skip(1).find(|folder| folder.is_dir()).map(Path::to_path_buf)
}
