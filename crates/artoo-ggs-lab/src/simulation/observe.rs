//! From an execution to the `Round` a controller measures: only what a verifier could know.

use super::execution::{ATTEMPTS, Execution, SubtaskResult};
use super::world::{SubtaskTruth, TARGETS, TOOLS, World};
use artoo_ggs::{CriterionMeasure, Mode, Round, SubtaskMeasure, SubtaskStatus, Tool, ToolTarget, Verdict};

/// The round as a verifier reports it.
pub(super) fn observe(world: &World, execution: &Execution) -> Round {
    let subtasks = world.subtasks.iter().zip(&execution.results).enumerate();
    let available = TOOLS.iter().map(|(name, class)| Tool { name: (*name).to_owned(), class: (*class).to_owned() });
    Round {
        subtasks: subtasks.map(|(index, (truth, result))| observe_subtask(index, truth, result)).collect(),
        task_criteria: execution.whole.map(|whole| observe_whole(whole.passed)).into_iter().collect(),
        available_tools: available.collect(),
    }
}

fn observe_subtask(index: usize, truth: &SubtaskTruth, result: &SubtaskResult) -> SubtaskMeasure {
    let tool = tool_name(result.assignment.tool);
    let criteria = truth.criteria.iter().enumerate().zip(&result.failed_attempts).zip(&result.classes);
    let criteria = criteria.map(|(((criterion, truth), failed_attempts), class)| {
        let passed = result.passed.has(criterion);
        let unjudged = if result.infrastructure { Verdict::Missing } else { Verdict::Fail };
        CriterionMeasure {
            claim: format!("{index}.{criterion}"),
            mode: truth.mode,
            required: truth.required,
            verdict: if passed { Verdict::Pass } else { unjudged },
            class: (!passed).then_some(*class),
            failed_attempts: *failed_attempts,
            attempts: result.attempts,
        }
    });
    SubtaskMeasure {
        status: if result.is_matched() { SubtaskStatus::Matched } else { SubtaskStatus::Failed },
        infrastructure: result.infrastructure && !result.is_matched(),
        criteria: criteria.collect(),
        calls: vec![ToolTarget {
            tool: tool.to_owned(),
            target: target_name(index, result.assignment.target).to_owned(),
            failed: result.call_failed,
        }],
        tools: vec![tool.to_owned()],
    }
}

fn observe_whole(passed: bool) -> CriterionMeasure {
    CriterionMeasure {
        claim: "the whole".to_owned(),
        mode: Mode::Plausible,
        required: false,
        verdict: if passed { Verdict::Pass } else { Verdict::Fail },
        class: None,
        failed_attempts: if passed { 0 } else { ATTEMPTS },
        attempts: ATTEMPTS,
    }
}

/// The name of a tool, as rounds and directives have it.
pub(super) fn tool_name(tool: usize) -> &'static str {
    TOOLS.get(tool).map_or("", |(name, _)| name)
}

/// The class of a tool.
pub(super) fn tool_class(tool: usize) -> &'static str {
    TOOLS.get(tool).map_or("", |(_, class)| class)
}

/// The name of a subtask's target.
pub(super) fn target_name(subtask: usize, target: usize) -> &'static str {
    TARGETS.get(subtask).and_then(|targets| targets.get(target)).copied().unwrap_or("")
}
