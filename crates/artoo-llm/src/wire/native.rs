//! Native tool calls: what is offered to an endpoint, and the one reply that its calls come to.
//!
//! A call's input is read strictly: its text is one JSON object and nothing else, decoded once. A name is one of those
//! offered, letter for letter. Text beside the calls counts for nothing.

use artoo_proto::{ByTools, OfferedTool};
use serde_json::{Map, Value};

use super::Fault;
use super::calls::Called;
use crate::reader::{self, ReaderError};
use crate::schema;
use crate::structured::schema_name;

/// Characters of a name that is none, as it is told.
const NAME_CHARS: usize = 80;

/// Whether every endpoint can be told of these tools: each under a name of its own, each with an object as its input.
pub(crate) fn can_be_offered(by_tools: &ByTools) -> bool {
    let mut names: Vec<String> = offered(by_tools).map(|tool| wire_name(&tool.name)).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    let takes_object = |tool: &OfferedTool| tool.input_schema.get("type").is_some_and(|found| found == "object");
    names.len() == count && offered(by_tools).all(takes_object)
}

/// All of them, the ending last.
pub(crate) fn offered(by_tools: &ByTools) -> impl Iterator<Item = &OfferedTool> {
    by_tools.tools.iter().chain([&by_tools.ending])
}

/// The name under which an endpoint knows a tool: a dot, say, is none of its letters.
pub(crate) fn wire_name(name: &str) -> String {
    schema_name(name)
}

/// The reply that these calls come to, as `schema` describes it.
pub(crate) fn reply(by_tools: &ByTools, calls: &[Called], schema: &Value) -> Result<Value, Fault> {
    if calls.is_empty() {
        return Err(Fault::Unreadable("the model called no tool".to_owned()));
    }
    let ending = wire_name(&by_tools.ending.name);
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
        let tool = by_tools.tools.iter().find(|tool| wire_name(&tool.name) == call.name);
        let tool = tool.ok_or_else(|| no_such_tool(&call.name, by_tools))?;
        let mut fields = Map::new();
        fields.insert("tool".to_owned(), tool.name.clone().into());
        fields.insert("input".to_owned(), Value::Object(input(call, tool)?));
        made.push(Value::Object(fields));
    }
    if let Some(said) = &end {
        // The input of a tool is the tool's to judge; what the ending says is the reply itself.
        schema::fit(&Value::Object(said.clone()), &by_tools.ending.input_schema)
            .map_err(|misfit| Fault::Unreadable(format!("the call of {ending}: {misfit}")))?;
    }
    let mut fields = by_tools.going_on.clone();
    fields.extend(end.into_iter().flatten());
    fields.insert("calls".to_owned(), Value::Array(made));
    let value = Value::Object(fields);
    match schema::fit(&value, schema) {
        Ok(()) => Ok(value),
        Err(misfit) => Err(Fault::Unreadable(misfit.to_string())),
    }
}

/// A call's input. Servers send no text at all for a tool that takes nothing.
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

fn takes_nothing(tool: &OfferedTool) -> bool {
    let properties = tool.input_schema.get("properties").and_then(Value::as_object);
    properties.is_none_or(Map::is_empty)
}

fn no_such_tool(name: &str, by_tools: &ByTools) -> Fault {
    let known: Vec<String> = offered(by_tools).map(|tool| wire_name(&tool.name)).collect();
    let name = artoo_proto::escape::shorten(name, NAME_CHARS);
    Fault::Unreadable(format!("no such tool here: {name:?}; there are: {}", known.join(", ")))
}

#[cfg(test)]
mod tests;
