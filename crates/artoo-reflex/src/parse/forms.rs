//! Reads acts by the patterns of `forms.txt`: a form lists the parts of a clause, which may stand in any order.

mod acts;
mod arranged;
mod modes;
mod programs;
mod said;
mod settings;
mod slots;

pub(crate) use self::acts::{Form, sorted};

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::antecedent::Antecedent;
use super::build::Built;
use super::chart::Chart;
use super::clauses::{after_lead, phrase};
use super::item::Context;
use super::pattern::{Named, Pattern, Piece, choices, is_word, pattern, split};
use super::steps::begins_a_step;
use crate::algebra::{Query, Step};
use crate::kinds::KINDS;
use crate::lex::{Class, Token};
use crate::place::{Place, file_name};

/// Maximum number of ways in which a part of a form matches at one position.
const MAX_WAYS: usize = 64;

/// A form: one way to word an act or a question, as a line of `forms.txt`.
struct Wording {
    /// The name under which the act is built.
    act: &'static str,
    /// The patterns of its parts, and whether each may be missing.
    parts: Vec<(Pattern, bool)>,
    /// The words of which one must be there.
    verbs: Vec<&'static str>,
}

/// All forms (patterns of clauses), with the patterns that `$name` stands for filled in.
static FORMS: LazyLock<Vec<Wording>> = LazyLock::new(|| {
    let (mut named, mut forms) = (Named::new(), Vec::new());
    let texts = [include_str!("forms.txt"), include_str!("said.txt"), include_str!("commands.txt")]
        .into_iter()
        .chain(KINDS.iter().map(|row| row.forms));
    for line in texts.flat_map(str::lines).filter(|line| !line.starts_with('#')) {
        let Some((name, said)) = line.split_once(": ") else { continue };
        match name.strip_prefix('$') {
            // Later names may be made of earlier ones.
            Some(name) => _ = named.insert(name, choices(said, &named)),
            None => forms.push(form(name, said, &named)),
        }
    }
    forms
});

/// Parses a line of `forms.txt`: the name of an act and the patterns of its parts, between semicolons.
fn form(act: &'static str, said: &'static str, named: &Named) -> Wording {
    let part = |part: &'static str| match part.trim().strip_prefix('?') {
        Some(optional) => (pattern(optional, named), true),
        None => (pattern(part, named), false),
    };
    let parts: Vec<(Pattern, bool)> = split(said, ';').into_iter().map(part).collect();
    let verbs = parts.first().map(|(head, _)| first_words(head)).unwrap_or_default();
    Wording { act, parts, verbs }
}

/// The words that can come first in a pattern, its slots being left out.
fn first_words(pieces: &[Piece]) -> Vec<&'static str> {
    let mut found = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Word(words) => {
                found.extend(words.split('|').filter(|word| !word.is_empty()));
                if has_word(std::slice::from_ref(piece)) {
                    return found;
                }
            }
            Piece::Choice(choices) => {
                found.extend(choices.iter().flat_map(|choice| first_words(choice)));
                if has_word(std::slice::from_ref(piece)) {
                    return found;
                }
            }
            Piece::Slot(_) => {}
        }
    }
    found
}

/// Whether every way to match a pattern has a fixed word.
fn has_word(pieces: &[Piece]) -> bool {
    pieces.iter().any(|piece| match piece {
        Piece::Word(words) => words.split('|').all(|word| !word.is_empty()),
        Piece::Choice(choices) => choices.iter().all(|choice| has_word(choice)),
        Piece::Slot(_) => false,
    })
}

/// The value that fills a slot (a placeholder such as `<file>`) of a form.
#[derive(Debug, Clone, PartialEq)]
enum Value {
    Text(String),
    /// Words without quotes that are a text only if what they are looked for in holds them.
    Words(String),
    /// A part of the name of a file or folder that exists.
    Named(String),
    Places(Vec<Place>),
    Of(Box<Query>),
}

/// The values that fill the slots of a form, by the slot's name.
type Values = BTreeMap<&'static str, Value>;

/// Extensions of settings files.
const SETTINGS: [&str; 10] = ["env", "ini", "toml", "yaml", "yml", "json", "conf", "cfg", "config", "properties"];

/// Whether a path is that of a settings file, to go by its name.
fn holds_settings(path: &str) -> bool {
    let name = file_name(path).unwrap_or_default().to_lowercase();
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    name.starts_with(".env") || ending.is_some_and(|ending| SETTINGS.contains(&ending))
}

/// The values that can fill a slot at one position, each with the position after its words.
type Ways = Vec<(usize, Value)>;

/// Matches forms (patterns of clauses) against the tokens of a chart.
struct Matcher<'a> {
    context: &'a Context<'a>,
    chart: &'a Chart,
    before: Option<&'a Antecedent>,
    end: usize,
    /// The queries and selections found so far, by where they start: many forms ask for the same ones.
    found: RefCell<BTreeMap<(String, usize), Ways>>,
}

/// The steps that a token range asks for by a form; several lists of steps if it can mean several things.
pub(super) fn readings(
    context: &Context<'_>,
    chart: &Chart,
    (start, end): (usize, usize),
    before: Option<&Antecedent>,
) -> Vec<Vec<Built>> {
    let matcher = Matcher { context, chart, before, end, found: RefCell::default() };
    let lead = after_lead(&chart.tokens, start);
    // "first" leads to a verb; "the first line" is a stretch.
    let is_part = lead > start && is_word(chart.tokens.get(lead - 1), "first") && !begins_a_step(&chart.tokens, lead);
    let start = lead - usize::from(is_part);
    let mut found: Vec<Vec<Built>> = Vec::new();
    for form in FORMS.iter() {
        if !(start..end).any(|at| form.verbs.iter().any(|verb| is_word(chart.tokens.get(at), verb))) {
            continue;
        }
        for values in matcher.whole(form, start, &mut vec![false; form.parts.len()], Values::new()) {
            let Some(values) = matcher.held(values) else { continue };
            let built: Vec<Built> = match form.act.strip_prefix("say ") {
                Some(template) => matcher.said(template, &values).unwrap_or_default(),
                None => {
                    let steps = acts::steps(&matcher, form.act, &values).unwrap_or_default();
                    steps.into_iter().map(|step| built(step, &values)).collect()
                }
            };
            let is_known =
                |other: &Vec<Built>| other.iter().map(|other| &other.step).eq(built.iter().map(|built| &built.step));
            if !built.is_empty() && !found.iter().any(is_known) {
                found.push(built);
            }
        }
    }
    found
}

/// A step that a form gives, without assumptions.
fn built(step: Step, values: &Values) -> Built {
    let scope = values.values().find_map(|value| match value {
        Value::Places(places) => places.first().map(|place| place.path.clone()),
        Value::Text(_) | Value::Words(_) | Value::Named(_) | Value::Of(_) => None,
    });
    let step = match step {
        Step::Do(act) => Step::Do(act.normalise()),
        ask @ Step::Ask(_) => ask,
    };
    Built { step, assumptions: Vec::new(), scope, refers_back: false, names_only: false }
}

impl Matcher<'_> {
    /// The token at a position; `None` after the end of the range that is matched.
    fn token(&self, at: usize) -> Option<&Token> {
        self.chart.tokens.get(at).filter(|_| at < self.end)
    }

    /// Whether only punctuation and polite words follow from a position on.
    fn is_over(&self, mut at: usize) -> bool {
        while let Some(token) = self.token(at) {
            match phrase("tail", &self.chart.tokens, at) {
                Some(end) => at = end,
                None if matches!(token.class, Class::Comma | Class::Stop | Class::Close) => at += 1,
                None => return false,
            }
        }
        true
    }

    /// Matches a form from a position on: for each way in which its parts, in any order, cover every token, the values
    /// of the slots.
    fn whole(&self, form: &Wording, at: usize, used: &mut Vec<bool>, values: Values) -> Vec<Values> {
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

    /// Matches a pattern at a position: for each way, where it ends and the values of its slots.
    fn ways(&self, pieces: &[Piece], at: usize, values: &Values) -> Vec<(usize, Values)> {
        let mut ways = vec![(at, values.clone())];
        for piece in pieces {
            let mut next = Vec::new();
            for (at, values) in ways {
                match piece {
                    Piece::Word(words) => {
                        let start = self.after_articles(at, true);
                        next.extend(words.split('|').filter_map(|word| {
                            let end = if word.is_empty() { Some(at) } else { None };
                            let end = end.or_else(|| is_word(self.token(start), word).then_some(start + 1))?;
                            Some((end, values.clone()))
                        }));
                    }
                    Piece::Choice(choices) => {
                        next.extend(choices.iter().flat_map(|choice| self.ways(choice, at, &values)));
                    }
                    Piece::Slot(slot) => {
                        let (kind, name) = slot.split_once(':').unwrap_or((slot, slot));
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

    /// The next position if a colon stands at `at`, else `at`.
    fn after_colon(&self, at: usize) -> usize {
        at + usize::from(self.token(at).is_some_and(|token| token.class == Class::Stop && token.raw == ":"))
    }

    /// The position after articles such as "the"; with `commas`, also after commas and "please".
    fn after_articles(&self, at: usize, commas: bool) -> usize {
        let mut at = self.after_colon(at);
        while let Some(token) = self.token(at) {
            let is_article = self.is_listed(token, "articles");
            let is_article = is_article || commas && is_word(Some(token), "please");
            let is_mark = matches!(token.class, Class::Open | Class::Close) || commas && token.class == Class::Comma;
            if !(is_article || is_mark) {
                break;
            }
            at += 1;
        }
        at
    }

    /// Whether an unquoted word is in a word list of `clauses.txt`.
    fn is_listed(&self, token: &Token, list: &str) -> bool {
        phrase(list, std::slice::from_ref(token), 0).is_some()
    }
}
