//! File names typed with `@` at the prompt: their completion, and their replacement by paths in the request.

use std::fs;
use std::path::Path;

/// Maximum number of file names that a completion at the prompt offers.
const OFFERED_MAX: usize = 100;

/// Byte positions of each `@` in the text that may begin a file name: at the start, or after white space, `(` or `"`.
fn starts(text: &str) -> impl Iterator<Item = usize> {
    text.match_indices('@').map(|(at, _)| at).filter(|at| {
        let before = text.get(..*at).unwrap_or_default();
        before.is_empty() || before.ends_with(|c: char| c.is_whitespace() || c == '(' || c == '"')
    })
}

/// Replaces each `@name` of an existing file or folder by its path, in quotes if it has spaces; other `@name`s stay.
pub(super) fn expanded(text: &str, cwd: &Path) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for at in starts(text) {
        let rest = text.get(at + 1..).unwrap_or_default();
        let Some((name, length)) = named(rest, cwd) else { continue };
        out.push_str(text.get(done..at).unwrap_or_default());
        let path = if name.starts_with(['/', '~', '.']) { name.to_owned() } else { format!("./{name}") };
        let is_plain = !path.contains(char::is_whitespace);
        out.push_str(&if is_plain { path } else { format!("\"{path}\"") });
        done = at + 1 + length;
    }
    out.push_str(text.get(done..).unwrap_or_default());
    out
}

/// The longest existing file name at the start of a text, and how many bytes its spelling takes there: in quotes, or up
/// to a space or punctuation mark.
fn named<'t>(rest: &'t str, cwd: &Path) -> Option<(&'t str, usize)> {
    if let Some((name, _)) = rest.strip_prefix('"').and_then(|quoted| quoted.split_once('"')) {
        return exists(name, cwd).then_some((name, name.len() + 2));
    }
    let word = rest.split(char::is_whitespace).next().unwrap_or_default();
    let trimmed = word.trim_end_matches([',', ';', ':', '?', '!', ')', '.']);
    [word, trimmed].into_iter().find(|name| exists(name, cwd)).map(|name| (name, name.len()))
}

/// Whether a typed name is an existing file or folder.
fn exists(name: &str, cwd: &Path) -> bool {
    !name.is_empty() && located(name, cwd).is_some_and(|path| path.exists())
}

/// The path that a typed name means: relative to the current folder, or to the home folder after `~/`.
fn located(name: &str, cwd: &Path) -> Option<std::path::PathBuf> {
    match name.strip_prefix("~/") {
        Some(below) => std::env::home_dir().map(|home| home.join(below)),
        None => Some(cwd.join(name)),
    }
}

/// Completes the file name after the last `@` of the input line: the byte position of the `@`, and the matching names,
/// each with `@` and, if it has spaces, in quotes. `None` if the line does not end with such a name.
pub(super) fn completions(begun: &str, cwd: &Path) -> Option<(usize, Vec<String>)> {
    let at = starts(begun).last()?;
    let typed = begun.get(at + 1..)?.trim_start_matches('"');
    if typed.contains(char::is_whitespace) && !begun.get(at + 1..)?.starts_with('"') {
        return None;
    }
    let (folder, prefix) = typed.rfind('/').map_or(("", typed), |slash| typed.split_at(slash + 1));
    let mut names: Vec<String> = fs::read_dir(located(if folder.is_empty() { "." } else { folder }, cwd)?)
        .ok()?
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let is_shown = name.starts_with(prefix) && (!name.starts_with('.') || prefix.starts_with('.'));
            let slash = if entry.path().is_dir() { "/" } else { "" };
            is_shown.then(|| format!("{folder}{name}{slash}"))
        })
        .collect();
    names.sort();
    names.truncate(OFFERED_MAX);
    let spelled = |name: String| match name.contains(char::is_whitespace) {
        true => format!("@\"{name}\""),
        false => format!("@{name}"),
    };
    Some((at, names.into_iter().map(spelled).collect()))
}

/// Tests of replacing and completing `@` names.
#[cfg(test)]
mod tests {
    use std::fs;

    use super::{completions, expanded};

    /// `@name` in a request becomes a path if that file exists.
    #[test]
    fn names_after_an_at_sign_become_paths() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["notes.md", "a b.txt", ".hidden"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        fs::create_dir(folder.path().join("sub")).unwrap();
        let check = |text: &str, expected: &str| assert_eq!(expanded(text, folder.path()), expected, "{text}");
        check("summarise @notes.md, please", "summarise ./notes.md, please");
        check("compare @notes.md and @\"a b.txt\".", "compare ./notes.md and \"./a b.txt\".");
        check("@notes.md", "./notes.md");
        check("mail ada@notes.md or @none.md", "mail ada@notes.md or @none.md");
        let offered = |text: &str| completions(text, folder.path());
        assert_eq!(offered("show @no"), Some((5, vec!["@notes.md".to_owned()])));
        let all = ["@\"a b.txt\"", "@notes.md", "@sub/"].map(str::to_owned).to_vec();
        assert_eq!(offered("show @"), Some((5, all)));
        assert_eq!(offered("show @notes.md and"), None);
        assert_eq!(offered("mail ada@no"), None);
    }
}
