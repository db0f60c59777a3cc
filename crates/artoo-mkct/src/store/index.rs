//! From frames to keys: what each change of memory means for the index, and how far the index has come.

use std::{collections::BTreeMap, ops::ControlFlow};

use serde::{Deserialize, Serialize};

use super::{Change, Store, StoreError, rfc3339};
use crate::{Frame, Level, Megram, MegramId, Offset, key, quantization::DEMOTED_DECAY};

/// Key of the index's own place in the journal; sorts before every record's.
const POSITION_KEY: &[u8] = b"!journal";

/// How far an index has come, written with every batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Position {
    /// The journal's generation.
    pub(crate) generation: u64,
    /// Up to where the journal is in the index.
    pub(crate) offset: Offset,
    /// Records that stand in the index.
    pub(crate) records: u64,
}

impl Position {
    pub(crate) const fn start(generation: u64) -> Self {
        Self { generation, offset: Offset(0), records: 0 }
    }
}

/// A store that follows a journal.
pub(crate) struct Index {
    store: Box<dyn Store>,
    position: Position,
}

impl Index {
    /// Takes up a store where it left off; a new one begins at the start of the journal.
    pub(crate) fn resume(mut store: Box<dyn Store>, generation: u64) -> Result<Self, StoreError> {
        let mismatch = |reason: &str| StoreError::Mismatch { reason: reason.to_owned() };
        let written = store.get(&[POSITION_KEY.to_vec()])?.into_iter().next().flatten();
        let mut levels = 0_u64;
        store.scan(b"l|", &mut |_, _| {
            levels += 1;
            ControlFlow::Continue(())
        })?;
        let position: Position = match written {
            Some(written) => serde_json::from_slice(&written).map_err(|_| mismatch("its place is unreadable"))?,
            None if levels == 0 => Position::start(generation),
            None => return Err(mismatch("it holds records but no place in the journal")),
        };
        if position.records != levels {
            return Err(mismatch("it holds another number of records than it says"));
        }
        if position.generation != generation {
            return Err(mismatch("it follows another generation of the journal"));
        }
        Ok(Self { store, position })
    }

    pub(crate) fn position(&self) -> Position {
        self.position
    }

    /// Takes in frames; `end` is where the journal goes on after them.
    pub(crate) fn apply(&mut self, frames: &[Frame], end: Offset) -> Result<(), StoreError> {
        let mut batch = Batch::prepare(self.store.as_mut(), frames)?;
        let mut records = self.position.records;
        for frame in frames {
            batch.take(frame, &mut records)?;
        }
        let position = Position { offset: end, records, ..self.position };
        self.commit(batch, position)
    }

    /// The journal was rewritten; what stands here stands there.
    pub(crate) fn follow(&mut self, generation: u64, end: Offset) -> Result<(), StoreError> {
        self.commit(Batch::default(), Position { generation, offset: end, ..self.position })
    }

    fn commit(&mut self, mut batch: Batch, position: Position) -> Result<(), StoreError> {
        batch.changes.insert(POSITION_KEY.to_vec(), Some(json(&position)?));
        self.store.write(batch.into_changes())?;
        self.position = position;
        Ok(())
    }

    /// Every record and the time of its last recall, by id.
    pub(crate) fn records(&mut self) -> Result<BTreeMap<MegramId, Megram>, StoreError> {
        let mut records = BTreeMap::new();
        let mut unreadable = 0_usize;
        self.store.scan(b"m|", &mut |_, value| {
            match serde_json::from_slice::<Megram>(value) {
                Ok(megram) => drop(records.insert(megram.id, megram)),
                Err(_) => unreadable += 1,
            }
            ControlFlow::Continue(())
        })?;
        if unreadable > 0 {
            return Err(StoreError::Mismatch { reason: format!("{unreadable} records are unreadable") });
        }
        Ok(records)
    }

    /// Checks that every record has exactly its keys.
    pub(crate) fn check(&mut self) -> Result<u64, StoreError> {
        let records = self.records()?;
        let mut expected: Vec<String> = Vec::with_capacity(records.len() * 2);
        for megram in records.values() {
            expected.push(key::tag_key(&megram.space, &megram.entity, megram.id));
            expected.push(key::level_key(megram.level, megram.id));
        }
        expected.sort_unstable();
        let mut found = Vec::with_capacity(expected.len());
        for prefix in [b"l|", b"x|"] {
            self.store.scan(prefix, &mut |key, _| {
                found.push(String::from_utf8_lossy(key).into_owned());
                ControlFlow::Continue(())
            })?;
        }
        if found != expected || records.len() as u64 != self.position.records {
            return Err(StoreError::Mismatch { reason: "keys and records do not belong together".to_owned() });
        }
        Ok(self.position.records)
    }

    pub(crate) fn close(self) -> Result<(), StoreError> {
        self.store.close()
    }
}

/// Changes of one batch, over the records they start from.
#[derive(Default)]
struct Batch {
    changes: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
    records: BTreeMap<MegramId, Option<Megram>>,
}

impl Batch {
    /// Reads the records that the frames speak of, before anything is written.
    fn prepare(store: &mut dyn Store, frames: &[Frame]) -> Result<Self, StoreError> {
        let mut ids: Vec<MegramId> = frames.iter().flat_map(named).collect();
        ids.sort_unstable();
        ids.dedup();
        let keys: Vec<Vec<u8>> = ids.iter().map(|id| key::record_key(*id).into_bytes()).collect();
        let mut records = BTreeMap::new();
        if !keys.is_empty() {
            for (id, value) in ids.into_iter().zip(store.get(&keys)?) {
                let record = value.map(|value| serde_json::from_slice(&value)).transpose();
                let reason = || StoreError::Mismatch { reason: format!("the record {id} is unreadable") };
                records.insert(id, record.map_err(|_| reason())?);
            }
        }
        Ok(Self { changes: BTreeMap::new(), records })
    }

    fn take(&mut self, frame: &Frame, count: &mut u64) -> Result<(), StoreError> {
        match frame {
            Frame::Written { megram } => self.add(megram, count)?,
            Frame::Promoted { rule, supersedes, .. } => {
                if let Some(replaced) = supersedes {
                    self.remove(*replaced, count);
                }
                self.add(rule, count)?;
            }
            Frame::Recalled { ids, at_ms } => {
                for id in ids.iter().filter(|id| self.record(**id).is_some()).copied().collect::<Vec<_>>() {
                    self.put(key::recall_key(id), rfc3339::format(*at_ms).into_bytes());
                }
            }
            Frame::Demoted { id, at_ms } => {
                if let Some(mut rule) = self.record(*id).filter(|rule| rule.level == Level::C).cloned() {
                    self.changes.insert(key::level_key(rule.level, *id).into_bytes(), None);
                    (rule.level, rule.k, rule.demoted_at_ms) = (Level::K, DEMOTED_DECAY, Some(*at_ms));
                    self.set(&rule)?;
                }
            }
            Frame::Deleted { ids, .. } => {
                for id in ids {
                    self.remove(*id, count);
                }
            }
            Frame::Marked { .. } | Frame::Attempted { .. } => {}
        }
        Ok(())
    }

    fn record(&self, id: MegramId) -> Option<&Megram> {
        self.records.get(&id).and_then(Option::as_ref)
    }

    fn add(&mut self, megram: &Megram, count: &mut u64) -> Result<(), StoreError> {
        if self.record(megram.id).is_none() {
            *count += 1;
            self.set(megram)?;
        }
        Ok(())
    }

    fn set(&mut self, megram: &Megram) -> Result<(), StoreError> {
        self.put(key::record_key(megram.id), json(megram)?);
        self.put(key::tag_key(&megram.space, &megram.entity, megram.id), Vec::new());
        self.put(key::level_key(megram.level, megram.id), Vec::new());
        self.records.insert(megram.id, Some(megram.clone()));
        Ok(())
    }

    fn remove(&mut self, id: MegramId, count: &mut u64) {
        let Some(megram) = self.records.insert(id, None).flatten() else { return };
        *count = count.saturating_sub(1);
        let keys = [
            key::record_key(id),
            key::tag_key(&megram.space, &megram.entity, id),
            key::level_key(megram.level, id),
            key::recall_key(id),
        ];
        self.changes.extend(keys.map(|key| (key.into_bytes(), None)));
    }

    fn put(&mut self, key: String, value: Vec<u8>) {
        self.changes.insert(key.into_bytes(), Some(value));
    }

    fn into_changes(self) -> Vec<Change> {
        let change = |(key, value)| match value {
            Some(value) => Change::Put { key, value },
            None => Change::Delete { key },
        };
        self.changes.into_iter().map(change).collect()
    }
}

/// The records whose present state decides what a frame changes.
fn named(frame: &Frame) -> Vec<MegramId> {
    match frame {
        Frame::Written { megram } => vec![megram.id],
        Frame::Promoted { rule, supersedes, .. } => std::iter::once(rule.id).chain(*supersedes).collect(),
        Frame::Recalled { ids, .. } | Frame::Deleted { ids, .. } => ids.clone(),
        Frame::Demoted { id, .. } => vec![*id],
        Frame::Marked { .. } | Frame::Attempted { .. } => Vec::new(),
    }
}

fn json(value: &impl Serialize) -> Result<Vec<u8>, StoreError> {
    serde_json::to_vec(value).map_err(|error| StoreError::Backend { reason: error.to_string() })
}
