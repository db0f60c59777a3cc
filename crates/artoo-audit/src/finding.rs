//! Findings: the rules that the auditor checks, each with a name and a class.

use std::fmt;

use artoo_proto::escape::{one_line, shorten};
use artoo_proto::redact::redact;
use serde::{Deserialize, Serialize};

/// Maximum length of a finding's description, in characters: a report shows it on one line.
const DETAIL_MAX_CHARS: usize = 300;

/// Something that a rule found wrong with an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The rule that was broken.
    pub rule: Rule,
    /// What was found: one line, escaped, redacted and shortened.
    pub detail: String,
}

/// Macro that declares the enum `Rule`: the rules with their names, in two classes.
macro_rules! rules {
    (
        boundary_violations { $($(#[$doc:meta])* $violation:ident = $violation_name:literal;)* }
        anomalies { $($(#[$other_doc:meta])* $anomaly:ident = $anomaly_name:literal;)* }
    ) => {
        /// A rule that the auditor checks on the bus's events; a finding says that one is broken.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Rule {
            $($(#[$doc])* $violation,)*
            $($(#[$other_doc])* $anomaly,)*
        }

        impl Rule {
            /// Every rule that the auditor checks.
            pub const ALL: &'static [Self] = &[$(Self::$violation,)* $(Self::$anomaly,)*];

            /// The rule's name in reports and in the log.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$violation => $violation_name,)* $(Self::$anomaly => $anomaly_name,)* }
            }

            /// Whether it is a rule of the message bus (sender, cause or order of a message); otherwise a finding is an
            /// anomaly.
            #[must_use]
            pub fn is_violation(self) -> bool {
                matches!(self, $(Self::$violation)|*)
            }

            /// The rule with this name; `None` if this version of artoo has no such rule.
            pub(crate) fn named(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|rule| rule.name() == name)
            }
        }
    };
}

rules! {
    boundary_violations {
        /// The bus refused a message.
        Refused = "refused";
        /// A message was published that the route table does not allow.
        RouteNotInTable = "route_not_in_table";
        /// An instance published a message of another task or subtask.
        ForeignTask = "foreign_task";
        /// A message names no cause, or one that was never published.
        UnknownCause = "unknown_cause";
        /// A message id was used twice.
        RepeatedId = "repeated_id";
        /// A message was published that the auditor did not see, or out of order.
        SequenceGap = "sequence_gap";
        /// A role asked for work outside the System that it may not ask for.
        EffectOutsideAuthority = "effect_outside_authority";
    }
    anomalies {
        /// The directive `break_symmetry` was repeated although D did not fall.
        GgsThrashing = "ggs_thrashing";
        /// Another plan was ordered although D did not fall after the last order.
        StalledReplan = "stalled_replan";
        /// A task had more than 6 retries, or a subtask more than 3 attempts.
        ExcessiveRetries = "excessive_retries";
        /// A subtask id was sent to an executor twice in a task.
        RepeatedSubtask = "repeated_subtask";
        /// A tool call did not succeed.
        ToolFailed = "tool_failed";
        /// A tool call was not allowed.
        CallDenied = "call_denied";
        /// Other work outside the System did not succeed.
        EffectFailed = "effect_failed";
        /// A result arrived for work that no role had asked for.
        UnknownEffect = "unknown_effect";
        /// A role panicked.
        Panicked = "panicked";
        /// A delivery was dropped.
        DeliveryDropped = "delivery_dropped";
        /// A role ignored an input: late, duplicate or unknown.
        Ignored = "ignored";
        /// Events are missing because the tap was full.
        EventsMissing = "events_missing";
        /// A task was accepted although a subtask of the delivered round failed or never reported.
        AcceptAfterFailure = "accept_after_failure";
        /// A task was accepted with an unmet criterion, or with D above 0.
        AcceptWithUnmet = "accept_with_unmet";
        /// A task had more than one final result.
        RepeatedFinalResult = "repeated_final_result";
        /// A task had no final result when the bus closed, or long after its hard limit.
        NoFinalResult = "no_final_result";
        /// A role published a message after the task's final result.
        AfterFinalResult = "after_final_result";
        /// The auditor's own log or statistics are damaged or incomplete.
        AuditTrail = "audit_trail";
    }
}

impl Finding {
    /// Creates a finding; its description `detail` is escaped, redacted and shortened.
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
