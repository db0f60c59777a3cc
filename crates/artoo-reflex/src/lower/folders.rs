//! Turns queries for total sizes of folders into commands: one `find` prints folders and files, `awk` adds the sizes
//! up.

use super::find::{Expression, literal, no_root_in_another};
use super::pipeline::{Argv, Pipeline};
use super::selection::{by_field, by_keys, layers_of_files, sorted_and_limited};
use super::{Programs, Unsupported};
use crate::algebra::{Depth, Key, Kind, Layers, Order, Pred, Query, SortKey};
use crate::ensure::ensure;

/// The `awk` script that adds each file's size to the folders above it and prints the wanted folders.
const SUM_SCRIPT: &str = "$1 == \"d\" { wanted[$2] = 1; next } { n = split($2, part, \"/\"); path = \"\"; \
for (i = 2; i < n; i++) { path = path \"/\" part[i]; sum[path] += $1 } } \
END { for (path in wanted) printf \"%.0f\\t%s\\n\", sum[path], path }";

/// The command that prints `bytes<tab>folder`, in the query's order.
pub(super) fn sizes(of: &Query, programs: Programs) -> Result<Pipeline, Unsupported> {
    programs.gnu_only("sums of folders")?;
    let Layers { limit, keys, keep, source, .. } = layers_of_files(of)?;
    let Query::Tree { roots, depth, hidden, kind: Kind::Folder } = source else {
        return Err(Unsupported::Arrangement("the sums of these folders"));
    };
    let walk = walk(roots, *depth, *hidden, keep, programs)?;
    let summed = Pipeline::of(walk).pipe(Argv::bytewise("awk -F").value("\\t").value(SUM_SCRIPT));
    sorted_and_limited(summed, limit, "tail -n", |reversed| sort(keys, reversed))
}

/// The call of `find` that prints the folders whose size is wanted, and all files below the roots.
fn walk(roots: &[String], depth: Depth, hidden: bool, keep: &[Pred], programs: Programs) -> Result<Argv, Unsupported> {
    no_root_in_another(roots)?;
    ensure(!roots.iter().any(|root| root == "/"), || Unsupported::Arrangement("sums over all of the machine"))?;
    let argv = roots.iter().fold(Argv::bytewise("find -H"), |argv, root| argv.value(root.as_str()));
    let mut argv = argv.and("-mindepth 1 ( -type d");
    for root in roots {
        let root = literal(root);
        if depth == Depth::Direct {
            argv = argv.and("! -path").value(format!("{root}/*/*"));
        }
        if !hidden {
            argv = argv.and("! -path").value(format!("{root}/.*")).and("! -path").value(format!("{root}/*/.*"));
        }
    }
    let expression = Expression { roots, programs };
    let argv = keep.iter().try_fold(argv, |argv, pred| expression.add(pred, argv))?;
    Ok(argv.and("-printf").value("d\\t%p\\n").and(") , ( -type f -printf").value("%s\\t%p\\n").and(")"))
}

/// The call of `sort` for folder sizes; ties are sorted by path.
fn sort(keys: &[SortKey], reversed: bool) -> Result<Argv, Unsupported> {
    // The fields are separated by blanks; the second key extends to the end of the line, as a path may contain blanks.
    let path = keys.iter().position(|key| key.by == Key::Path);
    let before_path = keys.get(..path.unwrap_or(keys.len())).unwrap_or_default();
    let argv = by_keys(Argv::bytewise("sort"), before_path, reversed, |key| match key {
        Key::TotalSize => Ok("1,1n"),
        _ => Err(Unsupported::Arrangement("this order of folders with their sums")),
    })?;
    let order = path.and_then(|at| keys.get(at)).map_or(Order::Ascending, |key| key.order);
    Ok(by_field(argv, "2", order, reversed))
}
