//! Describes network addresses in the question whether a program may reach them.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use artoo_proto::escape;

use crate::fence::Reach;
use crate::texts;

/// Longest time for which a question waits for the addresses of a host.
const LOOK_UP_TIME: Duration = Duration::from_secs(2);

/// Maximum number of addresses named in one line of a question; the rest is counted.
const NAMED_MAX: usize = 4;

/// Port of DNS servers.
const DNS_PORT: u16 = 53;

/// What one line of a question names to be reached: an address, or a host with all its addresses.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Target {
    /// Completes "will".
    pub(super) line: String,
    pub(super) addresses: Vec<SocketAddr>,
}

/// Whether this address is a DNS server of this machine.
pub(super) fn is_name_server(address: SocketAddr) -> bool {
    address.port() == DNS_PORT && name_servers().contains(&address.ip().to_canonical())
}

/// The DNS servers of this machine.
fn name_servers() -> Vec<IpAddr> {
    let text = std::fs::read_to_string("/etc/resolv.conf").unwrap_or_default();
    let servers =
        text.lines().filter_map(|line| line.trim_start().strip_prefix("nameserver")?.split_whitespace().next());
    servers.filter_map(|server| server.split('%').next()?.parse().ok()).collect()
}

/// The targets that a question names for these denied addresses. A named host stands for all of its addresses on the
/// denied port.
pub(super) fn targets(denied: &[SocketAddr], hosts: &BTreeSet<String>, reach: &Reach) -> Vec<Target> {
    // A name must not be sent to a DNS server before that is approved.
    let may_look_up = reach.network || reach.addresses.iter().any(|address| is_name_server(*address));
    targets_by(denied, hosts, is_name_server, |host, port| addresses(host, port, may_look_up))
}

/// The targets as in [`targets`], with these functions to recognise name servers and to resolve hosts, for tests.
fn targets_by(
    denied: &[SocketAddr],
    hosts: &BTreeSet<String>,
    is_name_server: impl Fn(SocketAddr) -> bool,
    addresses: impl Fn(&str, u16) -> Vec<SocketAddr>,
) -> Vec<Target> {
    let mut targets: Vec<Target> = Vec::new();
    for &address in denied {
        if targets.iter().any(|target| target.addresses.contains(&address)) {
            continue;
        }
        if is_name_server(address) {
            let line = format!("look up names on the network (DNS server {})", address.ip());
            targets.push(Target { line, addresses: vec![address] });
            continue;
        }
        let named = hosts.iter().find_map(|host| {
            let found = addresses(host, address.port());
            found.contains(&address).then_some((host, found))
        });
        targets.push(match named {
            Some((host, addresses)) if host.parse::<IpAddr>().is_err() => Target {
                line: format!(
                    "connect to {} ({})",
                    escape::one_line(host),
                    texts::first(addresses.iter().map(ToString::to_string), NAMED_MAX)
                ),
                addresses,
            },
            _ => Target { line: format!("connect to {address}"), addresses: vec![address] },
        });
    }
    targets
}

/// The addresses of a host on a port, resolved as programs on this machine do, within [`LOOK_UP_TIME`]; except for
/// `localhost`, none if `may_look_up` is false.
fn addresses(host: &str, port: u16, may_look_up: bool) -> Vec<SocketAddr> {
    if host == "localhost" {
        // No DNS server is queried for an address.
        return [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()].map(|ip| SocketAddr::new(ip, port)).to_vec();
    }
    if !may_look_up {
        return Vec::new();
    }
    let (sender, found) = mpsc::channel();
    let name = (host.to_owned(), port);
    let look_up = move || {
        let addresses = name.to_socket_addrs().map(Iterator::collect::<BTreeSet<_>>).unwrap_or_default();
        let _ = sender.send(addresses.into_iter().collect());
    };
    // If no thread can be started, the question names the address itself.
    drop(thread::Builder::new().name("artoo-look-up".to_owned()).spawn(look_up));
    found.recv_timeout(LOOK_UP_TIME).unwrap_or_default()
}

/// Tests of how questions describe network addresses.
#[cfg(test)]
mod tests {
    use super::*;

    /// Parses a socket address, for tests.
    fn at(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    /// Questions name hosts, name servers and addresses that a program wants to reach.
    #[test]
    fn questions_name_hosts_servers_and_addresses() {
        let hosts = ["example.org", "other.org", "localhost"].map(str::to_owned).into();
        let found = |host: &str, port: u16| match host {
            "example.org" => ["192.0.2.1", "2001:db8::1"].map(|ip| SocketAddr::new(ip.parse().unwrap(), port)).to_vec(),
            other => addresses(other, port, false),
        };
        let is_name_server = |address| address == at("10.0.0.2:53");
        let targets = |denied: &[&str]| {
            let denied: Vec<SocketAddr> = denied.iter().map(|denied| at(denied)).collect();
            targets_by(&denied, &hosts, is_name_server, found)
        };
        for (denied, line, covered) in [
            ("10.0.0.2:53", "look up names on the network (DNS server 10.0.0.2)", vec!["10.0.0.2:53"]),
            ("10.0.0.2:443", "connect to 10.0.0.2:443", vec!["10.0.0.2:443"]),
            (
                "192.0.2.1:443",
                "connect to example.org (192.0.2.1:443, [2001:db8::1]:443)",
                vec!["192.0.2.1:443", "[2001:db8::1]:443"],
            ),
            ("192.0.2.9:443", "connect to 192.0.2.9:443", vec!["192.0.2.9:443"]),
            ("[::1]:80", "connect to localhost (127.0.0.1:80, [::1]:80)", vec!["127.0.0.1:80", "[::1]:80"]),
        ] {
            let addresses = covered.into_iter().map(at).collect();
            assert_eq!(targets(&[denied]), [Target { line: line.to_owned(), addresses }], "{denied}");
        }
        assert_eq!(targets(&["192.0.2.1:443", "[2001:db8::1]:443", "192.0.2.1:80"]).len(), 2);
    }

    /// A host's name is not resolved for a question before the user allows it, since that sends the name over the
    /// network.
    #[test]
    fn names_are_not_looked_up_unapproved() {
        let hosts = ["secret.invalid".to_owned(), "127.0.0.1".to_owned()].into();
        let found = targets(&[at("127.0.0.1:9")], &hosts, &Reach::default());
        assert_eq!(found, [Target { line: "connect to 127.0.0.1:9".to_owned(), addresses: vec![at("127.0.0.1:9")] }]);
        assert_eq!(addresses("localhost.localdomain", 9, false), []);
    }
}
