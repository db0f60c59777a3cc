//! The engine encoded as bytes, so that opening a memory need not replay the whole journal.
//!
//! Rows have the same layout as in RAM: reading them back is little more than copying. All else is JSON.

use std::{
    io::{self, Read, Write},
    sync::Arc,
};

use super::{
    Engine,
    codec::{Decoder, Encoder, InvalidState, STATE_VERSION},
    index::{Index, TagEntry, Tool},
    lexical::Intent,
    pages::Pages,
    rows::Rows,
};
use crate::record::{Megram, RecordSource};

impl Engine {
    /// Writes the engine for [`Engine::decode_state`], without the texts of events that are in a journal, the writer
    /// salt and the record source.
    ///
    /// # Errors
    /// The error of `out` when writing fails.
    pub fn encode_state(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut out = Encoder::new(out);
        out.u32(STATE_VERSION)?;
        out.json(&(&self.decays, self.newest_id, self.trusted_clocks))?;
        out.list(self.rules.len(), self.rules.values(), |out, rule| out.json(rule.as_ref()))?;
        out.list(self.places.len(), self.places.iter(), |out, place| out.json(&place))?;
        out.list(self.held.len(), self.held.iter(), |out, (_, megram)| out.json(megram.as_ref()))?;
        out.list(self.forgotten.len(), self.forgotten.iter(), |out, id| out.json(id))?;
        out.list(self.rule_slots.len(), self.rule_slots.iter(), |out, slot| out.json(&slot))?;
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
        let (decays, newest_id, trusted_clocks) = input.json()?;
        let mut engine = Self {
            decays,
            newest_id,
            trusted_clocks,
            rules: Arc::new(input.list(|input| input.json().map(by_id))?),
            places: Arc::new(input.list(Decoder::json)?),
            source,
            ..Self::default()
        };
        for (id, megram) in input.list::<_, Vec<_>>(|input| input.json().map(by_id))? {
            engine.held.insert(id, megram);
        }
        engine.forgotten = Arc::new(input.list(Decoder::json)?);
        engine.rule_slots = Arc::new(input.list(Decoder::json)?);
        engine.index = decode_index(&mut input)?;
        engine.rows = decode_rows(&mut input)?;
        Ok(engine)
    }
}

/// Encodes the tags, tools and intents of an index.
fn encode_index(out: &mut Encoder<'_>, index: &Index) -> io::Result<()> {
    let vec = |numbers: &Pages<u32, 64>| numbers.iter().copied().collect::<Vec<u32>>();
    out.list(index.tags.len(), index.tags.iter(), |out, tag| {
        out.json(&(&*tag.key, tag.split, tag.newest, tag.live, &tag.aggregate))
    })?;
    out.json(&*index.free)?;
    out.list(index.tools.len(), index.tools.iter(), |out, (name, tool)| {
        out.json(&(&**name, tool.tags.iter().collect::<Vec<_>>(), &tool.aggregate, tool.live, &tool.newest))
    })?;
    let intents = &index.intents;
    out.list(intents.intents.len(), intents.intents.iter(), |out, intent| {
        out.json(&(&*intent.key, &*intent.text, intent.live))
    })?;
    out.list(intents.by_word.len(), intents.by_word.iter(), |out, (word, numbers)| out.json(&(&**word, vec(numbers))))?;
    out.list(index.by_intent.len(), index.by_intent.iter(), |out, sums| out.json(&sums))
}

/// Decodes the tags, tools and intents of an index.
fn decode_index(input: &mut Decoder<'_>) -> Result<Index, InvalidState> {
    let mut index = Index::default();
    index.tags = input.list(|input| {
        let (key, split, newest, live, aggregate): (Box<str>, _, _, _, _) = input.json()?;
        Ok(TagEntry { key: key.into(), split, newest, live, aggregate })
    })?;
    index.free = Arc::new(input.json()?);
    index.enter_all();
    for _ in 0..input.length()? {
        let (name, tags, aggregate, live, newest): (Box<str>, Vec<u32>, _, _, _) = input.json()?;
        index.tools.insert(name.into(), Tool { live, aggregate, newest, tags: tags.into_iter().collect() });
    }
    let intents = &mut index.intents;
    for number in 1..=input.length()? as u32 {
        let (key, text, live): (Box<str>, Box<str>, u32) = input.json()?;
        let intent = Intent { key: key.into(), text: text.into(), live };
        if live > 0 {
            intents.by_key.insert(Arc::clone(&intent.key), number);
        } else {
            Arc::make_mut(&mut intents.free).push(number);
        }
        intents.intents.push(intent);
    }
    for _ in 0..input.length()? {
        let (word, numbers): (Box<str>, Vec<u32>) = input.json()?;
        intents.by_word.insert(word.into(), numbers.into_iter().collect());
    }
    for _ in 0..input.length()? {
        let (key, sums) = input.json()?;
        index.by_intent.insert(key, sums);
    }
    Ok(index)
}

/// Encodes the rows of all records.
fn encode_rows(out: &mut Encoder<'_>, rows: &Rows) -> io::Result<()> {
    out.list(rows.kinds.len(), rows.kinds.iter(), |out, kind| out.bytes(kind))?;
    out.list(rows.starts.len(), rows.starts.iter(), |out, start| out.json(&start))?;
    out.json(&rows.vacant())?;
    out.list(rows.rows.len(), rows.rows.iter(), |out, row| out.bytes(row))?;
    out.list(rows.len(), rows.by_id(), |out, (_, slot)| out.u32(slot))
}

/// Decodes the rows of all records.
fn decode_rows(input: &mut Decoder<'_>) -> Result<Rows, InvalidState> {
    let mut rows = Rows::default();
    for _ in 0..input.length()? {
        rows.add_kind(input.array()?);
    }
    for _ in 0..input.length()? {
        let (slot, start_ms) = input.json()?;
        rows.starts.insert(slot, start_ms);
    }
    rows.free = Arc::new(input.json()?);
    rows.rows = input.list(Decoder::array)?;
    rows.order = input.list(Decoder::u32)?;
    if rows.free.len() > rows.rows.len() {
        return Err(InvalidState::Malformed { what: "the list of free rows" });
    }
    Ok(rows)
}
