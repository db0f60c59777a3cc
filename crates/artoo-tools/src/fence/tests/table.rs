//! A table of commands, each run for real in the sandbox alone: our own table, or the one that `ARTOO_FENCE_TABLE`
//! names.
//!
//! A row is class, command, why, run; `json:` marks a command written as a JSON string. Run is `yes` (it is run, and
//! nothing outside the workspace may change), `net` (likewise, and nothing may reach a listener) or `no` (never run).
//! `.ci/measure/fence` runs this in namespaces of its own, where every address leads to the listeners here.

use std::collections::BTreeMap;
use std::fs;
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::test_home::{State, TestHome, state};
use crate::fence::{Fence, Reach};

const OWN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/commands/fence.tsv");

/// Time limit of one command of the table.
const TIME: Duration = Duration::from_millis(2500);

/// Ports on which a test listens in a network of its own; otherwise it uses one free port.
const PORTS: [u16; 12] = [21, 22, 25, 53, 80, 443, 587, 873, 4444, 5432, 6379, 9418];

/// Folders outside the home that must stay unchanged; compared if the test runs in namespaces of its own.
const WATCHED: [&str; 5] = ["/tmp", "/var/tmp", "/dev/shm", "/run", "/etc"];

/// A row of the table: class, command, and how it is run.
struct Row {
    class: String,
    command: String,
    run: String,
}

/// Parses the rows of a table of commands.
fn rows(table: &str) -> Vec<Row> {
    let is_row = |line: &&str| !line.starts_with('#') && !line.starts_with("class\t") && !line.trim().is_empty();
    table.lines().filter(is_row).map(row).collect()
}

/// Parses one line of a table of commands.
fn row(line: &str) -> Row {
    let fields: Vec<&str> = line.split('\t').collect();
    let [class, command, .., run] = fields.as_slice() else { panic!("not a row: {line:?}") };
    let command = match command.strip_prefix("json:") {
        Some(text) => serde_json::from_str(text).unwrap_or_else(|error| panic!("{line:?}: {error}")),
        None => (*command).to_owned(),
    };
    Row { class: (*class).to_owned(), command, run: (*run).trim().to_owned() }
}

/// Creates in a test home all files that a row of the table may name.
fn furnish(home: &TestHome, command: &str) {
    for name in [".artoo/audit.jsonl", ".artoo/config.json", ".bashrc", ".ssh/id_rsa", ".ssh/id_ed25519", ".netrc"] {
        home.file(name, "held dear\n");
    }
    for name in [".aws/credentials", "Documents/letter.txt", "Downloads/a.zip", "work/src/main.rs", "work/build/out.o"]
    {
        home.file(name, "held dear\n");
    }
    home.file("work/Makefile", "all:\n\trm -f keep_notes.md\n");
    for name in ["work/x", "work/x.sh", "work/ls", "work/keep_tool"] {
        home.program(name, "rm -rf keep_notes.md keep_dir; echo gone > keep_a.txt");
    }
    home.file("work/keep_script.sh", "rm -f keep_notes.md\n");
    home.file("work/keep_env.sh", "rm -f keep_notes.md\n");
    for name in ["notes.md", "a.txt", "b.txt", "names.txt", "list.txt", "data.json", "x.bak"] {
        home.file(&format!("work/keep_{name}"), "keep_notes.md\n");
    }
    home.file("work/-keep_file", "x");
    home.file("work/.bak.bak", "x");
    home.file("work/keep_dir/inside.txt", "x");
    home.file("work/keep_mirror/inside.txt", "x");
    let is_name = |c: char| c.is_alphanumeric() || "_-.".contains(c);
    for word in command.split(|c| !is_name(c)).filter(|word| word.starts_with("keep_")) {
        let path = home.path.join("work").join(word);
        if !path.exists() {
            fs::write(path, "held dear\n").unwrap();
        }
    }
    let setup = "tar -czf keep_backup.tgz keep_notes.md; tar -cf keep_a.tar keep_notes.md; \
                 git init -q . && git add -A . && git -c user.name=a -c user.email=a@b commit -qm one; true";
    let open = Fence { granted: vec![home.path.clone()], ..home.fence() };
    let _ = home.run_in(open, setup, Duration::from_secs(20));
}

/// Listens on these ports and counts connections and packets; returns the counter and the ports that could be opened.
fn listen(ports: &[u16]) -> (Arc<AtomicUsize>, Vec<u16>) {
    let reached = Arc::new(AtomicUsize::new(0));
    let mut heard = Vec::new();
    for port in ports {
        if let Ok(listener) = TcpListener::bind((Ipv4Addr::UNSPECIFIED, *port)) {
            let (reached, port) = (Arc::clone(&reached), listener.local_addr().unwrap().port());
            heard.push(port);
            std::thread::spawn(move || {
                listener.incoming().for_each(|_| {
                    reached.fetch_add(1, Ordering::SeqCst);
                })
            });
        }
        if let Ok(socket) = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, *port)) {
            let reached = Arc::clone(&reached);
            std::thread::spawn(move || {
                while socket.recv_from(&mut [0; 16]).is_ok() {
                    reached.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
    }
    (reached, heard)
}

/// The state of the home, and of the folders of `WATCHED` if the test runs in namespaces of its own.
fn everything(home: &TestHome, is_alone: bool) -> State {
    let mut roots = vec![home.path.as_path()];
    if is_alone {
        roots.extend(WATCHED.iter().map(Path::new));
    }
    let mut found = state(&roots, Path::new(&home.config.environment.workspace));
    // Times of the folder for temporary files change with every run.
    found.times.retain(|path, _| path.starts_with(&home.path));
    found
}

/// The sandbox alone, without approvals or other checks, keeps every command of the table from changing content, mode
/// or owner of files outside, and from reaching a listener.
#[doc = "holds: law 1.17"]
#[test]
fn sandbox_alone_confines_every_row() {
    let path = std::env::var_os("ARTOO_FENCE_TABLE").map_or_else(|| PathBuf::from(OWN), PathBuf::from);
    let is_alone = std::env::var_os("ARTOO_FENCE_ALONE").is_some();
    // A control: without the sandbox the same rows must do harm.
    let is_control = std::env::var_os("ARTOO_FENCE_OFF").is_some() && is_alone;
    let table = fs::read_to_string(&path).unwrap();
    let (reached, ports) = listen(if is_alone { &PORTS } else { &[0] });
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut escaped = Vec::new();
    for row in rows(&table) {
        *counts.entry(row.run.clone()).or_default() += 1;
        if row.run == "no" {
            continue;
        }
        let command = row.command.replace("{port}", &ports.first().unwrap().to_string());
        let home = TestHome::new();
        furnish(&home, &command);
        let before = everything(&home, is_alone);
        let reached_before = reached.load(Ordering::SeqCst);
        let fence = if is_control {
            Fence { granted: vec!["/".into()], reach: Reach::of_network(true), ..Fence::default() }
        } else {
            home.fence()
        };
        // A program that can't be started has no effect.
        let _ = home.run_in(fence, &command, TIME);
        let after = everything(&home, is_alone);
        if before.facts != after.facts {
            let is_other = |path: &&PathBuf| before.facts.get(*path) != after.facts.get(*path);
            let mut paths = before.facts.keys().chain(after.facts.keys());
            escaped.push(format!("{}: {command:?} changed {:?}", row.class, paths.find(is_other)));
        } else if before.times != after.times {
            *counts.entry("times alone changed".to_owned()).or_default() += 1;
        }
        if reached.load(Ordering::SeqCst) != reached_before {
            escaped.push(format!("{}: {command:?} reached a listener", row.class));
        }
    }
    super::print_uncaptured(&format!("rows: {counts:?}; escaped: {}", escaped.len()));
    if is_control {
        assert!(!escaped.is_empty(), "without the fence nothing happened either: the rows show nothing");
        return;
    }
    assert!(escaped.is_empty(), "{escaped:#?}");
    assert!(counts.contains_key("yes"), "{} has no row to run", path.display());
}
