//! `search` as the registry knows it: what goes out unasked, and what is asked about.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use artoo_proto::{EffectClass, ToolClass, ToolSpec};
use reqwest::Url;
use serde_json::Value;
use tokio::time::timeout;

use crate::config::ToolConfig;
use crate::limit::Stopped;
use crate::record::Record;
use crate::tool::{Call, Job, Machine, Question, Running, Said, Tool, spec, unusable};
use crate::web::client::{Network, NetworkProblem};
use crate::web::config::Engine;
use crate::web::input::{self, Wanted};
use crate::web::reach::Reach;
use crate::web::{page, search, words};

/// Results remembered as named by an engine: those of the last searches of a long session.
const NAMED_MAX: usize = 200;

/// The tool.
#[derive(Debug)]
pub(crate) struct Search {
    web: Arc<Web>,
}

/// What its calls share.
#[derive(Debug)]
struct Web {
    engines: Vec<Engine>,
    reach: Reach,
    /// Made by the first call: it costs some milliseconds that most tasks don't need to spend.
    network: OnceLock<Result<Network, String>>,
    /// Addresses that engines gave as results, newest last.
    named: Mutex<VecDeque<String>>,
}

struct Asking {
    web: Arc<Web>,
    wanted: Wanted,
}

impl Search {
    /// The tool, where a person allowed an engine.
    pub(crate) fn detect(config: &ToolConfig) -> Option<Self> {
        let web = &config.web;
        if web.engines.is_empty() {
            return None;
        }
        let reach = Reach {
            #[cfg(test)]
            loopback: web.loopback.clone(),
        };
        let web = Web { engines: web.engines.clone(), reach, network: OnceLock::new(), named: Mutex::default() };
        Some(Self { web: Arc::new(web) })
    }
}

impl Tool for Search {
    fn spec(&self) -> ToolSpec {
        let description = "search the web, or read a web page as text; files and what they say are never to be sent";
        spec("search", ToolClass::Web, 7, description, input::schema())
    }

    fn read(&self, _: &Machine, input: &Value) -> Result<Box<dyn Job>, Box<Record>> {
        let wanted = Wanted::parse(input).map_err(|problem| unusable(&problem))?;
        if let Wanted::Page { url, .. } = &wanted {
            self.web.reach.check(url).map_err(|refused| Record::denied(&format!("{url}: {refused}")))?;
        }
        Ok(Box::new(Asking { web: Arc::clone(&self.web), wanted }))
    }
}

impl Job for Asking {
    fn target(&self) -> String {
        match &self.wanted {
            Wanted::Answer { query, .. } => query.clone(),
            Wanted::Page { url, .. } => url.to_string(),
        }
    }

    fn paths(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    fn class(&self) -> EffectClass {
        EffectClass::ReadOnly
    }

    fn question(&self, _: &Machine, said: &Said<'_>) -> Option<Question> {
        let (text, effects, reason) = match &self.wanted {
            Wanted::Answer { query, .. } => self.web.about_query(query, said.words)?,
            Wanted::Page { url, .. } => self.web.about_page(url, said.words)?,
        };
        let (program, files) = (PathBuf::new(), Vec::new());
        Some(Question { shown: text.clone(), text, program, files, effects, reason: reason.to_owned() })
    }

    fn network(&self, _: &Machine) -> String {
        "reaches the network".to_owned()
    }

    fn run(self: Box<Self>, call: Call) -> Running {
        Box::pin(async move {
            let time = call.watch.left();
            match timeout(time, self.web.carry_out(&self.wanted, &call)).await {
                Ok(record) => record,
                Err(_) => Ok(Record::timed_out("the time was up before the network answered")),
            }
        })
    }
}

type About = (String, Vec<String>, &'static str);

impl Web {
    /// What is asked before a question goes out; `None` for the person's own words to an engine they chose.
    fn about_query(&self, query: &str, said: &str) -> Option<About> {
        let is_chosen = self.engines.iter().all(|engine| engine.is_chosen);
        let is_own = words::are_own(query, said);
        let reason = match (is_chosen, is_own) {
            (true, true) => return None,
            (_, false) => "it would send words that are not your own",
            (false, true) => "it would send your words to a search engine that you have not chosen",
        };
        let names: Vec<String> = self.engines.iter().map(Engine::name).collect();
        let receivers = names.join(", and if that gives no answer ");
        Some((format!("search: {query}"), vec![format!("sends these words to {receivers}")], reason))
    }

    /// What is asked before a page is fetched; `None` where the person wrote its address, or an engine gave it.
    fn about_page(&self, url: &Url, said: &str) -> Option<About> {
        if words::is_named(url.as_str(), said) || self.is_known(url) {
            return None;
        }
        let host = url.host_str().unwrap_or_default();
        let effects = vec![format!("sends this address to {host}, with whatever is written in it")];
        Some((format!("search: GET {url}"), effects, "neither you nor a search named this page"))
    }

    fn is_known(&self, url: &Url) -> bool {
        let named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        named.iter().any(|known| known == url.as_str())
    }

    fn remember(&self, urls: Vec<String>) {
        let mut named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        named.extend(urls);
        let surplus = named.len().saturating_sub(NAMED_MAX);
        named.drain(..surplus);
    }

    fn network(&self) -> Result<&Network, String> {
        let made = || Network::new(self.reach.clone()).map_err(|problem| problem.to_string());
        self.network.get_or_init(made).as_ref().map_err(Clone::clone)
    }

    async fn carry_out(&self, wanted: &Wanted, call: &Call) -> Result<Record, Stopped> {
        let network = match self.network() {
            Ok(network) => network,
            Err(problem) => return Ok(Record::hindered(problem)),
        };
        match wanted {
            Wanted::Answer { query, limit } => {
                let (record, urls) = search::ask(network, &self.engines, query, *limit, call).await?;
                self.remember(urls);
                Ok(record)
            }
            Wanted::Page { url, from } => {
                let answer = match network.page(url.clone()).await {
                    Ok(answer) => answer,
                    Err(NetworkProblem::Refused(refused)) => {
                        return Ok(Record::hindered(format!("{url} was not fetched: {refused}")));
                    }
                    Err(problem) => return Ok(Record::hindered(problem.to_string())),
                };
                let (url, from) = (url.clone(), *from);
                call.work(move |machine, limit| {
                    page::record(&url, from, &answer, machine.config.output_max_chars, limit)
                })
                .await
            }
        }
    }
}
