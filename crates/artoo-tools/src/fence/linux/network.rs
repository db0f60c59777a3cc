//! The supervisor's answers to calls on internet sockets.
//!
//! If some addresses are approved, the supervisor connects and sends for the program, on its own socket and to the
//! address that was checked, so that the program can't replace either meanwhile. Without approval, substitute sockets
//! behave as unused internet sockets do.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::thread;

use rustix::fs::{OFlags, fstat};
use rustix::net::netlink::{SOCK_DIAG, SocketAddrNetlink};
use rustix::net::sockopt::{socket_domain, socket_protocol, socket_type};
use rustix::net::{AddressFamily, SendFlags, SocketType, bind, connect, connect_unspec, send, sendto};

use super::call::{Memory, Message};
use super::caller::Caller;
use super::kernel::{self, Answer, Notification};
use super::supervisor::{Supervisor, number};
use super::syscalls::ROUTING_OPTIONS;
use crate::fence::NetworkScope;
use crate::fence::denial::Denial;
use crate::fence::reach::plain;

/// Internet protocols whose sockets send only by calls that the supervisor answers.
pub(super) const PROTOCOLS: [i32; 5] =
    [libc::IPPROTO_IP, libc::IPPROTO_TCP, libc::IPPROTO_UDP, libc::IPPROTO_ICMP, libc::IPPROTO_ICMPV6];

/// Maximum bytes of a stream that the supervisor sends for one call. The program sends the rest with its next call.
const SENT_MAX: usize = 1 << 20;

/// Maximum number of messages that the supervisor sends for one call. The program sends the rest with its next call.
const MESSAGES_MAX: u64 = 64;

/// Maximum number of parts (`iovec`) of one message, as in the kernel.
const PARTS_MAX: u64 = 1024;

/// Maximum number of a program's network calls that wait for the network at once.
const WAITING_MAX: usize = 64;

/// Size in bytes of `struct mmsghdr`; the constant after it is the offset of `msg_len`.
const MESSAGE_BYTES: u64 = 64;
const SENT_AT: u64 = 56;

/// Flags of a program's `send` call that the supervisor uses too; others are dropped.
const SEND_FLAGS: i32 = libc::MSG_DONTWAIT | libc::MSG_MORE | libc::MSG_EOR | libc::MSG_OOB | libc::MSG_CONFIRM;

/// Levels of socket options that a Unix socket in place of an internet socket supports too.
const WITHOUT_ADDRESS: [i32; 2] = [libc::SOL_SOCKET, libc::SOL_NETLINK];

/// Levels of socket options that only internet sockets have, so that a Unix socket in place of one can't set them.
const OF_INTERNET: [i32; 3] = [libc::IPPROTO_IP, libc::IPPROTO_IPV6, libc::IPPROTO_TCP];

/// State of a Unix socket that a program gets in place of an internet socket.
pub(super) struct Substitute {
    /// The family that the program asked for.
    pub(super) family: i32,
    pub(super) is_bound: bool,
}

/// A message that the supervisor copied from the program's memory, with its destination.
struct Copied {
    bytes: Vec<u8>,
    /// Empty if the message has no address.
    to: Vec<u8>,
    has_control: bool,
}

/// A message that the supervisor has checked and may send; `to` is `None` if the socket is connected already.
struct Checked {
    bytes: Vec<u8>,
    to: Option<SocketAddr>,
}

impl Checked {
    /// Sends the checked message on this socket with these flags; returns the number of bytes sent.
    fn send(&self, socket: &OwnedFd, flags: i32) -> rustix::io::Result<usize> {
        let flags = SendFlags::from_bits_retain(flags.cast_unsigned());
        match self.to {
            Some(to) => sendto(socket, &self.bytes, flags, &to),
            None => send(socket, &self.bytes, flags),
        }
    }
}

impl Supervisor {
    /// The part of the network that the program may reach; in a reading run none.
    pub(super) fn network(&self) -> NetworkScope {
        if self.stops_at_denial() { NetworkScope::Nothing } else { self.fence.reach.network_scope() }
    }

    /// Denies a system call because it would use the network, and records that.
    pub(super) fn deny_network(&self) -> Answer {
        self.deny(Denial::Network, Answer::Fails(libc::EACCES))
    }

    /// Answers `getsockname`: a Unix socket in place of an internet socket reports the unspecified address; it is
    /// denied if the socket is bound.
    pub(super) fn own_address(
        &self,
        notification: Notification,
        caller: &Caller,
        socket: i32,
        (at, length_at): (u64, u64),
    ) -> io::Result<Answer> {
        let substitute = || self.substitutes.get(&fstat(caller.handle(socket).ok()?).ok()?.st_ino);
        let unspecified: SocketAddr = match substitute() {
            Some(Substitute { family: libc::AF_INET | libc::AF_INET6, is_bound: true }) => {
                return Ok(self.deny_network());
            }
            Some(Substitute { family: libc::AF_INET, .. }) => (Ipv4Addr::UNSPECIFIED, 0).into(),
            Some(Substitute { family: libc::AF_INET6, .. }) => (Ipv6Addr::UNSPECIFIED, 0).into(),
            Some(_) | None => return Ok(Answer::Continue),
        };
        let bytes = bytes_of(unspecified);
        let room = usize::try_from(u32::from_ne_bytes(caller.bytes(length_at)?)).unwrap_or(usize::MAX);
        self.ensure_waiting(notification)?;
        caller.write_memory(at, bytes.get(..room).unwrap_or(&bytes))?;
        caller.write_memory(length_at, &u32::try_from(bytes.len()).unwrap_or_default().to_ne_bytes())?;
        Ok(Answer::Returns(0))
    }

    /// Notes that the program bound a Unix socket that it has in place of an internet socket; the call succeeds.
    pub(super) fn note_bound(&mut self, caller: &Caller, socket: i32) -> io::Result<Answer> {
        let inode = fstat(caller.handle(socket)?)?.st_ino;
        if let Some(substitute) = self.substitutes.get_mut(&inode) {
            substitute.is_bound = true;
        }
        Ok(Answer::Returns(0))
    }

    /// Answers setting a socket option. A Unix socket in place of an internet socket pretends to have any option that
    /// names no other host.
    pub(super) fn set_option(&self, level: i32, option: i32) -> Answer {
        let routes = || ROUTING_OPTIONS.iter().any(|(known, options)| *known == level && options.contains(&option));
        match () {
            () if self.substitutes.is_empty() || WITHOUT_ADDRESS.contains(&level) => Answer::Continue,
            () if OF_INTERNET.contains(&level) && !routes() => Answer::Returns(0),
            () => self.deny_network(),
        }
    }

    /// Denies listening on an internet socket; other sockets of the program are connected and can't listen.
    pub(super) fn listen(&self) -> Answer {
        let may_be_internet =
            self.stops_at_denial() || !self.substitutes.is_empty() || self.network() == NetworkScope::Addresses;
        if may_be_internet { self.deny_network() } else { Answer::Fails(libc::EINVAL) }
    }

    /// Connects the program's socket to an address on its behalf, if the address is approved; otherwise denies it.
    pub(super) fn connect_approved(
        &self,
        notification: Notification,
        caller: &Caller,
        socket: i32,
        (family, address): (i32, &[u8]),
    ) -> io::Result<Answer> {
        let flags = caller.flags_of(socket).ok_or(io::Error::from_raw_os_error(libc::EBADF))?;
        let handle = caller.handle(socket)?;
        if family == libc::AF_UNSPEC {
            self.ensure_waiting(notification)?;
            connect_unspec(&handle)?;
            return Ok(Answer::Returns(0));
        }
        if family == libc::AF_NETLINK {
            self.ensure_waiting(notification)?;
            connect(&handle, &netlink_address(address)?)?;
            return Ok(Answer::Returns(0));
        }
        let Some(to) = internet(address) else { return Ok(Answer::Fails(libc::EAFNOSUPPORT)) };
        if !self.fence.reach.has_address(to) {
            return Ok(self.deny(Denial::Connection(plain(to)), Answer::Fails(libc::EACCES)));
        }
        self.ensure_waiting(notification)?;
        self.observed.lock().reached_out = true;
        if flags.contains(OFlags::NONBLOCK) {
            connect(&handle, &to)?;
            return Ok(Answer::Returns(0));
        }
        self.wait(notification, move || Ok(connect(&handle, &to).map(|()| 0)?))
    }

    /// Sends a program's messages on a socket; those with an address only if that is approved.
    pub(super) fn send_approved(
        &self,
        notification: Notification,
        caller: &Caller,
        socket: i32,
        at: u64,
        (message, flags): (Message, i32),
    ) -> io::Result<Answer> {
        let handle = caller.handle(socket)?;
        let is_stream = socket_type(&handle)? == SocketType::STREAM;
        let never_waits = flags & libc::MSG_DONTWAIT != 0
            || caller.flags_of(socket).is_none_or(|flags| flags.contains(OFlags::NONBLOCK));
        let count = if let Message::Headers { count } = message { count.min(MESSAGES_MAX) } else { 1 };
        let mut sent = 0;
        for nth in 0..count {
            let at = at + nth * MESSAGE_BYTES;
            let checked = copied(caller, at, message, is_stream)
                .and_then(|copied| self.checked(&handle, copied, flags))
                .and_then(|checked| self.ensure_waiting(notification).map(|()| checked));
            let checked = match checked {
                Ok(Ok(checked)) => checked,
                Ok(Err(answer)) if sent == 0 => return Ok(answer),
                Err(error) if sent == 0 => return Err(error),
                Ok(Err(_)) | Err(_) => break,
            };
            let flags = flags & SEND_FLAGS | libc::MSG_NOSIGNAL;
            match checked.send(&handle, flags | libc::MSG_DONTWAIT) {
                Ok(length) if matches!(message, Message::Headers { .. }) => {
                    caller.write_memory(at + SENT_AT, &u32::try_from(length).unwrap_or_default().to_ne_bytes())?;
                    sent += 1;
                }
                Ok(length) => return Ok(Answer::Returns(i64::try_from(length).unwrap_or_default())),
                Err(_) if sent > 0 => break,
                // Only a single message is waited for, since the call returns the number of messages.
                Err(rustix::io::Errno::AGAIN) if !never_waits && !matches!(message, Message::Headers { .. }) => {
                    return self.wait(notification, move || {
                        Ok(checked.send(&handle, flags).map(|length| i64::try_from(length).unwrap_or_default())?)
                    });
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Answer::Returns(sent))
    }

    /// Checks a program's message against the approved addresses: returns the message to send, or the answer that
    /// denies the call.
    fn checked(&self, socket: &OwnedFd, message: Copied, flags: i32) -> io::Result<Result<Checked, Answer>> {
        let Copied { bytes, to, has_control } = message;
        let domain = socket_domain(socket)?;
        let is_internet = domain == AddressFamily::INET || domain == AddressFamily::INET6;
        let mut address = None;
        if is_internet && !to.is_empty() {
            let Some(to) = internet(&to) else { return Ok(Err(Answer::Fails(libc::EAFNOSUPPORT))) };
            if !self.fence.reach.has_address(to) {
                return Ok(Err(self.deny(Denial::Connection(plain(to)), Answer::Fails(libc::EACCES))));
            }
            self.observed.lock().reached_out = true;
            address = Some(to);
        }
        Ok(match () {
            // Programs that use these do without where they are not supported.
            () if flags & libc::MSG_FASTOPEN != 0 || is_internet && has_control => Err(Answer::Fails(libc::EOPNOTSUPP)),
            // The supervisor's capabilities must not count for the program.
            () if domain == AddressFamily::NETLINK
                && !only_asks(&bytes, socket_protocol(socket)? == Some(SOCK_DIAG)) =>
            {
                Err(Answer::Fails(libc::EPERM))
            }
            // Passing file descriptors on is not supported.
            () if has_control => Err(self.deny(Denial::Network, Answer::Fails(libc::EPERM))),
            // Other sockets are connected. A netlink message without an address goes to the kernel, which then checks
            // the capabilities of the process that created the socket.
            () => Ok(Checked { bytes, to: address }),
        })
    }

    /// Binds a socket for a program that may reach some addresses: netlink sockets, and internet sockets to any free
    /// port of loopback.
    pub(super) fn bind_approved(
        &self,
        notification: Notification,
        caller: &Caller,
        socket: i32,
        (family, address): (i32, &[u8]),
    ) -> io::Result<Answer> {
        let handle = caller.handle(socket)?;
        let to = internet(address);
        self.ensure_waiting(notification)?;
        match (family, to) {
            (libc::AF_NETLINK, _) => bind(&handle, &netlink_address(address)?)?,
            (libc::AF_UNIX, _) => return Ok(Answer::Fails(libc::EACCES)),
            (_, Some(to)) if to.ip().is_loopback() && to.port() == 0 => bind(&handle, &to)?,
            _ => return Ok(self.deny_network()),
        }
        Ok(Answer::Returns(0))
    }

    /// Waits on another thread until a socket can send or connect, and answers the call from there, so that other calls
    /// are answered meanwhile.
    fn wait(
        &self,
        notification: Notification,
        act: impl FnOnce() -> io::Result<i64> + Send + 'static,
    ) -> io::Result<Answer> {
        let waiting = Arc::clone(&self.waiting);
        if Arc::strong_count(&waiting) > WAITING_MAX {
            return Ok(Answer::Fails(libc::EAGAIN));
        }
        let listener: OwnedFd = self.listener.try_clone()?;
        thread::Builder::new().name("artoo-network".to_owned()).spawn(move || {
            let answer = act().map_or_else(|error| Answer::Fails(number(&error)), Answer::Returns);
            kernel::answer(listener.as_fd(), notification, answer);
            drop(waiting);
        })?;
        Ok(Answer::NoReply)
    }
}

/// Copies one message, with its address, from the program's memory.
fn copied(caller: &Caller, at: u64, message: Message, is_stream: bool) -> io::Result<Copied> {
    let word = |at: u64| caller.bytes(at).map(u64::from_ne_bytes);
    if let Message::Bytes { length, to } = message {
        let bytes = parts(caller, [(at, length)], is_stream)?;
        return Ok(Copied { bytes, to: address(caller, to)?, has_control: false });
    }
    let to = Memory { address: word(at)?, length: word(at + 8)? };
    let (first, count) = (word(at + 16)?, word(at + 24)?);
    if count > PARTS_MAX {
        return Err(io::Error::from_raw_os_error(libc::EMSGSIZE));
    }
    let all = (0..count).map(|nth| Ok((word(first + nth * 16)?, word(first + nth * 16 + 8)?)));
    let bytes = parts(caller, all.collect::<io::Result<Vec<_>>>()?, is_stream)?;
    Ok(Copied { bytes, to: address(caller, to)?, has_control: word(at + 32)? != 0 && word(at + 40)? != 0 })
}

/// Reads the destination address of a message from the caller's memory; empty if it has none.
fn address(caller: &Caller, Memory { address, length }: Memory) -> io::Result<Vec<u8>> {
    // The kernel reads the length as an `int`.
    let length = usize::try_from(length & u64::from(u32::MAX)).unwrap_or(usize::MAX);
    match (address, length) {
        (0, _) | (_, 0) => Ok(Vec::new()),
        (_, 2..=128) => caller.some_bytes(address, length),
        _ => Err(io::Error::from_raw_os_error(libc::EINVAL)),
    }
}

/// Reads the parts of a message from the caller's memory and joins them, up to [`SENT_MAX`] bytes of a stream.
fn parts(caller: &Caller, parts: impl IntoIterator<Item = (u64, u64)>, is_stream: bool) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for (at, length) in parts {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let room = SENT_MAX - bytes.len();
        if length > room && !is_stream {
            return Err(io::Error::from_raw_os_error(libc::EMSGSIZE));
        }
        let length = length.min(room);
        if length > 0 {
            let fault = |_| io::Error::from_raw_os_error(libc::EFAULT);
            bytes.extend(caller.some_bytes(at, length).map_err(fault)?);
        }
    }
    Ok(bytes)
}

/// Whether all netlink messages in these bytes only query routes, addresses and links (or sockets, with `is_diag`) and
/// change nothing.
fn only_asks(mut messages: &[u8], is_diag: bool) -> bool {
    /// Number of the netlink message `SOCK_DIAG_BY_FAMILY`, which queries sockets; libc does not name it.
    const SOCKETS_ASKED: u16 = 20;
    while let Some([a, b, c, d, e, f]) = messages.first_chunk::<6>() {
        let length = usize::try_from(u32::from_ne_bytes([*a, *b, *c, *d])).unwrap_or(usize::MAX);
        let kind = u16::from_ne_bytes([*e, *f]);
        // Message types come in fours: new, delete, get, set.
        let asks = if is_diag { kind == SOCKETS_ASKED } else { kind >= 16 && kind % 4 == 2 };
        if length < 16 || !asks {
            return false;
        }
        messages = messages.get(length..).unwrap_or_default();
        messages = messages.get(length.wrapping_neg() % 4..).unwrap_or_default();
    }
    true
}

/// Parses a netlink address; `EINVAL` if it is too short.
fn netlink_address(address: &[u8]) -> io::Result<SocketAddrNetlink> {
    let word = |at: usize| {
        let bytes = address.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
        bytes.map(u32::from_ne_bytes).ok_or(io::Error::from_raw_os_error(libc::EINVAL))
    };
    Ok(SocketAddrNetlink::new(word(4)?, word(8)?))
}

/// Parses a `sockaddr` with an IPv4 or IPv6 address; `None` for other families.
pub(super) fn internet(address: &[u8]) -> Option<SocketAddr> {
    let family = u16::from_ne_bytes(address.get(..2)?.try_into().ok()?);
    let port = u16::from_be_bytes(address.get(2..4)?.try_into().ok()?);
    match i32::from(family) {
        libc::AF_INET => Some(SocketAddrV4::new(<[u8; 4]>::try_from(address.get(4..8)?).ok()?.into(), port).into()),
        libc::AF_INET6 => {
            let ip = <[u8; 16]>::try_from(address.get(8..24)?).ok()?;
            let scope = address.get(24..28).and_then(|scope| scope.try_into().ok()).map_or(0, u32::from_ne_bytes);
            Some(SocketAddrV6::new(ip.into(), port, 0, scope).into())
        }
        _ => None,
    }
}

/// A socket address encoded as `struct sockaddr_in` or `sockaddr_in6`.
fn bytes_of(address: SocketAddr) -> Vec<u8> {
    let family = if address.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 };
    let mut bytes = u16::try_from(family).unwrap_or_default().to_ne_bytes().to_vec();
    bytes.extend(address.port().to_be_bytes());
    match address {
        SocketAddr::V4(address) => bytes.extend(address.ip().octets().into_iter().chain([0; 8])),
        SocketAddr::V6(address) => {
            bytes.extend([0; 4]);
            bytes.extend(address.ip().octets());
            bytes.extend(address.scope_id().to_ne_bytes());
        }
    }
    bytes
}

/// Tests of socket addresses and netlink messages.
#[cfg(test)]
mod tests {
    use super::{bytes_of, internet, only_asks};

    /// Socket addresses encoded for the kernel and parsed again are unchanged.
    #[test]
    fn addresses_survive_a_round_trip() {
        for text in ["1.2.3.4:5", "[::1]:80", "[fe80::1%3]:9", "[::ffff:1.2.3.4]:53"] {
            let address: std::net::SocketAddr = text.parse().unwrap();
            assert_eq!(internet(&bytes_of(address)), Some(address), "{text}");
        }
    }

    /// Netlink messages that would change something are told from those that only query.
    #[test]
    fn changing_netlink_messages_are_recognised() {
        let message = |kind: u16| [&20_u32.to_ne_bytes()[..], &kind.to_ne_bytes(), &[0; 14]].concat();
        for (messages, expected) in [
            (message(18), [true, false]),
            (message(22), [true, false]),
            (message(20), [false, true]),
            (message(16), [false; 2]),
            (message(24), [false; 2]),
            ([message(18), message(24)].concat(), [false; 2]),
            ([message(20), message(21)].concat(), [false; 2]),
            (vec![0; 20], [false; 2]),
        ] {
            assert_eq!([false, true].map(|is_diag| only_asks(&messages, is_diag)), expected, "{messages:?}");
        }
    }
}
