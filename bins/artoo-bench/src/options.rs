//! The command-line options of artoo-bench.

use clap::Parser;

/// Measures artoo's own cost against an endpoint, beside a bare program that makes the same calls
#[derive(Debug, Clone, Parser)]
#[command(name = "artoo-bench", version)]
pub(crate) struct Options {
    /// An endpoint that speaks Chat Completions
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: String,
    /// Parallel subtasks of a task, 1 to 1024
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) n: u16,
    /// Tasks that are measured
    #[arg(long, value_name = "T", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) tasks: u32,
    /// Tasks under way at once
    #[arg(long, value_name = "C", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(crate) concurrency: u32,
    /// Tasks before those that are measured
    #[arg(long, value_name = "W", default_value_t = 2)]
    pub(crate) warmup: u32,
    /// What each subtask calls: a process, or a tool that starts none
    #[arg(long, value_enum, default_value_t = ToolKind::Proc)]
    pub(crate) tool: ToolKind,
}

/// The tool that a subtask calls: `shell`, or `read_file`, which starts no process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ToolKind {
    Proc,
    Noop,
}
