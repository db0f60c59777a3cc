//! Changes of files that a request asks for. The files are listed and checked before anything is changed.

use serde::{Deserialize, Serialize};

use super::Query;

/// One step of a request: a question or a change.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// A question: a query whose result is shown.
    Ask(Query),
    /// A change of files or folders.
    Do(Act),
}

/// A change of files or folders. A selection (`of`) is a query that yields files, without [`Query::Details`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(tag = "act", rename_all = "snake_case")]
pub enum Act {
    /// Creates folders and their missing parents; an existing folder stays as it is.
    CreateFolder {
        /// Absolute paths of the new folders, at least one.
        paths: Vec<String>,
    },
    /// Creates a file; an existing file is never overwritten.
    CreateFile {
        /// Absolute path of the new file.
        path: String,
        /// The file's whole content, possibly empty; otherwise it ends with a newline.
        text: String,
    },
    /// Copies files; nothing is overwritten.
    Copy {
        /// The files to copy.
        of: Query,
        /// Where the copies are written.
        to: Target,
    },
    /// Moves files; nothing is overwritten.
    Move {
        /// The files to move.
        of: Query,
        /// Where the files are moved.
        to: Target,
    },
    /// Renames files within their folder; nothing is overwritten.
    Rename {
        /// The files to rename.
        of: Query,
        /// How each name changes.
        change: NameChange,
    },
    /// Packs files into a new archive; the suffix of its name (`.tar.gz`, `.tgz`, `.tar`, `.zip`) decides the format.
    Archive {
        /// The files to pack; a folder includes everything below it.
        of: Query,
        /// Absolute path of the new archive.
        to: String,
    },
    /// Unpacks archives into a folder, which is created if missing; nothing is overwritten.
    Extract {
        /// The archives to unpack.
        of: Query,
        /// Absolute path of the destination folder.
        to: String,
    },
    /// Deletes files and folders, a folder with everything below it.
    Delete {
        /// The files or folders to delete.
        of: Query,
    },
    /// Writes a copy of a text file in which every occurrence of a text is replaced; the original is unchanged.
    Replace {
        /// Absolute path of the text file to read.
        path: String,
        /// The text to replace, never empty.
        find: String,
        /// The text that replaces each occurrence.
        with: String,
        /// Absolute path of the new file to write.
        to: String,
    },
}

/// The destination of a copy or a move.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// The files go into the folder at this absolute path and keep their names; the folder is created if missing.
    Into(String),
    /// The copy or the moved entry gets exactly this absolute path; only for a single file or folder.
    As(String),
}

/// How a file name changes. The stem is the name without its last extension; `.bashrc` is all stem.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NameChange {
    /// Replaces the whole name; only for a single file.
    To(String),
    /// Builds the name from a template with `{stem}`, `{ext}`, `{name}`, `{n}` or `{n:3}` (position from 1, optionally
    /// zero-padded) and `{modified}` (date of the last change).
    Template(String),
    /// Replaces the extension (given without the dot), or adds it to a name that has none.
    Extension(String),
    /// Inserts text before the name.
    Prefix(String),
    /// Inserts text after the stem.
    Suffix(String),
    /// Converts the name to lower case.
    LowerCase,
    /// Converts the name to upper case.
    UpperCase,
    /// Replaces every occurrence of a text in the name.
    Replace {
        /// The text to replace in the name, never empty.
        find: String,
        /// The text that replaces each occurrence in the name.
        with: String,
    },
}

impl Act {
    /// The query for the files the act changes; `None` for an act that only creates or writes files.
    #[must_use]
    pub fn selection(&self) -> Option<&Query> {
        match self {
            Self::CreateFolder { .. } | Self::CreateFile { .. } | Self::Replace { .. } => None,
            Self::Copy { of, .. }
            | Self::Move { of, .. }
            | Self::Rename { of, .. }
            | Self::Archive { of, .. }
            | Self::Extract { of, .. }
            | Self::Delete { of } => Some(of),
        }
    }

    /// The same act with the query that selects its files in normal form.
    #[must_use]
    pub fn normalise(self) -> Self {
        match self {
            Self::Copy { of, to } => Self::Copy { of: of.normalise(), to },
            Self::Move { of, to } => Self::Move { of: of.normalise(), to },
            Self::Rename { of, change } => Self::Rename { of: of.normalise(), change },
            Self::Archive { of, to } => Self::Archive { of: of.normalise(), to },
            Self::Extract { of, to } => Self::Extract { of: of.normalise(), to },
            Self::Delete { of } => Self::Delete { of: of.normalise() },
            same @ (Self::CreateFolder { .. } | Self::CreateFile { .. } | Self::Replace { .. }) => same,
        }
    }
}
