//! Tests of simulated steps: dependent steps, impossible steps, and steps without effect.

use artoo_proto::CoverageState::{NotRead, NotShown, Refuted, Shown};
use artoo_proto::Timestamp;

use super::*;
use crate::algebra::{Field, Kind, ModeChange, NameChange, Target};

const FILES: [(&str, &str); 5] =
    [("/w/a.txt", "one\n"), ("/w/b.tmp", "b\n"), ("/w/d/c.tmp", "c\n"), ("/w/d/.h", "h\n"), ("/w/d/e/f", "f\n")];

/// A disk in memory with the files of this module.
fn world() -> World {
    World::new(&FILES)
}

/// How the coverage reports one act after these changes of the disk.
fn row(act: &Act, changes: impl FnOnce(&mut World)) -> artoo_proto::Covered {
    let mut world = world();
    let ledger = ledger(&[&[Step::Do(act.clone())]], &world);
    changes(&mut world);
    let mut coverage = cover(&ledger, &world);
    coverage.rows.remove(0)
}

/// The query for everything of a kind below a folder.
fn tree(folder: &str, kind: Kind) -> Query {
    Query::Tree { roots: vec![folder.to_owned()], depth: Depth::Whole, hidden: true, kind }
}

/// An act that can't be carried out is never shown as done.
#[test]
fn impossible_acts_are_never_shown() {
    let at = str::to_owned;
    let both = || Query::Paths { paths: vec![at("/w/a.txt"), at("/w/b.tmp")], kind: Kind::Any };
    let prefixed = |of| Act::Rename { of, change: NameChange::Prefix("x-".to_owned()) };
    let named = |name: &str| Act::Rename { of: file("/w/a.txt"), change: NameChange::To(name.to_owned()) };
    for (act, why) in [
        (Act::CreateFolder { paths: vec![at("/w/a.txt/n")] }, "no folder"),
        (Act::CreateFolder { paths: vec![at("/w/a.txt")] }, "no folder"),
        (Act::CreateFile { path: at("/w/a.txt"), text: at("x\n") }, "already"),
        (Act::Move { of: both(), to: Target::As(at("/w/n")) }, "one name"),
        (Act::Move { of: file("/w/d"), to: Target::Into(at("/w/d/e")) }, "lie in itself"),
        (Act::Copy { of: file("/w/zz"), to: Target::As(at("/w/n")) }, "not there"),
        (Act::Copy { of: file("/w/a.txt"), to: Target::As(at("/w/b.tmp")) }, "already"),
        (prefixed(tree("/w/d", Kind::Any)), "at once"),
        (named(""), "no new name"),
        (named(".."), "no new name"),
        (named("."), "no new name"),
        (named("d/x"), "no new name"),
        (named("b.tmp"), "already"),
        (Act::Delete { of: file("/w/zz") }, "not there"),
    ] {
        let row = row(&act, |_| {});
        assert!(row.state == NotShown && row.why.contains(why), "{act:?} {row:?}");
    }
    let row = row(&prefixed(tree("/w/d", Kind::File)), |w| {
        w.rename("/w/d/c.tmp", "/w/d/x-c.tmp");
        w.rename("/w/d/.h", "/w/d/x-.h");
        w.rename("/w/d/e/f", "/w/d/e/x-f");
    });
    assert_eq!(row.state, Shown, "{row:?}");
}

/// Acts on no files, or whose result exists already, count as done.
#[test]
fn acts_without_effect_are_shown() {
    let at = str::to_owned;
    for act in [
        Act::Move { of: with_extension("log"), to: Target::Into(at("/w/d")) },
        Act::Move { of: file("/w/a.txt"), to: Target::Into(at("/w")) },
        Act::Delete { of: with_extension("log") },
        Act::SetMode { of: with_extension("log"), mode: ModeChange::ReadOnly },
        Act::Archive { of: with_extension("log"), to: at("/w/x.tar") },
        Act::CreateFolder { paths: vec![at("/w/d")] },
    ] {
        let row = row(&act, |_| {});
        assert_eq!(row.state, Shown, "{act:?} {row:?}");
    }
    let folder = Act::CreateFolder { paths: vec![at("/w/d")] };
    assert_eq!(row(&folder, |w| w.remove("/w/d")).state, Refuted);
    let two = Act::CreateFolder { paths: vec![at("/w/d"), at("/w/n")] };
    assert_eq!(row(&two, |w| w.folder("/w/n")).state, Shown);
    let half = row(&two, |_| {});
    assert!(half.state == Refuted && half.why.starts_with("1 of 2: /w/n"), "{half:?}");
}

#[test]
fn folders_are_copied_with_descendants() {
    let at = str::to_owned;
    let copy = |w: &mut World, to: &str, names: &[&str]| {
        w.folder(to);
        w.folder(&format!("{to}/e"));
        for name in names {
            let content = crate::eval::text::content(&Path::new("/w/d").join(name), &w.fs).unwrap();
            w.write(&format!("{to}/{name}"), &String::from_utf8(content).unwrap());
        }
    };
    let all = ["c.tmp", ".h", "e/f"];
    let to_new = Act::Copy { of: file("/w/d"), to: Target::As(at("/w/n")) };
    assert_eq!(row(&to_new, |w| copy(w, "/w/n", &all)).state, Shown);
    for left_out in 0..3 {
        let names: Vec<&str> =
            all.iter().enumerate().filter(|(at, _)| *at != left_out).map(|(_, name)| *name).collect();
        assert_eq!(row(&to_new, |w| copy(w, "/w/n", &names)).state, Refuted);
    }
    // A copy to an existing folder is made inside it.
    let mut world = world();
    world.fs.add_folder("/w/old", Timestamp::default());
    let to_old = Act::Copy { of: file("/w/d"), to: Target::As(at("/w/old")) };
    let ledger = ledger(&[&[Step::Do(to_old)]], &world);
    copy(&mut world, "/w/old/d", &all);
    assert!(cover(&ledger, &world).is_complete());
}

#[test]
fn steps_see_results_of_earlier_steps() {
    let at = str::to_owned;
    let world = world();
    let add = |text: &str| Step::Do(Act::Insert { path: at("/w/a.txt"), text: at(text), at_start: false });
    let twice = half_read(&[add("x\n"), add("y\n")], &world.fs);
    // Nothing was changed, so both acts are refuted, although a third clause is unread.
    assert_states(&cover(&twice, &world), &[Refuted, Refuted, NotRead]);
    let mut done = world.clone();
    done.write("/w/a.txt", "one\nx\ny\n");
    assert_states(&cover(&twice, &done), &[Shown, Shown, NotRead]);
    let script = ledger(
        &[
            &[create("/w/n.sh", "ls\n")],
            &[Step::Do(Act::SetMode { of: file("/w/n.sh"), mode: ModeChange::Executable })],
            &[Step::Do(Act::Move { of: file("/w/n.sh"), to: Target::Into(at("/w/d")) })],
        ],
        &world,
    );
    for (mode, state) in [(0o755, Shown), (0o700, Shown), (0o644, Refuted), (0o655, Refuted)] {
        let mut done = world.clone();
        done.write("/w/n.sh", "ls\n");
        done.rename("/w/n.sh", "/w/d/n.sh");
        done.mode("/w/d/n.sh", mode);
        let coverage = cover(&script, &done);
        assert_eq!(coverage.rows[2].state, state, "{mode:o} {coverage:#?}");
    }
    let gone = Step::Do(Act::Delete { of: file("/w/d") });
    let later = ledger(&[&[gone], &[count(tree("/w", Kind::File))], &[count(tree("/w/d", Kind::Any))]], &world);
    let mut done = world.clone();
    for path in ["/w/d/c.tmp", "/w/d/.h", "/w/d/e/f", "/w/d/e", "/w/d"] {
        done.remove(path);
    }
    let coverage = cover(&later, &done);
    assert_states(&coverage, &[Shown, Shown, NotShown]);
    assert_eq!(coverage.answer().as_deref(), Some("2"));
}

#[test]
fn permissions_are_compared_exactly() {
    let set = |mode| Act::SetMode { of: file("/w/a.txt"), mode };
    let state = |change, mode: u32| row(&set(change), |w| w.mode("/w/a.txt", mode)).state;
    for (change, right, wrong) in [
        (ModeChange::Bits(0o600), vec![0o600], vec![0o640, 0o700, 0o4600]),
        (ModeChange::Executable, vec![0o755, 0o744, 0o754], vec![0o655, 0o777, 0o711, 0o645]),
        (ModeChange::ReadOnly, vec![0o444], vec![0o400, 0o555]),
        (ModeChange::Added(0o022), vec![0o666], vec![0o622, 0o646, 0o777]),
        (ModeChange::Removed(0o044), vec![0o600], vec![0o604, 0o640, 0o400]),
    ] {
        for mode in right {
            assert_eq!(state(change, mode), Shown, "{change:?} {mode:o}");
        }
        for mode in wrong {
            assert_eq!(state(change, mode), Refuted, "{change:?} {mode:o}");
        }
    }
    // No call recorded it.
    assert_eq!(row(&set(ModeChange::Bits(0o600)), |w| w.fs.set_mode("/w/a.txt", 0o600)).state, NotShown);
    let same = Act::SetMode { of: file("/w/a.txt"), mode: ModeChange::NotExecutable };
    assert_eq!(row(&same, |_| {}).state, Shown);
    let later = Timestamp::parse("2024-05-15T12:00:00Z").unwrap();
    assert_eq!(row(&same, |w| w.fs.add_file("/w/a.txt", "one\n", later)).state, NotShown);
    // A change in a folder changes the folder's time.
    let folder = Act::SetMode { of: file("/w/d"), mode: ModeChange::Bits(0o755) };
    assert_eq!(row(&folder, |w| w.fs.add_folder("/w/d", later)).state, Shown);
    assert_eq!(row(&folder, |w| w.fs.set_mode("/w/d", 0o700)).state, Refuted);
}

/// A new folder is shown as done only if a recorded call created it or something in it.
#[test]
fn new_folder_needs_a_record() {
    let new = Act::CreateFolder { paths: vec!["/w/n".to_owned()] };
    assert_eq!(row(&new, |w| w.fs.add_folder("/w/n", Timestamp::default())).state, NotShown);
    assert_eq!(row(&new, |w| w.write("/w/n/x", "")).state, Shown);
    let removed = row(&new, |w| {
        w.fs.add_file("/w/n/x", "", Timestamp::default());
        w.remove("/w/n/x");
    });
    assert_eq!(removed.state, NotShown);
    assert_eq!(row(&new, |w| w.write("/w/n", "")).state, Refuted);
    // `/w/no` is not in `/w/n`.
    let beside = row(&new, |w| {
        w.fs.add_folder("/w/n", Timestamp::default());
        w.write("/w/no", "");
    });
    assert_eq!(beside.state, NotShown);
}

/// A question about the machine is answered at the end, unless later steps change something.
#[test]
fn questions_wait_for_relevant_changes() {
    let world = world();
    let machine = || Step::Ask(Query::System { fact: crate::algebra::Fact::Variable { name: "X".to_owned() } });
    let mut with = world.clone();
    with.fs.variables.insert("X".to_owned(), b"1".to_vec());
    let make = || create("/w/n", "n\n");
    let keep = Step::Do(Act::Keep { paths: vec!["/w/a.txt".to_owned()] });
    let mut done = with.clone();
    done.write("/w/n", "n\n");
    assert_states(&cover(&ledger(&[&[machine()], &[make()]], &with), &done), &[NotShown, Shown]);
    assert_states(&cover(&ledger(&[&[make()], &[machine()]], &with), &done), &[Shown, Shown]);
    assert_states(&cover(&ledger(&[&[machine()], std::slice::from_ref(&keep)], &with), &with), &[Shown, Shown]);
    // In a request without changes, a question that can't be answered at first may be answered at the end.
    let lines = || count(text("/w/n"));
    assert_states(&cover(&ledger(&[&[lines()]], &with), &done), &[Shown]);
    assert_states(&cover(&ledger(&[&[lines()]], &with), &with), &[NotShown]);
    // A list of facts about a file that is missing is not an empty list.
    let named = || Query::Paths { paths: vec!["/w/n".to_owned()], kind: Kind::File };
    let hash = || Step::Ask(Query::Field { of: Box::new(named()), field: Field::Sha256 });
    assert_states(&cover(&ledger(&[&[hash()]], &with), &with), &[NotShown]);
    let other = || create("/w/o", "n\n");
    done.write("/w/o", "n\n");
    assert_states(&cover(&ledger(&[&[other()], &[lines()]], &with), &done), &[Shown, NotShown]);
}

/// A question about files or folders that the user may not read is not answered, and a list that lacks them is not
/// shown as saved.
#[test]
fn questions_about_what_may_not_be_read_are_not_answered() {
    let mut world = World::new(&[("/w/a.tmp", "a\n"), ("/w/shut/b.tmp", "b\n")]);
    let names = || Step::Ask(with_extension("tmp"));
    let texts = || {
        let keep = Pred::Contains { text: "b".to_owned(), ignore_case: false };
        Step::Ask(Query::Filter { of: Box::new(with_extension("tmp")), keep })
    };
    let save = || Step::Do(Act::Save { of: with_extension("tmp"), to: "/w/n".to_owned() });
    let answered = |step: &dyn Fn() -> Step, world: &World| cover(&ledger(&[&[step()]], world), world).rows[0].state;
    assert_eq!([answered(&names, &world), answered(&texts, &world)], [Shown, Shown]);
    let saved = |world: &World| {
        let mut done = world.clone();
        done.write("/w/n", "/w/a.tmp\n/w/shut/b.tmp\n");
        cover(&ledger(&[&[save()]], world), &done).rows[0].state
    };
    assert_eq!(saved(&world), Shown);
    world.fs.set_mode("/w/a.tmp", 0);
    assert_eq!([answered(&names, &world), answered(&texts, &world), saved(&world)], [Shown, NotShown, Shown]);
    world.fs.set_mode("/w/a.tmp", 0o644);
    world.fs.set_mode("/w/shut", 0);
    assert_eq!([answered(&names, &world), answered(&texts, &world), saved(&world)], [NotShown, NotShown, NotShown]);
}
