//! Turns tokens into the first items of the chart: the dictionary meanings of every phrase and the uses of every
//! literal.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use super::clauses::phrase;
use super::draft::Draft;
use super::features::items;
use super::item::{Context, Item, Text, TextKind};
use super::pattern::is_word;
use super::rules::home_folder;
use crate::algebra::{Depth, Fact, Function, NameTest, Pred};
use crate::concept::{Concept, Hidden, Verb};
use crate::eval::{Entry, EntryKind};
use crate::lex::{Class, Token};
use crate::lexicon::{Meaning, lexicon};
use crate::place::{PathKind, Place};

/// Maximum number of words whose corrections are cached.
const MAX_CORRECTIONS: usize = 256;

/// The words of `forms.txt` and `said.txt`, which are never corrected as typos.
static FORM_WORDS: LazyLock<BTreeSet<&'static str>> = LazyLock::new(|| {
    let texts = [include_str!("forms.txt"), include_str!("said.txt")];
    texts.into_iter().flat_map(|text| text.split(|c: char| !c.is_alphanumeric())).collect()
});

/// What the tokens `start..end` can mean by themselves.
pub(super) struct Lexical {
    /// Position of the first token of the item.
    pub(super) start: usize,
    /// Position after the last token of the item.
    pub(super) end: usize,
    /// What the tokens mean.
    pub(super) item: Item,
}

/// Which phrases of the lexicon are tried at each position of the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phrases {
    /// Only the longest phrase that matches at the position.
    Longest,
    /// All phrases that match at the position.
    All,
}

/// The meanings of tokens by themselves, from the dictionary and from literals such as paths.
pub(super) fn lexical(context: &Context<'_>, tokens: &[Token], phrases: Phrases) -> Vec<Lexical> {
    let mut found = Vec::new();
    let begins = clause_starts(tokens);
    for start in 0..tokens.len() {
        found.extend(spaced_name(context, tokens, start));
        let (mut single, is_only) = existing_folders(context, tokens, start);
        if !is_only {
            single.extend(literal(context, tokens, start));
        }
        single.extend(ending_on_disk(context, tokens, start));
        found.extend(single.into_iter().map(|item| Lexical { start, end: start + 1, item }));
        if is_only {
            continue;
        }
        for end in (start + 1..=tokens.len().min(start + lexicon().longest)).rev() {
            let run = tokens.get(start..end).unwrap_or_default();
            // "containing x and where the line …" asks for no place.
            let is_place = |meaning: &Meaning| *meaning == Meaning::Concept(Concept::WithPaths);
            let is_over = tokens.iter().skip(end).all(|token| token.class == Class::Stop);
            let meanings = Some(meanings(run)).filter(|found| is_over || !found.iter().any(is_place)).unwrap_or(&[]);
            // At the start of a clause, "archive" in "archive files …" is a verb, no kind of file.
            let acts =
                meanings.iter().any(is_act) || (run.len() > 1 && begins.contains(&start) && begins_with_act(run));
            for meaning in meanings {
                // A verb for a change is a verb only at the start of a clause.
                if acts && is_act(meaning) != begins.contains(&start) && !asks(meaning) {
                    continue;
                }
                // "are there PDFs in ~/x" asks for yes or no; "how many PDFs are there" does not.
                let any = Meaning::Concept(Concept::Ask(Function::Any));
                if meanings.len() > 1 && meanings.contains(&any) && (*meaning == any) != begins.contains(&start) {
                    continue;
                }
                // "tree docs" draws one, "in the tree of docs" is a folder.
                let tree = Meaning::Concept(Concept::Tree);
                let is_tree = *meaning == tree;
                if run.len() == 1 && meanings.contains(&tree) && is_tree != begins.contains(&start) {
                    continue;
                }
                // "the newest report" is no verb.
                if run.len() == 1 && !begins.contains(&start) && is_word(run.first(), "report") {
                    continue;
                }
                // "the oldest order" sorts nothing.
                let is_noun = |token: &Token| matches!(token.folded.as_str(), "order" | "orders");
                let is_sort = *meaning == Meaning::Concept(Concept::Verb(Verb::Sort));
                if is_sort && run.len() == 1 && run.iter().any(is_noun) && !begins.contains(&start) {
                    continue;
                }
                // "what do you mean" asks for no average.
                if *meaning == Meaning::Concept(Concept::Ask(Function::Average)) && follows_person(tokens, start) {
                    continue;
                }
                // "every second line" is no second line.
                if matches!(meaning, Meaning::Concept(Concept::Ordinal(_))) && is_one_of_many(tokens, start) {
                    continue;
                }
                found.extend(items(context, meaning, start).into_iter().map(|item| Lexical { start, end, item }));
            }
            if !meanings.is_empty() && phrases == Phrases::Longest {
                break;
            }
        }
    }
    found
}

/// Whether the token at a position follows "I", "you", "we", "they" or "to".
fn follows_person(tokens: &[Token], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|at| tokens.get(at));
    before.is_some_and(|token| matches!(token.folded.as_str(), "i" | "you" | "we" | "they" | "to"))
}

/// The existing folders that a word after "in" or "of" names, and whether the word can mean nothing else.
fn existing_folders(context: &Context<'_>, tokens: &[Token], at: usize) -> (Vec<Item>, bool) {
    let is_kind = |meaning: &Meaning| matches!(meaning, Meaning::FileType { .. });
    let Some(token) = tokens.get(at).filter(|_| expects_folder_name(tokens, at)) else { return (Vec::new(), false) };
    let known = lexicon().meanings(&token.folded);
    // "in data": a vague word names a folder that is there.
    let is_vague = known.is_empty() && lexicon().is_vague(&token.folded);
    if word_kind(token) == TextKind::Function && !known.iter().any(is_kind) && !is_vague {
        return (Vec::new(), false);
    }
    let at_home = known.iter().find_map(|meaning| match meaning {
        Meaning::Concept(Concept::Place(name) | Concept::PlaceAfterPreposition(name)) => home_folder(context, name),
        _ => None,
    });
    let mut places: Vec<Place> = [context.resolve(&token.raw), at_home.clone()].into_iter().flatten().collect();
    places.retain(|place| context.is_folder(&place.path));
    if places.is_empty() && !acts_at_a_start(tokens) {
        places.extend(context.folder_in_any_case(&token.folded));
    }
    places.dedup_by(|a, b| a.path == b.path);
    let is_folder = is_before_folder(tokens, at) || is_after_folder(tokens, at);
    let is_only =
        !places.is_empty() && (known.is_empty() || at_home.is_some() || known.iter().any(is_kind) || is_folder);
    (places.into_iter().map(Item::Path).collect(), is_only)
}

/// Whether the word "folder" stands before a position, and nothing that makes it one of many.
fn is_after_folder(tokens: &[Token], at: usize) -> bool {
    let word = |back: usize| at.checked_sub(back).and_then(|at| tokens.get(at)).map(|token| token.folded.as_str());
    matches!(word(1), Some("folder" | "directory"))
        && !matches!(word(2), Some("a" | "any" | "each" | "every" | "which"))
}

/// Whether the word "folder" stands after a position.
fn is_before_folder(tokens: &[Token], at: usize) -> bool {
    tokens.get(at + 1).is_some_and(|token| matches!(token.folded.as_str(), "folder" | "directory"))
}

/// Whether the word at a position follows "in", "of" or similar, or is the x in "search x for".
fn expects_folder_name(tokens: &[Token], at: usize) -> bool {
    let is_name = |token: &Token| matches!(token.class, Class::Word | Class::FileName);
    let is_last = is_last_name(tokens, at);
    let is_article = |token: &Token| {
        matches!(token.folded.as_str(), "the" | "my" | "our" | "folder" | "directory" | "dir")
            || (is_last && matches!(token.folded.as_str(), "is" | "are"))
    };
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
    // In "the number of photos", "of" belongs to the phrase before "photos".
    let is_part = (2..=lexicon().longest).any(|words| !behind(words).is_empty());
    let searches =
        means(behind(1), &[Concept::Verb(Verb::Find)]) && tokens.get(at + 1).is_some_and(|token| token.folded == "for");
    let is_listed = before.last().is_some_and(|token| matches!(token.folded.as_str(), "ls" | "tree"));
    let is_asked_about = before.len() == 1
        && means(behind(1), &[Concept::Copula])
        && tokens.get(at).is_some_and(|token| token.raw.starts_with(char::is_uppercase));
    let is_or = |token: Option<&Token>| is_word(token, "or");
    let is_choice = (is_or(tokens.get(at + 1)) || is_or(before.last()))
        && tokens.get(at).is_some_and(|token| token.raw.starts_with(char::is_uppercase));
    let is_alone = at == 1 && before.len() == 1 && is_word(before.first(), "and");
    // "the folder Music", and "copy Music to backup".
    let is_capital = tokens.get(at).is_some_and(|token| token.raw.starts_with(char::is_uppercase));
    let is_changed = is_capital && (1..=2).any(|words| behind(words).iter().any(is_act));
    is_after_folder(tokens, at)
        || is_changed
        || (is_before_folder(tokens, at) && at > before.len())
        || (is_alone && tokens.iter().skip(2).all(|token| token.class == Class::Stop))
        || (is_listed && at + 1 == tokens.len())
        || is_asked_about
        || is_choice
        || searches
        || (1..=3).any(|words| means(behind(words), &[Concept::Inside]))
        || means(behind(1), &[Concept::Into])
        || means(behind(2), &[Concept::WhatAbout])
        || (is_last && (1..=lexicon().longest).any(|words| means(behind(words), &BEFORE_NAMES)))
        || (!is_part && means(behind(1), &[Concept::Within]))
}

/// What stands before the name of a folder, as in "ls Documents" and "how big is Documents".
const BEFORE_NAMES: [Concept; 4] =
    [Concept::Verb(Verb::List), Concept::Verb(Verb::Show), Concept::Size, Concept::TotalSize];

/// Whether the word at a position begins with a capital and is the last one.
fn is_last_name(tokens: &[Token], at: usize) -> bool {
    let is_over = tokens.iter().skip(at + 1).all(|token| token.class == Class::Stop);
    is_over && tokens.get(at).is_some_and(|token| token.raw.starts_with(char::is_uppercase))
}

/// The item for several words that are an existing path with spaces, such as "Camera Roll".
fn spaced_name(context: &Context<'_>, tokens: &[Token], start: usize) -> Option<Lexical> {
    /// Maximum number of words of a path with spaces.
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

/// Whether "every" or "each" precedes an ordinal.
fn is_one_of_many(tokens: &[Token], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| tokens.get(before));
    before.is_some_and(|token| matches!(token.folded.as_str(), "every" | "each"))
}

/// Whether a dictionary meaning is a verb for a change, such as "delete".
fn is_act(meaning: &Meaning) -> bool {
    matches!(meaning, Meaning::Concept(Concept::Do(_)))
}

/// Whether a dictionary meaning is a question although its phrase starts with a verb for a change ("add up the sizes
/// of").
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
            | Concept::AsFile
            | Concept::Again
    )
}

/// Whether the first word of a run of tokens is a verb for a change.
pub(super) fn begins_with_act(run: &[Token]) -> bool {
    run.first().is_some_and(|token| lexicon().meanings(&token.folded).iter().any(is_act))
}

/// Whether some clause of a request starts with a verb that changes files, such as "delete".
pub(super) fn acts_at_a_start(tokens: &[Token]) -> bool {
    clause_starts(tokens).into_iter().any(|at| begins_with_act(tokens.get(at..).unwrap_or_default()))
}

/// The positions where clauses start: at the start, after punctuation or "and", and after "please".
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
                let adverb = begins && means(Concept::Depth(Depth::Whole));
                let joins = adverb || means(Concept::And) || means(Concept::Or) || means(Concept::Then);
                joins || (begins && means(Concept::Skip) && !is_subject(tokens, at)) || leads_in
            }
            _ => false,
        };
    }
    starts
}

/// Whether the word at a position tells who or what does something, as "I" does in "the files I delete".
fn is_subject(tokens: &[Token], at: usize) -> bool {
    let is_one_of = |at: usize, words: [&str; 4]| words.iter().any(|word| is_word(tokens.get(at), word));
    is_one_of(at, ["i", "we", "that", "which"]) && (at == 0 || !is_one_of(at - 1, ["do", "can", "could", "should"]))
}

/// The known word that an unknown word is a typo of; `None` if there is none.
pub(super) fn corrected(token: &Token) -> Option<&'static str> {
    if token.class != Class::Word || lexicon().knows(&token.folded) || FORM_WORDS.contains(&*token.folded) {
        return None;
    }
    thread_local! {
        /// Corrections of words looked up lately: each word is asked for many times, and each time all words are read.
        static KNOWN: RefCell<HashMap<String, Option<&'static str>>> = RefCell::default();
    }
    KNOWN.with_borrow_mut(|known| {
        if known.len() > MAX_CORRECTIONS {
            known.clear();
        }
        *known.entry(token.folded.clone()).or_insert_with(|| lexicon().correction_of(&token.folded))
    })
}

/// The dictionary meanings of a run of words, with typos corrected.
fn meanings(run: &[Token]) -> &'static [Meaning] {
    let mut words = Vec::new();
    for token in run {
        if !matches!(token.class, Class::Word | Class::Number(_)) {
            return &[];
        }
        words.push(corrected(token).unwrap_or(&token.folded));
    }
    lexicon().meanings(&words.join(" "))
}

/// The items for the token at a position by its class, such as a path, a number or a text, whatever the dictionary says
/// of it.
fn literal(context: &Context<'_>, tokens: &[Token], at: usize) -> Vec<Item> {
    let Some(token) = tokens.get(at) else { return Vec::new() };
    if let Some(owner) = owner(context, token) {
        return vec![owner];
    }
    let text = |kind| Item::Text(Text { text: token.raw.clone(), kind });
    let of_type = |kind| Item::draft(Draft { types: vec![kind], ..Draft::default() });
    match &token.class {
        Class::Quoted => vec![text(TextKind::Quoted)],
        Class::FileName => vec![text(TextKind::FileName)],
        Class::Extension => {
            let extension = token.folded.trim_start_matches('.').to_owned();
            vec![text(TextKind::Extension), of_type(Pred::Extension(extension))]
        }
        Class::Glob => vec![text(TextKind::Glob), of_type(Pred::Name(NameTest::Glob(token.raw.clone())))],
        Class::Path => [text(TextKind::Path)].into_iter().chain(path(context, &token.raw)).collect(),
        Class::Number(value) => vec![text(TextKind::Digits), Item::Number(*value, false)],
        Class::Ordinal(value) if !is_one_of_many(tokens, at) => vec![Item::Ordinal(*value)],
        Class::Date(date) => context.clock.day(*date).map(Item::Stretch).into_iter().collect(),
        Class::Instant(moment) => vec![Item::Moment(*moment)],
        Class::Comma => vec![Item::Comma],
        Class::Stop => vec![Item::Skip],
        Class::Open => vec![Item::Open],
        Class::Close => vec![Item::Close],
        Class::Variable => {
            let fact = Some(Fact::Variable { name: token.raw.clone() });
            // "in $HOME" names a folder.
            let home = Item::Mark(Concept::PlaceAfterPreposition("~".to_owned()));
            let home = (token.raw == "HOME").then_some(home);
            [Item::draft(Draft { fact, ..Draft::default() })].into_iter().chain(home).collect()
        }
        // "containing hello": a greeting begins a request, elsewhere it is a text.
        Class::Word if at > 0 && phrase("literal", std::slice::from_ref(token), 0).is_some() => {
            vec![text(TextKind::Bare)]
        }
        Class::Word => vec![text(word_kind(token))],
        // A separator of two steps belongs to neither.
        Class::Ordinal(_) | Class::Symbol | Class::Step => Vec::new(),
    }
}

/// The file or folder that a possessive such as "notes.txt's" names, if it exists.
fn owner(context: &Context<'_>, token: &Token) -> Option<Item> {
    let name = ["'s", "’s", "s'", "s’"].iter().find_map(|ending| {
        let name = token.raw.strip_suffix(ending)?;
        Some(if ending.starts_with('s') { format!("{name}s") } else { name.to_owned() })
    })?;
    let place = context.resolve(&name)?;
    match context.on_disk(&place.path)? {
        PathKind::File => Some(Item::draft(Draft { object: vec![place], ..Draft::default() })),
        PathKind::Folder | PathKind::Unknown => Some(Item::draft(Draft { scope: vec![place], ..Draft::default() })),
    }
}

/// The item for a typed path; with wildcards in its last part, a folder and a pattern of names.
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
    // As in a shell, "*" matches no hidden name.
    let hidden = (depth == Depth::Direct && !pattern.starts_with('.')).then_some(Hidden::Exclude);
    let draft = Draft { scope: vec![place], depth: Some(depth), types, hidden, ..Draft::default() };
    Some(Item::draft(if hidden.is_some() { draft.noted("hidden files left out") } else { draft }))
}

/// The form of a word that is used as text: whether it can be a name, a path or content.
fn word_kind(token: &Token) -> TextKind {
    let folded = token.folded.as_str();
    if lexicon().is_vague(folded) {
        return TextKind::Function;
    }
    // An unknown word in capitals is a text: "INFO", although the lexicon has "cpu info".
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
    // Function words are never names; every other word can be one where a name is expected.
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
/// The files with an unknown word as their extension, if the request speaks of files and one with it lies below the
/// current folder: "all NEF files".
fn ending_on_disk(context: &Context<'_>, tokens: &[Token], at: usize) -> Option<Item> {
    const NOUNS: [&str; 8] = ["file", "files", "images", "pictures", "photos", "documents", "spreadsheets", "fonts"];
    let word = tokens.get(at).filter(|token| token.class == Class::Word && !lexicon().knows(&token.folded))?;
    let is_short = (2..=5).contains(&word.folded.len()) && word.folded.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let follows = tokens.iter().skip(at + 1).take(6).any(|token| NOUNS.contains(&&*token.folded));
    let ends = |entry: &Entry| {
        let name = String::from_utf8_lossy(entry.name_bytes()).to_lowercase();
        entry.kind == EntryKind::File && name.rsplit_once('.').is_some_and(|(_, ending)| ending == word.folded)
    };
    let is_there = is_short && follows && context.below(&context.environment.cwd)?.iter().any(ends);
    is_there.then(|| Item::TypeWord(vec![Pred::Extension(word.folded.clone())], Vec::new()))
}
