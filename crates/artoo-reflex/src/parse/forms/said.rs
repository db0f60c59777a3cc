//! Rewrites requests as plainer ones: the form's name is a template, which is filled with the slots' values and parsed.

use std::path::Path;

use super::super::as_said;
use super::super::build::Built;
use super::super::build::files::paths_in;
use super::super::item::Context;
use super::super::located::elsewhere;
use super::super::pattern::{is_table_name, singular};
use super::slots::stands_alone;
use super::{Matcher, Value, Values, Ways, is_word};
use crate::algebra::{NameTest, Pred, Query, Step};
use crate::english::{english, quoted, quoted_path};
use crate::eval::text::file_holds;
use crate::eval::{Answer, EntryKind, evaluate};
use crate::lex::{Class, Token, lex};
use crate::place::{PathKind, Place, file_name};

/// Maximum number of words of a text without quotes.
const MAX_WORDS: usize = 6;

/// Words that join, restrict or exclude, and so are never part of a text without quotes.
const JOINING: [&str; 12] =
    ["and", "or", "but", "not", "nor", "without", "except", "which", "that", "both", "either", "whose"];

impl Matcher<'_> {
    /// The steps of the plainer request that a template and these values give; `None` if it doesn't have exactly one
    /// reading.
    pub(super) fn said(&self, template: &str, values: &Values) -> Option<Vec<Built>> {
        // A template is not read as another one.
        let task = if values.contains_key("task") { Some(self.task(values)?) } else { None };
        let values = &values.iter().map(|(name, value)| (*name, value.clone())).chain(task).collect();
        let request = filled(template, values).filter(|_| !self.context.is_template)?;
        let context = Context { is_template: true, is_lost: false, ..*self.context };
        let built = as_said(&context, &request, &lex(&request), None).ok()?;
        (!values.contains_key("x") || built.iter().all(|built| self.is_content(&built.step))).then_some(built)
    }

    /// The whole text of the only open task in a list that has the words of the slot `task`, for that slot.
    fn task(&self, values: &Values) -> Option<(&'static str, Value)> {
        let (Value::Text(words) | Value::Words(words)) = values.get("task")? else { return None };
        let Value::Places(places) = values.get("f")? else { return None };
        let path = places.first()?.path.clone();
        let path = if self.context.on_disk(&path).is_some() { path } else { elsewhere(self.context, &path)? };
        let content = crate::eval::text::content(Path::new(&path), self.context.fs).ok()?;
        let content = String::from_utf8_lossy(&content);
        let mut open = content.lines().filter_map(|line| line.split_once("[ ] ").map(|(_, task)| task.to_owned()));
        let mut found = open.by_ref().filter(|task| task.to_lowercase().contains(&words.to_lowercase()));
        let only = found.next()?;
        found.next().is_none().then_some(("task", Value::Text(only)))
    }

    /// Whether a text that may be in files or in their names is meant in files: no name has it, or the same files do.
    fn is_content(&self, step: &Step) -> bool {
        let Step::Ask(Query::Filter { of, keep }) = step else { return false };
        let roots = if let Query::Tree { roots, .. } = of.as_ref() { roots.as_slice() } else { &[] };
        if roots.iter().any(|root| self.context.below(root).is_none()) {
            return false;
        }
        let in_names = keep.clone().map(&|pred| match pred {
            Pred::Contains { text, .. } => Pred::NameIgnoringCase(NameTest::Has(text)),
            other => other,
        });
        let files = |keep: Pred| match evaluate(&Query::Filter { of: of.clone(), keep }, self.context.fs) {
            Ok(Answer::Files(files)) => files.into_iter().map(|file| file.path).collect(),
            _ => Vec::new(),
        };
        let named = files(in_names);
        named.is_empty() || named == files(keep.clone())
    }

    /// Runs of words from a position on that are part of a file name below the current folder, a plural "s" left out if
    /// need be. For the kind of slot "titled" no file may contain them, for "counted" the file may be no table.
    pub(super) fn names(&self, at: usize, kind: &str) -> Ways {
        let here = &self.context.environment.cwd;
        let Some(entries) = self.context.below(here) else { return Vec::new() };
        // "how many products" may be the rows of products.csv.
        let names: Vec<String> = entries
            .iter()
            .filter(|entry| entry.kind == EntryKind::File)
            .map(|entry| String::from_utf8_lossy(entry.name_bytes()).to_lowercase())
            .filter(|name| kind != "counted" || !is_table_name(name))
            .collect();
        // "bus ticket" is part of "bus_ticket.pdf"; the text as the name has it.
        let named = |text: &str| {
            let text = text.to_lowercase();
            let part = |name: &String| {
                let at = name.replace(['_', '-'], " ").find(&text)?;
                name.get(at..at + text.len()).map(str::to_owned)
            };
            names.iter().find_map(part).filter(|_| !(kind == "titled" && self.context.is_held_below(here, &text)))
        };
        let is_general = |token: &Token| ["file", "files", "folder", "folders"].contains(&token.folded.as_str());
        if self
            .token(at)
            .is_none_or(|token| token.class == Class::Quoted || self.is_listed(token, "pronouns") || is_general(token))
        {
            return Vec::new();
        }
        let known = |(end, value): (usize, Value)| {
            let (Value::Text(text) | Value::Words(text)) = value else { return None };
            let stem = text.strip_suffix('s').filter(|stem| stem.len() > 2);
            // "ls" is no part of a name.
            let text =
                [Some(text.as_str()), stem].into_iter().flatten().filter(|text| text.len() > 2).find_map(named)?;
            Some((end, Value::Named(text)))
        };
        self.words(at).into_iter().filter_map(known).collect()
    }

    /// The words from a position to the end, if none of them can go on after a text: what they mean otherwise is no matter
    /// where the request calls them a text.
    pub(super) fn tail(&self, at: usize) -> Ways {
        let goes_on = |token: &Token| ["joints", "joining", "tail"].iter().any(|list| self.is_listed(token, list));
        let is_number = |at: usize| self.token(at).is_some_and(|token| matches!(token.class, Class::Number(_)));
        let fits = |at: usize| {
            let is_time = is_word(self.token(at), "at") && is_number(at + 1);
            // "[ ] buy ribbon" is a task, "Saturday: cloudy" a heading with its text.
            let is_sign = |token: &Token| ["[", "]", "[x]", ":", "-"].contains(&token.raw.as_str());
            let fits = |token: &Token| {
                matches!(token.class, Class::Word | Class::Number(_)) && !goes_on(token) || is_sign(token)
            };
            is_time || self.token(at).is_some_and(fits)
        };
        let count = (at..self.end).take_while(|at| fits(*at)).count();
        let run = self.chart.tokens.get(at..at + count).filter(|run| run.len() > 1);
        let joined = |text: String, (at, token): (usize, &Token)| {
            let before = at.checked_sub(1).and_then(|at| run?.get(at));
            let is_apart = before.is_some_and(|before| before.span.end < token.span.start);
            format!("{text}{}{}", if is_apart { " " } else { "" }, token.raw)
        };
        let text = run.map(|run| run.iter().enumerate().fold(String::new(), joined));
        text.map(|text| (at + count, Value::Text(text))).into_iter().collect()
    }

    /// The file or folder name of several unquoted words that starts at a position, with its end; none if no such name does.
    pub(super) fn worded(&self, kind: &str, at: usize) -> Vec<(usize, Place)> {
        if kind == "spaced" { self.spaced(at) } else { self.capitals(at) }.into_iter().collect()
    }

    /// The new name of several words that each begin with a capital or are a number, as in "called Weddings 2025".
    fn capitals(&self, at: usize) -> Option<(usize, Place)> {
        let begins = |token: &Token| token.raw.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit());
        let fits = |token: &Token| matches!(token.class, Class::Word | Class::Number(_)) && begins(token);
        // "a folder A B" is not the one called "B".
        let is_cut = at.checked_sub(1).and_then(|before| self.token(before)).is_some_and(begins);
        let count = (at..self.end).take_while(|at| self.token(*at).is_some_and(fits)).count();
        let run: Vec<&str> = self.chart.tokens.get(at..at + count)?.iter().map(|token| token.raw.as_str()).collect();
        let place = self.context.resolve(&run.join(" ")).filter(|_| count > 1 && !is_cut)?;
        Some((at + count, Place { kind: PathKind::Folder, ..place }))
    }

    /// The new name of several words that ends like a file name, as in "to final report.pdf".
    fn spaced(&self, at: usize) -> Option<(usize, Place)> {
        let is_called = at.checked_sub(1).and_then(|at| self.token(at)).is_some_and(|by| self.is_listed(by, "called"));
        let is_word = |token: &Token| {
            // Behind "called" the name goes on: "poem for choir.txt".
            let ends: &[&str] = if is_called { &["joining"] } else { &["joints", "joining", "articles", "pronouns"] };
            let is_strange = !ends.iter().any(|list| self.is_listed(token, list));
            matches!(token.class, Class::Word | Class::Number(_)) && is_strange
        };
        let count = (at..self.end).take_while(|at| self.token(*at).is_some_and(is_word)).count();
        let last = self.token(at + count).filter(|token| count > 0 && token.class == Class::FileName)?;
        // "a file called x.txt" says that it is a file.
        let says_file = |token: &Token| token.folded == "file" || self.is_listed(token, "called");
        if !is_called && (at..at + count).any(|at| self.token(at).is_some_and(says_file)) {
            return None;
        }
        let run = self.chart.tokens.get(at..at + count)?.iter().chain([last]);
        let place = self.context.resolve(&run.map(|token| token.raw.as_str()).collect::<Vec<_>>().join(" "))?;
        Some((at + count + 1, Place { kind: PathKind::File, ..place }))
    }

    /// Whether a word is the name without extension of a file that the request names, in the singular or plural.
    pub(super) fn is_stem(&self, word: &str) -> bool {
        // "the words of words.txt" are words.
        if ["words", "lines", "characters", "files"].contains(&word) {
            return false;
        }
        let stems = self.chart.tokens.iter().filter_map(|token| {
            let name = token.folded.rsplit('/').next()?;
            Some(name.split_once('.')?.0.to_owned())
        });
        let same = |stem: String| stem == word || stem == format!("{word}s") || format!("{stem}s") == word;
        stems.into_iter().any(same)
    }

    /// The texts that can start at a position: one in quotes, a word, or several words that the searched files must
    /// contain.
    pub(super) fn words(&self, at: usize) -> Ways {
        let Some(first) = self.token(at) else { return Vec::new() };
        if first.class == Class::Quoted {
            return vec![(at + 1, Value::Text(first.raw.clone()))];
        }
        let joins = |token: &Token| JOINING.iter().any(|word| is_word(Some(token), word));
        let fits = |token: &Token| {
            matches!(
                token.class,
                Class::Word | Class::Number(_) | Class::FileName | Class::Path | Class::Date(_) | Class::Symbol
            ) && !joins(token)
        };
        let most = (at..self.end).take(MAX_WORDS).take_while(|at| self.token(*at).is_some_and(fits)).count();
        let text = |count: usize| {
            let run = self.chart.tokens.get(at..at + count)?;
            let text = run.iter().map(|token| token.raw.as_str()).collect::<Vec<_>>().join(" ");
            Some((at + count, if count == 1 && stands_alone(first) { Value::Text(text) } else { Value::Words(text) }))
        };
        (1..=most).filter_map(text).collect()
    }

    /// The values with each text without quotes as the named files and folders contain it, in any letter case: a plural
    /// "s" is left out if need be. `None` if they don't contain one.
    pub(super) fn held(&self, mut values: Values) -> Option<Values> {
        if self.holds_words(&values) {
            return Some(values);
        }
        let is_text = |value: &&Value| matches!(value, Value::Words(_));
        let is_only = values.values().filter(is_text).count() == 1;
        for value in values.values_mut().filter(|_| is_only) {
            if let Value::Words(text) = value
                && let Some(stem) = singular(text)
            {
                *value = Value::Words(stem.to_owned());
            }
        }
        self.holds_words(&values).then_some(values)
    }

    /// Whether the named files and folders contain each text without quotes, in any letter case.
    fn holds_words(&self, values: &Values) -> bool {
        let texts = values.values().filter_map(|value| if let Value::Words(text) = value { Some(text) } else { None });
        let named =
            values.values().filter_map(|value| if let Value::Places(places) = value { Some(places) } else { None });
        let places: Vec<_> = named.flatten().map(|place| (place.path.clone(), place.kind)).collect();
        let here = vec![(self.context.environment.cwd.clone(), PathKind::Folder)];
        let places = if places.is_empty() { here } else { places };
        let holds = |text: &String| {
            let found = |(path, kind): &(String, PathKind)| match kind {
                PathKind::File => {
                    let meant = elsewhere(self.context, path).filter(|_| self.context.on_disk(path).is_none());
                    let path = Path::new(meant.as_deref().unwrap_or(path));
                    file_holds(path, text.as_bytes(), true, self.context.fs) == Some(true)
                }
                _ => self.context.is_held_below(path, text),
            };
            places.iter().any(found)
        };
        texts.into_iter().all(holds)
    }
}

/// A template with its slots `<name>` filled: texts and paths in quotes, `<name#>` unquoted. A part in braces is left
/// out if one of its slots has no value.
fn filled(template: &str, values: &Values) -> Option<String> {
    let mut request = String::new();
    for (at, part) in template.split(['{', '}']).enumerate() {
        match written(part, values) {
            Some(text) => request.push_str(&text),
            None if at % 2 == 1 => {}
            None => return None,
        }
    }
    Some(request)
}

/// A part of a template with its slots filled; `None` if a value is missing.
fn written(part: &str, values: &Values) -> Option<String> {
    let mut pieces = part.split('<');
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (slot, rest) = piece.split_once('>')?;
        // The file of the same name in a folder.
        if let Some((file, folder)) = slot.split_once('@') {
            let (Value::Places(file), Value::Places(folder)) = (values.get(file)?, values.get(folder)?) else {
                return None;
            };
            let path = format!("{}/{}", folder.first()?.path, file_name(&file.first()?.path)?);
            text.push_str(&format!("{}{rest}", quoted_path(&path)));
            continue;
        }
        let name = slot.trim_end_matches('#');
        text.push_str(&match values.get(name)? {
            Value::Text(text) | Value::Words(text) | Value::Named(text) if slot.ends_with('#') => text.clone(),
            Value::Text(text) | Value::Words(text) | Value::Named(text) => quoted(text),
            Value::Places(places) => {
                let folder =
                    if let Some(Value::Places(folder)) = values.get("folder") { folder.as_slice() } else { &[] };
                let paths = paths_in(folder, places)?;
                paths.iter().map(|path| quoted_path(path)).collect::<Vec<_>>().join(" and ")
            }
            Value::Of(of) => {
                let noun = english(of);
                let noun = ["list the ", "show the "].iter().find_map(|verb| noun.strip_prefix(verb));
                noun?.to_owned()
            }
        });
        text.push_str(rest);
    }
    Some(text)
}
