//! `find`: every part of its expression must be a known test; a command it runs is judged on its own.

use std::path::PathBuf;

use super::judge::{Judge, State};
use super::objection::Objection;
use super::scene::Use;
use super::value::{Arg, Stream, Value};

/// Tests, options and operators without an argument.
const BARE: [&str; 33] = [
    "-a",
    "-and",
    "-o",
    "-or",
    "-not",
    "!",
    "(",
    ")",
    ",",
    "-true",
    "-false",
    "-print",
    "-print0",
    "-ls",
    "-empty",
    "-prune",
    "-quit",
    "-depth",
    "-d",
    "-xdev",
    "-mount",
    "-readable",
    "-writable",
    "-executable",
    "-nouser",
    "-nogroup",
    "-daystart",
    "-follow",
    "-noleaf",
    "-warn",
    "-nowarn",
    "-ignore_readdir_race",
    "-noignore_readdir_race",
];

/// With one.
const VALUED: [&str; 37] = [
    "-name",
    "-iname",
    "-path",
    "-ipath",
    "-wholename",
    "-iwholename",
    "-regex",
    "-iregex",
    "-regextype",
    "-type",
    "-xtype",
    "-size",
    "-mtime",
    "-mmin",
    "-atime",
    "-amin",
    "-ctime",
    "-cmin",
    "-newer",
    "-anewer",
    "-cnewer",
    "-maxdepth",
    "-mindepth",
    "-perm",
    "-user",
    "-group",
    "-uid",
    "-gid",
    "-links",
    "-inum",
    "-samefile",
    "-lname",
    "-ilname",
    "-fstype",
    "-used",
    "-printf",
    "-context",
];

/// What the expression prints.
#[derive(Default)]
struct Printed {
    names: bool,
    by_nul: bool,
    other: bool,
}

/// Judges `find`.
pub(super) fn judge(judge: &mut Judge<'_>, state: &State, arguments: &[Arg]) -> Result<Stream, Objection> {
    let (roots, expression) = split(judge, state, arguments)?;
    let mut printed = Printed::default();
    let mut words = expression.iter();
    while let Some(word) = words.next() {
        let Some(text) = word.text() else {
            if word.may_be_option {
                return Err(Objection::opaque(format!("{} may become an action of find", word.shown())));
            }
            continue;
        };
        match text {
            "-print" | "-print0" => {
                printed.names = true;
                printed.by_nul |= text == "-print0";
            }
            "-ls" => printed.other = true,
            "-exec" | "-execdir" => {
                printed.other = true;
                let command: Vec<Arg> = run_by(words.as_slice()).cloned().collect();
                words = words.as_slice().get(command.len() + 1..).unwrap_or_default().iter();
                let command = command.into_iter().filter_map(|word| filled_in(word, &roots)).collect::<Vec<_>>();
                let depth = judge.depth;
                judge.inner(state, &command, depth)?;
            }
            _ if BARE.contains(&text) => {}
            _ if VALUED.contains(&text) || is_newer(text) => {
                let value =
                    words.next().filter(|word| !matches!(word.value, Value::Unknown { many: true } | Value::Below(_)));
                let value =
                    value.ok_or_else(|| Objection::opaque(format!("{text} of find without a value that is known")))?;
                if text == "-printf" {
                    match value.text() {
                        Some("%p\\n" | "%p\\0") => printed.names = true,
                        _ => printed.other = true,
                    }
                    printed.by_nul |= value.text() == Some("%p\\0");
                }
            }
            _ => return Err(unknown(text)),
        }
    }
    if printed.other {
        return Ok(Stream::Text);
    }
    Ok(Stream::Names { folders: roots, by_nul: printed.by_nul, may_be_option: false })
}

fn unknown(text: &str) -> Objection {
    match text {
        "-delete" | "-fprint" | "-fprint0" | "-fprintf" | "-fls" | "-ok" | "-okdir" => {
            Objection::changes(format!("find {text} deletes, overwrites or runs something"))
        }
        _ => Objection::opaque(format!("{text} of find is not known to be harmless")),
    }
}

/// Folders that are searched, and the expression behind them.
fn split<'w>(
    judge: &mut Judge<'_>,
    state: &State,
    arguments: &'w [Arg],
) -> Result<(Vec<PathBuf>, &'w [Arg]), Objection> {
    let is_global = |word: &&Arg| matches!(word.text(), Some("-P" | "-H" | "-L" | "-O1" | "-O2" | "-O3"));
    let begin = arguments.iter().take_while(is_global).count();
    let arguments = arguments.get(begin..).unwrap_or_default();
    let is_expression = |word: &Arg| word.may_be_option || matches!(word.text(), Some("(" | ")" | "!" | ","));
    let end = arguments.iter().position(is_expression).unwrap_or(arguments.len());
    let (folders, expression) = arguments.split_at(end);
    let here = [Arg::literal(".")];
    let mut roots = Vec::new();
    for folder in if folders.is_empty() { &here } else { folders } {
        judge.reads(state, folder, Use::Facts)?;
        match &folder.value {
            Value::Literal(text) => roots.extend(judge.places(state, text)?),
            Value::Matches { found, .. } => {
                for name in found {
                    roots.extend(judge.places(state, name)?);
                }
            }
            Value::Below(folders) => roots.extend(folders.iter().cloned()),
            Value::Number | Value::Unknown { .. } => {
                return Err(Objection::opaque("find in a folder that is not known before it runs"));
            }
        }
    }
    Ok((roots, expression))
}

/// The words of a command up to its end: `;`, or `+` behind the names.
fn run_by(words: &[Arg]) -> impl Iterator<Item = &Arg> {
    let is_names =
        |index: usize| index.checked_sub(1).and_then(|before| words.get(before)).and_then(Arg::text) == Some("{}");
    let end = words.iter().enumerate().position(|(index, word)| match word.text() {
        Some(";") => true,
        Some("+") => is_names(index),
        _ => false,
    });
    words.iter().take(end.unwrap_or(0))
}

/// The word with names in the place of `{}`; names begin with their root, so they are no options.
fn filled_in(word: Arg, roots: &[PathBuf]) -> Option<Arg> {
    match word.text() {
        Some("{}") => Some(Arg { value: Value::Below(roots.to_vec()), may_be_option: false }),
        Some(text) if text.contains("{}") => Some(Arg {
            value: Value::Unknown { many: false },
            may_be_option: text.starts_with("{}") || text.starts_with('-'),
        }),
        _ => Some(word),
    }
}

/// `-newerXY`
fn is_newer(text: &str) -> bool {
    let letters = text.strip_prefix("-newer").unwrap_or_default().as_bytes();
    matches!(letters, [b'a' | b'B' | b'c' | b'm', b'a' | b'B' | b'c' | b'm' | b't'])
}
