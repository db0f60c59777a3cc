//! `xargs`: the command it runs, with names from its input in the place of words.

use std::fs;
use std::path::{Path, PathBuf};

use super::judge::{Judge, State};
use super::objection::Objection;
use super::options::{self, Order};
use super::programs::{Operands, Program};
use super::scene::Use;
use super::value::{Arg, Stream, Value};

/// Names looked at for blanks in them before they are read as words; more are not proven.
const NAMES_MAX: usize = 20_000;

static XARGS: Program = Program::new(
    "xargs",
    "0rtx",
    "nPLsdIEa",
    "null no-run-if-empty verbose exit max-args= max-procs= max-lines= max-chars= delimiter= replace? arg-file=",
    Operands::Text,
);

/// Judges `xargs`.
pub(super) fn judge(judge: &mut Judge<'_>, state: &State, arguments: &[Arg]) -> Result<Stream, Objection> {
    let parsed = options::parse(&XARGS, arguments, Order::OptionsFirst)?;
    let mut stdin = state.stdin.clone();
    for file in parsed.values(&["a", "arg-file"]) {
        judge.reads(state, &Arg::literal(file), Use::Content)?;
        stdin = Stream::Text;
    }
    let words: Vec<Arg> = parsed.operands.iter().map(|word| (*word).clone()).collect();
    let is_whole_line = parsed.has_any(&["0", "null", "d", "delimiter"]);
    let replaced = parsed.values(&["I", "replace"]).last().or(parsed.has("replace").then_some("{}"));
    let names = names(&stdin, is_whole_line)?;
    let command = match replaced {
        Some(mark) => words.into_iter().map(|word| replaced_in(word, mark, &names)).collect(),
        None if words.is_empty() => vec![Arg::literal("/bin/echo"), names],
        None => words.into_iter().chain([names]).collect::<Vec<_>>(),
    };
    let depth = judge.depth;
    let inner = State { stdin: Stream::Text, ..state.clone() };
    judge.inner(&inner, &command, depth)
}

/// What the input's names are as words.
fn names(stdin: &Stream, is_whole_line: bool) -> Result<Arg, Objection> {
    match stdin {
        Stream::Text => Ok(Arg::unknown(true)),
        Stream::Names { folders, by_nul, may_be_option } => {
            let is_split = !(is_whole_line && *by_nul) && folders.iter().any(|folder| !has_plain_folders(folder));
            // A name with a blank in it becomes two words, the second of them any path at all.
            let value = if is_split { Value::Unknown { many: true } } else { Value::Below(folders.clone()) };
            Ok(Arg { value, may_be_option: *may_be_option || !(is_whole_line && *by_nul) })
        }
    }
}

/// Whether no folder below has a name that would be read as several words.
fn has_plain_folders(root: &Path) -> bool {
    let mut left = NAMES_MAX;
    let mut folders: Vec<PathBuf> = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let Some(fewer) = left.checked_sub(1) else { return false };
            left = fewer;
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            let name = entry.file_name();
            if name.to_str().is_none_or(|name| name.contains(|c: char| c.is_whitespace() || "'\"\\".contains(c))) {
                return false;
            }
            folders.push(entry.path());
        }
    }
    true
}

fn replaced_in(word: Arg, mark: &str, names: &Arg) -> Arg {
    match word.text() {
        Some(text) if text == mark => {
            let is_text = matches!(names.value, Value::Unknown { .. });
            let value = if is_text { Value::Unknown { many: false } } else { names.value.clone() };
            Arg { value, may_be_option: true }
        }
        Some(text) if text.contains(mark) => Arg {
            value: Value::Unknown { many: false },
            may_be_option: text.starts_with(mark) || text.starts_with('-'),
        },
        _ => word,
    }
}
