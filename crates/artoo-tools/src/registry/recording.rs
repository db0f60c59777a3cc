//! What a call changes, kept for undo: told before it is asked about, recorded while it is done.

use artoo_proto::EffectClass;

use crate::call::CallContext;
use crate::limit::Limit;
use crate::record::Record;
use crate::registry::job::Job;
use crate::registry::{Inner, Instead, Registry, Watch};
use crate::undo::{Act, Cover, Subject};

/// Whether what a call changes can be undone.
#[derive(Debug, Clone)]
pub(super) enum Prospect {
    /// It changes nothing.
    ReadOnly,
    /// Every step is noted before it is made.
    Noted,
    /// What stands in the places it may change is kept first, or is too much to be kept.
    Watched(Box<Cover>),
    /// Nothing is kept in this run.
    Unkept,
}

impl Prospect {
    /// What a person is told, after "it".
    pub(super) fn said(&self) -> Option<String> {
        match self {
            Self::ReadOnly => None,
            Self::Noted => Some("can be undone with artoo undo".to_owned()),
            Self::Watched(cover) => Some(cover.said()),
            Self::Unkept => Some("is not undoable: nothing is kept for undo in this run".to_owned()),
        }
    }

    /// What a yes is also for: who allowed an act that can be undone did not allow one that can't.
    pub(super) fn term(&self) -> &'static str {
        match self {
            Self::Watched(cover) if cover.not_undoable().is_some() => "not undoable",
            Self::Unkept => "not undoable",
            Self::ReadOnly | Self::Noted | Self::Watched(_) => "undoable",
        }
    }
}

impl Registry {
    /// Looks at what could be undone of a call.
    pub(super) async fn prospect(&self, context: &CallContext, job: &Job, watch: &Watch) -> Result<Prospect, Instead> {
        if job.class() == EffectClass::ReadOnly {
            return Ok(Prospect::ReadOnly);
        }
        if self.inner.journal.is_none() || context.task_id.is_none() {
            return Ok(Prospect::Unkept);
        }
        let Job::Shell(command) = job else { return Ok(Prospect::Noted) };
        let (inner, may_change) = (self.inner.clone(), command.may_change(&self.inner.config.environment));
        let survey = move |limit: &Limit| inner.journal.as_ref().map(|journal| journal.survey(&may_change, limit));
        let cover = watch.blocking(survey).await?;
        Ok(cover.map_or(Prospect::Unkept, |cover| Prospect::Watched(Box::new(cover))))
    }
}

impl Inner {
    /// Begins the recording of a call; what can't be recorded although that was said is not done.
    pub(super) fn begin(
        &self,
        context: &CallContext,
        what: &str,
        prospect: &Prospect,
        limit: &Limit,
    ) -> Result<Act, Record> {
        let (Some(journal), Some(task)) = (&self.journal, &context.task_id) else { return Ok(Act::default()) };
        let subject = Subject { task, tool: &context.request.tool, what };
        let cover = match prospect {
            Prospect::ReadOnly | Prospect::Unkept => return Ok(Act::default()),
            Prospect::Noted => None,
            Prospect::Watched(cover) => Some(cover.as_ref()),
        };
        match journal.begin(subject, cover, limit) {
            Ok(act) => Ok(act),
            // It was allowed as something that can't be undone.
            Err(_) if cover.is_some_and(|cover| cover.not_undoable().is_some()) => Ok(Act::default()),
            Err(error) => Err(Record {
                measures: false,
                ..Record::hindered(format!("it could not be made undoable, so it was not done: {error}"))
            }),
        }
    }
}

#[cfg(test)]
impl Registry {
    /// A recording of an act that a test does by hand.
    pub(crate) fn begin_for_test(&self, tool: &str) -> Act {
        let task = crate::tests::task();
        let subject = Subject { task: &task, tool, what: "by hand" };
        let limit = Limit::after(std::time::Duration::from_secs(5));
        self.inner.journal.as_ref().unwrap().begin(subject, None, &limit).unwrap()
    }
}
