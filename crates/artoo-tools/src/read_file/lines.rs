//! Counts and selects lines of a file in bounded memory.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

use super::{Lines, captured, recorded};
use crate::config::ToolConfig;
use crate::evidence::ITEM_MAX_BYTES;
use crate::glob::Needle;
use crate::limit::Limit;
use crate::process::Captured;
use crate::record::Record;

/// Longest line in bytes that may occur where lines are selected or matched; a longer one is an error.
const LINE_MAX_BYTES: u64 = 16 * 1024 * 1024;

/// The number of lines of a file, with an unfinished last one; `None` if the deadline came first.
pub(crate) fn count(file: File, limit: &Limit) -> io::Result<Option<u64>> {
    let mut reader = BufReader::with_capacity(256 * 1024, file);
    let mut lines: u64 = 0;
    let mut ends_open = false;
    loop {
        if limit.reached() {
            return Ok(None);
        }
        let chunk = reader.fill_buf()?;
        let Some(last) = chunk.last() else { return Ok(Some(lines + u64::from(ends_open))) };
        ends_open = *last != b'\n';
        let breaks = chunk.iter().filter(|byte| **byte == b'\n').count();
        lines += u64::try_from(breaks).unwrap_or(0);
        let used = chunk.len();
        reader.consume(used);
    }
}

/// The selected lines of a file, captured and stored as evidence.
struct SelectedLines<'a> {
    captured: Captured,
    config: &'a ToolConfig,
    is_empty: bool,
}

impl<'a> SelectedLines<'a> {
    /// An empty selection of lines.
    fn new(config: &'a ToolConfig) -> Self {
        Self { captured: captured(config), config, is_empty: true }
    }

    /// Adds one line to the selected lines, with a line break between two lines.
    fn push(&mut self, line: &[u8]) {
        if !std::mem::take(&mut self.is_empty) {
            self.captured.push(b"\n");
        }
        self.captured.push(line);
    }
}

/// The record of a range of a file's lines, or of its first or last ones; marked as incomplete if the time was up or
/// the lines are too long.
pub(super) fn some_lines(file: File, lines: Lines, config: &ToolConfig, limit: &Limit) -> io::Result<Record> {
    let (from, to, last) = match lines {
        Lines::Range { from, to } => (from, to, None),
        Lines::First { first } => (1, first, None),
        Lines::Last { last } => (1, u64::MAX, Some(last)),
    };
    let mut gathered = SelectedLines::new(config);
    let (mut last_lines, mut bytes, mut left_out) = (VecDeque::new(), 0, false);
    let complete = each_line(file, limit, |number, line| {
        match last {
            Some(last) => {
                bytes += line.len() as u64;
                last_lines.push_back(line);
                while last_lines.len() as u64 > last || bytes > ITEM_MAX_BYTES {
                    left_out |= last_lines.len() as u64 <= last;
                    bytes -= last_lines.pop_front().map_or(0, |line: Vec<u8>| line.len() as u64);
                }
            }
            None if (from..=to).contains(&number) => gathered.push(&line),
            None => {}
        }
        number < to
    })?;
    last_lines.iter().for_each(|line| gathered.push(line));
    let record = finished(complete, gathered);
    Ok(if left_out { Record::cut(format!("incomplete: these lines are too long\n{}", record.text)) } else { record })
}

/// The record of a file's lines that contain a text, or of their number; if the time was up, the lines are marked as
/// incomplete, and the count has timed out.
pub(super) fn matching(
    file: File,
    needle: &Needle,
    only_count: bool,
    config: &ToolConfig,
    limit: &Limit,
) -> io::Result<Record> {
    let mut gathered = SelectedLines::new(config);
    let mut matches: u64 = 0;
    let complete = each_line(file, limit, |_, line| {
        if needle.is_in(&String::from_utf8_lossy(&line)) {
            matches += 1;
            if !only_count {
                gathered.push(&line);
            }
        }
        true
    })?;
    match (only_count, complete) {
        (true, true) => Ok(Record::read(matches.to_string())),
        (true, false) => Ok(Record::timed_out("the time was up before the last line was read")),
        (false, complete) => Ok(finished(complete, gathered)),
    }
}

/// The record of the selected lines; marked as incomplete unless `complete`, if the time was up before the file's end.
fn finished(complete: bool, gathered: SelectedLines<'_>) -> Record {
    let record = recorded(gathered.captured, gathered.config);
    if complete {
        return record;
    }
    Record::cut(format!("incomplete: the time was up before the last line was read\n{}", record.text))
}

/// Passes each line's number, from 1, and bytes, without the line break, to `take` until that returns false. `false` if
/// the deadline came first; an error for a line beyond [`LINE_MAX_BYTES`].
fn each_line(file: File, limit: &Limit, mut take: impl FnMut(u64, Vec<u8>) -> bool) -> io::Result<bool> {
    let mut reader = BufReader::with_capacity(256 * 1024, file);
    let mut number: u64 = 0;
    loop {
        if limit.reached() {
            return Ok(false);
        }
        let mut line = Vec::new();
        let read = (&mut reader).take(LINE_MAX_BYTES + 1).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(true);
        }
        if u64::try_from(read).is_ok_and(|read| read > LINE_MAX_BYTES) {
            let message = format!("line {} is longer than {LINE_MAX_BYTES} bytes", number + 1);
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        if line.last() == Some(&b'\n') {
            line.pop();
        }
        number += 1;
        if !take(number, line) {
            return Ok(true);
        }
    }
}
