//! Turns answers to questions into text.

use crate::eval::{Answer, decimal};

/// The answer as text: a number, one element of a list per line, yes or no.
pub(super) fn text(answer: &Answer) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match answer {
        Answer::Files(files) => listed(files.iter().map(|entry| entry.shown())),
        Answer::Lines(lines) => listed(lines.iter().map(|line| text(&line.shown()))),
        Answer::Rows(rows) => listed(rows.iter().map(|row| format!("{}\t{}", row.value, row.of.shown()))),
        Answer::Groups(groups) => listed(groups.iter().map(|(name, number)| format!("{number}\t{}", text(name)))),
        Answer::Processes(processes) => {
            listed(processes.iter().map(|process| format!("{}\t{}", process.id, text(&process.name))))
        }
        Answer::Number(number) => number.to_string(),
        Answer::Decimal(number) => decimal::shown(*number),
        Answer::Text(text) => text.clone(),
        Answer::Truth(true) => "yes".to_owned(),
        Answer::Truth(false) => "no".to_owned(),
    }
}

/// The elements of a list, one per line, or "none".
fn listed(lines: impl Iterator<Item = String>) -> String {
    let lines: Vec<String> = lines.collect();
    if lines.is_empty() { "none".to_owned() } else { lines.join("\n") }
}
