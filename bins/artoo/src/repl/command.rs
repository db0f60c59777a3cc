//! Classifies a line typed at the prompt: a task, a command, or a mistake that must not become a task.

use crate::suggest;

/// A command that the user can type at the interactive prompt, such as `/help`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Command {
    Help,
    Why,
    Retry,
    Undo,
    Model,
    Audit,
    Memory,
    Wrong,
    Remember,
    Forget,
    Cost,
    Exit,
}

impl Command {
    /// All commands: the word to type, the command, and the description that `/help` shows.
    pub(crate) const ALL: [(&'static str, Self, &'static str); 12] = [
        ("/help", Self::Help, "this list"),
        ("/why", Self::Why, "everything that is known of the last task: what shows it, its cost, why it ended"),
        ("/retry", Self::Retry, "runs the last request again"),
        ("/undo", Self::Undo, "reverts what the last task changed, after asking"),
        ("/model", Self::Model, "the model in use; /model NAME uses another one from now on"),
        ("/audit", Self::Audit, "verifies the audit log and shows what is new in it"),
        ("/memory", Self::Memory, "the newest tasks in memory, what it advises, its rules and notes"),
        (
            "/wrong",
            Self::Wrong,
            "notes that the last result was wrong; /wrong WORDS says why, /wrong undo takes it back",
        ),
        ("/remember", Self::Remember, "/remember TEXT stores a note for requests with similar words"),
        (
            "/forget",
            Self::Forget,
            "deletes what memory holds of the last task, or with /forget WORDS what has these words",
        ),
        ("/cost", Self::Cost, "model calls and tokens of this session"),
        ("/exit", Self::Exit, "leaves; so does Ctrl-D, and Ctrl-C twice"),
    ];

    /// Whole inputs, such as "quit" or "again", that mean a command besides its own word.
    const PHRASES: [(Self, &'static [&'static str]); 5] = [
        (Self::Help, &["help", "?", "/?"]),
        (Self::Exit, &["exit", "quit", "/quit", "bye"]),
        (Self::Retry, &["again", "do it again", "do that again", "once more", "try again", "retry", "same again"]),
        (
            Self::Undo,
            &[
                "undo",
                "undo that",
                "undo it",
                "undo this",
                "put it back",
                "put that back",
                "put them back",
                "bring it back",
                "bring them back",
                "take it back",
                "revert that",
                "revert it",
            ],
        ),
        (Self::Why, &["why", "/details"]),
    ];

    /// The words to type for the commands, such as `/help`.
    pub(crate) fn words() -> [&'static str; 12] {
        Self::ALL.map(|(word, _, _)| word)
    }
}

/// A line typed at the prompt, classified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TypedLine {
    /// An empty or blank line.
    Nothing,
    /// A request to run as a task: the trimmed text.
    Task(String),
    /// A command of the prompt, such as `/help`.
    Command(Command),
    /// The model to use from now on, as it was typed.
    UseModel(String),
    /// A command about memory, with the words behind it.
    Memory(Command, String),
    /// A mistyped command, or a command-line option typed at the prompt; neither is run as a task.
    Mistake(TypingMistake),
}

/// A typing mistake at the prompt, such as an unknown command; the line is explained and not run as a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TypingMistake {
    /// A command followed by other words, although commands take no arguments; holds the command's word.
    TooMuch(&'static str),
    /// A command without the words that it needs; holds the command's word.
    TooLittle(&'static str),
    /// An unknown command, and a similar known command if there is one.
    Unknown(String, Option<&'static str>),
    /// A command-line option, such as `--json`, typed at the prompt.
    Option(String),
}

impl TypingMistake {
    /// What is wrong with the typed line, and what to type instead.
    pub(crate) fn problem_and_remedy(&self) -> (String, String) {
        match self {
            Self::Unknown(word, Some(meant)) => (format!("{word} is no command"), format!("did you mean {meant}?")),
            Self::Unknown(word, None) => {
                let instead = "/help lists them; a request begins with another word".to_owned();
                (format!("{word} is no command"), instead)
            }
            Self::TooLittle(word) => (format!("{word} needs words after it"), format!("type {word} and what to note")),
            Self::TooMuch(word) => (format!("{word} takes nothing after it"), format!("type {word} alone")),
            Self::Option(word) => {
                let instead = format!("it is given when artoo starts: artoo {word} …; see artoo --help");
                (format!("{word} is an option"), instead)
            }
        }
    }
}

/// Classifies a line typed at the prompt. A line that begins like a command or an option is never a task.
pub(crate) fn read(text: &str) -> TypedLine {
    let text = text.trim();
    let (first, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let is_alone = rest.trim().is_empty();
    if first.is_empty() {
        return TypedLine::Nothing;
    }
    let folded = text.trim_end_matches(['.', '!']).to_lowercase();
    if first == "--help" || first == "-h" {
        return TypedLine::Command(Command::Help);
    }
    if let Some((command, _)) = Command::PHRASES.iter().find(|(_, phrases)| phrases.contains(&folded.as_str())) {
        return TypedLine::Command(*command);
    }
    match Command::ALL.iter().find(|(word, _, _)| *word == first) {
        Some((word, Command::Remember, _)) if is_alone => return TypedLine::Mistake(TypingMistake::TooLittle(word)),
        Some((_, command @ (Command::Wrong | Command::Remember | Command::Forget), _)) => {
            return TypedLine::Memory(*command, rest.trim().to_owned());
        }
        Some((_, command, _)) if is_alone => return TypedLine::Command(*command),
        Some((_, Command::Model, _)) => return TypedLine::UseModel(rest.trim().to_owned()),
        Some((word, ..)) => return TypedLine::Mistake(TypingMistake::TooMuch(word)),
        None => {}
    }
    if is_command_like(first) {
        return TypedLine::Mistake(TypingMistake::Unknown(
            first.to_owned(),
            suggest::nearest(first, &Command::words()),
        ));
    }
    if first.trim_start_matches('-').starts_with(|c: char| c.is_ascii_alphabetic()) && first.starts_with('-') {
        return TypedLine::Mistake(TypingMistake::Option(first.to_owned()));
    }
    TypedLine::Task(text.to_owned())
}

/// Whether a line says that the last result was wrong, and nothing else.
pub(crate) fn is_correction(text: &str) -> bool {
    const SENTENCES: [&str; 8] = [
        "wrong",
        "that was wrong",
        "that is wrong",
        "that's wrong",
        "that's not right",
        "that is not right",
        "not right",
        "this is wrong",
    ];
    SENTENCES.contains(&text.trim().trim_end_matches(['.', '!']).replace('’', "'").to_lowercase().as_str())
}

/// Whether a word looks like a command: a slash, then only letters, hyphens and underscores. A path has more slashes or
/// other characters.
fn is_command_like(word: &str) -> bool {
    word.strip_prefix('/').is_some_and(|name| name.chars().all(|c| c.is_alphabetic() || c == '-' || c == '_'))
}

/// Tests of classifying typed lines.
#[cfg(test)]
mod tests {
    use super::{Command, TypedLine, TypingMistake, read};

    /// A typed line that begins like a command or an option is never run as a task.
    #[test]
    fn unknown_commands_and_options_start_no_task() {
        let task = |text: &str| TypedLine::Task(text.to_owned());
        let unknown = |word: &str, meant| TypedLine::Mistake(TypingMistake::Unknown(word.to_owned(), meant));
        for (text, expected) in [
            ("", TypedLine::Nothing),
            (" \n\t", TypedLine::Nothing),
            ("count the files", task("count the files")),
            ("  a\nb  ", task("a\nb")),
            ("/help", TypedLine::Command(Command::Help)),
            (" /cost ", TypedLine::Command(Command::Cost)),
            ("/remember", TypedLine::Mistake(TypingMistake::TooLittle("/remember"))),
            ("/remember use tabs", TypedLine::Memory(Command::Remember, "use tabs".to_owned())),
            ("/wrong", TypedLine::Memory(Command::Wrong, String::new())),
            ("that was wrong", task("that was wrong")),
            ("/exit now", TypedLine::Mistake(TypingMistake::TooMuch("/exit"))),
            ("/hlep", unknown("/hlep", Some("/help"))),
            ("/deploy the site", unknown("/deploy", None)),
            ("/", unknown("/", None)),
            ("/löschen", unknown("/löschen", None)),
            ("--help", TypedLine::Command(Command::Help)),
            ("-h", TypedLine::Command(Command::Help)),
            ("--help me", TypedLine::Command(Command::Help)),
            ("--json", TypedLine::Mistake(TypingMistake::Option("--json".to_owned()))),
            ("-q count", TypedLine::Mistake(TypingMistake::Option("-q".to_owned()))),
            ("help", TypedLine::Command(Command::Help)),
            ("exit", TypedLine::Command(Command::Exit)),
            ("quit", TypedLine::Command(Command::Exit)),
            ("help me find it", task("help me find it")),
            ("/model ollama:q", TypedLine::UseModel("ollama:q".to_owned())),
            ("/model", TypedLine::Command(Command::Model)),
            ("Put it back.", TypedLine::Command(Command::Undo)),
            ("put it back in the folder", task("put it back in the folder")),
            ("again", TypedLine::Command(Command::Retry)),
            ("why is it so", task("why is it so")),
            ("/etc/hosts: how many lines", task("/etc/hosts: how many lines")),
            ("/tmp/a", task("/tmp/a")),
            ("- milk\n- bread", task("- milk\n- bread")),
            ("-3 + 4", task("-3 + 4")),
            ("列出文件", task("列出文件")),
        ] {
            assert_eq!(read(text), expected, "{text:?}");
        }
    }
}
