//! Splits a request into tokens: quoted text, paths, patterns, extensions, numbers, dates, words.

use artoo_proto::Timestamp;
use unicode_normalization::UnicodeNormalization as _;

use crate::concept::Concept;
use crate::lexicon::{Meaning, lexicon};

/// A token of a request.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Token {
    /// The text as typed; for quoted text, only the part between the quotation marks.
    pub(crate) raw: String,
    /// The text normalised for lexicon lookup: Unicode NFKC, in lower case.
    pub(crate) folded: String,
    pub(crate) class: Class,
    /// The byte range of the token in the request.
    pub(crate) span: std::ops::Range<usize>,
}

/// The kind of a token.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Class {
    Word,
    /// A decimal number.
    Number(Decimal),
    /// An ordinal such as "3rd".
    Ordinal(u64),
    /// A date such as `2024-03-01`.
    Date(jiff::civil::Date),
    /// A point in time in RFC 3339.
    Instant(Timestamp),
    /// Text in quotation marks.
    Quoted,
    /// A path with slashes.
    Path,
    /// A file name with an extension.
    FileName,
    /// A pattern with wildcards.
    Glob,
    /// A file extension with its dot.
    Extension,
    Comma,
    /// A punctuation mark that ends a sentence.
    Stop,
    /// A semicolon, which separates two steps.
    Step,
    /// An opening bracket.
    Open,
    /// A closing bracket.
    Close,
    /// An environment variable written `$NAME`; the token's text has no `$`.
    Variable,
    /// Text that the grammar doesn't use.
    Symbol,
}

/// An exact decimal number: `mantissa / 10^scale`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Decimal {
    /// The digits of the number as an integer.
    pub(crate) mantissa: u64,
    /// The number of decimal places.
    pub(crate) scale: u32,
}

impl Decimal {
    /// The number as an integer; `None` if it was written with decimal places.
    pub(crate) fn whole(self) -> Option<u64> {
        (self.scale == 0).then_some(self.mantissa)
    }

    /// The number multiplied by `unit`, rounded down; `None` on overflow.
    pub(crate) fn times(self, unit: u64) -> Option<u64> {
        let scale = 10u128.checked_pow(self.scale)?;
        u64::try_from(u128::from(self.mantissa) * u128::from(unit) / scale).ok()
    }
}

/// Opening quotation marks, each with its closing mark.
const QUOTES: [(char, char); 6] = [('"', '"'), ('\'', '\''), ('`', '`'), ('“', '”'), ('‘', '’'), ('«', '»')];

/// Splits a request into tokens. Never fails: text that can't be read becomes [`Class::Symbol`].
pub(crate) fn lex(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let skipped = rest.len() - rest.trim_start().len();
        if skipped > 0 {
            at += skipped;
            continue;
        }
        if rest.starts_with("(") && rest.get(1..).is_some_and(|inner| quoted(inner).is_some()) {
            push(&mut tokens, "(", Class::Open, at..at + 1);
            at += 1;
            continue;
        }
        at += match quoted(rest) {
            Some((inner, len)) => {
                push(&mut tokens, inner, Class::Quoted, at..at + len);
                len
            }
            None => {
                let len = chunk_len(rest);
                let is_last = rest.get(len..).is_none_or(|tail| tail.trim().is_empty());
                chunk(&mut tokens, rest.get(..len).unwrap_or(rest), at, is_last);
                len
            }
        };
    }
    tokens
}

/// Short forms of words, each before the word it is looked up as.
const SHORT_FORMS: &str = "u you, r are, im i'm, whats what's, hows how's, wheres where's, thats that's, dont don't, doesnt doesn't, cant can't, havent haven't, hasnt hasn't, didnt didn't, isnt isn't, arent aren't, wasnt wasn't, ive i've, plz please, thx thanks";

/// Appends a token of this class to a list.
fn push(tokens: &mut Vec<Token>, raw: &str, class: Class, span: std::ops::Range<usize>) {
    let folded = raw.nfkc().collect::<String>().to_lowercase().replace('’', "'");
    let mut forms = SHORT_FORMS.split(", ").filter_map(|form| form.split_once(' '));
    let whole = forms.find(|(short, _)| class == Class::Word && folded == *short).map(|(_, word)| word.to_owned());
    let folded = whole.unwrap_or(folded);
    tokens.push(Token { raw: raw.to_owned(), folded, class, span });
}

/// The quoted text at the start of `rest`, and its length in bytes with the quotation marks; `None` if there is none.
fn quoted(rest: &str) -> Option<(&str, usize)> {
    let opening = rest.chars().next()?;
    let (_, closing) = QUOTES.iter().find(|(open, _)| *open == opening)?;
    let from = opening.len_utf8();
    let inside = rest.get(from..)?;
    inside.char_indices().filter(|(_, c)| c == closing).find_map(|(end, _)| {
        let after = inside.get(end + closing.len_utf8()..)?;
        let ends_here = after.trim_start_matches([',', '.', ';', ':', '!', '?', ')']);
        (end > 0 && (ends_here.is_empty() || ends_here.starts_with(char::is_whitespace)))
            .then(|| (inside.get(..end).unwrap_or_default(), from + end + closing.len_utf8()))
    })
}

/// The number of bytes before the next space; a backslash before a space escapes the space.
fn chunk_len(rest: &str) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices() {
        if c.is_whitespace() && !escaped {
            return at;
        }
        escaped = c == '\\' && !escaped;
    }
    rest.len()
}

/// Appends the tokens of a text without spaces: its brackets, its content and its punctuation.
fn chunk(tokens: &mut Vec<Token>, chunk: &str, at: usize, is_last: bool) {
    let mut core = chunk;
    let mut start = at;
    while let Some(rest) = core.strip_prefix('(') {
        push(tokens, "(", Class::Open, start..start + 1);
        core = rest;
        start += 1;
    }
    let mut marks = Vec::new();
    while let Some(mark) = core.chars().last().filter(|_| !core.is_empty()) {
        let is_pattern = core.contains('*') || core.contains("??") || core.contains('[');
        let strip = match mark {
            ',' | ';' | ':' | '!' => true,
            '?' => is_last || !is_pattern,
            ')' => !core.contains('('),
            // A full stop after a quoted text is no path.
            '.' if core == "." && tokens.last().is_some_and(|token| token.span.end == start) => true,
            '.' => !(core == "." || core == ".." || core.ends_with("/.") || core.ends_with("..")),
            _ => false,
        };
        if !strip {
            break;
        }
        core = core.strip_suffix(mark).unwrap_or_default();
        marks.push((mark, start + core.len()));
    }
    if !core.is_empty() {
        pieces(tokens, core, start);
    }
    for (mark, position) in marks.into_iter().rev() {
        let class = match mark {
            ',' => Class::Comma,
            ';' => Class::Step,
            ')' => Class::Close,
            _ => Class::Stop,
        };
        push(tokens, &mark.to_string(), class, position..position + 1);
    }
}

/// Appends the tokens of a text that consists of several ("jpg,png", ">10MB", "5-10", "sub-folders").
fn pieces(tokens: &mut Vec<Token>, core: &str, at: usize) {
    let comparison = core.len() - core.trim_start_matches(['<', '>', '=', '≥', '≤']).len();
    if comparison > 0 {
        let (sign, rest) = core.split_at(comparison);
        let plain = match sign {
            "≥" => ">=",
            "≤" => "<=",
            other => other,
        };
        push(tokens, plain, Class::Word, at..at + comparison);
        if !rest.is_empty() {
            pieces(tokens, rest, at + comparison);
        }
        return;
    }
    if number(tokens, core, at) {
        return;
    }
    let is_path = core.contains('/') || core.starts_with('~');
    if core.contains(',') && !is_path && !core.contains(['{', '[']) {
        let mut offset = at;
        for (index, part) in core.split(',').enumerate() {
            if index > 0 {
                push(tokens, ",", Class::Comma, offset - 1..offset);
            }
            if !part.is_empty() {
                pieces(tokens, part, offset);
            }
            offset += part.len() + 1;
        }
        return;
    }
    let folded = core.to_lowercase();
    if core.contains('-') && !lexicon().knows(&folded) && !is_path && !core.contains('.') {
        let parts: Vec<&str> = core.split('-').collect();
        // "my-tool" is a name, and so is what is "called fix-login".
        let is_called = |last: &Token| matches!(last.folded.as_str(), "called" | "named" | "branch" | "tag");
        let is_name = ["a", "an", "the", "my", "our"].iter().any(|article| folded.starts_with(&format!("{article}-")))
            || tokens.last().is_some_and(is_called);
        if !is_name && parts.iter().all(|part| lexicon().knows(&part.to_lowercase())) {
            let mut offset = at;
            for part in parts {
                push(tokens, part, Class::Word, offset..offset + part.len());
                offset += part.len() + 1;
            }
            return;
        }
    }
    let (raw, class) = classify(core);
    push(tokens, &raw, class, at..at + core.len());
}

/// Appends the tokens of a date or a number with its suffix ("10MB", "3rd", "5-10"); `false`, with nothing appended,
/// for other text.
fn number(tokens: &mut Vec<Token>, core: &str, at: usize) -> bool {
    if let Some(class) = moment(core) {
        push(tokens, core, class, at..at + core.len());
        return true;
    }
    let digits = core.len() - core.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.' || c == ',').len();
    let (head, suffix) = core.split_at(digits);
    let Some(value) = decimal(head) else { return false };
    let folded = suffix.to_lowercase();
    let number = |tokens: &mut Vec<Token>| push(tokens, head, Class::Number(value), at..at + digits);
    if suffix.is_empty() {
        number(tokens);
        return true;
    }
    if lexicon().knows(&core.to_lowercase()) {
        push(tokens, core, Class::Word, at..at + core.len());
        return true;
    }
    if matches!(folded.as_str(), "st" | "nd" | "rd" | "th")
        && let Some(ordinal) = value.whole()
    {
        push(tokens, core, Class::Ordinal(ordinal), at..at + core.len());
        return true;
    }
    let is_unit = |meaning: &Meaning| matches!(meaning, Meaning::Concept(Concept::Bytes(_) | Concept::TimeUnit(_)));
    let glued = suffix.trim_start_matches('-');
    if lexicon().meanings(&glued.to_lowercase()).iter().any(is_unit) {
        number(tokens);
        push(tokens, glued, Class::Word, at + core.len() - glued.len()..at + core.len());
        return true;
    }
    if let Some(second) = suffix.strip_prefix(['-', '–'])
        && let Some(to) = decimal(second)
    {
        number(tokens);
        push(tokens, "-", Class::Word, at + digits..at + core.len() - second.len());
        push(tokens, second, Class::Number(to), at + core.len() - second.len()..at + core.len());
        return true;
    }
    false
}

/// Parses a number such as `12`, `1.5` or `1,000`.
fn decimal(text: &str) -> Option<Decimal> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if text.ends_with('.') || whole.is_empty() || fraction.contains(['.', ',']) {
        return None;
    }
    let mut groups = whole.split(',');
    let first = groups.next()?;
    let mut digits = first.to_owned();
    for group in groups {
        if group.len() != 3 || first.len() > 3 {
            return None;
        }
        digits.push_str(group);
    }
    digits.push_str(fraction);
    if !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    Some(Decimal { mantissa: digits.parse().ok()?, scale: u32::try_from(fraction.len()).ok()? })
}

/// Parses a date such as `2024-03-01`, or an RFC 3339 timestamp.
fn moment(core: &str) -> Option<Class> {
    if core.len() == 10 && core.chars().filter(|c| *c == '-').count() == 2 {
        return core.parse().ok().map(Class::Date);
    }
    if core.len() > 10 && core.contains(['T', 't']) && core.starts_with(|c: char| c.is_ascii_digit()) {
        return Timestamp::parse(core).ok().map(Class::Instant);
    }
    None
}

/// The text and the class of a run of characters that is a single token.
fn classify(core: &str) -> (String, Class) {
    let plain = core.replace("\\ ", " ");
    let odd = |c: char| {
        matches!(c, '|' | '<' | '>' | ';' | '$' | '"' | '`' | '\\' | '=' | '^' | '{' | '}' | '%' | '!')
            || c.is_control()
    };
    let is_path = plain.contains('/') || plain.starts_with('~') || plain == "." || plain == "..";
    let folded = plain.to_lowercase();
    if let Some(name) = variable(&plain) {
        return (name.to_owned(), Class::Variable);
    }
    let class = if plain.starts_with(char::is_uppercase) && lexicon().is_file_name(&folded) {
        Class::FileName
    } else if lexicon().knows(&folded) {
        Class::Word
    } else if plain.contains("://") || plain.chars().any(|c| odd(c) && !(c == '=' && is_path)) {
        Class::Symbol
    } else if is_path {
        Class::Path
    } else if plain.contains(' ') {
        Class::FileName
    } else if plain.contains(['*', '?', '[']) {
        Class::Glob
    } else if plain.len() > 1 && plain.starts_with('.') && plain.chars().nth(1).is_some_and(char::is_alphanumeric) {
        Class::Extension
    } else if plain.starts_with(char::is_alphanumeric) || plain.starts_with('_') {
        let rest_is_name = plain
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '+' | '.' | '\'' | '’' | '(' | ')' | '@' | ':'));
        match (rest_is_name, plain.contains('.')) {
            (true, true) => Class::FileName,
            (true, false) => Class::Word,
            (false, _) => Class::Symbol,
        }
    } else {
        Class::Symbol
    };
    (plain, class)
}

/// The name of an environment variable written `$NAME` or `${NAME}`.
fn variable(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('$')?;
    let name = inner.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or(inner);
    let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    (starts && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')).then_some(name)
}
