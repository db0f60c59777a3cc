//! Generates docs/errors.md from the error types and tests that it is current: a row for each variant with text, exit
//! code and remedy.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use artoo_audit::AuditError;
use artoo_llm::ConfigError;
use artoo_llm::cassette::CassetteError;
use artoo_llm::files::{FilesError, GgufError};
use artoo_mkct::Durability;
use artoo_mkct::leveldb::IndexError;
use artoo_mkct::memory::{DurabilityError, MaintenanceError, MemoryForgetError, OpenError};
use artoo_proto::{AbandonReason, Abstention, Ending, ModelFailure, PerceptionFailure, Usage};
use artoo_roles::record::RecordError;
use artoo_roles::runtime::{EnvironmentError, MemoryError, NotResumable, RuntimeError};
use artoo_tools::evidence::EvidenceProblem;
use artoo_tools::rules::RuleProblem;
use artoo_tools::trust::Distrust;
use artoo_tools::undo::UndoError;
use rustyline::error::ReadlineError;

use super::{CommandProblem, ConfigProblem, Failure};
use crate::display::testing::result_with;
use crate::exit::Exit;

/// Environment variable: if it is 1, the test writes docs/errors.md instead of comparing it.
const BLESS: &str = "ARTOO_BLESS";

/// Source files with the error enums; the doc comments of their variants go into docs/errors.md.
const SOURCES: [&str; 12] = [
    "bins/artoo/src/failure.rs",
    "bins/artoo/src/failure/configuration.rs",
    "crates/artoo-llm/src/cassette.rs",
    "crates/artoo-llm/src/error.rs",
    "crates/artoo-llm/src/files/error.rs",
    "crates/artoo-proto/src/directive.rs",
    "crates/artoo-proto/src/failure.rs",
    "crates/artoo-proto/src/task.rs",
    "crates/artoo-roles/src/runtime/error.rs",
    "crates/artoo-roles/src/runtime/memory_admin.rs",
    "crates/artoo-tools/src/trust.rs",
    "crates/artoo-tools/src/undo/store.rs",
];

/// Generates a function that returns sample errors of an enum, each with its pattern as text. A variant without a
/// sample does not compile.
macro_rules! samples {
    ($function:ident: $kind:ty; $($pattern:pat => $($sample:expr),+;)*) => {
        fn $function() -> Vec<(&'static str, $kind)> {
            let _ = |error: &$kind| match error {
                $($pattern => {})*
            };
            let mut rows: Vec<(&'static str, $kind)> = Vec::new();
            $($({
                let sample: $kind = $sample;
                assert!(matches!(&sample, $pattern), "{sample:?} is not a sample of {}", stringify!($pattern));
                rows.push((stringify!($pattern), sample));
            })+)*
            rows
        }
    };
}

/// A sample I/O error with the text "REASON", used as the cause of sample errors.
fn reason() -> io::Error {
    io::Error::other("REASON")
}

/// The word as an owned string, for a field of a sample error.
fn text(word: &str) -> String {
    word.to_owned()
}

/// A sample path.
fn path() -> PathBuf {
    "PATH".into()
}

/// A sample JSON error.
fn json_error() -> serde_json::Error {
    serde_json::Error::io(reason())
}

samples! { failures: Failure;
    Failure::NoSuchCommand { .. } => Failure::NoSuchCommand { word: text("WORD"), meant: text("COMMAND"), request: text("WORD") };
    Failure::NoSuchTopic { .. } => Failure::NoSuchTopic { topic: text("WORD") };
    Failure::EmptyRequest {} => Failure::EmptyRequest {};
    Failure::NeedsRequest { .. } => Failure::NeedsRequest { option: "OPTION" };
    Failure::UnreadableInput { .. } => Failure::UnreadableInput { source: reason() };
    Failure::NotJsonString { .. } => Failure::NotJsonString { line: 1, source: json_error() };
    Failure::NoTerminal {} => Failure::NoTerminal {};
    Failure::Variable { .. } => Failure::Variable { name: text("NAME"), problem: text("EXPECTED") };
    Failure::Config { source: ConfigProblem::Distrust(Distrust::Unreadable { .. }) } =>
        config(ConfigProblem::Distrust(Distrust::Unreadable { path: path(), source: reason() }));
    Failure::Config { source: ConfigProblem::Distrust(Distrust::TooLarge { .. }) } =>
        config(ConfigProblem::Distrust(Distrust::TooLarge { path: path(), max_bytes: 65_536 }));
    Failure::Config { source: ConfigProblem::Distrust(Distrust::OpenToOthers { .. }) } =>
        config(ConfigProblem::Distrust(Distrust::OpenToOthers { path: path(), mode: 0o666 }));
    Failure::Config { source: ConfigProblem::Distrust(Distrust::OpenToRead { .. }) } =>
        config(ConfigProblem::Distrust(Distrust::OpenToRead { path: path(), mode: 0o644 }));
    Failure::Config { source: ConfigProblem::Distrust(Distrust::NotYours { .. }) } =>
        config(ConfigProblem::Distrust(Distrust::NotYours { path: path() }));
    Failure::Config { source: ConfigProblem::Line { .. } } =>
        config(ConfigProblem::Line { path: path(), line: 1, problem: text("PROBLEM") });
    Failure::Config { source: ConfigProblem::KeyVariableUnset { .. } } =>
        config(ConfigProblem::KeyVariableUnset { path: path(), line: 1, variable: text("NAME") });
    Failure::Config { source: ConfigProblem::KeyCommand { .. } } =>
        key_command(CommandProblem::NotRun(reason())),
        key_command(CommandProblem::Failed(1)),
        key_command(CommandProblem::TooSlow(Duration::from_secs(60))),
        key_command(CommandProblem::Nothing);
    Failure::Config { source: ConfigProblem::NoKey { .. } } => config(ConfigProblem::NoKey { path: path() });
    Failure::Setting { .. } => Failure::Setting { problem: text("PROBLEM") };
    Failure::KeyAsValue { .. } => Failure::KeyAsValue { setting: "SETTING" };
    Failure::Editor { .. } => Failure::Editor { command: text("EDITOR"), source: reason() };
    Failure::HomeIsRoot {} => Failure::HomeIsRoot {};
    Failure::NotPath { .. } => Failure::NotPath { path: path(), source: reason() };
    Failure::NotWritten { .. } => Failure::NotWritten { path: path(), source: reason() };
    Failure::ModelConfig { source: ConfigError::Missing { .. } } =>
        ConfigError::Missing { name: "OPENAI_MODEL" }.into(),
        ConfigError::Missing { name: "OPENAI_API_KEY" }.into(),
        ConfigError::Missing { name: "ANTHROPIC_API_KEY" }.into();
    Failure::ModelConfig { source: ConfigError::NotUnicode { .. } } => ConfigError::NotUnicode { name: "NAME" }.into();
    Failure::ModelConfig { source: ConfigError::BaseUrl { .. } } =>
        ConfigError::BaseUrl { shown: text("URL"), problem: "PROBLEM" }.into();
    Failure::ModelConfig { source: ConfigError::KeyNotSendable } => ConfigError::KeyNotSendable.into();
    Failure::ModelConfig { source: ConfigError::Header { .. } } => ConfigError::Header { name: text("NAME") }.into();
    Failure::ModelConfig { source: ConfigError::Zero { .. } } => ConfigError::Zero { name: "NAME" }.into();
    Failure::Cassette { source: CassetteError::File { .. } } =>
        CassetteError::File { path: path(), source: reason() }.into();
    Failure::Cassette { source: CassetteError::Line { .. } } =>
        CassetteError::Line { line: 1, source: json_error() }.into();
    Failure::Cassette { source: CassetteError::NotOneOutcome { .. } } => CassetteError::NotOneOutcome { line: 1 }.into();
    Failure::Cassette { source: CassetteError::NotJson { .. } } => CassetteError::NotJson { line: 1 }.into();
    Failure::NotModelPath { .. } => Failure::NotModelPath { given: text("PATH") };
    Failure::NoEngine { .. } => Failure::NoEngine { model: text("MODEL") };
    Failure::ModelFile { .. } => Failure::ModelFile { given: text("MODEL"), source: reason().into() };
    Failure::Files { source: FilesError::Io { .. } } =>
        FilesError::Io { path: path(), source: reason() }.into(),
        FilesError::Io { path: path(), source: io::ErrorKind::StorageFull.into() }.into();
    Failure::Files { source: FilesError::NotPrivate { .. } } =>
        FilesError::NotPrivate { path: path(), problem: "PROBLEM" }.into();
    Failure::Files { source: FilesError::Record { .. } } =>
        FilesError::Record { path: path(), problem: text("PROBLEM") }.into();
    Failure::Files { source: FilesError::Unknown { .. } } => FilesError::Unknown { name: text("NAME") }.into();
    Failure::Files { source: FilesError::NotInstalled { .. } } => FilesError::NotInstalled { name: name() }.into();
    Failure::Files { source: FilesError::Changed { .. } } =>
        FilesError::Changed { name: name(), path: path(), problem: "PROBLEM" }.into();
    Failure::Files { source: FilesError::Unnamed { .. } } => FilesError::Unnamed { given: text("FILE") }.into();
    Failure::Files { source: FilesError::Taken { .. } } => FilesError::Taken { name: name(), by: text("URL") }.into();
    Failure::Files { source: FilesError::Busy { .. } } => FilesError::Busy { name: name() }.into();
    Failure::Files { source: FilesError::NotModel { .. } } =>
        FilesError::NotModel { shown: text("FILE"), source: GgufError::Invalid(text("PROBLEM")) }.into();
    Failure::Files { source: FilesError::Url { .. } } =>
        FilesError::Url { shown: text("URL"), problem: "PROBLEM" }.into();
    Failure::Files { source: FilesError::Connection { .. } } =>
        FilesError::Connection { host: text("HOST"), problem: text("PROBLEM") }.into();
    Failure::Files { source: FilesError::Response { .. } } =>
        FilesError::Response { shown: text("URL"), problem: text("PROBLEM") }.into();
    Failure::Files { source: FilesError::Corrupt { .. } } =>
        FilesError::Corrupt { shown: text("URL"), expected: digest('0'), actual: digest('1') }.into();
    Failure::Files { source: FilesError::Checksum { .. } } =>
        FilesError::Checksum { shown: text("FILE"), expected: digest('0'), actual: digest('1') }.into();
    Failure::Files { source: FilesError::NoSpace { .. } } =>
        FilesError::NoSpace { path: path(), needed: 2_000, free: 1_000 }.into();
    Failure::Files { source: FilesError::Client(_) } => FilesError::Client(text("PROBLEM")).into();
    Failure::NoPrice { .. } => Failure::NoPrice { model: text("MODEL") };
    Failure::LimitTooLow { .. } =>
        Failure::LimitTooLow { option: "OPTION", left: text("LEFT"), needed: text("NEEDED") };
    Failure::Rules { .. } => Failure::Rules { source: RuleProblem::Io { path: path(), source: reason() } };
    Failure::NothingToResume {} => Failure::NothingToResume {};
    Failure::NoTask {} => Failure::NoTask {};
    Failure::Record { .. } => Failure::Record { source: RecordError::NotOne { given: text("TASK"), count: 2 } };
    Failure::StillRunning {} => Failure::StillRunning {};
    Failure::NotEntered { .. } => Failure::NotEntered { path: path(), source: reason() };
    Failure::NotJson { .. } => Failure::NotJson { source: json_error() };
    Failure::NoSuchRule { .. } => Failure::NoSuchRule { id: text("ID") };
    Failure::OtherFolder { .. } => Failure::OtherFolder { folder: text("FOLDER") };
    Failure::NoSuchEvidence { .. } => Failure::NoSuchEvidence { id: text("ID") };
    Failure::Evidence { .. } => EvidenceProblem::Io { path: path(), source: reason() }.into();
    Failure::Undo { source: UndoError::Unknown { .. } } => UndoError::Unknown { given: text("TASK") }.into();
    Failure::Undo { source: UndoError::Ambiguous { .. } } => UndoError::Ambiguous { given: text("TASK") }.into();
    Failure::Undo { source: UndoError::Busy } => UndoError::Busy.into();
    Failure::Undo { source: UndoError::Undone { .. } } => UndoError::Undone { id: text("TASK") }.into();
    Failure::Undo { source: UndoError::Io(_) } => UndoError::Io(reason()).into();
    Failure::AuditGap { .. } => Failure::AuditGap { source: AuditError::Folder { path: path(), source: reason() } };
    Failure::Memory { source: MemoryError::Missing { .. } } => MemoryError::Missing { folder: path() }.into();
    Failure::Memory { source: MemoryError::Memory(_) } => MemoryError::Memory(no_memory()).into();
    Failure::Memory { source: MemoryError::Target(_) } =>
        MemoryError::Target(IndexError::NotEmpty { path: path() }).into();
    Failure::Memory { source: MemoryError::Write(_) } =>
        MemoryError::Write(artoo_mkct::memory::MemoryWriteError::Closed).into();
    Failure::Memory { source: MemoryError::Durability(_) } =>
        MemoryError::Durability(DurabilityError::Closed { durability: Durability::Synced }).into();
    Failure::Memory { source: MemoryError::Forget(_) } => MemoryError::Forget(MemoryForgetError::Closed).into();
    Failure::Memory { source: MemoryError::Maintenance(_) } =>
        MemoryError::Maintenance(MaintenanceError::HeldElsewhere).into();
    Failure::Memory { source: MemoryError::Export(_) } => MemoryError::Export(reason().into()).into();
    Failure::Memory { source: MemoryError::File { .. } } =>
        MemoryError::File { path: path(), source: reason() }.into();
    Failure::NotNoted { .. } => Failure::NotNoted { problem: text("PROBLEM") };
    Failure::MemoryOff {} => Failure::MemoryOff {};
    Failure::NoDate { .. } => Failure::NoDate { given: text("WORD") };
    Failure::Runtime { source: RuntimeError::Environment(_) } =>
        RuntimeError::Environment(EnvironmentError::NoHome).into(),
        RuntimeError::Environment(EnvironmentError::NoCwd { source: reason() }).into();
    Failure::Runtime { source: RuntimeError::DataDir { .. } } =>
        RuntimeError::DataDir { path: path(), source: reason() }.into();
    Failure::Runtime { source: RuntimeError::DiskFull { .. } } => RuntimeError::DiskFull { path: path() }.into();
    Failure::Runtime { source: RuntimeError::Audit(_) } =>
        RuntimeError::Audit(AuditError::Folder { path: path(), source: reason() }).into();
    Failure::Runtime { source: RuntimeError::Memory(_) } => RuntimeError::Memory(no_memory()).into();
    Failure::Runtime { source: RuntimeError::NotResumable(_) } =>
        RuntimeError::NotResumable(NotResumable::Ended).into();
    Failure::Runtime { source: RuntimeError::NotKept(_) } => RuntimeError::NotKept("REASON".to_owned()).into();
    Failure::Runtime { source: RuntimeError::Stopped } => RuntimeError::Stopped.into();
    Failure::System { .. } => Failure::System { source: reason() };
    Failure::Prompt { .. } => Failure::Prompt { source: ReadlineError::Io(reason()) };
    Failure::Output { .. } => Failure::Output { path: "FILE".into(), source: reason() };
    Failure::Unwritten { .. } => Failure::Unwritten { source: reason() };
}

/// A sample error of the program caused by this problem of the configuration file.
fn config(source: ConfigProblem) -> Failure {
    Failure::Config { source }
}

/// A sample error of a command that prints a key.
fn key_command(problem: CommandProblem) -> Failure {
    config(ConfigProblem::KeyCommand { path: path(), line: 1, problem })
}

/// A sample model name.
fn name() -> artoo_llm::files::ModelName {
    "name".parse().unwrap()
}

/// A sample checksum of 64 equal digits.
fn digest(digit: char) -> artoo_llm::files::Checksum {
    digit.to_string().repeat(64).parse().unwrap()
}

/// A sample error of opening the memory: its file can't be read.
fn no_memory() -> OpenError {
    OpenError::Io { path: path(), source: reason() }
}

samples! { reasons: AbandonReason;
    AbandonReason::BudgetExhausted => AbandonReason::BudgetExhausted;
    AbandonReason::MaxReplans => AbandonReason::MaxReplans;
    AbandonReason::Diverging => AbandonReason::Diverging;
    AbandonReason::Cycling => AbandonReason::Cycling;
    AbandonReason::ToolsExhausted => AbandonReason::ToolsExhausted;
    AbandonReason::NoPlan { .. } => AbandonReason::NoPlan { problems: vec![text("PROBLEM")] };
    AbandonReason::NoOtherWay { .. } => AbandonReason::NoOtherWay { failed: text("WHAT FAILED"), next_steps: Vec::new() };
    AbandonReason::NotUnderstood { failure: PerceptionFailure::Model { .. } } =>
        AbandonReason::NotUnderstood {
            failure: PerceptionFailure::Model { failure: ModelFailure::Unreachable { detail: text("REASON") } }
        };
    AbandonReason::NotUnderstood { failure: PerceptionFailure::Abstained { .. } } =>
        AbandonReason::NotUnderstood {
            failure: PerceptionFailure::Abstained { abstention: abstention() }
        };
    AbandonReason::NotUnderstood { failure: PerceptionFailure::BadInput { .. } } =>
        AbandonReason::NotUnderstood { failure: PerceptionFailure::BadInput { detail: text("PROBLEM") } };
    AbandonReason::ConsentNeeded => AbandonReason::ConsentNeeded;
    AbandonReason::Provider { failure: ModelFailure::Unreachable { .. } } =>
        provider(ModelFailure::Unreachable { detail: text("REASON") });
    AbandonReason::Provider { failure: ModelFailure::Unauthorized { .. } } =>
        provider(ModelFailure::Unauthorized { status: 401, detail: text("REASON") });
    AbandonReason::Provider { failure: ModelFailure::Rejected { .. } } =>
        provider(ModelFailure::Rejected { status: 400, detail: text("REASON") }),
        provider(ModelFailure::Rejected { status: 429, detail: text("REASON") });
    AbandonReason::Provider { failure: ModelFailure::Overloaded { .. } } =>
        provider(ModelFailure::Overloaded { status: 503, detail: text("REASON") });
    AbandonReason::Provider { failure: ModelFailure::TimedOut { .. } } =>
        provider(ModelFailure::TimedOut { after_ms: 60_000, usage: Usage::default() });
    AbandonReason::Provider { failure: ModelFailure::Cut { .. } } =>
        provider(ModelFailure::Cut { detail: text("REASON"), usage: Usage::default() });
    AbandonReason::Provider { failure: ModelFailure::Unreadable { .. } } =>
        provider(ModelFailure::Unreadable { detail: text("REASON"), excerpt: text("REPLY"), usage: Usage::default() });
    AbandonReason::Provider { failure: ModelFailure::DoesNotFit { .. } } =>
        provider(ModelFailure::DoesNotFit { needed: 9_000, room: 8_000 });
    AbandonReason::Provider { failure: ModelFailure::OverBudget { .. } } =>
        provider(ModelFailure::OverBudget { detail: text("REASON") });
    AbandonReason::Provider { failure: ModelFailure::Cancelled } => provider(ModelFailure::Cancelled);
    AbandonReason::Provider { failure: ModelFailure::NotRecorded { .. } } =>
        provider(ModelFailure::NotRecorded { detail: text("REQUEST") });
    AbandonReason::Cancelled => AbandonReason::Cancelled;
    AbandonReason::Deadline => AbandonReason::Deadline;
    AbandonReason::RoleFailed { .. } => AbandonReason::RoleFailed { detail: text("REASON") };
}

/// The reason by which a task is abandoned if its model fails with this error.
fn provider(failure: ModelFailure) -> AbandonReason {
    AbandonReason::Provider { failure }
}

/// A sample abstention of the embedded parser.
fn abstention() -> Abstention {
    Abstention {
        understood: text("WHAT WAS READ"),
        not_understood: vec![text("WORD")],
        remedy: text("what the parser suggests for these words"),
        offer: None,
    }
}

/// The path of the repository's root folder.
fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Splits the variant that a pattern names, such as `FilesError::Busy`, into enum and variant.
fn variant(pattern: &str) -> (String, String) {
    let is_of_path = |c: char| !(c.is_alphanumeric() || c == ':');
    let path = pattern.split(is_of_path).rfind(|word| word.contains("::")).expect("a pattern names a variant");
    let (kind, variant) = path.split_once("::").expect("a path has two parts");
    (kind.to_owned(), variant.to_owned())
}

/// The doc comment of an error variant, found in the source text; it says when the error occurs.
fn occasion(kind: &str, variant: &str, sources: &str) -> String {
    let head = if kind == "Failure" { text("failures! {\n") } else { format!("enum {kind} {{\n") };
    let (_, body) = sources.split_once(&head).unwrap_or_else(|| panic!("no source declares {kind}"));
    let mut comment = Vec::new();
    for line in body.lines().map(str::trim) {
        if let Some(text) = line.strip_prefix("/// ") {
            comment.push(text);
        } else if line.strip_prefix(variant).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '(', ','])) {
            break;
        } else if !line.starts_with("#[") {
            comment.clear();
        }
    }
    assert!(!comment.is_empty(), "{kind}::{variant} has no doc comment");
    comment.join(" ")
}

/// The heading in docs/errors.md of the section on the errors with this exit code.
fn heading(code: u8) -> &'static str {
    match code {
        1 => "1: internal failure",
        2 => "2: usage or configuration",
        5 => "5: not understood",
        6 => "6: consent needed",
        7 => "7: the model can't be used",
        8 => "8: time limit",
        9 => "9: not achieved",
        10 => "10: the answer could not be written",
        11 => "11: no task that can be resumed",
        130 => "130: cancelled",
        other => panic!("no heading for the exit code {other}"),
    }
}

/// The expected text of docs/errors.md, generated from the samples and the doc comments of the variants.
fn page() -> String {
    let sources: String =
        SOURCES.iter().map(|path| fs::read_to_string(repository().join(path)).expect("a source can be read")).collect();
    let mut by_code: BTreeMap<u8, Vec<[String; 4]>> = BTreeMap::new();
    let mut add = |exit: Exit, pattern: &str, said: String, remedy: &str| {
        let (kind, variant) = variant(pattern);
        let occasion = occasion(&kind, &variant, &sources);
        let row = [format!("`{kind}::{variant}`"), occasion, said, remedy.to_owned()];
        by_code.entry(exit.code()).or_default().push(row.map(|cell| cell.replace('|', "\\|").replace('\n', " ")));
    };
    for (pattern, failure) in failures() {
        add(failure.exit(), pattern, failure.message(), failure.remedy().unwrap_or_default());
    }
    for (pattern, reason) in reasons() {
        let (said, remedy) = artoo_roles::solver::explain(&reason);
        let exit = Exit::of(&result_with(Ending::Abandon { reason, unmet: Vec::new() }), false);
        add(exit, pattern, said, &remedy);
    }
    let mut page = text(
        "# Errors\n\n\
         Every error of the program and every reason to give a task up, by [exit code](paths-and-exit-codes.md#exit-codes):\n\
         when it occurs, what artoo says, and what you can do. Words in capitals stand for what a message names. An empty\n\
         last cell means that the message says it. Not here: mistakes in options, which end with 2 and show how the command\n\
         is used, and results that are delivered (3 and 4).\n\n\
         Written from the code by `ARTOO_BLESS=1 cargo test -p artoo --bin artoo page_of_errors`; a test fails when the two\n\
         differ.\n",
    );
    for (code, rows) in by_code {
        let _ = write!(
            page,
            "\n## {}\n\n| error | when | what artoo says | what you can do |\n|---|---|---|---|\n",
            heading(code)
        );
        for row in rows {
            let cells: String = row.iter().map(|cell| format!(" {cell} |")).collect();
            let _ = writeln!(page, "|{}", cells.replace("|  |", "| |"));
        }
    }
    page
}

/// docs/errors.md equals the page that is generated from the error types.
#[test]
fn page_of_errors_shows_the_code() {
    let path = repository().join("docs/errors.md");
    let page = page();
    if std::env::var(BLESS).is_ok_and(|value| value == "1") {
        fs::write(&path, &page).unwrap();
    }
    let shown = fs::read_to_string(&path).unwrap_or_default();
    let differs = page.lines().zip(shown.lines().chain(std::iter::repeat(""))).find(|(now, then)| now != then);
    assert!(shown == page, "docs/errors.md is not what the code says; {BLESS}=1 writes it anew. First: {differs:?}");
}

/// The message of an error names each of its causes only once.
#[test]
fn failure_message_names_each_cause_once() {
    let failure = Failure::NotWritten { path: path(), source: reason() };
    assert_eq!(failure.message(), "PATH can't be written: REASON");
    let wrapped = Failure::from(RuntimeError::DataDir { path: path(), source: reason() });
    assert_eq!(wrapped.message(), "the data folder PATH can't be used; choose another with --data-dir: REASON");
    assert_eq!(wrapped.exit(), Exit::Usage);
}
