//! What clients of one program share: connections, and a bound on calls under way at one endpoint.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::transport::{self, ClientSettings, TransportError};
pub(crate) use gate::{Gate, Turn};

mod gate;

/// A client that is built at the first call, so that a program that asks no model never pays for TLS.
pub(crate) type ClientSlot = Arc<OnceLock<Result<reqwest::Client, TransportError>>>;

/// Connections and limits, kept as long as the pool. Two clients of one endpoint in one pool count together.
#[derive(Default)]
pub struct Pool {
    // Both held for a look-up only, never across a wait or a build.
    clients: Mutex<HashMap<ClientSettings, ClientSlot>>,
    gates: Mutex<HashMap<String, Arc<Gate>>>,
}

impl Pool {
    pub(crate) fn client(&self, settings: &ClientSettings) -> ClientSlot {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(clients.entry(settings.clone()).or_default())
    }

    /// The gate of an endpoint; whoever names it first sets its width.
    pub(crate) fn gate(&self, origin: String, parallel: usize) -> Arc<Gate> {
        let mut gates = self.gates.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(gates.entry(origin).or_insert_with(|| Arc::new(Gate::new(parallel))))
    }
}

/// The client of a slot.
pub(crate) fn built<'s>(slot: &'s ClientSlot, settings: &ClientSettings) -> Result<&'s reqwest::Client, String> {
    slot.get_or_init(|| transport::client(settings)).as_ref().map_err(ToString::to_string)
}
