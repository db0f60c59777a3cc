//! Patterns that the tables of `risk` use for the arguments of a program.
//!
//! A row matches if any of its patterns matches, or it has none, and none of those after `!` does:
//! - `-x`, `--name`: an option, also inside a cluster or with a value;
//! - `word`: the first operand; `=word`: any argument; `*text`: part of any argument; `name=`: the begin of any argument;
//! - `+`: there is an operand; `~`: no operand is the name of an ordinary file;
//! - `@`: a device is named; `@$`: the last argument is a device; `name=@`: the value of this argument is one;
//! - `^`: it goes through the root folder or a folder of the system, with all that is below.

use std::path::Path;

use crate::command_line::Simple;
use crate::paths;

/// Prefixes of names in `/dev` that programs use without changing the machine, such as `null`.
const HARMLESS_DEVICES: [&str; 17] = [
    "null", "zero", "full", "random", "urandom", "tty", "pts/", "ptmx", "fd", "std", "shm", "mqueue", "tcp/", "udp/",
    "snd/", "video", "log",
];

/// Files and folders of the kernel that change the machine when they are written to.
const KERNEL_FILES: [&str; 4] = ["/proc/sysrq-trigger", "/proc/sys", "/proc/kcore", "/sys"];

/// Names of folders directly below `/` that must not be changed as a whole.
const SYSTEM_FOLDERS: &str = "Applications Library System Users bin boot dev etc home lib lib32 lib64 proc root run \
    sbin srv sys usr var";

/// Options of programs in the tables that take a separate value, so that the value is not an operand.
const VALUED: [&str; 9] = ["-C", "-H", "-c", "-n", "--context", "--git-dir", "--namespace", "--prefix", "--work-tree"];

/// Whether a command runs one of these programs, names between spaces of which a final `*` means any end, with
/// arguments that match the patterns.
pub(super) fn matches(simple: &Simple, programs: &str, patterns: &str) -> bool {
    let Some((program, arguments)) = simple.words.split_first() else { return false };
    let is_program = |name: &str| match name.strip_suffix('*') {
        Some(begin) => program.starts_with(begin),
        None => program == name,
    };
    if !programs.split_ascii_whitespace().any(is_program) {
        return false;
    }
    let (not, any): (Vec<&str>, Vec<&str>) = patterns.split_ascii_whitespace().partition(|text| text.starts_with('!'));
    let matches = |pattern: &str| matches_pattern(arguments, pattern);
    (any.is_empty() || any.into_iter().any(matches))
        && !not.iter().any(|pattern| matches(pattern.trim_start_matches('!')))
}

/// Whether a command's arguments fit one pattern of the risk tables.
fn matches_pattern(arguments: &[String], pattern: &str) -> bool {
    let any = |is_fit: &dyn Fn(&str) -> bool| arguments.iter().any(|word| is_fit(word));
    match pattern {
        "+" => operands(arguments).next().is_some(),
        "~" => !operands(arguments).any(|word| word.contains(['.', '/']) && !is_device(word)),
        "@" => any(&is_device),
        "@$" => arguments.last().is_some_and(|word| is_device(word)),
        "^" => {
            any(&|word| is_option(word, "-r") || is_option(word, "-R") || is_option(word, "--recursive"))
                && any(&is_system_folder)
        }
        _ => match pattern.split_at(1) {
            ("=", word) => any(&|argument| argument == word),
            ("*", text) => any(&|argument| argument.contains(text)),
            ("-", _) => any(&|argument| is_option(argument, pattern)),
            _ => match pattern.strip_suffix('@') {
                Some(name) => any(&|word| word.strip_prefix(name).is_some_and(is_device)),
                None if pattern.ends_with('=') => any(&|word| word.starts_with(pattern)),
                None => operands(arguments).next() == Some(pattern),
            },
        },
    }
}

/// The arguments of a command that are neither options nor values of options.
pub(super) fn operands(arguments: &[String]) -> impl Iterator<Item = &str> {
    let mut previous = "";
    arguments.iter().map(String::as_str).filter(move |word| {
        let before = std::mem::replace(&mut previous, word);
        !word.starts_with('-') && !VALUED.contains(&before)
    })
}

/// Whether a word gives this option: exactly, with a value, or as a letter of a cluster.
fn is_option(word: &str, option: &str) -> bool {
    let letter = option.strip_prefix('-').filter(|letter| letter.len() == 1);
    let flags = word.strip_prefix('-').filter(|flags| flags.len() <= 5);
    let is_in_cluster = |letter: &str| flags.is_some_and(|flags| flags.contains(letter) && is_alphabetic(flags));
    match letter {
        Some(letter) => word.starts_with(option) || is_in_cluster(letter),
        None => word == option || option.starts_with("--") && word.starts_with(option),
    }
}

/// Whether a text has ASCII letters only.
fn is_alphabetic(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphabetic())
}

/// Whether a path is absolute and that of a device which is not harmless, or of a kernel file that changes the machine.
pub(super) fn is_device(path: &str) -> bool {
    if !path.starts_with('/') {
        return false;
    }
    let path = paths::normalise(Path::new(path));
    let device = path.strip_prefix("/dev").ok().and_then(Path::to_str).filter(|device| !device.is_empty());
    device.is_some_and(|device| !HARMLESS_DEVICES.iter().any(|harmless| device.starts_with(harmless)))
        || KERNEL_FILES.iter().any(|file| path.starts_with(file))
}

/// Whether a path is the root folder or a folder of the system, or all entries of one.
fn is_system_folder(path: &str) -> bool {
    let folder = path.trim_end_matches(['*', '.', '?']);
    let is_within = folder.ends_with('/') || folder == path;
    let folder = if folder == path || path.ends_with("..") { path } else { folder };
    let folder = paths::normalise(Path::new(folder));
    let is_known = match folder.strip_prefix("/").map(Path::to_str) {
        Ok(Some(name)) => name.is_empty() || SYSTEM_FOLDERS.split(' ').any(|folder| folder == name),
        _ => false,
    };
    path.starts_with('/') && is_within && is_known
}
