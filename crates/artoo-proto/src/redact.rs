//! Detection and redaction of secrets by their format.
//!
//! It finds what looks like a key or a password field. A secret that looks like an ordinary word is not found.

use std::borrow::Cow;

/// Text that replaces a secret: `[redacted]`.
pub const REDACTED: &str = "[redacted]";

/// Published prefixes of keys, with the least number of characters that must follow: well below the real lengths, above
/// ordinary words.
const KEY_SHAPES: &[(usize, &[&str])] = &[
    (10, &["xoxb-", "xoxp-", "xoxa-", "xoxs-"]),
    (12, &["sk_live_", "sk_test_", "rk_live_", "rk_test_"]),
    (16, &["sk-", "AKIA", "ASIA", "glpat-", "xapp-", "pypi-AgE", "AccountKey="]),
    (20, &["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "ya29.", "dckr_pat_", "hvs."]),
    (24, &["hf_", "npm_", "shpat_"]),
    (30, &["AIza", "eyJ", "AGE-SECRET-KEY-1", "dop_v1_"]),
    (40, &["SG."]),
];

/// Names of fields whose value is a secret.
const SECRET_NAMES: &[&str] = &["password", "passwd", "secret", "token", "api_key", "apikey", "api-key"];

/// Suffixes of names whose value is a secret, such as `OPENAI_API_KEY` or `private-key`.
const SECRET_ENDS: &[&str] =
    &["password", "passwd", "_secret", "-secret", "_token", "-token", "_key", "-key", "apikey"];

/// Shortest value redacted after the name of a secret field, in bytes: shorter ones are words like `none` or `true`.
const VALUE_MIN_CHARS: usize = 6;

/// Shortest credential redacted after `Bearer`, in characters.
const BEARER_MIN_CHARS: usize = 8;

/// Length in bytes below which a text without `=` or `:` is not searched: every known key and credential has more or as
/// many.
const SHORTEST_BYTES: usize = 15;

/// A search for one kind of secret; returns the redacted text if it found one.
type Pass = fn(&str) -> Option<String>;

/// First characters of a private key in PEM format.
const PRIVATE_KEY: &str = "-----BEGIN ";

/// Word before a bearer token, in any letter case.
const BEARER: &str = "bearer ";

/// Text before the user and password of a URL.
const AUTHORITY: &str = "://";

/// Replaces everything that looks like a secret by [`REDACTED`].
///
/// Every text on the bus passes here, and almost none contains a secret: a text without one is not copied.
#[must_use]
pub fn redact(text: &str) -> Cow<'_, str> {
    if text.len() < SHORTEST_BYTES && !text.bytes().any(|byte| matches!(byte, b'=' | b':')) {
        return Cow::Borrowed(text);
    }
    let bytes = Bytes::of(text);
    let mut out = Cow::Borrowed(text);
    // A pass only inserts `REDACTED`, so it can't add a mark that a later pass looks for.
    let passes: [(bool, Pass); 5] = [
        (bytes.may_contain(PRIVATE_KEY), private_keys),
        (bytes.may_contain_ignoring_case(BEARER), bearer),
        (bytes.may_contain(AUTHORITY), url_credentials),
        (bytes.may_contain("=") || bytes.may_contain(":"), assignments),
        (prefixes().any(|(_, prefix)| bytes.may_contain(prefix)), |text| key_shapes(text, |_| true)),
    ];
    for (_, pass) in passes.into_iter().filter(|(is_possible, _)| *is_possible) {
        if let Some(changed) = pass(&out) {
            out = Cow::Owned(changed);
        }
    }
    out
}

/// Replaces only what is certainly a key: private keys, and known key formats with a digit.
///
/// Names of variables and URLs with a password are common in source code, so they are kept.
#[must_use]
pub fn redact_keys(text: &str) -> Cow<'_, str> {
    let passes: [Pass; 2] =
        [private_keys, |text| key_shapes(text, |key| key.bytes().any(|byte| byte.is_ascii_digit()))];
    passes.into_iter().fold(Cow::Borrowed(text), |out, pass| pass(&out).map_or(out, Cow::Owned))
}

/// Whether the value of a field or variable with this name, in any letter case, is a secret.
#[must_use]
pub fn is_secret_name(name: &str) -> bool {
    // The last letter rules out most names quickly.
    let may_be = name.bytes().next_back().is_some_and(|last| matches!(last | 0x20, b'd' | b't' | b'n' | b'y'));
    may_be && is_known_name(name)
}

/// Whether a name is in the lists of secret names, in any letter case.
fn is_known_name(name: &str) -> bool {
    SECRET_NAMES.iter().chain(&["authorization"]).any(|known| name.eq_ignore_ascii_case(known))
        || SECRET_ENDS.iter().any(|end| ends_with(name, end))
}

/// Whether a text ends with `end` (ASCII), in any letter case.
fn ends_with(text: &str, end: &str) -> bool {
    let start = text.len().checked_sub(end.len());
    start.and_then(|start| text.as_bytes().get(start..)).is_some_and(|tail| tail.eq_ignore_ascii_case(end.as_bytes()))
}

/// Redacts each private key from `-----BEGIN … PRIVATE KEY-----` to its end mark, or to the end of the text if it has
/// none; `None` if there is no key.
fn private_keys(text: &str) -> Option<String> {
    text.find(PRIVATE_KEY)?;
    let mut out = String::new();
    let mut rest = text;
    let mut found = false;
    while let Some(at) = rest.find(PRIVATE_KEY) {
        let (before, block) = rest.split_at(at);
        let label_end = block.get(PRIVATE_KEY.len()..).and_then(|label| label.find("-----"));
        let label = label_end.and_then(|end| block.get(PRIVATE_KEY.len()..PRIVATE_KEY.len() + end)).unwrap_or_default();
        out.push_str(before);
        // PGP's label continues with BLOCK.
        if label.contains("PRIVATE KEY") {
            let end_mark = format!("-----END {label}-----");
            let end = block.find(&end_mark).map_or(block.len(), |end| end + end_mark.len());
            out.push_str(REDACTED);
            rest = block.get(end..).unwrap_or_default();
            found = true;
        } else {
            out.push_str(PRIVATE_KEY);
            rest = block.get(PRIVATE_KEY.len()..).unwrap_or_default();
        }
    }
    out.push_str(rest);
    found.then_some(out)
}

/// Redacts the credential, of at least `BEARER_MIN_CHARS`, after each `Bearer` (any letter case); `None` if none.
fn bearer(text: &str) -> Option<String> {
    replace_after(text, BEARER, |rest| {
        let spaces = rest.len() - rest.trim_start_matches(' ').len();
        let credential = rest.get(spaces..).unwrap_or_default();
        let length = run(credential, |c| c.is_ascii_alphanumeric() || "._~+/=-".contains(c));
        (length >= BEARER_MIN_CHARS).then_some((spaces, length))
    })
}

/// Redacts the password in each `scheme://user:password@host`; `None` if there is none.
fn url_credentials(text: &str) -> Option<String> {
    replace_after(text, AUTHORITY, |rest| {
        let authority = run(rest, |c| !c.is_whitespace() && !"/?#\"'<>".contains(c));
        let authority = rest.get(..authority)?;
        let (user_and_password, _) = authority.rsplit_once('@')?;
        let (user, password) = user_and_password.split_once(':')?;
        (!password.is_empty()).then_some((user.len() + 1, password.len()))
    })
}

/// Redacts the value in each `NAME=value` and `name: value` whose name is that of a secret; `None` if there is none.
fn assignments(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut copied = 0;
    for (at, _) in text.bytes().enumerate().filter(|(_, byte)| matches!(byte, b'=' | b':')) {
        if at < copied {
            continue;
        }
        let before = text.get(..at).unwrap_or_default().trim_end_matches([' ', '"', '\'', '\\']);
        let name_length = run_back(before, |c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
        let name = before.get(before.len() - name_length..).unwrap_or_default();
        if !is_secret_name(name) {
            continue;
        }
        let after = text.get(at + 1..).unwrap_or_default();
        let value = after.trim_start_matches([' ', '"', '\'', '\\']);
        let length = if name.eq_ignore_ascii_case("authorization") {
            run(value, |c| c != '\n' && c != '\r' && c != '"')
        } else {
            run(value, |c| !c.is_whitespace() && !"\"'\\,;&)".contains(c))
        };
        if length < VALUE_MIN_CHARS || value.get(..length) == Some(REDACTED) {
            continue;
        }
        let start = text.len() - value.len();
        out.push_str(text.get(copied..start).unwrap_or_default());
        out.push_str(REDACTED);
        copied = start + length;
    }
    (copied > 0).then(|| out + text.get(copied..).unwrap_or_default())
}

/// Every key prefix with the least number of characters that must follow.
fn prefixes() -> impl Iterator<Item = (usize, &'static str)> {
    KEY_SHAPES.iter().flat_map(|(least, prefixes)| prefixes.iter().map(|prefix| (*least, *prefix)))
}

/// Redacts keys with a known prefix at the start of a word, if `is_key` accepts what follows the prefix; `None` if
/// there is none.
fn key_shapes(text: &str, is_key: fn(&str) -> bool) -> Option<String> {
    let mut changed: Option<String> = None;
    let bytes = Bytes::of(text);
    for (least, prefix) in prefixes().filter(|(_, prefix)| bytes.may_contain(prefix)) {
        let current = changed.as_deref().unwrap_or(text);
        let mut out = String::new();
        let mut copied = 0;
        for (at, _) in current.match_indices(prefix) {
            let before = current.get(..at).and_then(|before| before.chars().next_back());
            if at < copied || before.is_some_and(char::is_alphanumeric) {
                continue;
            }
            let rest = current.get(at + prefix.len()..).unwrap_or_default();
            let is_assigned = prefix.ends_with('=');
            let length =
                run(rest, |c| c.is_ascii_alphanumeric() || "_-.".contains(c) || (is_assigned && "+/".contains(c)));
            if length < least || !rest.get(..length).is_some_and(is_key) {
                continue;
            }
            out.push_str(current.get(copied..at).unwrap_or_default());
            out.push_str(REDACTED);
            copied = at + prefix.len() + length;
        }
        if copied > 0 {
            out.push_str(current.get(copied..).unwrap_or_default());
            changed = Some(out);
        }
    }
    changed
}

/// The set of byte values in a text, to rule out most searches at once.
struct Bytes([u64; 4]);

impl Bytes {
    /// The set of bytes that occur in a text.
    fn of(text: &str) -> Self {
        let mut found = [0; 4];
        for byte in text.bytes() {
            if let Some(word) = found.get_mut(usize::from(byte >> 6)) {
                *word |= 1 << (byte & 63);
            }
        }
        Self(found)
    }

    /// Whether a byte occurs in the text.
    fn has(&self, byte: u8) -> bool {
        self.0.get(usize::from(byte >> 6)).is_some_and(|word| (word >> (byte & 63)) & 1 == 1)
    }

    /// Whether the text has every byte of a word; if not, the text can't contain the word.
    fn may_contain(&self, word: &str) -> bool {
        word.bytes().all(|byte| self.has(byte))
    }

    /// Whether the text has every byte of an ASCII word, in either letter case.
    fn may_contain_ignoring_case(&self, word: &str) -> bool {
        word.bytes().all(|byte| self.has(byte.to_ascii_lowercase()) || self.has(byte.to_ascii_uppercase()))
    }
}

/// Byte positions of `mark` (ASCII, any letter case) in the text, without overlaps.
fn mark_positions<'a>(text: &'a str, mark: &'a str) -> impl Iterator<Item = usize> + 'a {
    let first = mark.bytes().next().map(|byte| byte.to_ascii_lowercase());
    let mut from = 0;
    std::iter::from_fn(move || {
        let rest = text.as_bytes().get(from..)?;
        let is_here = |(at, byte): (usize, &u8)| {
            let here = Some(byte.to_ascii_lowercase()) == first
                && rest.get(at..at + mark.len()).is_some_and(|found| found.eq_ignore_ascii_case(mark.as_bytes()));
            here.then_some(at)
        };
        let at = from + rest.iter().enumerate().find_map(is_here)?;
        from = at + mark.len();
        Some(at)
    })
}

/// Redacts a part after each `mark` (ASCII, any letter case). `secret` gets the text after the mark and returns how
/// many bytes to skip and to replace. `None` if nothing is redacted.
fn replace_after(text: &str, mark: &str, secret: impl Fn(&str) -> Option<(usize, usize)>) -> Option<String> {
    let mut out = String::new();
    let mut copied = 0;
    for at in mark_positions(text, mark) {
        let after = at + mark.len();
        if after < copied {
            continue;
        }
        if let Some((skip, length)) = text.get(after..).and_then(&secret) {
            out.push_str(text.get(copied..after + skip).unwrap_or_default());
            out.push_str(REDACTED);
            copied = after + skip + length;
        }
    }
    (copied > 0).then(|| out + text.get(copied..).unwrap_or_default())
}

/// Length in bytes of the prefix whose characters all satisfy `keep`.
fn run(text: &str, keep: impl Fn(char) -> bool) -> usize {
    text.find(|c| !keep(c)).unwrap_or(text.len())
}

/// Length in bytes of the suffix whose characters all satisfy `keep`.
fn run_back(text: &str, keep: impl Fn(char) -> bool) -> usize {
    text.len() - text.rfind(|c: char| !keep(c)).map_or(0, |at| at + text[at..].chars().next().map_or(1, char::len_utf8))
}

#[cfg(test)]
mod tests;
