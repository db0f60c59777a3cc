//! Tools: their descriptions, requests to call them, and records of the calls.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{ConsentHash, ConsentOffers, ConsentScope, EvidenceId, KeptOutput, TaskId, pipeline};

/// A family of tools; the directive `break_symmetry` asks for another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolClass {
    /// Tools that find files.
    Files,
    /// Tools that read and write text.
    Text,
    /// Tools that run programs.
    Shell,
    /// Tools that control desktop programs.
    Desktop,
    /// Tools that use the network.
    Web,
}

/// A tool of this machine as roles and models see it: name, description, class and input schema.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// Exact name; similar names are not accepted.
    pub name: String,
    /// What the tool does, in one line for users and models.
    pub description: String,
    /// The family that the tool belongs to.
    pub class: ToolClass,
    /// JSON schema of the tool's input.
    pub input_schema: Value,
    /// Priority of the tool in the specification; 1 is tried first.
    pub priority: u8,
}

/// A tool and the input to call it with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolRequest {
    /// Exact name of the tool.
    pub tool: String,
    /// Input that matches the tool's schema.
    pub input: Value,
}

impl ToolRequest {
    /// The input as a person reads it: a pipeline of programs as a shell command.
    #[must_use]
    pub fn shown_input(&self) -> Cow<'_, Value> {
        pipeline::shown(&self.tool, &self.input)
    }
}

/// A requested call, with the rules of its subtask that decide whether it may be made.
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
    /// Whether memory advises caution: a call that is not read-only then needs approval, even if it only creates files.
    pub confirm: bool,
    /// Digest of what the user approved for this call; `null` without an approval.
    pub consent: Option<ConsentHash>,
    /// How much the approval covers.
    #[serde(default)]
    pub scope: ConsentScope,
}

/// The class of a call's effects: as observed in its run, or as declared if it has not run yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectClass {
    /// The call changes nothing.
    ReadOnly,
    /// The call only creates what did not exist.
    Creating,
    /// The call changes or removes something, or it is not known what it changes.
    Unproven,
}

/// How a call ended: ok, failed, denied, timed out, cut off or uncertain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallStatus {
    /// The call ran and reported success.
    Ok,
    /// The call ran and reported failure, or could not start.
    Failed,
    /// The call was not allowed and did not run (Law 1).
    Denied,
    /// The call exceeded its time limit and was stopped.
    TimedOut,
    /// The call's output is incomplete, because a limit was reached first.
    Cut,
    /// The call started, but its end was not recorded, for example because the process died.
    Uncertain,
}

/// The text that [`FileChange`] has in place of a digest for a folder.
pub const FOLDER: &str = "folder";

/// A file or folder that a call changed, with a digest of its content before and after.
///
/// What has no content is described in words (`folder`, `link to x`). If the content stayed the same, words after the
/// digest say what changed (`mode 0600`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    /// Absolute path of the changed file or folder.
    pub path: String,
    /// SHA-256 before the call, in hex, or [`FOLDER`]; `null` if the path did not exist.
    pub before: Option<String>,
    /// SHA-256 after the call, in hex, or [`FOLDER`]; `null` if the path no longer exists.
    pub after: Option<String>,
}

/// How a call was approved: by the user once, for the task, or by a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Approval {
    /// The user approved exactly this call.
    Once,
    /// The user approved this and every smaller effect for the task.
    Task,
    /// A rule that the user made earlier approved the call.
    Rule {
        /// Id of the rule that approved the call.
        id: String,
    },
}

/// The record of one call, with its evidence. Its `Display` is the string form of the specification.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Name of the tool.
    pub tool: String,
    /// Input of the call, as given.
    pub input: Value,
    /// What the call acted on: a normalised path, pattern or command.
    pub target: String,
    /// How the call ended.
    pub status: CallStatus,
    /// What the call changed or may have changed.
    pub class: EffectClass,
    /// Whether the output depends on the machine's state (that of `echo` does not).
    pub measures: bool,
    /// Exit code of a program that ended by itself.
    pub exit_code: Option<i32>,
    /// Signal that ended the program.
    pub signal: Option<i32>,
    /// Output of the call; of a long output, only its beginning and end.
    pub output: String,
    /// Length of the whole output, in bytes.
    pub output_bytes: u64,
    /// Whether `output` leaves something out.
    pub truncated: bool,
    /// The id under which verdicts cite this call.
    pub evidence_id: EvidenceId,
    /// Duration of the call in milliseconds.
    pub elapsed_ms: u64,
    /// For a failure: whether the environment caused it (missing file, permission, network) and not the approach.
    pub environmental: bool,
    /// Files and folders that the call changed.
    pub changed: Vec<FileChange>,
    /// Whether everything that the call could change was compared before and after, so that `changed` is complete.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub changes_known: bool,
    /// Changes that were not kept because programs make them for their own use, such as caches: path and reason, one
    /// line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub incidental: Vec<String>,
    /// Existing paths similar to a missing target; may be empty.
    pub alternatives: Vec<String>,
    /// How the call was approved, if it needed approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leave: Option<Approval>,
    /// The stored streams of the call's output in the evidence store; empty if nothing is stored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<KeptOutput>,
}

impl ToolCall {
    /// The input as a person reads it: a pipeline of programs as a shell command.
    #[must_use]
    pub fn shown_input(&self) -> Cow<'_, Value> {
        pipeline::shown(&self.tool, &self.input)
    }

    /// What a failed call said of its failure, in one line: what its program wrote to standard error, else its output.
    #[must_use]
    pub fn failure(&self) -> String {
        let said = self.output.rsplit("[stderr]\n").next().unwrap_or_default();
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        if said.is_empty() { format!("`{}` failed and said nothing", self.target) } else { said }
    }

    /// The item of the evidence store with the complete output; `None` if nothing or several streams are stored, or a
    /// part is left out.
    #[must_use]
    pub fn whole_output(&self) -> Option<&KeptOutput> {
        match self.kept.as_slice() {
            [all] if all.left_out == 0 => Some(all),
            _ => None,
        }
    }

    /// The record of a call that ended before its tool could report; its effects are not known.
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
            incidental: Vec::new(),
            alternatives: Vec::new(),
            leave: None,
            kept: Vec::new(),
        }
    }
}

impl std::fmt::Display for ToolCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let head: String = self.output.chars().take(200).collect();
        write!(f, "{}: {} → {head}", self.tool, self.shown_input())
    }
}

/// A call that the user or a rule did not allow, with the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeniedAction {
    /// The call as it would have run, escaped for display.
    pub action: String,
    /// Why the call was not allowed.
    pub reason: String,
    /// Whether the user denied the call; otherwise a rule did, or there was no user to ask.
    #[serde(default)]
    pub by_person: bool,
}

/// The result of a requested call: its record, or the question that the user must answer first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ToolOutcome {
    /// The call ended, or was refused outright.
    Called {
        /// The record of the call.
        call: ToolCall,
    },
    /// Nothing ran: the user must approve the call first.
    NeedsConsent {
        /// Digest of exactly what would be approved.
        hash: ConsentHash,
        /// The call as it would run, escaped for display.
        shown: String,
        /// What the call would change or reach, one line each: first what it changes, last whether it can be undone.
        effects: Vec<String>,
        /// Every entry that would change with its kind and size, and what its content would become, one line each.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        details: Vec<String>,
        /// Why the call needs approval.
        reason: String,
        /// Wider approvals that the user may give instead of one for this call only.
        #[serde(default)]
        offers: ConsentOffers,
    },
}
