//! The command line: a request or none for a prompt, subcommands, and shared options.

use std::path::PathBuf;
use std::str::FromStr;

use artoo_llm::files::{Checksum, ModelName};
use clap::{Args, Parser, Subcommand};

use crate::model_choice::ModelKind;
use crate::money::Dollars;

/// Text at the end of `--help`: environment variables and exit codes.
const AFTER_HELP: &str = "\
Without a model set up, artoo answers everyday questions about files by itself (the model called reflex) and declines \
everything else.

Environment (options win over it):
  OPENAI_BASE_URL   an OpenAI-compatible endpoint, such as http://localhost:8080/v1
  OPENAI_API_KEY    its key; never shown, never written down
  OPENAI_MODEL      the endpoint's name for the model
  ANTHROPIC_BASE_URL, ANTHROPIC_API_KEY, ANTHROPIC_MODEL; OLLAMA_HOST, OLLAMA_MODEL
                    the same for --model anthropic and --model ollama
  ARTOO_MODEL       as --model
  ARTOO_WORKER      the model that carries out and checks single steps, spelled as --model
  ARTOO_FALLBACK    who steps in where the model can't answer, several divided by commas
  ARTOO_MAX_TOKENS, ARTOO_MAX_COST
                    as --max-tokens and --max-cost
  ARTOO_PRICES      NAME=IN/OUT, NAME=IN/CACHED/OUT or NAME=IN/CACHED/WRITTEN/OUT in dollars a million tokens
  ARTOO_DATA_DIR    as --data-dir
  ARTOO_WORKSPACE   as --workspace
  ARTOO_VIEWS       false: commands change files directly once approved, not in a view of them first
  ARTOO_DEADLINE    as --deadline
  ARTOO_SEARCH      off, or duckduckgo: your own words may go there unasked
  ARTOO_SEARXNG_URL, ARTOO_BRAVE_KEY, ARTOO_GOOGLE_KEY with ARTOO_GOOGLE_ENGINE: to search with
  ARTOO_LOG         trace, debug, info, warn or error: a log on standard error
  NO_COLOR          no colour if not empty

Exit codes:
  0 accepted on evidence      5 not understood           9 not achieved
  1 internal failure          6 consent needed         130 cancelled
  2 usage or configuration    7 model can't be used
  3 delivered, not all met    8 time limit
  4 words only, unverified
artoo try ends as its command does, or with 6 if that was not approved and 9 if it did not run.

The answer goes to standard output, everything else to standard error. Whatever is not verified stands under a heading \
that says so.";

/// Carries out a request on your machine, and shows what it verified
#[derive(Debug, Parser)]
#[command(name = "artoo", version, about, after_help = AFTER_HELP, disable_help_subcommand = true)]
pub(crate) struct CommandLine {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    /// What you want done, in your own words; without any, a prompt opens, or the request is read from a pipe
    #[arg(value_name = "TASK")]
    pub(crate) words: Vec<String>,
    #[command(flatten)]
    pub(crate) options: Options,
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
    /// Shows the configuration
    Config {
        #[command(subcommand)]
        command: ConfigCommand,
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
    /// Language models in files on this machine: what there is, fetching one, choosing one
    Model {
        #[command(subcommand)]
        command: ModelCommand,
    },
    /// Verifies the audit log and tells what it notes since you last looked
    Audit {
        /// Stops reporting the lines that are missing now; the log records that
        #[arg(long)]
        accept_gap: bool,
    },
    /// Brings back what a task changed: what it deleted, overwrote, moved or made
    Undo(UndoOptions),
    /// Shows what you allowed beyond one call, and takes it back
    Rules {
        #[command(subcommand)]
        command: RulesCommand,
    },
    /// Hands memory to other programs
    Memory {
        #[command(subcommand)]
        command: MemoryCommand,
    },
    /// Shows what tools put out, whole, as it was kept
    Evidence {
        #[command(subcommand)]
        command: EvidenceCommand,
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
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum EvidenceCommand {
    /// The calls whose output is kept, oldest first
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
    /// Writes all records into a new or empty folder as a LevelDB, for programs that read nothing else
    Index {
        /// The folder
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
}

/// Subcommands of `artoo rules`.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum RulesCommand {
    /// Every rule that holds: its id, what it covers, since when and until when, when it was last used
    List,
    /// Deletes a rule; from then on artoo asks again
    Revoke {
        /// The rule's id, as the list shows it
        id: String,
    },
}

/// Subcommands of `artoo config`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Subcommand)]
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
    /// Also names the changes that were not kept because programs make them for their own use, such as caches
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
    /// A check of your own that must be met too, such as 'ran: make check' (repeatable; see docs/paths-and-exit-codes.md)
    #[arg(long, global = true, value_name = "CHECK")]
    pub(crate) require: Vec<String>,
    /// Only the required checks, and nothing being changed that was not asked for, decide the exit code
    #[arg(long, global = true, requires = "require")]
    pub(crate) exit_by_required: bool,
    /// The model: reflex, file:NAME, file:PATH, cassette:PATH, or openai, responses, anthropic or ollama, alone, with :NAME or :NAME@URL
    #[arg(long, global = true, value_name = "MODEL")]
    pub(crate) model: Option<ModelKind>,
    /// Where memory and the audit log are kept [default: ~/.artoo]
    #[arg(long, global = true, value_name = "FOLDER")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Where new files go, and nowhere else [default: ~/artoo_workspace]
    #[arg(long, global = true, value_name = "FOLDER")]
    pub(crate) workspace: Option<PathBuf>,
    /// Ends the task after this time: 90s, 5m or 1h [default: 30m]
    #[arg(long, global = true, value_name = "TIME")]
    pub(crate) deadline: Option<Deadline>,
    /// No call is made that could take the run above so many tokens
    #[arg(long, global = true, value_name = "N")]
    pub(crate) max_tokens: Option<u64>,
    /// Says what the task would take at least, likely and at most, and asks no model
    #[arg(long, global = true)]
    pub(crate) estimate: bool,
    /// No call is made that could take the run above so many US dollars; needs the model's price (ARTOO_PRICES)
    #[arg(long, global = true, value_name = "DOLLARS")]
    pub(crate) max_cost: Option<Dollars>,
}

/// A task's time limit.
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

#[cfg(test)]
mod tests;
