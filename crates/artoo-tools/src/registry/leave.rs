//! Whose leave a call needs, whether there is one already, and what a person is asked where there is none.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use artoo_proto::{ConsentHash, ConsentOffers, ConsentScope, Leave, Timestamp};

use super::job::{Job, Question};
use super::{Inner, Instead, Registry, SHOWN_TEXT_MAX_CHARS, Watch, refused};
use crate::call::CallContext;
use crate::consent::{self, Cover, Footprint, Grant, Reach, Subject, survey};
use crate::record::Record;
use crate::rules::Bounds;

/// Lines that say what a wider yes would cover; more can't be taken in at a glance.
const COVERS_SHOWN: usize = 8;

impl Registry {
    /// Passes when nobody must be asked, when leave was given before, or when the grant holds for exactly this call.
    pub(super) async fn leave(
        &self,
        context: &CallContext,
        job: &Job,
        footprint: Option<&Footprint>,
        grant: Option<Grant>,
        watch: &Watch,
    ) -> Result<Option<Leave>, Instead> {
        // A no holds for the effect, however the call is spelled, and also where nobody would have to be asked.
        if let Some(what) = footprint.and_then(|made| self.inner.tasks.refusal(&context.task_id, made)) {
            return Err(refused(&format!("it was refused before in this task: {what}")));
        }
        let Some(mut question) = job.question(context.confirm) else { return Ok(None) };
        let reach = footprint.and_then(Footprint::reach);
        let tool = context.request.tool.as_str();
        if grant.is_none() {
            if reach.is_some_and(|reach| self.inner.tasks.allows(&context.task_id, tool, reach)) {
                return Ok(Some(Leave::Task));
            }
            if let Some(id) = self.ruled(context, reach, &mut question, watch).await? {
                return Ok(Some(Leave::Rule { id }));
            }
        }
        let hash = self.hash(tool, job, &question, watch).await?;
        let Some(grant) = grant else {
            question.hash = hash;
            return Err(self.question(context, job, footprint.cloned(), question, watch).await?);
        };
        let scope = grant
            .redeem(&hash)
            .map_err(|problem| Instead::Record(Record::denied(&problem.to_string()).class(job.class())))?;
        self.taken(context, reach.cloned(), scope, watch).await.map(Some)
    }

    async fn hash(&self, tool: &str, job: &Job, question: &Question, watch: &Watch) -> Result<ConsentHash, Instead> {
        let program = job.program(&self.inner.config).unwrap_or_default();
        let inner = Arc::clone(&self.inner);
        let (tool, text, files) = (tool.to_owned(), question.text.clone(), question.files.clone());
        watch.blocking(move |limit| inner.consent_hash(&tool, &text, &program, &files, limit)).await
    }

    /// The rule under which the call passes. Memory's Caution is not answered by a rule: it asks.
    async fn ruled(
        &self,
        context: &CallContext,
        reach: Option<&Reach>,
        question: &mut Question,
        watch: &Watch,
    ) -> Result<Option<String>, Instead> {
        let (Some(reach), false) = (reach.cloned(), context.confirm) else { return Ok(None) };
        let (inner, tool) = (Arc::clone(&self.inner), context.request.tool.clone());
        let found = watch.blocking(move |_| {
            let Some(book) = &inner.rules else { return Ok(None) };
            book.permit(&tool, &reach, &inner.bounds(), now())
        });
        match found.await? {
            Ok(id) => Ok(id),
            Err(problem) => {
                question.reason.push_str(&format!("; your rules are not used: {problem}"));
                Ok(None)
            }
        }
    }

    /// The question with what the call would touch and what wider answers would cover.
    async fn question(
        &self,
        context: &CallContext,
        job: &Job,
        footprint: Option<Footprint>,
        mut question: Question,
        watch: &Watch,
    ) -> Result<Instead, Instead> {
        let (inner, confirm) = (Arc::clone(&self.inner), context.confirm);
        let looked = footprint.clone();
        let look = move |_: &_| looked.map(|made| (touched(&made), inner.offers(&made, confirm))).unwrap_or_default();
        let (touched, offers) = watch.blocking(look).await?;
        question.effects.extend(touched);
        question.effects.extend([job.network(), job.undoable().to_owned()]);
        question.offers = offers;
        if let Some(footprint) = footprint {
            self.inner.tasks.asked(&context.task_id, &question.hash, footprint);
        }
        Ok(Instead::Question(Box::new(question.into_outcome(SHOWN_TEXT_MAX_CHARS))))
    }

    /// A yes is used up; a wide one is kept as far as it was offered. What can't be kept still holds this once.
    async fn taken(
        &self,
        context: &CallContext,
        reach: Option<Reach>,
        scope: ConsentScope,
        watch: &Watch,
    ) -> Result<Leave, Instead> {
        let Some(reach) = reach else { return Ok(Leave::Once) };
        match scope {
            ConsentScope::Once => Ok(Leave::Once),
            ConsentScope::Task => {
                self.inner.tasks.allow(&context.task_id, &context.request.tool, &reach);
                Ok(Leave::Task)
            }
            ConsentScope::Path { days } => {
                let (inner, tool, confirm) = (Arc::clone(&self.inner), context.request.tool.clone(), context.confirm);
                let written = watch.blocking(move |_| {
                    let covers = if confirm { Vec::new() } else { inner.bounds().offer(&reach) };
                    inner.rules.as_ref().and_then(|book| book.add(&tool, covers, days, now()).ok())
                });
                Ok(written.await?.map_or(Leave::Once, |id| Leave::Rule { id }))
            }
        }
    }
}

impl Inner {
    fn consent_hash(
        &self,
        tool: &str,
        text: &str,
        program: &Path,
        files: &[PathBuf],
        limit: &crate::limit::Limit,
    ) -> ConsentHash {
        let (cwd, environment) = (&self.config.environment.cwd, &self.child_environment);
        consent::hash(&Subject { tool, text, program, cwd, environment, files }, limit)
    }

    fn bounds(&self) -> Bounds<'_> {
        Bounds { environment: &self.config.environment, protected: &self.protected }
    }

    /// Wider answers than once: only where every effect is known.
    fn offers(&self, footprint: &Footprint, confirm: bool) -> ConsentOffers {
        let Some(reach) = footprint.reach() else { return ConsentOffers::default() };
        let has_rules = !confirm && self.rules.as_ref().is_some_and(|book| book.list(now()).is_ok());
        let path = if has_rules { self.bounds().offer(reach) } else { Vec::new() };
        ConsentOffers { task: in_words(&reach.covers()), path: in_words(&path) }
    }
}

fn in_words(covers: &[Cover]) -> Vec<String> {
    let mut words: Vec<String> = covers.iter().take(COVERS_SHOWN).map(Cover::in_words).collect();
    if covers.len() > COVERS_SHOWN {
        words.push(format!("and {} more of the same call", covers.len() - COVERS_SHOWN));
    }
    words
}

/// What stands at the places a command names, in numbers; a tool whose effects are known tells its own.
fn touched(footprint: &Footprint) -> Option<String> {
    match footprint {
        Footprint::Known(_) => None,
        Footprint::Named { named, .. } => survey(&named.places).in_words("names, and may touch,"),
    }
}

/// The wall clock: a real edge, since rules are for days and survive the process.
pub(super) fn now() -> Timestamp {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since_1970.as_millis()).unwrap_or(i64::MAX))
}
