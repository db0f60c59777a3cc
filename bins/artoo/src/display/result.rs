//! A task's result as text: the answer, at most three lines that support it, and details on request.
//!
//! The answer goes to standard output alone. Who vouches for it stands on standard error, below the answer.

use std::collections::BTreeMap;

use artoo_proto::{
    AbandonReason, Answer, Basis, Coverage, CoverageState, Covered, CriterionMark, CriterionReport, DeniedAction,
    Ending, FinalResult, Role, ToolCall, Usage, escape, units,
};
use artoo_tools::undo::Entry;

use super::user_format::UserFormat;
use super::{Line, QUOTE, Style, coverage, quoted_briefly};
use crate::texts;

/// Maximum length of the evidence shown with a criterion, in characters.
const EVIDENCE_CHARS: usize = 240;

/// Maximum length of the line with the reading of a request and its assumptions, in characters.
const READING_CHARS: usize = 400;

/// Maximum number of unmet criteria that the verdict names.
const UNMET_SHOWN: usize = 2;

/// Maximum length of an unmet criterion in the verdict, in characters.
const UNMET_CHARS: usize = 100;

/// How many approval questions a task asked, and how many of them the user denied.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Questions {
    pub(crate) asked: u64,
    pub(crate) denied: u64,
}

/// The parts of an ended task (result, cost, undo entry, questions) from which the text for the user is made.
pub(crate) struct ResultView<'a> {
    pub(crate) result: &'a FinalResult,
    /// Model calls and tokens by role.
    pub(crate) usage: &'a BTreeMap<Role, Usage>,
    /// The task's entry in the undo journal, if it changed anything.
    pub(crate) undo: Option<&'a Entry>,
    /// False if reading the undo journal failed; `undo` is then `None` although the task may have changed files.
    pub(crate) is_journal_read: bool,
    pub(crate) questions: Questions,
    /// Whether text on standard input came with the request.
    pub(crate) with_material: bool,
    /// The cost of the model calls, if there were any.
    pub(crate) cost: Option<String>,
    /// Where the answer was written to, if not to standard output.
    pub(crate) saved: Option<String>,
    pub(crate) user_format: &'a UserFormat,
}

impl ResultView<'_> {
    /// The answers to write to standard output; empty for an abandoned task, whose partial result is no answer.
    pub(crate) fn answers(&self) -> Vec<Answer> {
        let by_code = self.usage.is_empty();
        match &self.result.ending {
            Ending::Abandon { .. } => Vec::new(),
            // A model's words are no answer that facts show: they stand below it, quoted.
            Ending::Accept { basis: Basis::Checked } if !by_code => self.result.answers.clone(),
            Ending::Accept { .. } if !self.result.answers.is_empty() => {
                // A step of a model that printed nothing has no answer; a list that code made has none in it.
                let is_told = |answer: &&Answer| by_code || !answer.text.trim().is_empty();
                self.result.answers.iter().filter(is_told).cloned().collect()
            }
            Ending::Accept { .. } | Ending::Success { .. } if self.result.output.trim().is_empty() => Vec::new(),
            Ending::Accept { .. } | Ending::Success { .. } => vec![Answer::text("", self.result.output.as_str())],
        }
    }

    /// The answer's lines for a terminal. A line that could be taken for a verdict of artoo is quoted, unless code
    /// composed the answer.
    pub(crate) fn answer_lines(&self) -> Vec<Line> {
        let lines = self.user_format.answers(&self.answers());
        if self.basis() == Some(Basis::Checked) {
            return lines;
        }
        let is_like_a_verdict = |line: &str| line.trim_start().starts_with(texts::MARKS);
        let quoted = |line: &str| if is_like_a_verdict(line) { format!("{QUOTE}{line}") } else { line.to_owned() };
        let of = |line: Line| Line { text: line.text.split('\n').map(quoted).collect::<Vec<_>>().join("\n"), ..line };
        lines.into_iter().map(of).collect()
    }

    /// What supports an accepted result (checked, mixed, judged, words only); `None` for a result that was not
    /// accepted.
    fn basis(&self) -> Option<Basis> {
        match &self.result.ending {
            Ending::Accept { basis } => Some(*basis),
            Ending::Success { .. } | Ending::Abandon { .. } => None,
        }
    }

    /// Whether the task ended because the user denied a call.
    fn was_refused(&self) -> bool {
        matches!(&self.result.ending, Ending::Abandon { reason: AbandonReason::ConsentNeeded, .. })
            && self.result.denied.iter().any(|action| action.by_person)
    }

    /// The lines below the answer: the verdict, how the request was read or what to do next, and what else counts;
    /// then warnings, of which there are none in an ordinary task.
    pub(crate) fn support(&self) -> Vec<Line> {
        let mut lines = vec![self.verdict()];
        lines.extend(self.second_line());
        lines.extend(self.footer());
        lines.extend(self.warnings());
        lines
    }

    /// Whether the task changed anything on the machine: true or false by the undo journal and the approvals; `None` if
    /// that is not known.
    fn has_changed(&self) -> Option<bool> {
        let is_approved = self.questions.asked > self.questions.denied || self.saved.is_some();
        match self.undo {
            Some(entry) if entry.changes > 0 || !entry.not_undoable.is_empty() => Some(true),
            None if self.is_journal_read && !is_approved => Some(false),
            Some(_) | None => None,
        }
    }

    /// The verdict in one line: what supports the answer, or why there is none, and whether anything was changed.
    fn verdict(&self) -> Line {
        let (result, has_changed) = (self.result, self.has_changed());
        let unchanged = texts::changes(has_changed.filter(|has_changed| !has_changed));
        let with = |text: &str, changes: &str| format!("{text}{changes}");
        match &result.ending {
            Ending::Accept { basis: Basis::Checked } => {
                let by_required = result.coverage.as_ref().is_some_and(|coverage| coverage.by_required);
                let answers = self.answers();
                let is_empty = !answers.is_empty() && answers.iter().all(|answer| answer.text.trim().is_empty());
                let text = if is_empty && has_changed != Some(true) {
                    texts::NOTHING_FOUND
                } else {
                    texts::checked(by_required, has_changed == Some(true), !self.usage.is_empty())
                };
                Line::good(with(text, unchanged))
            }
            Ending::Accept { basis: Basis::Mixed } => {
                let parts: Vec<&Covered> = result.coverage.iter().flat_map(Coverage::deciding).collect();
                let shown = parts.iter().filter(|row| row.state == CoverageState::Shown).count();
                Line::warning(with(&texts::mixed(shown, parts.len()), unchanged))
            }
            Ending::Accept { basis: Basis::Judged } => Line::warning(with(texts::JUDGED, unchanged)),
            Ending::Accept { basis: Basis::WordsOnly } => {
                let on_material = || with(texts::WORDS_ON_MATERIAL, unchanged);
                Line::warning(if self.with_material { on_material() } else { texts::WORDS_ONLY.to_owned() })
            }
            Ending::Success { unmet } => {
                let claim = |report: &CriterionReport| {
                    format!("“{}”", escape::shorten(&escape::one_line(&report.claim), UNMET_CHARS))
                };
                let named: Vec<String> = unmet.iter().take(UNMET_SHOWN).map(claim).collect();
                Line::warning(with(&texts::partly(unmet.len(), &named), unchanged))
            }
            Ending::Abandon { reason, .. } => {
                let text = if self.was_refused() {
                    texts::SAID_NO.to_owned()
                } else if matches!(reason, AbandonReason::Cancelled) {
                    texts::CANCELLED.to_owned()
                } else {
                    self.user_format.sentence(&texts::failed(&escape::one_line(&result.summary)))
                };
                Line::warning(with(&text, texts::changes(has_changed)))
            }
        }
    }

    /// The line below the verdict: how the request was read and what was assumed, or what to say or do next.
    fn second_line(&self) -> Option<Line> {
        let result = self.result;
        if self.basis() == Some(Basis::Checked) {
            return self.reading().map(Line::faint);
        }
        if self.was_refused() || matches!(&result.ending, Ending::Abandon { reason: AbandonReason::Cancelled, .. }) {
            return None;
        }
        let gap = result.coverage.as_ref().and_then(coverage::first_gap).filter(|_| self.basis().is_some());
        if let Some(gap) = gap {
            return Some(Line::plain(format!("  {gap}")));
        }
        if let Ending::Accept { .. } = &result.ending {
            return self.assumed().map(|assumed| Line::faint(format!("  {}", texts::assumed(&assumed))));
        }
        let step = escape::one_line(result.next_steps.first()?);
        let step = if step.starts_with("artoo") { step } else { escape::capitalised(&step) };
        Some(Line::plain(format!("  {}", self.user_format.sentence(&step))))
    }

    /// The request as code read it, with the assumptions; only the assumptions if code could not read it; `None`
    /// without either.
    fn reading(&self) -> Option<String> {
        let read = self.result.coverage.iter().flat_map(|coverage| &coverage.rows).filter_map(|row| row.act.as_deref());
        let mut reading = read.map(escape::one_line).collect::<Vec<_>>().join("; ");
        // What is assumed is not repeated.
        for assumed in &self.result.assumptions {
            reading = reading.replace(&format!(", {assumed}"), "");
        }
        let reading = self.user_format.sentence(&escape::shorten(&reading, READING_CHARS));
        let text = match (reading.is_empty(), self.assumed()) {
            (true, None) => return None,
            (true, Some(assumed)) => texts::assumed(&assumed),
            (false, None) => texts::read_as(&reading),
            (false, Some(assumed)) => texts::read_and_assumed(&reading, &assumed),
        };
        Some(format!("  {text}"))
    }

    /// The task's assumptions joined to one line; `None` if it has none.
    fn assumed(&self) -> Option<String> {
        let all: Vec<String> = self.result.assumptions.iter().map(|assumed| escape::one_line(assumed)).collect();
        let text = escape::shorten(&all.join(", "), READING_CHARS);
        (!all.is_empty()).then(|| self.user_format.sentence(&text))
    }

    /// The line below the verdict with how to undo the changes, the number of questions, and the cost; `None` if there
    /// is nothing to say.
    fn footer(&self) -> Option<Line> {
        let mut items: Vec<String> = self.saved.iter().cloned().collect();
        let entry = self.undo.filter(|entry| entry.changes > 0 && !entry.interrupted);
        items.extend(entry.map(|_| texts::UNDO.to_owned()));
        let Questions { asked, denied } = self.questions;
        items.extend((asked > 0).then(|| texts::questions(asked, denied)));
        items.extend(self.cost.clone());
        (!items.is_empty()).then(|| Line::faint(format!("  {}", items.join(" · "))))
    }

    /// Warnings below the answer, such as denied actions and unasked changes; empty for an ordinary task.
    fn warnings(&self) -> Vec<Line> {
        let result = self.result;
        let mut lines = Vec::new();
        let was_refused = self.was_refused();
        let denied = result.denied.iter().filter(|action| !(was_refused && action.by_person));
        lines.extend(denied.map(|action| Line::warning(format!("  {}", texts::not_allowed(&of_denied(action))))));
        lines.extend(result.coverage.iter().flat_map(coverage::unasked));
        if result.suspect {
            lines.push(Line::warning(format!("  {}", texts::SUSPECT)));
        }
        let of_undo = self.undo.into_iter().flat_map(undoable).filter(|line| line.style == Style::Warning);
        lines.extend(of_undo.map(|line| Line::warning(format!("  {}", line.text))));
        if matches!(&result.ending, Ending::Abandon { .. } | Ending::Success { .. }) && !was_refused {
            lines.extend(self.unverified());
        }
        lines.extend(self.said_beside());
        lines
    }

    /// The partial result of an abandoned task and claims that nothing supports, quoted.
    fn unverified(&self) -> Vec<Line> {
        let mut lines = Vec::new();
        let partial = self.result.output.trim();
        // What code alone found on the way is no part of the result: files that were to be deleted, say.
        let is_told = !self.usage.is_empty() && !partial.is_empty();
        if is_told && matches!(&self.result.ending, Ending::Abandon { .. }) {
            lines.push(Line::plain(format!("  {}", texts::PARTIAL)));
            lines.extend(quoted_briefly(partial));
        }
        for claim in self.result.unverified.iter().filter(|claim| claim.output.trim() != partial) {
            lines.push(Line::warning(format!("  {}", texts::claimed(&escape::one_line(&claim.intent)))));
            lines.extend(quoted_briefly(&claim.output));
        }
        lines
    }

    /// A model's text beside an answer that code composed, or about an abandoned task, quoted.
    fn said_beside(&self) -> Vec<Line> {
        if let Some(words) = &self.result.model_words {
            let said = format!("{}\n- {}", words.summary, words.next_steps.join("\n- "));
            let heading = Line::plain(format!("  {}", texts::MODEL_SAYS));
            return std::iter::once(heading).chain(quoted_briefly(&said)).collect();
        }
        let said = self.result.output.trim();
        let answer = Answer::join(&self.answers());
        let is_beside = self.basis() == Some(Basis::Checked) && !self.usage.is_empty() && said != answer.trim();
        if !is_beside || said.is_empty() {
            return Vec::new();
        }
        let mut lines = vec![Line::plain(format!("  {}", texts::MODEL_SAYS))];
        lines.extend(quoted_briefly(said));
        lines
    }

    /// All further details of the task: the request with its coverage, criteria, the reason of the ending, and the
    /// loss.
    pub(crate) fn details(&self) -> Vec<Line> {
        let result = self.result;
        let mut lines = section(texts::PARTS, result.coverage.iter().flat_map(coverage::table));
        lines.extend(section(texts::CRITERIA, criteria(result.criteria.iter())));
        let (before, end) = (json_word(&result.prev_directive), json_word(&result.ending.directive()));
        let why = if result.decision.is_empty() { String::new() } else { format!(": {}", result.decision) };
        lines.push(Line::plain(format!("{} {before}→{end}{why}", texts::WHY_ENDED)));
        let loss = result.loss;
        lines.push(Line::faint(format!(
            "{} D {:.2}, P {:.2}, Omega {:.2}, L {:.2}; replans: {}",
            texts::LOSS,
            loss.d,
            loss.p,
            loss.omega,
            loss.l,
            result.replans
        )));
        let steps = result.next_steps.iter().map(|step| Line::plain(format!("  {}", escape::one_line(step))));
        lines.extend(section(texts::NEXT, steps));
        lines
    }
}

/// The name of an enum value as written in JSON, such as `change_path` for a directive.
fn json_word(directive: &impl serde::Serialize) -> String {
    let value = serde_json::to_value(directive).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

/// The text of a denied action with the reason of the denial.
fn of_denied(action: &DeniedAction) -> String {
    format!("{} ({})", escape::one_line(&action.action), escape::one_line(&action.reason))
}

/// A heading followed by the lines; nothing at all if there are no lines.
fn section(heading: &str, lines: impl IntoIterator<Item = Line>) -> Vec<Line> {
    let mut lines = lines.into_iter().peekable();
    let heading = lines.peek().map(|_| Line::plain(heading));
    heading.into_iter().chain(lines).collect()
}

/// One line for each criterion with its mark (checked, judged or unmet) and evidence; checked ones first, unmet ones
/// last.
fn criteria<'a>(reports: impl Iterator<Item = &'a CriterionReport>) -> Vec<Line> {
    let shown = |report: &CriterionReport| {
        let mark = texts::mark(report.mark);
        let evidence = escape::shorten(&escape::one_line(&report.evidence), EVIDENCE_CHARS);
        let evidence = if evidence.is_empty() { String::new() } else { format!(" — {evidence}") };
        let text = format!("  [{mark}] {}{evidence}", escape::one_line(&report.claim));
        if report.mark == CriterionMark::Unmet { Line::warning(text) } else { Line::plain(text) }
    };
    let mut reports: Vec<&CriterionReport> = reports.collect();
    reports.sort_by_key(|report| report.mark);
    reports.into_iter().map(shown).collect()
}

/// The number of model calls and of their tokens as text.
pub(crate) fn calls(usage: &Usage) -> String {
    let tokens = usage.prompt_tokens.saturating_add(usage.completion_tokens);
    let calls = units::count(usage.model_calls.into(), "model call", "model calls");
    format!("{calls}, {}", units::count(tokens, "token", "tokens"))
}

/// Lines that say whether and how a task's changes can be undone.
pub(crate) fn undoable(entry: &Entry) -> Vec<Line> {
    let reasons = entry.not_undoable.iter().map(|reason| texts::not_undoable(&escape::one_line(reason)));
    let mut lines: Vec<Line> = reasons.map(Line::warning).collect();
    if entry.interrupted {
        lines.push(Line::warning(texts::INTERRUPTED));
    } else if entry.changes > 0 {
        lines.push(Line::plain(texts::UNDO));
    }
    lines
}

/// Lines that name the changes of a call that artoo discarded as incidental, such as compiled modules.
pub(crate) fn incidental(call: &ToolCall) -> Vec<Line> {
    call.incidental.iter().map(|change| Line::faint(format!("not kept: {}", escape::one_line(change)))).collect()
}

#[cfg(test)]
mod tests;
