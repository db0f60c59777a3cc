//! Splits a streamed response body into server-sent events or lines.

use super::Framing;

/// Divides a stream of bytes into server-sent events or lines.
#[derive(Debug)]
pub(crate) struct Frames {
    framing: Framing,
    line: Vec<u8>,
    /// Joined `data:` lines of the current event; `None` before the first.
    data: Option<String>,
    last_was_cr: bool,
    at_start: bool,
}

/// The error for a line of a stream that is not valid UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NoText;

const BYTE_ORDER_MARK: char = '\u{feff}';

impl Frames {
    /// Creates a splitter at the start of a stream.
    pub(crate) fn new(framing: Framing) -> Self {
        Self { framing, line: Vec::new(), data: None, last_was_cr: false, at_start: true }
    }

    /// Adds received bytes; returns the events or lines that are now complete.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<Vec<String>, NoText> {
        let mut complete = Vec::new();
        for &byte in bytes {
            let after_cr = std::mem::replace(&mut self.last_was_cr, byte == b'\r');
            match byte {
                b'\n' if after_cr => {}
                b'\n' | b'\r' => complete.extend(self.end_line()?),
                byte => self.line.push(byte),
            }
        }
        Ok(complete)
    }

    /// The last line of a stream of lines if it lacks a line break and is not blank. An incomplete server-sent event is
    /// dropped.
    pub(crate) fn rest(&mut self) -> Result<Option<String>, NoText> {
        match self.framing {
            Framing::Events => Ok(None),
            Framing::Lines | Framing::Whole => self.end_line(),
        }
    }

    /// Ends the current line of the stream; returns the event or line that is now complete.
    fn end_line(&mut self) -> Result<Option<String>, NoText> {
        let line = String::from_utf8(std::mem::take(&mut self.line)).map_err(|_| NoText)?;
        let line = if std::mem::take(&mut self.at_start) { line.trim_start_matches(BYTE_ORDER_MARK) } else { &line };
        match self.framing {
            Framing::Events => Ok(self.event_line(line)),
            Framing::Lines | Framing::Whole => Ok(Some(line.to_owned()).filter(|line| !line.trim().is_empty())),
        }
    }

    /// Adds a line to the current server-sent event; a blank line completes it. Fields other than `data` are ignored.
    fn event_line(&mut self, line: &str) -> Option<String> {
        if line.is_empty() {
            return self.data.take();
        }
        let value = line.strip_prefix("data").and_then(|rest| match rest.strip_prefix(':') {
            Some(value) => Some(value.strip_prefix(' ').unwrap_or(value)),
            None => rest.is_empty().then_some(""),
        });
        if let Some(value) = value {
            self.data = Some(match self.data.take() {
                Some(data) => data + "\n" + value,
                None => value.to_owned(),
            });
        }
        None
    }
}

/// Tests of splitting streams.
#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Frames, Framing, NoText};

    /// All events or lines of a stream whose bytes arrive in these pieces.
    fn all(framing: Framing, pieces: &[&[u8]]) -> Result<Vec<String>, NoText> {
        let mut frames = Frames::new(framing);
        let mut found = Vec::new();
        for piece in pieces {
            found.extend(frames.push(piece)?);
        }
        found.extend(frames.rest()?);
        Ok(found)
    }

    /// A stream is split into server-sent events as their standard says.
    #[test]
    fn events_are_divided_by_the_standard() {
        let check = |text: &str, expected: &[&str]| {
            assert_eq!(all(Framing::Events, &[text.as_bytes()]).unwrap(), expected, "{text:?}");
        };
        check("data: a\n\ndata: b\n\n", &["a", "b"]);
        check("data:a\r\n\r\ndata:b\r\r", &["a", "b"]);
        check("\u{feff}data: a\n\n", &["a"]);
        check(": ping\n\nevent: x\ndata: a\nid: 7\nretry: 9\n\n", &["a"]);
        check("data: a\ndata: b\n\n", &["a\nb"]);
        check("data\n\n", &[""]);
        check("data:  a\n\n", &[" a"]);
        check("database: a\n\n", &[]);
        check("data: a\n\ndata: cut", &["a"]);
        check("data: a\n\ndata: cut\n", &["a"]);
        check("", &[]);
    }

    /// The last line of a stream counts even without a line break.
    #[test]
    fn last_line_without_newline_counts() {
        let check = |text: &str, expected: &[&str]| {
            assert_eq!(all(Framing::Lines, &[text.as_bytes()]).unwrap(), expected, "{text:?}");
        };
        check("{}\n{}\r\n\n{}", &["{}", "{}", "{}"]);
        check("\u{feff}{}", &["{}"]);
        check("", &[]);
    }

    #[doc = "holds: fault L14"]
    #[test]
    fn invalid_utf8_lines_are_refused() {
        assert_eq!(all(Framing::Events, &[b"data: \xff\n\n"]), Err(NoText));
        assert_eq!(all(Framing::Lines, &[b"\xff"]), Err(NoText));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Any division into network packets gives the same events.
        #[test]
        fn network_chunks_do_not_change_events(text in "(data: ?[a-zä\n\r]{0,9}(\n|\r|\r\n)){0,9}", cut in 0_usize..99) {
            let bytes = text.as_bytes();
            let (head, tail) = bytes.split_at(cut.min(bytes.len()));
            for framing in [Framing::Events, Framing::Lines] {
                prop_assert_eq!(all(framing, &[head, tail]), all(framing, &[bytes]));
                let single: Vec<&[u8]> = bytes.chunks(1).collect();
                prop_assert_eq!(all(framing, &single), all(framing, &[bytes]));
            }
        }
    }
}
