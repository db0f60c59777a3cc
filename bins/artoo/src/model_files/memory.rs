//! The size of this machine's main memory (RAM), which decides which model file is suggested.

use std::fs;

/// The kernel's file with the size of the machine's memory.
const MEMINFO: &str = "/proc/meminfo";

/// The kernel's file with the memory limit of the control group (container) that artoo runs in.
const CGROUP_LIMIT: &str = "/sys/fs/cgroup/memory.max";

/// Size of the machine's main memory in bytes, or the control group's limit if that is lower; `None` if unknown.
pub(crate) fn bytes() -> Option<u64> {
    let machine = total_bytes(&fs::read_to_string(MEMINFO).ok()?)?;
    let limit = fs::read_to_string(CGROUP_LIMIT).ok().and_then(|text| text.trim().parse::<u64>().ok());
    Some(limit.map_or(machine, |limit| limit.min(machine)))
}

/// Parses the machine's memory in bytes from the `MemTotal` line of `/proc/meminfo`.
fn total_bytes(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// Tests of reading the size of main memory.
#[cfg(test)]
mod tests {
    use super::total_bytes;

    /// The machine's memory is parsed from `/proc/meminfo`; `None` for a text without a valid line.
    #[test]
    fn meminfo_total_is_parsed() {
        let check = |text: &str, expected: Option<u64>| assert_eq!(total_bytes(text), expected, "{text:?}");
        check("MemTotal:        7941044 kB\nMemFree: 1 kB", Some(8_131_629_056));
        check("MemFree: 1 kB\nMemTotal: 1 kB\n", Some(1024));
        check("MemTotal: many kB", None);
        check("MemTotal: 18446744073709551615 kB", None);
        check("", None);
    }
}
