//! Records, and the drafts they are made from.

use serde::{Deserialize, Serialize};

use crate::record::{
    Level, MegramId, Quantum, State,
    error::{InvalidMegram, TextField},
    hash::fnv1a_parts,
    key::needs_escape,
    quantization::{DEMOTED_DECAY, FEEDBACK_MAGNITUDE},
    quantize,
    tag::{MAX_TAG_BYTES, Tag},
};

/// Most bytes of the words of an intent in a record; the rest is cut off.
pub const MAX_INTENT_BYTES: usize = 512;

/// Most bytes of a record's content: several pages of text.
#[doc(alias = "limit")]
pub const MAX_CONTENT_BYTES: usize = 64 * 1024;

/// Greatest decay rate of a record, per day: a half-life of one minute.
pub const MAX_DECAY: f64 = 1_000.0;

/// Whether the approach or the environment was at fault in a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// The approach was at fault.
    Logical,
    /// Network, permissions, a missing file or a timeout was at fault.
    Environmental,
    /// Both were at fault.
    Mixed,
}

/// A record: what happened, under which tag, how much it weighs and how fast it decays.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Megram {
    /// The id of the record.
    pub id: MegramId,
    /// The level of the record.
    pub level: Level,
    /// When the record was written, Unix milliseconds.
    pub created_at_ms: i64,
    /// When a query last returned the rule, Unix milliseconds; `None` for never, and for records that never were rules.
    pub last_recalled_at_ms: Option<i64>,
    /// When the rule was demoted to Knowledge, Unix milliseconds; `None` for other levels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub demoted_at_ms: Option<i64>,
    /// The space of the record's tag, e.g. `tool:shell`, `intent:count_pdf_files`; escaped.
    pub space: String,
    /// The entity of the record's tag, e.g. `path:/etc`, `env:local`, `via:glob,shell`; escaped.
    pub entity: String,
    /// What happened, in words; to be read as data, never as instructions.
    pub content: String,
    /// The state of the controller that wrote the record; for a rule, accept or abandon by the sign of `sigma`.
    pub state: State,
    /// Magnitude: how much the record weighs before it decays, 0..=1.
    pub f: f64,
    /// Valence: from −1 (it failed) to 1 (it worked).
    pub sigma: f64,
    /// Decay rate per day; 0 for levels C and T and for notes, which do not decay.
    pub k: f64,
    /// Who was at fault, if the record is about a failure.
    pub failure_class: Option<FailureClass>,
    /// The task that the record comes from.
    pub task: Option<String>,
    /// All words of the intent, at most [`MAX_INTENT_BYTES`]; `None` if the writer gave none, as in records of earlier
    /// versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent: Option<String>,
    /// What the record is, if it is not an event; `None` for an event or a rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<Detail>,
    /// Where the content of the record comes from.
    #[serde(default, skip_serializing_if = "Provenance::is_empty")]
    pub provenance: Provenance,
}

/// What a record is, if it is neither an event nor a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Detail {
    /// What a correction within a task taught.
    Lesson {
        /// The criterion that was not met at first.
        criterion: String,
        /// What was wrong.
        wrong: String,
        /// The tool of the call that then met the criterion.
        tool: String,
        /// The input of that call.
        input: String,
    },
    /// A note of a person, which does not decay.
    Note,
    /// A person said that the result of the record's task was wrong.
    Correction,
    /// A text of level T that a person adopted from rules, and can revoke.
    Learned,
}

/// Where a record comes from, beyond its task.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Provenance {
    /// The page, file, tool or person that the content quotes; `None` if the writer observed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The records that a rule was made of, or that contradict a rule; strongest first, at most
    /// [`crate::rules::MAX_EVIDENCE`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<MegramId>,
    /// A hash of the ids and contents of the records in `evidence`; `None` for a record without evidence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence_hash: Option<u64>,
    /// The rule that this record contradicts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contradicts: Option<MegramId>,
    /// Number of distinct tasks of a rule's evidence when the rule was made; 0 in rules of earlier versions.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub tasks: usize,
}

/// A draft of an event, to be passed to `crate::Engine::write`, which checks it and adds id, time and level.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct NewMegram {
    /// The tag that the record will be filed under.
    pub tag: Tag,
    /// What happened, in words.
    pub content: String,
    /// The state of the controller that writes the record.
    pub state: State,
    /// Magnitude, valence and decay; [`NewMegram::new`] takes those of the state.
    pub quantum: Quantum,
    /// Who was at fault, if the event is a failure.
    pub failure_class: Option<FailureClass>,
    /// The task that the event comes from.
    pub task: Option<String>,
    /// The page, file, tool or person that the content quotes; see [`crate::rules::MAX_EVIDENCE_PER_SOURCE`].
    pub source: Option<String>,
    /// All words of the intent; see [`NewMegram::intent`].
    pub intent: Option<String>,
    /// What the record is, if it is not an event.
    pub detail: Option<Detail>,
}

impl NewMegram {
    /// A draft with the magnitude, valence and decay of a state, without failure class, task, source and intent.
    #[must_use]
    pub fn new(tag: Tag, state: State, content: impl Into<String>) -> Self {
        let (quantum, content) = (quantize(state), content.into());
        let (failure_class, task, source, intent, detail) = (None, None, None, None, None);
        Self { tag, content, state, quantum, failure_class, task, source, intent, detail }
    }

    /// A lesson: for this intent, the criterion failed because of `wrong`, and a call of `tool` with `input` then met
    /// it.
    #[must_use]
    pub fn lesson(intent: &str, criterion: &str, wrong: &str, tool: &str, input: &str) -> Self {
        let content = format!("{criterion}: {wrong}; then {tool} {input}");
        let [criterion_, wrong, tool, input] = [criterion, wrong, tool, input].map(str::to_owned);
        let detail = Some(Detail::Lesson { criterion: criterion_, wrong, tool, input });
        Self { detail, ..Self::new(Tag::lesson(intent, criterion), State::Success, content).intent(intent) }
    }

    /// A note of a person: it does not decay, and recall returns it for intents that share words with it.
    #[must_use]
    pub fn note(text: &str) -> Self {
        let quantum = Quantum { f: 1.0, sigma: 0.0, k: 0.0 };
        Self { detail: Some(Detail::Note), quantum, ..Self::new(Tag::note(text), State::Accept, text) }
    }

    /// Sets all words of the intent; recall takes records of an equal key and other words for another intent.
    ///
    /// Words after the first [`MAX_INTENT_BYTES`] are cut off. Without them, recall never gives more than caution,
    /// unless the key has fewer than three words.
    #[must_use]
    pub fn intent(self, intent: &str) -> Self {
        let cut = intent.get(..intent.floor_char_boundary(MAX_INTENT_BYTES));
        Self { intent: cut.map(str::to_owned), ..self }
    }

    /// Sets the task that the event comes from. A rule is only made from the records of at least two tasks.
    #[must_use]
    pub fn task(self, task: impl Into<String>) -> Self {
        Self { task: Some(task.into()), ..self }
    }

    /// Sets the page, file, tool or person that the content quotes.
    #[must_use]
    pub fn source(self, source: impl Into<String>) -> Self {
        Self { source: Some(source.into()), ..self }
    }

    /// Sets who was at fault in the failure.
    #[must_use]
    pub fn failure_class(self, class: FailureClass) -> Self {
        Self { failure_class: Some(class), ..self }
    }

    /// Replaces the magnitude, valence and decay that the state gave the draft.
    #[must_use]
    pub fn quantum(self, quantum: Quantum) -> Self {
        Self { quantum, ..self }
    }
}

/// A record without its texts, which is returned without reading the disk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MegramHead {
    /// The id of the record.
    pub id: MegramId,
    /// The level of the record.
    pub level: Level,
    /// When the record was written, Unix milliseconds.
    pub created_at_ms: i64,
    /// The tag that the record is filed under.
    pub tag: Tag,
    /// The state of the controller that wrote the record.
    pub state: State,
    /// Magnitude: how much the record weighs before it decays, 0..=1.
    pub f: f64,
    /// Valence: from −1 (it failed) to 1 (it worked).
    pub sigma: f64,
    /// Decay rate per day; 0 for levels C and T and for notes, which do not decay.
    pub k: f64,
    /// Who was at fault, if the record is about a failure.
    pub failure_class: Option<FailureClass>,
}

impl From<&Megram> for MegramHead {
    fn from(megram: &Megram) -> Self {
        Self {
            id: megram.id,
            level: megram.level,
            created_at_ms: megram.created_at_ms,
            tag: megram.tag(),
            state: megram.state,
            f: megram.f,
            sigma: megram.sigma,
            k: megram.k,
            failure_class: megram.failure_class,
        }
    }
}

impl Megram {
    /// A record of these values with an id of zero and an empty content.
    pub(crate) fn new(level: Level, created_at_ms: i64, tag: Tag, state: State, quantum: Quantum) -> Self {
        Self {
            id: MegramId::from_u128(0),
            level,
            created_at_ms,
            last_recalled_at_ms: None,
            demoted_at_ms: None,
            space: tag.space,
            entity: tag.entity,
            content: String::new(),
            state,
            f: quantum.f,
            sigma: quantum.sigma,
            k: quantum.k,
            failure_class: None,
            task: None,
            intent: None,
            detail: None,
            provenance: Provenance::default(),
        }
    }

    /// A record without content that contradicts a rule: its magnitude is that of an abandoned task, its sign the
    /// opposite of the rule's.
    pub(crate) fn against(rule: &Self, created_at_ms: i64) -> Self {
        let negative = rule.sigma > 0.0;
        let quantum = Quantum { f: FEEDBACK_MAGNITUDE, sigma: if negative { -1.0 } else { 1.0 }, k: DEMOTED_DECAY };
        let state = if negative { State::Abandon } else { State::Accept };
        Self {
            failure_class: negative.then_some(FailureClass::Logical),
            provenance: Provenance { contradicts: Some(rule.id), ..Provenance::default() },
            ..Self::new(Level::M, created_at_ms, rule.tag(), state, quantum)
        }
    }

    /// The tag that the record is filed under.
    #[must_use]
    pub fn tag(&self) -> Tag {
        Tag::new(&self.space, &self.entity)
    }

    /// When the record's decay began, Unix milliseconds: for Knowledge, at the demotion or a later recall.
    #[must_use]
    pub fn decays_from_ms(&self) -> i64 {
        match self.demoted_at_ms {
            Some(demoted) => self.created_at_ms.max(demoted).max(self.last_recalled_at_ms.unwrap_or(i64::MIN)),
            None => self.created_at_ms,
        }
    }

    /// Whether the record says that other records contradict a rule, rather than what happened.
    #[must_use]
    pub fn is_dissonance(&self) -> bool {
        self.level == Level::M && self.provenance.contradicts.is_some() && !self.provenance.evidence.is_empty()
    }

    /// Whether the record stays in RAM with its text: rules, laws, lessons and notes.
    pub(crate) fn stays_whole(&self) -> bool {
        self.level != Level::M || matches!(self.detail, Some(Detail::Lesson { .. } | Detail::Note))
    }

    /// Whether the record never changes: of level T, and not adopted from rules.
    pub(crate) fn is_law(&self) -> bool {
        self.level == Level::T && self.detail != Some(Detail::Learned)
    }

    /// Number of bytes of the record's texts, without its source.
    pub(crate) fn text_bytes(&self) -> usize {
        let texts = [self.intent.as_deref(), self.task.as_deref(), Some(&self.space), Some(&self.entity)];
        let lesson = self.lesson().map_or(0, |texts| texts.iter().map(|text| text.len()).sum());
        self.content.len() + lesson + texts.iter().flatten().map(|text| text.len()).sum::<usize>()
    }

    /// Criterion, fault, tool and input of a lesson; `None` for other records.
    pub(crate) fn lesson(&self) -> Option<[&str; 4]> {
        match &self.detail {
            Some(Detail::Lesson { criterion, wrong, tool, input }) => Some([criterion, wrong, tool, input]),
            _ => None,
        }
    }

    /// A hash of tag, task and content, which becomes a part of the record's id.
    pub(crate) fn fingerprint(&self) -> u64 {
        let task = self.task.as_deref().unwrap_or_default();
        let parts = [&self.space, &self.entity, task, &self.content].map(|part: &str| part.as_bytes());
        fnv1a_parts(parts)
    }

    /// Checks the values of the record; records read from a file are checked too.
    pub(crate) fn check(&self) -> Result<(), InvalidMegram> {
        check_tag(&self.space, TextField::Space)?;
        check_tag(&self.entity, TextField::Entity)?;
        for (text, field) in [(&self.task, TextField::Task), (&self.provenance.source, TextField::Source)] {
            check_length(text.as_deref().unwrap_or_default(), field, MAX_TAG_BYTES)?;
        }
        check_length(&self.content, TextField::Content, MAX_CONTENT_BYTES)?;
        check_length(self.intent.as_deref().unwrap_or_default(), TextField::Intent, MAX_INTENT_BYTES)?;
        for text in self.lesson().unwrap_or_default() {
            check_length(text, TextField::Lesson, MAX_TAG_BYTES)?;
        }
        if !(0.0..=1.0).contains(&self.f) {
            return Err(InvalidMegram::Magnitude { f: self.f });
        }
        if !(-1.0..=1.0).contains(&self.sigma) {
            return Err(InvalidMegram::Valence { sigma: self.sigma });
        }
        let decay_fits = if self.level.is_live() && self.detail != Some(Detail::Note) {
            self.k > 0.0 && self.k <= MAX_DECAY
        } else {
            self.k == 0.0
        };
        if !decay_fits {
            return Err(InvalidMegram::Decay { k: self.k, level: self.level });
        }
        if !self.level.is_live() && self.content.trim().is_empty() {
            return Err(InvalidMegram::Empty { field: TextField::Content });
        }
        Ok(())
    }
}

impl Provenance {
    /// Whether nothing but the task is known about where the record comes from.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Whether a count is zero, and so not written.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Checks the space or the entity of a tag: not empty, escaped, at most `MAX_TAG_BYTES` long.
fn check_tag(tag: &str, field: TextField) -> Result<(), InvalidMegram> {
    if tag.trim().is_empty() {
        return Err(InvalidMegram::Empty { field });
    }
    if let Some(character) = tag.chars().find(|c| needs_escape(*c)) {
        return Err(InvalidMegram::Unescaped { field, character });
    }
    check_length(tag, field, MAX_TAG_BYTES)
}

/// Checks that a text field has at most `max_bytes` bytes.
fn check_length(text: &str, field: TextField, max_bytes: usize) -> Result<(), InvalidMegram> {
    if text.len() > max_bytes {
        return Err(InvalidMegram::TooLong { field, bytes: text.len(), max_bytes });
    }
    Ok(())
}
