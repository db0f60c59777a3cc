//! What the tools are told at start: the machine's facts and every limit, each a named constant with its reason.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use artoo_proto::Environment;

use crate::evidence::EvidenceStore;
use crate::undo::UndoConfig;

/// Longest a single call may take; long enough for a walk over a large home folder on a slow disk.
#[doc(alias = "limit")]
pub const CALL_TIMEOUT: Duration = Duration::from_secs(60);

/// Between SIGTERM and SIGKILL; enough for a program to close its files.
pub const KILL_GRACE: Duration = Duration::from_secs(2);

/// How long output is still read after a program's end when something else holds the pipe open.
pub const EXIT_GRACE: Duration = Duration::from_millis(300);

/// Characters of output that reach a model, head and tail together; the design's number.
#[doc(alias = "limit")]
pub const OUTPUT_MAX_CHARS: usize = 4000;

/// Bytes of a program's output kept at each end; with two ends and two streams at most 4 MB are held a call.
pub const CAPTURE_END_BYTES: usize = 1024 * 1024;

/// Largest file a command may write; far above what a person's documents are, and a full disk away from most disks' size.
#[doc(alias = "limit")]
pub const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024 * 1024;

/// Disk space a command may use unasked, of each file system it writes to; never more than half of what is free there.
#[doc(alias = "limit")]
pub const DISK_BYTES_MAX: u64 = 2 * 1024 * 1024 * 1024;

/// Memory one process of a command may fill; enough to build large programs, not enough to starve the machine at once.
#[doc(alias = "limit")]
pub const MEMORY_BYTES_MAX: u64 = 4 * 1024 * 1024 * 1024;

/// Addresses one process of a command may reserve; runtimes reserve many times what they fill.
pub const ADDRESS_BYTES_MAX: u64 = 64 * 1024 * 1024 * 1024;

/// Processes and threads of the user, all taken together, above which a command starts no more; a desktop has about a
/// thousand. The kernel does not hold root to it.
#[doc(alias = "limit")]
pub const PROCESSES_MAX: u64 = 4096;

/// Seconds of processor time of one process of a command; several times what a call lasts.
#[doc(alias = "limit")]
pub const CPU_SECONDS_MAX: u64 = 600;

/// Where programs are looked for, in this order: folders only an administrator writes to come first.
pub const PROGRAM_PATH: [&str; 5] = ["/usr/bin", "/bin", "/usr/sbin", "/sbin", "/run/current-system/sw/bin"];

/// Where a command that a person allowed may find more programs; a proven command never runs from here.
pub const CONSENTED_PATH: [&str; 3] = ["/usr/local/bin", "/usr/local/sbin", "/opt/homebrew/bin"];

/// What a command and each process it starts may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessLimits {
    /// Size of a file it writes, in bytes.
    pub file_bytes: u64,
    /// Disk space it uses, in bytes; half of what is free if that is less.
    pub disk_bytes: u64,
    /// Memory it fills, in bytes.
    pub memory_bytes: u64,
    /// Addresses it reserves, in bytes.
    pub address_bytes: u64,
    /// Processes and threads of the user above which it starts no more.
    pub processes: u64,
    /// Seconds of processor time.
    pub cpu_s: u64,
}

impl Default for ProcessLimits {
    fn default() -> Self {
        Self {
            file_bytes: FILE_BYTES_MAX,
            disk_bytes: DISK_BYTES_MAX,
            memory_bytes: MEMORY_BYTES_MAX,
            address_bytes: ADDRESS_BYTES_MAX,
            processes: PROCESSES_MAX,
            cpu_s: CPU_SECONDS_MAX,
        }
    }
}

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
    /// What a command may use.
    pub limits: ProcessLimits,
    /// Folders in which programs are looked for.
    pub program_path: Vec<PathBuf>,
    /// artoo's own folder, where rules and evidence are kept; without one nothing lasts longer than the process.
    pub data_dir: Option<PathBuf>,
    /// The store of that folder, put here by the registry.
    pub(crate) evidence: Option<EvidenceStore>,
    /// Paths no tool may read or write, besides the built-in list (keys, artoo's own data).
    pub protected: Vec<PathBuf>,
    /// Whether commands that change files run in a view of them first, where the machine allows it.
    pub views: bool,
    /// Whether what tools read stays on this machine, or a model is trusted with secrets: then nobody is asked before
    /// the content of a file that may hold some is given to it.
    pub trusts_model: bool,
    /// Variables that lead to the person's session (its bus, its screen); only programs of the desktop get them.
    pub session: Vec<(String, OsString)>,
    /// A folder of manifests of the person's own tools.
    pub custom: Option<PathBuf>,
    /// A folder of manifests of the person's own programs for `shortcuts`, where the system has no such thing.
    pub shortcuts: Option<PathBuf>,
    /// A folder of manifests of servers that speak the Model Context Protocol.
    #[cfg(feature = "mcp")]
    pub mcp: Option<PathBuf>,
    /// Search engines; with none there is no `search` tool.
    #[cfg(feature = "web")]
    pub web: crate::web::WebConfig,
    /// Where what is changed is kept for undo; without it nothing is, and every question says so.
    pub undo: Option<UndoConfig>,
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
            limits: ProcessLimits::default(),
            program_path: PROGRAM_PATH.iter().map(PathBuf::from).collect(),
            data_dir: None,
            evidence: None,
            protected: Vec::new(),
            views: true,
            trusts_model: false,
            session: crate::session::environment(),
            custom: None,
            shortcuts: None,
            #[cfg(feature = "mcp")]
            mcp: None,
            #[cfg(feature = "web")]
            web: crate::web::WebConfig::default(),
            undo: None,
        }
    }
}
