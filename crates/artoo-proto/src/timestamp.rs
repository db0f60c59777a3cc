//! Points in time, in JSON as RFC 3339 text, and the pair of clocks that a step of the System gets.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A point in time in UTC, in milliseconds since 1970. In JSON: RFC 3339 text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(i64);

/// The error for a text that is not an RFC 3339 time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not an RFC 3339 time: {text:?}")]
pub struct InvalidTimestamp {
    /// The rejected text.
    pub text: String,
}

/// Latest time, in milliseconds since 1970: the end of the year 9999, the limit of jiff.
const MAX_MS: i64 = 253_402_207_200_000;
/// Earliest time, in milliseconds since 1970: the start of the year −9999, the limit of jiff.
const MIN_MS: i64 = -377_705_023_201_000;

impl Timestamp {
    /// A time from milliseconds since 1970, clamped to the years −9999 to 9999.
    #[must_use]
    pub fn from_millis(ms: i64) -> Self {
        Self(ms.clamp(MIN_MS, MAX_MS))
    }

    /// Milliseconds since 1970.
    #[must_use]
    pub fn as_millis(self) -> i64 {
        self.0
    }

    /// This time plus `ms` milliseconds, saturating.
    #[must_use]
    pub fn plus_millis(self, ms: i64) -> Self {
        Self::from_millis(self.0.saturating_add(ms))
    }

    /// Parses RFC 3339 text.
    ///
    /// # Errors
    /// [`InvalidTimestamp`] if the text is not an RFC 3339 time with an offset.
    pub fn parse(text: &str) -> Result<Self, InvalidTimestamp> {
        text.parse::<jiff::Timestamp>()
            .map(|t| Self::from_millis(t.as_millisecond()))
            .map_err(|_| InvalidTimestamp { text: text.to_owned() })
    }
}

/// The clock's time in whole milliseconds, rounded down; `Timestamp::from(SystemTime::now())` is the current moment.
impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        let millis = |ns: u128| i64::try_from(ns / 1_000_000).unwrap_or(i64::MAX);
        Self::from_millis(match time.duration_since(UNIX_EPOCH) {
            Ok(after) => millis(after.as_nanos()),
            Err(before) => -millis(before.duration().as_nanos().saturating_add(999_999)),
        })
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(t) => write!(f, "{t:.3}"),
            Err(_) => write!(f, "{}ms", self.0),
        }
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(de::Error::custom)
    }
}

/// The current time by two clocks: the wall clock, and the uptime in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Now {
    /// Wall time, for records; may jump.
    pub wall: Timestamp,
    /// Monotonic milliseconds since the process started, for limits.
    pub uptime_ms: u64,
}
