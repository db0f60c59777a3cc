//! Turns selections of files into commands that print NUL-terminated paths.

use super::find::{Content, Found, find};
use super::pipeline::{Argv, Pipeline};
use super::{Programs, Unsupported};
use crate::algebra::{Key, Layers, Order, Query, SortKey};
use crate::ensure::ensure;

/// Splits a query over files into limit, sort order, conditions and source; an error for any other query.
pub(super) fn layers_of_files(query: &Query) -> Result<Layers<'_>, Unsupported> {
    let layers = query.layers();
    match layers.source {
        Query::Tree { .. } | Query::Paths { .. } => Ok(layers),
        _ => Err(Unsupported::Arrangement("this combination")),
    }
}

/// Adds the programs that sort and limit a list. The first elements are taken as the last of the reversed order,
/// as `tail` reads its whole input, so no program is killed by a closed pipe.
pub(super) fn sorted_and_limited(
    all: Pipeline,
    limit: Option<(u64, u64)>,
    tail: &'static str,
    sort: impl Fn(bool) -> Result<Argv, Unsupported>,
) -> Result<Pipeline, Unsupported> {
    let Some((skip, count)) = limit else { return Ok(all.pipe(sort(false)?)) };
    ensure(count != 0, || Unsupported::Arrangement("none of them"))?;
    let last = Argv::new(tail).value(skip.saturating_add(count).to_string());
    let first = all.pipe(sort(true)?).pipe(last).pipe(sort(false)?);
    Ok(if skip == 0 { first } else { first.pipe(Argv::new(tail).value(format!("+{}", skip + 1))) })
}

/// Adds a sort key for one field of the lines to a call of `sort`.
pub(super) fn by_field(sort: Argv, field: &str, order: Order, reversed: bool) -> Argv {
    let r = if (order == Order::Descending) != reversed { "r" } else { "" };
    sort.and("-k").value(format!("{field}{r}"))
}

/// Adds the sort keys of a query to a call of `sort`; `field` returns the field of the lines that holds a key.
pub(super) fn by_keys(
    sort: Argv,
    keys: &[SortKey],
    reversed: bool,
    field: impl Fn(Key) -> Result<&'static str, Unsupported>,
) -> Result<Argv, Unsupported> {
    keys.iter().try_fold(sort, |sort, key| Ok(by_field(sort, field(key.by)?, key.order, reversed)))
}

/// The command that prints the paths that `find` found and `grep` accepts, in any order.
pub(super) fn unordered(found: Found<'_>) -> Pipeline {
    let start = Pipeline::of(found.argv.and("-print0"));
    found.contents.iter().fold(start, |pipeline, content| pipeline.pipe(grep(content)))
}

/// The program call that selects the files whose content satisfies a condition.
fn grep(content: &Content<'_>) -> Argv {
    let argv = Argv::bytewise("xargs -0 -r grep --null -a -F");
    let argv = argv.and(if content.is_wanted { "-l" } else { "-L" });
    let argv = argv.and_if(content.ignore_case, "-i").and_if(content.whole_word, "-w");
    content.texts.iter().fold(argv, |argv, text| argv.and("-e").value(*text)).and("--")
}

/// The command that prints the paths of a query, sorted and limited as the query says.
pub(super) fn paths(query: &Query, programs: Programs) -> Result<Pipeline, Unsupported> {
    let Layers { limit, keys, keep, source, .. } = layers_of_files(query)?;
    let found = find(source, keep, programs)?;
    let order = RecordOrder::of(keys)?;
    let keyed = order.keyed(found, programs)?;
    if limit.is_some() {
        programs.gnu_only("the first of an order")?;
    }
    let ordered = sorted_and_limited(keyed, limit, "tail -z -n", |reversed| Ok(order.sort(reversed)))?;
    Ok(match order.keys.len() {
        0 => ordered,
        // Each key is before the path and followed by a slash; `cut` removes the keys.
        keys => ordered.pipe(Argv::bytewise("cut -z -d / -f").value(format!("{}-", keys + 1))),
    })
}

/// A sort order of files, for lines `key/key/path`; a key contains no slash, and a path starts with one.
struct RecordOrder {
    keys: Vec<(Key, Order)>,
    path: Order,
}

impl RecordOrder {
    /// The record order for these sort keys; an error for a key that can't be written into a line.
    fn of(keys: &[SortKey]) -> Result<Self, Unsupported> {
        let mut order = Self { keys: Vec::new(), path: Order::Ascending };
        for key in keys {
            match key.by {
                Key::Size | Key::Modified | Key::Name => order.keys.push((key.by, key.order)),
                // No two paths are equal, so keys after the path have no effect.
                Key::Path => {
                    order.path = key.order;
                    break;
                }
                _ => return Err(Unsupported::Arrangement("this order of files")),
            }
        }
        Ok(order)
    }

    /// The command that prints a line `key/path` for each found file, in any order.
    fn keyed(&self, found: Found<'_>, programs: Programs) -> Result<Pipeline, Unsupported> {
        if self.keys.is_empty() {
            return Ok(unordered(found));
        }
        programs.gnu_only("this order of files")?;
        let by_find = found.contents.is_empty();
        let mut format = String::new();
        for (key, _) in &self.keys {
            format.push_str(match (key, by_find) {
                (Key::Size, _) => "%s/",
                (Key::Modified, true) => "%T@/",
                (Key::Modified, false) => "%.9Y/",
                (Key::Name, true) => "%f/",
                _ => return Err(Unsupported::Arrangement("an order by name of files with a text in them")),
            });
        }
        if by_find {
            return Ok(Pipeline::of(found.argv.and("-printf").value(format!("{format}%p\\0"))));
        }
        let stat = Argv::bytewise("xargs -0 -r stat --printf").value(format!("{format}%n\\0")).and("--");
        Ok(unordered(found).pipe(stat))
    }

    /// The call of `sort` that sorts lines `key/path`.
    fn sort(&self, reversed: bool) -> Argv {
        if self.keys.is_empty() {
            let down = (self.path == Order::Descending) != reversed;
            return Argv::bytewise(if down { "sort -z -r" } else { "sort -z" });
        }
        let mut argv = Argv::bytewise("sort -z -t /");
        for (index, (key, order)) in (1..).zip(&self.keys) {
            let n = if *key == Key::Name { "" } else { "n" };
            argv = by_field(argv, &format!("{index},{index}{n}"), *order, reversed);
        }
        by_field(argv, &(self.keys.len() + 1).to_string(), self.path, reversed)
    }
}
