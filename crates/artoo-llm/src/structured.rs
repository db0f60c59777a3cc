//! How a request becomes a Chat Completions body that asks for JSON, and what to leave out when an endpoint refuses a part.

use artoo_proto::ModelRequest;
use serde_json::{Value, json};

/// How the shape of the reply is asked for, strongest first. The schema's text is in the prompt in every case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyFormat {
    /// `response_format` of type `json_schema`, strict.
    JsonSchema,
    /// `response_format` of type `json_object`.
    JsonObject,
    /// The prompt alone.
    PromptOnly,
}

/// How an endpoint wants to be spoken to; starts with everything and only ever loses parts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dialect {
    /// How JSON is asked for.
    pub format: ReplyFormat,
    /// Whether the cap is sent as `max_completion_tokens` instead of `max_tokens`.
    pub completion_tokens_field: bool,
    /// Sampling temperature, where the endpoint takes one.
    pub temperature: Option<f64>,
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
const FORMAT_WORDS: [&str; 7] =
    ["response_format", "json_schema", "json_object", "json schema", "structured output", "grammar", "guided"];

/// Longest schema name endpoints take.
const SCHEMA_NAME_MAX: usize = 64;

impl Dialect {
    /// What to try after a refusal: one part less, where the complaint is about such a part.
    ///
    /// Endpoints that name the parameter are taken at their word; of the others only the message tells.
    #[must_use]
    pub fn without_refused_part(self, complaint: &Complaint) -> Option<Self> {
        let message = complaint.message.to_ascii_lowercase();
        let about = |param: &str, words: &[&str]| match &complaint.param {
            Some(named) => named == param || named.starts_with(&format!("{param}.")),
            None => words.iter().any(|word| message.contains(word)),
        };
        if !self.completion_tokens_field && about("max_tokens", &["max_completion_tokens"]) {
            return Some(Self { completion_tokens_field: true, ..self });
        }
        if self.temperature.is_some() && about("temperature", &["temperature"]) {
            return Some(Self { temperature: None, ..self });
        }
        if !about("response_format", &FORMAT_WORDS) {
            return None;
        }
        match self.format {
            ReplyFormat::JsonSchema => Some(Self { format: ReplyFormat::JsonObject, ..self }),
            ReplyFormat::JsonObject => Some(Self { format: ReplyFormat::PromptOnly, ..self }),
            ReplyFormat::PromptOnly => None,
        }
    }
}

/// The body of a Chat Completions request: the stable part first, the schema last.
#[must_use]
pub fn body(request: &ModelRequest, model: &str, dialect: Dialect) -> Value {
    let user = format!(
        "{}\n\nAnswer with one JSON object that fits this JSON schema, and with nothing else:\n{}",
        request.prompt.user, request.schema
    );
    let mut messages = Vec::new();
    if !request.prompt.system.is_empty() {
        messages.push(json!({"role": "system", "content": request.prompt.system}));
    }
    messages.push(json!({"role": "user", "content": user}));
    let mut body = json!({"model": model, "messages": messages, "stream": false});
    let mut set = |name: &str, value: Value| {
        if let Some(fields) = body.as_object_mut() {
            fields.insert(name.to_owned(), value);
        }
    };
    set(
        if dialect.completion_tokens_field { "max_completion_tokens" } else { "max_tokens" },
        request.max_tokens.into(),
    );
    if let Some(temperature) = dialect.temperature {
        set("temperature", temperature.into());
    }
    match dialect.format {
        ReplyFormat::JsonSchema => {
            let named = json!({"name": schema_name(&request.schema_name), "strict": true, "schema": request.schema});
            set("response_format", json!({"type": "json_schema", "json_schema": named}));
        }
        ReplyFormat::JsonObject => set("response_format", json!({"type": "json_object"})),
        ReplyFormat::PromptOnly => {}
    }
    body
}

/// Endpoints take letters, digits, `_` and `-` only.
fn schema_name(name: &str) -> String {
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
