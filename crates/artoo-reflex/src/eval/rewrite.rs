//! Evaluates transformations of text, and parts of paths.

use std::path::Path;

use super::{Entry, EvalError, Line, files};
use crate::algebra::{NamePart, Rewrite};
use crate::ensure::ensure;

/// Columns between tab stops.
const TAB_STOP: usize = 8;

/// Every occurrence of a text in lines, each as a line of its own.
pub(super) fn matches(lines: &[Line], text: &str, ignore_case: bool, whole_word: bool) -> Vec<Line> {
    let of_line = |line: &Line| -> Vec<Line> {
        let found = super::text::occurrences(&line.text, text.as_bytes(), ignore_case, whole_word);
        found.into_iter().map(|found| Line::plain(found.to_vec())).collect()
    };
    lines.iter().flat_map(of_line).collect()
}

/// Whether every letter of a line that has an upper and a lower case is ASCII.
fn is_ascii_cased(line: &[u8]) -> bool {
    let is_plain = |c: char| c.is_ascii() || (c.to_lowercase().eq([c]) && c.to_uppercase().eq([c]));
    str::from_utf8(line).is_ok_and(|text| text.chars().all(is_plain))
}

/// The lines after a transformation; an error for bytes that are not UTF-8 or characters of uncertain width.
pub(super) fn rewritten(lines: Vec<Line>, how: &Rewrite) -> Result<Vec<Line>, EvalError> {
    let each = |change: fn(&[u8]) -> Vec<u8>| lines.iter().map(|line| Line::plain(change(&line.text))).collect();
    Ok(match how {
        // Programs change the case of other letters in their own ways.
        Rewrite::UpperCase | Rewrite::LowerCase if !lines.iter().all(|line| is_ascii_cased(&line.text)) => {
            return Err(EvalError::NoSecondSource("a line with cased letters outside ASCII"));
        }
        Rewrite::UpperCase => each(<[u8]>::to_ascii_uppercase),
        Rewrite::LowerCase => each(<[u8]>::to_ascii_lowercase),
        Rewrite::Mirrored => {
            let mirrored = |line: &Line| {
                let text =
                    std::str::from_utf8(&line.text).map_err(|_| EvalError::NoSecondSource("a line that is no text"))?;
                Ok(Line::plain(text.chars().rev().collect::<String>().into_bytes()))
            };
            lines.iter().map(mirrored).collect::<Result<_, EvalError>>()?
        }
        Rewrite::Reversed => lines.into_iter().rev().map(|line| Line::plain(line.text)).collect(),
        Rewrite::Wrapped(width) => {
            let width = usize::try_from(*width).unwrap_or(usize::MAX);
            let parts = lines.iter().map(|line| wrapped(&line.text, width)).collect::<Result<Vec<_>, _>>()?;
            parts.into_iter().flatten().map(Line::plain).collect()
        }
        Rewrite::Joined(between) => {
            let texts: Vec<Vec<u8>> = lines.into_iter().map(|line| line.text).collect();
            vec![Line::plain(texts.join(between.as_bytes()))]
        }
        Rewrite::LastField => {
            let last = |line: &[u8]| {
                let mut fields = line.split(|byte| matches!(byte, b' ' | b'\t')).filter(|field| !field.is_empty());
                fields.next_back().unwrap_or_default().to_vec()
            };
            each(last)
        }
    })
}

/// The pieces of a line wrapped at this many columns; an error if the width of a character is not certain.
fn wrapped(line: &[u8], width: usize) -> Result<Vec<Vec<u8>>, EvalError> {
    ensure(width != 0 && !line.iter().any(|byte| !(byte.is_ascii_graphic() || matches!(byte, b' ' | b'\t'))), || {
        EvalError::NoSecondSource("the width of this text")
    })?;
    let mut parts = vec![Vec::new()];
    let mut column = 0;
    for byte in line {
        let after = |column: usize| if *byte == b'\t' { (column / TAB_STOP + 1) * TAB_STOP } else { column + 1 };
        if after(column) > width && column > 0 {
            parts.push(Vec::new());
            column = 0;
        }
        column = after(column);
        if let Some(part) = parts.last_mut() {
            part.push(*byte);
        }
    }
    Ok(parts)
}

/// For each file a line with a part of its path; a name without a dot gives no line for its extension.
pub(super) fn names(found: &[Entry], part: NamePart) -> Vec<Line> {
    let name = |entry: &Entry| match part {
        NamePart::Name => Some(entry.name_bytes().to_vec()),
        NamePart::Folder => Some(entry.path.parent().unwrap_or(Path::new("/")).as_os_str().as_encoded_bytes().to_vec()),
        NamePart::Extension => entry.name_bytes().contains(&b'.').then(|| files::extension(entry)),
    };
    found.iter().filter_map(name).map(Line::plain).collect()
}
