//! Model files: fetched over real sockets from hosts that fail in every way, and kept in real folders.

#[path = "../../src/files/testing.rs"]
mod heads;
mod packages;
mod places;
mod resumed;
mod secured;
pub(crate) mod server;
mod trouble;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use artoo_llm::files::{
    Entry, FilesError, Model, ModelFolder, Offer, Offered, Package, Patience, Progress, Puller, Step, Sum, Wanted, Ways,
};
use artoo_llm::retry::RetryPolicy;
use artoo_proto::Timestamp;
use tempfile::TempDir;

use heads::Head;

/// When everything here happens.
fn at() -> Timestamp {
    Timestamp::from_millis(1_795_000_000_000)
}

/// A small model of a few megabytes whose content is nowhere the same.
fn model() -> Vec<u8> {
    model_of(1)
}

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

fn sum(bytes: &[u8]) -> Sum {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("f");
    std::fs::write(&path, bytes).unwrap();
    Sum::of_file(&path, &|_| {}).unwrap()
}

/// An entry of the catalog that vouches for this content; as those of the program's own, it is there for good.
fn catalogued(name: &str, content: &[u8], url: Option<String>, package: Option<Package>) -> &'static Entry {
    Box::leak(Box::new(Entry {
        name: name.parse().unwrap(),
        title: "A model".to_owned(),
        licence: "MIT".to_owned(),
        memory_gb: 1,
        good_for: "tests".to_owned(),
        bytes: content.len() as u64,
        sha256: Some(sum(content)),
        checked: None,
        url,
        package,
    }))
}

/// Whoever looks on, remembering.
#[derive(Default)]
struct Seen(Mutex<Vec<Step>>);

impl Progress for Seen {
    fn at(&self, step: Step) {
        self.0.lock().unwrap().push(step);
    }
}

/// A data folder, and a way to have models in it.
struct Place {
    data: TempDir,
    seen: Arc<Seen>,
    index: Option<String>,
    patience: Patience,
}

/// Waits between tries that nobody notices; those for a host as long as they are, since a busy machine is no fault.
fn patience() -> Patience {
    let retry = RetryPolicy { base_delay: Duration::from_millis(1), connect_tries: 3, ..RetryPolicy::default() };
    Patience { retry, ..Patience::default() }
}

impl Place {
    fn new() -> Self {
        Self { data: TempDir::new().unwrap(), seen: Arc::default(), index: None, patience: patience() }
    }

    fn folder(&self) -> ModelFolder {
        ModelFolder::new(self.data.path())
    }

    fn puller(&self) -> Puller {
        let ways = Ways { ca_file: None, index: self.index.clone(), patience: self.patience.clone() };
        Puller::new(self.folder(), ways)
    }

    async fn offer(&self, wanted: Wanted) -> Result<Offer, FilesError> {
        match self.puller().offer(wanted).await? {
            Offered::Fetch(offer) => Ok(*offer),
            Offered::Here(model) => panic!("it is here: {model:?}"),
        }
    }

    async fn pull(&self, wanted: Wanted) -> Result<Model, FilesError> {
        let offer = self.offer(wanted).await?;
        self.puller().fetch(offer, at(), Arc::clone(&self.seen) as Arc<dyn Progress>).await
    }

    async fn pull_url(&self, url: &str, sum: Option<Sum>) -> Result<Model, FilesError> {
        self.pull(wanted(url, sum)).await
    }

    fn steps(&self) -> Vec<Step> {
        self.seen.0.lock().unwrap().clone()
    }

    fn started_anew(&self) -> usize {
        self.steps().iter().filter(|step| matches!(step, Step::StartedAnew { .. })).count()
    }

    /// Every file below the folder of models, by its path there.
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

    fn part(&self, name: &str) -> PathBuf {
        self.folder().path().join(name).join("download.part")
    }
}

fn wanted(url: &str, sum: Option<Sum>) -> Wanted {
    Wanted::read(url, None, sum, Path::new("/")).unwrap()
}

fn told(result: Result<Model, FilesError>) -> String {
    result.map(|model| format!("{model:?}")).unwrap_err().to_string()
}
