//! The input of `search`: a query, or the URL of a page.

use reqwest::Url;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::input;
use crate::record::Record;
use crate::web::client::URL_MAX_CHARS;

/// Longest query of `search`, in characters; engines cut longer ones.
const QUERY_MAX_CHARS: usize = 400;

/// Number of search results if the input has no limit.
const RESULTS_DEFAULT: usize = 8;

/// Maximum number of results: one page of each engine.
const RESULTS_MAX: usize = 10;

/// The input of `search` as JSON.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    query: Option<String>,
    limit: Option<usize>,
    url: Option<String>,
    from: Option<usize>,
}

/// A valid input of `search`: a query, or the URL of a page to fetch.
#[derive(Debug, Clone)]
pub(crate) enum Wanted {
    Answer { query: String, limit: usize },
    Page { url: Url, from: usize },
}

impl Wanted {
    /// Parses the input of `search`; the error is the record that says what is wrong with it.
    pub(crate) fn parse(value: &Value) -> Result<Self, Box<Record>> {
        let wire: Wire = input::parse(value)?;
        for text in [&wire.query, &wire.url].into_iter().flatten() {
            if artoo_proto::escape::one_line(text) != *text {
                return Err(input::unfit(
                    "the query or the url contains control or invisible characters, so what is shown would not be what is sent",
                ));
            }
        }
        match (wire.query, wire.url) {
            (Some(query), None) if wire.from.is_none() => {
                input::check_length("query", &query, QUERY_MAX_CHARS)?;
                let query = crate::web::html::joined(&query);
                if !query.chars().any(char::is_alphanumeric) {
                    return Err(input::unfit("the query has no words"));
                }
                Ok(Self::Answer { query, limit: wire.limit.unwrap_or(RESULTS_DEFAULT).clamp(1, RESULTS_MAX) })
            }
            (None, Some(url)) if wire.limit.is_none() => {
                input::check_length("url", &url, URL_MAX_CHARS)?;
                let mut url = Url::parse(url.trim()).map_err(|error| input::unfit(format!("url: {error}")))?;
                url.set_fragment(None);
                input::check_length("url", url.as_str(), URL_MAX_CHARS)?;
                Ok(Self::Page { url, from: wire.from.unwrap_or(0) })
            }
            _ => Err(input::unfit("give query for a search, or url for a page; limit belongs to query, from to url")),
        }
    }
}

/// The JSON schema of `search`'s input.
pub(crate) fn schema() -> Value {
    input::schema(
        &[],
        json!({
            "query": {"type": "string", "minLength": 1, "maxLength": QUERY_MAX_CHARS,
                "description": "words to search the web for; words of the user's request are sent at once, others need approval"},
            "limit": {"type": "integer", "minimum": 1, "maximum": RESULTS_MAX},
            "url": {"type": "string", "minLength": 8, "maxLength": URL_MAX_CHARS,
                "description": "instead of query: a page to read as text, http(s) only"},
            "from": {"type": "integer", "minimum": 0, "description": "with url: first character to show; default 0"}
        }),
    )
}
