//! The part of the shell's language that can be judged, as a tree. Everything outside of it is a [`Doubt`].

mod script;
mod witness;
mod words;

use std::ops::Range;

use artoo_proto::escape;

pub(super) use script::parse;

/// Longest command that is proven, in bytes; longer ones are asked about, since nobody reads them either.
#[doc(alias = "limit")]
pub(super) const PROVABLE_MAX_BYTES: usize = 8192;

/// Deepest nesting of groups, loops and substitutions that is proven; keeps the reader's own stack small.
pub(super) const DEPTH_MAX: usize = 16;

/// Alternatives one word may have in braces; a bomb of braces ends here.
pub(super) const BRACES_MAX: usize = 64;

/// Why a text is not a script that can be judged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Doubt {
    #[error("there is no command")]
    Empty,
    #[error("the command is longer than {PROVABLE_MAX_BYTES} bytes")]
    TooLong,
    #[error("the command is nested deeper than {DEPTH_MAX} levels")]
    TooDeep,
    #[error("{} is shell syntax that is not judged", escape::one_line(&format!("`{c}`")))]
    Syntax {
        /// The character it begins with.
        c: char,
    },
    #[error("{} is not judged", escape::one_line(&format!("`{word}`")))]
    Reserved {
        /// A word or form of the language.
        word: String,
    },
    #[error("{} does not show as what it is", c.escape_unicode())]
    Invisible {
        /// The character.
        c: char,
    },
    #[error("blanks push a part of the command out of sight")]
    Padding,
    #[error("a quote, bracket or block is not closed")]
    Unclosed,
    #[error("~ is followed by a name or stands inside a word")]
    Tilde,
    #[error("two readers of the command disagree about it")]
    Disagreement,
}

/// Commands one after the other.
pub(super) type List = Vec<Chain>;

/// Pipelines joined by `&&` and `||`.
#[derive(Debug, Clone)]
pub(super) struct Chain {
    pub(super) first: Pipeline,
    pub(super) rest: Vec<(Join, Pipeline)>,
}

/// What joins two pipelines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Join {
    And,
    Or,
}

/// Stages joined by pipes; a leading `!` changes nothing that is judged and is left out.
#[derive(Debug, Clone)]
pub(super) struct Pipeline {
    pub(super) stages: Vec<Stage>,
}

/// A command with its redirections.
#[derive(Debug, Clone)]
pub(super) struct Stage {
    pub(super) body: Body,
    pub(super) redirects: Vec<Redirect>,
}

/// What a stage is.
#[derive(Debug, Clone)]
pub(super) enum Body {
    Simple(Simple),
    /// `{ …; }`
    Group(List),
    /// `( … )`
    Subshell(List),
    /// `if`: conditions and branches in the order they are written.
    If(Vec<List>),
    For {
        name: String,
        words: Vec<Word>,
        body: List,
    },
    While {
        condition: List,
        body: List,
    },
    /// `[[ … ]]`
    Test(Vec<Word>),
}

/// Assignments and words.
#[derive(Debug, Clone, Default)]
pub(super) struct Simple {
    pub(super) assignments: Vec<(String, Word)>,
    pub(super) words: Vec<Word>,
}

/// One redirection.
#[derive(Debug, Clone)]
pub(super) enum Redirect {
    /// `< file`
    Input(Word),
    /// `<<`, `<<<`: text that is data; expansions in it are judged as words.
    Text(Option<Word>),
    /// `>`, `>>`, `&>`, `&>>`
    Output(Word),
    /// `2>&1`: a stream that is there already.
    Same,
}

/// One word.
#[derive(Debug, Clone, Default)]
pub(super) struct Word {
    pub(super) parts: Vec<Part>,
    /// Where it stands in the text.
    pub(super) span: Range<usize>,
}

/// A part of a word.
#[derive(Debug, Clone)]
pub(super) enum Part {
    Text {
        text: String,
        quoted: bool,
    },
    /// `*`, `?`, `[…]`
    Wild(String),
    Variable {
        name: String,
        quoted: bool,
    },
    Substitution {
        list: List,
        quoted: bool,
    },
    /// Decimal digits that are not known: `$((…))`, `$?`.
    Number,
    /// `{a,b}`, `{1..3}`
    Braces(Vec<String>),
    /// `~` at the start
    Home,
}

impl Word {
    /// The text of a word without any expansion, quoted or not.
    pub(super) fn literal(&self) -> Option<String> {
        let mut whole = String::new();
        for part in &self.parts {
            match part {
                Part::Text { text, .. } => whole.push_str(text),
                Part::Wild(_)
                | Part::Variable { .. }
                | Part::Substitution { .. }
                | Part::Number
                | Part::Braces(_)
                | Part::Home => return None,
            }
        }
        Some(whole)
    }

    /// The text of a word that is spelled as it is meant: nothing quoted, nothing expanded.
    pub(super) fn plain(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Text { text, quoted: false }] => Some(text),
            _ => None,
        }
    }
}

/// Longest run of blanks inside a line: a longer one moves what follows out of a window.
const BLANKS_MAX: usize = 64;

/// What in a text would show otherwise than it runs.
fn text_doubt(text: &str) -> Result<(), Doubt> {
    if text.trim().is_empty() {
        return Err(Doubt::Empty);
    }
    let mut blanks = 0;
    for c in text.chars() {
        blanks = if c == ' ' || c == '\t' { blanks + 1 } else { 0 };
        if blanks > BLANKS_MAX {
            return Err(Doubt::Padding);
        }
        let is_odd_blank = c.is_whitespace() && !matches!(c, ' ' | '\t' | '\n');
        let is_plain = c.is_ascii() || c.is_alphanumeric();
        if is_odd_blank
            || is_blank_letter(c)
            || (!is_plain && c != '\n' && escape::visible(c.encode_utf8(&mut [0; 4])) != c.to_string())
        {
            return Err(Doubt::Invisible { c });
        }
        if c.is_ascii_control() && !matches!(c, '\t' | '\n') {
            return Err(Doubt::Invisible { c });
        }
    }
    Ok(())
}

/// Letters and marks that show as nothing.
const fn is_blank_letter(c: char) -> bool {
    matches!(c,
        '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{2065}' | '\u{2800}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{ffa0}' | '\u{e0100}'..='\u{e01ef}' | '\u{200d}')
}
