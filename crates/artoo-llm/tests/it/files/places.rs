//! The folder of models: files used where they lie, records, names, links, and what others could have changed.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::Arc;

use artoo_llm::files::{FilesError, Found, Model, Progress, Standing, Sum, Vouched, Wanted, catalog};

use super::server::{FileServer, sound};
use super::{Place, at, model, sum, told};

impl Place {
    async fn take(&self, path: &Path, sum: Option<Sum>) -> Result<Model, FilesError> {
        let wanted = Wanted::read(path.to_str().unwrap(), None, sum, Path::new("/"))?;
        self.puller().take(wanted, at(), Arc::clone(&self.seen) as Arc<dyn Progress>).await
    }
}

#[tokio::test]
async fn a_file_is_used_where_it_lies_and_a_change_shows() {
    let place = Place::new();
    let path = place.data.path().canonicalize().unwrap().join("My Model.gguf");
    let content = model();
    fs::write(&path, &content).unwrap();
    let model = place.take(&path, None).await.unwrap();
    assert_eq!((model.name.as_str(), &model.path, model.record.vouched), ("my-model", &path, Vouched::Nobody));
    assert_eq!((model.record.licence.as_deref(), model.record.bytes), (Some("mit"), content.len() as u64));
    assert_eq!(place.files(), ["my-model/record.toml"]);
    let found = || place.folder().find(&"my-model".parse().unwrap()).unwrap().unwrap();
    assert_eq!((found().standing(), found().usable().is_ok()), (Standing::Kept, true));
    // The same size at another time, and another size.
    let later = fs::metadata(&path).unwrap().modified().unwrap() + std::time::Duration::from_nanos(1_000);
    fs::File::options().write(true).open(&path).unwrap().set_modified(later).unwrap();
    assert_eq!(found().standing(), Standing::Changed);
    assert!(found().verify(&|_| {}).unwrap(), "all of it is as it was");
    fs::write(&path, [content.as_slice(), b"x"].concat()).unwrap();
    assert_eq!(found().standing(), Standing::Changed);
    assert!(matches!(found().usable(), Err(FilesError::Changed { .. })));
    assert!(!found().verify(&|_| {}).unwrap());
    fs::remove_file(&path).unwrap();
    assert_eq!(found().standing(), Standing::Gone);
    assert!(matches!(found().usable(), Err(FilesError::Gone { .. })));
}

#[tokio::test]
async fn a_path_that_is_no_model_or_has_another_sum_is_not_recorded() {
    let place = Place::new();
    let path = place.data.path().join("a.gguf");
    fs::write(&path, "PK\u{3}\u{4}").unwrap();
    assert!(told(place.take(&path, None).await).contains("no GGUF file"));
    fs::write(&path, model()).unwrap();
    assert!(told(place.take(&path, Some(sum(b"x"))).await).contains("not"));
    assert!(matches!(place.take(Path::new("/nowhere/at/all.gguf"), None).await, Err(FilesError::Io { .. })));
    let folder = place.data.path().join("folder.gguf");
    fs::create_dir(&folder).unwrap();
    assert!(place.take(&folder, None).await.is_err());
    assert_eq!(place.files(), [""; 0]);
    // A pipe is not waited for.
    let pipe = place.data.path().join("pipe.gguf");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    assert!(place.take(&pipe, None).await.is_err());
    let vouched = place.take(&path, Some(sum(&model()))).await.unwrap();
    assert_eq!(vouched.record.vouched, Vouched::User);
}

#[tokio::test]
async fn a_name_belongs_to_whoever_has_it() {
    let content = model();
    let server = FileServer::start(move |get| sound(&content, Some("\"v\""), get));
    let place = Place::new();
    place.pull_url(&server.url("/m.gguf"), None).await.unwrap();
    assert!(told(place.pull_url(&server.url("/other/m.gguf"), None).await).contains("is taken"));
    let path = place.data.path().join("m.gguf");
    fs::write(&path, model()).unwrap();
    assert!(told(place.take(&path, None).await).contains("is taken"));
    let entry = &catalog()[0];
    let given = Wanted::read("https://h.example/x.gguf", Some(entry.name.clone()), None, Path::new("/"));
    assert!(matches!(given, Err(FilesError::Taken { .. })), "{given:?}");
}

#[test]
fn what_is_asked_for_is_a_name_an_address_or_a_path() {
    let check = |given: &str, expected: &str| {
        let read = Wanted::read(given, None, None, Path::new("/"));
        let told = match &read {
            Ok(wanted) => format!("{}", wanted.name()),
            Err(error) => error.to_string(),
        };
        assert!(told.contains(expected), "{given:?}: {told}");
    };
    check("smollm2-135m", "smollm2-135m");
    check("smollm3", "the catalog has none of that name");
    check("https://h.example/a/Qwen3-X.GGUF?download=true", "qwen3-x");
    check("https://h.example/%2e%2e%2f%2e%2e%2fetc", "2e-2e-2fetc");
    check("https://h.example/", "no name can be made");
    check("http://h.example/a.gguf", "must begin with https://");
    check("../nothing.gguf", "can't be used");
    check("nothing.gguf", "can't be used");
    check("..", "the catalog has none of that name");
    check("\u{1b}[2J", "the catalog has none of that name");
    let (entry, other) = (&catalog()[0], sum(b"x"));
    let two = Wanted::read(entry.name.as_str(), None, Some(other), Path::new("/"));
    assert!(matches!(two, Err(FilesError::TwoSums { .. })), "{two:?}");
}

#[tokio::test]
async fn links_and_folders_of_others_are_not_followed() {
    let content = model();
    let server = FileServer::start(move |get| sound(&content, Some("\"v\""), get));
    let elsewhere = tempfile::TempDir::new().unwrap();
    let victim = elsewhere.path().join("victim");
    fs::write(&victim, "mine").unwrap();
    // The folder itself, a model's folder, and the file that is written to.
    let place = Place::new();
    symlink(elsewhere.path(), place.folder().path()).unwrap();
    assert!(told(place.pull_url(&server.url("/m.gguf"), None).await).contains("no folder of its own"));
    let place = Place::new();
    fs::create_dir(place.folder().path()).unwrap();
    symlink(elsewhere.path(), place.folder().path().join("m")).unwrap();
    assert!(told(place.pull_url(&server.url("/m.gguf"), None).await).contains("no folder of its own"));
    let place = Place::new();
    fs::create_dir_all(place.folder().path().join("m")).unwrap();
    for name in ["download.part", "download.new", "lock"] {
        let link = place.folder().path().join("m").join(name);
        symlink(&victim, &link).unwrap();
        let ended = place.pull_url(&server.url("/m.gguf"), None).await;
        assert_eq!(fs::read_to_string(&victim).unwrap(), "mine", "{name}: {ended:?}");
        drop(fs::remove_file(link));
        fs::remove_dir_all(place.folder().path().join("m")).unwrap();
        fs::create_dir(place.folder().path().join("m")).unwrap();
    }
    fs::set_permissions(place.folder().path(), Permissions::from_mode(0o777)).unwrap();
    assert!(told(place.pull_url(&server.url("/m.gguf"), None).await).contains("chmod go-w"));
}

#[tokio::test]
async fn a_damaged_record_is_told_and_the_others_are_listed() {
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
