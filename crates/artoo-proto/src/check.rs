//! Success criteria: prose that a model judges, or a check that code decides.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Whether a failed criterion counts in the distance D fully (verifiable) or by its share of failed attempts
/// (plausible).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// A machine can check it: a failure counts 1.
    Verifiable,
    /// A model judges it: a failure counts k/N, for k failed attempts of N.
    Plausible,
}

/// One assertion about an output. In JSON: `{criterion, mode, required?, check?}` or a plain string.
///
/// A checked criterion has no prose of its own: its claim is rendered from the check, so a claim can't differ from what
/// is checked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "CriterionWire", into = "CriterionWire")]
pub enum Criterion {
    /// An assertion in words, judged by a model against evidence.
    Prose {
        /// The assertion in words.
        text: String,
        /// How a failure counts in D (the distance from the goal).
        mode: Mode,
        /// Whether the task fails if this criterion does: a failure then counts as D above the threshold δ.
        required: bool,
    },
    /// An assertion that code decides.
    Checked {
        /// The check that decides the criterion; its claim is rendered from the check.
        check: Check,
        /// Whether the task fails if this criterion does: a failure then counts as D above the threshold δ.
        required: bool,
    },
}

impl Criterion {
    /// A criterion in words that a model judges: plausible, not required.
    #[must_use]
    pub fn prose(text: impl Into<String>) -> Self {
        Self::Prose { text: text.into(), mode: Mode::Plausible, required: false }
    }

    /// A required criterion that `check` decides.
    #[must_use]
    pub fn checked(check: Check) -> Self {
        Self::Checked { check, required: true }
    }

    /// The assertion as text for the user: the prose, or the check in words.
    #[must_use]
    pub fn claim(&self) -> String {
        match self {
            Self::Prose { text, .. } => text.clone(),
            Self::Checked { check, .. } => check.claim(),
        }
    }

    /// How a failure of the criterion counts in D (the distance from the goal); a checked criterion is always
    /// verifiable.
    #[must_use]
    pub fn mode(&self) -> Mode {
        match self {
            Self::Prose { mode, .. } => *mode,
            Self::Checked { .. } => Mode::Verifiable,
        }
    }

    /// Whether the task can't succeed while this criterion is unmet.
    #[must_use]
    pub fn required(&self) -> bool {
        match self {
            Self::Prose { required, .. } | Self::Checked { required, .. } => *required,
        }
    }

    /// The check by which code decides this criterion; `None` if a model judges it.
    #[must_use]
    pub fn check(&self) -> Option<&Check> {
        match self {
            Self::Prose { .. } => None,
            Self::Checked { check, .. } => Some(check),
        }
    }
}

/// The JSON form of a [`Criterion`].
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

/// Default mode of a criterion whose JSON names none: plausible.
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

/// A question about the output or the machine that code can answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Check {
    /// Form: the output is not blank.
    OutputNotEmpty {},
    /// Form: the output is one number.
    OutputIsNumber {},
    /// Form: the last call ended with this exit code.
    ExitCode {
        /// Expected exit code.
        code: i32,
    },
    /// State: a file exists, whether or not this subtask created or changed it.
    FileExists {
        /// Path of the file that must exist.
        path: String,
    },
    /// State: a file that this subtask itself wrote contains this text.
    FileContains {
        /// Path of the file to search.
        path: String,
        /// Text that must occur in the file.
        text: String,
    },
    /// State: a file that this subtask itself wrote has exactly this content.
    FileEquals {
        /// Path of the file to compare.
        path: String,
        /// The whole content that the file must have.
        text: String,
    },
    /// Recomputation: the output must equal the number of files in a folder.
    FileCount {
        /// The folder whose files are counted.
        path: String,
        /// A glob that file names must match; empty for every file.
        #[serde(default)]
        pattern: String,
        /// Whether files in subfolders count.
        #[serde(default)]
        recursive: bool,
    },
    /// Recomputation: the output must equal the number of lines of a file.
    LineCount {
        /// The file whose lines are counted.
        path: String,
    },
    /// Recomputation: the output must equal a second implementation's answer to a typed query. Only code builds these.
    Recompute {
        /// The query to compute again; its structure belongs to `artoo-reflex`.
        query: Value,
        /// The query in English.
        reading: String,
    },
    /// State: a second implementation reads whether an action changed what it should and nothing else. Only code builds
    /// these.
    Performed {
        /// The action to verify; its structure belongs to `artoo-reflex`.
        act: Value,
        /// The action in English.
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

    /// The assertion that is true if the check passes, as one sentence.
    #[must_use]
    pub fn claim(&self) -> String {
        match self {
            Self::OutputNotEmpty {} => "the output is not empty".to_owned(),
            Self::OutputIsNumber {} => "the output is a number".to_owned(),
            Self::ExitCode { code } => format!("the last call exits with {code}"),
            Self::FileExists { path } => format!("there is a file at {path}"),
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

    /// Whether a pass proves something about the machine and not only about the form of the answer.
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

    /// The file that this check expects the subtask to write; `None` for checks of other kinds.
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

/// The result of one check: passed or not, with the evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckOutcome {
    /// Whether the check passed, that is, its claim is true.
    pub pass: bool,
    /// What was found or computed, on one line.
    pub evidence: String,
    /// For a failure: whether the environment prevented the check (unreadable file, missing folder, timeout).
    pub environmental: bool,
}

impl CheckOutcome {
    /// The result of a check that could be made: passed or failed, with this evidence.
    #[must_use]
    pub fn new(pass: bool, evidence: impl Into<String>) -> Self {
        Self { pass, evidence: evidence.into(), environmental: false }
    }

    /// The result of a check whose claim is true.
    #[must_use]
    pub fn pass(evidence: impl Into<String>) -> Self {
        Self::new(true, evidence)
    }

    /// The result of a check whose claim is false.
    #[must_use]
    pub fn fail(evidence: impl Into<String>) -> Self {
        Self::new(false, evidence)
    }

    /// The failed result of a check that the environment prevented, such as by a missing permission.
    #[must_use]
    pub fn hindered(evidence: impl Into<String>) -> Self {
        Self { environmental: true, ..Self::fail(evidence) }
    }
}
