//! Programs that run without a view: they change files directly, in the places that were approved.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use artoo_proto::{CallStatus, EffectClass};

use super::decide::{ask_again, ask_for_reach};
use super::hosts::is_name_server;
use super::opened::Opened;
use super::request::NewFolder;
use super::{MakeRecord, Program, stayed_inside};
use crate::approved::ApprovedPlace;
use crate::effects::{CallEffects, NetworkUse, UndoMethod};
use crate::fence::{Denial, Fence, NetworkScope, Reach};
use crate::process::Ended;
use crate::record::Record;
use crate::tool::{Allowed, Call, Held, Look, Machine, Outcome};
use crate::view::NoView;
use crate::{paths, texts};

/// Time limit of a run that only shows what a program would change.
const LOOK_TIME: Duration = Duration::from_secs(2);

/// Folders of the system that no approval makes writable.
const SYSTEM: [&str; 3] = ["/dev", "/proc", "/sys"];

/// The question about a program without a view. The program runs once more as a reading run, to find all places that it
/// would change. It may resolve names if that is approved, but has no other effect on other machines, since such
/// effects must not happen twice.
pub(super) async fn ask(call: Call, program: Program, why: &NoView) -> Look {
    let fence = program.fence(&call.machine.protected, &call.allowed, Fence::of_reading(&call.machine.protected, &[]));
    let servers = call.allowed.reach.addresses.iter().copied().filter(|address| is_name_server(*address)).collect();
    let fence = Fence { reach: Reach { addresses: servers, ..Reach::default() }, ..fence };
    let opened = Opened::watch(Path::new(&call.machine.config.environment.cwd), &program.names.paths);
    let ended = program.work.run(&call, fence, Held::Fenced, program.time.min(LOOK_TIME)).await;
    let denied = ended.map(|ended| ended.denied).unwrap_or_default();
    if !call.allowed.reach.holds(&Reach::of(&denied)) {
        return Box::new(move |_, _| ask_for_reach(&program, &call.allowed, &denied));
    }
    let own = call.machine.protected.own_data();
    let places: BTreeSet<PathBuf> = denied.iter().filter_map(|denial| place(denial, &own)).collect();
    let named = program.names.paths.iter().filter(|path| path.symlink_metadata().is_ok());
    let places = places.iter().chain(named).chain(&program.folders).cloned().collect::<BTreeSet<_>>();
    let places = places
        .into_iter()
        .filter(|place| !own.iter().any(|own| own.starts_with(place) || place.starts_with(own)))
        .map(|place| program.approved(place))
        .collect();
    let reason = texts::no_view(why);
    question(&call.machine, &program, Allowed { places: Some(places), ..call.allowed }, reason, opened.files())
}

/// Runs a program in the approved places. Asks first if no places were approved, as on a machine without a sandbox,
/// unless its changes are granted.
pub(super) async fn run(mut call: Call, program: Program, record: MakeRecord) -> Look {
    let is_granted = program.is_granted && !call.confirm;
    let Some(places) = call.allowed.places.clone().or_else(|| is_granted.then(Vec::new)) else {
        let workspace = PathBuf::from(&call.machine.config.environment.workspace);
        let places = program.folders.iter().cloned().chain([workspace]);
        let places = places.map(|place| program.approved(place)).collect();
        let reason = texts::NO_SANDBOX.to_owned();
        let reach = Reach { network: true, ..program.reach.clone() };
        let allowed = Allowed { reach, places: Some(places), ..call.allowed };
        return question(&call.machine, &program, allowed, reason, Vec::new());
    };
    if let Some(place) = places.iter().find(|place| !place.is_unchanged()) {
        let place = paths::line(place.path());
        let reason = format!("{place} is in another folder than when it was approved, so the approval is not valid");
        return crate::tool::done(Record::denied(&reason).class(EffectClass::Unproven));
    }
    call.allowed.reach.add(&program.reach);
    let reach = call.allowed.reach.clone();
    if !call.is_held || reach != Reach::default() {
        call.machine.announce(&call.source);
    }
    let fence = program.fence(&call.machine.protected, &call.allowed, Fence::of_reading(&call.machine.protected, &[]));
    let granted = places.iter().map(|place| place.real().to_path_buf()).collect();
    let fence = Fence { reach, granted, ..fence };
    let held = if call.is_held { Held::Fenced } else { Held::Not };
    let ended = program.work.run(&call, fence, held, program.time).await;
    let (is_held, allowed) = (call.is_held, call.allowed.clone());
    let act = call.act;
    Box::new(move |machine, limit| {
        let is_held = is_held && ended.as_ref().is_ok_and(|ended| stayed_inside(&allowed.reach, ended));
        let further = ended.as_ref().map(|ended| further(&program, ended, &allowed, machine)).unwrap_or_default();
        let Some(first) = further.first().map(|place| paths::line(place.path())) else {
            let changes = act.end(&[], limit);
            let record = record(ended, machine, limit).class(EffectClass::Unproven);
            return Outcome::Done(record.with_changes(changes, is_held));
        };
        // Effects on other machines can't be undone, so they must not happen twice.
        let (problem, changes) = if is_held && act.can_be_taken_back() {
            match act.take_back(limit) {
                Ok(left) if left.is_empty() => {
                    return ask_further(machine, &program, allowed, further, &first)(machine, limit);
                }
                Ok(left) => {
                    let left: Vec<String> = left.iter().map(|path| paths::line(path)).collect();
                    (format!("what it did before is undone except {}", left.join(", ")), None)
                }
                Err(error) => (format!("what it did before could not be undone: {error}"), None),
            }
        } else {
            ("what it did before is kept".to_owned(), Some(act.end(&[], limit)))
        };
        let mut record = record(ended, machine, limit).class(EffectClass::Unproven);
        record.text.push_str(&format!("\n[stopped at {first}, which was not approved; {problem}]"));
        record.status = CallStatus::Failed;
        Outcome::Done(match changes {
            Some(changes) => record.with_changes(changes, is_held),
            None => Record { changes_known: false, ..record },
        })
    })
}

/// The question about a program that was denied more places than those approved; the caller has undone the changes it
/// made.
fn ask_further(
    machine: &Machine,
    program: &Program,
    allowed: Allowed,
    further: Vec<ApprovedPlace>,
    first: &str,
) -> Look {
    let places = allowed.places.iter().flatten().cloned().chain(further).collect();
    let reason = texts::would_also_change(first);
    question(machine, program, Allowed { places: Some(places), ..allowed }, reason, Vec::new())
}

/// The places that the run was denied and that an approval could allow, other than the approved ones, artoo's own data
/// and the system's folders.
fn further(program: &Program, ended: &Ended, allowed: &Allowed, machine: &Machine) -> Vec<ApprovedPlace> {
    let own = machine.protected.own_data();
    let is_closed = |path: &Path| {
        let is_known = allowed.places.iter().flatten().any(|place| path.starts_with(place.real()));
        is_known || own.iter().any(|own| path.starts_with(own)) || SYSTEM.iter().any(|folder| path.starts_with(folder))
    };
    let denied: BTreeSet<PathBuf> = ended.denied.iter().filter_map(|denial| place(denial, &own)).collect();
    denied.into_iter().filter(|path| !is_closed(path)).map(|path| program.approved(path)).collect()
}

impl Program {
    /// A place to be shown in a question, with its present state, so that an approval ends if it changes.
    fn approved(&self, place: PathBuf) -> ApprovedPlace {
        ApprovedPlace::new(place, self.workspace.as_deref().map(NewFolder::path))
    }
}

/// The question about a program that changes places outside a view. The approval is also bound to the content of these
/// files.
fn question(machine: &Machine, program: &Program, allowed: Allowed, reason: String, files: Vec<PathBuf>) -> Look {
    let home = Path::new(&machine.config.environment.home);
    let places: Vec<PathBuf> = allowed.places.iter().flatten().map(|place| place.path().to_path_buf()).collect();
    let lines: Vec<String> = places.iter().map(|place| texts::may_change(place, home)).collect();
    let changed = places.iter().filter(|place| place.is_file()).cloned().collect::<Vec<_>>();
    let effects = CallEffects {
        undo: UndoMethod::Snapshot(places.clone()),
        lines,
        ..CallEffects::new(
            EffectClass::Unproven,
            places,
            NetworkUse::of_sandbox(allowed.reach.network_scope() != NetworkScope::Nothing),
        )
    };
    let mut pending = ask_again(program, effects, reason, allowed);
    if let Outcome::Pending(pending) = &mut pending
        && let Some(question) = &mut pending.question
    {
        question.files.extend(changed.into_iter().chain(files));
        question.details.push(texts::NOT_BOUND.to_owned());
    }
    Box::new(move |_, _| pending)
}

/// The place that must be approved for a denied change of a file: the nearest existing path, or the file itself if that
/// is a folder around artoo's own data. `None` for other denials.
fn place(denial: &Denial, own: &[PathBuf]) -> Option<PathBuf> {
    let (Denial::Write(path) | Denial::Metadata(path)) = denial else { return None };
    let there = path.ancestors().find(|path| path.symlink_metadata().is_ok())?;
    // A folder with artoo's own data is never allowed as a whole, but a new name in it is.
    let is_around = own.iter().any(|own| own.starts_with(there));
    Some(if is_around { path } else { there }.to_path_buf())
}
