//! Words of a known program as known options and operands.

use super::objection::Objection;
use super::programs::Program;
use super::value::{Arg, Value};

/// A program's words, told apart.
pub(crate) struct Parsed<'a> {
    /// Options in order, long ones by their full name, with their value where it is known.
    pub(crate) options: Vec<(String, Option<String>)>,
    pub(crate) operands: Vec<&'a Arg>,
}

impl Parsed<'_> {
    /// Whether an option was given, by its letter or its long name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.options.iter().any(|(option, _)| option == name)
    }

    pub(crate) fn has_any(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.has(name))
    }

    /// Values of an option, by its letter or its long name.
    pub(crate) fn values<'s>(&'s self, names: &'s [&'s str]) -> impl Iterator<Item = &'s str> {
        let is_meant = |option: &str| names.contains(&option);
        self.options.iter().filter(move |(option, _)| is_meant(option)).filter_map(|(_, value)| value.as_deref())
    }
}

/// Where a program stops to look for options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// Options may follow operands.
    Any,
    /// The first operand ends the options: what follows is another command's.
    OptionsFirst,
}

/// Splits words into known options and operands; a word that is neither is the objection.
pub(crate) fn parse<'a>(program: &Program, arguments: &'a [Arg], order: Order) -> Result<Parsed<'a>, Objection> {
    let unknown = |option: &str| Objection::opaque(format!("{option} of {} is not known to be harmless", program.name));
    let mut parsed = Parsed { options: Vec::new(), operands: Vec::new() };
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let text = match word.text() {
            Some(text) => text,
            None if word.may_be_option && !program.tame => {
                return Err(Objection::opaque(format!(
                    "{} may become an option of {}; write -- or ./ before it",
                    word.shown(),
                    program.name
                )));
            }
            None => "",
        };
        if text == "--" {
            parsed.operands.extend(words);
            break;
        }
        if let Some(long) = text.strip_prefix("--") {
            let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
            let (name, takes) = long_option(program, name).ok_or_else(|| unknown(text))?;
            let value = match (value, takes) {
                (None, Takes::Nothing | Takes::Maybe) => None,
                (None, Takes::Value) => Some(detached(words.next()).ok_or_else(|| unknown(text))?),
                (Some(value), Takes::Value | Takes::Maybe) => Some(value.to_owned()),
                (Some(_), Takes::Nothing) => return Err(unknown(text)),
            };
            parsed.options.push((name.to_owned(), value));
            continue;
        }
        match text.strip_prefix('-') {
            None | Some("") if order == Order::OptionsFirst => {
                parsed.operands.push(word);
                parsed.operands.extend(words);
                break;
            }
            None | Some("") => parsed.operands.push(word),
            Some(cluster) => {
                let missing = short_cluster(program, cluster, &mut parsed.options).ok_or_else(|| unknown(text))?;
                if missing {
                    let value = detached(words.next()).ok_or_else(|| unknown(text))?;
                    if let Some((_, slot)) = parsed.options.last_mut() {
                        *slot = Some(value);
                    }
                }
            }
        }
    }
    Ok(parsed)
}

/// A value in a word of its own: known, or at least a number.
fn detached(word: Option<&Arg>) -> Option<String> {
    match &word?.value {
        Value::Literal(text) => Some(text.clone()),
        Value::Number => Some("0".to_owned()),
        Value::Matches { .. } | Value::Below(_) | Value::Unknown { .. } => None,
    }
}

/// Whether a long option takes a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Takes {
    Nothing,
    Value,
    Maybe,
}

/// A known long option by its whole name.
///
/// Many programs take a beginning that fits one option only; which options there are differs between versions, so a
/// beginning is unknown here.
fn long_option<'p>(program: &'p Program, given: &str) -> Option<(&'p str, Takes)> {
    program.long.split_whitespace().find_map(|entry| {
        let (name, takes) = match (entry.strip_suffix('='), entry.strip_suffix('?')) {
            (Some(name), _) => (name, Takes::Value),
            (None, Some(name)) => (name, Takes::Maybe),
            (None, None) => (entry, Takes::Nothing),
        };
        (name == given).then_some((name, takes))
    })
}

/// Reads `-abc`; `true` when the last letter's value is the next word, `None` for an unknown letter.
fn short_cluster(program: &Program, cluster: &str, options: &mut Vec<(String, Option<String>)>) -> Option<bool> {
    let mut letters = cluster.chars();
    while let Some(letter) = letters.next() {
        let takes_value = program.valued.contains(letter);
        if !takes_value && !program.flags.contains(letter) {
            return None;
        }
        let value = letters.as_str();
        if takes_value {
            options.push((letter.to_string(), (!value.is_empty()).then(|| value.to_owned())));
            return Some(value.is_empty());
        }
        options.push((letter.to_string(), None));
    }
    Some(false)
}
