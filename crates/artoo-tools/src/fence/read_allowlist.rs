//! What fenced programs may see of this machine: everything beside the protected places.

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

/// The places that stay hidden, and on Linux what was found beside them.
#[derive(Debug)]
pub(crate) struct ReadAllowlist {
    /// In order: a folder before what lies in it.
    hidden: Vec<PathBuf>,
    #[cfg(target_os = "linux")]
    visible: Mutex<Option<Arc<BesideHidden>>>,
    /// How often it was looked at anew.
    looks: AtomicU64,
}

impl ReadAllowlist {
    pub(crate) fn new(protected: &Protected) -> Self {
        Self {
            hidden: protected.hidden_places().into_iter().collect(),
            #[cfg(target_os = "linux")]
            visible: Mutex::default(),
            looks: AtomicU64::default(),
        }
    }

    /// What may not be read, whether it is there or not.
    pub(crate) fn hidden(&self) -> &[PathBuf] {
        &self.hidden
    }

    /// A number that changes with what a program may read: the rules of one that runs stay as they were at its start.
    #[cfg(feature = "mcp")]
    pub(crate) fn version(&self) -> u64 {
        #[cfg(target_os = "linux")]
        // Where it can't be found out, no program starts either.
        drop(self.visible());
        self.looks.load(Ordering::Relaxed)
    }

    /// What lies beside the hidden places now. Who asks meanwhile waits, instead of looking for the same.
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
