//! The grammar: rules for what two neighbouring items (meanings of words) mean together.

mod act;
mod boolean;
mod list;
mod machine;
mod name;
mod place;
mod quantity;
mod text;
mod time;

use super::item::{Context, Item, Rule};

pub(super) use self::place::home_folder;

/// The grammar rules of all modules, in the order tried.
const GRAMMAR: [&[Rule]; 9] = [
    quantity::RULES,
    time::RULES,
    place::RULES,
    name::RULES,
    list::RULES,
    boolean::RULES,
    text::RULES,
    act::RULES,
    machine::RULES,
];

/// All items that the neighbours `left` and `right` mean together; `at_end` if a step can end after `right`.
pub(crate) fn combine(context: &Context<'_>, left: &Item, right: &Item, at_end: bool) -> Vec<Item> {
    // A function word belongs to the words after it; only at the end of the request it has none.
    if matches!(left, Item::Skip | Item::Comma) {
        return vec![right.clone()];
    }
    let mut found = Vec::new();
    if *right == Item::Skip || (*right == Item::Comma && at_end) {
        if at_end {
            found.push(left.clone());
        }
        return found;
    }
    found.extend(GRAMMAR.iter().copied().flatten().filter_map(|rule| rule(context, left, right)));
    if let (Some(left), Some(right)) = (left.as_draft(context), right.as_draft(context))
        && let Some(merged) = left.merge(&right)
    {
        found.push(Item::draft(merged));
    }
    found
}
