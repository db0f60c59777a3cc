//! The syntax of a model's choice, such as `openai:NAME@URL`, and its parser.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use artoo_llm::Protocol;

/// A model as the user chooses it in `--model` or `ARTOO_MODEL`: reflex, an endpoint, a file, or a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ModelKind {
    /// The built-in parser of requests; no language model.
    Reflex,
    /// A model at an HTTP endpoint.
    Remote {
        protocol: Protocol,
        /// The endpoint's name for the model; by default from the protocol's variable.
        name: Option<String>,
        /// The endpoint's URL; by default from the protocol's variable.
        base_url: Option<String>,
    },
    /// A model file on this machine, run in this process.
    File {
        /// A name as `artoo model list` shows it, or a path.
        model: String,
    },
    /// Replies replayed from a recording of earlier calls; no model is called.
    Cassette {
        /// Path of the recording.
        path: PathBuf,
    },
}

/// Error for an invalid model choice.
const UNKNOWN_MODEL: &str = "give reflex, file:NAME, file:PATH, cassette:PATH, or openai, responses, anthropic or ollama, each alone, with :NAME or with :NAME@URL";

impl ModelKind {
    /// A model at the configured Chat Completions endpoint; `name` is the endpoint's name for the model.
    pub(crate) fn openai(name: Option<String>) -> Self {
        Self::Remote { protocol: Protocol::Chat, name, base_url: None }
    }

    /// The name or path of the model file; `None` for other models.
    pub(crate) fn file(&self) -> Option<&str> {
        if let Self::File { model } = self { Some(model) } else { None }
    }
}

impl FromStr for ModelKind {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (word, rest) = text.split_once(':').map_or((text, None), |(word, rest)| (word, Some(rest.trim())));
        if let Some(protocol) = Protocol::ALL.into_iter().find(|protocol| protocol.name() == word) {
            let Some(rest) = rest else { return Ok(Self::Remote { protocol, name: None, base_url: None }) };
            let url = rest.find("@http://").or_else(|| rest.find("@https://"));
            let (name, base_url) = match url.and_then(|at| rest.split_at_checked(at)) {
                Some((name, url)) => (name.trim(), Some(url.trim_start_matches('@').to_owned())),
                None => (rest, None),
            };
            if name.is_empty() {
                return Err(UNKNOWN_MODEL);
            }
            return Ok(Self::Remote { protocol, name: Some(name.to_owned()), base_url });
        }
        match (word, rest) {
            ("reflex", None) => Ok(Self::Reflex),
            ("file", Some(model)) if !model.is_empty() => Ok(Self::File { model: model.to_owned() }),
            ("cassette", Some(path)) if !path.is_empty() => Ok(Self::Cassette { path: PathBuf::from(path) }),
            _ => Err(UNKNOWN_MODEL),
        }
    }
}

impl fmt::Display for ModelKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reflex => f.write_str("reflex"),
            Self::File { model } => write!(f, "file:{model}"),
            Self::Cassette { path } => write!(f, "cassette:{}", path.display()),
            Self::Remote { protocol, name, base_url } => {
                f.write_str(protocol.name())?;
                if let Some(name) = name {
                    write!(f, ":{name}")?;
                }
                base_url.as_ref().map_or(Ok(()), |url| write!(f, "@{}", artoo_llm::shown_url(url)))
            }
        }
    }
}

/// A list of models, written with commas or spaces between them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ModelList(pub(crate) Vec<ModelKind>);

impl FromStr for ModelList {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let words = text.split([',', ' ']).map(str::trim).filter(|word| !word.is_empty());
        words.map(str::parse).collect::<Result<_, _>>().map(Self)
    }
}
