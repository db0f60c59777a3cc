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

/// A change of files or folders.
///
/// Paths are absolute, and lists of paths are not empty. `of` is the selection: a query that yields files, without
/// [`Query::Details`]. `to` is the path that is written, the folder that is filled, or `None` for a result that is only
/// shown.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(tag = "act", rename_all = "snake_case")]
pub enum Act {
    /// Creates folders and their missing parents; an existing folder stays as it is.
    CreateFolder { paths: Vec<String> },
    /// Creates a file; an existing file is never overwritten. A content that is not empty ends with a newline.
    CreateFile { path: String, text: String },
    /// Copies files; nothing is overwritten.
    Copy { of: Query, to: Target },
    /// Moves files; nothing is overwritten.
    Move { of: Query, to: Target },
    /// Renames files within their folder; nothing is overwritten.
    Rename { of: Query, change: NameChange },
    /// Packs files, and folders with everything below them, into a new archive; the suffix of its name (`.tar.gz`,
    /// `.tgz`, `.tar`, `.zip`) decides the format.
    Archive { of: Query, to: String },
    /// Unpacks archives into a folder, which is created if missing; nothing is overwritten.
    Extract { of: Query, to: String },
    /// Deletes files, and folders with everything below them.
    Delete { of: Query },
    /// Writes a copy of a text file in which every occurrence of a text is replaced; the original is unchanged.
    Replace { path: String, find: String, with: String, to: String },
    /// Writes the result of a question, lines of text or one number, into a file: a new one, or the one it was computed
    /// from (an edit in place).
    Save { of: Query, to: String },
    /// Inserts lines at the start or the end of a text file, which is created if missing. The text ends with a newline.
    Insert { path: String, text: String, at_start: bool },
    /// Sets the value of a key in a settings file (`.env`, ini, toml, yaml, json), keeping everything else as it is.
    ///
    /// A nested key has a dot between its levels. Without a section the key must be unique in the file.
    SetValue { path: String, section: Option<String>, key: String, value: String },
    /// Changes permission bits.
    SetMode { of: Query, mode: ModeChange },
    /// Creates a symbolic link at `path` that points to `target`.
    Link { target: String, path: String },
    /// Runs a command line in a folder, and nothing but that line; `to` is the file that its output is written to.
    Run { command: String, folder: String, to: Option<String> },
    /// Downloads what a URL holds.
    Fetch { url: String, to: Option<String> },
    /// Changes the git repository in a folder.
    Git { folder: String, action: GitAction },
    /// Ends a running process.
    Stop { process: ProcessName },
    /// Installs a program, in any version if none is given.
    Install { program: String, version: Option<String> },
    /// Leaves files or folders unchanged; without paths, everything that no other step changes.
    Keep { paths: Vec<String> },
}

/// How permission bits change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModeChange {
    /// The bits become exactly these.
    Bits(u32),
    /// Adds the execute bit for everyone who may read the file.
    Executable,
    /// Removes all execute bits.
    NotExecutable,
    /// Removes all write bits.
    ReadOnly,
    /// Sets these bits besides those that are set.
    Added(u32),
    /// Clears these bits.
    Removed(u32),
}

/// A change of a git repository.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GitAction {
    /// Makes the folder a repository.
    Init,
    /// Commits every change with this message, which has no newline at its end.
    Commit { message: String },
    /// Creates a branch at the current commit; `switch` checks it out too.
    Branch { name: String, switch: bool },
    /// Checks out an existing branch.
    Switch { name: String },
    /// Tags the current commit.
    Tag { name: String },
}

/// A way to name a running process.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProcessName {
    /// The process with this id.
    Pid(u32),
    /// The process that listens on this TCP port.
    Port(u16),
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
    /// Builds the name from a template with `{stem}`, `{ext}`, `{name}`, `{n}` (position in the selection, from 1) and
    /// `{date}` (of the last change, in UTC).
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
    /// Replaces every occurrence of a text, which is not empty, in the name.
    Replace { find: String, with: String },
}

impl Act {
    /// The query for the files that the act copies, moves, renames, packs, unpacks, deletes or sets the mode of; `None`
    /// for all other acts.
    #[must_use]
    pub fn selection(&self) -> Option<&Query> {
        match self {
            Self::SetMode { of, .. }
            | Self::Copy { of, .. }
            | Self::Move { of, .. }
            | Self::Rename { of, .. }
            | Self::Archive { of, .. }
            | Self::Extract { of, .. }
            | Self::Delete { of } => Some(of),
            _ => None,
        }
    }

    /// The same act with its query in normal form.
    #[must_use]
    pub fn normalise(mut self) -> Self {
        if let Self::SetMode { of, .. }
        | Self::Copy { of, .. }
        | Self::Move { of, .. }
        | Self::Rename { of, .. }
        | Self::Archive { of, .. }
        | Self::Extract { of, .. }
        | Self::Delete { of }
        | Self::Save { of, .. } = &mut self
        {
            *of = std::mem::replace(of, Query::Processes).normalise();
        }
        self
    }
}
