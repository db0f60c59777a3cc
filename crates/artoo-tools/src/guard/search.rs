//! Programs that list names or look into files: what they open, and whether they print names.

use std::fs;
use std::path::{Path, PathBuf};

use super::danger;
use super::judge::{Judge, State};
use super::objection::Objection;
use super::options::{self, Order, Parsed};
use super::pattern;
use super::programs::{self, Program};
use super::scene::Use;
use super::value::{Arg, Stream, Value};

/// Entries of protected folders that are compared with an include pattern; above it the pattern proves nothing.
const PROTECTED_MAX: usize = 2000;

fn entry(name: &str, arguments: &[Arg]) -> Result<&'static Program, Objection> {
    programs::find(name).ok_or_else(|| danger::objection(name, arguments))
}

/// `ls`: without operands it prints names of the folder it is in.
pub(super) fn ls(judge: &mut Judge<'_>, state: &State, arguments: &[Arg]) -> Result<Stream, Objection> {
    let program = entry("ls words", arguments)?;
    let parsed = options::parse(program, arguments, Order::Any)?;
    judge.parsed(state, program, &parsed)?;
    let is_plain = parsed.options.iter().all(|(name, _)| "1aArtSUvd".contains(name.as_str()));
    if is_plain {
        // Names in a folder are printed without it, and so mean files of the folder it is in.
        let operands: Vec<Arg> = parsed.operands.iter().map(|word| (*word).clone()).collect();
        let stream = names(judge, state, &operands, true, false)?;
        return Ok(match stream {
            Stream::Names { folders, by_nul, .. } => {
                let folders = folders.into_iter().chain(state.cwds.iter().cloned()).collect();
                Stream::Names { folders, by_nul, may_be_option: true }
            }
            Stream::Text => Stream::Text,
        });
    }
    Ok(Stream::Text)
}

/// `grep` and its family.
pub(super) fn grep(judge: &mut Judge<'_>, state: &State, arguments: &[Arg]) -> Result<Stream, Objection> {
    let program = entry("grep words", arguments)?;
    let parsed = options::parse(program, arguments, Order::Any)?;
    for file in parsed.values(&["f", "file", "exclude-from"]) {
        judge.reads(state, &Arg::literal(file), Use::Content)?;
    }
    let given = parsed.has_any(&["e", "regexp", "f", "file"]);
    let files: Vec<Arg> = parsed.operands.iter().skip(usize::from(!given)).map(|word| (*word).clone()).collect();
    let recurses =
        parsed.has_any(program.recursive) || parsed.values(&["d", "directories"]).any(|how| how == "recurse");
    let lists = parsed.has_any(&["l", "L", "files-with-matches", "files-without-match"]);
    if recurses {
        let files = if files.is_empty() { vec![Arg::literal(".")] } else { files };
        let included: Vec<&str> = parsed.values(&["include"]).collect();
        for file in &files {
            reads_below(judge, state, file, &included)?;
        }
        return names(judge, state, &files, lists, parsed.has_any(&["Z", "null"]));
    }
    files.iter().try_for_each(|file| judge.reads(state, file, Use::Content))?;
    if files.is_empty() && !changes_lines(&parsed) {
        return Ok(state.stdin.clone());
    }
    names(judge, state, &files, lists, parsed.has_any(&["Z", "null"]))
}

fn changes_lines(parsed: &Parsed<'_>) -> bool {
    parsed.has_any(&["o", "n", "c", "H", "b", "l", "L", "only-matching", "line-number", "count", "with-filename"])
}

/// Names printed are those of the operands or lie below them.
fn names(judge: &Judge<'_>, state: &State, files: &[Arg], lists: bool, by_nul: bool) -> Result<Stream, Objection> {
    if !lists {
        return Ok(Stream::Text);
    }
    let mut folders = Vec::new();
    for file in files {
        match &file.value {
            Value::Literal(text) => folders.extend(judge.places(state, text)?),
            Value::Below(below) => folders.extend(below.iter().cloned()),
            Value::Matches { .. } => folders.extend(state.cwds.iter().cloned()),
            Value::Number | Value::Unknown { .. } => return Ok(Stream::Text),
        }
    }
    let may_be_option = files.iter().any(|file| file.may_be_option);
    Ok(Stream::Names { folders, by_nul, may_be_option })
}

/// Everything below a folder is opened, or only files of these names.
fn reads_below(judge: &mut Judge<'_>, state: &State, file: &Arg, included: &[&str]) -> Result<(), Objection> {
    let is_specific = |pattern: &&str| {
        let ending = pattern.rsplit('.').next().unwrap_or_default();
        pattern.contains('.')
            && !ending.is_empty()
            && ending.chars().all(|c| c.is_ascii_alphanumeric())
            && !pattern.contains(['[', '\\'])
    };
    let text = file.text().unwrap_or_default();
    if included.is_empty() || text.is_empty() || !included.iter().all(is_specific) {
        return judge.reads(state, file, Use::Everything);
    }
    judge.reads(state, file, Use::Facts)?;
    for folder in judge.places(state, text)? {
        judge.leaves_secrets(&folder)?;
        let held: Vec<PathBuf> =
            judge.protected.places().iter().filter(|place| place.starts_with(&folder)).cloned().collect();
        for place in held {
            if holds_named(&place, included) {
                let shown = crate::paths::line(&place);
                return Err(Objection::reveals(format!("{shown} is protected and would be opened")));
            }
        }
    }
    Ok(())
}

/// Whether a protected place is, or holds, a file that one of the patterns names.
fn holds_named(place: &Path, included: &[&str]) -> bool {
    let is_named = |name: &str| included.iter().any(|pattern| pattern::fits(&pattern::compiled(pattern), name));
    let mut left = PROTECTED_MAX;
    let mut folders = vec![place.to_path_buf()];
    if place.is_file() {
        return place.file_name().is_some_and(|name| is_named(&name.to_string_lossy()));
    }
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let Some(fewer) = left.checked_sub(1) else { return true };
            left = fewer;
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(entry.path());
            } else if is_named(&entry.file_name().to_string_lossy()) {
                return true;
            }
        }
    }
    false
}

/// `rg`: it leaves hidden files alone unless it is told otherwise, and what is protected is hidden.
pub(super) fn rg(judge: &mut Judge<'_>, state: &State, arguments: &[Arg]) -> Result<Stream, Objection> {
    let program = entry("rg words", arguments)?;
    let parsed = options::parse(program, arguments, Order::Any)?;
    let given = parsed.has_any(&["e", "regexp", "files", "type-list"]);
    let mut files: Vec<Arg> = parsed.operands.iter().skip(usize::from(!given)).map(|word| (*word).clone()).collect();
    if files.is_empty() {
        files.push(Arg::literal("."));
    }
    let hidden = parsed.has_any(&["hidden", ".", "u", "unrestricted", "g", "glob", "iglob", "L", "follow"]);
    for file in &files {
        let is_folder = file.text().is_some_and(|text| {
            judge
                .places(state, text)
                .is_ok_and(|places| places.iter().all(|place| place.is_dir() && !holds_plain(judge, place)))
        });
        judge.reads(state, file, if hidden || !is_folder { Use::Everything } else { Use::Facts })?;
        if is_folder && !hidden {
            judge.places(state, file.text().unwrap_or_default())?.iter().try_for_each(|at| judge.leaves_secrets(at))?;
        }
    }
    let lists = parsed.has_any(&["l", "files", "files-with-matches", "files-without-match"]);
    names(judge, state, &files, lists, parsed.has_any(&["0", "null"]))
}

/// Whether a protected place below is not hidden.
fn holds_plain(judge: &Judge<'_>, folder: &Path) -> bool {
    judge.protected.places().iter().any(|place| {
        place.strip_prefix(folder).is_ok_and(|below| {
            place.exists() && !below.components().any(|part| part.as_os_str().to_string_lossy().starts_with('.'))
        })
    })
}

/// `fd`: names only; what it runs on them is not judged.
pub(super) fn fd(judge: &mut Judge<'_>, state: &State, arguments: &[Arg]) -> Result<Stream, Objection> {
    let program = entry("fd words", arguments)?;
    let parsed = options::parse(program, arguments, Order::Any)?;
    let folders: Vec<Arg> = parsed.operands.iter().skip(1).map(|word| (*word).clone()).collect();
    folders.iter().try_for_each(|folder| judge.reads(state, folder, Use::Facts))?;
    let by_nul = parsed.has_any(&["0", "print0"]);
    if parsed.has_any(&["l", "list-details"]) {
        return Ok(Stream::Text);
    }
    if folders.is_empty() {
        return Ok(Stream::Names { folders: state.cwds.clone(), by_nul, may_be_option: true });
    }
    names(judge, state, &folders, true, by_nul)
}
