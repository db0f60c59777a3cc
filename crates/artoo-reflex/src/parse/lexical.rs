//! From tokens to the items a chart starts with: every meaning of every phrase, and every use of a literal.

#![expect(clippy::wildcard_enum_match_arm, reason = "a word that says nothing by itself waits for its argument")]

use super::draft::{Ask, Draft, LinesWanted, Once, TargetWord};
use super::item::{Context, Item, Text, TextKind};
use super::rules::home_folder;
use crate::algebra::{Depth, Fact, Function, GroupKey, Kind, NamePart, NameTest, Pred};
use crate::concept::{Concept, Counted, DepthWord, Hidden, Reference, TextUnit, Verb};
use crate::lex::{Class, Decimal, Token};
use crate::lexicon::{Meaning, TypeForm, lexicon};
use crate::place::Place;

/// Lines shown where a request says "the beginning of" without a number, as `head` and `tail` do.
const LINES_WITHOUT_A_NUMBER: u64 = 10;

/// One item over the tokens `start..end`.
pub(super) struct Lexical {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) item: Item,
}

/// Which phrases are tried at one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phrases {
    /// Only the longest: what people mean nearly always.
    Longest,
    /// Every one.
    All,
}

/// The chart's first items.
pub(super) fn lexical(context: &Context<'_>, tokens: &[Token], phrases: Phrases) -> Vec<Lexical> {
    let mut found = Vec::new();
    let begins = clause_starts(tokens);
    for start in 0..tokens.len() {
        found.extend(spaced_name(context, tokens, start));
        let (folders, is_only) = existing_folders(context, tokens, start);
        found.extend(folders.into_iter().map(|item| Lexical { start, end: start + 1, item }));
        if is_only {
            continue;
        }
        literal(context, tokens, start, &mut found);
        for end in (start + 1..=tokens.len().min(start + lexicon().longest)).rev() {
            let run = tokens.get(start..end).unwrap_or_default();
            let meanings = meanings(run);
            // "archive files …" at the start of a clause is no kind of file.
            let acts =
                meanings.iter().any(is_act) || (run.len() > 1 && begins.contains(&start) && begins_with_act(run));
            for meaning in meanings {
                // A verb that acts is one where a clause begins, and nowhere else.
                if acts && is_act(meaning) != begins.contains(&start) && !asks(meaning) {
                    continue;
                }
                // "are there PDFs in ~/x" asks for yes or no; "how many PDFs are there" does not.
                let any = Meaning::Concept(Concept::Ask(Function::Any));
                if meanings.len() > 1 && meanings.contains(&any) && (*meaning == any) != begins.contains(&start) {
                    continue;
                }
                // "every second line" is no second line.
                if matches!(meaning, Meaning::Concept(Concept::Ordinal(_))) && is_one_of_many(tokens, start) {
                    continue;
                }
                for item in items(context, meaning, start) {
                    found.push(Lexical { start, end, item });
                }
            }
            if !meanings.is_empty() && phrases == Phrases::Longest {
                break;
            }
        }
    }
    found
}

/// The folders that a word after "in" or "of" names, as far as they exist, and whether nothing else can be meant: a
/// folder that exists beats a kind of file.
fn existing_folders(context: &Context<'_>, tokens: &[Token], at: usize) -> (Vec<Item>, bool) {
    let is_kind = |meaning: &Meaning| matches!(meaning, Meaning::FileType { .. });
    let Some(token) = tokens.get(at).filter(|_| is_led_to(tokens, at)) else { return (Vec::new(), false) };
    let known = lexicon().meanings(&token.folded);
    if word_kind(token) == TextKind::Function && !known.iter().any(is_kind) {
        return (Vec::new(), false);
    }
    let at_home = known.iter().find_map(|meaning| match meaning {
        Meaning::Concept(Concept::Place(name) | Concept::PlaceAfterPreposition(name)) => home_folder(context, name),
        _ => None,
    });
    let mut places: Vec<Place> = [context.resolve(&token.raw), at_home.clone()].into_iter().flatten().collect();
    places.retain(|place| context.is_folder(&place.path));
    places.dedup_by(|a, b| a.path == b.path);
    let is_only = !places.is_empty() && (known.is_empty() || at_home.is_some() || known.iter().any(is_kind));
    (places.into_iter().map(Item::Path).collect(), is_only)
}

/// Whether a word stands where a folder's name is due: behind "in", "of" and the like, or in "search x for".
fn is_led_to(tokens: &[Token], at: usize) -> bool {
    let is_name = |token: &Token| matches!(token.class, Class::Word | Class::FileName);
    let is_article = |token: &Token| matches!(token.folded.as_str(), "the" | "my" | "our");
    let Some(mut before) = tokens.get(..at).filter(|_| tokens.get(at).is_some_and(is_name)) else { return false };
    while let [rest @ .., article] = before
        && is_article(article)
    {
        before = rest;
    }
    let behind =
        |words: usize| before.len().checked_sub(words).and_then(|from| before.get(from..)).map_or(&[][..], meanings);
    let means = |found: &[Meaning], wanted: &[Concept]| {
        found.iter().any(|meaning| matches!(meaning, Meaning::Concept(concept) if wanted.contains(concept)))
    };
    // "the number of photos" is no "of photos".
    let is_part = (2..=lexicon().longest).any(|words| !behind(words).is_empty());
    let searches =
        means(behind(1), &[Concept::Verb(Verb::Find)]) && tokens.get(at + 1).is_some_and(|token| token.folded == "for");
    searches || means(behind(1), &[Concept::Inside]) || (!is_part && means(behind(1), &[Concept::Within]))
}

/// A path with blanks in it that exists: "Camera Roll".
fn spaced_name(context: &Context<'_>, tokens: &[Token], start: usize) -> Option<Lexical> {
    /// Most words of a name that is looked for.
    const MOST_WORDS: usize = 6;
    let longest = tokens.len().min(start + MOST_WORDS);
    (start + 2..=longest).rev().find_map(|end| {
        let run = tokens.get(start..end)?;
        let is_apart = |pair: &[Token]| matches!(pair, [a, b] if a.span.end + 1 == b.span.start);
        let is_plain = |token: &Token| token.class != Class::Quoted && token.raw.len() == token.span.len();
        if !run.windows(2).all(is_apart) || !run.iter().all(is_plain) {
            return None;
        }
        let typed = run.iter().map(|token| token.raw.as_str()).collect::<Vec<_>>().join(" ");
        let place = context.resolve(&typed)?;
        context.on_disk(&place.path).map(|_| Lexical { start, end, item: Item::Path(place) })
    })
}

/// Whether "every" stands before an ordinal.
fn is_one_of_many(tokens: &[Token], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| tokens.get(before));
    before.is_some_and(|token| matches!(token.folded.as_str(), "every" | "each"))
}

fn is_act(meaning: &Meaning) -> bool {
    matches!(meaning, Meaning::Concept(Concept::Do(_)))
}

/// What is asked for, though it begins with a verb that acts: "add up the sizes of".
pub(super) fn asks(meaning: &Meaning) -> bool {
    let Meaning::Concept(concept) = meaning else { return false };
    matches!(
        concept,
        Concept::Verb(_)
            | Concept::Size
            | Concept::TotalSize
            | Concept::Count
            | Concept::Ask(_)
            | Concept::SomeLines(_)
            | Concept::AddPrefix
            | Concept::AddSuffix
            | Concept::AsFile
            | Concept::Again
    )
}

fn begins_with_act(run: &[Token]) -> bool {
    run.first().is_some_and(|token| lexicon().meanings(&token.folded).iter().any(is_act))
}

/// Where clauses begin: at the start, after a mark or "and", behind function words and "please".
pub(super) fn clause_starts(tokens: &[Token]) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut begins = true;
    for (at, token) in tokens.iter().enumerate() {
        if begins {
            starts.push(at);
        }
        begins = match token.class {
            Class::Comma | Class::Stop | Class::Step | Class::Symbol | Class::Open => true,
            Class::Word => {
                let means = |concept| lexicon().meanings(&token.folded).contains(&Meaning::Concept(concept));
                let leads_in = matches!(token.folded.as_str(), "to" | "can" | "could" | "would" | "will" | "then");
                // "recursively rename …".
                let adverb = begins && means(Concept::Depth(DepthWord::Whole));
                let joins = adverb || means(Concept::And) || means(Concept::Or) || means(Concept::Then);
                joins || (begins && means(Concept::Skip)) || leads_in
            }
            Class::Number(_)
            | Class::Ordinal(_)
            | Class::Date(_)
            | Class::Instant(_)
            | Class::Quoted
            | Class::Path
            | Class::FileName
            | Class::Glob
            | Class::Variable
            | Class::Close
            | Class::Extension => false,
        };
    }
    starts
}

/// The word an unknown word is a slip of.
pub(super) fn mended(token: &Token) -> Option<&'static str> {
    if token.class != Class::Word || lexicon().knows(&token.folded) {
        return None;
    }
    lexicon().slip_of(&token.folded)
}

/// What a run of words means, slips of the fingers mended.
fn meanings(run: &[Token]) -> &'static [Meaning] {
    let mut words = Vec::new();
    for token in run {
        if !matches!(token.class, Class::Word | Class::Number(_)) {
            return &[];
        }
        words.push(mended(token).unwrap_or(&token.folded));
    }
    lexicon().meanings(&words.join(" "))
}

/// Uses of a token that are not words of the lexicon.
fn literal(context: &Context<'_>, tokens: &[Token], at: usize, found: &mut Vec<Lexical>) {
    let Some(token) = tokens.get(at) else { return };
    let mut add = |item| found.push(Lexical { start: at, end: at + 1, item });
    let text = |kind| Item::Text(Text { text: token.raw.clone(), kind });
    match &token.class {
        Class::Quoted => add(text(TextKind::Quoted)),
        Class::FileName => add(text(TextKind::FileName)),
        Class::Extension => {
            add(text(TextKind::Extension));
            let extension = token.folded.trim_start_matches('.').to_owned();
            add(Item::draft(Draft { types: vec![Pred::Extension(extension)], ..Draft::default() }));
        }
        Class::Glob => {
            add(text(TextKind::Glob));
            add(Item::draft(Draft { types: vec![Pred::Name(NameTest::Glob(token.raw.clone()))], ..Draft::default() }));
        }
        Class::Path => {
            add(text(TextKind::Path));
            found.extend(path(context, &token.raw).map(|item| Lexical { start: at, end: at + 1, item }));
        }
        Class::Number(value) => {
            add(text(TextKind::Digits));
            add(Item::Number(*value, false));
        }
        Class::Ordinal(value) if !is_one_of_many(tokens, at) => add(Item::Ordinal(*value)),
        Class::Ordinal(_) => {}
        Class::Date(date) => found.extend(context.clock.day(*date).map(|day| Lexical {
            start: at,
            end: at + 1,
            item: Item::Stretch(day),
        })),
        Class::Instant(moment) => add(Item::Moment(*moment)),
        Class::Comma => add(Item::Comma),
        Class::Stop => add(Item::Skip),
        Class::Open => add(Item::Open),
        Class::Close => add(Item::Close),
        Class::Variable => {
            add(Item::draft(Draft { fact: Some(Fact::Variable { name: token.raw.clone() }), ..Draft::default() }));
            // "in $HOME" is a place.
            if token.raw == "HOME" {
                add(Item::Mark(Concept::PlaceAfterPreposition("~".to_owned())));
            }
        }
        Class::Word => add(text(word_kind(token))),
        // What parts two steps is no part of either.
        Class::Symbol | Class::Step => {}
    }
}

/// A typed path; one with a pattern in its last part is a folder and a pattern, as in a shell.
fn path(context: &Context<'_>, typed: &str) -> Option<Item> {
    let has_wildcard = |text: &str| text.contains(['*', '?', '[']);
    if !has_wildcard(typed) {
        return context.resolve(typed).map(Item::Path);
    }
    let (folder, pattern) = typed.rsplit_once('/')?;
    let (folder, depth) = match folder.strip_suffix("/**") {
        Some(above) => (above, Depth::Whole),
        None => (folder, Depth::Direct),
    };
    if has_wildcard(folder) || pattern.is_empty() {
        return None;
    }
    let place = context.resolve(&format!("{folder}/"))?;
    let types = if pattern == "*" { Vec::new() } else { vec![Pred::Name(NameTest::Glob(pattern.to_owned()))] };
    // "*" of a shell stands for no hidden name.
    let hidden = (depth == Depth::Direct && !pattern.starts_with('.')).then_some(Hidden::Exclude);
    let draft = Draft { scope: vec![place], depth: Some(depth), types, hidden, ..Draft::default() };
    Some(Item::draft(if hidden.is_some() { draft.noted("hidden files left out") } else { draft }))
}

fn word_kind(token: &Token) -> TextKind {
    let folded = token.folded.as_str();
    if lexicon().is_vague(folded) {
        return TextKind::Function;
    }
    // A word in capitals that means nothing by itself stands for itself: "INFO", though there is "cpu info".
    let in_capitals = token.raw.len() > 1 && token.raw.chars().all(|c| c.is_ascii_uppercase());
    if in_capitals && lexicon().meanings(folded).is_empty() {
        return TextKind::Bare;
    }
    if !lexicon().knows(folded) {
        let is_plural = folded.len() > 3 && folded.ends_with('s') && !folded.ends_with("ss");
        let is_plain = token.raw.chars().all(|c| c.is_ascii_lowercase());
        return if is_plural && is_plain { TextKind::BarePlural } else { TextKind::Bare };
    }
    let meanings = lexicon().meanings(folded);
    // Words that hold a sentence together are never names; every other word can be one where a name is due.
    let is_function = |meaning: &Meaning| {
        matches!(
            meaning,
            Meaning::Concept(
                Concept::Skip
                    | Concept::Copula
                    | Concept::And
                    | Concept::Or
                    | Concept::To
                    | Concept::Between
                    | Concept::Within
                    | Concept::Inside
                    | Concept::With
                    | Concept::Holds
                    | Concept::Contains
                    | Concept::Except
                    | Concept::Name(_)
                    | Concept::Relation(_)
                    | Concept::Compare { .. }
                    | Concept::Here
            )
        )
    };
    if meanings.iter().any(is_function) {
        TextKind::Function
    } else if !meanings.is_empty() && meanings.iter().all(|meaning| matches!(meaning, Meaning::FileType { .. })) {
        TextKind::KindWord
    } else {
        TextKind::Known
    }
}

/// The items a meaning gives; several where a word can stand alone and also wait for an argument.
fn items(context: &Context<'_>, meaning: &Meaning, start: usize) -> Vec<Item> {
    let concept = match meaning {
        Meaning::FileType { index, form } => return file_type(*index, *form).into_iter().collect(),
        Meaning::Concept(concept) => concept,
    };
    let mark = Item::Mark(match concept {
        Concept::Rows { plural } => Concept::Lines { plural: *plural },
        other => other.clone(),
    });
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
        Concept::Noun { .. }
        | Concept::Lines { .. }
        | Concept::Rows { .. }
        | Concept::Depth(_)
        | Concept::TextUnit(_) => features(context, concept).map(Item::draft).into_iter().chain([mark]).collect(),
        other => match features(context, other) {
            Some(draft) => vec![Item::draft(draft)],
            None => vec![mark],
        },
    }
}

/// What a word says by itself.
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
        Concept::Rows { .. } => Draft { lines: Some(LinesWanted::Rows), ..none() },
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
        Concept::Depth(word @ (DepthWord::Whole | DepthWord::DirectAdverb)) => {
            Draft { depth: Some(word.depth()), ..none() }
        }
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

/// The same, of words about texts, acts and the machine.
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
                TextUnit::Words => LinesWanted::Words,
                TextUnit::Characters => LinesWanted::Characters,
                TextUnit::Numbers => LinesWanted::Numbers,
                TextUnit::Entries => LinesWanted::Entries,
            };
            Draft { lines: Some(lines), ..none() }
        }
        Concept::Frequency(counted) => {
            let lines = if *counted == Counted::Words { LinesWanted::Words } else { LinesWanted::All };
            Draft { lines: Some(lines), ask: Some(Ask::Count), group: Some(GroupKey::Text), ..none() }
        }
        Concept::Duplicates => Draft { duplicates: Some(()), ..none() },
        Concept::Unique => Draft { once: Some(Once::Unique), ..none() },
        Concept::Repeated => Draft { once: Some(Once::Repeated), ..none() },
        Concept::Numbered => Draft { numbered: Some(()), ..none() },
        Concept::NamePart(part) => Draft { names: Some(*part), ..none() },
        Concept::FoldersOf => Draft { names: Some(NamePart::Folder), once: Some(Once::Unique), ..none() },
        Concept::RepeatedNames => Draft { names: Some(NamePart::Name), once: Some(Once::Repeated), ..none() },
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
