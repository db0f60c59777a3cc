//! Tests of the folder of installed models: files used in place, records, names, links, and access by other users.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::sync::Arc;

use artoo_llm::files::{Checksum, FileState, FilesError, Found, Model, Progress, Wanted, catalog};

use super::server::{FileServer, sound};
use super::{Place, at, checksum, error_text, model};

/// Whether the model file's content has the checksum of its record.
fn is_recorded(model: &Model) -> bool {
    Checksum::of_file(&model.path, &|_| {}).unwrap() == model.record.sha256
}

impl Place {
    /// Registers a local file as a model, to be used where it is.
    async fn take(&self, path: &Path, sha256: Option<Checksum>) -> Result<Model, FilesError> {
        let wanted = Wanted::parse(path.to_str().unwrap(), None, sha256, Path::new("/"))?;
        self.puller().register(wanted, at(), Arc::clone(&self.seen) as Arc<dyn Progress>).await
    }
}

/// A local model file is registered where it is, not copied.
#[tokio::test]
async fn local_file_is_used_in_place() {
    let place = Place::new();
    let path = place.data.path().canonicalize().unwrap().join("My Model.gguf");
    let content = model();
    fs::write(&path, &content).unwrap();
    let model = place.take(&path, None).await.unwrap();
    assert_eq!((model.name.as_str(), &model.path), ("my-model", &path));
    assert_eq!((model.record.licence.as_deref(), model.record.bytes), (Some("mit"), content.len() as u64));
    assert_eq!(place.files(), ["my-model/record.toml"]);
    let found = || place.folder().find(&"my-model".parse().unwrap()).unwrap().unwrap();
    assert_eq!((found().state(), found().check_unchanged().is_ok()), (FileState::Unchanged, true));
    // The same size at another time, and another size.
    let later = fs::metadata(&path).unwrap().modified().unwrap() + std::time::Duration::from_nanos(1_000);
    fs::File::options().write(true).open(&path).unwrap().set_modified(later).unwrap();
    assert_eq!(found().state(), FileState::Changed);
    assert!(is_recorded(&found()), "all of it is as it was");
    fs::write(&path, [content.as_slice(), b"x"].concat()).unwrap();
    assert_eq!(found().state(), FileState::Changed);
    assert!(matches!(
        found().check_unchanged(),
        Err(FilesError::Changed { problem: "has changed since it was recorded", .. })
    ));
    assert!(!is_recorded(&found()));
    fs::remove_file(&path).unwrap();
    assert_eq!(found().state(), FileState::Missing);
    assert!(matches!(found().check_unchanged(), Err(FilesError::Changed { problem: "is gone", .. })));
}

#[tokio::test]
async fn unusable_local_file_is_not_recorded() {
    let place = Place::new();
    let path = place.data.path().join("a.gguf");
    fs::write(&path, "PK\u{3}\u{4}").unwrap();
    assert!(error_text(place.take(&path, None).await).contains("not a GGUF file"));
    fs::write(&path, model()).unwrap();
    assert!(error_text(place.take(&path, Some(checksum(b"x"))).await).contains("expected"));
    assert!(matches!(place.take(Path::new("/nowhere/at/all.gguf"), None).await, Err(FilesError::Io { .. })));
    let folder = place.data.path().join("folder.gguf");
    fs::create_dir(&folder).unwrap();
    assert!(place.take(&folder, None).await.is_err());
    assert_eq!(place.files(), [""; 0]);
    // A pipe is not waited for.
    let pipe = place.data.path().join("pipe.gguf");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    assert!(place.take(&pipe, None).await.is_err());
    let recorded = place.take(&path, Some(checksum(&model()))).await.unwrap();
    assert_eq!(recorded.record.sha256, checksum(&model()));
}

/// A name that another model has is refused.
#[tokio::test]
async fn taken_names_are_refused() {
    let content = model();
    let server = FileServer::start(move |get| sound(&content, Some("\"v\""), get));
    let place = Place::new();
    place.pull_url(&server.url("/m.gguf"), None).await.unwrap();
    assert!(error_text(place.pull_url(&server.url("/other/m.gguf"), None).await).contains("is taken"));
    let path = place.data.path().join("m.gguf");
    fs::write(&path, model()).unwrap();
    assert!(error_text(place.take(&path, None).await).contains("is taken"));
    let entry = &catalog()[0];
    let given = Wanted::parse("https://h.example/x.gguf", Some(entry.name.clone()), None, Path::new("/"));
    assert!(matches!(given, Err(FilesError::Taken { .. })), "{given:?}");
}

/// What the user gives is read as a catalog name, a URL or a path.
#[test]
fn argument_is_name_url_or_path() {
    let check = |given: &str, expected: &str| {
        let read = Wanted::parse(given, None, None, Path::new("/"));
        let told = match &read {
            Ok(wanted) => format!("{}", wanted.name),
            Err(error) => error.to_string(),
        };
        assert!(told.contains(expected), "{given:?}: {told}");
    };
    check("smollm2-135m", "smollm2-135m");
    check("smollm3", "is on this machine or in the catalog");
    check("https://h.example/a/Qwen3-X.GGUF?download=true", "qwen3-x");
    check("https://h.example/%2e%2e%2f%2e%2e%2fetc", "2e-2e-2fetc");
    check("https://h.example/", "no model name can be made");
    check("http://h.example/a.gguf", "must begin with https://");
    check("../nothing.gguf", "can't be used");
    check("nothing.gguf", "can't be used");
    check("..", "is on this machine or in the catalog");
    check("\u{1b}[2J", "is on this machine or in the catalog");
    let (entry, other) = (&catalog()[0], checksum(b"x"));
    let two = Wanted::parse(entry.name.as_str(), None, Some(other), Path::new("/"));
    assert!(matches!(two, Err(FilesError::Checksum { .. })), "{two:?}");
}

#[tokio::test]
async fn symlinks_and_shared_folders_are_refused() {
    let content = model();
    let server = FileServer::start(move |get| sound(&content, Some("\"v\""), get));
    let elsewhere = tempfile::TempDir::new().unwrap();
    let victim = elsewhere.path().join("victim");
    fs::write(&victim, "mine").unwrap();
    // The folder itself, a model's folder, and the file that is written to.
    let place = Place::new();
    symlink(elsewhere.path(), place.folder().path()).unwrap();
    assert!(error_text(place.pull_url(&server.url("/m.gguf"), None).await).contains("not a folder of its own"));
    let place = Place::new();
    fs::create_dir(place.folder().path()).unwrap();
    symlink(elsewhere.path(), place.folder().path().join("m")).unwrap();
    assert!(error_text(place.pull_url(&server.url("/m.gguf"), None).await).contains("not a folder of its own"));
    let place = Place::new();
    fs::create_dir_all(place.folder().path().join("m")).unwrap();
    let beside = format!("download.new-{}", std::process::id());
    for name in ["download.part", &beside, "lock"] {
        let link = place.folder().path().join("m").join(name);
        symlink(&victim, &link).unwrap();
        let ended = place.pull_url(&server.url("/m.gguf"), None).await;
        assert_eq!(fs::read_to_string(&victim).unwrap(), "mine", "{name}: {ended:?}");
        drop(fs::remove_file(link));
        fs::remove_dir_all(place.folder().path().join("m")).unwrap();
        fs::create_dir(place.folder().path().join("m")).unwrap();
    }
    fs::set_permissions(place.folder().path(), Permissions::from_mode(0o777)).unwrap();
    assert!(error_text(place.pull_url(&server.url("/m.gguf"), None).await).contains("chmod go-w"));
}

#[tokio::test]
async fn invalid_record_is_listed_as_problem() {
    let place = Place::new();
    let path = place.data.path().join("a.gguf");
    fs::write(&path, model()).unwrap();
    place.take(&path, None).await.unwrap();
    let home = place.folder().path().join("b");
    fs::create_dir(&home).unwrap();
    for text in ["from = 1", "", "[[", "from = \"x\"\nevil = true"] {
        fs::write(home.join("record.toml"), text).unwrap();
        let found = place.folder().list().unwrap();
        assert!(matches!(found.as_slice(), [Found::Model(_), Found::Problem(_)]), "{text:?}: {found:?}");
    }
    fs::write(place.folder().path().join("not a name"), "").unwrap();
    assert_eq!(place.folder().list().unwrap().len(), 2);
}

/// A record that an earlier version of artoo wrote can be read.
#[test]
fn record_of_an_earlier_version_opens() {
    let place = Place::new();
    let dir = place.folder().path().join("old");
    fs::create_dir_all(&dir).unwrap();
    for folder in [place.folder().path(), &dir] {
        fs::set_permissions(folder, Permissions::from_mode(0o700)).unwrap();
    }
    fs::write(dir.join("old.gguf"), model()).unwrap();
    let found = fs::metadata(dir.join("old.gguf")).unwrap();
    let modified_ns = found.mtime() * 1_000_000_000 + found.mtime_nsec();
    // As 0.2.0 wrote it after a download without a checksum.
    let record = format!(
        "from = \"https://h.example/old.gguf\"\nat = \"2026-11-01T00:00:00Z\"\nsha256 = \"{}\"\nvouched = \"nobody\"\n\
         bytes = {}\nmodified_ns = {modified_ns}\n",
        checksum(&model()),
        found.len()
    );
    fs::write(dir.join("record.toml"), record).unwrap();
    let old = place.folder().find(&"old".parse().unwrap()).unwrap().unwrap();
    assert_eq!((old.state(), old.record.from.as_str()), (FileState::Unchanged, "https://h.example/old.gguf"));
    assert!(is_recorded(&old));
}
