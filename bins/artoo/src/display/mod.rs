//! What people and programs see: pure renderings, and the one writer that puts them on a stream.

pub(crate) mod json;
pub(crate) mod live;
pub(crate) mod result;
#[cfg(test)]
pub(crate) mod testing;
pub(crate) mod wrap;
pub(crate) mod writer;

use artoo_proto::{KeptOutput, escape};

/// Lines of an answer that a terminal shows; a longer answer is shown with its beginning and its end.
const SHOWN_MAX: usize = 1_000;

/// Lines of the beginning, and as many of the end, of an answer that is too long for a terminal.
const END_LINES: usize = 30;

/// Characters of one line of an answer on a terminal.
const LINE_CHARS: usize = 4_000;

/// Characters of a digest that name an item of evidence.
const ID_CHARS: usize = 12;

/// Lines quoted of what was said and not verified.
const QUOTED_MAX: usize = 8;

/// Stands before every line that is not ours.
pub(crate) const QUOTE: &str = "  | ";

/// Stands before the rest of such a line where a terminal is too narrow for it.
const QUOTE_GOES_ON: &str = "  : ";

/// How a line looks on a terminal that shows colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// The bare answer: neither coloured nor cut, for whoever copies it.
    Answer,
    /// As it is.
    Plain,
    /// Of lesser weight.
    Faint,
    /// A heading or a verdict.
    Strong,
    /// Something to look at.
    Warning,
}

/// One line, or several with the same look. Its text may come from anywhere: the writer escapes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) style: Style,
    pub(crate) text: String,
}

impl Line {
    pub(crate) fn answer(text: impl Into<String>) -> Self {
        Self { style: Style::Answer, text: text.into() }
    }

    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self { style: Style::Plain, text: text.into() }
    }

    pub(crate) fn faint(text: impl Into<String>) -> Self {
        Self { style: Style::Faint, text: text.into() }
    }

    pub(crate) fn strong(text: impl Into<String>) -> Self {
        Self { style: Style::Strong, text: text.into() }
    }

    pub(crate) fn warning(text: impl Into<String>) -> Self {
        Self { style: Style::Warning, text: text.into() }
    }
}

/// Text that nobody verified, each line marked, so that nothing in it can pass for a line of ours.
pub(crate) fn quoted(text: &str) -> Vec<Line> {
    text.lines().map(|line| Line::plain(format!("{QUOTE}{line}"))).collect()
}

/// The first lines of such a text, and how many more there are.
pub(crate) fn quoted_briefly(text: &str) -> Vec<Line> {
    let mut lines = quoted(text);
    let more = lines.len().saturating_sub(QUOTED_MAX);
    lines.truncate(QUOTED_MAX);
    lines.extend((more > 0).then(|| Line::plain(format!("  and {more} more lines, which --json shows"))));
    for line in &mut lines {
        line.text = escape::shorten(&line.text, LINE_CHARS);
    }
    lines
}

/// What a terminal shows of an answer: all of a short one, else its beginning and its end and where the rest is.
fn excerpt(answer: &[Line], whole: &[KeptOutput]) -> Vec<Line> {
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

#[cfg(test)]
mod tests {
    use artoo_proto::KeptOutput;

    use super::{END_LINES, Line, QUOTED_MAX, SHOWN_MAX, excerpt, quoted_briefly};

    fn numbered(lines: usize) -> String {
        (1..=lines).map(|number| number.to_string()).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_terminal_gets_all_of_a_short_answer_and_the_ends_of_a_long_one() {
        let short = excerpt(&[Line::answer(numbered(SHOWN_MAX))], &[]);
        assert_eq!(short.len(), SHOWN_MAX);
        let long = excerpt(&[Line::answer(numbered(SHOWN_MAX + 1))], &[]);
        assert_eq!(long.len(), 2 * END_LINES + 1);
        assert_eq!((long[0].text.as_str(), long[2 * END_LINES].text.as_str()), ("1", "1001"));
        assert!(long[END_LINES].text.contains("the answer has 1001 lines"), "{:?}", long[END_LINES]);
        let kept = KeptOutput { stream: "output".to_owned(), sha256: "ab".repeat(32), bytes: 5_000_000, left_out: 0 };
        let cut = excerpt(&[Line::answer("begin\n… [4,999,991 bytes left out] …\nend")], &[kept]);
        let remark = cut.iter().find(|line| line.text.contains("5000000 bytes")).expect("it says how long it is");
        assert!(remark.text.contains("artoo evidence show abababababab"), "{remark:?}");
        let wide = excerpt(&[Line::answer("x".repeat(100_000))], &[]);
        assert!(wide[0].text.chars().count() < 5_000, "one long line is cut as well");
    }

    #[test]
    fn what_was_not_verified_is_quoted_in_a_few_lines() {
        assert_eq!(quoted_briefly("a\nb").len(), 2);
        let brief = quoted_briefly(&numbered(2_400));
        assert_eq!(brief.len(), QUOTED_MAX + 1);
        assert_eq!(
            (brief[0].text.as_str(), brief[QUOTED_MAX].text.as_str()),
            ("  | 1", "  and 2392 more lines, which --json shows")
        );
    }
}
