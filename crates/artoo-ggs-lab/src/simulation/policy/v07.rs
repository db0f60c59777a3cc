//! A policy that follows the decision table of specification v0.7, in which the sign of the gradient decides first.

use super::{Change, Driver, EXECUTIONS_MAX, Instruction, Kill, Seen, Step, rose_throughout};
use crate::micros;
use artoo_ggs::Gradient;
use artoo_ggs::Rules;
use artoo_ggs::Trend;
use artoo_ggs::{Hyperparameters, ParameterTable};
use artoo_ggs::{Loss, SubtaskStatus};

/// Time budget of a task in specification v0.7: two minutes.
const TIME_BUDGET_MS: u64 = 120_000;

/// Makes the decisions of a policy by the decision table of specification v0.7.
pub(super) struct V07 {
    parameters: Hyperparameters,
    last: Option<Loss>,
    worsening: u32,
    distances: Vec<i64>,
    blocked_tools: Vec<String>,
}

impl V07 {
    /// Creates the driver with the numbers of specification v0.7.
    pub(super) fn new() -> Self {
        let mut table = ParameterTable::DEFAULT;
        table.time_budget_ms = TIME_BUDGET_MS;
        let parameters = Hyperparameters::try_from(table).unwrap_or_default();
        Self { parameters, last: None, worsening: 0, distances: Vec::new(), blocked_tools: Vec::new() }
    }

    /// Blocks, for the rest of the task, every tool that a failed subtask called.
    fn block_tools_of_failing(&mut self, seen: &Seen<'_>) {
        let failing = seen.round.subtasks.iter().filter(|subtask| subtask.status == SubtaskStatus::Failed);
        for call in failing.flat_map(|subtask| &subtask.calls) {
            if !self.blocked_tools.contains(&call.tool) {
                self.blocked_tools.push(call.tool.clone());
            }
        }
    }
}

impl Driver for V07 {
    fn step(&mut self, seen: &Seen<'_>) -> Step {
        if seen.measured.unmet == 0 {
            return Step::Accept;
        }
        let parameters = self.parameters;
        let Ok(measured) = seen.round.measure(&Rules::STRICT_SPEC) else { return Step::GiveUp(None) };
        let replans = seen.executions.saturating_sub(1) as u32;
        let loss = Loss::new(measured.d, measured.p, parameters.omega(replans, seen.elapsed_ms), &parameters);
        let gradient = self.last.map_or(Gradient::ZERO, |last| Gradient::between(&last, &loss, &parameters)).total;
        self.last = Some(loss);
        self.distances.push(loss.d.micros());
        self.worsening = if micros(gradient) > micros(parameters.epsilon) { self.worsening + 1 } else { 0 };
        if loss.omega.micros() >= micros(parameters.theta) || seen.executions >= EXECUTIONS_MAX {
            return Step::GiveUp(None);
        }
        if self.worsening >= parameters.kill_after {
            let distance_rose = rose_throughout(&self.distances, parameters.kill_after as usize);
            return Step::GiveUp(Some(Kill { distance_rose }));
        }
        let far = loss.d.micros() > micros(parameters.delta);
        let logical = loss.p.micros() > micros(parameters.rho);
        let change = match (Trend::of(gradient, &parameters), far, logical) {
            (Trend::Improving, _, _) | (Trend::Plateau | Trend::Worsening, false, _) => Change::Refine,
            (Trend::Plateau | Trend::Worsening, true, true) => Change::Class,
            (Trend::Plateau | Trend::Worsening, true, false) => Change::Target,
        };
        if change == Change::Class {
            self.block_tools_of_failing(seen);
        }
        Step::Replan(Instruction {
            changes: vec![change; seen.round.subtasks.len()],
            blocked_tools: self.blocked_tools.clone(),
            ..Instruction::default()
        })
    }
}
