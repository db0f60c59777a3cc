//! What could answer here: servers that listen on this machine, and keys in the environment.

use std::time::Duration;

use artoo_llm::{Protocol, Remote, RemoteConfig, Secret};

use crate::settings::Variables;

/// A server on this machine answers at once or is not there.
const LOOK_TIMEOUT: Duration = Duration::from_millis(800);

/// Programs that serve models, with the ports they listen on by default.
const SERVERS: [(&str, u16); 4] = [("Ollama", 11434), ("llama.cpp", 8080), ("LM Studio", 1234), ("vLLM", 8000)];

/// Variables that hold a key by convention, and the endpoint each is for.
const KEYS: [(&str, &str); 8] = [
    ("OPENAI_API_KEY", "https://api.openai.com/v1"),
    ("DEEPSEEK_API_KEY", "https://api.deepseek.com/v1"),
    ("OPENROUTER_API_KEY", "https://openrouter.ai/api/v1"),
    ("GROQ_API_KEY", "https://api.groq.com/openai/v1"),
    ("MISTRAL_API_KEY", "https://api.mistral.ai/v1"),
    ("TOGETHER_API_KEY", "https://api.together.xyz/v1"),
    ("XAI_API_KEY", "https://api.x.ai/v1"),
    ("GEMINI_API_KEY", "https://generativelanguage.googleapis.com/v1beta/openai"),
];

/// Something that could answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    name: String,
    pub(super) base_url: String,
    /// Those it lists; empty where it was not asked.
    pub(super) models: Vec<String>,
    pub(super) key_variable: Option<String>,
}

impl Found {
    /// One line for a list to choose from.
    pub(super) fn told(&self) -> String {
        let models = match self.models.as_slice() {
            [] => String::new(),
            [one] => format!(", model {one}"),
            many => format!(", {} models", many.len()),
        };
        let key = self.key_variable.as_ref().map(|name| format!(", key from {name}")).unwrap_or_default();
        format!("{} at {}{models}{key}", self.name, artoo_llm::shown_url(&self.base_url))
    }
}

/// Looks everywhere at once. Only this machine is contacted: a key's endpoint is not, before it is chosen.
pub(super) async fn look(variables: &Variables) -> Vec<Found> {
    let mut looks: Vec<_> = SERVERS
        .iter()
        .map(|(name, port)| {
            let base_url = format!("http://127.0.0.1:{port}/v1");
            tokio::spawn(server((*name).to_owned(), base_url))
        })
        .collect();
    let told = variables.text("OPENAI_BASE_URL").ok().flatten();
    let base_key = variables.text("OPENAI_API_KEY").ok().flatten();
    if let Some(base_url) = told.clone() {
        looks.insert(0, tokio::spawn(named(base_url, base_key)));
    }
    let mut found: Vec<Found> = Vec::new();
    for look in looks {
        let Ok(Some(server)) = look.await else { continue };
        if !found.iter().any(|other| other.base_url == server.base_url) {
            found.push(server);
        }
    }
    // With an address of its own the key is that address's.
    let is_free = |variable: &str| variable != "OPENAI_API_KEY" || told.is_none();
    let keys = KEYS.iter().filter(|(variable, _)| is_free(variable) && variables.raw(variable).is_some());
    found.extend(keys.map(|(variable, base_url)| Found {
        name: "the endpoint".to_owned(),
        base_url: (*base_url).to_owned(),
        models: Vec::new(),
        key_variable: Some((*variable).to_owned()),
    }));
    found
}

/// A server that lists its models; anything else on that port is none.
async fn server(name: String, base_url: String) -> Option<Found> {
    let models = listed(&base_url, None).await?;
    Some(Found { name, base_url, models, key_variable: None })
}

/// The endpoint that OPENAI_BASE_URL names, whether it answers or not.
async fn named(base_url: String, key: Option<String>) -> Option<Found> {
    let key_variable = key.is_some().then(|| "OPENAI_API_KEY".to_owned());
    let models = listed(&base_url, key).await.unwrap_or_default();
    Some(Found { name: "OPENAI_BASE_URL".to_owned(), base_url, models, key_variable })
}

async fn listed(base_url: &str, key: Option<String>) -> Option<Vec<String>> {
    let mut config = RemoteConfig::new(Protocol::Chat, base_url, "any");
    config.api_key = key.map(Secret::new);
    config.total_deadline = LOOK_TIMEOUT;
    let listed = Remote::new(config).ok()?.models().await.ok()?;
    Some(listed.into_iter().map(|model| model.name).collect())
}
