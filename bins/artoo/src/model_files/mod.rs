//! `artoo model`: lists, downloads and selects model files.

mod choose;
mod list;
pub(crate) mod memory;
mod progress;
pub(crate) mod pull;

use std::io;

use artoo_llm::files::{FilesError, Gguf};
use artoo_proto::escape;

use crate::args::ModelCommand;
use crate::display::writer::Screen;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::settings::{Settings, Variables};

/// Name of the schema of `artoo model`'s JSON output, which is not stable yet.
const SCHEMA: &str = "artoo.models/0";

/// Maximum length of a text shown from a model file's metadata, in characters.
const METADATA_CHARS: usize = 60;

/// Runs a subcommand of `artoo model`.
pub(crate) async fn run(
    command: ModelCommand,
    settings: &Settings,
    variables: &Variables,
    screen: &Screen,
) -> Result<Exit, Failure> {
    match command {
        ModelCommand::List { verify } => list::run(verify, settings, screen),
        ModelCommand::Pull(options) => pull::run(&options, settings, variables, screen).await,
        ModelCommand::Use { chosen } => choose::run(&chosen, settings, variables, screen).await,
    }
}

impl From<FilesError> for Failure {
    fn from(error: FilesError) -> Self {
        let (exit, remedy) = match &error {
            FilesError::Io { source, .. } if source.kind() == io::ErrorKind::StorageFull => {
                (Exit::NotAchieved, Some("make room; the same command resumes the download"))
            }
            FilesError::Unknown { .. } => {
                (Exit::Usage, Some("artoo model list shows the names; a URL or the path of a file works too"))
            }
            FilesError::NotInstalled { .. } => (Exit::Usage, Some("fetch it: artoo model pull with that name")),
            FilesError::Changed { .. } => {
                (Exit::Usage, Some("fetch or record it again: artoo model pull with its name, URL or path"))
            }
            FilesError::Unnamed { .. } | FilesError::Taken { .. } => {
                (Exit::Usage, Some("give it another name: artoo model pull with --name"))
            }
            FilesError::Record { .. } => (Exit::Usage, Some("move that folder away, and fetch the model again")),
            FilesError::Checksum { .. } => (Exit::Usage, Some("one of the two is wrong: look both up again")),
            FilesError::Io { .. }
            | FilesError::NotPrivate { .. }
            | FilesError::NotModel { .. }
            | FilesError::Url { .. }
            | FilesError::Client(_) => (Exit::Usage, None),
            FilesError::Busy { .. } => (Exit::NotAchieved, Some("try again when that is done")),
            FilesError::Connection { .. } => (Exit::NotAchieved, Some("the same command resumes the download")),
            FilesError::Corrupt { .. } => {
                (Exit::NotAchieved, Some("try once more; if it fails again, the host has another file than expected"))
            }
            FilesError::NoSpace { .. } => {
                (Exit::NotAchieved, Some("make room, choose a smaller model (artoo model list) or another --data-dir"))
            }
            FilesError::Response { .. } => (Exit::NotAchieved, None),
        };
        Self::from_error(exit, &error).with_remedy(remedy)
    }
}

/// Formats a number of bytes for people, such as `2.50 GB`.
pub(crate) fn sized(bytes: u64) -> String {
    for (unit, size) in [("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)] {
        if bytes >= size {
            let hundredths = bytes.saturating_add(size / 200) / (size / 100);
            return format!("{}.{:02} {unit}", hundredths / 100, hundredths % 100);
        }
    }
    format!("{bytes} bytes")
}

/// Describes a model file by its metadata, in one line.
pub(crate) fn describe(gguf: &Gguf) -> String {
    let millions = gguf.parameters.saturating_add(500_000) / 1_000_000;
    let parameters = match millions.saturating_add(50) / 100 {
        tenths @ 10.. => format!("{}.{} billion", tenths / 10, tenths % 10),
        _ => format!("{millions} million"),
    };
    let architecture = escape::one_line(&escape::shorten(&gguf.architecture, METADATA_CHARS));
    let context = gguf.context_tokens.map(|tokens| format!(", context {tokens} tokens")).unwrap_or_default();
    let template = if gguf.has_chat_template { "" } else { ", no template for conversations" };
    format!("{architecture}, {parameters} parameters, {}{context}{template}", gguf.quantisation)
}

#[cfg(test)]
mod tests {
    use std::io;

    use artoo_llm::files::FilesError;

    use super::sized;
    use crate::exit::Exit;
    use crate::failure::Failure;

    #[test]
    fn full_disk_differs_from_denied_write() {
        let failure = |kind: io::ErrorKind| Failure::from(FilesError::Io { path: "/d".into(), source: kind.into() });
        let full = failure(io::ErrorKind::StorageFull);
        assert_eq!(
            (full.exit, full.remedy.is_some_and(|remedy| remedy.contains("make room"))),
            (Exit::NotAchieved, true)
        );
        assert_eq!(failure(io::ErrorKind::PermissionDenied).exit, Exit::Usage);
    }

    #[test]
    fn sizes_have_decimal_units() {
        for (bytes, expected) in [
            (0, "0 bytes"),
            (999, "999 bytes"),
            (1_000, "1.00 kB"),
            (98_362_432, "98.36 MB"),
            (2_497_281_120, "2.50 GB"),
            (u64::MAX, "18446744073.70 GB"),
            (999_999, "1000.00 kB"),
        ] {
            assert_eq!(sized(bytes), expected);
        }
    }
}
