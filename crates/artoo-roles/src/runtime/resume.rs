//! Resumes an interrupted task: first determines which effects its System waits for, then performs them again.
#![expect(clippy::wildcard_enum_match_arm, reason = "what is resumed is found among many frames")]

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use artoo_audit::AuditService;
use artoo_bus::Observed;
use artoo_proto::{
    CallStatus, EffectId, FinalResult, Message, Now, Role, TaskId, Timestamp, ToolCall, ToolOrder, ToolOutcome, Usage,
};
use artoo_tools::Registry;
use artoo_tools::undo::{TakenBack, UndoConfig, UndoStore};

use super::driver::Driver;
use super::error::{NotResumable, RuntimeError};
use super::ledgers::Ledgers;
use super::perform::{EffectRunner, crashed};
use super::{TASKS, UNDO};
use crate::limits::APPROVAL_KEPT_MS;
use crate::machine::{Completion, Work};
use crate::memory::Memory;
use crate::record::{Begun, Frame, Record, Records, Replay, prompts_digest, replay};
use crate::system::{Effect, Input, System, SystemConfig};

/// The effects and messages that a resumed System waits for.
pub(super) struct Resumption {
    task_id: TaskId,
    open: Vec<(EffectId, Work, Now)>,
    questions: Vec<Message>,
    writes: Vec<(EffectId, Vec<serde_json::Value>)>,
    /// The result, if the process ended before it was delivered.
    result: Option<FinalResult>,
    /// Ids of calls that acted, or were about to, in a way that the undo journal does not record.
    unrecorded: Vec<artoo_proto::EvidenceId>,
    /// Digests that the user approved, with the times.
    approved: Vec<(artoo_proto::ConsentHash, Timestamp)>,
    undo: UndoStore,
}

/// A System for a runtime, with the records and waiting effects that a resumed task left in an earlier process.
pub(super) struct Rebuilt {
    pub(super) system: System,
    pub(super) resumption: Option<Resumption>,
    /// Model calls and tokens so far.
    pub(super) usage: BTreeMap<Role, Usage>,
    /// The last clock reading, in milliseconds.
    pub(super) uptime_ms: u64,
    /// Events of the bus so far.
    pub(super) events: Vec<Observed>,
}

impl Rebuilt {
    /// A new System without earlier tasks, for a runtime that resumes none.
    fn new(config: SystemConfig, memory: Memory) -> Self {
        Self {
            system: System::new(config, memory),
            resumption: None,
            usage: BTreeMap::new(),
            uptime_ms: 0,
            events: Vec::new(),
        }
    }
}

/// The start conditions of a runtime: a data folder, and for a resumed task its record.
pub(super) struct Resuming<'a> {
    pub(super) record: Option<&'a Record>,
    pub(super) dir: Option<&'a Path>,
    pub(super) ledgers: &'a Ledgers,
    pub(super) tools: &'a Registry,
}

impl Resuming<'_> {
    /// Creates the System (rebuilt if a task is resumed) and the records of its tasks; without a data folder, a new
    /// System and no records.
    pub(super) fn rebuilt(
        &self,
        config: SystemConfig,
        model: &str,
        memory: Memory,
        audit: Option<&AuditService>,
    ) -> Result<(Rebuilt, Option<Arc<Records>>), RuntimeError> {
        let Some(dir) = self.dir else { return Ok((Rebuilt::new(config, memory), None)) };
        let begun = Begun {
            at: SystemTime::now().into(),
            artoo: env!("CARGO_PKG_VERSION").to_owned(),
            prompts: prompts_digest(),
            model: model.to_owned(),
            memory_records: memory.records(),
            config: config.clone(),
        };
        let mut rebuilt = match self.record {
            Some(record) => rebuild(record, &begun, memory, dir, self.ledgers, self.tools)?,
            None => Rebuilt::new(config, memory),
        };
        if let (Some(record), Some(audit)) = (self.record, audit) {
            audit.resumed(record.task_id().clone(), std::mem::take(&mut rebuilt.events))?;
        }
        Ok((rebuilt, Some(records(dir, begun, self.record, self.tools)?)))
    }
}

/// The records of a data folder, and the hook that writes calls to them which the undo journal does not record. With
/// `resume`, that record is continued.
fn records(dir: &Path, begun: Begun, resume: Option<&Record>, tools: &Registry) -> Result<Arc<Records>, RuntimeError> {
    let records = Arc::new(Records::new(dir.join(TASKS), begun));
    if let Some(record) = resume {
        records.resume(record, SystemTime::now().into()).map_err(|source| match source.kind() {
            ErrorKind::WouldBlock => RuntimeError::NotResumable(NotResumable::Running),
            _ => RuntimeError::DataDir { path: record.path.clone(), source },
        })?;
    }
    let told = Arc::clone(&records);
    tools.on_unrecorded(move |task_id, evidence_id| {
        told.append(task_id, &Frame::Unrecorded { evidence_id: evidence_id.clone() });
        told.sync(task_id);
    });
    Ok(records)
}

/// Rebuilds the System of an interrupted task and the runtime's knowledge of it. `begun` has the conditions under which
/// a task would begin now. An error if the task has ended, they differ from the record's, or the replay differs from
/// it.
fn rebuild(
    record: &Record,
    begun: &Begun,
    memory: Memory,
    dir: &Path,
    ledgers: &Ledgers,
    tools: &Registry,
) -> Result<Rebuilt, NotResumable> {
    if record.ended().is_some() || record.result().is_some() {
        return Err(NotResumable::Ended);
    }
    same_conditions(&record.begun, begun)?;
    let replay = replay(record, memory);
    if let Some(difference) = replay.difference {
        return Err(NotResumable::Differs(difference));
    }
    let mut usage = replay.usage;
    // A model call that was cut off is made again, and counts twice; the tokens of the first are not known.
    for (_, work, _) in &replay.open {
        if let Work::Model { request } = work {
            *usage.entry(request.role).or_default() += Usage { model_calls: 1, ..Usage::default() };
        }
    }
    let approved = record.frames.iter().filter_map(|frame| match frame {
        Frame::Input { now, input } => match &**input {
            Input::Operator { message: Message::ConsentAnswer(answer) } if answer.allowed => {
                Some((answer.hash.clone(), now.wall))
            }
            _ => None,
        },
        _ => None,
    });
    let unrecorded = record.frames.iter().filter_map(|frame| match frame {
        Frame::Unrecorded { evidence_id } => Some(evidence_id.clone()),
        _ => None,
    });
    let resumption = Resumption {
        task_id: record.task_id().clone(),
        open: replay.open,
        questions: replay.questions,
        writes: replay.writes,
        result: replay.result,
        unrecorded: unrecorded.collect(),
        approved: approved.collect(),
        undo: UndoStore::open(UndoConfig::new(dir.join(UNDO)), &record.begun.config.environment),
    };
    restore(record, ledgers, tools);
    let resumption = Some(resumption);
    let Replay { system, events, last, .. } = replay;
    Ok(Rebuilt { system, resumption, usage, uptime_ms: last.uptime_ms, events })
}

/// Compares the recorded version of artoo, prompts, model and tools with those of now; an error for the first that
/// differs.
fn same_conditions(was: &Begun, is: &Begun) -> Result<(), NotResumable> {
    let tools = |begun: &Begun| {
        let names: Vec<&str> = begun.config.tools.iter().map(|tool| tool.name.as_str()).collect();
        format!("the tools {}", names.join(", "))
    };
    let prompts = |begun: &Begun| format!("the prompts {}", begun.prompts);
    let pairs = [
        (was.artoo == is.artoo, format!("artoo {}", was.artoo), format!("artoo {}", is.artoo)),
        (was.prompts == is.prompts, prompts(was), prompts(is)),
        (was.model == is.model, format!("the model {}", was.model), format!("the model {}", is.model)),
        (was.config.tools == is.config.tools, tools(was), tools(is)),
    ];
    match pairs.into_iter().find(|(same, ..)| !same) {
        Some((_, was, is)) if was == is => Err(NotResumable::Other { was, is: "others of these names".to_owned() }),
        Some((_, was, is)) => Err(NotResumable::Other { was, is }),
        None => Ok(()),
    }
}

/// Restores the runtime's knowledge of a task: the reading of its request, and the denials.
fn restore(record: &Record, ledgers: &Ledgers, tools: &Registry) {
    let task_id = record.task_id();
    for frame in &record.frames {
        let restored = match frame {
            Frame::Ledger { ledger } => ledgers.restore(task_id, ledger.clone()),
            Frame::Denials { denials } => tools.restore_denials(task_id, denials.clone()),
            _ => Ok(()),
        };
        if let Err(error) = restored {
            tracing::warn!("a part of the record of {task_id} is not used: {error}");
        }
    }
}

impl Driver {
    /// Performs the effects that an interrupted task waited for, asks its open questions again, and delivers its result
    /// if it has one.
    pub(super) fn resume(&mut self, resumption: Resumption) {
        let now = self.now();
        let Resumption { task_id, open, questions, writes, result, unrecorded, approved, undo } = resumption;
        for (effect_id, frames) in writes {
            self.perform(effect_id, None, Work::Persist { frames });
        }
        for (effect_id, work, started) in open {
            let task_id = Some(task_id.clone());
            match work {
                Work::Timer { after_ms } => {
                    let after_ms = started.uptime_ms.saturating_add(after_ms).saturating_sub(now.uptime_ms);
                    self.perform(effect_id, task_id, Work::Timer { after_ms });
                }
                Work::Tool { order } => {
                    let is_unknown = unrecorded.contains(&order.evidence_id);
                    let is_fresh = order.consent.as_ref().is_some_and(|hash| {
                        let answered = approved.iter().rev().find(|(known, _)| known == hash);
                        answered.is_some_and(|(_, at)| now.wall.as_millis() - at.as_millis() <= APPROVAL_KEPT_MS)
                    });
                    let words = self.waiting.get(&order.task_id).map(|waiting| waiting.user_request.clone());
                    let words = words.unwrap_or_default();
                    let on_panic = crashed(&Work::Tool { order: order.clone() }, &words);
                    let again = CallAgain { order: *order, words, is_unknown, is_fresh, undo: undo.clone() };
                    self.spawn(effect_id, task_id, again.call(Arc::clone(&self.runner)), on_panic);
                }
                work => self.perform(effect_id, task_id, work),
            }
        }
        for question in questions {
            self.ask_operator(question);
        }
        if let Some(message) = result.map(Message::FinalResult) {
            if let Some(records) = &self.records {
                records.append(&task_id, &Frame::Said { at: now.wall, message: Box::new(message.clone()) });
            }
            self.enact(Effect::Deliver { to: Role::Operator, message });
        }
    }
}

/// A tool call whose end was not recorded.
struct CallAgain {
    order: ToolOrder,
    /// The user's request, verbatim.
    words: String,
    /// Whether it may have acted in a way that the undo journal does not record.
    is_unknown: bool,
    /// Whether it was approved so recently that it is not asked about again.
    is_fresh: bool,
    undo: UndoStore,
}

impl CallAgain {
    /// Undoes what the call had done, and makes it again; if its outcome can't be known, reports it as uncertain.
    async fn call(self, runner: Arc<EffectRunner>) -> Completion {
        let Self { order, words, is_unknown, is_fresh, undo } = self;
        let uncertain = |why: String| {
            let call = ToolCall::ended(order.request.clone(), order.evidence_id.clone(), CallStatus::Uncertain, why);
            // The output is artoo's own message, not that of the tool.
            Completion::Tool(Box::new(ToolOutcome::Called { call: ToolCall { output_bytes: 0, ..call } }))
        };
        if is_unknown {
            return uncertain(
                "artoo was stopped while this call ran. It could act outside files, so it is not made again, and its \
                 outcome is not known"
                    .to_owned(),
            );
        }
        let (task_id, evidence_id) = (order.task_id.clone(), order.evidence_id.clone());
        let taken = tokio::task::spawn_blocking(move || undo.take_back(&task_id, &evidence_id)).await;
        match taken {
            Ok(Ok(None)) => {}
            Ok(Ok(Some(TakenBack { left, .. }))) if left.is_empty() => {}
            Ok(Ok(Some(TakenBack { was_whole, left, .. }))) => {
                let part = if was_whole { "made all its changes" } else { "made a part of its changes" };
                return uncertain(format!(
                    "artoo was stopped while this call ran. It had {part}; these can't be undone, so it is not made \
                     again: {}",
                    left.join(", ")
                ));
            }
            Ok(Err(error)) => return uncertain(format!("what this call had done can't be looked up: {error}")),
            Err(_) => return uncertain("looking up what this call had done failed inside artoo".to_owned()),
        }
        let mut outcome = None;
        if let Some(hash) = order.consent.as_ref().filter(|_| is_fresh) {
            let grant = runner.tools.grant(hash, order.scope);
            outcome = Some(runner.tools.call(&order, &words, Some(grant)).await);
        }
        let is_denied = |outcome: &ToolOutcome| matches!(outcome, ToolOutcome::Called { call } if call.status == CallStatus::Denied);
        // What is restored can differ from what was approved, in its time for instance; then it is asked about again.
        let outcome = match outcome.filter(|outcome| !is_denied(outcome)) {
            Some(outcome) => outcome,
            None => runner.tools.call(&order, &words, None).await,
        };
        Completion::Tool(Box::new(outcome))
    }
}

#[cfg(test)]
mod tests;
