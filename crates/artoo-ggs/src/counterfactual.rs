//! Counterfactuals: the smallest change of D, P or Ω that would have led to another state.

use core::fmt;

use crate::evaluation::{DecisionInputs, Evaluation};
use crate::loss::LossTerm;
use crate::macro_state::MacroState;
use crate::profile::{KillSwitch, Profile};
use crate::switches::Switch;
use crate::unit::{Exact, MICROS, Unit, micros};

/// A change of D, P and Ω in whole micro-units, and the state it would have led to.
///
/// The loss and the gradient change along: a D that is lower by 0.1 also changes ∇L by −α·0.1. The named state is that
/// of [`DecisionInputs::evaluate`] for the inputs returned by [`Counterfactual::apply`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct Counterfactual {
    /// Change of D (distance from the goal), in micro-units; negative if D would be lower.
    pub d_micros: i64,
    /// Change of P (share of failures blamed on the approach), in micro-units; negative if P would be lower.
    pub p_micros: i64,
    /// Change of Ω (share of the budget used), in micro-units; negative if Ω would be lower.
    pub omega_micros: i64,
    /// Whether the change also meets every required criterion.
    pub required_met: bool,
    /// The macro-state the change would have led to.
    pub then: MacroState,
}

impl Counterfactual {
    /// Returns `inputs` with the change made. A changed number is first rounded to whole micro-units.
    #[must_use]
    pub fn apply(&self, inputs: &DecisionInputs) -> DecisionInputs {
        let changes =
            [(LossTerm::D, self.d_micros), (LossTerm::P, self.p_micros), (LossTerm::Omega, self.omega_micros)];
        let moved = changes.into_iter().filter(|(_, change)| *change != 0);
        let moved = moved
            .fold(*inputs, |moved, (term, change)| moved.with(term, moved.term(term).micros().saturating_add(change)));
        DecisionInputs { required_unmet: moved.required_unmet && !self.required_met, ..moved }
    }

    /// A counterfactual that changes nothing, with the state that the decision has anyway.
    fn none(then: MacroState) -> Self {
        Self { d_micros: 0, p_micros: 0, omega_micros: 0, required_met: false, then }
    }

    /// The change of one term alone, in micro-units, with the state it leads to.
    fn of(term: LossTerm, change: i64, then: MacroState) -> Self {
        let none = Self::none(then);
        match term {
            LossTerm::D => Self { d_micros: change, ..none },
            LossTerm::P => Self { p_micros: change, ..none },
            LossTerm::Omega => Self { omega_micros: change, ..none },
        }
    }
}

impl fmt::Display for Counterfactual {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut before = "";
        for (term, change) in
            [(LossTerm::Omega, self.omega_micros), (LossTerm::D, self.d_micros), (LossTerm::P, self.p_micros)]
        {
            if change != 0 {
                let way = if change < 0 { "lower" } else { "higher" };
                write!(f, "{before}{term} {way} by {}", Exact(change.saturating_abs()))?;
                before = " and ";
            }
        }
        if self.required_met {
            write!(f, "{before}the required criteria met")?;
        }
        write!(f, " → {}", self.then)
    }
}

impl DecisionInputs {
    /// The smallest change of `term` alone that leads to another macro-state; `None` if no value of the term does.
    #[must_use]
    pub fn flip(&self, term: LossTerm, profile: &Profile) -> Option<Counterfactual> {
        let evaluation = self.evaluate(profile);
        self.flip_within(term, MICROS + 1, &evaluation, profile)
    }

    /// The smallest change of a single term that leads to another state (of equals D, then P, then Ω). If no single
    /// change does, as with a spent budget far from the goal, the change that leads to success.
    #[must_use]
    pub fn counterfactual(&self, profile: &Profile) -> Counterfactual {
        let evaluation = self.evaluate(profile);
        let mut nearest = None;
        let mut within = MICROS + 1;
        for term in LossTerm::ALL {
            if let Some(flip) = self.flip_within(term, within, &evaluation, profile) {
                within = (flip.d_micros + flip.p_micros + flip.omega_micros).abs();
                nearest = Some(flip);
            }
        }
        nearest.unwrap_or_else(|| self.way_to_success(profile))
    }

    /// The change of D, Ω and required criteria that would have led to success.
    #[must_use]
    pub fn way_to_success(&self, profile: &Profile) -> Counterfactual {
        let parameters = profile.parameters();
        let change = Counterfactual {
            d_micros: (micros(parameters.delta) - self.d.micros()).min(0),
            omega_micros: (micros(parameters.theta) - 1 - self.omega.micros()).min(0),
            required_met: self.required_unmet,
            ..Counterfactual::none(MacroState::Success)
        };
        Counterfactual { then: change.apply(self).evaluate(profile).state(), ..change }
    }

    /// For a round in which every criterion was met: the state that a D higher by one micro-unit would have led to.
    pub(crate) fn smallest_miss(&self, profile: &Profile) -> Counterfactual {
        let change = Counterfactual::of(LossTerm::D, 1, MacroState::Accept);
        Counterfactual { then: change.apply(self).evaluate(profile).state(), ..change }
    }

    /// The smallest change of `term`, up or down by less than `within` micro-units, that leads to another state; `None`
    /// if none does. Tries the micro-units around each breakpoint; between breakpoints the state is constant.
    fn flip_within(
        &self,
        term: LossTerm,
        mut within: i64,
        evaluation: &Evaluation,
        profile: &Profile,
    ) -> Option<Counterfactual> {
        let (value, state) = (self.term(term).micros(), evaluation.state());
        let mut flip = None;
        for point in self.breakpoints(term, evaluation, profile).into_iter().flatten() {
            for micros in point - 1..=point + 1 {
                let change = micros - value;
                let nearer = change != 0 && change.abs() < within;
                if nearer && (0..=MICROS).contains(&micros) {
                    let then = self.with(term, micros).evaluate(profile).state();
                    if then != state {
                        within = change.abs();
                        flip = Some(Counterfactual::of(term, change, then));
                    }
                }
            }
        }
        flip
    }

    /// The values of `term`, in micro-units, at which the state can change: its threshold, the previous D (where D
    /// stops having risen), and where the gradient, linear in each term, crosses ±ε or the ε of Law 2.
    fn breakpoints(&self, term: LossTerm, evaluation: &Evaluation, profile: &Profile) -> [Option<i64>; 6] {
        let parameters = profile.parameters();
        let threshold = micros(match term {
            LossTerm::D => parameters.delta,
            LossTerm::P => parameters.rho,
            LossTerm::Omega => parameters.theta,
        });
        // Where the profile delivers last, only D = 0 ends a task that could go on.
        let met = (term == LossTerm::D && profile.has(Switch::DeliverLast)).then_some(0);
        let Some(before) = &self.before else { return [Some(threshold), met, None, None, None, None] };
        let (p0, omega0) = (before.p.value(), before.omega.value());
        let (p, omega) = (self.p.value(), self.omega.value());
        let slope = match term {
            LossTerm::D => parameters.alpha,
            LossTerm::P => parameters.beta_eff(self.omega),
            LossTerm::Omega => parameters.lambda - parameters.beta * p,
        };
        let gap_slope = match term {
            LossTerm::D => parameters.alpha,
            LossTerm::P => parameters.beta * (1.0 - (omega0 + omega) / 2.0),
            LossTerm::Omega => parameters.beta * (p0 - p) / 2.0,
        };
        let value = self.term(term).value();
        let at = |from: f64, to: f64, slope: f64| Some(micros((value + (to - from) / slope).clamp(-1.0, 2.0)));
        // Comparisons round to whole micro-units, so they flip half a micro-unit before or after ε.
        let epsilon = micros(parameters.epsilon) as f64;
        let [signal, above] = [epsilon - 0.5, epsilon + 0.5].map(|micros| micros / MICROS as f64);
        let total = evaluation.gradient.total;
        let may_kill = self.worsening_before.saturating_add(1) >= parameters.kill_after;
        let kill = match profile.rules().kill_switch {
            _ if !may_kill => None,
            KillSwitch::GapRises => at(evaluation.gradient.without_omega(), above, gap_slope),
            KillSwitch::LossRises => at(total, above, slope),
        };
        let not_risen = (may_kill && term == LossTerm::D).then(|| before.d.micros());
        [Some(threshold), met, at(total, signal, slope), at(total, -signal, slope), kill, not_risen]
    }

    /// The inputs with one term replaced by this number of micro-units.
    fn with(self, term: LossTerm, micros: i64) -> Self {
        let value = Unit::from_micros(micros);
        match term {
            LossTerm::D => Self { d: value, ..self },
            LossTerm::P => Self { p: value, ..self },
            LossTerm::Omega => Self { omega: value, ..self },
        }
    }
}
