//! The one-line display of a decision: its numbers against their thresholds, the outcome, and the counterfactual.

use core::fmt;

use crate::outcome::{Decision, Outcome};
use crate::stop_reason::StopReason;
use crate::table::Urgency;
use crate::unit::{Exact, micros};

impl fmt::Display for Decision {
    /// Contains numbers and fixed words only, never a claim, tool or target: safe to print to a terminal.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.outcome {
            Outcome::Accept => f.write_str("every criterion met")?,
            Outcome::Success(_) => write!(f, "{}; {}", BudgetText(self), DistanceText(self))?,
            Outcome::Abandon(reason) => self.write_stop(*reason, f)?,
            Outcome::Replan(_) => write!(f, "{}; {}; {}", DistanceText(self), GradientText(self), BlameText(self))?,
        }
        let own = self.inputs.ordered.filter(|_| !self.is_terminal()).map_or("", |_| ", by what is met");
        write!(f, " → {}{own}", self.state())?;
        match &self.outcome {
            Outcome::Success(success) => write!(f, " with {} unmet", success.count())?,
            Outcome::Abandon(reason) => write!(f, " ({})", reason.name())?,
            Outcome::Replan(replan) => match replan.urgency {
                Urgency::Low => f.write_str(", urgency low")?,
                Urgency::Normal => {}
                Urgency::High => f.write_str(", urgency high")?,
            },
            Outcome::Accept => {}
        }
        if self.suspect {
            f.write_str(", suspect")?;
        }
        match &self.counterfactual {
            Some(counterfactual) if self.outcome != Outcome::Accept => write!(f, "; {counterfactual}"),
            Some(_) | None => Ok(()),
        }
    }
}

impl Decision {
    /// Writes why the task was abandoned, with the numbers behind it.
    fn write_stop(&self, reason: StopReason, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match reason {
            StopReason::BudgetExhausted => write!(f, "{}", BudgetText(self)),
            StopReason::MaxReplans => write!(f, "{}; all {} replans used", DistanceText(self), self.replans),
            StopReason::Diverging => {
                write!(f, "{}; the gap grew {} rounds in a row", DistanceText(self), self.worsening_rounds)
            }
            StopReason::Cycling => write!(f, "{}; the same criteria failed in turn again", DistanceText(self)),
            StopReason::ToolsExhausted => {
                write!(f, "{}; {}; every tool blocked, none left to release", DistanceText(self), BlameText(self))
            }
            StopReason::External => write!(f, "ended by the caller at D {}", self.loss.d),
        }
    }
}

/// Displays Ω (share of the budget used) against its threshold θ.
struct BudgetText<'a>(&'a Decision);

impl fmt::Display for BudgetText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0.margins.omega_micros >= 0 { "≥" } else { "<" };
        write!(f, "Ω {} {sign} θ {}", self.0.loss.omega, Exact(self.0.thresholds.theta_micros))
    }
}

/// Displays D (distance from the goal) against its threshold δ.
struct DistanceText<'a>(&'a Decision);

impl fmt::Display for DistanceText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let near = self.0.margins.d_micros <= 0;
        let sign = if near { "≤" } else { ">" };
        write!(f, "D {} {sign} δ {}", self.0.loss.d, Exact(self.0.thresholds.delta_micros))?;
        if near && self.0.required_unmet { f.write_str(", but a required criterion is unmet") } else { Ok(()) }
    }
}

/// Displays |∇L| (the size of the loss's change) against its threshold ε, and the term that changed most.
struct GradientText<'a>(&'a Decision);

impl fmt::Display for GradientText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.0.margins.gradient_micros.saturating_add(self.0.thresholds.epsilon_micros);
        let sign = if self.0.margins.gradient_micros >= 0 { "≥" } else { "<" };
        write!(f, "|∇L| {} {sign} ε {}", Exact(size), Exact(self.0.thresholds.epsilon_micros))?;
        let gradient = &self.0.gradient;
        match gradient.dominant() {
            Some(term) => write!(f, " (mostly {term} {})", Exact(micros(gradient.part(term)))),
            None => Ok(()),
        }
    }
}

/// Displays P (share of failures blamed on the approach) against its threshold ρ.
struct BlameText<'a>(&'a Decision);

impl fmt::Display for BlameText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0.margins.p_micros > 0 { ">" } else { "≤" };
        write!(f, "P {} {sign} ρ {}", self.0.loss.p, Exact(self.0.thresholds.rho_micros))
    }
}
