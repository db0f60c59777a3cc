//! Checks of a subtask's output and of files, by code.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

use artoo_proto::{Check, CheckOutcome, Environment, escape};

use crate::glob::Needle;
use crate::limit::Limit;
use crate::open::{self, OpenProblem};
use crate::protect::Protected;
use crate::{paths, read_file};

mod count;

/// Time limit of a check that reads or counts files.
pub const CHECK_TIMEOUT: Duration = Duration::from_secs(30);

/// Largest file that a check reads, in bytes.
pub const CHECK_MAX_BYTES: u64 = 256 * 1024 * 1024;

/// Characters of an output quoted in the evidence of a check.
const SHOWN_MAX_CHARS: usize = 80;

/// What a check looks at: the subtask's output, its exit code, and the environment.
#[derive(Debug, Clone, Copy)]
pub struct CheckInput<'a> {
    /// The subtask's output.
    pub output: &'a str,
    /// Exit code of its last call, if that was a program.
    pub exit_code: Option<i32>,
    /// The machine.
    pub environment: &'a Environment,
}

/// Runs a check; `None` for [`Check::Recompute`] and [`Check::Performed`], which the caller decides.
///
/// Reads the disk, so an async caller runs it on a blocking thread. It does not check whether the subtask itself changed
/// a file.
#[must_use]
pub fn run(check: &Check, input: &CheckInput<'_>) -> Option<CheckOutcome> {
    let environment = input.environment;
    Some(match check {
        Check::OutputNotEmpty {} => {
            let chars = input.output.trim().chars().count();
            CheckOutcome::new(chars > 0, format!("the output has {chars} characters"))
        }
        Check::OutputIsNumber {} => {
            let is_number = number(input.output).is_some();
            CheckOutcome::new(is_number, format!("the output is {:?}", shown(input.output)))
        }
        Check::ExitCode { code } => match input.exit_code {
            Some(found) => CheckOutcome::new(found == *code, format!("the last call exited with {found}")),
            None => CheckOutcome::fail("the last call has no exit code"),
        },
        Check::FileExists { path } => {
            file(environment, path, |_, size, _| Ok(CheckOutcome::pass(format!("it is a file of {size} bytes"))))
        }
        Check::FileContains { path, text } => file(environment, path, |mut file, _, limit| {
            Ok(match Needle::new(text, false).is_in_file(&mut file, limit)? {
                Some(true) => CheckOutcome::pass("the text is in it"),
                Some(false) => CheckOutcome::fail("the text is not in it"),
                None => CheckOutcome::hindered("there was no time to read all of it"),
            })
        }),
        Check::FileEquals { path, text } => file(environment, path, |file, size, _| equals(file, size, text)),
        Check::LineCount { path } => file(environment, path, |file, _, limit| {
            Ok(match read_file::count(file, limit)? {
                Some(lines) => same_number(input.output, lines, &format!("it has {lines} lines")),
                None => CheckOutcome::hindered("there was no time to count all lines"),
            })
        }),
        Check::FileCount { path, pattern, recursive } => count::files(input, path, pattern, *recursive),
        Check::Recompute { .. } | Check::Performed { .. } => return None,
    })
}

/// Opens a file for a check, calls `look` on it, and names the file in the evidence; a file that can't be opened fails
/// the check.
fn file(
    environment: &Environment,
    path: &str,
    look: impl FnOnce(File, u64, &Limit) -> io::Result<CheckOutcome>,
) -> CheckOutcome {
    let path = match paths::absolute(environment, path) {
        Ok(path) => path,
        Err(problem) => return CheckOutcome::fail(problem),
    };
    let verdict = match opened(environment, &path) {
        Ok((file, size)) => look(file, size, &Limit::after(CHECK_TIMEOUT))
            .unwrap_or_else(|error| CheckOutcome::hindered(error.to_string())),
        Err(verdict) => verdict,
    };
    CheckOutcome { evidence: format!("{}: {}", paths::line(&path), escape::one_line(&verdict.evidence)), ..verdict }
}

/// Opens a regular file for a check, and returns it with its size in bytes; `Err` is the outcome of a check whose file
/// is protected, missing, not regular, too large or unreadable.
fn opened(environment: &Environment, path: &Path) -> Result<(File, u64), CheckOutcome> {
    if Protected::new(environment, &[]).refusal(path).is_some() {
        return Err(CheckOutcome::fail("it is protected and not read"));
    }
    let file = open::regular(path).map_err(|problem| match &problem {
        // A missing file fails the check; other errors are caused by the environment.
        OpenProblem::Io(error) if error.kind() == io::ErrorKind::NotFound => CheckOutcome::fail("there is no file"),
        OpenProblem::NotRegular { .. } => CheckOutcome::fail(problem.to_string()),
        OpenProblem::Io(_) => CheckOutcome::hindered(problem.to_string()),
    })?;
    let size = file.metadata().map_err(|error| CheckOutcome::hindered(error.to_string()))?.len();
    if size > CHECK_MAX_BYTES {
        return Err(CheckOutcome::hindered(format!("it has {size} bytes, too many to check")));
    }
    Ok((file, size))
}

/// Whether a file's content equals a text, as the outcome of a check.
fn equals(mut file: File, size: u64, text: &str) -> io::Result<CheckOutcome> {
    let wanted = u64::try_from(text.len()).unwrap_or(u64::MAX);
    if size != wanted {
        return Ok(CheckOutcome::fail(format!("it has {size} bytes, the text {wanted}")));
    }
    let mut held = Vec::new();
    // One byte more than expected, to detect a file that has just grown.
    (&mut file).take(wanted.saturating_add(1)).read_to_end(&mut held)?;
    let first_difference = held.iter().zip(text.as_bytes()).position(|(held, wanted)| held != wanted);
    Ok(match first_difference {
        None if held.len() == text.len() => CheckOutcome::pass(format!("it is exactly the text, {size} bytes")),
        None => CheckOutcome::fail("it changed while it was read"),
        Some(at) => CheckOutcome::fail(format!("it differs from the text at byte {at}")),
    })
}

/// Whether the output is exactly the expected number, as the outcome of a check with the evidence `seen`.
fn same_number(output: &str, expected: u64, seen: &str) -> CheckOutcome {
    match output.trim().parse::<u64>() {
        Ok(found) => CheckOutcome::new(found == expected, format!("{seen}; the output says {found}")),
        Err(_) => CheckOutcome::fail(format!("{seen}; the output is not a number: {:?}", shown(output))),
    }
}

/// The finite number that a task's output is; `None` if the output has anything else.
fn number(output: &str) -> Option<f64> {
    let text = output.trim();
    let is_plain = text.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | 'e' | 'E'));
    if !is_plain {
        return None;
    }
    text.parse::<f64>().ok().filter(|number| number.is_finite())
}

/// The beginning of a checked output on one line, quoted in the evidence.
fn shown(output: &str) -> String {
    escape::one_line(&escape::shorten(output.trim(), SHOWN_MAX_CHARS))
}

#[cfg(test)]
mod tests;
