//! Random effects and approvals against an oracle that knows only sets of paths: no call runs whose effects are not
//! covered.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use artoo_proto::{Environment, TaskId, Timestamp};
use proptest::prelude::*;

use super::next_task;
use crate::call::Tasks;
use crate::consent::scope::ApprovalScope;
use crate::effects::{Action, EffectSet, FileEffect};
use crate::protect::Protected;
use crate::rules::{Bounds, RuleBook};

const DAY_MS: i64 = 86_400_000;

/// Names from which random paths are made; rules may cover none of the last two.
const NAMES: [&str; 4] = ["a", "b", ".hidden", ".ssh"];

/// Generates a random action: create or modify.
fn action() -> impl Strategy<Value = Action> {
    prop_oneof![Just(Action::Create), Just(Action::Modify)]
}

/// Generates a random path of one to three names.
fn place() -> impl Strategy<Value = Vec<&'static str>> {
    proptest::collection::vec(proptest::sample::select(&[0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 3][..]), 1..4)
        .prop_map(|path| path.into_iter().map(|at: usize| NAMES[at]).collect())
}

/// An action, the names of its path, and whether it covers everything below.
type Wanted = (Action, Vec<&'static str>, bool);

/// Generates a random action on a path, alone or with everything below it.
fn effect() -> impl Strategy<Value = Wanted> {
    (action(), place(), any::<bool>())
}

/// A set of these effects, with paths below this root.
fn effects(root: &Path, wanted: &[Wanted]) -> EffectSet {
    let effect = |(action, path, is_recursive): &Wanted| {
        let path = path.iter().fold(root.to_path_buf(), |path, name| path.join(name));
        FileEffect { action: *action, path, is_recursive: *is_recursive }
    };
    wanted.iter().map(effect).collect()
}

/// An action on one path; the oracle represents effects and approvals as sets of these.
type Point = (Action, PathBuf);

/// The oracle's points of all effects; a recursive effect has those of all paths below it that occur in this test.
fn points(effects: &EffectSet) -> BTreeSet<Point> {
    effects.iter().flat_map(tree_of).collect()
}

/// The oracle's points of one effect.
fn tree_of(effect: &FileEffect) -> Vec<Point> {
    tree(effect.action, &effect.path, effect.is_recursive)
}

/// The oracle's points (action and path) of an action on a path, and if recursive of everything below it.
fn tree(action: Action, path: &Path, is_recursive: bool) -> Vec<Point> {
    let mut points = vec![(action, path.to_path_buf())];
    let mut from = 0;
    for _ in 0..if is_recursive { 4 } else { 0 } {
        let end = points.len();
        for at in from..end {
            let children: Vec<Point> = NAMES.iter().map(|name| (action, points[at].1.join(name))).collect();
            points.extend(children);
        }
        from = end;
    }
    points
}

/// Keeps the points (an action on a path) whose paths have at most this many components.
fn shallow(points: BTreeSet<Point>, components: usize) -> BTreeSet<Point> {
    points.into_iter().filter(|(_, path)| path.components().count() <= components).collect()
}

/// Generates a random approval: whether it is for this task, whether it is for this tool, and the approved effects.
fn given() -> impl Strategy<Value = (bool, bool, Vec<Wanted>)> {
    (prop::bool::weighted(0.8), prop::bool::weighted(0.8), proptest::collection::vec(effect(), 1..3))
}

/// The points that a rule for the folders of these effects permits, by the oracle: everything below the folders.
fn permitted_in_folders(effects: &EffectSet) -> BTreeSet<Point> {
    let below = |effect: &FileEffect| {
        let folder = effect.path.parent().unwrap().to_path_buf();
        tree(effect.action, &folder, true).into_iter().filter(move |(_, path)| *path != folder)
    };
    effects.iter().flat_map(below).collect()
}

/// Whether the oracle permits a rule for these effects: no name in a path may begin with a dot.
fn is_open(effects: &EffectSet, root: &Path) -> bool {
    effects.iter().all(|effect| {
        let below = effect.path.strip_prefix(root).unwrap();
        below.iter().all(|name| !name.to_str().unwrap().starts_with('.'))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Random approvals for a task: a call needs approval unless each of its effects is covered by one approved effect,
    /// by the oracle.
    #[doc = "holds: law 1.4"]
    #[test]
    fn task_approval_covers_exactly_its_effects(
        given in proptest::collection::vec(given(), 0..5),
        wanted in proptest::collection::vec(effect(), 1..3),
    ) {
        let (root, tasks) = (Path::new("/h"), Tasks::default());
        let ids: [TaskId; 2] = [next_task(), next_task()];
        let wanted = effects(root, &wanted);
        let mut covered = BTreeSet::new();
        let mut one_covers = vec![false; wanted.len()];
        for (is_here, is_same_tool, approved) in &given {
            let given = effects(root, approved);
            let tool = if *is_same_tool { "files" } else { "other" };
            tasks.approve(&ids[usize::from(!is_here)], tool, &given);
            if *is_here && *is_same_tool {
                covered.extend(points(&given));
                for (at, effect) in wanted.iter().enumerate() {
                    let points = |effect: &FileEffect| shallow(tree_of(effect).into_iter().collect(), 6);
                    one_covers[at] |= given.iter().any(|own| points(effect).is_subset(&points(own)));
                }
            }
        }
        let passes = tasks.approves(&ids[0], "files", &wanted);
        let is_covered = shallow(points(&wanted), 6).is_subset(&shallow(covered, 6));
        prop_assert!(!passes || is_covered, "passes beyond what was allowed");
        prop_assert_eq!(passes, one_covers.iter().all(|covered| *covered), "asks for what was allowed, or passes beyond it");
    }

    /// Random rules: a rule permits its tool exactly the effects in its folders, and only until it expires or is
    /// revoked.
    #[doc = "holds: law 1.4"]
    #[test]
    fn rule_covers_its_folders_until_it_expires(
        given in proptest::collection::vec(effect(), 1..3),
        wanted in proptest::collection::vec(effect(), 1..3),
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
        // Rules cover folders below the home folder; a file directly in the home folder is never covered.
        let root = home.join("r");
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        let environment = Environment {
            cwd: text(&home), home: text(&home), workspace: text(&home.join("ws")), os: "linux".to_owned(), utc_offset_s: 0,
        };
        let protected = Protected::new(&environment, std::slice::from_ref(&data));
        let bounds = Bounds { environment: &environment, protected: &protected };
        let book = RuleBook::new(&data);
        let (given, wanted) = (effects(&root, &given), effects(&root, &wanted));
        let since = Timestamp::from_millis(1_800_000_000_000);
        let offered: Vec<ApprovalScope> = bounds.offer(&given);
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
        let is_covered = shallow(points(&wanted), depth).is_subset(&shallow(permitted_in_folders(&given), depth));
        let expected = id.is_some() && !is_revoked && is_same_tool && holds && is_covered && is_open(&wanted, &root);
        prop_assert_eq!(passes.is_some(), expected, "{:?} under {:?}", wanted, given);
    }
}
