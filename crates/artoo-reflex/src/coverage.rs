//! Coverage: checks after a task that everything its request asks for was done, and that nothing else was.
//!
//! A [`Ledger`] is made when a task begins, before anything is changed. It reads the request and simulates its steps on
//! a view of the disk. At the end of the task the recorded changes and the disk are compared with the simulation.

mod answer;
mod at_end;
mod compare;
mod git;
mod overlay;
mod performed;
mod records;
mod report;
mod simulate;
#[cfg(test)]
mod tests;
mod typed;
mod workspace;

use std::collections::BTreeMap;

use artoo_proto::{
    Clause, Coverage, CoverageState, Environment, Now, Obligation, OfferedReading, ProposedReading, Reading,
    SessionTurn, ToolCall, Unread,
};
use serde::{Deserialize, Serialize};

use self::overlay::Overlay;
pub(crate) use self::performed::HELD;
pub use self::performed::performed;
use self::simulate::{Expectation, Simulation, simulate};
pub(crate) use self::simulate::{Written, written};
use crate::algebra::Step;
use crate::english::english_steps;
use crate::ensure::ensure;
use crate::eval::FileSystem;
use crate::parse::{Background, ReadClause, background_of, clauses, owed, unsaid};

/// A view of the disk as it would be after these steps.
pub(crate) fn after<'a>(steps: &[Step], fs: &'a dyn FileSystem) -> impl FileSystem + use<'a> {
    let steps: Vec<&Step> = steps.iter().collect();
    Overlay::new(fs, simulate(&steps, BTreeMap::new(), fs).nodes)
}

/// The steps that a request asks for, with a simulation of the disk after them; compared with the records when the task
/// ends.
#[derive(Debug, Serialize, Deserialize)]
pub struct Ledger {
    environment: Environment,
    reading: Reading,
    /// The steps that code read in the request.
    read: Sequence,
    /// The same steps together with those that a model proposed; `None` without a proposal.
    offered: Option<Sequence>,
    required: Vec<Required>,
    by_required: bool,
    confirmed: bool,
    /// The proposals behind the offered readings.
    #[serde(default)]
    proposed: Vec<ProposedReading>,
}

/// The steps of a request, each with the position of its clause, and their simulation.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Sequence {
    steps: Vec<(usize, Step)>,
    simulation: Simulation,
    /// The same steps with new files that were named without a folder placed in the workspace; `None` if there are
    /// none.
    elsewhere: Option<Box<Self>>,
}

impl Sequence {
    /// The sequence of these steps in the order of their clauses, with their simulation.
    fn of(mut steps: Vec<(usize, Step)>, fs: &dyn FileSystem) -> Self {
        steps.sort_by_key(|(clause, _)| *clause);
        let all: Vec<&Step> = steps.iter().map(|(_, step)| step).collect();
        let simulation = simulate(&all, BTreeMap::new(), fs);
        Self { steps, simulation, elsewhere: None }
    }

    /// The sequence with an alternative in which new files that were named without a folder are in the workspace.
    fn with_workspace(mut self, clauses: &[Clause], environment: &Environment, fs: &dyn FileSystem) -> Self {
        let moved = workspace::in_workspace(&self.steps, clauses, environment, fs);
        self.elsewhere = moved.map(|steps| Box::new(Self::of(steps, fs)));
        self
    }
}

/// A check that a script requires.
#[derive(Debug, Serialize, Deserialize)]
struct Required {
    check: String,
    steps: Vec<Step>,
    simulation: Simulation,
}

impl Ledger {
    /// Reads a request without simulating it; [`Ledger::cover`] needs [`Ledger::simulate`] first.
    #[must_use]
    pub fn read(
        request: &str,
        session: &[SessionTurn],
        environment: &Environment,
        now: Now,
        fs: &dyn FileSystem,
    ) -> Self {
        Self::of_clauses(request, clauses(request, session, environment, now, fs), environment)
    }

    /// Simulates the changes and answers of the request. Must be called before the task changes anything.
    #[must_use]
    pub fn simulate(mut self, fs: &dyn FileSystem) -> Self {
        let read = Sequence::of(std::mem::take(&mut self.read.steps), fs);
        self.read = read.with_workspace(&self.reading.clauses, &self.environment, fs);
        self.reading.simulated = true;
        self
    }

    /// Whether the whole request was read, and each clause asks a question and changes nothing.
    #[must_use]
    pub fn only_asks(&self) -> bool {
        let is_read = self.reading.unread().next().is_none();
        is_read && self.read.steps.iter().all(|(_, step)| matches!(step, Step::Ask(_)))
    }

    /// The ledger of a request from its parsed clauses.
    fn of_clauses(request: &str, clauses: Vec<ReadClause>, environment: &Environment) -> Self {
        let (mut reading, mut all) = (Reading::default(), Vec::new());
        for (at, (number, clause)) in (1..).zip(clauses).enumerate() {
            let span = trimmed(request, clause.span);
            let words = request.get(span.0..span.1).unwrap_or_default().to_owned();
            let (steps, unread) = match clause.read {
                Ok(steps) => (steps, None),
                Err(unread) => (Vec::new(), Some(unread)),
            };
            let obligations = obligations(&steps);
            reading.clauses.push(Clause { number, span, words, obligations, unread });
            all.extend(steps.into_iter().map(|step| (at, step)));
        }
        reading.offered = backgrounds(&reading);
        Self {
            environment: environment.clone(),
            reading,
            read: Sequence { steps: all, ..Sequence::default() },
            offered: None,
            required: Vec::new(),
            by_required: false,
            confirmed: false,
            proposed: Vec::new(),
        }
    }

    /// The clauses of the request, the steps read in them, and the offered readings.
    #[must_use]
    pub fn reading(&self) -> &Reading {
        &self.reading
    }

    /// Adds checks that a script requires (`--require`). With `only` (`--exit-by-required`) the result depends on them
    /// alone.
    ///
    /// # Errors
    /// A message for the user if a check can't be parsed.
    pub fn require(&mut self, checks: &[String], only: bool, fs: &dyn FileSystem) -> Result<(), String> {
        for check in checks {
            let steps = typed::shorthand(check, &self.environment, fs)?;
            self.require_steps(check, steps, fs);
        }
        self.by_required = only;
        Ok(())
    }

    /// Adds one check that a script requires, with its steps. Its questions are answered when the task ends.
    fn require_steps(&mut self, check: &str, steps: Vec<Step>, fs: &dyn FileSystem) {
        let all: Vec<&Step> = steps.iter().collect();
        let mut simulation = simulate(&all, BTreeMap::new(), fs);
        // A check that fails on the initial disk may depend on the request, so it is simulated after the request.
        if simulation.rows.iter().any(|row| matches!(row, Expectation::Never(_))) {
            simulation = simulate(&all, self.read.simulation.nodes.clone(), fs);
        }
        for (row, step) in simulation.rows.iter_mut().zip(&steps) {
            if matches!(step, Step::Ask(_)) {
                *row = Expectation::Later(String::new());
            }
        }
        self.required.push(Required { check: check.to_owned(), steps, simulation });
    }

    /// Adds a model's proposals for how unread clauses are meant; they count only after [`Ledger::confirm`].
    pub fn propose(&mut self, proposals: &[ProposedReading], fs: &dyn FileSystem) {
        for proposal in proposals {
            // Proposed checks replace an offer that says the clause asks for nothing.
            let is_other = |known: &OfferedReading| known.clause != proposal.clause || !known.obligations.is_empty();
            self.reading.offered.retain(is_other);
            let typed = proposal.checks.iter().map(|check| typed::steps(check, &self.environment, fs));
            let offer = typed.collect::<Result<Vec<_>, _>>().map(|steps| steps.concat());
            let clause = self.reading.clauses.iter().find(|clause| clause.number == proposal.clause);
            let problem = |clause: &Clause| match proposal.checks.is_empty() {
                true => owed(&clause.words),
                false => unsaid(&clause.words, &proposal.checks),
            };
            let offer = match clause.and_then(problem) {
                Some(words) => Err(format!("“{words}”: no check says this; add one, or leave the clause unread")),
                None => offer,
            };
            let line = match offer.and_then(|steps| self.offer(proposal.clause, steps, fs)) {
                Ok(()) => {
                    self.proposed.retain(|known| known.clause != proposal.clause);
                    self.proposed.push(proposal.clone());
                    continue;
                }
                Err(problem) => format!("clause {}: {problem}", proposal.clause),
            };
            if !self.reading.refused.contains(&line) {
                self.reading.refused.push(line);
            }
        }
    }

    /// Adds one reading that a model proposed for an unread clause, unless the clause has one already; an error if the
    /// reading is not acceptable.
    fn offer(&mut self, number: u32, steps: Vec<Step>, fs: &dyn FileSystem) -> Result<(), String> {
        let unread =
            self.reading.unread().find(|(clause, _)| clause.number == number).map(|(clause, _)| clause.clone());
        let Some(clause) = unread else { return Err("it is read already, or there is none of this number".to_owned()) };
        ensure(!self.confirmed, || "the readings are confirmed already".to_owned())?;
        if self.reading.offered.iter().any(|known| known.clause == number) {
            return Ok(());
        }
        // A clause without checks is background information, which needs another clause to belong to.
        ensure(!steps.is_empty() || self.reading.clauses.len() != 1, || "it proposes nothing".to_owned())?;
        let again = Sequence::of(self.read.steps.clone(), fs);
        ensure(again.simulation.rows == self.read.simulation.rows, || {
            "files were changed since the request was read".to_owned()
        })?;
        let known = self.offered.as_ref().map_or(&self.read.steps, |offered| &offered.steps);
        let at = self.reading.clauses.iter().position(|known| known.number == number).unwrap_or_default();
        let all = known.iter().cloned().chain(steps.iter().map(|step| (at, step.clone())));
        let sequence = Sequence::of(all.collect(), fs);
        for ((place, step), row) in sequence.steps.iter().zip(&sequence.simulation.rows) {
            let is_new_problem = *place == at || !self.fails_already(*place, step);
            if let Expectation::Never(problem) = row
                && is_new_problem
            {
                return Err(problem.clone());
            }
        }
        self.offered = Some(sequence.with_workspace(&self.reading.clauses, &self.environment, fs));
        let obligations = obligations(&steps);
        self.reading.offered.push(OfferedReading { clause: number, words: clause.words, obligations });
        Ok(())
    }

    /// Whether the simulation of the read steps shows that a step of a clause can't be done.
    fn fails_already(&self, clause: usize, step: &Step) -> bool {
        let mut rows = self.read.steps.iter().zip(&self.read.simulation.rows);
        rows.any(|((at, known), row)| *at == clause && known == step && matches!(row, Expectation::Never(_)))
    }

    /// Records that the user confirmed the offered readings; from then on they count as the user's own words.
    pub fn confirm(&mut self) {
        self.confirmed = true;
    }

    /// Forgets the proposed readings, so that others can be proposed.
    pub fn withdraw(&mut self) {
        (self.confirmed, self.offered) = (false, None);
        self.proposed.clear();
        self.reading.refused.clear();
        self.reading.offered = backgrounds(&self.reading);
    }

    /// Compares the request with the recorded changes of the task's calls and with the current disk.
    #[must_use]
    pub fn cover(&self, calls: &[ToolCall], fs: &dyn FileSystem) -> Coverage {
        self.covered(calls, fs)
    }
}

/// The byte range of a clause without commas, semicolons and joining words such as "and" at its ends.
fn trimmed(request: &str, (from, to): (usize, usize)) -> (usize, usize) {
    let is_space = |c: char| c.is_whitespace() || matches!(c, ',' | ';');
    let is_join = |word: &str| ["and", "then", "also"].iter().any(|join| word.eq_ignore_ascii_case(join));
    let mut rest = request.get(from..to).unwrap_or_default().trim_matches(is_space);
    while let Some((_, after)) = rest.split_once(is_space).filter(|(first, _)| is_join(first)) {
        rest = after.trim_start_matches(is_space);
    }
    while let Some((before, _)) = rest.rsplit_once(is_space).filter(|(_, last)| is_join(last)) {
        rest = before.trim_end_matches(is_space);
    }
    let start = rest.as_ptr().addr() - request.as_ptr().addr();
    if rest.is_empty() { (from, to) } else { (start, start + rest.len()) }
}

/// For each unread clause that may only state a fact, the offer to treat it as background.
///
/// A statement that names files could restrict another clause, so it is offered only if no clause was read.
fn backgrounds(reading: &Reading) -> Vec<OfferedReading> {
    let is_read = reading.clauses.iter().any(|clause| clause.unread.is_none());
    let is_background = |clause: &&Clause| match background_of(&clause.words) {
        Some(Background::Circumstances) => true,
        Some(Background::Files) => !is_read,
        None => false,
    };
    let is_unread = |unread: &Unread| matches!(unread.state, CoverageState::NotRead | CoverageState::Vague);
    let unread = reading.unread().filter(|(_, unread)| is_unread(unread)).map(|(clause, _)| clause);
    let offer = |clause: &Clause| OfferedReading {
        clause: clause.number,
        words: clause.words.clone(),
        obligations: Vec::new(),
    };
    if reading.clauses.len() > 1 { unread.filter(is_background).map(offer).collect() } else { Vec::new() }
}

/// What must be done for these steps, each with its English sentence.
fn obligations(steps: &[Step]) -> Vec<Obligation> {
    let one = |step: &Step| {
        let reading = english_steps(std::slice::from_ref(step));
        Some(Obligation { step: serde_json::to_value(step).ok()?, reading })
    };
    steps.iter().filter_map(one).collect()
}
