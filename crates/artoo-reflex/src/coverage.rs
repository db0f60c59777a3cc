//! Coverage: compares what a request asks for with what was recorded, both ways.
//!
//! A [`Ledger`] is made when a task begins, while the disk is as the user left it. It reads the request, and computes
//! what the disk would hold if exactly this was done. At the end the recorded changes are compared with it.

mod typed;

use artoo_proto::{
    Clause, Coverage, CoverageState, Covered, Environment, Now, Obligation, ProposedReading, Reading, SessionTurn,
    ToolCall,
};

use crate::algebra::Step;
use crate::english::english_steps;
use crate::eval::FileSystem;
use crate::parse::clauses;

/// What one request asks for, and what the disk would hold if exactly this was done.
#[derive(Debug)]
pub struct Ledger {
    environment: Environment,
    reading: Reading,
    required: Vec<(String, Vec<Step>)>,
    by_required: bool,
    confirmed: bool,
}

impl Ledger {
    /// Reads a request and computes what it would change. To be called before the task changes anything.
    #[must_use]
    pub fn read(
        request: &str,
        session: &[SessionTurn],
        environment: &Environment,
        now: Now,
        fs: &dyn FileSystem,
    ) -> Self {
        let clauses = (1..).zip(clauses(request, session, environment, now, fs)).map(|(number, clause)| {
            let words = request.get(clause.span.0..clause.span.1).unwrap_or_default().to_owned();
            let (steps, unread) = match clause.read {
                Ok(steps) => (steps, None),
                Err(unread) => (Vec::new(), Some(unread)),
            };
            Clause { number, span: clause.span, words, obligations: obligations(&steps), unread }
        });
        let reading = Reading { clauses: clauses.collect(), ..Reading::default() };
        Self { environment: environment.clone(), reading, required: Vec::new(), by_required: false, confirmed: false }
    }

    /// The request as code reads it.
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
            self.required.push((check.clone(), steps));
        }
        self.by_required = only;
        Ok(())
    }

    /// Adds readings of unread clauses that a model proposed; they count only after [`Ledger::confirm`].
    pub fn propose(&mut self, proposals: &[ProposedReading], fs: &dyn FileSystem) {
        let _ = (proposals, fs);
    }

    /// The user confirmed the offered readings: from now on they count as the user's own words.
    pub fn confirm(&mut self) {
        self.confirmed = true;
    }

    /// Compares what was asked for with what the calls of the task recorded, and with the disk as it is now.
    #[must_use]
    pub fn cover(&self, calls: &[ToolCall], fs: &dyn FileSystem) -> Coverage {
        let _ = (calls, fs);
        let row = |clause: &Clause| Covered {
            span: clause.span,
            words: clause.words.clone(),
            act: None,
            state: CoverageState::NotShown,
            by: Vec::new(),
            why: "not compared".to_owned(),
            confirmed: false,
            required: false,
        };
        Coverage { rows: self.reading.clauses.iter().map(row).collect(), ..Coverage::default() }
    }
}

/// Steps as obligations, each with its English.
fn obligations(steps: &[Step]) -> Vec<Obligation> {
    let one = |step: &Step| {
        let reading = english_steps(std::slice::from_ref(step));
        Some(Obligation { step: serde_json::to_value(step).ok()?, reading })
    };
    steps.iter().filter_map(one).collect()
}
