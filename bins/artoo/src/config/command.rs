//! Reads a key from a command such as a password manager, with limits on time and output.

use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::KEY_FILE_MAX_BYTES;
use crate::failure::CommandProblem;
use crate::terminal;

/// Time limit of a command that prints a model's key; long enough for a password manager to ask its user for a
/// password.
const WITHIN: Duration = Duration::from_secs(60);

/// Runs `command` in a shell; returns its first output line, a model's key. Its standard error is shown on a terminal
/// only, else dropped.
pub(crate) fn key_from(command: &str) -> Result<String, CommandProblem> {
    let mut child = Command::new("sh")
        .args(["-c", command])
        .stdin(Stdio::inherit())
        .stdout(Stdio::piped())
        .stderr(if terminal::is_there() { Stdio::inherit() } else { Stdio::null() })
        .spawn()
        .map_err(CommandProblem::NotRun)?;
    let output = child.stdout.take();
    let (sender, written) = mpsc::channel();
    // Reads until the command closes its output. If that never happens, this thread is abandoned after the kill.
    thread::spawn(move || {
        let mut text = String::new();
        let read = output.map(|output| output.take(KEY_FILE_MAX_BYTES).read_to_string(&mut text));
        drop(sender.send(read.and_then(Result::ok).map(|_| text)));
    });
    let Ok(text) = written.recv_timeout(WITHIN) else {
        drop(child.kill());
        drop(child.wait());
        return Err(CommandProblem::TooSlow(WITHIN));
    };
    let status = child.wait().map_err(CommandProblem::NotRun)?;
    if !status.success() {
        return Err(CommandProblem::Failed(status.code().unwrap_or(-1)));
    }
    let text = text.unwrap_or_default();
    let key = text.lines().next().unwrap_or_default().trim();
    if key.is_empty() { Err(CommandProblem::Nothing) } else { Ok(key.to_owned()) }
}

/// Tests of reading a key from a command's output.
#[cfg(test)]
mod tests {
    use super::key_from;

    /// A key is the first line that a command prints; a command that fails or prints nothing is an error.
    #[test]
    fn only_first_line_of_command_is_key() {
        let check = |command: &str, expected: Result<&str, &str>| {
            let key = key_from(command).map_err(|problem| problem.to_string());
            assert_eq!(key.as_deref().map_err(String::as_str), expected, "{command}");
        };
        check("echo ' sk-1 '; echo more", Ok("sk-1"));
        check("echo sk-canary; exit 3", Err("failed with status 3"));
        check("true", Err("gave no text"));
        check("printf '\\377'", Err("gave no text"));
    }
}
