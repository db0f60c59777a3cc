//! Renders facts of the machine in English.

use super::{quoted, quoted_path};
use crate::algebra::Fact;

/// The English name of a fact with its argument.
pub(super) fn phrase(fact: &Fact) -> String {
    let row = fact.row();
    match (row.argument, fact) {
        (None, _) => row.english.to_owned(),
        (_, Fact::DateInDays { days }) => {
            let side = if *days < 0 { "before" } else { "after" };
            format!("date {} days {side} today", days.unsigned_abs())
        }
        (Some(("path", path)), _) => format!("{} {}", row.english, quoted_path(&path)),
        (Some(("date", date)), _) => format!("{} {date}", row.english),
        (Some((_, name)), _) => format!("{} {}", row.english, quoted(&name)),
    }
}
