//! `artoo model use`: sets the model in the configuration file and keeps its other settings.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use artoo_llm::files::{self, Wanted};

use super::pull;
use crate::config::write;
use crate::config::{Place, Setting};
use crate::model::ModelKind;
use crate::model::file::{self, HAS_ENGINE};
use crate::settings::{Settings, Variables};
use crate::{Exit, Failure, Line, Screen};

/// Runs `artoo model use`: makes `given` (the name or path of a model file) the configured model.
pub(super) async fn run(
    given: &str,
    settings: &Settings,
    variables: &Variables,
    screen: &Screen,
) -> Result<Exit, Failure> {
    if !HAS_ENGINE {
        return Err(Failure::NoEngine { model: given.to_owned() });
    }
    let model = if files::is_path(given) {
        let wanted = Wanted::parse(given, None, None, &PathBuf::from(&settings.environment.cwd))?;
        let puller = pull::puller(settings, variables)?;
        pull::register(&puller, wanted, screen).await?.name.to_string()
    } else {
        file::find(given, settings)?.check_unchanged()?;
        given.to_owned()
    };
    let path = Place::of(variables).file();
    let kind = ModelKind::File { model };
    let old = configure(&path, &variables.home(), &kind)?;
    let mut lines = vec![Line::plain(format!("{} now says: model = \"{kind}\"", path.display()))];
    // Settings that concern an endpoint are unused with a model file; the model itself is not among the old ones.
    let unused: Vec<&str> = write::OF_SETUP.iter().filter(|key| old.contains_key(key)).map(|key| key.name()).collect();
    if !unused.is_empty() {
        let unused = unused.join(", ");
        lines.push(Line::plain(format!("{unused} stay in it and are not used: a file needs no address and no key")));
    }
    if variables.raw("ARTOO_MODEL").is_some() && variables.of_file("ARTOO_MODEL").is_none() {
        lines.push(Line::warning("ARTOO_MODEL is set, and wins over the file"));
    }
    screen.answer(&lines);
    Ok(Exit::Accepted)
}

/// Writes the model into the configuration file and preserves the file's other settings, which it returns.
fn configure(path: &Path, home: &Path, kind: &ModelKind) -> Result<BTreeMap<Setting, String>, Failure> {
    let old = write::kept(path, home, &[Setting::Model]);
    let new = BTreeMap::from([(Setting::Model, kind.to_string())]);
    write::config(path, &write::text(&old, &new))?;
    Ok(old)
}

/// Tests of `artoo model use`.
#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use tempfile::TempDir;

    use super::configure;
    use crate::config::{Setting, load};
    use crate::model::ModelKind;

    /// `artoo model use` changes the model in the configuration file and leaves its other settings.
    #[test]
    fn model_use_keeps_other_settings() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("config.toml");
        let text = "model = \"openai\"\nbase_url = \"http://127.0.0.1:1\"\nworkspace = \"~/w\"\nhands = \"ollama:q\"\n";
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        let kind: ModelKind = "file:qwen3-0.6b".parse().unwrap();
        let old = configure(&path, folder.path(), &kind).unwrap();
        let file = load(&path, folder.path()).unwrap().unwrap();
        let workspace = folder.path().join("w").display().to_string();
        let expected = BTreeMap::from([
            (Setting::BaseUrl, "http://127.0.0.1:1".to_owned()),
            (Setting::Worker, "ollama:q".to_owned()),
            (Setting::Workspace, workspace),
        ]);
        assert_eq!(old, expected);
        for (key, value) in &expected {
            assert_eq!(file.get(*key), Some(value.as_str()));
        }
        assert_eq!(file.get(Setting::Model), Some("file:qwen3-0.6b"));
        assert_eq!(fs::read_to_string(path.with_extension("toml.old")).unwrap(), text);
    }

    /// `artoo model use` creates the configuration file if there is none.
    #[test]
    fn model_use_creates_the_file() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("artoo/config.toml");
        configure(&path, folder.path(), &"file:a".parse().unwrap()).unwrap();
        assert_eq!(load(&path, folder.path()).unwrap().unwrap().get(Setting::Model), Some("file:a"));
    }
}
