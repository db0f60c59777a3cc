//! What a command line names: paths, patterns, hosts and simple commands, in any spelling.
//! The result never proves what a command does, since names that are computed at run time are not seen.

mod tokens;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use artoo_proto::Environment;

use crate::config::{CONSENTED_PATH, ToolConfig};
use crate::effects::is_pattern;
use crate::paths;

pub(crate) use tokens::{Redirect, SUBSTITUTION};
use words::Word;
pub(crate) use words::{SHELLS, Simple};

/// Maximum number of paths and patterns stored of one command line; further ones are left out.
const NAMES_MAX: usize = 256;

/// Maximum number of folders that the relative names of one command line are looked up in.
const FOLDERS_MAX: usize = 8;

/// The paths, patterns, hosts and commands that a command line names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct CommandLine {
    /// Absolute paths that exist or are spelled as paths; patterns as written.
    pub(crate) names: Vec<PathBuf>,
    /// The working folder, and folders that it may become.
    pub(crate) folders: Vec<PathBuf>,
    /// Hosts in addresses.
    pub(crate) hosts: BTreeSet<String>,
    /// The words of the simple commands, with existing paths made absolute.
    pub(crate) commands: Vec<Vec<String>>,
    /// The simple commands as they are written.
    pub(crate) simple: Vec<Simple>,
    /// Whether a function calls itself without end, several times at once.
    pub(crate) is_fork_bomb: bool,
}

/// Reads a command line; looks at the disk to see which words are paths.
pub(crate) fn read(config: &ToolConfig, command: &str) -> CommandLine {
    let environment = &config.environment;
    let variables = [("HOME", &environment.home), ("PWD", &environment.cwd)];
    let variables: BTreeMap<_, _> = variables.map(|(name, value)| (name.to_owned(), value.clone())).into();
    let words::Words { words, commands: simple, is_fork_bomb } = words::read(command, &variables);
    let at = |folder: &Path, text: &str| {
        let here = Environment { cwd: folder.to_string_lossy().into_owned(), ..environment.clone() };
        paths::absolute(&here, text).ok()
    };
    let cwd = PathBuf::from(&environment.cwd);
    let mut folders = vec![cwd.clone()];
    for word in words.iter().filter(|word| word.is_folder) {
        let inner: Vec<PathBuf> = folders.iter().filter_map(|folder| at(folder, &word.text)).collect();
        folders.extend(inner.into_iter().filter(|folder| folder.is_dir()));
        folders.truncate(FOLDERS_MAX);
    }
    let mut line = CommandLine::default();
    for word in words.iter().filter(|word| !word.is_folder && may_be_path(word)) {
        if let Some(host) = host(&word.text) {
            line.hosts.insert(host);
            continue;
        }
        for folder in &folders {
            let Some(path) = at(folder, &word.text) else { continue };
            let is_spelled = *folder == cwd && word.text.contains('/');
            let is_path = is_spelled || is_pattern(&word.text) || path.symlink_metadata().is_ok();
            if is_path && !is_program(config, &path) && !line.names.contains(&path) {
                line.names.push(path);
            }
        }
    }
    line.names.truncate(NAMES_MAX);
    line.folders = folders;
    let absolute = |word: &String| match at(&cwd, word) {
        Some(path) if word != "." && path.symlink_metadata().is_ok() => paths::line(&path),
        _ => word.clone(),
    };
    let commands = simple.iter().map(|Simple { words, redirects, .. }| {
        let redirects = redirects.iter().flat_map(|(how, file)| [how.operator().to_owned(), absolute(file)]);
        words.iter().map(absolute).chain(redirects).collect()
    });
    line.commands = commands.collect();
    CommandLine { simple, is_fork_bomb, ..line }
}

/// Whether a word may be a path: it is no option and not too long.
fn may_be_path(word: &Word) -> bool {
    !word.text.starts_with('-') && word.text.len() <= paths::PATH_MAX_BYTES
}

/// The host, with its port, in an address such as `https://host/path`, in lowercase; `None` if the word has none.
fn host(text: &str) -> Option<String> {
    let rest = text.split_once("://")?.1;
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?;
    (!host.is_empty()).then(|| host.to_ascii_lowercase())
}

/// Whether the path lies directly in a folder of programs or in `/dev`, so that a command uses it and doesn't change
/// it.
fn is_program(config: &ToolConfig, path: &Path) -> bool {
    let Some(folder) = path.parent() else { return true };
    let own = config.program_path.iter().map(PathBuf::as_path).chain(CONSENTED_PATH.iter().map(Path::new));
    own.chain([Path::new("/dev")]).any(|programs| folder == programs)
}
