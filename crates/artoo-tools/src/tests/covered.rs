//! Random effects against random leave, beside an oracle that knows only sets of places: nothing passes that is not covered.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use artoo_proto::{Environment, TaskId, Timestamp};
use proptest::prelude::*;

use super::next_task;
use crate::consent::{Cover, Deed, Reach, Tasks, Verb};
use crate::protect::Protected;
use crate::rules::{Bounds, RuleBook};

const DAY_MS: i64 = 86_400_000;

/// Names of folders; two that no rule may reach among them.
const NAMES: [&str; 4] = ["a", "b", ".hidden", ".ssh"];

fn verb() -> impl Strategy<Value = Verb> {
    prop_oneof![Just(Verb::Make), Just(Verb::Take)]
}

/// One to three names below the root.
fn place() -> impl Strategy<Value = Vec<&'static str>> {
    proptest::collection::vec(proptest::sample::select(&[0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 3][..]), 1..4)
        .prop_map(|path| path.into_iter().map(|at: usize| NAMES[at]).collect())
}

/// A verb, the names on the way to a place, and whether all below goes with it.
type Wanted = (Verb, Vec<&'static str>, bool);

fn deed() -> impl Strategy<Value = Wanted> {
    (verb(), place(), any::<bool>())
}

fn reach(root: &Path, deeds: &[Wanted]) -> Reach {
    let deed = |(verb, path, whole): &Wanted| {
        let path = path.iter().fold(root.to_path_buf(), |path, name| path.join(name));
        Deed { verb: *verb, path, whole: *whole }
    };
    Reach::of(deeds.iter().map(deed)).unwrap()
}

/// A place and a verb, as the oracle knows them.
type Point = (Verb, PathBuf);

/// All that is done: a whole folder is itself, all that may lie below as deep as places go here, and deeper.
fn done(reach: &Reach) -> BTreeSet<Point> {
    reach.deeds().flat_map(|deed| tree(deed.verb, &deed.path, deed.whole)).collect()
}

fn tree(verb: Verb, path: &Path, whole: bool) -> Vec<Point> {
    let mut points = vec![(verb, path.to_path_buf())];
    let mut from = 0;
    for _ in 0..if whole { 4 } else { 0 } {
        let end = points.len();
        for at in from..end {
            let children: Vec<Point> = NAMES.iter().map(|name| (verb, points[at].1.join(name))).collect();
            points.extend(children);
        }
        from = end;
    }
    points
}

/// Without what lies deeper than every tree here reaches.
fn shallow(points: BTreeSet<Point>, components: usize) -> BTreeSet<Point> {
    points.into_iter().filter(|(_, path)| path.components().count() <= components).collect()
}

/// Leave in this task or another, for the tool or another, to these deeds.
fn given() -> impl Strategy<Value = (bool, bool, Vec<Wanted>)> {
    (prop::bool::weighted(0.8), prop::bool::weighted(0.8), proptest::collection::vec(deed(), 1..3))
}

/// What leave for exactly this reach allows.
fn allowed_again(reach: &Reach) -> BTreeSet<Point> {
    done(reach)
}

/// What a rule for the folders of this reach allows: everything inside them.
fn allowed_in_folders(reach: &Reach) -> BTreeSet<Point> {
    let inside = |deed: &Deed| {
        let folder = deed.path.parent().unwrap().to_path_buf();
        tree(deed.verb, &folder, true).into_iter().filter(move |(_, path)| *path != folder)
    };
    reach.deeds().flat_map(inside).collect()
}

/// Where the oracle lets a rule reach: no name that begins with a dot, also not below.
fn is_open(reach: &Reach, root: &Path) -> bool {
    reach.deeds().all(|deed| {
        let below = deed.path.strip_prefix(root).unwrap();
        below.iter().all(|name| !name.to_str().unwrap().starts_with('.'))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[doc = "holds: law 1.4"]
    #[test]
    fn a_call_passes_in_a_task_only_if_each_effect_was_allowed_in_it(
        given in proptest::collection::vec(given(), 0..5),
        wanted in proptest::collection::vec(deed(), 1..3),
    ) {
        let (root, tasks) = (Path::new("/h"), Tasks::default());
        let ids: [TaskId; 2] = [next_task(), next_task()];
        let wanted = reach(root, &wanted);
        let mut covered = BTreeSet::new();
        let mut one_covers = vec![false; wanted.deeds().count()];
        for (is_here, is_same_tool, deeds) in &given {
            let given = reach(root, deeds);
            let tool = if *is_same_tool { "files" } else { "other" };
            tasks.allow(&ids[usize::from(!is_here)], tool, &given);
            if *is_here && *is_same_tool {
                covered.extend(allowed_again(&given));
                for (at, deed) in wanted.deeds().enumerate() {
                    let points = |deed: &Deed| shallow(tree(deed.verb, &deed.path, deed.whole).into_iter().collect(), 6);
                    one_covers[at] |= given.deeds().any(|own| points(deed).is_subset(&points(own)));
                }
            }
        }
        let passes = tasks.allows(&ids[0], "files", &wanted);
        let is_covered = shallow(done(&wanted), 6).is_subset(&shallow(covered, 6));
        prop_assert!(!passes || is_covered, "passes beyond what was allowed");
        prop_assert_eq!(passes, one_covers.iter().all(|covered| *covered), "asks for what was allowed, or passes beyond it");
    }

    #[doc = "holds: law 1.4"]
    #[test]
    fn a_call_passes_under_a_rule_only_in_its_folders_and_its_time(
        given in proptest::collection::vec(deed(), 1..3),
        wanted in proptest::collection::vec(deed(), 1..3),
        days in 0_u32..40,
        later_ms in -DAY_MS..(DAY_MS * 40),
        is_revoked in prop::bool::weighted(0.1),
        is_same_tool in prop::bool::weighted(0.9),
    ) {
        let dir = tempfile::TempDir::new().unwrap();
        let home = dir.path().canonicalize().unwrap();
        let data = home.join(".artoo");
        fs::create_dir(&data).unwrap();
        fs::set_permissions(&data, fs::Permissions::from_mode(0o700)).unwrap();
        // Rules live one folder down: what lies in the home folder itself is never covered.
        let root = home.join("r");
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        let environment = Environment {
            cwd: text(&home), home: text(&home), workspace: text(&home.join("ws")), os: "linux".to_owned(), utc_offset_s: 0,
        };
        let protected = Protected::new(&environment, std::slice::from_ref(&data));
        let bounds = Bounds { environment: &environment, protected: &protected };
        let book = RuleBook::new(&data);
        let (given, wanted) = (reach(&root, &given), reach(&root, &wanted));
        let since = Timestamp::from_millis(1_800_000_000_000);
        let offered: Vec<Cover> = bounds.offer(&given);
        prop_assert!(offered.is_empty() || is_open(&given, &root), "a rule is offered where none may reach");
        let id = book.add("files", offered.clone(), days, since).ok();
        prop_assert_eq!(id.is_some(), !offered.is_empty());
        if is_revoked && let Some(id) = &id {
            book.revoke(id, since).unwrap();
        }
        let now = since.plus_millis(later_ms);
        let tool = if is_same_tool { "files" } else { "other" };
        let passes = book.permit(tool, &wanted, &bounds, now).unwrap();
        let holds = later_ms >= 0 && later_ms < i64::from(days.clamp(1, 30)) * DAY_MS;
        let depth = root.components().count() + 3;
        let is_covered = shallow(done(&wanted), depth).is_subset(&shallow(allowed_in_folders(&given), depth));
        let expected = id.is_some() && !is_revoked && is_same_tool && holds && is_covered && is_open(&wanted, &root);
        prop_assert_eq!(passes.is_some(), expected, "{:?} under {:?}", wanted, given);
    }
}
