//! Success criteria: prose judged by a model, or a check decided in code from evidence.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How a failed criterion weighs in D: fully, or by how consistently it failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Machine-checkable: a failure counts 1.
    Verifiable,
    /// A judgement: a failure counts k/N over the attempts.
    Plausible,
}

/// One assertion about an output. On the wire `{criterion, mode, required?, check?}` or a plain string.
///
/// A checked criterion has no prose of its own: what is claimed is rendered from the check, so no claim can
/// hide behind a check that says something else.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "CriterionWire", into = "CriterionWire")]
pub enum Criterion {
    /// Judged by a model against evidence.
    Prose {
        /// The assertion.
        text: String,
        /// Its weight in D.
        mode: Mode,
        /// Unmet, it counts as D > δ for the decision table.
        required: bool,
    },
    /// Decided in code.
    Checked {
        /// The check; its rendering is the claim.
        check: Check,
        /// Unmet, it counts as D > δ for the decision table.
        required: bool,
    },
}

impl Criterion {
    /// A plausible criterion in prose.
    #[must_use]
    pub fn prose(text: impl Into<String>) -> Self {
        Self::Prose { text: text.into(), mode: Mode::Plausible, required: false }
    }

    /// A required criterion decided by `check`.
    #[must_use]
    pub fn checked(check: Check) -> Self {
        Self::Checked { check, required: true }
    }

    /// The assertion as shown to a person: prose, or the check rendered.
    #[must_use]
    pub fn claim(&self) -> String {
        match self {
            Self::Prose { text, .. } => text.clone(),
            Self::Checked { check, .. } => check.claim(),
        }
    }

    /// Its weight in D; a checked criterion is always verifiable.
    #[must_use]
    pub fn mode(&self) -> Mode {
        match self {
            Self::Prose { mode, .. } => *mode,
            Self::Checked { .. } => Mode::Verifiable,
        }
    }

    /// Whether the user's goal is missed when this one is.
    #[must_use]
    pub fn required(&self) -> bool {
        match self {
            Self::Prose { required, .. } | Self::Checked { required, .. } => *required,
        }
    }

    /// The check, where there is one.
    #[must_use]
    pub fn check(&self) -> Option<&Check> {
        match self {
            Self::Prose { .. } => None,
            Self::Checked { check, .. } => Some(check),
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum CriterionWire {
    Text(String),
    Full {
        #[serde(default)]
        criterion: String,
        #[serde(default = "plausible")]
        mode: Mode,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        required: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        check: Option<Check>,
    },
}

fn plausible() -> Mode {
    Mode::Plausible
}

impl From<CriterionWire> for Criterion {
    fn from(wire: CriterionWire) -> Self {
        match wire {
            CriterionWire::Text(text) => Self::prose(text),
            CriterionWire::Full { check: Some(check), required, .. } => Self::Checked { check, required },
            CriterionWire::Full { criterion, mode, required, check: None } => {
                Self::Prose { text: criterion, mode, required }
            }
        }
    }
}

impl From<Criterion> for CriterionWire {
    fn from(criterion: Criterion) -> Self {
        Self::Full {
            criterion: criterion.claim(),
            mode: criterion.mode(),
            required: criterion.required(),
            check: criterion.check().cloned(),
        }
    }
}

/// A question about the machine or the evidence that code can answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Check {
    /// Form: the output is not blank.
    OutputNotEmpty {},
    /// Form: the output is one number.
    OutputIsNumber {},
    /// Form: the last call's exit code.
    ExitCode {
        /// Expected code.
        code: i32,
    },
    /// State: a file that this subtask's own call created or changed is there.
    FileExists {
        /// Its path.
        path: String,
    },
    /// State: such a file holds this text.
    FileContains {
        /// Its path.
        path: String,
        /// Text that must occur in it.
        text: String,
    },
    /// State: such a file has exactly this text.
    FileEquals {
        /// Its path.
        path: String,
        /// Its whole content.
        text: String,
    },
    /// Recomputation: how many files lie under a folder; the output must be that number.
    FileCount {
        /// The folder.
        path: String,
        /// A glob over file names; empty = every file.
        #[serde(default)]
        pattern: String,
        /// Whether subfolders count.
        #[serde(default)]
        recursive: bool,
    },
    /// Recomputation: how many lines a file has; the output must be that number.
    LineCount {
        /// The file.
        path: String,
    },
    /// Recomputation of a typed query by a second implementation; only code builds these.
    Recompute {
        /// The query, opaque here; `artoo-reflex` owns its meaning.
        query: Value,
        /// The query in English, rendered from it.
        reading: String,
    },
    /// State: what an act left behind, read again by a second implementation; only code builds these.
    Performed {
        /// The act, opaque here; `artoo-reflex` owns its meaning.
        act: Value,
        /// The act in English, rendered from it.
        reading: String,
    },
}

impl Check {
    /// The file or folder whose state the check reads, if it names one.
    #[must_use]
    pub fn path(&self) -> Option<&str> {
        match self {
            Self::FileExists { path }
            | Self::FileContains { path, .. }
            | Self::FileEquals { path, .. }
            | Self::FileCount { path, .. }
            | Self::LineCount { path } => Some(path),
            Self::OutputNotEmpty {}
            | Self::OutputIsNumber {}
            | Self::ExitCode { .. }
            | Self::Recompute { .. }
            | Self::Performed { .. } => None,
        }
    }

    /// What a pass means, in one sentence.
    #[must_use]
    pub fn claim(&self) -> String {
        match self {
            Self::OutputNotEmpty {} => "the output is not empty".to_owned(),
            Self::OutputIsNumber {} => "the output is a number".to_owned(),
            Self::ExitCode { code } => format!("the last call exits with {code}"),
            Self::FileExists { path } => format!("this task's own call left a file at {path}"),
            Self::FileContains { path, text } => {
                format!("{path}, written by this task's own call, contains {text:?}")
            }
            Self::FileEquals { path, text } => {
                format!("{path}, written by this task's own call, is exactly {text:?}")
            }
            Self::FileCount { path, pattern, recursive } => format!(
                "the output equals the number of files {} {path}{}, hidden ones included, counted again",
                if *recursive { "under" } else { "directly in" },
                if pattern.is_empty() { String::new() } else { format!(" named {pattern}") },
            ),
            Self::LineCount { path } => format!("the output equals the number of lines of {path}, counted again"),
            Self::Recompute { reading, .. } => format!("the output equals a second computation of: {reading}"),
            Self::Performed { reading, .. } => {
                format!("read again afterwards, this was done and nothing else: {reading}")
            }
        }
    }

    /// Whether a pass says something about the machine, rather than about the answer's form.
    ///
    /// A form check never replaces a model's judgement.
    #[must_use]
    pub fn is_substantive(&self) -> bool {
        match self {
            Self::OutputNotEmpty {} | Self::OutputIsNumber {} | Self::ExitCode { .. } => false,
            Self::FileExists { .. }
            | Self::FileContains { .. }
            | Self::FileEquals { .. }
            | Self::FileCount { .. }
            | Self::LineCount { .. }
            | Self::Recompute { .. }
            | Self::Performed { .. } => true,
        }
    }

    /// The path whose state this check reads after an act, for checks of that kind.
    #[must_use]
    pub fn written_path(&self) -> Option<&str> {
        match self {
            Self::FileExists { path } | Self::FileContains { path, .. } | Self::FileEquals { path, .. } => Some(path),
            Self::OutputNotEmpty {}
            | Self::OutputIsNumber {}
            | Self::ExitCode { .. }
            | Self::FileCount { .. }
            | Self::LineCount { .. }
            | Self::Recompute { .. }
            | Self::Performed { .. } => None,
        }
    }
}

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckOutcome {
    /// Whether the claim holds.
    pub pass: bool,
    /// What was seen or computed, on one line.
    pub evidence: String,
    /// For a failure: whether the machine stood in the way (unreadable, missing folder, no time).
    pub environmental: bool,
}

impl CheckOutcome {
    /// The claim holds, or does not.
    #[must_use]
    pub fn new(pass: bool, evidence: impl Into<String>) -> Self {
        Self { pass, evidence: evidence.into(), environmental: false }
    }

    /// The claim holds.
    #[must_use]
    pub fn pass(evidence: impl Into<String>) -> Self {
        Self::new(true, evidence)
    }

    /// The claim does not hold.
    #[must_use]
    pub fn fail(evidence: impl Into<String>) -> Self {
        Self::new(false, evidence)
    }

    /// The machine stood in the way of a look.
    #[must_use]
    pub fn hindered(evidence: impl Into<String>) -> Self {
        Self { environmental: true, ..Self::fail(evidence) }
    }
}
