//! API keys that can't be printed, and their removal from texts.

use std::fmt;

use artoo_proto::escape;

/// Text that takes the place of a removed key in a text.
const MARK: &str = "[key]";

/// Minimum length of a key, in characters, that is removed from model answers too. Local servers take dummy keys such
/// as `none`; removing those words would change the answer.
const ANSWER_KEY_MIN_CHARS: usize = 16;

/// Minimum length of a key, in characters, that is removed from texts. Shorter ones are dummies and occur in ordinary
/// words.
const KEY_MIN_CHARS: usize = 8;

/// Minimum length of a key's beginning, in characters, that is removed at the end of a text, which may be cut inside
/// the key.
const PARTIAL_KEY_MIN_CHARS: usize = 4;

/// An API key. `Debug` and `Display` show a placeholder; it can't be serialized.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// Creates a secret; surrounding whitespace is removed.
    #[must_use]
    pub fn new(key: impl Into<String>) -> Self {
        let key: String = key.into();
        Self(key.trim().to_owned())
    }

    /// Whether the key is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The key itself, for the header in which it is sent.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret([redacted])")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

/// Removes keys from texts that leave this crate.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scrubber {
    keys: Vec<Secret>,
}

impl Scrubber {
    /// Creates a scrubber for these keys; keys that are too short are ignored.
    pub(crate) fn new(keys: impl IntoIterator<Item = Secret>) -> Self {
        Self { keys: keys.into_iter().filter(|key| key.0.len() >= KEY_MIN_CHARS).collect() }
    }

    /// Text for an error: without keys in any spelling, on one line, cut after `max` characters with a note of the
    /// rest.
    pub(crate) fn shown(&self, text: &str, max: usize) -> String {
        escape::shorten(&escape::one_line(&self.redact_keys(text)), max)
    }

    /// A model's answer without long keys, which are replaced by a mark where they occur literally.
    pub(crate) fn answer(&self, text: String) -> String {
        let long = self.keys.iter().filter(|key| key.0.len() >= ANSWER_KEY_MIN_CHARS);
        long.fold(text, |text, key| if text.contains(&key.0) { text.replace(&key.0, MARK) } else { text })
    }

    /// Removes all keys from a text, in every spelling.
    pub(crate) fn redact_keys(&self, text: &str) -> String {
        self.keys.iter().fold(text.to_owned(), scrub_one)
    }
}

/// Removes one key from a text, in every spelling, and its beginning at the text's end.
fn scrub_one(text: String, key: &Secret) -> String {
    let mut out = text.replace(&key.0, MARK);
    for spelled in spellings(&key.0) {
        if spelled != key.0 {
            out = out.replace(&spelled, MARK);
        }
    }
    // A text that was cut in the middle of the key ends with a part of it.
    let longest = (PARTIAL_KEY_MIN_CHARS..key.0.len()).rev().find_map(|len| out.strip_suffix(key.0.get(..len)?));
    match longest {
        Some(head) => format!("{head}{MARK}"),
        None => out,
    }
}

/// Other spellings of a key: in URLs, in JSON texts, and backwards.
fn spellings(key: &str) -> [String; 8] {
    let respelled = |spell: &dyn Fn(u8) -> String| {
        let plain = |byte: u8| char::from(byte).to_string();
        key.bytes().map(|byte| if byte.is_ascii_alphanumeric() { plain(byte) } else { spell(byte) }).collect::<String>()
    };
    [
        respelled(&|byte| match byte {
            b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
            byte => format!("%{byte:02X}"),
        }),
        respelled(&|byte| format!("%{byte:02X}")),
        respelled(&|byte| format!("%{byte:02x}")),
        respelled(&|byte| format!("\\u{byte:04x}")),
        respelled(&|byte| format!("\\u{byte:04X}")),
        key.chars().rev().collect(),
        key.replace('/', "\\/"),
        key.replace('\\', "\\\\").replace('"', "\\\""),
    ]
}

/// Tests of removing keys from texts.
#[cfg(test)]
mod tests {
    use super::{Scrubber, Secret};

    const KEY: &str = "sk-canary/4f9a+77";

    #[doc = "holds: fault L4"]
    #[test]
    fn every_spelling_of_a_key_is_removed() {
        let scrubber = Scrubber::new([Secret::new(KEY)]);
        let check = |text: &str, expected: &str| assert_eq!(scrubber.shown(text, 100), expected);
        check("bad key sk-canary/4f9a+77!", "bad key [key]!");
        check("bad key sk-canary\\/4f9a+77!", "bad key [key]!");
        check("bad key sk\\u002dcanary\\u002f4f9a\\u002b77!", "bad key [key]!");
        check("?key=sk-canary%2F4f9a%2B77&x", "?key=[key]&x");
        check("?key=sk%2Dcanary%2F4f9a%2B77&x", "?key=[key]&x");
        check("?key=sk%2dcanary%2f4f9a%2b77&x", "?key=[key]&x");
        check("backwards: 77+a9f4/yranac-ks", "backwards: [key]");
        check("cut here: sk-canary/4f", "cut here: [key]");
        check("nothing\nto hide", "nothing\\nto hide");
    }

    /// A secret's `Debug` and `Display` don't show the key.
    #[test]
    fn secret_is_not_printed() {
        let secret = Secret::new(format!("{KEY}\n"));
        assert_eq!(secret.expose(), KEY);
        assert!(!format!("{secret:?} {secret} {:?}", Scrubber::new([secret.clone()])).contains("canary"));
    }

    /// Short dummy keys such as `ollama` are not removed from a model's answer.
    #[test]
    fn dummy_key_does_not_change_an_answer() {
        let answer = |key: &str, text: &str| Scrubber::new([Secret::new(key)]).answer(text.to_owned());
        assert_eq!(answer("ollama", "ask ollama"), "ask ollama");
        assert_eq!(answer(KEY, &format!("ask {KEY}")), "ask [key]");
    }

    /// Keys shorter than eight characters are not removed from texts.
    #[test]
    fn short_dummy_keys_are_not_masked() {
        let shown = |key: &str, text: &str| Scrubber::new([Secret::new(key)]).shown(text, 100);
        assert_eq!(shown("x", "You exceeded your current quota"), "You exceeded your current quota");
        assert_eq!(shown("1234567", "no 1234567"), "no 1234567");
        assert_eq!(shown("12345678", "no 12345678"), "no [key]");
    }
}
