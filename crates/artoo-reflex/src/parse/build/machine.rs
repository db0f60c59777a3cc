//! Questions about the machine: facts, disks, processes.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a condition that reads differently of a process is named; every other is not"
)]

use super::super::draft::{Ask, Draft};
use super::files::counted;
use super::order::order;
use super::{Misfit, Scene};
use crate::algebra::{Depth, Fact, Function, Kind, NameTest, Pred, Query, Ty};
use crate::concept::Disk;
use crate::place::Looks;

pub(super) fn fact(scene: &mut Scene<'_>, draft: &mut Draft) -> Result<Query, Misfit> {
    let fact = match (draft.fact.take(), draft.disk.take()) {
        (Some(Fact::Program { name }), None) if scene.context.fs.variable("PATH").is_some() => {
            return program(scene, draft, &name);
        }
        (Some(fact), None) => fact,
        (None, Some(disk)) => of_disk(scene, draft, disk)?,
        _ => return Err(Misfit::Leftover),
    };
    if fact.ty() == Ty::Lines {
        return super::text::of_fact(scene, draft, fact);
    }
    // "how many processors" asks what the fact is.
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

/// A program in the folders of the person's own search path, which programs that artoo starts don't get.
fn program(scene: &mut Scene<'_>, draft: &mut Draft, name: &str) -> Result<Query, Misfit> {
    let path = scene.context.fs.variable("PATH").unwrap_or_default();
    let folders = String::from_utf8_lossy(&path).into_owned();
    let mut roots: Vec<String> = folders.split(':').map(str::to_owned).collect();
    roots.retain(|folder| scene.context.is_folder(folder));
    let first = roots.iter().find(|folder| scene.context.on_disk(&format!("{folder}/{name}")) == Some(Looks::File));
    if let Some(first) = first.cloned() {
        roots = vec![first];
    } else if draft.ask.is_none() {
        return Err(Misfit::NoProgram { name: name.to_owned() });
    }
    draft.verb = None;
    scene.notes.push("looked for in the folders of your own search path (PATH)".to_owned());
    let tree = Query::Tree { roots, depth: Depth::Direct, hidden: true, kind: Kind::Any };
    let of = Query::Filter { of: Box::new(tree), keep: Pred::Name(NameTest::Is(name.to_owned())) };
    counted(draft, of)
}

/// The file system that holds a place; the current folder's where none is named.
fn of_disk(scene: &mut Scene<'_>, draft: &mut Draft, disk: Disk) -> Result<Fact, Misfit> {
    let named = match (draft.scope.as_slice(), draft.object.as_slice()) {
        ([place], []) | ([], [place]) => Some(place.path.clone()),
        ([], []) => None,
        _ => return Err(Misfit::Leftover),
    };
    draft.scope.clear();
    draft.object.clear();
    let path = named.unwrap_or_else(|| {
        let cwd = scene.context.environment.cwd.clone();
        scene.notes.push(match disk {
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

pub(super) fn processes(scene: &mut Scene<'_>, draft: &mut Draft) -> Result<Query, Misfit> {
    draft.processes = None;
    let preds = std::mem::take(&mut draft.preds).into_iter().map(of_process).collect();
    draft.loose = false;
    let mut of = Query::Filter { of: Box::new(Query::Processes), keep: Pred::All(preds) }.normalise();
    of = order(scene, draft, of)?;
    draft.verb = None;
    counted(draft, of)
}

/// "processes containing x": in their name.
fn of_process(pred: Pred) -> Pred {
    match pred {
        Pred::Contains { text, ignore_case: false } => Pred::Name(crate::algebra::NameTest::Has(text)),
        other => other,
    }
}
