//! Tests of the coverage (whether a request was carried out) with hand-made steps, records and disks.

mod acts;
mod offers;
mod property;
mod real;
mod records;
mod simulated;
mod texts;
mod workspace;

#[test]
fn clauses_are_trimmed_of_joining_words() {
    let request = "please, list x and then, zip it up; and mail it. ";
    let at = |from: &str, to: &str| (request.find(from).unwrap(), request.find(to).unwrap());
    let ends = [
        at("please", "list"),
        at("list", "zip"),
        at("zip", "and mail"),
        (request.find("and mail").unwrap(), request.len()),
    ];
    let unread = || Err(Unread { state: CoverageState::NotRead, why: String::new() });
    let all = ends.iter().map(|span| ReadClause { span: *span, read: unread() }).collect();
    let ledger = Ledger::of_clauses(request, all, &environment());
    let words: Vec<&str> = ledger.reading().clauses.iter().map(|clause| clause.words.as_str()).collect();
    assert_eq!(words, ["please", "list x", "zip it up", "mail it."]);
    for clause in &ledger.reading().clauses {
        assert_eq!(request[clause.span.0..clause.span.1], clause.words);
    }
}

use std::path::Path;

use artoo_proto::{
    CallStatus, Coverage, CoverageState, EffectClass, Environment, EvidenceId, FOLDER, FileChange, ToolCall,
    ToolRequest, Unread,
};
use serde_json::json;

use super::Ledger;
use crate::algebra::{Act, Depth, Function, Kind, NameTest, Pred, Query, Step};
use crate::eval::{Entry, EntryKind, FileSystem, digest};
use crate::parse::ReadClause;
use crate::testing::MemoryFileSystem;

/// A disk in memory, and the calls that record its changes.
#[derive(Clone)]
pub(super) struct World {
    pub(super) fs: MemoryFileSystem,
    pub(super) calls: Vec<ToolCall>,
}

impl World {
    /// A disk with these files (path and content) and no recorded calls.
    pub(super) fn new(files: &[(&str, &str)]) -> Self {
        let mut fs = MemoryFileSystem::new("/w");
        for (path, content) in files {
            fs.add_file(*path, *content, artoo_proto::Timestamp::default());
        }
        Self { fs, calls: Vec::new() }
    }

    /// The state of a path as a record has it: a digest, or the word for a folder; `None` if nothing is there.
    fn state(&self, path: &Path) -> Option<String> {
        let entry = self.fs.metadata(path).ok()?;
        Some(match entry.kind {
            EntryKind::Folder => FOLDER.to_owned(),
            _ => digest::of_bytes(&crate::eval::text::content(path, &self.fs).unwrap()),
        })
    }

    /// Changes the disk and records a call of this command with the states of these paths before and after.
    pub(super) fn call(
        &mut self,
        command: &str,
        change: impl FnOnce(&mut MemoryFileSystem),
        paths: &[&str],
    ) -> &mut ToolCall {
        let seen = |world: &Self| -> Vec<(Entry, Option<String>)> {
            let look =
                |path: &&str| (world.fs.metadata(Path::new(path)).unwrap_or_default(), world.state(Path::new(path)));
            paths.iter().map(look).collect()
        };
        let before = seen(self);
        change(&mut self.fs);
        let after = seen(self);
        let changes = paths.iter().zip(before.into_iter().zip(after)).map(|(path, ((was, before), (is, after)))| {
            let with_mode =
                |state: Option<String>, entry: &Entry| state.map(|state| format!("{state} mode {:04o}", entry.mode));
            let (before, after) = match before == after {
                true => (with_mode(before, &was), with_mode(after, &is)),
                false => (before, after),
            };
            FileChange { path: (*path).to_owned(), before, after }
        });
        let changed = changes.collect();
        let request = ToolRequest { tool: "shell".to_owned(), input: json!({ "command": command }) };
        let id = EvidenceId(format!("e{}", self.calls.len()));
        let ended = ToolCall::ended(request, id, CallStatus::Ok, String::new());
        self.calls.push(ToolCall { changed, changes_known: true, exit_code: Some(0), ..ended });
        self.calls.last_mut().unwrap()
    }

    /// Writes a file, with a recorded call.
    pub(super) fn write(&mut self, path: &str, content: &str) {
        self.call("write", |fs| fs.add_file(path, content, artoo_proto::Timestamp::default()), &[path]);
    }

    /// Creates a folder, with a recorded call.
    pub(super) fn folder(&mut self, path: &str) {
        self.call("mkdir", |fs| fs.add_folder(path, artoo_proto::Timestamp::default()), &[path]);
    }

    /// Removes a path, with a recorded call.
    pub(super) fn remove(&mut self, path: &str) {
        self.call("rm", |fs| fs.remove(path), &[path]);
    }

    /// Sets the permission bits of a path, with a recorded call.
    pub(super) fn mode(&mut self, path: &str, mode: u32) {
        self.call("chmod", |fs| fs.set_mode(path, mode), &[path]);
    }

    /// Moves a file, with one recorded call.
    pub(super) fn rename(&mut self, from: &str, to: &str) {
        let content = crate::eval::text::content(Path::new(from), &self.fs).unwrap();
        let change = |fs: &mut MemoryFileSystem| {
            fs.remove(from);
            fs.add_file(to, content, artoo_proto::Timestamp::default());
        };
        self.call("mv", change, &[from, to]);
    }
}

/// A Linux machine whose current folder and workspace are `/w`.
pub(super) fn environment() -> Environment {
    Environment {
        cwd: "/w".to_owned(),
        home: "/".to_owned(),
        workspace: "/w".to_owned(),
        os: "linux".to_owned(),
        utc_offset_s: 0,
    }
}

/// The ledger of a request with one clause for each list of steps.
pub(super) fn ledger(clauses: &[&[Step]], world: &World) -> Ledger {
    let clause = |(at, steps): (usize, &&[Step])| ReadClause { span: (at, at + 1), read: Ok(steps.to_vec()) };
    let request = "x".repeat(clauses.len());
    let all = clauses.iter().enumerate().map(clause).collect();
    Ledger::of_clauses(&request, all, &environment()).simulate(&world.fs)
}

/// The ledger of a request whose first clause asks for these steps and whose second clause is unread.
pub(super) fn half_read(steps: &[Step], fs: &dyn FileSystem) -> Ledger {
    let unread = Unread { state: CoverageState::NotRead, why: "no".to_owned() };
    let all =
        vec![ReadClause { span: (0, 1), read: Ok(steps.to_vec()) }, ReadClause { span: (1, 2), read: Err(unread) }];
    Ledger::of_clauses("xy", all, &environment()).simulate(fs)
}

/// The query for the file or folder at a path.
pub(super) fn file(path: &str) -> Query {
    Query::Paths { paths: vec![path.to_owned()], kind: Kind::Any }
}

/// The query for the lines of a file.
pub(super) fn text(path: &str) -> Query {
    Query::TextFile { path: path.to_owned() }
}

/// The query for all files below `/w` with an extension.
pub(super) fn with_extension(extension: &str) -> Query {
    let tree = Query::Tree { roots: vec!["/w".to_owned()], depth: Depth::Whole, hidden: true, kind: Kind::File };
    Query::Filter { of: Box::new(tree), keep: Pred::Name(NameTest::Ends(format!(".{extension}"))) }
}

/// The question how many elements a query has.
pub(super) fn count(of: Query) -> Step {
    Step::Ask(Query::Aggregate { of: Box::new(of), function: Function::Count })
}

/// The step that creates a file with a text.
pub(super) fn create(path: &str, text: &str) -> Step {
    Step::Do(Act::CreateFile { path: path.to_owned(), text: text.to_owned() })
}

/// The coverage of a request by the recorded calls and the disk of a world.
pub(super) fn cover(ledger: &Ledger, world: &World) -> Coverage {
    ledger.cover(&world.calls, &world.fs)
}

/// Asserts the state of each step of a coverage, such as shown or refuted.
pub(super) fn assert_states(coverage: &Coverage, states: &[CoverageState]) {
    let found: Vec<CoverageState> = coverage.rows.iter().map(|row| row.state).collect();
    assert_eq!(found, states, "{coverage:#?}");
}
