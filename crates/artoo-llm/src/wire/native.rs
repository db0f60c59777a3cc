//! Native tool calls: which tools are offered, and how a model's calls become a reply.
//!
//! The input of a call must be exactly one JSON object. Its name must be that of an offered tool. Text beside the
//! calls is ignored.

use artoo_proto::{ByTools, OfferedTool};
use serde_json::{Map, Value};

use super::Fault;
use super::calls::Called;
use crate::reader::{self, ReaderError};
use crate::schema;
use crate::structured::schema_name;

/// Maximum length of an unknown tool name quoted in an error.
const NAME_CHARS: usize = 80;

/// Whether every protocol can offer these tools: names stay unique after conversion, and inputs are objects.
pub(crate) fn can_be_offered(by_tools: &ByTools) -> bool {
    let mut names: Vec<String> = offered(by_tools).map(|tool| schema_name(&tool.name)).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    let takes_object = |tool: &OfferedTool| tool.input_schema.get("type").is_some_and(|found| found == "object");
    names.len() == count && offered(by_tools).all(takes_object)
}

/// All tools to offer; the one by which the model ends its work comes last.
pub(crate) fn offered(by_tools: &ByTools) -> impl Iterator<Item = &OfferedTool> {
    by_tools.tools.iter().chain([&by_tools.ending])
}

/// Converts a model's tool calls to the reply that `schema` describes; an error if a call is not valid.
pub(crate) fn reply(by_tools: &ByTools, calls: &[Called], schema: &Value) -> Result<Value, Fault> {
    if calls.is_empty() {
        return Err(Fault::Unreadable("the model called no tool".to_owned()));
    }
    let ending = schema_name(&by_tools.ending.name);
    let mut made = Vec::new();
    let mut end: Option<Map<String, Value>> = None;
    for call in calls {
        if call.name == ending {
            let said = input(call, &by_tools.ending)?;
            if end.replace(said).is_some() {
                return Err(Fault::Unreadable("the model ended twice in one answer".to_owned()));
            }
            continue;
        }
        let tool = by_tools.tools.iter().find(|tool| schema_name(&tool.name) == call.name);
        let tool = tool.ok_or_else(|| no_such_tool(&call.name, by_tools))?;
        let mut fields = Map::new();
        fields.insert("tool".to_owned(), tool.name.clone().into());
        fields.insert("input".to_owned(), Value::Object(input(call, tool)?));
        made.push(Value::Object(fields));
    }
    if let Some(said) = &end {
        // Each tool checks its own input; the input of the ending call is the reply itself, so it is checked here.
        schema::fit(&Value::Object(said.clone()), &by_tools.ending.input_schema)
            .map_err(|misfit| Fault::Unreadable(format!("the call of {ending}: {misfit}")))?;
    }
    let mut fields = by_tools.going_on.clone();
    fields.extend(end.into_iter().flatten());
    fields.insert("calls".to_owned(), Value::Array(made));
    let value = Value::Object(fields);
    schema::fit(&value, schema).map_err(|misfit| Fault::Unreadable(misfit.to_string()))?;
    Ok(value)
}

/// Parses the input of a tool call; an empty text is allowed for a tool without parameters.
fn input(call: &Called, tool: &OfferedTool) -> Result<Map<String, Value>, Fault> {
    if call.input.trim().is_empty() && takes_nothing(tool) {
        return Ok(Map::new());
    }
    let of = |problem: &dyn std::fmt::Display| format!("the input of {}: {problem}", tool.name);
    match reader::exactly(&call.input) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(other) => Err(Fault::Unreadable(of(&format!("it is {}, not object", schema::type_name(&other))))),
        Err(error @ ReaderError::Cut { .. }) => Err(Fault::Cut(of(&error))),
        Err(error) => Err(Fault::Unreadable(of(&error))),
    }
}

/// Whether a tool has no parameters.
fn takes_nothing(tool: &OfferedTool) -> bool {
    let properties = tool.input_schema.get("properties").and_then(Value::as_object);
    properties.is_none_or(Map::is_empty)
}

/// The error for a call of a tool that was not offered; it lists the offered names.
fn no_such_tool(name: &str, by_tools: &ByTools) -> Fault {
    let known: Vec<String> = offered(by_tools).map(|tool| schema_name(&tool.name)).collect();
    let name = artoo_proto::escape::shorten(name, NAME_CHARS);
    Fault::Unreadable(format!("no such tool here: {name:?}; there are: {}", known.join(", ")))
}

#[cfg(test)]
mod tests;
