//! Facts of the machine.

use serde::{Deserialize, Serialize};

use super::Ty;

/// A fact of the machine.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fact {
    /// Today's date, local, as `2024-05-15`.
    Date,
    /// The time of day, local, as `14:00`.
    Time,
    /// The English name of a day's weekday.
    DayOfWeek {
        /// The day, as `2024-05-15`.
        date: String,
    },
    /// Bytes free to the user on the file system that holds a path.
    DiskFree {
        /// Absolute.
        path: String,
    },
    /// Bytes used on the file system that holds a path.
    DiskUsed {
        /// Absolute.
        path: String,
    },
    /// Size in bytes of the file system that holds a path.
    DiskTotal {
        /// Absolute.
        path: String,
    },
    /// Share of the room that the user can have which is used, on the file system that holds a path, as `27%`, rounded up.
    DiskShare {
        /// Absolute.
        path: String,
    },
    /// Bytes of main memory that programs can still get.
    MemoryFree,
    /// Bytes of main memory in use: all but what programs can still get.
    MemoryUsed,
    /// Bytes of main memory.
    MemoryTotal,
    /// Number of logical processors.
    Processors,
    /// The processor's model name.
    ProcessorModel,
    /// Load averages over 1, 5 and 15 minutes.
    Load,
    /// How long the machine has been running.
    Uptime,
    /// The user's name.
    User,
    /// The names of the groups that the user belongs to, one a line.
    Groups,
    /// The machine's name in the network.
    Host,
    /// Name and version of the operating system.
    System,
    /// Version of the kernel.
    Kernel,
    /// Architecture of the machine, as `x86_64`.
    Architecture,
    /// The user's home folder.
    Home,
    /// The current folder.
    CurrentFolder,
    /// The user's login shell.
    Shell,
    /// Addresses of this machine's network interfaces, one a line.
    Addresses,
    /// Ports on which this machine listens, one a line.
    Ports,
    /// The value of one environment variable.
    Variable {
        /// Its name; case counts.
        name: String,
    },
    /// The environment variables' names, one a line.
    Variables,
    /// The folders of `PATH`, one a line.
    SearchPath,
    /// Where a program is found on `PATH`.
    Program {
        /// Its name.
        name: String,
    },
    /// File systems with their size, use and free room, one a line.
    Disks,
}

impl Fact {
    /// What it is.
    #[must_use]
    pub fn ty(&self) -> Ty {
        match self {
            Self::DiskFree { .. }
            | Self::DiskUsed { .. }
            | Self::DiskTotal { .. }
            | Self::MemoryFree
            | Self::MemoryUsed
            | Self::MemoryTotal
            | Self::Processors => Ty::Number,
            Self::Groups | Self::Addresses | Self::Ports | Self::Variables | Self::SearchPath => Ty::Lines,
            Self::Date
            | Self::Time
            | Self::DayOfWeek { .. }
            | Self::ProcessorModel
            | Self::Load
            | Self::Uptime
            | Self::User
            | Self::Host
            | Self::System
            | Self::Kernel
            | Self::Architecture
            | Self::Home
            | Self::CurrentFolder
            | Self::Shell
            | Self::Variable { .. }
            | Self::Program { .. }
            | Self::DiskShare { .. }
            | Self::Disks => Ty::Text,
        }
    }
}
