//! Decodes system calls from their numbers and arguments.

use libc::c_long;
use rustix::fs::OFlags;

use super::kernel::Notification;
use super::syscalls::{DENIED, IDENTITY, ON_PROCESSES};

/// `AT_FDCWD`, the working folder, in the form of a system call's argument.
const AT_CWD: u64 = libc::AT_FDCWD as u64;
const NO_LINK: u64 = libc::AT_SYMLINK_NOFOLLOW as u64;

/// A path argument of a system call: a folder's file descriptor, and the address of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PathArgument {
    pub(super) folder: i32,
    pub(super) address: u64,
}

/// The file whose mode, owner, times or attributes a system call sets: by descriptor or by path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subject {
    File(i32),
    Path { path: PathArgument, follows: bool },
}

/// The format in which a system call passes file times: seconds, microseconds or nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TimeFormat {
    Seconds,
    Microseconds,
    Nanoseconds,
}

/// A system call that the supervisor answers, decoded, with its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Call {
    NewSession,
    NewGroup,
    Socket { family: i32, kind: i32, protocol: i32 },
    Connect { socket: i32, address: Memory },
    Bind { socket: i32, address: Memory },
    Listen,
    OwnAddress { socket: i32, into: (u64, u64) },
    SetOption { level: i32, option: i32 },
    Send { socket: i32, at: u64, message: Message, flags: i32 },
    Lock { file: i32, waits: bool },
    Signal { process: i32, signal: i32 },
    SignalThrough { file: i32, signal: i32 },
    Share { name: &'static str, process: Option<i32> },
    Identity { name: &'static str, ids: Option<[u32; 3]> },
    Request { file: i32, request: u32, at: u64 },
    Attributes { of: Subject },
    ReadLink { path: PathArgument, into: Memory },
    Log { kind: i32, into: Memory },
    Denied { name: &'static str },
    Mode { of: Subject, mode: u32 },
    Owner { of: Subject, user: u32, group: u32 },
    Times { of: Subject, address: u64, format: TimeFormat },
    Open { path: PathArgument, flags: OFlags, mode: u32 },
    Remove { path: PathArgument, is_folder: bool },
    MakeFolder { path: PathArgument, mode: u32 },
    Symlink { target: u64, path: PathArgument },
    Rename { from: PathArgument, to: PathArgument, flags: u32 },
    Link { from: PathArgument, to: PathArgument },
    Truncate { path: PathArgument },
    Make { path: PathArgument, mode: u32 },
}

/// How a network call passes what it sends: bytes with an address, one message header, or an array of headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Message {
    Bytes {
        length: u64,
        to: Memory,
    },
    /// `struct msghdr`.
    Header,
    /// An array of `struct mmsghdr`.
    Headers {
        count: u64,
    },
}

/// A range of the caller's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Memory {
    pub(super) address: u64,
    pub(super) length: u64,
}

/// Decodes the system call of a notification; `None` if no filter asks about this call.
pub(super) fn read(notification: Notification) -> Option<Call> {
    let [a, b, c, d, e, f] = notification.arguments;
    let older = || older(notification.call, [a, b, c]);
    at(notification.call, [a, b, c, d, e])
        .or_else(older)
        .or_else(|| reaching(notification.call, [a, b, c, d, e, f]))
        .or_else(|| denied(notification))
}

/// Decodes system calls on sockets, processes, locks, devices, attributes, links and user ids; `None` for any other.
fn reaching(call: c_long, [a, b, c, d, e, f]: [u64; 6]) -> Option<Call> {
    let address = Memory { address: b, length: c };
    Some(match call {
        libc::SYS_connect => Call::Connect { socket: int(a), address },
        libc::SYS_bind => Call::Bind { socket: int(a), address },
        libc::SYS_listen => Call::Listen,
        libc::SYS_getsockname => Call::OwnAddress { socket: int(a), into: (b, c) },
        libc::SYS_setsockopt => Call::SetOption { level: int(b), option: int(c) },
        libc::SYS_sendto => {
            let message = Message::Bytes { length: c, to: Memory { address: e, length: f } };
            Call::Send { socket: int(a), at: b, message, flags: int(d) }
        }
        libc::SYS_sendmsg => Call::Send { socket: int(a), at: b, message: Message::Header, flags: int(c) },
        libc::SYS_sendmmsg => {
            let message = Message::Headers { count: u64::from(low_word(c)) };
            Call::Send { socket: int(a), at: b, message, flags: int(d) }
        }
        libc::SYS_kill | libc::SYS_tkill | libc::SYS_rt_sigqueueinfo => {
            Call::Signal { process: int(a), signal: int(b) }
        }
        libc::SYS_tgkill | libc::SYS_rt_tgsigqueueinfo => Call::Signal { process: int(a), signal: int(c) },
        libc::SYS_pidfd_send_signal => Call::SignalThrough { file: int(a), signal: int(b) },
        libc::SYS_flock => Call::Lock { file: int(a), waits: !has(b, libc::LOCK_NB) },
        libc::SYS_ioctl => Call::Request { file: int(a), request: low_word(b), at: c },
        libc::SYS_prlimit64 => Call::Share { name: "SYS_prlimit64", process: Some(int(a)) },
        libc::SYS_setxattr | libc::SYS_removexattr => Call::Attributes { of: subject(AT_CWD, a, 0) },
        libc::SYS_lsetxattr | libc::SYS_lremovexattr => Call::Attributes { of: subject(AT_CWD, a, NO_LINK) },
        libc::SYS_fsetxattr | libc::SYS_fremovexattr => Call::Attributes { of: Subject::File(int(a)) },
        libc::SYS_readlinkat => {
            Call::ReadLink { path: relative_to_folder(a, b), into: Memory { address: c, length: d } }
        }
        #[cfg(target_arch = "x86_64")]
        libc::SYS_readlink => Call::ReadLink { path: relative_to_cwd(a), into: Memory { address: b, length: c } },
        libc::SYS_syslog => Call::Log { kind: int(a), into: address },
        libc::SYS_mknodat => Call::Make { path: relative_to_folder(a, b), mode: low_word(c) },
        #[cfg(target_arch = "x86_64")]
        libc::SYS_mknod => Call::Make { path: relative_to_cwd(a), mode: low_word(b) },
        libc::SYS_clone => Call::Denied { name: "SYS_clone" },
        libc::SYS_unshare => Call::Denied { name: "SYS_unshare" },
        libc::SYS_fcntl => Call::Denied { name: "SYS_fcntl" },
        libc::SYS_socketpair => Call::Denied { name: "SYS_socketpair" },
        libc::SYS_setgroups => Call::Identity { name: "SYS_setgroups", ids: None },
        libc::SYS_setuid | libc::SYS_setgid => identity(call, [a, a, a])?,
        libc::SYS_setreuid | libc::SYS_setregid => identity(call, [a, b, b])?,
        libc::SYS_setresuid | libc::SYS_setresgid => identity(call, [a, b, c])?,
        _ => {
            let (_, name, process, everyone) = *ON_PROCESSES.iter().find(|(known, ..)| *known == call)?;
            let named = if process == 0 { a } else { b };
            // The kinds are numbered in order: one process, a group, a user's processes.
            let is_one = everyone.is_none_or(|user| low_word(a).saturating_add(2) == user);
            Call::Share { name, process: is_one.then(|| int(named)) }
        }
    })
}

/// Decodes a system call that changes user or group ids; `None` for any other.
fn identity(call: c_long, ids: [u64; 3]) -> Option<Call> {
    let (_, name) = *IDENTITY.iter().find(|(known, _)| *known == call)?;
    Some(Call::Identity { name, ids: Some(ids.map(low_word)) })
}

/// Decodes a system call that is always denied; `None` for any other.
fn denied(notification: Notification) -> Option<Call> {
    DENIED.iter().find(|(known, _)| *known == notification.call).map(|(_, name)| Call::Denied { name })
}

/// A system call's argument as the `int` that the kernel reads.
#[expect(clippy::cast_possible_truncation, reason = "the kernel reads the lower half only")]
fn int(argument: u64) -> i32 {
    argument as u32 as i32
}

/// A system call's argument as an unsigned 32-bit value.
#[expect(clippy::cast_possible_truncation, reason = "the kernel reads the lower half only")]
fn low_word(argument: u64) -> u32 {
    argument as u32
}

/// Whether a system call's argument has this flag.
fn has(flags: u64, flag: i32) -> bool {
    int(flags) & flag != 0
}

/// A path argument of a system call that is relative to the working folder.
fn relative_to_cwd(address: u64) -> PathArgument {
    PathArgument { folder: libc::AT_FDCWD, address }
}

/// A path argument of a system call that is relative to the folder of a file descriptor.
fn relative_to_folder(folder: u64, address: u64) -> PathArgument {
    PathArgument { folder: int(folder), address }
}

/// An argument of a system call as `open` flags.
fn flags_of(argument: u64) -> OFlags {
    OFlags::from_bits_retain(low_word(argument))
}

/// The file whose metadata a call sets: the file descriptor itself (`AT_EMPTY_PATH`, or no path), or a path below it.
fn subject(folder: u64, address: u64, flags: u64) -> Subject {
    if address == 0 || has(flags, libc::AT_EMPTY_PATH) {
        return Subject::File(int(folder));
    }
    Subject::Path { path: relative_to_folder(folder, address), follows: !has(flags, libc::AT_SYMLINK_NOFOLLOW) }
}

/// Decodes system calls on files, sessions and sockets that exist on every architecture; `None` for any other.
fn at(call: c_long, [a, b, c, d, e]: [u64; 5]) -> Option<Call> {
    Some(match call {
        libc::SYS_setsid => Call::NewSession,
        libc::SYS_setpgid => Call::NewGroup,
        libc::SYS_socket => Call::Socket { family: int(a), kind: int(b), protocol: int(c) },
        libc::SYS_fchmod => Call::Mode { of: Subject::File(int(a)), mode: low_word(b) },
        libc::SYS_fchmodat => Call::Mode { of: subject(a, b, 0), mode: low_word(c) },
        libc::SYS_fchmodat2 => Call::Mode { of: subject(a, b, d), mode: low_word(c) },
        libc::SYS_fchown => Call::Owner { of: Subject::File(int(a)), user: low_word(b), group: low_word(c) },
        libc::SYS_fchownat => Call::Owner { of: subject(a, b, e), user: low_word(c), group: low_word(d) },
        libc::SYS_utimensat => Call::Times { of: subject(a, b, d), address: c, format: TimeFormat::Nanoseconds },
        libc::SYS_openat => Call::Open { path: relative_to_folder(a, b), flags: flags_of(c), mode: low_word(d) },
        libc::SYS_unlinkat => Call::Remove { path: relative_to_folder(a, b), is_folder: has(c, libc::AT_REMOVEDIR) },
        libc::SYS_mkdirat => Call::MakeFolder { path: relative_to_folder(a, b), mode: low_word(c) },
        libc::SYS_symlinkat => Call::Symlink { target: a, path: relative_to_folder(b, c) },
        libc::SYS_renameat2 => {
            Call::Rename { from: relative_to_folder(a, b), to: relative_to_folder(c, d), flags: low_word(e) }
        }
        #[cfg(target_arch = "x86_64")]
        libc::SYS_renameat => Call::Rename { from: relative_to_folder(a, b), to: relative_to_folder(c, d), flags: 0 },
        libc::SYS_linkat if e == 0 => Call::Link { from: relative_to_folder(a, b), to: relative_to_folder(c, d) },
        libc::SYS_linkat => Call::Make { path: relative_to_folder(c, d), mode: 0 },
        libc::SYS_truncate => Call::Truncate { path: relative_to_cwd(a) },
        _ => return None,
    })
}

/// Decodes file calls that exist on x86-64 only, such as `chmod` and `open`; `None` for any other.
#[cfg(target_arch = "x86_64")]
fn older(call: c_long, [a, b, c]: [u64; 3]) -> Option<Call> {
    let path = |follows| Subject::Path { path: relative_to_cwd(a), follows };
    Some(match call {
        libc::SYS_chmod => Call::Mode { of: path(true), mode: low_word(b) },
        libc::SYS_chown => Call::Owner { of: path(true), user: low_word(b), group: low_word(c) },
        libc::SYS_lchown => Call::Owner { of: path(false), user: low_word(b), group: low_word(c) },
        libc::SYS_utime => Call::Times { of: path(true), address: b, format: TimeFormat::Seconds },
        libc::SYS_utimes => Call::Times { of: path(true), address: b, format: TimeFormat::Microseconds },
        libc::SYS_futimesat => Call::Times { of: subject(a, b, 0), address: c, format: TimeFormat::Microseconds },
        libc::SYS_open => Call::Open { path: relative_to_cwd(a), flags: flags_of(b), mode: low_word(c) },
        libc::SYS_creat => Call::Open {
            path: relative_to_cwd(a),
            flags: OFlags::CREATE | OFlags::WRONLY | OFlags::TRUNC,
            mode: low_word(b),
        },
        libc::SYS_unlink => Call::Remove { path: relative_to_cwd(a), is_folder: false },
        libc::SYS_rmdir => Call::Remove { path: relative_to_cwd(a), is_folder: true },
        libc::SYS_mkdir => Call::MakeFolder { path: relative_to_cwd(a), mode: low_word(b) },
        libc::SYS_symlink => Call::Symlink { target: a, path: relative_to_cwd(b) },
        libc::SYS_rename => Call::Rename { from: relative_to_cwd(a), to: relative_to_cwd(b), flags: 0 },
        libc::SYS_link => Call::Link { from: relative_to_cwd(a), to: relative_to_cwd(b) },
        _ => return None,
    })
}

/// Decodes system calls that exist on x86-64 only; always `None` on this architecture.
#[cfg(not(target_arch = "x86_64"))]
fn older(_: c_long, _: [u64; 3]) -> Option<Call> {
    None
}
