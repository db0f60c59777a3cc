//! Typed checks, as models propose them and scripts require them, turned into steps.

mod edit;
mod fields;
mod set;
#[cfg(test)]
mod tests;

use artoo_proto::{Environment, Now};
use serde_json::{Value, json};

use self::fields::{Fields, shown};
use crate::algebra::{Act, GitAction, Kind, ModeChange, NameChange, ProcessName, Query, Step, Target, Ty};
use crate::eval::{EntryKind, FileSystem};
use crate::place::{PathKind, file_name, is_archive, parent, resolve};

/// Every kind of check.
const KINDS: [&str; 19] = [
    "removed",
    "renamed",
    "moved",
    "copied",
    "text_is",
    "made_from",
    "edited",
    "folder_made",
    "mode_set",
    "measured",
    "ran",
    "fetched",
    "git",
    "process_gone",
    "installed",
    "unchanged",
    "linked",
    "archived",
    "unpacked",
];

/// The highest permission bits there are.
const ALL_BITS: u32 = 0o7777;

/// The steps that a typed check asks for: an object with a `kind` and its fields.
///
/// # Errors
/// What is wrong with the check, for the user.
pub(super) fn steps(check: &Value, environment: &Environment, fs: &dyn FileSystem) -> Result<Vec<Step>, String> {
    let mut fields = Fields::of(check, environment, fs)?;
    let step = step(&mut fields)?;
    fields.done()?;
    // Every query is built from what a stranger wrote, so its types are checked whatever the kind.
    let (step, typed) = match step {
        Step::Ask(query) => {
            let query = query.normalise();
            let typed = query.ty().map(|_| ());
            (Step::Ask(query), typed)
        }
        Step::Do(act) => {
            let act = act.normalise();
            let query = if let Act::Save { of, .. } = &act { Some(of) } else { act.selection() };
            let typed = query.map_or(Ok(()), |query| query.ty().map(|_| ()));
            (Step::Do(act), typed)
        }
    };
    let unfit = |error| format!("{}: {error}; leave that condition out or change `entries`", fields.kind);
    typed.map(|()| vec![step]).map_err(unfit)
}

/// The steps that a check in a script asks for: `kind: value`, or the object in JSON.
///
/// # Errors
/// What is wrong with the check, for the user.
pub(super) fn shorthand(text: &str, environment: &Environment, fs: &dyn FileSystem) -> Result<Vec<Step>, String> {
    if text.trim_start().starts_with('{') {
        let check = serde_json::from_str(text).map_err(|error| format!("the check is no valid JSON: {error}"))?;
        return steps(&check, environment, fs);
    }
    let (kind, value) =
        text.split_once(':').ok_or_else(|| format!("{} has no kind; write `kind: value`", shown(text)))?;
    let (kind, value) = (kind.trim(), value.trim());
    let two = |between: &str| {
        let (first, second) = value
            .split_once(between)
            .ok_or_else(|| format!("{kind}: {between:?} is missing between its two values"))?;
        Ok::<_, String>((first.trim_end(), if kind == "text_is" { second } else { second.trim_start() }))
    };
    let mut check = match kind {
        "removed" | "folder_made" | "unchanged" => json!({"paths": value}),
        "measured" => json!({"question": value}),
        "ran" => json!({"command": value}),
        "fetched" => json!({"url": value}),
        "installed" => json!({"program": value}),
        "process_gone" => {
            json!({"pid": value.parse::<u32>().map_err(|_| format!("process_gone: {} is no process number", shown(value)))?})
        }
        "text_is" => two("=").map(|(path, text)| json!({"path": path, "text": text}))?,
        "mode_set" => two("=").map(|(path, bits)| json!({"path": path, "bits": bits}))?,
        "renamed" => two("->").map(|(from, to)| json!({"from": from, "to": to}))?,
        "moved" | "copied" => two("->").map(|(from, to)| json!({"path": from, "to": to}))?,
        known if KINDS.contains(&known) => {
            return Err(format!("{known}: write it as JSON: {{\"kind\": \"{known}\", …}}"));
        }
        unknown => return Err(unknown_kind(unknown)),
    };
    if let Some(fields) = check.as_object_mut() {
        fields.insert("kind".to_owned(), kind.into());
    }
    steps(&check, environment, fs)
}

/// What is said of a kind that isn't there.
fn unknown_kind(kind: &str) -> String {
    format!("{} is no kind of check; the kinds are {}", shown(kind), KINDS.join(", "))
}

/// The step that the fields of a check ask for.
fn step(fields: &mut Fields<'_>) -> Result<Step, String> {
    let kind = fields.kind.clone();
    Ok(Step::Do(match kind.as_str() {
        "measured" => return question(fields).map(Step::Ask),
        "removed" => Act::Delete { of: set::selection(fields)? },
        "renamed" => renamed(fields)?,
        "moved" => {
            let (of, to) = transfer(fields)?;
            Act::Move { of, to }
        }
        "copied" => {
            let (of, to) = transfer(fields)?;
            Act::Copy { of, to }
        }
        "text_is" => {
            let path = fields.path("path")?;
            Act::CreateFile { path: new_file(fields, path)?, text: ended(fields.text("text")?) }
        }
        "made_from" => made_from(fields)?,
        "edited" => edit::act(fields)?,
        "folder_made" => Act::CreateFolder { paths: fields.paths("paths")? },
        "mode_set" => Act::SetMode { of: set::selection(fields)?, mode: mode(fields)? },
        "ran" => {
            Act::Run { command: fields.line("command")?, folder: folder(fields)?, to: fields.path_if_given("to")? }
        }
        "fetched" => Act::Fetch { url: url(fields)?, to: fields.path_if_given("path")? },
        "git" => Act::Git { folder: folder(fields)?, action: git(fields)? },
        "process_gone" => Act::Stop { process: process(fields)? },
        "installed" => Act::Install { program: fields.line("program")?, version: fields.line_if_given("version")? },
        "unchanged" => Act::Keep { paths: fields.paths("paths")? },
        "linked" => Act::Link { target: fields.path("target")?, path: fields.path("path")? },
        "archived" => Act::Archive { of: set::selection(fields)?, to: archive(fields, "to")? },
        "unpacked" => {
            let of = Query::Paths { paths: vec![archive(fields, "path")?], kind: Kind::File };
            Act::Extract { of, to: fields.path("to")? }
        }
        unknown => return Err(unknown_kind(unknown)),
    }))
}

/// The query of a question in plain English.
fn question(fields: &mut Fields<'_>) -> Result<Query, String> {
    let question = fields.line("question")?;
    let now = Now { wall: fields.fs.now(), uptime_ms: 0 };
    let parsed = crate::parse::parse(&question, &[], fields.environment, now, fields.fs).map_err(|abstention| {
        let words = abstention.not_understood.first().map(|word| format!(" at {}", shown(word))).unwrap_or_default();
        fields.wrong("question", &format!("was not read{words}; count, list, show or compare files, lines or facts"))
    })?;
    let query = parsed.query().cloned();
    query.ok_or_else(|| fields.wrong("question", "asks no single question; ask one thing, change nothing"))
}

/// The act that writes the answer of a question into a file.
fn made_from(fields: &mut Fields<'_>) -> Result<Act, String> {
    let of = question(fields)?;
    if !matches!(of.ty(), Ok(Ty::Lines | Ty::Number)) {
        return Err(fields.wrong("question", "has neither lines nor a number as its answer; ask for lines or names"));
    }
    let to = fields.path("path")?;
    let is_edit = matches!(of.source(), Query::TextFile { path } if *path == to);
    let to = if is_edit { to } else { new_file(fields, to)? };
    Ok(Act::Save { of, to })
}

/// The path, if no file is there yet.
fn new_file(fields: &Fields<'_>, path: String) -> Result<String, String> {
    match fields.entry(&path) {
        None => Ok(path),
        Some(_) => Err(fields.wrong("path", "names a file that is there already; say how it is edited (kind edited)")),
    }
}

/// A text with a newline at its end, unless it is empty.
fn ended(mut text: String) -> String {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// The act of a new name within the same folder, or of a change of many names.
fn renamed(fields: &mut Fields<'_>) -> Result<Act, String> {
    let change = match [fields.name("extension")?, fields.name("prefix")?, fields.name("suffix")?] {
        [None, None, None] => {
            let from = fields.path("from")?;
            let typed = fields.line("to")?;
            let to =
                resolve(&typed, fields.environment).filter(|place| place.bare || parent(&place.path) == parent(&from));
            let name = to.as_ref().and_then(|place| file_name(&place.path)).filter(|_| !typed.ends_with('/'));
            let name = name.ok_or_else(|| fields.wrong("to", "is no new name in the same folder; use kind moved"))?;
            let of = Query::Paths { paths: vec![from], kind: Kind::Any };
            return Ok(Act::Rename { of, change: NameChange::To(name.to_owned()) });
        }
        [Some(new), None, None] => NameChange::Extension(new.trim_start_matches('.').to_ascii_lowercase()),
        [None, Some(text), None] => NameChange::Prefix(text),
        [None, None, Some(text)] => NameChange::Suffix(text),
        _ => return Err(fields.wrong("extension", "stands beside `prefix` or `suffix`; give one of the three")),
    };
    Ok(Act::Rename { of: set::selection(fields)?, change })
}

/// What is moved or copied, and where to: into a folder that is there, ends in `/` or takes several, else to that path.
fn transfer(fields: &mut Fields<'_>) -> Result<(Query, Target), String> {
    let of = set::selection(fields)?;
    let is_folder = fields.typed("to").ends_with('/');
    let to = fields.path("to")?;
    let into = is_folder || fields.entry(&to) == Some(EntryKind::Folder);
    let one = if let Query::Paths { paths, .. } = &of { <&[String; 1]>::try_from(paths.as_slice()).ok() } else { None };
    let kind = |path: &str| resolve(path, fields.environment).map(|place| place.kind);
    match one {
        _ if into => Ok((of, Target::Into(to))),
        None if kind(&to) == Some(PathKind::File) => {
            Err(fields.wrong("to", "names a file, but several are meant; name a folder, a slash at its end"))
        }
        None => Ok((of, Target::Into(to))),
        Some([from]) if kind(from) == Some(PathKind::File) && kind(&to) != Some(PathKind::File) => {
            Err(fields.wrong("to", "is a folder or a new name; a slash at its end makes it a folder"))
        }
        Some(_) => Ok((of, Target::As(to))),
    }
}

/// The change of permission bits.
fn mode(fields: &mut Fields<'_>) -> Result<ModeChange, String> {
    let bits = fields.word("bits")?;
    match (bits, fields.flag("executable")?, fields.flag("read_only")?) {
        (Some(bits), None, None) => {
            let octal = u32::from_str_radix(&bits, 8).ok().filter(|octal| *octal <= ALL_BITS && !bits.starts_with('+'));
            octal.map(ModeChange::Bits).ok_or_else(|| fields.wrong("bits", "is no octal number such as \"755\""))
        }
        (None, Some(true), None) => Ok(ModeChange::Executable),
        (None, Some(false), None) => Ok(ModeChange::NotExecutable),
        (None, None, Some(true)) => Ok(ModeChange::ReadOnly),
        _ => Err(fields.wrong("bits", "is missing or not alone; give one of bits, executable or \"read_only\": true")),
    }
}

/// The folder that something is done in: the current one if none is given.
fn folder(fields: &mut Fields<'_>) -> Result<String, String> {
    let here = || resolve(".", fields.environment).map(|here| here.path);
    let here = here().ok_or_else(|| fields.wrong("folder", "is missing"))?;
    Ok(fields.path_if_given("folder")?.unwrap_or(here))
}

/// A whole address of the web.
fn url(fields: &mut Fields<'_>) -> Result<String, String> {
    let url = fields.line("url")?;
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://")).unwrap_or_default();
    let is_whole = !rest.is_empty() && !rest.starts_with('/') && !rest.contains(char::is_whitespace);
    if is_whole {
        Ok(url)
    } else {
        Err(fields.wrong("url", "is no whole address that starts with https:// or http://"))
    }
}

/// The change of a git repository.
fn git(fields: &mut Fields<'_>) -> Result<GitAction, String> {
    let action = fields.line("action")?;
    Ok(match action.as_str() {
        "init" => GitAction::Init,
        "commit" => match fields.text("message")?.trim_end() {
            "" => return Err(fields.wrong("message", "is empty; give the commit's message")),
            message => GitAction::Commit { message: message.to_owned() },
        },
        "branch" => {
            GitAction::Branch { name: fields.line("name")?, switch: fields.flag("switch")?.unwrap_or_default() }
        }
        "switch" => GitAction::Switch { name: fields.line("name")? },
        "tag" => GitAction::Tag { name: fields.line("name")? },
        _ => return Err(fields.wrong("action", "is none of init, commit, branch, switch, tag")),
    })
}

/// The process that is gone, by its number or its port.
fn process(fields: &mut Fields<'_>) -> Result<ProcessName, String> {
    let pid = fields.number("pid")?.map(u32::try_from);
    let port = fields.number("port")?.map(u16::try_from);
    match (pid, port) {
        (Some(Ok(pid @ 1..)), None) => Ok(ProcessName::Pid(pid)),
        (None, Some(Ok(port @ 1..))) => Ok(ProcessName::Port(port)),
        _ => Err(fields.wrong("pid", "is missing, too large or not alone; give a pid or a port")),
    }
}

/// The path of an archive.
fn archive(fields: &mut Fields<'_>, field: &'static str) -> Result<String, String> {
    let path = fields.path(field)?;
    if is_archive(&path) { Ok(path) } else { Err(fields.wrong(field, "doesn't end in .zip, .tar, .tgz or .tar.gz")) }
}
