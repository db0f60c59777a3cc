//! `files`: nothing is overwritten, nothing protected is changed, every change is recorded, and every act asks first.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use artoo_proto::{CallStatus, ConsentScope, EffectClass, FOLDER, ToolCall, ToolOutcome};
use serde_json::{Value, json};

use super::{Fixture, called, make_fifo, snapshot};

impl Fixture {
    /// Runs a `files` call with the approval of its question, if there is one.
    pub(super) async fn files(&self, input: Value) -> ToolCall {
        let mut context = Self::context("files", input);
        context.allowed_tools.push("files".to_owned());
        match self.outcome(&context, None).await {
            ToolOutcome::NeedsConsent { hash, .. } => {
                called(self.outcome(&context, Some(self.registry.grant(&hash, ConsentScope::Once))).await)
            }
            ToolOutcome::Called { call } => call,
        }
    }

    /// The question of a `files` call: the call as shown, its effects and its details.
    async fn question(&self, input: Value) -> (String, Vec<String>, Vec<String>) {
        let mut context = Self::context("files", input);
        context.allowed_tools.push("files".to_owned());
        match self.outcome(&context, None).await {
            ToolOutcome::NeedsConsent { shown, effects, details, .. } => (shown, effects, details),
            ToolOutcome::Called { call } => panic!("{call:?}"),
        }
    }
}

/// The names that a call changed, sorted, each with whether it existed before and after.
fn changed_names(call: &ToolCall) -> Vec<(&str, bool, bool)> {
    let name = |path: &'_ str| path.rfind('/').map_or(0, |at| at + 1);
    let mut sides: Vec<_> = call
        .changed
        .iter()
        .map(|change| (&change.path[name(&change.path)..], change.before.is_some(), change.after.is_some()))
        .collect();
    sides.sort_unstable();
    sides
}

/// Panics unless the call succeeded.
fn ok(call: &ToolCall) {
    assert_eq!(call.status, CallStatus::Ok, "{}", call.output);
}

/// The record of a move lists the source as removed and the target as created.
#[tokio::test]
async fn moves_record_source_and_target() {
    let fixture = Fixture::new();
    fixture.file("a/one.txt", "1");
    fixture.file("a/deep/two.txt", "22");
    let call =
        fixture.files(json!({"act": "move", "paths": [fixture.home.join("a")], "to": fixture.home.join("b/")})).await;
    ok(&call);
    assert_eq!(call.class, EffectClass::Unproven);
    assert_eq!(fs::read(fixture.home.join("b/a/deep/two.txt")).unwrap(), b"22");
    assert!(!fixture.home.join("a").exists());
    let expected = [
        ("a", false, true),
        ("a", true, false),
        ("b", false, true),
        ("deep", false, true),
        ("deep", true, false),
        ("one.txt", false, true),
        ("one.txt", true, false),
        ("two.txt", false, true),
        ("two.txt", true, false),
    ];
    assert_eq!(changed_names(&call), expected);
    let digest = |path: &str| call.changed.iter().find(|c| c.path.ends_with(path)).unwrap();
    assert_eq!(digest("b/a/deep/two.txt").after, digest("/home/a/deep/two.txt").before);
    assert_eq!(digest("b/a/deep").after.as_deref(), Some(FOLDER));
}

/// A copy by `files` has the modification time of its source.
#[tokio::test]
async fn copies_keep_their_modification_time() {
    let fixture = Fixture::new();
    let from = fixture.file("a.txt", "text");
    let old = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    fs::File::options().write(true).open(&from).unwrap().set_modified(old).unwrap();
    symlink("a.txt", fixture.home.join("link")).unwrap();
    let input = json!({"act": "copy", "paths": [&from, fixture.home.join("link")], "to": fixture.home.join("copies")});
    let call = fixture.files(input).await;
    ok(&call);
    assert_eq!(call.class, EffectClass::Creating);
    assert_eq!(fs::metadata(fixture.home.join("copies/a.txt")).unwrap().modified().unwrap(), old);
    assert_eq!(fs::read_link(fixture.home.join("copies/link")).unwrap(), Path::new("a.txt"));
    assert!(from.exists());
}

/// A file deleted by `files` is in the trash with a note of its old path.
#[doc = "holds: law 1.8"]
#[tokio::test]
async fn files_deleted_to_trash_can_be_restored() {
    let fixture = Fixture::new();
    for round in ["first", "second"] {
        let path = fixture.file("a b%.txt", round);
        ok(&fixture.files(json!({"act": "delete", "paths": [&path]})).await);
        assert!(!path.exists());
    }
    let trash = fixture.home.join(".local/share/Trash");
    assert_eq!(fs::read(trash.join("files/a b%.txt")).unwrap(), b"first");
    assert_eq!(fs::read(trash.join("files/a b%.txt.1")).unwrap(), b"second");
    let note = fs::read_to_string(trash.join("info/a b%.txt.1.trashinfo")).unwrap();
    let expected = format!("[Trash Info]\nPath={}/a%20b%25.txt\nDeletionDate=", fixture.home.display());
    assert!(note.starts_with(&expected), "{note}");
}

/// A renaming that would give two files one name is refused before any file is moved.
#[tokio::test]
async fn rename_detects_collisions_before_moving() {
    let fixture = Fixture::new();
    let (one, two) = (fixture.file("d/one.JPG", "1"), fixture.file("d/two.JPG", "2"));
    let call =
        fixture.files(json!({"act": "rename", "paths": [&one, &two], "template": "trip_{n:2}.{ext|lower}"})).await;
    ok(&call);
    assert_eq!(fs::read(fixture.home.join("d/trip_02.jpg")).unwrap(), b"2");
    let before = snapshot(&fixture.home);
    let (one, two) = (fixture.home.join("d/trip_01.jpg"), fixture.home.join("d/trip_02.jpg"));
    let refused =
        |template: &'static str| fixture.files(json!({"act": "rename", "paths": [&one, &two], "template": template}));
    assert!(refused("same.jpg").await.output.contains("two of them"));
    assert!(refused("trip_02.{ext}").await.output.contains("exists already"));
    assert!(refused("{name}").await.output.contains("as requested already"));
    assert_eq!(snapshot(&fixture.home), before);
}

/// No act of `files` overwrites an existing file or folder.
#[doc = "holds: law 1.8"]
#[tokio::test]
async fn acts_do_not_overwrite_files() {
    let fixture = Fixture::new();
    let (from, there) = (fixture.file("from.txt", "new"), fixture.file("there.txt", "old"));
    fixture.file("into/from.txt", "old");
    let pack = fixture.home.join("x.zip");
    ok(&fixture.files(json!({"act": "archive", "paths": [&from], "to": &pack})).await);
    let before = snapshot(&fixture.home);
    for input in [
        json!({"act": "create_file", "to": &there, "text": "x"}),
        json!({"act": "create_folder", "to": &there}),
        json!({"act": "copy", "paths": [&from], "to": &there}),
        json!({"act": "move", "paths": [&from], "to": fixture.home.join("into")}),
        json!({"act": "replace", "paths": [&from], "to": &there, "find": "n", "with": "m"}),
        json!({"act": "archive", "paths": [&from], "to": &pack}),
        json!({"act": "extract", "paths": [&pack], "to": fixture.home.join("into")}),
    ] {
        let call = fixture.files(input.clone()).await;
        assert_eq!(call.status, CallStatus::Denied, "{input}: {}", call.output);
        assert!(call.changed.is_empty());
    }
    assert_eq!(snapshot(&fixture.home), before);
}

/// `files` refuses to move, copy or delete keys, the home, the working folder and the folders above them.
#[doc = "holds: law 1.8"]
#[tokio::test]
async fn keys_home_and_parents_are_not_moved() {
    let fixture = Fixture::new();
    let key = fixture.file(".ssh/id", "secret");
    fixture.file("plain.txt", "x");
    let before = snapshot(fixture.home.parent().unwrap());
    let home = &fixture.home;
    for input in [
        json!({"act": "delete", "paths": [&key]}),
        json!({"act": "copy", "paths": [&key], "to": home.join("out/")}),
        json!({"act": "archive", "paths": [home.join(".ssh")], "to": home.join("out.tar.gz")}),
        json!({"act": "move", "paths": [home.join("plain.txt")], "to": home.join(".ssh/authorized_keys")}),
        json!({"act": "delete", "paths": [home]}),
        json!({"act": "delete", "paths": [home.join("work")]}),
        json!({"act": "move", "paths": ["/"], "to": home.join("out/")}),
        json!({"act": "copy", "paths": [home], "to": "/tmp/never-made/"}),
    ] {
        let call = fixture.files(input.clone()).await;
        assert_eq!(call.status, CallStatus::Denied, "{input}: {}", call.output);
    }
    assert_eq!(snapshot(fixture.home.parent().unwrap()), before);
}

/// The question about a `files` call shows the paths, their number and size.
#[tokio::test]
async fn questions_show_paths_counts_and_sizes() {
    let fixture = Fixture::new();
    let (a, b) = (fixture.file("a", "123"), fixture.file("b\u{1b}[2J", "4567"));
    let (shown, effects, details) = fixture
        .question(json!({"act": "delete", "paths": [&a, artoo_proto::escape::path_line(
        std::os::unix::ffi::OsStrExt::as_bytes(b.as_os_str()))]}))
        .await;
    assert_eq!(shown, "files: moves 2 files (7 bytes) to the trash");
    assert_eq!(effects[0], "moves 2 files (7 bytes) to the trash: a, b\\u{1b}[2J in ~");
    let exact = format!("{}: 1 file, 3 bytes, newest change 20", a.display());
    assert!(details.iter().any(|line| line.starts_with(&exact)) && details.len() == 2, "{details:?}");
}

/// An approval to delete a file is not valid if the file was changed since the question.
#[doc = "holds: law 1.8"]
#[tokio::test]
async fn approval_covers_only_the_surveyed_files() {
    let fixture = Fixture::new();
    let path = fixture.file("a", "123");
    let mut context = Fixture::context("files", json!({"act": "delete", "paths": [&path]}));
    context.allowed_tools.push("files".to_owned());
    let ToolOutcome::NeedsConsent { hash, .. } = fixture.outcome(&context, None).await else { panic!() };
    fixture.file("a", "other text");
    let call = called(fixture.outcome(&context, Some(fixture.registry.grant(&hash, ConsentScope::Once))).await);
    assert_eq!(call.status, CallStatus::Denied, "{}", call.output);
    assert!(path.exists());
}

/// `files` creates new files in the workspace without approval, unless caution is advised.
#[tokio::test]
async fn only_new_workspace_files_skip_approval() {
    let fixture = Fixture::new();
    let from = fixture.file("notes.txt", "x");
    let input = json!({"act": "copy", "paths": [&from], "to": fixture.workspace().join("copy.txt")});
    let mut context = Fixture::context("files", input);
    context.allowed_tools.push("files".to_owned());
    ok(&called(fixture.outcome(&context, None).await));
    context.confirm = true;
    context.request.input["to"] = json!(fixture.workspace().join("second.txt"));
    assert!(matches!(fixture.outcome(&context, None).await, ToolOutcome::NeedsConsent { .. }));
}

/// Files unpacked from an archive equal those that were packed, except that other users may not write to them.
#[tokio::test]
async fn unpacked_archives_equal_their_sources() {
    let fixture = Fixture::new();
    fixture.file("src/a.txt", "a");
    fixture.file("src/deep/b.txt", "b".repeat(100_000));
    fs::create_dir(fixture.home.join("src/empty")).unwrap();
    let set_mode = |path: &str, mode: u32| {
        fs::set_permissions(fixture.home.join(path), fs::Permissions::from_mode(mode)).unwrap();
    };
    // Nobody else may write to a file of an archive.
    set_mode("src/a.txt", 0o777);
    set_mode("src/deep/b.txt", 0o600);
    let expected = snapshot(&fixture.home.join("src"));
    for name in ["x.tar.gz", "x.tgz", "x.tar", "x.zip"] {
        let (pack, into) = (fixture.home.join(name), fixture.home.join(format!("out-{name}")));
        ok(&fixture.files(json!({"act": "archive", "paths": [fixture.home.join("src")], "to": &pack})).await);
        ok(&fixture.files(json!({"act": "extract", "paths": [&pack], "to": &into})).await);
        let found: Vec<_> = snapshot(&into.join("src"))
            .into_iter()
            .map(|(path, text)| (fixture.home.join("src").join(path.strip_prefix(into.join("src")).unwrap()), text))
            .collect();
        assert_eq!(found, expected, "{name}");
        let mode = |path: &str| fs::metadata(into.join(path)).unwrap().permissions().mode() & 0o7777;
        assert_eq!([mode("src/a.txt"), mode("src/deep/b.txt")], [0o755, 0o600], "{name}");
    }
    let call = fixture
        .files(json!({"act": "archive", "paths": [fixture.home.join("src")], "to": fixture.home.join("x.rar")}))
        .await;
    assert!(call.output.contains(".tar.gz"), "{}", call.output);
}

/// One file is packed into a `.gz` file and unpacked again with the same content; several files are not.
#[tokio::test]
async fn gz_files_hold_one_file() {
    let fixture = Fixture::new();
    fixture.file("a.txt", "a".repeat(10_000));
    fixture.file("b.txt", "b");
    let path = |name: &str| fixture.home.join(name);
    ok(&fixture.files(json!({"act": "archive", "paths": [path("a.txt")], "to": path("a.txt.gz")})).await);
    assert!(fs::metadata(path("a.txt.gz")).unwrap().len() < 200);
    ok(&fixture.files(json!({"act": "extract", "paths": [path("a.txt.gz")], "to": path("out")})).await);
    assert_eq!(fs::read(path("out/a.txt")).unwrap(), fs::read(path("a.txt")).unwrap());
    let both = json!({"act": "archive", "paths": [path("a.txt"), path("b.txt")], "to": path("c.gz")});
    let call = fixture.files(both).await;
    assert!(call.output.contains(".tar.gz") && !path("c.gz").exists(), "{}", call.output);
}

/// An archive whose entries would lead out of the target folder, or are links, is not unpacked.
#[doc = "holds: law 1.8"]
#[tokio::test]
async fn archives_stay_inside_their_folder() {
    let fixture = Fixture::new();
    let entry = |name: &str, kind: tar::EntryType| {
        let mut header = tar::Header::new_gnu();
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(kind);
        header.set_size(0);
        header.set_mode(0o644);
        if kind.is_symlink() {
            header.set_link_name("/etc").unwrap();
        }
        header.set_cksum();
        header
    };
    for (number, name, kind) in [
        (0, "../evil", tar::EntryType::Regular),
        (1, "/tmp/evil", tar::EntryType::Regular),
        (2, "a/../../evil", tar::EntryType::Regular),
        (3, "link", tar::EntryType::Symlink),
        (4, "pipe", tar::EntryType::Fifo),
    ] {
        let mut builder = tar::Builder::new(Vec::new());
        builder.append(&entry("good", tar::EntryType::Regular), std::io::empty()).unwrap();
        builder.append(&entry(name, kind), std::io::empty()).unwrap();
        let pack = fixture.file(&format!("{number}.tar"), builder.into_inner().unwrap());
        let before = snapshot(&fixture.home);
        let call = fixture.files(json!({"act": "extract", "paths": [&pack], "to": fixture.home.join("out")})).await;
        assert_eq!(call.status, CallStatus::Failed, "{name}: {}", call.output);
        assert_eq!(snapshot(&fixture.home), before, "{name}");
    }
}

/// A symlink put into a `files` target between planning and acting is not followed: the act is refused.
#[tokio::test]
async fn links_made_after_planning_are_refused() {
    let fixture = Fixture::new();
    let from = fixture.file("a/file", "x");
    fs::create_dir(fixture.home.join("target")).unwrap();
    let mut context =
        Fixture::context("files", json!({"act": "move", "paths": [&from], "to": fixture.home.join("target/")}));
    context.allowed_tools.push("files".to_owned());
    let ToolOutcome::NeedsConsent { hash, .. } = fixture.outcome(&context, None).await else { panic!() };
    fs::remove_dir(fixture.home.join("target")).unwrap();
    symlink("/tmp", fixture.home.join("target")).unwrap();
    let call = called(fixture.outcome(&context, Some(fixture.registry.grant(&hash, ConsentScope::Once))).await);
    assert_eq!(call.status, CallStatus::Denied, "{}", call.output);
    assert!(from.exists());
}

/// `files` refuses to copy a pipe.
#[tokio::test]
async fn special_files_are_not_acted_on() {
    let fixture = Fixture::new();
    let pipe = fixture.home.join("pipe");
    make_fifo(&pipe);
    let call = fixture.files(json!({"act": "copy", "paths": [&pipe], "to": fixture.home.join("x")})).await;
    assert_eq!(call.status, CallStatus::Failed);
    assert!(call.output.contains("a pipe"), "{}", call.output);
}

/// Of sources that contain each other, only the outermost is deleted, and once.
#[tokio::test]
async fn nested_sources_are_moved_once() {
    let fixture = Fixture::new();
    let inner = fixture.file("d/inner/x", "x");
    let paths = json!([fixture.home.join("d/inner"), &inner, fixture.home.join("d/inner")]);
    let call = fixture.files(json!({"act": "delete", "paths": paths})).await;
    ok(&call);
    assert_eq!(changed_names(&call), [("inner", true, false), ("x", true, false)]);
}

/// `files` writes the text with replacements to a new file; the source stays unchanged.
#[tokio::test]
async fn replace_leaves_the_source_unchanged() {
    let fixture = Fixture::new();
    let path = fixture.file("a.txt", "cat and cat");
    let to = fixture.home.join("b.txt");
    ok(&fixture.files(json!({"act": "replace", "paths": [&path], "to": &to, "find": "cat", "with": "dog"})).await);
    assert_eq!(fs::read_to_string(&to).unwrap(), "dog and dog");
    assert_eq!(fs::read_to_string(&path).unwrap(), "cat and cat");
    let call = fixture.files(json!({"act": "replace", "paths": [&path], "to": "c", "find": "cow", "with": "x"})).await;
    assert!(call.output.contains("does not occur"));
}

/// The error for an invalid input of `files` names the field or what is wrong with it.
#[tokio::test]
async fn bad_input_names_the_field() {
    let fixture = Fixture::new();
    for (input, named) in [
        (json!({"act": "copy", "paths": ["/a"]}), "field `to`"),
        (json!({"act": "delete"}), "field `paths`"),
        (json!({"act": "delete", "paths": ["/a"], "to": "/b"}), "unknown field `to`"),
        (json!({"act": "delete", "paths": ["/a\\q"]}), "no path"),
        (json!({"act": "rename", "paths": ["/a"]}), "neither a template"),
        (json!({"act": "replace", "paths": ["/a", "/b"], "to": "/c", "find": "x", "with": ""}), "exactly one"),
        (json!({"act": "shred", "paths": ["/a"]}), "unknown variant"),
        (json!({"act": "delete", "paths": ["/a"], "force": true}), "unknown field"),
    ] {
        let call = fixture.files(input.clone()).await;
        assert_eq!(call.status, CallStatus::Failed, "{input}");
        assert!(call.output.contains(named), "{input}: {}", call.output);
    }
}

/// The tool `trash` moves files to the trash under the same rules as a deletion by `files`.
#[doc = "holds: law 1.8"]
#[tokio::test]
async fn trash_tool_follows_deletion_rules() {
    let fixture = Fixture::new();
    let path = fixture.file("a", "123");
    let mut context = Fixture::context("trash", json!({"paths": [&path]}));
    context.allowed_tools.push("trash".to_owned());
    let ToolOutcome::NeedsConsent { hash, effects, .. } = fixture.outcome(&context, None).await else { panic!() };
    assert_eq!(effects[0], "moves 1 file (3 bytes) to the trash: ~/a");
    let call = called(fixture.outcome(&context, Some(fixture.registry.grant(&hash, ConsentScope::Once))).await);
    ok(&call);
    assert_eq!((call.tool.as_str(), changed_names(&call).as_slice()), ("trash", &[("a", true, false)][..]));
    assert!(fixture.home.join(".local/share/Trash/files/a").exists() && !path.exists());
    for input in [json!({"paths": []}), json!({"paths": ["a"], "act": "copy"}), json!({}), json!({"paths": ["a\0b"]})] {
        context.request.input = input.clone();
        let call = called(fixture.outcome(&context, None).await);
        assert_eq!(call.status, CallStatus::Failed, "{input}: {call:?}");
    }
}

/// `trash` deletes exactly the named entry: a symlink itself, one of several hard links; pipes, devices, folders above,
/// and names in another spelling are not deleted.
#[doc = "holds: law 1.8; design H4"]
#[tokio::test]
async fn deletion_resolves_each_spelling_exactly() {
    let fixture = Fixture::new();
    let outside = fixture.file("outside/keep", "keep");
    fixture.file("Case", "upper");
    let (link, parent) = (fixture.home.join("link"), fixture.home.join("way"));
    symlink(&outside, &link).unwrap();
    symlink(fixture.home.join("outside"), &parent).unwrap();
    fs::hard_link(&outside, fixture.home.join("hard")).unwrap();
    make_fifo(&fixture.home.join("pipe"));
    let home = fixture.home.display().to_string();
    let long = "n".repeat(300);
    let trash = |path: String| {
        let mut context = Fixture::context("trash", json!({"paths": [path]}));
        context.allowed_tools.push("trash".to_owned());
        context
    };
    for path in [
        "pipe",
        "/dev/null",
        "/dev/tty",
        "~",
        "~/",
        "/",
        "..",
        ".",
        "../work",
        "a\0b",
        "case",
        "Case.",
        "Case ",
        "outside/keep/..",
        "~/outside/keep/x",
        &long,
        &format!("{home}/{long}/x"),
    ] {
        let before = snapshot(&fixture.home);
        let path = if path.starts_with(['/', '~', '.']) || path.contains('\0') {
            path.to_owned()
        } else {
            format!("{home}/{path}")
        };
        // With a trailing dot the path means its folder, which is another effect with its own question.
        if let ToolOutcome::NeedsConsent { shown, .. } = fixture.outcome(&trash(path.clone()), None).await {
            assert!(path.ends_with("/..") && shown.ends_with("/outside to the trash"), "{path}: {shown}");
        }
        assert_eq!(snapshot(&fixture.home), before, "{path}");
    }
    // A symlink is deleted itself, and of several hard links only the given name.
    for path in [link, fixture.home.join("hard"), parent.join("keep")] {
        let context = trash(path.to_str().unwrap().to_owned());
        let ToolOutcome::NeedsConsent { hash, .. } = fixture.outcome(&context, None).await else { panic!("{path:?}") };
        assert!(outside.exists());
        ok(&called(fixture.outcome(&context, Some(fixture.registry.grant(&hash, ConsentScope::Once))).await));
        assert!(fs::symlink_metadata(&path).is_err(), "{path:?}");
    }
    assert!(!outside.exists() && parent.exists(), "through the folder's other name it was the file that was meant");
}
