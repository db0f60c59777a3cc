//! `artoo model`: lists, questions, downloads from local servers, interruptions, selection.

#[path = "../../../../crates/artoo-llm/src/files/testing.rs"]
mod heads;
#[path = "../../../../crates/artoo-llm/tests/it/files/server.rs"]
mod hosts;
mod interrupted;
mod shown;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::world::{RunOutput, World};
use heads::Head;
use hosts::{FileServer, Get, Reply, sound};

const TAG: Option<&str> = Some("\"v1\"");

/// The bytes of a valid small model file (GGUF) of four megabytes.
fn model() -> Vec<u8> {
    let head = Head::new()
        .text("general.architecture", "llama")
        .number("general.file_type", 7)
        .texts("tokenizer.ggml.tokens", &["a", "b"]);
    let mut bytes = head.tensor("w", &[1024 * 1024], 0).bytes();
    let weights = bytes.len() - 4_000_000;
    for (at, byte) in bytes[weights..].iter_mut().enumerate() {
        *byte = (at.wrapping_mul(2_654_435_761) >> 24) as u8;
    }
    bytes
}

/// Starts a file server that serves this content at every path.
fn host(content: Vec<u8>) -> FileServer {
    FileServer::start(move |get| sound(&content, TAG, get))
}

impl World {
    /// The folder of the installed model files.
    fn models(&self) -> PathBuf {
        self.data_dir().join("models")
    }

    /// The exit code and JSON output of a command.
    fn json(&self, arguments: &[&str]) -> (Option<i32>, Value) {
        let ran = self.run(&[&["--json"], arguments].concat());
        let value = serde_json::from_str(ran.stdout.trim()).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
        (ran.code, value)
    }
}

/// `artoo model pull` downloads nothing if no user can be asked and `--yes` is not given.
#[doc = "holds: law 1.23"]
#[test]
fn nothing_is_fetched_without_approval() {
    let (world, server) = (World::new(), host(model()));
    for flags in [[].as_slice(), &["--json"], &["-q"]] {
        let url = server.url("/tiny.gguf");
        let ran = world.run(&[&["model", "pull", url.as_str()], flags].concat());
        assert_eq!(ran.code, Some(6), "{ran:?}");
        assert!(ran.stderr.contains("--yes") && !world.models().exists(), "{ran:?}");
    }
    assert_eq!(server.downloads().len(), 0, "only its size was asked for");
}

#[test]
fn pulled_model_is_listed_and_verified() {
    let (world, content) = (World::new(), model());
    let server = host(content.clone());
    let url = server.url("/dl/Tiny%20Model-Q8.gguf?token=canary");
    let fetched = world.run(&["model", "pull", &url, "--yes"]);
    assert_eq!(fetched.code, Some(0), "{fetched:?}");
    for said in ["tiny-20model-q8 is here: ", "llama, 1 million parameters, Q8_0", "no checksum is known for it"] {
        assert!(fetched.stdout.contains(said), "{said}: {fetched:?}");
    }
    assert!(fetched.stderr.contains("no checksum is known for it, so nothing verifies its content"), "{fetched:?}");
    assert!(!format!("{fetched:?}").contains("canary"), "{fetched:?}");
    let again = world.run(&["model", "pull", &url]);
    assert_eq!((again.code, server.downloads().len()), (Some(0), 1), "it is here, and nothing is asked: {again:?}");
    let (code, list) = world.json(&["model", "list", "--verify"]);
    assert_eq!((code, &list["schema"]), (Some(0), &Value::from("artoo.models/0")));
    let shown = &list["models"][0];
    assert_eq!((&shown["name"], &shown["verified"]), (&Value::from("tiny-20model-q8"), &Value::from(true)), "{list}");
    assert_eq!((&shown["standing"], &shown["bytes"]), (&Value::from("kept"), &Value::from(content.len())));
    assert!(list["catalog"].as_array().unwrap().iter().all(|entry| entry["sha256"].is_string()), "{list}");
    // A changed byte with unchanged size and time is detected when the whole file is read.
    let path = PathBuf::from(shown["path"].as_str().unwrap());
    let stamp = fs::metadata(&path).unwrap().modified().unwrap();
    let mut other = content.clone();
    *other.last_mut().unwrap() ^= 1;
    fs::write(&path, other).unwrap();
    fs::File::options().write(true).open(&path).unwrap().set_modified(stamp).unwrap();
    assert_eq!(world.run(&["model", "list"]).code, Some(0));
    let verified = world.run(&["model", "list", "--verify"]);
    assert_eq!(verified.code, Some(9), "{verified:?}");
    assert!(verified.stdout.contains("its content is not what was recorded"), "{verified:?}");
    world.check_kept();
}

/// A download that does not have the checksum given by the user is deleted.
#[test]
fn given_checksum_is_verified() {
    let (world, server) = (World::new(), host(model()));
    let url = server.url("/tiny.gguf");
    let wrong = "0".repeat(64);
    let ran = world.run(&["model", "pull", &url, "--yes", "--sha256", &wrong]);
    assert_eq!(ran.code, Some(9), "{ran:?}");
    assert!(ran.stderr.contains(&wrong) && ran.stderr.contains("it was deleted"), "{ran:?}");
    assert!(!world.models().join("tiny/tiny.gguf").exists());
    let file = world.file("again.gguf", model());
    let sum = world.shell(&format!("sha256sum {} | cut -c1-64", file.display()));
    let ran = world.run(&["model", "pull", &url, "--yes", "--sha256", &sum]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains(&sum) && ran.stdout.contains("the one you gave"), "{ran:?}");
    assert_eq!(world.run(&["model", "pull", &url, "--sha256", "abc"]).code, Some(2));
}

/// A local model file is recorded where it is, not copied.
#[test]
fn local_file_is_recorded_in_place() {
    let world = World::new();
    let path = world.file("Downloads/My Model.gguf", model());
    let ran = world.run(&["model", "pull", "Downloads/My Model.gguf"]);
    assert_eq!(ran.code, Some(0), "no yes is needed, nothing is fetched: {ran:?}");
    assert!(ran.stdout.contains(&path.display().to_string()), "{ran:?}");
    assert!(!world.models().join("my-model/my-model.gguf").exists());
    fs::write(&path, [model(), vec![0]].concat()).unwrap();
    let list = world.run(&["model", "list"]);
    assert!(list.stdout.contains("it has changed since it was recorded"), "{list:?}");
    let again = world.run(&["model", "pull", "Downloads/My Model.gguf"]);
    assert_eq!(again.code, Some(0), "recorded anew: {again:?}");
    assert!(!world.run(&["model", "list"]).stdout.contains("has changed"));
}

/// A download that fails ends with the right exit code and names the reason.
#[test]
fn failed_pull_has_exit_code_and_reason() {
    let world = World::new();
    let server = FileServer::start(|get: &Get| match get.path.as_str() {
        "/gone.gguf" => Reply::new(404, "no"),
        "/far.gguf" => Reply::to("http://models.example/m.gguf"),
        _ => Reply::new(200, "<html>sign in</html>"),
    });
    world.file("text.gguf", "no model");
    let check = |wanted: &str, code: i32, words: &str| {
        let ran = world.run(&["model", "pull", "--yes", wanted]);
        assert_eq!(ran.code, Some(code), "{wanted:?}: {ran:?}");
        assert!(ran.stderr.contains(words), "{wanted:?}: {words}: {ran:?}");
    };
    check(&server.url("/gone.gguf"), 9, "status 404");
    check(&server.url("/far.gguf"), 2, "must begin with https://");
    check(&server.url("/page.gguf"), 2, "not a GGUF file");
    check("http://models.example/m.gguf", 2, "must begin with https://");
    check("https://me:secret@models.example/m.gguf", 2, "no key is ever sent");
    check("qwen9", 2, "artoo model list shows the names");
    check("../x\u{1b}[2J", 2, "can't be used");
    check("\u{202e}name", 2, "is on this machine or in the catalog");
    check("text.gguf", 2, "not a GGUF file");
    check("nowhere.gguf", 2, "can't be used");
    assert!(!world.data_dir().join("x").exists());
}

/// A download larger than the free disk space is refused before it begins.
#[test]
fn full_disk_is_refused_before_download() {
    let (world, server) = (World::new(), host(model()));
    let place = world.home().join("small");
    fs::create_dir(&place).unwrap();
    let artoo = crate::world::ARTOO;
    let script = format!(
        "mount -t tmpfs -o size=2m none {0} 2>/dev/null || exit 99; \
         exec {artoo} --data-dir {0}/data model pull {1} --yes",
        place.display(),
        server.url("/tiny.gguf")
    );
    let mut command = world.command(&[]);
    let mut unshare = Command::new("unshare");
    unshare.args(["-rm", "sh", "-c", &script]).env_clear().current_dir(world.home());
    unshare.envs(command.env("HOME", world.home()).get_envs().filter_map(|(name, value)| Some((name, value?))));
    let ran = match unshare.output() {
        Ok(output) if output.status.code() != Some(99) && !output.stderr.starts_with(b"unshare") => {
            RunOutput::of(output)
        }
        _ => return eprintln!("skipped: no file system can be mounted here"),
    };
    assert_eq!(ran.code, Some(9), "{ran:?}");
    assert!(ran.stderr.contains("make room") && ran.stderr.contains("not enough space"), "{ran:?}");
    // The free space itself, also where that is less than the reserve.
    assert!(!ran.stderr.contains("536870912 free"), "{ran:?}");
    assert_eq!(server.downloads().len(), 0);
}
