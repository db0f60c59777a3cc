//! Rows that only read print the same bytes as without artoo, and ask nothing.

use std::collections::BTreeMap;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use artoo_proto::ToolOutcome;

use super::super::Fixture;
use super::home::furnish;
use super::{order, rows, world};
use crate::process;

/// How often a command whose output differs is run again, since values such as free space change by themselves.
const TRIES: usize = 4;

/// Rows whose output through artoo differs from that without it, each with the reason.
const OTHERWISE: [(&str, &str); 5] = [
    ("getconf -a", "it prints the limits of its run"),
    ("ps -eo pid,ppid,comm --sort=-rss | head", "it lists the process that holds its run"),
    ("ps aux --sort=-%mem | head -5", "it lists the process that holds its run"),
    ("ps -u root -o comm= | sort -u | head -3", "it lists the process that holds its run"),
    ("ls -ld /tmp /var/tmp /root", "the secrets below a large home of root are too many for a run"),
];

/// What a run prints: its exit code and both streams, without the name of its temporary folder.
type Printed = (Option<i32>, Vec<u8>, Vec<u8>);

/// Runs a command with bash directly, without artoo; returns its exit code and output.
fn bare(fixture: &Fixture, command: &str) -> Printed {
    let mut bash = Command::new("/usr/bin/bash");
    bash.arg0("bash")
        .args(["--noprofile", "--norc", "-c", command])
        .current_dir(&fixture.config.environment.cwd)
        .env_clear();
    let output = bash.envs(process::environment(&fixture.config)).stdin(Stdio::null()).output().unwrap();
    (output.status.code(), without_scratch(output.stdout), without_scratch(output.stderr))
}

/// Runs a command through artoo; an error if it needs approval or has neither exit code nor signal.
fn by_artoo(fixture: &Fixture, runtime: &tokio::runtime::Runtime, command: &str) -> Result<Printed, String> {
    let order = order("shell", command);
    let outcome = runtime.block_on(fixture.outcome(&order, None));
    fixture.registry.forget(&order.task_id);
    let ToolOutcome::Called { call } = outcome else { return Err(format!("asks: {outcome:?}")) };
    let store = fixture.registry.evidence().unwrap();
    let stream = |name: &str| {
        let kept = call.kept.iter().find(|kept| kept.stream == name);
        kept.map(|kept| store.read(&kept.sha256).unwrap()).unwrap_or_default()
    };
    if call.exit_code.is_none() && call.signal.is_none() {
        return Err(format!("has no end: {call:?}"));
    }
    Ok((call.exit_code, without_scratch(stream("stdout")), without_scratch(stream("stderr"))))
}

/// A run's exit code and output as text.
fn shown((code, out, errors): &Printed) -> String {
    format!("{code:?} {} {}", String::from_utf8_lossy(out), String::from_utf8_lossy(errors))
}

/// The output without the name of the temporary folder.
fn without_scratch(bytes: Vec<u8>) -> Vec<u8> {
    let text: String = bytes.iter().map(|byte| char::from(*byte)).collect();
    let mut parts = text.split("/tmp/artoo-");
    let first = parts.next().unwrap_or_default().to_owned();
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let text = parts.fold(first, |text, part| text + "/tmp" + part.trim_start_matches(is_name));
    text.chars().map(|c| c as u8).collect()
}

/// Commands that only read print the same bytes through artoo as without it, except [`OTHERWISE`] and those whose
/// output varies by itself.
#[doc = "holds: law 1.16"]
#[test]
fn read_only_rows_print_the_same_bytes() {
    world::run_in_namespaces("reading::read_only_rows_print_the_same_bytes", || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let fixture = Fixture::with(|config| config.call_timeout = Duration::from_secs(20));
        furnish(&fixture);
        let cwd = std::path::Path::new(&fixture.config.environment.cwd);
        [".env", "keep_secrets.env"].iter().for_each(|name| std::fs::remove_file(cwd.join(name)).unwrap());
        let all = [rows::labelled(), rows::others()].concat();
        let (mut counts, mut differing) = (BTreeMap::<&str, usize>::new(), Vec::new());
        for row in all.iter().filter(|row| row.is_reading()) {
            let (mut outcome, mut without) = (("differs", None), Vec::new());
            for _ in 0..TRIES {
                let found = by_artoo(&fixture, &runtime, &row.command);
                without.extend([bare(&fixture, &row.command), bare(&fixture, &row.command)]);
                outcome = match found {
                    _ if without[0].0 == Some(127) => ("not installed", Some(String::new())),
                    Err(asks) => ("asks", Some(asks)),
                    Ok(found) if without.contains(&found) => ("same", None),
                    Ok(_) if without.iter().any(|printed| *printed != without[0]) => {
                        ("differs from itself", Some(String::new()))
                    }
                    Ok(found) => {
                        ("differs", Some(format!("\n  bare {}\n  here {}", shown(&without[0]), shown(&found))))
                    }
                };
                if outcome.0 == "same" {
                    break;
                }
            }
            let (name, said) = outcome;
            let known = OTHERWISE.iter().find(|(command, _)| *command == row.command);
            let name = if known.is_some() && ["differs", "asks"].contains(&name) { "otherwise" } else { name };
            *counts.entry(name).or_default() += 1;
            match (name, said) {
                ("differs" | "asks", Some(said)) => {
                    differing.push(format!("{name}: {} {:?} {said}", row.table, row.command))
                }
                (_, Some(_)) => println!("{name}: {:?}", row.command),
                _ => {}
            }
        }
        println!("{counts:?}");
        assert!(differing.is_empty(), "{} differ:\n{}", differing.len(), differing.join("\n"));
        assert!(counts["same"] >= 300, "{counts:?}");
    });
}
