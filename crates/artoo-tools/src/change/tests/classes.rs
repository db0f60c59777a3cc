//! Which changes need an approval: each form beside one that needs none.

use std::path::PathBuf;

use super::*;
use crate::change::{Class, Places, Reason, classify};

/// The paths of a change set that need an approval, each with its reasons.
fn reasons(home: &Home, set: &ChangeSet, commands: &[PathBuf]) -> Vec<(String, Vec<Reason>)> {
    let (workspace, protected) = (home.workspace(), home.protected());
    let places = Places { workspace: &workspace, command_folders: commands, protected: &protected };
    match classify(set, &places) {
        Class::Committable => Vec::new(),
        Class::Asks(asks) => {
            let name = |at: usize| home.kinds(set)[at].0.clone();
            asks.into_iter().map(|(at, reasons)| (name(at), reasons)).collect()
        }
        Class::Refused { path, reason } => panic!("{}: {reason}", path.display()),
    }
}

/// A row of a test: a script, an entry of its change set, and a check of the reason why it needs an approval.
type Row = (&'static str, &'static str, fn(&Reason) -> bool);

/// Ordinary new files and new times in the workspace need no approval; other changes do, for the expected reason.
#[test]
#[expect(clippy::too_many_lines, reason = "one table")]
fn only_new_workspace_files_skip_approval() {
    let home = Home::new(true);
    home.file("ws/a.txt", "a");
    home.file("ws/h/one", "1");
    home.file("docs/x", "x");
    std::fs::hard_link(home.home.join("ws/h/one"), home.home.join("docs/other")).unwrap();
    home.run_bare("git init -q ws/repo; chmod 2755 ws/h");
    let commands = [home.workspace().join("bin")];
    let asking: [Row; 34] = [
        ("echo x >> ws/a.txt", "ws/a.txt", |it| *it == Reason::Existing),
        ("chmod 600 ws/a.txt", "ws/a.txt", |it| *it == Reason::Existing),
        ("rm ws/a.txt", "ws/a.txt", |it| *it == Reason::Existing),
        ("echo x > docs/new", "docs/new", |it| *it == Reason::OutsideWorkspace),
        ("echo x > pwned", "pwned", |it| *it == Reason::OutsideWorkspace),
        ("mkdir -p .ssh; echo k > .ssh/id", ".ssh/id", |it| *it == Reason::Protected),
        ("git -C ws/repo branch -q x; echo > ws/repo/.git/logs", "ws/repo/.git/logs", |it| *it == Reason::Repository),
        ("echo x > ws/repo/.git/hooks/pre-commit", "ws/repo/.git/hooks/pre-commit", |it| *it == Reason::Repository),
        (
            "mkdir -p ws/repo/.git/objects/info; echo /x > ws/repo/.git/objects/info/alternates",
            "ws/repo/.git/objects/info/alternates",
            |it| *it == Reason::Repository,
        ),
        ("mkdir ws/n; echo 'gitdir: /x' > ws/n/.git", "ws/n/.git", |it| *it == Reason::Repository),
        ("git init -q --bare ws/bare", "ws/bare/config", |it| *it == Reason::Repository),
        ("mkdir -p ws/b/objects ws/b/refs; echo x > ws/b/HEAD; echo y > ws/b/config", "ws/b/config", |it| {
            *it == Reason::Repository
        }),
        ("echo x > ws/.envrc", "ws/.envrc", |it| matches!(it, Reason::RunByOthers(_))),
        ("echo x > ws/makefile", "ws/makefile", |it| matches!(it, Reason::RunByOthers(_))),
        ("mkdir -p ws/s/.vscode; echo x > ws/s/.vscode/tasks.json", "ws/s/.vscode/tasks.json", |it| {
            matches!(it, Reason::RunByOthers(_))
        }),
        ("echo x > ws/conftest.py", "ws/conftest.py", |it| matches!(it, Reason::RunByOthers(_))),
        ("echo x > ws/a.pth", "ws/a.pth", |it| matches!(it, Reason::RunByOthers(_))),
        ("mkdir -p ws/bin; echo x > ws/bin/ls; chmod 755 ws/bin/ls", "ws/bin/ls", |it| {
            matches!(it, Reason::RunByOthers(_))
        }),
        ("mkdir -p ws/bin; ln -s ../a.txt ws/bin/ls", "ws/bin/ls", |it| matches!(it, Reason::RunByOthers(_))),
        ("echo x >> ws/h/one", "ws/h/one", |it| *it == Reason::SeveralNames(2)),
        ("touch ws/h/one", "ws/h/one", |it| *it == Reason::AllNames(2)),
        ("mkfifo ws/pipe", "ws/pipe", |it| *it == Reason::SpecialFile),
        ("echo x > ws/s; chmod 4755 ws/s", "ws/s", |it| *it == Reason::SetId),
        ("echo x > ws/s; chmod 2755 ws/s", "ws/s", |it| *it == Reason::SetId),
        ("mkdir ws/s; chmod 2755 ws/s", "ws/s", |it| *it == Reason::SetId),
        ("ln -s /etc/passwd ws/l", "ws/l", |it| *it == Reason::LeadsOut),
        ("ln -s ../docs ws/l", "ws/l", |it| *it == Reason::LeadsOut),
        ("mkdir ws/n; ln -s ../../docs ws/n/l", "ws/n/l", |it| *it == Reason::LeadsOut),
        ("mkdir ws/n; ln ws/a.txt ws/n/l", "ws/n/l", |it| *it == Reason::OtherNames),
        ("ln ws/a.txt ws/l", "ws/l", |it| *it == Reason::OtherNames),
        ("touch docs/x", "docs/x", |it| *it == Reason::Times),
        ("mkdir ws/n; ln -s n/../../docs ws/l", "ws/l", |it| *it == Reason::LeadsOut),
        ("rm -r ws/h; echo x > ws/h", "ws/h", |it| *it == Reason::Existing),
        ("mv ws/h ws/g", "ws/h", |it| *it == Reason::Existing),
    ];
    for (script, path, reason) in asking {
        if !home.run_in_view(script) {
            return;
        }
        let asks = reasons(&home, &home.read_changes(), &commands);
        let found = asks.iter().find(|(name, _)| name == path).map(|(_, reasons)| reasons.clone());
        assert!(found.as_ref().is_some_and(|found| found.iter().any(reason)), "{script}: {asks:?}");
    }
    for script in [
        "echo x > ws/new; mkdir -p ws/n/e/w; echo y > ws/n/e/w/f; chmod 755 ws/new",
        "touch ws/a.txt",
        "cp ws/a.txt ws/copy; cp -r ws/h ws/h2; chmod 755 ws/h2",
        "ln -s a.txt ws/l; mkdir ws/n; ln -s ../h/one ws/n/l",
        "mkdir ws/h/inner",
        "cd ws/repo; echo x | git hash-object -w --stdin",
        "exec 3<>ws/a.txt",
    ] {
        assert!(home.run_in_view(script));
        let set = home.read_changes();
        assert_eq!(reasons(&home, &set, &commands), Vec::new(), "{script}");
    }
}

/// A new file with capabilities needs approval; tested as root only.
#[test]
fn capabilities_of_new_files_need_approval() {
    let home = Home::new(true);
    // Only root can give a program capabilities.
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let capability = "0100000200200000000000000000000000000000";
    let script = format!(
        "echo x > ws/t; /usr/bin/python3 -c \"import os; os.setxattr('ws/t', 'security.capability', \
         bytes.fromhex('{capability}'))\""
    );
    if home.run_in_view(&script) {
        assert_eq!(reasons(&home, &home.read_changes(), &[]), [("ws/t".to_owned(), vec![Reason::SetId])]);
    }
}
