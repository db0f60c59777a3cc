//! Goal Gradient Solver: turns measurements of a failed plan into a directed correction.
//!
#![doc = include_str!("../README.md")]
#![no_std]
#![deny(missing_docs)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod blocked;
mod config;
mod controller;
mod counterfactual;
mod display;
mod evaluation;
#[cfg(feature = "serde")]
mod field_readers;
mod gradient;
mod loss;
mod macro_state;
mod measurement;
mod outcome;
mod params;
mod profile;
mod replay;
mod stop_reason;
mod switches;
mod table;
mod unit;

pub use blocked::{BlockedTarget, BlockedTargetError};
pub use config::{ConfigHash, ConfigHashError};
pub use controller::{Controller, ControllerError};
pub use counterfactual::Counterfactual;
pub use evaluation::{DecisionInputs, Evaluation, NextStep};
pub use gradient::Gradient;
pub use loss::{Loss, LossTerm};
pub use macro_state::{MacroState, PreviousAction, Quantization, ReplanAction};
pub use measurement::{
    AvailableTool, CriterionMeasure, CriterionMode, CriterionScope, FailureClass, FailureMix, Measurement, Round,
    RoundError, SubtaskMeasure, SubtaskStatus, ToolTarget, UnmetCriterion, Verdict,
};
pub use outcome::{Credit, Decision, NewBlock, Outcome, Replan, SubtaskDirective, SuccessOutcome};
pub use params::{Hyperparameters, MAX_REPLANS, ParameterError, ParameterTable};
pub use profile::{BlockRule, KillSwitch, Profile, RequiredCriteria, Rules, TaskCriteria};
pub use replay::{ConfigMismatch, ControllerCall, ControllerEvent, ControllerReply, LogEntry, LogHeader, replay};
pub use stop_reason::StopReason;
pub use switches::{Switch, Switches};
pub use table::{GradientNotFinite, Margins, TableCell, TableChoice, TableInputs, Thresholds, Trend, Urgency};
pub use unit::{Unit, UnitRangeError};
