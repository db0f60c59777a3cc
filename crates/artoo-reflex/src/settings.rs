//! Sets one value in a settings file, changing only the line of its key.

use std::path::Path;

use crate::ensure::ensure;
use serde_json::Value;

/// The syntax of a settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    /// `KEY=value`, as shells read it.
    Env,
    /// `key = value` below `[section]`: ini and toml.
    Sections {
        /// Whether text values are in quotes.
        is_toml: bool,
    },
    Yaml,
    Json,
}

/// A line of a settings file that sets a key.
struct Setting {
    /// Number of the line, from 0.
    line: usize,
    /// The names of the sections and the key, outermost first.
    path: Vec<String>,
    /// The byte range of the value in the line.
    value: std::ops::Range<usize>,
}

/// The acceptable new texts of a settings file with a key set to a value, the preferred one first.
///
/// # Errors
/// A message if the format is unknown, the file is no text, the value has several lines, or the key occurs several
/// times or is missing. To a file of the format `Env`, a missing key is added instead.
pub(crate) fn set(
    file: &Path,
    before: &[u8],
    section: Option<&str>,
    key: &str,
    value: &str,
) -> Result<Vec<Vec<u8>>, String> {
    let format = format(file).ok_or("this kind of settings file can't be compared")?;
    let text = std::str::from_utf8(before).map_err(|_| "the file is no text")?;
    ensure(!value.contains('\n') && !key.is_empty() && (format != Format::Env || section.is_none()), || {
        "such a value or section can't be compared".to_owned()
    })?;
    let name = section.map_or_else(|| key.to_owned(), |section| format!("{section}.{key}"));
    let wanted: Vec<&str> = if format == Format::Env { vec![key] } else { name.split('.').collect() };
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let settings = settings(&lines, format);
    let is_it = |setting: &&Setting| match section {
        Some(_) => setting.path.iter().eq(wanted.iter()),
        None => setting.path.iter().rev().zip(wanted.iter().rev()).filter(|(a, b)| a == b).count() == wanted.len(),
    };
    let found: Vec<&Setting> = settings.iter().filter(is_it).collect();
    let setting = match found.as_slice() {
        [] if format == Format::Env && section.is_none() => {
            let newline = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
            let added = |spelling| format!("{text}{newline}{key}={spelling}\n").into_bytes();
            return Ok(spellings(value, "\"", format).into_iter().rev().map(added).collect());
        }
        [] => return Err(format!("there is no single line that sets “{name}”")),
        [one] => one,
        several => return Err(format!("“{name}” is set in {} places", several.len())),
    };
    let line = lines.get(setting.line).copied().unwrap_or_default();
    let old = line.get(setting.value.clone()).unwrap_or_default();
    let made = spellings(value, old, format).into_iter().map(|spelling| {
        let mut line = line.to_owned();
        line.replace_range(setting.value.clone(), &spelling);
        let changed = lines.iter().enumerate().map(|(at, same)| if at == setting.line { line.as_str() } else { same });
        changed.collect::<String>()
    });
    let is_right = |text: &String| format != Format::Json || differs_only_there(before, text, &wanted);
    let made: Vec<Vec<u8>> = made.filter(is_right).map(String::into_bytes).collect();
    ensure(!made.is_empty(), || format!("“{name}” can't be set in its line alone"))?;
    Ok(made)
}

/// The keys of a settings file, each after the names of its sections, with their values; empty for an unknown format.
pub(crate) fn keys(file: &Path, text: &str) -> Vec<(Vec<String>, String)> {
    let Some(format) = format(file) else { return Vec::new() };
    if format == Format::Json
        && let Ok(value) = serde_json::from_str(text)
    {
        return fields(&value, &[]);
    }
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let value = |setting: &Setting| lines.get(setting.line)?.get(setting.value.clone()).map(unquoted);
    let with_value = |setting: Setting| (setting.path.clone(), value(&setting).unwrap_or_default().to_owned());
    settings(&lines, format).into_iter().map(with_value).collect()
}

/// The values in a JSON value and all nested objects, each with its path of names.
fn fields(value: &Value, outer: &[String]) -> Vec<(Vec<String>, String)> {
    let Value::Object(all) = value else { return Vec::new() };
    let field = |(name, inner): (&String, &Value)| {
        let path = [outer, std::slice::from_ref(name)].concat();
        let below = fields(inner, &path);
        let own = (path, inner.as_str().map_or_else(|| inner.to_string(), str::to_owned));
        [vec![own], below].concat()
    };
    all.iter().flat_map(field).collect()
}

/// The format of a settings file by its name; `None` if unknown.
fn format(file: &Path) -> Option<Format> {
    let name = file.file_name()?.to_str()?.to_ascii_lowercase();
    if name == ".env" || name.starts_with(".env.") {
        return Some(Format::Env);
    }
    Some(match name.rsplit_once('.')?.1 {
        "env" | "properties" => Format::Env,
        "ini" | "cfg" | "conf" => Format::Sections { is_toml: false },
        "toml" => Format::Sections { is_toml: true },
        "yaml" | "yml" => Format::Yaml,
        "json" => Format::Json,
        _ => return None,
    })
}

/// All lines of a settings file that set a key.
fn settings(lines: &[&str], format: Format) -> Vec<Setting> {
    let mut found = Vec::new();
    // The enclosing sections, each with the indentation of its own line.
    let mut sections: Vec<(usize, String)> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let bare = line.trim_end_matches(['\n', '\r']);
        let start = bare.trim_start();
        let indent = bare.len() - start.len();
        if start.is_empty() || start.starts_with(['#', ';']) {
            continue;
        }
        if let (Format::Sections { .. }, Some(header)) = (format, start.trim_end().strip_prefix('[')) {
            // The sections of a list of tables have the same name, so a key in them is ambiguous.
            let names = header.trim_end_matches(']').split('.').map(|name| (0, unquoted(name).to_owned()));
            sections = names.collect();
            continue;
        }
        let nests = matches!(format, Format::Yaml | Format::Json);
        while nests && sections.last().is_some_and(|(outer, _)| *outer >= indent) {
            sections.pop();
        }
        let exported = start.strip_prefix("export ").filter(|_| format == Format::Env).unwrap_or(start);
        let separator = if nests { ':' } else { '=' };
        let Some((key, rest)) = exported.split_once(separator) else { continue };
        let from = bare.len() - rest.trim_start().len();
        let to = from + value_length(bare.get(from..).unwrap_or_default(), format);
        let key = unquoted(key).to_owned();
        let value = bare.get(from..to).unwrap_or_default();
        if nests && (value.is_empty() || value == "{" || value == "[") {
            sections.push((indent, key));
            continue;
        }
        let path = sections.iter().map(|(_, name)| name.clone()).chain([key]).collect();
        found.push(Setting { line: at, path, value: from..to });
    }
    found
}

/// The length of the value at the start of a text, without a following comment or comma.
fn value_length(rest: &str, format: Format) -> usize {
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''));
    if let Some(quote) = quote {
        let mut is_escaped = false;
        for (at, c) in rest.char_indices().skip(1) {
            if c == quote && !is_escaped {
                return at + c.len_utf8();
            }
            is_escaped = c == '\\' && !is_escaped && quote == '"';
        }
    }
    let end = match format {
        Format::Json => rest.len(),
        Format::Env | Format::Sections { .. } | Format::Yaml => rest.find(" #").unwrap_or(rest.len()),
    };
    let value = rest.get(..end).unwrap_or(rest).trim_end();
    if format == Format::Json { value.trim_end_matches(',').trim_end().len() } else { value.len() }
}

/// The acceptable spellings of a new value in place of an old one, such as with its quotation marks.
fn spellings(value: &str, old: &str, format: Format) -> Vec<String> {
    let typed = unquoted(value);
    let escaped = typed.replace('\\', "\\\\").replace('"', "\\\"");
    let double = format!("\"{escaped}\"");
    let is_literal = |text: &str| serde_json::from_str::<Value>(text).is_ok_and(|value| !value.is_string());
    match format {
        Format::Json | Format::Sections { is_toml: true } => {
            let was_text = old.starts_with(['"', '\'']);
            match (is_literal(typed) && typed == value, was_text) {
                (true, false) => vec![typed.to_owned()],
                // Single quotes stay single quotes.
                _ if old.starts_with('\'') => vec![format!("'{typed}'"), double],
                _ => vec![double],
            }
        }
        Format::Env | Format::Sections { is_toml: false } | Format::Yaml => match old.chars().next() {
            Some('"') => vec![double, value.to_owned()],
            Some('\'') => vec![format!("'{typed}'"), value.to_owned()],
            _ if typed == value => vec![value.to_owned()],
            _ => vec![value.to_owned(), typed.to_owned()],
        },
    }
}

/// A key or value without blanks and quotation marks around it.
fn unquoted(text: &str) -> &str {
    let text = text.trim();
    let inner = |quote| text.strip_prefix(quote)?.strip_suffix(quote);
    inner('"').or_else(|| inner('\'')).unwrap_or(text)
}

/// Whether two JSON texts differ only in the value of one key.
fn differs_only_there(before: &[u8], after: &str, path: &[&str]) -> bool {
    let (Ok(mut before), Ok(after)) = (serde_json::from_slice::<Value>(before), serde_json::from_str::<Value>(after))
    else {
        return false;
    };
    let places = places(&before, path, String::new());
    let [place] = places.as_slice() else { return false };
    if let (Some(old), Some(new)) = (before.pointer_mut(place), after.pointer(place)) {
        *old = new.clone();
    }
    before == after
}

/// The JSON pointers to all values whose path of keys ends in these keys.
fn places(value: &Value, path: &[&str], at: String) -> Vec<String> {
    let Value::Object(fields) = value else { return Vec::new() };
    let place = |(name, inner): (&String, &Value)| {
        let below = format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
        let own = below.split('/').skip(1).collect::<Vec<_>>().ends_with(path).then(|| below.clone());
        own.into_iter().chain(places(inner, path, below)).collect::<Vec<_>>()
    };
    fields.iter().flat_map(place).collect()
}
