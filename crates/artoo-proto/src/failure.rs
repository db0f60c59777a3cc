//! The usage of a model call, and the ways in which it fails.

use serde::{Deserialize, Serialize};

/// What the embedded parser understood of a request it can't answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Abstention {
    /// The understood part, in English; may be empty.
    pub understood: String,
    /// The words of the request that were not understood.
    pub not_understood: Vec<String>,
    /// What the user can do about the rejected request.
    pub remedy: String,
    /// The nearest request that the parser can answer, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offer: Option<Box<Offer>>,
}

impl Abstention {
    /// Last sentence of [`Abstention::remedy`] if a language model could have answered the request.
    pub const SETUP: &str = "A language model could do more: artoo setup";
}

/// A request that the embedded parser reads in full, offered in place of a declined one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    /// The offered request.
    pub request: String,
    /// How the parser reads the offered request, in English.
    pub reading: String,
    /// What was changed in the user's words.
    pub change: String,
}

/// Numbers of model calls and tokens. Adding two values adds each field.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Calls to a language model; the embedded parser counts as none.
    pub model_calls: u32,
    /// Tokens sent.
    pub prompt_tokens: u64,
    /// Tokens received.
    pub completion_tokens: u64,
}

impl Usage {
    /// Whether every count is zero.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        *self == Self::default()
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.model_calls = self.model_calls.saturating_add(other.model_calls);
        self.prompt_tokens = self.prompt_tokens.saturating_add(other.prompt_tokens);
        self.completion_tokens = self.completion_tokens.saturating_add(other.completion_tokens);
    }
}

/// Why a call to a model failed. `detail` never contains a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ModelFailure {
    /// There was no connection to the endpoint.
    Unreachable {
        /// Error of the connection.
        detail: String,
    },
    /// The key is missing or was not accepted.
    Unauthorized {
        /// HTTP status.
        status: u16,
        /// Error text of the endpoint.
        detail: String,
    },
    /// The endpoint rejected the request; with status 402 or 429 because the quota of the account is used up.
    Rejected {
        /// HTTP status.
        status: u16,
        /// Error text of the endpoint.
        detail: String,
    },
    /// Too many requests, or the endpoint was overloaded, until the retries ran out.
    Overloaded {
        /// HTTP status.
        status: u16,
        /// Error text of the endpoint.
        detail: String,
    },
    /// The reply did not arrive in time.
    TimedOut {
        /// Time waited, in milliseconds.
        after_ms: u64,
        /// What the failed call cost all the same.
        #[serde(default, skip_serializing_if = "Usage::is_zero")]
        usage: Usage,
    },
    /// The reply ended before it was complete.
    Cut {
        /// How the incomplete reply was detected.
        detail: String,
        /// What the failed call cost all the same.
        #[serde(default, skip_serializing_if = "Usage::is_zero")]
        usage: Usage,
    },
    /// The reply contains no valid JSON value.
    Unreadable {
        /// What is wrong with the reply.
        detail: String,
        /// The beginning of the reply, escaped.
        excerpt: String,
        /// What the failed call cost all the same.
        #[serde(default, skip_serializing_if = "Usage::is_zero")]
        usage: Usage,
    },
    /// The prompt and its reply would exceed the model's context; nothing was sent.
    DoesNotFit {
        /// Estimated tokens of prompt and reply.
        needed: u64,
        /// Tokens of the model's context.
        room: u64,
    },
    /// The call might have exceeded the budget; nothing was sent.
    OverBudget {
        /// The limit, the amount already spent, and the maximum cost of the call.
        detail: String,
    },
    /// The task was cancelled.
    Cancelled,
    /// The recording contains no reply to this request.
    NotRecorded {
        /// The request without a recorded reply.
        detail: String,
    },
}

impl ModelFailure {
    /// Whether repeating the request, with the problem named, may help.
    #[must_use]
    pub fn is_worth_asking_again(&self) -> bool {
        match self {
            Self::Cut { .. } | Self::Unreadable { .. } => true,
            Self::Unreachable { .. }
            | Self::Unauthorized { .. }
            | Self::Rejected { .. }
            | Self::Overloaded { .. }
            | Self::TimedOut { .. }
            | Self::DoesNotFit { .. }
            | Self::OverBudget { .. }
            | Self::Cancelled
            | Self::NotRecorded { .. } => false,
        }
    }

    /// The usage of the failed call: at least one call, unless nothing was sent or the task was cancelled.
    #[must_use]
    pub fn usage(&self) -> Usage {
        match self {
            Self::TimedOut { usage, .. } | Self::Cut { usage, .. } | Self::Unreadable { usage, .. } => {
                Usage { model_calls: usage.model_calls.max(1), ..*usage }
            }
            Self::Unreachable { .. } | Self::Unauthorized { .. } | Self::Rejected { .. } | Self::Overloaded { .. } => {
                Usage { model_calls: 1, ..Usage::default() }
            }
            Self::DoesNotFit { .. } | Self::OverBudget { .. } | Self::Cancelled | Self::NotRecorded { .. } => {
                Usage::default()
            }
        }
    }

    /// The same failure with this usage, if its kind records usage.
    #[must_use]
    pub fn with_usage(mut self, paid: Usage) -> Self {
        match &mut self {
            Self::TimedOut { usage, .. } | Self::Cut { usage, .. } | Self::Unreadable { usage, .. } => *usage = paid,
            Self::Unreachable { .. }
            | Self::Unauthorized { .. }
            | Self::Rejected { .. }
            | Self::Overloaded { .. }
            | Self::DoesNotFit { .. }
            | Self::OverBudget { .. }
            | Self::Cancelled
            | Self::NotRecorded { .. } => {}
        }
        self
    }
}

impl std::fmt::Display for ModelFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unreachable { detail } => write!(f, "the model can't be reached: {detail}"),
            Self::Unauthorized { status, detail } => write!(f, "the key was not accepted ({status}): {detail}"),
            Self::Rejected { status: status @ (402 | 429), detail } => {
                write!(f, "your quota is used up ({status}): {detail}")
            }
            Self::Rejected { status, detail } => write!(f, "the model rejected the request ({status}): {detail}"),
            Self::Overloaded { status, detail } => write!(f, "the model is overloaded ({status}): {detail}"),
            Self::TimedOut { after_ms, .. } => write!(f, "the model gave no answer within {after_ms} ms"),
            Self::Cut { detail, .. } => write!(f, "the model's reply was cut off: {detail}"),
            Self::Unreadable { detail, .. } => write!(f, "the model's reply could not be read: {detail}"),
            Self::DoesNotFit { needed, room } => {
                write!(f, "the prompt does not fit the model: about {needed} tokens, and its context has {room}")
            }
            Self::OverBudget { detail } => write!(f, "the budget is spent: {detail}"),
            Self::Cancelled => f.write_str("cancelled"),
            Self::NotRecorded { detail } => write!(f, "no recorded reply: {detail}"),
        }
    }
}
