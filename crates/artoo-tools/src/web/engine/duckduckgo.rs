//! DuckDuckGo's page for browsers without scripts.

use reqwest::Url;

use super::{Hit, NoAnswer, unreadable_answer};
use crate::limit::Limit;
use crate::web::html::{self, Event};

/// Collects the results of DuckDuckGo's page from its tags and texts.
#[derive(Default)]
struct Reader {
    hits: Vec<Draft>,
    says_none: bool,
    /// The part of a result that texts belong to, with the name of the tag that ends it.
    part: Option<(Part, Vec<u8>)>,
}

/// A search result while its page is read: URL, title and snippet so far.
#[derive(Default)]
struct Draft {
    url: String,
    title: String,
    snippet: String,
}

/// The part of a search result, title or snippet, that a text of the page belongs to.
#[derive(Clone, Copy)]
enum Part {
    Title,
    Snippet,
}

/// The search results in DuckDuckGo's page; `Err` if the page is not an answer.
pub(super) fn hits(text: &str, limit: &Limit) -> Result<Vec<Hit>, NoAnswer> {
    let mut reader = Reader::default();
    if !html::events(text, limit, |event| reader.handle_event(event)) {
        return Err(unreadable_answer("the time was up"));
    }
    let hits: Vec<Hit> =
        reader.hits.iter().filter_map(|draft| Hit::new(&draft.title, &target(&draft.url)?, &draft.snippet)).collect();
    if hits.is_empty() && !reader.says_none {
        return Err(unreadable_answer("it has no results and does not say that there are none"));
    }
    Ok(hits)
}

impl Reader {
    /// Handles one tag or text of the page: begins or ends a result's title or snippet, or adds text to it.
    fn handle_event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) if html::has_class(tag, "result__a") => {
                let url = html::attribute(tag, "href").unwrap_or_default();
                self.hits.push(Draft { url, ..Draft::default() });
                self.part = Some((Part::Title, tag.name.to_vec()));
            }
            Event::Start(tag) if html::has_class(tag, "result__snippet") => {
                self.part = Some((Part::Snippet, tag.name.to_vec()));
            }
            Event::Start(tag) if html::has_class(tag, "no-results") => self.says_none = true,
            Event::Start(_) => {}
            Event::End(name) => {
                if self.part.as_ref().is_some_and(|(_, tag)| tag.as_slice() == name) {
                    self.part = None;
                }
            }
            Event::Text(text) => {
                if let (Some((part, _)), Some(draft)) = (&self.part, self.hits.last_mut()) {
                    match part {
                        Part::Title => draft.title.push_str(text),
                        Part::Snippet => draft.snippet.push_str(text),
                    }
                }
            }
        }
    }
}

/// The URL to which a result of DuckDuckGo's page leads; `None` for advertisements.
fn target(href: &str) -> Option<String> {
    let base = Url::parse("https://html.duckduckgo.com/html/").ok()?;
    let url = base.join(href).ok()?;
    let is_own = url.host_str().is_some_and(|host| host == "duckduckgo.com" || host.ends_with(".duckduckgo.com"));
    if !is_own {
        return Some(url.to_string());
    }
    let (_, target) = url.query_pairs().find(|(name, _)| name == "uddg").filter(|_| url.path() == "/l/")?;
    Some(target.into_owned())
}
