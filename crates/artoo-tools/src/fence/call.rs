//! The system calls that are asked about, read from their numbers and arguments.

use libc::c_long;
use rustix::fs::OFlags;

use super::kernel::Asked;

/// A path as it is passed: the folder it starts from and the address of its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PathArgument {
    pub(super) folder: i32,
    pub(super) address: u64,
}

/// What a call about a file's facts names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subject {
    File(i32),
    Path { path: PathArgument, follows: bool },
}

/// How a time is given in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TimeFormat {
    Seconds,
    Microseconds,
    Nanoseconds,
}

/// A call, understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Call {
    NewSession,
    /// Of processes.
    NewGroup,
    Socket {
        family: i32,
    },
    Mode {
        of: Subject,
        mode: u32,
    },
    Owner {
        of: Subject,
        user: u32,
        group: u32,
    },
    Times {
        of: Subject,
        address: u64,
        format: TimeFormat,
    },
    Open {
        path: PathArgument,
        flags: OFlags,
        mode: u32,
    },
    Remove {
        path: PathArgument,
        is_folder: bool,
    },
    MakeFolder {
        path: PathArgument,
        mode: u32,
    },
    Symlink {
        target: u64,
        path: PathArgument,
    },
    Rename {
        from: PathArgument,
        to: PathArgument,
        flags: u32,
    },
    /// Another name for the same file.
    Link {
        from: PathArgument,
        to: PathArgument,
    },
    /// Changes the entry at this path in a way that is left to the kernel.
    Other {
        path: PathArgument,
    },
}

/// Reads a call; `None` for one that is not asked about.
pub(super) fn read(asked: Asked) -> Option<Call> {
    let [a, b, c, d, e, _] = asked.arguments;
    at(asked.call, [a, b, c, d, e]).or_else(|| older(asked.call, [a, b, c]))
}

/// An argument as the `int` the kernel takes it for.
#[expect(clippy::cast_possible_truncation, reason = "the kernel looks at the lower half alone")]
fn int(argument: u64) -> i32 {
    argument as u32 as i32
}

#[expect(clippy::cast_possible_truncation, reason = "the kernel looks at the lower half alone")]
fn word(argument: u64) -> u32 {
    argument as u32
}

fn has(flags: u64, flag: i32) -> bool {
    int(flags) & flag != 0
}

fn here(address: u64) -> PathArgument {
    PathArgument { folder: libc::AT_FDCWD, address }
}

fn there(folder: u64, address: u64) -> PathArgument {
    PathArgument { folder: int(folder), address }
}

fn flags_of(argument: u64) -> OFlags {
    OFlags::from_bits_retain(word(argument))
}

/// An empty path with `AT_EMPTY_PATH` means the file itself, and so does none at all for times.
fn subject(folder: u64, address: u64, flags: u64) -> Subject {
    if address == 0 || has(flags, libc::AT_EMPTY_PATH) {
        return Subject::File(int(folder));
    }
    Subject::Path { path: there(folder, address), follows: !has(flags, libc::AT_SYMLINK_NOFOLLOW) }
}

/// The calls every architecture has.
fn at(call: c_long, [a, b, c, d, e]: [u64; 5]) -> Option<Call> {
    Some(match call {
        libc::SYS_setsid => Call::NewSession,
        libc::SYS_setpgid => Call::NewGroup,
        libc::SYS_socket => Call::Socket { family: int(a) },
        libc::SYS_fchmod => Call::Mode { of: Subject::File(int(a)), mode: word(b) },
        libc::SYS_fchmodat => Call::Mode { of: subject(a, b, 0), mode: word(c) },
        libc::SYS_fchmodat2 => Call::Mode { of: subject(a, b, d), mode: word(c) },
        libc::SYS_fchown => Call::Owner { of: Subject::File(int(a)), user: word(b), group: word(c) },
        libc::SYS_fchownat => Call::Owner { of: subject(a, b, e), user: word(c), group: word(d) },
        libc::SYS_utimensat => Call::Times { of: subject(a, b, d), address: c, format: TimeFormat::Nanoseconds },
        libc::SYS_openat => Call::Open { path: there(a, b), flags: flags_of(c), mode: word(d) },
        libc::SYS_unlinkat => Call::Remove { path: there(a, b), is_folder: has(c, libc::AT_REMOVEDIR) },
        libc::SYS_mkdirat => Call::MakeFolder { path: there(a, b), mode: word(c) },
        libc::SYS_symlinkat => Call::Symlink { target: a, path: there(b, c) },
        libc::SYS_renameat2 => Call::Rename { from: there(a, b), to: there(c, d), flags: word(e) },
        #[cfg(target_arch = "x86_64")]
        libc::SYS_renameat => Call::Rename { from: there(a, b), to: there(c, d), flags: 0 },
        libc::SYS_linkat if e == 0 => Call::Link { from: there(a, b), to: there(c, d) },
        libc::SYS_linkat => Call::Other { path: there(c, d) },
        libc::SYS_truncate => Call::Other { path: here(a) },
        _ => return None,
    })
}

/// The calls only the oldest architecture still has.
#[cfg(target_arch = "x86_64")]
fn older(call: c_long, [a, b, c]: [u64; 3]) -> Option<Call> {
    let path = |follows| Subject::Path { path: here(a), follows };
    Some(match call {
        libc::SYS_chmod => Call::Mode { of: path(true), mode: word(b) },
        libc::SYS_chown => Call::Owner { of: path(true), user: word(b), group: word(c) },
        libc::SYS_lchown => Call::Owner { of: path(false), user: word(b), group: word(c) },
        libc::SYS_utime => Call::Times { of: path(true), address: b, format: TimeFormat::Seconds },
        libc::SYS_utimes => Call::Times { of: path(true), address: b, format: TimeFormat::Microseconds },
        libc::SYS_futimesat => Call::Times { of: subject(a, b, 0), address: c, format: TimeFormat::Microseconds },
        libc::SYS_open => Call::Open { path: here(a), flags: flags_of(b), mode: word(c) },
        libc::SYS_creat => {
            Call::Open { path: here(a), flags: OFlags::CREATE | OFlags::WRONLY | OFlags::TRUNC, mode: word(b) }
        }
        libc::SYS_unlink => Call::Remove { path: here(a), is_folder: false },
        libc::SYS_rmdir => Call::Remove { path: here(a), is_folder: true },
        libc::SYS_mkdir => Call::MakeFolder { path: here(a), mode: word(b) },
        libc::SYS_symlink => Call::Symlink { target: a, path: here(b) },
        libc::SYS_rename => Call::Rename { from: here(a), to: here(b), flags: 0 },
        libc::SYS_link => Call::Link { from: here(a), to: here(b) },
        _ => return None,
    })
}

#[cfg(not(target_arch = "x86_64"))]
fn older(_: c_long, _: [u64; 3]) -> Option<Call> {
    None
}
