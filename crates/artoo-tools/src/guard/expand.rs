//! Words of the script as the arguments a program would get.

use super::judge::{Judge, State};
use super::objection::Objection;
use super::pattern::{self, Element, Pattern};
use super::syntax::{BRACES_MAX, Part, Word};
use super::value::{Arg, Stream, Value};

/// Variables of the shell or of the scrubbed environment whose value is no secret.
pub(crate) const KNOWN_VARIABLES: [&str; 24] = [
    "USER",
    "LOGNAME",
    "SHELL",
    "PATH",
    "LANG",
    "LC_ALL",
    "TERM",
    "HOSTNAME",
    "UID",
    "EUID",
    "PPID",
    "RANDOM",
    "SECONDS",
    "BASH_VERSION",
    "OSTYPE",
    "HOSTTYPE",
    "MACHTYPE",
    "EDITOR",
    "PAGER",
    "DISPLAY",
    "TMPDIR",
    "TZ",
    "XDG_SESSION_TYPE",
    "XDG_CURRENT_DESKTOP",
];

/// What a word becomes while its parts are put together.
#[derive(Clone, Default)]
struct Growing {
    pattern: Pattern,
    is_wild: bool,
    /// It is no text that is known.
    is_unknown: bool,
    /// It may be several words or none.
    is_many: bool,
    /// Alone in the word: one of these.
    is_whole: Option<Value>,
    is_empty: bool,
    may_begin_with_dash: bool,
}

impl Growing {
    fn new() -> Self {
        Self { is_empty: true, ..Self::default() }
    }

    fn push_text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.spoil();
        if self.is_empty {
            self.may_begin_with_dash |= text.starts_with('-');
            self.is_empty = false;
        }
        self.pattern.extend(text.chars().map(Element::Char));
    }

    /// Something known stands beside something known only as a whole: now neither is.
    fn spoil(&mut self) {
        if self.is_whole.take().is_some() {
            self.is_unknown = true;
        }
    }

    fn push_value(&mut self, arg: &Arg, quoted: bool) -> Result<(), Objection> {
        match &arg.value {
            Value::Literal(text) if quoted || is_one_word(text) => {
                self.push_text(text);
                return Ok(());
            }
            Value::Literal(_) => {
                return Err(Objection::opaque("a value with blanks is expanded without quotes"));
            }
            Value::Matches { found, .. } if !quoted && !found.iter().all(|name| is_one_word(name)) => {
                return Err(Objection::opaque("a name with blanks is expanded without quotes"));
            }
            Value::Unknown { .. } if !quoted => self.is_many = true,
            Value::Matches { .. } | Value::Below(_) | Value::Number | Value::Unknown { .. } => {}
        }
        if self.is_empty && self.pattern.is_empty() && !self.is_unknown && self.is_whole.is_none() {
            self.is_whole = Some(arg.value.clone());
        } else {
            self.spoil();
            self.is_unknown = true;
        }
        if self.is_empty {
            self.may_begin_with_dash |= arg.may_be_option;
            self.is_empty = arg.value != Value::Number;
        }
        Ok(())
    }

    fn finish(self, judge: &Judge<'_>, state: &State) -> Result<Arg, Objection> {
        if let Some(Value::Unknown { many }) = self.is_whole {
            return Ok(Arg {
                value: Value::Unknown { many: many || self.is_many },
                may_be_option: self.may_begin_with_dash,
            });
        }
        if let Some(value) = self.is_whole {
            return Ok(Arg { value, may_be_option: self.may_begin_with_dash });
        }
        if self.is_unknown {
            return Ok(Arg {
                value: Value::Unknown { many: self.is_many || self.is_wild },
                may_be_option: self.may_begin_with_dash,
            });
        }
        if self.is_wild {
            return matches(judge, state, &self.pattern);
        }
        Ok(Arg::literal(pattern::written(&self.pattern)))
    }
}

fn is_one_word(text: &str) -> bool {
    !text.is_empty() && !text.contains([' ', '\t', '\n', '*', '?', '[', '\\'])
}

/// A pattern as what it matches; nothing found leaves the pattern standing as it is.
fn matches(judge: &Judge<'_>, state: &State, elements: &[Element]) -> Result<Arg, Objection> {
    let written = pattern::written(elements);
    let mut found = Vec::new();
    for cwd in &state.cwds {
        found.extend(pattern::found(elements, cwd)?);
    }
    let begins_wild = !matches!(elements.first(), Some(Element::Char(_)));
    // What is made by the command itself may be found by its own patterns.
    let may_be_option = elements.first() == Some(&Element::Char('-'))
        || begins_wild && (judge.effects.makes_anything() || found.iter().any(|name| name.starts_with('-')));
    Ok(Arg { value: Value::Matches { pattern: written, found }, may_be_option })
}

/// The name of the account, which programs get from artoo's own environment.
fn account(variable: &str) -> Arg {
    let is_plain = |name: &String| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    std::env::var(variable).ok().filter(is_plain).map_or(Arg::unknown(false), Arg::literal)
}

impl Judge<'_> {
    /// The arguments a list of words becomes.
    pub(crate) fn arguments(&mut self, state: &State, words: &[Word]) -> Result<Vec<Arg>, Objection> {
        let mut arguments = Vec::new();
        for word in words {
            arguments.extend(self.expanded(state, word)?);
        }
        Ok(arguments)
    }

    /// The arguments one word becomes: several only by braces.
    pub(crate) fn expanded(&mut self, state: &State, word: &Word) -> Result<Vec<Arg>, Objection> {
        let mut growing = vec![Growing::new()];
        for part in &word.parts {
            match part {
                Part::Text { text, .. } => growing.iter_mut().for_each(|word| word.push_text(text)),
                Part::Wild(text) => {
                    for word in &mut growing {
                        word.spoil();
                        word.is_wild = true;
                        word.is_empty = false;
                        word.pattern.push(pattern::wild(text));
                    }
                }
                Part::Home => {
                    let home = self.config.environment.home.trim_end_matches('/').to_owned();
                    growing.iter_mut().for_each(|word| word.push_text(&home));
                }
                Part::Number => {
                    let number = Arg { value: Value::Number, may_be_option: true };
                    growing.iter_mut().try_for_each(|word| word.push_value(&number, true))?;
                }
                Part::Variable { name, quoted } => {
                    let value = self.variable(state, name)?;
                    growing.iter_mut().try_for_each(|word| word.push_value(&value, *quoted))?;
                }
                Part::Substitution { list, quoted } => {
                    let value = self.substituted(state, list, *quoted)?;
                    growing.iter_mut().try_for_each(|word| word.push_value(&value, *quoted))?;
                }
                Part::Braces(alternatives) => {
                    if growing.len() * alternatives.len() > BRACES_MAX {
                        return Err(Objection::opaque("braces make too many words"));
                    }
                    let extended = growing.iter().flat_map(|word| {
                        alternatives.iter().map(move |text| {
                            let mut word = word.clone();
                            word.push_text(text);
                            word
                        })
                    });
                    growing = extended.collect();
                }
            }
        }
        growing.into_iter().map(|word| word.finish(self, state)).collect()
    }

    fn variable(&self, state: &State, name: &str) -> Result<Arg, Objection> {
        if let Some(value) = state.variables.get(name) {
            return Ok(value.clone());
        }
        match (name, state.cwds.as_slice()) {
            ("HOME", _) => Ok(Arg::literal(self.config.environment.home.clone())),
            ("PWD", [cwd]) => Ok(Arg::literal(cwd.to_string_lossy())),
            (name @ ("USER" | "LOGNAME"), _) => Ok(account(name)),
            (name, _) if KNOWN_VARIABLES.contains(&name) => Ok(Arg::unknown(false)),
            _ => Err(Objection::reveals(format!("the value of ${name} is not known; it may be empty or a secret"))),
        }
    }

    fn substituted(&mut self, state: &State, list: &[super::syntax::Chain], quoted: bool) -> Result<Arg, Objection> {
        let mut inner = state.clone();
        Ok(match self.list(&mut inner, list)? {
            Stream::Names { folders, may_be_option, .. } if !quoted => {
                Arg { value: Value::Below(folders), may_be_option }
            }
            Stream::Names { .. } | Stream::Text => Arg::unknown(!quoted),
        })
    }
}
