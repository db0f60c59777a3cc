//! SearXNG's JSON format.

use serde::Deserialize;
use serde_json::Value;

use super::{Hit, NoAnswer};

#[derive(Debug, Deserialize)]
struct Wire {
    results: Vec<Found>,
    /// Names with reasons, as pairs.
    #[serde(default)]
    unresponsive_engines: Vec<Vec<Value>>,
}

#[derive(Debug, Deserialize)]
struct Found {
    url: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    content: Option<String>,
}

pub(super) fn hits(text: &str) -> Result<Vec<Hit>, NoAnswer> {
    let wire: Wire = serde_json::from_str(text).map_err(NoAnswer::unread)?;
    if wire.results.is_empty() && !wire.unresponsive_engines.is_empty() {
        let names = wire.unresponsive_engines.iter().filter_map(|pair| pair.first()?.as_str());
        let who = names.take(10).collect::<Vec<_>>().join(", ");
        return Err(NoAnswer::Partial { who: artoo_proto::escape::one_line(&artoo_proto::escape::shorten(&who, 200)) });
    }
    let hit = |found: &Found| Hit::new(&found.title, &found.url, found.content.as_deref().unwrap_or_default());
    Ok(wire.results.iter().filter_map(hit).collect())
}
