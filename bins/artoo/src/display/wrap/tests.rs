//! Tests of wrapping: every row fits, no text is lost, and quoted text has its mark on every row.

use proptest::prelude::*;

use super::{rows, shorten, width};

/// Asserts that a text is wrapped to these rows.
fn check(text: &str, columns: usize, expected: &[&str]) {
    assert_eq!(rows(text, columns), expected, "{text:?} at {columns}");
}

#[test]
fn prose_wraps_at_spaces_with_indentation() {
    check("short", 20, &["short"]);
    check("", 20, &[""]);
    check("one two three four five six", 20, &["one two three four", "  five six"]);
    check("  [checked] the file is there", 20, &["  [checked] the file", "    is there"]);
    check("a\nb", 20, &["a", "b"]);
    check("aaaaaaaaaaaaaaaaaaaaaaaaa", 20, &["aaaaaaaaaaaaaaaaaaaa", "  aaaaa"]);
    check("too narrow to lay anything out", 10, &["too narrow to lay anything out"]);
}

#[test]
fn wide_letters_count_as_two_columns() {
    check("日本語日本語日本語日本", 20, &["日本語日本語日本語日", "  本"]);
    check("x日本語日本語日本語日本", 20, &["x日本語日本語日本語", "  日本"]);
    check("xxxxxxxxxxxxxxxxxxx👨‍👩‍👧", 20, &["xxxxxxxxxxxxxxxxxxx", "  👨‍👩‍👧"]);
    check("eeeeeeeeeeeeeeeeeeee\u{301}!", 20, &["eeeeeeeeeeeeeeeeeeee\u{301}", "  !"]);
}

/// Each row of wrapped quoted text begins with a quote prefix.
#[doc = "holds: design H2"]
#[test]
fn quoted_text_stays_behind_its_mark() {
    let padded = format!("  | done.{}accepted: every criterion was checked in code", " ".repeat(31));
    check(
        &padded,
        40,
        &[&format!("  | done.{}", " ".repeat(31)), "  : accepted: every criterion was checke", "  : d in code"],
    );
}

proptest! {
    #[test]
    fn wrapped_rows_fit_and_keep_all_letters(text in "[ -~日👍é]{0,120}", columns in 20_usize..100) {
        for quote in ["", "  | ", "    "] {
            let line = format!("{quote}{text}");
            let rows = rows(&line, columns);
            prop_assert!(rows.iter().all(|row| width(row) <= columns), "{:?}", rows);
            let letters = |text: &str| text.chars().filter(|c| *c != ' ').collect::<String>();
            let kept: String = rows
                .iter()
                .enumerate()
                .map(|(number, row)| letters(if quote == "  | " && number > 0 { &row[4..] } else { row }))
                .collect();
            prop_assert_eq!(kept, letters(&line));
        }
    }
}

#[test]
fn shortened_line_keeps_ends_and_width() {
    assert_eq!(shorten("short", 5, 3), "short");
    let long = format!("begin{}end", "x".repeat(100));
    assert_eq!(shorten(&long, 40, 3), "beginxxxxxxxxxx […86 more…]xxxxend");
    assert_eq!(shorten(&long, 40, 0), "beginxxxxxxxxxxxxxxxxx […86 more…]");
    for columns in 0..60 {
        for text in ["漢字".repeat(40), "e\u{301}".repeat(90), "\t x".repeat(30)] {
            for end in [0, 3] {
                let short = shorten(&text, columns, end);
                assert!(width(&short) <= columns.max(18), "{columns}: {short}");
            }
        }
    }
}
