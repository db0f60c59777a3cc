//! Generates random trees of files with difficult names and texts, in memory and on disk.

use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use artoo_proto::Timestamp;
use proptest::prelude::*;
use tempfile::TempDir;

use artoo_reflex::eval::{EntryKind, FileSystem};
use artoo_reflex::testing::MemoryFileSystem;

/// A file or folder to create: its path below the root, content (`None` for a folder) and modification time.
pub(super) type Thing = (Vec<Vec<u8>>, Option<Vec<u8>>, i64);

/// One tree of files, both in a temporary folder on disk and in memory.
pub(super) struct Twin {
    _dir: TempDir,
    pub(super) root: String,
    pub(super) memory: MemoryFileSystem,
}

/// Creates these files and folders, and three fixed folders, both in a temporary folder and in memory; what can't be at
/// its path is left out.
pub(super) fn twin(things: &[Thing]) -> Twin {
    let dir = TempDir::new().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let mut memory = MemoryFileSystem::new(&root);
    let at = Timestamp::from_millis(1_000_000_000_000);
    for folder in ["one", "two", "one/deep"] {
        memory.add_folder(root.join(folder), at);
        fs::create_dir_all(root.join(folder)).unwrap();
    }
    let mut folders = vec![root.join("one"), root.join("two"), root.join("one/deep")];
    for (parts, content, seconds) in things {
        let path = parts.iter().fold(root.clone(), |path, part| path.join(OsString::from_vec(part.clone())));
        let modified = Timestamp::from_millis(*seconds);
        let is_blocked = path
            .ancestors()
            .skip(1)
            .any(|above| memory.metadata(above).is_ok_and(|entry| entry.kind != EntryKind::Folder));
        if is_blocked || memory.metadata(&path).is_ok() {
            continue;
        }
        for above in path.ancestors().skip(1).take_while(|above| above.starts_with(&root) && **above != root) {
            if memory.metadata(above).is_err() {
                folders.push(above.to_owned());
            }
        }
        match content {
            Some(content) => {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(&path, content).unwrap();
                touch(&path, modified);
                // The times of folders are set below.
                memory.add_folder(path.parent().unwrap(), at);
                memory.add_file(&path, content.clone(), modified);
            }
            None => {
                fs::create_dir_all(&path).unwrap();
                memory.add_folder(&path, at);
                folders.push(path);
            }
        }
    }
    for folder in folders {
        memory.add_folder(&folder, at);
        touch(&folder, at);
    }
    memory.utc_offset_s = 0;
    Twin { root: root.to_str().unwrap().to_owned(), _dir: dir, memory }
}

/// Sets the modification time of a file on disk.
fn touch(path: &Path, modified: Timestamp) {
    let ms = u64::try_from(modified.as_millis()).unwrap();
    File::open(path).unwrap().set_modified(UNIX_EPOCH + Duration::from_millis(ms)).unwrap();
}

/// Names: many similar, some hidden, some hostile.
fn name() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => "[a-c]{1,2}".prop_map(String::into_bytes),
        4 => "[a-c]{1,2}\\.(txt|TXT|md|tar\\.gz)".prop_map(String::into_bytes),
        1 => "\\.[a-c]{1,2}".prop_map(String::into_bytes),
        1 => "[-a-z *?\\[\\]'\"$`(){}!;&|<>#~%@=:,\\\\é文]{1,6}[a-z]".prop_map(String::into_bytes),
        1 => prop_oneof![
            Just(b"new\nline.txt".to_vec()),
            Just(b"not\xffutf8.txt".to_vec()),
            Just("bidi\u{202e}txt.exe".as_bytes().to_vec()),
            Just(b"tab\there".to_vec()),
            Just(b"-rf".to_vec()),
            Just(b"$(touch pwned).txt".to_vec()),
            Just(b"back\\nslash.md".to_vec()),
            Just(b"it's \"quoted\".txt".to_vec()),
        ],
    ]
}

/// Names that are unambiguous in plain text.
fn plain_name() -> impl Strategy<Value = Vec<u8>> {
    "[a-c]{1,2}(\\.(txt|TXT|md))?|\\.[a-c]|[a-b] [a-b]'?".prop_map(String::into_bytes)
}

/// A random file content of up to seven lines.
pub(super) fn text() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        4 => "[ab]{0,3}",
        2 => " {0,2}-?[0-9]{1,3}(\\.[0-9]{1,2})?( [a-c])?",
        2 => "[ab]{1,2}[,;: ][ab]{0,2}[,;: ][ab]{1,2}",
        1 => Just(String::new()),
        1 => " {1,3}",
        1 => "[A-Za-z'éÄß文.*\\[(^$\\\\]{1,8}",
    ];
    let lines = proptest::collection::vec(line, 0..8);
    (lines, any::<bool>()).prop_map(|(lines, ends)| {
        let text = lines.join("\n");
        let end = if ends && !text.is_empty() { "\n" } else { "" };
        format!("{text}{end}").into_bytes()
    })
}

/// A random list of files and folders with names from this strategy.
fn things(name: BoxedStrategy<Vec<u8>>) -> impl Strategy<Value = Vec<Thing>> {
    let folder = prop_oneof![
        3 => Just(vec![]),
        2 => Just(vec![b"one".to_vec()]),
        2 => Just(vec![b"two".to_vec()]),
        1 => Just(vec![b"one".to_vec(), b"deep".to_vec()]),
        1 => name.clone().prop_map(|name| vec![name]),
    ];
    let content = prop_oneof![5 => text().prop_map(Some), 1 => Just(None)];
    // Few different times, so that some are equal, with whole and fractional seconds.
    let modified =
        prop_oneof![Just(1_700_000_000_000), Just(1_700_000_000_001), 1_600_000_000_000..1_750_000_000_000i64];
    let thing = (folder, name, content, modified).prop_map(|(mut path, name, content, modified)| {
        path.push(name);
        (path, content, modified)
    });
    proptest::collection::vec(thing, 0..12)
}

/// A random list of files and folders, some with control characters and the like in their names.
pub(super) fn hostile() -> impl Strategy<Value = Vec<Thing>> {
    things(name().boxed())
}

/// A random list of files and folders whose names are unambiguous in plain text.
pub(super) fn plain() -> impl Strategy<Value = Vec<Thing>> {
    things(plain_name().boxed())
}

/// Whether some path is ambiguous when printed unescaped on one line.
pub(super) fn has_doubtful_names(twin: &Twin) -> bool {
    let mut open = vec![PathBuf::from(&twin.root)];
    while let Some(folder) = open.pop() {
        for entry in twin.memory.list(&folder).unwrap() {
            if std::str::from_utf8(entry.path.file_name().unwrap().as_encoded_bytes())
                .map_or(true, |n| artoo_proto::escape::path_line(n.as_bytes()) != n)
            {
                return true;
            }
            if entry.kind == EntryKind::Folder {
                open.push(entry.path);
            }
        }
    }
    false
}
