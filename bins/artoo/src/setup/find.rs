//! Finds model endpoints for setup: servers on this machine, and keys and URLs in the environment.

use std::time::Duration;

use artoo_llm::remote::Variables as Names;
use artoo_llm::{Protocol, Remote, RemoteConfig};

use crate::variables::Variables;

/// Time limit of each request to an endpoint while setup looks for models.
pub(super) const LOOK_TIMEOUT: Duration = Duration::from_millis(800);

/// Programs that serve models on this machine, with their default ports and protocols.
const SERVERS: [(&str, u16, Protocol); 4] = [
    ("Ollama", 11434, Protocol::Ollama),
    ("llama.cpp", 8080, Protocol::Chat),
    ("LM Studio", 1234, Protocol::Chat),
    ("vLLM", 8000, Protocol::Chat),
];

/// Variables that conventionally hold a key, with the protocol and URL of each.
const KEYS: [(&str, Protocol, &str); 9] = [
    ("OPENAI_API_KEY", Protocol::Chat, "https://api.openai.com/v1"),
    ("ANTHROPIC_API_KEY", Protocol::Anthropic, "https://api.anthropic.com"),
    ("DEEPSEEK_API_KEY", Protocol::Chat, "https://api.deepseek.com/v1"),
    ("OPENROUTER_API_KEY", Protocol::Chat, "https://openrouter.ai/api/v1"),
    ("GROQ_API_KEY", Protocol::Chat, "https://api.groq.com/openai/v1"),
    ("MISTRAL_API_KEY", Protocol::Chat, "https://api.mistral.ai/v1"),
    ("TOGETHER_API_KEY", Protocol::Chat, "https://api.together.xyz/v1"),
    ("XAI_API_KEY", Protocol::Chat, "https://api.x.ai/v1"),
    ("GEMINI_API_KEY", Protocol::Chat, "https://generativelanguage.googleapis.com/v1beta/openai"),
];

/// Protocols whose endpoint's URL an environment variable can set; setup looks there too.
const NAMED: [Protocol; 3] = [Protocol::Chat, Protocol::Anthropic, Protocol::Ollama];

/// A model endpoint that setup found on this machine or by an environment variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FoundEndpoint {
    name: String,
    pub(super) protocol: Protocol,
    pub(super) base_url: String,
    /// Models that the endpoint lists; empty if it was not asked or did not answer.
    pub(super) models: Vec<String>,
    pub(super) key_variable: Option<String>,
}

impl FoundEndpoint {
    /// Description of the found endpoint for a list of choices.
    pub(super) fn description(&self) -> String {
        let models = match self.models.as_slice() {
            [] => String::new(),
            [one] => format!(", model {one}"),
            many => format!(", {} models", many.len()),
        };
        let key = self.key_variable.as_ref().map(|name| format!(", key from {name}")).unwrap_or_default();
        format!("{} at {}{models}{key}", self.name, artoo_llm::shown_url(&self.base_url))
    }
}

/// Finds model endpoints, asking them in parallel. Contacts only this machine and URLs set in the environment, no
/// others for which a key is set.
pub(super) async fn look(variables: &Variables, time: Duration) -> Vec<FoundEndpoint> {
    let named: Vec<(Protocol, RemoteConfig)> =
        NAMED.into_iter().filter_map(|protocol| Some((protocol, named(protocol, variables)?))).collect();
    let mut looks: Vec<_> = named
        .iter()
        .map(|(protocol, config)| {
            let names = Names::of(*protocol);
            let key_variable = config.api_key.is_some().then(|| names.key.to_owned());
            let config = RemoteConfig { total_deadline: time, ..config.clone() };
            tokio::spawn(answering(names.base_url.to_owned(), config, key_variable, true))
        })
        .collect();
    looks.extend(SERVERS.map(|(name, port, protocol)| {
        let config = RemoteConfig { total_deadline: time, ..RemoteConfig::new(protocol, local(protocol, port), "any") };
        tokio::spawn(answering(format!("{name}'s port"), config, None, false))
    }));
    let mut found: Vec<FoundEndpoint> = Vec::new();
    for look in looks {
        let Ok(Some(server)) = look.await else { continue };
        let is_known = |other: &FoundEndpoint| artoo_llm::remote::same_origin(&other.base_url, &server.base_url);
        if !found.iter().any(is_known) {
            found.push(server);
        }
    }
    // If the environment sets a URL for a protocol, the protocol's key belongs to that URL.
    let is_free = |variable: &str| !named.iter().any(|(protocol, _)| Names::of(*protocol).key == variable);
    let keys = KEYS.iter().filter(|(variable, ..)| is_free(variable) && variables.raw(variable).is_some());
    found.extend(keys.map(|(variable, protocol, base_url)| FoundEndpoint {
        name: "the endpoint".to_owned(),
        protocol: *protocol,
        base_url: (*base_url).to_owned(),
        models: Vec::new(),
        key_variable: Some((*variable).to_owned()),
    }));
    found
}

/// The configuration of a protocol's endpoint from environment variables; `None` if no variable sets its URL.
fn named(protocol: Protocol, variables: &Variables) -> Option<RemoteConfig> {
    let names = Names::of(protocol);
    variables.text(names.base_url).ok().flatten()?;
    let lookup = |name: &'static str| {
        let own = variables.text(name).ok().flatten();
        Ok(if name == names.model { Some("any".to_owned()) } else { own })
    };
    RemoteConfig::from_variables(protocol, lookup).ok()
}

/// The URL of a model server on this machine that listens on a port.
fn local(protocol: Protocol, port: u16) -> String {
    let version = if protocol == Protocol::Ollama { "" } else { "/v1" };
    format!("http://127.0.0.1:{port}{version}")
}

/// Asks an endpoint for its models; `None` if it lists none, unless the user set its URL (`is_named`).
async fn answering(
    name: String,
    config: RemoteConfig,
    key_variable: Option<String>,
    is_named: bool,
) -> Option<FoundEndpoint> {
    let listed = listed(config.clone()).await;
    if listed.is_none() && !is_named {
        return None;
    }
    let (protocol, models) = (config.protocol, listed.unwrap_or_default());
    Some(FoundEndpoint { name, protocol, base_url: config.base_url, models, key_variable })
}

/// The models that an endpoint lists; `None` if it can't be asked or gives no list.
pub(super) async fn listed(config: RemoteConfig) -> Option<Vec<String>> {
    let listed = Remote::new(config).ok()?.models().await.ok()?;
    Some(listed.into_iter().map(|model| model.name).collect())
}

/// Guesses the protocol of an endpoint from its URL's path or host, or by asking whether it is Ollama.
pub(super) async fn likely(base_url: &str, time: Duration) -> Protocol {
    let path = base_url.trim_end_matches('/');
    let tails =
        [("/messages", Protocol::Anthropic), ("/responses", Protocol::Responses), ("/api/chat", Protocol::Ollama)];
    if let Some((_, protocol)) = tails.into_iter().find(|(tail, _)| path.ends_with(tail)) {
        return protocol;
    }
    if artoo_llm::remote::same_origin(base_url, Names::of(Protocol::Anthropic).own_url) {
        return Protocol::Anthropic;
    }
    let config = RemoteConfig { total_deadline: time, ..RemoteConfig::new(Protocol::Ollama, base_url, "any") };
    match Remote::new(config) {
        Ok(remote) if remote.is_ollama().await => Protocol::Ollama,
        Ok(_) | Err(_) => Protocol::Chat,
    }
}

/// Tests of how setup finds endpoints.
#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::sync::{Arc, Barrier};
    use std::time::Duration;

    use artoo_llm::Protocol;

    use super::{FoundEndpoint, likely, look};
    use crate::variables::Variables;

    /// Time limit long enough that no test reaches it.
    const TIME: Duration = Duration::from_secs(30);

    const MODELS: &str = r#"{"data": [{"id": "m1"}, {"id": "m2"}], "version": "0.5.1"}"#;

    /// A server that answers every request with `body`, once all servers that share its barrier have been asked.
    fn server(body: &'static str, others: &Arc<Barrier>) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let others = Arc::clone(others);
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let mut bytes = [0; 4096];
                drop(stream.read(&mut bytes));
                others.wait();
                let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n";
                drop(write!(stream, "{head}content-length: {}\r\n\r\n{body}", body.len()));
            }
        });
        address
    }

    /// Setup asks the endpoints named in the environment at the same time, not one after another.
    #[tokio::test]
    async fn environment_addresses_are_probed_concurrently() {
        // Each server answers only when the others have been asked too.
        let barrier = Arc::new(Barrier::new(3));
        let [chat, anthropic, ollama] = [(); 3].map(|()| server(MODELS, &barrier));
        let variables = Variables::of(&[
            ("OPENAI_BASE_URL", &format!("http://{chat}/v1")),
            ("ANTHROPIC_BASE_URL", &format!("http://{anthropic}")),
            ("ANTHROPIC_API_KEY", "a"),
            ("OLLAMA_HOST", &ollama),
            ("GROQ_API_KEY", "g"),
        ]);
        let found = look(&variables, TIME).await;
        let of = |name: &str, protocol, base_url: String, models: &[&str], key: Option<&str>| FoundEndpoint {
            name: name.to_owned(),
            protocol,
            base_url,
            models: models.iter().map(|model| (*model).to_owned()).collect(),
            key_variable: key.map(str::to_owned),
        };
        let models = ["m1", "m2"];
        let groq = "https://api.groq.com/openai/v1".to_owned();
        // Servers on this machine's usual ports don't belong to the test.
        let known: Vec<FoundEndpoint> = found.into_iter().filter(|found| !found.name.ends_with("'s port")).collect();
        assert_eq!(
            known,
            [
                of("OPENAI_BASE_URL", Protocol::Chat, format!("http://{chat}/v1"), &models, None),
                of(
                    "ANTHROPIC_BASE_URL",
                    Protocol::Anthropic,
                    format!("http://{anthropic}"),
                    &models,
                    Some("ANTHROPIC_API_KEY")
                ),
                of("OLLAMA_HOST", Protocol::Ollama, format!("http://{ollama}"), &models, None),
                of("the endpoint", Protocol::Chat, groq, &[], Some("GROQ_API_KEY")),
            ]
        );
    }

    /// Setup guesses an endpoint's protocol from its URL, or from the answer of an Ollama server.
    #[tokio::test]
    async fn protocol_is_guessed_from_address_or_reply() {
        let alone = Arc::new(Barrier::new(1));
        let (ollama, other) = (server(MODELS, &alone), server(r#"{"data": []}"#, &alone));
        let check = async |url: &str, expected: Protocol| assert_eq!(likely(url, TIME).await, expected, "{url}");
        check(&format!("http://{ollama}"), Protocol::Ollama).await;
        check(&format!("http://{ollama}/v1"), Protocol::Ollama).await;
        check(&format!("http://{other}/v1"), Protocol::Chat).await;
        check("https://x.example/v1/messages/", Protocol::Anthropic).await;
        check("https://api.anthropic.com/v1", Protocol::Anthropic).await;
        check("https://x.example/v1/responses", Protocol::Responses).await;
        check("no address", Protocol::Chat).await;
    }
}
