//! The dispatcher: assigns ids, releases sequence groups, hands each group the outputs before it.

#[cfg(test)]
mod tests;

use artoo_proto::{
    DispatchManifest, EffectId, ManifestEntry, Message, MissingReason, OutcomeStatus, Plan, PlannedSubtask, SubTask,
    SubTaskId, SubTaskMissing, SubTaskOutcome, escape,
};

use crate::limits::{CONTEXT_OUTPUT_CHARS, SUBTASK_WAIT_MS};
use crate::machine::{Completion, Context, Incoming, Machine, Misrouted, RoleEffect, Work};
use crate::prompt::Fenced;

/// What the dispatcher may be told.
#[derive(Debug)]
pub enum Input {
    /// A validated plan.
    Planned(Plan),
    /// One subtask's end.
    Outcome(SubTaskOutcome),
    /// A timer rang.
    Rang(EffectId),
    /// The task is over.
    Abort,
}

/// What the dispatcher may do.
#[derive(Debug)]
pub enum Effect {
    /// Tell R4b and R7 what is under way.
    Manifest(DispatchManifest),
    /// Send a subtask to its executor and validator.
    Dispatch(SubTask),
    /// A subtask will not report.
    Missing(SubTaskMissing),
    /// Wait for a subtask.
    Wait(EffectId, Work),
}

#[derive(Debug)]
struct Entry {
    id: SubTaskId,
    planned: PlannedSubtask,
    state: EntryState,
}

#[derive(Debug, PartialEq)]
enum EntryState {
    Waiting,
    Running(EffectId),
    Matched(String),
    Failed,
}

/// The dispatcher of one task.
#[derive(Debug, Default)]
pub struct Dispatcher {
    plan: Option<Plan>,
    entries: Vec<Entry>,
    over: bool,
}

impl Dispatcher {
    /// A dispatcher with nothing to do.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn dispatch(&mut self, cx: &mut Context<'_>, plan: Plan) -> Vec<Effect> {
        if self.plan.as_ref().is_some_and(|current| current.round >= plan.round) {
            return Vec::new();
        }
        let mut planned = plan.subtasks.clone();
        planned.sort_by_key(|subtask| subtask.sequence);
        self.entries = planned
            .into_iter()
            .map(|planned| Entry { id: SubTaskId(cx.ids.next_uuid()), planned, state: EntryState::Waiting })
            .collect();
        let subtasks = self.entries.iter().map(manifest_entry).collect();
        let manifest = DispatchManifest {
            task_id: plan.task_id.clone(),
            round: plan.round,
            subtasks,
            task_criteria: plan.task_criteria.clone(),
            assumptions: plan.assumptions.clone(),
            dispatched_at: cx.now.wall,
        };
        self.plan = Some(plan);
        let mut effects = vec![Effect::Manifest(manifest)];
        effects.extend(self.advance(cx));
        effects
    }

    /// Starts the first group that has not run, once everything before it matched.
    fn advance(&mut self, cx: &mut Context<'_>) -> Vec<Effect> {
        let Some(plan) = &self.plan else { return Vec::new() };
        if self.entries.iter().any(|entry| matches!(entry.state, EntryState::Running(_))) {
            return Vec::new();
        }
        let (task_id, round) = (plan.task_id.clone(), plan.round);
        if self.entries.iter().any(|entry| entry.state == EntryState::Failed) {
            let waiting = self.entries.iter_mut().filter(|entry| entry.state == EntryState::Waiting);
            return waiting
                .map(|entry| {
                    entry.state = EntryState::Failed;
                    Effect::Missing(SubTaskMissing {
                        parent_task_id: task_id.clone(),
                        subtask_id: entry.id,
                        round,
                        reason: MissingReason::EarlierGroupFailed,
                    })
                })
                .collect();
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
            effects.push(Effect::Wait(timer, Work::Timer { after_ms: SUBTASK_WAIT_MS }));
        }
        effects
    }

    /// Outputs of the groups before, in sequence order: the next group's context.
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

    fn outcome(&mut self, cx: &mut Context<'_>, outcome: SubTaskOutcome) -> Vec<Effect> {
        let current = self.plan.as_ref().is_some_and(|plan| plan.round == outcome.round);
        let running =
            |entry: &&mut Entry| entry.id == outcome.subtask_id && matches!(entry.state, EntryState::Running(_));
        let Some(entry) = self.entries.iter_mut().find(running).filter(|_| current) else { return Vec::new() };
        entry.state = match outcome.status {
            OutcomeStatus::Matched => EntryState::Matched(outcome.output),
            OutcomeStatus::Failed => EntryState::Failed,
        };
        self.advance(cx)
    }

    fn rang(&mut self, cx: &mut Context<'_>, timer: EffectId) -> Vec<Effect> {
        let late = |entry: &&mut Entry| entry.state == EntryState::Running(timer);
        let (Some(plan), Some(entry)) = (&self.plan, self.entries.iter_mut().find(late)) else { return Vec::new() };
        entry.state = EntryState::Failed;
        let missing = SubTaskMissing {
            parent_task_id: plan.task_id.clone(),
            subtask_id: entry.id,
            round: plan.round,
            reason: MissingReason::NoReport,
        };
        let mut effects = vec![Effect::Missing(missing)];
        effects.extend(self.advance(cx));
        effects
    }
}

fn manifest_entry(entry: &Entry) -> ManifestEntry {
    ManifestEntry {
        subtask_id: entry.id,
        intent: entry.planned.intent.clone(),
        sequence: entry.planned.sequence,
        tools: entry.planned.tools.clone(),
        success_criteria: entry.planned.success_criteria.clone(),
        recipe: entry.planned.recipe.is_some(),
    }
}

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

impl Machine for Dispatcher {
    type Input = Input;
    type Effect = Effect;

    fn step(&mut self, cx: &mut Context<'_>, input: Input) -> Vec<Effect> {
        if self.over {
            return Vec::new();
        }
        match input {
            Input::Planned(plan) => self.dispatch(cx, plan),
            Input::Outcome(outcome) => self.outcome(cx, outcome),
            Input::Rang(timer) => self.rang(cx, timer),
            Input::Abort => {
                self.over = true;
                Vec::new()
            }
        }
    }
}

impl TryFrom<Incoming> for Input {
    type Error = Misrouted;

    #[expect(clippy::wildcard_enum_match_arm, reason = "narrowing: everything else is misrouted")]
    fn try_from(incoming: Incoming) -> Result<Self, Misrouted> {
        match incoming {
            Incoming::Message(envelope) => match &envelope.message {
                Message::Plan(plan) => Ok(Self::Planned(plan.clone())),
                Message::SubTaskOutcome(outcome) => Ok(Self::Outcome(outcome.clone())),
                Message::Abort(_) => Ok(Self::Abort),
                _ => Err(Misrouted::message(&envelope)),
            },
            Incoming::Completed(id, Completion::Timer) => Ok(Self::Rang(id)),
            Incoming::Completed(_, other) => Err(Misrouted::completion(&other)),
        }
    }
}

impl From<Effect> for RoleEffect {
    fn from(effect: Effect) -> Self {
        match effect {
            Effect::Manifest(manifest) => Self::Publish(manifest.into()),
            Effect::Dispatch(subtask) => Self::Publish(subtask.into()),
            Effect::Missing(missing) => Self::Publish(missing.into()),
            Effect::Wait(id, work) => Self::Perform(id, work),
        }
    }
}
