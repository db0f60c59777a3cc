//! The key of a recorded request: a hash of its role, schema name and prompt, with ids, times and given texts masked.

use artoo_proto::ModelRequest;
use sha2::{Digest, Sha256};

/// Texts, such as paths, that differ between two runs of the same request and are replaced before the request is
/// hashed.
///
/// UUIDs (`<uuid>`) and RFC 3339 times (`<time>`) are always replaced.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Masks {
    words: Vec<(String, String)>,
}

impl Masks {
    /// Adds a replacement: each `text`, such as the path of a temporary folder, becomes `stand_in`.
    #[must_use]
    pub fn and(mut self, text: impl Into<String>, stand_in: impl Into<String>) -> Self {
        self.words.push((text.into(), stand_in.into()));
        self
    }

    /// The key of a request in a cassette: SHA-256 of role, schema name and masked prompt. Schema content and token
    /// limit don't count.
    #[must_use]
    pub fn key(&self, request: &ModelRequest) -> String {
        let mut digest = Sha256::new();
        let system = self.masked(&request.prompt.system);
        let user = self.masked(&request.prompt.user);
        for part in [request.role.code(), &request.schema_name, &system, &user] {
            // The length is hashed too, so that no text can imitate the boundary between two parts.
            digest.update(part.len().to_string());
            digest.update(":");
            digest.update(part);
        }
        digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Replaces the given texts, UUIDs and times in a prompt by placeholders.
    fn masked(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (word, stand_in) in self.words.iter().filter(|(word, _)| !word.is_empty()) {
            text = text.replace(word, stand_in);
        }
        mask_ids_and_times(&text)
    }
}

/// Pattern of a UUID; each `x` stands for any hexadecimal digit.
const UUID: &str = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";

/// Pattern of the start of an RFC 3339 time; each `0` stands for any decimal digit. A fraction and an offset may
/// follow.
const TIME: &str = "0000-00-00T00:00:00";

/// Replaces every UUID by `<uuid>` and every RFC 3339 time by `<time>`.
fn mask_ids_and_times(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let starts_word = !out.ends_with(|c: char| c.is_ascii_alphanumeric());
        let masked =
            starts_word.then(|| uuid(rest).map(|len| (len, "<uuid>")).or(time(rest).map(|len| (len, "<time>"))));
        let (len, written) =
            masked.flatten().unwrap_or_else(|| (c.len_utf8(), rest.get(..c.len_utf8()).unwrap_or_default()));
        out.push_str(written);
        rest = rest.get(len..).unwrap_or_default();
    }
    out
}

/// Length in bytes of the UUID at the start of the text; `None` if there is none.
fn uuid(text: &str) -> Option<usize> {
    let rest = follows(text, UUID)?;
    (!rest.starts_with(|c: char| c.is_ascii_alphanumeric())).then_some(UUID.len())
}

/// Length in bytes of the RFC 3339 time at the start of the text; its fraction is optional, its offset is required.
fn time(text: &str) -> Option<usize> {
    let rest = follows(text, TIME)?;
    let rest =
        rest.strip_prefix('.').map_or(rest, |fraction| fraction.trim_start_matches(|c: char| c.is_ascii_digit()));
    let rest = rest.strip_prefix('Z').or_else(|| follows(rest, "+00:00")).or_else(|| follows(rest, "-00:00"))?;
    Some(text.len() - rest.len())
}

/// The rest of the text after a prefix that matches the pattern; `None` if the text does not begin with a match.
fn follows<'t>(text: &'t str, shape: &str) -> Option<&'t str> {
    let (head, rest) = text.split_at_checked(shape.len())?;
    let same = head.bytes().zip(shape.bytes()).all(|(byte, wanted)| match wanted {
        b'x' => byte.is_ascii_hexdigit(),
        b'0' => byte.is_ascii_digit(),
        wanted => byte == wanted,
    });
    same.then_some(rest)
}

/// Tests of masking ids and times.
#[cfg(test)]
mod tests {
    use super::mask_ids_and_times;

    #[test]
    fn only_ids_and_times_are_masked() {
        let check = |text: &str, expected: &str| assert_eq!(mask_ids_and_times(text), expected);
        check("task count-67e55044-10b1-426f-9247-bb680e5fe0c8!", "task count-<uuid>!");
        check("67E55044-10B1-426F-9247-BB680E5FE0C8", "<uuid>");
        check("a67e55044-10b1-426f-9247-bb680e5fe0c8", "a67e55044-10b1-426f-9247-bb680e5fe0c8");
        check("67e55044-10b1-426f-9247-bb680e5fe0c8f", "67e55044-10b1-426f-9247-bb680e5fe0c8f");
        check("now 2026-02-03T04:05:06Z.", "now <time>.");
        check("now 2026-02-03T04:05:06.789+02:00", "now <time>");
        check("day 2026-02-03, 04:05", "day 2026-02-03, 04:05");
        check("2026-02-03T04:05:06", "2026-02-03T04:05:06");
        check("größe ä", "größe ä");
    }
}
