//! What a call put out, settled in the evidence store before its record is given back.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

use artoo_proto::{CallStatus, KeptOutput, ToolOrder};

use super::Registry;
use super::leave::now;
use crate::evidence::KeptCall;
use crate::limit::blocking;
use crate::record::Record;

/// Bytes kept after which the store is swept again: a part of what it may hold in all.
const SWEEP_EVERY_BYTES: u64 = 64 * 1024 * 1024;

/// Longest a call waits for its evidence to be written; a disk that is slower loses it, and the record names none.
const KEEPING: Duration = Duration::from_secs(10);

impl Registry {
    /// Keeps the output of a call that did something. What can't be kept is not named in the record.
    pub(super) async fn keep(&self, context: &ToolOrder, record: Record) -> Record {
        let nothing = record.status == CallStatus::Denied || (record.kept.is_empty() && record.text.is_empty());
        let Some(store) = self.machine.config.evidence.clone().filter(|_| !nothing) else { return record };
        let streams = record.kept.clone();
        let (task_id, evidence_id) = (context.task_id.clone(), context.evidence_id.clone());
        let tool = context.request.tool.clone();
        // Shared, so that the record is still there when the disk does not answer.
        let record = Arc::new(record);
        let (shared, machine) = (Arc::clone(&record), Arc::clone(&self.machine));
        let kept = blocking(KEEPING, move |_| {
            let kept: Vec<KeptOutput> = match streams.is_empty() {
                true => {
                    // The text of a tool that shows a part of what there is holds no more than that part.
                    let known = store.keep("output", &shared.text).into_iter();
                    let left_out = |kept: u64| shared.output_bytes.map_or(1, |all| all.saturating_sub(kept).max(1));
                    known
                        .map(|kept| match shared.truncated {
                            true => KeptOutput { left_out: left_out(kept.bytes), ..kept },
                            false => kept,
                        })
                        .collect()
                }
                false => streams,
            };
            drop(shared);
            if !kept.is_empty() {
                // Without its line an item is still found by its digest.
                drop(store.note(KeptCall { at: now(), task_id, evidence_id, tool, kept: kept.clone() }));
            }
            let bytes: u64 = kept.iter().map(|kept| kept.bytes).sum();
            if machine.unswept.fetch_add(bytes, Ordering::Relaxed) + bytes > SWEEP_EVERY_BYTES {
                machine.unswept.store(0, Ordering::Relaxed);
                store.sweep(SystemTime::now());
                drop(store.prepare(now()));
            }
            kept
        });
        let kept = kept.await.unwrap_or_default();
        Record { kept, ..Arc::unwrap_or_clone(record) }
    }
}
