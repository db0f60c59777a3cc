//! The simulated environment of a System: performs its work, answers its questions, and injects faults.

use artoo_bus::TapEvent;
use artoo_proto::{Ending, Message, ModelReply, ModelRequest, Reading, TaskId, ToolOutcome, Usage};

use super::action::Action;
use super::fault_rates::PANICKING;
use super::run::{Job, Run};
use super::scripted_request::ScriptedRequest;
use super::{facts, honest_model, simulated_tools, user};
use artoo_roles::machine::{Completion, Work};
use artoo_roles::system::Effect;

/// Jumps of the wall clock, in milliseconds: two hours back, a second back, a day forward.
const JUMPS_MS: [i64; 3] = [-7_200_000, -1_000, 86_400_000];

impl Run {
    /// Performs one queued piece of work, and completes it, loses its completion, delays it or completes it twice.
    pub(super) fn work(&mut self) {
        let index = if self.rng.chance(self.fault_rates.reorder) { self.rng.below(self.jobs.len()) } else { 0 };
        let job = self.jobs.remove(index);
        let completion = self.perform(&job);
        if self.rng.chance(self.fault_rates.lose) {
            return self.tally.add("completions lost");
        }
        if self.rng.chance(self.fault_rates.delay) {
            return self.late.push((job.effect_id, completion));
        }
        if self.rng.chance(self.fault_rates.echo) {
            self.tally.add("completions repeated");
            self.late.push((job.effect_id, completion.clone()));
        }
        self.complete(job.effect_id, completion);
    }

    /// Performs a piece of work and returns its completion.
    pub(super) fn perform(&mut self, job: &Job) -> Completion {
        let scripted_request = job.task_id.as_ref().and_then(|task| self.scripted_requests.get(task));
        match &job.work {
            Work::Model { request } => {
                let reply = honest_model::reply(&mut self.rng, &self.fault_rates, scripted_request, request);
                self.answer(request, reply)
            }
            Work::Tool { order } => {
                let outcome = simulated_tools::call(&mut self.rng, &self.fault_rates, scripted_request, order);
                if let ToolOutcome::Called { call } = &outcome {
                    self.mangler.evidence.push(call.evidence_id.0.clone());
                }
                Completion::Tool(Box::new(outcome))
            }
            Work::Checks { order } => {
                Completion::Checks(simulated_tools::check(&mut self.rng, &self.fault_rates, order))
            }
            Work::Timer { .. } => Completion::Timer,
            Work::Read { .. } => Completion::Read(Ok(Reading::default())),
            Work::Cover { order } => Completion::Covered(facts::cover(&mut self.rng, scripted_request, &order.calls)),
            Work::Persist { .. } => {
                let full = self.rng.chance(self.fault_rates.unwritten);
                Completion::Persisted(if full { Err("the disk is full".to_owned()) } else { Ok(()) })
            }
        }
    }

    /// Makes a model's reply faulty if the rates say so, and returns it as a completion.
    fn answer(
        &mut self,
        request: &ModelRequest,
        mut reply: Result<artoo_proto::ReplyBody, artoo_proto::ModelFailure>,
    ) -> Completion {
        let ms = self.rng.between(self.fault_rates.model_ms / 10, self.fault_rates.model_ms);
        self.advance(u64::try_from(ms).unwrap());
        if self.rng.chance(self.fault_rates.mangle) {
            self.tally.add("replies mangled");
            reply = self.mangler.mangle(&mut self.rng, request, reply);
            self.invariants.smuggled(&self.mangler.smuggled);
        }
        let usage = Usage { model_calls: 1, prompt_tokens: 100, completion_tokens: 20 };
        Completion::Model(reply.map(|body| ModelReply { body, usage, model: "seeded".to_owned() }))
    }

    /// Injects faults between two actions: panics, cancellations, forged messages, jumps of the clock.
    pub(super) fn trouble(&mut self) {
        if self.rng.chance(self.fault_rates.clock) {
            self.tally.add("clock jumps");
            self.now.wall = self.now.wall.plus_millis(*self.rng.pick(&JUMPS_MS));
        }
        let stuck = self.fault_rates.stuck.filter(|_| self.rng.chance(900));
        let panicking = self.rng.chance(self.fault_rates.panic).then(|| *self.rng.pick(&PANICKING));
        if let Some(role) = stuck.or(panicking)
            && self.system.panic_next.is_none()
        {
            self.act(Action::Panic(role));
        }
        let begun: Vec<TaskId> = self.scripted_requests.keys().cloned().collect();
        if begun.is_empty() {
            return;
        }
        if self.rng.chance(self.fault_rates.cancel) {
            let task = self.rng.pick(&begun).clone();
            self.tally.add("cancels");
            self.say(user::cancel(&task));
        }
        if self.rng.chance(self.fault_rates.forge) {
            let task = self.rng.pick(&begun).clone();
            let message = user::unasked(&mut self.rng, &task);
            self.tally.add("forgeries");
            self.say(message);
        }
    }

    /// Takes an effect of the System: queues work, starts timers, delivers messages to the user.
    pub(super) fn take(&mut self, effect: &Effect) {
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
                    let act = self.scripted_requests.get(&result.task_id).is_some_and(ScriptedRequest::is_act);
                    if act && matches!(result.ending, Ending::Accept { .. }) {
                        self.tally.add("accept: of an act");
                    }
                }
                self.said.extend(user::answers(&mut self.rng, &self.fault_rates, message));
            }
            // Most cancelled work stops; some of it ends all the same and says so.
            Effect::CancelTask { task_id } => {
                let rng = &mut self.rng;
                self.jobs.retain(|job| job.task_id.as_ref() != Some(task_id) || rng.chance(300));
            }
            Effect::Observe { event, .. } => self.count(event),
            Effect::Decided { .. } => {}
        }
    }

    /// Counts an event of the tap in the tally, by its kind.
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
