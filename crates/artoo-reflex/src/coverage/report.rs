//! Reports at the end of a task for each step of the request whether it was done, and all unrequested changes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use artoo_proto::run_by::run_by;
use artoo_proto::{
    Answer, Coverage, CoverageState, Covered, EvidenceId, FOLDER, OfferedReading, ToolCall, Unasked, Unread, escape,
};

use super::compare::{self, StepResult};
use super::overlay::shown;
use super::records::Records;
use super::simulate::{Expectation, Simulation};
use super::{Ledger, Sequence, at_end, git};
use crate::algebra::{Act, GitAction, Step};
use crate::english::english_steps;
use crate::eval::FileSystem;
use crate::repository::is_as_committed;

impl Ledger {
    /// The coverage report. Confirmed readings count as the user's words; unconfirmed ones are offered for confirmation
    /// if they would be met.
    pub(super) fn covered(&self, calls: &[ToolCall], fs: &dyn FileSystem) -> Coverage {
        let records = Records::of(calls, fs);
        if self.reading.offered.is_empty() {
            return self.compared(&self.read, &records, false);
        }
        let confirmed = self.compared(self.offered.as_ref().unwrap_or(&self.read), &records, true);
        if self.confirmed {
            return Coverage { confirmed: self.proposed.clone(), ..confirmed };
        }
        let is_met = |row: &Covered| matches!(row.state, CoverageState::Shown | CoverageState::Courtesy);
        let counts = confirmed.is_complete() || confirmed.rows.iter().filter(|row| row.confirmed).all(is_met);
        let offered: Vec<OfferedReading> = if counts { self.reading.offered.clone() } else { Vec::new() };
        Coverage { offered, ..self.compared(&self.read, &records, false) }
    }

    /// Compares a sequence of steps with the records. New files that were named without a folder may be in the current
    /// folder, or all in the workspace; the alternative with fewer problems counts.
    fn compared(&self, sequence: &Sequence, records: &Records<'_>, confirmed: bool) -> Coverage {
        let open = |coverage: &Coverage| coverage.refuted().count() + coverage.unasked.len();
        let here = self.compared_here(sequence, records, confirmed);
        let there = sequence.elsewhere.as_ref().filter(|_| !here.is_complete());
        let there = there.map(|sequence| self.compared_here(sequence, records, confirmed));
        there.filter(|there| open(there) < open(&here)).unwrap_or(here)
    }

    /// Compares one alternative of a sequence of steps, and the required checks, with the records.
    fn compared_here(&self, sequence: &Sequence, records: &Records<'_>, confirmed: bool) -> Coverage {
        let steps: Vec<&Step> = sequence.steps.iter().map(|(_, step)| step).collect();
        let is_offered = |number: u32| confirmed && self.reading.offered.iter().any(|offer| offer.clause == number);
        let is_partial = self.reading.unread().any(|(clause, _)| !is_offered(clause.number));
        let results = self.step_results(&steps, &sequence.simulation, records, is_partial);
        let (mut rows, mut answers) = (Vec::new(), Vec::new());
        for (at, clause) in self.reading.clauses.iter().enumerate() {
            let confirmed = is_offered(clause.number);
            let row = |act, state, by, why| {
                let words = clause.words.clone();
                Covered { span: clause.span, words, act, state, by, why, confirmed, required: false }
            };
            let own = sequence.steps.iter().zip(&results).filter(|((position, _), _)| *position == at);
            let before = rows.len();
            for ((_, step), result) in own {
                let reading = english_steps(std::slice::from_ref(step));
                let why = if confirmed { format!("as you confirmed: {}", result.why) } else { result.why.clone() };
                answers.extend(answer(step, &reading, result));
                rows.push(row(Some(reading), result.state, result.by.clone(), why));
            }
            if rows.len() == before {
                let (state, why) = match &clause.unread {
                    _ if confirmed => (CoverageState::Courtesy, "as you confirmed: it asks for nothing".to_owned()),
                    Some(Unread { state, why }) => (*state, why.clone()),
                    None => (CoverageState::NotShown, "it asks for nothing".to_owned()),
                };
                rows.push(row(None, state, Vec::new(), why));
            }
        }
        let mut requested = RequestedChanges::default();
        requested.add(&sequence.simulation, &results);
        for required in &self.required {
            let steps: Vec<&Step> = required.steps.iter().collect();
            let results = self.step_results(&steps, &required.simulation, records, is_partial);
            requested.add(&required.simulation, &results);
            for (step, result) in required.steps.iter().zip(results) {
                let act = Some(english_steps(std::slice::from_ref(step)));
                let StepResult { state, by, why, .. } = result;
                let words = required.check.clone();
                rows.push(Covered { span: (0, 0), words, act, state, by, why, confirmed: false, required: true });
            }
        }
        let (unasked, run_by_others) = requested.unrequested(records);
        let (by_required, offered) = (self.by_required, Vec::new());
        Coverage {
            rows,
            unasked,
            run_by_others,
            answers: composed(answers),
            by_required,
            offered,
            confirmed: Vec::new(),
        }
    }

    /// The result of each step. `is_partial` says that a part of the request is not read.
    fn step_results(
        &self,
        steps: &[&Step],
        simulation: &Simulation,
        records: &Records<'_>,
        is_partial: bool,
    ) -> Vec<StepResult> {
        // Commands come first: a path that a command changed may differ from what the other steps ask for.
        let look = |((at, step), row): ((usize, &&Step), &Expectation)| match (row, step) {
            (Expectation::Later(_), Step::Ask(query)) => Some(at_end::ask(query, records)),
            (Expectation::Later(before), Step::Do(act)) => {
                let result =
                    at_end::act(act, before, &git_context(steps, at, is_partial), records, &self.environment.cwd);
                let is_ordered = matches!(act, Act::Run { .. } | Act::Git { action: GitAction::Commit { .. }, .. });
                let is_shown = result.state == CoverageState::Shown;
                if is_ordered && is_shown && !in_order(steps, simulation, at, &result, records) {
                    let why = "it was not done at its place between the other changes";
                    let StepResult { calls, repository, .. } = result;
                    return Some(StepResult { calls, repository, ..StepResult::not_shown(why) });
                }
                Some(result)
            }
            (Expectation::Nothing(why), _) => Some(StepResult::shown(Vec::new(), why.clone())),
            (Expectation::Answered(text), _) => {
                Some(StepResult { answer: Some(text.clone()), ..StepResult::shown(Vec::new(), "computed by code") })
            }
            (Expectation::Never(why), _) => Some(StepResult::not_shown(why.clone())),
            (Expectation::Paths(..), _) => None,
        };
        let all: Vec<Option<StepResult>> = steps.iter().enumerate().zip(&simulation.rows).map(look).collect();
        let ran: BTreeSet<EvidenceId> = all.iter().flatten().flat_map(|result| result.calls.iter().cloned()).collect();
        let is_open = |path: &Path| {
            is_partial
                || records.touched.get(path).is_some_and(|change| change.by.iter().any(|call| ran.contains(call)))
        };
        let compared = |row: &Expectation| match row {
            Expectation::Paths(paths, left) => {
                compare::paths(paths, left.as_ref(), &simulation.nodes, records, &is_open, is_partial)
            }
            _ => StepResult::not_shown("it was not compared"),
        };
        all.into_iter().zip(&simulation.rows).map(|(result, row)| result.unwrap_or_else(|| compared(row))).collect()
    }
}

/// Whether the command or commit of a step came after the changes of all earlier steps, and before those of all later
/// steps.
fn in_order(steps: &[&Step], simulation: &Simulation, at: usize, result: &StepResult, records: &Records<'_>) -> bool {
    let number = |call: &EvidenceId| records.calls.iter().position(|known| known.evidence_id == *call);
    // Even `git status` writes to the repository, so only a call that changed HEAD or a branch counts as a commit.
    let is_commit = |at: &usize| {
        let Some((data, _)) = &result.repository else { return true };
        let moves = |path: &Path| path.starts_with(data.join("refs/heads")) || *path == data.join("HEAD");
        records.calls.get(*at).is_some_and(|call| call.changed.iter().any(|one| moves(Path::new(&one.path))))
    };
    let all = || result.by.iter().filter_map(number);
    let Some(ran) = all().filter(is_commit).max().or_else(|| all().max()) else { return false };
    // Changes of later steps may come before the last git call, if a later git step made that call.
    let mut later = steps.iter().skip(at + 1);
    let is_last = result.repository.is_none() || !later.any(|step| matches!(step, Step::Do(Act::Git { .. })));
    let touched = |path: &PathBuf| records.touched.get(path).map(|change| change.by.clone()).unwrap_or_default();
    simulation.rows.iter().enumerate().all(|(other, row)| match row {
        Expectation::Paths(paths, _) => {
            paths.iter().flat_map(touched).filter(|call| !result.by.contains(call)).all(|call| {
                let other_ran = number(&call);
                if other < at { other_ran < Some(ran) } else { other_ran > Some(ran) || !is_last }
            })
        }
        _ => true,
    })
}

/// The git steps on the same repository as the step at this position, before and after it.
fn git_context(steps: &[&Step], at: usize, is_partial: bool) -> git::GitContext {
    let mut context = git::GitContext { is_partial, ..git::GitContext::default() };
    let Some(Step::Do(Act::Git { folder: own, .. })) = steps.get(at) else { return context };
    let mut is_left = false;
    for (position, step) in steps.iter().enumerate() {
        match step {
            Step::Do(Act::Git { folder, action }) if folder == own => match action {
                GitAction::Commit { .. } => {
                    context.commits_before += usize::from(position < at);
                    // Commits after a switch are on another branch.
                    context.commits += usize::from(!is_left);
                }
                GitAction::Switch { .. } => {
                    context.switches = true;
                    context.switches_before |= position < at;
                    context.switches_later |= position > at;
                    is_left |= position > at;
                }
                GitAction::Branch { name, switch: true } => {
                    context.switches_later |= position > at;
                    context.made = Some(name.clone()).filter(|_| position < at).or(context.made);
                }
                GitAction::Branch { .. } | GitAction::Init | GitAction::Tag { .. } => {}
            },
            _ => {}
        }
    }
    context
}

/// The answer of a step that is shown to be done, if it has one, and whether the step is a question.
fn answer(step: &Step, reading: &str, result: &StepResult) -> Option<(bool, Answer)> {
    let text = result.answer.clone().filter(|_| result.state == CoverageState::Shown)?;
    let columns = if let Step::Ask(query) = step { query.columns() } else { Vec::new() };
    Some((matches!(step, Step::Ask(_)), Answer { columns, ..Answer::text(reading, text) }))
}

/// The answers to show: those to questions, in order; without a question, the outputs of commands.
fn composed(answers: Vec<(bool, Answer)>) -> Vec<Answer> {
    let has_question = answers.iter().any(|(is_question, _)| *is_question);
    let given = answers.into_iter().filter(|(is_question, _)| *is_question || !has_question);
    given.map(|(_, answer)| answer).collect()
}

/// The paths, calls and repositories whose changes were requested.
#[derive(Default)]
pub(super) struct RequestedChanges {
    paths: BTreeSet<PathBuf>,
    calls: BTreeSet<EvidenceId>,
    installers: BTreeSet<EvidenceId>,
    repositories: BTreeMap<PathBuf, bool>,
    checked_out: Vec<(PathBuf, String)>,
}

impl RequestedChanges {
    /// Adds the changes that these steps ask for.
    pub(super) fn add(&mut self, simulation: &Simulation, results: &[StepResult]) {
        self.paths.extend(simulation.nodes.keys().cloned());
        for result in results {
            self.calls.extend(result.calls.iter().cloned());
            self.installers.extend(result.calls.iter().filter(|_| result.installs).cloned());
            self.checked_out.extend(result.checked_out.clone());
            // A repository that the task created stays new after a commit.
            if let Some((data, is_new)) = &result.repository {
                *self.repositories.entry(data.clone()).or_default() |= is_new;
            }
        }
    }

    /// The recorded changes that were not requested, and the changed files that other programs run by themselves.
    pub(super) fn unrequested(&self, records: &Records<'_>) -> (Vec<Unasked>, Vec<String>) {
        let (mut unasked, mut run_by_others) = (Vec::new(), Vec::new());
        for (path, change) in records.touched.iter().filter(|(_, change)| change.is_net()) {
            let is_folder =
                change.after.as_deref().or(change.before.as_deref()).is_some_and(|state| state.starts_with(FOLDER));
            let is_hook = path.parent().is_some_and(|folder| folder.ends_with(".git/hooks"));
            let is_sample = path.extension().is_some_and(|extension| extension == "sample");
            let is_run = run_by(path, is_folder).is_some() || (is_hook && !is_sample);
            if is_run && change.after.is_some() {
                run_by_others.push(shown(path));
            }
            // A temporary file that was created and removed changes only the time of its folder.
            let is_time_of_folder = change.is_of_times() && records.fs.list(path).is_ok();
            let by_all = |calls: &BTreeSet<EvidenceId>| change.by.iter().all(|call| calls.contains(call));
            let is_of_command = by_all(&self.installers) || (by_all(&self.calls) && !is_run);
            let is_of_git = self.repositories.iter().any(|(data, is_new)| {
                path.starts_with(data) && (!is_hook || is_sample) && (*is_new || *path != data.join("config"))
            });
            let is_checked_out = || self.checked_out.iter().any(|out| is_as_committed(path, out, records.fs));
            if !(self.paths.contains(path) || is_time_of_folder || is_of_command || is_of_git || is_checked_out()) {
                let by = change.by.last().cloned();
                unasked.extend(by.map(|by| Unasked { path: shown(path), change: change.words().to_owned(), by }));
            }
        }
        for call in records.unknown().filter(|call| !self.calls.contains(&call.evidence_id)) {
            let change = format!("{} may have changed more than was recorded", escape::one_line(&call.tool));
            unasked.push(Unasked { path: String::new(), change, by: call.evidence_id.clone() });
        }
        (unasked, run_by_others)
    }
}
