//! Writes that programs attempt but don't need: their output does not depend on them. A program gains nothing by
//! pretending to be one of these: its write fails, and it is told so.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::caller::Caller;

/// Commands of git that update the index if they can, and print the same if they can't.
const REFRESHING: [&[u8]; 3] = [b"status", b"diff", b"describe"];

/// Options of git that stand before its command and take a separate value.
const WITH_VALUE: [&[u8]; 6] = [b"-C", b"-c", b"--git-dir", b"--work-tree", b"--namespace", b"--config-env"];

/// Whether a denied write is one that its program does not need, such as Python's compiled modules; its denial is
/// ignored.
pub(super) fn is_write(caller: &Caller, path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    let folder = path.parent().and_then(Path::file_name).unwrap_or_default();
    if name == "index.lock" {
        let (program, arguments) = caller.command();
        return program == "git" && git_command(&arguments).is_some_and(|command| REFRESHING.contains(&command));
    }
    // Compiled modules of Python.
    if name == "__pycache__" || (folder == "__pycache__" && contains(name, b".pyc.")) {
        return caller.command().0.as_bytes().starts_with(b"python");
    }
    // An empty folder for settings.
    if name == "procps" || name == ".config" {
        return caller.command().0 == "top";
    }
    // A thread's name.
    name == "comm" && path.starts_with("/proc")
}

/// Whether a file name contains these bytes.
fn contains(name: &OsStr, part: &[u8]) -> bool {
    name.as_bytes().windows(part.len()).any(|window| window == part)
}

/// The git command in these arguments, after git's own options.
fn git_command(arguments: &[Vec<u8>]) -> Option<&[u8]> {
    let mut arguments = arguments.iter();
    loop {
        let argument = arguments.next()?.as_slice();
        if WITH_VALUE.contains(&argument) {
            arguments.next()?;
        } else if !argument.starts_with(b"-") {
            return Some(argument);
        }
    }
}

/// Tests of which denied writes count as ones that a program can do without.
#[cfg(test)]
mod tests {
    use super::git_command;

    /// The name of a git command is found behind git's own options.
    #[test]
    fn git_command_follows_its_options() {
        for (line, command) in [
            ("status --short", Some("status")),
            ("-C add --no-pager diff", Some("diff")),
            ("-c x=status add status", Some("add")),
            ("--git-dir=x describe", Some("describe")),
            ("--git-dir status", None),
            ("", None),
        ] {
            let arguments: Vec<Vec<u8>> = line.split(' ').map(|word| word.as_bytes().to_vec()).collect();
            let expected = command.map(str::as_bytes);
            assert_eq!(git_command(&arguments).filter(|found| !found.is_empty()), expected, "{line}");
        }
    }
}
