//! Facts of the machine from a second source: the kernel's own files, the standard library, the calendar.

use std::collections::BTreeSet;
use std::path::Path;

use artoo_proto::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::Offset;

use super::{Answer, EntryKind, EvalError, FileSystem, Line, Space, files, process, text, unreadable};
use crate::algebra::{Depth, Fact};

mod system;

/// A fact's value.
pub(super) fn value(fact: &Fact, fs: &dyn FileSystem) -> Result<Answer, EvalError> {
    let text = |text: String| Ok(Answer::Text(text));
    let room = |path: &str, of: fn(Space) -> u64| {
        fs.space(Path::new(path)).map(|space| Answer::Number(of(space))).map_err(unreadable(Path::new(path)))
    };
    match fact {
        Fact::Date => text(local_date(fs.now(), fs)),
        Fact::Time => text(local_time(fs.now(), fs)),
        Fact::DateTime => text(local_minute(fs.now(), fs)),
        Fact::DiskUsage { path } => disk_usage(Path::new(path), fs).map(Answer::Number),
        Fact::DayOfWeek { date } => {
            let date: Date = date.parse().map_err(|_| EvalError::Meaningless)?;
            text(date.strftime("%A").to_string())
        }
        Fact::DiskFree { path } => room(path, |space| space.available),
        Fact::DiskUsed { path } => room(path, |space| space.used),
        Fact::DiskTotal { path } => room(path, |space| space.total),
        Fact::DiskShare { path } => {
            let room = fs.space(Path::new(path)).map_err(unreadable(Path::new(path)))?;
            let all = u128::from(room.used) + u128::from(room.available);
            let none = EvalError::NoSecondSource { what: "the share of room in use" };
            let share =
                (u128::from(room.used) * 100).checked_next_multiple_of(all.max(1)).filter(|_| all > 0).ok_or(none)?;
            text(format!("{}%", share / all))
        }
        Fact::MemoryTotal => memory("MemTotal:", fs).map(Answer::Number),
        Fact::MemoryFree => memory("MemAvailable:", fs).map(Answer::Number),
        Fact::MemoryUsed => {
            let used = memory("MemTotal:", fs)?.saturating_sub(memory("MemAvailable:", fs)?);
            Ok(Answer::Number(used))
        }
        Fact::Processors => processors(fs).map(Answer::Number),
        Fact::ProcessorModel => text(entry_of("/proc/cpuinfo", "model name", ':', fs)?),
        Fact::Load => {
            let load = text::system_file("/proc/loadavg", fs)?;
            text(load.split(' ').take(3).collect::<Vec<_>>().join(" "))
        }
        Fact::Uptime => text(text::system_file("/proc/uptime", fs)?.split('.').next().unwrap_or_default().to_owned()),
        Fact::User => text(user(fs)?.0),
        Fact::Groups => Ok(lines(groups(fs)?.into_iter())),
        Fact::Shell => text(variable("SHELL", fs).or_else(|_| user(fs).map(|(_, shell)| shell))?),
        Fact::Host => text(line_of("/proc/sys/kernel/hostname", fs)?),
        Fact::Kernel => text(line_of("/proc/sys/kernel/osrelease", fs)?),
        Fact::System => text(entry_of("/etc/os-release", "PRETTY_NAME", '=', fs)?.trim_matches('"').to_owned()),
        Fact::Architecture => text(std::env::consts::ARCH.to_owned()),
        Fact::Home => text(variable("HOME", fs)?),
        Fact::CurrentFolder => text(artoo_proto::escape::path_line(fs.current_folder().as_os_str().as_encoded_bytes())),
        Fact::Variable { name } => text(variable(name, fs)?),
        Fact::Program { name } => text(program(name, fs)?),
        Fact::SearchPath => Ok(lines(variable("PATH", fs)?.split(':'))),
        Fact::Addresses | Fact::Ports | Fact::Gateway | Fact::Routes => {
            Err(EvalError::NoSecondSource { what: "the network" })
        }
        Fact::Variables => Err(EvalError::NoSecondSource { what: "the list of variables" }),
        Fact::Disks => Err(EvalError::NoSecondSource { what: "the list of file systems" }),
        other => system::value(other, fs),
    }
}

fn lines<T: Into<String>>(texts: impl Iterator<Item = T>) -> Answer {
    Answer::Lines(texts.map(|text| Line::plain(text.into().into_bytes())).collect())
}

/// A moment on the local clock.
fn local(at: Timestamp, fs: &dyn FileSystem) -> Option<DateTime> {
    let offset = Offset::from_seconds(fs.utc_offset_s(at)).ok()?;
    jiff::Timestamp::from_millisecond(at.as_millis()).ok().map(|at| offset.to_datetime(at))
}

/// A moment's day on the local calendar, as `2024-05-15`.
pub(super) fn local_date(at: Timestamp, fs: &dyn FileSystem) -> String {
    local(at, fs).map_or_else(String::new, |at| at.strftime("%Y-%m-%d").to_string())
}

/// A moment on the local clock, as `14:00`.
pub(super) fn local_time(at: Timestamp, fs: &dyn FileSystem) -> String {
    local(at, fs).map_or_else(String::new, |at| at.strftime("%H:%M").to_string())
}

/// Both, as `2024-05-15 14:00`.
pub(super) fn local_minute(at: Timestamp, fs: &dyn FileSystem) -> String {
    format!("{} {}", local_date(at, fs), local_time(at, fs))
}

/// What a folder with all below it takes on disk. A file with two names would count twice here, and so not pass.
fn disk_usage(path: &Path, fs: &dyn FileSystem) -> Result<u64, EvalError> {
    let itself = fs.metadata(path).map_err(unreadable(path))?;
    let mut below = Vec::new();
    if itself.kind == EntryKind::Folder {
        files::walk(path, Depth::Whole, true, fs, &mut below)?;
    }
    Ok(below.iter().fold(itself.disk_bytes, |sum, entry| sum.saturating_add(entry.disk_bytes)))
}

/// A line of the kernel's account of memory, in bytes.
fn memory(name: &str, fs: &dyn FileSystem) -> Result<u64, EvalError> {
    let account = text::system_file("/proc/meminfo", fs)?;
    let line = account.lines().find_map(|line| line.strip_prefix(name));
    let kilobytes = line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.map(|kilobytes| kilobytes * 1024).ok_or(EvalError::NoSecondSource { what: "memory" })
}

/// Processors this program may run on.
fn processors(fs: &dyn FileSystem) -> Result<u64, EvalError> {
    let none = EvalError::NoSecondSource { what: "the number of processors" };
    let allowed = entry_of("/proc/self/status", "Cpus_allowed_list", ':', fs)?;
    let size = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        last.trim().parse::<u64>().ok()?.checked_sub(first.trim().parse().ok()?)?.checked_add(1)
    };
    allowed.split(',').map(size).sum::<Option<u64>>().ok_or(none)
}

/// The user this program runs as: name and login shell.
fn user(fs: &dyn FileSystem) -> Result<(String, String), EvalError> {
    let none = EvalError::NoSecondSource { what: "the user's name" };
    let number = entry_of("/proc/self/status", "Uid", ':', fs)?;
    let number = number.split_whitespace().next().unwrap_or_default().to_owned();
    let name = number.parse().ok().and_then(|number: u32| process::users(fs).ok()?.remove(&number)).ok_or(none)?;
    let list = text::system_file("/etc/passwd", fs)?;
    let shell = list.lines().find(|line| line.starts_with(&format!("{name}:")));
    let shell = shell.and_then(|line| line.rsplit(':').next()).unwrap_or_default().to_owned();
    Ok((name, shell))
}

/// Names of the groups this program runs with.
fn groups(fs: &dyn FileSystem) -> Result<BTreeSet<String>, EvalError> {
    let none = || EvalError::NoSecondSource { what: "the names of groups" };
    let mut numbers = entry_of("/proc/self/status", "Groups", ':', fs)?;
    // Real and effective group come first of four.
    let own = entry_of("/proc/self/status", "Gid", ':', fs)?;
    for number in own.split_whitespace().take(2) {
        numbers.push(' ');
        numbers.push_str(number);
    }
    let list = text::system_file("/etc/group", fs)?;
    let name_of = |number: &str| {
        let mut entries = list.lines().filter(|line| line.split(':').nth(2) == Some(number));
        entries.next().and_then(|line| line.split(':').next()).map(str::to_owned).ok_or_else(none)
    };
    numbers.split_whitespace().map(name_of).collect()
}

fn variable(name: &str, fs: &dyn FileSystem) -> Result<String, EvalError> {
    let value = fs.variable(name).ok_or(EvalError::NoSecondSource { what: "a variable of that name" })?;
    Ok(String::from_utf8_lossy(&value).into_owned())
}

/// Where a program of that name lies first on the person's own search path.
fn program(name: &str, fs: &dyn FileSystem) -> Result<String, EvalError> {
    let folders = variable("PATH", fs)?;
    let candidates = folders.split(':').map(|folder| format!("{}/{name}", folder.trim_end_matches('/')));
    let found = candidates.into_iter().find(|path| is_program(Path::new(path), fs));
    found.ok_or(EvalError::NoSecondSource { what: "a program of that name" })
}

fn is_program(path: &Path, fs: &dyn FileSystem) -> bool {
    // A link is followed by opening it: what can be opened is a file.
    fs.metadata(path).is_ok_and(|entry| entry.mode & 0o111 != 0) && fs.open(path).is_ok()
}

fn line_of(path: &str, fs: &dyn FileSystem) -> Result<String, EvalError> {
    Ok(text::system_file(path, fs)?.trim_end().to_owned())
}

/// The value of the first line `name separator value`.
fn entry_of(path: &str, name: &str, separator: char, fs: &dyn FileSystem) -> Result<String, EvalError> {
    let file = text::system_file(path, fs)?;
    let mut entries = file.lines().filter_map(|line| line.split_once(separator));
    let found = entries.find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim().to_owned());
    found.ok_or(EvalError::NoSecondSource { what: "this entry" })
}

pub(super) use system::processor_details;
