//! The environment a proven command runs in, on top of the scrubbed one: settings that keep programs from starting
//! others, reaching the network or writing beside what they were asked.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::config::{CONSENTED_PATH, ToolConfig};

/// Variables of programs that would start a pager, take a lock, or fetch what is missing.
const QUIET: [(&str, &str); 11] = [
    ("PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("SYSTEMD_PAGER", "cat"),
    ("LESSSECURE", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_TERMINAL_PROMPT", "0"),
    // No transport is of this name, so none is used.
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GOTOOLCHAIN", "local"),
    ("HOMEBREW_NO_AUTO_UPDATE", "1"),
];

/// Settings of git that win over those of a repository; a repository may come from anywhere.
const GIT_SETTINGS: [(&str, &str); 8] = [
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.pager", "cat"),
    ("safe.bareRepository", "explicit"),
    ("log.showSignature", "false"),
    ("status.submoduleSummary", "false"),
    ("diff.ignoreSubmodules", "dirty"),
    ("tag.gpgSign", "false"),
];

/// What is set for a proven command, `PATH` among it.
pub(super) fn of(config: &ToolConfig) -> Vec<(String, OsString)> {
    let mut variables: Vec<(String, OsString)> = vec![("PATH".to_owned(), path(config))];
    variables.extend(QUIET.iter().map(|(name, value)| ((*name).to_owned(), OsString::from(value))));
    variables.push(("GIT_CONFIG_COUNT".to_owned(), GIT_SETTINGS.len().to_string().into()));
    for (index, (key, value)) in GIT_SETTINGS.iter().enumerate() {
        variables.push((format!("GIT_CONFIG_KEY_{index}"), OsString::from(key)));
        variables.push((format!("GIT_CONFIG_VALUE_{index}"), OsString::from(value)));
    }
    variables
}

/// The fixed folders, and of the others those only an administrator writes to.
fn path(config: &ToolConfig) -> OsString {
    folders(config).iter().map(|folder| folder.as_os_str()).collect::<Vec<_>>().join(std::ffi::OsStr::new(":"))
}

/// Folders a proven command's programs are looked for in.
pub(super) fn folders(config: &ToolConfig) -> Vec<PathBuf> {
    let more = CONSENTED_PATH.iter().map(PathBuf::from).filter(|folder| is_administered(folder));
    config.program_path.iter().cloned().chain(more).collect()
}

/// Whether a folder and all above it belong to the administrator and nobody else may write there.
fn is_administered(folder: &Path) -> bool {
    folder.ancestors().all(|folder| {
        fs::metadata(folder).is_ok_and(|found| found.is_dir() && found.uid() == 0 && found.mode() & 0o022 == 0)
    })
}
