//! The manifest of an MCP server.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use crate::config::ToolConfig;
use crate::custom::{ManifestProblem, check_keys, find_program, from_toml, is_name, read_toml, timeout};
use crate::process::Invocation;

const KEYS: [&str; 7] = ["name", "command", "pass", "network", "read_only", "granted", "timeout_s"];

/// Maximum number of arguments of an MCP server's command.
const ARGUMENTS_MAX: usize = 64;

/// The manifest of an MCP server as it is written in TOML.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    name: String,
    command: Vec<String>,
    #[serde(default)]
    pass: Vec<String>,
    #[serde(default)]
    network: bool,
    #[serde(default)]
    read_only: Vec<String>,
    #[serde(default)]
    granted: Vec<String>,
    timeout_s: Option<u64>,
}

/// The validated manifest of an MCP server: program, arguments, environment and permissions.
#[derive(Debug)]
pub(super) struct ServerManifest {
    pub(super) name: String,
    pub(super) program: PathBuf,
    pub(super) arguments: Vec<OsString>,
    /// Additional environment variables.
    pub(super) environment: Vec<(String, OsString)>,
    /// Whether it may use the network.
    pub(super) network: bool,
    pub(super) read_only: Vec<String>,
    pub(super) granted: Vec<String>,
    pub(super) timeout: Duration,
}

impl ServerManifest {
    /// Reads a manifest and checks its program; starts nothing.
    pub(super) fn read(config: &ToolConfig, path: &Path) -> Result<Self, ManifestProblem> {
        let text = read_toml(path)?;
        check_keys("", from_toml::<toml::Table>(&text)?.keys(), &KEYS)?;
        let wire: Wire = from_toml(&text)?;
        is_name(&wire.name).then_some(()).ok_or_else(|| ManifestProblem::name(&wire.name))?;
        let Some((program, arguments)) = wire.command.split_first().filter(|(_, more)| more.len() <= ARGUMENTS_MAX)
        else {
            return Err(ManifestProblem::command(ARGUMENTS_MAX));
        };
        let program = find_program(config, path.parent().unwrap_or(Path::new("/")), program)?;
        let passed = wire.pass.iter().filter_map(|name| Some((name.clone(), std::env::var_os(name)?)));
        Ok(Self {
            program,
            arguments: arguments.iter().map(OsString::from).collect(),
            environment: passed.collect(),
            timeout: timeout(wire.timeout_s)?,
            name: wire.name,
            network: wire.network,
            read_only: wire.read_only,
            granted: wire.granted,
        })
    }

    /// The invocation of the server's program.
    pub(super) fn invocation(&self) -> Invocation {
        Invocation {
            program: self.program.clone(),
            name: self.program.clone().into_os_string(),
            arguments: self.arguments.clone(),
            environment: self.environment.clone(),
        }
    }
}
