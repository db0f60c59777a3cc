//! The plan of an act: every operation with its paths, made before approval and before any change.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use artoo_proto::{EffectClass, Environment, units};

use crate::activity::{Stage, Unit};
use crate::change::NewNames;
use crate::config::ToolConfig;
use crate::files::act::{self, Act};
use crate::files::edit::{self, ModeChange};
use crate::files::rename::Template;
use crate::files::survey::{self, Kind, Source};
use crate::files::{pack, unpack};
use crate::input::{self, unfit};
use crate::protect::Protected;
use crate::record::Record;
use crate::{paths, texts};

/// Maximum number of lines for paths and for a diff in the details of a question; the rest is counted.
const LISTED_MAX: usize = 500;

const RENAMES: &str = "renames";

/// Largest file in which `files` replaces a text, in bytes.
pub(super) const REPLACE_MAX_BYTES: u64 = 64 * 1024 * 1024;

/// One operation of a `files` plan, with absolute paths. No folder of its paths is a symlink.
#[derive(Debug)]
pub(super) enum Operation {
    MakeFolder { to: PathBuf },
    MakeFile { to: PathBuf, text: String },
    MakeLink { to: PathBuf, target: PathBuf },
    Write { to: PathBuf, text: String, before: String },
    SetMode { path: PathBuf, mode: ModeChange },
    Copy { from: PathBuf, to: PathBuf },
    Move { from: PathBuf, to: PathBuf },
    Trash { from: PathBuf },
    Pack { sources: Vec<PathBuf>, to: PathBuf },
    Unpack { from: PathBuf, into: PathBuf },
}

/// A planned call of `files` or `trash`: its operations with the texts for the question.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(super) operations: Vec<Operation>,
    /// The act in one line.
    pub(crate) headline: String,
    pub(crate) class: EffectClass,
    /// Every path that it reads or creates.
    pub(crate) paths: Vec<PathBuf>,
    /// The effect in one sentence.
    pub(crate) effect: String,
    /// Every source and every new path, a line each.
    listed: Vec<String>,
    /// What its progress is measured by; `None` for an act that is done at once.
    pub(super) stage: Option<Stage>,
    /// All operations and the identities of their files; an approval is bound to it.
    pub(crate) contract: String,
    /// Whether it only creates files in the workspace.
    pub(crate) stays_in_workspace: bool,
    /// Why copying one of the files needs approval: the copy has another name.
    pub(crate) secret: Option<String>,
    /// The new names that need approval in the workspace too.
    pub(crate) names: NewNames,
}

/// Plans an act of `files` or `trash`: reads the disk and changes nothing.
pub(crate) fn plan(config: &ToolConfig, protected: &Protected, act: Act) -> Result<Plan, Box<Record>> {
    let environment = &config.environment;
    let workspace = paths::real(Path::new(&environment.workspace));
    let mut names = NewNames::new(config);
    let draft = Planner { environment, protected, names: &mut names }.draft(act)?;
    let Draft { verb, tail, sources, targets, operations, class, bytes } = draft;
    let diff = operations.iter().filter_map(edit::diff).flatten();
    operations.iter().try_for_each(|operation| note_names(operation, &mut names))?;
    let home = Path::new(&environment.home);
    let named: Vec<&Path> = sources.iter().map(|source| source.path.as_path()).collect();
    let effect = match (sources.as_slice(), targets.as_slice()) {
        ([], [to]) => format!("{verb} {}{tail}", texts::path_from_home(to, home)),
        ([_], [_]) if tail.starts_with(" to ") => {
            format!("{verb} {}: {}{tail}", total(&sources), texts::named(&named, home))
        }
        _ => format!("{verb} {}{tail}: {}", total(&sources), texts::named(&named, home)),
    };
    let new = targets.iter().map(|to| format!("new {}", paths::line(to)));
    let mut contract: Vec<String> = operations.iter().map(|operation| format!("{operation:?}")).collect();
    contract.extend(sources.iter().map(|source| format!("{} {}", paths::line(&source.real), source.identity)));
    let headline = match (sources.as_slice(), targets.as_slice()) {
        ([], [to]) => format!("{verb} {}", paths::line(to)),
        ([one], []) => format!("{verb} {}{tail}", paths::line(&one.path)),
        ([one], [to]) => format!("{verb} {} → {}", paths::line(&one.path), paths::line(to)),
        (many, _) => format!("{verb} {}{tail}", total(many)),
    };
    let is_copied = class == EffectClass::Creating;
    Ok(Plan {
        headline,
        secret: sources.iter().filter(|_| is_copied).find_map(|source| protected.secret(&source.path)),
        class,
        effect,
        listed: sources.iter().map(detail).chain(new).chain(diff).collect(),
        stage: stage(&operations, bytes),
        contract: contract.join("\n"),
        stays_in_workspace: is_copied && targets.iter().all(|to| to.starts_with(&workspace)),
        paths: sources.iter().map(|source| source.path.clone()).chain(targets).collect(),
        operations,
        names,
    })
}

impl Plan {
    /// The files that the plan edits in place; `None` if it has any other operation.
    pub(super) fn edited(&self) -> Option<Vec<PathBuf>> {
        let edited = self.operations.iter().map(|operation| {
            let (Operation::Write { to: path, .. } | Operation::SetMode { path, .. }) = operation else { return None };
            Some(path.clone())
        });
        edited.collect()
    }

    /// The lines of a question's details: names that need an approval, then paths and a diff, [`LISTED_MAX`] lines at
    /// most.
    pub(super) fn details(&self) -> Vec<String> {
        let more = self.listed.len().saturating_sub(LISTED_MAX);
        let more = (more > 0).then(|| format!("and {more} more"));
        self.names.lines().into_iter().chain(self.listed.iter().take(LISTED_MAX).cloned()).chain(more).collect()
    }
}

/// Notes the names that an operation creates, since some names need approval; those in an archive are noted when it is
/// surveyed.
fn note_names(operation: &Operation, names: &mut NewNames) -> Result<(), Box<Record>> {
    match operation {
        Operation::MakeFolder { to } => names.add(to, true),
        Operation::MakeFile { to, .. }
        | Operation::MakeLink { to, .. }
        | Operation::Write { to, .. }
        | Operation::Pack { to, .. } => names.add(to, false),
        Operation::SetMode { path, .. } => names.add(path, false),
        Operation::Copy { from, to } | Operation::Move { from, to } => {
            names.add_tree(from, to).map_err(|error| survey::io_failed(from, &error))?;
        }
        Operation::Trash { .. } | Operation::Unpack { .. } => {}
    }
    Ok(())
}

/// A plan of a `files` act before the texts for its question are written.
struct Draft {
    verb: &'static str,
    /// The text after the number of sources: the target.
    tail: String,
    sources: Vec<Source>,
    targets: Vec<PathBuf>,
    operations: Vec<Operation>,
    class: EffectClass,
    /// Bytes to be copied, packed or unpacked.
    bytes: u64,
}

impl Draft {
    /// A draft with one operation, which creates one path.
    fn creating(verb: &'static str, tail: String, sources: Vec<Source>, to: PathBuf, operation: Operation) -> Self {
        let (class, bytes) = (EffectClass::Creating, sum(&sources));
        Self { verb, tail, sources, targets: vec![to], operations: vec![operation], class, bytes }
    }

    /// A draft whose operations change existing files, so that it needs approval.
    fn changing(verb: &'static str, tail: String, sources: Vec<Source>, operations: Vec<Operation>) -> Self {
        let (class, bytes) = (EffectClass::Unproven, 0);
        Self { verb, tail, sources, targets: Vec::new(), operations, class, bytes }
    }

    /// A draft with one operation for each pair of source and target.
    fn of_pairs(
        verb: &'static str,
        home: &str,
        class: EffectClass,
        pairs: Vec<(Source, PathBuf)>,
        operation: impl Fn(PathBuf, PathBuf) -> Operation,
    ) -> Self {
        let operations = pairs.iter().map(|(source, to)| operation(source.real.clone(), to.clone())).collect();
        let (sources, targets): (Vec<Source>, Vec<PathBuf>) = pairs.into_iter().unzip();
        let named: Vec<&Path> = targets.iter().map(PathBuf::as_path).collect();
        let tail = format!(" to {}", texts::destination(&named, verb == RENAMES, Path::new(home)));
        Self { verb, tail, bytes: sum(&sources), sources, targets, operations, class }
    }
}

/// Makes the draft of an act from the disk as it is.
struct Planner<'a> {
    environment: &'a Environment,
    protected: &'a Protected,
    names: &'a mut NewNames,
}

impl Planner<'_> {
    /// Makes the draft (sources, targets, operations) of an act of `files`.
    fn draft(&mut self, act: Act) -> Result<Draft, Box<Record>> {
        let home = &self.environment.home;
        let from_home = |to: &Path| texts::path_from_home(to, Path::new(home));
        Ok(match act {
            Act::CreateFolder { to } => {
                let to = self.free_target(&to)?;
                Draft::creating("makes the folder", String::new(), Vec::new(), to.clone(), Operation::MakeFolder { to })
            }
            Act::CreateFile { to, text } => {
                let to = self.free_target(&to)?;
                let size = format!(" ({})", units::bytes(text.len() as u64));
                Draft::creating("makes the file", size, Vec::new(), to.clone(), Operation::MakeFile { to, text })
            }
            Act::Replace { paths, to, find, with } => {
                let sources = self.sources(&paths, false)?;
                let to = self.free_target(&to)?;
                let text = sources.iter().map(|source| replaced(source, &find, &with)).collect::<Result<_, _>>()?;
                let operation = Operation::MakeFile { to: to.clone(), text };
                let tail = format!(" at {}", from_home(&to));
                Draft::creating("replaces text in a copy of", tail, sources, to, operation)
            }
            Act::Write { to, text, before } => self.write(to, text, before)?,
            Act::SetMode { paths, mode } => self.set_mode(&paths, mode)?,
            Act::Link { to, target } => self.link(&to, &target)?,
            Act::Copy { paths, to } => {
                let pairs = self.destinations(outermost(self.sources(&paths, false)?), &to)?;
                Draft::of_pairs("copies", home, EffectClass::Creating, pairs, |from, to| Operation::Copy { from, to })
            }
            Act::Move { paths, to } => {
                let pairs = self.destinations(outermost(self.sources(&paths, true)?), &to)?;
                Draft::of_pairs("moves", home, EffectClass::Unproven, pairs, |from, to| Operation::Move { from, to })
            }
            Act::Rename { paths, template, find, with } => {
                let template = Template::parse(template, find, with);
                let template = template.map_err(|problem| unfit(format!("template: {problem}")))?;
                let pairs = self.free(new_names(self.sources(&paths, true)?, &template)?)?;
                Draft::of_pairs(RENAMES, home, EffectClass::Unproven, pairs, |from, to| Operation::Move { from, to })
            }
            Act::Archive { paths, to } => {
                pack::Format::of(&self.target(&to)?).map_err(|error| unfit(error.to_string()))?;
                let sources = outermost(self.sources(&paths, false)?);
                let to = self.free_target(&to)?;
                if let Some(around) = sources.iter().find(|source| to.starts_with(&source.real)) {
                    return Err(inside(&around.path));
                }
                let packed = sources.iter().map(|source| source.real.clone()).collect();
                let tail = format!(" into {}", from_home(&to));
                Draft::creating("packs", tail, sources, to.clone(), Operation::Pack { sources: packed, to })
            }
            Act::Extract { paths, to } => {
                let sources = outermost(self.sources(&paths, false)?);
                self.extraction(sources, &to)?
            }
            Act::Delete { paths } => {
                let sources = outermost(self.sources(&paths, true)?);
                Draft {
                    verb: "moves",
                    tail: " to the trash".to_owned(),
                    bytes: sum(&sources),
                    operations: sources.iter().map(|source| Operation::Trash { from: source.real.clone() }).collect(),
                    sources,
                    targets: Vec::new(),
                    class: EffectClass::Unproven,
                }
            }
        })
    }

    /// The draft of replacing a file's content.
    fn write(&self, path: String, text: String, before: String) -> Result<Draft, Box<Record>> {
        let sources = self.sources(&[path], true)?;
        edit::check_text(&sources)?;
        let to = sources.first().map(|source| source.real.clone()).unwrap_or_default();
        let operations = vec![Operation::Write { to, text, before }];
        Ok(Draft::changing("changes the text of", String::new(), sources, operations))
    }

    /// The draft of changing permission bits.
    fn set_mode(&self, paths: &[String], mode: ModeChange) -> Result<Draft, Box<Record>> {
        let sources = self.sources(paths, true)?;
        edit::check_links(&sources)?;
        let operation = |source: &Source| Operation::SetMode { path: source.real.clone(), mode };
        let operations = sources.iter().map(operation).collect();
        Ok(Draft::changing("sets the permissions of", format!(" to {mode}"), sources, operations))
    }

    /// The draft of creating a symlink.
    fn link(&self, to: &str, target: &str) -> Result<Draft, Box<Record>> {
        let to = self.free_target(to)?;
        let target = input::path(self.environment, "target", target)?;
        let tail = format!(" to {}", texts::path_from_home(&target, Path::new(&self.environment.home)));
        let operation = Operation::MakeLink { to: to.clone(), target };
        Ok(Draft::creating("makes a link", tail, Vec::new(), to, operation))
    }

    /// Surveys the source paths of an act; `leaves`: the act removes them from their folders.
    fn sources(&self, paths: &[String], leaves: bool) -> Result<Vec<Source>, Box<Record>> {
        let listed: Vec<PathBuf> =
            paths.iter().map(|line| act::listed(self.environment, line)).collect::<Result<_, _>>()?;
        listed.iter().map(|path| survey::source(self.environment, self.protected, path, leaves)).collect()
    }

    /// The absolute path of the target (`to`) of a `files` act; an error if it can't be used.
    fn target(&self, to: &str) -> Result<PathBuf, Box<Record>> {
        input::path(self.environment, "to", to)
    }

    /// The real path of a target that does not exist and is not protected; otherwise the record that refuses it.
    fn free_target(&self, to: &str) -> Result<PathBuf, Box<Record>> {
        survey::free_place(self.protected, &self.target(to)?)
    }

    /// The draft of unpacking archives into a folder.
    fn extraction(&mut self, sources: Vec<Source>, to: &str) -> Result<Draft, Box<Record>> {
        let into = self.target(to)?;
        if let Some(reason) = self.protected.refusal(&into) {
            return Err(input::denied(&reason));
        }
        let into = paths::without_links(&into);
        let (mut files, mut bytes) = (0, 0);
        for source in &sources {
            let found = unpack::survey(&source.real, &into, self.names)?;
            files += found.files;
            bytes += found.bytes;
        }
        let unpacking = |source: &Source| Operation::Unpack { from: source.real.clone(), into: into.clone() };
        Ok(Draft {
            verb: "unpacks",
            tail: texts::unpacked(&into, Path::new(&self.environment.home), files, bytes),
            bytes,
            operations: sources.iter().map(unpacking).collect(),
            sources,
            targets: vec![into.clone()],
            class: EffectClass::Creating,
        })
    }

    /// Pairs of sources and their new paths. A trailing slash of the target says that it is a folder.
    fn destinations(&self, sources: Vec<Source>, to: &str) -> Result<Vec<(Source, PathBuf)>, Box<Record>> {
        let target = self.target(to)?;
        let into_folder = to.ends_with('/') || sources.len() > 1 || target.is_dir();
        let pairs = sources.into_iter().map(|source| {
            let to = match source.path.file_name() {
                Some(name) if into_folder => target.join(name),
                _ => target.clone(),
            };
            (source, to)
        });
        self.free(pairs.collect())
    }

    /// The pairs of sources and targets, unless a target exists, is used twice, or is inside its source.
    fn free(&self, pairs: Vec<(Source, PathBuf)>) -> Result<Vec<(Source, PathBuf)>, Box<Record>> {
        let mut taken = BTreeSet::new();
        let mut checked = Vec::new();
        for (source, to) in pairs {
            let real = survey::free_place(self.protected, &to)?;
            if real.starts_with(&source.real) {
                return Err(inside(&to));
            }
            if !taken.insert(real.clone()) {
                return Err(unfit(format!("{} would be the target of two of them", paths::line(&to))));
            }
            checked.push((source, real));
        }
        Ok(checked)
    }
}

/// Pairs of sources and their new paths for a renaming, the deepest first, so that no step changes a later path.
/// Unchanged names are left out; `Err` if that leaves none, or a name is not valid.
fn new_names(sources: Vec<Source>, template: &Template) -> Result<Vec<(Source, PathBuf)>, Box<Record>> {
    let mut pairs = Vec::new();
    for (position, source) in (1..).zip(sources) {
        let name = template.apply(&source.path, source.modified, position);
        let name = name.map_err(|problem| unfit(format!("{}: {problem}", paths::line(&source.path))))?;
        if source.path.file_name().is_none_or(|old| old != name.as_str()) {
            let to = source.path.with_file_name(name);
            pairs.push((source, to));
        }
    }
    if pairs.is_empty() {
        return Err(unfit("all names are as requested already; nothing was changed"));
    }
    pairs.sort_by_key(|(source, _)| std::cmp::Reverse(source.real.components().count()));
    Ok(pairs)
}

/// The sources of an act that are not below another source, each once.
fn outermost(mut sources: Vec<Source>) -> Vec<Source> {
    let folders: BTreeSet<PathBuf> =
        sources.iter().filter(|source| source.kind == Kind::Folder).map(|source| source.real.clone()).collect();
    let mut seen = BTreeSet::new();
    sources.retain(|source| {
        let is_below = source.real.ancestors().skip(1).any(|folder| folders.contains(folder));
        !is_below && seen.insert(source.real.clone())
    });
    sources
}

/// The text of a source file after a replacement; `Err` if it is not text, too long, or does not have the text to find.
fn replaced(source: &Source, find: &str, with: &str) -> Result<String, Box<Record>> {
    let path = paths::line(&source.path);
    let not_text = || unfit(format!("{path} is not text, or longer than {REPLACE_MAX_BYTES} bytes"));
    if source.kind != Kind::File || source.bytes > REPLACE_MAX_BYTES {
        return Err(not_text());
    }
    let text = std::fs::read(&source.real).map_err(|error| survey::io_failed(&source.path, &error))?;
    let text = String::from_utf8(text).map_err(|_| not_text())?;
    if !text.contains(find) {
        return Err(unfit(format!("the text to find does not occur in {path}; nothing was changed")));
    }
    Ok(text.replace(find, with))
}

/// The record of an act that is refused because its target lies inside its source.
fn inside(path: &Path) -> Box<Record> {
    unfit(format!("{} lies inside what is copied or moved", paths::line(path)))
}

/// The size of all sources in bytes.
fn sum(sources: &[Source]) -> u64 {
    sources.iter().map(|source| source.bytes).sum()
}

/// The numbers of source files, links and folders with their total size, as text.
fn total(sources: &[Source]) -> String {
    let of_kind = |kind| sources.iter().filter(|source| source.kind == kind).count() as u64;
    let (links, folders) = (of_kind(Kind::Link), of_kind(Kind::Folder));
    let counts = [(of_kind(Kind::File), "file", "files"), (links, "link", "links"), (folders, "folder", "folders")];
    let inside = units::count(sources.iter().map(|source| source.files).sum(), "file", "files");
    let inside = if folders > 0 { format!("{inside} in all, ") } else { String::new() };
    format!("{} ({inside}{})", texts::counted(&counts), units::bytes(sum(sources)))
}

/// A line of a question's details: a source, its exact size and its newest change.
fn detail(source: &Source) -> String {
    let files = texts::exactly(source.files, "file", "files");
    let bytes = texts::exactly(source.bytes, "byte", "bytes");
    format!("{}: {files}, {bytes}, newest change {}", paths::line(&source.path), source.newest)
}

/// What a progress meter shows for these operations: the verb and the total of bytes; `None` for operations that take
/// no time.
fn stage(operations: &[Operation], bytes: u64) -> Option<Stage> {
    let (verb, passes) = match operations.first()? {
        Operation::Copy { .. } => ("copying", 3),
        Operation::Move { from, to } if device(from) != device(to) => ("moving", 5),
        Operation::Move { .. } => ("moving", 1),
        Operation::Trash { .. } => ("moving to the trash", 1),
        Operation::Pack { .. } => ("packing", 1),
        Operation::Unpack { .. } => ("unpacking", 2),
        Operation::MakeFolder { .. }
        | Operation::MakeFile { .. }
        | Operation::MakeLink { .. }
        | Operation::Write { .. }
        | Operation::SetMode { .. } => return None,
    };
    Some(Stage { verb, unit: Unit::Bytes, total: Some(bytes), passes })
}

/// The number of the device (file system) of a path, or of the nearest folder above it that exists.
fn device(path: &Path) -> Option<u64> {
    path.ancestors().find_map(|path| path.symlink_metadata().ok()).map(|found| found.dev())
}
