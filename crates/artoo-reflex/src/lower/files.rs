//! Turns questions about files into command lines.

use super::find::find;
use super::pipeline::{Argv, Pipeline, lines_from_nul};
use super::selection::{by_field, by_keys, layers_of_files, paths, sorted_and_limited, unordered};
use super::{Programs, Unsupported, folders, lines};
use crate::algebra::{Field, Function, GroupKey, Key, Layers, Order, Query, SortKey};
use crate::ensure::ensure;

/// The command that prints the files of a query, or a property of each.
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

/// The command that prints `stat` fields of each file, times in UTC.
fn stat(format: &str, of: &Query, programs: Programs) -> Result<Pipeline, Unsupported> {
    programs.gnu_only("facts of files in this form")?;
    let stat = Argv::new("env LC_ALL=C TZ=UTC0 xargs -0 -r stat --printf").value(format).and("--");
    Ok(paths(of, programs)?.pipe(stat))
}

/// The command that prints a property of each file.
fn field(of: &Query, field: Field, programs: Programs) -> Result<Pipeline, Unsupported> {
    let program = match (field, programs) {
        (Field::Permissions, _) => return stat("%a\\t%n\\n", of, programs),
        (Field::Owner, _) => return stat("%U\\t%n\\n", of, programs),
        (Field::Modified, _) => return stat("%y\\t%n\\n", of, programs),
        (Field::TotalSize, _) => return folders::sizes(of, programs),
        (Field::Sha256, Programs::Gnu) => "xargs -0 -r sha256sum --",
        (Field::Sha256, Programs::Bsd) => "xargs -0 shasum -a 256 --",
        (Field::Sha1, Programs::Gnu) => "xargs -0 -r sha1sum --",
        (Field::Sha1, Programs::Bsd) => "xargs -0 shasum -a 1 --",
        (Field::Md5, Programs::Gnu) => "xargs -0 -r md5sum --",
        // `wc` gets each file alone, so that it prints no line of totals.
        (Field::Words, _) => "xargs -0 -r -n 1 wc -w --",
        (Field::Lines, _) => {
            let count = Argv::bytewise("xargs -0 -r grep -a -c -H -e").value("").and("--");
            // For an empty file `grep` reports that it found nothing, which is no failure here.
            return Ok(paths(of, programs)?.pipe(count).pipe(Argv::new("cat")));
        }
        (Field::Md5, Programs::Bsd) => return Err(Unsupported::System("MD5")),
        (Field::FileType, _) => return Err(Unsupported::Arrangement("this property of files")),
    };
    Ok(paths(of, programs)?.pipe(Argv::new(program)))
}

/// The command that prints a number computed from files, such as their total size.
pub(super) fn number(of: &Query, function: Function, programs: Programs) -> Result<Pipeline, Unsupported> {
    if let Query::Duplicates { .. } = of {
        return shown(of, programs).map(|rows| rows.pipe(lines::count()));
    }
    let Layers { limit, keep, source, .. } = layers_of_files(of)?;
    match (function, limit) {
        (Function::Count, _) => {
            let mut all = unordered(find(source, keep, programs)?);
            if let Some((skip, count)) = limit {
                ensure(count != 0, || Unsupported::Arrangement("none of them"))?;
                programs.gnu_only("the first of an order")?;
                // The number of files does not depend on their order.
                all = all.pipe(Argv::new("tail -z -n").value(format!("+{}", skip.saturating_add(1))));
                all = all.pipe(Argv::new("tail -z -n").value(count.to_string()));
            }
            Ok(all.pipe(Argv::bytewise("tr -d -c \\0")).pipe(Argv::new("wc -c")))
        }
        (Function::TotalBytes, _) => {
            programs.gnu_only("a sum of sizes")?;
            // Sum file lengths rather than disk usage, and count a file with two names twice.
            let sum = Argv::new("du -l -b -c --files0-from=-");
            let files = if limit.is_some() { paths(of, programs)? } else { unordered(find(source, keep, programs)?) };
            Ok(files.pipe(sum).pipe(Argv::new("tail -n 1")).pipe(Argv::new("cut -f 1")))
        }
        (Function::LargestBytes | Function::SmallestBytes | Function::AverageBytes, None) => {
            programs.gnu_only("sizes of files")?;
            let found = find(source, keep, programs)?;
            ensure(found.contents.is_empty(), || {
                Unsupported::Arrangement("this number over files with a text in them")
            })?;
            let sizes = Pipeline::of(found.argv.and("-printf").value("%s\\n"));
            if function == Function::AverageBytes {
                let mean = "{ s += $1; n += 1 } END { if (n > 0) printf \"%d\\n\", s / n; else print 0 }";
                return Ok(sizes.pipe(Argv::bytewise("awk").value(mean)));
            }
            let sort = Argv::new(if function == Function::LargestBytes { "sort -n" } else { "sort -n -r" });
            Ok(sizes.pipe(sort).pipe(Argv::new("tail -n 1")))
        }
        _ => Err(Unsupported::Arrangement("this number over files")),
    }
}

/// The command that prints groups as `number name`, in the query's sort order.
pub(super) fn groups(query: &Query, programs: Programs) -> Result<Pipeline, Unsupported> {
    let Layers { limit, keys, source, .. } = query.layers();
    let groups = unordered_groups(source, programs)?;
    let largest = [SortKey { by: Key::Value, order: Order::Descending }];
    let keys = if keys.is_empty() { largest.as_slice() } else { keys };
    sorted_and_limited(groups, limit, "tail -n", |reversed| sort_groups(keys, reversed))
}

/// The command that prints groups as `number name`, sorted by name.
fn unordered_groups(query: &Query, programs: Programs) -> Result<Pipeline, Unsupported> {
    match query {
        Query::Group { of, by: GroupKey::Text, function: Function::Count } => {
            let text = lines::text(of, programs)?;
            Ok(text.pipe(Argv::bytewise("sort")).pipe(Argv::bytewise("uniq -c")))
        }
        Query::Group { of, by, function: Function::Count } => {
            programs.gnu_only("groups of files")?;
            let Layers { limit: None, keep, source, .. } = layers_of_files(of)? else {
                return Err(Unsupported::Arrangement("groups among the first of an order"));
            };
            let found = find(source, keep, programs)?;
            ensure(found.contents.is_empty(), || Unsupported::Arrangement("groups of files with a text in them"))?;
            if *by == GroupKey::Extension {
                let names = Pipeline::of(found.argv.and("-printf").value("%f\\n"));
                let extension = "{ if (NF > 1) print tolower($NF); else print \"\" }";
                let extensions = names.pipe(Argv::bytewise("awk -F .").value(extension));
                return Ok(extensions.pipe(Argv::bytewise("sort")).pipe(Argv::bytewise("uniq -c")));
            }
            let names = Pipeline::of(group_name(found.argv, *by)?).pipe(Argv::bytewise("sort -z"));
            Ok(names.pipe(Argv::bytewise("uniq -z -c")).pipe(lines_from_nul()))
        }
        _ => Err(Unsupported::Arrangement("this grouping")),
    }
}

/// The call of `find` that prints the group of each file.
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
        GroupKey::Extension | GroupKey::Text => return Err(Unsupported::Arrangement("this grouping")),
    };
    Ok(find.and("-printf").value(format))
}

/// The call of `sort` for groups; ties are sorted by name.
fn sort_groups(keys: &[SortKey], reversed: bool) -> Result<Argv, Unsupported> {
    let field = |key| match key {
        Key::Value => Ok("1,1n"),
        Key::Name => Ok("2"),
        _ => Err(Unsupported::Arrangement("this order of groups")),
    };
    let argv = by_keys(Argv::bytewise("sort"), keys, reversed, field)?;
    let by_name = keys.iter().any(|key| key.by == Key::Name);
    Ok(if by_name { argv } else { by_field(argv, "2", Order::Ascending, reversed) })
}
