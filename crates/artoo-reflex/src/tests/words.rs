//! The lexicon: every entry is used, no verb that acts is guessed at.

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
    let around = |templates: &[&str]| templates.iter().map(|template| template.replace('@', phrase)).collect();
    match concept {
        Concept::Skip => around(&["list @ files in ~/x", "@ files", "files @ in ~/x"]),
        Concept::Copula => around(&["which files @ in ~/x", "what @ the files in ~/x"]),
        Concept::And => around(&["PDFs older than 3 days @ larger than 1 MB", "PDFs @ images"]),
        Concept::Or => around(&["PDFs @ images"]),
        Concept::Verb(_) => around(&["@ files in ~/x", "@ notes.txt"]),
        Concept::ListFolder => around(&["@ my downloads", "@ my downloads contain"]),
        Concept::Count => around(&["@ files in ~/x", "@ files are in ~/x"]),
        Concept::CountThem => around(&["find files in ~/x @"]),
        Concept::Size => around(&["@ PDFs in ~/x", "@ the PDFs in ~/x are"]),
        Concept::SizeTail => around(&["how much space do PDFs in ~/x @", "how much space is @ the PDFs"]),
        Concept::Details => around(&["list PDFs @"]),
        Concept::WhenWas => around(&["@ notes.txt last modified", "@ notes.txt"]),
        Concept::InBytes => around(&["total size of PDFs @"]),
        Concept::Noun { .. } => around(&["list @ in ~/x", "find @ named 'x'"]),
        Concept::Lines { plural: true } => around(&["how many @ are in notes.txt"]),
        Concept::Lines { plural: false } => around(&["first @ of notes.txt", "@ 3 of notes.txt"]),
        Concept::Edge(_) => around(&["show @ 5 lines of notes.txt"]),
        Concept::SomeLines(_) => around(&["@ notes.txt", "@ of notes.txt"]),
        Concept::Superlative { .. } | Concept::SuperlativeBefore { .. } => around(&["@ file in ~/x", "file @ in ~/x"]),
        Concept::SortBy => around(&["list files @ size"]),
        Concept::Key(_) => around(&["list files sorted by @"]),
        Concept::Sorted { .. } => around(&["list files @"]),
        Concept::Order(_) => around(&["list files sorted by size @"]),
        Concept::Compare { of: Measure::Size | Measure::Either, .. } => around(&["files @ 10 MB"]),
        Concept::Compare { of: Measure::Age, .. } => around(&["files @ 3 days"]),
        Concept::OrBound { of: Measure::Age, bound: Bound::AtLeast | Bound::AtMost } => {
            around(&["files 3 days @", "files modified 3 days @"])
        }
        Concept::OrBound { .. } => around(&["files of 10 MB @", "files that are 10 MB @", "files 10 MB @"]),
        Concept::Between => around(&["files @ 1 MB and 5 MB"]),
        Concept::To => around(&["lines 3 @ 5 of notes.txt"]),
        Concept::SizeField => around(&["files @ over 10 MB"]),
        Concept::SizeSuffix => around(&["files over 10 MB @"]),
        Concept::Empty | Concept::NonEmpty => around(&["@ files in ~/x", "files @ in ~/x"]),
        Concept::Bytes(_) => around(&["files over 10 @"]),
        Concept::TimeUnit(_) => around(&["files older than 10 @", "files more than 1 @ old"]),
        Concept::Modified => around(&["files @ since Monday", "which files @ since Monday"]),
        Concept::LastSpan => around(&["files modified @ 3 days"]),
        Concept::Unmodified => around(&["files @ 3 days", "files that were @ 3 days"]),
        Concept::UnmodifiedSince => around(&["files @ Monday", "files that were @ Monday"]),
        Concept::Ago => around(&["files modified since 3 days @"]),
        Concept::Old => around(&["files more than 3 days @"]),
        Concept::Relation(Relation::During) => around(&["files modified @ 2023"]),
        Concept::Relation(_) => around(&["files modified @ 2024-05-01", "files @ 2024-05-01"]),
        Concept::Calendar(_) | Concept::Weekday(_) => around(&["files modified @"]),
        Concept::CalendarOf(_) => around(&["@ files"]),
        Concept::Month(_) => around(&["files modified in @", "files modified on @ 3"]),
        Concept::Within | Concept::Inside => around(&["files @ ~/x"]),
        Concept::Place(_) | Concept::PlaceAfterPreposition(_) => around(&["files in @"]),
        Concept::Here => around(&["files @"]),
        Concept::Holds => around(&["how many files does ~/x @"]),
        Concept::Depth(DepthWord::Direct) => around(&["files @ ~/x"]),
        Concept::Depth(_) => around(&["files in ~/x @", "files in ~/x, @"]),
        Concept::Hidden(_) => around(&["@ files in ~/x", "files in ~/x @"]),
        Concept::Dotfiles => around(&["@ in ~/x"]),
        Concept::Name(NameRelation::Glob) => around(&["files @ '*x*'"]),
        Concept::Name(_) => around(&["files @ 'foo'"]),
        Concept::InName | Concept::InContent => around(&["files with 'foo' @"]),
        Concept::With => around(&["files @ 'foo' in the name"]),
        Concept::Contains => around(&["files @ 'foo'"]),
        Concept::TheWord => around(&["files containing @ foo"]),
        Concept::Grep => around(&["@ foo in notes.txt"]),
        Concept::IgnoreCase | Concept::MatchCase => around(&["files containing 'foo' @"]),
        Concept::Extension => around(&["files @ rs"]),
        Concept::OfType => around(&["files @ pdf"]),
        Concept::ExtensionSuffix => around(&["files with .rs @"]),
        Concept::Except => around(&["files @ PDFs", "@ PDF files"]),
        Concept::Number(_) => around(&["first @ lines of notes.txt", "files over @ bytes"]),
        Concept::Ordinal(_) => around(&["the @ line of notes.txt"]),
        Concept::Act => Vec::new(),
    }
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
