//! A decision in one line: every number against its threshold, what follows, and what would have changed it.

use std::fmt;

use crate::decision::Urgency;
use crate::outcome::{Decision, Outcome, StopReason};
use crate::unit::{Exact, micros};

impl fmt::Display for Decision {
    /// Contains numbers and fixed words only, never a claim, tool or target: safe on any terminal.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.outcome {
            Outcome::Accept => f.write_str("every criterion met")?,
            Outcome::Success(_) => write!(f, "{}; {}", Budget(self), Distance(self))?,
            Outcome::Abandon(reason) => self.write_stop(*reason, f)?,
            Outcome::Replan(_) => write!(f, "{}; {}; {}", Distance(self), Signal(self), Blame(self))?,
        }
        write!(f, " → {}", self.state())?;
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
            // That an accept needs everything to be met goes without saying.
            Some(otherwise) if self.outcome != Outcome::Accept => write!(f, "; {otherwise}"),
            Some(_) | None => Ok(()),
        }
    }
}

impl Decision {
    fn write_stop(&self, reason: StopReason, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match reason {
            StopReason::BudgetExhausted => write!(f, "{}", Budget(self)),
            StopReason::MaxReplans => write!(f, "{}; all {} replans used", Distance(self), self.replans),
            StopReason::Diverging => {
                write!(f, "{}; the gap grew {} rounds in a row", Distance(self), self.worsening_rounds)
            }
            StopReason::ToolsExhausted => {
                write!(f, "{}; {}; every tool blocked, none left to release", Distance(self), Blame(self))
            }
            StopReason::External => write!(f, "ended by the caller at D {}", self.loss.d),
        }
    }
}

struct Budget<'a>(&'a Decision);

impl fmt::Display for Budget<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0.margins.omega_micros >= 0 { "≥" } else { "<" };
        write!(f, "Ω {} {sign} θ {}", self.0.loss.omega, Exact(self.0.thresholds.theta_micros))
    }
}

struct Distance<'a>(&'a Decision);

impl fmt::Display for Distance<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let near = self.0.margins.d_micros <= 0;
        let sign = if near { "≤" } else { ">" };
        write!(f, "D {} {sign} δ {}", self.0.loss.d, Exact(self.0.thresholds.delta_micros))?;
        if near && self.0.required_unmet { f.write_str(", but a required criterion is unmet") } else { Ok(()) }
    }
}

struct Signal<'a>(&'a Decision);

impl fmt::Display for Signal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.0.margins.gradient_micros.saturating_add(self.0.thresholds.epsilon_micros);
        let sign = if self.0.margins.gradient_micros >= 0 { "≥" } else { "<" };
        write!(f, "|∇L| {} {sign} ε {}", Exact(size), Exact(self.0.thresholds.epsilon_micros))?;
        let gradient = &self.0.gradient;
        match gradient.dominant() {
            Some(quantity) => write!(f, " (mostly {quantity} {})", Exact(micros(gradient.part(quantity)))),
            None => Ok(()),
        }
    }
}

struct Blame<'a>(&'a Decision);

impl fmt::Display for Blame<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0.margins.p_micros > 0 { ">" } else { "≤" };
        write!(f, "P {} {sign} ρ {}", self.0.loss.p, Exact(self.0.thresholds.rho_micros))
    }
}
