//! Facts of the machine: one table with the type, the English name, the command and the second source of each.

use serde::{Deserialize, Serialize};

use super::Ty;

/// One row of the table of machine facts: how a fact is named, computed and checked.
pub(crate) struct FactRow {
    /// The type of the fact's value.
    pub(crate) ty: Ty,
    /// The fact's English name, without the argument.
    pub(crate) english: &'static str,
    /// The command line that prints the fact's value, or why there is none.
    pub(crate) command: Command,
    /// Where verification reads the fact again, independently of the command.
    pub(crate) source: Source,
    /// Name and value of the fact's argument, for example `("path", "/home")`; `None` if the fact has none.
    pub(crate) argument: Option<(&'static str, String)>,
}

/// The command line of a fact, written as for a shell: ` | ` between programs, single quotes around a word with spaces,
/// `{}` for the argument.
pub(crate) enum Command {
    /// A command line that prints the same on Linux and macOS.
    Portable(&'static str),
    /// A command line that needs GNU programs or Linux.
    Gnu(&'static str),
    /// There is no command for the fact: the sandbox hides the network from programs.
    Sandboxed,
    /// There is no command for the fact: programs that artoo starts don't get this part of the user's environment.
    Missing,
}

/// Where verification reads a fact without running the fact's command.
#[derive(Clone, Copy)]
pub(crate) enum Source {
    /// The current local time, printed in this `strftime` format.
    Clock(&'static str),
    /// A value in a file of lines `key separator value`, taken from the first line with the key: path, key, separator.
    Entry(&'static str, &'static str, char),
    /// The whole content of the file at this path.
    File(&'static str),
    /// The first field of each line of a file: its path and the field separator.
    FirstFields(&'static str, char),
    /// The entry of `/proc/meminfo` with this key, in bytes.
    Memory(&'static str),
    /// The difference of two entries of `/proc/meminfo`, in bytes: the first key minus the second.
    MemoryBetween(&'static str, &'static str),
    /// The soft resource limit with this name in `/proc/self/limits`.
    Limit(&'static str),
    /// The effective id of this process in `/proc/self/status`: of the user (`Uid`) or the group (`Gid`).
    OwnId(&'static str),
    /// Computed by code in `eval::fact` that is specific to the fact.
    Computed,
    /// There is no second source; the text names what can't be verified, for the error message.
    Missing(&'static str),
}

use Command::{Gnu, Missing, Portable, Sandboxed};
use Source::{Clock, Computed, Entry, File, FirstFields, Limit, Memory, MemoryBetween, OwnId};

/// An `awk` script over `/proc/net/route`, which has addresses in hexadecimal with the last byte first.
macro_rules! routes_script {
    ($script:literal) => {
        concat!(
            "awk 'function hex(d){return index(\"123456789ABCDEF\",d)} ",
            "function dotted(a){s=\"\"; for(i=7;i>0;i-=2)s=s (i<7?\".\":\"\") hex(substr(a,i,1))*16+hex(substr(a,i+1,1)); return s} ",
            $script,
            "' /proc/net/route"
        )
    };
}

/// Declares [`Fact`] and its table, with one row for each variant.
macro_rules! facts {
    ($($(#[doc = $doc:literal])* $name:ident $({ $field:ident: $type:ty })?
        => $ty:ident, $english:literal, $command:expr, $source:expr;)*) => {
        /// A fact of the machine that a request can ask for, such as free memory.
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        #[expect(missing_docs, reason = "the variant's line says what its one field is")]
        pub enum Fact {
            $($(#[doc = $doc])* $name $({ $field: $type })?,)*
        }

        impl Fact {
            /// The row of the table of machine facts for this fact.
            pub(crate) fn row(&self) -> FactRow {
                match self {
                    $(Self::$name $({ $field })? => FactRow {
                        ty: Ty::$ty,
                        english: $english,
                        command: $command,
                        source: $source,
                        argument: [$((stringify!($field), $field.to_string()))?].into_iter().next(),
                    },)*
                }
            }
        }
    };
}

facts! {
    /// Today's date, local, as `2024-05-15`.
    Date => Text, "today's date", Portable("date +%Y-%m-%d"), Clock("%Y-%m-%d");
    /// Local date and time of day, as `2024-05-15 14:00`.
    DateTime => Text, "date and time", Portable("date '+%Y-%m-%d %H:%M'"), Clock("%Y-%m-%d %H:%M");
    /// The local time of day, as `14:00`.
    Time => Text, "current time", Portable("date +%H:%M"), Clock("%H:%M");
    /// The English name of the weekday of a date such as `2024-05-15`.
    DayOfWeek { date: String }
        => Text, "day of the week of", Gnu("env LC_ALL=C date -d {} +%A"), Computed;
    /// Bytes free to the user on the file system that holds an absolute path.
    DiskFree { path: String }
        => Number, "free disk space of", Gnu("df -B1 --output=avail -- {} | tail -n 1"), Computed;
    /// Bytes used on the file system that holds an absolute path.
    DiskUsed { path: String }
        => Number, "used disk space of", Gnu("df -B1 --output=used -- {} | tail -n 1"), Computed;
    /// Size in bytes of the file system that holds an absolute path.
    DiskTotal { path: String }
        => Number, "disk size of", Gnu("df -B1 --output=size -- {} | tail -n 1"), Computed;
    /// Used share of the space available to the user on the file system that holds an absolute path, as `27%`,
    /// rounded up.
    DiskShare { path: String }
        => Text, "percentage of disk space used of", Gnu("df -B1 --output=pcent -- {} | tail -n 1 | tr -d ' '"), Computed;
    /// Bytes on disk taken by the file or folder at an absolute path, everything below a folder included.
    DiskUsage { path: String } => Number, "disk usage of", Gnu("du -s -B1 -- {} | cut -f 1"), Computed;
    /// Bytes of main memory available to programs.
    MemoryFree => Number, "free memory", Gnu(MEMORY_FREE), Memory("MemAvailable:");
    /// Bytes of main memory in use: the total without what is available to programs.
    MemoryUsed => Number, "used memory", Gnu(MEMORY_USED), MemoryBetween("MemTotal:", "MemAvailable:");
    /// Total size of main memory, in bytes.
    MemoryTotal => Number, "total memory", Gnu(MEMORY_TOTAL), Memory("MemTotal:");
    /// Number of logical processors.
    Processors => Number, "number of processors", Gnu("nproc"), Computed;
    /// The model name of the first processor.
    ProcessorModel => Text, "processor model", Gnu(PROCESSOR_MODEL), Entry("/proc/cpuinfo", "model name", ':');
    /// Load averages over 1, 5 and 15 minutes.
    Load => Text, "load average", Gnu("env LC_ALL=C uptime | grep -o -E -e 'load average: .*'"), Computed;
    /// How long the machine has been running.
    Uptime => Text, "uptime", Gnu("env LC_ALL=C uptime -p"), Computed;
    /// The name of the user who runs artoo.
    User => Text, "user name", Gnu("id -un"), Computed;
    /// The names of the groups that the user belongs to, one per line.
    Groups => Lines, "groups of the user", Gnu("id -Gn | tr ' ' \\n"), Computed;
    /// The host name of the machine.
    Host => Text, "host name", Gnu("uname -n"), File("/proc/sys/kernel/hostname");
    /// Name and version of the operating system.
    System => Text, "operating system version", Gnu(SYSTEM), Entry("/etc/os-release", "PRETTY_NAME", '=');
    /// Version of the operating system's kernel.
    Kernel => Text, "kernel version", Gnu("uname -r"), File("/proc/sys/kernel/osrelease");
    /// Architecture of the machine, as `x86_64`.
    Architecture => Text, "machine architecture", Gnu("uname -m"), Computed;
    /// The path of the user's home folder.
    Home => Text, "path of the home folder", Portable("printenv HOME"), Computed;
    /// The absolute path of the current folder.
    CurrentFolder => Text, "path of the current folder", Portable("pwd"), Computed;
    /// The path of the user's login shell.
    Shell => Text, "login shell", Gnu("printenv SHELL"), Computed;
    /// IPv4 addresses of this machine's network interfaces, one per line; loopback addresses (127.…) are left out.
    Addresses => Lines, "IPv4 addresses of the machine", Gnu(ADDRESSES), Computed;
    /// Numbers of the TCP ports on which programs of this machine listen, one per line.
    Ports => Lines, "TCP ports on which programs listen", Gnu(PORTS), Computed;
    /// The value of the environment variable with this name, which is case-sensitive.
    Variable { name: String } => Text, "environment variable", Portable("printenv {}"), Computed;
    /// The names of all environment variables, one per line.
    Variables => Lines, "environment variables", Missing, Source::Missing("the list of variables");
    /// The folders in the environment variable `PATH`, one per line.
    SearchPath => Lines, "entries of the search path", Missing, Computed;
    /// The path at which a program of this name is found in the folders of `PATH`.
    Program { name: String } => Text, "location of the program", Gnu("which {}"), Computed;
    /// The mounted file systems with their total, used and free bytes, one per line.
    Disks => Text, "file systems", Gnu("df -B1 --output=size,used,avail,target"), Source::Missing("the list of file systems");
    /// The date this number of days after today, as `2024-05-18`; before today if the number is negative.
    DateInDays { days: i32 } => Text, "date", Gnu("env LC_ALL=C date -d '{} days' +%Y-%m-%d"), Computed;
    /// The current local year, as `2024`.
    Year => Text, "current year", Gnu("date +%Y"), Clock("%Y");
    /// The English name of the current local month.
    Month => Text, "current month", Gnu("env LC_ALL=C date +%B"), Clock("%B");
    /// The number of the current local week by ISO 8601, as `20`.
    Week => Text, "number of the week", Gnu("date +%V"), Clock("%V");
    /// Current time as seconds since 1970 (Unix time).
    UnixTime => Number, "unix time", Gnu("date +%s"), Computed;
    /// The offset of local time from UTC, as `+0200`.
    TimeZone => Text, "time zone", Gnu("date +%z"), Computed;
    /// The local time at which the machine was started, as `2024-05-15 08:00:00`.
    BootTime => Text, "boot time", Gnu("uptime -s"), Computed;
    /// Total swap space, in bytes.
    SwapTotal => Number, "total swap space", Gnu(SWAP_TOTAL), Memory("SwapTotal:");
    /// Bytes of swap space in use.
    SwapUsed => Number, "used swap space", Gnu(SWAP_USED), MemoryBetween("SwapTotal:", "SwapFree:");
    /// Bytes of swap space that are free.
    SwapFree => Number, "free swap space", Gnu(SWAP_FREE), Memory("SwapFree:");
    /// Details about the processors, as `lscpu` prints them.
    ProcessorDetails => Text, "processor information", Gnu("env LC_ALL=C lscpu"), Source::Missing("this fact");
    /// The number of bits of a C `long` on this machine, such as 64.
    WordSize => Number, "word size", Gnu("getconf LONG_BIT"), Computed;
    /// Name of the operating system's kernel, as `Linux`.
    KernelName => Text, "kernel name", Gnu("uname -s"), File("/proc/sys/kernel/ostype");
    /// Kernel, host, version and architecture on one line, as `uname -a` prints them.
    SystemDetails => Text, "system information", Gnu("uname -a"), Computed;
    /// The value of a kernel parameter such as `vm.swappiness`.
    KernelParameter { name: String } => Text, "kernel parameter", Gnu("sysctl -n {}"), Computed;
    /// Names of the loaded kernel modules, one per line.
    KernelModules
        => Lines, "kernel modules", Gnu("lsmod | tail -n +2 | cut -d ' ' -f 1"), FirstFields("/proc/modules", ' ');
    /// The user's numeric id.
    UserId => Number, "user number", Gnu("id -u"), OwnId("Uid");
    /// The numeric id of the user's primary group.
    GroupId => Number, "group number", Gnu("id -g"), OwnId("Gid");
    /// The name of the user's primary group.
    GroupName => Text, "primary group", Gnu("id -gn"), Computed;
    /// Names of the groups that a given user belongs to, one per line.
    GroupsOf { user: String } => Lines, "groups of the user", Gnu("id -Gn {} | tr ' ' \\n"), Computed;
    /// The numeric id of a given user.
    UserIdOf { user: String } => Number, "user number of the user", Gnu("id -u {}"), Computed;
    /// Names of all users in the machine's user database, one per line.
    AllUsers => Lines, "users of the machine", Gnu("getent passwd | cut -d : -f 1"), FirstFields("/etc/passwd", ':');
    /// Names of all groups in the machine's group database, one per line.
    AllGroups => Lines, "groups of the machine", Gnu("getent group | cut -d : -f 1"), FirstFields("/etc/group", ':');
    /// Names of the users who are logged in, each once, one per line.
    LoggedIn
        => Lines, "logged in users", Gnu("env LC_ALL=C who | cut -d ' ' -f 1 | env LC_ALL=C sort -u"), Computed;
    /// Paths of the login shells that users may choose, one per line.
    Shells => Lines, "login shells", Gnu("grep -E -e ^/ -- /etc/shells"), Computed;
    /// Addresses of the DNS servers, one per line.
    NameServers => Lines, "name servers", Gnu(NAME_SERVERS), Computed;
    /// IPv4 address of the default gateway: the router for traffic to other networks; empty without one.
    Gateway => Text, "default gateway", Gnu(GATEWAY), Computed;
    /// The IPv4 routing table, one route per line, as `network/prefix length via gateway dev interface`, the network of the
    /// default route being `default`.
    Routes => Lines, "routing table", Gnu(ROUTES), Computed;
    /// Names of the network interfaces, one per line.
    Interfaces => Lines, "network interfaces", Gnu("ls -1 /sys/class/net"), Computed;
    /// Language and character set of the user's session, as `en_US.UTF-8`.
    Locale => Text, "locale", Gnu("printenv LANG"), Computed;
    /// The largest number of processes that the user may run at once, or `unlimited`.
    ProcessLimit => Text, "limit of user processes", Sandboxed, Limit("Max processes");
    /// The largest number of files that a program may have open at once, or `unlimited`.
    OpenFilesLimit => Text, "limit of open files", Gnu("getconf OPEN_MAX | sed -e s/undefined/unlimited/"), Limit("Max open files");
    /// The permission bits that new files don't get (umask), as `0022`.
    Umask => Text, "umask", Gnu("sh -c umask"), Entry("/proc/self/status", "Umask", ':');
}

/// The lines of `/proc/net/fib_trie` above those that mark an address as one of this machine.
const ADDRESSES: &str =
    "awk '/\\/32 host LOCAL/ && a !~ /^127/{print a} {a=$2}' /proc/net/fib_trie | env LC_ALL=C sort -u";
/// The ports of `/proc/net/tcp` in state 0A (listening), which it has in hexadecimal.
const PORTS: &str = "grep -s -h -e ' 0A ' -- /proc/net/tcp /proc/net/tcp6 | awk '{h=substr($2,length($2)-3); n=0; for(i=1;i<5;i++)n=n*16+index(\"123456789ABCDEF\",substr(h,i,1)); print n}' | sort -n -u";
const GATEWAY: &str = routes_script!("$2 ~ /^0+$/ && $3 !~ /^0+$/{print dotted($3)}");
const ROUTES: &str = routes_script!(
    "NR>1{m=0; for(i=1;i<9;i++)for(v=hex(substr($8,i,1));v>0;v=int(v/2))m+=v%2; t=dotted($2) \"/\" m; print (t==\"0.0.0.0/0\"?\"default\":t) ($3 ~ /^0+$/?\"\":\" via \" dotted($3)) \" dev \" $1}"
);
const MEMORY_TOTAL: &str = "env LC_ALL=C free -b | grep -F -e Mem: | tr -s ' ' | cut -d ' ' -f 2";
const MEMORY_USED: &str = "env LC_ALL=C free -b | grep -F -e Mem: | tr -s ' ' | cut -d ' ' -f 3";
const MEMORY_FREE: &str = "env LC_ALL=C free -b | grep -F -e Mem: | tr -s ' ' | cut -d ' ' -f 7";
const SWAP_TOTAL: &str = "env LC_ALL=C free -b | grep -F -e Swap: | tr -s ' ' | cut -d ' ' -f 2";
const SWAP_USED: &str = "env LC_ALL=C free -b | grep -F -e Swap: | tr -s ' ' | cut -d ' ' -f 3";
const SWAP_FREE: &str = "env LC_ALL=C free -b | grep -F -e Swap: | tr -s ' ' | cut -d ' ' -f 4";
const PROCESSOR_MODEL: &str = "env LC_ALL=C lscpu | grep -m 1 -E -e '^Model name:' | tr -s ' ' | cut -d ' ' -f 3-";
const SYSTEM: &str = "grep -m 1 -E -e ^PRETTY_NAME= -- /etc/os-release | cut -d \" -f 2";
const NAME_SERVERS: &str = "grep -E -e '^nameserver ' -- /etc/resolv.conf | tr -s ' ' | cut -d ' ' -f 2";

impl Fact {
    /// The type of the fact's value.
    #[must_use]
    pub fn ty(&self) -> Ty {
        self.row().ty
    }

    /// Whether the fact's value is a number of bytes, of memory or of a disk.
    pub(crate) const fn is_room(&self) -> bool {
        matches!(
            self,
            Self::DiskFree { .. }
                | Self::DiskUsed { .. }
                | Self::DiskTotal { .. }
                | Self::DiskUsage { .. }
                | Self::MemoryFree
                | Self::MemoryUsed
                | Self::MemoryTotal
                | Self::SwapTotal
                | Self::SwapUsed
                | Self::SwapFree
        )
    }
}
