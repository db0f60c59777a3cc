//! Tests of acts on files: performed, not performed, and performed with an additional change.

use artoo_proto::CoverageState::{NotShown, Refuted, Shown};

use super::*;
use crate::algebra::{ModeChange, NameChange, Target};

/// A change of the disk.
type Change = fn(&mut World);

const FILES: [(&str, &str); 5] = [
    ("/w/a.txt", "one\ntwo\n"),
    ("/w/b.tmp", "b\n"),
    ("/w/d/c.tmp", "c\n"),
    ("/w/.env", "PORT=1\nHOST=h\n"),
    ("/w/set.toml", "[a]\nport = 1 # the port\n[b]\nport = 2\n"),
];

#[expect(clippy::too_many_lines, reason = "one table")]
/// Acts, each with the change of the disk that performs it, and changes that don't.
fn cases() -> Vec<(Act, Change, Vec<Change>)> {
    let at = |path: &str| format!("/w/{path}");
    vec![
        (
            Act::CreateFolder { paths: vec![at("n/m")] },
            |w| {
                w.folder("/w/n");
                w.folder("/w/n/m");
            },
            vec![|w| w.folder("/w/n")],
        ),
        (
            Act::CreateFile { path: at("n.txt"), text: "hi\n".to_owned() },
            |w| w.write("/w/n.txt", "hi\n"),
            vec![|w| w.write("/w/n.txt", "ha\n"), |w| {
                w.write("/w/n.txt", "hi\n");
                w.mode("/w/n.txt", 0o755);
            }],
        ),
        (
            Act::Copy { of: file("/w/a.txt"), to: Target::As(at("z.txt")) },
            |w| w.write("/w/z.txt", "one\ntwo\n"),
            vec![|w| w.write("/w/z.txt", "one\n"), |w| w.rename("/w/a.txt", "/w/y.txt")],
        ),
        (
            Act::Move { of: file("/w/a.txt"), to: Target::Into(at("d")) },
            |w| w.rename("/w/a.txt", "/w/d/a.txt"),
            vec![|w| w.write("/w/d/a.txt", "one\ntwo\n"), |w| w.remove("/w/a.txt")],
        ),
        (
            Act::Rename { of: file("/w/a.txt"), change: NameChange::To("A.txt".to_owned()) },
            |w| w.rename("/w/a.txt", "/w/A.txt"),
            vec![|w| w.rename("/w/a.txt", "/w/B.txt")],
        ),
        (
            Act::Delete { of: with_extension("tmp") },
            |w| {
                w.remove("/w/b.tmp");
                w.remove("/w/d/c.tmp");
            },
            vec![|w| w.remove("/w/b.tmp")],
        ),
        (
            Act::Replace { path: at("a.txt"), find: "two".to_owned(), with: "2".to_owned(), to: at("r.txt") },
            |w| w.write("/w/r.txt", "one\n2\n"),
            vec![|w| w.write("/w/r.txt", "one\ntwo\n")],
        ),
        (
            Act::Save { of: Query::Unique { of: Box::new(text("/w/a.txt")) }, to: at("u.txt") },
            |w| w.write("/w/u.txt", "one\ntwo\n"),
            vec![|w| w.write("/w/u.txt", "two\none\n")],
        ),
        (
            Act::Save {
                of: Query::Part { of: Box::new(text("/w/a.txt")), part: crate::algebra::Part::First(1) },
                to: at("a.txt"),
            },
            |w| w.write("/w/a.txt", "one\n"),
            vec![|w| w.write("/w/a.txt", "one"), |w| w.write("/w/b.txt", "one\n")],
        ),
        (
            Act::Insert { path: at("a.txt"), text: "x\n".to_owned(), at_start: false },
            |w| w.write("/w/a.txt", "one\ntwo\nx\n"),
            vec![|w| w.write("/w/a.txt", "x\none\ntwo\n"), |w| {
                w.write("/w/a.txt", "one\ntwo\nx\n");
                w.mode("/w/a.txt", 0o600);
            }],
        ),
        (
            Act::SetValue { path: at(".env"), section: None, key: "PORT".to_owned(), value: "2".to_owned() },
            |w| w.write("/w/.env", "PORT=2\nHOST=h\n"),
            vec![|w| w.write("/w/.env", "PORT=2\n"), |w| w.write("/w/.env", "PORT=3\nHOST=h\n")],
        ),
        (
            Act::SetValue {
                path: at("set.toml"),
                section: Some("a".to_owned()),
                key: "port".to_owned(),
                value: "9".to_owned(),
            },
            |w| w.write("/w/set.toml", "[a]\nport = 9 # the port\n[b]\nport = 2\n"),
            vec![|w| w.write("/w/set.toml", "[a]\nport = 1 # the port\n[b]\nport = 9\n")],
        ),
        (
            Act::SetMode { of: file("/w/a.txt"), mode: ModeChange::Executable },
            |w| w.mode("/w/a.txt", 0o755),
            vec![|w| w.mode("/w/b.tmp", 0o755), |w| w.mode("/w/a.txt", 0o777)],
        ),
        (
            Act::Keep { paths: vec![at("a.txt")] },
            |w| w.call("ls", |_| {}, &[]).class = EffectClass::ReadOnly,
            vec![|w| w.remove("/w/a.txt")],
        ),
    ]
}

#[test]
fn each_act_is_shown_or_refuted() {
    for (act, right, wrong) in cases() {
        let world = World::new(&FILES);
        let step = Step::Do(act.clone());
        let ledger = ledger(&[std::slice::from_ref(&step)], &world);
        let done = {
            let mut done = world.clone();
            right(&mut done);
            done
        };
        let coverage = cover(&ledger, &done);
        assert!(coverage.is_complete(), "{act:?} {coverage:#?}");
        if !matches!(act, Act::Keep { .. }) {
            let nothing = cover(&ledger, &world);
            assert_states(&nothing, &[Refuted]);
        }
        for change in wrong {
            let mut world = world.clone();
            change(&mut world);
            let coverage = cover(&ledger, &world);
            assert_states(&coverage, &[Refuted]);
        }
        let mut more = done;
        more.write("/w/extra", "");
        let coverage = cover(&ledger, &more);
        assert_states(&coverage, &[Shown]);
        assert!(!coverage.is_complete() && coverage.unasked.len() == 1, "{act:?} {coverage:#?}");
    }
}

/// A question is answered on the disk after the steps before it, not after the later ones.
#[test]
fn questions_see_earlier_steps_only() {
    let world = World::new(&FILES);
    let lines = || count(text("/w/n.csv"));
    let ledger = ledger(&[&[create("/w/n.csv", "a\nb\n")], &[lines()], &[count(with_extension("tmp"))]], &world);
    let mut done = world.clone();
    done.write("/w/n.csv", "a\nb\n");
    done.write("/w/own.tmp", "");
    let coverage = cover(&ledger, &done);
    assert_states(&coverage, &[Shown, Shown, Shown]);
    let answer = coverage.answer().unwrap();
    assert!(answer.lines().all(|line| line.ends_with(": 2")) && answer.lines().count() == 2, "{answer}");
    assert_eq!(coverage.unasked.len(), 1);
    let early = super::ledger(&[&[lines()], &[create("/w/n.csv", "a\nb\n")]], &world);
    assert_states(&cover(&early, &done), &[NotShown, Shown]);
}

/// A copy onto an existing file is not shown as done; deleting nothing is.
#[test]
fn existing_target_fails_empty_selection_passes() {
    let world = World::new(&FILES);
    let onto = Act::Copy { of: file("/w/a.txt"), to: Target::As("/w/b.tmp".to_owned()) };
    let none = Act::Delete { of: with_extension("log") };
    let ledger = ledger(&[&[Step::Do(onto)], &[Step::Do(none)]], &world);
    assert_states(&cover(&ledger, &world), &[NotShown, Shown]);
}

#[test]
fn unread_clause_prevents_refuting_content() {
    let world = World::new(&FILES);
    let step = Step::Do(Act::Insert { path: "/w/a.txt".to_owned(), text: "x\n".to_owned(), at_start: false });
    let ledger = half_read(&[step], &world.fs);
    let mut done = world.clone();
    assert_states(&cover(&ledger, &done), &[Refuted, CoverageState::NotRead]);
    done.write("/w/a.txt", "one\nTWO\nx\n");
    assert_states(&cover(&ledger, &done), &[NotShown, CoverageState::NotRead]);
}

/// A call of which not all changes were recorded is reported as unrequested.
#[test]
fn incompletely_recorded_call_is_unrequested() {
    let world = World::new(&FILES);
    let ledger = ledger(&[&[count(with_extension("tmp"))]], &world);
    let mut done = world.clone();
    done.call("x", |_| {}, &[]).changes_known = false;
    let coverage = cover(&ledger, &done);
    assert!(coverage.unasked.len() == 1 && !coverage.is_complete());
    assert_eq!(coverage.answer().as_deref(), Some("2"));
    done.calls[0].status = CallStatus::Denied;
    assert!(cover(&ledger, &done).is_complete());
}
