//! Tests with damaged files and files that are not models: an error with a remedy, and the process continues.

use std::io::{Seek as _, SeekFrom, Write as _};
use std::num::NonZeroU32;
use std::path::Path;

use artoo_llm::{Model as _, Shared};
use artoo_local::{Local, LocalConfig, LocalError};
use artoo_proto::ModelFailure;
use serde_json::json;

use crate::support::{config, model_file, prompt, request};

/// Opens the file as a model, as a program would.
fn new(path: &Path) -> Result<Local, LocalError> {
    Local::new(config(path.to_owned()), &Shared::default())
}

#[tokio::test]
async fn truncated_file_is_refused_with_a_remedy() {
    let Some(whole) = model_file() else { return };
    let folder = tempfile::tempdir().unwrap();
    let bytes = std::fs::read(&whole).unwrap();
    for length in [24, 100, 5_000, 1_000_000, bytes.len() / 2, bytes.len() - 1] {
        let path = folder.path().join(format!("{length}.gguf"));
        std::fs::write(&path, &bytes[..length]).unwrap();
        let engine = new(&path).unwrap();
        let error = engine.load().unwrap_err();
        assert!(matches!(error, LocalError::Refused { .. }), "{length}: {error:?}");
        assert!(error.to_string().contains("fetch it again"), "{error}");
        let failure = engine.ask(&request(prompt("", "Hello"), json!({}), 10)).await.unwrap_err();
        let ModelFailure::Unreachable { detail } = failure else { panic!("{failure:?}") };
        assert!(detail.contains("can't be loaded"), "{detail}");
        std::fs::remove_file(&path).unwrap();
    }
}

/// A model file with a damaged header is an error and never ends the process.
#[test]
fn damaged_header_never_ends_the_process() {
    let Some(whole) = model_file() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("damaged.gguf");
    std::fs::copy(&whole, &path).unwrap();
    let original = std::fs::read(&whole).unwrap();
    // The first bytes contain lengths and types of metadata; each is set to a very large value, or to zero.
    for at in (24..400).step_by(37) {
        for damage in [[0xff; 4], [0; 4]] {
            let mut file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
            file.seek(SeekFrom::Start(at as u64)).unwrap();
            file.write_all(&damage).unwrap();
            drop(file);
            let loaded = new(&path).and_then(|engine| engine.load());
            assert!(
                loaded.is_ok()
                    || matches!(
                        loaded,
                        Err(LocalError::Refused { .. } | LocalError::Vocabulary { .. } | LocalError::Template { .. })
                    ),
                "{loaded:?}"
            );
            let mut file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
            file.seek(SeekFrom::Start(at as u64)).unwrap();
            file.write_all(&original[at..at + 4]).unwrap();
        }
    }
    assert!(new(&path).unwrap().load().is_ok(), "the file is whole again");
}

/// A model file that was removed after it was chosen is reported as missing.
#[test]
fn file_removed_after_selection_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.gguf");
    let head = [b"GGUF".as_slice(), &3_u32.to_le_bytes(), &1_u64.to_le_bytes(), &1_u64.to_le_bytes()].concat();
    std::fs::write(&path, head).unwrap();
    let engine = new(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert!(matches!(engine.load(), Err(LocalError::Missing { .. })));
    assert!(matches!(new(&path), Err(LocalError::Missing { .. })));
}

/// Messages of llama.cpp never appear on the terminal; they go to the log, which is off in this test.
#[test]
fn llama_cpp_prints_nothing_on_the_terminal() {
    if model_file().is_none() {
        return;
    }
    let own = std::env::current_exe().unwrap();
    let one = ["--exact", "writes::model_file_facts_are_read", "--nocapture"];
    let output = std::process::Command::new(own).args(one).output().unwrap();
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
    let words = ["llama_", "ggml", "print_info", "load_tensors", "...."];
    assert!(!words.iter().any(|word| said.contains(word)), "{said}");
}

/// The context size is limited to the one that the model was trained with.
#[test]
fn context_is_limited_to_the_trained_size() {
    let Some(path) = model_file() else { return };
    let large = LocalConfig { context_tokens: NonZeroU32::new(1_000_000), ..config(path) };
    assert_eq!(Local::new(large, &Shared::default()).unwrap().load().unwrap().context_tokens, 8_192);
}
