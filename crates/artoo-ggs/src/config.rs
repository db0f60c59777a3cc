//! The hash of a configuration: identifies in a log the numbers and rules of a decision.

use alloc::borrow::ToOwned;
use alloc::string::{String, ToString};
use core::fmt;
use core::str::FromStr;

/// The hash of a profile's numbers and rules: 64-bit FNV-1a over the configuration as text.
///
/// The text is UTF-8, one line each, every line ended by one line feed: `artoo-ggs 1`, then name and value, with a
/// space between, of `alpha`, `beta`, `lambda`, `w1`, `w2`, `epsilon`, `delta`, `rho`, `theta`, `time_budget_ms`,
/// `max_replans`, `kill_after`, `kill_switch`, `task_criteria`, `required_criteria`, `blocks`, in this order,
/// then a line `switch NAME` for each [`Switch`](crate::Switch) that is on, in the order of `Switch::ALL`. Numbers
/// are the shortest decimals that read back as the same 64 bits, without exponent; rules have the names they have in a
/// profile file. The profile's name is left out, so that profiles that decide alike have equal hashes.
///
/// FNV-1a starts at `0xcbf29ce484222325` and for each byte takes the exclusive or, then multiplies by `0x100000001b3`
/// modulo 2⁶⁴. It is not cryptographic. Shown and saved as 16 hexadecimal digits.
///
/// ```
/// use artoo_ggs::Profile;
/// assert_eq!(Profile::default().config_hash().to_string(), "301a640b25cbf2d3");
/// assert!(Profile::default().config_text().starts_with("artoo-ggs 1\nalpha 0.6\nbeta 0.3\n"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "String", into = "String")
)]
pub struct ConfigHash(u64);

/// The error of a string that is not a valid [`ConfigHash`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("config {text:?} is not 16 hexadecimal digits in lower case")]
pub struct ConfigHashError {
    /// The rejected string.
    pub text: String,
}

impl ConfigHash {
    /// Computes the hash of a configuration as text.
    pub(crate) fn of(text: &str) -> Self {
        let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        Self(text.bytes().fold(0xcbf2_9ce4_8422_2325, step))
    }

    /// The hash as a 64-bit number.
    #[must_use]
    pub fn value(self) -> u64 {
        self.0
    }
}

impl fmt::Display for ConfigHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl FromStr for ConfigHash {
    type Err = ConfigHashError;

    fn from_str(text: &str) -> Result<Self, ConfigHashError> {
        let digits = text.len() == 16 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        let value = if digits { u64::from_str_radix(text, 16).ok() } else { None };
        value.map(Self).ok_or_else(|| ConfigHashError { text: text.to_owned() })
    }
}

impl TryFrom<String> for ConfigHash {
    type Error = ConfigHashError;

    fn try_from(text: String) -> Result<Self, ConfigHashError> {
        text.parse()
    }
}

impl From<ConfigHash> for String {
    fn from(hash: ConfigHash) -> Self {
        hash.to_string()
    }
}
