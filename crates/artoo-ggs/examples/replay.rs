//! Replays a log of controller calls: `cargo run -p artoo-ggs --features serde --example replay -- [FILE]`.
//!
//! The first line holds the configuration, every other an event, with its answer or without. Prints the log with every
//! answer; the exit code is 1 if an answer given differs by a byte from the one that comes out.

use std::io::{self, BufRead, Write};
use std::process::ExitCode;

use artoo_ggs::{ControllerEvent, ControllerReply, LogEntry, LogHeader, replay};

/// A line of the input log: the reply may be missing, and is then computed.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    event: ControllerEvent<String>,
    answer: Option<ControllerReply>,
}

/// Why a log was not replayed to its end.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// There is no first line.
    #[error("the log is empty")]
    Empty,
    /// It can't be read, or the replay not written.
    #[error("the log can't be read or written")]
    Io(#[from] io::Error),
    /// A line is not what it should be.
    #[error("line {number}")]
    Line {
        /// From 1.
        number: usize,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// A decision came out otherwise than it was logged.
    #[error("line {number} is not what the inputs give:\nlogged   {logged}\nreplayed {replayed}")]
    Differs {
        /// From 1.
        number: usize,
        /// The line in the log.
        logged: String,
        /// The line as replayed.
        replayed: String,
    },
}

/// Replays `log` and writes it with all replies to `out`; returns how many replies the log had. An error at the first
/// that differs.
pub fn replay_log(log: impl BufRead, mut out: impl Write) -> Result<usize, ReplayError> {
    let mut lines = log.lines();
    let heading = lines.next().ok_or(ReplayError::Empty)??;
    let at = |number: usize| move |source: serde_json::Error| ReplayError::Line { number, source };
    let parsed: LogHeader = serde_json::from_str(&heading).map_err(at(1))?;
    writeln!(out, "{heading}")?;
    let (mut texts, mut given, mut events) = (Vec::new(), Vec::new(), Vec::new());
    for (text, number) in lines.zip(2..) {
        let text = text?;
        let line: Line = serde_json::from_str(&text).map_err(at(number))?;
        given.push(line.answer.is_some());
        events.push(line.event);
        texts.push(text);
    }
    let mut agreed = 0;
    let records = replay(parsed.into_profile(), events);
    for (((record, logged), given), number) in records.zip(texts).zip(given).zip(2..) {
        let replayed = line_of(&record).map_err(at(number))?;
        writeln!(out, "{replayed}")?;
        if given && replayed != logged {
            return Err(ReplayError::Differs { number, logged, replayed });
        }
        agreed += usize::from(given);
    }
    Ok(agreed)
}

/// A record as one line of a log, without a line feed.
pub fn line_of(record: &LogEntry<String>) -> Result<String, serde_json::Error> {
    serde_json::to_string(record)
}

/// Replays the log in a file or on standard input, and writes it with all replies to standard output.
fn main() -> ExitCode {
    let out = io::stdout().lock();
    let replayed = match std::env::args().nth(1) {
        Some(file) => {
            std::fs::File::open(file).map_err(Into::into).and_then(|f| replay_log(io::BufReader::new(f), out))
        }
        None => replay_log(io::stdin().lock(), out),
    };
    let mut said = io::stderr().lock();
    let (text, code) = match replayed {
        Ok(agreed) => (format!("{agreed} logged answers replayed, byte for byte"), ExitCode::SUCCESS),
        Err(error) => {
            let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
            (format!("{error}{cause}"), ExitCode::FAILURE)
        }
    };
    // If this can't be written either, the exit code still reports the failure.
    let _ = writeln!(said, "{text}");
    code
}
