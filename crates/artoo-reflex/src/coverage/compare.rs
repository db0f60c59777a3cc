//! Compares what one step would leave on the disk with what was recorded and with the disk as it is now.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use artoo_proto::{CoverageState, EvidenceId, FOLDER};

use super::net::{Found, content};
use super::overlay::{Content, ModeRule, Node, shown};
use crate::algebra::Query;
use crate::eval::{Answer, Entry, EntryKind, FileSystemError, archive, digest, evaluate};

/// Maximum number of paths that a row names.
const NAMED: usize = 3;

/// What is known of one step.
#[derive(Debug, Clone)]
pub(super) struct Looked {
    pub(super) state: CoverageState,
    pub(super) by: Vec<EvidenceId>,
    pub(super) why: String,
    /// What the step gives to the person who asked, if it is shown.
    pub(super) answer: Option<String>,
    /// Calls whose changes all belong to the step.
    pub(super) calls: BTreeSet<EvidenceId>,
    /// Whether these calls may also change files that other programs run.
    pub(super) installs: bool,
    /// The repository folder whose changes belong to the step, and whether it was made by the step.
    pub(super) repository: Option<(PathBuf, bool)>,
    /// The same folder and the commit whose files the step checked out.
    pub(super) checked_out: Option<(PathBuf, String)>,
}

impl Looked {
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

    pub(super) fn shown(by: Vec<EvidenceId>, why: impl Into<String>) -> Self {
        Self { by, ..Self::new(CoverageState::Shown, why) }
    }

    pub(super) fn refuted(why: impl Into<String>) -> Self {
        Self::new(CoverageState::Refuted, why)
    }

    pub(super) fn not_shown(why: impl Into<String>) -> Self {
        Self::new(CoverageState::NotShown, why)
    }
}

/// What is known of one path.
enum Verdict {
    /// It is as asked.
    Shown(Vec<EvidenceId>),
    /// It is not as asked, whatever else was done.
    Wrong(String),
    /// It holds something else, which may come from a part of the request that could not be read.
    Other(String),
    Unknown(String),
}

/// Compares the paths of one step. `is_open`: another part of the request may have changed them too. `is_partial`: a part
/// of the request is not read.
pub(super) fn paths(
    paths: &BTreeSet<PathBuf>,
    left: Option<&Query>,
    nodes: &BTreeMap<PathBuf, Node>,
    found: &Found<'_>,
    is_open: &dyn Fn(&Path) -> bool,
    is_partial: bool,
) -> Looked {
    let (mut by, mut wrong, mut unknown, mut good) = (Vec::new(), Vec::new(), Vec::new(), 0_usize);
    for path in paths {
        let Some(node) = nodes.get(path) else {
            // A folder that was there before.
            match found.fs.list(path) {
                Ok(_) => good += 1,
                Err(_) => wrong.push(format!("{} is not there", shown(path))),
            }
            continue;
        };
        let may_be_undone = is_partial && found.touched.contains_key(path);
        match verdict(path, node, found) {
            Verdict::Shown(mut calls) => {
                good += 1;
                by.append(&mut calls);
            }
            // Another part may have changed it once more.
            Verdict::Wrong(why) | Verdict::Other(why) if may_be_undone => unknown.push(why),
            Verdict::Wrong(why) => wrong.push(why),
            Verdict::Other(why) if is_open(path) => unknown.push(why),
            Verdict::Other(why) => wrong.push(why),
            Verdict::Unknown(why) => unknown.push(why),
        }
    }
    match left.map(|query| evaluate(query, found.fs)) {
        Some(Ok(Answer::Files(files))) => {
            for entry in files {
                let is_new = is_partial && found.touched.contains_key(&entry.path);
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
        ([], []) if paths.len() == 1 => Looked::shown(by, paths.iter().map(|path| shown(path)).collect::<String>()),
        ([], []) => Looked::shown(by, format!("{good} of {good}")),
        ([], unknown) => Looked { by, ..Looked::not_shown(counted(unknown)) },
        (wrong, _) => Looked { by, ..Looked::refuted(counted(wrong)) },
    }
}

/// Compares one path.
fn verdict(path: &Path, node: &Node, found: &Found<'_>) -> Verdict {
    let name = shown(path);
    let is = match found.fs.metadata(path) {
        Ok(entry) => Some(entry),
        Err(FileSystemError::NotFound) => None,
        Err(problem) => return Verdict::Unknown(format!("{name}: {problem}")),
    };
    let recorded = found.touched.get(path);
    match (&node.now, is) {
        (None, Some(_)) => Verdict::Wrong(format!("still there: {name}")),
        (None, None) => match recorded {
            Some(change) if change.after.is_none() => Verdict::Shown(change.by.clone()),
            _ => Verdict::Unknown(format!("{name} is gone, and no call recorded it")),
        },
        (Some(_), None) => Verdict::Wrong(format!("{name} is not there")),
        (Some(wanted), Some(is)) if wanted.kind != is.kind => {
            Verdict::Other(format!("{name} is not of the kind asked for"))
        }
        (Some(wanted), Some(is)) => match held(path, node, found) {
            Verdict::Shown(_) if fits(node, wanted, &is) && recorded.is_none() && is_other(node, &is) => {
                Verdict::Unknown(format!("{name} is as asked, and no call recorded it"))
            }
            Verdict::Shown(_) if !fits(node, wanted, &is) => match recorded {
                None => Verdict::Wrong(format!("the permissions of {name} are unchanged: {:04o}", is.mode)),
                Some(_) => Verdict::Other(format!("the permissions of {name} are {:04o}", is.mode)),
            },
            verdict => verdict,
        },
    }
}

/// Whether an entry is another one than when the task began.
fn is_other(node: &Node, is: &Entry) -> bool {
    let facts = |entry: &Entry| (entry.mode, (entry.kind == EntryKind::File).then_some((entry.bytes, entry.modified)));
    node.was.as_ref().is_some_and(|was| facts(was) != facts(is))
}

/// Whether the permission bits are as asked.
fn fits(node: &Node, wanted: &Entry, is: &Entry) -> bool {
    match node.mode {
        ModeRule::Any => true,
        ModeRule::Exact => wanted.mode == is.mode,
        ModeRule::AtMost => is.mode & 0o7111 & !wanted.mode == 0,
        ModeRule::Executable => {
            is.mode & 0o100 != 0 && (node.was.is_none() || wanted.mode & !0o111 == is.mode & !0o111)
        }
    }
}

/// Compares what a path holds.
fn held(path: &Path, node: &Node, found: &Found<'_>) -> Verdict {
    let name = shown(path);
    let recorded = found.net(path).filter(|change| !change.is_of_times());
    let is_recorded =
        |state: &str| recorded.and_then(|change| change.after.as_deref()).is_some_and(|after| content(after) == state);
    let by = || found.touched.get(path).map(|change| change.by.clone()).unwrap_or_default();
    let unrecorded = || Verdict::Unknown(format!("{name} is as asked, and no call recorded it"));
    let wanted = match &node.content {
        Content::None => {
            let mut below = found.touched.range(path.to_path_buf()..).take_while(|(below, _)| below.starts_with(path));
            let is_way = below.any(|(below, change)| below != path && change.after.is_some());
            let was = node.was.as_ref().is_some_and(|was| was.kind == EntryKind::Folder);
            return if was || is_recorded(FOLDER) || is_way { Verdict::Shown(by()) } else { unrecorded() };
        }
        Content::Link(target) => return link(path, target, found),
        Content::Archive(roots, members) => return packed(path, roots, members, found),
        Content::Any => {
            let now = found.digest(path);
            return if now.is_some_and(|now| is_recorded(&now)) { Verdict::Shown(by()) } else { unrecorded() };
        }
        Content::Original(source) if node.now.as_ref().is_some_and(|entry| entry.kind != EntryKind::File) => {
            // Of a link the records say where it leads; a copy leads there too.
            let before = found.touched.get(source).and_then(|change| change.before.clone());
            let is_moved = before.is_some_and(|before| is_recorded(&before));
            return if is_moved || source == path {
                Verdict::Shown(by())
            } else {
                Verdict::Unknown(format!("{name} is no regular file"))
            };
        }
        Content::OneOf(texts) => texts.iter().map(|text| digest::of_bytes(text)).collect(),
        Content::Digest(digest) => vec![digest.clone()],
        Content::Original(source) => match found.start_digest(source) {
            Some(digest) => vec![digest],
            None => return Verdict::Unknown(format!("what {} held was not recorded", shown(source))),
        },
    };
    let Some(is) = found.digest(path) else { return Verdict::Unknown(format!("{name} can't be read")) };
    let start = || node.digest.clone().or_else(|| found.start_digest(path));
    let was = node.was.as_ref().and_then(|_| start());
    match (wanted.contains(&is), was.as_ref() == Some(&is)) {
        (true, true) if recorded.is_none() || is_recorded(&is) => Verdict::Shown(by()),
        (true, false) if is_recorded(&is) => Verdict::Shown(by()),
        (true, _) => unrecorded(),
        (false, true) => Verdict::Wrong(format!("{name} is unchanged")),
        (false, false) => Verdict::Other(format!("{name} has other content")),
    }
}

/// Compares where a link leads.
fn link(path: &Path, target: &Path, found: &Found<'_>) -> Verdict {
    let by = found.net(path).map(|change| change.by.clone());
    let said = found.net(path).and_then(|change| change.after.as_deref()?.strip_prefix("link to ").map(str::to_owned));
    let from_link = |said: &str| {
        let end = path.parent().unwrap_or(path).join(said);
        // The last component stays, unless it is `..`.
        let whole = || found.fs.real(&end.join("-")).parent().map(Path::to_path_buf);
        if end.file_name().is_some() { Some(found.fs.real(&end)) } else { whole() }
    };
    let is_there = match said {
        Some(said) => from_link(&said).is_some_and(|end| end == target),
        None => found.fs.real(&path.join("-")).parent().is_some_and(|end| end == found.fs.real(target)),
    };
    match (by, is_there) {
        (Some(by), true) => Verdict::Shown(by),
        (None, true) => Verdict::Unknown(format!("{} is a link as asked, and no call recorded it", shown(path))),
        (_, false) => Verdict::Other(format!("{} leads elsewhere", shown(path))),
    }
}

/// The path without `.` and `..`.
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

/// Opens an archive and compares what it holds with what was to be packed.
fn packed(path: &Path, roots: &[PathBuf], members: &[(PathBuf, Content)], found: &Found<'_>) -> Verdict {
    let name = shown(path);
    let Some(change) = found.net(path) else {
        return Verdict::Unknown(format!("no call recorded that it made {name}"));
    };
    if change.after != found.digest(path) {
        return Verdict::Other(format!("{name} was changed after it was made"));
    }
    let held = match archive::members(path, found.fs) {
        Ok(held) => held,
        Err(problem) => return Verdict::Unknown(problem.to_string()),
    };
    let mut wanted: BTreeMap<&Path, Option<String>> = BTreeMap::new();
    for (member, content) in members {
        let digest = match content {
            Content::None => None,
            Content::OneOf(texts) => texts.first().map(|text| digest::of_bytes(text)),
            Content::Digest(digest) => Some(digest.clone()),
            Content::Original(source) => match found.start_digest(source) {
                Some(digest) => Some(digest),
                None => return Verdict::Unknown(format!("what {} held was not recorded", shown(source))),
            },
            Content::Link(_) | Content::Archive(..) | Content::Any => {
                return Verdict::Unknown(format!("{} can't be compared in an archive", shown(member)));
            }
        };
        wanted.insert(member, digest);
    }
    let name_of = |member: &archive::Member| String::from_utf8(member.name.clone()).ok();
    let bases = roots.first().into_iter().flat_map(|root| root.ancestors().skip(usize::from(roots.len() > 1)));
    let is_as_asked = |base: &Path| {
        let mut left = wanted.clone();
        // The base itself and the folders above the members may be listed or not.
        for member in &held {
            let Some(path) = name_of(member).map(|name| normal(&base.join(name.trim_start_matches('/')))) else {
                return false;
            };
            match left.remove(path.as_path()) {
                Some(digest)
                    if member.is_folder == digest.is_none()
                        && digest.as_ref().is_none_or(|digest| *digest == member.digest) => {}
                None if member.is_folder && roots.iter().any(|root| root.starts_with(&path)) => {}
                _ => return false,
            }
        }
        let is_filled = |folder: &Path| wanted.keys().any(|other| *other != folder && other.starts_with(folder));
        left.iter().all(|(path, digest)| digest.is_none() && (is_filled(path) || *path == base))
    };
    match bases.into_iter().any(is_as_asked) {
        true => Verdict::Shown(change.by.clone()),
        false => Verdict::Other(format!("{name} holds something else than what was to be packed")),
    }
}
