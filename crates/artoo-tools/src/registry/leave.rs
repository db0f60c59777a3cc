//! Whose leave a call needs, whether there is one already, and what a person is asked where there is none.

use std::sync::Arc;
use std::time::SystemTime;

use artoo_proto::{Approval, ConsentHash, ConsentOffers, ConsentScope, Timestamp, ToolOrder, ToolOutcome, escape};

use super::{Instead, Registry, refused};
use crate::consent::{self, Cover, Footprint, Grant, Reach, Subject, survey};
use crate::limit::Limit;
use crate::record::Record;
use crate::recording::Prospect;
use crate::rules::Bounds;
use crate::tool::{Job, Machine, Question, Said, Watch};

/// Characters of a new file's text shown when its making is asked about.
const SHOWN_TEXT_MAX_CHARS: usize = 2000;

/// Lines that say what a wider yes would cover; more can't be taken in at a glance.
const COVERS_SHOWN: usize = 8;

/// A call that may need somebody's leave.
pub(super) struct Asking<'a> {
    pub(super) context: &'a ToolOrder,
    /// The task in the person's own words.
    pub(super) said: &'a str,
    pub(super) job: &'a dyn Job,
    pub(super) footprint: Option<&'a Footprint>,
    pub(super) prospect: &'a Prospect,
    pub(super) watch: Watch,
}

impl Asking<'_> {
    fn tool(&self) -> &str {
        &self.context.request.tool
    }

    fn reach(&self) -> Option<&Reach> {
        self.footprint.and_then(Footprint::reach)
    }
}

impl Registry {
    /// Passes when nobody must be asked, when leave was given before, or when the grant holds for exactly this call.
    pub(super) async fn leave(&self, asking: &Asking<'_>, grant: Option<Grant>) -> Result<Option<Approval>, Instead> {
        let (tasks, task_id) = (&self.machine.tasks, &asking.context.task_id);
        // A no holds for the effect, however the call is spelled, and also where nobody would have to be asked.
        if let Some(what) = asking.footprint.and_then(|made| tasks.refusal(task_id, made)) {
            return Err(refused(&format!("it was refused before in this task: {what}")));
        }
        let said = Said { confirm: asking.context.confirm, words: asking.said };
        let Some(mut question) = asking.job.question(&self.machine, &said) else { return Ok(None) };
        if grant.is_none() {
            if asking.reach().is_some_and(|reach| tasks.allows(task_id, asking.tool(), reach)) {
                return Ok(Some(Approval::Task));
            }
            if let Some(id) = self.ruled(asking, &mut question).await? {
                return Ok(Some(Approval::Rule { id }));
            }
        }
        let (hash, question) = self.hash(asking, question).await?;
        let Some(grant) = grant else { return Err(self.question(asking, hash, question).await?) };
        let scope = grant
            .redeem(&hash)
            .map_err(|problem| Instead::Record(Record::denied(&problem.to_string()).class(asking.job.class())))?;
        self.taken(asking, scope).await.map(Some)
    }

    async fn hash(&self, asking: &Asking<'_>, question: Question) -> Result<(ConsentHash, Question), Instead> {
        let (machine, tool, term) = (Arc::clone(&self.machine), asking.tool().to_owned(), asking.prospect.term());
        let hash = move |limit: &Limit| (machine.consent_hash(&tool, &question, term, limit), question);
        Ok(asking.watch.blocking(hash).await?)
    }

    /// The rule under which the call passes. Memory's Caution is not answered by a rule: it asks.
    async fn ruled(&self, asking: &Asking<'_>, question: &mut Question) -> Result<Option<String>, Instead> {
        let (Some(reach), false) = (asking.reach().cloned(), asking.context.confirm) else { return Ok(None) };
        let (machine, tool) = (Arc::clone(&self.machine), asking.tool().to_owned());
        let found = asking.watch.blocking(move |_| {
            let Some(book) = &machine.rules else { return Ok(None) };
            book.permit(&tool, &reach, &machine.bounds(), now())
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
        asking: &Asking<'_>,
        hash: ConsentHash,
        mut question: Question,
    ) -> Result<Instead, Instead> {
        let (machine, confirm, looked) = (Arc::clone(&self.machine), asking.context.confirm, asking.footprint.cloned());
        let look = move |_: &_| looked.map(|made| (touched(&made), machine.offers(&made, confirm))).unwrap_or_default();
        let (touched, offers) = asking.watch.blocking(look).await?;
        let network = asking.job.network(&self.machine);
        question.effects.extend(touched.into_iter().chain([network]).chain(asking.prospect.said()));
        if let Some(footprint) = asking.footprint {
            self.machine.tasks.asked(&asking.context.task_id, &hash, footprint.clone());
        }
        Ok(Instead::Question(Box::new(asked(hash, question, offers))))
    }

    /// A yes is used up; a wide one is kept as far as it was offered. What can't be kept still holds this once.
    async fn taken(&self, asking: &Asking<'_>, scope: ConsentScope) -> Result<Approval, Instead> {
        let Some(reach) = asking.reach().cloned() else { return Ok(Approval::Once) };
        match scope {
            ConsentScope::Once => Ok(Approval::Once),
            ConsentScope::Task => {
                self.machine.tasks.allow(&asking.context.task_id, asking.tool(), &reach);
                Ok(Approval::Task)
            }
            ConsentScope::Path { days } => {
                let (machine, tool) = (Arc::clone(&self.machine), asking.tool().to_owned());
                let confirm = asking.context.confirm;
                let written = asking.watch.blocking(move |_| {
                    let covers = if confirm { Vec::new() } else { machine.bounds().offer(&reach) };
                    machine.rules.as_ref().and_then(|book| book.add(&tool, covers, days, now()).ok())
                });
                Ok(written.await?.map_or(Approval::Once, |id| Approval::Rule { id }))
            }
        }
    }
}

impl Machine {
    /// A yes is for the bytes that are shown, and for whether it can be undone.
    fn consent_hash(&self, tool: &str, question: &Question, term: &str, limit: &Limit) -> ConsentHash {
        let Question { text, program, files, .. } = question;
        let (cwd, environment) = (&self.config.environment.cwd, &self.child_environment);
        let text = &format!("{text}\0{term}");
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

/// The question as an outcome. A command is shown whole; only a file's text is shortened, and says so.
fn asked(hash: ConsentHash, question: Question, offers: ConsentOffers) -> ToolOutcome {
    let Question { text, shown, effects, reason, .. } = question;
    let shown = if shown == text { shown } else { escape::shorten(&shown, SHOWN_TEXT_MAX_CHARS) };
    ToolOutcome::NeedsConsent { hash, shown, effects, reason, offers }
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
    SystemTime::now().into()
}
