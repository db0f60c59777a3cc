//! `artoo model`: model files on this machine, shown, fetched after a yes, and chosen to answer.

mod choose;
mod list;
pub(crate) mod memory;
mod progress;
pub(crate) mod pull;

use std::io;

use artoo_llm::files::{FilesError, Gguf, Record, Vouched};
use artoo_proto::escape;

use crate::args::ModelCommand;
use crate::display::writer::Screen;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::settings::{Settings, Variables};

/// The schema's name; as unstable as that of a task's events.
const SCHEMA: &str = "artoo.models/0";

/// Characters shown of a text that a file says of itself.
const SAID_CHARS: usize = 60;

/// Does what it is told.
pub(crate) async fn run(
    command: ModelCommand,
    settings: Settings,
    variables: &Variables,
    screen: &Screen,
) -> Result<Exit, Failure> {
    match command {
        ModelCommand::List { verify } => list::run(verify, &settings, screen),
        ModelCommand::Pull(asked) => pull::run(&asked, &settings, variables, screen).await,
        ModelCommand::Use { chosen } => choose::run(&chosen, &settings, variables, screen).await,
    }
}

/// How a problem with a model file ends the program.
pub(crate) fn exit(problem: &FilesError) -> Exit {
    match problem {
        FilesError::Io { source, .. } if source.kind() == io::ErrorKind::StorageFull => Exit::NotAchieved,
        FilesError::Io { .. }
        | FilesError::NotPrivate { .. }
        | FilesError::Record { .. }
        | FilesError::Unknown { .. }
        | FilesError::NotPulled { .. }
        | FilesError::Gone { .. }
        | FilesError::Changed { .. }
        | FilesError::Nameless { .. }
        | FilesError::Taken { .. }
        | FilesError::NoModel { .. }
        | FilesError::Address { .. }
        | FilesError::TwoSums { .. }
        | FilesError::OtherSum { .. }
        | FilesError::Client(_) => Exit::Usage,
        FilesError::Busy { .. }
        | FilesError::Connection { .. }
        | FilesError::AskedToWait { .. }
        | FilesError::Answer { .. }
        | FilesError::TooLarge { .. }
        | FilesError::WrongSum { .. }
        | FilesError::NoRoom { .. }
        | FilesError::NotListed { .. } => Exit::NotAchieved,
    }
}

/// What the user can do about it.
pub(crate) fn remedy(problem: &FilesError) -> Option<&'static str> {
    match problem {
        FilesError::Io { source, .. } if source.kind() == io::ErrorKind::StorageFull => {
            Some("make room; what has come is kept, and the same command goes on with it")
        }
        FilesError::Unknown { .. } => {
            Some("artoo model list shows the names; the address or the path of a file will do")
        }
        FilesError::NotPulled { .. } => Some("fetch it: artoo model pull with that name"),
        FilesError::Gone { .. } | FilesError::Changed { .. } => {
            Some("fetch it again, or record it anew: artoo model pull with its name, address or path")
        }
        FilesError::Nameless { .. } | FilesError::Taken { .. } => Some("give it another: artoo model pull with --name"),
        FilesError::Busy { .. } => Some("try again when it is done"),
        FilesError::Connection { .. } | FilesError::AskedToWait { .. } => {
            Some("the same command goes on with what has come")
        }
        FilesError::WrongSum { .. } => Some(
            "what came earlier may have been damaged: try once more; else somebody gives another file than was meant",
        ),
        FilesError::NoRoom { .. } => Some("make room, choose a smaller model (artoo model list) or another --data-dir"),
        FilesError::NotListed { .. } => Some("name another index with --index or PIP_INDEX_URL"),
        FilesError::Record { .. } => Some("move that folder away, and fetch the model again"),
        FilesError::OtherSum { .. } | FilesError::TwoSums { .. } => Some("one of the two is wrong: look both up again"),
        FilesError::Io { .. }
        | FilesError::NotPrivate { .. }
        | FilesError::NoModel { .. }
        | FilesError::Address { .. }
        | FilesError::Answer { .. }
        | FilesError::TooLarge { .. }
        | FilesError::Client(_) => None,
    }
}

impl From<FilesError> for Failure {
    fn from(error: FilesError) -> Self {
        Self::from_error(exit(&error), &error).with_remedy(remedy(&error))
    }
}

/// A size as people read it.
pub(crate) fn sized(bytes: u64) -> String {
    for (unit, size) in [("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)] {
        if bytes >= size {
            let hundredths = bytes.saturating_add(size / 200) / (size / 100);
            return format!("{}.{:02} {unit}", hundredths / 100, hundredths % 100);
        }
    }
    format!("{bytes} bytes")
}

/// What a file says of itself, in a line.
pub(crate) fn in_words(facts: &Gguf) -> String {
    let said = |text: &str| escape::one_line(&escape::shorten(text, SAID_CHARS));
    let millions = facts.parameters.saturating_add(500_000) / 1_000_000;
    let parameters = match millions.saturating_add(50) / 100 {
        tenths @ 10.. => format!("{}.{} billion", tenths / 10, tenths % 10),
        _ => format!("{millions} million"),
    };
    let context = facts.context_tokens.map(|tokens| format!(", context {tokens} tokens")).unwrap_or_default();
    let template = if facts.has_chat_template { "" } else { ", no template for conversations" };
    format!("{}, {parameters} parameters, {}{context}{template}", said(&facts.architecture), facts.quantisation)
}

/// Whose word it is that a file is the right one.
pub(crate) fn vouched(record: &Record) -> &'static str {
    match record.vouched {
        Vouched::Catalog => "its sha256 is the catalog's",
        Vouched::User => "its sha256 is the one you gave",
        Vouched::Nobody => "nothing vouches for it but that it has not changed since it came",
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use artoo_llm::files::FilesError;

    use super::{exit, remedy, sized};
    use crate::exit::Exit;

    #[test]
    fn a_full_disk_is_told_from_one_that_can_not_be_written_to() {
        let problem = |kind: io::ErrorKind| FilesError::Io { path: "/d".into(), source: kind.into() };
        let full = problem(io::ErrorKind::StorageFull);
        assert_eq!(
            (exit(&full), remedy(&full).is_some_and(|words| words.contains("make room"))),
            (Exit::NotAchieved, true)
        );
        assert_eq!(exit(&problem(io::ErrorKind::PermissionDenied)), Exit::Usage);
    }

    #[test]
    fn sizes_are_read_as_people_read_them() {
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
