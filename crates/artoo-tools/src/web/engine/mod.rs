//! The engines: how each is asked, and what its answer says.

mod brave;
mod duckduckgo;
mod google;
mod searxng;

use artoo_proto::escape;
use reqwest::header::{HeaderMap, HeaderValue};
use reqwest::{Method, Request, Url};

use crate::limit::Limit;
use crate::web::client::{Answer, NetworkProblem};
use crate::web::config::{ApiKey, Engine, EngineKind};
use crate::web::{challenge, charset};

/// Longest title shown.
const TITLE_MAX_CHARS: usize = 150;

/// Longest snippet shown; engines give about half of it.
const SNIPPET_MAX_CHARS: usize = 400;

/// One result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hit {
    pub(crate) title: String,
    pub(crate) url: String,
    pub(crate) snippet: String,
}

/// Why an engine gave no answer. None of these is an empty answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoAnswer {
    #[error(transparent)]
    Network(#[from] NetworkProblem),
    #[error("{0}")]
    TurnedAway(String),
    #[error("it answered with status {status}")]
    Status { status: u16 },
    #[error("its answer could not be read: {problem}")]
    Unread { problem: String },
    #[error("it found nothing, but some of what it asks gave no answer: {who}")]
    Partial { who: String },
}

impl NoAnswer {
    fn unread(problem: impl std::fmt::Display) -> Self {
        Self::Unread { problem: escape::one_line(&escape::shorten(&problem.to_string(), 200)) }
    }
}

impl Hit {
    /// A result as an engine gave it, cut to size and stripped; one whose address is none of the web's is left out.
    fn new(title: &str, url: &str, snippet: &str) -> Option<Self> {
        let url = Url::parse(url.trim()).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
        let short = |text: &str, max| escape::shorten(&escape::one_line(&crate::web::html::joined(text)), max);
        Some(Self {
            title: short(title, TITLE_MAX_CHARS),
            url: url.to_string(),
            snippet: short(snippet, SNIPPET_MAX_CHARS),
        })
    }
}

/// The request that asks this engine; `query` has been checked.
pub(crate) fn request(engine: &Engine, query: &str, count: usize) -> Result<Request, NoAnswer> {
    let mut url = engine.base.clone();
    let mut headers = HeaderMap::new();
    let count = count.to_string();
    match &engine.kind {
        EngineKind::Searxng => {
            url = url.join("search").map_err(NoAnswer::unread)?;
            url.query_pairs_mut().append_pair("q", query).append_pair("format", "json");
        }
        EngineKind::Brave { key } => {
            url.query_pairs_mut().append_pair("q", query).append_pair("count", &count);
            headers.insert("x-subscription-token", header(key)?);
        }
        EngineKind::Google { key, engine_id } => {
            url.query_pairs_mut().append_pair("cx", engine_id).append_pair("q", query).append_pair("num", &count);
            // In a header, so that no log of addresses holds it.
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

fn header(key: &ApiKey) -> Result<HeaderValue, NoAnswer> {
    let mut value = HeaderValue::from_str(key.expose()).map_err(NoAnswer::unread)?;
    value.set_sensitive(true);
    Ok(value)
}

/// What the engine's answer says. An empty list means that the engine looked and found nothing.
pub(crate) fn hits(engine: &Engine, answer: &Answer, limit: &Limit) -> Result<Vec<Hit>, NoAnswer> {
    let text = charset::decode(&answer.content_type, &answer.body);
    let is_page = matches!(engine.kind, EngineKind::DuckDuckGo);
    let words = crate::web::html::readable(&text, limit).text;
    if let Some(why) = challenge::recognised(answer.status, &text, &words).filter(|_| is_page || !looks_json(&text)) {
        return Err(NoAnswer::TurnedAway(why));
    }
    if answer.status != reqwest::StatusCode::OK {
        return Err(if answer.status == reqwest::StatusCode::TOO_MANY_REQUESTS {
            NoAnswer::TurnedAway("it answers no more questions for now (status 429)".to_owned())
        } else {
            NoAnswer::Status { status: answer.status.as_u16() }
        });
    }
    match &engine.kind {
        EngineKind::Searxng => searxng::hits(&text),
        EngineKind::Brave { .. } => brave::hits(&text),
        EngineKind::Google { .. } => google::hits(&text),
        EngineKind::DuckDuckGo => duckduckgo::hits(&text, limit),
    }
}

fn looks_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '['])
}
