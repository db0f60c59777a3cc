//! The Dreamer: forgets what faded, demotes what lost its trust, has rules made; on a thread of its own.
//!
//! It reads a copy of the engine and hands its frames over in small steps, so that neither a query nor a write waits.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, RecvTimeoutError, Sender},
    },
    time::Duration,
};

use serde::{Deserialize, Serialize};

use crate::{
    clock::{Clock, Clocks, MAX_CLOCK_DISAGREEMENT_MS},
    engine::Engine,
    memory::{
        distil::DistillerRunner,
        options::DreamTimes,
        report::Adopted,
        writer::{JournalWriter, MAX_IDS_AT_ONCE, Shared},
    },
    record::{Frame, Megram, MegramId, RuleKind, Tag},
    rules::{Promotion, SweepSkipped},
};

/// Rules made in one run: each is a call of a model that somebody pays for.
const MAX_RULES_PER_DREAM: usize = 8;

/// Time before a tag whose rule could not be made is tried again: an hour, twelve runs.
const RETRY_AFTER_MS: i64 = 60 * 60 * 1_000;

/// Time between two rewrites of the journal: a day.
const COMPACT_EVERY_MS: i64 = 24 * 60 * 60 * 1_000;

/// Time between two looks at the whole journal, which an opening from a snapshot does not take: a day.
const LOOK_EVERY_MS: i64 = 24 * 60 * 60 * 1_000;

/// Journals smaller than this are not worth a rewrite.
const COMPACT_FROM_BYTES: u64 = 4 * 1024 * 1024;

/// What one run did.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Dream {
    /// Rules that became Knowledge.
    pub demoted: Vec<MegramId>,
    /// Tags deleted.
    pub faded_tags: usize,
    /// Records deleted with them.
    pub faded_megrams: usize,
    /// Why nothing was deleted or demoted.
    pub skipped: Option<SweepSkipped>,
    /// Rules made.
    pub promoted: Vec<MegramId>,
    /// Attempts to make a rule that came to nothing, in words.
    pub attempts: Vec<String>,
    /// Journals of other processes taken in.
    pub adopted: Adopted,
    /// Steps that the disk refused, in words; they are tried again next time.
    pub problems: Vec<String>,
}

/// A message to the Dreamer's thread.
pub(super) enum Command {
    /// A task ended.
    TaskEnded,
    /// Run now, and send a report.
    Run(Sender<Dream>),
    /// End the thread.
    Stop,
}

/// When the next run is due; pure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DreamSchedule {
    times: DreamTimes,
    /// Uptime, milliseconds.
    next_ms: i64,
}

impl DreamSchedule {
    pub(super) fn new(times: DreamTimes, now_ms: i64) -> Self {
        Self { times, next_ms: now_ms.saturating_add(millis(times.every)) }
    }

    /// A task ended: its writes settle first, and another task's end puts it off no further than the timer.
    pub(super) fn task_ended(&mut self, now_ms: i64) {
        self.next_ms = self.next_ms.min(now_ms.saturating_add(millis(self.times.settle)));
    }

    /// Time left until the next run.
    pub(super) fn left(&self, now_ms: i64) -> Duration {
        Duration::from_millis(self.next_ms.saturating_sub(now_ms).max(0).unsigned_abs())
    }

    /// A run is over.
    pub(super) fn ran(&mut self, now_ms: i64) {
        self.next_ms = now_ms.saturating_add(millis(self.times.every));
    }
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

/// The Dreamer of one memory.
pub(super) struct Dreamer {
    pub(super) shared: Arc<Shared>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) distiller_runner: Option<DistillerRunner>,
    /// Cleared when a call about it is heard.
    pub(super) task_ended: Arc<AtomicBool>,
    /// The memory is being closed.
    pub(super) stopping: Arc<AtomicBool>,
    pub(super) times: Option<DreamTimes>,
    pub(super) keep_deleted_ms: i64,
    /// When a rule for a tag could last not be made.
    pub(super) failed: HashMap<(Tag, RuleKind), i64>,
}

impl Dreamer {
    pub(super) fn run(mut self, commands: &Receiver<Command>) {
        let mut schedule = self.times.map(|times| DreamSchedule::new(times, self.clock.now().uptime_ms));
        while !self.stopping.load(Ordering::Acquire) {
            let command = match &schedule {
                None => commands.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(schedule) => commands.recv_timeout(schedule.left(self.clock.now().uptime_ms)),
            };
            match command {
                Ok(Command::TaskEnded) => {
                    self.task_ended.store(false, Ordering::Release);
                    let Some(schedule) = &mut schedule else { continue };
                    schedule.task_ended(self.clock.now().uptime_ms);
                    // However many tasks end: what is due is due.
                    if !schedule.left(self.clock.now().uptime_ms).is_zero() {
                        continue;
                    }
                    drop(self.dream());
                }
                Ok(Command::Run(answer)) => {
                    // Whoever asked may not wait for the answer.
                    let _ = answer.send(self.dream());
                }
                Err(RecvTimeoutError::Timeout) => drop(self.dream()),
                Ok(Command::Stop) | Err(RecvTimeoutError::Disconnected) => return,
            }
            if let Some(schedule) = &mut schedule {
                schedule.ran(self.clock.now().uptime_ms);
            }
        }
    }

    fn dream(&mut self) -> Dream {
        let mut dream = Dream::default();
        let now = self.clock.now();
        let problem = self.writer(JournalWriter::adopt_inbox, |taken| dream.adopted = taken);
        dream.problems.extend(problem);
        self.sweep(now, &mut dream);
        self.promote(now.wall_ms, &mut dream);
        self.maintain(now.wall_ms, &mut dream);
        dream
    }

    /// Downward: demotions and deletions, planned on a copy and applied in small steps.
    fn sweep(&self, now: Clocks, dream: &mut Dream) {
        let by_ms = self.shared.write_gap_ms.load(Ordering::Acquire);
        if by_ms.saturating_abs() > MAX_CLOCK_DISAGREEMENT_MS {
            // By this clock their records may be years old.
            dream.skipped = Some(SweepSkipped::WritesOffClock { by_ms });
            return;
        }
        let report = self.shared.engine().plan_sweep(now);
        dream.skipped = report.skipped;
        dream.demoted = report.demoted;
        (dream.faded_tags, dream.faded_megrams) = (report.faded_tags, report.faded_megrams);
        for frame in report.frames.into_iter().flat_map(in_steps) {
            self.accept(|engine| engine.apply(&frame).ok().map(|()| frame));
        }
        if dream.skipped.is_none() {
            self.shared.master().note_sweep(now);
        }
    }

    /// Upward: one rule after the other, each worded outside every lock.
    fn promote(&mut self, now_ms: i64, dream: &mut Dream) {
        let engine = self.shared.engine();
        self.failed.retain(|_, at_ms| now_ms.saturating_sub(*at_ms) < RETRY_AFTER_MS);
        let untried = |promotion: &Promotion| !self.failed.contains_key(&tag_of(promotion));
        let promotions: Vec<Promotion> =
            engine.promotions(now_ms).into_iter().filter(untried).take(MAX_RULES_PER_DREAM).collect();
        for promotion in promotions {
            let Some(distiller_runner) =
                self.distiller_runner.as_ref().filter(|distiller_runner| distiller_runner.is_free())
            else {
                return;
            };
            let evidence = evidence(&engine, &promotion);
            // An open promotion stays what it is: the next process finds it in the journal.
            let Some(worded) = distiller_runner.ask(promotion.clone(), evidence) else { return };
            let made = worded.and_then(|text| self.make(&promotion, &text, now_ms));
            match made {
                Ok(id) => dream.promoted.push(id),
                Err(problem) => {
                    let (tag, rule_kind) = tag_of(&promotion);
                    self.failed.insert((tag.clone(), rule_kind), now_ms);
                    dream.attempts.push(problem.clone());
                    let Tag { space, entity } = tag;
                    let attempt = Frame::Attempted { space, entity, rule_kind, at_ms: now_ms, problem };
                    self.accept(|engine| engine.apply(&attempt).ok().map(|()| attempt));
                }
            }
        }
    }

    fn make(&self, promotion: &Promotion, text: &str, now_ms: i64) -> Result<MegramId, String> {
        let mut result = Err("no rule".to_owned());
        self.accept(|engine| match engine.promote(&promotion.ticket, text, now_ms) {
            Ok(frame) => {
                if let Frame::Promoted { rule, .. } = &frame {
                    result = Ok(rule.id);
                }
                Some(frame)
            }
            Err(error) => {
                result = Err(error.to_string());
                None
            }
        });
        result
    }

    fn maintain(&self, now_ms: i64, dream: &mut Dream) {
        let keep_from_ms = now_ms.saturating_sub(self.keep_deleted_ms);
        let problem = self.writer(
            move |writer| {
                writer.look_over(now_ms, LOOK_EVERY_MS)?;
                let saved = writer.save_snapshot_if_worth().map(drop).map_err(|error| error.to_string());
                let last = *writer.last_compaction_ms.get_or_insert(now_ms);
                let due = now_ms.saturating_sub(last) >= COMPACT_EVERY_MS && !writer.role.is_guest();
                if due && writer.journal.end().0 >= COMPACT_FROM_BYTES {
                    writer.last_compaction_ms = Some(now_ms);
                    writer.compact(keep_from_ms).map_err(|error| error.to_string())?;
                }
                saved
            },
            |()| (),
        );
        dream.problems.extend(problem);
    }

    /// Changes the engine and queues the frame that says so.
    fn accept(&self, change: impl FnOnce(&mut Engine) -> Option<Frame>) {
        let mut master = self.shared.master();
        if let Some(frame) = change(&mut master) {
            // What the Dreamer does is small, and never refused: it makes room.
            self.shared.queue.push(vec![frame], 0);
            self.shared.publish(&master);
        }
    }

    /// Has the journal's thread do something, and waits for it; the problem where it failed.
    fn writer<T: Send + 'static, E: ToString + Send + 'static>(
        &self,
        task: impl FnOnce(&mut JournalWriter) -> Result<T, E> + Send + 'static,
        then: impl FnOnce(T),
    ) -> Option<String> {
        self.shared.queue.task(task)?.map(then).err().map(|error| error.to_string())
    }
}

fn tag_of(promotion: &Promotion) -> (Tag, RuleKind) {
    let ticket = &promotion.ticket;
    (ticket.tag().clone(), ticket.kind())
}

/// The records behind a promotion, as far as they can be read.
fn evidence(engine: &Engine, promotion: &Promotion) -> Vec<Megram> {
    promotion.evidence.iter().filter_map(|evidence| engine.get(evidence.id).ok().flatten()).collect()
}

/// A deletion of many records as several of few.
fn in_steps(frame: Frame) -> Vec<Frame> {
    match frame {
        Frame::Deleted { ids, at_ms, reason } => {
            let step = |ids: &[MegramId]| Frame::Deleted { ids: ids.to_vec(), at_ms, reason };
            ids.chunks(MAX_IDS_AT_ONCE).map(step).collect()
        }
        frame @ (Frame::Written { .. }
        | Frame::Promoted { .. }
        | Frame::Recalled { .. }
        | Frame::Demoted { .. }
        | Frame::Marked { .. }
        | Frame::Attempted { .. }) => vec![frame],
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::DreamSchedule;
    use crate::memory::DreamTimes;

    #[test]
    fn it_runs_every_five_minutes_and_ten_seconds_after_a_task_however_many_end() {
        let mut schedule = DreamSchedule::new(DreamTimes::default(), 0);
        assert_eq!(schedule.left(0), Duration::from_secs(300));
        schedule.task_ended(20_000);
        assert_eq!(schedule.left(20_000), Duration::from_secs(10));
        for ended_ms in (20_000..30_000).step_by(100) {
            schedule.task_ended(ended_ms);
        }
        assert_eq!(schedule.left(30_000), Duration::ZERO, "a task that ends does not put off another's");
        schedule.ran(30_500);
        assert_eq!(schedule.left(30_500), Duration::from_secs(300));
        schedule.task_ended(330_400);
        assert_eq!(schedule.left(330_500), Duration::ZERO, "nor the timer");
        assert_eq!(schedule.left(i64::MAX), Duration::ZERO);
    }
}
