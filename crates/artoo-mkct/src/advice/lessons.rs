//! What a recall returns besides rules and advice: lessons of corrections, notes of a person, and hypotheses.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::{
    engine::{ATTENTION_THRESHOLD, DECISION_THRESHOLD, Engine, Potentials, lexical::Near},
    record::{
        Detail, Frame, Megram, MegramId, NewMegram, State, Tag, WriteError,
        tag::{is_approach, is_lesson, slug_space, tools_of_approach},
        words,
    },
};

/// Maximum number of lessons returned by one recall (a query for advice).
pub const MAX_RECALL_LESSONS: usize = 3;

/// Maximum number of notes returned by one recall. If memory has no more notes than this, short ones are returned for
/// every intent.
pub const MAX_RECALL_NOTES: usize = 2;

/// Most bytes of a note that is returned for every intent.
const SHORT_NOTE_BYTES: usize = 160;

/// Least number of different intents for which an approach must have worked to be a hypothesis for another one.
const MIN_INTENTS: usize = 3;

/// Maximum number of remembered intents with the same act word that are searched for approaches to propose.
const MAX_SEARCHED_INTENTS: usize = 256;

/// Number of failures after which a hypothesis is no longer returned.
const MAX_FAILURES: usize = 2;

/// Decision of a hypothesis: half of the threshold, so that the action is caution.
const HYPOTHESIS_DECISION: f64 = DECISION_THRESHOLD / 2.0;

/// What a correction taught: which criterion failed, why, and the call that then met it. The texts are data, not
/// instructions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Lesson {
    /// The id of the record, for [`Engine::lesson_outcome`].
    pub id: MegramId,
    /// The intent of the task that the lesson comes from.
    pub intent: String,
    /// The criterion that was not met at first.
    pub criterion: String,
    /// What was wrong.
    pub wrong: String,
    /// The tool of the call that then met the criterion.
    pub tool: String,
    /// The input of that call.
    pub input: String,
    /// The task that the lesson comes from.
    pub task: Option<String>,
    /// Similarity of the lesson's intent to the queried one; 1 for the same intent.
    pub similarity: f64,
    /// Decayed sum of the lesson's outcomes, times `similarity`.
    pub decision: f64,
    /// When the lesson was learned, Unix milliseconds.
    pub at_ms: i64,
}

/// A note that a person wrote, as a recall returns it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Note {
    /// The id of the record, for [`Engine::forget`].
    pub id: MegramId,
    /// The words of the person.
    pub text: String,
    /// When the note was written, Unix milliseconds.
    pub at_ms: i64,
}

/// An approach that worked for several intents with the same act, and is not known for the queried one.
///
/// Write its outcome under `tag`: two failures drop it. Where it worked, the record of the approach under the intent's
/// own tag makes it advice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Hypothesis {
    /// The tag for outcomes of the hypothesis.
    pub tag: Tag,
    /// The tools of the approach.
    pub tools: Vec<String>,
    /// The act that the intents have in common.
    pub act: String,
    /// Number of different intents for which the approach worked.
    pub intents: usize,
    /// Number of records by which the hypothesis worked.
    pub worked: usize,
    /// Number of records by which the hypothesis failed, without failures that the environment caused.
    pub failed: usize,
    /// Attention at its threshold and decision below its own, so that the action is caution.
    pub potentials: Potentials,
}

impl Engine {
    /// The words of all remembered intents, for a [`crate::advice::Similarity`].
    pub fn intents(&self) -> impl Iterator<Item = &str> {
        self.index.intents.iter().map(|intent| intent.text())
    }

    /// Writes a record of whether a recalled lesson helped, and returns its frame for the journal; a lesson that fails
    /// more than it helps is no longer recalled.
    ///
    /// # Errors
    /// [`WriteError::NotALesson`] when `lesson` is not a lesson, [`WriteError::Invalid`] when the task is not valid;
    /// then nothing changed.
    pub fn lesson_outcome(
        &mut self,
        lesson: MegramId,
        worked: bool,
        task: Option<&str>,
        now_ms: i64,
    ) -> Result<Frame, WriteError> {
        let known = self.rules.get(&lesson).filter(|megram| megram.lesson().is_some());
        let known = known.ok_or(WriteError::NotALesson { id: lesson })?;
        let (state, words) = if worked { (State::Success, "helped") } else { (State::ChangeApproach, "did not help") };
        let draft = NewMegram::new(known.tag(), state, format!("the lesson {lesson} {words}"));
        self.write(NewMegram { intent: known.intent.clone(), task: task.map(str::to_owned), ..draft }, now_ms)
    }

    /// The lessons of these intents whose decision is above the threshold, best first, one for each criterion.
    pub(super) fn lessons(&self, intents: &[Near], limit: usize, now_ms: i64) -> Vec<Lesson> {
        let mut found = Vec::new();
        for near in intents {
            let Some(intent) = self.index.intents.get(near.intent) else { continue };
            let tags = self.index.space(&slug_space(intent.slug())).into_iter();
            for (number, tag) in tags.filter(|(_, tag)| is_lesson(tag.entity())) {
                let decision = self.index.of_intent(number, near.intent).1.at(now_ms).decision;
                let newest = self.rows_about(tag, near.intent).find_map(|row| self.rules.get(&row.id));
                if decision > DECISION_THRESHOLD {
                    found.extend(newest.and_then(|lesson| read_lesson(lesson, near.similarity, decision)));
                }
            }
        }
        found.sort_by(|a, b| b.decision.total_cmp(&a.decision).then(b.id.cmp(&a.id)));
        let mut criteria = BTreeSet::new();
        found.retain(|lesson| criteria.insert(lesson.criterion.to_lowercase()));
        found.truncate(limit.min(MAX_RECALL_LESSONS));
        found
    }

    /// The notes that share words with an intent, those that share most first, then newest first; if there are few
    /// notes, short ones that share none too.
    pub(super) fn notes(&self, intent: &str, limit: usize) -> Vec<Note> {
        let mine: BTreeSet<String> = words::terms(intent).into_iter().collect();
        let is_note = |megram: &&Megram| megram.detail == Some(Detail::Note);
        let notes: Vec<&Megram> = self.rules.values().rev().map(AsRef::as_ref).filter(is_note).collect();
        let few = notes.len() <= MAX_RECALL_NOTES;
        let shared = |note: &Megram| words::terms(&note.content).iter().filter(|term| mine.contains(*term)).count();
        let mut found: Vec<(usize, &Megram)> = notes.into_iter().map(|note| (shared(note), note)).collect();
        found.retain(|(shared, note)| *shared > 0 || few && note.content.len() <= SHORT_NOTE_BYTES);
        found.sort_by_key(|(shared, _)| std::cmp::Reverse(*shared));
        let note =
            |(_, note): (usize, &Megram)| Note { id: note.id, text: note.content.clone(), at_ms: note.created_at_ms };
        found.into_iter().take(limit.min(MAX_RECALL_NOTES)).map(note).collect()
    }

    /// The approach that worked for most intents with the act of the query, of tools in `may_use` (any, if empty);
    /// `None` if no approach worked for `MIN_INTENTS` of them.
    ///
    /// `known` are the entities of the intent's own advice.
    pub(super) fn hypothesis(
        &self,
        asked: &str,
        may_use: &[String],
        known: &[&str],
        now_ms: i64,
    ) -> Option<Hypothesis> {
        let act = words::terms(asked).into_iter().next()?;
        let same = self.index.intents.same(asked).map(|near| near.intent);
        let mut worked: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
        for (intent, known) in self.index.intents.of_act(&act, MAX_SEARCHED_INTENTS) {
            for (number, tag) in self.index.space(&slug_space(known.slug())) {
                let decision = || self.index.of_intent(number, intent).1.at(now_ms).decision;
                if is_approach(tag.entity()) && Some(intent) != same && decision() > DECISION_THRESHOLD {
                    worked.entry(tag.entity()).or_default().insert(intent);
                }
            }
        }
        let mut found: Vec<(&str, usize)> = worked.into_iter().map(|(via, intents)| (via, intents.len())).collect();
        found.retain(|(via, intents)| *intents >= MIN_INTENTS && !known.contains(via));
        found.sort_by_key(|(_, intents)| std::cmp::Reverse(*intents));
        found.into_iter().find_map(|(via, intents)| {
            let (tag, tools) = (Tag::hypothesis(&act, via), tools_of_approach(via));
            let rows: Vec<_> = self.index.find(&tag).into_iter().flat_map(|tag| self.rows_about(tag, 0)).collect();
            let failed = rows.iter().filter(|row| row.blames_the_approach()).count();
            let usable = may_use.is_empty() || tools.iter().all(|tool| may_use.contains(tool));
            (usable && failed < MAX_FAILURES).then(|| Hypothesis {
                tag,
                tools,
                act: act.clone(),
                intents,
                worked: rows.iter().filter(|row| row.sigma > 0.0).count(),
                failed,
                potentials: Potentials::new(ATTENTION_THRESHOLD, HYPOTHESIS_DECISION),
            })
        })
    }
}

/// A record of a lesson as a recall returns it; `None` for other records.
fn read_lesson(megram: &Megram, similarity: f64, decision: f64) -> Option<Lesson> {
    let [criterion, wrong, tool, input] = megram.lesson()?.map(str::to_owned);
    let (id, task, at_ms) = (megram.id, megram.task.clone(), megram.created_at_ms);
    let intent = megram.intent.clone().unwrap_or_default();
    Some(Lesson { id, intent, criterion, wrong, tool, input, task, similarity, decision: decision * similarity, at_ms })
}
