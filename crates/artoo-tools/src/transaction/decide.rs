//! What becomes of a run in a view: its changes are read, judged, and committed, asked about or thrown away.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use artoo_proto::{CallStatus, EffectClass};

use super::describe;
use super::staged::StagedChanges;
use super::{MakeRecord, Program, unchanged};
use crate::change::{ChangeSet, Class, Layer, Places, classify, look};
use crate::config::CONSENTED_PATH;
use crate::effects::{Action, CallEffects, EffectSet, FileEffect, NetworkUse, UndoMethod};
use crate::fence::{Denial, Reach};
use crate::limit::Limit;
use crate::paths;
use crate::process::Ended;
use crate::record::Record;
use crate::tool::{Allowed, CAUTION, Machine, Next, Outcome, Pending, Question, Source};
use crate::view::View;

/// Folders of the user's own programs, in the home folder.
const OWN_PROGRAMS: [&str; 3] = ["bin", ".local/bin", ".cargo/bin"];

/// A program that ran in a view.
pub(super) struct Run {
    pub(super) program: Program,
    pub(super) allowed: Allowed,
    /// Whether every change needs approval.
    pub(super) confirm: bool,
    pub(super) source: Source,
    pub(super) view: Arc<View>,
    pub(super) record: MakeRecord,
}

impl Run {
    pub(super) fn decide(self, ended: io::Result<Ended>, machine: &Machine, limit: &Limit) -> Outcome {
        let ended = match ended {
            Ok(ended) => ended,
            Err(_) => return Outcome::Done(unchanged(self.record, ended, machine, limit)),
        };
        let wanted = Reach::of(&ended.denied);
        if !self.allowed.reach.holds(&wanted) {
            return ask_for_reach(&self.program, &self.allowed.reach, &ended.denied);
        }
        let reached = self.allowed.reach != Reach::default();
        if ended.timed_out.is_some() || ended.struck.is_some() {
            let record = (self.record)(Ok(ended), machine, limit);
            return Outcome::Done(uncommitted(record, "it did not end by itself").class(EffectClass::Unproven));
        }
        let set = match read(&self.view, limit) {
            Ok(set) => set,
            Err(problem) => {
                let record = (self.record)(Ok(ended), machine, limit);
                let record = uncommitted(record, &problem).class(EffectClass::Unproven);
                return Outcome::Done(Record { status: CallStatus::Failed, ..record });
            }
        };
        if set.is_empty() {
            let record = unchanged(self.record, Ok(ended), machine, limit);
            return Outcome::Done(if reached { record.class(EffectClass::Unproven) } else { record });
        }
        let Self { program, allowed, confirm, source, view, record } = self;
        let record = record(Ok(ended), machine, limit);
        Ran { program, allowed, confirm, source, view, record, set }.judge(machine)
    }
}

/// A run with the changes it made.
struct Ran {
    program: Program,
    allowed: Allowed,
    confirm: bool,
    source: Source,
    view: Arc<View>,
    record: Record,
    set: ChangeSet,
}

impl Ran {
    /// Whether the changes need a question.
    fn judge(self, machine: &Machine) -> Outcome {
        let Self { program, allowed, confirm, source, view, record, set } = self;
        let environment = &machine.config.environment;
        let workspace = paths::real(environment.workspace.as_ref());
        let own = OWN_PROGRAMS.iter().map(|folder| PathBuf::from(&environment.home).join(folder));
        let system = machine.config.program_path.iter().cloned().chain(CONSENTED_PATH.iter().map(PathBuf::from));
        let command_folders: Vec<PathBuf> = system.chain(own).map(|folder| paths::real(&folder)).collect();
        let places = Places { workspace: &workspace, command_folders: &command_folders, protected: &machine.protected };
        let class = classify(&set, &places);
        let reason = match &class {
            Class::Refused { path, reason } => {
                let record = Record::denied(&format!("{} would be changed: {reason}", paths::line(path)));
                return Outcome::Done(record.class(EffectClass::Unproven));
            }
            _ if program.is_granted => None,
            Class::Committable => confirm.then(|| CAUTION.to_owned()),
            Class::Asks(entries) => Some(describe::reasons(&set, entries)),
        };
        let is_creating = class == Class::Committable && allowed.reach == Reach::default();
        let class = if is_creating { EffectClass::Creating } else { EffectClass::Unproven };
        let effects = CallEffects {
            changes: effects(&set),
            is_complete: allowed.reach == Reach::default(),
            undo: UndoMethod::Commit,
            lines: vec![describe::summary(&set)],
            is_destructive: false,
            ..CallEffects::new(class, Vec::new(), allowed.reach.network_use())
        };
        let question = reason.map(|reason| Question {
            text: set.digest(),
            files: Vec::new(),
            shown: program.shown.clone(),
            reason,
            details: describe::details(&set),
        });
        let record = record.class(class);
        let staged = Box::new(StagedChanges { set, record, source, view });
        Outcome::Pending(Pending { effects, question, next: Next::Commit(staged) })
    }
}

/// The question whether the program may reach what it was denied.
pub(super) fn ask_for_reach(program: &Program, allowed: &Reach, denied: &[Denial]) -> Outcome {
    let mut reach = allowed.clone();
    reach.add(&Reach::of(denied));
    let wanted: Vec<String> = denied.iter().filter(|denial| denial.is_reach()).map(ToString::to_string).collect();
    let hosts = denied.iter().filter_map(|denial| match denial {
        Denial::Connection(address) => Some(address.to_string()),
        _ => None,
    });
    let effects = CallEffects {
        hosts: hosts.collect(),
        undo: UndoMethod::Commit,
        lines: wanted.iter().map(|what| format!("will {what}")).collect(),
        ..CallEffects::new(EffectClass::Unproven, Vec::new(), reach.network_use())
    };
    let question = Question {
        text: format!("{}\0{reach:?}", program.shown),
        files: Vec::new(),
        shown: program.shown.clone(),
        reason: format!("it tried to {}", wanted.first().map_or("reach other programs", String::as_str)),
        details: wanted,
    };
    let next = Next::RunAgain(Allowed { reach, places: None });
    Outcome::Pending(Pending { effects, question: Some(question), next })
}

/// The changes that the layers of a view show; an error in words.
fn read(view: &View, limit: &Limit) -> Result<ChangeSet, String> {
    let layers = view.layers().iter();
    let layers: Vec<Layer> =
        layers.map(|layer| Layer { lower: layer.lower.clone(), upper: layer.upper.clone() }).collect();
    look(&layers, &view.renamed(), limit).map_err(|problem| problem.to_string())
}

fn uncommitted(mut record: Record, why: &str) -> Record {
    record.text.push_str(&format!("\n[nothing that it changed was kept: {why}]"));
    record
}

/// The changes as effects on paths, as approvals and denials compare them.
fn effects(set: &ChangeSet) -> EffectSet {
    use crate::change::Kind;
    let outer = set.entries.iter().filter(|entry| !entry.is_inside);
    let each = outer.flat_map(|entry| {
        let effect = |action, path: &PathBuf, is_recursive| FileEffect { action, path: path.clone(), is_recursive };
        let is_folder = |state: &crate::undo::State| matches!(state, crate::undo::State::Folder(_));
        let (was, is) = (is_folder(&entry.before), is_folder(&entry.after));
        match &entry.kind {
            Kind::Created => vec![effect(Action::Create, &entry.path, is)],
            Kind::Changed | Kind::Mode => vec![effect(Action::Modify, &entry.path, false)],
            Kind::Deleted | Kind::Replaced => vec![effect(Action::Modify, &entry.path, was)],
            Kind::Renamed { from } => {
                vec![effect(Action::Modify, from, true), effect(Action::Create, &entry.path, true)]
            }
        }
    });
    each.collect()
}

impl Reach {
    fn network_use(&self) -> NetworkUse {
        if self.network { NetworkUse::Possible } else { NetworkUse::Blocked }
    }
}
