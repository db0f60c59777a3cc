//! A command line as words, for the one form that needs no shell: plain words, quoted or not. All else is doubt.

use artoo_proto::escape;

/// Longest command that is proven; longer ones are asked about.
const PROVABLE_MAX_BYTES: usize = 4096;

/// Why a command is not simply a program with words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Doubt {
    #[error("there is no command")]
    Empty,
    #[error("the command is longer than {PROVABLE_MAX_BYTES} bytes")]
    TooLong,
    #[error("{} is shell syntax", escape::one_line(&format!("`{c}`")))]
    Syntax { c: char },
    #[error("a quote is not closed")]
    OpenQuote,
    #[error("the program's name is quoted, assigned to or not plain")]
    OddName,
    #[error("~ is followed by a name or stands inside a word")]
    Tilde,
}

/// One word as the program would get it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) text: String,
    quoted: bool,
}

/// The words of a command; a leading `~/` becomes the home folder.
pub(crate) fn words(command: &str, home: &str) -> Result<Vec<Word>, Doubt> {
    if command.len() > PROVABLE_MAX_BYTES {
        return Err(Doubt::TooLong);
    }
    let mut words: Vec<Word> = Vec::new();
    let mut current: Option<Word> = None;
    let mut chars = command.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' => words.extend(current.take()),
            '\'' | '"' => {
                let word = current.get_or_insert_with(Word::empty);
                word.quoted = true;
                quoted(c, &mut chars, &mut word.text)?;
            }
            '~' if current.is_none() => {
                let rest = chars.as_str();
                if !(rest.is_empty() || rest.starts_with(['/', ' ', '\t'])) {
                    return Err(Doubt::Tilde);
                }
                current = Some(Word { text: home.trim_end_matches('/').to_owned(), quoted: false });
            }
            '~' => return Err(Doubt::Tilde),
            c if is_plain(c) => current.get_or_insert_with(Word::empty).text.push(c),
            c => return Err(Doubt::Syntax { c }),
        }
    }
    words.extend(current);
    let first = words.first().ok_or(Doubt::Empty)?;
    let plain_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+' | '/');
    if first.quoted || first.text.is_empty() || !first.text.chars().all(plain_name) {
        return Err(Doubt::OddName);
    }
    Ok(words)
}

impl Word {
    fn empty() -> Self {
        Self { text: String::new(), quoted: false }
    }
}

/// Takes characters up to the closing quote.
fn quoted(quote: char, chars: &mut std::str::Chars<'_>, text: &mut String) -> Result<(), Doubt> {
    for c in chars.by_ref() {
        match c {
            c if c == quote => return Ok(()),
            // Live inside double quotes.
            '$' | '`' | '\\' | '!' if quote == '"' => return Err(Doubt::Syntax { c }),
            c if c == ' ' || c.is_ascii_graphic() || is_letter(c) => text.push(c),
            c => return Err(Doubt::Syntax { c }),
        }
    }
    Err(Doubt::OpenQuote)
}

/// What means nothing to any shell, in any place of a word.
fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | ',' | ':' | '+' | '@' | '%' | '=') || is_letter(c)
}

/// Letters, digits and marks beyond ASCII: file names are written in them. Blanks and format characters are not.
fn is_letter(c: char) -> bool {
    !c.is_ascii() && (c.is_alphanumeric() || matches!(c, '\u{300}'..='\u{36f}' | '\u{3099}' | '\u{309a}'))
}

/// Parts of a command that may be paths, for a command that could not be read as words: best effort, never proof.
///
/// Quoted parts are taken whole and in pieces, since a quote may hold one name with blanks or a command of its own.
pub(crate) fn path_like(command: &str) -> Vec<String> {
    let between_quotes = command.split(['\'', '"']).skip(1).step_by(2);
    let pieces = command.split(|c: char| c.is_whitespace() || "|&;<>()`'\"$=".contains(c));
    let mut parts: Vec<String> = Vec::new();
    for part in pieces.chain(between_quotes) {
        let is_new = !part.is_empty() && !part.starts_with('-') && !parts.iter().any(|known| known == part);
        if is_new {
            parts.push(part.to_owned());
        }
    }
    parts
}
