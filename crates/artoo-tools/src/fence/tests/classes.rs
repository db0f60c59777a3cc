//! What each class of command may write and read: a reading one, one that makes names, and what is left to a person.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::SHOWN_CHARS;
use super::yard::{State, Yard, state};
use crate::fence::Fence;
use crate::process::Ended;

const TIME: Duration = Duration::from_secs(20);

/// A yard whose workspace, the working folder, holds a file, a folder with two names for one file, and a repository.
fn furnished() -> Yard {
    let mut yard = Yard::new();
    yard.config.environment.cwd = yard.config.environment.workspace.clone();
    yard.file("artoo_workspace/old", "held dear\n");
    let inner = yard.file("artoo_workspace/d/in/f", "held dear\n");
    fs::hard_link(&inner, inner.with_file_name("g")).unwrap();
    let setup = "git init -q && git add old && git -c user.name=a -c user.email=a@b commit -qm one";
    assert_eq!(yard.run(setup).exit_code, Some(0));
    yard
}

fn at(yard: &Yard, names: &[&str]) -> Vec<PathBuf> {
    names.iter().map(|name| Path::new(&yard.config.environment.workspace).join(name)).collect()
}

fn reading(yard: &Yard, opened: &[PathBuf], command: &str) -> Ended {
    yard.run_in(Fence::of_reading(&yard.protected, opened), command, TIME).unwrap()
}

fn creating(yard: &Yard, created: &[&str], command: &str) -> Ended {
    let fence = Fence::of_creating(&yard.config, &yard.protected, &[], &at(yard, created));
    yard.run_in(fence, command, TIME).unwrap()
}

/// The workspace but one name in it.
fn without(yard: &Yard, name: &str) -> State {
    let [workspace, name] = [".", name].map(|name| at(yard, &[name]).remove(0));
    let mut found = state(&[&workspace], &name);
    // The folder itself changes with the name that was allowed in it.
    found.times.retain(|path, _| *path != workspace);
    found
}

#[doc = "holds: law 1.16"]
#[test]
fn a_reading_command_writes_only_temporary_files() {
    let yard = furnished();
    let before = without(&yard, "none");
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
        let ended = reading(&yard, &[], command);
        assert_eq!(without(&yard, "none"), before, "{command}: {}", ended.text(SHOWN_CHARS).0);
        assert!(ended.kept().is_some(), "{command} is told: {}", ended.text(SHOWN_CHARS).0);
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
        let ended = reading(&yard, &[], command);
        assert_eq!(
            (ended.exit_code, &ended.denied),
            (Some(0), &Vec::new()),
            "{command}: {}",
            ended.text(SHOWN_CHARS).0
        );
    }
}

#[doc = "holds: law 1.16"]
#[test]
fn a_creating_command_makes_its_names_alone() {
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
        let yard = furnished();
        let ended = creating(&yard, &created, command);
        assert_eq!(
            (ended.exit_code, &ended.denied),
            (Some(0), &Vec::new()),
            "{command}: {}",
            ended.text(SHOWN_CHARS).0
        );
        assert_eq!(yard.run(check).exit_code, Some(0), "{command}");
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
        let yard = furnished();
        let (before, outside) = (without(&yard, "n"), yard.state());
        let ended = creating(&yard, &[created], command);
        assert_eq!(without(&yard, "n"), before, "{command}: {}", ended.text(SHOWN_CHARS).0);
        assert_eq!(yard.state(), outside, "{command}: {}", ended.text(SHOWN_CHARS).0);
        assert!(ended.kept().is_some() || command.contains("ln -s"), "{command}: {}", ended.text(SHOWN_CHARS).0);
    }
}

#[doc = "holds: law 1.16"]
#[test]
fn only_an_opened_file_is_shown_though_hidden() {
    let yard = Yard::new();
    let start_up = yard.file(".bashrc", "start\n");
    let secrets = [".ssh/id_rsa", ".artoo/history", ".config/artoo/key", ".config/gh/hosts.yml", ".config/fish/x.fish"];
    for secret in secrets {
        yard.file(secret, "SECRET");
    }
    let config = yard.home.join(".config");
    let inner = secrets.map(|secret| yard.home.join(secret));
    for opened in [vec![], vec![yard.home.clone()], vec!["/".into()], vec![config], inner[..4].to_vec()] {
        let ended = reading(&yard, &opened, "cat ~/.ssh/* ~/.artoo/* ~/.config/*/* ~/.bashrc");
        assert_eq!(ended.stdout.text(SHOWN_CHARS).0, "", "{opened:?}");
    }
    let ended = reading(&yard, &[start_up, inner[4].clone()], "cat ~/.bashrc ~/.config/fish/x.fish ~/.ssh/id_rsa");
    assert_eq!(ended.stdout.text(SHOWN_CHARS).0, "start\nSECRET");
}
