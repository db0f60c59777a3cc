//! The invariants, checked before and after every action of the scheduler.
//!
//! 1. A task has never more than one FinalResult, and one when its timers have rung, by its hard limit at the latest.
//! 2. Every message is the table's, names a cause that passed before it, and no role is refused by the bus.
//! 3. R4b's model is never asked about a round in which an outcome failed or is missing.
//! 4. Nothing is accepted with an unmet, failed or missing criterion; what is marked checked was checked, what is
//!    marked judged cites evidence of this machine; a success names what is unmet.
//! 5. No plan holds a blocked tool, and no executor calls one that is blocked or not its own.
//! 6. At most 1 + max_replans executions a task, at most 1 + 2 attempts a subtask, each numbered.
//! 7. Subtask ids are unique and never a model's.
//! 8. Omega ≥ θ ends the task; the first directive follows `init`; losses lie in 0..=1; blocked targets only grow.
//! 9. After its FinalResult nothing of a task is left and nothing is done for it.
//! 10. What a person refused is not done, and not asked again in a later round.
//! 11. No call that needs an approval runs without one.
//! 12. A model that lies everywhere gets no accept that rests on facts alone, and what facts refute is never accepted.
//! 13. `seq` has no gaps.
//! 14. A recorded run comes out the same again (see `action`).
//! 15. What arrives a second time does nothing.
//! 16. A task fails by its roles only where one panicked, and what panicked does nothing more but, as R7, say so,
//!     which it is asked to a few times and no more.
//! 17. A later group starts only when every earlier subtask matched.

mod bus;
mod consent;
mod rounds;
mod verdicts;

use std::collections::{BTreeMap, HashMap, HashSet};

use artoo_bus::TapEvent;
use artoo_proto::{
    Address, Check, Coverage, DispatchManifest, EffectId, ExecutionResult, FinalResult, Message, MessageId,
    MessageKind, Now, Plan, PlanDirective, Role, SubTask, SubTaskId, SubTaskOutcome, TaskId,
};
use uuid::Uuid;

use super::action::Action;
use super::scripted_request::ScriptedRequest;
use artoo_roles::machine::{Completion, Work};
use artoo_roles::system::{Effect, Input, System};
use consent::Consents;

/// What the messages of one task have shown so far.
#[derive(Debug)]
struct TaskHistory {
    scripted_request: ScriptedRequest,
    limited_from_ms: u64,
    passed: HashSet<MessageId>,
    directives: Vec<PlanDirective>,
    plans: BTreeMap<u32, Plan>,
    manifests: BTreeMap<u32, DispatchManifest>,
    subtasks: HashMap<SubTaskId, SubTask>,
    results: HashMap<SubTaskId, Vec<ExecutionResult>>,
    outcomes: HashMap<SubTaskId, SubTaskOutcome>,
    /// Checks that passed in this task, as the System was told.
    checked: Vec<Check>,
    /// What code found in this task, as the System was told.
    covered: Vec<Coverage>,
    consents: Consents,
    published: Option<FinalResult>,
    delivered: bool,
    /// Instances that panicked, with how often.
    fallen: HashMap<Address, u32>,
}

/// An effect that the System asked for, with its task, subtask and checks.
#[derive(Debug)]
struct Started {
    task_id: Option<TaskId>,
    subtask_id: Option<SubTaskId>,
    checks: Vec<Check>,
}

/// Checks the invariants of a run.
#[derive(Debug)]
pub(super) struct InvariantChecker {
    seed: u64,
    /// How late timers may be.
    lateness_ms: u64,
    next_seq: u64,
    tasks: BTreeMap<TaskId, TaskHistory>,
    started: HashMap<EffectId, Started>,
    subtask_ids: HashSet<SubTaskId>,
    smuggled: HashSet<Uuid>,
    arrived: HashSet<(Address, MessageId)>,
    completed: HashSet<EffectId>,
    /// Why the current action must have no effect; `None` if it may have one.
    silence: Option<&'static str>,
    /// Time of the current action.
    uptime_ms: u64,
}

/// Whether a message may be delivered after the end of its task: one to memory.
fn outlives_its_task(kind: MessageKind) -> bool {
    matches!(kind, MessageKind::Megram | MessageKind::MemoryFeedback | MessageKind::MemoryCorrection)
}

impl InvariantChecker {
    /// A checker for a run of `seed`, in which timers fire at most `lateness_ms` milliseconds late.
    pub(super) fn new(seed: u64, lateness_ms: u64) -> Self {
        Self {
            seed,
            lateness_ms,
            next_seq: 0,
            tasks: BTreeMap::new(),
            started: HashMap::new(),
            subtask_ids: HashSet::new(),
            smuggled: HashSet::new(),
            arrived: HashSet::new(),
            completed: HashSet::new(),
            silence: None,
            uptime_ms: 0,
        }
    }

    /// Stores ids that a faulty reply invented and that must never be used.
    pub(super) fn smuggled(&mut self, ids: &[Uuid]) {
        self.smuggled.extend(ids);
    }

    /// Starts the history of a new task, against which its messages are checked.
    pub(super) fn begin(&mut self, now: Now, scripted_request: &ScriptedRequest) {
        let task = TaskHistory {
            scripted_request: scripted_request.clone(),
            limited_from_ms: now.uptime_ms,
            passed: HashSet::new(),
            directives: Vec::new(),
            plans: BTreeMap::new(),
            manifests: BTreeMap::new(),
            subtasks: HashMap::new(),
            results: HashMap::new(),
            outcomes: HashMap::new(),
            checked: Vec::new(),
            covered: Vec::new(),
            consents: Consents::default(),
            published: None,
            delivered: false,
            fallen: HashMap::new(),
        };
        self.tasks.insert(scripted_request.request.task_id.clone(), task);
    }

    /// Panics with the seed and the invariant's name unless the condition is true.
    #[track_caller]
    fn hold(&self, holds: bool, invariant: &str, detail: impl FnOnce() -> String) {
        assert!(holds, "seed {}: {invariant}: {}", self.seed, detail());
    }

    /// Whether the result of a task was delivered.
    fn is_over(&self, task: Option<&TaskId>) -> bool {
        task.and_then(|task| self.tasks.get(task)).is_some_and(|task| task.delivered)
    }

    /// Notes an action before it is performed, and whether the System must ignore it (a repeated or late message).
    pub(super) fn before(&mut self, now: Now, action: &Action, system: &mut System) {
        self.silence = None;
        self.uptime_ms = now.uptime_ms;
        match action {
            Action::Deliver(index) | Action::Repeat(index) => {
                let delivery = system.bus().waiting().nth(*index).unwrap().clone();
                let envelope = &delivery.envelope;
                let kept = outlives_its_task(envelope.message.kind());
                if !self.arrived.insert((delivery.to.clone(), envelope.id)) {
                    self.silence = Some("(15) a message that arrived before");
                } else if self.is_over(envelope.correlation_id.as_ref()) && !kept {
                    self.silence = Some("(9) a message of a task that is over");
                } else if let Some(task) = envelope.correlation_id.as_ref().and_then(|task| self.tasks.get_mut(task)) {
                    match (delivery.to.role, &envelope.message) {
                        (Role::Executor, Message::ConsentAnswer(answer)) => task.consents.answered(answer),
                        // The hard limit starts when R7 gets the request.
                        (Role::Solver, Message::UserRequest(_)) => task.limited_from_ms = now.uptime_ms,
                        _ => {}
                    }
                }
            }
            Action::Accept(input) => match input.as_ref() {
                Input::Completed { effect_id, completion } => self.ends(*effect_id, completion, system),
                Input::Operator { message }
                    if !outlives_its_task(message.kind()) && self.is_over(message.task_id()) =>
                {
                    self.silence = Some("(9) the operator's word on a task that is over");
                }
                Input::Operator { .. } | Input::MemoryChanged { .. } => {}
            },
            Action::Drop(_) | Action::Panic(_) => {}
        }
    }

    /// Notes a completion before the System gets it: its passed checks, and whether the System must ignore it (repeated
    /// or too late).
    fn ends(&mut self, effect_id: EffectId, completion: &Completion, system: &System) {
        let awaited = system.awaited().any(|(awaited, _)| *awaited == effect_id);
        let started = self.started.get(&effect_id);
        let task_id = started.and_then(|started| started.task_id.clone());
        if !self.completed.insert(effect_id) {
            self.silence = Some("(15) a completion that came before");
        } else if self.is_over(task_id.as_ref()) {
            self.silence = Some("(9) a completion for a task that is over");
        } else if let (Completion::Checks(outcomes), Some(started), true) = (completion, started, awaited) {
            let passed = started.checks.iter().zip(outcomes).filter(|(_, outcome)| outcome.pass);
            let passed: Vec<Check> = passed.map(|(check, _)| check.clone()).collect();
            if let Some(task) = task_id.and_then(|task| self.tasks.get_mut(&task)) {
                task.checked.extend(passed);
            }
        } else if let (Completion::Covered(coverage), Some(task)) = (completion, task_id) {
            let task = self.tasks.get_mut(&task).filter(|_| awaited);
            task.into_iter().for_each(|task| task.covered.push(coverage.clone()));
        }
    }

    /// Checks each effect that an action caused, and that ended tasks have left nothing in the System.
    pub(super) fn after(&mut self, effects: &[Effect], system: &System) {
        if let Some(why) = self.silence {
            let silent = |effect: &Effect| matches!(effect, Effect::Observe { event: TapEvent::Ignored { .. }, .. });
            self.hold(effects.iter().all(silent), why, || format!("led to {effects:#?}"));
        }
        for effect in effects {
            match effect {
                Effect::Observe { event, .. } => self.event(event),
                Effect::Decided { .. } => {}
                Effect::Perform { effect_id, task_id, work } => self.perform(*effect_id, task_id.as_ref(), work),
                Effect::Deliver { to, message } => self.deliver(*to, message),
                Effect::CancelTask { task_id } => {
                    let over = self.is_over(Some(task_id));
                    self.hold(over, "(9) work stopped before the result", || task_id.to_string());
                }
            }
        }
        self.check_ended(system);
    }

    /// Checks that a task with a result has no instances, effects or deliveries left.
    fn check_ended(&self, system: &System) {
        for (task, _) in self.tasks.iter().filter(|(_, task)| task.delivered) {
            let of_task = |address: &Address| address.task_id.as_ref() == Some(task);
            let instance = system.instance_addresses().find(|address| of_task(address));
            self.hold(instance.is_none(), "(9) an instance is left", || format!("{instance:?}"));
            let effect = system.awaited().find(|(_, origin)| of_task(&origin.address));
            self.hold(effect.is_none(), "(9) an effect is awaited", || format!("{effect:?}"));
            let kept = outlives_its_task;
            let delivery = system.waiting().find(|delivery| {
                let envelope = &delivery.envelope;
                envelope.correlation_id.as_ref() == Some(task) && !kept(envelope.message.kind())
            });
            self.hold(delivery.is_none(), "(9) a delivery is left", || format!("{delivery:?}"));
            let open = system.open_tasks().any(|open| open == task);
            self.hold(!open, "(9) the task is still open", || task.to_string());
        }
    }

    /// Checks that every task has a result and that nothing but the memory is left.
    pub(super) fn at_the_end(&self, system: &System) {
        for (id, task) in &self.tasks {
            self.hold(task.delivered, "(1) no FinalResult", || id.to_string());
        }
        let instances: Vec<&Address> = system.instance_addresses().collect();
        self.hold(instances.len() == 1, "(9) more than memory is left", || format!("{instances:?}"));
        let delivery = system.waiting().next();
        self.hold(delivery.is_none(), "(9) deliveries are left", || format!("{delivery:?}"));
    }

    /// Checks that a message handed to the user or auditor comes before the task's end, and a result equals the
    /// published one.
    fn deliver(&mut self, to: Role, message: &Message) {
        let over = self.is_over(message.task_id());
        self.hold(!over, "(9) handed out after the result", || format!("{to}: {:?}", message.kind()));
        if let Message::FinalResult(result) = message {
            let task = self.tasks.get_mut(&result.task_id).unwrap();
            let same = task.published.as_ref() == Some(result);
            task.delivered = true;
            self.hold(same, "(1) not the result that was published", || format!("{result:?}"));
        }
    }

    /// Checks that work which the System starts belongs to an open task or to the memory.
    fn perform(&mut self, effect_id: EffectId, task_id: Option<&TaskId>, work: &Work) {
        let Some(task_id) = task_id else {
            let memory = matches!(work, Work::Persist { .. } | Work::Timer { .. });
            return self.hold(memory, "(2) work of no task", || format!("{work:?}"));
        };
        let started = self.started.get_mut(&effect_id).unwrap();
        let subtask_id = started.subtask_id;
        if let Work::Checks { order } = work {
            started.checks.clone_from(&order.checks);
        }
        let task = &self.tasks[task_id];
        self.hold(task.published.is_none(), "(9) work after the result", || format!("{work:?}"));
        match work {
            Work::Model { request } if request.role == Role::MetaValidator => self.gate(task, request),
            Work::Model { .. }
            | Work::Checks { .. }
            | Work::Timer { .. }
            | Work::Persist { .. }
            | Work::Read { .. }
            | Work::Cover { .. } => {}
            Work::Tool { order } => {
                let subtask_id = subtask_id.unwrap();
                self.order(task, subtask_id, order);
                let task = self.tasks.get_mut(task_id).unwrap();
                task.consents.ordered(subtask_id, order);
            }
        }
    }
}
