//! Decides whether the changes of a call can be undone, and starts the journal entry that makes that possible.

use crate::effects::{CallEffects, UndoMethod};
use crate::limit::Limit;
use crate::record::Record;
use crate::texts;
use crate::tool::Machine;
use crate::undo::{Act, Subject, UndoSurvey};

/// Whether and how the changes of a call can be undone: read-only, by steps, by commit, by a snapshot, or never.
#[derive(Debug, Clone)]
pub(crate) enum Undoability {
    /// The call changes nothing.
    ReadOnly,
    /// Each step is written to the journal before it is made.
    Steps,
    /// The paths that the call may change are copied first, unless they are too large.
    Snapshot(Box<UndoSurvey>),
    /// The changes are known before they are made, and the commit is journaled.
    Commit,
    /// Nothing is saved.
    Never,
}

impl Undoability {
    /// Finds out how the changes of a call could be undone; reads the files that it may change if they have to be
    /// copied.
    pub(super) fn of(machine: &Machine, effects: &CallEffects, limit: &Limit) -> Self {
        match (&machine.journal, &effects.undo) {
            _ if effects.is_read_only() => Self::ReadOnly,
            (None, _) | (_, UndoMethod::None) => Self::Never,
            (Some(_), UndoMethod::Steps) => Self::Steps,
            (Some(_), UndoMethod::Commit) => Self::Commit,
            (Some(journal), UndoMethod::Snapshot(paths)) => Self::Snapshot(Box::new(journal.survey(paths, limit))),
        }
    }

    /// The end of a sentence with the subject "it" that tells the user whether the call can be undone; `None` for a
    /// read-only call.
    pub(super) fn message(&self) -> Option<String> {
        match self {
            Self::ReadOnly => None,
            Self::Steps | Self::Commit => Some(texts::UNDOABLE.to_owned()),
            Self::Snapshot(survey) => Some(survey.message()),
            Self::Never => Some(texts::NOTHING_KEPT.to_owned()),
        }
    }

    /// "undoable" (also for a read-only call) or "not undoable" as a part of the consent digest, so that an approval of
    /// an undoable change covers no other.
    pub(super) fn term(&self) -> &'static str {
        match self {
            Self::Snapshot(survey) if survey.not_undoable().is_some() => "not undoable",
            Self::Never => "not undoable",
            Self::ReadOnly | Self::Steps | Self::Commit | Self::Snapshot(_) => "undoable",
        }
    }

    /// Starts the undo journal entry of a call; an empty act if it needs none. `Err` is the record if a call that was
    /// to be undoable can't have one.
    pub(super) fn begin(&self, machine: &Machine, subject: Subject<'_>, limit: &Limit) -> Result<Act, Box<Record>> {
        let Some(journal) = &machine.journal else { return Ok(Act::default()) };
        let survey = match self {
            Self::ReadOnly | Self::Commit | Self::Never => return Ok(Act::default()),
            Self::Steps => None,
            Self::Snapshot(survey) => Some(survey.as_ref()),
        };
        match journal.begin(subject, survey, limit) {
            Ok(act) => Ok(act),
            // The call was approved as one that can't be undone.
            Err(_) if survey.is_some_and(|survey| survey.not_undoable().is_some()) => Ok(Act::default()),
            Err(error) => Err(Box::new(Record {
                measures: false,
                ..Record::hindered(format!("it could not be made undoable, so it was not done: {error}"))
            })),
        }
    }
}

#[cfg(test)]
impl crate::Registry {
    /// Starts a journal entry for a change that a test makes by hand.
    pub(crate) fn begin_for_test(&self, tool: &str) -> Act {
        let task = crate::tests::task();
        let subject = Subject { task: &task, tool, call: "e1", what: "by hand" };
        let limit = Limit::after(std::time::Duration::from_secs(5));
        self.machine().journal.as_ref().unwrap().begin(subject, None, &limit).unwrap()
    }
}
