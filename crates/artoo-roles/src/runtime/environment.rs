//! The facts of this machine that roles may state.

use std::path::{Path, PathBuf};

use artoo_proto::Environment;

/// The machine lacks something every task needs.
#[derive(Debug, thiserror::Error)]
pub enum EnvironmentError {
    /// No home folder.
    #[error("HOME is not set to an absolute path; set it to your home folder")]
    NoHome,
    /// No current folder.
    #[error("the current folder can't be read; change into one that exists")]
    NoCwd {
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
}

/// Reads the environment of this process. The workspace is `<home>/artoo_workspace` unless one is given.
///
/// # Errors
/// When `HOME` is unset or relative, or the current folder is gone.
pub fn detect_environment(workspace: Option<&Path>) -> Result<Environment, EnvironmentError> {
    let home = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    let home = home.ok_or(EnvironmentError::NoHome)?;
    let cwd = std::env::current_dir().map_err(|source| EnvironmentError::NoCwd { source })?;
    let workspace = workspace.map_or_else(|| home.join("artoo_workspace"), Path::to_owned);
    let text = |path: &Path| path.to_string_lossy().into_owned();
    Ok(Environment {
        cwd: text(&cwd),
        home: text(&home),
        workspace: text(&workspace),
        os: std::env::consts::OS.to_owned(),
        utc_offset_s: jiff::Zoned::now().offset().seconds(),
    })
}
