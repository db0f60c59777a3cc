//! Parses CSV, TSV and JSON tables into headings, rows and cells.

use std::collections::BTreeSet;

use serde_json::Value;

use super::SEPARATORS;

/// A table parsed from a file: separator, headings and rows.
pub(super) struct Table {
    pub(super) separator: char,
    pub(super) heads: Vec<String>,
    /// Each row as it stands in the file, and its cells.
    pub(super) rows: Vec<(String, Vec<String>)>,
}

impl Table {
    /// Parses the content of a CSV, TSV or JSON file as a table, by the file's name; `None` if it is no table.
    pub(super) fn in_file(path: &str, content: &str, separator: Option<char>) -> Option<Self> {
        if path.ends_with(".json") { Self::of_json(content) } else { Self::of(content, separator) }
    }

    /// Parses a JSON list of objects as a table with a column for each key; `None` if their keys differ or are nested.
    pub(super) fn of_json(content: &str) -> Option<Self> {
        let list: Vec<serde_json::Map<String, Value>> = serde_json::from_str(content).ok()?;
        let mut heads: Vec<String> = list.first()?.keys().cloned().collect();
        heads.sort();
        let cell = |value: &Value| match value {
            Value::String(text) => Some(text.clone()).filter(|text| !text.contains(['\t', '\n', '\r', '\\'])),
            Value::Number(_) | Value::Bool(_) | Value::Null => Some(value.to_string()),
            Value::Array(_) | Value::Object(_) => None,
        };
        let row = |object: &serde_json::Map<String, Value>| {
            let cells: Vec<String> = heads.iter().map(|head| cell(object.get(head)?)).collect::<Option<_>>()?;
            (object.len() == heads.len()).then(|| (cells.join("\t"), cells))
        };
        let rows = list.iter().map(row).collect::<Option<_>>()?;
        Some(Self { separator: '\t', heads, rows })
    }

    /// Parses lines of separated cells as a table; `None` if a quoted cell spans lines.
    pub(super) fn of(text: &str, separator: Option<char>) -> Option<Self> {
        let mut lines = text.lines().map(|line| line.strip_suffix('\r').unwrap_or(line));
        let head = lines.next()?;
        let count = |c: &char| cells(head, *c).len();
        let separator = separator.or_else(|| SEPARATORS.into_iter().max_by_key(|c| (count(c), *c == ',')))?;
        let rows = lines.filter(|line| !line.is_empty()).map(|line| (line.to_owned(), cells(line, separator)));
        let rows: Vec<_> = rows.collect();
        // A cell with a line break in it is not read.
        let is_whole = |line: &str| line.matches('"').count().is_multiple_of(2);
        let fits = is_whole(head) && rows.iter().all(|(line, _)| is_whole(line));
        fits.then(|| Self { separator, heads: cells(head, separator), rows })
    }

    /// The number of the column with this heading, from 1; `None` unless exactly one fits.
    pub(super) fn column(&self, name: &str) -> Option<usize> {
        let fits = |head: &str| is_plural_of(&name.to_lowercase(), &head.to_lowercase());
        let mut found = (1..).zip(&self.heads).filter(|(_, head)| fits(head)).map(|(number, _)| number);
        found.next().filter(|_| found.next().is_none())
    }

    /// The column as it is written in a query: `number:heading`.
    pub(super) fn label(&self, column: Option<usize>) -> Option<String> {
        let number = column?;
        Some(format!("{number}:{}", self.heads.get(number - 1)?))
    }

    /// The cell of a row in a column, counted from 1; empty if the row has fewer.
    pub(super) fn cell<'a>(&self, row: &'a [String], column: usize) -> &'a str {
        row.get(column.wrapping_sub(1)).map_or("", String::as_str)
    }

    /// Whether a column has numbers and nothing else, with at least one.
    pub(super) fn is_numeric(&self, column: usize) -> bool {
        let mut cells = self.rows.iter().map(|(_, row)| self.cell(row, column)).filter(|cell| !cell.is_empty());
        cells.next().is_some_and(is_number) && cells.all(is_number)
    }

    /// The number of the only column of numbers, a column "id" not counted; `None` if there are none or several.
    pub(super) fn only_numeric(&self) -> Option<usize> {
        let is_id = |column: usize| self.heads.get(column - 1).is_some_and(|head| head.eq_ignore_ascii_case("id"));
        let mut found = (1..=self.heads.len()).filter(|column| self.is_numeric(*column) && !is_id(*column));
        found.next().filter(|_| found.next().is_none())
    }

    /// The only column that has this value in a cell, and the value as written there; letter case counts only if a cell
    /// has the value as it was typed. `None` if several columns have it, or one in several letter cases.
    pub(super) fn value(&self, value: &str, column: Option<usize>) -> Option<(usize, String)> {
        let columns = column.map_or_else(|| 1..=self.heads.len(), |column| column..=column);
        let holds = |same: &dyn Fn(&str) -> bool| {
            let cells =
                |column: usize| self.rows.iter().map(move |(_, row)| (column, self.cell(row, column).to_owned()));
            columns.clone().flat_map(cells).filter(|(_, cell)| same(cell)).collect::<BTreeSet<_>>()
        };
        let exact = holds(&|cell| cell == value);
        let mut found = if exact.is_empty() { holds(&|cell| cell.eq_ignore_ascii_case(value)) } else { exact };
        found.pop_first().filter(|_| found.is_empty())
    }
}

/// Whether a file parses as a table with at least two columns and one row.
pub(in crate::kinds) fn is_table(path: &str, content: &str) -> bool {
    Table::in_file(path, content, None).is_some_and(|table| table.heads.len() > 1 && !table.rows.is_empty())
}

/// Whether a word equals a heading, in the singular or plural.
pub(super) fn is_plural_of(word: &str, head: &str) -> bool {
    let stem = head.strip_suffix('y');
    word == head
        || word.strip_suffix('s') == Some(head)
        || word.strip_suffix("es") == Some(head)
        || head.strip_suffix('s') == Some(word)
        || stem.is_some_and(|stem| word.strip_suffix("ies") == Some(stem))
}

/// Whether a cell is a decimal number, with a minus sign if negative.
pub(super) fn is_number(cell: &str) -> bool {
    let rest = cell.strip_prefix('-').unwrap_or(cell);
    let (whole, part) = rest.split_once('.').map_or((rest, None), |(whole, part)| (whole, Some(part)));
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_digits(whole) && whole.len() < 13 && part.is_none_or(|part| is_digits(part) && part.len() < 10)
}

/// Splits a line at the separators outside of quotation marks; returns the cells without quotation marks.
pub(super) fn cells(line: &str, separator: char) -> Vec<String> {
    let (mut found, mut cell, mut is_open) = (Vec::new(), String::new(), false);
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if is_open && chars.peek() == Some(&'"') => {
                chars.next();
                cell.push('"');
            }
            '"' if is_open => is_open = false,
            '"' if cell.is_empty() => is_open = true,
            c if c == separator && !is_open => found.push(std::mem::take(&mut cell)),
            c => cell.push(c),
        }
    }
    found.push(cell);
    found.into_iter().map(|cell| cell.trim_matches(' ').to_owned()).collect()
}

/// The cell as written in a CSV line: in quotation marks if it contains the separator or a quotation mark.
pub(super) fn written(cell: &str, separator: char) -> String {
    if cell.contains([separator, '"']) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell.to_owned() }
}
