//! The plan validator: what a plan must be before anything is dispatched, decided in code.

use std::collections::BTreeSet;

use artoo_proto::{
    Check, Criterion, Plan, PlanDirective, PlannedSubtask, RecipeSubtask, ReplanDirective, SubtaskDraft, ToolClass,
    ToolSpec,
};

use super::calibration::Advised;
use crate::grounding;
use crate::limits::{CRITERIA_MAX, SUBTASKS_MAX};

/// Share of words two sentences must have in common to count as the same assertion.
const RESTATEMENT: f64 = 0.9;

/// What is wrong with a draft, worded for whoever writes the next one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Problem {
    #[error("the plan has no subtask")]
    NoSubtask,
    #[error("the plan has {count} subtasks; at most {SUBTASKS_MAX} are allowed")]
    TooManySubtasks { count: usize },
    #[error("the plan has no task criteria; say what the combined output must show")]
    NoTaskCriteria,
    #[error("subtask {index} has no success criteria")]
    NoCriteria { index: usize },
    #[error("{place} has more than {CRITERIA_MAX} criteria")]
    TooManyCriteria { place: String },
    #[error("subtask {index} has no intent")]
    NoIntent { index: usize },
    #[error("subtask {index} names a tool this machine does not have: {tool:?}")]
    UnknownTool { index: usize, tool: String },
    #[error("subtask {index} uses {tool:?}, which is blocked in this task")]
    BlockedTool { index: usize, tool: String },
    #[error("subtask {index} uses a blocked target: {target}")]
    BlockedTarget { index: usize, target: String },
    #[error("in {place}, the criterion {claim:?} is empty or always true; it shows nothing")]
    Vacuous { place: String, claim: String },
    #[error("in {place}, the criterion {claim:?} only restates the goal; say what would be seen")]
    Restatement { place: String, claim: String },
    #[error("{place} has only form checks; add a criterion about what the output says or what was left on disk")]
    FormOnly { place: String },
    #[error("the request is about this machine, but no subtask has a tool; words can't do it")]
    WordsForAnAct,
    #[error("this plan is the same as one that failed in this task; change the tools or the targets")]
    Repeated,
    #[error("the directive asks for another class of tool than {used}; use one of: {offered}")]
    SameClass { used: String, offered: String },
    #[error("memory forbids the approach with {tools}")]
    Avoided { tools: String },
    #[error("a recipe may only come from code")]
    ForeignRecipe,
}

impl Problem {
    /// Whether only memory objects.
    pub(super) fn is_memorys(&self) -> bool {
        matches!(self, Self::Avoided { .. })
    }
}

/// What makes two plans the same: their tools and what they are pointed at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Signature(BTreeSet<(BTreeSet<String>, String)>);

impl Signature {
    pub(super) fn of(plan: &Plan) -> Self {
        Self(
            plan.subtasks
                .iter()
                .map(|subtask| {
                    let calls = subtask.recipe.iter().flat_map(|recipe| &recipe.steps);
                    let calls: String = calls.map(|step| format!("{} {}", step.call.tool, step.call.input)).collect();
                    (subtask.tools.iter().cloned().collect(), format!("{} {calls}", plain(&subtask.intent)))
                })
                .collect(),
        )
    }
}

/// Everything a plan is held against.
pub(super) struct PlanRules<'a> {
    pub(super) raw_input: &'a str,
    pub(super) intent: &'a str,
    pub(super) tools: &'a [ToolSpec],
    pub(super) directive: Option<&'a PlanDirective>,
    pub(super) advised: &'a Advised,
    pub(super) failed: &'a [Signature],
    pub(super) from_model: bool,
}

impl PlanRules<'_> {
    /// Every problem of the plan; empty means it may be dispatched.
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
            && grounding::mentions_machine(self.raw_input)
            && plan.subtasks.iter().all(|subtask| subtask.tools.is_empty())
        {
            problems.push(Problem::WordsForAnAct);
        }
        if self.failed.contains(&Signature::of(plan)) {
            problems.push(Problem::Repeated);
        }
        problems.extend(self.same_class(plan));
        let approach: BTreeSet<String> = plan.subtasks.iter().flat_map(|subtask| subtask.tools.clone()).collect();
        if self.advised.forbids(&approach) {
            let tools = approach.into_iter().collect::<Vec<_>>().join(", ");
            problems.push(Problem::Avoided { tools });
        }
        problems
    }

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
        for target in &plan.blocked_targets {
            let bare = target.split_once(':').map_or(target.as_str(), |(_, bare)| bare);
            if bare.len() > 1 && subtask.intent.contains(bare) {
                problems.push(Problem::BlockedTarget { index, target: target.clone() });
            }
        }
        self.criteria(&format!("subtask {index}"), &subtask.success_criteria, &[&subtask.intent], problems);
    }

    fn criteria(&self, place: &str, criteria: &[Criterion], goals: &[&str], problems: &mut Vec<Problem>) {
        let place = || place.to_owned();
        if criteria.len() > CRITERIA_MAX {
            problems.push(Problem::TooManyCriteria { place: place() });
        }
        for criterion in criteria {
            let claim = criterion.claim();
            match criterion {
                Criterion::Prose { text, .. } if plain(text).is_empty() => {
                    problems.push(Problem::Vacuous { place: place(), claim });
                }
                Criterion::Prose { text, .. } if goals.iter().any(|goal| restates(text, goal)) => {
                    problems.push(Problem::Restatement { place: place(), claim });
                }
                Criterion::Checked { check, .. } if is_vacuous(check) => {
                    problems.push(Problem::Vacuous { place: place(), claim });
                }
                Criterion::Prose { .. } | Criterion::Checked { .. } => {}
            }
        }
        let form_only = |criterion: &Criterion| criterion.check().is_some_and(|check| !check.is_substantive());
        if !criteria.is_empty() && criteria.iter().all(form_only) {
            problems.push(Problem::FormOnly { place: place() });
        }
    }

    /// After `break_symmetry` a plan must reach for a class of tool that has not failed, where one is left.
    fn same_class(&self, plan: &Plan) -> Option<Problem> {
        let directive = self.directive.filter(|d| d.directive == ReplanDirective::BreakSymmetry)?;
        let class = |name: &String| self.tools.iter().find(|tool| tool.name == *name).map(|tool| tool.class);
        let used: BTreeSet<ToolClass> = directive.blocked_tools.iter().filter_map(class).collect();
        let free = |tool: &&ToolSpec| !directive.blocked_tools.contains(&tool.name) && !used.contains(&tool.class);
        let offered: Vec<String> = self.tools.iter().filter(free).map(|tool| tool.name.clone()).collect();
        let planned = plan.subtasks.iter().flat_map(|subtask| &subtask.tools).filter_map(class);
        if offered.is_empty() || planned.into_iter().any(|class| !used.contains(&class)) {
            return None;
        }
        let used: Vec<String> = used.iter().map(|class| format!("{class:?}").to_lowercase()).collect();
        Some(Problem::SameClass { used: used.join(", "), offered: offered.join(", ") })
    }
}

fn is_vacuous(check: &Check) -> bool {
    match check {
        Check::FileContains { text, path } => text.trim().is_empty() || path.trim().is_empty(),
        Check::FileExists { path } | Check::FileEquals { path, .. } => path.trim().is_empty(),
        Check::OutputNotEmpty {}
        | Check::OutputIsNumber {}
        | Check::ExitCode { .. }
        | Check::FileCount { .. }
        | Check::LineCount { .. }
        | Check::Recompute { .. } => false,
    }
}

fn plain(text: &str) -> String {
    let words: Vec<String> =
        text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase).collect();
    words.join(" ")
}

/// Jaccard similarity of the two sets of words, without "is done"-like padding.
fn restates(criterion: &str, goal: &str) -> bool {
    const PADDING: [&str; 14] = [
        "the",
        "a",
        "an",
        "is",
        "are",
        "was",
        "has",
        "been",
        "done",
        "task",
        "successfully",
        "completed",
        "correctly",
        "it",
    ];
    let words = |text: &str| -> BTreeSet<String> {
        plain(text).split(' ').filter(|word| !word.is_empty() && !PADDING.contains(word)).map(str::to_owned).collect()
    };
    let (criterion, goal) = (words(criterion), words(goal));
    if criterion.is_empty() {
        return true;
    }
    let common = criterion.intersection(&goal).count();
    let all = criterion.union(&goal).count();
    #[expect(clippy::cast_precision_loss, reason = "word counts of one sentence")]
    let share = common as f64 / all as f64;
    share >= RESTATEMENT
}

/// A draft as a planned subtask; nothing is checked yet.
pub(super) fn planned(draft: SubtaskDraft) -> PlannedSubtask {
    PlannedSubtask {
        intent: draft.intent,
        context: draft.context,
        sequence: draft.sequence,
        tools: draft.tools,
        success_criteria: draft.success_criteria.into_iter().map(without_recompute).collect(),
        confirm: false,
        recipe: None,
    }
}

/// Only code builds recomputation queries; a model's becomes the prose it would have hidden behind.
fn without_recompute(criterion: Criterion) -> Criterion {
    match criterion {
        Criterion::Checked { check: Check::Recompute { reading, .. }, required } => {
            Criterion::Prose { text: reading, mode: artoo_proto::Mode::Verifiable, required }
        }
        Criterion::Checked { .. } | Criterion::Prose { .. } => criterion,
    }
}

/// A recipe's subtask as a planned one: its tools are those its calls name.
pub(super) fn from_recipe(subtask: RecipeSubtask) -> PlannedSubtask {
    let tools: BTreeSet<String> = subtask.recipe.steps.iter().map(|step| step.call.tool.clone()).collect();
    PlannedSubtask {
        intent: subtask.intent,
        context: String::new(),
        sequence: subtask.sequence,
        tools: tools.into_iter().collect(),
        success_criteria: subtask.success_criteria,
        confirm: false,
        recipe: Some(subtask.recipe),
    }
}
