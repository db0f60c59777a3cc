//! Wire formats: how each protocol writes a request and words its answer. Pure; a file a protocol, one trait over all.

use artoo_proto::ModelRequest;
use serde::Serialize;
use serde_json::Value;

use crate::structured::{Complaint, Dialect, ReplyFormat};
use draft::Draft;

mod anthropic;
mod chat;
pub(crate) mod draft;
pub(crate) mod frames;
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
    /// The request's schema as text: it is counted, and stands in the prompt.
    pub(crate) schema_text: &'a str,
    /// Tokens of context to ask for, where the protocol leaves that to the caller.
    pub(crate) context_tokens: Option<u64>,
    /// Whether the schema stands in the prompt; a probe leaves it out to see whether the endpoint holds to it.
    pub(crate) schema_in_prompt: bool,
}

impl Asking<'_> {
    /// The call's material, with the schema last, so that everything before it can be cached.
    pub(crate) fn user(&self) -> String {
        if !self.schema_in_prompt {
            return self.request.prompt.user.clone();
        }
        format!(
            "{}\n\nAnswer with one JSON object that fits this JSON schema, and with nothing else:\n{}",
            self.request.prompt.user, self.schema_text
        )
    }

    /// What the call sends, estimated in tokens.
    pub(crate) fn prompt_tokens(&self) -> u64 {
        crate::usage::tokens_of_prompt(&self.request.prompt, self.schema_text)
    }
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
