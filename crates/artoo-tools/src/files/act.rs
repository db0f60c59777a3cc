//! Parses the input of the tools `files` and `trash`.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use artoo_proto::{Environment, escape};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::files::edit::ModeChange;
use crate::input::{self, unfit};
use crate::paths::{self, PATH_MAX_BYTES};
use crate::record::Record;

/// Maximum number of paths in a call.
const PATHS_MAX: usize = 10_000;

/// Longest text of a new file, in characters.
const TEXT_MAX_CHARS: usize = 1_000_000;

/// Longest template, and longest text to find or to replace it with, in characters.
const PIECE_MAX_CHARS: usize = 1_000;

/// Longest path quoted in an error, in characters.
const QUOTED_MAX_CHARS: usize = 200;

/// An operation of `files` with its fields.
#[derive(Debug, Deserialize)]
#[serde(tag = "act", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Act {
    CreateFolder {
        to: String,
    },
    CreateFile {
        to: String,
        #[serde(default)]
        text: String,
    },
    Copy {
        paths: Vec<String>,
        to: String,
    },
    Move {
        paths: Vec<String>,
        to: String,
    },
    Rename {
        paths: Vec<String>,
        template: Option<String>,
        find: Option<String>,
        with: Option<String>,
    },
    /// Creates a file with the text of another, each occurrence of `find` replaced.
    Replace {
        paths: Vec<String>,
        to: String,
        find: String,
        with: String,
    },
    /// Gives a text file other content, if it still has the content with the digest `before`.
    Write {
        to: String,
        text: String,
        before: String,
    },
    /// Sets permission bits exactly, or by one of the named changes.
    SetMode {
        paths: Vec<String>,
        mode: ModeChange,
    },
    /// Creates a symbolic link.
    Link {
        to: String,
        target: String,
    },
    Archive {
        paths: Vec<String>,
        to: String,
    },
    Extract {
        paths: Vec<String>,
        to: String,
    },
    Delete {
        paths: Vec<String>,
    },
}

impl Act {
    /// Parses the input of the tool `files`.
    pub(crate) fn parse(value: &Value) -> Result<Self, Box<Record>> {
        let act: Self = input::parse(value)?;
        act.check()?;
        Ok(act)
    }

    /// Parses the input of the tool `trash`.
    pub(crate) fn parse_trash(value: &Value) -> Result<Self, Box<Record>> {
        let mut fields: Map<String, Value> = input::parse(value)?;
        match fields.insert("act".to_owned(), "delete".into()) {
            None => Self::parse(&fields.into()),
            Some(_) => Err(unfit("the input does not fit the tool's schema: unknown field `act`")),
        }
    }

    /// Checks the number and length of the fields of a `files` input.
    fn check(&self) -> Result<(), Box<Record>> {
        match self {
            Self::CreateFolder { .. } | Self::Link { .. } => Ok(()),
            Self::CreateFile { text, .. } | Self::Write { text, .. } => {
                input::check_length("text", text, TEXT_MAX_CHARS)
            }
            Self::Rename { paths, template, find, with } => {
                for (field, piece) in [("template", template), ("find", find), ("with", with)] {
                    input::check_length(field, piece.as_deref().unwrap_or_default(), PIECE_MAX_CHARS)?;
                }
                check_paths(paths)
            }
            Self::Replace { paths, find, with, .. } => {
                input::check_length("find", find, PIECE_MAX_CHARS)?;
                input::check_length("with", with, PIECE_MAX_CHARS)?;
                match paths.len() {
                    _ if find.is_empty() => Err(unfit("the field find is empty")),
                    1 => Ok(()),
                    given => Err(unfit(format!("paths: this act takes exactly one, and {given} are given"))),
                }
            }
            Self::Copy { paths, .. }
            | Self::Move { paths, .. }
            | Self::Archive { paths, .. }
            | Self::Extract { paths, .. }
            | Self::SetMode { paths, .. }
            | Self::Delete { paths } => check_paths(paths),
        }
    }
}

/// Checks that a `files` call has at least one path and not too many.
fn check_paths(paths: &[String]) -> Result<(), Box<Record>> {
    input::check_count("paths", paths.len(), PATHS_MAX)?;
    if paths.is_empty() { Err(unfit("the field paths is empty")) } else { Ok(()) }
}

/// The absolute path of an entry of the field `paths`; only an absolute entry may have escapes.
pub(super) fn listed(environment: &Environment, line: &str) -> Result<PathBuf, Box<Record>> {
    if !line.starts_with('/') {
        return input::path(environment, "paths", line);
    }
    let bytes = escape::path_from_line(line).filter(|bytes| bytes.len() <= PATH_MAX_BYTES && !bytes.contains(&0));
    let bytes = bytes.ok_or_else(|| {
        let line = escape::shorten(&escape::one_line(line), QUOTED_MAX_CHARS);
        unfit(format!("paths: {line} is no path as this program lists them (a backslash is written twice)"))
    })?;
    Ok(paths::normalise(&PathBuf::from(OsString::from_vec(bytes))))
}

/// The JSON schema of `trash`'s input.
pub(crate) fn trash_schema() -> Value {
    input::schema(
        &["paths"],
        json!({
            "paths": {"type": "array", "minItems": 1, "maxItems": PATHS_MAX, "description": "as listed by glob",
                "items": {"type": "string", "minLength": 1, "maxLength": PATH_MAX_BYTES}}
        }),
    )
}

/// The JSON schema of `files`' input.
pub(crate) fn schema() -> Value {
    let path = |what: &str| json!({"type": "string", "minLength": 1, "maxLength": PATH_MAX_BYTES, "description": what});
    let text = |max: usize, what: &str| json!({"type": "string", "maxLength": max, "description": what});
    input::schema(
        &["act"],
        json!({
            "act": {"enum": [
                "create_folder", "create_file", "copy", "move", "rename", "replace", "write", "set_mode", "link",
                "archive", "extract", "delete"
            ]},
            "paths": {"type": "array", "maxItems": PATHS_MAX, "items": path("as listed by glob"),
                "description": "what to act on; replace takes one"},
            "to": path("where the new file or folder goes; with a trailing slash, a folder to copy or move into; \
                for archive a name ending in .tar.gz, .tgz, .tar, .zip, or .gz for one file"),
            "template": text(PIECE_MAX_CHARS, "rename: the new name, with {name} {stem} {ext} {n} {n:3} {date}, \
                {name|lower}, {stem|upper}"),
            "text": text(TEXT_MAX_CHARS, "create_file, write: its content"),
            "before": text(PIECE_MAX_CHARS, "write: SHA-256 of the content that the file has now"),
            "mode": text(PIECE_MAX_CHARS, "set_mode: octal bits, executable, not_executable or read_only"),
            "target": path("link: where it leads"),
            "find": text(PIECE_MAX_CHARS, "replace: text in the file; rename: text in the name"),
            "with": text(PIECE_MAX_CHARS, "what comes in its place")
        }),
    )
}
