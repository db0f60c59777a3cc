//! The fields of a typed check: each is taken once, and none may be left over.

use std::path::Path;

use artoo_proto::Environment;
use serde_json::{Map, Value};

use crate::eval::{EntryKind, FileSystem};
use crate::place::resolve;

/// Maximum number of paths or extensions in one field; a person must be able to read them all.
#[doc(alias = "limit")]
const MAX_LISTED: usize = 200;

/// Maximum number of characters of a stranger's word in an error.
#[doc(alias = "limit")]
const MAX_SHOWN: usize = 40;

/// The fields of one check that were not taken yet.
pub(super) struct Fields<'a> {
    /// The kind of the check.
    pub(super) kind: String,
    /// The folders that paths are relative to.
    pub(super) environment: &'a Environment,
    /// The disk as it was before.
    pub(super) fs: &'a dyn FileSystem,
    left: Map<String, Value>,
    taken: Vec<&'static str>,
}

impl<'a> Fields<'a> {
    /// The fields of a check, which is an object with a `kind`.
    pub(super) fn of(check: &Value, environment: &'a Environment, fs: &'a dyn FileSystem) -> Result<Self, String> {
        let mut left = check.as_object().cloned().ok_or("a check is an object with a `kind`")?;
        left.retain(|_, value| !value.is_null());
        // A setting may be said as a number or as true, and a mode as a number.
        for field in ["value", "bits"] {
            if let Some(value @ (Value::Number(_) | Value::Bool(_))) = left.get_mut(field) {
                *value = Value::String(value.to_string());
            }
        }
        let Some(Value::String(kind)) = left.remove("kind") else {
            return Err("a check needs a `kind`, which is a text".to_owned());
        };
        Ok(Self { kind, environment, fs, left, taken: Vec::new() })
    }

    /// What is wrong with a field.
    pub(super) fn wrong(&self, field: &str, fault: &str) -> String {
        format!("{}: `{field}` {fault}", self.kind)
    }

    /// Checks that every field was taken.
    pub(super) fn done(&self) -> Result<(), String> {
        let Some(name) = self.left.keys().next() else { return Ok(()) };
        let known = self.taken.join(", ");
        Err(format!(
            "{}: {} doesn't belong to the other fields; leave it out (fields: {known})",
            self.kind,
            shown(name)
        ))
    }

    /// Takes a field; `None` if it is missing or null.
    fn take(&mut self, field: &'static str) -> Option<Value> {
        if !self.taken.contains(&field) {
            self.taken.push(field);
        }
        self.left.remove(field)
    }

    /// Takes any text.
    fn text_if_given(&mut self, field: &'static str) -> Result<Option<String>, String> {
        match self.take(field) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(self.wrong(field, "is no text")),
        }
    }

    /// Takes any text, which must be there.
    pub(super) fn text(&mut self, field: &'static str) -> Result<String, String> {
        self.text_if_given(field)?.ok_or_else(|| self.wrong(field, "is missing; give a text"))
    }

    /// Takes a text of one line with at least one character.
    pub(super) fn line_if_given(&mut self, field: &'static str) -> Result<Option<String>, String> {
        self.text_if_given(field)?.map(|line| self.one_line(field, line)).transpose()
    }

    /// Takes a text of one line, which must be there.
    pub(super) fn line(&mut self, field: &'static str) -> Result<String, String> {
        self.text(field).and_then(|line| self.one_line(field, line))
    }

    /// The line itself, if it has no character that could hide or move others.
    fn one_line(&self, field: &str, line: String) -> Result<String, String> {
        match line {
            line if line.trim().is_empty() => Err(self.wrong(field, "is empty")),
            line if line.contains(is_control) => Err(self.wrong(field, "has a line break or a control character")),
            line => Ok(line),
        }
    }

    /// Takes a part of a file's name.
    pub(super) fn name(&mut self, field: &'static str) -> Result<Option<String>, String> {
        match self.line_if_given(field)? {
            Some(name) if name.contains('/') || name.trim_matches('.').is_empty() => {
                Err(self.wrong(field, "is part of a name, so it has no folder; say `place` and `recursive`"))
            }
            name => Ok(name),
        }
    }

    /// Takes a line, a number or a truth value as the text that it is written as.
    pub(super) fn word(&mut self, field: &'static str) -> Result<Option<String>, String> {
        match self.take(field) {
            None => Ok(None),
            Some(Value::String(word)) => self.one_line(field, word).map(Some),
            Some(word @ (Value::Number(_) | Value::Bool(_))) => Ok(Some(word.to_string())),
            Some(_) => Err(self.wrong(field, "is no text and no number")),
        }
    }

    /// Takes a whole number.
    pub(super) fn number(&mut self, field: &'static str) -> Result<Option<u64>, String> {
        let Some(word) = self.word(field)? else { return Ok(None) };
        word.parse().map(Some).map_err(|_| self.wrong(field, "is no whole number of at least 0"))
    }

    /// Takes a truth value.
    pub(super) fn flag(&mut self, field: &'static str) -> Result<Option<bool>, String> {
        let Some(value) = self.take(field) else { return Ok(None) };
        value.as_bool().map(Some).ok_or_else(|| self.wrong(field, "is neither true nor false"))
    }

    /// Takes one text or a list of texts, each of one line; without the field there are none.
    pub(super) fn list(&mut self, field: &'static str) -> Result<Vec<String>, String> {
        let items = match self.take(field) {
            None => return Ok(Vec::new()),
            Some(Value::Array(items)) if items.is_empty() || items.len() > MAX_LISTED => {
                return Err(
                    self.wrong(field, &format!("holds none, or more than {MAX_LISTED}; use a set or several checks"))
                );
            }
            Some(Value::Array(items)) => items,
            Some(one) => vec![one],
        };
        let texts = items.into_iter().map(|item| match item {
            Value::String(text) => self.one_line(field, text),
            _ => Err(self.wrong(field, "is no text or list of texts")),
        });
        texts.collect()
    }

    /// Takes paths from `paths` or `path`; without either there are none.
    pub(super) fn paths_if_given(&mut self) -> Result<Vec<String>, String> {
        let mut typed = self.list("paths")?;
        typed.extend(self.list("path")?);
        typed.iter().map(|path| self.resolved("paths", path)).collect()
    }

    /// Takes paths, of which there must be one.
    pub(super) fn paths(&mut self, field: &'static str) -> Result<Vec<String>, String> {
        let paths = self.paths_if_given()?;
        if paths.is_empty() { Err(self.wrong(field, "is missing; give a path or a list of paths")) } else { Ok(paths) }
    }

    /// Takes a path, as an absolute one.
    pub(super) fn path_if_given(&mut self, field: &'static str) -> Result<Option<String>, String> {
        self.line_if_given(field)?.map(|typed| self.resolved(field, &typed)).transpose()
    }

    /// Takes a path, which must be there.
    pub(super) fn path(&mut self, field: &'static str) -> Result<String, String> {
        self.path_if_given(field)?.ok_or_else(|| self.wrong(field, "is missing; give a path"))
    }

    /// The text of a field that stays to be taken; empty if it is missing or no text.
    pub(super) fn typed(&self, field: &str) -> &str {
        self.left.get(field).and_then(Value::as_str).unwrap_or_default()
    }

    /// The absolute path that a typed one means, if it is one path.
    fn resolved(&self, field: &str, typed: &str) -> Result<String, String> {
        let place = resolve(typed, self.environment);
        let path = place.ok_or_else(|| self.wrong(field, "is no path; write ~/x, an absolute or a relative one"))?.path;
        if path.contains(['*', '?']) && self.entry(&path).is_none() {
            return Err(self.wrong(field, "is a pattern; give a set: `place` and `glob`"));
        }
        Ok(path)
    }

    /// The kind of what is at a path; `None` if nothing is there.
    pub(super) fn entry(&self, path: &str) -> Option<EntryKind> {
        self.fs.metadata(Path::new(path)).ok().map(|entry| entry.kind)
    }
}

/// Whether a character ends a line or controls a terminal.
fn is_control(c: char) -> bool {
    c.is_control() && c != '\t'
}

/// The start of a stranger's text, in quotation marks and on one line.
pub(super) fn shown(text: &str) -> String {
    let start: String = text.chars().take(MAX_SHOWN).collect();
    format!("{start:?}{}", if start.len() < text.len() { "…" } else { "" })
}
