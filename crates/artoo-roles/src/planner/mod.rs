//! R2, the Planner: asks memory for advice, asks a model for a plan, and publishes only a valid plan.

#[cfg(test)]
#[cfg(feature = "runtime")]
mod agreement;
mod calibration;
mod draft;
mod ending;
mod prompt;
#[cfg(test)]
mod tests;
mod validator;
mod wording;

use std::sync::Arc;

use artoo_proto::{
    Abstention, EffectId, Environment, MemoryQuery, MemoryRecall, ModelFailure, ModelReply, ModelRequest, ModelWords,
    Plan, PlanContext, PlanDirective, PlanDraft, PlanRejected, ProposedReading, RecipePlan, Role, RoleContext,
    TaskSpec, ToolSpec, Wording, WordingRequest,
};
use serde::Deserialize;

use crate::ask::{Answer, Ask, Reply};
use crate::limits::{PLAN_DRAFTS_MAX, RECALL_WAIT_MS, REPLY_READINGS, REPLY_TOKENS};
use crate::machine::{Completion, Context, Machine, ReadOrder, Start, adapters};
use crate::memory;
use calibration::Advised;
use validator::{PlanRules, Problem, Signature};

/// An input of R2 (the Planner): a task, a directive, memory's answer, a model's reply, a timer, a reading, a request
/// for an ending text, or the abort.
#[derive(Debug)]
pub enum Input {
    /// The task to plan.
    Task(TaskSpec),
    /// R7 (the Solver) asks for a new plan and says what must change.
    Directed(PlanDirective),
    /// Memory's answer to a query.
    Recalled(MemoryRecall),
    /// The reply of the model, or why there is none, with the id of the effect.
    Replied(EffectId, Result<ModelReply, ModelFailure>),
    /// The timer that limits the wait for memory fired.
    TimerFired(EffectId),
    /// Code has looked at the proposed readings, with the id of the effect and whether they can count.
    Looked(EffectId, bool),
    /// R7 (the Solver) asks for words for the end of an abandoned task.
    Word(WordingRequest),
    /// The task has ended; nothing more is done for it.
    Abort,
}

/// An effect of R2 (the Planner): a memory query, a plan, a rejection, an ending text, a model call, a timer or a
/// reading. None runs a tool, judges an output or writes to memory.
#[derive(Debug)]
pub enum Effect {
    /// Asks memory what it knows about the intent.
    Query(MemoryQuery),
    /// Publishes a validated plan.
    Planned(Plan),
    /// Reports that no acceptable plan was found.
    Rejected(PlanRejected),
    /// Publishes a model's words for the end of an abandoned task.
    Worded(Wording),
    /// Asks the model for a plan, or for words.
    AskModel(EffectId, Arc<ModelRequest>),
    /// Starts a timer of this many milliseconds.
    Wait(EffectId, u64),
    /// Has code look at the readings that the model proposed for the parts of the request that code can't read.
    Read(EffectId, ReadOrder),
}

/// What R2 waits for: memory's answer, a model's plan, checked readings, or an ending text; or it is done.
#[derive(Debug, Default)]
enum Phase {
    /// Memory's answer, at most until the timer with this id fires.
    Recalling(EffectId),
    /// The model's reply.
    Asking(Ask<Proposal>),
    /// That code has looked at the proposed readings; then this plan is published.
    Proposing(EffectId, Plan),
    /// A model's words for the end of the task.
    Wording(Ask<ending::Draft>),
    /// A request for a new plan, if there is one.
    #[default]
    Done,
}

/// A proposed plan: a model's draft, or recipes of the embedded parser.
#[derive(Debug, Deserialize)]
#[serde(from = "PlanDraft")]
enum Proposal {
    /// From a model.
    Draft(PlanDraft),
    /// From the embedded parser.
    Recipes(RecipePlan),
}

impl From<PlanDraft> for Proposal {
    fn from(draft: PlanDraft) -> Self {
        Self::Draft(draft)
    }
}

impl Reply for Proposal {
    fn from_recipes(recipes: RecipePlan) -> Option<Self> {
        Some(Self::Recipes(recipes))
    }
}

/// A drafted plan that is not validated yet, with the parts of the request that its subtasks are meant for and the
/// readings it proposes.
#[derive(Debug)]
struct Drafted {
    plan: Plan,
    /// For each subtask, the numbers of the parts that it is meant for.
    meets: Vec<Vec<u32>>,
    /// What the parts that code can't read are said to mean.
    readings: Vec<ProposedReading>,
    /// Whether the user confirmed the readings before, with a skill.
    confirmed: bool,
}

/// What R2 (the Planner) knows about the round it plans: its number, directive, memory's answer, and the problems of
/// earlier drafts.
#[derive(Debug, Default)]
struct Round {
    /// Number of the round, from 0.
    number: u32,
    /// What R7 (the Solver) demands of this plan; `None` in the first round.
    directive: Option<PlanDirective>,
    /// Memory's answer; `None` if it did not arrive in time.
    recall: Option<MemoryRecall>,
    /// Number of drafts that were requested.
    drafts: u32,
    /// What the plan validator found wrong with the drafts so far; shown to the model with the next request.
    problems: Vec<String>,
    /// The best draft to which only memory objects, with its M_decision (memory's decision value, negative for what
    /// failed before). Of several drafts it is the one whose value is nearest to 0.
    avoided: Option<(f64, Drafted)>,
}

/// R2, the Planner: the state machine that makes a plan for each round of one task.
#[derive(Debug)]
pub struct Planner {
    environment: Environment,
    /// All tools of this machine.
    tools: Arc<[ToolSpec]>,
    spec: TaskSpec,
    round: Round,
    /// Signature of the last published plan, until R7 asks for another one.
    issued: Option<Signature>,
    /// Signatures of the plans that failed in this task.
    failed: Vec<Signature>,
    /// Whether the last published plan came from a skill.
    after_skill: bool,
    phase: Phase,
}

impl Planner {
    /// Queries memory before a plan is requested, and starts the timer that limits the wait.
    fn calibrate(&mut self, cx: &mut Context<'_>) -> Vec<Effect> {
        let query = MemoryQuery {
            task_id: self.spec.task_id.clone(),
            round: self.round.number,
            intent: self.spec.intent.clone(),
            tools: self.tools.iter().map(|tool| tool.name.clone()).collect(),
            targets: calibration::named_targets(&self.spec.raw_input, &self.environment),
        };
        let timer = cx.ids.next_effect();
        self.phase = Phase::Recalling(timer);
        vec![Effect::Query(query), Effect::Wait(timer, RECALL_WAIT_MS)]
    }

    /// Asks the model for a plan, with the advice of memory and the problems of earlier drafts.
    fn ask(&mut self, cx: &mut Context<'_>) -> Vec<Effect> {
        let recall = self.round.recall.clone();
        let recall = recall.unwrap_or_else(|| memory::nothing(&self.spec.task_id, self.round.number));
        let context = PlanContext {
            environment: self.environment.clone(),
            tools: self.tools.to_vec(),
            calibration: self.advised().worded(),
            recall,
            directive: self.round.directive.clone(),
            problems: self.round.problems.clone(),
            now: cx.now,
            spec: self.spec.clone(),
        };
        let request = ModelRequest {
            role: Role::Planner,
            task_id: self.spec.task_id.clone(),
            subtask_id: None,
            prompt: prompt::render(&context),
            schema_name: "plan".to_owned(),
            schema: prompt::schema(&self.tools),
            max_tokens: REPLY_TOKENS,
            by_tools: None,
            context: RoleContext::Plan(Box::new(context)),
        };
        self.round.drafts += 1;
        let (ask, id, request) = Ask::start(cx, request);
        self.phase = Phase::Asking(ask);
        vec![Effect::AskModel(id, request)]
    }

    /// Asks the model to write the ending text of an abandoned task.
    fn word(&mut self, cx: &mut Context<'_>, request: WordingRequest) -> Vec<Effect> {
        let request = ModelRequest {
            role: Role::Planner,
            task_id: self.spec.task_id.clone(),
            subtask_id: None,
            prompt: ending::render(&self.spec, &request),
            schema_name: "ending".to_owned(),
            schema: ending::schema(),
            max_tokens: REPLY_TOKENS,
            by_tools: None,
            context: RoleContext::Word(Box::new(request)),
        };
        let (ask, id, request) = Ask::start(cx, request);
        self.phase = Phase::Wording(ask);
        vec![Effect::AskModel(id, request)]
    }

    /// Publishes the ending text that a model wrote for an abandoned task, or that there is none.
    fn worded(&self, words: Option<ModelWords>) -> Vec<Effect> {
        vec![Effect::Worded(Wording { task_id: self.spec.task_id.clone(), words })]
    }

    /// Publishes that no acceptable plan was found for the round, with the problems of all its drafts.
    fn reject(&mut self, model_failure: Option<ModelFailure>, abstention: Option<Abstention>) -> Vec<Effect> {
        vec![Effect::Rejected(PlanRejected {
            task_id: self.spec.task_id.clone(),
            round: self.round.number,
            problems: std::mem::take(&mut self.round.problems),
            model_failure,
            abstention,
        })]
    }

    /// Validates a proposal: publishes it, asks for another draft, or gives up.
    fn consider(&mut self, cx: &mut Context<'_>, proposal: Proposal) -> Vec<Effect> {
        let from_model = matches!(proposal, Proposal::Draft(_));
        let drafted = self.drafted(proposal);
        let is_skill = drafted.plan.is_by_skill();
        let advised = self.advised();
        let rules = PlanRules {
            raw_input: &self.spec.raw_input,
            intent: &self.spec.intent,
            scope: self.spec.constraints.scope.as_deref(),
            reading: &self.spec.reading,
            tools: &self.tools,
            environment: &self.environment,
            directive: self.round.directive.as_ref(),
            advised: &advised,
            failed: &self.failed,
            from_model,
        };
        let problems = rules.problems(&drafted.plan);
        if problems.is_empty() {
            return self.issue(cx, drafted, &advised);
        }
        // Memory may be wrong about all approaches. The plan with its mildest objection is stored, and used if no other
        // draft is valid (decision D4).
        let objections: Option<Vec<f64>> = problems.iter().map(Problem::memorys).collect();
        if let Some(objections) = objections {
            let worst = objections.into_iter().fold(0.0, f64::min);
            if self.round.avoided.as_ref().is_none_or(|(known, _)| worst > *known) {
                self.round.avoided = Some((worst, drafted));
            }
        }
        self.round.problems.extend(problems.iter().map(ToString::to_string));
        // A request that has problems is never answered by a skill, so that a model is asked next.
        if self.round.drafts < PLAN_DRAFTS_MAX && (from_model || is_skill) {
            return self.ask(cx);
        }
        match self.round.avoided.take() {
            Some((_, mut drafted)) => {
                let assumption = "memory advised against this approach; no other was found".to_owned();
                drafted.plan.assumptions.push(assumption);
                self.issue(cx, drafted, &advised.without_prohibitions())
            }
            None => self.reject(None, None),
        }
    }

    /// Publishes a plan, after adding memory's advice and the user's words to its subtasks. In the first round and
    /// after a skill, code first checks the readings that the plan proposes.
    fn issue(&mut self, cx: &mut Context<'_>, drafted: Drafted, advised: &Advised) -> Vec<Effect> {
        let Drafted { mut plan, meets, mut readings, confirmed } = drafted;
        // Where the user can't be asked, a question would deny what Law 1 allows.
        let confirm = self.spec.interactive && advised.is_caution(&validator::approach(&plan));
        if confirm {
            plan.assumptions.push("this approach worked and failed before, so its first change asks".to_owned());
        }
        advised.block(&mut plan);
        for (number, subtask) in plan.subtasks.iter_mut().enumerate() {
            subtask.confirm = confirm;
            advised.add_to_context(subtask);
            draft::add_parts(subtask, meets.get(number).map_or(&[], Vec::as_slice), &self.spec);
        }
        if !meets.is_empty() {
            draft::mark_answers(&mut plan.subtasks, &meets, &self.spec.reading);
        }
        self.issued = Some(Signature::of(&plan));
        let is_unread =
            |reading: &ProposedReading| self.spec.reading.unread().any(|(clause, _)| clause.number == reading.clause);
        readings.retain(is_unread);
        readings.truncate(REPLY_READINGS);
        readings.iter_mut().for_each(|reading| reading.checks.truncate(REPLY_READINGS));
        // After a skill that failed, the model says anew what the request means.
        let may_propose = self.round.number == 0 || self.after_skill;
        self.after_skill = plan.is_by_skill();
        if !may_propose || readings.is_empty() {
            return vec![Effect::Planned(plan)];
        }
        let order = ReadOrder {
            task_id: self.spec.task_id.clone(),
            request: self.spec.raw_input.clone(),
            session: self.spec.session.clone(),
            now: cx.now,
            required: Vec::new(),
            by_required: false,
            proposals: readings,
            confirmed,
        };
        let id = cx.ids.next_effect();
        self.phase = Phase::Proposing(id, plan);
        vec![Effect::Read(id, order)]
    }

    /// Memory's advice for this round; empty if memory did not answer.
    fn advised(&self) -> Advised {
        self.round.recall.as_ref().map(Advised::from_recall).unwrap_or_default()
    }

    /// Converts a proposal to a plan, which is not validated yet.
    fn drafted(&self, proposal: Proposal) -> Drafted {
        let (mut meets, mut confirmed) = (Vec::new(), false);
        let (subtasks, task_criteria, assumptions, readings) = match proposal {
            Proposal::Draft(mut draft) => {
                meets.extend(draft.subtasks.iter_mut().map(|subtask| std::mem::take(&mut subtask.meets)));
                let tools: Vec<String> = draft.subtasks.iter().flat_map(|subtask| subtask.tools.clone()).collect();
                (
                    draft.subtasks.into_iter().map(|subtask| draft::planned(subtask, &self.environment)).collect(),
                    draft::criteria(draft.task_criteria, &tools, &self.environment),
                    Vec::new(),
                    draft.readings,
                )
            }
            Proposal::Recipes(recipes) => {
                confirmed = true;
                (
                    recipes.subtasks.into_iter().map(draft::from_recipe).collect(),
                    recipes.task_criteria,
                    recipes.assumptions,
                    recipes.readings,
                )
            }
        };
        let blocks = self.round.directive.as_ref();
        let plan = Plan {
            task_id: self.spec.task_id.clone(),
            round: self.round.number,
            subtasks,
            task_criteria,
            assumptions,
            blocked_tools: blocks.map(|directive| directive.blocked_tools.clone()).unwrap_or_default(),
            blocked_targets: blocks.map(|directive| directive.blocked_targets.clone()).unwrap_or_default(),
        };
        Drafted { plan, meets, readings, confirmed }
    }
}

impl Start for Planner {
    type Setup = (Environment, Arc<[ToolSpec]>);
    const ABORT: Input = Input::Abort;

    fn start(
        (environment, tools): &Self::Setup,
        cx: &mut Context<'_>,
        first: Input,
    ) -> Result<(Self, Vec<Effect>), Input> {
        let Input::Task(spec) = first else { return Err(first) };
        let mut planner = Self {
            environment: environment.clone(),
            tools: Arc::clone(tools),
            spec,
            round: Round::default(),
            issued: None,
            failed: Vec::new(),
            after_skill: false,
            phase: Phase::Done,
        };
        let effects = planner.calibrate(cx);
        Ok((planner, effects))
    }
}

impl Machine for Planner {
    type Input = Input;
    type Effect = Effect;

    fn step(&mut self, cx: &mut Context<'_>, input: Input) -> Vec<Effect> {
        match (std::mem::take(&mut self.phase), input) {
            (Phase::Done, Input::Directed(directive)) if directive.round == self.round.number + 1 => {
                self.failed.extend(self.issued.take());
                self.round = Round { number: directive.round, directive: Some(directive), ..Round::default() };
                self.calibrate(cx)
            }
            (Phase::Recalling(_), Input::Recalled(recall)) if recall.round == self.round.number => {
                self.round.recall = Some(recall);
                self.ask(cx)
            }
            (Phase::Recalling(timer), Input::TimerFired(id)) if id == timer => self.ask(cx),
            (Phase::Asking(ask), Input::Replied(id, reply)) if ask.awaits(id) => match ask.answer(cx, reply) {
                Answer::Value(proposal) => self.consider(cx, proposal),
                Answer::Again(ask, id, request) => {
                    self.phase = Phase::Asking(ask);
                    vec![Effect::AskModel(id, request)]
                }
                Answer::Abstained(abstention) => self.reject(None, Some(abstention)),
                Answer::Failed(failure) => self.reject(Some(failure), None),
            },
            (Phase::Done, Input::Word(request)) => self.word(cx, request),
            (Phase::Wording(ask), Input::Replied(id, reply)) if ask.awaits(id) => match ask.answer(cx, reply) {
                Answer::Value(draft) => self.worded(draft.words()),
                // One call is all that these words may cost.
                Answer::Again(..) | Answer::Abstained(_) | Answer::Failed(_) => self.worded(None),
            },
            (Phase::Proposing(awaited, plan), Input::Looked(id, counts)) if awaited == id => {
                if counts || !self.after_skill {
                    return vec![Effect::Planned(plan)];
                }
                (self.after_skill, self.issued) = (false, None);
                self.round.problems.push("what a skill would do can't be done now".to_owned());
                self.ask(cx)
            }
            (_, Input::Abort) => Vec::new(),
            // Memory answered before its timer fired.
            (phase, Input::TimerFired(_)) => {
                self.phase = phase;
                Vec::new()
            }
            (
                phase,
                Input::Task(_)
                | Input::Directed(_)
                | Input::Recalled(_)
                | Input::Replied(..)
                | Input::Looked(..)
                | Input::Word(_),
            ) => {
                self.phase = phase;
                cx.ignore()
            }
        }
    }
}

adapters! {
    messages {
        TaskSpec(spec) => Input::Task(spec.clone()),
        PlanDirective(directive) => Input::Directed(directive.clone()),
        MemoryRecall(recall) => Input::Recalled(recall.clone()),
        WordingRequest(request) => Input::Word(request.clone()),
        Abort(_) => Input::Abort,
    }
    completions {
        (id, Completion::Model(reply)) => Input::Replied(id, reply),
        (id, Completion::Timer) => Input::TimerFired(id),
        (id, Completion::Read(reading)) => Input::Looked(id, reading.is_ok()),
    }
    publishes { Query, Planned, Rejected, Worded }
    performs { AskModel, Wait, Read }
}
