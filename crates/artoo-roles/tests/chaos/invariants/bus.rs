//! Invariants 2, 13, 15 and 16: which messages and effects the tap may show.

use artoo_bus::TapEvent;
use artoo_proto::{Address, Envelope, MessageKind, Role, route};

use super::{InvariantChecker, Started};
use artoo_roles::limits::SOLVER_PANICS_MAX;

impl InvariantChecker {
    /// Checks an event of the tap against the invariants: a message, a refusal, an ignored input, a panic, or the start
    /// of an effect. Drops, gaps and ends of effects are not checked.
    pub(super) fn event(&mut self, event: &TapEvent) {
        match event {
            TapEvent::Message { envelope } => {
                self.on_the_bus(envelope);
                self.message(envelope);
            }
            TapEvent::Refused { from, kind, refusal, .. } => {
                let forged = from.role == Role::Operator;
                self.hold(forged, "(2) a role was refused by the bus", || format!("{from} {kind}: {refusal}"));
            }
            TapEvent::Ignored { address, detail } => {
                let misrouted = detail.contains("this role never");
                self.hold(!misrouted, "(2) a message went to the wrong role", || format!("{address}: {detail}"));
            }
            TapEvent::Panicked { address, detail } => {
                let planted = detail.contains("planted panic");
                self.hold(planted, "(16) a panic that no test planted", || format!("{address}: {detail}"));
                let Some(task) = address.task_id.as_ref().and_then(|task| self.tasks.get_mut(task)) else {
                    return self
                        .hold(address.role == Role::Memory, "(16) a panic without a task", || address.to_string());
                };
                let panics = task.fallen.entry(address.clone()).or_default();
                *panics += 1;
                let most = if address.role == Role::Solver { SOLVER_PANICS_MAX + 1 } else { 1 };
                let few = *panics <= most;
                self.hold(few, "(16) it is asked again and again", || address.to_string());
            }
            TapEvent::EffectStarted(started) => {
                let entry =
                    Started { task_id: started.task_id.clone(), subtask_id: started.subtask_id, checks: Vec::new() };
                let by = Address::of(started.by, started.task_id.as_ref(), started.subtask_id);
                let fallen = started.task_id.as_ref().and_then(|task| self.tasks.get(task));
                let fallen = fallen.is_some_and(|task| task.fallen.contains_key(&by));
                self.hold(!fallen, "(16) an instance that panicked works on", || format!("{started:?}"));
                let new = self.started.insert(started.effect_id, entry).is_none();
                self.hold(new, "(15) an effect id twice", || format!("{started:?}"));
            }
            TapEvent::Dropped { .. } | TapEvent::EffectFinished(_) | TapEvent::Gap { .. } => {}
        }
    }

    /// Checks the order, the route and the cause of a message.
    fn on_the_bus(&mut self, envelope: &Envelope) {
        let kind = envelope.message.kind();
        let shown = || format!("{kind} from {} at {}", envelope.from, envelope.seq);
        self.hold(envelope.seq == self.next_seq, "(13) seq has a gap", shown);
        self.next_seq += 1;
        let row = route::route(kind).unwrap();
        self.hold(row.from == envelope.from.role && row.to == envelope.to, "(2) not as the table says", shown);
        let task_id = envelope.message.task_id();
        self.hold(envelope.correlation_id.as_ref() == task_id, "(2) not its task", shown);
        let Some(task) = task_id.and_then(|task| self.tasks.get(task)) else { return };
        let outside = matches!(envelope.from.role, Role::Operator | Role::Runtime);
        let caused = match envelope.causation_id {
            Some(cause) => task.passed.contains(&cause),
            None => outside,
        };
        self.hold(caused, "(2) its cause never passed", shown);
        let for_memory = matches!(kind, MessageKind::MemoryFeedback | MessageKind::MemoryCorrection);
        self.hold(for_memory || task.published.is_none(), "(9) said after the result", shown);
        let says_so = matches!(kind, MessageKind::FinalResult | MessageKind::Abort);
        let fallen = task.fallen.contains_key(&envelope.from) && !says_so;
        self.hold(!fallen, "(16) an instance that panicked speaks on", shown);
        let task = task_id.and_then(|task| self.tasks.get_mut(task)).unwrap();
        let new = task.passed.insert(envelope.id);
        self.hold(new, "(2) a message id twice", shown);
    }
}
