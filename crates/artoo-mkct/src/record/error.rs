//! What can be wrong with a record, a frame, a promotion and a request to forget.

use crate::record::{Level, MegramId};

/// A text of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TextField {
    /// First tag.
    Space,
    /// Second tag.
    Entity,
    /// The task's id.
    Task,
    /// Where the content comes from.
    Source,
    /// What happened.
    Content,
}

/// Why a record is not accepted.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidMegram {
    /// A tag, or the text of a rule or law, is empty.
    #[error("{field:?} is empty")]
    Empty {
        /// Which text.
        field: TextField,
    },
    /// A tag holds a separator or a control character.
    #[error("{field:?} holds {character:?}, which must be escaped")]
    Unescaped {
        /// Which tag.
        field: TextField,
        /// The first such character.
        character: char,
    },
    /// A text is longer than its bound.
    #[error("{field:?} has {bytes} bytes, more than {max_bytes}")]
    TooLong {
        /// Which text.
        field: TextField,
        /// Its length.
        bytes: usize,
        /// The bound.
        max_bytes: usize,
    },
    /// The magnitude is no number from 0 to 1.
    #[error("magnitude {f} is not in 0..=1")]
    Magnitude {
        /// What was given.
        f: f64,
    },
    /// The valence is no number from −1 to 1.
    #[error("valence {sigma} is not in -1..=1")]
    Valence {
        /// What was given.
        sigma: f64,
    },
    /// The decay does not fit the layer: M and K decay, C and T do not.
    #[error("decay {k} does not fit level {level:?}")]
    Decay {
        /// What was given.
        k: f64,
        /// The record's layer.
        level: Level,
    },
    /// One more distinct decay rate than a store keeps apart.
    #[error("decay {k} would be one more than {max} distinct rates")]
    TooManyDecays {
        /// What was given.
        k: f64,
        /// The bound.
        max: usize,
    },
}

/// Why a write was not accepted; nothing changed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The draft breaks a bound.
    #[error("the record is not valid")]
    Invalid(#[from] InvalidMegram),
    /// A law of that name stands already and says something else.
    #[error("{id} already says something else, and level T never changes")]
    Immutable {
        /// The law that stands.
        id: MegramId,
    },
    /// Feedback about something that is no rule.
    #[error("{id} is no rule")]
    NotARule {
        /// What was named.
        id: MegramId,
    },
}

/// Why a frame does not fit the engine it is applied to; nothing changed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ApplyError {
    /// The record breaks a bound.
    #[error("the record {id} is not valid")]
    Invalid {
        /// Its id.
        id: MegramId,
        /// Which bound.
        #[source]
        source: InvalidMegram,
    },
    /// The record is there already.
    #[error("{id} is there already")]
    Duplicate {
        /// Its id.
        id: MegramId,
    },
    /// The record was deleted on request, and does not come back.
    #[error("{id} was forgotten")]
    Forgotten {
        /// Its id.
        id: MegramId,
    },
    /// The frame would change or delete a T record.
    #[error("{id} is of level T, which never changes")]
    Immutable {
        /// The T record.
        id: MegramId,
    },
    /// The frame's kind does not go with the record's layer.
    #[error("{id} is of level {level:?}, which this kind of frame cannot hold")]
    WrongLevel {
        /// The record.
        id: MegramId,
        /// Its layer.
        level: Level,
    },
}

/// Why a rule was not made; nothing changed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PromoteError {
    /// The rule's text breaks a bound.
    #[error("the rule is not valid")]
    Invalid(#[from] InvalidMegram),
    /// A rule was made from this evidence since the ticket was issued.
    #[error("a rule was made from this evidence already")]
    AlreadyPromoted,
    /// Evidence was deleted since the ticket was issued.
    #[error("the evidence {id} is gone")]
    EvidenceGone {
        /// The first missing record.
        id: MegramId,
    },
    /// Newer experience speaks against the rule.
    #[error("newer experience speaks against the rule: decision is {decision}")]
    Contradicted {
        /// The tag's decision channel now.
        decision: f64,
    },
}

/// Why a record was not forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ForgetError {
    /// There is no such record.
    #[error("{id} is not there")]
    Unknown {
        /// What was named.
        id: MegramId,
    },
    /// It is of level T.
    #[error("{id} is of level T, which is never deleted")]
    Immutable {
        /// The T record.
        id: MegramId,
    },
}
