//! Where records are found: by tag, by tool, by the words of an intent.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Megram, MegramId, RuleKind, Watermark, aggregate::Aggregate, engine::lexical::IntentIndex, tag};

/// Everything known under one (space, entity).
#[derive(Debug, Clone, Default)]
pub(crate) struct Tag {
    /// M and K records by the moment their decay counts from.
    pub(crate) live: BTreeSet<Watermark>,
    /// Their decayed sums.
    pub(crate) aggregate: Aggregate,
    /// The C records, at most one a kind.
    pub(crate) rules: BTreeMap<RuleKind, MegramId>,
    /// How far each kind of rule has used up the evidence; outlives the rule, so trust must be earned anew.
    pub(crate) watermarks: BTreeMap<RuleKind, Watermark>,
}

impl Tag {
    fn is_empty(&self) -> bool {
        self.live.is_empty() && self.rules.is_empty() && self.watermarks.is_empty()
    }
}

/// All tags of one tool, and their sum.
#[derive(Debug, Clone, Default)]
pub(crate) struct ToolSum {
    pub(crate) tags: BTreeSet<(String, String)>,
    pub(crate) aggregate: Aggregate,
}

/// All tags.
#[derive(Debug, Clone, Default)]
pub(crate) struct Index {
    spaces: BTreeMap<String, BTreeMap<String, Tag>>,
    tools: BTreeMap<String, ToolSum>,
    pub(crate) intents: IntentIndex,
}

impl Index {
    pub(crate) fn tag(&self, space: &str, entity: &str) -> Option<&Tag> {
        self.spaces.get(space)?.get(entity)
    }

    pub(crate) fn tag_mut(&mut self, space: &str, entity: &str) -> &mut Tag {
        if !self.spaces.contains_key(space)
            && let Some(slug) = tag::intent_slug(space)
        {
            self.intents.insert(slug);
        }
        self.spaces.entry(space.to_owned()).or_default().entry(entity.to_owned()).or_default()
    }

    /// The entities of a space, in order.
    pub(crate) fn space(&self, space: &str) -> impl Iterator<Item = (&str, &Tag)> {
        self.spaces.get(space).into_iter().flatten().map(|(entity, tag)| (entity.as_str(), tag))
    }

    /// Every tag, in order.
    pub(crate) fn tags(&self) -> impl Iterator<Item = (&str, &str, &Tag)> {
        self.spaces
            .iter()
            .flat_map(|(space, tags)| tags.iter().map(|(entity, tag)| (space.as_str(), entity.as_str(), tag)))
    }

    pub(crate) fn tool(&self, tool: &str) -> Option<&ToolSum> {
        self.tools.get(tool)
    }

    /// How many tools have a sum.
    pub(crate) fn tools(&self) -> usize {
        self.tools.len()
    }

    /// Counts an M or K record in.
    pub(crate) fn add_live(&mut self, megram: &Megram) {
        let term = megram.term();
        let tag = self.tag_mut(&megram.space, &megram.entity);
        tag.live.insert(Watermark { at_ms: term.at_ms, id: megram.id });
        tag.aggregate.add(&term);
        for tool in tag::tools_of(&megram.space, &megram.entity) {
            let sum = self.tools.entry(tool).or_default();
            sum.tags.insert((megram.space.clone(), megram.entity.clone()));
            sum.aggregate.add(&term);
        }
    }

    /// Sums a tag anew after records were taken out of `live`, then the tools it belongs to; drops what is empty.
    pub(crate) fn resum(&mut self, space: &str, entity: &str, records: &BTreeMap<MegramId, Megram>) {
        if let Some(tag) = self.spaces.get_mut(space).and_then(|tags| tags.get_mut(entity)) {
            tag.aggregate = Aggregate::of(tag.live.iter().filter_map(|place| records.get(&place.id)).map(Megram::term));
        }
        self.drop_if_empty(space, entity);
    }

    /// Sums these tools anew from their tags.
    pub(crate) fn resum_tools(&mut self, tools: &BTreeSet<String>) {
        for tool in tools {
            let Some(sum) = self.tools.get_mut(tool) else { continue };
            let mut aggregate = Aggregate::default();
            sum.tags.retain(|(space, entity)| {
                let tag = self.spaces.get(space).and_then(|tags| tags.get(entity));
                tag.is_some_and(|tag| {
                    aggregate.merge(&tag.aggregate);
                    !tag.live.is_empty()
                })
            });
            sum.aggregate = aggregate;
            if sum.tags.is_empty() {
                self.tools.remove(tool);
            }
        }
    }

    fn drop_if_empty(&mut self, space: &str, entity: &str) {
        let Some(tags) = self.spaces.get_mut(space) else { return };
        if tags.get(entity).is_some_and(Tag::is_empty) {
            tags.remove(entity);
        }
        if tags.is_empty() {
            self.spaces.remove(space);
            if let Some(slug) = tag::intent_slug(space) {
                self.intents.remove(slug);
            }
        }
    }
}
