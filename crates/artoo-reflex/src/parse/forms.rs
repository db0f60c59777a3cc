//! Acts that the grammar of questions doesn't have: parts of a clause in any order, as `forms.txt` lists them.

mod acts;
mod programs;
mod settings;
mod slots;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::antecedent::Antecedent;
use super::build::Built;
use super::chart::Chart;
use super::clauses::{after_lead, phrase};
use super::item::Context;
use super::pattern::{Piece, is_word, pattern, split};
use crate::algebra::{Query, Step};
use crate::lex::{Class, Token};
use crate::place::{Place, file_name};

/// Maximum number of ways that a part of a form is matched at one place.
const MAX_WAYS: usize = 64;

/// One way to word an act.
struct Form {
    /// The name under which the act is built.
    act: &'static str,
    /// The patterns of its parts, and whether each may be missing.
    parts: Vec<(Vec<Piece>, bool)>,
    /// The words of which one must be there.
    verbs: Vec<&'static str>,
}

/// All forms, with the patterns that `$name` stands for filled in.
static FORMS: LazyLock<Vec<Form>> = LazyLock::new(|| {
    let mut named: Vec<(&str, String)> = Vec::new();
    let mut forms = Vec::new();
    for line in include_str!("forms.txt").lines().filter(|line| !line.starts_with('#')) {
        let Some((name, said)) = line.split_once(": ") else { continue };
        // Later names may be made of earlier ones.
        let said = named.iter().fold(said.to_owned(), |said, (name, meaning)| said.replace(name, meaning));
        if name.starts_with('$') {
            named.push((name, format!("{{{said}}}")));
        } else {
            forms.push(form(name, said.leak()));
        }
    }
    forms
});

/// The form with this name, from its parts.
fn form(act: &'static str, said: &'static str) -> Form {
    let part = |part: &'static str| match part.trim().strip_prefix('?') {
        Some(optional) => (pattern(optional), true),
        None => (pattern(part), false),
    };
    let parts: Vec<(Vec<Piece>, bool)> = split(said, ';').into_iter().map(part).collect();
    let verbs = parts.first().map(|(head, _)| firsts(head)).unwrap_or_default();
    Form { act, parts, verbs }
}

/// The words that a pattern can begin with, slots left out.
fn firsts(pieces: &[Piece]) -> Vec<&'static str> {
    let mut found = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Word(word) => {
                found.push(*word);
                return found;
            }
            Piece::Choice(choices) => {
                found.extend(choices.iter().flat_map(|choice| firsts(choice)));
                if choices.iter().all(|choice| !choice.is_empty()) {
                    return found;
                }
            }
            Piece::Slot(..) => {}
        }
    }
    found
}

/// What a slot holds.
#[derive(Debug, Clone, PartialEq)]
enum Value {
    Text(String),
    Places(Vec<Place>),
    Of(Box<Query>),
}

/// The values of the slots of a form by name.
type Values = BTreeMap<&'static str, Value>;

/// File name endings of settings.
const SETTINGS: [&str; 10] = ["env", "ini", "toml", "yaml", "yml", "json", "conf", "cfg", "config", "properties"];

/// Whether a file holds settings, to go by its name.
fn holds_settings(path: &str) -> bool {
    let name = file_name(path).unwrap_or_default().to_lowercase();
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    name.starts_with(".env") || ending.is_some_and(|ending| SETTINGS.contains(&ending))
}

/// The values that a slot may take at one position, each with the position of the next token.
type Ways = Vec<(usize, Value)>;

/// What is needed to match forms against the tokens of a chart.
struct Matcher<'a> {
    context: &'a Context<'a>,
    chart: &'a Chart,
    before: Option<&'a Antecedent>,
    end: usize,
    /// The queries and selections found so far, by where they start: many forms ask for the same ones.
    found: RefCell<BTreeMap<(bool, usize), Ways>>,
}

/// The acts that a token range asks for; several if it can mean several things.
pub(super) fn readings(
    context: &Context<'_>,
    chart: &Chart,
    (start, end): (usize, usize),
    before: Option<&Antecedent>,
) -> Vec<Vec<Built>> {
    let matcher = Matcher { context, chart, before, end, found: RefCell::default() };
    let start = after_lead(&chart.tokens, start);
    let mut found: Vec<Vec<Built>> = Vec::new();
    for form in FORMS.iter() {
        if !(start..end).any(|at| form.verbs.iter().any(|verb| is_word(chart.tokens.get(at), verb))) {
            continue;
        }
        for values in matcher.whole(form, start, &mut vec![false; form.parts.len()], Values::new()) {
            let steps = acts::steps(&matcher, form.act, &values).unwrap_or_default();
            let built: Vec<Built> = steps.into_iter().map(|step| built(step, &values)).collect();
            if !built.is_empty() && !found.contains(&built) {
                found.push(built);
            }
        }
    }
    found
}

/// A step of a form.
fn built(step: Step, values: &Values) -> Built {
    let scope = values.values().find_map(|value| match value {
        Value::Places(places) => places.first().map(|place| place.path.clone()),
        Value::Text(_) | Value::Of(_) => None,
    });
    let step = match step {
        Step::Do(act) => Step::Do(act.normalise()),
        ask @ Step::Ask(_) => ask,
    };
    Built { step, assumptions: Vec::new(), scope, refers_back: false, names_only: false }
}

impl Matcher<'_> {
    /// The token at a position of the range.
    fn token(&self, at: usize) -> Option<&Token> {
        self.chart.tokens.get(at).filter(|_| at < self.end)
    }

    /// Whether nothing but punctuation and polite words stands from a position on.
    fn is_over(&self, mut at: usize) -> bool {
        while let Some(token) = self.token(at) {
            match phrase("tail", &self.chart.tokens, at) {
                Some(end) => at = end,
                None if matches!(token.class, Class::Comma | Class::Stop) => at += 1,
                None => return false,
            }
        }
        true
    }

    /// The values of each way in which the parts of a form, in any order, cover every token from a position on.
    fn whole(&self, form: &Form, at: usize, used: &mut Vec<bool>, values: Values) -> Vec<Values> {
        let mut found = Vec::new();
        let is_complete = form.parts.iter().zip(used.iter()).all(|((_, optional), used)| *used || *optional);
        if is_complete && self.is_over(at) {
            found.push(values.clone());
        }
        for part in 0..form.parts.len() {
            let Some((pieces, _)) = form.parts.get(part).filter(|_| used.get(part) == Some(&false)) else { continue };
            for (end, values) in self.ways(pieces, at, &values) {
                if end > at && found.len() < MAX_WAYS {
                    used.iter_mut().skip(part).take(1).for_each(|used| *used = true);
                    found.extend(self.whole(form, end, used, values));
                    used.iter_mut().skip(part).take(1).for_each(|used| *used = false);
                }
            }
        }
        found
    }

    /// The ways in which a pattern matches at a position: where it ends, with the values of its slots.
    fn ways(&self, pieces: &[Piece], at: usize, values: &Values) -> Vec<(usize, Values)> {
        let mut ways = vec![(at, values.clone())];
        for piece in pieces {
            let mut next = Vec::new();
            for (at, values) in ways {
                match piece {
                    Piece::Word(word) => {
                        let at = self.after_articles(at, true);
                        next.extend(is_word(self.token(at), word).then_some((at + 1, values)));
                    }
                    Piece::Choice(choices) => {
                        next.extend(choices.iter().flat_map(|choice| self.ways(choice, at, &values)));
                    }
                    Piece::Slot(kind, name) => {
                        for (end, value) in self.slot(kind, at) {
                            let mut values = values.clone();
                            values.insert(name, value);
                            next.push((end, values));
                        }
                    }
                }
            }
            next.truncate(MAX_WAYS);
            ways = next;
        }
        ways
    }

    /// The position after a colon.
    fn after_colon(&self, at: usize) -> usize {
        at + usize::from(self.token(at).is_some_and(|token| token.class == Class::Stop && token.raw == ":"))
    }

    /// The position after articles, and after commas too before a word.
    fn after_articles(&self, at: usize, commas: bool) -> usize {
        let mut at = self.after_colon(at);
        while let Some(token) = self.token(at) {
            let is_article = self.is_listed(token, "articles");
            let is_article = is_article || commas && is_word(Some(token), "please");
            if !(is_article || commas && token.class == Class::Comma) {
                break;
            }
            at += 1;
        }
        at
    }

    /// Whether an unquoted word is in a list.
    fn is_listed(&self, token: &Token, list: &str) -> bool {
        phrase(list, std::slice::from_ref(token), 0).is_some()
    }
}
