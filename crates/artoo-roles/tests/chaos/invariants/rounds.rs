//! Invariants 1, 3, 5 to 8, 16 and 17: the order of the messages of a task.

use artoo_ggs::BlockedTarget;
use artoo_proto::{
    AbandonReason, DispatchManifest, Ending, Envelope, ExecutionResult, FinalResult, Loss, Message, ModelRequest,
    OutcomeStatus, Plan, PlanDirective, PrevDirective, RoleContext, SubTask, SubTaskId, ToolCall, ToolOrder,
};

use super::verdicts::excused;
use super::{InvariantChecker, TaskHistory};
use artoo_roles::limits::RETRIES_MAX;

/// The threshold θ of Ω (the used share of the budget): at θ or more, no directive and no success may follow.
const THETA: f64 = 0.8;
const MAX_REPLANS: usize = 3;

impl InvariantChecker {
    /// Checks a published message against the earlier ones of its task.
    pub(super) fn message(&mut self, envelope: &Envelope) {
        let Some(id) = envelope.message.task_id().cloned() else { return };
        let Some(task) = self.tasks.get(&id) else { return };
        match &envelope.message {
            Message::PlanDirective(directive) => self.directive(task, directive),
            Message::Plan(plan) => self.plan(task, plan),
            Message::DispatchManifest(manifest) => self.manifest(task, manifest),
            Message::SubTask(subtask) => self.subtask(task, subtask),
            Message::ExecutionResult(result) => self.attempt(task, result),
            Message::ConsentRequest(asked) => self.question(task, asked),
            Message::SubTaskOutcome(outcome) => self.outcome(task, outcome),
            Message::OutcomeSummary(summary) => self.summary(task, summary),
            Message::FinalResult(result) => self.result(task, result),
            _ => {}
        }
        let task = self.tasks.get_mut(&id).unwrap();
        match &envelope.message {
            Message::PlanDirective(directive) => task.directives.push(directive.clone()),
            Message::Plan(plan) => drop(task.plans.insert(plan.round, plan.clone())),
            Message::DispatchManifest(manifest) => {
                self.subtask_ids.extend(manifest.subtasks.iter().map(|entry| entry.subtask_id));
                task.manifests.insert(manifest.round, manifest.clone());
            }
            Message::SubTask(subtask) => drop(task.subtasks.insert(subtask.subtask_id, subtask.clone())),
            Message::ExecutionResult(result) => {
                task.results.entry(result.subtask_id).or_default().push(result.clone());
            }
            Message::ConsentRequest(asked) => task.consents.asked(asked),
            Message::SubTaskOutcome(outcome) => drop(task.outcomes.insert(outcome.subtask_id, outcome.clone())),
            Message::FinalResult(result) => task.published = Some(result.clone()),
            _ => {}
        }
    }

    /// Checks that a replan directive is for the next round, names the directive before it, and keeps earlier blocks or
    /// states their release.
    fn directive(&self, task: &TaskHistory, directive: &PlanDirective) {
        let shown = || format!("{directive:?}\nafter {:?}", task.directives.last());
        let before = task.directives.last();
        let expected = before.map_or(PrevDirective::Init, |before| before.directive.into());
        self.hold(directive.prev_directive == expected, "(8) prev_directive", shown);
        let round = task.directives.len() + 1;
        self.hold(directive.round as usize == round, "(6) a directive's round", shown);
        self.hold(round <= MAX_REPLANS, "(6) too many replans", shown);
        self.loss(&directive.loss);
        self.hold(directive.budget_pressure < THETA, "(8) Omega ≥ θ and it goes on", shown);
        if let Some(before) = before {
            let grows = before.blocked_targets.iter().all(|target| directive.blocked_targets.contains(target));
            self.hold(grows, "(8) blocked targets shrank", shown);
            let free =
                |tool: &String| directive.blocked_tools.contains(tool) || directive.released_tools.contains(tool);
            self.hold(before.blocked_tools.iter().all(free), "(8) a blocked tool came free unsaid", shown);
        }
    }

    /// Checks that a loss and its parts are in their ranges.
    fn loss(&self, loss: &Loss) {
        let parts = [loss.d, loss.p, loss.omega];
        let in_range = parts.iter().all(|part| (0.0..=1.0).contains(part)) && (0.0..=1.3).contains(&loss.l);
        self.hold(in_range, "(8) the loss is out of range", || format!("{loss:?}"));
    }

    /// Checks that a plan belongs to the current round and uses nothing blocked.
    fn plan(&self, task: &TaskHistory, plan: &Plan) {
        let shown = || format!("{plan:?}\nunder {:?}", task.directives.last());
        self.hold(plan.round as usize == task.directives.len(), "(6) a plan of another round", shown);
        self.hold(!task.plans.contains_key(&plan.round), "(6) two plans for a round", shown);
        let (tools, targets) = task.directives.last().map_or((&[][..], &[][..]), |directive| {
            (directive.blocked_tools.as_slice(), directive.blocked_targets.as_slice())
        });
        let steps = plan.subtasks.iter().filter_map(|subtask| subtask.recipe.as_ref()).flat_map(|recipe| &recipe.steps);
        let mut used = plan.subtasks.iter().flat_map(|subtask| &subtask.tools).chain(steps.map(|step| &step.call.tool));
        self.hold(!used.any(|tool| tools.contains(tool)), "(5) the plan uses a blocked tool", shown);
        // Memory may forbid more targets than the directive does.
        let holds = plan.blocked_tools == tools && plan.blocked_targets.starts_with(targets);
        self.hold(holds, "(5) blocks got lost", shown);
        self.hold(!plan.subtasks.is_empty() && plan.subtasks.len() <= 64, "(5) the plan's size", shown);
        let criteria = plan.subtasks.iter().all(|subtask| !subtask.success_criteria.is_empty());
        self.hold(criteria && !plan.task_criteria.is_empty(), "(4) a plan without criteria", shown);
    }

    /// Checks that a round is executed once, as one of at most four, and that its subtask ids are new and the System's
    /// own.
    fn manifest(&self, task: &TaskHistory, manifest: &DispatchManifest) {
        let shown = || format!("{manifest:?}");
        self.hold(!task.manifests.contains_key(&manifest.round), "(6) two executions of a round", shown);
        self.hold(task.manifests.len() <= MAX_REPLANS, "(6) too many executions", shown);
        for entry in &manifest.subtasks {
            let id = entry.subtask_id;
            self.hold(!self.subtask_ids.contains(&id), "(7) a subtask id twice", shown);
            self.hold(!self.smuggled.contains(&id.0), "(7) a model's subtask id", shown);
            self.hold(id.0.get_version_num() == 5, "(7) not an id of the System's", shown);
        }
    }

    /// Checks that a subtask is listed in the manifest, starts once, and starts after all earlier groups have matched.
    fn subtask(&self, task: &TaskHistory, subtask: &SubTask) {
        let shown = || format!("{subtask:?}");
        let manifest = &task.manifests[&subtask.round];
        let listed = manifest.subtasks.iter().any(|entry| entry.subtask_id == subtask.subtask_id);
        self.hold(listed && !task.subtasks.contains_key(&subtask.subtask_id), "(7) not dispatched once", shown);
        let earlier = manifest.subtasks.iter().filter(|entry| entry.sequence < subtask.sequence);
        let matched = |id: &SubTaskId| task.outcomes.get(id).is_some_and(|o| o.status == OutcomeStatus::Matched);
        let open = earlier.map(|entry| &entry.subtask_id).find(|id| !matched(id));
        self.hold(open.is_none(), "(17) a group starts before the one before it matched", || format!("{open:?}"));
    }

    /// Checks that an attempt at a subtask has the next number, is one of at most three, and uses new evidence ids.
    fn attempt(&self, task: &TaskHistory, result: &ExecutionResult) {
        let before = task.results.get(&result.subtask_id).map_or(0, Vec::len);
        let numbered = result.attempt as usize == before + 1 && result.attempt <= 1 + RETRIES_MAX;
        self.hold(numbered, "(6) attempts of a subtask", || format!("{before} before {result:?}"));
        let others = task.results.values().flatten().flat_map(|other| &other.tool_calls);
        let known: Vec<_> = others.map(|call: &ToolCall| &call.evidence_id).collect();
        let twice = result.tool_calls.iter().find(|call| known.contains(&&call.evidence_id));
        self.hold(twice.is_none(), "(4) an evidence id for two calls", || format!("{twice:?}"));
    }

    /// Checks that a tool call uses an allowed tool and gets all blocked targets of its plan.
    pub(super) fn order(&self, task: &TaskHistory, subtask_id: SubTaskId, order: &ToolOrder) {
        let shown = || format!("{order:?}");
        let subtask = &task.subtasks[&subtask_id];
        let tool = &order.request.tool;
        self.hold(subtask.tools.contains(tool), "(5) a tool that is not the subtask's", shown);
        self.hold(!subtask.blocked_tools.contains(tool), "(5) a blocked tool is called", shown);
        let Plan { blocked_tools: tools, blocked_targets: targets, .. } = &task.plans[&subtask.round];
        let passed_on = subtask.blocked_tools == *tools && subtask.blocked_targets == *targets;
        self.hold(passed_on, "(5) blocks did not reach the subtask", shown);
        // How a target is spelled for a tool is the executor's; that none is left out is not.
        let concerns = targets.iter().filter_map(|target| target.parse::<BlockedTarget>().ok());
        let mut concerns = concerns.filter(|target| target.tool.as_ref().is_none_or(|own| own == tool));
        let told = |target: BlockedTarget| order.blocked_targets.iter().any(|text| text.contains(&target.target));
        self.hold(concerns.all(told), "(5) a blocked target did not reach the call", shown);
        let own = order.blocked_tools == *tools && order.allowed_tools == subtask.tools;
        self.hold(own, "(5) blocks did not reach the call", shown);
        self.order_with_consent(task, subtask_id, order);
    }

    /// Checks that R4b may ask its model: every subtask of the round matched, or failed only in excused checks.
    pub(super) fn gate(&self, task: &TaskHistory, request: &ModelRequest) {
        let RoleContext::ValidateTask(context) = &request.context else { panic!("not R4b's question") };
        let (round, manifest) = task.manifests.last_key_value().unwrap();
        let shown = || format!("round {round}: {:?}", context.outcomes);
        let all = manifest.subtasks.len() == context.outcomes.len();
        self.hold(all, "(3) the gate is open with an outcome missing", shown);
        for entry in &manifest.subtasks {
            let said = task.outcomes.get(&entry.subtask_id);
            let excused = said.filter(|_| !entry.recipe).and_then(excused);
            let matched = said.is_some_and(|outcome| outcome.status == OutcomeStatus::Matched) || excused.is_some();
            self.hold(matched, "(3) the gate is open with an outcome failed or missing", shown);
            let seen = context.outcomes.iter().find(|outcome| outcome.subtask_id == entry.subtask_id);
            let is_same = seen == said || (seen.is_some() && seen == excused.as_ref());
            self.hold(is_same, "(3) the gate saw another outcome", shown);
        }
    }

    /// Checks a task's result: it is the only one, in time, and follows from the messages.
    fn result(&self, task: &TaskHistory, result: &FinalResult) {
        let shown = || format!("{result:#?}");
        self.hold(task.published.is_none(), "(1) a second FinalResult", shown);
        let latest = task.limited_from_ms.saturating_add(task.scripted_request.request.hard_limit_ms);
        let latest = latest.saturating_add(self.lateness_ms);
        self.hold(self.uptime_ms <= latest, "(1) the hard limit did not end it", shown);
        self.loss(&result.loss);
        self.hold(result.replans as usize <= task.directives.len(), "(8) more replans than directives", shown);
        if task.directives.is_empty() {
            self.hold(result.prev_directive == PrevDirective::Init, "(8) prev_directive of the first round", shown);
        }
        match &result.ending {
            Ending::Accept { .. } => self.accepted(task, result),
            Ending::Success { unmet } => {
                self.hold(!unmet.is_empty(), "(4) a success that names nothing unmet", shown);
                self.hold(result.loss.omega < THETA, "(8) Omega ≥ θ and no abandon", shown);
            }
            Ending::Abandon { reason, .. } => {
                let failed = matches!(reason, AbandonReason::RoleFailed { .. });
                self.hold(!failed || !task.fallen.is_empty(), "(16) a role failed without a panic", shown);
                self.hold(!result.next_steps.is_empty(), "(4) an abandon without a next step", shown);
            }
        }
    }
}
