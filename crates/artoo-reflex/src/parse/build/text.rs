//! Builds queries about lines of text from parsed phrases.

use super::super::draft::{Ask, Draft, LinesWanted, Once, of_line};
use super::conditions::as_worded;
use super::files::{inside, measured, ranked_groups, selection};
use super::order::keys;
use super::tree::holds_home;
use super::{BuildContext, BuildError, table};
use crate::algebra::{
    Depth, Fact, Field, Function, GroupKey, Key, Kind, NameChange, Order, Part, Pred, Query, Relation, Rewrite,
    Separator, SortKey, Ty,
};
use crate::concept::{Hidden, Reference, Verb};
use crate::eval::{Answer, evaluate};
use crate::place::{PathKind, Place, is_archive};

/// Whether a function such as "count" or "average" computes its number from lines.
pub(super) fn is_of_lines(function: Function) -> bool {
    use Function::{Average, Characters, Maximum, Minimum, Sum, Words};
    matches!(function, Words | Characters | Sum | Average | Minimum | Maximum)
}

/// Builds the query that a parsed phrase about lines of text asks for.
pub(super) fn build(cx: &mut BuildContext<'_>, draft: &mut Draft) -> Result<Query, BuildError> {
    let mut keep = conditions(draft);
    let rows = draft.lines.take_if(|lines| *lines == LinesWanted::Rows).is_some();
    if rows {
        draft.lines = Some(LinesWanted::All);
    }
    // "words in a.txt?" may ask how many there are.
    if draft.lines == Some(LinesWanted::Words) && super::super::draft::only!(draft, lines, object, scope, reference) {
        return Err(BuildError::Incomplete("count or show"));
    }
    by_number(draft);
    draft.each = draft.each.or(of_every_file(cx, draft).filter(|()| keep.is_empty()));
    if draft.each.is_some() {
        return each(cx, draft, &keep);
    }
    // "files in ~/a but not in ~/b" is not about lines.
    if draft.relation.is_some() && draft.has_noun() && draft.lines.is_none() {
        return Err(BuildError::Leftover);
    }
    let speaks_of_many = draft.has_noun() || draft.reference.is_some();
    let names_second = draft.relation.is_some() && draft.object.len() == if speaks_of_many { 1 } else { 2 };
    let second = if names_second { draft.object.pop() } else { None };
    // "the lines with their counts", "the words sorted by frequency": each line appears once anyway.
    if draft.sort.iter().any(|(key, _)| *key == Key::Value) && draft.group.is_none() && draft.ask.is_none() {
        (draft.group, draft.ask) = (Some(GroupKey::Text), Some(Ask::Count));
    }
    if draft.group == Some(GroupKey::Text) && draft.ask == Some(Ask::Count) {
        draft.once.take_if(|once| *once == Once::Unique);
        draft.lines.get_or_insert(LinesWanted::All);
    }
    // "a.txt and b.txt in ~/x": both files are in the folder.
    let folder = if let [folder] = draft.scope.as_slice() { Some(folder.path.clone()) } else { None };
    let mut source = source(cx, draft, !keep.is_empty())?;
    if rows && draft.ask == Some(Ask::Count) {
        source = table::rows(cx, source, &mut keep)?;
    }
    let verb = draft.verb.take();
    let mut text = Query::Filter { of: Box::new(source), keep: Pred::All(keep) };
    text = compared(draft, text, second, folder.as_deref())?;
    if matches!(&text, Query::Compare { relation: Relation::Identical | Relation::Told | Relation::Difference, .. }) {
        return Ok(text);
    }
    text = fields(cx, draft, text)?;
    if let Some((find, with)) = draft.replace.take() {
        text = Query::Replace { of: Box::new(text), find, with };
    }
    let text_order = draft.rewrite.take_if(|how| *how == Rewrite::Reversed && verb == Some(Verb::Sort));
    if text_order.is_some() || (draft.rewrite == Some(Rewrite::Reversed) && !draft.sort.is_empty()) {
        draft.rewrite = None;
        // "sorted in reverse order".
        if draft.order.replace(Order::Descending).is_some() {
            return Err(BuildError::Leftover);
        }
    }
    // Duplicates are removed or counted after the text is transformed.
    let is_part = matches!(draft.lines, Some(LinesWanted::Part(_)));
    if !is_part {
        text = rewritten(cx, draft, text)?;
    }
    text = match draft.once.take() {
        Some(Once::Unique) => Query::Unique { of: Box::new(text) },
        Some(Once::Repeated) => Query::Repeated { of: Box::new(text) },
        None => text,
    };
    if let Some(groups) = frequencies(draft, &text)? {
        return Ok(groups);
    }
    text = ordered(cx, draft, verb, text)?;
    text = part(cx, draft, text)?;
    if is_part {
        text = rewritten(cx, draft, text)?;
    }
    if draft.numbered.take().is_some() {
        text = Query::Numbered { of: Box::new(text) };
    }
    let asked = number(draft, verb, text)?;
    legible(cx, asked)
}

/// Makes a phrase about numbers in a text one about its lines, where their values decide: "the numbers, sorted
/// numerically", "from highest to lowest".
fn by_number(draft: &mut Draft) {
    if draft.lines == Some(LinesWanted::Numbers) && draft.sort.is_empty() && draft.order.is_some() {
        draft.sort = vec![(Key::Numeric, None)];
    }
    let by_value = draft.column.is_some() || draft.sort.iter().any(|(key, _)| *key == Key::Numeric);
    if draft.lines == Some(LinesWanted::Numbers) && draft.ask.is_none() && by_value {
        draft.lines = Some(LinesWanted::All);
    }
}

/// `Some` if a number is asked for every file, as in "line counts of every python file".
fn of_every_file(cx: &BuildContext<'_>, draft: &Draft) -> Option<()> {
    let is_one_kind = draft.plural == Some(false) && draft.has_noun() && draft.object.is_empty();
    (cx.context.says_every && is_one_kind && draft.ask == Some(Ask::Count)).then_some(())
}

/// Returns the query, or an error if it would show a binary file as text.
fn legible(cx: &BuildContext<'_>, asked: Query) -> Result<Query, BuildError> {
    let is_of_text = |path: &str| asked.ty() == Ok(Ty::Lines) || is_archive(path);
    match asked.source() {
        Query::TextFile { path } if is_of_text(path) && table::is_binary(cx, path) => {
            Err(BuildError::Question { question: "its text", of: "a file that holds something else than text" })
        }
        _ => Ok(asked),
    }
}

/// The query that compares a text with a second file; the text itself if the phrase names no second file.
fn compared(draft: &mut Draft, text: Query, second: Option<Place>, folder: Option<&str>) -> Result<Query, BuildError> {
    let Some(relation) = draft.relation.take() else { return Ok(text) };
    let second = second.ok_or(BuildError::Incomplete("which two files"))?;
    let with = Box::new(Query::TextFile { path: inside(folder.filter(|_| second.bare), &second) });
    if matches!(relation, Relation::Identical | Relation::Told | Relation::Difference) {
        // Blank lines would be left out of one file only.
        if !matches!(&text, Query::Filter { keep: Pred::All(keep), .. } if keep.is_empty()) {
            return Err(BuildError::Leftover);
        }
        draft.lines.take_if(|lines| *lines == LinesWanted::All);
    }
    Ok(Query::Compare { of: Box::new(text), with, relation })
}

/// The query with the transformations that a phrase asks for: "occurrences of 'x'", "in upper case", "wrapped at 40
/// characters".
fn rewritten(cx: &mut BuildContext<'_>, draft: &mut Draft, text: Query) -> Result<Query, BuildError> {
    let mut text = text;
    if let Some((wanted, whole_word)) = draft.matches.take() {
        let ignore_case = draft.ignore_case.take().unwrap_or(false);
        let whole_word = whole_word || draft.whole_word.take().is_some();
        if !whole_word {
            cx.notes.push(format!("“{wanted}” counts within longer words too"));
        }
        text = Query::Matches { of: Box::new(text), text: wanted, ignore_case, whole_word };
    }
    let cased = match draft.change.take() {
        Some(NameChange::UpperCase) => Some(Rewrite::UpperCase),
        Some(NameChange::LowerCase) => Some(Rewrite::LowerCase),
        // "duplicate file names, ignoring case".
        None => draft.ignore_case.take_if(|ignore| *ignore && is_names(&text)).map(|_| Rewrite::LowerCase),
        change => {
            draft.change = change;
            None
        }
    };
    for how in [cased, draft.rewrite.take()].into_iter().flatten() {
        // Columns of a table may be separated by something other than white space.
        if how == Rewrite::LastField && table::separator(cx, text.source())?.0 != Separator::Whitespace {
            return Err(BuildError::Incomplete("the column's number"));
        }
        text = Query::Rewritten { of: Box::new(text), how };
    }
    Ok(text)
}

/// Whether the lines of a query are file names rather than content.
fn is_names(text: &Query) -> bool {
    match text {
        Query::Names { .. } => true,
        Query::Filter { of, .. } => is_names(of),
        _ => false,
    }
}

/// The query for a number per element: "how many lines does each file have", "how often does each word occur".
fn each(cx: &mut BuildContext<'_>, draft: &mut Draft, keep: &[Pred]) -> Result<Query, BuildError> {
    let frequency = draft.ask == Some(Ask::Count) && !draft.has_noun() && draft.object.len() == 1;
    if frequency && keep.is_empty() {
        draft.each = None;
        draft.group = Some(GroupKey::Text);
        return build(cx, draft);
    }
    let field = match (draft.ask.take(), draft.lines.take()) {
        (Some(Ask::Count), Some(LinesWanted::All)) if keep.is_empty() => Field::Lines,
        (Some(Ask::Count), Some(LinesWanted::Words)) if keep.is_empty() => Field::Words,
        _ => return Err(BuildError::Leftover),
    };
    draft.each = None;
    draft.verb = None;
    let of = selection(cx, draft)?;
    Ok(Query::Field { of: Box::new(of), field })
}

/// Removes the conditions on lines from a parsed phrase and returns them as predicates.
fn conditions(draft: &mut Draft) -> Vec<Pred> {
    let mut keep = Vec::new();
    // In a request for names, all conditions apply to the files.
    if draft.names.is_some() {
        return keep;
    }
    for pred in std::mem::take(&mut draft.preds) {
        // A line is "empty" if it has only white space.
        let as_line = pred.clone().map(&|property| match property {
            Pred::MaxBytes(0) | Pred::MinBytes(1) => of_line(property),
            other => other,
        });
        let of_lines = Query::Filter { of: Box::new(Query::TextFile { path: String::new() }), keep: as_line.clone() };
        if of_lines.ty().is_ok() {
            keep.push(as_line);
        } else {
            draft.preds.push(pred);
        }
    }
    if draft.preds.is_empty() {
        draft.loose = false;
    }
    keep.extend(draft.needle.take());
    as_worded(draft, keep)
}

/// The query for the lines a phrase is about: those of an earlier result, one file, an archive, or several files.
fn source(cx: &mut BuildContext<'_>, draft: &mut Draft, has_match: bool) -> Result<Query, BuildError> {
    let wants_entries = draft.lines == Some(LinesWanted::Entries);
    if let Some(reference) = draft.reference {
        let antecedent = cx.antecedent.ok_or(BuildError::NothingBefore)?;
        let before = antecedent.selection(reference).ok_or(BuildError::NothingBefore)?;
        // "its first line" after a question for the largest file, of which there is one.
        let found = antecedent.found.clone().filter(|_| reference == Reference::It && draft.lines.is_some());
        let found = found.map(|path| Query::TextFile { path });
        if let Some(of) = found.or_else(|| Some(before).filter(|of| of.ty() == Ok(Ty::Lines) && !draft.has_noun())) {
            (draft.reference, draft.plural) = (None, None);
            draft.lines.take_if(|lines| *lines == LinesWanted::All);
            return Ok(of);
        }
    }
    if let Some(part) = draft.names.take() {
        if !draft.has_noun() && draft.reference.is_none() {
            draft.noun = Some(Kind::File);
        }
        return super::files::named(cx, draft, part);
    }
    let places = || draft.scope.iter().chain(&draft.object);
    let in_folders = places().next().is_some() && places().all(|place| place.kind == PathKind::Folder);
    // "grep main in src", "how many lines of code are in src": the lines of all files there.
    let is_of_all = has_match || (draft.ask == Some(Ask::Count) && draft.lines.is_some());
    if in_folders && is_of_all && !wants_entries && !draft.has_noun() {
        (draft.noun, draft.plural) = (Some(Kind::File), Some(true));
        draft.scope.append(&mut draft.object);
        draft.hidden.get_or_insert_with(|| {
            cx.notes.push("hidden files left out".to_owned());
            Hidden::Exclude
        });
        cx.notes.push("of all files in the folder".to_owned());
    }
    // "the file /etc/hosts" means that file, not files in it; "each text file" is no group of equal texts.
    let names_one = draft.types.is_empty() && !draft.object.is_empty();
    let is_one_file = draft.noun == Some(Kind::File) && draft.plural == Some(false);
    if is_one_file && (names_one || draft.group == Some(GroupKey::Text)) {
        return Err(BuildError::Leftover);
    }
    let is_many = draft.has_noun() || draft.reference.is_some() || draft.object.len() > 1;
    let orders_files = draft.lines.is_none() && !has_match && draft.verb != Some(Verb::Read);
    if is_many && orders_files && (draft.numbered.is_some() || draft.rewrite == Some(Rewrite::Reversed)) {
        return Err(BuildError::Question { question: "such an order or numbers", of: "files" });
    }
    if is_many && !wants_entries {
        let superlative = draft.superlative.take_if(|(key, _)| matches!(key, Key::Length | Key::Value));
        let plural = draft.plural.filter(|_| draft.superlative.is_none());
        let sort = std::mem::take(&mut draft.sort);
        let of_lines = superlative.is_some() || draft.group == Some(GroupKey::Text);
        // "the newest" alone is no number of files whose text is shown.
        if draft.superlative.is_some() && plural.or(draft.plural).is_none() && draft.limit.or(draft.nth).is_none() {
            return Err(BuildError::Incomplete("how many"));
        }
        settle_places(cx, draft, has_match);
        let (limit, group, order) = (draft.limit.take_if(|_| of_lines), draft.group.take(), draft.order.take());
        let of = measured(cx, draft)?;
        draft.order = order;
        (draft.plural, draft.sort, draft.group) = (plural.filter(|_| superlative.is_some()), sort, group);
        (draft.superlative, draft.limit) = (superlative, limit.or(draft.limit));
        draft.lines.take_if(|lines| *lines == LinesWanted::All);
        return Ok(match of {
            Query::Paths { paths, .. } if paths.len() == 1 => {
                Query::TextFile { path: paths.into_iter().next().unwrap_or_default() }
            }
            of => Query::TextOf { of: Box::new(of) },
        });
    }
    let path = path(draft, has_match)?;
    if wants_entries && !is_archive(&path) {
        return Err(BuildError::Question { question: "what is packed in it", of: "a file that is no archive" });
    }
    draft.lines.take_if(|lines| wants_entries || *lines == LinesWanted::All);
    Ok(if wants_entries { Query::ArchiveEntries { path } } else { Query::TextFile { path } })
}

/// Leaves out hidden files of which the lines are asked, if the home folder is among the places: programs in the sandbox
/// can't read some of them. A search in no named folder looks into subfolders.
fn settle_places(cx: &mut BuildContext<'_>, draft: &mut Draft, has_match: bool) {
    let is_everywhere = draft.scope.is_empty() && draft.object.is_empty() && draft.reference.is_none();
    if has_match && is_everywhere && draft.depth.is_none() {
        cx.notes.push("subfolders included".to_owned());
        draft.depth = Some(Depth::Whole);
    }
    let places: Vec<_> = draft.scope.iter().chain(&draft.object).cloned().collect();
    if draft.hidden.is_none() && draft.reference.is_none() && holds_home(cx, &places) {
        cx.notes.push("hidden files left out".to_owned());
        draft.hidden = Some(Hidden::Exclude);
    }
}

/// The path of the file whose lines are meant; an error if the phrase names none or several.
fn path(draft: &mut Draft, has_match: bool) -> Result<String, BuildError> {
    let says_lines = draft.lines.is_some() || draft.column.is_some() || draft.relation.is_some();
    let path = match (draft.object.as_slice(), draft.scope.as_slice()) {
        ([file], [folder]) if file.bare && folder.kind != PathKind::File => inside(Some(&folder.path), file),
        ([place], []) if place.kind == PathKind::Folder => {
            return Err(BuildError::Question { question: "lines of text", of: "a folder" });
        }
        // Without a word for lines, "read x" or "the contents of x" may mean a folder.
        ([place], []) if place.kind == PathKind::Unknown && !says_lines && !has_match => {
            return Err(BuildError::FolderOrFile { path: place.path.clone() });
        }
        ([place], []) => place.path.clone(),
        ([], [place]) if place.kind != PathKind::Folder && says_lines => place.path.clone(),
        ([], _) => return Err(BuildError::NoFile),
        _ => return Err(BuildError::Leftover),
    };
    draft.object.clear();
    draft.scope.clear();
    Ok(path)
}

/// The query for the column, words or other units of a text that a phrase asks for.
fn fields(cx: &mut BuildContext<'_>, draft: &mut Draft, text: Query) -> Result<Query, BuildError> {
    let mut text = text;
    if let Some(number) = draft.column.take() {
        let separator = match draft.separator.take() {
            Some(separator) => separator,
            None => {
                let (separator, said) = table::separator(cx, text.source())?;
                cx.notes.push(format!("columns are separated by {said}"));
                separator
            }
        };
        table::has_column(cx, text.source(), number, &separator)?;
        text = Query::Column { of: Box::new(text), number, separator };
    }
    let counts_words = draft.ask == Some(Ask::Count) && draft.once.is_none() && draft.group.is_none();
    if draft.lines == Some(LinesWanted::Words) && !counts_words {
        draft.lines = None;
        text = Query::Words { of: Box::new(text) };
    }
    Ok(text)
}

/// The query for "how often each word occurs"; `None` if the phrase doesn't ask for that.
fn frequencies(draft: &mut Draft, text: &Query) -> Result<Option<Query>, BuildError> {
    let ranked = draft.superlative.take_if(|(key, _)| *key == Key::Value).is_some();
    if !ranked && draft.group != Some(GroupKey::Text) {
        return Ok(None);
    }
    draft.group = None;
    match draft.ask.take() {
        Some(Ask::Count | Ask::CountThem) => {}
        None if ranked && draft.plural.is_none() && draft.limit.is_none() => {
            return Err(BuildError::Incomplete("how many"));
        }
        None if ranked => {}
        _ => return Err(BuildError::Leftover),
    }
    draft.verb = None;
    draft.lines = None;
    let plural = draft.plural.take();
    let groups = Query::Group { of: Box::new(text.clone()), by: GroupKey::Text, function: Function::Count };
    Ok(Some(ranked_groups(draft, groups, ranked, plural)))
}

/// The query with the lines of a text sorted as the phrase asks.
fn ordered(cx: &mut BuildContext<'_>, draft: &mut Draft, verb: Option<Verb>, text: Query) -> Result<Query, BuildError> {
    let is_table =
        matches!(text.source(), Query::TextFile { path } if path.ends_with(".csv") || path.ends_with(".tsv"));
    for (key, _) in &mut draft.sort {
        // "sort a.csv by name" may mean a column.
        if *key == Key::Path || (*key == Key::Name && !is_table) {
            *key = Key::Text;
        }
    }
    let reversed = if draft.sort.is_empty() { draft.order.take() } else { None };
    let mut keys = keys(cx, draft)?;
    if verb == Some(Verb::Sort) && keys.is_empty() {
        let order = reversed.unwrap_or(Order::Ascending);
        keys.push(SortKey { by: Key::Text, order });
    }
    if let Some((_, order)) = draft.superlative.take_if(|(key, _)| *key == Key::Length) {
        let plural = draft.plural.take();
        let count = draft.limit.take().unwrap_or(if plural == Some(true) { LINES_WITHOUT_A_NUMBER } else { 1 });
        let sorted = Query::Sort { of: Box::new(text), keys: vec![SortKey { by: Key::Length, order }] };
        return Ok(Query::Part { of: Box::new(sorted), part: Part::First(count) });
    }
    if reversed.is_some() && verb != Some(Verb::Sort) {
        draft.order = reversed;
    }
    Ok(if keys.is_empty() { text } else { Query::Sort { of: Box::new(text), keys } })
}

/// Number of lines that "the longest lines" means without a number.
const LINES_WITHOUT_A_NUMBER: u64 = 10;

/// Whether the lines of a query come from several files.
fn is_of_many(text: &Query) -> bool {
    matches!(text, Query::TextOf { .. }) || text.operand().is_some_and(is_of_many)
}

/// The query limited to the range of lines that a phrase asks for, such as "lines 5 to 10".
fn part(cx: &BuildContext<'_>, draft: &mut Draft, text: Query) -> Result<Query, BuildError> {
    // "does a.txt have more than 30 lines": whether there is a line 31.
    if let Some(LinesWanted::AtLeast(least)) = draft.lines
        && draft.ask == Some(Ask::Number(Function::Any))
        && matches!(text.clone().normalise(), Query::TextFile { .. })
    {
        draft.lines = None;
        return Ok(Query::Part { of: Box::new(text), part: Part::From(least) });
    }
    let Some(LinesWanted::Part(part)) = draft.lines else { return Ok(text) };
    draft.lines = None;
    // "the first lines of every log": it is unclear whether those of each file or of all files are meant.
    if is_of_many(&text) {
        return Err(BuildError::Question { question: "a stretch of lines", of: "several files" });
    }
    let numbered = matches!(part, Part::Range { .. } | Part::From(_));
    if let Part::Range { from, .. } | Part::From(from) = part
        && let Query::TextFile { path } = text.source()
        && let Ok(Answer::Lines(lines)) = evaluate(text.source(), cx.context.fs)
        && u64::try_from(lines.len()).is_ok_and(|count| count < from)
    {
        return Err(BuildError::Fewer { name: path.clone(), count: lines.len(), what: "lines" });
    }
    // "lines 3 to 5 that contain x": it is unclear whether the range is taken before or after filtering.
    // "the first 3 lines, sorted": it is unclear whether sorting comes before or after.
    let sorted = |keys: &[SortKey]| keys.iter().any(|key| matches!(key.by, Key::Text | Key::Numeric));
    if matches!(&text, Query::Sort { keys, .. } if sorted(keys)) {
        return Err(BuildError::Question { question: "an order", of: "a stretch of lines (say “then”)" });
    }
    let is_whole = matches!(text.clone().normalise(), Query::TextFile { .. });
    if numbered && !is_whole {
        return Err(BuildError::Question { question: "text to match", of: "a numbered stretch of lines" });
    }
    Ok(Query::Part { of: Box::new(text), part })
}

/// The query that shows the lines, or computes from them the number that a phrase asks for.
fn number(draft: &mut Draft, verb: Option<Verb>, text: Query) -> Result<Query, BuildError> {
    // "how many duplicate lines": each of them, or each once.
    if draft.ask == Some(Ask::Count) && matches!(text, Query::Repeated { .. }) {
        return Err(BuildError::Question { question: "a count", of: "repeated lines" });
    }
    let is_part = matches!(text, Query::Part { .. });
    let sized = draft.lines.take();
    let function = match (draft.ask.take(), sized) {
        (None, None) => return Ok(text),
        (Some(Ask::Count), Some(LinesWanted::Words)) => Function::Words,
        (Some(Ask::Count), Some(LinesWanted::Characters)) => Function::Characters,
        (Some(Ask::Number(Function::Any)), None) => Function::Any,
        (Some(Ask::Number(function)), None | Some(LinesWanted::Numbers)) if is_of_lines(function) => function,
        (Some(Ask::Count), None) if !is_part => Function::Count,
        (Some(Ask::CountThem), None) if verb == Some(Verb::Find) && !is_part => Function::Count,
        (Some(Ask::Count), None) => {
            return Err(BuildError::Question { question: "a count", of: "a numbered stretch of lines" });
        }
        _ => return Err(BuildError::Leftover),
    };
    Ok(Query::Aggregate { of: Box::new(text), function })
}

/// The query for the lines of a fact of the machine, filtered and counted like the lines of a file.
pub(super) fn of_fact(cx: &mut BuildContext<'_>, draft: &mut Draft, fact: Fact) -> Result<Query, BuildError> {
    let keep = conditions(draft);
    let source = Query::System { fact };
    let text = Query::Filter { of: Box::new(source), keep: Pred::All(keep) };
    let verb = draft.verb.take();
    draft.plural = None;
    let text = ordered(cx, draft, verb, text)?;
    number(draft, verb, text)
}
