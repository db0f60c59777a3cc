//! Facts of the calendar, of users, of the kernel and of the network from a second source.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not named has its source elsewhere, or none")]

use std::collections::BTreeSet;
use std::path::Path;

use artoo_proto::Timestamp;
use jiff::civil::DateTime;

use super::{entry_of, line_of, lines, local, local_date, memory, variable};
use crate::algebra::Fact;
use crate::eval::{Answer, EvalError, FileSystem, text};

const SECOND_MS: i64 = 1_000;

const DAY_MS: i64 = 86_400 * SECOND_MS;

/// A fact's value.
pub(super) fn value(fact: &Fact, fs: &dyn FileSystem) -> Result<Answer, EvalError> {
    let text = |text: String| Ok(Answer::Text(text));
    let names = |names: Vec<String>| Ok(lines(names.into_iter()));
    match fact {
        Fact::DateInDays { days } => {
            text(local_date(fs.now().plus_millis(i64::from(*days).saturating_mul(DAY_MS)), fs))
        }
        Fact::Year => text(on_the_calendar("%Y", fs)),
        Fact::Month => text(on_the_calendar("%B", fs)),
        Fact::Week => text(on_the_calendar("%V", fs)),
        Fact::UnixTime => u64::try_from(fs.now().as_millis() / SECOND_MS)
            .map(Answer::Number)
            .map_err(|_| EvalError::NoSecondSource { what: "a time before 1970" }),
        Fact::TimeZone => text(offset(fs.utc_offset_s(fs.now()))),
        Fact::BootTime => text(boot_time(fs)?),
        Fact::SwapTotal => memory("SwapTotal:", fs).map(Answer::Number),
        Fact::SwapFree => memory("SwapFree:", fs).map(Answer::Number),
        Fact::SwapUsed => Ok(Answer::Number(memory("SwapTotal:", fs)?.saturating_sub(memory("SwapFree:", fs)?))),
        Fact::WordSize => Ok(Answer::Number(u64::from(usize::BITS))),
        Fact::KernelName => text(line_of("/proc/sys/kernel/ostype", fs)?),
        Fact::SystemDetails => text(system_details(fs)?),
        Fact::KernelParameter { name } => {
            text(line_of(&format!("/proc/sys/{}", name.replace('.', "/")), fs)?.replace(['\t', '\n'], " "))
        }
        Fact::KernelModules => names(first_words("/proc/modules", ' ', fs)?),
        Fact::UserId => own_number("Uid", fs).map(Answer::Number),
        Fact::GroupId => own_number("Gid", fs).map(Answer::Number),
        Fact::GroupName => text(group_name(own_number("Gid", fs)?, fs)?),
        Fact::GroupsOf { user } => names(groups_of(user, fs)?.into_iter().collect()),
        Fact::UserIdOf { user } => account_of(user, fs).map(|(number, _)| Answer::Number(number)),
        Fact::AllUsers => names(first_words("/etc/passwd", ':', fs)?),
        Fact::AllGroups => names(first_words("/etc/group", ':', fs)?),
        Fact::LoggedIn => names(logged_in(fs).into_iter().collect()),
        Fact::Shells => {
            let list = text::system_file("/etc/shells", fs)?;
            names(list.lines().filter(|line| line.starts_with('/')).map(str::to_owned).collect())
        }
        Fact::NameServers => {
            let list = text::system_file("/etc/resolv.conf", fs)?;
            let server = |line: &str| {
                let mut words = line.split_whitespace();
                (words.next() == Some("nameserver")).then(|| words.next().map(str::to_owned)).flatten()
            };
            names(list.lines().filter_map(server).collect())
        }
        Fact::Interfaces => {
            let table = text::system_file("/proc/net/dev", fs)?;
            let name = |line: &str| line.split_once(':').map(|(name, _)| name.trim().to_owned());
            names(table.lines().filter_map(name).collect())
        }
        Fact::Locale => {
            let all = variable("LC_ALL", fs).ok().filter(|value| !value.is_empty());
            text(all.map_or_else(|| variable("LANG", fs), Ok)?)
        }
        Fact::ProcessLimit => text(limit("Max processes", fs)?),
        Fact::OpenFilesLimit => text(limit("Max open files", fs)?),
        Fact::Umask => text(entry_of("/proc/self/status", "Umask", ':', fs)?),
        _ => Err(EvalError::NoSecondSource { what: "this fact" }),
    }
}

fn on_the_calendar(format: &str, fs: &dyn FileSystem) -> String {
    local(fs.now(), fs).map_or_else(String::new, |now| now.strftime(format).to_string())
}

/// `+0530` of so many seconds.
fn offset(seconds: i32) -> String {
    let (sign, minutes) = (if seconds < 0 { '-' } else { '+' }, seconds.unsigned_abs() / 60);
    format!("{sign}{:02}{:02}", minutes / 60, minutes % 60)
}

/// The moment the kernel says it began at.
fn boot_time(fs: &dyn FileSystem) -> Result<String, EvalError> {
    let none = EvalError::NoSecondSource { what: "the time of the start" };
    let seconds: i64 = entry_of("/proc/stat", "btime", ' ', fs)?.parse().map_err(|_| none.clone())?;
    let at = local(Timestamp::from_millis(seconds.saturating_mul(SECOND_MS)), fs).ok_or(none)?;
    Ok(shown(at))
}

pub(in crate::eval) fn shown(at: DateTime) -> String {
    at.strftime("%Y-%m-%d %H:%M:%S").to_string()
}

/// The parts of `uname -a`, from the kernel's own files.
fn system_details(fs: &dyn FileSystem) -> Result<String, EvalError> {
    let parts =
        ["ostype", "hostname", "osrelease", "version"].map(|name| line_of(&format!("/proc/sys/kernel/{name}"), fs));
    let mut said = Vec::new();
    for part in parts {
        said.push(part?);
    }
    said.push(std::env::consts::ARCH.to_owned());
    said.push("GNU/Linux".to_owned());
    Ok(said.join(" "))
}

/// What stands before a sign in each line.
fn first_words(path: &str, separator: char, fs: &dyn FileSystem) -> Result<Vec<String>, EvalError> {
    let list = text::system_file(path, fs)?;
    Ok(list.lines().filter_map(|line| line.split_once(separator)).map(|(first, _)| first.to_owned()).collect())
}

/// The real number of this program's user or group.
fn own_number(name: &str, fs: &dyn FileSystem) -> Result<u64, EvalError> {
    let none = EvalError::NoSecondSource { what: "the user's number" };
    let numbers = entry_of("/proc/self/status", name, ':', fs)?;
    numbers.split_whitespace().nth(1).and_then(|number| number.parse().ok()).ok_or(none)
}

fn group_name(number: u64, fs: &dyn FileSystem) -> Result<String, EvalError> {
    let list = text::system_file("/etc/group", fs)?;
    let found = list.lines().find(|line| line.split(':').nth(2) == Some(number.to_string().as_str()));
    let name = found.and_then(|line| line.split(':').next()).map(str::to_owned);
    name.ok_or(EvalError::NoSecondSource { what: "the name of a group" })
}

/// Number and group of a user.
fn account_of(user: &str, fs: &dyn FileSystem) -> Result<(u64, u64), EvalError> {
    let list = text::system_file("/etc/passwd", fs)?;
    let line = list.lines().find(|line| line.split(':').next() == Some(user));
    let number = |index: usize| line.and_then(|line| line.split(':').nth(index)?.parse().ok());
    number(2).zip(number(3)).ok_or(EvalError::NoSecondSource { what: "a user of that name" })
}

fn groups_of(user: &str, fs: &dyn FileSystem) -> Result<BTreeSet<String>, EvalError> {
    let (_, own) = account_of(user, fs)?;
    let mut found = BTreeSet::from([group_name(own, fs)?]);
    for line in text::system_file("/etc/group", fs)?.lines() {
        let mut fields = line.split(':');
        let (name, members) = (fields.next().unwrap_or_default(), fields.nth(2).unwrap_or_default());
        if members.split(',').any(|member| member == user) {
            found.insert(name.to_owned());
        }
    }
    Ok(found)
}

/// The users of the record of sessions (utmp). Without a record nobody is logged in.
fn logged_in(fs: &dyn FileSystem) -> BTreeSet<String> {
    /// Length of an entry, where its kind and its user's name stand, and the kind of a user's session.
    const ENTRY: usize = 384;
    const USER: std::ops::Range<usize> = 44..76;
    const USER_PROCESS: u8 = 7;
    let record = text::content(Path::new("/var/run/utmp"), fs).unwrap_or_default();
    let user = |entry: &[u8]| {
        let name = entry.get(USER)?.split(|byte| *byte == 0).next()?;
        (entry.first() == Some(&USER_PROCESS)).then(|| String::from_utf8_lossy(name).into_owned())
    };
    record.chunks_exact(ENTRY).filter_map(user).filter(|name| !name.is_empty()).collect()
}

/// A soft limit of this program, which those it starts get too.
fn limit(name: &str, fs: &dyn FileSystem) -> Result<String, EvalError> {
    let table = text::system_file("/proc/self/limits", fs)?;
    let row = table.lines().find_map(|line| line.strip_prefix(name));
    let soft = row.and_then(|rest| rest.split_whitespace().next()).map(str::to_owned);
    soft.ok_or(EvalError::NoSecondSource { what: "this limit" })
}

/// What of the processors' details is known a second way: name and value.
pub(in crate::eval) fn processor_details(fs: &dyn FileSystem) -> Result<Vec<(&'static str, String)>, EvalError> {
    let processors = text::system_file("/proc/cpuinfo", fs)?;
    let online = processors.lines().filter(|line| line.starts_with("processor")).count();
    Ok(vec![
        ("Architecture", std::env::consts::ARCH.to_owned()),
        ("Model name", entry_of("/proc/cpuinfo", "model name", ':', fs)?),
        ("CPU(s)", online.to_string()),
    ])
}
