//! The sentences that the program shows about a task, in one place.

use artoo_proto::{CriterionMark, escape, units};

/// Characters with which a verdict begins, and others that look like them: a line of an unverified answer that begins
/// with one is quoted on a terminal.
pub(crate) const MARKS: [char; 14] = ['✓', '✔', '☑', '✅', '≈', '≃', '◐', '◑', '✗', '✘', '✖', '❌', '❎', '╳'];

// Verdicts: one line below the answer.

/// The verdict on a result that code verified, by what verified it and whether it changed anything.
pub(crate) fn checked(by_required: bool, has_changed: bool, by_model: bool) -> &'static str {
    match (by_required, has_changed, by_model) {
        (true, ..) => "✓ Checked: your own checks passed.",
        (false, true, _) => "✓ Done. artoo looked again: this was changed, and nothing else.",
        (false, false, true) => "✓ Checked: recorded facts show every part of the request.",
        (false, false, false) => "✓ Checked: artoo found the same in a second way.",
    }
}

/// The verdict on an empty answer that code verified.
pub(crate) const NOTHING_FOUND: &str = "✓ Checked: there are none; artoo looked in a second way.";

/// The verdict on a result of which code verified some parts.
pub(crate) fn mixed(shown: usize, all: usize) -> String {
    match (shown, all) {
        (0, _) => "≈ Partly checked: checks passed, but they don't show the whole request.".to_owned(),
        (shown, all) => {
            let parts = units::count(all as u64, "part", "parts");
            format!("≈ Partly checked: recorded facts show {shown} of {parts}; the model judged the rest.")
        }
    }
}

pub(crate) const JUDGED: &str = "≈ The model's answer. artoo could not check it: read it before you rely on it.";

/// The line that says that the embedded parser answered, although a model could have been asked.
pub(crate) const BY_REFLEX: &str = "  answered by the embedded parser; the model was not asked";

/// The line that says which skill answered the request.
pub(crate) fn by_skill(space: &str) -> String {
    let name = escape::one_line(space.strip_prefix("skill:").unwrap_or(space));
    format!("  answered by the skill {name}; the model was not asked (artoo skills show {name})")
}

pub(crate) const WORDS_ONLY: &str = "≈ The model's own words. Nothing on this machine was read or changed.";

pub(crate) const WORDS_ON_MATERIAL: &str =
    "≈ The model's own words about the text you gave. artoo could not check them.";

/// The verdict on a result with unmet criteria, some of which are named.
pub(crate) fn partly(unmet: usize, named: &[String]) -> String {
    let (points, verb) = (units::count(unmet as u64, "point", "points"), if unmet == 1 { "is" } else { "are" });
    let more = match unmet.saturating_sub(named.len()) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("◐ Partly done: {points} {verb} not met: {}{more}.", named.join(", "))
}

/// The verdict on an abandoned task; `summary` says why.
pub(crate) fn failed(summary: &str) -> String {
    let full_stop = if summary.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("✗ {summary}{full_stop}")
}

pub(crate) const SAID_NO: &str = "✗ You said no.";

pub(crate) const CANCELLED: &str = "✗ Cancelled.";

/// The sentence about changes at a verdict's end; empty if it is unknown whether the task changed anything.
pub(crate) fn changes(has_changed: Option<bool>) -> &'static str {
    match has_changed {
        Some(true) => " What was changed before that stays; artoo undo reverts it.",
        Some(false) => " Nothing was changed.",
        None => "",
    }
}

// The second line.

/// The line that says how the request was read.
pub(crate) fn read_as(reading: &str) -> String {
    format!("Read as: {reading}")
}

/// The line that says what was assumed about the request.
pub(crate) fn assumed(assumed: &str) -> String {
    format!("Assumed: {assumed}")
}

/// The line that says how the request was read and what was assumed.
pub(crate) fn read_and_assumed(reading: &str, assumed: &str) -> String {
    format!("Read as: {reading} (assumed: {assumed})")
}

// A declined request.

/// The question whether the user meant this request, offered in place of a declined one.
pub(crate) fn offer(request: &str) -> String {
    format!("Did you mean: {request}")
}

/// The line that says how the offered request would be read, and what was changed in the user's words.
pub(crate) fn offer_reading(reading: &str, change: &str) -> String {
    format!("Read as: {reading} ({change})")
}

// The third line.

pub(crate) const UNDO: &str = "artoo undo reverts this";

/// Text of how many questions for approval were asked and how many were denied.
pub(crate) fn questions(asked: u64, denied: u64) -> String {
    let asked = units::count(asked, "question", "questions");
    match denied {
        0 => format!("{asked} asked, approved"),
        denied => format!("{asked} asked, {denied} denied"),
    }
}

/// Text of where the answer was saved and its size.
pub(crate) fn saved(path: &str, bytes: u64) -> String {
    format!("saved to {path} ({})", units::bytes(bytes))
}

// Records of tasks.

/// The line about an interrupted task; `ended` and `open` are the numbers of finished and unfinished calls.
pub(crate) fn interrupted(at: &str, words: &str, ended: u64, open: u64) -> String {
    let calls = units::count(ended, "call", "calls");
    let unknown = if open > 0 { format!(", the outcome of {open} unknown") } else { String::new() };
    format!("An interrupted task from {at}: “{words}” ({calls} ended{unknown}). artoo resume continues it.")
}

/// The line shown when an interrupted task is resumed.
pub(crate) fn resuming(at: &str, words: &str) -> String {
    format!("Resuming the task from {at}: {words}")
}

/// The message that a replay made the same decisions as the record after each of `inputs` inputs.
pub(crate) fn replayed(inputs: u64) -> String {
    format!("The same decisions after each of {}.", units::count(inputs, "input", "inputs"))
}

/// The message about the first decision in which a replay differs from the record.
pub(crate) fn differs(input: u64, then: &str, now: &str) -> String {
    format!("At input {input} this artoo decides otherwise: recorded was {then}, now it is {now}.")
}

/// The line about a damaged task record, with the number of bytes that can't be used.
pub(crate) fn damaged(bytes: u64) -> String {
    format!("The record is damaged: its last {} are not used.", units::bytes(bytes))
}

/// The line that says that the record of a task was deleted, and that its changes stay.
pub(crate) fn forgotten(task: &str) -> String {
    format!("The record of {task} is deleted. What the task changed stays; artoo undo reverts it.")
}

/// The line about what `artoo gc` deleted: task records and bytes.
pub(crate) fn collected(records: u64, bytes: u64, days: u64) -> String {
    let records = units::count(records, "record", "records");
    format!("Deleted what is older than {days} days: {records} of tasks, {} in all. What is kept:", units::bytes(bytes))
}

// Undo.

/// The heading of the preview of an undo, with the time of the task.
pub(crate) fn reverting(at: &str) -> String {
    format!("Reverting what was done on {at}:")
}

/// What an undo did: numbers of paths that were reverted, were already as before, or could not be reverted.
pub(crate) fn reverted(back: u64, already: u64, left: u64) -> String {
    let mut text = format!("Reverted: {}", units::count(back, "path is back", "paths are back"));
    for (number, what) in [(already, "as before already"), (left, "left as they are")] {
        if number > 0 {
            text.push_str(&format!(", {} {what}", units::number(number)));
        }
    }
    text
}

// Warnings.

/// The line about an action that was denied.
pub(crate) fn not_allowed(action: &str) -> String {
    format!("Not allowed, so not done: {action}")
}

pub(crate) const SUSPECT: &str =
    "Suspicious: the task came closer to its criteria by the wrong approach, so look at the result yourself.";

/// The line about a change that can't be undone.
pub(crate) fn not_undoable(reason: &str) -> String {
    format!("Can't be undone: {reason}")
}

pub(crate) const INTERRUPTED: &str =
    "Interrupted while it changed files: artoo undo shows what was left, and reverts it.";

pub(crate) const PARTIAL: &str = "A partial result, not verified:";

/// The heading above a model's claim that nothing supports.
pub(crate) fn claimed(intent: &str) -> String {
    format!("The model claimed for “{intent}”, and nothing supports it:")
}

pub(crate) const MODEL_SAYS: &str = "The model says, unchecked:";

// The moving line while a task runs.

pub(crate) const WORKING: &str = "working";
pub(crate) const UNDERSTANDING: &str = "understanding the request";
pub(crate) const PLANNING: &str = "planning";
pub(crate) const CHECKING: &str = "checking";
pub(crate) const CHECKING_ALL: &str = "checking the whole result";

// The prompt.

/// The first line when the interactive prompt starts.
pub(crate) fn greeting(version: &str, model: &str) -> String {
    format!("artoo {version}, model {model}: say what you want done; /help lists the commands, Ctrl-D leaves")
}

pub(crate) const NOTHING_YET: &str = "Nothing was asked in this session yet.";

pub(crate) const BEFORE_SESSION: &str = "Nothing in this session changed anything: this was done before it.";

/// The line of `/model` about the model in use and how to choose another.
pub(crate) fn model_in_use(model: &str) -> String {
    format!("{model}; /model NAME uses another one from now on, artoo model use NAME also later")
}

// Standard input beside a request.

pub(crate) const READS_INPUT: &str = "reading standard input to its end, as material for the request";
pub(crate) const UNREAD_INPUT: &str =
    "Standard input was not read: without a language model a request can only name files.";

/// The status line's text while a task is planned again.
pub(crate) fn planning_again(replans: u32) -> String {
    format!("planning another way, {replans} of 3")
}

/// The status line's text while a tool runs, such as "reading a file".
pub(crate) fn using(tool: &str) -> String {
    match tool {
        "glob" | "mdfind" => "looking for files".to_owned(),
        "read_file" => "reading a file".to_owned(),
        "write_file" => "writing a file".to_owned(),
        "files" => "changing files".to_owned(),
        "shell" => "running a command".to_owned(),
        "search" => "searching the web".to_owned(),
        other => format!("using {other}"),
    }
}

// Details, shown by -v and /why.

pub(crate) const PARTS: &str = "What was asked, and what shows it:";
pub(crate) const CRITERIA: &str = "Criteria:";
pub(crate) const WHY_ENDED: &str = "Why it ended:";
pub(crate) const LOSS: &str = "loss:";
pub(crate) const NEXT: &str = "What you can do:";

/// The counts of an audit report as one line: tasks and corrections.
pub(crate) fn audit_counts(tasks: u64, corrections: u64) -> String {
    format!(
        "audit: {}, {}",
        units::count(tasks, "task", "tasks"),
        units::count(corrections, "correction", "corrections")
    )
}

pub(crate) const NO_MODEL_CALLS: &str = "no model calls";

/// The word for how a criterion was decided: checked (by code), judged (by a model) or unmet.
pub(crate) fn mark(mark: CriterionMark) -> &'static str {
    match mark {
        CriterionMark::Checked => "checked",
        CriterionMark::Judged => "judged",
        CriterionMark::Unmet => "unmet",
    }
}
