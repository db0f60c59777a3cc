//! Every bound of the roles on one page, each with its reason.

/// The longest request taken, in bytes: a long letter with attachments pasted in, far from a model's window.
#[doc(alias = "limit")]
pub const REQUEST_MAX_BYTES: usize = 64 * 1024;
/// Turns of the session a request resolves against (the spec's last five).
pub const SESSION_TURNS: usize = 5;
/// Rounds of questions R1 may ask (decision D11).
#[doc(alias = "limit")]
pub const CLARIFICATION_ROUNDS: u32 = 2;
/// Subtasks of one plan: one for each of a few dozen files; a longer plan was not thought through.
#[doc(alias = "limit")]
pub const SUBTASKS_MAX: usize = 64;
/// Criteria of one subtask or task: more means one assertion was split into words.
pub const CRITERIA_MAX: usize = 16;
/// Drafts R2 may write in one round before R7 is told: a first one and two that know the problems.
#[doc(alias = "limit")]
pub const PLAN_DRAFTS_MAX: u32 = 3;
/// The fast loop's retries (the spec's `maxRetries`).
#[doc(alias = "limit")]
pub const RETRIES_MAX: u32 = 2;
/// Tool calls of one attempt: an endless loop ends here (fault L34).
#[doc(alias = "limit")]
pub const CALLS_PER_ATTEMPT: u32 = 8;
/// Model replies of one attempt that led to no new call, before the attempt counts as failed.
pub const IDLE_REPLIES_MAX: u32 = 2;
/// Calls a model may ask for in one reply.
pub const CALLS_PER_REPLY: usize = 4;
/// How long R2 waits for memory before it plans without it: recall takes microseconds, so silence is a fault.
pub const RECALL_WAIT_MS: u64 = 2_000;
/// How long the dispatcher waits for one subtask: three attempts of eight calls with their model replies.
#[doc(alias = "limit")]
pub const SUBTASK_WAIT_MS: u64 = 600_000;
/// A task's hard limit where the user set none (decision G20).
#[doc(alias = "limit")]
pub const HARD_LIMIT_MS: u64 = 30 * 60 * 1000;
/// Characters of one earlier output passed on to the next group.
pub const CONTEXT_OUTPUT_CHARS: usize = 4_000;
/// Characters of one tool output shown to a model (the spec's `headTail(result, 4000)`).
#[doc(alias = "limit")]
pub const EVIDENCE_CHARS: usize = 4_000;
/// Characters of a whole block of outside text in a prompt: a few evidence-sized pieces.
pub const FENCE_CHARS: usize = 24_000;
/// Characters of all tool outputs in one prompt together: with many calls each gets its share.
pub const EVIDENCE_TOTAL_CHARS: usize = 64_000;
/// Characters a tool output keeps however many share a prompt: enough to see what it is.
pub const EVIDENCE_MIN_CHARS: usize = 400;
/// Characters of one entry of a list in a prompt: a claim or a path, not a payload.
pub const ENTRY_CHARS: usize = 600;
/// Characters of the intent in a result's summary: a line or two on a terminal.
pub const SUMMARY_CHARS: usize = 300;
/// Characters of a task's label.
pub const LABEL_CHARS: usize = 60;
/// Entries of memory advice in a prompt (decision M16).
pub const ADVICE_MAX: usize = 10;
/// Reply caps, in tokens: a plan is the longest thing a role writes.
pub const REPLY_TOKENS: u32 = 4_096;
/// Characters of one long text in a reply (an answer, a file's content, a step's context): four of them, one for each
/// call of a reply, fill its cap. A model that runs on ends here, where its server keeps to the schema.
pub const REPLY_TEXT_CHARS: usize = 4_000;
/// Characters of a goal in a reply: the one or two sentences asked for, with a long path or two in them.
pub const REPLY_GOAL_CHARS: usize = 800;
/// Characters of a remark in a reply (a reason, an assertion, what was seen): a sentence or two.
pub const REPLY_REMARK_CHARS: usize = 320;
/// Characters of a path or a scope in a reply: far deeper than folders go that people name.
pub const REPLY_PATH_CHARS: usize = 400;
/// Characters of an evidence id in a reply: eight of its subtask, and a number.
pub const REPLY_CITE_CHARS: usize = 16;
/// Calls that one verdict may cite: a claim that rests on more is more than one claim.
pub const REPLY_CITES: usize = 8;
/// Subtasks in one reply: what a reply of its cap can describe well.
pub const REPLY_SUBTASKS: usize = 12;
/// Criteria of one place in a plan's reply: more say the same again.
pub const REPLY_CRITERIA: usize = 6;
/// Entries of any list inside a call's input: more is a job for a pattern or a command.
pub const REPLY_ITEMS: usize = 16;
/// Tasks of one process whose end is remembered, to tell a late message from a new task.
pub const ENDED_REMEMBERED: usize = 1_024;
/// Panics of R7 in one task that R7 itself is asked to report; after that the System says it in its place, so that a
/// defect in R7's ending can't keep a task open for ever.
pub const SOLVER_PANICS_MAX: u32 = 3;
/// Characters of an effect's digest on the tap.
pub const DIGEST_CHARS: usize = 300;
