//! The result for people: what may be relied on, apart from what may not.
//!
//! Standard output holds the bare answer only where checks in code support it. Every other ending opens with
//! its verdict, and what there is stands quoted under a heading that says what it is.

use std::collections::BTreeMap;

use artoo_proto::{AuditReport, Basis, CriterionMark, CriterionReport, Ending, FinalResult, Role, Usage, escape};

use super::{Line, quoted};
use crate::exit::Exit;

/// Characters of the evidence shown with a criterion.
const EVIDENCE_CHARS: usize = 240;

/// What goes where. `before` and `after` are for standard error, around the answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Rendered {
    pub(crate) before: Vec<Line>,
    pub(crate) answer: Vec<Line>,
    pub(crate) after: Vec<Line>,
}

/// Renders a result.
pub(crate) fn render(result: &FinalResult, usage: &BTreeMap<Role, Usage>) -> Rendered {
    let mut rendered = match &result.ending {
        Ending::Accept { basis: Basis::Checked | Basis::Mixed } => accepted(result),
        Ending::Accept { basis: Basis::Judged } => models_word(
            result,
            "Not verified in code: this rests on a model's judgement alone.",
            "answered on a model's judgement alone",
        ),
        Ending::Accept { basis: Basis::WordsOnly } => models_word(
            result,
            "Not verified: words only, nothing on this machine was read or changed.",
            "answered in words only",
        ),
        Ending::Success { .. } | Ending::Abandon { .. } => short_of_the_goal(result),
    };
    rendered.after.extend(account(result, usage));
    rendered
}

fn accepted(result: &FinalResult) -> Rendered {
    let output = result.output.trim_end_matches('\n');
    // A recipe's summary is the request as code read it. It comes first: a right answer to another question would
    // look right.
    let is_recipe = matches!(result.ending, Ending::Accept { basis: Basis::Checked });
    let summary = || vec![Line::strong(result.summary.clone())];
    let mut after = if is_recipe { Vec::new() } else { summary() };
    if output.is_empty() {
        after.push(Line::plain("(the answer is empty)"));
    }
    after.push(Line::strong(if is_recipe {
        "accepted: every criterion was checked in code"
    } else {
        "accepted: some criteria rest on a model's judgement of the evidence"
    }));
    after.extend(criteria(result.criteria.iter()));
    after.extend(steps(result));
    Rendered {
        before: if is_recipe { summary() } else { Vec::new() },
        answer: if output.is_empty() { Vec::new() } else { vec![Line::plain(output)] },
        after,
    }
}

fn models_word(result: &FinalResult, heading: &'static str, verdict: &'static str) -> Rendered {
    let mut answer = vec![Line::strong(heading)];
    answer.extend(quoted(&result.output));
    let mut after = vec![Line::strong(verdict)];
    after.extend(criteria(result.criteria.iter()));
    after.extend(steps(result));
    Rendered { before: Vec::new(), answer, after }
}

fn short_of_the_goal(result: &FinalResult) -> Rendered {
    let mut answer = vec![Line::strong(capitalised(&result.summary))];
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
    if !unmet.is_empty() {
        answer.push(Line::plain("\nUnmet:"));
        answer.extend(criteria(unmet.iter()));
    }
    if !result.denied.is_empty() {
        answer.push(Line::plain("\nNot allowed, so not done:"));
        let denied = |action: &artoo_proto::DeniedAction| {
            Line::plain(format!("  {} ({})", escape::one_line(&action.action), escape::one_line(&action.reason)))
        };
        answer.extend(result.denied.iter().map(denied));
    }
    if !result.next_steps.is_empty() {
        answer.push(Line::plain("\nWhat you can do:"));
        answer.extend(result.next_steps.iter().map(|step| Line::plain(format!("  {step}"))));
    }
    let mut after = Vec::new();
    for claim in &result.unverified {
        after.push(Line::warning(format!("Not verified, said for \"{}\":", escape::one_line(&claim.intent))));
        after.extend(quoted(&claim.output));
    }
    let met: Vec<&CriterionReport> =
        result.criteria.iter().filter(|report| report.mark != CriterionMark::Unmet).collect();
    after.extend(criteria(met.into_iter()));
    Rendered { before: Vec::new(), answer, after }
}

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
    reports.map(shown).collect()
}

fn steps(result: &FinalResult) -> Vec<Line> {
    result.next_steps.iter().map(|step| Line::plain(format!("next: {step}"))).collect()
}

/// What it took, and what should be known about it.
fn account(result: &FinalResult, usage: &BTreeMap<Role, Usage>) -> Vec<Line> {
    let mut lines: Vec<Line> =
        result.assumptions.iter().map(|assumed| Line::plain(format!("assumed: {assumed}"))).collect();
    if result.suspect {
        let text = "suspect: the loss fell while the approach stayed wrong; its criteria may have been gamed";
        lines.push(Line::warning(text));
    }
    if !result.denied.is_empty() && Exit::of(result) == Exit::Accepted {
        let denied = result.denied.iter();
        lines.extend(denied.map(|action| Line::warning(format!("not allowed, so not done: {}", action.action))));
    }
    let loss = result.loss;
    lines.push(Line::faint(format!(
        "loss: D {:.2}, P {:.2}, Omega {:.2}, L {:.2}; replans: {}",
        loss.d, loss.p, loss.omega, loss.l, result.replans
    )));
    lines.push(Line::faint(costs(usage)));
    lines
}

fn costs(usage: &BTreeMap<Role, Usage>) -> String {
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

/// What the auditor saw: the report in one line, and each finding.
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
            // The bus's own rules were broken: that is never ordinary. The rest a bad day can bring.
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
