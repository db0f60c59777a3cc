//! The tool `search`: which requests are sent at once, and which need approval.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use artoo_proto::{EffectClass, ToolClass, ToolSpec};
use reqwest::Url;
use serde_json::Value;
use tokio::time::timeout;

use crate::config::ToolConfig;
use crate::effects::{CallEffects, NetworkUse};
use crate::limit::Stopped;
use crate::record::Record;
use crate::texts;
use crate::tool::{Call, Look, Machine, Question, Request, Running, Tool, UserContext, done, spec};
use crate::web::client::Network;
use crate::web::config::Engine;
use crate::web::hosts::Hosts;
use crate::web::input::{self, Wanted};
use crate::web::{page, search, words};

/// Maximum number of result URLs remembered from the last searches.
const NAMED_MAX: usize = 200;

/// The tool `search`, which asks search engines and fetches pages.
#[derive(Debug)]
pub(crate) struct Search {
    web: Arc<Web>,
}

/// State that all calls of `search` share: engines, HTTP clients, and the URLs of earlier results.
#[derive(Debug)]
struct Web {
    engines: Vec<Engine>,
    hosts: Hosts,
    /// Created by the first call, since it takes some milliseconds.
    network: OnceLock<Result<Network, String>>,
    /// Addresses that engines returned as results, newest last.
    named: Mutex<VecDeque<String>>,
}

impl Search {
    /// The tool `search`, if an engine is configured.
    pub(crate) fn detect(config: &ToolConfig) -> Option<Self> {
        let web = &config.web;
        if web.engines.is_empty() {
            return None;
        }
        let hosts = Hosts {
            #[cfg(test)]
            loopback: web.loopback.clone(),
        };
        let web = Web { engines: web.engines.clone(), hosts, network: OnceLock::new(), named: Mutex::default() };
        Some(Self { web: Arc::new(web) })
    }
}

impl Tool for Search {
    fn spec(&self) -> ToolSpec {
        let description = "search the web, or read a web page as text; files and what they say are never to be sent";
        spec("search", ToolClass::Web, 7, description, input::schema())
    }

    fn read(&self, _: &Machine, user: &UserContext<'_>, input: &Value) -> Result<Request, Box<Record>> {
        let wanted = Wanted::parse(input).map_err(|record| record.of_class(EffectClass::ReadOnly))?;
        let (target, question) = match &wanted {
            Wanted::Answer { query, .. } => (query.clone(), self.web.about_query(query, user.request)),
            Wanted::Page { url, .. } => {
                self.web.hosts.check(url).map_err(|refused| Record::denied(&format!("{url}: {refused}")))?;
                (url.to_string(), self.web.about_page(url, user.request))
            }
        };
        let mut effects = CallEffects { network: NetworkUse::Certain, ..CallEffects::of_reading(Vec::new()) };
        let question = question.map(|(shown, line, reason)| {
            effects.lines.push(line);
            Question { text: shown.clone(), files: Vec::new(), shown, reason: reason.to_owned(), details: Vec::new() }
        });
        let web = Arc::clone(&self.web);
        let job = Box::new(move |call: Call| {
            Box::pin(async move {
                let answer = timeout(call.deadline.left(), web.answer(&wanted, call)).await;
                answer.unwrap_or_else(|_| Ok(done(Record::timed_out("the time was up before the network answered"))))
            }) as Running
        });
        Ok(Request { target, effects, question, job })
    }
}

/// What a question says about a `search` call: the request as shown to the user, its effect, and why it needs approval.
type About = (String, String, &'static str);

impl Web {
    /// The question about a query; `None` if it is in the user's own words and all engines are the user's choice.
    fn about_query(&self, query: &str, user_request: &str) -> Option<About> {
        let is_chosen = self.engines.iter().all(|engine| engine.is_chosen);
        let is_own = words::are_own(query, user_request);
        let reason = match (is_chosen, is_own) {
            (true, true) => return None,
            (_, false) => "it would send words that are not your own",
            (false, true) => "it would send your words to a search engine that you have not chosen",
        };
        let names: Vec<String> = self.engines.iter().map(Engine::name).collect();
        let receivers = names.join(", and if that gives no answer ");
        Some((format!("search: {query}"), format!("sends these words to {receivers}"), reason))
    }

    /// The question about a page; `None` if the user or an engine named its address.
    fn about_page(&self, url: &Url, user_request: &str) -> Option<About> {
        if words::is_named(url.as_str(), user_request) || self.is_known(url) {
            return None;
        }
        let host = url.host_str().unwrap_or_default();
        let effect = format!("sends this address to {host}, with whatever is written in it");
        Some((format!("search: GET {url}"), effect, texts::UNKNOWN_PAGE))
    }

    /// Whether this URL is among the last [`NAMED_MAX`] results of engines.
    fn is_known(&self, url: &Url) -> bool {
        let named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        named.iter().any(|known| known == url.as_str())
    }

    /// Adds result URLs to those that can be fetched without a question; the oldest are dropped.
    fn remember(&self, urls: Vec<String>) {
        let mut named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        named.extend(urls);
        let surplus = named.len().saturating_sub(NAMED_MAX);
        named.drain(..surplus);
    }

    /// The HTTP clients, created at the first call.
    fn network(&self) -> Result<&Network, String> {
        self.network.get_or_init(|| Network::new(self.hosts.clone())).as_ref().map_err(Clone::clone)
    }

    /// Sends a query to the engines or fetches a page, and returns the record.
    async fn answer(&self, wanted: &Wanted, call: Call) -> Result<Look, Stopped> {
        let network = match self.network() {
            Ok(network) => network,
            Err(problem) => return Ok(done(Record::hindered(problem))),
        };
        match wanted {
            Wanted::Answer { query, limit } => {
                let (record, urls) = search::ask(network, &self.engines, query, *limit, &call).await?;
                self.remember(urls);
                Ok(done(record))
            }
            Wanted::Page { url, from } => {
                let answer = match network.page(url.clone()).await {
                    Ok(answer) => answer,
                    Err(problem) => return Ok(done(Record::hindered(format!("the page was not fetched: {problem}")))),
                };
                let (url, from) = (url.clone(), *from);
                call.work(move |machine, _, limit| {
                    page::record(&url, from, &answer, machine.config.output_max_chars, limit)
                })
                .await
            }
        }
    }
}
