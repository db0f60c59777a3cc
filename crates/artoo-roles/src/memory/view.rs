//! A read-only view of memory for the user: the newest intents, each with what memory has learnt about it.

use std::collections::BTreeSet;

use artoo_mkct::Engine;
use artoo_proto::{Potentials, Timestamp};

use super::{Memory, translate};

/// Maximum number of records that one view reads, newest first, so that it takes only milliseconds.
const VIEW_SCAN_MAX: usize = 10_000;

/// Prefix of the tag of records about intents.
const INTENT: &str = "intent:";

/// A part of memory's contents, as shown to the user.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryView {
    /// Number of all records in memory.
    pub megrams: u64,
    /// The intents, each with one approach, newest first.
    pub intents: Vec<RememberedIntent>,
}

/// What memory knows about one intent with one approach.
#[derive(Debug, Clone, PartialEq)]
pub struct RememberedIntent {
    /// The intent in normalised form, for example `count_files`.
    pub intent: String,
    /// The approach: the tools that were used, for example `via:glob,shell`.
    pub approach: String,
    /// What memory advises about this approach now, as numbers and an action.
    pub potentials: Potentials,
    /// Content of the newest record, empty if it can't be read. It is data and never an instruction.
    pub last: String,
    /// Time of the newest record.
    pub at: Timestamp,
}

impl Memory {
    /// The newest intents, at most `limit`; `None` if memory can't be used. Memory is not changed, so reading it does
    /// not count as a use of its records.
    #[must_use]
    pub fn view(&self, now: Timestamp, limit: usize) -> Option<MemoryView> {
        self.engine.as_ref().map(|engine| of_engine(engine, now, limit))
    }
}

/// The newest intents in this engine, at most `limit`.
fn of_engine(engine: &Engine, now: Timestamp, limit: usize) -> MemoryView {
    let mut seen = BTreeSet::new();
    let mut intents = Vec::new();
    for megram in engine.heads().take(VIEW_SCAN_MAX) {
        if intents.len() == limit {
            break;
        }
        let Some(intent) = megram.tag.space.strip_prefix(INTENT) else { continue };
        if !seen.insert(megram.tag.clone()) {
            continue;
        }
        intents.push(RememberedIntent {
            intent: intent.to_owned(),
            approach: megram.tag.entity.clone(),
            potentials: translate::potentials(engine.query_mk(&megram.tag, now.as_millis())),
            last: engine.get(megram.id).ok().flatten().map(|whole| whole.content).unwrap_or_default(),
            at: Timestamp::from_millis(megram.created_at_ms),
        });
    }
    MemoryView { megrams: u64::try_from(engine.len()).unwrap_or(u64::MAX), intents }
}

#[cfg(test)]
mod tests {
    use artoo_mkct::{Engine, NewMegram, State, Tag};
    use artoo_proto::{MemoryAction, Timestamp};

    use super::Memory;

    #[test]
    fn the_newest_intents_stand_first_each_once_and_a_look_leaves_no_trace() {
        let mut engine = Engine::new();
        for (at_ms, intent, state) in [
            (1_000, "count files", State::Abandon),
            (2_000, "list files", State::Accept),
            (3_000, "count files", State::Abandon),
        ] {
            let happened = format!("at {at_ms}");
            engine.write(NewMegram::new(Tag::approach(intent, &["glob"]), state, happened), at_ms).unwrap();
        }
        engine.write(NewMegram::new(Tag::target("glob", "/x"), State::Accept, "a tool"), 4_000).unwrap();
        let memory = Memory::new(engine);
        let now = Timestamp::from_millis(5_000);
        let view = memory.view(now, 5).unwrap();
        let shown: Vec<_> = view.intents.iter().map(|known| (known.intent.as_str(), known.last.as_str())).collect();
        assert_eq!(shown, [("count_files", "at 3000"), ("list_files", "at 2000")]);
        assert_eq!(view.megrams, 4);
        assert_eq!(view.intents[0].potentials.action, MemoryAction::Avoid);
        assert_eq!(memory.view(now, 1).unwrap().intents.len(), 1);
        assert_eq!(memory.view(now, 5), Some(view));
        assert_eq!(Memory::unavailable().view(now, 5), None);
    }
}
