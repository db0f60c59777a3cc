//! Tools of the servers of the Model Context Protocol that the user configured.
//!
//! ```toml
//! name = "notes"
//! command = ["/usr/local/bin/notes-mcp", "--stdio"]
//! pass = ["NOTES_TOKEN"]     # additional environment variables that are passed to it
//! network = true             # it may use the network; otherwise its sandbox blocks it
//! read_only = ["search"]     # tools that change nothing elsewhere, by your claim, not the server's
//! granted = ["add"]          # tools whose changes need no approval, nor what they send
//! timeout_s = 30
//! ```
//!
//! A server stays as long as it only reads. The first change that it tries ends it, and the call is made again by a server
//! of its own in a view, as a command is. One with the network is started for each call: what it sends is not sent twice.
//! Reading calls of one server wait for each other.
//!
//! What a server says of itself (names, descriptions, schemas, hints) is shortened, stripped and not trusted.

mod manifest;
mod schema;
mod server;
mod session;
mod tool;

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::custom::{ManifestProblem, ToolProblem, files};
use crate::mcp::manifest::ServerManifest;
use crate::mcp::server::Server;
use crate::mcp::tool::Remote;
use crate::tool::{Machine, Tool};

/// Time limit in which all MCP servers must start and list their tools, and in which one that is started later must
/// start.
const START_TIME: Duration = Duration::from_secs(5);

/// Maximum number of tools of one MCP server; each is in every prompt.
const TOOLS_MAX: usize = 64;

/// Starts every MCP server of the folder and lists its tools; also returns the reasons for those that can't be offered.
pub(crate) fn tools(machine: &Arc<Machine>) -> (Vec<Arc<dyn Tool>>, Vec<ToolProblem>) {
    let Some(folder) = &machine.config.mcp else { return (Vec::new(), Vec::new()) };
    let (mut tools, mut problems): (Vec<Arc<dyn Tool>>, Vec<ToolProblem>) = (Vec::new(), Vec::new());
    let mut started = Vec::new();
    for path in files(folder, &mut problems) {
        match ServerManifest::read(&machine.config, &path) {
            Ok(manifest)
                if started.iter().any(|(_, known, _): &(_, Arc<ServerManifest>, _)| known.name == manifest.name) =>
            {
                problems.push(ToolProblem { path, problem: ManifestProblem::taken(&manifest.name) });
            }
            Ok(manifest) => {
                let manifest = Arc::new(manifest);
                let server = Server::start(machine, &manifest);
                started.push((path, manifest, server));
            }
            Err(problem) => problems.push(ToolProblem { path, problem }),
        }
    }
    let deadline = Instant::now() + START_TIME;
    for (path, manifest, server) in started {
        let mut problem = |reason: String| {
            let problem = format!("the server {} can't be used as it is: {reason}", manifest.name);
            let problem = ManifestProblem::new(problem);
            problems.push(ToolProblem { path: path.clone(), problem });
        };
        let found = server.and_then(|server| {
            let listed = server.listed(deadline.saturating_duration_since(Instant::now()))?;
            Ok((Arc::new(server), listed))
        });
        match found {
            Err(reason) => problem(reason),
            Ok((server, listed)) => {
                if listed.len() > TOOLS_MAX {
                    problem(format!("it has {} tools; {TOOLS_MAX} are offered", listed.len()));
                }
                for offered in listed.into_iter().take(TOOLS_MAX) {
                    match Remote::new(&server, &manifest, offered) {
                        Ok(remote) => tools.push(Arc::new(remote)),
                        Err(reason) => problem(reason),
                    }
                }
            }
        }
    }
    (tools, problems)
}
