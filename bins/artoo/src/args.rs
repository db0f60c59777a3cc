//! The command line: a request or none for a prompt, subcommands, and shared options.

use std::path::PathBuf;
use std::str::FromStr;

use artoo_llm::files::{Checksum, ModelName};
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use crate::model_choice::ModelKind;
use crate::money::Dollars;
pub(crate) use skills::SkillsCommand;

/// Text at the end of `-h`.
const AFTER_SHORT_HELP: &str = "--help shows all options and examples, artoo help the commands and topics.";

/// Text at the end of `--help`: requests that work without a language model, and the topics of `artoo help`.
const AFTER_HELP: &str = "\
Examples:
  artoo \"how many pdf files are in ~/Downloads\"
  artoo \"the five largest files in ~/Downloads\"
  artoo \"how much disk space is free\"
  artoo \"delete the tmp files in ~/Downloads\"    (asks first; artoo undo brings them back)
  artoo                                          (a prompt, for several requests)

Topics of artoo help: questions, undo, memory, models, privacy, scripts, prompt, variables";

/// Carries out a request on your machine, and shows what it verified
#[derive(Debug, Parser)]
#[command(name = "artoo", version, about, disable_help_subcommand = true)]
#[command(after_help = AFTER_SHORT_HELP, after_long_help = AFTER_HELP)]
pub(crate) struct CommandLine {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    /// What you want done, in your own words; without any, a prompt opens, or the request is read from a pipe
    #[arg(value_name = "TASK")]
    pub(crate) words: Vec<String>,
    #[command(flatten)]
    pub(crate) options: Options,
    /// The command, if it takes subcommands and none was given.
    #[arg(skip)]
    pub(crate) bare: Option<String>,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Takes the words after `--` as the task, whatever they are: artoo run -- doctor
    Run {
        /// What you want done
        #[arg(value_name = "TASK", last = true, required = true)]
        words: Vec<String>,
    },
    /// Finds out which model artoo can use here, tries it, and writes the configuration
    Setup,
    /// Checks what artoo needs on this machine, and says how to put right what is wrong
    Doctor {
        /// Also asks the model a few small questions to find out what its endpoint can do, and remembers that
        #[arg(long)]
        probe: bool,
    },
    /// Shows and changes the configuration
    Config {
        #[command(subcommand)]
        command: Option<ConfigCommand>,
    },
    /// Says what a shell command may do, from its words alone, and whether it is refused; nothing is run
    #[command(name = "check-command")]
    Assess {
        /// The command, or - to read commands from standard input, a JSON string a line
        #[arg(allow_hyphen_values = true)]
        command: String,
    },
    /// Runs a command, shows what it would change, and asks before that is done
    Try {
        /// The command, in quotes, or as several words; what follows the first word belongs to it
        #[arg(value_name = "COMMAND", required = true, trailing_var_arg = true)]
        words: Vec<String>,
    },
    /// Language models in files on this machine: lists, downloads and selects them
    Model {
        #[command(subcommand)]
        command: Option<ModelCommand>,
    },
    /// Verifies the audit log and shows what is new in it
    Audit {
        /// Stops reporting the lines that are missing now; the log records that
        #[arg(long)]
        accept_gap: bool,
    },
    /// Brings back what a task changed: what it deleted, overwrote, moved or made
    Undo(UndoOptions),
    /// Continues a task that was interrupted, by a crash or a power cut say
    Resume {
        /// The task, or the beginning or end of its name [default: the last one that was interrupted]
        task: Option<String>,
    },
    /// Lists the recorded tasks, shows or exports one
    Tasks {
        #[command(subcommand)]
        command: Option<TasksCommand>,
    },
    /// Gives the recorded inputs of a task to artoo again, and says where it would decide otherwise; nothing is done
    Replay {
        /// The task, or the beginning or end of its name
        task: String,
    },
    /// Writes a page about a task: what was asked, done, changed and verified (-o FILE.html)
    Report {
        /// The task, or the beginning or end of its name [default: the last one]
        task: Option<String>,
    },
    /// Deletes what is older than 30 days: records of tasks, undo, evidence
    Gc,
    /// Shows what you allowed beyond one call, and takes it back
    Rules {
        #[command(subcommand)]
        command: Option<RulesCommand>,
    },
    /// What artoo learned from earlier tasks: shows, explains, corrects and moves it
    Memory {
        #[command(subcommand)]
        command: Option<MemoryCommand>,
    },
    /// Kinds of requests that artoo learned to answer without a model: shows, explains, approves and disables them
    Skills {
        #[command(subcommand)]
        command: Option<SkillsCommand>,
    },
    /// Shows what tools put out, whole, as it was kept
    Evidence {
        #[command(subcommand)]
        command: Option<EvidenceCommand>,
    },
    /// Prints a shell completion script; for bash: source <(artoo completions bash)
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Writes the manual pages into a folder, or prints them
    Man {
        /// The folder
        #[arg(value_name = "DIR")]
        folder: Option<PathBuf>,
    },
    /// Explains a command or a topic, such as privacy
    Help {
        /// The command, or one of: questions, undo, memory, models, privacy, scripts, prompt, variables
        #[arg(value_name = "TOPIC")]
        words: Vec<String>,
    },
}

/// Options of `artoo undo`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct UndoOptions {
    /// The task, or the beginning of its name [default: the last one that changed something]
    pub(crate) task: Option<String>,
    /// Lists what can be undone
    #[arg(long, conflicts_with_all = ["task", "yes"])]
    pub(crate) list: bool,
    /// Does it without asking
    #[arg(short, long)]
    pub(crate) yes: bool,
}

/// Subcommands of `artoo model`.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum ModelCommand {
    /// What is on this machine and what could be fetched, with a suggestion for this machine's memory
    List {
        /// Also verifies every file against its recorded SHA-256
        #[arg(long)]
        verify: bool,
    },
    /// Downloads a model after approval, verified and resumable; a file on this machine is used in place
    Pull(PullOptions),
    /// Selects this model in the configuration file
    Use {
        /// A name as the list shows it, or the path of a GGUF file
        #[arg(value_name = "NAME|PATH")]
        chosen: String,
    },
}

/// Options of `artoo model pull`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct PullOptions {
    /// A name of the catalog, the URL of a GGUF file, or its path
    #[arg(value_name = "NAME|URL|PATH")]
    pub(crate) wanted: String,
    /// What it is called here [default: made of the file's name]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<ModelName>,
    /// The SHA-256 it must have; without one the content of a file from a URL can't be verified
    #[arg(long, value_name = "HEX")]
    pub(crate) sha256: Option<Checksum>,
    /// Downloads without asking
    #[arg(short, long)]
    pub(crate) yes: bool,
}

/// Subcommands of `artoo evidence`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Subcommand)]
pub(crate) enum EvidenceCommand {
    /// The calls whose output is kept, oldest first
    #[default]
    List,
    /// What a call put out, verified
    Show {
        /// The id under which it is cited, or the first letters of its digest
        id: String,
    },
}

/// Subcommands of `artoo memory`.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum MemoryCommand {
    /// The newest tasks, advice, rules and notes; with words, what memory would tell a plan for such a request
    Show {
        /// A request in your own words
        words: Vec<String>,
    },
    /// The records behind an advice, and the share of each
    Why {
        /// Words of a request, or the id of a record
        #[arg(value_name = "WORDS|ID", required = true)]
        what: Vec<String>,
    },
    /// When advice about such a request ends, if nothing more happens
    Forecast {
        /// Words of a request
        #[arg(required = true)]
        words: Vec<String>,
    },
    /// What memory would have told a plan at an earlier date
    AsOf {
        /// A day such as 2026-11-22 (its end, UTC), or a time such as 2026-11-22T12:00:00Z
        date: String,
        /// Words of a request
        #[arg(required = true)]
        words: Vec<String>,
    },
    /// Stores a note for plans of requests with similar words
    Remember {
        /// The note
        #[arg(value_name = "TEXT", required = true)]
        words: Vec<String>,
    },
    /// Deletes records and erases their texts, after asking; they can't be brought back
    Forget {
        /// Words of the records, a task, or the id of a record
        #[arg(value_name = "WORDS|ID", required = true)]
        what: Vec<String>,
        /// Does it without asking
        #[arg(short, long)]
        yes: bool,
    },
    /// Notes that the result of a task was wrong, so that its way is taken with care until it works again
    Wrong {
        /// The task, or the beginning of its name [default: the last one], then what was wrong
        #[arg(value_name = "TASK|WORDS")]
        words: Vec<String>,
        /// Takes that back
        #[arg(long)]
        undo: bool,
    },
    /// What keeps working or failing, with the number of tasks, and proposals for lasting habits
    Rules {
        #[command(subcommand)]
        command: Option<LearnedCommand>,
    },
    /// Writes the whole memory as JSON lines into a new file, or prints it
    Export {
        /// The file
        file: Option<PathBuf>,
    },
    /// Adds what an export holds; records that exist already or were forgotten here are skipped
    Import {
        /// The file
        file: PathBuf,
    },
    /// Checks the memory's file, and that reading it again gives the same memory
    Verify,
    /// Memory is neither read nor written from now on (memory = false in the configuration)
    Off,
    /// Memory is read and written again
    On,
    /// Writes all records into a new or empty folder as a LevelDB, for programs that read nothing else
    Index {
        /// The folder
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
}

/// Subcommands of `artoo memory rules`.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum LearnedCommand {
    /// Adopts a proposal as a lasting habit for every plan
    Adopt {
        /// The tools of the proposal, as the list shows them
        id: String,
    },
    /// Deletes a rule or a lasting habit
    Drop {
        /// The tools of the habit, or the id of the rule, as the list with -v shows it
        id: String,
    },
}

/// Subcommands of `artoo tasks`.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum TasksCommand {
    /// The recorded tasks, newest first
    List,
    /// A task's answer, what supports it, and its calls
    Show {
        /// The task, or the beginning or end of its name
        task: String,
    },
    /// Writes a task's record as JSON lines into a new file, or prints it
    Export {
        /// The task, or the beginning or end of its name
        task: String,
        /// The file
        file: Option<PathBuf>,
    },
    /// Deletes a task's record, so that it can't be resumed; what it changed stays
    Forget {
        /// The task, or the beginning or end of its name
        task: String,
    },
}

/// Subcommands of `artoo rules`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Subcommand)]
pub(crate) enum RulesCommand {
    /// Every rule that holds: its id, what it covers, since when and until when, when it was last used
    #[default]
    List,
    /// Deletes a rule; from then on artoo asks again
    Revoke {
        /// The rule's id, as the list shows it
        id: String,
    },
}

/// Subcommands of `artoo config`.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Every setting in effect, as it could stand in the file; a key is never shown
    Show {
        /// Also what set it: an option, a variable, a line of the file, or nothing
        #[arg(long)]
        origin: bool,
    },
    /// Where the file is looked for
    Path,
    /// What the file may hold
    Keys,
    /// Sets a value in the file; the rest of the file stays as it is
    Set {
        /// The setting, as artoo config keys lists it
        key: String,
        /// Its value; a key or a password is refused
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
    /// Removes a setting from the file, so that its default applies
    Unset {
        /// The setting, as artoo config keys lists it
        key: String,
    },
    /// Opens the file in VISUAL, EDITOR or vi, and validates it afterwards
    Edit,
}

/// Options that every subcommand takes.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// JSON lines on standard output instead of text (schema artoo.events/0, not stable yet)
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Nothing on standard error but warnings and questions
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Also shows each step, what shows each part of the request, why the task ended, and what it cost by role
    #[arg(short, long, global = true, hide_short_help = true)]
    pub(crate) verbose: bool,
    /// Overwrites no line: what is shown is only added to, for screen readers and logs
    #[arg(long, global = true)]
    pub(crate) plain: bool,
    /// Shows exact values on a terminal too: bytes, full paths, times in UTC
    #[arg(long, global = true)]
    pub(crate) exact: bool,
    /// Writes the answer to this file instead of standard output
    #[arg(short, long, global = true, value_name = "FILE", conflicts_with = "json")]
    pub(crate) output: Option<PathBuf>,
    /// Exit code 0 for a text that a model wrote and judged too, if the request asks for a text alone
    #[arg(long, global = true, value_name = "WHAT")]
    pub(crate) accept: Option<AcceptedBasis>,
    /// A check of your own that must be met too, such as 'ran: make check' (repeatable; see docs/paths-and-exit-codes.md)
    #[arg(long, global = true, hide_short_help = true, value_name = "CHECK")]
    pub(crate) require: Vec<String>,
    /// Only the required checks, and nothing being changed that was not asked for, decide the exit code
    #[arg(long, global = true, hide_short_help = true, requires = "require")]
    pub(crate) exit_by_required: bool,
    /// The model: reflex, file:NAME, file:PATH, cassette:PATH, or openai, responses, anthropic or ollama, alone, with :NAME or :NAME@URL
    #[arg(long, global = true, value_name = "MODEL")]
    pub(crate) model: Option<ModelKind>,
    /// If false, the model is also asked about requests that the embedded parser explains in full [default: true]
    #[arg(long, global = true, hide_short_help = true, value_name = "true|false")]
    pub(crate) reflex_first: Option<bool>,
    /// Where memory and the audit log are kept [default: ~/.artoo]
    #[arg(long, global = true, hide_short_help = true, value_name = "FOLDER")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Where new files go, and nowhere else [default: ~/artoo_workspace]
    #[arg(long, global = true, hide_short_help = true, value_name = "FOLDER")]
    pub(crate) workspace: Option<PathBuf>,
    /// Ends the task after this time: 90s, 5m or 1h [default: 30m]
    #[arg(long, global = true, value_name = "TIME")]
    pub(crate) deadline: Option<Deadline>,
    /// Neither reads nor writes memory, if false [default: true]
    #[arg(long, global = true, hide_short_help = true, value_name = "true|false")]
    pub(crate) memory: Option<bool>,
    /// How hard a task is tried: v0.8, literal, anytime, or the path of a JSON file that begins with / or ~/ [default: anytime]
    #[arg(long, global = true, hide_short_help = true, value_name = "PROFILE")]
    pub(crate) profile: Option<String>,
    /// The time after which a task counts as slow, so that less is tried: 90s, 5m or 1h [default: the profile's, 5m]
    #[arg(long, global = true, hide_short_help = true, value_name = "TIME")]
    pub(crate) time_budget: Option<Deadline>,
    /// No call is made that could take the run above so many tokens
    #[arg(long, global = true, hide_short_help = true, value_name = "N")]
    pub(crate) max_tokens: Option<u64>,
    /// Lets the request refer to the tasks of the last session, as at its prompt
    #[arg(long = "continue", global = true)]
    pub(crate) continued: bool,
    /// Says what the task would take at least, likely and at most, and asks no model
    #[arg(long, global = true, hide_short_help = true)]
    pub(crate) estimate: bool,
    /// No call is made that could take the run above so many US dollars; needs the model's price (ARTOO_PRICES)
    #[arg(long, global = true, hide_short_help = true, value_name = "DOLLARS")]
    pub(crate) max_cost: Option<Dollars>,
}

/// Value of `--accept`: which results exit with 0 besides those that code verified; so far only texts judged by a
/// model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AcceptedBasis {
    /// A text that a model wrote and judged, if the request asks for a text alone
    Judged,
}

impl FromStr for AcceptedBasis {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "judged" { Ok(Self::Judged) } else { Err("the only value is judged") }
    }
}

/// A task's time limit, parsed from a whole number with a unit, such as 90s, 5m or 1h; from one second to a week.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Deadline {
    /// Limit in milliseconds, from one second to one week.
    pub(crate) limit_ms: u64,
}

/// Error for a time limit that is not a whole number followed by `s`, `m` or `h`.
const FORM: &str = "give a whole number with s, m or h, such as 90s, 5m or 1h";

/// Error for a time limit of less than a second or more than a week.
const RANGE: &str = "it must lie between 1s and 168h";

/// Longest time limit, in seconds: one week.
#[doc(alias = "limit")]
const DEADLINE_MAX_S: u64 = 7 * 24 * 60 * 60;

impl FromStr for Deadline {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (number, unit_s) = [('s', 1), ('m', 60), ('h', 3600)]
            .into_iter()
            .find_map(|(letter, unit_s)| text.strip_suffix(letter).map(|number| (number, unit_s)))
            .ok_or(FORM)?;
        if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(FORM);
        }
        let seconds = number.parse::<u64>().ok().and_then(|number| number.checked_mul(unit_s));
        let seconds = seconds.filter(|seconds| (1..=DEADLINE_MAX_S).contains(seconds)).ok_or(RANGE)?;
        Ok(Self { limit_ms: seconds * 1000 })
    }
}

mod skills;
#[cfg(test)]
mod tests;
