//! Tests that this engine and llama.cpp's own server, with the same file, split prompts alike and write the same
//! replies.

use artoo_llm::schema::fit;
use artoo_llm::structured::ReplyFormat;
use artoo_llm::{Model as _, Protocol, Remote, RemoteConfig};
use artoo_proto::Prompt;
use serde_json::{Value, json};

use crate::support::{engine, post, print_uncaptured, prompt, request, server, value};

/// Number of tokens at the start of a reply that are compared.
const COMPARED: usize = 16;

/// Maximum difference of two tokens' logits that counts as a near-tie, in which rounding may decide otherwise than in
/// the server.
const NEAR: f64 = 0.25;

/// Maximum number of near-ties allowed among the ten prompts; more would have another cause.
const NEAR_TIES_MAX: usize = 4;

/// Ten prompts of different lengths and kinds.
fn ten() -> [Prompt; 10] {
    let brief = "You answer in one short sentence.";
    let json = "Answer with one JSON object and nothing else.";
    [
        prompt("", "What is the capital of France?"),
        prompt(brief, "Why is the sky blue?"),
        prompt(brief, "Name three colours."),
        prompt("", "Write a haiku about the sea.\n"),
        prompt(json, "{\"question\": \"Is 7 prime?\"}"),
        prompt("  leading and trailing space  ", "  What is   this?  \n\n"),
        prompt(brief, "Übersetze: «Grüße aus Köln» — 東京, naïve café, 🙂"),
        prompt("", "fn main() {\n    println!(\"{}\", 1 + 1);\n}\nWhat does this print?"),
        prompt(brief, &"The quick brown fox jumps over the lazy dog. ".repeat(30)),
        prompt(
            "You are a careful assistant.",
            "Count the files in ~/things whose names end in .txt.\n- a.txt\n- b.md\n",
        ),
    ]
}

/// The messages of a prompt in the JSON of the server's protocol.
fn messages(prompt: &Prompt) -> Value {
    let user = json!({"role": "user", "content": prompt.user});
    if prompt.system.is_empty() {
        return json!([user]);
    }
    json!([{"role": "system", "content": prompt.system}, user])
}

/// The token ids in a JSON list of numbers.
fn ids(value: &Value) -> Vec<i32> {
    value.as_array().unwrap().iter().map(|id| i32::try_from(id.as_i64().unwrap()).unwrap()).collect()
}

/// This engine and llama.cpp's server split ten prompts alike and write the same replies, except for near-ties.
#[tokio::test]
async fn prompts_and_replies_equal_llama_cpps_server() {
    let (Some(engine), Some(address)) = (engine(), server()) else { return };
    let mut near_ties = Vec::new();
    for prompt in ten() {
        let rendered = post(&address, "/apply-template", &json!({"messages": messages(&prompt)}));
        let asked = json!({"content": rendered["prompt"], "add_special": true, "parse_special": true});
        let expected = ids(&post(&address, "/tokenize", &asked)["tokens"]);
        let tokens = engine.prompt_tokens(&prompt).await.unwrap();
        assert_eq!(tokens, expected, "the prompt {prompt:?}");
        let asked = json!({"prompt": tokens, "n_predict": COMPARED, "temperature": 0, "n_probs": 10,
                           "return_tokens": true, "cache_prompt": false});
        let of_server = post(&address, "/completion", &asked);
        let ours = engine.write(&prompt, None, u32::try_from(COMPARED).unwrap()).await.unwrap().tokens;
        near_ties.extend(difference(&ours, &of_server).unwrap_or_else(|what| panic!("{prompt:?}: {what}")));
    }
    print_uncaptured(&format!(
        "greedy replies of {COMPARED} tokens: {} of 10 the same, near-ties: {near_ties:?}",
        10 - near_ties.len()
    ));
    assert!(near_ties.len() <= NEAR_TIES_MAX, "{near_ties:?}");
}

/// Compares a reply with the server's: `None` if equal, the difference of logits at a near-tie, an error at any other
/// difference.
fn difference(ours: &[i32], of_server: &Value) -> Result<Option<f64>, String> {
    let theirs = ids(&of_server["tokens"]);
    let Some(at) = (0..ours.len().max(theirs.len())).find(|at| ours.get(*at) != theirs.get(*at)) else {
        return Ok(None);
    };
    let Some(token) = ours.get(at) else {
        // Our reply ended with the end token, which is not part of the text.
        return Err(format!("ends after {at} tokens, the server goes on with {:?}", theirs.get(at)));
    };
    let step = &of_server["completion_probabilities"][at];
    let (their, known) = (&step["logprob"], step["top_logprobs"].as_array().cloned().unwrap_or_default());
    let our = known.iter().find(|known| known["id"] == *token).map(|known| known["logprob"].as_f64().unwrap());
    match (their.as_f64(), our) {
        (Some(their), Some(our)) if their - our <= NEAR => Ok(Some(their - our)),
        (their, our) => {
            Err(format!("token {at} is {token}, not {:?}; log-probabilities {our:?}, {their:?}", theirs.get(at)))
        }
    }
}

/// artoo's client gets replies from llama.cpp's server by Chat Completions, with an enforced schema and without one.
#[tokio::test]
async fn llama_cpps_server_answers_artoos_client() {
    let Some(address) = server() else { return };
    let schema = json!({"type": "object", "additionalProperties": false, "required": ["yes", "why"],
                        "properties": {"yes": {"type": "boolean"}, "why": {"type": "string", "maxLength": 40}}});
    let asked = request(prompt("You are a judge.", "Is seven a prime number?"), schema.clone(), 200);
    let client = |format| {
        let config = RemoteConfig::new(Protocol::Chat, format!("http://{address}/v1"), "smollm2");
        Remote::new(RemoteConfig { format: Some(format), ..config }).unwrap()
    };
    let held = client(ReplyFormat::JsonSchema);
    let reply = held.ask(&asked).await.unwrap();
    assert_eq!(fit(value(&reply), &schema), Ok(()));
    assert_eq!(held.dialect().format, ReplyFormat::JsonSchema, "the server takes the schema");
    assert!(reply.usage.completion_tokens > 5, "{:?}", reply.usage);
    match client(ReplyFormat::PromptOnly).ask(&asked).await {
        Ok(reply) => assert_eq!(fit(value(&reply), &schema), Ok(()), "by luck"),
        Err(failure) => assert!(failure.is_worth_asking_again(), "words instead of JSON: {failure:?}"),
    }
}

/// Two replies that differ are a near-tie only if the server rated both tokens almost alike; otherwise that is an
/// error.
#[test]
fn difference_is_a_near_tie_or_error() {
    let of_server = json!({"tokens": [1, 2, 3], "completion_probabilities": [
        {"logprob": -0.1, "top_logprobs": [{"id": 1, "logprob": -0.1}, {"id": 7, "logprob": -0.2}]},
        {"logprob": -0.5, "top_logprobs": [{"id": 2, "logprob": -0.5}, {"id": 7, "logprob": -1.5}]},
        {"logprob": -0.5, "top_logprobs": [{"id": 3, "logprob": -0.5}]}
    ]});
    assert_eq!(difference(&[1, 2, 3], &of_server), Ok(None));
    assert!(difference(&[7, 2, 3], &of_server).is_ok_and(|gap| gap.is_some_and(|gap| (gap - 0.1).abs() < 1e-9)));
    assert!(difference(&[1, 7, 3], &of_server).is_err(), "too far");
    assert!(difference(&[1, 2, 7], &of_server).is_err(), "not even known");
    assert!(difference(&[1, 2], &of_server).is_err(), "too short");
}
