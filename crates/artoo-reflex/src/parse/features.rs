//! Turns the dictionary meanings of phrases into items of the chart: keywords, values and drafts.

use super::draft::{Ask, Draft, LinesWanted, Once, TargetWord};
use super::item::{Context, Item};
use super::rules::home_folder;
use crate::algebra::{Depth, Fact, GroupKey, Kind, NamePart, Pred};
use crate::concept::{Concept, Hidden, Reference, TextUnit};
use crate::lex::Decimal;
use crate::lexicon::{Meaning, TypeForm, lexicon};

/// Number of lines that "the beginning of" means, as many as `head` and `tail` print.
const LINES_WITHOUT_A_NUMBER: u64 = 10;

/// The items for a dictionary meaning; several if a word can be used alone or wait for an argument.
pub(super) fn items(context: &Context<'_>, meaning: &Meaning, start: usize) -> Vec<Item> {
    let concept = match meaning {
        Meaning::FileType { index, form } => return file_type(*index, *form).into_iter().collect(),
        Meaning::Concept(concept) => concept,
    };
    let mark = Item::Mark(concept.clone());
    match concept {
        Concept::Skip => vec![Item::Skip],
        Concept::Copula if start > 0 => vec![Item::Skip],
        Concept::And | Concept::Then if start == 0 => vec![Item::Skip],
        Concept::Number(value) => vec![Item::Number(Decimal { mantissa: *value, scale: 0 }, true)],
        Concept::Ordinal(value) => vec![Item::Ordinal(*value)],
        Concept::Month(month) => vec![Item::MonthDay { month: *month, day: None }],
        Concept::Weekday(day) => context.clock.weekday(*day).map(Item::Stretch).into_iter().collect(),
        Concept::Calendar(word) => context.clock.stretch(*word).map(Item::Stretch).into_iter().collect(),
        Concept::Place(name) => home_folder(context, name).map(Item::Path).into_iter().collect(),
        Concept::TextUnit(TextUnit::Word) => vec![mark],
        Concept::Noun { .. } | Concept::Lines { .. } | Concept::Rows | Concept::TextUnit(_) => {
            features(context, concept).map(Item::draft).into_iter().chain([mark]).collect()
        }
        other => match features(context, other) {
            Some(draft) => vec![Item::draft(draft)],
            None => vec![mark],
        },
    }
}

/// What a word expresses by itself, as a draft; `None` if it needs other words.
fn features(context: &Context<'_>, concept: &Concept) -> Option<Draft> {
    let none = Draft::default;
    Some(match concept {
        Concept::Verb(verb) => Draft { verb: Some(*verb), ..none() },
        Concept::Count => Draft { ask: Some(Ask::Count), ..none() },
        Concept::CountThem => Draft { ask: Some(Ask::CountThem), ..none() },
        Concept::Size => Draft { ask: Some(Ask::Size), ..none() },
        Concept::TotalSize => Draft { ask: Some(Ask::Size), total: Some(()), ..none() },
        Concept::Details => Draft { details: Some(()), ..none() },
        Concept::InBytes => Draft { in_bytes: Some(()), ..none() },
        Concept::Noun { kind, plural } => Draft { noun: Some(*kind), plural: Some(*plural), ..none() },
        Concept::Lines { .. } => Draft { lines: Some(LinesWanted::All), ..none() },
        Concept::Tree => Draft {
            noun: Some(Kind::Any),
            plural: Some(true),
            depth: Some(Depth::Whole),
            hidden: Some(Hidden::Exclude),
            ..none()
        }
        .noted("hidden files left out"),
        Concept::WithPaths | Concept::PathsOf => Draft { paths: Some(()), ..none() },
        Concept::Rows => Draft { lines: Some(LinesWanted::Rows), ..none() },
        Concept::SomeLines(edge) => {
            let part = edge.part(LINES_WITHOUT_A_NUMBER);
            Draft { lines: Some(LinesWanted::Part(part)), ..none() }
                .noted(format!("no number of lines was named: {LINES_WITHOUT_A_NUMBER} are shown"))
        }
        Concept::Superlative { by, order } => Draft { superlative: Some((*by, *order)), ..none() },
        Concept::Sorted { by, order } => Draft { sort: vec![(*by, Some(*order))], ..none() },
        Concept::Order(order) => Draft { order: Some(*order), ..none() },
        Concept::Empty => Draft::pred(Pred::MaxBytes(0)),
        Concept::NonEmpty => Draft::pred(Pred::MinBytes(1)),
        Concept::Depth(depth) => Draft { depth: Some(*depth), ..none() },
        Concept::Hidden(hidden) => Draft { hidden: Some(*hidden), ..none() },
        Concept::Dotfiles => Draft { noun: Some(Kind::File), plural: Some(true), hidden: Some(Hidden::Only), ..none() },
        Concept::InPlace(name) => Draft { scope: home_folder(context, name).into_iter().collect(), ..none() },
        Concept::Here => Draft { scope: home_folder(context, ".").into_iter().collect(), ..none() },
        Concept::IgnoreCase => Draft { ignore_case: Some(true), ..none() },
        Concept::MatchCase => Draft { ignore_case: Some(false), ..none() },
        Concept::CalendarOf(word) => {
            let stretch = context.clock.stretch(*word)?;
            let preds = vec![Pred::ModifiedFrom(stretch.start), Pred::ModifiedBefore(stretch.end)];
            Draft { preds, ..none() }
        }
        other => return later_features(context, other),
    })
}

/// What a word about texts, changes or the machine expresses by itself, as a draft; `None` if it needs other words.
fn later_features(context: &Context<'_>, concept: &Concept) -> Option<Draft> {
    let none = Draft::default;
    Some(match concept {
        Concept::Do(act) => Draft { act: Some(*act), ..none() },
        Concept::Reference(reference) => Draft { reference: Some(*reference), ..none() },
        Concept::One { plural } => Draft { reference: Some(Reference::One), plural: Some(*plural), ..none() },
        Concept::Again => Draft { reference: Some(Reference::Again), ..none() },
        Concept::There => Draft { target: Some(TargetWord::There), ..none() },
        Concept::Each => Draft { each: Some(()), ..none() },
        Concept::Field(field) => Draft { field: Some(*field), ..none() },
        Concept::Ask(function) => Draft { ask: Some(Ask::Number(*function)), ..none() },
        Concept::TextUnit(unit) => {
            let lines = match unit {
                TextUnit::Word | TextUnit::Words => LinesWanted::Words,
                TextUnit::Characters => LinesWanted::Characters,
                TextUnit::Numbers => LinesWanted::Numbers,
                TextUnit::Entries => LinesWanted::Entries,
            };
            Draft { lines: Some(lines), ..none() }
        }
        Concept::Frequency { words } => {
            let lines = if *words { LinesWanted::Words } else { LinesWanted::All };
            Draft { lines: Some(lines), ask: Some(Ask::Count), group: Some(GroupKey::Text), ..none() }
        }
        Concept::Duplicates => Draft { duplicates: Some(()), ..none() },
        Concept::Unique => Draft { once: Some(Once::Unique), ..none() },
        Concept::Repeated => Draft { once: Some(Once::Repeated), ..none() },
        Concept::Numbered => Draft { numbered: Some(()), ..none() },
        Concept::NamePart(part) => Draft { names: Some(*part), ..none() },
        Concept::FoldersOf => Draft { names: Some(NamePart::Folder), once: Some(Once::Unique), ..none() },
        Concept::RepeatedNames => Draft { names: Some(NamePart::Name), once: Some(Once::Repeated), ..none() },
        Concept::Marker(text) => {
            let needle = Some(Pred::Contains { text: text.clone(), ignore_case: true });
            Draft { lines: Some(LinesWanted::All), needle, ..none() }
        }
        Concept::Printed => Draft { printed: Some(()), ..none() },
        Concept::WithCounts => Draft { ask: Some(Ask::Count), group: Some(GroupKey::Text), ..none() },
        Concept::AsWord => Draft { whole_word: Some(()), ..none() },
        Concept::Rewrite(how) => Draft { rewrite: Some(how.clone()), ..none() },
        Concept::Rights(bits) => Draft::pred(Pred::ModeAll(*bits)),
        Concept::Blank => Draft::pred(Pred::Blank),
        Concept::EmptyFolder => Draft::pred(Pred::EmptyFolder),
        Concept::Executable => Draft::pred(Pred::Executable),
        Concept::NameCase(change) => Draft { change: Some(change.clone()), ..none() },
        Concept::Processes { plural } => Draft { processes: Some(()), plural: Some(*plural), ..none() },
        Concept::Fact(fact) => Draft { fact: Some(fact.clone()), ..none() },
        Concept::Disk(disk) => Draft { disk: Some(*disk), ..none() },
        Concept::WeekdayNow => {
            let date = context.clock.today()?.to_string();
            Draft { fact: Some(Fact::DayOfWeek { date }), ..none() }
        }
        _ => return None,
    })
}

/// The item for a word that means a kind of file, by the kind's index in the lexicon.
fn file_type(index: usize, form: TypeForm) -> Option<Item> {
    let kind = lexicon().types.get(index)?;
    let types: Vec<Pred> = kind.extensions.iter().cloned().map(Pred::Extension).collect();
    let mut notes = Vec::new();
    if kind.extensions.len() > 1 {
        let endings: Vec<String> = kind.extensions.iter().map(|extension| format!(".{extension}")).collect();
        notes.push(format!("{} files are those ending in {}", kind.name, endings.join(", ")));
    }
    Some(match form {
        TypeForm::Adjective => Item::TypeWord(types, notes),
        TypeForm::Singular | TypeForm::Plural => Item::draft(Draft {
            types,
            plural: Some(form == TypeForm::Plural),
            notes: notes.into_iter().collect(),
            ..Draft::default()
        }),
    })
}
