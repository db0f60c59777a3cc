//! Fan-in: collects the outcomes of a round in any order, and releases the round when all have arrived.

use artoo_proto::{
    Answer, Coverage, CriterionVerdict, DispatchManifest, ManifestEntry, MissingOutcome, MissingReason, OutcomeStatus,
    SubTaskMissing, SubTaskOutcome, UnverifiedOutput, Verdict, escape,
};

use crate::agent_validator::is_excused;

/// Maximum length of the reason of one failed subtask in the gap summary, in characters.
const REASON_CHARS: usize = 300;

/// The parts of the current round that have arrived so far, in any order.
#[derive(Debug, Default)]
pub(super) struct FanIn {
    manifest: Option<DispatchManifest>,
    outcomes: Vec<SubTaskOutcome>,
    /// Notices of subtasks that will not report.
    missing: Vec<SubTaskMissing>,
    /// Number of the last completed round; `None` before the first.
    released: Option<u32>,
}

/// A complete round: every subtask of the manifest has an outcome or a reason for having none.
#[derive(Debug)]
pub(super) struct Gathered {
    pub(super) manifest: DispatchManifest,
    /// The outcomes of the subtasks, in the order of the manifest.
    pub(super) outcomes: Vec<SubTaskOutcome>,
    /// Notices of subtasks that will not report.
    missing: Vec<SubTaskMissing>,
    /// Which parts of the request are shown to be done after this round.
    pub(super) coverage: Coverage,
}

/// A message about a round for the fan-in: its manifest, a subtask's outcome, or a missing subtask.
#[derive(Debug)]
pub enum Part {
    /// The subtasks that were dispatched.
    Manifest(DispatchManifest),
    /// The outcome of one subtask.
    Outcome(SubTaskOutcome),
    /// The notice that a subtask will not report.
    Missing(SubTaskMissing),
}

impl FanIn {
    /// Adds a part of the current or a later round. Returns `false` if the part belongs to an earlier round or is a
    /// duplicate.
    pub(super) fn add(&mut self, part: Part) -> bool {
        let next = self.released.map_or(0, |round| round + 1);
        match part {
            Part::Manifest(manifest) if manifest.round >= next && self.manifest.is_none() => {
                self.manifest = Some(manifest);
            }
            Part::Outcome(outcome) if outcome.round >= next && !self.knows(outcome.subtask_id) => {
                self.outcomes.push(outcome);
            }
            Part::Missing(missing) if missing.round >= next && !self.knows(missing.subtask_id) => {
                self.missing.push(missing);
            }
            Part::Manifest(_) | Part::Outcome(_) | Part::Missing(_) => return false,
        }
        true
    }

    /// Whether the subtask has an outcome already, or was reported as missing.
    fn knows(&self, id: artoo_proto::SubTaskId) -> bool {
        self.outcomes.iter().any(|outcome| outcome.subtask_id == id)
            || self.missing.iter().any(|missing| missing.subtask_id == id)
    }

    /// Returns the round if it is complete, and starts collecting the next one; each round is returned once.
    pub(super) fn take_complete(&mut self) -> Option<Gathered> {
        let manifest = self.manifest.as_ref()?;
        if !manifest.subtasks.iter().all(|entry| self.knows(entry.subtask_id)) {
            return None;
        }
        let manifest = self.manifest.take()?;
        self.released = Some(manifest.round);
        let mut arrived = std::mem::take(&mut self.outcomes);
        let in_order = manifest.subtasks.iter().filter_map(|entry| {
            let at = arrived.iter().position(|outcome| outcome.subtask_id == entry.subtask_id)?;
            Some(arrived.swap_remove(at))
        });
        let outcomes = in_order.collect();
        let (missing, coverage) = (std::mem::take(&mut self.missing), Coverage::default());
        Some(Gathered { outcomes, missing, manifest, coverage })
    }
}

impl Gathered {
    /// Counts the subtasks as matched that failed by nothing but checks of the model's plan.
    pub(super) fn excuse(&mut self) {
        for outcome in &mut self.outcomes {
            let is_sound = outcome.denied.is_empty() && !outcome.infrastructure && outcome.model_failure.is_none();
            let has_failed = outcome.criteria_verdicts.iter().any(|verdict| verdict.verdict == Verdict::Fail);
            if is_sound && has_failed && is_met(outcome) {
                (outcome.status, outcome.failure_reason) = (OutcomeStatus::Matched, None);
            }
        }
    }

    /// Whether the whole round succeeded: there are outcomes, none is missing, and all are matched, with no failed
    /// criterion but excused checks.
    pub(super) fn all_matched(&self) -> bool {
        let matched = |outcome: &SubTaskOutcome| outcome.status == OutcomeStatus::Matched && is_met(outcome);
        !self.outcomes.is_empty() && self.missing.is_empty() && self.outcomes.iter().all(matched)
    }

    /// Whether a subtask ran without a report, so that its calls are not known.
    pub(super) fn has_unknown_calls(&self) -> bool {
        self.missing.iter().any(|missing| missing.reason != MissingReason::EarlierGroupFailed)
    }

    /// The outputs of the matched subtasks in sequence order, without their trailing newlines, joined by newlines.
    pub(super) fn merged_output(&self) -> String {
        let matched = self.outcomes.iter().filter(|outcome| outcome.status == OutcomeStatus::Matched);
        matched.map(|outcome| outcome.output.trim_end_matches('\n')).collect::<Vec<_>>().join("\n")
    }

    /// The outputs of the matched subtasks that answer the user, in sequence order, each labelled with its intent.
    pub(super) fn answers(&self) -> Vec<Answer> {
        let answers = |entry: &ManifestEntry| {
            let columns = entry.answers.clone()?;
            let outcome = self.outcomes.iter().find(|outcome| outcome.subtask_id == entry.subtask_id)?;
            let text = outcome.output.trim_end_matches('\n').to_owned();
            let last = outcome.tool_calls.iter().rev().find(|call| call.output == outcome.output);
            let whole = last.filter(|call| call.truncated).and_then(|call| call.whole_output().cloned());
            let is_matched = outcome.status == OutcomeStatus::Matched;
            is_matched.then(|| Answer { label: entry.intent.clone(), text, columns, whole })
        };
        self.manifest.subtasks.iter().filter_map(answers).collect()
    }

    /// The outputs of failed subtasks, kept apart from the answer because they were not verified.
    pub(super) fn unverified(&self) -> Vec<UnverifiedOutput> {
        let failed = self.outcomes.iter().filter(|o| o.status == OutcomeStatus::Failed && !o.output.trim().is_empty());
        failed.map(|o| UnverifiedOutput { intent: self.intent_of(o.subtask_id), output: o.output.clone() }).collect()
    }

    /// The subtasks without an outcome, with the reasons and their criteria.
    pub(super) fn missing(&self) -> Vec<MissingOutcome> {
        let entries = self.manifest.subtasks.iter();
        entries
            .filter_map(|entry| {
                let missing = self.missing.iter().find(|missing| missing.subtask_id == entry.subtask_id)?;
                Some(MissingOutcome {
                    subtask_id: entry.subtask_id,
                    intent: entry.intent.clone(),
                    reason: missing.reason,
                    criteria: entry.success_criteria.clone(),
                })
            })
            .collect()
    }

    /// One line for each failed subtask, missing subtask and unmet criterion of the task.
    pub(super) fn gap_summary(&self, task_verdicts: &[CriterionVerdict]) -> String {
        let failed = self.outcomes.iter().filter(|outcome| outcome.status == OutcomeStatus::Failed);
        let mut lines: Vec<String> = failed
            .map(|outcome| {
                let reason = outcome.failure_reason.as_deref().unwrap_or("no reason given");
                format!("{}: {}", self.intent_of(outcome.subtask_id), escape::shorten(reason, REASON_CHARS))
            })
            .collect();
        lines.extend(self.missing.iter().map(|m| format!("{}: {}", self.intent_of(m.subtask_id), m.reason)));
        let unmet = task_verdicts.iter().filter(|verdict| verdict.verdict == Verdict::Fail);
        lines.extend(unmet.map(|verdict| format!("{}: {}", verdict.criterion.claim(), verdict.evidence)));
        lines.join("\n")
    }

    /// The intent of a subtask by the manifest; empty if the manifest does not contain the subtask.
    fn intent_of(&self, id: artoo_proto::SubTaskId) -> String {
        let entry = self.manifest.subtasks.iter().find(|entry| entry.subtask_id == id);
        entry.map(|entry| entry.intent.clone()).unwrap_or_default()
    }
}

/// Whether every criterion of a subtask passed or is an excused check.
fn is_met(outcome: &SubTaskOutcome) -> bool {
    let is_met = |v: &CriterionVerdict| v.verdict == Verdict::Pass || is_excused(v, &outcome.tool_calls);
    outcome.criteria_verdicts.iter().all(is_met)
}
