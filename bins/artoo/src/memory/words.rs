//! The content of the memory as text for the user; ids and numbers only on request.

use std::collections::BTreeSet;

use artoo_proto::units::count;
use artoo_proto::{Timestamp, escape};
use artoo_roles::runtime::{
    Action, Advice, Cap, Detail, Engine, Hypothesis, Lesson, Level, Megram, RecallQuery, Selector, SopRecord, Tag,
    TaskSummary, tools_of, unescape,
};
use artoo_roles::skill::{self, Episode, Skill};
use serde_json::json;

use super::{CommandOutput, NOTE_TASK};
use crate::display::user_format::{UserFormat, when};
use crate::{Exit, Line, Settings};

/// Maximum number of entries in a list that `artoo memory` shows: tasks, pieces of advice, notes.
const LIST_MAX: usize = 10;

/// Maximum number of subjects that `artoo memory why` names if their records don't fit.
const SUBJECTS_MAX: usize = 5;

/// Maximum length of the shown text of a memory record, in characters.
const TEXT_CHARS: usize = 160;

/// A decision value of memory nearer to zero than this counts as neither good nor bad experience.
const UNDECIDED: f64 = 0.2;

/// Describes the records and advice of the memory's engine, as of a given time, as text for the user.
pub(crate) struct MemoryText<'a> {
    engine: &'a Engine,
    now_ms: i64,
    user_format: UserFormat,
    /// Whether ids and numbers are shown too.
    verbose: bool,
}

impl<'a> MemoryText<'a> {
    /// Creates the describer for the memory as of `now`.
    pub(crate) fn new(engine: &'a Engine, now: Timestamp, settings: &Settings) -> Self {
        let user_format = UserFormat::of(&settings.environment, settings.exact);
        Self { engine, now_ms: now.as_millis(), user_format, verbose: settings.verbose }
    }

    /// A text shortened to one line, with the home folder as `~`.
    fn short(&self, text: &str) -> String {
        escape::short_line(&self.user_format.sentence(text), TEXT_CHARS)
    }

    /// The output if memory has no records about `what`, with this exit code.
    pub(crate) fn none(&self, what: &str, exit: Exit) -> CommandOutput {
        let line = match self.engine.is_empty() {
            true => "Memory is empty: it begins with the first task.".to_owned(),
            false => format!("Memory knows nothing about “{}”.", escape::one_line(what)),
        };
        (vec![Line::plain(line)], json!({"found": false}), exit)
    }

    /// The output of `artoo memory`: the newest tasks, what memory advises, rules and notes.
    pub(crate) fn overview(&self) -> CommandOutput {
        if self.engine.is_empty() {
            return self.none("", Exit::Accepted);
        }
        let (mut tasks, advice) = (self.engine.tasks(LIST_MAX), self.engine.overview(LIST_MAX, self.now_ms));
        tasks.retain(|task| task.task != NOTE_TASK);
        let heads = self.engine.heads().filter(|head| head.tag.space.starts_with("note:"));
        let notes: Vec<Megram> =
            heads.filter_map(|head| self.engine.get(head.id).ok().flatten()).take(LIST_MAX).collect();
        let task = |task: &TaskSummary| {
            let wrong = if task.corrected { "; you said the result was wrong" } else { "" };
            let intent = self.short(task.intent.as_deref().unwrap_or(&task.task));
            Line::plain(format!("  {}: {intent}{wrong}{}", day(task.at_ms), self.aside(&task.task)))
        };
        let (rules, value, _) = self.rules();
        let mut lines = headed("Newest tasks:", tasks.iter().map(task));
        lines.extend(headed("Advice for plans:", advice.iter().map(|advice| self.advice(advice))));
        lines.extend(headed("Rules:", rules));
        lines.extend(headed("Notes:", notes.iter().map(|note| self.record(note))));
        let records = self.engine.len();
        lines.push(Line::faint(format!("{} in all", count(records as u64, "record", "records"))));
        let value = json!({"records": records, "tasks": tasks, "advice": advice, "notes": notes, "learned": value});
        (lines, value, Exit::Accepted)
    }

    /// What memory would tell a planner about this request; `unknown` is the exit code if it would tell nothing.
    pub(crate) fn recalled(&self, words: &str, unknown: Exit) -> CommandOutput {
        let tools = self.tools();
        let recall = self.engine.recall(&RecallQuery::new(words).tools(&tools), self.now_ms);
        let text = |text: &str| self.short(text);
        let rule = |rule: &SopRecord| Line::plain(format!("  {}", text(&rule.content)));
        let lesson = |lesson: &Lesson| {
            let call = format!("{} {}", lesson.tool, lesson.input);
            Line::plain(format!("  {}: {}; then {}", text(&lesson.criterion), text(&lesson.wrong), text(&call)))
        };
        let mut lines = headed("Rules:", recall.sops.iter().map(rule));
        lines.extend(headed("Advice:", recall.advice.iter().map(|advice| self.advice(advice))));
        lines.extend(headed("Lessons:", recall.lessons.iter().map(lesson)));
        lines.extend(headed(
            "Your notes:",
            recall.notes.iter().map(|note| Line::plain(format!("  {}", text(&note.text)))),
        ));
        let may_work = |guess: &Hypothesis| {
            Line::plain(format!(
                "  {} worked for requests of {} other kinds that begin with “{}”",
                guess.tools.join(", "),
                guess.intents,
                guess.act
            ))
        };
        lines.extend(headed("May work:", recall.hypotheses.iter().map(may_work)));
        if lines.is_empty() {
            return self.none(words, unknown);
        }
        let value = json!({
            "found": true, "rules": recall.sops, "advice": recall.advice, "lessons": recall.lessons,
            "notes": recall.notes, "hypotheses": recall.hypotheses
        });
        (lines, value, Exit::Accepted)
    }

    /// The output of `artoo memory why`: the records that the advice on a request, or a given record, rests on, with
    /// their shares.
    pub(crate) fn why(&self, what: &str) -> CommandOutput {
        let (mut subjects, mut lines, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for (tag, intent) in self.tags(what) {
            let records: Vec<_> = self.engine.why(&tag, self.now_ms).collect();
            values.push(json!({"tag": tag, "records": records}));
            let all: f64 = records.iter().map(|share| share.attention).sum();
            let worked = records.iter().filter(|share| share.decision > 0.0).count();
            let about = self.about(&tag, intent.as_deref());
            subjects.push(Line::strong(format!("{about}: {worked} of {} worked", records.len())));
            lines.extend(subjects.last().cloned());
            for share in &records {
                let Ok(Some(record)) = self.engine.get(share.id) else { continue };
                let percent = if all > 0.0 { 100.0 * share.attention / all } else { 0.0 };
                let numbers = self.aside(&format!("decision {:+.3}", share.decision));
                let line = self.record(&record).text;
                lines.push(Line::plain(format!("  {percent:>3.0} % {}{numbers}", line.trim_start())));
            }
        }
        if lines.is_empty() {
            self.none(what, Exit::NotAchieved)
        } else {
            if !self.verbose && lines.len() > LIST_MAX {
                let more = subjects.len().saturating_sub(SUBJECTS_MAX);
                lines = subjects.into_iter().take(SUBJECTS_MAX).collect();
                lines.extend((more > 0).then(|| Line::plain(format!("and {more} more"))));
                lines.push(Line::faint("artoo memory why -v lists every record"));
            }
            (lines, json!({"found": true, "why": values}), Exit::Accepted)
        }
    }

    /// The output of `artoo memory forecast`: when the advice on a request ends if no new records are written.
    pub(crate) fn forecast(&self, words: &str) -> CommandOutput {
        let (mut lines, mut values) = (Vec::new(), Vec::new());
        for (tag, intent) in self.tags(words) {
            let future = self.engine.forecast(&tag, self.now_ms);
            let at = |at_ms: Option<i64>| at_ms.map_or_else(|| "never".to_owned(), day);
            let mut parts = match future.silent_at_ms {
                Some(at_ms) if at_ms <= self.now_ms => vec!["no advice any more".to_owned()],
                silent => vec![format!("advice until {}", at(silent))],
            };
            parts.extend(future.faded_at_ms.map(|at_ms| format!("records may be deleted from {} on", day(at_ms))));
            parts.extend(future.promotions.first().map(|(_, at_ms)| format!("becomes a rule on {}", day(*at_ms))));
            parts.extend(future.bankruptcies.first().map(|(_, at_ms)| format!("its rule ends on {}", day(*at_ms))));
            lines.push(Line::plain(format!("{}: {}", self.about(&tag, intent.as_deref()), parts.join("; "))));
            values.push(json!({"tag": tag, "forecast": future}));
        }
        if lines.is_empty() {
            self.none(words, Exit::NotAchieved)
        } else {
            (lines, json!({"found": true, "forecasts": values}), Exit::Accepted)
        }
    }

    /// The output of `artoo memory rules`: rules, lasting habits, and proposals of such.
    pub(crate) fn rules(&self) -> CommandOutput {
        let (mut rules, mut proposals) = (self.engine.sop_records(), self.engine.thinking_proposals());
        // `artoo skills` shows these.
        rules.retain(|rule| !is_skill(&rule.tag.space));
        proposals.retain(|proposal| !is_skill(&proposal.tag.entity));
        let habits = self.engine.thinking().filter(|text| text.detail == Some(Detail::Learned));
        let habits: Vec<&Megram> = habits.filter(|text| !is_skill(&text.entity)).collect();
        let mut lines: Vec<Line> = Vec::new();
        for rule in &rules {
            let tasks = if rule.tasks > 0 {
                format!(", from {}", count(rule.tasks as u64, "task", "tasks"))
            } else {
                String::new()
            };
            let (text, id) = (self.short(&rule.content), self.aside(&rule.id.to_string()));
            lines.push(Line::plain(format!("  {text}; since {}{tasks}{id}", day(rule.created_at_ms))));
        }
        let tools = |entity: &str| unescape(entity.strip_prefix("via:").unwrap_or(entity));
        for habit in &habits {
            let text = self.short(&habit.content);
            lines.push(Line::plain(format!(
                "  lasting habit {}: {text}; since {}",
                tools(&habit.entity),
                day(habit.created_at_ms)
            )));
        }
        for proposal in &proposals {
            let (tools, text) = (tools(&proposal.tag.entity), self.short(&proposal.text));
            lines.push(Line::plain(format!(
                "  proposed: {text}; artoo memory rules adopt {tools} makes it a lasting habit"
            )));
        }
        let habits: Vec<_> = habits.into_iter().map(|habit| json!(habit)).collect();
        (lines, json!({"rules": rules, "habits": habits, "proposals": proposals}), Exit::Accepted)
    }

    /// One line about a memory record: its date, text and subject, and with `verbose` its id and task.
    pub(crate) fn record(&self, record: &Megram) -> Line {
        let content = if is_skill(&record.space) { skill_text(record) } else { record.content.clone() };
        let text = self.short(&content);
        let about = self.about(&record.tag(), record.intent.as_deref());
        let told = match (&record.detail, record.level) {
            (Some(Detail::Note), _) => format!("you noted: {text}"),
            (Some(Detail::Correction), _) => format!("you said of {about} that it was wrong: {text}"),
            (Some(Detail::Lesson { .. }), _) => format!("learned: {text}"),
            (_, Level::C) => format!("rule: {text}"),
            _ => format!("{about} {}: {text}", if record.sigma > 0.0 { "worked" } else { "failed" }),
        };
        let task = record.task.as_deref().unwrap_or("no task");
        Line::plain(format!("  {}: {told}{}", day(record.created_at_ms), self.aside(&format!("{}, {task}", record.id))))
    }

    /// One line about a piece of memory's advice: what has worked or failed, and how certain that is.
    fn advice(&self, advice: &Advice) -> Line {
        let (action, decision) = (advice.potentials.action, advice.potentials.decision);
        let verdict = match (action, advice.capped) {
            (Action::Exploit, _) => "has worked, and is preferred",
            (Action::Avoid, _) => "has failed, and is avoided",
            (_, Some(Cap::Corrected)) => "you said a result was wrong; with care until it works again",
            (_, Some(Cap::Environmental)) => "has failed because of the machine or the network; with care",
            (_, Some(Cap::OneTask)) => "has failed in one task; with care",
            (_, Some(Cap::Similar)) if decision > 0.0 => "has worked for such a request",
            (_, Some(Cap::Similar)) => "has failed for such a request; with care",
            _ if decision > UNDECIDED => "has mostly worked",
            _ if decision < -UNDECIDED => "has mostly failed; with care",
            _ => "has worked and failed; with care",
        };
        let numbers = format!("attention {:.2}, decision {decision:+.2}", advice.potentials.attention);
        Line::plain(format!(
            "  {}: {verdict}{}",
            self.about(&advice.tag, advice.intent.as_deref()),
            self.aside(&numbers)
        ))
    }

    /// The subjects (tags) that memory has on a request: of its advice, else of records with its words, each with an
    /// intent. For a record's id, its own tag.
    fn tags(&self, what: &str) -> Vec<(Tag, Option<String>)> {
        let of_records = |selector| -> BTreeSet<_> {
            self.engine.find(&selector, LIST_MAX).into_iter().map(|record| (record.tag(), record.intent)).collect()
        };
        if let Ok(id) = what.parse() {
            return of_records(Selector::Id(id)).into_iter().collect();
        }
        let advice = self.engine.recall(&RecallQuery::new(what), self.now_ms).advice;
        if advice.is_empty() {
            return of_records(Selector::Words(what.to_owned())).into_iter().collect();
        }
        advice.into_iter().map(|advice| (advice.tag, advice.intent)).collect()
    }

    /// Names of the tools that the newest advice is about.
    fn tools(&self) -> Vec<String> {
        let advice = self.engine.overview(LIST_MAX, self.now_ms).into_iter();
        advice
            .flat_map(|advice| tools_of(&advice.tag.space, &advice.tag.entity))
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect()
    }

    /// What a memory tag (the subject of a record) is about, in words: tools and the request or the target.
    fn about(&self, tag: &Tag, intent: Option<&str>) -> String {
        let tools = tools_of(&tag.space, &tag.entity).join(" and ");
        let tail = |name: &str| unescape(name.split_once(':').map_or(name, |(_, tail)| tail));
        let words = intent.map_or_else(|| tail(&tag.space).replace('_', " "), str::to_owned);
        let text = match (tools.as_str(), tag.entity.as_str()) {
            ("", _) => format!("“{words}”"),
            (tools, "*") => tools.to_owned(),
            (tools, target) if target.starts_with("path:") => format!("{tools} on {}", tail(target)),
            (tools, _) => format!("{tools} for “{words}”"),
        };
        self.short(&text)
    }

    /// A text in brackets if the user asked for details, otherwise an empty text.
    fn aside(&self, text: &str) -> String {
        if self.verbose { format!(" ({})", escape::one_line(text)) } else { String::new() }
    }
}

/// Whether the name is in the namespace that memory uses for skills.
fn is_skill(name: &str) -> bool {
    name.starts_with(skill::SPACE)
}

/// The text of a memory record about a skill: the request of an episode, the pattern of a skill, or the note itself.
fn skill_text(record: &Megram) -> String {
    let episode = serde_json::from_str::<Episode>(&record.content).map(|episode| episode.request);
    let pattern = || serde_json::from_str::<Skill>(&record.content).map(|skill| skill.shown());
    episode.or_else(|_| pattern()).unwrap_or_else(|_| record.content.clone())
}

/// A heading followed by the lines; nothing at all if there are no lines.
fn headed(heading: &str, lines: impl IntoIterator<Item = Line>) -> Vec<Line> {
    let mut lines = lines.into_iter().peekable();
    let heading = lines.peek().map(|_| Line::strong(heading));
    heading.into_iter().chain(lines).collect()
}

/// A time in milliseconds since 1970 as local date and time.
fn day(at_ms: i64) -> String {
    when(Timestamp::from_millis(at_ms))
}
