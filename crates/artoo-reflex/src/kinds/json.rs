//! Questions about JSON files: the value of a key, the keys, how many entries a list has.

use serde_json::{Map, Value};

use super::{Known, Row};
use crate::algebra::{Function, Query};
use crate::eval::{EvalError, FileSystem, text};
use crate::lower::{Argv, Pipeline, Unsupported};
use crate::parse::Form;
use crate::place::file_name;

/// The kind of question about the values and keys of a JSON file.
pub(super) const ROW: Row = Row { name: "json", forms: include_str!("json.txt"), read, english, lower, eval };

/// The query for a form about a JSON file; `None` if its values don't fit together.
fn read(form: &Form<'_>, wording: &str) -> Option<Query> {
    let path = form.path_there("file").filter(|path| path.ends_with(".json"))?;
    let has_jq = super::has_program(form.fs(), "jq");
    let value: Value = serde_json::from_str(&form.content(&path)?).ok().filter(|_| has_jq)?;
    let known = |shape: &str, key: Option<String>| {
        let shape = Some(shape.to_owned());
        Known::of("json", [("path", Some(path.clone())), ("shape", shape), ("key", key)])
    };
    match wording {
        "value" => {
            let inner = form.text("key2").map(|inner| format!(".{inner}")).unwrap_or_default();
            let key = format!("{}{inner}", form.text("key")?);
            let found = key.split('.').try_fold(&value, |value, part| value.get(part))?;
            listed(found).map(|_| known("value", Some(key)))
        }
        // "is debug on" is answered by its value.
        "truth" => {
            let key = form.text("key")?;
            value.get(key).filter(|found| found.is_boolean()).map(|_| known("value", Some(key.to_owned())))
        }
        "keys" => value.is_object().then(|| known("keys", None)),
        _ => {
            let stem = file_name(&path)?.split('.').next()?.to_lowercase();
            let is_meant = form.text("noun").is_none_or(|noun| noun.to_lowercase() == stem);
            let of = Box::new(known("entries", None));
            (value.is_array() && is_meant && !super::table::is_table(&path, &form.content(&path)?))
                .then_some(Query::Aggregate { of, function: Function::Count })
        }
    }
}

/// The lines that show a JSON value: one for a simple value, one for each element of a list of simple values; else
/// `None`.
fn listed(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::Array(items) if !items.iter().any(Value::is_array) => items.iter().map(shown).collect(),
        other => Some(vec![shown(other)?]),
    }
}

/// A JSON text, number, boolean or null on one line; `None` for a list or an object.
fn shown(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()).filter(|text| !text.contains('\n')),
        Value::Number(_) | Value::Bool(_) | Value::Null => Some(value.to_string()),
        Value::Array(_) | Value::Object(_) => None,
    }
}

/// The question about a JSON file as a noun phrase in English.
fn english(known: &Known) -> String {
    let path = crate::english::quoted_path(known.value("path"));
    match known.value("shape") {
        "value" => format!("value of {} in {path}", crate::english::quoted(known.value("key"))),
        shape => format!("{shape} of {path}"),
    }
}

/// The `jq` command that answers a question about a JSON file.
fn lower(known: &Known) -> Result<Pipeline, Unsupported> {
    let jq = Argv::new("jq -r");
    let jq = match known.value("shape") {
        "value" => {
            let found = "getpath($k|split(\".\"))|if type==\"array\" then .[] else . end";
            jq.and("--arg k").value(known.value("key")).value(found)
        }
        "keys" => jq.value("keys_unsorted[]"),
        _ => jq.and("-c").value(".[]"),
    };
    Ok(Pipeline::of(jq.value(known.value("path"))))
}

/// The answer to a question about a JSON file, computed without `jq`.
fn eval(known: &Known, fs: &dyn FileSystem) -> Result<Vec<String>, EvalError> {
    let content = text::system_file(known.value("path"), fs)?;
    let none = |_| EvalError::Meaningless;
    match known.value("shape") {
        "value" => {
            let value: Value = serde_json::from_str(&content).map_err(none)?;
            let found = known.value("key").split('.').try_fold(&value, |value, part| value.get(part));
            found.and_then(listed).ok_or(EvalError::Meaningless)
        }
        "keys" => {
            let object: Map<String, Value> = serde_json::from_str(&content).map_err(none)?;
            // In the order of the file, where each key stands once at the top.
            let mut keys: Vec<&String> = object.keys().collect();
            keys.sort_by_key(|key| content.find(&format!("\"{key}\"")));
            Ok(keys.into_iter().cloned().collect())
        }
        _ => {
            let list: Vec<Value> = serde_json::from_str(&content).map_err(none)?;
            Ok(list.iter().map(Value::to_string).collect())
        }
    }
}
