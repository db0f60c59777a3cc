//! Writes the configuration file atomically, readable by its owner only, and keeps a backup.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::{Setting, load};
use crate::failure::Failure;
use crate::leftovers;

/// Settings that `artoo setup` writes anew; it copies all other settings of the old configuration file.
pub(crate) const OF_SETUP: [Setting; 6] = [
    Setting::Model,
    Setting::BaseUrl,
    Setting::ModelName,
    Setting::SecretVariable,
    Setting::SecretFile,
    Setting::SecretCommand,
];

/// Settings of the existing configuration file that are copied into the new one: all except `decided`. Empty if the
/// file can't be read.
pub(crate) fn kept(path: &Path, home: &Path, decided: &[Setting]) -> BTreeMap<Setting, String> {
    // A file that can't be read is only backed up; none of its settings are taken over.
    let Ok(Some(file)) = load(path, home) else { return BTreeMap::new() };
    let others = Setting::ALL.into_iter().filter(|key| !decided.contains(key));
    others.filter_map(|key| Some((key, file.get(key)?.to_owned()))).collect()
}

/// The text of a configuration file with the `chosen` settings and then the `kept` ones.
pub(crate) fn text(kept: &BTreeMap<Setting, String>, chosen: &BTreeMap<Setting, String>) -> String {
    let mut text = "# artoo's configuration; artoo config keys lists what it may hold.\n".to_owned();
    for (key, value) in chosen.iter().chain(kept) {
        text.push_str(&format!("{} = {}\n", key.name(), toml::Value::String(value.clone())));
    }
    text
}

/// Path of the configuration file's backup; `None` if there is no file to back up.
pub(crate) fn backup_of(path: &Path) -> Option<PathBuf> {
    path.exists().then(|| path.with_extension("toml.old"))
}

/// Replaces the configuration file atomically with this text, after a backup; creates the folder if needed.
pub(crate) fn config(path: &Path, text: &str) -> Result<(), Failure> {
    // A link stays, and what it leads to is replaced.
    let path = &path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let problem = |source| Failure::NotWritten { path: path.to_owned(), source };
    let folder = path.parent().unwrap_or(Path::new("/"));
    make_folder(folder)?;
    if let Some(backup) = backup_of(path) {
        fs::copy(path, backup).map_err(problem)?;
    }
    replace(path, text.as_bytes())
}

/// Writes an endpoint's key to the file `key` in the folder, readable by its owner only, and returns the file's path.
pub(crate) fn key_file(folder: &Path, key: &str) -> Result<PathBuf, Failure> {
    make_folder(folder)?;
    let path = folder.join("key");
    replace(&path, format!("{key}\n").as_bytes())?;
    Ok(path)
}

/// Creates a folder that only its owner can access.
fn make_folder(folder: &Path) -> Result<(), Failure> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|source| Failure::NotWritten { path: folder.to_owned(), source })
}

/// Replaces a file atomically: writes the bytes to a temporary file, readable by its owner only, and renames it.
fn replace(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    leftovers::remove_beside(path);
    let new = path.with_extension(format!("new.{}", std::process::id()));
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&new)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&new, path))
        .and_then(|()| File::open(path.parent().unwrap_or(Path::new("/")))?.sync_all());
    written.map_err(|source| {
        // A partly written temporary file is of no use.
        let _ = fs::remove_file(&new);
        Failure::NotWritten { path: path.to_owned(), source }
    })
}

/// Tests of writing the configuration file: other settings, backup, leftover temporary files, and permissions.
#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    use tempfile::TempDir;

    use super::{OF_SETUP, config, kept, key_file, text};
    use crate::config::{Setting, load};

    /// After new settings were written, the file's other settings can still be read, and the old file is a backup.
    #[test]
    fn written_settings_are_read_and_others_stay() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("artoo/config.toml");
        let chosen = |model: &str| BTreeMap::from([(Setting::Model, model.to_owned())]);
        config(&path, &text(&BTreeMap::from([(Setting::Deadline, "5m".to_owned())]), &chosen("openai:\"q\""))).unwrap();
        let file = load(&path, folder.path()).unwrap().unwrap();
        assert_eq!((file.get(Setting::Model), file.get(Setting::Deadline)), (Some("openai:\"q\""), Some("5m")));
        let old = kept(&path, folder.path(), &OF_SETUP);
        config(&path, &text(&old, &chosen("reflex"))).unwrap();
        let file = load(&path, folder.path()).unwrap().unwrap();
        assert_eq!((file.get(Setting::Model), file.get(Setting::Deadline)), (Some("reflex"), Some("5m")));
        assert!(std::fs::read_to_string(path.with_extension("toml.old")).unwrap().contains("openai"));
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    /// A write of the configuration file removes the temporary files that killed processes left beside it.
    #[test]
    fn a_write_removes_files_of_killed_writes() {
        let folder = TempDir::new().unwrap();
        let mut ended = std::process::Command::new("true").spawn().unwrap();
        ended.wait().unwrap();
        let (own, ended, running) = (std::process::id(), ended.id(), std::os::unix::process::parent_id());
        let stay = [format!("config.new.{running}"), format!("my-config.new.{ended}"), "config.new.x".to_owned()];
        let go = [format!("config.new.{own}"), format!("config.new.{ended}")];
        stay.iter().chain(&go).for_each(|name| std::fs::write(folder.path().join(name), "").unwrap());
        config(&folder.path().join("config.toml"), "model = \"openai\"\n").unwrap();
        let there = |name: &String| folder.path().join(name).exists();
        assert!(stay.iter().all(there) && !go.iter().any(there));
    }

    /// A path with `~/` in the old configuration is taken over as the full path.
    #[test]
    fn tilde_in_old_setting_is_expanded() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("config.toml");
        config(&path, "workspace = \"~/w\"\nmodel = \"openai\"\n").unwrap();
        let old = kept(&path, Path::new("/home/ada"), &[Setting::Model]);
        assert_eq!(old, BTreeMap::from([(Setting::Workspace, "/home/ada/w".to_owned())]));
    }

    #[test]
    fn written_key_file_is_private() {
        let folder = TempDir::new().unwrap();
        let path = key_file(&folder.path().join("artoo"), "sk-1").unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_to_string(path).unwrap(), "sk-1\n");
    }
}
