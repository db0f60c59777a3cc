//! Tests of `performed`, the check after an act: the requested change passes, and every other change fails.

mod listed;

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use artoo_proto::{CallStatus, EvidenceId, FOLDER, FileChange, Timestamp, ToolCall, ToolRequest, escape};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use artoo_reflex::algebra::{Act, Depth, Kind, NameChange, Pred, Query, Target};
use artoo_reflex::coverage::performed;
use artoo_reflex::eval::{Answer, EntryKind, FileSystem, Verification, evaluate};
use artoo_reflex::perform;
use artoo_reflex::testing::MemoryFileSystem;

/// The timestamp a number of seconds after 1970.
fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(seconds * 1000)
}

/// A small file system in memory below `/r`.
fn tree() -> MemoryFileSystem {
    let mut fs = MemoryFileSystem::new("/r");
    for (path, content, seconds) in [
        ("/r/a.txt", "alpha\n", 1_700_000_000),
        ("/r/b.txt", "beta\n", 1_700_100_000),
        ("/r/new\nline.txt", "odd\n", 1_700_200_000),
        ("/r/c.md", "gamma\n", 1_700_300_000),
        ("/r/sub/d.txt", "delta, a long one\n", 1_700_400_000),
        ("/r/.hidden.txt", "hidden\n", 1_700_500_000),
    ] {
        fs.add_file(path, content, at(seconds));
    }
    fs.add_folder("/out", at(1));
    fs
}

/// The content of a file.
fn content(fs: &MemoryFileSystem, path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    fs.open(path).unwrap().read_to_end(&mut bytes).unwrap();
    bytes
}

/// The SHA-256 of bytes in hexadecimal.
fn sha(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A successful tool call with this input, output and recorded changes.
fn call(tool: &str, input: Value, output: String, changed: Vec<FileChange>) -> ToolCall {
    let request = ToolRequest { tool: tool.to_owned(), input };
    let call = ToolCall::ended(request, EvidenceId("e1".to_owned()), CallStatus::Ok, output);
    ToolCall { measures: true, changed, ..call }
}

/// The recorded change of a path from one state to another.
fn change(path: &Path, before: Option<String>, after: Option<String>) -> FileChange {
    FileChange { path: escape::path_line(path.as_os_str().as_encoded_bytes()), before, after }
}

/// A file system after an act, with the changes that a tool would record.
struct Scene {
    fs: MemoryFileSystem,
    listed: Vec<PathBuf>,
    changed: Vec<FileChange>,
}

impl Scene {
    /// A scene before any change, in which a first call listed this selection.
    fn of(selection: &Query) -> Self {
        let fs = tree();
        let Ok(Answer::Files(files)) = evaluate(selection, &fs) else { panic!("{selection:?}") };
        Self { fs, listed: files.into_iter().map(|entry| entry.path).collect(), changed: Vec::new() }
    }

    /// Creates a file, and its folder if it is missing, and records the changes.
    fn make(&mut self, path: &Path, bytes: &[u8], modified: Timestamp) {
        if let Some(folder) = path.parent().filter(|folder| self.fs.metadata(folder).is_err()) {
            self.fs.add_folder(folder, at(5));
            self.changed.push(change(folder, None, Some(FOLDER.to_owned())));
        }
        self.fs.add_file(path, bytes, modified);
        self.changed.push(change(path, None, Some(sha(bytes))));
    }

    /// Deletes a file and records the change.
    fn remove(&mut self, path: &Path) {
        let bytes = content(&self.fs, path);
        self.fs.remove(path);
        self.changed.push(change(path, Some(sha(&bytes)), None));
    }

    /// Copies a file and records the change.
    fn copy(&mut self, from: &Path, to: &Path) {
        let (bytes, modified) = (content(&self.fs, from), self.fs.metadata(from).unwrap().modified);
        self.make(to, &bytes, modified);
    }

    /// Moves a file and records the changes.
    fn relocate(&mut self, from: &Path, to: &Path) {
        self.copy(from, to);
        self.remove(from);
    }

    /// The recorded calls: the listing, and the call that made the changes.
    fn calls(&self) -> Vec<ToolCall> {
        let lines: Vec<String> =
            self.listed.iter().map(|path| escape::path_line(path.as_os_str().as_encoded_bytes())).collect();
        let listing = lines.iter().map(|line| format!("{line}\n")).collect();
        let act = call("files", json!({ "paths": lines }), String::new(), self.changed.clone());
        vec![call("glob", json!({}), listing, Vec::new()), act]
    }

    /// The result of `performed` for an act in this scene.
    fn verdict(&self, act: &Act) -> Verification {
        performed(&serde_json::to_value(act).unwrap(), &self.calls(), &self.fs)
    }

    /// Asserts that the scene counts as the act performed.
    #[track_caller]
    fn passes(&self, act: &Act) {
        let found = self.verdict(act);
        assert!(found.pass, "{}", found.evidence);
    }

    /// Asserts that the scene does not count as the act performed, for this reason.
    #[track_caller]
    fn fails(&self, act: &Act, why: &str) {
        let found = self.verdict(act);
        assert!(!found.pass && found.evidence.contains(why), "{found:?}");
    }
}

/// The query for the `.txt` files below `/r`.
fn texts() -> Query {
    let tree = Query::Tree { roots: vec!["/r".to_owned()], depth: Depth::Whole, hidden: false, kind: Kind::File };
    Query::Filter { of: Box::new(tree), keep: Pred::Extension("txt".to_owned()) }
}

/// The act that deletes the `.txt` files below `/r`.
fn delete() -> Act {
    Act::Delete { of: texts() }
}

/// The scene in which the `.txt` files below `/r` were deleted.
fn deletion() -> Scene {
    let mut scene = Scene::of(&texts());
    for path in scene.listed.clone() {
        scene.remove(&path);
    }
    scene
}

#[doc = "holds: law 1.7"]
#[test]
fn delete_removes_exactly_the_selection() {
    assert_eq!(deletion().listed.len(), 4);
    deletion().passes(&delete());
    let mut more = deletion();
    more.remove(Path::new("/r/c.md"));
    more.fails(&delete(), "/r/c.md was removed, which was not asked for");
    let mut listed_too_much = deletion();
    listed_too_much.remove(Path::new("/r/c.md"));
    listed_too_much.listed.push("/r/c.md".into());
    listed_too_much.fails(&delete(), "does not belong to what was to be deleted");
    let mut hidden = deletion();
    hidden.remove(Path::new("/r/.hidden.txt"));
    hidden.listed.push("/r/.hidden.txt".into());
    hidden.fails(&delete(), "does not belong");
    let mut forgotten = Scene::of(&texts());
    forgotten.listed.truncate(3);
    for path in forgotten.listed.clone() {
        forgotten.remove(&path);
    }
    forgotten.fails(&delete(), "was to be deleted too and is still there");
    let mut claimed = deletion();
    claimed.fs.add_file("/r/a.txt", "alpha\n", at(1));
    claimed.fails(&delete(), "still there: /r/a.txt");
    // A limited selection can't be computed again after deletion, but the deleted files must be gone.
    let oldest = Act::Delete { of: Query::Limit { of: Box::new(texts()), skip: 0, count: 4 } };
    deletion().passes(&oldest);
    claimed.fails(&oldest, "still there: /r/a.txt");
    let mut unrecorded = deletion();
    unrecorded.changed.pop();
    unrecorded.fails(&delete(), "/r/sub/d.txt was not there");
    let mut made = deletion();
    made.make(Path::new("/r/ransom"), b"x", at(1));
    made.fails(&delete(), "/r/ransom was created, which was not asked for");
}

#[test]
fn copy_is_whole_and_keeps_source() {
    let act = Act::Copy { of: texts(), to: Target::Into("/out/new".to_owned()) };
    let scene = || {
        let mut scene = Scene::of(&texts());
        for path in scene.listed.clone() {
            scene.copy(&path, &Path::new("/out/new").join(path.file_name().unwrap()));
        }
        scene
    };
    scene().passes(&act);
    let mut other = scene();
    other.fs.add_file("/out/new/a.txt", "ALPHA\n", at(1));
    other.fails(&act, "/out/new/a.txt has other content");
    let mut lost = scene();
    lost.remove(Path::new("/r/a.txt"));
    lost.fails(&act, "");
    let mut missing = scene();
    missing.changed.pop();
    missing.fails(&act, "/out/new/d.txt was there already");
    let mut beside = scene();
    beside.make(Path::new("/out/extra"), b"x", at(1));
    beside.fails(&act, "/out/extra was created, which was not asked for");
    let mut partial = Scene::of(&texts());
    partial.listed.truncate(2);
    for path in partial.listed.clone() {
        partial.copy(&path, &Path::new("/out/new").join(path.file_name().unwrap()));
    }
    partial.fails(&act, "the selection, computed again");
}

#[test]
fn move_moves_exactly_the_selection() {
    let long = Query::Filter {
        of: Box::new(Query::Tree {
            roots: vec!["/r".to_owned()],
            depth: Depth::Whole,
            hidden: false,
            kind: Kind::File,
        }),
        keep: Pred::MinBytes(10),
    };
    let act = Act::Move { of: long.clone(), to: Target::Into("/out".to_owned()) };
    let mut scene = Scene::of(&long);
    assert_eq!(scene.listed, [Path::new("/r/sub/d.txt")]);
    scene.relocate(Path::new("/r/sub/d.txt"), Path::new("/out/d.txt"));
    scene.passes(&act);
    // A moved file still has its size, so a wrong selection is noticed afterwards.
    let mut wrong = Scene::of(&long);
    wrong.listed = vec!["/r/a.txt".into()];
    wrong.relocate(Path::new("/r/a.txt"), Path::new("/out/a.txt"));
    wrong.fails(&act, "the selection, computed again");
    let mut both = Scene::of(&long);
    both.listed.push("/r/a.txt".into());
    both.relocate(Path::new("/r/sub/d.txt"), Path::new("/out/d.txt"));
    both.relocate(Path::new("/r/a.txt"), Path::new("/out/a.txt"));
    both.fails(&act, "does not belong");
    let mut kept = Scene::of(&long);
    kept.relocate(Path::new("/r/sub/d.txt"), Path::new("/out/d.txt"));
    kept.fs.add_file("/r/sub/d.txt", "delta, a long one\n", at(1));
    kept.fails(&act, "still there: /r/sub/d.txt");
    let mut elsewhere = Scene::of(&long);
    elsewhere.relocate(Path::new("/r/sub/d.txt"), Path::new("/out/e.txt"));
    elsewhere.fails(&act, "/out/d.txt is not there");
}

#[test]
fn move_target_may_be_existing_folder() {
    let one = Query::Paths { paths: vec!["/r/a.txt".to_owned()], kind: Kind::File };
    for (to, arrives) in [("/out/z", "/out/z"), ("/out", "/out/a.txt")] {
        let act = Act::Move { of: one.clone(), to: Target::As(to.to_owned()) };
        let mut scene = Scene::of(&one);
        scene.relocate(Path::new("/r/a.txt"), Path::new(arrives));
        scene.passes(&act);
    }
}

#[test]
fn rename_yields_requested_names() {
    let check = |change: NameChange, names: &[(&str, &str)]| {
        let act = Act::Rename { of: texts(), change };
        let mut scene = Scene::of(&texts());
        for (from, to) in names {
            scene.relocate(&Path::new("/r").join(from), &Path::new("/r").join(to));
        }
        scene.verdict(&act)
    };
    let text = |text: &str| text.to_owned();
    let all = |to: [&'static str; 4]| {
        let from = ["a.txt", "b.txt", "new\nline.txt", "sub/d.txt"];
        from.into_iter().zip(to).collect::<Vec<_>>()
    };
    for (change, names) in [
        (NameChange::Extension(text("md")), ["a.md", "b.md", "new\nline.md", "sub/d.md"]),
        (NameChange::Prefix(text("x_")), ["x_a.txt", "x_b.txt", "x_new\nline.txt", "sub/x_d.txt"]),
        (NameChange::Suffix(text("-old")), ["a-old.txt", "b-old.txt", "new\nline-old.txt", "sub/d-old.txt"]),
        (NameChange::UpperCase, ["A.TXT", "B.TXT", "NEW\nLINE.TXT", "sub/D.TXT"]),
        (NameChange::Template(text("{n}.{ext}")), ["1.txt", "2.txt", "3.txt", "sub/4.txt"]),
        (
            NameChange::Template(text("{date}_{name}")),
            ["2023-11-14_a.txt", "2023-11-16_b.txt", "2023-11-17_new\nline.txt", "sub/2023-11-19_d.txt"],
        ),
    ] {
        let found = check(change.clone(), &all(names));
        assert!(found.pass, "{change:?}: {}", found.evidence);
        let mut wrong = all(names);
        wrong[0].1 = "other.txt";
        assert!(!check(change.clone(), &wrong).pass, "{change:?}");
        assert!(!check(change.clone(), &all(names)[..3]).pass, "{change:?}");
    }
    let replace = NameChange::Replace { find: text("a"), with: text("o") };
    assert!(check(replace.clone(), &[("a.txt", "o.txt")]).pass, "names without the text stay");
    assert!(!check(replace, &[("a.txt", "o.txt"), ("b.txt", "p.txt")]).pass);
}

#[test]
fn created_files_have_requested_content() {
    let act = Act::CreateFile { path: "/out/n.txt".to_owned(), text: "hello\n".to_owned() };
    let scene = |bytes: &[u8]| {
        let mut scene = Scene::of(&texts());
        scene.listed.clear();
        scene.make(Path::new("/out/n.txt"), bytes, at(1));
        scene
    };
    scene(b"hello\n").passes(&act);
    scene(b"hello").fails(&act, "/out/n.txt has other content");
    let mut over = scene(b"hello\n");
    over.changed.push(change(Path::new("/r/a.txt"), Some("1".to_owned()), Some("2".to_owned())));
    over.fails(&act, "/r/a.txt was changed, which was not asked for");
    let replace = Act::Replace {
        path: "/r/a.txt".to_owned(),
        find: "a".to_owned(),
        with: "oo".to_owned(),
        to: "/out/n.txt".to_owned(),
    };
    scene(b"oolphoo\n").passes(&replace);
    scene(b"oolpha\n").fails(&replace, "/out/n.txt has other content");
    let folder = Act::CreateFolder { paths: vec!["/out/x/y".to_owned()] };
    let mut made = Scene::of(&texts());
    made.listed.clear();
    made.fs.add_folder("/out/x/y", at(1));
    for path in ["/out/x", "/out/x/y"] {
        made.changed.push(change(Path::new(path), None, Some(FOLDER.to_owned())));
    }
    made.passes(&folder);
    made.fs.remove("/out/x/y");
    made.fails(&folder, "/out/x/y is not there");
}

/// The bytes of a zip file with these uncompressed files, built by hand.
fn zip(members: &BTreeMap<&str, &[u8]>) -> Vec<u8> {
    zip_of(members.iter().map(|(name, content)| (*name, *content)))
}

/// The bytes of a zip file with these entries, in this order, which may repeat a name.
fn zip_of<'a>(members: impl ExactSizeIterator<Item = (&'a str, &'a [u8])>) -> Vec<u8> {
    let count = u16::try_from(members.len()).unwrap().to_le_bytes();
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for (name, content) in members {
        let offset = u32::try_from(bytes.len()).unwrap().to_le_bytes();
        let size = u32::try_from(content.len()).unwrap().to_le_bytes();
        let length = u16::try_from(name.len()).unwrap().to_le_bytes();
        bytes.extend(
            [b"PK\x03\x04".as_slice(), &[20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], &size, &size, &length, &[0, 0]]
                .concat(),
        );
        bytes.extend([name.as_bytes(), content].concat());
        directory.extend(
            [
                b"PK\x01\x02".as_slice(),
                &[20, 0, 20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
                &size,
                &size,
                &length,
                &[0; 12],
                &offset,
                name.as_bytes(),
            ]
            .concat(),
        );
    }
    let (at, length) = (u32::try_from(bytes.len()).unwrap(), u32::try_from(directory.len()).unwrap());
    let end =
        [b"PK\x05\x06".as_slice(), &[0; 4], &count, &count, &length.to_le_bytes(), &at.to_le_bytes(), &[0, 0]].concat();
    [bytes, directory, end].concat()
}

#[test]
fn archive_round_trip_keeps_the_selection() {
    let act = Act::Archive { of: texts(), to: "/out/t.zip".to_owned() };
    let right: BTreeMap<&str, &[u8]> = [
        ("a.txt", b"alpha\n".as_slice()),
        ("b.txt", b"beta\n"),
        ("new\nline.txt", b"odd\n"),
        ("sub/d.txt", b"delta, a long one\n"),
    ]
    .into();
    let scene = |members: &BTreeMap<&str, &[u8]>| {
        let mut scene = Scene::of(&texts());
        scene.make(Path::new("/out/t.zip"), &zip(members), at(1));
        scene
    };
    scene(&right).passes(&act);
    let mut wrong = right.clone();
    wrong.insert("a.txt", b"other\n");
    scene(&wrong).fails(&act, "/out/t.zip holds something else than what was to be packed");
    wrong = right.clone();
    wrong.remove("b.txt");
    scene(&wrong).fails(&act, "holds something else");
    wrong = right.clone();
    wrong.insert("c.md", b"gamma\n");
    scene(&wrong).fails(&act, "holds something else");
    let mut twice = Scene::of(&texts());
    let again = right.iter().map(|(name, content)| (*name, *content)).chain([("a.txt", b"alpha\n".as_slice())]);
    twice.make(Path::new("/out/t.zip"), &zip_of(again.collect::<Vec<_>>().into_iter()), at(1));
    twice.fails(&act, "holds something else");

    let archive = Query::Paths { paths: vec!["/r/in.zip".to_owned()], kind: Kind::File };
    let extract = Act::Extract { of: archive.clone(), to: "/out/t".to_owned() };
    let unpacked = |come_out: &[(&str, &[u8])], held: &BTreeMap<&str, &[u8]>| {
        let mut scene = Scene::of(&texts());
        scene.fs.add_file("/r/in.zip", zip(held), at(1));
        scene.listed = vec!["/r/in.zip".into()];
        for (name, bytes) in come_out {
            scene.make(&Path::new("/out/t").join(name), bytes, at(1));
        }
        scene
    };
    let held: BTreeMap<&str, &[u8]> = [("one", b"1".as_slice()), ("in/two", b"22")].into();
    unpacked(&[("one", b"1"), ("in/two", b"22")], &held).passes(&extract);
    unpacked(&[("one", b"1")], &held).fails(&extract, "/out/t/in/two is not there");
    unpacked(&[("one", b"1"), ("in/two", b"23")], &held).fails(&extract, "/out/t/in/two has other content");
    unpacked(&[("one", b"1"), ("in/two", b"22"), ("three", b"3")], &held).fails(&extract, "/out/t/three was created");
    let escaping: BTreeMap<&str, &[u8]> = [("../evil", b"1".as_slice())].into();
    unpacked(&[("evil", b"1")], &escaping).fails(&extract, "../evil, no plain name");
}

#[doc = "holds: law 1.7"]
#[test]
fn act_lowers_to_listing_and_call() {
    let disk = tree();
    let steps = perform(&Act::Copy { of: texts(), to: Target::Into("/out".to_owned()) }, &disk).unwrap();
    assert_eq!(steps.len(), 2);
    assert_eq!((steps[0].call.tool.as_str(), steps[0].answers, steps[0].paths_from), ("glob", false, None));
    assert_eq!((steps[1].call.tool.as_str(), steps[1].paths_from), ("files", Some(0)));
    assert_eq!(steps[1].call.input, json!({ "act": "copy", "to": "/out/" }));
    let two = Query::Paths { paths: vec!["/a/x".to_owned(), "/b/y".to_owned()], kind: Kind::Any };
    let steps = perform(&Act::Delete { of: two.clone() }, &disk).unwrap();
    let from: Vec<Option<usize>> = steps.iter().map(|step| step.paths_from).collect();
    assert_eq!(from, [None, None, Some(0)]);
    assert!(perform(&Act::Archive { of: two, to: "/a.zip".to_owned() }, &disk).is_err());
    let braces = NameChange::Prefix("{n}".to_owned());
    assert!(perform(&Act::Rename { of: texts(), change: braces }, &disk).is_err());
    // A selection that `glob` can't compute is listed path by path.
    let either = Query::Filter { of: Box::new(texts()), keep: Pred::Any(vec![Pred::MinBytes(9), Pred::MaxBytes(2)]) };
    let steps = perform(&Act::Delete { of: either }, &disk).unwrap();
    assert_eq!(steps[0].call.input["patterns"], json!(["d.txt"]));
    assert!(steps.len() == 2 && steps[1].call.input == json!({ "act": "delete" }));
    let none = Query::Filter { of: Box::new(texts()), keep: Pred::Any(vec![Pred::MinBytes(99), Pred::MaxBytes(2)]) };
    assert!(perform(&Act::Delete { of: none }, &disk).is_err());
    assert!(matches!(tree().metadata(Path::new("/r/sub")).unwrap().kind, EntryKind::Folder));
}
