//! Tests of optional request parts, and of how a client leaves out those that an endpoint refuses.

use artoo_llm::structured::{Dialect, ReplyFormat, complaint};
use artoo_llm::{ConfigError, Model, Protocol, Remote, RemoteConfig, Secret};
use serde_json::{Value, json};

use crate::fault_server::{Act, FaultServer};
use crate::{client, kind, request};

/// The description of the reply's form stands at the end of the prompt.
#[doc = "holds: client C14"]
#[test]
fn reply_form_ends_the_prompt() {
    for format in [ReplyFormat::JsonSchema, ReplyFormat::JsonObject, ReplyFormat::PromptOnly] {
        let request = request("list the files");
        let body =
            artoo_llm::request_body(Protocol::Chat, &request, "m", Dialect { stream: false, ..Dialect::full(format) });
        assert_eq!(body["messages"][0], json!({"role": "system", "content": "You call tools."}));
        let user = body["messages"][1]["content"].as_str().unwrap();
        assert!(user.starts_with("list the files\n") && user.ends_with(":\n{\"tool\":string}"), "{user}");
        assert_eq!((&body["model"], &body["stream"], &body["max_tokens"]), (&json!("m"), &json!(false), &json!(256)));
        let wanted = match format {
            ReplyFormat::JsonSchema => json!({
                "type": "json_schema",
                "json_schema": {"name": "tool_call", "strict": true, "schema": request.schema}
            }),
            ReplyFormat::JsonObject => json!({"type": "json_object"}),
            _ => Value::Null,
        };
        assert_eq!(body["response_format"], wanted);
    }
}

#[test]
fn every_form_of_error_body_is_parsed() {
    let check = |text: &str, message: &str, param: Option<&str>| {
        let read = complaint(text);
        assert_eq!((read.message.as_str(), read.param.as_deref()), (message, param), "{text}");
    };
    check(r#"{"error":{"message":"no","param":"response_format","code":null}}"#, "no", Some("response_format"));
    check(r#"{"error":"no"}"#, "no", None);
    check(r#"{"message":"no","code":400}"#, "no", None);
    check(r#"{"detail":[{"msg":"no"}]}"#, r#"[{"msg":"no"}]"#, None);
    check(" plain words\n", "plain words", None);
    check("[1]", "[1]", None);
}

/// A reply format that the endpoint refuses is left out in this call and later ones.
#[doc = "holds: client C7"]
#[tokio::test]
async fn refused_response_format_is_omitted_later() {
    let server = FaultServer::deciding(|_, body| match body["response_format"]["type"].as_str() {
        None => Act::answer("Sure: {\"tool\":\"ls\"}"),
        Some(_) => Act::json(400, &json!({"error": {"message": "This response_format type is unavailable now"}})),
    })
    .await;
    let client = client(&server.url());
    let reply = client.ask(&request("list")).await.unwrap();
    assert_eq!(reply.usage.model_calls, 1);
    assert_eq!(server.seen().len(), 4);
    assert_eq!(client.dialect().format, ReplyFormat::ForcedTool);
    client.ask(&request("list")).await.unwrap();
    assert_eq!(server.seen().len(), 5);
}

/// The number of tries without refused request parts is limited.
#[doc = "holds: client C7"]
#[tokio::test]
async fn tries_without_refused_formats_are_limited() {
    let server = FaultServer::deciding(|n, _| {
        let param = ["response_format", "max_tokens", "temperature"][n % 3];
        Act::json(400, &json!({"error": {"message": "no", "param": param}}))
    })
    .await;
    let client = client(&server.url());
    let failure = client.ask(&request("list")).await.unwrap_err();
    assert_eq!(kind(&failure), "rejected 400");
    assert!(server.seen().len() <= 9, "{}", server.seen().len());
    assert_eq!(client.dialect().format, ReplyFormat::JsonSchema);
}

#[doc = "holds: design F6"]
#[test]
fn missing_settings_are_reported_before_any_call() {
    let check = |set: &[(&str, &str)], expected: Result<&str, ConfigError>| {
        let config = RemoteConfig::from_variables(Protocol::Chat, |name| {
            Ok(set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
        });
        let client = config.and_then(artoo_llm::Remote::new).map(|client| client.name());
        assert_eq!(client.as_deref(), expected.as_ref().copied(), "{set:?}");
    };
    let missing = |name| Err(ConfigError::Missing { name });
    let key = ("OPENAI_API_KEY", "sk-canary\n");
    let model = ("OPENAI_MODEL", "m");
    check(&[key, model], Ok("m"));
    check(&[("OPENAI_BASE_URL", "http://127.0.0.1:1"), model], Ok("m"));
    check(&[], missing("OPENAI_API_KEY"));
    check(&[key], missing("OPENAI_MODEL"));
    check(&[key, ("OPENAI_MODEL", " ")], missing("OPENAI_MODEL"));
    check(&[("OPENAI_BASE_URL", "https://api.openai.com"), model], missing("OPENAI_API_KEY"));
    check(&[("OPENAI_API_KEY", "sk-\u{7f}"), model], Err(ConfigError::KeyNotSendable));
    check(&[("OPENAI_API_KEY", "sk-ä"), model], Err(ConfigError::KeyNotSendable));
}

/// The part of a prompt that stays the same is marked for the endpoint's cache.
#[doc = "holds: law 3"]
#[test]
fn stable_prompt_part_is_marked_for_caching() {
    let check = |protocol: Protocol, url: &str, named: bool, marked: bool| {
        let config = RemoteConfig { api_key: Some(Secret::new("k")), ..RemoteConfig::new(protocol, url, "m") };
        let dialect = Remote::new(config).unwrap().dialect();
        let body = artoo_llm::request_body(protocol, &request("list"), "m", dialect);
        assert_eq!(body.get("prompt_cache_key").is_some(), named, "{url}: {body}");
        assert_eq!(body.to_string().contains("cache_control"), marked, "{url}: {body}");
        let plain = Dialect { cache: false, ..dialect };
        let body = artoo_llm::request_body(protocol, &request("list"), "m", plain).to_string();
        assert!(!body.contains("cache"), "{body}");
    };
    check(Protocol::Chat, "https://api.openai.com/v1", true, false);
    check(Protocol::Responses, "https://api.openai.com/v1", true, false);
    check(Protocol::Chat, "https://x.example/v1", false, false);
    check(Protocol::Responses, "http://127.0.0.1:1", false, false);
    check(Protocol::Anthropic, "https://api.anthropic.com", false, true);
    check(Protocol::Anthropic, "https://x.example", false, true);
    check(Protocol::Ollama, "http://127.0.0.1:1", false, false);
}
