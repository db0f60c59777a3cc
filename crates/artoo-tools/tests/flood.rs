//! T6, T7: a command that prints 1 GB runs in a test process of its own, so that artoo's peak memory can be measured.
#![expect(clippy::print_stdout, clippy::expect_used, clippy::panic, reason = "a test without a harness")]

use std::time::Duration;

use artoo_proto::{CallStatus, ConsentScope, Environment, EvidenceId, TaskId, ToolOrder, ToolOutcome, ToolRequest};
use artoo_tools::{Registry, ToolConfig};

/// Maximum peak memory of the whole test process in KiB, with the test's own runtime.
const PROCESS_MAX_KIB: u64 = 64 * 1024;

/// Maximum additional memory in KiB for 1 GB of output: 4 MB of captured ends, and their text once more while it is
/// shortened.
const ADDED_MAX_KIB: u64 = 16 * 1024;

const BYTES: u64 = 1_000_000_000;

/// Runs commands that print 1 GB in this test process, and checks its peak memory.
fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        flood("true").await;
        let Some(before) = peak_kib() else {
            println!("not measured: this system does not tell a process its peak");
            return;
        };
        for line in ["y", "y\\n"] {
            let call = flood(&format!("yes \"$(printf '{line}')\" | tr -d '\\n' | head -c {BYTES}")).await;
            assert_eq!((call.output_bytes, call.status), (BYTES, CallStatus::Ok), "{call:?}");
        }
        let call = flood(&format!("yes | head -c {BYTES}")).await;
        assert_eq!((call.output_bytes, call.truncated), (BYTES, true), "{call:?}");
        let peak = peak_kib().expect("told a moment ago");
        println!("peak {peak} KiB, {} KiB of them by 1 GB of output", peak - before);
        assert!(peak <= PROCESS_MAX_KIB, "{peak} KiB");
        assert!(peak - before <= ADDED_MAX_KIB, "{} KiB", peak - before);
    });
}

/// The record of a shell command that is run through a new registry, with approval if it asks.
async fn flood(command: &str) -> artoo_proto::ToolCall {
    let dir = tempfile::tempdir().expect("a folder");
    let home = dir.path().to_str().expect("a path in Unicode").to_owned();
    let environment = Environment {
        cwd: home.clone(),
        home: home.clone(),
        workspace: format!("{home}/ws"),
        os: std::env::consts::OS.to_owned(),
        utc_offset_s: 0,
    };
    let mut config = ToolConfig::new(environment);
    config.call_timeout = Duration::from_secs(300);
    let registry = Registry::detect(config);
    let context = ToolOrder {
        task_id: TaskId::try_from("flood-00000000-0000-4000-8000-000000000001".to_owned()).expect("a task id"),
        request: ToolRequest { tool: "shell".into(), input: serde_json::json!({"command": command}) },
        evidence_id: EvidenceId("e1".into()),
        allowed_tools: vec!["shell".into()],
        blocked_tools: Vec::new(),
        blocked_targets: Vec::new(),
        confirm: false,
        consent: None,
        scope: ConsentScope::Once,
    };
    let grant = match registry.call(&context, "", None).await {
        ToolOutcome::Called { call } => return call,
        ToolOutcome::NeedsConsent { hash, .. } => registry.grant(&hash, ConsentScope::Once),
    };
    match registry.call(&context, "", Some(grant)).await {
        ToolOutcome::Called { call } => call,
        ToolOutcome::NeedsConsent { reason, .. } => panic!("asks again: {reason}"),
    }
}

/// Peak memory of this process in KiB; `None` if the system does not tell it.
fn peak_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.split_whitespace().next()?.parse().ok()
}
