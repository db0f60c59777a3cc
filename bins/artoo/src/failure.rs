//! Errors that end the program: for each its text, its cause, its exit code and its remedy. `docs/errors.md` lists them.

mod configuration;
mod outside;
#[cfg(test)]
mod tests;

use std::error::Error;
use std::io;
use std::path::PathBuf;

use artoo_audit::AuditError;
use artoo_llm::ConfigError;
use artoo_llm::cassette::CassetteError;
use artoo_llm::files::FilesError;
use artoo_roles::record::RecordError;
use artoo_roles::runtime::{MemoryError, RuntimeError};
use artoo_tools::evidence::EvidenceProblem;
use artoo_tools::rules::RuleProblem;
use artoo_tools::undo::UndoError;
use rustyline::error::ReadlineError;

use crate::exit::Exit;
pub(crate) use configuration::{CommandProblem, ConfigProblem};

/// Exit code of an error, and what the user can do; `None` if the text already says it.
type Consequence = (Exit, Option<&'static str>);

/// Declares [`Failure`]: for each variant its text (`error`), its fields, its exit code and its remedy.
macro_rules! failures {
    ($($(#[$of_variant:meta])* $name:ident { $($(#[$of_field:meta])? $field:ident: $kind:ty),* } => $row:expr;)*) => {
        /// An error that ends the program or a command of its prompt.
        #[derive(Debug, thiserror::Error)]
        pub(crate) enum Failure {
            $($(#[$of_variant])* $name { $($(#[$of_field])? $field: $kind),* },)*
        }

        impl Failure {
            /// The exit code of the error, and what the user can do about it.
            #[expect(unused_variables, reason = "most consequences are the same for all values of the fields")]
            fn consequence(&self) -> Consequence {
                match self {
                    $(Self::$name { $($field),* } => $row,)*
                }
            }
        }
    };
}

failures! {
    // The command line.

    /// A word that is not a request and resembles a command, or a command of other programs.
    #[error("There is no command “{word}”. Did you mean: artoo {meant}? As a request: artoo run -- {request}")]
    NoSuchCommand { word: String, meant: String, request: String } => (Exit::Usage, None);

    /// `artoo help` was given a word that is neither a command nor a topic.
    #[error("there is no help on {topic:?}")]
    NoSuchTopic { topic: String } => usage("artoo help lists the commands and topics");

    /// The request on the command line or on standard input is empty.
    #[error("no request is given")]
    EmptyRequest {} => usage("Usage: artoo \"<what you want done>\", or artoo alone for a prompt; artoo --help shows more");

    /// An option that makes no sense at the prompt was given without a request.
    #[error("{option} needs a request")]
    NeedsRequest { option: &'static str } =>
        usage("give it on the command line or through a pipe: artoo --json \"<what you want done>\"");

    /// Standard input could not be read, or is not text.
    #[error("the request can't be read from standard input")]
    UnreadableInput { source: io::Error } => usage("a request is text in UTF-8");

    /// `artoo check-command -` read a line that is not a JSON string.
    #[error("line {line} of standard input is not a JSON string")]
    NotJsonString { line: usize, source: serde_json::Error } =>
        usage("write each command as one JSON string on a line of its own");

    /// `artoo setup` runs without a terminal.
    #[error("setup asks questions, and there is no terminal")]
    NoTerminal {} => usage("set one value at a time instead: artoo config set KEY VALUE; artoo config keys lists them");

    // The configuration: options, variables, the file.

    /// A variable, or a line of the configuration file, has an invalid value.
    #[error("{name} can't be used: {problem}")]
    Variable { name: String, problem: String } => usage("correct it, or leave it out");

    /// The configuration file is invalid, or a key that it refers to can't be read.
    #[error("the configuration is refused")]
    Config { source: ConfigProblem } => usage(source.remedy());

    /// `artoo config set` or `unset` would have made the configuration invalid.
    #[error("nothing was written: {problem}")]
    Setting { problem: String } => usage("artoo config keys lists what can be set, artoo config edit opens the file");

    /// `artoo config set` was given a value that looks like a key or a password.
    #[error("nothing was written: the value for {setting} looks like a key, and the configuration never holds one")]
    KeyAsValue { setting: &'static str } =>
        usage("put it into a variable, a file or a password manager, and set key_variable, key_file or key_command");

    /// The editor of `artoo config edit` can't be started, or reported an error.
    #[error("the editor {command:?} failed")]
    Editor { command: String, source: io::Error } => usage("name another in the variable VISUAL or EDITOR");

    /// `HOME` is the root folder, where artoo makes no folders of its own.
    #[error("HOME is /, so there is no place of your own for artoo's files")]
    HomeIsRoot {} => usage("set HOME to your home folder, or give --data-dir and --workspace");

    /// `--data-dir` or `--workspace`, or the setting of that name, is not a path.
    #[error("{path:?} can't be used as a path")]
    NotPath { path: PathBuf, source: io::Error } => usage("give the path of a folder");

    /// A file that artoo has to write can't be written.
    #[error("{path} can't be written", path = path.display())]
    NotWritten { path: PathBuf, source: io::Error } => usage("make that folder one you can write to");

    // The model.

    /// The model's address, name or key is missing or invalid.
    #[error("the model can't be used")]
    ModelConfig { #[from] source: ConfigError } => outside::of_model_config(source);

    /// The recording that stands in for a model can't be read.
    #[error("{source}")]
    Cassette { #[from] source: CassetteError } => usage("record it again, or name another model with --model");

    /// A model file is given by a relative path.
    #[error("{given:?} is not a model file that can be chosen")]
    NotModelPath { given: String } =>
        usage("give a name that artoo model list shows, or a path that begins with / or ~/");

    /// The chosen model is a file, and this build has no engine for model files.
    #[error("this build of artoo can't run model files, so {model} can't answer")]
    NoEngine { model: String } => usage(
        "build it with them (cargo build --release --features local-llm), or serve the file, with llama.cpp's server say, and give its address",
    );

    /// The model file can't be loaded.
    #[cfg_attr(not(any(feature = "local-llm", test)), expect(dead_code, reason = "made by the engine alone"))]
    #[error("the model file {given} can't be run")]
    ModelFile { given: String, source: Box<dyn Error + Send + Sync> } =>
        usage("artoo model list --verify checks it; another model may work");

    /// A command about model files failed.
    #[error("{source}")]
    Files { #[from] source: FilesError } => outside::of_files(source);

    /// There is a limit on money, and the price of a model is not known.
    #[error("there is a limit on money, and no price is known for {model}")]
    NoPrice { model: String } => usage("set its price with ARTOO_PRICES, or limit the tokens with --max-tokens");

    /// A limit is too low for the task to finish.
    #[error("{option} leaves {left}, and to get to its end this task needs {needed} free: no call is made whose longest reply could not be paid for")]
    LimitTooLow { option: &'static str, left: String, needed: String } =>
        usage("allow more, or leave the limit out; artoo --estimate \"<what you want done>\" says what it takes");

    // What artoo keeps.

    /// The file of rules can't be read or written.
    #[error("the rules can't be used")]
    Rules { source: RuleProblem } => usage("move rules.json away: artoo then asks as if there were no rules");

    /// No task waits to be resumed.
    #[error("no task was interrupted")]
    NothingToResume {} => (Exit::NotResumable, Some("artoo tasks lists what is recorded"));

    /// Nothing is recorded yet.
    #[error("no task is recorded")]
    NoTask {} => usage("give a request first: artoo \"<what you want done>\"");

    /// The record of a task can't be read, or no single record fits what was given.
    #[error("{source}")]
    Record { source: RecordError } => usage("artoo tasks lists what is recorded; the end of a name is enough");

    /// The task still runs in another process.
    #[error("the task is still running")]
    StillRunning {} => usage("stop it first, with Ctrl-C where it runs");

    /// The folder that a task began in can't be entered.
    #[error("the folder {path} of the task can't be entered", path = path.display())]
    NotEntered { path: PathBuf, source: io::Error } =>
        (Exit::NotResumable, Some("make it again, or delete the task's record: artoo tasks forget"));

    /// A record can't be written as JSON.
    #[error("the record can't be written as JSON")]
    NotJson { source: serde_json::Error } => internal("a path in it may not be text; artoo tasks show shows it");

    /// No rule in force has this id.
    #[error("there is no rule {id:?} in force")]
    NoSuchRule { id: String } => usage("artoo rules list shows those that do");

    /// The session to continue ran in another folder, where its relative paths began.
    #[error("the last session ran in {folder}, so its words would mean other files here")]
    OtherFolder { folder: String } => usage("go to that folder, or say the whole request");

    /// No stored output has this id.
    #[error("no evidence {id:?} is stored")]
    NoSuchEvidence { id: String } => usage("artoo evidence list shows what there is; it is kept for 30 days");

    /// The stored outputs can't be read.
    #[error("{source}")]
    Evidence { #[from] source: EvidenceProblem } => internal("look at the folder evidence in the data folder");

    /// The journal of changes can't be used, or has nothing like what was asked for.
    #[error("{source}")]
    Undo { #[from] source: UndoError } => outside::of_undo(source);

    /// The missing lines of the audit log could not be accepted.
    #[error("{source}")]
    AuditGap { source: AuditError } => internal("see artoo audit; the data folder must be writable");

    /// The memory could not be read or changed.
    #[error("{source}")]
    Memory { #[from] source: MemoryError } => outside::of_memory(source);

    /// What the user said of a task could not be noted.
    #[error("nothing was noted: {problem}")]
    NotNoted { problem: String } => internal("artoo doctor says what is wrong with the memory");

    /// The setting `memory` is false, so a note or a correction can't be stored.
    #[error("memory is off, so nothing was noted")]
    MemoryOff {} => usage("artoo memory on turns it on");

    /// The date of `artoo memory as-of` is not valid.
    #[error("{given:?} is not a date")]
    NoDate { given: String } => usage("give a day such as 2026-11-22, or a time such as 2026-11-22T12:00:00Z");

    /// The runtime that carries out tasks can't start, or stopped.
    #[error("{source}")]
    Runtime { #[from] source: RuntimeError } => outside::of_runtime(source);

    // The system.

    /// The operating system refused a thread, the async runtime or a signal handler.
    #[error("the system refused a thread or a signal handler")]
    System { source: io::Error } => internal("too many processes may run, or a limit may be set: ulimit -u");

    /// The line editor of the prompt failed.
    #[error("the prompt can't continue")]
    Prompt { source: ReadlineError } => internal("give the request on the command line: artoo \"<what you want done>\"");

    /// The answer could not be written to the file of `--output`.
    #[error("the answer can't be written to {path}", path = path.display())]
    Output { path: PathBuf, source: io::Error } =>
        (Exit::Unwritten, Some("name a file in a folder that you can write to; what was done stays done"));

    /// Standard output could not be written.
    #[error("the answer could not be written completely to standard output")]
    Unwritten { source: io::Error } => (
        Exit::Unwritten,
        Some("send it where there is room; what was done stays done, and artoo evidence list names what was read"),
    );
}

/// Consequence of an error in the command line, the configuration, or a file or value named there: exit code `Usage`
/// and this remedy.
const fn usage(remedy: &'static str) -> Consequence {
    (Exit::Usage, Some(remedy))
}

/// Consequence of a defect in artoo or a failure of the machine, such as a full disk: exit code `Internal` and this
/// remedy.
const fn internal(remedy: &'static str) -> Consequence {
    (Exit::Internal, Some(remedy))
}

impl Failure {
    /// The exit code that the error leads to.
    pub(crate) fn exit(&self) -> Exit {
        self.consequence().0
    }

    /// What the user can do about the error; `None` if there is nothing to add to the message.
    pub(crate) fn remedy(&self) -> Option<&'static str> {
        self.consequence().1
    }

    /// The error with its causes, in one line. A cause whose text the error already contains is left out.
    pub(crate) fn message(&self) -> String {
        let mut text = self.to_string();
        let mut next = self.source();
        while let Some(error) = next {
            let words = error.to_string();
            if !text.contains(&words) {
                text.push_str(": ");
                text.push_str(&words);
            }
            next = error.source();
        }
        text
    }
}
