//! The answer to a greeting, or to the question of what artoo can do.

use std::path::Path;

use crate::display::Line;

/// Inputs that get artoo's greeting as the answer: greetings and questions about artoo, in lowercase, without
/// punctuation at the end.
const GREETINGS: [&str; 8] =
    ["hello", "hi", "hey", "help me", "what can you do", "what can i do", "who are you", "what are you"];

/// Three lines in reply to a mere greeting or "what can you do": what artoo is, example requests, where to read on.
/// `None` for other words.
pub(crate) fn greeting_for(words: &str) -> Option<Vec<Line>> {
    let words = words.trim_matches(|c: char| c.is_whitespace() || "?!.,".contains(c)).to_lowercase();
    if !GREETINGS.contains(&words.as_str()) {
        return None;
    }
    let home = std::env::home_dir().unwrap_or_default();
    let folder = folder(&std::env::current_dir().unwrap_or_default(), &home);
    let [count, largest, disk] = examples(&folder);
    Some(vec![
        Line::strong("artoo carries out a request on this machine and checks the result: say what you want done."),
        Line::plain(format!("Try: artoo \"{count}\" · artoo \"{largest}\" · artoo \"{disk}\"")),
        Line::plain("For any request it needs a language model: artoo setup. More: artoo help"),
    ])
}

/// Three example requests about this folder that the embedded parser answers without a model and without asking.
fn examples(folder: &str) -> [String; 3] {
    [
        format!("how many files are in {folder}"),
        format!("the three largest files in {folder}"),
        "how much disk space is free".to_owned(),
    ]
}

/// The folder that the examples name: `~/Downloads` if it exists, else the current one, by its path or, if that needs
/// quotes, as "the current folder".
fn folder(here: &Path, home: &Path) -> String {
    let is_plain = |path: &str| path.chars().all(|c| c.is_alphanumeric() || "/._-~".contains(c));
    let here = match here.strip_prefix(home) {
        Ok(below) if below.as_os_str().is_empty() => "~".to_owned(),
        Ok(below) => format!("~/{}", below.display()),
        Err(_) => here.display().to_string(),
    };
    if home.join("Downloads").is_dir() {
        "~/Downloads".to_owned()
    } else if is_plain(&here) {
        here
    } else {
        "the current folder".to_owned()
    }
}

/// Tests of the reply to greetings.
#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::{folder, greeting_for};

    /// Only a mere greeting gets the greeting as reply; a greeting followed by a request is a request.
    #[test]
    fn greeting_with_a_request_is_a_request() {
        for words in ["hello", " Hi! ", "HEY", "help me", "What can you do?", "who are you??"] {
            assert_eq!(greeting_for(words).map(|lines| lines.len()), Some(3), "{words:?}");
        }
        for words in ["", "?", "hello world.txt", "say hello", "help", "help me find it", "what can you do with a.zip"]
        {
            assert_eq!(greeting_for(words), None, "{words:?}");
        }
    }

    /// The example requests name `~/Downloads` if it exists, else the current folder.
    #[test]
    fn examples_name_a_folder_that_exists() {
        let home = TempDir::new().unwrap();
        let home = home.path();
        assert_eq!(folder(&home.join("a/b"), home), "~/a/b");
        assert_eq!(folder(home, home), "~");
        assert_eq!(folder(&home.join("my \"files\""), home), "the current folder");
        assert_eq!(folder("/srv/data".as_ref(), home), "/srv/data");
        std::fs::create_dir(home.join("Downloads")).unwrap();
        assert_eq!(folder(&home.join("a/b"), home), "~/Downloads");
    }
}
