//! The house: what holds for the repository as a whole, whatever it does.

mod edges;
mod files;
mod limits;
mod pages;
mod supply;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;

/// The repository's root.
fn root() -> PathBuf {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().expect("the repository has a root")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Every file of the repository whose name ends so, by its path from the root; build output and git's own left out.
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

/// Cargo marks its target folders, whatever they are called.
fn is_build_output(folder: &Path) -> bool {
    folder.join("CACHEDIR.TAG").exists()
}

/// Runs cargo on this workspace as it stands: nothing is fetched and the lock file is not touched.
fn cargo(arguments: &[&str]) -> String {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output =
        Command::new(cargo).args(arguments).args(["--locked", "--offline"]).current_dir(root()).output().unwrap();
    assert!(output.status.success(), "cargo {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// `cargo metadata` for this machine's platform, with every dependency.
fn metadata() -> &'static Value {
    static METADATA: OnceLock<Value> = OnceLock::new();
    METADATA.get_or_init(|| {
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let version = Command::new(rustc).arg("-vV").current_dir(root()).output().unwrap().stdout;
        let version = String::from_utf8(version).unwrap();
        let host = version.lines().find_map(|line| line.strip_prefix("host: ")).expect("rustc names its host");
        let text = cargo(&["metadata", "--format-version", "1", "--filter-platform", host]);
        serde_json::from_str(&text).unwrap()
    })
}

fn packages() -> impl Iterator<Item = &'static Value> {
    metadata()["packages"].as_array().unwrap().iter()
}

fn name_of(package: &Value) -> &str {
    package["name"].as_str().unwrap()
}

/// Compares, and says both sides in full when they differ.
fn same<T: std::fmt::Debug + Ord>(what: &str, found: &BTreeSet<T>, expected: &BTreeSet<T>) {
    let more: Vec<_> = found.difference(expected).collect();
    let less: Vec<_> = expected.difference(found).collect();
    assert!(more.is_empty() && less.is_empty(), "{what}: not allowed {more:?}, missing {less:?}");
}
