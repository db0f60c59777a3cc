use artoo_proto::{Environment, Timestamp};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{KINDS, shorthand, steps};
use crate::algebra::{Act, Query, Step};
use crate::english::english_steps;
use crate::testing::MemoryFileSystem;

fn environment() -> Environment {
    Environment {
        cwd: "/home/ada/notes".into(),
        home: "/home/ada".into(),
        workspace: "/home/ada/artoo_workspace".into(),
        os: "linux".into(),
        utc_offset_s: 0,
    }
}

fn disk() -> MemoryFileSystem {
    let now = Timestamp::parse("2024-05-15T12:00:00Z").unwrap();
    let mut fs = MemoryFileSystem { now, ..MemoryFileSystem::new("/home/ada/notes") };
    fs.add_file("/home/ada/notes/a.txt", "one\ntone\n", now);
    fs.add_file("/home/ada/notes/.env", "PORT=1\n", now);
    fs.add_file("/home/ada/notes/w*.txt", "x\n", now);
    fs.add_folder("/home/ada/old", now);
    fs
}

/// The English of a check, or what is wrong with it.
fn read(check: &Value) -> String {
    steps(check, &environment(), &disk()).map_or_else(|error| format!("! {error}"), |steps| english_steps(&steps))
}

/// The English of a check in a script, or what is wrong with it.
fn read_short(text: &str) -> String {
    shorthand(text, &environment(), &disk()).map_or_else(|error| format!("! {error}"), |steps| english_steps(&steps))
}

/// One example or more of every kind.
fn examples() -> Vec<(Value, &'static str)> {
    vec![(json!({"kind": "removed", "paths": ["~/a.tmp", "b"]}), "")]
}

#[test]
fn every_kind_has_its_step() {
    for (check, _) in examples() {
        println!("{check}\n    {}", read(&check));
    }
}
