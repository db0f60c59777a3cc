//! What a look and a commit cost beside the bare act; run by hand in a release build, the test itself only counts bytes.

use std::os::unix::fs::MetadataExt;
use std::time::Instant;

use super::*;

/// Rounds of which the median is told.
const ROUNDS: usize = 3;

const MANY: &str = "/usr/bin/python3 -c \"
import os
os.mkdir('ws/many') if NEW else None
for n in range(20000):
    f = open(f'ws/many/f{n}', 'w'); f.write('line of some file\\n'); f.close()
\"";

#[test]
fn a_large_new_file_is_renamed_into_place() {
    let home = Home::new(false);
    if !home.run_in_view("dd if=/dev/zero of=ws/large bs=1M count=64") {
        return;
    }
    let inode = fs::metadata(home.root.join("upper/ws/large")).unwrap().ino();
    home.commit_whole(&home.look());
    let large = home.workspace().join("large");
    assert_eq!(fs::metadata(&large).unwrap().ino(), inode);
    // A deletion moves it as well, and so does its undo.
    assert!(home.run_in_view("rm ws/large"));
    home.commit_whole(&home.look());
    home.undo();
    assert_eq!(fs::metadata(&large).unwrap().ino(), inode);
}

/// `cargo test --release -p artoo-tools --lib costs -- --ignored --nocapture`
#[test]
#[ignore = "tells figures of a release build"]
fn costs_of_many_files_and_of_a_large_one() {
    for (name, is_new) in [("in a new folder", "True"), ("in a folder that is there", "False")] {
        let script = MANY.replace("NEW", is_new);
        let (mut bare, mut seen, mut committed, mut undone) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            let home = Home::new(false);
            let other = Home::new(false);
            if is_new == "False" {
                fs::create_dir(home.workspace().join("many")).unwrap();
                fs::create_dir(other.workspace().join("many")).unwrap();
            }
            let start = Instant::now();
            other.run_bare(&script);
            bare.push(start.elapsed());
            if !home.run_in_view(&script) {
                return;
            }
            let start = Instant::now();
            let set = home.look();
            seen.push(start.elapsed());
            let start = Instant::now();
            home.commit_whole(&set);
            committed.push(start.elapsed());
            let start = Instant::now();
            home.undo();
            undone.push(start.elapsed());
        }
        for times in [&mut bare, &mut seen, &mut committed, &mut undone] {
            times.sort();
        }
        eprintln!(
            "20000 files {name}: bare {:?}, look {:?}, commit {:?}, undo {:?}",
            bare[ROUNDS / 2],
            seen[ROUNDS / 2],
            committed[ROUNDS / 2],
            undone[ROUNDS / 2]
        );
    }
    let home = Home::new(false);
    for script in ["dd if=/dev/zero of=ws/large bs=1M count=1024", "rm ws/large"] {
        home.run_in_view(script);
        let start = Instant::now();
        let set = home.look();
        let seen = start.elapsed();
        let start = Instant::now();
        home.commit_whole(&set);
        eprintln!("{script}: look {seen:?}, commit {:?}", start.elapsed());
    }
    let start = Instant::now();
    home.undo();
    eprintln!("undo of rm: {:?}", start.elapsed());
}
