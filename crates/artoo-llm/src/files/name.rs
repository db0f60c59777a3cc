//! Names of installed models, valid as a folder name on every file system.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Maximum length of a model's name, in characters: it fits into one line of a list.
const NAME_MAX_CHARS: usize = 64;

/// The name of a model: lowercase letters, digits, `.`, `-` and `_`, beginning with a letter or digit.
///
/// No uppercase letters, because some file systems treat `A` and `a` as the same name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ModelName(String);

impl ModelName {
    /// The model's name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Derives a name from a file name: extension removed, lowercased, invalid characters replaced by `-`. `None` if
    /// nothing remains.
    #[must_use]
    pub fn from_file_name(file: &str) -> Option<Self> {
        let lower = file.to_lowercase();
        let mut name = String::new();
        for c in lower.strip_suffix(".gguf").unwrap_or(&lower).chars() {
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
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_alphanumeric = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let is_valid = text.len() <= NAME_MAX_CHARS
            && text.bytes().next().is_some_and(is_alphanumeric)
            && text.bytes().all(|byte| is_alphanumeric(byte) || matches!(byte, b'.' | b'_' | b'-'));
        is_valid.then(|| Self(text.to_owned())).ok_or(
            "a model name has at most 64 lowercase letters, digits, dots, hyphens and underscores, and begins with a letter or digit",
        )
    }
}

impl fmt::Display for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Tests of the rules for model names.
#[cfg(test)]
mod tests {
    use super::ModelName;

    /// A model's name is accepted only if it is a safe folder name.
    #[test]
    fn model_name_is_a_valid_folder_name() {
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

    /// Names derived from file names are valid model names.
    #[test]
    fn names_from_file_names_are_valid() {
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
