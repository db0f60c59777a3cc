//! `ps`: its letters mean one thing with a dash and another without; none may show the environment of processes.

use super::judge::{Judge, State};
use super::objection::Objection;
use super::value::{Arg, Stream};

/// Columns that show no environment.
const COLUMNS: [&str; 56] = [
    "pid",
    "ppid",
    "pgid",
    "sid",
    "tty",
    "tt",
    "tname",
    "comm",
    "cmd",
    "args",
    "command",
    "ucmd",
    "ucomm",
    "user",
    "euser",
    "ruser",
    "uid",
    "euid",
    "ruid",
    "group",
    "egroup",
    "gid",
    "rss",
    "rssize",
    "rsz",
    "vsz",
    "vsize",
    "sz",
    "size",
    "pcpu",
    "%cpu",
    "pmem",
    "%mem",
    "time",
    "cputime",
    "etime",
    "etimes",
    "start",
    "start_time",
    "lstart",
    "bsdstart",
    "stat",
    "state",
    "s",
    "ni",
    "nice",
    "pri",
    "nlwp",
    "thcount",
    "psr",
    "wchan",
    "cgroup",
    "lwp",
    "tid",
    "c",
    "cp",
];

/// Letters behind a dash; none of them takes a value and none of them can fail and be read again without the dash.
const DASHED: &str = "eAfFlyjHLTcdaMwZ";

/// Letters without a dash. `e` would show every environment.
const BARE: &str = "axurflwjvhTH";

/// Judges `ps`.
pub(super) fn judge(_judge: &mut Judge<'_>, _state: &State, arguments: &[Arg]) -> Result<Stream, Objection> {
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let text = word.text().ok_or_else(|| unknown(word.shown()))?;
        let is_known = match text.strip_prefix("--") {
            Some("forest" | "no-headers" | "no-heading" | "headers" | "cumulative" | "deselect") => true,
            Some(long) => match long.split_once('=') {
                Some(("sort", keys)) => {
                    keys.split(',').all(|key| COLUMNS.contains(&key.trim_start_matches(['-', '+'])))
                }
                Some(("format", columns)) => are_columns(columns),
                Some(("pid" | "ppid", numbers)) => are_numbers(numbers),
                _ => false,
            },
            None => match text.strip_prefix('-') {
                Some("aux" | "auxw" | "auxww" | "axu" | "auxf" | "auxH") => true,
                Some(letters) => dashed(letters, &mut words),
                None => {
                    !text.is_empty()
                        && (text.chars().all(|c| BARE.contains(c)) || are_numbers(text) || bare(text, &mut words))
                }
            },
        };
        if !is_known {
            return Err(unknown(text));
        }
    }
    Ok(Stream::Text)
}

fn dashed(letters: &str, words: &mut std::slice::Iter<'_, Arg>) -> bool {
    let mut rest = letters.chars();
    while let Some(letter) = rest.next() {
        let is_valued = "opCNuU".contains(letter);
        if !is_valued {
            if DASHED.contains(letter) {
                continue;
            }
            return false;
        }
        let glued = rest.as_str();
        let value = if glued.is_empty() { words.next().and_then(Arg::text) } else { Some(glued) };
        return match (letter, value) {
            ('o', Some(columns)) => are_columns(columns),
            ('p', Some(numbers)) => are_numbers(numbers),
            ('C', Some(name)) => !name.is_empty(),
            // A name nobody has makes it start over in the BSD way; these are there.
            ('u' | 'U', Some(user)) => user == "root" || are_numbers(user),
            _ => false,
        };
    }
    !letters.is_empty()
}

/// `axo pid,comm`
fn bare(text: &str, words: &mut std::slice::Iter<'_, Arg>) -> bool {
    let Some(letters) = text.strip_suffix('o') else { return false };
    letters.chars().all(|c| BARE.contains(c)) && words.next().and_then(Arg::text).is_some_and(are_columns)
}

fn are_columns(columns: &str) -> bool {
    let name = |column: &str| column.split_once('=').map_or(column, |(name, _)| name).to_owned();
    let name = |column: &str| name(column).split_once(':').map_or_else(|| name(column), |(name, _)| name.to_owned());
    columns.split([',', ' ']).all(|column| COLUMNS.contains(&name(column).as_str()))
}

fn are_numbers(numbers: &str) -> bool {
    !numbers.is_empty()
        && numbers.split(',').all(|number| !number.is_empty() && number.chars().all(|c| c.is_ascii_digit()))
}

fn unknown(text: &str) -> Objection {
    Objection::reveals(format!("{text} of ps is not known to hide the environment of processes"))
}
