//! Compares steps that can't be simulated with the records at the end of the task: commands, downloads, git, processes,
//! installations, machine facts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use artoo_proto::{CallStatus, EvidenceId, ToolCall};

use super::answer;
use super::compare::{self, StepResult};
use super::git;
use super::overlay::{Overlay, PARTIAL, shown};
use super::records::Records;
use crate::algebra::{Act, Fact, GitAction, ProcessName, Query, Step};
use crate::eval::{Answer, EvalError, FileSystem, digest, evaluate, verify};
use crate::suggest::missing;

/// Maximum number of lines of a command's output in an answer.
const OUTPUT_LINES: usize = 20;

/// Options of `curl` and `wget` that don't change what is downloaded.
const FETCH_OPTIONS: [&str; 8] =
    ["--silent", "--show-error", "--fail", "--location", "--output", "--quiet", "--remote-name", "--output-document"];

/// Names of package managers, and `sudo`.
const INSTALLERS: [&str; 19] = [
    "apt", "apt-get", "brew", "cargo", "conda", "dnf", "gem", "go", "npm", "pacman", "pip", "pip3", "pipx", "pnpm",
    "snap", "sudo", "uv", "yarn", "zypper",
];

/// Whether a question is about processes or facts of the machine, which change by themselves.
pub(super) fn is_of_machine(query: &Query) -> bool {
    match query {
        Query::Processes | Query::System { .. } => true,
        Query::Compare { of, with, .. } => is_of_machine(of) || is_of_machine(with),
        other => other.operand().is_some_and(is_of_machine),
    }
}

/// The state that an act changes, as text, to be compared when the task ends; empty if the act has none.
pub(super) fn snapshot(act: &Act, fs: &dyn FileSystem) -> String {
    match act {
        Act::Git { folder, action } => git::snapshot(folder, action, fs),
        Act::Stop { process } => process_state(process, fs),
        Act::Install { program, .. } => program_path(program, fs),
        Act::Keep { paths } => paths.iter().map(|path| facts(Path::new(path), fs)).collect(),
        _ => String::new(),
    }
}

/// One line about the entry at a path: kind, size, modification time and mode, or why it can't be read.
fn facts(path: &Path, fs: &dyn FileSystem) -> String {
    fs.metadata(&fs.real(path)).map_or_else(
        |problem| format!("{problem}\n"),
        |entry| format!("{:?} {} {} {:o}\n", entry.kind, entry.bytes, entry.modified, entry.mode),
    )
}

/// The start time of a process, or the inode of the socket that listens on a port; empty if there is none.
fn process_state(process: &ProcessName, fs: &dyn FileSystem) -> String {
    let file = |path: &str| crate::eval::text::system_file(path, fs).unwrap_or_default();
    match process {
        ProcessName::Pid(pid) => {
            let stat = file(&format!("/proc/{pid}/stat"));
            // The name in parentheses may contain spaces; the state and the start time come after it. State `Z` is a
            // zombie.
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

/// The path of a program in `PATH`; empty if there is none.
fn program_path(program: &str, fs: &dyn FileSystem) -> String {
    match evaluate(&Query::System { fact: Fact::Program { name: program.to_owned() } }, fs) {
        Ok(Answer::Text(path)) => path,
        _ => String::new(),
    }
}

/// Answers a question at the end of the task, from a call's verified output or by evaluating it.
pub(super) fn ask(query: &Query, records: &Records<'_>) -> StepResult {
    let given =
        |text: String, by| StepResult { answer: Some(text), ..StepResult::shown(by, "computed when the task ended") };
    let verified = || {
        let query = serde_json::to_value(query).ok()?;
        let whole = |call: &&ToolCall| call.status == CallStatus::Ok && call.measures && !call.truncated;
        let is_right = |call: &&ToolCall| verify(&query, &call.output, records.fs).pass;
        let call = records.calls.iter().rev().filter(whole).find(is_right)?;
        Some(given(call.output.trim_end().to_owned(), vec![call.evidence_id.clone()]))
    };
    if let Some(result) = is_of_machine(query).then(verified).flatten() {
        return result;
    }
    if let Some(path) = missing(&[Step::Ask(query.clone())], records.fs) {
        return StepResult::not_shown(format!("there is no {path}"));
    }
    let mut disk = Overlay::new(records.fs, BTreeMap::new());
    disk.is_limited = false;
    match evaluate(query, &disk) {
        Ok(_) if disk.is_partial.get() && !is_of_machine(query) => StepResult::not_shown(PARTIAL.to_owned()),
        Ok(found) => given(answer::text(&found), Vec::new()),
        Err(problem @ EvalError::NoSecondSource(_)) => {
            verified().unwrap_or_else(|| StepResult::not_shown(problem.to_string()))
        }
        Err(problem) => StepResult::not_shown(problem.to_string()),
    }
}

/// Compares an act with the recorded calls and the machine at the end of the task; `before` is the act's [`snapshot`].
pub(super) fn act(act: &Act, before: &str, context: &git::GitContext, records: &Records<'_>, cwd: &str) -> StepResult {
    match act {
        Act::Run { command, folder, to } => run(command, folder, to.as_deref(), (records, context), cwd),
        Act::Fetch { url, to } => fetch(url, to.as_deref(), records),
        Act::Git { folder, action: action @ GitAction::Switch { name } } => {
            // Checking out a branch also changes the files of the work tree.
            let spellings = ["checkout", "switch"].map(|verb| format!("git {verb} {name}"));
            let in_folder = |line: String| in_folder(&line, folder, records, cwd).unwrap_or(line);
            let is_it = |call: &ToolCall| command_of(call).is_some_and(|line| spellings.contains(&in_folder(line)));
            let calls = ids(records, is_it).into_iter().collect();
            StepResult { calls, ..git::look(folder, action, before, context, records) }
        }
        Act::Git { folder, action } => git::look(folder, action, before, context, records),
        Act::Stop { process } => stop(process, before, context, records),
        Act::Install { program, version } => install(program, version.as_deref(), before, records),
        Act::Keep { paths } => {
            let paths: Vec<PathBuf> = paths.iter().map(|path| records.fs.real(Path::new(path))).collect();
            let is_below = |path: &Path| paths.iter().any(|kept| path.starts_with(kept));
            if let Some((path, _)) = records.touched.iter().find(|(path, change)| change.is_net() && is_below(path)) {
                return StepResult::refuted(format!("{} was changed", shown(path)));
            }
            match snapshot(act, records.fs) == before {
                true => StepResult::shown(Vec::new(), "unchanged"),
                false => StepResult::refuted("changed since the task began"),
            }
        }
        _ => StepResult::not_shown("this act can't be compared"),
    }
}

/// The command line that a call ran; `None` for other tools and for a denied call.
fn command_of(call: &ToolCall) -> Option<String> {
    let is_shell = matches!(call.tool.as_str(), "shell" | "run_command") && call.status != CallStatus::Denied;
    let input = call.shown_input();
    let command = input.get("command").filter(|_| is_shell)?.as_str()?;
    Some(command.trim().to_owned())
}

/// The words of the one simple command that a call ran; empty if it ran none, or something else.
fn words_of(call: &ToolCall) -> Vec<String> {
    command_of(call).and_then(|command| words(&command)).unwrap_or_default()
}

/// The evidence ids of the calls that pass a test.
fn ids(records: &Records<'_>, test: impl Fn(&ToolCall) -> bool) -> Vec<EvidenceId> {
    records.calls.iter().filter(|call| test(call)).map(|call| call.evidence_id.clone()).collect()
}

/// The words of a command that don't start with a dash, its program included.
fn operands(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).filter(|word| !word.starts_with('-')).collect()
}

/// The command without a leading `cd` to its folder; `None` if it runs in another folder.
fn in_folder(line: &str, folder: &str, records: &Records<'_>, cwd: &str) -> Option<String> {
    let is_it = |path: &Path| records.fs.real(&path.join("-")) == records.fs.real(&Path::new(folder).join("-"));
    let moved = line.strip_prefix("cd ").and_then(|rest| rest.split_once("&&"));
    if let Some((to, rest)) = moved
        && let Some([to]) = words(to).as_deref()
        && is_it(&resolved(to, cwd, records.fs))
    {
        return Some(rest.trim().to_owned());
    }
    is_it(Path::new(cwd)).then(|| line.to_owned())
}

/// The words of a simple command; `None` if the text has shell syntax other than quotes.
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
                if !std::mem::replace(&mut is_inside, true) {
                    words.push(String::new());
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

/// The real path that a word of a command refers to.
fn resolved(word: &str, folder: &str, fs: &dyn FileSystem) -> PathBuf {
    let home = || String::from_utf8(fs.variable("HOME")?).ok();
    let below_home = word.strip_prefix("~/").and_then(|rest| Some(Path::new(&home()?).join(rest)));
    fs.real(&compare::normal(&below_home.unwrap_or_else(|| Path::new(folder).join(word))))
}

/// Programs that only print files; a command that runs one of them may follow the requested command.
const VIEWERS: [&str; 7] = ["cat", "head", "tail", "ls", "wc", "stat", "sha256sum"];

/// The command line without the commands after `&&` that only print files.
fn without_views(line: &str) -> &str {
    let is_view = |part: &str| {
        words(part).is_some_and(|words| matches!(words.first(), Some(first) if VIEWERS.contains(&first.as_str())))
    };
    let mut rest = line;
    while let Some((before, _)) = rest.rsplit_once("&&").filter(|(_, last)| is_view(last)) {
        rest = before.trim_end();
    }
    rest
}

/// How a recorded call ran the requested command: alone, followed by viewers, or with its output redirected.
enum RunForm {
    Plain,
    /// Followed by viewers, whose output comes after that of the command.
    Viewed,
    /// With its output redirected to the requested file.
    Redirected,
}

/// The words of a simple command with its paths resolved, without an interpreter before a script of its extension;
/// `None` for shell syntax.
fn program(line: &str, folder: &str, fs: &dyn FileSystem) -> Option<Vec<String>> {
    let mut words = words(line)?;
    let interpreters = [("sh", "sh"), ("bash", "sh"), ("bash", "bash"), ("python3", "py"), ("node", "js")];
    let is_interpreter =
        |first: &str, ending: Option<&str>| interpreters.contains(&(first, ending.unwrap_or_default()));
    if let [first, script, ..] = words.as_slice()
        && is_interpreter(first, Path::new(script).extension().and_then(|ending| ending.to_str()))
    {
        let script = shown(&resolved(script, folder, fs));
        words.splice(..2, [script]);
    }
    let resolve = |(at, word): (usize, String)| {
        let path = resolved(&word, folder, fs);
        let is_path = word.contains('/') || at > 0 && !word.starts_with('-') && fs.metadata(&path).is_ok();
        if is_path { shown(&path) } else { word }
    };
    Some(words.into_iter().enumerate().map(resolve).collect())
}

/// Compares a command to run with the recorded calls: command line, folder, output file and order.
fn run(
    command: &str,
    folder: &str,
    to: Option<&str>,
    (records, context): (&Records<'_>, &git::GitContext),
    cwd: &str,
) -> StepResult {
    let wanted = command.trim();
    let spelling = program(wanted, folder, records.fs);
    let is_it = |line: &str| line == wanted || spelling.is_some() && program(line, folder, records.fs) == spelling;
    let how = |call: &ToolCall| {
        let line = in_folder(&command_of(call)?, folder, records, cwd)?;
        let alone = without_views(&line);
        if is_it(&line) || is_it(alone.trim_end_matches("2>&1").trim_end()) {
            return Some(if is_it(&line) || alone.len() == line.len() { RunForm::Plain } else { RunForm::Viewed });
        }
        let ends = ["| tee ", "&>", ">"].iter().flat_map(|mark| alone.match_indices(mark));
        let (at, mark) = ends.filter(|(at, _)| alone.get(..*at).is_some_and(|line| is_it(line.trim()))).min()?;
        let target = words(alone.get(at + mark.len()..)?.trim().trim_end_matches("2>&1"))?;
        let [target] = target.as_slice() else { return None };
        (resolved(target, folder, records.fs) == records.fs.real(Path::new(to?))).then_some(RunForm::Redirected)
    };
    let runs: Vec<(&ToolCall, RunForm)> = records.calls.iter().filter_map(|call| Some((call, how(call)?))).collect();
    let Some((call, how)) = runs.last() else {
        return match records.calls.iter().any(|call| command_of(call).is_some()) {
            true => StepResult::not_shown("no call ran exactly this command line"),
            false => StepResult::refuted("no call ran anything"),
        };
    };
    let by = vec![call.evidence_id.clone()];
    let calls = runs.iter().map(|(call, _)| call.evidence_id.clone()).collect();
    let answer = || {
        let lines: Vec<&str> = call.output.trim_end().lines().collect();
        let last = lines.get(lines.len().saturating_sub(OUTPUT_LINES)..).unwrap_or_default().join("\n");
        match how {
            _ if last.is_empty() => "exit code 0".to_owned(),
            RunForm::Viewed => format!("exit code 0, followed by what other commands show:\n{last}"),
            RunForm::Plain | RunForm::Redirected => format!("exit code 0\n{last}"),
        }
    };
    let is_mixed = command_of(call).is_some_and(|line| without_views(&line).len() < line.len());
    let result = match (call.exit_code, to.map(|to| records.fs.real(Path::new(to)))) {
        (Some(0), None) => {
            StepResult { answer: Some(answer()), ..StepResult::shown(by.clone(), "it ran, exit code 0") }
        }
        (Some(0), Some(to)) => {
            let is_written = match how {
                RunForm::Redirected => records.net(&to).is_some_and(|change| change.by.contains(&call.evidence_id)),
                RunForm::Plain => records.digest(&to).is_some_and(|digest| outputs(call).contains(&digest)),
                RunForm::Viewed => false,
            };
            match is_written {
                true => StepResult::shown(by.clone(), format!("it ran, exit code 0; its output is in {}", shown(&to))),
                false if matches!(how, RunForm::Viewed) => StepResult::not_shown("its output was not recorded alone"),
                false if call.truncated => StepResult::not_shown("its whole output was not recorded"),
                false => context.unexpected(format!("{} does not hold its output", shown(&to))),
            }
        }
        (Some(_), _) if is_mixed => StepResult::not_shown("it or a command after it failed"),
        (Some(code), _) => StepResult::refuted(format!("it ran and ended with exit code {code}")),
        (None, _) => StepResult::refuted("it did not end by itself"),
    };
    StepResult { by, calls, ..result }
}

/// The SHA-256 digests of a call's output: of each whole recorded stream except stderr, and of the shown text with and
/// without its final newline.
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

/// Compares a download with the recorded calls: the URL, and the file if one was asked for.
fn fetch(url: &str, to: Option<&str>, records: &Records<'_>) -> StepResult {
    let is_it = |call: &&ToolCall| {
        let is_page = matches!(call.tool.as_str(), "search" | "web_fetch" | "fetch");
        let by_page = is_page && call.input.get("url").and_then(serde_json::Value::as_str) == Some(url);
        (by_page || is_fetch(call, url)) && call.status == CallStatus::Ok
    };
    let Some(call) = records.calls.iter().rfind(is_it) else {
        // A program that gets the URL as an argument may have downloaded it, but no record shows that.
        let is_named = records.calls.iter().any(|call| command_of(call).is_some_and(|command| command.contains(url)));
        let is_made = to.is_none_or(|to| records.fs.metadata(&records.fs.real(Path::new(to))).is_ok());
        return match is_made && is_named {
            true => StepResult::not_shown("no call is known to have fetched exactly this address"),
            false => StepResult::refuted("no call fetched exactly this address"),
        };
    };
    let by = vec![call.evidence_id.clone()];
    let calls = by.iter().cloned().collect();
    let result = match to.map(|to| records.fs.real(Path::new(to))) {
        None if call.truncated => StepResult::shown(by, "it was fetched"),
        None => {
            StepResult { answer: Some(call.output.trim_end().to_owned()), ..StepResult::shown(by, "it was fetched") }
        }
        Some(to) => match records.net(&to) {
            Some(change) if change.by == by && change.after == records.digest(&to) => {
                StepResult::shown(by, format!("it was fetched to {}", shown(&to)))
            }
            Some(_) => StepResult::not_shown(format!("{} was not written by the call that fetched it", shown(&to))),
            None => StepResult::refuted(format!("{} was not made", shown(&to))),
        },
    };
    StepResult { calls, ..result }
}

/// Whether a call ran `curl` or `wget` with this URL alone and no other than the allowed options.
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

/// Compares a process to end with its state before the task, and names the call that ended it.
fn stop(process: &ProcessName, before: &str, context: &git::GitContext, records: &Records<'_>) -> StepResult {
    let wanted = match process {
        ProcessName::Pid(pid) => ["kill".to_owned(), pid.to_string()],
        ProcessName::Port(port) => ["fuser".to_owned(), format!("{port}/tcp")],
    };
    let calls = ids(records, |call| operands(&words_of(call)) == wanted);
    let result = match process_state(process, records.fs) {
        now if now == before => StepResult::refuted("it is still running"),
        now if !now.is_empty() && matches!(process, ProcessName::Port(_)) => {
            context.unexpected("another process has the port now")
        }
        _ if records.calls.is_empty() => StepResult::not_shown("it has ended, and no call did it"),
        _ => StepResult::shown(calls.clone(), "it has ended"),
    };
    StepResult { calls: calls.into_iter().collect(), ..result }
}

/// Checks that a program to install is in `PATH`, and that a call printed its version if one was asked for.
fn install(program: &str, version: Option<&str>, before: &str, records: &Records<'_>) -> StepResult {
    let is_program = |word: &str| {
        word.strip_prefix(program).is_some_and(|version| version.is_empty() || version.starts_with(['=', '@']))
    };
    let calls = ids(records, |call| {
        let words = words_of(call);
        words.first().is_some_and(|first| INSTALLERS.contains(&first.as_str()))
            && matches!(operands(&words).as_slice(), [before @ .., last] if is_program(last)
                && before.iter().any(|word| matches!(*word, "install" | "add")))
    });
    let path = program_path(program, records.fs);
    let prints = |call: &&ToolCall, version: &str| {
        let asks = matches!(words_of(call).as_slice(), [first, option] if (*first == program || *first == path)
            && matches!(option.as_str(), "--version" | "-V" | "-v" | "version"));
        let mut parts = call.output.split(|c: char| c.is_whitespace() || matches!(c, ',' | '(' | ')'));
        let is_version = |part: &str| part == version || part.strip_prefix('v') == Some(version);
        asks && call.exit_code == Some(0) && parts.any(is_version)
    };
    let result = match version {
        _ if path.is_empty() => StepResult::refuted(format!("there is no program {program} in PATH")),
        Some(version) => match records.calls.iter().rfind(|call| prints(call, version)) {
            Some(call) => {
                StepResult::shown(vec![call.evidence_id.clone()], format!("it says that it is version {version}"))
            }
            None => StepResult::not_shown(format!("no recorded output of {program} says version {version}")),
        },
        None if !before.is_empty() => StepResult::shown(Vec::new(), format!("{path} was there already")),
        None => StepResult::shown(calls.clone(), path),
    };
    StepResult { calls: calls.into_iter().collect(), installs: true, ..result }
}
