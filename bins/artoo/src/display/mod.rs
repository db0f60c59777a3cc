//! Output for people and programs: pure rendering, and one writer for both streams.

pub(crate) mod bar;
pub(crate) mod coverage;
pub(crate) mod json;
pub(crate) mod live;
pub(crate) mod output;
pub(crate) mod result;
#[cfg(test)]
pub(crate) mod testing;
pub(crate) mod user_format;
pub(crate) mod wrap;
pub(crate) mod writer;

use artoo_proto::{KeptOutput, escape, units};

/// Maximum number of lines of an answer on a terminal; a longer answer is shown as its beginning and its end.
#[doc(alias = "limit")]
const SHOWN_MAX: usize = 1_000;

/// Number of lines shown from the beginning, and as many from the end, of an answer that is too long for a terminal.
const END_LINES: usize = 30;

/// Maximum length of one line of an answer on a terminal, in characters; the rest is left out.
const LINE_CHARS: usize = 4_000;

/// Number of characters of a SHA-256 that are shown to identify a stored output.
const ID_CHARS: usize = 12;

/// Maximum number of lines that are quoted of an unverified output.
const QUOTED_MAX: usize = 8;

/// Prefix of every line of quoted text, so that text of a model or program can't imitate lines of artoo.
pub(crate) const QUOTE: &str = "  | ";

/// Prefix of the continuation of a wrapped quoted line.
const QUOTE_GOES_ON: &str = "  : ";

/// Style of a line on a terminal, which decides its colour; a warning is shown even if output is quiet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// Bold and not wrapped, so that it can be copied: the answer itself.
    Answer,
    /// Neither coloured nor emphasised.
    Plain,
    /// Dimmed: secondary information.
    Faint,
    /// Bold: a heading or a verdict.
    Strong,
    /// Green: a verdict that code vouches for.
    Good,
    /// Yellow: a warning.
    Warning,
}

/// One or more lines with one style. The text may be untrusted: the writer escapes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) style: Style,
    pub(crate) text: String,
}

impl Line {
    /// A line of an answer to the user's request.
    pub(crate) fn answer(text: impl Into<String>) -> Self {
        Self { style: Style::Answer, text: text.into() }
    }

    /// A line without colour or emphasis.
    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self { style: Style::Plain, text: text.into() }
    }

    /// A line in faint letters, for what matters less.
    pub(crate) fn faint(text: impl Into<String>) -> Self {
        Self { style: Style::Faint, text: text.into() }
    }

    /// A line in bold letters.
    pub(crate) fn strong(text: impl Into<String>) -> Self {
        Self { style: Style::Strong, text: text.into() }
    }

    /// A line in the colour of success.
    pub(crate) fn good(text: impl Into<String>) -> Self {
        Self { style: Style::Good, text: text.into() }
    }

    /// A warning, which is shown even if output is quiet.
    pub(crate) fn warning(text: impl Into<String>) -> Self {
        Self { style: Style::Warning, text: text.into() }
    }
}

/// Unverified text, each line with a prefix so that it can't imitate artoo's own lines.
pub(crate) fn quoted(text: &str) -> Vec<Line> {
    text.lines().map(|line| Line::plain(format!("{QUOTE}{line}"))).collect()
}

/// The first lines of an unverified text, each with the quote prefix, and a line that says how many follow.
pub(crate) fn quoted_briefly(text: &str) -> Vec<Line> {
    let mut lines = quoted(text);
    let more = lines.len().saturating_sub(QUOTED_MAX);
    let has_more = more > 0;
    lines.truncate(QUOTED_MAX);
    let more = units::count(more as u64, "more line", "more lines");
    lines.extend(has_more.then(|| Line::plain(format!("  and {more}, which --json shows"))));
    for line in &mut lines {
        line.text = escape::shorten(&line.text, LINE_CHARS);
    }
    lines
}

/// The lines of an answer that a terminal shows: all of it if it is short and `whole` (stored outputs that it has only
/// parts of) is empty, otherwise its first and last lines, and how to see the rest.
fn excerpt(answer: &[Line], whole: &[&KeptOutput]) -> Vec<Line> {
    let split = |line: &Line| -> Vec<Line> {
        let style = line.style;
        line.text.split('\n').map(|text| Line { style, text: escape::shorten(text, LINE_CHARS) }).collect()
    };
    let mut lines: Vec<Line> = answer.iter().flat_map(split).collect();
    if lines.len() <= SHOWN_MAX && whole.is_empty() {
        return lines;
    }
    let (all, shown_by) = match whole {
        [] => (format!("{} lines", lines.len()), String::new()),
        [first, ..] => {
            let bytes: u64 = whole.iter().map(|kept| kept.bytes).sum();
            let id = first.sha256.get(..ID_CHARS).unwrap_or(&first.sha256);
            (format!("{bytes} bytes"), format!(", artoo evidence show {id} shows it"))
        }
    };
    let end = lines.split_off(lines.len() - END_LINES.min(lines.len() / 2));
    lines.truncate(END_LINES);
    let remark = format!("  … the answer has {all}, these are its ends; > FILE gets all of it{shown_by} …");
    lines.push(Line::warning(remark));
    lines.extend(end);
    lines
}

/// Tests of shortening long answers and quoting unverified text.
#[cfg(test)]
mod tests {
    use artoo_proto::KeptOutput;

    use super::{END_LINES, Line, QUOTED_MAX, SHOWN_MAX, excerpt, quoted_briefly};

    /// A text of this many lines: the numbers from 1.
    fn numbered(lines: usize) -> String {
        (1..=lines).map(|number| number.to_string()).collect::<Vec<_>>().join("\n")
    }

    /// Of an answer with too many lines the terminal shows the first and the last ones.
    #[test]
    fn terminal_shows_ends_of_long_answers() {
        let short = excerpt(&[Line::answer(numbered(SHOWN_MAX))], &[]);
        assert_eq!(short.len(), SHOWN_MAX);
        let long = excerpt(&[Line::answer(numbered(SHOWN_MAX + 1))], &[]);
        assert_eq!(long.len(), 2 * END_LINES + 1);
        assert_eq!((long[0].text.as_str(), long[2 * END_LINES].text.as_str()), ("1", "1001"));
        assert!(long[END_LINES].text.contains("the answer has 1001 lines"), "{:?}", long[END_LINES]);
        let kept = KeptOutput { stream: "output".to_owned(), sha256: "ab".repeat(32), bytes: 5_000_000, left_out: 0 };
        let cut = excerpt(&[Line::answer("begin\n… [4,999,991 bytes left out] …\nend")], &[&kept]);
        let remark = cut.iter().find(|line| line.text.contains("5000000 bytes")).expect("it says how long it is");
        assert!(remark.text.contains("artoo evidence show abababababab"), "{remark:?}");
        let wide = excerpt(&[Line::answer("x".repeat(100_000))], &[]);
        assert!(wide[0].text.chars().count() < 5_000, "one long line is cut as well");
    }

    #[test]
    fn unverified_text_is_quoted_and_shortened() {
        assert_eq!(quoted_briefly("a\nb").len(), 2);
        let brief = quoted_briefly(&numbered(2_400));
        assert_eq!(brief.len(), QUOTED_MAX + 1);
        assert_eq!(
            (brief[0].text.as_str(), brief[QUOTED_MAX].text.as_str()),
            ("  | 1", "  and 2,392 more lines, which --json shows")
        );
    }
}
