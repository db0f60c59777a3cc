//! Episodes: what one task did for one request.

use artoo_mkct::record::slug;
use artoo_proto::{
    CallStatus, Check, Criterion, DispatchManifest, ManifestEntry, OutcomeSummary, SubTaskOutcome, TaskSpec,
    ToolRequest, Verdict,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::pattern::{MARK, words};
use super::{Body, Part, SPACE};

/// Maximum number of tool calls of a task that becomes an episode, which a skill can be learned from.
const CALLS_MAX: usize = 12;
/// Maximum length of an episode as JSON, in bytes; a longer one is not stored.
const EPISODE_BYTES: usize = 16 * 1024;

/// Words such as "today", "newest" or "this", whose meaning changes over time. No skill is learned from a request with
/// one.
const RELATIVE: [&str; 32] = [
    "today",
    "today's",
    "tonight",
    "yesterday",
    "yesterday's",
    "tomorrow",
    "now",
    "recent",
    "recently",
    "latest",
    "newest",
    "oldest",
    "current",
    "currently",
    "ago",
    "week",
    "week's",
    "month",
    "month's",
    "year",
    "year's",
    "this",
    "these",
    "that",
    "those",
    "largest",
    "biggest",
    "smallest",
    "longest",
    "shortest",
    "previous",
    "next",
];

/// Text that replaces each word of the request that recurs in the calls, so that episodes of one kind look equal.
const MASK: &str = "\u{2}";

/// A request that a model's plan answered, with what the plan did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Episode {
    /// The user's words.
    pub request: String,
    /// The current folder of the task.
    pub folder: String,
    /// What was done.
    pub body: Body,
}

impl Episode {
    /// The episode of a task that facts cover whole; `None` if a skill can't be learned from it.
    ///
    /// The request must stand alone (no session, material, deadline or required checks). Every call of its only plan
    /// must have succeeded; an earlier plan is allowed only if it was a skill that changed nothing.
    pub(crate) fn of(
        spec: &TaskSpec,
        summary: &OutcomeSummary,
        manifest: &DispatchManifest,
        folder: &str,
    ) -> Option<Self> {
        let stands_alone = spec.session.is_empty() && spec.material.is_none() && spec.constraints.deadline.is_none();
        let is_covered = summary.coverage.is_complete() && !summary.coverage.rows.iter().any(|row| row.required);
        let by_code = manifest.subtasks.iter().any(|subtask| subtask.recipe);
        if !stands_alone || !is_covered || by_code || spec.raw_input.contains(MARK) {
            return None;
        }
        let part = |entry: &ManifestEntry| {
            let outcome = summary.outcomes.iter().find(|outcome| outcome.subtask_id == entry.subtask_id)?;
            part(entry, outcome)
        };
        let parts: Vec<Part> = manifest.subtasks.iter().map(part).collect::<Option<_>>()?;
        let calls = parts.iter().map(|part| part.calls.len()).sum::<usize>();
        let body = Body { scope: spec.constraints.scope.clone(), parts, readings: summary.coverage.confirmed.clone() };
        let episode = Self { request: spec.raw_input.trim().to_owned(), folder: folder.to_owned(), body };
        let is_short = serde_json::to_string(&episode).is_ok_and(|text| text.len() <= EPISODE_BYTES);
        let words = words(&episode.request)?;
        let is_relative = words.iter().any(|word| RELATIVE.contains(&word.to_lowercase().as_str()));
        (is_short && (1..=CALLS_MAX).contains(&calls) && !is_relative).then_some(episode)
    }

    /// The space tag that episodes of one kind share: a key of the request and of the calls, both without the words
    /// that recur in both.
    #[must_use]
    pub fn space(&self) -> String {
        let mut calls = String::new();
        for call in self.body.parts.iter().flat_map(|part| &part.calls) {
            calls.push_str(&call.tool);
            add_texts(&call.input, &mut calls);
        }
        let mut fixed: Vec<String> = Vec::new();
        for word in words(&self.request).unwrap_or_default() {
            let parts = std::iter::once(word.as_str()).chain(word.split(['/', '.', '~']));
            let found = parts.filter(|part| !part.is_empty()).find(|part| occurrences(&calls, part).next().is_some());
            match found {
                Some(part) => {
                    calls = masked(&calls, part);
                    fixed.push(MASK.to_owned());
                }
                None => fixed.push(word.to_lowercase()),
            }
        }
        let words = fixed.join(" ");
        format!(
            "{SPACE}{}-{:08x}",
            slug(&words.replace(MASK, "")),
            crc32fast::hash(format!("{words}\n{calls}").as_bytes())
        )
    }
}

/// What a subtask did; `None` if one of its calls did not succeed.
fn part(entry: &ManifestEntry, outcome: &SubTaskOutcome) -> Option<Part> {
    let call = |call: &artoo_proto::ToolCall| {
        let request = ToolRequest { tool: call.tool.clone(), input: call.input.clone() };
        (call.status == CallStatus::Ok).then_some(request)
    };
    let is_state = |check: &Check| {
        matches!(check, Check::FileExists { .. } | Check::FileContains { .. } | Check::FileEquals { .. })
    };
    let passed = outcome.criteria_verdicts.iter().filter(|verdict| verdict.verdict == Verdict::Pass);
    let checks = passed.filter_map(|verdict| match &verdict.criterion {
        Criterion::Checked { check, .. } if is_state(check) => Some(check.clone()),
        Criterion::Checked { .. } | Criterion::Prose { .. } => None,
    });
    Some(Part {
        intent: entry.intent.clone(),
        sequence: entry.sequence,
        checks: checks.collect(),
        calls: outcome.tool_calls.iter().map(call).collect::<Option<_>>()?,
    })
}

/// Adds all texts and numbers of a JSON value, one line each.
fn add_texts(value: &Value, texts: &mut String) {
    match value {
        Value::String(text) => texts.push_str(text),
        Value::Number(number) => texts.push_str(&number.to_string()),
        Value::Array(items) => items.iter().for_each(|item| add_texts(item, texts)),
        Value::Object(fields) => fields.values().for_each(|value| add_texts(value, texts)),
        Value::Null | Value::Bool(_) => {}
    }
    texts.push('\n');
}

/// A text with each occurrence of a word replaced by [`MASK`].
fn masked(text: &str, word: &str) -> String {
    let (mut made, mut from) = (String::new(), 0);
    for at in occurrences(text, word) {
        made.push_str(text.get(from..at).unwrap_or_default());
        made.push_str(MASK);
        from = at + word.len();
    }
    made.push_str(text.get(from..).unwrap_or_default());
    made
}

/// The byte positions at which a value occurs in a text, without a letter or digit beside it.
pub(super) fn occurrences<'a>(text: &'a str, value: &'a str) -> impl Iterator<Item = usize> + 'a {
    text.match_indices(value).map(|(at, _)| at).filter(move |at| {
        let before = text.get(..*at).and_then(|head| head.chars().next_back());
        let after = text.get(at + value.len()..).and_then(|tail| tail.chars().next());
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    })
}
