//! What a run does outside its System: the work that was asked for, the answers, and the trouble nobody asked for.

use artoo_bus::TapEvent;
use artoo_proto::{Coverage, Ending, Message, ModelReply, ModelRequest, Reading, TaskId, ToolOutcome, Usage};

use super::choice::Choice;
use super::run::{Job, Run};
use super::weather::PANICKING;
use super::{hands, mind, person};
use artoo_roles::machine::{Completion, Work};
use artoo_roles::system::Effect;

/// Wall-clock jumps, in milliseconds: two hours back, a second back, a day on.
const JUMPS_MS: [i64; 3] = [-7_200_000, -1_000, 86_400_000];

impl Run {
    pub(super) fn work(&mut self) {
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

    pub(super) fn perform(&mut self, job: &Job) -> Completion {
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
            Work::Read { .. } => Completion::Read(Ok(Reading::default())),
            Work::Cover { .. } => Completion::Covered(Coverage::default()),
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

    /// What nobody asked for: panics, cancels, forgeries, jumps of the clock.
    pub(super) fn trouble(&mut self) {
        if self.rng.chance(self.weather.clock) {
            self.tally.add("clock jumps");
            self.now.wall = self.now.wall.plus_millis(*self.rng.pick(&JUMPS_MS));
        }
        let stuck = self.weather.stuck.filter(|_| self.rng.chance(900));
        let panicking = self.rng.chance(self.weather.panic).then(|| *self.rng.pick(&PANICKING));
        if let Some(role) = stuck.or(panicking)
            && self.system.panic_next.is_none()
        {
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
                    let asked = self.errands.get(&result.task_id).map(|errand| errand.request.raw_input.as_str());
                    let act = asked.is_some_and(artoo_roles::grounding::asks_for_change);
                    if act && matches!(result.ending, Ending::Accept { .. }) {
                        self.tally.add("accept: of an act");
                    }
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
