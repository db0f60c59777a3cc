//! All rows of an engine (one per record of level M or K), found by slot (row number) and by record id.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    engine::{
        pages::Pages,
        row::{KIND_BYTES, ROW_BYTES, Row, id_of, is_dead, kill},
        shards::Shards,
    },
    record::MegramId,
};

/// Number of rows that may be out of order, or deleted, before the order is rebuilt, in addition to a share of all
/// rows.
const MIN_LATE: usize = 1_024;
/// Divisor of the number of all rows: the share that may be out of order in addition to [`MIN_LATE`].
const LATE_SHARE: usize = 64;

/// All rows, each in a numbered slot.
///
/// Ids mostly arrive in increasing order, so the order is a list that grows at its end; ids that arrive late are in a
/// small map. A deleted row keeps its slot until the order is rebuilt.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rows {
    /// Encoded rows, by slot.
    pub(super) rows: Pages<[u8; ROW_BYTES], 1_024>,
    /// Slots of the rows in order of their ids, without the rows in `late`.
    pub(super) order: Pages<u32, 4_096>,
    /// Slots of the rows whose id arrived out of order, by id.
    late: Arc<BTreeMap<MegramId, u32>>,
    /// Slots that can be used for new rows.
    pub(super) free: Arc<Vec<u32>>,
    /// Number of deleted rows whose slots are not free yet.
    dead: usize,
    /// Distinct combinations of magnitude, valence, decay, state, level and failure class; rows store the index of one.
    pub(super) kinds: Pages<[u8; KIND_BYTES], 256>,
    /// The index in `kinds` of each combination.
    kind_numbers: Shards<[u8; KIND_BYTES], u32>,
    /// When the decay of a row began, Unix milliseconds, by slot; only for rows where it is not the time in the id.
    pub(super) starts: Shards<u32, i64>,
}

impl Rows {
    /// Number of rows, without deleted ones.
    pub(crate) fn len(&self) -> usize {
        self.rows.len() - self.free.len() - self.dead
    }

    /// The decoded row in a slot; `None` if the slot is missing or its row deleted.
    pub(crate) fn get(&self, slot: u32) -> Option<Row> {
        let bytes = self.rows.get(slot as usize)?;
        Row::decode(bytes, |kind| self.kinds.get(kind as usize).copied(), || self.starts.get(&slot).copied())
    }

    /// Replaces the row in a slot.
    pub(crate) fn set(&mut self, slot: u32, row: &Row) {
        let bytes = self.encode(slot, row);
        if let Some(place) = self.rows.get_mut(slot as usize) {
            *place = bytes;
        }
    }

    /// The bytes of a row that is to stand in a slot; also stores, if new, the start of its decay and its combination of
    /// magnitude, valence, decay, state, level and failure class, to which the bytes refer.
    fn encode(&mut self, slot: u32, row: &Row) -> [u8; ROW_BYTES] {
        if row.starts_apart() {
            if self.starts.get(&slot) != Some(&row.start_ms) {
                self.starts.insert(slot, row.start_ms);
            }
        } else {
            self.starts.remove(&slot);
        }
        let kind = row.kind();
        let number = self.kind_numbers.get(&kind).copied().unwrap_or_else(|| self.add_kind(kind));
        row.encode(number)
    }

    /// Adds a combination; returns its index in `kinds`.
    pub(super) fn add_kind(&mut self, kind: [u8; KIND_BYTES]) -> u32 {
        let number = self.kinds.len() as u32;
        self.kinds.push(kind);
        self.kind_numbers.insert(kind, number);
        number
    }

    /// The slot of a record; `None` if the record has no row.
    pub(crate) fn slot(&self, id: MegramId) -> Option<u32> {
        if let Some(slot) = self.late.get(&id) {
            return Some(*slot);
        }
        let (mut low, mut high) = (0, self.order.len());
        while low < high {
            let middle = low.midpoint(high);
            let slot = *self.order.get(middle)?;
            match self.id_at(slot)?.cmp(&id) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return self.live(slot).map(|_| slot),
            }
        }
        None
    }

    /// The greatest id in `order`, also of a deleted row; a greater id can be appended to the order.
    pub(crate) fn newest_id(&self) -> Option<MegramId> {
        self.order.last().and_then(|slot| self.id_at(*slot))
    }

    /// Adds a row in a free or new slot; returns the slot.
    pub(crate) fn insert(&mut self, row: &Row) -> u32 {
        let slot = if let Some(slot) = Arc::make_mut(&mut self.free).pop() {
            self.set(slot, row);
            slot
        } else {
            let slot = self.rows.len() as u32;
            let bytes = self.encode(slot, row);
            self.rows.push(bytes);
            slot
        };
        if self.newest_id().is_none_or(|newest| newest < row.id) {
            self.order.push(slot);
        } else {
            Arc::make_mut(&mut self.late).insert(row.id, slot);
            if self.late.len() > MIN_LATE + self.order.len() / LATE_SHARE {
                self.reorder();
            }
        }
        slot
    }

    /// Marks a row as deleted.
    pub(crate) fn remove(&mut self, slot: u32) {
        let Some(bytes) = self.rows.get_mut(slot as usize).filter(|bytes| !is_dead(bytes)) else { return };
        kill(bytes);
        let id = id_of(bytes);
        self.starts.remove(&slot);
        self.dead += 1;
        if self.late.contains_key(&id) {
            Arc::make_mut(&mut self.late).remove(&id);
        }
        if self.dead > MIN_LATE + self.order.len() / 2 {
            self.reorder();
        }
    }

    /// Ids and slots (row numbers) of all rows that are not deleted, in order of id.
    pub(crate) fn by_id(&self) -> impl Iterator<Item = (MegramId, u32)> {
        let ordered = self.order.iter().filter_map(|slot| self.live(*slot));
        merged(ordered, self.late.iter().map(|(id, slot)| (*id, *slot)), |a, b| a < b)
    }

    /// Ids and slots of all rows, newest id first.
    pub(crate) fn by_id_newest_first(&self) -> impl Iterator<Item = (MegramId, u32)> {
        let ordered = self.order.iter().rev().filter_map(|slot| self.live(*slot));
        merged(ordered, self.late.iter().rev().map(|(id, slot)| (*id, *slot)), |a, b| a > b)
    }

    /// Slots (row numbers) of deleted rows, which new rows may take.
    pub(super) fn vacant(&self) -> Vec<u32> {
        self.rows.iter().zip(0..).filter(|(bytes, _)| is_dead(bytes)).map(|(_, slot)| slot).collect()
    }

    /// The id and slot of the row in a slot; `None` if the row is deleted.
    fn live(&self, slot: u32) -> Option<(MegramId, u32)> {
        self.rows.get(slot as usize).filter(|bytes| !is_dead(bytes)).map(|bytes| (id_of(bytes), slot))
    }

    /// The id of the row in a slot, deleted or not.
    fn id_at(&self, slot: u32) -> Option<MegramId> {
        self.rows.get(slot as usize).map(id_of)
    }

    /// Rebuilds the order of ids and frees the slots of deleted rows.
    fn reorder(&mut self) {
        let order = self.by_id().map(|(_, slot)| slot).collect();
        self.free = Arc::new(self.vacant());
        self.order = order;
        self.late = Arc::default();
        self.dead = 0;
    }
}

/// Merges two sequences of ids and slots that have no id in common; `first` tells which of two ids comes first.
fn merged(
    a: impl Iterator<Item = (MegramId, u32)>,
    b: impl Iterator<Item = (MegramId, u32)>,
    first: fn(MegramId, MegramId) -> bool,
) -> impl Iterator<Item = (MegramId, u32)> {
    let (mut a, mut b) = (a.peekable(), b.peekable());
    std::iter::from_fn(move || match (a.peek(), b.peek()) {
        (Some(left), Some(right)) if first(right.0, left.0) => b.next(),
        (None, _) => b.next(),
        (Some(_), _) => a.next(),
    })
}
