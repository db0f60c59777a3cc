//! Grammar rules for names, kinds and content of files.

use super::super::draft::{Ask, Draft, LinesWanted, Sought, only};
use super::super::item::{Context, Item, Partial, Rule, Text, TextKind};
use crate::algebra::{Function, Kind, NameTest, Pred};
use crate::concept::{Concept, NameRelation, Verb};
use crate::eval::regex::extended;
use crate::lexicon::{Meaning, lexicon};

/// The grammar rules for names, kinds and content of files, in the order tried.
pub(super) const RULES: &[Rule] = &[named, content, sought_lines, kinds];

/// The item's text, if it can be a file name or a part of one.
pub(super) fn name_text(item: &Item) -> Option<&Text> {
    let Item::Text(text) = item else { return None };
    let is_sign = |meaning: &Meaning| matches!(meaning, Meaning::Concept(Concept::Separator(_)));
    let names_sign = text.kind == TextKind::Known && lexicon().meanings(&text.text.to_lowercase()).iter().any(is_sign);
    let is_vague = lexicon().is_vague(&text.text.to_lowercase()) && text.text.starts_with(char::is_uppercase);
    let usable = !names_sign && (is_vague || text.kind != TextKind::Function) && text.kind != TextKind::Path;
    (usable && !text.text.contains('/') && !text.text.is_empty()).then_some(text)
}

/// The item's text, if it can be a part of a file name; a plural word can't.
pub(super) fn name_part(item: &Item) -> Option<&str> {
    name_text(item).filter(|text| text.kind != TextKind::BarePlural).map(|text| text.text.as_str())
}

/// Whether a text contains a wildcard: `*`, `?` or `[`.
fn has_wildcard(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

/// The test of file names for a relation such as "starting with" and its text; `None` if they don't fit.
pub(super) fn test(relation: NameRelation, text: &Text) -> Option<NameTest> {
    let owned = text.text.clone();
    let is_pattern = text.kind == TextKind::Glob || (text.kind == TextKind::Quoted && has_wildcard(&owned));
    match relation {
        NameRelation::Literally => Some(NameTest::Is(owned)),
        NameRelation::Is if is_pattern => Some(NameTest::Glob(owned)),
        NameRelation::Is => Some(NameTest::Is(owned)),
        // "starting with numbers" means digits, not the name "numbers".
        _ if text.kind == TextKind::BarePlural => None,
        NameRelation::Glob => has_wildcard(&owned).then_some(NameTest::Glob(owned)),
        NameRelation::Pattern => extended(&owned, false).map(NameTest::Pattern),
        _ if text.kind == TextKind::Glob => None,
        NameRelation::Starts => Some(NameTest::Starts(owned)),
        // ".rs" after "ending in" is a kind of file, whatever its case.
        NameRelation::Ends => (text.kind != TextKind::Extension).then_some(NameTest::Ends(owned)),
        NameRelation::Has => Some(NameTest::Has(owned)),
    }
}

/// Grammar rule for two neighbouring items, as in "named x", "starting with x", "x in the name".
fn named(_: &Context<'_>, left: &Item, right: &Item) -> Option<Item> {
    let name = |test: NameTest| Item::draft(Draft::pred(Pred::Name(test)));
    let not_name = |test: NameTest| Item::draft(Draft::pred(Pred::Not(Box::new(Pred::Name(test)))));
    match (left, right) {
        // "ending with a tilde".
        (Item::Mark(Concept::Name(relation)), Item::Mark(Concept::Separator(sign))) => {
            let sign = Text { text: sign.clone(), kind: TextKind::Quoted };
            Some(name(test(*relation, &sign)?))
        }
        (Item::Mark(Concept::Name(NameRelation::Ends)), Item::Draft(draft)) if draft.only_types() => {
            Some(right.clone())
        }
        (Item::Mark(Concept::Name(relation)), item) => {
            // "named x somewhere" names nothing "somewhere".
            let is_name = |text: &&Text| text.kind != TextKind::Function || text.text.starts_with(char::is_uppercase);
            // "starting with the biggest" is an order.
            let orders = |meaning: &Meaning| matches!(meaning, Meaning::Concept(Concept::Superlative { .. }));
            let is_order = |text: &&Text| {
                text.kind == TextKind::Known && lexicon().meanings(&text.text.to_lowercase()).iter().any(orders)
            };
            let text = name_text(item).filter(is_name).filter(|text| !is_order(text))?;
            match test(*relation, text) {
                Some(test) => Some(name(test)),
                None if *relation == NameRelation::Glob => Some(needle(&text.text)),
                None => None,
            }
        }
        (Item::Mark(Concept::With), Item::Text(text)) if content_text(right).or(name_part(right)).is_some() => {
            let is_content = content_text(right).is_some();
            Some(Item::Partial(Partial::WithText { text: text.text.clone(), is_content }))
        }
        (Item::Partial(Partial::WithText { text, .. }), Item::Mark(Concept::InName)) if !text.contains('/') => {
            Some(name(NameTest::Has(text.clone())))
        }
        // "without x in the name".
        (Item::Mark(Concept::Lacking), item) => {
            Some(Item::Partial(Partial::WithoutText(name_part(item)?.to_owned(), false)))
        }
        (Item::Partial(Partial::WithoutText(text, _)), Item::Mark(Concept::InName)) if !text.contains('/') => {
            Some(not_name(NameTest::Has(text.clone())))
        }
        (Item::Mark(Concept::NameLacks), Item::Draft(draft)) if draft.only_types() => {
            Some(Item::draft(Draft::pred(Pred::Not(Box::new(draft.condition())))))
        }
        // "whose name does not contain x", "whose name does not start with x".
        (Item::Mark(Concept::NameLacks), Item::Draft(draft)) if draft.only_preds() => match draft.preds.as_slice() {
            [Pred::Contains { text, ignore_case: false }] => Some(not_name(NameTest::Has(text.clone()))),
            [Pred::Name(test)] => Some(not_name(test.clone())),
            _ => None,
        },
        (Item::Draft(draft), Item::Mark(Concept::AnyCase)) if draft.only_preds() => match draft.preds.as_slice() {
            [Pred::Name(test)] => Some(Item::draft(Draft::pred(Pred::NameIgnoringCase(test.clone())))),
            _ => None,
        },
        (Item::Draft(draft), Item::Mark(Concept::InName)) if draft.only_preds() => match draft.preds.as_slice() {
            [Pred::Contains { text, ignore_case: false }] => Some(name(NameTest::Has(text.clone()))),
            _ => None,
        },
        _ => None,
    }
}

/// The item's text, if it can be content: quoted, a phrase, a file name, a path, digits, a word unknown to the lexicon,
/// or a known word for which `is_sayable` holds.
pub(super) fn content_text(item: &Item) -> Option<&str> {
    let Item::Text(text) = item else { return None };
    use TextKind::{Bare, Digits, FileName, Known, Path, Phrase, Quoted};
    let is_content = matches!(text.kind, Quoted | Phrase | FileName | Bare | Digits | Path)
        || (text.kind == Known && is_sayable(&text.text));
    is_content.then_some(text.text.as_str()).filter(|text| !text.is_empty())
}

/// Whether a word of the lexicon can be content to look for, as in "containing return": all its meanings are verbs,
/// facts of the machine or, if it is capitalized, days and months.
fn is_sayable(word: &str) -> bool {
    let is_name = word.starts_with(char::is_uppercase);
    let meanings = lexicon().meanings(&word.to_lowercase());
    (is_name || !meanings.is_empty())
        && meanings.iter().all(|meaning| match meaning {
            Meaning::Concept(
                Concept::Act | Concept::Do(_) | Concept::Verb(_) | Concept::Fact(_) | Concept::Disk(_),
            ) => true,
            Meaning::Concept(Concept::Weekday(_) | Concept::Month(_)) => is_name,
            _ => false,
        })
}

/// Whether a word can be the x of "the word x"; "count" can't, as "the word count" is a number.
fn is_one_word(word: &str) -> bool {
    !lexicon().meanings(&word.to_lowercase()).iter().any(|meaning| match meaning {
        Meaning::Concept(concept) => matches!(
            concept,
            Concept::Noun { plural: true, .. }
                | Concept::Lines { .. }
                | Concept::Key(_)
                | Concept::GroupKey(_)
                | Concept::Count
                | Concept::TextUnit(_)
                | Concept::Occurs
        ),
        Meaning::FileType { .. } => true,
    })
}

/// Whether a text begins a phrase such as "in docs", and so is not the text to look for.
fn starts_phrase(text: &Text) -> bool {
    let leads = |meaning: &Meaning| {
        matches!(
            meaning,
            Meaning::Concept(
                Concept::Inside
                    | Concept::Within
                    | Concept::With
                    | Concept::Contains
                    | Concept::Holds
                    | Concept::And
                    | Concept::Or
                    | Concept::Except
                    | Concept::Copula
                    | Concept::Name(_)
                    | Concept::Into
            )
        )
    };
    text.kind == TextKind::Function && lexicon().meanings(&text.text.to_lowercase()).iter().any(leads)
}

/// Whether a parsed phrase is the verb "find", perhaps with a place, and nothing else.
fn looks_for(draft: &Draft) -> bool {
    draft.verb == Some(Verb::Find) && only!(draft, verb, scope, depth)
}

/// The way a text to look for was written (plain, quoted, "the word x"); `None` if it is rather a name.
fn sought(text: &Text) -> Option<Sought> {
    let in_capitals = text.text.len() > 1 && text.text.chars().all(|c| c.is_ascii_uppercase());
    match text.kind {
        TextKind::Phrase | TextKind::Digits => Some(Sought::Text),
        TextKind::Quoted if text.text.contains(['.', '/', '*', '?', '[']) => None,
        TextKind::Quoted => Some(Sought::Quoted),
        TextKind::Bare if in_capitals => Some(Sought::Quoted),
        TextKind::Bare | TextKind::BarePlural => Some(Sought::Bare),
        _ => None,
    }
}

/// The item for a text that lines must contain.
fn needle(text: &str) -> Item {
    let pred = Pred::Contains { text: text.to_owned(), ignore_case: false };
    Item::draft(Draft { needle: Some(pred), ..Draft::default() })
}

/// Grammar rule for two neighbouring items, as in "containing 'x'", "with 'x' in it", "the word x", "grep x".
fn content(_: &Context<'_>, left: &Item, right: &Item) -> Option<Item> {
    match (left, right) {
        (Item::Mark(Concept::Contains), item) => Some(Item::draft(Draft::pred(contains(content_text(item)?)))),
        // "the words of the files" means their words, not the word "files".
        (Item::Mark(Concept::TheWord), Item::Text(text))
            if !matches!(text.kind, TextKind::Known | TextKind::KindWord) && !starts_phrase(text) =>
        {
            Some(Item::Text(Text { text: text.text.clone(), kind: TextKind::Phrase }))
        }
        (Item::Partial(Partial::WithText { text, is_content: true }), Item::Mark(Concept::InContent)) => {
            Some(Item::draft(Draft::pred(contains(text))))
        }
        // "find the word x", "search ~/y for 'x'": the files in a folder that hold it, or the lines of a file.
        (Item::Draft(draft), Item::Text(text)) if looks_for(draft) => Some(Item::draft(Draft {
            preds: vec![contains(&text.text)],
            found: Some(sought(text)?),
            ..(**draft).clone()
        })),
        // "is the word x in a.txt", "does x appear in ~/y".
        (Item::Mark(Concept::Copula), Item::Text(text)) => Some(Item::draft(Draft {
            preds: vec![contains(&text.text)],
            found: Some(sought(text)?),
            ask: Some(Ask::Number(Function::Any)),
            ..Draft::default()
        })),
        (Item::Draft(draft), Item::Mark(Concept::Occurs)) if draft.found.is_some() => Some(left.clone()),
        // "lines with x" can't mean a name.
        (Item::Draft(draft), Item::Partial(Partial::WithText { text, is_content: true }))
            if draft.lines == Some(LinesWanted::All) && only!(draft, lines, verb, ask) =>
        {
            draft.merge(&Draft::pred(contains(text))).map(Item::draft)
        }
        (Item::Mark(Concept::With), Item::Text(Text { text, kind: TextKind::Phrase })) => {
            Some(Item::draft(Draft::pred(contains(text))))
        }
        // "lines with 'x'"; "files with 'x'" could mean the name or the content.
        // A word in capitals is text.
        (Item::Mark(Concept::With), Item::Text(Text { text, kind: kind @ (TextKind::Quoted | TextKind::Bare) }))
            if *kind != TextKind::Bare || text.chars().all(|c| c.is_ascii_uppercase()) =>
        {
            Some(needle(text))
        }
        (Item::Partial(Partial::SearchFor(place)), item) => Some(Item::draft(Draft {
            verb: Some(Verb::Find),
            lines: Some(LinesWanted::All),
            object: vec![place.clone()],
            preds: vec![contains(content_text(item)?)],
            ..Draft::default()
        })),
        (Item::Draft(draft), Item::Mark(Concept::InContent))
            if draft.only_preds_of(|pred| matches!(pred, Pred::Contains { .. })) =>
        {
            Some(left.clone())
        }
        (Item::Mark(Concept::Grep), item) => Some(Item::draft(Draft {
            verb: Some(Verb::Find),
            lines: Some(LinesWanted::All),
            preds: vec![contains(content_text(item)?)],
            ..Draft::default()
        })),
        _ => None,
    }
}

/// The condition that a file or a line contains this text.
fn contains(text: &str) -> Pred {
    Pred::Contains { text: text.to_owned(), ignore_case: false }
}

/// Grammar rule for two neighbouring items, as in "search all files for x", "on which line is x", "lines without x",
/// "with x or y".
fn sought_lines(_: &Context<'_>, left: &Item, right: &Item) -> Option<Item> {
    match (left, right) {
        (Item::Mark(Concept::ThisWord), Item::Text(text)) if is_one_word(&text.text) && !starts_phrase(text) => {
            Some(Item::Text(Text { text: text.text.clone(), kind: TextKind::Phrase }))
        }
        // "search all files for x".
        (Item::Draft(draft), Item::Mark(Concept::For))
            if draft.verb == Some(Verb::Find)
                && (draft.has_noun() || draft.ignore_case.is_some())
                && only!(draft, verb, scope, depth, noun, plural, types, ignore_case, hidden) =>
        {
            Some(Item::Partial(Partial::SearchAll(draft.clone())))
        }
        (Item::Partial(Partial::SearchAll(draft)), item) => {
            let found = Some(Sought::Text).filter(|_| !draft.has_noun());
            draft.merge(&Draft { found, ..Draft::pred(contains(content_text(item)?)) }).map(Item::draft)
        }
        // "on which line is x".
        (Item::Mark(Concept::WhichLine), item @ Item::Text(text)) => {
            let plural = Some(text.text.as_str()).filter(|_| text.kind == TextKind::BarePlural);
            let preds = vec![contains(content_text(item).or(plural)?)];
            let (lines, numbered) = (Some(LinesWanted::All), Some(()));
            Some(Item::draft(Draft { lines, numbered, preds, ..Draft::default() }))
        }
        (Item::Draft(draft), Item::Mark(Concept::Occurs)) if draft.numbered.is_some() && draft.found.is_none() => {
            Some(left.clone())
        }
        // "lines without x".
        (Item::Mark(Concept::Except), Item::Text(text))
            if matches!(text.kind, TextKind::Bare | TextKind::Phrase | TextKind::Quoted) =>
        {
            Some(Item::Partial(Partial::WithoutText(text.text.clone(), text.kind == TextKind::Phrase)))
        }
        (Item::Draft(draft), Item::Partial(Partial::WithoutText(text, is_content)))
            if draft.lines == Some(LinesWanted::All) || (*is_content && draft.has_noun()) =>
        {
            draft.merge(&Draft::pred(Pred::Not(Box::new(contains(text))))).map(Item::draft)
        }
        // "lines with x or y".
        (Item::Draft(draft), Item::Mark(joint @ (Concept::Or | Concept::And))) if only!(draft, needle) => {
            Some(Item::Partial(Partial::Needles(draft.needle.clone()?, *joint == Concept::Or)))
        }
        (Item::Partial(Partial::Needles(first, is_either)), item) => {
            let both = vec![first.clone(), contains(content_text(item)?)];
            let needle = if *is_either { Pred::Any(both) } else { Pred::All(both) };
            Some(Item::draft(Draft { needle: Some(needle), ..Draft::default() }))
        }
        // "the ERROR lines".
        (Item::Text(Text { text, kind: TextKind::Bare | TextKind::Quoted }), Item::Mark(Concept::Lines { .. }))
            if text.len() > 1 && text.chars().all(|c| c.is_ascii_uppercase()) =>
        {
            Some(Item::draft(Draft { lines: Some(LinesWanted::All), ..Draft::pred(contains(text)) }))
        }
        _ => None,
    }
}

/// Grammar rule for two neighbouring items, as in "python files", "with extension rs", "of type pdf", "with a .rs
/// extension".
fn kinds(_: &Context<'_>, left: &Item, right: &Item) -> Option<Item> {
    let of_types = |types: &[Pred], notes: &[String], plural: Option<bool>, noun: Option<Kind>| {
        let notes = notes.iter().cloned().collect();
        Item::draft(Draft { types: types.to_vec(), plural, noun, notes, ..Draft::default() })
    };
    match (left, right) {
        (Item::TypeWord(types, notes), Item::Mark(Concept::Noun { kind: Kind::File, plural })) => {
            Some(of_types(types, notes, Some(*plural), Some(Kind::File)))
        }
        (Item::Mark(Concept::OfType | Concept::Extension), Item::Draft(draft)) if draft.only_types() => {
            // A literal extension after "extension" is handled below; here are ".rs", "PDF" and lists of them.
            let is_literal = draft.plural.is_none();
            (is_literal || left.is_mark(&Concept::OfType))
                .then(|| of_types(&draft.types, &Vec::from_iter(draft.notes.clone()), None, None))
        }
        // ".sh scripts".
        (Item::Draft(draft), Item::Mark(Concept::KindNoun)) if draft.only_types() && draft.noun.is_none() => {
            let is_literal = draft.plural.is_none();
            is_literal.then(|| of_types(&draft.types, &[], Some(true), Some(Kind::File)))
        }
        // "'*.c' files", "'.txt' file".
        (Item::Text(Text { text, kind: TextKind::Quoted }), Item::Mark(Concept::Noun { kind: Kind::File, plural })) => {
            let is_plain = !text.contains('/') && text.len() > 1;
            let pred = match text.strip_prefix('.') {
                Some(_) if is_plain => literal_extension(left)?,
                None if is_plain && has_wildcard(text) => Pred::Name(NameTest::Glob(text.clone())),
                _ => return None,
            };
            Some(of_types(&[pred], &[], Some(*plural), Some(Kind::File)))
        }
        (Item::Mark(Concept::OfType), Item::TypeWord(types, notes)) => Some(of_types(types, notes, None, None)),
        (Item::Mark(Concept::Extension), item) => Some(of_types(&[literal_extension(item)?], &[], None, None)),
        (Item::Draft(draft), Item::Mark(Concept::ExtensionSuffix)) if draft.only_types() && draft.plural.is_none() => {
            let [extension] = draft.types.as_slice() else { return None };
            Some(Item::Partial(Partial::ExtensionPhrase(extension.clone())))
        }
        (item @ Item::Text(_), Item::Mark(Concept::ExtensionSuffix)) => {
            Some(Item::Partial(Partial::ExtensionPhrase(literal_extension(item)?)))
        }
        (
            Item::Mark(Concept::With | Concept::Within | Concept::Inside),
            Item::Partial(Partial::ExtensionPhrase(extension)),
        ) => Some(of_types(std::slice::from_ref(extension), &[], None, None)),
        _ => None,
    }
}

/// The condition on the extension that an item's text names, such as "rs", ".rs" or "*.rs"; `None` if it can't be an
/// extension.
pub(super) fn literal_extension(item: &Item) -> Option<Pred> {
    let text = name_text(item)?;
    let bare = text.text.strip_prefix("*.").unwrap_or(&text.text);
    let bare = bare.strip_prefix('.').unwrap_or(bare);
    // "no extension" is none, and "in human-readable format" names none.
    let is_none = ["no", "any", "an", "the", "some", "which", "what"].contains(&bare);
    let is_word = matches!(text.kind, TextKind::Bare | TextKind::BarePlural) && bare.contains('-');
    let fits = !is_word
        && !is_none
        && !bare.is_empty()
        && bare.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '+' | '_' | '-'));
    (fits && text.kind != TextKind::Function).then(|| Pred::Extension(bare.to_ascii_lowercase()))
}
