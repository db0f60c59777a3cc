//! The answer of Brave's web search API.

use serde::Deserialize;

use super::{Hit, NoAnswer};
use crate::limit::Limit;
use crate::web::html;

#[derive(Debug, Deserialize)]
struct Wire {
    /// `search` for an answer; an error has another.
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    web: Option<Web>,
}

#[derive(Debug, Deserialize)]
struct Web {
    results: Vec<Found>,
}

#[derive(Debug, Deserialize)]
struct Found {
    url: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    description: String,
}

pub(super) fn hits(text: &str) -> Result<Vec<Hit>, NoAnswer> {
    let wire: Wire = serde_json::from_str(text).map_err(NoAnswer::unread)?;
    if wire.kind != "search" {
        return Err(NoAnswer::unread(format!("it is of the kind {:?}", wire.kind)));
    }
    let found = wire.web.map(|web| web.results).unwrap_or_default();
    Ok(found
        .iter()
        .filter_map(|found| Hit::new(&plain(&found.title), &found.url, &plain(&found.description)))
        .collect())
}

/// Brave marks the words of the query with tags.
fn plain(text: &str) -> String {
    let limit = Limit::after(std::time::Duration::from_secs(1));
    html::readable(text, &limit).text
}
