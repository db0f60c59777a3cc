//! `sed`: a script is proven if every command in it is known to print, move or change text in memory only.

use super::judge::{Judge, State};
use super::objection::Objection;
use super::options::{self, Order};
use super::programs::{Operands, Program};
use super::scene::Use;
use super::value::{Arg, Stream};

static SED: Program = Program::new(
    "sed",
    "nErsuz",
    "el",
    "quiet silent expression= regexp-extended separate unbuffered null-data line-length= posix sandbox debug",
    Operands::Text,
);

/// Judges `sed`.
pub(super) fn judge(judge: &mut Judge<'_>, state: &State, arguments: &[Arg]) -> Result<Stream, Objection> {
    let parsed = options::parse(&SED, arguments, Order::Any)?;
    let given: Vec<&str> = parsed.values(&["e", "expression"]).collect();
    let mut operands = parsed.operands.iter();
    let scripts = if given.is_empty() {
        let script = operands.next().and_then(|word| word.text());
        vec![script.ok_or_else(|| Objection::opaque("the script of sed is not known before it runs"))?]
    } else {
        given
    };
    for script in scripts {
        Script { chars: script.chars().collect(), at: 0 }.commands()?;
    }
    operands.try_for_each(|word| judge.reads(state, word, Use::Content))?;
    Ok(Stream::Text)
}

struct Script {
    chars: Vec<char>,
    at: usize,
}

impl Script {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += 1;
        Some(c)
    }

    fn pass(&mut self, is_passed: impl Fn(char) -> bool) {
        while self.peek().is_some_and(&is_passed) {
            self.at += 1;
        }
    }

    fn commands(&mut self) -> Result<(), Objection> {
        loop {
            self.pass(|c| c.is_ascii_whitespace() || c == ';');
            if self.peek().is_none() {
                return Ok(());
            }
            self.addresses()?;
            self.command()?;
        }
    }

    fn addresses(&mut self) -> Result<(), Objection> {
        loop {
            match self.peek() {
                Some('/') => {
                    self.at += 1;
                    self.text_up_to('/')?;
                    self.pass(|c| c == 'I' || c == 'M');
                }
                Some('\\') => {
                    self.at += 1;
                    let delimiter = self.bump().filter(|c| c.is_ascii_punctuation()).ok_or_else(unproven)?;
                    self.text_up_to(delimiter)?;
                    self.pass(|c| c == 'I' || c == 'M');
                }
                Some(c) if c.is_ascii_digit() || "$~+".contains(c) => self.at += 1,
                Some(',' | ' ' | '!') => self.at += 1,
                _ => return Ok(()),
            }
        }
    }

    fn command(&mut self) -> Result<(), Objection> {
        match self.bump().ok_or_else(unproven)? {
            '{' => Ok(()),
            '}' | '=' | 'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | 'z' | 'F' => self.end(),
            'q' | 'Q' | 'l' | 'L' => {
                self.pass(|c| c == ' ' || c.is_ascii_digit());
                self.end()
            }
            ':' | 'b' | 't' | 'T' => {
                self.pass(|c| c == ' ');
                self.pass(|c| c.is_ascii_alphanumeric() || c == '_');
                self.end()
            }
            // Its text goes to the end of the line; a backslash there would take the next line with it.
            '#' | 'a' | 'i' | 'c' => {
                self.pass(|c| c != '\n' && c != '\\');
                if self.peek() == Some('\\') { Err(unproven()) } else { Ok(()) }
            }
            's' => self.substitution(),
            'y' => {
                let delimiter = self.bump().filter(char::is_ascii_punctuation).ok_or_else(unproven)?;
                self.text_up_to(delimiter)?;
                self.text_up_to(delimiter)?;
                self.end()
            }
            c @ ('w' | 'W' | 'e' | 'r' | 'R') => Err(acts(c)),
            _ => Err(unproven()),
        }
    }

    fn substitution(&mut self) -> Result<(), Objection> {
        let delimiter = self.bump().filter(char::is_ascii_punctuation).filter(|c| *c != '\\').ok_or_else(unproven)?;
        self.text_up_to(delimiter)?;
        self.text_up_to(delimiter)?;
        loop {
            match self.peek() {
                Some(c) if c.is_ascii_digit() || "gpiIMm".contains(c) => self.at += 1,
                Some(c @ ('w' | 'e')) => return Err(acts(c)),
                _ => return self.end(),
            }
        }
    }

    /// Passes text up to its delimiter. A line break in it is read differently by different versions.
    fn text_up_to(&mut self, delimiter: char) -> Result<(), Objection> {
        loop {
            match self.bump() {
                Some(c) if c == delimiter => return Ok(()),
                Some('\\') => match self.bump() {
                    None | Some('\n') => return Err(unproven()),
                    Some(_) => {}
                },
                None | Some('\n') => return Err(unproven()),
                Some(_) => {}
            }
        }
    }

    fn end(&mut self) -> Result<(), Objection> {
        self.pass(|c| c == ' ' || c == '\t');
        match self.peek() {
            None | Some(';' | '\n' | '}' | '#') => Ok(()),
            Some(_) => Err(unproven()),
        }
    }
}

fn acts(command: char) -> Objection {
    match command {
        'e' => Objection::opaque("the script of sed runs commands"),
        'w' | 'W' => Objection::changes("the script of sed writes to a file"),
        _ => Objection::opaque("the script of sed reads a further file"),
    }
}

fn unproven() -> Objection {
    Objection::opaque("the script of sed is not proven to be harmless")
}
