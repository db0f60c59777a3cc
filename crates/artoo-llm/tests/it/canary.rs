//! Tests that a key which an endpoint repeats in its responses appears in no failure, reply or debug output.

use artoo_llm::{Model, Remote};
use serde_json::json;

use crate::fault_server::{Act, FaultServer};
use crate::{KEY, completion, config, request};

#[doc = "holds: fault L4"]
#[tokio::test]
async fn errors_and_debug_output_omit_the_key() {
    let echo = json!({"error": {"message": format!("bad key {KEY}"), "param": KEY, "code": KEY}});
    let mut refusal = completion("x");
    refusal["choices"][0]["message"]["refusal"] = format!("not for {KEY}").into();
    let mut finish = completion("x");
    finish["choices"][0]["finish_reason"] = KEY.into();
    let mut model = completion("{\"tool\":\"ls\"}");
    model["model"] = KEY.into();
    let long_then_cut = format!("{}{}", "x".repeat((64 << 10) - 10), KEY);
    let acts = [
        Act::json(400, &echo),
        Act::json(401, &echo),
        Act::json(429, &echo).with("retry-after", "999"),
        Act::json(200, &echo),
        Act::json(503, &echo),
        Act::reply(403, long_then_cut),
        Act::reply(422, KEY.replace('-', "\\u002d")),
        Act::reply(302, "").with("location", &format!("http://127.0.0.1:1/?key={KEY}")),
        Act::reply(200, format!("<html>{KEY}")),
        Act::reply(200, format!("{{{KEY}")),
        Act::answer(KEY).with("content-type", KEY),
        Act::answer(KEY).with("content-encoding", KEY),
        Act::answer(KEY),
        Act::answer(&format!("{{\"tool\":\"{KEY}\"}}")),
        Act::answer(&format!("{{\"{KEY}\":1,\"{KEY}\":2}}")),
        Act::answer(&format!("{{\"tool\":\"ls\",\"{KEY}\":2}}")),
        Act::json(200, &refusal),
        Act::json(200, &finish),
        Act::json(200, &model),
        Act::CutAt { body: KEY.into(), sent: 20 },
        Act::Raw(KEY.into()),
    ];
    for act in acts {
        let shown = format!("{act:?}").chars().take(100).collect::<String>();
        let server = FaultServer::start(vec![act]).await;
        let outcome = Remote::new(config(&server.url())).unwrap().ask(&request("list")).await;
        let text = format!("{outcome:?} {}", outcome.as_ref().err().map(ToString::to_string).unwrap_or_default());
        assert!(!text.contains("canary"), "{shown}: {text}");
        assert!(!server.seen().is_empty());
    }
}

#[test]
fn configuration_and_its_errors_omit_the_key() {
    let mut config = config("http://127.0.0.1:1/v1?token=canary");
    assert!(!format!("{config:?}").contains("canary"), "{config:?}");
    config.base_url = format!("http://user:{KEY}@127.0.0.1");
    let error = Remote::new(config.clone()).map(|_| ()).unwrap_err();
    assert!(!format!("{error:?} {error} {config:?}").contains("canary"), "{error:?}");
}
