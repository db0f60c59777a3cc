//! The plan of an act: every operation with its paths, before approval and before any change.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use artoo_proto::{EffectClass, Environment, Timestamp};

use crate::change::NewNames;
use crate::config::ToolConfig;
use crate::files::act::{self, Act};
use crate::files::rename::Template;
use crate::files::survey::{self, Kind, Source};
use crate::files::{pack, unpack};
use crate::input::{self, unfit};
use crate::paths;
use crate::protect::Protected;
use crate::record::Record;

/// Paths named in a question; the rest is counted.
const NAMED_MAX: usize = 20;

/// Longest file in which text is replaced.
pub(super) const REPLACE_MAX_BYTES: u64 = 64 * 1024 * 1024;

/// One step. The folders of its paths are no symlinks.
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

/// A planned act.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(super) operations: Vec<Operation>,
    /// The act in one line.
    pub(crate) headline: String,
    pub(crate) class: EffectClass,
    /// Every path that it reads or creates.
    pub(crate) paths: Vec<PathBuf>,
    /// The effects for the user.
    pub(crate) effects: Vec<String>,
    /// All operations and the identities of their files; an approval is bound to it.
    pub(crate) contract: String,
    /// Whether it only creates files in the workspace.
    pub(crate) stays_in_workspace: bool,
    /// Why copying one of the files needs approval: the copy has another name.
    pub(crate) secret: Option<String>,
    /// The new names that need approval in the workspace too.
    pub(crate) names: NewNames,
}

/// Plans an act. Reads the disk, changes nothing.
pub(crate) fn plan(config: &ToolConfig, protected: &Protected, act: Act) -> Result<Plan, Box<Record>> {
    let environment = &config.environment;
    let workspace = paths::real(Path::new(&environment.workspace));
    let mut names = NewNames::new(config);
    let draft = Planner { environment, protected, names: &mut names }.draft(act)?;
    let Draft { verb, sources, targets, operations, class, remark } = draft;
    operations.iter().try_for_each(|operation| note_names(operation, &mut names))?;
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
        names,
    })
}

/// Notes the names that an operation makes; those of an archive are noted when it is surveyed.
fn note_names(operation: &Operation, names: &mut NewNames) -> Result<(), Box<Record>> {
    match operation {
        Operation::MakeFolder { to } => names.add(to, true),
        Operation::MakeFile { to, .. } | Operation::Pack { to, .. } => names.add(to, false),
        Operation::Copy { from, to } | Operation::Move { from, to } => {
            names.add_tree(from, to).map_err(|error| survey::io_failed(from, &error))?;
        }
        Operation::Trash { .. } | Operation::Unpack { .. } => {}
    }
    Ok(())
}

/// A plan without its texts.
struct Draft {
    verb: &'static str,
    sources: Vec<Source>,
    targets: Vec<PathBuf>,
    operations: Vec<Operation>,
    class: EffectClass,
    remark: Option<String>,
}

impl Draft {
    /// One operation that creates one path.
    fn creating(verb: &'static str, sources: Vec<Source>, to: PathBuf, operation: Operation) -> Self {
        let class = EffectClass::Creating;
        Self { verb, sources, targets: vec![to], operations: vec![operation], class, remark: None }
    }

    /// One operation for each source and target.
    fn of_pairs(
        verb: &'static str,
        class: EffectClass,
        pairs: Vec<(Source, PathBuf)>,
        operation: impl Fn(PathBuf, PathBuf) -> Operation,
    ) -> Self {
        let operations = pairs.iter().map(|(source, to)| operation(source.real.clone(), to.clone())).collect();
        let (sources, targets) = pairs.into_iter().unzip();
        Self { verb, sources, targets, operations, class, remark: None }
    }
}

struct Planner<'a> {
    environment: &'a Environment,
    protected: &'a Protected,
    names: &'a mut NewNames,
}

impl Planner<'_> {
    fn draft(&mut self, act: Act) -> Result<Draft, Box<Record>> {
        Ok(match act {
            Act::CreateFolder { to } => {
                let to = self.free_target(&to)?;
                Draft::creating("makes the folder", Vec::new(), to.clone(), Operation::MakeFolder { to })
            }
            Act::CreateFile { to, text } => {
                let to = self.free_target(&to)?;
                let remark = Some(format!("writes {} bytes of text", text.len()));
                let draft = Draft::creating("makes the file", Vec::new(), to.clone(), Operation::MakeFile { to, text });
                Draft { remark, ..draft }
            }
            Act::Replace { paths, to, find, with } => {
                let sources = self.sources(&paths, false)?;
                let to = self.free_target(&to)?;
                let text = sources.iter().map(|source| replaced(source, &find, &with)).collect::<Result<_, _>>()?;
                let operation = Operation::MakeFile { to: to.clone(), text };
                Draft::creating("replaces text in a copy of", sources, to, operation)
            }
            Act::Copy { paths, to } => {
                let pairs = self.destinations(outermost(self.sources(&paths, false)?), &to)?;
                Draft::of_pairs("copies", EffectClass::Creating, pairs, |from, to| Operation::Copy { from, to })
            }
            Act::Move { paths, to } => {
                let pairs = self.destinations(outermost(self.sources(&paths, true)?), &to)?;
                Draft::of_pairs("moves", EffectClass::Unproven, pairs, |from, to| Operation::Move { from, to })
            }
            Act::Rename { paths, template, find, with } => {
                let template = Template::parse(template, find, with);
                let template = template.map_err(|problem| unfit(format!("template: {problem}")))?;
                let pairs = self.free(new_names(self.sources(&paths, true)?, &template)?)?;
                Draft::of_pairs("renames", EffectClass::Unproven, pairs, |from, to| Operation::Move { from, to })
            }
            Act::Archive { paths, to } => {
                pack::Format::of(&self.target(&to)?).map_err(|error| unfit(error.to_string()))?;
                let sources = outermost(self.sources(&paths, false)?);
                let to = self.free_target(&to)?;
                if let Some(around) = sources.iter().find(|source| to.starts_with(&source.real)) {
                    return Err(inside(&around.path));
                }
                let packed = sources.iter().map(|source| source.real.clone()).collect();
                Draft::creating("packs", sources, to.clone(), Operation::Pack { sources: packed, to })
            }
            Act::Extract { paths, to } => {
                let sources = outermost(self.sources(&paths, false)?);
                self.extraction(sources, &to)?
            }
            Act::Delete { paths } => {
                let sources = outermost(self.sources(&paths, true)?);
                Draft {
                    verb: "moves to the trash",
                    operations: sources.iter().map(|source| Operation::Trash { from: source.real.clone() }).collect(),
                    sources,
                    targets: Vec::new(),
                    class: EffectClass::Unproven,
                    remark: Some("they can be restored from the trash".to_owned()),
                }
            }
        })
    }

    /// Surveys the paths. `leaves`: they are removed from their folders.
    fn sources(&self, paths: &[String], leaves: bool) -> Result<Vec<Source>, Box<Record>> {
        let listed: Vec<PathBuf> =
            paths.iter().map(|line| act::listed(self.environment, line)).collect::<Result<_, _>>()?;
        listed.iter().map(|path| survey::source(self.environment, self.protected, path, leaves)).collect()
    }

    fn target(&self, to: &str) -> Result<PathBuf, Box<Record>> {
        input::path(self.environment, "to", to)
    }

    fn free_target(&self, to: &str) -> Result<PathBuf, Box<Record>> {
        survey::free_place(self.protected, &self.target(to)?)
    }

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
            operations: sources.iter().map(unpacking).collect(),
            sources,
            targets: vec![into.clone()],
            class: EffectClass::Creating,
            remark: Some(format!("brings out {files} files of {bytes} bytes in all")),
        })
    }

    /// Each source with its new path. A trailing slash says that the target is a folder.
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

    /// The pairs, if each target is free, used once, and not inside its source.
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

/// Each source with its new path, deepest first, so that no step changes the path of a later one. Names that stay are
/// left out.
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

/// The sources that are not below another, each once.
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

fn inside(path: &Path) -> Box<Record> {
    unfit(format!("{} lies inside what is copied or moved", paths::line(path)))
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
