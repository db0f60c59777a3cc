//! File indexes: Spotlight, GNOME's LocalSearch (formerly Tracker), and the database of locate.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::config::ToolConfig;
use crate::mdfind::Query;
use crate::process::{Ended, Invocation, find_program};

/// The usual paths of locate's database.
const DATABASES: [&str; 3] =
    ["/var/lib/plocate/plocate.db", "/var/lib/mlocate/mlocate.db", "/var/cache/locate/locatedb"];

/// Maximum number of answers of an index that can't search one folder; those outside it are dropped.
const ANSWERS_MAX: &str = "10000";

/// Longest error text of an index program quoted in a record, in characters.
const SHOWN_CHARS: usize = 300;

/// A file index of this machine, with the program that searches it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Index {
    kind: Kind,
    program: PathBuf,
}

/// The program that searches a file index: Spotlight, LocalSearch (formerly Tracker) or locate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Spotlight,
    /// `localsearch search` or `tracker3 search`.
    LocalSearch,
    Locate,
}

impl Index {
    /// The file indexes whose programs this machine has, the most complete first.
    pub(crate) fn installed(config: &ToolConfig) -> Vec<Self> {
        let programs = [
            (Kind::Spotlight, "mdfind"),
            (Kind::LocalSearch, "localsearch"),
            (Kind::LocalSearch, "tracker3"),
            (Kind::Locate, "plocate"),
            (Kind::Locate, "locate"),
        ];
        let mut found: Vec<Self> = Vec::new();
        for (kind, name) in programs {
            // One of each kind only; the second name is that of an older program.
            if found.iter().all(|index| index.kind != kind)
                && let Some(program) = find_program(config, name)
            {
                found.push(Self { kind, program });
            }
        }
        found
    }

    /// The index's name as users know it.
    pub(crate) fn name(&self) -> &'static str {
        match self.kind {
            Kind::Spotlight => "the Spotlight index",
            Kind::LocalSearch => "the LocalSearch index",
            Kind::Locate => "locate's database",
        }
    }

    /// The command that queries this file index for the words.
    pub(crate) fn invocation(&self, query: &Query, config: &ToolConfig) -> Invocation {
        let words = || query.words.iter().map(OsString::from);
        let arguments: Vec<OsString> = match self.kind {
            // NUL-separated, since a name may contain a line break.
            Kind::Spotlight => {
                let folder = query.root.clone().into_os_string();
                vec!["-0".into(), "-onlyin".into(), folder, query.words.join(" ").into()]
            }
            Kind::LocalSearch => {
                let options = ["search", "--disable-snippets", "--disable-color", "--limit", ANSWERS_MAX, "--"];
                options.into_iter().map(OsString::from).chain(words()).collect()
            }
            // Every word must occur in the name.
            Kind::Locate => {
                let options = ["--null", "--ignore-case", "--basename", "--all", "--"];
                let patterns = query.words.iter().map(|word| OsString::from(containing(word)));
                options.into_iter().map(OsString::from).chain(patterns).collect()
            }
        };
        let name = self.program.file_name().unwrap_or_default().to_owned();
        Invocation { program: self.program.clone(), name, arguments, environment: config.session.clone() }
    }

    /// The paths that the index program printed; `Err` with the reason if its answer is not complete.
    pub(crate) fn paths(&self, ended: &Ended) -> Result<Vec<PathBuf>, String> {
        if let Some(time) = ended.timed_out {
            return Err(format!("it gave no answer in {} ms", time.as_millis()));
        }
        // locate exits with 1 if it found nothing, and if it failed.
        let found_none = self.kind == Kind::Locate && ended.exit_code == Some(1) && ended.total() == 0;
        if !(ended.exit_code == Some(0) || found_none) || !ended.stdout.is_whole() {
            return Err(format!("it gave no complete answer: {}", ended.text(SHOWN_CHARS).0));
        }
        let answer = ended.stdout.head();
        Ok(match self.kind {
            Kind::Spotlight | Kind::Locate => {
                let paths = answer.split(|byte| *byte == 0).filter(|path| !path.is_empty());
                paths.map(|path| PathBuf::from(OsStr::from_bytes(path))).collect()
            }
            Kind::LocalSearch => String::from_utf8_lossy(answer).lines().filter_map(of_uri).collect(),
        })
    }

    /// A sentence for the user on what the index may be missing, such as files newer than its last update.
    pub(crate) fn completeness_note(&self, now: SystemTime) -> String {
        if self.kind != Kind::Locate {
            return "what is not indexed is not found".to_owned();
        }
        let written = DATABASES.iter().find_map(|path| Path::new(path).metadata().ok()?.modified().ok());
        match written.and_then(|written| now.duration_since(written).ok()) {
            Some(age) => format!("it is {} old, and what came later is not in it", duration_in_words(age)),
            None => "its age is not known, and what came later is not in it".to_owned(),
        }
    }
}

/// A duration in minutes, hours or days.
fn duration_in_words(age: Duration) -> String {
    let minutes = age.as_secs() / 60;
    match minutes {
        0..120 => format!("{minutes} minutes"),
        120..2880 => format!("{} hours", minutes / 60),
        _ => format!("{} days", minutes / 1440),
    }
}

/// A pattern for `locate` that matches names containing this word; wildcards in the word are escaped.
fn containing(word: &str) -> String {
    let mut pattern = String::from("*");
    for letter in word.chars() {
        if matches!(letter, '*' | '?' | '[' | ']' | '\\') {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern + "*"
}

/// The absolute path of the `file://` URL in a line; `None` if there is none or it can't be decoded.
fn of_uri(line: &str) -> Option<PathBuf> {
    let (_, rest) = line.split_once("file://")?;
    let encoded = rest.split(['\u{1b}', ' ', '\t']).next()?;
    let mut bytes = Vec::with_capacity(encoded.len());
    let mut left = encoded.as_bytes();
    while let Some((byte, rest)) = left.split_first() {
        left = rest;
        if *byte != b'%' {
            bytes.push(*byte);
            continue;
        }
        let (digits, rest) = left.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
        left = rest;
    }
    let path = PathBuf::from(OsStr::from_bytes(&bytes));
    path.is_absolute().then_some(path)
}

/// Tests of parsing an index's answers and of making patterns for it.
#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::time::Duration;

    use super::{containing, duration_in_words, of_uri};

    /// `file://` URLs that an index prints are decoded to paths; other lines are ignored.
    #[test]
    fn file_urls_become_paths() {
        let check =
            |line: &str, expected: Option<&str>| assert_eq!(of_uri(line), expected.map(PathBuf::from), "{line}");
        check("  file:///home/a/x.txt", Some("/home/a/x.txt"));
        check("  \u{1b}[1mfile:///home/a/x%20y%C3%BC\u{1b}[0m", Some("/home/a/x yü"));
        check("Results:", None);
        check("  file://host/x", None);
        check("  file:///a%2", None);
        check("  file:///a%zz", None);
    }

    /// Wildcards in a query are escaped in the pattern given to `locate`; ages are told in minutes, hours or days.
    #[test]
    fn locate_patterns_escape_wildcards() {
        assert_eq!(containing("tax"), "*tax*");
        assert_eq!(containing("a[1]*?\\"), "*a\\[1\\]\\*\\?\\\\*");
        assert_eq!(duration_in_words(Duration::from_secs(119 * 60)), "119 minutes");
        assert_eq!(duration_in_words(Duration::from_secs(47 * 3600)), "47 hours");
        assert_eq!(duration_in_words(Duration::from_secs(49 * 3600)), "2 days");
    }
}
