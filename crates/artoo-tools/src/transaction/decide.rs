//! The decision about a run in a view: its changes are read and classified, then committed, asked about or discarded.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use artoo_proto::{CallStatus, EffectClass};

use super::describe;
use super::hosts;
use super::staged::StagedChanges;
use super::{MakeRecord, Program, stayed_inside, unchanged};
use crate::change::{ChangeSet, Class, Layer, Places, classify, command_folders, scan_changes};
use crate::effects::{Action, CallEffects, EffectSet, FileEffect, NetworkUse, UndoMethod};
use crate::fence::{Denial, NetworkScope, Reach};
use crate::limit::Limit;
use crate::process::Ended;
use crate::record::Record;
use crate::tool::{Allowed, Machine, Next, Outcome, Pending, Question, Source};
use crate::view::View;
use crate::{paths, texts};

/// Maximum number of characters of a program's error output that are searched for denials.
const ERRORS_MAX_CHARS: usize = 4000;

/// A run in a view: the program, its permissions, the view, and what its record needs.
pub(super) struct Run {
    pub(super) program: Program,
    pub(super) allowed: Allowed,
    pub(super) source: Source,
    pub(super) view: Arc<View>,
    pub(super) record: MakeRecord,
    pub(super) started: SystemTime,
}

impl Run {
    /// The outcome of the run: a question if it was denied something, a record if it failed to run, was ended or
    /// changed nothing, else a decision about committing its changes.
    pub(super) fn decide(self, ended: io::Result<Ended>, machine: &Machine, limit: &Limit) -> Outcome {
        let Ok(ended) = ended else { return Outcome::Done(unchanged(self.record, ended, machine, limit)) };
        let wanted = Reach::of(&ended.denied);
        if !self.allowed.reach.holds(&wanted) {
            return ask_for_reach(&self.program, &self.allowed, &ended.denied);
        }
        let ended = Ok(ended);
        if let Some(question) = ask_for_more(&self.program, &self.allowed, &ended) {
            return question;
        }
        let Ok(ended) = ended else { return Outcome::Done(unchanged(self.record, ended, machine, limit)) };
        let stayed_inside = stayed_inside(&self.allowed.reach, &ended);
        if ended.timed_out.is_some() || ended.struck.is_some() {
            let record = (self.record)(Ok(ended), machine, limit);
            return Outcome::Done(uncommitted(record, "it did not end by itself").class(EffectClass::Unproven));
        }
        let set = match read(&self.view, self.started, limit) {
            Ok(set) => set,
            Err(problem) => {
                let record = (self.record)(Ok(ended), machine, limit);
                let record = uncommitted(record, &problem).class(EffectClass::Unproven);
                return Outcome::Done(Record { status: CallStatus::Failed, ..record });
            }
        };
        let incidental =
            set.incidental.iter().map(|(path, reason)| format!("{} ({reason})", paths::line(path))).collect();
        if set.is_empty() {
            let record = Record { incidental, ..unchanged(self.record, Ok(ended), machine, limit) };
            return Outcome::Done(if stayed_inside {
                record
            } else {
                Record { changes_known: false, ..record.class(EffectClass::Unproven) }
            });
        }
        let Self { program, allowed, source, view, record, .. } = self;
        let mut record = Record { incidental, ..record(Ok(ended), machine, limit) };
        let fixed = view.read_only();
        if let Some(folder) = fixed.first().filter(|_| record.status == CallStatus::Failed) {
            let at = paths::line(folder);
            record.text.push_str(&format!("\n[files directly in {at} can't be changed: mounts lie below it]"));
        }
        Ran { program, allowed, source, view, record, stayed_inside, set }.judge(machine)
    }
}

/// A run in a view that has ended, with the change set read from the view.
struct Ran {
    program: Program,
    allowed: Allowed,
    source: Source,
    view: Arc<View>,
    record: Record,
    /// Whether the run is known to have had no effects except on files.
    stayed_inside: bool,
    set: ChangeSet,
}

impl Ran {
    /// Decides about the changes of a run: a denied record if they are refused, else pending changes, with a question
    /// if they need approval.
    fn judge(self, machine: &Machine) -> Outcome {
        let Self { program, allowed, source, view, record, stayed_inside, set } = self;
        let environment = &machine.config.environment;
        let workspace = paths::real(environment.workspace.as_ref());
        let command_folders = command_folders(&machine.config);
        let places = Places { workspace: &workspace, command_folders: &command_folders, protected: &machine.protected };
        let class = classify(&set, &places);
        let asks = if let Class::Asks(asks) = &class { asks.clone() } else { Vec::new() };
        let reason = match &class {
            Class::Refused { path, reason } => {
                let record = Record::denied(&format!("{} would be changed: {reason}", paths::line(path)));
                return Outcome::Done(record.class(EffectClass::Unproven));
            }
            Class::Asks(entries) if !program.is_granted => Some(describe::reasons(entries)),
            Class::Committable | Class::Asks(_) => program.caution.clone(),
        };
        let is_ordinary = allowed.reach == Reach::default() && class.is_ordinary();
        let is_creating = class == Class::Committable && set.only_creates() && allowed.reach == Reach::default();
        let class = if is_creating { EffectClass::Creating } else { EffectClass::Unproven };
        let effects = CallEffects {
            class,
            changes: effects(&set),
            is_complete: is_ordinary,
            lines: vec![describe::summary(&set, Path::new(&environment.home))],
            ..of_program(&allowed.reach)
        };
        let question = reason.map(|reason| Question {
            text: format!("{}\0{}", program.shown, set.digest()),
            files: Vec::new(),
            shown: program.shown.clone(),
            reason,
            details: describe::details(&set, &asks),
        });
        let record = record.class(class);
        let staged =
            Box::new(StagedChanges { set, record, source, view, is_all: stayed_inside, workspace: program.workspace });
        Outcome::Pending(Box::new(Pending { effects, question, next: Next::Commit(staged) }))
    }
}

/// The question whether the program may reach the network, sockets or processes that it was denied.
pub(super) fn ask_for_reach(program: &Program, allowed: &Allowed, denied: &[Denial]) -> Outcome {
    let mut reach = allowed.reach.clone();
    reach.add(&Reach::of(denied));
    let addresses: Vec<SocketAddr> = denied
        .iter()
        .filter_map(|denial| if let Denial::Connection(address) = denial { Some(*address) } else { None })
        .filter(|address| !allowed.reach.has_address(*address))
        .collect();
    let targets = hosts::targets(&addresses, &program.names.hosts, &allowed.reach);
    reach.add(&Reach {
        addresses: targets.iter().flat_map(|target| target.addresses.clone()).collect(),
        ..Reach::default()
    });
    let is_other = |denial: &&Denial| denial.is_reach() && !matches!(denial, Denial::Connection(_));
    let others = denied.iter().filter(is_other).map(ToString::to_string);
    let wanted: Vec<String> = targets.into_iter().map(|target| target.line).chain(others).collect();
    let reason = texts::tried_to(wanted.first().map_or("reach other programs", String::as_str));
    // The approval of one host does not include the DNS servers that resolve every name.
    let addresses = addresses.iter().filter(|address| !hosts::is_name_server(**address)).map(ToString::to_string);
    let effects = CallEffects {
        hosts: addresses.chain(program.names.hosts.iter().cloned()).collect(),
        lines: wanted.iter().map(|what| format!("will {what}")).collect(),
        ..of_program(&reach)
    };
    ask_again(program, effects, reason, Allowed { reach, ..allowed.clone() })
}

/// The question that a run leads to by what it lacked: a secret that its command names, or disk space beyond the limit;
/// `None` if it lacked nothing.
pub(super) fn ask_for_more(program: &Program, allowed: &Allowed, ended: &io::Result<Ended>) -> Option<Outcome> {
    let ended = ended.as_ref().ok()?;
    if ended.is_full && !allowed.fills_disk {
        let effects = CallEffects { lines: vec![texts::FILLS_DISK.to_owned()], ..of_program(&allowed.reach) };
        let reason = ended.struck.clone().unwrap_or_else(|| texts::WRITES_MUCH.to_owned());
        return Some(ask_again(program, effects, reason, Allowed { fills_disk: true, ..allowed.clone() }));
    }
    let closed: Vec<&PathBuf> =
        program.names.secrets.iter().filter(|secret| !allowed.readable.contains(secret)).collect();
    let has_failed = ended.exit_code != Some(0) || ended.stderr.text(ERRORS_MAX_CHARS).0.contains("ermission denied");
    let first = closed.first().filter(|_| has_failed && ended.timed_out.is_none())?;
    let reason = texts::may_hold_secrets(paths::line(first));
    let effects = CallEffects {
        lines: closed.iter().map(|path| texts::reads_secret(paths::line(path))).collect(),
        ..of_program(&allowed.reach)
    };
    let readable = allowed.readable.iter().chain(closed).cloned().collect();
    Some(ask_again(program, effects, reason, Allowed { readable, ..allowed.clone() }))
}

/// The effects of a program with this access before its changes are known: unproven, undoable by commit.
fn of_program(reach: &Reach) -> CallEffects {
    let network = NetworkUse::of_sandbox(reach.network_scope() != NetworkScope::Nothing);
    CallEffects { undo: UndoMethod::Commit, ..CallEffects::new(EffectClass::Unproven, Vec::new(), network) }
}

/// The question whether the program may run again with these additional permissions.
pub(super) fn ask_again(program: &Program, mut effects: CallEffects, reason: String, allowed: Allowed) -> Outcome {
    let question = Question {
        text: format!("{}\0{allowed:?}", program.shown),
        files: program.names.paths.clone(),
        shown: program.shown.clone(),
        reason,
        details: effects.lines.clone(),
    };
    // Before the user asks for details, the terminal shows `effects.lines`; all lines are in `details`.
    effects.lines = vec![texts::first(effects.lines, texts::NAMED_MAX)];
    Outcome::Pending(Box::new(Pending { effects, question: Some(question), next: Next::RunAgain(allowed) }))
}

/// Reads the change set of a run from the layers of its view; `Err` is the reason as text.
fn read(view: &View, started: SystemTime, limit: &Limit) -> Result<ChangeSet, String> {
    let layers = view.layers().iter();
    let layers: Vec<Layer> =
        layers.map(|layer| Layer { lower: layer.lower.clone(), upper: layer.upper.clone() }).collect();
    scan_changes(&layers, &view.renamed(), started, limit).map_err(|problem| problem.to_string())
}

/// The record with a note that its changes were not committed, and why.
fn uncommitted(mut record: Record, why: &str) -> Record {
    record.text.push_str(&format!("\n[nothing that it changed was kept: {why}]"));
    record
}

/// The file effects of a change set, as approvals and denials compare them.
fn effects(set: &ChangeSet) -> EffectSet {
    use crate::change::Kind;
    let outer = set.entries.iter().filter(|entry| !entry.is_inside);
    let each = outer.flat_map(|entry| {
        let effect = |action, path: &PathBuf, is_recursive| FileEffect { action, path: path.clone(), is_recursive };
        let is_folder = |state: &crate::undo::State| matches!(state, crate::undo::State::Folder(_));
        let (was, is) = (is_folder(&entry.before), is_folder(&entry.after));
        match &entry.kind {
            Kind::Created => vec![effect(Action::Create, &entry.path, is)],
            Kind::Changed | Kind::Mode | Kind::Times => vec![effect(Action::Modify, &entry.path, false)],
            Kind::Deleted | Kind::Replaced => vec![effect(Action::Modify, &entry.path, was)],
            Kind::Renamed { from } => {
                vec![effect(Action::Modify, from, true), effect(Action::Create, &entry.path, true)]
            }
        }
    });
    each.collect()
}
