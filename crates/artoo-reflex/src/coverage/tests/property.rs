//! Property tests: work done as requested is covered, and any missing, different or additional change is reported.

use proptest::prelude::*;

use super::*;
use crate::algebra::{ModeChange, NameChange, Part, Target};

/// The number of different steps that [`step`] makes.
const KINDS: u8 = 12;

/// A step of this kind (a number below [`KINDS`]) on the folder `/w/{at}`.
fn step(kind: u8, at: usize) -> Step {
    let path = |name: &str| format!("/w/{at}/{name}");
    let tmp = || {
        let tree = Query::Tree { roots: vec![format!("/w/{at}")], depth: Depth::Whole, hidden: true, kind: Kind::File };
        Query::Filter { of: Box::new(tree), keep: Pred::Name(NameTest::Ends(".tmp".to_owned())) }
    };
    let folder = || Query::Paths { paths: vec![path("d")], kind: Kind::Any };
    Step::Do(match kind {
        0 => Act::CreateFolder { paths: vec![path("new")] },
        1 => Act::CreateFile { path: path("new.txt"), text: "hello\n".to_owned() },
        2 => Act::Copy { of: folder(), to: Target::As(path("copy")) },
        3 => Act::Move { of: folder(), to: Target::Into(path("into")) },
        4 => Act::Rename { of: tmp(), change: NameChange::Prefix("old-".to_owned()) },
        5 => Act::Delete { of: folder() },
        6 => Act::Replace { path: path("a.txt"), find: "two".to_owned(), with: "2".to_owned(), to: path("r.txt") },
        7 => {
            let first = Query::Part { of: Box::new(text(&path("a.txt"))), part: Part::First(1) };
            Act::Save { of: first, to: path("a.txt") }
        }
        8 => Act::Insert { path: path("a.txt"), text: "x\n".to_owned(), at_start: true },
        9 => Act::SetValue { path: path(".env"), section: None, key: "K".to_owned(), value: "9".to_owned() },
        10 => Act::SetMode { of: file(&path("a.txt")), mode: ModeChange::Bits(0o600) },
        _ => return Step::Ask(Query::Aggregate { of: Box::new(tmp()), function: Function::Count }),
    })
}

/// The files in the folder `/w/{at}` that a step works on.
fn files(at: usize) -> Vec<(String, &'static str)> {
    [("a.txt", "one\ntwo\n"), ("x.tmp", "x"), ("d/y.tmp", "y"), ("d/z.txt", "z"), (".env", "K=1\nL=2\n"), ("keep", "k")]
        .map(|(name, content)| (format!("/w/{at}/{name}"), content))
        .to_vec()
}

/// Performs the step of this kind in `/w/{at}`, with recorded calls.
fn perform(world: &mut World, kind: u8, at: usize) {
    let path = |name: &str| format!("/w/{at}/{name}");
    match kind {
        0 => world.folder(&path("new")),
        1 => world.write(&path("new.txt"), "hello\n"),
        2 => {
            world.folder(&path("copy"));
            world.write(&path("copy/y.tmp"), "y");
            world.write(&path("copy/z.txt"), "z");
        }
        3 => {
            world.folder(&path("into"));
            world.folder(&path("into/d"));
            world.rename(&path("d/y.tmp"), &path("into/d/y.tmp"));
            world.rename(&path("d/z.txt"), &path("into/d/z.txt"));
            world.remove(&path("d"));
        }
        4 => {
            world.rename(&path("x.tmp"), &path("old-x.tmp"));
            world.rename(&path("d/y.tmp"), &path("d/old-y.tmp"));
        }
        5 => {
            for name in ["d/y.tmp", "d/z.txt", "d"] {
                world.remove(&path(name));
            }
        }
        6 => world.write(&path("r.txt"), "one\n2\n"),
        7 => world.write(&path("a.txt"), "one\n"),
        8 => world.write(&path("a.txt"), "x\none\ntwo\n"),
        9 => world.write(&path(".env"), "K=9\nL=2\n"),
        10 => world.mode(&path("a.txt"), 0o600),
        _ => {}
    }
}

/// The ledger of steps of these kinds, and the disk with the records after all were performed.
fn honest(kinds: &[u8]) -> (Ledger, World) {
    let files: Vec<_> = (0..kinds.len()).flat_map(files).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, content)| (path.as_str(), *content)).collect();
    let mut world = World::new(&files);
    let steps: Vec<Vec<Step>> = kinds.iter().enumerate().map(|(at, kind)| vec![step(*kind, at)]).collect();
    let clauses: Vec<&[Step]> = steps.iter().map(Vec::as_slice).collect();
    let ledger = ledger(&clauses, &world);
    for (at, kind) in kinds.iter().enumerate() {
        perform(&mut world, *kind, at);
    }
    (ledger, world)
}

/// Whether the change of call `at` is implied by others: the creation of a folder in which an entry was created.
fn is_implied(world: &World, at: usize) -> bool {
    let change = &world.calls[at].changed[0];
    let below = format!("{}/", change.path);
    change.after.as_deref() == Some(FOLDER)
        && world.calls.iter().flat_map(|call| &call.changed).any(|other| other.path.starts_with(&below))
}

/// One to three kinds of step, at least one of which is a change.
fn kinds() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(0..KINDS, 1..4).prop_filter("only questions", |kinds| kinds.iter().any(|kind| *kind < 11))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

    /// Steps that are all performed and recorded make the coverage complete.
    #[test]
    fn honest_work_is_covered(kinds in kinds()) {
        let (ledger, world) = honest(&kinds);
        let coverage = cover(&ledger, &world);
        prop_assert!(coverage.is_complete(), "{coverage:#?}");
    }

    /// Without any one recorded change, the coverage is not complete.
    #[test]
    fn every_recorded_change_is_required(kinds in kinds(), seed: usize) {
        let (ledger, mut world) = honest(&kinds);
        let at = seed % world.calls.len();
        let of_call = (seed / 64) % world.calls[at].changed.len();
        prop_assume!(!is_implied(&world, at));
        world.calls[at].changed.remove(of_call);
        prop_assert!(!cover(&ledger, &world).is_complete());
    }

    /// A step that was not performed is refuted.
    #[test]
    fn every_step_is_required(kinds in kinds(), seed: usize) {
        let (ledger, whole) = honest(&kinds);
        let skipped = seed % kinds.len();
        prop_assume!(kinds[skipped] != 11);
        let mut left = kinds.clone();
        left[skipped] = 11;
        let (_, world) = honest(&left);
        let coverage = cover(&ledger, &world);
        prop_assert!(!coverage.is_complete() && coverage.rows[skipped].state == CoverageState::Refuted, "{coverage:#?}");
        drop(whole);
    }

    /// With another path or state in any one recorded change, the coverage is not complete; folders implied by others
    /// and swapped states of an existing file are left out.
    #[test]
    fn every_field_of_a_record_is_compared(kinds in kinds(), seed: usize, field in 0..3_u8) {
        let (ledger, mut world) = honest(&kinds);
        let at = seed % world.calls.len();
        let of_call = (seed / 64) % world.calls[at].changed.len();
        prop_assume!(!is_implied(&world, at));
        let change = &mut world.calls[at].changed[of_call];
        match field {
            0 => change.path.push('_'),
            1 => match &mut change.after {
                Some(after) => { after.replace_range(..1, "g"); }
                None => change.after = Some("0".repeat(64)),
            },
            _ => std::mem::swap(&mut change.before, &mut change.after),
        }
        // A change of mode with its states swapped is still a change of mode; the disk decides.
        prop_assume!(!(field == 2 && change.before.is_some() && change.after.is_some()));
        prop_assert!(!cover(&ledger, &world).is_complete());
    }

    #[test]
    fn content_and_mode_on_disk_are_compared(kinds in kinds(), seed: usize, is_mode: bool) {
        let (ledger, mut world) = honest(&kinds);
        let made: Vec<String> = world.calls.iter().flat_map(|call| &call.changed)
            .filter(|change| change.after.as_deref().is_some_and(|after| after != FOLDER))
            .map(|change| change.path.clone()).collect();
        prop_assume!(!made.is_empty());
        let path = &made[seed % made.len()];
        if is_mode {
            world.fs.set_mode(path, 0o4777);
        } else {
            let mut content = crate::eval::text::content(Path::new(path), &world.fs).unwrap();
            let at = (seed / 64) % content.len().max(1);
            match content.get_mut(at) {
                Some(byte) => *byte ^= 1,
                None => content.push(b'x'),
            }
            let mode = world.fs.metadata(Path::new(path)).unwrap().mode;
            world.fs.add_file(path.as_str(), content, artoo_proto::Timestamp::default());
            world.fs.set_mode(path, mode);
        }
        prop_assert!(!cover(&ledger, &world).is_complete());
    }

    #[test]
    fn unrequested_changes_are_reported(kinds in kinds(), seed: usize, change in 0..7_u8) {
        let (ledger, mut world) = honest(&kinds);
        let at = seed % kinds.len();
        let (keep, new) = (format!("/w/{at}/keep"), format!("/w/{at}/more/deep"));
        match change {
            0 => world.write(&keep, "other"),
            1 => world.remove(&keep),
            2 => world.mode(&keep, 0o777),
            3 => world.write(&new, "x"),
            4 => world.folder(&new),
            5 => world.rename(&keep, &new),
            _ => {
                let (before, after) = (Some("its times".to_owned()), Some("other times".to_owned()));
                world.call("touch", |_| {}, &[]).changed = vec![FileChange { path: keep, before, after }];
            }
        }
        let coverage = cover(&ledger, &world);
        prop_assert!(!coverage.is_complete() && !coverage.unasked.is_empty(), "{coverage:#?}");
        prop_assert!(coverage.rows.iter().all(|row| row.state == CoverageState::Shown), "{coverage:#?}");
    }
}
