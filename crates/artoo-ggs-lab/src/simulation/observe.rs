//! Converts a simulated execution to a controller's `Round`, which contains only what a verifier can know.

use super::execution::{ATTEMPTS, Execution, SubtaskResult};
use super::world::{SubtaskTruth, TARGETS, TOOLS, World};
use artoo_ggs::{AvailableTool, CriterionMeasure, Round, SubtaskMeasure, ToolTarget, Verdict};

/// The controller's round for an execution, as a verifier reports it, without the hidden truth.
pub(super) fn observe(world: &World, execution: &Execution) -> Round {
    let subtasks = world.subtasks.iter().zip(&execution.results).enumerate();
    let subtasks = subtasks.map(|(index, (truth, result))| observe_subtask(index, truth, result)).collect();
    Round::new(subtasks)
        .with_task_criteria(execution.whole.map(|whole| observe_whole(whole.passed)).into_iter().collect())
        .with_available_tools(TOOLS.map(|(name, class)| AvailableTool::new(name, class)).to_vec())
}

/// The measurements of one subtask, as a verifier reports them.
fn observe_subtask(index: usize, truth: &SubtaskTruth, result: &SubtaskResult) -> SubtaskMeasure {
    let (tool, target) = (tool_name(result.assignment.tool), target_name(index, result.assignment.target));
    let criteria = truth.criteria.iter().zip(&result.failed_attempts).zip(&result.classes).enumerate();
    let criteria = criteria.map(|(criterion, ((truth, failed_attempts), class))| {
        let unjudged = if result.infrastructure { Verdict::Missing } else { Verdict::Fail };
        let (verdict, class) =
            if result.passed.has(criterion) { (Verdict::Pass, None) } else { (unjudged, Some(*class)) };
        let claim = format!("{index}.{criterion}");
        let mut measure =
            CriterionMeasure::undecided(claim).plausible(*failed_attempts, result.attempts).blamed_on(class);
        (measure.mode, measure.required, measure.verdict) = (truth.mode, truth.required, verdict);
        measure
    });
    let criteria = criteria.collect();
    let measure = if result.is_matched() {
        SubtaskMeasure::matched(criteria)
    } else if result.infrastructure {
        SubtaskMeasure::failed_by_infrastructure(criteria)
    } else {
        SubtaskMeasure::failed(criteria)
    };
    let call = if result.call_failed { ToolTarget::failed(tool, target) } else { ToolTarget::worked(tool, target) };
    measure.with_calls([call]).with_tools([tool])
}

/// The task criterion on the combined result, as a verifier reports it.
fn observe_whole(passed: bool) -> CriterionMeasure {
    if passed {
        CriterionMeasure::met("the whole").plausible(0, ATTEMPTS)
    } else {
        CriterionMeasure::unmet("the whole").plausible(ATTEMPTS, ATTEMPTS)
    }
}

/// The name of the tool with this index, as used in rounds and directives; empty if there is none.
pub(super) fn tool_name(tool: usize) -> &'static str {
    TOOLS.get(tool).map_or("", |(name, _)| name)
}

/// The class of the tool with this index; empty if there is none.
pub(super) fn tool_class(tool: usize) -> &'static str {
    TOOLS.get(tool).map_or("", |(_, class)| class)
}

/// The name of a subtask's target with this index; empty if there is none.
pub(super) fn target_name(subtask: usize, target: usize) -> &'static str {
    TARGETS.get(subtask).and_then(|targets| targets.get(target)).copied().unwrap_or("")
}
