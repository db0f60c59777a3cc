//! The files that sandboxed programs may read: everything except protected paths.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
#[cfg(target_os = "linux")]
use std::{
    io,
    sync::{Arc, Mutex, PoisonError},
};

#[cfg(target_os = "linux")]
use super::linux::BesideHidden;
use crate::protect::Protected;

/// The hidden paths and, on Linux, the cached Landlock rules for everything beside them.
#[derive(Debug)]
pub(crate) struct ReadAllowlist {
    /// Sorted: a folder comes before its content.
    hidden: Vec<PathBuf>,
    #[cfg(target_os = "linux")]
    visible: Mutex<Option<Arc<BesideHidden>>>,
    /// How often the rules were made again.
    looks: AtomicU64,
}

impl ReadAllowlist {
    /// Paths hidden from sandboxed programs, made from the protected places; the readable paths are found at the first
    /// use.
    pub(crate) fn new(protected: &Protected) -> Self {
        Self {
            hidden: protected.hidden_places().into_iter().collect(),
            #[cfg(target_os = "linux")]
            visible: Mutex::default(),
            looks: AtomicU64::default(),
        }
    }

    /// The paths that a sandboxed program may not read, whether they exist or not.
    pub(crate) fn hidden(&self) -> &[PathBuf] {
        &self.hidden
    }

    /// A number that grows whenever the rules for reading are made anew, at least when the readable paths change. A
    /// running program has the rules of its start.
    #[cfg(feature = "mcp")]
    pub(crate) fn version(&self) -> u64 {
        #[cfg(target_os = "linux")]
        // If the rules can't be made, no program can be started either.
        drop(self.visible());
        self.looks.load(Ordering::Relaxed)
    }

    /// The cached Landlock rules for reading, made anew if something has changed. Concurrent callers wait for the same
    /// rules.
    #[cfg(target_os = "linux")]
    pub(super) fn visible(&self) -> io::Result<Arc<BesideHidden>> {
        let mut kept = self.visible.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(visible) = kept.as_ref().filter(|visible| visible.is_current()) {
            return Ok(Arc::clone(visible));
        }
        self.looks.fetch_add(1, Ordering::Relaxed);
        let visible = Arc::new(BesideHidden::of(&self.hidden)?);
        *kept = visible.can_be_kept().then(|| Arc::clone(&visible));
        Ok(visible)
    }
}
