//! Exit codes and remedies for error types that other crates of the workspace define.

use std::io;

use artoo_llm::ConfigError;
use artoo_llm::files::FilesError;
use artoo_roles::runtime::{MemoryError, RuntimeError};
use artoo_tools::undo::UndoError;

use super::{Consequence, internal, usage};
use crate::exit::Exit;

/// Consequence of an `artoo undo` or `artoo model` that was understood but could not be carried out: exit code
/// `NotAchieved` and this remedy.
const fn not_achieved(remedy: &'static str) -> Consequence {
    (Exit::NotAchieved, Some(remedy))
}

/// Exit code and remedy of an invalid model configuration.
pub(super) fn of_model_config(error: &ConfigError) -> Consequence {
    usage(match error {
        ConfigError::Missing { name: "OPENAI_MODEL" } => {
            "name the model with --model openai:NAME or OPENAI_MODEL, or use --model reflex"
        }
        ConfigError::Missing { name: "OPENAI_API_KEY" } => {
            "set OPENAI_API_KEY, or OPENAI_BASE_URL for an endpoint of your own, or use --model reflex"
        }
        ConfigError::Missing { .. }
        | ConfigError::NotUnicode { .. }
        | ConfigError::BaseUrl { .. }
        | ConfigError::KeyNotSendable
        | ConfigError::Header { .. }
        | ConfigError::Zero { .. } => "put OPENAI_BASE_URL, OPENAI_API_KEY and OPENAI_MODEL right; see artoo doctor",
    })
}

/// Exit code and remedy of an error with model files.
pub(super) fn of_files(error: &FilesError) -> Consequence {
    match error {
        FilesError::Io { source, .. } if source.kind() == io::ErrorKind::StorageFull => {
            not_achieved("make room; the same command resumes the download")
        }
        FilesError::Io { .. } => usage("check the path, and that you may use it"),
        FilesError::NotPrivate { .. } => usage("make it your own: chown to you, and chmod go-w"),
        FilesError::Unknown { .. } => usage("artoo model list shows the names; a URL or the path of a file works too"),
        FilesError::NotInstalled { .. } => usage("fetch it: artoo model pull with that name"),
        FilesError::Changed { .. } => usage("fetch or record it again: artoo model pull with its name, URL or path"),
        FilesError::Unnamed { .. } | FilesError::Taken { .. } => {
            usage("give it another name: artoo model pull with --name")
        }
        FilesError::Record { .. } => usage("move that folder away, and fetch the model again"),
        FilesError::Checksum { .. } => usage("one of the two is wrong: look both up again"),
        FilesError::NotModel { .. } => usage("artoo runs GGUF files; give the path or the URL of one"),
        FilesError::Url { .. } => usage("give the URL of a GGUF file that begins with https://"),
        FilesError::Client(_) => usage("try again; if SSL_CERT_FILE is set, check the file it names"),
        FilesError::Busy { .. } => not_achieved("try again when that is done"),
        FilesError::Connection { .. } => not_achieved("the same command resumes the download"),
        FilesError::Corrupt { .. } => {
            not_achieved("try once more; if it fails again, the host has another file than expected")
        }
        FilesError::NoSpace { .. } => {
            not_achieved("make room, choose a smaller model (artoo model list) or another --data-dir")
        }
        FilesError::Response { .. } => not_achieved("check the URL in a browser, or name another"),
    }
}

/// Exit code and remedy of an error of the undo journal.
pub(super) fn of_undo(error: &UndoError) -> Consequence {
    match error {
        UndoError::Unknown { .. } | UndoError::Ambiguous { .. } => usage("artoo undo --list names what can be undone"),
        UndoError::Busy => not_achieved("try again when it is done"),
        UndoError::Undone { .. } => not_achieved("artoo undo --list names the undo, which can itself be undone"),
        UndoError::Io(_) => internal("look at the folder undo in the data folder"),
    }
}

/// Exit code and remedy of an error of the memory.
pub(super) fn of_memory(error: &MemoryError) -> Consequence {
    match error {
        MemoryError::Missing { .. } => usage("memory begins with the first task, or see --data-dir"),
        MemoryError::Target(_) => usage("name a new or empty folder that you can write to"),
        MemoryError::File { .. } => {
            usage("name a file that you can read, or a new one in a folder that you can write to")
        }
        MemoryError::Write(_) => usage("nothing was changed; an import is a file that artoo memory export wrote"),
        MemoryError::Maintenance(_) => not_achieved(
            "if another artoo has the memory open, try again when that one has ended; else see artoo doctor",
        ),
        MemoryError::Memory(_) | MemoryError::Durability(_) | MemoryError::Forget(_) | MemoryError::Export(_) => {
            internal("artoo doctor says what is wrong with the memory")
        }
    }
}

/// Exit code and remedy of an error at the start of the runtime.
pub(super) fn of_runtime(error: &RuntimeError) -> Consequence {
    match error {
        RuntimeError::Environment(_) => usage("set HOME, and start artoo in a folder that exists"),
        // Their texts name the remedy.
        RuntimeError::DataDir { .. } => (Exit::Usage, None),
        RuntimeError::Memory(_) => (Exit::Internal, None),
        RuntimeError::DiskFull { .. } => {
            internal("make room there, or choose a folder on another disk with --data-dir")
        }
        RuntimeError::Audit(_) => internal("see artoo audit; or choose another folder with --data-dir"),
        RuntimeError::NotResumable(_) => {
            (Exit::NotResumable, Some("artoo tasks show shows its record, artoo report makes a page of it"))
        }
        RuntimeError::NotKept(_) => internal("artoo doctor says what is wrong with the memory"),
        RuntimeError::Stopped => internal("run it again; if it happens twice, report it with the audit log"),
    }
}
