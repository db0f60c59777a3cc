//! The folder walk of all searches: symlinks are not followed, unreadable folders are counted.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use ignore::{DirEntry, WalkBuilder};

use crate::activity::{Stage, Unit};
use crate::limit::Limit;
use crate::{paths, secret, texts};

/// Maximum number of unreadable paths named in a record; the others are counted.
const UNREAD_NAMED_MAX: usize = 3;

/// What a folder walk visits: its root and depth, and whether hidden and ignored files are included.
pub(crate) struct Walk<'a> {
    pub(crate) root: &'a Path,
    /// 1 is the entries of the root.
    pub(crate) max_depth: Option<usize>,
    pub(crate) hidden: bool,
    pub(crate) ignore_files: bool,
}

/// The result of walking a folder: counts, what could not be read or was left out, and whether the deadline ended the
/// walk.
#[derive(Debug, Default)]
pub(crate) struct Walked {
    /// Number of folders entered, without the root.
    pub(crate) folders: u64,
    unread: u64,
    named: Vec<String>,
    /// Files that were not opened because they may hold secrets.
    pub(crate) left_out: Vec<PathBuf>,
    /// Whether the deadline ended it.
    pub(crate) stopped: bool,
}

impl Walked {
    /// Counts a file or folder that could not be read; the first ones are named in the record.
    pub(crate) fn count_unreadable(&mut self, what: &str) {
        self.unread += 1;
        if self.named.len() < UNREAD_NAMED_MAX {
            self.named.push(what.to_owned());
        }
    }

    /// Whether the walk could read every file and folder.
    pub(crate) fn all_read(&self) -> bool {
        self.unread == 0
    }

    /// What is missing from the result of a walk, as a sentence for the user; `None` if nothing is.
    pub(crate) fn missing_part(&self) -> Option<String> {
        if self.stopped {
            return Some("the time was up before the whole folder was walked".to_owned());
        }
        let others = self.unread.saturating_sub(u64::try_from(self.named.len()).unwrap_or(0));
        let more = if others == 0 { String::new() } else { format!("; and {others} more") };
        let unread = || {
            format!(
                "{} could not be read: {}{more}",
                texts::exactly(self.unread, "place", "places"),
                self.named.join("; ")
            )
        };
        let gaps = [(self.unread > 0).then(unread), secret::left_out(&self.left_out)];
        gaps.into_iter().flatten().reduce(|unread, left_out| format!("{unread}; {left_out}"))
    }
}

impl Walk<'_> {
    /// Visits every entry below the root for which `enter` is true (given its path below the root and its name), and
    /// enters it if it is a folder. Hidden and ignored entries are left out as the walk says.
    pub(crate) fn run(
        &self,
        limit: &Limit,
        enter: impl Fn(&Path, &OsStr) -> bool + Send + Sync + 'static,
        mut visit: impl FnMut(&DirEntry, &mut Walked),
    ) -> Walked {
        let mut builder = WalkBuilder::new(self.root);
        let hidden = self.hidden;
        let root = self.root.to_path_buf();
        builder.standard_filters(false).follow_links(false).max_depth(self.max_depth).filter_entry(move |entry| {
            if entry.depth() == 0 {
                return true;
            }
            let below = entry.path().strip_prefix(&root).unwrap_or(entry.path());
            (hidden || !paths::is_hidden(entry.file_name())) && enter(below, entry.file_name())
        });
        if self.ignore_files {
            builder.ignore(true).git_ignore(true).git_exclude(true).parents(true).require_git(false);
        }
        limit.meter.begin(Stage { verb: "searching", unit: Unit::Entries, total: None, passes: 1 });
        let mut walked = Walked::default();
        for found in builder.build() {
            if limit.reached() {
                walked.stopped = true;
                break;
            }
            limit.meter.add_entries(1);
            match found {
                Ok(entry) if entry.depth() == 0 => {}
                Ok(entry) => {
                    if entry.file_type().is_some_and(|kind| kind.is_dir()) {
                        walked.folders += 1;
                    }
                    visit(&entry, &mut walked);
                }
                Err(error) if is_gone(&error) => {}
                Err(error) => walked.count_unreadable(&artoo_proto::escape::one_line(&error.to_string())),
            }
        }
        walked
    }
}

/// Whether an entry was removed during the walk; that is no error.
fn is_gone(error: &ignore::Error) -> bool {
    error.io_error().is_some_and(|error| error.kind() == io::ErrorKind::NotFound)
}
