//! Decodes a page by its byte order mark, the HTTP header, its `meta` tag, or as UTF-8 or windows-1252.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

/// Number of bytes at the start of a page in which it may declare its encoding, by the HTML standard.
const PRESCAN_BYTES: usize = 1024;

/// The text of a page. The encoding is the first of: byte order mark, HTTP header, `meta` tag, UTF-8 if the bytes are
/// valid, windows-1252. Invalid bytes become U+FFFD.
pub(crate) fn decode(content_type: &str, body: &[u8]) -> String {
    let named = parameter(content_type, "charset").and_then(|label| Encoding::for_label(label.as_bytes()));
    let named = named.or_else(|| in_page(body));
    let guessed = || if std::str::from_utf8(body).is_ok() { UTF_8 } else { WINDOWS_1252 };
    // `decode` checks for a byte order mark first.
    named.unwrap_or_else(guessed).decode(body).0.into_owned()
}

/// The value of a parameter such as `charset` in a lowercase content type or `meta` tag; `None` if it is missing.
fn parameter<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(name)?;
    let value = rest.trim_start().strip_prefix('=')?.trim_start().trim_start_matches(['"', '\'']);
    let end = value.find([';', '"', '\'', ' ', '>', '/']).unwrap_or(value.len());
    value.get(..end)
}

/// The encoding that the page's `meta` tag declares; `None` if there is none.
fn in_page(body: &[u8]) -> Option<&'static Encoding> {
    let head = body.get(..PRESCAN_BYTES.min(body.len()))?;
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let metas = head.match_indices("<meta").filter_map(|(at, _)| head.get(at..)?.split('>').next());
    let named = metas.filter_map(|meta| parameter(meta, "charset")).next()?;
    let encoding = Encoding::for_label(named.as_bytes())?;
    // The `meta` tag was read as ASCII, so the encoding can't be UTF-16.
    Some(if encoding.is_ascii_compatible() { encoding } else { UTF_8 })
}

/// Tests that pages are decoded by the right encoding.
#[cfg(test)]
mod tests {
    use super::decode;

    /// Pages are decoded by the encoding of their header, `meta` tag or bytes.
    #[test]
    fn pages_are_decoded_by_their_encoding() {
        let check = |content_type: &str, body: &[u8], expected: &str| {
            assert_eq!(decode(content_type, body), expected, "{content_type} {body:?}");
        };
        check("text/html", "grün".as_bytes(), "grün");
        check("text/html", b"gr\xfcn", "grün");
        check("text/html; charset=utf-8", b"gr\xfcn", "gr\u{fffd}n");
        check("text/html; charset=\"iso-8859-1\"", "ü".as_bytes(), "Ã¼");
        check("text/html; charset=shift_jis", b"\x93\xfa\x96{", "日本");
        check("text/html", b"<meta charset='koi8-r'>\xcd\xc9\xd2", "<meta charset='koi8-r'>мир");
        check(
            "text/html",
            b"<META http-equiv=x content='text/html; charset=koi8-r'>\xcd",
            "<META http-equiv=x content='text/html; charset=koi8-r'>м",
        );
        check("text/html", b"<meta charset=utf-16>\xc3\xbc", "<meta charset=utf-16>ü");
        check("text/html; charset=koi8-r", b"\xef\xbb\xbf\xc3\xbc", "ü");
        check("text/html; charset=utf-16le", b"a\0b\0", "ab");
        check("text/html; charset=nonsense", b"a", "a");
    }
}
