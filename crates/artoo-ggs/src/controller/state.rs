//! The state of one task between its rounds, and the decision on a round.

use alloc::string::String;
use alloc::vec::Vec;

use super::history::{History, assign_changes};
use super::measured::MeasuredRound;
use super::stopwatch::Stopwatch;
use crate::blocked::Blocklist;
use crate::evaluation::{DecisionInputs, Evaluation, NextStep};
use crate::gradient::Gradient;
use crate::loss::Loss;
use crate::macro_state::PreviousAction;
use crate::measurement::{Claims, FailureMix, Measurement, Round};
use crate::outcome::{Decision, Outcome, SuccessOutcome};
use crate::profile::Profile;
use crate::stop_reason::StopReason;
use crate::switches::{Switch, Switches};
use crate::table::{Margins, Thresholds, Urgency};
use crate::unit::Unit;

/// Everything a controller remembers about a task between its rounds.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub(super) struct TaskState {
    #[cfg_attr(feature = "serde", serde(rename = "clock"))]
    pub(super) stopwatch: Stopwatch,
    pub(super) ended: bool,
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::field_readers::replans"))]
    pub(super) replans: u32,
    pub(super) previous: PreviousAction,
    pub(super) last: Option<LastRound>,
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::field_readers::worsening_rounds"))]
    pub(super) worsening_rounds: u32,
    suspect: bool,
    best: Option<BestRound>,
    pub(super) blocked: Blocklist,
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "crate::field_readers::is_default"))]
    pub(super) history: History,
}

/// The numbers and claims of the previous round that the next decision compares with.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub(super) struct LastRound {
    #[cfg_attr(feature = "serde", serde(with = "super::exact_loss"))]
    pub(super) loss: Loss,
    pub(super) failed_claims: Claims,
    failure_mix: FailureMix,
    primary_failed: Option<String>,
    required_unmet: bool,
}

/// Number and D (in micro-units) of the round with the lowest D so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
struct BestRound {
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::field_readers::round"))]
    round: u32,
    d_micros: i64,
}

/// The part of a decision that doesn't depend on its outcome: inputs, loss, gradient, and the failures to blame.
struct DecisionBasis {
    inputs: DecisionInputs,
    loss: Loss,
    gradient: Gradient,
    failure_mix: FailureMix,
    primary_failed: Option<String>,
}

impl DecisionBasis {
    /// The basis of a decision on a round.
    fn of_round(inputs: DecisionInputs, evaluation: &Evaluation, round: &MeasuredRound<'_>) -> Self {
        let failure_mix = round.measurement.failure_mix();
        Self { failure_mix, primary_failed: round.primary_failed(), ..Self::without_blame(inputs, evaluation) }
    }

    /// A basis that blames no failure, for a round without unmet criteria or a task without a round.
    fn without_blame(inputs: DecisionInputs, evaluation: &Evaluation) -> Self {
        let Evaluation { loss, gradient, .. } = *evaluation;
        Self { inputs, loss, gradient, failure_mix: FailureMix::Mixed, primary_failed: None }
    }
}

impl TaskState {
    /// The state of a task that has just begun.
    pub(super) fn begun_at(now_ms: u64) -> Self {
        Self {
            stopwatch: Stopwatch::started_at(now_ms),
            ended: false,
            replans: 0,
            previous: PreviousAction::Init,
            last: None,
            worsening_rounds: 0,
            suspect: false,
            best: None,
            blocked: Blocklist::default(),
            history: History::default(),
        }
    }

    /// Decides on a round: accepts it if every criterion is met, otherwise looks up the decision table.
    pub(super) fn observe(&mut self, profile: &Profile, round: &MeasuredRound<'_>) -> Decision {
        if round.measurement.unmet == 0 { self.accept(profile, round) } else { self.correct(profile, round) }
    }

    /// Decides on a round with unmet criteria: a directive, a success with gaps, or an abandon.
    fn correct(&mut self, profile: &Profile, measured: &MeasuredRound<'_>) -> Decision {
        let MeasuredRound { round, measurement, .. } = measured;
        let returned = profile.has(Switch::StopCycles) && self.history.note_cycle(&measured.failing);
        let mut inputs = self.inputs(profile, measurement.d, measurement.p, measurement.required_unmet);
        let mut evaluation = inputs.evaluate(profile);
        self.suspect |= evaluation.cell.is_suspect();
        let memories =
            if profile.rules().switches == Switches::NONE { Vec::new() } else { self.history.recognize(round) };
        let told = assign_changes(
            profile,
            measured,
            &self.history.of(&memories),
            evaluation.cell.trend,
            self.suspect,
            returned,
        );
        inputs.ordered = told.iter().map(|told| told.action).max();
        if inputs.ordered.is_some() {
            evaluation = inputs.evaluate(profile);
        }
        self.worsening_rounds = evaluation.worsening_rounds;
        self.note_best(measurement.d);
        let success = || SuccessOutcome::of(round).map_or(Outcome::Accept, Outcome::Success);
        let outcome = match evaluation.next {
            NextStep::Abandon(reason) => Outcome::Abandon(reason),
            NextStep::Success => success(),
            NextStep::Replan(action) => {
                let urgency = Urgency::of(&evaluation.gradient, profile);
                match self.replan(action, urgency, round, profile, (&told, &memories)) {
                    Some(replan) => Outcome::Replan(replan),
                    None if inputs.could_be_delivered_last(profile) => success(),
                    None => Outcome::Abandon(StopReason::ToolsExhausted),
                }
            }
        };
        let counterfactual = match outcome {
            // Without an allowed tool no directive would have helped.
            Outcome::Abandon(StopReason::ToolsExhausted) => inputs.way_to_success(profile),
            Outcome::Abandon(_) | Outcome::Success(_) | Outcome::Replan(_) | Outcome::Accept => {
                inputs.counterfactual(profile)
            }
        };
        let basis = DecisionBasis::of_round(inputs, &evaluation, measured);
        let mut decision = self.decision(profile, Some(round), basis, outcome);
        decision.cell = Some(evaluation.cell);
        decision.counterfactual = Some(counterfactual);
        self.remember(&decision, Some(measured));
        decision
    }

    /// Ends the task: every criterion is met, so the decision table is bypassed.
    fn accept(&mut self, profile: &Profile, measured: &MeasuredRound<'_>) -> Decision {
        let inputs = self.inputs(profile, Unit::ZERO, Unit::ZERO, false);
        let basis = DecisionBasis::without_blame(inputs, &inputs.evaluate(profile));
        let mut decision = self.decision(profile, Some(measured.round), basis, Outcome::Accept);
        decision.counterfactual = Some(inputs.smallest_miss(profile));
        self.remember(&decision, Some(measured));
        decision
    }

    /// Ends the task from outside. Without a round, the last one counts; if there was none, nothing was achieved.
    pub(super) fn stop(&mut self, profile: &Profile, measured: Option<&MeasuredRound<'_>>) -> Decision {
        let basis = match (measured, &self.last) {
            (Some(round), _) => {
                let Measurement { d, p, required_unmet, .. } = round.measurement;
                let inputs = self.inputs(profile, d, p, required_unmet);
                DecisionBasis::of_round(inputs, &inputs.evaluate(profile), round)
            }
            (None, Some(last)) => {
                let Loss { d, p, omega, .. } = last.loss;
                let inputs = self.inputs(profile, d, p, last.required_unmet);
                DecisionBasis {
                    inputs: DecisionInputs { omega, before: Some(last.loss), ..inputs },
                    loss: last.loss,
                    gradient: Gradient::ZERO,
                    failure_mix: last.failure_mix,
                    primary_failed: last.primary_failed.clone(),
                }
            }
            (None, None) => {
                let inputs = self.inputs(profile, Unit::ONE, Unit::ZERO, false);
                DecisionBasis::without_blame(inputs, &inputs.evaluate(profile))
            }
        };
        if let Some(round) = measured {
            self.note_best(round.measurement.d);
        }
        let round = measured.map(|measured| measured.round);
        let decision = self.decision(profile, round, basis, Outcome::Abandon(StopReason::External));
        self.remember(&decision, measured);
        decision
    }

    /// The inputs of a decision on a round with these measurements.
    fn inputs(&self, profile: &Profile, d: Unit, p: Unit, required_unmet: bool) -> DecisionInputs {
        DecisionInputs {
            d,
            p,
            omega: profile.parameters().omega(self.replans, self.stopwatch.elapsed_ms()),
            before: self.last.as_ref().map(|last| last.loss),
            required_unmet,
            replans: self.replans,
            worsening_before: self.worsening_rounds,
            explored: profile.has(Switch::SpareExploration)
                && matches!(self.previous, PreviousAction::Action(action) if action.is_logical()),
            cycles: self.history.cycles,
            ordered: None,
        }
    }

    /// Number of the round with the lowest D so far; `None` before the first round.
    #[cfg(feature = "serde")]
    pub(super) fn best_round(&self) -> Option<u32> {
        self.best.map(|best| best.round)
    }

    /// Records the current round as the best if its D is not higher than that of the best round so far.
    fn note_best(&mut self, d: Unit) {
        if self.best.is_none_or(|best| d.micros() <= best.d_micros) {
            self.best = Some(BestRound { round: self.replans, d_micros: d.micros() });
        }
    }

    /// Puts a decision together from its basis and outcome.
    fn decision(&self, profile: &Profile, round: Option<&Round>, basis: DecisionBasis, outcome: Outcome) -> Decision {
        let parameters = profile.parameters();
        let thresholds = Thresholds::from(parameters);
        let delivered = matches!(outcome, Outcome::Accept | Outcome::Success(_));
        let best_round = if delivered { self.replans } else { self.best.map_or(0, |best| best.round) };
        Decision {
            round: self.replans,
            inputs: basis.inputs,
            cell: None,
            previous: self.previous,
            replans: self.replans.saturating_add(u32::from(matches!(outcome, Outcome::Replan(_)))),
            urgency: Urgency::of(&basis.gradient, profile),
            failure_mix: basis.failure_mix,
            primary_failed: basis.primary_failed,
            required_unmet: basis.inputs.required_unmet,
            margins: Margins::of(&basis.loss, &basis.gradient, &thresholds),
            thresholds,
            counterfactual: None,
            worsening_rounds: self.worsening_rounds,
            suspect: self.suspect,
            best_round,
            failed_pairs: round.map(Round::failed_pairs).unwrap_or_default(),
            credit: round.map(|round| self.credit(round, basis.loss.d)).unwrap_or_default(),
            loss: basis.loss,
            gradient: basis.gradient,
            propensity: Unit::ONE,
            config: profile.config_hash(),
            outcome,
        }
    }

    /// Updates the state after a decision: ends the task or counts the directive, and stores the round.
    fn remember(&mut self, decision: &Decision, measured: Option<&MeasuredRound<'_>>) {
        self.replans = decision.replans;
        match &decision.outcome {
            Outcome::Replan(replan) => self.previous = PreviousAction::Action(replan.action),
            Outcome::Success(_) | Outcome::Abandon(_) | Outcome::Accept => self.ended = true,
        }
        if let Some(round) = measured {
            self.last = Some(LastRound {
                loss: decision.loss,
                failed_claims: Claims::of(round.failing.iter().map(|f| &f.claim)),
                failure_mix: decision.failure_mix,
                primary_failed: decision.primary_failed.clone(),
                required_unmet: decision.required_unmet,
            });
        }
    }
}
