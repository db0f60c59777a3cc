//! Nothing is rewritten (decision D20): the command that is shown, assessed and run is the same bytes, and a `find`
//! through artoo prints what `find` prints.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use artoo_proto::{CallStatus, ToolOutcome};
use proptest::prelude::*;
use serde_json::json;

use super::{Fixture, called};

/// Generates a random tree of files, folders and links, hidden ones among them.
fn tree() -> impl Strategy<Value = Vec<(Vec<&'static str>, u8)>> {
    let name = proptest::sample::select(&["a", "b.txt", ".hidden", "c d.md", "ä.txt", "-name"][..]);
    proptest::collection::vec((proptest::collection::vec(name, 1..5), 0_u8..3), 0..20)
}

/// Generates a random `find` command without an action, on a place below the home folder.
fn find() -> impl Strategy<Value = String> {
    let root = proptest::sample::select(&["~", ".", "~/work", "$HOME/work/a", "../work"][..]);
    let depth = proptest::sample::select(&["", " -maxdepth 1", " -maxdepth 3", " -mindepth 2"][..]);
    let test = prop_oneof![
        Just(""),
        Just(" -type f"),
        Just(" -type d"),
        Just(" -name '*.txt'"),
        Just(" -iname '*A*'"),
        Just(" -size +0"),
        Just(" -not -name '.*'"),
        Just(" -path '*a*'"),
        Just(" -type l -o -name b.txt"),
        Just(" -print0"),
    ];
    (root, depth, test).prop_map(|(root, depth, test)| format!("find {root}{depth}{test}"))
}

/// Creates the files, folders and links of a generated tree in the fixture's working folder.
fn grow(fixture: &Fixture, tree: &[(Vec<&str>, u8)]) {
    for (names, kind) in tree {
        let path = names.iter().fold(fixture.home.join("work"), |path, name| path.join(name));
        // If a file has the path of a needed folder, the entry is left out.
        if path.parent().is_some_and(|parent| fs::create_dir_all(parent).is_ok()) {
            drop(match kind {
                0 => fs::write(&path, "x"),
                1 => fs::create_dir(&path),
                _ => symlink(&fixture.home, &path),
            });
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// A `find` through artoo prints the same lines, and succeeds or fails, as without artoo.
    #[doc = "holds: design D20"]
    #[test]
    fn find_runs_as_written(tree in tree(), command in find()) {
        let fixture = Fixture::new();
        grow(&fixture, &tree);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let context = Fixture::context("shell", json!({"command": command}));
        let call = match runtime.block_on(fixture.outcome(&context, None)) {
            ToolOutcome::Called { call } => call,
            ToolOutcome::NeedsConsent { hash, shown, .. } => {
                prop_assert_eq!(&shown, &command, "shown is what runs");
                let grant = fixture.registry.grant(&hash, artoo_proto::ConsentScope::Once);
                called(runtime.block_on(fixture.outcome(&context, Some(grant))))
            }
        };
        prop_assert_eq!(&call.target, &command);
        let mut own = Command::new("sh");
        own.args(["-c", &command]).current_dir(fixture.home.join("work")).env_clear();
        let own = own.env("PATH", "/usr/bin:/bin").env("HOME", &fixture.home).env("LC_ALL", "C.UTF-8").output().unwrap();
        let expected = String::from_utf8_lossy(&own.stdout).into_owned();
        let found = call.output.split("[stderr]\n").next().unwrap_or_default();
        prop_assert_eq!(found.trim_end_matches('\n'), expected.trim_end_matches('\n'));
        prop_assert_eq!(call.status == CallStatus::Ok, own.status.success());
    }
}
