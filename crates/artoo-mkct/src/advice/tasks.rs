//! Queries and corrections for a user: tasks, records by selector, wrong results.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{
    engine::{Engine, row::short_hash},
    record::{
        Detail, FEEDBACK_MAGNITUDE, FailureClass, Frame, Level, Megram, MegramHead, MegramId, Provenance, Quantum,
        State, Tag, WriteError, quantization::DEMOTED_DECAY, words,
    },
};

/// Value of a record's source field if a person wrote the record.
const PERSON: &str = "person";

/// A task that memory has records of, with its intent, time and whether a person corrected it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TaskSummary {
    /// The name of the task.
    pub task: String,
    /// The words of its intent, if the task's newest record has them.
    pub intent: Option<String>,
    /// When the newest record of the task was written, Unix milliseconds.
    pub at_ms: i64,
    /// Whether the task's newest record says that a person found the result wrong.
    pub corrected: bool,
}

/// Selects records for [`Engine::find`]: by id, task, tag or words.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Selector {
    /// The record with this id.
    Id(MegramId),
    /// The records of this task.
    Task(String),
    /// The records under this tag, rules among them.
    Tag(Tag),
    /// The records whose texts have all these words, or synonyms of them.
    Words(String),
}

impl Engine {
    /// The selected records of levels M, K and C with their texts, newest first, at most `limit`; records whose text
    /// can't be read are left out.
    #[must_use]
    pub fn find(&self, selector: &Selector, limit: usize) -> Vec<Megram> {
        let terms = if let Selector::Words(text) = selector { words::terms(text) } else { Vec::new() };
        let has_words = |megram: &Megram| {
            let texts = [&megram.content, &megram.space, megram.intent.as_ref().unwrap_or(&megram.entity)];
            let theirs: BTreeSet<String> =
                texts.iter().flat_map(|text| words::terms(&text.replace(':', " "))).collect();
            terms.iter().all(|term| theirs.contains(term))
        };
        let maybe = |head: &MegramHead| match selector {
            Selector::Id(id) => head.id == *id,
            Selector::Tag(tag) => head.tag == *tag,
            Selector::Task(task) => self.row(head.id).is_some_and(|(_, row)| row.task == short_hash(task)),
            Selector::Words(_) => !terms.is_empty(),
        };
        let selects = |megram: &Megram| match selector {
            Selector::Task(task) => megram.task.as_ref() == Some(task),
            Selector::Words(_) => has_words(megram),
            Selector::Id(_) | Selector::Tag(_) => true,
        };
        let heads = self.heads().filter(|head| head.level != Level::T && maybe(head));
        heads.filter_map(|head| self.get(head.id).ok().flatten()).filter(selects).take(limit).collect()
    }

    /// The tasks that records come from, newest first, at most `limit`.
    #[must_use]
    pub fn tasks(&self, limit: usize) -> Vec<TaskSummary> {
        let mut seen = BTreeSet::new();
        let newest = self.rows.by_id_newest_first().filter_map(|(_, slot)| self.rows.get(slot));
        let newest = newest.filter(|row| row.task != 0 && seen.insert(row.task));
        let read = newest.filter_map(|row| self.get(row.id).ok().flatten());
        let summary = |megram: Megram| {
            let corrected = megram.detail == Some(Detail::Correction);
            Some(TaskSummary { task: megram.task?, intent: megram.intent, at_ms: megram.created_at_ms, corrected })
        };
        read.filter_map(summary).take(limit).collect()
    }

    /// Records that a person found the result of a task wrong: one record against each tag that the task wrote to, and
    /// one against each best practice of these tags. Nothing is written for an unknown task, or if it was corrected
    /// already.
    ///
    /// Until two other tasks have worked since, recall gives caution instead of "exploit" for these tags.
    ///
    /// # Errors
    /// [`WriteError::Invalid`] when the words are not valid; then nothing changed.
    pub fn correct(&mut self, task: &str, words: &str, now_ms: i64) -> Result<Vec<Frame>, WriteError> {
        let records = self.find(&Selector::Task(task.to_owned()), usize::MAX);
        if records.iter().any(|megram| megram.detail == Some(Detail::Correction)) {
            return Ok(Vec::new());
        }
        let of_task = records.iter().find_map(|megram| megram.intent.clone());
        let tags: BTreeSet<(Tag, Option<String>)> =
            records.into_iter().map(|megram| (megram.tag(), megram.intent)).collect();
        let mut frames = Vec::new();
        let mut rules = BTreeSet::new();
        let mut correct = |engine: &mut Self, megram: Megram| {
            let provenance = Provenance { source: Some(PERSON.to_owned()), ..megram.provenance };
            let (content, task) = (words.to_owned(), Some(task.to_owned()));
            let (detail, failure_class) = (Some(Detail::Correction), Some(FailureClass::Logical));
            engine
                .accept(Megram { content, task, detail, failure_class, provenance, ..megram })
                .map(|frame| frames.push(frame))
        };
        for (tag, intent) in tags {
            let number = self.index.number(&tag.space, &tag.entity);
            rules.extend(number.into_iter().flat_map(|number| self.rule_ids(number)));
            let quantum = Quantum { f: FEEDBACK_MAGNITUDE, sigma: -1.0, k: DEMOTED_DECAY };
            let created_at_ms = self.tag_time(&tag, now_ms);
            correct(self, Megram { intent, ..Megram::new(Level::M, created_at_ms, tag, State::Abandon, quantum) })?;
        }
        for rule in rules {
            // A constraint is no reason for a wrong result.
            if let Some(rule) = self.rules.get(&rule).filter(|rule| rule.sigma > 0.0) {
                let against = Megram::against(rule, self.tag_time(&rule.tag(), now_ms));
                correct(self, Megram { intent: of_task.clone(), ..against })?;
            }
        }
        Ok(frames)
    }
}
