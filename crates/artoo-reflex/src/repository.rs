//! Reads git repositories from their files: refs, objects and trees.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::eval::FileSystem;

/// Length of an object's hash in hexadecimal.
const HASH_CHARS: usize = 40;

/// Maximum number of bytes read of a file or object.
const MAX_BYTES: u64 = 16 << 20;

/// The path of a repository's `.git` folder.
pub(crate) fn data(folder: &str, fs: &dyn FileSystem) -> PathBuf {
    fs.real(&Path::new(folder).join(".git"))
}

/// The value of the first header line of a git object that starts with this name.
pub(crate) fn field(text: &str, name: &str) -> Option<String> {
    fields(text, name).into_iter().next()
}

/// The values of all header lines of a git object that start with this name.
pub(crate) fn fields(text: &str, name: &str) -> Vec<String> {
    let head = text.split("\n\n").next().unwrap_or_default();
    head.lines().filter_map(|line| line.strip_prefix(name)).map(str::to_owned).collect()
}

/// The ref of the checked-out branch and the hash of the current commit; both `None` without a repository.
pub(crate) fn head(data: &Path, fs: &dyn FileSystem) -> (Option<String>, Option<String>) {
    let Some(text) = read(&data.join("HEAD"), fs) else { return (None, None) };
    match text.trim().strip_prefix("ref: ") {
        Some(name) => (Some(name.to_owned()), value(data, name, fs)),
        None => (None, Some(text.trim().to_owned()).filter(|hash| is_hash(hash))),
    }
}

/// The hash that a ref holds, loose or packed.
pub(crate) fn value(data: &Path, name: &str, fs: &dyn FileSystem) -> Option<String> {
    if name.split('/').any(|part| part.is_empty() || part == "..") {
        return None;
    }
    let packed = || {
        let all = read(&data.join("packed-refs"), fs)?;
        let mut refs = all.lines().filter_map(|line| line.split_once(' '));
        refs.find(|(_, known)| *known == name).map(|(hash, _)| hash.to_owned())
    };
    let loose = read(&data.join(name), fs).map(|text| text.trim().to_owned());
    loose.or_else(packed).filter(|hash| is_hash(hash))
}

/// Whether a text is the hash of a git object: 40 hexadecimal digits.
fn is_hash(text: &str) -> bool {
    text.len() == HASH_CHARS && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether a file of the work tree equals the file in a commit, or both are missing.
pub(crate) fn is_as_committed(path: &Path, (data, commit): &(PathBuf, String), fs: &dyn FileSystem) -> bool {
    let Some(inside) = data.parent().and_then(|folder| path.strip_prefix(folder).ok()) else { return false };
    let tree = object(data, commit, fs).and_then(|commit| field(&commit, "tree "));
    let Some(mut at) = tree else { return false };
    for name in inside {
        let Some(entries) = bytes(data, &at, fs) else { return false };
        match entry(&entries, name.as_encoded_bytes()) {
            Some(next) => at = next,
            None => return fs.metadata(path).is_err(),
        }
    }
    bytes(data, &at, fs).is_some_and(|committed| content(path, fs) == Some(committed))
}

/// The hash of the entry with this name in the bytes of a git tree.
fn entry(tree: &[u8], wanted: &[u8]) -> Option<String> {
    let mut rest = tree;
    loop {
        let end = rest.iter().position(|byte| *byte == 0)?;
        let (head, after) = rest.split_at(end);
        let (hash, next) = after.get(1..)?.split_at_checked(HASH_CHARS / 2)?;
        if head.splitn(2, |byte| *byte == b' ').nth(1)? == wanted {
            return Some(hash.iter().map(|byte| format!("{byte:02x}")).collect());
        }
        rest = next;
    }
}

/// The text of a loose commit or tag object, without its header.
pub(crate) fn object(data: &Path, hash: &str, fs: &dyn FileSystem) -> Option<String> {
    String::from_utf8(bytes(data, hash, fs)?).ok()
}

/// The decompressed content of a loose git object, without its header.
pub(crate) fn bytes(data: &Path, hash: &str, fs: &dyn FileSystem) -> Option<Vec<u8>> {
    let (folder, name) = hash.split_at_checked(2).filter(|_| is_hash(hash))?;
    let packed = fs.open(&data.join("objects").join(folder).join(name)).ok()?;
    let mut bytes = Vec::new();
    flate2::read::ZlibDecoder::new(packed).take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    let body = bytes.iter().position(|byte| *byte == 0)?;
    bytes.get(body + 1..).map(<[u8]>::to_vec)
}

/// The first `MAX_BYTES` of a text file; `None` if it can't be read or they are not UTF-8.
pub(crate) fn read(path: &Path, fs: &dyn FileSystem) -> Option<String> {
    String::from_utf8(content(path, fs)?).ok()
}

/// The first `MAX_BYTES` of a file.
pub(crate) fn content(path: &Path, fs: &dyn FileSystem) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    fs.open(path).ok()?.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}
