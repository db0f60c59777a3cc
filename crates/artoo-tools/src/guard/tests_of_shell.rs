//! `test`, `[ … ]` and `[[ … ]]`: only operators that look at texts, numbers and the facts of files.

use super::judge::{Judge, State};
use super::objection::Objection;
use super::scene::Use;
use super::syntax::{Part, Word};
use super::value::{Arg, Value};

/// Operators on a name of a file.
const FILES: [&str; 20] = [
    "-a", "-b", "-c", "-d", "-e", "-f", "-g", "-G", "-h", "-k", "-L", "-N", "-O", "-p", "-r", "-s", "-S", "-u", "-w",
    "-x",
];

/// Operators between two files.
const BETWEEN: [&str; 3] = ["-nt", "-ot", "-ef"];

/// Operators between two numbers. In double brackets their operands are computed, names and subscripts included.
const NUMBERS: [&str; 6] = ["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];

/// The rest: texts, and what joins tests.
const TEXTS: [&str; 14] = ["-z", "-n", "=", "==", "!=", "=~", "<", ">", "!", "&&", "||", "-o", "(", ")"];

/// Judges the words between single brackets, or those of `test`.
pub(super) fn single_bracket(judge: &mut Judge<'_>, state: &State, words: &[Arg]) -> Result<(), Objection> {
    let mut unknown = 0;
    for word in words {
        match word.text() {
            Some(text) => must_be_known(text)?,
            None if matches!(word.value, Value::Unknown { many: true } | Value::Below(_)) => unknown += 2,
            None => unknown += 1,
        }
        looked_at(judge, state, word)?;
    }
    // Several words nobody knows may be an operator and what it computes.
    let compares = words
        .iter()
        .filter_map(Arg::text)
        .any(|text| BETWEEN.contains(&text) || NUMBERS.contains(&text) || TEXTS.contains(&text));
    if unknown > 1 && !compares {
        return Err(Objection::opaque("a test of words that are not known"));
    }
    Ok(())
}

/// Judges the words of `[[ … ]]`, where nothing is split and nothing becomes an operator later.
pub(super) fn double_bracket(judge: &mut Judge<'_>, state: &State, words: &[Word]) -> Result<(), Objection> {
    judge.effects.measures = true;
    let computes = words.iter().any(|word| word.plain().is_some_and(|text| NUMBERS.contains(&text)));
    for word in words {
        if let Some(text) = word.plain() {
            must_be_known(text)?;
        }
        let operand = quoted(word);
        for operand in judge.expanded(state, &operand)? {
            let is_number = operand.text().is_none_or(|text| {
                let digits = text.strip_prefix('-').unwrap_or(text);
                NUMBERS.contains(&text) || !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit())
            });
            let is_text = !is_number || matches!(operand.value, Value::Unknown { .. } | Value::Below(_));
            if computes && is_text {
                return Err(Objection::opaque("[[ computes with a text, and a text may hold commands"));
            }
            looked_at(judge, state, &operand)?;
        }
    }
    Ok(())
}

/// An operand may be a file; an operator is none.
fn looked_at(judge: &mut Judge<'_>, state: &State, word: &Arg) -> Result<(), Objection> {
    let is_operator = word.text().is_some_and(|text| {
        [FILES.as_slice(), BETWEEN.as_slice(), NUMBERS.as_slice(), TEXTS.as_slice()]
            .iter()
            .any(|list| list.contains(&text))
    });
    if is_operator { Ok(()) } else { judge.reads(state, word, Use::Facts) }
}

/// The same word as it is read between double brackets: patterns are compared there and match no files.
fn quoted(word: &Word) -> Word {
    let parts = word.parts.iter().map(|part| match part {
        Part::Wild(text) => Part::Text { text: text.clone(), quoted: true },
        Part::Variable { name, .. } => Part::Variable { name: name.clone(), quoted: true },
        Part::Substitution { list, .. } => Part::Substitution { list: list.clone(), quoted: true },
        Part::Text { .. } | Part::Number | Part::Braces(_) | Part::Home => part.clone(),
    });
    Word { parts: parts.collect(), span: word.span.clone() }
}

/// `-v` and `-R` compute a subscript, `-t` and the rest are not needed.
fn must_be_known(text: &str) -> Result<(), Objection> {
    let is_option = text.starts_with('-') && text.len() > 1 && !text.chars().skip(1).all(|c| c.is_ascii_digit());
    let is_known = [FILES.as_slice(), BETWEEN.as_slice(), NUMBERS.as_slice(), TEXTS.as_slice()]
        .iter()
        .any(|operators| operators.contains(&text));
    if is_option && !is_known {
        return Err(Objection::opaque(format!("the test {text} is not known to be harmless")));
    }
    Ok(())
}
