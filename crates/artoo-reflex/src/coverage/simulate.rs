//! Simulates the steps of a request on an [`Overlay`], in their order.

mod edit;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use artoo_proto::escape;
use serde::{Deserialize, Serialize};

use super::answer;
use super::at_end;
use super::overlay::{Content, ModeRule, Overlay, PathState, UNKNOWN_CONTENT, shown};
use crate::algebra::{Act, GitAction, ModeChange, NameChange, Query, Step, Target};
use crate::ensure::ensure;
use crate::eval::{Answer, Entry, EntryKind, FileSystem, archive, rename};
use crate::suggest::missing;

/// The result of simulating steps: the state of each changed path, and how each step is to be compared.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Simulation {
    pub(super) nodes: BTreeMap<PathBuf, PathState>,
    pub(super) rows: Vec<Expectation>,
}

/// What the simulation expects of one step, and how the step is compared when the task ends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum Expectation {
    /// These paths have the states in [`Simulation::nodes`]; a query, if given, selects nothing at the end.
    Paths(BTreeSet<PathBuf>, Option<Query>),
    /// The step changes nothing; the text says why.
    Nothing(String),
    /// The answer to a question.
    Answered(String),
    /// The step is compared when the task ends; the text is its state at the start of the task.
    Later(String),
    /// The step can't be shown to be done; the text says why.
    Never(String),
}

/// Simulates steps one after the other; `nodes` are the path states after earlier steps.
pub(super) fn simulate(steps: &[&Step], nodes: BTreeMap<PathBuf, PathState>, fs: &dyn FileSystem) -> Simulation {
    let acts = steps.iter().rposition(|step| matches!(step, Step::Do(act) if !matches!(act, Act::Keep { .. })));
    let mut simulator = Simulator::of(fs, nodes);
    simulator.now.modified = fs.now();
    let mut rows = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        rows.push(match step {
            Step::Ask(query) => simulator.ask(query, acts.is_some(), acts.is_none_or(|last| last < at)),
            Step::Do(act) => {
                let before = simulator.disk.nodes.clone();
                simulator.act(act).unwrap_or_else(|problem| {
                    simulator.disk.nodes = before;
                    Expectation::Never(problem)
                })
            }
        });
    }
    Simulation { nodes: simulator.disk.nodes, rows }
}

/// A file that an act writes: its path, and its content before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) path: String,
    /// `None` if there is no such file yet.
    pub(crate) before: Option<String>,
    pub(crate) after: String,
}

/// Simulates an act that writes one file, and returns the file; an error if the act fails or would change nothing.
pub(crate) fn written(act: &Act, fs: &dyn FileSystem) -> Result<Written, String> {
    let mut simulator = Simulator::of(fs, BTreeMap::new());
    simulator.act(act)?;
    let not_text = |_| "what it holds is not text".to_owned();
    let text = |(path, node): (&PathBuf, &PathState)| match &node.content {
        Content::OneOf(texts) => Some((path.clone(), texts.first()?.clone(), node.was.is_some())),
        _ => None,
    };
    let (path, after, is_there) =
        simulator.disk.nodes.iter().find_map(text).ok_or("what it writes is not known before")?;
    let before = if is_there { Some(String::from_utf8(simulator.of_disk(&path)?).map_err(not_text)?) } else { None };
    let after = String::from_utf8(after).map_err(not_text)?;
    let path = path.to_str().ok_or("its path is not text")?.to_owned();
    ensure(before.as_ref() != Some(&after), || "nothing in the file would change".to_owned())?;
    Ok(Written { path, before, after })
}

/// The state of a simulation between two steps.
pub(super) struct Simulator<'a> {
    pub(super) disk: Overlay<'a>,
    /// Whether an earlier step has unknown effects, such as a command.
    is_blind: bool,
    /// The metadata of a new entry.
    now: Entry,
    /// The paths that an act changes, instead of those that its query selects.
    pub(super) chosen: Option<&'a [PathBuf]>,
    /// The new path of each moved entry.
    pub(super) moved: BTreeMap<PathBuf, PathBuf>,
}

impl<'a> Simulator<'a> {
    /// A simulation that starts from this disk with these states of paths.
    pub(super) fn of(fs: &'a dyn FileSystem, nodes: BTreeMap<PathBuf, PathState>) -> Self {
        let disk = Overlay::new(fs, nodes);
        Self { disk, is_blind: false, now: Entry::default(), chosen: None, moved: BTreeMap::new() }
    }

    /// The content of a file on the real disk, without the simulated changes.
    fn of_disk(&self, path: &Path) -> Result<Vec<u8>, String> {
        Overlay::new(self.disk.fs, BTreeMap::new()).read(path)
    }

    /// Answers a question on the disk after the earlier steps. `has_acts` says that the request has changes; `is_last`,
    /// that none of them follows.
    fn ask(&self, query: &Query, has_acts: bool, is_last: bool) -> Expectation {
        let later = || {
            if is_last {
                Expectation::Later(String::new())
            } else {
                Expectation::Never("later steps change it".to_owned())
            }
        };
        if self.is_blind || at_end::is_of_machine(query) {
            return later();
        }
        // A missing file is no empty answer.
        if let Some(path) = missing(&[Step::Ask(query.clone())], &self.disk) {
            return if has_acts { Expectation::Never(format!("there is no {path}")) } else { later() };
        }
        match self.disk.answer(query) {
            Ok(found) => Expectation::Answered(answer::text(&found)),
            Err(_) if !has_acts || self.disk.problem.get() == Some(UNKNOWN_CONTENT) => later(),
            Err(problem) => Expectation::Never(problem),
        }
    }

    /// Simulates one act; an error if the act is impossible or can't be compared.
    pub(super) fn act(&mut self, act: &Act) -> Result<Expectation, String> {
        let snapshot = at_end::snapshot(act, self.disk.fs);
        Ok(paths(match act {
            Act::CreateFolder { paths } => {
                let made: BTreeSet<PathBuf> = paths.iter().map(|path| self.disk.key(Path::new(path))).collect();
                made.iter().try_for_each(|path| self.folder(path))?;
                made
            }
            Act::CreateFile { path, text } => self.new_text(path, vec![text.as_bytes().to_vec()])?,
            Act::Copy { of, to } => return self.carry(of, to, true),
            Act::Move { of, to } => return self.carry(of, to, false),
            Act::Rename { of, change } => return self.rename(of, change),
            Act::Archive { of, to } => return self.pack(of, to),
            Act::Extract { of, to } => return self.unpack(of, to),
            Act::Delete { of } => return self.delete(of),
            Act::Replace { path, find, with, to } => {
                let content = self.disk.read(Path::new(path))?;
                edit::check_words(&content, find)?;
                self.new_text(to, vec![crate::eval::text::replace(&content, find.as_bytes(), with.as_bytes())])?
            }
            Act::Save { of, to } => self.save(of, to)?,
            Act::Insert { path, text, at_start } => self.insert(path, text, *at_start)?,
            Act::SetValue { path, section, key, value } => self.set_value(path, section.as_deref(), key, value)?,
            Act::SetMode { of, mode } => return self.set_mode(of, *mode),
            Act::Link { target, path } => {
                // Who links to a file means one that is there.
                self.disk.metadata(Path::new(target)).map_err(|_| format!("there is no {target}"))?;
                let entry = Entry { kind: EntryKind::Link, mode: 0o777, ..self.now.clone() };
                let content = Content::Link(self.disk.key(Path::new(target)));
                let path = self.disk.key(Path::new(path));
                // An existing link gets the new target.
                if self.disk.metadata(&path).is_ok_and(|known| known.kind == EntryKind::Link) {
                    self.put(&path, Some(entry), content, ModeRule::Any);
                    BTreeSet::from([path])
                } else {
                    self.place(&path, entry, content, ModeRule::Any)?
                }
            }
            Act::Run { to, .. } | Act::Fetch { to, .. } => {
                if let Some(to) = to {
                    let entry = Entry { kind: EntryKind::File, ..self.now.clone() };
                    self.place(&self.disk.key(Path::new(to)), entry, Content::Any, ModeRule::Any)?;
                }
                self.is_blind |= matches!(act, Act::Run { .. });
                return Ok(Expectation::Later(snapshot));
            }
            Act::Git { .. } | Act::Install { .. } | Act::Keep { .. } | Act::Stop { .. } => {
                let is_stop = matches!(act, Act::Stop { .. });
                ensure(!(is_stop && snapshot.is_empty()), || "there was no such process".to_owned())?;
                let is_switch = matches!(act, Act::Git { action: GitAction::Switch { .. }, .. });
                self.is_blind |= is_switch || matches!(act, Act::Install { .. });
                return Ok(Expectation::Later(snapshot));
            }
        }))
    }

    /// The entries that a query selects, at their real paths; an error if a path of the query doesn't exist.
    fn selected(&self, of: &Query) -> Result<Vec<Entry>, String> {
        if let Some(chosen) = self.chosen {
            let entry = |path: &PathBuf| self.disk.metadata(path).map_err(|_| format!("{} was not there", shown(path)));
            return chosen.iter().map(entry).collect();
        }
        if let Query::Paths { paths, .. } = of.source()
            && let Some(path) = paths.iter().find(|path| self.disk.metadata(Path::new(path)).is_err())
        {
            return Err(format!("{} was not there", shown(Path::new(path))));
        }
        if self.is_blind && !matches!(of.source(), Query::Paths { .. }) {
            return Err("what is selected after the steps before is only known afterwards".to_owned());
        }
        self.listed(of)
    }

    /// The entries that a query selects on the simulated disk, at their real paths.
    fn listed(&self, of: &Query) -> Result<Vec<Entry>, String> {
        match self.disk.evaluate(of)? {
            Answer::Files(mut files) => {
                let mut folders: BTreeMap<PathBuf, PathBuf> = BTreeMap::new();
                for entry in &mut files {
                    if let (Some(folder), Some(name)) = (entry.path.parent(), entry.path.file_name()) {
                        let real =
                            || self.disk.key(&folder.join("-")).parent().map_or(folder.into(), Path::to_path_buf);
                        entry.path = folders.entry(folder.to_path_buf()).or_insert_with(real).join(name);
                    }
                }
                Ok(files)
            }
            _ => Err("it selects no files".to_owned()),
        }
    }

    /// Adds a new entry with its missing parent folders; an error if the path exists.
    fn place(
        &mut self,
        path: &Path,
        entry: Entry,
        content: Content,
        mode: ModeRule,
    ) -> Result<BTreeSet<PathBuf>, String> {
        ensure(self.disk.metadata(path).is_err(), || format!("{} was there already", shown(path)))?;
        if let Some(parent) = path.parent() {
            self.folder(parent)?;
        }
        self.put(path, Some(entry), content, mode);
        Ok(BTreeSet::from([path.to_path_buf()]))
    }

    /// Sets the simulated entry, content and mode rule of a path.
    fn put(&mut self, path: &Path, now: Option<Entry>, content: Content, mode: ModeRule) {
        let was = self.disk.start(path);
        let digest = self.disk.nodes.get(path).and_then(|node| node.digest.clone());
        let now = now.map(|entry| Entry { path: path.to_path_buf(), ..entry });
        self.disk.nodes.insert(path.to_path_buf(), PathState { was, digest, now, content, mode });
    }

    /// Simulates a new folder and its missing parents; an existing folder stays.
    fn folder(&mut self, path: &Path) -> Result<(), String> {
        let missing = path.ancestors().take_while(|folder| self.disk.metadata(folder).is_err());
        let missing: Vec<PathBuf> = missing.map(Path::to_path_buf).collect();
        if let Some(existing) = missing.last().map_or(Some(path), |outermost| outermost.parent()) {
            // A link to a folder is resolved unless it is the last component. Listing it is slow if many files go into
            // it, so the metadata is tested first.
            let is_itself = self.disk.metadata(existing).is_ok_and(|entry| entry.kind == EntryKind::Folder);
            ensure(is_itself || self.disk.list(existing).is_ok(), || {
                format!("{} is no folder that can be read", shown(existing))
            })?;
        }
        for folder in missing.iter().rev() {
            let entry = Entry { kind: EntryKind::Folder, mode: 0o755, ..self.now.clone() };
            self.put(folder, Some(entry), Content::None, ModeRule::Any);
        }
        Ok(())
    }

    /// Simulates a new text file with one of these contents; an error if the path exists.
    pub(super) fn new_text(&mut self, path: &str, texts: Vec<Vec<u8>>) -> Result<BTreeSet<PathBuf>, String> {
        let bytes = texts.first().map_or(0, |text| text.len() as u64);
        let entry = Entry { kind: EntryKind::File, bytes, mode: 0o644, ..self.now.clone() };
        self.place(
            &self.disk.key(Path::new(path)),
            entry,
            Content::OneOf(edit::with_bare_ends(texts)),
            ModeRule::AtMost,
        )
    }

    /// Simulates a copy or move of the selected entries to a target.
    fn carry(&mut self, of: &Query, to: &Target, is_copy: bool) -> Result<Expectation, String> {
        let sources = outermost(self.selected(of)?);
        let into = match to {
            Target::Into(folder) => Some(folder),
            Target::As(path) => Some(path).filter(|path| self.disk.list(Path::new(path)).is_ok()),
        };
        ensure(into.is_some() || sources.len() <= 1, || "several files can't get one name".to_owned())?;
        let target = |source: &Entry| match (to, into, source.path.file_name()) {
            (_, Some(folder), Some(name)) => self.disk.key(&Path::new(folder).join(name)),
            (Target::As(path) | Target::Into(path), ..) => self.disk.key(Path::new(path)),
        };
        let pairs = sources.into_iter().map(|source| (source.clone(), target(&source))).collect();
        self.relocate(pairs, is_copy)
    }

    /// Simulates a copy or move of each entry, with everything below it, to its new path.
    fn relocate(&mut self, pairs: Vec<(Entry, PathBuf)>, is_copy: bool) -> Result<Expectation, String> {
        if pairs.is_empty() {
            return Ok(Expectation::Nothing(NONE.to_owned()));
        }
        let mut touched = BTreeSet::new();
        for (source, target) in pairs {
            if target == source.path {
                continue;
            }
            ensure(!target.starts_with(&source.path), || format!("{} would lie in itself", shown(&source.path)))?;
            for entry in self.disk.tree(&source)? {
                let below = entry.path.strip_prefix(&source.path).ok().filter(|below| !below.as_os_str().is_empty());
                let new = below.map_or_else(|| target.clone(), |below| target.join(below));
                let content = self.content(&entry);
                let mode = match (is_copy, entry.kind) {
                    (_, EntryKind::File)
                        if let Some(PathState { was: None, mode, .. }) = self.disk.nodes.get(&entry.path) =>
                    {
                        *mode
                    }
                    (true, EntryKind::File) => ModeRule::AtMost,
                    (false, EntryKind::File | EntryKind::Folder) => ModeRule::Exact,
                    _ => ModeRule::Any,
                };
                let old = entry.path.clone();
                touched.append(&mut self.place(&new, entry, content, mode)?);
                if !is_copy {
                    self.put(&old, None, Content::None, ModeRule::Any);
                    self.moved.insert(old.clone(), new);
                    touched.insert(old);
                }
            }
        }
        Ok(paths_or(touched, "they are there already"))
    }

    /// The content of an entry on the simulated disk.
    fn content(&self, entry: &Entry) -> Content {
        match (self.disk.nodes.get(&entry.path), entry.kind) {
            (Some(node), _) => node.content.clone(),
            (None, EntryKind::Folder) => Content::None,
            (None, _) => Content::Original(entry.path.clone()),
        }
    }

    /// Simulates new names for the selected entries within their folders.
    fn rename(&mut self, of: &Query, change: &NameChange) -> Result<Expectation, String> {
        let selected = self.selected(of)?;
        ensure(outermost(selected.clone()).len() >= selected.len(), || {
            "a folder and what is in it would be renamed at once".to_owned()
        })?;
        let mut pairs = Vec::new();
        for (position, source) in (1..).zip(selected) {
            let name = source.path.file_name().and_then(|name| name.to_str());
            let new = name.and_then(|name| rename::new_name(change, name, source.modified, position));
            match new.filter(|new| !new.is_empty() && !new.contains('/') && new != "." && new != "..") {
                Some(new) => pairs.push((source.clone(), source.path.with_file_name(new))),
                None => return Err(format!("{} gets no new name", shown(&source.path))),
            }
        }
        self.relocate(pairs, false)
    }

    /// Simulates the deletion of the selected entries with everything below them.
    fn delete(&mut self, of: &Query) -> Result<Expectation, String> {
        let is_set = !matches!(of.source(), Query::Paths { .. });
        let (sources, left) = match self.is_blind && is_set && of.layers().limit.is_none() {
            true => (self.listed(of)?, Some(of.clone())),
            false => (self.selected(of)?, None),
        };
        let mut gone = BTreeSet::new();
        for source in outermost(sources) {
            for entry in self.disk.tree(&source)? {
                self.put(&entry.path, None, Content::None, ModeRule::Any);
                gone.insert(entry.path);
            }
        }
        match (gone.is_empty(), left) {
            (true, None) => Ok(Expectation::Nothing(NONE.to_owned())),
            (_, left) => Ok(Expectation::Paths(gone, left)),
        }
    }

    /// Simulates a new archive of the selected entries.
    fn pack(&mut self, of: &Query, to: &str) -> Result<Expectation, String> {
        let roots = outermost(self.selected(of)?);
        if roots.is_empty() {
            return Ok(Expectation::Nothing(NONE.to_owned()));
        }
        let trees = roots.iter().map(|root| self.disk.tree(root)).collect::<Result<Vec<_>, _>>()?.concat();
        let members = trees.into_iter().map(|entry| (entry.path.clone(), self.content(&entry))).collect();
        let roots = roots.into_iter().map(|root| root.path).collect();
        let entry = Entry { kind: EntryKind::File, mode: 0o644, ..self.now.clone() };
        let content = Content::Archive(roots, members);
        self.place(&self.disk.key(Path::new(to)), entry, content, ModeRule::AtMost).map(paths)
    }

    /// Simulates unpacking the selected archives into a folder.
    fn unpack(&mut self, of: &Query, to: &str) -> Result<Expectation, String> {
        let into = self.disk.key(Path::new(to));
        let mut made = BTreeSet::new();
        self.folder(&into)?;
        for source in self.selected(of)? {
            let read = || archive::members(&source.path, &self.disk).map_err(|problem| problem.to_string());
            for member in self.disk.within_limits(read)? {
                let name = String::from_utf8_lossy(&member.name).into_owned();
                let parts = || Path::new(&name).components();
                let is_plain = parts().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
                ensure(is_plain && name.as_bytes() == member.name, || {
                    format!("the archive holds {}, no plain name", escape::path_line(&member.name))
                })?;
                let names = parts().filter(|part| *part != Component::CurDir);
                let path = names.fold(into.clone(), |path, part| path.join(part));
                if member.is_folder {
                    self.folder(&path)?;
                } else {
                    let entry = Entry { kind: EntryKind::File, ..self.now.clone() };
                    self.place(&path, entry, Content::Digest(member.digest), ModeRule::Any)?;
                }
                made.insert(path);
            }
        }
        Ok(paths_or(made, "there was nothing to unpack"))
    }

    /// Simulates new permission bits of the selected entries.
    fn set_mode(&mut self, of: &Query, change: ModeChange) -> Result<Expectation, String> {
        let mut touched = BTreeSet::new();
        for entry in self.selected(of)? {
            let (mode, rule) = match change {
                ModeChange::Bits(bits) => (bits & 0o7777, ModeRule::Exact),
                ModeChange::Added(bits) => (entry.mode | bits & 0o777, ModeRule::Exact),
                ModeChange::Removed(bits) => (entry.mode & !(bits & 0o777), ModeRule::Exact),
                ModeChange::Executable => (entry.mode | 0o100 | (entry.mode & 0o444) >> 2, ModeRule::Executable),
                ModeChange::NotExecutable => (entry.mode & !0o111, ModeRule::Exact),
                ModeChange::ReadOnly => (entry.mode & !0o222, ModeRule::Exact),
            };
            let content = self.content(&entry);
            let path = entry.path.clone();
            self.put(&path, Some(Entry { mode, ..entry }), content, rule);
            touched.insert(path);
        }
        Ok(paths_or(touched, NONE))
    }
}

/// The reason why an act on an empty selection changes nothing.
const NONE: &str = "there were none";

/// The expectation to compare these paths; without paths, that the step changes nothing, for this reason.
fn paths_or(touched: BTreeSet<PathBuf>, none: &str) -> Expectation {
    if touched.is_empty() { Expectation::Nothing(none.to_owned()) } else { paths(touched) }
}

/// The expectation to compare these paths with the simulation.
pub(super) fn paths(paths: BTreeSet<PathBuf>) -> Expectation {
    Expectation::Paths(paths, None)
}

/// The entries that are not below another entry of the list.
fn outermost(entries: Vec<Entry>) -> Vec<Entry> {
    let all: BTreeSet<PathBuf> = entries.iter().map(|entry| entry.path.clone()).collect();
    let is_below = |path: &Path| path.ancestors().skip(1).any(|above| all.contains(above));
    entries.into_iter().filter(|entry| !is_below(&entry.path)).collect()
}
