//! The lexicon: every entry is used, no verb that acts is guessed at.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "the templates stand in two tables; one that is in neither fails the test"
)]

use proptest::prelude::*;

use super::read;
use crate::concept::{Bound, Concept, DepthWord, Measure, NameRelation, Relation};
use crate::lexicon::{Meaning, TypeForm, expand, lexicon};

/// Requests around a phrase of this meaning; at least one must be understood.
fn requests(phrase: &str, meaning: &Meaning) -> Vec<String> {
    let concept = match meaning {
        Meaning::FileType { form: TypeForm::Adjective, .. } => return vec![format!("list {phrase} files in ~/x")],
        Meaning::FileType { .. } => return vec![format!("list {phrase} in ~/x"), format!("{phrase}")],
        Meaning::Concept(concept) => concept,
    };
    templates(concept).iter().map(|template| template.replace('@', phrase)).collect()
}

/// Requests in which `@` stands for a phrase of that meaning.
fn templates(concept: &Concept) -> &'static [&'static str] {
    about_conditions(concept).or_else(|| about_what_is_asked(concept)).unwrap_or_default()
}

/// Function words, questions, nouns and order.
fn about_what_is_asked(concept: &Concept) -> Option<&'static [&'static str]> {
    Some(match concept {
        Concept::Skip => &["list @ files in ~/x", "@ files", "files @ in ~/x"],
        Concept::Only => &["list @ PDFs in ~/x", "list PDFs in ~/x @", "PDFs @"],
        Concept::For => &["search ~/x @ PDFs"],
        Concept::Copula => &["which files @ in ~/x", "what @ the files in ~/x"],
        Concept::And => &["PDFs older than 3 days @ larger than 1 MB", "PDFs @ images"],
        Concept::Or => &["PDFs @ images"],
        Concept::Verb(_) => &["@ files in ~/x", "@ notes.txt"],
        Concept::ListFolder => &["@ my downloads", "@ my downloads contain"],
        Concept::Count => &["@ files in ~/x", "@ files are in ~/x"],
        Concept::CountThem => &["find files in ~/x @"],
        Concept::Size => &["@ PDFs in ~/x", "@ the PDFs in ~/x are"],
        Concept::SizeTail => &["how much space do PDFs in ~/x @", "how much space is @ the PDFs"],
        Concept::Details => &["list PDFs @"],
        Concept::WhenWas => &["@ notes.txt last modified", "@ notes.txt"],
        Concept::InBytes => &["total size of PDFs @"],
        Concept::Noun { .. } => &["list @ in ~/x", "find @ named 'x'"],
        Concept::Lines { plural: true } => &["how many @ are in notes.txt"],
        Concept::Lines { plural: false } => &["first @ of notes.txt", "@ 3 of notes.txt"],
        Concept::Edge(_) => &["show @ 5 lines of notes.txt"],
        Concept::SomeLines(_) => &["@ notes.txt", "@ of notes.txt"],
        Concept::Superlative { .. } | Concept::SuperlativeBefore { .. } => &["@ file in ~/x", "file @ in ~/x"],
        Concept::SortBy => &["list files @ size"],
        Concept::Key(_) => &["list files sorted by @"],
        Concept::Sorted { .. } => &["list files @"],
        Concept::Order(_) => &["list files sorted by size @"],
        Concept::Number(_) => &["first @ lines of notes.txt", "files over @ bytes"],
        Concept::Ordinal(_) => &["the @ line of notes.txt"],
        _ => return None,
    })
}

/// Sizes, times, places, names and content.
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
        Concept::Relation(Relation::During) => &["files modified @ 2023"],
        Concept::Relation(_) => &["files modified @ 2024-05-01", "files @ 2024-05-01"],
        Concept::Calendar(_) | Concept::Weekday(_) => &["files modified @"],
        Concept::CalendarOf(_) => &["@ files"],
        Concept::Month(_) => &["files modified in @", "files modified on @ 3"],
        Concept::Within | Concept::Inside => &["files @ ~/x"],
        Concept::Place(_) | Concept::PlaceAfterPreposition(_) => &["files in @"],
        Concept::Here => &["files @"],
        Concept::Holds => &["how many files does ~/x @"],
        Concept::Depth(DepthWord::Direct) => &["files @ ~/x"],
        Concept::Depth(_) => &["files in ~/x @", "files in ~/x, @"],
        Concept::Hidden(_) => &["@ files in ~/x", "files in ~/x @"],
        Concept::Dotfiles => &["@ in ~/x"],
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
        _ => return None,
    })
}

#[test]
fn every_entry_is_used() {
    let mut unused = Vec::new();
    for (phrase, meanings) in lexicon().all() {
        for meaning in meanings.iter().filter(|meaning| **meaning != Meaning::Concept(Concept::Act)) {
            if !requests(phrase, meaning).iter().any(|request| read(request).is_ok()) {
                unused.push(format!("{phrase} ({meaning:?})"));
            }
        }
    }
    unused.sort();
    assert!(unused.is_empty(), "{} unused:\n{}", unused.len(), unused.join("\n"));
}

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
fn alternatives_are_written_out() {
    let mut all = expand("{a|b|} c {d|e}");
    all.sort();
    assert_eq!(all, ["a c d", "a c e", "b c d", "b c e", "c d", "c e"]);
}

#[test]
fn slips_are_mended_and_words_are_not() {
    for (slip, meant) in [
        ("biggst", "biggest"),
        ("laregst", "largest"),
        ("modifed", "modified"),
        ("foldrs", "folders"),
        ("yesteday", "yesterday"),
    ] {
        assert_eq!(lexicon().slip_of(slip), Some(meant), "{slip}");
    }
    for word in [
        "holder", "films", "tiles", "miles", "tests", "model", "delte", "remov", "renam", "moves", "lits", "contact",
        "older",
    ] {
        assert!(lexicon().knows(word) || lexicon().slip_of(word).is_none(), "{word} → {:?}", lexicon().slip_of(word));
    }
}

proptest! {
    #[test]
    fn a_slip_of_an_acting_verb_is_never_mended(verb in proptest::sample::select(vec!["delete", "remove", "rename", "overwrite", "truncate", "replace", "archive", "compress"]), at in 0usize..6, c in "[a-z]") {
        let mut slip: String = verb.to_owned();
        slip.replace_range(at..=at, &c);
        prop_assume!(slip != verb);
        prop_assert!(lexicon().slip_of(&slip).is_none());
        let request = format!("{slip} the PDFs in ~/x");
        prop_assert!(read(&request).is_err(), "{}", request);
    }
}
