//! Checks the names of tools and of their inputs.

/// Longest name of a tool or of an input, in characters.
pub(super) const NAME_MAX_CHARS: usize = 32;

/// Whether a text is a valid name: a lowercase letter, then lowercase letters, digits and underscores, at most 32 in
/// all.
pub(crate) fn is_name(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    text.len() <= NAME_MAX_CHARS && text.starts_with(|c: char| c.is_ascii_lowercase()) && text.bytes().all(is_part)
}
