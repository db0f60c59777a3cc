//! A task's result for people; verified and unverified parts are kept apart.
//!
//! Standard output holds the bare answer only if code verified every criterion. Every other result begins with its
//! verdict, and the output is quoted under a heading that says how far it was verified.

use std::collections::BTreeMap;

use artoo_proto::{
    AbandonReason, AuditReport, Basis, CriterionMark, CriterionReport, DeniedAction, Ending, FinalResult, Role,
    ToolCall, Usage, escape,
};
use artoo_tools::undo::Entry;

use super::{Line, coverage, quoted, quoted_briefly};

/// Maximum length of the evidence shown with a criterion, in characters.
const EVIDENCE_CHARS: usize = 240;

/// A rendered result: the answer for standard output, `before` and `after` for standard error.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Rendered {
    pub(crate) before: Vec<Line>,
    pub(crate) answer: Vec<Line>,
    pub(crate) after: Vec<Line>,
}

/// Renders a task's result as lines for people, with its model calls and tokens by role.
pub(crate) fn render(result: &FinalResult, usage: &BTreeMap<Role, Usage>) -> Rendered {
    let mut rendered = match &result.ending {
        Ending::Accept { basis: Basis::Checked } if usage.is_empty() => accepted(result),
        Ending::Accept { basis: Basis::Checked } => covered(result),
        Ending::Accept { basis: Basis::Mixed } => unchecked(
            result,
            "Not verified as a whole: facts show a part of this, a model judged the rest.",
            "answered: facts show a part, a model judged the rest",
        ),
        Ending::Accept { basis: Basis::Judged } => unchecked(
            result,
            "Not verified in code: this rests on a model's judgement alone.",
            "answered on a model's judgement alone",
        ),
        Ending::Accept { basis: Basis::WordsOnly } => unchecked(
            result,
            "Not verified: words only, nothing on this machine was read or changed.",
            "answered in words only",
        ),
        Ending::Success { .. } | Ending::Abandon { .. } => incomplete(result),
    };
    rendered.after.extend(account(result, usage));
    rendered
}

/// Renders a result whose criteria were all verified by code: the bare answer on standard output.
fn accepted(result: &FinalResult) -> Rendered {
    let output = result.output.trim_end_matches('\n');
    let is_empty = output.is_empty();
    let mut after: Vec<Line> = is_empty.then(|| Line::plain("(the answer is empty)")).into_iter().collect();
    after.push(Line::strong("accepted: every criterion was checked in code"));
    // Code wrote the criteria from the words, so they say what the coverage says, and how it was computed again.
    after.extend(decided(result, criteria(result.criteria.iter())));
    Rendered {
        // The request as artoo understood it comes first: the right answer to another question would look right.
        before: vec![Line::strong(escape::one_line(&result.summary))],
        answer: if is_empty { Vec::new() } else { vec![Line::answer(output)] },
        after,
    }
}

/// Renders a model's result of which facts show every part: on standard output what code composed, beside it the words
/// of the model.
fn covered(result: &FinalResult) -> Rendered {
    let known = result.coverage.as_ref();
    let answer = known.and_then(|coverage| coverage.answer.as_deref()).unwrap_or_default().trim_end_matches('\n');
    let verdict = match known {
        Some(coverage) if coverage.by_required => "accepted by your own checks",
        _ => "accepted: recorded facts show every part of the request",
    };
    let mut after = vec![Line::strong(verdict)];
    after.extend(decided(result, table(result)));
    // What a model says beside the facts is shown as its words.
    if !result.output.trim().is_empty() && result.output.trim() != answer.trim() {
        after.push(Line::plain("the model says, unchecked:"));
        after.extend(quoted_briefly(&result.output));
    }
    let answer = if answer.is_empty() { Vec::new() } else { vec![Line::answer(answer)] };
    // The steps that code read in the request: a model's summary may be false.
    let read = known.into_iter().flat_map(|coverage| coverage.rows.iter().filter_map(|row| row.act.as_deref()));
    let before = read.map(|act| Line::strong(escape::one_line(act))).collect();
    Rendered { before, answer, after }
}

/// Renders an accepted result that code did not fully verify: the output is quoted under `heading`.
fn unchecked(result: &FinalResult, heading: &'static str, verdict: impl Into<String>) -> Rendered {
    let mut answer = vec![Line::strong(heading)];
    answer.extend(quoted(&result.output));
    let mut after = vec![Line::strong(verdict)];
    after.extend(decided(result, [table(result), criteria(result.criteria.iter())].concat()));
    Rendered { before: Vec::new(), answer, after }
}

/// The coverage of the request; empty if nothing was compared.
fn table(result: &FinalResult) -> Vec<Line> {
    result.coverage.iter().flat_map(coverage::table).collect()
}

/// Lines after an answer: what supports it, denied actions and next steps.
fn decided(result: &FinalResult, supports: Vec<Line>) -> Vec<Line> {
    let mut lines = supports;
    let denied = result.denied.iter();
    lines.extend(denied.map(|action| Line::warning(format!("not allowed, so not done: {}", of_denied(action)))));
    lines.extend(result.next_steps.iter().map(|step| Line::plain(format!("next: {}", escape::one_line(step)))));
    lines
}

fn of_denied(action: &DeniedAction) -> String {
    format!("{} ({})", escape::one_line(&action.action), escape::one_line(&action.reason))
}

/// Renders a result with unmet criteria, or an abandoned task: the summary, the partial output, and what is missing.
fn incomplete(result: &FinalResult) -> Rendered {
    let mut answer = vec![Line::strong(capitalised(&escape::one_line(&result.summary)))];
    let unmet = match &result.ending {
        Ending::Accept { .. } => [].as_slice(),
        Ending::Success { unmet } | Ending::Abandon { unmet, .. } => unmet.as_slice(),
    };
    if !result.output.trim().is_empty() {
        let round = result.delivered_round + 1;
        answer.push(Line::plain(match &result.ending {
            Ending::Success { .. } => format!("\nResult of round {round}, with unmet criteria:"),
            Ending::Accept { .. } | Ending::Abandon { .. } => {
                format!("\nPartial result, not verified as an answer (best round {round}):")
            }
        }));
        answer.extend(quoted(&result.output));
    }
    answer.extend(section("\nWhat was asked:", table(result)));
    // The summary already names what failed.
    let is_told = matches!(&result.ending, Ending::Abandon { reason: AbandonReason::NoOtherWay { .. }, .. });
    if !is_told {
        answer.extend(section("\nUnmet:", criteria(unmet.iter())));
    }
    let denied = result.denied.iter().map(|action| Line::plain(format!("  {}", of_denied(action))));
    answer.extend(section("\nNot allowed, so not done:", denied));
    let steps = result.next_steps.iter().map(|step| Line::plain(format!("  {}", escape::one_line(step))));
    answer.extend(section("\nWhat you can do:", steps));
    let mut after = Vec::new();
    for claim in &result.unverified {
        after.push(Line::warning(format!("Not verified, said for \"{}\":", escape::one_line(&claim.intent))));
        after.extend(quoted_briefly(&claim.output));
    }
    let met = criteria(result.criteria.iter().filter(|report| report.mark != CriterionMark::Unmet));
    after.extend(section("Met, for what it is worth:", met));
    Rendered { before: Vec::new(), answer, after }
}

/// Lines below a heading; nothing if there are none.
fn section(heading: &str, lines: impl IntoIterator<Item = Line>) -> Vec<Line> {
    let mut lines = lines.into_iter().peekable();
    let heading = lines.peek().map(|_| Line::plain(heading));
    heading.into_iter().chain(lines).collect()
}

/// One line for each criterion: checked in code first, then judged by a model, then unmet.
fn criteria<'a>(reports: impl Iterator<Item = &'a CriterionReport>) -> Vec<Line> {
    let shown = |report: &CriterionReport| {
        let mark = match report.mark {
            CriterionMark::Checked => "[checked]",
            CriterionMark::Judged => "[judged]",
            CriterionMark::Unmet => "[unmet]",
        };
        let evidence = escape::shorten(&escape::one_line(&report.evidence), EVIDENCE_CHARS);
        let evidence = if evidence.is_empty() { String::new() } else { format!(" — {evidence}") };
        let text = format!("  {mark} {}{evidence}", escape::one_line(&report.claim));
        if report.mark == CriterionMark::Unmet { Line::warning(text) } else { Line::plain(text) }
    };
    let mut reports: Vec<&CriterionReport> = reports.collect();
    reports.sort_by_key(|report| report.mark);
    reports.into_iter().map(shown).collect()
}

/// Lines about the assumptions, warnings, loss and model calls of a task.
fn account(result: &FinalResult, usage: &BTreeMap<Role, Usage>) -> Vec<Line> {
    let mut lines: Vec<Line> = result
        .assumptions
        .iter()
        .map(|assumed| Line::plain(format!("assumed: {}", escape::one_line(assumed))))
        .collect();
    if result.suspect {
        let text = "suspect: the loss fell while the approach stayed wrong; its criteria may have been gamed";
        lines.push(Line::warning(text));
    }
    let loss = result.loss;
    lines.push(Line::faint(format!(
        "loss: D {:.2}, P {:.2}, Omega {:.2}, L {:.2}; replans: {}",
        loss.d, loss.p, loss.omega, loss.l, result.replans
    )));
    lines.push(Line::faint(costs(usage)));
    lines
}

/// Model calls and tokens by role, in one line.
pub(crate) fn costs(usage: &BTreeMap<Role, Usage>) -> String {
    let asked: Vec<(&Role, &Usage)> = usage.iter().filter(|(_, usage)| usage.model_calls > 0).collect();
    if asked.is_empty() {
        return "model calls: none".to_owned();
    }
    let mut total = Usage::default();
    let mut roles = Vec::new();
    for (role, usage) in asked {
        total += *usage;
        roles.push(format!("{role} {} ({}+{})", usage.model_calls, usage.prompt_tokens, usage.completion_tokens));
    }
    format!(
        "model calls: {}, tokens {}+{}: {}",
        total.model_calls,
        total.prompt_tokens,
        total.completion_tokens,
        roles.join(", ")
    )
}

/// Lines that say whether and how the task's changes can be undone.
pub(crate) fn undoable(entry: &Entry) -> Vec<Line> {
    let mut lines: Vec<Line> = entry
        .not_undoable
        .iter()
        .map(|reason| Line::warning(format!("not undoable: {}", escape::one_line(reason))))
        .collect();
    if entry.interrupted {
        lines.push(Line::warning("cut off while it changed files: artoo undo shows what it left, and brings it back"));
    } else if entry.changes > 0 {
        lines.push(Line::plain("artoo undo brings back what this changed"));
    }
    lines
}

/// Lines that name the changes of a call that were not kept.
pub(crate) fn incidental(call: &ToolCall) -> Vec<Line> {
    call.incidental.iter().map(|change| Line::faint(format!("not kept: {}", escape::one_line(change)))).collect()
}

/// The audit report in one line, and a line for each finding.
pub(crate) fn audit(report: &AuditReport) -> Vec<Line> {
    let found = [
        ("boundary violation", &report.boundary_violations),
        ("drift alert", &report.drift_alerts),
        ("anomaly", &report.anomalies),
    ];
    let counts: Vec<String> = found.iter().map(|(what, lines)| format!("{what} {}", lines.len())).collect();
    let (tasks, corrections) = (report.tasks_observed, report.total_corrections);
    let mut lines = vec![Line::faint(format!("audit: task {tasks}, correction {corrections}, {}", counts.join(", ")))];
    for (what, details) in found {
        lines.extend(details.iter().map(|detail| {
            let text = format!("  {what}: {detail}");
            // Broken rules of the message bus are never normal; the other findings can occur in normal use.
            if what == "boundary violation" { Line::warning(text) } else { Line::faint(text) }
        }));
    }
    lines
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests;
