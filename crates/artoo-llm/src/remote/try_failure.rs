//! Errors of one try of a model call, and their conversion for the retry policy and for the asking role.

use std::time::Duration;

use artoo_proto::{ModelFailure, Usage};

use crate::reader::{self, ReaderError};
use crate::retry::{Outcome, Why};
use crate::secret::Scrubber;
use crate::structured::Complaint;

/// Maximum length of an endpoint's message quoted in an error, in characters.
const DETAIL_CHARS: usize = 400;

/// Maximum length of an endpoint's message quoted in the progress line, in characters.
const WAIT_CHARS: usize = 80;

/// Error codes and types by which endpoints report an exhausted quota.
const QUOTA_CODES: [&str; 4] =
    ["insufficient_quota", "billing_hard_limit_reached", "insufficient_balance", "billing_error"];

/// Words by which an endpoint without error codes reports an exhausted quota.
const QUOTA_WORDS: &str = "exceeded your current quota";

/// Why one try of a call failed.
#[derive(Debug)]
pub(super) enum TryFailure {
    /// The HTTP client can't be built.
    Unusable { detail: String },
    /// No connection, or one that closed before the status line.
    NoConnection { detail: String },
    /// A status other than success, or an error object with a success status.
    Status { status: u16, complaint: Complaint, retry_after: Option<Duration> },
    /// The endpoint answered with a redirect, which is never followed.
    Redirect { status: u16, target: Option<String> },
    /// No response, or no further data, before a timeout.
    Silence,
    /// The response body ended early.
    Cut { detail: String },
    /// A body that is not an answer.
    Unreadable { detail: String, text: String },
    /// An answer that the strict reader refuses.
    Reader { error: ReaderError, content: String },
    /// The prompt doesn't fit the context; nothing was sent.
    DoesNotFit { needed: u64, room: u64 },
    /// The call may exceed the budget; nothing was sent.
    OverBudget { detail: String },
}

/// How a failed call ended: number of tries, why no more were made, elapsed time and usage.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ended {
    pub(super) tries: u32,
    pub(super) why: Why,
    pub(super) elapsed: Duration,
    /// Usage of all tries of the call.
    pub(super) usage: Usage,
}

impl Ended {
    /// The end of a call of which only one try was made and no usage is charged.
    pub(super) fn after_one_try(elapsed: Duration) -> Self {
        Self { tries: 1, why: Why::Pointless, elapsed, usage: Usage::default() }
    }
}

impl TryFailure {
    /// Whether the endpoint may have read the prompt before the try failed, so that it may charge for it.
    pub(super) fn was_read(&self) -> bool {
        matches!(self, Self::Silence | Self::Cut { .. } | Self::Unreadable { .. } | Self::Reader { .. })
    }

    /// Whether the try failed because the endpoint has a rate limit, not because a quota is exhausted.
    pub(super) fn was_too_many(&self) -> bool {
        matches!(self, Self::Status { status: 429 | 529, .. }) && !self.is_quota()
    }

    /// Whether the account's quota is exhausted, so that waiting doesn't help: by the error code, or by the message if
    /// no wait is asked for.
    fn is_quota(&self) -> bool {
        let Self::Status { complaint, retry_after, .. } = self else { return false };
        let message = complaint.message.to_ascii_lowercase();
        [&complaint.code, &complaint.kind].into_iter().flatten().any(|word| QUOTA_CODES.contains(&word.as_str()))
            || (retry_after.is_none() && message.contains(QUOTA_WORDS) && !message.contains("retry in"))
    }

    /// A short description of the error for the progress line, without keys.
    pub(super) fn short_text(&self, scrubber: &Scrubber) -> String {
        match self {
            Self::NoConnection { .. } => "no connection".to_owned(),
            Self::Status { status, complaint, .. } if complaint.message.is_empty() => format!("status {status}"),
            Self::Status { status, complaint, .. } => {
                format!("status {status}: {}", scrubber.shown(&complaint.message, WAIT_CHARS))
            }
            Self::Silence => "no answer in time".to_owned(),
            Self::Cut { .. } => "the answer broke off".to_owned(),
            Self::Unusable { .. }
            | Self::Redirect { .. }
            | Self::Unreadable { .. }
            | Self::Reader { .. }
            | Self::DoesNotFit { .. }
            | Self::OverBudget { .. } => "it can't be used".to_owned(),
        }
    }

    /// Classifies the error for the retry policy: no connection, busy, or final.
    pub(super) fn outcome(&self) -> Outcome {
        if matches!(self, Self::NoConnection { .. }) {
            return Outcome::NoConnection;
        }
        if let Self::Status { status, retry_after, .. } = self
            && may_pass(*status)
            && !self.is_quota()
        {
            return Outcome::Busy { retry_after: *retry_after };
        }
        Outcome::Final
    }

    /// The endpoint's error, if the status (400 or 422) suggests that a request with fewer parts might be accepted;
    /// else `None`.
    pub(super) fn refused_part(&self) -> Option<&Complaint> {
        if let Self::Status { status: 400 | 422, complaint, .. } = self { Some(complaint) } else { None }
    }

    /// Converts the error to the failure that the asking role receives. Texts from outside are shortened, escaped and
    /// freed of keys.
    pub(super) fn into_failure(self, scrubber: &Scrubber, ended: &Ended) -> ModelFailure {
        let Ended { tries, why, elapsed, usage } = *ended;
        let shown = |text: &str| scrubber.shown(text, DETAIL_CHARS);
        let ending = ending(tries, why);
        let is_quota = self.is_quota();
        match self {
            Self::Unusable { detail } => ModelFailure::Unreachable { detail: shown(&detail) },
            Self::NoConnection { detail } => {
                ModelFailure::Unreachable { detail: format!("{}{ending}", shown(&detail)) }
            }
            Self::Status { status, complaint, .. } => {
                let said = if complaint.message.is_empty() { "no reason given" } else { &complaint.message };
                let detail = format!("{}{ending}", shown(said));
                match status {
                    401 | 403 => ModelFailure::Unauthorized { status, detail },
                    _ if may_pass(status) && !is_quota => ModelFailure::Overloaded { status, detail },
                    _ => ModelFailure::Rejected { status, detail },
                }
            }
            Self::Redirect { status, target } => {
                let target = target.map_or_else(|| "nowhere".to_owned(), |target| shown(&target));
                let detail =
                    format!("the endpoint redirects to {target}; redirects are not followed, the key stays here");
                ModelFailure::Rejected { status, detail }
            }
            Self::Silence => ModelFailure::TimedOut { after_ms: super::millis(elapsed), usage },
            Self::Cut { detail } => ModelFailure::Cut { detail: shown(&detail), usage },
            Self::Unreadable { detail, text } => ModelFailure::Unreadable {
                detail: shown(&detail),
                excerpt: reader::excerpt(&scrubber.shown(&text, DETAIL_CHARS)),
                usage,
            },
            Self::Reader { error, content } => scrubbed(error.into_failure(&content), scrubber).with_usage(usage),
            Self::DoesNotFit { needed, room } => ModelFailure::DoesNotFit { needed, room },
            Self::OverBudget { detail } => ModelFailure::OverBudget { detail: shown(&detail) },
        }
    }
}

/// Whether an HTTP status is transient, so that another try may succeed.
pub(crate) fn may_pass(status: u16) -> bool {
    matches!(status, 408 | 429 | 500 | 502..=504 | 507..=599)
}

/// The end of an error message that says why no further try was made; empty if tries were pointless.
fn ending(tries: u32, why: Why) -> String {
    match why {
        Why::Pointless => String::new(),
        Why::TriesSpent => format!(" (after {tries} tries)"),
        Why::TimeSpent => format!(" (after {tries} tries; the time for retries is spent)"),
        Why::WaitTooLong { asked } => format!(" (it asks to wait {} s, longer than allowed)", asked.as_secs()),
    }
}

/// The failure without keys in the parts of the reply that it quotes.
fn scrubbed(mut failure: ModelFailure, scrubber: &Scrubber) -> ModelFailure {
    if let ModelFailure::Unreadable { detail, excerpt, .. } = &mut failure {
        for text in [detail, excerpt] {
            *text = scrubber.shown(text, DETAIL_CHARS);
        }
    }
    failure
}
