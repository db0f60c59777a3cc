//! Lines of a file: counted, by place, by what is in them; memory stays bounded whatever the file.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

use super::{KEPT_BYTES, Lines};
use crate::glob::Needle;
use crate::limit::Limit;
use crate::record::Record;
use crate::text;

/// Longest line held in memory; a file with a longer one has no lines a person would ask for.
const LINE_MAX_BYTES: u64 = 16 * 1024 * 1024;

/// Line breaks, plus one for a last line without one. `None` when the limit was reached first.
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

/// Lines collected up to a number of bytes.
#[derive(Default)]
struct Gathered {
    lines: VecDeque<Vec<u8>>,
    bytes: u64,
    left_out: bool,
}

impl Gathered {
    fn push(&mut self, line: Vec<u8>) {
        self.bytes = self.bytes.saturating_add(u64::try_from(line.len()).unwrap_or(u64::MAX));
        self.lines.push_back(line);
    }

    fn pop_front(&mut self) {
        if let Some(line) = self.lines.pop_front() {
            self.bytes = self.bytes.saturating_sub(u64::try_from(line.len()).unwrap_or(0));
        }
    }

    fn into_record(self) -> Record {
        let joined = self.lines.into_iter().collect::<Vec<_>>().join(&b'\n');
        let text = text::from_bytes(&joined);
        if self.left_out {
            return Record { truncated: true, ..Record::read(format!("{text}\n… [more is left out: too long]")) };
        }
        Record::read(text)
    }
}

/// Some lines by their place.
pub(super) fn some_lines(file: File, lines: Lines, limit: &Limit) -> io::Result<Record> {
    let (from, to, last) = match lines {
        Lines::Range { from, to } => (from, to, None),
        Lines::First { first } => (1, first, None),
        Lines::Last { last } => (1, u64::MAX, Some(last)),
    };
    let mut gathered = Gathered::default();
    let complete = each_line(file, limit, |number, line| {
        if number < from {
            return true;
        }
        if number > to {
            return false;
        }
        gathered.push(line);
        match last {
            Some(last) => {
                while gathered.lines.len() as u64 > last || gathered.bytes > KEPT_BYTES {
                    gathered.left_out |= gathered.lines.len() as u64 <= last;
                    gathered.pop_front();
                }
                true
            }
            None => {
                gathered.left_out = gathered.bytes > KEPT_BYTES;
                !gathered.left_out
            }
        }
    })?;
    Ok(finished(complete, gathered))
}

/// The lines that hold a text, or how many do.
pub(super) fn matching(file: File, needle: &Needle, only_count: bool, limit: &Limit) -> io::Result<Record> {
    let mut gathered = Gathered::default();
    let mut matches: u64 = 0;
    let complete = each_line(file, limit, |_, line| {
        if needle.is_in(&String::from_utf8_lossy(&line)) {
            matches += 1;
            if only_count {
                return true;
            }
            gathered.push(line);
            gathered.left_out = gathered.bytes > KEPT_BYTES;
        }
        !gathered.left_out
    })?;
    match (only_count, complete) {
        (true, true) => Ok(Record::read(matches.to_string())),
        (true, false) => Ok(Record::timed_out("the time was up before the last line was read")),
        (false, complete) => Ok(finished(complete, gathered)),
    }
}

fn finished(complete: bool, gathered: Gathered) -> Record {
    if complete {
        return gathered.into_record();
    }
    let part = gathered.into_record();
    Record::cut(format!("incomplete: the time was up before the last line was read\n{}", part.text))
}

/// Gives every line, without its line break, to `take` until it says no. `false` when the limit was reached first.
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
