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
    /// Writes the result of a question into a file: a new one, or the one it was computed from (an edit in place).
    Save {
        /// The question; its result is lines of text, or one number.
        of: Query,
        /// Absolute path of the file to write.
        to: String,
    },
    /// Inserts lines at the start or the end of a text file, which is created if missing.
    Insert {
        /// Absolute path of the text file.
        path: String,
        /// The lines to insert; ends with a newline.
        text: String,
        /// Whether the lines go before the first line instead of after the last.
        at_start: bool,
    },
    /// Sets the value of a key in a settings file (`.env`, ini, toml, yaml, json), keeping everything else as it is.
    SetValue {
        /// Absolute path of the settings file.
        path: String,
        /// The section that holds the key; `None` for a key that stands once in the file.
        section: Option<String>,
        /// The key, a dot between the levels of a nested one.
        key: String,
        /// The new value, as it was typed.
        value: String,
    },
    /// Changes permission bits.
    SetMode {
        /// The files or folders whose bits change.
        of: Query,
        /// How the bits change.
        mode: ModeChange,
    },
    /// Creates a symbolic link.
    Link {
        /// Absolute path that the link points to.
        target: String,
        /// Absolute path of the new link.
        path: String,
    },
    /// Runs a command line, and nothing but that line.
    Run {
        /// The whole command line as the user or the project wrote it.
        command: String,
        /// Absolute path of the folder it runs in.
        folder: String,
        /// Absolute path of the file that its output is written to; `None` if it is only shown.
        to: Option<String>,
    },
    /// Fetches what an address holds.
    Fetch {
        /// The whole address.
        url: String,
        /// Absolute path of the file to write; `None` if it is only shown.
        to: Option<String>,
    },
    /// Changes a git repository.
    Git {
        /// Absolute path of the repository's folder.
        folder: String,
        /// What is done to it.
        action: GitAction,
    },
    /// Ends a running process.
    Stop {
        /// Which process.
        process: ProcessName,
    },
    /// Installs a program.
    Install {
        /// The program's name.
        program: String,
        /// The version that must be there; `None` for any.
        version: Option<String>,
    },
    /// Leaves files or folders unchanged.
    Keep {
        /// Absolute paths that must not change.
        paths: Vec<String>,
    },
}

/// How permission bits change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModeChange {
    /// The bits become exactly these.
    Bits(u32),
    /// The file becomes executable for everybody who may read it.
    Executable,
    /// The file becomes executable for nobody.
    NotExecutable,
    /// The file becomes writable for nobody.
    ReadOnly,
}

/// A change of a git repository.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GitAction {
    /// Makes the folder a repository.
    Init,
    /// Commits every change with this message.
    Commit {
        /// The message, without a newline at its end.
        message: String,
    },
    /// Creates a branch at the current commit.
    Branch {
        /// The branch's name.
        name: String,
        /// Whether it is checked out too.
        switch: bool,
    },
    /// Checks out an existing branch.
    Switch {
        /// The branch's name.
        name: String,
    },
    /// Tags the current commit.
    Tag {
        /// The tag's name.
        name: String,
    },
}

/// Which process is meant.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProcessName {
    /// The process with this number.
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
            Self::CreateFolder { .. }
            | Self::CreateFile { .. }
            | Self::Replace { .. }
            | Self::Save { .. }
            | Self::Insert { .. }
            | Self::SetValue { .. }
            | Self::Link { .. }
            | Self::Run { .. }
            | Self::Fetch { .. }
            | Self::Git { .. }
            | Self::Stop { .. }
            | Self::Install { .. }
            | Self::Keep { .. } => None,
            Self::SetMode { of, .. }
            | Self::Copy { of, .. }
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
            Self::Save { of, to } => Self::Save { of: of.normalise(), to },
            Self::SetMode { of, mode } => Self::SetMode { of: of.normalise(), mode },
            same => same,
        }
    }
}
