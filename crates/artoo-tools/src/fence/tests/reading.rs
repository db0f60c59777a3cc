//! A reading run prints what the command prints without a sandbox, and is denied nothing.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::{Duration, SystemTime};

use super::test_home::TestHome;
use crate::fence::{Denial, Fence};
use crate::process::Ended;

/// Time limit of a command, long enough for every row on a busy machine.
const TIME: Duration = Duration::from_secs(120);

/// Maximum number of attempts for a command whose outputs differ, because values such as free space change between runs.
const TRIES: usize = 4;

/// Time between two runs of a command whose outputs differed.
const PAUSE: Duration = Duration::from_millis(100);

/// Paths of the tables from which the tests take commands that only read.
const TABLES: [&str; 2] = [
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/commands/reading.tsv"),
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/commands/everyday.tsv"),
];

/// Commands whose output in the sandbox differs from that outside, each with the reason.
const OTHERWISE: [(&str, &str); 5] = [
    ("getconf -a", "it prints the limits of its run"),
    ("ps -eo pid,ppid,comm --sort=-rss | head", "it lists the process that holds its run"),
    ("ps aux --sort=-%mem | head -5", "it lists the process that holds its run"),
    ("ps -u root -o comm= | sort -u | head -3", "it lists the process that holds its run"),
    ("pstree -p", "it lists the process that holds its run"),
];

/// The commands of the tables that only read.
fn rows() -> Vec<String> {
    let tables = TABLES.map(|path| fs::read_to_string(path).unwrap());
    let line = |line: &str| match line.split_once('\t') {
        Some(("read_only", command)) => Some(command.replace('␤', "\n")),
        Some(("creating", _)) => None,
        _ => (!line.starts_with('#') && !line.is_empty()).then(|| line.replace('␤', "\n")),
    };
    let mut rows: Vec<String> = tables.iter().flat_map(|table| table.lines().filter_map(line)).collect();
    rows.dedup();
    rows
}

/// A home whose working folder has all files that the rows of the table name.
pub(super) fn furnished() -> TestHome {
    let home = TestHome::new();
    let text = "one 1 e\ntwo 2 e\n# three\nTODO foo 7\nfn main\n";
    for name in ["old.txt", "dir/a.txt", "dir/inner/b.md", "dir2/a.txt", "src/main.rs", "src/lib.rs", "Cargo.toml"] {
        home.file(&format!("work/{name}"), text);
    }
    home.file("work/other.txt", "one 1 e\nother\n");
    home.file("work/old.md", "edition\n");
    for name in ["notes.md", "report.pdf", "names.txt", "migrations.sql", "data.txt", "main.c", "a.txt", "b.txt"] {
        home.file(&format!("work/keep_{name}"), text);
    }
    home.file("work/keep_data.json", "{\"items\": [{\"a\": 4, \"name\": \"x\"}]}\n");
    home.file("work/keep_sales.csv", "a,1\nb,2\n");
    home.file("work/keep_dos.txt", "a\r\nb\r\n");
    home.file("work/keep_photo.jpg", "\u{7f}x");
    home.file("work/keep_x.iso", "iso");
    home.file("work/keep_makefile", "all: old.txt\n\t@echo making\n\ttouch made\n");
    home.file("work/keep_patch", "--- old.txt\n+++ old.txt\n@@ -1 +1 @@\n-one 1 e\n+two\n");
    home.file("work/localmodule.py", "x = 1\n");
    let locked = home.file("work/ro.txt", text);
    fs::set_permissions(locked, fs::Permissions::from_mode(0o444)).unwrap();
    symlink("old.txt", home.path.join("work/link")).unwrap();
    fs::create_dir_all(home.path.join("Documents")).unwrap();
    let setup = "tar czf a.tgz dir; tar cf a.tar dir; gzip -k < old.txt > a.gz; cp a.tgz keep_backup.tgz
        zip -qr a.zip dir; cp a.zip keep_archive.zip; xz -k < old.txt > keep_a.xz; bzip2 < old.txt > keep_a.bz2
        git init -q -b main . && git config user.name me && git config user.email me@x
        git add old.txt dir src && git commit -qm one && git tag v1 && git branch topic
        echo more >> other.txt; git add other.txt && git commit -qm two && echo changed >> dir/a.txt; true";
    bare(&home, setup);
    home
}

/// Runs a command without the sandbox, to compare it with a reading run.
pub(super) fn bare(home: &TestHome, command: &str) -> Ended {
    home.start(Fence::default(), command, TIME, false).unwrap()
}

/// Runs a command in a sandbox as a reading run, which may change nothing.
pub(super) fn reading_run(home: &TestHome, command: &str) -> Ended {
    home.start(Fence::of_reading_run(&home.protected), command, TIME, true).unwrap()
}

/// Exit code, signal, standard output and standard error of a run, without the name of its temporary folder.
type Seen = (Option<i32>, Option<i32>, String, String);

/// What a test compares of a run: exit code and output, with temporary paths replaced.
fn seen(ended: &Ended) -> Seen {
    let temporary = format!("{}/artoo-", std::env::temp_dir().canonicalize().unwrap().display());
    let text = |stream: &crate::process::Captured| {
        let bytes = [stream.head(), &stream.tail()].concat();
        let text = bytes.iter().map(|byte| char::from(*byte)).collect::<String>();
        let mut parts = text.split(&temporary);
        let first = parts.next().unwrap_or_default().to_owned();
        let is_name = |c: char| c.is_ascii_hexdigit() || c == '-';
        parts.fold(first, |text, part| text + "TMPDIR" + part.trim_start_matches(is_name))
    };
    (ended.exit_code, ended.signal, text(&ended.stdout), text(&ended.stderr))
}

/// Changes the modification times of tracked files, so that git wants to refresh its index.
fn outdate(home: &TestHome) {
    for name in ["old.txt", "src/main.rs"] {
        let file = fs::File::options().append(true).open(home.path.join("work").join(name)).unwrap();
        file.set_modified(SystemTime::now()).unwrap();
    }
}

/// The result of comparing a reading run with bare runs: the same, not comparable, or different.
enum Outcome {
    Same,
    Missing,
    Varies,
    Service,
    Differs(String),
}

/// Compares a reading run with two bare runs. In the first attempt it comes before both, because a bare run may write
/// caches; later it comes between them, because another process may change what the command prints, and each run begins
/// after a pause, because the kernel frees the inodes of the run before with a delay, which `df -i` shows.
fn tried(home: &TestHome, command: &str, attempt: usize) -> Outcome {
    let is_git = command.contains("git");
    let prepare = || {
        if attempt > 0 {
            std::thread::sleep(PAUSE);
        }
        if is_git {
            outdate(home);
        }
    };
    let bare_run = || {
        prepare();
        bare(home, command)
    };
    let earlier = (attempt > 0).then(bare_run);
    prepare();
    let before = home.state();
    let read = reading_run(home, command);
    let after = home.state();
    let (first, second) = (earlier.unwrap_or_else(bare_run), bare_run());
    let (one, two) = (seen(&first), seen(&second));
    if one.0 == Some(127) {
        return Outcome::Missing;
    }
    if read.denied.iter().any(|denial| matches!(denial, Denial::UnixSocket(_))) {
        return Outcome::Service;
    }
    if !read.denied.is_empty() || read.is_stopped {
        return Outcome::Differs(format!("{command:?}: denied {:?}", read.denied));
    }
    if (after.facts, after.times) != (before.facts, before.times) {
        return Outcome::Differs(format!("{command:?}: it changed something"));
    }
    let found = seen(&read);
    match (found == one || found == two, one == two) {
        (true, _) => Outcome::Same,
        (false, false) => Outcome::Varies,
        (false, true) => Outcome::Differs(format!("{command:?}: {}", difference(&one, &found))),
    }
}

/// The first difference between a run without sandbox and a reading run, as text: exit status or a line of output.
fn difference(bare: &Seen, read: &Seen) -> String {
    if (bare.0, bare.1) != (read.0, read.1) {
        return format!("ended with {:?} bare and {:?} in a reading run", (bare.0, bare.1), (read.0, read.1));
    }
    let lines = |run: &Seen| [&run.2, &run.3].map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).concat();
    let (bare, read) = (lines(bare), lines(read));
    let first = (0..bare.len().max(read.len())).find(|line| bare.get(*line) != read.get(*line));
    let first = first.map(|line| (bare.get(line), read.get(line)));
    format!("{first:?} is the first line that differs, bare and in a reading run")
}

/// A reading run prints the same as a run without sandbox, for every installed command of the tables that only reads,
/// asks no service, repeats its output, and is not listed as an exception.
#[doc = "holds: law 1.16"]
#[test]
fn reading_runs_print_what_bare_runs_print() {
    let home = furnished();
    let (mut counts, mut differing, mut left_out) = (BTreeMap::<&str, usize>::new(), Vec::new(), Vec::new());
    for command in rows() {
        let outcomes = (0..TRIES).map(|attempt| tried(&home, &command, attempt));
        let outcome = outcomes.find_or_last(|outcome| !matches!(outcome, Outcome::Differs(_)));
        let (name, said) = match outcome {
            Some(Outcome::Same) => ("same", None),
            Some(Outcome::Missing) => ("not installed", Some(command.clone())),
            Some(Outcome::Varies) => ("differs from itself", Some(command.clone())),
            Some(Outcome::Service) => ("asks a service", Some(command.clone())),
            Some(Outcome::Differs(how)) => match OTHERWISE.iter().find(|(row, _)| *row == command) {
                Some((_, why)) => ("otherwise", Some(format!("{command}: {why}"))),
                None => {
                    differing.push(how);
                    ("differs", None)
                }
            },
            None => continue,
        };
        *counts.entry(name).or_default() += 1;
        left_out.extend(said.map(|said| format!("{name}: {said:?}")));
    }
    super::print_uncaptured(&format!("{counts:?}\n{}", left_out.join("\n")));
    assert!(differing.is_empty(), "{} differ: {}", differing.len(), differing.join("\n"));
    assert!(counts["same"] >= 120, "{counts:?}");
}

/// Adds `find_or_last` to iterators, which returns the first item that matches, or else the last one.
trait FindOrLast: Iterator + Sized {
    /// The first item for which `fits` is true, or else the last one.
    fn find_or_last(self, fits: impl Fn(&Self::Item) -> bool) -> Option<Self::Item> {
        let mut last = None;
        for item in self {
            if fits(&item) {
                return Some(item);
            }
            last = Some(item);
        }
        last
    }
}

impl<I: Iterator> FindOrLast for I {}
