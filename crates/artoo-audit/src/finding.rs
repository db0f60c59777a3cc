//! What can look wrong: one named rule each, and whether it breaks the bus's rules or is merely odd.

use std::fmt;

use artoo_proto::escape::{one_line, shorten};
use serde::{Deserialize, Serialize};

use artoo_proto::redact::redact;

/// Longest description of one finding, in characters: it ends up as one line on a person's screen.
const DETAIL_MAX_CHARS: usize = 300;

/// Something that looked wrong, found in one event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Which rule found it.
    pub rule: Rule,
    /// What was seen: one line, escaped, redacted, shortened.
    pub detail: String,
}

/// The two lists of an audit report that findings go into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindingClass {
    /// The bus's rules were broken: who may speak, what led to it, in which order.
    BoundaryViolation,
    /// Anything else a person should know of.
    Anomaly,
}

macro_rules! rules {
    ($($(#[$doc:meta])* $rule:ident = $name:literal, $class:ident;)*) => {
        /// The rules, each under the name a report shows.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Rule {
            $($(#[$doc])* $rule,)*
        }

        impl Rule {
            /// Every rule.
            pub const ALL: &'static [Self] = &[$(Self::$rule),*];

            /// Its name in reports and in the log.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$rule => $name,)* }
            }

            /// Which list of the report it belongs to.
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
    /// A message passed that the route table does not have.
    RouteNotInTable = "route_not_in_table", BoundaryViolation;
    /// An instance spoke for another task or subtask than its own.
    ForeignTask = "foreign_task", BoundaryViolation;
    /// A message names a cause that never passed, or none.
    UnknownCause = "unknown_cause", BoundaryViolation;
    /// A message id passed twice.
    RepeatedId = "repeated_id", BoundaryViolation;
    /// A message passed the bus without being seen here, or out of order.
    SequenceGap = "sequence_gap", BoundaryViolation;
    /// A role asked for outside work that is not its to ask for.
    EffectOutsideAuthority = "effect_outside_authority", BoundaryViolation;
    /// `break_symmetry` again, and D did not fall.
    GgsThrashing = "ggs_thrashing", Anomaly;
    /// A tool call did not end well.
    ToolFailed = "tool_failed", Anomaly;
    /// Other outside work did not succeed.
    EffectFailed = "effect_failed", Anomaly;
    /// Outside work came back that nobody had asked for.
    UnknownEffect = "unknown_effect", Anomaly;
    /// A role panicked.
    Panicked = "panicked", Anomaly;
    /// A delivery was lost.
    DeliveryDropped = "delivery_dropped", Anomaly;
    /// Something arrived that nobody awaited.
    Ignored = "ignored", Anomaly;
    /// Events are missing here: the tap was full.
    EventsMissing = "events_missing", Anomaly;
    /// A task was accepted although a subtask of the delivered round failed or never reported.
    AcceptAfterFailure = "accept_after_failure", Anomaly;
    /// A task was accepted with a criterion marked unmet, or with D above 0.
    AcceptWithUnmet = "accept_with_unmet", Anomaly;
    /// A task had more than one final result.
    RepeatedFinalResult = "repeated_final_result", Anomaly;
    /// A task had no final result when the bus closed, or long after its hard limit.
    NoFinalResult = "no_final_result", Anomaly;
    /// A role went on speaking after the task's final result.
    AfterFinalResult = "after_final_result", Anomaly;
    /// The auditor's own log or statistics are not what they should be.
    AuditTrail = "audit_trail", Anomaly;
}

impl Finding {
    /// A finding; `detail` may hold anything and is made safe to show.
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
