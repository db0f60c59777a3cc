//! What a command line names: paths, patterns, hosts and simple commands, in any spelling.
//!
//! It is never a proof of what a command does: a name that is computed at run time is not seen.

mod tokens;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use artoo_proto::Environment;

use crate::config::{CONSENTED_PATH, ToolConfig};
use crate::effects::is_pattern;
use crate::{guard, paths};

pub(crate) use tokens::{Redirect, SUBSTITUTION};
use words::Word;
pub(crate) use words::{SHELLS, Simple};

/// Names stored of one command.
const NAMES_MAX: usize = 256;

/// Paths stored of one command, with the files that its patterns match.
const PATHS_MAX: usize = 64;

/// Folders that the names of one command may be relative to.
const FOLDERS_MAX: usize = 8;

/// What a command line names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct CommandLine {
    /// Absolute paths that exist or are spelled as paths; patterns as written.
    pub(crate) names: Vec<PathBuf>,
    /// Hosts in addresses.
    pub(crate) hosts: BTreeSet<String>,
    /// The words of the simple commands, with existing paths made absolute.
    pub(crate) commands: Vec<Vec<String>>,
    /// The simple commands as they are written.
    pub(crate) simple: Vec<Simple>,
    /// Whether a function starts itself over and over, several at a time.
    pub(crate) is_fork_bomb: bool,
    words: Vec<Word>,
}

/// The paths that a command line may use.
#[derive(Debug, Default)]
pub(crate) struct Paths {
    /// Every word that could be a path, and the files that patterns match now.
    pub(crate) paths: Vec<PathBuf>,
    /// Folders of patterns that match too many files: all files in them may change.
    pub(crate) folders: Vec<PathBuf>,
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
    let absolute = |word: &String| match at(&cwd, word) {
        Some(path) if word != "." && path.symlink_metadata().is_ok() => paths::line(&path),
        _ => word.clone(),
    };
    let commands = simple.iter().map(|Simple { words, redirects, .. }| {
        let redirects = redirects.iter().flat_map(|(how, file)| [how.operator().to_owned(), absolute(file)]);
        words.iter().map(absolute).chain(redirects).collect()
    });
    line.commands = commands.collect();
    CommandLine { words, simple, is_fork_bomb, ..line }
}

impl CommandLine {
    /// The paths that the command may use, relative to the working folder; looks at the disk for what patterns match.
    pub(crate) fn paths(&self, environment: &Environment) -> Paths {
        let mut found = Paths::default();
        let words = self.words.iter().filter(|word| may_be_path(word));
        for path in words.filter_map(|word| paths::absolute(environment, &word.text).ok()) {
            let folder = before_pattern(&path);
            // Files of /proc show processes, artoo's own among them; no pattern of them is approved.
            if folder != path && folder.starts_with("/proc") || found.paths.contains(&path) {
                continue;
            }
            if folder == path {
                found.paths.push(path);
                continue;
            }
            let room = PATHS_MAX.saturating_sub(found.paths.len());
            match guard::matches_now(&path).filter(|matches| matches.len() <= room) {
                Some(matches) => found.paths.extend(matches),
                // The home folder is never approved as a whole: such a command has to name what it changes.
                None if Path::new(&environment.home).starts_with(&folder) => {}
                None => found.folders.push(folder),
            }
        }
        found.paths.truncate(PATHS_MAX);
        found.folders.sort_unstable();
        found.folders.dedup();
        found
    }
}

fn may_be_path(word: &Word) -> bool {
    !word.text.starts_with('-') && word.text.len() <= paths::PATH_MAX_BYTES
}

/// The host in an address with a scheme.
fn host(text: &str) -> Option<String> {
    let rest = text.split_once("://")?.1;
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?;
    (!host.is_empty()).then(|| host.to_ascii_lowercase())
}

/// Whether the path is a program or device of the system, which a command uses and doesn't change.
fn is_program(config: &ToolConfig, path: &Path) -> bool {
    let Some(folder) = path.parent() else { return true };
    let own = config.program_path.iter().map(PathBuf::as_path).chain(CONSENTED_PATH.iter().map(Path::new));
    own.chain([Path::new("/dev")]).any(|programs| folder == programs)
}

/// The folder in which the first wildcard of a path is expanded; the path itself if it exists or has no wildcard.
fn before_pattern(path: &Path) -> PathBuf {
    if path.symlink_metadata().is_ok() {
        return path.to_path_buf();
    }
    path.iter().take_while(|part| !has_wildcard(&part.to_string_lossy())).collect()
}

/// Whether a shell would expand a part of a path. A bracket or a brace alone is not expanded.
fn has_wildcard(part: &str) -> bool {
    let within =
        |open, close| part.split_once(open).and_then(|(_, rest)| rest.rsplit_once(close)).map(|(inner, _)| inner);
    part.contains(['*', '?'])
        || within('[', ']').is_some_and(|set| !set.is_empty())
        || within('{', '}').is_some_and(|choice| choice.contains(',') || choice.contains(".."))
}

#[cfg(test)]
mod tests {
    use super::has_wildcard;

    #[test]
    fn lone_brackets_are_no_wildcards() {
        for (part, expected) in [
            ("*.tmp", true),
            ("a?", true),
            ("[ab]c", true),
            ("x{a,b}", true),
            ("{1..9}", true),
            ("[", false),
            ("]", false),
            ("[]", false),
            ("{", false),
            ("{#x}", false),
            ("plain", false),
        ] {
            assert_eq!(has_wildcard(part), expected, "{part}");
        }
    }
}
