//! Tests of the dictionary: every phrase is used, and typos of verbs that change files are not corrected.

use std::collections::HashMap;
use std::mem::{Discriminant, discriminant};

use proptest::prelude::*;

use artoo_proto::{Abstention, Environment, Now, SessionTurn, Timestamp};

use crate::algebra::{Function, GroupKey, Key, Relation};
use crate::concept::{ActWord, Bound, Concept, Measure, NameRelation, Relation as TimeRelation, TextUnit};
use crate::lexicon::expand::expand;
use crate::lexicon::{Meaning, TypeForm, lexicon};
use crate::parse::{Parsed, parse};
use crate::testing::MemoryFileSystem;

/// Wednesday, 15 May 2024, 14:00 local time.
fn now() -> Now {
    Now { wall: Timestamp::parse("2024-05-15T13:00:00Z").unwrap(), uptime_ms: 0 }
}

/// A Linux machine whose current folder is `/home/ada/work`.
fn environment() -> Environment {
    Environment {
        cwd: "/home/ada/work".to_owned(),
        home: "/home/ada".to_owned(),
        workspace: "/home/ada/artoo_workspace".to_owned(),
        os: "linux".to_owned(),
        utc_offset_s: 3600,
    }
}

/// Parses a request on an empty disk, without earlier requests.
fn read(request: &str) -> Result<Parsed, Abstention> {
    parse(request, &[], &environment(), now(), &MemoryFileSystem::default())
}

/// Requests that contain a phrase with this meaning; at least one must be understood.
fn requests(phrase: &str, meaning: &Meaning) -> Vec<String> {
    let concept = match meaning {
        Meaning::FileType { form: TypeForm::Adjective, .. } => return vec![format!("list {phrase} files in ~/x")],
        Meaning::FileType { .. } => return vec![format!("list {phrase} in ~/x"), format!("{phrase}")],
        Meaning::Concept(concept) => concept,
    };
    templates(concept).iter().map(|template| template.replace('@', phrase)).collect()
}

/// Requests in which `@` stands for a phrase with this meaning.
fn templates(concept: &Concept) -> &'static [&'static str] {
    about_conditions(concept)
        .or_else(|| about_what_is_asked(concept))
        .or_else(|| about_acts(concept))
        .or_else(|| about_text_and_machine(concept))
        .unwrap_or_default()
}

/// Requests with `@` for function words, questions, nouns and words for order; `None` for other meanings.
fn about_what_is_asked(concept: &Concept) -> Option<&'static [&'static str]> {
    Some(match concept {
        Concept::Skip => &["list @ files in ~/x", "@ files", "files @ in ~/x"],
        Concept::Only => &["list @ PDFs in ~/x", "list PDFs in ~/x @", "PDFs @"],
        Concept::For => &["search ~/x @ PDFs"],
        Concept::Copula => &["which files @ in ~/x", "what @ the files in ~/x"],
        Concept::And => &["PDFs older than 3 days @ larger than 1 MB", "PDFs @ images"],
        Concept::Or => &["PDFs @ images"],
        Concept::Nor => &["files in ~/x that are neither PDFs @ images"],
        Concept::Verb(_) => &["@ files in ~/x", "@ notes.txt", "@ lines of notes.txt"],
        Concept::ListFolder => &["@ my downloads", "@ my downloads contain"],
        Concept::Count => &["@ files in ~/x", "@ files are in ~/x"],
        Concept::CountThem => &["find files in ~/x @"],
        Concept::Size | Concept::TotalSize => &["@ PDFs in ~/x", "@ the PDFs in ~/x are"],
        Concept::SizeTail => &["how much space do PDFs in ~/x @", "how much space is @ the PDFs"],
        Concept::Details => &["list PDFs @", "@ the PDFs in ~/x"],
        Concept::WhenWas => &["@ notes.txt last modified", "@ notes.txt"],
        Concept::InBytes => &["total size of PDFs @"],
        Concept::Noun { .. } => &["list @ in ~/x", "find @ named 'x'", "delete the @ named 'x'", "files in the ~/x @"],
        Concept::Lines { plural: true } | Concept::Rows => &["how many @ are in notes.txt"],
        Concept::Lines { plural: false } => &["first @ of notes.txt", "@ 3 of notes.txt"],
        Concept::Edge(_) => &["show @ 5 lines of notes.txt"],
        Concept::SomeLines(_) => &["@ notes.txt", "@ of notes.txt"],
        Concept::Superlative { by: Key::Value, .. } => &["@ words in notes.txt"],
        Concept::Superlative { by: Key::Length, .. } => &["@ line of notes.txt"],
        Concept::Superlative { by: Key::Memory | Key::Cpu, .. } => {
            &["5 processes @", "which process @", "@ process", "which 5 processes @", "the 5 processes @"]
        }
        Concept::Superlative { .. } | Concept::SuperlativeBefore { .. } => &["@ file in ~/x", "file @ in ~/x"],
        Concept::SortBy => &["list files @ size"],
        Concept::Key(Key::Value) => &["number of files in ~/x per extension sorted by @"],
        Concept::Key(Key::Text | Key::Numeric | Key::Length) => &["lines of notes.txt sorted by @"],
        Concept::Key(Key::Memory | Key::Cpu) => &["list processes sorted by @"],
        Concept::Key(_) => &["list files sorted by @"],
        Concept::Sorted { by: Key::Text | Key::Numeric, .. } => {
            &["lines of notes.txt @", "sort the lines of notes.txt @"]
        }
        Concept::Sorted { .. } => &["list files @"],
        Concept::Order(_) => &["list files sorted by size @"],
        Concept::Number(_) => &["first @ lines of notes.txt", "files over @ bytes"],
        Concept::Ordinal(_) => &["the @ line of notes.txt"],
        _ => return None,
    })
}

/// Requests with `@` for words about sizes, times, places, names and content; `None` for other meanings.
fn about_conditions(concept: &Concept) -> Option<&'static [&'static str]> {
    Some(match concept {
        Concept::Compare { of: Measure::Size | Measure::Either, .. } => &["files @ 10 MB"],
        Concept::Compare { of: Measure::Age, .. } => &["files @ 3 days"],
        Concept::OrBound { of: Measure::Age, bound: Bound::AtLeast | Bound::AtMost } => {
            &["files 3 days @", "files modified 3 days @"]
        }
        Concept::OrBound { .. } => &["files of 10 MB @", "files that are 10 MB @", "files 10 MB @"],
        Concept::Between => &["files @ 1 MB and 5 MB"],
        Concept::To => &["lines 3 @ 5 of notes.txt"],
        Concept::SizeField => &["files @ over 10 MB"],
        Concept::SizeSuffix => &["files over 10 MB @"],
        Concept::Empty | Concept::NonEmpty => &["@ files in ~/x", "files @ in ~/x"],
        Concept::Bytes(_) => &["files over 10 @"],
        Concept::TimeUnit(_) => &["files older than 10 @", "files more than 1 @ old"],
        Concept::Modified => &["files @ since Monday", "which files @ since Monday"],
        Concept::LastSpan => &["files modified @ 3 days"],
        Concept::Unmodified => &["files @ 3 days", "files that were @ 3 days"],
        Concept::UnmodifiedSince => &["files @ Monday", "files that were @ Monday"],
        Concept::Ago => &["files modified since 3 days @"],
        Concept::Old => &["files more than 3 days @"],
        Concept::Relation(TimeRelation::During) => &["files modified @ 2023"],
        Concept::Relation(_) => &["files modified @ 2024-05-01", "files @ 2024-05-01"],
        Concept::Calendar(_) | Concept::Weekday(_) => &["files modified @"],
        Concept::CalendarOf(_) => &["@ files"],
        Concept::Month(_) => &["files modified in @", "files modified on @ 3"],
        Concept::Within | Concept::Inside => &["files @ ~/x"],
        Concept::Place(_) | Concept::PlaceAfterPreposition(_) => &["files in @"],
        Concept::Here | Concept::InPlace(_) => &["files @"],
        Concept::Holds => &["how many files does ~/x @"],
        Concept::DirectlyIn => &["files @ ~/x"],
        Concept::Depth(_) => &["files in ~/x @", "files in ~/x, @", "delete everything in ~/x @"],
        Concept::Hidden(_) => &["@ files in ~/x", "files in ~/x @"],
        Concept::Dotfiles => &["@ in ~/x"],
        Concept::Name(NameRelation::Literally) => &["files @ 'a*'"],
        Concept::Name(NameRelation::Glob) => &["files @ '*x*'"],
        Concept::Name(_) => &["files @ 'foo'"],
        Concept::InName | Concept::InContent => &["files with 'foo' @"],
        Concept::With => &["files @ 'foo' in the name"],
        Concept::Contains => &["files @ 'foo'"],
        Concept::TheWord => &["files containing @ foo"],
        Concept::Grep => &["@ foo in notes.txt"],
        Concept::IgnoreCase | Concept::MatchCase => &["files containing 'foo' @"],
        Concept::Extension => &["files @ rs"],
        Concept::OfType => &["files @ pdf"],
        Concept::ExtensionSuffix => &["files with .rs @"],
        Concept::Except => &["files @ PDFs", "@ PDF files"],
        Concept::NameLacks => &["files @ contain 'x'"],
        Concept::Lacking => &["files @ 'x' in the name"],
        _ => return None,
    })
}

/// Requests with `@` for verbs for changes, joining words and words that refer back; `None` for other meanings.
fn about_acts(concept: &Concept) -> Option<&'static [&'static str]> {
    Some(match concept {
        Concept::Then => &["list files in ~/x @ count the PDFs in ~/y", "list files in ~/x, @ count the PDFs in ~/y"],
        Concept::Either => &["files in ~/x that are @ empty or named 'x'"],
        Concept::Reference(_) => &[
            "find PDFs in ~/x, then count @",
            "find PDFs in ~/x, then list @",
            "list PDFs in ~/x, then show @ that are empty",
            "find the PDFs in ~/x and show the size of @",
            "list the PDFs in ~/x; how many @ are empty",
            "list the PDFs in ~/x; @",
        ],
        Concept::Again => &["@"],
        Concept::WhatAbout => &["@ ~/y"],
        Concept::One { .. } => &["find PDFs in ~/x, then show the largest @"],
        Concept::Do(ActWord::Create | ActWord::CreateFolder) => &["@ the folder ~/x"],
        Concept::Do(ActWord::Copy | ActWord::Move) => &["@ a.txt to ~/x"],
        Concept::Do(ActWord::Rename) => &["@ a.txt to b.txt"],
        Concept::Do(ActWord::ChangeExtension) => &["@ the PDFs in ~/x to md"],
        Concept::Do(ActWord::Archive) => &["@ a.txt to x.zip"],
        Concept::Do(ActWord::Extract) => &["@ a.zip into ~/x"],
        Concept::Do(ActWord::Delete) => &["@ a.txt"],
        Concept::Do(ActWord::Replace) => &["@ 'x' with 'y' in a.txt and save it as b.txt"],
        Concept::IntoFolder => &["copy a.txt @ ~/x"],
        Concept::Into => &["copy a.txt @ ~/x", "pack a.txt @ x.zip"],
        Concept::AsFile => {
            &["copy a.txt @ b.txt", "replace 'x' with 'y' in a.txt @ b.txt", "replace 'x' with 'y' in a.txt, @ b.txt"]
        }
        Concept::There => &["create the folder ~/x, then copy a.txt @"],
        Concept::NewExtension | Concept::NewPrefix | Concept::NewSuffix => {
            &["rename the PDFs in ~/x @ 'md'", "@ 'x' to the PDFs in ~/x"]
        }
        Concept::NewTemplate => &["rename the PDFs in ~/x @ '{n}.pdf'"],
        Concept::NameCase(_) => &["rename the PDFs in ~/x @", "rename the PDFs in ~/x to @"],
        _ => return None,
    })
}

/// Requests with `@` for words about groups, numbers, columns, comparisons and facts; `None` for other meanings.
#[expect(clippy::too_many_lines, reason = "one table: a concept a line")]
fn about_text_and_machine(concept: &Concept) -> Option<&'static [&'static str]> {
    Some(match concept {
        Concept::Per => &["number of files in ~/x @ extension", "number of files @ extension in ~/x"],
        Concept::Each => &[
            "number of lines @ PDF in ~/x",
            "how many lines does @ PDF in ~/x have",
            "number of lines of the PDFs in ~/x @",
            "number of lines @ the PDFs in ~/x",
            "how many lines do the PDFs in ~/x @",
        ],
        Concept::GroupKey(GroupKey::Text) => &["number of lines in a.txt per @"],
        Concept::GroupKey(_) => &["number of files in ~/x per @"],
        Concept::Groups => &["number of files in ~/x per extension, first 3 @"],
        Concept::Ask(function) => match function {
            Function::AverageBytes | Function::LargestBytes | Function::SmallestBytes => {
                &["@ the PDFs in ~/x", "@ in ~/x", "@ are the PDFs in ~/x"]
            }
            _ => &["@ the numbers in a.txt", "@ column 2 of a.csv", "@ a.txt", "@ column 2 in a.csv"],
        },
        Concept::Field(_) => {
            &["@ a.txt", "@ of a.txt", "show the files in ~/x @", "list the folders in ~/x @", "@ the PDFs in ~/x"]
        }
        Concept::TextUnit(TextUnit::Numbers) => &["sum of @ in a.txt"],
        Concept::TextUnit(TextUnit::Entries) => {
            &["list @ a.zip", "list @ of a.zip", "@ a.zip", "how many @ a.zip", "list @ of the archive a.zip"]
        }
        Concept::Marker(_) => &["how many @ are in a.txt", "show the @ in a.txt"],
        Concept::Tree => &["@ ~/x", "show ~/x @"],
        Concept::PathsOf => &["print @ a.txt"],
        Concept::WithPaths => &["find the PDFs in ~/x @"],
        Concept::ThisWord => &["find @ x in a.txt"],
        Concept::WhichLine => &["@ x in a.txt"],
        Concept::Comparative { .. } => &["which is @, a.txt or b.txt"],
        Concept::TextUnit(TextUnit::Word) => &["the most common @ in a.txt"],
        Concept::TextUnit(_) => &["number of @ in a.txt", "@ of a.txt"],
        Concept::Frequency { .. } => &["@ occurs in a.txt", "@ in a.txt", "@ a.txt"],
        Concept::Occurs => &["how often each word @ in a.txt", "how often each word in a.txt @"],
        Concept::Characters => &["lines longer than 80 @ in a.txt"],
        Concept::Unique | Concept::Repeated => {
            &["@ lines of a.txt", "lines of a.txt @", "which lines of a.txt @", "show the lines of a.txt @"]
        }
        Concept::Onward => &["lines of a.txt from line 5 @", "lines from line 5 @ of a.txt"],
        Concept::Numbered => &["lines of a.txt @", "@ lines of a.txt", "@ the lines of a.txt"],
        Concept::Column => &["@ 2 of a.csv"],
        Concept::SeparatedBy => &["column 2 of a.csv @ ';'"],
        Concept::Separator(_) => &["column 2 of a.csv separated by @"],
        Concept::Replacing => &["lines of a.txt @ 'x' with 'y'"],
        Concept::ReplaceWith => &["lines of a.txt replacing 'x' @ 'y'"],
        Concept::LineTest(NameRelation::Glob) => &["lines of a.txt, @ 'x*'"],
        Concept::LineTest(_) => &["lines of a.txt, @ 'x'"],
        Concept::Blank => &["@ lines of a.txt", "lines of a.txt @", "lines of a.txt that are @"],
        Concept::Versus(Relation::Identical) => &[
            "are a.txt and b.txt @",
            "is a.txt @ b.txt",
            "do a.txt and b.txt @",
            "whether a.txt @ b.txt",
            "a.txt @ b.txt",
        ],
        Concept::Versus(_) => &["lines of a.txt @ b.txt"],
        Concept::Both(Relation::Told | Relation::Difference) => &["@ a.txt and b.txt", "show @ a.txt and b.txt"],
        Concept::Both(_) => &["lines @ a.txt and b.txt", "which lines do a.txt and b.txt @", "lines a.txt and b.txt @"],
        Concept::BelowFolder => &["files in ~/x @ named 'y'"],
        Concept::NotBelow => &["files in ~/x @ 'y'"],
        Concept::EmptyFolder => &["folders in ~/x @"],
        Concept::Executable => &["files in ~/x @", "@ files in ~/x"],
        Concept::Permissions => &["files in ~/x @ 644"],
        Concept::OwnedBy => &["files in ~/x @ ada"],
        Concept::Duplicates => &["list @ in ~/x", "list @ the files in ~/x"],
        Concept::Processes { .. } => &["list @", "how many @", "is there a @ named 'x'", "which @"],
        Concept::Fact(_) => &["@", "show the @", "what is the @", "show @", "how many @"],
        Concept::NamePart(_) | Concept::FoldersOf | Concept::RepeatedNames => &[
            "@ the PDFs in ~/x",
            "list the PDFs in ~/x @",
            "list @ in ~/x",
            "find the PDFs in ~/x and show @",
            "@ in ~/x",
            "@ the PDFs in ~/x are",
        ],
        Concept::Occurrences { .. } => &["@ 'x' in a.txt", "@ 'x' appears in a.txt", "@ 'x' used in a.txt"],
        Concept::ContainsWord => &["files in ~/x @ foo"],
        Concept::WithCounts => &["lines of a.txt @", "the unique lines of a.txt @"],
        Concept::OfEachLine => &["column 2 @ a.csv", "column 2 @ of a.csv"],
        Concept::Using => &["column 2 of a.csv @ ';' as delimiter"],
        Concept::AsSeparator => &["column 2 of a.csv using ';' @"],
        Concept::RightsBehind => &["files in ~/x with 644 @"],
        Concept::Printed => &["replace 'x' with 'y' in a.txt @"],
        Concept::KindNoun => &["list .sh @ in ~/x"],
        Concept::AsWord => &["files in ~/x containing 'foo' @"],
        Concept::Rewrite(_) => &["show a.txt @", "@ a.txt", "@ of a.txt"],
        Concept::WrappedAt => &["show a.txt @ 40 characters", "show a.txt @ 40"],
        Concept::JoinedBy => &["show a.txt @ commas"],
        Concept::AnyCase => &["files in ~/x named 'foo', @"],
        Concept::LyingBelow => &["files in ~/x except @ ~/x/y"],
        Concept::OfGroup => &["files in ~/x @ staff"],
        Concept::Rights(_) => &["files in ~/x @", "@ files in ~/x"],
        Concept::AllPermissions => &["files in ~/x @ 444"],
        Concept::Accessed => &["files @ since Monday", "which files @ since Monday"],
        Concept::Unaccessed => &["files @ 3 days", "files that were @ 3 days"],
        Concept::UnaccessedSince => &["files @ Monday", "files that were @ Monday"],
        Concept::DateWord => &["@ 3 days after today", "@ in 3 days", "@ 3 days ago"],
        Concept::AfterToday | Concept::BeforeToday => &["date 3 days @"],
        Concept::KernelParameter => &["@ vm.swappiness"],
        Concept::GroupsOf => &["@ ada", "@ ada belongs to"],
        Concept::IsMember => &["which groups does ada @", "which groups is ada @"],
        Concept::UserIdOf => &["@ ada"],
        Concept::WeekdayNow => &["@"],
        Concept::Disk(_) => &["@ ~/x", "@", "@ on ~/x"],
        Concept::DayOfWeek => &["@ 2024-05-01"],
        Concept::Variable => &["@ HOME", "HOME @", "show the HOME @"],
        Concept::Program => &["@ git"],
        Concept::Installed => &["is git @", "where is the git @", "where is git @", "path of the git @"],
        _ => return None,
    })
}

/// Whether a request is understood alone or after "list the PDFs in ~/x".
fn understood(request: &str) -> bool {
    let before = SessionTurn { input: "list the PDFs in ~/x".to_owned(), summary: String::new(), answered: true };
    read(request).is_ok() || parse(request, &[before], &environment(), now(), &MemoryFileSystem::default()).is_ok()
}

/// The enum variants of a meaning: two meanings with the same variants mostly fit the same request templates.
fn variants(meaning: &Meaning) -> (Discriminant<Meaning>, Option<Discriminant<Concept>>) {
    let concept = if let Meaning::Concept(concept) = meaning { Some(discriminant(concept)) } else { None };
    (discriminant(meaning), concept)
}

/// Each meaning of each phrase, except verbs for unknown kinds of change, is understood in some request.
#[test]
fn every_phrase_is_understood() {
    let all: Vec<_> = lexicon().all().collect();
    let unused_of = |part: usize, parts: usize| {
        let mut unused = Vec::new();
        // The index of the last understood template for each kind of meaning: parsing takes longest where it fails.
        let mut likely = HashMap::new();
        for (phrase, meanings) in all.iter().skip(part).step_by(parts) {
            for meaning in meanings.iter().filter(|meaning| **meaning != Meaning::Concept(Concept::Act)) {
                let mut requests = requests(phrase, meaning);
                let first = likely.entry(variants(meaning)).or_insert(0);
                let count = requests.len();
                requests.rotate_left((*first).min(count));
                match requests.iter().position(|request| understood(request)) {
                    Some(place) => *first = (*first + place) % count,
                    None => unused.push(format!("{phrase} ({meaning:?})")),
                }
            }
        }
        unused
    };
    // The entries take a minute and more on one core.
    let parts = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let mut unused: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..parts).map(|part| scope.spawn(move || unused_of(part, parts))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    unused.sort();
    assert!(unused.is_empty(), "{} unused:\n{}", unused.len(), unused.join("\n"));
}

/// A verb for an unknown kind of change makes a request refused.
#[test]
fn every_acting_verb_is_refused() {
    for (phrase, meanings) in lexicon().all() {
        if meanings.contains(&Meaning::Concept(Concept::Act)) {
            for request in [
                format!("{phrase} files in ~/x"),
                format!("list files in ~/x and {phrase} them"),
                format!("please {phrase} the PDFs"),
            ] {
                assert!(read(&request).is_err(), "{request}");
            }
        }
    }
}

#[test]
fn phrases_are_folded_and_plain() {
    for (phrase, _) in lexicon().all() {
        assert_eq!(phrase, phrase.to_lowercase());
        assert_eq!(phrase.split_whitespace().collect::<Vec<_>>().join(" "), phrase);
        assert!(!phrase.is_empty() && !phrase.contains(['{', '}', '|', '’']), "{phrase}");
    }
}

#[test]
fn expand_lists_all_alternatives() {
    let mut all = expand("{a|b|} c {d|e}");
    all.sort();
    assert_eq!(all, ["a c d", "a c e", "b c d", "b c e", "c d", "c e"]);
}

#[test]
fn typos_are_corrected_words_are_not() {
    for (slip, meant) in [
        ("biggst", "biggest"),
        ("laregst", "largest"),
        ("modifed", "modified"),
        ("foldrs", "folders"),
        ("yesteday", "yesterday"),
    ] {
        assert_eq!(lexicon().correction_of(slip), Some(meant), "{slip}");
    }
    for word in [
        "holder", "films", "tiles", "miles", "tests", "model", "delte", "remov", "renam", "moves", "lits", "contact",
        "older",
    ] {
        assert!(
            lexicon().knows(word) || lexicon().correction_of(word).is_none(),
            "{word} → {:?}",
            lexicon().correction_of(word)
        );
    }
}

proptest! {
    #[test]
    fn typo_of_changing_verb_is_never_corrected(verb in proptest::sample::select(vec!["delete", "remove", "rename", "overwrite", "truncate", "replace", "archive", "compress"]), at in 0usize..6, c in "[a-z]") {
        let mut slip: String = verb.to_owned();
        slip.replace_range(at..=at, &c);
        prop_assume!(slip != verb);
        prop_assert!(lexicon().correction_of(&slip).is_none());
        let request = format!("{slip} the PDFs in ~/x");
        prop_assert!(read(&request).is_err(), "{}", request);
    }
}
