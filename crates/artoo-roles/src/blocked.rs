//! Blocked targets, which R7 (the Solver) forbids to the next plan: matched against a plan's words, described for a
//! prompt, and converted to the form that tools read.

use artoo_ggs::BlockedTarget;
use artoo_proto::{Environment, escape};

use crate::grounding;

/// Maximum length of one blocked target shown in a prompt, in characters: enough for a path or a command.
const SHOWN_CHARS: usize = 300;

/// Whether one of the blocked targets forbids a call of `tool` on `target`. Entries that can't be parsed are ignored.
pub(crate) fn is_hit(blocked: &[String], tool: &str, target: &str) -> bool {
    parsed(blocked).any(|entry| entry.matches(tool, target))
}

/// The first blocked target that a step with these tools and words would use; `None` if there is none.
///
/// Paths in the words are compared as paths, also those with `~` and relative ones. Commands and patterns must occur
/// literally.
pub(crate) fn named_in<'a>(
    blocked: &'a [String],
    tools: &[String],
    words: &str,
    environment: &Environment,
) -> Option<&'a String> {
    let spelled = |path: String| spellings(&path, environment).collect::<Vec<_>>();
    let places: Vec<String> = paths_in(words).flat_map(spelled).collect();
    blocked.iter().find(|text| {
        let Ok(entry) = text.parse::<BlockedTarget>() else { return occurs(words, text) };
        let concerned: Vec<&str> = match &entry.tool {
            Some(own) => tools.iter().filter(|tool| *tool == own).map(String::as_str).collect(),
            None => vec!["*"],
        };
        let named = |tool: &&str| {
            let place = places.iter().any(|place| entry.matches(tool, place));
            place || (!is_path(&entry.target) && occurs(words, &entry.target))
        };
        concerned.iter().any(named)
    })
}

/// The targets that one tool must not use, in the form that tools read: `tool:target`, with a `/` after a folder.
pub(crate) fn for_call(blocked: &[String], tool: &str) -> Vec<String> {
    let form = |text: &String| match text.parse::<BlockedTarget>() {
        Ok(entry) if entry.tool.as_deref().is_none_or(|own| own == tool) => {
            let slash = if entry.subtree && !entry.target.ends_with('/') { "/" } else { "" };
            Some(format!("{tool}:{}{slash}", entry.target))
        }
        Ok(_) => None,
        // An entry that can't be parsed is passed on unchanged, so that no block is lost.
        Err(_) => Some(text.clone()),
    };
    blocked.iter().filter_map(form).collect()
}

/// Describes a blocked target in words on one line, for a prompt.
pub(crate) fn worded(text: &str) -> String {
    let shown = |target: &str| format!("{:?}", escape::shorten(target, SHOWN_CHARS));
    match text.parse::<BlockedTarget>() {
        Ok(BlockedTarget { tool, target, subtree, .. }) => {
            let what = if subtree { format!("anything in the folder {}", shown(&target)) } else { shown(&target) };
            match tool {
                Some(tool) => format!("{what} with the tool {tool}"),
                None => format!("{what} with any tool"),
            }
        }
        Err(_) => shown(text),
    }
}

/// The words of a text that look like a path or a file name, without surrounding quotes and punctuation.
pub(crate) fn paths_in(text: &str) -> impl Iterator<Item = String> + '_ {
    grounding::tokens(text).into_iter().map(bare).filter(|word| is_path(word) || has_extension(word)).map(str::to_owned)
}

/// The ways in which a path may be recorded: as written, with `~` expanded, and if it is relative, also below the
/// working folder and below the workspace.
pub(crate) fn spellings<'a>(path: &'a str, environment: &'a Environment) -> impl Iterator<Item = String> + 'a {
    let from_home = path.strip_prefix("~/").map(|rest| format!("{}/{rest}", environment.home));
    let home = (path == "~").then(|| environment.home.clone());
    let is_relative = !path.starts_with(['/', '~']);
    let below = [&environment.cwd, &environment.workspace].into_iter().filter(move |_| is_relative);
    let relative = path.strip_prefix("./").unwrap_or(path);
    let below = below.map(move |folder| format!("{folder}/{relative}"));
    std::iter::once(path.to_owned()).chain(from_home).chain(home).chain(below)
}

/// The blocked targets that can be parsed; the others are skipped.
fn parsed(blocked: &[String]) -> impl Iterator<Item = BlockedTarget> + '_ {
    blocked.iter().filter_map(|text| text.parse().ok())
}

/// A word without surrounding quotes and punctuation, and without a `/` at its end.
fn bare(word: &str) -> &str {
    let word = word.trim_matches(|c: char| matches!(c, '"' | '\'' | '`' | ',' | ';' | ':' | '?' | '!' | '(' | ')'));
    let word = if word.len() > 2 { word.trim_end_matches('.') } else { word };
    if word.len() > 1 { word.trim_end_matches('/') } else { word }
}

/// Whether a word looks like a path: it contains a `/` or is `~`, and is not a URL.
fn is_path(word: &str) -> bool {
    word.starts_with('/') || word.starts_with("./") || word == "~" || word.starts_with("~/") || {
        word.contains('/') && !word.contains("://")
    }
}

/// Whether a word has a dot with text on both sides, as a file name does.
fn has_extension(word: &str) -> bool {
    word.rsplit_once('.').is_some_and(|(stem, extension)| !stem.is_empty() && !extension.is_empty())
}

/// Whether `needle` occurs in `text` as whole words and not only as part of longer words or paths.
fn occurs(text: &str, needle: &str) -> bool {
    let needle = needle.trim();
    let joins = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '/'));
    !needle.is_empty()
        && text.match_indices(needle).any(|(at, found)| {
            let (before, after) =
                (text.get(..at).unwrap_or_default(), text.get(at + found.len()..).unwrap_or_default());
            !joins(before.chars().next_back()) && !joins(after.chars().next())
        })
}

/// Tests of blocked targets: spellings of paths, the format that tools read, and their descriptions.
#[cfg(test)]
mod tests {
    use super::{for_call, named_in, paths_in, worded};
    use crate::testing::world::environment;

    #[doc = "holds: fault L28"]
    #[test]
    fn all_spellings_of_blocked_paths_match() {
        let check = |entry: &str, tool: &str, words: &str, expected: bool| {
            let blocked = [entry.to_owned()];
            let found = named_in(&blocked, &[tool.to_owned()], words, &environment()).is_some();
            assert_eq!(found, expected, "{entry:?} {tool:?} {words:?}");
        };
        check("*:/home/u/notes.txt", "read_file", "read /home/u/notes.txt.", true);
        check("*:/home/u/notes.txt", "read_file", "read `~/notes.txt`", true);
        check("*:/home/u/notes.txt", "read_file", "read notes.txt in the home folder", true);
        check("*:/home/u/notes.txt", "read_file", "read ./notes.txt", true);
        check("*:/home/u/notes.txt", "read_file", "read /home/u/a/../notes.txt", true);
        check("*:/home/u/notes.txt", "read_file", "read /home/u/notes.txt.bak", false);
        check("*:/home/u/a", "read_file", "read /home/u/ab", false);
        check("*:/home/u/a/**", "glob", "look in /home/u/a/b/c for it", true);
        check("*:/home/u/a/**", "glob", "look in \"~/a/\"", true);
        check("*:/home/u/a/**", "glob", "look in /home/u/ab", false);
        check("read_file:/x/y", "glob", "list /x/y", false);
        check("read_file:/x/y", "read_file", "list /x/y", true);
        check("*:ls -la", "shell", "run ls -la here", true);
        check("*:ls -la", "shell", "run ls -last here", false);
        check("*:*.pdf", "glob", "find *.pdf", true);
        check("no colon at all", "glob", "there is no colon at all in it", true);
        check("*:", "glob", "anything", false);
    }

    #[doc = "holds: design D4"]
    #[test]
    fn blocked_targets_have_the_tools_format() {
        let blocked = ["*:/a/b", "*:/a/**", "shell:ls", "read_file:/c", "plain"].map(str::to_owned);
        assert_eq!(for_call(&blocked, "read_file"), ["read_file:/a/b", "read_file:/a/", "read_file:/c", "plain"]);
    }

    #[test]
    fn blocked_target_description_is_one_line() {
        assert_eq!(worded("*:/a/**"), "anything in the folder \"/a\" with any tool");
        assert_eq!(worded("shell:rm x"), "\"rm x\" with the tool shell");
        assert!(!worded("*:a\nb\u{1b}[2J").contains(['\n', '\u{1b}']));
    }

    #[test]
    fn paths_in_prose_are_found() {
        let found: Vec<String> = paths_in("Put 'a b' in (~/docs/), then ./x, report.pdf. See https://x.y/z").collect();
        assert_eq!(found, ["~/docs", "./x", "report.pdf", "https://x.y/z"]);
    }
}
