//! The limits of all roles, each with its reason.

/// Maximum length of a user's request, in bytes: enough for a long letter with attachments pasted in.
#[doc(alias = "limit")]
pub const REQUEST_MAX_BYTES: usize = 64 * 1024;
/// Maximum length of the text that a user gives with a request (its material), in bytes: a large diff or log.
#[doc(alias = "limit")]
pub const MATERIAL_MAX_BYTES: usize = 1024 * 1024;
/// Maximum length of the material shown to a model, in characters; the middle of a longer one is left out. With the
/// outputs of earlier steps it fits into one fenced block.
#[doc(alias = "limit")]
pub const MATERIAL_CHARS: usize = 16_000;
/// Number of earlier session turns that a request can refer to: the newest ones, as in the specification.
pub const SESSION_TURNS: usize = 5;
/// Maximum number of questions that R1 (the Perceiver) asks the user about one request (decision D11).
#[doc(alias = "limit")]
pub const CLARIFICATION_ROUNDS: u32 = 2;
/// Maximum number of subtasks in one plan: enough for one for each of a few dozen files.
#[doc(alias = "limit")]
pub const SUBTASKS_MAX: usize = 64;
/// Maximum number of success criteria of one subtask, and of one task, in a plan. A longer list repeats itself.
pub const CRITERIA_MAX: usize = 16;
/// Maximum number of plan drafts that R2 (the Planner) requests in one round: a first one, and two whose prompts say
/// what was wrong with the earlier ones.
#[doc(alias = "limit")]
pub const PLAN_DRAFTS_MAX: u32 = 3;
/// Maximum number of retries of a subtask after its first attempt failed (the specification's `maxRetries`).
#[doc(alias = "limit")]
pub const RETRIES_MAX: u32 = 2;
/// Maximum number of tool calls in one attempt at a subtask without a recipe; it ends endless loops (fault L34).
#[doc(alias = "limit")]
pub const CALLS_PER_ATTEMPT: u32 = 8;
/// Maximum number of model replies in one attempt whose calls were all unusable; one more fails the attempt.
pub const IDLE_REPLIES_MAX: u32 = 2;
/// Maximum number of tool calls that a model may request in one reply.
pub const CALLS_PER_REPLY: usize = 4;
/// How long R2 (the Planner) waits for memory's answer before it plans without one, in milliseconds. A recall takes
/// microseconds, so a longer wait means that memory has failed.
pub const RECALL_WAIT_MS: u64 = 2_000;
/// Time limit of one subtask in milliseconds, set by the dispatcher: enough for three attempts of eight tool calls each
/// with their model replies.
#[doc(alias = "limit")]
pub const SUBTASK_WAIT_MS: u64 = 600_000;
/// Default time limit of a task, in milliseconds, if the user set none (decision G20).
#[doc(alias = "limit")]
pub const HARD_LIMIT_MS: u64 = 30 * 60 * 1000;
/// Maximum length of one subtask's output, in characters, when it is passed to later subtasks as context.
pub const CONTEXT_OUTPUT_CHARS: usize = 4_000;
/// Maximum length of one tool output shown to a model, in characters (the specification's `headTail(result, 4000)`).
#[doc(alias = "limit")]
pub const EVIDENCE_CHARS: usize = 4_000;
/// Maximum length of one fenced block of untrusted text in a prompt, in characters: a few tool outputs.
pub const FENCE_CHARS: usize = 24_000;
/// Maximum length of all tool outputs in one prompt together, in characters. Many outputs share it equally, but each
/// gets at least `EVIDENCE_MIN_CHARS`, so that very many exceed it.
pub const EVIDENCE_TOTAL_CHARS: usize = 64_000;
/// Minimum share of one tool output in a prompt, in characters, however many outputs there are: enough to recognise it.
pub const EVIDENCE_MIN_CHARS: usize = 400;
/// Maximum length of one list entry in a prompt, in characters: enough for a claim or a path.
pub const ENTRY_CHARS: usize = 600;
/// Maximum length of the intent, and of a failure's reason, in a task result's summary, in characters: a line or two on
/// a terminal.
pub const SUMMARY_CHARS: usize = 300;
/// Maximum length of a task's label (its short display name), in characters.
pub const LABEL_CHARS: usize = 60;
/// Maximum number of pieces of advice from memory in one prompt (decision M16).
pub const ADVICE_MAX: usize = 10;
/// Maximum number of running tasks for which memory stores what it recalled, to test at their end whether it helped.
pub const UNTESTED_TASKS_MAX: usize = 64;
/// Maximum number of adopted habits (level T) in one prompt.
pub const HABITS_MAX: usize = 3;
/// Maximum number of lessons from memory in one prompt.
pub const LESSONS_MAX: usize = 2;
/// Maximum length of the intent, the criterion and the fault in a lesson, in characters each.
pub const LESSON_CHARS: usize = 60;
/// Maximum number of next steps that a model may give at the end of an abandoned task.
pub const WORDED_STEPS_MAX: usize = 3;
/// Time to wait for a model's ending text of an abandoned task, in milliseconds.
pub const WORDING_WAIT_MS: u64 = 30_000;
/// Maximum length, in characters, of the text in an outcome that says what was wrong with an attempt.
pub const WRONG_CHARS: usize = 300;
/// Maximum length of the tool call that a recalled lesson shows, in characters.
pub const LESSON_INPUT_CHARS: usize = 200;
/// Maximum length of a memory rule that a model rewords, in characters.
pub const RULE_CHARS: usize = 300;
/// Maximum length of a model's reply that rewords a memory rule, in tokens; leaves room for a model that reasons first.
pub const RULE_TOKENS: u32 = 1_024;
/// Maximum number of memory rules that a model is asked to reword in one run, since each call may cost money.
pub const RULES_WORDED_MAX: usize = 8;
/// Maximum length, in characters, of the prompt text about what the last plan's subtasks did: about 300 tokens.
pub const TRIED_CHARS: usize = 1_200;
/// Maximum length of a model's reply to a role, in tokens: enough for a plan, the longest reply.
pub const REPLY_TOKENS: u32 = 4_096;
/// Maximum length of one long text in a reply (an answer, a file's content, a step's context), in characters. Four of
/// them, one for each call, fill a reply. It stops endless output only if the model's server enforces the schema.
pub const REPLY_TEXT_CHARS: usize = 4_000;
/// Maximum length of a goal (an intent) in a reply, in characters: one or two sentences with a long path or two.
pub const REPLY_GOAL_CHARS: usize = 800;
/// Maximum length of a remark in a reply (a reason, an assertion, an observation), in characters: a sentence or two.
pub const REPLY_REMARK_CHARS: usize = 320;
/// Maximum length of a path or a scope in a reply, in characters: longer than the paths that people name.
pub const REPLY_PATH_CHARS: usize = 400;
/// Maximum length of an evidence id in a reply, in characters: eight of the subtask's id, and a number.
pub const REPLY_CITE_CHARS: usize = 16;
/// Maximum number of tool calls that one verdict may cite as evidence.
pub const REPLY_CITES: usize = 8;
/// Maximum number of subtasks in a model's plan: as many as fit well into a reply of `REPLY_TOKENS`.
pub const REPLY_SUBTASKS: usize = 12;
/// Maximum number of success criteria in a model's plan for the task, and for each subtask; more repeat each other.
pub const REPLY_CRITERIA: usize = 6;
/// Maximum number of readings of the request in a model's plan, and of checks in one reading: a person confirms them.
pub const REPLY_READINGS: usize = 8;
/// Greatest part number of the request that a model's plan may refer to, far above the number of parts shown to a
/// model.
pub const REPLY_PARTS: u32 = 9_999;
/// Maximum number of entries of any list inside a tool call's input; for more, a model can use a pattern or a command.
pub const REPLY_ITEMS: usize = 16;
/// Age up to which an approval is still used when a task is resumed, in milliseconds; an older one is asked for again.
pub const APPROVAL_KEPT_MS: i64 = 5 * 60 * 1_000;
/// Number of ended tasks whose ids a process remembers, to tell a late message from the first message of a new task.
pub const ENDED_REMEMBERED: usize = 1_024;
/// Maximum number of panics of R7 (the Solver) in one task that R7 itself has to report. After one more, the System
/// ends the task in its place, so that a defect in R7 can't keep a task open forever.
pub const SOLVER_PANICS_MAX: u32 = 3;
/// Maximum length of an effect's summary in the event stream for observers (the tap), in characters.
pub const DIGEST_CHARS: usize = 300;
