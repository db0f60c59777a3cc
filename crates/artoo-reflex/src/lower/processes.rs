//! Turns queries for processes into command lines.

use super::pipeline::{Argv, Pipeline};
use super::selection::by_keys;
use super::{Programs, Unsupported};
use crate::algebra::{Key, Layers, NameTest, Pred, Query};
use crate::ensure::ensure;

/// The command that prints the processes of a query as `id user kilobytes percent name`.
pub(super) fn shown(query: &Query, programs: Programs) -> Result<Pipeline, Unsupported> {
    programs.gnu_only("the list of processes")?;
    let Layers { limit, keys, keep, source: Query::Processes, .. } = query.layers() else {
        return Err(Unsupported::Arrangement("this list of processes"));
    };
    let ps = Pipeline::of(Argv::bytewise("ps -e -o pid= -o user:32= -o rss= -o pcpu= -o comm="));
    let mut lines = keep.iter().try_fold(ps, filter)?;
    if !keys.is_empty() {
        lines = lines.pipe(by_keys(Argv::bytewise("sort -s"), keys, false, field)?);
    }
    if let Some((skip, count)) = limit {
        ensure(count != 0, || Unsupported::Arrangement("none of them"))?;
        let to = skip.saturating_add(count);
        lines = lines.pipe(Argv::bytewise("sed -n -e").value(format!("{},{to}p", skip.saturating_add(1))));
    }
    Ok(lines)
}

/// The key for `sort`, such as `3,3n`, of the field in a `ps` line to sort by.
fn field(key: Key) -> Result<&'static str, Unsupported> {
    match key {
        Key::Memory => Ok("3,3n"),
        Key::Cpu => Ok("4,4n"),
        Key::Name => Ok("5b"),
        _ => Err(Unsupported::Arrangement("this order of processes")),
    }
}

/// Adds a program that prints the processes that satisfy a predicate.
fn filter(of: Pipeline, keep: &Pred) -> Result<Pipeline, Unsupported> {
    /// The regular expressions for a `ps` line before the user's name, and between that and the command's name.
    const ID: &str = "^ *[0-9]+ +";
    const NUMBERS: &str = " +[0-9]+ +[0-9.]+ ";
    match keep {
        Pred::All(parts) => parts.iter().try_fold(of, filter),
        Pred::Not(inner) => Ok(of.pipe(Argv::bytewise("grep -a -v -E -e").value(expression(inner, ID, NUMBERS)?))),
        one => Ok(of.pipe(Argv::bytewise("grep -a -E -e").value(expression(one, ID, NUMBERS)?))),
    }
}

/// The regular expression for the lines of `ps` that satisfy a predicate.
fn expression(pred: &Pred, id: &str, numbers: &str) -> Result<String, Unsupported> {
    let name = |text: String| Ok(format!("{id}[^ ]+{numbers}{text}$"));
    let text = super::grep::literal;
    match pred {
        Pred::Name(NameTest::Is(is)) => name(format!("{}( <defunct>)?", text(is))),
        Pred::Name(NameTest::Starts(start)) => name(format!("{}.*", text(start))),
        Pred::Name(NameTest::Ends(end)) => name(format!(".*{}( <defunct>)?", text(end))),
        Pred::Name(NameTest::Has(part)) => name(format!(".*{}.*", text(part))),
        Pred::Owner(user) => Ok(format!("{id}{}{numbers}", text(user))),
        _ => Err(Unsupported::Predicate("this condition on processes")),
    }
}
