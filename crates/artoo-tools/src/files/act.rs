//! The input of `files`, narrowed: what is to be done, to which paths.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use artoo_proto::{Environment, escape};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::files::rename::{Template, TemplateProblem};
use crate::input::{self, InputProblem};
use crate::paths::{self, PATH_MAX_BYTES, PathProblem};

/// Paths one call acts on: more than a person reads before a yes, few enough to be planned in a moment.
pub(super) const PATHS_MAX: usize = 10_000;

/// Longest text of a new file.
const TEXT_MAX_CHARS: usize = 1_000_000;

/// Longest template, and longest text to find or put in names and files.
const PIECE_MAX_CHARS: usize = 1_000;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    act: Verb,
    #[serde(default)]
    paths: Vec<String>,
    to: Option<String>,
    template: Option<String>,
    text: Option<String>,
    find: Option<String>,
    with: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Verb {
    CreateFolder,
    CreateFile,
    Copy,
    Move,
    Rename,
    Replace,
    Archive,
    Extract,
    Delete,
}

/// What is to be done; paths are absolute.
#[derive(Debug)]
pub(crate) enum Act {
    CreateFolder {
        to: PathBuf,
    },
    CreateFile {
        to: PathBuf,
        text: String,
    },
    Copy {
        paths: Vec<PathBuf>,
        to: Destination,
    },
    Move {
        paths: Vec<PathBuf>,
        to: Destination,
    },
    Rename {
        paths: Vec<PathBuf>,
        template: Template,
    },
    /// A new file with the text of another, one piece replaced by another everywhere.
    Replace {
        path: PathBuf,
        to: PathBuf,
        find: String,
        with: String,
    },
    Archive {
        paths: Vec<PathBuf>,
        to: PathBuf,
    },
    Extract {
        paths: Vec<PathBuf>,
        into: PathBuf,
    },
    Delete {
        paths: Vec<PathBuf>,
    },
}

/// The input of `trash`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TrashWire {
    paths: Vec<String>,
}

/// Where copies go: a trailing slash says that it is a folder.
#[derive(Debug)]
pub(crate) struct Destination {
    pub(super) path: PathBuf,
    pub(super) is_folder: bool,
}

/// Why an input makes no sense.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ActProblem {
    #[error(transparent)]
    Input(#[from] InputProblem),
    #[error("{field}: {source}")]
    Path {
        field: &'static str,
        #[source]
        source: PathProblem,
    },
    #[error("paths: {line} is no path as this program lists them (a backslash is written twice)")]
    Line { line: String },
    #[error("the field {field} is needed for this act")]
    Missing { field: &'static str },
    #[error("the field {field} says nothing in this act")]
    Idle { field: &'static str },
    #[error("paths: this act takes exactly one, and {given} are given")]
    NotOne { given: usize },
    #[error("template: {0}")]
    Template(#[from] TemplateProblem),
}

impl Act {
    /// Reads and checks an input, as far as letters tell.
    pub(crate) fn parse(environment: &Environment, value: &Value) -> Result<Self, ActProblem> {
        let wire: Wire = input::parse(value)?;
        input::check_count("paths", wire.paths.len(), PATHS_MAX)?;
        input::check_length("text", wire.text.as_deref().unwrap_or_default(), TEXT_MAX_CHARS)?;
        for (field, piece) in [("template", &wire.template), ("find", &wire.find), ("with", &wire.with)] {
            input::check_length(field, piece.as_deref().unwrap_or_default(), PIECE_MAX_CHARS)?;
        }
        let mut fields = Fields { environment, wire };
        let act = match fields.wire.act {
            Verb::CreateFolder => Self::CreateFolder { to: fields.to()?.path },
            Verb::CreateFile => {
                Self::CreateFile { to: fields.to()?.path, text: fields.wire.text.take().unwrap_or_default() }
            }
            Verb::Copy => Self::Copy { paths: fields.paths()?, to: fields.to()? },
            Verb::Move => Self::Move { paths: fields.paths()?, to: fields.to()? },
            Verb::Rename => {
                let template = fields.wire.template.take();
                let (find, with) = (fields.wire.find.take(), fields.wire.with.take());
                Self::Rename { paths: fields.paths()?, template: Template::parse(template, find, with)? }
            }
            Verb::Replace => Self::Replace {
                path: fields.one_path()?,
                to: fields.to()?.path,
                find: fields.wire.find.take().filter(|f| !f.is_empty()).ok_or(missing("find"))?,
                with: fields.wire.with.take().ok_or(missing("with"))?,
            },
            Verb::Archive => Self::Archive { paths: fields.paths()?, to: fields.to()?.path },
            Verb::Extract => Self::Extract { paths: fields.paths()?, into: fields.to()?.path },
            Verb::Delete => Self::Delete { paths: fields.paths()? },
        };
        fields.nothing_left()?;
        Ok(act)
    }
}

impl Act {
    /// Reads the input of `trash`, which is a deletion and nothing else.
    pub(crate) fn parse_trash(environment: &Environment, value: &Value) -> Result<Self, ActProblem> {
        let TrashWire { paths } = input::parse(value)?;
        Self::parse(environment, &json!({"act": "delete", "paths": paths}))
    }
}

fn missing(field: &'static str) -> ActProblem {
    ActProblem::Missing { field }
}

/// The fields of an input; each is taken once, so that none is given in vain.
struct Fields<'a> {
    environment: &'a Environment,
    wire: Wire,
}

impl Fields<'_> {
    fn paths(&mut self) -> Result<Vec<PathBuf>, ActProblem> {
        let lines = std::mem::take(&mut self.wire.paths);
        if lines.is_empty() {
            return Err(missing("paths"));
        }
        lines.iter().map(|line| self.listed(line)).collect()
    }

    fn one_path(&mut self) -> Result<PathBuf, ActProblem> {
        let mut paths = self.paths()?;
        match (paths.pop(), paths.len()) {
            (Some(path), 0) => Ok(path),
            (_, others) => Err(ActProblem::NotOne { given: others + 1 }),
        }
    }

    fn to(&mut self) -> Result<Destination, ActProblem> {
        let to = self.wire.to.take().ok_or(missing("to"))?;
        let path = paths::absolute(self.environment, &to).map_err(|source| ActProblem::Path { field: "to", source })?;
        Ok(Destination { path, is_folder: to.ends_with('/') })
    }

    /// A path as it is listed; only one that starts with a slash can hold escapes.
    fn listed(&self, line: &str) -> Result<PathBuf, ActProblem> {
        if !line.starts_with('/') {
            let absolute = paths::absolute(self.environment, line);
            return absolute.map_err(|source| ActProblem::Path { field: "paths", source });
        }
        let bytes = escape::path_from_line(line);
        let bytes = bytes.filter(|bytes| bytes.len() <= PATH_MAX_BYTES && !bytes.contains(&0));
        let bytes = bytes.ok_or_else(|| ActProblem::Line { line: escape::shorten(&escape::one_line(line), 200) })?;
        Ok(paths::normalise(&PathBuf::from(OsString::from_vec(bytes))))
    }

    fn nothing_left(&self) -> Result<(), ActProblem> {
        let Wire { act: _, paths, to, template, text, find, with } = &self.wire;
        let left = [
            ("paths", !paths.is_empty()),
            ("to", to.is_some()),
            ("template", template.is_some()),
            ("text", text.is_some()),
            ("find", find.is_some()),
            ("with", with.is_some()),
        ];
        match left.into_iter().find(|(_, is_left)| *is_left) {
            Some((field, _)) => Err(ActProblem::Idle { field }),
            None => Ok(()),
        }
    }
}

/// The schema of `trash`.
pub(crate) fn trash_schema() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["paths"],
        "properties": {
            "paths": {"type": "array", "minItems": 1, "maxItems": PATHS_MAX, "description": "as listed by glob",
                "items": {"type": "string", "minLength": 1, "maxLength": PATH_MAX_BYTES}}
        }
    })
}

/// The schema a model sees.
pub(crate) fn schema() -> Value {
    let path = |what: &str| json!({"type": "string", "minLength": 1, "maxLength": PATH_MAX_BYTES, "description": what});
    let text = |max: usize, what: &str| json!({"type": "string", "maxLength": max, "description": what});
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["act"],
        "properties": {
            "act": {"enum": [
                "create_folder", "create_file", "copy", "move", "rename", "replace", "archive", "extract", "delete"
            ]},
            "paths": {"type": "array", "maxItems": PATHS_MAX, "items": path("as listed by glob"),
                "description": "what to act on; replace takes one"},
            "to": path("where the new file or folder goes; with a trailing slash, a folder to copy or move into; \
                for archive a name ending in .tar.gz, .tgz, .tar or .zip"),
            "template": text(PIECE_MAX_CHARS, "rename: the new name, with {name} {stem} {ext} {n} {n:3} {date}, \
                {name|lower}, {stem|upper}"),
            "text": text(TEXT_MAX_CHARS, "create_file: its content"),
            "find": text(PIECE_MAX_CHARS, "replace: text in the file; rename: text in the name"),
            "with": text(PIECE_MAX_CHARS, "what comes in its place")
        }
    })
}
