//! The atomic record of memory, its id, and the draft it is written from.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::{
    Level, Quantum, State,
    aggregate::Term,
    error::{InvalidMegram, TextField},
    hash::fnv1a_parts,
    key::needs_escape,
    quantize,
    tag::MAX_TAG_BYTES,
};

/// Longest content in bytes: several pages of evidence; more than a plan could quote ten times over.
pub const MAX_CONTENT_BYTES: usize = 64 * 1024;

/// Fastest decay per day: a half-life of a minute. Faster would be gone before anybody asks.
pub const MAX_DECAY: f64 = 1_000.0;

/// A record's id: 128 bits in UUID form, made by the engine, ordered by time within a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MegramId(u128);

/// Text that is not a record id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a megram id: {text:?}")]
pub struct InvalidMegramId {
    /// What was given.
    pub text: String,
}

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
pub struct Provenance {
    /// What produced the content, e.g. a tool's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// For a rule: the records it was distilled from, strongest first, at most [`crate::MAX_EVIDENCE`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<MegramId>,
    /// For a rule: a hash over the evidence's ids and contents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence_hash: Option<u64>,
    /// For feedback: the rule it speaks against.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contradicts: Option<MegramId>,
}

/// What a caller asks to keep; the engine checks it and adds id, time and layer.
#[derive(Debug, Clone, PartialEq)]
pub struct NewMegram {
    /// First tag, built by [`crate::intent_tag`] or [`crate::tool_tag`], or escaped by [`crate::escape`].
    pub space: String,
    /// Second tag, built by [`crate::via_tag`] or [`crate::path_tag`], [`crate::ENV_LOCAL`], or escaped.
    pub entity: String,
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
    /// What produced the content.
    pub source: Option<String>,
}

impl NewMegram {
    /// A draft with the matrix's numbers and nothing known about fault, task or source.
    #[must_use]
    pub fn new(space: impl Into<String>, entity: impl Into<String>, state: State, content: impl Into<String>) -> Self {
        Self {
            space: space.into(),
            entity: entity.into(),
            content: content.into(),
            state,
            quantum: quantize(state),
            failure_class: None,
            task: None,
            source: None,
        }
    }
}

impl MegramId {
    /// From its 128 bits, e.g. a UUID's.
    #[must_use]
    pub const fn from_u128(bits: u128) -> Self {
        Self(bits)
    }

    /// Its 128 bits.
    #[must_use]
    pub const fn as_u128(self) -> u128 {
        self.0
    }

    /// A UUID of version 8: 48 bits of time, 24 of sequence (so records of one millisecond keep their order), 50 of
    /// `hash`, which sets apart what two stores write at the same moment.
    pub(crate) fn compose(created_at_ms: i64, sequence: u64, hash: u64) -> Self {
        let time = u128::from(created_at_ms.clamp(0, (1 << 48) - 1).unsigned_abs());
        let (high, low) = (u128::from(sequence >> 12 & 0xfff), u128::from(sequence & 0xfff));
        let hash = u128::from(hash >> 14);
        Self(time << 80 | 8 << 76 | high << 64 | 2 << 62 | low << 50 | hash)
    }
}

impl Megram {
    /// The moment its decay counts from: a demotion restarts it, a later recall too.
    #[must_use]
    pub fn decays_from_ms(&self) -> i64 {
        match self.demoted_at_ms {
            Some(demoted) => self.created_at_ms.max(demoted).max(self.last_recalled_at_ms.unwrap_or(i64::MIN)),
            None => self.created_at_ms,
        }
    }

    pub(crate) fn term(&self) -> Term {
        Term {
            at_ms: self.decays_from_ms(),
            f: self.f,
            sigma: self.sigma,
            k: self.k,
            environmental: self.failure_class == Some(FailureClass::Environmental),
        }
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

impl fmt::Display for MegramId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bits = self.0;
        let part = |shift: u32, width: u32| (bits >> shift) & ((1 << width) - 1);
        write!(
            f,
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            part(96, 32),
            part(80, 16),
            part(64, 16),
            part(48, 16),
            part(0, 48)
        )
    }
}

impl FromStr for MegramId {
    type Err = InvalidMegramId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = || InvalidMegramId { text: text.to_owned() };
        let parsed = Self(u128::from_str_radix(&text.replace('-', ""), 16).map_err(|_| invalid())?);
        // Exactly one spelling is read back, so that an id can be compared as text too.
        if parsed.to_string() == text { Ok(parsed) } else { Err(invalid()) }
    }
}

impl Serialize for MegramId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for MegramId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}
