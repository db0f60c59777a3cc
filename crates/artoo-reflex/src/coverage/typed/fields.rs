//! The fields of a typed check (a JSON object). Each is taken once; an untaken field is an error.

use std::path::Path;

use artoo_proto::Environment;
use serde_json::{Map, Value};

use crate::ensure::ensure;
use crate::eval::{EntryKind, FileSystem};
use crate::place::resolve;

/// Maximum number of paths or extensions in one field; a person must be able to read them all.
#[doc(alias = "limit")]
const MAX_LISTED: usize = 200;

/// Maximum number of characters of an unknown word quoted in an error.
#[doc(alias = "limit")]
const MAX_SHOWN: usize = 40;

/// The fields of one check that were not taken (read and removed) yet.
pub(super) struct Fields<'a> {
    /// The kind of the check.
    pub(super) kind: String,
    /// The folders that paths are relative to.
    pub(super) environment: &'a Environment,
    /// The disk before the task.
    pub(super) fs: &'a dyn FileSystem,
    left: Map<String, Value>,
    taken: Vec<&'static str>,
}

impl<'a> Fields<'a> {
    /// The fields of a check; an error unless it is a JSON object with a `kind`.
    pub(super) fn of(check: &Value, environment: &'a Environment, fs: &'a dyn FileSystem) -> Result<Self, String> {
        let mut left = check.as_object().cloned().ok_or("a check is an object with a `kind`")?;
        left.retain(|_, value| !value.is_null());
        // The value of a setting may be a JSON number or boolean, and a mode a number.
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

    /// The error message for a field with this fault.
    pub(super) fn wrong(&self, field: &str, fault: &str) -> String {
        format!("{}: `{field}` {fault}", self.kind)
    }

    /// Checks that every field was taken.
    pub(super) fn done(&self) -> Result<(), String> {
        let Some(name) = self.left.keys().next() else { return Ok(()) };
        let (kind, name, known) = (&self.kind, shown(name), self.taken.join(", "));
        Err(format!("{kind}: {name} doesn't belong to the other fields; leave it out (fields: {known})"))
    }

    /// Removes a field and returns its value; `None` if it is missing or null.
    fn take(&mut self, field: &'static str) -> Option<Value> {
        if !self.taken.contains(&field) {
            self.taken.push(field);
        }
        self.left.remove(field)
    }

    /// Takes a field with any text; `None` if it is missing.
    fn text_if_given(&mut self, field: &'static str) -> Result<Option<String>, String> {
        match self.take(field) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(self.wrong(field, "is no text")),
        }
    }

    /// Takes a field with any text; an error if it is missing.
    pub(super) fn text(&mut self, field: &'static str) -> Result<String, String> {
        self.text_if_given(field)?.ok_or_else(|| self.wrong(field, "is missing; give a text"))
    }

    /// Takes a field with a text of one line that is not empty; `None` if it is missing.
    pub(super) fn line_if_given(&mut self, field: &'static str) -> Result<Option<String>, String> {
        self.text_if_given(field)?.map(|line| self.one_line(field, line)).transpose()
    }

    /// Takes a field with a text of one line; an error if it is missing.
    pub(super) fn line(&mut self, field: &'static str) -> Result<String, String> {
        self.text(field).and_then(|line| self.one_line(field, line))
    }

    /// Returns the text; an error if it is blank or has control characters.
    fn one_line(&self, field: &str, line: String) -> Result<String, String> {
        ensure(!line.trim().is_empty(), || self.wrong(field, "is empty"))?;
        let is_plain = !line.contains(|c: char| c.is_control() && c != '\t');
        ensure(is_plain, || self.wrong(field, "has a line break or a control character"))?;
        Ok(line)
    }

    /// Takes a field with a part of a file's name; `None` if it is missing.
    pub(super) fn name(&mut self, field: &'static str) -> Result<Option<String>, String> {
        let name = self.line_if_given(field)?;
        let is_name = name.as_ref().is_none_or(|name| !name.contains('/') && !name.trim_matches('.').is_empty());
        ensure(is_name, || self.wrong(field, "is part of a name, so it has no folder; say `place` and `recursive`"))?;
        Ok(name)
    }

    /// Takes a field with a whole number, which may be written as a text; `None` if it is missing.
    pub(super) fn number(&mut self, field: &'static str) -> Result<Option<u64>, String> {
        let Some(value) = self.take(field) else { return Ok(None) };
        let number = value.as_u64().or_else(|| value.as_str()?.parse().ok());
        number.map(Some).ok_or_else(|| self.wrong(field, "is no whole number of at least 0"))
    }

    /// Takes a field that is true or false; `None` if it is missing.
    pub(super) fn flag(&mut self, field: &'static str) -> Result<Option<bool>, String> {
        let Some(value) = self.take(field) else { return Ok(None) };
        value.as_bool().map(Some).ok_or_else(|| self.wrong(field, "is neither true nor false"))
    }

    /// Takes a field with one text or a list of texts, each of one line; empty if it is missing.
    pub(super) fn list(&mut self, field: &'static str) -> Result<Vec<String>, String> {
        let items = match self.take(field) {
            None => return Ok(Vec::new()),
            Some(Value::Array(items)) => items,
            Some(one) => vec![one],
        };
        ensure((1..=MAX_LISTED).contains(&items.len()), || {
            self.wrong(field, &format!("holds none, or more than {MAX_LISTED}; use a set or several checks"))
        })?;
        let texts = items.into_iter().map(|item| match item {
            Value::String(text) => self.one_line(field, text),
            _ => Err(self.wrong(field, "is no text or list of texts")),
        });
        texts.collect()
    }

    /// Takes the paths in the field `paths` or `path`; empty if both are missing.
    pub(super) fn paths_if_given(&mut self) -> Result<Vec<String>, String> {
        let mut typed = self.list("paths")?;
        typed.extend(self.list("path")?);
        typed.iter().map(|path| self.resolved("paths", path)).collect()
    }

    /// Takes the paths in the field `paths` or `path`; an error, which names `field`, if there is none.
    pub(super) fn paths(&mut self, field: &'static str) -> Result<Vec<String>, String> {
        let paths = self.paths_if_given()?;
        ensure(!paths.is_empty(), || self.wrong(field, "is missing; give a path or a list of paths"))?;
        Ok(paths)
    }

    /// Takes a field with a path and makes it absolute; `None` if it is missing.
    pub(super) fn path_if_given(&mut self, field: &'static str) -> Result<Option<String>, String> {
        self.line_if_given(field)?.map(|typed| self.resolved(field, &typed)).transpose()
    }

    /// Takes a field with a path and makes it absolute; an error if it is missing.
    pub(super) fn path(&mut self, field: &'static str) -> Result<String, String> {
        self.path_if_given(field)?.ok_or_else(|| self.wrong(field, "is missing; give a path"))
    }

    /// The text in a field, which is not removed; empty if it is missing or no text.
    pub(super) fn typed(&self, field: &str) -> &str {
        self.left.get(field).and_then(Value::as_str).unwrap_or_default()
    }

    /// The absolute path of one that a check names; an error for a pattern such as `*.txt`, unless a file has that
    /// name.
    fn resolved(&self, field: &str, typed: &str) -> Result<String, String> {
        let place = resolve(typed, self.environment);
        let path = place.ok_or_else(|| self.wrong(field, "is no path; write ~/x, an absolute or a relative one"))?.path;
        let is_pattern = path.contains(['*', '?']) && self.entry(&path).is_none();
        ensure(!is_pattern, || self.wrong(field, "is a pattern; give a set: `place` and `glob`"))?;
        Ok(path)
    }

    /// The kind of the entry at a path; `None` if it doesn't exist.
    pub(super) fn entry(&self, path: &str) -> Option<EntryKind> {
        self.fs.metadata(Path::new(path)).ok().map(|entry| entry.kind)
    }
}

/// The first characters of an unknown word, escaped to one line in quotation marks.
pub(super) fn shown(text: &str) -> String {
    let start: String = text.chars().take(MAX_SHOWN).collect();
    format!("{start:?}{}", if start.len() < text.len() { "…" } else { "" })
}
