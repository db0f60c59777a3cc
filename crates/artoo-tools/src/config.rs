//! What the tools are told at start: the machine's facts and every limit, each a named constant with its reason.

use std::path::PathBuf;
use std::time::Duration;

use artoo_proto::Environment;

use crate::evidence::EvidenceStore;

/// Longest a single call may take; long enough for a walk over a large home folder on a slow disk.
pub const CALL_TIMEOUT: Duration = Duration::from_secs(60);

/// Between SIGTERM and SIGKILL; enough for a program to close its files.
pub const KILL_GRACE: Duration = Duration::from_secs(2);

/// How long output is still read after a program's end when something else holds the pipe open.
pub const EXIT_GRACE: Duration = Duration::from_millis(300);

/// Characters of output that reach a model, head and tail together; the design's number.
pub const OUTPUT_MAX_CHARS: usize = 4000;

/// Bytes of a program's output kept at each end; with two ends and two streams at most 4 MB are held a call.
pub const CAPTURE_END_BYTES: usize = 1024 * 1024;

/// Where programs are looked for, in this order: folders only an administrator writes to come first.
pub const PROGRAM_PATH: [&str; 5] = ["/usr/bin", "/bin", "/usr/sbin", "/sbin", "/run/current-system/sw/bin"];

/// Where a command that a person allowed may find more programs; a proven command never runs from here.
pub const CONSENTED_PATH: [&str; 3] = ["/usr/local/bin", "/usr/local/sbin", "/opt/homebrew/bin"];

/// How a [`crate::Registry`] is set up.
#[derive(Debug, Clone)]
pub struct ToolConfig {
    /// The machine: working folder, home, workspace.
    pub environment: Environment,
    /// Longest a call may take.
    pub call_timeout: Duration,
    /// Between SIGTERM and SIGKILL.
    pub kill_grace: Duration,
    /// Reading after a program's end.
    pub exit_grace: Duration,
    /// Characters of output kept in a record.
    pub output_max_chars: usize,
    /// Folders in which programs are looked for.
    pub program_path: Vec<PathBuf>,
    /// artoo's own folder, where rules and evidence are kept; without one nothing lasts longer than the process.
    pub data_dir: Option<PathBuf>,
    /// The store of that folder, put here by the registry.
    pub(crate) evidence: Option<EvidenceStore>,
    /// Paths no tool may read or write, besides the built-in list (keys, artoo's own data).
    pub protected: Vec<PathBuf>,
}

impl ToolConfig {
    /// The default limits for this machine.
    #[must_use]
    pub fn new(environment: Environment) -> Self {
        Self {
            environment,
            call_timeout: CALL_TIMEOUT,
            kill_grace: KILL_GRACE,
            exit_grace: EXIT_GRACE,
            output_max_chars: OUTPUT_MAX_CHARS,
            program_path: PROGRAM_PATH.iter().map(PathBuf::from).collect(),
            data_dir: None,
            evidence: None,
            protected: Vec::new(),
        }
    }
}
