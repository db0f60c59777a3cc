//! The verdicts on a set of criteria, which are decided step by step. R4a and R4b share this type.

use artoo_proto::{Check, CheckOutcome, Criterion, CriterionVerdict, EvidenceId, ModelFailure, ToolCall, Verdict};

use super::evidence::{Ruling, left_open, rule, unjudged};
use super::judgement::{Grounds, Judgement, apply_judgement, pass_by_check};

/// A set of criteria, each with its verdict or still open.
#[derive(Debug)]
pub(crate) struct Verdicts {
    criteria: Vec<Criterion>,
    /// The verdict on each criterion, in the same order; `None` if it is open.
    decided: Vec<Option<CriterionVerdict>>,
    /// Indexes of the criteria whose checks are running, in the order of the checks, each with the calls that are its
    /// evidence.
    checking: Vec<(usize, Vec<EvidenceId>)>,
}

impl Verdicts {
    /// A set of these criteria, none of which has a verdict yet.
    pub(crate) fn new(criteria: Vec<Criterion>) -> Self {
        Self { decided: vec![None; criteria.len()], criteria, checking: Vec::new() }
    }

    /// Number of criteria, with and without a verdict.
    pub(crate) fn len(&self) -> usize {
        self.criteria.len()
    }

    /// Decides the open criteria that code alone can decide, and returns the checks to run for others.
    pub(crate) fn rule(&mut self, output: &str, calls: &[ToolCall]) -> Vec<Check> {
        let mut checks = Vec::new();
        for (index, (slot, criterion)) in self.decided.iter_mut().zip(&self.criteria).enumerate() {
            if slot.is_some() {
                continue;
            }
            match rule(criterion, output, calls) {
                Ruling::Decided(verdict) => *slot = Some(verdict),
                Ruling::Check(check, cites) => {
                    checks.push(check);
                    self.checking.push((index, cites));
                }
                Ruling::Judge => {}
            }
        }
        checks
    }

    /// Decides the criteria whose checks were run, by their outcomes in the same order.
    pub(crate) fn apply_checks(&mut self, outcomes: Vec<CheckOutcome>) {
        let mut outcomes = outcomes.into_iter();
        for (index, cites) in std::mem::take(&mut self.checking) {
            if let (Some(criterion), Some(slot)) = (self.criteria.get(index), self.decided.get_mut(index)) {
                *slot = Some(pass_by_check(criterion, outcomes.next(), cites));
            }
        }
    }

    /// Decides the open criteria by a model's judgement, which numbers them from 1.
    pub(crate) fn apply_judgement(&mut self, judgement: &Judgement, grounds: Grounds<'_>) {
        let mut number = 0;
        self.decide_open(|criterion| {
            number += 1;
            Some(apply_judgement(criterion, number, judgement, grounds))
        });
    }

    /// Calls `decide` for each open criterion; if it returns `None`, the criterion stays open.
    pub(crate) fn decide_open(&mut self, mut decide: impl FnMut(&Criterion) -> Option<CriterionVerdict>) {
        for (slot, criterion) in self.decided.iter_mut().zip(&self.criteria).filter(|(slot, _)| slot.is_none()) {
            *slot = decide(criterion);
        }
    }

    /// Fails the open criteria because the judging model failed.
    pub(crate) fn fail_open(&mut self, failure: &ModelFailure) {
        self.decide_open(|criterion| Some(unjudged(criterion, failure)));
    }

    /// Marks the open criteria as not judged because another one failed.
    pub(crate) fn leave_open(&mut self) {
        self.decide_open(|criterion| Some(left_open(criterion)));
    }

    /// The criteria without a verdict.
    pub(crate) fn open(&self) -> Vec<Criterion> {
        let pairs = self.criteria.iter().zip(&self.decided);
        pairs.filter(|(_, verdict)| verdict.is_none()).map(|(criterion, _)| criterion.clone()).collect()
    }

    /// The failed verdicts.
    pub(crate) fn failed(&self) -> impl Iterator<Item = &CriterionVerdict> {
        self.decided.iter().flatten().filter(|verdict| verdict.verdict == Verdict::Fail)
    }

    /// The verdicts on all decided criteria, in order; open criteria are dropped.
    pub(crate) fn into_decided(self) -> Vec<CriterionVerdict> {
        self.decided.into_iter().flatten().collect()
    }
}
