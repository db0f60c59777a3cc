//! Keeps the beginning and the end of a stream in bounded memory and counts all bytes.

use std::collections::VecDeque;
use std::io::{self, Read};

use artoo_proto::KeptOutput;
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::evidence::Spill;

/// Maximum bytes per read: the capacity of a pipe.
const CHUNK_BYTES: usize = 64 * 1024;

/// Size in bytes of the first read of a stream: most commands print little, and many run at once.
const CHUNK_FIRST_BYTES: usize = 4 * 1024;

/// The output of one stream that was captured: beginning, end and number of bytes.
#[derive(Debug)]
pub(crate) struct Captured {
    end_bytes: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
    /// Stores the whole stream as evidence, up to the store's limit.
    spill: Option<Spill>,
}

impl Captured {
    /// A capture that keeps at most `end_bytes` at each end of the stream.
    pub(crate) fn new(end_bytes: usize) -> Self {
        Self { end_bytes, head: Vec::new(), tail: VecDeque::new(), total: 0, spill: None }
    }

    /// The same capture, which also stores the stream as evidence if `spill` is given.
    pub(crate) fn with_spill(self, spill: Option<Spill>) -> Self {
        Self { spill, ..self }
    }

    /// Commits the stream to the evidence store; `None` if it is empty or not stored.
    pub(crate) fn keep(&mut self, stream: &str) -> Option<KeptOutput> {
        let end = if self.tail.is_empty() { self.head.clone() } else { self.tail() };
        self.spill.take().filter(|_| self.total > 0)?.keep(stream, &end).ok()
    }

    /// The number of all bytes of the stream, captured or not.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// Whether all bytes of the stream are in memory, so that none are omitted.
    pub(crate) fn is_whole(&self) -> bool {
        self.left_out() == 0
    }

    /// The number of bytes between the two captured ends, which are not in memory.
    pub(crate) fn left_out(&self) -> u64 {
        let kept = self.head.len().saturating_add(self.tail.len());
        self.total.saturating_sub(u64::try_from(kept).unwrap_or(u64::MAX))
    }

    /// The first bytes; all of them if the stream is no longer than one end.
    pub(crate) fn head(&self) -> &[u8] {
        &self.head
    }

    /// The last captured bytes of the stream, in order, without those in the head.
    pub(crate) fn tail(&self) -> Vec<u8> {
        self.tail.iter().copied().collect()
    }

    /// Both ends as text of at most `max_chars` characters, with a mark for omitted bytes; also returns whether any are
    /// omitted.
    pub(crate) fn text(&self, max_chars: usize) -> (String, bool) {
        crate::text::ends(&self.head, self.left_out(), &self.tail(), max_chars)
    }

    /// Adds the next bytes of the captured stream.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        if let Some(spill) = &mut self.spill {
            spill.take(bytes);
        }
        self.total = self.total.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        let room = self.end_bytes.saturating_sub(self.head.len()).min(bytes.len());
        let (first, rest) = bytes.split_at(room);
        self.head.extend_from_slice(first);
        // Only the last `end_bytes` of a long piece can remain.
        let rest = rest.get(rest.len().saturating_sub(self.end_bytes)..).unwrap_or_default();
        let over = self.tail.len().saturating_add(rest.len()).saturating_sub(self.end_bytes);
        self.tail.drain(..over.min(self.tail.len()));
        self.tail.extend(rest);
    }

    /// Reads a stream to its end, blocking.
    pub(crate) fn read(&mut self, mut stream: impl Read) -> io::Result<()> {
        let mut chunk = vec![0; CHUNK_BYTES];
        loop {
            match stream.read(&mut chunk)? {
                0 => return Ok(()),
                read => self.push(chunk.get(..read).unwrap_or_default()),
            }
        }
    }

    /// Counts bytes of the stream that are not read.
    pub(crate) fn skip(&mut self, bytes: u64) {
        self.total = self.total.saturating_add(bytes);
        if let Some(spill) = &mut self.spill {
            spill.skip(bytes);
        }
    }

    /// Reads a stream to its end, without blocking.
    pub(crate) async fn drain(&mut self, mut stream: impl AsyncRead + Unpin) -> io::Result<()> {
        let mut chunk = vec![0; CHUNK_FIRST_BYTES];
        loop {
            let read = stream.read(&mut chunk).await?;
            if read == 0 {
                return Ok(());
            }
            self.push(chunk.get(..read).unwrap_or_default());
            if read == chunk.len() && read < CHUNK_BYTES {
                chunk.resize(CHUNK_BYTES, 0);
            }
        }
    }
}

/// Tests that a captured output stream keeps its first and last bytes and counts all of them.
#[cfg(test)]
mod tests {
    use super::Captured;
    use proptest::prelude::*;

    proptest! {
        /// Head, tail and count don't depend on how the stream is split.
        #[doc = "holds: design T6"]
        #[test]
        fn head_and_tail_are_ends_of_stream(
            pieces in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..40), 0..12),
            end_bytes in 1_usize..30,
        ) {
            let mut captured = Captured::new(end_bytes);
            for piece in &pieces {
                captured.push(piece);
            }
            let all = pieces.concat();
            let head = &all[..end_bytes.min(all.len())];
            let rest = &all[head.len()..];
            let tail = &rest[rest.len().saturating_sub(end_bytes)..];
            prop_assert_eq!(captured.head(), head);
            prop_assert_eq!(captured.tail(), tail);
            prop_assert_eq!(captured.total(), all.len() as u64);
            prop_assert_eq!(captured.left_out(), (all.len() - head.len() - tail.len()) as u64);
        }
    }
}
