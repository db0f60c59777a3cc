//! Access of a command beyond files (the network, sockets, signals), each part of it granted by an approval.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use super::denial::Denial;

/// How much of the network a command may reach: nothing, approved addresses, or everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NetworkScope {
    Nothing,
    /// Only approved addresses.
    Addresses,
    Everything,
}

/// Access beyond files that a program is granted: network, addresses, sockets, signals. The default is none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux tells sockets and receivers apart"))]
pub(crate) struct Reach {
    /// Any host.
    pub(crate) network: bool,
    /// Addresses that may be connected to and sent to.
    pub(crate) addresses: Vec<SocketAddr>,
    /// Unix sockets that may be connected to, by their real paths: stream and seqpacket sockets only.
    pub(crate) sockets: Vec<PathBuf>,
    /// Processes that may be signalled.
    pub(crate) signals: Vec<Receiver>,
}

impl Reach {
    /// Access to the network, if `network`, and to nothing else.
    pub(crate) fn of_network(network: bool) -> Self {
        Self { network, ..Self::default() }
    }

    /// Access to exactly what these denials name; to a signalled process only while it still runs. Other system calls
    /// and abstract sockets are never granted.
    pub(crate) fn of(denials: &[Denial]) -> Self {
        let mut reach = Self::default();
        for denial in denials {
            match denial {
                Denial::Network => reach.network = true,
                Denial::Connection(address) => reach.addresses.push(*address),
                Denial::UnixSocket(path) if path.is_absolute() => reach.sockets.push(path.clone()),
                Denial::Signal { pid, program } if *pid > 0 => {
                    // The number may belong to another process by now.
                    reach.signals.extend(Receiver::of(*pid).filter(|_| program_of(*pid) == *program));
                }
                Denial::Write(_)
                | Denial::Metadata(_)
                | Denial::UnixSocket(_)
                | Denial::Signal { .. }
                | Denial::Call(_) => {}
            }
        }
        reach
    }

    /// Adds the access that `other` grants to this access.
    pub(crate) fn add(&mut self, other: &Self) {
        self.network |= other.network;
        for address in &other.addresses {
            if !self.addresses.contains(address) {
                self.addresses.push(*address);
            }
        }
        let sockets = other.sockets.iter().filter(|socket| !self.sockets.contains(socket)).cloned();
        let sockets: Vec<PathBuf> = sockets.collect();
        self.sockets.extend(sockets);
        let signals = other.signals.iter().filter(|receiver| !self.signals.contains(receiver)).copied();
        let signals: Vec<Receiver> = signals.collect();
        self.signals.extend(signals);
    }

    /// The part of the network to which access is granted.
    pub(crate) fn network_scope(&self) -> NetworkScope {
        match (self.network, self.addresses.is_empty()) {
            (true, _) => NetworkScope::Everything,
            (false, false) => NetworkScope::Addresses,
            (false, true) => NetworkScope::Nothing,
        }
    }

    /// Whether the socket address is one of the approved addresses; access to the whole network is not considered.
    pub(crate) fn has_address(&self, address: SocketAddr) -> bool {
        self.addresses.iter().any(|granted| plain(*granted) == plain(address))
    }

    /// Whether this grants nothing but access to the network or a part of it; also `true` if it grants nothing.
    pub(crate) fn is_network_alone(&self) -> bool {
        self.sockets.is_empty() && self.signals.is_empty()
    }

    /// Whether this access includes everything that `other` grants.
    pub(crate) fn holds(&self, other: &Self) -> bool {
        let has_addresses = || other.addresses.iter().all(|address| self.has_address(*address));
        (self.network || !other.network && has_addresses())
            && other.sockets.iter().all(|socket| self.sockets.contains(socket))
            && other.signals.iter().all(|receiver| self.signals.contains(receiver))
    }
}

/// An IPv4-mapped IPv6 address as the IPv4 address, any other unchanged.
pub(super) fn plain(address: SocketAddr) -> SocketAddr {
    match address.ip().to_canonical() {
        ip if ip == address.ip() => address,
        ip => SocketAddr::new(ip, address.port()),
    }
}

/// A process, identified by its start time as well, since its number may be reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Receiver {
    pub(crate) pid: i32,
    /// Start time in clock ticks since boot.
    started: u64,
}

impl Receiver {
    /// The process with this number, with its start time; `None` if it does not exist.
    pub(crate) fn of(pid: i32) -> Option<Self> {
        Some(Self { pid, started: fact(pid, 19)? })
    }
}

/// The session id of a process; 0 for the kernel's own threads, `None` if the process has ended.
pub(super) fn session(pid: i32) -> Option<i32> {
    fact(pid, 3).and_then(|session| i32::try_from(session).ok())
}

/// A field of `/proc/PID/stat`, counted from the one after the process name, which may contain blanks and brackets.
fn fact(pid: i32, number: usize) -> Option<u64> {
    let stat = std::fs::read(Path::new("/proc").join(pid.to_string()).join("stat")).ok()?;
    let end = stat.iter().rposition(|byte| *byte == b')')?;
    std::str::from_utf8(stat.get(end + 1..)?).ok()?.split_ascii_whitespace().nth(number)?.parse().ok()
}

/// The name of the program that a process runs, from `/proc`; empty if it has ended.
pub(super) fn program_of(pid: i32) -> String {
    let name = std::fs::read(Path::new("/proc").join(pid.to_string()).join("comm")).unwrap_or_default();
    String::from_utf8_lossy(&name).trim_end().to_owned()
}
