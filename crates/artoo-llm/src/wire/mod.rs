//! Wire formats: the request bodies and responses of each protocol, behind one trait. Performs no I/O.

use std::borrow::Cow;

use artoo_proto::{ByTools, ModelRequest, OfferedTool};
use serde::Serialize;
use serde_json::Value;

use crate::structured::{self, Complaint, Dialect, ReplyFormat, ToolCalls};
use draft::Draft;

mod anthropic;
mod body;
pub(crate) mod calls;
mod chat;
pub(crate) mod draft;
pub(crate) mod frames;
pub(crate) mod native;
mod ollama;
mod responses;

/// An HTTP protocol by which model endpoints are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Protocol {
    /// OpenAI's Chat Completions, which most servers support.
    Chat,
    /// OpenAI's Responses protocol.
    Responses,
    /// Anthropic's Messages protocol.
    Anthropic,
    /// Ollama's own protocol: its version of Chat Completions ignores the context size and truncates long prompts
    /// silently.
    Ollama,
}

impl Protocol {
    pub const ALL: [Self; 4] = [Self::Chat, Self::Responses, Self::Anthropic, Self::Ollama];

    /// The name of the protocol in configurations, such as "openai".
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Chat => "openai",
            Self::Responses => "responses",
            Self::Anthropic => "anthropic",
            Self::Ollama => "ollama",
        }
    }

    /// Default price of a prompt token written into the cache, relative to that of a prompt token: 1.25 for
    /// Anthropic's five-minute cache.
    #[must_use]
    pub fn cache_write_factor(self) -> f64 {
        match self {
            Self::Anthropic => 1.25,
            Self::Chat | Self::Responses | Self::Ollama => 1.0,
        }
    }

    /// The wire format of the protocol: how requests are written and responses read.
    pub(crate) fn wire(self) -> &'static dyn Wire {
        match self {
            Self::Chat => &chat::Chat,
            Self::Responses => &responses::Responses,
            Self::Anthropic => &anthropic::Anthropic,
            Self::Ollama => &ollama::Ollama,
        }
    }
}

/// One model call with all that determines its request body: request, model, dialect, tools, context.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asking<'a> {
    pub(crate) request: &'a ModelRequest,
    pub(crate) model: &'a str,
    pub(crate) dialect: Dialect,
    /// The schema as text, to estimate its tokens.
    pub(crate) schema_text: &'a str,
    /// Context size to set, if the protocol lets the client do that.
    pub(crate) context_tokens: Option<u64>,
    /// Description of the reply's form, added to the prompt; `None` in a probe and with native tool calls.
    pub(crate) form: Option<&'a str>,
    /// The request as native tool calls, if tools are offered.
    pub(crate) by_tools: Option<&'a ByTools>,
}

impl<'a> Asking<'a> {
    /// The name for the prompt's stable part that OpenAI uses to route calls to its cache; `None` if the endpoint
    /// refuses such names.
    pub(crate) fn cache_key(&self) -> Option<String> {
        self.dialect.cache.then(|| format!("artoo-{}", self.request.role.code()))
    }

    /// The system prompt of the call.
    pub(crate) fn system(&self) -> &'a str {
        self.by_tools.map_or(&self.request.prompt, |by_tools| &by_tools.prompt).system.as_str()
    }

    /// The user prompt of the call; the form of the reply comes last, so that everything before it can be cached.
    pub(crate) fn user(&self) -> String {
        if let Some(by_tools) = self.by_tools {
            return by_tools.prompt.user.clone();
        }
        match self.form {
            None => self.request.prompt.user.clone(),
            Some(form) => format!("{}\n\n{}", self.request.prompt.user, structured::asked_for(form)),
        }
    }

    /// The reply format to request; with native tool calls none, since the tools describe the reply.
    pub(crate) fn format(&self) -> ReplyFormat {
        if self.by_tools.is_some() { ReplyFormat::PromptOnly } else { self.dialect.format }
    }

    /// The tools offered in the call as a JSON list, each written by `worded` from name, description and schema; `None`
    /// without tools.
    pub(crate) fn offered(&self, worded: impl Fn(&str, &str, &Value) -> Value) -> Option<Value> {
        let word =
            |tool: &OfferedTool| worded(&structured::schema_name(&tool.name), &tool.description, &tool.input_schema);
        self.by_tools.map(|by_tools| native::offered(by_tools).map(word).collect())
    }

    /// The call's tool choice: `required` (the protocol's word) if the model must call a tool, else `auto`; `None`
    /// without tools.
    pub(crate) fn tool_choice(&self, required: &'static str) -> Option<&'static str> {
        self.by_tools.map(|_| if self.dialect.tool_calls == ToolCalls::Required { required } else { "auto" })
    }

    /// Estimated number of tokens that the call sends, tools included.
    pub(crate) fn prompt_tokens(&self) -> u64 {
        let Some(by_tools) = self.by_tools else {
            return crate::usage::tokens_of_prompt(&self.request.prompt, self.schema_text);
        };
        let offered = self.offered(|name, about, schema| format!("{name}{about}{schema}").into());
        let offered = offered.map_or(0, |tools| crate::usage::estimated_tokens(&tools.to_string()));
        let prompt = &by_tools.prompt;
        crate::usage::estimated_tokens(&prompt.system) + crate::usage::estimated_tokens(&prompt.user) + offered
    }
}

/// One message of a prompt: its role and its text.
#[derive(Serialize)]
struct PromptMessage<'a> {
    role: &'static str,
    content: Cow<'a, str>,
}

/// URL paths of a protocol below the base URL: for calls and for the list of models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Paths {
    /// Whether the base URL ends with a version (`/v1`).
    pub(crate) versioned: bool,
    pub(crate) call: &'static [&'static str],
    pub(crate) models: &'static [&'static str],
}

/// How a response body is divided into JSON values: server-sent events, lines, or one document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// The body consists of server-sent events.
    Events,
    /// The body has one JSON value per line.
    Lines,
    /// The body is one JSON document.
    Whole,
}

/// Why a response body is not a complete answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The body ended early.
    Cut(String),
    /// The body is not an answer.
    Unreadable(String),
    /// An error object with a success status; `status` is the HTTP status that corresponds to it, if known.
    Refused { status: Option<u16>, complaint: Complaint },
}

/// The wire format of a protocol: how request bodies are written and responses are decoded.
pub(crate) trait Wire: Send + Sync {
    /// URL paths of the protocol below the base URL.
    fn paths(&self) -> Paths;

    /// Name and value of the HTTP header with the API key.
    fn key_header(&self, key: &str) -> (&'static str, String) {
        ("authorization", format!("Bearer {key}"))
    }

    /// Headers that every call of the protocol sends.
    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// The supported reply formats, strongest first.
    fn formats(&self) -> &'static [ReplyFormat];

    /// Writes the body of a call as JSON text.
    fn body(&self, asking: &Asking<'_>) -> String;

    /// How a body of this content type (lowercase, without parameters) is divided into JSON values.
    fn framing(&self, content_type: &str) -> Framing {
        if content_type == "text/event-stream" { Framing::Events } else { Framing::Whole }
    }

    /// Decodes a whole response body and adds it to the draft of the answer.
    fn decode_whole(&self, draft: &mut Draft, body: &str) -> Result<(), Fault>;

    /// Decodes one event or line of a streamed response and adds it to the draft of the answer.
    fn piece(&self, draft: &mut Draft, data: &str) -> Result<(), Fault>;

    /// URL path at the server's root where the server describes itself; `None` if the protocol has none.
    fn about_server(&self) -> Option<&'static str> {
        None
    }

    /// Whether the client sets the model's context size in each call, as with Ollama.
    fn sets_context(&self) -> bool {
        false
    }
}

/// The text of a JSON string; `None` if the value is something else.
fn text(value: Option<Value>) -> Option<String> {
    value.as_ref().and_then(Value::as_str).map(str::to_owned)
}

/// Parses JSON of a response as `T`; `what` names it in the error. JSON that ends too early is `Fault::Cut`.
fn parsed<'a, T: serde::Deserialize<'a>>(data: &'a str, what: &str) -> Result<T, Fault> {
    serde_json::from_str(data).map_err(|error| {
        if error.is_eof() {
            Fault::Cut(format!("{what} ends inside its JSON"))
        } else {
            Fault::Unreadable(format!("not a valid {what}: {error}"))
        }
    })
}

/// Converts an error object inside a response with a success status to a fault.
fn refused(error: &Value) -> Fault {
    let complaint = crate::structured::complaint_of(error);
    let code = error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
    let status = code.filter(|status| (400..600).contains(status)).or_else(|| complaint.status_in_words());
    Fault::Refused { status, complaint }
}

/// The JSON body of a model request in a protocol, as the client would send it without native tool calls and a context
/// size.
#[must_use]
pub fn request_body(protocol: Protocol, request: &ModelRequest, model: &str, dialect: Dialect) -> Value {
    let asking = Asking {
        request,
        model,
        dialect,
        schema_text: &request.schema.to_string(),
        context_tokens: None,
        form: Some(&artoo_proto::shape(&request.schema)),
        by_tools: None,
    };
    serde_json::from_str(&protocol.wire().body(&asking)).unwrap_or_default()
}
