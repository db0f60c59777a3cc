//! What each kind of command may read and write.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::SHOWN_CHARS;
use super::test_home::{State, TestHome, state};
use crate::fence::Fence;
use crate::process::Ended;

const TIME: Duration = Duration::from_secs(20);

/// A home whose workspace is the working folder and holds a file, a folder with two hard links of one file, and a git
/// repository.
fn furnished() -> TestHome {
    let mut home = TestHome::new();
    home.config.environment.cwd = home.config.environment.workspace.clone();
    home.file("artoo_workspace/old", "held dear\n");
    let inner = home.file("artoo_workspace/d/in/f", "held dear\n");
    fs::hard_link(&inner, inner.with_file_name("g")).unwrap();
    let setup = "git init -q && git add old && git -c user.name=a -c user.email=a@b commit -qm one";
    assert_eq!(home.run(setup).exit_code, Some(0));
    home
}

/// The paths of these names in the test home's workspace.
fn at(home: &TestHome, names: &[&str]) -> Vec<PathBuf> {
    names.iter().map(|name| Path::new(&home.config.environment.workspace).join(name)).collect()
}

/// Runs a command in the sandbox of a read-only command that opens these files.
fn reading(home: &TestHome, opened: &[PathBuf], command: &str) -> Ended {
    home.run_in(Fence::of_reading(&home.protected, opened), command, TIME).unwrap()
}

/// Runs a command in a sandbox that allows it to create these names in the workspace, if they are missing.
fn creating(home: &TestHome, created: &[&str], command: &str) -> Ended {
    let fence = Fence::of_creating(&home.config, &home.protected, &[], &at(home, created));
    home.run_in(fence, command, TIME).unwrap()
}

/// The state of the workspace, leaving out the entry of this name.
fn without(home: &TestHome, name: &str) -> State {
    let [workspace, name] = [".", name].map(|name| at(home, &[name]).remove(0));
    let mut found = state(&[&workspace], &name);
    // The folder's own times change with the name.
    found.times.retain(|path, _| *path != workspace);
    found
}

/// A command in a read-only sandbox can write only in its temporary folder.
#[doc = "holds: law 1.16"]
#[test]
fn reading_command_writes_only_temporary_files() {
    let home = furnished();
    let before = without(&home, "none");
    for command in [
        "echo x > new",
        "echo x >> old",
        ": > old",
        "rm old",
        "mv old new",
        "chmod 600 old",
        "touch -d 2001-01-01 old",
        "ln old new",
        "ln -s old new",
        "mkdir new",
        "truncate -s 0 old",
        "find . -delete",
        "cp -r --no-target-directory d .",
        "sed -i s/held/gone/ old",
        "git diff --output=old",
        "git branch topic",
    ] {
        let ended = reading(&home, &[], command);
        assert_eq!(without(&home, "none"), before, "{command}: {}", ended.text(SHOWN_CHARS).0);
        assert!(ended.kept().is_some(), "{command} is reported: {}", ended.text(SHOWN_CHARS).0);
    }
    for command in [
        "sort old",
        "seq 200000 | sort -S 64k | tail -n 1",
        "cat <<< text",
        "echo x > $TMPDIR/f && cat $TMPDIR/f && rm $TMPDIR/f",
        "mktemp && mktemp -d",
        "python3 -c 'import tempfile; tempfile.TemporaryFile().write(b\"x\")' || ! command -v python3",
        "export GIT_OPTIONAL_LOCKS=0; git status && git diff && git log -p && git stash list",
        "tar cf - . | tar tf - | wc -l",
    ] {
        let ended = reading(&home, &[], command);
        assert_eq!(
            (ended.exit_code, &ended.denied),
            (Some(0), &Vec::new()),
            "{command}: {}",
            ended.text(SHOWN_CHARS).0
        );
    }
}

/// In a sandbox that allows creating some names, a command can create these names only.
#[doc = "holds: law 1.16"]
#[test]
fn creating_command_creates_only_its_names() {
    for (created, command, check) in [
        (vec!["n"], "echo x > n", "test -s n"),
        (vec!["n"], "set -C; echo x > n && cat n", "test -s n"),
        (vec!["n"], "touch n && chmod 700 n && touch -d 2001-01-01 n", "test -x n"),
        (vec!["n"], "ln -s old n", "test -L n"),
        (vec!["n"], "cp -a d n", "cmp d/in/f n/in/g && test n/in/f -ef n/in/g"),
        (vec!["n/a/b"], "mkdir -p n/a/b && echo x > n/a/b/c && mv n/a/b/c n/e && rm n/e", "test -d n/a/b"),
        (vec!["n.tgz"], "tar czf n.tgz d", "tar tzf n.tgz d/in/f"),
        (vec!["n.zip"], "! command -v zip || zip -qr n.zip d", "! test -e n.zip || test -s n.zip"),
        (vec!["n"], "sort -o n old", "cmp n old"),
        (vec![".git/refs/heads/t/n", ".git/logs/refs/heads/t/n"], "git branch t/n", "git rev-parse -q --verify t/n"),
        (vec![".git/refs/tags/n"], "git tag n", "git rev-parse -q --verify n"),
    ] {
        let home = furnished();
        let ended = creating(&home, &created, command);
        assert_eq!(
            (ended.exit_code, &ended.denied),
            (Some(0), &Vec::new()),
            "{command}: {}",
            ended.text(SHOWN_CHARS).0
        );
        assert_eq!(home.run(check).exit_code, Some(0), "{command}");
    }
    for (created, command) in [
        ("n", "echo x > m"),
        ("n", "mkdir m"),
        ("n", "echo x > old"),
        ("n", "rm old; mv d n"),
        ("n", "ln old n; echo gone > n"),
        ("n", "ln -s old n; echo gone > n; tee n < /dev/null; chmod 600 n"),
        ("n", "mkdir n; mv old n/"),
        ("n", "mkdir n; ln -s .. n/up; echo gone > n/up/old; rm n/up/old"),
        ("n", "mkdir n; ln old n/o; echo gone > n/o"),
        ("n", "touch n; cp -f old n; mv n old"),
        ("old", "echo gone > old; rm old"),
        ("d", "echo gone > d/in/f; echo x > d/new"),
        ("../work/n", "echo x > ../work/n"),
    ] {
        let home = furnished();
        let (before, outside) = (without(&home, "n"), home.state());
        let ended = creating(&home, &[created], command);
        assert_eq!(without(&home, "n"), before, "{command}: {}", ended.text(SHOWN_CHARS).0);
        assert_eq!(home.state(), outside, "{command}: {}", ended.text(SHOWN_CHARS).0);
        assert!(ended.kept().is_some() || command.contains("ln -s"), "{command}: {}", ended.text(SHOWN_CHARS).0);
    }
}

/// A hidden file is readable only if the command names that file, not a folder above it.
#[doc = "holds: law 1.16"]
#[test]
fn hidden_file_is_readable_only_if_opened() {
    let home = TestHome::new();
    let start_up = home.file(".bashrc", "start\n");
    let secrets = [".ssh/id_rsa", ".artoo/history", ".config/artoo/key", ".config/gh/hosts.yml", ".config/fish/x.fish"];
    for secret in secrets {
        home.file(secret, "SECRET");
    }
    let config = home.path.join(".config");
    let inner = secrets.map(|secret| home.path.join(secret));
    for opened in [vec![], vec![home.path.clone()], vec!["/".into()], vec![config], inner[..4].to_vec()] {
        let ended = reading(&home, &opened, "cat ~/.ssh/* ~/.artoo/* ~/.config/*/* ~/.bashrc");
        assert_eq!(ended.stdout.text(SHOWN_CHARS).0, "", "{opened:?}");
    }
    let ended = reading(&home, &[start_up, inner[4].clone()], "cat ~/.bashrc ~/.config/fish/x.fish ~/.ssh/id_rsa");
    assert_eq!(ended.stdout.text(SHOWN_CHARS).0, "start\nSECRET");
}
