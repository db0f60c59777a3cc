//! An approval of one path allows changes to that path only.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

use super::SHOWN_CHARS;
use super::test_home::TestHome;
use crate::fence::Fence;
use crate::process::Ended;

/// Runs a command in a sandbox that allows changes to these paths and the workspace, as after an approval.
fn allowed(home: &TestHome, shown: &[&str], command: &str) -> Ended {
    let shown: Vec<PathBuf> = shown.iter().map(|path| home.path.join(path)).collect();
    let fence = Fence::of_allowed(&home.config, &home.protected, &shown, false);
    home.run_in(fence, command, Duration::from_secs(20)).unwrap()
}

/// A command with an approval of one path can change it, and no path beside it.
#[doc = "holds: law 1.17"]
#[test]
fn approval_of_one_path_excludes_its_neighbours() {
    for (shown, command, done, undone) in [
        (vec!["work/a"], "rm a", "! test -e a", "rm b"),
        (vec!["work/a"], "echo new > a", "test \"$(cat a)\" = new", "echo new > b"),
        (vec!["work/a"], "sed -i s/old/new/ a", "grep -q new a", "sed -i s/old/new/ b"),
        (vec!["work/a"], "chmod 600 a", "test \"$(stat -c %a a)\" = 600", "chmod 600 b"),
        (vec!["work/a"], "touch -d 2001-01-01 a", "test \"$(stat -c %Y a)\" -lt 1000000000", "touch -d 2001-01-01 b"),
        (vec!["work/n"], "echo x > n", "test -s n", "echo x > m"),
        (vec!["work/n"], "mkdir n && echo x > n/inside", "test -s n/inside", "mkdir m"),
        (vec!["work/n"], "ln -s a n", "test -L n", "ln -s a m"),
        (vec!["work/a", "work/n"], "mv a n", "test -s n && ! test -e a", "mv b m"),
        (vec!["work/a"], "mv a ~/artoo_workspace/", "test -s ~/artoo_workspace/a", "mv b ~/artoo_workspace/"),
        (vec!["work/d"], "rm -r d", "! test -e d", "rm -r e"),
        (vec!["work/d"], "chmod -R u=rwx,go= d", "test \"$(stat -c %a d/f)\" = 700", "chmod -R u=rwx,go= e"),
    ] {
        let home = TestHome::new();
        for name in ["work/a", "work/b", "work/d/f", "work/e/f"] {
            home.file(name, "old\n");
        }
        let before = home.state();
        let ended = allowed(&home, &shown, &format!("{undone}; true"));
        assert_eq!(home.state().facts, before.facts, "{undone}: {}", ended.text(SHOWN_CHARS).0);
        assert!(ended.kept().is_some(), "{undone} is reported: {}", ended.text(SHOWN_CHARS).0);
        let ended = allowed(&home, &shown, command);
        assert_eq!(ended.exit_code, Some(0), "{command}: {}", ended.text(SHOWN_CHARS).0);
        assert_eq!(home.run(done).exit_code, Some(0), "{command}");
    }
}

/// Temporary files that a program creates beside the one file it may change are removed after the run, and the user is
/// told.
#[test]
fn temporary_files_beside_approved_file_are_removed() {
    for (command, expected, is_told) in [
        ("cp b n && test -s n", "old\n", true),
        ("cp b n && mv n a", "other\n", false),
        ("cp b n && cp a m && mv m n && test -s n", "old\n", true),
        ("cp b n && chmod 600 n && rm n", "old\n", false),
        // Another program could run it meanwhile.
        ("! cp b .bash_profile", "old\n", true),
        ("! cp b Makefile", "old\n", true),
    ] {
        let home = TestHome::new();
        home.file("work/a", "old\n");
        home.file("work/b", "other\n");
        let ended = allowed(&home, &["work/a"], command);
        let text = ended.text(SHOWN_CHARS).0;
        assert_eq!((ended.exit_code, ended.kept().is_some()), (Some(0), is_told), "{command}: {text}");
        assert_eq!(fs::read_to_string(home.path.join("work/a")).unwrap(), expected, "{command}: {text}");
        let mut names: Vec<_> =
            fs::read_dir(home.path.join("work")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["a", "b"], "{command}: {text}");
    }
}

/// artoo's own data can't be changed or read even by a command with an approval of that path.
#[doc = "holds: law 1.20"]
#[test]
fn own_data_stays_unchanged_despite_approval() {
    let home = TestHome::new();
    let log = home.file(".artoo/audit.jsonl", "one\n");
    home.file("work/x", "");
    for command in [
        "rm -rf ~/.artoo",
        "echo > ~/.artoo/audit.jsonl",
        "mv ~/.artoo ~/other",
        "chmod 777 ~/.artoo/audit.jsonl",
        "cat ~/.artoo/audit.jsonl",
    ] {
        for shown in [vec![".artoo", ".artoo/audit.jsonl"], vec![""]] {
            let ended = allowed(&home, &shown, command);
            assert_ne!(ended.exit_code, Some(0), "{command}: {}", ended.text(SHOWN_CHARS).0);
            assert_eq!(fs::read(&log).unwrap(), b"one\n", "{command}");
        }
    }
    assert_eq!(allowed(&home, &[""], "rm ~/work/x").exit_code, Some(0), "a whole folder was allowed");
}

/// A command may set modes of new workspace files, but not set-user-id or set-group-id bits.
#[test]
fn workspace_modes_are_set_without_set_id() {
    let home = TestHome::new();
    let at = |name: &str| home.path.join("artoo_workspace").join(name);
    let ended = home.run("cd ~/artoo_workspace && echo 'echo ran' > s && chmod +x s && ./s && chmod 4755 s");
    assert_eq!(
        (ended.exit_code, ended.stdout.text(SHOWN_CHARS).0.as_str()),
        (Some(1), "ran\n"),
        "{}",
        ended.text(SHOWN_CHARS).0
    );
    assert_eq!(fs::metadata(at("s")).unwrap().permissions().mode() & 0o7777, 0o755 & !umask());
    let ended = home.run("cd ~/artoo_workspace && cp -p s t && tar cf - s | tar xf - -C $TMPDIR && git init -q r");
    assert_eq!(ended.exit_code, Some(0), "{}", ended.text(SHOWN_CHARS).0);
}

/// The umask of this process, which limits `chmod +x`.
fn umask() -> u32 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("Umask:")).unwrap();
    u32::from_str_radix(mask.trim(), 8).unwrap()
}
