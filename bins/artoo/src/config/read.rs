//! Strict reading of the configuration file; errors name the line.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use artoo_tools::trust::{self, Distrust};
use toml::Spanned;

use super::command;
use super::{KEY_FILE_MAX_BYTES, Kind, Setting};
use crate::failure::ConfigProblem;
use crate::suggest;
use crate::variables::Variables;

/// Maximum size of the configuration file, in bytes.
const FILE_MAX_BYTES: u64 = 64 * 1024;

/// Maximum length of a word that an error quotes as a name, in characters; a longer one may be a key and is not shown.
const NAME_MAX_CHARS: usize = 40;

/// A configuration file that was read without errors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ConfigFile {
    pub(crate) path: PathBuf,
    entries: BTreeMap<Setting, Entry>,
}

/// A setting as it stands in the configuration file: its value, its line, and its place in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    value: String,
    line: usize,
    /// The byte at which the setting's name begins in the file.
    begin: usize,
    /// The bytes of the value in the file.
    value_bytes: Range<usize>,
}

/// Reads the configuration file; `None` if it does not exist.
pub(crate) fn load(path: &Path, home: &Path) -> Result<Option<ConfigFile>, ConfigProblem> {
    text_of(path)?.map(|text| parse(path, home, &text)).transpose()
}

/// The text of the configuration file; `None` if it does not exist.
pub(crate) fn text_of(path: &Path) -> Result<Option<String>, ConfigProblem> {
    Ok(trust::text(path, FILE_MAX_BYTES, false)?)
}

/// Reads the text of the configuration file at `path`.
pub(crate) fn parse(path: &Path, home: &Path, text: &str) -> Result<ConfigFile, ConfigProblem> {
    let line_at = |byte: usize| text.bytes().take(byte).filter(|byte| *byte == b'\n').count() + 1;
    let wrong =
        |byte: usize, problem: String| ConfigProblem::Line { path: path.to_path_buf(), line: line_at(byte), problem };
    let table: BTreeMap<Spanned<String>, Spanned<toml::Value>> = toml::from_str(text).map_err(|error| {
        let byte = error.span().map_or(0, |span| span.start);
        wrong(byte, error.message().to_owned())
    })?;
    let mut entries = BTreeMap::new();
    for (name, value) in table {
        let at = name.span().start;
        let key = key_of(name.get_ref()).map_err(|problem| wrong(at, problem))?;
        let value_bytes = value.span();
        let (value, is_flag) = (value.get_ref(), key.kind() == Kind::Flag);
        let flag = value.as_bool().filter(|_| is_flag).map(|flag| if flag { "true" } else { "false" });
        let Some(text) = value.as_str().or(flag) else {
            let wanted = if is_flag { "true or false" } else { "a text in quotes" };
            return Err(wrong(at, format!("{} is to be {wanted}, and is {}", key.name(), value.type_str())));
        };
        if text.trim().is_empty() {
            return Err(wrong(at, format!("{} is empty; remove the line", key.name())));
        }
        let value = match key.kind() {
            Kind::Path | Kind::KeyFile => whole_path(home, text, key).map_err(|problem| wrong(at, problem))?,
            Kind::Text | Kind::Flag | Kind::KeyVariable | Kind::KeyCommand => text.to_owned(),
        };
        if entries.insert(key, Entry { value, line: line_at(at), begin: at, value_bytes }).is_some() {
            return Err(wrong(at, format!("{} is set twice, the other time by its earlier name", key.name())));
        }
    }
    one_key_each(path, &entries)?;
    Ok(ConfigFile { path: path.to_path_buf(), entries })
}

/// Refuses a configuration file that gives the key of the same endpoint in two ways, such as by a file and by a
/// command.
fn one_key_each(path: &Path, entries: &BTreeMap<Setting, Entry>) -> Result<(), ConfigProblem> {
    let places = [
        vec![Setting::SecretFile, Setting::SecretVariable, Setting::SecretCommand],
        vec![Setting::WorkerSecretFile, Setting::WorkerSecretVariable],
    ];
    for places in places {
        let given: Vec<Setting> = places.into_iter().filter(|place| entries.contains_key(place)).collect();
        if let [one, other, ..] = given.as_slice() {
            let problem = format!("{} and {} both say where the key is; one of them must go", one.name(), other.name());
            let line = entries.get(one).map_or(0, |entry| entry.line);
            return Err(ConfigProblem::Line { path: path.to_path_buf(), line, problem });
        }
    }
    Ok(())
}

/// Finds the setting with this name; the error for an unknown name suggests a similar one.
pub(crate) fn key_of(name: &str) -> Result<Setting, String> {
    if let Some(key) = Setting::named(name) {
        return Ok(key);
    }
    let shown = shown_if_name(name, |c| c.is_ascii_lowercase());
    if name.contains("api_key") {
        return Err(format!("{shown} is no key; a key is never kept here: use key_file, key_variable or key_command"));
    }
    let names: Vec<&str> = Setting::ALL.into_iter().map(Setting::name).collect();
    Err(match suggest::nearest(name, &names) {
        Some(meant) => format!("{shown} is no key; did you mean {meant}?"),
        None => format!("{shown} is no key; there are {}", names.join(", ")),
    })
}

/// The word if it is spelled like a setting's name, otherwise a placeholder, since the word may be a secret typed in
/// the wrong place.
fn shown_if_name(word: &str, is_letter: fn(&char) -> bool) -> String {
    let is_of_names = |c: char| is_letter(&c) || c.is_ascii_digit() || c == '_';
    let is_name = word.chars().count() <= NAME_MAX_CHARS && word.chars().all(is_of_names);
    if is_name { word.to_owned() } else { "(not shown, it may be a key)".to_owned() }
}

/// Expands `~/` in a path and refuses relative paths. An error never quotes the value of a key file setting, since it
/// may be the key.
fn whole_path(home: &Path, value: &str, key: Setting) -> Result<String, String> {
    let path = super::expanded(home, value);
    match path.to_str() {
        Some(text) if path.is_absolute() => Ok(text.to_owned()),
        _ if key.kind() == Kind::KeyFile => Err(format!("the path of {} must start with / or ~/", key.name())),
        _ => Err(format!("{value:?} must start with / or ~/")),
    }
}

impl ConfigFile {
    /// The text of a setting's value; `None` if the configuration file does not set it.
    pub(crate) fn get(&self, key: Setting) -> Option<&str> {
        self.entries.get(&key).map(|entry| entry.value.as_str())
    }

    /// Returns the file's text with a setting changed or added, or removed if the value is `None`; all else stays,
    /// comments included.
    pub(crate) fn edited(&self, text: &str, key: Setting, value: Option<&str>) -> String {
        let value = value.map(|value| match key.kind() {
            Kind::Flag => value.to_owned(),
            Kind::Text | Kind::Path | Kind::KeyVariable | Kind::KeyFile | Kind::KeyCommand => {
                toml::Value::String(value.to_owned()).to_string()
            }
        });
        let Some(entry) = self.entries.get(&key) else {
            let line = value.map(|value| format!("{} = {value}\n", key.name())).unwrap_or_default();
            let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
            return format!("{text}{end}{line}");
        };
        let (before, after) = (
            text.get(..entry.value_bytes.start).unwrap_or(text),
            text.get(entry.value_bytes.end..).unwrap_or_default(),
        );
        match value {
            Some(value) => format!("{before}{value}{after}"),
            None => {
                let before = text.get(..entry.begin).unwrap_or(text);
                format!("{before}{}", after.split_once('\n').map_or("", |(_, rest)| rest))
            }
        }
    }

    /// For each setting of the file whose environment variable is not in `set`: the variable, its value, and its origin
    /// (setting, file and line). Keys are read from their file, variable or command.
    pub(crate) fn variables(&self, set: &Variables) -> Result<Vec<(&'static str, String, String)>, ConfigProblem> {
        let mut filled = Vec::new();
        for (key, entry) in &self.entries {
            let variable = key.variable();
            if set.raw(variable).is_some() {
                continue;
            }
            let value =
                match key.kind() {
                    Kind::Text | Kind::Flag | Kind::Path => entry.value.clone(),
                    Kind::KeyFile => key_in(Path::new(&entry.value))?,
                    Kind::KeyVariable => {
                        let named = set.raw(&entry.value).and_then(|value| value.to_str());
                        named.map(str::to_owned).ok_or_else(|| ConfigProblem::KeyVariableUnset {
                            path: self.path.clone(),
                            line: entry.line,
                            variable: shown_if_name(&entry.value, |c| c.is_ascii_uppercase()),
                        })?
                    }
                    Kind::KeyCommand => command::key_from(&entry.value).map_err(|problem| {
                        ConfigProblem::KeyCommand { path: self.path.clone(), line: entry.line, problem }
                    })?,
                };
            filled.push((variable, value, format!("{} in {}:{}", key.name(), self.path.display(), entry.line)));
        }
        Ok(filled)
    }
}

/// Reads an endpoint's key, the first line of a file that only its owner may read.
pub(crate) fn key_in(path: &Path) -> Result<String, ConfigProblem> {
    let missing = || Distrust::Unreadable { path: path.to_path_buf(), source: std::io::ErrorKind::NotFound.into() };
    let text = trust::text(path, KEY_FILE_MAX_BYTES, true)?.ok_or_else(missing)?;
    let key = text.lines().next().unwrap_or_default().trim();
    if key.is_empty() { Err(ConfigProblem::NoKey { path: path.to_path_buf() }) } else { Ok(key.to_owned()) }
}
