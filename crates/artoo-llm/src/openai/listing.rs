//! The list of models, as most endpoints that speak Chat Completions give it.

use serde::Deserialize;

use super::exchange::Received;
use super::trouble::Trouble;

/// Models kept of a list: a person chooses from it; routers list several hundred.
const MODELS_MAX: usize = 1_000;

#[derive(Deserialize)]
struct Listing {
    data: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    id: String,
}

/// The names in an answer.
pub(super) fn names(received: &Received) -> Result<Vec<String>, Trouble> {
    let unreadable = |detail: String| {
        let text = String::from_utf8_lossy(received.body.get(..1000).unwrap_or(&received.body)).into_owned();
        Trouble::Unreadable { detail, text }
    };
    if let Some(cut) = &received.cut {
        return Err(unreadable(format!("the list of models was cut off: {cut}")));
    }
    let listing: Listing = serde_json::from_slice(&received.body)
        .map_err(|error| unreadable(format!("this is no list of models: {error}")))?;
    Ok(listing.data.into_iter().take(MODELS_MAX).map(|entry| entry.id).collect())
}
