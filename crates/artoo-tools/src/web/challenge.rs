//! A page that turns programs away, told from one that answers (decision D7).

use reqwest::StatusCode;

/// Words by which such pages ask for proof of a person, in lower case. They decide only on a short page: a long one
/// may speak of them.
const SAID: [&str; 14] = [
    "unusual traffic",
    "are you a human",
    "are you a robot",
    "confirm you are human",
    "verify you are human",
    "verify that you are human",
    "verifying you are human",
    "confirm this search was made by a human",
    "complete the captcha",
    "solve the captcha",
    "enable javascript and cookies to continue",
    "checking your browser",
    "attention required! | cloudflare",
    "just a moment...",
];

/// Parts of such pages that no other page has, in lower case.
const BUILT: [&str; 7] = [
    "anomaly-modal",
    "anomaly.js",
    "cf-challenge",
    "cf_chl_opt",
    "/cdn-cgi/challenge-platform",
    "id=\"captcha-form\"",
    "px-captcha",
];

/// Up to this many characters of text a page counts as short.
const SHORT_MAX_CHARS: usize = 1500;

/// Why the answer is none, where it is a page that turns programs away.
pub(crate) fn recognised(status: StatusCode, html: &str, text: &str) -> Option<String> {
    if status == StatusCode::TOO_MANY_REQUESTS {
        return Some("it answers no more questions for now (status 429)".to_owned());
    }
    let page = html.to_ascii_lowercase();
    let is_short = text.chars().count() <= SHORT_MAX_CHARS;
    let words = text.to_ascii_lowercase();
    let is_built = is_short && BUILT.iter().any(|mark| page.contains(mark));
    let is_said = is_short && SAID.iter().any(|mark| words.contains(mark));
    (is_built || is_said).then(|| format!("it asks for proof of a person (a captcha or the like, status {status})"))
}
