//! Reads git repositories: where HEAD and branches stand, and what a commit says.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::compare::Looked;
use super::net::Found;
use super::overlay::MAX_FILE_BYTES;
use crate::algebra::GitAction;
use crate::eval::{EntryKind, FileSystem};

/// Length of a commit's name.
const HASH_CHARS: usize = 40;

/// The steps of the request on one repository, around the one that is looked at.
pub(super) struct Place {
    /// The number of commits that the steps before make.
    pub(super) commits_before: usize,
    /// The number of commits that all steps make before another branch is checked out.
    pub(super) commits: usize,
    /// Whether a step checks out another branch that was there already.
    pub(super) switches: bool,
    /// Whether an earlier step does so.
    pub(super) switches_before: bool,
    /// Whether a later step checks out another branch.
    pub(super) switches_later: bool,
    /// The new branch that an earlier step checks out.
    pub(super) made: Option<String>,
    /// Whether a part of the request is not read, which may ask for more.
    pub(super) is_partial: bool,
}

impl Place {
    /// More was done than the step asks for, which another part may ask for.
    pub(super) fn more(&self, why: impl Into<String>) -> Looked {
        if self.is_partial { Looked::not_shown(why) } else { Looked::refuted(why) }
    }
}

/// The folder with the repository's data.
pub(super) fn data(folder: &str, fs: &dyn FileSystem) -> PathBuf {
    fs.real(&Path::new(folder).join(".git"))
}

/// The commit and the branch that HEAD names, and the value of the name that an action is about, as they are now.
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

/// Compares an action with the repository as it is now.
pub(super) fn look(folder: &str, action: &GitAction, before: &str, place: &Place, found: &Found<'_>) -> Looked {
    let data = data(folder, found.fs);
    let mut parts = before.splitn(3, ' ');
    let mut part = || parts.next().unwrap_or_default();
    let (start, first, named) = (part(), part(), part());
    let by: Vec<_> = found
        .calls
        .iter()
        .filter(|call| call.changed.iter().any(|change| Path::new(&change.path).starts_with(&data)))
        .map(|call| call.evidence_id.clone())
        .collect();
    let repository = Some((data.clone(), *action == GitAction::Init));
    let (branch, now) = head(&data, found.fs);
    // The commits of the steps before a switch are on the branch that it left.
    let left = place.made.as_ref().map_or(first.to_owned(), |name| format!("refs/heads/{name}"));
    // A part that is not read may ask for the switch.
    let is_left = place.is_partial && !left.is_empty() && branch.as_deref().is_some_and(|branch| branch != left);
    let now =
        if is_left || (place.switches && place.switches_later) { value(&data, &left, found.fs).or(now) } else { now };
    let looked = match action {
        _ if branch.is_none() && now.is_none() => Looked::refuted("there is no repository"),
        GitAction::Init if named.is_empty() => Looked::shown(by.clone(), "the repository is there"),
        GitAction::Init => Looked::shown(by.clone(), "the repository was there already"),
        GitAction::Commit { .. } if place.switches_before => Looked::not_shown("another branch is checked out first"),
        GitAction::Commit { message } => commit(&data, message, (start, now), place, found.fs),
        GitAction::Switch { name } if place.switches_later => {
            Looked::not_shown(format!("another branch than {name} is checked out later"))
        }
        GitAction::Switch { name } if branch.as_deref() == Some(&format!("refs/heads/{name}")) => {
            // Commits that this task made hold whatever it wrote.
            let checked_out = now.filter(|commit| *commit == named).map(|commit| (data.clone(), commit));
            Looked { checked_out, ..Looked::shown(by.clone(), format!("{name} is checked out")) }
        }
        GitAction::Switch { name } => place.more(format!("{name} is not checked out")),
        GitAction::Branch { .. } | GitAction::Tag { .. } if !named.is_empty() => {
            Looked::not_shown("there was one of this name already")
        }
        GitAction::Branch { name, switch } => {
            let at = value(&data, &format!("refs/heads/{name}"), found.fs);
            let is_out = branch.as_deref() == Some(&format!("refs/heads/{name}"));
            match at {
                None if !(is_out && start.is_empty()) => Looked::refuted(format!("there is no branch {name}")),
                _ if *switch && !is_out && !place.switches_later => place.more(format!("{name} is not checked out")),
                _ if !*switch && is_out && !place.switches => place.more(format!("{name} was checked out too")),
                // The commits that follow move it, although another branch is checked out at the end.
                at if *switch && place.switches_later => {
                    stands(&data, name, (start, at.clone()), at, true, place, found.fs)
                }
                at => stands(&data, name, (start, now), at, is_out, place, found.fs),
            }
        }
        GitAction::Tag { name } => match value(&data, &format!("refs/tags/{name}"), found.fs) {
            None => Looked::refuted(format!("there is no tag {name}")),
            Some(at) => {
                let at = object(&data, &at, found.fs).and_then(|tag| field(&tag, "object ")).unwrap_or(at);
                stands(&data, name, (start, now), Some(at), false, place, found.fs)
            }
        },
    };
    Looked { by, repository, ..looked }
}

/// Compares where a branch or tag stands with the commit that was checked out.
fn stands(
    data: &Path,
    name: &str,
    (start, now): (&str, Option<String>),
    at: Option<String>,
    is_out: bool,
    place: &Place,
    fs: &dyn FileSystem,
) -> Looked {
    // A branch that is checked out moves with the commits that follow.
    let commits = if is_out { place.commits } else { place.commits_before };
    let wanted = match commits {
        0 => Some(start.to_owned()).filter(|start| !start.is_empty()),
        _ => nth_back(data, now, place.commits - commits, fs),
    };
    match at == wanted {
        true => Looked::shown(Vec::new(), format!("{name} stands at the commit asked for")),
        false if place.switches_before => Looked::not_shown("another branch is checked out first"),
        false => place.more(format!("{name} stands at another commit")),
    }
}

/// The commit this many steps before another.
fn nth_back(data: &Path, from: Option<String>, steps: usize, fs: &dyn FileSystem) -> Option<String> {
    let mut at = from?;
    for _ in 0..steps {
        at = field(&object(data, &at, fs)?, "parent ")?;
    }
    Some(at)
}

/// Compares a commit: its message, and that what the steps commit follows the commit that was there.
fn commit(
    data: &Path,
    message: &str,
    (start, now): (&str, Option<String>),
    place: &Place,
    fs: &dyn FileSystem,
) -> Looked {
    if now.as_deref().unwrap_or_default() == start {
        return Looked::refuted("there is no new commit");
    }
    let Some(at) = nth_back(data, now.clone(), place.commits - place.commits_before - 1, fs) else {
        return Looked::not_shown("the commit can't be read");
    };
    let Some(text) = object(data, &at, fs) else { return Looked::not_shown("the commit can't be read") };
    let first = nth_back(data, now, place.commits - 1, fs).and_then(|first| object(data, &first, fs));
    let parent = field(&text, "parent ").and_then(|parent| object(data, &parent, fs));
    if parent.is_some_and(|parent| field(&parent, "tree ") == field(&text, "tree ")) {
        return place.more("the commit holds no change");
    }
    let parents = first.map(|first| fields(&first, "parent "));
    if parents != Some(Some(start.to_owned()).filter(|start| !start.is_empty()).into_iter().collect()) {
        return place.more("it does not follow the commit that was there");
    }
    let said = text.split_once("\n\n").map_or("", |(_, said)| said.trim_end());
    match said == message.trim_end() {
        true => Looked::shown(Vec::new(), format!("commit {}", at.get(..10).unwrap_or(&at))),
        false => place.more("its message is another"),
    }
}

/// The first field of this name in the head of an object.
fn field(text: &str, name: &str) -> Option<String> {
    fields(text, name).into_iter().next()
}

fn fields(text: &str, name: &str) -> Vec<String> {
    let head = text.split("\n\n").next().unwrap_or_default();
    head.lines().filter_map(|line| line.strip_prefix(name)).map(str::to_owned).collect()
}

/// The branch that is checked out, and the commit; both `None` without a repository.
fn head(data: &Path, fs: &dyn FileSystem) -> (Option<String>, Option<String>) {
    let Some(text) = read(&data.join("HEAD"), fs) else { return (None, None) };
    match text.trim().strip_prefix("ref: ") {
        Some(name) => (Some(name.to_owned()), value(data, name, fs)),
        None => (None, Some(text.trim().to_owned()).filter(|hash| is_hash(hash))),
    }
}

/// The commit or tag object that a name stands for.
fn value(data: &Path, name: &str, fs: &dyn FileSystem) -> Option<String> {
    if name.split('/').any(|part| part.is_empty() || part == "..") {
        return None;
    }
    let loose = read(&data.join(name), fs).map(|text| text.trim().to_owned());
    let packed = || {
        let all = read(&data.join("packed-refs"), fs)?;
        all.lines()
            .find_map(|line| line.split_once(' ').filter(|(_, known)| *known == name))
            .map(|(hash, _)| hash.to_owned())
    };
    loose.or_else(packed).filter(|hash| is_hash(hash))
}

fn is_hash(text: &str) -> bool {
    text.len() == HASH_CHARS && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether a file of the work tree is as a commit has it: with the same content, or in neither.
pub(super) fn is_as_committed(path: &Path, (data, commit): &(PathBuf, String), fs: &dyn FileSystem) -> bool {
    let Some(inside) = data.parent().and_then(|folder| path.strip_prefix(folder).ok()) else { return false };
    let tree = object(data, commit, fs).and_then(|commit| field(&commit, "tree "));
    let Some(mut at) = tree else { return false };
    for name in inside {
        let Some(entries) = bytes(data, &at, fs) else { return false };
        match entry(&entries, name.as_encoded_bytes()) {
            Some(next) => at = next,
            None => return fs.metadata(path).is_err(),
        }
    }
    bytes(data, &at, fs).is_some_and(|committed| content(path, fs) == Some(committed))
}

/// The name of the object that a tree lists under a name.
fn entry(tree: &[u8], wanted: &[u8]) -> Option<String> {
    let mut rest = tree;
    loop {
        let end = rest.iter().position(|byte| *byte == 0)?;
        let (head, after) = rest.split_at(end);
        let hash = after.get(1..=HASH_CHARS / 2)?;
        let name = head.splitn(2, |byte| *byte == b' ').nth(1)?;
        if name == wanted {
            return Some(hash.iter().map(|byte| format!("{byte:02x}")).collect());
        }
        rest = after.get(HASH_CHARS / 2 + 1..)?;
    }
}

/// A loose commit or tag without its header.
fn object(data: &Path, hash: &str, fs: &dyn FileSystem) -> Option<String> {
    String::from_utf8(bytes(data, hash, fs)?).ok()
}

/// The decompressed content of a loose git object, without its header.
fn bytes(data: &Path, hash: &str, fs: &dyn FileSystem) -> Option<Vec<u8>> {
    let (folder, name) = hash.split_at_checked(2).filter(|_| is_hash(hash))?;
    let packed = fs.open(&data.join("objects").join(folder).join(name)).ok()?;
    let mut bytes = Vec::new();
    flate2::read::ZlibDecoder::new(packed).take(MAX_FILE_BYTES).read_to_end(&mut bytes).ok()?;
    let body = bytes.iter().position(|byte| *byte == 0)?;
    bytes.get(body + 1..).map(<[u8]>::to_vec)
}

/// A small text file.
fn read(path: &Path, fs: &dyn FileSystem) -> Option<String> {
    String::from_utf8(content(path, fs)?).ok()
}

/// The first `MAX_FILE_BYTES` of a file.
fn content(path: &Path, fs: &dyn FileSystem) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    fs.open(path).ok()?.take(MAX_FILE_BYTES).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}
