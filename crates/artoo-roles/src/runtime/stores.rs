//! What a runtime stores in its data folder: the audit log and the memory.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use artoo_audit::{AuditConfig, AuditError, AuditService, REPORT_EVERY};
use artoo_bus::{TAP_CAPACITY, Tap, TapSender};
use artoo_tools::ToolConfig;
use artoo_tools::undo::UndoConfig;
use tokio::sync::mpsc;

use super::UNDO;
use super::driver::Command;
use super::error::RuntimeError;
use super::store::{self, OnChange, Store};
use crate::Input;
use crate::memory::Memory;

/// What a runtime stores, and the memory that its System starts with.
pub(super) struct Stores {
    pub(super) tap: Option<TapSender>,
    pub(super) audit: Option<AuditService>,
    pub(super) store: Option<Store>,
    pub(super) memory: Memory,
    /// Problems found, as texts for the user.
    pub(super) notes: Vec<String>,
}

impl Default for Stores {
    fn default() -> Self {
        let memory = Memory::new(artoo_mkct::Engine::new());
        Self { tap: None, audit: None, store: None, memory, notes: Vec::new() }
    }
}

impl Stores {
    /// Opens the audit log of a data folder and, unless `without_memory`, its memory.
    pub(super) fn open(
        dir: &Path,
        without_memory: bool,
        commands: &mpsc::UnboundedSender<Command>,
    ) -> Result<Self, RuntimeError> {
        let (sender, receiver) = artoo_bus::tap(TAP_CAPACITY);
        let auditor = audit_in(dir, receiver)?;
        let notes = auditor.gaps().iter().map(|gap| format!("audit log: {gap} (artoo audit)")).collect();
        let mut stores = Self { tap: Some(sender), audit: Some(auditor), notes, ..Self::default() };
        if !without_memory {
            let (store, engine, found) = store::open(dir, memory_changes(commands.clone()))?;
            (stores.memory, stores.store) = (Memory::new(engine), Some(store));
            stores.notes.extend(found);
        }
        Ok(stores)
    }
}

/// Passes changes of the stored memory to the driver. After the driver has ended, no copy of the memory is left to
/// change.
fn memory_changes(commands: mpsc::UnboundedSender<Command>) -> OnChange {
    Box::new(move |frames| drop(commands.send(Command::Input(Input::MemoryChanged { frames }))))
}

/// Files and folders in a data folder that only a run with an audit log leaves.
#[must_use]
pub fn run_traces(dir: &Path) -> Vec<PathBuf> {
    ["memory.journal", "evidence", UNDO].map(|name| dir.join(name)).into()
}

/// Starts the auditor, which writes the events of the tap to the audit log of a data folder.
pub(super) fn audit_in(dir: &Path, tap: Tap) -> Result<AuditService, AuditError> {
    let clock = Box::new(|| SystemTime::now().into());
    let config = AuditConfig { dir: dir.to_owned(), traces: run_traces(dir), clock, report_every: REPORT_EVERY };
    artoo_audit::spawn(tap, config)
}

/// Adds a data folder, which is created if missing, to the configuration of the tools: for undo, evidence and rules.
///
/// # Errors
/// [`RuntimeError::DataDir`] if the folder can't be created or made private.
pub fn tools_in(dir: &Path, mut config: ToolConfig) -> Result<ToolConfig, RuntimeError> {
    make_private_dir(dir)?;
    config.protected.push(dir.to_owned());
    config.undo.get_or_insert_with(|| UndoConfig::new(dir.join(UNDO)));
    config.data_dir = Some(dir.to_owned());
    Ok(config)
}

/// Creates a folder with its parents if missing, and lets only the owner use it.
fn make_private_dir(path: &Path) -> Result<(), RuntimeError> {
    let failed = |source| RuntimeError::DataDir { path: path.to_owned(), source };
    fs::create_dir_all(path).map_err(failed)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(0o700)).map_err(failed)?;
    }
    Ok(())
}
