//! Parses checks of kind `edited`: the content after an edit follows from the content before.

use super::ended;
use super::fields::Fields;
use crate::algebra::{Act, Key, Order, Pred, Query, Rewrite, SortKey};
use crate::ensure::ensure;
use crate::eval::evaluate;

/// The act of an `edited` check.
pub(super) fn act(fields: &mut Fields<'_>) -> Result<Act, String> {
    let path = fields.path("path")?;
    let op = fields.line("op")?;
    let of = Box::new(Query::TextFile { path: path.clone() });
    let of = match op.as_str() {
        "append" | "prepend" => {
            let text = Some(fields.text("text")?).filter(|text| !text.is_empty());
            let text = ended(text.ok_or_else(|| fields.wrong("text", "is empty; give the lines to add"))?);
            return Ok(Act::Insert { path, text, at_start: op == "prepend" });
        }
        "set_key" => {
            let key = fields.line("key")?;
            let value = fields.line("value")?;
            return Ok(Act::SetValue { path, section: fields.line_if_given("section")?, key, value });
        }
        "replace" => replaced(fields, of)?,
        "delete_lines" => Query::Filter { of, keep: Pred::Not(Box::new(deleted(fields)?)) },
        "sort" => Query::Sort { of, keys: vec![SortKey { by: Key::Text, order: Order::Ascending }] },
        "unique" => Query::Unique { of },
        "upper" => Query::Rewritten { of, how: Rewrite::UpperCase },
        "lower" => Query::Rewritten { of, how: Rewrite::LowerCase },
        _ => {
            let ops = "append, prepend, replace, set_key, delete_lines, sort, unique, upper, lower";
            return Err(fields.wrong("op", &format!("is none of {ops}")));
        }
    };
    Ok(Act::Save { of, to: path })
}

/// The condition on the lines that an `edited` check deletes.
fn deleted(fields: &mut Fields<'_>) -> Result<Pred, String> {
    match (fields.line_if_given("containing")?, fields.flag("blank")?) {
        (Some(text), None) => Ok(Pred::Contains { text, ignore_case: false }),
        (None, Some(true)) => Ok(Pred::Blank),
        _ => Err(fields.wrong("containing", "is missing or not alone; give `containing` or \"blank\": true")),
    }
}

/// The query that replaces a text. Whole words are accepted only if no occurrence is part of a longer word, as the
/// query replaces every occurrence.
fn replaced(fields: &mut Fields<'_>, of: Box<Query>) -> Result<Query, String> {
    let find = fields.line("find")?;
    let with = fields.text("with")?;
    ensure(!with.contains(['\n', '\r']), || fields.wrong("with", "has a line break; replace within lines"))?;
    if fields.flag("whole_word")? == Some(true) {
        let found = |whole_word| {
            let found = Query::Matches { of: of.clone(), text: find.clone(), ignore_case: false, whole_word };
            evaluate(&found, fields.fs)
        };
        ensure(matches!((found(true), found(false)), (Ok(whole), Ok(any)) if whole == any), || {
            fields.wrong("whole_word", "can't be shown: the text is also part of longer words; leave it out")
        })?;
    }
    Ok(Query::Replace { of, find, with })
}
