//! Programs where no view can be made: they change files directly, in the places that were approved.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use artoo_proto::EffectClass;

use super::decide::{ask_again, ask_for_reach};
use super::hosts::is_name_server;
use super::{MakeRecord, Program, stayed_inside};
use crate::effects::{CallEffects, NetworkUse, UndoMethod};
use crate::fence::{Denial, Fence, NetworkScope, Reach};
use crate::paths;
use crate::tool::{Allowed, Call, Held, Look, Outcome};
use crate::view::NoView;

/// How long a program may run to show what it would change.
const LOOK_TIME: Duration = Duration::from_secs(2);

/// The question about a program that no view holds. It runs once more, to find all the places that it would change. It may
/// look up names if that is approved, and no more, since what it does to others is not done twice.
pub(super) async fn ask(call: Call, program: Program, why: &NoView) -> Look {
    let fence = program.fence(&call.machine.protected, &call.allowed, Fence::of_reading(&call.machine.protected, &[]));
    let servers = call.allowed.reach.addresses.iter().copied().filter(|address| is_name_server(*address)).collect();
    let fence = Fence { reach: Reach { addresses: servers, ..Reach::default() }, ..fence };
    let ended = program.work.run(&call, fence, Held::Fenced, program.time.min(LOOK_TIME)).await;
    let denied = ended.map(|ended| ended.denied).unwrap_or_default();
    if !call.allowed.reach.holds(&Reach::of(&denied)) {
        return Box::new(move |_, _| ask_for_reach(&program, &call.allowed, &denied));
    }
    let own = call.machine.protected.own_data();
    let places: BTreeSet<PathBuf> = denied.iter().filter_map(|denial| place(denial, &own)).collect();
    let named = program.names.paths.iter().filter(|path| path.symlink_metadata().is_ok());
    let places = places.iter().chain(named).chain(&program.folders).cloned().collect::<BTreeSet<_>>();
    let places: Vec<PathBuf> = places
        .into_iter()
        .filter(|place| !own.iter().any(|own| own.starts_with(place) || place.starts_with(own)))
        .collect();
    let reason = format!("it would change files directly, since no view can be made: {why}");
    question(&program, Allowed { places: Some(places), ..call.allowed }, reason)
}

/// Runs a program in the places that were approved, or asks about it where nothing holds programs at all.
pub(super) async fn run(mut call: Call, program: Program, record: MakeRecord) -> Look {
    let is_granted = program.is_granted && !call.confirm;
    let Some(places) = call.allowed.places.clone().or_else(|| is_granted.then(Vec::new)) else {
        let workspace = PathBuf::from(&call.machine.config.environment.workspace);
        let places = program.folders.iter().cloned().chain([workspace]).collect();
        let reason = "nothing on this machine holds a running command".to_owned();
        let reach = Reach { network: true, ..program.reach.clone() };
        return question(&program, Allowed { reach, places: Some(places), ..call.allowed }, reason);
    };
    call.allowed.reach.add(&program.reach);
    let reach = call.allowed.reach.clone();
    let fence = program.fence(&call.machine.protected, &call.allowed, Fence::of_reading(&call.machine.protected, &[]));
    let granted = places.iter().map(|place| paths::real(place)).collect();
    let fence = Fence { reach, granted, ..fence };
    let held = if call.is_held { Held::Fenced } else { Held::Not };
    let ended = program.work.run(&call, fence, held, program.time).await;
    let (is_held, reach) = (call.is_held, call.allowed.reach.clone());
    let act = call.act;
    Box::new(move |machine, limit| {
        let changes = act.end(&[], limit);
        let is_held = is_held && ended.as_ref().is_ok_and(|ended| stayed_inside(&reach, ended));
        Outcome::Done(record(ended, machine, limit).class(EffectClass::Unproven).with_changes(changes, is_held))
    })
}

fn question(program: &Program, allowed: Allowed, reason: String) -> Look {
    let places = allowed.places.clone().unwrap_or_default();
    let lines: Vec<String> = places.iter().map(|place| format!("may change {}", described(place))).collect();
    let effects = CallEffects {
        undo: UndoMethod::Snapshot(places.clone()),
        lines,
        ..CallEffects::new(
            EffectClass::Unproven,
            places,
            NetworkUse::of_sandbox(allowed.reach.network_scope() != NetworkScope::Nothing),
        )
    };
    let pending = ask_again(program, effects, reason, allowed);
    Box::new(move |_, _| pending)
}

/// What an approval of a denied change allows: what is there, or the folder in which something would be made.
fn place(denial: &Denial, own: &[PathBuf]) -> Option<PathBuf> {
    let (Denial::Write(path) | Denial::Metadata(path)) = denial else { return None };
    let there = path.ancestors().find(|path| path.symlink_metadata().is_ok())?;
    // A folder that holds artoo's own data is not allowed as a whole, a new name in it is.
    let is_around = own.iter().any(|own| own.starts_with(there));
    Some(if is_around { path } else { there }.to_path_buf())
}

fn described(place: &Path) -> String {
    let line = paths::line(place);
    if place.is_dir() { format!("everything in {line}") } else { line }
}
