//! Tests of the configuration: errors name the line, and files that other users can change are refused (faults F1–F5).

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use artoo_tools::trust::Distrust;
use tempfile::TempDir;

use super::read::ConfigFile;
use super::{Place, Setting, load};
use crate::failure::ConfigProblem;
use crate::variables::Variables;

/// A temporary configuration folder.
struct Folder(TempDir);

impl Folder {
    /// Creates an empty temporary folder.
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    /// The path of the folder.
    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file with this name, text and permission bits into the folder; returns its path.
    fn write(&self, name: &str, text: &str, mode: u32) -> PathBuf {
        let path = self.path().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        path
    }

    /// Writes a configuration file with this text and reads it.
    fn load(&self, text: &str) -> Result<Option<ConfigFile>, ConfigProblem> {
        load(&self.write("config.toml", text, 0o600), Path::new("/home/ada"))
    }
}

#[doc = "holds: design F1"]
#[test]
fn config_errors_name_file_and_line() {
    let folder = Folder::new();
    let check = |text: &str, expected: &str| {
        let told = folder.load(text).unwrap_err().to_string();
        let expected = format!("{}/config.toml:{expected}", folder.path().display());
        assert!(told.starts_with(&expected), "{text:?}: {told} instead of {expected}");
    };
    check("mdoel = \"reflex\"", "1: mdoel is no key; did you mean model?");
    check("\n\nwrkspace = \"/x\"", "3: wrkspace is no key; did you mean workspace?");
    check("x = \"y\"", "1: x is no key; there are model, base_url");
    check("api_key = \"sk-canary\"", "1: api_key is no key; a key is never kept here");
    check("model = 3", "1: model is to be a text in quotes, and is integer");
    check("# fine\nmodel = [\"reflex\"]", "2: model is to be a text in quotes, and is array");
    check("views = 0", "1: views is to be true or false, and is integer");
    check("model = \"\"", "1: model is empty");
    check("model = \"a\"\nmodel = \"b\"", "2: duplicate key");
    check("model = ", "1: ");
    check("\u{1b}[2J = \"x\"", "1: ");
    check("workspace = \"here\"", "1: \"here\" must start with / or ~/");
    check("key_file = \"/a\"\nkey_variable = \"B\"", "1: key_file and key_variable both");
    assert!(!folder.load("api_key = \"sk-canary\"").unwrap_err().to_string().contains("canary"));
}

#[doc = "holds: design F1"]
#[test]
fn missing_or_empty_config_sets_nothing() {
    let folder = Folder::new();
    assert_eq!(load(&folder.path().join("none.toml"), Path::new("/")).unwrap(), None);
    let empty = folder.load("# nothing\n").unwrap().unwrap();
    assert!(Setting::ALL.into_iter().all(|key| empty.get(key).is_none()));
}

/// A configuration file or folder that other users can change is refused.
#[doc = "holds: design F2"]
#[test]
fn writable_config_file_or_folder_is_refused() {
    let folder = Folder::new();
    for mode in [0o620, 0o602, 0o666] {
        let path = folder.write("config.toml", "", mode);
        assert!(
            matches!(load(&path, Path::new("/")), Err(ConfigProblem::Distrust(Distrust::OpenToOthers { .. }))),
            "{mode:o}"
        );
    }
    let path = folder.write("config.toml", "", 0o644);
    assert!(load(&path, Path::new("/")).is_ok());
    fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
    assert!(matches!(load(&path, Path::new("/")), Err(ConfigProblem::Distrust(Distrust::OpenToOthers { .. }))));
}

/// `XDG_CONFIG_HOME` is ignored if it lies in the current project's folder or is relative.
#[doc = "holds: design F3"]
#[test]
fn config_in_project_folder_is_ignored() {
    let project = Folder::new();
    let home = Folder::new();
    let find =
        |wanted: &str, here: &Path| Place::find(&Variables::of(&[("XDG_CONFIG_HOME", wanted)]), home.path(), here);
    let usual = home.path().join(".config/artoo");
    fs::create_dir(project.path().join("inside")).unwrap();
    let inside = project.path().join("inside");
    let place = find(inside.to_str().unwrap(), project.path());
    assert_eq!(place.folder, usual);
    assert!(place.ignored.unwrap().contains("current folder"));
    assert!(find("relative", project.path()).ignored.unwrap().contains("absolute"));
    assert_eq!(find("/elsewhere", project.path()), Place { folder: "/elsewhere/artoo".into(), ignored: None });
    // The home folder and the folders above it are not a project.
    let own = home.path().join("cfg");
    assert_eq!(find(own.to_str().unwrap(), home.path()).folder, own.join("artoo"));
    assert_eq!(Place::find(&Variables::of(&[]), home.path(), project.path()).folder, usual);
}

#[test]
fn variables_override_the_config_file() {
    let folder = Folder::new();
    let key = folder.write("key", "sk-1\nmore\n", 0o600);
    let text = format!("model = \"openai\"\nbase_url = \"http://x\"\nkey_file = {:?}\nworkspace = \"~/w\"", key);
    let file = folder.load(&text).unwrap().unwrap();
    let filled = file.variables(&Variables::of(&[("OPENAI_BASE_URL", "http://y")])).unwrap();
    let values: Vec<(&str, &str)> = filled.iter().map(|(name, value, _)| (*name, value.as_str())).collect();
    assert_eq!(values, [("ARTOO_MODEL", "openai"), ("OPENAI_API_KEY", "sk-1"), ("ARTOO_WORKSPACE", "/home/ada/w")]);
    assert!(filled[2].2.ends_with("config.toml:4"), "{:?}", filled[2]);
}

/// A key file that other users can read, or that is empty or missing, is refused.
#[test]
fn readable_key_files_are_refused() {
    let folder = Folder::new();
    let check = |text: &str, set: &[(&str, &str)], expected: &str| {
        let told = folder.load(text).unwrap().unwrap().variables(&Variables::of(set)).unwrap_err().to_string();
        assert!(told.contains(expected), "{told}");
    };
    let open = folder.write("open", "sk-1", 0o644);
    check(&format!("key_file = {open:?}"), &[], "can be read by others");
    let empty = folder.write("empty", "\n", 0o600);
    check(&format!("key_file = {empty:?}"), &[], "is empty");
    check("key_file = \"/nowhere/key\"", &[], "can't be read");
    check("key_variable = \"MY_KEY\"", &[], "MY_KEY that is to hold the key is not set");
    let file = folder.load("key_variable = \"MY_KEY\"").unwrap().unwrap();
    let filled = file.variables(&Variables::of(&[("MY_KEY", "k")])).unwrap();
    assert_eq!((filled[0].0, filled[0].1.as_str()), ("OPENAI_API_KEY", "k"));
}

/// The settings' earlier names, such as `hands` for `worker`, are still read.
#[test]
fn names_of_earlier_versions_are_read() {
    let folder = Folder::new();
    let file = folder.load("hands = \"ollama:q\"\nhands_key_variable = \"K\"").unwrap().unwrap();
    assert_eq!(file.get(Setting::Worker), Some("ollama:q"));
    let filled = file.variables(&Variables::of(&[("K", "k")])).unwrap();
    let values: Vec<(&str, &str)> = filled.iter().map(|(name, value, _)| (*name, value.as_str())).collect();
    assert_eq!(values, [("ARTOO_WORKER", "ollama:q"), ("ARTOO_WORKER_KEY", "k")]);
    // The earlier name of a variable also wins over the file.
    let set = Variables::of(&[("ARTOO_HANDS", "ollama:v"), ("K", "k")]);
    assert_eq!(file.variables(&set).unwrap().len(), 1);
    let twice = folder.load("hands = \"ollama:q\"\nworker = \"ollama:q\"").unwrap_err().to_string();
    assert!(twice.contains("worker is set twice"), "{twice}");
}
