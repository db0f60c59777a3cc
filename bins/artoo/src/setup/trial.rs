//! Setup's trial call to the chosen model, and what it shows about the endpoint.

use std::time::Instant;

use artoo_llm::structured::ReplyFormat;
use artoo_llm::{Model, Remote, RemoteConfig};
use artoo_proto::{ModelFailure, ReplyBody, escape};
use serde_json::json;

use crate::abilities;
use crate::terminal::person::Person;

/// Calls the chosen model once and shows the outcome; true for an answer of the right form, even a wrong one, false if
/// the call failed.
pub(super) async fn tried(person: &Person<'_>, config: RemoteConfig) -> bool {
    let address = artoo_llm::call_address(&config).unwrap_or_else(|_| artoo_llm::shown_url(&config.base_url));
    person.says(&format!("Asking {} at {address} one question …", escape::one_line(&config.model)));
    let model = match Remote::new(config) {
        Ok(model) => model,
        Err(problem) => {
            person.warns(&problem.to_string());
            return false;
        }
    };
    let began = Instant::now();
    let words = "What is 2 + 3?";
    let Some(question) = abilities::question(words, "Reply with one JSON object: {\"sum\": <number>}") else {
        return false;
    };
    match model.ask(&question).await {
        Ok(reply) => {
            let is_right = matches!(&reply.body, ReplyBody::Json { value } if value == &json!({"sum": 5}));
            let ms = began.elapsed().as_millis();
            let tokens = reply.usage.prompt_tokens + reply.usage.completion_tokens;
            let verdict = if is_right { "the right answer" } else { "an answer of the right form, but wrong" };
            person.says(&format!("It gave {verdict} after {ms} ms ({tokens} tokens)."));
            person.says(&found(&model, &reply.model).await);
            true
        }
        Err(failure) => {
            person.warns(&format!("It did not work: {failure}"));
            if matches!(failure, ModelFailure::Unauthorized { .. }) {
                person.says("The key is missing or not accepted.");
            }
            false
        }
    }
}

/// Describes what the trial call and the endpoint's list of models show about the endpoint.
async fn found(model: &Remote, answering: &str) -> String {
    let dialect = model.dialect();
    let asked = match dialect.format {
        ReplyFormat::JsonSchema | ReplyFormat::StrictSchema => "it took a JSON schema",
        ReplyFormat::JsonObject => "it took no JSON schema, but the wish for a JSON object",
        ReplyFormat::ForcedTool => "it was asked by a forced tool call",
        ReplyFormat::PromptOnly => "it was asked by the prompt alone",
    };
    let mut parts = vec![asked.to_owned()];
    if !dialect.stream {
        parts.push("it refuses to answer in pieces".to_owned());
    }
    let name = &model.config().model;
    if answering != name {
        parts.push(format!("it answers as {}", escape::one_line(answering)));
    }
    let listed = model.models().await.unwrap_or_default();
    let listed = listed.into_iter().find(|listed| listed.name == *name);
    let context = listed.and_then(|listed| listed.context_tokens);
    parts.extend(context.map(|tokens| format!("its context has {tokens} tokens")));
    format!("Found: {}. artoo doctor --probe finds out more.", parts.join("; "))
}
