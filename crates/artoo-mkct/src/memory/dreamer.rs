//! The Dreamer: a thread that deletes faded tags, demotes rules, and has a distiller write new rules.
//!
//! It reads a copy of the engine and applies its changes in small steps, so that queries and writes do not wait.

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

/// Most rules made in one run of the Dreamer: each may be a paid call of a model.
#[doc(alias = "limit")]
const MAX_RULES_PER_DREAM: usize = 8;

/// Time in milliseconds after which a rule that could not be made is tried again: an hour.
const RETRY_AFTER_MS: i64 = 60 * 60 * 1_000;

/// Time in milliseconds between two compactions of the journal: a day.
const COMPACT_EVERY_MS: i64 = 24 * 60 * 60 * 1_000;

/// Time in milliseconds between two checks of the whole journal: a day.
const LOOK_EVERY_MS: i64 = 24 * 60 * 60 * 1_000;

/// Least length in bytes of a journal that is compacted.
const COMPACT_FROM_BYTES: u64 = 4 * 1024 * 1024;

/// The report of one run of the Dreamer.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Dream {
    /// Rules that the run demoted to Knowledge.
    pub demoted: Vec<MegramId>,
    /// Number of tags deleted because their attention had faded.
    pub faded_tags: usize,
    /// Number of records deleted with the faded tags.
    pub faded_megrams: usize,
    /// Why nothing was deleted or demoted; `None` if the sweep ran.
    pub skipped: Option<SweepSkipped>,
    /// Rules that the run made.
    pub promoted: Vec<MegramId>,
    /// Descriptions of the failed attempts to make a rule.
    pub attempts: Vec<String>,
    /// Counts of the journals of other processes that were merged.
    pub adopted: Adopted,
    /// Descriptions of steps that failed on the disk; the next run tries them again.
    pub problems: Vec<String>,
}

/// A message to the Dreamer's thread: a task ended, run now, or stop.
pub(super) enum Command {
    /// A task ended: schedule a run soon.
    TaskEnded,
    /// Run now, and send the report.
    Run(Sender<Dream>),
    /// End the Dreamer's thread.
    Stop,
}

/// When the next run of the Dreamer is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DreamSchedule {
    times: DreamTimes,
    /// When the next run is due, as uptime in milliseconds.
    next_ms: i64,
}

impl DreamSchedule {
    /// A schedule whose first run is due one interval after `now_ms` (uptime in milliseconds).
    pub(super) fn new(times: DreamTimes, now_ms: i64) -> Self {
        Self { times, next_ms: now_ms.saturating_add(millis(times.every)) }
    }

    /// Moves the next run to shortly after the end of a task, unless it is due earlier.
    pub(super) fn task_ended(&mut self, now_ms: i64) {
        self.next_ms = self.next_ms.min(now_ms.saturating_add(millis(self.times.settle)));
    }

    /// Time left until the next run is due; zero if it is overdue.
    pub(super) fn left(&self, now_ms: i64) -> Duration {
        Duration::from_millis(self.next_ms.saturating_sub(now_ms).max(0).unsigned_abs())
    }

    /// Schedules the next run after a run that ended now.
    pub(super) fn ran(&mut self, now_ms: i64) {
        self.next_ms = now_ms.saturating_add(millis(self.times.every));
    }
}

/// A duration in whole milliseconds.
fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

/// The state of the Dreamer's thread.
pub(super) struct Dreamer {
    pub(super) shared: Arc<Shared>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) distiller_runner: Option<DistillerRunner>,
    /// Whether [`Command::TaskEnded`] was sent and not received yet.
    pub(super) task_ended: Arc<AtomicBool>,
    /// Whether the memory is being closed.
    pub(super) stopping: Arc<AtomicBool>,
    /// When the Dreamer runs by itself; `None` for never.
    pub(super) times: Option<DreamTimes>,
    /// How long compaction keeps deleted records in the journal, milliseconds.
    pub(super) keep_deleted_ms: i64,
    /// When making a rule of a kind for a tag last failed, Unix milliseconds.
    pub(super) failed: HashMap<(Tag, RuleKind), i64>,
}

impl Dreamer {
    /// Executes commands and scheduled runs until the memory closes.
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
                    // Many tasks may end in quick succession; a run that is due is not delayed.
                    if !schedule.left(self.clock.now().uptime_ms).is_zero() {
                        continue;
                    }
                    drop(self.dream());
                }
                Ok(Command::Run(answer)) => {
                    // The caller may not wait for the report.
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

    /// Runs once: merges journals of guests, sweeps, makes rules, and maintains the journal.
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

    /// Demotes rules and deletes faded tags: planned on a copy of the engine, applied in small steps.
    fn sweep(&self, now: Clocks, dream: &mut Dream) {
        let by_ms = self.shared.write_gap_ms.load(Ordering::Acquire);
        if by_ms.saturating_abs() > MAX_CLOCK_DISAGREEMENT_MS {
            // By the Dreamer's clock, the records just written may be years old.
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

    /// Makes rules, one after the other; no lock is held while the distiller works.
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
            // The next process finds the same promotion again.
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

    /// Makes the rule of a promotion with a text; returns its id, or a description of the problem.
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

    /// Checks the journal, saves a snapshot, and compacts the journal if due.
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

    /// Changes the engine by `change` and queues the frame of the change, if there is one.
    fn accept(&self, change: impl FnOnce(&mut Engine) -> Option<Frame>) {
        let mut master = self.shared.master();
        if let Some(frame) = change(&mut master) {
            // Changes of the Dreamer are small and free space, so they are never refused.
            self.shared.queue.push(vec![frame.clone()], 0);
            self.shared.publish(&master);
            drop(master);
            self.shared.tell(&[frame]);
        }
    }

    /// Runs a task on the thread that writes the journal, then calls `then` with its result; returns a description of
    /// the problem if the task failed.
    fn writer<T: Send + 'static, E: ToString + Send + 'static>(
        &self,
        task: impl FnOnce(&mut JournalWriter) -> Result<T, E> + Send + 'static,
        then: impl FnOnce(T),
    ) -> Option<String> {
        self.shared.queue.task(task)?.map(then).err().map(|error| error.to_string())
    }
}

/// The tag and the kind of rule of a promotion.
fn tag_of(promotion: &Promotion) -> (Tag, RuleKind) {
    let ticket = &promotion.ticket;
    (ticket.tag().clone(), ticket.kind())
}

/// The records of a promotion's evidence whose texts can be read.
fn evidence(engine: &Engine, promotion: &Promotion) -> Vec<Megram> {
    promotion.evidence.iter().filter_map(|evidence| engine.get(evidence.id).ok().flatten()).collect()
}

/// Splits a large deletion into deletions of at most `MAX_IDS_AT_ONCE` records; other frames are unchanged.
fn in_steps(frame: Frame) -> Vec<Frame> {
    let Frame::Deleted { ids, at_ms, reason } = frame else { return vec![frame] };
    let step = |ids: &[MegramId]| Frame::Deleted { ids: ids.to_vec(), at_ms, reason };
    ids.chunks(MAX_IDS_AT_ONCE).map(step).collect()
}

/// Tests of when the Dreamer runs.
#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::DreamSchedule;
    use crate::memory::DreamTimes;

    #[test]
    fn dreamer_runs_periodically_and_after_tasks() {
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
