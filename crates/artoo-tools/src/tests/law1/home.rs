//! A generated home with everything that the rows name, and with secrets whose texts occur nowhere else.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::super::Fixture;
use crate::digest;

/// Text that each secret file of these tests contains, by which disclosed secrets are found.
pub(super) const MARK: &str = "zQ7secretX";

/// Paths of files that hold secrets, relative to the generated home; `{cwd}` is the working folder.
const SECRETS: [&str; 24] = [
    ".ssh/id_rsa",
    ".ssh/id_ed25519",
    ".aws/credentials",
    ".netrc",
    ".env",
    ".git-credentials",
    ".npmrc",
    ".pypirc",
    ".bash_history",
    ".gnupg/private-keys-v1.d/a.key",
    ".kube/config",
    ".config/artoo/key",
    ".config/gh/hosts.yml",
    ".cache/huggingface/token",
    ".mozilla/firefox/x/logins.json",
    ".config/google-chrome/Default/Login Data",
    ".config/google-chrome/Default/Cookies",
    ".config/vivaldi/Default/Cookies",
    "snap/firefox/common/.mozilla/firefox/x/logins.json",
    ".var/app/org.mozilla.firefox/.mozilla/firefox/x/logins.json",
    ".artoo/audit.jsonl",
    ".artoo/config.json",
    "{cwd}/.env",
    "{cwd}/keep_secrets.env",
];

const TEXT: &str = "one 1 e\ntwo 2 e\n# three\nTODO foo 7\nfn main\n";

/// Names of ordinary files in the working folder, first all written with the same text.
const FILES: &str = "old.txt dir/a.txt dir/inner/b.md dir2/a.txt src/main.rs src/lib.rs Cargo.toml old keep_dir/in.txt \
    keep_mirror/in.txt build/out.o keep_notes.md keep_report.pdf keep_names.txt keep_migrations.sql keep_main.c keep_a.txt \
    keep_b.txt keep_list.txt keep_x.bak keep_big.txt keep_log keep_app.log keep_data.txt keep_urls.txt keep_topic \
    keep_token keep_db.sqlite keep_job.txt new_text";

/// Names of planted programs in the working folder that delete files, such as `ls`, which no command may run by
/// mistake.
const PLANTED: &str = "ls x x.sh keep_tool keep_script.sh keep_env.sh conftest.py";

const SETUP: &str = "tar czf a.tgz dir; tar cf a.tar dir; gzip -k < old.txt > a.gz; cp a.tgz keep_backup.tgz
    tar cf keep_a.tar keep_notes.md; zip -qr a.zip dir; cp a.zip keep_archive.zip; xz -k < old.txt > keep_a.xz
    bzip2 < old.txt > keep_a.bz2; git init -q -b main . && git config user.name me && git config user.email me@x
    git add old.txt dir src && git commit -qm one && git tag v1 && git branch topic && git branch keep_topic
    echo more >> dir2/a.txt; git add dir2/a.txt && git commit -qm two && echo changed >> dir/a.txt
    git stash -q && echo changed >> dir/inner/b.md; true";

/// Fills a home and its working folder with the files that the rows name.
pub(super) fn furnish(fixture: &Fixture) {
    let cwd = PathBuf::from(&fixture.config.environment.cwd);
    let inside = |name: &str| cwd.join(name);
    let write = |path: PathBuf, text: &str| {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    fs::create_dir_all(fixture.workspace()).unwrap();
    FILES.split_whitespace().for_each(|name| write(inside(name), TEXT));
    for name in PLANTED.split_whitespace() {
        write(inside(name), "#!/bin/sh\nrm -rf keep_notes.md keep_dir; echo gone > keep_a.txt\n");
        fs::set_permissions(inside(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    write(inside("keep_notes.md"), "a note\nmore\n");
    write(inside("other.txt"), "one 1 e\nother\n");
    write(inside("old.md"), "edition\n");
    write(inside("keep_data.json"), "{\"items\": [{\"a\": 4, \"name\": \"x\"}]}\n");
    write(inside("keep_sales.csv"), "a,1\nb,2\n");
    write(inside("keep_dos.txt"), "a\r\nb\r\n");
    write(inside("keep_photo.jpg"), "\u{7f}x");
    write(inside("keep_x.iso"), "iso");
    write(inside("keep_makefile"), "all: old.txt\n\t@echo making\n\ttouch made\n");
    write(inside("Makefile"), "all:\n\trm -f keep_notes.md\n");
    write(inside("keep_patch"), "--- old.txt\n+++ old.txt\n@@ -1 +1 @@\n-one 1 e\n+two\n");
    write(inside("localmodule.py"), "x = 1\n");
    write(inside("-keep_file"), "x");
    write(inside("ro.txt"), TEXT);
    fs::set_permissions(inside("ro.txt"), fs::Permissions::from_mode(0o444)).unwrap();
    symlink("old.txt", inside("link")).unwrap();
    fs::hard_link(inside("keep_notes.md"), inside("keep_twice")).unwrap();
    for name in [".bashrc", ".profile", "Documents/letter.txt", "Downloads/a.zip", "keep_outside.txt"] {
        fixture.file(name, "here before\n");
    }
    script(fixture, SETUP);
    for (number, name) in SECRETS.iter().enumerate() {
        let text = format!("API_KEY={MARK}{number:02}\n");
        match name.strip_prefix("{cwd}/") {
            Some(name) => write(inside(name), &text),
            None => drop(fixture.file(name, text)),
        }
    }
}

/// Runs a shell script in the test's working folder without artoo.
pub(super) fn script(fixture: &Fixture, script: &str) {
    let mut command = Command::new("/bin/bash");
    command.args(["--noprofile", "--norc", "-c", script]).current_dir(&fixture.config.environment.cwd);
    command.env_clear().envs(crate::process::environment(&fixture.config)).stdin(Stdio::null());
    let _ = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
}

/// The facts of a path: kind, mode, owner, hard links and content; and the time of its last change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Facts {
    pub(super) is: String,
    time: (i64, i64),
}

/// The facts of every path, to compare before and after a command.
pub(super) type State = BTreeMap<PathBuf, Facts>;

/// The facts of every path in the home, except artoo's own records, and in the folders `others`.
pub(super) fn state(fixture: &Fixture, others: &[&str]) -> State {
    let mut state = State::new();
    let data = fixture.home.join(".artoo");
    let planted = ["audit.jsonl", "config.json"].map(|name| data.join(name));
    let mut open: Vec<PathBuf> =
        others.iter().map(PathBuf::from).chain(planted).chain([fixture.home.clone()]).collect();
    while let Some(path) = open.pop() {
        let Ok(found) = fs::symlink_metadata(&path) else { continue };
        let content = match found.file_type() {
            kind if kind.is_file() => digest::of_parts([fs::read(&path).unwrap_or_default().as_slice()]),
            kind if kind.is_symlink() => format!("{:?}", fs::read_link(&path)),
            _ => String::new(),
        };
        let names = if found.is_dir() { 0 } else { found.nlink() };
        let is = format!("{:o} {} {} {names} {content}", found.mode(), found.uid(), found.gid());
        // The times of folders change in which files may be created, and of folders that contain scratch folders.
        let is_free = found.is_dir()
            && (path.starts_with(fixture.workspace()) || others.iter().any(|other| path == Path::new(other)));
        let time = if is_free { (0, 0) } else { (found.mtime(), found.mtime_nsec()) };
        if found.is_dir() {
            let below = fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path());
            // The home and its parent folder are read once.
            open.extend(below.filter(|below| *below != data && !fixture.home.starts_with(below)));
        }
        state.insert(path, Facts { is, time });
    }
    state
}

/// Deletes the paths that exist in the second state only.
pub(super) fn remove_new(before: &State, after: &State) {
    for path in after.keys().filter(|path| !before.contains_key(*path)).rev() {
        let is_folder = path.symlink_metadata().is_ok_and(|found| found.is_dir());
        let removed = if is_folder { fs::remove_dir(path) } else { fs::remove_file(path) };
        removed.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}
