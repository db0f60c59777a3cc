//! The tokens of a command line: quotes and escapes removed, variables and braces expanded.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::str::Chars;

/// Maximum number of words that one brace expansion such as `{a,b}` may give.
const BRACES_MAX: usize = 64;

/// Placeholder in a word for the output of a `$(…)`, `<(…)` or backtick command, which is not known before the run.
pub(crate) const SUBSTITUTION: &str = "$()";

/// A token of a command line: a word, a redirect, a here-document, a substitution, or the end of a simple command.
#[derive(Debug, PartialEq)]
pub(super) enum Token {
    Word(String),
    /// A redirect of the word that follows it.
    Redirect(Redirect),
    /// The text of a here-document.
    Document(String),
    /// A command inside a word, whose output becomes part of the word.
    Substitution(String),
    /// The end of a simple command, with the operator; the doubled operators are `;`.
    End(char),
}

/// The kind of a redirect: input, output or append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Redirect {
    /// `<`
    Input,
    /// `>`
    Output,
    /// `>>`
    Append,
}

impl Redirect {
    /// The operator as it is written in a command line: `<`, `>` or `>>`.
    pub(crate) fn operator(self) -> &'static str {
        match self {
            Self::Input => "<",
            Self::Output => ">",
            Self::Append => ">>",
        }
    }
}

/// Splits a command line into tokens, and adds its assignments to `variables`. An open quote ends with the text.
pub(super) fn tokens(command: &str, variables: &mut BTreeMap<String, String>) -> Vec<Token> {
    let mut lexer = Lexer { chars: command.chars().peekable(), variables, tokens: Vec::new(), word: None };
    lexer.read();
    lexer.tokens
}

/// Splits a command line into tokens, one character at a time.
struct Lexer<'a> {
    chars: Peekable<Chars<'a>>,
    variables: &'a mut BTreeMap<String, String>,
    tokens: Vec<Token>,
    /// The word that is being read.
    word: Option<String>,
}

impl Lexer<'_> {
    /// Reads the command line to its end and collects its tokens.
    fn read(&mut self) {
        // End marks of the here-documents that begin on the next line.
        let mut documents: Vec<String> = Vec::new();
        while let Some(c) = self.chars.next() {
            match c {
                '\n' => {
                    self.end_word();
                    documents.drain(..).for_each(|mark| self.document(&mark));
                    self.tokens.push(Token::End(';'));
                }
                '&' if self.chars.peek() == Some(&'>') => {}
                ';' | '|' | '&' | '(' | ')' => {
                    self.end_word();
                    let is_doubled = !"()".contains(c) && self.chars.next_if_eq(&c).is_some();
                    self.chars.next_if(|next| c == '|' && *next == '&');
                    self.tokens.push(Token::End(if is_doubled { ';' } else { c }));
                }
                '<' | '>' if self.chars.next_if_eq(&'(').is_some() => self.substitution(')'),
                '<' | '>' => documents.extend(self.redirect(c)),
                c if c.is_whitespace() => self.end_word(),
                '#' if self.word.is_none() => while self.chars.next_if(|c| *c != '\n').is_some() {},
                '\'' => {
                    let text = self.chars.by_ref().take_while(|c| *c != '\'');
                    self.word.get_or_insert_default().extend(text);
                }
                '"' => self.double_quoted(),
                '`' => self.substitution('`'),
                '\\' => match self.chars.next() {
                    None | Some('\n') => {}
                    Some(c) => self.word.get_or_insert_default().push(c),
                },
                '$' if self.chars.next_if_eq(&'\'').is_some() => {
                    let text = ansi_quoted(&mut self.chars);
                    self.word.get_or_insert_default().push_str(&text);
                }
                '$' if self.chars.next_if_eq(&'(').is_some() => self.substitution(')'),
                '$' => self.variable(),
                c => self.word.get_or_insert_default().push(c),
            }
        }
        self.end_word();
    }

    /// Ends the current word and adds it as a token; if it is an assignment, it also sets the variable.
    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        if let Some((name, value)) = word.split_once('=').filter(|(name, _)| is_name(name)) {
            self.variables.insert(name.to_owned(), value.to_owned());
        }
        self.tokens.push(Token::Word(word));
    }

    /// Reads a redirect after its first character; returns the end mark of a here-document. Any other redirect to a
    /// file is added as a token and gives `None`.
    fn redirect(&mut self, sign: char) -> Option<String> {
        // A number directly before the operator is a file descriptor.
        if self.word.as_ref().is_some_and(|word| word.chars().all(|c| c.is_ascii_digit())) {
            self.word = None;
        }
        self.end_word();
        let is_doubled = self.chars.next_if_eq(&sign).is_some();
        if sign == '<' && is_doubled && self.chars.next_if_eq(&'<').is_none() {
            self.chars.next_if_eq(&'-');
            while self.chars.next_if_eq(&' ').is_some() {}
            let mut mark = String::new();
            while let Some(c) = self.chars.next_if(|c| !c.is_whitespace() && !";|&()<>".contains(*c)) {
                mark.extend(Some(c).filter(|c| !"'\"\\".contains(*c)));
            }
            return Some(mark);
        }
        if sign == '<' && is_doubled {
            return None;
        }
        let is_copy = self.chars.next_if(|c| *c == '&' || *c == '|' && sign == '>') == Some('&');
        let is_descriptor = |c: &char| c.is_ascii_digit() || *c == '-';
        if is_copy && self.chars.peek().is_some_and(is_descriptor) {
            while self.chars.next_if(is_descriptor).is_some() {}
            return None;
        }
        self.tokens.push(Token::Redirect(match (sign, is_doubled) {
            ('<', _) => Redirect::Input,
            (_, true) => Redirect::Append,
            (_, false) => Redirect::Output,
        }));
        None
    }

    /// Reads the text of a here-document up to the line that is its end mark.
    fn document(&mut self, mark: &str) {
        let mut text = String::new();
        while self.chars.peek().is_some() {
            let line: String = self.chars.by_ref().take_while(|c| *c != '\n').collect();
            if line.trim_start_matches('\t') == mark {
                break;
            }
            text.push_str(&line);
            text.push('\n');
        }
        self.tokens.push(Token::Document(text));
    }

    /// Reads the command of a `$(…)`, `<(…)` or backtick substitution up to its closing sign as a token of its own.
    fn substitution(&mut self, close: char) {
        let (mut depth, mut text) = (0_usize, String::new());
        let mut quote = None;
        while let Some(c) = self.chars.next() {
            match (quote, c) {
                (None, c) if c == close && depth == 0 => break,
                (None, '(') => depth += 1,
                (None, ')') => depth = depth.saturating_sub(1),
                (None, '\'' | '"') => quote = Some(c),
                (Some(open), c) if open == c => quote = None,
                _ => {}
            }
            text.push(c);
            if c == '\\' && quote != Some('\'') {
                text.extend(self.chars.next());
            }
        }
        self.tokens.push(Token::Substitution(text));
        self.word.get_or_insert_default().push_str(SUBSTITUTION);
    }

    /// Reads the rest of a text in double quotes into the current word.
    fn double_quoted(&mut self) {
        self.word.get_or_insert_default();
        while let Some(c) = self.chars.next() {
            match c {
                '"' => return,
                '`' => self.substitution('`'),
                '$' if self.chars.next_if_eq(&'(').is_some() => self.substitution(')'),
                '$' => self.variable(),
                '\\' => match self.chars.next() {
                    Some(c @ ('"' | '\\' | '$' | '`')) => self.word.get_or_insert_default().push(c),
                    Some('\n') | None => {}
                    Some(c) => self.word.get_or_insert_default().extend(['\\', c]),
                },
                c => self.word.get_or_insert_default().push(c),
            }
        }
    }

    /// Appends the value of a `$NAME` variable to the word; an unknown variable stays as it is written.
    fn variable(&mut self) {
        let is_braced = self.chars.next_if_eq(&'{').is_some();
        let mut name = String::new();
        while let Some(c) = self.chars.next_if(|c| c.is_ascii_alphanumeric() || *c == '_') {
            name.push(c);
        }
        if is_braced {
            // Operators on the value are ignored.
            let _operator: String = self.chars.by_ref().take_while(|c| *c != '}').collect();
        }
        let value = self.variables.get(&name).cloned().unwrap_or(format!("${name}"));
        self.word.get_or_insert_default().push_str(&value);
    }
}

/// Whether a text has only letters, digits and underscores, as the name of a shell variable has.
pub(super) fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The text of `$'…'`, its escapes decoded.
fn ansi_quoted(chars: &mut Peekable<Chars<'_>>) -> String {
    let mut bytes = Vec::new();
    while let Some(c) = chars.next() {
        match c {
            '\'' => break,
            '\\' => match chars.next() {
                Some('n') => bytes.push(b'\n'),
                Some('t') => bytes.push(b'\t'),
                Some('x') => bytes.extend(coded(chars, 16, 2).and_then(|code| u8::try_from(code).ok())),
                Some(kind @ ('u' | 'U')) => {
                    let code = coded(chars, 16, if kind == 'u' { 4 } else { 8 });
                    let c = code.and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER);
                    bytes.extend(c.encode_utf8(&mut [0; 4]).bytes());
                }
                Some(first @ '0'..='7') => {
                    let rest = coded(chars, 8, 2);
                    let digits = first.to_digit(8).unwrap_or_default();
                    let code = rest.map_or(digits, |rest| digits * 64 + rest);
                    bytes.push(u8::try_from(code & 0xff).unwrap_or_default());
                }
                Some(c) => bytes.extend(c.encode_utf8(&mut [0; 4]).bytes()),
                None => break,
            },
            c => bytes.extend(c.encode_utf8(&mut [0; 4]).bytes()),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The number that an escape sequence such as `\x41` gives: at most `max` digits in this radix; `None` without digits.
fn coded(chars: &mut Peekable<Chars<'_>>, radix: u32, max: usize) -> Option<u32> {
    let mut digits = String::new();
    while digits.len() < max
        && let Some(c) = chars.next_if(|c| c.is_digit(radix))
    {
        digits.push(c);
    }
    u32::from_str_radix(&digits, radix).ok()
}

/// The words that `a{b,c}d` expands to, sorted; the word itself without such braces, one partly expanded word if too
/// many.
pub(super) fn braced(word: &str) -> Vec<String> {
    let mut open = vec![word.to_owned()];
    let mut done = Vec::new();
    while let Some(word) = open.pop() {
        if done.len() + open.len() > BRACES_MAX {
            return vec![word];
        }
        let inner = word.rfind('{').and_then(|start| {
            let (before, rest) = word.split_at(start);
            let (inside, after) = rest.get(1..)?.split_once('}')?;
            inside.contains(',').then_some((before, inside, after))
        });
        match inner {
            Some((before, inside, after)) => {
                open.extend(inside.split(',').map(|part| format!("{before}{part}{after}")));
            }
            None => done.push(word),
        }
    }
    done.sort();
    done
}
