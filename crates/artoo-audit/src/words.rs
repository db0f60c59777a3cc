//! Texts for the user about findings, figures and problems of the audit log. Errors have their texts at their types.

use artoo_proto::escape::{one_line, shorten};
use artoo_proto::units::count;
use artoo_proto::{AuditReport, CallStatus, EffectKind, GapTrend, TaskId, Timestamp};

use crate::event::Note;
use crate::finding::Rule;

/// Maximum length of the findings' text in [`summary`], in characters.
const SUMMARY_CHARS: usize = 240;

/// The findings of a report in one line, broken rules of the message bus first; `None` if there are none.
///
/// Denied calls are left out: the task's result names them.
#[must_use]
pub fn summary(report: &AuditReport) -> Option<String> {
    let is_shown = |line: &&String| !line.starts_with(Rule::CallDenied.name());
    let anomalies: Vec<&String> = report.drift_alerts.iter().chain(&report.anomalies).filter(is_shown).collect();
    let counts =
        [(report.boundary_violations.len(), "broken rule", "broken rules"), (anomalies.len(), "anomaly", "anomalies")];
    let counts = counts.into_iter().filter(|(number, ..)| *number > 0);
    let counts: Vec<String> = counts.map(|(number, one, many)| count(number as u64, one, many)).collect();
    let lines: Vec<String> = report.boundary_violations.iter().chain(anomalies).map(|line| finding(line)).collect();
    let end = match lines.len() {
        0 => return None,
        1 => " (artoo audit)",
        _ => "; artoo audit shows all.",
    };
    let lines = shorten(&lines.join(", "), SUMMARY_CHARS);
    Some(format!("The log notes {}: {lines}{end}", counts.join(" and ")))
}

/// The figures of a report, one line each, without those that are 0.
#[must_use]
pub fn figures(report: &AuditReport) -> Vec<String> {
    let trend = |wanted| report.gap_trends.iter().filter(|task| task.trend == wanted).count() as u64;
    let health = report.tool_health;
    let figures = [
        ("failed", health.execution_failures, "attempt", "attempts"),
        ("repeated because of the machine or the network", health.environmental_retries, "attempt", "attempts"),
        ("repeated because the result was wrong", health.logical_retries, "attempt", "attempts"),
        ("closer to the goal after another plan", trend(GapTrend::Improving), "task", "tasks"),
        ("no closer after another plan", trend(GapTrend::Stable), "task", "tasks"),
        ("farther from the goal after another plan", trend(GapTrend::Worsening), "task", "tasks"),
    ];
    let found = figures.into_iter().filter(|(_, number, ..)| *number > 0);
    found.map(|(what, number, one, many)| format!("{what}: {}", count(number, one, many))).collect()
}

/// The line for the user about a finding in a report; a description takes the place of the rule's name.
#[must_use]
pub fn finding(line: &str) -> String {
    let named = line.split_once(": ").and_then(|(name, detail)| Some((Rule::named(name)?, detail)));
    one_line(&match named.map(|(rule, detail)| (meaning(rule), detail)) {
        None => line.to_owned(),
        Some(("", detail)) => detail.to_owned(),
        Some((meaning, detail)) => format!("{meaning}: {detail}"),
    })
}

/// The description of a rule for the user, shown before a finding's detail; empty if the detail says enough.
fn meaning(rule: Rule) -> &'static str {
    match rule {
        Rule::Refused => "the message bus refused a message",
        Rule::RouteNotInTable => "a message had a sender or receiver that is not allowed",
        Rule::ForeignTask => "a role sent a message of another task",
        Rule::UnknownCause => "a message or a piece of work has no known cause",
        Rule::RepeatedId => "a message id was used twice",
        Rule::SequenceGap => "a message is missing or out of order",
        Rule::EffectOutsideAuthority => "a role asked for work that it may not ask for",
        Rule::GgsThrashing => "the same kind of new plan was made again, although it had not helped",
        Rule::StalledReplan => "another plan was made, although the last one had not helped",
        Rule::ExcessiveRetries => "many retries",
        Rule::RepeatedSubtask => "the same step was started twice",
        Rule::EffectFailed => "failed",
        Rule::UnknownEffect => "a result arrived that nothing had asked for",
        Rule::Panicked => "a part of artoo crashed",
        Rule::DeliveryDropped => "a message was lost",
        Rule::Ignored => "a late or unexpected message was ignored",
        Rule::EventsMissing => "parts of the log are missing",
        Rule::AcceptAfterFailure => "a task was accepted although a step of it failed",
        Rule::AcceptWithUnmet => "a task was accepted although not everything was met",
        Rule::RepeatedFinalResult => "a task had more than one result",
        Rule::NoFinalResult => "a task had no result",
        Rule::AfterFinalResult => "a role continued after the task's result",
        Rule::AuditTrail | Rule::ToolFailed | Rule::CallDenied => "",
    }
}

/// A time as `2026-01-01 00:01 UTC`.
#[must_use]
pub fn minute(at: Timestamp) -> String {
    let text = at.to_string();
    text.get(..10).zip(text.get(11..16)).map_or(text.clone(), |(day, time)| format!("{day} {time} UTC"))
}

/// A text with a tool's name and how its call ended.
pub(crate) fn call_ended(tool: &str, status: CallStatus) -> String {
    let how = match status {
        CallStatus::Ok => "succeeded",
        CallStatus::Failed => "failed",
        CallStatus::Denied => "was not allowed",
        CallStatus::TimedOut => "ran out of time",
        CallStatus::Cut => "was cut off",
        CallStatus::Uncertain => "started and no end was recorded",
    };
    format!("{tool} {how}")
}

/// A text with a task's number of retries so far, and the number of the attempt that follows.
pub(crate) fn retries(task: &TaskId, retries: u64, attempt: u32) -> String {
    format!("{task}: {} in the task, and attempt {attempt} of a step", count(retries, "retry", "retries"))
}

/// A short text about an effect (work outside the System), for a finding.
pub(crate) fn effect_label(kind: &EffectKind) -> String {
    match kind {
        EffectKind::Model { schema } => format!("model call {schema}"),
        EffectKind::Tool { tool } => format!("tool {tool}"),
        EffectKind::Checks { count: checks } => count(*checks as u64, "check", "checks"),
        EffectKind::Timer { after_ms } => format!("timer of {after_ms} ms"),
        EffectKind::Persist => "writing to memory".to_owned(),
        EffectKind::Read => "reading of the request".to_owned(),
        EffectKind::Cover => "comparison with the request".to_owned(),
    }
}

/// Name of the rate of abandoned tasks in a [`drift`] alert.
pub(crate) const ABANDONED: &str = "more tasks without success";

/// Name of the rate of corrections in a [`drift`] alert.
pub(crate) const RETRIES: &str = "more retries";

/// The text of a drift alert: a rate's count and number of tasks, for the newest tasks (`now`) and for those before
/// them.
pub(crate) fn drift(what: &str, now: (u64, u64), before: (u64, u64)) -> String {
    format!("{what}: {} in the last {} tasks, {} in the {} before", now.0, now.1, before.0, before.1)
}

/// The line about findings whose descriptions were not stored, only counted.
pub(crate) fn count_of_unlisted(number: u64) -> String {
    format!("{number} more, in the audit log")
}

/// The text for a log that was deleted although `trace`, a file of earlier runs, exists.
pub(crate) fn log_missing(trace: &str) -> String {
    format!("the audit log was deleted: {trace} is left of earlier runs")
}

/// The text of the problem of the log or the statistics that a note records; `None` for other notes.
pub(crate) fn problem(note: &Note) -> Option<String> {
    Some(match note {
        Note::TornTail { bytes } => format!("the log's last line was incomplete; {bytes} bytes were removed"),
        Note::SetAside { file, line, problem } => {
            format!("the log was damaged at line {line} ({problem}); renamed to {file}")
        }
        Note::CutShort { expected, found, whole_at } => missing_lines(*expected, *found, *whole_at),
        Note::LogMissing { trace } => log_missing(trace),
        Note::WriteLost { missing, problem } => lost_events(*missing, problem),
        Note::StatsSetAside { problem, is_damaged: false } => format!("earlier counts are not used: {problem}"),
        Note::StatsSetAside { problem, .. } => format!("{problem}, so lines may be missing unnoticed"),
        Note::LogOpened { .. }
        | Note::SegmentStarted { .. }
        | Note::GapAccepted { .. }
        | Note::Report { .. }
        | Note::Undone { .. }
        | Note::Resumed { .. }
        | Note::CallStarted { .. }
        | Note::CallAsked { .. }
        | Note::CallEnded { .. }
        | Note::Found
        | Note::LogClosed { .. } => return None,
    })
}

/// The text for `number` events that could not be written; `problem` is the first error.
pub(crate) fn lost_events(number: u64, problem: &str) -> String {
    format!("{} could not be written: {problem}", count(number, "event", "events"))
}

/// The text for a log that should have `expected` lines and now has `found`, or another line at that place.
pub(crate) fn missing_lines(expected: u64, found: u64, whole_at: Option<Timestamp>) -> String {
    let what = match found {
        0 => format!("the log was deleted or emptied: {expected} lines are missing"),
        _ if found < expected => {
            format!("the end of the log was cut off: {} of {expected} lines are missing", expected - found)
        }
        _ => format!("the log was replaced: line {expected} is not the one that was written"),
    };
    whole_at.map_or(what.clone(), |at| format!("{what}; it was whole at {at}"))
}

#[cfg(test)]
mod tests;
