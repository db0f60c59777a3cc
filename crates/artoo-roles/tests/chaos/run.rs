//! The scheduler: one seeded run of one System, from the first request to the silence after the last result.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use artoo_proto::{EffectId, Message, Now, Role, TaskId, Timestamp};

use super::choice::{Choice, Recorded, replay};
use super::errand::Errand;
use super::mangle::Mangler;
use super::rng::Rng;
use super::tally::Tally;
use super::watch::Watch;
use super::weather::{LATE_MS, Weather};
use artoo_roles::machine::{Completion, Work};
use artoo_roles::memory::Memory;
use artoo_roles::system::{Input, System, SystemConfig};
use artoo_roles::testing::world as testing;

/// Turns of trouble; after them the run may only come to its end.
const TROUBLED_TURNS: usize = 1_200;
/// Turns after which a run counts as endless. The longest honest ones need about a tenth.
const TURNS_MAX: usize = 30_000;

pub(super) struct Job {
    pub(super) effect_id: EffectId,
    pub(super) task_id: Option<TaskId>,
    pub(super) work: Work,
}

pub(super) struct Run {
    pub(super) seed: u64,
    pub(super) rng: Rng,
    pub(super) weather: Weather,
    pub(super) config: SystemConfig,
    pub(super) system: System,
    pub(super) now: Now,
    pub(super) to_begin: VecDeque<Errand>,
    pub(super) errands: BTreeMap<TaskId, Errand>,
    pub(super) jobs: Vec<Job>,
    /// Work that is done and whose end nobody was told yet.
    pub(super) late: Vec<(EffectId, Completion)>,
    pub(super) timers: BTreeSet<(u64, EffectId)>,
    pub(super) said: Vec<(usize, Message)>,
    pub(super) mangler: Mangler,
    pub(super) watch: Watch,
    pub(super) tally: Tally,
    pub(super) record: Option<Vec<Recorded>>,
}

fn memory(weather: &Weather) -> Memory {
    if weather.no_memory { Memory::unavailable() } else { Memory::new(artoo_mkct::Engine::new()) }
}

impl Run {
    fn new(seed: u64, recorded: bool) -> Self {
        let mut rng = Rng::new(seed);
        let weather = Weather::draw(&mut rng);
        let config = SystemConfig { tools: weather.tools.clone().into(), ..testing::config(u128::from(seed)) };
        let to_begin = (0..weather.tasks).map(|number| Errand::draw(&mut rng, &weather, seed, number)).collect();
        Self {
            seed,
            system: System::new(config.clone(), memory(&weather)),
            config,
            now: Now { wall: Timestamp::from_millis(1_772_000_000_000), uptime_ms: 0 },
            to_begin,
            errands: BTreeMap::new(),
            jobs: Vec::new(),
            late: Vec::new(),
            timers: BTreeSet::new(),
            said: Vec::new(),
            mangler: Mangler::default(),
            watch: Watch::new(seed, weather.lateness_ms()),
            tally: Tally::default(),
            record: recorded.then(Vec::new),
            weather,
            rng,
        }
    }

    /// Runs a seed to its end under every invariant; `recorded` also does it again and compares.
    pub(super) fn of_seed(seed: u64, recorded: bool) -> Tally {
        let mut run = Self::new(seed, recorded);
        run.tally.add(&format!("climate: {:?}", run.weather.climate));
        let mut turns = 0;
        while !run.to_begin.is_empty() || run.system.open_tasks().next().is_some() {
            run.turn();
            turns += 1;
            if turns == TROUBLED_TURNS {
                run.weather.settle();
            }
            assert!(turns < TURNS_MAX, "seed {seed}: (1) the run does not end: {:?}", run.system);
        }
        run.afterwards();
        run.watch.at_the_end(&run.system);
        run.tally.add_many("turns", u64::try_from(turns).unwrap());
        if let Some(record) = &run.record {
            replay(seed, run.config.clone(), memory(&run.weather), record);
            run.tally.add("replays");
        }
        run.tally
    }

    /// What still arrives when every task is over must change nothing.
    fn afterwards(&mut self) {
        self.weather.settle();
        while self.system.pending() > 0 {
            self.act(Choice::Deliver(0));
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
            self.act(Choice::Deliver(0));
        }
    }

    fn turn(&mut self) {
        self.trouble();
        let is_due = self.timers.first().is_some_and(|(due, _)| *due <= self.now.uptime_ms);
        if is_due && self.rng.chance(700) {
            self.ring();
            return;
        }
        let pending = self.system.pending();
        if pending > 0 && !self.rng.chance(self.weather.interleave) {
            return self.deliver_one(pending);
        }
        if self.rng.chance(self.weather.hasty) && self.ring() {
            return;
        }
        if self.outside() {
            return;
        }
        if pending > 0 {
            self.deliver_one(pending);
        } else if !self.ring() {
            let errand = self.to_begin.pop_front();
            let Some(errand) = errand else {
                panic!("seed {}: (1) nothing can happen any more and a task is open: {:?}", self.seed, self.system)
            };
            self.begin(errand);
        }
    }

    /// One thing from outside, if there is one: an errand, a person's word, late news, a piece of work.
    fn outside(&mut self) -> bool {
        let begun = !self.errands.is_empty();
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
            return self.late_news();
        };
        match kind {
            0 => {
                let errand = self.to_begin.pop_front().unwrap();
                self.begin(errand);
            }
            1 => {
                let (delay, message) = self.said.remove(0);
                self.advance(u64::try_from(delay).unwrap());
                self.say(message);
            }
            2 => return self.late_news(),
            _ => self.work(),
        }
        true
    }

    fn late_news(&mut self) -> bool {
        if self.late.is_empty() {
            return false;
        }
        let at = self.rng.below(self.late.len());
        let (effect_id, completion) = self.late.swap_remove(at);
        self.complete(effect_id, completion);
        true
    }

    fn begin(&mut self, errand: Errand) {
        self.watch.begin(self.now, &errand);
        self.tally.add("tasks");
        if errand.lie.is_some() {
            self.tally.add("tasks with a lying model");
        }
        let message = errand.request.clone();
        self.errands.insert(message.task_id.clone(), errand);
        self.say(message.into());
    }

    pub(super) fn say(&mut self, message: Message) {
        self.act(Choice::Accept(Box::new(Input::Operator { message })));
    }

    fn deliver_one(&mut self, pending: usize) {
        let index = if self.rng.chance(self.weather.reorder) { self.rng.below(pending) } else { 0 };
        let delivery = self.system.bus().waiting().nth(index).unwrap();
        // What comes from or goes to the operator, and the System's own word, is never lost.
        let edge = matches!(delivery.to.role, Role::Operator | Role::Auditor)
            || matches!(delivery.envelope.from.role, Role::Operator | Role::Runtime);
        let choice = if !edge && self.rng.chance(self.weather.drop) {
            self.tally.add("drops");
            Choice::Drop(index)
        } else if delivery.envelope.correlation_id.is_some() && self.rng.chance(self.weather.repeat) {
            self.tally.add("duplicates");
            Choice::Repeat(index)
        } else {
            Choice::Deliver(index)
        };
        self.act(choice);
    }

    pub(super) fn complete(&mut self, effect_id: EffectId, completion: Completion) {
        self.act(Choice::Accept(Box::new(Input::Completed { effect_id, completion })));
    }

    /// Rings the next timer; the clock goes there first, or a little further.
    fn ring(&mut self) -> bool {
        let Some((due, effect_id)) = self.timers.pop_first() else { return false };
        let lateness = if self.weather.hasty > 0 { self.rng.below(LATE_MS) } else { 0 };
        self.advance(due.saturating_sub(self.now.uptime_ms) + u64::try_from(lateness).unwrap());
        self.complete(effect_id, Completion::Timer);
        true
    }

    pub(super) fn advance(&mut self, ms: u64) {
        self.now.uptime_ms += ms;
        self.now.wall = self.now.wall.plus_millis(i64::try_from(ms).unwrap());
    }

    pub(super) fn act(&mut self, choice: Choice) {
        self.watch.before(self.now, &choice, &mut self.system);
        let effects = choice.clone().apply(&mut self.system, self.now);
        self.watch.after(&effects, &self.system);
        for effect in &effects {
            self.take(effect);
        }
        if let Some(record) = &mut self.record {
            record.push(Recorded { now: self.now, choice, effects });
        }
    }
}
