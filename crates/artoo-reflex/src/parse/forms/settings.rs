//! Builds changes of values in settings files, and decides which files can take a text as new lines.

use std::path::Path;

use super::acts::Form;
use super::{holds_settings, is_word};
use crate::algebra::{Act, Step};
use crate::eval::Entry;
use crate::lex::Class;
use crate::lexicon::{FileType, lexicon};
use crate::place::{file_name, is_archive, parent};
use crate::settings::keys;

/// Kinds of files that have no lines of text.
const BINARY: [&str; 10] =
    ["image", "photo", "video", "audio", "archive", "word processor document", "Excel", "PowerPoint", "PDF", "EPUB"];

/// Words for a setting, such as "value", which are read as a key only if the file has a key of that name.
const NOUNS: [&str; 12] = [
    "value", "values", "setting", "settings", "key", "keys", "option", "options", "variable", "entry", "field",
    "property",
];

/// The kinds of files that have the extension of this path.
pub(super) fn kinds(path: &str) -> impl Iterator<Item = &'static FileType> {
    let name = file_name(path).unwrap_or_default().to_lowercase();
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_owned());
    lexicon().types.iter().filter(move |kind| ending.as_ref().is_some_and(|ending| kind.extensions.contains(ending)))
}

/// Whether a path is that of a file with lines of text, to go by its name.
fn holds_lines(path: &str) -> bool {
    !is_archive(path) && !kinds(path).any(|kind| BINARY.contains(&kind.name.as_str()))
}

impl Form<'_> {
    /// Whether the request has one of these words.
    pub(crate) fn has_word(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.is_said(word))
    }

    /// Whether the request filled a slot of the form.
    pub(crate) fn is_given(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// Those of the words that the request has, in the singular or plural, joined by spaces; `None` if it has none.
    pub(crate) fn said_of(&self, words: &[&str]) -> Option<String> {
        let said = words.iter().copied().filter(|word| self.is_said(word) || self.is_said(&format!("{word}s")));
        let said = said.collect::<Vec<_>>().join(" ");
        (!said.is_empty()).then_some(said)
    }

    /// Whether the request has this word, not quoted.
    fn is_said(&self, word: &str) -> bool {
        self.matcher.chart.tokens.iter().any(|token| is_word(Some(token), word))
    }

    /// Whether a text stands in quotes in the request.
    pub(super) fn is_quoted(&self, text: &str) -> bool {
        self.matcher.chart.tokens.iter().any(|token| token.class == Class::Quoted && token.raw == text)
    }

    /// The settings in a file: for each, the names of its sections and its key, and its value.
    fn settings(&self, path: &str) -> Vec<(Vec<String>, String)> {
        keys(Path::new(path), &self.content(path).unwrap_or_default())
    }

    /// Whether a settings file has a value for a key.
    pub(super) fn has_key(&self, path: &str, key: &str) -> bool {
        self.settings(path).iter().any(|(names, _)| names.last().is_some_and(|name| name == key))
    }

    /// The steps that set values in a settings file; `None` if the old value that is named doesn't stand beside the
    /// key.
    pub(super) fn value_set(&self) -> Option<Vec<Step>> {
        let path = self.path("file").filter(|path| !self.may_be_other(path))?;
        let pair = self.text("pair").and_then(|pair| pair.split_once('='));
        let (key, value) = pair.or_else(|| self.text("key").zip(self.text("to")))?;
        let settings = self.settings(&path);
        let name = key.rsplit('.').next().unwrap_or(key);
        let is_it = |names: &Vec<String>| format!(".{}", names.join(".")).ends_with(&format!(".{key}"));
        let found = settings.iter().find(|(names, _)| is_it(names));
        // "set the permissions of a.json to 600" sets no key that is not there.
        if found.is_none() && ["permissions", "permission", "mode"].contains(&key) {
            return None;
        }
        let has = |from: &str| {
            found.is_some_and(|(_, old)| old == from || old.split([' ', ',', ':', '=']).any(|part| part == from))
        };
        let names_one = |word: &str| settings.iter().any(|(names, _)| names.iter().any(|name| name == word));
        // A value that is changed must be there; "set" and "add" may bring a new key.
        let is_new = self.has_word(&["set", "add", "put"]);
        // "set the ports" where the file has "port", or HOST where it has DB_HOST, may mean that key.
        let content = self.content(&path).unwrap_or_default().to_lowercase();
        let is_other = NOUNS.contains(&name) || content.contains(name.to_lowercase().trim_end_matches('s'));
        // Both in quotes may be texts, and one key or section in place of another may be its new name.
        let is_text = self.is_quoted(key) && self.is_quoted(value) && !self.has_word(&NOUNS);
        let is_renamed = names_one(value) || value.trim_end_matches('s') == name.trim_end_matches('s');
        let is_plain = pair.is_some() || self.text("from").is_some() || self.has_word(&["set"]);
        let is_unclear = !is_plain && (is_text || is_renamed);
        // A new line of a file of KEY=VALUE is added.
        let is_line = found.is_none() && self.has_word(&["add"]) && pair.is_some() && is_env(&path);
        let is_known = found.map_or(is_new && !is_other, |_| true);
        if !self.text("from").is_none_or(has)
            || !is_known
            || is_unclear
            || is_line
            || key.is_empty()
            || value.is_empty()
        {
            return None;
        }
        let section = self.text("section").map(str::to_owned);
        let more = [("key2", "to2"), ("key3", "to3")];
        let more = more.iter().filter_map(|(key, value)| self.text(key).zip(self.text(value)));
        let set = |(key, value): (&str, &str)| {
            let (path, section) = (path.clone(), section.clone());
            Step::Do(Act::SetValue { path, section, key: key.to_owned(), value: value.to_owned() })
        };
        Some([(key, value)].into_iter().chain(more).map(set).collect())
    }

    /// Whether a path where nothing exists may mean another file: one of this name in the current folder, if the folder
    /// is said apart, or one with an extension, as README.md for README.
    fn may_be_other(&self, path: &str) -> bool {
        let context = self.matcher.context;
        let name = file_name(path).unwrap_or_default();
        let is_like = |entry: &Entry| {
            let other = entry.path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            other.eq_ignore_ascii_case(name)
        };
        let is_apart = self.values.contains_key("folder");
        let is_here = is_apart && context.resolve(name).is_some_and(|place| self.is_there(&place.path));
        let beside = || context.fs.list(Path::new(parent(path))).unwrap_or_default();
        let is_made = self.matcher.before.and_then(|before| before.file()).is_some_and(|made| made == path);
        !is_made && !self.is_there(path) && (is_here || beside().iter().any(is_like))
    }

    /// Whether a text can be added to a file as new lines: to a text file, and to a settings file only if no key is
    /// then set twice.
    pub(super) fn takes_lines(&self, text: &str, path: &str) -> bool {
        if !holds_lines(path) || self.may_be_other(path) || (self.is_there(path) && self.content(path).is_none()) {
            return false;
        }
        if !holds_settings(path) || !self.is_there(path) {
            return true;
        }
        let is_said = self.has_word(&["line", "lines"]);
        let fits = |line: &str| match line.split_once(['=', ':']) {
            _ if line.starts_with(['#', ';']) => true,
            Some((key, _)) => {
                let key = key.trim().trim_matches(['"', '\'']);
                !self.has_key(path, key.strip_prefix("export ").unwrap_or(key)) && (is_said || is_env(path))
            }
            None => is_said,
        };
        !path.to_lowercase().ends_with(".json") && text.lines().all(fits)
    }
}

/// Whether a path is that of a file with KEY=VALUE lines alone, to go by its name.
fn is_env(path: &str) -> bool {
    let name = file_name(path).unwrap_or_default().to_lowercase();
    name.starts_with(".env") || name.ends_with(".env") || name.ends_with(".properties")
}
