//! Answers to calls that reach other processes and the kernel: sockets, signals, scheduling, devices.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use rustix::fs::{
    CWD, FileType, FlockOperation, Mode, OFlags, ResolveFlags, fcntl_setfl, flock, fstat, fstatfs, openat2,
};
use rustix::io::Errno;
use rustix::net::sockopt::{socket_domain, socket_protocol};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, netlink, socket_with};
use rustix::process::{
    Pid, PidfdFlags, Signal, geteuid, pidfd_open, pidfd_send_signal, test_kill_process, test_kill_process_group,
};

use super::call::{Memory, Message, PathArgument};
use super::caller::{self, Caller};
use super::kernel::{self, Answer, Notification};
use super::network::{PROTOCOLS, Substitute, internet};
use super::predict::{self, Predicted};
use super::supervisor::{Access, Supervisor, number};
use super::syscalls::KIND_MASK;
use crate::fence::denial::Denial;
use crate::fence::reach::{Receiver, plain, program_of, session};
use crate::fence::{NetworkScope, RunKind};

/// Unix sockets of services that look up names, such as nscd. Connecting is refused, since a service may pass a name on
/// to any host.
const NAME_SERVICES: [&str; 3] = ["/run/nscd/socket", "/var/lib/sss/pipes/nss", "/run/systemd/userdb"];

/// Netlink protocols that a program may use to query routes, addresses and sockets.
const TELLING: [i32; 2] = [libc::NETLINK_ROUTE, libc::NETLINK_SOCK_DIAG];

/// Number of the netlink message `SOCK_DESTROY`, which ends a connection; libc does not name it.
const SOCKET_DESTROYED: u16 = 21;

/// Lowest netlink message type that is not a control message.
const FIRST_MESSAGE: u16 = 16;

/// Longest address of a Unix socket, in bytes.
const ADDRESS_MAX: u64 = 110;

/// Kinds of `syslog` calls that only read the kernel's log or its size.
const LOG_READS: [i32; 3] = [3, 9, 10];

/// Maximum bytes of the kernel's log that are read for a program: no log is longer.
const LOG_MAX: u64 = 1 << 26;

/// Second-lowest byte of `ioctl` request numbers for terminals, which fail with `ENOTTY` on other files.
const FOR_TERMINALS: u32 = 0x54;
const FOR_SOCKETS: u32 = 0x89;

impl Supervisor {
    /// Answers a request for a file lock: allowed on files that may be changed. In a reading run the caller learns
    /// whether it would get the lock, without holding it.
    pub(super) fn lock(&self, caller: &Caller, number: i32, waits: bool) -> io::Result<Answer> {
        let file = caller.file(number)?;
        let path = caller::real(&file)?;
        let is_in_view = || fstatfs(&file).is_ok_and(|found| found.f_type == libc::OVERLAYFS_SUPER_MAGIC);
        let writes = || caller.flags_of(number).is_some_and(|flags| flags.intersects(OFlags::WRONLY | OFlags::RDWR));
        let may = self.access(&path) != Access::Outside || caller::is_nameless(&file, &path) || writes();
        if may || (self.kind == RunKind::View && is_in_view()) {
            return Ok(Answer::Continue);
        }
        if !self.stops_at_denial() {
            return Ok(self.deny(Denial::Write(path), Answer::Fails(libc::ENOLCK)));
        }
        match flock(caller.open(number)?, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Answer::Returns(0)),
            Err(_) if waits => Ok(Answer::Continue),
            Err(error) => Err(error.into()),
        }
    }

    /// Answers `socket` in a run without the whole network: with approved addresses it may make internet sockets. Any
    /// other Unix or internet socket becomes an unconnected Unix socket, since programs also make sockets only to test
    /// the machine; using it with an address is denied.
    pub(super) fn socket(
        &mut self,
        notification: Notification,
        family: i32,
        kind: i32,
        protocol: i32,
    ) -> io::Result<Answer> {
        let flags = kind & (libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC);
        let kind = kind & i32::try_from(KIND_MASK).unwrap_or(i32::MAX);
        let is_usual = kind == libc::SOCK_STREAM || kind == libc::SOCK_DGRAM;
        match family {
            libc::AF_UNIX if kind == libc::SOCK_STREAM || kind == libc::SOCK_SEQPACKET => {
                self.substitute_socket(notification, flags).map(|_| Answer::NoReply)
            }
            libc::AF_NETLINK if TELLING.contains(&protocol) => Ok(Answer::Continue),
            libc::AF_INET | libc::AF_INET6 if self.network() == NetworkScope::Addresses => {
                let is_exact = is_usual && PROTOCOLS.contains(&protocol);
                Ok(if is_exact { Answer::Continue } else { self.deny_network() })
            }
            libc::AF_UNIX | libc::AF_INET | libc::AF_INET6 if is_usual => {
                let inode = self.substitute_socket(notification, flags)?;
                self.substitutes.insert(inode, Substitute { family, is_bound: false });
                Ok(Answer::NoReply)
            }
            libc::AF_INET | libc::AF_INET6 => Ok(self.deny_network()),
            // Many kernels lack such a family, so programs expect the error.
            _ if !self.stops_at_denial() => Ok(Answer::Fails(libc::EACCES)),
            _ => Ok(self.deny_call("socket")),
        }
    }

    /// Answers a request for the address of a network interface, which a program without internet sockets can't make
    /// itself.
    pub(super) fn interface_address(
        &self,
        notification: Notification,
        caller: &Caller,
        request: u32,
        at: u64,
    ) -> io::Result<Answer> {
        let mut bytes = caller.bytes(at)?;
        kernel::interface_address(request, &mut bytes)?;
        self.ensure_waiting(notification)?;
        caller.write_memory(at, &bytes)?;
        Ok(Answer::Returns(0))
    }

    /// Gives the program one end of a closed socket pair in place of an internet socket, so that it can't be connected.
    /// Returns its inode.
    fn substitute_socket(&self, notification: Notification, kind: i32) -> io::Result<u64> {
        let (socket, _) = UnixStream::pair()?;
        socket.set_nonblocking(kind & libc::SOCK_NONBLOCK != 0)?;
        let closes = kind & libc::SOCK_CLOEXEC != 0;
        kernel::add_file(self.listener.as_fd(), notification, socket.as_fd(), None, closes)?;
        Ok(fstat(&socket)?.st_ino)
    }

    /// Connects to a Unix socket that was granted: a connected socket replaces the program's own; any other is denied.
    /// If the whole network was approved, the kernel handles any other address: the Unix sockets that the program got
    /// can't be connected.
    pub(super) fn connect(
        &self,
        notification: Notification,
        caller: &Caller,
        socket: i32,
        address: Memory,
    ) -> io::Result<Answer> {
        let Some((family, address)) = self.address(caller, address) else { return Ok(Answer::Fails(libc::EINVAL)) };
        match family {
            libc::AF_UNIX => {}
            _ if self.network() == NetworkScope::Addresses => {
                return self.connect_approved(notification, caller, socket, (family, &address));
            }
            libc::AF_NETLINK | libc::AF_UNSPEC => return Ok(Answer::Continue),
            _ if self.network() == NetworkScope::Nothing => return Ok(self.deny_address(&address)),
            _ => return Ok(Answer::Continue),
        }
        let Some(path) = path_of(&address) else { return Ok(self.abstract_address(&address)) };
        let is_granted = |path: &Path| self.fence.reach.sockets.iter().any(|socket| socket == path);
        let path = if is_granted(path) { path.to_path_buf() } else { socket_at(caller, path)? };
        if NAME_SERVICES.iter().any(|known| path.starts_with(known)) {
            return Ok(Answer::Fails(libc::ECONNREFUSED));
        }
        if !is_granted(&path) {
            return Ok(self.deny(Denial::UnixSocket(path), Answer::Fails(libc::EACCES)));
        }
        // The real file, not the one at that path in a view.
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let target =
            openat2(CWD, &path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS)?;
        is_socket(&target)?;
        let own = caller.flags_of(socket).ok_or(io::Error::from_raw_os_error(libc::EBADF))?;
        self.ensure_waiting(notification)?;
        let made = match connected(&target, SocketType::STREAM) {
            Err(Errno::PROTOTYPE) => connected(&target, SocketType::SEQPACKET)?,
            made => made?,
        };
        fcntl_setfl(&made, own & OFlags::NONBLOCK)?;
        let closes = own.contains(OFlags::CLOEXEC);
        kernel::add_file(self.listener.as_fd(), notification, made.as_fd(), Some(socket), closes)?;
        Ok(Answer::Returns(0))
    }

    /// Answers connecting to an abstract socket address: refused if no socket has this address, otherwise denied.
    fn abstract_address(&self, address: &[u8]) -> Answer {
        let name: Vec<u8> =
            address.get(2..).unwrap_or_default().iter().map(|byte| if *byte == 0 { b'@' } else { *byte }).collect();
        let listed = std::fs::read("/proc/net/unix").unwrap_or_default();
        let is_used = listed.split(|byte| *byte == b'\n').any(|line| {
            line.ends_with(&name) && line.get(..line.len() - name.len()).is_some_and(|before| before.ends_with(b" "))
        });
        if !is_used {
            return Answer::Fails(libc::ECONNREFUSED);
        }
        self.deny(Denial::UnixSocket(PathBuf::from(OsStr::from_bytes(&name))), Answer::Fails(libc::EACCES))
    }

    /// Answers `bind`: netlink sockets, Unix sockets (not in a reading run) and free ports of loopback may be bound,
    /// nothing else.
    pub(super) fn bind(
        &mut self,
        notification: Notification,
        caller: &Caller,
        socket: i32,
        address: Memory,
    ) -> io::Result<Answer> {
        let Some((family, address)) = self.address(caller, address) else { return Ok(Answer::Fails(libc::EINVAL)) };
        if self.network() == NetworkScope::Addresses {
            return self.bind_approved(notification, caller, socket, (family, &address));
        }
        Ok(match family {
            // If the program changes the address meanwhile, Landlock still prevents creating a file for it.
            libc::AF_NETLINK => Answer::Continue,
            libc::AF_UNIX if !self.stops_at_denial() => Answer::Continue,
            libc::AF_UNIX => match path_of(&address) {
                Some(path) => match caller.place(libc::AT_FDCWD, path)? {
                    Some(entry) => match predict::making(&entry, false) {
                        Predicted::Fails(libc::EEXIST) => Answer::Fails(libc::EADDRINUSE),
                        Predicted::Fails(error) => Answer::Fails(error),
                        Predicted::ChangesNothing | Predicted::Changes => {
                            self.deny(Denial::Write(entry.path), Answer::NoReply)
                        }
                    },
                    None => Answer::Fails(libc::EADDRINUSE),
                },
                None => self.deny(Denial::UnixSocket("@".into()), Answer::NoReply),
            },
            // Any free port of loopback: programs bind it to test whether the address family is supported.
            _ if internet(&address).is_some_and(|to| to.ip().is_loopback() && to.port() == 0) => {
                return self.note_bound(caller, socket);
            }
            _ => self.deny_network(),
        })
    }

    /// Denies a connection to this address and records it.
    fn deny_address(&self, address: &[u8]) -> Answer {
        let denial = internet(address).map_or(Denial::Network, |to| Denial::Connection(plain(to)));
        self.deny(denial, Answer::Fails(libc::EACCES))
    }

    /// Reads a socket address from the caller's memory, with its address family; `None` if it is not valid.
    fn address(&self, caller: &Caller, address: Memory) -> Option<(i32, Vec<u8>)> {
        let length =
            usize::try_from(address.length & u64::from(u32::MAX)).ok().filter(|length| (2..=128).contains(length))?;
        let bytes = caller.some_bytes(address.address, length).ok()?;
        let family = u16::from_ne_bytes([*bytes.first()?, *bytes.get(1)?]);
        let fits = i32::from(family) != libc::AF_UNIX || length as u64 <= ADDRESS_MAX;
        fits.then_some((family.into(), bytes))
    }

    /// Answers a call that sends a message: to an address through a socket without network, or to the kernel as root;
    /// denied if it would reach out.
    pub(super) fn send(&self, caller: &Caller, socket: i32, at: u64, message: Message) -> Answer {
        if self.substitutes.is_empty() && !geteuid().is_root() {
            return Answer::Continue;
        }
        let word = |at: u64| caller.bytes(at).map(u64::from_ne_bytes);
        // In `struct msghdr`: the address, its length, and the first part of the message.
        let read = || match message {
            Message::Bytes { to, .. } => Ok((to, at)),
            Message::Header | Message::Headers { .. } => {
                let to = Memory { address: word(at)?, length: word(at + 8)? };
                Ok::<_, io::Error>((to, word(word(at + 16)?)?))
            }
        };
        let Ok((to, at)) = read() else { return Answer::Continue };
        if !self.substitutes.is_empty() && to.address != 0 {
            match self.address(caller, to) {
                Some((libc::AF_NETLINK, _)) | None => {}
                Some((libc::AF_UNIX, address)) => {
                    let path = path_of(&address).unwrap_or(Path::new("@")).to_path_buf();
                    return self.deny(Denial::UnixSocket(path), Answer::Fails(libc::EACCES));
                }
                Some((_, address)) => return self.deny_address(&address),
            }
        }
        let changes = || changes_network(caller, socket, at).unwrap_or(false);
        if geteuid().is_root() && changes() { self.deny_call("netlink") } else { Answer::Continue }
    }

    /// Answers a call that sends a signal: denied for processes outside the run, unless one was approved.
    pub(super) fn signal(&self, process: i32, signal: i32) -> Answer {
        let Some(pid) = Pid::from_raw(process.checked_abs().unwrap_or_default()) else { return Answer::Continue };
        // If artoo can't send it, the program could not without a sandbox either.
        let reaches = match process {
            -1 => Ok(()),
            group if group < 0 => test_kill_process_group(pid),
            _ => test_kill_process(pid),
        };
        if let Err(error) = reaches {
            return Answer::Fails(error.raw_os_error());
        }
        if signal == 0 {
            return Answer::Returns(0);
        }
        if process != -1 && self.is_of_run(pid) {
            return Answer::Continue;
        }
        if let Some(granted) = self.fence.reach.signals.iter().find(|receiver| receiver.pid == process) {
            return granted_signal(*granted, signal)
                .map_or_else(|error| Answer::Fails(number(&error)), |()| Answer::Returns(0));
        }
        let program = program_of(pid.as_raw_nonzero().get());
        self.deny(Denial::Signal { pid: process, program }, Answer::Fails(libc::EPERM))
    }

    /// Answers a call that sends a signal through a pidfd, like one by process id.
    pub(super) fn signal_through(&self, caller: &Caller, file: i32, signal: i32) -> Answer {
        caller
            .process_of(file)
            .map_or(Answer::Fails(libc::EBADF), |pid| self.signal(pid.as_raw_nonzero().get(), signal))
    }

    /// Whether a process, or the group it leads, belongs to the run, by its session.
    fn is_of_run(&self, pid: Pid) -> bool {
        // If the leader of a group has ended, Landlock decides.
        let session = session(pid.as_raw_nonzero().get());
        session.map_or(!self.stops_at_denial(), |session| self.sessions.contains(&session))
    }

    /// Answers a call that changes priority, scheduling or limits of a process: denied for processes outside the run.
    pub(super) fn share(&self, name: &'static str, process: Option<i32>) -> Answer {
        let Some(pid) = process.and_then(Pid::from_raw) else { return self.deny_call(name) };
        match test_kill_process(pid) {
            Err(error) => Answer::Fails(error.raw_os_error()),
            Ok(()) if self.is_of_run(pid) => Answer::Continue,
            Ok(()) => self.deny_call(name),
        }
    }

    /// Answers a call that changes user ids: denied if artoo runs as root and the ids would change, otherwise passed to
    /// the kernel.
    pub(super) fn identity(&self, name: &'static str, ids: Option<[u32; 3]>) -> Answer {
        let stays = ids.is_some_and(|ids| ids.iter().all(|id| *id == 0 || *id == u32::MAX));
        if stays || !geteuid().is_root() { Answer::Continue } else { self.deny_call(name) }
    }

    /// Reads a link in another process's folder in `/proc` for the program, since Landlock denies these to sandboxed
    /// programs.
    pub(super) fn read_link(
        &self,
        notification: Notification,
        caller: &Caller,
        path: PathArgument,
        into: Memory,
    ) -> io::Result<Answer> {
        let Ok(text) = caller.path(path.address) else { return Ok(Answer::Continue) };
        let Some(pid) = process_of_link(&text) else { return Ok(Answer::Continue) };
        let link = std::fs::read_link(&text)?;
        if pid == std::process::id().to_string() && !link.as_os_str().as_bytes().starts_with(b"socket:") {
            // Of artoo itself only sockets are shown, so that the owner of a port is known.
            return Ok(Answer::Continue);
        }
        let length = usize::try_from(into.length).unwrap_or(usize::MAX);
        let link = link.as_os_str().as_bytes();
        let link = link.get(..length.min(link.len())).unwrap_or_default();
        self.ensure_waiting(notification)?;
        caller.write_memory(into.address, link)?;
        Ok(Answer::Returns(i64::try_from(link.len()).unwrap_or_default()))
    }

    /// Reads the kernel's log on behalf of a program that lost the capability for it in the sandbox; other uses of the
    /// call are denied.
    pub(super) fn log(
        &self,
        notification: Notification,
        caller: &Caller,
        kind: i32,
        into: Memory,
    ) -> io::Result<Answer> {
        if !LOG_READS.contains(&kind) {
            return Ok(self.deny_call("syslog"));
        }
        let length = if kind == LOG_READS[0] { into.length.min(LOG_MAX) } else { 0 };
        let mut bytes = vec![0; usize::try_from(length).unwrap_or_default()];
        let read = kernel::log(kind, &mut bytes)?;
        self.ensure_waiting(notification)?;
        caller.write_memory(into.address, bytes.get(..read.min(bytes.len())).unwrap_or_default())?;
        Ok(Answer::Returns(i64::try_from(read).unwrap_or_default()))
    }

    /// Answers an `ioctl` request that is not allowed: denied, or `ENOTTY` where the file has no such request. It never
    /// continues in the kernel.
    pub(super) fn request(&self, caller: &Caller, file: i32, request: u32) -> Answer {
        let Ok(file) = caller.file(file) else { return Answer::Fails(libc::EBADF) };
        let kind = fstat(&file).map(|found| FileType::from_raw_mode(found.st_mode));
        let group = request >> 8 & 0xff;
        match kind {
            Ok(FileType::Fifo) => Answer::Fails(libc::ENOTTY),
            Ok(FileType::Socket) if group != FOR_SOCKETS => Answer::Fails(libc::ENOTTY),
            Ok(kind) if kind != FileType::Socket && (group == FOR_TERMINALS || group == FOR_SOCKETS) => {
                Answer::Fails(libc::ENOTTY)
            }
            _ => self.deny_call("ioctl"),
        }
    }
}

/// Sends a signal that an approval allows, unless another process has the receiver's process ID by now.
fn granted_signal(receiver: Receiver, signal: i32) -> io::Result<()> {
    let gone = || io::Error::from_raw_os_error(libc::ESRCH);
    let pid = Pid::from_raw(receiver.pid).ok_or_else(gone)?;
    // Opened before the check, so that the checked process is the one that gets the signal.
    let process = pidfd_open(pid, PidfdFlags::empty())?;
    if Receiver::of(receiver.pid) != Some(receiver) {
        return Err(gone());
    }
    let signal = Signal::from_named_raw(signal).ok_or_else(|| io::Error::from_raw_os_error(libc::EINVAL))?;
    Ok(pidfd_send_signal(&process, signal)?)
}

/// The real path of a Unix socket that the caller's path leads to; an error if it is not a socket.
fn socket_at(caller: &Caller, path: &Path) -> io::Result<PathBuf> {
    let target = caller.target(libc::AT_FDCWD, path, true)?;
    is_socket(&target)?;
    caller::real(&target)
}

/// Succeeds if the file is a socket to which the user may connect; otherwise fails as `connect` would.
fn is_socket(target: &OwnedFd) -> io::Result<()> {
    if FileType::from_raw_mode(fstat(target)?.st_mode) != FileType::Socket {
        return Err(io::Error::from_raw_os_error(libc::ECONNREFUSED));
    }
    Ok(predict::writable(target)?)
}

/// A new socket connected to the open target on behalf of the program. It does not block, so that other answers are not
/// delayed.
fn connected(target: &OwnedFd, kind: SocketType) -> rustix::io::Result<OwnedFd> {
    let socket = socket_with(AddressFamily::UNIX, kind, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK, None)?;
    connect(&socket, &SocketAddrUnix::new(format!("/proc/self/fd/{}", target.as_raw_fd()))?)?;
    Ok(socket)
}

/// Whether a netlink message would change routes or end connections, which must then be recorded as denied.
fn changes_network(caller: &Caller, socket: i32, at: u64) -> io::Result<bool> {
    let handle = caller.handle(socket)?;
    if socket_domain(&handle)? != AddressFamily::NETLINK {
        return Ok(false);
    }
    let kind = u16::from_ne_bytes(caller.bytes(at + 4)?);
    if socket_protocol(&handle)? == Some(netlink::SOCK_DIAG) {
        return Ok(kind == SOCKET_DESTROYED);
    }
    // A probe for hard links, which names no file.
    let is_probe =
        kind == libc::RTM_NEWLINK && caller.bytes(at)? == 32_u32.to_ne_bytes() && caller.bytes(at + 16)? == [0; 16];
    // Message types come in fours: new, delete, get, set.
    Ok(kind >= FIRST_MESSAGE && kind % 4 != 2 && !is_probe)
}

/// The path in a Unix socket address; `None` for an abstract address.
fn path_of(address: &[u8]) -> Option<&Path> {
    let name = address.get(2..)?;
    let path = name.split(|byte| *byte == 0).next().filter(|path| !path.is_empty())?;
    Some(Path::new(OsStr::from_bytes(path)))
}

/// The process ID in a path of the form `/proc/PID/fd/N`, `exe`, `cwd` or `root`; `None` for other paths.
fn process_of_link(path: &Path) -> Option<&str> {
    let parts: Vec<&str> = path.iter().filter_map(OsStr::to_str).collect();
    let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    match parts.as_slice() {
        ["/", "proc", pid, "fd", number] if is_number(pid) && is_number(number) => Some(pid),
        ["/", "proc", pid, "exe" | "cwd" | "root"] if is_number(pid) => Some(pid),
        _ => None,
    }
}
