//! Reading typed values where every length is a claim: nothing is allocated or skipped beyond what the file has.

use std::io::{BufReader, Read, Seek};

use super::GgufError;

/// Where the head ends at the latest: vocabularies of a quarter of a million words take some fifteen million bytes.
const HEAD_MAX_BYTES: u64 = 128 * 1024 * 1024;

/// Longest key or tensor name: the format's own limit.
const KEY_MAX_BYTES: u64 = 65_535;

/// Longest text that is kept; a longer one, such as a template for conversations, is only noted as there.
const TEXT_MAX_BYTES: u64 = 4_096;

/// Arrays in arrays: no known file has any.
const DEPTH_MAX: u32 = 4;

/// A value as far as it matters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kept {
    /// An integer that is not negative.
    Number(u64),
    /// A text, or the beginning of a long one.
    Text(String),
    /// Anything else.
    Other,
}

/// A file's head, from its first byte on.
pub(super) struct Source<R> {
    from: BufReader<R>,
    position: u64,
    bytes: u64,
}

impl<R: Read + Seek> Source<R> {
    pub(super) fn new(from: R, bytes: u64) -> Self {
        Self { from: BufReader::new(from), position: 0, bytes }
    }

    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// Of the whole file.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn u32(&mut self, what: &'static str) -> Result<u32, GgufError> {
        self.array(what).map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self, what: &'static str) -> Result<u64, GgufError> {
        self.array(what).map(u64::from_le_bytes)
    }

    pub(super) fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], GgufError> {
        let mut bytes = [0; N];
        self.advance(N as u64, what)?;
        self.from.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    /// A key or a tensor's name.
    pub(super) fn key(&mut self) -> Result<String, GgufError> {
        let length = self.u64("a name")?;
        if length > KEY_MAX_BYTES {
            return Err(GgufError::TooMany { what: "bytes of a name", found: length, most: KEY_MAX_BYTES });
        }
        self.text(length)
    }

    /// A value with its kind before it.
    pub(super) fn value(&mut self) -> Result<Kept, GgufError> {
        let kind = self.u32("a value")?;
        self.of_kind(kind, 0)
    }

    fn of_kind(&mut self, kind: u32, depth: u32) -> Result<Kept, GgufError> {
        let what = "a value";
        let signed = |number: i64| u64::try_from(number).map_or(Kept::Other, Kept::Number);
        Ok(match kind {
            0 => Kept::Number(u64::from(u8::from_le_bytes(self.array(what)?))),
            1 => signed(i64::from(i8::from_le_bytes(self.array(what)?))),
            2 => Kept::Number(u64::from(u16::from_le_bytes(self.array(what)?))),
            3 => signed(i64::from(i16::from_le_bytes(self.array(what)?))),
            4 => Kept::Number(u64::from(self.u32(what)?)),
            5 => signed(i64::from(i32::from_le_bytes(self.array(what)?))),
            8 => {
                let length = self.u64(what)?;
                let kept = length.min(TEXT_MAX_BYTES);
                self.check(length, what)?;
                let text = self.text(kept)?;
                self.skip(length - kept, what)?;
                Kept::Text(text)
            }
            9 => self.items(depth)?,
            10 => Kept::Number(self.u64(what)?),
            11 => signed(i64::from_le_bytes(self.array(what)?)),
            6 | 7 | 12 => {
                self.skip(width(kind), what)?;
                Kept::Other
            }
            _ => return Err(GgufError::Damaged { what: "a value of a kind that does not exist" }),
        })
    }

    /// Passes over an array: numbers in one step, texts and arrays one by one.
    fn items(&mut self, depth: u32) -> Result<Kept, GgufError> {
        let what = "a list";
        if depth >= DEPTH_MAX {
            return Err(GgufError::Damaged { what: "lists in lists" });
        }
        let kind = self.u32(what)?;
        let count = self.u64(what)?;
        match (kind, width(kind)) {
            (8, _) => {
                // However many are announced: each takes eight bytes at least, so that the file's end ends this.
                for _ in 0..count {
                    let length = self.u64(what)?;
                    self.skip(length, what)?;
                }
            }
            (9, _) => {
                for _ in 0..count {
                    self.items(depth + 1)?;
                }
            }
            (_, 0) => return Err(GgufError::Damaged { what: "a list of a kind that does not exist" }),
            (_, width) => self.skip(count.saturating_mul(width), what)?,
        }
        Ok(Kept::Other)
    }

    /// Hostile bytes are no reason to fail: what is not UTF-8 is shown as such.
    fn text(&mut self, length: u64) -> Result<String, GgufError> {
        self.advance(length, "a text")?;
        let mut bytes = vec![0; usize::try_from(length).unwrap_or_default()];
        self.from.read_exact(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn skip(&mut self, length: u64, what: &'static str) -> Result<(), GgufError> {
        self.advance(length, what)?;
        self.from.seek_relative(i64::try_from(length).unwrap_or_default())?;
        Ok(())
    }

    fn advance(&mut self, length: u64, what: &'static str) -> Result<(), GgufError> {
        self.position = self.check(length, what)?;
        Ok(())
    }

    /// The position after so many more bytes, where the file has them.
    fn check(&self, length: u64, what: &'static str) -> Result<u64, GgufError> {
        let end = self.position.saturating_add(length);
        if end > self.bytes {
            return Err(GgufError::Cut { what });
        }
        if end > HEAD_MAX_BYTES {
            return Err(GgufError::TooMany { what: "bytes of metadata", found: end, most: HEAD_MAX_BYTES });
        }
        Ok(end)
    }
}

/// Bytes of a value of fixed size; 0 for texts, lists and what does not exist.
fn width(kind: u32) -> u64 {
    match kind {
        0 | 1 | 7 => 1,
        2 | 3 => 2,
        4..=6 => 4,
        10..=12 => 8,
        _ => 0,
    }
}
