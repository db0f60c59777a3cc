//! `shortcuts`: Apple's shortcuts by name; elsewhere the person's own programs in a folder, each with a manifest of the
//! same form as a tool of their own.

mod tool;

use std::path::PathBuf;
use std::sync::Arc;

use crate::config::ToolConfig;
use crate::custom::{self, Manifest, ToolProblem};
use crate::process;

/// The tool.
#[derive(Debug)]
pub(crate) enum Shortcuts {
    /// Apple's `shortcuts`.
    Apple { program: PathBuf },
    /// The folder's programs.
    Own { manifests: Vec<Arc<Manifest>> },
}

impl Shortcuts {
    /// The tool, where there is something to run; and what is wrong with the folder's manifests.
    pub(crate) fn detect(config: &ToolConfig) -> (Option<Self>, Vec<ToolProblem>) {
        if let Some(program) = process::find_program(config, "shortcuts") {
            return (Some(Self::Apple { program }), Vec::new());
        }
        let Some(folder) = &config.shortcuts else { return (None, Vec::new()) };
        let (manifests, problems) = custom::load(config, folder, &[]);
        let manifests: Vec<Arc<Manifest>> = manifests.into_iter().map(Arc::new).collect();
        ((!manifests.is_empty()).then_some(Self::Own { manifests }), problems)
    }
}
