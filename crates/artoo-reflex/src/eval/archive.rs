//! Reads the entries of archives: tar, tar.gz, zip, and gz for one file.

use std::io::Read as _;
use std::path::Path;

use super::{EvalError, FileSystem, digest, text};

/// The block size of tar, in bytes.
const BLOCK: usize = 512;

/// Signature of a zip file's end-of-central-directory record.
const ZIP_END: &[u8] = b"PK\x05\x06";
/// Signature of an entry of a zip file's central directory.
const ZIP_ENTRY: &[u8] = b"PK\x01\x02";

/// An entry of an archive: its name, kind and content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Member {
    /// The entry's name as stored in the archive, without a trailing slash.
    pub(crate) name: Vec<u8>,
    pub(crate) is_folder: bool,
    /// SHA-256 of the entry's content in hexadecimal; empty for a folder, and that of no bytes for a link or device.
    pub(crate) digest: String,
}

impl Member {
    /// The entry's name as archive programs list it: with a slash after a folder's name.
    pub(crate) fn shown_name(&self) -> Vec<u8> {
        let slash: &[u8] = if self.is_folder { b"/" } else { b"" };
        [&self.name, slash].concat()
    }
}

/// The entries of the archive at a path, in stored order; the suffix of its name decides the format.
pub(crate) fn members(path: &Path, fs: &dyn FileSystem) -> Result<Vec<Member>, EvalError> {
    let name = path.as_os_str().to_ascii_lowercase();
    let ends = |ending: &str| name.as_encoded_bytes().ends_with(ending.as_bytes());
    let bytes = text::content(path, fs)?;
    let members = if ends(".zip") {
        zip(&bytes)
    } else if ends(".tar.gz") || ends(".tgz") {
        unpacked(flate2::read::MultiGzDecoder::new(bytes.as_slice())).and_then(|bytes| tar(&bytes))
    } else if ends(".tar") {
        tar(&bytes)
    } else if ends(".gz") {
        let name = path.file_stem().unwrap_or_default().as_encoded_bytes();
        unpacked(flate2::read::MultiGzDecoder::new(bytes.as_slice())).map(|bytes| vec![member(name, false, &bytes)])
    } else {
        None
    };
    members.ok_or(EvalError::NoSecondSource("what this archive holds"))
}

/// The decompressed bytes of a reader; `None` if it can't be read or exceeds the limit of bytes held in memory.
fn unpacked(reader: impl std::io::Read) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(text::MAX_TEXT_BYTES as u64 + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() <= text::MAX_TEXT_BYTES).then_some(bytes)
}

/// An archive entry from its stored name and content.
fn member(name: &[u8], is_folder: bool, content: &[u8]) -> Member {
    let name = name.strip_suffix(b"/").unwrap_or(name).to_vec();
    Member { name, is_folder, digest: if is_folder { String::new() } else { digest::of_bytes(content) } }
}

/// The entries of a tar archive (POSIX ustar, with GNU and pax long names); `None` if it is damaged.
fn tar(bytes: &[u8]) -> Option<Vec<Member>> {
    let mut members = Vec::new();
    let mut long_name: Option<Vec<u8>> = None;
    let mut at = 0;
    loop {
        let header = bytes.get(at..at + BLOCK)?;
        if header.iter().all(|byte| *byte == 0) {
            return Some(members);
        }
        let size = tar_number(header.get(124..136)?)?;
        let content = bytes.get(at + BLOCK..(at + BLOCK).checked_add(size)?)?;
        let form = *header.get(156)?;
        match form {
            b'L' => long_name = Some(until_nul(content).to_vec()),
            b'x' => long_name = pax_path(content).or(long_name),
            b'g' | b'K' => {}
            b'0' | 0 | b'5' | b'7' => {
                let name = long_name.take().unwrap_or_else(|| tar_name(header));
                members.push(member(&name, form == b'5' || name.ends_with(b"/"), content));
            }
            // Links and devices: only the name is recorded.
            _ => members.push(member(&long_name.take().unwrap_or_else(|| tar_name(header)), false, &[])),
        }
        at = at.checked_add(BLOCK)?.checked_add(size.div_ceil(BLOCK).checked_mul(BLOCK)?)?;
    }
}

/// The entry name in a tar header, with its prefix.
fn tar_name(header: &[u8]) -> Vec<u8> {
    let field = |range: std::ops::Range<usize>| until_nul(header.get(range).unwrap_or_default());
    let (name, prefix) = (field(0..100), field(345..500));
    // Only the POSIX format, whose magic ends in a NUL, has the prefix; GNU stores times in its place.
    if header.get(257..263) == Some(b"ustar\0") && !prefix.is_empty() {
        return [prefix, b"/", name].concat();
    }
    name.to_vec()
}

/// The bytes before the first NUL.
fn until_nul(bytes: &[u8]) -> &[u8] {
    bytes.split(|byte| *byte == 0).next().unwrap_or_default()
}

/// A number in a tar header: octal digits, or binary if the high bit is set.
fn tar_number(field: &[u8]) -> Option<usize> {
    if field.first()? & 0x80 != 0 {
        let low = field.get(field.len().checked_sub(8)?..)?;
        return usize::try_from(u64::from_be_bytes(low.try_into().ok()?)).ok();
    }
    let digits = std::str::from_utf8(until_nul(field)).ok()?.trim();
    usize::from_str_radix(digits, 8).ok()
}

/// The `path` record of a pax header, which has lines `length key=value`.
fn pax_path(mut records: &[u8]) -> Option<Vec<u8>> {
    while !records.is_empty() {
        let blank = records.iter().position(|byte| *byte == b' ')?;
        let length: usize = std::str::from_utf8(records.get(..blank)?).ok()?.parse().ok()?;
        let record = records.get(blank + 1..length.checked_sub(1)?)?;
        if let Some(path) = record.strip_prefix(b"path=") {
            return Some(path.to_vec());
        }
        records = records.get(length..)?;
    }
    None
}

/// The entries of a zip archive, from its central directory; `None` if it is damaged, over 4 GB or compressed by an
/// unknown method.
fn zip(bytes: &[u8]) -> Option<Vec<Member>> {
    let end = bytes.windows(ZIP_END.len()).rposition(|window| window == ZIP_END)?;
    let count = number::<2>(bytes, end + 10)?;
    let mut at = number::<4>(bytes, end + 16)?;
    let mut members = Vec::new();
    for _ in 0..count {
        let entry = bytes.get(at..)?;
        if !entry.starts_with(ZIP_ENTRY) {
            return None;
        }
        let method = number::<2>(entry, 10)?;
        let (packed, size) = (number::<4>(entry, 20)?, number::<4>(entry, 24)?);
        let (name_length, extra, comment) = (number::<2>(entry, 28)?, number::<2>(entry, 30)?, number::<2>(entry, 32)?);
        let name = entry.get(46..46 + name_length)?;
        let header = bytes.get(number::<4>(entry, 42)?..)?;
        let data_at = 30 + number::<2>(header, 26)? + number::<2>(header, 28)?;
        let data = header.get(data_at..data_at.checked_add(packed)?)?;
        let content = match method {
            0 => data.to_vec(),
            8 => unpacked(flate2::read::DeflateDecoder::new(data))?,
            _ => return None,
        };
        if content.len() != size {
            return None;
        }
        members.push(member(name, name.ends_with(b"/"), &content));
        at += 46 + name_length + extra + comment;
    }
    Some(members)
}

/// The little-endian number stored in `BYTES` bytes at an offset; `None` past the end.
fn number<const BYTES: usize>(bytes: &[u8], at: usize) -> Option<usize> {
    let field = bytes.get(at..at.checked_add(BYTES)?)?;
    Some(field.iter().rev().fold(0, |value, byte| value << 8 | usize::from(*byte)))
}
