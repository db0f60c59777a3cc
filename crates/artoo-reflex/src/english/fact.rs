//! Facts of the machine in English.

use super::{quoted, quoted_path};
use crate::algebra::Fact;

pub(super) fn phrase(fact: &Fact) -> String {
    match fact {
        Fact::DayOfWeek { date } => format!("day of the week of {date}"),
        Fact::DiskFree { path } => format!("free disk space of {}", quoted_path(path)),
        Fact::DiskUsed { path } => format!("used disk space of {}", quoted_path(path)),
        Fact::DiskTotal { path } => format!("disk size of {}", quoted_path(path)),
        Fact::DiskShare { path } => format!("percentage of disk space used of {}", quoted_path(path)),
        Fact::Variable { name } => format!("environment variable {}", quoted(name)),
        Fact::Program { name } => format!("location of the program {}", quoted(name)),
        Fact::Date => "today's date".to_owned(),
        Fact::Time => "current time".to_owned(),
        Fact::MemoryFree => "free memory".to_owned(),
        Fact::MemoryUsed => "used memory".to_owned(),
        Fact::MemoryTotal => "total memory".to_owned(),
        Fact::Processors => "number of processors".to_owned(),
        Fact::ProcessorModel => "processor model".to_owned(),
        Fact::Load => "load average".to_owned(),
        Fact::Uptime => "uptime".to_owned(),
        Fact::User => "user name".to_owned(),
        Fact::Groups => "groups of the user".to_owned(),
        Fact::Host => "host name".to_owned(),
        Fact::System => "operating system version".to_owned(),
        Fact::Kernel => "kernel version".to_owned(),
        Fact::Architecture => "machine architecture".to_owned(),
        Fact::Home => "path of the home folder".to_owned(),
        Fact::CurrentFolder => "path of the current folder".to_owned(),
        Fact::Shell => "login shell".to_owned(),
        Fact::Addresses => "network addresses".to_owned(),
        Fact::Ports => "listening ports".to_owned(),
        Fact::Variables => "environment variables".to_owned(),
        Fact::SearchPath => "entries of the search path".to_owned(),
        Fact::Disks => "file systems".to_owned(),
    }
}
