//! Evaluates numbers: counts, sizes, and sums of the numbers at the start of lines.

use std::path::Path;

use super::{Answer, Entry, EntryKind, EvalError, FileSystem, Line, decimal, evaluate, text};
use crate::algebra::{Function, Query};

/// The count, sum or another number computed from all elements of a query.
pub(super) fn aggregate(of: &Query, function: Function, fs: &dyn FileSystem) -> Result<Answer, EvalError> {
    if let (Query::TextFile { path }, Function::Characters) = (of, function) {
        // For a whole file, it is known whether the last line ends with a newline.
        return Ok(Answer::Number(valid_characters(&text::content(Path::new(path), fs)?)));
    }
    let value = evaluate(of, fs)?;
    if matches!(function, Function::Count | Function::Any) {
        let count = match value {
            Answer::Files(files) => files.len(),
            Answer::Lines(lines) => lines.len(),
            Answer::Rows(rows) => rows.len(),
            Answer::Groups(groups) => groups.len(),
            Answer::Processes(processes) => processes.len(),
            _ => return Err(EvalError::Meaningless),
        };
        let is_any = function == Function::Any;
        return Ok(if is_any { Answer::Truth(count > 0) } else { Answer::Number(count as u64) });
    }
    match (function, value) {
        (_, Answer::Files(files)) => of_files(&files, function).map(Answer::Number),
        (Function::Words, Answer::Lines(lines)) => {
            Ok(Answer::Number(lines.iter().map(|line| text::count_words(&line.text) as u64).sum()))
        }
        (Function::Characters, Answer::Lines(lines)) => {
            Ok(Answer::Number(lines.iter().map(|line| valid_characters(&line.text) + 1).sum()))
        }
        (_, Answer::Lines(lines)) => of_numbers(&lines, function).map(Answer::Decimal),
        _ => Err(EvalError::Meaningless),
    }
}

/// The count, total size or another number computed from regular files.
pub(super) fn of_files(files: &[Entry], function: Function) -> Result<u64, EvalError> {
    let bytes = files.iter().filter(|entry| entry.kind == EntryKind::File).map(|entry| entry.bytes);
    let sum = bytes.clone().fold(0, u64::saturating_add);
    match function {
        Function::Count => Ok(files.len() as u64),
        Function::TotalBytes => Ok(sum),
        Function::AverageBytes => Ok(sum.checked_div(bytes.count() as u64).unwrap_or(0)),
        Function::LargestBytes => Ok(bytes.max().unwrap_or(0)),
        Function::SmallestBytes => Ok(bytes.min().unwrap_or(0)),
        _ => Err(EvalError::Meaningless),
    }
}

/// The sum, average or another number of the numbers at the start of lines, in billionths.
fn of_numbers(lines: &[Line], function: Function) -> Result<i128, EvalError> {
    let numbers: Vec<i128> = lines.iter().filter_map(|line| decimal::leading(&line.text)).collect();
    let sum = numbers.iter().fold(0, |sum: i128, number| sum.saturating_add(*number));
    let found = match function {
        Function::Sum => return Ok(sum),
        Function::Average => sum.checked_div(numbers.len() as i128),
        Function::Minimum => numbers.into_iter().min(),
        Function::Maximum => numbers.into_iter().max(),
        _ => return Err(EvalError::Meaningless),
    };
    found.ok_or(EvalError::NoNumber)
}

/// The number of UTF-8 characters in bytes; invalid bytes are not counted.
fn valid_characters(bytes: &[u8]) -> u64 {
    bytes.utf8_chunks().map(|chunk| chunk.valid().chars().count() as u64).sum()
}
