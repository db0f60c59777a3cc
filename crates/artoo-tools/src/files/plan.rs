//! An act and the disk, planned: every single operation with its place, before anyone is asked and anything is touched.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use artoo_proto::{EffectClass, Environment, Timestamp};

use crate::files::act::{Act, Destination};
use crate::files::rename::Template;
use crate::files::survey::{self, Kind, Obstacle, Source};
use crate::files::{pack, unpack};
use crate::paths;
use crate::protect::Protected;

/// Paths named in a question and in a report; the rest is counted.
const NAMED_MAX: usize = 20;

/// Longest file whose text is replaced into a new one.
pub(super) const REPLACE_MAX_BYTES: u64 = 64 * 1024 * 1024;

/// One step; every path is real: no link on the way to its last name.
#[derive(Debug)]
pub(super) enum Operation {
    MakeFolder { to: PathBuf },
    MakeFile { to: PathBuf, text: String },
    Copy { from: PathBuf, to: PathBuf },
    Move { from: PathBuf, to: PathBuf },
    Trash { from: PathBuf },
    Pack { sources: Vec<PathBuf>, to: PathBuf },
    Unpack { from: PathBuf, into: PathBuf },
}

/// An act ready to be asked about and carried out.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(super) operations: Vec<Operation>,
    /// What is done, in one line.
    pub(crate) headline: String,
    pub(crate) class: EffectClass,
    /// Every path that it reads or creates.
    pub(crate) paths: Vec<PathBuf>,
    /// What would happen, for a person.
    pub(crate) effects: Vec<String>,
    /// The whole list of operations and what they found: what a yes is for.
    pub(crate) contract: String,
    /// Whether it only adds to the workspace.
    pub(crate) stays_in_workspace: bool,
    /// Why a person is asked before one of the files is copied: the copy has another name.
    pub(crate) secret: Option<String>,
}

/// Plans an act. Reads the disk, changes nothing.
pub(crate) fn plan(environment: &Environment, protected: &Protected, act: Act) -> Result<Plan, Obstacle> {
    let workspace = paths::real(Path::new(&environment.workspace));
    let drawn = draw(environment, protected, act)?;
    let Drawn { verb, sources, targets, operations, class, remark } = drawn;
    let mut effects = Vec::new();
    if !sources.is_empty() {
        let names = named(sources.iter().map(|source| source.path.as_path()));
        effects.push(format!("{verb} {}: {names}", total(&sources)));
    }
    if !targets.is_empty() {
        effects.push(format!("makes {}", named(targets.iter().map(PathBuf::as_path))));
    }
    effects.extend(remark);
    let mut contract: Vec<String> = operations.iter().map(|operation| format!("{operation:?}")).collect();
    contract.extend(sources.iter().map(|source| format!("{} {}", paths::line(&source.real), source.identity)));
    let headline = match (sources.as_slice(), targets.as_slice()) {
        ([], [to]) => format!("{verb} {}", paths::line(to)),
        ([one], []) => format!("{verb} {}", paths::line(&one.path)),
        ([one], [to]) => format!("{verb} {} → {}", paths::line(&one.path), paths::line(to)),
        (many, _) => format!("{verb} {}", total(many)),
    };
    let is_copied = class == EffectClass::Creating;
    Ok(Plan {
        headline,
        secret: sources.iter().filter(|_| is_copied).find_map(|source| protected.secret(&source.path)),
        class,
        effects,
        contract: contract.join("\n"),
        stays_in_workspace: is_copied && targets.iter().all(|to| to.starts_with(&workspace)),
        paths: sources.iter().map(|source| source.path.clone()).chain(targets).collect(),
        operations,
    })
}

/// A plan before it is put into words.
struct Drawn {
    verb: &'static str,
    sources: Vec<Source>,
    targets: Vec<PathBuf>,
    operations: Vec<Operation>,
    class: EffectClass,
    remark: Option<String>,
}

impl Drawn {
    fn new(verb: &'static str, class: EffectClass) -> Self {
        Self { verb, sources: Vec::new(), targets: Vec::new(), operations: Vec::new(), class, remark: None }
    }

    fn one(self, to: PathBuf, operation: Operation) -> Self {
        Self { targets: vec![to], operations: vec![operation], ..self }
    }
}

fn draw(environment: &Environment, protected: &Protected, act: Act) -> Result<Drawn, Obstacle> {
    let all = |paths: &[PathBuf], leaves: bool| -> Result<Vec<Source>, Obstacle> {
        let looked = paths.iter().map(|path| survey::source(environment, protected, path, leaves));
        Ok(outermost(looked.collect::<Result<_, _>>()?))
    };
    let creating = |verb| Drawn::new(verb, EffectClass::Creating);
    Ok(match act {
        Act::CreateFolder { to } => {
            let to = survey::free_place(protected, &to)?;
            creating("makes the folder").one(to.clone(), Operation::MakeFolder { to })
        }
        Act::CreateFile { to, text } => {
            let to = survey::free_place(protected, &to)?;
            let remark = Some(format!("writes {} bytes of text", text.len()));
            Drawn { remark, ..creating("makes the file") }.one(to.clone(), Operation::MakeFile { to, text })
        }
        Act::Replace { path, to, find, with } => {
            let source = survey::source(environment, protected, &path, false)?;
            let to = survey::free_place(protected, &to)?;
            let text = replaced(&source, &find, &with)?;
            let drawn = creating("replaces text in a copy of").one(to.clone(), Operation::MakeFile { to, text });
            Drawn { sources: vec![source], ..drawn }
        }
        Act::Copy { paths, to } => {
            let pairs = destinations(protected, all(&paths, false)?, &to)?;
            carried(creating("copies"), pairs, |from, to| Operation::Copy { from, to })
        }
        Act::Move { paths, to } => {
            let pairs = destinations(protected, all(&paths, true)?, &to)?;
            carried(Drawn::new("moves", EffectClass::Unproven), pairs, |from, to| Operation::Move { from, to })
        }
        Act::Rename { paths, template } => {
            let looked = paths.iter().map(|path| survey::source(environment, protected, path, true));
            let pairs = free(protected, new_names(looked.collect::<Result<_, _>>()?, &template)?)?;
            carried(Drawn::new("renames", EffectClass::Unproven), pairs, |from, to| Operation::Move { from, to })
        }
        Act::Archive { paths, to } => {
            pack::Format::of(&to)?;
            let sources = all(&paths, false)?;
            let to = survey::free_place(protected, &to)?;
            if let Some(around) = sources.iter().find(|source| to.starts_with(&source.real)) {
                return Err(Obstacle::Inside { path: paths::line(&around.path) });
            }
            let packed = sources.iter().map(|source| source.real.clone()).collect();
            let drawn = creating("packs").one(to.clone(), Operation::Pack { sources: packed, to });
            Drawn { sources, ..drawn }
        }
        Act::Extract { paths, into } => extraction(protected, all(&paths, false)?, &into)?,
        Act::Delete { paths } => {
            let sources = all(&paths, true)?;
            let operations = sources.iter().map(|source| Operation::Trash { from: source.real.clone() }).collect();
            let remark = Some("puts them into the trash, from where they can be taken back".to_owned());
            Drawn { sources, operations, remark, ..Drawn::new("throws away", EffectClass::Unproven) }
        }
    })
}

fn extraction(protected: &Protected, sources: Vec<Source>, into: &Path) -> Result<Drawn, Obstacle> {
    if let Some(reason) = protected.refusal(into) {
        return Err(Obstacle::Protected(reason));
    }
    let into = paths::without_links(into);
    let (mut files, mut bytes) = (0, 0);
    for source in &sources {
        let found = unpack::survey(&source.real, &into)?;
        files += found.files;
        bytes += found.bytes;
    }
    let unpacking = |source: &Source| Operation::Unpack { from: source.real.clone(), into: into.clone() };
    Ok(Drawn {
        operations: sources.iter().map(unpacking).collect(),
        sources,
        targets: vec![into.clone()],
        remark: Some(format!("brings out {files} files of {bytes} bytes in all")),
        ..Drawn::new("unpacks", EffectClass::Creating)
    })
}

/// Each with its new path, without those whose name stays; what lies deeper first, so that no path changes under a
/// later step.
fn new_names(sources: Vec<Source>, template: &Template) -> Result<Vec<(Source, PathBuf)>, Obstacle> {
    let mut pairs = Vec::new();
    for (position, source) in (1..).zip(sources) {
        let name = template.apply(&source.path, source.modified, position);
        let name = name.map_err(|problem| Obstacle::Name { path: paths::line(&source.path), problem })?;
        if source.path.file_name().is_none_or(|old| old != name.as_str()) {
            let to = source.path.with_file_name(name);
            pairs.push((source, to));
        }
    }
    if pairs.is_empty() {
        return Err(Obstacle::NothingToDo);
    }
    pairs.sort_by_key(|(source, _)| std::cmp::Reverse(source.real.components().count()));
    Ok(pairs)
}

fn carried(drawn: Drawn, pairs: Vec<(Source, PathBuf)>, operation: impl Fn(PathBuf, PathBuf) -> Operation) -> Drawn {
    let operations = pairs.iter().map(|(source, to)| operation(source.real.clone(), to.clone())).collect();
    let (sources, targets) = pairs.into_iter().unzip();
    Drawn { sources, targets, operations, ..drawn }
}

/// Sources without those that lie below another, or are named twice: they go with it.
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

fn destinations(
    protected: &Protected,
    sources: Vec<Source>,
    to: &Destination,
) -> Result<Vec<(Source, PathBuf)>, Obstacle> {
    let into_folder = to.is_folder || sources.len() > 1 || to.path.is_dir();
    let pairs = sources.into_iter().map(|source| {
        let place = match source.path.file_name() {
            Some(name) if into_folder => to.path.join(name),
            _ => to.path.clone(),
        };
        (source, place)
    });
    free(protected, pairs.collect())
}

/// Every target free, none twice, none inside its source.
fn free(protected: &Protected, pairs: Vec<(Source, PathBuf)>) -> Result<Vec<(Source, PathBuf)>, Obstacle> {
    let mut taken = BTreeSet::new();
    let mut checked = Vec::new();
    for (source, to) in pairs {
        let real = survey::free_place(protected, &to)?;
        if real.starts_with(&source.real) {
            return Err(Obstacle::Inside { path: paths::line(&to) });
        }
        if !taken.insert(real.clone()) {
            return Err(Obstacle::Collision { path: paths::line(&to) });
        }
        checked.push((source, real));
    }
    Ok(checked)
}

fn replaced(source: &Source, find: &str, with: &str) -> Result<String, Obstacle> {
    let not_text = || Obstacle::NotText { path: paths::line(&source.path), max: REPLACE_MAX_BYTES };
    if source.kind != Kind::File || source.bytes > REPLACE_MAX_BYTES {
        return Err(not_text());
    }
    let text = std::fs::read(&source.real).map_err(|error| Obstacle::io(&source.path, error))?;
    let text = String::from_utf8(text).map_err(|_| not_text())?;
    if !text.contains(find) {
        return Err(Obstacle::NotFound { path: paths::line(&source.path) });
    }
    Ok(text.replace(find, with))
}

fn total(sources: &[Source]) -> String {
    let files: u64 = sources.iter().map(|source| source.files).sum();
    let bytes: u64 = sources.iter().map(|source| source.bytes).sum();
    let newest: Option<Timestamp> = sources.iter().map(|source| source.newest).max();
    let folders = sources.iter().filter(|source| source.kind == Kind::Folder).count();
    let counted = match folders {
        0 if files == 1 => "1 file".to_owned(),
        0 => format!("{files} files"),
        1 => format!("1 folder ({files} files in all)"),
        _ => format!("{folders} folders ({files} files in all)"),
    };
    let newest = newest.map(|newest| format!(", newest change {newest}")).unwrap_or_default();
    format!("{counted}, {bytes} bytes{newest}")
}

fn named<'a>(all: impl ExactSizeIterator<Item = &'a Path>) -> String {
    let more = all.len().saturating_sub(NAMED_MAX);
    let mut names: Vec<String> = all.take(NAMED_MAX).map(paths::line).collect();
    if more > 0 {
        names.push(format!("and {more} more"));
    }
    names.join(", ")
}
