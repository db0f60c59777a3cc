//! Tools that leave evidence, behind a guard that denies by default.
//!
//! *Is*: the tools this machine has (`mdfind`, `glob`, `read_file`, `write_file`, `files`, `trash`, `shell`, `search`,
//! `desktop`, `applescript`, `shortcuts`, and the person's own), a [`Registry`] that makes a call only if its subtask may
//! make it, the guard that proves a command harmless or asks ([`CommandGuard`]), the fence that holds what runs, the
//! [`checks`] that read state again after an act, the journal from which an act is taken back ([`undo`]).
//!
//! *Is not*: a judge of results, a retry policy, a user interface. It knows no bus and no model.
//!
//! *Limits today*: on Linux a kernel with Landlock and seccomp holds every command ([`Registry::fence_report`] says what
//! it holds here): names and sizes of protected files stay visible, a command may read another program's named pipe, and
//! what a person was shown by name may be changed in any way. macOS's sandbox has been tried with a stand-in only.
//! Overwriting is not offered; deleting is moving to the trash.
//!
//! ```
//! use artoo_proto::{ConsentScope, Environment, EvidenceId, TaskId, ToolOrder, ToolOutcome, ToolRequest};
//! use artoo_tools::{Registry, ToolConfig};
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
//! # runtime.block_on(async {
//! let environment = Environment {
//!     cwd: "/".into(), home: "/nowhere".into(), workspace: "/nowhere/ws".into(), os: "linux".into(), utc_offset_s: 0,
//! };
//! let registry = Registry::detect(ToolConfig::new(environment));
//! let context = ToolOrder {
//!     task_id: TaskId::try_from("tidy-00000000-0000-4000-8000-000000000001".to_owned()).unwrap(),
//!     request: ToolRequest { tool: "shell".into(), input: serde_json::json!({"command": "rm -rf /nowhere"}) },
//!     evidence_id: EvidenceId("e1".into()),
//!     allowed_tools: vec!["shell".into()],
//!     blocked_tools: vec![],
//!     blocked_targets: vec![],
//!     confirm: false,
//!     consent: None,
//!     scope: ConsentScope::Once,
//! };
//! // Nothing has run: somebody must say yes to exactly this first.
//! assert!(matches!(registry.call(&context, "", None).await, ToolOutcome::NeedsConsent { .. }));
//! # });
//! ```
//!
//! Everything a caller does with a tool is one [`Registry::call`]; it answers with a record of what happened, or with
//! the question that a person must answer first. Dropping the call's future ends whatever it started.

mod beneath;
mod blocked;
mod builtin;
pub mod checks;
pub mod config;
mod consent;
mod custom;
mod digest;
pub mod evidence;
mod fence;
mod files;
mod glob;
mod guard;
mod input;
mod limit;
#[cfg(feature = "mcp")]
mod mcp;
mod mdfind;
mod nearby;
mod network;
mod open;
mod paths;
mod process;
mod protect;
mod read_file;
mod record;
mod recording;
mod registry;
pub mod rules;
mod secret;
mod session;
mod shell;
mod text;
mod tool;
mod trash;
pub mod trust;
pub mod undo;
#[cfg(feature = "web")]
mod web;
mod write_file;

#[cfg(test)]
mod tests;

pub use config::ToolConfig;
pub use consent::{GRANT_LIFETIME, Grant};
pub use custom::{ManifestProblem, ToolProblem};
pub use evidence::EvidenceStore;
pub use fence::{Denial, FenceReport};
pub use guard::{Classification, CommandClass, CommandGuard};
pub use registry::Registry;
pub use rules::{Rule, RuleBook};
#[cfg(feature = "web")]
pub use web::{Engine, EngineProblem, WebConfig};
