//! The answer of Google's Custom Search API.

use serde::Deserialize;

use super::{Hit, NoAnswer};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Wire {
    #[serde(default)]
    items: Vec<Found>,
    search_information: Option<Information>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Information {
    total_results: String,
}

#[derive(Debug, Deserialize)]
struct Found {
    link: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    snippet: String,
}

pub(super) fn hits(text: &str) -> Result<Vec<Hit>, NoAnswer> {
    let wire: Wire = serde_json::from_str(text).map_err(NoAnswer::unread)?;
    let total = wire.search_information.map(|information| information.total_results);
    if wire.items.is_empty() && total.as_deref() != Some("0") {
        return Err(NoAnswer::unread("it has no results and does not say that there are none"));
    }
    Ok(wire.items.iter().filter_map(|found| Hit::new(&found.title, &found.link, &found.snippet)).collect())
}
