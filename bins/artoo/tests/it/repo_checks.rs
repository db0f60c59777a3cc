//! Checks of the repository as a whole: files, documents, dependencies and modules.

mod api;
mod edges;
mod files;
mod limits;
mod modules;
mod pages;
mod supply;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;

/// The path of the repository's root folder.
fn root() -> PathBuf {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().expect("the repository has a root")
}

/// The text of a file of the repository.
fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// All files of the repository whose names end in one of these suffixes, with their text; without build output and
/// `.git`.
fn files_ending(ends: &[&str]) -> Vec<(String, String)> {
    let root = root();
    let mut found = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of the repository can be read") {
            let path = entry.expect("an entry can be read").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                if name != ".git" && !is_build_output(&path) {
                    folders.push(path);
                }
            } else if ends.iter().any(|end| name.ends_with(end)) {
                let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                found.push((path.strip_prefix(&root).unwrap().to_string_lossy().into_owned(), text));
            }
        }
    }
    found.sort();
    assert!(!found.is_empty(), "no file ends with {ends:?}");
    found
}

/// Whether a folder is cargo's build output: cargo puts the file `CACHEDIR.TAG` into it.
fn is_build_output(folder: &Path) -> bool {
    folder.join("CACHEDIR.TAG").exists()
}

/// Runs cargo on this workspace without network and without changing the lock file; returns its output.
fn cargo(arguments: &[&str]) -> String {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output =
        Command::new(cargo).args(arguments).args(["--locked", "--offline"]).current_dir(root()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo {arguments:?}: {said}\nif a crate is missing, run `cargo fetch --locked`");
    String::from_utf8(output.stdout).unwrap()
}

/// The metadata of this workspace's crates from `cargo metadata`, read once, without their dependencies.
fn manifests() -> &'static Value {
    static MANIFESTS: OnceLock<Value> = OnceLock::new();
    MANIFESTS.get_or_init(|| serde_json::from_str(&cargo(&["metadata", "--format-version", "1", "--no-deps"])).unwrap())
}

/// The packages of this workspace as JSON of `cargo metadata`.
fn packages() -> impl Iterator<Item = &'static Value> {
    manifests()["packages"].as_array().unwrap().iter()
}

/// The name of a package.
fn name_of(package: &Value) -> &str {
    package["name"].as_str().unwrap()
}

/// Crates with their licences and their dependencies on each other, as `cargo tree` prints them for this platform.
#[derive(Default)]
struct Tree {
    licences: BTreeMap<String, String>,
    edges: BTreeSet<(String, String)>,
}

impl Tree {
    /// The dependency tree that `cargo tree` prints for these arguments; it needs the
    /// crates of all members, which `cargo fetch --locked` downloads.
    fn of(arguments: &[&str]) -> Self {
        let format = ["tree", "--prefix", "depth", "--format", "|{p}|{l}"];
        let mut tree = Self::default();
        let mut above: Vec<String> = Vec::new();
        for line in cargo(&[&format, arguments].concat()).lines().filter(|line| !line.is_empty()) {
            let [depth, package, licence] = line.splitn(3, '|').collect::<Vec<_>>()[..] else { panic!("{line}") };
            let name = package.split(' ').next().unwrap().to_owned();
            above.truncate(depth.parse().unwrap());
            if let Some(user) = above.last() {
                tree.edges.insert((user.clone(), name.clone()));
            }
            above.push(name.clone());
            let licence = licence.trim_end_matches(" (*)").to_owned();
            let known = tree.licences.entry(name).or_default();
            // Two versions of one crate may have two licences: both must hold.
            *known = if known.is_empty() || *known == licence { licence } else { format!("({known}) AND ({licence})") };
        }
        tree
    }

    /// The names of all crates in the tree.
    fn names(&self) -> BTreeSet<&str> {
        self.licences.keys().map(String::as_str).collect()
    }
}

/// Asserts that two sets are equal; a failure shows what is missing and what is too much.
fn same<T: std::fmt::Debug + Ord>(what: &str, found: &BTreeSet<T>, expected: &BTreeSet<T>) {
    let more: Vec<_> = found.difference(expected).collect();
    let less: Vec<_> = expected.difference(found).collect();
    assert!(more.is_empty() && less.is_empty(), "{what}: not allowed {more:?}, missing {less:?}");
}
