//! Coverage: the parts of the user's request as code reads them, and the evidence that each part is done.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Answer, EvidenceId};

/// A required effect or answer that code reads from the user's words and can compare with what was done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Obligation {
    /// The question or change asked for; its structure belongs to `artoo-reflex`.
    pub step: Value,
    /// The obligation in English.
    pub reading: String,
}

/// Why code reads no obligation from a part of the request, as a state and as text for the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unread {
    /// The state that this part keeps, unless the user confirms a reading of it.
    pub state: CoverageState,
    /// Why, in words for the user, with what to say instead if that is known.
    pub why: String,
}

/// A part of the request: either code reads every word of it as obligations, or it counts as not read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Clause {
    /// Number of the clause, from 1.
    pub number: u32,
    /// The bytes of the request that the clause covers, `[from, to)`.
    pub span: (usize, usize),
    /// The words of the clause, verbatim.
    pub words: String,
    /// What the clause asks for; empty if it was not read or asks for nothing.
    #[serde(default)]
    pub obligations: Vec<Obligation>,
    /// Why there are no obligations; `null` if there are.
    #[serde(default)]
    pub unread: Option<Unread>,
}

/// A model's proposal for the meaning of a clause, before code has checked it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProposedReading {
    /// Number of the clause.
    pub clause: u32,
    /// The typed checks that a model proposes for the clause: objects with a `kind`.
    pub checks: Vec<Value>,
}

/// A reading of a clause that a model proposed and code understood, or, without obligations, that the clause is only
/// background. It counts only after the user has confirmed it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OfferedReading {
    /// Number of the clause.
    pub clause: u32,
    /// The words of the clause, verbatim.
    pub words: String,
    /// What the clause would ask for; empty if it only tells how things are.
    pub obligations: Vec<Obligation>,
}

/// The whole request as code reads it: its clauses with their obligations, and offered readings.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// The clauses in order; together they hold every word of the request.
    pub clauses: Vec<Clause>,
    /// Whether code also computed what the request would change and answer, so that coverage can be compared.
    #[serde(default)]
    pub simulated: bool,
    /// Readings of unread clauses that a model proposed and code understood, and clauses that may be background.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub offered: Vec<OfferedReading>,
    /// What was wrong with the other proposals, one line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<String>,
}

impl Reading {
    /// The clauses that ask for something and that code could not read.
    pub fn unread(&self) -> impl Iterator<Item = (&Clause, &Unread)> {
        let is_open = |unread: &&Unread| unread.state != CoverageState::Courtesy;
        self.clauses.iter().filter_map(move |clause| Some((clause, clause.unread.as_ref().filter(is_open)?)))
    }
}

/// Whether a part of the request is shown to be done, refuted, not shown, or can't be decided by code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CoverageState {
    /// Recorded facts show that it was done, and code computed them again.
    Shown,
    /// Recorded facts show that it was not done as asked.
    Refuted,
    /// No recorded fact shows it, and none contradicts it.
    NotShown,
    /// It has no bound that code could test, as "big" or "recent" without a number.
    Vague,
    /// It asks how something is done, so nothing is owed that code could test.
    Described,
    /// Code can't read the words of this part.
    NotRead,
    /// Only a model or a person can judge it, as a summary.
    Judged,
    /// It asks for a text alone, such as a poem or a summary, which only a model or a person can judge; it asks neither
    /// for a change nor for a fact about the machine.
    Words,
    /// The part asks for nothing, as "please".
    Courtesy,
}

/// The state of one obligation, or of one clause without obligations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Covered {
    /// The bytes of the request that are meant, `[from, to)`; empty for a check that a script required.
    pub span: (usize, usize),
    /// The words of the clause, or of the required check, verbatim.
    pub words: String,
    /// The obligation in English; `null` for a clause without one.
    pub act: Option<String>,
    /// What is known of it.
    pub state: CoverageState,
    /// The calls whose records support the state.
    pub by: Vec<EvidenceId>,
    /// What was found, or what is missing, in words for the user.
    pub why: String,
    /// Whether the obligation is a model's reading that the user confirmed.
    #[serde(default)]
    pub confirmed: bool,
    /// Whether a script required the obligation (`--require`).
    #[serde(default)]
    pub required: bool,
}

/// A recorded change that no part of the request asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unasked {
    /// The path that changed, escaped for display; empty if it is not known what changed.
    pub path: String,
    /// What happened to it, in words.
    pub change: String,
    /// The call that did it.
    pub by: EvidenceId,
}

/// The coverage of a request: which parts are proven to be done, and by which evidence.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Coverage {
    /// One row for each obligation and for each clause without one, in the order of the request; then the required
    /// checks.
    pub rows: Vec<Covered>,
    /// Changes that the request does not ask for.
    pub unasked: Vec<Unasked>,
    /// Changed files that other programs run by themselves, as paths escaped for display.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub run_by_others: Vec<String>,
    /// The answers to the questions of the request, composed by code alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<Answer>,
    /// Whether only the required checks and [`Coverage::unasked`] decide (`--exit-by-required`).
    #[serde(default)]
    pub by_required: bool,
    /// Readings that would count if the user confirmed them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub offered: Vec<OfferedReading>,
    /// Proposed readings that the user confirmed, as they were proposed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub confirmed: Vec<ProposedReading>,
}

impl Coverage {
    /// The rows that decide the ending: all, or only the required ones if the user chose so.
    pub fn deciding(&self) -> impl Iterator<Item = &Covered> {
        self.rows.iter().filter(|row| row.required || !self.by_required)
    }

    /// Whether every deciding part of the request (at least one, courtesies aside) is shown to be done, and no other
    /// change was made.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        let is_met = |row: &Covered| matches!(row.state, CoverageState::Shown | CoverageState::Courtesy);
        let is_shown = |row: &Covered| row.state == CoverageState::Shown;
        self.unasked.is_empty() && self.deciding().all(is_met) && self.deciding().any(is_shown)
    }

    /// The texts of the answers that code composed; `None` if there is none.
    #[must_use]
    pub fn answer(&self) -> Option<String> {
        (!self.answers.is_empty()).then(|| Answer::join(&self.answers))
    }

    /// The deciding parts of the request that are proven not to be done as asked.
    pub fn refuted(&self) -> impl Iterator<Item = &Covered> {
        self.deciding().filter(|row| row.state == CoverageState::Refuted)
    }
}
