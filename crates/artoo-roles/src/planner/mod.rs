//! R2, the Planner: calibrates against memory, asks for a plan, and lets only a valid one out.

#[cfg(test)]
#[cfg(feature = "runtime")]
mod agreement;
mod calibration;
mod draft;
mod prompt;
#[cfg(test)]
mod tests;
mod validator;
mod wire;
mod wording;

use std::sync::Arc;

use artoo_proto::{
    Abstention, EffectId, Environment, MemoryQuery, MemoryRecall, ModelFailure, ModelReply, ModelRequest, Plan,
    PlanContext, PlanDirective, PlanDraft, PlanRejected, PlannedSubtask, RecipePlan, Role, RoleContext, TaskSpec,
    ToolSpec,
};

use crate::ask::{Answer, Ask};
use crate::limits::{PLAN_DRAFTS_MAX, RECALL_WAIT_MS, REPLY_TOKENS};
use crate::machine::{Context, Machine, Work};
use calibration::Advised;
use validator::{PlanRules, Problem, Signature};

/// What R2 may be told.
#[derive(Debug)]
pub enum Input {
    /// The task.
    Task(TaskSpec),
    /// What must change.
    Directed(PlanDirective),
    /// What memory knows.
    Recalled(MemoryRecall),
    /// The model's reply.
    Replied(EffectId, Result<ModelReply, ModelFailure>),
    /// A timer rang.
    Rang(EffectId),
    /// The task is over.
    Abort,
}

/// What R2 may do. It has no way to run a tool, judge an output or write to memory.
#[derive(Debug)]
pub enum Effect {
    /// Ask memory.
    Query(MemoryQuery),
    /// A validated plan.
    Planned(Plan),
    /// No acceptable plan.
    Rejected(PlanRejected),
    /// Ask the model, or wait.
    Perform(EffectId, Work),
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Idle,
    Recalling(EffectId),
    Asking(Ask<PlanDraft>),
    Done,
}

/// The Planner of one task.
#[derive(Debug)]
pub struct Planner {
    environment: Environment,
    tools: Arc<[ToolSpec]>,
    spec: Option<TaskSpec>,
    directive: Option<PlanDirective>,
    round: u32,
    recall: Option<MemoryRecall>,
    drafts: u32,
    problems: Vec<String>,
    /// The draft of this round that only memory objects to, the one nearest 0, with its M_decision.
    avoided: Option<(f64, Plan)>,
    issued: Option<Signature>,
    failed: Vec<Signature>,
    state: State,
}

impl Planner {
    /// A Planner that may use these tools.
    #[must_use]
    pub fn new(environment: Environment, tools: Arc<[ToolSpec]>) -> Self {
        Self {
            environment,
            tools,
            spec: None,
            directive: None,
            round: 0,
            recall: None,
            drafts: 0,
            problems: Vec::new(),
            avoided: None,
            issued: None,
            failed: Vec::new(),
            state: State::Idle,
        }
    }

    /// Memory is asked before every plan and replan; a silent memory only costs its wait.
    fn calibrate(&mut self, cx: &mut Context<'_>) -> Vec<Effect> {
        let Some(spec) = &self.spec else { return Vec::new() };
        self.drafts = 0;
        self.problems.clear();
        self.avoided = None;
        self.recall = None;
        let query = MemoryQuery {
            task_id: spec.task_id.clone(),
            round: self.round,
            intent: spec.intent.clone(),
            tools: self.tools.iter().map(|tool| tool.name.clone()).collect(),
            targets: calibration::named_targets(&spec.raw_input, &self.environment),
        };
        let timer = cx.ids.next_effect();
        self.state = State::Recalling(timer);
        vec![Effect::Query(query), Effect::Perform(timer, Work::Timer { after_ms: RECALL_WAIT_MS })]
    }

    fn ask(&mut self, cx: &mut Context<'_>) -> Vec<Effect> {
        let Some(spec) = self.spec.clone() else { return Vec::new() };
        let recall = self.recall.clone().unwrap_or_else(|| calibration::nothing(&spec.task_id, self.round));
        let context = PlanContext {
            environment: self.environment.clone(),
            tools: self.tools.to_vec(),
            calibration: self.advised().worded(),
            recall,
            directive: self.directive.clone(),
            problems: self.problems.clone(),
            now: cx.now,
            spec: spec.clone(),
        };
        let request = ModelRequest {
            role: Role::Planner,
            task_id: spec.task_id,
            subtask_id: None,
            prompt: prompt::render(&context),
            schema_name: "plan".to_owned(),
            schema: prompt::schema(&self.tools),
            max_tokens: REPLY_TOKENS,
            by_tools: None,
            context: RoleContext::Plan(Box::new(context)),
        };
        self.drafts += 1;
        let (ask, id, work) = Ask::start(cx, request);
        self.state = State::Asking(ask);
        vec![Effect::Perform(id, work)]
    }

    fn reject(&mut self, model_failure: Option<ModelFailure>, abstention: Option<Abstention>) -> Vec<Effect> {
        self.state = State::Done;
        let Some(spec) = &self.spec else { return Vec::new() };
        vec![Effect::Rejected(PlanRejected {
            task_id: spec.task_id.clone(),
            round: self.round,
            problems: std::mem::take(&mut self.problems),
            model_failure,
            abstention,
        })]
    }

    fn consider(&mut self, cx: &mut Context<'_>, plan: Plan, from_model: bool) -> Vec<Effect> {
        let Some(spec) = &self.spec else { return Vec::new() };
        let advised = self.advised();
        let rules = PlanRules {
            raw_input: &spec.raw_input,
            intent: &spec.intent,
            tools: &self.tools,
            environment: &self.environment,
            directive: self.directive.as_ref(),
            advised: &advised,
            failed: &self.failed,
            from_model,
        };
        let problems = rules.problems(&plan);
        if problems.is_empty() {
            return self.issue(plan, &advised);
        }
        // Memory may be wrong about every approach there is. What it alone objects to waits, the mildest first, and is
        // taken when no draft is left that could do without it (decision D4).
        let objections: Option<Vec<f64>> = problems.iter().map(Problem::memorys).collect();
        if let Some(objections) = objections {
            let worst = objections.into_iter().fold(0.0, f64::min);
            if self.avoided.as_ref().is_none_or(|(known, _)| worst > *known) {
                self.avoided = Some((worst, plan));
            }
        }
        self.problems.extend(problems.iter().map(ToString::to_string));
        if self.drafts < PLAN_DRAFTS_MAX && from_model {
            return self.ask(cx);
        }
        match self.avoided.take() {
            Some((_, mut plan)) => {
                plan.assumptions.push("memory advised against this approach; no other was found".to_owned());
                self.issue(plan, &advised)
            }
            None => self.reject(None, None),
        }
    }

    fn issue(&mut self, mut plan: Plan, advised: &Advised) -> Vec<Effect> {
        let confirm = advised.is_caution(&validator::approach(&plan));
        for subtask in &mut plan.subtasks {
            subtask.confirm = confirm;
            advised.add_to_context(subtask);
        }
        self.issued = Some(Signature::of(&plan));
        self.state = State::Done;
        vec![Effect::Planned(plan)]
    }

    fn advised(&self) -> Advised {
        self.recall.as_ref().map(Advised::from_recall).unwrap_or_default()
    }

    fn plan_of(&self, task_criteria: Vec<artoo_proto::Criterion>, subtasks: Vec<PlannedSubtask>) -> Option<Plan> {
        let spec = self.spec.as_ref()?;
        let (blocked_tools, blocked_targets) = self
            .directive
            .as_ref()
            .map(|directive| (directive.blocked_tools.clone(), directive.blocked_targets.clone()))
            .unwrap_or_default();
        Some(Plan {
            task_id: spec.task_id.clone(),
            round: self.round,
            subtasks,
            task_criteria,
            assumptions: Vec::new(),
            blocked_tools,
            blocked_targets,
        })
    }

    fn drafted(&mut self, cx: &mut Context<'_>, draft: PlanDraft) -> Vec<Effect> {
        let subtasks = draft.subtasks.into_iter().map(|subtask| draft::planned(subtask, &self.environment)).collect();
        let task_criteria = draft::criteria(draft.task_criteria, &self.environment);
        match self.plan_of(task_criteria, subtasks) {
            Some(plan) => self.consider(cx, plan, true),
            None => Vec::new(),
        }
    }

    fn recipes(&mut self, cx: &mut Context<'_>, recipes: RecipePlan) -> Vec<Effect> {
        let subtasks = recipes.subtasks.into_iter().map(draft::from_recipe).collect();
        match self.plan_of(recipes.task_criteria, subtasks) {
            Some(mut plan) => {
                plan.assumptions = recipes.assumptions;
                self.consider(cx, plan, false)
            }
            None => Vec::new(),
        }
    }
}

impl Machine for Planner {
    type Input = Input;
    type Effect = Effect;

    fn step(&mut self, cx: &mut Context<'_>, input: Input) -> Vec<Effect> {
        match (std::mem::take(&mut self.state), input) {
            (State::Idle, Input::Task(spec)) => {
                self.spec = Some(spec);
                self.calibrate(cx)
            }
            (State::Done, Input::Directed(directive)) if directive.round == self.round + 1 => {
                self.round = directive.round;
                self.failed.extend(self.issued.take());
                self.directive = Some(directive);
                self.calibrate(cx)
            }
            (State::Recalling(_), Input::Recalled(recall)) if recall.round == self.round => {
                self.recall = Some(recall);
                self.ask(cx)
            }
            (State::Recalling(timer), Input::Rang(id)) if id == timer => self.ask(cx),
            (State::Asking(ask), Input::Replied(id, reply)) if ask.awaits(id) => match ask.answer(cx, reply) {
                Answer::Value(draft) => self.drafted(cx, draft),
                Answer::Recipes(plan) => self.recipes(cx, plan),
                Answer::Again(ask, id, work) => {
                    self.state = State::Asking(ask);
                    vec![Effect::Perform(id, work)]
                }
                Answer::Abstained(abstention) => self.reject(None, Some(abstention)),
                Answer::Failed(failure) => self.reject(Some(failure), None),
            },
            (_, Input::Abort) => {
                self.state = State::Done;
                Vec::new()
            }
            (state, _) => {
                self.state = state;
                Vec::new()
            }
        }
    }
}
