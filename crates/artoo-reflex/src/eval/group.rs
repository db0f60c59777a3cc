//! Evaluates groups of files or lines, properties of files, and duplicates.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};

use md5::Md5;
use sha1::Sha1;
use sha2::Sha256;

use super::{Answer, Entry, EntryKind, EvalError, FileSystem, Row, by_keys, digest, files, number, process, text};
use crate::algebra::{Field, Function, GroupKey, Key, SortKey};

/// The name of each group of elements and a number for it, the largest number first, equal ones sorted by name.
pub(super) fn groups(
    of: Answer,
    by: GroupKey,
    function: Function,
    fs: &dyn FileSystem,
) -> Result<Vec<(Vec<u8>, u64)>, EvalError> {
    let mut found: Vec<(Vec<u8>, u64)> = match of {
        Answer::Lines(lines) if by == GroupKey::Text && function == Function::Count => {
            let mut groups: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
            lines.into_iter().for_each(|line| *groups.entry(line.text).or_default() += 1);
            groups.into_iter().collect()
        }
        Answer::Files(files) => {
            let users = if by == GroupKey::Owner { process::users(fs)? } else { HashMap::new() };
            let mut groups: BTreeMap<Vec<u8>, Vec<Entry>> = BTreeMap::new();
            for entry in files {
                groups.entry(group_of(&entry, by, &users, fs)?).or_default().push(entry);
            }
            let number = |(name, files): (Vec<u8>, Vec<Entry>)| Ok((name, number::of_files(&files, function)?));
            groups.into_iter().map(number).collect::<Result<_, EvalError>>()?
        }
        _ => return Err(EvalError::Meaningless),
    };
    found.sort_by_key(|(_, number)| std::cmp::Reverse(*number));
    Ok(found)
}

/// The name of the group that a file belongs to.
fn group_of(
    entry: &Entry,
    by: GroupKey,
    users: &HashMap<u32, String>,
    fs: &dyn FileSystem,
) -> Result<Vec<u8>, EvalError> {
    let date = |format| super::fact::clock(format, entry.modified, fs);
    Ok(match by {
        GroupKey::Extension => files::extension(entry),
        GroupKey::Folder => {
            entry.path.parent().map_or(&[][..], |folder| folder.as_os_str().as_encoded_bytes()).to_vec()
        }
        GroupKey::Day => date("%Y-%m-%d").into_bytes(),
        GroupKey::Month => date("%Y-%m").into_bytes(),
        GroupKey::Year => date("%Y").into_bytes(),
        GroupKey::Kind => kind_name(entry.kind).as_bytes().to_vec(),
        GroupKey::Owner => owner(entry, users).into_bytes(),
        GroupKey::Text => return Err(EvalError::Meaningless),
    })
}

/// The English word for a kind of entry.
pub(super) fn kind_name(kind: EntryKind) -> &'static str {
    match kind {
        EntryKind::File => "file",
        EntryKind::Folder => "folder",
        EntryKind::Link => "link",
        EntryKind::Other => "other",
    }
}

/// The name of a file's owner, or the user id if the owner has no name.
fn owner(entry: &Entry, users: &HashMap<u32, String>) -> String {
    users.get(&entry.owner).cloned().unwrap_or_else(|| entry.owner.to_string())
}

/// Compares two groups (name and number) by the sort keys.
pub(super) fn compare(keys: &[SortKey], a: &(Vec<u8>, u64), b: &(Vec<u8>, u64)) -> Ordering {
    by_keys(keys, |key| match key {
        Key::Value => a.1.cmp(&b.1),
        Key::Name => a.0.cmp(&b.0),
        _ => Ordering::Equal,
    })
}

/// Each file with one of its properties as text.
pub(super) fn field(files: Vec<Entry>, field: Field, fs: &dyn FileSystem) -> Result<Vec<Row>, EvalError> {
    let users = if field == Field::Owner { process::users(fs)? } else { HashMap::new() };
    let row = |of: Entry| {
        let path = of.path.as_path();
        let value = match field {
            Field::Sha256 => digest::of_file::<Sha256>(path, fs)?,
            Field::Sha1 => digest::of_file::<Sha1>(path, fs)?,
            Field::Md5 => digest::of_file::<Md5>(path, fs)?,
            Field::FileType => return Err(EvalError::NoSecondSource("a file's type")),
            Field::Permissions => format!("{:o}", of.mode),
            Field::Owner => owner(&of, &users),
            Field::Modified => of.modified.to_string(),
            Field::Lines => text::split(text::content(path, fs)?).len().to_string(),
            Field::Words => text::count_words(&text::content(path, fs)?).to_string(),
            Field::TotalSize => files::total_size(path, fs)?.to_string(),
        };
        Ok(Row { value, of })
    };
    files.into_iter().map(row).collect()
}

/// The files whose content another file has too, each with its hash, sorted by hash and path.
pub(super) fn duplicates(files: Vec<Entry>, fs: &dyn FileSystem) -> Result<Vec<Row>, EvalError> {
    let mut by_length: HashMap<u64, Vec<Entry>> = HashMap::new();
    for entry in files {
        by_length.entry(entry.bytes).or_default().push(entry);
    }
    // Only files of equal length are read, as others can't have equal content.
    let mut by_content: BTreeMap<String, Vec<Entry>> = BTreeMap::new();
    for entry in by_length.into_values().filter(|same| same.len() > 1).flatten() {
        by_content.entry(digest::of_file::<Sha256>(&entry.path, fs)?).or_default().push(entry);
    }
    let mut rows = Vec::new();
    for (value, mut same) in by_content.into_iter().filter(|(_, same)| same.len() > 1) {
        same.sort_by(|a, b| a.path_bytes().cmp(b.path_bytes()));
        rows.extend(same.into_iter().map(|of| Row { value: value.clone(), of }));
    }
    Ok(rows)
}
