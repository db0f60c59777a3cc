//! The facts of this machine that roles may state.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use artoo_proto::{Environment, Timestamp};
use jiff::tz::TimeZone;

/// The home folder or the current folder could not be determined.
#[derive(Debug, thiserror::Error)]
pub enum EnvironmentError {
    /// `HOME` is not set to an absolute path.
    #[error("HOME is not set to an absolute path; set it to your home folder")]
    NoHome,
    /// The current folder could not be read.
    #[error("the current folder can't be read; change into one that exists")]
    NoCwd {
        /// The error of the operating system.
        #[source]
        source: std::io::Error,
    },
}

/// Reads facts about this machine: folders, operating system, time zone. Without `workspace`, the workspace is
/// `<home>/artoo_workspace`.
///
/// # Errors
/// [`EnvironmentError`] if `HOME` is unset or relative, or the current folder can't be read.
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
        utc_offset_s: time_zone().to_offset(jiff::Timestamp::now()).seconds(),
    })
}

/// The offset of this machine's local time from UTC at a moment, in seconds.
#[must_use]
pub fn utc_offset_s(at: Timestamp) -> i32 {
    static LOCAL: OnceLock<TimeZone> = OnceLock::new();
    let at = jiff::Timestamp::from_millisecond(at.as_millis()).unwrap_or_default();
    LOCAL.get_or_init(time_zone).to_offset(at).seconds()
}

/// The time zone of this machine: that of `/etc/localtime` unless `TZ` is set, because listing all zones takes too
/// long.
fn time_zone() -> TimeZone {
    let read = || TimeZone::tzif("local", &std::fs::read("/etc/localtime").ok()?).ok();
    let own = if std::env::var_os("TZ").is_none() { read() } else { None };
    own.unwrap_or_else(TimeZone::system)
}

/// Tests of the detected time zone.
#[cfg(test)]
mod tests {
    use super::{TimeZone, time_zone};

    #[test]
    fn time_zone_equals_that_of_full_list() {
        for at in ["2026-01-15T12:00:00Z", "2026-07-15T12:00:00Z"] {
            let at = at.parse().unwrap();
            assert_eq!(time_zone().to_offset(at), TimeZone::system().to_offset(at));
        }
    }
}
