//! Parses what the user names as the model to install: a catalog name, a URL, or a local path.

use std::path::{Path, PathBuf};

use super::catalog::{self, Entry};
use super::checksum::Checksum;
use super::error::FilesError;
use super::name::ModelName;
use super::url::FileUrl;

/// The location of a model file: a URL or a local path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    Url(FileUrl),
    /// An absolute path; the file is used in place.
    File(PathBuf),
}

/// A model to install: its name, location and expected checksum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    pub name: ModelName,
    pub location: Location,
    /// Expected SHA-256 of the model file, from the catalog or the user; `None` if unknown.
    pub sha256: Option<Checksum>,
    /// The catalog entry, if the model was named by it.
    pub entry: Option<&'static Entry>,
}

impl Wanted {
    /// Parses `given`: a URL if it contains `://`, a path if it contains `/` or ends with `.gguf`, else a catalog name.
    ///
    /// # Errors
    /// If the catalog has no such name or another checksum, the URL is refused, the path doesn't exist, or the name is
    /// invalid or taken by the catalog.
    pub fn parse(
        given: &str,
        name: Option<ModelName>,
        sha256: Option<Checksum>,
        cwd: &Path,
    ) -> Result<Self, FilesError> {
        let (location, file_name) = if given.contains("://") {
            let url = FileUrl::parse(given)?;
            let file_name = url.file_name();
            (Location::Url(url), file_name)
        } else if is_path(given) {
            let path = cwd.join(given);
            let path = path.canonicalize().map_err(FilesError::io(path))?;
            let file_name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            (Location::File(path), file_name)
        } else {
            let entry = catalog::entry(given).ok_or_else(|| FilesError::Unknown { name: given.to_owned() })?;
            if let Some(expected) = sha256.filter(|given| *given != entry.sha256) {
                let shown = format!("the catalog's model {given}");
                return Err(FilesError::Checksum { shown, expected, actual: entry.sha256.clone() });
            }
            return Self::of_entry(entry);
        };
        let name = name.or_else(|| ModelName::from_file_name(&file_name));
        let name = name.ok_or(FilesError::Unnamed { given: file_name })?;
        if let Some(entry) = catalog::entry(name.as_str()) {
            return Err(FilesError::Taken { name, by: format!("the catalog ({})", entry.title) });
        }
        Ok(Self { name, location, sha256, entry: None })
    }

    /// The model to install that a catalog entry describes.
    ///
    /// # Errors
    /// If the entry's URL is refused.
    pub fn of_entry(entry: &'static Entry) -> Result<Self, FilesError> {
        let location = Location::Url(FileUrl::parse(&entry.url)?);
        Ok(Self { name: entry.name.clone(), location, sha256: Some(entry.sha256.clone()), entry: Some(entry) })
    }

    /// The model's location as text: its path, or its URL without the query.
    #[must_use]
    pub fn shown(&self) -> String {
        match &self.location {
            Location::Url(url) => url.shown(),
            Location::File(path) => path.display().to_string(),
        }
    }
}

/// Whether the text is a path rather than a model name: it contains `/`, or ends with `.gguf` in any case.
#[must_use]
pub fn is_path(given: &str) -> bool {
    given.contains('/') || given.to_ascii_lowercase().ends_with(".gguf")
}
