//! Errors of records, frames, promotions and requests to forget.

use crate::record::{Level, MegramId};

/// The text field of a record that an error is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TextField {
    /// The space of the record's tag.
    Space,
    /// The entity of the record's tag.
    Entity,
    /// The task that the record comes from.
    Task,
    /// The source that the record's content quotes.
    Source,
    /// The record's content.
    Content,
    /// The words of the record's intent.
    Intent,
    /// A text of a lesson.
    Lesson,
}

/// Why a record is not valid.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidMegram {
    /// A name of the tag is empty, or the content of a rule or law.
    #[error("{field:?} is empty")]
    Empty {
        /// The empty field.
        field: TextField,
    },
    /// A name of the tag contains a `|` or a control character, which must be escaped.
    #[error("{field:?} holds {character:?}, which must be escaped")]
    Unescaped {
        /// The field with the unescaped character.
        field: TextField,
        /// The first unescaped character.
        character: char,
    },
    /// A text field is longer than its limit.
    #[error("{field:?} has {bytes} bytes, more than {max_bytes}")]
    TooLong {
        /// The field that is too long.
        field: TextField,
        /// Length of the field in bytes.
        bytes: usize,
        /// Most bytes that the field may have.
        max_bytes: usize,
    },
    /// The magnitude is not a number from 0 to 1.
    #[error("magnitude {f} is not in 0..=1")]
    Magnitude {
        /// The magnitude that was given.
        f: f64,
    },
    /// The valence is not a number from −1 to 1.
    #[error("valence {sigma} is not in -1..=1")]
    Valence {
        /// The valence that was given.
        sigma: f64,
    },
    /// The decay does not fit the record: records of levels M and K decay, those of C and T and notes do not.
    #[error("decay {k} does not fit level {level:?}")]
    Decay {
        /// The decay per day that was given.
        k: f64,
        /// The level of the record whose decay was given.
        level: Level,
    },
    /// The record would add one decay rate more than a store can have.
    #[error("decay {k} would be one more than {max} distinct rates")]
    TooManyDecays {
        /// The decay per day that was given.
        k: f64,
        /// Most distinct decay rates that a store can have, besides that of demoted rules.
        max: usize,
    },
}

/// Why a record was not written; nothing changed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The draft is not valid.
    #[error("the record is not valid: {0}")]
    Invalid(#[from] InvalidMegram),
    /// Another law has the same tag already, and laws never change.
    #[error("the law {id} has this tag and another text, and level T never changes")]
    Immutable {
        /// The existing law of this tag.
        id: MegramId,
    },
    /// The feedback names a record that is not a rule.
    #[error("{id} is not a rule")]
    NotARule {
        /// The record that the feedback names.
        id: MegramId,
    },
    /// The text is not among the proposals for level T, or no longer.
    #[error("no rules propose this text for level T")]
    NotProposed,
    /// The outcome names a record that is not a lesson.
    #[error("{id} is not a lesson")]
    NotALesson {
        /// The record that the outcome names.
        id: MegramId,
    },
}

/// Why a frame does not fit the engine it is applied to; nothing changed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ApplyError {
    /// The frame's record is not valid.
    #[error("the record {id} is not valid: {source}")]
    Invalid {
        /// The invalid record.
        id: MegramId,
        /// Why it is not valid.
        source: InvalidMegram,
    },
    /// The frame adds a record that exists already.
    #[error("the record {id} exists already")]
    Duplicate {
        /// The existing record.
        id: MegramId,
    },
    /// The frame adds a record that was deleted on request, which must not come back.
    #[error("the record {id} was forgotten")]
    Forgotten {
        /// The record that was deleted on request.
        id: MegramId,
    },
    /// The frame would change or delete a law, a record of level T that was not adopted from rules.
    #[error("{id} is of level T, which never changes")]
    Immutable {
        /// The record of level T.
        id: MegramId,
    },
    /// A frame of this kind cannot have a record of this level.
    #[error("{id} is of level {level:?}, which this kind of frame cannot hold")]
    WrongLevel {
        /// The record with the wrong level.
        id: MegramId,
        /// The level of the record.
        level: Level,
    },
}

/// Why no rule was made; nothing changed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PromoteError {
    /// The text of the rule is not valid.
    #[error("the rule is not valid: {0}")]
    Invalid(#[from] InvalidMegram),
    /// A rule was made from this evidence since the ticket was issued.
    #[error("a rule was made from this evidence already")]
    AlreadyPromoted,
    /// A record of the evidence was deleted since the ticket was issued.
    #[error("the evidence {id} was deleted")]
    EvidenceGone {
        /// The first deleted record of the evidence.
        id: MegramId,
    },
    /// Newer records contradict the rule.
    #[error("newer records contradict the rule: decision is {decision}")]
    Contradicted {
        /// The decision of the rule's tag now: the sum of valence × magnitude of its records, decayed.
        decision: f64,
    },
}

/// Why a record could not be deleted on request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ForgetError {
    /// The record to delete does not exist.
    #[error("the record {id} does not exist")]
    Unknown {
        /// The record that does not exist.
        id: MegramId,
    },
    /// The record to delete is a law, a record of level T that was not adopted from rules.
    #[error("{id} is of level T, which is never deleted")]
    Immutable {
        /// The record of level T.
        id: MegramId,
    },
}
