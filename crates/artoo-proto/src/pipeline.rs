//! Pipelines of programs, written as a shell command for a person to read.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;

/// Maximum number of programs in a pipeline.
pub const PROGRAMS_MAX: usize = 16;

/// Maximum number of words of one program in a pipeline: its name and arguments.
pub const WORDS_MAX: usize = 1_024;

/// Words that a shell reads as syntax in the position of a program's name.
const RESERVED: [&str; 17] = [
    "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in", "select", "then",
    "time", "until", "while",
];

/// The shell command that runs a pipeline: programs with their arguments, each reading the output of the previous one.
///
/// A word that a POSIX shell would not read as plain text is quoted.
#[must_use]
pub fn command(pipeline: &[Vec<String>]) -> String {
    let program = |words: &Vec<String>| {
        let quoted = words.iter().enumerate().map(|(at, word)| match at {
            0 if word.contains('=') || RESERVED.contains(&word.as_str()) => in_quotes(word),
            _ => quote(word),
        });
        quoted.collect::<Vec<_>>().join(" ")
    };
    pipeline.iter().map(program).collect::<Vec<_>>().join(" | ")
}

/// The input of a tool call for display: the field `pipeline` of the tool `shell` as a `command`, any other unchanged.
pub(crate) fn shown<'a>(tool: &str, input: &'a Value) -> Cow<'a, Value> {
    let pipeline = input.get("pipeline").filter(|_| tool == "shell");
    let Some(Ok(pipeline)) = pipeline.map(Vec::<Vec<String>>::deserialize) else { return Cow::Borrowed(input) };
    let mut shown = input.clone();
    if let Some(fields) = shown.as_object_mut() {
        fields.remove("pipeline");
        fields.insert("command".to_owned(), command(&pipeline).into());
    }
    Cow::Owned(shown)
}

/// The word, in quotes if a POSIX shell would not read it as plain text.
fn quote(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | ',' | ':' | '+' | '%');
    // Options and the variables of `env` are read as they are; other text around a `=` is quoted.
    let is_assignment = word
        .split_once('=')
        .is_some_and(|(name, value)| !name.is_empty() && name.chars().all(is_plain) && value.chars().all(is_plain));
    let is_read_as_it_is = !word.is_empty() && (word.chars().all(is_plain) || is_assignment);
    if is_read_as_it_is { word.to_owned() } else { in_quotes(word) }
}

/// The word in single quotes; a single quote inside is written in double quotes between two quoted parts.
fn in_quotes(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\"'\"'"))
}

/// Tests of quoted words, and of the pipelines that are shown as commands.
#[cfg(test)]
mod tests {
    use super::{command, shown};
    use serde_json::json;

    #[test]
    fn words_are_quoted_only_where_needed() {
        for (word, expected) in [
            ("-maxdepth", "-maxdepth"),
            ("/a/b-c_d.e", "/a/b-c_d.e"),
            ("LC_ALL=C", "LC_ALL=C"),
            ("", "''"),
            ("a b", "'a b'"),
            ("*.pdf", "'*.pdf'"),
            ("~", "'~'"),
            ("!", "'!'"),
            ("it's", "'it'\"'\"'s'"),
            ("$(x)", "'$(x)'"),
            ("=", "'='"),
            ("ä", "'ä'"),
            ("if", "if"),
        ] {
            assert_eq!(command(&[vec!["env".to_owned(), word.to_owned()]]), format!("env {expected}"));
        }
        for (program, expected) in [("LC_ALL=C", "'LC_ALL=C'"), ("time", "'time'"), ("{", "'{'"), ("sort", "sort")] {
            assert_eq!(command(&[vec!["ls".to_owned()], vec![program.to_owned()]]), format!("ls | {expected}"));
        }
    }

    #[test]
    fn only_shell_pipelines_are_shown_as_commands() {
        let input = json!({"pipeline": [["ls", "a b"], ["wc", "-l"]], "network": false});
        assert_eq!(*shown("shell", &input), json!({"command": "ls 'a b' | wc -l", "network": false}));
        for (tool, input) in [
            ("other", input),
            ("shell", json!({"pipeline": [1]})),
            ("shell", json!({"command": "ls"})),
            ("shell", json!(1)),
        ] {
            assert_eq!(*shown(tool, &input), input);
        }
    }
}
