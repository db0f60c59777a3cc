//! The scheduler: one seeded run of one System, from the first request to the silence after the last result.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use artoo_bus::TapEvent;
use artoo_proto::{
    EffectId, Message, ModelReply, ModelRequest, Now, Role, TaskId, Timestamp, ToolOutcome, Usage,
};

use super::choice::{Choice, Recorded, replay};
use super::errand::Errand;
use super::mangle::Mangler;
use super::rng::Rng;
use super::tally::Tally;
use super::watch::Watch;
use super::weather::Weather;
use super::{hands, mind, person};
use crate::machine::{Completion, Work};
use crate::memory::Memory;
use crate::system::{Effect, Input, System, SystemConfig, testing};

/// Turns of trouble; after them the run may only come to its end.
const TROUBLED_TURNS: usize = 1_200;
/// Turns after which a run counts as endless. The longest honest ones need about a tenth.
const TURNS_MAX: usize = 30_000;
/// Wall-clock jumps, in milliseconds: two hours back, a second back, a day on.
const JUMPS_MS: [i64; 3] = [-7_200_000, -1_000, 86_400_000];

struct Job {
    effect_id: EffectId,
    task_id: Option<TaskId>,
    work: Work,
}

pub(super) struct Run {
    seed: u64,
    rng: Rng,
    weather: Weather,
    config: SystemConfig,
    system: System,
    now: Now,
    to_begin: VecDeque<Errand>,
    errands: BTreeMap<TaskId, Errand>,
    jobs: Vec<Job>,
    /// Work that is done and whose end nobody was told yet.
    late: Vec<(EffectId, Completion)>,
    timers: BTreeSet<(u64, EffectId)>,
    said: Vec<(usize, Message)>,
    mangler: Mangler,
    watch: Watch,
    tally: Tally,
    record: Option<Vec<Recorded>>,
}

fn memory(weather: &Weather) -> Memory {
    if weather.no_memory { Memory::unavailable() } else { Memory::new(artoo_mkct::Engine::new()) }
}

impl Run {
    fn new(seed: u64, recorded: bool) -> Self {
        let mut rng = Rng::new(seed);
        let weather = Weather::draw(&mut rng);
        let config = SystemConfig { tools: weather.tools.clone(), ..testing::config(u128::from(seed)) };
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
            watch: Watch::new(seed),
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
        self.watch.begin(&errand);
        self.tally.add("tasks");
        if errand.lie.is_some() {
            self.tally.add("tasks with a lying model");
        }
        let message = errand.request.clone();
        self.errands.insert(message.task_id.clone(), errand);
        self.say(message.into());
    }

    fn say(&mut self, message: Message) {
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
        } else if self.rng.chance(self.weather.repeat) {
            self.tally.add("duplicates");
            Choice::Repeat(index)
        } else {
            Choice::Deliver(index)
        };
        self.act(choice);
    }

    fn work(&mut self) {
        let index = if self.rng.chance(self.weather.reorder) { self.rng.below(self.jobs.len()) } else { 0 };
        let job = self.jobs.remove(index);
        let completion = self.perform(&job);
        if self.rng.chance(self.weather.lose) {
            return self.tally.add("completions lost");
        }
        if self.rng.chance(self.weather.delay) {
            return self.late.push((job.effect_id, completion));
        }
        if self.rng.chance(self.weather.echo) {
            self.tally.add("completions repeated");
            self.late.push((job.effect_id, completion.clone()));
        }
        self.complete(job.effect_id, completion);
    }

    fn complete(&mut self, effect_id: EffectId, completion: Completion) {
        self.act(Choice::Accept(Box::new(Input::Completed { effect_id, completion })));
    }

    fn perform(&mut self, job: &Job) -> Completion {
        let errand = job.task_id.as_ref().and_then(|task| self.errands.get(task));
        match &job.work {
            Work::Model { request } => {
                let reply = mind::reply(&mut self.rng, &self.weather, errand, request);
                self.answer(request, reply)
            }
            Work::Tool { order } => {
                let outcome = hands::call(&mut self.rng, &self.weather, errand, order);
                if let ToolOutcome::Called { call } = &outcome {
                    self.mangler.evidence.push(call.evidence_id.0.clone());
                }
                Completion::Tool(Box::new(outcome))
            }
            Work::Checks { order } => Completion::Checks(hands::check(&mut self.rng, &self.weather, order)),
            Work::Timer { .. } => Completion::Timer,
            Work::Persist { .. } => {
                let full = self.rng.chance(self.weather.unwritten);
                Completion::Persisted(if full { Err("the disk is full".to_owned()) } else { Ok(()) })
            }
        }
    }

    fn answer(
        &mut self,
        request: &ModelRequest,
        mut reply: Result<artoo_proto::ReplyBody, artoo_proto::ModelFailure>,
    ) -> Completion {
        let ms = self.rng.between(self.weather.model_ms / 10, self.weather.model_ms);
        self.advance(u64::try_from(ms).unwrap());
        if self.rng.chance(self.weather.mangle) {
            self.tally.add("replies mangled");
            reply = self.mangler.mangle(&mut self.rng, request, reply);
            self.watch.smuggled(&self.mangler.smuggled);
        }
        let usage = Usage { model_calls: 1, prompt_tokens: 100, completion_tokens: 20 };
        Completion::Model(reply.map(|body| ModelReply { body, usage, model: "seeded".to_owned() }))
    }

    /// Rings the next timer; the clock goes there first, or a little further.
    fn ring(&mut self) -> bool {
        let Some((due, effect_id)) = self.timers.pop_first() else { return false };
        let lateness = if self.weather.hasty > 0 { self.rng.below(5_000) } else { 0 };
        self.advance(due.saturating_sub(self.now.uptime_ms) + u64::try_from(lateness).unwrap());
        self.complete(effect_id, Completion::Timer);
        true
    }

    fn advance(&mut self, ms: u64) {
        self.now.uptime_ms += ms;
        self.now.wall = self.now.wall.plus_millis(i64::try_from(ms).unwrap());
    }

    /// What nobody asked for: panics, cancels, forgeries, jumps of the clock.
    fn trouble(&mut self) {
        if self.rng.chance(self.weather.clock) {
            self.tally.add("clock jumps");
            self.now.wall = self.now.wall.plus_millis(*self.rng.pick(&JUMPS_MS));
        }
        if self.rng.chance(self.weather.panic) {
            let roles = [
                Role::Perceiver,
                Role::Planner,
                Role::Dispatcher,
                Role::Executor,
                Role::AgentValidator,
                Role::MetaValidator,
                Role::Solver,
                Role::Memory,
            ];
            let role = *self.rng.pick(&roles);
            self.act(Choice::Panic(role));
        }
        let begun: Vec<TaskId> = self.errands.keys().cloned().collect();
        if begun.is_empty() {
            return;
        }
        if self.rng.chance(self.weather.cancel) {
            let task = self.rng.pick(&begun).clone();
            self.tally.add("cancels");
            self.say(person::cancel(&task));
        }
        if self.rng.chance(self.weather.forge) {
            let task = self.rng.pick(&begun).clone();
            let message = person::unasked(&mut self.rng, &task);
            self.tally.add("forgeries");
            self.say(message);
        }
    }

    fn act(&mut self, choice: Choice) {
        self.watch.before(&choice, &mut self.system);
        let effects = choice.clone().apply(&mut self.system, self.now);
        self.watch.after(&effects, &self.system);
        for effect in &effects {
            self.take(effect);
        }
        if let Some(record) = &mut self.record {
            record.push(Recorded { now: self.now, choice, effects });
        }
    }

    fn take(&mut self, effect: &Effect) {
        match effect {
            Effect::Perform { effect_id, work: Work::Timer { after_ms }, .. } => {
                self.timers.insert((self.now.uptime_ms.saturating_add(*after_ms), *effect_id));
            }
            Effect::Perform { effect_id, task_id, work } => {
                self.jobs.push(Job { effect_id: *effect_id, task_id: task_id.clone(), work: work.clone() });
            }
            Effect::Deliver { message, .. } => {
                if let Message::FinalResult(result) = message {
                    self.tally.ending(result);
                }
                self.said.extend(person::answers(&mut self.rng, &self.weather, message));
            }
            // Most cancelled work stops; some of it ends all the same and says so.
            Effect::CancelTask { task_id } => {
                let rng = &mut self.rng;
                self.jobs.retain(|job| job.task_id.as_ref() != Some(task_id) || rng.chance(300));
            }
            Effect::Observe { event, .. } => self.count(event),
        }
    }

    fn count(&mut self, event: &TapEvent) {
        match event {
            TapEvent::Message { envelope } => self.tally.add(&format!("message: {}", envelope.message.kind())),
            TapEvent::Panicked { address, .. } => self.tally.add(&format!("panic: {}", address.role)),
            TapEvent::Ignored { .. } => self.tally.add("ignored"),
            TapEvent::Refused { .. } => self.tally.add("refused by the bus"),
            _ => {}
        }
    }
}
