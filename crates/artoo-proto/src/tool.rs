//! Tools: what can be called, what was called, and what it left behind.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{ConsentHash, ConsentOffers, ConsentScope, EvidenceId, TaskId};

/// A family of tools; `break_symmetry` asks for another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolClass {
    /// Finds files.
    Files,
    /// Reads and writes text.
    Text,
    /// Runs programs.
    Shell,
    /// Drives desktop programs.
    Desktop,
    /// Reaches the network.
    Web,
}

/// A tool this machine has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// Exact name; never matched by nearness.
    pub name: String,
    /// One line for people and models.
    pub description: String,
    /// Its family.
    pub class: ToolClass,
    /// JSON schema of the input.
    pub input_schema: Value,
    /// The spec's priority; 1 is tried first.
    pub priority: u8,
}

/// A call to be made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolRequest {
    /// Exact tool name.
    pub tool: String,
    /// Input, by the tool's schema.
    pub input: Value,
}

/// A requested call with the rules of its subtask that decide whether it may be made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolOrder {
    /// The task the call belongs to; approvals, denials, failures and changes are recorded by task.
    pub task_id: TaskId,
    /// The tool and its input.
    pub request: ToolRequest,
    /// The id under which the call's evidence is cited.
    pub evidence_id: EvidenceId,
    /// Tools the subtask may use. Any other tool is refused, so an empty list allows none.
    pub allowed_tools: Vec<String>,
    /// Tools that must not be called; letter case and surrounding blanks are ignored.
    pub blocked_tools: Vec<String>,
    /// Targets that must not be used: a target as a record shows it, for every tool, or `tool:target` for one. A
    /// path ending in `/` covers everything below it. Paths are compared as written and with symlinks resolved.
    pub blocked_targets: Vec<String>,
    /// Memory's Caution: a call that is not read-only needs consent even if it only creates.
    pub confirm: bool,
    /// The consent given for this call.
    pub consent: Option<ConsentHash>,
    /// How far that consent reaches.
    #[serde(default)]
    pub scope: ConsentScope,
}

/// What a call may do to the machine, as proven before it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectClass {
    /// Changes nothing.
    ReadOnly,
    /// Only adds what was not there.
    Creating,
    /// May change or remove, or could not be proven harmless.
    Unproven,
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallStatus {
    /// It ran and reported success.
    Ok,
    /// It ran and reported failure, or could not start.
    Failed,
    /// Law 1: it was not allowed and nothing ran.
    Denied,
    /// It ran out of time and was ended.
    TimedOut,
    /// Its answer is incomplete: the limit was reached before the end.
    Cut,
    /// It began and no end was seen (the process died with it).
    Uncertain,
}

/// What [`FileChange`] says of a folder, whose content has no digest of its own.
pub const FOLDER: &str = "folder";

/// A file or folder this call changed, with its content's digest on both sides.
///
/// What has no content is named in words (`folder`, `link to x`), and where the content stayed as it was, the words after
/// the digest say what did not (`mode 0600`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    /// Absolute path.
    pub path: String,
    /// SHA-256 before, hex, or [`FOLDER`]; `null` if it was not there.
    pub before: Option<String>,
    /// SHA-256 after, hex, or [`FOLDER`]; `null` if it is gone.
    pub after: Option<String>,
}

/// With whose leave a call was made that needed one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Leave {
    /// A person's yes to exactly this.
    Once,
    /// A person's yes to this and all that does no more, in this task.
    Task,
    /// A person's yes that became a rule.
    Rule {
        /// The rule's id.
        id: String,
    },
}

/// A stream of output as the evidence store keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptOutput {
    /// Which: `output`, `stdout` or `stderr`.
    pub stream: String,
    /// SHA-256 of what is kept, hex; the key in the store.
    pub sha256: String,
    /// Bytes kept.
    pub bytes: u64,
    /// Bytes of the stream that are not kept: they lay between the beginning and the end that are.
    pub left_out: u64,
}

/// One call that was made, with the evidence it left. The spec's string form is its `Display`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Tool name.
    pub tool: String,
    /// Input as given.
    pub input: Value,
    /// What it acted on: a normalised path, pattern or command.
    pub target: String,
    /// How it ended.
    pub status: CallStatus,
    /// What the guard proved.
    pub class: EffectClass,
    /// Whether the output depends on the machine's state (an `echo` measures nothing).
    pub measures: bool,
    /// Exit code of a program that ended by itself.
    pub exit_code: Option<i32>,
    /// Signal that ended it.
    pub signal: Option<i32>,
    /// Output: head and tail where it was long.
    pub output: String,
    /// Bytes of output before cutting.
    pub output_bytes: u64,
    /// Whether `output` leaves something out.
    pub truncated: bool,
    /// Where the evidence is cited.
    pub evidence_id: EvidenceId,
    /// How long it took.
    pub elapsed_ms: u64,
    /// Whether a failure came from the environment (missing file, permission, network) rather than the approach.
    pub environmental: bool,
    /// Files it changed.
    pub changed: Vec<FileChange>,
    /// Whether everything it could change was compared before and after it, so that `changed` is all of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub changes_known: bool,
    /// Names seen near a target that was not there; may be empty.
    pub alternatives: Vec<String>,
    /// With whose leave it ran, where it needed one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leave: Option<Leave>,
    /// Its whole output in the evidence store; empty where nothing is kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<KeptOutput>,
}

impl ToolCall {
    /// The item of the evidence store that holds the whole output, where one does.
    #[must_use]
    pub fn whole_output(&self) -> Option<&KeptOutput> {
        match self.kept.as_slice() {
            [all] if all.left_out == 0 => Some(all),
            _ => None,
        }
    }

    /// A call that ended like this; nothing is proven of what it could do, and nothing more is known of what it did.
    #[must_use]
    pub fn ended(request: ToolRequest, evidence_id: EvidenceId, status: CallStatus, output: String) -> Self {
        Self {
            tool: request.tool,
            input: request.input,
            target: String::new(),
            status,
            class: EffectClass::Unproven,
            measures: false,
            exit_code: None,
            signal: None,
            output_bytes: output.len() as u64,
            output,
            truncated: false,
            evidence_id,
            elapsed_ms: 0,
            environmental: false,
            changed: Vec::new(),
            changes_known: false,
            alternatives: Vec::new(),
            leave: None,
            kept: Vec::new(),
        }
    }
}

impl std::fmt::Display for ToolCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let head: String = self.output.chars().take(200).collect();
        write!(f, "{}: {} → {head}", self.tool, self.input)
    }
}

/// What became of a requested call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ToolOutcome {
    /// It was made (or refused outright): here is the record.
    Called {
        /// The record.
        call: ToolCall,
    },
    /// Nothing ran: a person must allow it first.
    NeedsConsent {
        /// What exactly would be allowed.
        hash: ConsentHash,
        /// The call as it would run, escaped for display.
        shown: String,
        /// What it would touch, in words.
        effects: Vec<String>,
        /// Why it was not proven harmless.
        reason: String,
        /// Wider answers that may be given.
        #[serde(default)]
        offers: ConsentOffers,
    },
}
