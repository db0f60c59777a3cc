//! Findings: the rules that the auditor checks, each with a name and a class.

use std::fmt;

use artoo_proto::escape::{one_line, shorten};
use artoo_proto::redact::redact;
use serde::{Deserialize, Serialize};

/// Longest description of a finding, in characters: a report shows it on one line.
const DETAIL_MAX_CHARS: usize = 300;

/// Something that a rule found wrong with an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The rule that was broken.
    pub rule: Rule,
    /// What was found: one line, escaped, redacted and shortened.
    pub detail: String,
}

/// The list of a report in which a finding appears.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindingClass {
    /// A rule of the bus was broken: sender, cause or order of a message.
    BoundaryViolation,
    /// Anything else the operator should know.
    Anomaly,
}

macro_rules! rules {
    ($($(#[$doc:meta])* $rule:ident = $name:literal, $class:ident;)*) => {
        /// A rule that the auditor checks.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Rule {
            $($(#[$doc])* $rule,)*
        }

        impl Rule {
            /// Every rule that the auditor checks.
            pub const ALL: &'static [Self] = &[$(Self::$rule),*];

            /// The name in reports and in the log.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$rule => $name,)* }
            }

            /// The list of a report in which its findings appear.
            #[must_use]
            pub fn class(self) -> FindingClass {
                match self { $(Self::$rule => FindingClass::$class,)* }
            }
        }
    };
}

rules! {
    /// The bus refused a message.
    Refused = "refused", BoundaryViolation;
    /// A message was published that the route table does not allow.
    RouteNotInTable = "route_not_in_table", BoundaryViolation;
    /// An instance published a message of another task or subtask.
    ForeignTask = "foreign_task", BoundaryViolation;
    /// A message names no cause, or one that was never published.
    UnknownCause = "unknown_cause", BoundaryViolation;
    /// A message id was used twice.
    RepeatedId = "repeated_id", BoundaryViolation;
    /// A message was published that the auditor did not see, or out of order.
    SequenceGap = "sequence_gap", BoundaryViolation;
    /// A role asked for work outside the System that it may not ask for.
    EffectOutsideAuthority = "effect_outside_authority", BoundaryViolation;
    /// The directive `break_symmetry` was repeated although D did not fall.
    GgsThrashing = "ggs_thrashing", Anomaly;
    /// A tool call did not succeed.
    ToolFailed = "tool_failed", Anomaly;
    /// Other work outside the System did not succeed.
    EffectFailed = "effect_failed", Anomaly;
    /// A result arrived for work that no role had asked for.
    UnknownEffect = "unknown_effect", Anomaly;
    /// A role panicked.
    Panicked = "panicked", Anomaly;
    /// A delivery was dropped.
    DeliveryDropped = "delivery_dropped", Anomaly;
    /// A role ignored an input: late, duplicate or unknown.
    Ignored = "ignored", Anomaly;
    /// Events are missing because the tap was full.
    EventsMissing = "events_missing", Anomaly;
    /// A task was accepted although a subtask of the delivered round failed or never reported.
    AcceptAfterFailure = "accept_after_failure", Anomaly;
    /// A task was accepted with an unmet criterion, or with D above 0.
    AcceptWithUnmet = "accept_with_unmet", Anomaly;
    /// A task had more than one final result.
    RepeatedFinalResult = "repeated_final_result", Anomaly;
    /// A task had no final result when the bus closed, or long after its hard limit.
    NoFinalResult = "no_final_result", Anomaly;
    /// A role published a message after the task's final result.
    AfterFinalResult = "after_final_result", Anomaly;
    /// The auditor's own log or statistics are damaged or incomplete.
    AuditTrail = "audit_trail", Anomaly;
}

impl Finding {
    /// A finding; `detail` is escaped, redacted and shortened.
    #[must_use]
    pub fn new(rule: Rule, detail: impl AsRef<str>) -> Self {
        Self { rule, detail: shorten(&one_line(&redact(detail.as_ref())), DETAIL_MAX_CHARS) }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rule.name(), self.detail)
    }
}
