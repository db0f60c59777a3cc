//! The wording of the rules that memory makes of experience: fixed sentences with names and counts.

use std::collections::BTreeSet;

use artoo_mkct::{
    memory::Distiller,
    record::{Megram, RuleKind},
    rules::Promotion,
};

/// Writes the text of a rule without a model. It costs nothing, and no untrusted text gets into a rule.
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
