//! Encoding of numbers, texts and lists: little-endian, lengths first.

use std::io::{self, BufReader, BufWriter, Read, Write};

/// Size of the read and write buffers in bytes; larger reads and writes bypass the buffers.
const BUFFER_BYTES: usize = 32 * 1024;

/// Most bytes of an encoded text: fits a record with all texts at their limits, each byte escaped.
const MAX_TEXT_BYTES: usize = 1024 * 1024;

/// Version of the layout of an encoded engine; other versions are not decoded, and the journal is replayed instead.
pub(super) const STATE_VERSION: u32 = 2;

/// Why bytes can't be decoded as an engine.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidState {
    /// The bytes cannot be read, or end too early.
    #[error("the state cannot be read: {0}")]
    Io(#[from] io::Error),
    /// The bytes have a version of the layout that this library does not know.
    #[error("the state has version {found}, this library knows {STATE_VERSION}")]
    Version {
        /// The version in the bytes.
        found: u32,
    },
    /// A part of the bytes is not a valid value.
    #[error("{what} in the state is malformed")]
    Malformed {
        /// What the malformed value should have been.
        what: &'static str,
    },
}

/// Writes encoded numbers, texts and lists to `out`, through a buffer.
pub(super) struct Encoder<'a>(BufWriter<&'a mut dyn Write>);

impl<'a> Encoder<'a> {
    /// An encoder that writes to `out` through a buffer.
    pub(super) fn new(out: &'a mut dyn Write) -> Self {
        Self(BufWriter::with_capacity(BUFFER_BYTES, out))
    }

    /// Writes bytes as they are, without a length.
    pub(super) fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }

    /// Writes a number as 4 little-endian bytes.
    pub(super) fn u32(&mut self, number: u32) -> io::Result<()> {
        self.bytes(&number.to_le_bytes())
    }

    /// Writes a number as 8 little-endian bytes.
    pub(super) fn u64(&mut self, number: u64) -> io::Result<()> {
        self.bytes(&number.to_le_bytes())
    }

    /// Writes a text: its length in bytes, then its UTF-8 bytes.
    pub(super) fn text(&mut self, text: &str) -> io::Result<()> {
        self.u32(text.len() as u32)?;
        self.bytes(text.as_bytes())
    }

    /// Writes a value as JSON text, with its length before it.
    pub(super) fn json(&mut self, value: &impl serde::Serialize) -> io::Result<()> {
        self.text(&serde_json::to_string(value)?)
    }

    /// Writes a list: its length, then each item by `item`.
    pub(super) fn list<T>(
        &mut self,
        length: usize,
        items: impl IntoIterator<Item = T>,
        mut item: impl FnMut(&mut Self, T) -> io::Result<()>,
    ) -> io::Result<()> {
        self.u64(length as u64)?;
        items.into_iter().try_for_each(|next| item(self, next))
    }

    /// Writes out what is still in the buffer.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Reads the numbers, texts and lists that an [`Encoder`] wrote, through a buffer.
pub(super) struct Decoder<'a>(BufReader<&'a mut dyn Read>);

impl<'a> Decoder<'a> {
    /// A decoder that reads from `input` through a buffer.
    pub(super) fn new(input: &'a mut dyn Read) -> Self {
        Self(BufReader::with_capacity(BUFFER_BYTES, input))
    }

    /// Reads `N` bytes into an array; an error if the input ends before.
    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], InvalidState> {
        let mut bytes = [0; N];
        self.0.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    /// Reads a number of 4 little-endian bytes.
    pub(super) fn u32(&mut self) -> Result<u32, InvalidState> {
        self.array().map(u32::from_le_bytes)
    }

    /// Reads a text: its length, then its bytes; an error if it is too long or not UTF-8.
    pub(super) fn text(&mut self) -> Result<String, InvalidState> {
        let length = self.u32()? as usize;
        if length > MAX_TEXT_BYTES {
            return Err(InvalidState::Malformed { what: "a text's length" });
        }
        let mut bytes = vec![0; length];
        self.0.read_exact(&mut bytes)?;
        String::from_utf8(bytes).map_err(|_| InvalidState::Malformed { what: "a text" })
    }

    /// Reads a value from a JSON text with its length before it.
    pub(super) fn json<T: serde::de::DeserializeOwned>(&mut self) -> Result<T, InvalidState> {
        serde_json::from_str(&self.text()?).map_err(|_| InvalidState::Malformed { what: "a record" })
    }

    /// Reads the length of a list. No memory is reserved for it, so a wrong length fails at the end of the input.
    pub(super) fn length(&mut self) -> Result<u64, InvalidState> {
        let length = self.array().map(u64::from_le_bytes)?;
        if length >= u64::from(u32::MAX) {
            Err(InvalidState::Malformed { what: "a list's length" })
        } else {
            Ok(length)
        }
    }

    /// Reads a list: its length, then each item by `item`.
    pub(super) fn list<T, C: FromIterator<T>>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<T, InvalidState>,
    ) -> Result<C, InvalidState> {
        let length = self.length()?;
        (0..length).map(|_| item(self)).collect()
    }
}
