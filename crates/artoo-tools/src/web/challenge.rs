//! Detects pages that block programs with a captcha or the like (decision D7).

use reqwest::StatusCode;

/// Lowercase phrases of captcha pages. They count only on a short page, since a long one may be an article about them.
const PHRASES: &str = "unusual traffic;are you a human;are you a robot;confirm you are human;verify you are human;\
    verify that you are human;verifying you are human;confirm this search was made by a human;complete the captcha;\
    solve the captcha;enable javascript and cookies to continue;checking your browser;\
    attention required! | cloudflare;just a moment...";

/// Lowercase markup of captcha pages that other pages don't have.
const MARKUP: &str = "anomaly-modal anomaly.js cf-challenge cf_chl_opt /cdn-cgi/challenge-platform \
    id=\"captcha-form\" px-captcha";

/// Longest page, in characters, on which phrases and markup of captcha pages count.
const SHORT_MAX_CHARS: usize = 1500;

/// The reason if a page refuses programs instead of answering, such as a captcha; `None` for any other page.
pub(crate) fn recognised(status: StatusCode, html: &str, text: &str) -> Option<String> {
    if status == StatusCode::TOO_MANY_REQUESTS {
        return Some("it answers no more questions for now (status 429)".to_owned());
    }
    let page = html.to_ascii_lowercase();
    let is_short = text.chars().count() <= SHORT_MAX_CHARS;
    let words = text.to_ascii_lowercase();
    let has_markup = is_short && MARKUP.split(' ').any(|mark| page.contains(mark));
    let has_phrase = is_short && PHRASES.split(';').any(|mark| words.contains(mark));
    (has_markup || has_phrase)
        .then(|| format!("it asks for proof of a person (a captcha or the like, status {status})"))
}
