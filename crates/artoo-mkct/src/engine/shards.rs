//! A hash map in copy-on-write parts (shards): a clone shares all of them, and a change after the clone copies one.

use std::{
    borrow::Borrow,
    collections::{HashMap, hash_map::RandomState},
    hash::{BuildHasher, Hash},
    sync::Arc,
};

/// Number of shards: in a map of a million keys, a change after a clone copies about four thousand.
const SHARDS: u64 = 256;

/// A hash map that clones in constant time. The hash is keyed, since an attacker may choose the keys.
#[derive(Debug, Clone)]
pub(crate) struct Shards<K, V> {
    shards: Arc<Vec<Arc<HashMap<K, V>>>>,
    hasher: RandomState,
    len: usize,
}

impl<K, V> Default for Shards<K, V> {
    fn default() -> Self {
        Self { shards: Arc::default(), hasher: RandomState::new(), len: 0 }
    }
}

impl<K: Hash + Eq + Clone, V: Clone> Shards<K, V> {
    /// Number of entries in the map.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The value of a key; `None` if the key is missing.
    pub(crate) fn get<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.shards.get(self.shard_of(key))?.get(key)
    }

    /// The value of a key, to be changed; copies the key's shard if a clone shares it.
    pub(crate) fn get_mut<Q: Hash + Eq + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let shard = self.shard_of(key);
        if !self.shards.get(shard)?.contains_key(key) {
            return None;
        }
        Arc::make_mut(Arc::make_mut(&mut self.shards).get_mut(shard)?).get_mut(key)
    }

    /// Adds or replaces an entry; copies the key's shard if a clone shares it.
    pub(crate) fn insert(&mut self, key: K, value: V) {
        let shard = self.shard_of(&key);
        let shards = Arc::make_mut(&mut self.shards);
        if shards.is_empty() {
            shards.resize_with(SHARDS as usize, Arc::default);
        }
        if let Some(shard) = shards.get_mut(shard)
            && Arc::make_mut(shard).insert(key, value).is_none()
        {
            self.len += 1;
        }
    }

    /// Removes a key and returns its value; `None` if the key is missing.
    pub(crate) fn remove<Q: Hash + Eq + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        self.get(key)?;
        let shard = self.shard_of(key);
        let removed = Arc::make_mut(Arc::make_mut(&mut self.shards).get_mut(shard)?).remove(key);
        self.len -= usize::from(removed.is_some());
        removed
    }

    /// All entries, in no particular order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.shards.iter().flat_map(|shard| shard.iter())
    }

    /// The index of the shard that a key belongs to.
    fn shard_of<Q: Hash + ?Sized>(&self, key: &Q) -> usize {
        (self.hasher.hash_one(key) % SHARDS) as usize
    }
}
