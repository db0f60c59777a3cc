//! `git`: known reading subcommands, in a repository whose own configuration starts no program.

use std::fs;
use std::path::{Path, PathBuf};

use super::danger;
use super::judge::{Judge, State};
use super::objection::Objection;
use super::options::{self, Order};
use super::programs::{self, Operands, Program};
use super::scene::{New, Use};
use super::value::{Arg, Stream};

/// A configuration larger than this is nobody's own.
const CONFIG_MAX_BYTES: u64 = 256 * 1024;

/// Settings for one command that only change how it looks.
const LOOKS: [&str; 9] = [
    "color.",
    "core.quotepath",
    "core.abbrev",
    "log.date",
    "log.decorate",
    "diff.renames",
    "column.",
    "status.short",
    "advice.",
];

static GIT: Program = Program::new(
    "git",
    "Pv",
    "Cc",
    "no-pager no-optional-locks literal-pathspecs glob-pathspecs noglob-pathspecs icase-pathspecs version exec-path \
        html-path man-path info-path no-replace-objects",
    Operands::Text,
);

static BRANCH: Program = Program::new(
    "git branch",
    "avrlqi",
    "",
    "all remotes list show-current verbose contains? no-contains? merged? no-merged? points-at= sort= format= \
        color? no-color column? no-column abbrev? no-abbrev ignore-case omit-empty",
    Operands::Text,
);

static TAG: Program = Program::new(
    "git tag",
    "lin0123456789",
    "",
    "list contains? no-contains? merged? no-merged? points-at= sort= format= color? column? no-column ignore-case",
    Operands::Text,
);

static CONFIG: Program = Program::new(
    "git config",
    "lz",
    "",
    "get= get-all= get-regexp= list null global local system show-origin show-scope name-only includes type= bool int \
        path default=",
    Operands::Text,
);

/// Judges `git`.
pub(super) fn judge(judge: &mut Judge<'_>, state: &State, arguments: &[Arg]) -> Result<Stream, Objection> {
    let parsed = options::parse(&GIT, arguments, Order::OptionsFirst)?;
    for setting in parsed.values(&["c"]) {
        let key = setting.split('=').next().unwrap_or_default().to_ascii_lowercase();
        if !LOOKS.iter().any(|look| key == *look || (look.ends_with('.') && key.starts_with(look))) {
            return Err(Objection::opaque(format!("the setting {key} may make git run a program")));
        }
    }
    let mut state = state.clone();
    for folder in parsed.values(&["C"]) {
        judge.reads(&state, &Arg::literal(folder), Use::Facts)?;
        state.cwds = judge.places(&state, folder)?;
    }
    let Some((name, _)) = parsed.operands.split_first() else {
        let asks_itself = parsed.has_any(&["v", "version", "exec-path", "html-path", "man-path", "info-path"]);
        return if asks_itself { Ok(Stream::Text) } else { Err(Objection::opaque("git without a subcommand")) };
    };
    for cwd in &state.cwds {
        repository_is_harmless(cwd)?;
        let is_setting = |made: &PathBuf| {
            let mut within = made.iter().skip_while(|name| !name.eq_ignore_ascii_case(".git"));
            within.next().is_some() && !within.next().is_some_and(|name| name == "refs" || name == "logs")
        };
        if judge.effects.created.iter().any(|made| cwd.starts_with(made) || is_setting(made)) {
            return Err(Objection::opaque("the command itself makes the repository or a part of it"));
        }
    }
    let known = name.text().and_then(|name| programs::find(&format!("git {name}")));
    let program = known.ok_or_else(|| danger::objection("git", arguments))?;
    let skipped = arguments.len() - parsed.operands.len() + 1;
    let written = judge.program(&state, program, arguments.get(skipped..).unwrap_or_default(), judge.depth)?;
    let lists_files = name.text() == Some("ls-files");
    Ok(if lists_files { names_here(&state, arguments) } else { written })
}

/// `git ls-files` names files of the folder it is in.
fn names_here(state: &State, arguments: &[Arg]) -> Stream {
    let by_nul = arguments.iter().any(|word| word.text() == Some("-z"));
    Stream::Names { folders: state.cwds.clone(), by_nul, may_be_option: true }
}

/// `git branch`: a list, or one new name.
pub(super) fn branch(judge: &mut Judge<'_>, state: &State, arguments: &[Arg]) -> Result<Stream, Objection> {
    let parsed = options::parse(&BRANCH, arguments, Order::Any)?;
    let lists = parsed.has_any(&["l", "list", "show-current", "a", "r"]) || filters(&parsed);
    named(judge, state, parsed.operands.as_slice(), lists, "branch")
}

/// `git tag`: a list, or one new name.
pub(super) fn tag(judge: &mut Judge<'_>, state: &State, arguments: &[Arg]) -> Result<Stream, Objection> {
    let parsed = options::parse(&TAG, arguments, Order::Any)?;
    let lists = parsed.has_any(&["l", "list", "n"]) || filters(&parsed);
    named(judge, state, parsed.operands.as_slice(), lists, "tag")
}

/// `git config`: one key that is shown, or all of them. A word without a dot may be a verb.
pub(super) fn config(_judge: &mut Judge<'_>, _state: &State, arguments: &[Arg]) -> Result<Stream, Objection> {
    let parsed = options::parse(&CONFIG, arguments, Order::Any)?;
    let is_key = |word: &&&Arg| word.text().is_some_and(|text| text.contains('.'));
    let shows = match parsed.operands.as_slice() {
        [] => parsed.has_any(&["l", "list", "get", "get-all", "get-regexp"]),
        [word] if word.text() == Some("list") => true,
        [word] => [word].into_iter().all(|word| is_key(&word)),
        [verb, key] => verb.text() == Some("get") && is_key(&key),
        _ => false,
    };
    if shows { Ok(Stream::Text) } else { Err(Objection::changes("git config with these words may change a setting")) }
}

fn filters(parsed: &options::Parsed<'_>) -> bool {
    parsed.has_any(&["contains", "no-contains", "merged", "no-merged", "points-at"])
}

fn named(
    judge: &mut Judge<'_>,
    state: &State,
    operands: &[&Arg],
    lists: bool,
    kind: &str,
) -> Result<Stream, Objection> {
    let is_name = |word: &&Arg| word.text().is_some_and(|text| !text.is_empty() && !text.starts_with(['-', '+', ':']));
    match operands {
        _ if lists => {}
        [] => {}
        [name] | [name, _] if operands.iter().all(is_name) => {
            judge.effects.makes(format!("the {kind} {}", name.shown()));
            let places: &[&str] = if kind == "tag" { &["refs/tags"] } else { &["refs/heads", "logs/refs/heads"] };
            for repository in state.cwds.iter().filter_map(|cwd| repository(cwd)) {
                let new = places.iter().map(|place| repository.join(place).join(name.shown()));
                new.for_each(|path| judge.effects.creates(&path, New::File));
            }
        }
        _ => return Err(Objection::changes(format!("git {kind} with these words may change one"))),
    }
    Ok(Stream::Text)
}

/// The `.git` of a folder, which may be a file that points to it.
fn repository(cwd: &Path) -> Option<PathBuf> {
    cwd.ancestors().map(|folder| folder.join(".git")).find(|path| path.exists())
}

/// Objects to a repository that names programs of its own: whoever unpacked it may not know.
fn repository_is_harmless(cwd: &Path) -> Result<(), Objection> {
    let Some(found) = repository(cwd) else { return Ok(()) };
    let mut folders = vec![found.clone()];
    if found.is_file() {
        let pointer = small_file(&found)?;
        let target = pointer.trim().strip_prefix("gitdir:").map(str::trim).unwrap_or_default();
        let target = found.parent().unwrap_or(cwd).join(target);
        if let Ok(common) = fs::read_to_string(target.join("commondir")) {
            folders.push(target.join(common.trim()));
        }
        folders.push(target);
    }
    let configs = folders.iter().flat_map(|folder| [folder.join("config"), folder.join("config.worktree")]);
    for config in configs.filter(|config| config.is_file()) {
        if let Some(key) = small_file(&config).ok().as_deref().map_or(Some("it is too large".to_owned()), acting_key) {
            return Err(Objection::opaque(format!("the repository's own settings may run a program: {key}")));
        }
    }
    Ok(())
}

fn small_file(path: &Path) -> Result<String, Objection> {
    let unread = || Objection::opaque(format!("{} can't be read", crate::paths::line(path)));
    let length = fs::metadata(path).map_err(|_| unread())?.len();
    if length > CONFIG_MAX_BYTES {
        return Err(unread());
    }
    fs::read_to_string(PathBuf::from(path)).map_err(|_| unread())
}

/// The first setting that may run a program when something is only read.
fn acting_key(config: &str) -> Option<String> {
    let mut section = String::new();
    for line in config.lines() {
        let mut line = line.trim();
        if let Some(header) = line.strip_prefix('[') {
            let (header, rest) = header.split_once(']')?;
            section = header.to_ascii_lowercase();
            line = rest.trim();
        }
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        let (key, value) = line.split_once('=').map_or((line, ""), |(key, value)| (key.trim(), value.trim()));
        let key = key.to_ascii_lowercase();
        let family = section.split([' ', '.', '"']).next().unwrap_or_default();
        let acts = match (family, key.as_str()) {
            ("include" | "includeif" | "trailer", _) => true,
            // What large file storage writes is known.
            ("filter", "required") => false,
            ("filter", _) => !value.starts_with("git-lfs "),
            ("core", "worktree" | "gitproxy" | "alternaterefscommand") => true,
            ("diff", "external" | "command" | "textconv") => true,
            ("log", "showsignature") => true,
            ("gpg", key) => key != "format",
            (_, key) => ["textconv", "clean", "smudge", "process", "external"].contains(&key),
        };
        if acts {
            return Some(format!("{section}.{key}"));
        }
    }
    None
}
