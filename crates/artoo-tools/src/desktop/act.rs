//! The input of `desktop`: one act.

use std::path::{Path, PathBuf};

use artoo_proto::Environment;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::input::{self, InputProblem};
use crate::paths;
use crate::protect::Protected;

/// Longest title and text of a notification: more is not shown by any desktop.
const TITLE_MAX_CHARS: usize = 100;

/// Longest text of a notification.
const TEXT_MAX_CHARS: usize = 1000;

/// Longest text put on the clipboard: it goes as one argument, which the system takes up to 128 KiB.
const CLIPBOARD_MAX_CHARS: usize = 20_000;

/// Longest target that is opened.
const TARGET_MAX_CHARS: usize = 1500;

/// What can be opened besides files and folders.
const SCHEMES: [&str; 3] = ["http://", "https://", "mailto:"];

/// Said of a target that is neither.
const NO_TARGET: &str = "target: give an http, https or mailto address, or the path of a file or folder that is there";

/// One act, as asked for.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "action", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Act {
    Notify {
        title: String,
        #[serde(default)]
        text: String,
    },
    Open {
        target: String,
    },
    ReadClipboard {},
    WriteClipboard {
        text: String,
    },
    Media {
        command: MediaCommand,
        player: Option<String>,
    },
}

/// What a player is told (MPRIS).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum MediaCommand {
    Play,
    Pause,
    PlayPause,
    Stop,
    Next,
    Previous,
}

/// The name of an act, as the schema has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    Notify,
    Open,
    ReadClipboard,
    WriteClipboard,
    Media,
}

impl MediaCommand {
    /// The method's name in MPRIS.
    pub(super) fn method(self) -> &'static str {
        match self {
            Self::Play => "Play",
            Self::Pause => "Pause",
            Self::PlayPause => "PlayPause",
            Self::Stop => "Stop",
            Self::Next => "Next",
            Self::Previous => "Previous",
        }
    }
}

impl Action {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Notify => "notify",
            Self::Open => "open",
            Self::ReadClipboard => "read_clipboard",
            Self::WriteClipboard => "write_clipboard",
            Self::Media => "media",
        }
    }
}

impl Act {
    /// Reads and checks an input; a path that is opened is absolute after it.
    pub(super) fn parse(environment: &Environment, protected: &Protected, value: &Value) -> Result<Self, InputProblem> {
        let act: Self = input::parse(value)?;
        match &act {
            Self::Notify { title, text } => {
                check("title", title, TITLE_MAX_CHARS)?;
                if !text.is_empty() {
                    check("text", text, TEXT_MAX_CHARS)?;
                }
            }
            Self::Open { target } => {
                check("target", target, TARGET_MAX_CHARS)?;
                let target = openable(environment, protected, target)?;
                return Ok(Self::Open { target });
            }
            Self::WriteClipboard { text } => check("text", text, CLIPBOARD_MAX_CHARS)?,
            Self::Media { player: Some(player), .. } => check("player", player, TITLE_MAX_CHARS)?,
            Self::ReadClipboard {} | Self::Media { player: None, .. } => {}
        }
        Ok(act)
    }

    pub(super) fn action(&self) -> Action {
        match self {
            Self::Notify { .. } => Action::Notify,
            Self::Open { .. } => Action::Open,
            Self::ReadClipboard {} => Action::ReadClipboard,
            Self::WriteClipboard { .. } => Action::WriteClipboard,
            Self::Media { .. } => Action::Media,
        }
    }

    /// The path that is opened, if one is.
    pub(super) fn path(&self) -> Option<PathBuf> {
        match self {
            Self::Open { target } if target.starts_with('/') => Some(PathBuf::from(target)),
            Self::Open { .. }
            | Self::Notify { .. }
            | Self::ReadClipboard {}
            | Self::WriteClipboard { .. }
            | Self::Media { .. } => None,
        }
    }
}

fn check(field: &'static str, text: &str, max: usize) -> Result<(), InputProblem> {
    input::check_length(field, text, max)?;
    if text.trim().is_empty() || artoo_proto::escape::visible(text) != text {
        return Err(InputProblem::Unfit(format!("{field}: it is empty, or holds invisible or control characters")));
    }
    Ok(())
}

fn openable(environment: &Environment, protected: &Protected, target: &str) -> Result<String, InputProblem> {
    let unfit = || InputProblem::Unfit(NO_TARGET.to_owned());
    if SCHEMES.iter().any(|scheme| target.to_ascii_lowercase().starts_with(scheme)) {
        let is_one = !target.chars().any(|c| c.is_whitespace() || !c.is_ascii());
        return if is_one { Ok(target.to_owned()) } else { Err(unfit()) };
    }
    let path = paths::absolute(environment, target).map_err(|_| unfit())?;
    if let Some(reason) = protected.refusal(&path) {
        return Err(InputProblem::Denied(format!("target: {reason}")));
    }
    let found = path.metadata().map_err(|_| unfit())?;
    if is_program(&path, &found) {
        return Err(InputProblem::Denied("target: it is a program; opening is for documents".to_owned()));
    }
    let kind = found.file_type();
    let is_openable = kind.is_dir() || kind.is_file();
    path.to_str().filter(|_| is_openable).map(str::to_owned).ok_or_else(unfit)
}

/// What a desktop would run rather than show.
fn is_program(path: &Path, found: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let is_launcher = path.extension().is_some_and(|end| {
        ["desktop", "appimage", "exe", "jar", "sh"].iter().any(|known| end.eq_ignore_ascii_case(known))
    });
    is_launcher || (found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// The schema a model sees: only what this machine can do.
pub(super) fn schema(actions: &[Action]) -> Value {
    let of = |action: &Action| {
        let (fields, required): (Value, &[&str]) = match action {
            Action::Notify => (
                json!({"title": {"type": "string", "minLength": 1, "maxLength": TITLE_MAX_CHARS},
                    "text": {"type": "string", "maxLength": TEXT_MAX_CHARS}}),
                &["action", "title"],
            ),
            Action::Open => (
                json!({"target": {"type": "string", "minLength": 1, "maxLength": TARGET_MAX_CHARS,
                    "description": "an http, https or mailto address, or the path of a document or folder"}}),
                &["action", "target"],
            ),
            Action::ReadClipboard => (json!({}), &["action"]),
            Action::WriteClipboard => (
                json!({"text": {"type": "string", "minLength": 1, "maxLength": CLIPBOARD_MAX_CHARS}}),
                &["action", "text"],
            ),
            Action::Media => (
                json!({"command": {"enum": ["play", "pause", "play_pause", "stop", "next", "previous"]},
                    "player": {"type": "string", "maxLength": TITLE_MAX_CHARS, "description": "only if several run"}}),
                &["action", "command"],
            ),
        };
        let mut fields = fields;
        if let Some(fields) = fields.as_object_mut() {
            fields.insert("action".to_owned(), json!({"const": action.name()}));
        }
        json!({"type": "object", "additionalProperties": false, "required": required, "properties": fields})
    };
    json!({"type": "object", "oneOf": actions.iter().map(of).collect::<Vec<_>>()})
}
