//! Compares git repositories with the git steps of a request.

use std::path::Path;

use artoo_proto::ToolCall;

use super::compare::StepResult;
use super::records::Records;
use crate::algebra::GitAction;
use crate::eval::{EntryKind, FileSystem};
use crate::repository::{data, field, fields, head, object, value};

/// The other git steps of a request on the same repository: how many commits and switches come before and after.
#[derive(Default)]
pub(super) struct GitContext {
    /// The number of commits by earlier steps.
    pub(super) commits_before: usize,
    /// The number of commits by all steps until a later step checks out another branch.
    pub(super) commits: usize,
    /// Whether any step checks out an existing branch.
    pub(super) switches: bool,
    /// Whether an earlier step checks out an existing branch.
    pub(super) switches_before: bool,
    /// Whether a later step checks out an existing or a new branch.
    pub(super) switches_later: bool,
    /// The new branch that an earlier step creates and checks out.
    pub(super) made: Option<String>,
    /// Whether a part of the request is not read; it may ask for further changes.
    pub(super) is_partial: bool,
}

impl GitContext {
    /// The result for a state that the step doesn't ask for: refuted, unless an unread part of the request may ask for
    /// it.
    pub(super) fn unexpected(&self, why: impl Into<String>) -> StepResult {
        if self.is_partial { StepResult::not_shown(why) } else { StepResult::refuted(why) }
    }
}

/// The current commit, the current branch, and the ref that an action creates or checks out (for an init or a commit,
/// whether there is a repository), separated by spaces.
pub(super) fn snapshot(folder: &str, action: &GitAction, fs: &dyn FileSystem) -> String {
    let data = data(folder, fs);
    let is_there = fs.metadata(&data).is_ok_and(|entry| entry.kind == EntryKind::Folder);
    let named = match action {
        GitAction::Branch { name, .. } | GitAction::Switch { name } => value(&data, &format!("refs/heads/{name}"), fs),
        GitAction::Tag { name } => value(&data, &format!("refs/tags/{name}"), fs),
        GitAction::Init | GitAction::Commit { .. } => is_there.then(|| "repository".to_owned()),
    };
    let (branch, commit) = head(&data, fs);
    format!("{} {} {}", commit.unwrap_or_default(), branch.unwrap_or_default(), named.unwrap_or_default())
}

/// Compares a git action with the repository at the end of the task; `before` is the [`snapshot`] from its start.
pub(super) fn look(
    folder: &str,
    action: &GitAction,
    before: &str,
    context: &GitContext,
    records: &Records<'_>,
) -> StepResult {
    let data = data(folder, records.fs);
    let mut parts = before.splitn(3, ' ');
    let mut part = || parts.next().unwrap_or_default();
    let (start, first, named) = (part(), part(), part());
    let is_touched = |call: &&ToolCall| call.changed.iter().any(|change| Path::new(&change.path).starts_with(&data));
    let by: Vec<_> = records.calls.iter().filter(is_touched).map(|call| call.evidence_id.clone()).collect();
    let repository = Some((data.clone(), *action == GitAction::Init));
    let (branch, now) = head(&data, records.fs);
    // The commits of earlier steps are on the branch that was checked out before the switch.
    let left = context.made.as_ref().map_or(first.to_owned(), |name| format!("refs/heads/{name}"));
    // An unread part of the request may ask for the switch.
    let is_left = context.is_partial && !left.is_empty() && branch.as_deref().is_some_and(|branch| branch != left);
    let now = if is_left || (context.switches && context.switches_later) {
        value(&data, &left, records.fs).or(now)
    } else {
        now
    };
    let history = |now| History { data: &data, start, now, context, fs: records.fs };
    let result = match action {
        _ if branch.is_none() && now.is_none() => StepResult::refuted("there is no repository"),
        GitAction::Init if named.is_empty() => StepResult::shown(by.clone(), "the repository is there"),
        GitAction::Init => StepResult::shown(by.clone(), "the repository was there already"),
        GitAction::Commit { .. } if context.switches_before => {
            StepResult::not_shown("another branch is checked out first")
        }
        GitAction::Commit { message } => history(now).commit(message),
        GitAction::Switch { name } if context.switches_later => {
            StepResult::not_shown(format!("another branch than {name} is checked out later"))
        }
        GitAction::Switch { name } if branch.as_deref() == Some(&format!("refs/heads/{name}")) => {
            // Only a commit from before the task proves the content of the files; a commit of the task may hold
            // anything.
            let checked_out = now.filter(|commit| *commit == named).map(|commit| (data.clone(), commit));
            StepResult { checked_out, ..StepResult::shown(by.clone(), format!("{name} is checked out")) }
        }
        GitAction::Switch { name } => context.unexpected(format!("{name} is not checked out")),
        GitAction::Branch { .. } | GitAction::Tag { .. } if !named.is_empty() => {
            StepResult::not_shown("there was one of this name already")
        }
        GitAction::Branch { name, switch } => {
            let at = value(&data, &format!("refs/heads/{name}"), records.fs);
            let is_out = branch.as_deref() == Some(&format!("refs/heads/{name}"));
            match at {
                None if !(is_out && start.is_empty()) => StepResult::refuted(format!("there is no branch {name}")),
                _ if *switch && !is_out && !context.switches_later => {
                    context.unexpected(format!("{name} is not checked out"))
                }
                _ if !*switch && is_out && !context.switches => {
                    context.unexpected(format!("{name} was checked out too"))
                }
                // Later commits move the new branch, although another branch is checked out at the end.
                at if *switch && context.switches_later => history(at.clone()).stands(name, at, true),
                at => history(now).stands(name, at, is_out),
            }
        }
        GitAction::Tag { name } => match value(&data, &format!("refs/tags/{name}"), records.fs) {
            None => StepResult::refuted(format!("there is no tag {name}")),
            Some(at) => {
                let at = object(&data, &at, records.fs).and_then(|tag| field(&tag, "object ")).unwrap_or(at);
                history(now).stands(name, Some(at), false)
            }
        },
    };
    StepResult { by, repository, ..result }
}

/// The commits of a repository before and after the request's git steps.
struct History<'a> {
    data: &'a Path,
    /// The commit that was checked out when the task began; empty if there was none.
    start: &'a str,
    /// The current commit.
    now: Option<String>,
    context: &'a GitContext,
    fs: &'a dyn FileSystem,
}

impl History<'_> {
    /// Checks that a branch or tag points to the commit that was checked out when the step was due.
    fn stands(&self, name: &str, at: Option<String>, is_out: bool) -> StepResult {
        // A checked-out branch moves with later commits.
        let commits = if is_out { self.context.commits } else { self.context.commits_before };
        let wanted = match commits {
            0 => Some(self.start.to_owned()).filter(|start| !start.is_empty()),
            _ => self.nth_back(self.context.commits - commits),
        };
        match at == wanted {
            true => StepResult::shown(Vec::new(), format!("{name} stands at the commit asked for")),
            false if self.context.switches_before => StepResult::not_shown("another branch is checked out first"),
            false => self.context.unexpected(format!("{name} stands at another commit")),
        }
    }

    /// The ancestor of the current commit, this many first parents back.
    fn nth_back(&self, steps: usize) -> Option<String> {
        (0..steps).try_fold(self.now.clone()?, |at, _| field(&object(self.data, &at, self.fs)?, "parent "))
    }

    /// Checks a commit: its message, that it changes something, and that the new commits follow the initial one.
    fn commit(&self, message: &str) -> StepResult {
        if self.now.as_deref().unwrap_or_default() == self.start {
            return StepResult::refuted("there is no new commit");
        }
        let object = |hash: &str| object(self.data, hash, self.fs);
        let at = self.nth_back(self.context.commits - self.context.commits_before - 1);
        let Some((at, text)) = at.and_then(|at| object(&at).map(|text| (at, text))) else {
            return StepResult::not_shown("the commit can't be read");
        };
        let parent = field(&text, "parent ").and_then(|parent| object(&parent));
        if parent.is_some_and(|parent| field(&parent, "tree ") == field(&text, "tree ")) {
            return self.context.unexpected("the commit holds no change");
        }
        let first = self.nth_back(self.context.commits - 1).and_then(|first| object(&first));
        let parents = first.map(|first| fields(&first, "parent ").concat());
        if parents.as_deref() != Some(self.start) {
            return self.context.unexpected("it does not follow the commit that was there");
        }
        let written = text.split_once("\n\n").map_or("", |(_, written)| written.trim_end());
        match written == message.trim_end() {
            true => StepResult::shown(Vec::new(), format!("commit {}", at.get(..10).unwrap_or(&at))),
            false => self.context.unexpected("its message is another"),
        }
    }
}
