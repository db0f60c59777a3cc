//! Failed claims of a round, concatenated into one string to save allocations.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

/// A list of claims in one string, with the length of each.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(from = "Vec<String>", into = "Vec<String>")
)]
pub(crate) struct Claims {
    text: String,
    lengths: Vec<usize>,
}

impl Claims {
    /// The claims as one list.
    pub(crate) fn of<T: AsRef<str>>(claims: impl Iterator<Item = T>) -> Self {
        let mut all = Self::default();
        for claim in claims {
            all.text.push_str(claim.as_ref());
            all.lengths.push(claim.as_ref().len());
        }
        all
    }

    /// The claims one by one, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        let mut rest = self.text.as_str();
        self.lengths.iter().map_while(move |length| {
            let (claim, after) = rest.split_at_checked(*length)?;
            rest = after;
            Some(claim)
        })
    }
}

impl From<Vec<String>> for Claims {
    fn from(claims: Vec<String>) -> Self {
        Self::of(claims.into_iter())
    }
}

impl From<Claims> for Vec<String> {
    fn from(claims: Claims) -> Self {
        claims.iter().map(str::to_owned).collect()
    }
}
