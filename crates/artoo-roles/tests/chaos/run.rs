//! The scheduler: one seeded run of one System, from the first request until nothing is left to do.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use artoo_proto::{EffectId, Message, Now, Role, TaskId, Timestamp};

use super::action::{Action, Recorded, rebuilt, replay};
use super::fault_rates::{FaultRates, LATE_MS};
use super::faulty_reply::Mangler;
use super::invariants::InvariantChecker;
use super::rng::Rng;
use super::scripted_request::ScriptedRequest;
use super::tally::Tally;
use artoo_roles::machine::{Completion, Work};
use artoo_roles::memory::Memory;
use artoo_roles::system::{Input, System, SystemConfig};
use artoo_roles::testing::world as testing;

/// Number of turns with injected faults; afterwards the run only finishes its tasks.
const TROUBLED_TURNS: usize = 1_200;
/// Number of turns after which a run counts as endless, about ten times that of the longest correct run.
const TURNS_MAX: usize = 30_000;

/// Work that the System asked for and that is not done yet.
pub(super) struct Job {
    pub(super) effect_id: EffectId,
    pub(super) task_id: Option<TaskId>,
    pub(super) work: Work,
}

/// The state of a run: the System, its simulated environment, and the invariants.
pub(super) struct Run {
    pub(super) seed: u64,
    pub(super) rng: Rng,
    pub(super) fault_rates: FaultRates,
    pub(super) config: SystemConfig,
    pub(super) system: System,
    pub(super) now: Now,
    pub(super) to_begin: VecDeque<ScriptedRequest>,
    pub(super) scripted_requests: BTreeMap<TaskId, ScriptedRequest>,
    pub(super) jobs: Vec<Job>,
    /// Finished work whose completion was not delivered yet.
    pub(super) late: Vec<(EffectId, Completion)>,
    pub(super) timers: BTreeSet<(u64, EffectId)>,
    pub(super) said: Vec<(usize, Message)>,
    pub(super) mangler: Mangler,
    pub(super) invariants: InvariantChecker,
    pub(super) tally: Tally,
    pub(super) record: Option<Vec<Recorded>>,
    kills: Kills,
}

/// After which inputs the process is killed and its System rebuilt from the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kills {
    Never,
    AfterEach,
    /// After the input with this number.
    After(usize),
}

/// The memory of a run; unavailable if the fault profile says so.
fn memory(fault_rates: &FaultRates) -> Memory {
    if fault_rates.no_memory { Memory::unavailable() } else { Memory::new(artoo_mkct::Engine::new()) }
}

impl Run {
    /// A run of `seed` before its first action; `recorded` stores its actions, `kills` says when the process is killed.
    fn new(seed: u64, recorded: bool, kills: Kills) -> Self {
        let mut rng = Rng::new(seed);
        let fault_rates = FaultRates::draw(&mut rng);
        let config = SystemConfig { tools: fault_rates.tools.clone().into(), ..testing::config(u128::from(seed)) };
        let to_begin =
            (0..fault_rates.tasks).map(|number| ScriptedRequest::draw(&mut rng, &fault_rates, seed, number)).collect();
        Self {
            seed,
            system: System::new(config.clone(), memory(&fault_rates)),
            config,
            now: Now { wall: Timestamp::from_millis(1_772_000_000_000), uptime_ms: 0 },
            to_begin,
            scripted_requests: BTreeMap::new(),
            jobs: Vec::new(),
            late: Vec::new(),
            timers: BTreeSet::new(),
            said: Vec::new(),
            mangler: Mangler::default(),
            invariants: InvariantChecker::new(seed, fault_rates.lateness_ms()),
            tally: Tally::default(),
            record: recorded.then(Vec::new),
            kills,
            fault_rates,
            rng,
        }
    }

    /// Runs a seed to its end and checks every invariant; with `recorded` also replays it and compares.
    pub(super) fn of_seed(seed: u64, recorded: bool) -> Tally {
        Self::run_to_end(seed, recorded, Kills::Never).tally
    }

    /// Runs a seed with and without kills and compares the effects. Returns the number of kills.
    pub(super) fn killed(seed: u64, kills: Kills) -> usize {
        let wire = |run: &Self| {
            let record = run.record.as_ref().unwrap().iter();
            record.map(|recorded| serde_json::to_string(&recorded.effects).unwrap()).collect::<Vec<_>>()
        };
        let whole = Self::run_to_end(seed, true, Kills::Never);
        let killed = Self::run_to_end(seed, true, kills);
        let (wanted, got) = (wire(&whole), wire(&killed));
        let differs = (0..wanted.len().max(got.len())).find(|at| wanted.get(*at) != got.get(*at));
        assert!(differs.is_none(), "seed {seed}, {kills:?}: action {differs:?} differs after a kill");
        killed.tally.of("kills").try_into().unwrap()
    }

    /// Runs a seed until every task has its result.
    fn run_to_end(seed: u64, recorded: bool, kills: Kills) -> Self {
        let mut run = Self::new(seed, recorded, kills);
        run.tally.add(&format!("profile: {:?}", run.fault_rates.profile));
        let mut turns = 0;
        while !run.to_begin.is_empty() || run.system.open_tasks().next().is_some() {
            run.turn();
            turns += 1;
            if turns == TROUBLED_TURNS {
                run.fault_rates.settle();
            }
            assert!(turns < TURNS_MAX, "seed {seed}: (1) the run does not end: {:?}", run.system);
        }
        run.afterwards();
        run.invariants.at_the_end(&run.system);
        run.tally.add_many("turns", u64::try_from(turns).unwrap());
        if let Some(record) = &run.record {
            replay(seed, run.config.clone(), memory(&run.fault_rates), record);
            run.tally.add("replays");
        }
        run
    }

    /// Delivers late messages and completions after the end of all tasks, which must change nothing.
    fn afterwards(&mut self) {
        self.fault_rates.settle();
        while self.system.pending() > 0 {
            self.act(Action::Deliver(0));
        }
        while let Some(job) = self.jobs.pop() {
            let completion = self.perform(&job);
            self.complete(job.effect_id, completion);
        }
        while let Some((effect_id, completion)) = self.late.pop() {
            self.complete(effect_id, completion);
        }
        for _ in 0..20 {
            self.ring();
        }
        while self.system.pending() > 0 {
            self.act(Action::Deliver(0));
        }
    }

    /// One turn of the scheduler: a fault, a timer, a delivery or an event from outside.
    fn turn(&mut self) {
        self.trouble();
        let is_due = self.timers.first().is_some_and(|(due, _)| *due <= self.now.uptime_ms);
        if is_due && self.rng.chance(700) {
            self.ring();
            return;
        }
        let pending = self.system.pending();
        if pending > 0 && !self.rng.chance(self.fault_rates.interleave) {
            return self.deliver_one(pending);
        }
        if self.rng.chance(self.fault_rates.hasty) && self.ring() {
            return;
        }
        if self.outside_event() {
            return;
        }
        if pending > 0 {
            self.deliver_one(pending);
        } else if !self.ring() {
            let scripted_request = self.to_begin.pop_front();
            let Some(scripted_request) = scripted_request else {
                panic!("seed {}: (1) nothing can happen any more and a task is open: {:?}", self.seed, self.system)
            };
            self.begin(scripted_request);
        }
    }

    /// Handles one event from outside: a new request, a user's message, a late completion, or work; false if there is
    /// none.
    fn outside_event(&mut self) -> bool {
        let begun = !self.scripted_requests.is_empty();
        let choices = [
            usize::from(!self.to_begin.is_empty() && (!begun || self.rng.chance(200))),
            self.said.len(),
            self.late.len() / 2,
            self.jobs.len(),
        ];
        let mut ticket = self.rng.below(choices.iter().sum());
        let Some(kind) = choices.iter().position(|&weight| {
            let hit = ticket < weight;
            ticket = ticket.saturating_sub(weight);
            hit
        }) else {
            return self.complete_late();
        };
        match kind {
            0 => {
                let scripted_request = self.to_begin.pop_front().unwrap();
                self.begin(scripted_request);
            }
            1 => {
                let (delay, message) = self.said.remove(0);
                self.advance(u64::try_from(delay).unwrap());
                self.say(message);
            }
            2 => return self.complete_late(),
            _ => self.work(),
        }
        true
    }

    /// Delivers a delayed completion; false if there is none.
    fn complete_late(&mut self) -> bool {
        if self.late.is_empty() {
            return false;
        }
        let at = self.rng.below(self.late.len());
        let (effect_id, completion) = self.late.swap_remove(at);
        self.complete(effect_id, completion);
        true
    }

    /// Sends a scripted request to the System and starts the history of its task.
    fn begin(&mut self, scripted_request: ScriptedRequest) {
        self.invariants.begin(self.now, &scripted_request);
        self.tally.add("tasks");
        if scripted_request.lie.is_some() {
            self.tally.add("tasks with a lying model");
        }
        let message = scripted_request.request.clone();
        self.scripted_requests.insert(message.task_id.clone(), scripted_request);
        self.say(message.into());
    }

    /// Sends a user's message to the System.
    pub(super) fn say(&mut self, message: Message) {
        self.act(Action::Accept(Box::new(Input::Operator { message })));
    }

    /// Delivers, drops, repeats or reorders one queued message.
    fn deliver_one(&mut self, pending: usize) {
        let index = if self.rng.chance(self.fault_rates.reorder) { self.rng.below(pending) } else { 0 };
        let delivery = self.system.bus().waiting().nth(index).unwrap();
        // What comes from or goes to the operator, and the System's own word, is never lost.
        let edge = matches!(delivery.to.role, Role::Operator | Role::Auditor)
            || matches!(delivery.envelope.from.role, Role::Operator | Role::Runtime);
        let action = if !edge && self.rng.chance(self.fault_rates.drop) {
            self.tally.add("drops");
            Action::Drop(index)
        } else if delivery.envelope.correlation_id.is_some() && self.rng.chance(self.fault_rates.repeat) {
            self.tally.add("duplicates");
            Action::Repeat(index)
        } else {
            Action::Deliver(index)
        };
        self.act(action);
    }

    /// Passes the completion of an effect to the System as an action of the scheduler.
    pub(super) fn complete(&mut self, effect_id: EffectId, completion: Completion) {
        self.act(Action::Accept(Box::new(Input::Completed { effect_id, completion })));
    }

    /// Fires the next timer, at its due time or a little later; false if there is none.
    fn ring(&mut self) -> bool {
        let Some((due, effect_id)) = self.timers.pop_first() else { return false };
        let lateness = if self.fault_rates.hasty > 0 { self.rng.below(LATE_MS) } else { 0 };
        self.advance(due.saturating_sub(self.now.uptime_ms) + u64::try_from(lateness).unwrap());
        self.complete(effect_id, Completion::Timer);
        true
    }

    /// Advances the wall clock and the uptime by the same number of milliseconds.
    pub(super) fn advance(&mut self, ms: u64) {
        self.now.uptime_ms += ms;
        self.now.wall = self.now.wall.plus_millis(i64::try_from(ms).unwrap());
    }

    /// Performs one action of the scheduler on the System, checks the invariants before and after it, and handles its
    /// effects.
    pub(super) fn act(&mut self, action: Action) {
        self.invariants.before(self.now, &action, &mut self.system);
        let effects = action.clone().apply(&mut self.system, self.now);
        self.invariants.after(&effects, &self.system);
        for effect in &effects {
            self.take(effect);
        }
        let is_input = matches!(action, Action::Accept(_));
        if let Some(record) = &mut self.record {
            record.push(Recorded { now: self.now, action, effects });
            let inputs = record.iter().filter(|recorded| matches!(recorded.action, Action::Accept(_))).count();
            let is_kill = match self.kills {
                Kills::Never => false,
                Kills::AfterEach => is_input,
                Kills::After(number) => is_input && inputs == number,
            };
            if is_kill {
                self.system = rebuilt(self.config.clone(), memory(&self.fault_rates), record);
                self.tally.add("kills");
            }
        }
    }
}
