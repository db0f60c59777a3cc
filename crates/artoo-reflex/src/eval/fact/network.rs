//! Facts of the network, from the kernel's tables in `/proc/net`.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use crate::eval::{EvalError, FileSystem, text};

/// The state of a listening socket in `/proc/net/tcp`.
const LISTENING: &str = "0A";

/// A route of the IPv4 routing table.
pub(super) struct Route {
    interface: String,
    network: Ipv4Addr,
    /// The router, 0.0.0.0 without one.
    gateway: Ipv4Addr,
    prefix_length: u32,
}

impl Route {
    /// The route as one line: `network/prefix length via gateway dev interface`.
    pub(super) fn shown(&self) -> String {
        let network = match (self.network, self.prefix_length) {
            (Ipv4Addr::UNSPECIFIED, 0) => "default".to_owned(),
            (network, length) => format!("{network}/{length}"),
        };
        let via = if self.gateway.is_unspecified() { String::new() } else { format!(" via {}", self.gateway) };
        format!("{network}{via} dev {}", self.interface)
    }
}

/// The routes of the kernel's routing table, in its order.
pub(super) fn routes(fs: &dyn FileSystem) -> Result<Vec<Route>, EvalError> {
    // The kernel prints an address as a number, whose lowest byte comes first in the address.
    let number = |field: &str| u32::from_str_radix(field, 16).ok();
    let address = |field: &str| number(field).map(|number| Ipv4Addr::from(number.to_le_bytes()));
    let route = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [interface, network, gateway, _, _, _, _, mask, ..] = fields.as_slice() else { return None };
        let (network, gateway) = (address(network)?, address(gateway)?);
        Some(Route { interface: (*interface).to_owned(), network, gateway, prefix_length: number(mask)?.count_ones() })
    };
    Ok(text::system_file("/proc/net/route", fs)?.lines().skip(1).filter_map(route).collect())
}

/// The router of the default route; empty without one.
pub(super) fn gateway(fs: &dyn FileSystem) -> Result<String, EvalError> {
    let is_default = |route: &&Route| route.network.is_unspecified() && !route.gateway.is_unspecified();
    let all = routes(fs)?;
    let found: Vec<String> = all.iter().filter(is_default).map(|route| route.gateway.to_string()).collect();
    Ok(found.join("\n"))
}

/// The machine's own IPv4 addresses without those of the loopback interface, sorted as text.
pub(super) fn addresses(fs: &dyn FileSystem) -> Result<BTreeSet<String>, EvalError> {
    let table = text::system_file("/proc/net/fib_trie", fs)?;
    let lines: Vec<&str> = table.lines().map(str::trim).collect();
    let own = lines.windows(2).filter(|pair| matches!(pair, [_, mark] if *mark == "/32 host LOCAL"));
    let found = own.filter_map(|pair| pair.first()?.strip_prefix("|-- ")?.parse::<Ipv4Addr>().ok());
    Ok(found.filter(|address| !address.is_loopback()).map(|address| address.to_string()).collect())
}

/// The TCP ports on which programs listen, over IPv4 or IPv6.
pub(super) fn ports(fs: &dyn FileSystem) -> Result<BTreeSet<u16>, EvalError> {
    let tables = [text::system_file("/proc/net/tcp", fs)?, text::system_file("/proc/net/tcp6", fs).unwrap_or_default()];
    let port = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [_, local, _, LISTENING, ..] = fields.as_slice() else { return None };
        u16::from_str_radix(local.rsplit_once(':')?.1, 16).ok()
    };
    Ok(tables.iter().flat_map(|table| table.lines().filter_map(port)).collect())
}
