//! Counterfactuals: the least change of what was measured that would have led elsewhere.

use std::fmt;

use crate::cascade::{Ruling, Situation};
use crate::loss::{Quantity, beta_eff};
use crate::macro_state::MacroState;
use crate::profile::{KillSwitch, Profile};
use crate::unit::{Exact, MICROS, Unit, micros};

/// What would have had to be different, in whole micro-units, and what would have followed.
///
/// The loss and the gradient follow the change: a D that is lower by 0.1 also moves ∇L by −α·0.1. So the state it names
/// is the one [`Situation::ruling`] gives for [`Counterfactual::apply`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Counterfactual {
    /// Change of D.
    pub d_micros: i64,
    /// Change of P.
    pub p_micros: i64,
    /// Change of Ω.
    pub omega_micros: i64,
    /// Whether every required criterion would have had to be met.
    pub required_met: bool,
    /// The state that would have followed.
    pub then: MacroState,
}

impl Counterfactual {
    /// The situation with the change made. A quantity that changes is first rounded to whole micro-units.
    #[must_use]
    pub fn apply(&self, situation: &Situation) -> Situation {
        let changes =
            [(Quantity::D, self.d_micros), (Quantity::P, self.p_micros), (Quantity::Omega, self.omega_micros)];
        let moved = changes.into_iter().filter(|(_, change)| *change != 0);
        let moved = moved.fold(*situation, |moved, (quantity, change)| {
            moved.with(quantity, moved.quantity(quantity).micros().saturating_add(change))
        });
        Situation { required_unmet: moved.required_unmet && !self.required_met, ..moved }
    }

    fn none(then: MacroState) -> Self {
        Self { d_micros: 0, p_micros: 0, omega_micros: 0, required_met: false, then }
    }

    fn of(quantity: Quantity, change: i64, then: MacroState) -> Self {
        let none = Self::none(then);
        match quantity {
            Quantity::D => Self { d_micros: change, ..none },
            Quantity::P => Self { p_micros: change, ..none },
            Quantity::Omega => Self { omega_micros: change, ..none },
        }
    }
}

impl fmt::Display for Counterfactual {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut before = "";
        for (quantity, change) in
            [(Quantity::Omega, self.omega_micros), (Quantity::D, self.d_micros), (Quantity::P, self.p_micros)]
        {
            if change != 0 {
                let way = if change < 0 { "lower" } else { "higher" };
                write!(f, "{before}{quantity} {way} by {}", Exact(change.saturating_abs()))?;
                before = " and ";
            }
        }
        if self.required_met {
            write!(f, "{before}the required criteria met")?;
        }
        write!(f, " → {}", self.then)
    }
}

impl Situation {
    /// The least change of `quantity` alone that leads to another state, if any does.
    #[must_use]
    pub fn flip(&self, quantity: Quantity, profile: &Profile) -> Option<Counterfactual> {
        let ruling = self.ruling(profile);
        self.flip_within(quantity, MICROS + 1, &ruling, profile)
    }

    /// The least change of any one quantity that leads to another state (of equals D, then P, then Ω); where no single
    /// one does, as with a spent budget far from the goal, the way to success.
    #[must_use]
    pub fn counterfactual(&self, profile: &Profile) -> Counterfactual {
        let ruling = self.ruling(profile);
        let mut nearest = None;
        let mut within = MICROS + 1;
        for quantity in Quantity::ALL {
            if let Some(flip) = self.flip_within(quantity, within, &ruling, profile) {
                within = (flip.d_micros + flip.p_micros + flip.omega_micros).abs();
                nearest = Some(flip);
            }
        }
        nearest.unwrap_or_else(|| self.way_to_success(profile))
    }

    /// What would have had to be different for a success, from wherever this is.
    #[must_use]
    pub fn way_to_success(&self, profile: &Profile) -> Counterfactual {
        let parameters = profile.parameters();
        let change = Counterfactual {
            d_micros: (micros(parameters.delta) - self.d.micros()).min(0),
            omega_micros: (micros(parameters.theta) - 1 - self.omega.micros()).min(0),
            required_met: self.required_unmet,
            ..Counterfactual::none(MacroState::Success)
        };
        Counterfactual { then: change.apply(self).ruling(profile).state(), ..change }
    }

    /// What the least miss would have led to, where everything was met.
    pub(crate) fn least_miss(&self, profile: &Profile) -> Counterfactual {
        let change = Counterfactual::of(Quantity::D, 1, MacroState::Accept);
        Counterfactual { then: change.apply(self).ruling(profile).state(), ..change }
    }

    /// Tries the micro-units around every point at which something can change: between two of them nothing does.
    fn flip_within(
        &self,
        quantity: Quantity,
        mut within: i64,
        ruling: &Ruling,
        profile: &Profile,
    ) -> Option<Counterfactual> {
        let (value, state) = (self.quantity(quantity).micros(), ruling.state());
        let mut flip = None;
        for point in self.breakpoints(quantity, ruling, profile).into_iter().flatten() {
            for micros in point - 1..=point + 1 {
                let change = micros - value;
                let nearer = change != 0 && change.abs() < within;
                if nearer && (0..=MICROS).contains(&micros) {
                    let then = self.with(quantity, micros).ruling(profile).state();
                    if then != state {
                        within = change.abs();
                        flip = Some(Counterfactual::of(quantity, change, then));
                    }
                }
            }
        }
        flip
    }

    /// Where the state can change along `quantity`, in micro-units: at its threshold, where D stops having risen, and
    /// where the gradient, linear in each quantity, crosses ±ε or Law 2's ε.
    fn breakpoints(&self, quantity: Quantity, ruling: &Ruling, profile: &Profile) -> [Option<i64>; 5] {
        let parameters = profile.parameters();
        let threshold = micros(match quantity {
            Quantity::D => parameters.delta,
            Quantity::P => parameters.rho,
            Quantity::Omega => parameters.theta,
        });
        let Some(before) = &self.before else { return [Some(threshold), None, None, None, None] };
        let (p0, omega0) = (before.p.value(), before.omega.value());
        let (p, omega) = (self.p.value(), self.omega.value());
        let slope = match quantity {
            Quantity::D => parameters.alpha,
            Quantity::P => beta_eff(self.omega, parameters),
            Quantity::Omega => parameters.lambda - parameters.beta * p,
        };
        let gap_slope = match quantity {
            Quantity::D => parameters.alpha,
            Quantity::P => parameters.beta * (1.0 - (omega0 + omega) / 2.0),
            Quantity::Omega => parameters.beta * (p0 - p) / 2.0,
        };
        let value = self.quantity(quantity).value();
        let at = |from: f64, to: f64, slope: f64| Some(micros((value + (to - from) / slope).clamp(-1.0, 2.0)));
        // Comparisons round to whole micro-units, so they change half of one before or after ε.
        let epsilon = micros(parameters.epsilon) as f64;
        let [signal, above] = [epsilon - 0.5, epsilon + 0.5].map(|micros| micros / MICROS as f64);
        let total = ruling.gradient.total;
        let may_kill = self.worsening_before.saturating_add(1) >= parameters.kill_after;
        let kill = match profile.rules().kill_switch {
            _ if !may_kill => None,
            KillSwitch::GapRises => at(ruling.gradient.without_omega(), above, gap_slope),
            KillSwitch::LossRises => at(total, above, slope),
        };
        let not_risen = (may_kill && quantity == Quantity::D).then(|| before.d.micros());
        [Some(threshold), at(total, signal, slope), at(total, -signal, slope), kill, not_risen]
    }

    fn with(self, quantity: Quantity, micros: i64) -> Self {
        let value = Unit::from_micros(micros);
        match quantity {
            Quantity::D => Self { d: value, ..self },
            Quantity::P => Self { p: value, ..self },
            Quantity::Omega => Self { omega: value, ..self },
        }
    }
}
