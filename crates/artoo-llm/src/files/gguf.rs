//! GGUF headers (the format of model files): checks that a file is one whole language model and reads its metadata.
//!
//! Layout (llama.cpp's `gguf.md`): magic, version, counts, metadata as typed key-value pairs, a list of tensors, then
//! the tensors' data from the next aligned byte on. Every length is checked against the file's size before it is used.

mod reader;
mod tensors;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::Path;

use reader::{Reader, Value};

/// The first four bytes of a GGUF file.
const MAGIC: [u8; 4] = *b"GGUF";

/// Supported versions of the GGUF format: version 1 had shorter lengths and has not been written since 2023.
const VERSIONS: std::ops::RangeInclusive<u32> = 2..=3;

/// Maximum number of metadata entries or of tensors: large models have a few thousand.
const ITEMS_MAX: u64 = 65_536;

/// Alignment of the tensor data in bytes, if the file doesn't specify one.
const ALIGNMENT: u64 = 32;

/// Maximum alignment of the tensor data, in bytes.
const ALIGNMENT_MAX: u64 = 65_536;

/// Metadata keys whose values are stored, besides those that end with `.context_length`.
const KEYS: [&str; 8] = [
    "general.architecture",
    "general.name",
    "general.type",
    "general.license",
    "general.file_type",
    "general.alignment",
    "split.count",
    "tokenizer.chat_template",
];

/// Metadata of a model file. Its texts come from the file and are untrusted.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Gguf {
    pub name: Option<String>,
    /// Architecture of the model, such as `qwen3`.
    pub architecture: String,
    /// Number of parameters: the elements of all tensors.
    pub parameters: u64,
    /// Context length the model was trained for.
    pub context_tokens: Option<u64>,
    /// Quantisation, such as `Q4_K_M`; `unknown` if the file doesn't specify a known one.
    pub quantisation: String,
    /// Whether the file has a chat template; without one it is hardly a chat model.
    pub has_chat_template: bool,
    /// Licence that the file states.
    pub licence: Option<String>,
}

/// Why a file is not a usable GGUF model.
#[derive(Debug, thiserror::Error)]
pub enum GgufError {
    #[error("{0}")]
    Invalid(String),
    #[error("it can't be read")]
    Io(#[from] io::Error),
}

/// Returns the error [`GgufError::Invalid`] with this problem.
fn invalid<T>(problem: impl Into<String>) -> Result<T, GgufError> {
    Err(GgufError::Invalid(problem.into()))
}

impl Gguf {
    /// Reads the header of a GGUF file: its metadata and list of tensors.
    ///
    /// # Errors
    /// If the file can't be read or is not one whole language model.
    pub fn read(path: &Path) -> Result<Self, GgufError> {
        // Opening a pipe would block.
        if !path.metadata()?.is_file() {
            return Err(io::Error::from(io::ErrorKind::InvalidInput).into());
        }
        let file = File::open(path)?;
        let bytes = file.metadata()?.len();
        Self::read_from(file, bytes)
    }

    /// Reads the GGUF header of a stream that has `bytes` bytes.
    ///
    /// # Errors
    /// As [`Gguf::read`].
    pub fn read_from(from: impl Read + Seek, bytes: u64) -> Result<Self, GgufError> {
        let mut reader = Reader::new(from, bytes);
        if bytes < MAGIC.len() as u64 || reader.array::<4>("the magic")? != MAGIC {
            return invalid("it is not a GGUF file (it does not begin with GGUF)");
        }
        let version = reader.u32("the version")?;
        if !VERSIONS.contains(&version) {
            return invalid(format!("its GGUF version is {version}, expected 2 or 3"));
        }
        let tensors = reader.bounded("tensors", ITEMS_MAX)?;
        let entries = reader.bounded("metadata entries", ITEMS_MAX)?;
        let metadata = Metadata::read(&mut reader, entries)?;
        let architecture = metadata.architecture()?;
        let parameters = tensors::read(&mut reader, tensors, metadata.alignment()?)?;
        let owned = |key: &str| metadata.text(key).map(str::to_owned);
        Ok(Self {
            name: owned("general.name"),
            parameters,
            context_tokens: metadata.number(&format!("{architecture}.context_length")),
            quantisation: tensors::file_type(metadata.number("general.file_type")).to_owned(),
            has_chat_template: metadata.text("tokenizer.chat_template").is_some(),
            licence: owned("general.license"),
            architecture,
        })
    }
}

/// Metadata entries of a GGUF file: those with keys in `KEYS` or ending with `.context_length`.
struct Metadata(BTreeMap<String, Value>);

impl Metadata {
    /// Reads this many metadata entries.
    fn read(reader: &mut Reader<impl Read + Seek>, entries: u64) -> Result<Self, GgufError> {
        let mut values = BTreeMap::new();
        for _ in 0..entries {
            let (key, value) = (reader.key()?, reader.value()?);
            let is_kept = KEYS.contains(&key.as_str()) || key.ends_with(".context_length");
            if is_kept && values.insert(key, value).is_some() {
                return invalid("it is damaged: a metadata key occurs twice");
            }
        }
        Ok(Self(values))
    }

    /// The value of a metadata key, if it is a non-negative integer; else `None`.
    fn number(&self, key: &str) -> Option<u64> {
        let Some(Value::Number(number)) = self.0.get(key) else { return None };
        Some(*number)
    }

    /// The value of a metadata key, if it is a text and not blank; else `None`.
    fn text(&self, key: &str) -> Option<&str> {
        let Some(Value::Text(text)) = self.0.get(key) else { return None };
        Some(text.as_str()).filter(|text| !text.trim().is_empty())
    }

    /// The name of the model's architecture, such as `llama`; an error if the file is not one whole language model.
    fn architecture(&self) -> Result<String, GgufError> {
        let Some(architecture) = self.text("general.architecture") else {
            return invalid("it is damaged: general.architecture is missing");
        };
        // Image and audio encoders of another model are files with the architecture `clip`.
        let kind = self.text("general.type").filter(|kind| *kind != "model");
        if let Some(kind) = kind.or(Some(architecture).filter(|architecture| *architecture == "clip")) {
            return invalid(format!("it is not a language model but {kind:?}"));
        }
        match self.number("split.count") {
            Some(count @ 2..) => invalid(format!(
                "it is one of {count} parts of a model; only models in one file are supported (llama-gguf-split --merge makes one)"
            )),
            Some(_) | None => Ok(architecture.to_owned()),
        }
    }

    /// Alignment of the tensor data in bytes; an error if it is not a power of two up to the maximum.
    fn alignment(&self) -> Result<u64, GgufError> {
        match self.number("general.alignment").unwrap_or(ALIGNMENT) {
            alignment @ 1..=ALIGNMENT_MAX if alignment.is_power_of_two() => Ok(alignment),
            alignment => invalid(format!("it is damaged: the alignment {alignment} is not a power of two up to 65536")),
        }
    }
}
