//! What a model file is called here: a name that is one plain folder on every disk.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Longest name: what still fits a line of a list.
const NAME_MAX_CHARS: usize = 64;

/// A name of small letters, digits, points, hyphens and low lines that begins with a letter or digit.
///
/// Small letters alone, since some disks take `A` and `a` for one name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct ModelName(String);

/// A text that is no name for a model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "a name is made of a to z, 0 to 9, points, hyphens and low lines, begins with a letter or digit, and has at most {NAME_MAX_CHARS} of them"
)]
pub struct NoName;

impl ModelName {
    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// A name made from a file's: its ending off, everything else that no name may hold a hyphen. `None` where nothing
    /// is left.
    #[must_use]
    pub fn from_file_name(file: &str) -> Option<Self> {
        let lower = file.to_lowercase();
        let stem = lower.strip_suffix(".gguf").unwrap_or(&lower);
        let mut name = String::new();
        for c in stem.chars() {
            match c {
                'a'..='z' | '0'..='9' => name.push(c),
                '.' | '_' | '-' if !name.is_empty() => name.push(c),
                _ if !name.is_empty() && !name.ends_with('-') => name.push('-'),
                _ => {}
            }
        }
        name.truncate(NAME_MAX_CHARS);
        name.trim_end_matches(['.', '-', '_']).parse().ok()
    }
}

impl FromStr for ModelName {
    type Err = NoName;

    fn from_str(text: &str) -> Result<Self, NoName> {
        let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let begins = text.bytes().next().is_some_and(is_plain);
        let is_name = begins
            && text.len() <= NAME_MAX_CHARS
            && text.bytes().all(|byte| is_plain(byte) || matches!(byte, b'.' | b'_' | b'-'));
        if is_name { Ok(Self(text.to_owned())) } else { Err(NoName) }
    }
}

impl TryFrom<String> for ModelName {
    type Error = NoName;

    fn try_from(text: String) -> Result<Self, NoName> {
        text.parse()
    }
}

impl fmt::Display for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::ModelName;

    #[test]
    fn a_name_is_one_plain_folder() {
        let check = |text: &str, expected: bool| assert_eq!(text.parse::<ModelName>().is_ok(), expected, "{text:?}");
        check("qwen3-4b-instruct", true);
        check("a_b.c-1", true);
        check(&"a".repeat(64), true);
        check(&"a".repeat(65), false);
        for odd in
            ["", ".", "..", "../x", "a/b", "a\\b", "/etc", ".hidden", "-rf", "A", "a b", "a\n", "a\u{1b}", "é", "a:b"]
        {
            check(odd, false);
        }
    }

    #[test]
    fn a_name_made_from_a_file_name_is_one_or_none() {
        let check = |file: &str, expected: Option<&str>| {
            let name = ModelName::from_file_name(file);
            assert_eq!(name.as_ref().map(ModelName::as_str), expected, "{file:?}");
        };
        check("Qwen3-0.6B-Q8_0.gguf", Some("qwen3-0.6b-q8_0"));
        check("My Model (final).GGUF", Some("my-model-final"));
        check("../../etc/passwd", Some("etc-passwd"));
        check("..", None);
        check(".gguf", None);
        check("\u{1b}[2J\u{202e}", Some("2j"));
        check("模型", None);
        check(&format!("{}.gguf", "x".repeat(500)), Some(&"x".repeat(64)));
    }
}
