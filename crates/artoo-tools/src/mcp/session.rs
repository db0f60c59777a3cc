//! A connection to a started server, and how its calls end.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use artoo_proto::escape;
use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, PaginatedRequestParams};
use rmcp::service::{RunningService, ServiceError};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{RoleClient, ServiceExt};
use serde_json::{Map, Value};
use tokio::time::timeout;

use crate::mcp::{START_TIME, TOOLS_MAX};
use crate::process::{Ended, Order, Serving, Verdict, capture, serve};
use crate::tool::Machine;

/// Longest line, in bytes, that an MCP server may send.
const LINE_MAX_BYTES: usize = 4 * 1024 * 1024;

/// Maximum number of pages of a server's list of tools.
const PAGES_MAX: usize = 8;

/// A tool as its MCP server describes it, before any check.
#[derive(Debug)]
pub(super) struct Offered {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) schema: Map<String, Value>,
}

/// The connection to a started MCP server. Dropping it ends all of its processes.
#[derive(Debug)]
pub(super) struct Session {
    service: RunningService<RoleClient, ()>,
    serving: Serving,
    machine: Arc<Machine>,
}

impl Session {
    /// Starts the server and connects to it. `Err` is the outcome of a call for which it can't be started.
    pub(super) async fn begin(machine: &Arc<Machine>, order: Order) -> Result<Self, io::Result<Box<Ended>>> {
        let started = serve(Order { cwd: PathBuf::from(&machine.config.environment.home), ..order }).await;
        let failed = |error: io::Error| Err(io::Error::new(error.kind(), format!("it can't be started: {error}")));
        let (mut serving, input, output) = started.map_err(failed)?;
        let transport = AsyncRwTransport::new_client(output, input).with_max_line_length(LINE_MAX_BYTES);
        let reason = match timeout(START_TIME, ().serve(transport)).await {
            Ok(Ok(service)) => {
                return Ok(Self { service, serving, machine: Arc::clone(machine) });
            }
            Ok(Err(error)) => format!("it does not follow the protocol: {}", one_line(&error)),
            Err(_) => "it did not start in time".to_owned(),
        };
        Err(failure(machine, serving.end(machine.config.kill_grace).await, &reason).map(Box::new))
    }

    /// Whether the MCP server can take another call.
    pub(super) fn is_open(&self) -> bool {
        !self.service.is_closed() && !self.service.is_transport_closed()
    }

    /// Asks the MCP server for the list of its tools.
    pub(super) async fn list(&self) -> Result<Vec<Offered>, String> {
        let mut offered = Vec::new();
        let mut cursor = None;
        for _ in 0..PAGES_MAX {
            let page = PaginatedRequestParams::default().with_cursor(cursor);
            let result = timeout(START_TIME, self.service.list_tools(Some(page))).await;
            let result = result.map_err(|_| "it did not list its tools in time")?.map_err(|error| one_line(&error))?;
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

    /// Calls a tool of the server and returns its result in the form of a program that ended. Unless the server
    /// `stays`, it is ended first, so that all of its changes are complete.
    pub(super) async fn call(&mut self, tool: &str, input: Map<String, Value>, stays: bool) -> io::Result<Ended> {
        let request = CallToolRequestParams::new(tool.to_owned()).with_arguments(input);
        let result = self.service.call_tool_once(request).await;
        let stays =
            stays && matches!(result, Ok(_) | Err(ServiceError::McpError(_))) && !self.service.is_transport_closed();
        let verdict = if stays { Some(Verdict::default()) } else { self.end().await };
        match (result, verdict) {
            (Ok(CallToolResponse::Complete(result)), Some(verdict)) => {
                let is_error = result.is_error == Some(true);
                Ok(ended(&self.machine, verdict, is_error, &text(&result)))
            }
            (Ok(CallToolResponse::Complete(_)), None) => Err(io::Error::other("it could not be ended")),
            (Ok(_), verdict) => failure(&self.machine, verdict, "it asks for more input, which a tool does not get"),
            (Err(error), verdict) => failure(&self.machine, verdict, &one_line(&error)),
        }
    }

    /// Ends the MCP server's process; `None` if its end can't be known.
    pub(super) async fn end(&mut self) -> Option<Verdict> {
        self.service.cancellation_token().cancel();
        self.serving.end(self.machine.config.kill_grace).await
    }
}

/// The result of an MCP call without an answer: if the sandbox denied something, a program that ended with these
/// denials; else an error.
fn failure(machine: &Machine, verdict: Option<Verdict>, reason: &str) -> io::Result<Ended> {
    match verdict.filter(|verdict| !verdict.denied.is_empty()) {
        Some(verdict) => Ok(ended(machine, verdict, true, reason)),
        None => Err(io::Error::other(reason)),
    }
}

/// The result of an MCP call in the form of a program that ended: `text` is its output, `is_error` its exit code.
fn ended(machine: &Machine, verdict: Verdict, is_error: bool, text: &str) -> Ended {
    let config = &machine.config;
    let mut stdout = capture(config);
    stdout.push(text.as_bytes());
    let ended = verdict.ended(stdout, capture(config), None, &config.limits);
    // How the server was ended is no information about the call.
    Ended { exit_code: Some(is_error.into()), signal: None, ..ended }
}

/// The text of an MCP result: its text blocks, or its structured content.
fn text(result: &CallToolResult) -> String {
    let mut lines: Vec<&str> = result.content.iter().map(shown).collect();
    let structured = result.structured_content.as_ref().map(Value::to_string);
    if lines.is_empty() {
        lines.extend(structured.as_deref());
    }
    lines.join("\n")
}

/// A content block of an MCP result as text; media other than text are replaced by a note.
#[expect(clippy::wildcard_enum_match_arm, reason = "the protocol's own kinds of content grow")]
fn shown(content: &ContentBlock) -> &str {
    match content {
        ContentBlock::Text(text) => &text.text,
        ContentBlock::Image(_) => "[an image, not shown]",
        ContentBlock::Audio(_) => "[a sound, not shown]",
        _ => "[something that is no text, not shown]",
    }
}

/// An error on one line, since it may quote anything that the server sent.
fn one_line(error: &dyn std::error::Error) -> String {
    escape::one_line(&escape::shorten(&error.to_string(), 300))
}
