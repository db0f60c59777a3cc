//! The auditor (R6): it logs every event on the bus in a tamper-evident file, checks rules, and reports to the operator
//! only.
//!
//! *Is*: a pure state machine ([`Auditor`]) that turns events into log entries, findings and reports; an append-only
//! JSONL log with a hash chain ([`AuditLog`]) and its verification ([`verify`]); a thread that joins the two ([`spawn`]).
//! *Is not*: able to publish. It holds a read-only tap of the bus.
//!
//! *Invariant*: the auditor can't send anything to a role, and can't slow one down.
//!
//! ```
//! use artoo_audit::Auditor;
//! use artoo_proto::{Timestamp, Trigger};
//! let mut auditor = Auditor::new(Timestamp::from_millis(0));
//! let report = auditor.report(Timestamp::from_millis(1), Trigger::OnDemand);
//! assert_eq!(report.tasks_observed, 0);
//! ```

mod auditor;
mod detector;
mod event;
mod finding;
mod log;
mod review;
mod sanitize;
mod service;
mod stats;
mod verify;
mod window;
pub mod words;

pub use artoo_proto::redact::{REDACTED, is_secret_name, redact};
pub use auditor::Auditor;
pub use event::{AuditEvent, EVENT_MAX_BYTES, Note, Record, SafeFields, TEXT_MAX_CHARS};
pub use finding::{Finding, Rule};
pub use log::{AuditLog, LogError, SEGMENT_MAX_BYTES};
pub use review::{Look, review};
pub use service::{
    AuditConfig, AuditError, AuditService, AuditSummary, REPORT_EVERY, REPORT_WITHIN, deleted_log, spawn,
};
pub use stats::{StatsError, load_stats, save_stats, stats_path};
pub use verify::{Damage, Gap, Verified, VerifyError, verify};
pub use window::{AuditStats, DRIFT_MIN_EARLIER, DRIFT_TASKS, LogHead, STATS_VERSION, Tally, Totals, Window};

#[cfg(test)]
mod testing;
