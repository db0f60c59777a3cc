//! The engine encoded as bytes, so that opening a memory need not replay the whole journal.
//!
//! Rows and sums have the same layout as in RAM: reading them back is little more than copying.

use std::{
    collections::HashMap,
    io::{self, Read, Write},
    sync::Arc,
};

use super::{
    Engine, RuleSlot,
    codec::{Decoder, Encoder, InvalidState, STATE_VERSION},
    index::{Index, TagEntry, Tool},
    pages::Pages,
    row::{KIND_BYTES, ROW_BYTES},
    rows::Rows,
};
use crate::{
    clock::Clocks,
    engine::aggregate::{Accumulator, Aggregate, Compensated},
    record::{Megram, MegramId, Offset, RecordSource, RuleKind, Watermark},
};

/// Number of encoded rows (one per record) that are read at once.
const PAGE_ROWS: u64 = 1_024;

/// Number of slot numbers (indexes of rows) that are read at once.
const PAGE_NUMBERS: u64 = 4_096;

impl Engine {
    /// Writes the whole engine, except texts that are stored in a journal, for [`Engine::decode_state`].
    ///
    /// # Errors
    /// The error of `out` when writing fails.
    pub fn encode_state(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut out = Encoder::new(out);
        out.u32(STATE_VERSION)?;
        out.list(self.decays.len(), &self.decays, |out, k| out.f64(*k))?;
        out.json(&self.newest_id)?;
        out.json(&self.trusted_clocks)?;
        out.list(self.rules.len(), self.rules.values(), |out, rule| out.json(rule.as_ref()))?;
        out.list(self.places.len(), self.places.iter(), |out, (id, at)| {
            out.id(*id)?;
            out.u64(at.0)
        })?;
        out.list(self.held.len(), self.held.iter(), |out, (_, megram)| out.json(megram.as_ref()))?;
        out.list(self.forgotten.len(), self.forgotten.iter(), |out, id| out.id(*id))?;
        out.list(self.rule_slots.len(), self.rule_slots.iter(), |out, ((tag, kind), slot)| {
            out.u32(*tag)?;
            out.json(&(*kind, slot.rule, slot.used))
        })?;
        encode_index(&mut out, &self.index)?;
        encode_rows(&mut out, &self.rows)?;
        out.finish()
    }

    /// Reads an engine that [`Engine::encode_state`] wrote; texts of records are read from `source` when needed.
    ///
    /// The bytes must have passed a checksum: wrong bytes give an error or a wrong memory, never a panic.
    ///
    /// # Errors
    /// [`InvalidState`] when the bytes are not a valid state.
    pub fn decode_state(input: &mut dyn Read, source: Option<Arc<dyn RecordSource>>) -> Result<Self, InvalidState> {
        let mut input = Decoder::new(input);
        let found = input.u32()?;
        if found != STATE_VERSION {
            return Err(InvalidState::Version { found });
        }
        let by_id = |megram: Megram| (megram.id, Arc::new(megram));
        let mut engine = Self {
            decays: input.list(Decoder::f64)?,
            newest_id: input.json::<Option<MegramId>>()?,
            trusted_clocks: input.json::<Option<Clocks>>()?,
            rules: Arc::new(input.list(|input| input.json().map(by_id))?),
            places: Arc::new(input.list(|input| Ok((input.id()?, Offset(input.u64()?))))?),
            source,
            ..Self::default()
        };
        for (id, megram) in input.list::<_, Vec<_>>(|input| input.json().map(by_id))? {
            engine.held.insert(id, megram);
        }
        engine.forgotten = Arc::new(input.list(Decoder::id)?);
        engine.rule_slots = Arc::new(input.list(|input| {
            let tag = input.u32()?;
            let (kind, rule, used) = input.json::<(RuleKind, Option<MegramId>, Option<Watermark>)>()?;
            Ok(((tag, kind), RuleSlot { rule, used }))
        })?);
        engine.index = decode_index(&mut input)?;
        engine.rows = decode_rows(&mut input)?;
        Ok(engine)
    }
}

/// Encodes the tags, tools and words of intents of an index.
fn encode_index(out: &mut Encoder<'_>, index: &Index) -> io::Result<()> {
    out.list(index.tags.len(), index.tags.iter(), |out, tag| {
        out.text(&tag.key)?;
        [tag.split, tag.newest, tag.live].into_iter().try_for_each(|number| out.u32(number))?;
        encode_aggregate(out, &tag.aggregate)
    })?;
    out.list(index.free.len(), index.free.iter(), |out, tag| out.u32(*tag))?;
    out.list(index.tools.len(), index.tools.iter(), |out, (name, tool)| {
        out.text(name)?;
        out.u64(tool.live)?;
        encode_aggregate(out, &tool.aggregate)?;
        out.list(tool.newest.len(), &tool.newest, |out, place| {
            out.i64(place.at_ms)?;
            out.id(place.id)
        })?;
        out.list(tool.tags.len(), tool.tags.iter(), |out, tag| out.u32(*tag))
    })?;
    let mut numbers: HashMap<&str, u32> = HashMap::new();
    for slug in index.intents.by_word.iter().flat_map(|(_, slugs)| slugs.iter()) {
        let next = numbers.len() as u32;
        numbers.entry(slug).or_insert(next);
    }
    let mut slugs: Vec<(&str, u32)> = numbers.iter().map(|(slug, number)| (*slug, *number)).collect();
    slugs.sort_unstable_by_key(|(_, number)| *number);
    out.list(slugs.len(), &slugs, |out, (slug, _)| out.text(slug))?;
    out.u64(index.intents.intents as u64)?;
    out.list(index.intents.by_word.len(), index.intents.by_word.iter(), |out, (word, slugs)| {
        out.text(word)?;
        out.list(slugs.len(), slugs.iter(), |out, slug| out.u32(numbers.get(&**slug).copied().unwrap_or_default()))
    })
}

/// Decodes the tags, tools and words of intents of an index.
fn decode_index(input: &mut Decoder<'_>) -> Result<Index, InvalidState> {
    let mut index = Index::default();
    index.tags = input.list(|input| {
        let key = input.text()?.into();
        let (split, newest, live) = (input.u32()?, input.u32()?, input.u32()?);
        Ok(TagEntry { key, split, newest, live, aggregate: decode_aggregate(input)? })
    })?;
    index.free = Arc::new(input.list(Decoder::u32)?);
    index.enter_all();
    for (name, tool) in input.list::<_, Vec<_>>(|input| {
        let (name, live, aggregate) = (input.text()?, input.u64()?, decode_aggregate(input)?);
        let newest = input.list(|input| Ok(Watermark { at_ms: input.i64()?, id: input.id()? }))?;
        Ok((name, Tool { live, aggregate, newest, tags: input.list(Decoder::u32)? }))
    })? {
        index.tools.insert(name.into(), tool);
    }
    let slugs: Vec<Arc<str>> = input.list(|input| input.text().map(Arc::from))?;
    index.intents.intents = input.u64()? as usize;
    for _ in 0..input.length()? {
        let word = input.text()?;
        let numbers: Vec<u32> = input.list(Decoder::u32)?;
        let of_word = numbers.iter().filter_map(|number| slugs.get(*number as usize)).cloned().collect();
        index.intents.by_word.insert(word.into(), of_word);
    }
    Ok(index)
}

/// Encodes the decayed sums of a tag or tool.
fn encode_aggregate(out: &mut Encoder<'_>, aggregate: &Aggregate) -> io::Result<()> {
    out.u32(u32::from(aggregate.newest_ms.is_some()))?;
    out.i64(aggregate.newest_ms.unwrap_or_default())?;
    out.list(aggregate.accumulators.len(), &aggregate.accumulators, |out, sums| {
        out.u32(u32::from(sums.excused))?;
        out.i64(sums.reference_ms)?;
        [sums.k, sums.attention.sum, sums.attention.error, sums.decision.sum, sums.decision.error]
            .into_iter()
            .try_for_each(|number| out.f64(number))
    })
}

/// Decodes the decayed sums of a tag or tool.
fn decode_aggregate(input: &mut Decoder<'_>) -> Result<Aggregate, InvalidState> {
    let (known, newest_ms) = (input.flag()?, input.i64()?);
    let accumulators = input.list(|input| {
        let (excused, reference_ms, k) = (input.flag()?, input.i64()?, input.f64()?);
        let attention = Compensated { sum: input.f64()?, error: input.f64()? };
        let decision = Compensated { sum: input.f64()?, error: input.f64()? };
        Ok(Accumulator { k, excused, reference_ms, attention, decision })
    })?;
    Ok(Aggregate { accumulators, newest_ms: known.then_some(newest_ms) })
}

/// Encodes the rows of all records.
fn encode_rows(out: &mut Encoder<'_>, rows: &Rows) -> io::Result<()> {
    out.list(rows.kinds.len(), rows.kinds.iter(), |out, kind| out.bytes(kind))?;
    out.list(rows.starts.len(), rows.starts.iter(), |out, (slot, start_ms)| {
        out.u32(*slot)?;
        out.i64(*start_ms)
    })?;
    let vacant = rows.vacant();
    out.list(vacant.len(), vacant, |out, slot| out.u32(slot))?;
    out.u64(rows.rows.len() as u64)?;
    rows.rows.pages().try_for_each(|page| out.bytes(page.as_flattened()))?;
    out.list(rows.len(), rows.by_id(), |out, (_, slot)| out.u32(slot))
}

/// Decodes the rows of all records.
fn decode_rows(input: &mut Decoder<'_>) -> Result<Rows, InvalidState> {
    let mut rows = Rows::default();
    for _ in 0..input.length()? {
        let mut kind = [0; KIND_BYTES];
        input.fill(&mut kind)?;
        rows.add_kind(kind);
    }
    for _ in 0..input.length()? {
        rows.starts.insert(input.u32()?, input.i64()?);
    }
    rows.free = Arc::new(input.list(Decoder::u32)?);
    let mut left = input.length()?;
    while left > 0 {
        let count = left.min(PAGE_ROWS);
        let mut page = vec![[0; ROW_BYTES]; count as usize];
        input.fill(page.as_flattened_mut())?;
        rows.rows.push_page(page);
        left -= count;
    }
    let mut left = input.length()?;
    let mut order: Pages<u32, 4_096> = Pages::default();
    while left > 0 {
        let count = left.min(PAGE_NUMBERS);
        let mut bytes = vec![[0; 4]; count as usize];
        input.fill(bytes.as_flattened_mut())?;
        order.push_page(bytes.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect());
        left -= count;
    }
    rows.order = order;
    if rows.free.len() > rows.rows.len() {
        return Err(InvalidState::Malformed { what: "the list of free rows" });
    }
    Ok(rows)
}
