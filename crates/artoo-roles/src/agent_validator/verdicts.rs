//! The verdicts on a set of criteria while they are decided one after the other. R4a and R4b share them.

use artoo_proto::{Check, CheckOutcome, Criterion, CriterionVerdict, EvidenceId, ModelFailure, ToolCall, Verdict};

use super::evidence::{Ruling, left_open, rule, unjudged};
use super::judgement::{Grounds, Judgement, apply_judgement, pass_by_check};

/// Criteria with a verdict each, decided or still open.
#[derive(Debug)]
pub(crate) struct Verdicts {
    criteria: Vec<Criterion>,
    decided: Vec<Option<CriterionVerdict>>,
    /// The criteria that a running check decides, in the order of the checks, and the calls each check rests on.
    checking: Vec<(usize, Vec<EvidenceId>)>,
}

impl Verdicts {
    /// Criteria that are all open.
    pub(crate) fn new(criteria: Vec<Criterion>) -> Self {
        Self { decided: vec![None; criteria.len()], criteria, checking: Vec::new() }
    }

    /// The number of criteria.
    pub(crate) fn len(&self) -> usize {
        self.criteria.len()
    }

    /// Decides what code alone can decide, and returns the checks to run for the rest.
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

    /// Decides the criteria whose checks were run.
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

    /// Decides open criteria; where `decide` returns `None` the criterion stays open.
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

    /// The verdicts that were decided.
    pub(crate) fn into_decided(self) -> Vec<CriterionVerdict> {
        self.decided.into_iter().flatten().collect()
    }
}
