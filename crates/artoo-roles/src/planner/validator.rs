//! The plan validator: rules in code that a plan must meet before its subtasks are started.

use std::collections::BTreeSet;

use artoo_proto::{
    CoverageState, Criterion, Environment, Plan, PlanDirective, PlannedSubtask, Reading, ReplanDirective, ToolClass,
    ToolSpec,
};
use serde_json::Value;

use super::calibration::Advised;
use super::wording::{gist, is_vacuous, restates};
use crate::limits::{CRITERIA_MAX, SUBTASKS_MAX};
use crate::{blocked, grounding};

/// What is wrong with a draft of a plan; the message is shown to the model that writes the next draft.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(super) enum Problem {
    /// The plan has no subtasks.
    #[error("the plan has no subtask")]
    NoSubtask,
    /// The plan has more than `SUBTASKS_MAX` subtasks.
    #[error("the plan has {count} subtasks; at most {SUBTASKS_MAX} are allowed")]
    TooManySubtasks { count: usize },
    /// The task has no criteria.
    #[error("the plan has no task criteria; say what the combined output must show")]
    NoTaskCriteria,
    /// The subtask with this number (from 1) has no success criteria.
    #[error("subtask {index} has no success criteria")]
    NoCriteria { index: usize },
    /// The task or the subtask (`place`) has more than `CRITERIA_MAX` criteria.
    #[error("{place} has more than {CRITERIA_MAX} criteria")]
    TooManyCriteria { place: String },
    /// The subtask with this number (from 1) has no intent.
    #[error("subtask {index} has no intent")]
    NoIntent { index: usize },
    /// A subtask names a tool that this machine does not have.
    #[error("subtask {index} names a tool this machine does not have: {tool:?}")]
    UnknownTool { index: usize, tool: String },
    /// A subtask uses a tool that R7 (the Solver) has blocked in this task.
    #[error("subtask {index} uses {tool:?}, which is blocked in this task")]
    BlockedTool { index: usize, tool: String },
    /// A subtask uses a target that R7 (the Solver) has blocked in this task.
    #[error("subtask {index} uses a blocked target: {target}")]
    BlockedTarget { index: usize, target: String },
    /// A subtask names a path outside the scope that the user set.
    #[error("subtask {index} names {path:?}, which is outside the scope that the user set")]
    OutOfScope { index: usize, path: String },
    /// A criterion is empty or can't fail; `place` is the task or the subtask that has it.
    #[error("in {place}, the criterion {claim:?} is empty or always true; it shows nothing")]
    Vacuous { place: String, claim: String },
    /// A criterion only repeats the goal; `place` is the task or the subtask that has it.
    #[error("in {place}, the criterion {claim:?} only restates the goal; say what would be seen")]
    Restatement { place: String, claim: String },
    /// All criteria of the task or subtask are about the output's form.
    #[error("{place} has only form checks; add a criterion about what the output says or what was left on disk")]
    FormOnly { place: String },
    /// No subtask of a model's plan has a tool, although the request is about this machine and asks for more than how
    /// something is done.
    #[error("the request is about this machine, but no subtask has a tool; words can't do it")]
    WordsForAnAct,
    /// The plan equals one that failed in this task.
    #[error("this plan is the same as one that failed in this task; change the tools or the targets")]
    Repeated,
    /// R7 demands another class of tool, and the plan has none; `offered` are tools of other classes.
    #[error("the directive asks for another class of tool than {used}; use one of: {offered}")]
    SameClass { used: String, offered: String },
    /// Memory advises against this set of tools; `decision` is its M_decision (negative).
    #[error("memory forbids the approach with {tools}")]
    Avoided { tools: String, decision: f64 },
    /// Memory advises against this tool on this target; `decision` is its M_decision (negative).
    #[error("memory forbids, for subtask {index}, {pair}: it failed before")]
    AvoidedPair { index: usize, pair: String, decision: f64 },
    /// A model's plan contains a recipe, which only code may write.
    #[error("a recipe may only come from code")]
    ForeignRecipe,
}

impl Problem {
    /// Memory's M_decision (negative; lower is a stronger objection) if the problem is memory's advice, otherwise
    /// `None`.
    pub(super) fn memorys(&self) -> Option<f64> {
        let (Self::Avoided { decision, .. } | Self::AvoidedPair { decision, .. }) = self else { return None };
        Some(*decision)
    }
}

/// For each subtask of a plan its tools, and its intent and recipe calls as normalised text. Plans with equal
/// signatures count as the same plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Signature(BTreeSet<(BTreeSet<String>, String)>);

impl Signature {
    /// Computes the signature of a plan, which is equal for plans that count as the same.
    pub(super) fn of(plan: &Plan) -> Self {
        Self(
            plan.subtasks
                .iter()
                .map(|subtask| {
                    let calls = subtask.recipe.iter().flat_map(|recipe| &recipe.steps);
                    let calls: String = calls.map(|step| format!("{} {}", step.call.tool, step.call.input)).collect();
                    (subtask.tools.iter().cloned().collect(), format!("{} {calls}", gist(&subtask.intent)))
                })
                .collect(),
        )
    }
}

/// What a plan is validated against: the request, the tools, the directive, memory's advice and the plans that failed
/// before.
pub(super) struct PlanRules<'a> {
    /// The user's request, verbatim.
    pub(super) raw_input: &'a str,
    /// The intent of the task.
    pub(super) intent: &'a str,
    /// Where the task may look or act, as the user said it; `None` without a restriction.
    pub(super) scope: Option<&'a str>,
    /// The clauses of the request and the steps that code read in them.
    pub(super) reading: &'a Reading,
    /// The tools of this machine.
    pub(super) tools: &'a [ToolSpec],
    pub(super) environment: &'a Environment,
    /// What R7 (the Solver) demands of the plan; `None` in the first round.
    pub(super) directive: Option<&'a PlanDirective>,
    /// Memory's advice.
    pub(super) advised: &'a Advised,
    /// Signatures of the plans that failed in this task.
    pub(super) failed: &'a [Signature],
    /// Whether a model wrote the plan, and not the embedded parser or a skill.
    pub(super) from_model: bool,
}

impl PlanRules<'_> {
    /// All problems of the plan; if there are none, its subtasks may be started.
    pub(super) fn problems(&self, plan: &Plan) -> Vec<Problem> {
        let mut problems = Vec::new();
        if plan.subtasks.is_empty() {
            problems.push(Problem::NoSubtask);
        }
        if plan.subtasks.len() > SUBTASKS_MAX {
            problems.push(Problem::TooManySubtasks { count: plan.subtasks.len() });
            return problems;
        }
        if plan.task_criteria.is_empty() {
            problems.push(Problem::NoTaskCriteria);
        }
        let goals = [self.intent, self.raw_input];
        self.criteria("the task", &plan.task_criteria, &goals, &mut problems);
        for (index, subtask) in (1..).zip(&plan.subtasks) {
            self.subtask(index, subtask, plan, &mut problems);
        }
        if self.from_model
            && !plan.subtasks.is_empty()
            && (grounding::is_about_this_machine(self.raw_input) || grounding::is_about_this_machine(self.intent))
            && plan.subtasks.iter().all(|subtask| subtask.tools.is_empty())
            && !only_describes(self.reading)
        {
            problems.push(Problem::WordsForAnAct);
        }
        let may_repeat = self.directive.is_some_and(|directive| directive.same_again);
        if !may_repeat && self.failed.contains(&Signature::of(plan)) {
            problems.push(Problem::Repeated);
        }
        problems.extend(self.same_class(plan));
        let approach = approach(plan);
        if let Some(decision) = self.advised.forbids(&approach) {
            let tools = approach.into_iter().collect::<Vec<_>>().join(", ");
            problems.push(Problem::Avoided { tools, decision });
        }
        problems
    }

    /// Adds the problems of the subtask with this number (from 1) to the list.
    fn subtask(&self, index: usize, subtask: &PlannedSubtask, plan: &Plan, problems: &mut Vec<Problem>) {
        if subtask.intent.trim().is_empty() {
            problems.push(Problem::NoIntent { index });
        }
        if subtask.success_criteria.is_empty() {
            problems.push(Problem::NoCriteria { index });
        }
        if subtask.recipe.is_some() && self.from_model {
            problems.push(Problem::ForeignRecipe);
        }
        for tool in &subtask.tools {
            if !self.tools.iter().any(|spec| spec.name == *tool) {
                problems.push(Problem::UnknownTool { index, tool: tool.clone() });
            } else if plan.blocked_tools.contains(tool) {
                problems.push(Problem::BlockedTool { index, tool: tool.clone() });
            }
        }
        let words = words_of(subtask);
        if let Some(target) = blocked::named_in(&plan.blocked_targets, &subtask.tools, &words, self.environment) {
            problems.push(Problem::BlockedTarget { index, target: blocked::worded(target) });
        }
        if let Some((pair, decision)) = self.advised.forbids_pair(&subtask.tools, &words, self.environment) {
            problems.push(Problem::AvoidedPair { index, pair: blocked::worded(pair), decision });
        }
        let outside = if self.from_model { self.out_of_scope(&words) } else { None };
        problems.extend(outside.map(|path| Problem::OutOfScope { index, path }));
        let goals = [&subtask.intent, self.intent, self.raw_input];
        self.criteria(&format!("subtask {index}"), &subtask.success_criteria, &goals, problems);
    }

    /// Adds the problems of the criteria of a subtask or of the task (`place`); they must not restate one of the goals.
    fn criteria(&self, place: &str, criteria: &[Criterion], goals: &[&str], problems: &mut Vec<Problem>) {
        let place = || place.to_owned();
        // A recipe has one criterion for each of its subtasks, whose number is limited.
        if self.from_model && criteria.len() > CRITERIA_MAX {
            problems.push(Problem::TooManyCriteria { place: place() });
        }
        for criterion in criteria {
            let claim = || criterion.claim();
            if is_vacuous(criterion) {
                problems.push(Problem::Vacuous { place: place(), claim: claim() });
            } else if self.from_model && goals.iter().any(|goal| restates(criterion, goal)) {
                problems.push(Problem::Restatement { place: place(), claim: claim() });
            }
        }
        let form_only = |criterion: &Criterion| criterion.check().is_some_and(|check| !check.is_substantive());
        if !criteria.is_empty() && criteria.iter().all(form_only) {
            problems.push(Problem::FormOnly { place: place() });
        }
    }

    /// The first absolute path in these words that lies neither in the scope that the user set, nor in a place of the
    /// user's own words, nor in the workspace; `None` if there is none, or if the scope names no path.
    fn out_of_scope(&self, words: &str) -> Option<String> {
        let absolute = |text: &str| {
            let spelled = |path: String| blocked::spellings(&path, self.environment).collect::<Vec<_>>();
            let paths = blocked::paths_in(text).flat_map(spelled).filter(|path| path.starts_with('/'));
            paths.collect::<Vec<_>>()
        };
        let mut allowed = absolute(self.scope?);
        if allowed.is_empty() {
            return None;
        }
        allowed.extend(absolute(self.raw_input));
        allowed.push(self.environment.workspace.clone());
        let allowed: Vec<String> = allowed.iter().map(|place| format!("*:{place}/**")).collect();
        let is_allowed = |path: &String| blocked::is_hit(&allowed, "", path);
        blocked::paths_in(words).find(|path| !absolute(path).iter().any(is_allowed) && path.starts_with(['/', '~']))
    }

    /// The problem of a plan that uses only the classes of the blocked tools although `break_symmetry` demands another
    /// class and a tool of another class is available; `None` for another plan or directive.
    fn same_class(&self, plan: &Plan) -> Option<Problem> {
        let directive = self.directive.filter(|d| d.directive == ReplanDirective::BreakSymmetry)?;
        let used = classes(&directive.blocked_tools, self.tools);
        let offered = other_classes(directive, self.tools);
        let planned = plan.subtasks.iter().flat_map(|subtask| classes(&subtask.tools, self.tools));
        if offered.is_empty() || planned.into_iter().any(|class| !used.contains(&class)) {
            return None;
        }
        let used: Vec<String> = used.iter().map(|class| format!("{class:?}").to_lowercase()).collect();
        Some(Problem::SameClass { used: used.join(", "), offered: offered.join(", ") })
    }
}

/// The tool classes (families such as files or shell) of the tools with these names.
fn classes(names: &[String], tools: &[ToolSpec]) -> BTreeSet<ToolClass> {
    let class = |name: &String| tools.iter().find(|tool| tool.name == *name).map(|tool| tool.class);
    names.iter().filter_map(class).collect()
}

/// The names of the tools that belong to another class than every blocked tool.
pub(super) fn other_classes(directive: &PlanDirective, tools: &[ToolSpec]) -> Vec<String> {
    let used = classes(&directive.blocked_tools, tools);
    let free = |tool: &&ToolSpec| !directive.blocked_tools.contains(&tool.name) && !used.contains(&tool.class);
    tools.iter().filter(free).map(|tool| tool.name.clone()).collect()
}

/// Whether a request asks only how something is done, so that an answer in words is enough.
fn only_describes(reading: &Reading) -> bool {
    let states = || reading.clauses.iter().map(|clause| clause.unread.as_ref().map(|unread| unread.state));
    use CoverageState as S;
    let needs_no_act = |state| matches!(state, Some(S::Described | S::Judged | S::Words | S::Courtesy));
    states().all(needs_no_act) && states().any(|state| state == Some(CoverageState::Described))
}

/// The approach of a plan, as memory identifies it: the set of its tools.
pub(super) fn approach(plan: &Plan) -> BTreeSet<String> {
    plan.subtasks.iter().flat_map(|subtask| subtask.tools.clone()).collect()
}

/// The text in which a subtask may name its targets: intent, context and the inputs of its recipe's calls.
fn words_of(subtask: &PlannedSubtask) -> String {
    let mut words = format!("{} {}", subtask.intent, subtask.context);
    for step in subtask.recipe.iter().flat_map(|recipe| &recipe.steps) {
        add_strings(&step.call.shown_input(), &mut words);
    }
    words
}

/// Appends all strings inside a JSON value, separated by spaces.
fn add_strings(value: &Value, words: &mut String) {
    match value {
        Value::String(text) => {
            words.push(' ');
            words.push_str(text);
        }
        Value::Array(values) => values.iter().for_each(|value| add_strings(value, words)),
        Value::Object(fields) => fields.values().for_each(|value| add_strings(value, words)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
