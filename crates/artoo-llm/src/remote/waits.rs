//! Parses the wait before a retry that an endpoint asks for in its response headers.

use std::time::Duration;

use reqwest::header::{DATE, HeaderMap, HeaderName, RETRY_AFTER};

/// The wait that an endpoint asks for: `retry-after-ms`, or `retry-after` in seconds or as an HTTP date, relative to
/// the response's `date`. `None` without a valid header; zero for a date in the past.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &HeaderName| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let seconds = |text: &str| text.parse::<f64>().ok().and_then(|s| Duration::try_from_secs_f64(s).ok());
    let ms = headers.get("retry-after-ms").and_then(|value| value.to_str().ok()).and_then(seconds);
    if let Some(ms) = ms {
        return Some(ms / 1000);
    }
    let asked = text(&RETRY_AFTER)?;
    seconds(asked).or_else(|| {
        let now = text(&DATE).and_then(http_date).unwrap_or_else(jiff::Timestamp::now);
        let wait = http_date(asked)?.duration_since(now);
        Some(Duration::try_from(wait).unwrap_or_default())
    })
}

/// Parses a date in the format of HTTP headers; `None` if it is not valid.
fn http_date(text: &str) -> Option<jiff::Timestamp> {
    jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text).ok()
}

/// Tests of parsing the wait that an endpoint asks for.
#[cfg(test)]
mod tests {
    use std::time::Duration;

    use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

    use super::retry_after;

    #[doc = "holds: fault L1"]
    #[test]
    fn every_form_of_retry_after_is_parsed() {
        let check = |headers: &[(&'static str, &'static str)], expected: Option<f64>| {
            let map: HeaderMap = headers
                .iter()
                .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
                .collect();
            assert_eq!(retry_after(&map), expected.map(Duration::from_secs_f64), "{headers:?}");
        };
        check(&[("retry-after", "7")], Some(7.0));
        check(&[("retry-after", " 0.5 ")], Some(0.5));
        check(&[("retry-after-ms", "1500"), ("retry-after", "9")], Some(1.5));
        let date = ("date", "Sun, 06 Nov 1994 08:49:00 GMT");
        check(&[date, ("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT")], Some(37.0));
        check(&[date, ("retry-after", "Sun, 06 Nov 1994 08:48:00 GMT")], Some(0.0));
        check(&[("retry-after", "-3")], None);
        check(&[("retry-after", "soon")], None);
        check(&[("retry-after", "1e999")], None);
        check(&[], None);
    }
}
