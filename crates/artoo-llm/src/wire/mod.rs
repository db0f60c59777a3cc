//! Wire formats: how each protocol writes a request and words its answer. Pure; a file a protocol, one trait over all.

use artoo_proto::{ByTools, ModelRequest, OfferedTool};
use serde::Serialize;
use serde_json::Value;

use crate::structured::{self, Complaint, Dialect, ReplyFormat, ToolCalls};
use draft::Draft;

mod anthropic;
pub(crate) mod calls;
mod chat;
pub(crate) mod draft;
pub(crate) mod frames;
pub(crate) mod native;
mod ollama;
mod responses;

/// A protocol that endpoints speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Protocol {
    /// OpenAI's Chat Completions, which most servers speak.
    Chat,
    /// OpenAI's Responses.
    Responses,
    /// Anthropic's Messages.
    Anthropic,
    /// Ollama's own: its copy of Chat Completions leaves the context size aside and cuts long prompts in silence.
    Ollama,
}

impl Protocol {
    /// Every protocol.
    pub const ALL: [Self; 4] = [Self::Chat, Self::Responses, Self::Anthropic, Self::Ollama];

    /// The name by which a configuration chooses it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Chat => "openai",
            Self::Responses => "responses",
            Self::Anthropic => "anthropic",
            Self::Ollama => "ollama",
        }
    }

    /// What a token put into the endpoint's cache costs, in the price of a token sent, where no other price is given.
    ///
    /// Anthropic's five-minute cache takes a quarter more for writing; the others take nothing for it.
    #[must_use]
    pub fn cache_write_factor(self) -> f64 {
        match self {
            Self::Anthropic => 1.25,
            Self::Chat | Self::Responses | Self::Ollama => 1.0,
        }
    }

    pub(crate) fn wire(self) -> &'static dyn Wire {
        match self {
            Self::Chat => &chat::Chat,
            Self::Responses => &responses::Responses,
            Self::Anthropic => &anthropic::Anthropic,
            Self::Ollama => &ollama::Ollama,
        }
    }
}

/// One call, as a wire format needs it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asking<'a> {
    pub(crate) request: &'a ModelRequest,
    pub(crate) model: &'a str,
    pub(crate) dialect: Dialect,
    /// The request's schema as text, to be counted.
    pub(crate) schema_text: &'a str,
    /// Tokens of context to ask for, where the protocol leaves that to the caller.
    pub(crate) context_tokens: Option<u64>,
    /// The form of the reply as the prompt shows it; a probe shows none, to see whether the endpoint holds to the schema.
    pub(crate) form: Option<&'a str>,
    /// The request in native tool calls, where the endpoint is to be asked that way.
    pub(crate) by_tools: Option<&'a ByTools>,
}

impl<'a> Asking<'a> {
    /// A name for the stable part of the prompt, which OpenAI uses to send calls where that part is cached.
    pub(crate) fn cache_key(&self) -> Option<String> {
        self.dialect.cache.then(|| format!("artoo-{}", self.request.role.code()))
    }

    /// The standing instructions.
    pub(crate) fn system(&self) -> &'a str {
        self.by_tools.map_or(&self.request.prompt, |by_tools| &by_tools.prompt).system.as_str()
    }

    /// The call's material, with the schema last, so that everything before it can be cached. Tools say what they take
    /// themselves.
    pub(crate) fn user(&self) -> String {
        if let Some(by_tools) = self.by_tools {
            return by_tools.prompt.user.clone();
        }
        match self.form {
            None => self.request.prompt.user.clone(),
            Some(form) => format!("{}\n\n{}", self.request.prompt.user, structured::asked_for(form)),
        }
    }
}

impl Asking<'_> {
    /// How the reply is asked for; with native calls the tools are all that is said of it.
    pub(crate) fn format(&self) -> ReplyFormat {
        if self.by_tools.is_some() { ReplyFormat::PromptOnly } else { self.dialect.format }
    }

    /// The tools offered, as `worded` by the protocol.
    pub(crate) fn offered(&self, worded: impl Fn(&str, &str, &Value) -> Value) -> Option<Value> {
        let word = |tool: &OfferedTool| worded(&native::wire_name(&tool.name), &tool.description, &tool.input_schema);
        self.by_tools.map(|by_tools| native::offered(by_tools).map(word).collect())
    }

    /// The tools of the call: those offered, else the one `for_reply` where the format forces one.
    pub(crate) fn tools<T>(
        &self,
        worded: impl Fn(&str, &str, &Value) -> Value,
        for_reply: impl FnOnce() -> T,
    ) -> Option<Tools<T>> {
        let is_forced = self.format() == ReplyFormat::ForcedTool;
        self.offered(worded).map(Tools::Native).or_else(|| is_forced.then(|| Tools::Reply([for_reply()])))
    }

    /// Whether the endpoint is told to call a tool, where tools are offered.
    pub(crate) fn must_call(&self) -> Option<bool> {
        self.by_tools.map(|_| self.dialect.tool_calls == ToolCalls::Required)
    }

    /// Tokens of everything that is sent as text, estimated.
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

/// The tools of a call: one that takes the reply, or those that R3 may use.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum Tools<T> {
    Reply([T; 1]),
    Native(Value),
}

/// Where a protocol's calls go, below the base URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Paths {
    /// Whether the base ends in a version (`/v1`).
    pub(crate) versioned: bool,
    pub(crate) call: &'static [&'static str],
    pub(crate) models: &'static [&'static str],
}

/// How a key is presented.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyHeader {
    /// `authorization: Bearer …`
    Bearer,
    /// A header that holds the key alone.
    Named(&'static str),
}

/// How a body that comes piece by piece is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// Server-sent events.
    Events,
    /// A JSON value a line.
    Lines,
    /// One JSON value.
    Whole,
}

/// What is wrong with an answer's envelope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It ended early.
    Cut(String),
    /// It is no answer.
    Unreadable(String),
    /// An error under the status of a success.
    Refused { status: Option<u16>, complaint: Complaint },
}

/// A protocol's wire format.
pub(crate) trait Wire: Send + Sync {
    fn paths(&self) -> Paths;

    fn key_header(&self) -> KeyHeader {
        KeyHeader::Bearer
    }

    /// Headers that every call carries.
    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// The ways of asking for a shape, strongest first.
    fn formats(&self) -> &'static [ReplyFormat];

    /// The call's body: JSON, written straight from its parts, since a tree of a long prompt and its schema costs more
    /// than all the rest of a call.
    fn body(&self, asking: &Asking<'_>) -> String;

    /// How a body of this content type, in lower case without parameters, is divided.
    fn framing(&self, content_type: &str) -> Framing {
        if content_type == "text/event-stream" { Framing::Events } else { Framing::Whole }
    }

    /// Takes in a whole answer.
    fn whole(&self, draft: &mut Draft, body: &str) -> Result<(), Fault>;

    /// Takes in one piece of an answer.
    fn piece(&self, draft: &mut Draft, data: &str) -> Result<(), Fault>;

    /// How large the endpoint says the model's context is, from the answer to [`Self::about_model`].
    fn context_of(&self, _about: &Value) -> Option<u64> {
        None
    }

    /// Where the endpoint tells about a model, and what to post there.
    fn about_model(&self, _model: &str) -> Option<(&'static [&'static str], Value)> {
        None
    }

    /// Where servers of this protocol may tell about themselves, from their root.
    fn about_server(&self) -> Option<&'static str> {
        None
    }

    /// Whether the caller sets the context's size.
    fn sets_context(&self) -> bool {
        false
    }
}

/// A body as text; nothing in one can't be written.
fn text_of(body: &impl Serialize) -> String {
    serde_json::to_string(body).unwrap_or_default()
}

/// Reads JSON into a typed piece.
fn parsed<'a, T: serde::Deserialize<'a>>(data: &'a str, what: &str) -> Result<T, Fault> {
    serde_json::from_str(data).map_err(|error| {
        if error.is_eof() {
            Fault::Cut(format!("{what} ends inside its JSON"))
        } else {
            Fault::Unreadable(format!("this is no {what}: {error}"))
        }
    })
}

/// An error object under a success; its own code or class says which status it would have had.
fn refused(error: &Value) -> Fault {
    let complaint = crate::structured::complaint_of(error);
    let code = error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
    let status = code.filter(|status| (400..600).contains(status)).or_else(|| complaint.status_in_words());
    Fault::Refused { status, complaint }
}

/// The body of a request to a model, in the JSON of a protocol.
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
