//! Tests of the scripted model: its answers, usage and recorded requests.

use std::time::Duration;

use artoo_llm::Model;
use artoo_llm::scripted::{Script, Scripted};
use artoo_proto::{Abstention, ModelFailure, ReplyBody, Usage};
use serde_json::json;

use crate::{kind, request, value};

#[tokio::test]
async fn scripted_model_answers_as_scripted() {
    let model = Scripted::new(|request| match request.prompt.user.as_str() {
        "json" => Script::Json(json!({"tool": 7})),
        "text" => Script::Text("```{\"tool\":\"ls\"}```".to_owned()),
        "broken" => Script::Text("{\"tool\":\"l".to_owned()),
        "abstain" => Script::Body(ReplyBody::Abstain {
            abstention: Abstention {
                understood: String::new(),
                not_understood: vec![],
                remedy: "ask".to_owned(),
                offer: None,
            },
        }),
        "fail" => Script::Fail(ModelFailure::Cancelled),
        _ => Script::Never,
    });
    let json = model.ask(&request("json")).await.unwrap();
    assert_eq!((value(&json), json.usage.model_calls), (&json!({"tool": 7}), 1));
    assert_eq!(value(&model.ask(&request("text")).await.unwrap()), &json!({"tool": "ls"}));
    assert_eq!(kind(&model.ask(&request("broken")).await.unwrap_err()), "cut");
    assert_eq!(model.ask(&request("abstain")).await.unwrap().usage, Usage::default());
    assert_eq!(model.ask(&request("fail")).await, Err(ModelFailure::Cancelled));
    assert!(tokio::time::timeout(Duration::from_millis(20), model.ask(&request("never"))).await.is_err());
    let users: Vec<String> = model.requests().into_iter().map(|request| request.prompt.user).collect();
    assert_eq!(users, ["json", "text", "broken", "abstain", "fail", "never"]);
}
