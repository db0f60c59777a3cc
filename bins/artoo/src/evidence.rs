//! `artoo evidence`: shows stored tool output, verified against its SHA-256.

use artoo_proto::KeptOutput;
use artoo_tools::EvidenceStore;
use artoo_tools::evidence::KeptCall;
use serde_json::json;

use crate::args::EvidenceCommand;
use crate::display::{Line, json};
use crate::{Exit, Failure, Screen, Settings};

/// Name of the schema of `artoo evidence`'s JSON output, which is not stable yet.
const SCHEMA: &str = "artoo.evidence/0";

/// Minimum length of a SHA-256 prefix that selects a stored output, in characters.
const PREFIX_MIN_CHARS: usize = 8;

/// Runs `artoo evidence`: lists the tool calls with stored output, or shows the output of one call.
pub(crate) fn run(command: &EvidenceCommand, settings: &Settings, screen: &Screen) -> Result<Exit, Failure> {
    let store = EvidenceStore::new(&settings.data_dir);
    let calls = store.calls()?;
    let (shown, with_text) = match command {
        EvidenceCommand::List => (calls, false),
        EvidenceCommand::Show { id } => (named(calls, id)?, true),
    };
    let mut values = Vec::new();
    for call in &shown {
        let mut streams = Vec::new();
        if !settings.json {
            let KeptCall { evidence_id, tool, at, task_id, .. } = call;
            screen.answer(&[Line::strong(format!("{} {tool}, {at}, task {}", evidence_id.0, task_id.as_str()))]);
        }
        for kept in &call.kept {
            let text = if with_text { Some(store.read(&kept.sha256)?) } else { None };
            let text = text.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            if settings.json {
                let mut stream = json!(kept);
                json::set(&mut stream, "text", json!(text));
                streams.push(stream);
            } else {
                screen.answer(&[Line::plain(in_words(kept))]);
                screen.answer(
                    &text.map(|text| Line::answer(text.trim_end_matches('\n'))).into_iter().collect::<Vec<_>>(),
                );
            }
        }
        values.push(json!({
            "at": call.at, "task_id": call.task_id, "evidence_id": call.evidence_id, "tool": call.tool,
            "streams": streams
        }));
    }
    if settings.json {
        screen.json(&json!({"schema": SCHEMA, "stable": false, "folder": store.folder(), "calls": values}));
    } else if shown.is_empty() {
        screen.answer(&[Line::plain("no evidence is stored")]);
    }
    Ok(Exit::Accepted)
}

/// The tool calls with this evidence id, or with a stored output whose SHA-256 begins with `id`; an error if no call
/// matches.
fn named(calls: Vec<KeptCall>, id: &str) -> Result<Vec<KeptCall>, Failure> {
    let is_prefix = id.len() >= PREFIX_MIN_CHARS && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    let has_item = |call: &KeptCall| call.kept.iter().any(|kept| kept.sha256.starts_with(id));
    let is_named = |call: &KeptCall| call.evidence_id.0 == id || (is_prefix && has_item(call));
    let named: Vec<KeptCall> = calls.into_iter().filter(is_named).collect();
    if named.is_empty() {
        return Err(Failure::NoSuchEvidence { id: id.to_owned() });
    }
    Ok(named)
}

/// One line about a stored output: its stream's name, its SHA-256, its size, and how many bytes were not stored.
fn in_words(kept: &KeptOutput) -> String {
    let left_out = if kept.left_out > 0 { format!(", {} more are not kept", kept.left_out) } else { String::new() };
    format!("  {} {}: {} bytes{left_out}", kept.stream, kept.sha256, kept.bytes)
}
