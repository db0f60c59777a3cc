//! HTTP connections and call limits shared by the clients of one program.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::transport::{self, ClientSettings};
pub(crate) use gate::{Gate, Turn};

mod gate;

/// A place for an HTTP client, or the error of building it, that is filled at the first call: a program that asks no
/// model pays nothing for TLS.
type ClientSlot = Arc<OnceLock<Result<reqwest::Client, String>>>;

/// HTTP connections and call limits shared by all clients of one program. Clients of the same endpoint share one
/// limit.
#[derive(Default)]
pub struct Pool {
    // Both are locked for a look-up only, never across an await or while a client is built.
    clients: Mutex<HashMap<ClientSettings, ClientSlot>>,
    gates: Mutex<HashMap<String, Arc<Gate>>>,
}

impl Pool {
    /// The shared HTTP client for these settings; it is built at its first use.
    ///
    /// # Errors
    /// The text of the error, if the client can't be built.
    pub(crate) fn client(&self, settings: &ClientSettings) -> Result<reqwest::Client, String> {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = Arc::clone(clients.entry(settings.clone()).or_default());
        drop(clients);
        slot.get_or_init(|| transport::client(settings)).clone()
    }

    /// The gate that limits concurrent calls at an endpoint; the first caller sets its limit to `parallel`.
    pub(crate) fn gate(&self, origin: String, parallel: usize) -> Arc<Gate> {
        let mut gates = self.gates.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(gates.entry(origin).or_insert_with(|| Arc::new(Gate::new(parallel))))
    }
}
