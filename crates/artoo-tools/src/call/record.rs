//! Step 9, record: the output is stored as evidence, and the record becomes the call's outcome.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::SystemTime;

use artoo_proto::{Approval, CallStatus, KeptOutput, Timestamp, ToolOutcome};

use super::{Context, stopped};
use crate::evidence::KeptCall;
use crate::limit::Stopped;
use crate::record::Record;
use crate::secret;

/// Number of bytes stored after which the evidence store is swept again.
const SWEEP_EVERY_BYTES: u64 = 64 * 1024 * 1024;

/// Stores the output of a call as evidence and returns its outcome; an output that can't be stored is not named in it.
pub(super) fn report(context: &Context, record: Record, approval: Option<Approval>) -> ToolOutcome {
    let unstored = outcome(context, record.clone(), approval.clone());
    *context.outcome.lock().unwrap_or_else(PoisonError::into_inner) = Some(unstored);
    outcome(context, Record { kept: store(context, &record), ..record }, approval)
}

/// The outcome of a call whose steps did not end in time: its report without stored evidence, or a record that says so.
pub(super) fn stopped_report(context: &Context, why: Stopped) -> ToolOutcome {
    let unstored = context.outcome.lock().unwrap_or_else(PoisonError::into_inner).take();
    unstored.unwrap_or_else(|| outcome(context, stopped(why), None))
}

/// The outcome of a call with this record; keys and tokens are removed from its text unless it was approved or the
/// model is trusted.
fn outcome(context: &Context, mut record: Record, approval: Option<Approval>) -> ToolOutcome {
    let config = &context.machine.config;
    // The evidence is whole, but without an approval the model sees no keys.
    if approval.is_none() && !config.trusts_model {
        record.text = secret::without_keys(record.text);
    }
    let target = context.target.get().cloned().unwrap_or_default();
    let call = record.into_call(&context.order, target, approval, context.deadline.elapsed(), config.output_max_chars);
    ToolOutcome::Called { call }
}

/// Stores a call's output as evidence unless the tool did so or it was denied, and returns the stored outputs. Notes
/// the call in the store, and sweeps the store after [`SWEEP_EVERY_BYTES`].
fn store(context: &Context, record: &Record) -> Vec<KeptOutput> {
    let machine = &context.machine;
    let has_output = record.status != CallStatus::Denied && !(record.kept.is_empty() && record.text.is_empty());
    let Some(store) = machine.config.evidence.as_ref().filter(|_| has_output) else { return record.kept.clone() };
    let mut kept = record.kept.clone();
    if kept.is_empty() {
        kept.extend(store.keep("output", &record.text));
        // A tool that shows a part of its output has only that part as text.
        for kept in kept.iter_mut().filter(|_| record.truncated) {
            kept.left_out = record.output_bytes.map_or(1, |all| all.saturating_sub(kept.bytes).max(1));
        }
    }
    if !kept.is_empty() {
        let order = &context.order;
        let (task_id, evidence_id) = (order.task_id.clone(), order.evidence_id.clone());
        // Without this line the output can still be found by its digest.
        drop(store.note(KeptCall {
            at: now(),
            task_id,
            evidence_id,
            tool: order.request.tool.clone(),
            kept: kept.clone(),
        }));
    }
    let bytes: u64 = kept.iter().map(|kept| kept.bytes).sum();
    if machine.unswept.fetch_add(bytes, Ordering::Relaxed) + bytes > SWEEP_EVERY_BYTES {
        machine.unswept.store(0, Ordering::Relaxed);
        store.sweep(SystemTime::now());
        drop(store.prepare(now()));
    }
    kept
}

/// The present time of the wall clock, as rules that last for days need it.
pub(super) fn now() -> Timestamp {
    SystemTime::now().into()
}
