//! Creates views for commands and reports whether this machine supports them.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::thread;

use crate::config::ToolConfig;
use crate::protect::Protected;
use crate::view::{self, NoView, View};

impl View {
    /// Prepares a view in which the workspace, the working folder, the home folder and these folders can be changed.
    ///
    /// # Errors
    /// When this machine or its settings have no views; the reason names what would change that.
    pub(crate) fn prepare(config: &ToolConfig, protected: &Protected, folders: &[PathBuf]) -> Result<Self, NoView> {
        let views = tried(config)?;
        let environment = &config.environment;
        let own = [&environment.workspace, &environment.cwd, &environment.home].map(PathBuf::from);
        let folders: Vec<PathBuf> = own.into_iter().chain(folders.iter().cloned()).collect();
        Self::new(&views, protected.hidden_places(), &folders)
    }
}

/// A sentence that says whether commands run in views.
pub(crate) fn views_in_words(config: &ToolConfig) -> String {
    match tried(config) {
        Ok(_) => "commands change files in a view first, and only what is approved reaches the real ones".to_owned(),
        Err(problem) => {
            format!("commands change files directly once they are approved: no view can be made ({problem})")
        }
    }
}

/// Creates the folder of all views before any program starts, and begins to delete the views of ended processes.
pub(crate) fn clean_views(config: &ToolConfig) {
    let Some(views) = folder(config).filter(|_| config.views) else { return };
    // If it can't be created, the first view reports why.
    let _ = DirBuilder::new().mode(0o700).create(&views);
    if std::fs::read_dir(&views).is_ok_and(|mut entries| entries.next().is_some()) {
        drop(thread::Builder::new().name("artoo-views".to_owned()).spawn(move || view::clean(&views)));
    }
}

/// The folder of all views; an error if views are switched off, have no data folder, or do not work on this machine.
fn tried(config: &ToolConfig) -> Result<PathBuf, NoView> {
    if !config.views {
        return Err(NoView::Off);
    }
    let views = folder(config).ok_or(NoView::NoData)?;
    view::tried(&views)?;
    Ok(views)
}

/// The path of the folder of all views; `None` without a data folder.
fn folder(config: &ToolConfig) -> Option<PathBuf> {
    config.data_dir.as_deref().map(|data: &Path| data.join("views"))
}
