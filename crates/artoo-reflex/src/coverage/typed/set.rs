//! The files that a typed check is about: listed by path, or all below a folder that satisfy its conditions.

use super::fields::Fields;
use crate::algebra::{Depth, Kind, NameTest, Pred, Query};
use crate::calendar::Clock;
use crate::concept::TimeUnit;
use crate::ensure::ensure;

/// The query for the files that a check is about: `paths`, or `place` with conditions.
pub(super) fn selection(fields: &mut Fields<'_>) -> Result<Query, String> {
    let paths = fields.paths_if_given()?;
    match (paths.is_empty(), fields.path_if_given("place")?) {
        (false, None) => Ok(Query::Paths { paths, kind: Kind::Any }),
        (true, Some(place)) => set(fields, place),
        (false, Some(_)) => Err(fields.wrong("place", "stands beside `paths`; give one of the two")),
        (true, None) => {
            Err(fields.wrong("paths", "is missing; give paths, or a set: `place` and `glob`, `ext` or `name`"))
        }
    }
}

/// The query for the entries below a folder that satisfy all conditions of a check.
fn set(fields: &mut Fields<'_>, place: String) -> Result<Query, String> {
    let kind = match fields.line_if_given("entries")?.as_deref() {
        None | Some("files") => Kind::File,
        Some("folders") => Kind::Folder,
        Some("links") => Kind::Link,
        Some("any") => Kind::Any,
        Some(_) => return Err(fields.wrong("entries", "is none of files, folders, links, any")),
    };
    let mut all = Vec::new();
    let glob = fields.name("glob")?;
    ensure(!glob.as_ref().is_some_and(|glob| glob.contains(['{', '}'])), || {
        fields.wrong("glob", "has braces, which mean nothing here; give a list of `ext`")
    })?;
    let name = fields.name("name")?;
    let names_hidden = glob.iter().chain(&name).any(|name| name.starts_with('.'));
    all.extend(glob.map(|glob| Pred::Name(NameTest::Glob(glob))));
    all.extend(name.map(|name| Pred::Name(NameTest::Is(name))));
    let endings: Vec<String> = fields.list("ext")?.iter().map(|ext| ext.trim_start_matches('.').to_owned()).collect();
    ensure(!endings.iter().any(|ext| ext.is_empty() || ext.contains(['/', '*', '?'])), || {
        fields.wrong("ext", "is no extension such as \"txt\"")
    })?;
    if !endings.is_empty() {
        all.push(Pred::Any(endings.into_iter().map(Pred::Extension).collect()));
    }
    let clock = Clock::new(fields.fs.now(), fields.environment.utc_offset_s);
    for (field, bound) in [("older_days", Pred::ModifiedBefore as fn(_) -> _), ("newer_days", Pred::ModifiedFrom)] {
        if let Some(days) = fields.number(field)? {
            let moment = clock.before_now(days, TimeUnit::Day);
            all.push(bound(moment.ok_or_else(|| fields.wrong(field, "is too large"))?));
        }
    }
    all.extend(fields.number("min_bytes")?.map(Pred::MinBytes));
    all.extend(fields.number("max_bytes")?.map(Pred::MaxBytes));
    let empty = if kind == Kind::Folder { Pred::EmptyFolder } else { Pred::MaxBytes(0) };
    all.extend(fields.flag("empty")?.map(|is| if is { empty } else { Pred::Not(Box::new(empty)) }));
    all.extend(fields.line_if_given("content")?.map(|text| Pred::Contains { text, ignore_case: false }));
    let depth = if fields.flag("recursive")?.unwrap_or_default() { Depth::Whole } else { Depth::Direct };
    let hidden = fields.flag("hidden")?.unwrap_or(names_hidden);
    let of = Box::new(Query::Tree { roots: vec![place], depth, hidden, kind });
    Ok(Query::Filter { of, keep: Pred::All(all) })
}
