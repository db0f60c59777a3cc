//! Facts of the machine.

use serde::{Deserialize, Serialize};

use super::Ty;

/// A fact of the machine.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fact {
    /// Today's date, local, as `2024-05-15`.
    Date,
    /// Day and time of day, local, as `2024-05-15 14:00`.
    DateTime,
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
    /// Bytes on disk that a folder with all below it, or a file, takes.
    DiskUsage {
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
    /// Today's date moved by so many days, as `2024-05-18`.
    DateInDays {
        /// Back where negative.
        days: i32,
    },
    /// The year, local, as `2024`.
    Year,
    /// The English name of the month, local.
    Month,
    /// The number of the week, local, as ISO 8601 counts them, as `20`.
    Week,
    /// Seconds since 1970.
    UnixTime,
    /// How far local time is ahead of UTC, as `+0200`.
    TimeZone,
    /// When the machine was started, local, as `2024-05-15 08:00:00`.
    BootTime,
    /// Bytes of swap space.
    SwapTotal,
    /// Bytes of swap space in use.
    SwapUsed,
    /// Bytes of swap space that are free.
    SwapFree,
    /// What the processors are, many facts, as `lscpu` tells them.
    ProcessorDetails,
    /// Bits of a long integer.
    WordSize,
    /// Name of the kernel, as `Linux`.
    KernelName,
    /// Kernel, host, version and architecture on one line, as `uname -a` tells them.
    SystemDetails,
    /// The value of a parameter of the kernel.
    KernelParameter {
        /// Its name, as `vm.swappiness`.
        name: String,
    },
    /// Names of the kernel's loaded modules, one a line.
    KernelModules,
    /// The number of the user.
    UserId,
    /// The number of the user's own group.
    GroupId,
    /// The name of the user's own group.
    GroupName,
    /// Names of the groups that somebody belongs to, one a line.
    GroupsOf {
        /// Who.
        user: String,
    },
    /// The number of somebody.
    UserIdOf {
        /// Who.
        user: String,
    },
    /// Names of all users of the machine, one a line.
    AllUsers,
    /// Names of all groups of the machine, one a line.
    AllGroups,
    /// Names of the users who are logged in, each once, one a line.
    LoggedIn,
    /// Paths of the shells one can log in with, one a line.
    Shells,
    /// Addresses of the servers that names are looked up at, one a line.
    NameServers,
    /// Address that packets to the outside are sent to.
    Gateway,
    /// Where packets are sent, one route a line, as `ip route` tells them.
    Routes,
    /// Names of the network interfaces, one a line.
    Interfaces,
    /// Language and character set of the session, as `en_US.UTF-8`.
    Locale,
    /// Most processes that the user may run at once, or `unlimited`.
    ProcessLimit,
    /// Most files that a program may have open at once, or `unlimited`.
    OpenFilesLimit,
    /// Permission bits that new files don't get, as `0022`.
    Umask,
}

impl Fact {
    /// What it is.
    #[must_use]
    pub fn ty(&self) -> Ty {
        match self {
            Self::DiskFree { .. }
            | Self::DiskUsed { .. }
            | Self::DiskTotal { .. }
            | Self::DiskUsage { .. }
            | Self::MemoryFree
            | Self::MemoryUsed
            | Self::MemoryTotal
            | Self::Processors
            | Self::SwapTotal
            | Self::SwapUsed
            | Self::SwapFree
            | Self::UnixTime
            | Self::WordSize
            | Self::UserId
            | Self::GroupId
            | Self::UserIdOf { .. } => Ty::Number,
            Self::Groups
            | Self::Addresses
            | Self::Ports
            | Self::Variables
            | Self::SearchPath
            | Self::KernelModules
            | Self::GroupsOf { .. }
            | Self::AllUsers
            | Self::AllGroups
            | Self::LoggedIn
            | Self::Shells
            | Self::NameServers
            | Self::Routes
            | Self::Interfaces => Ty::Lines,
            Self::Date
            | Self::Time
            | Self::DateTime
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
            | Self::Disks
            | Self::DateInDays { .. }
            | Self::Year
            | Self::Month
            | Self::Week
            | Self::TimeZone
            | Self::BootTime
            | Self::ProcessorDetails
            | Self::KernelName
            | Self::SystemDetails
            | Self::KernelParameter { .. }
            | Self::GroupName
            | Self::Gateway
            | Self::Locale
            | Self::ProcessLimit
            | Self::OpenFilesLimit
            | Self::Umask => Ty::Text,
        }
    }
}
