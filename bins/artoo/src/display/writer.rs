//! The only writer to standard output and standard error: escapes everything, keeps lines whole, ignores a closed pipe.

use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use artoo_proto::{Answer, KeptOutput, escape};
use artoo_tools::EvidenceStore;
use rustix::termios::tcgetwinsize;
use serde_json::Value;

use super::result::Questions;
use super::{Line, Style, excerpt, json, wrap};

/// Maximum number of output lines held back while a question or the prompt is open; further lines are dropped.
const HELD_MAX: usize = 1_000;

/// Maximum width of the status line, in columns.
const STATUS_MAX_CHARS: usize = 100;

/// Interval at which the status is written again as a new line, on a screen whose lines are not redrawn.
const STILL_EVERY: Duration = Duration::from_secs(10);

/// Control sequence that empties the line of the cursor, and moves the cursor to its start.
const CLEAR_LINE: &str = "\r\u{1b}[K";

/// Standard output and standard error, shared by all code that shows something.
///
/// A closed pipe is not a failure: the task continues, and its exit code says how it ended. Any other error of standard
/// output is stored for [`Screen::unwritten`].
#[derive(Debug, Clone)]
pub(crate) struct Screen {
    streams: Arc<Mutex<Streams>>,
    /// Lock that is held while a question is open, so that only one question is open at a time.
    turn: Arc<tokio::sync::Mutex<()>>,
    is_live: bool,
    /// Whether lines can be overwritten in place.
    is_redrawn: bool,
    is_quiet: bool,
}

/// The state of both output streams.
#[derive(Debug)]
struct Streams {
    has_colour: bool,
    /// Lines held back until the open question or typed line ends; `None` if neither is open.
    held: Option<Vec<Line>>,
    /// The first error of writing to standard output, if any.
    unwritten: Option<io::Error>,
    /// Whether a status line stands below the last line; it is removed before anything else is written.
    has_status: bool,
    /// When the status was last written as a line.
    still_at: Option<Instant>,
    /// Questions of the running task.
    questions: Questions,
}

/// One of the two output streams: standard output or standard error.
#[derive(Debug, Clone, Copy)]
enum Stream {
    Out,
    Err,
}

impl Screen {
    /// Creates a screen. Progress lines, colour and wrapping appear on a terminal only. A quiet screen shows only
    /// answers, questions and warnings; a plain one overwrites no line.
    pub(crate) fn new(has_colour: bool, is_quiet: bool, is_plain: bool) -> Self {
        let is_live = io::stderr().is_terminal() && !is_quiet;
        let is_redrawn = is_live && !is_plain;
        let streams = Arc::new(Mutex::new(Streams {
            has_colour,
            held: None,
            unwritten: None,
            has_status: false,
            still_at: None,
            questions: Questions::default(),
        }));
        Self { streams, turn: Arc::default(), is_live, is_redrawn, is_quiet }
    }

    /// Whether only answers, questions and warnings are shown.
    pub(crate) fn is_quiet(&self) -> bool {
        self.is_quiet
    }

    /// Whether progress lines are shown.
    pub(crate) fn is_live(&self) -> bool {
        self.is_live
    }

    /// Whether colour may be used for lines on a terminal.
    pub(crate) fn has_colour(&self) -> bool {
        self.lock().has_colour
    }

    /// Writes a task's answers to standard output: on a terminal the lines `shown` (long ones shortened), elsewhere the
    /// exact texts.
    pub(crate) fn deliver(&self, shown: &[Line], answers: &[Answer], evidence: &EvidenceStore) {
        if Stream::Out.columns().is_some() {
            let whole: Vec<&KeptOutput> = answers.iter().filter_map(|answer| answer.whole.as_ref()).collect();
            return self.answer(&excerpt(shown, &whole));
        }
        let mut streams = self.lock();
        if let Err(error) = write_exact(answers, evidence, &mut io::stdout().lock()) {
            streams.unwritten.get_or_insert(error);
        }
    }

    /// Writes lines to standard output.
    pub(crate) fn answer(&self, lines: &[Line]) {
        self.lock().show(Stream::Out, lines);
    }

    /// Returns and clears the first error of writing to standard output; a closed pipe is not an error.
    pub(crate) fn unwritten(&self) -> Option<io::Error> {
        self.lock().unwritten.take().filter(|error| error.kind() != io::ErrorKind::BrokenPipe)
    }

    /// Writes a JSON value as one line to standard output, with control characters escaped.
    pub(crate) fn json(&self, value: &Value) {
        self.json_line(&value.to_string());
    }

    /// Writes a line of JSON text to standard output, with control characters escaped.
    pub(crate) fn json_line(&self, json: &str) {
        self.lock().write(Stream::Out, &format!("{}\n", ascii_where_hostile(json)));
    }

    /// Writes a subcommand's result to standard output: as JSON with the name of its schema, which is not stable yet, or
    /// as text.
    pub(crate) fn report(&self, is_json: bool, schema: &str, mut value: Value, lines: &[Line]) {
        if !is_json {
            return self.answer(lines);
        }
        json::set(&mut value, "schema", schema.into());
        json::set(&mut value, "stable", false.into());
        self.json(&value);
    }

    /// Writes lines to standard error; with `--quiet` only the warnings among them.
    pub(crate) fn tell(&self, lines: &[Line]) {
        let is_wanted = |line: &&Line| !self.is_quiet || line.style == Style::Warning;
        self.lock().tell(lines.iter().filter(is_wanted));
    }

    /// Writes lines to standard error, even with `--quiet`.
    pub(crate) fn insist(&self, lines: &[Line]) {
        self.lock().tell(lines);
    }

    /// Writes progress lines, on a terminal only.
    pub(crate) fn live(&self, lines: &[Line]) {
        if self.is_live {
            self.tell(lines);
        }
    }

    /// Replaces the text of the status line, which is overwritten in place until something else is written. Where lines
    /// are not redrawn it is written as a line at first, and then after every ten seconds. Does nothing off a terminal,
    /// nor while a question or the prompt is open.
    pub(crate) fn status(&self, text: &str) {
        let mut streams = self.lock();
        if !self.is_live || streams.held.is_some() {
            return;
        }
        if text.is_empty() {
            streams.clear_status();
            streams.still_at = None;
            return;
        }
        let columns = Stream::Err.columns().unwrap_or(STATUS_MAX_CHARS).min(STATUS_MAX_CHARS).saturating_sub(1);
        let row = wrap::shorten(&escape::one_line(text), columns, 0);
        if !self.is_redrawn {
            if streams.still_at.is_none_or(|at| at.elapsed() >= STILL_EVERY) {
                streams.still_at = Some(Instant::now());
                streams.write(Stream::Err, &format!("{row}\n"));
            }
            return;
        }
        let (begin, end) = if streams.has_colour { ("\u{1b}[2m", "\u{1b}[0m") } else { ("", "") };
        let before = if std::mem::take(&mut streams.has_status) { CLEAR_LINE } else { "" };
        streams.write(Stream::Err, &format!("{before}{begin}{row}{end}"));
        streams.has_status = true;
    }

    /// Whether lines of the terminal can be overwritten in place; false with `--plain` and off a terminal.
    pub(crate) fn is_redrawn(&self) -> bool {
        self.is_redrawn
    }

    /// Waits until no question is open; no other question can be asked until the returned guard is dropped.
    pub(crate) async fn turn(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.turn.lock().await
    }

    /// Shows a question and holds other lines back until [`Self::answered`].
    pub(crate) fn ask(&self, lines: &[Line], prompt: &'static str) {
        let mut streams = self.lock();
        streams.show(Stream::Err, lines);
        streams.write(Stream::Err, prompt);
        streams.held.get_or_insert_default();
    }

    /// Counts a question of the running task that the user has answered; `is_denied` if the answer was a denial.
    pub(crate) fn count_question(&self, is_denied: bool) {
        let questions = &mut self.lock().questions;
        questions.asked += 1;
        questions.denied += u64::from(is_denied);
    }

    /// Returns the numbers of questions asked and denied since the last call, and resets them to 0.
    pub(crate) fn take_questions(&self) -> Questions {
        std::mem::take(&mut self.lock().questions)
    }

    /// Holds output lines back while a line is typed at the prompt, until [`Self::answered`].
    pub(crate) fn hold(&self) {
        self.lock().held.get_or_insert_default();
    }

    /// Ends a question or a typed line and shows the lines held back. `is_open` says that no line break was typed, so
    /// one is written.
    pub(crate) fn answered(&self, is_open: bool) {
        let mut streams = self.lock();
        if is_open {
            streams.write(Stream::Err, "\n");
        }
        let held = streams.held.take().unwrap_or_default();
        streams.show(Stream::Err, &held);
    }

    /// Writes a control sequence to the terminal.
    pub(crate) fn control(&self, code: &'static str) {
        self.lock().write(Stream::Err, code);
    }

    /// Writes a line of the log to standard error, unless the screen is locked.
    pub(crate) fn log(&self, text: &str) {
        // A log line may come from a panic inside this writer, which then still holds its lock.
        if let Ok(mut streams) = self.streams.try_lock() {
            streams.tell(&[Line::plain(text)]);
        }
    }

    /// Writes a warning to standard error, even while the screen is locked.
    pub(crate) fn warn(&self, text: &'static str) {
        match self.streams.try_lock() {
            Ok(mut streams) => streams.tell(&[Line::warning(text)]),
            Err(_) => drop(Stream::Err.write(format!("{text}\n").as_bytes())),
        }
    }

    /// Locks the state of the output streams, even after a panic in another thread.
    fn lock(&self) -> MutexGuard<'_, Streams> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Streams {
    /// Writes lines to standard error, or stores them to be shown later while a question or the prompt is open.
    fn tell<'a>(&mut self, lines: impl IntoIterator<Item = &'a Line>) {
        match &mut self.held {
            Some(held) => {
                let room = HELD_MAX.saturating_sub(held.len());
                held.extend(lines.into_iter().take(room).cloned());
            }
            None => self.show(Stream::Err, lines),
        }
    }

    /// Removes the status line from the terminal, if one is shown.
    fn clear_status(&mut self) {
        if std::mem::take(&mut self.has_status) {
            self.write(Stream::Err, CLEAR_LINE);
        }
    }

    /// Removes the status line and writes a text to a stream; the first error on standard output is stored.
    fn write(&mut self, stream: Stream, text: &str) {
        self.clear_status();
        if let (Stream::Out, Err(error)) = (stream, stream.write(text.as_bytes())) {
            self.unwritten.get_or_insert(error);
        }
    }

    /// Writes lines to a stream: escaped, and on a terminal wrapped and coloured.
    fn show<'a>(&mut self, stream: Stream, lines: impl IntoIterator<Item = &'a Line>) {
        let columns = stream.columns();
        let text: String = lines.into_iter().map(|line| self.shown(line, columns)).collect();
        if !text.is_empty() {
            self.write(stream, &text);
        }
    }

    /// The text to write for a line: escaped, and on a terminal wrapped and coloured; `columns` is `None` off a
    /// terminal.
    fn shown(&self, line: &Line, columns: Option<usize>) -> String {
        let text = escape::visible(&line.text);
        let Some(columns) = columns else { return format!("{text}\n") };
        let code = match line.style {
            Style::Plain => None,
            Style::Faint => Some("2"),
            Style::Strong | Style::Answer => Some("1"),
            Style::Good => Some("32"),
            Style::Warning => Some("33"),
        };
        let code = code.filter(|_| self.has_colour);
        let shown = |row: String| match code {
            Some(code) => format!("\u{1b}[{code}m{row}\u{1b}[0m\n"),
            None => format!("{row}\n"),
        };
        let columns = if line.style == Style::Answer { usize::MAX } else { columns };
        wrap::rows(&text, columns).into_iter().map(shown).collect()
    }
}

/// Writes answers with exact values, control characters escaped. Shortened answers are read whole from the evidence
/// store. Several answers get labels.
pub(crate) fn write_exact(answers: &[Answer], evidence: &EvidenceStore, out: &mut impl Write) -> io::Result<()> {
    let mut out = Escaped { out, torn: Vec::new(), ended: true };
    for answer in answers {
        match &answer.whole {
            Some(whole) => {
                if answers.len() > 1 && !answer.label.is_empty() {
                    writeln!(out, "{}:", answer.label)?;
                }
                evidence.copy(&whole.sha256, &mut out).map_err(io::Error::other)?;
            }
            None if answers.len() > 1 => out.write_all(answer.labelled().as_bytes())?,
            None => out.write_all(answer.text.trim_end_matches('\n').as_bytes())?,
        }
        out.end()?;
    }
    Ok(())
}

/// A writer that passes bytes on to another and escapes control characters in them.
struct Escaped<'a, W> {
    out: &'a mut W,
    /// Bytes of an incomplete UTF-8 character at the end of the last write.
    torn: Vec<u8>,
    /// Whether the last write ended with a line break, so that the next write begins a line.
    ended: bool,
}

impl<W: Write> Escaped<'_, W> {
    /// Ends an answer: writes the bytes of an incomplete character at its end, and a line break if none ended it.
    fn end(&mut self) -> io::Result<()> {
        let torn = String::from_utf8_lossy(&std::mem::take(&mut self.torn)).into_owned();
        self.out.write_all(escape::visible(&torn).as_bytes())?;
        if !std::mem::replace(&mut self.ended, true) {
            self.out.write_all(b"\n")?;
        }
        self.out.flush()
    }
}

impl<W: Write> Write for Escaped<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.torn.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.torn) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            // Bytes that are not valid UTF-8 are written as replacement characters.
            _ => self.torn.len(),
        };
        let rest = self.torn.split_off(whole);
        let text = std::mem::replace(&mut self.torn, rest);
        self.out.write_all(escape::visible(&String::from_utf8_lossy(&text)).as_bytes())?;
        self.ended = if text.is_empty() { self.ended } else { text.ends_with(b"\n") };
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Stream {
    /// Writes bytes to the stream and flushes it.
    fn write(self, bytes: &[u8]) -> io::Result<()> {
        let put = |stream: &mut dyn Write| stream.write_all(bytes).and_then(|()| stream.flush());
        match self {
            Self::Out => put(&mut io::stdout().lock()),
            Self::Err => put(&mut io::stderr().lock()),
        }
    }

    /// The terminal's width in columns; `None` off a terminal, unlimited if unknown.
    fn columns(self) -> Option<usize> {
        let size = match self {
            Self::Out => tcgetwinsize(io::stdout()),
            Self::Err => tcgetwinsize(io::stderr()),
        };
        size.ok().map(|size| if size.ws_col == 0 { usize::MAX } else { usize::from(size.ws_col) })
    }
}

/// Replaces characters that control a terminal or reorder text by JSON escapes (`\u…`); the JSON value stays the same.
fn ascii_where_hostile(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let mut one = [0; 4];
    let mut units = [0; 2];
    for c in json.chars() {
        let is_hostile = !c.is_ascii_graphic() && c != ' ' && {
            let text: &str = c.encode_utf8(&mut one);
            escape::one_line(text) != text
        };
        if is_hostile {
            out.extend(c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            out.push(c);
        }
    }
    out
}

/// Tests of the escapes in JSON output.
#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::ascii_where_hostile;

    /// Control characters in JSON output are escaped so that the parsed value stays the same.
    #[doc = "holds: design H2"]
    #[test]
    fn json_escapes_terminal_controls_without_data_loss() {
        let value = json!({"name\u{9b}": "a\u{1b}]0;x\u{7}\u{202e}b\u{7f}\u{e0041}é漢\u{200b}\"\\n"});
        let line = ascii_where_hostile(&value.to_string());
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), value);
        assert_eq!(artoo_proto::escape::one_line(&line), line);
        assert!(line.contains('é') && line.contains('漢'), "ordinary letters stay: {line}");
    }
}
