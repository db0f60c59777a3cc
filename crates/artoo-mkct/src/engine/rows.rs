//! All rows, found by slot and by id.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    engine::{
        pages::Pages,
        row::{KIND_BYTES, ROW_BYTES, Row, id_of, is_dead, kill},
        shards::Shards,
    },
    record::MegramId,
};

/// Ids out of order that are kept aside before the order is made anew; and the share of all that may be, besides.
const MIN_LATE: usize = 1_024;
const LATE_SHARE: usize = 64;

/// Rows in slots. Ids mostly arrive in order, so their order is a list that grows at its end; those that do not wait
/// in a small map. A deleted row keeps its slot until the order is made anew, so that the order never lies.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rows {
    pub(super) rows: Pages<[u8; ROW_BYTES], 1_024>,
    pub(super) order: Pages<u32, 4_096>,
    late: Arc<BTreeMap<MegramId, u32>>,
    pub(super) free: Arc<Vec<u32>>,
    dead: usize,
    /// The combinations of weight, sign, decay, state, layer and fault that rows have numbers of.
    pub(super) kinds: Pages<[u8; KIND_BYTES], 256>,
    kind_numbers: Shards<[u8; KIND_BYTES], u32>,
    /// When the decay of a row began, where its id does not say.
    pub(super) starts: Shards<u32, i64>,
}

impl Rows {
    /// Rows that stand.
    pub(crate) fn len(&self) -> usize {
        self.rows.len() - self.free.len() - self.dead
    }

    pub(crate) fn get(&self, slot: u32) -> Option<Row> {
        let bytes = self.rows.get(slot as usize)?;
        Row::decode(bytes, |kind| self.kinds.get(kind as usize).copied(), || self.starts.get(&slot).copied())
    }

    pub(crate) fn set(&mut self, slot: u32, row: &Row) {
        let bytes = self.encode(slot, row);
        if let Some(place) = self.rows.get_mut(slot as usize) {
            *place = bytes;
        }
    }

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

    /// Gives a combination the next number.
    pub(super) fn add_kind(&mut self, kind: [u8; KIND_BYTES]) -> u32 {
        let number = self.kinds.len() as u32;
        self.kinds.push(kind);
        self.kind_numbers.insert(kind, number);
        number
    }

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

    /// The newest id that was ever in order; ids made after it keep arriving in order.
    pub(crate) fn newest_id(&self) -> Option<MegramId> {
        self.order.last().and_then(|slot| self.id_at(*slot))
    }

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

    /// Slots of the rows that stand, by id.
    pub(crate) fn by_id(&self) -> impl Iterator<Item = (MegramId, u32)> {
        let ordered = self.order.iter().filter_map(|slot| self.live(*slot));
        merged(ordered, self.late.iter().map(|(id, slot)| (*id, *slot)), |a, b| a < b)
    }

    /// The same, newest first.
    pub(crate) fn by_id_newest_first(&self) -> impl Iterator<Item = (MegramId, u32)> {
        let ordered = self.order.iter().rev().filter_map(|slot| self.live(*slot));
        merged(ordered, self.late.iter().rev().map(|(id, slot)| (*id, *slot)), |a, b| a > b)
    }

    /// Slots that hold nothing, including those a deletion has not given back yet.
    pub(super) fn vacant(&self) -> Vec<u32> {
        self.rows.iter().zip(0..).filter(|(bytes, _)| is_dead(bytes)).map(|(_, slot)| slot).collect()
    }

    fn live(&self, slot: u32) -> Option<(MegramId, u32)> {
        self.rows.get(slot as usize).filter(|bytes| !is_dead(bytes)).map(|bytes| (id_of(bytes), slot))
    }

    fn id_at(&self, slot: u32) -> Option<MegramId> {
        self.rows.get(slot as usize).map(id_of)
    }

    fn reorder(&mut self) {
        let order = self.by_id().map(|(_, slot)| slot).collect();
        self.free = Arc::new(self.vacant());
        self.order = order;
        self.late = Arc::default();
        self.dead = 0;
    }
}

/// Two sequences without a common id as one.
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
