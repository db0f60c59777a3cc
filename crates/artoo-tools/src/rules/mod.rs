//! Rules: approvals that last until a date, each for one tool, its actions and its folders.
//!
//! A rule is read when a call needs approval, so a rule that expired or was revoked has no effect. No rule covers
//! protected or hidden paths, or the home folder as a whole.

mod file;

use std::io;
use std::path::{Path, PathBuf};

use artoo_proto::{Environment, Timestamp};
use serde::{Deserialize, Serialize};

use crate::consent::scope::{self, ApprovalScope};
use crate::effects::EffectSet;
use crate::paths;
use crate::protect::Protected;

use file::Locked;

/// Maximum number of rules, which are approvals that hold until a date; the user reads all of them.
#[doc(alias = "limit")]
const RULES_MAX: usize = 100;

/// Longest lifetime of a rule in days.
#[doc(alias = "limit")]
pub const RULE_MAX_DAYS: u32 = 30;

/// Maximum number of folders of one rule; the user reads each of them.
const FOLDERS_MAX: usize = 4;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// A stored approval that lasts until a date, for one tool and some folders.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Id, never used twice.
    pub id: String,
    /// The tool it is for.
    pub tool: String,
    #[serde(rename = "covers")]
    scopes: Vec<ApprovalScope>,
    /// When it was made.
    pub since: Timestamp,
    /// When it expires.
    pub until: Timestamp,
    /// When it last permitted a call.
    pub last_used: Option<Timestamp>,
}

impl Rule {
    /// The actions and folders that the rule approves, as text for the user, one line each.
    #[must_use]
    pub fn in_words(&self) -> Vec<String> {
        self.scopes.iter().map(ApprovalScope::message).collect()
    }

    /// Whether the rule is neither expired nor from the future.
    fn is_valid_at(&self, now: Timestamp) -> bool {
        // If the clock is set back to before the rule was made, the rule must not be valid for longer.
        self.since <= now && now < self.until
    }
}

/// Why the rules can't be used, or a rule can't be added.
#[derive(Debug, thiserror::Error)]
pub enum RuleProblem {
    /// A system call failed.
    #[error("{path} can't be used")]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        #[source]
        source: io::Error,
    },
    /// The file is not a plain file of this user, or others can write it or its folder.
    #[error("{path} is refused: {why}; run chmod 600 on it, or remove it to start without rules")]
    NotOwn {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: &'static str,
    },
    /// The file is not valid.
    #[error("{path} is refused; correct it, or remove it to start without rules")]
    Form {
        /// The file.
        path: PathBuf,
        /// The error of the parser.
        #[source]
        source: serde_json::Error,
    },
    /// There are too many rules.
    #[error("there are {RULES_MAX} rules already; revoke some with `artoo rules revoke`")]
    Full,
    /// No rule may cover these effects.
    #[error("no rule can cover this")]
    NotCoverable,
}

/// The approval rules that are stored in one data folder.
#[derive(Debug, Clone)]
pub struct RuleBook {
    folder: PathBuf,
}

impl RuleBook {
    /// The approval rules of this data folder; their file may be missing.
    #[must_use]
    pub fn new(data_dir: impl Into<PathBuf>) -> Self {
        Self { folder: data_dir.into() }
    }

    /// The path of the file in which the approval rules are stored.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        file::path(&self.folder)
    }

    /// The approval rules that are valid now, oldest first. Changes nothing.
    ///
    /// # Errors
    /// [`RuleProblem`] if the file can't be read, is not valid, or other users can write it.
    pub fn list(&self, now: Timestamp) -> Result<Vec<Rule>, RuleProblem> {
        let mut rules = file::read(&self.folder)?.rules;
        rules.retain(|rule| rule.is_valid_at(now));
        Ok(rules)
    }

    /// Revokes a rule and returns it; `None` if no valid rule has this id.
    ///
    /// # Errors
    /// [`RuleProblem`] if the file can't be read or written, is not valid, or other users can write it.
    pub fn revoke(&self, id: &str, now: Timestamp) -> Result<Option<Rule>, RuleProblem> {
        let mut book = Locked::open(&self.folder, now)?;
        let at = book.content.rules.iter().position(|rule| rule.id == id);
        let revoked = at.map(|at| book.content.rules.remove(at));
        book.save()?;
        Ok(revoked)
    }

    /// Adds a rule for `days`, at least 1 and at most [`RULE_MAX_DAYS`], and returns its id; an error if `scopes` is
    /// empty or there are too many rules.
    pub(crate) fn add(
        &self,
        tool: &str,
        scopes: Vec<ApprovalScope>,
        days: u32,
        now: Timestamp,
    ) -> Result<String, RuleProblem> {
        if scopes.is_empty() {
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
            scopes,
            since: now,
            until,
            last_used: None,
        });
        book.save()?;
        Ok(id)
    }

    /// The id of a valid rule that permits these effects to the tool; its use is recorded in the file. `None` if there
    /// is none.
    pub(crate) fn permit(
        &self,
        tool: &str,
        changes: &EffectSet,
        bounds: &Bounds<'_>,
        now: Timestamp,
    ) -> Result<Option<String>, RuleProblem> {
        let covers = |rule: &Rule| rule.tool == tool && scope::covers(rule.scopes.iter(), changes);
        if !bounds.permit(changes) || !self.list(now)?.iter().any(covers) {
            return Ok(None);
        }
        // Checked again under the lock: it may have been revoked.
        let mut book = Locked::open(&self.folder, now)?;
        let Some(rule) = book.content.rules.iter_mut().find(|rule| covers(rule)) else { return Ok(None) };
        rule.last_used = Some(now);
        let id = rule.id.clone();
        book.save()?;
        Ok(Some(id))
    }
}

/// The environment and the protected places, which limit the paths that approval rules may cover.
pub(crate) struct Bounds<'a> {
    pub(crate) environment: &'a Environment,
    pub(crate) protected: &'a Protected,
}

impl Bounds<'_> {
    /// Folders for which the user may be offered a rule that permits these effects; empty if no rule may cover them, or
    /// they are more than [`FOLDERS_MAX`].
    pub(crate) fn offer(&self, changes: &EffectSet) -> Vec<ApprovalScope> {
        let folders = scope::folders(changes);
        let is_usable = |scope: &ApprovalScope| scope.path.to_str().is_some() && self.is_open(&scope.path, true);
        if folders.len() > FOLDERS_MAX || !folders.iter().all(is_usable) || !self.permit(changes) {
            return Vec::new();
        }
        folders
    }

    /// Whether a rule may cover the path of each of these effects: none is hidden, protected, or outside home and
    /// workspace.
    fn permit(&self, changes: &EffectSet) -> bool {
        changes.iter().all(|effect| self.is_open(&effect.path, effect.is_recursive))
    }

    /// Whether a rule may cover a path: below the home folder or in the workspace, not hidden, and with nothing
    /// protected at it (or below it, if recursive).
    fn is_open(&self, path: &Path, is_recursive: bool) -> bool {
        let home = paths::real(Path::new(&self.environment.home));
        let workspace = paths::real(Path::new(&self.environment.workspace));
        let is_inside = [(&home, false), (&workspace, true)].into_iter().any(|(root, is_itself)| {
            path.strip_prefix(root).is_ok_and(|rest| {
                let is_hidden = rest.components().any(|part| paths::is_hidden(part.as_os_str()));
                !is_hidden && (is_itself || rest.components().next().is_some())
            })
        });
        is_inside && self.protected.refusal(path).is_none() && !(is_recursive && self.protected.lies_below(path))
    }
}
