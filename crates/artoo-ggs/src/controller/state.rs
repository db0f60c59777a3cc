//! One task: what is remembered between its rounds, and how a round becomes a decision.

use std::collections::BTreeSet;

use super::clock::Stopwatch;
use crate::blocked::BlockedLedger;
use crate::decision::{Choice, DecisionInputs, Margins, Thresholds, Trend, decide};
use crate::gradient::Gradient;
use crate::loss::{Loss, omega};
use crate::macro_state::Previous;
use crate::measurement::{FailureMix, Measured, Place, Round, failed_pairs, failing};
use crate::outcome::{Decision, Outcome, StopReason, SuccessOutcome};
use crate::profile::{KillSwitch, Profile};
use crate::unit::{Unit, micros};

#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct TaskState {
    pub(super) clock: Stopwatch,
    pub(super) ended: bool,
    replans: u32,
    pub(super) previous: Previous,
    pub(super) last: Option<LastRound>,
    worsening_rounds: u32,
    suspect: bool,
    best: Option<BestRound>,
    pub(super) blocked: BlockedLedger,
}

#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct LastRound {
    #[cfg_attr(feature = "serde", serde(with = "super::exact"))]
    pub(super) loss: Loss,
    pub(super) failed_claims: BTreeSet<String>,
    failure_mix: FailureMix,
    primary_failed: Option<String>,
    required_unmet: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct BestRound {
    round: u32,
    d_micros: i64,
}

/// What one round or ending is measured as.
struct Observed {
    loss: Loss,
    gradient: Gradient,
    failure_mix: FailureMix,
    primary_failed: Option<String>,
    required_unmet: bool,
}

impl TaskState {
    pub(super) fn begun_at(now_ms: u64) -> Self {
        Self {
            clock: Stopwatch::started_at(now_ms),
            ended: false,
            replans: 0,
            previous: Previous::Init,
            last: None,
            worsening_rounds: 0,
            suspect: false,
            best: None,
            blocked: BlockedLedger::default(),
        }
    }

    /// A round that fell short, through the table.
    pub(super) fn round(&mut self, profile: &Profile, round: &Round, measured: &Measured) -> Decision {
        let parameters = profile.parameters();
        let observed = self.observe(profile, round, measured);
        let cell = decide(&DecisionInputs::of(&observed.loss, &observed.gradient, observed.required_unmet), parameters);
        self.suspect |= cell.is_suspect();
        self.count_worsening(profile, &observed);
        self.note_best(observed.loss.d);
        let outcome = match cell.choice {
            Choice::Abandon => Outcome::Abandon(StopReason::BudgetExhausted),
            // Nothing unmet would be an accept; the controller lets no such round in.
            Choice::Success => SuccessOutcome::of(round).map_or(Outcome::Accept, Outcome::Success),
            Choice::Replan(_) if self.worsening_rounds >= parameters.kill_after => {
                Outcome::Abandon(StopReason::Diverging)
            }
            Choice::Replan(_) if self.replans >= parameters.max_replans => Outcome::Abandon(StopReason::MaxReplans),
            Choice::Replan(action) => self
                .replan(action, cell.trend.into(), round, profile)
                .map_or(Outcome::Abandon(StopReason::ToolsExhausted), Outcome::Replan),
        };
        let mut decision = self.decision(profile, Some(round), observed, outcome);
        decision.cell = Some(cell);
        self.remember(&decision, Some(round));
        decision
    }

    /// An end that doesn't ask the table: an accept, or the caller's word.
    pub(super) fn bypass(
        &mut self,
        profile: &Profile,
        round: Option<&Round>,
        measured: Option<Measured>,
        outcome: Outcome,
    ) -> Decision {
        let observed = match (&measured, round) {
            (Some(measured), Some(round)) => self.observe(profile, round, measured),
            _ if outcome == Outcome::Accept => self.observe_loss(profile, Unit::ZERO, Unit::ZERO),
            _ => self.observe_again(profile),
        };
        if measured.is_some() || outcome == Outcome::Accept {
            self.note_best(observed.loss.d);
        }
        let decision = self.decision(profile, round, observed, outcome);
        self.remember(&decision, round);
        decision
    }

    fn observe(&self, profile: &Profile, round: &Round, measured: &Measured) -> Observed {
        Observed {
            failure_mix: measured.failure_mix(),
            primary_failed: primary_failed(round, measured),
            required_unmet: measured.required_unmet,
            ..self.observe_loss(profile, measured.d, measured.p)
        }
    }

    fn observe_loss(&self, profile: &Profile, d: Unit, p: Unit) -> Observed {
        let parameters = profile.parameters();
        let loss = Loss::new(d, p, omega(self.replans, self.clock.elapsed_ms(), parameters), parameters);
        let gradient =
            self.last.as_ref().map_or(Gradient::ZERO, |last| Gradient::between(&last.loss, &loss, parameters));
        let failure_mix = FailureMix::Mixed;
        Observed { loss, gradient, failure_mix, primary_failed: None, required_unmet: false }
    }

    /// Nothing new was measured: the last round stands, or, where there was none, nothing was achieved.
    fn observe_again(&self, profile: &Profile) -> Observed {
        match &self.last {
            None => self.observe_loss(profile, Unit::ONE, Unit::ZERO),
            Some(last) => Observed {
                loss: last.loss,
                gradient: Gradient::ZERO,
                failure_mix: last.failure_mix,
                primary_failed: last.primary_failed.clone(),
                required_unmet: last.required_unmet,
            },
        }
    }

    fn count_worsening(&mut self, profile: &Profile, observed: &Observed) {
        let epsilon = micros(profile.parameters().epsilon);
        let rose = self.last.as_ref().is_some_and(|last| observed.loss.d.micros() > last.loss.d.micros());
        let worse = match profile.rules().kill_switch {
            KillSwitch::GapRises => rose && micros(observed.gradient.without_omega()) > epsilon,
            KillSwitch::LossRises => micros(observed.gradient.total) > epsilon,
        };
        self.worsening_rounds = if worse { self.worsening_rounds.saturating_add(1) } else { 0 };
    }

    fn note_best(&mut self, d: Unit) {
        if self.best.is_none_or(|best| d.micros() <= best.d_micros) {
            self.best = Some(BestRound { round: self.replans, d_micros: d.micros() });
        }
    }

    fn decision(&self, profile: &Profile, round: Option<&Round>, observed: Observed, outcome: Outcome) -> Decision {
        let parameters = profile.parameters();
        let thresholds = Thresholds::from(parameters);
        let delivered = matches!(outcome, Outcome::Accept | Outcome::Success(_));
        let best_round = if delivered { self.replans } else { self.best.map_or(0, |best| best.round) };
        Decision {
            round: self.replans,
            cell: None,
            previous: self.previous,
            replans: self.replans.saturating_add(u32::from(matches!(outcome, Outcome::Replan(_)))),
            urgency: Trend::of(observed.gradient.total, parameters).into(),
            failure_mix: observed.failure_mix,
            primary_failed: observed.primary_failed,
            required_unmet: observed.required_unmet,
            margins: Margins::of(&observed.loss, &observed.gradient, &thresholds),
            thresholds,
            worsening_rounds: self.worsening_rounds,
            suspect: self.suspect,
            best_round,
            failed_pairs: round.map(failed_pairs).unwrap_or_default(),
            credit: round.map(|round| self.credit(round, observed.loss.d)).unwrap_or_default(),
            loss: observed.loss,
            gradient: observed.gradient,
            outcome,
        }
    }

    fn remember(&mut self, decision: &Decision, round: Option<&Round>) {
        self.replans = decision.replans;
        match &decision.outcome {
            Outcome::Replan(replan) => self.previous = Previous::Action(replan.action),
            Outcome::Success(_) | Outcome::Abandon(_) | Outcome::Accept => self.ended = true,
        }
        if let Some(round) = round {
            self.last = Some(LastRound {
                loss: decision.loss,
                failed_claims: failing(round).map(|f| f.claim.into_owned()).collect(),
                failure_mix: decision.failure_mix,
                primary_failed: decision.primary_failed.clone(),
                required_unmet: decision.required_unmet,
            });
        }
    }
}

/// The claim that drives D: required before optional, then the heaviest, then the first declared; where task criteria
/// made D, only those, unless something required failed elsewhere.
fn primary_failed(round: &Round, measured: &Measured) -> Option<String> {
    let from_task = measured.d > measured.subtask_distance;
    let mut best: Option<((bool, bool, i64), String)> = None;
    for f in failing(round) {
        let in_driving_set = (f.place == Place::Task) == from_task;
        let rank = (f.required, in_driving_set, micros(f.weight));
        if best.as_ref().is_none_or(|(top, _)| rank > *top) {
            best = Some((rank, f.claim.into_owned()));
        }
    }
    best.map(|(_, claim)| claim)
}
