//! What can go wrong with one try, how the retry policy sees it, and what a role is told in the end.

use std::time::Duration;

use artoo_proto::{ModelFailure, Usage};

use crate::reader::{self, ReaderError};
use crate::retry::{Outcome, Why};
use crate::secret::Scrubber;
use crate::structured::Complaint;

/// How much of an endpoint's own words is passed on, in characters: two lines of a terminal or so.
const DETAIL_CHARS: usize = 400;

/// The same while a person waits, in characters: part of one line.
const WAIT_CHARS: usize = 80;

/// Codes and kinds of errors by which endpoints say that the account has no quota left.
const QUOTA_CODES: [&str; 4] =
    ["insufficient_quota", "billing_hard_limit_reached", "insufficient_balance", "billing_error"];

/// The words for it, in lowercase, of endpoints that give no code.
const QUOTA_WORDS: &str = "exceeded your current quota";

/// One failed try.
#[derive(Debug)]
pub(super) enum Trouble {
    /// No client, hence no connection; another try would end the same.
    Unusable { detail: String },
    /// No connection, or one that ended before a status line.
    NoConnection { detail: String },
    /// Another status than success, or an error object under a success.
    Status { status: u16, complaint: Complaint, retry_after: Option<Duration> },
    /// A redirect, which is never followed.
    Redirect { status: u16, target: Option<String> },
    /// Silence for too long.
    Silence,
    /// A success whose body ended early.
    Cut { detail: String },
    /// A success whose body is no answer.
    Unreadable { detail: String, text: String },
    /// An answer whose text the reader refuses.
    Reader { error: ReaderError, content: String },
    /// More than the model's context holds; nothing was sent.
    DoesNotFit { needed: u64, room: u64 },
    /// More than is left to spend; nothing was sent.
    OverBudget { detail: String },
}

/// How an ask ended that got nowhere.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ended {
    pub(super) tries: u32,
    pub(super) why: Why,
    pub(super) elapsed: Duration,
    /// What all its tries cost.
    pub(super) usage: Usage,
}

impl Trouble {
    /// Whether the endpoint took in the prompt, so that it may charge for it.
    pub(super) fn was_read(&self) -> bool {
        matches!(self, Self::Silence | Self::Cut { .. } | Self::Unreadable { .. } | Self::Reader { .. })
    }

    /// Whether the endpoint says that it is asked too often at once; a spent quota is none of that.
    pub(super) fn was_too_many(&self) -> bool {
        matches!(self, Self::Status { status: 429 | 529, .. }) && !self.is_quota()
    }

    /// Whether the account's quota is used up, for which no wait helps: by the endpoint's code, or by its words where it
    /// asks for no wait. Some endpoints use the same words for a limit per minute, and then say how long to wait.
    fn is_quota(&self) -> bool {
        let Self::Status { complaint, retry_after, .. } = self else { return false };
        let message = complaint.message.to_ascii_lowercase();
        [&complaint.code, &complaint.kind].into_iter().flatten().any(|word| QUOTA_CODES.contains(&word.as_str()))
            || (retry_after.is_none() && message.contains(QUOTA_WORDS) && !message.contains("retry in"))
    }

    /// In a few words, for whoever waits.
    pub(super) fn in_words(&self, scrubber: &Scrubber) -> String {
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

    /// What the retry policy needs to know.
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

    /// The complaint, where a plainer request might be taken.
    pub(super) fn refused_part(&self) -> Option<&Complaint> {
        if let Self::Status { status: 400 | 422, complaint, .. } = self { Some(complaint) } else { None }
    }

    /// What the role is told. Every text from outside is scrubbed of the key, escaped and shortened.
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

/// Whether a status may pass by itself: busy, broken for the moment, overloaded.
pub(crate) fn may_pass(status: u16) -> bool {
    matches!(status, 408 | 429 | 500 | 502..=504 | 507..=599)
}

fn ending(tries: u32, why: Why) -> String {
    match why {
        Why::Pointless => String::new(),
        Why::TriesSpent => format!(" (after {tries} tries)"),
        Why::TimeSpent => format!(" (after {tries} tries; the time for retries is spent)"),
        Why::WaitTooLong { asked } => format!(" (it asks to wait {} s, longer than allowed)", asked.as_secs()),
    }
}

/// A reader's words may quote a piece of the reply.
fn scrubbed(mut failure: ModelFailure, scrubber: &Scrubber) -> ModelFailure {
    if let ModelFailure::Unreadable { detail, excerpt, .. } = &mut failure {
        for text in [detail, excerpt] {
            *text = scrubber.shown(text, DETAIL_CHARS);
        }
    }
    failure
}
