//! How much memory this machine has for a model.

use std::fs;

/// Where the kernel tells it.
const MACHINE: &str = "/proc/meminfo";

/// Where a container's bound stands.
const CONTAINER: &str = "/sys/fs/cgroup/memory.max";

/// Bytes; `None` where the system does not say it in these places.
pub(crate) fn bytes() -> Option<u64> {
    let machine = of_machine(&fs::read_to_string(MACHINE).ok()?)?;
    let container = fs::read_to_string(CONTAINER).ok().and_then(|text| text.trim().parse::<u64>().ok());
    Some(container.map_or(machine, |container| container.min(machine)))
}

fn of_machine(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::of_machine;

    #[test]
    fn the_kernels_line_is_read() {
        let check = |text: &str, expected: Option<u64>| assert_eq!(of_machine(text), expected, "{text:?}");
        check("MemTotal:        7941044 kB\nMemFree: 1 kB", Some(8_131_629_056));
        check("MemFree: 1 kB\nMemTotal: 1 kB\n", Some(1024));
        check("MemTotal: many kB", None);
        check("MemTotal: 18446744073709551615 kB", None);
        check("", None);
    }
}
