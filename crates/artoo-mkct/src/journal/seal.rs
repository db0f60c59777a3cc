//! Sealed files: files that are written completely or not at all, with checksums.
//!
//! Magic of 8 bytes, version u32, length of the meta JSON u32, the meta JSON, CRC-32 of all that; the payload; its
//! length u64 and its CRC-32. Integers are little-endian. The file is written under a temporary name, synced, and
//! renamed.

use std::{
    io::{self, Read, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::{Serialize, de::DeserializeOwned};

use crate::{
    disk::{Disk, DiskFile, OpenMode, folder_of},
    journal::format::u32_at,
};

/// Length in bytes of magic, version and length of the meta JSON.
const HEAD_BYTES: usize = 16;
/// Length in bytes of the trailer after the payload: the payload's length and checksum.
const TRAILER_BYTES: u64 = 12;

/// Maximum length of the meta JSON of a sealed file that is read, in bytes.
const MAX_META_BYTES: u32 = 64 * 1024 * 1024;

/// Size of the write buffer in bytes.
const WRITE_BYTES: usize = 256 * 1024;

/// The kind of a sealed file, and the version of its layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seal {
    pub(crate) magic: [u8; 8],
    pub(crate) version: u32,
}

/// Writes a sealed file with `meta` and the bytes that `payload` writes, replacing an existing file. Returns the result
/// of `payload`.
pub(crate) fn write<T>(
    disk: &dyn Disk,
    path: &Path,
    seal: Seal,
    meta: &impl Serialize,
    payload: impl FnOnce(&mut dyn Write) -> io::Result<T>,
) -> io::Result<T> {
    let beside = beside(path);
    let file = disk.open(&beside, OpenMode::Truncate)?;
    let meta = serde_json::to_vec(meta)?;
    let mut head = Vec::with_capacity(HEAD_BYTES + meta.len() + 4);
    head.extend_from_slice(&seal.magic);
    head.extend_from_slice(&seal.version.to_le_bytes());
    head.extend_from_slice(&(meta.len() as u32).to_le_bytes());
    head.extend_from_slice(&meta);
    head.extend_from_slice(&crc32fast::hash(&head).to_le_bytes());
    file.write_at(&head, 0)?;
    let mut payload_writer = io::BufWriter::with_capacity(
        WRITE_BYTES,
        Hashed { inner: FileEnd { file: Arc::clone(&file), at: head.len() as u64 }, crc: crc32fast::Hasher::new() },
    );
    let result = payload(&mut payload_writer)?;
    let hashed = payload_writer.into_inner().map_err(io::IntoInnerError::into_error)?;
    let length = hashed.inner.at - head.len() as u64;
    let mut trailer = Vec::with_capacity(TRAILER_BYTES as usize);
    trailer.extend_from_slice(&length.to_le_bytes());
    trailer.extend_from_slice(&hashed.crc.finalize().to_le_bytes());
    file.write_at(&trailer, hashed.inner.at)?;
    file.sync()?;
    disk.rename(&beside, path)?;
    disk.sync_folder(folder_of(path))?;
    Ok(result)
}

/// Opens a sealed file and checks its header; `None` if the file is missing, damaged or of another version.
pub(crate) fn open<M: DeserializeOwned>(disk: &dyn Disk, path: &Path, seal: Seal) -> Option<(M, SealedPayload)> {
    let file = disk.open(path, OpenMode::Read).ok()?;
    let mut head = [0; HEAD_BYTES];
    let read = file.read_at(&mut head, 0).ok()?;
    let meta_bytes = u32_at(&head, 12);
    let known = read == HEAD_BYTES && head.starts_with(&seal.magic) && u32_at(&head, 8) == seal.version;
    let length = file.length().ok()?;
    if !known || meta_bytes > MAX_META_BYTES || u64::from(meta_bytes) > length {
        return None;
    }
    let mut rest = vec![0; meta_bytes as usize + 4];
    if file.read_at(&mut rest, HEAD_BYTES as u64).ok()? < rest.len() {
        return None;
    }
    let (meta, sum) = rest.split_at(meta_bytes as usize);
    let mut crc = crc32fast::Hasher::new();
    crc.update(&head);
    crc.update(meta);
    if crc.finalize() != u32_at(sum, 0) {
        return None;
    }
    let meta = serde_json::from_slice(meta).ok()?;
    let begin = (HEAD_BYTES + rest.len()) as u64;
    let end = length.checked_sub(TRAILER_BYTES).filter(|end| *end >= begin)?;
    let mut trailer = [0; TRAILER_BYTES as usize];
    let read = file.read_at(&mut trailer, end).ok()?;
    let announced = trailer.first_chunk().map(|bytes| u64::from_le_bytes(*bytes));
    if read as u64 != TRAILER_BYTES || announced != Some(end - begin) {
        return None;
    }
    let expected = u32_at(&trailer, 8);
    Some((meta, SealedPayload { file, at: begin, end, crc: crc32fast::Hasher::new(), expected }))
}

/// The temporary name that a file has until it is complete: its path with `.new` appended.
pub(crate) fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    PathBuf::from(name)
}

/// The payload of a sealed file; reading it calculates the checksum.
#[derive(Debug)]
pub(crate) struct SealedPayload {
    file: Arc<dyn DiskFile>,
    at: u64,
    end: u64,
    crc: crc32fast::Hasher,
    expected: u32,
}

impl SealedPayload {
    /// Whether the whole payload was read and its checksum is right.
    pub(crate) fn ends_sound(self) -> bool {
        self.at == self.end && self.crc.finalize() == self.expected
    }
}

impl Read for SealedPayload {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let wanted = bytes.len().min((self.end - self.at) as usize);
        let bytes = bytes.get_mut(..wanted).unwrap_or_default();
        let read = self.file.read_at(bytes, self.at)?;
        self.crc.update(bytes.get(..read).unwrap_or_default());
        self.at += read as u64;
        Ok(read)
    }
}

/// Writes to a file sequentially from offset `at` on, as a [`std::io::Write`].
#[derive(Debug)]
pub(crate) struct FileEnd {
    pub(crate) file: Arc<dyn DiskFile>,
    pub(crate) at: u64,
}

impl Write for FileEnd {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write_at(bytes, self.at)?;
        self.at += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes to a file and calculates the checksum of the written bytes.
struct Hashed {
    inner: FileEnd,
    crc: crc32fast::Hasher,
}

impl Write for Hashed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.crc.update(bytes);
        self.inner.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
