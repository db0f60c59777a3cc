//! Renders predicates in English.

use super::quoted;
use crate::algebra::{NameTest, Pred};

/// A predicate in English, such as "ending in .pdf, of at least 10 bytes".
pub(super) fn predicate(pred: &Pred) -> String {
    match pred {
        Pred::All(parts) => {
            // "except .a, ending in .b" could be read as "except .a and .b"; what is excluded comes last.
            let (excluded, positive): (Vec<_>, Vec<_>) = parts.iter().partition(|part| matches!(part, Pred::Not(_)));
            let (kinds, others): (Vec<_>, Vec<_>) =
                excluded.into_iter().partition(|part| excluded_kind(part).is_some());
            let kinds: Vec<String> = kinds.into_iter().filter_map(excluded_kind).collect();
            // "either a or b, c" could be read as "either a or (b and c)", so choices come after plain conditions.
            let (choices, plain): (Vec<_>, Vec<_>) =
                positive.into_iter().partition(|part| matches!(part, Pred::Any(_)) && !is_choice_of_kinds(part));
            // "either a or b, except c" could be read as "either a or (b except c)"; brackets say where a choice ends.
            let is_open = !choices.is_empty() && (!others.is_empty() || !kinds.is_empty());
            let choices = choices.into_iter().map(|choice| match predicate(choice) {
                choice if is_open => format!("({choice})"),
                choice => choice,
            });
            let others = others.into_iter().map(predicate);
            let mut phrases: Vec<String> = plain.into_iter().map(predicate).chain(choices).chain(others).collect();
            if !kinds.is_empty() {
                phrases.push(format!("except {}", kinds.join(" or ")));
            }
            phrases.join(", ")
        }
        Pred::Any(parts) if let Some(endings) = parts.iter().map(ending).collect::<Option<Vec<_>>>() => {
            format!("ending in {}", endings.join(" or "))
        }
        Pred::Any(parts) => format!("either {}", parts.iter().map(alternative).collect::<Vec<_>>().join(" or ")),
        Pred::Not(inner) if let Some(ending) = ending(inner) => format!("except {ending}"),
        Pred::Not(inner) => format!("except {}", alternative(inner)),
        Pred::Extension(extension) => format!("ending in .{extension}"),
        Pred::Name(test) => name(test),
        Pred::NameIgnoringCase(test) => format!("{}, whatever the case of its letters", name(test)),
        Pred::Inside(folder) => format!("lying below {}", super::quoted_path(folder)),
        Pred::NewerThan(path) => format!("newer than the file {}", super::quoted_path(path)),
        Pred::AccessedFrom(moment) => format!("accessed at or after {moment}"),
        Pred::AccessedBefore(moment) => format!("accessed before {moment}"),
        Pred::ModeAll(bits) => format!("with all of the permissions {bits:03o}"),
        Pred::Group(group) => format!("of the group {}", quoted(group)),
        Pred::Word { text, ignore_case } => format!("containing the whole word {}{}", quoted(text), case(*ignore_case)),
        Pred::Below(test) => format!("inside a folder {}", name(test)),
        Pred::MaxBytes(0) => "empty".to_owned(),
        Pred::MinBytes(bytes) => format!("of at least {bytes} bytes"),
        Pred::MaxBytes(bytes) => format!("of at most {bytes} bytes"),
        Pred::ModifiedFrom(moment) => format!("modified at or after {moment}"),
        Pred::ModifiedBefore(moment) => format!("modified before {moment}"),
        Pred::EmptyFolder => "with nothing in it".to_owned(),
        Pred::Executable => "executable".to_owned(),
        Pred::Mode(bits) => format!("with permissions {bits:03o}"),
        Pred::Owner(owner) => format!("owned by {}", quoted(owner)),
        Pred::Contains { text, ignore_case } => format!("containing {}{}", quoted(text), case(*ignore_case)),
        Pred::Line(NameTest::Has(text)) => format!("containing {}", quoted(text)),
        Pred::Line(NameTest::Is(text)) => format!("where the line is {}", quoted(text)),
        Pred::Line(NameTest::Starts(text)) => format!("where the line starts with {}", quoted(text)),
        Pred::Line(NameTest::Ends(text)) => format!("where the line ends with {}", quoted(text)),
        Pred::Line(NameTest::Glob(text)) => format!("where the line matches {}", quoted(text)),
        Pred::Line(NameTest::Pattern(text)) => format!("where a part of the line matches {}", quoted(text)),
        Pred::Blank => "blank".to_owned(),
        Pred::MinLength(count) => format!("of at least {count} characters"),
        Pred::MaxLength(count) => format!("of at most {count} characters"),
    }
}

/// The end of a condition on a text, in English, if case is ignored; else empty.
pub(super) fn case(ignore_case: bool) -> &'static str {
    if ignore_case { ", ignoring case" } else { "" }
}

/// A predicate as one side of an "or" or "and", in brackets where needed.
fn alternative(pred: &Pred) -> String {
    match pred {
        Pred::All(parts) => {
            let (excluded, positive): (Vec<_>, Vec<_>) = parts.iter().partition(|part| matches!(part, Pred::Not(_)));
            let phrases: Vec<String> = positive.into_iter().chain(excluded).map(alternative).collect();
            format!("({})", phrases.join(" and "))
        }
        Pred::Any(parts) => format!("({})", parts.iter().map(alternative).collect::<Vec<_>>().join(" or ")),
        // "except .a or .b" excludes both.
        Pred::Not(inner) if excluded_kind(pred).is_some() || is_choice_of_kinds(inner) => {
            format!("({})", predicate(pred))
        }
        other => predicate(other),
    }
}

/// A test of a file name in English, such as "starting with x".
fn name(test: &NameTest) -> String {
    match test {
        NameTest::Is(text) if text.contains(['*', '?', '[']) => format!("named literally {}", quoted(text)),
        NameTest::Is(text) => format!("named {}", quoted(text)),
        NameTest::Starts(text) => format!("starting with {}", quoted(text)),
        NameTest::Ends(text) => format!("ending with {}", quoted(text)),
        NameTest::Has(text) => format!("with {} in the name", quoted(text)),
        NameTest::Glob(text) | NameTest::Pattern(text) => format!("matching {}", quoted(text)),
    }
}

/// Whether the predicate is a choice of extensions: "ending in .a or .b".
fn is_choice_of_kinds(pred: &Pred) -> bool {
    matches!(pred, Pred::Any(parts) if parts.iter().all(|part| matches!(part, Pred::Extension(_))))
}

/// The extension x of a predicate "not ending in x"; `None` for any other predicate.
fn excluded_kind(pred: &Pred) -> Option<String> {
    if let Pred::Not(inner) = pred { ending(inner) } else { None }
}

/// The extension that a predicate tests for, with its dot.
fn ending(pred: &Pred) -> Option<String> {
    if let Pred::Extension(extension) = pred { Some(format!(".{extension}")) } else { None }
}
