//! Steps that can't be carried out beforehand: commands, downloads, repositories, processes, facts of the machine.

use std::path::{Path, PathBuf};

use artoo_proto::{CallStatus, ToolCall};

use super::answer;
use super::compare::{self, Looked};
use super::git;
use super::net::Found;
use super::overlay::shown;
use crate::algebra::{Act, Fact, ProcessName, Query};
use crate::eval::{Answer, EvalError, FileSystem, digest, evaluate, verify};

/// Maximum number of lines of a command's output in an answer.
const OUTPUT_LINES: usize = 20;

/// Options of `curl` and `wget` that only say how a file is fetched and where it is written.
const FETCH_OPTIONS: [&str; 8] =
    ["--silent", "--show-error", "--fail", "--location", "--output", "--quiet", "--remote-name", "--output-document"];

/// Programs that install others.
const INSTALLERS: [&str; 19] = [
    "apt", "apt-get", "brew", "cargo", "conda", "dnf", "gem", "go", "npm", "pacman", "pip", "pip3", "pipx", "pnpm",
    "snap", "sudo", "uv", "yarn", "zypper",
];

/// Whether a question is about the machine, which changes by itself.
pub(super) fn is_of_machine(query: &Query) -> bool {
    match query {
        Query::Processes | Query::System { .. } => true,
        Query::Compare { of, with, .. } => is_of_machine(of) || is_of_machine(with),
        other => other.operand().is_some_and(is_of_machine),
    }
}

/// What an act is about, as it is when the task begins; empty if there is nothing to compare.
pub(super) fn snapshot(act: &Act, fs: &dyn FileSystem) -> String {
    match act {
        Act::Git { folder, action } => git::snapshot(folder, action, fs),
        Act::Stop { process } => process_state(process, fs),
        Act::Install { program, .. } => program_path(program, fs),
        Act::Keep { paths } => paths.iter().map(|path| facts(Path::new(path), fs)).collect(),
        _ => String::new(),
    }
}

/// Kind, size, time and mode of a path.
fn facts(path: &Path, fs: &dyn FileSystem) -> String {
    fs.metadata(&fs.real(path)).map_or_else(
        |problem| format!("{problem}\n"),
        |entry| format!("{:?} {} {} {:o}\n", entry.kind, entry.bytes, entry.modified, entry.mode),
    )
}

/// The start time of a process, or the listening socket of a port; empty if there is none.
fn process_state(process: &ProcessName, fs: &dyn FileSystem) -> String {
    let file = |path: &str| crate::eval::text::system_file(path, fs).unwrap_or_default();
    match process {
        ProcessName::Pid(pid) => {
            let stat = file(&format!("/proc/{pid}/stat"));
            // The name in brackets may hold anything; the state and the start time follow it. `Z` has ended.
            let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
            let started = fields.get(19).filter(|_| fields.first() != Some(&"Z"));
            started.map(|started| (*started).to_owned()).unwrap_or_default()
        }
        ProcessName::Port(port) => {
            let wanted = format!(":{port:04X}");
            let listens = |line: &str| {
                let fields: Vec<&str> = line.split_whitespace().collect();
                let is_it = fields.get(1).is_some_and(|local| local.ends_with(&wanted)) && fields.get(3) == Some(&"0A");
                fields.get(9).filter(|_| is_it).map(|inode| (*inode).to_owned())
            };
            ["/proc/net/tcp", "/proc/net/tcp6"].iter().filter_map(|path| file(path).lines().find_map(listens)).collect()
        }
    }
}

/// The path of a program; empty if there is none.
fn program_path(program: &str, fs: &dyn FileSystem) -> String {
    match evaluate(&Query::System { fact: Fact::Program { name: program.to_owned() } }, fs) {
        Ok(Answer::Text(path)) => path,
        _ => String::new(),
    }
}

/// Answers a question at the end of the task.
pub(super) fn ask(query: &Query, found: &Found<'_>) -> Looked {
    let given = |text: String, by| Looked { answer: Some(text), ..Looked::shown(by, "computed when the task ended") };
    let verified = || {
        let query = serde_json::to_value(query).ok()?;
        let whole = |call: &&ToolCall| call.status == CallStatus::Ok && call.measures && !call.truncated;
        let is_right = |call: &&ToolCall| verify(&query, &call.output, found.fs).pass;
        let call = found.calls.iter().rev().filter(whole).find(is_right)?;
        Some(given(call.output.trim_end().to_owned(), vec![call.evidence_id.clone()]))
    };
    if let Some(looked) = is_of_machine(query).then(verified).flatten() {
        return looked;
    }
    match evaluate(query, found.fs) {
        Ok(found) => given(answer::text(&found), Vec::new()),
        Err(problem @ EvalError::NoSecondSource(_)) => {
            verified().unwrap_or_else(|| Looked::not_shown(problem.to_string()))
        }
        Err(problem) => Looked::not_shown(problem.to_string()),
    }
}

/// Compares an act with the recorded calls and the machine as it is now.
pub(super) fn act(act: &Act, before: &str, place: &git::Place, found: &Found<'_>, cwd: &str) -> Looked {
    match act {
        Act::Run { command, folder, to } => run(command, folder, to.as_deref(), (found, place), cwd),
        Act::Fetch { url, to } => fetch(url, to.as_deref(), found),
        Act::Git { folder, action } => {
            let looked = git::look(folder, action, before, place, found);
            match action {
                crate::algebra::GitAction::Switch { name } => {
                    // What the branch holds comes with it.
                    let spellings = ["checkout", "switch"].map(|verb| format!("git {verb} {name}"));
                    let is_it = |call: &&ToolCall| {
                        command_of(call).is_some_and(|said| {
                            spellings.contains(&in_folder(&said, folder, found, cwd).unwrap_or(said.clone()))
                        })
                    };
                    Looked {
                        calls: found.calls.iter().filter(is_it).map(|call| call.evidence_id.clone()).collect(),
                        ..looked
                    }
                }
                _ => looked,
            }
        }
        Act::Stop { process } => stop(process, before, place, found),
        Act::Install { program, version } => install(program, version.as_deref(), before, found),
        Act::Keep { paths } => {
            let paths: Vec<PathBuf> = paths.iter().map(|path| found.fs.real(Path::new(path))).collect();
            let is_below = |path: &Path| paths.iter().any(|kept| path.starts_with(kept));
            if let Some((path, _)) = found.touched.iter().find(|(path, change)| change.is_net() && is_below(path)) {
                return Looked::refuted(format!("{} was changed", shown(path)));
            }
            match snapshot(act, found.fs) == before {
                true => Looked::shown(Vec::new(), "unchanged"),
                false => Looked::refuted("changed since the task began"),
            }
        }
        _ => Looked::not_shown("this act can't be compared"),
    }
}

/// The command line of a call that ran one.
fn command_of(call: &ToolCall) -> Option<String> {
    let is_shell = matches!(call.tool.as_str(), "shell" | "run_command") && call.status != CallStatus::Denied;
    let input = call.shown_input();
    let command = input.get("command").filter(|_| is_shell)?.as_str()?;
    Some(command.trim().to_owned())
}

/// The command without the `cd` to its folder; `None` if it runs in another one.
fn in_folder(said: &str, folder: &str, found: &Found<'_>, cwd: &str) -> Option<String> {
    let is_it = |path: &Path| found.fs.real(&path.join("-")) == found.fs.real(&Path::new(folder).join("-"));
    let moved = said.strip_prefix("cd ").and_then(|rest| rest.split_once("&&"));
    if let Some((to, rest)) = moved
        && let Some([to]) = words(to).as_deref()
        && is_it(&resolved(to, cwd, found.fs))
    {
        return Some(rest.trim().to_owned());
    }
    is_it(Path::new(cwd)).then(|| said.to_owned())
}

/// The words of a simple command; `None` if a shell would do more with it than run one program.
fn words(text: &str) -> Option<Vec<String>> {
    let mut words: Vec<String> = Vec::new();
    let (mut quote, mut is_inside) = (None, false);
    for c in text.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some('"'), '$' | '`' | '\\') => return None,
            (None, ';' | '|' | '&' | '$' | '`' | '(' | ')' | '<' | '>' | '\n' | '\\' | '*' | '?' | '{' | '#') => {
                return None;
            }
            (None, c) if c.is_whitespace() => is_inside = false,
            (_, c) => {
                if !is_inside {
                    words.push(String::new());
                    is_inside = true;
                }
                match (quote, c) {
                    (None, '"' | '\'') => quote = Some(c),
                    _ => words.last_mut()?.push(c),
                }
            }
        }
    }
    quote.is_none().then_some(words)
}

/// The path that a word of a command means.
fn resolved(word: &str, folder: &str, fs: &dyn FileSystem) -> PathBuf {
    let home = || String::from_utf8(fs.variable("HOME")?).ok();
    let path = match word.strip_prefix("~/").and_then(|rest| Some(Path::new(&home()?).join(rest))) {
        Some(path) => path,
        None => Path::new(folder).join(word),
    };
    fs.real(&compare::normal(&path))
}

/// The programs that only show files, so that they may follow what was asked for.
const VIEWERS: [&str; 7] = ["cat", "head", "tail", "ls", "wc", "stat", "sha256sum"];

/// A command line without the commands after it that only show files.
fn without_views(said: &str) -> &str {
    let is_view = |part: &str| {
        let words = words(part).unwrap_or_default();
        words.first().is_some_and(|program| VIEWERS.contains(&program.as_str()))
    };
    let mut rest = said;
    while let Some((before, _)) = rest.rsplit_once("&&").filter(|(_, last)| is_view(last)) {
        rest = before.trim_end();
    }
    rest
}

/// How a call ran the command that was asked for.
enum Ran {
    Plain,
    /// With commands after it that show files, so that its output ends with theirs.
    Viewed,
    /// With its output sent to the file.
    Redirected,
}

/// The words of a command with its paths resolved; a script alone for it and the program that its ending asks for.
fn program(line: &str, folder: &str, fs: &dyn FileSystem) -> Option<Vec<String>> {
    let mut words = words(line)?;
    let is_interpreter = |first: &str, ending: Option<&str>| {
        matches!((first, ending), ("sh" | "bash", Some("sh")) | ("bash", Some("bash")) | ("python3", Some("py")))
            || (first, ending) == ("node", Some("js"))
    };
    if let [first, script, ..] = words.as_slice()
        && is_interpreter(first, Path::new(script).extension().and_then(|ending| ending.to_str()))
    {
        let script = resolved(script, folder, fs);
        words.remove(0);
        if let Some(first) = words.first_mut() {
            *first = shown(&script);
        }
    }
    let resolve = |(at, word): (usize, String)| {
        let path = resolved(&word, folder, fs);
        let is_path = word.contains('/') || at > 0 && !word.starts_with('-') && fs.metadata(&path).is_ok();
        if is_path { shown(&path) } else { word }
    };
    Some(words.into_iter().enumerate().map(resolve).collect())
}

fn run(command: &str, folder: &str, to: Option<&str>, (found, place): (&Found<'_>, &git::Place), cwd: &str) -> Looked {
    let wanted = command.trim();
    let resolved_command = program(wanted, folder, found.fs);
    let is_it = |said: &str| {
        said == wanted || resolved_command.is_some() && program(said, folder, found.fs) == resolved_command
    };
    let how = |call: &ToolCall| {
        let said = in_folder(&command_of(call)?, folder, found, cwd)?;
        let alone = without_views(&said);
        if is_it(&said) {
            return Some(Ran::Plain);
        }
        if is_it(alone.trim_end_matches("2>&1").trim_end()) {
            return Some(if alone.len() == said.len() { Ran::Plain } else { Ran::Viewed });
        }
        let said = alone;
        let redirections = ["| tee ", "&>", ">"];
        let ends = redirections.iter().flat_map(|mark| said.match_indices(mark));
        let (at, mark) = ends.filter(|(at, _)| said.get(..*at).is_some_and(|said| is_it(said.trim()))).min()?;
        let target = said.get(at + mark.len()..)?;
        let target = words(target.trim().trim_end_matches("2>&1"))?;
        let [target] = target.as_slice() else { return None };
        (resolved(target, folder, found.fs) == found.fs.real(Path::new(to?))).then_some(Ran::Redirected)
    };
    let runs: Vec<(&ToolCall, Ran)> = found.calls.iter().filter_map(|call| Some((call, how(call)?))).collect();
    let Some((call, how)) = runs.last() else {
        return match found.calls.iter().any(|call| command_of(call).is_some()) {
            true => Looked::not_shown("no call ran exactly this command line"),
            false => Looked::refuted("no call ran anything"),
        };
    };
    let by = vec![call.evidence_id.clone()];
    let calls = runs.iter().map(|(call, _)| call.evidence_id.clone()).collect();
    let answer = || {
        let lines: Vec<&str> = call.output.trim_end().lines().collect();
        let last = lines.get(lines.len().saturating_sub(OUTPUT_LINES)..).unwrap_or_default().join("\n");
        match how {
            _ if last.is_empty() => "exit code 0".to_owned(),
            Ran::Viewed => format!("exit code 0, followed by what other commands show:\n{last}"),
            Ran::Plain | Ran::Redirected => format!("exit code 0\n{last}"),
        }
    };
    let is_mixed = command_of(call).is_some_and(|said| without_views(&said).len() < said.len());
    let looked = match (call.exit_code, to.map(|to| found.fs.real(Path::new(to)))) {
        (Some(0), None) => Looked { answer: Some(answer()), ..Looked::shown(by.clone(), "it ran, exit code 0") },
        (Some(0), Some(to)) => {
            let is_written = match how {
                Ran::Redirected => found.net(&to).is_some_and(|change| change.by.contains(&call.evidence_id)),
                Ran::Plain => found.digest(&to).is_some_and(|digest| outputs(call).contains(&digest)),
                Ran::Viewed => false,
            };
            match is_written {
                true => Looked::shown(by.clone(), format!("it ran, exit code 0; its output is in {}", shown(&to))),
                false if matches!(how, Ran::Viewed) => Looked::not_shown("its output was not recorded alone"),
                false if call.truncated => Looked::not_shown("its whole output was not recorded"),
                false => place.more(format!("{} does not hold its output", shown(&to))),
            }
        }
        (Some(_), _) if is_mixed => Looked::not_shown("it or a command after it failed"),
        (Some(code), _) => Looked::refuted(format!("it ran and ended with exit code {code}")),
        (None, _) => Looked::refuted("it did not end by itself"),
    };
    Looked { by, calls, ..looked }
}

/// Digests of a call's recorded output, with and without the newline at its end.
fn outputs(call: &ToolCall) -> Vec<String> {
    let kept = call.kept.iter().filter(|kept| kept.left_out == 0 && kept.stream != "stderr");
    let mut digests: Vec<String> = kept.map(|kept| kept.sha256.clone()).collect();
    if !call.truncated {
        let bare = call.output.trim_end_matches('\n');
        let texts = [call.output.clone(), bare.to_owned(), format!("{bare}\n")];
        digests.extend(texts.iter().map(|text| digest::of_bytes(text.as_bytes())));
    }
    digests
}

fn fetch(url: &str, to: Option<&str>, found: &Found<'_>) -> Looked {
    let is_it = |call: &&ToolCall| {
        let is_page = matches!(call.tool.as_str(), "search" | "web_fetch" | "fetch");
        let by_page = is_page && call.input.get("url").and_then(|said| said.as_str()) == Some(url);
        (by_page || is_fetch(call, url)) && call.status == CallStatus::Ok
    };
    let Some(call) = found.calls.iter().rfind(is_it) else {
        // Any program may fetch an address that it is given, but it is not known to have done so.
        let names_it = |call: &ToolCall| command_of(call).is_some_and(|command| command.contains(url));
        let is_made = to.is_none_or(|to| found.fs.metadata(&found.fs.real(Path::new(to))).is_ok());
        return match is_made && found.calls.iter().any(names_it) {
            true => Looked::not_shown("no call is known to have fetched exactly this address"),
            false => Looked::refuted("no call fetched exactly this address"),
        };
    };
    let by = vec![call.evidence_id.clone()];
    let calls = by.iter().cloned().collect();
    let looked = match to.map(|to| found.fs.real(Path::new(to))) {
        None if call.truncated => Looked::shown(by, "it was fetched"),
        None => Looked { answer: Some(call.output.trim_end().to_owned()), ..Looked::shown(by, "it was fetched") },
        Some(to) => match found.net(&to) {
            Some(change) if change.by == by && change.after == found.digest(&to) => {
                Looked::shown(by, format!("it was fetched to {}", shown(&to)))
            }
            Some(_) => Looked::not_shown(format!("{} was not written by the call that fetched it", shown(&to))),
            None => Looked::refuted(format!("{} was not made", shown(&to))),
        },
    };
    Looked { calls, ..looked }
}

/// Whether a call ran `curl` or `wget` for this address and nothing else.
fn is_fetch(call: &ToolCall, url: &str) -> bool {
    let Some(words) = command_of(call).and_then(|command| words(without_views(&command))) else { return false };
    let is_plain = |option: &str| match option.strip_prefix("--") {
        Some(_) => FETCH_OPTIONS.contains(&option.split('=').next().unwrap_or(option)),
        None => option.chars().skip(1).all(|c| "sSLfoOq".contains(c)),
    };
    let program = words.first().is_some_and(|program| program == "curl" || program == "wget");
    let options = words.iter().filter(|word| word.starts_with('-'));
    let addresses: Vec<&String> = words.iter().filter(|word| word.contains("://")).collect();
    program && options.map(String::as_str).all(is_plain) && addresses == [url]
}

fn stop(process: &ProcessName, before: &str, place: &git::Place, found: &Found<'_>) -> Looked {
    let is_it = |call: &&ToolCall| {
        let Some(words) = command_of(call).and_then(|command| words(&command)) else { return false };
        let wanted = match process {
            ProcessName::Pid(pid) => ("kill", pid.to_string()),
            ProcessName::Port(port) => ("fuser", format!("{port}/tcp")),
        };
        let named: Vec<&String> = words.iter().skip(1).filter(|word| !word.starts_with('-')).collect();
        words.first().is_some_and(|program| program == wanted.0) && named == [&wanted.1]
    };
    let calls: Vec<_> = found.calls.iter().filter(is_it).map(|call| call.evidence_id.clone()).collect();
    let looked = match process_state(process, found.fs) {
        now if now == before => Looked::refuted("it is still running"),
        now if !now.is_empty() && matches!(process, ProcessName::Port(_)) => {
            place.more("another process has the port now")
        }
        _ if found.calls.is_empty() => Looked::not_shown("it has ended, and no call did it"),
        _ => Looked::shown(calls.clone(), "it has ended"),
    };
    Looked { calls: calls.into_iter().collect(), ..looked }
}

fn install(program: &str, version: Option<&str>, before: &str, found: &Found<'_>) -> Looked {
    let is_it = |call: &&ToolCall| {
        let Some(words) = command_of(call).and_then(|command| words(&command)) else { return false };
        let named: Vec<&String> = words.iter().filter(|word| !word.starts_with('-')).collect();
        let is_named = named.last().is_some_and(|last| {
            last.strip_prefix(program).is_some_and(|rest| rest.is_empty() || rest.starts_with(['=', '@']))
        });
        let verbs = ["install", "add"];
        words.first().is_some_and(|first| INSTALLERS.contains(&first.as_str()))
            && named.iter().rev().skip(1).any(|word| verbs.contains(&word.as_str()))
            && is_named
    };
    let calls: Vec<_> = found.calls.iter().filter(is_it).map(|call| call.evidence_id.clone()).collect();
    let path = program_path(program, found.fs);
    let says_version = |call: &&ToolCall| {
        let words = command_of(call).and_then(|command| words(&command));
        let asks = words.as_deref().is_some_and(|words| match words {
            [first, option] => {
                (*first == program || *first == path)
                    && matches!(option.as_str(), "--version" | "-V" | "-v" | "version")
            }
            _ => false,
        });
        let is_said = |version: &str| {
            let parts = call.output.split(|c: char| c.is_whitespace() || matches!(c, ',' | '(' | ')'));
            parts.into_iter().any(|part| part == version || part.strip_prefix('v') == Some(version))
        };
        asks && call.exit_code == Some(0) && version.is_some_and(is_said)
    };
    let looked = match (path.is_empty(), version) {
        (true, _) => Looked::refuted(format!("there is no program {program} in PATH")),
        (false, Some(version)) => match found.calls.iter().rfind(says_version) {
            Some(call) => {
                Looked::shown(vec![call.evidence_id.clone()], format!("it says that it is version {version}"))
            }
            None => Looked::not_shown(format!("no recorded output of {program} says version {version}")),
        },
        (false, None) if !before.is_empty() => Looked::shown(Vec::new(), format!("{path} was there already")),
        (false, None) => Looked::shown(calls.clone(), path),
    };
    Looked { calls: calls.into_iter().collect(), installs: true, ..looked }
}
