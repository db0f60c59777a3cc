//! Finding records by tag, by tool, and by the words of an intent.

use std::{collections::BTreeSet, sync::Arc};

use crate::{
    engine::{
        aggregate::{Aggregate, Term},
        lexical::{EVERY_INTENT, IntentIndex},
        pages::Pages,
        row::{NONE, Row},
        rows::Rows,
        shards::Shards,
    },
    record::{Tag, Watermark, tag},
};

/// Most record ids listed in one piece of advice; [`super::Engine::why`] lists all records.
pub const MAX_NAMED_MEGRAMS: usize = 32;

/// The records of levels M and K under one tag, and their decayed sums.
#[derive(Debug, Clone)]
pub(crate) struct TagEntry {
    /// Space and entity, joined by `|`, which neither can contain.
    pub(crate) key: Arc<str>,
    /// Length of the space in `key`, in bytes.
    pub(crate) split: u32,
    /// The slot (row number) of the newest record of the tag; each row has the slot of the next older one.
    pub(crate) newest: u32,
    /// Number of records of levels M and K under the tag.
    pub(crate) live: u32,
    /// Decayed sums of the records under the tag.
    pub(crate) aggregate: Aggregate,
}

impl TagEntry {
    /// The space (first name) of the tag.
    pub(crate) fn space(&self) -> &str {
        self.key.get(..self.split as usize).unwrap_or_default()
    }

    /// The tag, with its space and entity as text.
    pub(crate) fn tag(&self) -> Tag {
        Tag::new(self.space(), self.entity())
    }

    /// The entity (second name) of the tag.
    pub(crate) fn entity(&self) -> &str {
        self.key.get(self.split as usize + 1..).unwrap_or_default()
    }
}

/// The tags that name one tool, and the decayed sums over all of them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tool {
    /// Numbers of the tags that name the tool.
    pub(crate) tags: Pages<u32, 1_024>,
    /// Decayed sums of the records under these tags.
    pub(crate) aggregate: Aggregate,
    /// Number of records under the tool's tags.
    pub(crate) live: u64,
    /// The newest records under the tool's tags, newest first, at most [`MAX_NAMED_MEGRAMS`].
    pub(crate) newest: Vec<Watermark>,
}

/// The index of an engine: finds the records of a tag, of a tool, and of an intent.
#[derive(Debug, Clone, Default)]
pub(crate) struct Index {
    /// The tags by number; at a number in `free` is the old entry of a removed tag.
    pub(super) tags: Pages<TagEntry, 64>,
    /// Numbers of removed tags, to be used for new tags.
    pub(super) free: Arc<Vec<u32>>,
    /// The number of each tag, by its key (space and entity).
    by_key: Shards<Arc<str>, u32>,
    /// The numbers of the tags of each space.
    spaces: Shards<Arc<str>, Pages<u32, 64>>,
    /// The tags and sums of each tool, by its name.
    pub(super) tools: Shards<Arc<str>, Tool>,
    /// Remembered intents, found by their words.
    pub(crate) intents: IntentIndex,
    /// Number of tags with records of level M or K.
    pub(super) live_tags: usize,
    /// Of tags about an intent: number and decayed sums of the records about one remembered intent, by tag and intent.
    pub(super) by_intent: Shards<(u32, u32), (u32, Aggregate)>,
}

impl Index {
    /// The number of a tag; `None` if the tag does not exist.
    pub(crate) fn number(&self, space: &str, entity: &str) -> Option<u32> {
        self.by_key.get(key_of(space, entity).as_str()).copied()
    }

    /// The entry of the tag with this number; `None` if there never was one. A removed tag's number still returns its
    /// old entry.
    pub(crate) fn tag(&self, number: u32) -> Option<&TagEntry> {
        self.tags.get(number as usize)
    }

    /// The entry of a tag, found by its names; `None` if the tag does not exist.
    pub(crate) fn find(&self, tag: &Tag) -> Option<&TagEntry> {
        self.tag(self.number(&tag.space, &tag.entity)?)
    }

    /// The tags of a space with their numbers, sorted by entity.
    pub(crate) fn space(&self, space: &str) -> Vec<(u32, &TagEntry)> {
        let numbers = self.spaces.get(space).into_iter().flat_map(Pages::iter);
        let mut tags: Vec<_> = numbers.filter_map(|number| Some((*number, self.tag(*number)?))).collect();
        tags.sort_unstable_by_key(|(_, tag)| tag.entity());
        tags
    }

    /// Tags with records of level M or K, in no particular order.
    pub(crate) fn live(&self) -> impl Iterator<Item = (u32, &TagEntry)> {
        self.tags.iter().zip(0..).filter(|(tag, _)| tag.live > 0).map(|(tag, number)| (number, tag))
    }

    /// Number of tags with records of level M or K.
    pub(crate) fn live_tags(&self) -> usize {
        self.live_tags
    }

    /// The sums of a tool, found by its name; `None` if it has no records.
    pub(crate) fn tool(&self, tool: &str) -> Option<&Tool> {
        self.tools.get(tool)
    }

    /// Number of tools with records.
    pub(crate) fn tools(&self) -> usize {
        self.tools.len()
    }

    /// The number of a tag; a missing tag is added.
    pub(crate) fn intern(&mut self, space: &str, entity: &str) -> u32 {
        let key = key_of(space, entity);
        if let Some(number) = self.by_key.get(key.as_str()) {
            return *number;
        }
        let key: Arc<str> = key.into();
        let tag = TagEntry { key, split: space.len() as u32, newest: NONE, live: 0, aggregate: Aggregate::default() };
        let number = match Arc::make_mut(&mut self.free).pop() {
            Some(number) => {
                if let Some(place) = self.tags.get_mut(number as usize) {
                    *place = tag.clone();
                }
                number
            }
            None => {
                self.tags.push(tag.clone());
                (self.tags.len() - 1) as u32
            }
        };
        self.enter(number, &tag);
        number
    }

    /// Enters a tag of the list `tags` into the maps by which tags are found by name and by space.
    pub(super) fn enter(&mut self, number: u32, tag: &TagEntry) {
        self.by_key.insert(Arc::clone(&tag.key), number);
        match self.spaces.get_mut(tag.space()) {
            Some(tags) => tags.push(number),
            None => self.spaces.insert(tag.space().into(), std::iter::once(number).collect()),
        }
    }

    /// Enters all tags of a decoded index into the maps by which tags are found by name and by space.
    pub(super) fn enter_all(&mut self) {
        let free: BTreeSet<u32> = self.free.iter().copied().collect();
        self.live_tags = self.live().count();
        let tags = self.tags.clone();
        for (tag, number) in tags.iter().zip(0..).filter(|(_, number)| !free.contains(number)) {
            self.enter(number, tag);
        }
    }

    /// Adds the row in a slot to the sums and the history of its tag, and to the sums of the tag's tools.
    pub(crate) fn add_live(&mut self, slot: u32, term: &Term, rows: &mut Rows) {
        let Some(row) = rows.get(slot) else { return };
        let Some(tag) = self.tags.get_mut(row.tag as usize) else { return };
        link(slot, row, tag, rows);
        tag.aggregate.add(term);
        tag.live += 1;
        let first = tag.live == 1;
        self.live_tags += usize::from(first);
        let names = tag::tools_of(tag.space(), tag.entity());
        if tag::intent_slug(tag.space()).is_some() {
            self.add_by_intent(row.tag, row.intent, term);
        }
        for name in names {
            if self.tools.get(name.as_str()).is_none() {
                self.tools.insert(name.as_str().into(), Tool::default());
            }
            let Some(tool) = self.tools.get_mut(name.as_str()) else { continue };
            if first {
                tool.tags.push(row.tag);
            }
            tool.aggregate.add(term);
            tool.live += 1;
            name_newest(&mut tool.newest, row.place());
        }
    }

    /// Adds a record to the sums of a tag and an intent.
    fn add_by_intent(&mut self, tag: u32, intent: u32, term: &Term) {
        let (mut live, mut sums) = self.by_intent.remove(&(tag, intent)).unwrap_or_default();
        live += 1;
        sums.add(term);
        self.by_intent.insert((tag, intent), (live, sums));
    }

    /// Number and sums of the records of a tag about one intent, with those that concern all intents; zero if none is
    /// about this one.
    pub(crate) fn of_intent(&self, tag: u32, intent: u32) -> (u32, Aggregate) {
        let mut both = self.by_intent.get(&(tag, intent)).cloned().unwrap_or_default();
        if let Some((live, sums)) = self.by_intent.get(&(tag, EVERY_INTENT)).filter(|_| both.0 > 0) {
            both.0 += live;
            both.1.merge(sums);
        }
        both
    }

    /// The slots and rows of the records of a tag, newest first.
    pub(crate) fn history<'a>(&self, tag: &TagEntry, rows: &'a Rows) -> impl Iterator<Item = (u32, Row)> + use<'a> {
        let (mut next, mut left) = (tag.newest, tag.live);
        std::iter::from_fn(move || {
            left = left.checked_sub(1)?;
            let slot = next;
            let row = rows.get(slot)?;
            next = row.older;
            Some((slot, row))
        })
    }

    /// Removes the records in the slots `gone` from a tag and recalculates its sums; returns whether any are left.
    pub(crate) fn unlink(&mut self, number: u32, gone: &BTreeSet<u32>, decays: &[f64], rows: &mut Rows) -> bool {
        let Some(tag) = self.tag(number) else { return false };
        let history: Vec<(u32, Row)> = self.history(tag, rows).collect();
        let of_intent = tag::intent_slug(tag.space()).is_some();
        let kept: Vec<u32> = history.iter().map(|(slot, _)| *slot).filter(|slot| !gone.contains(slot)).collect();
        let aggregate = Aggregate::of(kept.iter().filter_map(|slot| rows.get(*slot)).map(|row| term(&row, decays)));
        for (position, slot) in kept.iter().enumerate() {
            let Some(mut row) = rows.get(*slot) else { continue };
            let older = kept.get(position + 1).copied().unwrap_or(NONE);
            if row.older != older {
                row.older = older;
                rows.set(*slot, &row);
            }
        }
        if of_intent {
            history.iter().for_each(|(_, row)| drop(self.by_intent.remove(&(number, row.intent))));
            for (slot, row) in history.iter().rev() {
                if gone.contains(slot) {
                    self.intents.release(row.intent);
                } else {
                    self.add_by_intent(number, row.intent, &term(row, decays));
                }
            }
        }
        let Some(tag) = self.tags.get_mut(number as usize) else { return false };
        self.live_tags -= usize::from(tag.live > 0 && kept.is_empty());
        tag.newest = kept.first().copied().unwrap_or(NONE);
        tag.live = kept.len() as u32;
        tag.aggregate = aggregate;
        !kept.is_empty()
    }

    /// Recalculates the sums and newest records of the named tools from their tags; tools without records are removed.
    pub(crate) fn resum_tools(&mut self, names: &BTreeSet<String>, rows: &Rows) {
        for name in names {
            let Some(tool) = self.tools.get(name.as_str()) else { continue };
            let mut anew = Tool::default();
            for number in tool.tags.iter() {
                let Some(tag) = self.tag(*number).filter(|tag| tag.live > 0) else { continue };
                anew.tags.push(*number);
                anew.aggregate.merge(&tag.aggregate);
                anew.live += u64::from(tag.live);
                for (_, row) in self.history(tag, rows).take(MAX_NAMED_MEGRAMS) {
                    if !name_newest(&mut anew.newest, row.place()) {
                        break;
                    }
                }
            }
            if anew.live == 0 {
                self.tools.remove(name.as_str());
            } else if let Some(tool) = self.tools.get_mut(name.as_str()) {
                *tool = anew;
            }
        }
    }

    /// Removes a tag without records from the index.
    pub(crate) fn drop_tag(&mut self, number: u32) {
        let Some(tag) = self.tag(number).cloned() else { return };
        self.by_key.remove(&tag.key);
        Arc::make_mut(&mut self.free).push(number);
        let Some(tags) = self.spaces.get(tag.space()) else { return };
        let rest: Pages<u32, 64> = tags.iter().copied().filter(|other| *other != number).collect();
        if rest.len() > 0 {
            self.spaces.insert(tag.space().into(), rest);
            return;
        }
        self.spaces.remove(tag.space());
    }
}

/// The magnitude, valence, decay rate and time of a record, as input of the sums.
pub(crate) fn term(row: &Row, decays: &[f64]) -> Term {
    Term {
        at_ms: row.start_ms,
        f: row.f,
        sigma: row.sigma,
        k: decays.get(usize::from(row.k)).copied().unwrap_or_default(),
        environmental: row.class == Some(crate::record::FailureClass::Environmental),
    }
}

/// Inserts a record into the history of its tag, by time. The record is nearly always the newest one, since times are
/// clamped to the newest record of the tag.
fn link(slot: u32, mut row: Row, tag: &mut TagEntry, rows: &mut Rows) {
    let mut newer: Option<(u32, Row)> = None;
    let mut next = tag.newest;
    while let Some(other) = rows.get(next).filter(|other| other.place() > row.place()) {
        newer = Some((next, other));
        next = other.older;
    }
    row.older = next;
    rows.set(slot, &row);
    match newer {
        None => tag.newest = slot,
        Some((at, mut newer)) => {
            newer.older = slot;
            rows.set(at, &newer);
        }
    }
}

/// Inserts a record into a list of the newest records, newest first; false if it is too old for the list.
fn name_newest(newest: &mut Vec<Watermark>, place: Watermark) -> bool {
    let position = newest.partition_point(|other| *other > place);
    if position >= MAX_NAMED_MEGRAMS {
        return false;
    }
    newest.insert(position, place);
    newest.truncate(MAX_NAMED_MEGRAMS);
    true
}

/// The key of a tag: space and entity, joined by `|`.
fn key_of(space: &str, entity: &str) -> String {
    let mut key = String::with_capacity(space.len() + 1 + entity.len());
    key.push_str(space);
    key.push('|');
    key.push_str(entity);
    key
}
