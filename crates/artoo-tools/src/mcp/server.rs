//! A running server: its process and its connection, on a thread of their own.

use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use artoo_proto::escape;
use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult, PaginatedRequestParams};
use rmcp::service::{Peer, RunningService};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{RoleClient, ServiceExt};
use serde_json::{Map, Value};
use tokio::sync::{mpsc as channel, oneshot};

use crate::mcp::TOOLS_MAX;
use crate::mcp::manifest::ServerManifest;
use crate::process::{Invocation, Serving, serve};
use crate::tool::Machine;

/// Longest line of a server, in bytes.
const LINE_MAX_BYTES: usize = 4 * 1024 * 1024;

/// Maximum number of pages of a server's list of tools.
const PAGES_MAX: usize = 8;

/// Maximum number of waiting calls.
const CALLS_MAX: usize = 32;

/// A tool as its server describes it.
#[derive(Debug)]
pub(super) struct Offered {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) schema: Map<String, Value>,
}

/// A call with the channel for its result.
struct Order {
    tool: String,
    input: Map<String, Value>,
    reply: oneshot::Sender<Result<CallToolResult, String>>,
}

/// A started server. Dropping it ends the process and its children.
#[derive(Debug)]
pub(super) struct Server {
    orders: Option<channel::Sender<Order>>,
    list: Mutex<mpsc::Receiver<Result<Vec<Offered>, String>>>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.orders.take());
        if let Some(thread) = self.thread.take() {
            // It ends within the grace time of a program; a panic of it is ignored.
            let _ = thread.join();
        }
    }
}

impl Server {
    /// Starts the process and connects to it; [`Self::listed`] gives its tools.
    pub(super) fn start(machine: &Arc<Machine>, manifest: &Arc<ServerManifest>) -> Result<Self, String> {
        let (orders, receiver) = channel::channel(CALLS_MAX);
        let (listing, list) = mpsc::sync_channel(1);
        let (machine, manifest) = (Arc::clone(machine), Arc::clone(manifest));
        let work = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            match runtime {
                Ok(runtime) => runtime.block_on(serve_calls(&machine, &manifest, receiver, &listing)),
                Err(error) => drop(listing.send(Err(error.to_string()))),
            }
        };
        let thread =
            std::thread::Builder::new().name("mcp".to_owned()).spawn(work).map_err(|error| error.to_string())?;
        Ok(Self { orders: Some(orders), list: Mutex::new(list), thread: Some(thread) })
    }

    /// The tools of the server; waits at most `time`.
    pub(super) fn listed(&self, time: Duration) -> Result<Vec<Offered>, String> {
        let list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        list.recv_timeout(time).unwrap_or_else(|_| Err("it did not list its tools in time".to_owned()))
    }

    /// Makes a call. Dropping the future cancels it.
    pub(super) async fn call(&self, tool: &str, input: Map<String, Value>) -> Result<CallToolResult, String> {
        let gone = || "the server is gone".to_owned();
        let (reply, answer) = oneshot::channel();
        let order = Order { tool: tool.to_owned(), input, reply };
        self.orders.as_ref().ok_or_else(gone)?.send(order).await.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }
}

/// Starts the server, lists its tools, forwards calls and ends it.
async fn serve_calls(
    machine: &Machine,
    manifest: &ServerManifest,
    mut orders: channel::Receiver<Order>,
    listing: &mpsc::SyncSender<Result<Vec<Offered>, String>>,
) {
    let (serving, service) = match begin(machine, manifest, &mut orders).await {
        Ok(begun) => begun,
        Err(reason) => return drop(listing.send(Err(reason))),
    };
    // The list may have come too late; calls are accepted all the same.
    drop(listing.send(list(service.peer()).await));
    while let Some(order) = orders.recv().await {
        tokio::spawn(answer(service.peer().clone(), order));
    }
    drop(service);
    serving.end(machine.config.kill_grace).await;
}

type Begun = (Serving, RunningService<RoleClient, ()>);

async fn begin(
    machine: &Machine,
    manifest: &ServerManifest,
    orders: &mut channel::Receiver<Order>,
) -> Result<Begun, String> {
    let invocation = Invocation {
        program: manifest.program.clone(),
        name: manifest.program.clone().into_os_string(),
        arguments: manifest.arguments.clone(),
        environment: manifest.environment.clone(),
    };
    let (serving, input, output) =
        serve(machine, &invocation).map_err(|error| format!("it can't be started: {error}"))?;
    let transport = AsyncRwTransport::new_client(output, input).with_max_line_length(LINE_MAX_BYTES);
    let begun = tokio::select! {
        service = ().serve(transport) => service.map_err(|error| shown(&error)),
        // The server was dropped: it did not start in time.
        None = orders.recv() => Err("it was dropped".to_owned()),
    };
    match begun {
        Ok(service) => Ok((serving, service)),
        Err(reason) => {
            serving.end(machine.config.kill_grace).await;
            Err(format!("it does not speak the protocol: {reason}"))
        }
    }
}

async fn list(peer: &Peer<RoleClient>) -> Result<Vec<Offered>, String> {
    let mut offered = Vec::new();
    let mut cursor = None;
    for _ in 0..PAGES_MAX {
        let page = PaginatedRequestParams::default().with_cursor(cursor);
        let result = peer.list_tools(Some(page)).await.map_err(|error| shown(&error))?;
        offered.extend(result.tools.into_iter().map(|tool| Offered {
            name: tool.name.into_owned(),
            description: tool.description.map(std::borrow::Cow::into_owned).unwrap_or_default(),
            schema: Arc::unwrap_or_clone(tool.input_schema),
        }));
        cursor = result.next_cursor;
        if cursor.is_none() || offered.len() > TOOLS_MAX {
            break;
        }
    }
    Ok(offered)
}

async fn answer(peer: Peer<RoleClient>, mut order: Order) {
    let request = CallToolRequestParams::new(order.tool).with_arguments(order.input);
    let result = tokio::select! {
        result = peer.call_tool_once(request) => result,
        () = order.reply.closed() => return,
    };
    let result = match result {
        Ok(CallToolResponse::Complete(result)) => Ok(result),
        Ok(_) => Err("it asks for more input, which a tool does not get".to_owned()),
        Err(error) => Err(shown(&error)),
    };
    // The caller may have gone.
    drop(order.reply.send(result));
}

/// An error on one line: it may quote anything that the server sent.
fn shown(error: &dyn std::error::Error) -> String {
    escape::one_line(&escape::shorten(&error.to_string(), 300))
}
