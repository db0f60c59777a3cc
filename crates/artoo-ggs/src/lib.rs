//! Goal Gradient Solver: turns a failure signal into a directed correction.
//!
#![doc = include_str!("../README.md")]
#![deny(missing_docs)]

pub mod blocked;
pub mod cascade;
pub mod config;
pub mod controller;
pub mod counterfactual;
pub mod decision;
mod explain;
pub mod gradient;
pub mod loss;
pub mod macro_state;
pub mod measurement;
#[cfg(feature = "serde")]
mod named;
pub mod outcome;
pub mod params;
pub mod profile;
pub mod replay;
pub mod unit;

pub use blocked::{BlockedTarget, BlockedTargetError};
pub use cascade::{Course, Ruling, Situation};
pub use config::{ConfigHash, NotAConfigHash};
pub use controller::{ControlError, Controller};
pub use counterfactual::Counterfactual;
pub use decision::{Cell, Choice, DecisionInputs, GradientNotFinite, Margins, Thresholds, Trend, Urgency, decide};
pub use gradient::Gradient;
pub use loss::{Loss, Quantity, beta_eff, omega};
pub use macro_state::{Action, MacroState, Previous, Quantization};
pub use measurement::{
    CriterionMeasure, FailureClass, FailureMix, Measured, Mode, Place, Round, RoundError, SubtaskMeasure,
    SubtaskStatus, Tool, ToolTarget, Unmet, Verdict, failed_pairs, measure,
};
pub use outcome::{Blocked, Credit, Decision, Outcome, Replan, StopReason, SuccessOutcome};
pub use params::{Hyperparameters, MOST_REPLANS, ParameterError, ParameterTable};
pub use profile::{BlockRule, KillSwitch, Profile, RequiredCriteria, Rules, TaskCriteria};
pub use replay::{Answer, Call, ConfigMismatch, Event, Heading, Record, replay};
pub use unit::{NotAUnit, Unit};
