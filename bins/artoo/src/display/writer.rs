//! The one writer to standard output and standard error: everything escaped, nothing in between, a closed pipe quiet.

use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use artoo_proto::escape;
use serde_json::Value;

use super::{Line, Style};
use crate::settings::Variables;

/// Lines kept back while a question stands on the screen: more than a task says in a person's time to answer.
const HELD_MAX: usize = 1_000;

/// Both streams, shared by everything that shows something.
///
/// A stream that is closed at the other end takes no more, and that is no failure: the task goes on and its exit code
/// says how it ended.
#[derive(Debug, Clone)]
pub(crate) struct Screen {
    streams: Arc<Mutex<Streams>>,
    is_live: bool,
}

#[derive(Debug)]
struct Streams {
    colour: bool,
    /// Lines that wait for the end of a question.
    held: Option<Vec<Line>>,
}

impl Screen {
    /// Live lines and colour only where standard error is a terminal; no colour where `NO_COLOR` is set.
    pub(crate) fn new(variables: &Variables) -> Self {
        let is_terminal = io::stderr().is_terminal();
        let is_dumb = variables.raw("TERM").is_some_and(|term| term == "dumb");
        let colour = is_terminal && !is_dumb && variables.raw("NO_COLOR").is_none();
        Self { streams: Arc::new(Mutex::new(Streams { colour, held: None })), is_live: is_terminal }
    }

    /// Whether what happens is shown while it happens.
    pub(crate) fn is_live(&self) -> bool {
        self.is_live
    }

    /// Puts the answer, and nothing else, on standard output.
    pub(crate) fn answer(&self, lines: &[Line]) {
        let _streams = self.lock();
        let text: String = lines.iter().map(|line| format!("{}\n", escape::visible(&line.text))).collect();
        write(&mut io::stdout().lock(), &text);
    }

    /// One JSON value as one line on standard output, with nothing in it that a terminal would act on.
    pub(crate) fn json(&self, value: &Value) {
        let _streams = self.lock();
        write(&mut io::stdout().lock(), &format!("{}\n", ascii_where_hostile(&value.to_string())));
    }

    /// Lines about the task on standard error.
    pub(crate) fn tell(&self, lines: &[Line]) {
        let mut streams = self.lock();
        for line in lines {
            streams.tell(line);
        }
    }

    /// Lines that only somebody who watches wants to see.
    pub(crate) fn live(&self, lines: &[Line]) {
        if self.is_live {
            self.tell(lines);
        }
    }

    /// Shows a question; until [`Self::answered`] other lines wait, so that none can pass for a part of it.
    pub(crate) fn ask(&self, lines: &[Line], prompt: &str) {
        let mut streams = self.lock();
        for line in lines {
            streams.show(line);
        }
        write(&mut io::stderr().lock(), prompt);
        streams.held.get_or_insert_with(Vec::new);
    }

    /// The question is over: what waited is shown.
    pub(crate) fn answered(&self) {
        let mut streams = self.lock();
        for line in streams.held.take().unwrap_or_default() {
            streams.show(&line);
        }
    }

    /// A line of the log.
    pub(crate) fn log(&self, text: &str) {
        // A log line may come from a panic inside this writer, which then still holds its lock.
        if let Ok(mut streams) = self.streams.try_lock() {
            streams.tell(&Line::plain(text));
        }
    }

    /// A line of artoo's own that must be seen.
    pub(crate) fn warn(&self, text: &'static str) {
        match self.streams.try_lock() {
            Ok(mut streams) => streams.tell(&Line::warning(text)),
            Err(_) => write(&mut io::stderr().lock(), &format!("{text}\n")),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Streams> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Streams {
    fn tell(&mut self, line: &Line) {
        match &mut self.held {
            Some(held) if held.len() < HELD_MAX => held.push(line.clone()),
            Some(_) => {}
            None => self.show(line),
        }
    }

    fn show(&self, line: &Line) {
        let text = escape::visible(&line.text);
        let code = match (self.colour, line.style) {
            (false, _) | (true, Style::Plain) => None,
            (true, Style::Faint) => Some("2"),
            (true, Style::Strong) => Some("1"),
            (true, Style::Warning) => Some("33"),
        };
        let text = match code {
            Some(code) => format!("\u{1b}[{code}m{text}\u{1b}[0m\n"),
            None => format!("{text}\n"),
        };
        write(&mut io::stderr().lock(), &text);
    }
}

/// Whoever closed the other end does not want the rest.
fn write(stream: &mut dyn Write, text: &str) {
    drop(stream.write_all(text.as_bytes()).and_then(|()| stream.flush()));
}

/// JSON allows control characters beyond C0, and characters that reorder text, inside strings; here they are `\u` escapes.
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::ascii_where_hostile;

    #[test]
    fn h2_json_holds_no_character_that_a_terminal_acts_on_and_still_says_the_same() {
        let value = json!({"name\u{9b}": "a\u{1b}]0;x\u{7}\u{202e}b\u{7f}\u{e0041}é漢\u{200b}\"\\n"});
        let line = ascii_where_hostile(&value.to_string());
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), value);
        assert_eq!(artoo_proto::escape::one_line(&line), line);
        assert!(line.contains('é') && line.contains('漢'), "ordinary letters stay: {line}");
    }
}
