//! The sentences with which requests are declined, in one module so that they can be read together.

use artoo_proto::Abstention;

use crate::algebra::TypeError;

/// The decline of a request: what was understood, the words that were not, and what to say instead.
pub(crate) fn decline(understood: &str, not_understood: Vec<String>, advice: &str) -> Abstention {
    let remedy = [advice, Abstention::SETUP].join(" ").trim_start().to_owned();
    Abstention { understood: understood.to_owned(), not_understood, remedy, offer: None }
}

/// Advice for a request of too many words.
pub(crate) const TOO_LONG: &str =
    "The request is too long to be read without a language model; say it in one short sentence.";

/// Advice for a request with too many readings.
pub(crate) const TOO_MANY_READINGS: &str = "The request can be read in too many ways; say it in fewer words.";

/// Advice for text with commas that could be separators.
pub(crate) const COMMAS: &str = "Put the text with its commas in quotation marks.";

/// Why a role other than the perceiver and the planner gets no answer.
pub(crate) const JUDGES_NOTHING: &str = "Judging needs a language model.";

/// Why a failed recipe is not replaced by another one.
pub(crate) const ONE_WAY: &str = "I know no other way to do this than the one that failed.";

/// Advice for a verb of an unknown kind of change.
pub(crate) fn unknown_act(verb: &str) -> String {
    format!("I know no change called “{verb}”; I can create, copy, move, rename, pack, unpack and delete files.")
}

/// Advice for a change with a mistyped word.
pub(crate) fn typo(meant: &str) -> String {
    format!("Did you mean “{meant}”? Nothing is changed on a guess; write the word out.")
}

/// Advice for a request with two readings.
pub(crate) fn ambiguous(first: &str, second: &str) -> String {
    format!("The request can mean “{first}” or “{second}”; say which.")
}

/// Advice for a word that is read as a kind of file where a folder is due.
pub(crate) fn kind_or_folder(word: &str) -> String {
    format!("“{word}” is read as a kind of file here; if it is a folder, say “the folder {word}”.")
}

/// Advice for a word that orders other things than the request lists.
pub(crate) fn other_order(word: &str) -> String {
    format!(
        "“{word}” orders other things than these; files are sorted by name, size or date, processes by cpu or memory."
    )
}

/// Advice for a request that is read and that no tool carries out.
pub(crate) fn unsupported(reason: &str) -> String {
    format!("I can read this, but not do it: {reason}.")
}

/// What an offered request changes in the words of the declined one, as a phrase such as “teh” read as “the”.
pub(crate) fn changed(said: &str, with: &str) -> String {
    match with {
        "" => format!("without “{said}”"),
        with if said.is_empty() => format!("with “{}”", with.trim()),
        with if with == said => format!("“{said}” in quotes"),
        with => format!("“{said}” read as “{with}”"),
    }
}

/// Why a request of known words can't be answered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BuildError {
    /// The text could be a file name or content to look for.
    #[error(
        "“{text}” may be a text in files or the name of a file; say “the word {text}” or “files named {text}”, and in which folder"
    )]
    NameOrText { text: String },
    /// Files that one folder has and another lacks are asked for.
    #[error("I can't tell which files of one folder another folder lacks")]
    Lacking,
    /// The draft asks for nothing and changes nothing.
    #[error(
        "I read no question and no change in these words; begin with list, count, show, find, copy, move or delete"
    )]
    NothingAsked,
    /// A feature of the draft is left unused.
    #[error(
        "I know these words, but not what they ask for together; say it in a shorter sentence, what to do first, then which files"
    )]
    Leftover,
    /// Lines are asked for, but no file is named.
    #[error("say of which file")]
    NoFile,
    /// No program of this name is in the folders of `PATH`.
    #[error("no program named {name} is in the folders of your search path (PATH)")]
    NoProgram { name: String },
    /// The path could be a folder or a file, which makes a difference.
    #[error("{path} may be a folder or a file; say “the folder” or “the file” before it")]
    FolderOrFile { path: String },
    /// The question can't be asked of these elements.
    #[error("{question} can't be asked of {of}")]
    Question { question: &'static str, of: &'static str },
    /// A detail is missing, which the text names.
    #[error("say {0}")]
    Incomplete(&'static str),
    /// The request refers to an earlier result that is not known.
    #[error("there is no earlier answer that these words can speak of; name the files or the folder")]
    NothingBefore,
    /// The earlier answer has several elements, and the request speaks of one.
    #[error("the last answer has {0} files, and “it” can be any of them; say which (“the second one”), or name it")]
    SeveralBefore(usize),
    /// The earlier answer has fewer elements than the request counts.
    #[error("the last answer has {0}; say which of them, or name the file")]
    FewerBefore(usize),
    /// A line or column is asked for that a file doesn't have.
    #[error("{name} has {count} {what}")]
    Fewer { name: String, count: usize, what: &'static str },
    /// The query does not type-check.
    #[error("{}", mismatch(.0))]
    Type(#[from] TypeError),
}

/// The sentence why an operator doesn't fit what it is applied to.
fn mismatch(error: &TypeError) -> String {
    match error {
        TypeError::Operand { operator, found } => {
            let found = format!("{found:?}").to_lowercase();
            format!("{operator} is not possible for {found}; say first what is listed or shown, then its order")
        }
        TypeError::Property { property, of } => {
            format!("{of} has no such thing as {property}; say “files” if files are meant")
        }
        TypeError::Missing(what) => format!("say {what}"),
    }
}

impl BuildError {
    /// The error as a sentence.
    pub(crate) fn sentence(&self) -> String {
        let mut said = format!("{self}.");
        if let Some(first) = said.get(..1).map(str::to_uppercase) {
            said.replace_range(..1, &first);
        }
        said
    }
}
