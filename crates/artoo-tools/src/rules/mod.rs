//! Rules: a person's yes that lasts, for a tool, what it does and the folders it does it in, until a date.
//!
//! A rule is looked up when a call is about to be asked about, so one that has ended or was revoked meanwhile counts
//! for nothing. It never reaches a protected or hidden place, nor the home folder as a whole, whatever it says.

mod file;

use std::io;
use std::path::{Path, PathBuf};

use artoo_proto::{Environment, Timestamp};
use serde::{Deserialize, Serialize};

use crate::consent::{Cover, Reach};
use crate::paths;
use crate::protect::Protected;

use file::Locked;

/// Rules kept at a time; a person who has more has lost sight of them.
#[doc(alias = "limit")]
const RULES_MAX: usize = 100;

/// Longest life of a rule: what is forgotten by then should be asked about again.
#[doc(alias = "limit")]
pub const RULE_MAX_DAYS: u32 = 30;

/// Folders one rule may name; more can't be taken in at a glance.
const FOLDERS_MAX: usize = 4;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// A yes that lasts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Short, never used twice.
    pub id: String,
    /// The tool it is for.
    pub tool: String,
    covers: Vec<Cover>,
    /// When it was given.
    pub since: Timestamp,
    /// From when on it holds no more.
    pub until: Timestamp,
    /// When a call last passed under it.
    pub last_used: Option<Timestamp>,
}

impl Rule {
    /// What it covers, a line each, on one line each.
    #[must_use]
    pub fn in_words(&self) -> Vec<String> {
        self.covers.iter().map(Cover::in_words).collect()
    }

    fn holds_at(&self, now: Timestamp) -> bool {
        // A clock set back must not make a rule older than its own beginning valid for longer than it was given.
        self.since <= now && now < self.until
    }
}

/// Why the rules can't be used; then none of them holds.
#[derive(Debug, thiserror::Error)]
pub enum RuleProblem {
    /// The system refused.
    #[error("{path} can't be used")]
    Io {
        /// Which file.
        path: PathBuf,
        /// What it said.
        #[source]
        source: io::Error,
    },
    /// Somebody else could have written it.
    #[error("{path} is refused: {why}; make it yours alone (mode 0600), or remove it to start without rules")]
    NotOwn {
        /// Which file or folder.
        path: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// It is not what is written here.
    #[error("{path} is refused whole; put it right or remove it to start without rules")]
    Form {
        /// Which file.
        path: PathBuf,
        /// What does not fit.
        #[source]
        source: serde_json::Error,
    },
    /// There are too many.
    #[error("there are {RULES_MAX} rules already; revoke some with `artoo rules revoke`")]
    Full,
    /// What is to be covered can't be.
    #[error("no rule can cover this")]
    NotCoverable,
}

/// The rules of one data folder.
#[derive(Debug, Clone)]
pub struct RuleBook {
    folder: PathBuf,
}

impl RuleBook {
    /// The book in this data folder; there need not be one yet.
    #[must_use]
    pub fn new(data_dir: impl Into<PathBuf>) -> Self {
        Self { folder: data_dir.into() }
    }

    /// Where the rules stand.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        file::path(&self.folder)
    }

    /// The rules that hold now, oldest first. Changes nothing.
    ///
    /// # Errors
    /// [`RuleProblem`] when the file can't be read or is not to be trusted.
    pub fn list(&self, now: Timestamp) -> Result<Vec<Rule>, RuleProblem> {
        let mut rules = file::read(&self.folder)?.rules;
        rules.retain(|rule| rule.holds_at(now));
        Ok(rules)
    }

    /// Takes a rule back and gives what it was; `None` where none of this id holds.
    ///
    /// # Errors
    /// [`RuleProblem`] when the file can't be read, trusted or written.
    pub fn revoke(&self, id: &str, now: Timestamp) -> Result<Option<Rule>, RuleProblem> {
        let mut book = Locked::open(&self.folder, now)?;
        let at = book.content.rules.iter().position(|rule| rule.id == id);
        let revoked = at.map(|at| book.content.rules.remove(at));
        book.save()?;
        Ok(revoked)
    }

    /// Writes a rule down and gives its id.
    pub(crate) fn add(&self, tool: &str, covers: Vec<Cover>, days: u32, now: Timestamp) -> Result<String, RuleProblem> {
        if covers.is_empty() {
            return Err(RuleProblem::NotCoverable);
        }
        let mut book = Locked::open(&self.folder, now)?;
        if book.content.rules.len() >= RULES_MAX {
            return Err(RuleProblem::Full);
        }
        let until = now.plus_millis(i64::from(days.clamp(1, RULE_MAX_DAYS)) * DAY_MS);
        let id = book.next_id();
        book.content.rules.push(Rule {
            id: id.clone(),
            tool: tool.to_owned(),
            covers,
            since: now,
            until,
            last_used: None,
        });
        book.save()?;
        Ok(id)
    }

    /// The rule under which a call may be made without asking, its use noted; `None` where there is none.
    pub(crate) fn permit(
        &self,
        tool: &str,
        reach: &Reach,
        bounds: &Bounds<'_>,
        now: Timestamp,
    ) -> Result<Option<String>, RuleProblem> {
        let covers = |rule: &Rule| rule.tool == tool && reach.is_within(rule.covers.iter());
        if !bounds.permit(reach) || !self.list(now)?.iter().any(covers) {
            return Ok(None);
        }
        // Again under the lock: it may have been revoked meanwhile.
        let mut book = Locked::open(&self.folder, now)?;
        let Some(rule) = book.content.rules.iter_mut().find(|rule| covers(rule)) else { return Ok(None) };
        rule.last_used = Some(now);
        let id = rule.id.clone();
        book.save()?;
        Ok(Some(id))
    }
}

/// Where rules may reach at all.
pub(crate) struct Bounds<'a> {
    pub(crate) environment: &'a Environment,
    pub(crate) protected: &'a Protected,
}

impl Bounds<'_> {
    /// The folders a rule for this call would cover; empty where none can.
    pub(crate) fn offer(&self, reach: &Reach) -> Vec<Cover> {
        let folders = reach.folders();
        let is_usable = |cover: &Cover| cover.path.to_str().is_some() && self.is_open(&cover.path, true);
        if folders.len() > FOLDERS_MAX || !folders.iter().all(is_usable) || !self.permit(reach) {
            return Vec::new();
        }
        folders
    }

    /// Whether each place is one a rule may reach.
    fn permit(&self, reach: &Reach) -> bool {
        reach.deeds().all(|deed| self.is_open(&deed.path, deed.whole))
    }

    /// Below the home folder or the workspace, on no hidden path, neither protected nor around something protected.
    fn is_open(&self, path: &Path, whole: bool) -> bool {
        let home = paths::real(Path::new(&self.environment.home));
        let workspace = paths::real(Path::new(&self.environment.workspace));
        let is_inside = [(&home, false), (&workspace, true)].into_iter().any(|(root, is_itself)| {
            path.strip_prefix(root).is_ok_and(|rest| {
                let is_hidden = rest.components().any(|part| paths::is_hidden(part.as_os_str()));
                !is_hidden && (is_itself || rest.components().next().is_some())
            })
        });
        is_inside && self.protected.refusal(path).is_none() && !(whole && self.protected.lies_below(path))
    }
}
