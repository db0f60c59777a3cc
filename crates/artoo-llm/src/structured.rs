//! How a reply in JSON is asked for, what to leave out when an endpoint refuses a part, and what its errors say.

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(crate) mod strict;

pub use strict::form as strict_form;

/// How the shape of the reply is asked for, strongest first. The form of the reply is in the prompt in every case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplyFormat {
    /// The schema as it is, for servers that hold to all of it.
    JsonSchema,
    /// The schema in the form that OpenAI's strict mode takes.
    StrictSchema,
    /// Any JSON object.
    JsonObject,
    /// A call of one tool that takes the reply as its input.
    ForcedTool,
    /// The prompt alone.
    PromptOnly,
}

/// Whether an endpoint's own way of calling tools may be used, as a probe has shown it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolCalls {
    /// Not shown to work.
    #[default]
    Off,
    /// It calls the right tool where it may also answer in words.
    Free,
    /// It calls the right tool where it is told to call one.
    Required,
}

/// How an endpoint wants to be spoken to; starts with everything and only ever loses parts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Dialect {
    /// How JSON is asked for.
    pub format: ReplyFormat,
    /// Whether the cap is sent as `max_completion_tokens` instead of `max_tokens`.
    pub completion_tokens_field: bool,
    /// Sampling temperature, where the endpoint takes one.
    pub temperature: Option<f64>,
    /// Whether the answer is to come in pieces.
    pub stream: bool,
    /// Whether the pieces are to end with the cost.
    pub stream_usage: bool,
    /// Whether the prompt's stable part is marked (Anthropic) or named (OpenAI) for the endpoint's cache.
    pub cache: bool,
    /// Whether it may call tools in its own way.
    #[serde(default)]
    pub tool_calls: ToolCalls,
}

/// What an endpoint says about a refused request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Complaint {
    /// In words.
    pub message: String,
    /// The parameter it is about.
    pub param: Option<String>,
    /// Its own code.
    pub code: Option<String>,
    /// Its own class of error.
    pub kind: Option<String>,
}

/// Words by which endpoints that name no parameter say that they can't keep to a format.
const FORMAT_WORDS: [&str; 9] = [
    "response_format",
    "text.format",
    "json_schema",
    "json_object",
    "json schema",
    "structured output",
    "grammar",
    "guided",
    "invalid schema",
];

/// The same of a forced call.
const TOOL_WORDS: [&str; 2] = ["tool", "function"];

/// Parameters that are about the endpoint's cache.
const CACHE_PARAMS: [&str; 2] = ["cache_control", "prompt_cache_key"];

/// Parameters that carry a format.
const FORMAT_PARAMS: [&str; 5] = ["response_format", "text", "tools", "tool_choice", "format"];

/// Longest schema name endpoints take.
const SCHEMA_NAME_MAX: usize = 64;

/// Classes and codes of errors, with the status an endpoint gives them where it can: a stream has begun with 200.
const STATUS_OF: [(&str, u16); 14] = [
    ("overloaded_error", 529),
    ("rate_limit_error", 429),
    ("rate_limit_exceeded", 429),
    ("insufficient_quota", 429),
    ("api_error", 500),
    ("server_error", 500),
    ("internal_server_error", 500),
    ("timeout_error", 504),
    ("authentication_error", 401),
    ("invalid_api_key", 401),
    ("permission_error", 403),
    ("billing_error", 402),
    ("not_found_error", 404),
    ("invalid_request_error", 400),
];

impl Complaint {
    /// The status that its class or code stands for.
    #[must_use]
    pub fn status_in_words(&self) -> Option<u16> {
        let named = |word: &Option<String>| {
            let word = word.as_deref()?;
            STATUS_OF.into_iter().find(|(known, _)| *known == word).map(|(_, status)| status)
        };
        named(&self.code).or_else(|| named(&self.kind))
    }
}

impl ReplyFormat {
    /// Whether an endpoint that keeps to this format gives nothing but the wanted shape.
    #[must_use]
    pub fn holds_to_schema(self) -> bool {
        matches!(self, Self::JsonSchema | Self::StrictSchema)
    }
}

impl Dialect {
    /// Every part there is: what an endpoint of which nothing is known is asked with. Tools are off until they were shown
    /// to work.
    #[must_use]
    pub const fn full(format: ReplyFormat) -> Self {
        Self {
            format,
            completion_tokens_field: false,
            temperature: Some(0.0),
            stream: true,
            stream_usage: true,
            cache: true,
            tool_calls: ToolCalls::Off,
        }
    }

    /// What to try after a refusal of a request that offers tools: less of a demand, then none of them.
    #[must_use]
    pub(crate) fn without_refused_tools(self, complaint: &Complaint) -> Option<Self> {
        let message = complaint.message.to_ascii_lowercase();
        let is_about_tools = match &complaint.param {
            Some(named) => named.starts_with("tool"),
            None => TOOL_WORDS.iter().any(|word| message.contains(word)),
        };
        let weaker = match self.tool_calls {
            ToolCalls::Required => ToolCalls::Free,
            ToolCalls::Free | ToolCalls::Off => ToolCalls::Off,
        };
        (is_about_tools && self.tool_calls != ToolCalls::Off).then_some(Self { tool_calls: weaker, ..self })
    }

    /// What to try after a refusal: one part less, where the complaint is about such a part. `formats` are the
    /// protocol's, strongest first.
    ///
    /// Endpoints that name the parameter are taken at their word; of the others only the message tells.
    #[must_use]
    pub(crate) fn without_refused_part(self, complaint: &Complaint, formats: &[ReplyFormat]) -> Option<Self> {
        let message = complaint.message.to_ascii_lowercase();
        let about = |params: &[&str], words: &[&str]| match &complaint.param {
            Some(named) => params.iter().any(|param| named == param || named.starts_with(&format!("{param}."))),
            None => words.iter().any(|word| message.contains(word)),
        };
        if !self.completion_tokens_field && about(&["max_tokens"], &["max_completion_tokens"]) {
            return Some(Self { completion_tokens_field: true, ..self });
        }
        if self.temperature.is_some() && about(&["temperature"], &["temperature"]) {
            return Some(Self { temperature: None, ..self });
        }
        if self.stream_usage && about(&["stream_options"], &["stream_options"]) {
            return Some(Self { stream_usage: false, ..self });
        }
        if self.stream && about(&["stream"], &["streaming", "'stream'", "`stream`", "\"stream\""]) {
            return Some(Self { stream: false, ..self });
        }
        if self.cache && about(&CACHE_PARAMS, &CACHE_PARAMS) {
            return Some(Self { cache: false, ..self });
        }
        let weaker = formats.iter().skip_while(|format| **format != self.format).nth(1)?;
        let words: &[&str] = if self.format == ReplyFormat::ForcedTool { &TOOL_WORDS } else { &FORMAT_WORDS };
        about(&FORMAT_PARAMS, words).then_some(Self { format: *weaker, ..self })
    }
}

/// How a reply in JSON of this form is asked for in words; see [`artoo_proto::shape()`].
#[must_use]
pub fn asked_for(form: &str) -> String {
    format!("Answer with one JSON object of this form, and with nothing else:\n{form}")
}

/// Endpoints take letters, digits, `_` and `-` only.
pub(crate) fn schema_name(name: &str) -> String {
    let kept = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let name: String = name.chars().take(SCHEMA_NAME_MAX).map(kept).collect();
    if name.is_empty() { "reply".to_owned() } else { name }
}

/// Reads what an endpoint says about an error: OpenAI's form, the shorter forms of local servers, or plain text.
#[must_use]
pub fn complaint(text: &str) -> Complaint {
    let Ok(parsed) = serde_json::from_str::<Value>(text) else {
        return Complaint { message: text.trim().to_owned(), ..Complaint::default() };
    };
    complaint_of(&parsed)
}

/// The same for a body that is already parsed.
pub(crate) fn complaint_of(parsed: &Value) -> Complaint {
    let inner = parsed.get("error").unwrap_or(parsed);
    let plain = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Null => None,
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => Some(value.to_string()),
    };
    let field = |name: &str| inner.get(name).and_then(plain);
    let message = inner.as_str().map(str::to_owned).or_else(|| field("message")).or_else(|| field("detail"));
    Complaint {
        message: message.unwrap_or_else(|| parsed.to_string()),
        param: field("param"),
        code: field("code"),
        kind: field("type"),
    }
}

#[cfg(test)]
mod tests;
