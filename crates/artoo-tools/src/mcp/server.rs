//! A running server: its process and its connection, on a thread of their own.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::sync::{mpsc as channel, oneshot};

use crate::fence::{Fence, Reach};
use crate::mcp::manifest::ServerManifest;
use crate::mcp::session::{Offered, Session};
use crate::process::{Ended, REMARKS_CHARS};
use crate::tool::{Held, Machine};
use crate::view::View;

/// Maximum number of calls that wait for one MCP server.
const CALLS_MAX: usize = 32;

/// A call for the server's thread: tool, input and permissions, with the channel for its result.
struct Order {
    fence: Fence,
    held: Held,
    tool: String,
    input: Map<String, Value>,
    reply: oneshot::Sender<io::Result<Ended>>,
}

/// An MCP server and its thread. Dropping it ends its process and all descendants.
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
            // The thread ends within the time for a start and two grace times of a program; a panic of it is ignored.
            let _ = thread.join();
        }
    }
}

impl Server {
    /// Starts the MCP server on a thread of its own and connects to it; [`Self::listed`] gives its tools.
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

    /// The tools that the MCP server offers; waits at most `time` for them.
    pub(super) fn listed(&self, time: Duration) -> Result<Vec<Offered>, String> {
        let list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        list.recv_timeout(time).unwrap_or_else(|_| Err("it did not list its tools in time".to_owned()))
    }

    /// Makes a call of a tool of this MCP server. Dropping the future ends the server.
    pub(super) async fn call(
        &self,
        tool: &str,
        input: Map<String, Value>,
        fence: Fence,
        held: Held,
    ) -> io::Result<Ended> {
        let gone = || io::Error::other("it is gone");
        let (reply, ended) = oneshot::channel();
        let order = Order { fence, held, tool: tool.to_owned(), input, reply };
        self.orders.as_ref().ok_or_else(gone)?.send(order).await.map_err(|_| gone())?;
        ended.await.map_err(|_| gone())?
    }
}

/// The files that a running MCP server may read, fixed at its start, so that calls with other ones need a new start.
#[derive(Debug, PartialEq, Eq)]
struct ReadAccess {
    version: u64,
    readable: Vec<PathBuf>,
    left_out: Vec<PathBuf>,
    /// Folders that contain a file that is left out, each with the time of its last change.
    folders: Vec<(PathBuf, i64, i64)>,
}

impl ReadAccess {
    /// The files that a server started in this sandbox may read.
    fn of(machine: &Machine, Fence { readable, left_out, .. }: &Fence) -> Self {
        let mut folders: Vec<PathBuf> =
            left_out.iter().flat_map(|file| file.ancestors().skip(1)).map(PathBuf::from).collect();
        folders.sort();
        folders.dedup();
        let changed = |folder: PathBuf| {
            let found = folder.metadata().ok()?;
            Some((folder, found.ctime(), found.ctime_nsec()))
        };
        let folders = folders.into_iter().filter_map(changed).collect();
        let version = machine.read_allowlist.version();
        Self { version, readable: readable.clone(), left_out: left_out.clone(), folders }
    }
}

/// Starts the server, lists its tools, forwards calls and ends it. It is started again for a call after it has ended.
async fn serve_calls(
    machine: &Arc<Machine>,
    manifest: &ServerManifest,
    mut orders: channel::Receiver<Order>,
    listing: &mpsc::SyncSender<Result<Vec<Offered>, String>>,
) {
    let (mut session, listed) = first(machine, manifest).await;
    // The caller may have stopped waiting for the list; calls are accepted all the same.
    drop(listing.send(listed));
    // One call at a time, since a denial ends the server and must be assigned to the right call.
    while let Some(Order { fence, held, tool, input, mut reply }) = orders.recv().await {
        if reply.is_closed() {
            continue;
        }
        let access = ReadAccess::of(machine, &fence);
        let (_, current) = match session.take().filter(|(known, session)| session.is_open() && *known == access) {
            Some(running) => session.insert(running),
            None => match Session::begin(machine, machine.order(manifest.invocation(), fence, held)).await {
                Ok(started) => session.insert((access, started)),
                Err(ended) => {
                    drop(reply.send(ended.map(|ended| *ended)));
                    continue;
                }
            },
        };
        let ended = tokio::select! {
            ended = current.call(&tool, input, true) => Some(ended),
            // The caller is gone, but the server may still work for it.
            () = reply.closed() => None,
        };
        match ended {
            Some(ended) => drop(reply.send(ended)),
            None => drop(current.end().await),
        }
    }
    if let Some((_, mut session)) = session {
        session.end().await;
    }
}

/// Starts the server to list its tools; also returns the running session if the same process may be used for calls.
async fn first(
    machine: &Arc<Machine>,
    manifest: &ServerManifest,
) -> (Option<(ReadAccess, Session)>, Result<Vec<Offered>, String>) {
    let Machine { config, protected, .. } = &**machine;
    let left_out = protected.secrets(&config.environment, &[], &[]).files;
    let holds = machine.fence().holds;
    let (fence, held) =
        if holds { (Fence::of_reading_run(protected), Held::Fenced) } else { (Fence::default(), Held::Not) };
    let fence = Fence { left_out: left_out.clone(), ..fence };
    let access = ReadAccess::of(machine, &fence);
    let mut stays = !(holds && manifest.network);
    let mut begun = Session::begin(machine, machine.order(manifest.invocation(), fence, held)).await;
    let is_denied = |ended: &io::Result<Box<Ended>>| match ended {
        Ok(_) => true,
        Err(error) => error.kind() == io::ErrorKind::Unsupported,
    };
    if begun.as_ref().is_err_and(is_denied) {
        // Changes that the server makes as it starts are discarded.
        stays = false;
        let view = View::prepare(config, protected, &[]);
        let held = view.map_or(Held::Fenced, |view| Held::InView(Arc::new(view)));
        let fence = Fence { left_out, reach: Reach::of_network(manifest.network), ..Fence::of_reading(protected, &[]) };
        begun = Session::begin(machine, machine.order(manifest.invocation(), fence, held)).await;
    }
    match begun {
        Ok(mut session) => {
            let listed = session.list().await;
            if !stays {
                session.end().await;
            }
            (stays.then_some((access, session)), listed)
        }
        Err(Ok(ended)) => {
            let denied = ended.kept().map(|kept| format!("; {kept}")).unwrap_or_default();
            (None, Err(ended.text(REMARKS_CHARS).0 + &denied))
        }
        Err(Err(error)) => (None, Err(error.to_string())),
    }
}
