//! What fenced programs may see of this machine: everything beside the protected places.

use std::path::PathBuf;
#[cfg(target_os = "linux")]
use std::{
    io,
    sync::{Arc, Mutex, PoisonError},
};

#[cfg(target_os = "linux")]
use super::visible::Visible;
use crate::protect::Protected;

/// The places that stay hidden, and on Linux what was found beside them.
#[derive(Debug)]
pub(crate) struct Sight {
    /// In order: a folder before what lies in it.
    hidden: Vec<PathBuf>,
    #[cfg(target_os = "linux")]
    visible: Mutex<Option<Arc<Visible>>>,
}

impl Sight {
    pub(crate) fn new(protected: &Protected) -> Self {
        Self {
            hidden: protected.hidden_places().into_iter().collect(),
            #[cfg(target_os = "linux")]
            visible: Mutex::default(),
        }
    }

    /// What may not be read, whether it is there or not.
    pub(crate) fn hidden(&self) -> &[PathBuf] {
        &self.hidden
    }

    /// What lies beside the hidden places now. Who asks meanwhile waits, instead of looking for the same.
    #[cfg(target_os = "linux")]
    pub(super) fn visible(&self) -> io::Result<Arc<Visible>> {
        let mut kept = self.visible.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(visible) = kept.as_ref().filter(|visible| visible.is_current()) {
            return Ok(Arc::clone(visible));
        }
        let visible = Arc::new(Visible::of(&self.hidden)?);
        *kept = visible.can_be_kept().then(|| Arc::clone(&visible));
        Ok(visible)
    }
}
