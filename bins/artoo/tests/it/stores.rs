//! Data folders of artoo 0.1.0 are read in full; files of later versions than this one are reported and not changed.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use artoo_proto::Timestamp;
use serde_json::{Value, json};

use crate::pty::{CTRL_D, Pty};
use crate::world::{KEY, RunOutput, World};

/// The home folder of the fixture that artoo 0.1.0 wrote.
const HOME: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/stores-0.1.0/home");

/// The memory of the fixture; it is stored with the tests of `artoo-mkct`.
const MEMORY: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../crates/artoo-mkct/tests/fixtures/artoo-0.1.0/memory.journal");

/// Dates in the fixture, which the tests replace: those on which its rules and undo entries begin and end.
const DAYS: [&str; 2] = ["2026-11-22T", "2026-12-22T"];

const DAY_MS: u128 = 24 * 60 * 60 * 1000;

/// The contents that the fixture's list had before its tasks changed it, the newest first.
const LISTS: [&str; 3] = ["one\ntwo\nthree\nthree\n", "one\ntwo\nthree\n", "one\ntwo\n"];

impl World {
    /// A copy of the home folder that artoo 0.1.0 wrote, with this folder's paths and today's dates, since entries
    /// expire after 30 days.
    fn of_0_1_0() -> Self {
        let world = Self::new();
        copy(Path::new(HOME), &world.home());
        fs::copy(MEMORY, world.data_dir().join("memory.journal")).unwrap();
        let mut edited = vec![world.data_dir().join("rules.json")];
        for entry in fs::read_dir(world.data_dir().join("undo")).unwrap() {
            edited.push(entry.unwrap().path().join("000001/ended.json"));
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
        for path in edited {
            let mut text = fs::read_to_string(&path).unwrap().replace("/home/ada", world.home().to_str().unwrap());
            for (day, ms) in DAYS.iter().zip([now - DAY_MS, now + DAY_MS]) {
                let shifted = Timestamp::from_millis(ms.try_into().unwrap()).to_string();
                text = text.replace(day, &shifted[..DAYS[0].len()]);
            }
            fs::write(path, text).unwrap();
        }
        world
    }

    /// Runs a command that must succeed and returns its JSON output.
    fn json_of(&self, arguments: &[&str]) -> Value {
        let ran = self.run_with_key(arguments);
        assert_eq!(ran.code, Some(0), "{arguments:?}: {ran:?}");
        serde_json::from_str(&ran.stdout).unwrap()
    }

    /// Runs a command with the environment variable that holds the fixture's key.
    fn run_with_key(&self, arguments: &[&str]) -> RunOutput {
        RunOutput::of(self.command(arguments).env("OPENAI_API_KEY", KEY).output().unwrap())
    }
}

/// Copies the fixture's folder with the permission bits that artoo 0.1.0 set, since a checkout keeps only the execute
/// bit.
fn copy(from: &Path, to: &Path) {
    let is_private = |path: &Path| {
        path.components().any(|part| [".artoo", ".config"].map(Some).contains(&part.as_os_str().to_str()))
    };
    fs::create_dir_all(to).unwrap();
    fs::set_permissions(to, Permissions::from_mode(if is_private(to) { 0o700 } else { 0o755 })).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let from = entry.unwrap().path();
        let to = to.join(from.file_name().unwrap());
        if from.is_dir() {
            copy(&from, &to);
        } else {
            fs::copy(&from, &to).unwrap();
            fs::set_permissions(&to, Permissions::from_mode(if is_private(&to) { 0o600 } else { 0o644 })).unwrap();
        }
    }
}

/// The audit log of artoo 0.1.0 passes verification and is continued.
#[test]
fn old_audit_log_verifies_and_is_continued() {
    let world = World::of_0_1_0();
    let before = world.json_of(&["audit", "--json"]);
    assert_eq!((&before["sound"], &before["logs"][0]["lines"]), (&json!(true), &json!(229)), "{before}");
    let text = world.run_with_key(&["audit"]).stdout;
    assert!(text.contains("  in all: 6 tasks\n") && text.contains(": 6 tasks; no anomalies"), "{text}");
    let ran = world.run_with_key(&["--model", "reflex", "how many txt files are in ~/notes"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "2\n"), "{ran:?}");
    let after = world.json_of(&["audit", "--json"]);
    assert_eq!(after["sound"], json!(true), "{after}");
    let lines = after["logs"].as_array().unwrap().iter().map(|log| log["lines"].as_u64().unwrap());
    assert!(lines.sum::<u64>() > 229, "{after}");
    let text = world.run_with_key(&["audit"]).stdout;
    assert!(text.contains("  in all: 7 tasks\n") && text.contains(": 1 task; no anomalies"), "{text}");
    world.check_kept();
    // One letter changed in an old line shows.
    let world = World::of_0_1_0();
    let log = world.data_dir().join("audit.jsonl");
    let edited = fs::read_to_string(&log).unwrap().replacen("notes", "votes", 1);
    fs::write(&log, edited).unwrap();
    assert_eq!(world.run_with_key(&["audit"]).code, Some(1));
}

/// A statistics file of a later version is renamed and not changed.
#[test]
fn newer_audit_statistics_are_set_aside() {
    let world = World::of_0_1_0();
    let path = world.data_dir().join("audit_stats.json");
    let newer = fs::read_to_string(&path).unwrap().replacen("\"version\": 1", "\"version\": 99", 1);
    fs::write(&path, &newer).unwrap();
    let ran = world.run_with_key(&["--model", "reflex", "how many txt files are in ~/notes"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(fs::read_to_string(world.data_dir().join("audit_stats.json.unusable")).unwrap(), newer);
    let log = fs::read_to_string(world.data_dir().join("audit.jsonl")).unwrap();
    assert!(log.contains("has version 99, not 1"), "{ran:?}");
}

/// Undo entries of artoo 0.1.0 can be undone.
#[test]
fn old_undo_entries_are_restored() {
    let world = World::of_0_1_0();
    let listed = world.json_of(&["undo", "--list", "--json"]);
    assert_eq!((listed["entries"].as_array().unwrap().len(), &listed["forgotten"]), (4, &json!(0)), "{listed}");
    let list = world.home().join("list.txt");
    for expected in LISTS {
        let ran = world.run_with_key(&["undo", "--yes"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert_eq!(fs::read_to_string(&list).unwrap(), expected);
    }
    let ran = world.run_with_key(&["undo", "--yes"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    for (name, text) in [("old draft.tmp", "first try\n"), ("second.tmp", "second try\n")] {
        assert_eq!(fs::read_to_string(world.home().join("notes").join(name)).unwrap(), text);
    }
    assert!(!world.home().join(".local/share/Trash/info/second.tmp.trashinfo").exists());
    assert_eq!(world.run_with_key(&["undo", "--yes"]).code, Some(9), "nothing is left to undo");
}

/// An undo entry of a later version is reported and not changed.
#[test]
fn newer_undo_entry_is_reported_and_unchanged() {
    let world = World::of_0_1_0();
    let folder = world.data_dir().join("undo");
    let entry = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let entry = entry.into_iter().find(|path| path.to_string_lossy().contains("delete_the_files")).unwrap();
    let note = entry.join("000001/ended.json");
    let newer = fs::read_to_string(&note).unwrap().replacen("\"version\":1", "\"version\":3", 1);
    fs::write(&note, &newer).unwrap();
    for arguments in [&["undo", "--list"][..], &["undo", "--yes"]] {
        let ran = world.run_with_key(arguments);
        assert_ne!(ran.code, Some(0), "{ran:?}");
        assert!(ran.stderr.contains("version 3") && ran.stderr.contains("delete_the_files"), "{ran:?}");
    }
    // An act makes room for itself by forgetting old entries; this one is not among them.
    let ran = world.run_with_key(&["--model", "reflex", "delete the files in ~/notes ending in .txt"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(fs::read_to_string(&note).unwrap(), newer);
}

/// Stored tool output of artoo 0.1.0 is listed and verified.
#[test]
fn old_evidence_is_listed_and_verified() {
    let world = World::of_0_1_0();
    let listed = world.json_of(&["evidence", "list", "--json"]);
    let calls = listed["calls"].as_array().unwrap();
    let tools: Vec<&str> = calls.iter().map(|call| call["tool"].as_str().unwrap()).collect();
    assert_eq!(tools, ["glob", "glob", "glob", "files", "glob"], "{listed}");
    for (call, expected) in calls.iter().zip(["2", "notes/second.tmp", "notes/second.tmp", "second.tmp", "tuesday.txt"])
    {
        let shown = world.json_of(&["evidence", "show", call["evidence_id"].as_str().unwrap(), "--json"]);
        let text = shown["calls"][0]["streams"][0]["text"].as_str().unwrap();
        assert!(text.contains(expected), "{shown}");
    }
}

/// Stored tool output of a later version is not changed.
#[test]
fn newer_evidence_is_unchanged() {
    let world = World::of_0_1_0();
    let today =
        Timestamp::from_millis(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis().try_into().unwrap());
    let folder = world.data_dir().join("evidence");
    let pack = folder.join(format!("{}.000.pack", &today.to_string()[..10]));
    let mut newer = fs::read(folder.join("2026-11-22.000.pack")).unwrap();
    newer.extend(b"{\"picture\":{\"of\":\"a later version\",\"bytes\":3}}\nabc\n");
    fs::write(&pack, &newer).unwrap();
    let ran = world.run_with_key(&["--model", "reflex", "how many txt files are in ~/notes"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(fs::read(&pack).unwrap() == newer, "the pack was changed");
    let listed = world.json_of(&["evidence", "list", "--json"]);
    let task = listed["calls"].as_array().unwrap().last().unwrap()["task_id"].as_str().unwrap().to_owned();
    assert!(task.starts_with("how_many_txt-") && !task.contains("b0f17082"), "the new call is kept: {listed}");
}

/// A standing approval of artoo 0.1.0 applies; one of a later version does not.
#[test]
fn old_consent_rule_applies_newer_does_not() {
    let world = World::of_0_1_0();
    let shown = world.run_with_key(&["rules", "list"]);
    assert!(shown.code == Some(0) && shown.stdout.contains("r1") && shown.stdout.contains("/notes"), "{shown:?}");
    let delete = ["--model", "reflex", "delete the files in ~/notes ending in .txt"];
    let rules = world.data_dir().join("rules.json");
    let sound = fs::read_to_string(&rules).unwrap();
    let newer = sound.replacen("\"issued\"", "\"version\": 2, \"issued\"", 1);
    fs::write(&rules, &newer).unwrap();
    let ran = world.run_with_key(&delete);
    assert_eq!(ran.code, Some(6), "{ran:?}");
    let listed = world.run_with_key(&["rules", "list"]);
    assert!(listed.code != Some(0) && listed.stderr.contains("unknown field `version`"), "{listed:?}");
    assert_eq!(fs::read_to_string(&rules).unwrap(), newer);
    assert!(world.home().join("notes/monday.txt").exists());
    // The same request passes under the rule as it was.
    fs::write(&rules, &sound).unwrap();
    assert_eq!(world.run_with_key(&delete).code, Some(0));
    assert!(!world.home().join("notes/monday.txt").exists());
}

/// The configuration of artoo 0.1.0 is read; a setting of a later version is refused.
#[test]
fn old_configuration_is_read_newer_refused() {
    let world = World::of_0_1_0();
    let shown = world.run_with_key(&["config", "show", "--origin"]).stdout;
    for line in ["model_name = \"a-model\"", "base_url = \"http://127.0.0.1:8080/v1\"", "config.toml"] {
        assert!(shown.contains(line), "{line} in {shown}");
    }
    let path = world.home().join(".config/artoo/config.toml");
    let newer = fs::read_to_string(&path).unwrap() + "version = \"2\"\n";
    fs::write(&path, &newer).unwrap();
    let ran = world.run_with_key(&["config", "show"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("config.toml:6") && ran.stderr.contains("version"), "{ran:?}");
    assert_eq!(fs::read_to_string(&path).unwrap(), newer);
}

/// The costs of tasks that artoo 0.1.0 stored are used for estimates.
#[test]
fn old_spending_informs_estimates() {
    let world = World::of_0_1_0();
    let learnt = |world: &World| {
        let ran = world.run_with_key(&["--estimate", "--json", "add a line to list.txt"]);
        let lines = ran.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.into_iter().find(|line| line["event"] == "estimate").expect("an estimate")["estimate"].clone()
    };
    let estimate = learnt(&world);
    assert_eq!((&estimate["tasks_learnt_from"], &estimate["likely"]["calls"]), (&json!(3), &json!(5)), "{estimate}");
    fs::remove_file(world.data_dir().join("spending.json")).unwrap();
    assert_ne!(learnt(&world)["tasks_learnt_from"], 3);
}

/// The prompt's history of artoo 0.1.0 is read.
#[test]
fn old_history_is_read() {
    let world = World::of_0_1_0();
    let mut command = world.command(&["--model", "reflex"]);
    command.env("OPENAI_API_KEY", KEY);
    let mut pty = Pty::start(&command, 120);
    pty.prompt("");
    pty.send("\u{1b}[A");
    pty.prompt("/memory");
    pty.send("\u{1b}[A");
    pty.prompt("which file in ~/notes is the largest");
    pty.send("\r");
    pty.see("tuesday.txt");
    pty.ended_tasks(1);
    pty.prompt("");
    pty.send(CTRL_D);
    assert_eq!(pty.ended().0, 0);
}

/// The memory of artoo 0.1.0 is continued; one of a later version is not changed.
#[test]
fn old_memory_is_continued_newer_unchanged() {
    let world = World::of_0_1_0();
    let path = world.data_dir().join("memory.journal");
    let before = fs::read(&path).unwrap();
    let request = ["--model", "reflex", "how many txt files are in ~/notes"];
    let ran = world.run_with_key(&request);
    assert!(ran.code == Some(0) && !ran.stderr.contains("memory"), "{ran:?}");
    let after = fs::read(&path).unwrap();
    assert!(after.len() > before.len() && after.starts_with(&before), "the journal goes on behind what it held");

    let mut newer = before;
    newer[8] = 2;
    // The checksum of a header of version 2.
    newer[12..16].copy_from_slice(&[0x0c, 0x9c, 0xd7, 0x5b]);
    for name in ["memory.snapshot", "memory.inbox"] {
        drop(fs::remove_file(world.data_dir().join(name)));
    }
    fs::write(&path, &newer).unwrap();
    let ran = world.run_with_key(&request);
    assert!(ran.stderr.contains("memory.journal") && ran.stderr.contains("version 2"), "{ran:?}");
    assert!(fs::read(&path).unwrap() == newer, "the journal was changed");
}

/// The memory of artoo 0.1.0 can be exported as a LevelDB index.
#[test]
fn old_memory_is_exported_as_leveldb() {
    let world = World::of_0_1_0();
    let target = world.home().join("index");
    let ran = world.run_with_key(&["memory", "index", target.to_str().unwrap()]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(ran.stdout, format!("12 records written to {}\n", target.display()));
    let names: Vec<String> =
        fs::read_dir(&target).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(
        names.contains(&"CURRENT".to_owned()) && names.iter().any(|name| name.starts_with("MANIFEST-")),
        "{names:?}"
    );
    let holds = |needle: &[u8]| {
        names
            .iter()
            .any(|name| fs::read(target.join(name)).unwrap().windows(needle.len()).any(|window| window == needle))
    };
    assert!(holds(b"x|intent:count_the_files|via:glob|") && holds(b"l|M|") && holds(b"m|0"), "{names:?}");
    // A folder with files in it is left alone.
    let ran = world.run_with_key(&["memory", "index", target.to_str().unwrap()]);
    assert!(ran.code == Some(2) && ran.stderr.contains("name a new or an empty folder"), "{ran:?}");
    fs::remove_file(world.data_dir().join("memory.journal")).unwrap();
    let ran = world.run_with_key(&["memory", "index", world.home().join("other").to_str().unwrap()]);
    assert!(ran.code == Some(2) && ran.stderr.contains("there is no memory"), "{ran:?}");
}

/// An index folder of artoo 0.1.0 in the data folder is reported and not changed.
#[test]
fn old_index_folder_is_reported_and_unchanged() {
    let world = World::of_0_1_0();
    let index = world.data_dir().join("memory.index");
    fs::create_dir(&index).unwrap();
    fs::write(index.join("CURRENT"), "MANIFEST-000001\n").unwrap();
    let ran = world.run_with_key(&["--model", "reflex", "how many txt files are in ~/notes"]);
    assert!(ran.code == Some(0) && ran.stderr.contains("memory.index"), "{ran:?}");
    assert_eq!(fs::read_to_string(index.join("CURRENT")).unwrap(), "MANIFEST-000001\n");
}
