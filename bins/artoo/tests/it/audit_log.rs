//! The audit log: missing lines are reported until they are accepted, and full disks and killed runs do not look like
//! tampering.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use crate::world::{RunOutput, World};

const REQUEST: &str = "how many files are in ~/things";

/// Creates a home folder in which one task has run, so that it has an audit log.
fn used() -> World {
    let world = World::new().with_things();
    check(&world.run(&[REQUEST]), 0, &[]);
    world
}

/// The path of the audit log.
fn log(world: &World) -> PathBuf {
    world.data_dir().join("audit.jsonl")
}

/// Asserts the exit code of a run and that its output contains these texts.
fn check(ran: &RunOutput, code: i32, parts: &[&str]) {
    assert_eq!(ran.code, Some(code), "{ran:?}");
    for part in parts {
        assert!(format!("{}{}", ran.stdout, ran.stderr).contains(part), "{part} in {ran:?}");
    }
}

/// Truncates a log to its first `kept` lines.
fn cut(log: &Path, kept: usize) {
    let text: String = fs::read_to_string(log).unwrap().split_inclusive('\n').take(kept).collect();
    fs::write(log, text).unwrap();
}

/// Removed lines of the audit log are reported by every run of `artoo audit` until the user accepts the gap.
#[test]
fn missing_lines_are_reported_until_accepted() {
    let fresh = World::new().with_things();
    check(&fresh.run(&["audit"]), 0, &["no audit log yet"]);
    /// A function that tampers with the audit log at a path.
    type Tamper = fn(&Path);
    let foreign = "the log was replaced: line ";
    let cases: [(Tamper, &str); 4] = [
        (|log| fs::remove_file(log).unwrap(), "the log was deleted or emptied: "),
        (|log| fs::write(log, "").unwrap(), "the log was deleted or emptied: "),
        (|log| cut(log, 5), "the end of the log was cut off: "),
        (
            |log| {
                let other = World::new().with_things();
                (0..2).for_each(|_| check(&other.run(&[REQUEST]), 0, &[]));
                fs::copy(other.data_dir().join("audit.jsonl"), log).map(drop).unwrap();
            },
            foreign,
        ),
    ];
    for (tamper, problem) in cases {
        let world = used();
        check(&world.run(&["audit"]), 0, &["the chain holds"]);
        tamper(&log(&world));
        check(&world.run(&["audit"]), 1, &["DAMAGED", problem, "it was whole at 20", "artoo audit --accept-gap"]);
        // The next runs continue the log; the gap stays in it.
        for _ in 0..2 {
            check(&world.run(&[REQUEST]), 0, &[]);
            check(&world.run(&["audit"]), 1, &["the chain holds", "MISSING", "noticed at 20", problem]);
        }
        check(&world.run(&["doctor"]), 2, &["FAIL audit log", problem]);
        check(&world.run(&["audit", "--accept-gap"]), 0, &["the chain holds"]);
        assert!(fs::read_to_string(log(&world)).unwrap().contains(r#""event":"gap_accepted""#));
        check(&world.run(&[REQUEST]), 0, &[]);
        check(&world.run(&["audit"]), 0, &["the chain holds"]);
        // A later gap is another one.
        cut(&log(&world), 5);
        check(&world.run(&["audit"]), 1, &["the end of the log was cut off"]);
    }
}

/// A changed line of the audit log is reported until the user accepts it, even after the damaged log was removed.
#[test]
fn changed_evidence_is_reported_until_accepted() {
    let world = used();
    let edited = fs::read_to_string(log(&world)).unwrap().replacen("how many files", "how many fails", 1);
    fs::write(log(&world), edited).unwrap();
    check(&world.run(&[REQUEST]), 0, &[]);
    fs::remove_file(world.data_dir().join("audit.broken-0001.jsonl")).unwrap();
    check(&world.run(&["audit"]), 1, &["damaged at line 2", "renamed to audit.broken-0001.jsonl"]);
    check(&world.run(&["audit", "--accept-gap"]), 0, &[]);
    // Accepting also ends damage that no run has noted yet, of a second process's log too.
    let second = world.data_dir().join("audit-2.jsonl");
    for name in ["audit.jsonl", "audit_stats.json"] {
        let copy = name.replacen(".json", "-2.json", 1);
        fs::copy(world.data_dir().join(name), world.data_dir().join(copy)).unwrap();
    }
    cut(&second, 2);
    cut(&log(&world), 2);
    check(&world.run(&["audit"]), 1, &["audit-2.jsonl: DAMAGED", "audit.jsonl: DAMAGED"]);
    check(&world.run(&["audit", "--accept-gap"]), 0, &["audit-2.jsonl: ", "the chain holds"]);
    // A full file that a later one continues.
    while !world.data_dir().join("audit.0001.jsonl.gz").exists() {
        check(&world.run(&[REQUEST]), 0, &[]);
    }
    check(&world.run(&["audit"]), 0, &["audit.0001.jsonl.gz: "]);
    fs::remove_file(world.data_dir().join("audit.0001.jsonl.gz")).unwrap();
    check(&world.run(&["audit"]), 1, &["audit.0001.jsonl, which this file continues"]);
    check(&world.run(&["audit", "--accept-gap"]), 0, &[]);
}

/// If log and statistics are deleted, the stored evidence shows that lines are missing.
#[test]
fn evidence_reveals_deleted_log_and_statistics() {
    let no_line = "but no log mentions it";
    let world = used();
    for name in ["audit.jsonl", "audit_stats.json", "audit.lock"] {
        fs::remove_file(world.data_dir().join(name)).unwrap();
    }
    check(&world.run(&["audit"]), 1, &["MISSING: evidence of 20", no_line]);
    check(&world.run(&[REQUEST]), 0, &[]);
    check(&world.run(&["audit"]), 1, &["the chain holds", no_line]);
    check(&world.run(&["audit", "--accept-gap"]), 0, &[]);
    check(&world.run(&["audit"]), 0, &[]);
    // The statistics alone, deleted or emptied; then the log cut with them, behind the line that closed the first run.
    for is_emptied in [true, false] {
        let world = used();
        let first = fs::read_to_string(log(&world)).unwrap().lines().count();
        check(&world.run(&[REQUEST]), 0, &[]);
        let stats = world.data_dir().join("audit_stats.json");
        if is_emptied { fs::write(&stats, "") } else { fs::remove_file(&stats) }.unwrap();
        cut(&log(&world), first);
        check(&world.run(&["audit"]), 1, &["the statistics beside the log were deleted or damaged"]);
        check(&world.run(&[REQUEST]), 0, &[]);
        check(&world.run(&["audit"]), 1, &["MISSING: evidence of 20", no_line, "noticed at 20", "statistics"]);
        check(&world.run(&["audit", "--accept-gap"]), 0, &[]);
    }
}

/// Findings of the auditor are reported until the user has run `artoo audit` as text.
#[test]
fn findings_are_reported_until_viewed() {
    let world = World::new().with_things();
    world.file("broken.zip", "no archive");
    check(&world.run(&["unpack ~/broken.zip"]), 9, &["broken.zip: invalid Zip archive"]);
    // A program that reads the JSON does not count as a look.
    let json = world.run(&["audit", "--json"]);
    assert!(json.stdout.contains("\"anomalies\":[\"tool_failed: files failed ("), "{json:?}");
    check(&world.run(&["audit"]), 0, &["Since 20", "1 task:", "files failed (20"]);
    let again = world.run(&["audit"]);
    check(&again, 0, &["Since your last look, 20", "0 tasks; no anomalies"]);
    assert!(!again.stdout.contains("files failed") && !again.stdout.contains("0 attempt"), "{again:?}");
    check(&world.run(&[REQUEST]), 0, &[]);
    check(&world.run(&["audit"]), 0, &["Since your last look, 20", "1 task; no anomalies"]);
    world.check_kept();
}

/// If log and evidence are deleted, files of earlier runs show that the log is missing.
#[test]
fn deleted_log_and_evidence_are_reported() {
    let deleted = "the audit log was deleted: memory.journal is left of earlier runs";
    let world = used();
    world.shell("rm -r .artoo/audit* .artoo/evidence");
    check(&world.run(&["audit"]), 1, &["MISSING", deleted]);
    check(&world.run(&[REQUEST]), 0, &[deleted, "(artoo audit)"]);
    let next = world.run(&[REQUEST]);
    assert!(!next.stderr.contains(deleted), "told by the run that noticed it: {next:?}");
    check(&world.run(&["audit"]), 1, &["the chain holds", "MISSING", deleted]);
    check(&world.run(&["audit", "--accept-gap"]), 0, &[]);
    check(&world.run(&["audit"]), 0, &[]);
    // Accepted before the next run.
    world.shell("rm -r .artoo/audit* .artoo/evidence");
    check(&world.run(&["audit", "--accept-gap"]), 0, &[]);
    check(&world.run(&["audit"]), 0, &["the chain holds"]);
    // A folder without memory of a run had no log.
    let fresh = World::new().with_things();
    fs::create_dir(fresh.data_dir()).unwrap();
    fs::write(fresh.data_dir().join("spending.json"), "{}").unwrap();
    check(&fresh.run(&["audit"]), 0, &["no audit log yet"]);
}

/// Runs killed at different moments leave a valid audit log, and a later run removes the temporary files of ended
/// processes.
#[test]
fn killed_runs_leave_a_valid_log() {
    let world = used();
    for n in 0..20_u64 {
        if n % 3 == 0 {
            check(&world.run(&[REQUEST]), 0, &[]);
        } else {
            let mut child = world.command(&[REQUEST]).spawn().unwrap();
            sleep(Duration::from_millis(7 * n));
            child.kill().unwrap();
            child.wait().unwrap();
            // What a run leaves that is killed between writing and renaming.
            for name in [format!("spending.new-{}", child.id()), format!("evidence/.new-{}-1", child.id())] {
                fs::write(world.data_dir().join(name), "{}").unwrap();
            }
        }
        check(&world.run(&["audit"]), 0, &["the chain holds"]);
    }
    let running = world.data_dir().join(format!("spending.new-{}", std::process::id()));
    fs::write(&running, "{}").unwrap();
    check(&world.run(&[REQUEST]), 0, &[]);
    let left = world.shell("find .artoo -name '*.new-*'");
    assert_eq!(world.home().join(left), running, "only the file of a running process stays");
}

/// A file system of one megabyte mounted at a folder, to test a full disk.
struct SmallDisk(PathBuf);

impl SmallDisk {
    /// Mounts the file system; `None` if the machine does not permit it.
    fn mount(folder: PathBuf) -> Option<Self> {
        fs::create_dir_all(&folder).unwrap();
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs"]).arg(&folder).output();
        mounted.is_ok_and(|mounted| mounted.status.success()).then_some(Self(folder))
    }

    /// Fills the small file system until only `free` bytes are free.
    fn fill(&self, free: u64) {
        let found = rustix::fs::statvfs(&self.0).unwrap();
        let bytes = (found.f_bavail * found.f_frsize).saturating_sub(free);
        fs::write(self.0.join("fill"), vec![0; usize::try_from(bytes).unwrap()]).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        drop(Command::new("umount").arg("-l").arg(&self.0).output());
    }
}

#[test]
fn full_data_disk_exits_with_internal() {
    let world = World::new().with_things();
    let Some(small) = SmallDisk::mount(world.data_dir()) else {
        eprintln!("skipped: mounting a small file system takes root");
        return;
    };
    check(&world.run(&[REQUEST]), 0, &["13"]);
    small.fill(20 * 1024);
    let ran = world.run(&["-q", REQUEST]);
    let folder = world.data_dir();
    let parts =
        ["13", "audit.jsonl\" is incomplete", folder.to_str().unwrap(), "make room in that folder", "--data-dir"];
    check(&ran, 1, &parts);
    // A truncated last line is not reported as damage.
    let torn = "beginning of a line";
    check(&world.run(&["audit"]), 0, &[torn]);
    let ran = world.run(&["--json", REQUEST]);
    check(&ran, 1, &["\"exit_code\":1", "No space left on device"]);
    check(&world.run(&["try", "ls", "things"]), 1, &["--data-dir"]);
    fs::remove_file(small.0.join("fill")).unwrap();
    check(&world.run(&[REQUEST]), 0, &["bytes were removed"]);
    // A task of which no line could be written may be told by its evidence, but not as damage.
    let ran = world.run(&["audit"]);
    assert!(ran.stdout.contains("the chain holds") && !ran.stdout.contains(torn), "{ran:?}");
    assert!(!ran.stdout.contains("DAMAGED"), "{ran:?}");
    check(&world.run(&["audit", "--accept-gap"]), 0, &["the chain holds"]);
    assert!(fs::read_to_string(log(&world)).unwrap().contains(r#""event":"torn_tail""#));
    world.check_kept();
}
