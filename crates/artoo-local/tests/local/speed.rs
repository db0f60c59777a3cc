//! Compares the speed of this engine with that of llama.cpp's own server, both with one thread, in one run.

use std::time::Instant;

use artoo_llm::Model as _;
use serde_json::{Value, json};

use crate::support::{engine, post, print_uncaptured, prompt, request, server, value};

/// Minimum ratio of this engine's speed to the server's; below it, llama.cpp was compiled for another processor.
const SLOWEST: f64 = 0.4;

/// Number of tokens written in a timed reply.
const WRITTEN: u32 = 64;

/// Number of rounds; the fastest of each side counts, since the machine may have other work.
const ROUNDS: usize = 3;

/// A number in the `timings` of the server's response.
fn number(value: &Value, name: &str) -> f64 {
    value["timings"][name].as_f64().unwrap()
}

/// This engine is more than 0.4 times as fast as llama.cpp's server, and more than 0.2 times under a schema.
#[tokio::test]
async fn speed_is_near_llama_cpps_server() {
    let (Some(engine), Some(address)) = (engine(), server()) else { return };
    engine.load().unwrap();
    let mut best = [0.0_f64; 4];
    for round in 0..ROUNDS {
        let asked =
            prompt(&format!("Round {round}. ").repeat(20), &"The quick brown fox jumps over the lazy dog. ".repeat(60));
        let tokens = engine.prompt_tokens(&asked).await.unwrap();
        let body = json!({"prompt": tokens, "n_predict": WRITTEN, "temperature": 0, "cache_prompt": false, "ignore_eos": true});
        let of_server = post(&address, "/completion", &body);
        let begun = Instant::now();
        engine.write(&asked, None, 1).await.unwrap();
        let prompt_s = begun.elapsed().as_secs_f64();
        let schema = json!({"type": "object", "additionalProperties": false, "required": ["story"],
                            "properties": {"story": {"type": "string", "minLength": 300, "maxLength": 300}}});
        let begun = Instant::now();
        let plain =
            engine.write(&prompt("", "Write a long story about a dog and a cat."), None, WRITTEN).await.unwrap();
        let plain_s = begun.elapsed().as_secs_f64();
        let begun = Instant::now();
        let reply = engine.ask(&request(prompt("", "Write a long story."), schema, 400)).await.unwrap();
        let schema_s = begun.elapsed().as_secs_f64();
        assert_eq!(value(&reply)["story"].as_str().unwrap().chars().count(), 300);
        #[expect(clippy::cast_precision_loss, reason = "small counts")]
        let speeds = [
            tokens.len() as f64 / prompt_s / number(&of_server, "prompt_per_second"),
            plain.tokens.len() as f64 / plain_s / number(&of_server, "predicted_per_second"),
            reply.usage.completion_tokens as f64 / schema_s / number(&of_server, "predicted_per_second"),
            tokens.len() as f64 / prompt_s,
        ];
        for (best, speed) in best.iter_mut().zip(speeds) {
            *best = best.max(speed);
        }
    }
    let [prompt, plain, schema, per_second] = best;
    print_uncaptured(&format!(
        "beside the server: prompt {prompt:.2}, reply {plain:.2}, reply under a schema {schema:.2}; {per_second:.0} prompt tokens a second"
    ));
    assert!(prompt > SLOWEST && plain > SLOWEST && schema > SLOWEST / 2.0, "{best:?}");
}
