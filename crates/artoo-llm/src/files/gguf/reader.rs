//! Reads typed values of a GGUF header; nothing is allocated or skipped beyond the end of the file.

use std::io::{BufReader, Read, Seek};

use super::{GgufError, invalid};

/// Maximum size of a GGUF header, in bytes: vocabularies of 250,000 words take some fifteen million.
const HEADER_MAX_BYTES: u64 = 128 * 1024 * 1024;

/// Maximum length of a metadata key or tensor name, in bytes: the format's own limit.
const KEY_MAX_BYTES: u64 = 65_535;

/// Maximum number of bytes stored of a metadata text; the rest of a longer one is skipped.
const TEXT_MAX_BYTES: u64 = 4_096;

/// Maximum nesting of lists in a GGUF file's metadata: no known file nests any.
const DEPTH_MAX: u32 = 4;

/// Type number of a text in the metadata.
const TEXT: u32 = 8;

/// Type number of a list in the metadata.
const LIST: u32 = 9;

/// Size in bytes of the values of each type number; 0 for texts and lists.
const WIDTHS: [u8; 13] = [1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8];

/// Type numbers of signed integers.
const SIGNED: [u32; 4] = [1, 3, 5, 11];

/// Type numbers of floating-point numbers and booleans.
const NOT_INTEGER: [u32; 3] = [6, 7, 12];

/// A metadata value of a GGUF file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    /// A non-negative integer.
    Number(u64),
    /// A text, truncated to `TEXT_MAX_BYTES`.
    Text(String),
    /// A negative integer, a floating-point number, a boolean or a list.
    Other,
}

/// Reads the header of a GGUF file that has `bytes` bytes, from the start on.
pub(super) struct Reader<R> {
    from: BufReader<R>,
    pub(super) position: u64,
    pub(super) bytes: u64,
}

impl<R: Read + Seek> Reader<R> {
    /// Creates a reader at the start of a file that has `bytes` bytes.
    pub(super) fn new(from: R, bytes: u64) -> Self {
        Self { from: BufReader::new(from), position: 0, bytes }
    }

    /// Reads a 32-bit number; `what` names it in the error.
    pub(super) fn u32(&mut self, what: &str) -> Result<u32, GgufError> {
        self.array(what).map(u32::from_le_bytes)
    }

    /// Reads a 64-bit number; `what` names it in the error.
    pub(super) fn u64(&mut self, what: &str) -> Result<u64, GgufError> {
        self.array(what).map(u64::from_le_bytes)
    }

    /// Reads exactly `N` bytes; `what` names them in the error.
    pub(super) fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N], GgufError> {
        let mut bytes = [0; N];
        self.position = self.end_after(N as u64, what)?;
        self.from.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    /// Reads a 64-bit count or length; an error, in which `what` names it, if it is greater than `most`.
    pub(super) fn bounded(&mut self, what: &str, most: u64) -> Result<u64, GgufError> {
        let found = self.u64(what)?;
        if found > most { invalid(format!("it has {found} {what}, expected at most {most}")) } else { Ok(found) }
    }

    /// Reads a metadata key or a tensor's name.
    pub(super) fn key(&mut self) -> Result<String, GgufError> {
        let length = self.bounded("bytes of a name", KEY_MAX_BYTES)?;
        self.text(length, "a name")
    }

    /// Reads a metadata value: its type number, then the value; lists are skipped.
    pub(super) fn value(&mut self) -> Result<Value, GgufError> {
        let what = "a value";
        let kind = self.u32(what)?;
        match (kind, width(kind)) {
            (TEXT, _) => {
                let length = self.u64(what)?;
                self.text(length, what).map(Value::Text)
            }
            (LIST, _) => self.skip_list(0).map(|()| Value::Other),
            (_, 0) => invalid("it is damaged: a value of an unknown type"),
            (kind, width) if NOT_INTEGER.contains(&kind) => self.skip(width, what).map(|()| Value::Other),
            (kind, width) => {
                self.position = self.end_after(width, what)?;
                let mut bytes = Vec::new();
                (&mut self.from).take(width).read_to_end(&mut bytes)?;
                let is_negative = SIGNED.contains(&kind) && bytes.last().is_some_and(|last| *last >= 0x80);
                let number = bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte));
                Ok(if is_negative { Value::Other } else { Value::Number(number) })
            }
        }
    }

    /// Skips a list in the metadata: items of fixed size at once, texts and inner lists one by one.
    fn skip_list(&mut self, depth: u32) -> Result<(), GgufError> {
        let what = "a list";
        if depth >= DEPTH_MAX {
            return invalid("it is damaged: lists nested too deep");
        }
        let kind = self.u32(what)?;
        let count = self.u64(what)?;
        match (kind, width(kind)) {
            // Each item takes at least eight bytes, so the end of the file bounds these loops.
            (TEXT, _) => (0..count).try_for_each(|_| {
                let length = self.u64(what)?;
                self.skip(length, what)
            }),
            (LIST, _) => (0..count).try_for_each(|_| self.skip_list(depth + 1)),
            (_, 0) => invalid("it is damaged: a list of an unknown type"),
            (_, width) => self.skip(count.saturating_mul(width), what),
        }
    }

    /// Reads a text of `length` bytes but stores only its first `TEXT_MAX_BYTES`; invalid UTF-8 is replaced.
    fn text(&mut self, length: u64, what: &str) -> Result<String, GgufError> {
        self.position = self.end_after(length, what)?;
        let kept = length.min(TEXT_MAX_BYTES);
        let mut bytes = Vec::new();
        (&mut self.from).take(kept).read_to_end(&mut bytes)?;
        self.from.seek_relative(i64::try_from(length - kept).unwrap_or_default())?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Skips `length` bytes; `what` names them in the error.
    fn skip(&mut self, length: u64, what: &str) -> Result<(), GgufError> {
        self.position = self.end_after(length, what)?;
        self.from.seek_relative(i64::try_from(length).unwrap_or_default())?;
        Ok(())
    }

    /// The position after `length` more bytes; an error if it is beyond the end of the file or `HEADER_MAX_BYTES`.
    fn end_after(&self, length: u64, what: &str) -> Result<u64, GgufError> {
        match self.position.saturating_add(length) {
            end if end > self.bytes => invalid(format!("it is truncated: {what} would lie beyond its end")),
            end if end > HEADER_MAX_BYTES => {
                invalid(format!("its header has {end} bytes or more, expected at most {HEADER_MAX_BYTES}"))
            }
            end => Ok(end),
        }
    }
}

/// Size in bytes of a metadata value of this type number; 0 for texts, lists and unknown types.
fn width(kind: u32) -> u64 {
    usize::try_from(kind).ok().and_then(|kind| WIDTHS.get(kind)).copied().map_or(0, u64::from)
}
