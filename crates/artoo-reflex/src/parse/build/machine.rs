//! Builds queries about the machine from parsed phrases: facts, disks, processes.

use super::super::draft::{Ask, Draft};
use super::files::counted;
use super::order::order;
use super::{BuildContext, BuildError};
use crate::algebra::{Depth, Fact, Function, Kind, NameTest, Pred, Query, Ty};
use crate::concept::Disk;
use crate::place::PathKind;

/// Builds the query for the fact of the machine that a parsed phrase asks for.
pub(super) fn fact(cx: &mut BuildContext<'_>, draft: &mut Draft) -> Result<Query, BuildError> {
    let fact = match (draft.fact.take(), draft.disk.take()) {
        (Some(Fact::Program { name }), None) if cx.context.fs.variable("PATH").is_some() => {
            return program(cx, draft, &name);
        }
        (Some(fact), None) => fact,
        (None, Some(disk)) => of_disk(cx, draft, disk)?,
        _ => return Err(BuildError::Leftover),
    };
    if fact.ty() == Ty::Lines {
        return super::text::of_fact(cx, draft, fact);
    }
    // "how many processors" asks for the fact itself, not for a count.
    if fact == Fact::Processors && draft.ask == Some(Ask::Count) {
        draft.ask = None;
    }
    draft.verb = None;
    draft.ask.take_if(|ask| *ask == Ask::Number(Function::Any) && matches!(fact, Fact::Program { .. }));
    if matches!(fact.ty(), Ty::Number) {
        draft.in_bytes = None;
    }
    Ok(Query::System { fact })
}

/// The query for a program in the folders of the user's `PATH`, which programs started by artoo don't get.
fn program(cx: &mut BuildContext<'_>, draft: &mut Draft, name: &str) -> Result<Query, BuildError> {
    let path = cx.context.fs.variable("PATH").unwrap_or_default();
    let folders = String::from_utf8_lossy(&path).into_owned();
    let mut roots: Vec<String> = folders.split(':').map(str::to_owned).collect();
    roots.retain(|folder| cx.context.is_folder(folder));
    let first = roots.iter().find(|folder| cx.context.on_disk(&format!("{folder}/{name}")) == Some(PathKind::File));
    if let Some(first) = first.cloned() {
        roots = vec![first];
    } else if draft.ask.is_none() {
        return Err(BuildError::NoProgram { name: name.to_owned() });
    }
    draft.verb = None;
    cx.notes.push("looked for in the folders of your own search path (PATH)".to_owned());
    let tree = Query::Tree { roots, depth: Depth::Direct, hidden: true, kind: Kind::Any };
    let of = Query::Filter { of: Box::new(tree), keep: Pred::Name(NameTest::Is(name.to_owned())) };
    counted(draft, of)
}

/// The fact about the disk that holds the named place, or the current folder if none is named.
fn of_disk(cx: &mut BuildContext<'_>, draft: &mut Draft, disk: Disk) -> Result<Fact, BuildError> {
    let named = match (draft.scope.as_slice(), draft.object.as_slice()) {
        ([place], []) | ([], [place]) => Some(place.path.clone()),
        ([], []) => None,
        _ => return Err(BuildError::Leftover),
    };
    draft.scope.clear();
    draft.object.clear();
    let path = named.unwrap_or_else(|| {
        let cwd = cx.context.environment.cwd.clone();
        cx.notes.push(match disk {
            Disk::OfFolder => format!("no place was named: {cwd} is meant"),
            _ => format!("no place was named: the disk that holds {cwd} is meant"),
        });
        cwd
    });
    if draft.ask == Some(Ask::Size) {
        draft.ask = None;
        draft.total = None;
    }
    Ok(match disk {
        Disk::Free => Fact::DiskFree { path },
        Disk::Used => Fact::DiskUsed { path },
        Disk::Share => Fact::DiskShare { path },
        Disk::Total => Fact::DiskTotal { path },
        Disk::OfFolder => Fact::DiskUsage { path },
    })
}

/// Builds the query for the processes that a parsed phrase asks for.
pub(super) fn processes(cx: &mut BuildContext<'_>, draft: &mut Draft) -> Result<Query, BuildError> {
    draft.processes = None;
    let preds = std::mem::take(&mut draft.preds).into_iter().map(of_process).collect();
    draft.loose = false;
    let mut of = Query::Filter { of: Box::new(Query::Processes), keep: Pred::All(preds) }.normalise();
    of = order(cx, draft, of)?;
    draft.verb = None;
    counted(draft, of)
}

/// A condition on content turned into one on a process name, for "processes containing x".
fn of_process(pred: Pred) -> Pred {
    match pred {
        Pred::Contains { text, ignore_case: false } => Pred::Name(crate::algebra::NameTest::Has(text)),
        other => other,
    }
}
