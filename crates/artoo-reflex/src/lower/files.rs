//! Files as command lines: found, tested by content, ordered, cut to a stretch, shown; paths end in a NUL throughout.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not named is refused, whatever else there comes to be")]

use super::find::{Content, Found, find};
use super::pipeline::{Argv, Pipeline};
use super::{Programs, Unsupported, lines};
use crate::algebra::{Field, Function, GroupKey, Key, Order, Pred, Query, SortKey};

/// The layers of a selection, from the outside in.
pub(super) struct Selection<'a> {
    pub(super) stretch: Option<(u64, u64)>,
    pub(super) keys: &'a [SortKey],
    pub(super) keep: &'a [Pred],
    pub(super) source: &'a Query,
}

pub(super) fn selection(query: &Query) -> Result<Selection<'_>, Unsupported> {
    let (stretch, unlimited) = match query {
        Query::Limit { of, skip, count } => (Some((*skip, *count)), of.as_ref()),
        other => (None, other),
    };
    let (keys, unsorted) = match unlimited {
        Query::Sort { of, keys } => (keys.as_slice(), of.as_ref()),
        other => (&[][..], other),
    };
    let (keep, source) = match unsorted {
        Query::Filter { of, keep: Pred::All(parts) } => (parts.as_slice(), of.as_ref()),
        Query::Filter { of, keep } => (std::slice::from_ref(keep), of.as_ref()),
        other => (&[][..], other),
    };
    match source {
        Query::Tree { .. } | Query::Paths { .. } => Ok(Selection { stretch, keys, keep, source }),
        _ => Err(Unsupported::Arrangement { what: "this combination" }),
    }
}

/// Paths, NUL after each, in no order.
fn unordered(found: Found<'_>) -> Pipeline {
    let start = Pipeline::of(found.argv.and("-print0"));
    found.contents.iter().fold(start, |pipeline, content| pipeline.pipe(grep(content)))
}

/// Hands on the files whose content holds a text, or does not.
fn grep(content: &Content<'_>) -> Argv {
    let argv = Argv::bytewise("xargs -0 -r grep --null -a -F");
    let argv = argv.and(if content.is_wanted { "-l" } else { "-L" });
    let argv = if content.ignore_case { argv.and("-i") } else { argv };
    let argv = if content.whole_word { argv.and("-w") } else { argv };
    argv.and("-e").value(content.text).and("--")
}

/// Paths, NUL after each, in the order and stretch of the query.
pub(super) fn paths(query: &Query, programs: Programs) -> Result<Pipeline, Unsupported> {
    let Selection { stretch, keys, keep, source } = selection(query)?;
    let found = find(source, keep, programs)?;
    let order = RecordOrder::of(keys)?;
    let keyed = order.keyed(found, programs)?;
    let ordered = match stretch {
        None => keyed.pipe(order.sort(false)),
        Some((_, 0)) => return Err(Unsupported::Arrangement { what: "none of them" }),
        Some((skip, count)) => {
            programs.gnu_only("the first of an order")?;
            // The best are taken as the last of the order reversed: `tail` reads to the end, so nobody's pipe breaks.
            let last = Argv::new("tail -z -n").value(skip.saturating_add(count).to_string());
            let best = keyed.pipe(order.sort(true)).pipe(last).pipe(order.sort(false));
            if skip == 0 { best } else { best.pipe(Argv::new("tail -z -n").value(format!("+{}", skip + 1))) }
        }
    };
    Ok(match order.keys.len() {
        0 => ordered,
        // The keys stand before the path, a slash after each.
        keys => ordered.pipe(Argv::bytewise("cut -z -d / -f").value(format!("{}-", keys + 1))),
    })
}

/// An order of records `key/key/path`: none of the keys holds a slash, and the path starts with one.
struct RecordOrder {
    keys: Vec<(Key, Order)>,
    path: Order,
}

impl RecordOrder {
    fn of(keys: &[SortKey]) -> Result<Self, Unsupported> {
        let mut order = Self { keys: Vec::new(), path: Order::Ascending };
        for key in keys {
            match key.by {
                Key::Size | Key::Modified | Key::Name => order.keys.push((key.by, key.order)),
                // No two paths are equal, so no key after it decides.
                Key::Path => {
                    order.path = key.order;
                    break;
                }
                _ => return Err(Unsupported::Arrangement { what: "this order of files" }),
            }
        }
        Ok(order)
    }

    /// The records, in no order.
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
                _ => return Err(Unsupported::Arrangement { what: "an order by name of files with a text in them" }),
            });
        }
        if by_find {
            return Ok(Pipeline::of(found.argv.and("-printf").value(format!("{format}%p\\0"))));
        }
        let stat = Argv::bytewise("xargs -0 -r stat --printf").value(format!("{format}%n\\0")).and("--");
        Ok(unordered(found).pipe(stat))
    }

    fn sort(&self, reversed: bool) -> Argv {
        let is_down = |order: Order| (order == Order::Descending) != reversed;
        let r = |order: Order| if is_down(order) { "r" } else { "" };
        if self.keys.is_empty() {
            return Argv::bytewise(if is_down(self.path) { "sort -z -r" } else { "sort -z" });
        }
        let mut argv = Argv::bytewise("sort -z -t /");
        for (index, (key, order)) in (1..).zip(&self.keys) {
            let n = if *key == Key::Name { "" } else { "n" };
            argv = argv.and("-k").value(format!("{index},{index}{n}{}", r(*order)));
        }
        argv.and("-k").value(format!("{}{}", self.keys.len() + 1, r(self.path)))
    }
}

/// Files, or a property of each, as they are shown.
pub(super) fn shown(query: &Query, programs: Programs) -> Result<Pipeline, Unsupported> {
    match query {
        Query::Details { of } => stat("%s\\t%y\\t%n\\n", of, programs),
        Query::Field { of, field } => self::field(of, *field, programs),
        Query::Duplicates { of } => {
            programs.gnu_only("files with the same content")?;
            let digests = paths(of, programs)?.pipe(Argv::new("xargs -0 -r sha256sum --"));
            Ok(digests.pipe(Argv::bytewise("sort")).pipe(Argv::bytewise("uniq -w 64 -D")))
        }
        files => Ok(paths(files, programs)?.pipe(lines_from_nul())),
    }
}

fn lines_from_nul() -> Argv {
    Argv::new("tr \\0 \\n")
}

/// What `stat` tells of each file. Times are told in UTC.
fn stat(format: &str, of: &Query, programs: Programs) -> Result<Pipeline, Unsupported> {
    programs.gnu_only("facts of files in this form")?;
    let stat = Argv::new("env LC_ALL=C TZ=UTC0 xargs -0 -r stat --printf").value(format).and("--");
    Ok(paths(of, programs)?.pipe(stat))
}

fn field(of: &Query, field: Field, programs: Programs) -> Result<Pipeline, Unsupported> {
    if field == Field::TotalSize {
        return super::folders::sizes(of, programs);
    }
    let program = match (field, programs) {
        (Field::Permissions, _) => return stat("%a\\t%n\\n", of, programs),
        (Field::Owner, _) => return stat("%U\\t%n\\n", of, programs),
        (Field::Modified, _) => return stat("%y\\t%n\\n", of, programs),
        (Field::Sha256, Programs::Gnu) => "xargs -0 -r sha256sum --",
        (Field::Sha256, Programs::Bsd) => "xargs -0 shasum -a 256 --",
        (Field::Sha1, Programs::Gnu) => "xargs -0 -r sha1sum --",
        (Field::Sha1, Programs::Bsd) => "xargs -0 shasum -a 1 --",
        (Field::Md5, Programs::Gnu) => "xargs -0 -r md5sum --",
        // Of a single file alone, so that no line of totals comes.
        (Field::Words, _) => "xargs -0 -r -n 1 wc -w --",
        (Field::Lines, _) => {
            let count = Argv::bytewise("xargs -0 -r grep -a -c -H -e").value("").and("--");
            // Of an empty file grep says that it found nothing; that is no failure here.
            return Ok(paths(of, programs)?.pipe(count).pipe(Argv::new("cat")));
        }
        (Field::Md5, Programs::Bsd) => return Err(Unsupported::System { what: "MD5" }),
        (Field::FileType | Field::TotalSize, _) => {
            return Err(Unsupported::Arrangement { what: "this property of files" });
        }
    };
    Ok(paths(of, programs)?.pipe(Argv::new(program)))
}

/// A number made of files.
pub(super) fn number(of: &Query, function: Function, programs: Programs) -> Result<Pipeline, Unsupported> {
    if let Query::Duplicates { .. } = of {
        return shown(of, programs).map(|rows| rows.pipe(lines::count()));
    }
    let Selection { stretch, keep, source, .. } = selection(of)?;
    match (function, stretch) {
        (Function::Count, _) => {
            let mut all = unordered(find(source, keep, programs)?);
            if let Some((_, 0)) = stretch {
                return Err(Unsupported::Arrangement { what: "none of them" });
            }
            if let Some((skip, count)) = stretch {
                programs.gnu_only("the first of an order")?;
                // How many there are does not depend on their order.
                all = all.pipe(Argv::new("tail -z -n").value(format!("+{}", skip.saturating_add(1))));
                all = all.pipe(Argv::new("tail -z -n").value(count.to_string()));
            }
            Ok(all.pipe(Argv::bytewise("tr -d -c \\0")).pipe(Argv::new("wc -c")))
        }
        (Function::TotalBytes, _) => {
            programs.gnu_only("a sum of sizes")?;
            // Lengths rather than room on disk, and a file with two names twice.
            let sum = Argv::new("du -l -b -c --files0-from=-");
            let files = if stretch.is_some() { paths(of, programs)? } else { unordered(find(source, keep, programs)?) };
            Ok(files.pipe(sum).pipe(Argv::new("tail -n 1")).pipe(Argv::new("cut -f 1")))
        }
        (Function::LargestBytes | Function::SmallestBytes | Function::AverageBytes, None) => {
            programs.gnu_only("sizes of files")?;
            let found = find(source, keep, programs)?;
            if !found.contents.is_empty() {
                return Err(Unsupported::Arrangement { what: "this number over files with a text in them" });
            }
            let sizes = Pipeline::of(found.argv.and("-printf").value("%s\\n"));
            if function == Function::AverageBytes {
                let mean = "{ s += $1; n += 1 } END { if (n > 0) printf \"%d\\n\", s / n; else print 0 }";
                return Ok(sizes.pipe(Argv::bytewise("awk").value(mean)));
            }
            let sort = Argv::new(if function == Function::LargestBytes { "sort -n" } else { "sort -n -r" });
            Ok(sizes.pipe(sort).pipe(Argv::new("tail -n 1")))
        }
        _ => Err(Unsupported::Arrangement { what: "this number over files" }),
    }
}

/// Groups as `number name`, in the order and stretch of the query.
pub(super) fn groups(query: &Query, programs: Programs) -> Result<Pipeline, Unsupported> {
    match query {
        Query::Group { of, by: GroupKey::Text, function: Function::Count } => {
            let text = lines::text(of, programs)?;
            Ok(text.pipe(Argv::bytewise("sort")).pipe(Argv::bytewise("uniq -c")))
        }
        Query::Group { of, by, function: Function::Count } => {
            programs.gnu_only("groups of files")?;
            let Selection { stretch: None, keep, source, .. } = selection(of)? else {
                return Err(Unsupported::Arrangement { what: "groups among the first of an order" });
            };
            let found = find(source, keep, programs)?;
            if !found.contents.is_empty() {
                return Err(Unsupported::Arrangement { what: "groups of files with a text in them" });
            }
            if *by == GroupKey::Extension {
                let names = Pipeline::of(found.argv.and("-printf").value("%f\\n"));
                let extension = "{ if (NF > 1) print tolower($NF); else print \"\" }";
                let extensions = names.pipe(Argv::bytewise("awk -F .").value(extension));
                return Ok(extensions.pipe(Argv::bytewise("sort")).pipe(Argv::bytewise("uniq -c")));
            }
            let names = Pipeline::of(group_name(found.argv, *by)?).pipe(Argv::bytewise("sort -z"));
            Ok(names.pipe(Argv::bytewise("uniq -z -c")).pipe(lines_from_nul()))
        }
        Query::Sort { of, keys } => Ok(groups(of, programs)?.pipe(sort_groups(keys, false)?)),
        Query::Limit { of, skip, count } => {
            let (keys, unsorted) = match of.as_ref() {
                Query::Sort { of, keys } => (keys.as_slice(), of.as_ref()),
                other => (&[][..], other),
            };
            if *count == 0 {
                return Err(Unsupported::Arrangement { what: "none of them" });
            }
            let last = Argv::new("tail -n").value(skip.saturating_add(*count).to_string());
            let best = groups(unsorted, programs)?.pipe(sort_groups(keys, true)?).pipe(last);
            let best = best.pipe(sort_groups(keys, false)?);
            Ok(if *skip == 0 { best } else { best.pipe(Argv::new("tail -n").value(format!("+{}", skip + 1))) })
        }
        _ => Err(Unsupported::Arrangement { what: "this grouping" }),
    }
}

fn group_name(find: Argv, by: GroupKey) -> Result<Argv, Unsupported> {
    let format = match by {
        GroupKey::Folder => "%h\\0",
        GroupKey::Day => "%TY-%Tm-%Td\\0",
        GroupKey::Month => "%TY-%Tm\\0",
        GroupKey::Year => "%TY\\0",
        GroupKey::Owner => "%u\\0",
        GroupKey::Kind => {
            let kinds = [("f", "file"), ("d", "folder"), ("l", "link")];
            let argv = kinds.iter().fold(find.and("("), |argv, (letter, word)| {
                argv.and("-type").value(*letter).and("-printf").value(format!("{word}\\0")).and("-o")
            });
            return Ok(argv.and("-printf").value("other\\0").and(")"));
        }
        GroupKey::Extension | GroupKey::Text => return Err(Unsupported::Arrangement { what: "this grouping" }),
    };
    Ok(find.and("-printf").value(format))
}

/// Groups by number or name; what the keys don't tell apart stays in the order of names.
fn sort_groups(keys: &[SortKey], reversed: bool) -> Result<Argv, Unsupported> {
    let mut argv = Argv::bytewise("sort");
    let r = |order: Order| if (order == Order::Descending) != reversed { "r" } else { "" };
    let mut by_name = false;
    for key in keys {
        argv = match key.by {
            Key::Value => argv.and("-k").value(format!("1,1n{}", r(key.order))),
            Key::Name => {
                by_name = true;
                argv.and("-k").value(format!("2{}", r(key.order)))
            }
            _ => return Err(Unsupported::Arrangement { what: "this order of groups" }),
        };
    }
    Ok(if by_name { argv } else { argv.and("-k").value(format!("2{}", r(Order::Ascending))) })
}
