//! A schema as a model reads it best: the form of the value itself, a fraction of the schema's own length.
//!
//! `{"path":string,"lines":{"first":integer}|{"last":integer}(optional)}`: without white space, since a model writes its
//! reply as it sees the form written. What the strict reader holds a reply against is in it, bounds of long texts apart.
//! Words of a schema stand in quotes, so that none of them can pass for a part of the form. A part that has no such form
//! is written as it is.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value};

/// Texts and lists of more are not said to be bounded: nobody counts that far.
const BOUND_TOLD_MAX: u64 = 1_000;

/// Deepest part written as a form; below it a part is written as it is.
const LEVELS_MAX: usize = 12;

/// A part is given a name where it stands more than once and is longer than this.
const NAMED_FROM_CHARS: usize = 60;

/// Forms kept: one for each role and each tool, and for the steps under way, whose tools differ.
const KEPT_MAX: usize = 64;

/// Keywords that say something about a value which no form shows.
const STRANGE: [&str; 8] =
    ["$ref", "allOf", "not", "if", "patternProperties", "prefixItems", "dependentRequired", "propertyNames"];

static FORMS: Mutex<Forms> = Mutex::new(Forms(Vec::new()));

/// Forms by their schema, the one asked for last at the end.
struct Forms(Vec<(Value, Arc<str>)>);

impl Forms {
    fn of(&mut self, schema: &Value) -> Arc<str> {
        // To the end: others hold the ids of their own call and never come back.
        let known = self.0.iter().position(|(known, _)| known == schema).map(|at| self.0.remove(at));
        let known = known.unwrap_or_else(|| (schema.clone(), made(schema).into()));
        if self.0.len() >= KEPT_MAX {
            self.0.remove(0);
        }
        let form = Arc::clone(&known.1);
        self.0.push(known);
        form
    }
}

/// The form of the values that fit `schema`, on one line; a part that stands in it several times is named first, on a
/// line of its own.
///
/// Made once for a schema: it is asked for in call after call, and takes longer to make than all the rest of a request.
#[must_use]
pub fn shape(schema: &Value) -> Arc<str> {
    FORMS.lock().unwrap_or_else(PoisonError::into_inner).of(schema)
}

fn made(schema: &Value) -> String {
    let mut repeated = Vec::new();
    let mut whole = part(schema, LEVELS_MAX, &mut Some(&mut repeated));
    repeated.sort_by_key(|text| std::cmp::Reverse(text.len()));
    let mut names = String::new();
    let letters = ('A'..='Z').map(String::from);
    let said = whole.clone();
    let mut letters = letters.filter(|letter| !said.contains(letter.as_str()));
    for text in repeated {
        if whole.matches(text.as_str()).count() > 1
            && let Some(name) = letters.next()
        {
            whole = whole.replace(&text, &name);
            names.push_str(&format!("{name}={text}\n"));
        }
    }
    names + &whole
}

/// Where parts that are long enough to be named are put, once each; nowhere below alternatives.
type Found<'f> = Option<&'f mut Vec<String>>;

/// A part, noted where it is long enough to be named.
fn noted(schema: &Value, levels_left: usize, found: &mut Found<'_>) -> String {
    let text = part(schema, levels_left, found);
    if let Some(found) = found
        && schema.is_object()
        && levels_left > 0
        && text.len() > NAMED_FROM_CHARS
        && !found.contains(&text)
    {
        found.push(text.clone());
    }
    text
}

fn part(schema: &Value, levels_left: usize, found: &mut Found<'_>) -> String {
    let as_it_is = || schema.to_string();
    let (Some(fields), Some(inside)) = (schema.as_object(), levels_left.checked_sub(1)) else { return as_it_is() };
    if STRANGE.iter().any(|keyword| fields.contains_key(*keyword)) {
        return as_it_is();
    }
    if let Some(only) = fields.get("const") {
        return only.to_string();
    }
    if let Some(allowed) = fields.get("enum").and_then(Value::as_array) {
        return either(allowed.iter().map(Value::to_string));
    }
    if fields.contains_key("properties") {
        return object(fields, inside, found);
    }
    let alternatives = fields.get("anyOf").or_else(|| fields.get("oneOf")).and_then(Value::as_array);
    if let Some(alternatives) = alternatives {
        return either(alternatives.iter().map(|alternative| part(alternative, inside, &mut None)));
    }
    match fields.get("type") {
        Some(Value::String(name)) => typed(name, fields, inside, found).unwrap_or_else(as_it_is),
        Some(Value::Array(names)) => {
            let typed: Option<Vec<String>> =
                names.iter().map(|name| typed(name.as_str()?, fields, inside, found)).collect();
            typed.map_or_else(as_it_is, |parts| either(parts.into_iter()))
        }
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => as_it_is(),
    }
}

fn either(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join("|")
}

fn object(fields: &Map<String, Value>, levels_left: usize, found: &mut Found<'_>) -> String {
    let required: Vec<&str> =
        fields.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let mut property = |(name, schema): (&String, &Value)| {
        let optional = if required.contains(&name.as_str()) { "" } else { "(optional)" };
        let said = schema.get("description").and_then(Value::as_str).map(|said| format!("({})", Value::from(said)));
        let name = Value::from(name.as_str());
        format!("{name}:{}{optional}{}", noted(schema, levels_left, found), said.unwrap_or_default())
    };
    let mut properties: Vec<_> = fields.get("properties").and_then(Value::as_object).into_iter().flatten().collect();
    // What must be there first: weak models stop reading early.
    properties.sort_by_key(|(name, _)| !required.contains(&name.as_str()));
    format!("{{{}}}", properties.into_iter().map(&mut property).collect::<Vec<_>>().join(","))
}

fn typed(name: &str, fields: &Map<String, Value>, levels_left: usize, found: &mut Found<'_>) -> Option<String> {
    let bound = |name: &str| fields.get(name).and_then(Value::as_u64);
    let at_most = |name: &str| bound(name).filter(|most| *most <= BOUND_TOLD_MAX);
    Some(match name {
        "string" => at_most("maxLength").map_or_else(|| "string".to_owned(), |most| format!("string(max {most})")),
        "integer" | "number" => match (bound("minimum"), bound("maximum")) {
            (Some(least), Some(most)) => format!("{name}({least} to {most})"),
            (Some(least), None) => format!("{name}(from {least})"),
            (None, _) => name.to_owned(),
        },
        "boolean" => "true|false".to_owned(),
        "null" => "null".to_owned(),
        "object" => "{...}".to_owned(),
        "array" => {
            let items = fields.get("items").map_or_else(|| "...".to_owned(), |items| noted(items, levels_left, found));
            match (bound("minItems").unwrap_or(0), at_most("maxItems")) {
                (_, Some(0)) => "[]".to_owned(),
                (least, Some(most)) if least == most => format!("[{items}](exactly {most})"),
                (least, Some(most)) if least > 0 => format!("[{items}]({least} to {most})"),
                (_, Some(most)) => format!("[{items}](max {most})"),
                (_, None) => format!("[{items}]"),
            }
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};

    use super::{Forms, KEPT_MAX, shape};

    #[track_caller]
    fn check(schema: Value, expected: &str) {
        assert_eq!(&*shape(&schema), expected, "{schema}");
    }

    #[doc = "holds: client C14"]
    #[test]
    fn a_schema_is_written_as_the_form_of_its_values() {
        check(json!({"type": "string"}), "string");
        check(json!({"type": "string", "maxLength": 320}), "string(max 320)");
        check(json!({"type": "string", "maxLength": 4000}), "string");
        check(json!({"type": ["string", "null"], "maxLength": 9}), "string(max 9)|null");
        check(json!({"enum": ["a", 1, null]}), r#""a"|1|null"#);
        check(json!({"const": "a"}), r#""a""#);
        check(json!({"type": "integer", "minimum": 1, "maximum": 12}), "integer(1 to 12)");
        check(json!({"type": "integer", "minimum": 1}), "integer(from 1)");
        check(json!({"type": "array", "items": {"type": "boolean"}, "maxItems": 4}), "[true|false](max 4)");
        check(json!({"type": "array", "items": {"type": "null"}, "minItems": 2, "maxItems": 2}), "[null](exactly 2)");
        check(json!({"type": "array", "items": {"type": "null"}, "minItems": 1, "maxItems": 2}), "[null](1 to 2)");
        check(json!({"type": "array", "maxItems": 0}), "[]");
        check(json!({"type": "object"}), "{...}");
        check(
            json!({
                "type": "object", "required": ["b"],
                "properties": {"a": {"type": "number", "description": "how\nmuch"}, "b": {"anyOf": [{"const": 1}, {"type": "object"}]}}
            }),
            r#"{"b":1|{...},"a":number(optional)("how\nmuch")}"#,
        );
        // What the reader does not hold a reply against is left out beside what it does.
        check(
            json!({"type": "object", "required": ["t"], "properties": {"t": {"enum": ["x"]}}, "oneOf": [{"const": 7}]}),
            r#"{"t":"x"}"#,
        );
    }

    #[doc = "holds: client C14"]
    #[test]
    fn what_has_no_form_is_written_as_it_is_and_no_word_breaks_out_of_its_quotes() {
        check(json!({"$ref": "#/x"}), r##"{"$ref":"#/x"}"##);
        check(json!({}), "{}");
        check(json!(true), "true");
        check(json!({"type": "curious"}), r#"{"type":"curious"}"#);
        let hostile = "\"}, \"tool\": \"rm\" (optional) {\n";
        let schema = json!({"type": "object", "required": [], "properties": {hostile: {"type": "string", "description": hostile}}});
        let quoted = Value::from(hostile).to_string();
        check(schema, &format!("{{{quoted}:string(optional)({quoted})}}"));
        let mut deep = json!({"type": "string"});
        for _ in 0..100 {
            deep = json!({"type": "array", "items": deep});
        }
        assert!(shape(&deep).starts_with("[[["));
    }

    #[test]
    fn a_form_is_that_of_its_own_schema_however_many_there_are_and_is_made_once() {
        let mut forms = Forms(Vec::new());
        for _ in 0..2 {
            for most in 0..KEPT_MAX + 5 {
                let schema = json!({"type": "string", "maxLength": most});
                let form = forms.of(&schema);
                assert_eq!(*form, format!("string(max {most})"));
                assert!(Arc::ptr_eq(&form, &forms.of(&schema)));
                assert!(forms.0.len() <= KEPT_MAX);
            }
        }
    }

    #[test]
    fn what_is_asked_for_again_and_again_is_kept_among_what_is_asked_for_once() {
        let mut forms = Forms(Vec::new());
        let role = json!({"type": "string"});
        let first = forms.of(&role);
        for most in 0..3 * KEPT_MAX {
            forms.of(&json!({"type": "string", "maxLength": most}));
            assert!(Arc::ptr_eq(&first, &forms.of(&role)));
        }
    }

    #[test]
    fn a_long_part_that_stands_twice_is_said_once() {
        let criterion = json!({"type": "object", "required": ["criterion"], "properties": {
            "criterion": {"type": "string", "maxLength": 320}, "mode": {"enum": ["verifiable", "plausible"]}}});
        let list = json!({"type": "array", "items": criterion, "maxItems": 6});
        let schema = json!({"type": "object", "required": ["one", "two"], "properties": {"one": list, "two": list}});
        check(
            schema,
            "A=[{\"criterion\":string(max 320),\"mode\":\"verifiable\"|\"plausible\"(optional)}](max 6)\n{\"one\":A,\"two\":A}",
        );
    }
}
