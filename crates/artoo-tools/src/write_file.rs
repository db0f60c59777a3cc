//! `write_file`: creates a text file in the workspace.

mod tool;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use artoo_proto::{EffectClass, Environment, FileChange};
use rustix::io::Errno;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::input;
use crate::limit::Limit;
use crate::openat::Place;
use crate::paths::{self, PATH_MAX_BYTES};
use crate::protect::Protected;
use crate::record::Record;
use crate::undo::Act;
use crate::{digest, open, texts};

pub(crate) use tool::WriteFile;

/// Longest text that `write_file` writes, in characters.
const TEXT_MAX_CHARS: usize = 1_000_000;

/// Longest name of a file or folder, in bytes; the limit of common file systems.
const NAME_MAX_BYTES: usize = 255;

/// The input of `write_file` as JSON.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    path: String,
    text: String,
}

/// A valid input of `write_file`.
#[derive(Debug)]
pub(crate) struct NewFile {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

impl NewFile {
    /// Parses the input of `write_file`. A relative path is relative to the workspace. The error is the record of an
    /// invalid input, or of a path outside the workspace.
    pub(crate) fn parse(environment: &Environment, value: &Value) -> Result<Self, Box<Record>> {
        let Wire { path, text } = input::parse(value)?;
        input::check_length("text", &text, TEXT_MAX_CHARS)?;
        let in_workspace = Environment { cwd: environment.workspace.clone(), ..environment.clone() };
        let workspace = input::path(environment, "workspace", &environment.workspace)?;
        let resolved = input::path(&in_workspace, "path", &path)?;
        let outside = || {
            let (path, workspace) = (artoo_proto::escape::one_line(&path), paths::line(&workspace));
            input::denied(&format!("{path} is outside the workspace {workspace}"))
        };
        // `..` is denied even if the path stays in the workspace.
        if path.split('/').any(|part| part == "..") {
            return Err(outside());
        }
        let below = resolved.strip_prefix(&workspace).map_err(|_| outside())?;
        if below.as_os_str().is_empty() || path.ends_with('/') {
            return Err(input::unfit("path: it names a folder"));
        }
        for name in below.iter().filter_map(|name| name.to_str()) {
            if name.len() > NAME_MAX_BYTES {
                return Err(input::unfit(format!("path: a name is longer than {NAME_MAX_BYTES} bytes")));
            }
            if artoo_proto::escape::one_line(name) != name {
                return Err(input::unfit("path: a name holds a character that can't be shown"));
            }
        }
        Ok(Self { path: resolved, text })
    }
}

/// Creates the file of a `write_file` call and returns the record.
pub(crate) fn run(
    environment: &Environment,
    new: &NewFile,
    protected: &Protected,
    mut act: Act,
    limit: &Limit,
) -> Record {
    let measured_nothing = |record: Record| Record { measures: false, ..record.class(EffectClass::Creating) };
    if let Some(reason) = protected.refusal(&new.path) {
        return measured_nothing(Record::denied(&reason));
    }
    let made = make(environment, new, &mut act, limit);
    let noted = act.end(made.as_ref().map(std::slice::from_ref).unwrap_or_default(), limit);
    measured_nothing(match made {
        Ok(change) => Record {
            // Without the note the journal entry stays open, and an undo compares the files again.
            text: format!(
                "created {} with {}{}",
                change.path,
                texts::exactly(new.text.len() as u64, "byte", "bytes"),
                noted.err().map(|error| format!(" (not yet noted for undo: {error})")).unwrap_or_default()
            ),
            changed: vec![change],
            ..Record::read("")
        },
        Err(error) => refused(new, &error),
    })
}

/// Creates the workspace, missing folders and the new file, and records the change for undo.
fn make(environment: &Environment, new: &NewFile, act: &mut Act, limit: &Limit) -> io::Result<FileChange> {
    let workspace = Path::new(&environment.workspace);
    act.creating(&paths::real(workspace))?;
    fs::create_dir_all(workspace)?;
    // The workspace itself may be a symlink; below it none is followed.
    let root = workspace.canonicalize()?;
    let below = new.path.strip_prefix(paths::normalise(workspace)).map_err(|_| io::ErrorKind::InvalidInput)?;
    let path = root.join(below);
    act.creating(&path)?;
    let mut created = Place::making_folders(&path, &mut Vec::new())?.make_file()?;
    act.made(&path);
    let file = &mut created.file;
    let written = file.write_all(new.text.as_bytes()).and_then(|()| file.sync_data());
    match written.and_then(|()| digest::of_whole(file, limit)) {
        Ok(after) => Ok(FileChange { path: paths::line(&new.path), before: None, after: Some(after) }),
        Err(error) => {
            created.remove_created();
            Err(error)
        }
    }
}

/// The record of a file that `write_file` could not create, with the reason.
fn refused(new: &NewFile, error: &io::Error) -> Record {
    let path = paths::line(&new.path);
    // openat2 reports a symlink in the path as ELOOP, openat as ENOTDIR.
    let left_the_way = matches!(Errno::from_io_error(error), Some(Errno::LOOP | Errno::NOTDIR | Errno::XDEV));
    if error.kind() == io::ErrorKind::AlreadyExists {
        let same = if holds_already(new) { ", with exactly this text" } else { "" };
        let kind = fs::symlink_metadata(&new.path).map_or("it", |found| open::kind_name(found.file_type()));
        return Record::denied(&format!("{path} exists already ({kind}{same}); only new files are created"));
    }
    if left_the_way {
        return Record::denied(&format!(
            "{path} leads through something that is not a plain folder of the workspace: {error}"
        ));
    }
    Record::hindered(format!("{path}: {error}"))
}

/// Whether the file exists already with exactly the text to be written.
fn holds_already(new: &NewFile) -> bool {
    let is_link = fs::symlink_metadata(&new.path).is_ok_and(|found| found.is_symlink());
    let same_size = fs::metadata(&new.path).is_ok_and(|found| found.is_file() && found.len() == new.text.len() as u64);
    !is_link && same_size && fs::read(&new.path).is_ok_and(|text| text == new.text.as_bytes())
}

/// The JSON schema of `write_file`'s input.
pub(crate) fn schema() -> Value {
    input::schema(
        &["path", "text"],
        json!({
            "path": {"type": "string", "minLength": 1, "maxLength": PATH_MAX_BYTES,
                "description": "relative to the workspace, or absolute inside it; the file must not exist"},
            "text": {"type": "string", "maxLength": TEXT_MAX_CHARS}
        }),
    )
}
