//! Measures how much longer a command takes in a view, with reading its changes and committing them, than without
//! artoo. The figures count in a release build only.

use std::os::unix::fs::MetadataExt;
use std::time::Instant;

use super::random::Runner;
use super::*;
use crate::change::{Places, classify};

/// Number of rounds in which each cost is measured; their median is printed.
const ROUNDS: usize = 5;

/// Maximum bytes that the commit of one file may write to disk, all of them to the journal.
const JOURNAL_BYTES: u64 = 64 * 1024;

const MANY: &str = "/usr/bin/python3 -c \"
import os
os.mkdir('many') if NEW else None
for n in range(20000):
    f = open(f'many/f{n}', 'w'); f.write('line of some file\\n'); f.close()
\"";

/// Bytes that this thread has written so far, by `/proc`.
fn written() -> u64 {
    let told = fs::read_to_string("/proc/thread-self/io").unwrap();
    told.lines().find_map(|line| line.strip_prefix("wchar: ")).unwrap().parse().unwrap()
}

/// Commits a new file of this many megabytes, deletes it and undoes that, and checks that the file is moved each time,
/// not copied; `false` if this machine supports no views.
fn check_large(megabytes: u32) -> bool {
    let home = Home::new(false);
    if !home.run_in_view(&format!("dd if=/dev/zero of=ws/large bs=1M count={megabytes}")) {
        return false;
    }
    let inode = fs::metadata(home.root.join("upper/ws/large")).unwrap().ino();
    let set = home.read_changes();
    let (before, start) = (written(), Instant::now());
    home.commit_whole(&set);
    let (bytes, time) = (written() - before, start.elapsed());
    let large = home.workspace().join("large");
    assert_eq!(fs::metadata(&large).unwrap().ino(), inode);
    assert!(bytes < JOURNAL_BYTES, "{bytes} bytes were written");
    // A deletion moves the file as well, and so does its undo.
    assert!(home.run_in_view("rm ws/large"));
    home.commit_whole(&home.read_changes());
    home.undo();
    assert_eq!(fs::metadata(&large).unwrap().ino(), inode);
    assert!(written() - before < 4 * JOURNAL_BYTES);
    eprintln!("a new file of {megabytes} MB: committed in {time:?}, {bytes} bytes written");
    true
}

/// A commit renames a large new file into place instead of copying it.
#[test]
fn large_new_file_is_renamed_into_place() {
    check_large(64);
}

/// Measures commits of many files and of large ones: `cargo test --release -p artoo-tools --lib costs -- --ignored
/// --nocapture`
#[test]
#[ignore = "tells figures of a release build"]
fn costs_of_many_and_large_files() {
    for (name, is_new) in [("in a new folder", "True"), ("in a folder that is there", "False")] {
        let script = MANY.replace("NEW", is_new);
        let mut all: [Vec<Duration>; 6] = Default::default();
        for _ in 0..ROUNDS {
            let (home, other) = (Home::new(false), Home::new(false));
            if is_new == "False" {
                let _ = [&home, &other].map(|home| fs::create_dir(home.home.join("many")).unwrap());
            }
            let (runner, places) = (Runner::new(&home), (home.workspace(), home.protected()));
            let Some(view) = runner.view() else { return };
            let mut times = Vec::new();
            let mut start = Instant::now();
            let mut lap = || times.push(std::mem::replace(&mut start, Instant::now()).elapsed());
            runner.run(&script, &other.home, None);
            lap();
            runner.run(&script, &home.home, Some(&view));
            lap();
            let set = scan_changes(view.layers(), &view.renamed(), SystemTime::now(), &limit()).unwrap();
            lap();
            classify(&set, &Places { workspace: &places.0, command_folders: &[], protected: &places.1 });
            lap();
            home.commit_whole(&set);
            lap();
            home.undo();
            lap();
            assert!(!home.home.join("many/f1").exists());
            all.iter_mut().zip(times).for_each(|(all, time)| all.push(time));
        }
        let [bare, run, seen, judged, committed, undone] = all.map(|mut times| {
            times.sort();
            times[ROUNDS / 2]
        });
        let ratio = (run + seen + judged + committed).as_secs_f64() / bare.as_secs_f64();
        eprintln!(
            "20000 files {name}: bare {bare:?}, in a view {run:?}, look {seen:?}, classify {judged:?}, commit \
             {committed:?}: {ratio:.2} times bare; undo {undone:?}"
        );
    }
    check_large(1024);
}
