//! Answers, paths, sizes and times as a user reads them on a terminal: relative paths, human units, local time.

use std::path::Path;

use artoo_proto::{Answer, Column, Environment, Timestamp, units};
use artoo_roles::runtime::utc_offset_s;
use jiff::fmt::strtime;
use jiff::tz::Offset;

use super::{Line, wrap};
use crate::clock;

/// Maximum number of rows that are laid out as a table; a longer answer is shown with exact values.
const TABLE_ROWS_MAX: usize = 2_000;

/// The text between two columns of a table.
const GAP: &str = "  ";

/// Formats values for the user: paths relative to these folders, and exact or human-readable numbers.
#[derive(Debug, Clone)]
pub(crate) struct UserFormat {
    home: String,
    cwd: String,
    /// Whether values are shown as programs read them.
    is_exact: bool,
}

impl UserFormat {
    /// Creates the format for a user's home and current folder; `is_exact` shows values unchanged.
    pub(crate) fn of(environment: &Environment, is_exact: bool) -> Self {
        Self { home: environment.home.clone(), cwd: environment.cwd.clone(), is_exact }
    }

    /// The lines of the answers for a terminal; each answer has its label if there are several.
    pub(crate) fn answers(&self, answers: &[Answer]) -> Vec<Line> {
        let is_one = answers.len() == 1;
        let mut lines = Vec::new();
        for answer in answers {
            let mut rows = self.rows(answer);
            match rows.as_mut_slice() {
                [] if is_one => lines.push(Line::answer("none")),
                [] => lines.push(Line::answer(format!("{}: none", self.sentence(&answer.label)))),
                [only] if !is_one && !only.text.contains('\n') => {
                    only.text.insert_str(0, &format!("{}: ", self.sentence(&answer.label)))
                }
                _ if !is_one => lines.push(Line::faint(format!("{}:", self.sentence(&answer.label)))),
                _ => {}
            }
            lines.append(&mut rows);
        }
        lines
    }

    /// One answer's lines: a table if each line has the answer's columns, the exact text otherwise.
    fn rows(&self, answer: &Answer) -> Vec<Line> {
        let text = answer.text.trim_end_matches('\n');
        if text.is_empty() {
            return Vec::new();
        }
        let rows: Vec<Vec<&str>> = text.split('\n').map(|line| line.split('\t').collect()).collect();
        let fits = rows.iter().all(|row| row.len() == answer.columns.len()) && rows.len() <= TABLE_ROWS_MAX;
        if self.is_exact || !fits || answer.whole.is_some() {
            return vec![Line::answer(text)];
        }
        let cells = rows.iter().map(|row| row.iter().zip(&answer.columns).map(|(cell, of)| self.cell(cell, *of)));
        let mut table: Vec<Vec<String>> = cells.map(Iterator::collect).collect();
        let has_heading = answer.columns.len() > 1 && table.len() > 1;
        if has_heading {
            table.insert(0, answer.columns.iter().map(|column| heading(*column).to_owned()).collect());
        }
        let widths: Vec<usize> = (0..answer.columns.len())
            .map(|at| table.iter().filter_map(|row| row.get(at)).map(|cell| wrap::width(cell)).max().unwrap_or(0))
            .collect();
        let row = |cells: &Vec<String>| {
            let padded = cells.iter().zip(&answer.columns).zip(&widths).map(|((cell, column), width)| {
                let space = " ".repeat(width.saturating_sub(wrap::width(cell)));
                if is_number(*column) { format!("{space}{cell}") } else { format!("{cell}{space}") }
            });
            padded.collect::<Vec<_>>().join(GAP).trim_end().to_owned()
        };
        let mut lines: Vec<Line> = table.iter().map(|cells| Line::answer(row(cells))).collect();
        if let Some(first) = lines.first_mut().filter(|_| has_heading) {
            *first = Line::faint(std::mem::take(&mut first.text));
        }
        lines
    }

    /// The text of one cell of a table, formatted for its column: a path relative to the folder, a size in units, a
    /// local time.
    fn cell(&self, cell: &str, column: Column) -> String {
        match column {
            Column::Text => cell.to_owned(),
            Column::Sentence => self.sentence(cell),
            Column::Path => self.path(cell),
            Column::Bytes => cell.parse().map_or_else(|_| cell.to_owned(), units::bytes),
            Column::Count => cell.parse().map_or_else(|_| cell.to_owned(), units::number),
            Column::Time => Timestamp::parse(cell).map_or_else(|_| cell.to_owned(), when),
        }
    }

    /// A path relative to the current folder if it lies below it, else below `~` if it lies in the home folder.
    pub(crate) fn path(&self, path: &str) -> String {
        let below = |folder: &str| Path::new(path).strip_prefix(folder).ok().and_then(Path::to_str);
        match (below(&self.cwd), below(&self.home)) {
            _ if self.is_exact => path.to_owned(),
            (Some(rest), _) if !rest.is_empty() => rest.to_owned(),
            (Some(_), _) => ".".to_owned(),
            (None, Some("")) => "~".to_owned(),
            (None, Some(rest)) => format!("~/{rest}"),
            (None, None) => path.to_owned(),
        }
    }

    /// A sentence that code wrote, with the home folder as `~` and times as local time.
    pub(crate) fn sentence(&self, text: &str) -> String {
        if self.is_exact || self.home.len() < 2 {
            return text.to_owned();
        }
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '/' | '_' | '-' | '.');
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once(self.home.as_str()) {
            out.push_str(before);
            let is_whole = !before.ends_with(is_part) && (after.starts_with('/') || !after.starts_with(is_part));
            out.push_str(if is_whole { "~" } else { &self.home });
            rest = after;
        }
        out.push_str(rest);
        let word = |word: &str| {
            let time = word.trim_end_matches([',', ';', '.']);
            Timestamp::parse(time).map_or_else(|_| word.to_owned(), |at| word.replacen(time, &when(at), 1))
        };
        out.split(' ').map(word).collect::<Vec<_>>().join(" ")
    }
}

/// The heading shown above a table's column of this kind, such as "size".
fn heading(column: Column) -> &'static str {
    match column {
        Column::Text | Column::Sentence => "value",
        Column::Path => "name",
        Column::Bytes => "size",
        Column::Time => "changed",
        Column::Count => "count",
    }
}

/// Whether a column of a table holds numbers, which are aligned right.
fn is_number(column: Column) -> bool {
    matches!(column, Column::Bytes | Column::Count)
}

/// A time as text: local date and time of day; for a time of another year, the year instead of the time of day.
pub(crate) fn when(at: Timestamp) -> String {
    let local = |at: Timestamp| {
        let offset = Offset::from_seconds(utc_offset_s(at)).unwrap_or(Offset::UTC);
        offset.to_datetime(jiff::Timestamp::from_millisecond(at.as_millis()).unwrap_or_default())
    };
    let (shown, now) = (local(at), local(clock::now()));
    let form = if shown.year() == now.year() { "%-d %b %H:%M" } else { "%-d %b %Y" };
    strtime::format(form, shown).unwrap_or_else(|_| at.to_string())
}

/// Tests of how answers are shown to a user: tables, labels, and the home folder as a tilde.
#[cfg(test)]
mod tests {
    use artoo_proto::{Answer, Column, Environment};

    use super::UserFormat;

    /// A sample format for a user whose home folder is `/home/ada`; `is_exact` shows values unchanged.
    fn user_format(is_exact: bool) -> UserFormat {
        let path = |path: &str| path.to_owned();
        let environment = Environment {
            cwd: path("/home/ada/work"),
            home: path("/home/ada"),
            workspace: path("/home/ada/artoo_workspace"),
            os: "linux".to_owned(),
            utc_offset_s: 0,
        };
        UserFormat::of(&environment, is_exact)
    }

    /// The texts of the lines that are shown for the answers.
    fn shown(user_format: &UserFormat, answers: &[Answer]) -> Vec<String> {
        user_format.answers(answers).into_iter().map(|line| line.text).collect()
    }

    #[test]
    fn tables_have_headings_units_and_relative_paths() {
        let details = Answer {
            columns: vec![Column::Bytes, Column::Time, Column::Path],
            ..Answer::text(
                "list",
                "48000\t2024-05-15T12:00:00.000Z\t/home/ada/work/a b.pdf\n7\t2024-05-15T12:00:00.000Z\t/home/ada/c.pdf\n",
            )
        };
        assert_eq!(
            shown(&user_format(false), std::slice::from_ref(&details)),
            ["   size  changed      name", "48.0 kB  15 May 2024  a b.pdf", "7 bytes  15 May 2024  ~/c.pdf",]
        );
        assert_eq!(shown(&user_format(true), std::slice::from_ref(&details)), [details.text.trim_end()]);
        let other = Answer { text: "48000\tno time".to_owned(), ..details };
        assert_eq!(shown(&user_format(false), &[other]), ["48000\tno time"], "lines without the columns stay exact");
    }

    #[test]
    fn several_answers_have_labels() {
        let count = |label: &str, text: &str| Answer { columns: vec![Column::Count], ..Answer::text(label, text) };
        let one = count("count the files in the folder /home/ada/work", "12345\n");
        let none = Answer::text("list the files in /home/ada", "");
        let lines = Answer::text("show a.txt", "a\nb");
        assert_eq!(shown(&user_format(false), std::slice::from_ref(&one)), ["12,345"]);
        assert_eq!(shown(&user_format(false), std::slice::from_ref(&none)), ["none"]);
        assert_eq!(
            shown(&user_format(false), &[one, none, lines]),
            ["count the files in the folder ~/work: 12,345", "list the files in ~: none", "show a.txt:", "a\nb",]
        );
    }

    /// In a sentence, paths in the home folder begin with `~` and times are local.
    #[test]
    fn sentences_show_home_folder_as_tilde() {
        let check = |text: &str, expected: &str| assert_eq!(user_format(false).sentence(text), expected);
        check("in /home/ada, /home/ada/x and \"/home/ada/y\"", "in ~, ~/x and \"~/y\"");
        check("in /home/adam and /mnt/home/ada", "in /home/adam and /mnt/home/ada");
        check("modified before 2024-05-22T15:53:57.855Z, sorted", "modified before 22 May 2024, sorted");
        assert_eq!(user_format(true).sentence("in /home/ada"), "in /home/ada");
    }
}
