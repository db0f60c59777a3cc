//! The row of a record of level M or K, as held in RAM: 56 bytes, whatever the length of its text.
//!
//! Few combinations of magnitude, valence, decay, state, level and failure class occur, so a row stores only the number
//! of its combination. A row stores no time if its decay began at the time in its id; other times are in a table of
//! [`super::rows::Rows`].

use crate::{
    engine::lexical::EVERY_INTENT,
    record::{Detail, FailureClass, Level, Megram, MegramId, Offset, State, Watermark, hash::fnv1a},
};

/// Length of an encoded row, in bytes.
pub(crate) const ROW_BYTES: usize = 56;

/// Bytes of an encoded combination of magnitude, valence, decay, state, level, failure class and flags.
pub(crate) const KIND_BYTES: usize = 20;

/// Offset of the combination number in an encoded row, in bytes.
const KIND_AT: usize = 44;

/// The value of `Row::older` or `Row::tag` that means "none".
pub(crate) const NONE: u32 = u32::MAX;

/// The encoded offset of a row whose text is in RAM, not yet in the journal.
const HELD: u64 = u64::MAX;

/// The combination number that marks a row as deleted.
const DEAD: u32 = u32::MAX;

/// Flag of a combination: a person said that a result was wrong.
const CORRECTION: u8 = 1 << 3;

/// Bit of the combination number: set if the decay did not begin at the time in the id.
const STARTS_APART: u32 = 1 << 31;

/// A record of level M or K as held in RAM: everything except its texts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Row {
    /// The id of the record.
    pub(crate) id: MegramId,
    /// When the record's decay began, Unix milliseconds.
    pub(crate) start_ms: i64,
    /// Magnitude, 0..=1.
    pub(crate) f: f64,
    /// Valence, −1..=1.
    pub(crate) sigma: f64,
    /// Offset in the journal of the frame with the record's text; `None` while the text is in RAM.
    pub(crate) at: Option<Offset>,
    /// The number of the record's tag in the index.
    pub(crate) tag: u32,
    /// The slot of the next older record of the tag.
    pub(crate) older: u32,
    /// A hash of the name of the record's task; 0 for no task.
    pub(crate) task: u32,
    /// A hash of the name of the record's source; 0 for no source.
    pub(crate) source: u32,
    /// A hash of the record's content.
    pub(crate) content: u32,
    /// Index of the record's decay rate in the list of the engine.
    pub(crate) k: u8,
    /// The state of the controller that wrote the record.
    pub(crate) state: State,
    /// The level of the record, M or K.
    pub(crate) level: Level,
    /// Who was at fault, if the record is about a failure.
    pub(crate) class: Option<FailureClass>,
    /// Whether the record says that other records contradict a rule, rather than what happened.
    pub(crate) dissonance: bool,
    /// Whether a person said with the record that a result was wrong.
    pub(crate) correction: bool,
    /// The number of the record's intent; 0 if it concerns all intents of the tag, or the tag is not about an intent.
    pub(crate) intent: u32,
}

impl Row {
    /// The row of a record whose text is in RAM, without a tag; `k` is the index of its decay rate.
    pub(crate) fn of(megram: &Megram, k: u8) -> Self {
        Self {
            id: megram.id,
            start_ms: megram.decays_from_ms(),
            f: megram.f,
            sigma: megram.sigma,
            at: None,
            tag: NONE,
            older: NONE,
            task: megram.task.as_deref().map_or(0, short_hash),
            source: megram.provenance.source.as_deref().map_or(0, short_hash),
            content: short_hash(&megram.content),
            k,
            state: megram.state,
            level: megram.level,
            class: megram.failure_class,
            dissonance: megram.is_dissonance(),
            correction: megram.detail == Some(Detail::Correction),
            intent: EVERY_INTENT,
        }
    }

    /// The time when the record's decay began, and its id: its position in the history of its tag.
    pub(crate) fn place(&self) -> Watermark {
        Watermark { at_ms: self.start_ms, id: self.id }
    }

    /// Whether the record is a failure caused by the environment, which is not evidence against an approach.
    pub(crate) fn blames_the_environment(&self) -> bool {
        self.sigma < 0.0 && self.class == Some(FailureClass::Environmental)
    }

    /// Whether the record is a failure that the environment did not cause.
    pub(crate) fn blames_the_approach(&self) -> bool {
        self.sigma < 0.0 && !self.blames_the_environment()
    }

    /// Whether the record's decay began at another time than that in its id.
    pub(crate) fn starts_apart(&self) -> bool {
        self.start_ms != self.id.time_ms()
    }

    /// Encodes the row; `kind` is the number of its combination.
    pub(crate) fn encode(&self, kind: u32) -> [u8; ROW_BYTES] {
        let kind = if self.starts_apart() { kind | STARTS_APART } else { kind };
        let id = self.id.as_u128();
        let words = [
            (id >> 64) as u64,
            id as u64,
            self.at.map_or(HELD, |at| at.0),
            join(self.tag, self.older),
            join(self.task, self.source),
            join(self.content, kind),
            join(self.intent, 0),
        ];
        let mut bytes = [0; ROW_BYTES];
        for (out, word) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(words) {
            *out = word.to_le_bytes();
        }
        bytes
    }

    /// Decodes a row; `None` if it is deleted or a look-up fails. `kind_of` looks up a combination by number,
    /// `start_apart` the time when the decay began.
    pub(crate) fn decode(
        bytes: &[u8; ROW_BYTES],
        kind_of: impl FnOnce(u32) -> Option<[u8; KIND_BYTES]>,
        start_apart: impl FnOnce() -> Option<i64>,
    ) -> Option<Self> {
        let (chunks, _) = bytes.as_chunks::<8>();
        let mut words = chunks.iter().map(|chunk| u64::from_le_bytes(*chunk));
        let mut next = || words.next().unwrap_or_default();
        let id = MegramId::from_u128(u128::from(next()) << 64 | u128::from(next()));
        let at = next();
        let (tag, older) = split(next());
        let (task, source) = split(next());
        let (content, kind) = split(next());
        let (intent, _) = split(next());
        if kind == DEAD {
            return None;
        }
        let (f, sigma, [k, state, level, flags]) = split_kind(kind_of(kind & !STARTS_APART)?);
        Some(Self {
            id,
            start_ms: if kind & STARTS_APART == 0 { id.time_ms() } else { start_apart()? },
            f,
            sigma,
            at: (at != HELD).then_some(Offset(at)),
            tag,
            older,
            task,
            source,
            content,
            k,
            state: State::ALL.get(usize::from(state)).copied().unwrap_or(State::Refine),
            level: if level == 1 { Level::K } else { Level::M },
            class: class_of(flags >> 1 & 3),
            dissonance: flags & 1 == 1,
            correction: flags & CORRECTION != 0,
            intent,
        })
    }

    /// Encodes the combination of magnitude, valence, decay index, state, level, failure class and the flags for
    /// dissonance and correction.
    pub(crate) fn kind(&self) -> [u8; KIND_BYTES] {
        let class = match self.class {
            None => 0,
            Some(FailureClass::Logical) => 1,
            Some(FailureClass::Environmental) => 2,
            Some(FailureClass::Mixed) => 3,
        };
        let state = State::ALL.iter().position(|known| *known == self.state).unwrap_or_default();
        let mut bytes = [0; KIND_BYTES];
        let (numbers, small) = bytes.split_at_mut(16);
        let (f, sigma) = numbers.split_at_mut(8);
        f.copy_from_slice(&self.f.to_le_bytes());
        sigma.copy_from_slice(&self.sigma.to_le_bytes());
        let level = u8::from(self.level == Level::K);
        small.copy_from_slice(&[
            self.k,
            state as u8,
            level,
            class << 1 | u8::from(self.dissonance) | if self.correction { CORRECTION } else { 0 },
        ]);
        bytes
    }
}

/// Marks an encoded row as deleted; its id can still be read.
pub(crate) fn kill(bytes: &mut [u8; ROW_BYTES]) {
    if let Some(kind) = bytes.get_mut(KIND_AT..KIND_AT + 4) {
        kind.copy_from_slice(&DEAD.to_le_bytes());
    }
}

/// Whether an encoded row is marked as deleted.
pub(crate) fn is_dead(bytes: &[u8; ROW_BYTES]) -> bool {
    bytes.get(KIND_AT..KIND_AT + 4) == Some(&DEAD.to_le_bytes())
}

/// Reads the id of an encoded row.
pub(crate) fn id_of(bytes: &[u8; ROW_BYTES]) -> MegramId {
    let half = |at: usize| bytes.get(at..).and_then(|bytes| bytes.first_chunk()).map_or(0, |b| u64::from_le_bytes(*b));
    MegramId::from_u128(u128::from(half(0)) << 64 | u128::from(half(8)))
}

/// A hash of a name or text, never 0. Names with the same hash count as one, which weakens evidence and never
/// strengthens it.
pub(crate) fn short_hash(text: &str) -> u32 {
    let hash = fnv1a(text.as_bytes());
    ((hash ^ hash >> 32) as u32).max(1)
}

/// Decodes a failure class; `None` if the record has none.
fn class_of(byte: u8) -> Option<FailureClass> {
    match byte {
        1 => Some(FailureClass::Logical),
        2 => Some(FailureClass::Environmental),
        3 => Some(FailureClass::Mixed),
        _ => None,
    }
}

/// Splits an encoded combination into magnitude, valence and four bytes (decay index, state, level, flags).
fn split_kind(bytes: [u8; KIND_BYTES]) -> (f64, f64, [u8; 4]) {
    let (numbers, small) = bytes.as_chunks::<8>();
    let mut numbers = numbers.iter().map(|bytes| f64::from_le_bytes(*bytes));
    let mut next = || numbers.next().unwrap_or_default();
    (next(), next(), small.first_chunk().copied().unwrap_or_default())
}

/// Packs two 32-bit numbers into a 64-bit word.
fn join(low: u32, high: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// Unpacks the two numbers of a word, low half first.
fn split(word: u64) -> (u32, u32) {
    (word as u32, (word >> 32) as u32)
}
