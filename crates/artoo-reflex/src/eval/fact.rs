//! Evaluates facts of the machine without running the fact's command: from kernel files, the standard library, the
//! calendar.

use std::path::Path;

use artoo_proto::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::Offset;

use super::{Answer, EntryKind, EvalError, FileSystem, Line, Space, files, text, unreadable};
use crate::algebra::{Depth, Fact, Source};

mod accounts;
mod network;

const SECOND_MS: i64 = 1_000;

const DAY_MS: i64 = 86_400 * SECOND_MS;

/// The value of a fact of the machine, read without running the fact's command.
pub(super) fn value(fact: &Fact, fs: &dyn FileSystem) -> Result<Answer, EvalError> {
    Ok(match fact.row().source {
        Source::Clock(format) => Answer::Text(clock(format, fs.now(), fs)),
        Source::Entry(path, key, separator) => {
            Answer::Text(entry_of(path, key, separator, fs)?.trim_matches('"').to_owned())
        }
        Source::File(path) => Answer::Text(content_of(path, fs)?),
        Source::FirstFields(path, separator) => {
            let list = text::system_file(path, fs)?;
            lines(list.lines().filter_map(|line| line.split_once(separator)).map(|(first, _)| first))
        }
        Source::Memory(key) => Answer::Number(memory(key, fs)?),
        Source::MemoryBetween(all, rest) => Answer::Number(memory(all, fs)?.saturating_sub(memory(rest, fs)?)),
        Source::Limit(name) => Answer::Text(after("/proc/self/limits", name, fs)?),
        Source::OwnId(name) => Answer::Number(accounts::own_id(name, fs)?),
        Source::Missing(what) => return Err(EvalError::NoSecondSource(what)),
        Source::Computed => return computed(fact, fs),
    })
}

/// The value of a fact whose row says [`Source::Computed`], as no file has it in one line.
fn computed(fact: &Fact, fs: &dyn FileSystem) -> Result<Answer, EvalError> {
    let text = |text: String| Ok(Answer::Text(text));
    let space = |path: &str| fs.space(Path::new(path)).map_err(unreadable(Path::new(path)));
    match fact {
        Fact::DayOfWeek { date } => {
            let date: Date = date.parse().map_err(|_| EvalError::Meaningless)?;
            text(date.strftime("%A").to_string())
        }
        Fact::DateInDays { days } => {
            let at = fs.now().plus_millis(i64::from(*days).saturating_mul(DAY_MS));
            text(clock("%Y-%m-%d", at, fs))
        }
        Fact::UnixTime => match u64::try_from(fs.now().as_millis() / SECOND_MS) {
            Ok(seconds) => Ok(Answer::Number(seconds)),
            Err(_) => Err(EvalError::NoSecondSource("a time before 1970")),
        },
        Fact::TimeZone => text(offset(fs.utc_offset_s(fs.now()))),
        Fact::BootTime => text(boot_time(fs)?),
        Fact::DiskUsage { path } => disk_usage(Path::new(path), fs).map(Answer::Number),
        Fact::DiskFree { path } => Ok(Answer::Number(space(path)?.available)),
        Fact::DiskUsed { path } => Ok(Answer::Number(space(path)?.used)),
        Fact::DiskTotal { path } => Ok(Answer::Number(space(path)?.total)),
        Fact::DiskShare { path } => text(used_share(&space(path)?)?),
        Fact::Processors => processors(fs).map(Answer::Number),
        Fact::WordSize => Ok(Answer::Number(u64::from(usize::BITS))),
        Fact::Architecture => text(std::env::consts::ARCH.to_owned()),
        Fact::SystemDetails => text(system_details(fs)?),
        Fact::KernelParameter { name } => {
            text(content_of(&format!("/proc/sys/{}", name.replace('.', "/")), fs)?.replace(['\t', '\n'], " "))
        }
        Fact::Load => text(text::system_file("/proc/loadavg", fs)?.split(' ').take(3).collect::<Vec<_>>().join(" ")),
        Fact::Uptime => text(text::system_file("/proc/uptime", fs)?.split('.').next().unwrap_or_default().to_owned()),
        Fact::CurrentFolder => text(artoo_proto::escape::path_line(fs.current_folder().as_os_str().as_encoded_bytes())),
        Fact::Home => text(variable("HOME", fs)?),
        Fact::Variable { name } => text(variable(name, fs)?),
        Fact::SearchPath => Ok(lines(variable("PATH", fs)?.split(':'))),
        Fact::Program { name } => text(program(name, fs)?),
        Fact::Locale => {
            let all = variable("LC_ALL", fs).ok().filter(|value| !value.is_empty());
            text(all.map_or_else(|| variable("LANG", fs), Ok)?)
        }
        Fact::Shells => Ok(lines(text::system_file("/etc/shells", fs)?.lines().filter(|line| line.starts_with('/')))),
        Fact::NameServers => {
            let list = text::system_file("/etc/resolv.conf", fs)?;
            let servers = list.lines().map(str::split_whitespace).filter_map(|mut words| {
                words.next().filter(|word| *word == "nameserver")?;
                words.next()
            });
            Ok(lines(servers))
        }
        Fact::Interfaces => {
            let table = text::system_file("/proc/net/dev", fs)?;
            Ok(lines(table.lines().filter_map(|line| line.split_once(':')).map(|(name, _)| name.trim())))
        }
        Fact::Addresses => Ok(lines(network::addresses(fs)?.into_iter())),
        Fact::Ports => Ok(lines(network::ports(fs)?.iter().map(u16::to_string))),
        Fact::Gateway => text(network::gateway(fs)?),
        Fact::Routes => Ok(lines(network::routes(fs)?.into_iter().map(|route| route.shown()))),
        of_accounts => accounts::value(of_accounts, fs),
    }
}

/// An answer that consists of these lines of text.
fn lines<T: Into<String>>(texts: impl Iterator<Item = T>) -> Answer {
    Answer::Lines(texts.map(|text| Line::plain(text.into().into_bytes())).collect())
}

/// A timestamp as local date and time; `None` outside the calendar.
fn local(at: Timestamp, fs: &dyn FileSystem) -> Option<DateTime> {
    let offset = Offset::from_seconds(fs.utc_offset_s(at)).ok()?;
    jiff::Timestamp::from_millisecond(at.as_millis()).ok().map(|at| offset.to_datetime(at))
}

/// A timestamp as local time in a `strftime` format; empty if outside the calendar.
pub(super) fn clock(format: &str, at: Timestamp, fs: &dyn FileSystem) -> String {
    local(at, fs).map_or_else(String::new, |at| at.strftime(format).to_string())
}

/// An offset from UTC in seconds, as text such as `+0530`.
fn offset(seconds: i32) -> String {
    let (sign, minutes) = (if seconds < 0 { '-' } else { '+' }, seconds.unsigned_abs() / 60);
    format!("{sign}{:02}{:02}", minutes / 60, minutes % 60)
}

/// The local time at which the kernel was started, from `/proc/stat`.
fn boot_time(fs: &dyn FileSystem) -> Result<String, EvalError> {
    let none = EvalError::NoSecondSource("the time of the start");
    let seconds: i64 = entry_of("/proc/stat", "btime", ' ', fs)?.parse().map_err(|_| none.clone())?;
    let at = local(Timestamp::from_millis(seconds.saturating_mul(SECOND_MS)), fs).ok_or(none)?;
    Ok(at.strftime("%Y-%m-%d %H:%M:%S").to_string())
}

/// Disk usage of a file or folder in bytes; a file with two hard links counts twice.
fn disk_usage(path: &Path, fs: &dyn FileSystem) -> Result<u64, EvalError> {
    let itself = fs.metadata(path).map_err(unreadable(path))?;
    let mut below = Vec::new();
    if itself.kind == EntryKind::Folder {
        files::walk(path, Depth::Whole, true, fs, &mut below)?;
    }
    Ok(below.iter().fold(itself.disk_bytes, |sum, entry| sum.saturating_add(entry.disk_bytes)))
}

/// The used share of the space available to the user, as `27%`, rounded up.
fn used_share(space: &Space) -> Result<String, EvalError> {
    let all = u128::from(space.used) + u128::from(space.available);
    let none = EvalError::NoSecondSource("the share of room in use");
    let share = (u128::from(space.used) * 100).checked_next_multiple_of(all.max(1)).filter(|_| all > 0).ok_or(none)?;
    Ok(format!("{}%", share / all))
}

/// The first word after `start` at the start of a line of a system file.
fn after(path: &str, start: &str, fs: &dyn FileSystem) -> Result<String, EvalError> {
    let file = text::system_file(path, fs)?;
    let word = file.lines().find_map(|line| line.strip_prefix(start)?.split_whitespace().next());
    word.map(str::to_owned).ok_or(EvalError::NoSecondSource("this entry"))
}

/// The number of bytes in `/proc/meminfo` under a key such as `MemFree:`.
fn memory(key: &str, fs: &dyn FileSystem) -> Result<u64, EvalError> {
    let kilobytes = after("/proc/meminfo", key, fs)?.parse::<u64>();
    kilobytes.map(|kilobytes| kilobytes * 1024).map_err(|_| EvalError::NoSecondSource("memory"))
}

/// The number of processors this process may run on.
fn processors(fs: &dyn FileSystem) -> Result<u64, EvalError> {
    let none = EvalError::NoSecondSource("the number of processors");
    let allowed = entry_of("/proc/self/status", "Cpus_allowed_list", ':', fs)?;
    let size = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        last.trim().parse::<u64>().ok()?.checked_sub(first.trim().parse().ok()?)?.checked_add(1)
    };
    allowed.split(',').map(size).sum::<Option<u64>>().ok_or(none)
}

/// The parts of the output of `uname -a`, from the kernel's files.
fn system_details(fs: &dyn FileSystem) -> Result<String, EvalError> {
    let parts = ["ostype", "hostname", "osrelease", "version"];
    let parts = parts.into_iter().map(|name| content_of(&format!("/proc/sys/kernel/{name}"), fs));
    let parts: Vec<String> = parts.collect::<Result<_, _>>()?;
    Ok(format!("{} {} GNU/Linux", parts.join(" "), std::env::consts::ARCH))
}

/// The value of an environment variable; an error if it is not set.
fn variable(name: &str, fs: &dyn FileSystem) -> Result<String, EvalError> {
    let value = fs.variable(name).ok_or(EvalError::NoSecondSource("a variable of that name"))?;
    Ok(String::from_utf8_lossy(&value).into_owned())
}

/// The path of the first program of this name in `PATH`.
fn program(name: &str, fs: &dyn FileSystem) -> Result<String, EvalError> {
    // Opening follows links, so what can be opened is a file.
    let is_program = |path: &String| {
        let path = Path::new(path);
        fs.metadata(path).is_ok_and(|entry| entry.mode & 0o111 != 0) && fs.open(path).is_ok()
    };
    let folders = variable("PATH", fs)?;
    let mut candidates = folders.split(':').map(|folder| format!("{}/{name}", folder.trim_end_matches('/')));
    candidates.find(is_program).ok_or(EvalError::NoSecondSource("a program of that name"))
}

/// The content of a system file, without trailing white space.
fn content_of(path: &str, fs: &dyn FileSystem) -> Result<String, EvalError> {
    Ok(text::system_file(path, fs)?.trim_end().to_owned())
}

/// The value in the first line `key separator value` of a file that has this key.
fn entry_of(path: &str, key: &str, separator: char, fs: &dyn FileSystem) -> Result<String, EvalError> {
    let file = text::system_file(path, fs)?;
    let mut entries = file.lines().filter_map(|line| line.split_once(separator));
    let found = entries.find(|(name, _)| name.trim() == key).map(|(_, value)| value.trim().to_owned());
    found.ok_or(EvalError::NoSecondSource("this entry"))
}

/// The names and values of the lines of `lscpu` that can be checked.
pub(super) fn processor_details(fs: &dyn FileSystem) -> Result<Vec<(&'static str, String)>, EvalError> {
    let processors = text::system_file("/proc/cpuinfo", fs)?;
    let online = processors.lines().filter(|line| line.starts_with("processor")).count();
    Ok(vec![
        ("Architecture", std::env::consts::ARCH.to_owned()),
        ("Model name", entry_of("/proc/cpuinfo", "model name", ':', fs)?),
        ("CPU(s)", online.to_string()),
    ])
}
