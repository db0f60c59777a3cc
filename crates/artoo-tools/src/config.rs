//! The configuration of the tools: the machine, and every limit with its reason.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use artoo_proto::Environment;

use crate::evidence::EvidenceStore;
use crate::undo::UndoConfig;

/// Time limit of a call; long enough to walk a large home folder on a slow disk.
#[doc(alias = "limit")]
pub const CALL_TIMEOUT: Duration = Duration::from_secs(60);

/// Time between SIGTERM and SIGKILL; enough for a program to close its files.
pub const KILL_GRACE: Duration = Duration::from_secs(2);

/// How long output is read after a program's end if another process keeps the pipe open.
pub const EXIT_GRACE: Duration = Duration::from_millis(300);

/// Maximum characters of a call's output that are shown to a model, head and tail together.
#[doc(alias = "limit")]
pub const OUTPUT_MAX_CHARS: usize = 4000;

/// Bytes of output captured of the head and of the tail of each stream: at most 4 MB of memory per call.
pub const CAPTURE_END_BYTES: usize = 1024 * 1024;

/// Largest file that a command may write, in bytes; far larger than a document, far smaller than most disks.
#[doc(alias = "limit")]
pub const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024 * 1024;

/// Disk space in bytes that a command may use without approval on each file system; never more than half of the free
/// space.
#[doc(alias = "limit")]
pub const DISK_BYTES_MAX: u64 = 2 * 1024 * 1024 * 1024;

/// Maximum memory of each process of a command, in bytes; enough to build large programs.
#[doc(alias = "limit")]
pub const MEMORY_BYTES_MAX: u64 = 4 * 1024 * 1024 * 1024;

/// Maximum address space of each process of a command, in bytes; runtimes reserve many times what they use.
pub const ADDRESS_BYTES_MAX: u64 = 64 * 1024 * 1024 * 1024;

/// Maximum number of the user's processes and threads while a command runs; a desktop has about a thousand. The kernel
/// does not apply it to root.
#[doc(alias = "limit")]
pub const PROCESSES_MAX: u64 = 4096;

/// Maximum CPU seconds of each process of a command; several times the time limit of a call.
#[doc(alias = "limit")]
pub const CPU_SECONDS_MAX: u64 = 600;

/// Folders that are searched for programs, in this order; only an administrator can write to them.
pub const PROGRAM_PATH: [&str; 5] = ["/usr/bin", "/bin", "/usr/sbin", "/sbin", "/run/current-system/sw/bin"];

/// Folders of programs that are searched in addition to [`PROGRAM_PATH`], for shell commands and the user's own tools.
pub const CONSENTED_PATH: [&str; 3] = ["/usr/local/bin", "/usr/local/sbin", "/opt/homebrew/bin"];

/// Resource limits of a command and of each process that it starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessLimits {
    /// Size of a file that it writes, in bytes.
    pub file_bytes: u64,
    /// Disk space that it uses, in bytes; half of the free space if that is less.
    pub disk_bytes: u64,
    /// Memory that it uses, in bytes.
    pub memory_bytes: u64,
    /// Address space that it reserves, in bytes.
    pub address_bytes: u64,
    /// Number of the user's processes and threads.
    pub processes: u64,
    /// CPU seconds.
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

/// The configuration of all tools: environment, limits, protected paths, journal, and search engines.
#[derive(Debug, Clone)]
pub struct ToolConfig {
    /// The machine: working folder, home, workspace.
    pub environment: Environment,
    /// Time limit of a call.
    pub call_timeout: Duration,
    /// Time between SIGTERM and SIGKILL.
    pub kill_grace: Duration,
    /// How long output is read after a program's end.
    pub exit_grace: Duration,
    /// Characters of output kept in a record.
    pub output_max_chars: usize,
    /// Resource limits of a command.
    pub limits: ProcessLimits,
    /// Folders that are searched for programs.
    pub program_path: Vec<PathBuf>,
    /// artoo's data folder with rules and evidence. Without one, both end with the process.
    pub data_dir: Option<PathBuf>,
    /// The evidence store in that folder; set by the registry.
    pub(crate) evidence: Option<EvidenceStore>,
    /// Paths that no tool may read or write, besides the built-in list (keys, artoo's own data).
    pub protected: Vec<PathBuf>,
    /// Whether commands run in a copy-on-write view of the files first, if the machine allows it.
    pub views: bool,
    /// Whether models may read files with secrets without approval, for example because they run on this machine.
    pub trusts_model: bool,
    /// Environment variables of the user's session (D-Bus, display); only desktop programs get them.
    pub session: Vec<(String, OsString)>,
    /// A folder with manifests of the user's own tools.
    pub custom: Option<PathBuf>,
    /// A folder with manifests of the user's own programs for `shortcuts`, if the system has no shortcuts.
    pub shortcuts: Option<PathBuf>,
    /// A folder with manifests of MCP servers.
    #[cfg(feature = "mcp")]
    pub mcp: Option<PathBuf>,
    /// Search engines; without one there is no `search` tool.
    #[cfg(feature = "web")]
    pub web: crate::web::WebConfig,
    /// The undo journal. Without it changes can't be undone, and every question says so.
    pub undo: Option<UndoConfig>,
}

impl ToolConfig {
    /// The configuration for this environment with the default limits, without data folder, undo journal or the user's
    /// own tools.
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
