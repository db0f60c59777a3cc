//! The engines: the request for each, and the results in its response.

mod duckduckgo;

use artoo_proto::escape;
use reqwest::header::{HeaderMap, HeaderValue};
use reqwest::{Method, Request, StatusCode, Url};
use serde_json::Value;

use crate::limit::Limit;
use crate::web::client::Answer;
use crate::web::config::{ApiKey, Engine, EngineKind};
use crate::web::html::{joined, visible_text};
use crate::web::{challenge, charset};

/// Longest title of a search result, in characters.
const TITLE_MAX_CHARS: usize = 150;

/// Longest snippet of a search result, in characters; engines give about half of it.
const SNIPPET_MAX_CHARS: usize = 400;

/// Maximum number of engines named that gave a SearXNG instance no answer.
const SILENT_MAX: usize = 10;

/// One result of a search engine: title, URL and snippet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hit {
    pub(crate) title: String,
    pub(crate) url: String,
    pub(crate) snippet: String,
}

impl Hit {
    /// A search result as an engine gave it, shortened and escaped; `None` if its URL is not http(s).
    fn new(title: &str, url: &str, snippet: &str) -> Option<Self> {
        let url = Url::parse(url.trim()).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
        let short = |text: &str, max| escape::shorten(&escape::one_line(&joined(text)), max);
        Some(Self {
            title: short(title, TITLE_MAX_CHARS),
            url: url.to_string(),
            snippet: short(snippet, SNIPPET_MAX_CHARS),
        })
    }
}

/// The reason that an engine gave no answer. It differs from an empty answer.
type NoAnswer = String;

/// The reason why a search engine's answer can't be used: it can't be parsed.
fn unreadable_answer(problem: impl std::fmt::Display) -> NoAnswer {
    let problem = escape::one_line(&escape::shorten(&problem.to_string(), 200));
    format!("its answer could not be read: {problem}")
}

/// The HTTP request that asks this search engine the query; `count` is the number of results for engines that take one.
pub(crate) fn request(engine: &Engine, query: &str, count: usize) -> Result<Request, NoAnswer> {
    let mut url = engine.base.clone();
    let mut headers = HeaderMap::new();
    let count = count.to_string();
    match &engine.kind {
        EngineKind::Searxng => {
            url = url.join("search").map_err(unreadable_answer)?;
            url.query_pairs_mut().append_pair("q", query).append_pair("format", "json");
        }
        EngineKind::Brave { key } => {
            url.query_pairs_mut().append_pair("q", query).append_pair("count", &count);
            headers.insert("x-subscription-token", header(key)?);
        }
        EngineKind::Google { key, engine_id } => {
            url.query_pairs_mut().append_pair("cx", engine_id).append_pair("q", query).append_pair("num", &count);
            // The key is in a header, so that no log of URLs contains it.
            headers.insert("x-goog-api-key", header(key)?);
        }
        EngineKind::DuckDuckGo => {
            url.query_pairs_mut().append_pair("q", query);
        }
    }
    let mut request = Request::new(Method::GET, url);
    *request.headers_mut() = headers;
    Ok(request)
}

/// A search engine's key as a header value; an error if it has other characters.
fn header(key: &ApiKey) -> Result<HeaderValue, NoAnswer> {
    let mut value = HeaderValue::from_str(key.expose()).map_err(unreadable_answer)?;
    value.set_sensitive(true);
    Ok(value)
}

/// The results in an engine's answer. An empty list means that the engine searched and found nothing.
pub(crate) fn hits(engine: &Engine, answer: &Answer, limit: &Limit) -> Result<Vec<Hit>, NoAnswer> {
    let text = charset::decode(&answer.content_type, &answer.body);
    let is_json = !matches!(engine.kind, EngineKind::DuckDuckGo) && text.trim_start().starts_with(['{', '[']);
    let is_busy = answer.status == StatusCode::TOO_MANY_REQUESTS;
    if let Some(why) = challenge::recognised(answer.status, &text, &visible_text(&text, limit).text)
        && (is_busy || !is_json)
    {
        return Err(why);
    }
    if answer.status != StatusCode::OK {
        return Err(format!("it answered with status {}", answer.status.as_u16()));
    }
    match &engine.kind {
        EngineKind::DuckDuckGo => duckduckgo::hits(&text, limit),
        EngineKind::Searxng => {
            from_json(&text, "/results", ["title", "url", "content"], says_none_searxng, str::to_owned)
        }
        EngineKind::Brave { .. } => {
            // Brave marks the words of the query with tags.
            let plain = |text: &str| visible_text(text, limit).text;
            from_json(&text, "/web/results", ["title", "url", "description"], says_none_brave, plain)
        }
        EngineKind::Google { .. } => {
            from_json(&text, "/items", ["title", "link", "snippet"], says_none_google, str::to_owned)
        }
    }
}

/// Extracts the results from a JSON response. If there are none, `says_none` fails unless the response proves an empty
/// result.
fn from_json(
    text: &str,
    results: &str,
    [title, url, snippet]: [&str; 3],
    says_none: fn(&Value) -> Result<(), NoAnswer>,
    plain: impl Fn(&str) -> String,
) -> Result<Vec<Hit>, NoAnswer> {
    let answer: Value = serde_json::from_str(text).map_err(unreadable_answer)?;
    let results = answer.pointer(results).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    if results.is_empty() {
        says_none(&answer)?;
    }
    let text = |found: &Value, key| plain(found.get(key).and_then(Value::as_str).unwrap_or_default());
    let hit = |found: &Value| {
        let url = found.get(url).and_then(Value::as_str).ok_or_else(|| unreadable_answer("a result has no URL"))?;
        Ok(Hit::new(&text(found, title), url, &text(found, snippet)))
    };
    let hits: Result<Vec<Option<Hit>>, NoAnswer> = results.iter().map(hit).collect();
    Ok(hits?.into_iter().flatten().collect())
}

/// Fails if an empty SearXNG response does not prove that nothing was found: it has no result list, or some engines did
/// not answer.
fn says_none_searxng(answer: &Value) -> Result<(), NoAnswer> {
    if !answer.get("results").is_some_and(Value::is_array) {
        return Err(unreadable_answer("it has no list of results"));
    }
    let silent = answer.get("unresponsive_engines").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    if silent.is_empty() {
        return Ok(());
    }
    let names = silent.iter().filter_map(|pair| pair.get(0)?.as_str());
    let who = names.take(SILENT_MAX).collect::<Vec<_>>().join(", ");
    let who = escape::one_line(&escape::shorten(&who, 200));
    Err(format!("it found nothing, but some engines gave it no answer: {who}"))
}

/// Fails if an empty response of Brave does not prove that nothing was found.
fn says_none_brave(answer: &Value) -> Result<(), NoAnswer> {
    let kind = answer.get("type").and_then(Value::as_str).unwrap_or_default();
    if kind == "search" { Ok(()) } else { Err(unreadable_answer(format!("it is of the kind {kind:?}"))) }
}

/// Fails if an empty response of Google does not prove that nothing was found.
fn says_none_google(answer: &Value) -> Result<(), NoAnswer> {
    let total = answer.pointer("/searchInformation/totalResults").and_then(Value::as_str);
    if total == Some("0") {
        Ok(())
    } else {
        Err(unreadable_answer("it has no results and does not say that there are none"))
    }
}
