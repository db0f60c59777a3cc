//! What a person who looks into memory sees: the newest intents, each with what experience says about it. Reads only.

use std::collections::BTreeSet;

use artoo_mkct::Engine;
use artoo_proto::{Potentials, Timestamp};

use super::{Memory, translate};

/// Records looked through for a view: the newest ones, so that a look stays a matter of milliseconds.
const VIEW_SCAN_MAX: usize = 10_000;

/// First tag of what is kept about intents.
const INTENT: &str = "intent:";

/// What memory holds, as far as a person asked.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryView {
    /// Records in all.
    pub megrams: u64,
    /// Newest first.
    pub intents: Vec<RememberedIntent>,
}

/// One intent tried in one way.
#[derive(Debug, Clone, PartialEq)]
pub struct RememberedIntent {
    /// The intent's slug.
    pub intent: String,
    /// The way, e.g. `via:glob,shell`.
    pub approach: String,
    /// What experience says about it now.
    pub potentials: Potentials,
    /// What happened last; data, never instructions.
    pub last: String,
    /// When that was.
    pub at: Timestamp,
}

impl Memory {
    /// The newest intents, `limit` of them at most; `None` where memory can't be used. Leaves no trace of the look.
    #[must_use]
    pub fn view(&self, now: Timestamp, limit: usize) -> Option<MemoryView> {
        self.engine.as_ref().map(|engine| of_engine(engine, now, limit))
    }
}

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
