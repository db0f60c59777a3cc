//! Servers of the Model Context Protocol that a person names: their tools, each call asked about.
//!
//! ```toml
//! name = "notes"
//! command = ["/usr/local/bin/notes-mcp", "--stdio"]
//! pass = ["NOTES_TOKEN"]     # variables of your shell that it gets, besides the usual few
//! read_only = ["search"]     # your word, not the server's, that these change nothing
//! granted = ["search"]       # these are not asked about
//! timeout_s = 30
//! ```
//!
//! What a server says of itself (names, descriptions, schemas, hints) is cut to size, stripped and never believed.

mod manifest;
mod schema;
mod server;
mod tool;

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::custom::{ManifestProblem, ToolProblem, files};
use crate::mcp::manifest::ServerManifest;
use crate::mcp::server::Server;
use crate::mcp::tool::Remote;
use crate::tool::{Machine, Tool};

/// How long all servers together may take to start and list their tools: artoo waits for it.
const START_TIME: Duration = Duration::from_secs(5);

/// Tools of one server that are offered; each stands in every prompt.
const TOOLS_MAX: usize = 64;

/// Starts every server of the folder and lists its tools; what can't be offered is told.
pub(crate) fn tools(machine: &Arc<Machine>) -> (Vec<Arc<dyn Tool>>, Vec<ToolProblem>) {
    let Some(folder) = &machine.config.mcp else { return (Vec::new(), Vec::new()) };
    let (mut tools, mut problems): (Vec<Arc<dyn Tool>>, Vec<ToolProblem>) = (Vec::new(), Vec::new());
    let mut started = Vec::new();
    for path in files(folder, &mut problems) {
        match ServerManifest::read(&machine.config, &path) {
            Ok(manifest)
                if started.iter().any(|(_, known, _): &(_, Arc<ServerManifest>, _)| known.name == manifest.name) =>
            {
                problems.push(ToolProblem { path, problem: ManifestProblem::Taken { name: manifest.name } });
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
            let problem = ManifestProblem::Server { name: manifest.name.clone(), reason };
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
