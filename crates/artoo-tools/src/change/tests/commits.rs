//! Single commands: the change set, the commit, its undo, and the conflicts of each.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;

use super::*;

/// A home with files of each kind that the tests change.
fn furnished(in_memory: bool) -> Home {
    let home = Home::new(in_memory);
    furnish(&home);
    home
}

/// Creates files, folders and a symlink of each kind that the tests change.
fn furnish(home: &Home) {
    for (path, content) in [
        ("ws/a.txt", "alpha\n"),
        ("ws/b.txt", "beta\n"),
        ("ws/d/one", "1"),
        ("ws/d/sub/two", "22"),
        ("ws/e/x", "x"),
        ("docs/long.txt", "line 1\nline 2\nline 3\n"),
        ("docs/keep", "k"),
    ] {
        home.file(path, content);
    }
    std::os::unix::fs::symlink("a.txt", home.workspace().join("link")).unwrap();
    fs::set_permissions(home.workspace().join("b.txt"), fs::Permissions::from_mode(0o444)).unwrap();
}

/// Each kind of change is committed to the real files, and an undo reverts all but times.
#[test]
fn each_change_kind_is_committed_and_undone() {
    let home = furnished(false);
    let before = home.tree();
    for (script, kinds) in [
        ("echo new > ws/n", vec![("ws/n", "created")]),
        ("echo more >> ws/a.txt", vec![("ws/a.txt", "changed")]),
        ("chmod 600 ws/a.txt", vec![("ws/a.txt", "mode")]),
        ("rm ws/a.txt", vec![("ws/a.txt", "deleted")]),
        (
            "rm -r ws/d",
            vec![("ws/d", "deleted"), ("ws/d/one", "deleted"), ("ws/d/sub", "deleted"), ("ws/d/sub/two", "deleted")],
        ),
        ("rm ws/a.txt; mkdir ws/a.txt; touch ws/a.txt/in", vec![("ws/a.txt", "replaced"), ("ws/a.txt/in", "created")]),
        ("rm -r ws/e; echo e > ws/e", vec![("ws/e", "replaced"), ("ws/e/x", "deleted")]),
        ("ln -sfn b.txt ws/link", vec![("ws/link", "changed")]),
        (
            "rm -r ws/d; mkdir ws/d; echo 3 > ws/d/three",
            vec![
                ("ws/d/one", "deleted"),
                ("ws/d/sub", "deleted"),
                ("ws/d/sub/two", "deleted"),
                ("ws/d/three", "created"),
            ],
        ),
        (
            "mkdir -p ws/n/e/w; echo 1 > ws/n/e/w/f; chmod 500 ws/n/e",
            vec![("ws/n", "created"), ("ws/n/e", "created"), ("ws/n/e/w", "created"), ("ws/n/e/w/f", "created")],
        ),
        ("chmod 700 ws/d; echo x > ws/d/new", vec![("ws/d", "mode"), ("ws/d/new", "created")]),
        ("rm -f ws/b.txt; echo beta > ws/b.txt; chmod 444 ws/b.txt", vec![("ws/b.txt", "times")]),
        ("chmod 600 ws/a.txt; chmod 644 ws/a.txt; touch ws/a.txt", vec![("ws/a.txt", "times")]),
        ("exec 3<>ws/a.txt", vec![]),
        ("mkfifo ws/pipe", vec![("ws/pipe", "created")]),
        ("mv ws/a.txt ws/c.txt", vec![("ws/a.txt", "deleted"), ("ws/c.txt", "created")]),
        ("chmod 000 ws/d", vec![("ws/d", "mode")]),
        ("ln ws/a.txt ws/hard; ln ws/a.txt ws/d/hard", vec![("ws/d/hard", "created"), ("ws/hard", "created")]),
        (
            "chmod 644 ws/b.txt; for f in a b; do /usr/bin/python3 -c \"import os; os.setxattr('ws/$f.txt', \
             'user.overlay.opaque', b'y')\"; done; chmod 444 ws/b.txt",
            vec![("ws/a.txt", "changed"), ("ws/b.txt", "changed")],
        ),
    ] {
        if !home.run_in_view(script) {
            return;
        }
        let set = home.read_changes();
        let found = home.kinds(&set);
        let wanted: Vec<(String, &str)> = kinds.iter().map(|(path, kind)| ((*path).to_owned(), *kind)).collect();
        assert_eq!(found, wanted, "{script}");
        assert_eq!(differences(&home.tree(), &before), Vec::<String>::new(), "{script}: a look changes nothing");
        let digest = set.digest();
        assert_eq!(home.read_changes().digest(), digest, "{script}");
        let committed = home.commit_whole(&set);
        assert_eq!(
            committed.changes.changed.iter().filter(|change| change.after.as_deref() != Some("other times")).count(),
            kinds.iter().filter(|(_, kind)| *kind != "times").count(),
            "{script}"
        );
        if kinds.is_empty() {
            assert!(home.store().last().unwrap().is_none(), "{script}");
        } else {
            assert!(home.tree() != before || set.entries.iter().all(|entry| entry.kind == Kind::Times), "{script}");
            home.undo();
        }
        let differ = differences(&timeless(&home.tree()), &timeless(&before));
        assert!(differ.is_empty(), "{script} undone: {differ:#?}");
    }
}

/// A committed change set is undone, and the undo of that undo restores it, twice; times are not compared.
#[test]
fn committed_tree_is_undone_and_redone() {
    let home = furnished(true);
    let before = home.tree();
    let script = "rm -r ws/d; echo more >> ws/a.txt; mv docs ws/docs2; mkdir -p n/e; echo f > n/e/f; chmod 640 ws/e/x; \
                  rm ws/link; mkdir ws/link; echo l > ws/link/l";
    if !home.run_in_view(script) {
        return;
    }
    home.commit_whole(&home.read_changes());
    let after = home.tree();
    assert_ne!(after, before);
    for _ in 0..2 {
        let report = home.undo();
        let differ = differences(&timeless(&home.tree()), &timeless(&before));
        assert!(differ.is_empty(), "{differ:#?}");
        home.store().undo(&report.redo.unwrap()).unwrap();
        let differ = differences(&timeless(&home.tree()), &timeless(&after));
        assert!(differ.is_empty(), "{differ:#?}");
    }
}

/// A commit stops at an entry that another program changed since, names its path, and changes nothing.
#[test]
fn entry_changed_meanwhile_is_named_conflict() {
    let home = furnished(true);
    for (script, meanwhile, path) in [
        ("echo v >> ws/a.txt", "echo mine >> ws/a.txt", "ws/a.txt"),
        ("echo v > ws/n", "echo mine > ws/n", "ws/n"),
        ("rm ws/e/x", "echo mine >> ws/e/x", "ws/e/x"),
        ("rm -r ws/d", "echo mine > ws/d/sub/mine", "ws/d"),
        ("chmod 600 docs/keep", "chmod 400 docs/keep", "docs/keep"),
        ("echo v > docs/n", "rm -r docs; ln -s ws docs", "docs/n"),
    ] {
        if !home.run_in_view(script) {
            return;
        }
        let set = home.read_changes();
        home.run_bare(meanwhile);
        let before = home.tree();
        let stopped = home.commit(&set).stopped.unwrap_or_else(|| panic!("{script}"));
        assert_eq!(stopped.path, home.home.join(path), "{script}");
        assert_eq!(differences(&home.tree(), &before), Vec::<String>::new(), "{script}");
    }
}

/// Of two change sets that changed the same file, the second commit stops with a conflict.
#[test]
fn the_second_of_two_commits_conflicts() {
    let home = furnished(true);
    if !home.run_in_view("echo one > ws/a.txt; echo one > ws/one") {
        return;
    }
    fs::rename(home.root.join("upper"), home.root.join("upper1")).unwrap();
    let first = Layer { upper: home.root.join("upper1"), ..home.layer() };
    assert!(home.run_in_view("echo two > ws/a.txt; echo two > ws/two"));
    let (one, two) = (scan_changes(&[first], &[], SystemTime::now(), &limit()).unwrap(), home.read_changes());
    home.commit_whole(&one);
    let stopped = home.commit(&two).stopped.unwrap();
    assert_eq!((stopped.path, stopped.is_conflict), (home.home.join("ws/a.txt"), true));
    assert_eq!(fs::read_to_string(home.home.join("ws/a.txt")).unwrap(), "one\n");
    assert!(!home.home.join("ws/two").exists());
}

/// A change by another program just before a commit swaps the file is kept, and the commit stops there.
#[test]
fn change_just_before_exchange_is_kept() {
    let home = furnished(true);
    if !home.run_in_view("echo v > ws/a.txt; rm ws/e/x") {
        return;
    }
    let set = home.read_changes();
    let path = home.home.join("ws/a.txt");
    let raced = path.clone();
    crate::undo::fault::meanwhile(move |what| {
        if what == "a step is written" {
            fs::write(&raced, "of another program").unwrap();
        }
    });
    let stopped = home.commit(&set).stopped;
    crate::undo::fault::meanwhile(|_| {});
    assert_eq!(stopped.unwrap().path, path);
    assert_eq!(fs::read_to_string(&path).unwrap(), "of another program");
    // The operations before it are undone as usual.
    assert!(!home.home.join("ws/e/x").exists());
    home.undo();
    assert!(home.home.join("ws/e/x").exists());
}

/// A folder that the view renamed by copying is committed as one rename.
#[test]
fn folder_renamed_by_copying_is_one_rename() {
    let home = furnished(true);
    fs::hard_link(home.home.join("ws/d/one"), home.home.join("ws/d/hard")).unwrap();
    let inode = fs::metadata(home.home.join("ws/d/one")).unwrap().ino();
    let before = home.tree();
    // The same steps as the view's helper for a rename that the overlay refuses, and then changes in the folder.
    if !home.run_in_view("cp -a ws/d ws/moved; rm -rf ws/d; echo more >> ws/moved/sub/two; rm ws/moved/hard") {
        return;
    }
    let renames: Vec<(PathBuf, PathBuf)> = vec![(home.home.join("ws/d"), home.home.join("ws/moved"))];
    let set = scan_changes(&[home.layer()], &renames, SystemTime::now(), &limit()).unwrap();
    let wanted = [("ws/moved", "renamed"), ("ws/moved/hard", "deleted"), ("ws/moved/sub/two", "changed")];
    assert_eq!(home.kinds(&set), wanted.map(|(path, kind)| (path.to_owned(), kind)));
    home.commit_whole(&set);
    assert_eq!(fs::metadata(home.home.join("ws/moved/one")).unwrap().ino(), inode);
    assert_eq!(fs::read_to_string(home.home.join("ws/moved/sub/two")).unwrap(), "22more\n");
    home.undo();
    let differ = differences(&timeless(&home.tree()), &timeless(&before));
    assert!(differ.is_empty(), "{differ:#?}");
    // A folder that is renamed twice is one rename; one that is renamed back is none.
    let paths = ["ws/d", "ws/moved", "ws/there"].map(|path| home.home.join(path));
    let pair = |from: usize, to: usize| (paths[from].clone(), paths[to].clone());
    assert!(home.run_in_view("cp -a ws/d ws/moved; rm -rf ws/d; mv ws/moved ws/there"));
    let set = scan_changes(&[home.layer()], &[pair(0, 1), pair(1, 2)], SystemTime::now(), &limit()).unwrap();
    assert_eq!(home.kinds(&set), [("ws/there".to_owned(), "renamed")]);
    assert!(home.run_in_view("cp -a ws/d ws/moved; rm -rf ws/d; mv ws/moved ws/d"));
    let set = scan_changes(&[home.layer()], &[pair(0, 1), pair(1, 0)], SystemTime::now(), &limit()).unwrap();
    assert_eq!(home.kinds(&set), []);
    // A noted rename whose traces are missing in the layers is not committed as a rename.
    assert!(home.run_in_view("cp -a ws/d ws/moved"));
    let set = scan_changes(&[home.layer()], &renames, SystemTime::now(), &limit()).unwrap();
    assert!(set.entries.iter().all(|entry| entry.kind == Kind::Created), "{:?}", home.kinds(&set));
}

/// A commit to a home on another file system than the journal is undone too.
#[test]
fn home_on_another_file_system_is_undone() {
    let Some(home) = Home::on_another_file_system() else { return };
    furnish(&home);
    let before = home.tree();
    if !home.run_in_view("echo more >> ws/a.txt; rm -r ws/d; mkdir ws/n; echo n > ws/n/f; chmod 600 docs/keep; rm ws/link; echo l > ws/link") {
        return;
    }
    home.commit_whole(&home.read_changes());
    assert_eq!(fs::read_to_string(home.home.join("ws/a.txt")).unwrap(), "alpha\nmore\n");
    assert!(!home.home.join("ws/d").exists() && home.home.join("ws/n/f").exists());
    home.undo();
    let differ = differences(&timeless(&home.tree()), &timeless(&before));
    assert!(differ.is_empty(), "{differ:#?}");
}

/// A git index with the same entries and new Python bytecode are listed as incidental and not committed; an index with
/// a new entry and other files are not incidental.
#[test]
fn incidental_changes_are_discarded_and_listed() {
    let home = furnished(true);
    home.run_bare("cd ws; git init -q .; git add a.txt; git commit -qm one; touch -d 2020-01-01 a.txt");
    // The first refreshes the index; the second lists another file in it.
    let script = "cd ws; git update-index --refresh -q; mkdir -p d/__pycache__; printf '\\247\\015\\015\\012\\000\\000\\000\\000time,size,code' \
         > d/__pycache__/m.cpython-311.pyc";
    if !home.run_in_view(script) {
        return;
    }
    let set = home.read_changes();
    assert!(set.entries.is_empty(), "{:?}", home.kinds(&set));
    let listed: Vec<_> = set.incidental.iter().map(|(path, _)| path.strip_prefix(&home.home).unwrap()).collect();
    assert_eq!(listed, [Path::new("ws/.git/index"), Path::new("ws/d/__pycache__")]);
    assert!(home.run_in_view("cd ws; git add b.txt; mkdir d/__pycache__; echo x > d/__pycache__/notes.txt"));
    let set = home.read_changes();
    assert!(set.incidental.is_empty(), "{:?}", set.incidental);
    assert!(home.kinds(&set).contains(&("ws/.git/index".to_owned(), "changed")));
}

/// The diff of a changed text file is shown with its added and removed lines.
#[test]
fn diff_of_changed_text_is_shown() {
    let home = furnished(true);
    if !home.run_in_view("sed -i s/2/two/ docs/long.txt; head -c 10 /dev/zero > ws/bin") {
        return;
    }
    let set = home.read_changes();
    assert_eq!(set.entries[0].diff(10).unwrap(), "@@ -1 +1 @@\n line 1\n-line 2\n+line two\n line 3\n");
    assert_eq!(set.entries[1].diff(10), None);
}

/// A change set that changes artoo's own data is refused as a whole.
#[test]
fn artoos_own_data_is_never_changed() {
    let home = furnished(true);
    home.file(".config/artoo/key", "k");
    if !home.run_in_view("echo planted > .config/artoo/key") {
        return;
    }
    let journal = Journal::new(home.config(), home.protected());
    let task = crate::tests::task();
    let subject = Subject { task: &task, tool: "shell", call: "e1", what: "a script" };
    let error = commit(&journal, subject, &home.protected(), &home.read_changes(), &limit()).unwrap_err();
    assert!(error.to_string().contains("artoo's own data"), "{error}");
    assert_eq!(fs::read_to_string(home.home.join(".config/artoo/key")).unwrap(), "k");
}

/// A task beyond the journal's limit is deleted from it, also if folders stored for it deny access.
#[test]
fn stored_files_are_deleted_with_their_task() {
    let home = furnished(true);
    let config = UndoConfig { max_tasks: 1, ..home.config() };
    home.run_bare("mkdir docs/shut; echo x > docs/shut/in; chmod 500 docs/shut docs");
    for script in ["chmod u+w docs docs/shut; rm -r docs", "echo 1 > ws/n", "echo 2 > ws/n2"] {
        if !home.run_in_view(script) {
            return;
        }
        assert_eq!(home.commit_keeping(&home.read_changes(), config.clone()).stopped, None);
        std::thread::sleep(Duration::from_millis(2));
    }
    let entries = home.store().entries().unwrap();
    assert_eq!((entries.len(), home.store().forgotten()), (1, 2), "{entries:?}");
}

/// New times of a file with two hard links are reverted by an undo.
#[test]
fn times_of_shared_files_are_undone() {
    let home = furnished(true);
    home.run_bare("ln ws/a.txt ws/other; touch -d 2011-01-01 ws/a.txt");
    if !home.run_in_view("touch -d 2001-02-03 ws/a.txt") {
        return;
    }
    let modified = || fs::metadata(home.workspace().join("other")).unwrap().modified().unwrap();
    let before = modified();
    home.commit_whole(&home.read_changes());
    assert_ne!(modified(), before);
    home.undo();
    assert_eq!(modified(), before);
}
