//! What runs for a proven command: the one program itself, or a shell over exactly the bytes that were judged.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::environment;
use super::syntax::{Body, Chain, Part, Word};
use crate::config::ToolConfig;
use crate::process::{self, Invocation};

/// Builtins of the shell that have no program of the same meaning, or whose program differs.
const BUILTINS: [&str; 12] =
    ["cd", "[", "test", ":", "type", "command", "hash", "ulimit", "umask", "exit", "history", "alias"];

/// The invocation; `None` without a shell.
pub(super) fn of(config: &ToolConfig, command: &str, list: &[Chain]) -> Option<Invocation> {
    if let Some(invocation) = direct(config, list) {
        return Some(invocation);
    }
    // `-C`: a redirection makes a new file or fails, even if something has put one there in the meantime.
    let arguments = ["--noprofile", "--norc", "-C", "-c", command].map(OsString::from).to_vec();
    let program = process::find_program(config, "bash")?;
    Some(Invocation { program, name: "bash".into(), arguments, environment: environment::of(config) })
}

/// One program with plain words needs no shell.
fn direct(config: &ToolConfig, list: &[Chain]) -> Option<Invocation> {
    let [chain] = list else { return None };
    let [stage] = chain.first.stages.as_slice() else { return None };
    let Body::Simple(simple) = &stage.body else { return None };
    if !(chain.rest.is_empty() && stage.redirects.is_empty() && simple.assignments.is_empty()) {
        return None;
    }
    let (name, words) = simple.words.split_first()?;
    let name = name.plain().filter(|name| !BUILTINS.contains(name))?;
    let arguments = words.iter().map(|word| text(config, word).map(OsString::from)).collect::<Option<Vec<_>>>()?;
    let program = if name.contains('/') { PathBuf::from(name) } else { installed(config, name)? };
    let base = Path::new(name).file_name()?.to_owned();
    Some(Invocation { program, name: base, arguments, environment: environment::of(config) })
}

/// The text of a word that is known without a shell.
fn text(config: &ToolConfig, word: &Word) -> Option<String> {
    match word.parts.split_first() {
        Some((Part::Home, rest)) => {
            let rest = Word { parts: rest.to_vec(), span: word.span.clone() };
            Some(format!("{}{}", config.environment.home.trim_end_matches('/'), rest.literal()?))
        }
        _ => word.literal(),
    }
}

fn installed(config: &ToolConfig, name: &str) -> Option<PathBuf> {
    let is_program =
        |path: &PathBuf| path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0);
    environment::folders(config).into_iter().map(|folder| folder.join(name)).find(is_program)
}
