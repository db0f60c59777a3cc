//! Goal Gradient Solver: turns a failure signal into a directed correction.
//!
#![doc = include_str!("../README.md")]
#![deny(missing_docs)]

pub mod blocked;
pub mod controller;
pub mod decision;
mod explain;
pub mod gradient;
pub mod loss;
pub mod macro_state;
pub mod measurement;
pub mod outcome;
pub mod params;
pub mod profile;
pub mod unit;

pub use blocked::{BlockedTarget, BlockedTargetError};
pub use controller::{ControlError, Controller};
pub use decision::{Cell, Choice, DecisionInputs, GradientNotFinite, Margins, Thresholds, Trend, Urgency, decide};
pub use gradient::Gradient;
pub use loss::{Loss, omega};
pub use macro_state::{Action, MacroState, Previous, Quantization};
pub use measurement::{
    CriterionMeasure, FailureClass, FailureMix, Measured, Mode, Place, Round, RoundError, SubtaskMeasure,
    SubtaskStatus, Tool, ToolTarget, Unmet, Verdict, failed_pairs, measure,
};
pub use outcome::{Blocked, Credit, Decision, Outcome, Replan, StopReason, SuccessOutcome};
pub use params::{Hyperparameters, MOST_REPLANS, ParameterError, ParameterTable};
pub use profile::{BlockRule, KillSwitch, Profile, RequiredCriteria, Rules, TaskCriteria};
pub use unit::{NotAUnit, Unit};
