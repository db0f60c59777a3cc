//! The grammar: what two neighbouring items mean together.

mod act;
mod boolean;
mod list;
mod machine;
mod name;
mod place;
mod quantity;
mod text;
mod time;

use super::item::{Context, Item};

pub(super) use self::place::home_folder;

/// All items that the neighbours `left` and `right` mean together; `at_end` if `right` ends the request.
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
    quantity::combine(left, right, &mut found);
    time::combine(context, left, right, &mut found);
    place::combine(context, left, right, &mut found);
    name::combine(context, left, right, &mut found);
    list::combine(context, left, right, &mut found);
    boolean::combine(context, left, right, &mut found);
    text::combine(context, left, right, &mut found);
    act::combine(context, left, right, &mut found);
    machine::combine(context, left, right, &mut found);
    if let (Some(left), Some(right)) = (left.as_draft(context), right.as_draft(context))
        && let Some(merged) = left.merge(&right)
    {
        found.push(Item::draft(merged));
    }
    found
}
