//! Pending changes of a program that ran in a view.

use artoo_proto::CallStatus;

use super::request::NewFolder;
use crate::change::{ChangeSet, CommitError, Committed, commit};
use crate::limit::Limit;
use crate::paths;
use crate::record::Record;
use crate::tool::{Machine, Source, Staged};
use crate::view::View;
use std::sync::Arc;

/// Changes in the layers of a view that wait for approval, with what is needed to commit them.
#[derive(Debug)]
pub(super) struct StagedChanges {
    pub(super) set: ChangeSet,
    /// The record of the program.
    pub(super) record: Record,
    pub(super) source: Source,
    /// The layers are deleted with it.
    pub(super) view: Arc<View>,
    /// Whether the program is known to have had no other effects.
    pub(super) is_all: bool,
    pub(super) workspace: Option<Arc<NewFolder>>,
}

impl Staged for StagedChanges {
    fn commit(self: Box<Self>, machine: &Machine, limit: &Limit) -> Record {
        let Self { set, record, source, view, is_all, workspace: _workspace } = *self;
        let failed = |why: String| Record {
            status: CallStatus::Failed,
            text: format!("{}\n[{why}]", record.text),
            environmental: true,
            measures: false,
            ..record.clone()
        };
        let Some(journal) = &machine.journal else {
            return failed("there is no undo journal, so nothing was committed".to_owned());
        };
        let committed = commit(journal, source.subject(), &machine.protected, &set, limit);
        drop(view);
        match committed {
            Ok(Committed { changes, stopped: None }) => record.with_changes(Ok(changes), is_all),
            Ok(Committed { changes, stopped: Some(stopped) }) => {
                let at = paths::line(&stopped.path);
                let why = format!("not all of its changes were made: {at}: {}", stopped.reason);
                failed(why).with_changes(Ok(changes), is_all)
            }
            Err(CommitError::Unended(error)) => record.with_changes(Err(error), is_all),
            Err(error) => failed(error.to_string()),
        }
    }
}
