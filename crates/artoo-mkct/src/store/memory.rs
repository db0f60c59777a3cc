//! The index in memory: for tests and for those who want no LevelDB.

use std::{collections::BTreeMap, ops::ControlFlow};

use super::{Change, Store, StoreError, Visit};

/// Keys and values in memory; gone when dropped.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MemoryStore {
    entries: BTreeMap<Vec<u8>, Vec<u8>>,
}

impl Store for MemoryStore {
    fn get(&mut self, keys: &[Vec<u8>]) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        Ok(keys.iter().map(|key| self.entries.get(key).cloned()).collect())
    }

    fn scan(&mut self, prefix: &[u8], visit: &mut Visit<'_>) -> Result<(), StoreError> {
        for (key, value) in self.entries.range(prefix.to_vec()..).take_while(|(key, _)| key.starts_with(prefix)) {
            if visit(key, value) == ControlFlow::Break(()) {
                break;
            }
        }
        Ok(())
    }

    fn write(&mut self, changes: Vec<Change>) -> Result<(), StoreError> {
        for change in changes {
            match change {
                Change::Put { key, value } => drop(self.entries.insert(key, value)),
                Change::Delete { key } => drop(self.entries.remove(&key)),
            }
        }
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<(), StoreError> {
        Ok(())
    }
}
