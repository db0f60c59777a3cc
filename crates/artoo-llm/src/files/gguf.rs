//! What a GGUF file says of itself: read with bounds, from a file that may be anything.
//!
//! The form is that of llama.cpp's `gguf.md`: magic, version, counts, metadata as typed key-value pairs, a list of tensors,
//! then their data from the next aligned byte on. Nothing here loads a model or trusts a length: each is held against what
//! is left of the file before it is used, and what is not wanted is skipped unread.

mod kinds;
mod source;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::Path;

use source::{Kept, Source};

/// The first four bytes.
const MAGIC: [u8; 4] = *b"GGUF";

/// Version 1 had shorter lengths and has not been written since 2023.
const VERSIONS: std::ops::RangeInclusive<u32> = 2..=3;

/// Key-value pairs: models have some dozens.
const ENTRIES_MAX: u64 = 65_536;

/// Tensors: the largest models have a few thousand.
const TENSORS_MAX: u64 = 65_536;

/// Dimensions of a tensor: the format's own limit.
const DIMENSIONS_MAX: u32 = 4;

/// Where the data begins if the file does not say otherwise.
const ALIGNMENT: u64 = 32;

/// A larger alignment is a slip: it is a page at most.
const ALIGNMENT_MAX: u64 = 65_536;

/// What a model file says of itself. Texts are the file's own and hostile.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Gguf {
    /// Its name for itself.
    pub name: Option<String>,
    /// The architecture, such as `qwen3`.
    pub architecture: String,
    /// Elements of all tensors.
    pub parameters: u64,
    /// Tokens it was trained to take in at once.
    pub context_tokens: Option<u64>,
    /// How its weights are stored, such as `Q4_K_M`.
    pub quantisation: String,
    /// Whether it says how a conversation is written; without that it is hardly one to talk to.
    pub has_chat_template: bool,
    /// The licence it claims.
    pub licence: Option<String>,
}

/// Why a file is no usable model.
#[derive(Debug, thiserror::Error)]
pub enum GgufError {
    /// It does not begin as one.
    #[error("it is no GGUF file (it does not begin with GGUF)")]
    NotGguf,
    /// A version that is not read.
    #[error("its GGUF version is {version}; versions 2 and 3 are read")]
    Version {
        /// As it stands there.
        version: u32,
    },
    /// It ends before what it announces.
    #[error("it is cut: {what} would lie beyond its end")]
    Cut {
        /// What is missing.
        what: &'static str,
    },
    /// More of something than any model has.
    #[error("it announces {found} {what}; at most {most} are read")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many.
        found: u64,
        /// The bound.
        most: u64,
    },
    /// A value of a kind that does not exist, or that can't stand there.
    #[error("it is damaged: {what}")]
    Damaged {
        /// Where.
        what: &'static str,
    },
    /// One part of a model in several files.
    #[error(
        "it is one of {count} parts of a model; models in one file can be used (llama-gguf-split --merge makes one)"
    )]
    Part {
        /// How many there are.
        count: u64,
    },
    /// A GGUF file of another kind.
    #[error("it holds no language model but {kind:?}")]
    Other {
        /// Its kind, as it says.
        kind: String,
    },
    /// It can't be read.
    #[error("it can't be read")]
    Io(#[from] io::Error),
}

impl Gguf {
    /// Reads the file's head.
    ///
    /// # Errors
    /// Why it is no usable model.
    pub fn read(path: &Path) -> Result<Self, GgufError> {
        // A pipe would be waited for.
        if !path.metadata()?.is_file() {
            return Err(io::Error::from(io::ErrorKind::InvalidInput).into());
        }
        let file = File::open(path)?;
        let bytes = file.metadata()?.len();
        Self::read_from(file, bytes)
    }

    /// The same from anything of this many bytes.
    ///
    /// # Errors
    /// As [`Gguf::read`].
    pub fn read_from(from: impl Read + Seek, bytes: u64) -> Result<Self, GgufError> {
        let mut source = Source::new(from, bytes);
        if bytes < MAGIC.len() as u64 || source.array::<4>("the magic")? != MAGIC {
            return Err(GgufError::NotGguf);
        }
        let version = source.u32("the version")?;
        if !VERSIONS.contains(&version) {
            return Err(GgufError::Version { version });
        }
        let tensors = bounded("tensors", source.u64("the number of tensors")?, TENSORS_MAX)?;
        let entries = bounded("metadata entries", source.u64("the number of entries")?, ENTRIES_MAX)?;
        let mut said = Said::default();
        for _ in 0..entries {
            said.take(&mut source)?;
        }
        said.check()?;
        let weights = Weights::read(&mut source, tensors, said.alignment()?)?;
        said.into_facts(&weights)
    }
}

fn bounded(what: &'static str, found: u64, most: u64) -> Result<u64, GgufError> {
    if found > most { Err(GgufError::TooMany { what, found, most }) } else { Ok(found) }
}

/// The metadata that is wanted.
#[derive(Default)]
struct Said {
    values: BTreeMap<String, Kept>,
}

impl Said {
    fn take(&mut self, source: &mut Source<impl Read + Seek>) -> Result<(), GgufError> {
        let key = source.key()?;
        let is_wanted = matches!(
            key.as_str(),
            "general.architecture"
                | "general.name"
                | "general.type"
                | "general.license"
                | "general.file_type"
                | "general.alignment"
                | "split.count"
                | "tokenizer.chat_template"
        ) || key.ends_with(".context_length");
        let value = source.value()?;
        if is_wanted && self.values.insert(key, value).is_some() {
            return Err(GgufError::Damaged { what: "a key stands twice" });
        }
        Ok(())
    }

    fn number(&self, key: &str) -> Option<u64> {
        match self.values.get(key) {
            Some(Kept::Number(number)) => Some(*number),
            Some(Kept::Text(_) | Kept::Other) | None => None,
        }
    }

    fn text(&self, key: &str) -> Option<&str> {
        match self.values.get(key) {
            Some(Kept::Text(text)) => Some(text.as_str()).filter(|text| !text.trim().is_empty()),
            Some(Kept::Number(_) | Kept::Other) | None => None,
        }
    }

    /// That it is one whole language model.
    fn check(&self) -> Result<(), GgufError> {
        if let Some(kind) = self.text("general.type").filter(|kind| *kind != "model") {
            return Err(GgufError::Other { kind: kind.to_owned() });
        }
        match self.text("general.architecture") {
            None => return Err(GgufError::Damaged { what: "general.architecture is missing" }),
            // What sees or hears for another model comes in a file of its own.
            Some("clip") => return Err(GgufError::Other { kind: "clip".to_owned() }),
            Some(_) => {}
        }
        match self.number("split.count") {
            Some(count) if count > 1 => Err(GgufError::Part { count }),
            Some(_) | None => Ok(()),
        }
    }

    fn alignment(&self) -> Result<u64, GgufError> {
        let alignment = self.number("general.alignment").unwrap_or(ALIGNMENT);
        let is_sound = alignment.is_power_of_two() && alignment <= ALIGNMENT_MAX;
        if is_sound { Ok(alignment) } else { Err(GgufError::Damaged { what: "the alignment is no power of two" }) }
    }

    fn into_facts(self, weights: &Weights) -> Result<Gguf, GgufError> {
        let owned = |key: &str| self.text(key).map(str::to_owned);
        let architecture =
            owned("general.architecture").ok_or(GgufError::Damaged { what: "general.architecture is missing" })?;
        let by_name = self.number("general.file_type").and_then(kinds::file_type);
        Ok(Gguf {
            name: owned("general.name"),
            parameters: weights.elements,
            context_tokens: self.number(&format!("{architecture}.context_length")),
            quantisation: by_name.unwrap_or_else(|| weights.most_used()).to_owned(),
            has_chat_template: self.text("tokenizer.chat_template").is_some(),
            licence: owned("general.license"),
            architecture,
        })
    }
}

/// The tensors together.
#[derive(Default)]
struct Weights {
    elements: u64,
    by_kind: BTreeMap<u32, u64>,
}

impl Weights {
    /// Reads the list, and holds the place of each tensor's data against the file's end.
    fn read(source: &mut Source<impl Read + Seek>, tensors: u64, alignment: u64) -> Result<Self, GgufError> {
        let far = || GgufError::Damaged { what: "a tensor is larger than any file" };
        let (mut weights, mut end) = (Self::default(), 0_u64);
        for _ in 0..tensors {
            source.key()?;
            let dimensions = source.u32("a tensor")?;
            if dimensions > DIMENSIONS_MAX {
                return Err(GgufError::Damaged { what: "a tensor has too many dimensions" });
            }
            let mut elements = 1_u64;
            for _ in 0..dimensions {
                elements = elements.checked_mul(source.u64("a tensor")?).ok_or_else(far)?;
            }
            let kind = source.u32("a tensor")?;
            let offset = source.u64("a tensor")?;
            let bytes = kinds::bytes(kind, elements).ok_or_else(far)?;
            end = end.max(offset.checked_add(bytes).ok_or_else(far)?);
            weights.elements = weights.elements.checked_add(elements).ok_or_else(far)?;
            *weights.by_kind.entry(kind).or_default() += elements;
        }
        let data = source.position().checked_next_multiple_of(alignment).ok_or_else(far)?;
        if tensors == 0 {
            return Err(GgufError::Damaged { what: "it has no weights" });
        }
        if data.checked_add(end).is_none_or(|end| end > source.bytes()) {
            return Err(GgufError::Cut { what: "weights" });
        }
        Ok(weights)
    }

    /// The kind of most elements.
    fn most_used(&self) -> &'static str {
        self.by_kind.iter().max_by_key(|(_, elements)| **elements).map_or("unknown", |(kind, _)| kinds::name(*kind))
    }
}
