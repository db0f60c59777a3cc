//! A minimal Chat Completions client, as the baseline of a benchmark.

use serde_json::{Value, json};

use crate::ConfigError;
use crate::remote::RemoteConfig;
use crate::transport::{self, ClientSettings};

/// A Chat Completions client without retries, limits, checks or keys, with which a benchmark compares the real one.
#[derive(Debug, Clone)]
pub struct Bare {
    client: reqwest::Client,
    url: reqwest::Url,
    model: String,
}

impl Bare {
    /// Creates a client for the endpoint of a Chat Completions configuration.
    ///
    /// # Errors
    /// If the URL or the HTTP client can't be used.
    pub fn new(config: &RemoteConfig) -> Result<Self, ConfigError> {
        let url = crate::remote::call_url(config)?;
        let settings = ClientSettings { connect_timeout: config.connect_timeout, ca_file: None, direct: true };
        let unusable = |_| ConfigError::Missing { name: "an HTTP client" };
        let client = transport::client(&settings).map_err(unusable)?;
        Ok(Self { client, url, model: config.model.clone() })
    }

    /// Sends two messages and returns the answer's text; `None` on any error.
    pub async fn ask(&self, system: &str, user: &str) -> Option<String> {
        let body = json!({
            "model": self.model,
            "messages": [{"role": "system", "content": system}, {"role": "user", "content": user}]
        });
        let request = self.client.post(self.url.clone()).header("content-type", "application/json");
        let response = request.body(body.to_string()).send().await.ok()?;
        let answer: Value = serde_json::from_slice(&response.bytes().await.ok()?).ok()?;
        answer.pointer("/choices/0/message/content")?.as_str().map(str::to_owned)
    }
}
