//! Reads the lines of a log as the rows of a table, though the log has no heading.

use std::path::Path;

/// The headings of a log's fields, and the `sed` expression that prints the fields of a line and the line itself,
/// separated by tabs.
pub(super) type Form = (&'static [&'static str], &'static str);

/// The forms of log lines by name: the common log format of web servers, and lines of date, time, level and message.
const FORMS: [(&str, Form); 2] = [
    (
        "web",
        (
            &["ip", "date", "time", "method", "page", "status", "bytes"],
            "s|^([^ ]+) [^ ]+ [^ ]+ \\[([^]:]+):([0-9:]+) [^]]*\\] \"([A-Z]+) ([^ \"]+)[^\"]*\" ([0-9]{3}) ([0-9]+)( .*)?$|\\1\\t\\2\\t\\3\\t\\4\\t\\5\\t\\6\\t\\7\\t&|p",
        ),
    ),
    (
        "levels",
        (
            &["date", "time", "level", "message"],
            "s|^([0-9]{4}-[0-9]{2}-[0-9]{2}) ([0-9:]{8}) ([A-Z]+) ([^ ].*)$|\\1\\t\\2\\t\\3\\t\\4\\t&|p",
        ),
    ),
];

/// Whether a path is that of a log, to go by its name.
pub(super) fn is_named(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("log"))
}

/// The form of log lines with this name; `None` for an unknown name.
pub(super) fn form(name: &str) -> Option<Form> {
    FORMS.iter().find(|(known, _)| *known == name).map(|(_, form)| *form)
}

/// The name of the form of a log's lines, its headings, and the fields of each line; `None` unless all lines have that
/// form.
pub(super) fn rows(content: &str) -> Option<(&'static str, Form, Vec<Vec<String>>)> {
    let is_plain = |line: &str| !line.contains(['\t', '\r']) && line.trim() == line;
    let all = |fields: fn(&str) -> Option<Vec<String>>| {
        content.lines().map(|line| fields(line).filter(|_| is_plain(line))).collect::<Option<Vec<_>>>()
    };
    let [(web, of_web), (levels, of_levels)] = FORMS;
    let found = all(web_fields).map(|rows| (web, of_web, rows));
    found.or_else(|| all(level_fields).map(|rows| (levels, of_levels, rows)))
}

/// The fields of a line in the common log format.
fn web_fields(line: &str) -> Option<Vec<String>> {
    let (ip, rest) = line.split_once(' ')?;
    let (_, rest) = rest.split_once(" [")?;
    let (stamp, rest) = rest.split_once("] \"")?;
    let (date, time) = stamp.split_once(':')?;
    let (request, rest) = rest.split_once("\" ")?;
    let mut request = request.split(' ');
    let (method, page) = (request.next()?, request.next()?);
    let mut numbers = rest.split(' ');
    let (status, bytes) = (numbers.next()?, numbers.next()?);
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let fits = status.len() == 3 && is_digits(status) && is_digits(bytes) && !page.is_empty();
    let fields = [ip, date, time.split(' ').next()?, method, page, status, bytes];
    fits.then(|| fields.map(str::to_owned).to_vec())
}

/// The fields of a line of date, time, level and message.
fn level_fields(line: &str) -> Option<Vec<String>> {
    let mut fields = line.splitn(4, ' ');
    let (date, time) = (fields.next()?, fields.next()?);
    let (level, message) = (fields.next()?, fields.next()?);
    let is_made_of = |text: &str, sign: char| text.chars().all(|c| c.is_ascii_digit() || c == sign);
    let fits = date.len() == 10
        && is_made_of(date, '-')
        && time.len() == 8
        && is_made_of(time, ':')
        && level.chars().all(|c| c.is_ascii_uppercase())
        && !message.is_empty()
        && !message.starts_with('"');
    fits.then(|| [date, time, level, message].map(str::to_owned).to_vec())
}
