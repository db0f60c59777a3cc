//! Adjusts a reading to what is on the disk: names found elsewhere, letter case, endings, numbers as text, equal ranks.

use super::build::Built;
use super::clauses::{after_lead, phrase};
use super::item::Context;
use super::located::settled;
use super::pattern::singular;
use crate::algebra::{Act, Depth, Function, Key, Kind, NameTest, Pred, Query, SortKey, Step, Target};
use crate::eval::{Answer, Line, evaluate};
use crate::kinds;
use crate::lex::{Class, Token};
use crate::place::{file_name, is_archive, parent};

/// Maximum number of files whose paths the answer to "do I have any PDFs" has beside "yes".
const MAX_NAMED: usize = 20;

/// The steps of a request; in questions alone, a bare name that is not here is that of the only entry of this name
/// below, and a text that no line has in this letter case is looked for in any case.
pub(super) fn adjusted(context: &Context<'_>, tokens: &[Token], mut built: Vec<Built>) -> Vec<Built> {
    if built.iter().any(|built| matches!(built.step, Step::Do(_))) {
        let is_only = built.len() == 1;
        built.iter_mut().for_each(|built| {
            as_new_folder(context, tokens, &mut built.step);
            as_subfolder(context, tokens, &mut built.step);
        });
        // What a new file is made from is an answer too; an edit of the file itself looks for the text as typed.
        for Built { step, assumptions, .. } in &mut built {
            if let Step::Do(Act::Save { of, to }) = step
                && !matches!(of.source(), Query::TextFile { path } if path == to)
            {
                // A new file changes none of those it is made from.
                if is_only && context.on_disk(to).is_none() {
                    assumptions.extend(taken(&settled(context, of)));
                }
                any_case(context, tokens, of, assumptions);
            }
        }
        return built;
    }
    let in_place = |mut built: Built| {
        let Step::Ask(query) = &mut built.step else { return built };
        let found = settled(context, query);
        built.assumptions.retain(|note| !found.iter().any(|(path, ..)| note.contains(path)));
        built.assumptions.extend(taken(&found));
        built.scope = found.into_iter().next_back().map(|(_, found, _)| found).or(built.scope);
        any_case(context, tokens, query, &mut built.assumptions);
        any_ending(context, query, &mut built.assumptions);
        any_name_case(context, tokens, query, &mut built.assumptions);
        by_number(context, tokens, query, &mut built.assumptions);
        one_best(tokens, query, &mut built.assumptions);
        with_ties(context, query, &mut built.assumptions);
        with_names(context, tokens, query);
        doubles_below(tokens, query);
        all_there_is(tokens, query, &mut built.assumptions);
        in_archive(query);
        only_text(context, tokens, query);
        in_names(tokens, query);
        built
    };
    let mut built: Vec<Built> = built.into_iter().map(in_place).collect();
    // "sort a.txt and show it" asks for one answer.
    built.dedup_by(|later, earlier| later.step == earlier.step);
    built
}

/// Compares names in any letter case, if none has the text as typed and the request doesn't speak of case.
fn any_name_case(context: &Context<'_>, tokens: &[Token], query: &mut Query, notes: &mut Vec<String>) {
    let Query::Tree { roots, .. } = query.source() else { return };
    let is_small = roots.iter().all(|root| context.below(root).is_some());
    if !is_small || tokens.iter().any(|token| token.folded.contains("case")) || is_empty(context, query) != Some(true) {
        return;
    }
    let mut other = query.clone();
    set_any_name_case(&mut other);
    if other != *query && is_empty(context, &other) == Some(false) {
        *query = other;
        notes.retain(|note| note != "upper and lower case differ in names");
        notes.push("no name has it in this letter case, so the case is ignored".to_owned());
    }
}

/// Makes the conditions on names in a query ignore letter case.
fn set_any_name_case(query: &mut Query) {
    if let Query::Filter { keep, .. } = query {
        *keep = keep.clone().map(&|pred| match pred {
            Pred::Name(test @ (NameTest::Starts(_) | NameTest::Has(_) | NameTest::Ends(_))) => {
                Pred::NameIgnoringCase(test)
            }
            other => other,
        });
    }
    query.operands_mut().for_each(set_any_name_case);
}

/// Looks in the names of files for what "filenames containing 2024" asks for.
fn in_names(tokens: &[Token], query: &mut Query) {
    if let Query::Filter { keep, .. } = query
        && (0..tokens.len()).any(|at| phrase("names containing", tokens, at).is_some())
    {
        *keep = keep.clone().map(&|pred| match pred {
            Pred::Contains { text, .. } => Pred::Name(NameTest::Has(text)),
            other => other,
        });
    }
}

/// Makes "a subfolder x" a folder below the one that the moved or copied files lie in, not below the current one.
fn as_subfolder(context: &Context<'_>, tokens: &[Token], step: &mut Step) {
    let (Step::Do(Act::Copy { of, to: Target::Into(path) }) | Step::Do(Act::Move { of, to: Target::Into(path) })) =
        step
    else {
        return;
    };
    let Query::Tree { roots, .. } = of.source() else { return };
    let says_it = tokens.iter().any(|token| ["subfolder", "subdirectory"].contains(&token.folded.as_str()));
    if let ([root], Some(name)) = (roots.as_slice(), file_name(path))
        && says_it
        && parent(path) == context.environment.cwd
        && context.on_disk(path).is_none()
    {
        *path = format!("{root}/{name}");
    }
}

/// Makes a copy of a folder the target itself if nothing has the target's name yet, unless the request says "into".
fn as_new_folder(context: &Context<'_>, tokens: &[Token], step: &mut Step) {
    let Step::Do(Act::Copy { of: Query::Paths { paths, kind: Kind::Folder }, to }) = step else { return };
    let is_into = tokens.iter().any(|token| ["into", "inside", "in"].contains(&token.folded.as_str()));
    if let (Target::Into(path), [_], false) = (&*to, paths.as_slice(), is_into)
        && context.on_disk(path).is_none()
        && context.on_disk(parent(path)).is_some()
    {
        *to = Target::As(path.clone());
    }
}

/// Looks for files with equal content in subfolders too, unless the request says "directly": a file's double is often
/// in another folder.
fn doubles_below(tokens: &[Token], query: &mut Query) {
    if matches!(query, Query::Duplicates { .. }) && !tokens.iter().any(|token| token.folded.starts_with("direct")) {
        query.set_depth(Depth::Whole);
    }
}

/// Counts all files below for "how many files do I have", and not only those directly here; adds a note.
fn all_there_is(tokens: &[Token], query: &mut Query, notes: &mut Vec<String>) {
    let says = |words: &[&str]| tokens.iter().any(|token| words.contains(&&*token.folded));
    if let Query::Aggregate { of, function: Function::Count } = query
        && let Query::Tree { depth: depth @ Depth::Direct, .. } = of.as_mut()
        && says(&["have", "own", "altogether", "got"])
        && !says(&["here", "this", "directly", "current"])
    {
        *depth = Depth::Whole;
        notes.retain(|note| note != "subfolders not entered");
        notes.push("subfolders included".to_owned());
    }
}

/// Shows the text of "it" without its path where one file was found, and counts lines for "lines in a.log?".
fn only_text(context: &Context<'_>, tokens: &[Token], query: &mut Query) {
    let is_it = tokens.iter().any(|token| ["it", "that"].contains(&&*token.folded));
    if let Query::TextOf { of } = query
        && is_it
        && let Ok(Answer::Files(files)) = evaluate(of, context.fs)
        && let [file] = files.as_slice()
        && let Some(path) = file.path.to_str()
    {
        *query = Query::TextFile { path: path.to_owned() };
    }
    let is_asked = tokens.first().is_some_and(|token| token.folded == "lines")
        && tokens.last().is_some_and(|token| token.raw == "?");
    if is_asked && matches!(query, Query::TextFile { .. }) {
        *query = Query::Aggregate { of: Box::new(query.clone()), function: Function::Count };
    }
}

/// Lists what an archive holds where its text is asked for, which is none.
fn in_archive(query: &mut Query) {
    if let Query::TextFile { path } = query
        && is_archive(path)
    {
        *query = Query::ArchiveEntries { path: path.clone() };
    }
}

/// The notes on names that were taken for files elsewhere.
fn taken(found: &[(String, String, &str)]) -> Vec<String> {
    let note = |(path, found, only): &(String, String, &str)| {
        format!("“{}” is taken as {found}, {only}", file_name(path).unwrap_or_default())
    };
    found.iter().map(note).collect()
}

/// Makes a query look for files with a name and any ending, if none has the name without one; adds a note.
fn any_ending(context: &Context<'_>, query: &mut Query, notes: &mut Vec<String>) {
    let Query::Tree { roots, .. } = query.source() else { return };
    if roots.iter().any(|root| context.below(root).is_none()) {
        return;
    }
    let (mut other, mut part) = (query.clone(), query.clone());
    let with_ending = |name: &str| NameTest::Starts(format!("{name}."));
    let Some(name) = set_name(&mut other, &with_ending).filter(|_| is_empty(context, query) == Some(true)) else {
        return;
    };
    if is_empty(context, &other) == Some(false) {
        *query = other;
        notes.push(format!("no file is named “{name}” without an ending, so those with one are meant"));
        return;
    }
    // "the song called Dawn" may be "01 Dawn.mp3"; whether there is one of the very name is another question.
    set_name(&mut part, &|name| NameTest::Has(name.to_owned()));
    if matches!(query, Query::Filter { .. }) && name.len() > 2 && is_empty(context, &part) == Some(false) {
        *query = part;
        notes.push(format!("no file is named “{name}”, so those with it in their names are meant"));
    }
}

/// Replaces the condition that a file has a name without extension by another test of names that ignores letter case;
/// returns that name.
fn set_name(query: &mut Query, test: &dyn Fn(&str) -> NameTest) -> Option<String> {
    let Query::Filter { of, keep } = query else { return set_name(query.operands_mut().next()?, test) };
    let parts = if let Pred::All(parts) = keep { parts.as_mut_slice() } else { std::slice::from_mut(keep) };
    let named = parts.iter_mut().find_map(|part| match part {
        Pred::Name(NameTest::Is(name)) | Pred::NameIgnoringCase(NameTest::Is(name)) if !name.contains('.') => {
            let name = std::mem::take(name);
            *part = Pred::NameIgnoringCase(test(&name));
            Some(name)
        }
        _ => None,
    });
    named.or_else(|| set_name(of, test))
}

/// Sorts the lines of a file that are all numbers by number, unless the request names another order; adds a note.
fn by_number(context: &Context<'_>, tokens: &[Token], query: &mut Query, notes: &mut Vec<String>) {
    let Query::Sort { of, keys } = query else { return };
    let [SortKey { by: key @ Key::Text, .. }] = keys.as_mut_slice() else { return };
    let says_text = |token: &Token| token.folded.starts_with("alphabet") || ["text", "name"].contains(&&*token.folded);
    let is_number = |line: &Line| String::from_utf8_lossy(&line.text).trim().parse::<f64>().is_ok();
    let Query::TextFile { .. } = of.as_ref() else { return };
    let Ok(Answer::Lines(lines)) = evaluate(of, context.fs) else { return };
    if !lines.is_empty() && lines.iter().all(is_number) && !tokens.iter().any(says_text) {
        *key = Key::Numeric;
        notes.push("the lines are numbers, so they are sorted as numbers".to_owned());
    }
}

/// Limits the answer to "which of the folders is the biggest" and "the newest of the folders" to one; removes the note
/// on the number assumed.
fn one_best(tokens: &[Token], query: &mut Query, notes: &mut Vec<String>) {
    let said: Vec<&str> =
        tokens.iter().filter(|token| token.class == Class::Word).map(|token| token.folded.as_str()).collect();
    let asks = said.iter().position(|word| ["which", "what", "what's", "whats"].contains(word));
    let takes_most = matches!(
        asks.and_then(|asks| said.get(asks..)).unwrap_or_default(),
        ["which" | "what", .., "takes" | "uses" | "needs" | "occupies", "the", "most", _]
            | ["which" | "what", .., "takes", "up", "the", "most", _]
            | ["what", "did", "i" | "we", _, "last"]
            | ["which", "of" | "one", .., "most", "recently"]
    );
    const BEST: [&str; 7] = ["largest", "biggest", "smallest", "newest", "oldest", "latest", "youngest"];
    let is_one = takes_most
        || said.iter().enumerate().filter(|(_, word)| BEST.contains(word)).any(|(at, _)| {
            let before = said.iter().take(at).rev().copied().find(|word| *word != "the");
            let is_verb = matches!(before, Some("is" | "was")) && asks.is_some_and(|asks| asks < at);
            match said.get(at + 1).copied() {
                Some("of" | "among" | "amongst" | "one") => !matches!(before, Some("are" | "were")),
                None | Some("in" | "by" | "file") => is_verb,
                Some(_) => false,
            }
        });
    let is_assumed = |note: &String| note.starts_with("no number was named: the first");
    fn first(query: &mut Query) {
        match query {
            Query::Limit { count, .. } => *count = 1,
            other => other.operands_mut().next().into_iter().for_each(first),
        }
    }
    if is_one && notes.iter().any(is_assumed) {
        notes.retain(|note| !is_assumed(note));
        first(query);
    }
}

/// Adds the groups that are as large as the last of the largest groups asked for, as none of them comes first; adds a
/// note.
fn with_ties(context: &Context<'_>, query: &mut Query, notes: &mut Vec<String>) {
    let Query::Limit { of, skip: 0, count } = query else { return };
    if !matches!(of.as_ref(), Query::Group { .. }) {
        return;
    }
    let Ok(Answer::Groups(groups)) = evaluate(of, context.fs) else { return };
    let asked = usize::try_from(*count).unwrap_or(usize::MAX);
    let Some((_, least)) = asked.checked_sub(1).and_then(|last| groups.get(last)) else { return };
    let more = groups.iter().skip(asked).take_while(|(_, number)| number == least).count();
    if more > 0 {
        *count += more as u64;
        notes.push(format!("those with the same number as the last one are shown too: {more} more"));
    }
}

/// Adds the paths to the answer of "do I have any PDFs", if there are some and they are few.
fn with_names(context: &Context<'_>, tokens: &[Token], query: &mut Query) {
    let Query::Aggregate { of, function: Function::Any } = query else { return };
    if phrase("has any", tokens, after_lead(tokens, 0)).is_none() {
        return;
    }
    if let Ok(Answer::Files(files)) = evaluate(of, context.fs)
        && (1..=MAX_NAMED).contains(&files.len())
    {
        *query = kinds::which_ones(of);
    }
}

/// Whether the answer to a query has nothing in it; `None` if it can't be told.
pub(super) fn is_empty(context: &Context<'_>, query: &Query) -> Option<bool> {
    match evaluate(query, context.fs) {
        Ok(Answer::Lines(lines)) => Some(lines.is_empty()),
        Ok(Answer::Files(files)) => Some(files.is_empty()),
        Ok(Answer::Number(number)) => Some(number == 0),
        Ok(Answer::Truth(truth)) => Some(!truth),
        _ => None,
    }
}

/// Makes a query look for a text in any letter case, if no line has it as typed and it was not quoted; adds a note.
fn any_case(context: &Context<'_>, tokens: &[Token], query: &mut Query, notes: &mut Vec<String>) {
    if !matches!(query.source(), Query::TextFile { .. } | Query::Tree { .. }) {
        return;
    }
    let is_small = |root: &String| context.below(root).is_some();
    let is_of_folder = matches!(query.source(), Query::Tree { .. });
    if matches!(query.source(), Query::Tree { roots, .. } if !roots.iter().all(is_small)) {
        return;
    }
    let is_exact = |text: &str| {
        let is_quoted = |token: &Token| token.class == Class::Quoted && token.raw == text;
        text.chars().any(char::is_uppercase) || !text.is_ascii() || tokens.iter().any(is_quoted)
    };
    let says_case = tokens.iter().any(|token| token.folded.contains("case"));
    let mut other = query.clone();
    if says_case || !set_any_case(&mut other, &is_exact) {
        return;
    }
    // "lines with apples" are those with an apple, if none has several.
    let mut one = other.clone();
    if is_empty(context, &other) == Some(true) && set_singular(&mut one) && is_empty(context, &one) == Some(false) {
        *query = one;
        notes.retain(|note| !note.starts_with("upper and lower case differ in the text"));
        notes.push(
            "no line has the text in the plural, so it is looked for in the singular, in any letter case".to_owned(),
        );
        return;
    }
    if is_of_folder && evaluate(query, context.fs).ok() != evaluate(&other, context.fs).ok() {
        *query = other;
        notes.retain(|note| !note.starts_with("upper and lower case differ in the text"));
        notes.push("upper and lower case are not told apart in the text looked for".to_owned());
    } else if is_empty(context, query) == Some(true) && is_empty(context, &other) == Some(false) {
        *query = other;
        notes.push("no line has it in this letter case, so the case is ignored".to_owned());
    }
}

/// Makes the only text that a query looks for ignore case; `false` if it has none, or one that must be exact or is
/// negated.
fn set_any_case(query: &mut Query, is_exact: &impl Fn(&str) -> bool) -> bool {
    let Some((text, ignore_case)) = text_of(query) else { return false };
    let fits = !*ignore_case && !is_exact(text);
    *ignore_case = fits || *ignore_case;
    fits
}

/// Takes the plural "s" from the only text that a query looks for; `false` if it has no such text.
fn set_singular(query: &mut Query) -> bool {
    let Some((text, _)) = text_of(query) else { return false };
    let stem = singular(text).map(str::to_owned);
    if let Some(stem) = &stem {
        stem.clone_into(text);
    }
    stem.is_some()
}

/// The only text that a query looks for in lines or files, and whether its letter case is ignored.
fn text_of(query: &mut Query) -> Option<(&mut String, &mut bool)> {
    let Query::Filter { of, keep } = query else { return text_of(query.operands_mut().next()?) };
    // Beside other conditions, such as a kind of file.
    let parts = if let Pred::All(parts) = keep { parts.as_mut_slice() } else { std::slice::from_mut(keep) };
    let is_text = |pred: &Pred| matches!(pred, Pred::Contains { .. } | Pred::Word { .. });
    match parts.iter().filter(|part| is_text(part)).count() {
        0 => text_of(of),
        1 => parts.iter_mut().find_map(|part| match part {
            Pred::Contains { text, ignore_case } | Pred::Word { text, ignore_case } => Some((text, ignore_case)),
            _ => None,
        }),
        _ => None,
    }
}
