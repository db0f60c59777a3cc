//! Tests with real files and a real shell: archives, links, git, commands, downloads, processes and programs.

mod contents;
mod machine;
mod outside;
mod repositories;
mod runs;

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::process::Command;

use artoo_proto::CoverageState::{NotShown, Refuted, Shown};
use artoo_proto::Timestamp;
use tempfile::TempDir;

use super::*;
use crate::algebra::{GitAction, ProcessName, Target};
use crate::eval::{FileSystemError, Space};

/// The real file system, with a temporary folder in place of `/proc`.
struct RealFiles {
    proc: PathBuf,
    home: Option<String>,
}

/// The file system error of this crate for an I/O error.
fn problem(error: &std::io::Error) -> FileSystemError {
    if error.kind() == ErrorKind::NotFound { FileSystemError::NotFound } else { FileSystemError::OtherKind }
}

impl RealFiles {
    /// The real path: one below `/proc` is in the temporary folder.
    fn at(&self, path: &Path) -> PathBuf {
        path.strip_prefix("/proc").map_or_else(|_| path.to_path_buf(), |below| self.proc.join(below))
    }
}

impl FileSystem for RealFiles {
    fn list(&self, folder: &Path) -> Result<Vec<Entry>, FileSystemError> {
        let entries = fs::read_dir(folder).map_err(|error| problem(&error))?;
        entries.map(|entry| self.metadata(&entry.unwrap().path())).collect()
    }

    fn metadata(&self, path: &Path) -> Result<Entry, FileSystemError> {
        let found = fs::symlink_metadata(self.at(path)).map_err(|error| problem(&error))?;
        let kind = match found.file_type() {
            kind if kind.is_file() => EntryKind::File,
            kind if kind.is_dir() => EntryKind::Folder,
            kind if kind.is_symlink() => EntryKind::Link,
            _ => EntryKind::Other,
        };
        let modified = Timestamp::from(found.modified().unwrap());
        Ok(Entry {
            path: path.to_owned(),
            kind,
            bytes: found.len(),
            modified,
            mode: found.mode() & 0o7777,
            ..Entry::default()
        })
    }

    fn open<'a>(&'a self, file: &Path) -> Result<Box<dyn Read + 'a>, FileSystemError> {
        let file = self.at(file);
        if !file.is_file() {
            return Err(if file.exists() { FileSystemError::OtherKind } else { FileSystemError::NotFound });
        }
        Ok(Box::new(File::open(file).map_err(|error| problem(&error))?))
    }

    fn real(&self, path: &Path) -> PathBuf {
        let folder = path.parent().unwrap_or(path);
        match (folder.canonicalize(), path.file_name()) {
            (Ok(real), Some(name)) => real.join(name),
            (Err(_), Some(name)) if folder != path => self.real(folder).join(name),
            _ => path.to_owned(),
        }
    }

    fn space(&self, _: &Path) -> Result<Space, FileSystemError> {
        Err(FileSystemError::Failed)
    }

    fn variable(&self, name: &str) -> Option<Vec<u8>> {
        match name {
            "PATH" => Some(self.proc.join("bin").to_str().unwrap().as_bytes().to_vec()),
            "HOME" => self.home.clone().map(String::into_bytes),
            _ => None,
        }
    }

    fn current_folder(&self) -> PathBuf {
        PathBuf::from("/")
    }

    fn now(&self) -> Timestamp {
        Timestamp::default()
    }

    fn utc_offset_s(&self, _: Timestamp) -> i32 {
        0
    }
}

/// A temporary folder with its file system, and the recorded calls.
struct RealFolder {
    folder: TempDir,
    _proc: TempDir,
    fs: RealFiles,
    calls: Vec<ToolCall>,
}

impl RealFolder {
    /// A temporary folder with these files (path and content), and no recorded calls.
    fn new(files: &[(&str, &str)]) -> Self {
        let (folder, proc) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let fs = RealFiles { proc: proc.path().to_owned(), home: None };
        let place = Self { folder, _proc: proc, fs, calls: Vec::new() };
        for (path, content) in files {
            place.write(path, content);
        }
        place
    }

    /// The absolute path of a name in the folder.
    fn path(&self, name: &str) -> String {
        self.folder.path().canonicalize().unwrap().join(name).to_str().unwrap().to_owned()
    }

    /// Writes a file in the folder, without recording it.
    fn write(&self, name: &str, content: &str) {
        let path = PathBuf::from(self.path(name));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// The path and state of everything below the folder.
    fn seen(&self) -> Vec<(PathBuf, String)> {
        let mut all = Vec::new();
        crate::eval::files::walk(Path::new(&self.path("")), Depth::Whole, true, &self.fs, &mut all).unwrap();
        all.into_iter().map(|entry| (entry.path.clone(), self.state(&entry))).collect()
    }

    /// The state of an entry as a record has it: a digest, the word for a folder, or a link's target.
    fn state(&self, entry: &Entry) -> String {
        match entry.kind {
            EntryKind::File => digest::of_file::<sha2::Sha256>(&entry.path, &self.fs).unwrap(),
            EntryKind::Folder => FOLDER.to_owned(),
            _ => format!("link to {}", fs::read_link(&entry.path).unwrap().display()),
        }
    }

    /// Runs a command with a real shell and records what it changed.
    fn sh(&mut self, command: &str) -> &mut ToolCall {
        let before: std::collections::BTreeMap<_, _> = self.seen().into_iter().collect();
        let mut shell = Command::new("sh");
        shell.args(["-c", command]).current_dir(self.path("")).env("HOME", self.path(""));
        for name in ["AUTHOR", "COMMITTER"] {
            shell.env(format!("GIT_{name}_NAME"), "a").env(format!("GIT_{name}_EMAIL"), "a@b");
        }
        let ended = shell.output().unwrap();
        let after: std::collections::BTreeMap<_, _> = self.seen().into_iter().collect();
        let paths: std::collections::BTreeSet<&PathBuf> = before.keys().chain(after.keys()).collect();
        let change = |path: &&PathBuf| FileChange {
            path: path.to_str().unwrap().to_owned(),
            before: before.get(*path).cloned(),
            after: after.get(*path).cloned(),
        };
        let changed = paths.iter().map(change).filter(|change| change.before != change.after).collect();
        let request = ToolRequest { tool: "shell".to_owned(), input: json!({ "command": command }) };
        let id = EvidenceId(format!("e{}", self.calls.len()));
        let output = String::from_utf8(ended.stdout).unwrap();
        let call = ToolCall::ended(request, id, CallStatus::Ok, output);
        self.calls.push(ToolCall { changed, changes_known: true, exit_code: ended.status.code(), ..call });
        self.calls.last_mut().unwrap()
    }

    /// The ledger of a request with these acts, before they are carried out.
    fn ledger(&self, acts: &[Act]) -> Ledger {
        let steps: Vec<Step> = acts.iter().cloned().map(Step::Do).collect();
        let all = vec![ReadClause { span: (0, 1), read: Ok(steps) }];
        let cwd = self.path("").trim_end_matches('/').to_owned();
        Ledger::of_clauses("x", all, &Environment { cwd, ..environment() }).simulate(&self.fs)
    }

    /// A folder in which a script ran before the request, unrecorded.
    fn prepared(files: &[(&str, &str)], script: &str) -> Self {
        let mut place = Self::new(files);
        place.sh(script);
        place.calls.clear();
        place
    }

    /// The coverage of acts after shell commands ran in a new folder with these files.
    fn check(files: &[(&str, &str)], acts: impl Fn(&Self) -> Vec<Act>, commands: &[&str]) -> Coverage {
        Self::new(files).compare(acts, commands)
    }

    /// The coverage of acts after shell commands ran in the folder; `@` in a command is its path.
    fn compare(mut self, acts: impl Fn(&Self) -> Vec<Act>, commands: &[&str]) -> Coverage {
        let ledger = self.ledger(&acts(&self));
        for command in commands {
            let folder = self.path("");
            self.sh(&command.replace("@", folder.trim_end_matches('/')));
        }
        ledger.cover(&self.calls, &self.fs)
    }

    /// The coverage of git actions after shell commands ran in the repository.
    fn compare_git(self, actions: &[GitAction], commands: &[&str]) -> Coverage {
        self.compare(|place| actions.iter().map(|action| git(place, action.clone())).collect(), commands)
    }
}

const FILES: [(&str, &str); 3] = [("d/a.txt", "one\n"), ("d/e/b.txt", "two\n"), ("c.txt", "three\n")];

/// Asserts that all was done and nothing else was.
fn assert_complete(coverage: &Coverage) {
    assert!(coverage.is_complete(), "{coverage:#?}");
}

/// The paths in an archive may be relative to any folder.
#[test]
fn archive_members_may_share_any_base() {
    let pack = |place: &RealFolder| vec![Act::Archive { of: file(&place.path("d")), to: place.path("x.tar.gz") }];
    for command in [
        "tar czf x.tar.gz d",
        "tar czf x.tar.gz -C d .",
        "tar czPf x.tar.gz @/d",
        "cd d && tar czf ../x.tar.gz a.txt e",
    ] {
        assert_complete(&RealFolder::check(&FILES, pack, &[command]));
    }
    for command in [
        "tar czf x.tar.gz d/a.txt",
        "tar czf x.tar.gz d c.txt",
        "echo z > d/a.txt; tar czf x.tar.gz d",
        "tar czf x.tar.gz --transform s/a.txt/z.txt/ d",
    ] {
        assert_states(&RealFolder::check(&FILES, pack, &[command]), &[Refuted]);
    }
    let unpack = |place: &RealFolder| vec![Act::Extract { of: file(&place.path("x.tar")), to: place.path("out") }];
    let mut place = RealFolder::prepared(&FILES, "tar cf x.tar d");
    let ledger = place.ledger(&unpack(&place));
    assert_states(&ledger.cover(&place.calls, &place.fs), &[Refuted]);
    place.sh("mkdir out && tar xf x.tar -C out");
    assert_complete(&ledger.cover(&place.calls, &place.fs));
    place.sh("echo z > out/d/a.txt");
    assert_states(&ledger.cover(&place.calls, &place.fs), &[Refuted]);
}

#[test]
fn link_targets_are_compared() {
    let link = |place: &RealFolder| vec![Act::Link { target: place.path("d/a.txt"), path: place.path("l") }];
    for command in ["ln -s @/d/a.txt l", "ln -s d/a.txt l", "ln -s ./d/e/../a.txt l"] {
        assert_complete(&RealFolder::check(&FILES, link, &[command]));
    }
    for command in ["ln -s c.txt l", "cp d/a.txt l", "true"] {
        assert_states(&RealFolder::check(&FILES, link, &[command]), &[Refuted]);
    }
    for (before, command, state) in [
        ("ln -s d l", "ln -sfn d/a.txt l", Shown),
        ("ln -s d l", "ln -sf d/a.txt l", Refuted),
        ("ln -s d l", "rm l", Refuted),
        ("echo x > l", "ln -sf d/a.txt l", NotShown),
    ] {
        let mut place = RealFolder::new(&FILES);
        place.sh(before);
        place.calls.clear();
        let ledger = place.ledger(&link(&place));
        place.sh(command);
        assert_eq!(ledger.cover(&place.calls, &place.fs).rows[0].state, state, "{before}; {command}");
    }
    let moved = |place: &RealFolder| vec![Act::Move { of: file(&place.path("d")), to: Target::As(place.path("f")) }];
    let mut place = RealFolder::prepared(&FILES, "ln -s a.txt d/l; ln -s d g");
    let ledger = place.ledger(&moved(&place));
    place.sh("mv d f");
    assert_complete(&ledger.cover(&place.calls, &place.fs));
    // A path through a link is resolved to the real file.
    let delete = place.ledger(&[Act::Delete { of: file(&place.path("g/a.txt")) }]);
    assert_states(&delete.cover(&place.calls, &place.fs), &[NotShown]);
}

#[test]
fn paths_through_links_are_resolved() {
    let mut place = RealFolder::prepared(&FILES, "ln -s d g");
    let ledger = place.ledger(&[Act::Delete { of: file(&place.path("g/a.txt")) }]);
    place.sh("rm g/a.txt");
    assert_complete(&ledger.cover(&place.calls, &place.fs));
}

/// The act that does a git action in the folder.
fn git(place: &RealFolder, action: GitAction) -> Act {
    Act::Git { folder: place.path("").trim_end_matches('/').to_owned(), action }
}

/// The git action that commits with a message.
fn commit(message: &str) -> GitAction {
    GitAction::Commit { message: message.to_owned() }
}

/// The coverage of git actions after shell commands in a repository that has one commit.
fn check_git(actions: &[GitAction], commands: &[&str]) -> Coverage {
    RealFolder::prepared(
        &FILES,
        "git init -q -b main && git add -A && git commit -q -m start && git branch old && echo z >> c.txt",
    )
    .compare_git(actions, commands)
}

/// Message, number and content of commits are compared, read from git objects.
#[test]
fn commits_are_read_from_objects() {
    let two = [commit("one"), commit("two")];
    assert_complete(&check_git(&[commit("fix it")], &["git add -A && git commit -m 'fix it'"]));
    let commands = ["git commit -am one", "echo y >> c.txt; git commit -am two"];
    assert_states(&check_git(&two, &commands), &[Shown, Shown]);
    assert_states(&check_git(&two, &["git commit -am one"]), &[Refuted, Refuted]);
    for command in [
        "git commit -am 'fix that'",
        "git commit -am x; git commit --allow-empty -m 'fix it'",
        "true",
        "git commit --amend -am 'fix it'",
        "git commit --allow-empty -m 'fix it'",
    ] {
        assert_states(&check_git(&[commit("fix it")], &[command]), &[Refuted]);
    }
    let hook =
        check_git(&[commit("fix it")], &["git commit -am 'fix it'; echo x > .git/hooks/pre-push; git config a.b c"]);
    assert!(hook.rows[0].state == Shown && hook.unasked.len() == 2, "{hook:#?}");
}

/// An asked branch, tag, switch or init is shown only if the commands did exactly that, at the right commit.
#[test]
fn git_acts_are_shown_only_at_the_right_commit() {
    let branch = |switch| GitAction::Branch { name: "new".to_owned(), switch };
    let tag = || GitAction::Tag { name: "v1".to_owned() };
    let old = || GitAction::Switch { name: "old".to_owned() };
    assert_complete(&check_git(&[branch(false)], &["git branch new"]));
    assert_complete(&check_git(&[branch(true)], &["git checkout -q -b new"]));
    assert_complete(&check_git(&[branch(true), commit("m")], &["git checkout -q -b new", "git commit -qam m"]));
    assert_complete(&check_git(&[commit("m"), tag()], &["git commit -qam m", "git tag v1"]));
    assert_complete(&check_git(&[tag()], &["git tag -a v1 -m x"]));
    assert_complete(&check_git(&[old()], &["git checkout old"]));
    for (actions, command) in [
        (vec![branch(false)], "git checkout -q -b new"),
        (vec![branch(true)], "git branch new"),
        (vec![branch(false)], "git branch other"),
        (vec![tag()], "git commit -qam m && git tag v1"),
        (vec![tag()], "git branch v1"),
        (vec![old()], "git checkout -q -b other"),
    ] {
        assert_states(&check_git(&actions, &[command]), &[Refuted]);
    }
    assert_states(&check_git(&[GitAction::Branch { name: "old".to_owned(), switch: false }], &["true"]), &[NotShown]);
    let init = |place: &RealFolder| vec![git(place, GitAction::Init)];
    assert_complete(&RealFolder::check(&FILES, init, &["git init -q"]));
    assert_states(&RealFolder::check(&FILES, init, &["mkdir .git"]), &[Refuted]);
}

/// The act that runs a command in the folder, with its output saved in the file `to`.
fn run(place: &RealFolder, command: &str, to: Option<&str>) -> Act {
    let folder = place.path("").trim_end_matches('/').to_owned();
    Act::Run { command: command.to_owned(), folder, to: to.map(|to| place.path(to)) }
}

#[test]
fn run_matches_the_whole_command_line() {
    let list = |place: &RealFolder| vec![run(place, "ls d", None)];
    for command in ["ls d", " ls d ", "cd @ && ls d"] {
        let coverage = RealFolder::check(&FILES, list, &[command]);
        assert_complete(&coverage);
        assert_eq!(coverage.answer().as_deref(), Some("exit code 0\na.txt\ne"));
    }
    for command in ["ls d || true", "ls", "ls d -a", "cd d && ls d", "echo ls d", "LS d"] {
        assert_states(&RealFolder::check(&FILES, list, &[command]), &[NotShown]);
    }
    assert_states(&RealFolder::check(&FILES, list, &[]), &[Refuted]);
    assert_states(&RealFolder::check(&FILES, |place| vec![run(place, "ls zz", None)], &["ls zz"]), &[Refuted]);
    let saved = |place: &RealFolder| vec![run(place, "ls d", Some("out.txt"))];
    for commands in
        [vec!["ls d > out.txt"], vec!["ls d | tee @/out.txt"], vec!["ls d", "printf 'a.txt\\ne\\n' > out.txt"]]
    {
        assert_complete(&RealFolder::check(&FILES, saved, &commands));
    }
    assert_states(&RealFolder::check(&FILES, saved, &["ls d", "echo a.txt > out.txt"]), &[Refuted]);
    for command in ["ls d > o.txt", "ls d; echo x > out.txt"] {
        assert_states(&RealFolder::check(&FILES, saved, &[command]), &[NotShown]);
    }
}

#[test]
fn equivalent_command_spellings_match() {
    const SCRIPTS: [(&str, &str); 2] = [("go.sh", "echo ready\n"), ("d/a.txt", "one\n")];
    for wanted in ["./go.sh d/a.txt", "sh go.sh d/a.txt", "@/go.sh d/a.txt"] {
        let acts =
            |place: &RealFolder| vec![run(place, &wanted.replace('@', place.path("").trim_end_matches('/')), None)];
        for said in
            ["sh go.sh d/a.txt", "bash ./go.sh 'd/a.txt'", "cd @ && sh @/go.sh @/d/a.txt", "sh ./d/../go.sh d/a.txt"]
        {
            assert_complete(&RealFolder::check(&SCRIPTS, acts, &[said]));
        }
        for said in
            ["sh go.sh", "sh go.sh d", "cd d && sh ../go.sh d/a.txt", "python3 go.sh d/a.txt", "sh -n go.sh d/a.txt"]
        {
            assert_states(&RealFolder::check(&SCRIPTS, acts, &[said]), &[NotShown]);
        }
        let saved = |place: &RealFolder| match acts(place).remove(0) {
            Act::Run { command, folder, .. } => vec![Act::Run { command, folder, to: Some(place.path("out.txt")) }],
            other => vec![other],
        };
        assert_complete(&RealFolder::check(&SCRIPTS, saved, &["sh @/go.sh d/a.txt > out.txt"]));
        assert_states(&RealFolder::check(&SCRIPTS, saved, &["sh @/go.sh d/a.txt >> out.txt"]), &[NotShown]);
    }
}

#[test]
fn unread_clause_prevents_refutation() {
    let partly = |act: fn(&RealFolder) -> Act, command: &str| {
        let mut place = RealFolder::prepared(&FILES, "git init -q -b main && git add -A && git commit -q -m start");
        let cwd = place.path("").trim_end_matches('/').to_owned();
        let unread = Unread { state: CoverageState::NotRead, why: String::new() };
        let read = ReadClause { span: (0, 1), read: Ok(vec![Step::Do(act(&place))]) };
        let all = vec![read, ReadClause { span: (1, 2), read: Err(unread) }];
        let ledger = Ledger::of_clauses("xy", all, &Environment { cwd, ..environment() }).simulate(&place.fs);
        place.sh(command);
        ledger.cover(&place.calls, &place.fs).rows.remove(0).state
    };
    let branch = |place: &RealFolder| git(place, GitAction::Branch { name: "new".to_owned(), switch: false });
    let delete = |place: &RealFolder| Act::Delete { of: file(&place.path("c.txt")) };
    let copy = |place: &RealFolder| Act::Copy { of: file(&place.path("c.txt")), to: Target::As(place.path("z.txt")) };
    for (act, command, state) in [
        (branch as fn(&RealFolder) -> Act, "git switch -q -c new", NotShown),
        (branch, "git checkout -q -b new; git commit -qm x --allow-empty", NotShown),
        (branch, "git branch other", Refuted),
        (delete, "rm c.txt; echo new > c.txt", NotShown),
        (delete, "true", Refuted),
        (copy, "cp c.txt z.txt", Shown),
        (copy, "cp c.txt z.txt; rm c.txt", Shown),
        (copy, "true", Refuted),
    ] {
        assert_eq!(partly(act, command), state, "{command}");
    }
    let copied =
        |place: &RealFolder| Act::Copy { of: file(&place.path("c.txt")), to: Target::As(place.path("d/a.txt")) };
    assert_eq!(partly(copied, "rm d/a.txt"), NotShown);
}

/// A changed file that other programs run by themselves, such as `.envrc`, is reported.
#[test]
fn run_changing_autorun_files_is_reported() {
    let make = |place: &RealFolder| vec![run(place, "echo x > o; mkdir p; echo y > p/q", None)];
    assert_complete(&RealFolder::check(&FILES, make, &["echo x > o; mkdir p; echo y > p/q"]));
    let obeyed = |place: &RealFolder| vec![run(place, "echo x > .envrc", None)];
    let coverage = RealFolder::check(&FILES, obeyed, &["echo x > .envrc"]);
    assert!(coverage.unasked.len() == 1 && coverage.run_by_others.len() == 1, "{coverage:#?}");
    let named = |place: &RealFolder| vec![Act::CreateFile { path: place.path(".envrc"), text: "x\n".to_owned() }];
    let coverage = RealFolder::check(&FILES, named, &["echo x > .envrc"]);
    assert_complete(&coverage);
    assert_eq!(coverage.run_by_others.len(), 1);
}

/// A command that ran before the change it should follow is not shown as done.
#[test]
fn run_order_between_changes_is_checked() {
    let acts = |place: &RealFolder| {
        let add = Act::Insert { path: place.path("c.txt"), text: "x\n".to_owned(), at_start: false };
        vec![add, run(place, "cat c.txt", None)]
    };
    assert_complete(&RealFolder::check(&FILES, acts, &["echo x >> c.txt", "cat c.txt"]));
    assert_states(&RealFolder::check(&FILES, acts, &["cat c.txt", "echo x >> c.txt"]), &[Shown, NotShown]);
    let after = |place: &RealFolder| {
        let tree = Query::Tree { roots: vec![place.path("")], depth: Depth::Direct, hidden: true, kind: Kind::File };
        let made = Query::Filter { of: Box::new(tree), keep: Pred::Name(NameTest::Ends(".o".to_owned())) };
        vec![run(place, "touch a.o b.o", None), Act::Delete { of: made }]
    };
    assert_states(&RealFolder::check(&FILES, after, &["touch a.o b.o"]), &[Shown, Refuted]);
    assert_complete(&RealFolder::check(&FILES, after, &["touch a.o b.o", "rm a.o b.o"]));
}
