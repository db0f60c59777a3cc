//! The hosts that requests may be sent to: public addresses only, checked on the addresses that the client connects to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// Azure's host service: its address is public, but it gives a machine's secrets to any process on the machine.
const AZURE_HOST: Ipv4Addr = Ipv4Addr::new(168, 63, 129, 16);

/// Lowest port that URLs may have besides 80 and 443: servers on lower ports speak other protocols, and may execute a
/// request as commands.
const FREE_PORTS_FROM: u16 = 1024;

/// The reason why a URL or host is refused, so that nothing is sent to it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Refused(String);

/// Host names that tests resolve to this machine.
#[cfg(test)]
pub(crate) type Loopback = std::collections::BTreeMap<String, SocketAddr>;

/// Checks which hosts may be reached; in tests some names resolve to loopback.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hosts {
    #[cfg(test)]
    pub(crate) loopback: Loopback,
}

impl Hosts {
    /// Checks that nothing private is reached by a URL: its form, port and, if the host is a number, its address. Names
    /// are checked when resolved.
    pub(crate) fn check(&self, url: &Url) -> Result<(), Refused> {
        check_form(url)?;
        let port = url.port_or_known_default().unwrap_or(0);
        let host = url.host_str().ok_or_else(no_host)?;
        if self.is_test_host(host, port) {
            return Ok(());
        }
        if !matches!(port, 80 | 443) && port < FREE_PORTS_FROM {
            return Err(Refused(format!("port {port} is not that of a web server")));
        }
        match host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>() {
            Ok(address) => public(host, address),
            Err(_) => Ok(()),
        }
    }

    /// Whether a test makes this host and port resolve to loopback; always false outside tests.
    #[cfg(test)]
    fn is_test_host(&self, host: &str, port: u16) -> bool {
        self.loopback.contains_key(host)
            || self.loopback.values().any(|address| address.to_string() == format!("{host}:{port}"))
    }

    /// Whether tests resolve this host to loopback: never outside tests.
    #[cfg(not(test))]
    #[expect(clippy::unused_self, reason = "tests keep their hosts in it")]
    fn is_test_host(&self, _: &str, _: u16) -> bool {
        false
    }

    /// The loopback address that tests give to this host; `None` for other hosts.
    #[cfg(test)]
    fn test_address(&self, host: &str) -> Option<SocketAddr> {
        self.loopback.get(host).copied()
    }

    /// The loopback address that tests give to this host; always `None` outside tests.
    #[cfg(not(test))]
    #[expect(clippy::unused_self, reason = "tests keep their hosts in it")]
    fn test_address(&self, _: &str) -> Option<SocketAddr> {
        None
    }
}

/// The reason for refusing a URL that has no host.
fn no_host() -> Refused {
    Refused("the URL has no host".to_owned())
}

/// Checks the rules for every URL, public or not: scheme, host, and no user name or password.
pub(crate) fn check_form(url: &Url) -> Result<(), Refused> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(Refused(format!("only http and https are allowed, not {}", url.scheme())));
    }
    if url.host_str().is_none_or(str::is_empty) {
        return Err(no_host());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(Refused("the URL contains a user name or a password".to_owned()));
    }
    Ok(())
}

/// A resolver that checks its answers. The client connects to these addresses without resolving again, so DNS
/// rebinding has no effect.
pub(crate) struct CheckedResolver(pub(crate) Arc<Hosts>);

impl Resolve for CheckedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let hosts = Arc::clone(&self.0);
        Box::pin(async move {
            let host = name.as_str();
            if let Some(address) = hosts.test_address(host) {
                return Ok(Box::new([address].into_iter()) as Addrs);
            }
            let found: Vec<SocketAddr> = tokio::net::lookup_host((host, 0)).await?.collect();
            // One address that is not public is enough to refuse the name.
            for address in &found {
                public(host, address.ip())?;
            }
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

/// Fails unless the host's address is public.
fn public(host: &str, address: IpAddr) -> Result<(), Refused> {
    if is_public(address) {
        return Ok(());
    }
    Err(Refused(format!("{host} resolves to {address}, which is no public address")))
}

/// Whether an address belongs to the public internet (IANA's registries of special-purpose addresses).
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

/// Whether an IPv4 address belongs to the public internet, and not to a local, reserved or special network.
fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let special = match (a, b, c) {
        // this network; loopback; private; link-local with the clouds' metadata; multicast and reserved
        (0 | 10 | 127 | 224.., _, _) | (169, 254, _) | (172, 16..=31, _) | (192, 168, _) => true,
        // shared by carriers; protocol assignments; documentation; relays; benchmarks
        (100, 64..=127, _) | (192, 0, 0 | 2) | (192, 88, 99) | (198, 18..=19, _) | (198, 51, 100) | (203, 0, 113) => {
            true
        }
        _ => false,
    };
    !special && address != AZURE_HOST
}

/// Whether an IPv6 address belongs to the public internet, and not to a local, reserved or special network.
fn is_public_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    let embedded = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match segments {
        // IPv4 addresses in IPv6: mapped, and NAT64.
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => embedded(high, low),
        // Teredo and the other protocol assignments; documentation; 6to4
        [0x2001, 0x0000..=0x01ff, ..] | [0x2001, 0x0db8, ..] | [0x2002, ..] | [0x3fff, 0x0000..=0x0fff, ..] => false,
        // The other public addresses.
        [0x2000..=0x3fff, ..] => true,
        _ => false,
    }
}

/// Tests which hosts and URLs are refused as not public.
#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use reqwest::Url;

    use super::{Hosts, is_public};

    /// Public addresses are accepted; private, local and reserved ones are not.
    #[doc = "holds: law 1.24; design T21"]
    #[test]
    fn only_public_addresses_are_accepted() {
        let check = |address: &str, expected: bool| {
            assert_eq!(is_public(address.parse::<IpAddr>().unwrap()), expected, "{address}");
        };
        let inside = "0.0.0.0 0.1.2.3 10.0.0.1 100.64.0.1 100.100.100.200 100.127.255.255 127.0.0.1 127.255.0.1 \
            168.63.129.16 169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.192 192.0.2.1 192.88.99.1 \
            192.168.1.1 198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.9 224.0.0.1 239.255.255.255 240.0.0.1 \
            255.255.255.255 :: ::1 ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:169.254.169.254 ::ffff:10.1.2.3 \
            64:ff9b::7f00:1 64:ff9b:1::1 100::1 2001::1 2001:db8::1 2002:7f00:1::1 3fff::1 fc00::1 fd00:ec2::254 \
            fe80::1 fec0::1 ff02::1 5f00::1";
        let outside = "1.1.1.1 9.9.9.9 11.0.0.1 100.63.255.255 100.128.0.1 126.255.255.255 128.0.0.1 168.63.129.17 \
            169.253.0.1 172.15.0.1 172.32.0.1 192.0.1.1 192.167.0.1 198.17.0.1 198.20.0.1 223.255.255.255 \
            2001:4860:4860::8888 2606:4700::1111 2a00:1450::1 ::ffff:1.1.1.1 64:ff9b::101:101";
        inside.split_whitespace().for_each(|address| check(address, false));
        outside.split_whitespace().for_each(|address| check(address, true));
    }

    /// A private address is refused however its number is spelled; so are other schemes, passwords and ports of mail
    /// servers.
    #[doc = "holds: law 1.24; design T21"]
    #[test]
    fn private_addresses_are_refused_in_any_spelling() {
        let check = |url: &str, expected: bool| {
            let verdict = Url::parse(url).map(|url| Hosts::default().check(&url));
            assert_eq!(matches!(verdict, Ok(Ok(()))), expected, "{url}: {verdict:?}");
        };
        for refused in [
            "http://127.0.0.1/",
            "http://127.1/",
            "http://2130706433/",
            "http://0x7f000001/",
            "http://017700000001/",
            "http://0/",
            "http://0x7f.1/",
            "http://127.0.0.1./",
            "http://[::1]/",
            "http://[::ffff:127.0.0.1]/",
            "http://[::ffff:7f00:1]/",
            "http://169.254.169.254/latest/meta-data/",
            "http://[fd00:ec2::254]/",
            "http://%31%32%37.0.0.1/",
            "http://１２７.0.0.1/",
            "http://10.0.0.1:8080/",
            "file:///etc/passwd",
            "ftp://example.org/",
            "data:text/plain,x",
            "gopher://example.org/",
            "http://user@example.org/",
            "http://user:pass@example.org/",
            "http://example.org:25/",
            "https://example.org:22/",
            "unix:/run/docker.sock",
            "javascript:alert(1)",
        ] {
            check(refused, false);
        }
        for taken in ["http://example.org/", "https://example.org:8443/a?b#c", "http://1.1.1.1/", "http://EXAMPLE.org"]
        {
            check(taken, true);
        }
    }
}
