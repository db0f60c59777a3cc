//! `awk`: a program is proven if it starts nothing, writes nowhere and opens no file but its operands.

use super::judge::{Judge, State};
use super::objection::Objection;
use super::options::{self, Order};
use super::programs::{Operands, Program};
use super::scene::Use;
use super::value::{Arg, Stream, Value};

static AWK: Program =
    Program::new("awk", "", "Fv", "field-separator= assign= posix traditional sandbox csv", Operands::Text);

/// Words that reach outside of the text: commands, files, the environment, the list of files.
const OUTWARD: [&str; 8] = ["system", "getline", "ENVIRON", "ARGV", "ARGC", "PROCINFO", "SYMTAB", "FUNCTAB"];

/// Places where a slash may mean a division or begin an expression; both are judged, up to this many.
const SLASHES_MAX: usize = 4;

/// Judges `awk`.
pub(super) fn judge(judge: &mut Judge<'_>, state: &State, arguments: &[Arg]) -> Result<Stream, Objection> {
    let parsed = options::parse(&AWK, arguments, Order::OptionsFirst)?;
    let mut operands = parsed.operands.iter();
    let program = operands.next().and_then(|word| word.text());
    let program = program.ok_or_else(|| Objection::opaque("the program of awk is not known before it runs"))?;
    must_be_harmless(program)?;
    for operand in operands {
        // `name=value` sets a variable, everything else is read.
        let is_assignment = operand.text().and_then(|text| text.split_once('=')).is_some_and(|(name, _)| is_name(name));
        if is_assignment {
            continue;
        }
        if matches!(operand.value, Value::Unknown { .. }) {
            return Err(Objection::reveals("awk opens files whose names are not known before it runs"));
        }
        judge.reads(state, operand, Use::Content)?;
    }
    Ok(Stream::Text)
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Objects to a program that is not proven harmless.
fn must_be_harmless(program: &str) -> Result<(), Objection> {
    if let Some(word) = OUTWARD.iter().find(|word| program.contains(**word)) {
        return Err(Objection::opaque(format!("awk with {word} may run commands or read what was not named")));
    }
    if program.contains(['@', '`', '\r']) {
        return Err(Objection::opaque("awk with an indirect call or a directive"));
    }
    let chars: Vec<char> = program.chars().collect();
    Tokens { chars: &chars, at: 0, before: Before::Operator, output: None, brackets: 0, slashes: SLASHES_MAX }.judge()
}

/// What stood before a place, as far as a slash there depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    /// A slash begins an expression.
    Operator,
    /// A slash divides.
    Value,
    /// It may be either.
    Unclear,
}

#[derive(Clone, Copy)]
struct Tokens<'a> {
    chars: &'a [char],
    at: usize,
    before: Before,
    /// Inside of `print` or `printf`: how many brackets were open at its begin.
    output: Option<usize>,
    brackets: usize,
    slashes: usize,
}

impl Tokens<'_> {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn judge(mut self) -> Result<(), Objection> {
        while let Some(c) = self.peek(0) {
            match c {
                '"' => {
                    self.quoted('"')?;
                    self.before = Before::Value;
                }
                '#' => self.skip_line(),
                '/' => self.slash()?,
                c if c.is_ascii_alphabetic() || c == '_' => self.word(),
                c if c.is_ascii_digit() || c == '.' => {
                    self.at += 1;
                    self.before = Before::Value;
                }
                c => self.punctuation(c)?,
            }
        }
        Ok(())
    }

    fn skip_line(&mut self) {
        while self.peek(0).is_some_and(|c| c != '\n') {
            self.at += 1;
        }
    }

    fn quoted(&mut self, end: char) -> Result<(), Objection> {
        self.at += 1;
        loop {
            match self.peek(0) {
                Some(c) if c == end => {
                    self.at += 1;
                    return Ok(());
                }
                Some('\\') if self.peek(1).is_some_and(|c| c != '\n') => self.at += 2,
                None | Some('\n' | '\\') => return Err(unproven()),
                Some(_) => self.at += 1,
            }
        }
    }

    /// Judges both readings where a slash may be either.
    fn slash(&mut self) -> Result<(), Objection> {
        if self.before == Before::Unclear {
            self.slashes = self.slashes.checked_sub(1).ok_or_else(unproven)?;
            let mut divided = *self;
            divided.at += 1;
            divided.before = Before::Operator;
            divided.judge()?;
        }
        if self.before == Before::Value {
            self.at += 1;
            self.before = Before::Operator;
            return Ok(());
        }
        let begun = *self;
        // If it can't be an expression, the other reading was the only one, and it has been judged.
        if let Err(objection) = self.quoted('/') {
            if begun.before != Before::Unclear {
                return Err(objection);
            }
            self.at = self.chars.len();
            return Ok(());
        }
        // A slash in a set ends the expression in one dialect and not in the other.
        let inside = self.chars.get(begun.at..self.at).unwrap_or_default();
        let open = inside.iter().filter(|c| **c == '[').count();
        if open > inside.iter().filter(|c| **c == ']').count() {
            return Err(unproven());
        }
        self.before = Before::Value;
        Ok(())
    }

    fn word(&mut self) {
        let begin = self.at;
        while self.peek(0).is_some_and(|c| c.is_ascii_alphanumeric() || c == '_') {
            self.at += 1;
        }
        let word: String = self.chars.get(begin..self.at).unwrap_or_default().iter().collect();
        let is_keyword = matches!(
            word.as_str(),
            "print" | "printf" | "in" | "return" | "else" | "do" | "case" | "if" | "while" | "for" | "BEGIN" | "END"
        );
        self.before = if is_keyword { Before::Operator } else { Before::Value };
        if word == "print" || word == "printf" {
            self.output = Some(self.brackets);
        }
    }

    fn punctuation(&mut self, c: char) -> Result<(), Objection> {
        self.at += 1;
        match c {
            '|' if self.peek(0) == Some('|') => {
                self.at += 1;
                self.before = Before::Operator;
            }
            '|' => return Err(Objection::opaque("awk with a pipe runs a command")),
            '>' if self.output.is_some_and(|brackets| self.brackets <= brackets) => return self.redirected(),
            '(' | '[' => {
                self.brackets += 1;
                self.before = Before::Operator;
            }
            ')' | ']' => {
                self.brackets = self.brackets.checked_sub(1).ok_or_else(unproven)?;
                self.before = if c == ')' { Before::Unclear } else { Before::Value };
            }
            ';' | '}' => {
                self.output = None;
                self.before = Before::Operator;
            }
            '+' | '-' if self.peek(0) == Some(c) => {
                self.at += 1;
                self.before = Before::Unclear;
            }
            // A line break does not end every statement, so it ends none here.
            ' ' | '\t' | '\n' => {
                if c == '\n' && self.before != Before::Operator {
                    self.before = Before::Unclear;
                }
            }
            '\\' if self.peek(0) == Some('\n') => self.at += 1,
            '$' | '{' | ',' | '!' | '~' | '<' | '>' | '=' | '&' | '+' | '-' | '*' | '%' | '^' | '?' | ':' => {
                self.before = Before::Operator;
            }
            _ => return Err(unproven()),
        }
        Ok(())
    }

    /// Output to the two streams every program has is no file.
    fn redirected(&mut self) -> Result<(), Objection> {
        while self.peek(0) == Some(' ') {
            self.at += 1;
        }
        for stream in ["\"/dev/stderr\"", "\"/dev/stdout\""] {
            let length = stream.len();
            let here: String = self.chars.get(self.at..).unwrap_or_default().iter().take(length).collect();
            let behind = self.chars.get(self.at + length..).unwrap_or_default().iter().find(|c| **c != ' ');
            if here == stream && behind.is_none_or(|c| ";}\n".contains(*c)) {
                self.at += length;
                self.before = Before::Operator;
                return Ok(());
            }
        }
        Err(Objection::changes("awk writes to a file"))
    }
}

fn unproven() -> Objection {
    Objection::opaque("the program of awk is not proven to be harmless")
}
