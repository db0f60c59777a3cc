//! Parses CSV, TSV and JSON tables into headings, rows and cells.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{OR, SEPARATORS, log};

/// A table parsed from a file: separator, headings and rows.
pub(super) struct Table {
    pub(super) separator: char,
    pub(super) heads: Vec<String>,
    /// Each row as it stands in the file, and its cells.
    pub(super) rows: Vec<(String, Vec<String>)>,
    /// The name of the form of log lines; `None` for a file that is no log.
    pub(super) log: Option<&'static str>,
}

impl Table {
    /// Parses the content of a CSV, TSV, JSON or log file as a table, by the file's name; `None` if it is no table.
    pub(super) fn in_file(path: &str, content: &str, separator: Option<char>) -> Option<Self> {
        match path.ends_with(".json") {
            true => Self::of_json(content),
            false if log::is_named(path) => Self::of_log(content),
            false => Self::of(content, separator),
        }
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
        Some(Self { separator: '\t', heads, rows, log: None })
    }

    /// Parses the lines of a log as a table of their fields; `None` if a line has another form than the others.
    fn of_log(content: &str) -> Option<Self> {
        let (name, (heads, _), rows) = log::rows(content)?;
        let heads = heads.iter().map(|&head| head.to_owned()).collect();
        let rows = content.lines().map(str::to_owned).zip(rows).collect();
        Some(Self { separator: '\t', heads, rows, log: Some(name) })
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
        fits.then(|| Self { separator, heads: cells(head, separator), rows, log: None })
    }

    /// The number of the column with this heading, from 1; `None` unless exactly one fits.
    pub(super) fn column(&self, name: &str) -> Option<usize> {
        let fits = |head: &str| is_plural_of(&name.to_lowercase(), &head.to_lowercase());
        let only = |test: &dyn Fn(&str) -> bool| {
            let mut found = (1..).zip(&self.heads).filter(|(_, head)| test(head)).map(|(number, _)| number);
            found.next().filter(|_| found.next().is_none())
        };
        // "weight_kg" and "price (EUR)" end in a unit.
        const UNITS: [&str; 24] = [
            "kg", "g", "mg", "lb", "km", "m", "cm", "mm", "c", "f", "k", "eur", "euro", "usd", "gbp", "chf", "pct",
            "s", "ms", "h", "min", "kb", "mb", "l",
        ];
        let is_unit = |end: &str| UNITS.contains(&end.to_lowercase().as_str());
        let bare = |head: &str| {
            let head = head.trim_end_matches([')', ']']);
            let (start, end) = head.rsplit_once(['_', '(', '['])?;
            is_unit(end).then(|| start.trim_end().to_owned())
        };
        only(&fits).or_else(|| only(&|head: &str| bare(head).is_some_and(|start| fits(&start))))
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

    /// Whether no two cells of a column are the same.
    pub(super) fn is_of_different(&self, column: usize) -> bool {
        let mut seen = std::collections::BTreeSet::new();
        self.rows.iter().all(|(_, row)| seen.insert(self.cell(row, column)))
    }

    /// The length of the dates in a column that has dates such as `2024-03-01` or `2024-03` and nothing else.
    pub(super) fn dates(&self, column: usize) -> Option<usize> {
        let mut lengths = self.rows.iter().map(|(_, row)| date_length(self.cell(row, column)));
        let first = lengths.next()??;
        lengths.all(|length| length == Some(first)).then_some(first)
    }

    /// The only column of dates; `None` if there are none or several.
    pub(super) fn only_dates(&self) -> Option<usize> {
        let mut found = (1..=self.heads.len()).filter(|column| self.dates(*column).is_some());
        found.next().filter(|_| found.next().is_none())
    }

    /// Whether the cells of a column have one alphabetical order, whether or not letter case counts, and none has the sign
    /// [`OR`].
    pub(super) fn is_in_order_by_letter(&self, column: usize) -> bool {
        let mut cells: Vec<&str> = self.rows.iter().map(|(_, row)| self.cell(row, column)).collect();
        cells.sort_unstable();
        cells.iter().map(|cell| cell.to_lowercase()).is_sorted() && !cells.iter().any(|cell| cell.contains(OR))
    }

    /// The number of the only column of numbers, a column "id" not counted; `None` if there are none or several.
    pub(super) fn only_numeric(&self) -> Option<usize> {
        let is_id = |column: usize| self.heads.get(column - 1).is_some_and(|head| head.eq_ignore_ascii_case("id"));
        let mut found = (1..=self.heads.len()).filter(|column| self.is_numeric(*column) && !is_id(*column));
        found.next().filter(|_| found.next().is_none())
    }

    /// The only column with a heading of prices or amounts; `None` if there are none or several.
    pub(super) fn only_money(&self) -> Option<usize> {
        let is_money = |head: &str| ["price", "cost", "amount", "salary", "total"].contains(&head);
        let mut found = (1..).zip(&self.heads).filter(|(_, head)| is_money(&head.to_lowercase()));
        found.next().filter(|_| found.next().is_none()).map(|(column, _)| column)
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
        let mut found = exact;
        let words = words_of(value);
        let same: [&dyn Fn(&str) -> bool; 2] = [
            &|cell| cell.eq_ignore_ascii_case(value),
            // "the large lamp" is "Lamp, large".
            &|cell| words.len() > 1 && words_of(cell) == words,
        ];
        for same in same {
            found = if found.is_empty() { holds(same) } else { found };
        }
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

/// The words of a text in lower case, in alphabetical order.
fn words_of(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut words: Vec<String> = words.map(str::to_lowercase).collect();
    words.sort_unstable();
    words
}

/// The length of a date such as `2024-03-01` or `2024-03`; `None` for another text.
fn date_length(cell: &str) -> Option<usize> {
    let parts: Vec<&str> = cell.split('-').collect();
    let is_digits = |part: &&str| part.bytes().all(|byte| byte.is_ascii_digit());
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    (parts.iter().all(is_digits) && [&[4, 2][..], &[4, 2, 2]].contains(&lengths.as_slice())).then_some(cell.len())
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
