//! Who words the rules that memory makes of experience: a table, from names and counts alone.

use std::collections::BTreeSet;

use artoo_mkct::{
    memory::Distiller,
    record::{Megram, RuleKind},
    rules::Promotion,
};

/// Words a rule without asking a model: it costs nothing, and no text that came from outside gets into a rule.
#[derive(Debug)]
pub(super) struct PlainWords;

impl Distiller for PlainWords {
    fn distil(&self, promotion: &Promotion, evidence: &[Megram]) -> Result<String, String> {
        let ticket = &promotion.ticket;
        let tasks: BTreeSet<&str> = evidence.iter().filter_map(|megram| megram.task.as_deref()).collect();
        let (entity, space) = (ticket.tag().entity.as_str(), ticket.tag().space.as_str());
        Ok(match ticket.kind() {
            RuleKind::BestPractice => format!("{entity} has kept serving {space}: seen in {} tasks", tasks.len()),
            RuleKind::Constraint => format!("{entity} has kept failing {space}: seen in {} tasks", tasks.len()),
        })
    }
}
