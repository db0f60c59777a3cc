//! The dispatcher: gives the subtasks of a plan their ids, starts them group by group (a group is the subtasks with the
//! same sequence number), and passes each group the outputs of the earlier ones.

#[cfg(test)]
mod tests;

use artoo_proto::{
    DispatchManifest, EffectId, ManifestEntry, MissingReason, OutcomeStatus, Plan, PlannedSubtask, SubTask, SubTaskId,
    SubTaskMissing, SubTaskOutcome, escape,
};

use crate::limits::{CONTEXT_OUTPUT_CHARS, SUBTASK_WAIT_MS};
use crate::machine::{Completion, Context, Machine, Start, adapters};
use crate::prompt::Fenced;

/// An input of the dispatcher: a plan, the outcome of a subtask, a timer that fired, or the abort.
#[derive(Debug)]
pub enum Input {
    /// A validated plan, whose subtasks are to be started.
    Planned(Plan),
    /// The outcome of one subtask.
    Outcome(SubTaskOutcome),
    /// The timer of a subtask fired: the subtask has reached its time limit.
    TimerFired(EffectId),
    /// The task has ended; nothing more is done for it.
    Abort,
}

/// An effect of the dispatcher: publishing a manifest, a subtask or a missing subtask, or starting a timer.
#[derive(Debug)]
pub enum Effect {
    /// Tells R4b (the Meta-Validator) and R7 (the Solver) which subtasks the round consists of.
    Manifest(DispatchManifest),
    /// Sends a subtask to its executor and its validator.
    Dispatch(SubTask),
    /// Reports that a subtask will have no outcome: an earlier group failed, or its time limit was reached.
    Missing(SubTaskMissing),
    /// Starts the timer of a subtask, in milliseconds.
    Wait(EffectId, u64),
}

/// One subtask of the plan, with its id and its state (waiting, running, matched or failed).
#[derive(Debug)]
struct Entry {
    id: SubTaskId,
    planned: PlannedSubtask,
    state: EntryState,
}

/// State of one subtask: waiting, running, matched with its output, or failed.
#[derive(Debug, PartialEq)]
enum EntryState {
    /// Earlier groups have not ended yet.
    Waiting,
    /// Sent to its executor; the timer with this id limits its time.
    Running(EffectId),
    /// Met its criteria with this output.
    Matched(String),
    /// Failed, or will not report.
    Failed,
}

/// The dispatcher of one task, which starts the plan's subtasks group by group.
#[derive(Debug)]
pub struct Dispatcher {
    plan: Plan,
    /// The subtasks of the plan, by ascending sequence number.
    entries: Vec<Entry>,
    phase: Phase,
}

/// Whether the dispatcher still works on its task, or the task was aborted.
#[derive(Debug)]
enum Phase {
    /// Subtasks are running, or another plan may follow.
    Dispatching,
    /// The task was aborted.
    Over,
}

impl Dispatcher {
    /// Gives the subtasks of a plan their ids, publishes the manifest and starts the first group.
    fn dispatch(&mut self, cx: &mut Context<'_>, plan: Plan) -> Vec<Effect> {
        let mut planned = plan.subtasks.clone();
        planned.sort_by_key(|subtask| subtask.sequence);
        self.entries = planned
            .into_iter()
            .map(|planned| Entry { id: SubTaskId(cx.ids.next_uuid()), planned, state: EntryState::Waiting })
            .collect();
        let manifest = DispatchManifest {
            task_id: plan.task_id.clone(),
            round: plan.round,
            subtasks: self.entries.iter().map(manifest_entry).collect(),
            task_criteria: plan.task_criteria.clone(),
            assumptions: plan.assumptions.clone(),
            dispatched_at: cx.now.wall,
        };
        self.plan = plan;
        let mut effects = vec![Effect::Manifest(manifest)];
        effects.extend(self.advance(cx));
        effects
    }

    /// Starts the next group if no subtask is running and none has failed. After a failure, all waiting subtasks are
    /// reported as missing instead.
    fn advance(&mut self, cx: &mut Context<'_>) -> Vec<Effect> {
        if self.entries.iter().any(|entry| matches!(entry.state, EntryState::Running(_))) {
            return Vec::new();
        }
        let plan = &self.plan;
        if self.entries.iter().any(|entry| entry.state == EntryState::Failed) {
            let waiting = self.entries.iter_mut().filter(|entry| entry.state == EntryState::Waiting);
            return waiting.map(|entry| entry.give_up(plan, MissingReason::EarlierGroupFailed)).collect();
        }
        let Some(sequence) = self.entries.iter().find(|e| e.state == EntryState::Waiting).map(|e| e.planned.sequence)
        else {
            return Vec::new();
        };
        let prior = self.prior_outputs();
        let mut effects = Vec::new();
        for entry in self.entries.iter_mut().filter(|entry| entry.planned.sequence == sequence) {
            let timer = cx.ids.next_effect();
            entry.state = EntryState::Running(timer);
            effects.push(Effect::Dispatch(subtask(entry, plan, &prior)));
            effects.push(Effect::Wait(timer, SUBTASK_WAIT_MS));
        }
        effects
    }

    /// The outputs of the matched subtasks, each shortened, in sequence order; they become context of the next group.
    fn prior_outputs(&self) -> String {
        let matched = self.entries.iter().filter_map(|entry| match &entry.state {
            EntryState::Matched(output) => Some((&entry.planned.intent, output)),
            EntryState::Waiting | EntryState::Running(_) | EntryState::Failed => None,
        });
        let blocks: Vec<String> = matched
            .map(|(intent, output)| {
                let (output, _) = escape::head_tail(output, CONTEXT_OUTPUT_CHARS);
                format!("Output of the earlier step {:?}:\n{}", escape::one_line(intent), Fenced::new(&output).as_str())
            })
            .collect();
        blocks.join("\n")
    }

    /// Notes the outcome of a running subtask of this round and starts the next group if possible; other outcomes are
    /// ignored.
    fn outcome(&mut self, cx: &mut Context<'_>, outcome: SubTaskOutcome) -> Vec<Effect> {
        let is_current = self.plan.round == outcome.round;
        let is_running =
            |entry: &&mut Entry| entry.id == outcome.subtask_id && matches!(entry.state, EntryState::Running(_));
        let Some(entry) = self.entries.iter_mut().find(is_running).filter(|_| is_current) else { return cx.ignore() };
        entry.state = match outcome.status {
            OutcomeStatus::Matched => EntryState::Matched(outcome.output),
            OutcomeStatus::Failed => EntryState::Failed,
        };
        self.advance(cx)
    }

    /// Marks the subtask whose time limit is reached as failed, and reports that it will have no outcome.
    fn timer_fired(&mut self, cx: &mut Context<'_>, timer: EffectId) -> Vec<Effect> {
        let is_late = |entry: &&mut Entry| entry.state == EntryState::Running(timer);
        // If the subtask has reported already, its timer is ignored.
        let Some(entry) = self.entries.iter_mut().find(is_late) else { return Vec::new() };
        let mut effects = vec![entry.give_up(&self.plan, MissingReason::NoReport)];
        effects.extend(self.advance(cx));
        effects
    }
}

impl Entry {
    /// Marks the subtask as failed and reports that it will have no outcome.
    fn give_up(&mut self, plan: &Plan, reason: MissingReason) -> Effect {
        self.state = EntryState::Failed;
        let (parent_task_id, round) = (plan.task_id.clone(), plan.round);
        Effect::Missing(SubTaskMissing { parent_task_id, subtask_id: self.id, round, reason })
    }
}

/// The description of a subtask in the manifest of its round.
fn manifest_entry(entry: &Entry) -> ManifestEntry {
    ManifestEntry {
        subtask_id: entry.id,
        intent: entry.planned.intent.clone(),
        sequence: entry.planned.sequence,
        tools: entry.planned.tools.clone(),
        success_criteria: entry.planned.success_criteria.clone(),
        recipe: entry.planned.recipe.is_some(),
        skill: entry.planned.recipe.as_ref().and_then(|recipe| recipe.skill.clone()),
        answers: entry.planned.answers.clone(),
    }
}

/// The subtask as it is sent to its executor, with the outputs of earlier groups (`prior`) added to its context.
fn subtask(entry: &Entry, plan: &Plan, prior: &str) -> SubTask {
    let planned = entry.planned.clone();
    let parts: Vec<&str> = [planned.context.as_str(), prior].into_iter().filter(|part| !part.is_empty()).collect();
    SubTask {
        subtask_id: entry.id,
        parent_task_id: plan.task_id.clone(),
        round: plan.round,
        intent: planned.intent,
        context: parts.join("\n\n"),
        success_criteria: planned.success_criteria,
        sequence: planned.sequence,
        tools: planned.tools,
        blocked_tools: plan.blocked_tools.clone(),
        blocked_targets: plan.blocked_targets.clone(),
        confirm: planned.confirm,
        recipe: planned.recipe,
    }
}

impl Start for Dispatcher {
    type Setup = ();
    const ABORT: Input = Input::Abort;

    fn start((): &(), cx: &mut Context<'_>, first: Input) -> Result<(Self, Vec<Effect>), Input> {
        let Input::Planned(plan) = first else { return Err(first) };
        let mut dispatcher = Self { plan: plan.clone(), entries: Vec::new(), phase: Phase::Dispatching };
        let effects = dispatcher.dispatch(cx, plan);
        Ok((dispatcher, effects))
    }
}

impl Machine for Dispatcher {
    type Input = Input;
    type Effect = Effect;

    fn step(&mut self, cx: &mut Context<'_>, input: Input) -> Vec<Effect> {
        match (&self.phase, input) {
            (Phase::Dispatching, Input::Planned(plan)) if plan.round > self.plan.round => self.dispatch(cx, plan),
            (Phase::Dispatching, Input::Outcome(outcome)) => self.outcome(cx, outcome),
            (Phase::Dispatching, Input::TimerFired(timer)) => self.timer_fired(cx, timer),
            (_, Input::Abort) => {
                self.phase = Phase::Over;
                Vec::new()
            }
            (_, Input::Planned(_) | Input::Outcome(_) | Input::TimerFired(_)) => cx.ignore(),
        }
    }
}

adapters! {
    messages {
        Plan(plan) => Input::Planned(plan.clone()),
        SubTaskOutcome(outcome) => Input::Outcome(outcome.clone()),
        Abort(_) => Input::Abort,
    }
    completions { (id, Completion::Timer) => Input::TimerFired(id), }
    publishes { Manifest, Dispatch, Missing }
    performs { Wait }
}
