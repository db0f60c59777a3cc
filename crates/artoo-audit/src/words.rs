//! What people read of the auditor's findings, figures and problems. Errors have their texts at their types.

use artoo_proto::escape::{one_line, shorten};
use artoo_proto::{AuditReport, CallStatus, EffectKind, GapTrend, TaskId, Timestamp};

use crate::event::Note;
use crate::finding::Rule;

/// Maximum length of the findings in [`summary`], in characters.
const SUMMARY_CHARS: usize = 240;

/// A number and a noun in singular or plural: `1 task`, `2 tasks`, `2 oddities`.
#[must_use]
pub fn count(number: u64, noun: &str) -> String {
    let (stem, ending) = noun.strip_suffix('y').map_or((noun, "s"), |stem| (stem, "ies"));
    if number == 1 { format!("1 {noun}") } else { format!("{number} {stem}{ending}") }
}

/// The findings of a report in one line, broken rules of the message bus first; `None` if there are none.
///
/// Calls that were not allowed are left out: the task's result names them.
#[must_use]
pub fn summary(report: &AuditReport) -> Option<String> {
    let is_oddity = |line: &&String| !line.starts_with(Rule::CallDenied.name());
    let oddities: Vec<&String> = report.drift_alerts.iter().chain(&report.anomalies).filter(is_oddity).collect();
    let counts = [(report.boundary_violations.len(), "broken rule"), (oddities.len(), "oddity")];
    let counts: Vec<String> =
        counts.into_iter().filter(|(number, _)| *number > 0).map(|(number, noun)| count(number as u64, noun)).collect();
    let lines: Vec<String> = report.boundary_violations.iter().chain(oddities).map(|line| finding(line)).collect();
    let end = match lines.len() {
        0 => return None,
        1 => " (artoo audit)",
        _ => "; artoo audit tells more.",
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
        ("failed", health.execution_failures, "attempt"),
        ("repeated because of the machine or the network", health.environmental_retries, "attempt"),
        ("repeated because the result was wrong", health.logical_retries, "attempt"),
        ("closer to the goal after another plan", trend(GapTrend::Improving), "task"),
        ("no closer after another plan", trend(GapTrend::Stable), "task"),
        ("farther from the goal after another plan", trend(GapTrend::Worsening), "task"),
    ];
    let found = figures.into_iter().filter(|(_, number, _)| *number > 0);
    found.map(|(what, number, noun)| format!("{what}: {}", count(number, noun))).collect()
}

/// A line of a report's findings for people: in place of the rule's name what it means.
#[must_use]
pub fn finding(line: &str) -> String {
    let named = line.split_once(": ").and_then(|(name, detail)| Some((Rule::named(name)?, detail)));
    one_line(&match named.map(|(rule, detail)| (meaning(rule), detail)) {
        None => line.to_owned(),
        Some(("", detail)) => detail.to_owned(),
        Some((meaning, detail)) => format!("{meaning}: {detail}"),
    })
}

/// What a finding of the rule means, before its detail; empty if the detail says it.
fn meaning(rule: Rule) -> &'static str {
    match rule {
        Rule::Refused => "the message bus refused a message",
        Rule::RouteNotInTable => "a message had a sender or receiver that is not allowed",
        Rule::ForeignTask => "a role sent a message of another task",
        Rule::UnknownCause => "a message or a piece of work has no known cause",
        Rule::RepeatedId => "a message id was used twice",
        Rule::SequenceGap => "a message is missing or out of order",
        Rule::EffectOutsideAuthority => "a role asked for work that it may not ask for",
        Rule::GgsThrashing => "the same change of plan was ordered again, though it brought the task no closer",
        Rule::StalledReplan => "another plan was ordered, though the last one brought the task no closer",
        Rule::ExcessiveRetries => "many retries",
        Rule::RepeatedSubtask => "the same step was handed out twice",
        Rule::EffectFailed => "failed",
        Rule::UnknownEffect => "a result arrived that nothing had asked for",
        Rule::Panicked => "a part of artoo failed inside",
        Rule::DeliveryDropped => "a message was lost",
        Rule::Ignored => "a late or unexpected message was ignored",
        Rule::EventsMissing => "parts of the log are missing",
        Rule::AcceptAfterFailure => "a task was accepted although a step of it failed",
        Rule::AcceptWithUnmet => "a task was accepted although not everything was met",
        Rule::RepeatedFinalResult => "a task had more than one result",
        Rule::NoFinalResult => "a task had no result",
        Rule::AfterFinalResult => "a role went on after the task's result",
        Rule::AuditTrail | Rule::ToolFailed | Rule::CallDenied => "",
    }
}

/// A time to the minute.
#[must_use]
pub fn minute(at: Timestamp) -> String {
    let text = at.to_string();
    text.get(..10).zip(text.get(11..16)).map_or(text.clone(), |(day, time)| format!("{day} {time} UTC"))
}

/// How a tool call ended that did not succeed.
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

/// A task's retries so far, and the number of the attempt that follows.
pub(crate) fn retries(task: &TaskId, retries: u64, attempt: u32) -> String {
    format!("{task}: {} in the task, and attempt {attempt} of a step", count(retries, "retry"))
}

/// A short description of work outside the System, for a finding.
pub(crate) fn effect_label(kind: &EffectKind) -> String {
    match kind {
        EffectKind::Model { schema } => format!("model call {schema}"),
        EffectKind::Tool { tool } => format!("tool {tool}"),
        EffectKind::Checks { count } => self::count(*count as u64, "check"),
        EffectKind::Timer { after_ms } => format!("timer of {after_ms} ms"),
        EffectKind::Persist => "writing to memory".to_owned(),
        EffectKind::Read => "reading of the request".to_owned(),
        EffectKind::Cover => "comparison with the request".to_owned(),
    }
}

/// Tasks that were abandoned, in [`drift`].
pub(crate) const ABANDONED: &str = "more tasks without success";

/// Corrections, in [`drift`].
pub(crate) const RETRIES: &str = "more retries";

/// A count among the newest tasks, and the same among those before; each with the number of tasks.
pub(crate) fn drift(what: &str, now: (u64, u64), before: (u64, u64)) -> String {
    format!("{what}: {} in the last {} tasks, {} in the {} before", now.0, now.1, before.0, before.1)
}

/// Findings whose descriptions were not kept.
pub(crate) fn beyond(number: u64) -> String {
    format!("{number} more, in the audit log")
}

/// No log, but a trace of earlier runs.
pub(crate) fn log_missing(trace: &str) -> String {
    format!("the audit log was deleted: {trace} is left of earlier runs")
}

/// What a note says is wrong with the log or the statistics; `None` if nothing.
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
        | Note::CallStarted { .. }
        | Note::CallAsked { .. }
        | Note::CallEnded { .. }
        | Note::Found
        | Note::LogClosed { .. } => return None,
    })
}

/// Events that could not be written, and the error of the first.
pub(crate) fn lost_events(number: u64, problem: &str) -> String {
    format!("{} could not be written: {problem}", count(number, "event"))
}

/// How many lines of a log are missing that once had `expected` lines and now has `found`.
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
