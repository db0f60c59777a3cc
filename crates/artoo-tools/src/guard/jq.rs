//! `jq`: a filter is proven if it takes in no further code and shows no environment.

use super::judge::{Judge, State};
use super::objection::Objection;
use super::options;
use super::options::Order;
use super::programs::{Operands, Program};
use super::scene::Use;
use super::value::{Arg, Stream};

static JQ: Program = Program::new(
    "jq",
    "nrcCMaSsejR0hV",
    "",
    "null-input raw-output raw-output0 join-output compact-output color-output monochrome-output ascii-output \
        sort-keys slurp exit-status raw-input tab indent= stream seq unbuffered args jsonargs help version arg= argjson=",
    Operands::Text,
);

/// Words of a filter that reach outside of its input.
const OUTWARD: [&str; 8] =
    ["import", "include", "env", "ENV", "modulemeta", "get_search_list", "input_line_number", "$__prog"];

/// Judges `jq`.
pub(super) fn judge(judge: &mut Judge<'_>, state: &State, arguments: &[Arg]) -> Result<Stream, Objection> {
    // Two words belong to these: a name and a value.
    let mut plain = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        if matches!(word.text(), Some("--arg" | "--argjson")) {
            words.next();
            words.next();
        } else {
            plain.push(word.clone());
        }
    }
    let parsed = options::parse(&JQ, &plain, Order::Any)?;
    let mut operands = parsed.operands.iter();
    let filter = operands.next().map_or(Some("."), |word| word.text());
    let filter = filter.ok_or_else(|| Objection::opaque("the filter of jq is not known before it runs"))?;
    let mut names = filter.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '$'));
    if let Some(word) = names.find(|name| OUTWARD.contains(&name.trim_start_matches('$')) || OUTWARD.contains(name)) {
        return Err(Objection::opaque(format!("jq with {word} reads code or the environment")));
    }
    if !parsed.has_any(&["args", "jsonargs"]) {
        operands.try_for_each(|word| judge.reads(state, word, Use::Content))?;
    }
    Ok(Stream::Text)
}
