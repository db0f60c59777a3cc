//! Tests of the second computation with real tools: changes, facts, and questions that only shell commands answer.

use std::fs;
use std::path::Path;

use artoo_proto::{Environment, EvidenceId, FOLDER, FileChange, ToolCall, ToolOrder, ToolOutcome, ToolRequest};
use artoo_reflex::algebra::{Act, Depth, Fact, Kind, NameChange, NameTest, Pred, Query, Target};
use artoo_reflex::coverage::performed;
use artoo_reflex::eval::{Verification, verify};
use artoo_reflex::lower::lower;
use artoo_reflex::perform;
use artoo_tools::{Registry, ToolConfig};
use serde_json::json;

use super::RealFiles;

/// A temporary home folder with files, and the real tools.
struct Machine {
    _home: tempfile::TempDir,
    root: String,
    registry: Registry,
}

impl Machine {
    /// Creates the temporary home folder with its files, and the tools for it.
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().canonicalize().unwrap();
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        for folder in ["things/sub", "artoo_workspace"] {
            fs::create_dir_all(path.join(folder)).unwrap();
        }
        for (name, content) in [
            ("a.txt", "alpha\n"),
            ("b.txt", "beta\ntwo\n"),
            ("odd\nname.txt", "odd\n"),
            ("c.md", "gamma\n"),
            ("sub/d.txt", "delta, rather long\n"),
        ] {
            fs::write(path.join("things").join(name), content).unwrap();
        }
        let environment = Environment {
            cwd: text(&path),
            home: text(&path),
            workspace: text(&path.join("artoo_workspace")),
            os: "linux".to_owned(),
            utc_offset_s: 0,
        };
        Self { root: text(&path), registry: Registry::detect(ToolConfig::new(environment)), _home: home }
    }

    /// Makes a call, approves it if needed, and records whether it was approved.
    fn call(&self, request: &ToolRequest) -> (ToolCall, bool) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let context = ToolOrder {
            task_id: artoo_proto::TaskId::new("test", uuid::Uuid::new_v4()),
            request: request.clone(),
            evidence_id: EvidenceId("e1".to_owned()),
            allowed_tools: vec![request.tool.clone()],
            blocked_tools: vec![],
            blocked_targets: vec![],
            confirm: false,
            consent: None,
            scope: artoo_proto::ConsentScope::Once,
        };
        runtime.block_on(async {
            match self.registry.call(&context, "", None).await {
                ToolOutcome::Called { call } => (call, false),
                ToolOutcome::NeedsConsent { hash, .. } => {
                    match self
                        .registry
                        .call(&context, "", Some(self.registry.grant(&hash, artoo_proto::ConsentScope::Once)))
                        .await
                    {
                        ToolOutcome::Called { call } => (call, true),
                        again @ ToolOutcome::NeedsConsent { .. } => panic!("asked twice: {again:?}"),
                    }
                }
            }
        })
    }

    /// Makes the calls of a change one after the other, as a recipe does.
    fn perform(&self, act: &Act) -> Vec<ToolCall> {
        let mut calls: Vec<ToolCall> = Vec::new();
        for step in perform(act, &RealFiles).unwrap() {
            let mut request = step.call;
            if let Some(from) = step.paths_from {
                request.input["paths"] =
                    calls[from..].iter().flat_map(|call| call.output.lines()).collect::<Vec<_>>().into();
            }
            calls.push(self.call(&request).0);
        }
        calls
    }

    /// The query for all files below a folder.
    fn files(&self, below: &str) -> Query {
        let roots = vec![format!("{}/{below}", self.root)];
        Query::Tree { roots, depth: Depth::Whole, hidden: false, kind: Kind::File }
    }

    /// The query for the text files in `things`.
    fn texts(&self) -> Query {
        Query::Filter { of: Box::new(self.files("things")), keep: Pred::Extension("txt".to_owned()) }
    }

    /// The absolute path of a file.
    fn at(&self, below: &str) -> String {
        format!("{}/{below}", self.root)
    }
}

/// Verifies with [`RealFiles`] that a change was made by its recorded calls; returns the outcome.
fn look(act: &Act, calls: &[ToolCall]) -> Verification {
    performed(&serde_json::to_value(act).unwrap(), calls, &RealFiles)
}

/// Each kind of change made by the tools passes its verification, and fails it after its outcome was altered.
#[doc = "holds: law 1"]
#[test]
fn real_changes_pass_side_effects_fail() {
    let acts: [fn(&Machine) -> Act; 11] = [
        |m| Act::CreateFolder { paths: vec![m.at("new/deep"), m.at("other")] },
        |m| Act::CreateFile { path: m.at("note.txt"), text: "hello\n".to_owned() },
        |m| Act::Copy { of: m.texts(), to: Target::Into(m.at("copies")) },
        |m| Act::Copy {
            of: Query::Paths { paths: vec![m.at("things")], kind: Kind::Folder },
            to: Target::As(m.at("twin")),
        },
        |m| Act::Move {
            of: Query::Filter { of: Box::new(m.files("things")), keep: Pred::MinBytes(10) },
            to: Target::Into(m.at("moved")),
        },
        |m| {
            // A name with a line break can't be made anew: the tool refuses such names.
            let odd = Pred::Not(Box::new(Pred::Name(NameTest::Has("odd".to_owned()))));
            let of = Query::Filter { of: Box::new(m.texts()), keep: odd }.normalise();
            Act::Rename { of, change: NameChange::Suffix("-old".to_owned()) }
        },
        |m| Act::Archive { of: m.texts(), to: m.at("texts.tar.gz") },
        |m| Act::Archive { of: m.files("things"), to: m.at("things.zip") },
        |m| Act::Replace {
            path: m.at("things/b.txt"),
            find: "t".to_owned(),
            with: "T".to_owned(),
            to: m.at("things/B.txt"),
        },
        |m| Act::Delete { of: m.texts() },
        // Files in several folders are listed folder by folder, and go in one call.
        |m| Act::Delete {
            of: Query::Paths { paths: vec![m.at("things/a.txt"), m.at("things/sub/d.txt")], kind: Kind::File },
        },
    ];
    for act in acts {
        let machine = Machine::new();
        let act = act(&machine);
        let calls = machine.perform(&act);
        let found = look(&act, &calls);
        let told: Vec<_> = calls.iter().map(|call| (&call.output, &call.changed)).collect();
        assert!(found.pass, "{act:?}: {}\n{told:#?}", found.evidence);
        // Undone behind its back, or more done than told: seen.
        let last = calls.iter().rev().find_map(|call| call.changed.iter().rev().find(|change| change.after.is_some()));
        if let Some(made) = last {
            let path = std::path::PathBuf::from(made.path.replace("\\n", "\n"));
            if path.is_file() {
                fs::write(&path, "other").unwrap();
            } else {
                fs::remove_dir_all(&path).unwrap();
            }
        } else {
            fs::write(machine.at("things/a.txt"), "back").unwrap();
        }
        assert!(!look(&act, &calls).pass, "{act:?}");
    }
}

/// An archive that artoo packed extracts again, and the verification notices a changed extracted file.
#[test]
fn packed_archive_can_be_extracted() {
    for name in ["t.tar", "t.tar.gz", "t.zip"] {
        let machine = Machine::new();
        let pack = Act::Archive { of: machine.files("things"), to: machine.at(name) };
        assert!(look(&pack, &machine.perform(&pack)).pass, "{name}");
        let archive = Query::Paths { paths: vec![machine.at(name)], kind: Kind::File };
        let unpack = Act::Extract { of: archive, to: machine.at("out") };
        let calls = machine.perform(&unpack);
        let found = look(&unpack, &calls);
        assert!(found.pass, "{name}: {}\n{:?}", found.evidence, calls.last());
        fs::write(machine.at("out/a.txt"), "other").unwrap();
        assert!(!look(&unpack, &calls).pass, "{name}");
    }
}

#[test]
fn folder_link_and_date_changes_pass() {
    use artoo_proto::Timestamp;
    use artoo_reflex::algebra::{Key, Order, SortKey};
    let day = |days: u64| std::time::UNIX_EPOCH + std::time::Duration::from_secs(days * 86_400);
    let machine = || {
        let machine = Machine::new();
        std::os::unix::fs::symlink(machine.at("things"), machine.at("link")).unwrap();
        fs::create_dir_all(machine.at("many/old/in")).unwrap();
        fs::create_dir_all(machine.at("many/new")).unwrap();
        for (path, days) in
            [("many/1", 1), ("many/2", 2), ("many/old/f", 3), ("many/new/f", 4), ("many/new", 20_000), ("many/old", 5)]
        {
            let path = machine.at(path);
            if !Path::new(&path).exists() {
                fs::write(&path, "same").unwrap();
            }
            fs::File::open(&path).unwrap().set_modified(day(days)).unwrap();
        }
        machine
    };
    let folders = |m: &Machine| {
        let roots = vec![m.at("many")];
        let of = Query::Tree { roots, depth: Depth::Direct, hidden: true, kind: Kind::Folder };
        let keep = Pred::ModifiedBefore(Timestamp::from_millis(86_400_000 * 1000));
        Query::Filter { of: Box::new(of), keep }
    };
    let named = |m: &Machine, path: &str| Query::Paths { paths: vec![m.at(path)], kind: Kind::Any };
    let children = |m: &Machine, path: &str| Query::Tree {
        roots: vec![m.at(path)],
        depth: Depth::Direct,
        hidden: false,
        kind: Kind::File,
    };
    let oldest = |m: &Machine| Query::Limit {
        of: Box::new(Query::Sort {
            of: Box::new(m.files("many")),
            keys: vec![SortKey { by: Key::Modified, order: Order::Ascending }],
        }),
        skip: 0,
        count: 2,
    };
    let acts: [&dyn Fn(&Machine) -> Act; 13] = [
        &|m| Act::Move { of: folders(m), to: Target::Into(m.at("moved")) },
        &|m| Act::Delete { of: folders(m) },
        &|m| Act::Copy { of: folders(m), to: Target::Into(m.at("copied")) },
        &|m| Act::Rename { of: folders(m), change: NameChange::Prefix("x".to_owned()) },
        &|m| Act::Rename { of: children(m, "many"), change: NameChange::Template("{name}-{date}".to_owned()) },
        &|m| Act::Rename { of: oldest(m), change: NameChange::Template("{n}-{date}".to_owned()) },
        &|m| Act::Move { of: oldest(m), to: Target::Into(m.at("things")) },
        &|m| Act::Move { of: named(m, "things/c.md"), to: Target::As(m.at("many/new")) },
        &|m| Act::Move { of: children(m, "link"), to: Target::Into(m.at("out")) },
        &|m| Act::Delete { of: children(m, "link") },
        &|m| Act::Delete { of: named(m, "many") },
        &|m| Act::Archive { of: named(m, "many"), to: m.at("m.zip") },
        &|m| Act::Copy { of: children(m, "many"), to: Target::Into(m.at("link")) },
    ];
    for act in acts {
        let machine = machine();
        let act = act(&machine);
        let calls = machine.perform(&act);
        let found = look(&act, &calls);
        assert!(found.pass, "{act:?}: {}", found.evidence);
        let mut beside = calls;
        let made = FileChange { path: machine.at("beside"), before: None, after: Some(FOLDER.to_owned()) };
        beside.last_mut().unwrap().changed.push(made);
        assert!(!look(&act, &beside).pass, "{act:?}");
    }
}

/// At least 15 of 20 facts (date, free disk, host name), read by artoo's own code, equal the output of the commands;
/// forged outputs never do.
#[test]
fn facts_agree_with_shell_commands() {
    let machine = Machine::new();
    let path = machine.root.clone();
    let (mut asked, mut told) = (Vec::new(), 0);
    for fact in [
        Fact::Date,
        Fact::Time,
        Fact::DayOfWeek { date: "2024-05-15".to_owned() },
        Fact::DiskFree { path: path.clone() },
        Fact::DiskUsed { path: path.clone() },
        Fact::DiskTotal { path },
        Fact::MemoryTotal,
        Fact::MemoryFree,
        Fact::MemoryUsed,
        Fact::Processors,
        Fact::ProcessorModel,
        Fact::Load,
        Fact::Uptime,
        Fact::User,
        Fact::Host,
        Fact::Kernel,
        Fact::System,
        Fact::Architecture,
        Fact::Disks,
        Fact::Program { name: "sort".to_owned() },
    ] {
        let query = Query::System { fact };
        let Ok(call) = lower(&query, "linux") else { panic!("{query:?} has no call") };
        let (called, consent) = machine.call(&call);
        if consent {
            asked.push(call.input["command"].clone());
        }
        let value = serde_json::to_value(&query).unwrap();
        let found = verify(&value, &called.output, &RealFiles);
        // A container may keep a source from us; then nothing is claimed.
        let no_source = found.evidence.starts_with("could not be computed again") || called.output.contains("[stderr]");
        assert!(
            found.pass || no_source || called.output.trim().is_empty(),
            "{call:?}: {}\n{}",
            found.evidence,
            called.output
        );
        told += usize::from(found.pass);
        for forged in ["12345678901234567", "0"] {
            let forged = verify(&value, forged, &RealFiles);
            assert!(!forged.pass, "{query:?}: {}", forged.evidence);
        }
    }
    assert!(told >= 15, "only {told} facts could be told");
    assert!(asked.is_empty(), "a question must need no consent: {asked:#?}");
}

/// Questions that only a shell command can answer run without an approval, and a forged answer fails its check.
#[test]
fn shell_only_questions_run_without_consent() {
    let machine = Machine::new();
    let either = Pred::Any(vec![Pred::MinBytes(9), Pred::Extension("md".to_owned())]);
    let of = Query::Filter { of: Box::new(machine.files("things")), keep: either };
    let count = Query::Aggregate { of: Box::new(of.clone()), function: artoo_reflex::algebra::Function::Count };
    let hashes = Query::Field { of: Box::new(of.clone()), field: artoo_reflex::algebra::Field::Sha256 };
    for (query, forged) in [(of, "/etc/passwd\n"), (count, "7"), (hashes, "00  /etc/passwd\n")] {
        let call = lower(&query, "linux").unwrap();
        assert_eq!(call.tool, "shell");
        let (called, consent) = machine.call(&call);
        let value = json!(query);
        let found = verify(&value, &called.output, &RealFiles);
        assert!(found.pass, "{call:?}: {}\n{}", found.evidence, called.output);
        assert!(!verify(&value, forged, &RealFiles).pass);
        assert!(!consent, "{call:?} needs no consent");
    }
}
