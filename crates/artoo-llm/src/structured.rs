//! Optional parts of model requests (reply format, tool calls, parameters), and which to leave out after an endpoint's
//! error.

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(crate) mod strict;

pub use strict::form as strict_form;

/// How the form of the reply is requested, strongest first. The prompt describes it in every case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplyFormat {
    /// Request the reply by sending the JSON schema itself.
    JsonSchema,
    /// Request the reply by sending the schema in the form of OpenAI's strict mode.
    StrictSchema,
    /// Request any JSON object; only the prompt describes its form.
    JsonObject,
    /// Request the reply as the input of a forced tool call.
    ForcedTool,
    /// Request the form of the reply by the prompt alone.
    PromptOnly,
}

/// How native tool calls are used with an endpoint, as a probe found: not at all, if the model chooses to, or always.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolCalls {
    /// Native tool calls are not used.
    #[default]
    Off,
    /// Native tool calls are offered, and the model may answer without one.
    Free,
    /// Native tool calls are offered, and the model must make one.
    Required,
}

/// The optional parts of requests that an endpoint accepts. Parts are only ever removed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Dialect {
    pub format: ReplyFormat,
    /// Send the token limit as `max_completion_tokens` instead of `max_tokens`.
    pub completion_tokens_field: bool,
    /// Sampling temperature, if the endpoint accepts one.
    pub temperature: Option<f64>,
    /// Whether to request a streamed answer.
    pub stream: bool,
    /// Whether to request a final chunk with token usage (`stream_options.include_usage`).
    pub stream_usage: bool,
    /// Whether to mark (Anthropic) or name (OpenAI) the stable part of the prompt for the endpoint's cache.
    pub cache: bool,
    #[serde(default)]
    pub tool_calls: ToolCalls,
}

/// An endpoint's error: its message, and the parameter, code and type that it names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Complaint {
    pub message: String,
    /// The request parameter that the error is about, if the endpoint names one.
    pub param: Option<String>,
    /// The endpoint's error code, if it sends one.
    pub code: Option<String>,
    /// The endpoint's error type, if it sends one.
    pub kind: Option<String>,
}

/// Words in error messages about an unsupported reply format.
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

/// Words in error messages about unsupported tool calls.
const TOOL_WORDS: [&str; 2] = ["tool", "function"];

/// Names of the request parameters that control the endpoint's cache.
const CACHE_PARAMS: [&str; 2] = ["cache_control", "prompt_cache_key"];

/// Names of the request parameters that control the reply format.
const FORMAT_PARAMS: [&str; 5] = ["response_format", "text", "tools", "tool_choice", "format"];

/// Maximum length of a schema name that endpoints accept.
const SCHEMA_NAME_MAX: usize = 64;

/// HTTP statuses of error codes and types, for errors inside a stream that began with status 200.
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
    /// The HTTP status that corresponds to the error's code or type; `None` if neither is known.
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
    /// Whether the endpoint itself enforces the schema if this format is requested.
    #[must_use]
    pub fn holds_to_schema(self) -> bool {
        matches!(self, Self::JsonSchema | Self::StrictSchema)
    }
}

impl Dialect {
    /// A dialect with all optional parts and this reply format, for an endpoint that was not probed. Tool calls are
    /// off.
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

    /// The dialect without the part that an endpoint refused; `None` if its error names none. `formats`: those of the
    /// protocol, strongest first. Of tool calls, first the obligation is dropped, then the tools.
    ///
    /// If the error names a parameter, only that counts, else the words of its message.
    #[must_use]
    pub(crate) fn without_refused_part(
        self,
        complaint: &Complaint,
        formats: &[ReplyFormat],
        has_tools: bool,
    ) -> Option<Self> {
        let message = complaint.message.to_ascii_lowercase();
        let is_about_tools = match &complaint.param {
            Some(named) => named.starts_with("tool"),
            None => TOOL_WORDS.iter().any(|word| message.contains(word)),
        };
        match self.tool_calls {
            ToolCalls::Required if has_tools && is_about_tools => {
                return Some(Self { tool_calls: ToolCalls::Free, ..self });
            }
            ToolCalls::Free if has_tools && is_about_tools => return Some(Self { tool_calls: ToolCalls::Off, ..self }),
            ToolCalls::Required | ToolCalls::Free | ToolCalls::Off => {}
        }
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

/// The sentence of a prompt that asks for a JSON reply of this form, which [`artoo_proto::shape()`] makes from a
/// schema.
#[must_use]
pub fn asked_for(form: &str) -> String {
    format!("Answer with one JSON object of this form, and with nothing else:\n{form}")
}

/// Converts a name to one that endpoints accept: other characters become `_`, it is cut to 64 characters, and an empty
/// one becomes `reply`.
pub(crate) fn schema_name(name: &str) -> String {
    let kept = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let name: String = name.chars().take(SCHEMA_NAME_MAX).map(kept).collect();
    if name.is_empty() { "reply".to_owned() } else { name }
}

/// Parses the body of an error response: OpenAI's form, the shorter forms of local servers, or plain text.
#[must_use]
pub fn complaint(text: &str) -> Complaint {
    let Ok(parsed) = serde_json::from_str::<Value>(text) else {
        return Complaint { message: text.trim().to_owned(), ..Complaint::default() };
    };
    complaint_of(&parsed)
}

/// Parses an endpoint's error from the JSON of its body.
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
