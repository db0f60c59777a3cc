//! What a command names: places, patterns and other machines, however they are spelled.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use artoo_proto::Environment;

use super::words::{self, Word};
use crate::config::{CONSENTED_PATH, ToolConfig};
use crate::paths;

/// Places taken of one command.
const PLACES_MAX: usize = 256;

/// What a command names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Named {
    /// Paths that exist or are spelled as paths, absolute; a pattern stands as it is written.
    pub(crate) places: Vec<PathBuf>,
    /// Machines it names in an address.
    pub(crate) hosts: BTreeSet<String>,
    /// The simple commands it consists of, with names of places made absolute.
    pub(crate) commands: Vec<Vec<String>>,
}

/// Reads what a command names. Looks at the disk, proves nothing.
pub(crate) fn named(config: &ToolConfig, command: &str) -> Named {
    let environment = &config.environment;
    let read = words::read(command, &variables(environment));
    let at = |folder: &Path, text: &str| {
        let here = Environment { cwd: folder.to_string_lossy().into_owned(), ..environment.clone() };
        paths::absolute(&here, text).ok()
    };
    let cwd = PathBuf::from(&environment.cwd);
    let mut bases = vec![cwd.clone()];
    for word in read.words.iter().filter(|word| word.is_base) {
        let inner: Vec<PathBuf> = bases.iter().filter_map(|base| at(base, &word.text)).collect();
        bases.extend(inner.into_iter().filter(|folder| folder.is_dir()));
        bases.truncate(8);
    }
    let mut named = Named::default();
    for word in read.words.iter().filter(|word| is_name(word)) {
        if let Some(host) = host(&word.text) {
            named.hosts.insert(host);
            continue;
        }
        for base in &bases {
            let Some(path) = at(base, &word.text) else { continue };
            let is_here = *base == cwd && word.text.contains('/');
            let is_place = is_here || is_pattern(&word.text) || path.symlink_metadata().is_ok();
            if is_place && !is_program(config, &path) && !named.places.contains(&path) {
                named.places.push(path);
            }
        }
    }
    named.places.truncate(PLACES_MAX);
    named.commands =
        read.commands.iter().map(|words| words.iter().map(|word| in_place(&cwd, word, &at)).collect()).collect();
    named
}

/// A word as it is compared: the path it names where it names one that exists.
fn in_place(cwd: &Path, word: &str, at: &impl Fn(&Path, &str) -> Option<PathBuf>) -> String {
    match at(cwd, word) {
        Some(path) if word != "." && path.symlink_metadata().is_ok() => paths::line(&path),
        _ => word.to_owned(),
    }
}

fn is_name(word: &Word) -> bool {
    !word.is_base && !word.text.starts_with('-') && word.text.len() <= paths::PATH_MAX_BYTES
}

/// Whether a text holds what a shell would match names with.
pub(crate) fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

/// The machine in an address with a scheme.
fn host(text: &str) -> Option<String> {
    let rest = text.split_once("://")?.1;
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?;
    (!host.is_empty()).then(|| host.to_ascii_lowercase())
}

/// A program or device of the system is the means of a command, not what it acts on.
fn is_program(config: &ToolConfig, path: &Path) -> bool {
    let Some(folder) = path.parent() else { return true };
    let own = config.program_path.iter().map(PathBuf::as_path).chain(CONSENTED_PATH.iter().map(Path::new));
    own.chain([Path::new("/dev")]).any(|programs| folder == programs)
}

fn variables(environment: &Environment) -> BTreeMap<String, String> {
    [("HOME", &environment.home), ("PWD", &environment.cwd)]
        .map(|(name, value)| (name.to_owned(), value.clone()))
        .into()
}
