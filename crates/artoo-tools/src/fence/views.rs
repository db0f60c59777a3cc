//! Views for commands: which folders, where their changes lie, and whether this machine has views at all.

use std::path::{Path, PathBuf};

use crate::config::ToolConfig;
use crate::protect::Protected;
use crate::view::{self, NoView, View};

impl View {
    /// A view of the workspace, the working folder, the home folder and these folders.
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

/// Whether commands run in views, in a sentence.
pub(crate) fn words(config: &ToolConfig) -> String {
    match tried(config) {
        Ok(_) => "commands change files in a view first, and only what is approved reaches the real ones".to_owned(),
        Err(problem) => {
            format!("commands change files directly once they are approved: no view can be made ({problem})")
        }
    }
}

/// Deletes what views of ended processes have left.
pub(crate) fn clean(config: &ToolConfig) {
    if let Some(views) = folder(config) {
        view::clean(&views);
    }
}

/// The folder of all views, where they can be made.
fn tried(config: &ToolConfig) -> Result<PathBuf, NoView> {
    if !config.views {
        return Err(NoView::Off);
    }
    let views = folder(config).ok_or(NoView::NoData)?;
    view::tried(&views)?;
    Ok(views)
}

fn folder(config: &ToolConfig) -> Option<PathBuf> {
    config.data_dir.as_deref().map(|data: &Path| data.join("views"))
}
