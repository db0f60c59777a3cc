//! Coverage: compares what a request asks for with what was recorded, both ways.
//!
//! A [`Ledger`] is made when a task begins, while the disk is as the user left it. It reads the request, and computes
//! what the disk would hold if exactly this was done. At the end the recorded changes are compared with it.

mod answer;
mod compare;
mod cover;
mod elsewhere;
mod git;
mod later;
mod net;
mod overlay;
mod performed;
pub(crate) mod settings;
mod simulate;
#[cfg(test)]
mod tests;
mod typed;

use std::collections::BTreeMap;

use artoo_proto::{
    Clause, Coverage, CoverageState, Environment, Now, Obligation, OfferedReading, ProposedReading, Reading,
    SessionTurn, ToolCall, Unread,
};

pub use self::performed::performed;
use self::simulate::{Expect, Simulation, simulate};
use crate::algebra::Step;
use crate::english::english_steps;
use crate::eval::FileSystem;
use crate::parse::{Background, ReadClause, background_of, clauses, owed, unsaid};

/// What one request asks for, and what the disk would hold if exactly this was done.
#[derive(Debug)]
pub struct Ledger {
    environment: Environment,
    reading: Reading,
    /// What was read.
    read: Sequence,
    /// What was read together with what a model proposed; `None` without a proposal.
    offered: Option<Sequence>,
    required: Vec<Required>,
    by_required: bool,
    confirmed: bool,
}

/// The steps of a request, each with the position of its clause, and what they would leave.
#[derive(Debug, Default)]
struct Sequence {
    steps: Vec<(usize, Step)>,
    simulation: Simulation,
    /// The same steps with new files of bare names placed in the workspace; `None` if there are none.
    elsewhere: Option<Box<Self>>,
}

impl Sequence {
    fn of(mut steps: Vec<(usize, Step)>, fs: &dyn FileSystem) -> Self {
        steps.sort_by_key(|(clause, _)| *clause);
        let all: Vec<&Step> = steps.iter().map(|(_, step)| step).collect();
        let simulation = simulate(&all, BTreeMap::new(), fs);
        Self { steps, simulation, elsewhere: None }
    }

    /// Adds the sequence that places new files of bare names in the workspace.
    fn with_workspace(mut self, clauses: &[Clause], environment: &Environment, fs: &dyn FileSystem) -> Self {
        let moved = elsewhere::in_workspace(&self.steps, clauses, environment, fs);
        self.elsewhere = moved.map(|steps| Box::new(Self::of(steps, fs)));
        self
    }
}

/// A check that a script requires.
#[derive(Debug)]
struct Required {
    check: String,
    steps: Vec<Step>,
    simulation: Simulation,
}

impl Ledger {
    /// Reads a request without computing what it would change. Such a ledger can't be compared until
    /// [`Ledger::simulate`].
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

    /// Computes what the request would change and answer. To be called before the task changes anything.
    #[must_use]
    pub fn simulate(mut self, fs: &dyn FileSystem) -> Self {
        let read = Sequence::of(std::mem::take(&mut self.read.steps), fs);
        self.read = read.with_workspace(&self.reading.clauses, &self.environment, fs);
        self.reading.simulated = true;
        self
    }

    /// The ledger of a request whose clauses are read already.
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
        }
    }

    /// The clauses of the request, the steps read in them, and the readings on offer.
    #[must_use]
    pub fn reading(&self) -> &Reading {
        &self.reading
    }

    /// Adds checks that a script requires (`--require`); `only` lets them alone decide (`--exit-by-required`).
    ///
    /// # Errors
    /// What is wrong with the first check that can't be read, for the user.
    pub fn require(&mut self, checks: &[String], only: bool, fs: &dyn FileSystem) -> Result<(), String> {
        for check in checks {
            let steps = typed::shorthand(check, &self.environment, fs)?;
            self.require_steps(check, steps, fs);
        }
        self.by_required = only;
        Ok(())
    }

    /// Adds one required check. It is about the end of the task, so its questions are answered then.
    fn require_steps(&mut self, check: &str, steps: Vec<Step>, fs: &dyn FileSystem) {
        let all: Vec<&Step> = steps.iter().collect();
        let mut simulation = simulate(&all, BTreeMap::new(), fs);
        // What only the request itself makes possible is carried out after it.
        if simulation.rows.iter().any(|row| matches!(row, Expect::Never(_))) {
            simulation = simulate(&all, self.read.simulation.nodes.clone(), fs);
        }
        for (row, step) in simulation.rows.iter_mut().zip(&steps) {
            if matches!(step, Step::Ask(_)) {
                *row = Expect::Later(String::new());
            }
        }
        self.required.push(Required { check: check.to_owned(), steps, simulation });
    }

    /// Adds readings of unread clauses that a model proposed; they count only after [`Ledger::confirm`].
    pub fn propose(&mut self, proposals: &[ProposedReading], fs: &dyn FileSystem) {
        for proposal in proposals {
            // A model that proposes checks says that the clause asks for something.
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
            if let Err(problem) = offer.and_then(|steps| self.offer(proposal.clause, steps, fs)) {
                let line = format!("clause {}: {problem}", proposal.clause);
                if !self.reading.refused.contains(&line) {
                    self.reading.refused.push(line);
                }
            }
        }
    }

    /// Adds one proposed reading; an error if it can't count.
    fn offer(&mut self, number: u32, steps: Vec<Step>, fs: &dyn FileSystem) -> Result<(), String> {
        let unread =
            self.reading.unread().find(|(clause, _)| clause.number == number).map(|(clause, _)| clause.clone());
        let Some(clause) = unread else { return Err("it is read already, or there is none of this number".to_owned()) };
        if self.confirmed {
            return Err("the readings are confirmed already".to_owned());
        }
        if self.reading.offered.iter().any(|known| known.clause == number) {
            return Ok(());
        }
        // A clause that asks for nothing is background to one that does.
        if steps.is_empty() && self.reading.clauses.len() == 1 {
            return Err("it proposes nothing".to_owned());
        }
        let again = Sequence::of(self.read.steps.clone(), fs);
        if again.simulation.rows != self.read.simulation.rows {
            return Err("files were changed since the request was read".to_owned());
        }
        let known = self.offered.as_ref().map_or(&self.read.steps, |offered| &offered.steps);
        let at = self.reading.clauses.iter().position(|known| known.number == number).unwrap_or_default();
        let all = known.iter().cloned().chain(steps.iter().map(|step| (at, step.clone())));
        let sequence = Sequence::of(all.collect(), fs);
        for ((place, step), row) in sequence.steps.iter().zip(&sequence.simulation.rows) {
            let is_new_problem = *place == at || !self.fails_already(*place, step);
            if let Expect::Never(problem) = row
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

    /// Whether a step that was read can't be met by itself.
    fn fails_already(&self, clause: usize, step: &Step) -> bool {
        let mut rows = self.read.steps.iter().zip(&self.read.simulation.rows);
        rows.any(|((at, known), row)| *at == clause && known == step && matches!(row, Expect::Never(_)))
    }

    /// The user confirmed the offered readings: from now on they count as the user's own words.
    pub fn confirm(&mut self) {
        self.confirmed = true;
    }

    /// Compares what was asked for with what the calls of the task recorded, and with the disk as it is now.
    #[must_use]
    pub fn cover(&self, calls: &[ToolCall], fs: &dyn FileSystem) -> Coverage {
        self.covered(calls, fs)
    }
}

/// The bytes of a clause without the words and marks that join it to others.
fn trimmed(request: &str, (from, to): (usize, usize)) -> (usize, usize) {
    const JOINS: [&str; 3] = ["and", "then", "also"];
    let is_space = |c: char| c.is_whitespace() || matches!(c, ',' | ';');
    let mut words = request.get(from..to).unwrap_or_default().trim_matches(is_space);
    loop {
        let first = words.split(is_space).next().filter(|first| first.len() < words.len());
        let last = words.rsplit(is_space).next().filter(|last| last.len() < words.len());
        let joins = |word: Option<&str>| {
            word.filter(|word| JOINS.iter().any(|join| word.eq_ignore_ascii_case(join))).map(str::len)
        };
        words = match (joins(first), joins(last)) {
            (Some(length), _) => words.get(length..),
            (None, Some(length)) => words.get(..words.len() - length),
            (None, None) => break,
        }
        .unwrap_or_default()
        .trim_matches(is_space);
    }
    let start = words.as_ptr().addr() - request.as_ptr().addr();
    if words.is_empty() { (from, to) } else { (start, start + words.len()) }
}

/// The clauses that may only tell how things are, as readings without obligations.
///
/// One that names files could say what a clause that code read is about, so it must stand beside none.
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

/// Steps as obligations, each with its English.
fn obligations(steps: &[Step]) -> Vec<Obligation> {
    let one = |step: &Step| {
        let reading = english_steps(std::slice::from_ref(step));
        Some(Obligation { step: serde_json::to_value(step).ok()?, reading })
    };
    steps.iter().filter_map(one).collect()
}
