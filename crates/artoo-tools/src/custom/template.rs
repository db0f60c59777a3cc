//! A command with places for inputs, and the arguments that come of it. Each argument stays one: no shell reads them.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::custom::field::{Field, Kind};
use crate::custom::problem::ManifestProblem;

/// One entry of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Group {
    parts: Vec<Part>,
    /// In brackets of its own: left out where an input it names is not given, or is false.
    is_optional: bool,
}

/// One argument to be.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Part {
    pieces: Vec<Piece>,
    /// After a `--`: what follows is no option, whatever it begins with.
    is_after_dashes: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Literal(String),
    Field(String),
}

/// Why inputs make no command.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {reason}")]
pub(crate) struct ValueProblem {
    field: String,
    reason: String,
}

impl ValueProblem {
    pub(super) fn new(field: &str, reason: impl Into<String>) -> Self {
        Self { field: artoo_proto::escape::one_line(field), reason: reason.into() }
    }
}

/// Reads a command's arguments; every field must be used, and a place must fit its field.
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
                let Piece::Field(name) = piece else { continue };
                check_place(name, fields.get(name), pieces.len(), is_optional)?;
            }
            parts.push(Part { pieces, is_after_dashes });
            is_after_dashes |= text == "--" && !is_optional;
        }
        groups.push(Group { parts, is_optional: is_optional(at) });
    }
    let named = |wanted: &String| {
        let parts = groups.iter().flat_map(|group| &group.parts).flat_map(|part| &part.pieces);
        parts.into_iter().any(|piece| matches!(piece, Piece::Field(name) if name == wanted))
    };
    match fields.keys().find(|name| !named(name)) {
        Some(unused) => {
            Err(ManifestProblem::Placeholder { field: unused.clone(), reason: "is an input that no argument uses" })
        }
        None => Ok(groups),
    }
}

fn check_place(name: &str, field: Option<&Field>, pieces: usize, is_optional: bool) -> Result<(), ManifestProblem> {
    let wrong = |reason| Err(ManifestProblem::Placeholder { field: name.to_owned(), reason });
    let Some(field) = field else { return wrong("names no input") };
    if field.optional && !is_optional {
        return wrong("is optional, so it must stand in brackets of its own: [\"--flag\", \"{field}\"]");
    }
    match field.kind {
        Kind::Switch if !is_optional => {
            wrong("is true or false, so it must stand in brackets: [\"--flag\", \"{field}\"]")
        }
        Kind::Switch | Kind::Texts { .. } if pieces > 1 => wrong("must be an argument of its own"),
        Kind::Switch | Kind::Texts { .. } | Kind::Text { .. } | Kind::Integer { .. } => Ok(()),
    }
}

/// Splits at `{name}`; any other brace is a letter like others.
fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut literal = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        literal.push_str(before);
        match after.split_once('}') {
            Some((name, tail)) if super::manifest::is_name(name) => {
                if !literal.is_empty() {
                    pieces.push(Piece::Literal(std::mem::take(&mut literal)));
                }
                pieces.push(Piece::Field(name.to_owned()));
                rest = tail;
            }
            _ => {
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

/// The arguments for these inputs, each of which its field allows.
pub(super) fn arguments(groups: &[Group], given: &Map<String, Value>) -> Result<Vec<String>, ValueProblem> {
    let mut arguments = Vec::new();
    for group in groups {
        let is_there = |piece: &Piece| match piece {
            Piece::Literal(_) => true,
            Piece::Field(name) => given.get(name).is_some_and(|value| *value != Value::Bool(false)),
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
    fn add_to(&self, arguments: &mut Vec<String>, given: &Map<String, Value>) -> Result<(), ValueProblem> {
        let mut text = String::new();
        for (at, piece) in self.pieces.iter().enumerate() {
            let (name, value) = match piece {
                Piece::Literal(literal) => {
                    text.push_str(literal);
                    continue;
                }
                Piece::Field(name) => (name, given.get(name)),
            };
            match value {
                Some(Value::String(value)) => {
                    if at == 0 {
                        self.refuse_option(name, value)?;
                    }
                    text.push_str(value);
                }
                Some(Value::Number(number)) => text.push_str(&number.to_string()),
                // A switch is there or not; it has no argument of its own.
                Some(Value::Bool(_)) => return Ok(()),
                Some(Value::Array(values)) => {
                    for value in values.iter().filter_map(Value::as_str) {
                        self.refuse_option(name, value)?;
                        arguments.push(value.to_owned());
                    }
                    return Ok(());
                }
                Some(Value::Null | Value::Object(_)) | None => return Err(ValueProblem::new(name, "it is missing")),
            }
        }
        arguments.push(text);
        Ok(())
    }

    /// An input may not become an option that the manifest's author did not write.
    fn refuse_option(&self, name: &str, value: &str) -> Result<(), ValueProblem> {
        if value.starts_with('-') && !self.is_after_dashes {
            return Err(ValueProblem::new(name, "it begins with -, and could be taken for an option of the program"));
        }
        Ok(())
    }
}
