//! A pack: frames one behind the other, each a line of JSON, an item's bytes behind its line.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{ITEM_MAX_BYTES, KeptCall, open_own};
use crate::digest;

/// Longest line before an item's bytes; a call's is far shorter.
const LINE_MAX_BYTES: u64 = 64 * 1024;

/// What stands in a pack.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Frame {
    /// So many bytes follow, and a line's end.
    Item { sha256: String, bytes: u64 },
    /// A call, and which items are its.
    Call(KeptCall),
}

/// Where an item's bytes lie.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    at: u64,
    bytes: u64,
}

/// The pack that is written to.
#[derive(Debug)]
pub(super) struct Pack {
    file: File,
    known: BTreeMap<String, Place>,
    end: u64,
}

impl Pack {
    /// Opens or begins a pack and cuts off the frame of an interrupted writer at its end. `InvalidData` where a whole
    /// line there is no frame of this version; the pack then stays as it is.
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

    /// Bytes in it, as far as this process knows.
    pub(super) fn bytes(&self) -> u64 {
        self.end
    }

    /// Whether the item is here and sound.
    pub(super) fn holds(&mut self, sha256: &str) -> bool {
        let Some(place) = self.known.get(sha256) else { return false };
        let found = item(&mut self.file, *place).and_then(digest::of_reader);
        found.is_ok_and(|found| found == sha256)
    }

    /// Adds a frame with the bytes that belong to it. One that can't be written whole is taken back.
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

    fn write(&mut self, line: &[u8], frame: &Frame, item: &mut dyn Read) -> io::Result<()> {
        self.file.write_all(line)?;
        let Frame::Item { bytes, .. } = frame else { return Ok(()) };
        if io::copy(&mut item.take(*bytes), &mut self.file)? < *bytes {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.file.write_all(b"\n")
    }
}

/// Every frame with where its bytes lie, and where the last whole one ends.
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

/// Where the items of this digest lie, oldest first.
pub(super) fn places(file: &mut File, sha256: &str) -> io::Result<Vec<Place>> {
    let (frames, _) = scan(file)?;
    let is_it = |frame: &Frame| matches!(frame, Frame::Item { sha256: own, .. } if own == sha256);
    Ok(frames.into_iter().filter(|(frame, _)| is_it(frame)).map(|(_, place)| place).collect())
}

/// The bytes of an item, as they lie there.
pub(super) fn item(file: &mut File, place: Place) -> io::Result<impl Read> {
    file.seek(SeekFrom::Start(place.at))?;
    Ok(file.take(place.bytes))
}
