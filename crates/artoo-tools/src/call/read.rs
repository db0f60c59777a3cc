//! Step 1, read: the tool reads the request and declares its effects.

use artoo_proto::escape;
use serde_json::Value;

use super::{Context, EarlyOutcome, refuse};
use crate::tool::{Request, UserContext};

/// Longest name of an unknown tool quoted in an error, in characters.
const TOOL_MAX_CHARS: usize = 80;

/// Longest target of an invalid request in a record, in characters.
const TARGET_MAX_CHARS: usize = 200;

/// The request that the tool reads from the input; `Err` is a denied record if the tool is missing, blocked or not
/// allowed, or the tool's record if the input is not valid.
pub(super) fn read(context: &Context) -> Result<Request, EarlyOutcome> {
    let name = context.tool_name();
    let Some(tool) = context.registry.find(name) else {
        let name = escape::one_line(&escape::shorten(name, TOOL_MAX_CHARS));
        return Err(EarlyOutcome::refused(&format!("there is no tool named {name:?}")));
    };
    refuse::tool(&context.order)?;
    let input = &context.order.request.input;
    let user = UserContext { confirm: context.order.confirm, request: &context.user_request };
    let request = tool.read(&context.machine, &user, input);
    let target = request.as_ref().map_or_else(|_| target_of(input), |request| request.target.clone());
    context.target.get_or_init(|| target);
    request.map_err(EarlyOutcome::Record)
}

/// The target of a call whose request is not valid, for its record: the field `path`, `root`, `command`, `query` or
/// `to` of its input, the first that is a text, shortened; empty if there is none.
fn target_of(input: &Value) -> String {
    let target = ["path", "root", "command", "query", "to"].iter().find_map(|field| input.get(field)?.as_str());
    escape::one_line(&escape::shorten(target.unwrap_or_default(), TARGET_MAX_CHARS))
}
