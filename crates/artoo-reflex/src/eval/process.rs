//! Running processes, and names of users and groups, from `/proc` and the account files.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::path::Path;

use super::{EntryKind, EvalError, FileSystem, by_keys, text};
use crate::algebra::{Key, SortKey};

/// Clock ticks per second in `/proc/PID/stat`: always 100 on Linux.
const TICKS_PER_SECOND: u64 = 100;

/// A running process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// The process id.
    pub id: u64,
    /// The command's name as the kernel stores it (at most 15 bytes).
    pub name: Vec<u8>,
    /// The name of the process's owner.
    pub user: String,
    /// Resident memory in bytes.
    pub memory_bytes: u64,
    /// Processor time per lifetime, in tenths of a percent of one processor.
    pub cpu_permille: u64,
}

/// All running processes, sorted by id.
pub(super) fn all(fs: &dyn FileSystem) -> Result<Vec<Process>, EvalError> {
    let no_source = |_| EvalError::NoSecondSource("the list of processes");
    let users = users(fs).unwrap_or_default();
    let uptime = text::system_file("/proc/uptime", fs).map_err(no_source)?;
    let uptime_s = uptime.split('.').next().and_then(|whole| whole.parse().ok()).unwrap_or(0);
    let folders = fs.list(Path::new("/proc")).map_err(|_| EvalError::NoSecondSource("the list of processes"))?;
    let mut found: Vec<Process> = folders
        .iter()
        .filter(|entry| entry.kind == EntryKind::Folder)
        .filter_map(|entry| std::str::from_utf8(entry.name_bytes()).ok()?.parse().ok())
        // A process may end while it is being read.
        .filter_map(|id| one(id, uptime_s, &users, fs))
        .collect();
    found.sort_by_key(|process| process.id);
    Ok(found)
}

/// The running process with this id; `None` if it no longer exists.
fn one(id: u64, uptime_s: u64, users: &HashMap<u32, String>, fs: &dyn FileSystem) -> Option<Process> {
    let stat = text::content(Path::new(&format!("/proc/{id}/stat")), fs).ok()?;
    // The name is in parentheses and may contain some itself.
    let open = stat.iter().position(|byte| *byte == b'(')?;
    let close = stat.iter().rposition(|byte| *byte == b')')?;
    let name = stat.get(open + 1..close)?.to_vec();
    let rest = String::from_utf8_lossy(stat.get(close + 2..)?).into_owned();
    let number = |index: usize| rest.split(' ').nth(index).and_then(|field| field.trim().parse::<u64>().ok());
    let used_ticks = number(11)? + number(12)?;
    let started_s = number(19)? / TICKS_PER_SECOND;
    let cpu_permille = (used_ticks * 1000 / TICKS_PER_SECOND).checked_div(uptime_s.saturating_sub(started_s));
    let status = text::system_file(&format!("/proc/{id}/status"), fs).ok()?;
    let field = |wanted: &str| status.lines().find_map(|line| line.strip_prefix(wanted));
    let owner: u32 = field("Uid:")?.split_whitespace().next()?.parse().ok()?;
    // A kernel thread has no memory of its own.
    let kilobytes: u64 = field("VmRSS:").and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0);
    Some(Process {
        id,
        name,
        user: users.get(&owner).cloned().unwrap_or_else(|| owner.to_string()),
        memory_bytes: kilobytes * 1024,
        cpu_permille: cpu_permille.unwrap_or(0),
    })
}

/// Sorts processes by the sort keys; equal ones keep their order.
pub(super) fn sort(mut processes: Vec<Process>, keys: &[SortKey]) -> Vec<Process> {
    processes.sort_by(|a, b| {
        by_keys(keys, |key| match key {
            Key::Memory => a.memory_bytes.cmp(&b.memory_bytes),
            Key::Cpu => a.cpu_permille.cmp(&b.cpu_permille),
            Key::Name => a.name.cmp(&b.name),
            _ => Ordering::Equal,
        })
    });
    processes
}

/// All user names by user id, from `/etc/passwd`.
pub(super) fn users(fs: &dyn FileSystem) -> Result<HashMap<u32, String>, EvalError> {
    by_number("/etc/passwd", fs)
}

/// A map from numeric ids to names from an account file; the first of several entries with the same id counts.
pub(super) fn by_number(file: &str, fs: &dyn FileSystem) -> Result<HashMap<u32, String>, EvalError> {
    let accounts = accounts(file, fs).map_err(|_| EvalError::NoSecondSource("the names of users"))?;
    let named = |fields: Vec<String>| Some((fields.get(2)?.parse().ok()?, fields.into_iter().next()?));
    Ok(accounts.into_iter().rev().filter_map(named).collect())
}

/// The fields of each line of an account file, such as `/etc/passwd`.
pub(super) fn accounts(file: &str, fs: &dyn FileSystem) -> Result<Vec<Vec<String>>, EvalError> {
    let list = text::system_file(file, fs)?;
    Ok(list.lines().map(|line| line.split(':').map(str::to_owned).collect()).collect())
}
