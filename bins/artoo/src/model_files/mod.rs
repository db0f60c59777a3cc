//! `artoo model`: lists, downloads and selects model files.

mod choose;
mod list;
pub(crate) mod memory;
mod progress;
pub(crate) mod pull;

use artoo_llm::files::Gguf;
use artoo_proto::escape;

use crate::args::ModelCommand;
use crate::settings::{Settings, Variables};
use crate::{Exit, Failure, Screen};

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

/// Tests of the errors of `artoo model`.
#[cfg(test)]
mod tests {
    use std::io;

    use artoo_llm::files::FilesError;

    use crate::exit::Exit;
    use crate::failure::Failure;

    /// A full disk and a denied write lead to different exit codes or remedies when a model file is written.
    #[test]
    fn full_disk_differs_from_denied_write() {
        let failure = |kind: io::ErrorKind| Failure::from(FilesError::Io { path: "/d".into(), source: kind.into() });
        let full = failure(io::ErrorKind::StorageFull);
        assert_eq!(
            (full.exit(), full.remedy().is_some_and(|remedy| remedy.contains("make room"))),
            (Exit::NotAchieved, true)
        );
        assert_eq!(failure(io::ErrorKind::PermissionDenied).exit(), Exit::Usage);
    }
}
