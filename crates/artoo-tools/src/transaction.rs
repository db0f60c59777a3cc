//! A program as a transaction: it runs without changing anything, then in a view, and its changes are committed once
//! they are known and approved.
//!
//! 1. A reading run: nothing may be changed, and the first denial ends it. A program that was denied nothing is done.
//! 2. A run in a view, whose layers show what would change ([`decide`]). Where no view can be made, the places that were
//!    denied are asked about, and the program changes these directly ([`direct`]).

mod decide;
mod describe;
mod direct;
mod staged;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::fence::{Denial, Fence, Reach};
use crate::limit::{Limit, Stopped};
use crate::process::{Ended, Invocation};
use crate::record::Record;
use crate::tool::{Allowed, Call, Held, Look, Machine, Outcome};
use crate::undo::Account;
use crate::view::{NoView, View};
use artoo_proto::EffectClass;
use decide::Run;

/// A program to run.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    pub(crate) invocation: Invocation,
    /// The call as a question shows it.
    pub(crate) shown: String,
    /// Folders that it may change besides the home, the working folder and the workspace.
    pub(crate) folders: Vec<PathBuf>,
    /// Hidden places that it may read, as the user approved.
    pub(crate) readable: Vec<PathBuf>,
    /// Files that it may not read, since they may hold secrets.
    pub(crate) left_out: Vec<PathBuf>,
    /// What the user lets it reach without a question.
    pub(crate) reach: Reach,
    /// Whether the user approved its changes beforehand.
    pub(crate) is_granted: bool,
    pub(crate) time: Duration,
}

/// Makes the record of a program that has ended.
pub(crate) type MakeRecord = Box<dyn FnOnce(io::Result<Ended>, &Machine, &Limit) -> Record + Send>;

impl Call {
    /// Runs a program as a transaction. `record` is called once, with the end of its last run.
    pub(crate) async fn run(
        mut self,
        program: Program,
        record: impl FnOnce(io::Result<Ended>, &Machine, &Limit) -> Record + Send + 'static,
    ) -> Result<Look, Stopped> {
        let record: MakeRecord = Box::new(record);
        if !self.is_held || self.allowed.places.is_some() {
            return Ok(direct::run(self, program, record).await);
        }
        self.allowed.reach.add(&program.reach);
        let mut denied = Vec::new();
        // What a program does to others is not done twice.
        if self.allowed == Allowed::default() {
            let fence = program.fence(&self.machine, Fence::of_reading_run(&self.machine.protected));
            match self.start(program.invocation.clone(), fence, Held::Fenced, program.time).await {
                Ok(ended) if !ended.denied.is_empty() => denied = ended.denied,
                ended => {
                    return Ok(Box::new(move |machine, limit| Outcome::Done(unchanged(record, ended, machine, limit))));
                }
            }
            let wanted = Reach::of(&denied);
            if wanted != Reach::default() {
                return Ok(Box::new(move |_, _| decide::ask_for_reach(&program, &self.allowed.reach, &denied)));
            }
        }
        let folders = [program.folders.clone(), denied.iter().filter_map(changed_folder).collect()].concat();
        let machine = Arc::clone(&self.machine);
        let prepared = self.deadline.blocking(move |_| prepare(&machine, &folders)).await?;
        match prepared {
            Ok(view) => Ok(self.run_in_view(program, view, record).await),
            Err(problem) => Ok(direct::ask(self, program, &problem).await),
        }
    }

    async fn run_in_view(self, program: Program, view: View, record: MakeRecord) -> Look {
        let view = Arc::new(view);
        let reach = self.allowed.reach.clone();
        let fence = Fence { reach, ..program.fence(&self.machine, Fence::of_reading(&self.machine.protected, &[])) };
        let held = Held::InView(Arc::clone(&view));
        let ended = self.start(program.invocation.clone(), fence, held, program.time).await;
        let Self { allowed, confirm, source, .. } = self;
        let run = Run { program, allowed, confirm, source, view, record };
        Box::new(move |machine, limit| run.decide(ended, machine, limit))
    }
}

impl Program {
    /// A fence with what this program may and may not read.
    fn fence(&self, machine: &Machine, fence: Fence) -> Fence {
        let Fence { readable, .. } = Fence::of_reading(&machine.protected, &[]);
        let readable = readable.into_iter().chain(self.readable.iter().cloned()).collect();
        Fence { readable, left_out: self.left_out.clone(), ..fence }
    }
}

/// The record of a program that changed nothing.
fn unchanged(record: MakeRecord, ended: io::Result<Ended>, machine: &Machine, limit: &Limit) -> Record {
    let nothing = Account { changed: Vec::new(), is_whole: true };
    record(ended, machine, limit).class(EffectClass::ReadOnly).with_changes(Ok(nothing), true)
}

/// The view of a call. The workspace is made first, so that it can be changed in the view.
fn prepare(machine: &Machine, folders: &[PathBuf]) -> Result<View, NoView> {
    if machine.journal.is_none() {
        return Err(NoView::NoData);
    }
    // Where it can't be made, the program tells.
    let _ = std::fs::create_dir_all(&machine.config.environment.workspace);
    View::prepare(&machine.config, &machine.protected, folders)
}

/// The folder in which a denied change would have been made.
fn changed_folder(denial: &Denial) -> Option<PathBuf> {
    let (Denial::Write(path) | Denial::Metadata(path)) = denial else { return None };
    path.ancestors().skip(1).find(|folder| folder.is_dir()).map(Path::to_path_buf)
}
