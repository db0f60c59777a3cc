//! A pack: a file of frames, each a line of JSON, followed by the bytes if it is an item.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{ITEM_MAX_BYTES, KeptCall, open_own};
use crate::digest;

/// Longest line of JSON that a frame of a pack file may begin with, in bytes.
const LINE_MAX_BYTES: u64 = 64 * 1024;

/// A frame of a pack file: a call, or an item with its length and digest.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Frame {
    /// An item; this number of bytes and a line break follow.
    Item { sha256: String, bytes: u64 },
    /// A call with the digests of its items.
    Call(KeptCall),
}

/// The position of an item's bytes in a pack.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    at: u64,
    bytes: u64,
}

/// The pack that is being written.
#[derive(Debug)]
pub(super) struct Pack {
    file: File,
    known: BTreeMap<String, Place>,
    end: u64,
}

impl Pack {
    /// Opens or creates a pack and truncates an incomplete frame at its end. `InvalidData` if the frame there is of a later
    /// version; the pack is then unchanged.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let mut file = open_own(path)?;
        file.lock()?;
        let scanned = scan(&mut file).and_then(|(frames, end)| {
            if file.metadata()?.len() > end {
                let mut line = Vec::new();
                file.seek(SeekFrom::Start(end))?;
                BufReader::new(&file).take(LINE_MAX_BYTES).read_until(b'\n', &mut line)?;
                if line.ends_with(b"\n") && serde_json::from_slice::<Frame>(&line).is_err() {
                    return Err(io::ErrorKind::InvalidData.into());
                }
                file.set_len(end)?;
            }
            Ok((frames, end))
        });
        file.unlock()?;
        let (frames, end) = scanned?;
        let known = frames.into_iter().filter_map(|(frame, place)| match frame {
            Frame::Item { sha256, .. } => Some((sha256, place)),
            Frame::Call(_) => None,
        });
        Ok(Self { known: known.collect(), file, end })
    }

    /// The size of the pack file as this process knows it, without frames that other processes have added.
    pub(super) fn bytes(&self) -> u64 {
        self.end
    }

    /// Whether the pack contains the item with this SHA-256 and its content still has it.
    pub(super) fn holds(&mut self, sha256: &str) -> bool {
        let Some(place) = self.known.get(sha256) else { return false };
        let found = item(&mut self.file, *place).and_then(digest::of_reader);
        found.is_ok_and(|found| found == sha256)
    }

    /// Appends a frame and its bytes to the pack file. If that fails, the file is truncated to its previous length.
    pub(super) fn append(&mut self, frame: &Frame, item: &mut dyn Read) -> io::Result<()> {
        let mut line = serde_json::to_vec(frame)?;
        line.push(b'\n');
        // Another process may write to the same pack.
        self.file.lock()?;
        let written = self.file.seek(SeekFrom::End(0)).and_then(|start| match self.write(&line, frame, item) {
            Ok(()) => Ok(start),
            Err(error) => self.file.set_len(start).and(Err(error)),
        });
        self.file.unlock()?;
        let at = written? + line.len() as u64;
        self.end = at;
        if let Frame::Item { sha256, bytes } = frame {
            self.end += bytes + 1;
            self.known.insert(sha256.clone(), Place { at, bytes: *bytes });
        }
        Ok(())
    }

    /// Writes a frame's line and the bytes of its item at the end of the pack file.
    fn write(&mut self, line: &[u8], frame: &Frame, item: &mut dyn Read) -> io::Result<()> {
        self.file.write_all(line)?;
        let Frame::Item { bytes, .. } = frame else { return Ok(()) };
        if io::copy(&mut item.take(*bytes), &mut self.file)? < *bytes {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.file.write_all(b"\n")
    }
}

/// Reads a pack file: all complete frames with their positions, and the end of the last one.
pub(super) fn scan(file: &mut File) -> io::Result<(Vec<(Frame, Place)>, u64)> {
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(0))?;
    let mut reader = BufReader::new(file);
    let (mut frames, mut end) = (Vec::new(), 0);
    loop {
        let mut line = Vec::new();
        let read = reader.by_ref().take(LINE_MAX_BYTES).read_until(b'\n', &mut line)? as u64;
        let Some(frame) = line.strip_suffix(b"\n").and_then(|line| serde_json::from_slice::<Frame>(line).ok()) else {
            return Ok((frames, end));
        };
        let at = end + read;
        let (bytes, behind) = match &frame {
            Frame::Item { bytes, .. } if *bytes <= ITEM_MAX_BYTES * 2 => (*bytes, bytes + 1),
            Frame::Item { .. } => return Ok((frames, end)),
            Frame::Call(_) => (0, 0),
        };
        if at + behind > length {
            return Ok((frames, end));
        }
        reader.seek_relative(i64::try_from(behind).unwrap_or(i64::MAX))?;
        end = at + behind;
        frames.push((frame, Place { at, bytes }));
    }
}

/// The positions of the items with this digest in a pack file, oldest first.
pub(super) fn places(file: &mut File, sha256: &str) -> io::Result<Vec<Place>> {
    let (frames, _) = scan(file)?;
    let is_it = |frame: &Frame| matches!(frame, Frame::Item { sha256: own, .. } if own == sha256);
    Ok(frames.into_iter().filter(|(frame, _)| is_it(frame)).map(|(_, place)| place).collect())
}

/// A reader of the bytes of an item at this position of a pack file.
pub(super) fn item(file: &mut File, place: Place) -> io::Result<impl Read> {
    file.seek(SeekFrom::Start(place.at))?;
    Ok(file.take(place.bytes))
}
