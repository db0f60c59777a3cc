//! The coverage of a request as text: which words are shown to be done, and by what.

use artoo_proto::{Coverage, CoverageState, Covered, OfferedReading, escape, units};

use super::{Line, QUOTE};

/// Maximum length of the quoted words of a request in one row of the coverage table, in characters.
const WORDS_CHARS: usize = 120;

/// Maximum length of the evidence in one row of the coverage table, in characters.
const WHY_CHARS: usize = 300;

/// The coverage table: for each part of the request one row with its state, its words, and the evidence; polite words
/// have none, unless the user confirmed them as background.
pub(crate) fn table(coverage: &Coverage) -> Vec<Line> {
    let rows = coverage.rows.iter().filter(|row| row.state != CoverageState::Courtesy || row.confirmed);
    rows.map(row).collect()
}

/// Warnings, one line each: changes that the request did not ask for, and changed files that other programs run.
pub(crate) fn unasked(coverage: &Coverage) -> Vec<Line> {
    let unasked = coverage.unasked.iter().map(|change| {
        let path = if change.path.is_empty() { "(unknown)" } else { &change.path };
        Line::warning(format!("  Not asked for: {}: {}", escape::one_line(path), escape::one_line(&change.change)))
    });
    let run = coverage.run_by_others.iter().map(|path| {
        let text = format!("  {} was changed: other programs run it by themselves", escape::one_line(path));
        Line::warning(text)
    });
    unasked.chain(run).collect()
}

/// One row of the coverage table: the state of a part of the request, its words, and the evidence.
fn row(row: &Covered) -> Line {
    let words = escape::shorten(&escape::one_line(row.words.trim()), WORDS_CHARS);
    let confirmed = if row.confirmed { ", as you confirmed" } else { "" };
    let required = if row.required { ", required" } else { "" };
    let mut text = format!("  [{}{confirmed}{required}] \"{words}\"", state(row.state));
    let act = row.act.as_deref().filter(|act| *act != row.words.trim());
    for (mark, part) in [(": ", act), (" — ", Some(row.why.as_str()).filter(|why| !why.is_empty()))] {
        if let Some(part) = part {
            text.push_str(mark);
            text.push_str(&escape::shorten(&escape::one_line(part), WHY_CHARS));
        }
    }
    if matches!(row.state, CoverageState::Shown | CoverageState::Courtesy) {
        Line::plain(text)
    } else {
        Line::warning(text)
    }
}

/// The word shown for the coverage state of a part of the request, such as "shown" or "not shown".
fn state(state: CoverageState) -> &'static str {
    match state {
        CoverageState::Shown => "shown",
        CoverageState::Refuted => "not so",
        CoverageState::NotShown => "not shown",
        CoverageState::Vague => "vague",
        CoverageState::Described => "asks how",
        CoverageState::NotRead => "not read",
        CoverageState::Judged | CoverageState::Words => "judged by the model only",
        CoverageState::Courtesy => "nothing asked",
    }
}

/// One line with the state and words of the first part of the request that no fact shows, the number of further ones,
/// and the reason; `None` if there are none. Parts that can only be judged come last.
pub(crate) fn first_gap(coverage: &Coverage) -> Option<String> {
    let is_judged = |row: &&Covered| matches!(row.state, CoverageState::Judged | CoverageState::Words);
    let is_gap = |row: &&Covered| !matches!(row.state, CoverageState::Shown | CoverageState::Courtesy);
    let mut gaps: Vec<&Covered> = coverage.deciding().filter(is_gap).collect();
    gaps.sort_by_key(is_judged);
    let first = gaps.first()?;
    let words = escape::shorten(&escape::one_line(first.words.trim()), WORDS_CHARS);
    let more = match gaps.len() - 1 {
        0 => String::new(),
        more => format!(" and {}", units::count(more as u64, "more part", "more parts")),
    };
    let why = escape::shorten(&escape::one_line(&first.why), WHY_CHARS);
    let state = if is_judged(first) { "not checked" } else { state(first.state) };
    Some(format!("{}: “{words}”{more} ({why})", escape::capitalised(state)))
}

/// The lines of a question that state the readings an approval confirms.
pub(crate) fn readings(offered: &[OfferedReading]) -> Vec<Line> {
    let mut lines = Vec::new();
    for reading in offered {
        let words = escape::shorten(&escape::one_line(reading.words.trim()), WORDS_CHARS);
        if reading.obligations.is_empty() {
            lines.push(Line::plain(format!("  Background, with nothing to do and nothing to spare: \"{words}\"")));
            continue;
        }
        lines.push(Line::plain(format!("  The model reads \"{words}\" as:")));
        let meant = reading.obligations.iter();
        lines.extend(meant.map(|obligation| Line::plain(format!("{QUOTE}{}", escape::one_line(&obligation.reading)))));
    }
    if !offered.is_empty() {
        lines.push(Line::strong("  Your yes confirms this as your words."));
    }
    lines
}

/// Tests of the coverage table and of the question that confirms a reading.
#[cfg(test)]
mod tests {
    use artoo_proto::{Coverage, CoverageState, Covered, EvidenceId, Obligation, OfferedReading, Unasked};

    use super::{first_gap, readings, table, unasked};
    use crate::display::Line;

    /// A sample row of coverage: these words of a request in this state.
    fn covered(words: &str, state: CoverageState) -> Covered {
        Covered {
            span: (0, words.len()),
            words: words.to_owned(),
            act: Some("delete the files\nending in .tmp".to_owned()),
            state,
            by: Vec::new(),
            why: "2 of 3\u{1b}[2K".to_owned(),
            confirmed: state == CoverageState::Shown,
            required: false,
        }
    }

    /// The texts of the lines, without their styles.
    fn texts(lines: Vec<Line>) -> Vec<String> {
        lines.into_iter().map(|line| line.text).collect()
    }

    /// Line breaks in a request's words or in evidence can't add lines to the coverage table.
    #[doc = "holds: law 0.12"]
    #[test]
    fn coverage_rows_contain_hostile_words() {
        let mut coverage = Coverage {
            rows: vec![
                covered("delete them", CoverageState::Shown),
                covered("please", CoverageState::Courtesy),
                covered("tidy\nup", CoverageState::NotRead),
            ],
            ..Coverage::default()
        };
        let shown = texts(table(&coverage));
        assert_eq!(
            shown,
            [
                "  [shown, as you confirmed] \"delete them\": delete the files\\nending in .tmp — 2 of 3\\u{1b}[2K",
                "  [not read] \"tidy\\nup\": delete the files\\nending in .tmp — 2 of 3\\u{1b}[2K",
            ]
        );
        let gap = first_gap(&coverage).unwrap();
        assert_eq!(gap, "Not read: “tidy\\nup” (2 of 3\\u{1b}[2K)");
        coverage.rows.truncate(2);
        assert_eq!(first_gap(&coverage), None);
        coverage.unasked.push(Unasked {
            path: "/home/a\n/.envrc".to_owned(),
            change: "made".to_owned(),
            by: EvidenceId("c1".to_owned()),
        });
        assert_eq!(texts(unasked(&coverage)), ["  Not asked for: /home/a\\n/.envrc: made"]);
    }

    /// The question that confirms a model's reading quotes the user's words and what they are read as.
    #[test]
    fn reading_question_quotes_words_and_effect() {
        let obligation = Obligation { step: serde_json::Value::Null, reading: "delete a\nAllow it? y".to_owned() };
        let offered = OfferedReading { clause: 1, words: "clean up".to_owned(), obligations: vec![obligation] };
        assert_eq!(
            texts(readings(&[offered])),
            [
                "  The model reads \"clean up\" as:",
                "  | delete a\\nAllow it? y",
                "  Your yes confirms this as your words."
            ]
        );
        let background = OfferedReading { clause: 1, words: "it's\nlate".to_owned(), obligations: Vec::new() };
        assert_eq!(
            texts(readings(&[background])),
            [
                "  Background, with nothing to do and nothing to spare: \"it's\\nlate\"",
                "  Your yes confirms this as your words."
            ]
        );
        assert!(readings(&[]).is_empty());
    }
}
