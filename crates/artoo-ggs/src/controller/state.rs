//! One task: what is remembered between its rounds, and how a round becomes a decision.

use super::clock::Stopwatch;
use crate::blocked::BlockedLedger;
use crate::cascade::{Course, Ruling, Situation};
use crate::decision::{Margins, Thresholds, Trend};
use crate::gradient::Gradient;
use crate::loss::{Loss, omega};
use crate::macro_state::Previous;
use crate::measurement::{
    Claims, Failing, FailureMix, Measured, Place, Round, RoundError, Unmet, failed_pairs, failing, measure_failing,
};
use crate::outcome::{Decision, Outcome, StopReason, SuccessOutcome};
use crate::profile::Profile;
use crate::unit::{Unit, micros};

#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub(super) struct TaskState {
    pub(super) clock: Stopwatch,
    pub(super) ended: bool,
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::named::replans"))]
    pub(super) replans: u32,
    pub(super) previous: Previous,
    pub(super) last: Option<LastRound>,
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::named::worsening_rounds"))]
    pub(super) worsening_rounds: u32,
    suspect: bool,
    best: Option<BestRound>,
    pub(super) blocked: BlockedLedger,
}

#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub(super) struct LastRound {
    #[cfg_attr(feature = "serde", serde(with = "super::exact"))]
    pub(super) loss: Loss,
    pub(super) failed_claims: Claims,
    failure_mix: FailureMix,
    primary_failed: Option<String>,
    required_unmet: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
struct BestRound {
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::named::round"))]
    round: u32,
    d_micros: i64,
}

/// What one round or ending is measured as.
struct Observed {
    inputs: Situation,
    loss: Loss,
    gradient: Gradient,
    failure_mix: FailureMix,
    primary_failed: Option<String>,
}

impl Observed {
    fn of(inputs: Situation, ruling: &Ruling, seen: &Seen<'_>) -> Self {
        let failure_mix = seen.measured.failure_mix();
        Self { failure_mix, primary_failed: seen.primary_failed(), ..Self::unblamed(inputs, ruling) }
    }

    fn unblamed(inputs: Situation, ruling: &Ruling) -> Self {
        let Ruling { loss, gradient, .. } = *ruling;
        Self { inputs, loss, gradient, failure_mix: FailureMix::Mixed, primary_failed: None }
    }
}

/// A valid round, gone through once.
pub(super) struct Seen<'a> {
    round: &'a Round,
    failing: Vec<Failing<'a>>,
    pub(super) measured: Measured,
}

impl<'a> Seen<'a> {
    pub(super) fn new(round: &'a Round, profile: &Profile) -> Result<Self, RoundError> {
        round.validate()?;
        let failing: Vec<_> = failing(round).collect();
        let measured = measure_failing(round, &failing, profile.rules());
        Ok(Self { round, failing, measured })
    }

    pub(super) fn first_unmet(&self) -> Option<Unmet> {
        self.failing.first().map(Failing::to_unmet)
    }

    /// The claim that drives D: required before optional, then the heaviest, then the first declared; where task
    /// criteria made D, only those, unless something required failed elsewhere.
    fn primary_failed(&self) -> Option<String> {
        let from_task = self.measured.d > self.measured.subtask_distance;
        let rank = |f: &Failing<'_>| (f.required, (f.place == Place::Task) == from_task, micros(f.weight));
        // Of equals the last is taken, so the first declared has to come last.
        self.failing.iter().rev().max_by_key(|f| rank(f)).map(|f| f.claim.clone().into_owned())
    }
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

    /// A round that fell short, through the cascade.
    pub(super) fn round(&mut self, profile: &Profile, seen: &Seen<'_>) -> Decision {
        let Seen { round, measured, .. } = seen;
        let inputs = self.situation(profile, measured.d, measured.p, measured.required_unmet);
        let ruling = inputs.ruling(profile);
        self.suspect |= ruling.cell.is_suspect();
        self.worsening_rounds = ruling.worsening_rounds;
        self.note_best(measured.d);
        let outcome = match ruling.course {
            Course::Abandon(reason) => Outcome::Abandon(reason),
            // Nothing unmet would be an accept; the controller lets no such round in.
            Course::Success => SuccessOutcome::of(round).map_or(Outcome::Accept, Outcome::Success),
            Course::Replan(action) => self
                .replan(action, ruling.cell.trend.into(), round, profile)
                .map_or(Outcome::Abandon(StopReason::ToolsExhausted), Outcome::Replan),
        };
        let counterfactual = match outcome {
            // Whatever the directive, no tool would have been left for it.
            Outcome::Abandon(StopReason::ToolsExhausted) => inputs.way_to_success(profile),
            Outcome::Abandon(_) | Outcome::Success(_) | Outcome::Replan(_) | Outcome::Accept => {
                inputs.counterfactual(profile)
            }
        };
        let mut decision = self.decision(profile, Some(round), Observed::of(inputs, &ruling, seen), outcome);
        decision.cell = Some(ruling.cell);
        decision.counterfactual = Some(counterfactual);
        self.remember(&decision, Some(seen));
        decision
    }

    /// Every criterion is met: the table is not asked.
    pub(super) fn accept(&mut self, profile: &Profile, seen: Option<&Seen<'_>>) -> Decision {
        let inputs = self.situation(profile, Unit::ZERO, Unit::ZERO, false);
        self.note_best(Unit::ZERO);
        let observed = Observed::unblamed(inputs, &inputs.ruling(profile));
        let mut decision = self.decision(profile, seen.map(|seen| seen.round), observed, Outcome::Accept);
        decision.counterfactual = Some(inputs.least_miss(profile));
        self.remember(&decision, seen);
        decision
    }

    /// The caller's word ends it. Without a round the last one stands; where there was none, nothing was achieved.
    pub(super) fn stop(&mut self, profile: &Profile, seen: Option<&Seen<'_>>) -> Decision {
        let observed = match (seen, &self.last) {
            (Some(seen), _) => {
                let Measured { d, p, required_unmet, .. } = seen.measured;
                let inputs = self.situation(profile, d, p, required_unmet);
                Observed::of(inputs, &inputs.ruling(profile), seen)
            }
            (None, Some(last)) => {
                let Loss { d, p, omega, .. } = last.loss;
                let inputs = self.situation(profile, d, p, last.required_unmet);
                Observed {
                    inputs: Situation { omega, before: Some(last.loss), ..inputs },
                    loss: last.loss,
                    gradient: Gradient::ZERO,
                    failure_mix: last.failure_mix,
                    primary_failed: last.primary_failed.clone(),
                }
            }
            (None, None) => {
                let inputs = self.situation(profile, Unit::ONE, Unit::ZERO, false);
                Observed::unblamed(inputs, &inputs.ruling(profile))
            }
        };
        if let Some(seen) = seen {
            self.note_best(seen.measured.d);
        }
        let outcome = Outcome::Abandon(StopReason::External);
        let decision = self.decision(profile, seen.map(|seen| seen.round), observed, outcome);
        self.remember(&decision, seen);
        decision
    }

    fn situation(&self, profile: &Profile, d: Unit, p: Unit, required_unmet: bool) -> Situation {
        Situation {
            d,
            p,
            omega: omega(self.replans, self.clock.elapsed_ms(), profile.parameters()),
            before: self.last.as_ref().map(|last| last.loss),
            required_unmet,
            replans: self.replans,
            worsening_before: self.worsening_rounds,
        }
    }

    #[cfg(feature = "serde")]
    pub(super) fn best_round(&self) -> Option<u32> {
        self.best.map(|best| best.round)
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
            inputs: observed.inputs,
            cell: None,
            previous: self.previous,
            replans: self.replans.saturating_add(u32::from(matches!(outcome, Outcome::Replan(_)))),
            urgency: Trend::of(observed.gradient.total, parameters).into(),
            failure_mix: observed.failure_mix,
            primary_failed: observed.primary_failed,
            required_unmet: observed.inputs.required_unmet,
            margins: Margins::of(&observed.loss, &observed.gradient, &thresholds),
            thresholds,
            counterfactual: None,
            worsening_rounds: self.worsening_rounds,
            suspect: self.suspect,
            best_round,
            failed_pairs: round.map(failed_pairs).unwrap_or_default(),
            credit: round.map(|round| self.credit(round, observed.loss.d)).unwrap_or_default(),
            loss: observed.loss,
            gradient: observed.gradient,
            propensity: Unit::ONE,
            config: profile.config_hash(),
            outcome,
        }
    }

    fn remember(&mut self, decision: &Decision, seen: Option<&Seen<'_>>) {
        self.replans = decision.replans;
        match &decision.outcome {
            Outcome::Replan(replan) => self.previous = Previous::Action(replan.action),
            Outcome::Success(_) | Outcome::Abandon(_) | Outcome::Accept => self.ended = true,
        }
        if let Some(seen) = seen {
            self.last = Some(LastRound {
                loss: decision.loss,
                failed_claims: Claims::of(seen.failing.iter().map(|f| &f.claim)),
                failure_mix: decision.failure_mix,
                primary_failed: decision.primary_failed.clone(),
                required_unmet: decision.required_unmet,
            });
        }
    }
}
