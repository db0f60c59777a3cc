//! Checks of every source file: its length, its first doc sentence, no unfinished markers, no paths of the author's
//! machine.

use std::collections::BTreeSet;

use super::{files_ending, root};

/// Maximum number of lines of a source file.
const LINES_MAX: usize = 500;
/// Maximum median number of lines of the source files.
const LINES_MEDIAN_MAX: usize = 200;

#[test]
fn source_files_have_at_most_500_lines() {
    let mut sizes: Vec<(usize, String)> =
        files_ending(&[".rs"]).into_iter().map(|(path, text)| (text.lines().count(), path)).collect();
    sizes.sort();
    let (median, _) = sizes[sizes.len() / 2];
    assert!(median <= LINES_MEDIAN_MAX, "half of all source files have more than {median} lines");
    let long: Vec<_> = sizes.iter().filter(|(lines, _)| *lines > LINES_MAX).collect();
    assert!(long.is_empty(), "files with more than {LINES_MAX} lines: {long:?}");
}

/// Every source file begins with a `//!` sentence.
#[test]
fn source_files_begin_with_a_doc_sentence() {
    let mut silent = Vec::new();
    for (path, text) in files_ending(&[".rs"]) {
        let opening: Vec<&str> = text.lines().map_while(|line| line.strip_prefix("//! ")).collect();
        let opening = opening.join(" ");
        let begins = opening.starts_with(|c: char| c.is_uppercase() || c == '`');
        let sentence = begins && opening.split(' ').count() >= 2 && opening.contains(['.', '?', ':']);
        if !sentence {
            silent.push(path);
        }
    }
    assert!(silent.is_empty(), "without an opening sentence: {silent:#?}");
}

/// No source contains markers of unfinished work, ignored tests or empty assertions.
#[test]
fn sources_contain_no_unfinished_markers() {
    // Spelled in pieces, so that this file does not find itself.
    let anywhere =
        [concat!("unimple", "mented!("), concat!("to", "do!("), concat!("#[ig", "nore]"), concat!("assert!(", "true")];
    let in_comments = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X"), concat!("HA", "CK")];
    let mut found = Vec::new();
    for (path, text) in files_ending(&[".rs", ".md", ".toml", "run"]) {
        for (number, line) in (1..).zip(text.lines()) {
            let comment = if path.ends_with(".md") { Some(line) } else { line.split_once("//").map(|(_, text)| text) };
            let word = anywhere.iter().find(|word| path.ends_with(".rs") && line.contains(**word));
            let word =
                word.or_else(|| in_comments.iter().find(|word| comment.is_some_and(|text| has_word(text, word))));
            found.extend(word.map(|word| format!("{path}:{number}: {word}")));
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

/// No file names paths of a development machine or issues of another tracker.
#[test]
fn repository_names_no_foreign_paths_or_issues() {
    let folders = [concat!("/wo", "rk/"), concat!("/tmp/", "target"), concat!("/ro", "ot/")];
    let words = [concat!("issue", " #"), concat!("shared/", "design"), concat!("shared/", "spec")];
    let mut found = Vec::new();
    for (path, text) in files_ending(&[".rs", ".md", ".toml", ".tsv", ".json", "run"]) {
        for (number, line) in (1..).zip(text.lines()) {
            let folder = folders.iter().find(|folder| names_folder(line, folder));
            let word = folder.or_else(|| words.iter().find(|word| line.contains(**word)));
            found.extend(word.map(|word| format!("{path}:{number}: {word}")));
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

/// Whether a line contains an absolute path that begins with this folder.
fn names_folder(line: &str, folder: &str) -> bool {
    let opens = |before: char| before.is_whitespace() || "\"'`(=:[<".contains(before);
    line.match_indices(folder).any(|(at, _)| line[..at].chars().next_back().is_none_or(opens))
}

/// Whether a text contains a word as a whole.
fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric()).any(|part| part == word)
}

/// Every prompt template is embedded in a source and has each hole once; only user prompts have holes, so that the
/// others can be cached.
#[test]
fn prompts_are_complete_used_and_stable() {
    let sources: String = files_ending(&[".rs"]).into_iter().map(|(_, text)| text).collect();
    for (path, text) in files_ending(&[".md"]).into_iter().filter(|(path, _)| path.starts_with("prompts/")) {
        let name = path.trim_start_matches("prompts/");
        assert!(sources.contains(&format!("prompts/{name}\")")), "{path} is embedded nowhere");
        assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{path} holds control characters");
        assert!(text.trim().len() > 40, "{path} is empty");
        let holes = holes(&text).unwrap_or_else(|problem| panic!("{path}: {problem}"));
        let standing = !name.ends_with(".user.md");
        assert!(!standing || holes.is_empty(), "{path} is to be the same in every call, but has {holes:?}");
        assert!(standing || !holes.is_empty(), "{path} says nothing of its call");
    }
    assert!(root().join("prompts/planner.md").exists());
}

/// The names of a prompt template's `{{holes}}`; an error if one is malformed or occurs twice.
fn holes(text: &str) -> Result<BTreeSet<&str>, String> {
    let mut holes = BTreeSet::new();
    let mut rest = text;
    while let Some((_, after)) = rest.split_once("{{") {
        let (hole, tail) = after.split_once("}}").ok_or("a hole is not closed")?;
        // With a question mark its paragraph is left out where there is nothing to say.
        let hole = hole.strip_prefix('?').unwrap_or(hole);
        let well_formed = !hole.is_empty() && hole.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        if !well_formed || !holes.insert(hole) {
            return Err(format!("the hole {hole:?} is malformed or stands twice"));
        }
        rest = tail;
    }
    Ok(holes)
}

#[test]
fn malformed_prompt_templates_are_detected() {
    let check =
        |text: &str, expected: Option<usize>| assert_eq!(holes(text).ok().map(|holes| holes.len()), expected, "{text}");
    check("a {{cwd}} and {{home}}", Some(2));
    check("none", Some(0));
    check("{{cwd}} {{cwd}}", None);
    check("{{ cwd }}", None);
    check("{{?cwd}} and {{home}}", Some(2));
    check("{{?cwd}} {{cwd}}", None);
    check("{{??cwd}}", None);
    check("{{cwd", None);
    check("{\"check\": {\"kind\": 1}}", Some(0));
    check("{{}}", None);
}
