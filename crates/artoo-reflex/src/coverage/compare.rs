//! Compares the simulated result of a step with the recorded changes and the current disk.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use artoo_proto::{CoverageState, EvidenceId, FOLDER};

use super::overlay::{Content, ModeRule, PathState, shown};
use super::records::{Records, content};
use crate::algebra::Query;
use crate::ensure::ensure;
use crate::eval::{Answer, Entry, EntryKind, FileSystemError, archive, digest, evaluate};

/// Maximum number of paths named in the explanation of one step's result.
const NAMED: usize = 3;

/// Whether one step is shown to be done, refuted or neither, with the reason and the calls that did it.
#[derive(Debug, Clone)]
pub(super) struct StepResult {
    pub(super) state: CoverageState,
    pub(super) by: Vec<EvidenceId>,
    pub(super) why: String,
    /// The text of the answer, if the step has one.
    pub(super) answer: Option<String>,
    /// The calls whose changes were all requested by the step.
    pub(super) calls: BTreeSet<EvidenceId>,
    /// Whether these calls may also change files that other programs run by themselves.
    pub(super) installs: bool,
    /// The repository folder whose changes were requested by the step, and whether the step created it.
    pub(super) repository: Option<(PathBuf, bool)>,
    /// The repository folder, and the commit whose files the step checked out.
    pub(super) checked_out: Option<(PathBuf, String)>,
}

impl StepResult {
    /// A step result with this state and reason, and nothing else set.
    pub(super) fn new(state: CoverageState, why: impl Into<String>) -> Self {
        Self {
            state,
            why: why.into(),
            by: Vec::new(),
            answer: None,
            calls: BTreeSet::new(),
            installs: false,
            repository: None,
            checked_out: None,
        }
    }

    /// The result for a step that these calls did.
    pub(super) fn shown(by: Vec<EvidenceId>, why: impl Into<String>) -> Self {
        Self { by, ..Self::new(CoverageState::Shown, why) }
    }

    /// The result for a step that was not done, with the reason.
    pub(super) fn refuted(why: impl Into<String>) -> Self {
        Self::new(CoverageState::Refuted, why)
    }

    /// The result for a step of which the records don't show whether it was done, with the reason.
    pub(super) fn not_shown(why: impl Into<String>) -> Self {
        Self::new(CoverageState::NotShown, why)
    }
}

/// Why the entry at a path differs from the simulated one.
enum Mismatch {
    /// It can't result from the request.
    Wrong(String),
    /// It differs, possibly because of a command or an unread part of the request.
    Other(String),
    /// The records don't show whether it matches.
    Unknown(String),
}

use Mismatch::{Other, Unknown, Wrong};

/// The calls that brought a path into its simulated state, or why it differs.
type Compared = Result<Vec<EvidenceId>, Mismatch>;

/// Compares the paths of one step with the simulation; files that `left` still selects count as not done. `is_open`
/// says whether a command or an unread part of the request may have changed a path too; `is_partial`, whether a part of
/// the request is not read.
pub(super) fn paths(
    paths: &BTreeSet<PathBuf>,
    left: Option<&Query>,
    nodes: &BTreeMap<PathBuf, PathState>,
    records: &Records<'_>,
    is_open: &dyn Fn(&Path) -> bool,
    is_partial: bool,
) -> StepResult {
    let (mut by, mut wrong, mut unknown, mut good) = (Vec::new(), Vec::new(), Vec::new(), 0_usize);
    for path in paths {
        let may_be_undone = is_partial && records.touched.contains_key(path);
        let compared = match nodes.get(path) {
            Some(node) => compare(path, node, records),
            // A folder that already existed.
            None if records.fs.list(path).is_ok() => Ok(Vec::new()),
            None => {
                wrong.push(format!("{} is not there", shown(path)));
                continue;
            }
        };
        match compared {
            Ok(calls) => {
                good += 1;
                by.extend(calls);
            }
            // An unread part of the request may ask for a further change.
            Err(Wrong(why) | Other(why)) if may_be_undone => unknown.push(why),
            Err(Other(why)) if is_open(path) => unknown.push(why),
            Err(Wrong(why) | Other(why)) => wrong.push(why),
            Err(Unknown(why)) => unknown.push(why),
        }
    }
    match left.map(|query| evaluate(query, records.fs)) {
        Some(Ok(Answer::Files(files))) => {
            for entry in files {
                let is_new = is_partial && records.touched.contains_key(&entry.path);
                let whys = if is_new { &mut unknown } else { &mut wrong };
                whys.push(format!("still there: {}", entry.shown()));
            }
        }
        Some(_) => unknown.push("what is left can't be read".to_owned()),
        None => {}
    }
    let named = |whys: &[String]| whys.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    let counted = |whys: &[String]| match paths.len() {
        1 => named(whys),
        all => format!("{good} of {all}: {}", named(whys)),
    };
    let mut seen = BTreeSet::new();
    by.retain(|call| seen.insert(call.clone()));
    match (wrong.as_slice(), unknown.as_slice()) {
        ([], []) if paths.len() == 1 => StepResult::shown(by, paths.iter().map(|path| shown(path)).collect::<String>()),
        ([], []) => StepResult::shown(by, format!("{good} of {good}")),
        ([], unknown) => StepResult { by, ..StepResult::not_shown(counted(unknown)) },
        (wrong, _) => StepResult { by, ..StepResult::refuted(counted(wrong)) },
    }
}

/// Compares the entry at one path with the simulated one.
fn compare(path: &Path, node: &PathState, records: &Records<'_>) -> Compared {
    let name = shown(path);
    let recorded = records.touched.get(path);
    let is = match records.fs.metadata(path) {
        Ok(entry) => Some(entry),
        Err(FileSystemError::NotFound) => None,
        Err(problem) => return Err(Unknown(format!("{name}: {problem}"))),
    };
    let (wanted, is) = match (&node.now, is) {
        (None, Some(_)) => return Err(Wrong(format!("still there: {name}"))),
        (None, None) => {
            let removed = recorded.filter(|change| change.after.is_none()).map(|change| change.by.clone());
            return removed.ok_or_else(|| Unknown(format!("{name} is gone, and no call recorded it")));
        }
        (Some(_), None) => return Err(Wrong(format!("{name} is not there"))),
        (Some(wanted), Some(is)) if wanted.kind != is.kind => {
            return Err(Other(format!("{name} is not of the kind asked for")));
        }
        (Some(wanted), Some(is)) => (wanted, is),
    };
    let by = compare_content(path, node, records)?;
    match (mode_matches(node, wanted, &is), recorded) {
        (true, None) if has_changed(node, &is) => Err(unrecorded(&name)),
        (true, _) => Ok(by),
        (false, None) => Err(Wrong(format!("the permissions of {name} are unchanged: {:04o}", is.mode))),
        (false, Some(_)) => Err(Other(format!("the permissions of {name} are {:04o}", is.mode))),
    }
}

/// The mismatch for a path that has the requested state although no recorded call changed it.
fn unrecorded(name: &str) -> Mismatch {
    Unknown(format!("{name} is as asked, and no call recorded it"))
}

/// Whether an entry's mode, size or time differs from that at the start of the task.
fn has_changed(node: &PathState, is: &Entry) -> bool {
    let facts = |entry: &Entry| (entry.mode, (entry.kind == EntryKind::File).then_some((entry.bytes, entry.modified)));
    node.was.as_ref().is_some_and(|was| facts(was) != facts(is))
}

/// Whether an entry's permission bits are acceptable by the rule of the simulation.
fn mode_matches(node: &PathState, wanted: &Entry, is: &Entry) -> bool {
    match node.mode {
        ModeRule::Any => true,
        ModeRule::Exact => wanted.mode == is.mode,
        ModeRule::AtMost => is.mode & 0o7111 & !wanted.mode == 0,
        ModeRule::Executable => {
            is.mode & 0o100 != 0 && (node.was.is_none() || wanted.mode & !0o111 == is.mode & !0o111)
        }
    }
}

/// Compares the content at a path with the simulated one.
fn compare_content(path: &Path, node: &PathState, records: &Records<'_>) -> Compared {
    let name = shown(path);
    let recorded = records.net(path).filter(|change| !change.is_of_times());
    let is_recorded =
        |state: &str| recorded.and_then(|change| change.after.as_deref()).is_some_and(|after| content(after) == state);
    let by = records.touched.get(path).map(|change| change.by.clone()).unwrap_or_default();
    let by_if = |holds: bool| if holds { Ok(by.clone()) } else { Err(unrecorded(&name)) };
    match &node.content {
        Content::None => {
            let mut below =
                records.touched.range(path.to_path_buf()..).take_while(|(below, _)| below.starts_with(path));
            let is_way = below.any(|(below, change)| below != path && change.after.is_some());
            let was = node.was.as_ref().is_some_and(|was| was.kind == EntryKind::Folder);
            return by_if(was || is_recorded(FOLDER) || is_way);
        }
        Content::Link(target) => return compare_link(path, target, records),
        Content::Archive(roots, members) => return compare_archive(path, roots, members, records),
        Content::Any => return by_if(records.digest(path).is_some_and(|now| is_recorded(&now))),
        Content::Original(source) if node.now.as_ref().is_some_and(|entry| entry.kind != EntryKind::File) => {
            // The record of a link is its target, which a moved link keeps.
            let before = records.touched.get(source).and_then(|change| change.before.clone());
            let is_moved = before.is_some_and(|before| is_recorded(&before)) || source == path;
            return if is_moved { Ok(by) } else { Err(Unknown(format!("{name} is no regular file"))) };
        }
        Content::OneOf(_) | Content::Digest(_) | Content::Original(_) => {}
    }
    let wanted = digests(&node.content, records)?;
    let Some(is) = records.digest(path) else { return Err(Unknown(format!("{name} can't be read"))) };
    let start = || node.digest.clone().or_else(|| records.start_digest(path));
    let was = node.was.as_ref().and_then(|_| start());
    match (wanted.contains(&is), was.as_ref() == Some(&is)) {
        (true, is_unchanged) => by_if(is_recorded(&is) || (is_unchanged && recorded.is_none())),
        (false, true) => Err(Wrong(format!("{name} is unchanged"))),
        (false, false) => Err(Other(format!("{name} has other content"))),
    }
}

/// The SHA-256 of each acceptable content of a regular file; empty for other kinds of content.
fn digests(content: &Content, records: &Records<'_>) -> Result<Vec<String>, Mismatch> {
    match content {
        Content::OneOf(texts) => Ok(texts.iter().map(|text| digest::of_bytes(text)).collect()),
        Content::Digest(digest) => Ok(vec![digest.clone()]),
        Content::Original(source) => {
            let digest = records.start_digest(source).map(|digest| vec![digest]);
            digest.ok_or_else(|| Unknown(format!("what {} held was not recorded", shown(source))))
        }
        Content::None | Content::Link(_) | Content::Archive(..) | Content::Any => Ok(Vec::new()),
    }
}

/// Compares the target of a symbolic link with the one asked for.
fn compare_link(path: &Path, target: &Path, records: &Records<'_>) -> Compared {
    let change = records.net(path);
    // The real path, with its last component resolved too.
    let whole = |path: &Path| records.fs.real(&path.join("-")).parent().map(Path::to_path_buf);
    let is_there = match change.and_then(|change| change.after.as_deref()?.strip_prefix("link to ")) {
        Some(link) => {
            let end = path.parent().unwrap_or(path).join(link);
            // The last component is not resolved, unless it is `..`.
            let end = if end.file_name().is_some() { Some(records.fs.real(&end)) } else { whole(&end) };
            end.is_some_and(|end| end == target)
        }
        None => whole(path).is_some_and(|end| end == records.fs.real(target)),
    };
    match (change, is_there) {
        (Some(change), true) => Ok(change.by.clone()),
        (None, true) => Err(Unknown(format!("{} is a link as asked, and no call recorded it", shown(path)))),
        (_, false) => Err(Other(format!("{} leads elsewhere", shown(path)))),
    }
}

/// The path with `.` and `..` removed by text alone.
pub(super) fn normal(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut path, part| {
        match part {
            std::path::Component::ParentDir => drop(path.pop()),
            std::path::Component::CurDir => {}
            other => path.push(other),
        }
        path
    })
}

/// Compares the members of an archive with the files that were to be packed.
fn compare_archive(path: &Path, roots: &[PathBuf], members: &[(PathBuf, Content)], records: &Records<'_>) -> Compared {
    let name = shown(path);
    let Some(change) = records.net(path) else {
        return Err(Unknown(format!("no call recorded that it made {name}")));
    };
    ensure(change.after == records.digest(path), || Other(format!("{name} was changed after it was made")))?;
    let packed = archive::members(path, records.fs).map_err(|problem| Unknown(problem.to_string()))?;
    let mut wanted: BTreeMap<&Path, Option<String>> = BTreeMap::new();
    for (member, content) in members {
        ensure(!matches!(content, Content::Link(_) | Content::Archive(..) | Content::Any), || {
            Unknown(format!("{} can't be compared in an archive", shown(member)))
        })?;
        wanted.insert(member, digests(content, records)?.into_iter().next());
    }
    let is_as_asked = |base: &Path| {
        let mut left = wanted.clone();
        // Entries for the base folder and the folders above the members are optional.
        let is_member = |member: &archive::Member| {
            let Ok(name) = std::str::from_utf8(&member.name) else { return false };
            let path = normal(&base.join(name.trim_start_matches('/')));
            match left.remove(path.as_path()) {
                Some(digest) => {
                    member.is_folder == digest.is_none() && digest.is_none_or(|digest| digest == member.digest)
                }
                None => member.is_folder && roots.iter().any(|root| root.starts_with(&path)),
            }
        };
        let is_filled = |folder: &Path| wanted.keys().any(|other| *other != folder && other.starts_with(folder));
        packed.iter().all(is_member)
            && left.iter().all(|(path, digest)| digest.is_none() && (is_filled(path) || *path == base))
    };
    let mut bases = roots.first().into_iter().flat_map(|root| root.ancestors().skip(usize::from(roots.len() > 1)));
    match bases.any(is_as_asked) {
        true => Ok(change.by.clone()),
        false => Err(Other(format!("{name} holds something else than what was to be packed"))),
    }
}
