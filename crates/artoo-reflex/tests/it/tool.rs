//! Stand-ins for the tools `glob` and `read_file`, written from their contract alone, on a file system in memory.

use std::path::Path;

use artoo_proto::{Timestamp, ToolRequest, escape};
use globset::GlobBuilder;
use serde_json::Value;

use artoo_reflex::eval::{Entry, EntryKind, FileSystem};
use artoo_reflex::testing::MemoryFileSystem;

/// The output of a tool call; `None` if the root or file doesn't exist.
pub(super) fn run(call: &ToolRequest, fs: &MemoryFileSystem) -> Option<String> {
    match call.tool.as_str() {
        "glob" => glob(&call.input, fs),
        "read_file" => read_file(&call.input, fs),
        other => panic!("no such tool: {other}"),
    }
}

/// The output of the tool `glob`; `None` if the root doesn't exist.
fn glob(input: &Value, fs: &MemoryFileSystem) -> Option<String> {
    let root = Path::new(input["root"].as_str().unwrap());
    let mut all = Vec::new();
    collect(root, input["recursive"].as_bool().unwrap(), fs, &mut all)?;
    let moment = |key: &str| input[key].as_str().map(|text| Timestamp::parse(text).unwrap());
    let patterns: Vec<&str> =
        input["patterns"].as_array().map_or(Vec::new(), |list| list.iter().map(|p| p.as_str().unwrap()).collect());
    let exclude: Vec<&str> =
        input["exclude"].as_array().map_or(Vec::new(), |list| list.iter().map(|p| p.as_str().unwrap()).collect());
    let mut kept: Vec<Entry> = Vec::new();
    for entry in all {
        let below = entry.path.strip_prefix(root).unwrap();
        let is_hidden = below.components().any(|part| part.as_os_str().as_encoded_bytes().starts_with(b"."));
        let name = entry.path.file_name().unwrap();
        let matches = |pattern: &&str| {
            let glob =
                GlobBuilder::new(pattern).case_insensitive(input["ignore_case"].as_bool().unwrap()).build().unwrap();
            glob.compile_matcher().is_match(Path::new(name))
        };
        let kind_fits = match input["kind"].as_str().unwrap() {
            "file" => entry.kind == EntryKind::File,
            "folder" => entry.kind == EntryKind::Folder,
            _ => true,
        };
        let contains = input["contains"].as_str().is_none_or(|text| {
            let mut content = Vec::new();
            let readable =
                fs.open(&entry.path).is_ok_and(|mut file| std::io::Read::read_to_end(&mut file, &mut content).is_ok());
            let (mut content, mut text) = (String::from_utf8_lossy(&content).into_owned(), text.to_owned());
            if input["contains_ignore_case"].as_bool().unwrap() {
                content.make_ascii_lowercase();
                text.make_ascii_lowercase();
            }
            readable && content.contains(&text)
        });
        let fits = (input["hidden"].as_bool().unwrap() || !is_hidden)
            && kind_fits
            && (patterns.is_empty() || patterns.iter().any(matches))
            && !exclude.iter().any(matches)
            && !exclude.iter().any(|excluded| excluded.starts_with('/') && below.starts_with(&excluded[1..]))
            && input["min_bytes"].as_u64().is_none_or(|bound| entry.bytes >= bound)
            && input["max_bytes"].as_u64().is_none_or(|bound| entry.bytes <= bound)
            && moment("modified_after").is_none_or(|bound| entry.modified >= bound)
            && moment("modified_before").is_none_or(|bound| entry.modified < bound)
            && contains;
        if fits {
            kept.push(entry);
        }
    }
    Some(report(input, kept))
}

/// The found entries as `glob` reports them: listed, counted, summed or with details.
fn report(input: &Value, mut kept: Vec<Entry>) -> String {
    kept.sort_by(|a, b| a.path.as_os_str().as_encoded_bytes().cmp(b.path.as_os_str().as_encoded_bytes()));
    match input["sort"]["by"].as_str() {
        Some("size") => kept.sort_by_key(|entry| entry.bytes),
        Some("modified") => kept.sort_by_key(|entry| entry.modified),
        Some("name") => kept.sort_by_key(|entry| entry.path.file_name().unwrap().to_owned()),
        _ => {}
    }
    if input["sort"]["descending"] == true {
        kept.reverse();
    }
    kept.truncate(input["limit"].as_u64().map_or(usize::MAX, |limit| usize::try_from(limit).unwrap()));
    let path = |entry: &Entry| escape::path_line(entry.path.as_os_str().as_encoded_bytes());
    match input["report"].as_str().unwrap() {
        "count" => kept.len().to_string(),
        "total_bytes" => kept.iter().filter(|e| e.kind == EntryKind::File).map(|e| e.bytes).sum::<u64>().to_string(),
        "details" => kept.iter().map(|e| format!("{}\t{}\t{}\n", e.bytes, e.modified, path(e))).collect(),
        _ => kept.iter().map(|entry| path(entry) + "\n").collect(),
    }
}

/// Collects the entries of a folder, and with `recursive` everything below it.
fn collect(folder: &Path, recursive: bool, fs: &MemoryFileSystem, all: &mut Vec<Entry>) -> Option<()> {
    for entry in fs.list(folder).ok()? {
        if recursive && entry.kind == EntryKind::Folder {
            collect(&entry.path, recursive, fs, all);
        }
        all.push(entry);
    }
    Some(())
}

/// The output of the tool `read_file`; `None` if the file doesn't exist.
fn read_file(input: &Value, fs: &MemoryFileSystem) -> Option<String> {
    let mut content = Vec::new();
    std::io::Read::read_to_end(&mut fs.open(Path::new(input["path"].as_str().unwrap())).ok()?, &mut content).ok()?;
    let content = String::from_utf8_lossy(&content).into_owned();
    let mut lines: Vec<&str> = content.split_inclusive('\n').collect();
    if let Some(wanted) = input["matching"].as_str() {
        let fold = |text: &str| match input["ignore_case"] == true {
            true => text.to_ascii_lowercase(),
            false => text.to_owned(),
        };
        lines.retain(|line| fold(line).contains(&fold(wanted)));
    }
    let size = |key: &str| input["lines"][key].as_u64().map(|n| usize::try_from(n).unwrap());
    if let Some(first) = size("first") {
        lines.truncate(first);
    }
    if let Some(last) = size("last") {
        lines.drain(..lines.len().saturating_sub(last));
    }
    if let (Some(from), Some(to)) = (size("from"), size("to")) {
        lines = lines.into_iter().skip(from - 1).take((to - from).saturating_add(1)).collect();
    }
    Some(if input["count"] == "lines" { lines.len().to_string() } else { lines.concat() })
}
