//! Ids of records, ordered by time.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The greatest time that a record id can hold, Unix milliseconds (in the year 10889).
const MAX_TIME_MS: i64 = (1 << 48) - 1;

/// The id of a record: 128 bits in UUID form, ordered by time within a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MegramId(u128);

/// The error for a text that is not a record id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a megram id: {text:?}")]
pub struct InvalidMegramId {
    /// The text that is not a record id.
    pub text: String,
}

impl MegramId {
    /// A record id with these 128 bits, e.g. those of a UUID.
    #[must_use]
    pub const fn from_u128(bits: u128) -> Self {
        Self(bits)
    }

    /// The 128 bits of the record id.
    #[must_use]
    pub const fn as_u128(self) -> u128 {
        self.0
    }

    /// A new record id, as a UUID of version 8: 48 bits of time, 24 bits of sequence number (so that records of one
    /// millisecond keep their order), 50 bits of `hash` (so that ids that two stores write at the same moment differ).
    pub(crate) fn compose(time_ms: i64, sequence: u64, hash: u64) -> Self {
        let time = u128::from(time_ms.clamp(0, MAX_TIME_MS).unsigned_abs());
        let (high, low) = (u128::from(sequence >> 12 & 0xfff), u128::from(sequence & 0xfff));
        let hash = u128::from(hash >> 14);
        Self(time << 80 | 8 << 76 | high << 64 | 2 << 62 | low << 50 | hash)
    }

    /// The time in the record id, Unix milliseconds.
    pub(crate) fn time_ms(self) -> i64 {
        (self.0 >> 80) as i64
    }

    /// Time (Unix milliseconds) and sequence number of the next greater record id.
    pub(crate) fn next_moment(self) -> (i64, u64) {
        let sequence = ((self.0 >> 64 & 0xfff) << 12 | self.0 >> 50 & 0xfff) as u64 + 1;
        if sequence < 1 << 24 { (self.time_ms(), sequence) } else { (self.time_ms() + 1, 0) }
    }
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

#[cfg(test)]
mod tests;
