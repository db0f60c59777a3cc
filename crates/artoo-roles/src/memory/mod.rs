//! R5, the memory: answers the Planner's queries, stores what R7 (the Solver) records, and requests writes to disk.
//!
//! The work is done by the engine of `artoo-mkct`; this machine translates between it and the bus. A record can be
//! recalled as soon as it is accepted, but it is on disk only when its write completes; failed writes are counted.

#[cfg(test)]
mod tests;
mod translate;

use std::collections::{BTreeMap, VecDeque};

use artoo_mkct::{
    Engine, NewMegram, RecallQuery, Tag,
    advice::Selector,
    record::{Frame, MegramId, WriteError},
};
use artoo_proto::{
    EffectId, FailureClass, MacroState, MegramDraft, MemoryCorrection, MemoryFeedbackKind, MemoryQuery, MemoryRecall,
    TaskId,
};
use serde_json::Value;

use crate::limits::{ADVICE_MAX, HABITS_MAX, UNTESTED_TASKS_MAX};
use crate::machine::{Completion, Context, Machine, adapters};
use crate::skill;

/// An input of R5 (the memory): a query of R2 (the Planner), a record or correction of R7 (the Solver), or the end of a
/// write.
#[derive(Debug)]
pub enum Input {
    /// R2 (the Planner) asks what memory knows about an intent.
    Query(MemoryQuery),
    /// R7 (the Solver) records an experience.
    Record(MegramDraft),
    /// R7 (the Solver) passes the user's feedback on.
    Correct(MemoryCorrection),
    /// A write of frames to disk completed, or failed with this message.
    Persisted(EffectId, Result<(), String>),
}

/// An effect of R5 (the memory): the answer to a query, or a write of frames to the disk. None writes a prompt or asks
/// a model.
#[derive(Debug)]
pub enum Effect {
    /// Answers a query with rules and advice from memory.
    Recall(MemoryRecall),
    /// Writes frames (entries of memory's journal, as JSON) to disk.
    Persist(EffectId, Vec<Value>),
}

/// R5, the memory of one process: answers queries from its records and requests writes.
#[derive(Debug)]
pub struct Memory {
    /// The memory engine; `None` if the store can't be used.
    engine: Option<Engine>,
    /// Number of records that were not accepted since the start.
    refused: u64,
    /// Number of failed writes since the start.
    unwritten: u64,
    /// What was recalled for the tasks that have not ended.
    untested: BTreeMap<TaskId, RecalledForTask>,
    /// The answers that a record holds, while it is replayed; `None` otherwise.
    replay: Option<VecDeque<MemoryRecall>>,
}

/// The lessons and the hypothesis that memory recalled for a running task, stored until its end shows whether they
/// helped.
#[derive(Debug, Default)]
struct RecalledForTask {
    /// Ids and criteria of the lessons.
    lessons: Vec<(MegramId, String)>,
    /// The tag of the hypothesis, whose entity is its approach.
    hypothesis: Option<Tag>,
}

impl Memory {
    /// A memory that uses this engine, which was loaded from the journal.
    #[must_use]
    pub fn new(engine: Engine) -> Self {
        Self { engine: Some(engine), ..Self::unavailable() }
    }

    /// A memory for a store that can't be used: it recalls nothing and refuses all records.
    #[must_use]
    pub fn unavailable() -> Self {
        Self { engine: None, refused: 0, unwritten: 0, untested: BTreeMap::new(), replay: None }
    }

    /// This memory for the replay of a record: it repeats its recorded answers and stores only missing records.
    #[must_use]
    pub(crate) fn replaying(mut self, answers: VecDeque<MemoryRecall>) -> Self {
        self.replay = Some(answers);
        self
    }

    /// Ends a replay, so that queries are answered from the stored records again.
    pub(crate) fn end_replay(&mut self) {
        self.replay = None;
    }

    /// Whether a record was stored before, by the process whose task is replayed.
    fn has(&self, draft: &MegramDraft) -> bool {
        let megram = translate::megram(draft.clone());
        let task = Selector::Task(draft.task_id.to_string());
        let found = self.engine.as_ref().map(|engine| engine.find(&task, usize::MAX)).unwrap_or_default();
        found.iter().any(|stored| stored.tag() == megram.tag && stored.content == megram.content)
    }

    /// Number of records that were not accepted, and number of writes that failed, since the start.
    #[must_use]
    pub fn losses(&self) -> (u64, u64) {
        (self.refused, self.unwritten)
    }

    /// Answers a query, and requests a write of the fact that rules were recalled.
    fn recall(&mut self, cx: &mut Context<'_>, query: MemoryQuery) -> Vec<Effect> {
        if let Some(answer) = self.replay.as_mut().and_then(VecDeque::pop_front) {
            return vec![Effect::Recall(answer)];
        }
        let Some(engine) = &mut self.engine else {
            return vec![Effect::Recall(nothing(&query.task_id, query.round))];
        };
        let question = RecallQuery::new(&query.intent).tools(&query.tools).targets(&query.targets).limit(ADVICE_MAX);
        let now_ms = cx.now.wall.as_millis();
        let recall = engine.recall(&question, now_ms);
        for frame in &recall.frames {
            // The frames only note that existing rules were recalled, so they can't fail to apply.
            drop(engine.apply(frame));
        }
        if self.untested.len() >= UNTESTED_TASKS_MAX {
            self.untested.pop_first();
        }
        let untested = RecalledForTask {
            lessons: recall.lessons.iter().map(|lesson| (lesson.id, lesson.criterion.clone())).collect(),
            hypothesis: recall.hypotheses.first().map(|hypothesis| hypothesis.tag.clone()),
        };
        self.untested.insert(query.task_id.clone(), untested);
        let total = u64::try_from(engine.len()).unwrap_or(u64::MAX);
        let mut message = translate::recall(&query, &recall, total);
        // Habits that the user adopted hold for every task.
        let habits = engine.thinking().filter(|habit| !habit.entity.starts_with(skill::SPACE));
        message.notes.extend(habits.take(HABITS_MAX).map(|habit| habit.content.clone()));
        let mut effects = vec![Effect::Recall(message)];
        effects.extend(persist(cx, &recall.frames));
        effects
    }

    /// Adds a record to memory and requests its write; a record that is not accepted is counted as refused.
    fn record(&mut self, cx: &mut Context<'_>, draft: MegramDraft) -> Vec<Effect> {
        if self.replay.is_some() && self.has(&draft) {
            return Vec::new();
        }
        let Some(engine) = &mut self.engine else {
            self.refused += 1;
            return Vec::new();
        };
        let now_ms = cx.now.wall.as_millis();
        let mut frames = Vec::new();
        let untested = self.untested.get_mut(&draft.task_id);
        for result in untested.into_iter().flat_map(|untested| untested.test(engine, &draft, now_ms)) {
            frames.extend(result);
        }
        self.untested.retain(|_, untested| !untested.lessons.is_empty() || untested.hypothesis.is_some());
        match engine.write(translate::megram(draft), now_ms) {
            Ok(frame) => frames.push(frame),
            Err(_) => self.refused += 1,
        }
        persist(cx, &frames).into_iter().collect()
    }

    /// Stores the user's feedback: records against all that the task taught, or a note.
    fn correct(&mut self, cx: &mut Context<'_>, correction: MemoryCorrection) -> Vec<Effect> {
        let (now_ms, task) = (cx.now.wall.as_millis(), correction.task_id.to_string());
        let Some(engine) = &mut self.engine else {
            self.refused += 1;
            return Vec::new();
        };
        let frames = match correction.feedback {
            MemoryFeedbackKind::Wrong { content } => engine.correct(&task, &content, now_ms),
            MemoryFeedbackKind::Remember { content } => {
                engine.write(NewMegram::note(&content).task(task), now_ms).map(|frame| vec![frame])
            }
        };
        match frames {
            Ok(frames) => persist(cx, &frames).into_iter().collect(),
            Err(_) => {
                self.refused += 1;
                Vec::new()
            }
        }
    }

    /// Number of records in memory.
    #[must_use]
    pub fn records(&self) -> usize {
        self.engine.as_ref().map_or(0, Engine::len)
    }

    /// Applies frames that the Dreamer, another process or a deletion on request wrote to the stored memory. Frames that
    /// this memory has already are skipped.
    pub(crate) fn changed(&mut self, frames: Vec<Value>) {
        let frames = frames.into_iter().filter_map(|frame| serde_json::from_value::<Frame>(frame).ok());
        if let Some(engine) = &mut self.engine {
            frames.for_each(|frame| drop(engine.apply(&frame)));
        }
    }
}

impl RecalledForTask {
    /// Records what a new experience of the task says about what was recalled for it: a lesson did not help if its
    /// criterion had to be corrected again, or if the task failed by its own fault.
    fn test(&mut self, engine: &mut Engine, draft: &MegramDraft, now_ms: i64) -> Vec<Result<Frame, WriteError>> {
        let task = draft.task_id.to_string();
        let worked = draft.state == MacroState::Accept;
        let is_blamed = !worked && draft.failure_class != Some(FailureClass::Environmental);
        if let Some(again) = &draft.lesson {
            let (failed, open): (Vec<_>, Vec<_>) =
                std::mem::take(&mut self.lessons).into_iter().partition(|(_, known)| *known == again.criterion);
            self.lessons = open;
            return failed.iter().map(|(id, _)| engine.lesson_outcome(*id, false, Some(&task), now_ms)).collect();
        }
        if !draft.space.starts_with("intent:") || !(worked || is_blamed) {
            return Vec::new();
        }
        let lessons = std::mem::take(&mut self.lessons);
        let mut results: Vec<_> =
            lessons.iter().map(|(id, _)| engine.lesson_outcome(*id, worked, Some(&task), now_ms)).collect();
        if let Some(tag) = self.hypothesis.take_if(|tag| tag.entity == draft.entity) {
            let outcome = NewMegram::new(tag, translate::state(draft.state), draft.content.clone()).task(task);
            results.push(engine.write(outcome, now_ms));
        }
        results
    }
}

/// A recall without rules and advice, for when memory can't be used or did not answer.
pub(crate) fn nothing(task_id: &TaskId, round: u32) -> MemoryRecall {
    MemoryRecall {
        task_id: task_id.clone(),
        round,
        sops: Vec::new(),
        advice: Vec::new(),
        lessons: Vec::new(),
        notes: Vec::new(),
        megrams_total: 0,
    }
}

/// The effect that writes these frames to disk; `None` if there are no frames.
fn persist(cx: &mut Context<'_>, frames: &[Frame]) -> Option<Effect> {
    let frames: Vec<_> = frames.iter().filter_map(|frame| serde_json::to_value(frame).ok()).collect();
    (!frames.is_empty()).then(|| Effect::Persist(cx.ids.next_effect(), frames))
}

impl Machine for Memory {
    type Input = Input;
    type Effect = Effect;

    fn step(&mut self, cx: &mut Context<'_>, input: Input) -> Vec<Effect> {
        match input {
            Input::Query(query) => self.recall(cx, query),
            Input::Record(draft) => self.record(cx, draft),
            Input::Correct(correction) => self.correct(cx, correction),
            Input::Persisted(_, Ok(())) => Vec::new(),
            Input::Persisted(_, Err(_)) => {
                self.unwritten += 1;
                Vec::new()
            }
        }
    }
}

adapters! {
    messages {
        MemoryQuery(query) => Input::Query(query.clone()),
        Megram(draft) => Input::Record(draft.clone()),
        MemoryCorrection(correction) => Input::Correct(correction.clone()),
    }
    completions { (id, Completion::Persisted(result)) => Input::Persisted(id, result), }
    publishes { Recall }
    performs { Persist }
}
