//! What a call changes, kept for undo: told before it is asked about, recorded while it is done.

use std::path::PathBuf;
use std::sync::Arc;

use artoo_proto::{EffectClass, TaskId};

use crate::limit::{Limit, Stopped};
use crate::record::Record;
use crate::tool::{Job, Machine, Watch};
use crate::undo::{Act, Cover, Subject};

/// How a job lets itself be recorded.
#[derive(Debug, Clone)]
pub(crate) enum Recording {
    /// Not at all: what it changes is no file, or nobody knows which.
    None,
    /// It notes every step before it makes it.
    Steps,
    /// It may change these and what lies below them, and does not say how.
    Places(Vec<PathBuf>),
}

/// Whether what a call changes can be undone.
#[derive(Debug, Clone)]
pub(crate) enum Prospect {
    /// It changes nothing.
    ReadOnly,
    /// Every step is noted before it is made.
    Noted,
    /// What stands in the places it may change is kept first, or is too much to be kept.
    Watched(Box<Cover>),
    /// Nothing is kept in this run, or nothing could be.
    Unkept,
}

/// What begins the recording of one call.
#[derive(Debug, Clone)]
pub(crate) struct Recorder {
    pub(crate) task: TaskId,
    pub(crate) tool: String,
    pub(crate) what: String,
    pub(crate) prospect: Prospect,
}

impl Prospect {
    /// What can be said without a look at the disk; else the places to look at.
    pub(crate) fn of(machine: &Machine, job: &dyn Job) -> Result<Self, Vec<PathBuf>> {
        if job.class() == EffectClass::ReadOnly {
            return Ok(Self::ReadOnly);
        }
        if machine.journal.is_none() {
            return Ok(Self::Unkept);
        }
        match job.recording(machine) {
            Recording::None => Ok(Self::Unkept),
            Recording::Steps => Ok(Self::Noted),
            Recording::Places(places) => Err(places),
        }
    }

    /// What could be undone in these places.
    pub(crate) async fn of_places(machine: &Arc<Machine>, places: Vec<PathBuf>, watch: Watch) -> Result<Self, Stopped> {
        let machine = Arc::clone(machine);
        let survey = move |limit: &Limit| machine.journal.as_ref().map(|journal| journal.survey(&places, limit));
        let cover = watch.blocking(survey).await?;
        Ok(cover.map_or(Self::Unkept, |cover| Self::Watched(Box::new(cover))))
    }

    /// What a person is told, after "it".
    pub(crate) fn said(&self) -> Option<String> {
        match self {
            Self::ReadOnly => None,
            Self::Noted => Some("can be undone with artoo undo".to_owned()),
            Self::Watched(cover) => Some(cover.said()),
            Self::Unkept => Some("is not undoable: nothing of it is kept for undo".to_owned()),
        }
    }

    /// What a yes is also for: who allowed an act that can be undone did not allow one that can't.
    pub(crate) fn term(&self) -> &'static str {
        match self {
            Self::Watched(cover) if cover.not_undoable().is_some() => "not undoable",
            Self::Unkept => "not undoable",
            Self::ReadOnly | Self::Noted | Self::Watched(_) => "undoable",
        }
    }
}

#[cfg(test)]
impl crate::Registry {
    /// A recording of an act that a test does by hand.
    pub(crate) fn begin_for_test(&self, tool: &str) -> Act {
        let task = crate::tests::task();
        let subject = Subject { task: &task, tool, what: "by hand" };
        let limit = Limit::after(std::time::Duration::from_secs(5));
        self.machine().journal.as_ref().unwrap().begin(subject, None, &limit).unwrap()
    }
}

impl Recorder {
    /// Begins the recording; what can't be recorded although that was said is not done.
    pub(crate) fn begin(&self, machine: &Machine, limit: &Limit) -> Result<Act, Box<Record>> {
        let Some(journal) = &machine.journal else { return Ok(Act::default()) };
        let subject = Subject { task: &self.task, tool: &self.tool, what: &self.what };
        let cover = match &self.prospect {
            Prospect::ReadOnly | Prospect::Unkept => return Ok(Act::default()),
            Prospect::Noted => None,
            Prospect::Watched(cover) => Some(cover.as_ref()),
        };
        match journal.begin(subject, cover, limit) {
            Ok(act) => Ok(act),
            // It was allowed as something that can't be undone.
            Err(_) if cover.is_some_and(|cover| cover.not_undoable().is_some()) => Ok(Act::default()),
            Err(error) => Err(Box::new(Record {
                measures: false,
                ..Record::hindered(format!("it could not be made undoable, so it was not done: {error}"))
            })),
        }
    }
}
