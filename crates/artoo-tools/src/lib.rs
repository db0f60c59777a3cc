//! The tools that models call, and the protection of the user's files from them.
//!
//! - [`Registry`] has the tools of this machine (`mdfind`, `glob`, `read_file`, `write_file`, `files`, `trash`, `shell`,
//!   `search`, `desktop`, `applescript`, `shortcuts`, and the user's own) and makes calls.
//! - A call returns a record of what happened, or the question that the user must answer first.
//! - [`Assessor`] says which shell commands are never run, and what others may do, from their words alone.
//! - A program runs in a sandbox that it can only read in, then in a copy-on-write view; what it changed there is read,
//!   asked about and committed.
//! - [`undo`] restores the files that a call changed; [`checks`] compare files after a task.
//!
//! It does not judge results, retry failed steps or show anything to the user, and it knows no bus and no model.
//!
//! *Limits today*: the sandbox needs Linux with Landlock and seccomp, and a view needs user namespaces
//! ([`Registry::fence_report`] says what can be enforced here). Without a view the question names the denied paths
//! instead of the changes. Names and sizes of protected files stay visible, and a command may read another program's
//! named pipe. The sandbox of macOS was only tested with a stub.
//!
//! ```
//! use artoo_proto::{ConsentScope, Environment, EvidenceId, TaskId, ToolOrder, ToolOutcome, ToolRequest};
//! use artoo_tools::{Registry, ToolConfig};
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
//! # runtime.block_on(async {
//! let home = tempfile::tempdir().unwrap();
//! let letter = home.path().join("letter.txt");
//! std::fs::write(&letter, "the only copy").unwrap();
//! let path = home.path().to_str().unwrap().to_owned();
//! let environment = Environment {
//!     cwd: path.clone(), home: path.clone(), workspace: path + "/ws", os: "linux".into(), utc_offset_s: 0,
//! };
//! let registry = Registry::detect(ToolConfig::new(environment));
//! let context = ToolOrder {
//!     task_id: TaskId::try_from("tidy-00000000-0000-4000-8000-000000000001".to_owned()).unwrap(),
//!     request: ToolRequest { tool: "shell".into(), input: serde_json::json!({"command": "rm letter.txt"}) },
//!     evidence_id: EvidenceId("e1".into()),
//!     allowed_tools: vec!["shell".into()],
//!     blocked_tools: vec![],
//!     blocked_targets: vec![],
//!     confirm: false,
//!     consent: None,
//!     scope: ConsentScope::Once,
//! };
//! // The user must approve exactly this change first.
//! assert!(matches!(registry.call(&context, "", None).await, ToolOutcome::NeedsConsent { .. }));
//! assert!(letter.exists());
//! # });
//! ```
//!
//! Dropping the future of a call ends every process that it started.

mod activity;
mod approved;
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
use artoo_proto::run_by;
mod secret;
mod session;
mod shell;
mod suggest;
mod text;
mod texts;
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

pub use activity::{Activity, Unit};
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
