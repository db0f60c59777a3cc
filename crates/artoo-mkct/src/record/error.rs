//! Errors of records, frames, promotions and requests to forget.

use crate::record::{Level, MegramId};

/// A text field of a record, as named in errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TextField {
    /// The space of its tag.
    Space,
    /// The entity of its tag.
    Entity,
    /// Its task.
    Task,
    /// Its source.
    Source,
    /// Its content.
    Content,
}

/// Why a record is not valid.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidMegram {
    /// A name of the tag, or the text of a rule or law, is empty.
    #[error("{field:?} is empty")]
    Empty {
        /// The empty or too long field.
        field: TextField,
    },
    /// A name of the tag contains a separator or a control character.
    #[error("{field:?} holds {character:?}, which must be escaped")]
    Unescaped {
        /// The field.
        field: TextField,
        /// The first such character.
        character: char,
    },
    /// A text is too long.
    #[error("{field:?} has {bytes} bytes, more than {max_bytes}")]
    TooLong {
        /// The empty or too long field.
        field: TextField,
        /// Its length in bytes.
        bytes: usize,
        /// The limit.
        max_bytes: usize,
    },
    /// The magnitude is not a number from 0 to 1.
    #[error("magnitude {f} is not in 0..=1")]
    Magnitude {
        /// The given value.
        f: f64,
    },
    /// The valence is not a number from −1 to 1.
    #[error("valence {sigma} is not in -1..=1")]
    Valence {
        /// The given value.
        sigma: f64,
    },
    /// The decay does not fit the level: M and K decay, C and T do not.
    #[error("decay {k} does not fit level {level:?}")]
    Decay {
        /// The given value.
        k: f64,
        /// The level of the record.
        level: Level,
    },
    /// The record would add one decay rate more than a store can have.
    #[error("decay {k} would be one more than {max} distinct rates")]
    TooManyDecays {
        /// The given value.
        k: f64,
        /// The limit.
        max: usize,
    },
}

/// Why a write was not accepted; nothing changed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The draft is not valid.
    #[error("the record is not valid: {0}")]
    Invalid(#[from] InvalidMegram),
    /// The tag has another law already, and laws never change.
    #[error("the law {id} has this tag and another text, and level T never changes")]
    Immutable {
        /// The existing law.
        id: MegramId,
    },
    /// The feedback is about a record that is not a rule.
    #[error("{id} is not a rule")]
    NotARule {
        /// The named record.
        id: MegramId,
    },
}

/// Why a frame does not fit the engine it is applied to; nothing changed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ApplyError {
    /// The record is not valid.
    #[error("the record {id} is not valid: {source}")]
    Invalid {
        /// The record.
        id: MegramId,
        /// Why it is not valid.
        source: InvalidMegram,
    },
    /// The record exists already.
    #[error("the record {id} exists already")]
    Duplicate {
        /// The record.
        id: MegramId,
    },
    /// The record was deleted on request, and must not come back.
    #[error("the record {id} was forgotten")]
    Forgotten {
        /// The record.
        id: MegramId,
    },
    /// The frame would change or delete a T record.
    #[error("{id} is of level T, which never changes")]
    Immutable {
        /// The T record.
        id: MegramId,
    },
    /// A frame of this kind cannot have a record of this level.
    #[error("{id} is of level {level:?}, which this kind of frame cannot hold")]
    WrongLevel {
        /// The record.
        id: MegramId,
        /// Its level.
        level: Level,
    },
}

/// Why a rule could not be made; nothing changed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PromoteError {
    /// The text of the rule is not valid.
    #[error("the rule is not valid: {0}")]
    Invalid(#[from] InvalidMegram),
    /// A rule was made from this evidence since the ticket was issued.
    #[error("a rule was made from this evidence already")]
    AlreadyPromoted,
    /// Evidence was deleted since the ticket was issued.
    #[error("the evidence {id} was deleted")]
    EvidenceGone {
        /// The first deleted record.
        id: MegramId,
    },
    /// Newer records contradict the rule.
    #[error("newer records contradict the rule: decision is {decision}")]
    Contradicted {
        /// The decision of the tag now.
        decision: f64,
    },
}

/// Why a record could not be forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ForgetError {
    /// The record does not exist.
    #[error("the record {id} does not exist")]
    Unknown {
        /// The named record.
        id: MegramId,
    },
    /// The record is of level T.
    #[error("{id} is of level T, which is never deleted")]
    Immutable {
        /// The T record.
        id: MegramId,
    },
}
