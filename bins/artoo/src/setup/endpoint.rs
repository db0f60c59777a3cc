//! Asks the user for an endpoint: URL, protocol, key and model.

use artoo_llm::{ConfigError, Protocol, RemoteConfig, Secret};

use super::find;
use crate::config::{self, Setting};
use crate::terminal::person::Person;
use crate::variables::Variables;

/// Endpoint protocols that the user can choose from, each with a description.
const SPOKEN: [(Protocol, &str); 4] = [
    (Protocol::Chat, "OpenAI's Chat Completions, which most servers speak"),
    (Protocol::Responses, "OpenAI's Responses"),
    (Protocol::Anthropic, "Anthropic's Messages"),
    (Protocol::Ollama, "Ollama's own protocol"),
];

/// Descriptions of the places of an endpoint's key that the user can choose from.
const PLACES: [&str; 5] = [
    "it needs none",
    "a variable of the environment: I type its name",
    "a file that only I can read: I type its path",
    "a command, such as a password manager's: I type it",
    "I type the key",
];

/// Maximum number of an endpoint's models in the list of choices; others are typed by name.
const MODELS_SHOWN: usize = 20;

/// Maximum number of invalid answers to a question of setup; after that setup is given up.
const TRIES: u32 = 5;

/// A model endpoint as the user described it to `artoo setup`: protocol, URL, models, and where its key is.
pub(super) struct Endpoint {
    pub(super) protocol: Protocol,
    pub(super) base_url: String,
    /// Models that the endpoint lists; empty if it lists none.
    pub(super) models: Vec<String>,
    pub(super) key: Option<KeyPlace>,
}

/// Where the endpoint's key is stored. Does not implement `Debug`, since it may hold the key.
pub(super) enum KeyPlace {
    Variable(String),
    File(String),
    Command(String),
    /// The key itself, until setup writes it to a file.
    Typed(String),
}

impl KeyPlace {
    /// The setting (name and value) that records where the key is; `None` for a typed key, which is first written to a
    /// file.
    pub(super) fn setting(&self) -> Option<(Setting, String)> {
        match self {
            Self::Variable(name) => Some((Setting::SecretVariable, name.clone())),
            Self::File(path) => Some((Setting::SecretFile, path.clone())),
            Self::Command(command) => Some((Setting::SecretCommand, command.clone())),
            Self::Typed(_) => None,
        }
    }

    /// Reads the key from its place; an error does not quote the key.
    pub(super) fn secret(&self, variables: &Variables) -> Result<Secret, String> {
        match self {
            Self::Variable(name) => {
                let value = variables.raw(name).and_then(|value| value.to_str());
                value.map(|key| Secret::new(key.trim())).ok_or_else(|| "that variable is not set here".to_owned())
            }
            Self::File(path) => config::key_in(std::path::Path::new(path))
                .map(Secret::new)
                .map_err(|problem| format!("{problem}; {}", problem.remedy())),
            Self::Command(command) => {
                config::key_from(command).map(Secret::new).map_err(|problem| format!("that command {problem}"))
            }
            Self::Typed(key) => Ok(Secret::new(key.as_str())),
        }
    }
}

/// Asks the user for an endpoint's URL, protocol and key, and lists the endpoint's models; `None` if the user leaves.
pub(super) async fn described(person: &Person<'_>, variables: &Variables) -> Option<Endpoint> {
    let base_url = usable_address(person)?;
    let protocol = spoken(person, find::likely(&base_url, find::LOOK_TIMEOUT).await)?;
    let (key, secret) = key_of(person, variables)?;
    let mut config = RemoteConfig::new(protocol, base_url.clone(), "any");
    config.api_key = secret;
    config.total_deadline = find::LOOK_TIMEOUT;
    let models = find::listed(config).await.unwrap_or_default();
    Some(Endpoint { protocol, base_url, models, key })
}

/// Asks the user for a valid URL; `None` if the user leaves.
fn usable_address(person: &Person<'_>) -> Option<String> {
    for _ in 0..TRIES {
        let typed = person.types("Its address, such as http://localhost:8080/v1 (empty: leave): ")?;
        match artoo_llm::call_address(&RemoteConfig::new(Protocol::Chat, typed.clone(), "any")) {
            Ok(_) => return Some(typed),
            Err(ConfigError::BaseUrl { problem, .. }) => person.warns(&format!("“{typed}” can't be used: {problem}")),
            Err(problem) => person.warns(&problem.to_string()),
        }
    }
    None
}

/// Asks the user for the endpoint's protocol, with the likely one listed first; `None` if the user leaves.
fn spoken(person: &Person<'_>, likely: Protocol) -> Option<Protocol> {
    let mut spoken = SPOKEN.to_vec();
    spoken.sort_by_key(|(protocol, _)| *protocol != likely);
    let lines: Vec<String> = spoken.iter().map(|(_, words)| (*words).to_owned()).collect();
    let picked = person.picks("What does it speak?", &lines)?;
    spoken.get(picked).map(|(protocol, _)| *protocol)
}

/// Asks where the endpoint's key is, again if the key can't be read; returns the place and the key, both `None` if no
/// key is needed.
fn key_of(person: &Person<'_>, variables: &Variables) -> Option<(Option<KeyPlace>, Option<Secret>)> {
    for _ in 0..TRIES {
        let place = match person.picks("Where is its key?", &PLACES.map(str::to_owned))? {
            0 => return Some((None, None)),
            1 => KeyPlace::Variable(person.types("The variable's name (empty: leave): ")?),
            2 => {
                let path = config::expanded(&variables.home(), &person.types("The file's path (empty: leave): ")?);
                KeyPlace::File(path.to_string_lossy().into_owned())
            }
            3 => KeyPlace::Command(person.types("The command; the first line it prints is the key (empty: leave): ")?),
            _ => KeyPlace::Typed(person.types_secret("Its key (nothing is shown while you type; q: leave): ")?),
        };
        match place.secret(variables) {
            Ok(secret) if secret.is_empty() => person.warns("There is no key in that."),
            Ok(secret) => return Some((Some(place), Some(secret))),
            Err(problem) => person.warns(&format!("There is no key: {problem}.")),
        }
    }
    None
}

/// Asks the user for one of the endpoint's models, unless it has only one; `None` if the user leaves.
pub(super) fn choose_model(person: &Person<'_>, models: &[String]) -> Option<String> {
    match models {
        [] => person.types("The endpoint's name for the model (empty: leave): "),
        [one] => Some(one.clone()),
        many => {
            let mut lines: Vec<String> = many.iter().take(MODELS_SHOWN).cloned().collect();
            lines.push(format!("another of its {} models: I type the name", many.len()));
            let picked = person.picks("Which model?", &lines)?;
            match many.get(picked).filter(|_| picked + 1 < lines.len()) {
                Some(name) => Some(name.clone()),
                None => person.types("The model's name (empty: leave): "),
            }
        }
    }
}
