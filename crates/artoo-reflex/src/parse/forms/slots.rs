//! Finds the values that can fill the slots of forms: what kind of value the tokens at a position can be.

use std::path::Path;

use super::super::build::build;
use super::super::clauses::{lists, phrase};
use super::super::draft::Draft;
use super::super::item::Item;
use super::super::located::elsewhere;
use super::super::rules::home_folder;
use super::holds_settings;
use super::modes::right;
use super::settings::kinds;
use super::{Matcher, Value, Ways, is_word};
use crate::algebra::{Act, Depth, Kind, Query, Step, Ty};
use crate::concept::{ActWord, Concept};
use crate::eval::regex;
use crate::eval::text::file_holds;
use crate::lex::{Class, Token};
use crate::lexicon::{Meaning, TypeForm, lexicon};
use crate::place::{PathKind, Place, file_name, is_archive};

/// Maximum number of tokens of the name of a file or folder.
const MAX_NAME: usize = 6;

/// Words for units of a size, such as "mb".
const UNITS: [&str; 12] =
    ["kb", "mb", "gb", "kib", "mib", "gib", "kilobyte", "kilobytes", "megabyte", "megabytes", "gigabyte", "gigabytes"];

/// Whether a token is a text in quotes.
fn is_quoted(token: &Token) -> bool {
    token.class == Class::Quoted
}

impl Matcher<'_> {
    /// The values of a kind such as "file" or "number" that start at a position, each with its end.
    pub(super) fn slot(&self, kind: &str, at: usize) -> Ways {
        let places = |found: Vec<(usize, Place)>| -> Ways {
            found.into_iter().map(|(end, place)| (end, Value::Places(vec![place]))).collect()
        };
        let is_verbatim = matches!(
            kind,
            "text"
                | "tail"
                | "glob"
                | "texts"
                | "list"
                | "words"
                | "value"
                | "query"
                | "asked"
                | "word"
                | "second"
                | "affix"
        );
        // "my" and "a" may be part of a name.
        let is_part = matches!(kind, "name" | "program") && !is_word(self.token(at), "the");
        let at = if is_verbatim || is_part {
            self.after_colon(at)
        } else {
            self.after_articles(at, matches!(kind, "number" | "count" | "new"))
        };
        let token = self.token(at);
        match kind {
            "text" => self.text(at).into_iter().collect(),
            "tail" => self.tail(at),
            "said" => self.words(at),
            "called" | "titled" => self.names(at, kind),
            "strange" | "counted" => {
                let alone = |end: &usize| (at..*end).all(|at| self.token(at).is_some_and(stands_alone));
                self.names(at, kind).into_iter().filter(|(end, _)| alone(end)).collect()
            }
            "texts" => self.list(at, |token| (token.class == Class::Quoted).then(|| token.raw.clone())),
            "list" => self.list(at, |token| self.literal(token)),
            // Words that the request calls lines are texts whatever else they mean.
            "words" => self.list(at, |token| {
                let is_word = token.class == Class::Word && !self.is_listed(token, "pronouns");
                if is_word { Some(token.raw.clone()) } else { self.literal(token) }
            }),
            "query" | "asked" | "several" | "selection" => self.queries(kind, at),
            "fileset" => {
                let found = self.queries("asked", at).into_iter();
                found.filter(|(_, value)| matches!(value, Value::Of(of) if is_chosen_files(of))).collect()
            }
            "condition" => self.conditions(at),
            "names" => self.file_names(at),
            "file" | "plain" | "prose" | "settings" | "python" | "archive" | "boxes" => places(self.files(at, kind)),
            "folder" => places(self.folders(at)),
            "news" => {
                let ways = self.joined(at, |at| Some((at + 1, self.named(self.token(at)?, "named")?)));
                ways.into_iter().next_back().map(|(end, places)| (end, Value::Places(places))).into_iter().collect()
            }
            "files" | "paths" => self.many(kind, at),
            "new" | "path" | "named" | "fresh" | "capital" => places(
                token.and_then(|token| self.named(token, kind)).map(|place| (at + 1, place)).into_iter().collect(),
            ),
            "capitals" | "spaced" => places(self.worded(kind, at)),
            "tool" => self.tool(at).into_iter().collect(),
            single => {
                let value = token.and_then(|token| self.sought(single, token).or_else(|| self.single(single, token)));
                value.map(|text| (at + 1, Value::Text(text))).into_iter().collect()
            }
        }
    }

    /// What a token makes a request look for: "error" for "errors", or an extended regular expression.
    fn sought(&self, kind: &str, token: &Token) -> Option<String> {
        match kind {
            "marker" => {
                let single = token.folded.strip_suffix('s').filter(|single| single.len() > 3);
                self.is_listed(token, "markers").then(|| single.unwrap_or(&token.folded).to_owned())
            }
            "basic" if regex::has_signs(&token.raw) => regex::extended(&token.raw, true),
            "basic" | "extended" if regex::is_meant(&token.raw) => regex::extended(&token.raw, kind == "basic"),
            _ => None,
        }
    }

    /// The text of a token, if it is a value of this kind, such as "url" or "octal".
    fn single(&self, kind: &str, token: &Token) -> Option<String> {
        let is_number = token.raw.chars().all(|c| c.is_ascii_digit());
        let is_word = matches!(token.class, Class::Word | Class::FileName | Class::Path | Class::Number(_));
        let is_quoted = is_quoted(token);
        let is_name = is_quoted || (is_word && !self.is_listed(token, "pronouns"));
        if let Some(prefix) = [("char", "char "), ("lang", "code ")]
            .iter()
            .find_map(|(known, prefix)| (*known == kind).then_some(*prefix))
        {
            let named = lists(prefix).find(|list| self.is_listed(token, list));
            return named.and_then(|list| list.strip_prefix(prefix)).map(str::to_owned);
        }
        let number = |meaning: &Meaning| match meaning {
            Meaning::Concept(Concept::Number(number)) => Some(number.to_string()),
            _ => None,
        };
        match kind {
            "can" | "can2" | "whom" | "whom2" => return right(kind, &token.folded).map(str::to_owned),
            "owner" => return ["'s", "’s"].iter().find_map(|end| token.raw.strip_suffix(end)).map(str::to_owned),
            "ordinal" => return ordinal(token),
            _ => {}
        }
        if kind == "dash" {
            let digits = token.raw.strip_prefix('-').filter(|digits| digits.parse::<u32>().is_ok());
            return digits.map(str::to_owned);
        }
        let counted = || lexicon().meanings(&token.folded).iter().find_map(number);
        if kind == "count" {
            return counted();
        }
        let is_type = |meaning: &Meaning| matches!(meaning, Meaning::FileType { form: TypeForm::Adjective, .. });
        let is_strange = || !lexicon().knows(&token.folded) || lexicon().meanings(&token.folded).iter().all(is_type);
        // "git" is a word of the grammar and a program.
        let is_program = || is_strange() || self.is_on_path(&token.folded);
        let fits = match kind {
            "quoted" | "command" => is_quoted,
            "day" => matches!(token.folded.as_str(), "today" | "yesterday"),
            "proper" => is_name && token.class == Class::Word && token.raw.starts_with(char::is_uppercase),
            "dotted" => token.class == Class::Extension && token.raw.starts_with('.'),
            "glob" => !is_quoted && token.raw.contains(['*', '?']),
            "number" => is_number && token.raw.len() < 9,
            "octal" => matches!(token.raw.len(), 3 | 4) && token.raw.chars().all(|c| ('0'..='7').contains(&c)),
            "url" => token.raw.contains("://") && matches!(token.class, Class::Symbol | Class::Quoted),
            "pair" => token.class == Class::Symbol && token.raw.matches('=').count() == 1,
            // "thirty" may be meant as 30.
            "value" => {
                (is_name && (token.class != Class::Word || counted().is_none()))
                    || matches!(token.folded.as_str(), "on" | "off")
            }
            "private" => token.raw.len() == 3 && token.raw.ends_with("00") && is_number,
            "last" => matches!(token.folded.as_str(), "last" | "final"),
            "interpreter" => self.is_listed(token, "interpreters"),
            "header" => token.raw.len() > 2 && token.raw.starts_with('[') && token.raw.ends_with(']'),
            "stem" => self.is_stem(&token.folded),
            "unit" => UNITS.contains(&token.folded.as_str()),
            "blank" => token.folded == "line",
            "blanks" => token.folded == "lines",
            "affix" => is_quoted || (is_word && token.raw.ends_with(['_', '-'])),
            "second" => is_name && !lexicon().is_vague(&token.folded),
            "word" => is_quoted || (is_word && token.folded != "count"),
            "key" | "key2" | "key3" => is_name && (is_quoted || (!is_number && token.class != Class::Path)),
            "name" => is_name,
            "program" => {
                is_name
                    && !token.raw.contains('@')
                    && !self.names_file(token)
                    && (is_quoted || (!is_number && is_program()))
            }
            _ => false,
        };
        let raw = if kind == "header" { token.raw.trim_matches(['[', ']']) } else { &token.raw };
        (fits && !raw.is_empty()).then(|| raw.to_owned())
    }

    /// The token as a text to write or look for: quoted, a word unknown to the dictionary, or one of a few known words.
    fn literal(&self, token: &Token) -> Option<String> {
        let is_literal = match token.class {
            Class::Quoted | Class::FileName | Class::Number(_) | Class::Date(_) => true,
            Class::Word => {
                // "all a's" are all letters "a".
                let is_strange = !lexicon().knows(&token.folded)
                    && !lexicon().is_vague(&token.folded)
                    && !token.folded.ends_with("'s");
                let is_marker = token.raw.to_uppercase() == token.raw && self.is_listed(token, "markers");
                is_marker
                    || (is_strange && !["pronouns", "judged"].iter().any(|list| self.is_listed(token, list)))
                    || self.is_listed(token, "literal")
            }
            Class::Symbol => {
                let has_operator = token.raw.contains(['|', '>', '<', '&', ';', '`', '$', '"']);
                token.raw.contains(char::is_alphanumeric) && !has_operator
            }
            _ => false,
        };
        is_literal.then(|| token.raw.clone())
    }

    /// The text to write or look for at a position, with its end: one literal token, or several literal words.
    fn text(&self, at: usize) -> Option<(usize, Value)> {
        let first = self.token(at)?;
        // "640 euro" is one text.
        let is_amount = matches!(first.class, Class::Number(_))
            && self.token(at + 1).is_some_and(|unit| unit.class == Class::Word && self.literal(unit).is_some());
        if first.class != Class::Word && !is_amount {
            return Some((at + 1, Value::Text(self.literal(first)?)));
        }
        let is_literal =
            |token: &Token| matches!(token.class, Class::Word | Class::Number(_)) && self.literal(token).is_some();
        let count = (at..self.end).take_while(|at| self.token(*at).is_some_and(is_literal)).count();
        let run: Vec<&str> = self.chart.tokens.get(at..at + count)?.iter().map(|token| token.raw.as_str()).collect();
        (count > 0).then(|| (at + count, Value::Text(run.join(" "))))
    }

    /// The position after the commas and "and" that start at a position.
    fn after_joint(&self, at: usize) -> usize {
        let joins =
            |token: &Token| token.class == Class::Comma || (token.class == Class::Word && token.folded == "and");
        at + (at..self.end).take_while(|at| self.token(*at).is_some_and(joins)).count()
    }

    /// The items from a position on that are joined by commas or "and": for each length, the list of them and its end.
    fn joined<T: Clone>(&self, at: usize, item: impl Fn(usize) -> Option<(usize, T)>) -> Vec<(usize, Vec<T>)> {
        let mut items = Vec::new();
        let mut ways = Vec::new();
        let mut next = at;
        while let Some((end, found)) = item(next) {
            items.push(found);
            ways.push((end, items.clone()));
            next = self.after_joint(end);
            if next == end {
                break;
            }
        }
        ways
    }

    /// At least two texts joined by commas or "and", as one text with a line for each.
    fn list(&self, at: usize, item: impl Fn(&Token) -> Option<String>) -> Ways {
        let ways = self.joined(at, |at| Some((at + 1, item(self.token(at)?)?)));
        let last = ways.into_iter().next_back().filter(|(_, items)| items.len() > 1);
        last.map(|(end, items)| (end, Value::Text(items.join("\n")))).into_iter().collect()
    }

    /// The files whose names the words from a position on speak of, as in "the names of the photos", each with its end.
    fn file_names(&self, at: usize) -> Ways {
        let says = |end: usize, words: &[&str]| {
            (at..end).any(|at| self.token(at).is_some_and(|token| words.contains(&token.folded.as_str())))
        };
        let is_folder = |value: &Value| match value {
            Value::Of(of) => {
                matches!(of.as_ref(), Query::Paths { paths, .. } if paths.iter().any(|path| self.context.is_folder(path)))
            }
            _ => false,
        };
        // "the file names of Trips" are not the name of that folder.
        let fits = |(end, value): &(usize, Value)| {
            says(*end, &["names", "filenames"]) && !(says(*end, &["file"]) && is_folder(value))
        };
        self.queries("selection", at).into_iter().filter(fits).collect()
    }

    /// The queries that the words from a position on ask for or select, each with its end.
    fn queries(&self, kind: &str, at: usize) -> Ways {
        if let Some(found) = self.found.borrow().get(&(kind.to_owned(), at)) {
            return found.clone();
        }
        let mut found: Ways = Vec::new();
        for end in at + 1..=self.end {
            for item in self.chart.items(at, end) {
                let fits = |draft: &Draft| draft.act.is_none() && (kind != "selection" || draft.verb.is_none());
                let Some(mut draft) = item.as_draft(self.context).filter(fits) else { continue };
                if kind == "selection" {
                    draft.act = Some(ActWord::Delete);
                }
                let Ok(built) = build(self.context, self.before, draft) else { continue };
                if !matches!(kind, "asked" | "several") && built.chosen().is_some() {
                    continue;
                }
                let query = match built.step {
                    Step::Ask(query) | Step::Do(Act::Delete { of: query }) => query,
                    Step::Do(_) => continue,
                };
                // Files that are named one by one stand in an order.
                if kind == "several" && matches!(query.source(), Query::Paths { .. }) {
                    continue;
                }
                let way = (end, Value::Of(Box::new(query)));
                if !found.contains(&way) {
                    found.push(way);
                }
            }
        }
        self.found.borrow_mut().insert((kind.to_owned(), at), found.clone());
        found
    }

    /// The conditions on files that start at a position, each as a query for the files here that satisfy it.
    fn conditions(&self, at: usize) -> Ways {
        let here = self.context.environment.cwd.clone();
        let tree = Query::Tree { roots: vec![here], depth: Depth::Whole, hidden: true, kind: Kind::File };
        let of = Box::new(tree);
        let mut found = Vec::new();
        for end in at + 1..=self.end {
            for draft in self.chart.items(at, end).iter().filter_map(|item| item.as_draft(self.context)) {
                if draft.only_types() || draft.only_preds() {
                    found.push((end, Value::Of(Box::new(Query::Filter { of: of.clone(), keep: draft.condition() }))));
                }
            }
        }
        found
    }

    /// The places that `place` finds in the items from a position on, each with its end.
    fn places(&self, at: usize, place: impl Fn(&Item) -> Option<Place>) -> Vec<(usize, Place)> {
        let mut found = Vec::new();
        for end in at + 1..=self.end.min(at + MAX_NAME) {
            for place in self.chart.items(at, end).iter().filter_map(&place) {
                if !found.contains(&(end, place.clone())) {
                    found.push((end, place));
                }
            }
        }
        found
    }

    /// The file of a kind that the words from a position on name, with its end; "it" is the file spoken of before.
    fn files(&self, at: usize, kind: &str) -> Vec<(usize, Place)> {
        let found = if self.token(at).is_some_and(|token| token.class == Class::Word && token.folded == "it") {
            let place = self.before.and_then(|before| before.file());
            place.map(|path| (at + 1, Place { path, kind: PathKind::File, bare: false })).into_iter().collect()
        } else {
            let dotted = self.token(at).filter(|token| token.class == Class::Extension);
            let dotted = dotted.and_then(|token| Some((at + 1, self.context.resolve(&token.raw)?)));
            let named = self.places(at, |item| match item {
                Item::Path(place) => Some(place.clone()),
                item => {
                    let draft =
                        item.as_draft(self.context).filter(|draft| draft.is_only(|rest| rest.object.clear()))?;
                    let is_one = draft.object.len() == 1;
                    draft.object.into_iter().next().filter(|_| is_one)
                }
            });
            named.into_iter().chain(dotted).collect::<Vec<_>>()
        };
        let is_file = |place: &Place| {
            place.kind == PathKind::File || file_name(&place.path).is_some_and(|name| name.starts_with('.'))
        };
        found
            .into_iter()
            .filter(|(_, place)| is_file(place) && fits(place, kind) && (kind != "boxes" || self.has_boxes(place)))
            .collect()
    }

    /// The folder that the words from a position on name, with its end.
    fn folders(&self, at: usize) -> Vec<(usize, Place)> {
        let found = self.places(at, |item| match item {
            Item::Path(place) => Some(place.clone()),
            Item::Mark(Concept::PlaceAfterPreposition(name)) => home_folder(self.context, name),
            Item::Draft(draft) if draft.scope.len() == 1 && draft.is_only(|rest| rest.scope.clear()) => {
                draft.scope.first().cloned()
            }
            Item::Text(text) => self.context.resolve(&text.text).filter(|place| self.context.is_folder(&place.path)),
            _ => None,
        });
        let folders = found.into_iter().filter(|(_, place)| place.kind != PathKind::File);
        folders.map(|(end, place)| (end, Place { kind: PathKind::Folder, ..place })).collect()
    }

    /// The files or folders of a list such as "a.txt, b.txt and c.txt": for each length, the places and the end.
    fn many(&self, kind: &str, at: usize) -> Ways {
        let named = |at: usize| {
            let at = self.after_articles(at, false);
            let folders = if kind == "paths" { self.folders(at) } else { Vec::new() };
            let files = self.files(at, "file").into_iter().filter(|(end, _)| *end <= at + 3);
            files.chain(folders).max_by_key(|(end, _)| *end)
        };
        let ways = self.joined(at, named).into_iter();
        ways.map(|(end, places)| (end, Value::Places(places))).collect()
    }

    /// The path that a token means as a name, which need not exist; `None` if the token can't be a name.
    fn named(&self, token: &Token, kind: &str) -> Option<Place> {
        let place = self.context.resolve(&token.raw)?;
        let is_small = || !token.raw.starts_with(char::is_uppercase);
        if kind == "fresh" && self.context.is_folder(&place.path) || kind == "capital" && is_small() {
            return None;
        }
        let kind = if matches!(kind, "fresh" | "capital") { "named" } else { kind };
        let usable = match token.class {
            Class::Quoted | Class::FileName | Class::Path | Class::Extension => true,
            Class::Number(_) if kind == "named" => token.raw.chars().all(|c| c.is_ascii_digit()),
            Class::Word => {
                let is_short = kind == "named" || token.raw.len() == 1;
                let is_free = !lexicon().knows(&token.folded) || self.context.on_disk(&place.path).is_some();
                let is_free = is_free || is_short;
                let is_called = self.is_called(token) && self.is_listed(token, "namable");
                is_free && (is_called || !self.is_listed(token, "pronouns"))
            }
            _ => false,
        };
        let kind = if kind == "named" && place.kind == PathKind::Unknown { PathKind::File } else { place.kind };
        (usable && !place.path.contains(['*', '?', '\n'])).then_some(Place { kind, ..place })
    }

    /// Whether lines of the file at a place, or of the only one of its name, begin with a box to tick.
    fn has_boxes(&self, place: &Place) -> bool {
        let meant = elsewhere(self.context, &place.path).filter(|_| self.context.on_disk(&place.path).is_none());
        let path = meant.as_deref().unwrap_or(&place.path);
        ["[ ]", "[x]"]
            .iter()
            .any(|sign| file_holds(Path::new(path), sign.as_bytes(), false, self.context.fs) == Some(true))
    }

    /// Whether a token names a file: it is a path, exists on disk, or has a known extension.
    fn names_file(&self, token: &Token) -> bool {
        token.class == Class::Path || self.is_on_disk(token) || kinds(&token.raw).next().is_some()
    }

    /// Whether a token is the path of a file that exists.
    pub(super) fn is_on_disk(&self, token: &Token) -> bool {
        let place = self.context.resolve(&token.raw);
        place.is_some_and(|place| self.context.on_disk(&place.path) == Some(PathKind::File))
    }

    /// Whether a token follows a word such as "called".
    fn is_called(&self, token: &Token) -> bool {
        let is_pair = |pair: &[Token]| pair.last() == Some(token) && phrase("called", pair, 0).is_some();
        self.chart.tokens.windows(2).any(is_pair)
    }

    /// The command at a position that runs a project's own tasks, such as "cargo test", with its end.
    fn tool(&self, at: usize) -> Option<(usize, Value)> {
        let end = phrase("tools", &self.chart.tokens, at).filter(|end| *end <= self.end)?;
        let said: Vec<&str> = self.chart.tokens.get(at..end)?.iter().map(|token| token.raw.as_str()).collect();
        Some((end, Value::Text(said.join(" "))))
    }
}

/// Whether a query asks for files by a condition or a place; "which files" alone would mean those of one folder.
fn is_chosen_files(of: &Query) -> bool {
    of.ty() == Ok(Ty::Files) && !matches!(of, Query::Tree { depth: Depth::Direct, .. })
}

/// The number of an ordinal such as "third" or "3rd", in digits.
fn ordinal(token: &Token) -> Option<String> {
    let number = |meaning: &Meaning| match meaning {
        Meaning::Concept(Concept::Ordinal(number)) => Some(number.to_string()),
        _ => None,
    };
    let digits = token.folded.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let is_short = ["st", "nd", "rd", "th"].iter().any(|end| token.folded.strip_suffix(end) == Some(digits));
    let in_digits = (is_short && digits.parse::<u64>().is_ok()).then(|| digits.to_owned());
    let first = (token.folded == "first").then(|| "1".to_owned());
    lexicon().meanings(&token.folded).iter().find_map(number).or(in_digits).or(first)
}

/// Whether a place can be a file of this kind: a settings file, any other file, a text that is no table, or any file.
fn fits(place: &Place, kind: &str) -> bool {
    match kind {
        "settings" => holds_settings(&place.path),
        "plain" => !holds_settings(&place.path),
        "python" => place.path.ends_with(".py"),
        "archive" => is_archive(&place.path),
        "prose" => ![".csv", ".tsv"].iter().any(|ending| place.path.ends_with(ending)) && !holds_settings(&place.path),
        _ => true,
    }
}

/// Whether an unquoted word can only be a text, a name or a value, as the dictionary doesn't have it.
pub(super) fn stands_alone(token: &Token) -> bool {
    let is_strange = !lexicon().knows(&token.folded) && !lexicon().is_vague(&token.folded);
    let is_listed = |list: &str| phrase(list, std::slice::from_ref(token), 0).is_some();
    is_strange && !["pronouns", "judged"].into_iter().any(is_listed)
}
