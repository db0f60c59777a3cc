//! Tools that the user adds: one manifest for each, `tools/*.toml` beside the configuration.
//!
//! ```toml
//! name = "weather"
//! description = "the weather at a place"
//! command = ["/usr/local/bin/weather", ["--days", "{days}"], "--", "{place}"]
//! effect = "read_only" # or "creating", "changing": the author's claim, enforced by the sandbox if there is one
//! network = true # without it, the sandbox blocks the network
//! granted = true # without it, artoo asks before each call that changes something or uses the network
//! ask = "it shows your calendar" # artoo asks before each call, for this reason
//! timeout_s = 20
//!
//! [input.place]
//! type = "string"
//! maxLength = 80
//!
//! [input.days]
//! type = "integer"
//! minimum = 1
//! maximum = 14
//! optional = true # if it is missing, the group in brackets that names it is left out
//! ```
//!
//! The types of an input: string, document, integer, boolean, array; a string may have `enum`, an array `maxItems`.
//!
//! Arguments reach the program one by one; no shell reads them. An input of type `document` is a web or mail address, or
//! the path of an existing file or folder that is neither protected nor a program. `{place:markup}` escapes the special
//! characters of HTML and Pango markup, `{place:?}` puts the text in quotes. A text that begins with `-` is refused
//! unless it follows a `--` or its input has `leadingDash = true`.

mod document;
mod field;
mod manifest;
mod name;
mod problem;
mod template;
mod tool;

use std::path::{Path, PathBuf};

use crate::config::ToolConfig;

pub(crate) use manifest::{Argument, Manifest, from_toml};
#[cfg(feature = "mcp")]
pub(crate) use manifest::{check_keys, find_program, read_toml, timeout};
#[cfg(feature = "mcp")]
pub(crate) use name::is_name;
pub use problem::{ManifestProblem, ToolProblem};
pub(crate) use template::render;
pub(crate) use tool::read;

/// Maximum number of manifests read from one folder, so that their descriptions fit into a prompt.
#[doc(alias = "limit")]
const MANIFESTS_MAX: usize = 64;

/// The usable manifests of a folder, sorted by file name, and the problems of the others. A missing folder has none.
///
/// `taken`: names that belong to other tools.
pub(crate) fn load(config: &ToolConfig, folder: &Path, taken: &[&str]) -> (Vec<Manifest>, Vec<ToolProblem>) {
    let (mut manifests, mut problems): (Vec<Manifest>, Vec<ToolProblem>) = (Vec::new(), Vec::new());
    for path in files(folder, &mut problems) {
        let found = Manifest::read(config, &path).and_then(|manifest| {
            let is_taken = taken.contains(&manifest.name.as_str());
            let twice = manifests.iter().any(|known| known.name == manifest.name);
            if is_taken || twice { Err(ManifestProblem::taken(&manifest.name)) } else { Ok(manifest) }
        });
        match found {
            Ok(manifest) => manifests.push(manifest),
            Err(problem) => problems.push(ToolProblem { path, problem }),
        }
    }
    (manifests, problems)
}

/// The paths of the manifest files (`*.toml`) in a folder, sorted, at most [`MANIFESTS_MAX`]; adds to `problems` if
/// there are more or the folder can't be read.
pub(crate) fn files(folder: &Path, problems: &mut Vec<ToolProblem>) -> Vec<PathBuf> {
    let mut problem = |problem: String| {
        problems.push(ToolProblem { path: folder.to_path_buf(), problem: ManifestProblem::new(problem) });
    };
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Vec::new(),
        Err(source) => {
            problem(format!("the folder can't be read: {source}"));
            return Vec::new();
        }
    };
    let paths = entries.filter_map(Result::ok).map(|entry| entry.path());
    let mut paths: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|end| end == "toml")).collect();
    paths.sort();
    if paths.len() > MANIFESTS_MAX {
        problem(format!("it holds {} manifests; {MANIFESTS_MAX} are read", paths.len()));
        paths.truncate(MANIFESTS_MAX);
    }
    paths
}
