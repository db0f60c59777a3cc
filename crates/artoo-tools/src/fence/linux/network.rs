//! Answers for the internet sockets of a program that may reach some addresses and no others.
//!
//! What it connects or sends is done for it, on its own socket and with the address that was judged: it can't put another
//! address or another socket in the place of these meanwhile.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::thread;

use rustix::fs::{OFlags, fstat};

use super::call::{Memory, Message};
use super::caller::Caller;
use super::kernel::{self, Answer, Notification};
use super::supervisor::{Supervisor, number};
use super::syscalls::ROUTING_OPTIONS;
use crate::fence::NetworkScope;
use crate::fence::denial::Denial;
use crate::fence::reach::plain;

/// Protocols of sockets that send only to an address of a call that is answered here.
pub(super) const PROTOCOLS: [i32; 5] =
    [libc::IPPROTO_IP, libc::IPPROTO_TCP, libc::IPPROTO_UDP, libc::IPPROTO_ICMP, libc::IPPROTO_ICMPV6];

/// Bytes sent at once. A program sends the rest of a stream by itself.
const SENT_MAX: usize = 1 << 20;

/// Messages sent by one call. A program sends the rest by itself.
const MESSAGES_MAX: u64 = 64;

/// Parts of one message, as many as the kernel takes.
const PARTS_MAX: u64 = 1024;

/// Calls that wait for the network at once.
const WAITING_MAX: usize = 64;

/// Bytes of `struct mmsghdr`, and where it holds the number of bytes sent.
const MESSAGE_BYTES: u64 = 64;
const SENT_AT: u64 = 56;

/// Flags of sending that change where and when, not what.
const SEND_FLAGS: i32 = libc::MSG_DONTWAIT | libc::MSG_MORE | libc::MSG_EOR | libc::MSG_OOB | libc::MSG_CONFIRM;

/// Levels of options that any socket has, or one to the kernel.
const WITHOUT_ADDRESS: [i32; 2] = [libc::SOL_SOCKET, libc::SOL_NETLINK];

/// Levels of options that only sockets of the internet have.
const OF_INTERNET: [i32; 3] = [libc::IPPROTO_IP, libc::IPPROTO_IPV6, libc::IPPROTO_TCP];

/// A socket that leads nowhere, given in the place of one of another family.
pub(super) struct StandIn {
    pub(super) family: i32,
    pub(super) is_bound: bool,
}

/// A message in the memory of the supervisor.
struct Copied {
    bytes: Vec<u8>,
    /// Its address; empty if it has none.
    to: Vec<u8>,
    has_control: bool,
}

impl Supervisor {
    /// Whether the program has got a socket that only looks like one of the internet.
    pub(super) fn has_stand_in(&self) -> bool {
        !self.stand_ins.is_empty()
    }

    /// What the program may reach of the network. A reading run reaches nothing.
    pub(super) fn network(&self) -> NetworkScope {
        if self.stops_at_denial() { NetworkScope::Nothing } else { self.reach.network_scope() }
    }

    pub(super) fn deny_network(&self) -> Answer {
        self.deny(Denial::Network, Answer::Fails(libc::EACCES))
    }

    /// The address of a socket. One that only looks like one of the internet has none until it is bound.
    pub(super) fn own_address(
        &self,
        asked: Notification,
        caller: &Caller,
        socket: i32,
        (at, length_at): (u64, u64),
    ) -> io::Result<Answer> {
        let stand_in = || self.stand_ins.get(&fstat(caller.handle(socket).ok()?).ok()?.st_ino);
        let unbound: SocketAddr = match stand_in() {
            Some(StandIn { is_bound: true, .. }) => return Ok(self.deny_network()),
            Some(StandIn { family: libc::AF_INET, .. }) => (Ipv4Addr::UNSPECIFIED, 0).into(),
            Some(StandIn { family: libc::AF_INET6, .. }) => (Ipv6Addr::UNSPECIFIED, 0).into(),
            Some(_) | None => return Ok(Answer::Continue),
        };
        let bytes = bytes_of(unbound);
        let room = usize::try_from(u32::from_ne_bytes(caller.bytes(length_at)?)).unwrap_or(usize::MAX);
        self.must_wait(asked)?;
        caller.put(at, bytes.get(..room).unwrap_or(&bytes))?;
        caller.put(length_at, &u32::try_from(bytes.len()).unwrap_or_default().to_ne_bytes())?;
        Ok(Answer::Returns(0))
    }

    /// Notes that a socket which only looks like one of the internet is bound.
    pub(super) fn bound(&mut self, caller: &Caller, socket: i32) -> io::Result<Answer> {
        let number = fstat(caller.handle(socket)?)?.st_ino;
        if let Some(stand_in) = self.stand_ins.get_mut(&number) {
            stand_in.is_bound = true;
        }
        Ok(Answer::Returns(0))
    }

    /// An option of a socket: one that leads nowhere has any that says nothing of other hosts.
    pub(super) fn option(&self, level: i32, option: i32) -> Answer {
        let routes = || ROUTING_OPTIONS.iter().any(|(known, options)| *known == level && options.contains(&option));
        match () {
            () if !self.has_stand_in() || WITHOUT_ADDRESS.contains(&level) => Answer::Continue,
            () if OF_INTERNET.contains(&level) && !routes() => Answer::Returns(0),
            () => self.deny_network(),
        }
    }

    /// Whether connections to a socket may be made by others.
    pub(super) fn listening(&self) -> Answer {
        let is_internet = self.has_stand_in() || self.stops_at_denial() || self.network() == NetworkScope::Addresses;
        // All other sockets of the program are connected.
        if is_internet { self.deny_network() } else { Answer::Fails(libc::EINVAL) }
    }

    /// Connects a socket to an address that was approved.
    pub(super) fn connect_approved(
        &self,
        asked: Notification,
        caller: &Caller,
        socket: i32,
        (family, address): (i32, &[u8]),
    ) -> io::Result<Answer> {
        let flags = caller.flags_of(socket).ok_or(io::Error::from_raw_os_error(libc::EBADF))?;
        let handle = caller.handle(socket)?;
        let domain = kernel::socket_fact(handle.as_fd(), libc::SO_DOMAIN)?;
        if family == libc::AF_UNSPEC || domain == libc::AF_NETLINK {
            self.must_wait(asked)?;
            let address = if domain == libc::AF_NETLINK { address } else { &[0; 16] };
            kernel::connect(handle.as_fd(), address)?;
            return Ok(Answer::Returns(0));
        }
        let Some(to) = internet(address) else { return Ok(Answer::Fails(libc::EAFNOSUPPORT)) };
        if !self.reach.has_address(to) {
            return Ok(self.deny(Denial::Connection(plain(to)), Answer::Fails(libc::EACCES)));
        }
        self.must_wait(asked)?;
        self.notes.seen().reached_out = true;
        let address = bytes_of(to);
        if flags.contains(OFlags::NONBLOCK) {
            kernel::connect(handle.as_fd(), &address)?;
            return Ok(Answer::Returns(0));
        }
        self.wait(asked, move || kernel::connect(handle.as_fd(), &address).map(|()| 0))
    }

    /// Sends messages, those with an address only to one that was approved.
    pub(super) fn send_approved(
        &self,
        asked: Notification,
        caller: &Caller,
        socket: i32,
        at: u64,
        (message, flags): (Message, i32),
    ) -> io::Result<Answer> {
        let handle = caller.handle(socket)?;
        let fact = |fact| kernel::socket_fact(handle.as_fd(), fact);
        let (domain, is_stream) = (fact(libc::SO_DOMAIN)?, fact(libc::SO_TYPE)? == libc::SOCK_STREAM);
        let never_waits = flags & libc::MSG_DONTWAIT != 0
            || caller.flags_of(socket).is_none_or(|flags| flags.contains(OFlags::NONBLOCK));
        let count = if let Message::Headers { count } = message { count.min(MESSAGES_MAX) } else { 1 };
        let mut sent = 0;
        for nth in 0..count {
            let place = at + nth * MESSAGE_BYTES;
            let made = copied(caller, place, message, is_stream)
                .and_then(|copied| self.judged(domain, || fact(libc::SO_PROTOCOL), copied, flags))
                .and_then(|judged| {
                    self.must_wait(asked)?;
                    Ok(judged)
                });
            let (bytes, to) = match made {
                Ok(Ok(made)) => made,
                Ok(Err(answer)) if sent == 0 => return Ok(answer),
                Err(error) if sent == 0 => return Err(error),
                Ok(Err(_)) | Err(_) => break,
            };
            let flags = flags & SEND_FLAGS | libc::MSG_NOSIGNAL;
            match kernel::send(handle.as_fd(), &bytes, &to, flags | libc::MSG_DONTWAIT) {
                Ok(length) if matches!(message, Message::Headers { .. }) => {
                    caller.put(place + SENT_AT, &u32::try_from(length).unwrap_or_default().to_ne_bytes())?;
                    sent += 1;
                }
                Ok(length) => return Ok(Answer::Returns(i64::try_from(length).unwrap_or_default())),
                Err(_) if sent > 0 => break,
                // Only one message is waited for; the call tells how many were sent.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock && !never_waits && count == 1 => {
                    return self.wait(asked, move || {
                        kernel::send(handle.as_fd(), &bytes, &to, flags)
                            .map(|length| i64::try_from(length).unwrap_or_default())
                    });
                }
                Err(error) => return Err(error),
            }
        }
        Ok(Answer::Returns(sent))
    }

    /// The bytes of a message and its address, or the answer to a message that is not sent.
    fn judged(
        &self,
        domain: i32,
        protocol: impl FnOnce() -> io::Result<i32>,
        message: Copied,
        flags: i32,
    ) -> io::Result<Result<(Vec<u8>, Vec<u8>), Answer>> {
        let Copied { bytes, to, has_control } = message;
        let is_internet = domain == libc::AF_INET || domain == libc::AF_INET6;
        if is_internet && !to.is_empty() {
            let Some(address) = internet(&to) else { return Ok(Err(Answer::Fails(libc::EAFNOSUPPORT))) };
            if !self.reach.has_address(address) {
                return Ok(Err(self.deny(Denial::Connection(plain(address)), Answer::Fails(libc::EACCES))));
            }
            self.notes.seen().reached_out = true;
            return Ok(match flags & libc::MSG_FASTOPEN != 0 || has_control {
                // Programs connect first if they are told so.
                true => Err(Answer::Fails(libc::EOPNOTSUPP)),
                false => Ok((bytes, bytes_of(address))),
            });
        }
        Ok(match domain {
            _ if flags & libc::MSG_FASTOPEN != 0 => Err(Answer::Fails(libc::EOPNOTSUPP)),
            // The supervisor's own rights must not count for what the program asks the kernel to do.
            libc::AF_NETLINK if !only_asks(&bytes, protocol()? == libc::NETLINK_SOCK_DIAG) => {
                Err(Answer::Fails(libc::EPERM))
            }
            // Without an address it goes to the kernel, which then looks at the rights of the one who made the socket.
            libc::AF_NETLINK => Ok((bytes, Vec::new())),
            // Files would have to be passed on.
            _ if has_control => Err(self.deny(Denial::Network, Answer::Fails(libc::EPERM))),
            // A pair is connected already.
            _ => Ok((bytes, Vec::new())),
        })
    }

    /// Binds a socket where that opens no port that others know.
    pub(super) fn bind_approved(
        &self,
        asked: Notification,
        caller: &Caller,
        socket: i32,
        (family, address): (i32, &[u8]),
    ) -> io::Result<Answer> {
        let is_free = internet(address).is_some_and(|to| to.ip().is_loopback() && to.port() == 0);
        if family == libc::AF_UNIX {
            return Ok(Answer::Fails(libc::EACCES));
        }
        if family != libc::AF_NETLINK && !is_free {
            return Ok(self.deny(Denial::Network, Answer::Fails(libc::EACCES)));
        }
        let handle = caller.handle(socket)?;
        self.must_wait(asked)?;
        kernel::bind(handle.as_fd(), address)?;
        Ok(Answer::Returns(0))
    }

    /// Answers a call once the network has, on a thread of its own: other calls are answered meanwhile.
    fn wait(&self, asked: Notification, act: impl FnOnce() -> io::Result<i64> + Send + 'static) -> io::Result<Answer> {
        let waiting = Arc::clone(&self.waiting);
        if Arc::strong_count(&waiting) > WAITING_MAX {
            return Ok(Answer::Fails(libc::EAGAIN));
        }
        let listener: OwnedFd = self.listener.try_clone()?;
        thread::Builder::new().name("artoo-network".to_owned()).spawn(move || {
            let answer = act().map_or_else(|error| Answer::Fails(number(&error)), Answer::Returns);
            kernel::answer(listener.as_fd(), asked, answer);
            drop(waiting);
        })?;
        Ok(Answer::NoReply)
    }
}

/// Copies one message.
fn copied(caller: &Caller, at: u64, message: Message, is_stream: bool) -> io::Result<Copied> {
    let word = |at: u64| caller.bytes(at).map(u64::from_ne_bytes);
    if let Message::Bytes { length, to } = message {
        let bytes = parts(caller, [(at, length)], is_stream)?;
        return Ok(Copied { bytes, to: address(caller, to)?, has_control: false });
    }
    let to = Memory { address: word(at)?, length: word(at + 8)? & u64::from(u32::MAX) };
    let (first, count) = (word(at + 16)?, word(at + 24)?);
    if count > PARTS_MAX {
        return Err(io::Error::from_raw_os_error(libc::EMSGSIZE));
    }
    let all = (0..count).map(|nth| Ok((word(first + nth * 16)?, word(first + nth * 16 + 8)?)));
    let bytes = parts(caller, all.collect::<io::Result<Vec<_>>>()?, is_stream)?;
    Ok(Copied { bytes, to: address(caller, to)?, has_control: word(at + 32)? != 0 && word(at + 40)? != 0 })
}

/// The address of a message; empty if it has none.
fn address(caller: &Caller, Memory { address, length }: Memory) -> io::Result<Vec<u8>> {
    let length = usize::try_from(length & u64::from(u32::MAX)).unwrap_or(usize::MAX);
    match (address, length) {
        (0, _) | (_, 0) => Ok(Vec::new()),
        (_, 2..=128) => caller.some_bytes(address, length),
        _ => Err(io::Error::from_raw_os_error(libc::EINVAL)),
    }
}

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

/// Whether every message to the kernel only asks: for routes, addresses and links, or for sockets.
fn only_asks(mut messages: &[u8], is_diag: bool) -> bool {
    /// `SOCK_DIAG_BY_FAMILY`, which libc does not name.
    const SOCKETS_ASKED: u16 = 20;
    while let Some((length, kind)) = messages
        .first_chunk::<6>()
        .map(|[a, b, c, d, e, f]| (u32::from_ne_bytes([*a, *b, *c, *d]) as usize, u16::from_ne_bytes([*e, *f])))
    {
        // Messages on routes come in fours: new, delete, get, set.
        let asks = if is_diag { kind == SOCKETS_ASKED } else { kind >= 16 && kind % 4 == 2 };
        if length < 16 || !asks {
            return false;
        }
        messages = messages.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    true
}

/// An address of the internet.
pub(super) fn internet(address: &[u8]) -> Option<SocketAddr> {
    use std::net::{SocketAddrV4, SocketAddrV6};
    let family = u16::from_ne_bytes(address.get(..2)?.try_into().ok()?);
    let port = u16::from_be_bytes(address.get(2..4)?.try_into().ok()?);
    match i32::from(family) {
        libc::AF_INET => Some(SocketAddrV4::new(<[u8; 4]>::try_from(address.get(4..8)?).ok()?.into(), port).into()),
        libc::AF_INET6 => {
            let ip = <[u8; 16]>::try_from(address.get(8..24)?).ok()?;
            let interface = address.get(24..28).and_then(|scope| scope.try_into().ok()).map_or(0, u32::from_ne_bytes);
            Some(SocketAddrV6::new(ip.into(), port, 0, interface).into())
        }
        _ => None,
    }
}

/// The address as it lies in memory, with nothing else in it.
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

#[cfg(test)]
mod tests {
    use super::{bytes_of, internet, only_asks};

    #[test]
    fn addresses_survive_a_round_trip() {
        for text in ["1.2.3.4:5", "[::1]:80", "[fe80::1%3]:9", "[::ffff:1.2.3.4]:53"] {
            let address: std::net::SocketAddr = text.parse().unwrap();
            assert_eq!(internet(&bytes_of(address)), Some(address), "{text}");
        }
    }

    #[test]
    fn only_questions_reach_the_kernel() {
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
