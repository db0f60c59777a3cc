//! The atomic record of memory, and the draft it is written from.

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

/// Longest content in bytes: several pages of evidence; more than a plan could quote ten times over.
pub const MAX_CONTENT_BYTES: usize = 64 * 1024;

/// Fastest decay per day: a half-life of a minute. Faster would be gone before anybody asks.
pub const MAX_DECAY: f64 = 1_000.0;

/// Who was at fault in a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// The approach.
    Logical,
    /// Network, permission, a missing file, time.
    Environmental,
    /// Both alike.
    Mixed,
}

/// One record: what happened, where, how much it weighs and how fast it fades.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Megram {
    /// Its id.
    pub id: MegramId,
    /// Its layer.
    pub level: Level,
    /// When it was written, Unix milliseconds.
    pub created_at_ms: i64,
    /// When a query last returned it; rules only.
    pub last_recalled_at_ms: Option<i64>,
    /// When it lost its trust; K only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub demoted_at_ms: Option<i64>,
    /// First tag, e.g. `tool:shell`, `intent:count_pdf_files`; escaped.
    pub space: String,
    /// Second tag, e.g. `path:/etc`, `env:local`, `via:glob,shell`; escaped.
    pub entity: String,
    /// What happened, in words; data, never instructions.
    pub content: String,
    /// The matrix row it was written in; for a rule, the row its sign comes from.
    pub state: State,
    /// Magnitude, 0..=1.
    pub f: f64,
    /// Valence, −1..=1.
    pub sigma: f64,
    /// Decay per day; 0 for C and T.
    pub k: f64,
    /// Who was at fault, where it was a failure.
    pub failure_class: Option<FailureClass>,
    /// The task it comes from.
    pub task: Option<String>,
    /// Where its content comes from.
    #[serde(default, skip_serializing_if = "Provenance::is_empty")]
    pub provenance: Provenance,
}

/// Where a record comes from, beyond its task.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Provenance {
    /// Whose word the content is, where the writer did not see for itself: a page, a file, a tool, a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// For a rule, the records it was distilled from, for a dissonance, those that oppose its rule: strongest first, at
    /// most [`crate::rules::MAX_EVIDENCE`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<MegramId>,
    /// A hash over the evidence's ids and contents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence_hash: Option<u64>,
    /// For feedback and a dissonance: the rule it speaks against.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contradicts: Option<MegramId>,
}

/// What a caller asks to keep; the engine checks it and adds id, time and layer.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct NewMegram {
    /// What it is filed under.
    pub tag: Tag,
    /// What happened.
    pub content: String,
    /// The matrix row.
    pub state: State,
    /// The row's numbers; [`NewMegram::new`] takes them from the matrix.
    pub quantum: Quantum,
    /// Who was at fault, for a failure.
    pub failure_class: Option<FailureClass>,
    /// The task it comes from.
    pub task: Option<String>,
    /// Whose word the content is, where the writer did not see for itself; see [`crate::rules::MAX_EVIDENCE_PER_SOURCE`].
    pub source: Option<String>,
}

impl NewMegram {
    /// A draft with the numbers of the matrix, without failure class, task and source.
    #[must_use]
    pub fn new(tag: Tag, state: State, content: impl Into<String>) -> Self {
        let quantum = quantize(state);
        Self { tag, content: content.into(), state, quantum, failure_class: None, task: None, source: None }
    }

    /// Names the task it comes from. Without tasks no rule is ever made: that takes the word of two.
    #[must_use]
    pub fn task(self, task: impl Into<String>) -> Self {
        Self { task: Some(task.into()), ..self }
    }

    /// Names whose word the content is, if the writer did not see for itself.
    #[must_use]
    pub fn source(self, source: impl Into<String>) -> Self {
        Self { source: Some(source.into()), ..self }
    }

    /// Says who was at fault.
    #[must_use]
    pub fn failure_class(self, class: FailureClass) -> Self {
        Self { failure_class: Some(class), ..self }
    }

    /// Replaces the numbers of the matrix.
    #[must_use]
    pub fn quantum(self, quantum: Quantum) -> Self {
        Self { quantum, ..self }
    }
}

/// A record without its text: what can be told of it without reading the disk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MegramHead {
    /// Its id.
    pub id: MegramId,
    /// Its layer.
    pub level: Level,
    /// When it was written, Unix milliseconds.
    pub created_at_ms: i64,
    /// What it is filed under.
    pub tag: Tag,
    /// The matrix row.
    pub state: State,
    /// Magnitude.
    pub f: f64,
    /// Valence.
    pub sigma: f64,
    /// Decay per day.
    pub k: f64,
    /// Who was at fault.
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
    /// A record whose id comes later, of which nothing is known but this.
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
            provenance: Provenance::default(),
        }
    }

    /// A record that speaks against a rule: as heavy as giving a task up, the sign opposite to the rule's.
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

    /// What it is filed under.
    #[must_use]
    pub fn tag(&self) -> Tag {
        Tag::new(&self.space, &self.entity)
    }

    /// The moment its decay counts from: a demotion restarts it, a later recall too.
    #[must_use]
    pub fn decays_from_ms(&self) -> i64 {
        match self.demoted_at_ms {
            Some(demoted) => self.created_at_ms.max(demoted).max(self.last_recalled_at_ms.unwrap_or(i64::MIN)),
            None => self.created_at_ms,
        }
    }

    /// Whether it says that a rule is contradicted by others' experience, rather than being experience.
    #[must_use]
    pub fn is_dissonance(&self) -> bool {
        self.level == Level::M && self.provenance.contradicts.is_some() && !self.provenance.evidence.is_empty()
    }

    /// A hash over what was said and where, for ids.
    pub(crate) fn fingerprint(&self) -> u64 {
        let task = self.task.as_deref().unwrap_or_default();
        let parts = [&self.space, &self.entity, task, &self.content].map(|part: &str| part.as_bytes());
        fnv1a_parts(parts)
    }

    /// Checks every bound; records from a file go through this too.
    pub(crate) fn check(&self) -> Result<(), InvalidMegram> {
        check_tag(&self.space, TextField::Space)?;
        check_tag(&self.entity, TextField::Entity)?;
        for (text, field) in [(&self.task, TextField::Task), (&self.provenance.source, TextField::Source)] {
            check_length(text.as_deref().unwrap_or_default(), field, MAX_TAG_BYTES)?;
        }
        check_length(&self.content, TextField::Content, MAX_CONTENT_BYTES)?;
        if !(0.0..=1.0).contains(&self.f) {
            return Err(InvalidMegram::Magnitude { f: self.f });
        }
        if !(-1.0..=1.0).contains(&self.sigma) {
            return Err(InvalidMegram::Valence { sigma: self.sigma });
        }
        let decay_fits = if self.level.is_live() { self.k > 0.0 && self.k <= MAX_DECAY } else { self.k == 0.0 };
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
    /// Whether nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

fn check_tag(tag: &str, field: TextField) -> Result<(), InvalidMegram> {
    if tag.trim().is_empty() {
        return Err(InvalidMegram::Empty { field });
    }
    if let Some(character) = tag.chars().find(|c| needs_escape(*c)) {
        return Err(InvalidMegram::Unescaped { field, character });
    }
    check_length(tag, field, MAX_TAG_BYTES)
}

fn check_length(text: &str, field: TextField, max_bytes: usize) -> Result<(), InvalidMegram> {
    if text.len() > max_bytes {
        return Err(InvalidMegram::TooLong { field, bytes: text.len(), max_bytes });
    }
    Ok(())
}
