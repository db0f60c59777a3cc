//! How many similar events become one rule, and how a rule that stopped working is demoted and fades.

mod dissonance;
pub(crate) mod evidence;
mod promotion;
pub(crate) mod sop;
mod sweep;
mod thinking;

pub use evidence::{MAX_EVIDENCE, MAX_EVIDENCE_PER_SOURCE, MAX_EVIDENCE_PER_TASK, MIN_DISTINCT_TASKS};
pub use promotion::{Evidence, PROMOTE_ATTENTION, PROMOTE_DECISION, Promotion, PromotionTicket};
pub use sop::SopRecord;
pub use sweep::{FADED_ATTENTION, MAX_SWEEP_SHARE, SweepReport, SweepSkipped};
pub use thinking::{MIN_LEARNED_INTENTS, MIN_LEARNED_TASKS, ThinkingProposal};
