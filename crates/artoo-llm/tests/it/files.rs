//! Tests of model files: downloads from misbehaving servers over real sockets, installed into real folders.

mod archives;
mod folder;
#[path = "../../src/files/testing.rs"]
mod heads;
mod refusals;
mod resume;
pub(crate) mod server;
mod tls;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use artoo_llm::files::{
    Archive, Checksum, DownloadLimits, Entry, FilesError, Model, ModelFolder, Offer, Offered, Progress, Puller, Step,
    Wanted,
};
use artoo_llm::retry::RetryPolicy;
use artoo_proto::Timestamp;
use tempfile::TempDir;

use heads::Head;

/// The fixed time at which tests install models.
fn at() -> Timestamp {
    Timestamp::from_millis(1_795_000_000_000)
}

/// The bytes of a sample model file of two megabytes, of which the last 1.9 MB are pseudo-random.
fn model() -> Vec<u8> {
    model_of(1)
}

/// The bytes of a sample model file whose content depends on `seed`.
fn model_of(seed: u64) -> Vec<u8> {
    let head = Head::new().text("general.architecture", "llama").text("general.license", "mit");
    let head = head.number("llama.context_length", 512).texts("tokenizer.ggml.tokens", &["a", "b"]);
    let mut bytes = head.tensor("w", &[512 * 1024], 0).bytes();
    let weights = bytes.len() - 1_900_000;
    let mut state = seed;
    for byte in &mut bytes[weights..] {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        *byte = (state >> 56) as u8;
    }
    bytes
}

/// The SHA-256 checksum of these bytes.
fn checksum(bytes: &[u8]) -> Checksum {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("f");
    std::fs::write(&path, bytes).unwrap();
    Checksum::of_file(&path, &|_| {}).unwrap()
}

/// A catalog entry for a model file with this content, at this URL, or in an archive there.
fn catalog_entry(name: &str, content: &[u8], url: String, archive: Option<Archive>) -> &'static Entry {
    Box::leak(Box::new(Entry {
        name: name.parse().unwrap(),
        title: "A model".to_owned(),
        licence: "MIT".to_owned(),
        memory_gb: 1,
        good_for: "tests".to_owned(),
        bytes: content.len() as u64,
        sha256: checksum(content),
        checked: "by this test".to_owned(),
        url,
        archive,
    }))
}

/// A receiver of download progress that records the steps.
#[derive(Default)]
struct RecordedSteps(Mutex<Vec<Step>>);

impl Progress for RecordedSteps {
    fn report(&self, step: Step) {
        self.0.lock().unwrap().push(step);
    }
}

/// A temporary data folder to install models into, with download limits and the recorded progress.
struct Place {
    data: TempDir,
    seen: Arc<RecordedSteps>,
    limits: DownloadLimits,
}

/// Download limits with short waits between tries, and long timeouts, since the machine may be busy.
fn limits() -> DownloadLimits {
    let retry = RetryPolicy { base_delay: Duration::from_millis(1), connect_tries: 3, ..RetryPolicy::default() };
    DownloadLimits { retry, ..DownloadLimits::default() }
}

impl Place {
    /// Creates an empty data folder with short waits.
    fn new() -> Self {
        Self { data: TempDir::new().unwrap(), seen: Arc::default(), limits: limits() }
    }

    /// The folder of installed models in this data folder.
    fn folder(&self) -> ModelFolder {
        ModelFolder::new(self.data.path())
    }

    /// The installer of models for this data folder.
    fn puller(&self) -> Puller {
        Puller::new(self.folder(), None, self.limits.clone())
    }

    /// Asks what installing a model takes; panics if it is installed already.
    async fn offer(&self, wanted: Wanted) -> Result<Offer, FilesError> {
        match self.puller().offer(wanted).await? {
            Offered::Download(offer) => Ok(*offer),
            Offered::Installed(model) => panic!("it is here: {model:?}"),
        }
    }

    /// Downloads and installs a model.
    async fn pull(&self, wanted: Wanted) -> Result<Model, FilesError> {
        let offer = self.offer(wanted).await?;
        self.puller().install(offer, at(), Arc::clone(&self.seen) as Arc<dyn Progress>).await
    }

    /// Downloads and installs the model at a URL.
    async fn pull_url(&self, url: &str, sha256: Option<Checksum>) -> Result<Model, FilesError> {
        self.pull(wanted(url, sha256)).await
    }

    /// The progress steps so far.
    fn steps(&self) -> Vec<Step> {
        self.seen.0.lock().unwrap().clone()
    }

    /// The number of restarted downloads.
    fn restarts(&self) -> usize {
        self.steps().iter().filter(|step| matches!(step, Step::Restarted { .. })).count()
    }

    /// Every file in the model folder, by relative path.
    fn files(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut folders = vec![self.folder().path().to_path_buf()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                if entry.path().is_dir() {
                    folders.push(entry.path());
                } else {
                    found.push(entry.path().strip_prefix(self.folder().path()).unwrap().display().to_string());
                }
            }
        }
        found.sort();
        found
    }

    /// The path of the unfinished download of a model.
    fn part(&self, name: &str) -> PathBuf {
        self.folder().path().join(name).join("download.part")
    }
}

/// The model to install from a URL, with its expected checksum if there is one.
fn wanted(url: &str, sha256: Option<Checksum>) -> Wanted {
    Wanted::parse(url, None, sha256, Path::new("/")).unwrap()
}

/// The error's text of a result that must be an error.
fn error_text(result: Result<Model, FilesError>) -> String {
    result.map(|model| format!("{model:?}")).unwrap_err().to_string()
}
