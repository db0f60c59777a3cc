//! The record of a fetched page.

use artoo_proto::escape;
use reqwest::Url;

use crate::limit::Limit;
use crate::record::Record;
use crate::web::client::Answer;
use crate::web::{challenge, charset, html};

/// Longest page title shown, in characters.
const TITLE_MAX_CHARS: usize = 200;

/// Maximum characters of a page shown at once, header and range included; a longer output would be cut in the middle.
const PART_MAX_CHARS: usize = 3500;

/// Beginnings of the content types that are read as text.
const TEXTS: [&str; 5] = ["text/", "application/json", "application/xml", "application/xhtml+xml", "application/rss"];

/// The record of a page fetched from `asked`: its text from the character `from` on, in about `room` characters, or a
/// failure if it is not text, an error or a captcha.
pub(crate) fn record(asked: &Url, from: usize, answer: &Answer, room: usize, limit: &Limit) -> Record {
    let kind = answer.content_type.split(';').next().unwrap_or_default().trim();
    let content_type = escape::one_line(&escape::shorten(kind, 80));
    if !(kind.is_empty() || TEXTS.iter().any(|text| kind.starts_with(text)) || kind.ends_with("+xml")) {
        return Record::hindered(format!("{} is not text but {content_type:?}", answer.url));
    }
    let source = charset::decode(&answer.content_type, &answer.body);
    let is_html = kind.contains("html") || (kind.is_empty() && source.trim_start().starts_with('<'));
    let page = if is_html {
        html::visible_text(&source, limit)
    } else {
        html::VisibleText { text: source.clone(), ..html::VisibleText::default() }
    };
    if let Some(why) = challenge::recognised(answer.status, &source, &page.text).filter(|_| is_html) {
        return Record::hindered(format!("{} gave no page: {why}", answer.url));
    }
    if !answer.status.is_success() {
        return Record::hindered(format!("{} answered with status {}", answer.url, answer.status.as_u16()));
    }
    shown(asked, from, answer, &page, room)
}

/// The record of a fetched page: its address, its title, and the part of its text that fits, with the range of
/// characters.
fn shown(asked: &Url, from: usize, answer: &Answer, page: &html::VisibleText, room: usize) -> Record {
    let text = escape::visible(&page.text);
    let total = text.chars().count();
    let led = if *asked == answer.url { String::new() } else { format!(", redirected from {asked}") };
    let title = escape::one_line(&escape::shorten(&page.title, TITLE_MAX_CHARS));
    let mut head = format!("[{}{led}]\n", answer.url);
    if !title.is_empty() {
        head.push_str(&format!("{title}\n"));
    }
    let body_room = room.min(PART_MAX_CHARS).saturating_sub(head.chars().count() + 120).max(1);
    let body: String = text.chars().skip(from).take(body_room).collect();
    let to = from.min(total) + body.chars().count();
    let range = match (page.is_cut, from == 0 && to == total) {
        (true, _) => format!("\n[characters {from} to {to}; the time was up before the whole page was read]"),
        (false, true) => format!("\n[the whole text, {total} characters]"),
        (false, false) => format!("\n[characters {from} to {to} of {total}; give from for another part]"),
    };
    let text = format!("{head}{body}{range}");
    if page.is_cut { Record::cut(text) } else { Record::read(text) }
}
