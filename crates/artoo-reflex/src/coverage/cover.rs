//! The coverage of a request at the end of its task: a row for each obligation, and what nobody asked for.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use artoo_proto::run_by::run_by;
use artoo_proto::{
    Answer, Coverage, CoverageState, Covered, EvidenceId, FOLDER, OfferedReading, ToolCall, Unasked, Unread, escape,
};

use super::compare::{self, Looked};
use super::net::Found;
use super::overlay::shown;
use super::simulate::{Expect, Simulation};
use super::{Ledger, Sequence, git, later};
use crate::algebra::{Act, GitAction, Step};
use crate::english::english_steps;
use crate::eval::FileSystem;

impl Ledger {
    /// The coverage, with the offered readings that would count if they were confirmed.
    pub(super) fn covered(&self, calls: &[ToolCall], fs: &dyn FileSystem) -> Coverage {
        let found = Found::of(calls, fs);
        if self.reading.offered.is_empty() {
            return self.compared(&self.read, &found, false);
        }
        let confirmed = self.compared(self.offered.as_ref().unwrap_or(&self.read), &found, true);
        if self.confirmed {
            return confirmed;
        }
        let is_met = |row: &Covered| matches!(row.state, CoverageState::Shown | CoverageState::Courtesy);
        let counts = confirmed.is_complete() || confirmed.rows.iter().filter(|row| row.confirmed).all(is_met);
        let offered: Vec<OfferedReading> = if counts { self.reading.offered.clone() } else { Vec::new() };
        Coverage { offered, ..self.compared(&self.read, &found, false) }
    }

    /// Compares a sequence of steps with what was found: with new files of bare names in the current folder, or all of
    /// them in the workspace where that leaves less open.
    fn compared(&self, sequence: &Sequence, found: &Found<'_>, confirmed: bool) -> Coverage {
        let open = |coverage: &Coverage| coverage.refuted().count() + coverage.unasked.len();
        let here = self.compared_here(sequence, found, confirmed);
        let there = sequence.elsewhere.as_ref().filter(|_| !here.is_complete());
        let there = there.map(|sequence| self.compared_here(sequence, found, confirmed));
        there.filter(|there| open(there) < open(&here)).unwrap_or(here)
    }

    /// Compares a sequence of steps, and the required checks, with what was found.
    fn compared_here(&self, sequence: &Sequence, found: &Found<'_>, confirmed: bool) -> Coverage {
        let steps: Vec<&Step> = sequence.steps.iter().map(|(_, step)| step).collect();
        let is_offered = |number: u32| confirmed && self.reading.offered.iter().any(|offer| offer.clause == number);
        let is_partial = self.reading.unread().any(|(clause, _)| !is_offered(clause.number));
        let looked = self.looked(&steps, &sequence.simulation, found, is_partial);
        let (mut rows, mut answers) = (Vec::new(), Vec::new());
        for (at, clause) in self.reading.clauses.iter().enumerate() {
            let confirmed = is_offered(clause.number);
            let row = |act, state, by, why| Covered {
                span: clause.span,
                words: clause.words.clone(),
                act,
                state,
                by,
                why,
                confirmed,
                required: false,
            };
            let own = sequence.steps.iter().zip(&looked).filter(|((place, _), _)| *place == at);
            let before = rows.len();
            for ((_, step), looked) in own {
                let reading = english_steps(std::slice::from_ref(step));
                let why = if confirmed { format!("as you confirmed: {}", looked.why) } else { looked.why.clone() };
                answers.extend(answer(step, &reading, looked));
                rows.push(row(Some(reading), looked.state, looked.by.clone(), why));
            }
            if rows.len() == before {
                let nothing = || Unread { state: CoverageState::NotShown, why: "it asks for nothing".to_owned() };
                let background = || Unread {
                    state: CoverageState::Courtesy,
                    why: "as you confirmed: it asks for nothing".to_owned(),
                };
                let unread = if confirmed { Some(background()) } else { clause.unread.clone() };
                let Unread { state, why } = unread.unwrap_or_else(nothing);
                rows.push(row(None, state, Vec::new(), why));
            }
        }
        let mut claims = Claims::default();
        claims.add(&sequence.simulation, &looked);
        for required in &self.required {
            let steps: Vec<&Step> = required.steps.iter().collect();
            let looked = self.looked(&steps, &required.simulation, found, is_partial);
            claims.add(&required.simulation, &looked);
            for (step, looked) in required.steps.iter().zip(looked) {
                let act = Some(english_steps(std::slice::from_ref(step)));
                let Looked { state, by, why, .. } = looked;
                let words = required.check.clone();
                rows.push(Covered { span: (0, 0), words, act, state, by, why, confirmed: false, required: true });
            }
        }
        let (unasked, run_by_others) = claims.others(found);
        let (by_required, offered) = (self.by_required, Vec::new());
        Coverage { rows, unasked, run_by_others, answers: composed(answers), by_required, offered }
    }

    /// What is known of each step. `is_partial`: a part of the request is not read.
    fn looked(&self, steps: &[&Step], simulation: &Simulation, found: &Found<'_>, is_partial: bool) -> Vec<Looked> {
        let cwd = &self.environment.cwd;
        let mut all: Vec<Option<Looked>> = vec![None; steps.len()];
        // Commands first: what they changed is not held against the other steps.
        for ((at, step), row) in steps.iter().enumerate().zip(&simulation.rows) {
            let looked = match (row, step) {
                (Expect::Later(_), Step::Ask(query)) => later::ask(query, found),
                (Expect::Later(before), Step::Do(act)) => {
                    let looked = later::act(act, before, &place(steps, at, is_partial), found, cwd);
                    let is_ordered = matches!(act, Act::Run { .. } | Act::Git { action: GitAction::Commit { .. }, .. });
                    if is_ordered
                        && looked.state == CoverageState::Shown
                        && !in_order(steps, simulation, at, &looked, found)
                    {
                        let why = "it was not done at its place between the other changes";
                        Looked { calls: looked.calls, repository: looked.repository, ..Looked::not_shown(why) }
                    } else {
                        looked
                    }
                }
                (Expect::Nothing(why), _) => Looked::shown(Vec::new(), why.clone()),
                (Expect::Answered(text), _) => {
                    Looked { answer: Some(text.clone()), ..Looked::shown(Vec::new(), "computed by code") }
                }
                (Expect::Never(why), _) => Looked::not_shown(why.clone()),
                (Expect::Paths(..), _) => continue,
            };
            if let Some(slot) = all.get_mut(at) {
                *slot = Some(looked);
            }
        }
        let ran: BTreeSet<EvidenceId> = all.iter().flatten().flat_map(|looked| looked.calls.iter().cloned()).collect();
        let is_open = |path: &Path| {
            is_partial || found.touched.get(path).is_some_and(|change| change.by.iter().any(|call| ran.contains(call)))
        };
        let compared = |row: &Expect| match row {
            Expect::Paths(paths, left) => {
                compare::paths(paths, left.as_ref(), &simulation.nodes, found, &is_open, is_partial)
            }
            _ => Looked::not_shown("it was not compared"),
        };
        all.into_iter().zip(&simulation.rows).map(|(looked, row)| looked.unwrap_or_else(|| compared(row))).collect()
    }
}

/// Whether a command ran after the changes of the steps before it, and before those of the steps after it.
fn in_order(steps: &[&Step], simulation: &Simulation, at: usize, looked: &Looked, found: &Found<'_>) -> bool {
    let number = |call: &EvidenceId| found.calls.iter().position(|known| known.evidence_id == *call);
    // `git status` writes to the repository too: only a call that changed HEAD or a branch is a commit.
    let is_commit = |at: &usize| {
        let moves = |data: &Path, path: &Path| path.starts_with(data.join("refs/heads")) || *path == data.join("HEAD");
        let moves = |data: &Path| {
            found.calls.get(*at).is_some_and(|call| call.changed.iter().any(|one| moves(data, Path::new(&one.path))))
        };
        looked.repository.as_ref().is_none_or(|(data, _)| moves(data))
    };
    let all: Vec<usize> = looked.by.iter().filter_map(number).collect();
    let last = all.iter().copied().filter(is_commit).max();
    let Some(ran) = last.or_else(|| all.iter().copied().max()) else { return false };
    // Changes of later steps may lie between this commit and what later steps do in the repository.
    let mut later = steps.iter().skip(at + 1);
    let is_last = looked.repository.is_none() || !later.any(|step| matches!(step, Step::Do(Act::Git { .. })));
    let touched = |path: &PathBuf| found.touched.get(path).map(|change| change.by.clone()).unwrap_or_default();
    simulation.rows.iter().enumerate().all(|(other, row)| match row {
        Expect::Paths(paths, _) => {
            paths.iter().flat_map(touched).filter(|call| !looked.by.contains(call)).all(|call| {
                let other_ran = number(&call);
                if other < at { other_ran < Some(ran) } else { other_ran > Some(ran) || !is_last }
            })
        }
        _ => true,
    })
}

/// The steps on the same repository, around one of them.
fn place(steps: &[&Step], at: usize, is_partial: bool) -> git::Place {
    let folder = |step: &Step| match step {
        Step::Do(Act::Git { folder, action }) => Some((folder.clone(), action.clone())),
        _ => None,
    };
    let own = steps.get(at).and_then(|step| folder(step)).map(|(folder, _)| folder);
    let on_it = |steps: &[&Step]| -> Vec<GitAction> {
        let actions = steps.iter().filter_map(|step| folder(step));
        actions.filter(|(folder, _)| Some(folder) == own.as_ref()).map(|(_, action)| action).collect()
    };
    let commits =
        |actions: &[GitAction]| actions.iter().filter(|action| matches!(action, GitAction::Commit { .. })).count();
    let switches = |actions: &[GitAction]| {
        actions.iter().any(|action| matches!(action, GitAction::Switch { .. } | GitAction::Branch { switch: true, .. }))
    };
    let is_switch = |action: &GitAction| matches!(action, GitAction::Switch { .. });
    let (before, rest) = (on_it(steps.get(..at).unwrap_or_default()), on_it(steps.get(at..).unwrap_or_default()));
    let later = rest.get(1..).unwrap_or_default();
    let switches_before = before.iter().any(is_switch);
    // Commits after a switch are on another branch.
    let until_switch = rest.iter().skip(1).position(is_switch).map_or(rest.len(), |at| at + 1);
    let made = before.iter().rev().find_map(|action| match action {
        GitAction::Branch { name, switch: true } => Some(name.clone()),
        _ => None,
    });
    git::Place {
        commits_before: commits(&before),
        commits: commits(&before) + commits(rest.get(..until_switch).unwrap_or_default()),
        switches: switches_before || rest.iter().any(is_switch),
        switches_before,
        switches_later: switches(later),
        made,
        is_partial,
    }
}

/// The answer of a step that is shown, and whether the step is a question.
fn answer(step: &Step, reading: &str, looked: &Looked) -> Option<(bool, Answer)> {
    let text = looked.answer.clone().filter(|_| looked.state == CoverageState::Shown)?;
    let columns = if let Step::Ask(query) = step { query.columns() } else { Vec::new() };
    Some((matches!(step, Step::Ask(_)), Answer { columns, ..Answer::text(reading, text) }))
}

/// All answers in order; what commands printed only if there is no question.
fn composed(answers: Vec<(bool, Answer)>) -> Vec<Answer> {
    let has_question = answers.iter().any(|(is_question, _)| *is_question);
    let given = answers.into_iter().filter(|(is_question, _)| *is_question || !has_question);
    given.map(|(_, answer)| answer).collect()
}

/// The changes that belong to what was asked for.
#[derive(Default)]
pub(super) struct Claims {
    paths: BTreeSet<PathBuf>,
    calls: BTreeSet<EvidenceId>,
    installers: BTreeSet<EvidenceId>,
    repositories: BTreeMap<PathBuf, bool>,
    checked_out: Vec<(PathBuf, String)>,
}

impl Claims {
    /// Adds what these steps claim.
    pub(super) fn add(&mut self, simulation: &Simulation, looked: &[Looked]) {
        self.paths.extend(simulation.nodes.keys().cloned());
        for looked in looked {
            self.calls.extend(looked.calls.iter().cloned());
            self.installers.extend(looked.calls.iter().filter(|_| looked.installs).cloned());
            self.checked_out.extend(looked.checked_out.clone());
            // A commit of the same task leaves the repository as new as its creation did.
            if let Some((data, is_new)) = &looked.repository {
                *self.repositories.entry(data.clone()).or_default() |= is_new;
            }
        }
    }

    /// The recorded changes that belong to nothing that was asked for; and the changed files that other programs run.
    pub(super) fn others(&self, found: &Found<'_>) -> (Vec<Unasked>, Vec<String>) {
        let (mut unasked, mut run_by_others) = (Vec::new(), Vec::new());
        for (path, change) in found.touched.iter().filter(|(_, change)| change.is_net()) {
            let is_folder =
                change.after.as_deref().or(change.before.as_deref()).is_some_and(|state| state.starts_with(FOLDER));
            let is_hook = path.parent().is_some_and(|folder| folder.ends_with(".git/hooks"));
            let is_sample = path.extension().is_some_and(|extension| extension == "sample");
            let is_run = run_by(path, is_folder).is_some() || (is_hook && !is_sample);
            if is_run && change.after.is_some() {
                run_by_others.push(shown(path));
            }
            // A temporary file that was made and removed again changes the time of its folder.
            let is_time_of_folder = change.is_of_times() && found.fs.list(path).is_ok();
            let by_all = |calls: &BTreeSet<EvidenceId>| change.by.iter().all(|call| calls.contains(call));
            let is_of_command = by_all(&self.installers) || (by_all(&self.calls) && !is_run);
            let is_of_git = self.repositories.iter().any(|(data, is_new)| {
                path.starts_with(data) && (!is_hook || is_sample) && (*is_new || *path != data.join("config"))
            });
            let is_checked_out = || self.checked_out.iter().any(|out| git::is_as_committed(path, out, found.fs));
            if !(self.paths.contains(path) || is_time_of_folder || is_of_command || is_of_git || is_checked_out()) {
                let by = change.by.last().cloned();
                unasked.extend(by.map(|by| Unasked { path: shown(path), change: change.words().to_owned(), by }));
            }
        }
        for call in found.unknown().filter(|call| !self.calls.contains(&call.evidence_id)) {
            let change = format!("{} may have changed more than was recorded", escape::one_line(&call.tool));
            unasked.push(Unasked { path: String::new(), change, by: call.evidence_id.clone() });
        }
        (unasked, run_by_others)
    }
}
