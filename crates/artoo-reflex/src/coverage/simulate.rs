//! Carries out the steps of a request on an [`Overlay`], in their order.

mod edit;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use artoo_proto::escape;

use super::answer;
use super::later;
use super::overlay::{Content, ModeRule, Node, Overlay, UNKNOWN_CONTENT, shown};
use crate::algebra::{Act, GitAction, ModeChange, NameChange, Query, Step, Target};
use crate::eval::{Answer, Entry, EntryKind, FileSystem, archive, rename};

/// What the disk would hold if exactly these steps were carried out, and how each step is compared with what was done.
#[derive(Debug, Clone, Default)]
pub(super) struct Simulation {
    pub(super) nodes: BTreeMap<PathBuf, Node>,
    pub(super) rows: Vec<Expect>,
}

/// How one step is compared with what was done.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Expect {
    /// These paths hold what [`Simulation::nodes`] says; and afterwards the query selects nothing.
    Paths(BTreeSet<PathBuf>, Option<Query>),
    /// There is nothing to do; the text says why.
    Nothing(String),
    /// The answer to a question.
    Answered(String),
    /// It is looked at when the task ends; the text describes the machine as it was when the task began.
    Later(String),
    /// It can't be shown; the text says why.
    Never(String),
}

/// Carries out steps one after the other; `nodes` is what steps before have left.
pub(super) fn simulate(steps: &[&Step], nodes: BTreeMap<PathBuf, Node>, fs: &dyn FileSystem) -> Simulation {
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
                    Expect::Never(problem)
                })
            }
        });
    }
    Simulation { nodes: simulator.disk.nodes, rows }
}

/// The disk as far as the steps were carried out.
pub(super) struct Simulator<'a> {
    pub(super) disk: Overlay<'a>,
    /// Whether a step was carried out of which it is only known afterwards what it changes.
    is_blind: bool,
    /// The facts of a new entry.
    now: Entry,
    /// The paths that an act is about whatever it selects.
    pub(super) chosen: Option<&'a [PathBuf]>,
    /// The new path of each moved entry.
    pub(super) moved: BTreeMap<PathBuf, PathBuf>,
}

impl<'a> Simulator<'a> {
    pub(super) fn of(fs: &'a dyn FileSystem, nodes: BTreeMap<PathBuf, Node>) -> Self {
        let disk = Overlay::new(fs, nodes);
        Self { disk, is_blind: false, now: Entry::default(), chosen: None, moved: BTreeMap::new() }
    }

    /// Answers a question on the disk as the steps before leave it. `has_acts`: the request has changes at all;
    /// `is_last`: none of them follows.
    fn ask(&self, query: &Query, has_acts: bool, is_last: bool) -> Expect {
        let later = || {
            if is_last { Expect::Later(String::new()) } else { Expect::Never("later steps change it".to_owned()) }
        };
        if self.is_blind || later::is_of_machine(query) {
            return later();
        }
        match self.disk.evaluate(query) {
            Ok(found) => Expect::Answered(answer::text(&found)),
            Err(_) if !has_acts || self.disk.problem.get() == Some(UNKNOWN_CONTENT) => later(),
            Err(problem) => Expect::Never(problem),
        }
    }

    /// Carries out one act; an error if it can't be met or can't be compared.
    pub(super) fn act(&mut self, act: &Act) -> Result<Expect, String> {
        let snapshot = later::snapshot(act, self.disk.fs);
        Ok(paths(match act {
            Act::CreateFolder { paths } => {
                let mut made = BTreeSet::new();
                for path in paths {
                    let path = self.disk.key(Path::new(path));
                    self.folder(&path)?;
                    made.insert(path);
                }
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
                let entry = Entry { kind: EntryKind::Link, mode: 0o777, ..self.now.clone() };
                let content = Content::Link(self.disk.key(Path::new(target)));
                let path = self.disk.key(Path::new(path));
                // A link that is there already is made to lead elsewhere.
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
                return Ok(Expect::Later(snapshot));
            }
            Act::Git { action, .. } => {
                self.is_blind |= matches!(action, GitAction::Switch { .. });
                return Ok(Expect::Later(snapshot));
            }
            Act::Install { .. } => {
                self.is_blind = true;
                return Ok(Expect::Later(snapshot));
            }
            Act::Stop { .. } if snapshot.is_empty() => return Err("there was no such process".to_owned()),
            Act::Stop { .. } | Act::Keep { .. } => return Ok(Expect::Later(snapshot)),
        }))
    }

    /// The entries that a query selects, as entries at their real paths; an error if a named path is not there.
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

    /// The entries that a query selects, at their real paths.
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

    /// Puts a new entry at a path where nothing is, with its missing parent folders.
    fn place(
        &mut self,
        path: &Path,
        entry: Entry,
        content: Content,
        mode: ModeRule,
    ) -> Result<BTreeSet<PathBuf>, String> {
        if self.disk.metadata(path).is_ok() {
            return Err(format!("{} was there already", shown(path)));
        }
        if let Some(parent) = path.parent() {
            self.folder(parent)?;
        }
        self.put(path, Some(entry), content, mode);
        Ok(BTreeSet::from([path.to_path_buf()]))
    }

    /// Sets what a path holds.
    fn put(&mut self, path: &Path, now: Option<Entry>, content: Content, mode: ModeRule) {
        let was = self.disk.start(path);
        let digest = self.disk.nodes.get(path).and_then(|node| node.digest.clone());
        let now = now.map(|entry| Entry { path: path.to_path_buf(), ..entry });
        self.disk.nodes.insert(path.to_path_buf(), Node { was, digest, now, content, mode });
    }

    /// Makes a folder and its missing parents; an existing one stays.
    fn folder(&mut self, path: &Path) -> Result<(), String> {
        let missing = path.ancestors().take_while(|folder| self.disk.metadata(folder).is_err());
        let missing: Vec<PathBuf> = missing.map(Path::to_path_buf).collect();
        let existing = missing.last().map_or(Some(path), |outermost| outermost.parent());
        if let Some(existing) = existing {
            // A link to a folder is resolved unless it is the last component. Listing a folder for each of many files
            // that go into it takes time.
            let is_itself = self.disk.metadata(existing).is_ok_and(|entry| entry.kind == EntryKind::Folder);
            let is_folder = is_itself || self.disk.list(existing).is_ok();
            if !is_folder {
                return Err(format!("{} is no folder that can be read", shown(existing)));
            }
        }
        for folder in missing.iter().rev() {
            let entry = Entry { kind: EntryKind::Folder, mode: 0o755, ..self.now.clone() };
            self.put(folder, Some(entry), Content::None, ModeRule::Any);
        }
        Ok(())
    }

    /// Writes a new text file.
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

    /// Copies or moves the selected entries.
    fn carry(&mut self, of: &Query, to: &Target, is_copy: bool) -> Result<Expect, String> {
        let sources = outermost(self.selected(of)?);
        let into = match to {
            Target::Into(folder) => Some(folder),
            Target::As(path) => Some(path).filter(|path| self.disk.list(Path::new(path)).is_ok()),
        };
        if into.is_none() && sources.len() > 1 {
            return Err("several files can't get one name".to_owned());
        }
        let mut pairs = Vec::new();
        for source in sources {
            let target = match (to, into, source.path.file_name()) {
                (_, Some(folder), Some(name)) => self.disk.key(&Path::new(folder).join(name)),
                (Target::As(path) | Target::Into(path), ..) => self.disk.key(Path::new(path)),
            };
            pairs.push((source, target));
        }
        self.relocate(pairs, is_copy)
    }

    /// Copies or moves entries with everything below them to new paths.
    fn relocate(&mut self, pairs: Vec<(Entry, PathBuf)>, is_copy: bool) -> Result<Expect, String> {
        if pairs.is_empty() {
            return Ok(Expect::Nothing("there were none".to_owned()));
        }
        let mut touched = BTreeSet::new();
        for (source, target) in pairs {
            if target == source.path {
                continue;
            }
            if target.starts_with(&source.path) {
                return Err(format!("{} would lie in itself", shown(&source.path)));
            }
            for entry in self.disk.tree(&source)? {
                let below = entry.path.strip_prefix(&source.path).unwrap_or(Path::new(""));
                let new = if below.as_os_str().is_empty() { target.clone() } else { target.join(below) };
                let content = self.content(&entry);
                let mode = match (is_copy, entry.kind) {
                    (_, EntryKind::File)
                        if let Some(Node { was: None, mode, .. }) = self.disk.nodes.get(&entry.path) =>
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
        if touched.is_empty() { Ok(Expect::Nothing("they are there already".to_owned())) } else { Ok(paths(touched)) }
    }

    /// The content that a path has on this view.
    fn content(&self, entry: &Entry) -> Content {
        match (self.disk.nodes.get(&entry.path), entry.kind) {
            (Some(node), _) => node.content.clone(),
            (None, EntryKind::Folder) => Content::None,
            (None, _) => Content::Original(entry.path.clone()),
        }
    }

    /// Renames the selected entries within their folders.
    fn rename(&mut self, of: &Query, change: &NameChange) -> Result<Expect, String> {
        let selected = self.selected(of)?;
        if outermost(selected.clone()).len() < selected.len() {
            return Err("a folder and what is in it would be renamed at once".to_owned());
        }
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

    /// Deletes the selected entries with everything below them.
    fn delete(&mut self, of: &Query) -> Result<Expect, String> {
        let is_set = !matches!(of.source(), Query::Paths { .. });
        let (sources, left) = match self.is_blind && is_set && of.layers().stretch.is_none() {
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
            (true, None) => Ok(Expect::Nothing("there were none".to_owned())),
            (_, left) => Ok(Expect::Paths(gone, left)),
        }
    }

    /// Packs the selected entries.
    fn pack(&mut self, of: &Query, to: &str) -> Result<Expect, String> {
        let roots = outermost(self.selected(of)?);
        if roots.is_empty() {
            return Ok(Expect::Nothing("there were none".to_owned()));
        }
        let mut members = Vec::new();
        for root in &roots {
            for entry in self.disk.tree(root)? {
                members.push((entry.path.clone(), self.content(&entry)));
            }
        }
        let roots = roots.into_iter().map(|root| root.path).collect();
        let entry = Entry { kind: EntryKind::File, mode: 0o644, ..self.now.clone() };
        let content = Content::Archive(roots, members);
        self.place(&self.disk.key(Path::new(to)), entry, content, ModeRule::AtMost).map(paths)
    }

    /// Unpacks the selected archives into a folder.
    fn unpack(&mut self, of: &Query, to: &str) -> Result<Expect, String> {
        let into = self.disk.key(Path::new(to));
        let mut made = BTreeSet::new();
        self.folder(&into)?;
        for source in self.selected(of)? {
            let read = || archive::members(&source.path, &self.disk).map_err(|problem| problem.to_string());
            for member in self.disk.within_limits(read)? {
                let name = String::from_utf8_lossy(&member.name).into_owned();
                let parts = || Path::new(&name).components();
                let is_plain = parts().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
                if !is_plain || name.as_bytes() != member.name {
                    return Err(format!("the archive holds {}, no plain name", escape::path_line(&member.name)));
                }
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
        Ok(if made.is_empty() { Expect::Nothing("there was nothing to unpack".to_owned()) } else { paths(made) })
    }

    /// Changes the permission bits of the selected entries.
    fn set_mode(&mut self, of: &Query, change: ModeChange) -> Result<Expect, String> {
        let mut touched = BTreeSet::new();
        for entry in self.selected(of)? {
            let (mode, rule) = match change {
                ModeChange::Bits(bits) => (bits & 0o7777, ModeRule::Exact),
                ModeChange::Executable => (entry.mode | 0o100 | (entry.mode & 0o444) >> 2, ModeRule::Executable),
                ModeChange::NotExecutable => (entry.mode & !0o111, ModeRule::Exact),
                ModeChange::ReadOnly => (entry.mode & !0o222, ModeRule::Exact),
            };
            let content = self.content(&entry);
            let path = entry.path.clone();
            self.put(&path, Some(Entry { mode, ..entry }), content, rule);
            touched.insert(path);
        }
        Ok(if touched.is_empty() { Expect::Nothing("there were none".to_owned()) } else { paths(touched) })
    }
}

/// The comparison of these paths.
pub(super) fn paths(paths: BTreeSet<PathBuf>) -> Expect {
    Expect::Paths(paths, None)
}

/// The entries that are not below another one of the list.
fn outermost(entries: Vec<Entry>) -> Vec<Entry> {
    let all: BTreeSet<PathBuf> = entries.iter().map(|entry| entry.path.clone()).collect();
    let is_below = |path: &Path| path.ancestors().skip(1).any(|above| all.contains(above));
    entries.into_iter().filter(|entry| !is_below(&entry.path)).collect()
}
