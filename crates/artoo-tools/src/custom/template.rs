//! A command with placeholders for inputs. Each argument stays one argument: no shell reads them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::custom::field::{Field, Kind};
use crate::custom::name::is_name;
use crate::custom::problem::ManifestProblem;
use crate::input;
use crate::record::Record;

/// One entry of a manifest's `command`: one argument, or in brackets several arguments that are left out together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Group {
    parts: Vec<Part>,
    /// Whether the entry is in brackets: it is left out if an input that it names is missing or false.
    is_optional: bool,
}

/// One argument of a command template: literal texts and placeholders in sequence.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Part {
    pieces: Vec<Piece>,
    /// Whether a value may begin with `-`: the argument follows a `--`, or the field allows it.
    allows_dash: bool,
}

/// A piece of an argument in a command template: a literal text or a placeholder.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Literal(String),
    Field(String, Form),
}

/// How the value of a placeholder is written: plain, quoted, or escaped for markup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// `{name}`
    Plain,
    /// `{name:?}`: in quotes, with escapes.
    Quoted,
    /// `{name:markup}`: with the special characters of HTML and Pango markup escaped.
    Markup,
}

impl Form {
    /// The value of a placeholder, quoted or escaped as its form demands.
    fn of(self, value: &str) -> Cow<'_, str> {
        match self {
            Self::Plain => value.into(),
            Self::Quoted => format!("{value:?}").into(),
            Self::Markup => value.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").into(),
        }
    }
}

/// The record of a call that is refused because the value of an input is invalid.
pub(super) fn problem(field: &str, reason: &str) -> Box<Record> {
    input::unfit(format!("{}: {reason}", artoo_proto::escape::one_line(field)))
}

/// A text of a template with the values of its fields filled in; a field that has no text as its value is empty.
pub(crate) fn render(text: &str, given: &Map<String, Value>) -> String {
    let filled = |piece| match piece {
        Piece::Literal(literal) => literal,
        Piece::Field(name, form) => form.of(given.get(&name).and_then(Value::as_str).unwrap_or_default()).into_owned(),
    };
    pieces(text).into_iter().map(filled).collect()
}

/// Parses the arguments of a manifest's command. Every input must be used, and each placeholder must fit its input.
pub(super) fn groups(
    arguments: &[Vec<String>],
    fields: &BTreeMap<String, Field>,
    is_optional: impl Fn(usize) -> bool,
) -> Result<Vec<Group>, ManifestProblem> {
    let mut groups = Vec::new();
    let mut is_after_dashes = false;
    for (at, texts) in arguments.iter().enumerate() {
        let mut parts = Vec::new();
        for text in texts {
            let pieces = pieces(text);
            let is_optional = is_optional(at);
            for piece in &pieces {
                let Piece::Field(name, _) = piece else { continue };
                check_place(name, fields.get(name), pieces.len(), is_optional)?;
            }
            let is_allowed = |piece: &Piece| match piece {
                Piece::Literal(_) => false,
                Piece::Field(name, _) => fields.get(name).is_some_and(|field| field.leading_dash),
            };
            let allows_dash = is_after_dashes || pieces.first().is_some_and(is_allowed);
            parts.push(Part { pieces, allows_dash });
            is_after_dashes |= text == "--" && !is_optional;
        }
        groups.push(Group { parts, is_optional: is_optional(at) });
    }
    let named = |wanted: &String| {
        let parts = groups.iter().flat_map(|group| &group.parts).flat_map(|part| &part.pieces);
        parts.into_iter().any(|piece| matches!(piece, Piece::Field(name, _) if name == wanted))
    };
    match fields.keys().find(|name| !named(name)) {
        Some(unused) => Err(ManifestProblem::new(format!("command: {{{unused}}} is an input that no argument uses"))),
        None => Ok(groups),
    }
}

/// Checks that a placeholder names an input, and that its position fits the type of the input.
fn check_place(name: &str, field: Option<&Field>, pieces: usize, is_optional: bool) -> Result<(), ManifestProblem> {
    let wrong = |reason: &str| Err(ManifestProblem::new(format!("command: {{{name}}} {reason}")));
    let Some(field) = field else { return wrong("names no input") };
    if field.optional && !is_optional {
        return wrong("is optional, so it must stand in brackets of its own: [\"--flag\", \"{field}\"]");
    }
    match field.kind {
        Kind::Boolean if !is_optional => {
            wrong("is true or false, so it must stand in brackets: [\"--flag\", \"{field}\"]")
        }
        Kind::Boolean | Kind::Array if pieces > 1 => wrong("must be an argument of its own"),
        Kind::Boolean | Kind::Array | Kind::String | Kind::Document | Kind::Integer => Ok(()),
    }
}

/// The text between braces as a placeholder; `None` if it is not one.
fn field(inner: &str) -> Option<Piece> {
    let (name, form) = match inner.split_once(':') {
        None => (inner, Form::Plain),
        Some((name, "?")) => (name, Form::Quoted),
        Some((name, "markup")) => (name, Form::Markup),
        Some(_) => return None,
    };
    is_name(name).then(|| Piece::Field(name.to_owned(), form))
}

/// Splits an argument of a manifest's command at its placeholders; other braces are ordinary characters.
fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut literal = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        literal.push_str(before);
        match after.split_once('}').and_then(|(inner, tail)| Some((field(inner)?, tail))) {
            Some((piece, tail)) => {
                if !literal.is_empty() {
                    pieces.push(Piece::Literal(std::mem::take(&mut literal)));
                }
                pieces.push(piece);
                rest = tail;
            }
            None => {
                literal.push('{');
                rest = after;
            }
        }
    }
    literal.push_str(rest);
    if !literal.is_empty() || pieces.is_empty() {
        pieces.push(Piece::Literal(literal));
    }
    pieces
}

/// The arguments of a command template, filled in with the checked inputs, without the optional groups that lack one;
/// `Err` is the record if an input is missing or could be taken for an option.
pub(super) fn arguments(groups: &[Group], given: &Map<String, Value>) -> Result<Vec<String>, Box<Record>> {
    let mut arguments = Vec::new();
    for group in groups {
        let is_there = |piece: &Piece| match piece {
            Piece::Literal(_) => true,
            Piece::Field(name, _) => given.get(name).is_some_and(|value| *value != Value::Bool(false)),
        };
        if group.is_optional && !group.parts.iter().flat_map(|part| &part.pieces).all(is_there) {
            continue;
        }
        for part in &group.parts {
            part.add_to(&mut arguments, given)?;
        }
    }
    Ok(arguments)
}

impl Part {
    /// Adds this argument, with its placeholders replaced by values, to a list; a list value gives one argument for
    /// each text.
    fn add_to(&self, arguments: &mut Vec<String>, given: &Map<String, Value>) -> Result<(), Box<Record>> {
        let mut text = String::new();
        for (at, piece) in self.pieces.iter().enumerate() {
            let (name, form, value) = match piece {
                Piece::Literal(literal) => {
                    text.push_str(literal);
                    continue;
                }
                Piece::Field(name, form) => (name, form, given.get(name)),
            };
            match value {
                Some(Value::String(value)) => {
                    if at == 0 {
                        self.refuse_option(name, value)?;
                    }
                    text.push_str(&form.of(value));
                }
                Some(Value::Number(number)) => text.push_str(&number.to_string()),
                // A boolean only decides whether its group is used.
                Some(Value::Bool(_)) => return Ok(()),
                Some(Value::Array(values)) => {
                    for value in values.iter().filter_map(Value::as_str) {
                        self.refuse_option(name, value)?;
                        arguments.push(form.of(value).into_owned());
                    }
                    return Ok(());
                }
                Some(Value::Null | Value::Object(_)) | None => return Err(problem(name, "it is missing")),
            }
        }
        arguments.push(text);
        Ok(())
    }

    /// Rejects a value that begins with `-` where the program could take it for an option.
    fn refuse_option(&self, name: &str, value: &str) -> Result<(), Box<Record>> {
        if value.starts_with('-') && !self.allows_dash {
            return Err(problem(name, "it begins with -, and could be taken for an option of the program"));
        }
        Ok(())
    }
}
