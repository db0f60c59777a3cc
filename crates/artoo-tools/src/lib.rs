//! The tools that models call, and the protection of the user's files from them.
//!
//! - [`Registry`] has the tools of this machine (`mdfind`, `glob`, `read_file`, `write_file`, `files`, `trash`, `shell`,
//!   `search`, `desktop`, `applescript`, `shortcuts`, and the user's own) and makes calls.
//! - A call returns a record of what happened, or the question that the user must answer first.
//! - [`Assessor`] says which shell commands are never run, and what others may do, from their words alone.
//! - Programs run in a sandbox, which enforces what was proven or approved.
//! - [`undo`] restores the files that a call changed; [`checks`] compare files after a task.
//!
//! It does not judge results, retry failed steps or show anything to the user, and it knows no bus and no model.
//!
//! *Limits today*: the sandbox needs Linux with Landlock and seccomp ([`Registry::fence_report`] says what it can enforce
//! here). Names and sizes of protected files stay visible, a command may read another program's named pipe, and a path
//! that the user approved may be changed in any way. The sandbox of macOS was only tested with a stub. Files are not
//! overwritten; deleting moves them to the trash.
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
//! // Nothing has run: the user must approve exactly this call first.
//! assert!(matches!(registry.call(&context, "", None).await, ToolOutcome::NeedsConsent { .. }));
//! # });
//! ```
//!
//! Dropping the future of a call ends every process that it started.

mod builtin;
mod call;
mod change;
pub mod checks;
mod command_line;
pub mod config;
mod consent;
mod custom;
mod digest;
mod effects;
pub mod evidence;
mod fence;
mod files;
mod glob;
mod input;
mod limit;
#[cfg(feature = "mcp")]
mod mcp;
mod mdfind;
mod open;
mod openat;
mod paths;
mod process;
mod protect;
mod read_file;
mod record;
mod risk;
pub mod rules;
mod secret;
mod session;
mod shell;
mod suggest;
mod text;
mod tool;
mod transaction;
mod trash;
pub mod trust;
pub mod undo;
mod view;
#[cfg(feature = "web")]
mod web;
mod write_file;

#[cfg(test)]
mod tests;

pub use call::Registry;
pub use config::ToolConfig;
pub use consent::{GRANT_LIFETIME, Grant};
pub use custom::{ManifestProblem, ToolProblem};
pub use evidence::EvidenceStore;
pub use fence::{Denial, FenceReport};
pub use risk::{CommandAssessment, CommandClass};
pub use rules::{Rule, RuleBook};
pub use shell::Assessor;
#[cfg(feature = "web")]
pub use web::{Engine, EngineProblem, WebConfig};
